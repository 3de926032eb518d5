/* SPDX-License-Identifier: MIT */
/* What real servers and load generators do that a textbook's do not. */
#include "talk.h"

#include <string.h>

#include "suite.h"

#define CYCLES 60
enum { CLIENT = 1, SERVER = 2, CLIENT_2 = 3, CONSUMER = 4, CHILD = 5, CHILD_2 = 7 };

static struct talk t;
static struct lqn_model *model;

static void start(void)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
}

static void ask(int client, int fd, int server, int made)
{
	talk_work(&t, 10);
	talk_request(&t, client, fd, server);
	talk_work(&t, 50);
	talk_reply(&t, server, made, client);
}

static void expect_clients(const char *name, guint customers)
{
	const struct lqn_task *task = talk_task(model, name);

	ck_assert_ptr_nonnull(task);
	ck_assert_int_eq(task->kind, LQN_TASK_CLIENT);
	ck_assert_uint_eq(task->multiplicity, customers);
}

/* As databases do: the server speaks first, once. */
START_TEST(a_greeting_is_no_request)
{
	start();
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, CLIENT, "recvfrom", 5);
	talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		ask(CLIENT, 5, SERVER, 7);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	expect_clients("client", 1);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	ck_assert_ptr_null(talk_task(model, "server_2"));
	lqn_model_free(model);
}
END_TEST

/* The request has a trailer, which the server reads when it has answered. */
START_TEST(who_answers_before_the_end_of_the_request_has_read_it)
{
	start();
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		long now;

		talk_work(&t, 10);
		now = t.now++;
		feed(t.feed, "%ld c1 +sendto 5 64\n%ld c1 wk 2\n%ld c2 sw 0>2 R\n%ld c1 -sendto 64\n%ld c2 -recvfrom 56\n"
			"%ld c1 +recvfrom 5\n%ld c1 sw 1>0 S", now, now, now, now + 1, now + 1, now + 1, now + 1);
		talk_work(&t, 70);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		talk_work(&t, 3);
		feed(t.feed, "%ld c2 +recvfrom 7\n%ld c2 -recvfrom 8", t.now - 1, t.now);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	near(talk_entry(model, "server")->service, 71e-6);
	lqn_model_free(model);
}
END_TEST

/* Head and body are two messages; in between the server works. */
START_TEST(an_answer_of_two_messages_is_one)
{
	struct lqn_entry *server;

	start();
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 10);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 50);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 40);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	expect_clients("client", 1);
	server = talk_entry(model, "server");
	near(talk_calls(talk_entry(model, "client"), server, LQN_SYNC), 1);
	ck_assert(!server->has_phase2);
	near(server->phase[0].demand, 94e-6);
	near(talk_task(model, "client")->response, 104e-6);
	lqn_model_free(model);
}
END_TEST

