/* SPDX-License-Identifier: MIT */

/* What the summary says of critical paths. */
#include "write/summary.h"

#include <inttypes.h>

#include "write/path-words.h"
#include "write/text.h"

enum { MAX_GROUPS = 1, MAX_DELAYS = 3 };

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
	g_autofree char *sum = lqn_summary_sentence("# ms: ", (double[]) { whole / 1e6 });
	GString *head = g_string_new(NULL);
	GArray *parts;

	if (request && request->pieces && whole > 0) {
		parts = sum_pieces(request);
		for (unsigned i = 0; i < parts->len; i++) {
			const struct part *part = &g_array_index(parts, struct part, i);
			g_autofree char *task = lqn_text_clip(part->task, LQN_SUMMARY_NAME);
			g_autofree char *text = lqn_summary_sentence(" # (", (double[]) { part->ns / 1e6 });

			g_ptr_array_add(texts, g_strdup_printf("%s %s%s%.0f %%)", task,
				lqn_path_kind_name(part->kind), text, 100 * part->ns / whole));
		}
		g_array_unref(parts);
		g_string_append_printf(head, "  %-*s%s", LQN_SUMMARY_INDENT - 2, label, sum);
		lqn_text_wrap(out, head->str, texts, ", ", LQN_SUMMARY_INDENT, LQN_SUMMARY_WIDTH, 2);
	}
	g_string_free(head, TRUE);
	g_ptr_array_unref(texts);
}

void lqn_summary_requests(GString *out, const struct lqn_path_report *report)
{
	for (unsigned i = 0; i < report->groups->len && i < MAX_GROUPS; i++) {
		const struct lqn_path_group *group = g_ptr_array_index(report->groups, i);
		GString *text = g_string_new(NULL);
		g_autofree char *name = lqn_path_group_words(group);
		g_autofree char *times = lqn_summary_sentence("mean # ms, p95 # ms, longest # ms",
			(double[]) { group->mean / 1e6, group->p95 / 1e6, group->max / 1e6 });

		g_string_append_printf(text, "%s, %" PRIu64 " requests: %s", name,
			group->requests, times);
		if (report->groups->len > MAX_GROUPS) {
			g_string_append_printf(text, " (%u more operations in critical-path.txt)",
				report->groups->len - MAX_GROUPS);
		}
		lqn_summary_words(out, "requests", text->str, 2);
		print_request(out, "typical", group->typical);
		print_request(out, "slow", group->slow);
		g_string_free(text, TRUE);
	}
}

void lqn_summary_delays(GString *out, const struct lqn_path_report *report)
{
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; i < MIN(report->delays->len, MAX_DELAYS); i++) {
		const struct lqn_path_delay *delay =
			&g_array_index(report->delays, struct lqn_path_delay, i);
		g_autofree char *task = lqn_text_clip(delay->task, LQN_SUMMARY_NAME);
		g_autofree char *detail = lqn_text_clip(delay->detail, LQN_SUMMARY_NAME);
		g_autofree char *by = lqn_text_clip(delay->by_task, LQN_SUMMARY_NAME);
		g_autofree char *of = delay->by_operation == delay->operation ? g_strdup("") :
			lqn_text_clip(delay->by_operation, LQN_SUMMARY_NAME);
		g_autofree char *times = lqn_summary_sentence(
			" # s", (double[]) { delay->sum / 1e9 });

		g_ptr_array_add(parts, g_strdup_printf("%s %s%s%s behind %s%s%s%s", task,
			lqn_path_kind_name(delay->kind), *detail ? " " : "", detail, by,
			*of ? " of " : "", of, times));
	}
	lqn_summary_print(out, "delayed", parts, ", ", 2);
}
