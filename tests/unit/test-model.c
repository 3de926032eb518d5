/* SPDX-License-Identifier: MIT */
/* From conversations to models: small systems whose numbers are known because the test chose them. */
#include "talk.h"

#include <math.h>
#include <string.h>

#include "suite.h"

#define CYCLES 60
enum { CLIENT = 1, WEB = 2, DB = 3, OTHER = 4 };

static struct talk t;
static struct lqn_model *model;

static void done(void)
{
	lqn_model_free(model);
}

/* It asks, wakes nobody, and awaits the answer. */
static void send_and_await(int client, int fd)
{
	feed(t.feed, "%ld c%d +sendto %d 64\n%ld c%d -sendto 64", t.now, client, fd, t.now + 1, client);
	t.now++;
	talk_await(&t, client, "recvfrom", fd);
}

/* The server takes what is there, works for 100 us, and answers. */
static void serve(int fd, int client)
{
	feed(t.feed, "%ld c%d +recvfrom %d 4096\n%ld c%d -recvfrom 64", t.now, WEB, fd, t.now + 1, WEB);
	t.now++;
	talk_work(&t, 100);
	talk_send(&t, WEB, "sendto", fd, client, "recvfrom");
}

START_TEST(requests_and_replies_are_synchronous_calls)
{
	struct lqn_task *client;
	struct lqn_entry *asks, *page;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < CYCLES; i++) {
		talk_cycle(&t, CLIENT, WEB, 200, 400);
	}
	model = talk_finish(&t, NULL);
	client = talk_task(model, "client");
	asks = talk_entry(model, "client");
	page = talk_entry(model, "web");
	ck_assert_int_eq(client->kind, LQN_TASK_CLIENT);
	ck_assert_int_eq(client->sched, LQN_SCHED_REF);
	ck_assert_uint_eq(client->multiplicity, 1);
	ck_assert_uint_eq(page->task->multiplicity, 1);
	near(talk_calls(asks, page, LQN_SYNC), 1);
	/* a message costs a microsecond on each side */
	near(page->phase[0].demand, 202e-6);
	near(asks->phase[0].demand, 32e-6);
	near(client->think, 400e-6);
	near(client->response, 233e-6);
	near(page->throughput, 1 / 632e-6);
	done();
}
END_TEST

START_TEST(nested_requests_stay_inside_their_caller)
{
	struct lqn_entry *asks, *page, *query;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_process(&t, DB, "db");
	talk_connect(&t, WEB, 5, DB, 7);
	talk_await(&t, DB, "recvfrom", 7);
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 100);
		for (int k = 0; k < 2 + i % 2; k++) {
			talk_request(&t, WEB, 5, DB);
			talk_work(&t, 50);
			talk_reply(&t, DB, 7, WEB);
		}
		talk_work(&t, 20);
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	asks = talk_entry(model, "client");
	page = talk_entry(model, "web");
	query = talk_entry(model, "db");
	near(talk_calls(asks, page, LQN_SYNC), 1);
	near(talk_calls(asks, query, LQN_SYNC), 0);
	near(talk_calls(page, query, LQN_SYNC), 2.5);
	near(query->phase[0].demand, 52e-6);
	near(page->phase[0].demand, 122e-6 + 2.5 * 2e-6);
	ck_assert(!page->has_phase2 || page->phase[1].demand < 2e-6);
	done();
}
END_TEST

START_TEST(work_after_the_reply_is_a_second_phase)
{
	struct lqn_entry *page;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 100);
		/* the answer goes out, and web goes on for 150 us; both run at a time */
		talk_send(&t, WEB, "sendto", 7, CLIENT, "recvfrom");
		feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, CLIENT, t.now, CLIENT, CLIENT);
		talk_work(&t, 150);
		talk_await(&t, WEB, "recvfrom", 7);
		talk_work(&t, 300);
		feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0",
			t.now, CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT);
	}
	model = talk_finish(&t, NULL);
	page = talk_entry(model, "web");
	ck_assert(page->has_phase2);
	near(page->phase[0].demand, 102e-6);
	near(page->phase[1].demand, 150e-6);
	near(talk_task(model, "client")->think, 450e-6);
	done();
}
END_TEST

