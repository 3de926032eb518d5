/* SPDX-License-Identifier: MIT */
/*
 * Which two ends of a connection belong together, by each kind of evidence. Process 1 (CPU 0) is the client, process 2 (CPU 1)
 * the server, whose listener is its descriptor 3.
 */
#include <stdio.h>

#include "feed.h"
#include "suite.h"

static struct feed *f;

/* family: 1 unix, 2 internet */
static void start(int family)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n1 c1 sw 0>2 R\n2 c1 +socket %d 1\n3 c1 -socket 3\n4 c1 +bind 3\n4 c1 -bind 0\n5 c1 +listen 3\n"
		"5 c1 -listen 0", family);
}

static void end(long us)
{
	feed(f, "%ld c0 sw 1>0 S\n%ld c1 sw 2>0 S", us, us);
	feed_finish(f, us + 10);
}

static void done(void)
{
	feed_free(f);
}

/* Client `fd` connects and server `made` comes of it, one connection at a time. */
static void connect_one(int family, long us, int fd, int made)
{
	feed(f, "%ld c0 +socket %d 1\n%ld c0 -socket %d\n%ld c0 +connect %d\n%ld c0 -connect 0\n%ld c1 +accept4 3\n"
		"%ld c1 -accept4 %d", us, family, us, fd, us + 1, fd, us + 2, us + 3, us + 4, made);
}

static void message(long us, int cpu, int from, int to, int bytes)
{
	feed(f, "%ld c%d +sendto %d %d\n%ld c%d -sendto %d\n%ld c%d +recvfrom %d %d\n%ld c%d -recvfrom %d", us, cpu, from, bytes,
		us + 1, cpu, bytes, us + 2, !cpu, to, bytes, us + 3, !cpu, bytes);
}

START_TEST(an_accept_of_the_only_connect_pairs)
{
	start(1);
	connect_one(1, 10, 5, 7);
	message(20, 0, 5, 7, 100);
	message(30, 1, 7, 5, 50);
	end(50);
	feed_expect(f, "accept thread=2 object=$listener made=$server begin=13u end=14u");
	feed_expect(f, "send thread=1 object=$client bytes=100");
	feed_expect(f, "receive thread=2 object=$server from=$client sender=1 bytes=100");
	feed_expect(f, "receive thread=1 object=$client from=$server sender=2 bytes=50");
	feed_expect(f, "object object=$server peer=$client listener=$listener kind=unix role=server");
	feed_expect(f, "object object=$client peer=$server role=client");
	feed_expect(f, "object object=$listener kind=listener");
	done();
}
END_TEST

START_TEST(packets_pair_by_addresses)
{
	start(2);
	/* two connects and two accepts in the other order: only the packets tell */
	feed(f, "10 c0 +socket 2 1\n10 c0 -socket 5\n11 c0 +socket 2 1\n11 c0 -socket 6\n"
		"12 c0 +connect 5\n12 c0 queue 901 1:50001 1:80 0 2\n13 c0 -connect 0\n"
		"14 c0 +connect 6\n14 c0 queue 902 1:50002 1:80 0 2\n15 c0 -connect 0\n"
		"16 c1 +accept4 3\n17 c1 -accept4 8\n18 c1 +accept4 3\n19 c1 -accept4 7\n"
		"20 c0 +sendto 5 100\n20 c0 queue 903 1:50001 1:80 100\n21 c0 -sendto 100\n"
		"30 c0 +sendto 6 60\n30 c0 queue 904 1:50002 1:80 60\n31 c0 -sendto 60\n"
		"32 c1 +recvfrom 7 100\n32 c1 copy 903 100\n33 c1 -recvfrom 100\n"
		"34 c1 +recvfrom 8 100\n34 c1 copy 904 60\n35 c1 -recvfrom 60");
	end(50);
	feed_expect(f, "receive thread=2 end=33u from=$five sent=20u sender=1");
	feed_expect(f, "receive thread=2 end=35u from=$six sent=30u sender=1");
	feed_expect(f, "send object=$five bytes=100");
	feed_expect(f, "object object=$five evidence=certain kind=tcp");
	done();
}
END_TEST

