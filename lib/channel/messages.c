/* SPDX-License-Identifier: MIT */

/*
 * Messages as they are sent, and where they lie until they are read: with who reads them; with who has sent them, while that
 * is not known. Who reads them is match.c.
 */
#include "channel/queue.h"

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

static void drop_all(struct lqn_channels *channels, struct lqn_message **head, struct lqn_message **last, uint32_t *n)
{
	while (*head) {
		lqn_queue_drop(channels, head, last, *head);
	}
	*n = 0;
}

void lqn_channel_forget_messages(struct lqn_object *object)
{
	drop_all(object->channels, &object->messages, &object->messages_last, &object->n_messages);
	drop_all(object->channels, &object->unsent, &object->unsent_last, &object->n_unsent);
	drop_all(object->channels, &object->taken, &object->taken_last, &object->n_taken);
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
	limit = lqn_queue_is_doubtful(object) ? LQN_DOUBT_MAX : queue_limit(object->channels);
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
		lqn_queue_insert(&to->messages, &to->messages_last, message);
		if (++to->n_messages > limit) {
			overrun(to);
		}
	} else {
		if (object->preexisting) {
			lqn_channel_note_orphan(object);
		}
		lqn_queue_insert(&object->unsent, &object->unsent_last, message);
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
			lqn_queue_drop_message(to, message);
		}
		lqn_channel_drain(to);
	} else if ((message = find(object->unsent_last, from, seq))) {
		if (bytes > 0) {
			message->bytes = message->length = bytes;
			message->ended = ts;
		} else {
			lqn_queue_drop(object->channels, &object->unsent, &object->unsent_last, message);
			object->n_unsent--;
		}
	}
}

void lqn_channel_arrived(struct lqn_object *mailbox, uint64_t to, int64_t ts, int64_t bytes)
{
	struct lqn_message *message = g_new0(struct lqn_message, 1);

	mailbox->channels->messages++;
	message->to = to;
	message->sent = message->ended = ts;
	message->bytes = bytes;
	lqn_queue_insert(&mailbox->messages, &mailbox->messages_last, message);
	if (++mailbox->n_messages > LQN_DOUBT_MAX && mailbox->fds == 0) {
		lqn_queue_drop_message(mailbox, mailbox->messages);
	}
	lqn_channel_drain(mailbox);
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
			lqn_queue_drop_message(object, message);
		}
	}
	object->mistaken = 0;
}

void lqn_channel_forward_unsent(struct lqn_object *from, struct lqn_object *to)
{
	struct lqn_message *message;

	while ((message = from->unsent)) {
		if (to->untracked) {
			lqn_queue_drop(from->channels, &from->unsent, &from->unsent_last, message);
		} else {
			lqn_queue_take_out(&from->unsent, &from->unsent_last, message);
			lqn_queue_insert(&to->messages, &to->messages_last, message);
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
		lqn_queue_take_out(&from->messages, &from->messages_last, message);
		from->n_messages--;
		lqn_queue_insert(&to->messages, &to->messages_last, message);
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
	lqn_queue_insert(&from->unsent, &from->unsent_last, message);
	from->n_unsent++;
}

/* Of the row, one of those of `to`, what `from` has sent. */
static void give_back_all(struct lqn_object *from, struct lqn_object *to, struct lqn_message **head, struct lqn_message **last, uint32_t *n)
{
	struct lqn_message *next;

	for (struct lqn_message *message = *head; message; message = next) {
		next = message->next;
		if (message->from == from->id) {
			lqn_queue_take_out(head, last, message);
			(*n)--;
			give_back(from, to, message);
		}
	}
}

void lqn_channel_take_back(struct lqn_object *from, struct lqn_object *to)
{
	give_back_all(from, to, &to->messages, &to->messages_last, &to->n_messages);
	give_back_all(from, to, &to->taken, &to->taken_last, &to->n_taken);
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
