/* SPDX-License-Identifier: MIT */
#ifndef LQN_EVENT_STRINGS_H
#define LQN_EVENT_STRINGS_H

/* Strings of `lqn:` events that are kept for a while, and go together. */
#include <glib.h>

#include "event/event.h"

struct lqn_event_strings {
	GStringChunk *chunk;		/* owned */
	bool used;			/* any are in there */
	bool in[LQN_EV_COUNT];		/* events of that type have some */
};

void lqn_event_strings_init(struct lqn_event_strings *strings);
void lqn_event_strings_clear(struct lqn_event_strings *strings);

/* Puts copies in the place of the strings of an event that has some; a NULL becomes "". */
void lqn_event_strings_copy(struct lqn_event_strings *strings, struct lqn_event *ev);

/* Likewise, of any event. */
static inline void lqn_event_strings_keep(struct lqn_event_strings *strings, struct lqn_event *ev)
{
	if (G_UNLIKELY(strings->in[ev->type])) {
		lqn_event_strings_copy(strings, ev);
	}
}

/* None of those that were kept is needed any more. */
static inline void lqn_event_strings_drop(struct lqn_event_strings *strings)
{
	if (strings->used) {
		g_string_chunk_clear(strings->chunk);
		strings->used = false;
	}
}

#endif