START_TEST(a_woken_reader_pairs)
{
	start(1);
	/* two connections under way at a time, accepted in the other order */
	feed(f, "10 c0 +socket 1 1\n10 c0 -socket 5\n11 c0 +socket 1 1\n11 c0 -socket 6\n12 c0 +connect 5\n13 c0 -connect 0\n"
		"14 c0 +connect 6\n15 c0 -connect 0\n16 c1 +accept4 3\n17 c1 -accept4 8\n18 c1 +accept4 3\n19 c1 -accept4 7\n"
		"20 c1 +recvfrom 7 100\n21 c1 sw 2>0 S\n22 c0 +sendto 5 10\n23 c0 wk 2\n24 c0 -sendto 10\n25 c1 sw 0>2 R\n"
		"26 c1 -recvfrom 10");
	message(30, 0, 6, 8, 20);
	end(50);
	feed_expect(f, "send object=$five bytes=10");
	feed_expect(f, "receive object=$seven from=$five bytes=10");
	feed_expect(f, "receive object=$eight from=$six bytes=20");
	feed_expect(f, "object object=$seven peer=$five evidence=certain");
	done();
}
END_TEST

START_TEST(votes_of_woken_pollers_decide)
{
	start(1);
	feed(f, "6 c1 +epoll_create1\n6 c1 -epoll_create1 4\n"
		"10 c0 +socket 1 1\n10 c0 -socket 5\n11 c0 +socket 1 1\n11 c0 -socket 6\n12 c0 +connect 5\n13 c0 -connect 0\n"
		"14 c0 +connect 6\n15 c0 -connect 0\n16 c1 +accept4 3\n17 c1 -accept4 8\n18 c1 +accept4 3\n19 c1 -accept4 7\n");
	for (long us = 100; us < 400; us += 100) {
		for (int i = 0; i < 2; i++) {
			long t = us + 50 * i;

			feed(f, "%ld c1 +epoll_wait 4\n%ld c1 sw 2>0 S\n%ld c0 +sendto %d 10\n%ld c0 wk 2\n%ld c0 -sendto 10\n"
				"%ld c1 sw 0>2 R\n%ld c1 -epoll_wait 1\n%ld c1 +recvfrom %d 10\n%ld c1 -recvfrom 10", t, t + 1,
				t + 2, 5 + i, t + 3, t + 4, t + 5, t + 6, t + 7, 7 + i, t + 8);
		}
	}
	end(500);
	feed_expect(f, "send object=$five begin=102u");
	feed_expect(f, "receive object=$seven from=$five end=108u sender=1 sent=102u");
	feed_expect(f, "receive object=$seven from=$five end=308u sent=302u");
	feed_expect(f, "receive object=$eight end=158u sent=152u");
	ck_assert_uint_eq(feed_count(f, "receive sender=0"), 0);
	done();
}
END_TEST

/* The first receive after a wait on descriptors is of what woke it, unless it is of something that has no descriptor. */
START_TEST(a_queue_without_a_descriptor_is_no_peer)
{
	start(1);
	feed(f, "6 c1 +epoll_create1\n6 c1 -epoll_create1 4\n10 c0 +socket 1 1\n10 c0 -socket 5\n");
	for (long us = 100; us < 400; us += 100) {
		feed(f, "%ld c1 +epoll_wait 4\n%ld c1 sw 2>0 S\n%ld c0 +sendto 5 10\n%ld c0 wk 2\n%ld c0 -sendto 10\n"
			"%ld c1 sw 0>2 R\n%ld c1 -epoll_wait 1\n%ld c1 +msgrcv 7 99 0\n%ld c1 -msgrcv 10", us,
			us + 1, us + 2, us + 3, us + 4, us + 5, us + 6, us + 7, us + 8);
	}
	feed(f, "450 c0 +close 5\n451 c0 -close 0\n");
	end(500);
	feed_expect(f, "receive object=$queue bytes=10 sender=0");
	feed_expect(f, "object object=$queue kind=queue peer=0");
	feed_expect(f, "object object=$five closed=1 peer=0");
	done();
}
END_TEST

