/* SPDX-License-Identifier: MIT */
/*
 * Who asks on connections that are older than the trace: no socket, connect or accept is seen. Each of these traces begins in
 * the middle of a request, so that the first message is an answer, unless a test says otherwise.
 */
#include "suite.h"
#include "talk.h"

#define CYCLES 60
/* Processes are numbered so that the one who serves comes first: neither order may decide. */
enum { DB = 1, SERVER = 2, CLIENT = 3, CLIENT_2 = 4, WORKER = 5, WORKER_2 = 6 };

static struct talk t;
static struct lqn_model *model;
static int skb;

static void start(void)
{
	talk_start(&t);
	skb = 100;
	talk_process(&t, SERVER, "server");
	talk_process(&t, CLIENT, "client");
}

/* The state dump tells that a descriptor is a socket, and no more. */
static void dump_socket(int process, int fd)
{
	feed(t.feed, "%ld c%d statefd %d %d socket:[%d]", t.now, process, process, fd, 1000 * process + fd);
}

/* `from` sends, as talk_send() does, by a packet that tells the ports of the connection. */
static void send_packet(int from, int fd, int to, int port, int to_port)
{
	long now = t.now++;

	skb++;
	feed(t.feed, "%ld c%d +sendto %d 64\n%ld c%d queue %d 1:%d 1:%d 64\n%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -sendto 64\n"
		"%ld c%d copy %d 64\n%ld c%d -recvfrom 64", now, from, fd, now, from, skb, port, to_port, now, from, to, now, to, to,
		now + 1, from, now + 1, to, skb, now + 1, to);
}

/* An answer, after which both go on as they like: `from` has not begun to wait again. */
static void answer(int from, int fd, int to)
{
	talk_send(&t, from, "sendto", fd, to, "recvfrom");
}

/* A client asks a server and nobody else; every request is answered, and nothing goes the other way. */
static void expect_client_and_server(unsigned requests)
{
	struct lqn_task *client = talk_task(model, "client"), *server = talk_task(model, "server");

	ck_assert_ptr_nonnull(client);
	ck_assert_ptr_nonnull(server);
	ck_assert_int_eq(client->kind, LQN_TASK_CLIENT);
	ck_assert_int_eq(server->kind, LQN_TASK_SERVER);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC), 1);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_ASYNC), 0);
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "client"), LQN_SYNC), 0);
	/* the window ends where the last cycle begins */
	ck_assert_uint_ge(talk_entry(model, "server")->invocations, requests - 2);
	ck_assert_uint_le(talk_entry(model, "server")->invocations, requests);
}

/* ---- sleeps ---- */

static void sleeping_client(void)
{
	talk_await(&t, CLIENT, "recvfrom", 5);
	talk_work(&t, 70);
	talk_reply(&t, SERVER, 7, CLIENT);
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 400);
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 200);
		talk_reply(&t, SERVER, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	near(talk_entry(model, "server")->phase[0].demand, 202e-6);
	near(talk_task(model, "client")->think, 400e-6);
	near(talk_task(model, "client")->response, 233e-6);
	lqn_model_free(model);
}

START_TEST(who_sends_after_a_sleep_asks)
{
	start();
	sleeping_client();
}
END_TEST

START_TEST(sockets_of_the_state_dump_are_connections_too)
{
	start();
	dump_socket(CLIENT, 5);
	dump_socket(SERVER, 7);
	sleeping_client();
}
END_TEST

START_TEST(further_from_the_clients_is_the_server)
{
	start();
	talk_process(&t, DB, "db");
	/* server waits for db, client for server */
	talk_await(&t, CLIENT, "recvfrom", 5);
	talk_await(&t, SERVER, "recvfrom", 9);
	talk_work(&t, 70);
	talk_reply(&t, DB, 11, SERVER);
	talk_work(&t, 20);
	talk_reply(&t, SERVER, 7, CLIENT);
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 400);
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 100);
		talk_request(&t, SERVER, 9, DB);
		talk_work(&t, 50);
		talk_reply(&t, DB, 11, SERVER);
		talk_work(&t, 20);
		talk_reply(&t, SERVER, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "db"), LQN_SYNC), 1);
	near(talk_calls(talk_entry(model, "client"), talk_entry(model, "db"), LQN_SYNC), 0);
	near(talk_calls(talk_entry(model, "db"), talk_entry(model, "server"), LQN_SYNC), 0);
	near(talk_entry(model, "server")->phase[0].demand, 124e-6);
	near(talk_entry(model, "db")->phase[0].demand, 52e-6);
	lqn_model_free(model);
}
END_TEST

