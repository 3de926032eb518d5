/* SPDX-License-Identifier: MIT */
/* Event loops that have several requests in flight. */
#include "talk.h"

#include "suite.h"

#define CYCLES 60
#define GONE 40		/* clients that do not wait for their answers */
enum { CLIENT = 1, LOOP = 2, CLIENT_2 = 3, BACK = 4, BACK_2 = 6, WORKER = 8, HASTY = 9 };

static struct talk t;
static int gone;		/* of them, so many */
static struct lqn_model *model;

/* Two clients of a loop, which has a connection to each of two backends. */
static void start(void)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, LOOP, "loop");
	talk_process(&t, CLIENT_2, "client");
	talk_process(&t, BACK, "back");
	talk_process(&t, BACK_2, "back");
	if (gone > 0) {
		talk_process(&t, HASTY, "hasty");
	}
	talk_connect(&t, CLIENT, 5, LOOP, 7);
	talk_connect(&t, CLIENT_2, 5, LOOP, 8);
	talk_connect(&t, LOOP, 11, BACK, 13);
	talk_connect(&t, LOOP, 12, BACK_2, 13);
	talk_await(&t, BACK, "recvfrom", 13);
	talk_await(&t, BACK_2, "recvfrom", 13);
	for (int i = 0; i < gone; i++) {
		talk_connect(&t, HASTY, 100 + i, LOOP, 200 + i);
	}
	feed(t.feed, "%ld c%d +epoll_create1 0\n%ld c%d -epoll_create1 9", t.now, LOOP, t.now, LOOP);
	talk_await(&t, LOOP, "epoll_wait", 9);
}

static void take(int fd)
{
	feed(t.feed, "%ld c%d +recvfrom %d 4096\n%ld c%d -recvfrom 64", t.now, LOOP, fd, t.now + 1, LOOP);
	talk_work(&t, 1);
}

/* The client's request comes to the loop, which works on it. */
static void come(int client, int fd)
{
	talk_send(&t, client, "sendto", 5, LOOP, "epoll_wait");
	talk_await(&t, client, "recvfrom", 5);
	take(fd);
	talk_work(&t, 20);
}

static void ask(int back, int fd, const char *wait, int at)
{
	talk_send(&t, LOOP, "sendto", fd, back, "recvfrom");
	talk_await(&t, LOOP, wait, at);
}

static void answer(int back, const char *wait)
{
	talk_send(&t, back, "sendto", 13, LOOP, wait);
	talk_await(&t, back, "recvfrom", 13);
}

/* The loop answers, and waits for more. */
static void finish(int fd, int client)
{
	talk_work(&t, 10);
	talk_send(&t, LOOP, "sendto", fd, client, "recvfrom");
	talk_await(&t, LOOP, "epoll_wait", 9);
}

/* Both clients think. */
static void think(void)
{
	talk_sleep(&t, CLIENT, 100);
	feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S\n%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n"
		"%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0", t.now, CLIENT_2, t.now, CLIENT_2, CLIENT_2, t.now + 50, CLIENT_2, t.now + 50,
		CLIENT_2, CLIENT_2, t.now + 50, CLIENT_2, t.now + 50, CLIENT_2, CLIENT_2, t.now + 50, CLIENT_2);
	talk_work(&t, 50);
}

static void two_in_flight(void)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		come(CLIENT, 7);
		ask(BACK, 11, "epoll_wait", 9);
		come(CLIENT_2, 8);
		ask(BACK_2, 12, "epoll_wait", 9);
		talk_work(&t, 200);
		answer(BACK, "epoll_wait");
		take(11);
		finish(7, CLIENT);
		talk_work(&t, 30);
		answer(BACK_2, "epoll_wait");
		take(12);
		finish(8, CLIENT_2);
		think();
	}
}

START_TEST(requests_in_flight_do_not_hold_the_loop)
{
	const struct lqn_task *task;
	struct lqn_entry *entry, *computing;

	two_in_flight();
	model = talk_finish(&t, NULL);
	task = talk_task(model, "loop");
	ck_assert_int_eq(task->sched, LQN_SCHED_INF);
	task = talk_task(model, "loop_loop");
	ck_assert_ptr_nonnull(task);
	ck_assert_int_eq(task->kind, LQN_TASK_LOOP);
	ck_assert_uint_eq(task->multiplicity, 1);
	entry = talk_entry(model, "loop");
	computing = talk_entry(model, "loop_loop");
	ck_assert_ptr_eq(entry->loop, computing);
	near(talk_calls(entry, talk_entry(model, "back"), LQN_SYNC), 1);
	near(talk_calls(entry, computing, LQN_SYNC), 2);
	near(computing->phase[0].demand, 17.5e-6);
	ck_assert_double_lt(entry->phase[0].demand, 1e-8);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 2);
	lqn_model_free(model);
}
END_TEST

