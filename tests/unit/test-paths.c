/* SPDX-License-Identifier: MIT */
/* Critical paths of requests: who stands in their way, what the slow ones have that the typical have not, and what is kept. */
#include "talk.h"

#include <string.h>

#include "suite.h"

#define WORD 8192
enum { CLIENT = 1, SERVER = 2, CLIENT_2 = 3, WORKER_2 = 4, CLIENT_3 = 5, WORKER_3 = 6 };

static struct talk t;
static struct lqn_model *model;
static struct lqn_path_report *paths;

/* Every path tiles, or the test fails. */
static void finish(unsigned slowest)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .whole = true, .clutter = true,
		.all_paths = true, .slowest = slowest };
	GError *error = NULL;

	model = talk_model(&t, &options, &paths, &error);
	ck_assert_msg(model != NULL, "%s", error ? error->message : "no model and no error");
	ck_assert_uint_eq(paths->not_tiled, 0);
	ck_assert_uint_eq(paths->requests, paths->all->len);
}

static void done(void)
{
	lqn_model_free(model);
	lqn_path_report_free(paths);
}

static const struct lqn_path_group *group(const char *name)
{
	for (guint i = 0; i < paths->groups->len; i++) {
		const struct lqn_path_group *it = paths->groups->pdata[i];

		if (strcmp(lqn_path_group_name(it), name) == 0) {
			return it;
		}
	}
	ck_abort_msg("no operation %s", name);
}

/* The n-th piece of that kind, from 0 on, of any request of a client's thread. */
static const struct lqn_path_piece *piece(uint64_t client, enum lqn_path_kind kind, guint n)
{
	for (guint i = 0; i < paths->all->len; i++) {
		const struct lqn_request_path *path = paths->all->pdata[i];

		for (guint k = 0; path->thread == client && k < path->pieces->len; k++) {
			const struct lqn_path_piece *it = &g_array_index(path->pieces, struct lqn_path_piece, k);

			if (it->kind == kind && n-- == 0) {
				return it;
			}
		}
	}
	ck_abort_msg("no such piece: %s", lqn_path_kind_name(kind));
}

static const struct lqn_request_path *request(uint32_t number)
{
	for (guint i = 0; i < paths->all->len; i++) {
		const struct lqn_request_path *path = paths->all->pdata[i];

		if (path->number == number) {
			return path;
		}
	}
	ck_abort_msg("no request %u", number);
}

static void is_long(const struct lqn_path_piece *it, long us)
{
	ck_assert_int_eq(it->end - it->begin, us * 1000);
}

/* ---- locks ---- */

/* Clients with a thread each of one server. */
static void start_workers(int n)
{
	talk_start(&t);
	talk_process(&t, SERVER, "server");
	for (int i = 0; i < n; i++) {
		talk_process(&t, CLIENT + 2 * i, "client");
		if (i > 0) {
			talk_thread(&t, SERVER, SERVER + 2 * i);
		}
		talk_connect(&t, CLIENT + 2 * i, 5, SERVER, 7 + i);
		if (i > 0) {
			talk_await(&t, SERVER + 2 * i, "recvfrom", 7 + i);
		}
	}
	talk_await(&t, SERVER, "recvfrom", 7);
}

/* The first has the lock when the others come, the second then, for 50 us of work and 30 us of sleep, the third at last. */
static void convoy(void)
{
	talk_work(&t, 10);
	talk_request(&t, CLIENT, 5, SERVER);
	talk_work(&t, 10);
	talk_request(&t, CLIENT_2, 5, WORKER_2);
	talk_futex_wait(&t, WORKER_2, WORD);
	talk_work(&t, 10);
	talk_request(&t, CLIENT_3, 5, WORKER_3);
	talk_futex_wait(&t, WORKER_3, WORD);
	talk_work(&t, 60);
	talk_futex_wake(&t, SERVER, WORD, WORKER_2);
	talk_reply(&t, SERVER, 7, CLIENT);
	talk_work(&t, 50);
	talk_sleep(&t, WORKER_2, 30);
	talk_futex_wake(&t, WORKER_2, WORD, WORKER_3);
	talk_reply(&t, WORKER_2, 8, CLIENT_2);
	talk_work(&t, 20);
	talk_futex_wake_nobody(&t, WORKER_3, WORD);
	talk_reply(&t, WORKER_3, 9, CLIENT_3);
	talk_sleep(&t, CLIENT, 50);
	talk_sleep(&t, CLIENT_2, 50);
	talk_sleep(&t, CLIENT_3, 50);
}

