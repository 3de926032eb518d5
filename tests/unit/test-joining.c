/* SPDX-License-Identifier: MIT */
/* Spans and the work that they tell of: on their thread, in their process, or only at that time. */
#include "talk.h"

#include <string.h>

#include "suite.h"

#define CYCLES 90
enum { CLIENT = 1, WEB = 2, DB = 3, WORKER = 4 };

static struct talk t;
static struct lqn_model *model;
static long shift;		/* us that the spans' clock is ahead of the kernel's */
static unsigned spans;

static void start(void)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_process(&t, DB, "db");
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_connect(&t, WEB, 8, DB, 9);
	talk_await(&t, DB, "recvfrom", 9);
	talk_await(&t, WEB, "recvfrom", 7);
	shift = 0;
	spans = 0;
}

/* `where`: `thread=…`, `pid=…`, `service=…`. */
static void tell(const char *where, unsigned span, unsigned parent, bool begin, const char *name)
{
	g_autofree char *text = g_strdup_printf("span %s trace=%u span=%u parent=%u at=%ldu begin=%d name=%s", where, spans, span, parent,
		t.now + shift, begin, name);
	struct lqn_event ev = feed_parse_event(text);

	g_array_append_val(t.events, ev);
}

/* A request that web answers after it has asked db; both tell of spans, web of one within it. */
static void cycle(const char *web, const char *db, const char *name)
{
	const char *call = strcmp(name, "buy") == 0 ? "pay" : "look";

	spans++;
	talk_work(&t, 30);
	talk_request(&t, CLIENT, 5, WEB);
	talk_work(&t, 8);
	tell(web, 1, 0, true, name);
	talk_work(&t, 40);
	tell(web, 2, 1, true, "inner");
	talk_request(&t, WEB, 8, DB);
	talk_work(&t, 6);
	tell(db, 3, 1, true, call);
	talk_work(&t, strcmp(name, "buy") == 0 ? 90 : 70);
	tell(db, 3, 0, false, "");
	talk_reply(&t, DB, 9, WEB);
	talk_work(&t, 20);
	tell(web, 2, 0, false, "");
	tell(web, 1, 0, false, "");
	talk_work(&t, 5);
	talk_reply(&t, WEB, 7, CLIENT);
	/* nothing is alike after the same time again */
	talk_sleep(&t, CLIENT, 400 + spans * 37 % 211);
}

static void run(const char *web, const char *db)
{
	for (int i = 0; i < CYCLES; i++) {
		cycle(web, db, i % 3 ? "browse" : "buy");
	}
	model = talk_finish(&t, NULL);
}

static void expect_entry(const char *task, const char *name, unsigned invocations)
{
	const struct lqn_task *of = talk_task(model, task);
	GString *all = g_string_new(NULL);

	for (guint i = 0; i < of->entries->len; i++) {
		const struct lqn_entry *entry = of->entries->pdata[i];

		g_string_append_printf(all, " %s %u", entry->name, (unsigned) entry->invocations);
		if (g_str_has_suffix(entry->name, name)) {
			/* the trace ends with the last cycle */
			ck_assert_msg(entry->invocations == invocations || entry->invocations + 1 == invocations, "%s:%s", task,
				all->str);
			g_string_free(all, TRUE);
			return;
		}
	}
	ck_abort_msg("%s has no %s:%s", task, name, all->str);
}

static void expect_names(void)
{
	expect_entry("web", "browse", CYCLES / 3 * 2);
	expect_entry("web", "buy", CYCLES / 3);
	expect_entry("db", "look", CYCLES / 3 * 2);
	expect_entry("db", "pay", CYCLES / 3);
}

static void expect_note(const char *part)
{
	g_autofree char *all = NULL;

	g_ptr_array_add(model->notes, NULL);
	all = g_strjoinv("\n", (char **) model->notes->pdata);
	g_ptr_array_set_size(model->notes, (gint) model->notes->len - 1);
	ck_assert_msg(strstr(all, part) != NULL, "no `%s` in: %s", part, all);
}

static void done(void)
{
	lqn_model_free(model);
}

START_TEST(spans_are_joined_with_the_work_of_their_thread)
{
	start();
	run("thread=2 evidence=certain", "thread=3 evidence=certain");
	expect_names();
	expect_note("of 270, 270 are joined with the work of their threads");
	done();
}
END_TEST

START_TEST(spans_of_a_process_are_joined_with_its_work)
{
	start();
	run("pid=2 evidence=inferred", "pid=3 evidence=inferred");
	expect_names();
	expect_note("270 with the work of their process or service");
	done();
}
END_TEST

START_TEST(a_thread_of_another_process_is_none_of_the_spans)
{
	start();
	/* Java's thread 3 of process 2 is not the system's */
	run("thread=3 pid=2 evidence=inferred", "thread=1 pid=3 evidence=inferred");
	expect_names();
	done();
}
END_TEST

START_TEST(a_service_is_the_process_that_is_called_so)
{
	start();
	run("service=web", "service=DB");
	expect_names();
	done();
}
END_TEST

