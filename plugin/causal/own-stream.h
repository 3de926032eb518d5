/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_OWN_STREAM_H
#define LQN_PLUGIN_OWN_STREAM_H

/*
 * The trace that the filter adds: trace class `lqn` with one event class per row of the vocabulary
 * and one stream per host. All messages go to the end of a queue and are dated at the own trace's
 * present time, which is that of the last message of any stream: whatever stands behind them in the
 * graph must see times that never decrease over all streams. Events wait as they are, and become messages as these are
 * handed out: the library uses few objects again and again then, which stay in the first cache.
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "plugin/causal/queue.h"
#include "plugin/common/handover.h"
#include "event/event.h"

struct own_trace;
struct own_stream;

/*
 * A new trace, whose clock can be compared with the clock class of `now` (borrowed for the call; NULL: there is none);
 * `epoch`: its origin is the Unix epoch; `ns` is `now` in ns from its origin. Messages are made for `iter` and go to `queue` (both
 * borrowed), events into `handover` (NULL: the sink takes none, so they become messages). NULL if memory ran out. Free with
 * own_trace_free(), after its streams.
 */
struct own_trace *own_trace_new(bt_self_component *self, bt_self_message_iterator *iter,
	struct message_queue *queue, struct lqn_handover *handover,
	const bt_clock_snapshot *now, bool epoch, int64_t ns);
void own_trace_free(struct own_trace *trace);

/* Sets the present time; one that is earlier than the last one changes nothing. `now`: as above. */
void own_trace_set_time(struct own_trace *trace, const bt_clock_snapshot *now, int64_t ns);

/* Whether its clock counts ns from the origin, so that no `now` is needed to set the time. */
bool own_trace_counts_ns(const struct own_trace *trace);

/* The same as own_trace_set_time() for one that does. */
void own_trace_set_ns(struct own_trace *trace, int64_t ns);

/* Queues a message that says no more than the present time. False if memory ran out. */
bool own_trace_tell_time(struct own_trace *trace);

/*
 * A new stream, with the messages of its beginning and its packet's; NULL if memory ran out. `name`
 * is copied, `trace` borrowed. Free with own_stream_free(), which queues nothing.
 */
struct own_stream *own_stream_new(struct own_trace *trace, const char *name);
void own_stream_free(struct own_stream *stream);

/* Takes an event, whose strings are copied. */
void own_stream_event(struct own_stream *stream, const struct lqn_event *ev);

/* Queues the end of the packet and the stream. False if memory ran out. */
bool own_stream_end(struct own_stream *stream);

/* Whether events wait to become messages. */
bool own_trace_has_events(const struct own_trace *trace);

/*
 * Makes a message of the next event that comes before what is popped next from the queue. It passes to the caller; NULL: there is no
 * such event. False if memory ran out.
 */
bool own_trace_take(struct own_trace *trace, const bt_message **msg);

#endif
