/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_HOST_H
#define LQN_PLUGIN_HOST_H

/* Private to hosts.c: one of the hosts, and what there must be of all of them. */
#include "causal/causal.h"
#include "plugin/causal/hosts.h"

/* A traced host. All streams with its name belong to it. */
struct host {
	char *name;			/* owned */
	char *release;			/* of the kernel; owned; NULL: unknown */
	struct lqn_causal *engine;	/* owned; NULL until there is something to tell */
	struct own_stream *out;		/* owned; there with `engine` */
	int64_t last;			/* ns; of the last kernel event */
	guint open;			/* streams of its kernel trace that have not ended */
	guint waiting;			/* streams of its kernel trace without a packet so far */
	bool kernel;			/* kernel events came */
	bool switches;			/* the trace has an event class for switches, … */
	bool wakings;			/* … for wakings in the waker's context */
};

/* Of a stream of that host; made if there is none. */
struct host *hosts_host(struct hosts *hosts, const struct lqn_told_stream *stream);

/*
 * The host of that name whose kernel trace is under way; else (also for NULL) the only one that has
 * one. NULL: none, or several.
 */
struct host *hosts_kernel_host(const struct hosts *hosts, const char *name);

/* Makes the host's engine and its stream, if it has none. False: out of memory, which has been told. */
bool host_start(struct hosts *hosts, struct host *host, const struct lqn_told_stream *stream);
void host_free(void *host);

/* False, with the cause for the iterator. */
bool hosts_out_of_memory(struct hosts *hosts);

/* Whether the input held what engines live on; the arguments are those of hosts_end(). False: no, which has been told. */
bool hosts_check_input(struct hosts *hosts, uint64_t events, uint64_t own);
/* What makes conclusions less sure than they could be. */
void hosts_log_missing_wakings(const struct hosts *hosts);
/* Snapshots that were named in vain. */
void hosts_log_unused_snapshots(const struct hosts *hosts);

#endif
