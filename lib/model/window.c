/* SPDX-License-Identifier: MIT */

/* Which part of the trace the model is of. */
#include "build.h"

/* First and last begin of a client's cycle. */
static bool cycles(struct lqn_analysis *a, int64_t *first, int64_t *last)
{
	*first = INT64_MAX;
	*last = INT64_MIN;
	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];

		if (!it->request && lqn_invocation_counts(it)) {
			*first = MIN(*first, it->begin);
			*last = MAX(*last, it->begin);
		}
	}
	return *first < *last;
}

static bool missing_mark(const char *which, const char *mark, int64_t seen, GError **error)
{
	if (!mark || seen != INT64_MIN) {
		return false;
	}
	g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_MARK,
		"No event matches the %s mark `%s`: name a system call with a path (`openat:/path`) or "
		"another event with a value (`app:phase:steady`) that the trace holds", which, mark);
	return true;
}

static bool early_end(const struct lqn_analysis *a, GError **error)
{
	if (!a->begin_mark || a->end_seen != INT64_MIN || a->early_end == INT64_MIN) {
		return false;
	}
	g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_MARK,
		"The end mark `%s` comes at %" G_GINT64_FORMAT " ns, before the begin mark `%s`, and not again after it",
		a->end_mark, a->early_end, a->begin_mark);
	return true;
}

/* As the options say; appends why. */
static void choose(struct lqn_build *build, int64_t first, int64_t last, GString *reason)
{
	const struct lqn_analysis *a = build->a;

	if (a->begin_seen != INT64_MIN) {
		build->begin = a->begin_seen;
		g_string_append_printf(reason, "from mark %s", a->begin_mark);
	} else if (a->begin != INT64_MIN) {
		build->begin = a->begin;
		g_string_append(reason, "from parameter begin");
	} else if (!a->whole && a->end_seen == INT64_MIN && a->end == INT64_MAX) {
		if (!lqn_build_steady(build)) {
			lqn_build_note(build, "no steady state: response times or rates change through the whole trace; the means "
				"are of all of it");
			g_string_append(reason, "from the first request to the last");
		} else if (build->begin == first && build->end == last) {
			g_string_append(reason, "from the first request to the last, steady throughout");
		} else {
			g_string_append_printf(reason, "steady state: without the first %.3f s and the last %.3f s of requests",
				(double) (build->begin - first) / 1e9, (double) (last - build->end) / 1e9);
		}
	} else {
		g_string_append(reason, "from the first request");
	}
	if (a->end_seen != INT64_MIN) {
		build->end = a->end_seen;
		g_string_append_printf(reason, " to mark %s", a->end_mark);
	} else if (a->end != INT64_MAX) {
		build->end = a->end;
		g_string_append(reason, " to parameter end");
	} else if (a->whole || a->begin_seen != INT64_MIN || a->begin != INT64_MIN) {
		g_string_append(reason, " to the last");
	}
}

bool lqn_build_window(struct lqn_build *build, GError **error)
{
	struct lqn_analysis *a = build->a;
	GString *reason;
	int64_t first, last;

	if (!build->asked && (missing_mark("begin", a->begin_mark, a->begin_seen, error) || early_end(a, error) ||
			missing_mark("end", a->end_mark, a->end_seen, error))) {
		return false;
	}
	if (!cycles(a, &first, &last)) {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_REQUESTS,
			"The trace shows no requests: system calls on sockets, pipes and futexes must be recorded beside "
			"sched_switch and sched_waking (lttng enable-event --kernel --syscall --all), or the clients are not traced");
		return false;
	}
	build->begin = first;
	build->end = last;
	reason = g_string_new(NULL);
	if (build->asked) {
		build->begin = build->asked->begin;
		build->end = build->asked->end;
		g_string_append(reason, "so far");
	} else {
		choose(build, first, last, reason);
	}
	build->model->window_begin = build->begin;
	build->model->window_end = build->end;
	build->model->window_reason = g_string_free(reason, FALSE);
	if (build->begin >= build->end || build->begin > last || build->end < first) {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_REQUESTS,
			"No request begins in the window of %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
			" ns: the trace's requests begin between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " ns",
			build->begin, build->end, first, last);
		return false;
	}
	return true;
}
