/* SPDX-License-Identifier: MIT */
/* What programs do through shared memory: locks inside a process, and requests from one to another, seen by futexes alone. */
#include "talk.h"

#include <string.h>

#include "suite.h"

#define CYCLES 60
#define WORD 8192
#define INNER 12288
enum { CLIENT = 1, SERVER = 2, CLIENT_2 = 4, WORKER_2 = 6, CLIENT_3 = 8, WORKER_3 = 10, STORE = 12, CLIENT_4 = 14, WORKER_4 = 16 };

static struct talk t;
static struct lqn_model *model;

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

/* The second client's worker waits so long for the lock that the first one's has, and is woken with it. */
static void get_lock_after(long us)
{
	talk_work(&t, 30);
	talk_request(&t, CLIENT, 5, SERVER);
	talk_work(&t, 20);
	talk_request(&t, CLIENT_2, 5, WORKER_2);
	talk_work(&t, 20);
	talk_futex_wait(&t, WORKER_2, WORD);
	talk_work(&t, us);
	talk_futex_wake(&t, SERVER, WORD, WORKER_2);
	talk_work(&t, 10);
	talk_reply(&t, SERVER, 7, CLIENT);
	feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, CLIENT, t.now, CLIENT, CLIENT);
}

static void get_lock(void)
{
	get_lock_after(60);
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

/* Who waits for it now and then waits next to nothing; but it is held for half of a request's time: with more of them it will matter. */
START_TEST(what_is_held_for_long_is_a_lock_though_few_wait)
{
	start_two_workers();
	for (int i = 0; i < CYCLES; i++) {
		if (i % 6 == 0) {
			get_lock_after(5);
			talk_work(&t, 70);
			talk_futex_wake_nobody(&t, WORKER_2, WORD);
			answer();
		} else {
			talk_work(&t, 30);
			talk_request(&t, CLIENT, 5, SERVER);
			talk_work(&t, 120);
			talk_reply(&t, SERVER, 7, CLIENT);
			talk_sleep(&t, CLIENT, 100);
			talk_request(&t, CLIENT_2, 5, WORKER_2);
			talk_work(&t, 120);
			talk_reply(&t, WORKER_2, 8, CLIENT_2);
			talk_sleep(&t, CLIENT_2, 300);
		}
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_nonnull(find_lock());
	near(((struct lqn_entry *) find_lock()->entries->pdata[0])->service, 81e-6);
	lqn_model_free(model);
}
END_TEST

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

/* Two of four requests take the lock; the others work all the time that it is held, and never come to it. */
START_TEST(who_works_on_while_a_lock_is_held_does_not_pass_it)
{
	const int others[] = { CLIENT_3, CLIENT_4 }, workers[] = { WORKER_3, WORKER_4 };

	start_two_workers();
	for (int i = 0; i < 2; i++) {
		talk_process(&t, others[i], "client");
		talk_connect(&t, others[i], 5, SERVER, 11 + i);
		talk_thread(&t, SERVER, workers[i]);
		talk_await(&t, workers[i], "recvfrom", 11 + i);
	}
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		get_lock();
		for (int k = 0; k < 2; k++) {
			talk_request(&t, others[k], 5, workers[k]);
		}
		talk_work(&t, 70);
		for (int k = 0; k < 2; k++) {
			talk_reply(&t, workers[k], 11 + k, others[k]);
			talk_sleep(&t, others[k], 50);
		}
		talk_futex_wake_nobody(&t, WORKER_2, WORD);
		answer();
	}
	model = talk_finish(&t, NULL);
	near(talk_calls(talk_entry(model, "server"), find_lock()->entries->pdata[0], LQN_SYNC), 0.5);
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
	/*
	 * two of three requests are seen to pass the outer lock; nobody works while the inner one is known to be held, so that may
	 * be all
	 */
	near(talk_calls(server, outer, LQN_SYNC), 2.0 / 3);
	near(talk_calls(outer, inner, LQN_SYNC), 1.5);
	ck_assert_double_eq(talk_calls(server, inner, LQN_SYNC), 0);
	near(inner->phase[0].demand, 51e-6);
	near(outer->phase[0].demand, 53e-6);	/* without what it does in the inner one */
	lqn_model_free(model);
}
END_TEST

/* The reader hands the request to its worker. */
static void hand_over(int client, int reader, int fd, int worker, int word)
{
	talk_request(&t, client, 5, reader);
	talk_futex_wake(&t, reader, word, worker);
	talk_await(&t, reader, "recvfrom", fd);
}

/* It answers the client, and waits for the next item. */
static void answer_and_wait(int worker, int fd, int client, int word)
{
	talk_send(&t, worker, "sendto", fd, client, "recvfrom");
	talk_futex_wait(&t, worker, word);
}

START_TEST(a_worker_that_sleeps_with_a_lock_goes_on_with_its_request)
{
	const int words[] = { 20480, 24576 };
	struct lqn_entry *held;

	start_two_workers();
	talk_thread(&t, SERVER, WORKER_3);
	talk_thread(&t, SERVER, WORKER_4);
	talk_futex_wait(&t, WORKER_3, words[0]);
	talk_futex_wait(&t, WORKER_4, words[1]);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		hand_over(CLIENT, SERVER, 7, WORKER_3, words[0]);
		hand_over(CLIENT_2, WORKER_2, 8, WORKER_4, words[1]);
		talk_work(&t, 20);
		talk_futex_wait(&t, WORKER_4, WORD);
		talk_work(&t, 60);
		talk_futex_wake(&t, WORKER_3, WORD, WORKER_4);
		answer_and_wait(WORKER_3, 7, CLIENT, words[0]);
		talk_work(&t, 10);
		talk_sleep(&t, WORKER_4, 70);
		talk_futex_wake_nobody(&t, WORKER_4, WORD);
		answer_and_wait(WORKER_4, 8, CLIENT_2, words[1]);
		talk_sleep(&t, CLIENT, 200);
		talk_sleep(&t, CLIENT_2, 50);
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_nonnull(find_lock());
	held = find_lock()->entries->pdata[0];
	near(held->service, 81e-6);
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

/* ---- what lets in several ---- */

enum { SEATS = 6, FIRST_CLIENT = 1, FIRST_WORKER = 20 };

/* So many clients, each with a connection to a thread of its own of one server. */
static void start_seats(void)
{
	talk_start(&t);
	talk_process(&t, FIRST_WORKER, "server");
	for (int i = 0; i < SEATS; i++) {
		talk_process(&t, FIRST_CLIENT + i, "client");
		if (i > 0) {
			talk_thread(&t, FIRST_WORKER, FIRST_WORKER + i);
		}
		talk_connect(&t, FIRST_CLIENT + i, 5, FIRST_WORKER, 7 + i);
	}
	for (int i = SEATS - 1; i >= 0; i--) {
		talk_await(&t, FIRST_WORKER + i, "recvfrom", 7 + i);
	}
}

/* All ask at once; two workers find a permit, the others wait, at one of two words. */
static void ask_all(int other_word)
{
	for (int i = 0; i < SEATS; i++) {
		talk_request(&t, FIRST_CLIENT + i, 5, FIRST_WORKER + i);
		if (i >= 2) {
			talk_futex_wait(&t, FIRST_WORKER + i, i % 2 ? WORD : other_word);
		}
	}
}

static void answer_all(void)
{
	for (int i = 0; i < SEATS; i++) {
		talk_reply(&t, FIRST_WORKER + i, 7 + i, FIRST_CLIENT + i);
	}
	for (int i = 0; i < SEATS; i++) {
		talk_sleep(&t, FIRST_CLIENT + i, 50);
	}
}

/*
 * Each keeps a permit for 80 us, two at a time; the last two give theirs back when nobody waits, which the kernel is not told of.
 * As many waiters of the one word as of the other: it need not be that of who gives back.
 */
static void two_at_a_time(int other_word)
{
	start_seats();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		ask_all(other_word);
		for (int i = 2; i < SEATS; i++) {
			talk_work(&t, i % 2 ? 10 : 68);
			talk_futex_wake(&t, FIRST_WORKER + i - 2, i % 2 ? WORD : other_word, FIRST_WORKER + i);
		}
		talk_work(&t, 80);
		answer_all();
	}
	model = talk_finish(&t, NULL);
}

START_TEST(what_lets_in_several_has_as_many_threads)
{
	/* a semaphore; the two words of a condition variable, over which a pool is waited for */
	const int other_words[] = { WORD, WORD + 4 };

	for (size_t i = 0; i < G_N_ELEMENTS(other_words); i++) {
		struct lqn_task *lock;

		two_at_a_time(other_words[i]);
		lock = find_lock();
		ck_assert_ptr_nonnull(lock);
		ck_assert_uint_eq(lock->multiplicity, 2);
		near(((struct lqn_entry *) lock->entries->pdata[0])->service, 80e-6);
		lqn_model_free(model);
	}
}
END_TEST

/* Readers share it, a writer has it alone, and lets all readers in at once. */
START_TEST(a_read_write_lock_is_no_task_and_that_is_said)
{
	bool said = false;

	start_seats();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		ask_all(WORD);
		talk_work(&t, 60);
		feed(t.feed, "%ld c%d +futex %d 1 99", t.now, FIRST_WORKER, WORD);
		for (int i = 2; i < SEATS - 1; i++) {
			feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R", t.now, FIRST_WORKER, FIRST_WORKER + i, t.now, FIRST_WORKER + i,
				FIRST_WORKER + i);
		}
		t.now++;
		feed(t.feed, "%ld c%d -futex 3", t.now, FIRST_WORKER);
		for (int i = 2; i < SEATS - 1; i++) {
			feed(t.feed, "%ld c%d -futex 0", t.now, FIRST_WORKER + i);
		}
		talk_work(&t, 70);
		talk_futex_wake_nobody(&t, FIRST_WORKER + 2, WORD);
		talk_futex_wake_nobody(&t, FIRST_WORKER + 3, WORD);
		talk_futex_wake(&t, FIRST_WORKER + 4, WORD, FIRST_WORKER + 5);
		talk_work(&t, 50);
		talk_futex_wake_nobody(&t, FIRST_WORKER + 5, WORD);
		answer_all();
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(find_lock());
	for (guint i = 0; i < model->notes->len; i++) {
		said |= strstr(model->notes->pdata[i], "read-write lock") != NULL;
	}
	ck_assert(said);
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

/* The thread that is woken finds nothing, though it takes its time: another, which never waits, has taken the request, and answers. */
START_TEST(who_finds_nothing_has_not_answered_who_still_waits)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "server");
	talk_thread(&t, SERVER, WORKER_2);
	talk_futex_wait(&t, SERVER, 4096);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_futex_wake(&t, CLIENT, 12288, SERVER);
		talk_futex_wait(&t, CLIENT, 16384);
		talk_work(&t, 50);
		talk_futex_wait(&t, SERVER, 4096);
		talk_work(&t, 40);
		talk_futex_wake(&t, WORKER_2, 8192, CLIENT);
		talk_sleep(&t, CLIENT, 400);
	}
	model = talk_finish(&t, NULL);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	lqn_model_free(model);
}
END_TEST

SUITE("shared", what_is_waited_for_and_handed_on_is_a_lock, what_is_held_for_long_is_a_lock_though_few_wait,
	a_lock_that_nobody_waits_for_is_not_seen,
	who_works_on_while_a_lock_is_held_does_not_pass_it, what_is_held_for_a_moment_is_no_resource,
	what_is_given_back_in_another_request_is_no_lock,
	calls_within_a_lock_are_the_locks, a_worker_that_sleeps_with_a_lock_goes_on_with_its_request, a_lock_within_a_lock_is_called_by_it,
	waiting_for_work_is_no_lock, a_worker_passes_on_what_its_process_has_received, what_lets_in_several_has_as_many_threads,
	a_read_write_lock_is_no_task_and_that_is_said, requests_through_shared_memory_are_calls,
	who_finds_nothing_has_not_answered_who_still_waits)
