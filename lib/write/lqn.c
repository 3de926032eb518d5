/* SPDX-License-Identifier: MIT */

/*
 * The text form of lqns: the same model as lqnx.c, line by line. Counts of sections are 0, which
 * the solvers take as "not said". Measured values are comments here.
 */
#include "write/write.h"

#include <string.h>

#include "write/terms.h"
#include "write/text.h"

static const char call_records[] = { [LQN_SYNC] = 'y', [LQN_ASYNC] = 'z', [LQN_FORWARD] = 'F' };

static void append_number(GString *out, double value)
{
	char buf[LQN_TEXT_NUMBER_SIZE];

	g_string_append_c(out, ' ');
	g_string_append(out, lqn_text_number(buf, value));
}

/* `  # text`, at the end of a line or on one of its own. */
static void append_comment(GString *out, const char *text)
{
	g_string_append(out, "  # ");
	lqn_text_append_clean(out, text);
	g_string_append_c(out, '\n');
}

static void write_head(GString *out, const struct lqn_model *model)
{
	GPtrArray *head = lqn_text_model_head(model);
	g_autofree char *name = lqn_text_clean(model->name);
	const struct lqn_solver_pragma *pragma;

	for (unsigned i = 0; i < head->len; i++) {
		g_string_append_printf(out, "# %s\n", (const char *) g_ptr_array_index(head, i));
	}
	g_ptr_array_unref(head);
	g_string_append(out, "# Comments behind `measured` are what was measured in the window.\n");
	for (unsigned i = 0; (pragma = lqn_solver_pragma(model, i)); i++) {
		g_string_append_printf(out, "#pragma %s=%s\n", pragma->param, pragma->value);
	}
	/* the comment's end cannot be quoted */
	g_strdelimit(name, "\"\\", '\'');
	g_string_append_printf(out, "G \"%s\" " LQN_SOLVER_CONVERGENCE " " LQN_SOLVER_ITERATIONS " "
		LQN_SOLVER_PRINT " " LQN_SOLVER_UNDERRELAX " -1\n", name);
}

static void append_multiplicity(GString *out, enum lqn_sched sched, unsigned count)
{
	if (sched != LQN_SCHED_INF && count > 1) {
		g_string_append_printf(out, " m %u", count);
	}
}

static void write_processors(GString *out, const struct lqn_model *model)
{
	g_string_append(out, "\nP 0\n");
	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		if (!lqn_processor_is_solvable(proc)) {
			continue;
		}
		g_string_append_printf(out, "  p %s %s", proc->name,
			lqn_sched_terms(proc->sched)->text_processor);
		append_multiplicity(out, proc->sched, proc->multiplicity);
		if (proc->utilization >= 0) {
			g_string_append(out, "  # measured: busy");
			append_number(out, proc->utilization);
		}
		g_string_append_c(out, '\n');
	}
	g_string_append(out, "-1\n");
}

static void write_task(GString *out, const struct lqn_task *task)
{
	if (task->service) {
		g_autofree char *text = g_strdup_printf("%s: %s", lqn_task_kind_name(task->kind),
			task->service);

		append_comment(out, text);
	}
	g_string_append_printf(
		out, "  t %s %s", task->name, lqn_sched_terms(task->sched)->text_task);
	for (unsigned i = 0; i < task->entries->len; i++) {
		const struct lqn_entry *entry = g_ptr_array_index(task->entries, i);

		g_string_append_printf(out, " %s", entry->name);
	}
	g_string_append_printf(out, " -1 %s", task->processor->name);
	if (task->sched == LQN_SCHED_REF) {
		g_string_append(out, " z");
		append_number(out, task->think);
	}
	append_multiplicity(out, task->sched, task->multiplicity);
	g_string_append(out, "  # measured: throughput");
	append_number(out, task->throughput);
	g_string_append(out, ", CPUs busy");
	append_number(out, task->utilization);
	g_string_append_c(out, '\n');
}

