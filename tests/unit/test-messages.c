/* SPDX-License-Identifier: MIT */
/* Descriptors and messages: who received what from whom. Thread 1 (process 1) runs on CPU 0, thread 2 (process 2) on CPU 1. */
#include "feed.h"
#include "suite.h"

static struct feed *f;

static void done(void)
{
	feed_free(f);
}

/* A pipe of process 1, which 2 has by fork: reads from 3, writes to 4. */
static void start_with_pipe(void)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +pipe2\n3 c0 -pipe2 0 3 4\n4 c0 fork 1 2\n5 c1 sw 0>2 R");
}

START_TEST(a_pipe_carries_bytes_to_whoever_reads)
{
	start_with_pipe();
	feed(f, "10 c0 +write 4 100\n12 c0 -write 100\n20 c1 +read 3 100\n22 c1 -read 100");
	feed_two_finish(f, 30);
	feed_expect(f, "send thread=1 object=$pipe seq=1 begin=10u end=12u bytes=100");
	feed_expect(f, "receive thread=2 object=$pipe from=$pipe seq=1 sender=1 sent=10u begin=20u end=22u bytes=100 count=1");
	feed_expect(f, "object object=$pipe kind=pipe thread=1");
	done();
}
END_TEST

START_TEST(a_message_read_in_parts_is_complete_with_the_last)
{
	start_with_pipe();
	feed(f, "10 c0 +write 4 100\n12 c0 -write 100\n20 c1 +read 3 60\n22 c1 -read 60\n23 c1 +read 3 60\n24 c1 -read 40");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=22u seq=1 sender=1 bytes=60 count=0");
	feed_expect(f, "receive end=24u seq=1 sender=1 bytes=40 count=1");
	done();
}
END_TEST

START_TEST(one_read_takes_several_messages)
{
	start_with_pipe();
	feed(f, "10 c0 +write 4 10\n11 c0 -write 10\n12 c0 +write 4 20\n13 c0 -write 20\n14 c0 +write 4 5\n15 c0 -write 5\n"
		"20 c1 +read 3 64\n22 c1 -read 33\n23 c1 +read 3 64\n24 c1 -read 2");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=22u seq=1 sent=10u bytes=33 count=2");
	feed_expect(f, "receive end=24u seq=3 sent=14u bytes=2 count=1");
	done();
}
END_TEST

START_TEST(a_receive_waits_for_the_end_of_the_send)
{
	start_with_pipe();
	/* the reader is back before the writer */
	feed(f, "10 c0 +write 4 100\n11 c1 +read 3 100\n13 c1 -read 100\n15 c0 -write 100");
	feed_two_finish(f, 30);
	feed_expect(f, "receive thread=2 sender=1 seq=1 begin=11u end=13u bytes=100");
	done();
}
END_TEST

START_TEST(a_failed_send_is_no_message)
{
	start_with_pipe();
	feed(f, "10 c0 +write 4 100\n12 c0 -write -11\n13 c0 +write 4 7\n14 c0 -write 7\n20 c1 +read 3 100\n22 c1 -read 7");
	feed_two_finish(f, 30);
	feed_expect(f, "receive sent=13u bytes=7 count=1");
	ck_assert_uint_eq(feed_count(f, "send"), 1);
	done();
}
END_TEST

START_TEST(end_of_file_and_errors_receive_nothing)
{
	start_with_pipe();
	feed(f, "20 c1 +read 3 100\n22 c1 -read 0\n23 c1 +read 3 100\n24 c1 -read -11");
	feed_two_finish(f, 30);
	ck_assert_uint_eq(feed_count(f, "receive"), 0);
	done();
}
END_TEST

START_TEST(bytes_from_nobody_traced_have_no_sender)
{
	start_with_pipe();
	feed(f, "10 c0 +write 4 10\n11 c0 -write 10\n20 c1 +read 3 100\n22 c1 -read 10\n23 c1 +read 3 100\n24 c1 -read 50");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=24u from=0 sender=0 bytes=50");
	done();
}
END_TEST

