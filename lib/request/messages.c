/* SPDX-License-Identifier: MIT */

/*
 * Requests and replies out of messages, where they are sent; receives.c where they are received.
 *
 * On a connection the end that accepted answers: what goes out of it while a request that came in is open is the reply to
 * the oldest open one, whoever sends it (that is how work that was handed over inside a process is found). Queues have
 * no such ends: a message into a queue that a caller further up reads is the reply to that caller, and what lies between
 * was forwarded.
 */
#include "internal.h"

#include "layout/record.h"

#define HOPS_MAX 8	/* callers looked through for the one who reads a queue */

bool lqn_end_is_one_way(const struct lqn_end *end)
{
	return end->one_way || (lqn_end_is_stream(end) && end->sends == 0);
}

static bool carries_messages(const struct lqn_end *end)
{
	return lqn_end_is_stream(end) || end->one_way || lqn_object_kind_is_shared(end->kind) ||
		end->kind == LQN_OBJ_DATAGRAM || end->kind == LQN_OBJ_UDP;
}

/* Where what is sent into `end` is read; NULL: not known. */
static struct lqn_end *target(struct lqn_end *end)
{
	return lqn_object_kind_is_shared(end->kind) ? end : lqn_end_real(end->peer);
}

static void replied(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_invocation *done,
	const struct lqn_event *ev)
{
	lqn_replied(a, actor, done, ev->send.begin, ev->send.end, ev->send.cpu_begin, ev->send.cpu_end);
}

/*
 * A worker has passed on what another thread of its process had received, and it has been answered: with that it was done.
 */
static void passed_on(struct lqn_invocation *it, struct lqn_invocation *done, int64_t ts)
{
	struct lqn_actor *worker = it->actor;

	if (lqn_final(worker->current) == it) {
		lqn_charge(worker, lqn_actor_cpu_at(worker, ts), ts);
		worker->current = NULL;
	}
	lqn_merge(it, done);
}

/* Another process answers what `done` was asked for: from there to `current` it was forwarded. */
static void forwarded(struct lqn_invocation *current, struct lqn_invocation *done, int64_t ts)
{
	struct lqn_invocation *it = current, *top;

	for (int hops = 0; it && it != done && !lqn_same_process(it->actor, done->actor) && hops < HOPS_MAX; hops++) {
		it = it->request ? lqn_final(it->request->caller) : NULL;
	}
	if (!it || !lqn_same_process(it->actor, done->actor)) {
		return;		/* it works for another request: the descriptor was taken for another's */
	}
	for (top = it, it = current; it != top; it = lqn_final(it->request->caller)) {
		it->request->kind = LQN_FORWARD;
	}
	if (top != done && top->anonymous && !top->request) {
		passed_on(top, done, ts);
	}
}

/* The thread has answered another request, and has since waited for descriptors in vain: a timer has woken it. */
static bool waited_since(const struct lqn_actor *actor, const struct lqn_invocation *done)
{
	const struct lqn_invocation *tail = actor->current;

	return tail && tail->tail_of && !tail->into && lqn_final(tail->tail_of) != done && !tail->arcs &&
		done->actor == actor && lqn_call_polls(actor->last.call) && actor->last.begin >= tail->begin;
}

/* A send on a connection on which a request is open. */
static void send_reply(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *into,
	const struct lqn_event *ev)
{
	struct lqn_invocation *current = lqn_final(actor->current), *done;
	struct lqn_note *message;

	while (end->open.length > 1 && current && lqn_final(g_queue_peek_tail(&end->open)) == current) {
		g_queue_pop_head(&end->open);	/* the reply of an older one was lost */
		a->healed++;
	}
	end->answered = done = lqn_final(g_queue_pop_head(&end->open));
	if (done->request && done->request->awaits && current && current != done) {
		/* it works for somebody else, whose message this is */
		lqn_note_add(into, ev->send.seq)->reply_of = done;
		done->replied = ev->send.end;
		return;
	}
	if (waited_since(actor, done)) {
		/* what the thread had answered before is over */
		lqn_charge(actor, actor->last.cpu, actor->last.begin);
		lqn_settle(actor);
		actor->current = current = NULL;
	}
	lqn_come_back(actor, done);
	lqn_give_call_to_idle(actor, done);
	if (current != done) {
		lqn_leave(actor, ev->send.begin);
	}
	if (!current) {
		current = lqn_final(lqn_context(a, actor, ev->send.begin, ev->send.cpu_begin));
		lqn_merge(current, done);
		actor->current = done;
	} else if (current != done && lqn_same_process(actor, done->actor) && current->anonymous) {
		/* work of which nobody knew whose it is: the reply says so */
		current->tail_of = NULL;
		lqn_charge(actor, ev->send.cpu_begin, ev->send.begin);
		lqn_merge(current, done);
		actor->current = done;
	}
	lqn_actor_worked(done, actor);
	message = lqn_note_add(into, ev->send.seq);
	message->reply_of = done;
	if (current != done && !lqn_same_process(actor, done->actor) && !current->into) {
		forwarded(current, done, ev->send.begin);
		replied(a, actor, current, ev);
	} else {
		replied(a, actor, done, ev);
	}
}

