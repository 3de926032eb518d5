/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_QUEUE_H
#define LQN_PLUGIN_QUEUE_H

/* Messages that wait to be handed out: filled, then emptied, then filled again. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>

struct message_queue {
	GPtrArray *messages;	/* const bt_message *; references owned from `head` on */
	guint head;
	uint64_t emptied;	/* how many were in it when it was emptied, in all */
};

static inline void queue_init(struct message_queue *queue)
{
	queue->messages = g_ptr_array_new();
	queue->head = 0;
	queue->emptied = 0;
}

/* Takes over the reference. */
static inline void queue_push(struct message_queue *queue, const bt_message *msg)
{
	g_ptr_array_add(queue->messages, (gpointer) msg);
}

/* The first message, with its reference; NULL if the queue is empty. */
static inline const bt_message *queue_pop(struct message_queue *queue)
{
	if (queue->head == queue->messages->len) {
		queue->emptied += queue->messages->len;
		g_ptr_array_set_size(queue->messages, 0);
		queue->head = 0;
		return NULL;
	}
	return g_ptr_array_index(queue->messages, queue->head++);
}

/* How many have ever been pushed. */
static inline uint64_t queue_position(const struct message_queue *queue)
{
	return queue->emptied + queue->messages->len;
}

/* How many have ever been popped. */
static inline uint64_t queue_popped(const struct message_queue *queue)
{
	return queue->emptied + queue->head;
}

static inline gboolean queue_is_empty(const struct message_queue *queue)
{
	return queue->head == queue->messages->len;
}

static inline void queue_drop(struct message_queue *queue)
{
	const bt_message *msg;

	while ((msg = queue_pop(queue))) {
		bt_message_put_ref(msg);
	}
}

static inline void queue_clear(struct message_queue *queue)
{
	queue_drop(queue);
	g_ptr_array_free(queue->messages, TRUE);
}

#endif
