/* SPDX-License-Identifier: MIT */

/*
 * Sleeps within a cycle. One sleep of a client looks like another; but between two cycles of a client that mixes what it asks, any
 * may follow any, and within a cycle what comes next is given. So a sleep is within a cycle if what follows it follows
 * nothing else, or what is before it is followed by nothing else, far beyond chance, and if it is clearly shorter than the sleeps
 * between cycles (or one is for a time, and the others are until times of the clock). Where all segments look the same, or all
 * come in turn, the longest of the sleeps is that between cycles, if they differ clearly by their place in the turn.
 * Spans that a program tells of go before: what one of them lies around is one cycle, and what has spans of different requests is not.
 */
#include "regroup.h"

#include <math.h>

#define KINDS 64		/* of segments that are told apart; the rarer ones are one */
#define TIMES_MIN 10		/* that something must have been seen to say anything of it */
#define ALWAYS 0.95		/* the rest are effects of failures, and of what the trace lacks */
#define LOG_CHANCE -14.0	/* e to that: one in a million */
#define CLEARLY 1.5		/* a sleep that is longer by this factor in the mean … */
#define BEYOND_CHANCE 3.5	/* … and by so many standard errors is clearly longer */
#define TURN_MAX 8		/* segments of one cycle that look alike */
#define TURNS_MIN 4		/* seen of one thread, in each of the halves of its time */
#define CYCLES_MIN 20		/* that spans must make of a client's segments, to be of cycles */

/* Sleeps of one kind. */
struct sleeps {
	double n, sum, square;		/* s, s² */
	guint absolute;
};

static void add_sleep(struct sleeps *sleeps, const struct lqn_invocation *before, const struct lqn_invocation *it)
{
	double gap = MAX(0, (double) (it->begin - before->end) / 1e9);

	sleeps->n++;
	sleeps->sum += gap;
	sleeps->square += gap * gap;
	sleeps->absolute += it->absolute;
}

static void add_sleeps(struct sleeps *sleeps, const struct sleeps *more)
{
	sleeps->n += more->n;
	sleeps->sum += more->sum;
	sleeps->square += more->square;
	sleeps->absolute += more->absolute;
}

static double mean_of(const struct sleeps *sleeps)
{
	return sleeps->n > 0 ? sleeps->sum / sleeps->n : 0;
}

/* Of the mean's error, the square. */
static double error_of(const struct sleeps *sleeps)
{
	double mean = mean_of(sleeps);

	return MAX(0, sleeps->square / sleeps->n - mean * mean) / (sleeps->n - 1);
}

static bool are_shorter(const struct sleeps *these, const struct sleeps *those)
{
	double difference = mean_of(those) - mean_of(these);

	return these->n >= TIMES_MIN && those->n >= TIMES_MIN && mean_of(those) > CLEARLY * mean_of(these) &&
		difference > BEYOND_CHANCE * sqrt(error_of(these) + error_of(those));
}

static bool are_of_the_clock(const struct sleeps *sleeps)
{
	return sleeps->absolute >= ALWAYS * sleeps->n;
}

static bool are_relative(const struct sleeps *sleeps)
{
	return sleeps->absolute <= (1 - ALWAYS) * sleeps->n;
}

/* ---- joining ---- */

static bool follows(const struct lqn_build *build, const GPtrArray *thread, guint i)
{
	return i > 0 && lqn_segment_follows(build->a, thread->pdata[i - 1], thread->pdata[i]);
}

/* ---- by spans ---- */

static void join_told(struct lqn_build *build, struct lqn_segments *segments)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
	guint cycles = 0, joined = 0;

	for (guint t = 0; t < segments->threads->len; t++) {
		const GPtrArray *thread = segments->threads->pdata[t];
		bool *belongs = g_new0(bool, thread->len + 1);
		int64_t until = 0;

		g_ptr_array_add(all, belongs);
		for (guint i = 0; i < thread->len; i++) {
			const struct lqn_invocation *it = thread->pdata[i];

			belongs[i] = follows(build, thread, i) && it->begin < until;
			until = belongs[i] ? until : it->told_until;
			cycles += it->told_until > 0 && !belongs[i];
			joined += belongs[i];
		}
	}
	for (guint t = 0; joined > 0 && cycles >= CYCLES_MIN && t < segments->threads->len; t++) {
		lqn_segments_join_marked(build, segments, segments->threads->pdata[t], all->pdata[t]);
	}
}

/* ---- by what follows what ---- */

struct order {
	guint kinds;
	GHashTable *numbers;			/* hash of what a segment asks -> its number + 1 */
	struct sleeps *sleeps;			/* between kinds: [before * KINDS + after] */
	double before[KINDS], after[KINDS];	/* how often a kind is before a sleep, and after one */
	double all;
};

/* How a segment begins, and what it asks, each thing that it asks several times in a row once. */
static guint64 hash_of(const struct lqn_invocation *it, unsigned view)
{
	guint64 hash = 1 + it->absolute, last = 0;

	for (const struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
		guint64 call = arc->gone ? last : lqn_segment_call(arc, view);

		hash = call == last ? hash : (hash ^ call) * 0x9e3779b97f4a7c15u;
		last = call;
	}
	return hash;
}

