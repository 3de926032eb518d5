/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_MODEL_INTERVAL_H
#define LQN_PLUGIN_MODEL_INTERVAL_H

/*
 * Windows of one length, one behind the other, and when each can be modelled: not at its end, for a
 * request that has begun in it should have been answered, and what happened in it is told a little
 * later.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* How long answers, and events that tell of the past, are waited for. ns */
#define INTERVAL_SETTLE_MAX 1000000000

struct interval {
	int64_t ns;		/* length; 0: there are no windows */
	int64_t begin;		/* of the window that time has come to; INT64_MIN: none has begun */
};

/* What a window waits for after its end, once for the answers and once for what tells of them. ns */
static inline int64_t interval_settle(const struct interval *interval)
{
	return MIN(INTERVAL_SETTLE_MAX, interval->ns / 2);
}

/*
 * Time has come to `now` (ns). True if a window can be modelled: it begins at `*begin` and is
 * `interval->ns` long. Of several that have ended since the last call only the first can hold
 * anything: the others are passed over.
 */
static inline bool interval_is_over(struct interval *interval, int64_t now, int64_t *begin)
{
	int64_t settled = now - 2 * interval_settle(interval);

	if (interval->ns == 0) {
		return false;
	}
	if (interval->begin == INT64_MIN) {
		interval->begin = now;
	}
	if (settled - interval->begin < interval->ns) {
		return false;
	}
	*begin = interval->begin;
	interval->begin += (settled - interval->begin) / interval->ns * interval->ns;
	return true;
}

#endif