START_TEST(a_server_that_sleeps_now_and_then_still_serves)
{
	start();
	talk_await(&t, CLIENT, "recvfrom", 5);
	talk_reply(&t, SERVER, 7, CLIENT);
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 400);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 100);
		if (i % 10 == 0) {
			talk_sleep(&t, SERVER, 60);
		}
		talk_reply(&t, SERVER, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	lqn_model_free(model);
}
END_TEST

START_TEST(a_server_that_sleeps_before_it_reads_still_serves)
{
	/* it looks for requests now and then: its answers come after a sleep, but after a message, too */
	start();
	talk_await(&t, CLIENT, "recvfrom", 5);
	answer(SERVER, 7, CLIENT);
	for (int i = 0; i < CYCLES; i++) {
		feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, SERVER, t.now, SERVER, SERVER);
		talk_sleep(&t, CLIENT, 400);
		feed(t.feed, "%ld c%d +sendto 5 64\n%ld c%d -sendto 64", t.now, CLIENT, t.now + 1, CLIENT);
		talk_work(&t, 1);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 50);
		feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0\n"
			"%ld c%d +recvfrom 7 4096\n%ld c%d -recvfrom 64", t.now, SERVER, t.now, SERVER, SERVER, t.now, SERVER, t.now,
			SERVER, SERVER, t.now, SERVER, t.now, SERVER, t.now + 1, SERVER);
		talk_work(&t, 100);
		answer(SERVER, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	lqn_model_free(model);
}
END_TEST

/* ---- ports ---- */

/*
 * The server sleeps before every answer, and the clients never do: sleeps would have it the wrong way round. Each client's
 * connection has the server's port `port` or `port_2`. The trace begins in the middle of requests, or `between` them: whose
 * packets come first, of that end the ports are known first.
 */
static void two_clients(int port, int port_2, bool between)
{
	start();
	talk_process(&t, CLIENT_2, "client");
	if (between) {
		talk_await(&t, SERVER, "recvfrom", 8);
		send_packet(CLIENT_2, 5, SERVER, 50002, port_2);
		talk_await(&t, CLIENT_2, "recvfrom", 5);
	} else {
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_await(&t, CLIENT_2, "recvfrom", 5);
		send_packet(SERVER, 7, CLIENT, port, 50001);
	}
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 10);
		send_packet(SERVER, 8, CLIENT_2, port_2, 50002);
		talk_await(&t, SERVER, "recvfrom", 7);
		talk_work(&t, 30);
		send_packet(CLIENT, 5, SERVER, 50001, port);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 100);
		talk_sleep(&t, SERVER, 60);
		send_packet(SERVER, 7, CLIENT, port, 50001);
		talk_await(&t, SERVER, "recvfrom", 8);
		talk_work(&t, 30);
		send_packet(CLIENT_2, 5, SERVER, 50002, port_2);
		talk_await(&t, CLIENT_2, "recvfrom", 5);
		talk_work(&t, 100);
		talk_sleep(&t, SERVER, 60);
	}
	model = talk_finish(&t, NULL);
}

START_TEST(a_port_that_connections_share_was_listened_on)
{
	two_clients(80, 80, false);
	expect_client_and_server(2 * CYCLES);
	ck_assert_uint_eq(talk_task(model, "client")->multiplicity, 2);
	lqn_model_free(model);
}
END_TEST

/* ---- threads ---- */

/* As above, with one client. Its requests are taken in turn by one, or two, threads of the server, on one connection. */
static void one_client(bool pool)
{
	int other = pool ? WORKER : SERVER;

	start();
	talk_thread(&t, SERVER, WORKER);
	if (!pool) {
		feed(t.feed, "%ld c%d sw %d>0 S", t.now, WORKER, WORKER);
	}
	talk_await(&t, CLIENT, "recvfrom", 5);
	answer(SERVER, 7, CLIENT);
	for (int i = 0; i < CYCLES; i++) {
		int who = i % 2 ? SERVER : other;

		talk_await(&t, who, "recvfrom", 7);
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, who);
		talk_work(&t, 100);
		talk_sleep(&t, who, 60);
		answer(who, 7, CLIENT);
		if (pool) {
			feed(t.feed, "%ld c%d +futex 4096 128 0\n%ld c%d sw %d>0 S", t.now, who, t.now, who, who);
			if (i > 0) {
				int next = i % 2 ? other : SERVER;

				feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -futex 0", t.now, CLIENT, next, t.now,
					next, next, t.now, next);
			}
		}
	}
	model = talk_finish(&t, NULL);
}

START_TEST(an_end_that_several_threads_use_serves)
{
	one_client(true);
	expect_client_and_server(CYCLES);
	lqn_model_free(model);
}
END_TEST

