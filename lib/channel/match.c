/* SPDX-License-Identifier: MIT */

/*
 * Messages. A direction of a byte stream is a row of messages; a receive takes as many bytes from its head as it
 * returned, and so names their senders. Datagrams and queued messages match one to one.
 */
#include "channel/internal.h"

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

bool lqn_object_is_shared(const struct lqn_object *object)
{
	return lqn_object_kind_is_shared(object->kind) || object->kind == LQN_OBJ_FILE;
}

/* Where what is sent into an object is read; NULL: not known. */
static struct lqn_object *destination(struct lqn_object *object)
{
	return lqn_object_is_shared(object) ? object :
		lqn_object_real(object->mailbox ? object->mailbox : object->peer);
}

static bool is_doubtful(const struct lqn_object *object)
{
	return object->kind == LQN_OBJ_FILE || object->kind == LQN_OBJ_UNKNOWN;
}

/* Puts a message where its time belongs; nearly always that is the end. */
static void insert(struct lqn_message **head, struct lqn_message **last, struct lqn_message *message)
{
	struct lqn_message *before = *last;

	while (before && before->sent > message->sent) {
		before = before->prev;
	}
	message->prev = before;
	message->next = before ? before->next : *head;
	*(message->next ? &message->next->prev : last) = message;
	*(before ? &before->next : head) = message;
}

/* Takes a message out of its queue. */
static void take_out(struct lqn_message **head, struct lqn_message **last, struct lqn_message *message)
{
	*(message->prev ? &message->prev->next : head) = message->next;
	*(message->next ? &message->next->prev : last) = message->prev;
}

static void drop(struct lqn_channels *channels, struct lqn_message **head, struct lqn_message **last, struct lqn_message *message)
{
	take_out(head, last, message);
	g_free(message);
	channels->messages--;
}

static void drop_message(struct lqn_object *object, struct lqn_message *message)
{
	drop(object->channels, &object->messages, &object->messages_last, message);
	object->n_messages--;
}

void lqn_channel_forget_messages(struct lqn_object *object)
{
	while (object->messages) {
		drop(object->channels, &object->messages, &object->messages_last, object->messages);
	}
	while (object->unsent) {
		drop(object->channels, &object->unsent, &object->unsent_last, object->unsent);
	}
	while (object->taken) {
		drop(object->channels, &object->taken, &object->taken_last, object->taken);
	}
	object->n_messages = object->n_unsent = object->n_taken = 0;
}

/* Nobody reads what is sent here, nobody traced at least. */
static void overrun(struct lqn_object *object)
{
	lqn_channel_forget_messages(object);
	object->untracked = true;
	object->channels->overruns++;
}

/* The more messages lie anywhere, the fewer may lie in one place: a sixteenth for each LQN_MESSAGES_MANY. */
static uint32_t queue_limit(const struct lqn_channels *channels)
{
	uint64_t shift = 4 * (channels->messages / LQN_MESSAGES_MANY);

	return MAX(shift < 32 ? LQN_QUEUE_MAX >> shift : 0, LQN_DOUBT_MAX);
}

uint64_t lqn_channel_send_begin(struct lqn_object *object, uint64_t thread, int64_t ts, uint32_t priority)
{
	struct lqn_message *message;
	struct lqn_object *to;
	uint32_t limit;

	object = lqn_object_real(object);
	if (!lqn_object_is_channel(object)) {
		return 0;
	}
	limit = is_doubtful(object) ? LQN_DOUBT_MAX : queue_limit(object->channels);
	to = destination(object);
	object->seq++;
	object->sent = ts;
	if (object->untracked || (to && to->untracked) ||
			(object->remote && object->kind == LQN_OBJ_UDP)) {
		return object->seq;
	}
	/* not g_new0(): calloc() of glibc does not look among what was freed last */
	message = g_new(struct lqn_message, 1);
	*message = (struct lqn_message) {
		.from = object->id, .seq = object->seq, .thread = thread, .sent = ts, .bytes = -1, .priority = priority,
		.to = object->mailbox && object->peer ? object->peer->id : 0,
	};
	object->channels->messages++;
	if (to) {
		insert(&to->messages, &to->messages_last, message);
		if (++to->n_messages > limit) {
			overrun(to);
		}
	} else {
		if (object->preexisting) {
			lqn_channel_note_orphan(object);
		}
		insert(&object->unsent, &object->unsent_last, message);
		if (++object->n_unsent > limit) {
			overrun(object);
		}
	}
	return object->seq;
}

/* Finds a message from the end on: one that is still being sent is among the last. */
static struct lqn_message *find(struct lqn_message *last, uint64_t from, uint64_t seq)
{
	while (last && (last->seq != seq || last->from != from)) {
		last = last->prev;
	}
	return last;
}