START_TEST(the_holders_of_a_lock_are_named_one_after_the_other)
{
	const struct lqn_path_piece *first, *work, *sleep;
	const struct lqn_path_delay *delay;

	start_workers(3);
	for (int i = 0; i < 20; i++) {
		convoy();
	}
	finish(0);
	first = piece(CLIENT_3, LQN_PATH_LOCK, 0);
	work = first + 1;
	sleep = first + 2;
	ck_assert_str_eq(first->detail, "lock_1");
	ck_assert_uint_eq(first->thread, WORKER_3);
	ck_assert_uint_eq(first->by.thread, SERVER);
	ck_assert_uint_eq(request(first->by.request)->thread, CLIENT);
	ck_assert_str_eq(first->by.operation, "client");
	ck_assert_int_eq(first->by.doing, LQN_PATH_CPU);
	is_long(first, 60);
	ck_assert_int_eq(work->kind, LQN_PATH_LOCK);
	ck_assert_uint_eq(work->by.thread, WORKER_2);
	ck_assert_uint_eq(request(work->by.request)->thread, CLIENT_2);
	ck_assert_int_eq(work->by.doing, LQN_PATH_CPU);
	ck_assert_int_eq(sleep->by.doing, LQN_PATH_SLEEP);
	is_long(sleep, 30);
	/* it adds up over the requests */
	delay = &g_array_index(paths->delays, struct lqn_path_delay, 0);
	ck_assert_int_eq(delay->kind, LQN_PATH_LOCK);
	/* the last request, of the third client, ends the window */
	ck_assert_uint_eq(delay->requests, 39);
	ck_assert_double_eq_tol(delay->doing[LQN_PATH_SLEEP], 19 * 30000, 1);
	done();
}
END_TEST

START_TEST(a_lock_that_was_found_free_is_held_since_the_request_came)
{
	const struct lqn_path_piece *it;

	start_workers(3);
	for (int i = 0; i < 20; i++) {
		convoy();
	}
	finish(0);
	/* the second one waits for the first alone, which has never waited */
	it = piece(CLIENT_2, LQN_PATH_LOCK, 0);
	ck_assert_uint_eq(it->by.thread, SERVER);
	ck_assert_int_eq(it->by.doing, LQN_PATH_CPU);
	ck_assert_int_ne(it[1].kind, LQN_PATH_LOCK);
	done();
}
END_TEST

/* ---- CPUs ---- */

START_TEST(who_has_the_cpu_is_named_with_his_request)
{
	const struct lqn_path_piece *it;

	start_workers(2);
	for (int i = 0; i < 20; i++) {
		long now;

		talk_work(&t, 10);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 10);
		talk_request(&t, CLIENT_2, 5, WORKER_2);
		now = t.now;
		/* the second worker goes to the first one's CPU, and is put off it for 40 us by a thread that nobody knows */
		feed(t.feed, "%ld c4 sw 4>0 P\n%ld c4 sw 0>9 R\n%ld c2 sw 2>4 P\n%ld c2 sw 4>8 P\n"
			"%ld c2 sw 8>4 S\n%ld c2 sw 4>2 P\n%ld c4 sw 9>4 S",
			now, now, now + 30, now + 50, now + 90, now + 100, now + 110);
		t.now = now + 120;
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_work(&t, 5);
		talk_reply(&t, WORKER_2, 8, CLIENT_2);
		talk_sleep(&t, CLIENT, 50);
		talk_sleep(&t, CLIENT_2, 50);
	}
	finish(0);
	it = piece(CLIENT, LQN_PATH_PREEMPTED, 0);
	ck_assert_uint_eq(it->thread, SERVER);
	ck_assert_uint_eq(it->by.thread, WORKER_2);
	ck_assert_uint_eq(request(it->by.request)->thread, CLIENT_2);
	is_long(it, 70);
	it = piece(CLIENT_2, LQN_PATH_PREEMPTED, 1);
	ck_assert_uint_eq(it->by.thread, 8);
	ck_assert_uint_eq(it->by.request, 0);
	ck_assert_ptr_null(it->by.operation);
	is_long(it, 40);
	done();
}
END_TEST

