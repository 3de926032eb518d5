/* SPDX-License-Identifier: MIT */

/*
 * Contexts: whose request a thread works on, and what its CPU time is charged to.
 *
 * A thread's CPU time is cut where a request reaches it (the work for it began when the thread came back from its last
 * wait before), where the reply has gone out (what follows is a *tail*: second phase of that request if the thread then
 * waits idle or takes the next one; beginning of another if it turns out to answer that one), and where it waits
 * idle. What belongs to no context is spread over the task's invocations by the model.
 */
#include "internal.h"

#include "layout/record.h"

#define IDLE_MAX 256	/* requests of a thread that wait for nothing known, of which we keep track */

struct lqn_invocation *lqn_final(struct lqn_invocation *invocation)
{
	while (invocation && invocation->into) {
		invocation = invocation->into;
	}
	return invocation;
}

struct lqn_invocation *lqn_invocation_new(struct lqn_analysis *a, struct lqn_actor *actor, int64_t ts,
	struct lqn_arc *request)
{
	struct lqn_invocation *invocation = lqn_region_alloc0(&a->keep.region, sizeof(*invocation));

	invocation->actor = actor;
	invocation->request = request;
	invocation->anonymous = !request;
	invocation->begin = invocation->end = ts;
	g_ptr_array_add(a->invocations, invocation);
	lqn_keep_add(&a->keep, sizeof(*invocation));
	return invocation;
}

void lqn_invocation_free(struct lqn_analysis *a, struct lqn_invocation *invocation)
{
	while (invocation->locks) {
		struct lqn_lock_wait *next = invocation->locks->next;

		lqn_region_free(&a->keep.region, invocation->locks, sizeof(*invocation->locks));
		invocation->locks = next;
	}
	if (invocation->actors) {
		g_ptr_array_free(invocation->actors, TRUE);
	}
	lqn_region_free(&a->keep.region, invocation, sizeof(*invocation));
}

static void append_arc(struct lqn_invocation *caller, struct lqn_arc *arc)
{
	arc->caller = caller;
	arc->next = NULL;
	if (caller->last_arc) {
		caller->last_arc->next = arc;
	} else {
		caller->arcs = arc;
	}
	caller->last_arc = arc;
}

struct lqn_arc *lqn_arc_new(struct lqn_analysis *a, struct lqn_invocation *caller, int64_t ts, struct lqn_end *via,
	uint64_t word)
{
	struct lqn_arc *arc = lqn_region_alloc0(&a->keep.region, sizeof(*arc));

	arc->sent = ts;
	arc->via = via;
	arc->word = word;
	append_arc(caller, arc);
	g_ptr_array_add(a->arcs, arc);
	lqn_keep_add(&a->keep, sizeof(*arc));
	return arc;
}

/* Takes a call out of those of its caller. */
static void remove_arc(struct lqn_arc *arc)
{
	struct lqn_invocation *caller = arc->caller;
	struct lqn_arc *before = NULL;

	for (struct lqn_arc *it = caller->arcs; it && it != arc; it = it->next) {
		before = it;
	}
	*(before ? &before->next : &caller->arcs) = arc->next;
	if (caller->last_arc == arc) {
		caller->last_arc = before;
	}
}

void lqn_arc_move(struct lqn_arc *arc, struct lqn_invocation *caller, bool second_phase)
{
	struct lqn_arc *before = NULL;

	remove_arc(arc);
	for (struct lqn_arc *it = caller->arcs; it && it->sent <= arc->sent; it = it->next) {
		before = it;
	}
	arc->caller = caller;
	arc->second_phase = second_phase;
	arc->next = before ? before->next : caller->arcs;
	*(before ? &before->next : &caller->arcs) = arc;
	if (caller->last_arc == before) {
		caller->last_arc = arc;
	}
}

void lqn_actor_worked(struct lqn_invocation *invocation, struct lqn_actor *actor)
{
	if (invocation->actor == actor || (invocation->actors && g_ptr_array_find(invocation->actors, actor, NULL))) {
		return;
	}
	if (!invocation->actors) {
		invocation->actors = g_ptr_array_new();
	}
	g_ptr_array_add(invocation->actors, actor);
}

void lqn_charge(struct lqn_actor *actor, int64_t cpu, int64_t ts)
{
	int64_t used = cpu - actor->mark;

	if (used <= 0) {
		return;
	}
	if (actor->current) {
		actor->current->cpu[0] += used;
		actor->current->end = ts;
	}
	actor->mark = cpu;
}