/* 150 us after each answer, then it sleeps for 400. */
START_TEST(what_a_client_computes_after_the_answer_is_not_thought_as_well)
{
	struct lqn_task *client;
	struct lqn_entry *cycle;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 100);
		talk_reply(&t, WEB, 7, CLIENT);
		talk_work(&t, 150);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	client = talk_task(model, "client");
	cycle = talk_entry(model, "client");
	ck_assert(cycle->phase[0].demand > 180e-6);
	ck_assert(client->think_measured > 549e-6);
	near(client->think, client->think_measured - 150e-6);
	done();
}
END_TEST

START_TEST(messages_without_an_answer_are_asynchronous)
{
	struct lqn_entry *page, *log;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_process(&t, OTHER, "logger");
	talk_connect(&t, WEB, 5, OTHER, 7);
	talk_await(&t, OTHER, "recvfrom", 7);
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 60);
		talk_send(&t, WEB, "sendto", 5, OTHER, "recvfrom");
		talk_work(&t, 40);
		talk_await(&t, OTHER, "recvfrom", 7);
		talk_work(&t, 10);
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	page = talk_entry(model, "web");
	log = talk_entry(model, "logger");
	near(talk_calls(page, log, LQN_ASYNC), 1);
	near(talk_calls(page, log, LQN_SYNC), 0);
	near(log->phase[0].demand + log->phase[1].demand, 41e-6);
	done();
}
END_TEST

/* The queue `name` under `fd` of both. */
static void open_queue(int a, int b, int fd, const char *name)
{
	feed(t.feed, "%ld c%d +mq_open %s\n%ld c%d -mq_open %d\n%ld c%d +mq_open %s\n%ld c%d -mq_open %d", t.now, a, name,
		t.now, a, fd, t.now, b, name, t.now, b, fd);
}

START_TEST(an_answer_from_further_down_was_forwarded)
{
	struct lqn_entry *asks, *first, *second;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "front");
	talk_process(&t, OTHER, "back");
	open_queue(CLIENT, WEB, 5, "/requests");
	open_queue(WEB, OTHER, 6, "/work");
	open_queue(OTHER, CLIENT, 8, "/answers");
	talk_await(&t, WEB, "mq_timedreceive", 5);
	talk_await(&t, OTHER, "mq_timedreceive", 6);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_send(&t, CLIENT, "mq_timedsend", 5, WEB, "mq_timedreceive");
		talk_await(&t, CLIENT, "mq_timedreceive", 8);
		talk_work(&t, 50);
		talk_send(&t, WEB, "mq_timedsend", 6, OTHER, "mq_timedreceive");
		talk_await(&t, WEB, "mq_timedreceive", 5);
		talk_work(&t, 70);
		talk_send(&t, OTHER, "mq_timedsend", 8, CLIENT, "mq_timedreceive");
		talk_await(&t, OTHER, "mq_timedreceive", 6);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	asks = talk_entry(model, "client");
	first = talk_entry(model, "front");
	second = talk_entry(model, "back");
	near(talk_calls(asks, first, LQN_SYNC), 1);
	near(talk_calls(first, second, LQN_FORWARD), 1);
	near(talk_calls(asks, second, LQN_SYNC), 0);
	done();
}
END_TEST

START_TEST(an_answer_on_a_connection_that_was_passed_on_was_forwarded)
{
	struct lqn_entry *asks, *first, *second;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "front");
	talk_process(&t, OTHER, "back");
	open_queue(WEB, OTHER, 6, "/work");
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_await(&t, OTHER, "mq_timedreceive", 6);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 50);
		talk_send(&t, WEB, "mq_timedsend", 6, OTHER, "mq_timedreceive");
		talk_await(&t, WEB, "recvfrom", 7);
		talk_work(&t, 70);
		/* back has the connection as its descriptor 11 */
		talk_send(&t, OTHER, "sendto", 11, CLIENT, "recvfrom");
		talk_await(&t, OTHER, "mq_timedreceive", 6);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	asks = talk_entry(model, "client");
	first = talk_entry(model, "front");
	second = talk_entry(model, "back");
	near(talk_calls(asks, first, LQN_SYNC), 1);
	near(talk_calls(first, second, LQN_FORWARD), 1);
	near(first->phase[0].demand, 52e-6);
	near(second->phase[0].demand, 72e-6);
	done();
}
END_TEST

