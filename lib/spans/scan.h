/* SPDX-License-Identifier: MIT */
#ifndef LQN_SPANS_SCAN_H
#define LQN_SPANS_SCAN_H

/*
 * Cuts span files into the objects that are worth parsing, as the bytes come: a span, the resource or the processes that
 * spans belong to. Only the object at hand is kept, so that a file may be of any size. What is JSON and what is not is
 * the parser's business: here brackets and strings are followed, no more.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LQN_SCAN_OBJECT_MAX (16u << 20)	/* bytes; a longer object is passed over */

enum lqn_scan_part {
	LQN_SCAN_NOTHING,
	LQN_SCAN_OTLP_SPAN,
	LQN_SCAN_OTLP_RESOURCE,		/* of the group's spans; before them, as a rule */
	LQN_SCAN_JAEGER_SPAN,
	LQN_SCAN_JAEGER_PROCESSES,	/* likewise; behind them, as a rule */
	LQN_SCAN_GROUP_END,		/* of what belongs together; no text */
};

enum lqn_scan_flaw {
	LQN_SCAN_CUT,			/* the document ended in the middle */
	LQN_SCAN_TOO_LONG,		/* an object was longer than LQN_SCAN_OBJECT_MAX */
};

struct lqn_scan;

struct lqn_scan_listener {
	/* `text` is valid during the call. */
	void (*part)(void *payload, enum lqn_scan_part part, const char *text, size_t len);
	void (*flaw)(void *payload, enum lqn_scan_flaw flaw);
	void *payload;
};

/* A new scanner of one file. Free with lqn_scan_free(). */
struct lqn_scan *lqn_scan_new(const struct lqn_scan_listener *listener);
void lqn_scan_free(struct lqn_scan *scan);

void lqn_scan_feed(struct lqn_scan *scan, const char *bytes, size_t len);

/* The file has ended. */
void lqn_scan_end(struct lqn_scan *scan);

/* The present line, from 1. */
uint32_t lqn_scan_line(const struct lqn_scan *scan);

/* True if anything of either format was met: a key that only they have at that place. */
bool lqn_scan_knows_format(const struct lqn_scan *scan);

/* True if the first byte that is no space begins no JSON object or array: not worth reading on. */
bool lqn_scan_is_foreign(const struct lqn_scan *scan);

/* True if there was nothing but space. */
bool lqn_scan_is_empty(const struct lqn_scan *scan);

#endif
