/* SPDX-License-Identifier: MIT */
/*
 * UDP by the addresses of its packets. Thread 1 (process 1) on CPU 0 has a socket at port 10, thread 2 (process 2) on CPU 1 one at
 * port 20, thread 3 (process 3) on CPU 2 one at port 30; all are descriptor 4.
 */
#include "talk.h"

#include "suite.h"

static struct feed *f;

static void start(void)
{
	f = feed_new("6.1.0");
	for (int i = 1; i <= 3; i++) {
		feed(f, "%d c%d sw 0>%d R\n%d c%d +socket 2 2\n%d c%d -socket 4", i, i - 1, i, i, i - 1, i, i - 1);
	}
}

static void end(long us)
{
	feed(f, "%ld c0 sw 1>0 S\n%ld c1 sw 2>0 S\n%ld c2 sw 3>0 S", us, us, us);
	feed_finish(f, us);
}

static void done(void)
{
	feed_free(f);
}

/* A send of `from` to `to` that nobody waits for. */
static void send(long us, int from, int to, int bytes)
{
	feed(f, "%ld c%d +sendto 4 %d\n%ld c%d queue %ld 5:%d0 5:%d0 %d udp\n%ld c%d -sendto %d", us, from - 1, bytes, us, from - 1,
		us, from, to, bytes, us + 1, from - 1, bytes);
}

static void receive(long us, int thread, int bytes)
{
	feed(f, "%ld c%d +recvfrom 4 100\n%ld c%d -recvfrom %d", us, thread - 1, us + 1, thread - 1, bytes);
}

START_TEST(answers_of_one_socket_reach_who_asked)
{
	start();
	send(10, 1, 2, 40);
	send(12, 3, 2, 50);
	/* the server's socket is known by what it sends */
	receive(20, 2, 40);
	send(22, 2, 1, 7);
	receive(24, 2, 50);
	send(26, 2, 3, 8);
	receive(30, 3, 8);
	receive(32, 1, 7);
	end(50);
	feed_expect(f, "send thread=1 object=$a begin=10u bytes=40");
	feed_expect(f, "send thread=2 object=$b begin=22u bytes=7");
	feed_expect(f, "object object=$a peer=$b kind=udp role=client");
	feed_expect(f, "receive thread=2 object=$b from=$a sender=1 begin=20u");
	feed_expect(f, "receive thread=2 object=$d from=$c sender=3 begin=24u");
	feed_expect(f, "receive thread=1 object=$a from=$b sender=2 begin=32u");
	feed_expect(f, "receive thread=3 object=$c from=$d sender=2 begin=30u");
	done();
}
END_TEST

START_TEST(a_woken_reader_says_which_socket_has_the_port)
{
	start();
	feed(f, "9 c1 +recvfrom 4 100\n10 c1 sw 2>0 S\n11 c0 +sendto 4 40\n12 c0 queue 1 5:10 5:20 40 udp\n13 c0 +softirq 3\n"
		"14 c0 receive 1 5:10 5:20 40 udp\n15 c0 wk 2\n16 c0 -softirq 3\n17 c0 -sendto 40\n18 c1 sw 0>2 R\n19 c1 -recvfrom 40");
	end(50);
	feed_expect(f, "send thread=1 object=$a seq=1");
	feed_expect(f, "receive thread=2 from=$a seq=1 sender=1 count=1");
	feed_expect(f, "wait thread=2 begin=10u by=1 cause=message via=$a");
	done();
}
END_TEST

START_TEST(what_comes_from_another_host_is_read_in_order)
{
	start();
	send(10, 1, 2, 40);
	receive(12, 2, 40);
	send(14, 2, 1, 5);
	receive(16, 1, 5);
	/* from port 70 of host 9, twice, the second over a bridge; then from thread 1 */
	feed(f, "20 c2 +softirq 3\n21 c2 receive 90 9:70 5:20 33 udp\n22 c2 -softirq 3\n23 c2 +softirq 3\n"
		"24 c2 receive 91 9:70 5:20 34 udp\n25 c2 receive 91 9:70 5:20 34 udp\n26 c2 -softirq 3");
	send(28, 1, 2, 41);
	receive(30, 2, 33);
	receive(32, 2, 34);
	receive(34, 2, 41);
	feed(f, "36 c1 +sendto 4 9\n37 c1 queue 92 5:20 9:70 9 udp\n38 c1 -sendto 9");
	end(50);
	feed_expect(f, "object object=$far kind=udp remote=1");
	feed_expect(f, "receive thread=2 object=$far begin=30u from=0 bytes=33 count=0");
	feed_expect(f, "receive thread=2 object=$far begin=32u from=0 bytes=34 count=0");
	feed_expect(f, "receive thread=2 begin=34u sender=1 bytes=41");
	feed_expect(f, "send thread=2 object=$far begin=36u bytes=9");
	done();
}
END_TEST

