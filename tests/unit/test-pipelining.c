/* SPDX-License-Identifier: MIT */
/* Requests that are sent before those in front of them have been answered. */
#include "talk.h"

#include "suite.h"

#define CYCLES 60
enum { CLIENT = 1, SERVER = 2, CLIENT_2 = 3, SERVER_2 = 4, SERVER_3 = 5 };

static struct talk t;
static struct lqn_model *model;

/* A send that wakes nobody, or a receive that need not wait; a microsecond each. */
static void quick(int thread, const char *call, int fd)
{
	feed(t.feed, "%ld c%d +%s %d 64\n%ld c%d -%s 64", t.now, thread, call, fd, t.now + 1, thread, call);
	talk_work(&t, 1);
}

/* The first request wakes the server, the others are there when it comes to them; each is answered before the next is read. */
START_TEST(requests_sent_before_an_answer_are_calls_each)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 10);
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "recvfrom");
		quick(CLIENT, "sendto", 5);
		quick(CLIENT, "sendto", 5);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 47);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		quick(SERVER, "recvfrom", 7);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 50);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		quick(SERVER, "recvfrom", 7);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 50);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 1);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 3);
	near(talk_entry(model, "server")->phase[0].demand, 53e-6);
	lqn_model_free(model);
}
END_TEST

/* One answer to two messages: they are one request, though it goes out before the second is read. */
START_TEST(messages_with_one_answer_are_one_request)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 10);
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "recvfrom");
		quick(CLIENT, "sendto", 5);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 50);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		quick(SERVER, "recvfrom", 7);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	lqn_model_free(model);
}
END_TEST

/* A client that never thinks keeps three requests under way, which a loop serves one after the other. */
START_TEST(customers_are_as_many_as_requests_under_way)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "epoll_wait", 9);
	talk_send(&t, CLIENT, "sendto", 5, SERVER, "epoll_wait");
	quick(CLIENT, "sendto", 5);
	quick(CLIENT, "sendto", 5);
	talk_await(&t, CLIENT, "recvfrom", 5);
	for (int i = 0; i < 3 * CYCLES; i++) {
		quick(SERVER, "recvfrom", 7);
		talk_work(&t, 97);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		quick(CLIENT, "sendto", 5);
		talk_await(&t, CLIENT, "recvfrom", 5);
	}
	model = talk_finish(&t, NULL);
	near(talk_entry(model, "server")->throughput, 10000);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 3);
	near(talk_task(model, "client")->response, 298e-6);
	lqn_model_free(model);
}
END_TEST

/* Calls from one task to another in a second. */
static double rate(const struct lqn_task *from, const struct lqn_task *to, enum lqn_call_kind kind)
{
	double sum = 0;

	for (guint i = 0; i < from->entries->len; i++) {
		const struct lqn_entry *entry = from->entries->pdata[i];

		for (guint k = 0; k < to->entries->len; k++) {
			sum += entry->throughput * talk_calls(entry, to->entries->pdata[k], kind);
		}
	}
	return sum;
}

/* One thread of the server reads, and wakes a worker for each: the second request is there before the first is read; both are answered. */
START_TEST(where_all_are_answered_none_wants_no_answer)
{
	const struct lqn_task *client, *server;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_thread(&t, CLIENT, CLIENT_2);
	talk_thread(&t, SERVER, SERVER_2);
	talk_thread(&t, SERVER, SERVER_3);
	talk_futex_wait(&t, SERVER_2, 640);
	talk_futex_wait(&t, SERVER_3, 704);
	talk_futex_wait(&t, CLIENT_2, 768);
	for (int i = 0; i < CYCLES; i++) {
		talk_futex_wake(&t, CLIENT, 768, CLIENT_2);
		quick(CLIENT, "sendto", 5);
		talk_await(&t, CLIENT, "recvfrom", 5);
		quick(CLIENT_2, "sendto", 5);
		talk_futex_wait(&t, CLIENT_2, 832);
		talk_work(&t, 50);
		quick(SERVER, "recvfrom", 7);
		talk_futex_wake(&t, SERVER, 640, SERVER_2);
		quick(SERVER, "recvfrom", 7);
		talk_futex_wake(&t, SERVER, 704, SERVER_3);
		talk_work(&t, 50);
		talk_send(&t, SERVER_2, "sendto", 7, CLIENT, "recvfrom");
		talk_futex_wait(&t, SERVER_2, 640);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 50);
		talk_send(&t, SERVER_3, "sendto", 7, CLIENT, "recvfrom");
		talk_futex_wait(&t, SERVER_3, 704);
		talk_futex_wake(&t, CLIENT, 832, CLIENT_2);
		talk_futex_wait(&t, CLIENT_2, 768);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	client = talk_task(model, "client");
	server = talk_task(model, "server");
	near(rate(client, server, LQN_SYNC), server->throughput);
	near(rate(client, server, LQN_ASYNC), 0);
	lqn_model_free(model);
}
END_TEST

/*
 * Between two requests the server, by a thread of its own, tells something that another thread of the client reads, who does not answer;
 * then the client sleeps, and asks.
 */
START_TEST(who_asks_after_a_sleep_answers_nothing)
{
	const struct lqn_task *server;

	talk_pair(&t, CLIENT, "client", SERVER, "server");
	talk_thread(&t, SERVER, SERVER_2);
	talk_thread(&t, CLIENT, CLIENT_2);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 50);
		talk_reply(&t, SERVER, 7, CLIENT);
		if (i % 10 == 0) {
			talk_await(&t, CLIENT_2, "recvfrom", 5);
			talk_sleep(&t, SERVER_2, 10);
			talk_send(&t, SERVER_2, "sendto", 7, CLIENT_2, "recvfrom");
			talk_futex_wait(&t, CLIENT_2, 640);
			talk_work(&t, 5);
			talk_futex_wake(&t, CLIENT, 640, CLIENT_2);
		}
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	server = talk_task(model, "server_2");
	ck_assert_double_gt(server->throughput, 2000);
	near(rate(talk_task(model, "client"), server, LQN_SYNC), server->throughput);
	lqn_model_free(model);
}
END_TEST

SUITE("pipelining", requests_sent_before_an_answer_are_calls_each, messages_with_one_answer_are_one_request,
	customers_are_as_many_as_requests_under_way, where_all_are_answered_none_wants_no_answer, who_asks_after_a_sleep_answers_nothing)