START_TEST(who_waits_for_one_answer_alone_holds_its_thread)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		come(CLIENT, 7);
		ask(BACK, 11, "recvfrom", 11);
		talk_work(&t, 200);
		answer(BACK, "recvfrom");
		finish(7, CLIENT);
		come(CLIENT_2, 8);
		ask(BACK_2, 12, "recvfrom", 12);
		talk_work(&t, 200);
		answer(BACK_2, "recvfrom");
		finish(8, CLIENT_2);
		think();
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(talk_task(model, "loop_loop"));
	ck_assert_int_eq(talk_task(model, "loop")->sched, LQN_SCHED_FCFS);
	lqn_model_free(model);
}
END_TEST

/* That others could come, though none did, tells where it waits. */
START_TEST(who_waits_for_answers_where_requests_come_is_free_for_them)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		come(CLIENT, 7);
		ask(BACK, 11, "epoll_wait", 9);
		talk_work(&t, 200);
		answer(BACK, "epoll_wait");
		take(11);
		finish(7, CLIENT);
		talk_sleep(&t, CLIENT, 100);
	}
	model = talk_finish(&t, NULL);
	ck_assert_int_eq(talk_task(model, "loop")->sched, LQN_SCHED_INF);
	ck_assert_ptr_nonnull(talk_task(model, "loop_loop"));
	lqn_model_free(model);
}
END_TEST

/* It waits there for the answer, and leaves alone what else comes. */
START_TEST(who_puts_requests_off_until_an_answer_comes_is_serial)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		come(CLIENT, 7);
		ask(BACK, 11, "epoll_wait", 9);
		talk_work(&t, 50);
		feed(t.feed, "%ld c%d +sendto 5 64\n%ld c%d -sendto 64", t.now, CLIENT_2, t.now + 1, CLIENT_2);
		talk_work(&t, 1);
		talk_await(&t, CLIENT_2, "recvfrom", 5);
		talk_work(&t, 150);
		answer(BACK, "epoll_wait");
		take(11);
		talk_work(&t, 10);
		talk_send(&t, LOOP, "sendto", 7, CLIENT, "recvfrom");
		take(8);
		talk_work(&t, 20);
		ask(BACK_2, 12, "epoll_wait", 9);
		talk_work(&t, 200);
		answer(BACK_2, "epoll_wait");
		take(12);
		finish(8, CLIENT_2);
		think();
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(talk_task(model, "loop_loop"));
	ck_assert_int_eq(talk_task(model, "loop")->sched, LQN_SCHED_FCFS);
	lqn_model_free(model);
}
END_TEST

static void expire(void)
{
	feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -epoll_wait 0", t.now, LOOP, t.now,
		LOOP, LOOP, t.now, LOOP, t.now, LOOP, LOOP, t.now, LOOP);
}

/* Two handlers sleep in the loop, as with timers of its own; it goes on with others meanwhile. */
START_TEST(a_timer_of_the_loop_delays_the_request_alone)
{
	struct lqn_entry *entry;

	start();
	for (int i = 0; i < CYCLES; i++) {
		come(CLIENT, 7);
		talk_await(&t, LOOP, "epoll_wait", 9);
		talk_work(&t, 50);
		come(CLIENT_2, 8);
		talk_await(&t, LOOP, "epoll_wait", 9);
		talk_work(&t, 378);
		expire();
		finish(7, CLIENT);
		talk_work(&t, 61);
		expire();
		finish(8, CLIENT_2);
		think();
	}
	model = talk_finish(&t, NULL);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 2);
	ck_assert_int_eq(talk_task(model, "loop")->sched, LQN_SCHED_INF);
	entry = talk_entry(model, "loop");
	near(entry->phase[0].think, 451e-6);
	near(talk_calls(entry, talk_entry(model, "loop_loop"), LQN_SYNC), 2);
	near(talk_entry(model, "loop_loop")->phase[0].demand, 17e-6);
	lqn_model_free(model);
}
END_TEST