START_TEST(a_connection_of_before_the_trace_pairs_when_it_talks)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n1 c1 sw 0>2 R\n"
		"20 c1 +recvfrom 7 100\n21 c1 sw 2>0 S\n22 c0 +sendto 5 10\n23 c0 wk 2\n24 c0 -sendto 10\n25 c1 sw 0>2 R\n"
		"26 c1 -recvfrom 10");
	message(30, 1, 7, 5, 20);
	end(50);
	feed_expect(f, "receive thread=2 object=$seven from=$five sender=1 bytes=10");
	feed_expect(f, "receive thread=1 object=$five from=$seven sender=2 bytes=20");
	done();
}
END_TEST

/*
 * Process 9, on CPU 2, connects at the same time as process 1, and the accepts are taken for each other's: in truth the
 * server's 7 is thread 9's, which wakes the reader of 7.
 */
static void pair_wrongly(void)
{
	start(1);
	feed(f, "6 c2 sw 0>9 R\n10 c0 +socket 1 1\n10 c0 -socket 5\n10 c2 +socket 1 1\n10 c2 -socket 5\n"
		"11 c0 +connect 5\n12 c1 +accept4 3\n13 c1 -accept4 7\n14 c0 -connect 0\n14 c2 +connect 5\n15 c2 -connect 0\n"
		"16 c1 +accept4 3\n17 c1 -accept4 8\n"
		"20 c1 +recvfrom 7 100\n21 c1 sw 2>0 S\n22 c2 +sendto 5 10\n23 c2 wk 2\n24 c2 -sendto 10\n25 c1 sw 0>2 R\n"
		"26 c1 -recvfrom 10\n27 c2 sw 9>0 S");
}

START_TEST(a_wrong_guess_is_taken_back)
{
	pair_wrongly();
	feed(f, "30 c1 +recvfrom 8 100\n31 c1 sw 2>0 S\n32 c0 +sendto 5 20\n33 c0 wk 2\n34 c0 -sendto 20\n35 c1 sw 0>2 R\n"
		"36 c1 -recvfrom 20");
	end(50);
	feed_expect(f, "receive thread=2 end=26u sender=9 bytes=10");
	feed_expect(f, "receive thread=2 end=36u sender=1 bytes=20");
	done();
}
END_TEST

START_TEST(the_ends_that_a_wrong_guess_leaves_over_are_a_pair)
{
	pair_wrongly();
	message(30, 0, 5, 8, 20);
	end(50);
	feed_expect(f, "receive thread=2 end=33u sender=1 bytes=20");
	done();
}
END_TEST

START_TEST(a_descriptor_passed_on_is_the_same_connection)
{
	start(1);
	connect_one(1, 10, 5, 7);
	message(20, 0, 5, 7, 10);
	/* process 4 has got the server's end from process 2 as its descriptor 11, by a way that traces do not show */
	feed(f, "30 c2 sw 0>4 R\n31 c0 +recvfrom 5 100\n32 c0 sw 1>0 S\n33 c2 +sendto 11 30\n34 c2 wk 1\n35 c2 -sendto 30\n"
		"36 c0 sw 0>1 R\n37 c0 -recvfrom 30\n40 c2 sw 4>0 S");
	end(50);
	feed_expect(f, "receive thread=1 object=$client end=37u sender=4 bytes=30");
	feed_expect(f, "send thread=1 object=$client");
	done();
}
END_TEST

START_TEST(an_answer_that_was_there_came_through_what_was_passed_on)
{
	start(1);
	connect_one(1, 10, 5, 7);
	message(20, 0, 5, 7, 10);
	/* as above, but the client, who has lost its CPU, comes to read only when the answer has long been sent */
	feed(f, "24 c0 +sendto 5 10\n25 c0 -sendto 10\n26 c1 +recvfrom 7 10\n27 c1 -recvfrom 10\n"
		"30 c2 sw 0>4 R\n33 c2 +sendto 11 30\n35 c2 -sendto 30\n41 c0 +recvfrom 5 100\n42 c0 -recvfrom 30\n"
		"43 c2 sw 4>0 S");
	end(50);
	feed_expect(f, "receive thread=1 object=$client end=42u sender=4 bytes=30");
	done();
}
END_TEST