START_TEST(a_caller_put_off_its_cpu_by_whom_it_asked_waits_for_him)
{
	const struct lqn_request_path *path;
	const struct lqn_path_piece *it;

	start_workers(1);
	for (int i = 0; i < 20; i++) {
		long now;

		talk_work(&t, 10);
		now = t.now;
		/* the server comes on the client's CPU at once, works for 60 us, answers, and leaves; another has the CPU for 20 us */
		feed(t.feed, "%ld c1 +sendto 5 64\n%ld c1 wk 2\n%ld c1 sw 1>2 P\n%ld c1 -recvfrom 64\n"
			"%ld c1 +sendto 7 64\n%ld c1 -sendto 64\n"
			"%ld c1 +recvfrom 7 4096\n%ld c1 sw 2>9 S\n%ld c1 sw 9>1 S\n%ld c1 -sendto 64\n"
			"%ld c1 +recvfrom 5 4096\n%ld c1 -recvfrom 64",
			now, now, now, now, now + 60, now + 61, now + 61, now + 61, now + 81, now + 82, now + 83, now + 84);
		t.now = now + 85;
		talk_sleep(&t, CLIENT, 50);
	}
	finish(0);
	path = request(2);
	ck_assert_uint_eq(path->pieces->len, 4);
	it = &g_array_index(path->pieces, struct lqn_path_piece, 1);
	ck_assert_uint_eq(it->thread, SERVER);
	ck_assert_int_eq(it->kind, LQN_PATH_CPU);
	ck_assert_str_eq(it->place->task, "server");
	is_long(it, 61);
	ck_assert_uint_eq(it[1].thread, CLIENT);
	ck_assert_int_eq(it[1].kind, LQN_PATH_PREEMPTED);
	is_long(it + 1, 20);
	done();
}
END_TEST

START_TEST(who_had_the_cpu_that_was_waited_for_is_named)
{
	const struct lqn_path_piece *it;

	start_workers(2);
	for (int i = 0; i < 20; i++) {
		long now;

		talk_work(&t, 10);
		talk_request(&t, CLIENT_2, 5, WORKER_2);
		talk_work(&t, 10);
		now = t.now;
		/* the request reaches the first worker, which gets the second one's CPU 30 us later; no other is idle */
		feed(t.feed, "%ld c0 sw 0>10 R\n%ld c2 sw 0>12 R\n%ld c3 sw 0>13 R\n%ld c1 +sendto 5 64\n%ld c1 wk 2\n%ld c1 -sendto 64\n"
			"%ld c1 +recvfrom 5 4096\n%ld c1 sw 1>14 S\n%ld c4 sw 4>2 P\n%ld c4 -recvfrom 64\n"
			"%ld c4 sw 2>4 P\n%ld c2 sw 12>2 S\n"
			"%ld c0 sw 10>0 S\n%ld c3 sw 13>0 S\n%ld c1 sw 14>0 S",
			now, now, now, now, now, now + 1, now + 1, now + 1, now + 30, now + 30, now + 40, now + 50, now + 50, now + 50,
			now + 50);
		t.now = now + 60;
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_reply(&t, WORKER_2, 8, CLIENT_2);
		talk_sleep(&t, CLIENT, 50);
		talk_sleep(&t, CLIENT_2, 50);
	}
	finish(0);
	it = piece(CLIENT, LQN_PATH_RUNNABLE, 0);
	ck_assert_uint_eq(it->thread, SERVER);
	ck_assert_uint_eq(it->by.thread, WORKER_2);
	ck_assert_uint_eq(request(it->by.request)->thread, CLIENT_2);
	ck_assert_str_eq(it->by.operation, "client");
	done();
}
END_TEST