/*
 * A worker takes the request over before the loop goes back to wait; the loop has the answer to the worker's call, and answers
 * the client: nobody had left the request alone.
 */
START_TEST(what_a_worker_has_taken_over_was_not_left)
{
	struct lqn_path_report *paths = NULL;

	start();
	talk_thread(&t, LOOP, WORKER);
	for (int i = 0; i < CYCLES; i++) {
		talk_futex_wait(&t, WORKER, 640);
		come(CLIENT, 7);
		talk_futex_wake(&t, LOOP, 640, WORKER);
		talk_work(&t, 5);
		talk_await(&t, LOOP, "epoll_wait", 9);
		talk_work(&t, 50);
		talk_send(&t, WORKER, "sendto", 11, BACK, "recvfrom");
		talk_work(&t, 100);
		answer(BACK, "epoll_wait");
		take(11);
		finish(7, CLIENT);
		talk_sleep(&t, CLIENT, 100);
	}
	model = talk_model(&t, NULL, &paths, NULL);
	ck_assert_uint_eq(paths->not_tiled, 0);
	near(talk_entry(model, "loop")->phase[0].think, 0);
	near(talk_calls(talk_entry(model, "loop"), talk_entry(model, "back"), LQN_SYNC), 1);
	lqn_path_report_free(paths);
	lqn_model_free(model);
}
END_TEST

/* Two clients, and one connection to the backend: who finds it taken waits until another's answer has come. */
static void cycles_on_one_connection(bool hands_on_first)
{
	for (int i = 0; i < CYCLES; i++) {
		come(CLIENT, 7);
		ask(BACK, 11, "epoll_wait", 9);
		come(CLIENT_2, 8);
		talk_await(&t, LOOP, "epoll_wait", 9);
		talk_work(&t, 200);
		answer(BACK, "epoll_wait");
		take(11);
		if (hands_on_first) {
			talk_send(&t, LOOP, "sendto", 11, BACK, "recvfrom");
		}
		talk_work(&t, 10);
		talk_send(&t, LOOP, "sendto", 7, CLIENT, "recvfrom");
		if (!hands_on_first) {
			talk_send(&t, LOOP, "sendto", 11, BACK, "recvfrom");
		}
		talk_await(&t, LOOP, "epoll_wait", 9);
		talk_work(&t, 200);
		answer(BACK, "epoll_wait");
		take(11);
		finish(8, CLIENT_2);
		think();
	}
}

static void share_one_connection(bool hands_on_first)
{
	const struct lqn_task *pool;

	start();
	cycles_on_one_connection(hands_on_first);
	model = talk_finish(&t, NULL);
	pool = talk_task(model, "pool_loop_back");
	ck_assert_ptr_nonnull(pool);
	ck_assert_int_eq(pool->kind, LQN_TASK_LOCK);
	ck_assert_uint_eq(pool->multiplicity, 1);
	ck_assert(!talk_entry(model, "loop")->has_phase2);
	near(talk_calls(talk_entry(model, "loop"), talk_entry(model, "pool_loop_back"), LQN_SYNC), 1);
	near(talk_calls(talk_entry(model, "pool_loop_back"), talk_entry(model, "back"), LQN_SYNC), 1);
	near(talk_entry(model, "loop")->phase[0].think, 0);
	near(talk_calls(talk_entry(model, "loop"), talk_entry(model, "loop_loop"), LQN_SYNC), 2.5);
	lqn_model_free(model);
}

START_TEST(requests_wait_for_connections_where_no_thread_does)
{
	share_one_connection(false);
}
END_TEST

START_TEST(who_has_been_answered_makes_no_call_that_it_does_not_wait_for)
{
	share_one_connection(true);
}
END_TEST

/* The first request of each is answered; the second never is, for the loop asks nobody for it before it closes the connection. */
static void go(void)
{
	for (int i = 0; i < gone; i++) {
		talk_send(&t, HASTY, "sendto", 100 + i, LOOP, "epoll_wait");
		if (i > 0) {
			feed(t.feed, "%ld c%d +close %d\n%ld c%d -close 0", t.now, LOOP, 199 + i, t.now + 1, LOOP);
			feed(t.feed, "%ld c%d +close %d\n%ld c%d -close 0", t.now, HASTY, 99 + i, t.now + 1, HASTY);
			talk_work(&t, 2);
		}
		take(200 + i);
		feed(t.feed, "%ld c%d +sendto %d 64\n%ld c%d -sendto 64", t.now, LOOP, 200 + i, t.now + 1, LOOP);
		talk_work(&t, 2);
		feed(t.feed, "%ld c%d +recvfrom %d 4096\n%ld c%d -recvfrom 64", t.now, HASTY, 100 + i, t.now + 1, HASTY);
		talk_await(&t, LOOP, "epoll_wait", 9);
		talk_work(&t, 2);
		if (i < gone - 1) {
			talk_send(&t, HASTY, "sendto", 100 + i, LOOP, "epoll_wait");
			take(200 + i);
			talk_await(&t, LOOP, "epoll_wait", 9);
			talk_work(&t, 2);
		}
	}
}

