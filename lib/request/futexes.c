/* SPDX-License-Identifier: MIT */

/*
 * Futexes. A word is a lock or a hand-over (lqn_word_is_lock). Hand-overs inside a process need no rule here, for the reply tells
 * whose the work was, unless there will be none. Between processes that share memory the wakes are all that is seen: the first wake
 * between two processes goes from the one who asks to the one who serves, unless they are older than the trace (roles.c).
 */
#include "internal.h"

#define UNCLAIMED_MAX 64	/* requests of which it is not known yet who served them */

/* ---- shared memory ---- */

/* Two services, in order: what one process of a name does, others of that name do, too. */
static uint64_t services(const struct lqn_actor *from, const struct lqn_actor *to)
{
	return (uint64_t) g_quark_from_string(lqn_service_name(from)) << 32 | g_quark_from_string(lqn_service_name(to));
}

static void add_key(GHashTable *set, uint64_t key)
{
	if (!g_hash_table_contains(set, &key)) {
		g_hash_table_add(set, g_memdup2(&key, sizeof(key)));
	}
}

/* 1: the first asks the second; -1: the second the first; 0: not known yet. */
static int direction(struct lqn_party *host, const struct lqn_actor *from, const struct lqn_actor *to)
{
	uint64_t there = services(from, to), back = services(to, from);

	return g_hash_table_contains(host->directions, &there) ? 1 : -g_hash_table_contains(host->directions, &back);
}

static bool asks(struct lqn_party *host, const struct lqn_actor *from, const struct lqn_actor *to)
{
	if (direction(host, from, to) == 0) {
		bool request = lqn_roles_word_asks(host, from, to);

		add_key(host->directions, request ? services(from, to) : services(to, from));
	}
	return direction(host, from, to) > 0;
}

/* Whether the one has ever woken the other with an answer. */
static bool answers(struct lqn_party *host, const struct lqn_actor *from, const struct lqn_actor *to)
{
	uint64_t key = services(from, to);

	return g_hash_table_contains(host->answers, &key);
}

/* The latest call of the invocation that this thread's process may answer. */
static struct lqn_arc *open_word_call(struct lqn_invocation *caller, const struct lqn_actor *by)
{
	struct lqn_arc *open = NULL;

	for (struct lqn_arc *arc = caller->arcs; arc; arc = arc->next) {
		if (arc->replied == 0 && !arc->gone && !arc->via && (!arc->callee || arc->callee->actor->unit == by->unit)) {
			open = arc;
		}
	}
	return open;
}

/* Whether the invocation has asked someone who will answer. */
static bool awaits_answer(struct lqn_party *host, const struct lqn_invocation *caller)
{
	for (struct lqn_arc *arc = caller->arcs; arc; arc = arc->next) {
		const struct lqn_actor *server;

		if (arc->replied != 0 || arc->gone || arc->via) {
			continue;
		}
		/* who was busy when it was asked has not taken it yet */
		server = arc->callee ? arc->callee->actor : lqn_word_root(lqn_party_word(host, arc->word))->waiter;
		if (server && answers(host, server, caller->actor)) {
			return true;
		}
	}
	return false;
}

/* What the thread asks for, or the cycle that begins with it. */
static struct lqn_invocation *begin_asking(struct lqn_analysis *a, struct lqn_actor *actor, int64_t ts, int64_t cpu)
{
	return !actor->current && lqn_actor_is_loop_client(actor) ? lqn_begin_loop_cycle(a, actor, ts, cpu) :
		lqn_context(a, actor, ts, cpu);
}

/* The caller has done something else since: it must have got its answer. */
static bool has_gone_on(const struct lqn_arc *arc)
{
	const struct lqn_invocation *caller = lqn_final(arc->caller);

	return caller->last_arc != arc || caller->replied != 0 || lqn_final(caller->actor->current) != caller;
}

/* ---- requests of which nobody's work tells ---- */

/* Whose work it was will have to be guessed, when it is clear that it was done. */
static void leave_unclaimed(struct lqn_actor *server, struct lqn_arc *arc)
{
	struct lqn_unit *unit = server->unit;

	if (!unit->unclaimed) {
		unit->unclaimed = g_ptr_array_new();
	}
	if (unit->unclaimed->len >= UNCLAIMED_MAX) {
		g_ptr_array_remove_index(unit->unclaimed, 0);
	}
	g_ptr_array_add(unit->unclaimed, arc);
}

