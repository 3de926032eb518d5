/* SPDX-License-Identifier: MIT */

/*
 * Solvers refuse a cycle of synchronous calls between tasks, and calls to a client. A call that would close one (a
 * callback, as a rule) is taken out and said so.
 */
#include "build.h"

enum colour { WHITE, GREY, BLACK };

static enum colour colour_of(GHashTable *colours, const struct lqn_task *task)
{
	return (enum colour) GPOINTER_TO_INT(g_hash_table_lookup(colours, task));
}

static void visit(struct lqn_build *build, GHashTable *colours, struct lqn_task *task)
{
	g_hash_table_insert(colours, task, GINT_TO_POINTER(GREY));
	for (guint e = 0; e < task->entries->len; e++) {
		struct lqn_entry *entry = task->entries->pdata[e];

		for (unsigned p = 0; p < 2; p++) {
			for (guint i = 0; i < entry->phase[p].calls->len;) {
				struct lqn_model_call *call = &g_array_index(entry->phase[p].calls,
					struct lqn_model_call, i);
				struct lqn_task *to = call->dest->task;

				if (to->sched == LQN_SCHED_REF || (call->kind != LQN_ASYNC && colour_of(colours, to) == GREY)) {
					lqn_build_note(build, "call %s -> %s (%.3g a time) left out: it would close a "
						"cycle of calls, which solvers refuse", entry->name, call->dest->name, call->mean);
					g_array_remove_index(entry->phase[p].calls, i);
					continue;
				}
				if (colour_of(colours, to) == WHITE) {
					visit(build, colours, to);
				}
				i++;
			}
		}
	}
	g_hash_table_insert(colours, task, GINT_TO_POINTER(BLACK));
}

void lqn_build_break_cycles(struct lqn_build *build)
{
	g_autoptr(GHashTable) colours = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint p = 0; p < build->model->processors->len; p++) {
		const struct lqn_processor *processor = build->model->processors->pdata[p];

		for (guint t = 0; t < processor->tasks->len; t++) {
			if (colour_of(colours, processor->tasks->pdata[t]) == WHITE) {
				visit(build, colours, processor->tasks->pdata[t]);
			}
		}
	}
}
