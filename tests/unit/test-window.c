/* SPDX-License-Identifier: MIT */
/* What a model is of: which part of the trace, and which clients. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "talk.h"

enum { CLIENT = 1, WEB = 2, RARE = 3, AUX = 4 };

static struct talk t;
static struct lqn_model *model;

static void done(void)
{
	lqn_model_free(model);
}

/* Only to sleep and to wake up again; talk_sleep() does both. */
static void doze(int thread)
{
	feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, thread, t.now, thread, thread);
}

static void wake(int thread)
{
	feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0", t.now,
		thread, t.now, thread, thread, t.now, thread, t.now, thread, thread, t.now, thread);
}

/* ---- the steady part ---- */

/* Cycles whose work at web is so many us in the mean, and differs from one to the next by up to a fifth. */
static void cycles(int n, long web_us, long sleep_us)
{
	for (int i = 0; i < n; i++) {
		talk_cycle(&t, CLIENT, WEB, web_us + (i * 37 % 41 - 20) * web_us / 100, sleep_us);
	}
}

/* us of web's CPU per request */
static double web_us(void)
{
	return talk_entry(model, "web")->phase[0].demand * 1e6;
}

static uint64_t requests(void)
{
	return talk_entry(model, "web")->invocations;
}

/* The window begins (ends) there, or no more than a batch of five cycles inside of it. */
static void is_at(int64_t ns, long us, long cycle_us)
{
	ck_assert_msg(llabs(ns - us * 1000) < 6 * cycle_us * 1000, "%.0f us off, a cycle is %ld us",
		(double) (ns - us * 1000) / 1e3, cycle_us);
}

static const char *note_with(const char *words)
{
	for (guint i = 0; i < model->notes->len; i++) {
		if (strstr(model->notes->pdata[i], words)) {
			return model->notes->pdata[i];
		}
	}
	return NULL;
}

START_TEST(a_start_up_with_another_workload_is_cut_off)
{
	long steady;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(40, 900, 400);
	steady = t.now;
	cycles(360, 200, 400);
	model = talk_finish(&t, NULL);
	is_at(model->window_begin, steady, 632);
	ck_assert_uint_ge(requests(), 350);
	ck_assert_uint_le(requests(), 364);
	near(web_us(), 202);
	ck_assert_msg(strstr(model->window_reason, "steady state: without the first 0.05"), "%s", model->window_reason);
	done();
}
END_TEST

START_TEST(an_end_with_another_workload_is_cut_off)
{
	long last;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(360, 200, 400);
	last = t.now;
	cycles(40, 900, 400);
	model = talk_finish(&t, NULL);
	is_at(model->window_end, last, 1332);
	near(web_us(), 202);
	ck_assert_msg(strstr(model->window_reason, "the last 0.05"), "%s", model->window_reason);
	done();
}
END_TEST

START_TEST(a_start_up_at_another_rate_is_cut_off)
{
	long steady;

	/* responses are alike all along: only the pauses differ */
	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(40, 200, 3000);
	steady = t.now;
	cycles(360, 200, 400);
	model = talk_finish(&t, NULL);
	is_at(model->window_begin, steady, 632);
	near(talk_task(model, "client")->think, 400e-6);
	done();
}
END_TEST

START_TEST(a_start_up_with_other_responses_at_the_same_rate_is_cut_off)
{
	long steady = 0;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < 400; i++) {
		long work = (i < 40 ? 500 : 200) + i * 37 % 41;

		steady = i == 40 ? t.now : steady;
		talk_cycle(&t, CLIENT, WEB, work, 600 - work);
	}
	model = talk_finish(&t, NULL);
	is_at(model->window_begin, steady, 632);
	near(web_us(), 222);
	done();
}
END_TEST

START_TEST(a_steady_trace_is_taken_as_a_whole)
{
	long first;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	first = t.now;
	cycles(400, 200, 400);
	model = talk_finish(&t, NULL);
	is_at(model->window_begin, first, 100);
	ck_assert_uint_ge(requests(), 398);
	ck_assert_msg(strstr(model->window_reason, "steady throughout"), "%s", model->window_reason);
	done();
}
END_TEST