/* A descriptor by which a process wakes its own loop. */
START_TEST(what_a_process_sends_itself_is_no_call)
{
	start();
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	feed(t.feed, "%ld c1 +pipe2\n%ld c1 -pipe2 0 3 4", t.now, t.now);
	for (int i = 0; i < CYCLES; i++) {
		feed(t.feed, "%ld c1 +write 4 1\n%ld c1 -write 1\n%ld c1 +read 3 1\n%ld c1 -read 1", t.now, t.now + 1, t.now + 2,
			t.now + 3);
		talk_work(&t, 5);
		ask(CLIENT, 5, SERVER, 7);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	expect_clients("client", 1);
	ck_assert_ptr_null(talk_task(model, "client_2"));
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	lqn_model_free(model);
}
END_TEST

/* The loop has been woken, and reads what is there. */
static void take(int fd)
{
	feed(t.feed, "%ld c%d +recvfrom %d 4096\n%ld c%d -recvfrom 64", t.now, SERVER, fd, t.now + 1, SERVER);
	talk_work(&t, 1);
}

/*
 * A loop leaves what is asked to a thread of its own, which tells it by a pipe when it has done so; then it
 * answers, in the same go in which
 * it has taken up what another client asks.
 */
START_TEST(what_its_own_threads_have_told_it_is_no_delivery)
{
	enum { WORD = 77 };

	start();
	talk_process(&t, CLIENT_2, "client");
	talk_thread(&t, SERVER, CHILD);
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CLIENT_2, 5, SERVER, 8);
	feed(t.feed, "%ld c2 +pipe2\n%ld c2 -pipe2 0 3 4", t.now, t.now);
	talk_futex_wait(&t, CHILD, WORD);
	talk_await(&t, SERVER, "epoll_wait", 9);
	for (int i = 0; i < 2 * CYCLES; i++) {
		int asks = i % 2 ? CLIENT_2 : CLIENT, waits = i % 2 ? CLIENT : CLIENT_2;

		talk_send(&t, asks, "sendto", 5, SERVER, "epoll_wait");
		talk_await(&t, asks, "recvfrom", 5);
		take(i % 2 ? 8 : 7);
		if (i > 0) {
			feed(t.feed, "%ld c5 +write 4 1\n%ld c5 -write 1\n%ld c2 +read 3 1\n"
				"%ld c2 -read 1", t.now, t.now + 1, t.now + 2, t.now + 3);
			talk_work(&t, 5);
			talk_futex_wait(&t, CHILD, WORD);
			talk_send(&t, SERVER, "sendto", i % 2 ? 7 : 8, waits, "recvfrom");
		}
		talk_futex_wake(&t, SERVER, WORD, CHILD);
		talk_await(&t, SERVER, "epoll_wait", 9);
		talk_work(&t, 20);
		if (i > 0) {
			talk_sleep(&t, waits, 40);
		}
	}
	model = talk_finish(&t, NULL);
	expect_clients("client", 2);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	ck_assert_ptr_null(talk_task(model, "client_2"));
	lqn_model_free(model);
}
END_TEST

/* A broker confirms what it is sent, and delivers it; the consumer acknowledges each delivery before it gets the next. */
START_TEST(deliveries_of_a_broker_are_asynchronous)
{
	struct lqn_entry *producer, *broker, *consumer;

	start();
	talk_process(&t, CONSUMER, "consumer");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CONSUMER, 6, SERVER, 8);
	talk_await(&t, SERVER, "epoll_wait", 9);
	talk_send(&t, CONSUMER, "sendto", 6, SERVER, "epoll_wait");	/* subscribes */
	take(8);
	talk_await(&t, CONSUMER, "recvfrom", 6);
	talk_send(&t, SERVER, "sendto", 8, CONSUMER, "recvfrom");
	talk_await(&t, CONSUMER, "recvfrom", 6);
	for (int i = 0; i < 2 * CYCLES; i++) {
		talk_await(&t, SERVER, "epoll_wait", 9);
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "epoll_wait");
		talk_await(&t, CLIENT, "recvfrom", 5);
		take(7);
		talk_work(&t, 30);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		talk_send(&t, SERVER, "sendto", 8, CONSUMER, "recvfrom");
		talk_await(&t, SERVER, "epoll_wait", 9);
		talk_work(&t, 40);
		talk_send(&t, CONSUMER, "sendto", 6, SERVER, "epoll_wait");
		talk_await(&t, CONSUMER, "recvfrom", 6);
		take(8);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	producer = talk_entry(model, "client");
	broker = talk_entry(model, "server");
	consumer = talk_entry(model, "consumer");
	near(talk_calls(producer, broker, LQN_SYNC), 1);
	near(talk_calls(broker, consumer, LQN_ASYNC), 1);
	ck_assert_double_eq(talk_calls(consumer, broker, LQN_SYNC), 0);
	near(consumer->phase[0].demand, 42e-6);
	lqn_model_free(model);
}
END_TEST

