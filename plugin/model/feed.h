/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_MODEL_FEED_H
#define LQN_PLUGIN_MODEL_FEED_H

/* What comes to the sink, as messages or handed over, becomes events of hosts, which the analysis takes. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "plugin/common/handover.h"
#include "plugin/model/decode.h"
#include "request/analysis.h"
#include "request/aside.h"

struct feed {
	bt_self_component *self;		/* borrowed */
	struct lqn_analysis *analysis;		/* borrowed */
	struct lqn_aside *aside;		/* it is in a thread of its own; owned; NULL: it is not */
	struct lqn_handover *handover;		/* owned; empty unless the filter is right in front */
	struct lqn_decoder *decoder;		/* owned */
	GHashTable *hosts;	/* const bt_stream *, a reference, owned -> number of its host */
	GHashTable *tellers;	/* name of a host, owned -> the stream that tells of it, borrowed */
	/* Of the stream that the last event came from; borrowed, NULL at first. */
	const bt_stream *last_stream;
	unsigned last_host;
	uint64_t position;			/* messages so far */
	uint64_t unsound;			/* events that were left out */
};

/* `aside`: the analysis has a thread of its own. */
void feed_init(struct feed *feed, bt_self_component *self, struct lqn_analysis *analysis, bool aside);
void feed_clear(struct feed *feed);

/* Takes what has been handed over and comes before the next message. False: an error, which has been told. */
bool feed_handed(struct feed *feed);

/* Takes what has been handed over, then a message. Likewise. */
bool feed_message(struct feed *feed, const bt_message *msg);

/* The analysis, when it has taken all events; until the next one comes it is the caller's. */
struct lqn_analysis *feed_analysis(struct feed *feed);

#endif
