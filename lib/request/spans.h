/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_SPANS_H
#define LQN_REQUEST_SPANS_H

/* What became of the spans that programs told of. Private to lib/request but for the counts. */
#include "event/event.h"
#include "span-clock.h"

struct lqn_analysis;
struct lqn_party;
struct lqn_spans;

/* What the model says of them. */
struct lqn_span_counts {
	uint64_t told;			/* ended */
	uint64_t certain;		/* joined with the work of the thread that they name … */
	uint64_t inferred;		/* … of a process, or a service, with whose work they overlap best */
	uint64_t unfinished, headless;	/* without an end; ends without a begin */
	uint64_t repeated;		/* begun again with the same ids while they were open */
	uint64_t unlinked;		/* messages of no span that was open, or too many at a time */
	int64_t ahead_min, ahead_max;	/* ns; the kernel's clock against theirs; min > max: not known */
};

/* How long after its end a span is joined: all that it may overlap is known by then, even if its clock is behind. */
#define LQN_SPAN_DELAY (2 * LQN_SPAN_LAG_MAX)
/* ns that an ended span waits after that at most for others of its trace to end. */
#define LQN_SPAN_PATIENCE 200000000

struct lqn_spans *lqn_spans_new(void);
void lqn_spans_free(struct lqn_spans *spans);

/* A span begins; LQN_SPAN_DELAY after one has ended. In order of time. */
void lqn_on_span(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_span_end(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);

/* One that has begun has received a message besides. */
void lqn_on_span_message(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);

/* Joins those whose service is not known yet, as well as can be. */
void lqn_spans_flush(struct lqn_analysis *analysis);

struct lqn_span_counts lqn_spans_count(const struct lqn_spans *spans);

#endif