/* Two threads of front, each with a connection; back answers all that they pass on. */
START_TEST(who_passes_requests_on_is_a_pool_of_its_own_threads)
{
	enum { WORKER = 6 };

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "front");
	talk_process(&t, OTHER, "back");
	open_queue(WEB, OTHER, 6, "/work");
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_connect(&t, CLIENT, 15, WEB, 8);
	talk_thread(&t, WEB, WORKER);
	talk_await(&t, OTHER, "mq_timedreceive", 6);
	talk_await(&t, WEB, "recvfrom", 7);
	talk_await(&t, WORKER, "recvfrom", 8);
	for (int i = 0; i < 2 * CYCLES; i++) {
		int front = i % 2 ? WORKER : WEB, asked = i % 2 ? 15 : 5;

		talk_work(&t, 30);
		talk_request(&t, CLIENT, asked, front);
		talk_work(&t, 50);
		talk_send(&t, front, "mq_timedsend", 6, OTHER, "mq_timedreceive");
		talk_await(&t, front, "recvfrom", i % 2 ? 8 : 7);
		talk_work(&t, 70);
		talk_send(&t, OTHER, "sendto", i % 2 ? 12 : 11, CLIENT, "recvfrom");
		talk_await(&t, OTHER, "mq_timedreceive", 6);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	ck_assert_uint_eq(talk_task(model, "front")->multiplicity, 2);
	ck_assert_uint_eq(talk_task(model, "back")->multiplicity, 1);
	near(talk_calls(talk_entry(model, "front"), talk_entry(model, "back"), LQN_FORWARD), 1);
	done();
}
END_TEST

START_TEST(work_handed_over_inside_a_process_stays_with_its_request)
{
	struct lqn_entry *page;
	enum { WORKER = 6 };

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_thread(&t, WEB, WORKER);
	talk_await(&t, WORKER, "futex", 4096);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 20);
		/* the reader hands it to a worker, which works on it and answers */
		feed(t.feed, "%ld c%d +futex 4096 129 1\n%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -futex 0\n%ld c%d -futex 1",
			t.now, WEB, t.now, WEB, WORKER, t.now, WORKER, WORKER, t.now, WORKER, t.now + 1, WEB);
		talk_work(&t, 1);
		talk_await(&t, WEB, "recvfrom", 7);
		talk_work(&t, 90);
		talk_send(&t, WORKER, "sendto", 7, CLIENT, "recvfrom");
		feed(t.feed, "%ld c%d +futex 4096 128 0\n%ld c%d sw %d>0 S", t.now, WORKER, t.now, WORKER, WORKER);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	page = talk_entry(model, "web");
	near(talk_calls(talk_entry(model, "client"), page, LQN_SYNC), 1);
	near(page->phase[0].demand + page->phase[1].demand, 114e-6);
	done();
}
END_TEST

