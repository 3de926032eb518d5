/* SPDX-License-Identifier: MIT */
#include "keep.h"

#include "internal.h"

#define SLICES_MANY 64		/* with so many there may be fewer */
#define SLICES_MAX 1024		/* each is summed over when the model is made */
#define SLICES_FEW 8		/* fewer say little of the whole */
#define TAILS 2			/* of the longest requests but one in a hundred, known after a slice */

void lqn_keep_init(struct lqn_keep *keep, uint64_t budget)
{
	*keep = (struct lqn_keep) { .budget = budget, .limit = budget ? budget : UINT64_MAX, .since = INT64_MIN };
	lqn_region_init(&keep->region);
}

void lqn_keep_clear(struct lqn_keep *keep)
{
	lqn_region_clear(&keep->region);
}

static int64_t after(int64_t ts, int64_t ns)
{
	return ts > INT64_MAX - ns ? INT64_MAX : ts + ns;
}

/* ns since the begin of the last slice. */
static int64_t phase(const struct lqn_keep *keep, int64_t ts)
{
	return (ts - keep->first) % keep->spacing;
}

static bool asked_any(const struct lqn_analysis *a, int64_t from, int64_t to)
{
	bool marked = a->begin_mark == NULL && a->windows->len == 0;

	for (guint i = 0; i < a->windows->len && !marked; i++) {
		const struct lqn_window *window = &g_array_index(a->windows, struct lqn_window, i);

		marked = to > window->begin && from < after(window->end, a->keep.tail);
	}
	return marked && (a->begin_mark || to > a->begin) && (a->end_mark || from < after(a->end, a->keep.tail));
}

bool lqn_keeps_any(const struct lqn_analysis *a, int64_t from, int64_t to)
{
	const struct lqn_keep *keep = &a->keep;

	if (a->reached < INT64_MIN + keep->lag || to > a->reached - keep->lag) {
		return true;
	}
	if (to <= keep->since || (keep->asked_only && !asked_any(a, from, to))) {
		return false;
	}
	if (keep->spacing == 0) {
		return true;
	}
	from = MAX(from, keep->first);
	return from < to && (phase(keep, from) < keep->width + keep->tail ||
		to - from > keep->spacing - phase(keep, from));
}

bool lqn_is_kept(const struct lqn_analysis *a, int64_t ts)
{
	const struct lqn_keep *keep = &a->keep;

	return ts >= keep->since &&
		(keep->spacing == 0 || (ts >= keep->first && phase(keep, ts) < keep->width));
}

bool lqn_is_known(const struct lqn_analysis *a, int64_t begin, int64_t end)
{
	const struct lqn_keep *keep = &a->keep;

	return begin >= keep->since && (keep->spacing == 0 || (begin >= keep->first &&
		end - begin <= keep->width + keep->tail - phase(keep, begin)));
}

/* How long all requests but one in a hundred take, ns; and when the first begins. */
static int64_t long_request(const struct lqn_analysis *a, int64_t *first)
{
	g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(int64_t));

	*first = a->reached;
	for (guint i = 0; i < a->invocations->len; i++) {
		const struct lqn_invocation *it = a->invocations->pdata[i];
		int64_t length = it->end - it->begin;

		if (!it->request && it->arcs && !it->into && !it->tail_of) {
			*first = MIN(*first, it->begin);
			g_array_append_val(lengths, length);
		}
	}
	g_array_sort(lengths, lqn_by_time);
	return lengths->len > 0 ? MAX(g_array_index(lengths, int64_t, lengths->len - 1 - lengths->len / 100), 0) : 0;
}

/* `fewer`: slices that are shorter would not do. False if there is nothing left to cut. */
static bool cut(struct lqn_analysis *a, bool fewer)
{
	struct lqn_keep *keep = &a->keep;
	int64_t slices = keep->spacing > 0 ? (a->reached - keep->first) / keep->spacing + 1 : 0;

	if (!keep->asked_only) {
		keep->asked_only = true;
		keep->tail = TAILS * long_request(a, &keep->first);
		if (!asked_any(a, INT64_MIN, keep->first) || !asked_any(a, a->reached, INT64_MAX)) {
			return true;	/* there is something to let go before slices are cut */
		}
	}
	if (keep->spacing == 0) {
		keep->first = MAX(keep->first, a->windows->len > 0 ? g_array_index(a->windows, struct lqn_window, 0).begin :
			a->begin_mark ? a->reached : a->begin);
		keep->spacing = keep->width = MAX((a->reached - keep->first) / SLICES_MANY, 1);
	} else if (slices >= SLICES_MANY || (slices > SLICES_FEW && (fewer || keep->width / 2 < keep->tail))) {
		keep->spacing *= 2;
	} else if (keep->width > MAX(2 * keep->tail, 1)) {
		keep->width /= 2;
	} else {
		return false;
	}
	keep->tail = MIN(keep->tail, keep->width);
	return true;
}

void lqn_keep_within(struct lqn_analysis *a)
{
	struct lqn_keep *keep = &a->keep;
	bool fewer = false;

	lqn_forget(a);
	for (uint64_t before; (before = keep->held) > keep->budget / 2 && cut(a, fewer);) {
		lqn_forget(a);
		fewer = keep->held > before - before / 4;
	}
	while (keep->spacing > 0 && (a->reached - keep->first) / keep->spacing > SLICES_MAX) {
		keep->spacing *= 2;
	}
	/* what is alive may be more than the budget: then this must not be tried at every event */
	keep->limit = MAX(keep->budget, keep->held + keep->budget / 2);
}
