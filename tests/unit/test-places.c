/* SPDX-License-Identifier: MIT */
/* On which threads spans are: as the tracer wrote down, or as the program says. */
#include "feed.h"
#include "suite.h"

static struct feed *f;

static void start(void)
{
	f = feed_new("6.1.0");
	/* process 100 with thread 101; process 200 */
	feed(f, "1 c0 state 100 100 web\n1 c0 state 101 100 web\n1 c0 state 200 200 db\n2 c0 sw 0>101 R\n2 c1 sw 0>200 R");
}

static void finish(void)
{
	feed_finish(f, 100);
}

START_TEST(the_tracers_thread_is_believed)
{
	start();
	feed(f, "10 c0 span traced 1 -1 101\n11 c0 span traced 2 100 101\n12 c0 span traced 3 100 300");
	finish();
	feed_expect(f, "span span=1 thread=101 pid=100 evidence=certain");
	feed_expect(f, "span span=2 thread=101 pid=100 evidence=certain");
	feed_expect(f, "span span=3 thread=300 pid=100 evidence=inferred");	/* not met yet */
	feed_free(f);
}
END_TEST

START_TEST(what_a_program_says_must_fit_together)
{
	start();
	feed(f, "10 c0 span told 1 100 101\n11 c0 span told 2 100 200\n12 c0 span told 3 -1 101\n13 c0 span told 4 100 7\n"
		"14 c0 span told 5 -1 7\n15 c0 span told 6 9 9\n16 c0 span told 7 -1 -1");
	finish();
	feed_expect(f, "span span=1 thread=101 pid=100 evidence=certain");
	feed_expect(f, "span span=2 thread=0 pid=100 evidence=inferred");	/* 200 is of another process */
	feed_expect(f, "span span=3 thread=101 pid=100 evidence=inferred");
	feed_expect(f, "span span=4 thread=7 pid=100 evidence=inferred");	/* whether it is of 100 will be seen */
	feed_expect(f, "span span=5 thread=0 pid=0 evidence=inferred");
	feed_expect(f, "span span=6 thread=9 pid=9 evidence=inferred");
	feed_expect(f, "span span=7 thread=0 pid=0 evidence=inferred");
	feed_free(f);
}
END_TEST

START_TEST(numbers_of_a_namespace_are_understood)
{
	start();
	/* 200 is the first process of a container, which makes a thread and a process there */
	feed(f, "3 c0 inside 200 1 1\n4 c1 fork 200 201 200 8\n5 c1 fork 200 202 202 9\n6 c0 sw 101>0 S\n6 c1 sw 200>0 S\n"
		"10 c0 span told 1 1 8\n11 c0 span traced 2 1 1\n12 c0 span told 3 9 9\n13 c0 span told 4 1 77");
	finish();
	feed_expect(f, "span span=1 thread=201 pid=200 evidence=certain");
	feed_expect(f, "span span=2 thread=200 pid=200 evidence=certain");
	feed_expect(f, "span span=3 thread=202 pid=202 evidence=certain");
	feed_expect(f, "span span=4 pid=1 evidence=inferred");
	feed_free(f);
}
END_TEST

START_TEST(numbers_of_two_namespaces_are_nobodys)
{
	start();
	feed(f, "3 c0 inside 200 1 1\n3 c0 inside 100 1 1\n6 c0 sw 101>0 S\n10 c0 span told 1 1 1");
	finish();
	feed_expect(f, "span span=1 pid=1 evidence=inferred");
	ck_assert_uint_eq(feed_count(f, "span span=1 thread=200"), 0);
	ck_assert_uint_eq(feed_count(f, "span span=1 thread=100"), 0);
	feed_free(f);
}
END_TEST

START_TEST(numbers_of_three_namespaces_are_nobodys)
{
	start();
	feed(f, "3 c0 inside 200 1 1\n3 c0 inside 100 1 1\n3 c0 inside 300 1 1\n6 c0 sw 101>0 S\n"
		"10 c0 span told 1 1 1");
	finish();
	feed_expect(f, "span span=1 pid=1 evidence=inferred");
	ck_assert_uint_eq(feed_count(f, "span span=1 thread=300"), 0);
	feed_free(f);
}
END_TEST

START_TEST(spans_do_not_begin_the_trace)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 span told 1 100 101\n5 c0 sw 0>101 R\n9 c0 sw 101>0 S");
	finish();
	feed_expect(f, "summary begin=5u end=100u");
	feed_free(f);
	f = feed_new("6.1.0");
	feed(f, "3 c0 span told 1 100 101");
	finish();
	feed_expect(f, "summary begin=100u end=100u");
	feed_free(f);
}
END_TEST

SUITE("places", the_tracers_thread_is_believed, what_a_program_says_must_fit_together, numbers_of_a_namespace_are_understood,
	numbers_of_two_namespaces_are_nobodys, numbers_of_three_namespaces_are_nobodys, spans_do_not_begin_the_trace)