/*
 * Two send to one socket from sockets of their own, as its reader polls. The second wakes nobody at first: what it has sent by
 * then must not be taken for the first one's.
 */
START_TEST(all_who_send_to_a_datagram_socket_are_found_together)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n1 c1 sw 0>2 R\n1 c2 sw 0>3 R\n"
		"2 c0 +socket 1 2\n3 c0 -socket 5\n2 c1 +socket 1 2\n3 c1 -socket 7\n4 c1 +bind 7\n5 c1 -bind 0\n"
		"2 c2 +socket 1 2\n3 c2 -socket 6\n6 c1 +epoll_create1\n6 c1 -epoll_create1 4\n");
	for (long us = 100; us < 100 * 102; us += 100) {
		bool busy = us == 100;

		feed(f, "%ld c1 +epoll_wait 4\n%ld c1 sw 2>0 S\n%ld c0 +sendto 5 10\n%ld c0 wk 2\n%ld c0 -sendto 10\n"
			"%ld c1 sw 0>2 R\n%ld c1 -epoll_wait 1\n%ld c1 +recvfrom 7 99\n%ld c1 -recvfrom 10", us, us + 1,
			us + 2, us + 3, us + 4, us + 5, us + 6, us + 7, us + 8);
		if (busy) {
			feed(f, "%ld c2 +sendto 6 20\n%ld c2 -sendto 20\n%ld c1 +recvfrom 7 99\n%ld c1 -recvfrom 20",
				us + 10, us + 11, us + 12, us + 13);
			continue;
		}
		feed(f, "%ld c1 +epoll_wait 4\n%ld c1 sw 2>0 S\n%ld c2 +sendto 6 20\n%ld c2 wk 2\n%ld c2 -sendto 20\n"
			"%ld c1 sw 0>2 R\n%ld c1 -epoll_wait 1\n%ld c1 +recvfrom 7 99\n%ld c1 -recvfrom 20", us + 20, us + 21,
			us + 22, us + 23, us + 24, us + 25, us + 26, us + 27, us + 28);
	}
	feed(f, "20000 c0 sw 1>0 S\n20000 c1 sw 2>0 S\n20000 c2 sw 3>0 S");
	feed_finish(f, 20010);
	feed_expect(f, "receive end=108u sender=1 sent=102u bytes=10");
	feed_expect(f, "receive end=113u sender=3 sent=110u bytes=20");
	feed_expect(f, "receive end=10128u sender=3 sent=10122u");
	ck_assert_uint_eq(feed_count(f, "receive sender=1 bytes=20"), 0);
	ck_assert_uint_eq(feed_count(f, "receive sender=3 bytes=10"), 0);
	ck_assert_uint_eq(feed_count(f, "receive sender=0"), 0);
	done();
}
END_TEST

START_TEST(short_connections_do_not_mix)
{
	start(1);
	for (int i = 0; i < 50; i++) {
		long us = 100 + 100 * i;

		connect_one(1, us, 5, 7);
		message(us + 10, 0, 5, 7, 10 + i);
		message(us + 20, 1, 7, 5, 1000 + i);
		feed(f, "%ld c0 +close 5\n%ld c0 -close 0\n%ld c1 +close 7\n%ld c1 -close 0", us + 30, us + 31, us + 32, us + 33);
	}
	end(6000);
	for (int i = 0; i < 50; i++) {
		char pattern[100];

		snprintf(pattern, sizeof(pattern), "receive thread=2 sender=1 sent=%du bytes=%d", 110 + 100 * i, 10 + i);
		feed_expect(f, pattern);
		snprintf(pattern, sizeof(pattern), "receive thread=1 sender=2 sent=%du bytes=%d", 120 + 100 * i, 1000 + i);
		feed_expect(f, pattern);
	}
	ck_assert_uint_eq(feed_count(f, "receive"), 100);
	ck_assert_uint_eq(feed_count(f, "receive sender=0"), 0);
	done();
}
END_TEST

