/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_SPANS_STREAM_H
#define LQN_PLUGIN_SPANS_STREAM_H

/* The trace that the source makes: one stream of `span:begin` and `span:end`, on the Unix clock. */
#include <babeltrace2/babeltrace.h>

#include "spans/set.h"

enum spans_event { SPANS_BEGIN, SPANS_END, SPANS_MESSAGE, SPANS_EVENTS };

struct spans_trace {
	bt_trace *trace;				/* owned */
	bt_stream_class *sc;				/* owned */
	bt_event_class *classes[SPANS_EVENTS];		/* owned */
};

/* Makes the classes and the trace; false, with nothing to clear, if memory ran out. */
bool spans_trace_init(struct spans_trace *trace, bt_self_component *self);
void spans_trace_clear(struct spans_trace *trace);

/* A new message of a span's begin or end, or of one more of its messages; NULL if memory ran out. */
bt_message *spans_trace_event(const struct spans_trace *trace, bt_self_message_iterator *iter,
	const bt_packet *packet, const struct lqn_file_span *span, enum spans_event which);

#endif