void lqn_channel_send_end(struct lqn_object *object, uint64_t from, uint64_t seq, int64_t ts, int64_t bytes)
{
	struct lqn_object *to;
	struct lqn_message *message;

	object = lqn_object_real(object);
	to = destination(object);
	if (to && (message = find(to->messages_last, from, seq))) {
		if (bytes > 0) {
			message->bytes = message->length = bytes;
			message->ended = ts;
		} else {
			drop_message(to, message);
		}
		lqn_channel_drain(to);
	} else if ((message = find(object->unsent_last, from, seq))) {
		if (bytes > 0) {
			message->bytes = message->length = bytes;
			message->ended = ts;
		} else {
			drop(object->channels, &object->unsent, &object->unsent_last, message);
			object->n_unsent--;
		}
	}
}

/* All of it has been read. Of a peer that is a guess it is kept for a while, for it may not have been for who has read it. */
static void drop_read(struct lqn_object *object, struct lqn_message *message)
{
	if (!object->peer || object->evidence == LQN_CERTAIN) {
		drop_message(object, message);
		return;
	}
	take_out(&object->messages, &object->messages_last, message);
	object->n_messages--;
	insert(&object->taken, &object->taken_last, message);
	if (++object->n_taken > LQN_TAKEN_MAX) {
		drop(object->channels, &object->taken, &object->taken_last, object->taken);
		object->n_taken--;
	}
}

/* What has been read as another's was the first of these. */
static void drop_mistaken(struct lqn_object *object)
{
	struct lqn_message *message;

	while (object->mistaken > 0 && (message = object->messages) && message->bytes >= 0) {
		int64_t n = MIN(object->mistaken, message->bytes);

		object->mistaken -= n;
		message->bytes -= n;
		if (message->bytes == 0) {
			drop_message(object, message);
		}
	}
	object->mistaken = 0;
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
		drop_message(object, message);
	}
}

void lqn_channel_arrived(struct lqn_object *mailbox, uint64_t to, int64_t ts, int64_t bytes)
{
	struct lqn_message *message = g_new0(struct lqn_message, 1);

	mailbox->channels->messages++;
	message->to = to;
	message->sent = message->ended = ts;
	message->bytes = bytes;
	insert(&mailbox->messages, &mailbox->messages_last, message);
	if (++mailbox->n_messages > LQN_DOUBT_MAX && mailbox->fds == 0) {
		drop_message(mailbox, mailbox->messages);
	}
	lqn_channel_drain(mailbox);
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

void lqn_channel_forward_unsent(struct lqn_object *from, struct lqn_object *to)
{
	struct lqn_message *message;

	while ((message = from->unsent)) {
		if (to->untracked) {
			drop(from->channels, &from->unsent, &from->unsent_last, message);
		} else {
			take_out(&from->unsent, &from->unsent_last, message);
			insert(&to->messages, &to->messages_last, message);
			to->n_messages++;
		}
	}
	from->n_unsent = 0;
	drop_mistaken(to);
}

void lqn_channel_move_messages(struct lqn_object *from, struct lqn_object *to)
{
	struct lqn_message *message;

	while ((message = from->messages)) {
		take_out(&from->messages, &from->messages_last, message);
		from->n_messages--;
		insert(&to->messages, &to->messages_last, message);
		to->n_messages++;
	}
}

/* The message was not for who has read some of it, or all. */
static void give_back(struct lqn_object *from, struct lqn_object *to, struct lqn_message *message)
{
	if (message->bytes >= 0) {
		to->mistaken += message->length - message->bytes;
		message->bytes = message->length;
	}
	insert(&from->unsent, &from->unsent_last, message);
	from->n_unsent++;
}

void lqn_channel_take_back(struct lqn_object *from, struct lqn_object *to)
{
	struct lqn_message *next;

	for (struct lqn_message *message = to->messages; message; message = next) {
		next = message->next;
		if (message->from == from->id) {
			take_out(&to->messages, &to->messages_last, message);
			to->n_messages--;
			give_back(from, to, message);
		}
	}
	for (struct lqn_message *message = to->taken; message; message = next) {
		next = message->next;
		if (message->from == from->id) {
			take_out(&to->taken, &to->taken_last, message);
			to->n_taken--;
			give_back(from, to, message);
		}
	}
}

void lqn_channel_reserve(struct lqn_object *object, uint64_t seq, uint64_t thread)
{
	struct lqn_message *message;

	object = lqn_object_real(object);
	message = find(object->messages_last, object->id, seq);
	if (message && object->kind == LQN_OBJ_QUEUE) {
		message->reserved = thread;
	}
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
	drop_message(object, message);
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
		drop_message(object, object->messages);
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
	if (object->n_held > (is_doubtful(object) ? LQN_DOUBT_MAX : LQN_HELD_MAX)) {
		object->untracked = true;
		lqn_channel_give_up(object);
	}
}
