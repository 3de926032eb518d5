/* SPDX-License-Identifier: MIT */
#ifndef LQN_SOLVE_SOLVE_H
#define LQN_SOLVE_SOLVE_H

/* What a solver (lqns, or another that takes its options) predicts of a model, to be held against what was measured. */
#include <glib.h>
#include <stdbool.h>

#include "model/model.h"

/*
 * Solves the model with `program` (a path, or a name to be looked for in PATH) in a temporary folder, without a shell, in at most
 * `seconds`. NULL with an error of LQN_SOLVE_ERROR, whose message is for people. Free with lqn_prediction_free().
 */
struct lqn_prediction *lqn_solve(const struct lqn_model *model, const char *program, double seconds, GError **error);

/* Reads a result file of a solver (lqxo). `text` need not be well-formed; what it does not say is unknown. */
struct lqn_prediction *lqn_solve_read(const struct lqn_model *model, const char *text, gsize length, GError **error);

#define LQN_SOLVE_ERROR (lqn_solve_error_quark())
GQuark lqn_solve_error_quark(void);
enum lqn_solve_error { LQN_SOLVE_NO_PROGRAM, LQN_SOLVE_FAILED, LQN_SOLVE_NO_RESULT };

#endif
