/* SPDX-License-Identifier: MIT */
/* What comes nearly in order is taken in order; memory of what comes and goes. */
#include <string.h>

#include "request/queue.h"
#include "request/region.h"

#include "suite.h"

#define MANY 20000

/* Takes the least off, and demands that it is not before the one that was taken last. */
static void take(struct lqn_queue *queue, struct lqn_due *last)
{
	struct lqn_due due = *lqn_queue_peek(queue);

	ck_assert_int_ge(due.ts, last->ts);
	if (due.ts == last->ts) {
		ck_assert_uint_ge(due.rank, last->rank);
		ck_assert(due.rank > last->rank || due.number > last->number);
	}
	lqn_queue_drop(queue);
	*last = due;
}

/* Pushes with times up to `late` behind, then takes all. */
static void push_and_take(int64_t late, guint *in_heap)
{
	struct lqn_queue queue;
	struct lqn_due last = { .ts = INT64_MIN };
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	lqn_queue_init(&queue);
	for (guint i = 0; i < MANY; i++) {
		struct lqn_due due = {
			.ts = i / 2 - g_rand_int_range(random, 0, (gint32) late + 1), .number = i,
			.rank = (uint8_t) g_rand_int_range(random, 0, 4), .event = i,
		};

		lqn_queue_push(&queue, &due);
		ck_assert_uint_eq(lqn_queue_length(&queue), i + 1);
	}
	*in_heap = queue.heap->len;
	for (guint i = 0; i < MANY; i++) {
		take(&queue, &last);
	}
	ck_assert(!lqn_queue_peek(&queue));
	lqn_queue_clear(&queue);
}

START_TEST(who_is_little_late_needs_no_heap)
{
	guint in_heap;

	push_and_take(5, &in_heap);
	ck_assert_uint_eq(in_heap, 0);
}
END_TEST

START_TEST(who_is_late_is_still_in_order)
{
	guint in_heap;

	push_and_take(MANY, &in_heap);
	ck_assert_uint_gt(in_heap, MANY / 2);
}
END_TEST

START_TEST(equals_are_taken_by_rank_then_as_they_came)
{
	static const uint8_t ranks[] = { 1, 0, 1, 0 };
	static const uint32_t order[] = { 1, 3, 0, 2 };
	struct lqn_queue queue;

	lqn_queue_init(&queue);
	for (guint i = 0; i < G_N_ELEMENTS(ranks); i++) {
		struct lqn_due due = { .ts = 7, .rank = ranks[i], .number = i, .event = i };

		lqn_queue_push(&queue, &due);
	}
	for (guint i = 0; i < G_N_ELEMENTS(order); i++) {
		ck_assert_uint_eq(lqn_queue_peek(&queue)->event, order[i]);
		lqn_queue_drop(&queue);
	}
	lqn_queue_clear(&queue);
}
END_TEST

START_TEST(a_window_slides_for_ever)
{
	struct lqn_queue queue;
	struct lqn_due last = { .ts = INT64_MIN };

	lqn_queue_init(&queue);
	for (guint i = 0; i < 10 * MANY; i++) {
		/* every hundredth is as late as the window is long, less what has been taken */
		struct lqn_due due = { .ts = i % 100 ? i : (int64_t) i - 900, .number = i };

		lqn_queue_push(&queue, &due);
		if (lqn_queue_length(&queue) > 1000) {
			take(&queue, &last);
		}
	}
	ck_assert_uint_lt(queue.size, 2 * 1024 + 1);	/* it does not grow with what has gone */
	lqn_queue_clear(&queue);
}
END_TEST

/* Takes `n` things of `size` bytes, zeroed and apart, and fills them. */
static void take_many(struct lqn_region *region, char **things, guint n, size_t size)
{
	static const char zero[LQN_REGION_MAX];

	for (guint i = 0; i < n; i++) {
		things[i] = lqn_region_alloc0(region, size);
		ck_assert_int_eq(memcmp(things[i], zero, size), 0);
		ck_assert_uint_eq((uintptr_t) things[i] % sizeof(uint64_t), 0);
		memset(things[i], (int) (i % 255) + 1, size);
	}
	for (guint i = 0; i < n; i++) {
		ck_assert_int_eq(things[i][0], (char) (i % 255 + 1));
		ck_assert_int_eq(things[i][size - 1], (char) (i % 255 + 1));
	}
}

/* by the address sanitizer, so that it finds who uses what was given back */
#ifdef __SANITIZE_ADDRESS__
#define NOTHING_IS_REUSED true
#else
#define NOTHING_IS_REUSED false
#endif

START_TEST(memory_that_was_given_back_is_used_again)
{
	static char *things[MANY];
	static const size_t sizes[] = { 8, 100, LQN_REGION_MAX };
	struct lqn_region region;
	guint blocks = 0;

	lqn_region_init(&region);
	for (guint round = 0; round < 3; round++) {
		for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
			take_many(&region, things, MANY, sizes[k]);
			for (guint i = 0; i < MANY; i++) {
				lqn_region_free(&region, things[i], sizes[k]);
			}
		}
		ck_assert(round == 0 || NOTHING_IS_REUSED || region.blocks->len == blocks);
		blocks = region.blocks->len;
	}
	lqn_region_clear(&region);
}
END_TEST

SUITE("queue", who_is_little_late_needs_no_heap, who_is_late_is_still_in_order, memory_that_was_given_back_is_used_again,
	equals_are_taken_by_rank_then_as_they_came, a_window_slides_for_ever)
