/* SPDX-License-Identifier: MIT */
/* What one thread's call lets another go on for. Thread 1 (process 1) runs on CPU 0, thread 2 (process 2) on CPU 1. */
#include "feed.h"
#include "suite.h"

static struct feed *f;

static void done(void)
{
	feed_free(f);
}

/* Thread 2 blocks at 10 (`state` S or D) in what `call` begins, and is woken at 20 inside the call of thread 1 that `by` begins. */
static void wake(const char *call, const char *state, const char *by)
{
	feed(f, "9 c1 %s\n10 c1 sw 2>0 %s\n19 c0 %s\n20 c0 wk 2\n22 c1 sw 0>2 R", call, state, by);
}

/* Both have a file open: thread 1 as 3, thread 2 as 4. */
static void start_with_file(void)
{
	f = feed_two_new();
	feed(f, "2 c0 +openat -1 0 /var/lock/it\n3 c0 -openat 3\n2 c1 +openat -1 0 /var/lock/it\n3 c1 -openat 4");
}

START_TEST(a_lock_of_a_file_is_waited_for)
{
	start_with_file();
	feed(f, "5 c0 +flock 3 2\n6 c0 -flock 0");
	wake("+flock 4 2", "S", "+flock 3 8");
	feed(f, "21 c0 -flock 0\n23 c1 -flock 0\n30 c1 +flock 4 8\n31 c1 -flock 0");
	feed_two_finish(f, 40);
	feed_expect(f, "object object=$file kind=file name=/var/lock/it");
	feed_expect(f, "wait thread=2 call=flock object=$file cause=lock via=$file by=1 by_call=flock evidence=certain");
	feed_expect(f, "futex_wait thread=2 object=$file begin=9u end=23u blocked=1");
	feed_expect(f, "futex_wake thread=1 object=$file woken=2 woken_object=$file woken_at=20u");
	feed_expect(f, "futex_wake thread=2 object=$file woken=0 begin=30u");
	ck_assert_uint_eq(feed_count(f, "futex_wait"), 1);
	done();
}
END_TEST

START_TEST(a_close_gives_a_lock_of_a_file_back)
{
	start_with_file();
	feed(f, "5 c0 +flock 3 2\n6 c0 -flock 0");
	wake("+flock 4 2", "S", "+close 3");
	feed(f, "21 c0 -close 0\n23 c1 -flock 0\n30 c0 +close 7\n31 c0 -close 0");
	feed_two_finish(f, 40);
	feed_expect(f, "wait thread=2 cause=lock by=1 by_call=close via=$file");
	feed_expect(f, "futex_wake thread=1 object=$file woken=2");
	ck_assert_uint_eq(feed_count(f, "futex_wake"), 1);
	done();
}
END_TEST

START_TEST(what_a_record_lock_does_shows_from_who_waits)
{
	start_with_file();
	/* thread 1 takes it without a wait: nothing to tell */
	feed(f, "5 c0 +fcntl 3 7\n6 c0 -fcntl 0");
	wake("+fcntl 4 7", "S", "+fcntl 3 6");
	feed(f, "21 c0 -fcntl 0\n23 c1 -fcntl 0\n24 c0 +fcntl 3 7\n25 c0 sw 1>0 S\n26 c1 +fcntl 4 6\n27 c1 wk 1\n28 c1 -fcntl 0\n"
		/* thread 1 has waited: it gives the lock back to nobody */
		"29 c0 sw 0>1 R\n30 c0 -fcntl 0\n35 c0 +fcntl 3 6\n36 c0 -fcntl 0\n37 c0 +fcntl 3 6\n38 c0 -fcntl 0");
	feed_two_finish(f, 40);
	feed_expect(f, "wait thread=2 cause=lock by=1 via=$file by_call=fcntl");
	feed_expect(f, "futex_wait thread=2 object=$file");
	feed_expect(f, "futex_wake thread=1 object=$file woken=2");
	feed_expect(f, "futex_wait thread=1 object=$file begin=24u end=30u");
	feed_expect(f, "futex_wake thread=1 object=$file woken=0 begin=35u");
	ck_assert_uint_eq(feed_count(f, "futex_wake"), 3);
	done();
}
END_TEST

