/* SPDX-License-Identifier: MIT */

/*
 * critical-path.txt: where the time of requests goes, in three steps from far to near. A slow
 * request says little by itself; what it has more of than the mean one says what made it slow. So
 * the tables are ordered by that difference.
 */
#include "write/write.h"

#include <inttypes.h>
#include <math.h>

#include "write/text.h"

enum { NAME_WIDTH = 24, DETAIL_WIDTH = 48 };

struct row {
	const char *task, *detail;	/* borrowed from the shares; detail may be NULL */
	enum lqn_path_kind kind;
	double all, slow;		/* ns per request */
};

static int compare_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = g_strcmp0(x->task, y->task);

	if (!order) {
		order = (x->kind > y->kind) - (x->kind < y->kind);
	}
	return order ? order : g_strcmp0(x->detail, y->detail);
}

static int compare_difference(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double dx = x->slow - x->all, dy = y->slow - y->all;

	if (dx != dy) {
		return dx < dy ? 1 : -1;
	}
	if (x->all != y->all) {
		return x->all < y->all ? 1 : -1;
	}
	return compare_key(a, b);
}

static void add_rows(GArray *rows, const GArray *shares, bool slow, bool detail)
{
	for (unsigned i = 0; shares && i < shares->len; i++) {
		const struct lqn_path_share *share =
			&g_array_index(shares, struct lqn_path_share, i);
		struct row row = { .task = share->task, .kind = share->kind };

		row.detail = detail ? share->detail : NULL;
		*(slow ? &row.slow : &row.all) = share->mean;
		g_array_append_val(rows, row);
	}
}

/* All and slow requests, one row per task and kind (and detail), largest difference first. */
static GArray *make_rows(const struct lqn_path_group *group, bool detail)
{
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(struct row));
	unsigned kept = 0;

	add_rows(rows, group->shares, false, detail);
	add_rows(rows, group->slow_shares, true, detail);
	g_array_sort(rows, compare_key);
	for (unsigned i = 0; i < rows->len; i++) {
		struct row *row = &g_array_index(rows, struct row, i);
		struct row *last = kept ? &g_array_index(rows, struct row, kept - 1) : NULL;

		if (last && !compare_key(last, row)) {
			last->all += row->all;
			last->slow += row->slow;
		} else {
			g_array_index(rows, struct row, kept++) = *row;
		}
	}
	g_array_set_size(rows, kept);
	/* without slow requests the difference would say "least first" */
	for (unsigned i = 0; !(group->slow_shares && group->slow_shares->len) && i < kept; i++) {
		struct row *row = &g_array_index(rows, struct row, i);

		row->slow = row->all;
	}
	g_array_sort(rows, compare_difference);
	return rows;
}

static struct row sum_rows(const GArray *rows)
{
	struct row sum = { 0 };

	for (unsigned i = 0; i < rows->len; i++) {
		sum.all += g_array_index(rows, struct row, i).all;
		sum.slow += g_array_index(rows, struct row, i).slow;
	}
	return sum;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void add_difference(struct lqn_table *table, double ns)
{
	GString *cell = g_string_new(ns >= 500 ? "+" : "");

	/* what rounds to zero has no sign */
	lqn_text_append_fixed(cell, fabs(ns) < 500 ? 0 : ns / 1e6, 3);
	lqn_table_take(table, g_string_free(cell, FALSE));
}

static void add_values(struct lqn_table *table, const struct row *row, const struct row *sum)
{
	lqn_table_fixed(table, row->all / 1e6, 3);
	lqn_table_fixed(table, percent(row->all, sum->all), 1);
	lqn_table_fixed(table, row->slow / 1e6, 3);
	lqn_table_fixed(table, percent(row->slow, sum->slow), 1);
	add_difference(table, row->slow - row->all);
}

static void write_overview(GString *out, const struct lqn_path_group *group)
{
	GArray *rows = make_rows(group, false);
	struct row sum = sum_rows(rows);
	struct lqn_table table;

	g_string_append(out, "1. The mean request beside the slow ones (p95 and slower)\n\n");
	lqn_table_init(&table, "llrrrrr");
	lqn_table_head(&table, "task|kind|mean ms|%|slow ms|%|slow - mean");
	for (unsigned i = 0; i < rows->len; i++) {
		const struct row *row = &g_array_index(rows, struct row, i);

		lqn_table_text(&table, row->task, NAME_WIDTH);
		lqn_table_text(&table, lqn_path_kind_name(row->kind), NAME_WIDTH);
		add_values(&table, row, &sum);
	}
	lqn_table_text(&table, "total", NAME_WIDTH);
	lqn_table_text(&table, "", NAME_WIDTH);
	add_values(&table, &sum, &sum);
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
	g_array_unref(rows);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->all != y->all) {
		return x->all < y->all ? 1 : -1;
	}
	return g_strcmp0(x->task, y->task);
}

/* One row per task, most of the mean request's time first. */
static GArray *sum_tasks(const GArray *rows)
{
	GArray *tasks = g_array_new(FALSE, TRUE, sizeof(struct row));

	for (unsigned i = 0; i < rows->len; i++) {
		const struct row *row = &g_array_index(rows, struct row, i);
		struct row *task = NULL;

		for (unsigned t = 0; t < tasks->len && !task; t++) {
			struct row *old = &g_array_index(tasks, struct row, t);

			task = !g_strcmp0(old->task, row->task) ? old : NULL;
		}
		if (!task) {
			struct row fresh = { .task = row->task };

			g_array_append_val(tasks, fresh);
			task = &g_array_index(tasks, struct row, tasks->len - 1);
		}
		task->all += row->all;
		task->slow += row->slow;
	}
	g_array_sort(tasks, compare_tasks);
	return tasks;
}