START_TEST(messages_sent_before_the_accept_are_kept)
{
	start(1);
	feed(f, "10 c0 +socket 1 1\n10 c0 -socket 5\n11 c0 +connect 5\n12 c0 -connect 0\n13 c0 +sendto 5 10\n14 c0 -sendto 10\n"
		"20 c1 +accept4 3\n21 c1 -accept4 7\n22 c1 +recvfrom 7 100\n23 c1 -recvfrom 10");
	end(50);
	feed_expect(f, "receive thread=2 sender=1 sent=13u bytes=10");
	done();
}
END_TEST

START_TEST(what_tcp_held_back_is_read_though_nothing_was_there)
{
	start(2);
	/* an answer in two parts: the second is sent, and arrives when the first has been acknowledged */
	feed(f, "10 c0 +socket 2 1\n10 c0 -socket 5\n11 c0 +connect 5\n12 c0 -connect 0\n13 c0 +sendto 5 10\n14 c0 -sendto 10\n"
		"20 c1 +accept4 3\n21 c1 -accept4 7\n22 c1 +recvfrom 7 100\n23 c1 -recvfrom 10\n24 c1 +sendto 7 75\n25 c1 -sendto 75\n"
		"26 c1 +sendto 7 5\n27 c1 -sendto 5\n30 c0 +recvfrom 5 100\n31 c0 -recvfrom 75\n32 c0 +recvfrom 5 100\n33 c0 sw 1>0 S\n"
		"40 c0 +softirq 3\n41 c0 wk 1\n42 c0 -softirq 3\n43 c0 sw 0>1 R\n44 c0 -recvfrom 5");
	end(50);
	feed_expect(f, "receive thread=1 sender=2 begin=30u seq=1 bytes=75 count=1");
	feed_expect(f, "receive thread=1 sender=2 begin=32u seq=2 bytes=5 count=1");
	done();
}
END_TEST

/* Nothing wakes anybody: the family of the address, and order, are all there is before both ends are closed. */
START_TEST(what_a_listener_of_unknown_kind_accepts_pairs)
{
	start(1);
	feed(f, "9 c1 state 2 2 server\n9 c1 statefd 2 4 socket:[77]\n10 c0 +socket 1 1\n10 c0 -socket 5\n11 c0 +connect 5\n"
		"12 c0 -connect 0\n13 c0 +sendto 5 10\n14 c0 -sendto 10\n20 c1 +accept4 4\n21 c1 -accept4 7 1\n"
		"22 c1 +recvfrom 7 100\n23 c1 -recvfrom 10\n24 c1 +sendto 7 20\n25 c1 -sendto 20\n"
		"26 c1 +close 7\n26 c1 -close 0\n30 c0 +recvfrom 5 100\n31 c0 -recvfrom 20\n32 c0 +close 5\n32 c0 -close 0");
	end(50);
	feed_expect(f, "receive thread=2 sender=1 sent=13u bytes=10");
	feed_expect(f, "receive thread=1 sender=2 sent=24u bytes=20");
	done();
}
END_TEST

/* The family of addresses is not told either: that the listener made one end of a unix connection is. */
START_TEST(what_a_listener_has_made_tells_what_it_makes)
{
	start(1);
	feed(f, "9 c1 state 2 2 server\n9 c1 statefd 2 4 socket:[77]\n10 c1 +accept4 4\n11 c1 sw 2>0 S\n12 c0 +socket 1 1\n"
		"12 c0 -socket 5\n13 c0 +connect 5\n14 c0 wk 2\n15 c0 -connect 0\n16 c1 sw 0>2 R\n17 c1 -accept4 7\n"
		"18 c1 +recvfrom 7 100\n19 c1 sw 2>0 S\n20 c0 +sendto 5 10\n21 c0 wk 2\n22 c0 -sendto 10\n"
		"23 c1 sw 0>2 R\n24 c1 -recvfrom 10");
	feed(f, "30 c0 +socket 1 1\n30 c0 -socket 6\n31 c0 +connect 6\n32 c0 -connect 0\n33 c0 +sendto 6 11\n34 c0 -sendto 11\n"
		"40 c1 +accept4 4\n41 c1 -accept4 8\n42 c1 +recvfrom 8 100\n43 c1 -recvfrom 11");
	end(50);
	feed_expect(f, "receive thread=2 sender=1 sent=20u bytes=10");
	feed_expect(f, "receive thread=2 sender=1 sent=33u bytes=11");
	done();
}
END_TEST

