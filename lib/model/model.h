/* SPDX-License-Identifier: MIT */
#ifndef LQN_MODEL_MODEL_H
#define LQN_MODEL_MODEL_H

/*
 * A layered queueing network as plain data, in the terms of lqnx. Made by build.c, read by the
 * writers. Times are seconds, rates per second. Names are legal for lqns in text and XML form
 * ([A-Za-z_][A-Za-z0-9_]+) and unique among tasks, entries and processors, each by itself.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/check.h"

enum lqn_sched { LQN_SCHED_REF, LQN_SCHED_FCFS, LQN_SCHED_INF, LQN_SCHED_PS };
enum lqn_call_kind { LQN_SYNC, LQN_ASYNC, LQN_FORWARD };
enum lqn_task_kind {
	LQN_TASK_SERVER, LQN_TASK_CLIENT, LQN_TASK_OPEN,	/* open: a source of arrivals, written as a large closed one */
	LQN_TASK_LOCK, LQN_TASK_DISK, LQN_TASK_DELAY, LQN_TASK_BACKGROUND,
	LQN_TASK_LOOP,			/* the threads of an event loop: what its entries compute */
};

struct lqn_entry;

#define LQN_COUNTS 8			/* numbers of calls that are told apart: 0 to 7 */
#define LQN_NEXT_TO_NOTHING 1e-9	/* s: the solvers warn of what takes no time at all */

struct lqn_model_call {
	struct lqn_entry *dest;		/* borrowed */
	enum lqn_call_kind kind;	/* LQN_FORWARD: `mean` is the probability */
	double mean;			/* per invocation of the phase */
	double cvsq;			/* squared coefficient of variation of that number; < 0: unknown */
	double ci;			/* half width of the mean's 95 % interval; < 0: unknown */
	double share[LQN_COUNTS];	/* of invocations that make 0, 1, … such calls; all 0: not known, or some make more */
	unsigned free, held;		/* calls seen whose caller's thread did other things meanwhile, and did not */
};

struct lqn_phase {
	double demand;			/* mean CPU time per invocation */
	double demand_cvsq;		/* its squared coefficient of variation; < 0: unknown */
	double demand_ci;		/* half width of its 95 % interval; < 0: unknown */
	double think;			/* pure delay inside the phase */
	GArray *calls;			/* struct lqn_model_call; owned */
};

struct lqn_entry {
	char *name;			/* owned */
	struct lqn_task *task;		/* borrowed */
	char *label;			/* for people: `web, called by client`; owned; may be NULL */
	struct lqn_phase phase[2];	/* [1] unused unless has_phase2 */
	bool has_phase2;
	bool answers;			/* somebody waits for it: lqn_model_find_answers() */
	struct lqn_entry *loop;		/* where it computes, one at a time; borrowed; NULL: in its own task */
	/* measured in the window */
	uint64_t invocations;
	double throughput;		/* per second */
	double service;			/* mean time from the request's receipt to the reply; < 0: unknown */
	double service_ci;		/* half width of the 95 % interval of `service`, or of a cycle's response; < 0: unknown */
};

struct lqn_model_process {		/* one that a task stands for; what is not known is NULL */
	uint32_t pid;
	char *comm, *exe, *service, *container;	/* owned; service: systemd's */
	GArray *nspids;			/* uint32_t: its ids in the pid namespaces, outermost first; owned */
};

struct lqn_task {
	char *name;			/* owned */
	char *service;			/* as the system calls it; owned; may be NULL */
	GPtrArray *processes;		/* struct lqn_model_process, owned, by id; empty for what is no process */
	enum lqn_task_kind kind;
	enum lqn_sched sched;
	unsigned multiplicity;		/* threads, or customers */
	double think;			/* reference tasks */
	struct lqn_processor *processor;	/* borrowed */
	GPtrArray *entries;		/* struct lqn_entry, owned */
	/* measured in the window */
	double throughput;		/* invocations per second; cycles of a reference task */
	double utilization;		/* CPUs busy with it */
	double response;		/* reference tasks: mean cycle without think time; < 0: none */
	double think_measured;		/* likewise: mean time between a customer's cycles; < 0: none */
};

struct lqn_processor {
	char *name;			/* owned */
	enum lqn_sched sched;
	unsigned multiplicity;
	GPtrArray *tasks;		/* struct lqn_task, owned */
	double utilization;		/* measured: CPUs busy; < 0: unknown */
	double interrupts;		/* measured: of which in interrupts; < 0: unknown */
};

