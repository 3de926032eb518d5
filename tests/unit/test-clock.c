/* SPDX-License-Identifier: MIT */
/* Lines through the times of messages between two clocks, of which the truth is known because the test chose it. */
#include <glib.h>
#include <math.h>

#include "clock/fit.h"
#include "suite.h"

#define START INT64_C(1795988470179483963)	/* 2026: beyond what a double holds to the nanosecond */
#define OFFSET 3e6				/* ns: 3 ms ahead … */
#define DRIFT 20e-6				/* … and 20 ppm fast */
#define LEAST 40000				/* ns: no message takes less */
#define STEP 5000000				/* ns from one exchange to the next */
#define EXCHANGES 2000

static struct lqn_clock_fit fit;
static GRand *noise;

/* The other clock runs like this. */
static double offset, drift;

static void start(double of, double dr)
{
	offset = of;
	drift = dr;
	lqn_clock_fit_init(&fit);
	noise = g_rand_new_with_seed(20261129);
}

static void done(void)
{
	lqn_clock_fit_clear(&fit);
	g_rand_free(noise);
}

/* How far the other clock is ahead at a time of the reference. */
static double ahead(int64_t t)
{
	return offset + drift * (double) (t - START);
}

/* What the other clock shows then. */
static int64_t shown(int64_t t)
{
	return t + (int64_t) floor(ahead(t) + 0.5);
}

/* Queues: nearly nothing most of the time, now and then much. */
static int64_t queueing(void)
{
	return (int64_t) (-200000 * log(g_rand_double_range(noise, 1e-9, 1)));
}

static void there(int64_t t, int64_t delay)
{
	lqn_clock_fit_there(&fit, t, shown(t + delay));
}

/* `t`: when it is received. */
static void back(int64_t t, int64_t delay)
{
	lqn_clock_fit_back(&fit, shown(t - delay), t);
}

static void exchange(int from, int to)
{
	for (int i = from; i < to; i++) {
		int64_t t = START + (int64_t) i * STEP, arrival = t + LEAST + queueing(), delay = LEAST + queueing();

		there(t, arrival - t);
		back(arrival + delay, delay);
	}
}

/* The line is where the clock is, within its own bound, over all the time from START to `last`. */
static void holds(const struct lqn_clock_line *line, int64_t last)
{
	for (int i = 0; i <= 20; i++) {
		int64_t t = START + (last - START) / 20 * i;
		double says = line->offset + line->drift * (double) (t - line->origin);

		ck_assert_msg(fabs(says - ahead(t)) <= line->bound + 1, "%.0f ns off at %d/20, bound %.0f", says - ahead(t), i,
			line->bound);
	}
}

START_TEST(offset_and_drift_are_found_through_queues)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	exchange(0, EXCHANGES);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BOUNDED);
	ck_assert_int_eq(line.origin, START);
	/* no bound can be better than the least delay; what the drift may be adds as much again or twice. The mean is six times it */
	ck_assert_double_ge(line.bound, LEAST);
	ck_assert_double_lt(line.bound, 4 * LEAST);
	holds(&line, START + (int64_t) EXCHANGES * STEP);
	/* delays are alike both ways: what is found is far better than the bound */
	ck_assert_double_eq_tol(line.offset, OFFSET, 5000);
	ck_assert_double_eq_tol(line.drift, DRIFT, 1e-6);
	done();
}
END_TEST

START_TEST(a_clock_behind_and_slow_is_found_likewise)
{
	struct lqn_clock_line line;

	start(-OFFSET, -DRIFT);
	exchange(0, EXCHANGES);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BOUNDED);
	holds(&line, START + (int64_t) EXCHANGES * STEP);
	ck_assert_double_eq_tol(line.offset, -OFFSET, 5000);
	ck_assert_double_eq_tol(line.drift, -DRIFT, 1e-6);
	done();
}
END_TEST

START_TEST(no_message_is_received_before_it_was_sent)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	exchange(0, EXCHANGES);
	line = lqn_clock_fit_line(&fit);
	g_rand_set_seed(noise, 20261129);
	for (int i = 0; i < EXCHANGES; i++) {
		int64_t t = START + (int64_t) i * STEP, arrival = t + LEAST + queueing(), answer = arrival + LEAST + queueing();

		/* the answer leaves at once: these are the very messages */
		ck_assert_int_ge(lqn_clock_line_correct(&line, shown(arrival)), t);
		ck_assert_int_le(lqn_clock_line_correct(&line, shown(arrival)), answer);
	}
	done();
}
END_TEST

