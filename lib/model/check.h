/* SPDX-License-Identifier: MIT */
#ifndef LQN_MODEL_CHECK_H
#define LQN_MODEL_CHECK_H

/*
 * Whether a model agrees with what was measured, as far as that needs no solver: the operational laws (Denning and Buzen, 1978), and
 * asymptotic bounds (Muntz and Wong, 1974). Beside them, what a solver predicts.
 */
#include <glib.h>
#include <stdbool.h>

struct lqn_model;
struct lqn_task;

/* How far two ways to the same number lie apart. */
struct lqn_law {
	double deviation;		/* the largest one, relative; < 0: nothing to check */
	const char *where;		/* the name of what it is of; borrowed from the model */
	double expected, measured;	/* there */
};

/* A class of clients, which are always in the same number. */
struct lqn_class_bounds {
	const struct lqn_task *task;	/* borrowed */
	double alone;			/* s; a cycle's response where nobody queues */
	double throughput;		/* at most that many cycles per second, were it alone */
	double response;		/* s; at least that long a cycle, without think time */
};

/* What can have no more to do than its servers can: a processor, a pool of threads, a lock, a disk. */
struct lqn_resource {
	const char *name;		/* borrowed */
	const char *kind;		/* `processor`, or the task's kind */
	unsigned servers;
	double busy;			/* servers that the workload keeps busy, without any queueing */
	double other;			/* of a processor: by the background */
	double growth;			/* by which the workload can grow until it is saturated */
};

/* What a solver makes of the model: solve/solve.h. */
enum lqn_predicted { LQN_PREDICTED_THROUGHPUT, LQN_PREDICTED_RESPONSE, LQN_PREDICTED_UTILIZATION, LQN_PREDICTED_COUNT };

struct lqn_predicted_value {
	const char *name;		/* of a task or processor; borrowed from the model */
	enum lqn_predicted what;
	double measured, predicted;
};

struct lqn_prediction {
	bool converged;
	GArray *values;			/* struct lqn_predicted_value; owned */
};

struct lqn_checks {
	struct lqn_law little, flow, utilization;
	GArray *bounds;			/* struct lqn_class_bounds; owned */
	GArray *resources;		/* struct lqn_resource, those that saturate first at first; owned */
	double clients;			/* of all closed classes */
	double clients_at_saturation;	/* of all closed classes, from which on the first resource limits; < 0: no closed class */
	char *solver;			/* the program that was asked; owned; NULL: none */
	struct lqn_prediction *prediction;	/* owned; NULL: none, or it failed */
	char *failure;			/* why there is none; owned; NULL */
};

struct lqn_checks *lqn_checks_new(const struct lqn_model *model);
void lqn_checks_free(struct lqn_checks *checks);

struct lqn_prediction *lqn_prediction_new(void);
void lqn_prediction_free(struct lqn_prediction *prediction);
/* `throughput`, `response`, `utilization` */
const char *lqn_predicted_name(enum lqn_predicted what);

#endif