/* The oldest request to the process that was answered, though nothing shows by whom. NULL: none. */
static struct lqn_arc *claim(struct lqn_unit *unit)
{
	for (guint i = 0; unit->unclaimed && i < unit->unclaimed->len;) {
		struct lqn_arc *arc = unit->unclaimed->pdata[i];
		bool open = !arc->callee && arc->replied == 0 && !arc->gone;

		if (open && !has_gone_on(arc)) {
			i++;
			continue;
		}
		g_ptr_array_remove_index(unit->unclaimed, i);
		if (open) {
			return arc;
		}
	}
	return NULL;
}

static void serve_unclaimed(struct lqn_invocation *it, struct lqn_arc *arc, int64_t ts)
{
	it->tail_of = NULL;
	it->anonymous = false;
	it->request = arc;
	it->end = it->replied = ts;
	if (answers(it->actor->host, it->actor, lqn_final(arc->caller)->actor)) {
		arc->replied = ts;
	}
	arc->callee = it;
}

/*
 * What a thread has done since it took a request may have been for others, too, that it took when it was done with that one:
 * neither they nor the answers woke anybody. When it went from one to the next is not seen: each has an equal share, which
 * is right on average.
 */
static void share_work(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_invocation *mine, int64_t ts)
{
	g_autoptr(GPtrArray) others = g_ptr_array_new();
	struct lqn_arc *arc;
	int64_t share;

	while (mine->cpu[0] > (int64_t) (others->len + 2) * LQN_FOUND_NOTHING_NS && (arc = claim(actor->unit))) {
		g_ptr_array_add(others, arc);
	}
	share = mine->cpu[0] / (others->len + 1);
	for (guint i = 0; i < others->len; i++) {
		struct lqn_invocation *other = lqn_invocation_new(a, actor, mine->begin, others->pdata[i]);

		other->cpu[0] = share;
		mine->cpu[0] -= share;
		serve_unclaimed(other, others->pdata[i], ts);
	}
}

static void word_reply(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_actor *waiter, uint64_t word,
	const struct lqn_event *ev)
{
	struct lqn_invocation *caller, *mine = lqn_final(actor->current);
	struct lqn_arc *arc;

	add_key(actor->host->answers, services(actor, waiter));
	actor->unit->may_serve = true;
	if (!waiter->current) {
		caller = lqn_final(begin_asking(a, waiter, waiter->last.end, waiter->last.cpu));
	} else if (waiter->current->tail_of && !waiter->current->into && !open_word_call(waiter->current, actor)) {
		waiter->current->tail_of = NULL;	/* that tail was the beginning of something new */
		caller = waiter->current;
	} else {
		caller = lqn_final(waiter->current);
	}
	if (mine && !mine->tail_of && mine->request && lqn_final(mine->request->caller) == caller && !mine->replied) {
		arc = mine->request;
	} else {
		/* the request was taken by another than who was woken for it, or it woke nobody */
		arc = open_word_call(caller, actor);
		if (!arc) {
			arc = lqn_arc_new(a, caller, MAX(caller->begin, waiter->last.begin), NULL, word);
		}
		mine = lqn_context(a, actor, ev->futex_wake.begin, ev->futex_wake.cpu_begin);
		if (!mine->tail_of && mine->request && !mine->replied && mine->request->callee == mine) {
			mine->request->callee = NULL;
			leave_unclaimed(actor, mine->request);
		}
		mine->tail_of = NULL;
		mine->anonymous = false;
		mine->request = arc;
		if (arc->callee && arc->callee != mine) {
			arc->callee->request = NULL;
		}
		arc->callee = mine;
		mine = lqn_final(mine);
		lqn_charge(actor, ev->futex_wake.cpu_begin, ev->futex_wake.begin);
		share_work(a, actor, mine, ev->futex_wake.begin);
	}
	arc->replied = ev->futex_wake.begin;
	lqn_replied(a, actor, mine, ev->futex_wake.begin, ev->futex_wake.end, ev->futex_wake.cpu_begin,
		ev->futex_wake.cpu_end);
	waiter->pending_reply = ev->futex_wake.woken ? caller : NULL;
}

/*
 * A worker that waits for the next item has passed on the last one, or asked something of which the answer will find this
 * context again; or another thread has answered what it worked for.
 */
static bool has_passed_on(struct lqn_invocation *current)
{
	if (current->into && lqn_final(current)->replied > 0) {
		return true;
	}
	return current->anonymous && !current->tail_of && !current->into && current->origin == LQN_ORIGIN_HANDOVER &&
		current->actor->unit->may_serve && current->last_arc && current->last_arc->via &&
		current->last_arc->replied == 0;
}

/* ---- hand-overs of what wants no answer ---- */

