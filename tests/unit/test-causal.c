/* SPDX-License-Identifier: MIT */
/* Threads on and off their CPUs: who waited, from when to when, and who or what let it go on. */
#include "feed.h"
#include "suite.h"

static struct feed *f;

static void start(void)
{
	f = feed_new("6.1.0");
}

/* Ends the trace; the events can be looked at afterwards. */
static void end(long us)
{
	feed_finish(f, us);
}

static void done(void)
{
	feed_free(f);
}

START_TEST(a_wait_ends_by_whoever_woke)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c0 sw 1>0 S\n40 c1 wk 1\n41 c1 wakeup 1\n45 c0 sw 0>1 R\n50 c1 sw 2>0 S");
	end(60);
	feed_expect(f, "wait thread=1 begin=30u wake=40u end=45u by=2 cause=thread evidence=certain state=1 open=0 cpu=20u");
	ck_assert_uint_eq(feed_count(f, "wait thread=1"), 1);
	done();
}
END_TEST

START_TEST(an_early_waking_gives_a_wait_without_length)
{
	start();
	/* 2 wakes 1 before 1 has left its CPU */
	feed(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c1 wk 1\n31 c0 sw 1>0 S\n40 c0 sw 0>1 R\n50 c1 sw 2>0 S");
	end(60);
	feed_expect(f, "wait thread=1 begin=31u wake=31u end=40u by=2 evidence=certain");
	done();
}
END_TEST

START_TEST(a_later_waking_beats_an_early_one)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c1 wk 1\n31 c0 sw 1>0 S\n33 c1 sw 2>3 S\n35 c1 wk 1\n40 c0 sw 0>1 R\n"
		"50 c1 sw 3>0 S");
	end(60);
	feed_expect(f, "wait thread=1 begin=31u wake=35u end=40u by=3");
	done();
}
END_TEST

START_TEST(an_early_waking_does_not_outlive_a_preemption)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c1 wk 1\n31 c0 sw 1>4 P\n40 c0 sw 4>1 S\n50 c0 sw 1>0 S\n"
		"60 c1 sw 2>0 S\n70 c0 sw 0>1 R");
	end(80);
	feed_expect(f, "wait thread=1 begin=50u wake=-1 end=70u by=0 cause=unknown evidence=hypothesised");
	done();
}
END_TEST

START_TEST(waking_and_wakeup_of_one_wait_are_one_edge)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c0 sw 1>0 S\n40 c1 wk 1\n42 c0 +ipi\n43 c0 wakeup 1\n44 c0 -ipi\n"
		"45 c0 sw 0>1 R\n50 c1 sw 2>0 S");
	end(60);
	ck_assert_uint_eq(feed_count(f, "wait thread=1"), 1);
	feed_expect(f, "wait thread=1 wake=40u by=2");
	done();
}
END_TEST

START_TEST(a_wakeup_alone_serves_where_there_is_no_waking)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c1 sw 0>2 R\n30 c0 sw 1>0 S\n40 c1 wakeup 1\n45 c0 sw 0>1 R\n50 c1 sw 2>0 S");
	end(60);
	feed_expect(f, "wait thread=1 wake=40u by=2");
	done();
}
END_TEST

START_TEST(a_wakeup_inside_an_ipi_never_names_the_interrupted_thread)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n21 c0 +ipi\n22 c0 wakeup 1\n23 c0 -ipi\n30 c0 sw 2>1 R");
	end(40);
	feed_expect(f, "wait thread=1 begin=15u wake=22u by=0 cause=ipi evidence=hypothesised");
	done();
}
END_TEST

START_TEST(a_waking_in_an_interrupt_is_the_devices)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n20 c0 +irq 30\n21 c0 wk 1\n22 c0 -irq 30\n30 c0 sw 2>1 S\n40 c0 sw 1>0 S");
	end(50);
	feed_expect(f, "wait thread=1 wake=21u by=0 cause=device via=30 evidence=certain");
	/* the interrupted thread has nothing to do with it, and goes on running */
	feed_expect(f, "wait thread=2 begin=30u cpu=15u");
	done();
}
END_TEST

