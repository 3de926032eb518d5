/* SPDX-License-Identifier: MIT */
/* Systems of several layers: who asks whom where a message could be taken for another's, an answer for a request. */
#include "talk.h"

#include <string.h>

#include "suite.h"

#define CYCLES 60
#define WORD 8192		/* of those who ask the store */
#define ANSWER 12288
#define INNER 16384
enum { CLIENT = 1, FRONT = 2, BACK = 3, OTHER = 4, WORKER = 5, PARENT = 9, FIRST_SHORT = 10 };

static struct talk t;
static struct lqn_model *model;

/* A process of one thread that begins now, and is called so. */
static void begin(int thread, const char *name)
{
	long now = t.now++;

	feed(t.feed, "%ld c0 name %d %s\n%ld c0 fork %d %d\n"
		"%ld c%d sw 0>%d R", now, thread, name, now, PARENT, thread, now, thread, thread);
}

static void start(const char *front, const char *back)
{
	talk_start(&t);
	begin(CLIENT, "client");
	begin(FRONT, front);
	begin(BACK, back);
}

static void open_queue(int a, int b, int fd, const char *name)
{
	feed(t.feed, "%ld c%d +mq_open %s\n%ld c%d -mq_open %d\n%ld c%d +mq_open %s\n%ld c%d -mq_open %d", t.now, a, name,
		t.now, a, fd, t.now, b, name, t.now, b, fd);
}

/* From one queue's reader to that of another. */
static void pass(int from, int fd, int to)
{
	talk_send(&t, from, "mq_timedsend", fd, to, "mq_timedreceive");
}

static void datagrams(int thread, int fd, bool bound)
{
	feed(t.feed, "%ld c%d +socket 1 2\n%ld c%d -socket %d", t.now, thread, t.now, thread, fd);
	if (bound) {
		feed(t.feed, "%ld c%d +bind %d\n%ld c%d -bind 0", t.now, thread, fd, t.now, thread);
	}
}

static void expect_calls(const char *from, const char *to, enum lqn_call_kind kind, double calls)
{
	near(talk_calls(talk_entry(model, from), talk_entry(model, to), kind), calls);
}

static void expect_tasks(guint tasks)
{
	guint found = 0;

	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			const struct lqn_task *task = processor->tasks->pdata[k];

			found += task->kind == LQN_TASK_CLIENT || task->kind == LQN_TASK_SERVER;
		}
	}
	ck_assert_uint_eq(found, tasks);
}

/*
 * The front's first request to the store wakes nobody, for all who serve there are busy. So the first wake between the two is
 * an answer: the front was in the middle of what the client has asked it for.
 */