/* Who wakes a worker of its own process, at work on what nobody will ever answer, has handed that over. */
static void hand_to(struct lqn_actor *actor, struct lqn_actor *worker, uint64_t word, const struct lqn_event *ev)
{
	struct lqn_invocation *current = lqn_final(actor->current);

	lqn_helper_woken(actor, worker, word, ev->futex_wake.begin);
	if (worker->current || !current || current->tail_of || !current->request || !current->conn ||
			!(lqn_end_is_one_way(current->conn) || lqn_is_apart(current->conn))) {
		return;
	}
	lqn_charge(actor, ev->futex_wake.cpu_end, ev->futex_wake.end);
	actor->current = NULL;
	worker->handed = current;
	worker->handed_at = word;
	actor->unit->hands_on = true;
	lqn_unhanded_remove(current);
}

static void take_over(struct lqn_actor *worker, const struct lqn_event *ev)
{
	struct lqn_invocation *work = lqn_final(worker->handed);

	worker->handed = NULL;
	if (!worker->current) {
		lqn_charge(worker, lqn_start_cpu(worker, ev->futex_wait.cpu_end), ev->futex_wait.end);
		lqn_actor_worked(work, worker);
		worker->current = work;
		worker->took_cpu = ev->futex_wait.cpu_end;
	}
}

/* What it was handed another has taken before it came. */
static bool found_nothing(const struct lqn_actor *worker, struct lqn_invocation *current, const struct lqn_event *ev)
{
	return worker->handed_at != 0 && current->request && !current->arcs && !current->tail_of && current->actor != worker &&
		lqn_same_process(worker, current->actor) && ev->futex_wait.cpu_begin - worker->took_cpu <= LQN_FOUND_NOTHING_NS;
}

void lqn_on_futex_block(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->futex_wait.thread);
	struct lqn_word *word = lqn_word_root(lqn_party_word(host, ev->futex_wait.object));
	struct lqn_invocation *current = actor->current;

	actor->came_at = ev->futex_wait.begin;
	actor->waits_for_word = !lqn_word_is_lock(word);
	if (!actor->waits_for_word) {
		return;
	}
	if (current && lqn_unhanded_done(actor, ev->futex_wait.begin, ev->futex_wait.cpu_begin)) {
		current = actor->current = NULL;
	}
	actor->idle_since = ev->futex_wait.begin;
	if (!current) {
		return;
	}
	if (found_nothing(actor, lqn_final(current), ev)) {
		lqn_unhanded_add(lqn_final(current));
	}
	if (has_passed_on(current) || actor->handed_at == word->id) {
		lqn_charge(actor, ev->futex_wait.cpu_begin, ev->futex_wait.begin);
		lqn_settle(actor);
		actor->current = NULL;
		return;
	}
	if (lqn_helper_is_done(actor, word->id)) {
		lqn_charge(actor, ev->futex_wait.cpu_begin, ev->futex_wait.begin);
		lqn_settle(actor);
		actor->current = NULL;
		return;
	}
	if (current->request && !current->tail_of && !awaits_answer(host, current) && !current->request->via &&
			current->request->word == word->id) {
		struct lqn_arc *arc = current->request;

		lqn_charge(actor, ev->futex_wait.cpu_begin, ev->futex_wait.begin);
		/* the time is without that of waking up; and an answer would have woken a caller who waits for it */
		if (ev->futex_wait.cpu_begin - actor->took_cpu > LQN_FOUND_NOTHING_NS &&
				!lqn_final(arc->caller)->actor->waits_for_word) {
			/* it did serve; its answer, if it gives any, woke nobody, for the caller had not begun to wait */
			if (answers(host, actor, arc->caller->actor)) {
				arc->replied = ev->futex_wait.begin;
			}
			current->replied = ev->futex_wait.begin;
			share_work(a, actor, current, ev->futex_wait.begin);
		} else {
			if (arc->callee == current) {
				arc->callee = NULL;
				leave_unclaimed(actor, arc);
			}
			current->request = NULL;
			current->gone = true;
		}
		actor->current = NULL;
	} else if (current->tail_of && !awaits_answer(host, current)) {
		struct lqn_arc *arc;

		lqn_charge(actor, ev->futex_wait.cpu_begin, ev->futex_wait.begin);
		if (!current->into && current->cpu[0] > LQN_FOUND_NOTHING_NS && (arc = claim(actor->unit))) {
			serve_unclaimed(current, arc, ev->futex_wait.begin);
			share_work(a, actor, current, ev->futex_wait.begin);
		}
		lqn_settle(actor);
		actor->current = NULL;
	}
}

