/* SPDX-License-Identifier: MIT */

/*
 * Lets the past go. What stays of the conversation: what began at a time that is kept, what still goes on (a thread works on it, an
 * answer is awaited, a message is under way), and from there the callers up to the root, for the path of callers says what
 * operation something is. Of the rest nothing is said any more: calls to it are taken out of their callers, which are not kept
 * themselves. Then go waits, receipts, and packets; then threads that have died and channels that are closed, if nothing that
 * stays speaks of them.
 */
#include "internal.h"

#define HOPS_MAX 64		/* callers above what is kept: as far as anybody looks up (clutter.c) */
#define CALLS_MAX 4096		/* requests of one end that nobody has answered yet */
#define CALLS_MAX_ONE_WAY 64	/* … where nobody ever did */

struct look {			/* an invocation, and how far it is above what is kept */
	struct lqn_invocation *it;
	int hops;
};

struct forget {
	struct lqn_analysis *a;
	GArray *stack;		/* struct look: their callers are not marked yet */
	uint64_t held;		/* bytes, of the past */
};

/* ---- the conversation: what stays ---- */

static void need(struct forget *f, struct lqn_invocation *it, int hops)
{
	struct look look = { it, hops };

	if (it && !it->needed && hops <= HOPS_MAX) {
		it->needed = true;
		g_array_append_val(f->stack, look);
	}
}

static void need_arc(struct forget *f, struct lqn_arc *arc, int hops)
{
	if (arc) {
		arc->needed = true;
		need(f, arc->caller, hops);
		need(f, arc->callee, hops);
	}
}

/* Marks what those marked so far rest on. */
static void follow(struct forget *f)
{
	while (f->stack->len > 0) {
		struct look look = g_array_index(f->stack, struct look, f->stack->len - 1);

		g_array_set_size(f->stack, f->stack->len - 1);
		need(f, look.it->into, look.hops);
		need(f, look.it->tail_of, look.hops);
		need(f, look.it->helps, look.hops);
		if (look.it->request && look.hops < HOPS_MAX) {
			need_arc(f, look.it->request, look.hops + 1);
		}
	}
}

static void need_of_actor(struct forget *f, struct lqn_actor *actor)
{
	need(f, actor->current, 0);
	for (GList *it = actor->idle.head; it; it = it->next) {
		need(f, it->data, 0);
	}
	need(f, actor->pending_reply, 0);
	need(f, actor->handed, 0);
	need(f, actor->helping, 0);
	need_arc(f, actor->pending_request, 0);
	for (uint32_t i = 0; i < actor->n_holds; i++) {
		need(f, actor->holds[i].invocation, 0);
	}
}

/* The oldest of many requests without an answer are given up. */
static void bound_queues(struct lqn_analysis *a, struct lqn_end *end)
{
	guint most = end->peer && lqn_end_real(end->peer)->sends > 0 ? CALLS_MAX : CALLS_MAX_ONE_WAY;

	while (end->calls.length > most) {
		g_queue_pop_head(&end->calls);
		a->healed += most == CALLS_MAX;
	}
	while (end->open.length > CALLS_MAX) {
		g_queue_pop_head(&end->open);
		a->healed++;
	}
}

static void need_of_end(struct forget *f, struct lqn_end *end)
{
	bound_queues(f->a, end);
	if (end->closed > 0 && end->closed < f->a->reached) {
		end->answered = NULL;	/* the answer does not go on; each would keep the other for ever */
	}
	need(f, end->answered, 0);
	for (GList *it = end->open.head; it; it = it->next) {
		need(f, it->data, 0);
	}
	for (GList *it = end->calls.head; it; it = it->next) {
		need_arc(f, it->data, 0);
	}
	for (struct lqn_note *note = end->notes; note; note = note->next) {
		need_arc(f, note->arc, 0);
		need(f, note->reply_of, 0);
		need(f, note->caller, 0);
	}
}

static bool is_kept(const struct lqn_analysis *a, int64_t ts)
{
	return lqn_keeps_any(a, ts, ts + 1);
}