/* The clients connect at the same time, so that the first request seems to be the other's: until its answer wakes who has asked. */
START_TEST(a_request_that_a_guess_gave_to_another_is_of_who_gets_the_answer)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_thread(&t, CLIENT, OTHER);
	/* of this one it is known where it has come to, and so of all of its process */
	talk_connect(&t, CLIENT, 9, WEB, 9);
	talk_await(&t, WEB, "recvfrom", 9);
	talk_request(&t, CLIENT, 9, WEB);
	talk_send(&t, WEB, "sendto", 9, CLIENT, "recvfrom");
	feed(t.feed, "%ld c%d +socket 1 1\n%ld c%d -socket 5\n%ld c%d +socket 1 1\n%ld c%d -socket 6", t.now, CLIENT, t.now, CLIENT, t.now, OTHER,
		t.now, OTHER);
	feed(t.feed, "%ld c%d +connect 5\n%ld c%d -connect 0\n%ld c%d +connect 6\n%ld c%d -connect 0", t.now + 1, CLIENT, t.now + 2, CLIENT,
		t.now + 3, OTHER, t.now + 4, OTHER);
	feed(t.feed, "%ld c%d +accept4 3\n%ld c%d -accept4 7\n%ld c%d +accept4 3\n%ld c%d -accept4 8", t.now + 5, WEB, t.now + 6, WEB,
		t.now + 7, WEB, t.now + 8, WEB);
	t.now += 9;
	for (int i = 0; i < CYCLES; i++) {
		send_and_await(CLIENT, 5);
		send_and_await(OTHER, 6);
		serve(8, CLIENT);
		talk_work(&t, 30);
		feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, CLIENT, t.now, CLIENT, CLIENT);
		serve(7, OTHER);
		talk_work(&t, 30);
		talk_sleep(&t, OTHER, 300);
		feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0", t.now, CLIENT,
			t.now, CLIENT, CLIENT, t.now, CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT);
	}
	model = talk_finish(&t, NULL);
	ck_assert_int_eq(talk_task(model, "client")->kind, LQN_TASK_CLIENT);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 2);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "web"), LQN_SYNC), 1);
	near(talk_entry(model, "web")->service, 102e-6);
	done();
}
END_TEST

START_TEST(marks_cut_the_window)
{
	const struct lqn_options options = {
		.begin = INT64_MIN, .end = INT64_MAX, .begin_mark = "openat:/mark/begin", .end_mark = "openat:/mark/end",
	};

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < 3 * CYCLES; i++) {
		if (i == CYCLES || i == 2 * CYCLES) {
			talk_mark(&t, CLIENT, i == CYCLES ? "/mark/begin" : "/mark/end");
		}
		/* outside it is another workload */
		talk_cycle(&t, CLIENT, WEB, i >= CYCLES && i < 2 * CYCLES ? 200 : 900, 400);
	}
	model = talk_finish(&t, &options);
	near(talk_entry(model, "web")->phase[0].demand, 202e-6);
	ck_assert_uint_eq(talk_entry(model, "web")->invocations, CYCLES);
	near((double) (model->window_end - model->window_begin), CYCLES * 633e3);
	done();
}
END_TEST

START_TEST(programs_that_begin_and_end_cut_the_window)
{
	const struct lqn_options options = {
		.begin = INT64_MIN, .end = INT64_MAX, .begin_mark = "exec:loadgen", .end_mark = "exit:loadgen",
	};

	talk_pair(&t, CLIENT, "client", WEB, "web");
	talk_process(&t, OTHER, "sh");
	for (int i = 0; i < 3 * CYCLES; i++) {
		if (i == CYCLES) {
			feed(t.feed, "%ld c%d exec %d /usr/bin/loadgen", t.now, OTHER, OTHER);
		} else if (i == 2 * CYCLES) {
			feed(t.feed, "%ld c%d exit %d", t.now, OTHER, OTHER);
		}
		talk_cycle(&t, CLIENT, WEB, i >= CYCLES && i < 2 * CYCLES ? 200 : 900, 400);
	}
	model = talk_finish(&t, &options);
	near(talk_entry(model, "web")->phase[0].demand, 202e-6);
	ck_assert_uint_eq(talk_entry(model, "web")->invocations, CYCLES);
	done();
}
END_TEST

START_TEST(times_cut_the_window)
{
	struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < 2 * CYCLES; i++) {
		if (i == CYCLES) {
			options.begin = t.now * 1000;
		}
		talk_cycle(&t, CLIENT, WEB, i < CYCLES ? 900 : 200, 400);
	}
	options.end = t.now * 1000;
	model = talk_finish(&t, &options);
	near(talk_entry(model, "web")->phase[0].demand, 202e-6);
	ck_assert_int_eq(model->window_begin, options.begin);
	ck_assert_int_eq(model->window_end, options.end);
	done();
}
END_TEST

