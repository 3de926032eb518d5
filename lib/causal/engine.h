/* SPDX-License-Identifier: MIT */
#ifndef LQN_CAUSAL_ENGINE_H
#define LQN_CAUSAL_ENGINE_H

/* Private to lib/causal: the engine's state, and what its parts offer each other. */
#include "causal/causal.h"
#include "channel/channel.h"
#include "identity/snapshot.h"
#include "kernel/attribution.h"
#include "kernel/reorder.h"
#include "kernel/state.h"

#define LQN_SKB_SLOTS 8192		/* packets remembered by buffer address; a power of two */
#define LQN_IO_SLOTS 1024		/* requests of block devices under way; a power of two */
#define LQN_MARKS_PER_NAME 1000		/* what happens more often is no boundary */
#define LQN_MARK_NAMES 4096		/* different names of marks kept */

struct lqn_skb {
	uint64_t address;
	struct lqn_tuple tuple;
};

/* A request to a block device, under way. */
struct lqn_io {
	uint64_t device, sector;
	uint64_t thread;		/* whose it is; 0: not known */
	int64_t begin;			/* handed to the kernel's queue, else to the device */
	int64_t issued;			/* to the device; -1: not yet */
};

/*
 * Threads that have exited are forgotten when their number is free, of which sched_process_free tells; where that is not in the
 * trace, when so many have exited after them.
 */
#define LQN_DEAD_MAX 4096

struct lqn_causal {
	lqn_event_func emit;
	void *payload;
	char *release;			/* owned; NULL: not known */
	int64_t first, now;		/* ts of the first and the present record */
	/* of the one that a CPU's thread is held against: events of other layers are ahead of it */
	int64_t at;
	int64_t latest;			/* of the last one that has come in its turn */
	int64_t next_end;		/* first of the ends of CPUs' streams; INT64_MAX: none */
	struct lqn_reorder reorder;
	struct lqn_attribution *attribution;
	struct lqn_host_state host;
	struct lqn_channels channels;
	struct lqn_skb skbs[LQN_SKB_SLOTS];
	struct lqn_io ios[LQN_IO_SLOTS];
	GHashTable *file_tables;	/* address -> pid, from the dump of the initial state */
	const struct lqn_snapshot *snapshot;	/* borrowed; NULL: none, or taken in */
	GHashTable *foretold;		/* thread id -> process id, of the snapshot; NULL: none */
	uint64_t dead[LQN_DEAD_MAX];	/* keys of threads that have exited, a ring; 0: none */
	uint32_t exits;			/* modulo the ring's size the next place */
	GHashTable *marks;		/* name -> how often it came */
	GHashTable *interrupts;		/* number -> name as told, interned */
	GHashTable *inside;		/* numbers inside of PID namespaces; of spans.c */
	uint64_t packets;		/* told */
	/* the trace has sched_waking: sched_wakeup says nothing new */
	bool have_waking;
	bool have_raise;		/* it says who asks for softirqs */
	bool have_calls;		/* it has system calls */
	uint64_t records, holes;
	uint64_t disorder;		/* records that came after later ones */
};

/* A record with the CPU and the thread it belongs to (NULL: idle, or not known). */
struct lqn_step {
	struct lqn_causal *causal;
	struct lqn_record *rec;
	struct lqn_cpu *cpu;
	struct lqn_thread *thread;
};

/* Emits an event, dated now. */
void lqn_causal_emit(struct lqn_causal *causal, struct lqn_event *ev);

/* threads.c: switches, wake-ups, births and deaths */
void lqn_step_switch(struct lqn_step *step);
void lqn_step_waking(struct lqn_step *step);
void lqn_step_wakeup(struct lqn_step *step);
void lqn_step_wakeup_new(struct lqn_step *step);
/* The CPU turns out to run `thread` (NULL: idle) though no switch has said so. */
void lqn_causal_resync(struct lqn_causal *causal, struct lqn_cpu *cpu, struct lqn_thread *thread);
/* What the CPU runs is not known any more. */
void lqn_causal_forget_current(struct lqn_causal *causal, struct lqn_cpu *cpu, int64_t ts);
/* Ends what a thread is in at the end of the trace. */
void lqn_causal_end_thread(struct lqn_causal *causal, struct lqn_thread *thread, int64_t ts);
/* Nothing that a thread was in can be trusted any more. */
void lqn_causal_lose_thread(struct lqn_thread *thread, int64_t ts);

/* identity.c: who is who */
void lqn_step_fork(struct lqn_step *step);
void lqn_step_exec(struct lqn_step *step);
void lqn_step_exit(struct lqn_step *step);
void lqn_step_free(struct lqn_step *step);
void lqn_step_state_process(struct lqn_step *step);
void lqn_step_state_fd(struct lqn_step *step);
/*
 * Tells of a thread (lqn:thread) if that was not done or its name has changed. comm: LQN_COMM_LEN
 * bytes, or NULL.
 */
void lqn_causal_announce(struct lqn_causal *causal, struct lqn_thread *thread, const char *comm);
/* The process of a thread; the thread alone if nothing better is known. */
struct lqn_process *lqn_causal_process(struct lqn_causal *causal, struct lqn_thread *thread);
/* Its descriptors. */
struct lqn_fd_table *lqn_causal_fds(struct lqn_causal *causal, struct lqn_thread *thread);

