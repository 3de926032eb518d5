/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_PATHS_H
#define LQN_WRITE_PATHS_H

/* What the parts of critical-path.txt share. */
#include "path/report.h"

enum { LQN_PATHS_NAME = 24 };	/* columns of a name */

static inline double lqn_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* path-rows.c: what the slow requests of an operation have, by task and kind; task by task in detail. */
void lqn_paths_overview(GString *out, const struct lqn_path_group *group);
void lqn_paths_tasks(GString *out, const struct lqn_path_group *group);

/* What its slow requests have most of that the typical have not, and how much; g_free(). */
char *lqn_paths_difference(const struct lqn_path_group *group);

/* path-pieces.c: single requests of an operation; the pieces of one as a table. */
void lqn_paths_requests(GString *out, const struct lqn_path_group *group);
void lqn_paths_pieces(GString *out, const struct lqn_request_path *request);

/* messages.c: what services pass on; nothing if they do not. */
void lqn_paths_messages(GString *out, const struct lqn_path_report *report);

#endif
