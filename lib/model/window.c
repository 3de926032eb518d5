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

		if (lqn_is_cycle(a, it)) {
			*first = MIN(*first, it->begin);
			*last = MAX(*last, it->begin);
		}
	}
	return *first < *last;
}

/* ---- marks ---- */

static void set_missing(GError **error, const char *which, const char *mark)
{
	g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_MARK,
		"No event matches the %s mark `%s`: name a system call with a path (`openat:/path`) or "
		"another event with a value (`app:phase:steady`) that the trace holds", which, mark);
}

/* The marks that were asked for came, in the right order. */
static bool check_marks(const struct lqn_analysis *a, GError **error)
{
	bool begun = a->windows->len > 0;
	bool ended = begun && g_array_index(a->windows, struct lqn_window, 0).end != INT64_MAX;

	if (a->begin_mark && !begun) {
		set_missing(error, "begin", a->begin_mark);
		return false;
	}
	if (a->begin_mark && !ended && a->early_end != INT64_MIN) {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_MARK,
			"The end mark `%s` comes at %" G_GINT64_FORMAT " ns, before the begin mark `%s`, and not again after it",
			a->end_mark, a->early_end, a->begin_mark);
		return false;
	}
	if (a->end_mark && !ended) {
		set_missing(error, "end", a->end_mark);
		return false;
	}
	return true;
}

/* The windows between marks; one that the trace's end left open counts if no end mark was asked for. */
static void take_marks(struct lqn_build *build)
{
	const struct lqn_analysis *a = build->a;

	for (guint i = 0; i < a->windows->len; i++) {
		struct lqn_window window = g_array_index(a->windows, struct lqn_window, i);

		if (window.end == INT64_MAX && a->end_mark) {
			lqn_build_note(build, "begin mark %s at %" G_GINT64_FORMAT " ns: no end mark comes after it; left out",
				a->begin_mark, window.begin);
			continue;
		}
		window.begin = window.begin == INT64_MIN ? build->begin : window.begin;
		window.end = window.end == INT64_MAX ? build->end : window.end;
		if (window.begin < window.end || a->windows->len == 1) {
			g_array_append_val(build->windows, window);
		}
	}
}

/* ---- the windows ---- */

bool lqn_in_one_of(const GArray *windows, int64_t ts)
{
	guint begun = LQN_COUNT_UNTIL(windows, struct lqn_window, begin, ts);

	return begun > 0 && ts < g_array_index(windows, struct lqn_window, begun - 1).end;
}

bool lqn_in_same_window(const struct lqn_build *build, int64_t a, int64_t b)
{
	return build->windows->len == 1 || LQN_COUNT_UNTIL(build->windows, struct lqn_window, begin, a) ==
		LQN_COUNT_UNTIL(build->windows, struct lqn_window, begin, b);
}

int64_t lqn_build_cpu_of(const struct lqn_build *build, const struct lqn_actor *actor)
{
	int64_t cpu = 0;

	for (guint i = 0; i < build->windows->len; i++) {
		const struct lqn_window *window = &g_array_index(build->windows, struct lqn_window, i);

		cpu += lqn_actor_cpu_at(actor, window->end) - lqn_actor_cpu_at(actor, window->begin);
	}
	return cpu;
}

/* As the options say; appends why. */
static void choose(struct lqn_build *build, int64_t first, int64_t last, GString *reason)
{
	const struct lqn_analysis *a = build->a;

	if (a->begin_mark) {
		g_string_append_printf(reason, "from mark %s", a->begin_mark);
	} else if (a->begin != INT64_MIN) {
		build->begin = a->begin;
		g_string_append(reason, "from parameter begin");
	} else if (!a->whole && !a->end_mark && a->end == INT64_MAX) {
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
	if (a->end_mark) {
		g_string_append_printf(reason, " to mark %s", a->end_mark);
	} else if (a->end != INT64_MAX) {
		build->end = a->end;
		g_string_append(reason, " to parameter end");
	} else if (a->whole || a->begin_mark || a->begin != INT64_MIN) {
		g_string_append(reason, " to the last");
	}
	take_marks(build);
	if (build->windows->len > 1) {
		g_string_append_printf(reason, ", %u times", build->windows->len);
	}
}

/* Cuts the windows to what is kept in detail. */
static void take_slices(struct lqn_build *build, GString *reason)
{
	const struct lqn_keep *keep = &build->a->keep;
	g_autoptr(GArray) windows = build->windows;
	int64_t asked = 0;

	if (keep->spacing == 0) {
		g_steal_pointer(&windows);
		return;
	}
	build->windows = g_array_new(FALSE, FALSE, sizeof(struct lqn_window));
	for (guint i = 0; i < windows->len; i++) {
		const struct lqn_window *window = &g_array_index(windows, struct lqn_window, i);
		int64_t begin = keep->first + MAX(window->begin - keep->first, 0) / keep->spacing * keep->spacing;

		asked += window->end - window->begin;
		for (; begin < window->end; begin += keep->spacing) {
			struct lqn_window slice = { MAX(begin, window->begin), MIN(begin + keep->width, window->end) };

			if (slice.begin < slice.end) {
				g_array_append_val(build->windows, slice);
			}
		}
	}
	g_string_append_printf(reason, "; of %.3f s, %u slices of %.3f s each: more detail does not fit into its %.0f MB",
		(double) asked / 1e9, build->windows->len, (double) keep->width / 1e9, (double) keep->budget / 1e6);
}

/* What the model says of its windows. */
static void account(struct lqn_build *build, GString *reason)
{
	struct lqn_model *model = build->model;
	guint n = build->windows->len;

	if (n > 0) {
		build->begin = g_array_index(build->windows, struct lqn_window, 0).begin;
		build->end = g_array_index(build->windows, struct lqn_window, n - 1).end;
	}
	for (guint i = 0; i < n; i++) {
		const struct lqn_window *window = &g_array_index(build->windows, struct lqn_window, i);

		build->wall += window->end - window->begin;
	}
	if (n > 1) {
		g_array_append_vals(model->windows, build->windows->data, n);
	}
	model->window_ns = build->wall;
	model->window_begin = build->begin;
	model->window_end = build->end;
	model->window_reason = g_string_free(reason, FALSE);
}

bool lqn_build_window(struct lqn_build *build, GError **error)
{
	struct lqn_analysis *a = build->a;
	GString *reason;
	int64_t first, last;

	if (!build->asked && !check_marks(a, error)) {
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
	build->windows = g_array_new(FALSE, FALSE, sizeof(struct lqn_window));
	reason = g_string_new(NULL);
	if (build->asked) {
		g_array_append_vals(build->windows, build->asked, 1);
		g_string_append(reason, "so far");
	} else {
		choose(build, first, last, reason);
		if (build->windows->len == 0) {
			struct lqn_window window = { build->begin, build->end };

			g_array_append_val(build->windows, window);
		}
	}
	take_slices(build, reason);
	account(build, reason);
	if (build->wall <= 0 || build->begin > last || build->end < first) {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_REQUESTS,
			"No request begins in the window of %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
			" ns: the trace's requests begin between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " ns",
			build->begin, build->end, first, last);
		return false;
	}
	return true;
}