void lqn_hand_over(struct lqn_invocation *from, struct lqn_invocation *into, bool second_phase)
{
	struct lqn_arc *next;

	for (struct lqn_arc *arc = from->arcs; arc; arc = next) {
		next = arc->next;
		arc->second_phase |= second_phase;
		append_arc(into, arc);
	}
	from->arcs = from->last_arc = NULL;
	if (!into->operation && !second_phase) {
		into->operation = from->operation;
		into->trace = from->trace;
		into->span = from->span;
		into->rank = from->rank;
	}
	for (unsigned phase = 0; phase < 2; phase++) {
		unsigned to = second_phase ? 1 : phase;

		into->delay[to] += from->delay[phase];
		into->disk_ns[to] += from->disk_ns[phase];
		into->disks[to] += from->disks[phase];
	}
	into->told_until = MAX(into->told_until, from->told_until);
	into->device = from->device ? from->device : into->device;
	into->lock_latency += from->lock_latency;
	while (from->locks) {
		struct lqn_lock_wait *wait = from->locks;

		from->locks = wait->next;
		wait->next = into->locks;
		into->locks = wait;
	}
	lqn_actor_worked(into, from->actor);
	for (guint i = 0; from->actors && i < from->actors->len; i++) {
		lqn_actor_worked(into, from->actors->pdata[i]);
	}
	from->into = into;
}

void lqn_was_first_phase(struct lqn_invocation *it)
{
	it->cpu[0] += it->cpu[1];
	it->delay[0] += it->delay[1];
	it->disk_ns[0] += it->disk_ns[1];
	it->disks[0] += it->disks[1];
	it->cpu[1] = it->delay[1] = it->disk_ns[1] = 0;
	it->disks[1] = 0;
	for (struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
		arc->second_phase = false;
	}
}

void lqn_settle(struct lqn_actor *actor)
{
	struct lqn_invocation *tail = actor->current, *done;

	if (tail && tail->helps) {
		lqn_helper_joins(tail);
	}
	if (!tail || !tail->tail_of || tail->into) {
		return;
	}
	done = lqn_final(tail->tail_of);
	if (done == tail) {
		return;
	}
	done->cpu[1] += tail->cpu[0];
	lqn_hand_over(tail, done, true);
}

void lqn_conclude(struct lqn_actor *actor, int64_t cpu, int64_t ts)
{
	if (actor->current && !actor->current->tail_of) {
		/* what comes after the last that was seen of a cycle is not its end */
		int64_t end = actor->current->end;

		lqn_charge(actor, cpu, ts);
		actor->current->end = end;
	} else {
		lqn_charge(actor, cpu, ts);
	}
	lqn_settle(actor);
	actor->current = NULL;
}

void lqn_merge(struct lqn_invocation *from, struct lqn_invocation *into)
{
	from = lqn_final(from);
	if (!from || from == into || lqn_final(into) == from) {
		return;
	}
	into->cpu[0] += from->cpu[0];
	into->latency += from->latency;
	lqn_hand_over(from, into, false);
}

bool lqn_call_polls(uint8_t call)
{
	return call == LQN_CALL_EPOLL_WAIT || call == LQN_CALL_POLL || call == LQN_CALL_SELECT;
}

/* The request that the thread has left longest, if it may go on: who has closed the connection waits for no answer. NULL: none. */
static struct lqn_invocation *left_longest(struct lqn_actor *actor, int64_t ts)
{
	struct lqn_invocation *it;

	while ((it = g_queue_peek_head(&actor->idle)) && it->conn->closed > 0 && it->conn->closed <= ts) {
		g_queue_pop_head(&actor->idle);
	}
	return it;
}

/* The request is left alone; `free`: the thread may serve others meanwhile. */
static void leave(struct lqn_actor *actor, struct lqn_invocation *it, int64_t ts, bool free)
{
	if (!it->request || it->replied || it->left_at > 0) {
		return;
	}
	it->left_at = ts;
	it->left_free = free;
	left_longest(actor, ts);	/* lets go of others */
	/* what wants no answer may be over */
	if (free && it->actor == actor && it->conn && it->conn->sends > 0 && actor->idle.length < IDLE_MAX) {
		g_queue_push_tail(&actor->idle, it);
	}
}

