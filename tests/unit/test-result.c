/* SPDX-License-Identifier: MIT */
/* Models while events still come. */
#include <string.h>

#include "suite.h"
#include "talk.h"
#include "write/write.h"

enum { CLIENT = 1, WEB = 2 };

#define MS 1000000

static struct talk t;

/* Client and web server; after so many us its work for a request takes twice as long. */
static void start(int cycles, int slow_from)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < cycles; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, i < slow_from ? 200 : 400);
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	feed_finish(t.feed, t.now);
}

struct taker {
	struct lqn_analysis *analysis;
	unsigned host;
	int64_t every, next;		/* ns between snapshots; 0: none are made */
	GPtrArray *models;		/* struct lqn_model, of the snapshots */
};

static void snapshot(struct taker *taker, int64_t begin, int64_t end)
{
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;
	bool ok;

	lqn_analysis_advance(taker->analysis, end + 5 * MS);
	ok = lqn_analysis_snapshot(taker->analysis, begin, end, &model, &paths, &error);
	ck_assert_msg(ok, "%s", error ? error->message : "no error");
	ck_assert_uint_eq(paths->not_tiled, 0);
	ck_assert_uint_gt(paths->requests, 0);
	lqn_path_report_free(paths);
	g_ptr_array_add(taker->models, model);
}

static void take(void *payload, const struct lqn_event *ev)
{
	struct taker *taker = payload;

	if (ev->type == LQN_EV_HOST) {
		return;
	}
	taker->next = taker->next ? taker->next : ev->ts + taker->every;
	while (taker->every && ev->ts >= taker->next + 5 * MS && ev->type != LQN_EV_CPU && ev->type != LQN_EV_SUMMARY) {
		snapshot(taker, taker->next - taker->every, taker->next);
		taker->next += taker->every;
	}
	lqn_analysis_event(taker->analysis, taker->host, ev);
}

static void model_free(void *model)
{
	lqn_model_free(model);
}

/* The trace's events, with a snapshot every so many ns (0: none); then the model of all as JSON. */
static GString *run(struct taker *taker, int64_t every)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .whole = true };
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;
	GString *text;

	*taker = (struct taker) { .analysis = lqn_analysis_new(&options), .every = every };
	taker->models = g_ptr_array_new_with_free_func(model_free);
	taker->host = lqn_analysis_host(taker->analysis, "host");
	feed_each(t.feed, take, taker);
	ck_assert_msg(lqn_analysis_finish(taker->analysis, &model, &paths, &error), "%s", error ? error->message : "no error");
	text = lqn_write_json(model);
	{
		GString *more = lqn_write_paths(paths);

		g_string_append(text, more->str);
		g_string_free(more, TRUE);
	}
	lqn_model_free(model);
	lqn_path_report_free(paths);
	lqn_analysis_free(taker->analysis);
	return text;
}

static void done(void)
{
	g_array_free(t.events, TRUE);
	feed_free(t.feed);
}

START_TEST(models_made_on_the_way_change_nothing)
{
	struct taker taker;
	GString *without, *with;

	start(400, 200);
	without = run(&taker, 0);
	ck_assert_uint_eq(taker.models->len, 0);
	g_ptr_array_unref(taker.models);
	with = run(&taker, 20 * MS);
	ck_assert_uint_ge(taker.models->len, 10);
	ck_assert_str_eq(with->str, without->str);
	g_ptr_array_unref(taker.models);
	g_string_free(without, TRUE);
	g_string_free(with, TRUE);
	done();
}
END_TEST

START_TEST(each_window_has_a_model_of_its_own)
{
	struct taker taker;

	start(400, 200);
	g_string_free(run(&taker, 20 * MS), TRUE);
	for (guint i = 0; i < taker.models->len; i++) {
		const struct lqn_model *model = taker.models->pdata[i];
		const struct lqn_entry *web = talk_entry(model, "web"), *client = talk_entry(model, "client");
		/* 632 us a cycle at first, then 832 */
		bool slow = model->window_begin > 200 * 632 * 1000 + 2 * MS, fast = model->window_end < 200 * 632 * 1000;

		ck_assert_int_eq(model->window_end - model->window_begin, 20 * MS);
		ck_assert_double_eq_tol(talk_calls(client, web, LQN_SYNC), 1, 1e-9);
		ck_assert_double_eq(talk_calls(client, web, LQN_ASYNC), 0);
		if (slow || fast) {
			ck_assert_double_eq_tol(web->throughput, slow ? 1 / 832e-6 : 1 / 632e-6, 60);
			ck_assert_double_eq_tol(web->phase[0].demand, slow ? 402e-6 : 202e-6, 8e-6);
		}
	}
	g_ptr_array_unref(taker.models);
	done();
}
END_TEST

START_TEST(who_sleeps_on_is_not_taken_to_run)
{
	struct taker taker;
	const struct lqn_model *model;

	/* a third process that sleeps through most of the trace: of its sleep is told when it is over */
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_process(&t, 3, "idler");
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_await(&t, WEB, "recvfrom", 7);
	talk_sleep(&t, 3, 50);
	feed(t.feed, "%ld c3 +nanosleep\n%ld c3 sw 3>0 S", t.now, t.now);
	for (int i = 0; i < 100; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 200);
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	feed(t.feed, "%ld c3 +hrtimer 1\n%ld c3 wk 3\n%ld c3 -hrtimer 1\n%ld c3 sw 0>3 R\n%ld c3 -nanosleep 0", t.now, t.now,
		t.now, t.now, t.now);
	feed_finish(t.feed, t.now);
	g_string_free(run(&taker, 20 * MS), TRUE);
	ck_assert_uint_ge(taker.models->len, 2);
	model = taker.models->pdata[1];
	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		ck_assert_double_lt(processor->utilization, 0.6);
	}
	g_ptr_array_unref(taker.models);
	done();
}
END_TEST

SUITE("result", models_made_on_the_way_change_nothing, each_window_has_a_model_of_its_own, who_sleeps_on_is_not_taken_to_run)
