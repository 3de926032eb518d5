/* SPDX-License-Identifier: MIT */
#include "span-join.h"

#include "internal.h"

#define LOOK_BACK 16384		/* invocations looked at for one span */
#define EARLIER 256		/* of them, that began too early, in a row: there are no others */
#define SHARE 0.5		/* of the shorter of the two, that they must have in common */
#define BEGINS 4		/* how much surer a begin is than an end */
#define LONGER 50000		/* ns that an invocation may be longer or shorter than a span for all that */
#define SLACK 1000000		/* ns that a span may begin before its work, by its own clock */
#define FAR (INT64_MAX / 16)	/* ns: nothing is farther off than that */

/* ---- whose work it may be ---- */

static bool worked_on(const struct lqn_invocation *it, const struct lqn_actor *actor)
{
	return it->actor == actor || (it->actors && g_ptr_array_find(it->actors, actor, NULL));
}

static bool is_within(const struct lqn_span_scope *scope, const struct lqn_invocation *it)
{
	if (it->actor->host != scope->host) {
		return false;
	}
	if (scope->threads[0] || scope->threads[1]) {
		return (scope->threads[0] && worked_on(it, scope->threads[0])) ||
			(scope->threads[1] && worked_on(it, scope->threads[1]));
	}
	if (scope->unit) {
		return it->actor->unit == scope->unit;
	}
	return !scope->process || lqn_service_name(it->actor) == scope->process;
}

/* A thread of another process than the span's is a number that means something else. */
static const struct lqn_actor *thread_of(const struct lqn_party *host, uint64_t key, uint32_t pid)
{
	const struct lqn_actor *actor = lqn_party_find_actor(host, key);

	return actor && (pid == 0 || actor->unit->pid == pid) ? actor : NULL;
}

struct lqn_span_scope lqn_span_scope(const struct lqn_party *host, const struct lqn_span *span)
{
	struct lqn_span_scope scope = { .host = host };

	scope.threads[0] = thread_of(host, span->thread, span->pid);
	scope.threads[1] = thread_of(host, span->end_thread, span->pid);
	if (!scope.threads[0] && !scope.threads[1] && span->pid) {
		scope.unit = g_hash_table_lookup(host->units, GUINT_TO_POINTER(span->pid));
	}
	return scope;
}

/* ---- the nearest of it ---- */

struct fit {
	struct lqn_invocation *invocation;	/* NULL: none */
	int64_t begin, end;		/* of the span, by the kernel's clock */
	int64_t until;			/* of the invocation */
	int64_t distance;
};

static int64_t end_of(const struct lqn_invocation *it, int64_t now)
{
	/* what its thread works on goes on */
	return it->replied == 0 && lqn_final(it->actor->current) == it ? MAX(it->end, now) : MAX(it->end, it->replied);
}

static struct fit fit_of(const struct lqn_spans *spans, const struct lqn_span *span, struct lqn_invocation *it)
{
	struct fit fit = { it, span->begin + spans->ahead, span->end + spans->ahead, 0, 0 };

	fit.until = end_of(it, fit.end);
	/* no time is so far off that it matters how far */
	fit.distance = BEGINS * MIN(ABS(it->begin - fit.begin), FAR) + MIN(ABS(fit.until - fit.end), FAR);
	return fit;
}

static bool begins_within(const struct fit *fit)
{
	return fit->begin >= fit->invocation->begin && fit->begin < fit->until;
}

static bool has_enough_in_common(const struct fit *fit)
{
	int64_t begin = fit->invocation->begin, common = MIN(fit->end, fit->until) - MAX(fit->begin, begin);

	return begins_within(fit) ||
		(common >= 0 && (double) common >= SHARE * (double) MIN(fit->end - fit->begin, fit->until - begin));
}

/* What work has become part of; NULL if it is the beginning of other work, or none at all. */
static struct lqn_invocation *whole(struct lqn_invocation *it)
{
	struct lqn_invocation *final = lqn_final(it);

	return final->gone || (final->tail_of && !final->into) ? NULL : final;
}

/* Calls `visit` for what may be a span's work, the latest first. */
static void each_candidate(struct lqn_analysis *a, const struct lqn_span *span, const struct lqn_span_scope *scope,
	void (*visit)(const struct lqn_span *span, const struct fit *fit, void *payload), void *payload)
{
	int64_t since = span->begin - (span->end - span->begin) - 2 * LQN_SPAN_LAG_MAX;
	guint early = 0, from = a->invocations->len, until = from > LOOK_BACK ? from - LOOK_BACK : 0;

	for (guint i = from; i > until && early < EARLIER; i--) {
		struct lqn_invocation *it = whole(a->invocations->pdata[i - 1]);
		struct fit fit;

		early = it && it->begin >= since ? 0 : early + 1;
		if (!it || !is_within(scope, it)) {
			continue;
		}
		fit = fit_of(a->spans, span, it);
		if (has_enough_in_common(&fit)) {
			visit(span, &fit, payload);
		}
	}
}

static void keep_nearest(const struct lqn_span *span, const struct fit *fit, void *payload)
{
	struct fit *nearest = payload;

	if (!nearest->invocation || fit->distance < nearest->distance) {
		*nearest = *fit;
	}
}