void lqn_leave(struct lqn_actor *actor, int64_t ts)
{
	struct lqn_invocation *left = lqn_final(actor->current);

	if (left && lqn_awaits_answer(left)) {
		actor->unit->took_up += !left->last_arc->left;
		left->last_arc->left = true;
	} else if (left) {
		leave(actor, left, ts, true);
	}
}

void lqn_pause(struct lqn_actor *actor, int64_t ts, bool free)
{
	struct lqn_invocation *left = lqn_final(actor->current);

	if (left && !lqn_awaits_answer(left)) {
		leave(actor, left, ts, free);
	}
}

static bool is_tail(const struct lqn_invocation *it)
{
	return it->tail_of && !it->into;
}

/* Since when the thread is at what it does now, having waited or answered before. */
static int64_t at_it_since(const struct lqn_actor *actor, const struct lqn_invocation *it)
{
	const struct lqn_invocation *current = actor->current;

	if (current && is_tail(current)) {
		return MAX(current->begin, actor->last.end);
	}
	/* what turns out to be its work may have waited for answers since */
	return current && current != it && current->anonymous && !current->into ? current->begin : actor->last.end;
}

static void come_back(struct lqn_actor *actor, struct lqn_invocation *it, int64_t since, bool queued)
{
	/* a loop that only reads several before it answers them has not waited in between */
	if (it->left_at > 0 && it->actor == actor && lqn_call_polls(actor->last.call) && actor->last.begin >= it->left_at &&
			since > it->left_at) {
		it->paused += queued ? 0 : since - it->left_at;
		it->pauses += it->left_free;
		it->paused_from = it->left_at;
		it->paused_until = since;
		it->paused_queued = queued;
	}
	if (it->left_at > 0 && it->left_free) {
		g_queue_remove(&it->actor->idle, it);
	}
	it->left_at = 0;
}

void lqn_come_back(struct lqn_actor *actor, struct lqn_invocation *it)
{
	if (it->left_at > 0) {
		come_back(actor, it, at_it_since(actor, it), false);
	}
}

static bool was_freed(const struct lqn_actor *actor, const struct lqn_end *end, int64_t ts)
{
	return end->free_since > 0 && end->free_since >= actor->last.end && end->free_since <= ts;
}

bool lqn_take_up_idle(struct lqn_actor *actor, const struct lqn_end *end, int64_t ts, int64_t cpu)
{
	struct lqn_invocation *idle = left_longest(actor, ts), *current = actor->current;
	bool queued = was_freed(actor, end, ts);

	if (!idle || (current && !is_tail(current))) {
		return false;
	}
	come_back(actor, idle, at_it_since(actor, idle), queued);
	if (current && actor->last.begin >= current->begin) {
		lqn_charge(actor, MIN(actor->last.cpu, cpu), actor->last.begin);
	} else {
		lqn_charge(actor, lqn_start_cpu(actor, cpu), ts);
	}
	lqn_settle(actor);
	actor->current = idle;
	return queued;
}

void lqn_give_call_to_idle(struct lqn_actor *actor, struct lqn_invocation *answered)
{
	struct lqn_arc *arc = answered->last_arc;
	struct lqn_invocation *idle = arc ? left_longest(actor, arc->sent) : NULL;

	if (!idle || idle == answered || answered->actor != actor || !lqn_awaits_answer(answered) || !arc->via ||
			arc->via->role != LQN_ROLE_CLIENT || arc->sent < actor->last.end || idle->left_at > arc->sent) {
		return;
	}
	remove_arc(arc);
	arc->queued = was_freed(actor, arc->via, arc->sent);
	arc->left = true;
	come_back(actor, idle, arc->sent, arc->queued);
	append_arc(idle, arc);
}

int64_t lqn_start_cpu(const struct lqn_actor *actor, int64_t cpu)
{
	return MIN(MAX(actor->last.end > 0 ? actor->last.cpu : 0, actor->mark), cpu);
}

int64_t lqn_latency_in(const struct lqn_actor *actor, int64_t call_begin, int64_t sent)
{
	const struct lqn_interval *last = &actor->last;

	if (last->end == 0 || last->call_begin != call_begin) {
		return 0;
	}
	return MIN(last->idle, last->end - MIN(MAX(last->wake, sent), last->end));
}