static void expect_error(const struct lqn_options *options, enum lqn_analysis_error code, const char *word)
{
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;

	ck_assert_ptr_null(talk_model(&t, options, &paths, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(g_error_matches(error, LQN_ANALYSIS_ERROR, (int) code), "%d: %s", error->code, error->message);
	ck_assert_msg(strstr(error->message, word) != NULL, "%s", error->message);
	g_error_free(error);
}

START_TEST(what_cannot_be_modelled_is_said)
{
	struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .begin_mark = "openat:/no/such" };
	struct lqn_options turned = {
		.begin = INT64_MIN, .end = INT64_MAX, .begin_mark = "openat:/mark/begin", .end_mark = "openat:/mark/end",
	};
	struct lqn_options late = { .begin = INT64_MAX - 10, .end = INT64_MAX };

	talk_pair(&t, CLIENT, "client", WEB, "web");
	talk_cycle(&t, CLIENT, WEB, 200, 400);
	expect_error(&options, LQN_ANALYSIS_NO_MARK, "openat:/no/such");
	talk_pair(&t, CLIENT, "client", WEB, "web");
	talk_cycle(&t, CLIENT, WEB, 200, 400);
	expect_error(&late, LQN_ANALYSIS_NO_REQUESTS, "request");
	talk_pair(&t, CLIENT, "client", WEB, "web");
	talk_mark(&t, CLIENT, "/mark/end");
	talk_cycle(&t, CLIENT, WEB, 200, 400);
	talk_mark(&t, CLIENT, "/mark/begin");
	talk_cycle(&t, CLIENT, WEB, 200, 400);
	expect_error(&turned, LQN_ANALYSIS_NO_MARK, "before the begin mark");
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_sleep(&t, CLIENT, 100);
	expect_error(NULL, LQN_ANALYSIS_NO_REQUESTS, "request");
}
END_TEST

START_TEST(no_events_are_an_error)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };
	struct lqn_analysis *analysis = lqn_analysis_new(&options);
	struct lqn_path_report *paths;
	struct lqn_model *none = NULL;
	GError *error = NULL;

	ck_assert(!lqn_analysis_finish(analysis, &none, &paths, &error));
	ck_assert(g_error_matches(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_EVENTS));
	g_error_free(error);
	lqn_analysis_free(analysis);
}
END_TEST

START_TEST(a_device_that_is_waited_for_is_a_processor)
{
	struct lqn_entry *page, *operation;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 100);
		for (int k = 0; k < 2; k++) {
			/* 70 us until the device has done it, and 20 until the CPU has woken up */
			feed(t.feed, "%ld c%d +fsync 9\n%ld c%d issue 8 %d\n%ld c%d sw %d>0 D", t.now, WEB, t.now, WEB, WEB, t.now, WEB,
				WEB);
			talk_work(&t, 70);
			feed(t.feed, "%ld c0 +irq 9\n%ld c0 complete 8\n%ld c0 wk %d\n%ld c0 -irq 9\n%ld c%d sw 0>%d R\n%ld c%d -fsync 0",
				t.now, t.now, t.now, WEB, t.now, t.now + 20, WEB, WEB, t.now + 20, WEB);
			talk_work(&t, 20);
		}
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	page = talk_entry(model, "web");
	operation = talk_entry(model, "disk_0_8");
	ck_assert_int_eq(operation->task->kind, LQN_TASK_DISK);
	near(talk_calls(page, operation, LQN_SYNC), 2);
	near(g_array_index(page->phase[0].calls, struct lqn_model_call, 0).share[2], 1);
	near(operation->phase[0].demand, 70e-6);
	near(page->phase[0].think, 40e-6);
	near(page->phase[0].demand, 102e-6);
	done();
}
END_TEST

