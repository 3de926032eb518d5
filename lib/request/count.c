/* SPDX-License-Identifier: MIT */

/*
 * What is counted of events as they come, before they are worked on in the order of what they tell: who uses which end, who waits
 * for whom, when threads ran.
 */
#include "internal.h"

#include "layout/record.h"

static struct lqn_word_use *word_use(struct lqn_word *word, struct lqn_actor *actor)
{
	struct lqn_word_use *use = g_hash_table_lookup(word->users, actor);

	if (!use) {
		use = g_new0(struct lqn_word_use, 1);
		g_hash_table_insert(word->users, actor, use);
	}
	return use;
}

static void used_between(struct lqn_word *word, int64_t begin, int64_t end)
{
	word->first = MIN(word->first, begin);
	word->last = MAX(word->last, end);
}

static void note_waiter(struct lqn_word *word, struct lqn_actor *actor, bool others)
{
	if (!word->waiter) {
		word->waiter = actor;
	}
	word->waiters |= others || (actor && actor != word->waiter);
}

void lqn_count_word_wait(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->futex_wait.thread);
	struct lqn_word *word = lqn_party_word(host, ev->futex_wait.object);
	struct lqn_word_use *use = word_use(word, actor);

	use->waits++;
	used_between(word, ev->futex_wait.begin, ev->futex_wait.end);
	word = lqn_word_root(word);
	note_waiter(word, actor, false);
	word->waits++;
	word->both += use->waits <= use->wakes;
}

/* Through shared memory a wake is a message; inside a process whoever is woken goes on with what the other began. */
static void count_woken(struct lqn_party *host, struct lqn_word *word, struct lqn_actor *actor, struct lqn_actor *woken)
{
	if (lqn_word_is_lock(word)) {
		return;
	}
	if (woken->unit == actor->unit) {
		woken->asleep_last |= actor->asleep_last;
		return;
	}
	lqn_word_root(word)->shared = true;
	actor->sends++;
	actor->unit->sends++;
	actor->unit->asks += actor->asleep_last;
	actor->asleep_last = woken->asleep_last = false;
}

void lqn_count_word_wake(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->futex_wake.thread);
	struct lqn_word *word = lqn_party_word(host, ev->futex_wake.object);

	used_between(word, ev->futex_wake.begin, ev->futex_wake.end);
	actor->acted_at = ev->futex_wake.begin;
	if (ev->futex_wake.index == 0) {
		struct lqn_word_use *use = word_use(word, actor);

		use->wakes++;
		lqn_word_root(word)->both += use->wakes <= use->waits;
	}
	if (ev->futex_wake.woken) {
		count_woken(host, word, actor, lqn_party_actor(host, ev->futex_wake.woken));
	}
	if (ev->futex_wake.woken_object && ev->futex_wake.woken_object != ev->futex_wake.object) {
		/* a wake on one woke a waiter on the other: two mappings of one word */
		struct lqn_word *a = lqn_word_root(word);
		struct lqn_word *b = lqn_word_root(lqn_party_word(host, ev->futex_wake.woken_object));

		if (a != b) {
			b->same = a;
			a->shared |= b->shared;
			note_waiter(a, b->waiter, b->waiters);
			a->waits += b->waits;
			a->both += b->both;
		}
	}
}

static void use_end(struct lqn_end *end, struct lqn_actor *actor)
{
	if (!end->user) {
		end->user = actor;
	}
	end->shared |= end->user != actor;
}

void lqn_count_send(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_end *end = lqn_end_real(lqn_party_end(host, ev->send.object));
	struct lqn_actor *actor = lqn_party_actor(host, ev->send.thread);

	end->sends++;
	end->prompt += actor->asked_on == end || actor->timed;
	end->first_send = MIN(end->first_send, ev->send.begin);
	use_end(end, actor);
	lqn_apart_count_send(actor, end, ev);
	lqn_fetch_count_send(host, actor, end, ev->send.begin);
	actor->acted_at = ev->send.begin;
	actor->sends++;
	actor->unit->sends++;
	actor->unit->first_send = MIN(actor->unit->first_send, ev->send.begin);
	actor->unit->asks += actor->asleep_last;
	actor->asleep_last = false;
}

/* What comes there needs no answer. */
static bool is_mailbox(const struct lqn_end *end)
{
	return lqn_object_kind_is_shared(end->kind) || end->kind == LQN_OBJ_DATAGRAM || end->one_way;
}

