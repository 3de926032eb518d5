/* SPDX-License-Identifier: MIT */
#include "result/result.h"

#include "model/build.h"
#include "path/path.h"

static bool build(struct lqn_analysis *a, const struct lqn_window *asked, struct lqn_model **model,
	struct lqn_path_report **paths, GError **error)
{
	struct lqn_build build = { .a = a, .asked = asked };
	bool ok;

	if (a->events == 0) {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_EVENTS,
			"Not one `lqn:` event came: put filter.lqn.causal before this sink, or read a trace that it wrote");
		return false;
	}
	ok = lqn_model_build(&build, error);
	if (ok) {
		*paths = lqn_paths_build(&build);
		*model = g_steal_pointer(&build.model);
	}
	lqn_build_clear(&build);
	return ok;
}

bool lqn_analysis_finish(struct lqn_analysis *a, struct lqn_model **model, struct lqn_path_report **paths, GError **error)
{
	lqn_analysis_end(a);
	return build(a, NULL, model, paths, error);
}

static void go_on(struct lqn_analysis *a, bool goes_on)
{
	for (guint i = 0; i < a->hosts->len; i++) {
		((struct lqn_party *) a->hosts->pdata[i])->goes_on = goes_on;
	}
}

bool lqn_analysis_snapshot(struct lqn_analysis *a, int64_t begin, int64_t end, struct lqn_model **model,
	struct lqn_path_report **paths, GError **error)
{
	struct lqn_window asked = { begin, end };
	bool ok;

	go_on(a, true);
	ok = build(a, &asked, model, paths, error);
	go_on(a, false);
	return ok;
}
