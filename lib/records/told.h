/* SPDX-License-Identifier: MIT */
#ifndef LQN_RECORDS_TOLD_H
#define LQN_RECORDS_TOLD_H

/*
 * What the engines are told of a trace, one thing after the other: whoever reads the trace tells it, in the same
 * process or, through a file of records, in another.
 */
#include <stdbool.h>
#include <stdint.h>

#include "layout/record.h"

#define LQN_TOLD_UNDATED INT64_MIN

/* How many events of a class without a layout become marks. */
#define LQN_MARK_EVENTS 1000

enum lqn_told_type {
	LQN_TOLD_STREAM,	/* `stream` begins */
	LQN_TOLD_STREAM_END,
	LQN_TOLD_PACKET,	/* a packet of it begins: `cpu` */
	LQN_TOLD_PACKET_END,
	LQN_TOLD_KERNEL,	/* event: of the kernel */
	LQN_TOLD_SPAN,		/* event: a program's span begins, has received a message, or ends */
	LQN_TOLD_MARK,		/* event: a member of any other, which may be a mark */
	LQN_TOLD_LOSS,		/* loss */
	LQN_TOLD_TIME,		/* no more than the time */
	LQN_TOLD_COUNT
};

/* A stream of a trace. Strings are owned. */
struct lqn_told_stream {
	/* which it is, to the muxer and to us */
	bool has_uuid;
	uint8_t uuid[16];	/* of the trace */
	char *trace;		/* the trace's name; NULL: none */
	uint64_t class_id, id;

	char *host;		/* where it was traced; not NULL */
	char *release;		/* of the kernel; NULL: unknown */
	char *domain;		/* NULL: unknown */
	bool kernel;		/* of a kernel trace */
	bool packets;		/* has packets */
	bool switches;		/* the kernel trace has an event class for switches, … */
	bool wakings;		/* … for wakings in the waker's context */
	bool dated;		/* has a clock … */
	bool epoch;		/* … that counts from the Unix epoch; else from an unknown origin, the same of all … */
	uint8_t clock[16];	/* … clocks of that UUID */

	/* whoever is told notes in these which it is; zero at first */
	void *taken;
	uint32_t number;
};

/* A class of events. */
struct lqn_told_class {
	const char *name;	/* interned */
	uint64_t id;		/* in its stream class */

	/* whoever is told notes in these which it is; zero at first */
	struct lqn_told_marks *marks;
	uint32_t number;
};

struct lqn_told {
	int64_t ts;			/* ns from the clock's origin, or LQN_TOLD_UNDATED */
	struct lqn_told_stream *stream;	/* the teller's, until the stream's end; NULL only of TIME */
	enum lqn_told_type type;
	union {
		int32_t cpu;		/* -1: not said */
		struct {
			int64_t end;	/* ns */
			uint64_t count;	/* events; 0: unknown */
		} loss;
		struct {
			struct lqn_record rec;	/* its text passes to whoever is told */
			struct lqn_told_class *class;	/* the teller's, as long as it tells */
			bool first;	/* MARK: of the event's */
			bool of_file;	/* SPAN: from a file of spans, which is of no host … */
			const char *host;	/* … but names this one; the teller's; NULL: none */
		} event;
	};
};

/* Empties a stream; the structure itself is the caller's. */
void lqn_told_stream_clear(struct lqn_told_stream *stream);

/*
 * In what order Babeltrace's muxer takes messages of two streams that have the same time: < 0, > 0; 0 if they are
 * the same stream.
 */
int lqn_told_stream_compare(const struct lqn_told_stream *a, const struct lqn_told_stream *b);

/* Whether `type` is one of an event. */
static inline bool lqn_told_is_event(enum lqn_told_type type)
{
	return type == LQN_TOLD_KERNEL || type == LQN_TOLD_SPAN || type == LQN_TOLD_MARK;
}

#endif
