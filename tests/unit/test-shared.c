/* SPDX-License-Identifier: MIT */
/* What programs do through shared memory: locks inside a process, and requests from one to another, seen by futexes alone. */
#include "talk.h"

#include <string.h>

#include "suite.h"

#define CYCLES 60
#define WORD 8192
#define INNER 12288
enum { CLIENT = 1, SERVER = 2, CLIENT_2 = 4, WORKER_2 = 6, CLIENT_3 = 8, WORKER_3 = 10, STORE = 12 };

static struct talk t;
static struct lqn_model *model;

static void near(double got, double want)
{
	ck_assert_double_eq_tol(got, want, want * 0.03 + 1e-7);
}

/* The lock that is held for the longest; NULL: there is none. `least`: s that it is held for at least. */
static struct lqn_task *longest_lock(double least)
{
	struct lqn_task *found = NULL;
	double longest = least;

	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			struct lqn_task *task = processor->tasks->pdata[k];

			if (task->kind == LQN_TASK_LOCK && ((struct lqn_entry *) task->entries->pdata[0])->service >= longest) {
				longest = ((struct lqn_entry *) task->entries->pdata[0])->service;
				found = task;
			}
		}
	}
	return found;
}

static struct lqn_task *find_lock(void)
{
	struct lqn_task *found = NULL;

	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			struct lqn_task *task = processor->tasks->pdata[k];

			if (task->kind == LQN_TASK_LOCK) {
				ck_assert_msg(!found, "two locks: %s, %s", found->name, task->name);
				found = task;
			}
		}
	}
	return found;
}

/* Two clients, each with a connection to a thread of its own of one server. */
static void start_two_workers(void)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, CLIENT_2, "client");
	talk_process(&t, SERVER, "server");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CLIENT_2, 5, SERVER, 8);
	talk_thread(&t, SERVER, WORKER_2);
	talk_await(&t, WORKER_2, "recvfrom", 8);
	talk_await(&t, SERVER, "recvfrom", 7);
}

/* The second client's worker waits for the lock that the first one's has, and is woken with it. */
static void get_lock(void)
{
	talk_work(&t, 30);
	talk_request(&t, CLIENT, 5, SERVER);
	talk_work(&t, 20);
	talk_request(&t, CLIENT_2, 5, WORKER_2);
	talk_work(&t, 20);
	talk_futex_wait(&t, WORKER_2, WORD);
	talk_work(&t, 60);
	talk_futex_wake(&t, SERVER, WORD, WORKER_2);
	talk_work(&t, 10);
	talk_reply(&t, SERVER, 7, CLIENT);
	feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, CLIENT, t.now, CLIENT, CLIENT);
}

/* The second worker answers, and both clients sleep. */
static void answer(void)
{
	talk_work(&t, 5);
	talk_reply(&t, WORKER_2, 8, CLIENT_2);
	talk_sleep(&t, CLIENT_2, 300);
	feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0", t.now, CLIENT,
		t.now, CLIENT, CLIENT, t.now, CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT);
}

/* The first has the lock for 100 us, the second has it for so long. */
static void contend(long us)
{
	get_lock();
	talk_work(&t, us);
	talk_futex_wake_nobody(&t, WORKER_2, WORD);
	answer();
}

START_TEST(what_is_waited_for_and_handed_on_is_a_lock)
{
	struct lqn_task *lock;
	struct lqn_entry *held;
	struct lqn_task *server;
	double demand = 0;

	start_two_workers();
	for (int i = 0; i < CYCLES; i++) {
		contend(70);
	}
	model = talk_finish(&t, NULL);
	lock = find_lock();
	ck_assert_ptr_nonnull(lock);
	ck_assert_uint_eq(lock->multiplicity, 1);
	ck_assert_int_eq(lock->sched, LQN_SCHED_FCFS);
	held = lock->entries->pdata[0];
	near(held->service, 81e-6);
	near(held->service + 1, held->service_ci + held->service + 1);	/* all alike */
	ck_assert_double_gt(held->phase[0].demand, 60e-6);
	ck_assert_double_lt(held->phase[0].demand, 110e-6);
	/* what is done inside the lock is not also done outside: the two requests take 114 and 109 us of CPU */
	server = talk_task(model, "server");
	ck_assert_ptr_nonnull(server);
	ck_assert_uint_eq(server->multiplicity, 2);
	for (guint i = 0; i < server->entries->len; i++) {
		struct lqn_entry *entry = server->entries->pdata[i];
		double inside = 0;

		for (guint k = 0; k < lock->entries->len; k++) {
			struct lqn_entry *passage = lock->entries->pdata[k];

			inside += talk_calls(entry, passage, LQN_SYNC) * passage->phase[0].demand;
		}
		demand += entry->throughput * (entry->phase[0].demand + entry->phase[1].demand + inside);
	}
	near(demand / server->throughput, (114e-6 + 109e-6) / 2);
	lqn_model_free(model);
}
END_TEST

