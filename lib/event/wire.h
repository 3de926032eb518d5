/* SPDX-License-Identifier: MIT */
#ifndef LQN_EVENT_WIRE_H
#define LQN_EVENT_WIRE_H

/*
 * How fields of `lqn:` events are told in a trace. Times as what has gone by, from them to the event's
 * own time or from the begin of what it tells to them: small numbers. And in one of two forms of the
 * same event: the short one has few bits for each field and lacks those that are 0 in most events;
 * what does not fit is told in the long one.
 */
#include "event/event.h"

/* What is told of a member. */
enum lqn_wire_what {
	LQN_WIRE_PLAIN,		/* its 64 bits */
	LQN_WIRE_U32, LQN_WIRE_I32,
	LQN_WIRE_AFTER,		/* how far it is behind another member */
	LQN_WIRE_TIME_AFTER,	/* the same of a time that may be none */
	LQN_WIRE_TIME_AGO,	/* how far it is before the event's own time; it may be none */
	LQN_WIRE_STRING,
};

/* What is needed of a field to tell or read it, in few bytes. */
struct lqn_wire {
	uint16_t offset, after;
	uint8_t what;		/* enum lqn_wire_what */
	uint8_t bits;		/* of the short form; 0: not in it */
	int8_t none;
	bool is_signed;
	uint64_t half;		/* is_signed: half of what `bits` can tell; else 0 */
};

struct lqn_wire lqn_wire_of(const struct lqn_event_field *field);

/* The bits of an integer in the long form. */
unsigned lqn_wire_long_bits(const struct lqn_wire *wire);

/* Whether an event class has a short form. */
bool lqn_wire_has_short(const struct lqn_event_class *desc);

static inline void *lqn_wire_at(const struct lqn_event *ev, size_t offset)
{
	return (char *) ev + offset;
}

/* What an event at `ts` tells of a field that is no string. Of a time -1: there is none. */
static inline int64_t lqn_wire_get(const struct lqn_wire *wire, const struct lqn_event *ev,
	int64_t ts)
{
	const void *from = lqn_wire_at(ev, wire->offset);
	uint64_t value;

	/* the frequent ones first */
	if (wire->what == LQN_WIRE_PLAIN) {
		return *(const int64_t *) from;
	}
	if (wire->what == LQN_WIRE_U32) {
		return *(const uint32_t *) from;
	}
	if (wire->what == LQN_WIRE_I32) {
		return *(const int32_t *) from;
	}
	value = *(const uint64_t *) from;
	if (wire->what != LQN_WIRE_AFTER && (int64_t) value == wire->none) {
		return -1;
	}
	return (int64_t) (wire->what == LQN_WIRE_TIME_AGO ? (uint64_t) ts - value :
		value - *(const uint64_t *) lqn_wire_at(ev, wire->after));
}

/*
 * Sets a field by what is told of it; `ev` has its time and the fields before. Whatever comes is taken;
 * whether it makes sense is up to lqn_event_is_sound().
 */
static inline void lqn_wire_set(const struct lqn_wire *wire, struct lqn_event *ev, int64_t told)
{
	void *to = lqn_wire_at(ev, wire->offset);
	const uint64_t value = (uint64_t) told;

	if (wire->what == LQN_WIRE_PLAIN) {
		*(uint64_t *) to = value;
	} else if (wire->what == LQN_WIRE_U32 || wire->what == LQN_WIRE_I32) {
		*(uint32_t *) to = (uint32_t) value;
	} else if (wire->what != LQN_WIRE_AFTER && told == -1) {
		*(int64_t *) to = wire->none;
	} else {
		*(uint64_t *) to = wire->what == LQN_WIRE_TIME_AGO ? (uint64_t) ev->ts - value :
			value + *(const uint64_t *) lqn_wire_at(ev, wire->after);
	}
}

/* What the short form has no room for, of a value that lqn_wire_get() gave; 0: it fits. */
static inline uint64_t lqn_wire_excess(const struct lqn_wire *wire, int64_t value)
{
	return ((uint64_t) value + wire->half) >> wire->bits;
}

#endif