/* What the task asks first. */
static const struct lqn_entry *entry_for(const struct lqn_model *network, const char *task)
{
	return g_array_index(talk_entry(network, task)->phase[0].calls, struct lqn_model_call, 0).dest;
}

START_TEST(whose_connection_is_closed_is_not_taken_up_again)
{
	gone = GONE;
	start();
	go();
	cycles_on_one_connection(false);
	model = talk_finish(&t, NULL);
	near(talk_calls(entry_for(model, "client"), talk_task(model, "pool_loop_back")->entries->pdata[0], LQN_SYNC), 1);
	ck_assert_uint_eq(talk_task(model, "pool_loop_back")->entries->len, 1);
	lqn_model_free(model);
	gone = 0;
}
END_TEST

/* Both requests are there when it comes to look: it reads them, then answers them. */
START_TEST(who_reads_several_before_it_answers_has_left_none)
{
	start();
	for (int i = 0; i < CYCLES; i++) {
		come(CLIENT, 7);
		feed(t.feed, "%ld c%d +sendto 5 64\n%ld c%d -sendto 64", t.now, CLIENT_2, t.now + 1, CLIENT_2);
		talk_work(&t, 1);
		talk_await(&t, CLIENT_2, "recvfrom", 5);
		take(8);
		talk_work(&t, 20);
		talk_send(&t, LOOP, "sendto", 7, CLIENT, "recvfrom");
		finish(8, CLIENT_2);
		think();
	}
	model = talk_finish(&t, NULL);
	ck_assert_ptr_null(talk_task(model, "loop_loop"));
	near(talk_entry(model, "loop")->phase[0].think, 0);
	lqn_model_free(model);
}
END_TEST

/* ns that a thread of the task spends so on a path. */
static int64_t time_on(const struct lqn_request_path *path, enum lqn_path_kind kind, const char *task)
{
	int64_t sum = 0;

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct lqn_path_piece *piece = &g_array_index(path->pieces, struct lqn_path_piece, i);

		sum += piece->kind == kind && g_str_equal(piece->task, task) ? piece->end - piece->begin : 0;
	}
	return sum;
}

/* Each client's request is with its backend while the loop works for the other. */
START_TEST(a_path_goes_through_what_was_called_whatever_the_loop_does_meanwhile)
{
	struct lqn_path_report *paths = NULL;
	const struct lqn_path_group *group;

	two_in_flight();
	model = talk_model(&t, NULL, &paths, NULL);
	ck_assert_uint_eq(paths->not_tiled, 0);
	group = paths->groups->pdata[0];
	for (guint i = 0; i < group->kept->len; i++) {
		const struct lqn_request_path *path = group->kept->pdata[i];

		ck_assert_int_ge(time_on(path, LQN_PATH_CPU, "back"), 215000);
		ck_assert_int_le(time_on(path, LQN_PATH_CPU, "loop"), 40000);
		ck_assert_int_eq(time_on(path, LQN_PATH_QUEUE, "client"), 0);
	}
	lqn_path_report_free(paths);
	lqn_model_free(model);
}
END_TEST

SUITE("loops", requests_in_flight_do_not_hold_the_loop, who_waits_for_one_answer_alone_holds_its_thread,
	who_waits_for_answers_where_requests_come_is_free_for_them, who_puts_requests_off_until_an_answer_comes_is_serial,
	a_timer_of_the_loop_delays_the_request_alone, what_a_worker_has_taken_over_was_not_left,
	requests_wait_for_connections_where_no_thread_does,
	who_has_been_answered_makes_no_call_that_it_does_not_wait_for, whose_connection_is_closed_is_not_taken_up_again,
	who_reads_several_before_it_answers_has_left_none,
	a_path_goes_through_what_was_called_whatever_the_loop_does_meanwhile)
