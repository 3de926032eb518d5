/* SPDX-License-Identifier: MIT */

/*
 * Event loops with several requests in flight. A thread that waits for answers at the place where requests come to it, or takes up
 * others meanwhile, does not wait: its requests do. So the task has no bound, and what it does by itself, one thing at a
 * time, is done by a task of as many threads as there are loops, which it calls each time that a request is taken up: when it
 * comes, and when an answer to one of its calls does. What stops the thread, a lock, a disk, a call whose answer it waits for
 * and for nothing else, stops the loop, and is called from there.
 */
#include "build.h"

#define CALLS_MIN 3		/* that do not hold the thread; fewer are chance */

static bool is_free(const struct lqn_model_call *call)
{
	return call->kind == LQN_SYNC && call->free >= CALLS_MIN && call->free > call->held;
}

/* Its threads could have taken up requests while they waited for answers, and did not. */
static bool is_serial(const struct lqn_service *service)
{
	uint64_t took_up = 0, put_off = 0;
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, service->units);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct lqn_unit *unit = key;

		took_up += unit->took_up;
		put_off += unit->put_off;
	}
	return put_off > took_up;
}

/* How often its invocations wait for what is no answer, and the thread does not. */
static guint pauses_of(const struct lqn_cluster *cluster)
{
	guint pauses = 0;

	for (guint i = 0; i < cluster->members->len; i++) {
		pauses += ((const struct lqn_invocation *) cluster->members->pdata[i])->pauses;
	}
	return pauses;
}

/* Most of what it does is taken up twice or more, and other work done meanwhile. */
static bool is_paused(const struct lqn_cluster *cluster)
{
	guint pauses = pauses_of(cluster);

	return pauses >= CALLS_MIN && 2 * pauses > cluster->members->len;
}

static bool is_loop(const struct lqn_service *service)
{
	if (service->root || service->per_connection || is_serial(service)) {
		return false;
	}
	for (guint i = 0; i < service->clusters->len; i++) {
		const struct lqn_cluster *cluster = service->clusters->pdata[i];

		if (cluster->entry && is_paused(cluster)) {
			return true;
		}
		for (unsigned phase = 0; cluster->entry && phase < 2; phase++) {
			const GArray *calls = cluster->entry->phase[phase].calls;

			for (guint k = 0; k < calls->len; k++) {
				if (is_free(&g_array_index(calls, struct lqn_model_call, k))) {
					return true;
				}
			}
		}
	}
	return false;
}

/* How often an invocation is taken up. */
static double visits_of(const struct lqn_cluster *cluster)
{
	const struct lqn_entry *entry = cluster->entry;
	double visits = 1 + (double) pauses_of(cluster) / cluster->members->len;

	for (unsigned phase = 0; phase < 2; phase++) {
		for (guint i = 0; i < entry->phase[phase].calls->len; i++) {
			const struct lqn_model_call *call = &g_array_index(entry->phase[phase].calls, struct lqn_model_call, i);

			visits += is_free(call) ? call->mean : 0;
		}
	}
	return visits;
}

/* What holds the thread goes to the loop. True if a call of the phase remains that the thread does not wait for. */
static bool move_calls(GArray *from, GArray *to, double visits)
{
	bool waits = false;

	for (guint i = 0; i < from->len;) {
		struct lqn_model_call call = g_array_index(from, struct lqn_model_call, i);

		if (call.kind != LQN_SYNC || is_free(&call)) {
			waits |= call.kind == LQN_SYNC;
			i++;
			continue;
		}
		lqn_call_set_mean(&call, call.mean / visits);
		g_array_append_val(to, call);
		g_array_remove_index(from, i);
	}
	return waits;
}

static double slept(const struct lqn_cluster *cluster, unsigned phase)
{
	double sum = 0;

	for (guint i = 0; i < cluster->members->len; i++) {
		sum += (double) ((const struct lqn_invocation *) cluster->members->pdata[i])->delay[phase];
	}
	return sum / cluster->members->len / 1e9;
}

static void move_phase(struct lqn_cluster *cluster, unsigned phase, double visits)
{
	struct lqn_phase *from = &cluster->entry->phase[phase], *to = &cluster->entry->loop->phase[phase];
	double held = MIN(from->think, slept(cluster, phase));

	to->demand = from->demand / visits;
	/* as of parts that vary by themselves */
	to->demand_cvsq = from->demand_cvsq < 0 ? -1 : from->demand_cvsq * visits;
	to->demand_ci = from->demand_ci < 0 ? -1 : from->demand_ci / visits;
	to->think = held / visits;
	from->think -= held;
	from->demand = phase == 0 ? LQN_NEXT_TO_NOTHING : 0;
	from->demand_cvsq = from->demand_ci = -1;
}