START_TEST(a_lock_that_nobody_waits_for_is_not_seen)
{
	start_two_workers();
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 20);
		talk_futex_wake_nobody(&t, SERVER, WORD);
		talk_work(&t, 30);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(find_lock());
	lqn_model_free(model);
}
END_TEST

/* The lock of a queue is held for 2 us; that its holder was preempted once does not make it a resource. */
START_TEST(what_is_held_for_a_moment_is_no_resource)
{
	start_two_workers();
	for (int i = 0; i < CYCLES; i++) {
		contend(i == 7 ? 3000 : 2);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(find_lock());
	lqn_model_free(model);
}
END_TEST

/* Threads hand the word of a condition variable round, and wake whoever waits there when they come to it. */
START_TEST(what_is_given_back_in_another_request_is_no_lock)
{
	start_two_workers();
	for (int i = 0; i < CYCLES; i++) {
		get_lock();
		talk_work(&t, 70);
		answer();
		talk_request(&t, CLIENT_2, 5, WORKER_2);
		talk_futex_wake_nobody(&t, WORKER_2, WORD);
		talk_reply(&t, WORKER_2, 8, CLIENT_2);
		talk_sleep(&t, CLIENT_2, 300);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(find_lock());
	lqn_model_free(model);
}
END_TEST

START_TEST(calls_within_a_lock_are_the_locks)
{
	struct lqn_entry *held, *store, *server;

	start_two_workers();
	talk_process(&t, STORE, "store");
	talk_connect(&t, WORKER_2, 9, STORE, 7);
	talk_await(&t, STORE, "recvfrom", 7);
	talk_await(&t, WORKER_2, "recvfrom", 8);
	for (int i = 0; i < CYCLES; i++) {
		get_lock();
		talk_work(&t, 10);
		talk_request(&t, WORKER_2, 9, STORE);
		talk_work(&t, 90);
		talk_reply(&t, STORE, 7, WORKER_2);
		talk_futex_wake_nobody(&t, WORKER_2, WORD);
		answer();
	}
	model = talk_finish(&t, NULL);
	held = longest_lock(0)->entries->pdata[0];
	store = talk_entry(model, "store");
	server = talk_entry(model, "server");
	/* every other request asks the store, and only in the lock */
	near(talk_calls(held, store, LQN_SYNC), 0.5);
	ck_assert_double_eq(talk_calls(server, store, LQN_SYNC), 0);
	near(held->service, 113e-6);
	lqn_model_free(model);
}
END_TEST

/* The second worker has the outer lock when it waits for the inner one, which the third has. */
START_TEST(a_lock_within_a_lock_is_called_by_it)
{
	struct lqn_entry *outer, *inner, *server;

	start_two_workers();
	talk_process(&t, CLIENT_3, "client");
	talk_connect(&t, CLIENT_3, 5, SERVER, 11);
	talk_thread(&t, SERVER, WORKER_3);
	talk_await(&t, WORKER_3, "recvfrom", 11);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		get_lock();
		talk_request(&t, CLIENT_3, 5, WORKER_3);
		talk_work(&t, 30);
		talk_futex_wait(&t, WORKER_2, INNER);
		talk_work(&t, 40);
		talk_futex_wake(&t, WORKER_3, INNER, WORKER_2);
		talk_reply(&t, WORKER_3, 11, CLIENT_3);
		talk_work(&t, 50);
		talk_futex_wake_nobody(&t, WORKER_2, INNER);
		talk_work(&t, 10);
		talk_futex_wake_nobody(&t, WORKER_2, WORD);
		talk_sleep(&t, CLIENT_3, 50);
		answer();
	}
	model = talk_finish(&t, NULL);
	outer = longest_lock(0)->entries->pdata[0];
	for (guint i = 0; i < outer->phase[0].calls->len; i++) {
		inner = g_array_index(outer->phase[0].calls, struct lqn_model_call, i).dest;
	}
	ck_assert_uint_eq(outer->phase[0].calls->len, 1);
	server = talk_entry(model, "server");
	near(talk_calls(outer, inner, LQN_SYNC), 1);
	near(talk_calls(server, outer, LQN_SYNC), 1);
	ck_assert_double_eq(talk_calls(server, inner, LQN_SYNC), 0);
	near(inner->phase[0].demand, 51e-6);
	near(outer->phase[0].demand, 53e-6);	/* without what it does in the inner one */
	lqn_model_free(model);
}
END_TEST

START_TEST(waiting_for_work_is_no_lock)
{
	start_two_workers();
	talk_futex_wake_nobody(&t, CLIENT, WORD);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 20);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(find_lock());
	near(talk_entry(model, "server")->phase[0].demand, 22e-6);
	lqn_model_free(model);
}
END_TEST