/* A load generator closes its connections, and opens others, for another kind of request. */
START_TEST(customers_are_as_many_as_at_once)
{
	int first[2], second[2];

	start();
	talk_process(&t, CLIENT_2, "client");
	for (int phase = 0; phase < 2; phase++) {
		first[phase] = 5 + phase;
		second[phase] = 15 + phase;
		talk_connect(&t, CLIENT, first[phase], SERVER, 7 + phase);
		talk_connect(&t, CLIENT_2, second[phase], SERVER, 17 + phase);
		for (int i = 0; i < CYCLES; i++) {
			talk_await(&t, SERVER, "recvfrom", 7 + phase);
			talk_work(&t, 10);
			talk_request(&t, CLIENT, first[phase], SERVER);
			talk_work(&t, 50);
			talk_send(&t, SERVER, "sendto", 7 + phase, CLIENT, "recvfrom");
			talk_await(&t, SERVER, "recvfrom", 17 + phase);
			talk_request(&t, CLIENT_2, second[phase], SERVER);
			talk_work(&t, 50);
			talk_send(&t, SERVER, "sendto", 17 + phase, CLIENT_2, "recvfrom");
		}
	}
	model = talk_finish(&t, NULL);
	expect_clients("client", 2);
	lqn_model_free(model);
}
END_TEST

/* A generator with a connection to each of two servers asks both, and then takes the answers. */
START_TEST(what_a_loop_of_customers_computes_is_done_by_its_thread)
{
	const struct lqn_task *loop;
	const struct lqn_entry *cycle;

	start();
	talk_process(&t, CHILD, "server");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CLIENT, 6, CHILD, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	talk_await(&t, CHILD, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 20);
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "recvfrom");
		talk_work(&t, 20);
		talk_send(&t, CLIENT, "sendto", 6, CHILD, "recvfrom");
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 50);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_await(&t, CLIENT, "recvfrom", 6);
		talk_work(&t, 50);
		talk_reply(&t, CHILD, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_clients("client", 2);
	loop = talk_task(model, "client_loop");
	ck_assert_ptr_nonnull(loop);
	ck_assert_int_eq(loop->kind, LQN_TASK_LOOP);
	ck_assert_uint_eq(loop->multiplicity, 1);
	cycle = talk_entry(model, "client");
	ck_assert_double_lt(cycle->phase[0].demand, 1e-6);
	near(talk_calls(cycle, loop->entries->pdata[0], LQN_SYNC), 1);
	near(((const struct lqn_entry *) loop->entries->pdata[0])->phase[0].demand, 22e-6);
	lqn_model_free(model);
}
END_TEST

/* Both are called `server`: the one asks, and computes between its requests, the other serves. */
START_TEST(programs_of_one_name_that_serve_and_ask_have_their_own_cpu_time)
{
	const struct lqn_task *asks = NULL, *serves = NULL;

	talk_start(&t);
	talk_process(&t, CLIENT, "server");
	talk_process(&t, SERVER, "server");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 200);
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 90);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_work(&t, 40);
	}
	model = talk_finish(&t, NULL);
	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			const struct lqn_task *task = processor->tasks->pdata[k];

			asks = task->kind == LQN_TASK_CLIENT ? task : asks;
			serves = task->kind == LQN_TASK_SERVER ? task : serves;
		}
	}
	ck_assert_ptr_nonnull(asks);
	ck_assert_ptr_nonnull(serves);
	near(((const struct lqn_entry *) asks->entries->pdata[0])->phase[0].demand, 72e-6);
	near(((const struct lqn_entry *) serves->entries->pdata[0])->phase[0].demand, 92e-6);
	near(asks->utilization / asks->throughput, 72e-6);
	near(serves->utilization / serves->throughput, 92e-6);
	lqn_model_free(model);
}
END_TEST

