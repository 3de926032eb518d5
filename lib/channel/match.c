/* SPDX-License-Identifier: MIT */

/*
 * Receives and what they get. A direction of a byte stream is a row of messages; a receive takes as many bytes from its head as it
 * returned, and so names their senders. Datagrams and queued messages match one to one.
 */
#include "channel/queue.h"

/* How receives take messages from a channel. */
enum taking {
	TAKE_BYTES,		/* as many bytes as were read */
	TAKE_ONE,		/* one message */
	TAKE_ALL,		/* all that are there: a counter is read and cleared */
};

static enum taking taking(const struct lqn_object *object)
{
	switch (object->kind) {
	case LQN_OBJ_DATAGRAM:
	case LQN_OBJ_UDP:
	case LQN_OBJ_QUEUE:
		return TAKE_ONE;
	case LQN_OBJ_EVENTFD:
		return object->semaphore ? TAKE_ONE : TAKE_ALL;
	default:
		return TAKE_BYTES;
	}
}

/* All of it has been read. Of a peer that is a guess it is kept for a while, for it may not have been for who has read it. */
static void drop_read(struct lqn_object *object, struct lqn_message *message)
{
	if (!object->peer || object->evidence == LQN_CERTAIN) {
		lqn_queue_drop_message(object, message);
		return;
	}
	lqn_queue_take_out(&object->messages, &object->messages_last, message);
	object->n_messages--;
	lqn_queue_insert(&object->taken, &object->taken_last, message);
	if (++object->n_taken > LQN_TAKEN_MAX) {
		lqn_queue_drop(object->channels, &object->taken, &object->taken_last, object->taken);
		object->n_taken--;
	}
}

/*
 * A receive found nothing when it began, or less than the `least` bytes that it waited for: so of what was sent before, as much
 * has been read, whether that was seen or not. Drops that.
 */
static void drop_stale(struct lqn_object *object, int64_t since, int64_t least)
{
	struct lqn_message *message;
	int64_t there = 0;

	for (message = object->messages; message && message->bytes >= 0 && message->ended < since; message = message->next) {
		there += message->bytes;
	}
	while ((message = object->messages) && there > 0 && there >= least) {
		there -= message->bytes;
		lqn_queue_drop_message(object, message);
	}
}

void lqn_channel_move_held(struct lqn_object *from, struct lqn_object *to)
{
	if (to->held || !from->held) {
		return;
	}
	to->held = from->held;
	to->held_last = from->held_last;
	to->n_held = from->n_held;
	from->held = from->held_last = NULL;
	from->n_held = 0;
	lqn_channel_drain(to);
}

bool lqn_channel_is_read_by_one(struct lqn_object *object)
{
	return lqn_object_real(object)->receiving == 1;
}

static void tell(struct lqn_object *object, const struct lqn_held *held)
{
	struct lqn_event ev = { .type = LQN_EV_RECEIVE };

	lqn_channel_announce(object, false);
	ev.receive.thread = held->thread;
	ev.receive.object = held->to ? held->to : object->id;
	ev.receive.from = held->from;
	ev.receive.seq = held->seq;
	ev.receive.sender = held->sender;
	ev.receive.begin = held->begin;
	ev.receive.end = held->end;
	ev.receive.cpu_begin = held->cpu_begin;
	ev.receive.cpu_end = held->cpu_end;
	ev.receive.bytes = held->bytes;
	ev.receive.sent = held->sent;
	ev.receive.count = held->count;
	object->channels->emit(object->channels->payload, &ev);
}

static void note(struct lqn_held *held, const struct lqn_message *message, bool whole)
{
	if (held->from == 0 || (held->count == 0 && whole)) {
		held->from = message->from;
		held->seq = message->seq;
		held->sender = message->thread;
		held->sent = message->sent;
	}
	held->count += whole;
}

/* False for a message that cannot be what was received: its length is another. */
static bool fits(const struct lqn_message *message, const struct lqn_held *held)
{
	return message->bytes < 0 || message->bytes == held->bytes;
}

/* The message that a receive of a whole one gets; NULL: none can be its. */
static struct lqn_message *choose(const struct lqn_object *object, const struct lqn_held *held)
{
	struct lqn_message *best = NULL;

	if (object->kind != LQN_OBJ_QUEUE) {
		return object->messages;
	}
	for (struct lqn_message *m = object->messages; m; m = m->next) {
		if (m->reserved == held->thread && m->seq == held->woken_seq) {
			return m;
		}
		if (m->reserved != 0) {
			continue;
		}
		/* of what a System V reader chooses the type is not known, the length is */
		if (!best || (fits(m, held) && !fits(best, held)) ||
				(fits(m, held) == fits(best, held) && m->priority > best->priority)) {
			best = m;
		}
	}
	return best;
}

/* How far a receive has come. */
enum progress { DONE, WAITS, NOTHING };