/* Two operations that the kernel could not tell apart by whom they ask, of 100 us each. */
START_TEST(spans_name_operations)
{
	struct lqn_task *web;
	bool browse = false, buy = false;

	talk_pair(&t, CLIENT, "client", WEB, "web");
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_span(&t, WEB, 2 * i + 1, true, i % 3 ? "browse" : "buy");
		talk_work(&t, 40);
		talk_span(&t, WEB, 2 * i + 2, true, "inner");
		talk_work(&t, 60);
		talk_span(&t, WEB, 2 * i + 2, false, "inner");
		talk_span(&t, WEB, 2 * i + 1, false, i % 3 ? "browse" : "buy");
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	web = talk_task(model, "web");
	ck_assert_uint_eq(web->entries->len, 2);
	for (guint i = 0; i < 2; i++) {
		const struct lqn_entry *entry = web->entries->pdata[i];

		ck_assert_msg(strstr(entry->name, "browse") || strstr(entry->name, "buy"), "%s", entry->name);
		browse |= strstr(entry->name, "browse") && entry->invocations > CYCLES / 2;
		buy |= strstr(entry->name, "buy") && entry->invocations < CYCLES / 2;
		near(entry->phase[0].demand, 102e-6);
	}
	ck_assert(browse && buy);
	done();
}
END_TEST

START_TEST(two_processes_of_one_name_are_one_task)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, OTHER, "client");
	talk_process(&t, WEB, "web");
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_connect(&t, OTHER, 5, WEB, 8);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 200);
		talk_send(&t, WEB, "sendto", 7, CLIENT, "recvfrom");
		talk_await(&t, WEB, "recvfrom", 8);
		talk_work(&t, 30);
		talk_request(&t, OTHER, 5, WEB);
		talk_work(&t, 200);
		talk_send(&t, WEB, "sendto", 8, OTHER, "recvfrom");
		talk_await(&t, WEB, "recvfrom", 7);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 2);
	near(talk_entry(model, "web")->throughput * 2, 4 / 868e-6);
	done();
}
END_TEST

START_TEST(services_that_call_each_other_make_no_cycle)
{
	struct lqn_task *web, *db;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_process(&t, DB, "db");
	talk_connect(&t, DB, 5, WEB, 8);
	talk_connect(&t, WEB, 5, DB, 7);
	talk_await(&t, DB, "recvfrom", 7);
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WEB);
		talk_work(&t, 100);
		/* db asks back before it answers */
		talk_send(&t, WEB, "sendto", 5, DB, "recvfrom");
		talk_await(&t, WEB, "recvfrom", 8);
		talk_work(&t, 50);
		talk_request(&t, DB, 5, WEB);
		talk_work(&t, 10);
		talk_send(&t, WEB, "sendto", 8, DB, "recvfrom");
		talk_await(&t, WEB, "recvfrom", 5);
		talk_work(&t, 20);
		talk_reply(&t, DB, 7, WEB);
		talk_work(&t, 10);
		talk_reply(&t, WEB, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	web = talk_task(model, "web");
	db = talk_task(model, "db");
	ck_assert(web != NULL && db != NULL);
	for (guint i = 0; i < db->entries->len; i++) {
		for (guint k = 0; k < web->entries->len; k++) {
			ck_assert_double_eq(talk_calls(db->entries->pdata[i], web->entries->pdata[k], LQN_SYNC), 0);
		}
	}
	ck_assert_uint_gt(model->notes->len, 0);
	done();
}
END_TEST

START_TEST(idle_processes_are_no_tasks)
{
	talk_pair(&t, CLIENT, "client", WEB, "web");
	talk_process(&t, OTHER, "cron");
	talk_sleep(&t, OTHER, 10);
	feed(t.feed, "%ld c%d sw %d>0 S", t.now, OTHER, OTHER);
	for (int i = 0; i < CYCLES; i++) {
		talk_cycle(&t, CLIENT, WEB, 200, 400);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(talk_task(model, "cron"));
	done();
}
END_TEST

/* Two kinds of clients ask web, which works so long for them. How many entries has it? */
static guint entries_for(enum lqn_entries entries, long one_us, long other_us)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .entries = entries };
	guint n;

	talk_start(&t);
	talk_process(&t, CLIENT, "reader");
	talk_process(&t, OTHER, "writer");
	talk_process(&t, DB, "web");
	talk_connect(&t, CLIENT, 5, DB, 7);
	talk_connect(&t, OTHER, 5, DB, 8);
	talk_await(&t, DB, "recvfrom", 7);
	for (int i = 0; i < 2 * CYCLES; i++) {
		int who = i % 2 ? OTHER : CLIENT, fd = i % 2 ? 8 : 7;

		talk_sleep(&t, who, 400);
		talk_request(&t, who, 5, DB);
		talk_work(&t, i % 2 ? other_us : one_us);
		talk_reply(&t, DB, fd, who);
	}
	model = talk_finish(&t, &options);
	n = talk_task(model, "web")->entries->len;
	done();
	return n;
}

