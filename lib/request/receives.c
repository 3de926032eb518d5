/* SPDX-License-Identifier: MIT */

/* Messages where they are received: requests begin work there, and who gets an answer goes on. */
#include "internal.h"

#include "layout/record.h"

#define ANSWERED_MIN 0.75	/* of the messages that come on a connection: as many that go out, and each is a request */

/* Goes on with a context in which a reply has arrived. */
static void resume(struct lqn_actor *actor, struct lqn_invocation *caller, const struct lqn_event *ev)
{
	struct lqn_invocation *current = lqn_final(actor->current);

	if (current != caller) {
		lqn_leave(actor, ev->receive.begin);
		lqn_charge(actor, lqn_start_cpu(actor, ev->receive.cpu_end), ev->receive.end);
		lqn_settle(actor);
		actor->current = caller;
	}
	lqn_charge(actor, ev->receive.cpu_end, ev->receive.end);
	caller->end = ev->receive.end;
	caller->latency += lqn_latency_in(actor, ev->receive.begin, ev->receive.sent);
	if (caller->origin == LQN_ORIGIN_LOOP) {
		actor->current = NULL;	/* this customer's cycle is over */
	}
}

/* How the thread waited for the answer that has just come. */
static void wait_for_answer(struct lqn_actor *actor, struct lqn_arc *arc)
{
	bool waited = actor->last.end >= arc->sent, epoll = actor->last.call == LQN_CALL_EPOLL_WAIT;

	/* an event loop, or a scheduler's thread, waits for whatever comes: whether for this, its caller's own answer tells */
	arc->polled = waited && (epoll || actor->last.call == LQN_CALL_FUTEX);
	arc->at_loop = waited && epoll && actor->last.object && actor->last.object == actor->asked_at;
	arc->held = waited && !arc->left && !lqn_call_polls(actor->last.call);
	actor->asking_from = arc->sent;
	actor->asking_until = arc->replied;
}

/* What had been sent when the thread came to wait for it was held back by TCP, and let go by an acknowledgement: nobody worked on it. */
static void count_held_back(const struct lqn_actor *actor, const struct lqn_end *end, struct lqn_invocation *caller,
	const struct lqn_event *ev)
{
	const struct lqn_interval *last = &actor->last;

	if (!end->remote && last->cause == LQN_CAUSE_NETWORK && last->call_begin == ev->receive.begin) {
		caller->paused += MAX(0, last->wake - MAX(last->begin, ev->receive.sent));
	}
}

static void receive_reply(struct lqn_actor *actor, struct lqn_end *end, struct lqn_note *message,
	const struct lqn_event *ev)
{
	struct lqn_invocation *done = lqn_final(message->reply_of), *caller;
	struct lqn_arc *arc = done->request;

	if (!arc) {
		return;
	}
	g_queue_remove(&end->calls, arc);
	if (arc->fetch) {
		return;		/* there was no message */
	}
	arc->replied = end->free_since = ev->receive.end;
	wait_for_answer(actor, arc);
	caller = arc->caller;
	if (!caller->tail_of || caller->into) {
		caller = lqn_final(caller);
	}
	if (!message->more || lqn_final(actor->current) == caller) {
		resume(actor, caller, ev);
		count_held_back(actor, end, caller, ev);
	} else if (caller->origin == LQN_ORIGIN_LOOP) {
		caller->end = ev->receive.end;	/* its cycle was thought to be over */
	}
}

static void receive_queue_reply(struct lqn_actor *actor, struct lqn_note *message, const struct lqn_event *ev)
{
	if (message->reply_of->request) {	/* else it has turned out to answer another */
		message->reply_of->request->replied = ev->receive.end;
	}
	resume(actor, lqn_final(message->caller), ev);
}

/* What a process sends itself wakes a thread of it, or its own loop: no call. */
static bool stays_inside(struct lqn_party *host, const struct lqn_actor *actor, const struct lqn_end *end,
	const struct lqn_event *ev)
{
	return !end->remote && ev->receive.sender && lqn_same_process(actor, lqn_party_actor(host, ev->receive.sender));
}

/* Who sends another request, apart from those before it, waits for no answer to them. */
static void let_go_of_unanswered(struct lqn_end *end)
{
	struct lqn_end *from = lqn_end_real(end->peer);
	struct lqn_invocation *it;

	if (end->open.length == 0 || !from || !lqn_is_apart(end)) {
		return;
	}
	while ((it = lqn_final(g_queue_pop_head(&end->open)))) {
		g_queue_remove(&it->actor->idle, it);
		if (it->request) {
			g_queue_remove(&from->calls, it->request);
		}
	}
}