/* ---- devices ---- */

static void read_block(int thread, int sector)
{
	feed(t.feed, "%ld c%d +pread64 9\n%ld c%d issue 8388608 %d %d\n%ld c%d sw %d>0 D", t.now, thread, t.now, thread, thread,
		sector, t.now, thread, thread);
}

static void complete_block(int thread, int sector)
{
	feed(t.feed, "%ld c0 +irq 9\n%ld c0 complete 8388608 0 %d\n%ld c0 wk %d\n%ld c0 -irq 9\n%ld c%d sw 0>%d R\n%ld c%d -pread64 4096",
		t.now, t.now, sector, t.now, thread, t.now, t.now, thread, thread, t.now, thread);
}

START_TEST(a_device_serves_one_request_after_the_other)
{
	const struct lqn_path_piece *it;
	const struct lqn_path_delay *delay;

	start_workers(2);
	for (int i = 0; i < 20; i++) {
		talk_work(&t, 10);
		talk_request(&t, CLIENT, 5, SERVER);
		read_block(SERVER, 100);
		talk_work(&t, 10);
		talk_request(&t, CLIENT_2, 5, WORKER_2);
		read_block(WORKER_2, 200);
		talk_work(&t, 60);
		complete_block(SERVER, 100);
		talk_work(&t, 70);
		complete_block(WORKER_2, 200);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_reply(&t, WORKER_2, 8, CLIENT_2);
		talk_sleep(&t, CLIENT, 50);
		talk_sleep(&t, CLIENT_2, 50);
	}
	finish(0);
	it = piece(CLIENT, LQN_PATH_DISK, 0);
	ck_assert_str_eq(it->detail, "device 8:0");
	is_long(it, 71);
	it = piece(CLIENT_2, LQN_PATH_DISK_QUEUE, 0);
	ck_assert_str_eq(it->detail, "device 8:0");
	ck_assert_uint_eq(it->by.thread, SERVER);
	ck_assert_uint_eq(request(it->by.request)->thread, CLIENT);
	is_long(it, 60);
	is_long(piece(CLIENT_2, LQN_PATH_DISK, 0), 70);
	delay = &g_array_index(paths->delays, struct lqn_path_delay, 0);
	ck_assert_int_eq(delay->kind, LQN_PATH_DISK_QUEUE);
	ck_assert_double_eq_tol(delay->sum, 19 * 60000, 1);
	done();
}
END_TEST

/* ---- queues ---- */

START_TEST(a_message_waits_while_who_takes_it_is_busy)
{
	const struct lqn_path_piece *it;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, CLIENT_2, "other");
	talk_process(&t, SERVER, "server");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CLIENT_2, 5, SERVER, 8);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < 20; i++) {
		long now;

		talk_work(&t, 10);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 20);
		/* the other asks; the server reads that 60 us later, when it has answered the first */
		feed(t.feed, "%ld c3 +sendto 5 64\n%ld c3 -sendto 64", t.now, t.now);
		talk_await(&t, CLIENT_2, "recvfrom", 5);
		talk_work(&t, 60);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		now = t.now;
		feed(t.feed, "%ld c2 +recvfrom 8 4096\n%ld c2 -recvfrom 64", now + 1, now + 1);
		talk_work(&t, 30);
		talk_send(&t, SERVER, "sendto", 8, CLIENT_2, "recvfrom");
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_sleep(&t, CLIENT, 50);
		talk_sleep(&t, CLIENT_2, 50);
	}
	finish(0);
	it = piece(CLIENT_2, LQN_PATH_QUEUE, 0);
	ck_assert_uint_eq(it->thread, SERVER);
	ck_assert_uint_eq(it->by.thread, SERVER);
	ck_assert_uint_eq(request(it->by.request)->thread, CLIENT);
	ck_assert_str_eq(it->by.operation, "client");
	ck_assert_int_ge(it->end - it->begin, 60000);
	done();
}
END_TEST

