/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_HANDOVER_H
#define LQN_PLUGIN_HANDOVER_H

/*
 * The short way from the filter to the sink that stands right behind it: `lqn:` events are handed over
 * as they are, and no messages are made of them. The sink takes them before the message that they
 * would have come before. Where anything is in between, they come as messages.
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

struct lqn_handover;

/* An empty one, with a reference that is the caller's: lqn_handover_unref(). */
struct lqn_handover *lqn_handover_new(void);
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
 * Hands over an event of a stream at `ts`, ns from the origin, that comes behind the first `position`
 * messages. Its strings are copied; a NULL is "". The stream must live until the sink has seen its
 * end.
 */
void lqn_handover_put(struct lqn_handover *handover, const bt_stream *stream, uint64_t position,
	int64_t ts, const struct lqn_event *ev);

/* How many wait. */
unsigned lqn_handover_length(const struct lqn_handover *handover);

/*
 * The next event that comes behind at most `position` messages, and its stream, borrowed until the
 * next call of any of these functions; NULL: there is none.
 */
const struct lqn_event *lqn_handover_take(struct lqn_handover *handover, uint64_t position,
	const bt_stream **stream);

#endif