START_TEST(what_grows_all_the_time_is_not_steady_and_is_taken_as_a_whole)
{
	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < 400; i++) {
		talk_cycle(&t, CLIENT, WEB, 100 + 5 * i, 400);
	}
	model = talk_finish(&t, NULL);
	ck_assert_uint_ge(requests(), 398);
	ck_assert_ptr_nonnull(note_with("no steady state"));
	ck_assert_msg(!strstr(model->window_reason, "steady"), "%s", model->window_reason);
	done();
}
END_TEST

START_TEST(a_change_beyond_the_middle_is_no_start_up)
{
	/* which of the two is what is wanted? */
	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(240, 900, 400);
	cycles(160, 200, 400);
	model = talk_finish(&t, NULL);
	ck_assert_uint_ge(requests(), 398);
	ck_assert_ptr_nonnull(note_with("no steady state"));
	done();
}
END_TEST

START_TEST(of_few_cycles_all_are_taken)
{
	/* the change is as clear as above, but 99 cycles are less than twenty batches */
	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(40, 900, 400);
	cycles(59, 200, 400);
	model = talk_finish(&t, NULL);
	ck_assert_uint_ge(requests(), 98);
	ck_assert_ptr_null(note_with("no steady state"));
	done();
}
END_TEST

START_TEST(the_option_whole_keeps_the_start_up)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .whole = true };

	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(40, 900, 400);
	cycles(360, 200, 400);
	model = talk_finish(&t, &options);
	ck_assert_uint_ge(requests(), 398);
	near(web_us(), (40 * 902.0 + 360 * 202.0) / 400);
	ck_assert_str_eq(model->window_reason, "from the first request to the last");
	done();
}
END_TEST

START_TEST(parameters_win_over_the_steady_part)
{
	struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };
	long end;

	/* a begin alone: the end is the last request's, and nothing is cut */
	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(20, 900, 400);
	options.begin = t.now * 1000;
	cycles(20, 900, 400);
	cycles(360, 200, 400);
	model = talk_finish(&t, &options);
	ck_assert_int_eq(model->window_begin, options.begin);
	ck_assert_uint_ge(requests(), 378);
	near(web_us(), (20 * 902.0 + 360 * 202.0) / 380);
	ck_assert_str_eq(model->window_reason, "from parameter begin to the last");
	done();

	/* an end alone */
	options.begin = INT64_MIN;
	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(40, 900, 400);
	cycles(260, 200, 400);
	end = t.now;
	cycles(100, 200, 400);
	options.end = end * 1000;
	model = talk_finish(&t, &options);
	ck_assert_int_eq(model->window_end, options.end);
	ck_assert_uint_eq(requests(), 300);
	ck_assert_str_eq(model->window_reason, "from the first request to parameter end");
	done();
}
END_TEST

START_TEST(a_mark_wins_over_a_parameter)
{
	struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .begin_mark = "openat:/mark/begin" };
	long mark;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(20, 900, 400);
	options.begin = t.now * 1000;
	cycles(100, 900, 400);
	mark = t.now;
	talk_mark(&t, CLIENT, "/mark/begin");
	cycles(200, 200, 400);
	model = talk_finish(&t, &options);
	ck_assert_int_eq(model->window_begin, mark * 1000);
	near(web_us(), 202);
	ck_assert_str_eq(model->window_reason, "from mark openat:/mark/begin to the last");
	done();
}
END_TEST

/* ---- clutter ---- */

static const struct lqn_options whole = { .begin = INT64_MIN, .end = INT64_MAX, .whole = true };

/* A busy client asks web; a rare one asks aux, which nobody else does, and web on a connection of its own. */
static void start_with_rare(void)
{
	talk_pair(&t, CLIENT, "client", WEB, "web");
	talk_process(&t, RARE, "rare");
	talk_process(&t, AUX, "aux");
	talk_connect(&t, RARE, 5, AUX, 7);
	talk_await(&t, AUX, "recvfrom", 7);
	doze(RARE);
}