START_TEST(one_thread_at_each_end_tells_nothing)
{
	one_client(false);
	ck_assert_ptr_nonnull(talk_task(model, "server"));
	ck_assert_int_eq(talk_task(model, "server")->kind, LQN_TASK_CLIENT);
	lqn_model_free(model);
}
END_TEST

/* ---- order ---- */

START_TEST(for_want_of_all_else_the_first_to_send_asks)
{
	/* nobody sleeps; this trace begins between two requests */
	start();
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 430);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 200);
		talk_reply(&t, SERVER, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	near(talk_entry(model, "server")->phase[0].demand, 202e-6);
	lqn_model_free(model);
}
END_TEST

/* ---- mailboxes ---- */

/* Datagrams: the server reads what all its clients send at one socket, and answers at theirs. */
START_TEST(what_nothing_comes_back_on_is_a_mailbox)
{
	static const int clients[] = { CLIENT, CLIENT_2 };

	start();
	talk_process(&t, CLIENT_2, "client");
	feed(t.feed, "%ld c%d sw %d>0 S", t.now, CLIENT_2, CLIENT_2);
	talk_await(&t, CLIENT, "recvfrom", 6);
	talk_work(&t, 70);
	talk_send(&t, SERVER, "sendto", 11, CLIENT, "recvfrom");
	talk_await(&t, SERVER, "recvfrom", 7);
	feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R", t.now, CLIENT, CLIENT_2, t.now, CLIENT_2, CLIENT_2);
	for (int i = 0; i < CYCLES; i++) {
		for (int k = 0; k < 2; k++) {
			talk_sleep(&t, clients[k], 400);
			talk_work(&t, 30);
			talk_send(&t, clients[k], "sendto", 5, SERVER, "recvfrom");
			talk_await(&t, clients[k], "recvfrom", 6);
			talk_work(&t, 200);
			talk_send(&t, SERVER, "sendto", 11 + k, clients[k], "recvfrom");
			talk_await(&t, SERVER, "recvfrom", 7);
		}
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(2 * CYCLES);
	near(talk_entry(model, "server")->phase[0].demand, 202e-6);
	lqn_model_free(model);
}
END_TEST

/* ---- shared memory ---- */

#define REQUESTS 4096
#define ANSWERS 8192	/* and as much again for each more client */

/* A request of `client` that `server` answers, and waits for the next one. */
static void ask(int client, int answers, int server)
{
	talk_work(&t, 30);
	talk_futex_wake(&t, client, REQUESTS, server);
	talk_futex_wait(&t, client, answers);
	talk_work(&t, 200);
	talk_futex_wake(&t, server, answers, client);
	talk_futex_wait(&t, server, REQUESTS);
}

/* The first wake that is seen is an answer. */
static void begin_with_an_answer(void)
{
	start();
	talk_futex_wait(&t, CLIENT, ANSWERS);
	talk_work(&t, 70);
	talk_futex_wake(&t, SERVER, ANSWERS, CLIENT);
	talk_futex_wait(&t, SERVER, REQUESTS);
}

START_TEST(who_wakes_after_a_sleep_asks)
{
	begin_with_an_answer();
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 400);
		ask(CLIENT, ANSWERS, SERVER);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	near(talk_entry(model, "server")->phase[0].demand, 202e-6);
	lqn_model_free(model);
}
END_TEST

