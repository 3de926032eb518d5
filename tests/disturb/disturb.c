/* SPDX-License-Identifier: MIT */

/*
 * For tests alone: filter.lqn-rig.disturb makes of a good trace one that comes as live ones do, or as broken ones do.
 *
 *   again=N            after each N messages: time without messages (inactivity), then "again"
 *   hold=N             after N messages nothing but "again", for ever, as a live source whose session goes on
 *   interrupt=N        after N messages the user presses Ctrl-C
 *   fail=N             after N messages an error
 *   late-cpu=C, late-ns=T      messages of that CPU come T ns late
 *   jitter-ns=T        every other event comes T ns late
 *   cut-cpu=C, begin=T, end=T  of that CPU nothing comes before begin and after end, where its stream ends
 *
 * Times are in ns from the origin. Its output is not in order of time if it is told to disturb that.
 */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>

#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop
BT_PLUGIN_WITH_ID(lqn_rig, "lqn-rig");

#define NOWHERE (-1)

struct disturb {
	int64_t again, hold, interrupt, fail;
	int64_t late_cpu, late_ns, jitter_ns;
	int64_t cut_cpu, begin, end;
};

struct held {
	const bt_message *msg;		/* owned */
	int64_t due;
};

struct lane {				/* a stream */
	int64_t cpu;
	const bt_packet *packet;	/* a reference, owned; NULL between packets */
	bool ended;
};

struct disturb_iter {
	const struct disturb *disturb;	/* borrowed */
	bt_self_message_iterator *self;	/* borrowed */
	bt_message_iterator *up;	/* owned */
	GHashTable *lanes;		/* const bt_stream * -> struct lane, owned */
	GQueue held, out;		/* struct held, owned; const bt_message, owned */
	const bt_clock_class *clock;	/* borrowed from the last message */
	uint64_t ticks;			/* its value then */
	int64_t now, seen, given, since_again, events;
	bool ended;
};

/* ---- parameters ---- */

static bt_component_class_get_supported_mip_versions_method_status disturb_versions(
	bt_self_component_class_filter *self, const bt_value *params, void *data, bt_logging_level level,
	bt_integer_range_set_unsigned *versions)
{
	return (int) bt_integer_range_set_unsigned_add_range(versions, 0, 0);
}

static int64_t param(const bt_value *params, const char *name, int64_t otherwise)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);

	return value && bt_value_is_signed_integer(value) ? bt_value_integer_signed_get(value) : otherwise;
}

