/* SPDX-License-Identifier: MIT */
#include "kernel/reorder.h"

struct held {
	struct lqn_record rec;
	uint64_t number;	/* records of one time keep their order */
};

void lqn_reorder_init(struct lqn_reorder *reorder, lqn_reorder_func func, void *payload)
{
	*reorder = (struct lqn_reorder) {
		.func = func,
		.payload = payload,
		.heap = g_array_new(FALSE, FALSE, sizeof(struct held)),
		.newest = INT64_MIN,
	};
}

void lqn_reorder_clear(struct lqn_reorder *reorder)
{
	for (guint i = 0; i < reorder->heap->len; i++) {
		g_free(g_array_index(reorder->heap, struct held, i).rec.text);
	}
	g_array_free(reorder->heap, TRUE);
}

void lqn_reorder_widen(struct lqn_reorder *reorder, int64_t ns)
{
	ns = MIN(ns, LQN_REORDER_MAX_NS / 2);
	reorder->window = MAX(reorder->window, 2 * ns);
}

static bool before(const struct held *a, const struct held *b)
{
	return a->rec.ts != b->rec.ts ? a->rec.ts < b->rec.ts : a->number < b->number;
}

static void pop(struct lqn_reorder *reorder)
{
	struct held *heap = (struct held *) (void *) reorder->heap->data;
	struct held top = heap[0], last = heap[reorder->heap->len - 1];
	guint n = reorder->heap->len - 1, i = 0;

	g_array_set_size(reorder->heap, n);
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
	reorder->func(reorder->payload, &top.rec);
}

void lqn_reorder_push(struct lqn_reorder *reorder, const struct lqn_record *rec)
{
	struct held held = { *rec, reorder->number++ };
	guint i = reorder->heap->len;
	struct held *heap;

	reorder->newest = MAX(reorder->newest, rec->ts);
	g_array_set_size(reorder->heap, i + 1);
	heap = (struct held *) (void *) reorder->heap->data;
	for (; i > 0 && before(&held, &heap[(i - 1) / 2]); i = (i - 1) / 2) {
		heap[i] = heap[(i - 1) / 2];
	}
	heap[i] = held;
	while (reorder->heap->len > LQN_REORDER_MAX ||
			(reorder->heap->len > 0 && g_array_index(reorder->heap, struct held, 0).rec.ts <=
			reorder->newest - reorder->window)) {
		pop(reorder);
	}
}

void lqn_reorder_flush(struct lqn_reorder *reorder)
{
	while (reorder->heap->len > 0) {
		pop(reorder);
	}
}
