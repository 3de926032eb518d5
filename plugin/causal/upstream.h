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

/* Where in front of the table a stream is, if it is there at all. */
static inline struct upstream **upstreams_front_of(struct upstreams *ups, const bt_stream *stream)
{
	return &ups->front[((uintptr_t) stream >> 6 ^ (uintptr_t) stream >> 12) % UPSTREAM_FRONT];
}

/* Looks a stream up in the table; for upstreams_get(). */
struct upstream *upstreams_look_up(struct upstreams *ups, const bt_stream *stream);

/* What is known of a stream; made when first asked for. Borrowed until upstreams_remove(). */
static inline struct upstream *upstreams_get(struct upstreams *ups, const bt_stream *stream)
{
	struct upstream *up = *upstreams_front_of(ups, stream);

	return G_LIKELY(up && up->stream == stream) ? up : upstreams_look_up(ups, stream);
}

void upstreams_remove(struct upstreams *ups, const bt_stream *stream);

#endif
