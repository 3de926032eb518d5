/* SPDX-License-Identifier: MIT */

/* thread-path.tsv: a row a line, for eyes and for tools that cut columns. */
#include "write/write.h"

#include <inttypes.h>

#include "write/text.h"

/* Text from the trace as one cell. */
static void append_cell(GString *out, const char *text, char end)
{
	lqn_text_append_clean(out, text);
	g_string_append_c(out, end);
}

GString *lqn_write_thread_path(const struct lqn_thread_path *path)
{
	GString *out = g_string_new("begin_ns\tend_ns\tstate\thost\ttid\tcomm\tcause\n");

	for (guint i = 0; i < path->rows->len; i++) {
		const struct lqn_thread_row *row = &g_array_index(
			path->rows, struct lqn_thread_row, i);

		g_string_append_printf(out, "%" PRId64 "\t%" PRId64 "\t%s\t", row->begin, row->end,
			lqn_thread_state_name(row->state));
		append_cell(out, row->host, '\t');
		g_string_append_printf(out, "%" PRIu32 "\t", (uint32_t) row->thread);
		append_cell(out, row->comm, '\t');
		append_cell(out, row->cause, '\n');
	}
	return out;
}
