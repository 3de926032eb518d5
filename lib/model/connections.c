/* SPDX-License-Identifier: MIT */

/*
 * Pools of connections in event loops. No thread waits when none is free, only requests do: one is taken up when the answer
 * to another has made a connection free, and its call goes out there at once. Such a pool is a task of as many threads as
 * calls were out at once, between the entry and what it asks; a thread of it is held until the answer.
 */
#include "build.h"

#define QUEUED_MIN 5		/* calls that waited for a connection: fewer are chance, … */
#define QUEUED_SHARE 0.02	/* … and so is a smaller share */

struct pool {
	struct lqn_service *to;
	GArray *calls;			/* struct lqn_window: from the call to its answer; owned */
	guint queued;
	double held;			/* ns */
	struct lqn_task *task;
};

static struct pool *pool_to(GArray *pools, struct lqn_service *to)
{
	struct pool fresh = { .to = to };

	for (guint i = 0; i < pools->len; i++) {
		struct pool *it = &g_array_index(pools, struct pool, i);

		if (it->to == to) {
			return it;
		}
	}
	fresh.calls = g_array_new(FALSE, FALSE, sizeof(struct lqn_window));
	g_array_append_val(pools, fresh);
	return &g_array_index(pools, struct pool, pools->len - 1);
}

static void add_calls(struct lqn_build *build, const struct lqn_cluster *cluster, GArray *pools)
{
	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];

		for (const struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
			struct lqn_cluster *to = arc->kind == LQN_SYNC && arc->replied > 0 ?
				lqn_build_callee(build, cluster, arc) : NULL;
			struct lqn_window call = { arc->sent, arc->replied };

			if (to) {
				struct pool *pool = pool_to(pools, to->service);

				g_array_append_val(pool->calls, call);
				pool->queued += arc->queued;
				pool->held += (double) (arc->replied - arc->sent);
			}
		}
	}
}

/* Puts the pool between the entry's calls and what they go to. */
static void divert(struct lqn_build *build, struct lqn_cluster *cluster, const struct pool *pool)
{
	for (unsigned phase = 0; phase < 2; phase++) {
		GArray *calls = cluster->entry->phase[phase].calls;

		for (guint i = 0; i < calls->len; i++) {
			struct lqn_model_call *call = &g_array_index(calls, struct lqn_model_call, i);
			g_autofree char *wanted = NULL;
			struct lqn_entry *entry;

			if (call->dest->task != pool->to->task || call->kind != LQN_SYNC) {
				continue;
			}
			wanted = g_strdup_printf("%s_to_%s", cluster->entry->name, call->dest->name);
			entry = lqn_task_add_entry(pool->task, lqn_build_name(build, wanted));
			entry->label = g_strdup_printf("connections of %s to %s", cluster->service->task->name, pool->to->task->name);
			entry->phase[0].demand = LQN_NEXT_TO_NOTHING;
			entry->throughput = call->mean * cluster->entry->throughput;
			entry->invocations = (uint64_t) (call->mean * (double) cluster->entry->invocations + 0.5);
			entry->service = pool->held / pool->calls->len / 1e9;
			pool->task->throughput += entry->throughput;
			lqn_entry_add_fixed_call(entry, 0, call->dest, 1);
			call->dest = entry;
		}
	}
}

static void add_pools(struct lqn_build *build, struct lqn_service *service)
{
	g_autoptr(GArray) pools = g_array_new(FALSE, FALSE, sizeof(struct pool));

	for (guint i = 0; i < service->clusters->len; i++) {
		const struct lqn_cluster *cluster = service->clusters->pdata[i];

		if (cluster->entry) {
			add_calls(build, cluster, pools);
		}
	}
	for (guint i = 0; i < pools->len; i++) {
		struct pool *pool = &g_array_index(pools, struct pool, i);
		g_autofree char *wanted = g_strdup_printf("pool_%s_%s", service->task->name, pool->to->task->name);

		if (pool->queued >= QUEUED_MIN && pool->queued >= QUEUED_SHARE * pool->calls->len) {
			pool->task = lqn_processor_add_task(service->task->processor, lqn_build_name(build, wanted), LQN_TASK_LOCK,
				LQN_SCHED_FCFS, lqn_at_once(pool->calls));
			for (guint k = 0; k < service->clusters->len; k++) {
				if (((struct lqn_cluster *) service->clusters->pdata[k])->entry) {
					divert(build, service->clusters->pdata[k], pool);
				}
			}
		}
		g_array_free(pool->calls, TRUE);
	}
}

void lqn_build_connections(struct lqn_build *build)
{
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		if (!service->root) {
			add_pools(build, service);
		}
	}
}