/* One thread reads, a worker passes the connection on to another process, and that one answers. */
START_TEST(a_worker_passes_on_what_its_process_has_received)
{
	struct lqn_entry *front, *back;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "front");
	talk_process(&t, STORE, "back");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, SERVER, 6, STORE, 9);
	talk_thread(&t, SERVER, WORKER_2);
	talk_futex_wait(&t, WORKER_2, WORD);
	talk_await(&t, SERVER, "recvfrom", 7);
	talk_await(&t, STORE, "recvfrom", 9);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 20);
		talk_futex_wake(&t, SERVER, WORD, WORKER_2);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_work(&t, 50);
		talk_send(&t, WORKER_2, "sendto", 6, STORE, "recvfrom");
		talk_futex_wait(&t, WORKER_2, WORD);
		talk_work(&t, 70);
		talk_send(&t, STORE, "sendto", 11, CLIENT, "recvfrom");
		talk_await(&t, STORE, "recvfrom", 9);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	front = talk_entry(model, "front");
	back = talk_entry(model, "back");
	near(talk_calls(talk_entry(model, "client"), front, LQN_SYNC), 1);
	near(talk_calls(front, back, LQN_FORWARD), 1);
	near(front->phase[0].demand + front->phase[1].demand, 75e-6);
	near(back->phase[0].demand, 72e-6);
	lqn_model_free(model);
}
END_TEST

START_TEST(requests_through_shared_memory_are_calls)
{
	struct lqn_entry *asks, *does;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	/* a word of each for requests and one for answers; mapped at different addresses */
	talk_futex_wait(&t, SERVER, 4096);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_futex_wake(&t, CLIENT, 12288, SERVER);
		talk_futex_wait(&t, CLIENT, 16384);
		talk_work(&t, 90);
		talk_futex_wake(&t, SERVER, 8192, CLIENT);
		talk_futex_wait(&t, SERVER, 4096);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	asks = talk_entry(model, "client");
	does = talk_entry(model, "server");
	near(talk_calls(asks, does, LQN_SYNC), 1);
	near(does->phase[0].demand + does->phase[1].demand, 92e-6);
	lqn_model_free(model);
}
END_TEST

SUITE("shared", what_is_waited_for_and_handed_on_is_a_lock, a_lock_that_nobody_waits_for_is_not_seen,
	what_is_held_for_a_moment_is_no_resource, what_is_given_back_in_another_request_is_no_lock,
	calls_within_a_lock_are_the_locks, a_lock_within_a_lock_is_called_by_it,
	waiting_for_work_is_no_lock, a_worker_passes_on_what_its_process_has_received, requests_through_shared_memory_are_calls)
