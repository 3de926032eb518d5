/* SPDX-License-Identifier: MIT */
#ifndef LQN_KERNEL_STATE_H
#define LQN_KERNEL_STATE_H

/*
 * The state of one host: what each CPU and each thread is doing. Plain data and look-ups; the rules
 * that change it are in lib/causal.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "channel/object.h"
#include "layout/record.h"

#define LQN_CONTEXT_DEPTH 8	/* nested interrupt contexts kept; the kernel nests less */

enum lqn_thread_state {
	LQN_THREAD_UNKNOWN,	/* nothing seen yet, or lost sight of */
	LQN_THREAD_RUNNING,
	LQN_THREAD_RUNNABLE,	/* off the CPU, wants one: preempted, or new */
	LQN_THREAD_BLOCKED,	/* or woken since: see wake.ts */
	LQN_THREAD_DEAD,
};

/* Who or what let a thread go on. */
struct lqn_waker {
	int64_t ts;		/* -1: none */
	uint64_t by;		/* thread; 0: none */
	uint64_t via;		/* object, device or interrupt, by cause */
	uint8_t cause;		/* enum lqn_cause */
	uint8_t evidence;	/* enum lqn_evidence */
	uint8_t call;		/* enum lqn_call: what the waker was in */
	bool early;		/* before the thread had left the CPU */
	int32_t cpu;		/* where it was woken */
};

#define LQN_WOKEN_MAX 16	/* threads kept that one call woke which gives a word back */
#define LQN_BLOCKED_FOR_GOOD 2	/* uninterruptible: not for what others send */

struct lqn_thread;

struct lqn_woken {
	uint64_t thread, object;	/* object: what it waited on */
	int64_t ts;
};

/* An open system call. */
struct lqn_open_call {
	uint8_t kind;			/* enum lqn_call; LQN_CALL_NONE: none is open */
	bool blocked;			/* at least once */
	bool receiving;			/* counted in object->receiving */
	bool found_empty;		/* a receive that blocked, alone */
	int64_t empty;			/* when nothing was there, if so */
	uint16_t n_woken;
	uint32_t disk_waits;
	int64_t begin, cpu_begin;
	int64_t arg[LQN_CALL_ARGS];
	int64_t disk_ns;		/* blocked on a device within it */
	char *text;			/* owned; path */
	/* on which it waits: of `object`, or a word; 0: nothing known */
	uint64_t object_id;
	struct lqn_object *object;	/* pinned: on which it works */
	struct lqn_object *object2;	/* likewise: source of a sendfile or splice */
	uint64_t message;		/* number of the message it sends; 0: none */
	/* the message inside whose send this receive was woken last */
	uint64_t woken_from, woken_seq;
	struct lqn_woken woken[LQN_WOKEN_MAX];
};

/* A thread that was in the dump of the initial state, and has not been seen to run since. */
enum lqn_dumped {
	LQN_DUMPED_NOT,
	LQN_DUMPED_UNKNOWN,	/* it exists, no more is said */
	LQN_DUMPED_READY,	/* it ran, or wanted to */
	LQN_DUMPED_ASLEEP,
};

struct lqn_thread {
	uint64_t key;			/* tid | reuse << 32 */
	int32_t tid;
	enum lqn_thread_state state;
	struct lqn_process *process;	/* borrowed; NULL: not known */
	uint64_t parent;
	int32_t vtid;			/* in its innermost PID namespace; 0: not known */
	int64_t born;			/* -1: before the trace */
	bool kernel, announced, exited;
	/* what the dump of the initial state said of it, enum lqn_dumped */
	uint8_t dumped;
	bool called;			/* the trace has system calls of it */
	uint8_t last_call;		/* enum lqn_call: the last one that has returned, … */
	int64_t last_call_end;		/* … and when */
	char comm[LQN_COMM_LEN];

	int32_t cpu;			/* on which it runs, or ran last */
	int64_t since;			/* begin of the state */
	int64_t cpu_ns;			/* CPU clock at `since` */
	uint64_t by;			/* RUNNABLE: who runs instead */
	uint32_t block_state;		/* BLOCKED: 1, 2, 4 … */
	int64_t idle_at;		/* the host's idle clock when it became runnable */
	struct lqn_waker wake;		/* BLOCKED: who woke it */
	struct lqn_waker early;		/* RUNNING: woken before it had left the CPU */

	struct lqn_open_call call;
	/* pinned: a send on it woke this thread in a wait on descriptors … */
	struct lqn_object *voter;
	int voter_calls;		/* … and it has made so many calls since */
	int64_t voter_at;		/* when it woke it */
	uint64_t device;		/* to which it sent its last request; 0: none */
	/*
	 * words (of files, semaphores) on which it blocked last, and has not given back; on which
	 * it has woken others. 0: none
	 */
	uint64_t took, gave;
};

struct lqn_process {
	int32_t pid;
	int32_t vpid;			/* in its innermost PID namespace; 0: not known */
	bool told;			/* that its threads are of it: else it stands for one of no known process */
	uint32_t threads;		/* that point here */
	uint32_t alive;			/* of which have not exited */
	char *exe;			/* owned; NULL: not known */
	struct lqn_fd_table *fds;	/* owned */
};

struct lqn_context_frame {
	uint8_t kind;			/* enum lqn_context */
	bool own;			/* softirq that the thread's own system call entered */
	int64_t id, since;
};

/* Data that came up from a device. */
struct lqn_arrival {
	int64_t ts;			/* -1: none */
	uint64_t number;		/* of its lqn:packet; 0: not told */
	struct lqn_tuple tuple;
	uint32_t seq, bytes;
};

