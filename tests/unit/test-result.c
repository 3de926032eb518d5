/* SPDX-License-Identifier: MIT */
/* Models while events still come, and of traces of which not all is kept. */
#include <string.h>

#include "request/aside.h"
#include "request/internal.h"
#include "suite.h"
#include "talk.h"
#include "write/write.h"

enum { CLIENT = 1, WEB = 2 };

#define MS 1000000

static struct talk t;
static bool forgets;	/* after each snapshot, what was before it */
static bool aside;	/* the analysis is in a thread of its own */

/* Client and web server; after so many us its work for a request takes twice as long. */
static void start(int cycles, int slow_from)
{
	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < cycles; i++) {
		talk_cycle(&t, CLIENT, WEB, (i < slow_from ? 180 : 380) + i * 37 % 41, 400);
	}
	feed_finish(t.feed, t.now);
}

struct taker {
	struct lqn_analysis *analysis;
	struct lqn_aside *aside;	/* NULL: there is none */
	uint64_t events;
	unsigned host;
	int64_t every, next;		/* ns between snapshots; 0: none are made */
	GPtrArray *models;		/* struct lqn_model, of the snapshots */
};

static void await(struct taker *taker)
{
	if (taker->aside) {
		lqn_aside_wait(taker->aside);
	}
}

static void snapshot(struct taker *taker, int64_t begin, int64_t end)
{
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;
	bool ok;

	await(taker);
	lqn_analysis_advance(taker->analysis, end + 5 * MS);
	ok = lqn_analysis_snapshot(taker->analysis, begin, end, &model, &paths, &error);
	ck_assert_msg(ok, "%s", error ? error->message : "no error");
	ck_assert_uint_eq(paths->not_tiled, 0);
	ck_assert_uint_gt(paths->requests, 0);
	lqn_path_report_free(paths);
	g_ptr_array_add(taker->models, model);
	if (forgets) {
		lqn_analysis_forget(taker->analysis, end);
	}
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
	taker->events++;
	if (taker->aside) {
		lqn_aside_event(taker->aside, taker->host, ev);
	} else {
		lqn_analysis_event(taker->analysis, taker->host, ev);
	}
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
	taker->aside = aside ? lqn_aside_new(taker->analysis) : NULL;
	feed_each(t.feed, take, taker);
	await(taker);
	ck_assert_msg(lqn_analysis_finish(taker->analysis, &model, &paths, &error), "%s", error ? error->message : "no error");
	text = lqn_write_json(model);
	{
		GString *more = lqn_write_paths(paths);

		g_string_append(text, more->str);
		g_string_free(more, TRUE);
	}
	lqn_model_free(model);
	lqn_path_report_free(paths);
	lqn_aside_free(taker->aside);
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

/* So many events that a good many are given to the thread at a time, also where it is waited for. */
START_TEST(in_a_thread_of_its_own_all_is_the_same)
{
	struct taker taker;
	GString *without, *with, *waited;

	start(9000, 4500);
	without = run(&taker, 0);
	g_ptr_array_unref(taker.models);
	aside = true;
	with = run(&taker, 0);
	ck_assert_uint_gt(taker.events, 2 * LQN_ASIDE_BATCH);
	g_ptr_array_unref(taker.models);
	waited = run(&taker, 1000 * MS);
	ck_assert_uint_ge(taker.models->len, 4);
	g_ptr_array_unref(taker.models);
	aside = false;
	ck_assert_str_eq(with->str, without->str);
	ck_assert_str_eq(waited->str, without->str);
	g_string_free(without, TRUE);
	g_string_free(with, TRUE);
	g_string_free(waited, TRUE);
	done();
}
END_TEST

START_TEST(an_analysis_that_is_dropped_ends_its_thread)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };
	struct taker taker = { .analysis = lqn_analysis_new(&options) };

	start(10, 10);
	taker.host = lqn_analysis_host(taker.analysis, "host");
	taker.aside = lqn_aside_new(taker.analysis);
	feed_each(t.feed, take, &taker);
	lqn_aside_free(taker.aside);
	lqn_analysis_free(taker.analysis);
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
		talk_cycle(&t, CLIENT, WEB, 200, 400);
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

