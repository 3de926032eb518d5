/* SPDX-License-Identifier: MIT */
#ifndef LQN_LAYOUT_LAYOUT_H
#define LQN_LAYOUT_LAYOUT_H

/*
 * Tables that map the event classes of a tracer to struct lqn_record. A new tracer, or a new name
 * of an event or field, is a new row in one of the tables (kernel-events.c, calls.c, spans.c); the
 * plugin looks an event class up once, resolves its fields to indices, and fills records by them.
 */
#include <stddef.h>

#include "layout/record.h"

enum lqn_field_kind {
	LQN_FIELD_END,		/* closes a list */
	LQN_FIELD_I32,		/* any integer, boolean or enumeration; clamped */
	LQN_FIELD_U32,
	LQN_FIELD_64,		/* int64_t or uint64_t */
	/* char[LQN_COMM_LEN]: string, or array of 8-bit integers with or without a zero */
	LQN_FIELD_COMM,
	LQN_FIELD_TEXT,		/* `text` of the record: string or array, copied */
	/*
	 * exit.fd and exit.n_fds: array of integers, or of structures with `fd` (epoll:
	 * `data_union.fd`)
	 */
	LQN_FIELD_FDS,
	/*
	 * uint64_t: an integer, or the last 16 digits of a hexadecimal string; 0 if it is neither
	 */
	LQN_FIELD_ID,
	/* uint64_t: an integer, or the hash of a string; 0 if it is neither, or empty */
	LQN_FIELD_KEY,
	/* int32_t: the last element of an array of integers; an empty one leaves it as it is */
	LQN_FIELD_LAST,
	/* record.text, behind the name that is there: string or array, copied */
	LQN_FIELD_SERVICE,
	/* the network header with all that it holds: packet.saddr and so on */
	LQN_FIELD_PACKET,
	/* int64_t, `preset`: what the name of the event says already; no field */
	LQN_FIELD_PRESET,
};

struct lqn_layout_field {
	/*
	 * alternatives, separated by `|`, best first; a leading `_` of the trace's name does not
	 * count
	 */
	const char *names;
	enum lqn_field_kind kind;
	size_t offset;		/* into struct lqn_record */
	int64_t preset;
};

struct lqn_layout_event {
	const char *name;
	enum lqn_record_type type;
	uint8_t kind;		/* enum lqn_context or enum lqn_call */
	const struct lqn_layout_field *fields;	/* closed by LQN_FIELD_END; NULL if none */
};

/*
 * The row for an event class, or NULL if the engine has no use for it. `name` is the trace's own
 * (`sched_switch`, `syscall_entry_read`, `sched:sched_switch` …). The result lives for ever.
 */
const struct lqn_layout_event *lqn_layout_find(const char *name);

/* Events and fields by which a user says that programs tell of spans. */
struct lqn_span_layout;

/*
 * A layout out of `begin=EVENT,end=EVENT,span=FIELD` and, each at will, `trace`, `parent`, `name`,
 * `service`, `pid`, `tid` with a field (or several, best first: `A|B`). NULL, with what is wrong in
 * `*problem` (g_free()), if it is not of that form. Free with lqn_span_layout_free().
 */
struct lqn_span_layout *lqn_span_layout_new(const char *text, char **problem);
void lqn_span_layout_free(struct lqn_span_layout *layout);

/*
 * The row for an event class of a user-space trace that tells of spans, from the user's layout
 * (NULL: none) or the tables; NULL: it does not. Lives as long as the user's layout does.
 */
const struct lqn_layout_event *lqn_layout_find_span(const struct lqn_span_layout *own,
	const char *name);

/*
 * An event's name without the tracer's prefix: `openat` of `syscall_entry_openat`. Points into
 * `name`.
 */
const char *lqn_layout_short_name(const char *name);

/* The name of a call as in enum lqn_call (`recvmsg`); `other` beyond the table. */
const char *lqn_call_name(enum lqn_call call);

/* Bytes as records have them: up to 4, in the order of the network, are a number, as of IPv4; more are a hash. */
uint64_t lqn_layout_address(const uint8_t *bytes, size_t n);

/* Sets everything of `rec` that a layout may leave untouched to `unknown`. */
void lqn_record_init(struct lqn_record *rec, const struct lqn_layout_event *ev);

#endif
