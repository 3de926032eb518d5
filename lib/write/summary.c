/* SPDX-License-Identifier: MIT */

/*
 * What a person reads on the terminal in half a minute: at most about 45 lines of 100 columns.
 * Lists are capped and say how much they leave out; everything is in the files.
 */
#include "write/write.h"

#include <math.h>
#include <string.h>

#include "write/summary.h"
#include "write/text.h"

enum { MAX_CLIENTS = 2, MAX_NOTES = 3, MAX_HIDDEN = 4 };

static bool is_workload(const struct lqn_task *task)
{
	static const bool workload[] = {
		[LQN_TASK_SERVER] = true, [LQN_TASK_CLIENT] = true, [LQN_TASK_OPEN] = true,
		[LQN_TASK_LOOP] = true,
	};

	return (unsigned) task->kind < G_N_ELEMENTS(workload) && workload[task->kind];
}

static bool is_source(const struct lqn_task *task)
{
	return task->kind == LQN_TASK_CLIENT || task->kind == LQN_TASK_OPEN;
}

/* The model's tasks that `select` takes, callers first; struct lqn_task, borrowed. */
static GPtrArray *select_tasks(const struct lqn_model *model,
	bool (*select)(const struct lqn_task *))
{
	GPtrArray *tasks = g_ptr_array_new();
	int refs = 0;

	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		for (unsigned t = 0; t < proc->tasks->len; t++) {
			struct lqn_task *task = g_ptr_array_index(proc->tasks, t);

			if (select(task)) {
				g_ptr_array_insert(
					tasks, task->sched == LQN_SCHED_REF ? refs++ : -1, task);
			}
		}
	}
	return tasks;
}

static int compare_load(const void *a, const void *b)
{
	const struct lqn_task *x = *(struct lqn_task *const *) a;
	const struct lqn_task *y = *(struct lqn_task *const *) b;

	if ((x->sched == LQN_SCHED_REF) != (y->sched == LQN_SCHED_REF)) {
		return x->sched == LQN_SCHED_REF ? -1 : 1;
	}
	if (x->utilization != y->utilization) {
		return x->utilization < y->utilization ? 1 : -1;
	}
	return strcmp(x->name, y->name);
}

static void print_window(GString *out, const struct lqn_model *model)
{
	GString *text = g_string_new(NULL);
	double seconds = (double) model->window_ns / 1e9;
	/* ten years since the clock's zero: that zero is 1970 */
	bool is_date = model->window_begin > INT64_C(315360000000000000);

	g_string_append_printf(text, "%s, ", model->name);
	lqn_text_append_short(text, seconds);
	g_string_append(text, " s");
	if (model->window_reason) {
		g_string_append_printf(text, ": %s", model->window_reason);
	}
	lqn_summary_words(out, "model", text->str, 2);
	g_string_truncate(text, 0);
	lqn_text_append_instant(text, model->window_begin);
	g_string_append(text, " to ");
	lqn_text_append_instant(text, model->window_end);
	if (is_date) {
		g_autoptr(GDateTime) begin =
			g_date_time_new_from_unix_utc(model->window_begin / 1000000000);
		g_autofree char *date =
			begin ? g_date_time_format(begin, "%Y-%m-%d %H:%M:%S") : NULL;

		g_string_append_printf(text, " (from %s UTC on)", date ? date : "?");
	}
	lqn_summary_words(out, "window", text->str, 1);
	g_string_free(text, TRUE);
}

static void print_processors(GString *out, const struct lqn_model *model)
{
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);
		unsigned cores = MAX(proc->multiplicity, 1);
		double values[] = { cores, proc->utilization, 100 * proc->utilization / cores,
			proc->interrupts };

		if (proc->sched == LQN_SCHED_INF || proc->utilization < 0) {
			continue;
		}
		if (cores == 1) {
			lqn_summary_add(parts, proc->name, "busy #", &values[1]);
		} else if (proc->interrupts > 0) {
			lqn_summary_add(parts, proc->name, "@ cores, # busy (@ %, # in interrupts)",
				values);
		} else {
			lqn_summary_add(parts, proc->name, "@ cores, # busy (@ %)", values);
		}
	}
	lqn_summary_print(out, "processors", parts, "; ", 2);
}

