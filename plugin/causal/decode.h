/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_DECODE_H
#define LQN_PLUGIN_DECODE_H

/* From messages of a trace to what engines are told of it. */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/causal/upstream.h"
#include "plugin/common/fields.h"
#include "plugin/common/message.h"

/* Is told something: false, with an error cause, if that cannot be used. */
typedef bool (*decode_func)(void *payload, struct lqn_told *told);

struct decoder {
	bt_self_component *self;	/* borrowed */
	decode_func tell;
	void *payload;
	struct lqn_bindings *bindings;	/* owned */
	struct upstreams ups;
	int64_t now;			/* ns; the latest time */
	uint64_t events;		/* seen, of any kind */
	uint64_t own_events;		/* of which `lqn:` ones */
};

/* A message, looked at. */
struct decoded {
	const bt_message *msg;		/* borrowed */
	bt_message_type type;
	const bt_event *event;		/* borrowed; of an event's message alone */
	const bt_clock_snapshot *cs;	/* its time, borrowed; NULL: it has none */
	struct upstream *up;		/* its stream; NULL: inactivity */
};

/* `spans`: a layout of the user (borrowed; NULL: none). */
void decoder_init(struct decoder *decoder, bt_self_component *self, const struct lqn_span_layout *spans,
	decode_func tell, void *payload);
void decoder_clear(struct decoder *decoder);

static inline void decoder_look(struct decoder *decoder, const bt_message *msg, struct decoded *decoded)
{
	const bt_stream *stream;

	decoded->msg = msg;
	decoded->type = bt_message_get_type(msg);
	if (G_LIKELY(decoded->type == BT_MESSAGE_TYPE_EVENT)) {
		decoded->event = bt_message_event_borrow_event_const(msg);
		stream = bt_event_borrow_stream_const(decoded->event);
		decoded->up = upstreams_get(&decoder->ups, stream);
		decoded->cs = decoded->up->told.dated ? bt_message_event_borrow_default_clock_snapshot_const(msg) : NULL;
	} else {
		stream = lqn_message_stream(msg);
		decoded->up = stream ? upstreams_get(&decoder->ups, stream) : NULL;
		decoded->cs = lqn_message_clock(msg);
	}
}

/* Tells what a message that was looked at means. False, with an error cause, if it cannot be used. */
bool decoder_tell(struct decoder *decoder, const struct decoded *decoded);

/* Logs what fields of known events the trace lacks. */
void decoder_log_missing(struct decoder *decoder);

#endif