START_TEST(semaphores_are_words)
{
	f = feed_two_new();
	wake("+semop 7", "S", "+semop 7");
	feed(f, "21 c0 -semop 0\n23 c1 -semop 0");
	feed_two_finish(f, 30);
	feed_expect(f, "object object=$set kind=semaphore");
	feed_expect(f, "wait thread=2 call=semop object=$set cause=semaphore via=$set by=1 by_call=semop");
	feed_expect(f, "futex_wait thread=2 object=$set");
	feed_expect(f, "futex_wake thread=1 object=$set woken=2");
	done();
}
END_TEST

START_TEST(who_only_waits_for_a_semaphore_gives_nothing_back)
{
	f = feed_two_new();
	wake("+semop 7", "S", "+semop 7");
	/* what thread 2 waits for is there already */
	feed(f, "21 c0 -semop 0\n23 c1 -semop 0\n24 c0 +semop 7\n25 c0 -semop 0\n26 c1 +semop 7\n27 c1 -semop 0");
	feed_two_finish(f, 30);
	ck_assert_uint_eq(feed_count(f, "futex_wake thread=2"), 0);
	done();
}
END_TEST

START_TEST(a_set_that_is_removed_is_another_one)
{
	f = feed_two_new();
	wake("+semop 7", "S", "+semctl 7 0");
	feed(f, "21 c0 -semctl 0\n23 c1 -semop -43\n24 c1 +semop 7\n25 c1 sw 2>0 S\n26 c0 +semop 7\n27 c0 wk 2\n28 c0 -semop 0\n"
		"28 c1 sw 0>2 R\n29 c1 -semop 0");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 begin=10u object=$one cause=semaphore by_call=semctl");
	feed_expect(f, "wait thread=2 begin=25u object=$two cause=semaphore");
	ck_assert_uint_eq(feed_count(f, "wait object=$one cause=semaphore"), 1);
	done();
}
END_TEST

START_TEST(system_v_queues_carry_messages)
{
	f = feed_two_new();
	wake("+msgrcv 5 64 0", "S", "+msgsnd 5 48");
	feed(f, "21 c0 -msgsnd 0\n23 c1 -msgrcv 48");
	feed_two_finish(f, 30);
	feed_expect(f, "object object=$q kind=queue");
	feed_expect(f, "wait thread=2 call=msgrcv object=$q cause=message by=1 via=$q");
	feed_expect(f, "send thread=1 object=$q seq=1 bytes=48");
	feed_expect(f, "receive thread=2 object=$q from=$q seq=1 sender=1 count=1");
	done();
}
END_TEST

START_TEST(of_messages_of_several_types_the_length_tells)
{
	f = feed_two_new();
	feed(f, "5 c0 +msgsnd 5 48\n6 c0 -msgsnd 0\n7 c0 +msgsnd 5 16\n8 c0 -msgsnd 0\n"
		"10 c1 +msgrcv 5 64 2\n11 c1 -msgrcv 16\n12 c1 +msgrcv 5 64 1\n13 c1 -msgrcv 48");
	feed_two_finish(f, 30);
	feed_expect(f, "receive end=11u seq=2 sent=7u");
	feed_expect(f, "receive end=13u seq=1 sent=5u");
	done();
}
END_TEST

START_TEST(a_call_sends_and_receives_several_datagrams)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +socketpair 1 2\n3 c0 -socketpair 0 3 4\n4 c0 fork 1 2\n5 c1 sw 0>2 R\n"
		"10 c0 +sendmmsg 3\n11 c1 +recvfrom 4 10\n12 c1 -recvfrom 10\n13 c0 -sendmmsg 3\n"
		"14 c0 +sendto 3 10\n15 c0 -sendto 10\n20 c1 +recvmmsg 4\n21 c1 -recvmmsg 2\n22 c1 +recvfrom 4 10\n23 c1 -recvfrom 10");
	feed_two_finish(f, 30);
	ck_assert_uint_eq(feed_count(f, "send thread=1 begin=10u end=13u"), 3);
	feed_expect(f, "receive end=12u seq=1 sent=10u count=1");
	feed_expect(f, "receive end=21u seq=2 sent=10u count=1");
	feed_expect(f, "receive end=21u seq=3 sent=10u count=1");
	feed_expect(f, "receive end=23u seq=4 sent=14u count=1");
	done();
}
END_TEST

