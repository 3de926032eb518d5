/* SPDX-License-Identifier: MIT */
#ifndef LQN_MODEL_PARTS_H
#define LQN_MODEL_PARTS_H

/* Private to lib/model: segments by what they ask, and which may be made of others. */
#include "regroup.h"

/* Segments that ask the same in the same order, and begin in the same way. */
struct lqn_segment_kind {
	GArray *calls;			/* guint64, of lqn_segment_call(); owned */
	GPtrArray *members;		/* struct lqn_invocation; owned */
	GArray *parts;			/* guint: with which call each part but the first begins; owned; NULL: it is one */
	bool clock;			/* they begin at times of the clock */
	bool common, own;		/* lateness for a schedule of all threads, or each one's own, has brought parts together */
};

/* Of all segments, those with fewest calls first; free with g_ptr_array_unref(). */
GPtrArray *lqn_segment_kinds(const struct lqn_segments *segments);
/*
 * Finds the parts of a kind, if all but the first of them are of `wholes` (struct lqn_segment_kind, those with fewest calls first), and
 * begin at times of the clock. The first may be something that always takes too long to be seen alone.
 */
void lqn_segment_kind_parts(const GPtrArray *wholes, struct lqn_segment_kind *kind);

#endif