START_TEST(what_interrupts_a_thread_is_told_of)
{
	start();
	/* one in another is part of it; what falls upon an idle CPU takes from nobody */
	feed(f, "10 c0 sw 0>1 R\n20 c0 +irq 9\n21 c0 +softirq 3\n23 c0 -softirq 3\n25 c0 -irq 9\n"
		"30 c0 +write 3 4\n31 c0 +softirq 3\n32 c0 +tick\n34 c0 -tick\n35 c0 -softirq 3\n36 c0 -write 4\n"
		"40 c0 sw 1>0 S\n45 c0 +softirq 1\n47 c0 -softirq 1");
	end(60);
	feed_expect(f, "interrupted thread=1 begin=20u end=25u number=9 context=irq");
	feed_expect(f, "interrupted thread=1 begin=32u end=34u context=tick");
	ck_assert_uint_eq(feed_count(f, "interrupted"), 2);
	done();
}
END_TEST

START_TEST(the_innermost_interrupt_counts)
{
	static const struct {
		const char *enter, *leave, *expected;
	} cases[] = {
		{ "+softirq 1", "-softirq 1", "wait thread=1 by=0 cause=timer" },
		{ "+softirq 3", "-softirq 3", "wait thread=1 by=0 cause=network" },
		{ "+softirq 4", "-softirq 4", "wait thread=1 by=0 cause=disk" },
		{ "+softirq 9", "-softirq 9", "wait thread=1 by=0 cause=worker" },
		{ "+hrtimer 7", "-hrtimer 7", "wait thread=1 by=0 cause=timer" },
		{ "+timer 7", "-timer 7", "wait thread=1 by=0 cause=timer" },
		{ "+tick", "-tick", "wait thread=1 by=0 cause=timer" },
		{ "+irq 9", "-irq 9", "wait thread=1 by=0 cause=device via=9" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start();
		feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n20 c0 +tick\n21 c0 -tick\n21 c0 %s\n22 c0 wk 1\n23 c0 %s\n"
			"30 c0 sw 2>1 R", cases[i].enter, cases[i].leave);
		end(50);
		feed_expect(f, cases[i].expected);
		done();
	}
}
END_TEST

START_TEST(a_lost_interrupt_exit_ends_with_the_next_switch)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n20 c0 +irq 30\n25 c0 sw 2>3 S\n30 c0 wk 1\n35 c0 sw 3>1 R");
	end(40);
	feed_expect(f, "wait thread=1 wake=30u by=3");
	done();
}
END_TEST

START_TEST(a_softirq_of_the_threads_own_call_is_its_doing)
{
	start();
	/* a send through loopback delivers its packet in a softirq on the spot */
	feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n100 c0 +sendto 5 10\n110 c0 +softirq 3\n111 c0 wk 1\n112 c0 -softirq 3\n"
		"120 c0 -sendto 10\n130 c0 sw 2>1 R\n");
	end(140);
	feed_expect(f, "wait thread=1 wake=111u by=2 cause=message by_call=sendto");
	done();
}
END_TEST

START_TEST(a_softirq_behind_an_interrupt_is_not)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n100 c0 +sendto 5 10\n108 c0 +irq 4\n109 c0 -irq 4\n110 c0 +softirq 3\n"
		"111 c0 wk 1\n112 c0 -softirq 3\n120 c0 -sendto 10\n130 c0 sw 2>1 R\n");
	end(140);
	feed_expect(f, "wait thread=1 wake=111u by=0 cause=network");
	done();
}
END_TEST

START_TEST(a_waking_on_an_idle_cpu_is_nobodys)
{
	start();
	feed(f, "10 c0 sw 1>0 S\n10 c1 sw 2>0 S\n20 c1 wk 1\n30 c0 sw 0>1 R");
	end(40);
	feed_expect(f, "wait thread=1 begin=10u wake=20u end=30u by=0 cause=interrupt evidence=inferred");
	done();
}
END_TEST

START_TEST(who_is_preempted_did_not_wait)
{
	static const struct {
		const char *release, *state;
	} cases[] = { { "6.1.0", "R" }, { "6.1.0", "P" }, { "4.4.3", "2048" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f = feed_new(cases[i].release);
		feed(f, "5 c0 sw 0>1 R\n10 c0 sw 1>2 %s\n20 c0 sw 2>1 S\n30 c0 sw 1>0 S", cases[i].state);
		end(40);
		feed_expect(f, "preempted thread=1 by=2 begin=10u end=20u cpu=5u idle=0");
		ck_assert_uint_eq(feed_count(f, "wait thread=1 begin=10u"), 0);
		feed_expect(f, "wait thread=1 begin=30u cpu=15u open=1");
		done();
	}
}
END_TEST

START_TEST(way_back_to_the_cpu_counts_other_idle_cpus)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n10 c1 sw 0>2 R\n20 c0 sw 1>3 S\n30 c1 wk 1\n40 c1 sw 2>0 S\n50 c0 sw 3>1 S");
	end(60);
	feed_expect(f, "wait thread=1 begin=20u wake=30u end=50u idle=10u");
	done();
}
END_TEST

