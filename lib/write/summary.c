/* SPDX-License-Identifier: MIT */

/*
 * What a person reads on the terminal in half a minute: at most about 45 lines of 100 columns.
 * Lists are capped and say how much they leave out; everything is in the files.
 */
#include "write/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "write/path-words.h"
#include "write/summary.h"
#include "write/terms.h"
#include "write/text.h"

enum {
	WIDTH = LQN_SUMMARY_WIDTH, INDENT = LQN_SUMMARY_INDENT, NAME_WIDTH = LQN_SUMMARY_NAME, ENTRY_WIDTH = 22,
	MAX_TASKS = 8, MAX_ENTRIES = 9, MAX_CLIENTS = 2, MAX_NOTES = 3, MAX_GROUPS = 1, MAX_HIDDEN = 4,
	MAX_DELAYS = 3,
};

/*
 * `format` where `#` stands for the next value with about three digits, `@` for the next one as a
 * whole number; a negative value is `?`. Free with g_free.
 */
static char *sentence(const char *format, const double *values)
{
	GString *out = g_string_new(NULL);

	for (const char *p = format; *p; p++) {
		if (*p != '#' && *p != '@') {
			g_string_append_c(out, *p);
			continue;
		}
		if (*values < 0) {
			g_string_append_c(out, '?');
		} else if (*p == '@') {
			lqn_text_append_fixed(out, *values, 0);
		} else {
			lqn_text_append_short(out, *values);
		}
		values++;
	}
	return g_string_free(out, FALSE);
}

GPtrArray *lqn_summary_parts_new(void)
{
	return g_ptr_array_new_with_free_func(g_free);
}

/* `name` cleaned, a blank, and the sentence. */
static void add_part(GPtrArray *parts, const char *name, const char *format, const double *values)
{
	g_autofree char *clean = lqn_text_clip(name, NAME_WIDTH);
	g_autofree char *text = sentence(format, values);

	g_ptr_array_add(parts, g_strconcat(clean, " ", text, NULL));
}

void lqn_summary_print(GString *out, const char *label, GPtrArray *parts, const char *sep, unsigned lines)
{
	g_autofree char *head = g_strdup_printf("%-*s", INDENT, label);

	if (parts->len) {
		lqn_text_wrap(out, head, parts, sep, INDENT, WIDTH, lines);
	}
	g_ptr_array_unref(parts);
}

/* Words of a sentence, to be wrapped anywhere. */
static void print_words(GString *out, const char *label, const char *text, unsigned lines)
{
	g_autofree char *clean = lqn_text_clean(text);
	g_auto(GStrv) words = g_strsplit(clean, " ", -1);
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; words[i]; i++) {
		g_ptr_array_add(parts, g_strdup(words[i]));
	}
	lqn_summary_print(out, label, parts, " ", lines);
}

static void print_more(GString *out, unsigned indent, unsigned all, unsigned shown,
	const char *what)
{
	if (all > shown) {
		g_string_append_printf(
			out, "%*s+ %u more %s\n", (int) indent, "", all - shown, what);
	}
}

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
	print_words(out, "model", text->str, 2);
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
	print_words(out, "window", text->str, 1);
	g_string_free(text, TRUE);
}

static void print_tasks(GString *out, const GPtrArray *tasks)
{
	unsigned shown = MIN(tasks->len, MAX_TASKS);
	struct lqn_table table;

	lqn_table_init(&table, "llrlrr");
	lqn_table_head(&table, "task|kind|threads|processor|per s|CPUs busy");
	for (unsigned i = 0; i < shown; i++) {
		const struct lqn_task *task = g_ptr_array_index(tasks, i);

		lqn_table_text(&table, task->name, NAME_WIDTH);
		lqn_table_text(&table, lqn_task_kind_name(task->kind), NAME_WIDTH);
		if (task->sched == LQN_SCHED_INF) {
			lqn_table_text(&table, "any", NAME_WIDTH);
		} else {
			lqn_table_count(&table, task->multiplicity);
		}
		lqn_table_text(&table, task->processor->name, NAME_WIDTH);
		lqn_table_short(&table, task->throughput);
		lqn_table_fixed(&table, task->utilization, 3);
	}
	lqn_table_print(&table, out, 0, WIDTH);
	lqn_table_clear(&table);
	print_more(out, 0, tasks->len, shown, "tasks");
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

static void print_entries(GString *out, const GPtrArray *tasks)
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
	lqn_table_print(&table, out, 0, WIDTH);
	lqn_table_clear(&table);
	print_more(out, 0, all, shown, "entries");
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
			add_part(parts, proc->name, "busy #", &values[1]);
		} else if (proc->interrupts > 0) {
			add_part(parts, proc->name, "@ cores, # busy (@ %, # in interrupts)",
				values);
		} else {
			add_part(parts, proc->name, "@ cores, # busy (@ %)", values);
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

		add_part(parts, task->name, task->kind == LQN_TASK_OPEN ?
			"open: arrivals # per s, response # ms" :
			"× @: # per s, response # ms, think # ms",
			task->kind == LQN_TASK_OPEN ? &values[1] : values);
		lqn_summary_print(out, i ? "" : "clients", parts, "", 1);
	}
	print_more(out, INDENT, tasks->len, MIN(tasks->len, MAX_CLIENTS), "clients");
	g_ptr_array_unref(tasks);
}