/*
 * What the thread has done since it has answered `done`, if it is still at that. If it has waited for words meanwhile, locks of
 * its program or a helper, that is over, and was no second phase, unless who woke it was at another request: this is a message
 * to deliver. NULL: it is at something else.
 */
static struct lqn_invocation *done_since(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_invocation *done,
	const struct lqn_event *ev)
{
	struct lqn_invocation *since = actor->current;
	const struct lqn_invocation *helped = lqn_final(since ? since->helps : actor->helping);

	if (since && lqn_final(since->tail_of) == done) {
		return since->into ? NULL : since;
	}
	if (actor->answered_at != done->replied || (helped && helped != done) || !lqn_call_waits_for_word(actor->last.call) ||
			(since && (!since->anonymous || since->arcs || since->into || since->tail_of))) {
		return NULL;
	}
	lqn_was_first_phase(done);
	return since ? since : lqn_context(a, actor, ev->send.begin, ev->send.cpu_begin);
}

/*
 * More of an answer: no request is open here, and the thread is still at the one that it has answered. True if it was; its work in
 * between belongs to the first phase. What is sent else is delivered, and so is what follows.
 */
static bool send_more(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *into,
	const struct lqn_event *ev)
{
	struct lqn_invocation *done = end->answered, *tail;
	struct lqn_note *message;

	if (!done || end->open.length > 0 || !(tail = done_since(a, actor, done, ev))) {
		end->answered = NULL;
		return false;
	}
	lqn_charge(actor, ev->send.cpu_begin, ev->send.begin);
	lqn_merge(tail, done);
	message = lqn_note_add(into, ev->send.seq);
	message->reply_of = done;
	message->more = true;
	replied(a, actor, done, ev);
	return true;
}

/* Sockets for datagrams are as many as there are senders: what counts is where they send to. */
static bool goes_where(const struct lqn_arc *arc, const struct lqn_arc *other)
{
	return arc->word == other->word && (arc->via == other->via || (arc->via && other->via &&
		target(lqn_end_real(arc->via)) == target(lqn_end_real(other->via))));
}

/* Two messages whose sends overlapped were taken for each other: the reply says whose was whose. */
static bool swap_calls(struct lqn_invocation **path, int *length, struct lqn_invocation *reader)
{
	for (int i = 0; i < *length; i++) {
		struct lqn_arc *mine = path[i]->request, *its = NULL;
		struct lqn_invocation *other;

		for (struct lqn_arc *arc = reader->arcs; mine && arc; arc = arc->next) {
			if (arc->replied == 0 && !arc->gone && goes_where(arc, mine)) {
				its = arc;
			}
		}
		if (!its || its == mine) {
			continue;
		}
		/* the callees change places, so that each arc stays in its caller's list */
		other = its->callee;
		its->callee = path[i];
		path[i]->request = its;
		mine->callee = other;
		if (other) {
			other->request = mine;
		}
		*length = i + 1;
		return true;
	}
	return false;
}

/* One thread alone reads there, and no request has ever come that way: it may wait there for answers. */
static bool is_for_answers(const struct lqn_end *end)
{
	return end->readers && end->readers->len == 1 && !end->asked;
}

/*
 * Of the work for a request only the end was seen. If its last message goes towards the clients, into a queue that one thread
 * alone reads, and that thread waits for the answer to a call, it is the answer: `top`, of which nobody knew who had asked for
 * it, is what was called. NULL: no such call.
 */
static struct lqn_invocation *answered(struct lqn_party *host, struct lqn_invocation *top, const struct lqn_actor *actor,
	const struct lqn_actor *reader, int64_t ts)
{
	struct lqn_invocation *caller = reader->current;
	struct lqn_arc *arc;

	if (!caller || (caller->tail_of && !caller->into) || lqn_roles_direction(host, actor->unit, reader->unit) >= 0) {
		return NULL;
	}
	caller = lqn_final(caller);
	for (arc = caller->arcs; arc && (arc->replied != 0 || arc->gone || arc->sent >= ts); arc = arc->next) {
	}
	if (!arc || caller == top || top->request || lqn_roles_direction(host, top->actor->unit, reader->unit) >= 0) {
		return NULL;
	}
	if (arc->callee) {
		arc->callee->request = NULL;
	}
	arc->callee = top;
	top->request = arc;
	top->tail_of = NULL;
	top->anonymous = false;
	return caller;
}