/* A semaphore may have been given more than one at once: what is left of the last is its giver's. */
static enum progress take_more(const struct lqn_object *object, struct lqn_held *held)
{
	if (object->kind != LQN_OBJ_EVENTFD || object->from == 0 || held->found_empty) {
		return NOTHING;
	}
	held->from = object->from;
	held->seq = object->from_seq;
	held->sender = object->from_thread;
	held->sent = object->from_sent;
	return DONE;
}

static enum progress take_one(struct lqn_object *object, struct lqn_held *held)
{
	struct lqn_message *message = choose(object, held);

	if (!message || message->sent > held->end) {
		return take_more(object, held);
	}
	if (message->bytes < 0) {
		return WAITS;
	}
	held->to = message->to;
	if (message->from != 0) {
		note(held, message, true);
	}
	if (object->kind == LQN_OBJ_EVENTFD) {
		object->from = message->from;
		object->from_seq = message->seq;
		object->from_thread = message->thread;
		object->from_sent = message->sent;
	}
	lqn_queue_drop_message(object, message);
	return DONE;
}

static enum progress take_all(struct lqn_object *object, struct lqn_held *held)
{
	for (struct lqn_message *m = object->messages; m && m->sent <= held->end; m = m->next) {
		if (m->bytes < 0) {
			return WAITS;
		}
	}
	if (!object->messages || object->messages->sent > held->end) {
		return NOTHING;
	}
	while (object->messages && object->messages->sent <= held->end) {
		note(held, object->messages, true);
		lqn_queue_drop_message(object, object->messages);
	}
	return DONE;
}

static enum progress take_bytes(struct lqn_object *object, struct lqn_held *held)
{
	while (held->left > 0) {
		struct lqn_message *message = object->messages;
		int64_t n;

		if (!message || message->sent > held->end) {
			return NOTHING;
		}
		if (message->bytes < 0) {
			return WAITS;
		}
		n = MIN(held->left, message->bytes);
		held->left -= n;
		message->bytes -= n;
		note(held, message, message->bytes == 0);
		if (message->bytes == 0) {
			drop_read(object, message);
		}
	}
	return DONE;
}

static enum progress (*const takers[])(struct lqn_object *, struct lqn_held *) = {
	[TAKE_BYTES] = take_bytes,
	[TAKE_ONE] = take_one,
	[TAKE_ALL] = take_all,
};

/* True while it may still turn out who sends to the object. */
static bool peer_may_come(const struct lqn_object *object)
{
	return !object->untracked && !lqn_object_is_shared(object) && !object->peer && !object->remote &&
		(object->kind != LQN_OBJ_UDP || !object->has_tuple);
}

static void drop_held(struct lqn_object *object)
{
	struct lqn_held *held = object->held;

	object->held = held->next;
	if (!object->held) {
		object->held_last = NULL;
	}
	object->n_held--;
	g_free(held);
}

/*
 * What is sent through TCP may lie at its sender for a while (Nagle's algorithm waits for what is under way to be acknowledged): to who
 * is woken by the network, it was not there before though it had been sent.
 */
static bool may_have_been_held_back(const struct lqn_object *object, const struct lqn_held *held)
{
	return object->kind == LQN_OBJ_TCP && held->woken_from == 0;
}

void lqn_channel_drain(struct lqn_object *object)
{
	while (object->held && !object->paused) {
		enum progress progress;

		if (object->held->found_empty && object->held->count == 0 && !may_have_been_held_back(object, object->held)) {
			drop_stale(object, object->held->empty, object->held->waits_for_all ? object->held->bytes : 0);
		}
		progress = takers[taking(object)](object, object->held);

		if (progress == WAITS || (progress == NOTHING && peer_may_come(object))) {
			return;
		}
		if (progress == NOTHING && object->held->count == 0 && lqn_channel_adopt(object, object->held)) {
			continue;
		}
		tell(object, object->held);
		drop_held(object);
	}
}

static void give_up_first(struct lqn_object *object)
{
	takers[taking(object)](object, object->held);
	tell(object, object->held);
	drop_held(object);
}

void lqn_channel_give_up(struct lqn_object *object)
{
	while (object->held) {
		give_up_first(object);
	}
}

void lqn_channel_receive(struct lqn_object *object, const struct lqn_held *held)
{
	struct lqn_held *copy;

	object = lqn_object_real(object);
	if (!lqn_object_is_channel(object)) {
		return;
	}
	copy = g_new(struct lqn_held, 1);
	*copy = *held;
	copy->next = NULL;
	copy->left = held->bytes;
	if (object->held_last) {
		object->held_last->next = copy;
	} else {
		object->held = copy;
	}
	object->held_last = copy;
	object->n_held++;
	lqn_channel_drain(object);
	if (object->n_held == LQN_GUESS_AT && peer_may_come(object)) {
		lqn_channel_guess(object);
	}
	while (object->guessed && object->n_held > LQN_GUESS_AT) {
		give_up_first(object);	/* it came from who is still not known: those after it did not */
		lqn_channel_drain(object);
	}
	if (object->n_held > (lqn_queue_is_doubtful(object) ? LQN_DOUBT_MAX : LQN_HELD_MAX)) {
		object->untracked = true;
		lqn_channel_give_up(object);
	}
}
