/* SPDX-License-Identifier: MIT */

/*
 * Who sleeps until times of the clock may think (many programs, Python's among them, sleep in that way), or go by a schedule. Both
 * make sequences of begins of which the likelihood can be told: if customers think, by the gaps between the end of a cycle and
 * the begin of the customer's next; if they share a schedule, by the gaps between one begin of any customer and the
 * next, and by who begins, which is as a rule who has waited longest. Gaps of either kind are taken to have a Gamma distribution, whose
 * shape is fitted: from times at random to times that are all the same.
 */
#include "build.h"

#include <math.h>

#define GAP_MIN 1e-6		/* s: shorter ones are as good as that */
#define SHAPE_MAX 1e6
#define CUSTOMERS_MAX 1024	/* that are looked at: those who begin first */

struct waiting {		/* a customer */
	const struct lqn_actor *actor;
	const struct lqn_invocation *last;	/* its last cycle */
};

/* Gaps, in s, to which a distribution is fitted. */
struct gaps {
	double n, sum, logs;
};

static void add_gap(struct gaps *gaps, int64_t ns)
{
	double gap = MAX((double) ns / 1e9, GAP_MIN);

	gaps->n++;
	gaps->sum += gap;
	gaps->logs += log(gap);
}

/* The logarithm of the likelihood by the Gamma distribution that fits best (Minka: Estimating a Gamma distribution, 2002). */
static double likelihood(const struct gaps *gaps)
{
	double mean = gaps->sum / gaps->n, spread = MAX(log(mean) - gaps->logs / gaps->n, 0), shape = SHAPE_MAX;

	if (spread > 1 / SHAPE_MAX) {
		shape = (3 - spread + sqrt((spread - 3) * (spread - 3) + 24 * spread)) / (12 * spread);
	}
	return (shape - 1) * gaps->logs - gaps->n * (shape + shape * log(mean / shape) + lgamma(shape));
}

/* Which customer it is; a new one if it is none yet; NULL: there are too many. */
static struct waiting *customer_of(GArray *customers, const struct lqn_actor *actor)
{
	struct waiting fresh = { actor, NULL };

	for (guint i = 0; i < customers->len; i++) {
		struct waiting *it = &g_array_index(customers, struct waiting, i);

		if (it->actor == actor) {
			return it;
		}
	}
	if (customers->len == CUSTOMERS_MAX) {
		return NULL;
	}
	g_array_append_val(customers, fresh);
	return &g_array_index(customers, struct waiting, customers->len - 1);
}

/* How many customers wait at `ts`, and how many of them have since before `since`. */
static guint count_waiting(const GArray *customers, int64_t ts, int64_t since, guint *before)
{
	guint waiting = 0;

	*before = 0;
	for (guint i = 0; i < customers->len; i++) {
		const struct lqn_invocation *last = g_array_index(customers, struct waiting, i).last;

		waiting += last && last->end <= ts;
		*before += last && last->end <= ts && last->end < since;
	}
	return waiting;
}

bool lqn_have_common_schedule(const struct lqn_build *build, const GPtrArray *cycles)
{
	g_autoptr(GPtrArray) sorted = g_ptr_array_copy((GPtrArray *) cycles, NULL, NULL);
	g_autoptr(GArray) customers = g_array_new(FALSE, FALSE, sizeof(struct waiting));
	struct gaps thinking = { 0 }, schedule = { 0 };
	double first = 0, others = 0, places = 0;
	const struct lqn_invocation *previous = NULL;

	g_ptr_array_sort(sorted, lqn_invocation_by_begin);
	for (guint i = 0; i < sorted->len; i++) {
		const struct lqn_invocation *it = sorted->pdata[i];
		struct waiting *customer = customer_of(customers, it->actor);

		if (!customer) {
			continue;
		}
		if (customer->last && !it->late && lqn_in_same_window(build, customer->last->begin, it->begin)) {
			guint before, waiting = count_waiting(customers, it->begin, customer->last->end, &before);

			add_gap(&thinking, it->begin - customer->last->end);
			add_gap(&schedule, it->begin - previous->begin);
			if (waiting > 1) {
				first += before == 0;
				others += before > 0;
				places += before > 0 ? log(waiting - 1) : 0;
			}
		}
		customer->last = it;
		previous = it;
	}
	if (thinking.n < 2) {
		return false;
	}
	/* of those who wait, the first with the one probability, each of the others with what is left */
	return likelihood(&schedule) + (first > 0 ? first * log(first / (first + others)) : 0) +
		(others > 0 ? others * log(others / (first + others)) - places : 0) > likelihood(&thinking);
}
