/* SPDX-License-Identifier: MIT */
/* Which of a client's sleeps are within its cycles, and where it should have slept and did not. */
#include <string.h>

#include "suite.h"
#include "talk.h"
#include "write/write.h"

enum { CLIENT = 1, ALPHA = 2, BETA = 3 };

static struct talk t;
static struct lqn_model *model;
static struct lqn_task *client;
static struct lqn_entry *cycle;
static unsigned seed;

/* One of n, as if by chance, the same in each run. */
static unsigned any_of(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 16 & 0x7fff ? (seed >> 16) % n : 0;
}

static void start(void)
{
	seed = 1;
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, ALPHA, "alpha");
	talk_process(&t, BETA, "beta");
	talk_connect(&t, CLIENT, 5, ALPHA, 7);
	talk_connect(&t, CLIENT, 6, BETA, 7);
	talk_await(&t, ALPHA, "recvfrom", 7);
	talk_await(&t, BETA, "recvfrom", 7);
}

static void finish(void)
{
	model = talk_finish(&t, &(struct lqn_options) { .begin = INT64_MIN, .end = INT64_MAX, .whole = true });
	client = talk_task(model, "client");
	cycle = client->entries->pdata[0];
}

static void ask(int server)
{
	talk_work(&t, 20);
	talk_request(&t, CLIENT, server == ALPHA ? 5 : 6, server);
	talk_work(&t, 80);
	talk_reply(&t, server, 7, CLIENT);
}

/* Sleeps for so long, or until then. */
static void sleep_for(long us, bool absolute)
{
	long woken = t.now + us;

	if (!absolute) {
		talk_sleep(&t, CLIENT, us);
		return;
	}
	feed(t.feed, "%ld c1 +clock_nanosleep 1 1\n%ld c1 sw 1>0 S\n%ld c1 +hrtimer 1\n%ld c1 wk 1\n%ld c1 -hrtimer 1\n%ld c1 sw 0>1 R\n"
		"%ld c1 -clock_nanosleep 0", t.now, t.now, woken, woken, woken, woken, woken);
	t.now = woken;
}

static double calls(const char *server)
{
	return talk_calls(cycle, talk_entry(model, server), LQN_SYNC);
}

static bool is_noted(const char *text)
{
	for (guint i = 0; i < model->notes->len; i++) {
		if (strstr(model->notes->pdata[i], text)) {
			return true;
		}
	}
	return false;
}

/* So many cycles were found, each with so many us asleep in it. */
static void expect(double cycles, double inner_us)
{
	ck_assert_double_eq_tol((double) cycle->invocations, cycles, 2);
	ck_assert_double_eq_tol(cycle->phase[0].think * 1e6, inner_us, 0.02 * inner_us + 12);
	ck_assert_int_eq(client->kind, LQN_TASK_CLIENT);
	ck_assert_uint_eq(client->multiplicity, 1);
}

/* ---- sequences ---- */

START_TEST(what_always_follows_after_a_shorter_sleep_is_the_same_cycle)
{
	start();
	for (int i = 0; i < 60; i++) {
		ask(ALPHA);
		sleep_for(200, false);
		ask(BETA);
		sleep_for(500 + 10 * any_of(60), false);
	}
	finish();
	expect(60, 200);
	ck_assert_double_eq_tol(calls("alpha"), 1, 0.02);
	ck_assert_double_eq_tol(calls("beta"), 1, 0.02);
	ck_assert_double_eq_tol(client->response, 410e-6, 10e-6);
	ck_assert_double_lt(model->checks->little.deviation, 0.03);
	ck_assert(is_noted("of its sleeps, of 0.2 ms in the mean, are within its cycles"));
	lqn_model_free(model);
}
END_TEST

START_TEST(what_comes_in_any_order_is_a_cycle_each)
{
	start();
	for (int i = 0; i < 120; i++) {
		bool alpha = any_of(2);

		ask(alpha ? ALPHA : BETA);
		sleep_for(alpha ? 200 : 900, false);	/* what it thinks about may tell how long it thinks */
	}
	finish();
	expect(120, 0);
	ck_assert_double_eq_tol(calls("alpha") + calls("beta"), 1, 0.02);
	lqn_model_free(model);
}
END_TEST

