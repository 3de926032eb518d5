/* SPDX-License-Identifier: MIT */

/* Who is who: births, deaths, names, processes and their descriptors. */
#include "causal/engine.h"

#include <string.h>

#define KTHREADD 2

/* Names of kernel threads, for traces that do not show their birth. */
static const char *const kernel_names[] = {
	"kworker/",
	"ksoftirqd/",
	"migration/",
	"rcu_",
	"kthreadd",
	"kswapd",
	"jbd2/",
	"kcompactd",
	"irq/",
	"cpuhp/",
	"napi/",
};

static bool is_kernel_name(const char *comm)
{
	for (size_t i = 0; i < G_N_ELEMENTS(kernel_names); i++) {
		if (strncmp(comm, kernel_names[i], strlen(kernel_names[i])) == 0) {
			return true;
		}
	}
	return false;
}

/* True if nothing is known of the thread's process. */
static bool is_alone(const struct lqn_thread *thread)
{
	const struct lqn_process *process = thread->process;

	return !process ||
		(process->pid == thread->tid && process->threads == 1 && !process->exe &&
			!process->fds);
}

static void leave_process(struct lqn_causal *c, struct lqn_thread *thread)
{
	struct lqn_process *process = thread->process;

	if (!process) {
		return;
	}
	thread->process = NULL;
	process->alive -= !thread->exited;
	if (--process->threads == 0) {
		lqn_channel_forget_process(&c->channels, process->pid);
		lqn_host_drop_process(&c->host, process);
	}
}

static void join_process(struct lqn_causal *c, struct lqn_thread *thread, int32_t pid)
{
	if (thread->process && thread->process->pid == pid) {
		return;
	}
	leave_process(c, thread);
	thread->process = lqn_host_process(&c->host, pid);
	thread->process->threads++;
	thread->process->told = true;
	thread->process->alive += !thread->exited;
	thread->announced = false;	/* what was told of it is no longer true */
}

struct lqn_process *lqn_causal_process(struct lqn_causal *c, struct lqn_thread *thread)
{
	if (!thread->process) {
		int32_t pid = lqn_causal_foretold_pid(c, thread->tid);

		join_process(c, thread, pid);
		thread->process->told = pid != thread->tid || thread->process->threads > 1;
	}
	return thread->process;
}

struct lqn_fd_table *lqn_causal_fds(struct lqn_causal *c, struct lqn_thread *thread)
{
	struct lqn_process *process = lqn_causal_process(c, thread);

	if (!process->fds) {
		process->fds = lqn_fd_table_new(&c->channels);
	}
	return process->fds;
}

static void tell(struct lqn_causal *c, struct lqn_thread *thread)
{
	struct lqn_process *process = lqn_causal_process(c, thread);
	struct lqn_event ev = { .type = LQN_EV_THREAD };
	char comm[LQN_COMM_LEN + 1];

	memcpy(comm, thread->comm, LQN_COMM_LEN);
	comm[LQN_COMM_LEN] = '\0';
	ev.thread.thread = thread->key;
	ev.thread.parent = thread->parent;
	ev.thread.born = thread->born;
	ev.thread.pid = (uint32_t) process->pid;
	ev.thread.kernel = thread->kernel;
	ev.thread.comm = comm;
	ev.thread.exe = process->exe ? process->exe : "";
	thread->announced = true;
	lqn_causal_emit(c, &ev);
}

void lqn_causal_announce(struct lqn_causal *c, struct lqn_thread *thread, const char *comm)
{
	bool changed = comm && strncmp(thread->comm, comm, LQN_COMM_LEN) != 0;

	if (thread->announced && !changed) {
		return;
	}
	if (changed) {
		memcpy(thread->comm, comm, LQN_COMM_LEN);
		thread->kernel |= is_alone(thread) && is_kernel_name(comm);
	}
	tell(c, thread);
}

