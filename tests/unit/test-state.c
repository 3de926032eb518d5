/* SPDX-License-Identifier: MIT */
/* What prev_state says by kernel release, and the life of threads, processes and CPUs. */
#include "kernel/state.h"

#include "suite.h"

/* Wants the CPU; interruptible; uninterruptible; stopped or traced; dead. UNDEFINED: any but WANTS; EITHER: nobody can tell. */
enum { WANTS = 0, INT = 1, UNINT = 2, STOP = 4, DEAD = 16, UNDEFINED = -1, EITHER = -2 };

/*
 * The kernel's own bits (include/linux/sched.h):
 *
 *          3.6            4.4            4.9            4.14 and later (one bit of TASK_REPORT)
 *   16     EXIT_ZOMBIE    EXIT_DEAD      EXIT_DEAD      EXIT_DEAD
 *   32     EXIT_DEAD      EXIT_ZOMBIE    EXIT_ZOMBIE    EXIT_ZOMBIE
 *   64     TASK_DEAD      TASK_DEAD      TASK_DEAD      parked
 *   128    WAKEKILL       WAKEKILL       WAKEKILL       idle kernel thread
 *   256    WAKING         WAKING         WAKING         preempted
 *   512    TASK_STATE_MAX parked         parked         -
 *   1024   -              NOLOAD         NOLOAD         -
 *   2048   -              TASK_STATE_MAX NEW            -
 *   4096   -              -              TASK_STATE_MAX -
 *
 * Before 4.14 a preempted thread has TASK_STATE_MAX alone. What no kernel of a column reports is undefined there: then
 * the thread has left for a reason that is not known, which is not the same as wanting to go on.
 */
enum { RELEASES = 7 };
static const char *const releases[RELEASES] = {
	"3.6.11", "4.4.3-custom", "4.9.0-19-amd64", "5.10.0-8-amd64", "6.1.0-25-amd64", "6.14.0", NULL
};
static const struct {
	int64_t value;
	int expected[RELEASES];
} states[] = {
	{ 0, { WANTS, WANTS, WANTS, WANTS, WANTS, WANTS, WANTS } },
	{ 1, { INT, INT, INT, INT, INT, INT, INT } },
	{ 2, { UNINT, UNINT, UNINT, UNINT, UNINT, UNINT, UNINT } },
	{ 4, { STOP, STOP, STOP, STOP, STOP, STOP, STOP } },
	{ 8, { STOP, STOP, STOP, STOP, STOP, STOP, STOP } },
	{ 16, { DEAD, DEAD, DEAD, DEAD, DEAD, DEAD, DEAD } },
	{ 32, { DEAD, DEAD, DEAD, DEAD, DEAD, DEAD, DEAD } },
	{ 64, { DEAD, DEAD, DEAD, INT, INT, INT, UNDEFINED } },
	{ 128, { UNDEFINED, UNDEFINED, UNDEFINED, INT, INT, INT, INT } },
	{ 130, { UNINT, UNINT, UNINT, UNDEFINED, UNDEFINED, UNDEFINED, UNINT } },
	{ 256, { UNDEFINED, UNDEFINED, UNDEFINED, WANTS, WANTS, WANTS, WANTS } },
	{ 512, { WANTS, INT, INT, UNDEFINED, UNDEFINED, UNDEFINED, EITHER } },
	{ 1026, { UNINT, UNINT, UNINT, UNDEFINED, UNDEFINED, UNDEFINED, UNINT } },
	{ 2048, { UNDEFINED, WANTS, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, WANTS } },
	{ 4096, { UNDEFINED, UNDEFINED, WANTS, UNDEFINED, UNDEFINED, UNDEFINED, WANTS } },
};

START_TEST(prev_state_is_read_by_the_kernels_release)
{
	g_autoptr(GString) wrong = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
		for (size_t k = 0; k < RELEASES; k++) {
			uint32_t got = lqn_prev_state(states[i].value, releases[k]);
			int want = states[i].expected[k];

			if (want != EITHER && (want == UNDEFINED ? got == WANTS : got != (uint32_t) want)) {
				g_string_append_printf(wrong, "; %d on %s is %u, should be %d",
					(int) states[i].value, releases[k] ? releases[k] : "(unknown)", got, want);
			}
		}
	}
	ck_assert_msg(wrong->len == 0, "prev_state%s", wrong->str);
}
END_TEST

START_TEST(odd_releases_do_not_matter_to_common_states)
{
	static const char *const odd[] = { "", "rolling", "7", "12.0.1", "4.14.0", "4.13.0" };

	for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
		ck_assert_uint_eq(lqn_prev_state(0, odd[i]), 0);
		ck_assert_uint_eq(lqn_prev_state(1, odd[i]), 1);
		ck_assert_uint_eq(lqn_prev_state(2, odd[i]), 2);
		ck_assert_uint_eq(lqn_prev_state(16, odd[i]), 16);
	}
}
END_TEST

START_TEST(a_tid_given_out_anew_is_another_thread)
{
	struct lqn_host_state host;
	struct lqn_thread *thread;

	lqn_host_state_init(&host);
	thread = lqn_host_thread(&host, 100);
	ck_assert_uint_eq(thread->key, 100);
	ck_assert_ptr_eq(lqn_host_thread(&host, 100), thread);
	ck_assert_ptr_eq(lqn_host_find_thread(&host, 100), thread);
	lqn_host_drop_thread(&host, thread);
	thread = lqn_host_thread(&host, 100);
	ck_assert_uint_eq(thread->key, 100 | UINT64_C(1) << 32);
	lqn_host_drop_thread(&host, thread);
	ck_assert_ptr_null(lqn_host_find_thread(&host, 100));
	ck_assert_uint_eq(lqn_host_thread(&host, 100)->key, 100 | UINT64_C(2) << 32);
	lqn_host_state_clear(&host);
}
END_TEST

START_TEST(a_cpu_forgets_a_thread_that_is_gone)
{
	struct lqn_host_state host;
	struct lqn_cpu *cpu;

	lqn_host_state_init(&host);
	cpu = lqn_host_cpu(&host, 3, 5);
	ck_assert_int_eq(cpu->id, 3);
	ck_assert_int_eq(cpu->first, 5);
	ck_assert(!cpu->known);
	cpu->current = lqn_host_thread(&host, 7);
	cpu->known = true;
	lqn_host_drop_thread(&host, cpu->current);
	ck_assert_ptr_null(cpu->current);
	ck_assert(!cpu->known);
	ck_assert_ptr_eq(lqn_host_cpu(&host, 3, 9), cpu);
	lqn_host_state_clear(&host);
}
END_TEST

START_TEST(cpu_clocks_run_while_the_thread_does)
{
	struct lqn_thread thread = { .cpu_ns = 50, .since = 100, .state = LQN_THREAD_RUNNING };
	struct lqn_host_state host = { .idle_ns = 7, .idle_since = 10 };

	ck_assert_int_eq(lqn_thread_cpu_at(&thread, 130), 80);
	thread.state = LQN_THREAD_BLOCKED;
	ck_assert_int_eq(lqn_thread_cpu_at(&thread, 130), 50);
	ck_assert_int_eq(lqn_host_idle_at(&host, 30), 7);
	host.n_idle = 2;
	ck_assert_int_eq(lqn_host_idle_at(&host, 30), 27);
}
END_TEST

SUITE("state", prev_state_is_read_by_the_kernels_release, odd_releases_do_not_matter_to_common_states,
	a_tid_given_out_anew_is_another_thread, a_cpu_forgets_a_thread_that_is_gone, cpu_clocks_run_while_the_thread_does)
