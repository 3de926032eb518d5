/* SPDX-License-Identifier: MIT */

/*
 * Sleeps of one length. What follows a sleep may tell nothing (some cycles ask the same once more after a while, others do not);
 * but a program that sleeps within its cycle often does so for a time that is written in it. Such sleeps stand out from the others
 * by their length, which the timer keeps to some microseconds, and none comes after another, as they would if customers
 * thought so.
 */
#include "regroup.h"

#include <math.h>

#define TIMES_MIN 10
#define PURE 0.05		/* at most so many of those that have the length have it by chance */
#define CLEARLY 1.5		/* the others are longer by this factor, in the mean */
#define NEVER 0.05		/* the rest are effects of failures, and those that have the length by chance */
#define LOG_CHANCE -14.0	/* e to that: one in a million */

/* By how much sleeps of one length differ at most: of the length, and in ns: on a machine with timers of little slack, and of some. */
static const struct width {
	double share;
	int64_t ns;
} widths[] = { { 0.01, 20000 }, { 0.02, 100000 } };

struct range {
	int64_t from, until;		/* ns: [from, until) */
};

static bool is_in(const struct range *range, int64_t length)
{
	return length >= range->from && length < range->until;
}

/* The sleep before a segment; 0: none, or not known. */
static int64_t length_before(const struct lqn_build *build, const GPtrArray *thread, guint i)
{
	return i > 0 && lqn_segment_follows(build->a, thread->pdata[i - 1], thread->pdata[i]) ? lqn_segment_slept(thread->pdata[i]) : 0;
}

static GArray *lengths_of(const struct lqn_build *build, const struct lqn_segments *segments)
{
	GArray *lengths = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (guint t = 0; t < segments->threads->len; t++) {
		const GPtrArray *thread = segments->threads->pdata[t];

		for (guint i = 1; i < thread->len; i++) {
			int64_t length = length_before(build, thread, i);

			if (length > 0) {
				g_array_append_val(lengths, length);
			}
		}
	}
	g_array_sort(lengths, lqn_by_time);
	return lengths;
}

static guint count_before(const GArray *lengths, int64_t length)
{
	return lqn_count_until(lengths->data, lengths->len, sizeof(int64_t), 0, length - 1);
}

/* The range that has most of the lengths, hardly any as by chance, and is clearly shorter than the others. False: there is none. */
static bool find_range(const GArray *lengths, const struct width *wide, struct range *range)
{
	guint most = TIMES_MIN - 1;
	double all = 0;

	for (guint i = 0; i < lengths->len; i++) {
		all += (double) g_array_index(lengths, int64_t, i);
	}
	for (guint i = 0; i < lengths->len; i++) {
		int64_t from = g_array_index(lengths, int64_t, i), width = wide->ns + (int64_t) (wide->share * (double) from), sum = 0;
		guint until = count_before(lengths, from + width), n = until - i, others = lengths->len - n;
		guint below = i - count_before(lengths, from - width), above = count_before(lengths, from + 2 * width) - until;

		if (n <= most || MAX(below, above) > PURE * n || others == 0) {
			continue;
		}
		for (guint k = i; k < until; k++) {
			sum += g_array_index(lengths, int64_t, k);
		}
		if ((all - (double) sum) / others > CLEARLY * (double) sum / n) {
			most = n;
			*range = (struct range) { from, from + width };
		}
	}
	return most >= TIMES_MIN;
}

/* True if those in the range do not follow each other, and that is far beyond chance. */
static bool never_follow(const struct lqn_build *build, const struct lqn_segments *segments, const struct range *range)
{
	double n = 0, all = 0, followed = 0, again = 0;

	for (guint t = 0; t < segments->threads->len; t++) {
		const GPtrArray *thread = segments->threads->pdata[t];
		int64_t last = 0;

		for (guint i = 1; i < thread->len; i++) {
			int64_t length = length_before(build, thread, i);

			if (length > 0) {
				all++;
				n += is_in(range, length);
				followed += is_in(range, last);
				again += is_in(range, last) && is_in(range, length);
			}
			last = length;
		}
	}
	return again <= NEVER * followed && followed * log(1 - n / (all + 1)) < LOG_CHANCE;
}

static guint join_range(struct lqn_build *build, struct lqn_segments *segments, const struct range *range)
{
	guint joined = 0;

	for (guint t = 0; t < segments->threads->len; t++) {
		GPtrArray *thread = segments->threads->pdata[t];
		g_autofree bool *belongs = g_new0(bool, thread->len + 1);

		for (guint i = 1; i < thread->len; i++) {
			belongs[i] = is_in(range, length_before(build, thread, i)) && !belongs[i - 1];
		}
		joined += lqn_segments_join_marked(build, segments, thread, belongs);
	}
	return joined;
}

guint lqn_segments_join_lengths(struct lqn_build *build, struct lqn_segments *segments)
{
	g_autoptr(GArray) lengths = lengths_of(build, segments);
	struct range range = { 0, 0 };

	for (guint i = 0; i < G_N_ELEMENTS(widths); i++) {
		if (find_range(lengths, &widths[i], &range) && never_follow(build, segments, &range)) {
			return join_range(build, segments, &range);
		}
	}
	return 0;
}