/* ---- what is kept ---- */

/* The largest number that there ever was of each kind of thing. */
struct most {
	guint invocations, arcs, intervals, receipts, actors, ends, units, words;
};

struct long_run {
	struct lqn_analysis *analysis;
	struct most most;
	uint64_t seen;
};

static void count(struct long_run *run)
{
	const struct lqn_party *host = run->analysis->hosts->pdata[0];
	struct most now = { run->analysis->invocations->len, run->analysis->arcs->len, 0, 0, host->by_age->len,
		g_hash_table_size(host->ends), g_hash_table_size(host->units), g_hash_table_size(host->words) };
	guint *most = &run->most.invocations, *is = &now.invocations;

	for (guint i = 0; i < host->by_age->len; i++) {
		const struct lqn_actor *actor = host->by_age->pdata[i];

		now.intervals += actor->intervals->len;
		now.receipts += actor->receipts ? actor->receipts->len : 0;
	}
	for (guint i = 0; i < sizeof(now) / sizeof(guint); i++) {
		most[i] = MAX(most[i], is[i]);
	}
}

static void take_long(void *payload, const struct lqn_event *ev)
{
	struct long_run *run = payload;

	if (ev->type == LQN_EV_HOST) {
		return;
	}
	lqn_analysis_event(run->analysis, 0, ev);
	if (++run->seen % 64 == 0) {
		lqn_analysis_advance(run->analysis, ev->ts - 2 * MS);
		count(run);
	}
}

/* A model of the trace with so many bytes of detail (0: all). */
static struct lqn_model *run_long(uint64_t detail, const struct lqn_options *otherwise, struct most *most)
{
	struct lqn_options options = otherwise ? *otherwise : (struct lqn_options) { .begin = INT64_MIN, .end = INT64_MAX };
	struct long_run run = { 0 };
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;

	options.detail = detail;
	run.analysis = lqn_analysis_new(&options);
	lqn_analysis_host(run.analysis, "host");
	feed_each(t.feed, take_long, &run);
	ck_assert_msg(lqn_analysis_finish(run.analysis, &model, &paths, &error), "%s", error ? error->message : "no error");
	ck_assert_uint_eq(paths->not_tiled, 0);
	for (guint i = 0; i < paths->groups->len; i++) {
		const struct lqn_path_group *group = paths->groups->pdata[i];
		double sum = 0;

		for (guint k = 0; k < group->shares->len; k++) {
			for (unsigned band = 0; band < LQN_PATH_BANDS; band++) {
				sum += (double) g_array_index(group->shares, struct lqn_path_share, k).sum[band];
			}
		}
		sum /= (double) group->requests;
		ck_assert_double_eq_tol(sum, group->mean, group->mean * 0.05);
	}
	lqn_path_report_free(paths);
	lqn_analysis_free(run.analysis);
	if (most) {
		*most = run.most;
	}
	return model;
}

static void alike(double part, double whole, double share)
{
	ck_assert_msg(ABS(part - whole) <= share * ABS(whole) + 1e-9, "%g, not %g", part, whole);
}

/* They are written alike. */
static void same_text(GString *(*write)(const struct lqn_model *model), const struct lqn_model *one, const struct lqn_model *other)
{
	GString *a = write(one), *b = write(other);

	ck_assert_str_eq(a->str, b->str);
	g_string_free(a, TRUE);
	g_string_free(b, TRUE);
}