START_TEST(a_word_that_several_threads_wait_for_is_of_those_who_serve)
{
	begin_with_an_answer();
	talk_thread(&t, SERVER, WORKER);
	talk_futex_wait(&t, WORKER, REQUESTS);
	for (int i = 0; i < CYCLES; i++) {
		ask(CLIENT, ANSWERS, i % 2 ? WORKER : SERVER);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	lqn_model_free(model);
}
END_TEST

START_TEST(requests_go_by_fewer_words_than_answers)
{
	begin_with_an_answer();
	talk_process(&t, CLIENT_2, "client");
	for (int i = 0; i < CYCLES; i++) {
		ask(CLIENT, ANSWERS, SERVER);
		ask(CLIENT_2, 2 * ANSWERS, SERVER);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(2 * CYCLES);
	lqn_model_free(model);
}
END_TEST

/* The server is busy when the second asks, and the first has not begun to wait when it is answered. */
START_TEST(a_wake_that_finds_nobody_is_a_message_all_the_same)
{
	begin_with_an_answer();
	talk_process(&t, CLIENT_2, "client");
	ask(CLIENT_2, 2 * ANSWERS, SERVER);
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 400);
		talk_work(&t, 30);
		talk_futex_wake(&t, CLIENT, REQUESTS, SERVER);
		talk_futex_wake_nobody(&t, CLIENT_2, REQUESTS);
		talk_futex_wait(&t, CLIENT_2, 2 * ANSWERS);
		talk_work(&t, 200);
		talk_futex_wake_nobody(&t, SERVER, ANSWERS);
		talk_work(&t, 100);
		talk_futex_wake(&t, SERVER, 2 * ANSWERS, CLIENT_2);
		talk_futex_wait(&t, SERVER, REQUESTS);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(2 * CYCLES);
	near(talk_entry(model, "server")->phase[0].demand, 150e-6);
	lqn_model_free(model);
}
END_TEST

/*
 * The first goes on without having waited, so its answer wakes nobody; the second asks while the server is busy, which wakes nobody
 * either. The server does both at a stretch.
 */
START_TEST(who_goes_on_has_been_answered)
{
	begin_with_an_answer();
	talk_process(&t, CLIENT_2, "client");
	ask(CLIENT_2, 2 * ANSWERS, SERVER);
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 200);
		talk_work(&t, 30);
		talk_futex_wake(&t, CLIENT, REQUESTS, SERVER);
		talk_work(&t, 100);
		feed(t.feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", t.now, CLIENT, t.now, CLIENT, CLIENT);
		talk_futex_wait(&t, CLIENT_2, 2 * ANSWERS);
		talk_work(&t, 100);
		talk_futex_wake(&t, SERVER, 2 * ANSWERS, CLIENT_2);
		talk_futex_wait(&t, SERVER, REQUESTS);
		talk_sleep(&t, CLIENT_2, 300);
		feed(t.feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0", t.now,
			CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT, t.now, CLIENT, CLIENT, t.now, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(2 * CYCLES);
	near(talk_entry(model, "server")->phase[0].demand, 101e-6);
	lqn_model_free(model);
}
END_TEST

/* ---- what was seen wins ---- */

START_TEST(an_accept_that_was_seen_wins_over_sleeps)
{
	start();
	talk_connect(&t, CLIENT, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_work(&t, 30);
		talk_request(&t, CLIENT, 5, SERVER);
		talk_work(&t, 100);
		talk_sleep(&t, SERVER, 60);
		talk_reply(&t, SERVER, 7, CLIENT);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	lqn_model_free(model);
}
END_TEST

START_TEST(ports_of_their_own_tell_nothing)
{
	/* so the sleeps do */
	two_clients(80, 81, false);
	ck_assert_ptr_nonnull(talk_task(model, "server"));
	ck_assert_int_eq(talk_task(model, "server")->kind, LQN_TASK_CLIENT);
	lqn_model_free(model);
}
END_TEST

START_TEST(a_shared_port_is_seen_whoever_sends_first)
{
	two_clients(80, 80, true);
	expect_client_and_server(2 * CYCLES);
	lqn_model_free(model);
}
END_TEST

START_TEST(the_port_of_one_connection_tells_nothing)
{
	/* of the client's end the port is known first */
	start();
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < CYCLES; i++) {
		talk_sleep(&t, CLIENT, 400);
		talk_work(&t, 30);
		send_packet(CLIENT, 5, SERVER, 50001, 80);
		talk_await(&t, CLIENT, "recvfrom", 5);
		talk_work(&t, 200);
		send_packet(SERVER, 7, CLIENT, 80, 50001);
		talk_await(&t, SERVER, "recvfrom", 7);
	}
	model = talk_finish(&t, NULL);
	expect_client_and_server(CYCLES);
	lqn_model_free(model);
}
END_TEST

SUITE("roles", who_sends_after_a_sleep_asks, sockets_of_the_state_dump_are_connections_too,
	further_from_the_clients_is_the_server, a_server_that_sleeps_now_and_then_still_serves,
	a_server_that_sleeps_before_it_reads_still_serves, a_port_that_connections_share_was_listened_on,
	an_end_that_several_threads_use_serves, one_thread_at_each_end_tells_nothing,
	for_want_of_all_else_the_first_to_send_asks, an_accept_that_was_seen_wins_over_sleeps,
	ports_of_their_own_tell_nothing, a_shared_port_is_seen_whoever_sends_first, the_port_of_one_connection_tells_nothing,
	what_nothing_comes_back_on_is_a_mailbox, who_wakes_after_a_sleep_asks,
	a_word_that_several_threads_wait_for_is_of_those_who_serve, requests_go_by_fewer_words_than_answers,
	a_wake_that_finds_nobody_is_a_message_all_the_same, who_goes_on_has_been_answered)
