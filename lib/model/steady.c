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

/* ---- the series ---- */

static double *responses(const struct lqn_analysis *a, const GPtrArray *cycles)
{
	double *values = g_new(double, cycles->len);

	for (guint i = 0; i < cycles->len; i++) {
		const struct lqn_invocation *it = cycles->pdata[i];

		values[i] = (double) (it->end - it->begin);
	}
	return values;
}

/* From the begin of the cycle before; the first of what is kept of the trace has that of the next. */
static double *gaps(const struct lqn_analysis *a, const GPtrArray *cycles)
{
	double *values = g_new0(double, cycles->len);

	for (guint i = cycles->len; i-- > 1;) {
		const struct lqn_invocation *it = cycles->pdata[i], *before = cycles->pdata[i - 1];
		bool follows = lqn_is_known(a, before->begin, it->begin);

		values[i] = follows ? (double) (it->begin - before->begin) : i + 1 < cycles->len ? values[i + 1] : 0;
	}
	return values;
}

static double *(*const series[])(const struct lqn_analysis *a, const GPtrArray *cycles) = { responses, gaps };

/* The mean of batch b, counted from the end if `backwards`. */
static double batch_mean(const double *values, guint n, guint b, bool backwards)
{
	double sum = 0;

	for (guint i = 0; i < BATCH; i++) {
		guint k = b * BATCH + i;

		sum += values[backwards ? n - 1 - k : k];
	}
	return sum / BATCH;
}

/* Whether the first `front` batches differ from the rest. */
static bool differs(const double *values, guint count, guint front, bool backwards)
{
	guint batches = count / BATCH, n[2] = { front, batches - front };
	double sum[2] = { 0 }, squares[2] = { 0 }, error = 0;

	if (front < 2 || batches - front < 2) {
		return false;
	}
	for (guint b = 0; b < batches; b++) {
		double x = batch_mean(values, count, b, backwards);

		sum[b >= front] += x;
		squares[b >= front] += x * x;
	}
	for (unsigned part = 0; part < 2; part++) {
		error += (squares[part] - sum[part] * sum[part] / n[part]) / (n[part] - 1) / n[part];
	}
	return fabs(sum[0] / n[0] - sum[1] / n[1]) > BEYOND_CHANCE * sqrt(error);
}

/* How many batches to leave out in front; as many as there are: no steady state. O(batches). */
static guint cut(const double *values, guint count, bool backwards)
{
	guint batches = count / BATCH, best = 0;
	double sum = 0, squares = 0, least = INFINITY;

	for (guint left = 1; left <= batches; left++) {
		guint first = batches - left;
		double x = batch_mean(values, count, first, backwards), error;

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
	if (!differs(values, count, best, backwards)) {
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

		if (lqn_is_cycle(a, it)) {
			g_ptr_array_add(cycles, it);
		}
	}
	g_ptr_array_sort(cycles, lqn_invocation_by_begin);
	batches = cycles->len / BATCH;
	for (guint s = 0; batches >= BATCHES_MIN && s < G_N_ELEMENTS(series); s++) {
		g_autofree double *values = series[s](a, cycles);

		front = MAX(front, cut(values, cycles->len, false));
		back = MAX(back, cut(values, cycles->len, true));
	}
	steady = front + back <= batches / 2;
	if (batches >= BATCHES_MIN && steady) {
		build->begin = ((struct lqn_invocation *) cycles->pdata[front * BATCH])->begin;
		build->end = ((struct lqn_invocation *) cycles->pdata[cycles->len - 1 - back * BATCH])->begin;
	}
	g_ptr_array_free(cycles, TRUE);
	return steady;
}