/*
 * What processes of one service, or threads at different requests, wait for among each other, in words of their own, is no lock that could
 * be named (the semaphores of PostgreSQL's processes, and what Java's threads park at, are for all of their locks); it takes the request's
 * time all the same.
 */
static void waited_for_peer(const struct lqn_actor *actor)
{
	struct lqn_invocation *current = actor->current;

	if (current && !(current->tail_of && !current->into)) {
		lqn_final(current)->paused += actor->call_blocked;
	}
}

void lqn_on_futex_wait(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->futex_wait.thread);
	struct lqn_word *word = lqn_word_root(lqn_party_word(host, ev->futex_wait.object));

	actor->waits_for_word = false;
	if (lqn_word_is_lock(word)) {
		lqn_waited_for_lock(actor, word->id, lqn_got_lock(actor, word, ev), ev);
	}
	if (actor->let_go_at >= ev->futex_wait.begin && actor->last.call_begin == ev->futex_wait.begin) {
		waited_for_peer(actor);
	}
	if (actor->handed) {
		take_over(actor, ev);
	} else if (actor->pending_request) {
		struct lqn_arc *request = actor->pending_request;

		actor->pending_request = NULL;
		if (!request->callee && request->replied == 0) {	/* else another has taken it meanwhile */
			lqn_begin_request(a, actor, request, request->sent, ev->futex_wait.end, ev->futex_wait.cpu_begin,
				ev->futex_wait.cpu_end);
			actor->took_cpu = ev->futex_wait.cpu_end;
		}
	} else if (actor->pending_reply) {
		struct lqn_invocation *caller = lqn_final(actor->pending_reply);

		actor->pending_reply = NULL;
		caller->latency += lqn_latency_in(actor, ev->futex_wait.begin, 0);
		lqn_charge(actor, ev->futex_wait.cpu_end, ev->futex_wait.end);
		caller->end = ev->futex_wait.end;
		if (caller->origin == LQN_ORIGIN_LOOP) {
			actor->current = NULL;	/* it never sleeps: with the answer its cycle is over */
		}
	}
	if (actor->current) {
		actor->last_ts = ev->futex_wait.end;
		actor->last_cpu = ev->futex_wait.cpu_end;
	}
}

/*
 * A wake that found nobody waiting: a request to who is busy, or an answer to who has not begun to wait. Who would have been woken
 * is who waits for the word at other times; for an answer that must be one thread.
 */
static struct lqn_actor *would_wake(struct lqn_party *host, const struct lqn_actor *actor, const struct lqn_word *word)
{
	int way = word->waiter ? direction(host, actor, word->waiter) : 0;

	return way > 0 || (way < 0 && !word->waiters) ? word->waiter : NULL;
}

void lqn_on_futex_wake(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->futex_wake.thread);
	struct lqn_word *word = lqn_word_root(lqn_party_word(host, ev->futex_wake.object));
	struct lqn_actor *waiter;

	if (lqn_word_is_lock(word)) {
		if (ev->futex_wake.index == 0) {
			lqn_gave_lock(a, actor, word, ev);
		}
		word->wakes += ev->futex_wake.index == 0 && ev->futex_wake.woken;
		word->crowds += ev->futex_wake.index == 1;
		return;
	}
	waiter = ev->futex_wake.woken ? lqn_party_actor(host, ev->futex_wake.woken) : would_wake(host, actor, word);
	if (waiter && waiter->unit == actor->unit) {
		hand_to(actor, waiter, word->id, ev);
		return;
	}
	if (!waiter || lqn_service_name(waiter) == lqn_service_name(actor)) {
		/* workers of one service wake each other for locks, not to be served */
		if (ev->futex_wake.woken) {
			waiter->let_go_at = ev->futex_wake.begin;
		}
		return;
	}
	if (asks(host, actor, waiter)) {
		struct lqn_invocation *current = lqn_final(begin_asking(a, actor, ev->futex_wake.begin,
			ev->futex_wake.cpu_begin));
		struct lqn_arc *arc = lqn_arc_new(a, current, ev->futex_wake.begin, NULL, word->id);

		if (!ev->futex_wake.woken) {
			leave_unclaimed(waiter, arc);
		} else {
			if (waiter->pending_request) {
				leave_unclaimed(waiter, waiter->pending_request);
			}
			waiter->pending_request = arc;
		}
		waiter->unit->may_serve = true;
	} else {
		word_reply(a, actor, waiter, word->id, ev);
	}
	actor->last_ts = ev->futex_wake.end;
	actor->last_cpu = ev->futex_wake.cpu_end;
}