START_TEST(who_closes_hangs_up)
{
	f = feed_two_new();
	wake("+recvfrom 4 10", "S", "+close 3");
	feed(f, "21 c0 -close 0\n23 c1 -recvfrom 0\n");
	/* on the way back to the program, when the call has returned */
	feed(f, "24 c1 +epoll_wait 9\n25 c1 sw 2>0 S\n26 c0 +close 4\n27 c0 -close 0\n28 c0 wk 2\n29 c1 sw 0>2 R\n30 c1 -epoll_wait 1");
	feed(f, "31 c1 +recvfrom 4 10\n32 c1 sw 2>0 S\n33 c0 exit 1\n34 c0 wk 2\n35 c1 sw 0>2 R\n36 c1 -recvfrom 0");
	feed_two_finish(f, 40);
	feed_expect(f, "wait thread=2 begin=10u cause=hangup by=1 by_call=close");
	feed_expect(f, "wait thread=2 begin=25u cause=hangup by=1");
	feed_expect(f, "wait thread=2 begin=32u cause=hangup by=1");
	done();
}
END_TEST

START_TEST(an_end_is_told_to_the_parent)
{
	f = feed_two_new();
	feed(f, "5 c1 fork 2 3\n6 c2 sw 0>3 R\n9 c1 +poll\n10 c1 sw 2>0 S\n19 c2 exit 3\n20 c2 wk 2\n22 c1 sw 0>2 R\n23 c1 -poll 1\n"
		"24 c1 +wait4\n25 c1 -wait4 3\n26 c2 sw 3>0 X");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 begin=10u cause=child by=3");
	done();
}
END_TEST

START_TEST(a_vfork_waits_for_the_child)
{
	f = feed_two_new();
	feed(f, "5 c1 +vfork\n6 c1 fork 2 3\n7 c1 sw 2>0 D\n8 c2 sw 0>3 R\n9 c2 +execve\n20 c2 wk 2\n21 c2 -execve 0\n22 c1 sw 0>2 R\n"
		"23 c1 -vfork 3\n26 c2 sw 3>0 X");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 begin=7u cause=child by=3 evidence=certain");
	done();
}
END_TEST

START_TEST(what_is_done_to_a_watched_file_wakes_who_watches)
{
	f = feed_two_new();
	feed(f, "5 c1 +inotify_init1\n6 c1 -inotify_init1 4");
	wake("+read 4 4096", "S", "+unlink -1 /tmp/f");
	feed(f, "21 c0 -unlink 0\n23 c1 -read 32\n24 c1 +poll\n25 c1 sw 2>0 S\n26 c0 +openat -1 0 /tmp/f\n27 c0 wk 2\n28 c0 -openat 5\n"
		"28 c1 sw 0>2 R\n29 c1 -poll 1");
	feed_two_finish(f, 30);
	feed_expect(f, "object object=$fd kind=notify name=inotify_init1");
	feed_expect(f, "wait thread=2 begin=10u cause=notify by=1 object=$fd evidence=certain");
	feed_expect(f, "wait thread=2 begin=25u cause=notify by=1 evidence=inferred");
	ck_assert_uint_eq(feed_count(f, "receive"), 0);
	done();
}
END_TEST

