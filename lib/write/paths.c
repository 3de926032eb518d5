/* SPDX-License-Identifier: MIT */

/*
 * critical-path.txt: where the time of requests goes, from far to near: all operations, and who
 * delays whom; an operation; single requests. A slow request says little by itself; what it has more
 * of than the typical one says what made it slow. So the tables are ordered by that difference.
 */
#include "write/write.h"

#include <inttypes.h>
#include <math.h>

#include "write/path-words.h"
#include "write/summary.h"
#include "write/text.h"

enum { NAME_WIDTH = 24, DETAIL_WIDTH = 48, WORDS_WIDTH = 90 };
enum { DELAYS_MAX = 20, PIECES_MAX = 300 };	/* lines of a table; the rest is in the JSON form */

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

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
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
	lqn_table_fixed(table, percent(row->all, sum->all), 1);
	lqn_table_fixed(table, row->typical / 1e6, 3);
	lqn_table_fixed(table, row->slow / 1e6, 3);
	lqn_table_fixed(table, percent(row->slow, sum->slow), 1);
	add_difference(table, row->slow - row->typical);
}

static void write_overview(GString *out, const struct lqn_path_group *group)
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

static void write_tasks(GString *out, const struct lqn_path_group *group)
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

/* How many pieces from one on are a wait for a lock that one thread has for one request. */
static unsigned count_like(const GArray *pieces, unsigned first)
{
	const struct lqn_path_piece *a = &g_array_index(pieces, struct lqn_path_piece, first);
	unsigned n = 1;

	for (; a->kind == LQN_PATH_LOCK && a->by.thread && first + n < pieces->len; n++) {
		const struct lqn_path_piece *b =
			&g_array_index(pieces, struct lqn_path_piece, first + n);

		if (b->kind != a->kind || b->thread != a->thread || b->detail != a->detail ||
				b->by.thread != a->by.thread || b->by.request != a->by.request) {
			break;
		}
	}
	return n;
}

/* The last of the words says what the holder did most of the time. */
static char *words_of(const GArray *pieces, unsigned first, unsigned n)
{
	struct lqn_path_piece main = g_array_index(pieces, struct lqn_path_piece, first);
	int64_t longest = 0;

	for (unsigned i = first; n > 1 && i < first + n; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(pieces, struct lqn_path_piece, i);

		if (piece->end - piece->begin > longest) {
			longest = piece->end - piece->begin;
			main = *piece;
		}
	}
	return lqn_path_piece_words(&main);
}