static guint kind_of(struct order *order, const struct lqn_invocation *it, unsigned view)
{
	guint64 hash = hash_of(it, view);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(order->numbers, &hash));

	if (number == 0) {
		number = MIN(g_hash_table_size(order->numbers) + 1, KINDS);
		g_hash_table_insert(order->numbers, g_memdup2(&hash, sizeof(hash)), GUINT_TO_POINTER(number));
		order->kinds = MAX(order->kinds, number);
	}
	return number - 1;
}

/* Not so the last kind if others that are too many to be told apart are of it, too. */
static bool is_known(const struct order *order, guint kind)
{
	return kind + 1 < KINDS || g_hash_table_size(order->numbers) <= KINDS;
}

static void order_init(struct order *order, const struct lqn_build *build, const struct lqn_segments *segments, unsigned view)
{
	*order = (struct order) { .numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.sleeps = g_new0(struct sleeps, KINDS * KINDS) };
	for (guint t = 0; t < segments->threads->len; t++) {
		const GPtrArray *thread = segments->threads->pdata[t];
		guint last = 0;

		for (guint i = 0; i < thread->len; i++) {
			guint kind = kind_of(order, thread->pdata[i], view);

			if (follows(build, thread, i)) {
				add_sleep(&order->sleeps[last * KINDS + kind], thread->pdata[i - 1], thread->pdata[i]);
				order->before[last]++;
				order->after[kind]++;
				order->all++;
			}
			last = kind;
		}
	}
}

static void order_clear(struct order *order)
{
	g_hash_table_destroy(order->numbers);
	g_free(order->sleeps);
}

/* True if it is far beyond chance that of `of` as many as `seen` are what `others` of all are. */
static bool is_always(double seen, double of, double others, double all)
{
	return seen >= TIMES_MIN && seen >= ALWAYS * of && seen * log(others / all) < LOG_CHANCE;
}

/* What is asked before is always followed by what is asked after, or what is asked after always follows it. */
static bool is_given(const struct order *order, guint before, guint after)
{
	double seen = order->sleeps[before * KINDS + after].n;

	return before != after && is_known(order, before) && is_known(order, after) &&
		(is_always(seen, order->before[before], order->after[after], order->all) ||
		is_always(seen, order->after[after], order->before[before], order->all));
}

/* The sleeps between cycles: those after which all may come; if there are none, the longest, or those until times of the clock. */
static struct sleeps between_cycles(const struct order *order)
{
	struct sleeps free = { 0 }, longest = { 0 }, clock = { 0 };

	for (guint i = 0; i < KINDS * order->kinds; i++) {
		const struct sleeps *sleeps = &order->sleeps[i];

		if (sleeps->n > 0 && !is_given(order, i / KINDS, i % KINDS)) {
			add_sleeps(&free, sleeps);
		} else if (sleeps->n > 0 && are_of_the_clock(sleeps)) {
			add_sleeps(&clock, sleeps);
		}
		longest = sleeps->n > 0 && mean_of(sleeps) > mean_of(&longest) ? *sleeps : longest;
	}
	return free.n >= TIMES_MIN ? free : clock.n >= TIMES_MIN ? clock : longest;
}

static bool are_within(const struct sleeps *sleeps, const struct sleeps *between)
{
	return are_shorter(sleeps, between) || (are_of_the_clock(between) && are_relative(sleeps));
}

/* The shortest of the sleeps that are within cycles; as an index, -1: none. */
static int shortest_within(const struct order *order)
{
	struct sleeps between = between_cycles(order);
	int best = -1;

	for (guint i = 0; i < KINDS * order->kinds; i++) {
		const struct sleeps *sleeps = &order->sleeps[i];

		if (sleeps->n >= TIMES_MIN && is_given(order, i / KINDS, i % KINDS) && are_within(sleeps, &between) &&
				(best < 0 || mean_of(sleeps) < mean_of(&order->sleeps[best]))) {
			best = (int) i;
		}
	}
	return best;
}

/* Joins what has the shortest sleep that is within cycles between it. How many; 0: there is none. */
static guint join_given(struct lqn_build *build, struct lqn_segments *segments, unsigned view)
{
	struct order order;
	guint joined = 0;
	int which;

	order_init(&order, build, segments, view);
	which = shortest_within(&order);
	for (guint t = 0; which >= 0 && t < segments->threads->len; t++) {
		GPtrArray *thread = segments->threads->pdata[t];
		g_autofree bool *belongs = g_new0(bool, thread->len + 1);
		guint last = 0;

		for (guint i = 0; i < thread->len; i++) {
			guint kind = kind_of(&order, thread->pdata[i], view);

			belongs[i] = follows(build, thread, i) && last * KINDS + kind == (guint) which;
			last = kind;
		}
		joined += lqn_segments_join_marked(build, segments, thread, belongs);
	}
	order_clear(&order);
	return joined;
}