/*
 * Nobody has seen where thread 3's connect goes to, and it came before that of thread 1, who is known to use the listener: the accept may
 * be of either, until the answer wakes thread 3.
 */
START_TEST(who_is_alone_in_a_line_may_not_be_first)
{
	start(1);
	feed(f, "5 c2 sw 0>3 R\n10 c1 +accept4 3\n11 c1 sw 2>0 S\n12 c0 +socket 1 1\n12 c0 -socket 5\n13 c0 +connect 5\n14 c0 wk 2\n"
		"15 c0 -connect 0\n16 c1 sw 0>2 R\n17 c1 -accept4 7\n"
		"20 c2 +socket 1 1\n20 c2 -socket 6\n21 c2 +connect 6\n22 c2 -connect 0\n23 c2 +sendto 6 30\n24 c2 -sendto 30\n"
		"25 c2 +recvfrom 6 99\n26 c2 sw 3>0 S\n"
		"30 c0 +socket 1 1\n30 c0 -socket 8\n31 c0 +connect 8\n32 c0 -connect 0\n33 c0 +sendto 8 30\n34 c0 -sendto 30\n"
		"35 c0 +recvfrom 8 99\n36 c0 sw 1>0 S\n");
	feed(f, "40 c1 +accept4 3\n41 c1 -accept4 9\n42 c1 +recvfrom 9 99\n43 c1 -recvfrom 30\n44 c1 +sendto 9 20\n45 c1 wk 3\n"
		"46 c1 -sendto 20\n46 c2 sw 0>3 R\n47 c2 -recvfrom 20\n"
		"50 c1 +accept4 3\n51 c1 -accept4 10\n52 c1 +recvfrom 10 99\n53 c1 -recvfrom 30\n54 c1 +sendto 10 20\n55 c1 wk 1\n"
		"56 c1 -sendto 20\n56 c0 sw 0>1 R\n57 c0 -recvfrom 20\n60 c2 sw 3>0 S\n");
	end(70);
	feed_expect(f, "receive thread=2 begin=42u sender=3");
	feed_expect(f, "receive thread=2 begin=52u sender=1");
	done();
}
END_TEST

/* What was accepted never sends, so that no packet tells its address: it is of the connect that woke the accept. */
START_TEST(a_connection_that_nothing_comes_back_on_pairs)
{
	start(2);
	feed(f, "10 c1 +accept4 3\n11 c1 sw 2>0 S\n12 c0 +socket 2 1\n12 c0 -socket 5\n13 c0 +connect 5\n13 c0 queue 100 5:1000 5:80 0\n"
		"14 c0 wk 2\n15 c0 -connect 0\n16 c0 +sendto 5 10\n16 c0 queue 101 5:1000 5:80 10\n17 c0 -sendto 10\n18 c0 +close 5\n"
		"19 c0 -close 0\n20 c1 sw 0>2 R\n21 c1 -accept4 7\n22 c1 +recvfrom 7 99\n22 c1 copy 101 10\n23 c1 -recvfrom 10\n"
		"24 c1 +close 7\n25 c1 -close 0\n");
	end(50);
	feed_expect(f, "receive thread=2 begin=22u sender=1 bytes=10");
	done();
}
END_TEST

/* It has closed, too, before the server comes to it, which nobody has woken: what is read tells the addresses. */
START_TEST(who_has_closed_is_known_by_the_packet_that_is_read)
{
	start(2);
	feed(f, "12 c0 +socket 2 1\n12 c0 -socket 5\n13 c0 +connect 5\n13 c0 queue 100 5:1000 5:80 0\n15 c0 -connect 0\n"
		"16 c0 +sendto 5 10\n16 c0 queue 101 5:1000 5:80 10\n17 c0 -sendto 10\n18 c0 +close 5\n19 c0 -close 0\n"
		"20 c1 +accept4 3\n21 c1 -accept4 7\n22 c1 +recvfrom 7 99\n22 c1 copy 101 10\n23 c1 -recvfrom 10\n"
		"24 c1 +close 7\n25 c1 -close 0\n");
	end(50);
	feed_expect(f, "receive thread=2 begin=22u sender=1 bytes=10");
	done();
}
END_TEST