struct lqn_invocation *lqn_begin_request(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_arc *request,
	int64_t sent, int64_t ts, int64_t cpu_begin, int64_t cpu)
{
	const struct lqn_interval *last = &actor->last;
	int64_t start = lqn_start_cpu(actor, cpu);
	bool after_wait = last->end > 0 && actor->last_ts <= last->end;
	struct lqn_invocation *invocation;

	if (actor->current && !after_wait) {
		/* it still worked on the last one, which has been answered or wants no answer, up to this call */
		start = MAX(start, cpu_begin);
	} else if (last->end > 0 && !after_wait) {
		start = MAX(start, actor->last_cpu);
	}
	if (after_wait && last->call == LQN_CALL_EPOLL_WAIT) {
		actor->asked_at = last->object;
	}
	actor->unit->put_off += sent > actor->asking_from && sent < actor->asking_until;
	lqn_leave(actor, after_wait ? last->begin : ts);
	/* what it did before was over when it began to wait, or took this up */
	lqn_charge(actor, start, after_wait ? last->begin : ts);
	lqn_settle(actor);
	invocation = lqn_invocation_new(a, actor, ts, request);
	if (after_wait) {
		invocation->begin = MIN(last->end, ts);
		invocation->latency = lqn_latency_in(actor, last->call_begin, sent);
	}
	actor->current = invocation;
	actor->mark = MAX(actor->mark, start);
	if (request) {
		request->callee = invocation;
		actor->unit->has_served = true;
	}
	return invocation;
}

/* Its last wait was for a word that is no lock: who woke it has handed it something, or it found something there. */
static bool was_handed_over(const struct lqn_actor *actor)
{
	const struct lqn_interval *last = &actor->last;

	return last->end > 0 && lqn_call_waits_for_word(last->call) && last->object &&
		!lqn_word_is_lock(lqn_party_word(actor->host, last->object));
}

struct lqn_invocation *lqn_context(struct lqn_analysis *a, struct lqn_actor *actor, int64_t ts, int64_t cpu)
{
	const struct lqn_interval *last = &actor->last;
	struct lqn_invocation *invocation;
	int64_t start = lqn_start_cpu(actor, cpu), begin = ts;

	if (actor->current) {
		return actor->current;
	}
	if (actor->unit->may_serve && was_handed_over(actor) && last->end > actor->awake_at) {
		actor->woke_from_sleep = false;		/* a worker's sleep was of what it had been handed before */
	}
	if (actor->woke_from_sleep && actor->awake_at >= actor->last_ts) {
		/* whatever it waited for since, its cycle began when it woke */
		begin = MIN(actor->awake_at, ts);
		start = MIN(start, MAX(actor->awake_cpu, actor->mark));
	} else if (last->end > 0 && last->end >= actor->last_ts) {
		begin = MIN(last->end, ts);
	}
	lqn_charge(actor, start, ts);
	invocation = lqn_invocation_new(a, actor, begin, NULL);
	invocation->end = ts;
	if (actor->woke_from_sleep || (last->end > 0 && last->call == LQN_CALL_SLEEP)) {
		invocation->origin = LQN_ORIGIN_TIMER;
		invocation->absolute = actor->absolute;
	} else if (was_handed_over(actor)) {
		invocation->origin = LQN_ORIGIN_HANDOVER;
	}
	actor->woke_from_sleep = false;
	invocation->helps = lqn_helper_takes(actor);
	actor->current = invocation;
	return invocation;
}

struct lqn_invocation *lqn_begin_loop_cycle(struct lqn_analysis *a, struct lqn_actor *actor, int64_t ts, int64_t cpu)
{
	lqn_charge(actor, lqn_start_cpu(actor, cpu), ts);
	actor->current = lqn_invocation_new(a, actor, ts, NULL);
	actor->current->origin = LQN_ORIGIN_LOOP;
	return actor->current;
}

void lqn_replied(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_invocation *done, int64_t begin,
	int64_t end, int64_t cpu_begin, int64_t cpu_end)
{
	struct lqn_invocation *tail;

	done->replied = actor->answered_at = end;
	lqn_charge(actor, cpu_begin, begin);
	done->send_cpu += cpu_end - cpu_begin;
	actor->mark = MAX(actor->mark, cpu_end);
	tail = lqn_invocation_new(a, actor, end, NULL);
	tail->tail_of = done;
	tail->origin = LQN_ORIGIN_REPLY;
	actor->current = tail;
}
