/* SPDX-License-Identifier: MIT */
#include "kernel/state.h"

#include <stdlib.h>
#include <string.h>

static void thread_free(gpointer data)
{
	struct lqn_thread *thread = data;

	lqn_open_call_clear(&thread->call);
	lqn_object_set(&thread->voter, NULL);
	g_free(thread);
}

static void process_free(gpointer data)
{
	struct lqn_process *process = data;

	lqn_fd_table_free(process->fds);
	g_free(process->exe);
	g_free(process);
}

void lqn_host_state_init(struct lqn_host_state *host)
{
	host->threads = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, thread_free);
	memset(host->front, 0, sizeof(host->front));
	host->lives = g_hash_table_new(g_direct_hash, g_direct_equal);
	host->processes = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, process_free);
	host->cpus = g_ptr_array_new_with_free_func(g_free);
	host->n_idle = 0;
	host->idle_ns = host->idle_since = 0;
}

void lqn_host_state_clear(struct lqn_host_state *host)
{
	g_hash_table_destroy(host->threads);
	g_hash_table_destroy(host->processes);
	g_hash_table_destroy(host->lives);
	g_ptr_array_free(host->cpus, TRUE);
}

static struct lqn_thread *add_thread(struct lqn_host_state *host, int32_t tid)
{
	struct lqn_thread *thread = g_new0(struct lqn_thread, 1);
	guint lives = GPOINTER_TO_UINT(g_hash_table_lookup(host->lives, GINT_TO_POINTER(tid)));

	thread->tid = tid;
	thread->key = (uint64_t) (uint32_t) tid | (uint64_t) lives << 32;
	thread->born = -1;
	thread->cpu = -1;
	thread->wake.ts = thread->early.ts = -1;
	g_hash_table_insert(host->threads, GINT_TO_POINTER(tid), thread);
	return thread;
}

/* Where in front of the table the thread is, if it is there at all. */
static struct lqn_thread **front_of(struct lqn_host_state *host, int32_t tid)
{
	return &host->front[(uint32_t) tid % LQN_THREAD_FRONT];
}

struct lqn_thread *lqn_host_look_up_thread(struct lqn_host_state *host, int32_t tid)
{
	struct lqn_thread *thread = g_hash_table_lookup(host->threads, GINT_TO_POINTER(tid));

	if (thread) {
		*front_of(host, tid) = thread;
	}
	return thread;
}

struct lqn_thread *lqn_host_find_key(struct lqn_host_state *host, uint64_t key)
{
	struct lqn_thread *thread = lqn_host_find_thread(host, (int32_t) (uint32_t) key);

	return thread && thread->key == key ? thread : NULL;
}

struct lqn_thread *lqn_host_thread(struct lqn_host_state *host, int32_t tid)
{
	struct lqn_thread *thread = lqn_host_find_thread(host, tid);

	return thread ? thread : add_thread(host, tid);
}

void lqn_host_drop_thread(struct lqn_host_state *host, struct lqn_thread *thread)
{
	int32_t tid = thread->tid;
	guint lives = (guint) (thread->key >> 32) + 1;

	for (guint i = 0; i < host->cpus->len; i++) {
		struct lqn_cpu *cpu = host->cpus->pdata[i];

		if (cpu && cpu->current == thread) {
			cpu->current = NULL;
			cpu->known = false;
		}
	}
	if (*front_of(host, tid) == thread) {
		*front_of(host, tid) = NULL;
	}
	g_hash_table_insert(host->lives, GINT_TO_POINTER(tid), GUINT_TO_POINTER(lives));
	g_hash_table_remove(host->threads, GINT_TO_POINTER(tid));
}

struct lqn_process *lqn_host_find_process(struct lqn_host_state *host, int32_t pid)
{
	return g_hash_table_lookup(host->processes, GINT_TO_POINTER(pid));
}

struct lqn_process *lqn_host_process(struct lqn_host_state *host, int32_t pid)
{
	struct lqn_process *process = lqn_host_find_process(host, pid);