static void same_model(const struct lqn_model *part, const struct lqn_model *whole)
{
	static const char *const tasks[] = { "client", "web" };

	for (guint i = 0; i < G_N_ELEMENTS(tasks); i++) {
		const struct lqn_task *a = talk_task(part, tasks[i]), *b = talk_task(whole, tasks[i]);
		const struct lqn_entry *x = talk_entry(part, tasks[i]), *y = talk_entry(whole, tasks[i]);

		ck_assert_uint_eq(a->multiplicity, b->multiplicity);
		alike(a->throughput, b->throughput, 0.02);
		alike(a->utilization, b->utilization, 0.02);
		alike(a->think, b->think, 0.02);
		alike(x->phase[0].demand, y->phase[0].demand, 0.02);
	}
	alike(talk_calls(talk_entry(part, "client"), talk_entry(part, "web"), LQN_SYNC), 1, 0);
}

START_TEST(a_long_trace_is_modelled_from_slices)
{
	struct lqn_model *whole, *part;
	const struct lqn_window *first, *last;

	start(8000, 8000);
	whole = run_long(0, NULL, NULL);
	part = run_long(2000000, NULL, NULL);
	ck_assert_uint_eq(whole->windows->len, 0);
	ck_assert_uint_ge(part->windows->len, 8);
	ck_assert_msg(strstr(part->window_reason, "slices of 0.0"), "%s", part->window_reason);
	/* from all over the trace */
	first = &g_array_index(part->windows, struct lqn_window, 0);
	last = &g_array_index(part->windows, struct lqn_window, part->windows->len - 1);
	ck_assert_int_lt(first->begin - whole->window_begin, (whole->window_end - whole->window_begin) / 10);
	ck_assert_int_lt(whole->window_end - last->end, (whole->window_end - whole->window_begin) / 10);
	ck_assert_int_lt(part->window_ns, (whole->window_end - whole->window_begin) / 2);
	same_model(part, whole);
	lqn_model_free(whole);
	lqn_model_free(part);
	done();
}
END_TEST

START_TEST(what_fits_is_kept_as_a_whole)
{
	struct lqn_model *whole, *part;

	start(200, 200);
	whole = run_long(0, NULL, NULL);
	part = run_long(1000000, NULL, NULL);
	same_text(lqn_write_json, whole, part);
	lqn_model_free(whole);
	lqn_model_free(part);
	done();
}
END_TEST

/* Four times as long, no more of it. */
static void does_not_grow(void (*make)(int cycles))
{
	struct most shorter, longer;
	const guint *a = &shorter.invocations, *b = &longer.invocations;

	make(1500);
	lqn_model_free(run_long(200000, NULL, &shorter));
	done();
	make(6000);
	lqn_model_free(run_long(200000, NULL, &longer));
	done();
	for (guint i = 0; i < sizeof(shorter) / sizeof(guint); i++) {
		ck_assert_msg(b[i] < 1.2 * a[i] + 10, "kind %u: %u, then %u", i, a[i], b[i]);
	}
}

static void make_steady(int cycles)
{
	start(cycles, cycles);
}

START_TEST(what_is_kept_of_a_steady_trace_does_not_grow)
{
	does_not_grow(make_steady);
}
END_TEST

/* Each request is made by a process of its own, on a connection of its own, which waits on a word of its own at first. */
static void make_fleet(int cycles)
{
	talk_start(&t);
	talk_process(&t, WEB, "web");
	for (int i = 0; i < cycles; i++) {
		int client = 100 + i % 30;

		talk_process(&t, client, "client");
		talk_connect(&t, client, 5, WEB, 7);
		feed(t.feed, "%ld c%d +futex %d 129 1\n%ld c%d -futex 0", t.now, client, 4096 + 8 * i, t.now, client);
		talk_await(&t, WEB, "recvfrom", 7);
		talk_work(&t, 30);
		talk_request(&t, client, 5, WEB);
		talk_work(&t, 200);
		talk_reply(&t, WEB, 7, client);
		feed(t.feed, "%ld c%d sw 0>%d R\n%ld c%d -recvfrom 0\n%ld c%d +close 7\n%ld c%d -close 0", t.now, WEB, WEB, t.now, WEB,
			t.now, WEB, t.now, WEB);
		talk_work(&t, 100);
		feed(t.feed, "%ld c%d exit %d\n%ld c%d sw %d>0 X\n%ld c%d free %d", t.now, client, client, t.now, client, client, t.now,
			client, client);
		talk_work(&t, 50);
	}
	feed_finish(t.feed, t.now);
}