START_TEST(a_hole_hands_records_to_the_thread_that_made_them)
{
	start();
	/* switched to 5, whose own switch away is missing: 1 calls and is switched off */
	feed(f, "10 c0 sw 0>1 R\n20 c0 sw 1>5 S\n25 c1 sw 0>2 R\n26 c1 wk 1\n27 c0 +nanosleep\n28 c0 -nanosleep 0\n"
		"30 c0 sw 1>0 S\n40 c1 sw 2>0 S");
	end(50);
	feed_expect(f, "sleep thread=1 begin=27u end=28u");
	feed_expect(f, "wait thread=1 begin=20u wake=26u by=2");
	feed_expect(f, "summary holes=1");
	done();
}
END_TEST

START_TEST(a_life_is_tiled_by_intervals)
{
	const struct lqn_event *ev;

	start();
	/* running 5, blocked 10, runnable 2, running 8, preempted 3, running 2, blocked to the end */
	feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n25 c0 wk 1\n27 c0 sw 2>1 S\n35 c0 sw 1>3 P\n38 c0 sw 3>1 S\n40 c0 sw 1>0 S");
	end(50);
	ev = feed_expect(f, "wait thread=1 begin=15u wake=25u end=27u cpu=5u");
	ev = feed_expect(f, "preempted thread=1 begin=35u end=38u cpu=13u");
	ck_assert_int_eq(ev->preempted.begin - 8000, 27000);
	ev = feed_expect(f, "wait thread=1 begin=40u wake=-1 end=50u cpu=15u open=1");
	ck_assert_uint_eq(feed_count(f, "wait thread=1") + feed_count(f, "preempted thread=1"), 3);
	done();
}
END_TEST

START_TEST(a_thread_blocked_since_before_the_trace_is_told_of)
{
	start();
	feed(f, "5 c0 state 1 1 web 5\n10 c0 sw 0>2 R\n20 c0 wk 1\n25 c0 sw 2>1 S");
	end(40);
	feed_expect(f, "wait thread=1 begin=5u wake=20u end=25u by=2");
	feed_expect(f, "thread thread=1 pid=1 comm=web born=-1");
	done();
}
END_TEST

START_TEST(a_reused_tid_is_another_thread)
{
	start();
	feed(f, "10 c0 sw 0>100 R\n15 c1 sw 0>2 R\n20 c0 exit 100\n25 c0 sw 100>0 X\n30 c1 free 100\n40 c1 fork 2 100\n"
		"41 c1 new 100\n45 c0 sw 0>100 R\n50 c0 sw 100>0 S\n60 c1 wk 100\n65 c0 sw 0>100 R\n70 c1 sw 2>0 S");
	end(80);
	feed_expect(f, "exit thread=100 at=25u");
	feed_expect(f, "thread thread=100@1 pid=100 born=40u parent=2");
	feed_expect(f, "wait thread=100@1 begin=50u wake=60u end=65u by=2 cpu=5u");
	ck_assert_uint_eq(feed_count(f, "wait thread=100"), 0);
	done();
}
END_TEST

START_TEST(a_tid_is_free_again_without_the_event_that_says_so)
{
	start();
	feed(f, "10 c0 sw 0>100 R\n15 c1 sw 0>2 R\n20 c0 exit 100\n25 c0 sw 100>0 X\n40 c1 fork 2 100\n45 c0 sw 0>100 R\n"
		"50 c0 sw 100>0 S\n55 c1 sw 2>0 S");
	end(60);
	feed_expect(f, "thread thread=100@1 born=40u");
	feed_expect(f, "wait thread=100@1 begin=50u");
	done();
}
END_TEST

START_TEST(an_exit_wakes_as_a_child)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n11 c0 fork 1 2\n12 c0 +wait4\n15 c0 sw 1>2 S\n20 c0 exit 2\n21 c0 wk 1\n25 c0 sw 2>1 X\n"
		"26 c0 -wait4 2\n30 c0 sw 1>0 S");
	end(40);
	feed_expect(f, "wait thread=1 call=wait4 call_begin=12u by=2 cause=child");
	done();
}
END_TEST

