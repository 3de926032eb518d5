/* SPDX-License-Identifier: MIT */
#include "plugin/common/message.h"

#include <glib.h>

/* ---- streams ------------------------------------------------------------- */

static const bt_stream *stream_of_event(const bt_message *msg)
{
	return bt_event_borrow_stream_const(bt_message_event_borrow_event_const(msg));
}

static const bt_stream *stream_of_packet_beginning(const bt_message *msg)
{
	return bt_packet_borrow_stream_const(bt_message_packet_beginning_borrow_packet_const(msg));
}

static const bt_stream *stream_of_packet_end(const bt_message *msg)
{
	return bt_packet_borrow_stream_const(bt_message_packet_end_borrow_packet_const(msg));
}

static const bt_stream *no_stream(const bt_message *msg)
{
	return NULL;
}

/* ---- clocks -------------------------------------------------------------- */

static const bt_clock_snapshot *clock_of_event(const bt_message *msg)
{
	return bt_message_event_borrow_stream_class_default_clock_class_const(msg) ?
		bt_message_event_borrow_default_clock_snapshot_const(msg) : NULL;
}

static const bt_clock_snapshot *clock_of_stream_beginning(const bt_message *msg)
{
	const bt_clock_snapshot *cs;

	if (!bt_message_stream_beginning_borrow_stream_class_default_clock_class_const(msg)) {
		return NULL;
	}
	/* The snapshot is set even when the time is unknown: only the state tells. */
	return bt_message_stream_beginning_borrow_default_clock_snapshot_const(msg, &cs) ==
		BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN ? cs : NULL;
}

static const bt_clock_snapshot *clock_of_stream_end(const bt_message *msg)
{
	const bt_clock_snapshot *cs;

	if (!bt_message_stream_end_borrow_stream_class_default_clock_class_const(msg)) {
		return NULL;
	}
	return bt_message_stream_end_borrow_default_clock_snapshot_const(msg, &cs) ==
		BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN ? cs : NULL;
}

static const bt_clock_snapshot *clock_of_packet_beginning(const bt_message *msg)
{
	return bt_stream_class_packets_have_beginning_default_clock_snapshot(
			bt_stream_borrow_class_const(stream_of_packet_beginning(msg))) ?
		bt_message_packet_beginning_borrow_default_clock_snapshot_const(msg) : NULL;
}

static const bt_clock_snapshot *clock_of_packet_end(const bt_message *msg)
{
	return bt_stream_class_packets_have_end_default_clock_snapshot(
			bt_stream_borrow_class_const(stream_of_packet_end(msg))) ?
		bt_message_packet_end_borrow_default_clock_snapshot_const(msg) : NULL;
}

static const bt_clock_snapshot *clock_of_discarded_events(const bt_message *msg)
{
	return bt_stream_class_discarded_events_have_default_clock_snapshots(
			bt_stream_borrow_class_const(
				bt_message_discarded_events_borrow_stream_const(msg))) ?
		bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(msg) :
		NULL;
}

static const bt_clock_snapshot *clock_of_discarded_packets(const bt_message *msg)
{
	return bt_stream_class_discarded_packets_have_default_clock_snapshots(
			bt_stream_borrow_class_const(
				bt_message_discarded_packets_borrow_stream_const(msg))) ?
		bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(msg) :
		NULL;
}

struct message_row {
	bt_message_type type;
	const bt_stream *(*stream)(const bt_message *msg);
	const bt_clock_snapshot *(*clock)(const bt_message *msg);
};

/* The frequent ones first. */
static const struct message_row rows[] = {
	{ BT_MESSAGE_TYPE_EVENT, stream_of_event, clock_of_event },
	{ BT_MESSAGE_TYPE_PACKET_BEGINNING, stream_of_packet_beginning,
		clock_of_packet_beginning },
	{ BT_MESSAGE_TYPE_PACKET_END, stream_of_packet_end, clock_of_packet_end },
	{ BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY, no_stream,
		bt_message_message_iterator_inactivity_borrow_clock_snapshot_const },
	{ BT_MESSAGE_TYPE_DISCARDED_EVENTS, bt_message_discarded_events_borrow_stream_const,
		clock_of_discarded_events },
	{ BT_MESSAGE_TYPE_DISCARDED_PACKETS, bt_message_discarded_packets_borrow_stream_const,
		clock_of_discarded_packets },
	{ BT_MESSAGE_TYPE_STREAM_BEGINNING, bt_message_stream_beginning_borrow_stream_const,
		clock_of_stream_beginning },
	{ BT_MESSAGE_TYPE_STREAM_END, bt_message_stream_end_borrow_stream_const,
		clock_of_stream_end },
};

static const struct message_row *find_row(const bt_message *msg)
{
	bt_message_type type = bt_message_get_type(msg);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (rows[i].type == type) {
			return &rows[i];
		}
	}
	return NULL;
}

const bt_stream *lqn_message_stream(const bt_message *msg)
{
	const struct message_row *row = find_row(msg);

	return row ? row->stream(msg) : NULL;
}

const bt_clock_snapshot *lqn_message_clock(const bt_message *msg)
{
	const struct message_row *row = find_row(msg);

	return row ? row->clock(msg) : NULL;
}

bt_integer_range_set_add_range_status lqn_message_add_versions(
	bt_integer_range_set_unsigned *versions)
{
#if BT_HAVE_MIP1
	uint64_t max = MIN(bt_get_maximal_mip_version(), 1);
#else
	uint64_t max = 0;
#endif

	return bt_integer_range_set_unsigned_add_range(versions, 0, max);
}