static bt_component_class_initialize_method_status disturb_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *config, const bt_value *params, void *data)
{
	struct disturb *disturb;

	if (bt_self_component_filter_add_input_port(self, "in", NULL, NULL) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK ||
			bt_self_component_filter_add_output_port(self, "out", NULL, NULL) !=
			BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	disturb = g_new0(struct disturb, 1);
	disturb->again = param(params, "again", 0);
	disturb->hold = param(params, "hold", 0);
	disturb->interrupt = param(params, "interrupt", 0);
	disturb->fail = param(params, "fail", 0);
	disturb->late_cpu = param(params, "late-cpu", NOWHERE);
	disturb->late_ns = param(params, "late-ns", 0);
	disturb->jitter_ns = param(params, "jitter-ns", 0);
	disturb->cut_cpu = param(params, "cut-cpu", NOWHERE);
	disturb->begin = param(params, "begin", INT64_MIN);
	disturb->end = param(params, "end", INT64_MAX);
	bt_self_component_set_data(bt_self_component_filter_as_self_component(self), disturb);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void disturb_finalize(bt_self_component_filter *self)
{
	g_free(bt_self_component_get_data(bt_self_component_filter_as_self_component(self)));
}

/* ---- iterator ---- */

static void lane_free(gpointer data)
{
	struct lane *lane = data;

	bt_packet_put_ref(lane->packet);
	g_free(lane);
}

static bt_message_iterator_class_initialize_method_status iter_init(bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *config, bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	bt_self_component_port_input *in = bt_self_component_filter_borrow_input_port_by_index(
		(bt_self_component_filter *) component, 0);
	struct disturb_iter *iter = g_new0(struct disturb_iter, 1);

	iter->self = self;
	iter->disturb = bt_self_component_get_data(component);
	if (bt_message_iterator_create_from_message_iterator(self, in, &iter->up) !=
			BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK) {
		g_free(iter);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	iter->lanes = g_hash_table_new_full(NULL, NULL, NULL, lane_free);
	bt_self_message_iterator_set_data(self, iter);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void held_free(gpointer data)
{
	struct held *held = data;

	bt_message_put_ref(held->msg);
	g_free(held);
}

static void message_free(gpointer msg)
{
	bt_message_put_ref(msg);
}

static void iter_finalize(bt_self_message_iterator *self)
{
	struct disturb_iter *iter = bt_self_message_iterator_get_data(self);

	g_queue_clear_full(&iter->held, held_free);
	g_queue_clear_full(&iter->out, message_free);
	g_hash_table_destroy(iter->lanes);
	bt_message_iterator_put_ref(iter->up);
	g_free(iter);
}

/* The stream and the time of what carries events; NULL: of neither. */
static const bt_stream *look(const bt_message *msg, const bt_clock_snapshot **cs, const bt_packet **packet)
{
	*packet = NULL;
	switch (bt_message_get_type(msg)) {
	case BT_MESSAGE_TYPE_EVENT:
		*cs = bt_message_event_borrow_default_clock_snapshot_const(msg);
		return bt_event_borrow_stream_const(bt_message_event_borrow_event_const(msg));
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		*packet = bt_message_packet_beginning_borrow_packet_const(msg);
		*cs = bt_message_packet_beginning_borrow_default_clock_snapshot_const(msg);
		return bt_packet_borrow_stream_const(*packet);
	case BT_MESSAGE_TYPE_PACKET_END:
		*cs = bt_message_packet_end_borrow_default_clock_snapshot_const(msg);
		return bt_packet_borrow_stream_const(bt_message_packet_end_borrow_packet_const(msg));
	case BT_MESSAGE_TYPE_STREAM_END:
		*cs = NULL;
		return bt_message_stream_end_borrow_stream_const(msg);
	default:
		*cs = NULL;
		return NULL;
	}
}

static struct lane *lane_of(struct disturb_iter *iter, const bt_stream *stream)
{
	struct lane *lane = g_hash_table_lookup(iter->lanes, stream);

	if (!lane) {
		lane = g_new0(struct lane, 1);
		lane->cpu = NOWHERE;
		g_hash_table_insert(iter->lanes, (gpointer) stream, lane);
	}
	return lane;
}

static void note_packet(struct lane *lane, const bt_packet *packet)
{
	const bt_field *context = bt_packet_borrow_context_field_const(packet);
	const bt_field *cpu = context ?
		bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id") : NULL;

	lane->cpu = cpu ? (int64_t) bt_field_integer_unsigned_get_value(cpu) : NOWHERE;
	bt_packet_put_ref(lane->packet);
	bt_packet_get_ref(packet);
	lane->packet = packet;
}

/* The stream ends before its time. */
static void end_lane(struct disturb_iter *iter, struct lane *lane, const bt_stream *stream, uint64_t ticks)
{
	g_queue_push_tail(&iter->out, bt_message_packet_end_create_with_default_clock_snapshot(iter->self,
		lane->packet, ticks));
	g_queue_push_tail(&iter->out, bt_message_stream_end_create(iter->self, stream));
	lane->ended = true;
}

static bool is_cut(struct disturb_iter *iter, struct lane *lane, const bt_stream *stream, const bt_message *msg)
{
	const struct disturb *disturb = iter->disturb;

	if (lane->ended) {
		return true;
	}
	if (lane->cpu != disturb->cut_cpu || disturb->cut_cpu == NOWHERE ||
			bt_message_get_type(msg) != BT_MESSAGE_TYPE_EVENT) {
		return false;
	}
	if (iter->now > disturb->end) {
		end_lane(iter, lane, stream, iter->ticks);
		return true;
	}
	return iter->now < disturb->begin;
}

static void release_due(struct disturb_iter *iter, int64_t until)
{
	struct held *held;

	while ((held = g_queue_peek_head(&iter->held)) && held->due <= until) {
		g_queue_push_tail(&iter->out, (gpointer) held->msg);
		g_free(g_queue_pop_head(&iter->held));
	}
}

static int64_t lateness(struct disturb_iter *iter, const struct lane *lane, const bt_message *msg)
{
	if (iter->disturb->late_cpu != NOWHERE && lane->cpu == iter->disturb->late_cpu) {
		return iter->disturb->late_ns;
	}
	return iter->disturb->jitter_ns > 0 && bt_message_get_type(msg) == BT_MESSAGE_TYPE_EVENT &&
		iter->events++ % 2 ? iter->disturb->jitter_ns : 0;
}

/* Takes the reference over. */
static void take(struct disturb_iter *iter, const bt_message *msg)
{
	const bt_clock_snapshot *cs;
	const bt_packet *packet;
	const bt_stream *stream = look(msg, &cs, &packet);
	struct lane *lane;
	int64_t late;

	if (!stream) {
		g_queue_push_tail(&iter->out, (gpointer) msg);
		return;
	}
	lane = lane_of(iter, stream);
	if (cs) {
		iter->clock = bt_clock_snapshot_borrow_clock_class_const(cs);
		iter->ticks = bt_clock_snapshot_get_value(cs);
		bt_clock_snapshot_get_ns_from_origin(cs, &iter->now);
	} else {
		/* what ends a stream comes behind all of it */
		release_due(iter, INT64_MAX);
	}
	if (packet) {
		note_packet(lane, packet);
	}
	release_due(iter, iter->now);
	if (is_cut(iter, lane, stream, msg)) {
		bt_message_put_ref(msg);
		return;
	}
	late = lateness(iter, lane, msg);
	if (late > 0) {
		struct held *held = g_new(struct held, 1);

		*held = (struct held) { msg, iter->now + late };
		g_queue_push_tail(&iter->held, held);
	} else {
		/* an end of a packet comes behind its events */
		if (iter->disturb->jitter_ns > 0 && bt_message_get_type(msg) != BT_MESSAGE_TYPE_EVENT) {
			release_due(iter, INT64_MAX);
		}
		g_queue_push_tail(&iter->out, (gpointer) msg);
	}
}

static bt_message_iterator_class_next_method_status fill(struct disturb_iter *iter)
{
	bt_message_array_const msgs;
	bt_message_iterator_next_status status;
	uint64_t n;

	if (iter->ended) {
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	}
	if (iter->disturb->hold > 0 && iter->seen >= iter->disturb->hold) {
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	}
	if (iter->disturb->interrupt > 0 && iter->seen >= iter->disturb->interrupt) {
		raise(SIGINT);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	}
	if (iter->disturb->fail > 0 && iter->seen >= iter->disturb->fail) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(iter->self, "The rig was told to fail");
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	if (iter->disturb->again > 0 && iter->since_again >= iter->disturb->again && iter->clock) {
		iter->since_again = -1;
		g_queue_push_tail(&iter->out, bt_message_message_iterator_inactivity_create(iter->self, iter->clock,
			iter->ticks));
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	if (iter->since_again == -1) {
		iter->since_again = 0;
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	}
	status = bt_message_iterator_next(iter->up, &msgs, &n);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		iter->ended = true;
		release_due(iter, INT64_MAX);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		return (int) status;
	}
	for (uint64_t i = 0; i < n; i++) {
		take(iter, msgs[i]);
	}
	iter->seen += (int64_t) n;
	iter->since_again += (int64_t) n;
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_message_iterator_class_next_method_status disturb_next(bt_self_message_iterator *self,
	bt_message_array_const msgs, uint64_t capacity, uint64_t *count)
{
	struct disturb_iter *iter = bt_self_message_iterator_get_data(self);

	while (g_queue_is_empty(&iter->out)) {
		bt_message_iterator_class_next_method_status status = fill(iter);

		if (status != BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK) {
			return status;
		}
	}
	for (*count = 0; *count < capacity && !g_queue_is_empty(&iter->out); (*count)++) {
		msgs[*count] = g_queue_pop_head(&iter->out);
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

BT_PLUGIN_FILTER_COMPONENT_CLASS_WITH_ID(lqn_rig, disturb, "disturb", disturb_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_WITH_ID(lqn_rig, disturb, disturb_versions);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD_WITH_ID(lqn_rig, disturb, disturb_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD_WITH_ID(lqn_rig, disturb, disturb_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_WITH_ID(lqn_rig, disturb, iter_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD_WITH_ID(lqn_rig, disturb, iter_finalize);
