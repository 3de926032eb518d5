/* SPDX-License-Identifier: MIT */
#ifndef LQN_SPANS_SET_H
#define LQN_SPANS_SET_H

/*
 * Spans out of files, all of them: files hold them in the order in which they were exported, so that only the last byte
 * tells which begins first. A span takes some 100 bytes, a name its length once.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

#define LQN_SPAN_TEXT_MAX 256	/* bytes kept of a name */
#define LQN_SPANS_MAX_COUNT (1u << 30)

struct lqn_file_span {
	uint64_t trace_high, trace_low;	/* 128 bits; never 0 */
	uint64_t id, parent;		/* parent 0: none */
	uint32_t link, links;		/* of the set's: others that caused this one, in front of which it stands; how many */
	int64_t begin, end;		/* ns since 1970; begin <= end */
	const char *name, *service, *host;	/* of the set; NULL: not told */
	const char *message;		/* what its sender and its receivers call it; of the set; NULL: not told */
	int32_t pid, tid;		/* -1: not told */
	uint32_t line;			/* where it stands, for warnings */
	uint16_t file;			/* likewise: number in the set */
	uint8_t kind;			/* enum lqn_span_kind */
	bool gone;			/* left out */
};

/* What is wrong with a span, or with a file of them. */
enum lqn_span_flaw {
	LQN_FLAW_CUT,			/* a document broke off */
	LQN_FLAW_TOO_LONG,
	LQN_FLAW_SYNTAX,		/* an object is no JSON */
	LQN_FLAW_NO_ID,			/* trace or span id missing, or none */
	LQN_FLAW_NO_BEGIN,
	LQN_FLAW_NO_END,
	LQN_FLAW_BACKWARD,		/* it ends before it begins */
	LQN_FLAW_RANGE,			/* a time is out of range */
	LQN_FLAW_TEXT,			/* no UTF-8 */
	LQN_FLAW_DUPLICATE,
	LQN_FLAW_CYCLE,			/* among its own ancestors */
	LQN_FLAW_ORPHAN,		/* its parent is in no file */
	LQN_FLAW_EARLY,			/* it begins before its parent does */
	LQN_FLAW_MANY,
	LQN_SPAN_FLAWS
};

/* A span that another is linked with. */
struct lqn_span_link {
	uint64_t trace_high, trace_low, id;
	const char *message;		/* what it has sent to that one; of the set; NULL: nothing that is known */
};

/* How often, and where first. */
struct lqn_span_count {
	uint64_t count;
	uint32_t line;
	uint16_t file;
};

/* A moment of a span, for a walk in order of time. */
struct lqn_span_moment {
	int64_t ts;
	uint32_t span;			/* index */
	uint32_t link;			/* > 0: it has one more message, that of the link before this number */
	bool end;
};

struct lqn_span_set {
	GArray *spans;			/* struct lqn_file_span; owned */
	GArray *links;			/* struct lqn_span_link; owned */
	GArray *moments;		/* struct lqn_span_moment, after lqn_span_set_settle(); owned */
	GPtrArray *files;		/* names, owned */
	GStringChunk *texts;		/* owned */
	GHashTable *known;		/* texts that are there; owned */
	struct lqn_span_count flaws[LQN_SPAN_FLAWS];
};

void lqn_span_set_init(struct lqn_span_set *set);
void lqn_span_set_clear(struct lqn_span_set *set);

void lqn_span_set_flaw(struct lqn_span_set *set, enum lqn_span_flaw flaw, uint32_t file, uint32_t line);

/* A text of the set that is equal, as UTF-8 and not too long; NULL for an empty one. `len` < 0: up to a zero. */
const char *lqn_span_set_text(struct lqn_span_set *set, const char *text, gssize len, uint32_t file, uint32_t line);

/* Links a span that is not in the set yet with another: all of its links one after the other. */
void lqn_span_set_link(struct lqn_span_set *set, struct lqn_file_span *span, uint64_t trace_high, uint64_t trace_low, uint64_t id);

/* Adds `offset` ns to all times; spans for which that is out of range are left out. Before lqn_span_set_settle(). */
void lqn_span_set_shift(struct lqn_span_set *set, int64_t offset);

/*
 * After the last file: leaves out duplicates, cuts circles of parents, counts what else is odd, and puts begins and ends
 * in order of time. O(n log n).
 */
void lqn_span_set_settle(struct lqn_span_set *set);

/* What a flaw means, for people: `12 spans without an end (left out)`. Never NULL. */
const char *lqn_span_flaw_text(enum lqn_span_flaw flaw);

#endif
