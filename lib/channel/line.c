/* SPDX-License-Identifier: MIT */

/*
 * The line of connects before a listener. Which connect an accept takes is not told: those whose
 * call has come to the point of waiting go first, in that order. What comes of it is a guess,
 * unless there is only one in the line. Who has sent something and closed is accepted all the same, and stays, as long as
 * nothing shows that it was missed.
 */
#include "channel/internal.h"

#define WAITING_MAX 4096		/* as many as Linux lets wait */

/* Both may be of thousands, and each connection comes and goes: neither may search. */
static void join_line(GQueue *line, struct lqn_object *object)
{
	g_queue_push_tail(line, lqn_object_pin(object));
	object->place = line->tail;
	object->stands = line;
	object->connecting = true;
}

static void leave_line(struct lqn_object *object)
{
	GList *place = object->place;

	object->connecting = object->queued = false;
	object->place = NULL;
	if (place) {
		g_queue_delete_link(object->stands, place);
		lqn_object_unpin(object);
	}
}

static void stand_in_line(struct lqn_object *object, struct lqn_object *listener)
{
	lqn_object_set(&object->listener, listener);
	if (!listener->line) {
		listener->line = g_queue_new();
	}
	join_line(listener->line, object);
}

/* It is closed, but what it has sent will be read by who accepts it. */
static bool is_awaited(const struct lqn_object *object)
{
	return object->unsent && object->queued && object->stands != &object->channels->line && object->stands->length <= WAITING_MAX;
}

/* Those who are closed have been accepted, though that was not seen: all, or those in front of `place`. */
static void drop_closed(GQueue *line, const GList *place)
{
	GList *next;

	for (GList *l = line->head; l && l != place; l = next) {
		next = l->next;
		if (((const struct lqn_object *) l->data)->closed) {
			leave_line(l->data);
		}
	}
}

void lqn_channel_accept_found_none(struct lqn_object *listener)
{
	if (listener->line) {
		drop_closed(listener->line, NULL);
	}
}

void lqn_channel_leave_lines(struct lqn_object *object)
{
	lqn_object_pin(object);
	if (object->place && !is_awaited(object)) {
		leave_line(object);
	}
	while (object->line && object->line->head) {
		leave_line(object->line->head->data);
	}
	lqn_object_unpin(object);
}

void lqn_channel_forget_process(struct lqn_channels *channels, int32_t pid)
{
	g_hash_table_remove(channels->listeners, GINT_TO_POINTER(pid));
	g_hash_table_remove(channels->words, GINT_TO_POINTER(pid));
}

void lqn_channel_connect(struct lqn_object *object, int32_t pid)
{
	struct lqn_channels *channels = object->channels;
	struct lqn_object *listener = g_hash_table_lookup(
		channels->listeners, GINT_TO_POINTER(pid));

	object->role = LQN_ROLE_CLIENT;
	object->pid = pid;
	if (object->connecting || (object->kind == LQN_OBJ_TCP && channels->have_packets)) {
		return;		/* addresses tell more than order */
	}
	if (listener && listener != &lqn_several_listeners) {
		stand_in_line(object, listener);
	} else {
		join_line(&channels->line, object);
	}
}

void lqn_channel_connects_to(struct lqn_channels *channels, int32_t pid, struct lqn_object *listener)
{
	struct lqn_object *known = g_hash_table_lookup(channels->listeners, GINT_TO_POINTER(pid));

	if (!known) {
		g_hash_table_insert(
			channels->listeners, GINT_TO_POINTER(pid), lqn_object_pin(listener));
	} else if (known != listener && known != &lqn_several_listeners) {
		g_hash_table_insert(
			channels->listeners, GINT_TO_POINTER(pid), &lqn_several_listeners);
	}
}

void lqn_channel_connect_woke(struct lqn_object *object, int32_t pid, struct lqn_object *listener)
{
	lqn_channel_connects_to(object->channels, pid, listener);
	if (object == listener || object->listener == listener || object->has_tuple ||
			object->peer || object->closed) {
		return;
	}
	lqn_object_pin(object);
	if (object->connecting) {
		leave_line(object);	/* it stood in the wrong one */
	}
	stand_in_line(object, listener);
	lqn_object_unpin(object);
}

/*
 * The first in a line that may have been accepted as `made`: of those who are known to have come
 * there, else of those whose connect has only begun. Those who found their peer meanwhile leave it.
 */
static struct lqn_object *first_in_line(GQueue *line, const struct lqn_object *made)
{
	struct lqn_object *begun = NULL;
	GList *next;

	for (GList *l = line->head; l; l = next) {
		struct lqn_object *object = l->data;

		next = l->next;
		if (object->peer || object->has_tuple || (object->closed && !object->unsent)) {
			leave_line(object);
		} else if (object->kind == made->kind && object->queued) {
			return object;
		} else if (object->kind == made->kind && !begun) {
			begun = object;
		}
	}
	return begun;
}

void lqn_channel_connect_queued(struct lqn_object *object)
{
	if (object->connecting && !object->queued) {
		object->queued = true;
		g_queue_unlink(object->stands, object->place);
		g_queue_push_tail_link(object->stands, object->place);
	}
}

void lqn_channel_connect_failed(struct lqn_object *object)
{
	leave_line(object);
}

void lqn_channel_accept(struct lqn_object *listener, struct lqn_object *made, struct lqn_object *woke)
{
	struct lqn_object *object;
	bool only;

	if (woke && woke->place && woke->stands == listener->line) {
		drop_closed(listener->line, woke->place);	/* nobody was there when the thread began to wait */
	}
	object = listener->line ? first_in_line(listener->line, made) : NULL;
	only = object && listener->line->length == 1;
	made->role = LQN_ROLE_SERVER;
	lqn_object_set(&made->listener, listener);
	if (!object || only) {
		/* of these nobody knows where they have come to */
		struct lqn_object *elsewhere = first_in_line(&made->channels->line, made);

		only &= !elsewhere;
		object = object ? object : elsewhere;
	}
	if (!object && woke && !woke->peer && lqn_object_is_stream(woke)) {
		/* it has an address, and stands in no line; where it only ever sends, the other's is never seen */
		object = woke;
	}
	if (!object || object == listener) {
		return;
	}
	lqn_object_pin(object);
	leave_line(object);
	if (only) {
		lqn_channel_pair(object, made, LQN_INFERRED);
	} else {
		lqn_object_set(&object->candidate, made);
		lqn_object_set(&made->candidate, object);
	}
	lqn_object_unpin(object);
}