START_TEST(a_signal_is_one_by_whatever_call)
{
	f = feed_two_new();
	feed(f, "5 c1 +signalfd4\n6 c1 -signalfd4 4");
	wake("+read 4 128", "S", "+pidfd_send_signal");
	feed(f, "21 c0 -pidfd_send_signal 0\n23 c1 -read 128\n24 c1 +rt_sigtimedwait\n25 c1 sw 2>0 S\n26 c0 +rt_sigqueueinfo\n"
		"27 c0 wk 2\n28 c0 -rt_sigqueueinfo 0\n28 c1 sw 0>2 R\n29 c1 -rt_sigtimedwait 10");
	feed_two_finish(f, 30);
	ck_assert_uint_eq(feed_count(f, "wait thread=2 cause=signal by=1"), 2);
	done();
}
END_TEST

START_TEST(a_timer_that_is_read_is_a_sleep)
{
	f = feed_two_new();
	feed(f, "2 c1 +timerfd_create\n3 c1 -timerfd_create 4\n4 c1 +timerfd_settime 4 0\n5 c1 -timerfd_settime 0\n"
		"9 c1 +read 4 8\n10 c1 sw 2>0 S\n20 c1 +hrtimer 1\n20 c1 wk 2\n20 c1 -hrtimer 1\n21 c1 sw 0>2 R\n22 c1 -read 8\n"
		/* it goes off by itself now, and has done so already once */
		"30 c1 +read 4 8\n31 c1 sw 2>0 S\n40 c1 +hrtimer 1\n40 c1 wk 2\n40 c1 -hrtimer 1\n41 c1 sw 0>2 R\n42 c1 -read 8\n"
		"60 c1 +read 4 8\n61 c1 -read 8");
	feed_two_finish(f, 70);
	feed_expect(f, "wait thread=2 begin=10u cause=timer");
	feed_expect(f, "sleep thread=2 begin=9u end=22u absolute=0");
	feed_expect(f, "sleep thread=2 begin=30u end=42u absolute=1");
	ck_assert_uint_eq(feed_count(f, "sleep"), 2);
	done();
}
END_TEST

START_TEST(a_descriptor_is_fetched_from_another_process)
{
	f = feed_two_new();
	feed(f, "2 c0 +pipe2\n3 c0 -pipe2 0 3 4\n4 c1 +pidfd_open 1\n5 c1 -pidfd_open 7\n6 c1 +pidfd_getfd 7 4\n7 c1 -pidfd_getfd 8\n"
		"10 c1 +write 8 5\n11 c1 -write 5\n12 c0 +read 3 10\n13 c0 -read 5");
	feed_two_finish(f, 30);
	feed_expect(f, "receive thread=1 object=$pipe from=$pipe sender=2 count=1");
	done();
}
END_TEST

START_TEST(rings_wake_for_what_the_trace_does_not_show)
{
	f = feed_two_new();
	feed(f, "2 c0 name 3 iou-wrk-1\n3 c0 fork 1 3 1\n4 c2 sw 0>3 R");
	wake("+io_uring_enter 5", "S", "+io_uring_enter 6");
	feed(f, "21 c0 -io_uring_enter 1\n23 c1 -io_uring_enter 1\n24 c1 +io_uring_enter 5\n25 c1 sw 2>0 S\n26 c2 wk 2\n27 c1 sw 0>2 R\n"
		"28 c1 -io_uring_enter 1\n30 c1 +io_uring_enter 5\n31 c1 sw 2>0 S\n32 c0 +write 7 10\n33 c0 wk 2\n34 c0 -write 10\n"
		"35 c1 sw 0>2 R\n36 c1 -io_uring_enter 1\n37 c2 sw 3>0 S\n38 c1 +io_uring_enter 5\n39 c1 wk 3\n39 c1 -io_uring_enter 1\n"
		"40 c2 sw 0>3 R\n49 c2 sw 3>0 S");
	feed_two_finish(f, 50);
	feed_expect(f, "wait thread=2 begin=10u cause=ring by=1 by_call=io_uring_enter evidence=inferred");
	feed_expect(f, "wait thread=2 begin=25u cause=worker by=3");
	feed_expect(f, "wait thread=2 begin=31u cause=message by=1");
	feed_expect(f, "wait thread=3 begin=37u cause=ring by=2");
	done();
}
END_TEST