START_TEST(a_socketpair_has_two_directions)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +socketpair 1 1\n3 c0 -socketpair 0 3 4\n4 c0 fork 1 2\n5 c1 sw 0>2 R\n"
		"10 c0 +sendto 3 10\n11 c0 -sendto 10\n12 c1 +recvfrom 4 10\n13 c1 -recvfrom 10\n"
		"14 c1 +sendto 4 20\n15 c1 -sendto 20\n16 c0 +recvfrom 3 20\n17 c0 -recvfrom 20");
	feed_two_finish(f, 30);
	feed_expect(f, "send thread=1 object=$one bytes=10");
	feed_expect(f, "receive thread=2 object=$two from=$one sender=1");
	feed_expect(f, "receive thread=1 object=$one from=$two sender=2");
	feed_expect(f, "object object=$one peer=$two kind=unix evidence=certain");
	done();
}
END_TEST

START_TEST(datagrams_match_one_to_one)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +socketpair 1 2\n3 c0 -socketpair 0 3 4\n4 c0 fork 1 2\n5 c1 sw 0>2 R\n"
		"10 c0 +sendto 3 100\n11 c0 -sendto 100\n12 c0 +sendto 3 100\n13 c0 -sendto 100\n"
		/* the first is cut off by a small buffer, the second is whole */
		"20 c1 +recvfrom 4 10\n21 c1 -recvfrom 10\n22 c1 +recvfrom 4 200\n23 c1 -recvfrom 100");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=21u seq=1 sent=10u count=1");
	feed_expect(f, "receive end=23u seq=2 sent=12u count=1");
	done();
}
END_TEST

START_TEST(queues_give_by_priority)
{
	f = feed_two_new();
	feed(f, "2 c0 +mq_open /jobs\n2 c1 +mq_open /jobs\n3 c0 -mq_open 5\n3 c1 -mq_open 7\n"
		"10 c0 +mq_timedsend 5 8 1\n11 c0 -mq_timedsend 0\n12 c0 +mq_timedsend 5 8 9\n13 c0 -mq_timedsend 0\n"
		"20 c1 +mq_timedreceive 7\n21 c1 -mq_timedreceive 8\n22 c1 +mq_timedreceive 7\n23 c1 -mq_timedreceive 8");
	feed_two_finish(f, 30);
	feed_expect(f, "object object=$q kind=queue name=/jobs");
	feed_expect(f, "receive object=$q end=21u sent=12u");
	feed_expect(f, "receive object=$q end=23u sent=10u");
	done();
}
END_TEST

START_TEST(a_waiting_reader_of_a_queue_is_handed_its_message)
{
	f = feed_two_new();
	feed(f, "2 c0 +mq_open /jobs\n3 c0 -mq_open 5\n4 c0 fork 1 3 1\n5 c1 +mq_open /jobs\n6 c1 -mq_open 7\n"
		/* 3 waits for a message on CPU 2, is woken with one, but comes to run late: 2 takes the other */
		"7 c2 sw 0>3 R\n8 c2 +mq_timedreceive 5\n9 c2 sw 3>0 S\n"
		"10 c0 +mq_timedsend 5 8 0\n11 c0 wk 3\n12 c0 -mq_timedsend 0\n13 c0 +mq_timedsend 5 8 0\n14 c0 -mq_timedsend 0\n"
		"15 c1 +mq_timedreceive 7\n16 c1 -mq_timedreceive 8\n20 c2 sw 0>3 R\n21 c2 -mq_timedreceive 8\n25 c2 sw 3>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "receive thread=3 seq=1 sent=10u");
	feed_expect(f, "receive thread=2 seq=2 sent=13u");
	done();
}
END_TEST

START_TEST(a_counter_is_read_and_cleared_at_once)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +eventfd2 0 0\n3 c0 -eventfd2 3\n4 c0 fork 1 2\n5 c1 sw 0>2 R\n"
		"10 c0 +write 3 8\n11 c0 -write 8\n12 c0 +write 3 8\n13 c0 -write 8\n20 c1 +read 3 8\n21 c1 -read 8\n"
		"22 c0 +write 3 8\n23 c0 -write 8\n24 c1 +read 3 8\n25 c1 -read 8");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=21u seq=1 count=2");
	feed_expect(f, "receive end=25u seq=3 count=1");
	done();
}
END_TEST

