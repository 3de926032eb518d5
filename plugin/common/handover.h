/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_HANDOVER_H
#define LQN_PLUGIN_HANDOVER_H

/*
 * The short way from the filter to the sink of one graph. What the filter has written into an
 * event's fields it also leaves here, and the sink that meets the event need not read some fifteen
 * fields again by as many calls into the library.
 *
 * Only who makes events of a class leaves any of that class here. So what lies here under an
 * event's address is of that event: whoever had the address before is gone, and each new one is
 * left here before anybody sees it. What is not here any more (there may be more on their way than
 * places) is read from the fields, as is everything that comes from a file or another process.
 */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

#define LQN_HANDOVER_PLACES 256		/* the library uses the memory of a few events in turn */

struct lqn_handover {
	struct {
		const bt_event *event;	/* a key, never looked into */
		struct lqn_event ev;
	} places[LQN_HANDOVER_PLACES];
};

/* An empty one, with a reference that is the caller's: lqn_handover_unref(). */
struct lqn_handover *lqn_handover_new(void);
void lqn_handover_unref(struct lqn_handover *handover);

/*
 * Lets others find the handover by a class whose every event will be put into it, until it is
 * withdrawn. Not for classes with strings, which an event only points to.
 */
void lqn_handover_offer(struct lqn_handover *handover, const bt_event_class *ec);
void lqn_handover_withdraw(const bt_event_class *ec);

/* The handover of a class, with a new reference; NULL: there is none. */
struct lqn_handover *lqn_handover_find(const bt_event_class *ec);

static inline unsigned lqn_handover_place(const bt_event *event)
{
	/* objects of this size lie at least 64 bytes apart */
	return ((uintptr_t) event >> 6 ^ (uintptr_t) event >> 14) % LQN_HANDOVER_PLACES;
}

static inline void lqn_handover_put(struct lqn_handover *handover, const bt_event *event,
	const struct lqn_event *ev)
{
	const unsigned i = lqn_handover_place(event);

	handover->places[i].event = event;
	handover->places[i].ev = *ev;
}

/* What was put in for the event; its `ts` is not the message's. NULL: not here any more. */
static inline const struct lqn_event *lqn_handover_get(const struct lqn_handover *handover,
	const bt_event *event)
{
	const unsigned i = lqn_handover_place(event);

	return handover->places[i].event == event ? &handover->places[i].ev : NULL;
}

#endif