static void move_entry(struct lqn_build *build, struct lqn_cluster *cluster, struct lqn_task *loop)
{
	struct lqn_entry *entry = cluster->entry;
	double visits = visits_of(cluster);
	bool waits[2] = { false, false };
	g_autofree char *wanted = g_strdup_printf("%s_loop", entry->name);

	entry->loop = lqn_task_add_entry(loop, lqn_build_name(build, wanted));
	entry->loop->has_phase2 = entry->has_phase2;
	entry->loop->label = g_strdup_printf("computing of %s, %.2f times each", entry->name, visits);
	entry->loop->invocations = (uint64_t) (visits * (double) entry->invocations + 0.5);
	entry->loop->throughput = visits * entry->throughput;
	loop->throughput += entry->loop->throughput;
	for (unsigned phase = 0; phase < 2; phase++) {
		move_phase(cluster, phase, visits);
		waits[phase] = move_calls(entry->phase[phase].calls, entry->loop->phase[phase].calls, visits);
	}
	entry->has_phase2 = waits[1];
	for (guint i = 0; !waits[1] && i < entry->phase[1].calls->len; i++) {
		const struct lqn_model_call *call = &g_array_index(entry->phase[1].calls, struct lqn_model_call, i);

		lqn_entry_add_call(entry, 0, call->dest, call->kind, call->mean);
	}
	lqn_entry_add_call(entry, 0, entry->loop, LQN_SYNC, visits);
}

static void make_loop(struct lqn_build *build, struct lqn_service *service)
{
	struct lqn_task *task = service->task, *loop;
	g_autofree char *wanted = g_strdup_printf("%s_loop", task->name);
	bool asynchronous = false, synchronous = false, second_phase = false;

	loop = lqn_processor_add_task(task->processor, lqn_build_name(build, wanted), LQN_TASK_LOOP, LQN_SCHED_FCFS,
		service->multiplicity);
	loop->service = g_strdup(task->service);
	loop->utilization = task->utilization;
	task->utilization = 0;
	for (guint i = 0; i < service->clusters->len; i++) {
		struct lqn_cluster *cluster = service->clusters->pdata[i];

		if (cluster->entry) {
			move_entry(build, cluster, loop);
			asynchronous |= cluster->asked == LQN_ASKED_ASYNC;
			synchronous |= cluster->asked != LQN_ASKED_ASYNC;
			second_phase |= cluster->entry->has_phase2;
		}
	}
	task->sched = (asynchronous && synchronous) || second_phase ? LQN_SCHED_FCFS : LQN_SCHED_INF;
	task->multiplicity = task->sched == LQN_SCHED_INF ? 1 : LQN_BOUND;
}

void lqn_build_client_loop(struct lqn_build *build, struct lqn_service *service, unsigned threads)
{
	struct lqn_task *task = service->task, *loop;
	g_autofree char *wanted = g_strdup_printf("%s_loop", task->name);

	loop = lqn_processor_add_task(task->processor, lqn_build_name(build, wanted), LQN_TASK_LOOP, LQN_SCHED_FCFS, threads);
	loop->service = g_strdup(task->service);
	loop->utilization = task->utilization;
	loop->throughput = task->throughput;
	task->utilization = 0;
	for (guint i = 0; i < service->clusters->len; i++) {
		struct lqn_entry *entry = ((struct lqn_cluster *) service->clusters->pdata[i])->entry;
		g_autofree char *name = entry ? g_strdup_printf("%s_loop", entry->name) : NULL;

		if (!entry) {
			continue;
		}
		entry->loop = lqn_task_add_entry(loop, lqn_build_name(build, name));
		entry->loop->label = g_strdup_printf("computing of %s", entry->name);
		entry->loop->invocations = entry->invocations;
		entry->loop->throughput = entry->throughput;
		entry->loop->phase[0].demand = entry->phase[0].demand;
		/* how it varies is of the thread's odd jobs as well, of which one holds up many cycles in few seconds: not told */
		entry->loop->phase[0].demand_cvsq = -1;
		entry->loop->phase[0].demand_ci = entry->phase[0].demand_ci;
		entry->phase[0].demand = LQN_NEXT_TO_NOTHING;
		entry->phase[0].demand_cvsq = entry->phase[0].demand_ci = -1;
		lqn_entry_add_fixed_call(entry, 0, entry->loop, 1);
	}
}

void lqn_build_loops(struct lqn_build *build)
{
	for (guint i = 0; i < build->services->len; i++) {
		if (is_loop(build->services->pdata[i])) {
			make_loop(build, build->services->pdata[i]);
		}
	}
}
