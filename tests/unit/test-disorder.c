/* SPDX-License-Identifier: MIT */
/* Records that come out of order, CPUs that are not seen to the end. */
#include "feed.h"
#include "kernel/reorder.h"
#include "suite.h"

static struct feed *f;

static void start(void)
{
	f = feed_new("6.1.0");
	/* threads 1 and 2 run on CPUs 0 and 1; something of CPU 2 is 5 us late */
	feed_as_is(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c0 +tick\n31 c0 -tick\n26 c2 +tick");
}

static void end(long us)
{
	feed_finish(f, us);
}

static void done(void)
{
	feed_free(f);
}

START_TEST(late_records_find_their_place)
{
	start();
	/* the waking comes behind the switch that it led to */
	feed_as_is(f, "40 c0 sw 1>0 S\n60 c0 sw 0>1 R\n52 c1 wk 1\n100 c0 sw 1>0 S\n101 c1 sw 2>0 S");
	end(110);
	feed_expect(f, "wait thread=1 begin=40u wake=52u end=60u by=2 evidence=certain");
	ck_assert_uint_eq(feed_count(f, "loss"), 1);	/* the first one, which nobody expected */
	feed_expect(f, "summary disorder=2");
	done();
}
END_TEST

START_TEST(what_comes_too_late_is_lost)
{
	start();
	feed_as_is(f, "40 c0 sw 1>0 S\n60 c0 sw 0>1 R\n200 c0 sw 1>0 S\n52 c1 wk 1\n300 c0 sw 0>1 R\n400 c0 sw 1>0 S");
	end(500);
	/* who woke thread 1 is not known, and the late waking ends no later wait */
	feed_expect(f, "wait thread=1 begin=40u wake=-1 end=60u by=0 cause=unknown");
	feed_expect(f, "wait thread=1 begin=200u wake=-1 end=300u by=0 cause=unknown");
	feed_expect(f, "loss begin=52u cpu=1 count=1");
	ck_assert_uint_eq(feed_count(f, "wait by=2"), 0);
	done();
}
END_TEST

START_TEST(once_late_as_late_again_is_in_time)
{
	start();
	feed_as_is(f, "100 c0 sw 1>0 S\n200 c0 sw 0>1 R\n60 c1 +tick");	/* 140 us late: lost, but expected from now on */
	feed_as_is(f, "300 c0 sw 1>0 S\n500 c0 sw 0>1 R\n370 c1 wk 1\n800 c0 sw 1>0 S\n801 c1 sw 2>0 S");
	end(900);
	feed_expect(f, "wait thread=1 begin=300u wake=370u end=500u by=2");
	ck_assert_uint_eq(feed_count(f, "loss"), 2);
	done();
}
END_TEST

START_TEST(a_cpu_whose_stream_ends_is_not_known_any_more)
{
	f = feed_new("6.1.0");
	feed_as_is(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n21 c1 +read 5 100\n30 c1 ends\n40 c0 sw 1>0 S\n50 c0 sw 0>1 R\n60 c0 sw 1>0 S");
	end(100);
	/* thread 2 ran until 30; where it is since then the trace does not show */
	feed_expect(f, "wait thread=2 begin=30u end=100u cpu=10u state=0 open=1");
	feed_expect(f, "cpu cpu=1 begin=20u end=30u idle=0");
	feed_expect(f, "cpu cpu=0 begin=10u end=100u");
	done();
}
END_TEST

START_TEST(streams_that_end_with_the_trace_end_nothing)
{
	f = feed_new("6.1.0");
	feed_as_is(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n60 c0 sw 1>0 S\n61 c0 ends\n62 c1 ends");
	end(60);
	ck_assert_uint_eq(feed_count(f, "wait thread=2"), 0);
	feed_expect(f, "cpu cpu=1 begin=20u end=60u");
	done();
}
END_TEST

START_TEST(a_cpu_that_comes_back_goes_on)
{
	f = feed_new("6.1.0");
	feed_as_is(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c1 ends\n40 c1 sw 2>0 S\n50 c0 sw 1>0 S\n60 c0 wk 2\n70 c1 sw 0>2 R");
	end(80);
	feed_expect(f, "wait thread=2 begin=40u wake=60u end=70u cpu=20u");
	feed_expect(f, "cpu cpu=1 begin=20u end=80u");
	done();
}
END_TEST

START_TEST(an_end_that_was_not_seen_is_told_with_the_free)
{
	f = feed_new("6.1.0");
	feed_as_is(f, "10 c0 sw 0>1 R\n20 c0 sw 1>0 S\n50 c0 free 1\n60 c0 sw 0>3 R");
	end(80);
	feed_expect(f, "wait thread=1 begin=20u end=50u open=1");
	feed_expect(f, "exit thread=1 at=50u cpu=10u");
	done();
}
END_TEST

/* ---- the heap by itself ---- */

static int64_t last;
static unsigned taken;

static void take(void *payload, struct lqn_record *rec)
{
	ck_assert(rec->ts >= last);
	last = rec->ts;
	taken++;
	g_free(rec->text);
}

START_TEST(no_more_is_held_than_the_bounds_allow)
{
	struct lqn_reorder reorder;
	struct lqn_record rec = { .type = LQN_REC_OTHER };

	last = taken = 0;
	lqn_reorder_init(&reorder, take, NULL);
	lqn_reorder_widen(&reorder, INT64_MAX);
	ck_assert_int_eq(reorder.window, LQN_REORDER_MAX_NS);
	for (unsigned i = 0; i < 3 * LQN_REORDER_MAX; i++) {
		rec.ts = 1000 + (i ^ 7);
		rec.text = g_strdup("x");
		lqn_reorder_push(&reorder, &rec);
	}
	ck_assert_uint_eq(taken, 2 * LQN_REORDER_MAX);
	rec.ts += LQN_REORDER_MAX_NS;
	rec.text = NULL;
	lqn_reorder_push(&reorder, &rec);
	ck_assert_uint_le(reorder.heap->len, 16);
	lqn_reorder_flush(&reorder);
	ck_assert_uint_eq(taken, 3 * LQN_REORDER_MAX + 1);
	lqn_reorder_clear(&reorder);
}
END_TEST

SUITE("disorder", late_records_find_their_place, what_comes_too_late_is_lost, once_late_as_late_again_is_in_time,
	a_cpu_whose_stream_ends_is_not_known_any_more, streams_that_end_with_the_trace_end_nothing,
	a_cpu_that_comes_back_goes_on, an_end_that_was_not_seen_is_told_with_the_free,
	no_more_is_held_than_the_bounds_allow)