START_TEST(who_waits_while_it_works_for_another_has_asked)
{
	start("front", "store");
	talk_connect(&t, CLIENT, 5, FRONT, 7);
	talk_await(&t, FRONT, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, FRONT);
		talk_work(&t, 40);
		if (i == 0) {
			talk_futex_wake_nobody(&t, FRONT, WORD);
		} else {
			talk_futex_wake(&t, FRONT, WORD, BACK);
		}
		talk_futex_wait(&t, FRONT, ANSWER);
		talk_work(&t, 60);
		talk_futex_wake(&t, BACK, ANSWER, FRONT);
		talk_futex_wait(&t, BACK, WORD);
		talk_work(&t, 10);
		talk_reply(&t, FRONT, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_tasks(3);
	expect_calls("client", "front", LQN_SYNC, 1);
	expect_calls("front", "store", LQN_SYNC, 1);
	expect_calls("store", "front", LQN_SYNC, 0);
	lqn_model_free(model);
}
END_TEST

/* What nobody will answer is handed to a worker, who asks another for it. */
START_TEST(one_way_work_that_is_handed_over_is_the_workers)
{
	start("front", "back");
	talk_connect(&t, CLIENT, 5, FRONT, 7);
	talk_connect(&t, FRONT, 6, BACK, 9);
	talk_thread(&t, FRONT, WORKER);
	talk_futex_wait(&t, WORKER, INNER);
	talk_await(&t, FRONT, "recvfrom", 7);
	talk_await(&t, BACK, "recvfrom", 9);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_send(&t, CLIENT, "sendto", 5, FRONT, "recvfrom");
		talk_work(&t, 20);
		talk_futex_wake(&t, FRONT, INNER, WORKER);
		talk_await(&t, FRONT, "recvfrom", 7);
		talk_work(&t, 50);
		talk_request(&t, WORKER, 6, BACK);
		talk_work(&t, 70);
		talk_reply(&t, BACK, 9, WORKER);
		talk_work(&t, 10);
		talk_futex_wait(&t, WORKER, INNER);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_tasks(3);
	expect_calls("client", "front", LQN_ASYNC, 1);
	expect_calls("front", "back", LQN_SYNC, 1);
	near(talk_entry(model, "front")->phase[0].demand, 87e-6);
	lqn_model_free(model);
}
END_TEST

/* It sleeps as it serves, and sends when it awakes, as clients do; but it was asked before it ever sent anything. */
START_TEST(who_sleeps_as_it_serves_is_no_client)
{
	start("front", "back");
	open_queue(CLIENT, FRONT, 5, "/front");
	open_queue(CLIENT, FRONT, 6, "/to-client");
	open_queue(FRONT, BACK, 8, "/back");
	open_queue(FRONT, BACK, 9, "/to-front");
	talk_await(&t, FRONT, "mq_timedreceive", 5);
	talk_await(&t, BACK, "mq_timedreceive", 8);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		pass(CLIENT, 5, FRONT);
		talk_await(&t, CLIENT, "mq_timedreceive", 6);
		talk_work(&t, 40);
		pass(FRONT, 8, BACK);
		talk_await(&t, FRONT, "mq_timedreceive", 9);
		talk_sleep(&t, BACK, 100);
		talk_work(&t, 20);
		pass(BACK, 9, FRONT);
		talk_await(&t, BACK, "mq_timedreceive", 8);
		talk_work(&t, 10);
		pass(FRONT, 6, CLIENT);
		talk_await(&t, FRONT, "mq_timedreceive", 5);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_tasks(3);
	expect_calls("client", "front", LQN_SYNC, 1);
	expect_calls("front", "back", LQN_SYNC, 1);
	lqn_model_free(model);
}
END_TEST

/*
 * As there, but through sockets for datagrams, at several of which the back polls: who has sent what it reads
 * is found out when enough has been
 * seen, long after it has sent to others.
 */
START_TEST(who_was_asked_first_is_known_by_times)
{
	start("front", "back");
	talk_process(&t, OTHER, "last");
	talk_connect(&t, CLIENT, 5, FRONT, 7);
	feed(t.feed, "%ld c%d +epoll_create1\n%ld c%d -epoll_create1 4", t.now, BACK, t.now, BACK);
	datagrams(FRONT, 6, false);
	datagrams(FRONT, 9, true);
	datagrams(BACK, 5, true);
	datagrams(BACK, 6, false);
	datagrams(BACK, 7, true);
	datagrams(BACK, 8, false);
	datagrams(OTHER, 5, true);
	datagrams(OTHER, 6, false);
	talk_await(&t, FRONT, "recvfrom", 7);
	talk_await(&t, OTHER, "recvfrom", 5);
	talk_await(&t, BACK, "epoll_wait", 4);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, FRONT);
		talk_work(&t, 40);
		talk_send(&t, FRONT, "sendto", 6, BACK, "epoll_wait");
		talk_await(&t, FRONT, "recvfrom", 9);
		feed(t.feed, "%ld c%d +recvfrom 5 64\n%ld c%d -recvfrom 64", t.now, BACK, t.now, BACK);
		talk_sleep(&t, BACK, 100);
		talk_work(&t, 20);
		talk_send(&t, BACK, "sendto", 6, OTHER, "recvfrom");
		talk_await(&t, BACK, "recvfrom", 7);
		talk_work(&t, 20);
		talk_send(&t, OTHER, "sendto", 6, BACK, "recvfrom");
		talk_await(&t, OTHER, "recvfrom", 5);
		talk_work(&t, 10);
		talk_send(&t, BACK, "sendto", 8, FRONT, "recvfrom");
		talk_await(&t, BACK, "epoll_wait", 4);
		talk_work(&t, 10);
		talk_reply(&t, FRONT, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_tasks(4);
	expect_calls("client", "front", LQN_SYNC, 1);
	expect_calls("front", "back", LQN_SYNC, 1);
	expect_calls("back", "last", LQN_SYNC, 1);
	lqn_model_free(model);
}
END_TEST

/* The client asks the back itself, too, so that the front is no nearer to the clients than whom it asks. */
START_TEST(a_queue_of_requests_is_none_of_answers)
{
	start("front", "back");
	begin(OTHER, "middle");
	open_queue(CLIENT, BACK, 3, "/back");
	open_queue(CLIENT, FRONT, 5, "/front");
	open_queue(CLIENT, FRONT, 6, "/to-client");
	open_queue(CLIENT, BACK, 6, "/to-client");
	open_queue(FRONT, OTHER, 8, "/middle");
	open_queue(FRONT, OTHER, 9, "/to-front");
	open_queue(OTHER, BACK, 3, "/back");
	open_queue(OTHER, BACK, 4, "/to-middle");
	talk_await(&t, FRONT, "mq_timedreceive", 5);
	talk_await(&t, OTHER, "mq_timedreceive", 8);
	talk_await(&t, BACK, "mq_timedreceive", 3);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		pass(CLIENT, 3, BACK);
		talk_await(&t, CLIENT, "mq_timedreceive", 6);
		talk_work(&t, 20);
		pass(BACK, 6, CLIENT);
		talk_await(&t, BACK, "mq_timedreceive", 3);
		pass(CLIENT, 5, FRONT);
		talk_await(&t, CLIENT, "mq_timedreceive", 6);
		talk_work(&t, 40);
		pass(FRONT, 8, OTHER);
		talk_await(&t, FRONT, "mq_timedreceive", 9);
		talk_work(&t, 40);
		pass(OTHER, 3, BACK);
		talk_await(&t, OTHER, "mq_timedreceive", 4);
		talk_work(&t, 20);
		pass(BACK, 4, OTHER);
		talk_await(&t, BACK, "mq_timedreceive", 3);
		talk_work(&t, 10);
		pass(OTHER, 9, FRONT);
		talk_await(&t, OTHER, "mq_timedreceive", 8);
		talk_work(&t, 10);
		pass(FRONT, 6, CLIENT);
		talk_await(&t, FRONT, "mq_timedreceive", 5);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_tasks(4);
	expect_calls("client", "front", LQN_SYNC, 1);
	expect_calls("client", "back", LQN_SYNC, 1);
	expect_calls("front", "middle", LQN_SYNC, 1);
	expect_calls("middle", "back", LQN_SYNC, 1);
	lqn_model_free(model);
}
END_TEST

/* More threads, one after another, wait for answers in one queue than are kept count of. */
START_TEST(one_of_very_many_readers_of_a_queue_reads_it)
{
	enum { THREADS = 300 };

	start("front", "back");
	talk_connect(&t, CLIENT, 5, FRONT, 7);
	open_queue(FRONT, BACK, 8, "/back");
	open_queue(FRONT, BACK, 9, "/to-front");
	talk_await(&t, BACK, "mq_timedreceive", 8);
	talk_await(&t, FRONT, "recvfrom", 7);
	for (int i = 0; i < THREADS; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, FRONT);
		talk_thread(&t, FRONT, FIRST_SHORT + i);
		talk_await(&t, FRONT, "recvfrom", 7);
		talk_work(&t, 40);
		pass(FIRST_SHORT + i, 8, BACK);
		talk_await(&t, FIRST_SHORT + i, "mq_timedreceive", 9);
		talk_work(&t, 20);
		pass(BACK, 9, FIRST_SHORT + i);
		talk_await(&t, BACK, "mq_timedreceive", 8);
		talk_work(&t, 10);
		talk_send(&t, FIRST_SHORT + i, "sendto", 7, CLIENT, "recvfrom");
		feed(t.feed, "%ld c%d exit %d\n%ld c%d sw %d>0 X", t.now, FIRST_SHORT + i, FIRST_SHORT + i, t.now, FIRST_SHORT + i,
			FIRST_SHORT + i);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_tasks(3);
	expect_calls("client", "front", LQN_SYNC, 1);
	expect_calls("front", "back", LQN_SYNC, 1);
	expect_calls("front", "back", LQN_ASYNC, 0);
	lqn_model_free(model);
}
END_TEST

/* Each of two threads answers one of two clients, and both wait for the next requests. */
static void answer_both(int to_client, int to_other)
{
	talk_work(&t, 50);
	talk_send(&t, to_client, "sendto", 8, CLIENT, "recvfrom");
	talk_await(&t, to_client, "recvfrom", 7);
	talk_work(&t, 10);
	talk_send(&t, to_other, "sendto", 9, OTHER, "recvfrom");
	talk_await(&t, to_other, "recvfrom", 7);
	talk_sleep(&t, CLIENT, 200);
	talk_sleep(&t, OTHER, 200);
}

/*
 * Two send to one socket at once, each from a socket of its own: the later one's message is there first, and which is whose is told by
 * the answers alone.
 */
START_TEST(datagrams_sent_at_once_are_told_apart_by_the_answers)
{
	talk_start(&t);
	begin(CLIENT, "client");
	begin(OTHER, "client");
	begin(FRONT, "server");
	talk_thread(&t, FRONT, WORKER);
	datagrams(CLIENT, 5, false);
	datagrams(CLIENT, 6, true);
	datagrams(OTHER, 5, false);
	datagrams(OTHER, 6, true);
	datagrams(FRONT, 7, true);
	datagrams(FRONT, 8, false);
	datagrams(FRONT, 9, false);
	talk_await(&t, FRONT, "recvfrom", 7);
	talk_await(&t, WORKER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		if (i % 2 == 0) {
			talk_work(&t, 30);
			talk_send(&t, CLIENT, "sendto", 5, FRONT, "recvfrom");
			talk_await(&t, CLIENT, "recvfrom", 6);
			talk_send(&t, OTHER, "sendto", 5, WORKER, "recvfrom");
			talk_await(&t, OTHER, "recvfrom", 6);
			answer_both(FRONT, WORKER);
			continue;
		}
		feed(t.feed, "%ld c%d +sendto 5 64\n%ld c%d +sendto 5 64\n%ld c%d wk %d\n%ld c%d wk %d\n%ld c%d -sendto 64\n"
			"%ld c%d -sendto 64\n%ld c%d sw 0>%d R\n%ld c%d -recvfrom 64\n%ld c%d sw 0>%d R\n%ld c%d -recvfrom 64",
			t.now, CLIENT, t.now + 1, OTHER, t.now + 2, OTHER, FRONT, t.now + 3, CLIENT, WORKER, t.now + 4, OTHER,
			t.now + 5, CLIENT, t.now + 5, FRONT, FRONT, t.now + 6, FRONT, t.now + 7, WORKER, WORKER, t.now + 8, WORKER);
		t.now += 8;
		talk_await(&t, OTHER, "recvfrom", 6);
		talk_await(&t, CLIENT, "recvfrom", 6);
		answer_both(WORKER, FRONT);
	}
	model = talk_finish(&t, NULL);
	expect_tasks(2);
	expect_calls("client", "server", LQN_SYNC, 1);
	expect_calls("client", "server", LQN_ASYNC, 0);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 2);
	lqn_model_free(model);
}
END_TEST