/* `  RECORD ENTRY v1 [v2] -1`, the second value only where there is a second phase. */
static void write_record(GString *out, const struct lqn_entry *entry, const char *record, double v1,
	double v2)
{
	g_string_append_printf(out, "  %s", record);
	append_number(out, v1);
	if (lqn_entry_phases(entry) > 1) {
		append_number(out, v2);
	}
	g_string_append(out, " -1\n");
}

static void write_calls(GString *out, const struct lqn_entry *entry)
{
	GArray *calls = lqn_entry_merge_calls(entry);
	bool fixed = lqn_calls_fix(calls, 0), fixed_later = lqn_calls_fix(calls, 1);

	if (fixed || fixed_later) {
		g_autofree char *kind = g_strconcat("f ", entry->name, NULL);

		write_record(out, entry, kind, fixed, fixed_later);
	}
	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call =
			&g_array_index(calls, struct lqn_merged_call, i);
		g_autofree char *record = g_strdup_printf("%c %s %s", call_records[call->kind],
			entry->name, call->dest->name);

		if (call->kind == LQN_FORWARD) {
			g_string_append_printf(out, "  %s", record);
			append_number(out, call->mean[0]);
			g_string_append(out, " -1\n");
		} else {
			write_record(out, entry, record, call->mean[0], call->mean[1]);
		}
	}
	g_array_unref(calls);
}

static void write_entry_comment(GString *out, const struct lqn_entry *entry)
{
	GString *text = g_string_new(entry->label ? entry->label : entry->name);

	g_string_append_printf(text, "; measured: %" G_GUINT64_FORMAT " invocations, throughput",
		entry->invocations);
	append_number(text, entry->throughput);
	if (entry->service >= 0) {
		g_string_append(text, ", service time");
		append_number(text, entry->service);
	}
	if (entry->phase[0].demand_ci >= 0) {
		g_string_append(text, ", 95 % confidence of the demand +/-");
		append_number(text, entry->phase[0].demand_ci);
	}
	append_comment(out, text->str);
	g_string_free(text, TRUE);
}

static double known_cvsq(const struct lqn_phase *phase)
{
	return phase->demand_cvsq >= 0 ? phase->demand_cvsq : 1;	/* the solvers' default */
}

static void write_entry(GString *out, const struct lqn_entry *entry)
{
	const struct lqn_phase *one = &entry->phase[0], *two = &entry->phase[1];
	bool second = lqn_entry_phases(entry) > 1;
	g_autofree char *demand = g_strconcat("s ", entry->name, NULL);
	g_autofree char *cvsq = g_strconcat("c ", entry->name, NULL);
	g_autofree char *think = g_strconcat("Z ", entry->name, NULL);

	g_autoptr(GPtrArray) graph = lqn_entry_graph(entry);

	write_entry_comment(out, entry);
	if (graph) {
		g_string_append_printf(out, "  A %s %s\n", entry->name, ((const struct lqn_activity *) g_ptr_array_index(graph, 0))->name);
		return;
	}
	write_record(out, entry, demand, one->demand, two->demand);
	if (one->demand_cvsq >= 0 || (second && two->demand_cvsq >= 0)) {
		write_record(out, entry, cvsq, known_cvsq(one), known_cvsq(two));
	}
	if (one->think > 0 || (second && two->think > 0)) {
		write_record(out, entry, think, one->think, two->think);
	}
	write_calls(out, entry);
}

static void write_entries(GString *out, const struct lqn_task *task)
{
	for (unsigned i = 0; i < task->entries->len; i++) {
		write_entry(out, g_ptr_array_index(task->entries, i));
	}
}

/* `  RECORD ACTIVITY value` */
static void write_value(GString *out, const char *record, const struct lqn_activity *activity, double value)
{
	g_string_append_printf(out, "  %s %s", record, activity->name);
	append_number(out, value);
	g_string_append_c(out, '\n');
}