void lqn_count_receive(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_end *end = lqn_end_real(lqn_party_end(host, ev->receive.object));
	struct lqn_actor *actor = lqn_party_actor(host, ev->receive.thread);
	struct lqn_party *there = end->remote && end->peer ? end->peer->host : host;
	struct lqn_receipt receipt = {
		ev->receive.begin, ev->receive.end, ev->receive.sent,
		ev->receive.sender ? lqn_party_actor(there, ev->receive.sender) : NULL
	};

	use_end(end, actor);
	lqn_apart_count_receive(actor, end, ev, receipt.sender);
	lqn_fetch_count_receive(actor, end, ev, receipt.sender);
	actor->asleep_last = actor->timed = false;
	if (!end->readers) {
		end->readers = g_ptr_array_new();
	}
	if (end->readers->len < LQN_READERS_MAX && !lqn_end_is_read_by(end, actor)) {
		g_ptr_array_add(end->readers, actor);
	}
	actor->reads |= end->kind == LQN_OBJ_TCP || end->kind == LQN_OBJ_UNIX;
	if ((end->role == LQN_ROLE_SERVER || is_mailbox(end)) && (!receipt.sender || receipt.sender->unit != actor->unit)) {
		if (actor->born >= 0) {
			actor->unit->first_asked = MIN(actor->unit->first_asked, ev->receive.end);
		}
		actor->unit->may_serve = true;
		actor->asked_on = end;
	}
	if (ev->receive.sender) {
		lqn_roles_count(host, receipt.sender->unit, actor->unit);
		if (there != host) {
			lqn_roles_count(there, receipt.sender->unit, actor->unit);
		}
		if (!actor->receipts) {
			actor->receipts = g_array_new(FALSE, FALSE, sizeof(struct lqn_receipt));
		}
		g_array_append_val(actor->receipts, receipt);
		lqn_keep_add(host->keep, sizeof(receipt));
	}
}

static void count_place(struct lqn_actor *actor, uint64_t object, uint8_t class)
{
	struct lqn_place place = { object, class, 1 };

	if (!actor->places) {
		actor->places = g_array_new(FALSE, FALSE, sizeof(struct lqn_place));
	}
	for (guint i = 0; i < actor->places->len; i++) {
		struct lqn_place *it = &g_array_index(actor->places, struct lqn_place, i);

		if (it->object == object && it->class == class) {
			it->count++;
			return;
		}
	}
	/* a thread that waits at so many places waits at none of them as a member of a pool */
	if (actor->places->len < 64) {
		g_array_append_val(actor->places, place);
	}
}

/* Paths and CPU clocks are looked up in these: they must be in order, whatever a trace says. */
static void add_interval(struct lqn_actor *actor, const struct lqn_interval *interval)
{
	const struct lqn_interval *last = actor->intervals->len > 0 ?
		&g_array_index(actor->intervals, struct lqn_interval, actor->intervals->len - 1) : NULL;

	if (!last || (interval->begin >= last->end && interval->cpu >= last->cpu)) {
		g_array_append_vals(actor->intervals, interval, 1);
		lqn_keep_add(actor->host->keep, sizeof(*interval));
		actor->seen = MIN(actor->seen, interval->begin);
	}
}

void lqn_count_wait(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->wait.thread);
	struct lqn_interval interval = {
		.begin = ev->wait.begin, .wake = ev->wait.wake, .end = ev->wait.end, .cpu = ev->wait.cpu,
		.idle = ev->wait.idle, .charged = ev->wait.charged, .call_begin = ev->wait.call_begin, .by = ev->wait.by,
		.after = ev->wait.after, .object = ev->wait.object, .via = ev->wait.via, .cause = (uint8_t) ev->wait.cause,
		.call = (uint8_t) ev->wait.call, .state = (uint8_t) ev->wait.state, .open = ev->wait.open != 0,
	};

	add_interval(actor, &interval);
	actor->timed = interval.cause == LQN_CAUSE_TIMER && lqn_call_polls(interval.call);
	lqn_fetch_count_wait(actor, ev);
	actor->wait_begin = ev->wait.begin;
	actor->wait_cpu = ev->wait.cpu;
	actor->wait_call = (uint8_t) ev->wait.call;
	switch (ev->wait.call) {
	case LQN_CALL_EPOLL_WAIT:
	case LQN_CALL_POLL:
	case LQN_CALL_SELECT:
		actor->polls = true;
		if (ev->wait.object) {
			count_place(actor, ev->wait.object, 1);
		}
		break;
	case LQN_CALL_FUTEX:
	case LQN_CALL_SEMOP:
		count_place(actor, ev->wait.object, 2);
		break;
	default:
		if (ev->wait.object) {
			count_place(actor, ev->wait.object, 0);
		}
		break;
	}
}

void lqn_count_preempted(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->preempted.thread);
	struct lqn_interval interval = {
		.begin = ev->preempted.begin, .wake = ev->preempted.begin, .end = ev->preempted.end,
		.cpu = ev->preempted.cpu, .idle = ev->preempted.idle, .by = ev->preempted.by, .after = ev->preempted.after,
		.preempted = true,
	};

	add_interval(actor, &interval);
}

void lqn_count_interrupted(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->interrupted.thread);
	struct lqn_interruption it = {
		ev->interrupted.begin, ev->interrupted.end, (uint32_t) ev->interrupted.number, (uint8_t) ev->interrupted.context
	};

	if (!actor->interruptions) {
		actor->interruptions = g_array_new(FALSE, FALSE, sizeof(it));
	}
	if (actor->interruptions->len == 0 ||
			it.begin >= g_array_index(actor->interruptions, struct lqn_interruption, actor->interruptions->len - 1).end) {
		g_array_append_val(actor->interruptions, it);
		lqn_keep_add(host->keep, sizeof(it));
	}
}

void lqn_count_accept(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->accept.thread);

	if (actor->first_accept < 0) {
		actor->first_accept = ev->accept.end;
	}
}
