/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_UPSTREAM_H
#define LQN_PLUGIN_UPSTREAM_H

/* What is known of the streams that come in. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "records/told.h"

struct upstream {
	const bt_stream *stream;	/* a reference, owned: the address must stay taken */
	struct lqn_told_stream told;	/* what it is, for those who are told */
	int32_t cpu;			/* of the last packet; -1: not said */
	bool fresh;			/* nobody has been told of it */
	bool user;			/* of a trace of user space: layouts do not apply */
	bool own;			/* holds `lqn:` events already */
};

/* In front of the hash table of streams: there is about one stream per CPU. */
#define UPSTREAM_FRONT 64

struct upstreams {
	GHashTable *streams;		/* const bt_stream * -> struct upstream *, owned */
	/* borrowed, by some bits of the stream's address; may be NULL */
	struct upstream *front[UPSTREAM_FRONT];
};

void upstreams_init(struct upstreams *ups);

/* Frees all streams. */
void upstreams_clear(struct upstreams *ups);

/* What is known of a stream; made when first asked for. Borrowed until upstreams_remove(). */
struct upstream *upstreams_get(struct upstreams *ups, const bt_stream *stream);
void upstreams_remove(struct upstreams *ups, const bt_stream *stream);

#endif
