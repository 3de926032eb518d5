/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_PATH_H
#define LQN_PATH_PATH_H

/* Critical paths: what a request's time was spent on, and what stood in its way. */
#include "model/build.h"
#include "path/report.h"

/* What a walk may do with a wait. */
enum lqn_walk_flags {
	LQN_WALK_REQUEST = 1,	/* stop at locks, and at the begin of the invocation that answered: before it, the request lay in a queue */
};

/*
 * The critical path of a thread over [begin, end), backwards from the end: where the thread was blocked, on
 * to who woke it, until the wait's begin. Appends struct lqn_path_piece to `pieces`, which then tile
 * [begin, end) exactly, in order of time. `invocations`: actor -> GPtrArray of its struct lqn_invocation by begin;
 * NULL without LQN_WALK_REQUEST.
 */
void lqn_path_walk(const struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t begin, int64_t end,
	unsigned flags, GHashTable *invocations, GArray *pieces);

/* Paths of all client cycles in the window, and their profiles. */
struct lqn_path_report *lqn_paths_build(struct lqn_build *build);

/* Frees a path with its pieces. */
void lqn_request_path_free(struct lqn_request_path *path);

#endif