/* ---- by turns ---- */

/* A stretch of a thread's segments that follow each other: [from, until). */
struct stretch {
	const GPtrArray *thread;
	guint from, until;
};

static bool next_stretch(const struct lqn_build *build, struct stretch *stretch)
{
	stretch->from = stretch->until;
	if (stretch->from >= stretch->thread->len) {
		return false;
	}
	for (stretch->until++; stretch->until < stretch->thread->len && follows(build, stretch->thread, stretch->until);
			stretch->until++) {
	}
	return true;
}

/*
 * Adds the sleeps before the segments in [from, until), by their place in turns of `length`. The sleep before segment i of
 * the stretch has place (i - from of the stretch + shift) mod length.
 */
static void add_turns(const struct stretch *stretch, guint from, guint until, guint length, guint shift, struct sleeps *places)
{
	for (guint i = MAX(from, stretch->from + 1); i < until; i++) {
		add_sleep(&places[(i - stretch->from + shift) % length], stretch->thread->pdata[i - 1], stretch->thread->pdata[i]);
	}
}

/* The shift with which the longest sleeps of the part of a stretch have place 0. */
static guint shift_of(const struct stretch *stretch, guint from, guint until, guint length)
{
	struct sleeps places[TURN_MAX] = { 0 };
	guint longest = 0;

	add_turns(stretch, from, until, length, 0, places);
	for (guint i = 1; i < length; i++) {
		longest = mean_of(&places[i]) > mean_of(&places[longest]) ? i : longest;
	}
	return length - longest;
}

/*
 * Whether the places in turns of `length` differ clearly. Where a turn begins is what one half of each stretch says, and by the
 * other it is judged: else the longest would be longer by choice.
 */
static bool is_turn(const struct lqn_build *build, const struct lqn_segments *segments, guint length)
{
	struct sleeps places[TURN_MAX] = { 0 };

	for (guint t = 0; t < segments->threads->len; t++) {
		struct stretch stretch = { segments->threads->pdata[t], 0, 0 };

		while (next_stretch(build, &stretch)) {
			guint middle = stretch.from + (stretch.until - stretch.from) / 2;

			if (middle - stretch.from >= TURNS_MIN * length) {
				add_turns(&stretch, middle, stretch.until, length,
					shift_of(&stretch, stretch.from, middle, length), places);
				add_turns(&stretch, stretch.from, middle, length,
					shift_of(&stretch, middle, stretch.until, length), places);
			}
		}
	}
	for (guint i = 1; i < length; i++) {
		if (!are_shorter(&places[i], &places[0])) {
			return false;
		}
	}
	return true;
}

static void join_turns(struct lqn_build *build, struct lqn_segments *segments)
{
	guint length = 2;

	while (length <= TURN_MAX && !is_turn(build, segments, length)) {
		length++;
	}
	for (guint t = 0; length <= TURN_MAX && t < segments->threads->len; t++) {
		GPtrArray *thread = segments->threads->pdata[t];
		struct stretch stretch = { thread, 0, 0 };
		g_autofree bool *belongs = g_new0(bool, thread->len + 1);

		while (next_stretch(build, &stretch)) {
			guint shift = shift_of(&stretch, stretch.from, stretch.until, length);

			for (guint i = stretch.from + 1; i < stretch.until && stretch.until - stretch.from >= length; i++) {
				belongs[i] = (i - stretch.from + shift) % length != 0;
			}
		}
		lqn_segments_join_marked(build, segments, thread, belongs);
	}
}

/* Two that always follow each other, though no sleep says that they are one cycle. */
static bool is_ambiguous(const struct lqn_build *build, const struct lqn_segments *segments)
{
	struct order order;
	bool found = false;

	order_init(&order, build, segments, LQN_VIEW_SERVICE);
	for (guint i = 0; i < KINDS * order.kinds; i++) {
		double seen = order.sleeps[i].n;

		found |= is_given(&order, i / KINDS, i % KINDS) && seen >= ALWAYS * order.before[i / KINDS] &&
			seen >= ALWAYS * order.after[i % KINDS];
	}
	order_clear(&order);
	return found;
}

void lqn_segments_join_sequences(struct lqn_build *build, struct lqn_segments *segments)
{
	guint before;

	join_told(build, segments);
	do {
		before = segments->joined;
		for (unsigned view = 0; view < LQN_VIEWS; view++) {
			while (join_given(build, segments, view) > 0) {
			}
		}
		join_turns(build, segments);
		lqn_segments_join_lengths(build, segments);
	} while (segments->joined > before);
	if (segments->joined > 0) {
		lqn_build_note(build, "%s: %u of its sleeps, of %.3g ms in the mean, are within its cycles",
			segments->name, segments->joined, (double) segments->slept / 1e6 / segments->joined);
	}
	if (is_ambiguous(build, segments)) {
		lqn_build_note(build, "%s: some of what it asks always comes in the same order; the sleeps between are not clearly "
			"shorter than others, so each is taken for a cycle", segments->name);
	}
}
