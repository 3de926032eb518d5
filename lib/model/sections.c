/* SPDX-License-Identifier: MIT */

/*
 * What is done while a lock is held, other than computing: calls, disk operations, other locks. The lock is held through them, so
 * they are the lock's, not the entry's beside it; else the solver would let others in meanwhile. Of a lock within a lock:
 * who waits for the inner one while it is seen to hold the outer one does so in each passage, and the entry passes the outer
 * one only.
 */
#include "build.h"

#define SEEN_MIN 3		/* fewer calls, or waits, within a lock are chance */
#define SHARE_MIN 0.02		/* of passages: likewise */
#define NESTED_MIN 0.5		/* of the waits for the inner lock that would be within seen passages of the outer one */

void lqn_section_count(GHashTable *counts, struct lqn_entry *entry)
{
	double *count = g_hash_table_lookup(counts, entry);

	if (!count) {
		count = g_new0(double, 1);
		g_hash_table_insert(counts, entry, count);
	}
	*count += 1;
}

void lqn_section_calls(struct lqn_build *build, struct lqn_cluster *cluster, struct lqn_lock_use *use,
	const struct lqn_hold_sample *sample)
{
	const struct lqn_invocation *it = lqn_final(sample->invocation);

	for (const struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
		struct lqn_cluster *to = arc->sent >= sample->begin && arc->sent < sample->begin + sample->hold ?
			lqn_build_callee(build, cluster, arc) : NULL;

		if (!to) {
			continue;
		}
		if (!use->inside) {
			use->inside = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
		}
		lqn_section_count(use->inside, to->entry);
	}
}

void lqn_section_nest(struct lqn_cluster *cluster)
{
	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];

		for (const struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
			struct lqn_lock_use *use = lqn_lock_waited_for(cluster, it, wait->word);
			struct lqn_lock_use *outer = use ? lqn_lock_waited_for(cluster, it, wait->within) : NULL;

			if (outer && outer != use && (!use->outer || use->outer == outer)) {
				use->outer = outer;
				use->within++;
			}
		}
	}
	for (guint i = 0; i < cluster->locks->len; i++) {
		struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, i), *outer = use->outer;

		if (!outer) {
			continue;
		}
		if (use->within < SEEN_MIN || (outer->outer == use && outer->within >= use->within) || (double) use->within <
				NESTED_MIN * use->waits * (double) outer->samples / (outer->passages * cluster->members->len)) {
			use->outer = NULL;
			continue;
		}
		outer->entry->phase[0].demand = MAX(outer->entry->phase[0].demand - use->cpu, 0);
		outer->entry->phase[0].think = MAX(outer->entry->phase[0].think - use->slept - use->lag, 0);
		lqn_entry_add_call(outer->entry, 0, use->entry, LQN_SYNC, use->passages / outer->passages);
	}
}

/* Moves up to `mean` calls a passage from the entry to the lock. */
static void move(struct lqn_cluster *cluster, struct lqn_lock_use *use, struct lqn_entry *dest, double mean)
{
	for (unsigned phase = 0; phase < 2; phase++) {
		GArray *calls = cluster->entry->phase[phase].calls;

		for (guint i = 0; i < calls->len; i++) {
			struct lqn_model_call *call = &g_array_index(calls, struct lqn_model_call, i);
			double moved = MIN(mean * use->passages, call->mean);

			if (call->dest != dest || call->kind == LQN_FORWARD) {
				continue;
			}
			lqn_entry_add_call(use->entry, 0, dest, call->kind, moved / use->passages);
			lqn_call_set_mean(call, call->mean - moved);
			if (call->mean < SHARE_MIN * moved) {
				g_array_remove_index(calls, i);
			}
			return;
		}
	}
}

static struct lqn_entry *disk_of(const struct lqn_cluster *cluster)
{
	for (unsigned phase = 0; phase < 2; phase++) {
		const GArray *calls = cluster->entry->phase[phase].calls;

		for (guint i = 0; i < calls->len; i++) {
			const struct lqn_model_call *call = &g_array_index(calls, struct lqn_model_call, i);

			if (call->dest->task->kind == LQN_TASK_DISK) {
				return call->dest;
			}
		}
	}
	return NULL;
}

static gint by_entry_name(gconstpointer a, gconstpointer b)
{
	const struct lqn_entry *x = a, *y = b;

	return g_strcmp0(x->name, y->name);
}

static void move_all(struct lqn_cluster *cluster, struct lqn_lock_use *use)
{
	double seen = (double) use->samples;
	g_autoptr(GList) inside = use->inside ? g_list_sort(g_hash_table_get_keys(use->inside), by_entry_name) : NULL;
	struct lqn_entry *disk = use->disks >= SHARE_MIN && use->disks * seen >= SEEN_MIN ? disk_of(cluster) : NULL;

	for (GList *it = inside; it; it = it->next) {
		double count = *(const double *) g_hash_table_lookup(use->inside, it->data);

		if (count >= SEEN_MIN && count >= SHARE_MIN * seen) {
			move(cluster, use, it->data, count / seen);
		}
	}
	if (disk) {
		move(cluster, use, disk, use->disks);
	}
}

void lqn_build_sections(struct lqn_build *build)
{
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];

			for (guint l = 0; l < cluster->locks->len; l++) {
				struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, l);

				if (!use->outer) {
					move_all(cluster, use);
				}
			}
		}
	}
}