void lqn_step_fork(struct lqn_step *step)
{
	struct lqn_causal *c = step->causal;
	struct lqn_record *rec = step->rec;
	struct lqn_thread *parent, *child;
	bool thread_only;

	if (rec->fork.child_tid <= 0 || rec->fork.parent_tid <= 0 ||
			rec->fork.child_tid == rec->fork.parent_tid) {
		return;
	}
	parent = lqn_host_thread(&c->host, rec->fork.parent_tid);
	if (rec->fork.parent_pid > 0) {
		join_process(c, parent, rec->fork.parent_pid);
	}
	child = lqn_host_find_thread(&c->host, rec->fork.child_tid);
	if (child) {
		lqn_step_free(&(struct lqn_step) { c,
			&(struct lqn_record) {
				.type = LQN_REC_FREE, .ts = rec->ts, .life.tid = child->tid },
			step->cpu, NULL });
	}
	lqn_causal_forget_foretold(c, rec->fork.child_tid);
	child = lqn_host_thread(&c->host, rec->fork.child_tid);
	child->parent = parent->key;
	child->born = rec->ts;
	child->since = rec->ts;
	child->idle_at = lqn_host_idle_at(&c->host, rec->ts);
	child->kernel = rec->fork.parent_tid == KTHREADD || parent->kernel;
	thread_only = rec->fork.child_pid > 0 && rec->fork.child_pid != rec->fork.child_tid;
	join_process(c, child, thread_only ? rec->fork.child_pid : child->tid);
	if (!thread_only) {
		struct lqn_process *from = lqn_causal_process(c, parent);
		/* of one process with the child's, if the trace contradicts itself */
		char *exe = g_strdup(from->exe);

		g_free(child->process->exe);
		child->process->exe = exe;
		if (from->fds && !child->process->fds) {
			child->process->fds = lqn_fd_table_copy(from->fds);
		}
	}
	lqn_causal_name_inside(c, child, thread_only ? child->process->vpid : rec->fork.child_vtid,
		rec->fork.child_vtid);
	lqn_causal_announce(c, child, rec->fork.child_comm);
}

void lqn_step_exec(struct lqn_step *step)
{
	struct lqn_causal *c = step->causal;
	struct lqn_record *rec = step->rec;
	struct lqn_thread *thread = step->thread;
	struct lqn_process *process;

	if (rec->exec.tid > 0) {
		thread = lqn_host_thread(&c->host, rec->exec.tid);
	}
	if (!thread || !rec->text) {
		return;
	}
	process = lqn_causal_process(c, thread);
	g_free(process->exe);
	process->exe = g_steal_pointer(&rec->text);
	memset(thread->comm, 0, LQN_COMM_LEN);
	g_strlcpy(thread->comm, lqn_base_name(process->exe), LQN_COMM_LEN);
	tell(c, thread);
	lqn_causal_mark(c, thread, "exec", process->exe, rec->ts);
}

/* A process is called as its main thread is, as far as that is known. */
static void mark_exit(struct lqn_causal *c, const struct lqn_thread *last, int64_t ts)
{
	const struct lqn_thread *main = lqn_host_find_thread(&c->host, last->process->pid);
	char comm[LQN_COMM_LEN + 1] = { 0 };

	memcpy(comm, main && *main->comm ? main->comm : last->comm, LQN_COMM_LEN);
	lqn_causal_mark(c, last, "exit", comm, ts);
}

static void forget(struct lqn_causal *c, struct lqn_thread *thread)
{
	lqn_causal_forget_inside(c, thread);
	leave_process(c, thread);
	lqn_host_drop_thread(&c->host, thread);
}

/* Puts the thread among the dead, in the place of one that has been there for long. */
static void bury(struct lqn_causal *c, const struct lqn_thread *thread)
{
	uint64_t *place = &c->dead[c->exits++ % LQN_DEAD_MAX];
	struct lqn_thread *old = *place ? lqn_host_find_key(&c->host, *place) : NULL;

	if (old && old->exited) {
		forget(c, old);
	}
	*place = thread->key;
}

void lqn_step_exit(struct lqn_step *step)
{
	struct lqn_thread *thread = step->rec->life.tid > 0 ?
		lqn_host_find_thread(&step->causal->host, step->rec->life.tid) : step->thread;

	if (!thread || thread->exited) {
		return;
	}
	thread->exited = true;
	bury(step->causal, thread);
	lqn_open_call_clear(&thread->call);
	if (thread->process && --thread->process->alive == 0) {
		/*
		 * the last one closes everything; who it was stays known until the number is free
		 */
		lqn_fd_table_free(thread->process->fds);
		thread->process->fds = NULL;
		mark_exit(step->causal, thread, step->rec->ts);
	}
}

/* A thread is no more, and its end was not seen: it was at something until now at most. */
static void tell_unseen_end(struct lqn_causal *c, struct lqn_thread *thread, int64_t ts)
{
	struct lqn_event ev = { .type = LQN_EV_EXIT };

	lqn_causal_end_thread(c, thread, ts);
	ev.exit.thread = thread->key;
	ev.exit.at = ts;
	ev.exit.cpu = lqn_thread_cpu_at(thread, MAX(ts, thread->since));
	lqn_causal_emit(c, &ev);
}

void lqn_step_free(struct lqn_step *step)
{
	struct lqn_causal *c = step->causal;
	struct lqn_thread *thread = lqn_host_find_thread(&c->host, step->rec->life.tid);

	if (!thread) {
		return;
	}
	if (thread->cpu >= 0 && thread->state != LQN_THREAD_DEAD) {
		tell_unseen_end(c, thread, step->rec->ts);
	}
	forget(c, thread);
}

/*
 * Status of a thread in LTTng's dump of the initial state: ready ones are told as new or as
 * running.
 */