START_TEST(a_semaphore_gives_one_at_a_time)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +eventfd2 0 1\n3 c0 -eventfd2 3\n4 c0 fork 1 2\n5 c1 sw 0>2 R\n"
		"10 c0 +write 3 8\n11 c0 -write 8\n12 c0 +write 3 8\n13 c0 -write 8\n20 c1 +read 3 8\n21 c1 -read 8\n"
		"22 c1 +read 3 8\n23 c1 -read 8");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=21u seq=1 count=1");
	feed_expect(f, "receive end=23u seq=2 count=1");
	done();
}
END_TEST

START_TEST(a_semaphore_may_be_given_more_than_one_at_once)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +eventfd2 0 1\n3 c0 -eventfd2 3\n4 c0 fork 1 2\n5 c1 sw 0>2 R\n"
		"10 c0 +write 3 8\n11 c0 -write 8\n20 c1 +read 3 8\n21 c1 -read 8\n22 c1 +read 3 8\n23 c1 -read 8");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=21u seq=1 sender=1 count=1");
	feed_expect(f, "receive end=23u seq=1 sender=1 sent=10u count=0");
	done();
}
END_TEST

START_TEST(files_are_no_channels_until_a_write_wakes_a_reader)
{
	f = feed_two_new();
	feed(f, "2 c0 +openat -1 0 /tmp/data\n2 c1 +openat -1 0 /tmp/fifo\n3 c0 -openat 3\n3 c1 -openat 3\n"
		"4 c0 +openat -1 0 /tmp/fifo\n5 c0 -openat 4\n10 c0 +write 3 10\n11 c0 -write 10\n"
		"12 c1 +read 3 10\n13 c1 sw 2>0 S\n14 c0 +write 4 10\n15 c0 wk 2\n16 c0 -write 10\n17 c1 sw 0>2 R\n18 c1 -read 10");
	feed_two_finish(f, 30);
	feed_expect(f, "receive thread=2 object=$fifo sender=1 sent=14u");
	feed_expect(f, "object object=$fifo kind=fifo name=/tmp/fifo");
	feed_expect(f, "wait thread=2 call=read object=$fifo by=1 via=$fifo by_call=write cause=message");
	ck_assert_uint_eq(feed_count(f, "send"), 1);
	done();
}
END_TEST

START_TEST(descriptors_are_copied_closed_and_shared)
{
	start_with_pipe();
	feed(f, "6 c1 +dup2 3 9\n7 c1 -dup2 9\n8 c1 +close 3\n8 c1 -close 0\n9 c1 +fcntl 9 0 20\n9 c1 -fcntl 20\n"
		"10 c0 +write 4 10\n11 c0 -write 10\n12 c1 +read 9 10\n13 c1 -read 10\n"
		"14 c0 +write 4 10\n15 c0 -write 10\n16 c1 +read 20 10\n17 c1 -read 10\n"
		/* the number is free for something else */
		"20 c1 +openat -1 0 /tmp/x\n21 c1 -openat 3\n22 c0 +write 4 6\n23 c0 -write 6\n24 c1 +read 3 6\n25 c1 -read 6");
	feed_two_finish(f, 30);
	feed_expect(f, "receive thread=2 object=$pipe from=$pipe sender=1 end=13u seq=1");
	feed_expect(f, "receive thread=2 object=$pipe sender=1 end=17u seq=2");
	ck_assert_uint_eq(feed_count(f, "receive object=$pipe"), 2);
	done();
}
END_TEST

