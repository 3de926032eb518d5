/* SPDX-License-Identifier: MIT */

/* Calls out of messages, where they are sent; replies.c has what is an answer, receives.c where they are received. */
#include "internal.h"

bool lqn_end_is_one_way(const struct lqn_end *end)
{
	return end->one_way || (lqn_end_is_stream(end) && end->sends == 0);
}

static bool carries_messages(const struct lqn_end *end)
{
	return lqn_end_is_stream(end) || end->one_way || lqn_object_kind_is_shared(end->kind) ||
		end->kind == LQN_OBJ_DATAGRAM || end->kind == LQN_OBJ_UDP;
}

static struct lqn_arc *last_call(struct lqn_end *end)
{
	return g_queue_peek_tail(&end->calls);
}

/* It greets who has connected, which nobody has asked for and nobody answers; or answers what was asked before the trace. */
static bool is_unasked(const struct lqn_end *end, const struct lqn_end *to, const struct lqn_event *ev)
{
	return end->role == LQN_ROLE_SERVER && to->sends > 0 &&
		(to->first_send > ev->send.begin || (end->guessed && !end->asked));
}

/* That a request is open at the end may have been missed; that somebody waits for its answer was not. */
static void open_what_is_awaited(struct lqn_end *end, struct lqn_end *to)
{
	struct lqn_arc *waiting = g_queue_peek_head(&to->calls);

	if (end->role == LQN_ROLE_SERVER && end->open.length == 0 && waiting && waiting->callee && waiting->replied == 0 &&
			!lqn_final(waiting->callee)->replied) {
		g_queue_push_tail(&end->open, waiting->callee);
	}
}

/*
 * The end that connected sends, and its thread has slept since it had its last message, or is at somebody else's request: it asks,
 * though a message is open there that came unasked (HTTP/2's windows and pings). That one wants no answer.
 */
static void close_what_came_unasked(const struct lqn_actor *actor, struct lqn_end *end)
{
	const struct lqn_invocation *current = actor->current;

	if (end->role != LQN_ROLE_CLIENT || (current && current->tail_of && !current->into)) {
		return;
	}
	current = lqn_final(actor->current);
	if (current ? current->origin == LQN_ORIGIN_TIMER || (current->request && current->conn != end) :
			actor->woke_from_sleep && actor->awake_at >= actor->last_ts) {
		g_queue_clear(&end->open);
	}
}

/* A new call on a connection. Older ones that the server has answered, of other contexts: these replies were lost. */
static void add_call(struct lqn_analysis *a, struct lqn_end *end, struct lqn_arc *arc, const struct lqn_invocation *current,
	bool two_way)
{
	struct lqn_arc *oldest;

	while (!end->pipelined && (oldest = g_queue_peek_head(&end->calls)) && two_way && oldest->replied == 0 &&
			lqn_final(oldest->caller) != current && oldest->callee && lqn_final(oldest->callee)->replied) {
		g_queue_pop_head(&end->calls);
		a->healed++;
	}
	g_queue_push_tail(&end->calls, arc);
}

/*
 * What goes out on a connection and is no call: an answer, or what nobody has asked for. *fetch: a request for a message that what
 * is sent answers, which is a call all the same; NULL: none.
 */
static bool send_no_call(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *to,
	struct lqn_end *into, const struct lqn_event *ev, struct lqn_invocation **fetch)
{
	*fetch = NULL;
	if (!lqn_end_is_stream(end)) {
		return false;
	}
	if (is_unasked(end, to, ev)) {
		return true;
	}
	open_what_is_awaited(end, to);
	close_what_came_unasked(actor, end);
	if (end->open.length > 0) {
		*fetch = lqn_fetch_open(actor, end, to);
		while (!*fetch && lqn_is_push(actor, end)) {
			g_queue_pop_head(&end->open);
		}
	}
	return !*fetch && lqn_answer(a, actor, end, to, into, ev);
}

/* The call that a message is, or is another part of. */
static struct lqn_arc *call_of(struct lqn_analysis *a, struct lqn_end *end, struct lqn_invocation *current, bool two_way,
	bool queued, const struct lqn_event *ev)
{
	bool stream = lqn_end_is_stream(end);
	struct lqn_arc *arc = stream ? last_call(end) : NULL;

	if (!(arc && arc->replied == 0 && lqn_final(arc->caller) == current && two_way && current->last_send == end)) {
		arc = lqn_arc_new(a, current, ev->send.begin, end, 0);
		arc->queued = queued;
		if (stream) {
			add_call(a, end, arc, current, two_way);
		}
	}
	arc->bytes = (uint32_t) MIN((uint64_t) arc->bytes + (uint64_t) MAX(ev->send.bytes, 0), UINT32_MAX);
	return arc;
}

/* The message is under way: who receives it looks for it there. */
static void note_sent(struct lqn_end *into, struct lqn_arc *arc, const struct lqn_event *ev)
{
	struct lqn_note *note = lqn_note_add(into, ev->send.seq);

	note->arc = arc;
	note->bytes = (uint32_t) CLAMP(ev->send.bytes, 0, UINT32_MAX);
}

/* What the thread works on as it sends what is no answer on a connection. *queued: see struct lqn_arc. */
static struct lqn_invocation *sender_of(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, bool two_way,
	const struct lqn_event *ev, bool *queued)
{
	struct lqn_invocation *current;

	if (lqn_actor_is_loop_client(actor) && (!actor->current || actor->current->conn != end)) {
		/* several requests may be in flight in one loop: each connection is a customer of its own */
		lqn_begin_loop_cycle(a, actor, ev->send.begin, ev->send.cpu_begin)->conn = end;
	}
	lqn_unhanded_taken(a, actor, ev->send.begin, ev->send.cpu_begin);
	*queued = lqn_end_is_stream(end) && two_way && end->role == LQN_ROLE_CLIENT &&
		lqn_take_up_idle(actor, end, ev->send.begin, ev->send.cpu_begin);
	current = lqn_context(a, actor, ev->send.begin, ev->send.cpu_begin);
	return current->tail_of ? current : lqn_final(current);
}

static void send_call(struct lqn_analysis *a, struct lqn_party *host, struct lqn_actor *actor, struct lqn_end *end,
	struct lqn_end *to, struct lqn_end *into, struct lqn_invocation *fetch, const struct lqn_event *ev)
{
	bool two_way = to->sends > 0, queued;
	struct lqn_invocation *current = sender_of(a, actor, end, two_way, ev, &queued);
	struct lqn_arc *arc;

	if (lqn_answer_to_queue(a, host, actor, end, to, current, ev)) {
		return;
	}
	lqn_come_back(actor, current);
	arc = call_of(a, end, current, two_way, queued, ev);
	if (fetch) {
		lqn_fetch_answered(actor, fetch, arc);
	}
	current->last_send = end;
	note_sent(into, arc, ev);
	if (lqn_end_is_stream(end) && end->role != LQN_ROLE_SERVER) {
		lqn_fetch_sent(actor, to, arc, ev);
	}
}

void lqn_on_send(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->send.thread);
	struct lqn_end *into = lqn_party_end(host, ev->send.object), *end = lqn_end_real(into), *to = lqn_end_target(end);
	struct lqn_invocation *fetch;

	if (!to || !carries_messages(end)) {
		return;
	}
	if (lqn_end_needs_role(end)) {
		lqn_roles_assign(host);
	}
	if (!send_no_call(a, actor, end, to, into, ev, &fetch)) {
		send_call(a, host, actor, end, to, into, fetch, ev);
	}
	lqn_done_with(actor, ev->send.end, ev->send.cpu_end);
}