/* ---- calls side by side ---- */

START_TEST(of_calls_side_by_side_the_last_is_on_the_path)
{
	const struct lqn_request_path *path;
	const struct lqn_path_work *slack = NULL;

	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "quick");
	talk_process(&t, CLIENT_2, "slow");
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CLIENT, 6, CLIENT_2, 8);
	talk_await(&t, SERVER, "recvfrom", 7);
	talk_await(&t, CLIENT_2, "recvfrom", 8);
	for (int i = 0; i < 20; i++) {
		talk_work(&t, 10);
		talk_send(&t, CLIENT, "sendto", 5, SERVER, "recvfrom");
		talk_work(&t, 1);
		talk_send(&t, CLIENT, "sendto", 6, CLIENT_2, "recvfrom");
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 20);
		talk_send(&t, SERVER, "sendto", 7, CLIENT, "recvfrom");
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_await(&t, CLIENT, "recvfrom", 6);
		talk_work(&t, 80);
		talk_send(&t, CLIENT_2, "sendto", 8, CLIENT, "recvfrom");
		talk_await(&t, CLIENT_2, "recvfrom", 8);
		talk_sleep(&t, CLIENT, 50);
	}
	finish(1);
	path = group("client")->kept->pdata[group("client")->kept->len - 1];
	ck_assert(path->kept & LQN_KEPT_SLOWEST);
	ck_assert_uint_eq(path->works->len, 3);
	for (guint i = 0; i < path->works->len; i++) {
		const struct lqn_path_work *work = &g_array_index(path->works, struct lqn_path_work, i);

		if (work->slack >= 0) {
			ck_assert_ptr_null(slack);
			slack = work;
		}
	}
	ck_assert_ptr_nonnull(slack);
	ck_assert_str_eq(slack->task, "quick");
	ck_assert_int_ge(slack->slack, 80000);
	ck_assert_int_le(slack->slack, 84000);
	/* from the second send on the path is with the slow one */
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct lqn_path_piece *it = &g_array_index(path->pieces, struct lqn_path_piece, i);

		if (strcmp(it->task, "slow") == 0) {
			ck_assert_int_eq(it->kind, LQN_PATH_CPU);
			ck_assert_int_ge(it->end - it->begin, 80000);
		}
	}
	done();
}
END_TEST

/* ---- operations ---- */

/* A client asks for one of two things; now and then the one finds its lock taken by the other, whose clients are not asked about. */
static void shop(int i)
{
	bool slow = i % 10 == 0;

	talk_work(&t, 10);
	if (slow) {
		talk_request(&t, CLIENT_2, 5, WORKER_2);
		talk_span(&t, WORKER_2, 1000 + i, true, "report");
		talk_work(&t, 20);
	}
	talk_request(&t, CLIENT, 5, SERVER);
	talk_span(&t, SERVER, 3000 + i, true, i % 2 ? "browse" : "buy");
	talk_work(&t, 100 + i % 7);
	if (slow) {
		talk_futex_wait(&t, SERVER, WORD);
		talk_work(&t, 600);
		talk_futex_wake(&t, WORKER_2, WORD, SERVER);
		talk_work(&t, 30);
		talk_futex_wake_nobody(&t, SERVER, WORD);
	}
	talk_work(&t, 20);
	talk_span(&t, SERVER, 3000 + i, false, "");
	talk_reply(&t, SERVER, 7, CLIENT);
	if (slow) {
		talk_work(&t, 5);
		talk_span(&t, WORKER_2, 1000 + i, false, "");
		talk_reply(&t, WORKER_2, 8, CLIENT_2);
		talk_sleep(&t, CLIENT_2, 20);
	}
	talk_sleep(&t, CLIENT, 50);
}

