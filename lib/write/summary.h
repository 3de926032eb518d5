/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_SUMMARY_H
#define LQN_WRITE_SUMMARY_H

/* What the parts of the summary share. */
#include "path/report.h"

enum { LQN_SUMMARY_WIDTH = 100, LQN_SUMMARY_INDENT = 12, LQN_SUMMARY_NAME = 24 };	/* columns */

/* For parts of a line, char *, owned. */
GPtrArray *lqn_summary_parts_new(void);

/* `label` and the parts behind it, in so many lines at most; nothing if there are no parts. Takes the parts. */
void lqn_summary_print(GString *out, const char *label, GPtrArray *parts, const char *sep, unsigned lines);

/* Locks, disks, and delays. */
void lqn_summary_resources(GString *out, const struct lqn_model *model);

/* Whether the model agrees with what was measured: a line or two for laws, bounds, and a solver each. */
void lqn_summary_checks(GString *out, const struct lqn_checks *checks);

/* messages.c: what services pass on; nothing if they do not. */
void lqn_summary_messages(GString *out, const struct lqn_model *model);
void lqn_paths_messages(GString *out, const struct lqn_path_report *report);
/* paths.c: a table of the pieces. */
void lqn_paths_pieces(GString *out, const struct lqn_request_path *request);

#endif