START_TEST(names_follow_exec_and_renaming)
{
	start();
	feed(f, "0 c0 name 2 sh\n10 c0 sw 0>1 R\n11 c0 fork 1 2\n15 c0 sw 1>2 S\n16 c0 exec 2 /usr/sbin/web-server\n"
		"17 c0 name 2 web-server\n20 c0 sw 2>0 S\n30 c0 name 2 http-nio-1\n31 c0 sw 0>2 R\n40 c0 sw 2>0 S");
	end(50);
	feed_expect(f, "thread thread=2 pid=2 parent=1 born=11u comm=sh");
	feed_expect(f, "thread thread=2 comm=web-server exe=/usr/sbin/web-server");
	feed_expect(f, "thread thread=2 comm=http-nio-1 exe=/usr/sbin/web-server");
	done();
}
END_TEST

START_TEST(threads_belong_to_their_process)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n11 c0 fork 1 2 1\n12 c0 fork 1 3\n20 c0 sw 1>0 S\n");
	end(30);
	feed_expect(f, "thread thread=2 pid=1");
	feed_expect(f, "thread thread=3 pid=3");
	done();
}
END_TEST

START_TEST(kernel_threads_are_known)
{
	start();
	feed(f, "5 c0 name 2 kthreadd\n10 c0 sw 0>2 R\n11 c0 fork 2 50\n12 c0 sw 2>0 S\n13 c0 name 60 kworker/0:1\n"
		"14 c0 sw 0>60 R\n15 c0 sw 60>1 S\n16 c0 sw 1>0 S");
	end(30);
	feed_expect(f, "thread thread=50 kernel=1");
	feed_expect(f, "thread thread=60 kernel=1");
	feed_expect(f, "thread thread=1 kernel=0");
	done();
}
END_TEST

START_TEST(a_waker_in_a_kernel_thread_is_a_worker)
{
	start();
	feed(f, "5 c0 name 60 kworker/0:1\n10 c0 sw 0>1 R\n15 c0 sw 1>60 D\n20 c0 wk 1\n25 c0 sw 60>1 S");
	end(30);
	feed_expect(f, "wait thread=1 by=60 cause=worker state=2");
	done();
}
END_TEST

START_TEST(after_a_loss_nothing_is_believed)
{
	start();
	/* on CPU 0: a call begins, events are lost, another call ends */
	feed(f, "10 c0 sw 0>1 R\n11 c0 +read 5 100\n20 c0 lost 30 7\n31 c0 -write 100\n32 c0 sw 1>0 S\n40 c0 sw 0>1 R");
	end(50);
	feed_expect(f, "loss begin=20u end=30u count=7 cpu=0");
	ck_assert_uint_eq(feed_count(f, "send"), 0);
	ck_assert_uint_eq(feed_count(f, "receive"), 0);
	feed_expect(f, "wait thread=1 begin=32u end=40u");
	done();
}
END_TEST

START_TEST(who_runs_after_a_loss_is_known_from_the_next_switch_on)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c0 lost 30 7\n31 c0 +nanosleep\n32 c0 -nanosleep 0\n40 c0 sw 2>3 S\n50 c0 lost 60 7\n"
		"61 c0 +nanosleep\n62 c0 -nanosleep 0");
	end(70);
	/* the first is told by the switch that follows, the second by nothing */
	feed_expect(f, "sleep thread=2 begin=31u end=32u");
	ck_assert_uint_eq(feed_count(f, "sleep"), 1);
	done();
}
END_TEST

START_TEST(a_loss_spares_the_other_cpus)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n11 c1 sw 0>2 R\n15 c1 +nanosleep\n20 c0 lost 30 7\n35 c1 -nanosleep 0\n40 c1 sw 2>0 S");
	end(50);
	feed_expect(f, "sleep thread=2 begin=15u end=35u");
	done();
}
END_TEST

START_TEST(cpus_account_for_all_their_time)
{
	start();
	feed(f, "0 c0 sw 1>0 S\n10 c0 sw 0>1 R\n20 c0 +irq 3\n25 c0 -irq 3\n25 c0 +softirq 3\n32 c0 -softirq 3\n40 c0 sw 1>0 S");
	end(100);
	feed_expect(f, "cpu cpu=0 begin=0 end=100u idle=70u hardirq=5u softirq=7u");
	feed_expect(f, "summary begin=0 end=100u events=7 holes=0");
	done();
}
END_TEST