struct part {
	const char *task;
	enum lqn_path_kind kind;
	double ns;
};

static int compare_key(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = g_strcmp0(x->task, y->task);

	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

static int compare_time(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->ns != y->ns) {
		return x->ns < y->ns ? 1 : -1;
	}
	return compare_key(a, b);
}

/* The request's time by task and kind, most first; struct part. */
static GArray *sum_pieces(const struct lqn_request_path *request)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	unsigned kept = 0;

	for (unsigned i = 0; i < request->pieces->len; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(request->pieces, struct lqn_path_piece, i);
		struct part part = { piece->task, piece->kind, piece->end - piece->begin };

		g_array_append_val(parts, part);
	}
	g_array_sort(parts, compare_key);
	for (unsigned i = 0; i < parts->len; i++) {
		struct part *part = &g_array_index(parts, struct part, i);
		struct part *last = kept ? &g_array_index(parts, struct part, kept - 1) : NULL;

		if (last && !compare_key(last, part)) {
			last->ns += part->ns;
		} else {
			g_array_index(parts, struct part, kept++) = *part;
		}
	}
	g_array_set_size(parts, kept);
	g_array_sort(parts, compare_time);
	return parts;
}

static void print_request(GString *out, const char *label, const struct lqn_request_path *request)
{
	GPtrArray *texts = lqn_summary_parts_new();
	double whole = request ? request->end - request->begin : 0;
	g_autofree char *sum = sentence("# ms: ", (double[]) { whole / 1e6 });
	GString *head = g_string_new(NULL);
	GArray *parts;

	if (request && request->pieces && whole > 0) {
		parts = sum_pieces(request);
		for (unsigned i = 0; i < parts->len; i++) {
			const struct part *part = &g_array_index(parts, struct part, i);
			g_autofree char *task = lqn_text_clip(part->task, NAME_WIDTH);
			g_autofree char *text = sentence(" # (", (double[]) { part->ns / 1e6 });

			g_ptr_array_add(texts, g_strdup_printf("%s %s%s%.0f %%)", task,
				lqn_path_kind_name(part->kind), text, 100 * part->ns / whole));
		}
		g_array_unref(parts);
		g_string_append_printf(head, "  %-*s%s", INDENT - 2, label, sum);
		lqn_text_wrap(out, head->str, texts, ", ", INDENT, WIDTH, 2);
	}
	g_string_free(head, TRUE);
	g_ptr_array_unref(texts);
}

static void print_paths(GString *out, const struct lqn_path_report *report)
{
	for (unsigned i = 0; i < report->groups->len && i < MAX_GROUPS; i++) {
		const struct lqn_path_group *group = g_ptr_array_index(report->groups, i);
		GString *text = g_string_new(NULL);
		g_autofree char *name = lqn_path_group_words(group);
		g_autofree char *times = sentence("mean # ms, p95 # ms, longest # ms",
			(double[]) { group->mean / 1e6, group->p95 / 1e6, group->max / 1e6 });

		g_string_append_printf(text, "%s, %" PRIu64 " requests: %s", name,
			group->requests, times);
		if (report->groups->len > MAX_GROUPS) {
			g_string_append_printf(text, " (%u more operations in critical-path.txt)",
				report->groups->len - MAX_GROUPS);
		}
		print_words(out, "requests", text->str, 2);
		print_request(out, "typical", group->typical);
		print_request(out, "slow", group->slow);
		g_string_free(text, TRUE);
	}
}

