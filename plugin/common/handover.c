/* SPDX-License-Identifier: MIT */
#include "plugin/common/handover.h"

#include <glib.h>

#include "event/strings.h"

#define ROOM_MIN 64

struct lqn_handover {
	struct lqn_handed *events;	/* owned */
	guint n, room;			/* how many there are, and how many have room */
	guint next;			/* those before have been taken */
	struct lqn_event_strings strings;	/* of the events */
};

/* Graphs may run in threads of their own; what is in a handover belongs to one graph. */
static GMutex lock;
static GHashTable *offers;	/* const bt_component * -> struct lqn_handover *, with a reference */

static void clear(void *data)
{
	struct lqn_handover *handover = data;

	g_free(handover->events);
	lqn_event_strings_clear(&handover->strings);
}

struct lqn_handover *lqn_handover_new(void)
{
	struct lqn_handover *handover = g_atomic_rc_box_new0(struct lqn_handover);

	handover->room = ROOM_MIN;
	handover->events = g_new(struct lqn_handed, handover->room);
	lqn_event_strings_init(&handover->strings);
	return handover;
}

struct lqn_handover *lqn_handover_ref(struct lqn_handover *handover)
{
	return g_atomic_rc_box_acquire(handover);
}

void lqn_handover_unref(struct lqn_handover *handover)
{
	if (handover) {
		g_atomic_rc_box_release_full(handover, clear);
	}
}

static void unref(void *handover)
{
	lqn_handover_unref(handover);
}

void lqn_handover_offer(struct lqn_handover *handover, const bt_component *sink)
{
	g_mutex_lock(&lock);
	if (!offers) {
		offers = g_hash_table_new_full(NULL, NULL, NULL, unref);
	}
	g_hash_table_insert(offers, (void *) sink, lqn_handover_ref(handover));
	g_mutex_unlock(&lock);
}

void lqn_handover_withdraw(const bt_component *sink)
{
	g_mutex_lock(&lock);
	if (offers && g_hash_table_remove(offers, sink) && g_hash_table_size(offers) == 0) {
		g_clear_pointer(&offers, g_hash_table_destroy);
	}
	g_mutex_unlock(&lock);
}

struct lqn_handover *lqn_handover_find(const bt_port_output *port)
{
	const bt_connection *connection =
		bt_port_borrow_connection_const(bt_port_output_as_port_const(port));
	const bt_component *behind = !connection ? NULL : bt_port_borrow_component_const(
		bt_port_input_as_port_const(bt_connection_borrow_downstream_port_const(connection)));
	struct lqn_handover *handover;

	g_mutex_lock(&lock);
	handover = offers && behind ? g_hash_table_lookup(offers, behind) : NULL;
	if (handover) {
		lqn_handover_ref(handover);
	}
	g_mutex_unlock(&lock);
	return handover;
}

void lqn_handover_put(struct lqn_handover *handover, const bt_stream *stream, uint64_t position,
	int64_t ts, uint64_t value, const struct lqn_event *ev)
{
	struct lqn_handed *handed;

	if (G_UNLIKELY(handover->n == handover->room)) {
		handover->room *= 2;
		handover->events = g_renew(struct lqn_handed, handover->events, handover->room);
	}
	handed = &handover->events[handover->n++];
	handed->stream = stream;
	handed->position = position;
	handed->value = value;
	handed->ev = *ev;
	handed->ev.ts = ts;
	lqn_event_strings_keep(&handover->strings, &handed->ev);
}

unsigned lqn_handover_length(const struct lqn_handover *handover)
{
	return handover->n - handover->next;
}

/* All have been taken: their memory is used again. */
static void start_again(struct lqn_handover *handover)
{
	handover->n = handover->next = 0;
	lqn_event_strings_drop(&handover->strings);
}

const struct lqn_handed *lqn_handover_take(struct lqn_handover *handover, uint64_t position)
{
	const struct lqn_handed *handed;

	if (handover->next == handover->n) {
		start_again(handover);
		return NULL;
	}
	handed = &handover->events[handover->next];
	if (handed->position > position) {
		return NULL;
	}
	handover->next++;
	return handed;
}