START_TEST(a_slow_way_there_shifts_the_middle_but_not_beyond_the_bound)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	for (int i = 0; i < 100; i++) {
		int64_t t = START + (int64_t) i * STEP;

		there(t, LEAST + 200000);
		back(t + 1000000, LEAST);
	}
	line = lqn_clock_fit_line(&fit);
	/* half the difference: nothing in the times could tell */
	ck_assert_double_eq_tol(line.offset, OFFSET + 100000, 10000);
	ck_assert_double_gt(line.bound, 100000 + LEAST - 1000);
	holds(&line, START + INT64_C(100) * STEP);
	done();
}
END_TEST

START_TEST(one_way_only_gives_no_offset)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	for (int i = 0; i < 100; i++) {
		there(START + (int64_t) i * STEP, LEAST + queueing());
	}
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_ONE_WAY);
	/* it arrives after it was sent anyway: clocks are taken as they are */
	ck_assert_double_eq(line.offset, 0);
	ck_assert_double_eq(line.drift, 0);
	ck_assert(isinf(line.bound));
	ck_assert_int_eq(lqn_clock_line_correct(&line, START + 123456789), START + 123456789);
	done();
}
END_TEST

START_TEST(one_way_only_lets_nothing_arrive_before_it_was_sent)
{
	struct lqn_clock_line line;

	/* the receiver is behind */
	start(-OFFSET, 0);
	there(START, LEAST + 500000);
	there(START + STEP, LEAST);
	there(START + 2 * STEP, LEAST + 900000);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_ONE_WAY);
	ck_assert_double_eq(line.offset, -OFFSET + LEAST);
	ck_assert_int_eq(lqn_clock_line_correct(&line, shown(START + STEP + LEAST)), START + STEP);
	done();

	/* the sender is ahead */
	start(OFFSET, 0);
	back(START + 500000, LEAST + 500000);
	back(START + STEP, LEAST);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_ONE_WAY);
	ck_assert_double_eq(line.offset, OFFSET - LEAST);
	ck_assert(isinf(line.bound));
	done();
}
END_TEST

START_TEST(one_exchange_gives_an_offset_and_admits_any_drift)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	exchange(0, 1);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BOUNDED);
	ck_assert_double_le(fabs(line.drift), LQN_CLOCK_DRIFT_MAX);
	ck_assert_double_le(fabs(line.offset - OFFSET), line.bound);
	ck_assert_double_ge(line.bound, LEAST);
	ck_assert_double_lt(line.bound, 2e6);
	done();
}
END_TEST

START_TEST(a_short_trace_has_no_absurd_drift)
{
	struct lqn_clock_line line;

	/* within 100 us the delays alone would allow a tilt of any size */
	start(OFFSET, DRIFT);
	there(START, LEAST + 900000);
	back(START + 50000, LEAST);
	there(START + 60000, LEAST);
	back(START + 100000, LEAST + 700000);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BOUNDED);
	ck_assert_double_le(fabs(line.drift), LQN_CLOCK_DRIFT_MAX);
	ck_assert_double_eq_tol(line.offset, OFFSET, LEAST);
	done();
}
END_TEST

START_TEST(a_clock_that_was_set_is_broken)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	exchange(0, EXCHANGES / 2);
	offset += 50e6;
	exchange(EXCHANGES / 2, EXCHANGES);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BROKEN);
	/* neither one offset nor the other, but between */
	ck_assert_double_gt(line.offset + line.drift * EXCHANGES * STEP / 2, OFFSET);
	ck_assert_double_lt(line.offset + line.drift * EXCHANGES * STEP / 2, OFFSET + 50e6);
	ck_assert(isfinite(line.bound));
	done();
}
END_TEST

START_TEST(a_step_smaller_than_the_delays_goes_unseen)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	exchange(0, EXCHANGES / 2);
	offset += LEAST / 2;
	exchange(EXCHANGES / 2, EXCHANGES);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BOUNDED);
	ck_assert_double_eq_tol(line.offset, OFFSET, LEAST);
	done();
}
END_TEST

