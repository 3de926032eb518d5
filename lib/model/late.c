/* SPDX-License-Identifier: MIT */

/*
 * Arrivals that come late. Who sends by a schedule sleeps until the next time of it; if that has passed, it begins at once, and no
 * sleep tells two of its arrivals from each other: what is seen is one segment that asks what otherwise two ask. So a segment
 * is taken apart if it is made of what others are as a whole, of which all but the first begin at times of the clock; and if it is
 * lateness that has brought the parts together, and not what is asked. Where a schedule is common to threads, who takes the next
 * time of it is late only while nobody waits for an earlier one: where one part ends and the next begins no other thread waits
 * for its time, far more often than at the ends of segments. Where each thread has its own, the first part lasts longer than
 * from one time to the next.
 */
#include "parts.h"

#include <math.h>

#define SHARE_MIN 0.01		/* no share is known to be less */
#define TIMER_SLACK 60000	/* ns after its time that a timer of an ordinary thread may come: 50 us, and the interrupt */
#define CLOCK_MIN 20		/* segments that begin at a time of the clock, of who goes by it */
#define WHOLES_MAX 64		/* kinds of segments that others are made of: the shortest */
#define TIMES_MIN 10		/* a kind that is seen less often is judged with all such */
#define LOG_CHANCE 14.0		/* e to minus that: one in a million */

/* What speaks for lateness. */
struct evidence {
	guint boundaries, nobody, overdue;	/* between parts; of which nobody waits at; of which are overdue */
};

struct late {
	struct lqn_segments *segments;
	GPtrArray *kinds;		/* struct lqn_segment_kind, by number of calls; owned */
	GPtrArray *wholes;		/* those that are not made of others, likewise; owned */
	GArray *from, *until;		/* int64_t, in order: when threads begin to wait for times of the clock, and end; owned */
	double nobody;			/* share of the segments at whose end nobody waits */
	int64_t period;			/* ns from one begin of a thread at a time of the clock to the next, the median */
	double longer;			/* share of the segments that take longer */
};

static guint count_until(const GArray *times, int64_t ts)
{
	return lqn_count_until(times->data, times->len, sizeof(int64_t), 0, ts);
}

/* True if no thread is between the end of what it did and a time of the clock for which it waits; who begins to wait then is not. */
static bool nobody_waits(const struct late *late, int64_t ts)
{
	return count_until(late->from, ts - 1) <= count_until(late->until, ts - 1);
}

/* The time until which the thread wanted to sleep before it began with that, at the latest. */
static int64_t time_of(const struct lqn_invocation *it)
{
	const struct lqn_interval *sleep = lqn_segment_sleep(it);

	return (sleep && sleep->wake >= 0 ? sleep->wake : it->begin) - TIMER_SLACK;
}

static void measure(const struct lqn_build *build, struct late *late)
{
	g_autoptr(GArray) periods = g_array_new(FALSE, FALSE, sizeof(int64_t));
	guint nobody = 0, longer = 0, n = 0;

	late->from = g_array_new(FALSE, FALSE, sizeof(int64_t));
	late->until = g_array_new(FALSE, FALSE, sizeof(int64_t));
	for (guint t = 0; t < late->segments->threads->len; t++) {
		const GPtrArray *thread = late->segments->threads->pdata[t];

		for (guint i = 1; i < thread->len; i++) {
			const struct lqn_invocation *before = thread->pdata[i - 1], *it = thread->pdata[i];
			int64_t period = it->begin - before->begin, time = MAX(time_of(it), before->end);

			if (it->absolute && lqn_segment_follows(build->a, before, it)) {
				g_array_append_val(late->from, before->end);
				g_array_append_val(late->until, time);
				g_array_append_val(periods, period);
			}
		}
	}
	g_array_sort(late->from, lqn_by_time);
	g_array_sort(late->until, lqn_by_time);
	g_array_sort(periods, lqn_by_time);
	late->period = periods->len > 0 ? MAX(g_array_index(periods, int64_t, periods->len / 2), 1) : INT64_MAX;
	for (guint t = 0; t < late->segments->threads->len; t++) {
		const GPtrArray *thread = late->segments->threads->pdata[t];

		for (guint i = 0; i < thread->len; i++, n++) {
			const struct lqn_invocation *it = thread->pdata[i];

			nobody += nobody_waits(late, it->end);
			longer += it->end - it->begin >= late->period;
		}
	}
	late->nobody = (double) nobody / MAX(n, 1u);
	late->longer = (double) longer / MAX(n, 1u);
}

/*
 * Calls `visit` for each boundary between parts of an invocation, as `at`, when the thread had done with what is before, and the
 * first call after it. If that returns true what comes after is another cycle.
 */
typedef bool (*boundary_func)(int64_t begin, guint splits, int64_t at, struct lqn_arc *arc, void *payload);

static void each_boundary(const struct lqn_segment_kind *kind, struct lqn_invocation *it, boundary_func visit, void *payload)
{
	int64_t begin = it->begin, at = begin;
	guint part = 0, number = 0, splits = 0;

	for (struct lqn_arc *arc = it->arcs, *next; arc && part < kind->parts->len; arc = next, number++) {
		if (number == g_array_index(kind->parts, guint, part)) {
			part++;
			splits += visit(begin, splits, at, arc, payload);
		}
		next = arc->next;
		at = MAX(at, arc->replied > 0 ? arc->replied : arc->sent);
	}
}

/* So many times have passed since the thread began on time that it could have begun once more. */
static bool is_overdue(const struct late *late, int64_t begin, guint splits, int64_t at)
{
	return (at - begin) / late->period > splits;
}

struct look {
	const struct late *late;
	struct evidence *evidence;
};