START_TEST(the_dead_and_the_closed_go)
{
	does_not_grow(make_fleet);
}
END_TEST

START_TEST(what_is_before_the_window_is_not_kept)
{
	struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .begin_mark = "openat:/begin", .end_mark = "openat:/end" };
	struct lqn_model *whole, *part;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < 3000; i++) {
		if (i == 2500 || i == 2600) {
			talk_mark(&t, CLIENT, i == 2500 ? "/begin" : "/end");
		}
		talk_cycle(&t, CLIENT, WEB, 200, 400);
	}
	feed_finish(t.feed, t.now);
	whole = run_long(0, &options, NULL);
	part = run_long(300000, &options, NULL);
	/* a hundred requests fit, three thousand do not; what the window says is the same then */
	same_text(lqn_write_lqn, whole, part);
	lqn_model_free(whole);
	lqn_model_free(part);
	done();
}
END_TEST

START_TEST(marks_that_repeat_are_several_windows)
{
	struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .begin_mark = "openat:/begin", .end_mark = "openat:/end" };
	struct lqn_model *model;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < 350; i++) {
		bool in = i / 50 % 2 == 1;	/* 50 to 100, 150 to 200, 250 to 300 */

		if (i > 0 && i % 50 == 0) {
			talk_mark(&t, CLIENT, in ? "/begin" : "/end");
		}
		talk_cycle(&t, CLIENT, WEB, in ? 200 : 900, 400);
	}
	talk_mark(&t, CLIENT, "/begin");
	feed_finish(t.feed, t.now);
	model = run_long(0, &options, NULL);
	ck_assert_uint_eq(model->windows->len, 3);
	ck_assert_uint_eq(talk_entry(model, "web")->invocations, 150);
	alike((double) model->window_ns, 150 * 633e3, 0.01);
	alike(talk_entry(model, "web")->phase[0].demand, 202e-6, 0.02);
	alike(talk_task(model, "web")->throughput, 1 / 633e-6, 0.01);
	ck_assert_msg(strstr(model->window_reason, "3 times"), "%s", model->window_reason);
	/* the last one is open */
	ck_assert_uint_ge(model->notes->len, 1);
	ck_assert_msg(strstr(model->notes->pdata[0], "left out"), "%s", (const char *) model->notes->pdata[0]);
	lqn_model_free(model);
	done();
}
END_TEST

START_TEST(what_was_forgotten_is_not_missed_later)
{
	struct taker with = { 0 }, without = { 0 };

	start(400, 200);
	g_string_free(run(&without, 20 * MS), TRUE);
	forgets = true;
	g_string_free(run(&with, 20 * MS), TRUE);
	forgets = false;
	ck_assert_uint_ge(with.models->len, 10);
	ck_assert_uint_eq(with.models->len, without.models->len);
	for (guint i = 0; i < with.models->len; i++) {
		same_text(lqn_write_json, with.models->pdata[i], without.models->pdata[i]);
	}
	g_ptr_array_unref(with.models);
	g_ptr_array_unref(without.models);
	done();
}
END_TEST

SUITE("result", models_made_on_the_way_change_nothing, in_a_thread_of_its_own_all_is_the_same,
	an_analysis_that_is_dropped_ends_its_thread, each_window_has_a_model_of_its_own, who_sleeps_on_is_not_taken_to_run,
	a_long_trace_is_modelled_from_slices, what_fits_is_kept_as_a_whole, what_is_kept_of_a_steady_trace_does_not_grow,
	the_dead_and_the_closed_go, what_is_before_the_window_is_not_kept, marks_that_repeat_are_several_windows,
	what_was_forgotten_is_not_missed_later)