START_TEST(more_drift_than_crystals_have_is_broken)
{
	struct lqn_clock_line line;

	start(OFFSET, 2 * LQN_CLOCK_DRIFT_MAX);
	exchange(0, EXCHANGES);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BROKEN);
	done();
}
END_TEST

START_TEST(no_messages_give_no_line)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_NONE);
	ck_assert_double_eq(line.offset, 0);
	ck_assert_double_eq(line.drift, 0);
	ck_assert(isinf(line.bound));
	done();
}
END_TEST

START_TEST(overtaken_messages_do_no_harm)
{
	struct lqn_clock_line line;

	start(OFFSET, DRIFT);
	for (int i = 0; i < 200; i++) {
		int64_t t = START + (int64_t) i * STEP;

		/* the second was sent before the first, and told of after it; the third at the same time as the first */
		there(t, LEAST + queueing());
		there(t - STEP / 2, LEAST + queueing());
		there(t, LEAST);
		back(t + STEP / 4, LEAST);
		back(t - STEP / 4, LEAST + queueing());
		back(t + STEP / 4, LEAST + queueing());
	}
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BOUNDED);
	holds(&line, START + INT64_C(199) * STEP);
	ck_assert_double_eq_tol(line.offset, OFFSET, 1000);
	ck_assert_double_eq_tol(line.drift, DRIFT, 1e-6);
	done();
}
END_TEST

START_TEST(correcting_turns_the_clock_back)
{
	struct lqn_clock_line line = { LQN_CLOCK_BOUNDED, START, OFFSET, DRIFT, 0 };

	start(OFFSET, DRIFT);
	/* before the first message, and an hour after it, too */
	for (int64_t t = START - INT64_C(1000000007); t < START + INT64_C(3600000000000); t += INT64_C(7919000003)) {
		int64_t got = lqn_clock_line_correct(&line, shown(t));

		ck_assert_msg(got >= t - 1 && got <= t + 1, "%" G_GINT64_FORMAT " ns off", got - t);
	}
	ck_assert_int_eq(lqn_clock_line_correct(&line, START + (int64_t) OFFSET), START);
	done();
}
END_TEST

START_TEST(the_bound_holds_where_only_the_last_messages_are_quick)
{
	struct lqn_clock_line line;

	/* all that is known fits a clock that is 10 us ahead at first and 1 us behind a second later */
	start(10000, -11e-6);
	lqn_clock_fit_there(&fit, START, START + 10000);
	lqn_clock_fit_back(&fit, START - 10000, START);
	lqn_clock_fit_there(&fit, START + 1000000000, START + 1000001000);
	lqn_clock_fit_back(&fit, START + 999999000, START + 1000000000);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(line.quality, LQN_CLOCK_BOUNDED);
	holds(&line, START + 1000000000);
	done();
}
END_TEST

START_TEST(messages_that_contradict_each_other_at_one_time_are_broken)
{
	/* sent at START, received 0.5 us before that; the other way likewise, received at START */
	start(0, 0);
	lqn_clock_fit_there(&fit, START, START - 500);
	lqn_clock_fit_back(&fit, START + 500, START);
	ck_assert_int_eq(lqn_clock_fit_line(&fit).quality, LQN_CLOCK_BROKEN);
	done();
}
END_TEST

START_TEST(without_a_line_times_are_as_they_are)
{
	struct lqn_clock_line line;

	start(0, 0);
	line = lqn_clock_fit_line(&fit);
	ck_assert_int_eq(lqn_clock_line_correct(&line, START), START);
	done();
}
END_TEST

SUITE("clock", offset_and_drift_are_found_through_queues, a_clock_behind_and_slow_is_found_likewise,
	no_message_is_received_before_it_was_sent, a_slow_way_there_shifts_the_middle_but_not_beyond_the_bound,
	one_way_only_gives_no_offset, one_way_only_lets_nothing_arrive_before_it_was_sent,
	one_exchange_gives_an_offset_and_admits_any_drift, a_short_trace_has_no_absurd_drift,
	a_clock_that_was_set_is_broken, a_step_smaller_than_the_delays_goes_unseen, more_drift_than_crystals_have_is_broken,
	no_messages_give_no_line, overtaken_messages_do_no_harm, correcting_turns_the_clock_back,
	the_bound_holds_where_only_the_last_messages_are_quick,
	messages_that_contradict_each_other_at_one_time_are_broken, without_a_line_times_are_as_they_are)
