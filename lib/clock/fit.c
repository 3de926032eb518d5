/* SPDX-License-Identifier: MIT */
#include "clock/fit.h"

#include <float.h>
#include <math.h>

struct lqn_clock_point {
	double t, d;	/* reference time since the origin; other clock - reference clock; ns */
};

void lqn_clock_fit_init(struct lqn_clock_fit *fit)
{
	fit->above = g_array_new(FALSE, FALSE, sizeof(struct lqn_clock_point));
	fit->below = g_array_new(FALSE, FALSE, sizeof(struct lqn_clock_point));
	fit->origin = 0;
	fit->started = false;
}

void lqn_clock_fit_clear(struct lqn_clock_fit *fit)
{
	g_array_free(fit->above, TRUE);
	g_array_free(fit->below, TRUE);
}

static const struct lqn_clock_point *at(const GArray *hull, guint i)
{
	return &g_array_index(hull, struct lqn_clock_point, i);
}

/* > 0 if c lies left of (above) the way from a to b. */
static double turn(const struct lqn_clock_point *a, const struct lqn_clock_point *b,
	const struct lqn_clock_point *c)
{
	return (b->t - a->t) * (c->d - a->d) - (b->d - a->d) * (c->t - a->t);
}

/* sign: 1 for a lower hull, -1 for an upper one. */
static void add(GArray *hull, struct lqn_clock_point point, double sign)
{
	/*
	 * messages are matched in order of time but for a few that overtake others: these tell
	 * little, and are left out
	 */
	if (hull->len > 0 && point.t <= at(hull, hull->len - 1)->t) {
		if (point.t < at(hull, hull->len - 1)->t ||
				sign * (point.d - at(hull, hull->len - 1)->d) >= 0) {
			return;
		}
		g_array_set_size(hull, hull->len - 1);
	}
	while (hull->len >= 2 &&
		sign * turn(at(hull, hull->len - 2), at(hull, hull->len - 1), &point) <= 0) {
		g_array_set_size(hull, hull->len - 1);
	}
	g_array_append_val(hull, point);
}

static double since(struct lqn_clock_fit *fit, int64_t ts)
{
	if (!fit->started) {
		fit->origin = ts;
		fit->started = true;
	}
	return (double) (ts - fit->origin);
}

void lqn_clock_fit_there(struct lqn_clock_fit *fit, int64_t sent, int64_t received)
{
	add(fit->above, (struct lqn_clock_point) { since(fit, sent), (double) (received - sent) },
		1);
}

void lqn_clock_fit_back(struct lqn_clock_fit *fit, int64_t sent, int64_t received)
{
	add(fit->below,
		(struct lqn_clock_point) { since(fit, received), (double) (sent - received) }, -1);
}

/*
 * The slopes between which the lines lie that pass below all of `above` and above all of `below`.
 */
static void slopes(const GArray *above, const GArray *below, double *least, double *most)
{
	*least = -LQN_CLOCK_DRIFT_MAX;
	*most = LQN_CLOCK_DRIFT_MAX;
	for (guint a = 0; a < above->len; a++) {
		for (guint b = 0; b < below->len; b++) {
			double dt = at(above, a)->t - at(below, b)->t;
			double dd = at(above, a)->d - at(below, b)->d;

			if (dt > 0) {
				*most = fmin(*most, dd / dt);
			} else if (dt < 0) {
				*least = fmax(*least, dd / dt);
			}
		}
	}
}

/*
 * The most that a line of this slope below all of `points` (sign 1; above them: -1) has at time t,
 * times sign.
 */
static double most_at(const GArray *points, int sign, double t, double slope)
{
	double most = DBL_MAX;

	for (guint i = 0; i < points->len; i++) {
		most = fmin(most, sign * (at(points, i)->d - slope * (at(points, i)->t - t)));
	}
	return most;
}

/* Likewise of all slopes in [least, most]. Of a slope it is concave, so halving finds it. */
static double extreme(const GArray *points, int sign, double t, double least, double most)
{
	double best = -DBL_MAX;

	for (int step = 0; step < 64; step++) {
		double low = least + (most - least) / 3, high = most - (most - least) / 3;
		double at_low = most_at(points, sign, t, low);
		double at_high = most_at(points, sign, t, high);

		best = fmax(best, fmax(at_low, at_high));
		if (at_low < at_high) {
			least = low;
		} else {
			most = high;
		}
	}
	return best;
}

/* The offsets at the origin between which a line of this slope may have. */
static void offsets(const GArray *above, const GArray *below, double slope, double *least,
	double *most)
{
	*least = -most_at(below, -1, 0, slope);
	*most = most_at(above, 1, 0, slope);
}

static double span(const struct lqn_clock_fit *fit)
{
	double last = 0;

	if (fit->above->len > 0) {
		last = fmax(last, at(fit->above, fit->above->len - 1)->t);
	}
	if (fit->below->len > 0) {
		last = fmax(last, at(fit->below, fit->below->len - 1)->t);
	}
	return last;
}

struct lqn_clock_line lqn_clock_fit_line(const struct lqn_clock_fit *fit)
{
	struct lqn_clock_line line = { .quality = LQN_CLOCK_BOUNDED, .origin = fit->origin };
	double least_slope, most_slope, least, most;

	if (fit->above->len == 0 && fit->below->len == 0) {
		line.quality = LQN_CLOCK_NONE;
		line.bound = INFINITY;
		return line;
	}
	if (fit->above->len == 0 || fit->below->len == 0) {
		offsets(fit->above, fit->below, 0, &least, &most);
		line.quality = LQN_CLOCK_ONE_WAY;
		/* as they are, unless that would have a message arrive before it was sent */
		line.offset = fit->above->len > 0 ? fmin(0, most) : fmax(0, least);
		line.bound = INFINITY;
		return line;
	}
	slopes(fit->above, fit->below, &least_slope, &most_slope);
	line.drift = (least_slope + most_slope) / 2;
	offsets(fit->above, fit->below, line.drift, &least, &most);
	line.offset = (least + most) / 2;
	if (least_slope > most_slope || least > most + 1) {
		line.quality = LQN_CLOCK_BROKEN;
		line.bound = fabs(most - least) / 2 + fabs(most_slope - least_slope) / 2 * span(fit);
		return line;
	}
	/* two lines are farthest from each other at one end of the time */
	for (int k = 0; k < 2; k++) {
		double t = k * span(fit), here = line.offset + line.drift * t;

		line.bound = fmax(line.bound, extreme(fit->above, 1, t, least_slope, most_slope) - here);
		line.bound = fmax(line.bound, extreme(fit->below, -1, t, least_slope, most_slope) + here);
	}
	return line;
}

int64_t lqn_clock_line_correct(const struct lqn_clock_line *line, int64_t ts)
{
	double since_origin;

	if (line->quality == LQN_CLOCK_NONE) {
		return ts;
	}
	/* ts = t + offset + drift * (t - origin), solved for t */
	since_origin = ((double) (ts - line->origin) - line->offset) / (1 + line->drift);
	return line->origin + (int64_t) floor(since_origin + 0.5);
}