/* The largest delays of requests by others. */
static void print_delays(GString *out, const struct lqn_path_report *report)
{
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; i < MIN(report->delays->len, MAX_DELAYS); i++) {
		const struct lqn_path_delay *delay =
			&g_array_index(report->delays, struct lqn_path_delay, i);
		g_autofree char *task = lqn_text_clip(delay->task, NAME_WIDTH);
		g_autofree char *detail = lqn_text_clip(delay->detail, NAME_WIDTH);
		g_autofree char *by = lqn_text_clip(delay->by_task, NAME_WIDTH);
		g_autofree char *of = delay->by_operation == delay->operation ? g_strdup("") :
			lqn_text_clip(delay->by_operation, NAME_WIDTH);
		g_autofree char *times = sentence(
			" # s", (double[]) { delay->sum / 1e9 });

		g_ptr_array_add(parts, g_strdup_printf("%s %s%s%s behind %s%s%s%s", task,
			lqn_path_kind_name(delay->kind), *detail ? " " : "", detail, by,
			*of ? " of " : "", of, times));
	}
	lqn_summary_print(out, "delayed", parts, ", ", 2);
}

static void print_blocked(GString *out, const struct lqn_model *model)
{
	GPtrArray *parts = lqn_summary_parts_new();
	double all = model->blocked_seconds;
	double unknown = model->unexplained_seconds + model->hidden_seconds;
	GString *head = g_string_new(NULL);
	g_autofree char *text = sentence(" % of # s have a known cause (# s have not): ",
		(double[]) { all, unknown });

	g_string_printf(head, "%-*s", INDENT, "blocked");
	/* 99.96 % must not read as 100 % while something is unexplained */
	lqn_text_append_fixed(
		head, all > 0 ? floor(1000 * MAX(all - unknown, 0) / all) / 10 : 100, 1);
	g_string_append(head, text);
	for (unsigned i = 0; i < model->blocked->len; i++) {
		const struct lqn_blocked *blocked = g_ptr_array_index(model->blocked, i);

		if (blocked->seconds >= 0.0005) {
			add_part(parts, blocked->cause, "# s", &blocked->seconds);
		}
	}
	if (all > 0) {
		lqn_text_wrap(out, head->str, parts, ", ", INDENT, WIDTH, 2);
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
			add_part(parts, hidden->cause, "# s (@ waits)", values);
		}
	}
	if (parts->len > 0) {
		g_autofree char *head = g_strdup_printf("%-*s%s", INDENT, "hidden", "queues at ");

		lqn_text_wrap(out, head, parts, ", ", INDENT, WIDTH, 2);
	}
	g_ptr_array_unref(parts);
}

static void print_notes(GString *out, const struct lqn_model *model)
{
	for (unsigned i = 0; i < model->notes->len && i < MAX_NOTES; i++) {
		print_words(out, i ? "" : "notes", g_ptr_array_index(model->notes, i), 2);
	}
	print_more(out, INDENT, model->notes->len, MIN(model->notes->len, MAX_NOTES), "notes");
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

	if (tasks->len > MAX_TASKS) {
		g_ptr_array_sort(tasks, compare_load);	/* what is left out is what matters least */
	}
	if (model->partial) {
		g_autofree char *text = g_strdup_printf("%s; this is of what had come by then",
			model->partial);

		print_words(out, "PARTIAL", text, 2);
	}
	print_window(out, model);
	g_string_append_c(out, '\n');
	print_tasks(out, tasks);
	g_string_append_c(out, '\n');
	print_entries(out, tasks);
	g_string_append_c(out, '\n');
	print_processors(out, model);
	print_clients(out, model);
	lqn_summary_resources(out, model);
	if (model->checks) {
		lqn_summary_checks(out, model->checks);
	}
	if (report) {
		print_paths(out, report);
		print_delays(out, report);
	}
	lqn_summary_messages(out, model);
	print_blocked(out, model);
	print_hidden(out, model);
	print_background(out, model);
	print_notes(out, model);
	g_ptr_array_unref(tasks);
	return out;
}
