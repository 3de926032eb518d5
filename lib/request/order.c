/* SPDX-License-Identifier: MIT */

/*
 * Events come when their evidence is complete, not in the order of what they tell: a send when its call ends, a receive
 * when its sender is known. Here they wait in a queue, ordered by what they tell, and are worked on when
 * LOOKAHEAD others have come after them. On the way in they are counted: whether anything ever comes back on a
 * connection, who reads from a queue, whether a futex word is a lock, are known by the time they are needed. A trace with fewer
 * events than that is thus known as a whole before the first is worked on.
 */
#include "internal.h"

#include <stdlib.h>

#include "layout/record.h"
#include "request/queue.h"

#define LOOKAHEAD (1u << 16)
#define SLOTS (LOOKAHEAD + 4)	/* each holds an event that waits; a push adds three at most */
#define FETCH_AHEAD 8		/* events; by then they are there */
#define CACHE_LINE 64

struct slot {
	struct lqn_event ev;
	uint32_t uses, next_free;
};

struct lqn_order {
	struct lqn_analysis *analysis;	/* borrowed */
	struct lqn_queue queue;
	struct slot *slots;		/* owned; of SLOTS */
	uint32_t n_slots;		/* ever used */
	uint32_t free;			/* head of the free slots, + 1 */
	uint64_t number;
};

enum action {
	ON_WAIT, ON_SEND, ON_RECEIVE, ON_SLEEP, ON_AWAKE, ON_DISK, ON_FUTEX_BLOCK, ON_FUTEX_WAIT, ON_FUTEX_WAKE,
	ON_END, ON_SPAN, ON_SPAN_MESSAGE, ON_SPAN_END, ON_CHAIN_BLOCK, ON_CHAIN_WAKE, ON_CHAIN_END,
};

