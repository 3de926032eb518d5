/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_KEEP_H
#define LQN_REQUEST_KEEP_H

/*
 * Of which times detail is kept: invocations, calls, waits, receipts, packets, what is over. All of them as long as they fit into
 * the budget. When they do not, what lies outside the window that was asked for goes first; then slices of equal length, evenly
 * spread over the time since the first request, are kept, and what lies between them goes. When that is too much again,
 * every other slice goes, too, or the later half of each.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "request/region.h"

struct lqn_analysis;

struct lqn_keep {
	uint64_t budget;		/* bytes; 0: all is kept */
	uint64_t held, limit;		/* bytes of detail; with how many of them some is forgotten */
	int64_t lag;			/* ns behind what is worked on that spans may still speak of */
	int64_t since;			/* nothing from before; INT64_MIN: no such bound */
	bool asked_only;		/* what lies outside the window that was asked for goes */
	int64_t first, spacing, width;	/* a slice of `width` ns begins every `spacing` ns from `first` on; spacing 0: none */
	uint32_t notes;			/* messages that nobody has received yet */
	uint32_t names;			/* that have been interned for what the trace calls so, … */
	uint64_t unnamed;		/* … and how often one was not, for there were too many */
	struct lqn_region region;	/* of invocations, arcs, notes of messages, waits for locks */
	int64_t tail;			/* ns after a slice that are known, too: for what was begun in it */
};

void lqn_keep_init(struct lqn_keep *keep, uint64_t budget);
void lqn_keep_clear(struct lqn_keep *keep);
/* So many bytes of detail are there now. */
static inline void lqn_keep_add(struct lqn_keep *keep, uint64_t bytes)
{
	keep->held += bytes;
}

/* Forgets; to be called when as much as `limit` is held. */
void lqn_keep_within(struct lqn_analysis *analysis);

/* True if some of [from, to) must stay known; what has not been worked on yet must. */
bool lqn_keeps_any(const struct lqn_analysis *analysis, int64_t from, int64_t to);

/* forget.c: lets all go that is not kept. O(all that is held). */
void lqn_forget(struct lqn_analysis *analysis);

#endif