/* The client has connected to the listener before, and has sent and closed each time before the server comes to accept. */
static void send_and_close(long us, int bytes)
{
	feed(f, "%ld c0 +socket 1 1\n%ld c0 -socket 5\n%ld c0 +connect 5\n%ld c0 -connect 0\n%ld c0 +sendto 5 %d\n%ld c0 -sendto %d\n"
		"%ld c0 +close 5\n%ld c0 -close 0", us, us, us + 1, us + 2, us + 3, bytes, us + 4, bytes, us + 5, us + 6);
}

static void accept_and_read(long us, int made, int bytes)
{
	feed(f, "%ld c1 +accept4 3\n%ld c1 -accept4 %d\n%ld c1 +recvfrom %d 100\n%ld c1 -recvfrom %d\n"
		"%ld c1 +close %d\n%ld c1 -close 0", us,
		us + 1, made, us + 2, made, us + 3, bytes, us + 4, made, us + 5);
}

/* A connect that wakes the server out of its accept. */
static void first_connection(void)
{
	feed(f, "10 c1 +accept4 3\n11 c1 sw 2>0 S\n12 c0 +socket 1 1\n12 c0 -socket 5\n13 c0 +connect 5\n14 c0 wk 2\n15 c0 -connect 0\n"
		"16 c1 sw 0>2 R\n17 c1 -accept4 7\n18 c0 +close 5\n18 c0 -close 0\n19 c1 +close 7\n19 c1 -close 0");
}

/*
 * Two threads of a process stand in line, and are accepted by two threads, of which that of the first is the last to return: so the second
 * seems to be the server's 8. What was read from who seemed to be the peer was the right one's, and what that one had sent is read by
 * its own.
 */
START_TEST(what_a_wrong_guess_has_read_was_the_right_peers)
{
	start(1);
	first_connection();
	feed(f, "20 c0 fork 1 9 1\n20 c2 sw 0>9 R\n20 c0 +socket 1 1\n20 c0 -socket 5\n20 c2 +socket 1 1\n20 c2 -socket 6\n21 c0 +connect 5\n"
		"22 c0 -connect 0\n23 c2 +connect 6\n24 c2 -connect 0\n24 c1 fork 2 4 2\n24 c3 sw 0>4 R\n25 c3 +accept4 3\n26 c1 +accept4 3\n"
		"27 c1 -accept4 7\n28 c3 -accept4 8\n"
		"30 c2 +sendto 6 10\n31 c2 -sendto 10\n31 c0 +sendto 5 10\n32 c0 -sendto 10\n32 c0 +recvfrom 5 100\n33 c0 sw 1>0 S\n"
		"34 c1 +recvfrom 8 100\n35 c1 -recvfrom 10\n36 c1 +sendto 8 20\n37 c1 wk 1\n38 c1 -sendto 20\n39 c0 sw 0>1 R\n"
		"40 c0 -recvfrom 20\n41 c0 +sendto 5 10\n42 c0 -sendto 10\n"
		"44 c1 +recvfrom 7 100\n45 c1 -recvfrom 10\n46 c1 +recvfrom 8 100\n47 c1 -recvfrom 10\n");
	end(60);
	feed_expect(f, "receive thread=2 end=45u sender=9 sent=30u bytes=10");
	feed_expect(f, "receive thread=2 end=47u sender=1 sent=41u bytes=10");
	done();
}
END_TEST

START_TEST(who_has_closed_is_accepted_all_the_same)
{
	start(1);
	first_connection();
	send_and_close(20, 10);
	send_and_close(30, 20);
	accept_and_read(40, 7, 10);
	accept_and_read(50, 7, 20);
	end(70);
	feed_expect(f, "receive thread=2 sender=1 sent=23u bytes=10");
	feed_expect(f, "receive thread=2 sender=1 sent=33u bytes=20");
	done();
}
END_TEST

