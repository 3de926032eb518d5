/* SPDX-License-Identifier: MIT */

/* Locks, disks, and delays in the summary. */
#include "write/summary.h"

#include <math.h>

#include "write/text.h"

/* Mean ms that an invocation holds the task. Nested calls only where the service time is known. */
static double mean_hold(const struct lqn_task *task)
{
	double sum = 0, weight = 0;

	for (unsigned i = 0; i < task->entries->len; i++) {
		const struct lqn_entry *entry = g_ptr_array_index(task->entries, i);
		double hold = entry->phase[0].demand + entry->phase[0].think;

		sum += entry->throughput * 1e3 * (entry->service >= 0 ? entry->service : hold);
		weight += entry->throughput;
	}
	return weight > 0 ? sum / weight : 0;
}

/* Half width of its 95 % interval in ms; < 0: not known. */
static double hold_confidence(const struct lqn_task *task)
{
	double squares = 0, weight = 0;

	for (unsigned i = 0; i < task->entries->len; i++) {
		const struct lqn_entry *entry = g_ptr_array_index(task->entries, i);
		double part = entry->throughput * 1e3 * entry->service_ci;

		if (entry->service_ci < 0) {
			return -1;
		}
		squares += part * part;
		weight += entry->throughput;
	}
	return weight > 0 ? sqrt(squares) / weight : -1;
}

/* `held 0.810 ± 0.031 ms by up to 3, 904 per s` */
static char *lock_text(const struct lqn_task *task)
{
	double confidence = hold_confidence(task);
	GString *text = g_string_new("held ");

	lqn_text_append_short(text, mean_hold(task));
	if (confidence >= 0) {
		g_string_append(text, " ± ");
		lqn_text_append_short(text, confidence);
	}
	g_string_append(text, " ms");
	if (task->multiplicity > 1) {
		g_string_append_printf(text, " by up to %u", task->multiplicity);
	}
	g_string_append(text, ", ");
	lqn_text_append_short(text, task->throughput);
	g_string_append(text, " per s");
	return g_string_free(text, FALSE);
}

static char *time_text(const struct lqn_task *task)
{
	GString *text = g_string_new(task->kind == LQN_TASK_DISK ? "service " : NULL);

	lqn_text_append_short(text, mean_hold(task));
	g_string_append(text, " ms, ");
	lqn_text_append_short(text, task->throughput);
	g_string_append(text, " per s");
	return g_string_free(text, FALSE);
}

void lqn_summary_resources(GString *out, const struct lqn_model *model)
{
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = g_ptr_array_index(model->processors, i);

		for (unsigned k = 0; k < processor->tasks->len; k++) {
			const struct lqn_task *task = g_ptr_array_index(processor->tasks, k);
			g_autofree char *name = lqn_text_clip(task->name, LQN_SUMMARY_NAME), *text = NULL;

			if (task->kind == LQN_TASK_LOCK || task->kind == LQN_TASK_DISK || task->kind == LQN_TASK_DELAY) {
				text = task->kind == LQN_TASK_LOCK ? lock_text(task) : time_text(task);
				g_ptr_array_add(parts, g_strconcat(name, " ", text, NULL));
			}
		}
	}
	lqn_summary_print(out, "resources", parts, "; ", 2);
}