START_TEST(what_always_follows_after_sleeps_that_are_alike_is_a_cycle_each_and_that_is_said)
{
	start();
	for (int i = 0; i < 120; i++) {
		ask(i % 2 ? ALPHA : BETA);
		sleep_for(400 + 10 * any_of(20), false);
	}
	finish();
	expect(120, 0);
	ck_assert(is_noted("not clearly shorter than others"));
	lqn_model_free(model);
}
END_TEST

START_TEST(what_looks_the_same_is_told_apart_by_sleeps_in_turn)
{
	for (int random = 0; random < 2; random++) {
		start();
		for (unsigned i = 0; i < 180; i++) {
			ask(ALPHA);
			sleep_for((random ? any_of(3) : i % 3) ? 200 + any_of(40) : 900 + 10 * any_of(40), false);
		}
		finish();
		expect(random ? 180 : 60, random ? 0 : 440);
		lqn_model_free(model);
	}
}
END_TEST

START_TEST(what_follows_only_sometimes_follows_nothing_else)
{
	start();
	for (int i = 0; i < 150; i++) {
		ask(ALPHA);
		if (any_of(3) == 0) {
			sleep_for(200, false);
			ask(BETA);
		}
		sleep_for(700, false);
	}
	finish();
	ck_assert_double_eq_tol((double) cycle->invocations, 150, 2);
	ck_assert_double_eq_tol(calls("alpha"), 1, 0.02);
	ck_assert_double_eq_tol(calls("beta"), 1 / 3.0, 0.1);
	lqn_model_free(model);
}
END_TEST

START_TEST(sleeps_of_one_length_that_never_follow_each_other_are_within)
{
	for (int again = 0; again < 2; again++) {
		int cycles = 200;

		start();
		for (int i = 0; i < 200; i++) {
			ask(ALPHA);
			/* once more after a while; or again and again, as who tries until it succeeds */
			for (int k = 0; any_of(3) == 0 && k < (again ? 10 : 1); k++, cycles += again) {
				sleep_for(300, false);
				ask(ALPHA);
			}
			sleep_for(500 + 50 * any_of(60), false);
		}
		finish();
		ck_assert_double_eq_tol((double) cycle->invocations, cycles, 2);
		lqn_model_free(model);
	}
}
END_TEST

START_TEST(a_sleep_for_a_time_is_within_what_goes_by_the_clock)
{
	start();
	for (int i = 0; i < 60; i++) {
		long begin = t.now;

		ask(ALPHA);
		sleep_for(500, false);
		ask(BETA);
		sleep_for(begin + 1000 - t.now, true);
	}
	finish();
	ck_assert_double_eq_tol((double) cycle->invocations, 60, 2);
	ck_assert_double_eq_tol(cycle->phase[0].think * 1e6, 500, 20);
	lqn_model_free(model);
}
END_TEST

static void span(int trace, int number, bool begin)
{
	g_autofree char *text = g_strdup_printf("span thread=%d trace=%d span=%d at=%ldu begin=%d name=buy", CLIENT, trace, number, t.now,
		begin);
	struct lqn_event ev = feed_parse_event(text);

	g_array_append_val(t.events, ev);
}

/* A segment after another, each in a span of its own, or two in one, with sleeps of any length. */
static void told(bool one, long first, long second)
{
	start();
	for (int i = 0; i < 60; i++) {
		talk_work(&t, 2);
		span(2 * i + 1, 2 * i + 1, true);
		ask(ALPHA);
		if (!one) {
			span(2 * i + 1, 2 * i + 1, false);
		}
		sleep_for(first, false);
		if (!one) {
			talk_work(&t, 2);
			span(2 * i + 2, 2 * i + 2, true);
		}
		ask(ALPHA);
		span(2 * i + 1 + !one, 2 * i + 1 + !one, false);
		sleep_for(second, false);
	}
	finish();
}

START_TEST(what_a_span_lies_around_is_one_cycle_what_spans_tell_apart_are_two)
{
	told(true, 500, 500);
	expect(60, 500);
	lqn_model_free(model);
	told(false, 200, 900);
	expect(120, 0);
	lqn_model_free(model);
}
END_TEST

