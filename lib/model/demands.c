/* SPDX-License-Identifier: MIT */

/*
 * Demands, delays and calls of entries, as means per invocation begun in the window. CPU time of a task that belongs to no
 * invocation (start of threads, a client's call to sleep) is spread over its entries in proportion to
 * their demands, so that utilisation is true.
 */
#include "build.h"

#include <math.h>

/* Work after the reply is a second phase if it is more than the way back from the system call … */
#define PHASE2_SHARE 0.1
#define PHASE2_NS 10000
/* … and for a thread that ends with its connection, more than ending. */
#define PHASE2_NS_PER_CONNECTION 200000
/* Calls made more rarely, or fewer times among many invocations, are effects of the window's edges. */
#define CALL_MIN 0.002
#define CALLS_MIN 3
#define MANY 100
#define THINK_MIN 1e-5

struct sums {
	double cpu[2], send, delay, latency, lock_latency, service;
	double square[2];
	guint answered;
};

static struct sums sum_up(const struct lqn_cluster *cluster)
{
	struct sums s = { 0 };

	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];
		double all = (double) (it->cpu[0] + it->send_cpu);

		s.cpu[0] += (double) it->cpu[0];
		s.cpu[1] += (double) it->cpu[1];
		s.square[0] += all * all;
		s.square[1] += (double) it->cpu[1] * (double) it->cpu[1];
		s.send += (double) it->send_cpu;
		s.delay += (double) it->delay;
		s.latency += (double) it->latency;
		s.lock_latency += (double) it->lock_latency;
		if (it->replied > 0) {
			s.service += (double) (it->replied - it->begin);
			s.answered++;
		}
	}
	return s;
}

/* Second-phase calls, or disk operations: then the tail is a phase whatever its CPU time. */
static bool tail_calls(struct lqn_build *build, const struct lqn_cluster *cluster)
{
	guint calls = 0;

	for (guint i = 0; i < cluster->members->len; i++) {
		for (const struct lqn_arc *arc = ((struct lqn_invocation *) cluster->members->pdata[i])->arcs; arc;
				arc = arc->next) {
			struct lqn_cluster *to = arc->second_phase && arc->callee ?
				lqn_build_cluster_of(build, lqn_final(arc->callee)) : NULL;

			calls += to && to->entry;
		}
	}
	return calls > CALL_MIN * cluster->members->len;
}

static bool has_phase2(struct lqn_build *build, const struct lqn_cluster *cluster, const struct sums *s)
{
	double n = cluster->members->len;
	double least = cluster->service->per_connection ? PHASE2_NS_PER_CONNECTION : PHASE2_NS;

	if (cluster->service->root) {
		return false;
	}
	return (s->cpu[1] > PHASE2_SHARE * (s->cpu[0] + s->cpu[1] + s->send) && s->cpu[1] > least * n) ||
		(!cluster->service->per_connection && tail_calls(build, cluster));
}

static double cvsq(double sum, double square, double n)
{
	double mean = sum / n;

	return n > 1 && mean > 0 ? MAX(0, (square - n * mean * mean) / (n - 1)) / (mean * mean) : -1;
}

static void add_calls(struct lqn_build *build, struct lqn_cluster *cluster)
{
	struct lqn_entry *entry = cluster->entry;
	double n = cluster->members->len, least = n < MANY ? CALL_MIN : MAX(CALL_MIN, (CALLS_MIN - 0.5) / n);

	for (guint i = 0; i < cluster->members->len; i++) {
		for (struct lqn_arc *arc = ((struct lqn_invocation *) cluster->members->pdata[i])->arcs; arc;
				arc = arc->next) {
			struct lqn_cluster *to = arc->callee && !arc->gone ?
				lqn_build_cluster_of(build, lqn_final(arc->callee)) : NULL;

			if (to && to->entry && to->service != cluster->service) {
				lqn_entry_add_call(entry, entry->has_phase2 && arc->second_phase, to->entry, arc->kind,
					1.0 / cluster->members->len);
			}
		}
	}
	for (unsigned p = 0; p < 2; p++) {
		GArray *calls = entry->phase[p].calls;

		for (guint i = 0; i < calls->len;) {
			if (g_array_index(calls, struct lqn_model_call, i).mean < least) {
				g_array_remove_index(calls, i);
			} else {
				i++;
			}
		}
	}
}