static struct fit nearest_of(struct lqn_analysis *a, const struct lqn_span *span, const struct lqn_span_scope *scope)
{
	struct fit nearest = { NULL, 0, 0, 0, 0 };

	each_candidate(a, span, scope, keep_nearest, &nearest);
	return nearest;
}

struct lqn_invocation *lqn_span_nearest(struct lqn_analysis *a, const struct lqn_span *span,
	const struct lqn_span_scope *scope)
{
	return nearest_of(a, span, scope).invocation;
}

/* The nearest of what `caller` has called within the scope: that of a span whose parent is the caller's. */
static struct fit called_by(struct lqn_analysis *a, const struct lqn_span *span, const struct lqn_span_scope *scope,
	const struct lqn_invocation *caller)
{
	struct fit nearest = { NULL, 0, 0, 0, 0 };

	for (const struct lqn_arc *arc = caller->arcs; arc; arc = arc->next) {
		struct lqn_invocation *callee = arc->callee && !arc->gone ? whole(arc->callee) : NULL;

		if (callee && is_within(scope, callee)) {
			struct fit fit = fit_of(a->spans, span, callee);

			if (has_enough_in_common(&fit)) {
				keep_nearest(span, &fit, &nearest);
			}
		}
	}
	return nearest;
}

/* ---- the lag ---- */

void lqn_span_lag(struct lqn_analysis *a, const struct lqn_span *span, const struct lqn_span_scope *scope)
{
	guint early = 0, from = a->invocations->len, until = from > LOOK_BACK ? from - LOOK_BACK : 0;

	for (guint i = from; i > until && early < EARLIER; i--) {
		const struct lqn_invocation *it = whole(a->invocations->pdata[i - 1]);
		int64_t length = span->end - span->begin, longer;

		early = it && it->begin >= span->begin - LQN_SPAN_LAG_MAX ? 0 : early + 1;
		if (!it || !is_within(scope, it)) {
			continue;
		}
		/* who calls and who is called begin at lags of their own, but do not take as long */
		longer = end_of(it, span->end) - it->begin - length;
		if (ABS(longer) <= length / 4 + LONGER) {
			lqn_span_clock_lag(&a->spans->clock, it->begin - span->begin);
		}
	}
	lqn_span_clock_next(&a->spans->clock);
}

/* ---- joining ---- */

/* The span's name, if none that begins earlier within the invocation, or is nearer, names it. */
static void name_by(const struct lqn_span *span, const struct fit *fit)
{
	struct lqn_invocation *it = fit->invocation;
	bool outgoing = span->kind == LQN_SPAN_CLIENT || span->kind == LQN_SPAN_PRODUCER;
	int64_t rank = ABS(fit->begin - it->begin);

	if (!begins_within(fit) && rank > MIN(SLACK, (fit->until - it->begin) / 2)) {
		rank = INT64_MAX / 2 + MIN(fit->distance, INT64_MAX / 2);
	}
	/* a call that goes out of an operation is no name for it */
	if ((outgoing && it->request) || *span->name == '\0' || (it->operation && it->rank <= rank)) {
		return;
	}
	it->operation = span->name;
	it->rank = rank;
	it->trace = span->key.trace;
	it->span = span->key.span;
}

static void name_and_keep(const struct lqn_span *span, const struct fit *fit, void *payload)
{
	if (fit->begin >= fit->invocation->begin - SLACK && fit->begin < fit->until) {
		fit->invocation->told_until = MAX(fit->invocation->told_until, fit->end);
	}
	name_by(span, fit);	/* it may lie around several */
	keep_nearest(span, fit, payload);
}

/* What a server's span says of its clock, see span-clock.h. */
static void bound_clock(struct lqn_spans *spans, const struct lqn_span *span, const struct lqn_invocation *it)
{
	const struct lqn_arc *first = it->arcs, *last = it->last_arc;

	if (!it->request || it->span != span->key.span || it->trace != span->key.trace) {
		return;
	}
	lqn_span_clock_lower(&spans->clock, it->begin - span->begin);
	if (first) {
		lqn_span_clock_upper(&spans->clock, first->sent - span->begin);
	} else if (it->replied > 0) {
		/* who asks nobody at least answers */
		lqn_span_clock_upper(&spans->clock, it->replied - span->begin);
	}
	if (last && last->replied > 0) {
		lqn_span_clock_lower(&spans->clock, last->replied - span->end);
	}
}

struct lqn_invocation *lqn_span_join(struct lqn_analysis *a, const struct lqn_span *span,
	const struct lqn_span_scope *scope, const struct lqn_invocation *parent, bool certain)
{
	struct fit fit = { NULL, 0, 0, 0, 0 };

	if (certain) {
		each_candidate(a, span, scope, name_and_keep, &fit);
	} else if (parent) {
		fit = called_by(a, span, scope, parent);
	}
	if (!fit.invocation && !certain) {
		fit = nearest_of(a, span, scope);
	}
	if (!fit.invocation) {
		return NULL;
	}
	if (!certain) {
		name_by(span, &fit);
	}
	bound_clock(a->spans, span, fit.invocation);
	*(certain ? &a->spans->counts.certain : &a->spans->counts.inferred) += 1;
	return fit.invocation;
}
