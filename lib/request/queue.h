/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_QUEUE_H
#define LQN_REQUEST_QUEUE_H

/*
 * A priority queue for what comes nearly in order: the least is always taken first. Whoever is a
 * few places late is put into a sorted ring from its end, at the cost of a few moves; the others go
 * into a heap beside it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct lqn_due {
	int64_t ts;
	uint64_t number;	/* of arrival: it decides what is equal otherwise, so no two are equal */
	uint32_t event;		/* index of a slot */
	uint16_t host;
	uint8_t rank;		/* among equal ts: what ends comes before what begins */
	uint8_t action;
};

struct lqn_queue {
	struct lqn_due *ring;	/* owned */
	guint size;		/* of the ring, a power of two */
	guint first, len;	/* `first` counts on for ever; modulo the size it is an index */
	GArray *heap;		/* struct lqn_due; owned */
};

void lqn_queue_init(struct lqn_queue *queue);
void lqn_queue_clear(struct lqn_queue *queue);

/* Amortized O(1), or O(log n) for what comes late. */
void lqn_queue_push(struct lqn_queue *queue, const struct lqn_due *due);

/* The least by time, rank and number; borrowed until the next call. NULL if the queue is empty. */
const struct lqn_due *lqn_queue_peek(const struct lqn_queue *queue);

/* Takes off what lqn_queue_peek() gives. */
void lqn_queue_drop(struct lqn_queue *queue);

/*
 * One that is taken `ahead` pops from now, if none comes late; NULL if there are fewer. For
 * fetching what it refers to into the caches.
 */
const struct lqn_due *lqn_queue_ahead(const struct lqn_queue *queue, guint ahead);

static inline guint lqn_queue_length(const struct lqn_queue *queue)
{
	return queue->len + queue->heap->len;
}

#endif
