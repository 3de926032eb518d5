/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_HANDOVER_H
#define LQN_PLUGIN_HANDOVER_H

/*
 * `lqn:` events on their way, as they were made, each with its place among messages. To the sink that stands right
 * behind the filter they are handed over so: no messages are made of them, and the sink takes them before the
 * message that they would have come before. Where anything is in between, the filter takes them itself, and makes messages of
 * them as they are asked for.
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

struct lqn_handover;

struct lqn_handed {
	const bt_stream *stream;	/* borrowed */
	uint64_t position;		/* it comes behind so many messages */
	uint64_t value;			/* of the stream's clock; ev.ts is the same from the origin */
	struct lqn_event ev;
};

/* An empty one, with a reference that is the caller's: lqn_handover_unref(). */
struct lqn_handover *lqn_handover_new(void);
struct lqn_handover *lqn_handover_ref(struct lqn_handover *handover);
void lqn_handover_unref(struct lqn_handover *handover);

/*
 * For the sink: while iterators are made, lets those find the handover whose messages go to `sink`
 * and nowhere else.
 */
void lqn_handover_offer(struct lqn_handover *handover, const bt_component *sink);
void lqn_handover_withdraw(const bt_component *sink);

/* The handover of what a port is connected with, with a new reference; NULL: there is none. */
struct lqn_handover *lqn_handover_find(const bt_port_output *port);

/*
 * Hands over an event of a stream at `ts`, ns from the origin, and `value`, on its clock, that comes behind the first
 * `position` messages. Its strings are copied; a NULL is "". The stream must live until its end has been
 * taken.
 */
void lqn_handover_put(struct lqn_handover *handover, const bt_stream *stream, uint64_t position,
	int64_t ts, uint64_t value, const struct lqn_event *ev);

/* How many wait. */
unsigned lqn_handover_length(const struct lqn_handover *handover);

/*
 * The next event that comes behind at most `position` messages, borrowed until the next call of any of these
 * functions; NULL: there is none.
 */
const struct lqn_handed *lqn_handover_take(struct lqn_handover *handover, uint64_t position);

#endif
