/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_MODEL_RESULTS_H
#define LQN_PLUGIN_MODEL_RESULTS_H

/* What sink.lqn.model writes and prints. */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "plugin/model/params.h"

/*
 * Which files of critical paths the names in `list` ask for, separated by commas: a bit for each; NULL: the
 * usual ones. False with an error cause at an unknown name.
 */
bool model_results_path_files(bt_self_component *self, const char *list, unsigned *wanted);

/* Has a solver predict what was measured, if there is one. That it fails is a part of the result, no error. */
void model_results_predict(const struct model_params *params, struct lqn_model *model);

/*
 * Writes the files and prints the summary. model, paths: NULL if there is no model; again: files that
 * are there may be from the call before. False with an error cause.
 */
bool model_results_write(bt_self_component *self, const struct model_params *params, struct lqn_analysis *analysis,
	const struct lqn_model *model, const struct lqn_path_report *paths, bool again);

#endif