/* Two processes of one service: the second waits in a word of its own, until the first lets it go on. */
START_TEST(what_processes_of_a_service_wait_for_among_each_other_is_a_delay)
{
	start();
	talk_process(&t, CHILD, "server");
	talk_process(&t, CLIENT_2, "client");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CLIENT_2, 5, CHILD, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	talk_await(&t, CHILD, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_request(&t, CLIENT_2, 5, CHILD);
		talk_work(&t, 20);
		talk_futex_wait(&t, CHILD, 8192);
		talk_work(&t, 60);
		talk_futex_wake(&t, SERVER, 12288, CHILD);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_work(&t, 10);
		talk_reply(&t, CHILD, 7, CLIENT_2);
		talk_sleep(&t, CLIENT, 200);
		talk_sleep(&t, CLIENT_2, 50);
	}
	model = talk_finish(&t, NULL);
	/* of every other request */
	near(talk_entry(model, "server")->phase[0].think, 30e-6);
	lqn_model_free(model);
}
END_TEST

/* Another has its CPU for 40 us, and other CPUs are idle. */
START_TEST(who_is_off_the_cpu_beside_an_idle_one_is_delayed)
{
	start();
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 10);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 30);
		feed(t.feed, "%ld c%d sw %d>99 R\n%ld c%d sw 99>%d S", t.now, SERVER, SERVER, t.now + 40, SERVER, SERVER);
		talk_work(&t, 60);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	near(talk_entry(model, "server")->phase[0].think, 40e-6);
	near(talk_entry(model, "server")->phase[0].demand, 52e-6);
	lqn_model_free(model);
}
END_TEST

/* The client has no CPU while the server works for it, though one is idle, and would not go on with one. */
START_TEST(who_is_off_the_cpu_while_it_is_worked_for_waits_for_the_answer)
{
	start();
	talk_process(&t, CONSUMER, "other");
	talk_await(&t, CONSUMER, "recvfrom", 99);
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 10);
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "recvfrom");
		feed(t.feed, "%ld c%d sw %d>99 R", t.now, CLIENT, CLIENT);
		talk_work(&t, 60);
		feed(t.feed, "%ld c%d +sendto 7 64\n%ld c%d -sendto 64", t.now, SERVER, t.now + 1, SERVER);
		t.now++;
		talk_await(&t, SERVER, "recvfrom", 7);
		feed(t.feed, "%ld c%d sw 99>%d S\n%ld c%d +recvfrom 5 64\n%ld c%d -recvfrom 64", t.now, CLIENT, CLIENT, t.now, CLIENT, t.now + 1,
			CLIENT);
		t.now++;
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	ck_assert_double_eq(talk_entry(model, "client")->phase[0].think, 0);
	lqn_model_free(model);
}
END_TEST

/* The thread sleeps until a time of the clock. */
static void sleep_until(int thread, long us)
{
	long now = t.now;

	t.now = us;
	feed(t.feed, "%ld c%d +clock_nanosleep 1\n%ld c%d sw %d>0 S\n%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n"
		"%ld c%d sw 0>%d R\n%ld c%d -clock_nanosleep 0", now, thread, now, thread, thread, us, thread, us, thread, thread, us,
		thread, us, thread, thread, us, thread);
}

