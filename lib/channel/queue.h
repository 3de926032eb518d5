/* SPDX-License-Identifier: MIT */
#ifndef LQN_CHANNEL_QUEUE_H
#define LQN_CHANNEL_QUEUE_H

/* Private to lib/channel: the rows of messages that objects have. */
#include "channel/internal.h"

/* It may be no channel at all: little is kept of it. */
static inline bool lqn_queue_is_doubtful(const struct lqn_object *object)
{
	return object->kind == LQN_OBJ_FILE || object->kind == LQN_OBJ_UNKNOWN;
}

/* Puts a message where its time belongs; nearly always that is the end. */
static inline void lqn_queue_insert(struct lqn_message **head, struct lqn_message **last, struct lqn_message *message)
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
static inline void lqn_queue_take_out(struct lqn_message **head, struct lqn_message **last, struct lqn_message *message)
{
	*(message->prev ? &message->prev->next : head) = message->next;
	*(message->next ? &message->next->prev : last) = message->prev;
}

static inline void lqn_queue_drop(struct lqn_channels *channels, struct lqn_message **head, struct lqn_message **last,
	struct lqn_message *message)
{
	lqn_queue_take_out(head, last, message);
	g_free(message);
	channels->messages--;
}

/* One that is read from the object. */
static inline void lqn_queue_drop_message(struct lqn_object *object, struct lqn_message *message)
{
	lqn_queue_drop(object->channels, &object->messages, &object->messages_last, message);
	object->n_messages--;
}

#endif