START_TEST(threads_share_descriptors_and_processes_do_not)
{
	start_with_pipe();
	/* 3 is a thread of process 1 and opens another pipe: 1 sees it at 7 and 8, process 2 does not */
	feed(f, "6 c0 fork 1 3 1\n7 c2 sw 0>3 R\n8 c2 +pipe2\n9 c2 -pipe2 0 7 8\n10 c0 +write 8 10\n11 c0 -write 10\n"
		"12 c2 +read 7 10\n13 c2 -read 10\n14 c1 +read 7 10\n15 c1 -read 10\n20 c2 sw 3>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "receive thread=3 sender=1 end=13u");
	ck_assert_uint_eq(feed_count(f, "receive thread=2 sender=1"), 0);
	done();
}
END_TEST

START_TEST(a_range_of_descriptors_closes_at_once)
{
	start_with_pipe();
	feed(f, "6 c1 +close_range 3 10 0\n7 c1 -close_range 0\n10 c0 +write 4 10\n11 c0 -write 10\n"
		"12 c1 +read 3 10\n13 c1 -read 10");
	feed_two_finish(f, 30);
	ck_assert_uint_eq(feed_count(f, "receive sender=1"), 0);
	done();
}
END_TEST

START_TEST(pipes_of_before_the_trace_come_from_the_dump)
{
	f = feed_two_new();
	feed(f, "2 c0 state 1 1 web 0\n2 c0 state 2 2 db 0\n3 c0 statefd 1 4 pipe:[77]\n3 c0 statefd 2 9 pipe:[77]\n"
		"3 c0 statefd 2 8 pipe:[78]\n10 c0 +write 4 10\n11 c0 -write 10\n12 c1 +read 8 5\n13 c1 -read 5\n"
		"14 c1 +read 9 10\n15 c1 -read 10");
	feed_two_finish(f, 30);
	feed_expect(f, "receive thread=2 end=15u sender=1 seq=1");
	feed_expect(f, "receive thread=2 end=13u sender=0");
	done();
}
END_TEST

START_TEST(two_calls_at_a_time_belong_to_two_threads)
{
	start_with_pipe();
	feed(f, "6 c0 fork 1 3 1\n7 c2 sw 0>3 R\n10 c0 +write 4 10\n10 c2 +write 4 20\n12 c2 -write 20\n13 c0 -write 10\n"
		"20 c1 +read 3 10\n21 c1 -read 10\n22 c1 +read 3 20\n23 c1 -read 20\n25 c2 sw 3>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=21u sender=1 count=1");
	feed_expect(f, "receive end=23u sender=3 count=1");
	done();
}
END_TEST

START_TEST(what_nobody_reads_is_given_up)
{
	start_with_pipe();
	for (int i = 0; i < 65600; i++) {
		feed(f, "%d c0 +write 4 1\n%d c0 -write 1", 100 + i, 100 + i);
	}
	feed(f, "70000 c1 +read 3 5\n70001 c1 -read 5");
	feed_two_finish(f, 80000);
	feed_expect(f, "receive thread=2 from=0 sender=0 bytes=5");
	feed_expect(f, "summary given_up=1");
	done();
}
END_TEST

START_TEST(futex_waits_and_wakes_name_each_other)
{
	f = feed_two_new();
	feed(f, "2 c0 fork 1 3 1\n3 c2 sw 0>3 R\n4 c2 +futex 4096 128 0\n5 c2 sw 3>0 S\n"
		"10 c0 +futex 4096 129 1\n11 c0 wk 3\n12 c0 -futex 1\n14 c2 sw 0>3 R\n15 c2 -futex 0\n"
		"16 c2 +futex 8192 128 0\n17 c2 -futex -11\n18 c0 +futex 8192 129 1\n19 c0 -futex 0\n20 c2 sw 3>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "futex_wait thread=3 object=$word begin=4u end=15u ret=0 blocked=1");
	feed_expect(f, "futex_wake thread=1 object=$word woken=3 woken_object=$word woken_at=11u index=0");
	feed_expect(f, "wait thread=3 object=$word via=$word by=1 cause=futex call=futex");
	feed_expect(f, "futex_wait thread=3 object=$other ret=-11 blocked=0");
	feed_expect(f, "futex_wake thread=1 object=$other woken=0");
	done();
}
END_TEST

START_TEST(who_waits_since_before_the_trace_waits_for_the_word_of_who_wakes_it)
{
	f = feed_two_new();
	feed(f, "2 c0 state 1 1 main\n2 c0 state 3 1 worker\n2 c0 state 4 4 other\n10 c0 +futex 4096 129 1\n11 c0 wk 3\n12 c0 -futex 1\n"
		"14 c2 sw 0>3 R\n15 c2 -futex 0\n16 c2 +futex 4096 128 0\n17 c2 sw 3>0 S\n"
		"20 c0 +futex 8192 129 1\n21 c0 wk 4\n22 c0 -futex 1\n24 c3 sw 0>4 R\n25 c3 -futex 0\n26 c3 sw 4>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "futex_wake thread=1 object=$word woken=3 woken_object=$word woken_at=11u index=0");
	feed_expect(f, "futex_wait thread=3 object=$word end=15u ret=0 blocked=1");
	feed_expect(f, "wait thread=3 object=$word via=$word by=1 cause=futex call=futex wake=11u");
	/* the calls of another process may not be in the trace */
	feed_expect(f, "futex_wake thread=1 begin=20u woken=0");
	ck_assert_uint_eq(feed_count(f, "futex_wait thread=4"), 0);
	done();
}
END_TEST

START_TEST(neighbours_in_eight_bytes_are_one_word)
{
	f = feed_two_new();
	feed(f, "2 c0 fork 1 3 1\n3 c2 sw 0>3 R\n4 c2 +futex 4096 128 0\n5 c2 sw 3>0 S\n"
		"10 c0 +futex 4100 129 1\n12 c0 -futex 0\n13 c0 +futex 4104 129 1\n14 c0 -futex 0\n15 c0 +futex 4096 129 1\n"
		"16 c0 wk 3\n17 c0 -futex 1\n18 c2 sw 0>3 R\n19 c2 -futex 0\n20 c2 sw 3>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "futex_wake thread=1 object=$word woken=3 woken_object=$word");
	feed_expect(f, "futex_wake thread=1 object=$word woken=0 begin=10u");
	ck_assert_uint_eq(feed_count(f, "futex_wake object=$word begin=13u"), 0);
	done();
}
END_TEST

START_TEST(words_of_two_processes_are_two)
{
	f = feed_two_new();
	feed(f, "4 c1 +futex 4096 0 0\n5 c1 sw 2>0 S\n10 c0 +futex 8192 1 1\n11 c0 wk 2\n12 c0 -futex 1\n14 c1 sw 0>2 R\n"
		"15 c1 -futex 0");
	feed_two_finish(f, 30);
	feed_expect(f, "futex_wait thread=2 object=$hers");
	feed_expect(f, "futex_wake thread=1 object=$his woken=2 woken_object=$hers");
	ck_assert_uint_eq(feed_count(f, "futex_wake object=$hers"), 0);
	done();
}
END_TEST

SUITE("messages", a_pipe_carries_bytes_to_whoever_reads, a_message_read_in_parts_is_complete_with_the_last,
	one_read_takes_several_messages, a_receive_waits_for_the_end_of_the_send, a_failed_send_is_no_message,
	end_of_file_and_errors_receive_nothing, bytes_from_nobody_traced_have_no_sender, a_socketpair_has_two_directions,
	datagrams_match_one_to_one, queues_give_by_priority, a_waiting_reader_of_a_queue_is_handed_its_message,
	a_counter_is_read_and_cleared_at_once, a_semaphore_gives_one_at_a_time,
	a_semaphore_may_be_given_more_than_one_at_once,
	files_are_no_channels_until_a_write_wakes_a_reader, descriptors_are_copied_closed_and_shared,
	threads_share_descriptors_and_processes_do_not, a_range_of_descriptors_closes_at_once,
	pipes_of_before_the_trace_come_from_the_dump, two_calls_at_a_time_belong_to_two_threads,
	what_nobody_reads_is_given_up, futex_waits_and_wakes_name_each_other, words_of_two_processes_are_two,
	who_waits_since_before_the_trace_waits_for_the_word_of_who_wakes_it, neighbours_in_eight_bytes_are_one_word)