struct lqn_blocked {			/* where blocked time of the workload's threads went */
	char *cause;			/* owned */
	double seconds;
	uint64_t waits;
};

struct lqn_window {			/* [begin, end), ns */
	int64_t begin, end;
};

/* By what a delivery is known to be of a message that was published. */
enum lqn_joining {
	LQN_JOINED_SPANS,		/* a consumer's span names the producer's: certain */
	LQN_JOINED_CONTEXT,		/* the broker delivered while it worked for who published: inferred */
	LQN_JOINED_ORDER,		/* first published, first delivered: hypothesised */
	LQN_JOININGS
};
/* `spans`, `context`, `order`. */
const char *lqn_joining_name(enum lqn_joining how);

/* Messages from one task through another to a third; times in s, means over those joined in the window. */
struct lqn_message_flow {
	const char *producer, *broker, *consumer;	/* interned; as the system calls them */
	uint64_t joined[LQN_JOININGS];
	uint64_t apart;			/* deliveries to this consumer that are no known message's; of any producer */
	double to_broker;		/* from the begin of the send until the broker worked on it */
	double in_broker;		/* from there to the delivery's send; … */
	double stored;			/* … of which it lay there, and nobody worked on it */
	double to_consumer;		/* from the delivery's send until the consumer worked on it */
	double service;			/* the consumer's work */
	double p50, p95, max;		/* from the producer's send to the consumer's work */
};
/* How many are joined. */
uint64_t lqn_message_flow_count(const struct lqn_message_flow *flow);

struct lqn_model {
	char *name;			/* owned */
	GPtrArray *processors;		/* struct lqn_processor, owned; in a fixed order */
	int64_t window_begin, window_end;	/* ns */
	char *partial;			/* why it is not of the whole trace; owned; NULL: it is */
	GArray *windows;		/* struct lqn_window, if it is of several within that; owned */
	int64_t window_ns;		/* in the window, or in all of them */
	char *window_reason;		/* where the window comes from; owned */
	GPtrArray *blocked;		/* struct lqn_blocked, owned; largest first */
	double blocked_seconds, unexplained_seconds;
	/* the same by who woke, of what was waited for in hidden queues; `cause` is his name */
	GPtrArray *hidden;
	double hidden_seconds;
	GArray *messages;		/* struct lqn_message_flow, most messages first; owned */
	GPtrArray *notes;		/* char *, owned: what a reader should know (degradations, folded tasks) */
	GPtrArray *background;		/* char *, owned: `name 0.012 CPUs`, largest first */
	struct lqn_checks *checks;	/* owned; NULL: not made */
};

struct lqn_model *lqn_model_new(const char *name);
void lqn_model_free(struct lqn_model *model);

/* Adders return borrowed pointers to what the model owns. */
struct lqn_processor *lqn_model_add_processor(struct lqn_model *model, const char *name,
	enum lqn_sched sched, unsigned multiplicity);
struct lqn_task *lqn_processor_add_task(struct lqn_processor *proc, const char *name,
	enum lqn_task_kind kind, enum lqn_sched sched, unsigned multiplicity);
struct lqn_model_process *lqn_task_add_process(struct lqn_task *task, uint32_t pid);
struct lqn_entry *lqn_task_add_entry(struct lqn_task *task, const char *name);
/*
 * Adds to the mean if the phase has such a call already (solvers take one of two). phase: 0 or 1. How the number of calls varies
 * is not known then. Returns the call, borrowed until there is another one.
 */
struct lqn_model_call *lqn_entry_add_call(struct lqn_entry *entry, unsigned phase, struct lqn_entry *dest,
	enum lqn_call_kind kind, double mean);
/* A synchronous call that every invocation makes as often, in phase 0; below LQN_COUNTS. */
void lqn_entry_add_fixed_call(struct lqn_entry *entry, unsigned phase, struct lqn_entry *dest, unsigned count);
/* Sets the shares: of n invocations, counts[k] make k calls, those with the last k as many or more; none are the others. */
void lqn_call_set_counts(struct lqn_model_call *call, const guint counts[LQN_COUNTS + 1], guint n);
/* Tells which entries are called synchronously, or passed on to; when all calls are made. */
void lqn_model_find_answers(struct lqn_model *model);
/* Another mean, of which no more is known than that. */
void lqn_call_set_mean(struct lqn_model_call *call, double mean);

#endif