/* A thread of its own for a connection, with work after the answer; the next request may come before that is done. */
START_TEST(work_after_the_reply_of_a_connections_thread_is_a_second_phase)
{
	start("front", "back");
	talk_connect(&t, CLIENT, 5, FRONT, 7);
	talk_thread(&t, FRONT, WORKER);
	talk_await(&t, FRONT, "accept4", 3);
	talk_await(&t, WORKER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, WORKER);
		talk_work(&t, 50);
		talk_send(&t, WORKER, "sendto", 7, CLIENT, "recvfrom");
		talk_work(&t, 5);
		feed(t.feed, "%ld c%d +sendto 5 64\n%ld c%d -sendto 64", t.now, CLIENT, t.now + 1, CLIENT);
		t.now++;
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 100);
		feed(t.feed, "%ld c%d +recvfrom 7 4096\n%ld c%d -recvfrom 64", t.now, WORKER, t.now, WORKER);
		talk_work(&t, 50);
		talk_send(&t, WORKER, "sendto", 7, CLIENT, "recvfrom");
		talk_work(&t, 106);
		talk_await(&t, WORKER, "recvfrom", 7);
		talk_sleep(&t, CLIENT, 400);
	}
	feed(t.feed, "%ld c%d sw %d>0 X", t.now, WORKER, WORKER);
	model = talk_finish(&t, NULL);
	expect_calls("client", "front", LQN_SYNC, 2);
	near(talk_entry(model, "front")->phase[0].demand, 52e-6);
	near(talk_entry(model, "front")->phase[1].demand, 106e-6);
	lqn_model_free(model);
}
END_TEST

