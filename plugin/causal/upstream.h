/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_UPSTREAM_H
#define LQN_PLUGIN_UPSTREAM_H

/* What an iterator knows of the streams that come in, and of the hosts that they were traced on. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* A traced host. All streams with its name belong to it. */
struct host {
	char *name;			/* owned */
	char *release;			/* of the kernel; owned; NULL: unknown */
	struct lqn_causal *engine;	/* owned; NULL until there is something to tell */
	struct own_stream *out;		/* owned; there with `engine` */
	struct causal_iter *iter;	/* borrowed: whom the engine's events go to */
	int64_t last;			/* ns; of the last kernel event */
	guint open;			/* streams of its kernel trace that have not ended */
	guint waiting;			/* streams of its kernel trace without a packet so far */
	bool kernel;			/* kernel events came */
	bool switches;			/* the trace has an event class for switches */
};

struct upstream {
	const bt_stream *stream;	/* a reference, owned: the address must stay taken */
	struct host *host;		/* borrowed */
	int32_t cpu;			/* of the last packet; -1: not said */
	int64_t end;			/* ns; of the last packet; -1: none has ended */
	bool waits;			/* it has packets, and none has come */
	bool dated;			/* has a clock */
	bool kernel;			/* of a kernel trace */
	bool user;			/* of a trace of user space: layouts do not apply */
	bool own;			/* holds `lqn:` events already */
};

/* In front of the hash table of streams: there is about one stream per CPU. */
#define UPSTREAM_FRONT 64

struct upstreams {
	GPtrArray *hosts;		/* struct host *, owned, in order of appearance */
	/* struct host *, borrowed: those with an engine, in the order of their streams' ids */
	GPtrArray *started;
	GHashTable *streams;		/* const bt_stream * -> struct upstream *, owned */
	/* borrowed, by some bits of the stream's address; may be NULL */
	struct upstream *front[UPSTREAM_FRONT];
	GString *seen;			/* the traces' names, for an error message */
};

void upstreams_init(struct upstreams *ups);

/* Frees all hosts and streams with what they own. */
void upstreams_clear(struct upstreams *ups);

/* A packet of the stream begins. */
static inline void upstreams_packet(struct upstream *up)
{
	up->host->waiting -= up->waits;
	up->waits = false;
}

/* What is known of a stream; made when first asked for. Borrowed until upstreams_remove(). */
struct upstream *upstreams_get(struct upstreams *ups, struct causal_iter *iter,
	const bt_stream *stream);
/*
 * The host of that name whose kernel trace is under way; else (also for NULL) the only one that has
 * one. NULL: none, or several. Borrowed.
 */
struct host *upstreams_kernel_host(const struct upstreams *ups, const char *name);
void upstreams_remove(struct upstreams *ups, const bt_stream *stream);

#endif
