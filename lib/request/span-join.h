/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_SPAN_JOIN_H
#define LQN_REQUEST_SPAN_JOIN_H

/* Private to lib/request: the work that a span tells of. The rules are in spans.c. */
#include "facts.h"
#include "span-clock.h"

struct lqn_span_key {
	uint64_t trace, span;
};

struct lqn_span {
	struct lqn_span_key key;	/* first: it is the tables' key */
	uint64_t parent;		/* 0: none */
	uint64_t message;		/* 0: not told */
	GArray *more;			/* uint64_t: further messages; owned by who holds the span; NULL: none */
	uint64_t thread, end_thread;	/* 0: not told */
	int64_t begin, end;
	uint32_t pid;			/* 0: not told */
	uint8_t kind, evidence;
	uint16_t host;			/* number */
	const char *name, *service;	/* interned; service NULL: not told */
};

/* The work that comes into question: that of threads, else of a process, else of processes of a name, else of all of the host. */
struct lqn_span_scope {
	const struct lqn_party *host;
	const struct lqn_actor *threads[2];	/* NULL: not told */
	const struct lqn_unit *unit;
	const char *process;			/* interned */
};

struct lqn_spans {
	GHashTable *open;		/* struct lqn_span, owned */
	GHashTable *traces;		/* id -> struct trace, owned */
	GQueue waiting;			/* struct trace, borrowed: those with ended spans, oldest first */
	GHashTable *services;		/* struct service, owned */
	struct lqn_span_clock clock;
	struct lqn_span_counts counts;
	int64_t ahead;			/* by which the times of spans are corrected, ns */
	uint32_t more;			/* further messages of all spans that are held */
};

/* What the span itself says of whose work it is: threads, or the process; else no more than the host. */
struct lqn_span_scope lqn_span_scope(const struct lqn_party *host, const struct lqn_span *span);

/* Tells the spans' clock of the lags of a span that may be its own, see span-clock.h. */
void lqn_span_lag(struct lqn_analysis *analysis, const struct lqn_span *span, const struct lqn_span_scope *scope);

/* The invocation within the scope that is nearest to the span; NULL: none has enough of its time in common with it. */
struct lqn_invocation *lqn_span_nearest(struct lqn_analysis *analysis, const struct lqn_span *span,
	const struct lqn_span_scope *scope);

/*
 * Joins a span with work within the scope, which gets its name if none is better: one that `parent` (NULL: not known) has
 * called if there is one. Returns what it is joined with, or NULL. `certain`: the scope is beyond doubt.
 */
struct lqn_invocation *lqn_span_join(struct lqn_analysis *analysis, const struct lqn_span *span,
	const struct lqn_span_scope *scope, const struct lqn_invocation *parent, bool certain);

#endif