static void add_locks(struct lqn_cluster *cluster, double *demand, double *delay)
{
	for (guint i = 0; i < cluster->locks->len; i++) {
		const struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, i);

		/* what goes on inside is the lock's now */
		*demand -= use->passages * use->entry->phase[0].demand;
		*delay -= use->passages * use->slept;
		lqn_entry_add_call(cluster->entry, 0, use->entry, LQN_SYNC, use->passages);
	}
}

static void fill(struct lqn_build *build, struct lqn_cluster *cluster)
{
	struct lqn_service *service = cluster->service;
	struct lqn_entry *entry = cluster->entry;
	struct sums s = sum_up(cluster);
	double n = cluster->members->len, wall = (double) (build->end - build->begin) / 1e9;
	double demand, demand2 = 0, loose, delay;

	entry->has_phase2 = has_phase2(build, cluster, &s);
	loose = service->busy_ns > 0 ?
		service->loose_ns * (s.cpu[0] + s.cpu[1] + s.send) / service->busy_ns / n : 0;
	demand = s.cpu[0] / n + loose;
	if (entry->has_phase2) {
		demand2 = (s.cpu[1] + s.send) / n;
		entry->phase[1].demand_cvsq = cvsq(s.cpu[1], s.square[1], n);
	} else {
		demand += (s.cpu[1] + s.send) / n;
	}
	entry->phase[0].demand_cvsq = cvsq(s.cpu[0] + s.send, s.square[0], n);
	delay = (service->root ? 0 : s.delay / n) + s.latency / n +
		(cluster->locks->len > 0 ? 0 : s.lock_latency / n);
	demand /= 1e9;
	delay /= 1e9;
	add_locks(cluster, &demand, &delay);
	entry->phase[0].demand = MAX(demand, 0);
	entry->phase[1].demand = MAX(demand2 / 1e9, 0);
	entry->phase[0].think = delay > THINK_MIN ? delay : 0;
	entry->invocations = cluster->members->len;
	entry->throughput = n / wall;
	entry->service = s.answered > 0 ? s.service / s.answered / 1e9 : -1;
	entry->demand_ci = -1;
	if (n > 1) {
		double mean = (s.cpu[0] + s.send) / n;

		entry->demand_ci = 1.96 * sqrt(MAX(0, (s.square[0] - n * mean * mean) / (n - 1)) / n) / 1e9;
	}
	add_calls(build, cluster);
}

/* Tasks without a bound on their threads that the solver cannot take as such get the bound that was seen. */
static void bound_threads(struct lqn_service *service)
{
	bool asynchronous = false, second_phase = false;

	if (service->task->sched != LQN_SCHED_INF) {
		return;
	}
	for (guint i = 0; i < service->clusters->len; i++) {
		const struct lqn_cluster *cluster = service->clusters->pdata[i];

		asynchronous |= cluster->entry && cluster->kind == g_intern_static_string("async");
		second_phase |= cluster->entry && cluster->entry->has_phase2;
	}
	if (asynchronous || second_phase) {
		service->task->sched = LQN_SCHED_FCFS;
		service->task->multiplicity = service->multiplicity;
	}
}

void lqn_build_demands(struct lqn_build *build)
{
	double wall = (double) (build->end - build->begin) / 1e9;

	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];

			if (cluster->entry) {
				fill(build, cluster);
			}
		}
		bound_threads(service);
		service->task->throughput = service->members->len / wall;
		service->task->utilization = service->cpu_ns / 1e9 / wall;
		service->task->response = -1;
	}
}