START_TEST(entries_are_as_fine_as_is_asked_for)
{
	ck_assert_uint_eq(entries_for(LQN_ENTRIES_OPERATION, 100, 300), 2);
	ck_assert_uint_eq(entries_for(LQN_ENTRIES_OPERATION, 100, 100), 1);
	ck_assert_uint_eq(entries_for(LQN_ENTRIES_CALLERS, 100, 100), 2);
	ck_assert_uint_eq(entries_for(LQN_ENTRIES_TASK, 100, 300), 1);
}
END_TEST

START_TEST(calls_and_demands_tell_how_well_they_are_known)
{
	const struct lqn_model_call *call;
	struct lqn_entry *page;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_process(&t, DB, "db");
	talk_connect(&t, WEB, 5, DB, 7);
	talk_await(&t, DB, "recvfrom", 7);
	talk_connect(&t, CLIENT, 5, WEB, 7);
	talk_await(&t, WEB, "recvfrom", 7);
	for (int i = 0; i < 101; i++) {
		talk_sleep(&t, CLIENT, 400);
		talk_request(&t, CLIENT, 5, WEB);
		for (int k = 0; k < 1 + 2 * (i % 2); k++) {
			talk_request(&t, WEB, 5, DB);
			talk_work(&t, 50);
			talk_reply(&t, DB, 7, WEB);
		}
		talk_reply(&t, WEB, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	page = talk_entry(model, "web");
	call = &g_array_index(page->phase[0].calls, struct lqn_model_call, 0);
	/* one or three, as often: the mean is 2, the standard deviation 1 */
	ck_assert_uint_eq(page->invocations, 100);
	near(call->mean, 2);
	near(call->cvsq, 0.25 * 100 / 99);
	near(call->ci, 1.96 * sqrt(1 / 99.0));
	near(call->share[1], 0.5);
	near(call->share[3], 0.5);
	near(call->share[0] + call->share[2], 0);
	/* 52 or 152 us of db, within it; all calls are alike to the client */
	near(page->service_ci / page->service, call->ci / call->mean);
	near(g_array_index(talk_entry(model, "client")->phase[0].calls, struct lqn_model_call, 0).ci, 0);
	done();
}
END_TEST

SUITE("model", requests_and_replies_are_synchronous_calls, nested_requests_stay_inside_their_caller,
	work_after_the_reply_is_a_second_phase, what_a_client_computes_after_the_answer_is_not_thought_as_well,
	messages_without_an_answer_are_asynchronous,
	an_answer_from_further_down_was_forwarded, an_answer_on_a_connection_that_was_passed_on_was_forwarded,
	who_passes_requests_on_is_a_pool_of_its_own_threads,
	work_handed_over_inside_a_process_stays_with_its_request,
	a_request_that_a_guess_gave_to_another_is_of_who_gets_the_answer, marks_cut_the_window,
	programs_that_begin_and_end_cut_the_window, times_cut_the_window,
	what_cannot_be_modelled_is_said, no_events_are_an_error, a_device_that_is_waited_for_is_a_processor,
	spans_name_operations, two_processes_of_one_name_are_one_task, services_that_call_each_other_make_no_cycle,
	idle_processes_are_no_tasks, entries_are_as_fine_as_is_asked_for, calls_and_demands_tell_how_well_they_are_known)