START_TEST(a_service_is_the_process_whose_work_its_spans_agree_with)
{
	start();
	run("service=frontend", "service=store");
	expect_names();
	done();
}
END_TEST

START_TEST(clocks_that_differ_are_brought_together)
{
	static const struct {
		long shift;
		const char *said;
	} cases[] = {
		{ 1500, "ahead of theirs by -1.5" }, { -1500, "ahead of theirs by 1.4" }, { 300, "ahead of theirs by -0.3" },
		{ -300, "ahead of theirs by 0.2" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		start();
		shift = cases[i].shift;
		run("service=frontend", "service=store");
		expect_names();
		expect_note(cases[i].said);
		done();
	}
}
END_TEST

/* The reader hands the request to a worker, which answers: a span may begin on the one and end on the other. */
static void run_with_worker(const char *begins, const char *ends)
{
	start();
	talk_thread(&t, WEB, WORKER);
	talk_await(&t, WORKER, "futex", 4096);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		spans++;
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 20);
		tell(begins, 1, 0, true, i % 3 ? "browse" : "buy");
		feed(t.feed, "%ld c%d +futex 4096 129 1\n%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -futex 0\n%ld c%d -futex 1",
			t.now, WEB, t.now, WEB, WORKER, t.now, WORKER, WORKER, t.now, WORKER, t.now + 1, WEB);
		talk_work(&t, 1);
		talk_await(&t, WEB, "recvfrom", 7);
		talk_work(&t, 90);
		tell(ends, 1, 0, false, "");
		talk_send(&t, WORKER, "sendto", 7, CLIENT, "recvfrom");
		feed(t.feed, "%ld c%d +futex 4096 128 0\n%ld c%d sw %d>0 S", t.now, WORKER, t.now, WORKER, WORKER);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_entry("web", "browse", CYCLES / 3 * 2);
	expect_entry("web", "buy", CYCLES / 3);
	done();
}

START_TEST(a_span_that_changes_its_thread_is_joined_with_the_work_of_both)
{
	run_with_worker("thread=2 evidence=certain", "thread=4 evidence=certain");
	run_with_worker("thread=4 evidence=certain", "thread=4 evidence=certain");
	run_with_worker("pid=2", "pid=2");
}
END_TEST

START_TEST(a_span_around_several_requests_names_none_that_has_its_own)
{
	start();
	spans = 7;
	tell("thread=2 evidence=certain", 99, 0, true, "session");
	spans = 0;
	for (int i = 0; i < CYCLES; i++) {
		cycle("thread=2 evidence=certain", "thread=3 evidence=certain", i % 3 ? "browse" : "buy");
	}
	spans = 7;
	tell("thread=2 evidence=certain", 99, 0, false, "");
	model = talk_finish(&t, NULL);
	expect_names();
	done();
}
END_TEST

START_TEST(calls_that_go_out_are_no_names)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		spans++;
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 40);
		tell("thread=2 kind=client", 2, 0, true, "call");
		talk_request(&t, WEB, 8, DB);
		talk_work(&t, 50);
		talk_reply(&t, DB, 9, WEB);
		tell("thread=2", 2, 0, false, "");
		talk_work(&t, 40);
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(strstr(talk_entry(model, "web")->name, "call"));
	done();
}
END_TEST

START_TEST(spans_without_begin_or_end_are_counted)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		cycle("thread=2 evidence=certain", "thread=3 evidence=certain", i % 3 ? "browse" : "buy");
		if (i == CYCLES / 2) {
			tell("thread=2", 50, 0, true, "open");
			tell("thread=2", 50, 0, true, "open");
			tell("thread=2", 51, 0, false, "");
		}
	}
	model = talk_finish(&t, NULL);
	expect_names();
	expect_note("1 have no end, 1 no begin, 1 have the ids of another that was open");
	done();
}
END_TEST

START_TEST(spans_at_the_ends_of_time_do_not_stretch_the_trace)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		cycle("thread=2 evidence=certain", "thread=3 evidence=certain", i % 3 ? "browse" : "buy");
	}
	shift = 4000000000000;	/* 46 days */
	tell("thread=2 evidence=certain", 77, 0, true, "late");
	tell("thread=2 evidence=certain", 77, 0, false, "");
	model = talk_finish(&t, NULL);
	expect_names();
	ck_assert_double_lt((double) (model->window_end - model->window_begin), 1e9);
	done();
}
END_TEST

SUITE("joining", spans_are_joined_with_the_work_of_their_thread, spans_of_a_process_are_joined_with_its_work,
	a_thread_of_another_process_is_none_of_the_spans, a_service_is_the_process_that_is_called_so,
	a_service_is_the_process_whose_work_its_spans_agree_with, clocks_that_differ_are_brought_together,
	a_span_that_changes_its_thread_is_joined_with_the_work_of_both,
	a_span_around_several_requests_names_none_that_has_its_own, calls_that_go_out_are_no_names,
	spans_without_begin_or_end_are_counted, spans_at_the_ends_of_time_do_not_stretch_the_trace)