static const struct {
	uint8_t rank;
	void (*on)(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
} actions[] = {
	[ON_WAIT] = { 0, lqn_on_wait },
	[ON_RECEIVE] = { 1, lqn_on_receive },
	[ON_SLEEP] = { 1, lqn_on_sleep },
	[ON_AWAKE] = { 1, lqn_on_awake },
	[ON_DISK] = { 1, lqn_on_disk },
	[ON_FUTEX_WAIT] = { 1, lqn_on_futex_wait },
	[ON_SEND] = { 2, lqn_on_send },
	[ON_FUTEX_BLOCK] = { 2, lqn_on_futex_block },
	[ON_FUTEX_WAKE] = { 2, lqn_on_futex_wake },
	[ON_CHAIN_END] = { 1, lqn_on_chain_end },
	[ON_CHAIN_BLOCK] = { 1, lqn_on_chain_block },
	[ON_CHAIN_WAKE] = { 1, lqn_on_chain_wake },
	[ON_SPAN] = { 2, lqn_on_span },
	[ON_SPAN_MESSAGE] = { 2, lqn_on_span_message },
	[ON_SPAN_END] = { 2, lqn_on_span_end },
	[ON_END] = { 3, lqn_on_end },
};

struct lqn_order *lqn_order_new(struct lqn_analysis *analysis)
{
	struct lqn_order *order = g_new0(struct lqn_order, 1);

	order->analysis = analysis;
	lqn_queue_init(&order->queue);
	order->slots = lqn_large_alloc(SLOTS * sizeof(struct slot));
	return order;
}

void lqn_order_free(struct lqn_order *order)
{
	if (!order) {
		return;
	}
	lqn_queue_clear(&order->queue);
	free(order->slots);
	g_free(order);
}

/* The events lie in memory as they came, so far apart that the caches have lost them. */
static void fetch_ahead(const struct lqn_order *order)
{
	const struct lqn_due *due = lqn_queue_ahead(&order->queue, FETCH_AHEAD);

	if (due) {
		const char *slot = (const char *) &order->slots[due->event];

		for (size_t i = 0; i < sizeof(struct slot); i += CACHE_LINE) {
			__builtin_prefetch(slot + i);
		}
	}
}

static void pop(struct lqn_order *order)
{
	struct lqn_due due = *lqn_queue_peek(&order->queue);
	struct slot *slot = &order->slots[due.event];
	struct lqn_event ev = slot->ev;

	lqn_queue_drop(&order->queue);
	fetch_ahead(order);
	order->analysis->reached = MAX(order->analysis->reached, due.ts);
	if (--slot->uses == 0) {
		slot->next_free = order->free;
		order->free = due.event + 1;
	}
	actions[due.action].on(order->analysis, order->analysis->hosts->pdata[due.host], &ev);
}

static void push(struct lqn_order *order, const struct lqn_party *host, uint32_t event, enum action action, int64_t ts)
{
	struct lqn_due due = { ts, order->number++, event, (uint16_t) host->number, actions[action].rank, (uint8_t) action };

	order->slots[event].uses++;
	lqn_queue_push(&order->queue, &due);
}

static uint32_t take_slot(struct lqn_order *order, const struct lqn_event *ev)
{
	uint32_t index;

	if (order->free) {
		index = order->free - 1;
		order->free = order->slots[index].next_free;
	} else {
		index = order->n_slots++;
		g_assert(index < SLOTS);
	}
	order->slots[index].ev = *ev;
	order->slots[index].uses = 0;
	return index;
}

/* ---- what is counted on the way in ---- */

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

static void count_word_wait(struct lqn_party *host, struct lqn_actor *actor, const struct lqn_event *ev)
{
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

static void count_word_wake(struct lqn_party *host, const struct lqn_event *ev, struct lqn_actor *actor)
{
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

static void count_send(struct lqn_party *host, const struct lqn_event *ev)
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

static bool is_mailbox(const struct lqn_end *end)
{
	return end->kind == LQN_OBJ_PIPE || end->kind == LQN_OBJ_FIFO || end->kind == LQN_OBJ_QUEUE ||
		end->kind == LQN_OBJ_EVENTFD || end->kind == LQN_OBJ_DATAGRAM || end->one_way;
}

static void count_receive(struct lqn_party *host, const struct lqn_event *ev)
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
		actor->unit->serves = true;
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

static void count_wait(struct lqn_party *host, const struct lqn_event *ev)
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

static void count_preempted(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->preempted.thread);
	struct lqn_interval interval = {
		.begin = ev->preempted.begin, .wake = ev->preempted.begin, .end = ev->preempted.end,
		.cpu = ev->preempted.cpu, .idle = ev->preempted.idle, .by = ev->preempted.by, .after = ev->preempted.after,
		.preempted = true,
	};

	add_interval(actor, &interval);
}

static void count_interrupted(struct lqn_party *host, const struct lqn_event *ev)
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

static void count_accept(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->accept.thread);

	if (actor->first_accept < 0) {
		actor->first_accept = ev->accept.end;
	}
}

/* The trace has shown no system calls so far: whether it has any is known when these come out again. */
static void push_chain(struct lqn_order *order, struct lqn_party *host, uint32_t slot, const struct lqn_event *ev)
{
	if (ev->wait.cause == LQN_CAUSE_TIMER) {
		lqn_party_actor(host, ev->wait.thread)->sleeps++;
		push(order, host, slot, ON_CHAIN_BLOCK, ev->wait.begin);
		push(order, host, slot, ON_CHAIN_END, ev->wait.end);
	} else if (ev->wait.by && ev->wait.wake >= 0) {
		push(order, host, slot, ON_CHAIN_BLOCK, ev->wait.begin);
		push(order, host, slot, ON_CHAIN_WAKE, ev->wait.wake);
		push(order, host, slot, ON_CHAIN_END, ev->wait.end);
	}
}

void lqn_order_push(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_event span;
	uint32_t slot;

	switch (ev->type) {
	case LQN_EV_WAIT:
		count_wait(host, ev);
		slot = take_slot(order, ev);
		push(order, host, slot, ON_WAIT, ev->wait.end);
		host->has_calls |= ev->wait.call != LQN_CALL_NONE;
		if (!host->has_calls && !ev->wait.open) {
			push_chain(order, host, slot, ev);
		}
		break;
	case LQN_EV_PREEMPTED:
		count_preempted(host, ev);
		break;
	case LQN_EV_INTERRUPTED:
		count_interrupted(host, ev);
		break;
	case LQN_EV_SEND:
		host->has_calls = true;
		count_send(host, ev);
		push(order, host, take_slot(order, ev), ON_SEND, ev->send.begin);
		break;
	case LQN_EV_RECEIVE:
		count_receive(host, ev);
		push(order, host, take_slot(order, ev), ON_RECEIVE, ev->receive.end);
		break;
	case LQN_EV_ACCEPT:
		count_accept(host, ev);
		break;
	case LQN_EV_SLEEP:
		lqn_party_actor(host, ev->sleep.thread)->sleeps++;
		lqn_party_actor(host, ev->sleep.thread)->asleep_last = true;
		slot = take_slot(order, ev);
		push(order, host, slot, ON_SLEEP, ev->sleep.begin);
		push(order, host, slot, ON_AWAKE, ev->sleep.end);
		break;
	case LQN_EV_EXIT:
		lqn_party_actor(host, ev->exit.thread)->died = ev->exit.at;
		push(order, host, take_slot(order, ev), ON_END, ev->exit.at);
		break;
	case LQN_EV_SPAN:
		/* the names must outlive the event */
		span = *ev;
		span.span.name = lqn_intern(host->keep, ev->span.name);
		span.span.service = lqn_intern(host->keep, ev->span.service);
		host->keep->lag = LQN_SPAN_DELAY + LQN_SPAN_PATIENCE;
		push(order, host, take_slot(order, &span), ev->span.begin ? ON_SPAN : ON_SPAN_END,
			ev->span.at + (ev->span.begin ? 0 : LQN_SPAN_DELAY));
		break;
	case LQN_EV_SPAN_MESSAGE:
		push(order, host, take_slot(order, ev), ON_SPAN_MESSAGE, ev->span_message.at);
		break;
	case LQN_EV_DISK:
		push(order, host, take_slot(order, ev), ON_DISK, ev->disk.end);
		break;
	case LQN_EV_FUTEX_WAIT:
		slot = take_slot(order, ev);
		if (ev->futex_wait.blocked) {
			count_word_wait(host, lqn_party_actor(host, ev->futex_wait.thread), ev);
			push(order, host, slot, ON_FUTEX_BLOCK, ev->futex_wait.begin);
		}
		push(order, host, slot, ON_FUTEX_WAIT, ev->futex_wait.end);
		break;
	case LQN_EV_FUTEX_WAKE:
		count_word_wake(host, ev, lqn_party_actor(host, ev->futex_wake.thread));
		push(order, host, take_slot(order, ev), ON_FUTEX_WAKE, ev->futex_wake.begin);
		break;
	default:
		break;
	}
	while (lqn_queue_length(&order->queue) > LOOKAHEAD) {
		pop(order);
	}
}

void lqn_order_advance(struct lqn_order *order, int64_t until)
{
	const struct lqn_due *due;

	while ((due = lqn_queue_peek(&order->queue)) && due->ts < until) {
		pop(order);
	}
}

void lqn_order_flush(struct lqn_order *order)
{
	while (lqn_queue_length(&order->queue) > 0) {
		pop(order);
	}
	for (guint i = 0; i < order->analysis->hosts->len; i++) {
		struct lqn_party *host = order->analysis->hosts->pdata[i];

		for (guint k = 0; k < host->by_age->len; k++) {
			struct lqn_actor *actor = host->by_age->pdata[k];

			lqn_conclude(actor, lqn_actor_cpu_at(actor, host->end), host->end);
		}
	}
	lqn_spans_flush(order->analysis);
}