/* ---- schedules ---- */

START_TEST(who_is_late_for_its_time_begins_another_cycle_at_once)
{
	long next;

	start();
	next = t.now;
	for (int i = 0; i < 200; i++) {
		next += 400;
		if (next > t.now) {
			sleep_for(next - t.now, true);
		}
		ask(ALPHA);
		talk_work(&t, 10);
		if (i % 5 == 0) {
			/* the server takes its time */
			talk_request(&t, CLIENT, 6, BETA);
			talk_work(&t, 420);
			talk_reply(&t, BETA, 7, CLIENT);
		}
	}
	finish();
	ck_assert_double_eq_tol((double) cycle->invocations, 200, 2);
	ck_assert_double_eq_tol(calls("alpha"), 1, 0.02);
	ck_assert_int_eq(client->kind, LQN_TASK_OPEN);
	ck_assert(is_noted("late for its schedule"));
	lqn_model_free(model);
}
END_TEST

START_TEST(who_asks_twice_is_not_late)
{
	start();
	for (int i = 0; i < 150; i++) {
		ask(ALPHA);
		if (any_of(3) == 0) {
			ask(ALPHA);
		}
		sleep_for(300 + 10 * any_of(60), true);
	}
	finish();
	expect(150, 0);
	ck_assert_double_eq_tol(calls("alpha"), 4 / 3.0, 0.1);
	lqn_model_free(model);
}
END_TEST

/* A thread of the client's goes to sleep until a time of the clock; wakes. */
static void doze(int thread)
{
	feed(t.feed, "%ld c%d +clock_nanosleep 1 1\n%ld c%d sw %d>0 S", t.now, thread, t.now, thread, thread);
}

static void wake(int thread)
{
	feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -clock_nanosleep 0", t.now, thread,
		t.now, thread, thread, t.now, thread, t.now, thread, thread, t.now, thread);
}

#define THREADS 5
#define SERVED_BY(thread) ((thread) + THREADS)

/* Threads of one client, each with a server of its own, that sleep until times of the clock. */
static void start_threads(void)
{
	seed = 1;
	talk_start(&t);
	talk_process(&t, 1, "client");
	for (int i = 1; i <= THREADS; i++) {
		if (i > 1) {
			talk_thread(&t, 1, i);
		}
		talk_process(&t, SERVED_BY(i), "server");
		talk_connect(&t, i, 10 + i, SERVED_BY(i), 7);
		talk_await(&t, SERVED_BY(i), "recvfrom", 7);
		doze(i);
	}
}

static void asks(int thread)
{
	talk_work(&t, 10);
	talk_request(&t, thread, 10 + thread, SERVED_BY(thread));
}

static void is_answered(int thread)
{
	talk_work(&t, 30);
	talk_reply(&t, SERVED_BY(thread), 7, thread);
}

/* A time by chance, of 2 ms in the mean. */
static long a_while(void)
{
	long us = 50;

	while (any_of(40) != 0) {
		us += 50;
	}
	return us;
}

/* The threads think, or take the next time of a schedule as soon as they have done. */
static void take_turns(bool schedule)
{
	long at[THREADS + 1], next;

	start_threads();
	next = t.now;
	for (int i = 1; i <= THREADS; i++) {
		at[i] = next = (schedule ? next : t.now) + a_while();
	}
	for (int i = 0; i < 400; i++) {
		int thread = 1;

		for (int k = 2; k <= THREADS; k++) {
			thread = at[k] < at[thread] ? k : thread;
		}
		t.now = MAX(t.now, at[thread]);
		wake(thread);
		asks(thread);
		is_answered(thread);
		doze(thread);
		at[thread] = next = (schedule ? next : t.now) + a_while();
	}
	finish();
}

START_TEST(who_takes_the_next_time_of_a_schedule_has_waited_longest)
{
	take_turns(true);
	ck_assert_int_eq(client->kind, LQN_TASK_OPEN);
	lqn_model_free(model);
	take_turns(false);
	ck_assert_int_eq(client->kind, LQN_TASK_CLIENT);
	ck_assert_uint_eq(client->multiplicity, THREADS);
	lqn_model_free(model);
}
END_TEST

