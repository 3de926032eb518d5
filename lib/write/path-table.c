/* SPDX-License-Identifier: MIT */

/*
 * critical-paths.tsv: every piece of every request's path, for programs. Requests come in order of
 * their begin and are numbered from 1; the pieces of one tile [begin_ns, end_ns) in order of time.
 * `thread` and `by_thread` are threads of lqn: events (id + reuse << 32; 0: nobody known), `doing` what
 * the holder of a lock did.
 */
#include "write/write.h"

#include <inttypes.h>

#include "write/text.h"

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct lqn_request_path *x = *(const struct lqn_request_path *const *) a;
	const struct lqn_request_path *y = *(const struct lqn_request_path *const *) b;

	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Names are cleaned of control characters, so none has a tab or the end of a line in it. */
static void append_name(GString *out, const char *name)
{
	g_string_append_c(out, '\t');
	lqn_text_append_clean(out, name);
}

static void append_request(GString *out, const struct lqn_request_path *request)
{
	for (unsigned i = 0; request->pieces && i < request->pieces->len; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(request->pieces, struct lqn_path_piece, i);

		g_string_append_printf(out,
			"%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s",
			request->number,
			request->begin, request->end, piece->begin, piece->end,
			lqn_path_kind_name(piece->kind));
		append_name(out, piece->task);
		g_string_append_printf(out, "\t%" PRIu64, piece->thread);
		append_name(out, piece->comm);
		append_name(out, piece->detail);
		g_string_append_printf(out, "\t%" PRIu64 "\t%" PRIu32, piece->by.thread,
			piece->by.request);
		append_name(out, piece->by.operation);
		append_name(out, piece->kind == LQN_PATH_LOCK && piece->by.thread ?
			lqn_path_kind_name(piece->by.doing) : NULL);
		g_string_append_c(out, '\n');
	}
}

GString *lqn_write_path_table(const struct lqn_path_report *report)
{
	GString *out = g_string_new("request\tbegin_ns\tend_ns\tpiece_begin_ns\tpiece_end_ns\t"
		"kind\ttask\tthread\tcomm\tdetail\tby_thread\tby_request\tby_operation\tdoing\n");
	GPtrArray *sorted = g_ptr_array_new();

	for (unsigned i = 0; report->all && i < report->all->len; i++) {
		g_ptr_array_add(sorted, g_ptr_array_index(report->all, i));
	}
	g_ptr_array_sort(sorted, by_begin);
	for (unsigned i = 0; i < sorted->len; i++) {
		append_request(out, g_ptr_array_index(sorted, i));
	}
	g_ptr_array_unref(sorted);
	return out;
}
