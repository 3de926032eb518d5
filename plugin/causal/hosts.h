/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_HOSTS_H
#define LQN_PLUGIN_HOSTS_H

/*
 * The traced hosts, each with an engine that is told of its trace; what the engines conclude is queued as messages of
 * a trace of our own, or handed over to the sink.
 */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/causal/causal.h"
#include "plugin/causal/queue.h"
#include "plugin/common/handover.h"
#include "records/told.h"

#define HOSTS_FAIL(hosts, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR((hosts)->iter, __VA_ARGS__)

struct hosts {
	/* set by whoever uses them; borrowed */
	bt_self_component *self;
	bt_self_message_iterator *iter;
	const struct causal_params *params;
	const bt_clock_snapshot *cs;		/* the time of what is told, if it comes from a message */
	struct lqn_handover *handover;		/* of the sink that is right behind; owned; NULL: none */

	struct message_queue queue;
	struct own_trace *own;			/* owned; NULL until the first host has an engine */
	GPtrArray *hosts;			/* struct host *, owned, in order of appearance */
	GPtrArray *started;			/* of these, borrowed: with an engine, in the order of their streams' ids */
	GHashTable *streams;			/* the open ones: struct taken *, owned */
	GString *seen;				/* the traces' names, for an error message */
	struct waiting *waiting;		/* records, owned */
	unsigned n_waiting;
	/*
	 * Whether records may wait: not where messages pass on that come behind what is made of them, or where
	 * a message is needed to tell the time.
	 */
	bool may_wait;
	int64_t now;				/* ns; never decreases */
	uint64_t strays;			/* spans of a host that is not known */
	unsigned untold;			/* batches since the sink was given a message */
	bool kernel;				/* kernel events came */
	bool ended;
};

/* `params` is borrowed; `port`: whose messages these will be. */
void hosts_init(struct hosts *hosts, bt_self_message_iterator *iter, const struct causal_params *params,
	bt_self_component_port_output *port);
void hosts_clear(struct hosts *hosts);

/* Forgets all that has been told. */
void hosts_restart(struct hosts *hosts);

/* Takes what is told, as decode_func. */
bool hosts_take(void *hosts, struct lqn_told *told);

/* Tells the engines of what has waited for more, each record at its time: before a message is queued that is not ours. */
void hosts_work(struct hosts *hosts);

/* For `fetch` below, each of these: its status. */

/*
 * A sink that is handed events must be given a message to take them, which costs as much as some of them do: after a batch
 * of what is told there is one if there are enough of them, or for a long time was none; where nothing more comes for now, which
 * is `again`, if there are any.
 */
bt_message_iterator_class_next_method_status hosts_after_batch(struct hosts *hosts);
bt_message_iterator_class_next_method_status hosts_again(struct hosts *hosts);

/*
 * The trace has ended: `events` of any kind came, and of these `own` were `lqn:` events. An error, with its cause, if
 * they held no kernel trace that is of use, or memory ran out.
 */
bt_message_iterator_class_next_method_status hosts_end(struct hosts *hosts, uint64_t events, uint64_t own);

/* Calls `fetch` until there is something to hand out, and hands that out. */
bt_message_iterator_class_next_method_status hosts_next(struct hosts *hosts, bt_message_array_const msgs,
	uint64_t capacity, uint64_t *count,
	bt_message_iterator_class_next_method_status (*fetch)(void *payload), void *payload);

#endif
