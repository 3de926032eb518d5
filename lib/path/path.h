/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_PATH_H
#define LQN_PATH_PATH_H

/* Critical paths: what a request's time was spent on, and what stood in its way. */
#include "model/build.h"
#include "path/report.h"

struct lqn_path_index;

/*
 * The critical path of a thread over [begin, end), backwards from the end: where the thread was
 * blocked, on to who woke it, until the wait's begin. Appends struct lqn_path_piece to `pieces`,
 * which then tile [begin, end) exactly, in order of time.
 *
 * For the path of a request `index` says who worked on what: then it stops at locks, and at the
 * begin of the invocation that answered, for before that the request lay in a queue; and it says
 * whose requests stood in the way. NULL: the path of a thread, whatever that worked on.
 */
void lqn_path_walk(const struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t begin,
	int64_t end, struct lqn_path_index *index, GArray *pieces);

/*
 * The same for what a thread works on at `end`: before it began with that, which is where the path of a request begins, what it
 * worked on lay in a queue.
 */
void lqn_path_walk_work(const struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t begin,
	int64_t end, struct lqn_path_index *index, GArray *pieces);

/* Paths of all client cycles in the window, and their profiles. */
struct lqn_path_report *lqn_paths_build(struct lqn_build *build);

#endif
