/* SPDX-License-Identifier: MIT */
#ifndef LQN_MODEL_REGROUP_H
#define LQN_MODEL_REGROUP_H

/* Private to lib/model: what lies between two sleeps of a client, and which of that is one cycle. */
#include "build.h"

/* What clients of one name on one host do between sleeps. */
struct lqn_segments {
	const char *name;		/* interned */
	const struct lqn_party *host;
	GPtrArray *threads;		/* of each a GPtrArray of struct lqn_invocation, by begin; owned */
	guint count;			/* of all threads */
	guint joined;			/* with the one before, in all, … */
	int64_t slept;			/* … with so many ns asleep between them */
};

/* True if the second is what the thread does next, after a sleep. */
bool lqn_segment_follows(const struct lqn_analysis *analysis, const struct lqn_invocation *before,
	const struct lqn_invocation *it);
/* The second becomes part of the first, with the sleep between them; returns how long that was, in ns. */
int64_t lqn_segments_join(struct lqn_build *build, struct lqn_invocation *first, struct lqn_invocation *part);
/*
 * From `arc` on, which is not its first, the work becomes a cycle of its own that began at once, for it was late. Returns
 * it: it is the build's, as what `it` was before is.
 */
struct lqn_invocation *lqn_segments_split(struct lqn_build *build, struct lqn_invocation *it, struct lqn_arc *arc);

/* The thread's sleep that ended as it began with that; NULL: that is not known. */
const struct lqn_interval *lqn_segment_sleep(const struct lqn_invocation *it);
/* How long the thread slept before it began with that, in ns; 0: that is not known. */
int64_t lqn_segment_slept(const struct lqn_invocation *it);
/* Joins those of a thread's segments that `belongs`, which has one for each, says go with the one before. How many. */
guint lqn_segments_join_marked(struct lqn_build *build, struct lqn_segments *segments, GPtrArray *thread, const bool *belongs);

/* What is asked of whom, as finely as `view` says; the same for calls that are alike. */
enum { LQN_VIEW_SERVICE, LQN_VIEW_MESSAGE, LQN_VIEW_CALLEE, LQN_VIEWS };
guint64 lqn_segment_call(const struct lqn_arc *arc, unsigned view);

/* late.c: arrivals of a schedule for which a thread did not sleep, for it was late. */
void lqn_segments_split_late(struct lqn_build *build, struct lqn_segments *segments);
/* lengths.c: sleeps of one length that never follow each other are within cycles. How many. */
guint lqn_segments_join_lengths(struct lqn_build *build, struct lqn_segments *segments);
/* sequences.c: what always comes in the same order, after sleeps that are shorter than others, is one cycle. */
void lqn_segments_join_sequences(struct lqn_build *build, struct lqn_segments *segments);

#endif