/* The accept of the first was not seen; one that finds nobody shows it. */
START_TEST(who_was_missed_stands_in_nobodys_way)
{
	start(1);
	first_connection();
	send_and_close(20, 10);
	feed(f, "30 c1 +accept4 3\n31 c1 -accept4 -11");
	send_and_close(40, 20);
	accept_and_read(50, 7, 20);
	end(70);
	feed_expect(f, "receive thread=2 sender=1 sent=43u bytes=20");
	done();
}
END_TEST

START_TEST(a_refused_connect_leaves_the_line)
{
	start(1);
	feed(f, "8 c0 +socket 1 1\n8 c0 -socket 9\n9 c0 +connect 9\n9 c0 -connect -111");
	connect_one(1, 10, 5, 7);
	message(20, 0, 5, 7, 100);
	end(50);
	feed_expect(f, "receive thread=2 sender=1 bytes=100");
	done();
}
END_TEST

START_TEST(room_to_write_is_no_message)
{
	start(1);
	connect_one(1, 10, 5, 7);
	/* the server's receive wakes the client, which already waits for the reply */
	feed(f, "20 c0 +sendto 5 10\n21 c0 -sendto 10\n22 c0 +recvfrom 5 100\n23 c0 sw 1>0 S\n24 c1 +recvfrom 7 100\n25 c1 wk 1\n"
		"26 c1 -recvfrom 10\n27 c0 sw 0>1 R\n28 c0 sw 1>0 S\n30 c1 +sendto 7 20\n31 c1 wk 1\n32 c1 -sendto 20\n"
		"33 c0 sw 0>1 R\n34 c0 -recvfrom 20");
	end(50);
	feed_expect(f, "wait thread=1 begin=23u wake=25u by=2 cause=space call=recvfrom");
	feed_expect(f, "wait thread=1 begin=28u wake=31u by=2 cause=message call=recvfrom");
	ck_assert_uint_eq(feed_count(f, "receive thread=1"), 1);
	done();
}
END_TEST

START_TEST(a_pipe_passed_on_is_the_same_pipe)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n1 c1 sw 0>2 R\n2 c0 +pipe2\n3 c0 -pipe2 0 3 4\n"
		/* descriptor 9 of process 2 came by a message */
		"10 c0 +read 3 100\n11 c0 sw 1>0 S\n12 c1 +write 9 5\n13 c1 wk 1\n14 c1 -write 5\n15 c0 sw 0>1 R\n16 c0 -read 5\n"
		"20 c1 +write 9 6\n21 c1 -write 6\n22 c0 +read 3 100\n23 c0 -read 6");
	feed(f, "30 c0 sw 1>0 S\n30 c1 sw 2>0 S");
	feed_finish(f, 30);
	feed_expect(f, "object object=$fd alias=$pipe kind=pipe");
	feed_expect(f, "receive thread=1 object=$pipe end=16u sender=2 count=1");
	feed_expect(f, "receive thread=1 object=$pipe end=23u sender=2 sent=20u count=1");
	feed_free(f);
}
END_TEST

SUITE("pairing", a_pipe_passed_on_is_the_same_pipe, an_accept_of_the_only_connect_pairs, packets_pair_by_addresses, a_woken_reader_pairs,
	votes_of_woken_pollers_decide, a_queue_without_a_descriptor_is_no_peer,
	a_connection_of_before_the_trace_pairs_when_it_talks, a_wrong_guess_is_taken_back,
	what_a_wrong_guess_has_read_was_the_right_peers, the_ends_that_a_wrong_guess_leaves_over_are_a_pair,
	a_descriptor_passed_on_is_the_same_connection, an_answer_that_was_there_came_through_what_was_passed_on,
	all_who_send_to_a_datagram_socket_are_found_together, short_connections_do_not_mix,
	messages_sent_before_the_accept_are_kept, what_tcp_held_back_is_read_though_nothing_was_there,
	what_a_listener_of_unknown_kind_accepts_pairs, what_a_listener_has_made_tells_what_it_makes,
	who_is_alone_in_a_line_may_not_be_first,
	a_connection_that_nothing_comes_back_on_pairs, who_has_closed_is_known_by_the_packet_that_is_read, who_has_closed_is_accepted_all_the_same,
	who_was_missed_stands_in_nobodys_way, a_refused_connect_leaves_the_line, room_to_write_is_no_message)
