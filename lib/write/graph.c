/* SPDX-License-Identifier: MIT */

/*
 * Entries as graphs of activities. A phase makes calls in numbers that are always the same, or that vary geometrically: of two calls
 * in the mean, an eighth of all invocations would make five and more, and a third none. Who makes one, two, or three holds his thread
 * for far less varying times, and queues in front of it are shorter.
 */
#include "write/terms.h"

#include <math.h>

/* Of the variance that solvers assume by themselves: numbers that vary by no less are left to them. */
#define GEOMETRIC_ENOUGH 0.8
/* Means that differ by more were changed by what came after the counting. */
#define SAME 1e-6
/* lqns 5.32 takes a third choice that is followed by anything for a cycle. */
#define FORKS_MAX 3
/* Shares are multiples of it. */
#define SHARE_UNIT 1e-6

static void activity_free(gpointer data)
{
	struct lqn_activity *activity = data;

	g_free(activity->name);
	g_array_unref(activity->calls);
	g_free(activity);
}

static struct lqn_activity *add_activity(GPtrArray *graph, char *name, unsigned stage, double share)
{
	struct lqn_activity *activity = g_new0(struct lqn_activity, 1);

	activity->name = name;
	activity->stage = stage;
	activity->share = share;
	activity->calls = g_array_new(FALSE, TRUE, sizeof(struct lqn_merged_call));
	g_ptr_array_add(graph, activity);
	return activity;
}

/* Of a task that is asked without waiting for the answer, too, lqns does not find solutions. */
static bool always_answers(const struct lqn_task *task)
{
	for (unsigned i = 0; i < task->entries->len; i++) {
		if (!((const struct lqn_entry *) g_ptr_array_index(task->entries, i))->answers) {
			return false;
		}
	}
	return true;
}

/* It is known how often the calls are made, and that is not about what solvers assume. */
static bool forks(const struct lqn_merged_call *call)
{
	double mean = 0, square = 0, all = 0;

	for (unsigned k = 0; k < LQN_COUNTS; k++) {
		all += call->share[k];
		mean += k * call->share[k];
		square += (double) k * k * call->share[k];
	}
	return call->kind == LQN_SYNC && fabs(all - 1) < SAME && fabs(mean - call->mean[0]) < SAME * mean &&
		square - mean * mean < GEOMETRIC_ENOUGH * mean * (1 + mean) && !lqn_entry_passes_on(call->dest) &&
		always_answers(call->dest->task);
}

static void add_fork(GPtrArray *graph, const struct lqn_entry *entry, const struct lqn_merged_call *call, unsigned stage)
{
	unsigned last = LQN_COUNTS - 1;
	double left = 1;

	while (call->share[last] <= 0) {
		last--;
	}
	for (unsigned k = 0; k <= last; k++) {
		/* as they are printed they must be 1 together */
		double share = k < last ? round(call->share[k] / SHARE_UNIT) * SHARE_UNIT : left;
		struct lqn_activity *activity;
		struct lqn_merged_call times = *call;

		if (share < SHARE_UNIT / 2) {
			continue;
		}
		left -= share;
		activity = add_activity(graph, g_strdup_printf("%s_%u_%ux", entry->name, stage + 1, k), stage, share);
		activity->fixed = k > 0;
		times.mean[0] = k;
		if (k > 0) {
			g_array_append_val(activity->calls, times);
		}
	}
}

GPtrArray *lqn_entry_graph(const struct lqn_entry *entry)
{
	g_autoptr(GArray) calls = lqn_entry_merge_calls(entry);
	GPtrArray *graph;
	struct lqn_activity *head;
	unsigned stage = 0, left = FORKS_MAX;

	if (lqn_entry_phases(entry) > 1 || entry->task->sched == LQN_SCHED_REF || !always_answers(entry->task) ||
			lqn_entry_passes_on(entry) || lqn_calls_are_fixed(calls, 0)) {
		return NULL;
	}
	graph = g_ptr_array_new_with_free_func(activity_free);
	head = add_activity(graph, g_strdup_printf("%s_1", entry->name), stage, 1);
	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call = &g_array_index(calls, struct lqn_merged_call, i);

		if (left == 0 || !forks(call)) {
			g_array_append_val(head->calls, *call);
			continue;
		}
		left--;
		if (stage > 0) {
			stage++;
			add_activity(graph, g_strdup_printf("%s_%u", entry->name, stage + 1), stage, 1);
		}
		add_fork(graph, entry, call, ++stage);
	}
	head->fixed = lqn_calls_fix(head->calls, 0);
	if (stage == 0) {
		g_ptr_array_unref(graph);
		return NULL;
	}
	return graph;
}

unsigned lqn_graph_stage(const GPtrArray *graph, unsigned stage, unsigned *from)
{
	unsigned count = 0;

	for (unsigned i = 0; i < graph->len; i++) {
		if (((const struct lqn_activity *) g_ptr_array_index(graph, i))->stage == stage && count++ == 0) {
			*from = i;
		}
	}
	return count;
}
