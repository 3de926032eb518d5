/* SPDX-License-Identifier: MIT */
#include "request/queue.h"

#define SIZE_MIN 1024
#define MOVES_MAX 32	/* as cheap as a way down a large heap, which misses the caches */

void lqn_queue_init(struct lqn_queue *queue)
{
	queue->ring = g_new(struct lqn_due, SIZE_MIN);
	queue->size = SIZE_MIN;
	queue->first = queue->len = 0;
	queue->heap = g_array_new(FALSE, FALSE, sizeof(struct lqn_due));
}

void lqn_queue_clear(struct lqn_queue *queue)
{
	g_free(queue->ring);
	g_array_free(queue->heap, TRUE);
}

static bool before(const struct lqn_due *a, const struct lqn_due *b)
{
	if (a->ts != b->ts) {
		return a->ts < b->ts;
	}
	return a->rank != b->rank ? a->rank < b->rank : a->number < b->number;
}

/* ---- the ring ------------------------------------------------------------ */

static struct lqn_due *place(const struct lqn_queue *queue, guint i)
{
	return &queue->ring[(queue->first + i) & (queue->size - 1)];
}

static void grow(struct lqn_queue *queue)
{
	struct lqn_due *ring = g_new(struct lqn_due, 2 * (gsize) queue->size);

	for (guint i = 0; i < queue->len; i++) {
		ring[i] = *place(queue, i);
	}
	g_free(queue->ring);
	queue->ring = ring;
	queue->size *= 2;
	queue->first = 0;
}

/* False if it is too late for the ring. */
static bool insert(struct lqn_queue *queue, const struct lqn_due *due)
{
	guint last = queue->len > MOVES_MAX ? queue->len - MOVES_MAX : 0, i = queue->len;

	if (last > 0 && before(due, place(queue, last - 1))) {
		return false;
	}
	if (queue->len == queue->size) {
		grow(queue);
	}
	for (; i > 0 && before(due, place(queue, i - 1)); i--) {
		*place(queue, i) = *place(queue, i - 1);
	}
	*place(queue, i) = *due;
	queue->len++;
	return true;
}

/* ---- the heap ------------------------------------------------------------ */

static struct lqn_due *heap_of(const struct lqn_queue *queue)
{
	return (struct lqn_due *) (void *) queue->heap->data;
}

static void sift_up(struct lqn_queue *queue, const struct lqn_due *due)
{
	guint i = queue->heap->len;
	struct lqn_due *heap;

	g_array_set_size(queue->heap, i + 1);
	heap = heap_of(queue);
	for (; i > 0 && before(due, &heap[(i - 1) / 2]); i = (i - 1) / 2) {
		heap[i] = heap[(i - 1) / 2];
	}
	heap[i] = *due;
}

static void drop_top(struct lqn_queue *queue)
{
	struct lqn_due *heap = heap_of(queue);
	guint n = queue->heap->len - 1, i = 0;
	struct lqn_due last = heap[n];

	g_array_set_size(queue->heap, n);
	for (guint child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(&heap[child + 1], &heap[child])) {
			child++;
		}
		if (!before(&heap[child], &last)) {
			break;
		}
		heap[i] = heap[child];
	}
	if (n > 0) {
		heap[i] = last;
	}
}

/* ---- both ---------------------------------------------------------------- */

static bool is_heap_next(const struct lqn_queue *queue)
{
	return queue->heap->len > 0 &&
		(queue->len == 0 || before(heap_of(queue), place(queue, 0)));
}

void lqn_queue_push(struct lqn_queue *queue, const struct lqn_due *due)
{
	if (!insert(queue, due)) {
		sift_up(queue, due);
	}
}

const struct lqn_due *lqn_queue_peek(const struct lqn_queue *queue)
{
	if (is_heap_next(queue)) {
		return heap_of(queue);
	}
	return queue->len > 0 ? place(queue, 0) : NULL;
}

void lqn_queue_drop(struct lqn_queue *queue)
{
	if (is_heap_next(queue)) {
		drop_top(queue);
	} else {
		queue->first++;
		queue->len--;
	}
}

const struct lqn_due *lqn_queue_ahead(const struct lqn_queue *queue, guint ahead)
{
	return ahead < queue->len ? place(queue, ahead) : NULL;
}
