/* SPDX-License-Identifier: MIT */
/* Records wait until the next switch of their CPU has said whose they are. */
#include "kernel/attribution.h"

#include <glib.h>

#include "suite.h"

struct seen {
	GArray *tids;		/* int32_t, in the order of delivery */
	GArray *times;		/* int64_t */
};

static void take(void *payload, struct lqn_record *rec, int32_t tid)
{
	struct seen *seen = payload;

	g_array_append_val(seen->tids, tid);
	g_array_append_val(seen->times, rec->ts);
	g_free(rec->text);
}

static struct seen seen;
static struct lqn_attribution *at;

static void start(void)
{
	seen.tids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	seen.times = g_array_new(FALSE, FALSE, sizeof(int64_t));
	at = lqn_attribution_new(take, &seen);
}

static void stop(void)
{
	lqn_attribution_free(at);
	g_array_free(seen.tids, TRUE);
	g_array_free(seen.times, TRUE);
}

static void push(int64_t ts, int32_t cpu, int32_t tid)
{
	struct lqn_record rec = {
		.ts = ts, .cpu = cpu, .tid = tid, .type = LQN_REC_CALL_ENTRY, .text = g_strdup("text"),
	};

	lqn_attribution_push(at, &rec);
}

static void push_switch(int64_t ts, int32_t cpu, int32_t prev, int32_t next)
{
	struct lqn_record rec = {
		.ts = ts, .cpu = cpu, .tid = -1, .type = LQN_REC_SWITCH, .sw = { .prev_tid = prev, .next_tid = next },
	};

	lqn_attribution_push(at, &rec);
}

/* Demands the threads of all records so far, in the order of the trace. */
static void expect(size_t n, const int32_t *tids)
{
	ck_assert_uint_eq(seen.tids->len, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(g_array_index(seen.tids, int32_t, i) == tids[i], "record %zu: thread %d, not %d", i,
			g_array_index(seen.tids, int32_t, i), tids[i]);
		ck_assert(i == 0 || g_array_index(seen.times, int64_t, i - 1) <= g_array_index(seen.times, int64_t, i));
	}
}
#define EXPECT(...) do { \
	const int32_t wanted[] = { __VA_ARGS__ }; \
	expect(G_N_ELEMENTS(wanted), wanted); \
} while (0)

START_TEST(records_belong_to_the_thread_that_the_next_switch_takes_off)
{
	start();
	push_switch(1, 0, 0, 5);
	push(2, 0, -1);
	push(3, 0, -1);
	EXPECT(0);
	push_switch(4, 0, 5, 0);
	EXPECT(0, 5, 5, 5);
	stop();
}
END_TEST

START_TEST(a_missing_switch_moves_records_to_the_later_name)
{
	start();
	push_switch(1, 0, 0, 1);	/* to 1; the switch from 1 to 7 is missing */
	push(2, 0, -1);
	push_switch(3, 0, 7, 0);
	EXPECT(0, 7, 7);
	stop();
}
END_TEST

START_TEST(the_order_of_the_trace_is_kept_across_cpus)
{
	start();
	push_switch(1, 0, 0, 5);
	push_switch(2, 1, 0, 6);
	push(3, 0, -1);
	push(4, 1, -1);
	push_switch(5, 1, 6, 0);	/* CPU 1 is told, but must wait for CPU 0's record before it */
	EXPECT(0, 0);
	push_switch(6, 0, 5, 0);
	EXPECT(0, 0, 5, 6, 6, 5);
	stop();
}
END_TEST

START_TEST(a_thread_that_the_tracer_wrote_down_is_believed)
{
	start();
	push_switch(1, 0, 0, 5);
	push(2, 0, 9);
	EXPECT(0, 9);
	stop();
}
END_TEST

START_TEST(a_flush_goes_by_the_earlier_name)
{
	start();
	push(1, 0, -1);		/* before the first switch nobody knows */
	push_switch(2, 1, 0, 6);
	push(3, 1, -1);
	lqn_attribution_flush(at);
	EXPECT(LQN_TID_UNKNOWN, 0, 6);
	lqn_attribution_forget(at, 1);
	push(4, 1, -1);
	lqn_attribution_flush(at);
	EXPECT(LQN_TID_UNKNOWN, 0, 6, LQN_TID_UNKNOWN);
	stop();
}
END_TEST

START_TEST(forgetting_one_cpu_leaves_the_others)
{
	start();
	push_switch(1, 0, 0, 5);
	push_switch(2, 1, 0, 6);
	lqn_attribution_flush(at);
	lqn_attribution_forget(at, 0);
	push(3, 0, -1);
	push(4, 1, -1);
	lqn_attribution_flush(at);
	EXPECT(0, 0, LQN_TID_UNKNOWN, 6);
	lqn_attribution_forget(at, -1);
	push(5, 1, -1);
	lqn_attribution_flush(at);
	EXPECT(0, 0, LQN_TID_UNKNOWN, 6, LQN_TID_UNKNOWN);
	stop();
}
END_TEST

START_TEST(no_more_than_the_cap_is_held)
{
	const int64_t extra = 100;

	start();
	push_switch(0, 0, 0, 5);
	for (int64_t i = 0; i < LQN_ATTRIBUTION_MAX + extra; i++) {
		push(1 + i, 0, -1);
	}
	ck_assert_uint_eq(seen.tids->len, 1 + extra);
	for (guint i = 1; i < seen.tids->len; i++) {
		ck_assert_int_eq(g_array_index(seen.tids, int32_t, i), 5);
	}
	/* those still held go by the later name; none is lost */
	push_switch(20000, 0, 8, 0);
	ck_assert_uint_eq(seen.tids->len, 2 + LQN_ATTRIBUTION_MAX + extra);
	ck_assert_int_eq(g_array_index(seen.tids, int32_t, seen.tids->len - 2), 8);
	stop();
}
END_TEST

START_TEST(a_full_ring_of_several_cpus_stays_in_order)
{
	start();
	for (int64_t i = 0; i < 3 * LQN_ATTRIBUTION_MAX; i++) {
		push(i, (int32_t) (i % 5), -1);
		if (i % 1000 == 999) {
			push_switch(i, (int32_t) (i / 1000 % 4), 100, 200);	/* CPU 4 never switches */
		}
	}
	lqn_attribution_flush(at);
	ck_assert_uint_eq(seen.tids->len, 3 * LQN_ATTRIBUTION_MAX + 3 * LQN_ATTRIBUTION_MAX / 1000);
	for (guint i = 1; i < seen.times->len; i++) {
		ck_assert(g_array_index(seen.times, int64_t, i - 1) <= g_array_index(seen.times, int64_t, i));
	}
	stop();
}
END_TEST

START_TEST(what_is_held_is_freed)
{
	start();
	push(1, 0, -1);
	stop();		/* a leak shows under the address sanitizer */
}
END_TEST

SUITE("attribution", records_belong_to_the_thread_that_the_next_switch_takes_off,
	a_missing_switch_moves_records_to_the_later_name, the_order_of_the_trace_is_kept_across_cpus,
	a_thread_that_the_tracer_wrote_down_is_believed, a_flush_goes_by_the_earlier_name,
	forgetting_one_cpu_leaves_the_others, no_more_than_the_cap_is_held, a_full_ring_of_several_cpus_stays_in_order,
	what_is_held_is_freed)