static const uint8_t dumped_status[] = {
	[0] = LQN_DUMPED_UNKNOWN,
	[1] = LQN_DUMPED_READY,		/* WAIT_FORK */
	[2] = LQN_DUMPED_READY,		/* WAIT_CPU */
	[3] = LQN_DUMPED_UNKNOWN,	/* EXIT */
	[4] = LQN_DUMPED_UNKNOWN,	/* ZOMBIE */
	[5] = LQN_DUMPED_ASLEEP,	/* WAIT */
	[6] = LQN_DUMPED_READY,		/* RUN */
	[7] = LQN_DUMPED_UNKNOWN,	/* DEAD */
};

void lqn_step_state_process(struct lqn_step *step)
{
	struct lqn_causal *c = step->causal;
	struct lqn_record *rec = step->rec;
	struct lqn_thread *thread;
	char comm[LQN_COMM_LEN] = { 0 };

	if (rec->state.tid <= 0) {
		return;
	}
	thread = lqn_host_thread(&c->host, rec->state.tid);
	if (rec->state.pid > 0) {
		join_process(c, thread, rec->state.pid);
	}
	thread->kernel =
		rec->state.type == 1 || rec->state.ppid == KTHREADD || rec->state.tid == KTHREADD;
	if (rec->state.ppid > 0 && thread->parent == 0) {
		thread->parent = (uint64_t) rec->state.ppid;
	}
	if (rec->state.file_table) {
		g_hash_table_insert(c->file_tables, (gpointer) (uintptr_t) rec->state.file_table,
			GINT_TO_POINTER(lqn_causal_process(c, thread)->pid));
	}
	if (rec->text) {
		g_strlcpy(comm, rec->text, sizeof(comm));
	}
	if (thread->state == LQN_THREAD_UNKNOWN && thread->cpu < 0 && rec->state.status >= 0 &&
			rec->state.status < (int32_t) G_N_ELEMENTS(dumped_status)) {
		thread->dumped = dumped_status[rec->state.status];
		thread->since = rec->ts;
		thread->idle_at = lqn_host_idle_at(&c->host, rec->ts);
		if (thread->dumped == LQN_DUMPED_ASLEEP) {
			thread->state = LQN_THREAD_BLOCKED;
			thread->block_state = 1;
		}
	}
	lqn_causal_announce(c, thread, thread->announced ? NULL : comm);
}

/* What a descriptor is, by the begin of its name in a dump or a snapshot. */
static const struct {
	const char *prefix;
	enum lqn_object_kind kind;
	bool shared;		/* the name tells it from all others */
	bool cut;		/* the prefix is not part of the name that calls use */
} described[] = {
	{ "pipe:[", LQN_OBJ_PIPE, true, false },
	{ "socket:[", LQN_OBJ_UNKNOWN, true, false },
	{ "anon_inode:[eventpoll]", LQN_OBJ_EPOLL, false, false },
	{ "anon_inode:[eventfd]", LQN_OBJ_EVENTFD, false, false },
	{ "eventfd:[", LQN_OBJ_EVENTFD, true, false },
	{ "fifo:", LQN_OBJ_FIFO, true, true },
	{ "mqueue:", LQN_OBJ_QUEUE, true, true },
	{ "/", LQN_OBJ_FILE, true, false },
};

struct lqn_object *lqn_causal_described(struct lqn_causal *c, const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(described); i++) {
		size_t len = strlen(described[i].prefix);
		struct lqn_object *object;

		if (strncmp(text, described[i].prefix, len) == 0) {
			text += described[i].cut ? len : 0;
			object = described[i].shared ? lqn_channel_by_path(&c->channels, described[i].kind, text, 0) :
				lqn_object_new(&c->channels, described[i].kind, 0, NULL);
			object->preexisting = true;
			return lqn_object_pin(object);
		}
	}
	return NULL;
}

void lqn_step_state_fd(struct lqn_step *step)
{
	struct lqn_causal *c = step->causal;
	struct lqn_record *rec = step->rec;
	gpointer pid = rec->state.pid > 0 ? GINT_TO_POINTER(rec->state.pid) :
		g_hash_table_lookup(c->file_tables, (gpointer) (uintptr_t) rec->state.file_table);
	struct lqn_process *process;
	struct lqn_object *object;

	if (!pid || !rec->text) {
		return;
	}
	process = lqn_host_process(&c->host, GPOINTER_TO_INT(pid));
	if (!process->fds) {
		process->fds = lqn_fd_table_new(&c->channels);
	}
	object = lqn_fd_table_get(process->fds, rec->state.fd);
	if (object && (!object->foretold || lqn_causal_is_foretold(object, rec->text))) {
		return;		/* a call of the trace has said more, or a snapshot as much */
	}
	object = lqn_causal_described(c, rec->text);
	if (object) {
		lqn_fd_table_set(process->fds, rec->state.fd, object);
		lqn_object_unpin(object);	/* gone, if the descriptor is none */
	}
}