static void print_clients(GString *out, const struct lqn_model *model)
{
	GPtrArray *tasks = select_tasks(model, is_source);

	for (unsigned i = 0; i < tasks->len && i < MAX_CLIENTS; i++) {
		const struct lqn_task *task = g_ptr_array_index(tasks, i);
		GPtrArray *parts = lqn_summary_parts_new();
		double values[] = { task->multiplicity, task->throughput,
			task->response < 0 ? -1 : task->response * 1e3, task->think * 1e3 };

		lqn_summary_add(parts, task->name, task->kind == LQN_TASK_OPEN ?
			"open: arrivals # per s, response # ms" :
			"× @: # per s, response # ms, think # ms",
			task->kind == LQN_TASK_OPEN ? &values[1] : values);
		lqn_summary_print(out, i ? "" : "clients", parts, "", 1);
	}
	lqn_summary_more(out, LQN_SUMMARY_INDENT, tasks->len, MIN(tasks->len, MAX_CLIENTS), "clients");
	g_ptr_array_unref(tasks);
}

static void print_blocked(GString *out, const struct lqn_model *model)
{
	GPtrArray *parts = lqn_summary_parts_new();
	double all = model->blocked_seconds;
	double unknown = model->unexplained_seconds + model->hidden_seconds;
	GString *head = g_string_new(NULL);
	g_autofree char *text = lqn_summary_sentence(" % of # s have a known cause (# s have not): ",
		(double[]) { all, unknown });

	g_string_printf(head, "%-*s", LQN_SUMMARY_INDENT, "blocked");
	/* 99.96 % must not read as 100 % while something is unexplained */
	lqn_text_append_fixed(
		head, all > 0 ? floor(1000 * MAX(all - unknown, 0) / all) / 10 : 100, 1);
	g_string_append(head, text);
	for (unsigned i = 0; i < model->blocked->len; i++) {
		const struct lqn_blocked *blocked = g_ptr_array_index(model->blocked, i);

		if (blocked->seconds >= 0.0005) {
			lqn_summary_add(parts, blocked->cause, "# s", &blocked->seconds);
		}
	}
	if (all > 0) {
		lqn_text_wrap(out, head->str, parts, ", ", LQN_SUMMARY_INDENT, LQN_SUMMARY_WIDTH, 2);
	}
	g_string_free(head, TRUE);
	g_ptr_array_unref(parts);
}

/* What nothing explains but that somebody ended it: for each a queue at him. */
static void print_hidden(GString *out, const struct lqn_model *model)
{
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; i < model->hidden->len && i < MAX_HIDDEN; i++) {
		const struct lqn_blocked *hidden = g_ptr_array_index(model->hidden, i);
		double values[] = { hidden->seconds, (double) hidden->waits };

		if (hidden->seconds >= 0.0005) {
			lqn_summary_add(parts, hidden->cause, "# s (@ waits)", values);
		}
	}
	if (parts->len > 0) {
		g_autofree char *head = g_strdup_printf("%-*s%s", LQN_SUMMARY_INDENT, "hidden", "queues at ");

		lqn_text_wrap(out, head, parts, ", ", LQN_SUMMARY_INDENT, LQN_SUMMARY_WIDTH, 2);
	}
	g_ptr_array_unref(parts);
}

static void print_notes(GString *out, const struct lqn_model *model)
{
	for (unsigned i = 0; i < model->notes->len && i < MAX_NOTES; i++) {
		lqn_summary_words(out, i ? "" : "notes", g_ptr_array_index(model->notes, i), 2);
	}
	lqn_summary_more(out, LQN_SUMMARY_INDENT, model->notes->len, MIN(model->notes->len, MAX_NOTES), "notes");
}

static void print_background(GString *out, const struct lqn_model *model)
{
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; i < model->background->len; i++) {
		g_ptr_array_add(parts, lqn_text_clean(g_ptr_array_index(model->background, i)));
	}
	lqn_summary_print(out, "background", parts, ", ", 1);
}

GString *lqn_write_summary(const struct lqn_model *model, const struct lqn_path_report *report)
{
	GString *out = g_string_new(NULL);
	GPtrArray *tasks = select_tasks(model, is_workload);

	if (tasks->len > LQN_SUMMARY_TASKS) {
		g_ptr_array_sort(tasks, compare_load);	/* what is left out is what matters least */
	}
	if (model->partial) {
		g_autofree char *text = g_strdup_printf("%s; this is of what had come by then",
			model->partial);

		lqn_summary_words(out, "PARTIAL", text, 2);
	}
	print_window(out, model);
	g_string_append_c(out, '\n');
	lqn_summary_tasks(out, tasks);
	g_string_append_c(out, '\n');
	lqn_summary_entries(out, tasks);
	g_string_append_c(out, '\n');
	print_processors(out, model);
	print_clients(out, model);
	lqn_summary_resources(out, model);
	if (model->checks) {
		lqn_summary_checks(out, model->checks);
	}
	if (report) {
		lqn_summary_requests(out, report);
		lqn_summary_delays(out, report);
	}
	lqn_summary_messages(out, model);
	print_blocked(out, model);
	print_hidden(out, model);
	print_background(out, model);
	print_notes(out, model);
	g_ptr_array_unref(tasks);
	return out;
}
