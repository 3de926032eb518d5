/* SPDX-License-Identifier: MIT */

/*
 * Reference tasks. Each thread that makes cycles is a customer, each connection of a loop that drives several. Think time
 * is N/X - R, which is right whatever happens between two cycles. A source whose sleeps are until times
 * of the clock sends at its own pace: it becomes a large closed population, which
 * the solvers take without the warnings that open arrivals beside closed load give.
 */
#include "build.h"

#define OPEN_SHARE 0.9		/* of cycles that began at a time of the clock */
#define OPEN_CUSTOMERS 200
#define CYCLES_MIN 20		/* fewer say little of a mean */

void lqn_build_clients(struct lqn_build *build)
{
	double wall = (double) (build->end - build->begin) / 1e9;
	guint most = 0;

	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];
		g_autoptr(GHashTable) customers = g_hash_table_new(g_direct_hash, g_direct_equal);
		struct lqn_task *task = service->task;
		double response = 0, rate, n;
		guint paced = 0;

		if (!service->root) {
			continue;
		}
		for (guint k = 0; k < service->members->len; k++) {
			struct lqn_invocation *it = service->members->pdata[k];

			g_hash_table_add(customers, it->origin == LQN_ORIGIN_LOOP ? (gpointer) it->conn : it->actor);
			response += (double) (it->end - it->begin) / 1e9;
			paced += it->absolute;
		}
		response /= service->members->len;
		most = MAX(most, service->members->len);
		rate = service->members->len / wall;
		n = g_hash_table_size(customers);
		if (paced > OPEN_SHARE * service->members->len) {
			task->kind = LQN_TASK_OPEN;
			n = OPEN_CUSTOMERS;
		}
		task->multiplicity = (unsigned) n;
		task->think = MAX(0, n / rate - response);
		task->response = response;
	}
	if (most < CYCLES_MIN) {
		lqn_build_note(build, "no client makes more than %u requests in the window: the means rest on very little", most);
	}
}
