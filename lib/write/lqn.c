/* SPDX-License-Identifier: MIT */

/*
 * The text form of lqns: the same model as lqnx.c, line by line. Counts of sections are 0, which
 * the solvers take as "not said". Measured values are comments here.
 */
#include "write/write.h"

#include <string.h>

#include "write/terms.h"
#include "write/text.h"

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
	static const char records[] = { [LQN_SYNC] = 'y', [LQN_ASYNC] = 'z', [LQN_FORWARD] = 'F' };
	GArray *calls = lqn_entry_merge_calls(entry);
	bool fixed = lqn_calls_are_fixed(calls, 0), fixed_later = lqn_calls_are_fixed(calls, 1);

	if (fixed || fixed_later) {
		g_autofree char *kind = g_strconcat("f ", entry->name, NULL);

		write_record(out, entry, kind, fixed, fixed_later);
	}
	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call =
			&g_array_index(calls, struct lqn_merged_call, i);
		g_autofree char *record = g_strdup_printf("%c %s %s", records[call->kind],
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

	write_entry_comment(out, entry);
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

static void write_section(GString *out, const struct lqn_model *model, const char *head,
	void (*writer)(GString *, const struct lqn_task *))
{
	g_string_append(out, head);
	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		for (unsigned t = 0; t < proc->tasks->len; t++) {
			const struct lqn_task *task = g_ptr_array_index(proc->tasks, t);

			if (lqn_task_is_solvable(task)) {
				writer(out, task);
			}
		}
	}
	g_string_append(out, "-1\n");
}

GString *lqn_write_lqn(const struct lqn_model *model)
{
	GString *out = g_string_new(NULL);

	write_head(out, model);
	write_processors(out, model);
	write_section(out, model, "\nT 0\n", write_task);
	write_section(out, model, "\nE 0\n", write_entries);
	return out;
}