/* Two requests through shared memory wake two threads; one of them does both, the other finds nothing. Nobody is ever answered. */
START_TEST(who_never_answers_is_asked_asynchronously_whoever_takes_it)
{
	start("store", "back");
	talk_thread(&t, FRONT, WORKER);
	talk_futex_wait(&t, FRONT, WORD);
	talk_futex_wait(&t, WORKER, WORD);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_futex_wake(&t, CLIENT, WORD, FRONT);
		talk_futex_wait(&t, FRONT, WORD);
		talk_work(&t, 20);
		talk_futex_wake(&t, CLIENT, WORD, WORKER);
		talk_work(&t, 140);
		talk_futex_wait(&t, WORKER, WORD);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_calls("client", "store", LQN_ASYNC, 2);
	expect_calls("client", "store", LQN_SYNC, 0);
	lqn_model_free(model);
}
END_TEST

/* Every other answer comes before the client has begun to wait, and wakes nobody: that the store has asked another changes nothing. */
START_TEST(an_answer_that_woke_nobody_is_one_also_of_who_has_asked_others)
{
	start("store", "back");
	talk_connect(&t, FRONT, 6, BACK, 9);
	talk_await(&t, BACK, "recvfrom", 9);
	talk_futex_wait(&t, FRONT, WORD);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_futex_wake(&t, CLIENT, WORD, FRONT);
		if (i % 2 == 0) {
			talk_futex_wait(&t, CLIENT, ANSWER);
		}
		talk_work(&t, 40);
		talk_request(&t, FRONT, 6, BACK);
		talk_work(&t, 50);
		talk_reply(&t, BACK, 9, FRONT);
		talk_work(&t, 10);
		if (i % 2 == 0) {
			talk_futex_wake(&t, FRONT, ANSWER, CLIENT);
		}
		talk_futex_wait(&t, FRONT, WORD);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_calls("client", "store", LQN_SYNC, 1);
	expect_calls("client", "store", LQN_ASYNC, 0);
	expect_calls("store", "back", LQN_SYNC, 1);
	lqn_model_free(model);
}
END_TEST