/* One of those who work for it reads what comes there. */
static bool reads_from(const struct lqn_invocation *it, const struct lqn_end *end)
{
	if (lqn_end_is_read_by(end, it->actor)) {
		return true;
	}
	for (guint i = 0; it->actors && i < it->actors->len; i++) {
		if (lqn_end_is_read_by(end, it->actors->pdata[i])) {
			return true;
		}
	}
	return false;
}

/* A send into a queue: a reply if a caller further up reads it. */
static bool send_queue_reply(struct lqn_analysis *a, struct lqn_party *host, struct lqn_actor *actor, struct lqn_end *to,
	struct lqn_end *end, struct lqn_invocation *current, const struct lqn_event *ev)
{
	struct lqn_invocation *path[HOPS_MAX], *it = current, *top;
	struct lqn_note *message;
	int length = 0;

	while (it && length < HOPS_MAX) {
		if (length > 0 && it->replied == 0 && reads_from(it, to)) {
			break;
		}
		path[length++] = it;
		it = it->request ? lqn_final(it->request->caller) : NULL;
	}
	if (!it && to->readers && to->readers->len == 1) {
		struct lqn_invocation *reader = ((struct lqn_actor *) to->readers->pdata[0])->current;

		if (reader && !reader->tail_of && (reader = lqn_final(reader)) != current && reader->replied == 0 &&
				swap_calls(path, &length, reader)) {
			it = reader;
		}
	}
	if (!it && length < HOPS_MAX && is_for_answers(to)) {
		it = answered(host, path[length - 1], actor, to->readers->pdata[0], ev->send.begin);
	}
	if (!it || it == current || length >= HOPS_MAX || !path[length - 1]->request) {
		return false;
	}
	top = path[length - 1];
	top->request->replied = -1;	/* on its way */
	for (int i = 0; i < length - 1; i++) {
		if (path[i]->request) {
			path[i]->request->kind = LQN_FORWARD;
		}
	}
	message = lqn_note_add(end, ev->send.seq);
	message->reply_of = top;
	message->caller = it;
	replied(a, actor, path[0], ev);
	return true;
}

static struct lqn_arc *last_call(struct lqn_end *end)
{
	return g_queue_peek_tail(&end->calls);
}

/*
 * The end that accepted sends though no request is open there, and the other waits for an answer to one whose receipt was not
 * seen: this is the answer, and what the thread did before is the request's work.
 */
static bool answer_unseen(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *to,
	struct lqn_end *into, const struct lqn_event *ev)
{
	struct lqn_arc *arc = g_queue_peek_head(&to->calls);
	struct lqn_invocation *current;
	struct lqn_note *message;

	if (end->role != LQN_ROLE_SERVER || !arc || arc->callee || arc->replied != 0 || arc->sent >= ev->send.begin) {
		return false;
	}
	current = lqn_context(a, actor, ev->send.begin, ev->send.cpu_begin);
	if (current->request && !current->tail_of) {
		return false;
	}
	current->tail_of = NULL;
	current->anonymous = false;
	current = lqn_final(current);
	current->request = arc;
	current->conn = end;
	arc->callee = current;
	message = lqn_note_add(into, ev->send.seq);
	message->reply_of = current;
	replied(a, actor, current, ev);
	a->orphans++;
	return true;
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

/* True if what is sent on a connection answers something. */
static bool send_answer(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *to,
	struct lqn_end *into, const struct lqn_event *ev)
{
	if (end->open.length > 0) {
		send_reply(a, actor, end, into, ev);
		return true;
	}
	return send_more(a, actor, end, into, ev) || answer_unseen(a, actor, end, to, into, ev);
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
	return !*fetch && send_answer(a, actor, end, to, into, ev);
}

/* What goes into a queue, or is a datagram, and is an answer. */
static bool send_answer_to_queue(struct lqn_analysis *a, struct lqn_party *host, struct lqn_actor *actor, struct lqn_end *end,
	struct lqn_end *to, struct lqn_invocation *current, const struct lqn_event *ev)
{
	if (lqn_end_is_stream(end)) {
		return false;
	}
	if (send_queue_reply(a, host, actor, to, end, current, ev)) {
		return true;
	}
	if (is_for_answers(to) && lqn_roles_direction(host, actor->unit,
			((struct lqn_actor *) to->readers->pdata[0])->unit) < 0) {
		a->orphans++;		/* to nothing that was seen */
		return true;
	}
	return false;
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

	if (send_answer_to_queue(a, host, actor, end, to, current, ev)) {
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
	struct lqn_end *into = lqn_party_end(host, ev->send.object), *end = lqn_end_real(into), *to = target(end);
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
