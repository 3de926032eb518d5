/* SPDX-License-Identifier: MIT */

/*
 * Messages. A direction of a byte stream is a row of messages; a receive takes as many bytes from its head as it
 * returned, and so names their senders. Datagrams and queued messages match one to one.
 */
#include "channel.h"

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

/* True if what is sent into an object is read from the same. */
static bool is_shared(const struct lqn_object *object)
{
	return object->kind == LQN_OBJ_PIPE || object->kind == LQN_OBJ_FIFO || object->kind == LQN_OBJ_QUEUE ||
		object->kind == LQN_OBJ_EVENTFD || object->kind == LQN_OBJ_FILE;
}

static bool is_doubtful(const struct lqn_object *object)
{
	return object->kind == LQN_OBJ_FILE || object->kind == LQN_OBJ_UNKNOWN;
}

/* Puts a message where its time belongs; nearly always that is the end. */
static void insert(struct lqn_message **head, struct lqn_message **last, struct lqn_message *message)
{
	struct lqn_message **p = head;

	if (*last && (*last)->sent <= message->sent) {
		p = &(*last)->next;
	} else {
		while (*p && (*p)->sent <= message->sent) {
			p = &(*p)->next;
		}
	}
	message->next = *p;
	*p = message;
	if (!message->next) {
		*last = message;
	}
}

/* Takes the message after `before` (NULL: the first) out of a queue. */
static void unlink_after(struct lqn_message **head, struct lqn_message **last, struct lqn_message *before)
{
	struct lqn_message **p = before ? &before->next : head;
	struct lqn_message *message = *p;

	*p = message->next;
	if (!*p) {
		*last = before;
	}
	g_free(message);
}

static void clear_messages(struct lqn_object *object)
{
	while (object->messages) {
		unlink_after(&object->messages, &object->messages_last, NULL);
	}
	while (object->unsent) {
		unlink_after(&object->unsent, &object->unsent_last, NULL);
	}
	object->n_messages = object->n_unsent = 0;
}

/* Nobody reads what is sent here, nobody traced at least. */
static void overrun(struct lqn_object *object)
{
	clear_messages(object);
	object->untracked = true;
	object->channels->overruns++;
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
	limit = is_doubtful(object) ? LQN_DOUBT_MAX : LQN_QUEUE_MAX;
	to = is_shared(object) ? object : lqn_object_real(object->peer);
	object->seq++;
	if (object->untracked || (to && to->untracked)) {
		return object->seq;
	}
	message = g_new0(struct lqn_message, 1);
	message->from = object->id;
	message->seq = object->seq;
	message->thread = thread;
	message->sent = ts;
	message->bytes = -1;
	message->priority = priority;
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

/* Finds a message; *before is set to the one in front of it. */
static struct lqn_message *find(struct lqn_message *head, uint64_t from, uint64_t seq, struct lqn_message **before)
{
	*before = NULL;
	for (struct lqn_message *m = head; m; m = m->next) {
		if (m->seq == seq && m->from == from) {
			return m;
		}
		*before = m;
	}
	return NULL;
}

void lqn_channel_send_end(struct lqn_object *object, uint64_t from, uint64_t seq, int64_t bytes)
{
	struct lqn_object *to;
	struct lqn_message *message, *before;

	object = lqn_object_real(object);
	to = is_shared(object) ? object : lqn_object_real(object->peer);
	if (to && (message = find(to->messages, from, seq, &before))) {
		if (bytes > 0) {
			message->bytes = bytes;
		} else {
			unlink_after(&to->messages, &to->messages_last, before);
			to->n_messages--;
		}
		lqn_channel_drain(to);
	} else if ((message = find(object->unsent, from, seq, &before))) {
		if (bytes > 0) {
			message->bytes = bytes;
		} else {
			unlink_after(&object->unsent, &object->unsent_last, before);
			object->n_unsent--;
		}
	}
}

void lqn_channel_forward_unsent(struct lqn_object *from, struct lqn_object *to)
{
	while (from->unsent) {
		struct lqn_message *message = from->unsent;

		from->unsent = message->next;
		if (to->untracked) {
			g_free(message);
		} else {
			insert(&to->messages, &to->messages_last, message);
			to->n_messages++;
		}
	}
	from->unsent_last = NULL;
	from->n_unsent = 0;
}

void lqn_channel_take_back(struct lqn_object *from, struct lqn_object *to)
{
	struct lqn_message *before = NULL, *next;

	for (struct lqn_message *message = to->messages; message; message = next) {
		next = message->next;
		if (message->from != from->id) {
			before = message;
			continue;
		}
		if (before) {
			before->next = next;
		} else {
			to->messages = next;
		}
		if (!next) {
			to->messages_last = before;
		}
		to->n_messages--;
		insert(&from->unsent, &from->unsent_last, message);
		from->n_unsent++;
	}
}

void lqn_channel_reserve(struct lqn_object *object, uint64_t seq, uint64_t thread)
{
	struct lqn_message *before, *message;

	object = lqn_object_real(object);
	message = find(object->messages, object->id, seq, &before);
	if (message && object->kind == LQN_OBJ_QUEUE) {
		message->reserved = thread;
	}
}

static void tell(struct lqn_object *object, const struct lqn_held *held)
{
	struct lqn_event ev = { .type = LQN_EV_RECEIVE };

	lqn_channel_announce(object, false);
	ev.receive.thread = held->thread;
	ev.receive.object = object->id;
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

/* The message that a receive of a whole one gets, with the one in front of it; NULL: none can be its. */
static struct lqn_message *choose(const struct lqn_object *object, const struct lqn_held *held,
	struct lqn_message **before)
{
	struct lqn_message *best = NULL, *previous = NULL;

	if (object->kind != LQN_OBJ_QUEUE) {
		*before = NULL;
		return object->messages;
	}
	for (struct lqn_message *m = object->messages; m; previous = m, m = m->next) {
		if (m->reserved == held->thread && m->seq == held->woken_seq) {
			*before = previous;
			return m;
		}
		if (m->reserved == 0 && (!best || m->priority > best->priority)) {
			best = m;
			*before = previous;
		}
	}
	return best;
}

/* How far a receive has come. */
enum progress { DONE, WAITS, NOTHING };

static enum progress take_one(struct lqn_object *object, struct lqn_held *held)
{
	struct lqn_message *before, *message = choose(object, held, &before);

	if (!message || message->sent > held->end) {
		return NOTHING;
	}
	if (message->bytes < 0) {
		return WAITS;
	}
	note(held, message, true);
	unlink_after(&object->messages, &object->messages_last, before);
	object->n_messages--;
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
		unlink_after(&object->messages, &object->messages_last, NULL);
		object->n_messages--;
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
			unlink_after(&object->messages, &object->messages_last, NULL);
			object->n_messages--;
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
	return !object->untracked && !is_shared(object) && !object->peer && !object->remote;
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

void lqn_channel_drain(struct lqn_object *object)
{
	while (object->held) {
		enum progress progress = takers[taking(object)](object, object->held);

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

void lqn_channel_give_up(struct lqn_object *object)
{
	while (object->held) {
		takers[taking(object)](object, object->held);
		tell(object, object->held);
		drop_held(object);
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
	if (object->n_held > (is_doubtful(object) ? LQN_DOUBT_MAX : LQN_HELD_MAX)) {
		object->untracked = true;
		lqn_channel_give_up(object);
	}
}