static void write_activity(GString *out, const struct lqn_entry *entry, const struct lqn_activity *activity)
{
	const struct lqn_phase *phase = &entry->phase[0];

	write_value(out, "s", activity, activity->stage == 0 ? phase->demand : LQN_NEXT_TO_NOTHING);
	if (activity->stage == 0 && phase->demand_cvsq >= 0) {
		write_value(out, "c", activity, phase->demand_cvsq);
	}
	if (activity->stage == 0 && phase->think > 0) {
		write_value(out, "Z", activity, phase->think);
	}
	if (activity->fixed) {
		write_value(out, "f", activity, 1);
	}
	for (unsigned i = 0; i < activity->calls->len; i++) {
		const struct lqn_merged_call *call = &g_array_index(activity->calls, struct lqn_merged_call, i);

		g_string_append_printf(out, "  %c %s %s", call_records[call->kind], activity->name, call->dest->name);
		append_number(out, call->mean[0]);
		g_string_append_c(out, '\n');
	}
}

/* One side of a connection: `a`, `a + b`, or, of what is chosen from, `(0.4) a + (0.6) b`. */
static void write_side(GString *out, const GPtrArray *graph, unsigned from, unsigned count, bool choice)
{
	char buf[LQN_TEXT_NUMBER_SIZE];

	for (unsigned i = from; i < from + count; i++) {
		const struct lqn_activity *activity = g_ptr_array_index(graph, i);

		g_string_append(out, i > from ? " + " : "");
		if (choice && count > 1) {
			g_string_append_printf(out, "(%s) ", lqn_text_number(buf, activity->share));
		}
		g_string_append(out, activity->name);
	}
}

/* How activities follow each other, and which of them answer: `a -> (0.4) b + (0.6) c; b[ENTRY]; c[ENTRY]` */
static void write_connections(GString *out, const struct lqn_entry *entry, const GPtrArray *graph)
{
	unsigned before = 0, from = 0, count = lqn_graph_stage(graph, 0, &before), next;

	for (unsigned stage = 1; (next = lqn_graph_stage(graph, stage, &from)) > 0; stage++) {
		g_string_append(out, stage > 1 ? ";\n  " : "  ");
		write_side(out, graph, before, count, false);
		g_string_append(out, " -> ");
		write_side(out, graph, from, next, true);
		before = from;
		count = next;
	}
	for (unsigned i = before; i < before + count; i++) {
		g_string_append_printf(out, ";\n  %s[%s]", ((const struct lqn_activity *) g_ptr_array_index(graph, i))->name, entry->name);
	}
}

/* `A TASK`, its activities, `:`, their connections, `-1` */
static void write_graphs(GString *out, const struct lqn_task *task)
{
	g_autoptr(GString) connections = g_string_new(NULL);

	for (unsigned i = 0; i < task->entries->len; i++) {
		const struct lqn_entry *entry = g_ptr_array_index(task->entries, i);
		g_autoptr(GPtrArray) graph = lqn_entry_graph(entry);

		if (!graph) {
			continue;
		}
		if (connections->len == 0) {
			g_string_append_printf(out, "\nA %s\n", task->name);
		} else {
			g_string_append(connections, ";\n");
		}
		for (unsigned k = 0; k < graph->len; k++) {
			write_activity(out, entry, g_ptr_array_index(graph, k));
		}
		write_connections(connections, entry, graph);
	}
	if (connections->len > 0) {
		g_string_append_printf(out, "  :\n%s\n  -1\n", connections->str);
	}
}

static void write_tasks(GString *out, const struct lqn_model *model, void (*writer)(GString *, const struct lqn_task *))
{
	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		for (unsigned t = 0; t < proc->tasks->len; t++) {
			const struct lqn_task *task = g_ptr_array_index(proc->tasks, t);

			if (lqn_task_is_solvable(task)) {
				writer(out, task);
			}
		}
	}
}

GString *lqn_write_lqn(const struct lqn_model *model)
{
	GString *out = g_string_new(NULL);

	write_head(out, model);
	write_processors(out, model);
	g_string_append(out, "\nT 0\n");
	write_tasks(out, model, write_task);
	g_string_append(out, "-1\n\nE 0\n");
	write_tasks(out, model, write_entries);
	g_string_append(out, "-1\n");
	write_tasks(out, model, write_graphs);
	return out;
}
