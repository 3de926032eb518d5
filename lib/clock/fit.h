/* SPDX-License-Identifier: MIT */
#ifndef LQN_CLOCK_FIT_H
#define LQN_CLOCK_FIT_H

/*
 * How far one host's clock is ahead of another's, bounded by messages both ways: no message is
 * received before it was sent. A message from the reference shows that the offset is at most
 * (received - sent), one to it that it is at least (sent - received). Over time these are points
 * above and below a line, offset + drift * t; the lines that fit lie between the lower hull of the
 * upper points and the upper hull of the lower ones. (Duda, Harrus, Haddad, Bernard: Estimating
 * global time in distributed systems, 1987; the hulls by Andrew's monotone chain.)
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Crystals drift less. It keeps a short trace from being fitted by absurd slopes. */
#define LQN_CLOCK_DRIFT_MAX 500e-6

enum lqn_clock_quality {
	LQN_CLOCK_NONE,		/* not one message */
	/*
	 * messages one way only: no offset, or the least that lets none arrive before it was sent
	 */
	LQN_CLOCK_ONE_WAY,
	LQN_CLOCK_BOUNDED,	/* both ways */
	LQN_CLOCK_BROKEN,	/* no line fits: a clock was set, or changed its speed */
};

struct lqn_clock_fit {
	GArray *above, *below;	/* hulls; struct lqn_clock_point; owned */
	int64_t origin;		/* ns; t counts from here */
	bool started;
};

/* An estimate: at reference time t, the other clock shows t + offset + drift * (t - origin). */
struct lqn_clock_line {
	enum lqn_clock_quality quality;
	int64_t origin;
	double offset, drift;	/* ns, ns per ns */
	double bound;		/* ns: the offset is within +- this, over the messages' time */
};

void lqn_clock_fit_init(struct lqn_clock_fit *fit);
void lqn_clock_fit_clear(struct lqn_clock_fit *fit);

/*
 * A message from the reference (sent on its clock) to the other (received on the other's clock);
 * amortised O(1).
 */
void lqn_clock_fit_there(struct lqn_clock_fit *fit, int64_t sent, int64_t received);
/*
 * A message from the other (sent on its clock) to the reference (received on the reference's
 * clock).
 */
void lqn_clock_fit_back(struct lqn_clock_fit *fit, int64_t sent, int64_t received);

/* The line in the middle of all that fit. O(points of one hull * points of the other). */
struct lqn_clock_line lqn_clock_fit_line(const struct lqn_clock_fit *fit);

/* The reference's time when the other clock shows `ts`. */
int64_t lqn_clock_line_correct(const struct lqn_clock_line *line, int64_t ts);

#endif