START_TEST(a_disk_ends_a_wait_inside_a_call)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n11 c0 +fsync 5\n12 c0 issue 8 1\n15 c0 sw 1>2 D\n20 c0 +irq 9\n21 c0 complete 8\n22 c0 wk 1\n"
		"23 c0 -irq 9\n25 c0 sw 2>1 S\n27 c0 -fsync 0\n30 c0 sw 1>0 S");
	end(40);
	feed_expect(f, "wait thread=1 call=fsync by=0 cause=disk via=8");
	feed_expect(f, "disk thread=1 device=8 call=fsync begin=11u end=27u waited=7u waits=1");
	done();
}
END_TEST

START_TEST(requests_of_a_device_are_told_with_the_time_they_lay_in_queues)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n11 c0 +pread64 5\n12 c0 insert 8 1 100\n15 c0 sw 1>2 D\n"
		/* a kernel worker hands it over; a request of its own that was never queued; one without a sector */
		"16 c0 issue 8 2 100\n17 c0 issue 8 2 300\n18 c0 issue 8 2\n20 c0 +irq 9\n21 c0 complete 8 0 300\n"
		"22 c0 complete 8 0 100\n23 c0 wk 1\n24 c0 complete 8\n25 c0 complete 8 0 100\n26 c0 -irq 9\n30 c0 sw 2>1 S");
	end(40);
	feed_expect(f, "io thread=1 device=8 begin=12u issued=16u end=22u");
	feed_expect(f, "io thread=2 device=8 begin=17u issued=17u end=21u");
	ck_assert_uint_eq(feed_count(f, "io"), 2);
	done();
}
END_TEST

START_TEST(who_had_the_cpu_before_is_told)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n15 c0 sw 1>2 S\n20 c1 wk 1\n25 c0 sw 2>1 P\n30 c0 sw 1>0 S\n"
		"35 c1 wk 1\n36 c0 sw 0>1 R\n40 c0 sw 1>2 P\n45 c0 sw 2>3 S\n50 c0 sw 3>1 S");
	end(60);
	feed_expect(f, "wait thread=1 end=25u after=2");
	feed_expect(f, "wait thread=1 end=36u after=0");
	feed_expect(f, "preempted thread=2 begin=25u after=1");
	feed_expect(f, "preempted thread=1 end=50u by=2 after=3");
	done();
}
END_TEST

START_TEST(a_waking_on_its_own_idle_cpu_starts_the_clock)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c0 sw 1>0 S\n40 c0 +hrtimer 1\n41 c0 wk 1\n42 c0 -hrtimer 1\n45 c0 sw 0>1 R\n50 c0 sw 1>0 S\n"
		/* by another CPU */
		"55 c1 sw 0>2 R\n60 c1 wk 1\n65 c0 sw 0>1 R\n70 c0 sw 1>0 S\n"
		/* another ran there */
		"75 c0 sw 0>3 R\n80 c0 wk 1\n85 c0 sw 3>1 S\n90 c0 sw 1>0 S");
	end(100);
	feed_expect(f, "wait thread=1 begin=20u wake=41u end=45u cpu=10u charged=4u idle=0");
	feed_expect(f, "wait thread=1 begin=50u wake=60u end=65u cpu=19u charged=0");
	feed_expect(f, "wait thread=1 begin=70u wake=80u end=85u cpu=24u charged=0");
	done();
}
END_TEST

START_TEST(a_waking_that_takes_a_cpu_starts_the_clock_and_stops_the_others)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n20 c0 sw 1>2 S\n25 c1 sw 0>3 R\n30 c1 wk 1\n35 c0 sw 2>1 P\n40 c0 sw 1>2 S\n"
		/* not because of the waking */
		"50 c1 wk 1\n90 c0 sw 2>1 P\n95 c0 sw 1>2 S");
	end(100);
	feed_expect(f, "wait thread=1 begin=20u wake=30u end=35u cpu=10u charged=5u idle=0");
	feed_expect(f, "preempted thread=2 begin=35u end=40u cpu=10u");
	feed_expect(f, "wait thread=1 begin=40u wake=50u end=90u cpu=20u charged=0");
	feed_expect(f, "preempted thread=2 begin=90u end=95u cpu=60u");
	done();
}
END_TEST

