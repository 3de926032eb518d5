/* SPDX-License-Identifier: MIT */

/* Messages that are passed on: a section of critical-path.txt, and a line of the summary. */
#include "write/write.h"

#include <inttypes.h>

#include "write/paths.h"
#include "write/summary.h"
#include "write/text.h"

enum { NAME_WIDTH = 24, MESSAGES_MAX = 20, MESSAGES_IN_FULL = 4, FLOWS_IN_SUMMARY = 3 };

/* `context 273, order 26`: by what it is known whose message a delivery is. */
static char *list_joined(const struct lqn_message_flow *flow)
{
	GString *text = g_string_new(NULL);

	for (unsigned how = 0; how < LQN_JOININGS; how++) {
		if (flow->joined[how] > 0) {
			g_string_append_printf(text, "%s%s %" PRIu64, text->len ? ", " : "",
				lqn_joining_name((enum lqn_joining) how), flow->joined[how]);
		}
	}
	if (flow->apart > 0) {
		g_string_append_printf(text, "; not known %" PRIu64, flow->apart);
	}
	return g_string_free(text, FALSE);
}

static void write_message(GString *out, const char *title, const struct lqn_path_message *message,
	const struct lqn_request_path *path)
{
	g_autofree char *producer = lqn_text_clip(message->flow.producer, NAME_WIDTH);
	g_autofree char *consumer = lqn_text_clip(message->flow.consumer, NAME_WIDTH);

	if (!path) {
		return;
	}
	g_string_append_printf(out, "\n%s from %s to %s, ", title, producer, consumer);
	lqn_text_append_fixed(out, (path->end - path->begin) / 1e6, 3);
	g_string_append(out, " ms with the consumer's work, from ");
	lqn_text_append_instant(out, path->begin);
	g_string_append(out, " on\n\n");
	lqn_paths_pieces(out, path);
}

void lqn_paths_messages(GString *out, const struct lqn_path_report *report)
{
	unsigned shown = MIN(report->messages->len, MESSAGES_MAX);
	struct lqn_table table;

	if (report->messages->len == 0) {
		return;
	}
	g_string_append(out, "\n== Messages that are passed on, ms: from the producer's send until the consumer works "
		"on it ==\n\n"
		"  known by   what says whose message a delivery is: spans (told by programs), context: the broker\n"
		"             delivered it while it worked for the producer (inferred), order (hypothesised)\n"
		"  stored     that part of the time in the broker in which nobody worked on it\n\n");
	lqn_table_init(&table, "lllrrrrrrrrrl");
	lqn_table_head(&table, "producer|through|consumer|messages|p50|p95|max|to it|in it|stored|to consumer|its work|known by");
	for (unsigned i = 0; i < shown; i++) {
		const struct lqn_message_flow *flow = &g_array_index(report->messages, struct lqn_path_message, i).flow;
		const double times[] = { flow->p50, flow->p95, flow->max, flow->to_broker, flow->in_broker, flow->stored,
			flow->to_consumer, flow->service };
		lqn_table_text(&table, flow->producer, NAME_WIDTH);
		lqn_table_text(&table, flow->broker, NAME_WIDTH);
		lqn_table_text(&table, flow->consumer, NAME_WIDTH);
		lqn_table_count(&table, lqn_message_flow_count(flow));
		for (unsigned k = 0; k < G_N_ELEMENTS(times); k++) {
			lqn_table_short(&table, times[k] * 1e3);
		}
		lqn_table_take(&table, list_joined(flow));
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
	if (report->messages->len > shown) {
		g_string_append_printf(out, "  + %u more, with path-files=\"json\"\n", report->messages->len - shown);
	}
	for (unsigned i = 0; i < MIN(shown, MESSAGES_IN_FULL); i++) {
		const struct lqn_path_message *message = &g_array_index(report->messages, struct lqn_path_message, i);

		write_message(out, "A typical message", message, message->typical);
		write_message(out, "The slowest message", message, message->slowest);
	}
}

void lqn_summary_messages(GString *out, const struct lqn_model *model)
{
	GPtrArray *parts = lqn_summary_parts_new();
	unsigned shown = MIN(model->messages->len, FLOWS_IN_SUMMARY);

	for (unsigned i = 0; i < shown; i++) {
		const struct lqn_message_flow *flow = &g_array_index(model->messages, struct lqn_message_flow, i);
		g_autofree char *producer = lqn_text_clip(flow->producer, NAME_WIDTH);
		g_autofree char *broker = lqn_text_clip(flow->broker, NAME_WIDTH);
		g_autofree char *consumer = lqn_text_clip(flow->consumer, NAME_WIDTH);
		GString *text = g_string_new(NULL);

		g_string_append_printf(text, "%" PRIu64 " %s → %s → %s ", lqn_message_flow_count(flow), producer, broker,
			consumer);
		lqn_text_append_short(text, flow->p50 * 1e3);
		g_string_append(text, " ms, in queue ");
		lqn_text_append_short(text, (flow->stored + flow->to_consumer) * 1e3);
		g_ptr_array_add(parts, g_string_free(text, FALSE));
	}
	if (model->messages->len > shown) {
		g_ptr_array_add(parts, g_strdup_printf("+ %u more in critical-path.txt", model->messages->len - shown));
	}
	lqn_summary_print(out, "messages", parts, "; ", FLOWS_IN_SUMMARY);
}
