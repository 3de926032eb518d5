/* SPDX-License-Identifier: MIT */

/* The tables of the summary: what tasks there are, and what they do. */
#include "write/summary.h"

#include <math.h>

#include "write/terms.h"
#include "write/text.h"

enum { ENTRY_WIDTH = 22, MAX_TASKS = LQN_SUMMARY_TASKS, MAX_ENTRIES = 9 };

void lqn_summary_tasks(GString *out, const GPtrArray *tasks)
{
	unsigned shown = MIN(tasks->len, MAX_TASKS);
	struct lqn_table table;

	lqn_table_init(&table, "llrlrr");
	lqn_table_head(&table, "task|kind|threads|processor|per s|CPUs busy");
	for (unsigned i = 0; i < shown; i++) {
		const struct lqn_task *task = g_ptr_array_index(tasks, i);

		lqn_table_text(&table, task->name, LQN_SUMMARY_NAME);
		lqn_table_text(&table, lqn_task_kind_name(task->kind), LQN_SUMMARY_NAME);
		if (task->sched == LQN_SCHED_INF) {
			lqn_table_text(&table, "any", LQN_SUMMARY_NAME);
		} else {
			lqn_table_count(&table, task->multiplicity);
		}
		lqn_table_text(&table, task->processor->name, LQN_SUMMARY_NAME);
		lqn_table_short(&table, task->throughput);
		lqn_table_fixed(&table, task->utilization, 3);
	}
	lqn_table_print(&table, out, 0, LQN_SUMMARY_WIDTH);
	lqn_table_clear(&table);
	lqn_summary_more(out, 0, tasks->len, shown, "tasks");
}

/* `→ app_get ×1.50, ⇢ log_put ×1.00, ↷ db_query ×0.30`; both phases together. */
static char *list_calls(const struct lqn_entry *entry)
{
	static const char *const arrows[] = {
		[LQN_SYNC] = "→", [LQN_ASYNC] = "⇢", [LQN_FORWARD] = "↷"
	};
	GArray *calls = lqn_entry_merge_calls(entry);
	GString *out = g_string_new(NULL);

	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call =
			&g_array_index(calls, struct lqn_merged_call, i);
		g_autofree char *dest = lqn_text_clip(call->dest->name, ENTRY_WIDTH);
		double mean = call->mean[0] + call->mean[1];

		if (call->dest == entry->loop) {
			continue;
		}
		g_string_append_printf(out, "%s%s %s ×", out->len > 0 ? ", " : "", arrows[call->kind], dest);
		lqn_text_append_fixed(out, mean, mean < 0.1 ? 4 : 2);
	}
	g_array_unref(calls);
	return g_string_free(out, FALSE);
}

/* That of a loop is the entry's: it is where it computes. */
static char *list_demand(const struct lqn_entry *entry)
{
	const struct lqn_entry *where = entry->loop ? entry->loop : entry;
	double times = entry->loop ? entry->loop->throughput / entry->throughput : 1;
	GString *out = g_string_new(NULL);

	for (unsigned phase = 0; phase < lqn_entry_phases(where); phase++) {
		g_string_append(out, phase ? " + " : "");
		lqn_text_append_fixed(out, where->phase[phase].demand * times * 1e3, 3);
	}
	return g_string_free(out, FALSE);
}

void lqn_summary_entries(GString *out, const GPtrArray *tasks)
{
	unsigned all = 0, shown = 0;
	struct lqn_table table;

	lqn_table_init(&table, "lrrrl");
	lqn_table_head(
		&table, "entry|per s|CPU ms|service ms|calls (→ waits, ⇢ does not, ↷ hands over)");
	for (unsigned i = 0; i < tasks->len; i++) {
		const struct lqn_task *task = g_ptr_array_index(tasks, i);

		for (unsigned e = 0; task->kind != LQN_TASK_LOOP && e < task->entries->len; e++, all++) {
			const struct lqn_entry *entry = g_ptr_array_index(task->entries, e);

			if (shown == MAX_ENTRIES) {
				continue;
			}
			shown++;
			lqn_table_text(&table, entry->name, ENTRY_WIDTH);
			lqn_table_short(&table, entry->throughput);
			lqn_table_take(&table, list_demand(entry));
			lqn_table_short(&table, entry->service < 0 ? NAN : entry->service * 1e3);
			lqn_table_take(&table, list_calls(entry));
		}
	}
	lqn_table_print(&table, out, 0, LQN_SUMMARY_WIDTH);
	lqn_table_clear(&table);
	lqn_summary_more(out, 0, all, shown, "entries");
}