START_TEST(a_planted_lock_is_first_of_what_the_slow_have)
{
	const struct lqn_path_group *buy;
	const struct lqn_path_share *first = NULL;
	const struct lqn_path_delay *delay;

	start_workers(2);
	for (int i = 0; i < 401; i++) {
		shop(i);
	}
	finish(3);
	/* the last that begins ends the window */
	buy = group("buy");
	ck_assert_uint_eq(buy->requests, 200);
	ck_assert_uint_eq(group("browse")->requests, 200);
	ck_assert_uint_eq(group("report")->requests, 41);
	for (guint i = 0; i < buy->shares->len; i++) {
		const struct lqn_path_share *share = &g_array_index(buy->shares, struct lqn_path_share, i);
		double more = lqn_path_share_mean(buy, share, LQN_SET_SLOW) - lqn_path_share_mean(buy, share, LQN_SET_TYPICAL);

		if (!first || more > lqn_path_share_mean(buy, first, LQN_SET_SLOW) -
				lqn_path_share_mean(buy, first, LQN_SET_TYPICAL)) {
			first = share;
		}
	}
	ck_assert_int_eq(first->kind, LQN_PATH_LOCK);
	ck_assert_str_eq(first->detail, "lock_1");
	ck_assert_str_eq(first->place->entry, "buy");
	ck_assert_str_eq(first->place->caller->task, "client");
	delay = &g_array_index(paths->delays, struct lqn_path_delay, 0);
	ck_assert_str_eq(delay->operation, "buy");
	ck_assert_str_eq(delay->by_operation, "report");
	ck_assert_int_eq(delay->kind, LQN_PATH_LOCK);
	ck_assert_uint_eq(delay->requests, 40);
	done();
}
END_TEST

START_TEST(the_slowest_are_kept_in_full_and_a_sample_of_the_others)
{
	const struct lqn_path_group *buy;
	unsigned slowest = 0, sample = 0, typical = 0;

	start_workers(2);
	for (int i = 0; i < 400; i++) {
		shop(i);
	}
	finish(3);
	buy = group("buy");
	for (guint i = 0; i < buy->kept->len; i++) {
		const struct lqn_request_path *path = buy->kept->pdata[i];

		slowest += (path->kept & LQN_KEPT_SLOWEST) != 0;
		sample += (path->kept & LQN_KEPT_SAMPLE) != 0;
		typical += (path->kept & LQN_KEPT_TYPICAL) != 0;
		ck_assert((path->works != NULL) == (path->kept != LQN_KEPT_SAMPLE));
		/* the numbers are those of the table of all */
		ck_assert_int_eq(request(path->number)->begin, path->begin);
	}
	ck_assert_uint_eq(slowest, 3);
	ck_assert_uint_eq(sample, 20);
	ck_assert_uint_eq(typical, 1);
	ck_assert_int_eq(buy->slow->end - buy->slow->begin, buy->p95);
	ck_assert_uint_eq(buy->band[LQN_BAND_TYPICAL], 100);
	ck_assert_uint_eq(lqn_path_group_count(buy, LQN_SET_SLOW), 10);
	ck_assert_uint_eq(lqn_path_group_count(buy, LQN_SET_ALL), buy->requests);
	done();
}
END_TEST

/* The parts of a kept request tile the work of its threads. */
START_TEST(what_threads_did_tiles_their_work)
{
	const struct lqn_path_group *buy;

	start_workers(2);
	for (int i = 0; i < 100; i++) {
		shop(i);
	}
	finish(2);
	buy = group("buy");
	for (guint i = 0; i < buy->kept->len; i++) {
		const struct lqn_request_path *path = buy->kept->pdata[i];
		int64_t works = 0, states = 0;

		for (guint k = 0; path->works && k < path->works->len; k++) {
			const struct lqn_path_work *work = &g_array_index(path->works, struct lqn_path_work, k);

			ck_assert_int_ge(work->begin, path->begin);
			ck_assert_int_le(work->end, path->end);
			works += work->end - work->begin;
		}
		for (guint k = 0; path->works && k < path->states->len; k++) {
			const struct lqn_path_state *state = &g_array_index(path->states, struct lqn_path_state, k);

			states += state->end - state->begin;
		}
		ck_assert_int_eq(works, states);
	}
	done();
}
END_TEST