static void rare_cycle(void)
{
	wake(RARE);
	talk_work(&t, 30);
	talk_request(&t, RARE, 5, AUX);
	talk_work(&t, 80);
	talk_reply(&t, AUX, 7, RARE);
	doze(RARE);
}

/* So many busy cycles with so many rare ones among them. */
static void mix(int busy, int rare)
{
	for (int i = 0; i < busy; i++) {
		talk_cycle(&t, CLIENT, WEB, 200, 400);
		if (i >= busy - rare - 3 && i < busy - 3) {
			rare_cycle();
		}
	}
}

/* Whether the rare client is in the model, with what it asks. */
static bool is_kept(void)
{
	bool client = talk_task(model, "rare") != NULL, server = talk_task(model, "aux") != NULL;

	ck_assert_ptr_nonnull(talk_task(model, "client"));
	ck_assert_ptr_nonnull(talk_task(model, "web"));
	ck_assert_int_eq(client, server);
	ck_assert_int_eq(client, !note_with("left out"));
	return client;
}

START_TEST(a_rare_client_is_left_out_with_all_that_only_it_causes)
{
	start_with_rare();
	mix(150, 2);
	model = talk_finish(&t, &whole);
	ck_assert(!is_kept());
	ck_assert_msg(strstr(note_with("left out"), "rare (2)"), "%s", note_with("left out"));
	ck_assert_ptr_nonnull(strstr(note_with("left out"), "clutter=yes"));
	ck_assert(!strstr(note_with("left out"), "client"));
	near(web_us(), 202);
	done();
}
END_TEST

START_TEST(the_option_clutter_keeps_it)
{
	struct lqn_options options = whole;

	options.clutter = true;
	start_with_rare();
	mix(150, 2);
	model = talk_finish(&t, &options);
	ck_assert(is_kept());
	ck_assert_int_eq(talk_task(model, "rare")->kind, LQN_TASK_CLIENT);
	near(talk_calls(talk_entry(model, "rare"), talk_entry(model, "aux"), LQN_SYNC), 1);
	ck_assert_uint_eq(talk_entry(model, "aux")->invocations, 2);
	near(talk_entry(model, "aux")->phase[0].demand, 82e-6);
	done();
}
END_TEST

START_TEST(its_use_of_the_processors_is_background)
{
	bool told = false;

	start_with_rare();
	mix(150, 2);
	model = talk_finish(&t, &whole);
	for (guint i = 0; i < model->background->len; i++) {
		told |= g_str_has_prefix(model->background->pdata[i], "aux ");
	}
	ck_assert(told);
	done();
}
END_TEST

START_TEST(what_others_ask_too_stays_without_its_requests)
{
	struct lqn_task *web;
	uint64_t invocations = 0;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	talk_process(&t, RARE, "rare");
	talk_connect(&t, RARE, 5, WEB, 8);
	doze(RARE);
	for (int i = 0; i < 150; i++) {
		talk_cycle(&t, CLIENT, WEB, 200, 400);
		if (i == 70) {
			/* web turns to the other connection and back; its work there is ten times as long */
			talk_work(&t, 30);
			feed(t.feed, "%ld c%d +sendto 5 64\n%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -sendto 64\n%ld c%d -recvfrom 64",
				t.now, CLIENT, t.now, CLIENT, WEB, t.now, WEB, WEB, t.now + 1, CLIENT, t.now + 1, WEB);
			talk_work(&t, 1);
			talk_await(&t, CLIENT, "recvfrom", 5);
			talk_work(&t, 200);
			talk_send(&t, WEB, "sendto", 7, CLIENT, "recvfrom");
			talk_await(&t, WEB, "recvfrom", 8);
			wake(RARE);
			talk_work(&t, 30);
			talk_request(&t, RARE, 5, WEB);
			talk_work(&t, 2000);
			talk_send(&t, WEB, "sendto", 8, RARE, "recvfrom");
			talk_await(&t, WEB, "recvfrom", 7);
			doze(RARE);
			talk_sleep(&t, CLIENT, 400);
		}
	}
	model = talk_finish(&t, &whole);
	ck_assert_ptr_null(talk_task(model, "rare"));
	ck_assert_ptr_nonnull(note_with("rare (1)"));
	web = talk_task(model, "web");
	ck_assert_ptr_nonnull(web);
	for (guint i = 0; i < web->entries->len; i++) {
		struct lqn_entry *entry = web->entries->pdata[i];

		invocations += entry->invocations;
		ck_assert_double_lt(entry->phase[0].demand, 220e-6);
	}
	/* the window ends where the last cycle begins */
	ck_assert_uint_eq(invocations, 150);
	done();
}
END_TEST