/* What a descriptor of that name in a dump or snapshot stands for; pinned for the caller. NULL: nothing that matters. */
struct lqn_object *lqn_causal_described(struct lqn_causal *causal, const char *text);

/* snapshot.c: what was there before the trace began */
void lqn_causal_take_in_snapshot(struct lqn_causal *causal);
/* The process of a thread that the trace has told nothing of: the thread itself, if the snapshot does not show it either. */
int32_t lqn_causal_foretold_pid(const struct lqn_causal *causal, int32_t tid);
/* The id has been given out anew: what the snapshot says of it is over. */
void lqn_causal_forget_foretold(struct lqn_causal *causal, int32_t tid);
/* True if a dump's name of a descriptor is what the snapshot said of the object. */
bool lqn_causal_is_foretold(const struct lqn_object *object, const char *text);

/* contexts.c: interrupts, and what woke whom */
void lqn_step_context_entry(struct lqn_step *step);
void lqn_step_context_exit(struct lqn_step *step);
void lqn_step_softirq_raise(struct lqn_step *step);
void lqn_step_state_irq(struct lqn_step *step);
/* True if an event on the CPU is the doing of its thread, not of an interrupt. */
bool lqn_cpu_in_task(const struct lqn_cpu *cpu);
/* True if an interrupt has ended on the CPU just before. */
bool lqn_cpu_is_after_irq(const struct lqn_cpu *cpu, int64_t ts);
/* The waker of `target` at this step. */
struct lqn_waker lqn_step_waker(const struct lqn_step *step, const struct lqn_thread *target);

/* causes.c: why step->thread, which is not interrupted, wakes `target` */
void lqn_step_woken_by_thread(const struct lqn_step *step, const struct lqn_thread *target,
	struct lqn_waker *waker);

/* calls.c: system calls */
void lqn_step_call_entry(struct lqn_step *step);
void lqn_step_call_exit(struct lqn_step *step);
/* Makes `object` (NULL: none) what the call works on. */
void lqn_call_set_object(struct lqn_open_call *call, struct lqn_object *object);
/* Tells that a thread has waited for time to pass. */
void lqn_step_tell_sleep(struct lqn_step *step, const struct lqn_open_call *call, bool absolute,
	int64_t cpu);
/* Tells of an open call that will not end within the trace. */
void lqn_causal_end_call(struct lqn_causal *causal, struct lqn_thread *thread, int64_t ts);

/* evidence.c: the open call of step->thread wakes `target`. */
void lqn_step_call_wakes(struct lqn_step *step, struct lqn_thread *target);

/* devices.c: requests of block devices */
void lqn_step_block_insert(struct lqn_step *step);
void lqn_step_block_issue(struct lqn_step *step);
void lqn_step_block_complete(struct lqn_step *step);

/* packets.c */
/* A datagram has just come on the CPU, and `target` is woken. */
void lqn_step_datagram_wakes(const struct lqn_step *step, struct lqn_thread *target);
/*
 * False if the packet last taken in the present softirq is none of those that the thread itself
 * sends.
 */
bool lqn_step_brings_own(const struct lqn_step *step);
void lqn_step_packet(struct lqn_step *step);
void lqn_step_packet_copy(struct lqn_step *step);
/*
 * The number of the lqn:packet of what has arrived on the CPU and wakes `target`; 0: nothing to
 * tell.
 */
uint64_t lqn_step_arrival(const struct lqn_step *step, const struct lqn_thread *target);

/* marks.c: candidates for boundaries */
void lqn_step_mark(struct lqn_step *step);
/* Tells of a candidate (lqn:mark). thread: whose it is; NULL: nobody's. */
void lqn_causal_mark(struct lqn_causal *causal, const struct lqn_thread *thread, const char *name, const char *value, int64_t at);

/* spans.c: what programs tell of their requests */
void lqn_step_span(struct lqn_step *step);
void lqn_step_span_message(struct lqn_step *step);
void lqn_step_state_namespace(struct lqn_step *step);
/* The thread is no more: the numbers that it had inside are nobody's. */
void lqn_causal_forget_inside(struct lqn_causal *causal, const struct lqn_thread *thread);
/* A thread is known by another number inside of a PID namespace, where its process has `vpid`. */
void lqn_causal_name_inside(struct lqn_causal *causal, struct lqn_thread *thread, int32_t vpid,
	int32_t vtid);

/* What a call does with its object. */
enum lqn_call_class {
	LQN_CLASS_OTHER,
	LQN_CLASS_SEND,
	LQN_CLASS_RECEIVE,
	LQN_CLASS_POLL,
	LQN_CLASS_ACCEPT,
	LQN_CLASS_FUTEX,
	LQN_CLASS_CONNECT,
	LQN_CLASS_SLEEP,
	LQN_CLASS_FILE,
	LQN_CLASS_KILL,
	LQN_CLASS_EXIT,
	LQN_CLASS_LOCK,		/* of a file */
	LQN_CLASS_SEMAPHORE,
	LQN_CLASS_CLOSE,	/* of a descriptor, or of a connection */
	LQN_CLASS_CLONE,
	LQN_CLASS_WAIT,		/* for a child */
	LQN_CLASS_CONTROL,	/* of what an epoll descriptor waits for */
	LQN_CLASS_RING,		/* io_uring */
	LQN_CLASS_COUNT
};
enum lqn_call_class lqn_call_class(uint8_t call);

#endif