/* Responses of 60 and 160 us in turn. */
static void sleeping_source(bool paced)
{
	long next;

	start();
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	next = t.now;
	for (int i = 0; i < 2 * CYCLES; i++) {
		next += 400 + (i * 37) % 50;
		sleep_until(CLIENT, paced ? next : t.now + 300 + (i * 37) % 50);
		talk_work(&t, 10);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, i % 2 ? 150 : 50);
		talk_reply(&t, SERVER, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
}

/* As some languages do whenever they sleep. */
START_TEST(sleeps_until_a_time_are_not_yet_an_open_source)
{
	sleeping_source(false);
	expect_clients("client", 1);
	lqn_model_free(model);
}
END_TEST

START_TEST(a_source_that_keeps_its_pace_is_open)
{
	sleeping_source(true);
	ck_assert_ptr_nonnull(talk_task(model, "client"));
	ck_assert_int_eq(talk_task(model, "client")->kind, LQN_TASK_OPEN);
	lqn_model_free(model);
}
END_TEST

/* As a database forks: the child serves the one connection that its parent has accepted, waiting for descriptors. */
START_TEST(a_process_for_each_connection_is_no_pool)
{
	const struct lqn_task *server;

	start();
	talk_process(&t, CLIENT_2, "client");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	feed(t.feed, "%ld c2 fork 2 5\n%ld c5 new 5\n%ld c5 sw 0>5 R\n%ld c5 name 5 server", t.now, t.now, t.now, t.now);
	talk_connect(&t, CLIENT_2, 5, SERVER, 8);
	feed(t.feed, "%ld c2 fork 2 7\n%ld c7 new 7\n%ld c7 sw 0>7 R\n%ld c7 name 7 server", t.now, t.now, t.now, t.now);
	talk_await(&t, CHILD, "recvfrom", 7);
	talk_await(&t, CHILD_2, "recvfrom", 8);
	for (int i = 0; i < CYCLES; i++) {
		ask(CLIENT, 5, CHILD, 7);
		ask(CLIENT_2, 5, CHILD_2, 8);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	server = talk_task(model, "server");
	ck_assert_ptr_nonnull(server);
	ck_assert_int_eq(server->sched, LQN_SCHED_INF);
	lqn_model_free(model);
}
END_TEST

/*
 * As who writes a journal when the answer is out: 21 us of CPU time, one of them for the call to come back, 70 us for the device,
 * and a rest of 90 us.
 */
START_TEST(disks_and_sleeps_after_the_reply_are_of_the_second_phase)
{
	struct lqn_entry *server, *operation;

	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 100);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, CLIENT, t.now, CLIENT, CLIENT);
		talk_work(&t, 20);
		feed(t.feed, "%ld c%d +fsync 9\n%ld c%d issue 8 %d\n%ld c%d sw %d>0 D", t.now, SERVER, t.now, SERVER, SERVER, t.now, SERVER,
			SERVER);
		talk_work(&t, 70);
		feed(t.feed, "%ld c0 +irq 9\n%ld c0 complete 8\n%ld c0 wk %d\n%ld c0 -irq 9\n%ld c%d sw 0>%d R\n%ld c%d -fsync 0",
			t.now, t.now, t.now, SERVER, t.now, t.now, SERVER, SERVER, t.now, SERVER);
		talk_sleep(&t, SERVER, 90);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_work(&t, 300);
		feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0",
			t.now, CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT);
	}
	model = talk_finish(&t, NULL);
	server = talk_entry(model, "server");
	operation = talk_entry(model, "disk_0_8");
	ck_assert(server->has_phase2);
	near(server->phase[0].demand, 102e-6);
	near(server->phase[0].think, 0);
	near(server->phase[1].demand, 21e-6);
	near(server->phase[1].think, 90e-6);
	near(talk_calls(server, operation, LQN_SYNC), 1);
	ck_assert_uint_eq(server->phase[0].calls->len, 0);
	near(operation->phase[0].demand, 70e-6);
	lqn_model_free(model);
}
END_TEST

SUITE("servers", a_greeting_is_no_request, who_answers_before_the_end_of_the_request_has_read_it,
	an_answer_of_two_messages_is_one, what_a_process_sends_itself_is_no_call,
	what_its_own_threads_have_told_it_is_no_delivery, deliveries_of_a_broker_are_asynchronous,
	customers_are_as_many_as_at_once, what_a_loop_of_customers_computes_is_done_by_its_thread,
	programs_of_one_name_that_serve_and_ask_have_their_own_cpu_time,
	what_processes_of_a_service_wait_for_among_each_other_is_a_delay,
	who_is_off_the_cpu_beside_an_idle_one_is_delayed, who_is_off_the_cpu_while_it_is_worked_for_waits_for_the_answer,
	sleeps_until_a_time_are_not_yet_an_open_source,
	a_source_that_keeps_its_pace_is_open,
	a_process_for_each_connection_is_no_pool, disks_and_sleeps_after_the_reply_are_of_the_second_phase)