START_TEST(a_threaded_interrupt_handler_is_woken_by_its_device)
{
	start();
	feed(f, "5 c0 name 40 irq/30-nvme\n6 c0 sw 0>40 R\n7 c0 sw 40>2 S\n20 c0 +irq 30\n21 c0 -irq 30\n22 c0 wk 40\n"
		"25 c0 sw 2>40 R");
	end(40);
	feed_expect(f, "wait thread=40 by=0 cause=device via=30");
	done();
}
END_TEST

START_TEST(sleeps_say_whether_they_follow_the_clock)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n11 c0 +clock_nanosleep 1\n12 c0 sw 1>0 S\n20 c0 +hrtimer 1\n21 c0 wk 1\n22 c0 -hrtimer 1\n"
		"23 c0 sw 0>1 R\n24 c0 -clock_nanosleep 0\n30 c0 +nanosleep\n31 c0 sw 1>0 S");
	end(40);
	feed_expect(f, "sleep thread=1 begin=11u end=24u absolute=1");
	feed_expect(f, "wait thread=1 call_begin=11u cause=timer");
	/* one that had not ended is told of all the same */
	feed_expect(f, "sleep thread=1 begin=30u absolute=0");
	done();
}
END_TEST

START_TEST(marks_are_paths_and_events_of_others)
{
	start();
	feed(f, "10 c0 sw 0>1 R\n11 c0 +openat -1 0 /lqn-mark/begin\n12 c0 -openat -2\n13 c0 +mkdir /tmp/x\n14 c0 -mkdir 0\n"
		"15 c0 mark app:phase steady\n16 c0 +read 3 4\n20 c0 sw 1>0 S");
	end(40);
	feed_expect(f, "mark thread=1 name=openat value=/lqn-mark/begin at=11u");
	feed_expect(f, "mark thread=1 name=mkdir value=/tmp/x");
	feed_expect(f, "mark name=app:phase value=steady at=15u");
	ck_assert_uint_eq(feed_count(f, "mark"), 3);
	done();
}
END_TEST

START_TEST(what_comes_often_is_no_mark)
{
	start();
	feed(f, "10 c0 sw 0>1 R");
	for (int i = 0; i < 1500; i++) {
		feed(f, "%d c0 mark app:often\n%d c0 mark app:other /value/%d", 20 + i, 20 + i, i);
	}
	end(9000);
	ck_assert_uint_eq(feed_count(f, "mark name=app:often"), 1000);
	ck_assert_uint_eq(feed_count(f, "mark name=app:other"), 1500);
	done();
}
END_TEST

SUITE("causal", what_interrupts_a_thread_is_told_of, a_wait_ends_by_whoever_woke, an_early_waking_gives_a_wait_without_length,
	a_later_waking_beats_an_early_one, an_early_waking_does_not_outlive_a_preemption,
	waking_and_wakeup_of_one_wait_are_one_edge, a_wakeup_alone_serves_where_there_is_no_waking,
	a_wakeup_inside_an_ipi_never_names_the_interrupted_thread, a_waking_in_an_interrupt_is_the_devices,
	the_innermost_interrupt_counts, a_lost_interrupt_exit_ends_with_the_next_switch,
	a_softirq_of_the_threads_own_call_is_its_doing, a_softirq_behind_an_interrupt_is_not,
	a_waking_on_an_idle_cpu_is_nobodys, who_is_preempted_did_not_wait, way_back_to_the_cpu_counts_other_idle_cpus,
	a_hole_hands_records_to_the_thread_that_made_them, a_life_is_tiled_by_intervals,
	a_thread_blocked_since_before_the_trace_is_told_of, a_reused_tid_is_another_thread,
	a_tid_is_free_again_without_the_event_that_says_so, an_exit_wakes_as_a_child, names_follow_exec_and_renaming,
	threads_belong_to_their_process, kernel_threads_are_known, a_waker_in_a_kernel_thread_is_a_worker,
	after_a_loss_nothing_is_believed,
	who_runs_after_a_loss_is_known_from_the_next_switch_on, a_loss_spares_the_other_cpus, cpus_account_for_all_their_time,
	a_disk_ends_a_wait_inside_a_call,
	requests_of_a_device_are_told_with_the_time_they_lay_in_queues, who_had_the_cpu_before_is_told,
	a_waking_on_its_own_idle_cpu_starts_the_clock,
	a_waking_that_takes_a_cpu_starts_the_clock_and_stops_the_others, a_threaded_interrupt_handler_is_woken_by_its_device,
	sleeps_say_whether_they_follow_the_clock, marks_are_paths_and_events_of_others, what_comes_often_is_no_mark)