struct lqn_cpu {
	int32_t id;
	struct lqn_thread *current;	/* borrowed; NULL: idle or not known */
	bool known;			/* `current` is known, idle included */
	int64_t since;			/* of the current thread */
	struct lqn_context_frame stack[LQN_CONTEXT_DEPTH];
	uint32_t depth;
	int64_t last_hardirq;		/* end of the last one; INT64_MIN: none */
	/* device that completed a request in the present interrupt; 0: none */
	uint64_t completed;
	int64_t last_irq, last_irq_end;	/* number of the last device interrupt */
	bool woke_irq_thread;		/* its handler left the rest to its thread */
	/* since its last switch another was missed: who runs is known from the next one only */
	bool in_hole;
	/* softirq vectors that the thread itself has asked for, as bits */
	uint32_t raised;
	/* the current thread has sent something to this host, not yet delivered */
	bool sent_to_self;
	/* connection of the packet that the current thread's own call sent last */
	struct lqn_tuple queued;
	/* last packet taken in the present interrupt, or by the present kernel thread */
	struct lqn_arrival arrival;
	/* packet of UDP last taken in the present interrupt, and its buffer; 0: none */
	struct lqn_tuple datagram;
	uint64_t datagram_skb;
	int64_t first, idle_ns, hardirq_ns, softirq_ns;
	int64_t end;			/* its records end there; INT64_MAX: they do not */
	bool ended;			/* and others have gone on */
	bool told;			/* an lqn:cpu has told that it is there */
};

#define LQN_THREAD_FRONT 256

struct lqn_host_state {
	GHashTable *threads;		/* tid -> struct lqn_thread, owned */
	/* some of them, by the last bits of tid: in front of the table; may be NULL */
	struct lqn_thread *front[LQN_THREAD_FRONT];
	GHashTable *lives;		/* tid -> how often it was given out anew */
	GHashTable *processes;		/* pid -> struct lqn_process, owned */
	/* struct lqn_cpu, owned; by number, NULL where never seen */
	GPtrArray *cpus;
	uint32_t n_idle;		/* CPUs known to be idle */
	int64_t idle_ns, idle_since;	/* the host's idle clock: time with an idle CPU */
};

void lqn_host_state_init(struct lqn_host_state *host);
void lqn_host_state_clear(struct lqn_host_state *host);

/* Looks the thread up in the table; for lqn_host_find_thread(). */
struct lqn_thread *lqn_host_look_up_thread(struct lqn_host_state *host, int32_t tid);

/* The thread that has `tid` now, NULL if there is none. */
static inline struct lqn_thread *lqn_host_find_thread(struct lqn_host_state *host, int32_t tid)
{
	struct lqn_thread *thread = host->front[(uint32_t) tid % LQN_THREAD_FRONT];

	return G_LIKELY(thread && thread->tid == tid) ? thread : lqn_host_look_up_thread(host, tid);
}

/* Likewise, made if there is none. tid must be > 0. */
struct lqn_thread *lqn_host_thread(struct lqn_host_state *host, int32_t tid);
/* The thread of that key; NULL: it is gone, whoever has its number now. */
struct lqn_thread *lqn_host_find_key(struct lqn_host_state *host, uint64_t key);
/* Forgets a thread and what it owns. */
void lqn_host_drop_thread(struct lqn_host_state *host, struct lqn_thread *thread);

/* The process `pid`; made if there is none. */
struct lqn_process *lqn_host_process(struct lqn_host_state *host, int32_t pid);
/* Likewise, NULL if there is none. */
struct lqn_process *lqn_host_find_process(struct lqn_host_state *host, int32_t pid);
void lqn_host_drop_process(struct lqn_host_state *host, struct lqn_process *process);

/* Makes a CPU that is first seen at `ts`; for lqn_host_cpu(). */
struct lqn_cpu *lqn_host_add_cpu(struct lqn_host_state *host, int32_t id, int64_t ts);

/* The CPU of that number, >= 0; made if there is none. */
static inline struct lqn_cpu *lqn_host_cpu(struct lqn_host_state *host, int32_t id, int64_t ts)
{
	struct lqn_cpu *cpu = (guint) id < host->cpus->len ? host->cpus->pdata[id] : NULL;

	return G_LIKELY(cpu) ? cpu : lqn_host_add_cpu(host, id, ts);
}

/* ns of CPU time of a thread at `ts`, which must not lie before thread->since. */
static inline int64_t lqn_thread_cpu_at(const struct lqn_thread *thread, int64_t ts)
{
	return thread->cpu_ns + (thread->state == LQN_THREAD_RUNNING ? ts - thread->since : 0);
}

/* The host's idle clock: ns with at least one idle CPU, up to `ts`. */
static inline int64_t lqn_host_idle_at(const struct lqn_host_state *host, int64_t ts)
{
	return host->idle_ns + (host->n_idle > 0 ? ts - host->idle_since : 0);
}

/* Drops the references that an open call holds. */
void lqn_open_call_clear(struct lqn_open_call *call);

/*
 * What `prev_state` of a sched_switch means: 0 for "goes on wanting the CPU" (preempted or
 * yielded), else the reason it left: 1 interruptible, 2 uninterruptible, 4 stopped or traced, 16
 * dead. Layouts of Linux before 4.14 hold the raw task state (0 or a value with the TASK_STATE_MAX
 * bit for a preempted task); later ones one bit of TASK_REPORT (0x100 for preempted). `release` may
 * be NULL: then the value decides.
 */
uint32_t lqn_prev_state(int64_t prev_state, const char *release);

#endif