static bool add_evidence(int64_t begin, guint splits, int64_t at, struct lqn_arc *arc, void *payload)
{
	const struct look *look = payload;
	bool overdue = is_overdue(look->late, begin, splits, at);

	look->evidence->boundaries++;
	look->evidence->nobody += nobody_waits(look->late, at);
	look->evidence->overdue += overdue;
	return overdue;
}

/*
 * True if of the boundaries that are `seen` to be as if somebody were late most must be so: for it is beyond chance more often seen there
 * than elsewhere.
 */
static bool is_late(guint seen, guint of, double elsewhere)
{
	double n = of, share = seen / MAX(n, 1), chance = MAX(elsewhere, SHARE_MIN), evidence = 0;

	if (seen == 0 || chance >= 1 || (share - chance) < share * (1 - chance) / 2) {
		return false;
	}
	evidence = seen * log(share / chance);
	return evidence + (seen < of ? (n - seen) * log((1 - share) / (1 - chance)) : 0) > LOG_CHANCE;
}

static void judge(const struct late *late, const struct evidence *evidence, struct lqn_segment_kind *kind)
{
	kind->common = late->segments->threads->len > 1 && is_late(evidence->nobody, evidence->boundaries, late->nobody);
	kind->own = is_late(evidence->overdue, evidence->boundaries, late->longer);
	if (!kind->common && !kind->own) {
		g_clear_pointer(&kind->parts, g_array_unref);
	}
}

/* Finds the parts of all kinds that lateness has made of others. */
static void find_all_parts(struct late *late)
{
	struct evidence rare = { 0 };

	for (guint i = 0; i < late->kinds->len; i++) {
		struct lqn_segment_kind *kind = late->kinds->pdata[i];
		struct evidence own = { 0 };
		struct look look = { late, kind->members->len < TIMES_MIN ? &rare : &own };

		lqn_segment_kind_parts(late->wholes, kind);
		for (guint k = 0; kind->parts && k < kind->members->len; k++) {
			each_boundary(kind, kind->members->pdata[k], add_evidence, &look);
		}
		if (kind->parts && look.evidence == &own) {
			judge(late, &own, kind);
		}
		if (!kind->parts && late->wholes->len < WHOLES_MAX) {
			g_ptr_array_add(late->wholes, kind);
		}
	}
	for (guint i = 0; i < late->kinds->len; i++) {
		struct lqn_segment_kind *kind = late->kinds->pdata[i];

		if (kind->parts && kind->members->len < TIMES_MIN) {
			judge(late, &rare, kind);
		}
	}
}

/* ---- taking apart ---- */

struct split {
	struct lqn_build *build;
	const struct late *late;
	const struct lqn_segment_kind *kind;
	struct lqn_invocation *it;	/* what is left of the segment */
	GPtrArray *parts;		/* struct lqn_invocation: what it has been split into, but the first */
};

static bool split_at(int64_t begin, guint splits, int64_t at, struct lqn_arc *arc, void *payload)
{
	struct split *split = payload;

	if (!(split->kind->common && nobody_waits(split->late, at)) &&
			!(split->kind->own && is_overdue(split->late, begin, splits, at))) {
		return false;
	}
	split->it = lqn_segments_split(split->build, split->it, arc);
	g_ptr_array_add(split->parts, split->it);
	return true;
}

/* Puts what was taken apart into the threads' segments. */
static void put_back(struct lqn_segments *segments, GHashTable *rests)
{
	for (guint t = 0; t < segments->threads->len; t++) {
		GPtrArray *thread = segments->threads->pdata[t], *all = g_ptr_array_new();

		for (guint i = 0; i < thread->len; i++) {
			GPtrArray *parts = g_hash_table_lookup(rests, thread->pdata[i]);

			g_ptr_array_add(all, thread->pdata[i]);
			if (parts) {
				g_ptr_array_extend(all, parts, NULL, NULL);
				segments->count += parts->len;
			}
		}
		g_ptr_array_unref(thread);
		segments->threads->pdata[t] = all;
	}
}

static void split_kinds(struct lqn_build *build, struct late *late)
{
	g_autoptr(GHashTable) rests = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
	guint before = late->segments->count;

	for (guint i = 0; i < late->kinds->len; i++) {
		const struct lqn_segment_kind *kind = late->kinds->pdata[i];

		for (guint k = 0; kind->parts && k < kind->members->len; k++) {
			struct lqn_invocation *it = kind->members->pdata[k];
			struct split split = { build, late, kind, it, g_ptr_array_new() };

			g_hash_table_insert(rests, it, split.parts);
			each_boundary(kind, it, split_at, &split);
		}
	}
	put_back(late->segments, rests);
	if (late->segments->count > before) {
		lqn_build_note(build, "%s: %u times it was late for its schedule, and did not sleep before the next cycle",
			late->segments->name, late->segments->count - before);
	}
}

static bool goes_by_the_clock(const struct lqn_segments *segments)
{
	guint clock = 0;

	for (guint t = 0; t < segments->threads->len; t++) {
		const GPtrArray *thread = segments->threads->pdata[t];

		for (guint i = 0; i < thread->len; i++) {
			clock += ((const struct lqn_invocation *) thread->pdata[i])->absolute;
		}
	}
	return clock >= CLOCK_MIN;
}

void lqn_segments_split_late(struct lqn_build *build, struct lqn_segments *segments)
{
	struct late late = { .segments = segments };

	if (!goes_by_the_clock(segments)) {
		return;
	}
	late.kinds = lqn_segment_kinds(segments);
	measure(build, &late);
	late.wholes = g_ptr_array_new();
	find_all_parts(&late);
	split_kinds(build, &late);
	g_ptr_array_unref(late.wholes);
	g_ptr_array_unref(late.kinds);
	g_array_unref(late.from);
	g_array_unref(late.until);
}
