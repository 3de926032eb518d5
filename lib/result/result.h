/* SPDX-License-Identifier: MIT */
#ifndef LQN_RESULT_RESULT_H
#define LQN_RESULT_RESULT_H

/* What comes of an analysis: a model, and the critical paths of the requests that it is of. */
#include "model/model.h"
#include "path/report.h"
#include "path/thread.h"
#include "request/analysis.h"

/*
 * After the last event: the model (free with lqn_model_free()) and the paths (lqn_path_report_free()). False with an error of
 * LQN_ANALYSIS_ERROR if there is nothing to model.
 */
bool lqn_analysis_finish(struct lqn_analysis *analysis, struct lqn_model **model, struct lqn_path_report **paths,
	GError **error);

/*
 * Likewise while events still come, for [begin, end) (ns) of what has been worked on (see lqn_analysis_advance()), whatever
 * marks and times the options name; the analysis goes on afterwards. `end` should lie a few response times behind what has been worked
 * on: a call that is not answered yet counts as one that never is. CPU time that a thread uses is known when it next leaves its CPU.
 */
bool lqn_analysis_snapshot(struct lqn_analysis *analysis, int64_t begin, int64_t end, struct lqn_model **model,
	struct lqn_path_report **paths, GError **error);

#endif
