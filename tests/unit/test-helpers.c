/* SPDX-License-Identifier: MIT */
/* What servers with threads and TCP do: threads that help each other's requests, answers that go on after a wait, or come in parts. */
#include "talk.h"

#include "suite.h"

#define CYCLES 60
enum { CLIENT = 1, SERVER = 2, BACK = 3, HELPER = 4, OTHER = 5, SECOND = 6 };
enum { ITEM = 640, DONE = 704 };		/* words: where the helper waits for work, where it is waited for */

static struct talk t;
static struct lqn_model *model;

/* A client, a server with a helper that has a connection to a backend, all idle. */
static void start(void)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	talk_process(&t, BACK, "back");
	talk_connect(&t, SERVER, 11, BACK, 13);
	talk_await(&t, BACK, "recvfrom", 13);
	talk_thread(&t, SERVER, HELPER);
	talk_futex_wait(&t, HELPER, ITEM);
}

/* The server has a request, and wakes its helper, who works for 20 us. */
static void hand_to_helper(void)
{
	talk_request(&t, CLIENT, 5, SERVER);
	talk_work(&t, 10);
	talk_futex_wake(&t, SERVER, ITEM, HELPER);
}

/* The helper asks the backend, which works for 100 us. */
static void ask_back(void)
{
	talk_work(&t, 20);
	talk_request(&t, HELPER, 11, BACK);
	talk_work(&t, 100);
	talk_reply(&t, BACK, 13, HELPER);
}

START_TEST(what_a_helper_does_is_the_work_of_the_request)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		hand_to_helper();
		talk_futex_wait(&t, SERVER, DONE);
		ask_back();
		talk_futex_wake(&t, HELPER, DONE, SERVER);
		talk_futex_wait(&t, HELPER, ITEM);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 1);
	ck_assert_ptr_null(talk_task(model, "server_2"));
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "back"), LQN_SYNC), 1);
	near(talk_entry(model, "server")->phase[1].demand, 0);
	lqn_model_free(model);
}
END_TEST

/* Nobody waits for it: a second phase. */
START_TEST(what_a_helper_does_that_nobody_waits_for_is_a_second_phase)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		hand_to_helper();
		talk_reply(&t, SERVER, 7, CLIENT);
		ask_back();
		talk_futex_wait(&t, HELPER, ITEM);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "back"), LQN_SYNC), 1);
	near(g_array_index(talk_entry(model, "server")->phase[1].calls, struct lqn_model_call, 0).mean, 1);
	lqn_model_free(model);
}
END_TEST

/* The head of the answer, then what the helper brings. */
START_TEST(an_answer_goes_on_after_a_wait_for_a_helper)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		hand_to_helper();
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_futex_wait(&t, SERVER, DONE);
		ask_back();
		talk_futex_wake(&t, HELPER, DONE, SERVER);
		talk_futex_wait(&t, HELPER, ITEM);
		talk_work(&t, 10);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	ck_assert_int_eq(talk_task(model, "client")->kind, LQN_TASK_CLIENT);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "back"), LQN_SYNC), 1);
	near(talk_entry(model, "server")->phase[1].demand, 0);
	lqn_model_free(model);
}
END_TEST

/* A thread that has been asked once sends whenever another, who is at somebody's request, wakes it. */
START_TEST(what_is_sent_for_anothers_request_is_no_answer)
{
	talk_pair(&t, CLIENT, "client", SERVER, "server");
	talk_process(&t, OTHER, "consumer");
	talk_thread(&t, SERVER, SECOND);
	talk_connect(&t, OTHER, 5, SECOND, 8);
	talk_await(&t, SECOND, "recvfrom", 8);
	talk_request(&t, OTHER, 5, SECOND);
	talk_send(&t, SECOND, "sendto", 8, OTHER, "recvfrom");
	talk_await(&t, OTHER, "recvfrom", 5);
	for (int i = 0; i < CYCLES; i++) {
		talk_futex_wait(&t, SECOND, ITEM);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 10);
		talk_futex_wake(&t, SERVER, ITEM, SECOND);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_work(&t, 10);
		talk_send(&t, SECOND, "sendto", 8, OTHER, "recvfrom");
		talk_work(&t, 30);
		talk_await(&t, OTHER, "recvfrom", 5);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_nonnull(talk_task(model, "consumer"));
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "consumer"), LQN_ASYNC), 1);
	lqn_model_free(model);
}
END_TEST

