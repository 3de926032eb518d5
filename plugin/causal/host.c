/* SPDX-License-Identifier: MIT */
#include "plugin/causal/host.h"

#include <inttypes.h>
#include <string.h>

#include "plugin/causal/own-stream.h"
#include "plugin/common/log.h"

#define ADVICE "record on each host with `lttng enable-event --kernel sched_switch,sched_waking," \
	"sched_process_fork,sched_process_exec,sched_process_exit,irq_handler_entry," \
	"irq_handler_exit,irq_softirq_entry,irq_softirq_exit` and " \
	"`lttng enable-event --kernel --syscall --all`"

bool hosts_out_of_memory(struct hosts *hosts)
{
	HOSTS_FAIL(hosts, "Out of memory");
	return false;
}

/* Takes an event of a host's engine. */
static void take_event(void *payload, const struct lqn_event *ev)
{
	own_stream_event(((struct host *) payload)->out, ev);
}

bool host_start(struct hosts *hosts, struct host *host, const struct lqn_told_stream *stream)
{
	if (host->engine) {
		return true;
	}
	if (!hosts->own) {
		hosts->own = own_trace_new(hosts->self, hosts->iter, &hosts->queue, hosts->handover, hosts->cs,
			stream->epoch, hosts->now);
		if (!hosts->own) {
			return hosts_out_of_memory(hosts);
		}
		hosts->may_wait = (!hosts->params->pass_through || hosts->handover) && own_trace_counts_ns(hosts->own);
	}
	host->out = own_stream_new(hosts->own, host->name);
	if (!host->out) {
		return hosts_out_of_memory(hosts);
	}
	g_ptr_array_add(hosts->started, host);
	host->engine = lqn_causal_new(host->name, host->release, take_event, host);
	lqn_causal_set_snapshot(host->engine, lqn_snapshot_find(hosts->params->snapshots, host->name));
	return true;
}

void host_free(void *data)
{
	struct host *host = data;

	if (host->engine) {
		lqn_causal_free(host->engine);
	}
	own_stream_free(host->out);
	g_free(host->name);
	g_free(host->release);
	g_free(host);
}

struct host *hosts_host(struct hosts *hosts, const struct lqn_told_stream *stream)
{
	struct host *host = NULL;

	for (guint i = 0; i < hosts->hosts->len; i++) {
		host = g_ptr_array_index(hosts->hosts, i);
		if (strcmp(host->name, stream->host) == 0) {
			break;
		}
		host = NULL;
	}
	if (!host) {
		host = g_new0(struct host, 1);
		host->name = g_strdup(stream->host);
		g_ptr_array_add(hosts->hosts, host);
	}
	if (!host->release) {
		host->release = g_strdup(stream->release);
	}
	return host;
}

struct host *hosts_kernel_host(const struct hosts *hosts, const char *name)
{
	struct host *only = NULL;
	guint n = 0;

	for (guint i = 0; i < hosts->hosts->len; i++) {
		struct host *host = g_ptr_array_index(hosts->hosts, i);

		if (!host->kernel || host->open == 0) {
			continue;
		}
		if (name && strcmp(host->name, name) == 0) {
			return host;
		}
		only = host;
		n++;
	}
	return n == 1 ? only : NULL;
}

bool hosts_check_input(struct hosts *hosts, uint64_t events, uint64_t own)
{
	if (!hosts->kernel && own > 0) {
		return true;
	}
	if (!hosts->kernel) {
		HOSTS_FAIL(hosts, "No kernel events that this filter knows in the input, so nothing tells "
			"who waits for whom: %" PRIu64 " events came, from the traces %s; " ADVICE,
			events, hosts->seen->len ? hosts->seen->str : "(none)");
		return false;
	}
	for (guint i = 0; i < hosts->hosts->len; i++) {
		const struct host *host = g_ptr_array_index(hosts->hosts, i);

		if (host->kernel && !host->switches) {
			HOSTS_FAIL(hosts, "The kernel trace of host `%s` has no event `sched_switch`, so "
				"nothing tells who ran; " ADVICE, host->name);
			return false;
		}
	}
	return true;
}

void hosts_log_missing_wakings(const struct hosts *hosts)
{
	for (guint i = 0; i < hosts->hosts->len; i++) {
		const struct host *host = g_ptr_array_index(hosts->hosts, i);

		if (host->kernel && !host->wakings) {
			lqn_log(hosts->self, BT_LOGGING_LEVEL_WARNING, "the kernel trace of host `%s` has no event `sched_waking`: "
				"who ends a wait is known by `sched_wakeup`, less surely, or not at all", host->name);
		}
	}
}

void hosts_log_unused_snapshots(const struct hosts *hosts)
{
	const GPtrArray *snapshots = hosts->params->snapshots;

	for (guint i = 0; snapshots && i < snapshots->len; i++) {
		const struct lqn_snapshot *snapshot = snapshots->pdata[i];
		bool used = false;

		for (guint k = 0; k < hosts->started->len; k++) {
			used |= strcmp(((const struct host *) hosts->started->pdata[k])->name, snapshot->host) == 0;
		}
		if (!used) {
			lqn_log(hosts->self, BT_LOGGING_LEVEL_WARNING, "snapshot `%s` is of host `%s`, which is none of the "
				"trace's", snapshot->file, snapshot->host);
		}
	}
}