	if (!process) {
		process = g_new0(struct lqn_process, 1);
		process->pid = pid;
		g_hash_table_insert(host->processes, GINT_TO_POINTER(pid), process);
	}
	return process;
}

void lqn_host_drop_process(struct lqn_host_state *host, struct lqn_process *process)
{
	g_hash_table_remove(host->processes, GINT_TO_POINTER(process->pid));
}

struct lqn_cpu *lqn_host_add_cpu(struct lqn_host_state *host, int32_t id, int64_t ts)
{
	struct lqn_cpu *cpu = g_new0(struct lqn_cpu, 1);

	cpu->id = id;
	cpu->first = cpu->since = ts;
	cpu->last_hardirq = INT64_MIN;
	cpu->last_irq = -1;
	cpu->arrival.ts = -1;
	cpu->last_irq_end = INT64_MIN;
	cpu->end = INT64_MAX;
	if ((guint) id >= host->cpus->len) {
		g_ptr_array_set_size(host->cpus, id + 1);
	}
	host->cpus->pdata[id] = cpu;
	return cpu;
}

void lqn_open_call_clear(struct lqn_open_call *call)
{
	if (call->receiving) {
		call->object->receiving--;
		call->receiving = false;
	}
	lqn_object_set(&call->object, NULL);
	lqn_object_set(&call->object2, NULL);
	g_free(call->text);
	call->text = NULL;
	call->kind = LQN_CALL_NONE;
}

/*
 * First release with one bit of TASK_REPORT in prev_state, and what marks a preempted thread in
 * those before it.
 */
#define REPORT_RELEASE (4 * 1000 + 14)
static const struct {
	long before;		/* release, major * 1000 + minor */
	int64_t state_max;	/* TASK_STATE_MAX */
} raw[] = {
	{ 3 * 1000 + 9, 0x200 },
	{ 4 * 1000 + 2, 0x400 },
	{ 4 * 1000 + 8, 0x800 },
	{ REPORT_RELEASE, 0x1000 },
};
#define RAW_STATE_MAX 0x1e00	/* any of these */

/* 0: not known. */
static long release_number(const char *release)
{
	char *end;
	long major = release ? strtol(release, &end, 10) : 0;

	return major > 0 && *end == '.' ? major * 1000 + strtol(end + 1, NULL, 10) : 0;
}

static bool is_preempted(int64_t prev_state, long number)
{
	if (number == 0) {
		return prev_state == 0x100 ||
			((prev_state & RAW_STATE_MAX) && !(prev_state & 0xff));
	}
	if (number >= REPORT_RELEASE) {
		return (prev_state & 0x100) != 0;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(raw); i++) {
		if (number < raw[i].before) {
			return prev_state == raw[i].state_max;
		}
	}
	return false;
}

uint32_t lqn_prev_state(int64_t prev_state, const char *release)
{
	static const struct {
		int64_t bits;
		uint32_t state;
	} reasons[] = {
		{ 0x02, 2 },	/* uninterruptible; 0x82 (killable) too */
		{ 0x01, 1 },	/* interruptible */
		{ 0x0c, 4 },	/* stopped, traced */
		{ 0x30, 16 },	/* dead, zombie */
		{ 0x40, 1 },	/* parked; raw: dead, see below */
		{ 0x80, 1 },	/* idle kernel thread */
	};
	long number;

	if (prev_state >= 0 && prev_state <= 2) {
		return (uint32_t) prev_state;	/* the same in all, and nearly all there is */
	}
	number = release_number(release);
	if (is_preempted(prev_state, number)) {
		return 0;
	}
	/* raw TASK_DEAD is 64; without a release it is more likely that a thread is parked */
	if (number > 0 && number < REPORT_RELEASE && (prev_state & 0x70)) {
		return 16;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
		if (prev_state & reasons[i].bits) {
			return reasons[i].state;
		}
	}
	return 1;
}