START_TEST(entries_tell_operations_apart_where_no_span_does)
{
	talk_start(&t);
	talk_process(&t, CLIENT, "client");
	talk_process(&t, SERVER, "front");
	talk_process(&t, CLIENT_2, "back");
	talk_connect(&t, SERVER, 5, CLIENT_2, 9);
	talk_await(&t, CLIENT_2, "recvfrom", 9);
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_connect(&t, CLIENT, 6, CLIENT_2, 8);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < 60; i++) {
		talk_work(&t, 10);
		if (i % 3) {
			talk_request(&t, CLIENT, 5, SERVER);
			talk_work(&t, 30);
			talk_reply(&t, SERVER, 7, CLIENT);
		} else {
			talk_send(&t, CLIENT, "sendto", 6, CLIENT_2, "recvfrom");
			talk_await(&t, CLIENT, "recvfrom", 6);
			talk_work(&t, 200);
			talk_send(&t, CLIENT_2, "sendto", 8, CLIENT, "recvfrom");
			talk_await(&t, CLIENT_2, "recvfrom", 9);
		}
		talk_sleep(&t, CLIENT, 50);
	}
	finish(0);
	ck_assert_uint_eq(paths->groups->len, 2);
	ck_assert_uint_eq(group("front")->requests, 39);
	ck_assert_uint_eq(group("back")->requests, 20);
	done();
}
END_TEST

START_TEST(interrupts_are_no_work_of_the_thread)
{
	const struct lqn_path_piece *it;
	const struct lqn_request_path *path;
	long now;

	start_workers(1);
	for (int i = 0; i < 20; i++) {
		talk_work(&t, 10);
		talk_request(&t, CLIENT, 5, SERVER);
		now = t.now;
		feed(t.feed, "%ld c%d +irq 9\n%ld c%d -irq 9", now + 10, SERVER, now + 17, SERVER);
		talk_work(&t, 30);
		talk_reply(&t, SERVER, 7, CLIENT);
		talk_sleep(&t, CLIENT, 50);
	}
	finish(0);
	path = request(2);
	it = piece(CLIENT, LQN_PATH_INTERRUPTED, 1);
	ck_assert_uint_eq(it->thread, SERVER);
	ck_assert_str_eq(it->detail, "irq 9");
	ck_assert_str_eq(it->place->task, "server");
	is_long(it, 7);
	ck_assert_int_eq(it[-1].kind, LQN_PATH_CPU);
	ck_assert_int_eq(it[-1].end, it->begin);
	ck_assert_int_eq(it[1].kind, LQN_PATH_CPU);
	ck_assert(it >= (struct lqn_path_piece *) (void *) path->pieces->data);
	done();
}
END_TEST

SUITE("paths", interrupts_are_no_work_of_the_thread, the_holders_of_a_lock_are_named_one_after_the_other,
	a_lock_that_was_found_free_is_held_since_the_request_came, who_has_the_cpu_is_named_with_his_request,
	a_caller_put_off_its_cpu_by_whom_it_asked_waits_for_him, who_had_the_cpu_that_was_waited_for_is_named,
	a_device_serves_one_request_after_the_other,
	a_message_waits_while_who_takes_it_is_busy, of_calls_side_by_side_the_last_is_on_the_path,
	a_planted_lock_is_first_of_what_the_slow_have, the_slowest_are_kept_in_full_and_a_sample_of_the_others,
	what_threads_did_tiles_their_work, entries_tell_operations_apart_where_no_span_does)