static void receive_request(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_arc *arc,
	const struct lqn_event *ev)
{
	struct lqn_invocation *invocation = lqn_begin_request(a, actor, arc, ev->receive.sent, ev->receive.end,
		ev->receive.cpu_begin, ev->receive.cpu_end);

	let_go_of_unanswered(end);
	invocation->conn = end;
	lqn_unhanded_add(invocation);
	if (!arc || !arc->fetch) {
		actor->took_up_at = ev->receive.end;
	}
	end->asked = true;
	end->answered = NULL;
	/* who has fetched a message does not answer */
	if (lqn_end_is_stream(end) && end->sends > 0 && !(arc && arc->fetched > 0)) {
		g_queue_push_tail(&end->open, invocation);
	}
}

/*
 * More than one message was sent before an answer came. If the first has been answered when the next is received, and as
 * many answers go out as messages come in, they were requests of their own.
 */
static bool is_pipelined(const struct lqn_end *end, const struct lqn_end *from, const struct lqn_note *message)
{
	return lqn_end_is_stream(end) && !message->begun && message->arc->callee && lqn_final(message->arc->callee)->replied &&
		end->open.length == 0 && (double) end->sends >= ANSWERED_MIN * (double) from->sends;
}

static void receive_next(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *from,
	const struct lqn_note *message, const struct lqn_event *ev)
{
	struct lqn_invocation *caller = lqn_final(message->arc->caller);
	struct lqn_arc *arc = lqn_arc_new(a, caller, ev->receive.sent, from, 0);

	lqn_arc_move(arc, caller, false);
	g_queue_push_tail(&from->calls, arc);
	receive_request(a, actor, end, arc, ev);
}

/*
 * The first part of a message that is not complete yet: the work for a request begins with it. (Who knows a request's length
 * from its head may answer before the last of it is read.)
 */
static void receive_part(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *from, uint64_t seq,
	const struct lqn_event *ev)
{
	struct lqn_note *message = lqn_note_find(from, seq);

	if (message && message->arc && !message->reply_of && !message->begun) {
		message->begun = !message->arc->callee || lqn_is_apart(end);
		if (!message->arc->callee) {
			receive_request(a, actor, end, message->arc, ev);
		} else if (message->begun) {
			receive_next(a, actor, end, from, message, ev);
		}
	}
	lqn_done_with(actor, ev->receive.end, ev->receive.cpu_end);
}

/* What was told as sent at `from`, by a guess, before it was known who is the peer: that was the first of the peer's messages. */
static struct lqn_end *who_sent(const struct lqn_end *end, struct lqn_end *from, uint64_t *seq)
{
	struct lqn_end *peer = end->sure && !end->remote && lqn_end_is_stream(end) ? lqn_end_real(end->peer) : NULL;

	if (!from || !peer || lqn_end_real(from) == peer || !peer->notes) {
		return from;
	}
	*seq = peer->notes->seq;
	return peer;
}

void lqn_on_receive(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->receive.thread);
	struct lqn_end *end = lqn_end_real(lqn_party_end(host, ev->receive.object));
	struct lqn_end *from = end->remote ? end->peer :
		ev->receive.from ? lqn_party_end(host, ev->receive.from) : NULL;
	bool stream = lqn_end_is_stream(end);
	uint64_t seq = ev->receive.seq;

	from = who_sent(end, from, &seq);
	if (from && stream && ev->receive.count == 0 && !stays_inside(host, actor, end, ev)) {
		receive_part(a, actor, end, from, seq, ev);
	}
	for (uint32_t i = 0; from && i < ev->receive.count; i++) {
		struct lqn_note *message = lqn_note_take(from, seq + i);

		if (!message) {
			continue;
		}
		if (message->reply_of && (stream || !message->caller)) {
			receive_reply(actor, end, message, ev);
		} else if (message->reply_of) {
			receive_queue_reply(actor, message, ev);
		} else if (stays_inside(host, actor, end, ev)) {
			actor->told_inside = ev->receive.end;
			if (message->arc) {
				g_queue_remove(&from->calls, message->arc);
				message->arc->gone = true;
			}
		} else if (!stream || !message->arc || !message->arc->callee) {
			receive_request(a, actor, end, message->arc, ev);
		} else if (is_pipelined(end, from, message)) {
			from->pipelined = true;
			receive_next(a, actor, end, from, message, ev);
		} else if (i == 0 && !message->begun && lqn_is_apart(end)) {
			receive_next(a, actor, end, from, message, ev);
		}
		end->took_bytes = message->bytes;
		lqn_done_with(actor, ev->receive.end, ev->receive.cpu_end);
		lqn_region_free(&a->keep.region, message, sizeof(*message));
	}
}
