/* SPDX-License-Identifier: MIT */
/* Models of traces without system calls: switches and wakings are all there is. */
#include "talk.h"

#include "suite.h"

#define CYCLES 60
enum { CLIENT = 1, WEB = 3, DB = 4, LOGGER = 5, CLIENT_2 = 6 };	/* thread 2 makes the threads of the kernel */

static struct talk t;
static struct lqn_model *model;

static void leave(int thread)
{
	feed(t.feed, "%ld c%d sw %d>0 S", t.now, thread, thread);
}

/* Both run then, a microsecond later. */
static void wake(int thread, int woken)
{
	long now = t.now++;

	feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R", now, thread, woken, t.now, woken, woken);
}

static void timer(int thread)
{
	feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R", t.now, thread, t.now, thread,
		thread, t.now, thread, t.now, thread, thread);
}

static void start(void)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, WEB, "web");
	talk_process(&t, DB, "db");
	talk_work(&t, 5);
	leave(DB);
	leave(WEB);
}

static void sleep_and_wake(int thread, long us)
{
	leave(thread);
	talk_work(&t, us);
	timer(thread);
}

START_TEST(wakings_there_and_back_are_a_call)
{
	struct lqn_entry *asks, *page, *query;
	struct lqn_task *client;

	start();
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		wake(CLIENT, WEB);
		leave(CLIENT);
		talk_work(&t, 100);
		wake(WEB, DB);
		leave(WEB);
		talk_work(&t, 50);
		wake(DB, WEB);
		leave(DB);
		talk_work(&t, 20);
		wake(WEB, CLIENT);
		leave(WEB);
		sleep_and_wake(CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	client = talk_task(model, "client");
	asks = talk_entry(model, "client");
	page = talk_entry(model, "web");
	query = talk_entry(model, "db");
	ck_assert_int_eq(client->kind, LQN_TASK_CLIENT);
	near(talk_calls(asks, page, LQN_SYNC), 1);
	near(talk_calls(page, query, LQN_SYNC), 1);
	near(talk_calls(asks, query, LQN_SYNC), 0);
	near(page->phase[0].demand, 121e-6);
	near(query->phase[0].demand, 50e-6);
	near(client->think, 400e-6);
	near(client->response, 204e-6);
	lqn_model_free(model);
}
END_TEST

START_TEST(who_never_wakes_the_caller_does_not_answer)
{
	struct lqn_entry *page, *log;

	start();
	talk_process(&t, LOGGER, "logger");
	leave(LOGGER);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		wake(CLIENT, WEB);
		leave(CLIENT);
		talk_work(&t, 60);
		wake(WEB, LOGGER);
		talk_work(&t, 40);
		leave(LOGGER);
		talk_work(&t, 10);
		wake(WEB, CLIENT);
		leave(WEB);
		sleep_and_wake(CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	page = talk_entry(model, "web");
	log = talk_entry(model, "logger");
	near(talk_calls(page, log, LQN_ASYNC), 1);
	near(talk_calls(page, log, LQN_SYNC), 0);
	near(page->phase[0].demand, 110e-6);
	lqn_model_free(model);
}
END_TEST

/* The second client asks while web serves the first: that wakes nobody, only its answer does. */
START_TEST(a_busy_server_needs_no_waking)
{
	struct lqn_entry *page;

	start();
	talk_process(&t, CLIENT_2, "client");
	for (int i = 0; i < CYCLES; i++) {
		int first = i % 2 ? CLIENT : CLIENT_2, second = i % 2 ? CLIENT_2 : CLIENT;

		talk_work(&t, 30);
		wake(first, WEB);
		leave(first);
		talk_work(&t, 50);
		leave(second);
		talk_work(&t, 50);
		wake(WEB, first);
		talk_work(&t, 100);
		wake(WEB, second);
		leave(WEB);
		leave(first);
		leave(second);
		talk_work(&t, 400);
		timer(first);
		timer(second);
	}
	model = talk_finish(&t, NULL);
	page = talk_entry(model, "web");
	near(page->throughput, 2 / 633e-6);
	near(talk_calls(talk_entry(model, "client"), page, LQN_SYNC), 1);
	near(page->phase[0].demand + page->phase[1].demand, 100e-6);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 2);
	lqn_model_free(model);
}
END_TEST

/* Who reads tells a writer that there is room again: it looks, and waits on. */
START_TEST(a_waking_that_told_nothing_is_no_answer)
{
	struct lqn_entry *asks, *page;

	start();
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		wake(CLIENT, WEB);
		leave(CLIENT);
		talk_work(&t, 5);
		wake(WEB, CLIENT);
		talk_work(&t, 3);
		leave(CLIENT);
		talk_work(&t, 92);
		wake(WEB, CLIENT);
		leave(WEB);
		sleep_and_wake(CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	asks = talk_entry(model, "client");
	page = talk_entry(model, "web");
	near(talk_calls(asks, page, LQN_SYNC), 1);
	near(page->phase[0].demand, 100e-6);
	near(talk_task(model, "client")->response, 133e-6);
	lqn_model_free(model);
}
END_TEST

SUITE("chains", wakings_there_and_back_are_a_call, who_never_wakes_the_caller_does_not_answer, a_busy_server_needs_no_waking,
	a_waking_that_told_nothing_is_no_answer)
