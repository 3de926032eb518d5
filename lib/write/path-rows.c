/* SPDX-License-Identifier: MIT */

/* What the slow requests of an operation have more of than the typical ones, in tables. */
#include "write/paths.h"

#include <math.h>

#include "write/text.h"

enum { NAME_WIDTH = LQN_PATHS_NAME, DETAIL_WIDTH = 48 };

struct row {
	const char *task, *detail;	/* borrowed from the shares; detail may be NULL */
	enum lqn_path_kind kind;
	double all, typical, slow;	/* ns per request */
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
	double dx = x->slow - x->typical, dy = y->slow - y->typical;

	if (dx != dy) {
		return dx < dy ? 1 : -1;
	}
	if (x->all != y->all) {
		return x->all < y->all ? 1 : -1;
	}
	return compare_key(a, b);
}

/* One row per task and kind (and detail), largest difference first. */
static GArray *make_rows(const struct lqn_path_group *group, bool detail)
{
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(struct row));
	unsigned kept = 0;

	for (unsigned i = 0; group->shares && i < group->shares->len; i++) {
		const struct lqn_path_share *share =
			&g_array_index(group->shares, struct lqn_path_share, i);
		struct row row = { .task = share->task, .kind = share->kind,
			.detail = detail ? share->detail : NULL };

		row.all = lqn_path_share_mean(group, share, LQN_SET_ALL);
		row.typical = lqn_path_share_mean(group, share, LQN_SET_TYPICAL);
		row.slow = lqn_path_share_mean(group, share, LQN_SET_SLOW);
		g_array_append_val(rows, row);
	}
	g_array_sort(rows, compare_key);
	for (unsigned i = 0; i < rows->len; i++) {
		struct row *row = &g_array_index(rows, struct row, i);
		struct row *last = kept ? &g_array_index(rows, struct row, kept - 1) : NULL;

		if (last && !compare_key(last, row)) {
			last->all += row->all;
			last->typical += row->typical;
			last->slow += row->slow;
		} else {
			g_array_index(rows, struct row, kept++) = *row;
		}
	}
	g_array_set_size(rows, kept);
	/* without slow requests the difference would say "least first" */
	for (unsigned i = 0; !lqn_path_group_count(group, LQN_SET_SLOW) && i < kept; i++) {
		struct row *row = &g_array_index(rows, struct row, i);

		row->slow = row->typical;
	}
	g_array_sort(rows, compare_difference);
	return rows;
}

static struct row sum_rows(const GArray *rows)
{
	struct row sum = { 0 };

	for (unsigned i = 0; i < rows->len; i++) {
		sum.all += g_array_index(rows, struct row, i).all;
		sum.typical += g_array_index(rows, struct row, i).typical;
		sum.slow += g_array_index(rows, struct row, i).slow;
	}
	return sum;
}

/* ms with a sign, which what rounds to zero has not. */
static void append_difference(GString *out, double ns)
{
	g_string_append(out, ns >= 500 ? "+" : "");
	lqn_text_append_fixed(out, fabs(ns) < 500 ? 0 : ns / 1e6, 3);
}

static void add_difference(struct lqn_table *table, double ns)
{
	GString *cell = g_string_new(NULL);

	append_difference(cell, ns);
	lqn_table_take(table, g_string_free(cell, FALSE));
}

static void add_values(struct lqn_table *table, const struct row *row, const struct row *sum)
{
	lqn_table_fixed(table, row->all / 1e6, 3);
	lqn_table_fixed(table, lqn_percent(row->all, sum->all), 1);
	lqn_table_fixed(table, row->typical / 1e6, 3);
	lqn_table_fixed(table, row->slow / 1e6, 3);
	lqn_table_fixed(table, lqn_percent(row->slow, sum->slow), 1);
	add_difference(table, row->slow - row->typical);
}

void lqn_paths_overview(GString *out, const struct lqn_path_group *group)
{
	GArray *rows = make_rows(group, false);
	struct row sum = sum_rows(rows);
	struct lqn_table table;

	g_string_append(out, "1. What slow requests (p95 and slower) have that typical ones (p25 to "
		"p75) have not\n\n");
	lqn_table_init(&table, "llrrrrrr");
	lqn_table_head(&table, "task|kind|mean ms|%|typical ms|slow ms|%|slow - typical");
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
		task->typical += row->typical;
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

void lqn_paths_tasks(GString *out, const struct lqn_path_group *group)
{
	GArray *rows = make_rows(group, true), *tasks = sum_tasks(rows);
	struct row sum = sum_rows(rows);
	struct lqn_table table;

	g_string_append(out, "\n2. Task by task, with what was waited for\n\n");
	lqn_table_init(&table, "lrrrrrrl");
	lqn_table_head(&table, "task, kind|mean ms|%|typical ms|slow ms|%|slow - typical|detail");
	for (unsigned i = 0; i < tasks->len; i++) {
		add_task_rows(&table, rows, &g_array_index(tasks, struct row, i), &sum);
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
	g_array_unref(tasks);
	g_array_unref(rows);
}

char *lqn_paths_difference(const struct lqn_path_group *group)
{
	GArray *rows = make_rows(group, true);
	const struct row *row = rows->len ? &g_array_index(rows, struct row, 0) : NULL;
	GString *text = g_string_new(NULL);

	if (row && row->slow > row->typical) {
		g_autofree char *task = lqn_text_clip(row->task, NAME_WIDTH);
		g_autofree char *detail = lqn_text_clip(row->detail, NAME_WIDTH);

		g_string_printf(text, "%s %s%s%s ", task, lqn_path_kind_name(row->kind),
			*detail ? " " : "", detail);
		append_difference(text, row->slow - row->typical);
	}
	g_array_unref(rows);
	return g_string_free(text, FALSE);
}
