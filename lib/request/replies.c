/* SPDX-License-Identifier: MIT */

/*
 * Replies: which of the messages that are sent answer something.
 *
 * On a connection the end that accepted answers: what goes out of it while a request that came in is open is the reply to
 * the oldest open one, whoever sends it (that is how work that was handed over inside a process is found). Queues have
 * no such ends: a message into a queue that a caller further up reads is the reply to that caller, and what lies between
 * was forwarded.
 */
#include "internal.h"

#define HOPS_MAX 8	/* callers looked through for the one who reads a queue */

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
		lqn_end_target(lqn_end_real(arc->via)) == lqn_end_target(lqn_end_real(other->via))));
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

bool lqn_answer(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *to,
	struct lqn_end *into, const struct lqn_event *ev)
{
	if (end->open.length > 0) {
		send_reply(a, actor, end, into, ev);
		return true;
	}
	return send_more(a, actor, end, into, ev) || answer_unseen(a, actor, end, to, into, ev);
}

bool lqn_answer_to_queue(struct lqn_analysis *a, struct lqn_party *host, struct lqn_actor *actor, struct lqn_end *end,
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