static void need_of_past(struct forget *f)
{
	struct lqn_analysis *a = f->a;

	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];

		if (!is_kept(a, it->begin)) {
			continue;
		}
		need(f, it, 0);
		f->held += sizeof(*it);
		for (struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
			f->held += sizeof(*wait);
		}
		for (struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
			if (is_kept(a, arc->sent)) {
				need_arc(f, arc, 0);
				f->held += sizeof(*arc);
			}
		}
	}
	for (guint i = 0; i < a->samples->len; i++) {
		const struct lqn_hold_sample *sample = &g_array_index(a->samples, struct lqn_hold_sample, i);

		if (is_kept(a, sample->begin)) {
			need(f, sample->invocation, 0);
			f->held += sizeof(*sample);
		}
	}
}

static void mark(struct forget *f)
{
	for (guint i = 0; i < f->a->hosts->len; i++) {
		struct lqn_party *host = f->a->hosts->pdata[i];
		GHashTableIter iter;
		gpointer value;

		for (guint k = 0; k < host->by_age->len; k++) {
			need_of_actor(f, host->by_age->pdata[k]);
		}
		g_hash_table_iter_init(&iter, host->units);
		while (g_hash_table_iter_next(&iter, NULL, &value)) {
			const GPtrArray *unclaimed = ((struct lqn_unit *) value)->unclaimed;

			const GPtrArray *unhanded = ((struct lqn_unit *) value)->unhanded;

			for (guint k = 0; unclaimed && k < unclaimed->len; k++) {
				need_arc(f, unclaimed->pdata[k], 0);
			}
			for (guint k = 0; unhanded && k < unhanded->len; k++) {
				need(f, unhanded->pdata[k], 0);
			}
		}
		g_hash_table_iter_init(&iter, host->ends);
		while (g_hash_table_iter_next(&iter, NULL, &value)) {
			need_of_end(f, value);
		}
	}
	need_of_past(f);
	follow(f);
}

/* ---- the conversation: what goes ---- */

/* Takes out of an invocation that stays what does not. */
static void prune(struct lqn_invocation *it)
{
	struct lqn_arc *arc = it->arcs, *next;

	it->arcs = it->last_arc = NULL;
	for (; arc; arc = next) {
		next = arc->next;
		if (!arc->needed) {
			continue;
		}
		arc->next = NULL;
		*(it->last_arc ? &it->last_arc->next : &it->arcs) = arc;
		it->last_arc = arc;
		if (arc->callee && !arc->callee->needed) {
			arc->callee = NULL;
		}
	}
	if (it->request && !it->request->needed) {
		/* far above what is kept: who called it is nobody's question */
		it->request = NULL;
		it->gone = true;
	}
	it->into = it->into && it->into->needed ? it->into : NULL;
	it->tail_of = it->tail_of && it->tail_of->needed ? it->tail_of : NULL;
	it->helps = it->helps && it->helps->needed ? it->helps : NULL;
}

/* Of each list those that stay go to the front, in their order. */

static void sweep_arcs(struct lqn_analysis *a)
{
	guint n = 0;

	for (guint i = 0; i < a->arcs->len; i++) {
		struct lqn_arc *arc = a->arcs->pdata[i];

		if (arc->needed) {
			arc->needed = false;
			a->arcs->pdata[n++] = arc;
		} else {
			lqn_region_free(&a->keep.region, arc, sizeof(*arc));
		}
	}
	g_ptr_array_set_size(a->arcs, (gint) n);
}

static void sweep_samples(struct lqn_analysis *a)
{
	guint n = 0;

	for (guint i = 0; i < a->samples->len; i++) {
		struct lqn_hold_sample *sample = &g_array_index(a->samples, struct lqn_hold_sample, i);

		if (is_kept(a, sample->begin)) {
			g_array_index(a->samples, struct lqn_hold_sample, n++) = *sample;
		}
	}
	g_array_set_size(a->samples, n);
}

