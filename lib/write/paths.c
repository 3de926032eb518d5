/* SPDX-License-Identifier: MIT */

/*
 * critical-path.txt: where the time of requests goes, from far to near: all operations, and who
 * delays whom; an operation; single requests. A slow request says little by itself; what it has more
 * of than the typical one says what made it slow. So the tables are ordered by that difference.
 */
#include "write/write.h"

#include <inttypes.h>

#include "write/path-words.h"
#include "write/paths.h"
#include "write/text.h"

enum { NAME_WIDTH = LQN_PATHS_NAME };
enum { DELAYS_MAX = 20 };	/* lines of a table; the rest is in the JSON form */

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
	lqn_paths_overview(out, group);
	lqn_paths_tasks(out, group);
	lqn_paths_requests(out, group);
}

/* ---- all operations ---- */

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
		lqn_table_take(&table, lqn_paths_difference(group));
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
}

/* `sleep 61 %, cpu 30 %`: what holders did. */
static char *list_doing(const struct lqn_path_delay *delay)
{
	GString *text = g_string_new(NULL);

	for (unsigned kind = 0; delay->kind == LQN_PATH_LOCK && kind < LQN_PATH_KINDS; kind++) {
		double share = lqn_percent(delay->doing[kind], delay->sum);

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