START_TEST(who_is_late_for_a_common_schedule_begins_when_nobody_waits)
{
	unsigned cycles = 0;

	start_threads();
	for (int i = 0; i < 80; i++) {
		int busy = 1 + (any_of(3) == 0 ? THREADS - 1 : (int) any_of(THREADS));

		t.now += 200 + 10 * any_of(40);
		for (int k = 1; k <= busy; k++, cycles++) {
			wake(k);
			asks(k);
		}
		if (busy == THREADS) {
			is_answered(1);
			asks(1);
			cycles++;
		}
		for (int k = busy; k >= 1; k--) {
			is_answered(k);
			doze(k);
			t.now += 100;
		}
	}
	finish();
	ck_assert_double_eq_tol((double) cycle->invocations, cycles, 4);
	ck_assert_double_eq_tol(calls("server"), 1, 0.01);
	ck_assert_int_eq(client->kind, LQN_TASK_OPEN);
	lqn_model_free(model);
}
END_TEST

/* ---- one model after another ---- */

static char *text_of(struct lqn_analysis *analysis, const struct lqn_window *window)
{
	struct lqn_model *made = NULL;
	struct lqn_path_report *paths = NULL;
	GString *json, *more;
	bool ok = window ? lqn_analysis_snapshot(analysis, window->begin, window->end, &made, &paths, NULL) :
		lqn_analysis_finish(analysis, &made, &paths, NULL);

	ck_assert(ok);
	json = lqn_write_json(made);
	more = lqn_write_paths(paths);
	g_string_append(json, more->str);
	g_string_free(more, TRUE);
	lqn_model_free(made);
	lqn_path_report_free(paths);
	return g_string_free(json, FALSE);
}

/* What is joined and split, and late and has sleeps within, for one model is as it was for the next. */
START_TEST(what_one_model_has_joined_and_split_the_next_finds_as_it_was)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .whole = true };
	struct talk_host host = { .analysis = lqn_analysis_new(&options) };
	struct lqn_window window = { 0, 20000000 };
	g_autofree char *first = NULL, *second = NULL, *third = NULL;
	long next;

	start();
	next = t.now;
	for (int i = 0; i < 100; i++) {
		next += 700;
		if (next > t.now) {
			sleep_for(next - t.now, true);
		}
		ask(ALPHA);
		sleep_for(100, false);
		ask(BETA);
		if (i % 5 == 0) {
			talk_request(&t, CLIENT, 6, BETA);
			talk_work(&t, 600);
			talk_reply(&t, BETA, 7, CLIENT);
		}
	}
	host.number = lqn_analysis_host(host.analysis, "host");
	feed_finish(t.feed, t.now);
	feed_each(t.feed, talk_take, &host);
	lqn_analysis_end(host.analysis);
	first = text_of(host.analysis, &window);
	second = text_of(host.analysis, &window);
	ck_assert_str_eq(first, second);
	ck_assert(strstr(first, "are within its cycles") != NULL);
	third = text_of(host.analysis, NULL);
	ck_assert_ptr_ne(third, NULL);
	g_array_free(t.events, TRUE);
	lqn_analysis_free(host.analysis);
	feed_free(t.feed);
}
END_TEST

SUITE("sleeps", what_always_follows_after_a_shorter_sleep_is_the_same_cycle, what_comes_in_any_order_is_a_cycle_each,
	what_always_follows_after_sleeps_that_are_alike_is_a_cycle_each_and_that_is_said,
	what_looks_the_same_is_told_apart_by_sleeps_in_turn, what_follows_only_sometimes_follows_nothing_else,
	sleeps_of_one_length_that_never_follow_each_other_are_within,
	a_sleep_for_a_time_is_within_what_goes_by_the_clock, what_a_span_lies_around_is_one_cycle_what_spans_tell_apart_are_two,
	who_is_late_for_its_time_begins_another_cycle_at_once, who_asks_twice_is_not_late,
	who_takes_the_next_time_of_a_schedule_has_waited_longest, who_is_late_for_a_common_schedule_begins_when_nobody_waits,
	what_one_model_has_joined_and_split_the_next_finds_as_it_was)