START_TEST(a_lone_rare_client_is_no_clutter)
{
	talk_pair(&t, CLIENT, "client", WEB, "web");
	cycles(3, 200, 400);
	model = talk_finish(&t, &whole);
	ck_assert_ptr_nonnull(talk_task(model, "client"));
	ck_assert_ptr_nonnull(talk_task(model, "web"));
	ck_assert_ptr_null(note_with("left out"));
	done();
}
END_TEST

START_TEST(beside_a_client_of_a_hundred_cycles_twenty_are_enough)
{
	start_with_rare();
	mix(150, 20);
	model = talk_finish(&t, &whole);
	ck_assert(is_kept());
	done();
	start_with_rare();
	mix(150, 19);
	model = talk_finish(&t, &whole);
	ck_assert(!is_kept());
	done();
}
END_TEST

START_TEST(in_a_short_trace_few_cycles_are_enough)
{
	start_with_rare();
	mix(99, 2);
	model = talk_finish(&t, &whole);
	ck_assert(is_kept());
	done();
	start_with_rare();
	mix(100, 2);
	model = talk_finish(&t, &whole);
	ck_assert(!is_kept());
	done();
}
END_TEST

START_TEST(a_fiftieth_of_the_busiest_is_the_least)
{
	start_with_rare();
	mix(1200, 24);
	model = talk_finish(&t, &whole);
	ck_assert(is_kept());
	done();
	start_with_rare();
	mix(1201, 24);
	model = talk_finish(&t, &whole);
	ck_assert(!is_kept());
	done();
}
END_TEST

START_TEST(the_share_can_be_chosen)
{
	struct lqn_options options = whole;

	options.background_below = 0.05;
	start_with_rare();
	mix(1200, 24);
	model = talk_finish(&t, &options);
	ck_assert(!is_kept());
	done();
	options.background_below = 0.001;
	start_with_rare();
	mix(1201, 24);
	model = talk_finish(&t, &options);
	ck_assert(is_kept());
	done();
}
END_TEST

START_TEST(clutter_does_not_stretch_the_window)
{
	long first;

	start_with_rare();
	rare_cycle();
	talk_work(&t, 500000);
	first = t.now;
	talk_sleep(&t, CLIENT, 10);
	mix(150, 1);
	model = talk_finish(&t, &whole);
	ck_assert(!is_kept());
	ck_assert_ptr_nonnull(note_with("rare (2)"));
	ck_assert_int_ge(model->window_begin, first * 1000);
	near(talk_entry(model, "web")->throughput, 1 / 632e-6);
	done();
}
END_TEST

SUITE("window", a_start_up_with_another_workload_is_cut_off, an_end_with_another_workload_is_cut_off,
	a_start_up_at_another_rate_is_cut_off, a_start_up_with_other_responses_at_the_same_rate_is_cut_off,
	a_steady_trace_is_taken_as_a_whole,
	what_grows_all_the_time_is_not_steady_and_is_taken_as_a_whole, a_change_beyond_the_middle_is_no_start_up,
	of_few_cycles_all_are_taken, the_option_whole_keeps_the_start_up, parameters_win_over_the_steady_part,
	a_mark_wins_over_a_parameter, a_rare_client_is_left_out_with_all_that_only_it_causes, the_option_clutter_keeps_it,
	its_use_of_the_processors_is_background, what_others_ask_too_stays_without_its_requests,
	a_lone_rare_client_is_no_clutter, beside_a_client_of_a_hundred_cycles_twenty_are_enough,
	in_a_short_trace_few_cycles_are_enough, a_fiftieth_of_the_busiest_is_the_least,
	the_share_can_be_chosen, clutter_does_not_stretch_the_window)
