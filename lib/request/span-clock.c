/* SPDX-License-Identifier: MIT */
#include "span-clock.h"

#include <stdlib.h>
#include <string.h>

#include "facts.h"

#define BIN (2 * LQN_SPAN_LAG_MAX / LQN_SPAN_LAG_BINS)
#define NOW 4096		/* spans after which older ones count half: clocks drift */
#define SHARE 3			/* one span in so many must have the lag … */
#define CLEAR 3			/* … and so much in two more than have any other */
#define ENOUGH 32		/* bounds of a side, below which nothing is said */
#define STRAYS 100		/* one bound in so many is left out */

/* ---- the lag ---- */

void lqn_span_clock_lag(struct lqn_span_clock *clock, int64_t lag)
{
	if (lag >= -LQN_SPAN_LAG_MAX && lag < LQN_SPAN_LAG_MAX) {
		clock->lags[(lag + LQN_SPAN_LAG_MAX) / BIN]++;
		clock->sums[(lag + LQN_SPAN_LAG_MAX) / BIN] += lag;
	}
}

void lqn_span_clock_next(struct lqn_span_clock *clock)
{
	if (++clock->spans < NOW) {
		return;
	}
	clock->spans /= 2;
	for (unsigned i = 0; i < LQN_SPAN_LAG_BINS; i++) {
		clock->lags[i] /= 2;
		clock->sums[i] /= 2;
	}
}

/* A lag lies anywhere in a bin, or where two meet. */
static unsigned height(const struct lqn_span_clock *clock, unsigned i)
{
	return clock->lags[i] + (i + 1 < LQN_SPAN_LAG_BINS ? clock->lags[i + 1] : 0);
}

int64_t lqn_span_clock_ahead(const struct lqn_span_clock *clock)
{
	unsigned peak = 0, other = 0;
	int64_t ahead;

	for (unsigned i = 1; i < LQN_SPAN_LAG_BINS; i++) {
		peak = height(clock, i) > height(clock, peak) ? i : peak;
	}
	for (unsigned i = 0; i < LQN_SPAN_LAG_BINS; i++) {
		if (i + 1 < peak || i > peak + 1) {
			other = MAX(other, height(clock, i));
		}
	}
	if (height(clock, peak) == 0 || height(clock, peak) * SHARE < clock->spans || height(clock, peak) * 2 < other * CLEAR) {
		return 0;
	}
	ahead = (clock->sums[peak] + (peak + 1 < LQN_SPAN_LAG_BINS ? clock->sums[peak + 1] : 0)) / height(clock, peak);
	return ABS(ahead) <= BIN ? 0 : ahead;
}

/* ---- the range ---- */

/* Keeps the newest ones. */
static void add(struct lqn_span_bounds *bounds, int64_t bound)
{
	bounds->values[bounds->seen++ % LQN_SPAN_CLOCK_SAMPLES] = bound;
}

void lqn_span_clock_lower(struct lqn_span_clock *clock, int64_t bound)
{
	add(&clock->lower, bound);
}

void lqn_span_clock_upper(struct lqn_span_clock *clock, int64_t bound)
{
	add(&clock->upper, bound);
}

/* The bound that is nearest to the other side, strays apart. */
static int64_t closest(const struct lqn_span_bounds *bounds, bool from_above)
{
	size_t n = (size_t) MIN(bounds->seen, LQN_SPAN_CLOCK_SAMPLES), left_out = n / STRAYS;
	int64_t sorted[LQN_SPAN_CLOCK_SAMPLES];

	memcpy(sorted, bounds->values, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), lqn_by_time);
	return from_above ? sorted[n - 1 - left_out] : sorted[left_out];
}

bool lqn_span_clock_range(const struct lqn_span_clock *clock, int64_t *lower, int64_t *upper)
{
	if (clock->lower.seen < ENOUGH || clock->upper.seen < ENOUGH) {
		return false;
	}
	*lower = closest(&clock->lower, true);
	*upper = closest(&clock->upper, false);
	return *lower <= *upper;
}