static void add_task_rows(struct lqn_table *table, const GArray *rows, const struct row *task,
	const struct row *sum)
{
	lqn_table_text(table, task->task, NAME_WIDTH);
	add_values(table, task, sum);
	lqn_table_text(table, "", DETAIL_WIDTH);
	for (unsigned i = 0; i < rows->len; i++) {
		const struct row *row = &g_array_index(rows, struct row, i);

		if (g_strcmp0(row->task, task->task)) {
			continue;
		}
		lqn_table_take(table, g_strconcat("  ", lqn_path_kind_name(row->kind), NULL));
		add_values(table, row, sum);
		lqn_table_text(table, row->detail, DETAIL_WIDTH);
	}
}

static void write_tasks(GString *out, const struct lqn_path_group *group)
{
	GArray *rows = make_rows(group, true), *tasks = sum_tasks(rows);
	struct row sum = sum_rows(rows);
	struct lqn_table table;

	g_string_append(out, "\n2. Task by task, with what was waited for\n\n");
	lqn_table_init(&table, "lrrrrrl");
	lqn_table_head(&table, "task, kind|mean ms|%|slow ms|%|slow - mean|detail");
	for (unsigned i = 0; i < tasks->len; i++) {
		add_task_rows(&table, rows, &g_array_index(tasks, struct row, i), &sum);
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
	g_array_unref(tasks);
	g_array_unref(rows);
}

static void write_request(GString *out, const char *title, const struct lqn_request_path *request)
{
	struct lqn_table table;

	if (!request || !request->pieces) {
		return;
	}
	g_string_append_printf(out, "\n%s: ", title);
	lqn_text_append_fixed(out, (request->end - request->begin) / 1e6, 3);
	g_string_append(out, " ms, from ");
	lqn_text_append_instant(out, request->begin);
	g_string_append_printf(
		out, " on, client thread %" PRIu32 "\n\n", (uint32_t) request->thread);
	lqn_table_init(&table, "rrllrll");
	lqn_table_head(&table, "at ms|for us|task|thread|id|kind|detail");
	for (unsigned i = 0; i < request->pieces->len; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(request->pieces, struct lqn_path_piece, i);

		lqn_table_fixed(&table, (piece->begin - request->begin) / 1e6, 3);
		lqn_table_fixed(&table, (piece->end - piece->begin) / 1e3, 1);
		lqn_table_text(&table, piece->task, NAME_WIDTH);
		lqn_table_text(&table, piece->comm, NAME_WIDTH);
		lqn_table_count(&table, (uint32_t) piece->thread);	/* above: reuse of the id */
		lqn_table_text(&table, lqn_path_kind_name(piece->kind), NAME_WIDTH);
		lqn_table_text(&table, piece->detail, DETAIL_WIDTH);
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
}

static void append_ms(GString *out, const char *name, double ns)
{
	g_string_append(out, name);
	lqn_text_append_short(out, ns / 1e6);
}

static void write_group(GString *out, const struct lqn_path_group *group)
{
	g_autofree char *task = lqn_text_clean(group->task);

	g_string_append_printf(out, "\n== %s: %" PRIu64 " request%s", task, group->requests,
		group->requests == 1 ? "" : "s");
	append_ms(out, ", ms: mean ", group->mean);
	append_ms(out, ", p50 ", group->p50);
	append_ms(out, ", p95 ", group->p95);
	append_ms(out, ", p99 ", group->p99);
	append_ms(out, ", max ", group->max);
	g_string_append(out, " ==\n\n");
	write_overview(out, group);
	write_tasks(out, group);
	write_request(out, "3a. A typical request (nearest to the median)", group->typical);
	write_request(out, "3b. A slow request (nearest to p95)", group->slow);
}

GString *lqn_write_paths(const struct lqn_path_report *report)
{
	GString *out = g_string_new("Critical paths: at every instant between request and reply, "
		"what the reply waited for\n\n"
		"  cpu        a thread ran for the request\n"
		"  runnable   it was ready to run, all CPUs were busy\n"
		"  wake-up    it was woken and a CPU was idle: the way from sleep to running\n"
		"  preempted  it was ready to run, the detail's thread ran in its place\n"
		"  lock       it waited for a lock whose holder did not run for this request\n"
		"  disk, sleep, network   it waited for a device, a timer, a message under way\n"
		"  queue      the message had come, nobody had taken it yet\n"
		"  other      it waited, the detail says for what; unknown: nothing explains it\n");

	if (report->partial) {
		g_string_append_printf(out, "\nPARTIAL: %s; these are of what had come by then\n",
			report->partial);
	}
	if (report->not_tiled) {
		g_string_append_printf(out, "\nWARNING: the pieces of %" PRIu64 " of %" PRIu64
			" requests do not add up to the requests' times.\n", report->not_tiled,
			report->requests);
	}
	if (report->groups->len == 0) {
		g_string_append(out, "\nNo requests.\n");
		return out;
	}
	for (unsigned i = 0; i < report->groups->len; i++) {
		write_group(out, g_ptr_array_index(report->groups, i));
	}
	return out;
}
