/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_SPAN_CLOCK_H
#define LQN_REQUEST_SPAN_CLOCK_H

/*
 * How the clock that spans are dated by differs from the kernel's: theirs is the system's, which is set and corrected while a trace
 * goes on by one that is not.
 *
 * *The lag* is found before any span is joined with work: of all differences between the begin of a span and of work that
 * may be its own, one turns up with most spans (the peak of a cross-correlation), and the others by chance. It holds the
 * difference of the clocks, and how long a program takes to begin its span: spans are joined with that taken off.
 *
 * *The range* of the difference alone follows from spans that are joined: a server's span begins after its request has come and
 * before its first call goes out, and it ends after its last answer has come. Some are joined with other work than theirs, so
 * the hundredth part of the bounds on either side is left out.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define LQN_SPAN_LAG_MAX 5000000	/* ns that clocks may be apart */
#define LQN_SPAN_LAG_BINS 200
#define LQN_SPAN_CLOCK_SAMPLES 1024	/* bounds kept of each side */

struct lqn_span_bounds {
	int64_t values[LQN_SPAN_CLOCK_SAMPLES];
	uint64_t seen;
};

struct lqn_span_clock {
	unsigned lags[LQN_SPAN_LAG_BINS];
	int64_t sums[LQN_SPAN_LAG_BINS];	/* of the lags */
	unsigned spans;				/* that have told of their lags */
	struct lqn_span_bounds lower, upper;
};

/* A difference in question, kernel - span, of the present span; lqn_span_clock_next() ends it. */
void lqn_span_clock_lag(struct lqn_span_clock *clock, int64_t lag);
void lqn_span_clock_next(struct lqn_span_clock *clock);

/* What is to be added to the times of spans for joining them, ns; 0: nothing, or not known. */
int64_t lqn_span_clock_ahead(const struct lqn_span_clock *clock);

/* The kernel's clock is ahead by at least, or at most, so much. */
void lqn_span_clock_lower(struct lqn_span_clock *clock, int64_t bound);
void lqn_span_clock_upper(struct lqn_span_clock *clock, int64_t bound);

/* The range in which that lies, ns; false if too little is known, or the bounds contradict each other. */
bool lqn_span_clock_range(const struct lqn_span_clock *clock, int64_t *lower, int64_t *upper);

#endif