START_TEST(futex_calls_of_one_purpose_each_are_futexes)
{
	f = feed_two_new();
	wake("+futex_wait 4096 0", "S", "+futex_wake 4096 1");
	feed(f, "21 c0 -futex_wake 1\n23 c1 -futex_wait 0");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 call=futex cause=futex by=1");
	feed_expect(f, "futex_wait thread=2 object=$hers");
	feed_expect(f, "futex_wake thread=1 woken=2 woken_object=$hers");
	done();
}
END_TEST

START_TEST(of_several_words_the_one_that_was_woken_is_meant)
{
	f = feed_two_new();
	feed(f, "2 c0 fork 1 3 1\n3 c2 sw 0>3 R\n4 c2 +futex_waitv\n5 c2 sw 3>0 S\n6 c0 +futex 8192 129 1\n7 c0 wk 3\n8 c0 -futex 1\n"
		"9 c2 sw 0>3 R\n10 c2 -futex_waitv 1\n11 c2 +futex_waitv\n12 c2 sw 3>0 S\n20 c2 +hrtimer 1\n20 c2 wk 3\n20 c2 -hrtimer 1\n"
		"21 c2 sw 0>3 R\n22 c2 -futex_waitv -110\n25 c2 sw 3>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "futex_wake thread=1 object=$word woken=3 woken_object=$word");
	feed_expect(f, "futex_wait thread=3 object=$word begin=4u");
	ck_assert_uint_eq(feed_count(f, "futex_wait"), 1);
	done();
}
END_TEST

START_TEST(what_does_not_go_together_is_a_hidden_queue)
{
	f = feed_two_new();
	wake("+futex 4096 0 1", "S", "+write 3 10");
	feed(f, "21 c0 -write 10\n23 c1 -futex 0\n24 c1 +mprotect\n25 c1 sw 2>0 D\n26 c0 +munmap\n27 c0 wk 2\n28 c0 -munmap 0\n"
		"28 c1 sw 0>2 R\n29 c1 -mprotect 0");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 begin=10u cause=hidden by=1 by_call=write evidence=hypothesised");
	feed_expect(f, "wait thread=2 begin=25u cause=hidden by=1 evidence=hypothesised");
	done();
}
END_TEST

START_TEST(a_lock_of_the_kernel_is_a_hidden_queue)
{
	f = feed_two_new();
	feed(f, "2 c1 +openat -1 0 /data\n3 c1 -openat 4");
	/* who sleeps for good waits for no message, and what wakes it is no disk */
	wake("+pread64 4", "D", "+pwrite64 3");
	feed(f, "21 c0 -pwrite64 10\n23 c1 -pread64 10");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 cause=hidden by=1 by_call=pwrite64 evidence=hypothesised");
	ck_assert_uint_eq(feed_count(f, "disk"), 0);
	done();
}
END_TEST

START_TEST(a_lock_of_the_memory_map_may_be_given_before_who_waits_has_left)
{
	f = feed_new("6.1.0");
	feed(f, "1 c0 sw 0>1 R\n2 c0 +getpid\n3 c0 -getpid 1\n4 c0 fork 1 2 1\n5 c1 sw 0>2 R\n20 c0 wk 2\n21 c1 sw 2>0 D\n23 c1 sw 0>2 R");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 cause=hidden by=1 wake=21u evidence=hypothesised");
	done();
}
END_TEST

START_TEST(what_is_left_ready_on_a_shared_epoll_descriptor_is_the_next_ones)
{
	f = feed_two_new();
	feed(f, "2 c0 fork 1 3 1\n3 c2 sw 0>3 R\n4 c0 +epoll_create1\n5 c0 -epoll_create1 4\n6 c2 +epoll_wait 4\n7 c2 sw 3>0 S\n"
		"8 c0 +epoll_wait 4\n9 c0 wk 3\n10 c0 -epoll_wait 1\n11 c2 sw 0>3 R\n12 c2 -epoll_wait 1\n"
		"16 c2 +epoll_wait 4\n17 c2 sw 3>0 S\n18 c0 +epoll_ctl 4 3 9\n19 c0 wk 3\n20 c0 -epoll_ctl 0\n21 c2 sw 0>3 R\n"
		"22 c2 -epoll_wait 1\n23 c2 +epoll_wait 4\n24 c2 sw 3>0 S\n25 c1 +epoll_wait 4\n26 c1 wk 3\n27 c1 -epoll_wait 1\n"
		"28 c2 sw 0>3 R\n28 c2 -epoll_wait 1\n29 c2 sw 3>0 S");
	feed_two_finish(f, 30);
	ck_assert_uint_eq(feed_count(f, "wait thread=3 cause=thread by=1 evidence=certain"), 2);
	/* another process's descriptor 4 is something else */
	feed_expect(f, "wait thread=3 begin=24u cause=hidden by=2");
	done();
}
END_TEST

START_TEST(a_page_fault_is_served_by_a_program)
{
	f = feed_two_new();
	feed(f, "2 c1 +userfaultfd\n3 c1 -userfaultfd 4\n4 c0 +getpid\n4 c0 -getpid 1\n5 c1 +read 4 32\n6 c1 sw 2>0 S\n8 c0 wk 2\n"
		"9 c0 sw 1>0 S\n10 c1 sw 0>2 R\n11 c1 -read 32\n12 c1 +ioctl 4\n13 c1 wk 1\n14 c1 -ioctl 0\n15 c0 sw 0>1 R");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 begin=6u cause=fault by=1");
	feed_expect(f, "wait thread=1 begin=9u cause=fault by=2 by_call=ioctl evidence=certain");
	done();
}
END_TEST

START_TEST(a_program_outside_of_calls_was_interrupted)
{
	f = feed_two_new();
	feed(f, "2 c0 +getpid\n3 c0 -getpid 1\n4 c1 +futex 4096 0 1\n5 c1 sw 2>0 S\n20 c0 wk 2\n21 c1 sw 0>2 R\n22 c1 -futex -110");
	/* an interrupt that is over has left its softirqs to ksoftirqd */
	feed(f, "23 c0 name 9 ksoftirqd/0\n23 c0 state 9 9 ksoftirqd/0\n24 c0 +getpid\n25 c0 +tick 1\n26 c0 -tick 1\n27 c0 wk 9\n"
		"28 c2 sw 0>9 R\n29 c2 sw 9>0 S");
	feed_two_finish(f, 30);
	feed_expect(f, "wait thread=2 begin=5u cause=interrupt by=0 evidence=inferred");
	feed_expect(f, "wait thread=9 end=28u cause=interrupt by=0");
	done();
}
END_TEST

SUITE("causes", a_lock_of_a_file_is_waited_for, a_close_gives_a_lock_of_a_file_back,
	what_a_record_lock_does_shows_from_who_waits, semaphores_are_words, who_only_waits_for_a_semaphore_gives_nothing_back,
	a_set_that_is_removed_is_another_one, system_v_queues_carry_messages, of_messages_of_several_types_the_length_tells,
	a_call_sends_and_receives_several_datagrams, who_closes_hangs_up, an_end_is_told_to_the_parent,
	a_vfork_waits_for_the_child, what_is_done_to_a_watched_file_wakes_who_watches, a_signal_is_one_by_whatever_call,
	a_timer_that_is_read_is_a_sleep, a_descriptor_is_fetched_from_another_process,
	rings_wake_for_what_the_trace_does_not_show, futex_calls_of_one_purpose_each_are_futexes,
	of_several_words_the_one_that_was_woken_is_meant, what_does_not_go_together_is_a_hidden_queue,
	a_lock_of_the_kernel_is_a_hidden_queue,
	a_lock_of_the_memory_map_may_be_given_before_who_waits_has_left, what_is_left_ready_on_a_shared_epoll_descriptor_is_the_next_ones,
	a_page_fault_is_served_by_a_program, a_program_outside_of_calls_was_interrupted)