void lqn_paths_pieces(GString *out, const struct lqn_request_path *request)
{
	struct lqn_table table;

	lqn_table_init(&table, "rrllrll");
	lqn_table_head(&table, "at ms|for us|task|thread|id|kind|detail");
	for (unsigned i = 0, n; i < MIN(request->pieces->len, PIECES_MAX); i += n) {
		const struct lqn_path_piece *piece =
			&g_array_index(request->pieces, struct lqn_path_piece, i);
		const struct lqn_path_piece *last = piece +
			(n = count_like(request->pieces, i)) - 1;
		g_autofree char *words = words_of(request->pieces, i, n);

		lqn_table_fixed(&table, (piece->begin - request->begin) / 1e6, 3);
		lqn_table_fixed(&table, (last->end - piece->begin) / 1e3, 1);
		lqn_table_text(&table, piece->task, NAME_WIDTH);
		lqn_table_text(&table, piece->comm, NAME_WIDTH);
		lqn_table_count(&table, (uint32_t) piece->thread);	/* above: reuse of the id */
		lqn_table_text(&table, lqn_path_kind_name(piece->kind), NAME_WIDTH);
		lqn_table_text(&table, words, WORDS_WIDTH);
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
	if (request->pieces->len > PIECES_MAX) {
		g_string_append_printf(out, "  + %u more, with path-files=\"json\"\n",
			request->pieces->len - PIECES_MAX);
	}
}

/* Calls beside others, which ended before them: the request did not wait for these. */
static void write_parallel(GString *out, const struct lqn_request_path *request)
{
	for (unsigned i = 0; request->works && i < request->works->len; i++) {
		const struct lqn_path_work *work =
			&g_array_index(request->works, struct lqn_path_work, i);
		g_autofree char *name = lqn_text_clip(
			work->entry ? work->entry : work->task, NAME_WIDTH);

		if (work->slack >= 0) {
			g_string_append_printf(out, "  beside the path: %s in thread %" PRIu32
				", from ", name, (uint32_t) work->thread);
			lqn_text_append_fixed(out, (work->begin - request->begin) / 1e6, 3);
			g_string_append(out, " to ");
			lqn_text_append_fixed(out, (work->end - request->begin) / 1e6, 3);
			g_string_append(out, " ms; slack ");
			lqn_text_append_fixed(out, work->slack / 1e6, 3);
			g_string_append(out, " ms\n");
		}
	}
}

static void write_request(GString *out, const char *title, const struct lqn_request_path *request)
{
	g_string_append_printf(out, "\n%s: request %" PRIu32 ", ", title, request->number);
	lqn_text_append_fixed(out, (request->end - request->begin) / 1e6, 3);
	g_string_append(out, " ms, from ");
	lqn_text_append_instant(out, request->begin);
	g_string_append_printf(
		out, " on, client thread %" PRIu32 "\n\n", (uint32_t) request->thread);
	lqn_paths_pieces(out, request);
	write_parallel(out, request);
}

static void write_requests(GString *out, const struct lqn_path_group *group)
{
	unsigned n = group->kept ? group->kept->len : 0, letter = 'a';

	if (group->typical) {
		write_request(out, "3a. A typical request (nearest to the median)", group->typical);
	}
	if (group->slow && !(group->slow->kept & LQN_KEPT_SLOWEST)) {
		write_request(out, "3b. A slow request (nearest to p95)", group->slow);
		letter++;
	}
	for (unsigned i = n, place = 1; i > 0; i--) {
		const struct lqn_request_path *request = g_ptr_array_index(group->kept, i - 1);

		if (request->kept & LQN_KEPT_SLOWEST) {
			g_autofree char *title = place == 1 ? g_strdup("The slowest request") :
				g_strdup_printf("The slowest but %u", place - 1);
			g_autofree char *numbered = g_strdup_printf("3%c. %s",
				letter < 'z' ? (int) ++letter : 'z', title);

			write_request(out, numbered, request);
			place++;
		}
	}
}

static void append_ms(GString *out, const char *name, double ns)
{
	g_string_append(out, name);
	lqn_text_append_short(out, ns / 1e6);
}

static void write_group(GString *out, const struct lqn_path_group *group)
{
	g_autofree char *name = lqn_path_group_words(group);

	g_string_append_printf(out, "\n== %s: %" PRIu64 " request%s", name, group->requests,
		group->requests == 1 ? "" : "s");
	append_ms(out, ", ms: mean ", group->mean);
	append_ms(out, ", p50 ", group->p50);
	append_ms(out, ", p95 ", group->p95);
	append_ms(out, ", p99 ", group->p99);
	append_ms(out, ", max ", group->max);
	g_string_append(out, " ==\n\n");
	write_overview(out, group);
	write_tasks(out, group);
	write_requests(out, group);
}

/* ---- all operations ---- */

/* What the slow requests of an operation have most of that the typical have not. */
static char *main_difference(const struct lqn_path_group *group)
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

static void write_operations(GString *out, const struct lqn_path_report *report)
{
	struct lqn_table table;

	g_string_append(out, "\nResponse times in ms, and what slow requests have most of that typical "
		"ones have not\n\n");
	lqn_table_init(&table, "lrrrrrrl");
	lqn_table_head(&table, "operation|requests|mean|p50|p95|p99|max|slow - typical");
	for (unsigned i = 0; i < report->groups->len; i++) {
		const struct lqn_path_group *group = g_ptr_array_index(report->groups, i);

		lqn_table_take(&table, lqn_path_group_words(group));
		lqn_table_count(&table, group->requests);
		lqn_table_short(&table, group->mean / 1e6);
		lqn_table_short(&table, group->p50 / 1e6);
		lqn_table_short(&table, group->p95 / 1e6);
		lqn_table_short(&table, group->p99 / 1e6);
		lqn_table_short(&table, group->max / 1e6);
		lqn_table_take(&table, main_difference(group));
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
}

/* `sleep 61 %, cpu 30 %`: what holders did. */
static char *list_doing(const struct lqn_path_delay *delay)
{
	GString *text = g_string_new(NULL);

	for (unsigned kind = 0; delay->kind == LQN_PATH_LOCK && kind < LQN_PATH_KINDS; kind++) {
		double share = percent(delay->doing[kind], delay->sum);

		if (share >= 5) {
			g_string_append_printf(text, "%s%s ", text->len ? ", " : "",
				lqn_path_kind_name((enum lqn_path_kind) kind));
			lqn_text_append_fixed(text, share, 0);
			g_string_append(text, " %");
		}
	}
	return g_string_free(text, FALSE);
}

static void write_delays(GString *out, const struct lqn_path_report *report)
{
	unsigned shown = MIN(report->delays->len, DELAYS_MAX);
	struct lqn_table table;

	if (shown == 0) {
		return;
	}
	g_string_append(out, "\nWho delays whom: what stood in the way of requests and was not done for "
		"them\n\n");
	lqn_table_init(&table, "lllllrrrl");
	lqn_table_head(&table, "operation|in task|waits|behind task|of operation|ms in all|requests|"
		"ms each|meanwhile");
	for (unsigned i = 0; i < shown; i++) {
		const struct lqn_path_delay *delay =
			&g_array_index(report->delays, struct lqn_path_delay, i);
		g_autofree char *detail = lqn_text_clip(delay->detail, NAME_WIDTH);

		lqn_table_text(&table, delay->operation, NAME_WIDTH);
		lqn_table_text(&table, delay->task, NAME_WIDTH);
		lqn_table_take(&table, g_strdup_printf("%s%s%s", lqn_path_kind_name(delay->kind),
			*detail ? " " : "", detail));
		lqn_table_text(&table, delay->by_task, NAME_WIDTH);
		lqn_table_text(&table, delay->by_operation ? delay->by_operation : "-", NAME_WIDTH);
		lqn_table_short(&table, delay->sum / 1e6);
		lqn_table_count(&table, delay->requests);
		lqn_table_short(&table, delay->sum / 1e6 / (double) MAX(delay->requests, 1));
		lqn_table_take(&table, list_doing(delay));
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
	if (report->delays->len > shown) {
		g_string_append_printf(out, "  + %u more, with path-files=\"json\"\n",
			report->delays->len - shown);
	}
}

GString *lqn_write_paths(const struct lqn_path_report *report)
{
	GString *out = g_string_new("Critical paths: at every instant between request and reply, "
		"what the reply waited for\n\n"
		"  cpu        a thread ran for the request\n"
		"  runnable   it was ready to run, all CPUs were busy; the detail's thread had its CPU\n"
		"  wake-up    it was woken and a CPU was idle: the way from sleep to running\n"
		"  preempted  it was ready to run, the detail's thread ran in its place\n"
		"  interrupted  it had the CPU, the detail's interrupt or softirq ran on top of it\n"
		"  lock       it waited for a lock; the detail says who held it, and what he did\n"
		"  disk       a device served its request; disk queue: it served another's first\n"
		"  sleep, network   it waited for a timer, a message under way\n"
		"  queue      the message had come, nobody had taken it yet: who took it was busy\n"
		"  broker     a message had been published, and the broker not delivered it yet\n"
		"  untraced   it waited for somebody whom the trace does not show\n"
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
	write_operations(out, report);
	write_delays(out, report);
	for (unsigned i = 0; i < report->groups->len; i++) {
		write_group(out, g_ptr_array_index(report->groups, i));
	}
	lqn_paths_messages(out, report);
	return out;
}