/*
 * Another thread lets it go before its first cycle, and its answers come out of a queue: neither makes it a worker that sleeps with what
 * was handed to it.
 */
START_TEST(a_client_that_has_waited_for_a_word_thinks_as_it_sleeps)
{
	start("front", "back");
	open_queue(CLIENT, FRONT, 5, "/front");
	open_queue(CLIENT, FRONT, 6, "/to-client");
	talk_await(&t, FRONT, "mq_timedreceive", 5);
	talk_thread(&t, CLIENT, WORKER);
	talk_sleep(&t, CLIENT, 400);
	talk_futex_wait(&t, CLIENT, INNER);
	talk_work(&t, 10);
	talk_futex_wake(&t, WORKER, INNER, CLIENT);
	talk_futex_wait(&t, WORKER, WORD);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		pass(CLIENT, 5, FRONT);
		talk_await(&t, CLIENT, "mq_timedreceive", 6);
		talk_work(&t, 40);
		pass(FRONT, 6, CLIENT);
		talk_await(&t, FRONT, "mq_timedreceive", 5);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	expect_calls("client", "front", LQN_SYNC, 1);
	near(talk_task(model, "client")->think, 400e-6);
	lqn_model_free(model);
}
END_TEST

SUITE("layers", who_waits_while_it_works_for_another_has_asked, one_way_work_that_is_handed_over_is_the_workers,
	who_sleeps_as_it_serves_is_no_client, who_was_asked_first_is_known_by_times, a_queue_of_requests_is_none_of_answers,
	one_of_very_many_readers_of_a_queue_reads_it, datagrams_sent_at_once_are_told_apart_by_the_answers,
	work_after_the_reply_of_a_connections_thread_is_a_second_phase,
	who_never_answers_is_asked_asynchronously_whoever_takes_it, a_client_that_has_waited_for_a_word_thinks_as_it_sleeps,
	an_answer_that_woke_nobody_is_one_also_of_who_has_asked_others)
