/* SPDX-License-Identifier: MIT */
/* Messages that come one after the other on a connection: requests of their own, or parts of one. */
#include "talk.h"

#include "suite.h"

#define CYCLES 60
enum { CLIENT = 1, SERVER = 2, WORKER = 3, TELLER = 4, BACK = 5 };

static struct talk t;
static struct lqn_model *model;

/* A message that wakes nobody, or that is there when the thread comes to it; a microsecond each. */
static void sends(int bytes)
{
	feed(t.feed, "%ld c%d +sendto 5 %d\n%ld c%d -sendto %d", t.now, CLIENT, bytes, t.now + 1, CLIENT, bytes);
	talk_work(&t, 1);
}

static void takes(int bytes)
{
	feed(t.feed, "%ld c%d +recvfrom 7 4096\n%ld c%d -recvfrom %d", t.now, SERVER, t.now + 1, SERVER, bytes);
	talk_work(&t, 1);
}

/* The client is answered, while the server has something left to do for 40 us. */
static void first_answer(void)
{
	talk_work(&t, 30);
	talk_request(&t, CLIENT, 5, SERVER);
	talk_work(&t, 100);
	talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
}

static void last_answer(void)
{
	talk_work(&t, 100);
	talk_reply(&t, SERVER, 7, CLIENT);
	talk_sleep(&t, CLIENT, 300);
}

static void check(double sync, double async)
{
	const struct lqn_task *server;
	double found[2] = { 0, 0 };

	model = talk_finish(&t, NULL);
	server = talk_task(model, "server");
	for (guint i = 0; i < server->entries->len; i++) {
		found[0] += talk_calls(talk_entry(model, "client"), server->entries->pdata[i], LQN_SYNC);
		found[1] += talk_calls(talk_entry(model, "client"), server->entries->pdata[i], LQN_ASYNC);
	}
	near(found[0], sync);
	near(found[1], async);
	lqn_model_free(model);
}

/* An answer, and then two messages, which lie there for a while. */
static void asks_in_two(int first, int second)
{
	first_answer();
	sends(first);
	sends(second);
	talk_await(&t, CLIENT, "recvfrom", 5);
	talk_work(&t, 40);
}

/* Two messages of lengths that come by themselves, too; the server computes for the first though the second is there. */
START_TEST(what_is_worked_on_before_the_next_is_read_is_a_request)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		asks_in_two(64, 64);
		takes(64);
		talk_work(&t, 60);
		takes(64);
		last_answer();
	}
	check(2, 1);
}
END_TEST

START_TEST(who_reads_on_at_once_has_read_a_part)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		asks_in_two(64, 64);
		takes(64);
		takes(64);
		last_answer();
	}
	check(2, 0);
}
END_TEST

/* What a head alone takes to be understood may be much: no request of the second length ever comes by itself. */
START_TEST(a_body_of_a_length_of_its_own_belongs_to_its_head)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		asks_in_two(24, 200);
		takes(24);
		talk_work(&t, 60);
		takes(200);
		last_answer();
	}
	check(2, 0);
}
END_TEST

/* However short the work is: what is read first tells where a request begins. */
START_TEST(who_reads_as_many_bytes_first_reads_the_head_of_another_request)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		asks_in_two(40, 100);
		takes(4);
		takes(36);
		takes(4);
		takes(96);
		last_answer();
	}
	check(2, 1);
}
END_TEST

START_TEST(who_reads_a_body_after_head_and_length_has_one_request)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		asks_in_two(40, 100);
		takes(4);
		takes(36);
		talk_work(&t, 60);
		takes(100);
		last_answer();
	}
	check(2, 0);
}
END_TEST

/*
 * A thread that reads hands each request to a worker: the answer is that of the last message, and what the worker did for the
 * one before is that one's.
 */
