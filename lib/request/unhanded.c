/* SPDX-License-Identifier: MIT */

/*
 * A thread that hands on what wants no answer wakes a worker for it, if one waits. If all are busy, one of them takes it when it has
 * done with what it works on, and nothing shows that. What a worker then does is taken for the end of its last request, until it
 * asks somebody or sleeps: from then on it is work of which nobody knew whose it is. If it answers a request, it is that one's; if it
 * waits for more work, it was for the oldest that lay there, and came while the worker was busy.
 */
#include "internal.h"

#define UNHANDED_MAX 64		/* of a process */

void lqn_unhanded_add(struct lqn_invocation *it)
{
	struct lqn_unit *unit = it->actor->unit;

	if (!unit->hands_on || !(lqn_end_is_one_way(it->conn) || lqn_is_apart(it->conn))) {
		return;
	}
	if (!unit->unhanded) {
		unit->unhanded = g_ptr_array_new();
	}
	if (unit->unhanded->len >= UNHANDED_MAX) {
		g_ptr_array_remove_index(unit->unhanded, 0);
	}
	g_ptr_array_add(unit->unhanded, it);
}

void lqn_unhanded_remove(struct lqn_invocation *it)
{
	if (it->actor->unit->unhanded) {
		g_ptr_array_remove(it->actor->unit->unhanded, it);
	}
}

/* The index of the oldest that came while the thread was busy; that of none is the number of all. */
static guint oldest(const struct lqn_actor *actor, int64_t ts)
{
	const GPtrArray *all = actor->unit->unhanded;
	guint best = all ? all->len : 0;
	int64_t since = ts;

	for (guint i = 0; all && i < all->len; i++) {
		const struct lqn_invocation *it = all->pdata[i];

		if (it->begin >= actor->idle_since && it->begin < since && !it->replied && !it->arcs && !it->into) {
			best = i;
			since = it->begin;
		}
	}
	return best;
}

void lqn_unhanded_taken(struct lqn_analysis *a, struct lqn_actor *actor, int64_t ts, int64_t cpu)
{
	struct lqn_invocation *tail = actor->current;
	guint index = oldest(actor, ts);
	int64_t since;

	if (!tail || !tail->tail_of || tail->into || !actor->unit->unhanded || index == actor->unit->unhanded->len) {
		return;
	}
	since = MAX(tail->begin, ((const struct lqn_invocation *) actor->unit->unhanded->pdata[index])->begin);
	lqn_charge(actor, MIN(lqn_actor_cpu_at(actor, since), cpu), since);
	lqn_settle(actor);
	actor->current = lqn_invocation_new(a, actor, since, NULL);
	actor->current->origin = LQN_ORIGIN_HANDOVER;
}

bool lqn_unhanded_done(struct lqn_actor *actor, int64_t ts, int64_t cpu)
{
	struct lqn_invocation *work = actor->current, *it;
	guint index = oldest(actor, ts);

	if (!work->anonymous || work->tail_of || work->into || work->origin != LQN_ORIGIN_HANDOVER || !actor->unit->unhanded ||
			index == actor->unit->unhanded->len) {
		return false;
	}
	it = g_ptr_array_remove_index(actor->unit->unhanded, index);
	lqn_charge(actor, cpu, ts);
	lqn_merge(work, it);
	it->end = MAX(it->end, ts);
	return true;
}
