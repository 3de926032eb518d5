/* SPDX-License-Identifier: MIT */
/*
 * UDP by the addresses of its packets. Thread 1 (process 1) on CPU 0 has a socket at port 10, thread 2 (process 2) on CPU 1 one at
 * port 20, thread 3 (process 3) on CPU 2 one at port 30; all are descriptor 4.
 */
#include "feed.h"
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

SUITE("datagrams", answers_of_one_socket_reach_who_asked, a_woken_reader_says_which_socket_has_the_port,
	what_comes_from_another_host_is_read_in_order, a_port_may_be_given_to_another_socket)