START_TEST(answers_of_workers_are_not_of_what_wants_none)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	talk_thread(&t, SERVER, WORKER);
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_futex_wait(&t, WORKER, 4096);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "recvfrom");
		talk_futex_wake(&t, SERVER, 4096, WORKER);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_work(&t, 60);
		talk_futex_wait(&t, WORKER, 4096);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_futex_wake(&t, SERVER, 4096, WORKER);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_work(&t, 100);
		talk_send(&t, WORKER, "sendto", 7, CLIENT, "recvfrom");
		talk_futex_wait(&t, WORKER, 4096);
		talk_sleep(&t, CLIENT, 300);
	}
	check(1, 1);
}
END_TEST

/* A worker that has been handed a note, or has just answered, asks `back` what the note is for. */
static void work_on_note(void)
{
	talk_work(&t, 50);
	talk_request(&t, WORKER, 6, BACK);
	talk_work(&t, 40);
	talk_reply(&t, BACK, 9, WORKER);
	talk_work(&t, 10);
	talk_futex_wait(&t, WORKER, 4096);
}

static void pass_note_on(bool busy)
{
	talk_send(&t, TELLER, "sendto", 5, SERVER, "epoll_wait");
	feed(t.feed, "%ld c%d +recvfrom 8 4096\n%ld c%d -recvfrom 64", t.now, SERVER, t.now + 1, SERVER);
	talk_work(&t, 1);
	if (!busy) {
		talk_futex_wake(&t, SERVER, 4096, WORKER);
	}
	talk_await(&t, SERVER, "epoll_wait", 20);
}

/* Every second note comes while the worker is busy, and wakes nobody. */
START_TEST(what_a_busy_worker_takes_up_is_not_the_end_of_its_last_request)
{
	static const struct {
		int thread;
		const char *name;
	} processes[] = { { CLIENT, "client" }, { TELLER, "teller" }, { SERVER, "server" }, { BACK, "back" } };
	const struct lqn_task *server;
	double asked = 0;

	talk_start(&t);
	for (guint i = 0; i < G_N_ELEMENTS(processes); i++) {
		talk_process(&t, processes[i].thread, processes[i].name);
	}
	talk_thread(&t, SERVER, WORKER);
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, TELLER, 5, SERVER, 8);
	talk_connect(&t, SERVER, 6, BACK, 9);
	talk_await(&t, BACK, "recvfrom", 9);
	talk_futex_wait(&t, WORKER, 4096);
	talk_await(&t, SERVER, "epoll_wait", 20);
	for (int i = 0; i < CYCLES; i++) {
		pass_note_on(false);
		work_on_note();
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "epoll_wait");
		talk_await(&t, CLIENT, "recvfrom", 5);
		takes(64);
		talk_futex_wake(&t, SERVER, 4096, WORKER);
		talk_await(&t, SERVER, "epoll_wait", 20);
		talk_work(&t, 20);
		pass_note_on(true);
		talk_work(&t, 80);
		talk_send(&t, WORKER, "sendto", 7, CLIENT, "recvfrom");
		work_on_note();
		talk_sleep(&t, TELLER, 100);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	server = talk_task(model, "server");
	ck_assert_uint_eq(server->entries->len, 2);
	for (guint i = 0; i < server->entries->len; i++) {
		const struct lqn_entry *entry = server->entries->pdata[i];
		bool note = talk_calls(talk_entry(model, "teller"), entry, LQN_ASYNC) > 0;

		near(talk_calls(entry, talk_entry(model, "back"), LQN_SYNC), note ? 1 : 0);
		asked += talk_calls(talk_entry(model, "client"), entry, LQN_SYNC);
	}
	near(asked, 1);
	lqn_model_free(model);
}
END_TEST

SUITE("apart", what_is_worked_on_before_the_next_is_read_is_a_request, who_reads_on_at_once_has_read_a_part,
	a_body_of_a_length_of_its_own_belongs_to_its_head, who_reads_as_many_bytes_first_reads_the_head_of_another_request,
	who_reads_a_body_after_head_and_length_has_one_request, answers_of_workers_are_not_of_what_wants_none,
	what_a_busy_worker_takes_up_is_not_the_end_of_its_last_request)
