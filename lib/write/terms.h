/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_TERMS_H
#define LQN_WRITE_TERMS_H

/*
 * What the forms of a model have in common: the words of lqns for schedulings and calls, the
 * solver's parameters, and which calls an entry makes. One place, so that lqnx, text and JSON mean
 * the same.
 */
#include "model/model.h"

/*
 * Solver parameters as tried on extracted models: closed and open traffic through multiservers
 * needs stop-on-message-loss=no with stock lqns; a low coefficient makes those converge.
 */
#define LQN_SOLVER_CONVERGENCE "1e-05"
#define LQN_SOLVER_ITERATIONS "200"
#define LQN_SOLVER_PRINT "0"
#define LQN_SOLVER_UNDERRELAX "0.5"
/* Solvers demand a quantum for processor sharing; lqns makes no use of it. Seconds. */
#define LQN_PS_QUANTUM "0.001"

struct lqn_solver_pragma {
	const char *param, *value;
};

/* The nth pragma for the solver; NULL: there are no more. */
const struct lqn_solver_pragma *lqn_solver_pragma(const struct lqn_model *model, unsigned n);

struct lqn_sched_terms {
	const char *xml_processor, *xml_task;
	const char *text_processor, *text_task;
};

/* Words for a scheduling; a harmless one where it makes no sense (a processor that is `ref`). */
const struct lqn_sched_terms *lqn_sched_terms(enum lqn_sched sched);

/* The element of lqnx for a kind of call, also used in JSON. */
const char *lqn_call_element(enum lqn_call_kind kind);

/* For people and JSON: server, client, open, lock, disk, delay, background. */
const char *lqn_task_kind_name(enum lqn_task_kind kind);

/* Phases in use: 1 or 2. */
unsigned lqn_entry_phases(const struct lqn_entry *entry);

/* Threads busy, or customers at work, as measured: invocations per second × what they take; < 0: unknown. */
double lqn_task_busy(const struct lqn_task *task);

/* Solvers refuse tasks without entries and processors without tasks: not written for them. */
bool lqn_task_is_solvable(const struct lqn_task *task);
bool lqn_processor_is_solvable(const struct lqn_processor *proc);

/* A destination with its mean calls per phase; for LQN_FORWARD mean[0] is the probability. */
struct lqn_merged_call {
	struct lqn_entry *dest;		/* borrowed */
	enum lqn_call_kind kind;
	double mean[2];
	double cvsq[2], ci[2];		/* as in struct lqn_model_call */
	double share[LQN_COUNTS];	/* likewise, of the first phase */
};

/*
 * The calls of the phases in use, one element per destination and kind, in the order of first
 * mention; those without a finite mean above 0 are left out. Probabilities of forwarding are at
 * most 1, also their sum: an entry forwards a request once. Free with g_array_unref; struct
 * lqn_merged_call.
 */
GArray *lqn_entry_merge_calls(const struct lqn_entry *entry);

/*
 * True if each invocation makes as many calls in that phase as any other: the phase is what solvers call deterministic. Else
 * solvers take them to vary geometrically, which makes queues longer. `calls`: of lqn_entry_merge_calls().
 */
bool lqn_calls_are_fixed(const GArray *calls, unsigned phase);
/* The same; if so the numbers of calls become the whole ones that they are next to, for solvers take no others then. */
bool lqn_calls_fix(GArray *calls, unsigned phase);

/* True if who is asked passes it on: to solvers these are calls of his, a part of one each, if it is to one of several. */
bool lqn_entry_passes_on(const struct lqn_entry *entry);

/* One activity of an entry whose invocations differ in how many calls they make. */
struct lqn_activity {
	char *name;			/* owned */
	unsigned stage;			/* from 0 on; those of one are alternatives, after which the next stage comes */
	double share;			/* of invocations that come to it */
	bool fixed;			/* numbers of calls are the same each time */
	GArray *calls;			/* struct lqn_merged_call, first phase; owned */
};

/*
 * An entry as a graph of activities, where solvers would take numbers of calls to vary far more than they do: the first computes
 * (the demand and delay are all there), then come the calls, kind by kind, a number of them with the probability that it was seen
 * with. Of two stages next to each other one has a single activity. NULL: the entry is written as phases. struct lqn_activity by
 * stage; free with g_ptr_array_unref.
 */
GPtrArray *lqn_entry_graph(const struct lqn_entry *entry);
/* How many of the activities are of that stage, beginning with *from. */
unsigned lqn_graph_stage(const GPtrArray *graph, unsigned stage, unsigned *from);

#endif