static void sweep_told(struct lqn_analysis *a)
{
	guint n = 0;

	for (guint i = 0; i < a->told->len; i++) {
		const struct lqn_told_message *told = &g_array_index(a->told, struct lqn_told_message, i);

		if (told->work->needed) {
			g_array_index(a->told, struct lqn_told_message, n++) = *told;
		}
	}
	g_array_set_size(a->told, n);
}

static void sweep_invocations(struct lqn_analysis *a)
{
	guint n = 0;

	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];

		if (it->needed) {
			it->needed = false;
			a->invocations->pdata[n++] = it;
		} else {
			lqn_invocation_free(a, it);
		}
	}
	g_ptr_array_set_size(a->invocations, (gint) n);
}

static void sweep(struct lqn_analysis *a)
{
	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];

		if (it->needed) {
			prune(it);
		}
	}
	sweep_arcs(a);
	sweep_samples(a);
	sweep_told(a);		/* who is needed is known until the invocations are swept */
	sweep_invocations(a);
}

/* ---- time lines ---- */

/* Of a stretch that is not kept the last wait before a time that is stays: from there the CPU clock is counted on. */
static void forget_intervals(struct forget *f, struct lqn_actor *actor)
{
	GArray *intervals = actor->intervals;
	guint n = 0;

	for (guint i = 0; i < intervals->len; i++) {
		const struct lqn_interval *it = &g_array_index(intervals, struct lqn_interval, i);
		int64_t next = i + 1 < intervals->len ? it[1].begin : INT64_MAX;

		if (lqn_keeps_any(f->a, it->begin, next)) {
			f->held += it->begin < f->a->reached && next < INT64_MAX ? sizeof(*it) : 0;
			g_array_index(intervals, struct lqn_interval, n++) = *it;
		}
	}
	g_array_set_size(intervals, n);
}

static void forget_receipts(struct forget *f, struct lqn_actor *actor)
{
	guint n = 0;

	for (guint i = 0; actor->receipts && i < actor->receipts->len; i++) {
		const struct lqn_receipt *it = &g_array_index(actor->receipts, struct lqn_receipt, i);

		if (lqn_keeps_any(f->a, it->begin, it->end + 1)) {
			f->held += it->begin < f->a->reached ? sizeof(*it) : 0;
			g_array_index(actor->receipts, struct lqn_receipt, n++) = *it;
		}
	}
	if (actor->receipts) {
		g_array_set_size(actor->receipts, n);
	}
}

static void forget_interruptions(struct forget *f, struct lqn_actor *actor)
{
	guint n = 0;

	for (guint i = 0; actor->interruptions && i < actor->interruptions->len; i++) {
		const struct lqn_interruption *it = &g_array_index(actor->interruptions, struct lqn_interruption, i);

		if (lqn_keeps_any(f->a, it->begin, it->end)) {
			f->held += it->begin < f->a->reached ? sizeof(*it) : 0;
			g_array_index(actor->interruptions, struct lqn_interruption, n++) = *it;
		}
	}
	if (actor->interruptions) {
		g_array_set_size(actor->interruptions, n);
	}
}

void lqn_forget(struct lqn_analysis *a)
{
	struct forget f = { .a = a, .stack = g_array_new(FALSE, FALSE, sizeof(struct look)) };

	mark(&f);
	sweep(a);
	g_array_free(f.stack, TRUE);
	if (!a->thread) {	/* whose path may lead anywhere */
		for (guint i = 0; i < a->hosts->len; i++) {
			struct lqn_party *host = a->hosts->pdata[i];

			for (guint k = 0; k < host->by_age->len; k++) {
				forget_intervals(&f, host->by_age->pdata[k]);
				forget_receipts(&f, host->by_age->pdata[k]);
				forget_interruptions(&f, host->by_age->pdata[k]);
			}
			f.held += lqn_ios_forget(a, host);
		}
		f.held += lqn_packets_forget(a) + lqn_parties_forget(a);
	}
	a->keep.held = f.held;
}
