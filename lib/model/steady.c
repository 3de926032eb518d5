/* SPDX-License-Identifier: MIT */

/*
 * Where the steady state begins and ends, if nobody says so. Two series tell: the clients' response times, which are
 * longer (or shorter) while caches are cold and pools grow, and the gaps between their cycles, which are longer while clients
 * still start. Each is cut by MSER-5 (White, Cobb, Spratt: A comparison of five steady-state truncation heuristics for
 * simulation, 2000): of the means of batches of five, as many are left out in front as make the standard error of the
 * mean of the rest least. The same backwards for the end. By chance alone that often leaves out a good part of a steady
 * trace, and with it of the evidence; so only what differs from the rest beyond chance is left out (Welch's test). More than
 * half to be cut means that there is no steady state.
 */
#include <math.h>

#include "build.h"

#define BATCH 5
#define BATCHES_MIN 20		/* fewer say nothing: all is taken */
#define BEYOND_CHANCE 4.5	/* standard errors; the place of the cut was chosen to make much of a difference */

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct lqn_invocation *x = *(const struct lqn_invocation *const *) a;
	const struct lqn_invocation *y = *(const struct lqn_invocation *const *) b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static double response(const GPtrArray *cycles, guint i)
{
	const struct lqn_invocation *it = cycles->pdata[i];

	return (double) (it->end - it->begin);
}

static double gap(const GPtrArray *cycles, guint i)
{
	const struct lqn_invocation *it = cycles->pdata[i];
	const struct lqn_invocation *before = cycles->pdata[i > 0 ? i - 1 : 0];

	return (double) (it->begin - before->begin);
}

static double (*const series[])(const GPtrArray *cycles, guint i) = { response, gap };

/* The mean of batch b, counted from the end if `backwards`. */
static double batch_mean(const GPtrArray *cycles, double (*value)(const GPtrArray *, guint), guint b, bool backwards)
{
	double sum = 0;

	for (guint i = 0; i < BATCH; i++) {
		guint k = b * BATCH + i;

		sum += value(cycles, backwards ? cycles->len - 1 - k : k);
	}
	return sum / BATCH;
}

/* Whether the first `front` batches differ from the rest. */
static bool differs(const GPtrArray *cycles, double (*value)(const GPtrArray *, guint), guint front, bool backwards)
{
	guint batches = cycles->len / BATCH, n[2] = { front, batches - front };
	double sum[2] = { 0 }, squares[2] = { 0 }, error = 0;

	if (front < 2 || batches - front < 2) {
		return false;
	}
	for (guint b = 0; b < batches; b++) {
		double x = batch_mean(cycles, value, b, backwards);

		sum[b >= front] += x;
		squares[b >= front] += x * x;
	}
	for (unsigned part = 0; part < 2; part++) {
		error += (squares[part] - sum[part] * sum[part] / n[part]) / (n[part] - 1) / n[part];
	}
	return fabs(sum[0] / n[0] - sum[1] / n[1]) > BEYOND_CHANCE * sqrt(error);
}

/* How many batches to leave out in front; as many as there are: no steady state. O(batches). */
static guint cut(const GPtrArray *cycles, double (*value)(const GPtrArray *, guint), bool backwards)
{
	guint batches = cycles->len / BATCH, best = 0;
	double sum = 0, squares = 0, least = INFINITY;

	for (guint left = 1; left <= batches; left++) {
		guint first = batches - left;
		double x = batch_mean(cycles, value, first, backwards), error;

		sum += x;
		squares += x * x;
		if (left < BATCHES_MIN / 2) {
			continue;	/* the error of a handful is small by chance */
		}
		error = (squares - sum * sum / left) / ((double) left * left);
		if (error <= least) {
			least = error;
			best = first;
		}
	}
	if (!differs(cycles, value, best, backwards)) {
		return 0;
	}
	return best > batches / 2 ? batches : best;
}

bool lqn_build_steady(struct lqn_build *build)
{
	GPtrArray *cycles = g_ptr_array_new();
	struct lqn_analysis *a = build->a;
	guint front = 0, back = 0, batches;
	bool steady = true;

	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];

		if (!it->request && lqn_invocation_counts(it)) {
			g_ptr_array_add(cycles, it);
		}
	}
	g_ptr_array_sort(cycles, by_begin);
	batches = cycles->len / BATCH;
	for (guint s = 0; batches >= BATCHES_MIN && s < G_N_ELEMENTS(series); s++) {
		front = MAX(front, cut(cycles, series[s], false));
		back = MAX(back, cut(cycles, series[s], true));
	}
	steady = front + back <= batches / 2;
	if (batches >= BATCHES_MIN && steady) {
		build->begin = ((struct lqn_invocation *) cycles->pdata[front * BATCH])->begin;
		build->end = ((struct lqn_invocation *) cycles->pdata[cycles->len - 1 - back * BATCH])->begin;
	}
	g_ptr_array_free(cycles, TRUE);
	return steady;
}