/* The second part of the answer has been sent when the client comes to wait for it, and arrives when the first is acknowledged. */
START_TEST(what_tcp_holds_back_is_a_delay)
{
	const struct lqn_task *client;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	feed(t.feed, "%ld c2 +socket 2 1\n%ld c2 -socket 3\n%ld c2 +listen 3\n%ld c2 -listen 0\n%ld c1 +socket 2 1\n%ld c1 -socket 5\n"
		"%ld c1 +connect 5\n%ld c1 -connect 0\n%ld c2 +accept4 3\n"
		"%ld c2 -accept4 7", t.now, t.now, t.now, t.now, t.now, t.now, t.now,
		t.now, t.now, t.now);
	talk_work(&t, 5);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 100);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		feed(t.feed, "%ld c2 +sendto 7 5\n%ld c2 -sendto 5", t.now, t.now + 1);
		talk_work(&t, 5);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 4000);
		feed(t.feed, "%ld c1 +softirq 3\n%ld c1 wk 1\n%ld c1 -softirq 3\n%ld c1 sw 0>1 R\n%ld c1 -recvfrom 5", t.now, t.now, t.now,
			t.now, t.now);
		talk_work(&t, 10);
		talk_sleep(&t, CLIENT, 300);
	}
	model = talk_finish(&t, NULL);
	client = talk_task(model, "client");
	ck_assert_int_eq(client->kind, LQN_TASK_CLIENT);
	near(client->response, 4110e-6);
	near(talk_entry(model, "client")->phase[0].think, 4000e-6);
	lqn_model_free(model);
}
END_TEST

/* ns that requests' paths hold of locks within the program, whose holder does that: the mean of each operation, summed. */
static double within_program(const struct lqn_path_report *paths, enum lqn_path_kind doing)
{
	double sum = 0;

	for (guint g = 0; g < paths->groups->len; g++) {
		const struct lqn_path_group *group = paths->groups->pdata[g];

		for (guint i = 0; i < group->kept->len; i++) {
			const struct lqn_request_path *path = group->kept->pdata[i];

			for (guint k = 0; k < path->pieces->len; k++) {
				const struct lqn_path_piece *piece = &g_array_index(path->pieces, struct lqn_path_piece, k);

				if (piece->kind == LQN_PATH_LOCK && g_strcmp0(piece->detail, "within the program") == 0 &&
						piece->by.doing == doing) {
					sum += (double) (piece->end - piece->begin) / group->kept->len;
				}
			}
		}
	}
	return sum;
}

/* Each thread of the server waits at a word of its own, as Java's do: who has the lock sleeps with it, and wakes the other. */
START_TEST(who_waits_for_a_thread_at_another_request_is_delayed)
{
	struct lqn_path_report *paths = NULL;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	talk_process(&t, OTHER, "other");
	talk_thread(&t, SERVER, SECOND);
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, OTHER, 5, SECOND, 8);
	talk_await(&t, SERVER, "recvfrom", 7);
	talk_await(&t, SECOND, "recvfrom", 8);
	for (int i = 0; i < CYCLES; i++) {
		talk_request(&t, OTHER, 5, SECOND);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 10);
		talk_futex_wait(&t, SERVER, DONE);
		talk_sleep(&t, SECOND, 200);
		talk_futex_wake(&t, SECOND, DONE, SERVER);
		talk_work(&t, 10);
		talk_reply(&t, SECOND, 8, OTHER);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep_both(&t, OTHER, CLIENT, 300);
	}
	model = talk_model(&t, NULL, &paths, NULL);
	ck_assert_uint_eq(paths->not_tiled, 0);
	near(talk_entry(model, "server")->phase[0].think, 200e-6);
	ck_assert_double_gt(within_program(paths, LQN_PATH_SLEEP), 190e3);
	lqn_path_report_free(paths);
	lqn_model_free(model);
}
END_TEST

/* The reader of requests has given one to a worker, and waits for that one to get on before it gives him the next. */
START_TEST(a_worker_who_is_waited_for_by_whom_has_given_him_his_request_holds_nothing)
{
	struct lqn_path_report *paths = NULL;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	talk_process(&t, OTHER, "other");
	talk_thread(&t, SERVER, SECOND);
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, OTHER, 5, SERVER, 8);
	talk_futex_wait(&t, SECOND, ITEM);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_request(&t, CLIENT, 5, SERVER);
		talk_futex_wake(&t, SERVER, ITEM, SECOND);
		talk_await(&t, SERVER, "recvfrom", 8);
		talk_request(&t, OTHER, 5, SERVER);
		talk_futex_wait(&t, SERVER, DONE);
		talk_work(&t, 200);
		talk_futex_wake(&t, SECOND, DONE, SERVER);
		talk_work(&t, 50);
		talk_send(&t, SECOND, "sendto", 7, CLIENT, "recvfrom");
		talk_futex_wait(&t, SECOND, ITEM);
		talk_send(&t, SERVER, "sendto", 8, OTHER, "recvfrom");
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_sleep_both(&t, OTHER, CLIENT, 300);
	}
	model = talk_model(&t, NULL, &paths, NULL);
	ck_assert_uint_eq(paths->not_tiled, 0);
	ck_assert_double_eq(within_program(paths, LQN_PATH_CPU), 0);
	lqn_path_report_free(paths);
	lqn_model_free(model);
}
END_TEST

SUITE("helpers", what_a_helper_does_is_the_work_of_the_request, what_a_helper_does_that_nobody_waits_for_is_a_second_phase,
	an_answer_goes_on_after_a_wait_for_a_helper, what_is_sent_for_anothers_request_is_no_answer, what_tcp_holds_back_is_a_delay,
	who_waits_for_a_thread_at_another_request_is_delayed, a_worker_who_is_waited_for_by_whom_has_given_him_his_request_holds_nothing)