START_TEST(a_port_may_be_given_to_another_socket)
{
	start();
	send(10, 1, 2, 40);
	receive(12, 2, 40);
	send(14, 2, 1, 5);
	/* what nobody has read when the socket is closed goes with it */
	send(20, 1, 2, 41);
	feed(f, "22 c1 +close 4\n23 c1 -close 0\n24 c1 +socket 2 2\n25 c1 -socket 4");
	send(26, 2, 1, 6);
	send(28, 1, 2, 42);
	receive(30, 2, 42);
	end(50);
	feed_expect(f, "receive thread=2 begin=30u sent=28u sender=1");
	done();
}
END_TEST

/* ---- between hosts ---- */

#define CYCLES 40
enum { LOST = 7 };

/* Port 10 of host 1 asks port 20 of host 2, which takes 100 us; one question is lost. */
static void ask(struct feed *client, struct feed *server, int cycle)
{
	long t = 1000 + cycle * 1000L;
	int bytes = 40 + cycle % 3;

	feed(client, "%ld c0 +sendto 4 %d\n%ld c0 queue %d 1:10 2:20 %d udp\n%ld c0 -sendto %d\n%ld c0 +recvfrom 4 100\n%ld c0 sw 1>0 S",
		t, bytes, t + 1, cycle + 1, bytes, t + 2, bytes, t + 3, t + 4);
	if (cycle != LOST) {
		feed(server, "%ld c0 +softirq 3\n%ld c0 receive %d 1:10 2:20 %d udp\n%ld c0 wk 2\n%ld c0 -softirq 3\n%ld c0 sw 0>2 R\n"
			"%ld c0 -recvfrom %d", t + 50, t + 50, cycle + 1, bytes, t + 51, t + 52, t + 53, t + 54, bytes);
		feed(server, "%ld c0 +sendto 4 9\n%ld c0 queue %d 2:20 1:10 9 udp\n%ld c0 -sendto 9\n"
			"%ld c0 +recvfrom 4 100\n%ld c0 sw 2>0 S",
			t + 154, t + 155, cycle + 1, t + 156, t + 157, t + 158);
		feed(client, "%ld c0 +softirq 3\n%ld c0 receive %d 2:20 1:10 9 udp\n%ld c0 wk 1\n"
			"%ld c0 -softirq 3", t + 200, t + 200, cycle + 1,
			t + 201, t + 202);
	} else {
		feed(client, "%ld c0 +hrtimer 1\n%ld c0 wk 1\n%ld c0 -hrtimer 1", t + 200, t + 201, t + 202);
	}
	feed(client, "%ld c0 sw 0>1 R\n%ld c0 -recvfrom %d\n%ld c0 +nanosleep\n%ld c0 sw 1>0 S\n%ld c0 +hrtimer 1\n%ld c0 wk 1\n"
		"%ld c0 -hrtimer 1\n%ld c0 sw 0>1 R\n%ld c0 -nanosleep 0", t + 203, t + 204, cycle == LOST ? -11 : 9, t + 205, t + 206,
		t + 900, t + 900, t + 900, t + 901, t + 902);
}

START_TEST(datagrams_between_hosts_match_by_order_and_length)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };
	struct lqn_analysis *analysis = lqn_analysis_new(&options);
	struct feed *client = feed_new("6.1.0"), *server = feed_new("6.1.0");
	struct talk_host there = { analysis, lqn_analysis_host(analysis, "a") }, here = { analysis, lqn_analysis_host(analysis, "b") };
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;

	feed(client, "1 c0 name 1 client\n1 c0 state 1 1 client 0\n1 c0 sw 0>1 R\n2 c0 +socket 2 2\n3 c0 -socket 4");
	feed(server, "1 c0 name 2 server\n1 c0 state 2 2 server 0\n1 c0 sw 0>2 R\n2 c0 +socket 2 2\n3 c0 -socket 4\n4 c0 +recvfrom 4 100\n"
		"5 c0 sw 2>0 S");
	for (int i = 0; i < CYCLES; i++) {
		ask(client, server, i);
	}
	feed_finish(client, 1000 + CYCLES * 1000L);
	feed_finish(server, 1000 + CYCLES * 1000L);
	feed_each(client, talk_take, &there);
	feed_each(server, talk_take, &here);
	ck_assert_msg(lqn_analysis_finish(analysis, &model, &paths, &error), "%s", error ? error->message : "?");
	ck_assert_double_eq_tol(talk_calls(talk_entry(model, "client"), talk_entry(model, "server"), LQN_SYNC),
		(CYCLES - 1) / (double) CYCLES, 0.03);
	ck_assert_double_eq_tol(talk_entry(model, "server")->phase[0].demand, 105e-6, 3e-6);
	ck_assert_uint_eq(paths->not_tiled, 0);
	lqn_path_report_free(paths);
	lqn_model_free(model);
	lqn_analysis_free(analysis);
	feed_free(client);
	feed_free(server);
}
END_TEST

SUITE("datagrams", datagrams_between_hosts_match_by_order_and_length, answers_of_one_socket_reach_who_asked,
	a_woken_reader_says_which_socket_has_the_port,
	what_comes_from_another_host_is_read_in_order, a_port_may_be_given_to_another_socket)
