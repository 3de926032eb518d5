/* SPDX-License-Identifier: MIT */
#include "plugin/causal/upstream.h"

#include <string.h>

#include "causal/causal.h"
#include "layout/layout.h"
#include "plugin/causal/own-stream.h"

#define OWN_PREFIX "lqn:"
#define SEEN_MAX 400	/* bytes of trace names in an error message */

/* What tracers call the same thing: LTTng, then perf. */
static const char *const host_entries[] = { "hostname", "host" };
static const char *const release_entries[] = { "kernel_release", "release" };

/* A string of the trace's environment, borrowed, or NULL. */
static const char *environment(const bt_trace *trace, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const bt_value *value =
			bt_trace_borrow_environment_entry_value_by_name_const(trace, names[i]);

		if (value && bt_value_is_string(value) && *bt_value_string_get(value) != '\0') {
			return bt_value_string_get(value);
		}
	}
	return NULL;
}

static const char *domain_of(const bt_trace *trace)
{
	const char *const entry = "domain";

	return environment(trace, &entry, 1);
}

/* ---- hosts --------------------------------------------------------------- */

static void host_free(void *data)
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

static struct host *get_host(struct upstreams *ups, struct causal_iter *iter,
	const bt_trace *trace)
{
	const char *name = environment(trace, host_entries, G_N_ELEMENTS(host_entries));
	const char *release = environment(trace, release_entries, G_N_ELEMENTS(release_entries));
	struct host *host = NULL;

	if (!name) {
		name = bt_trace_get_name(trace);
	}
	if (!name) {
		name = "localhost";
	}
	for (guint i = 0; i < ups->hosts->len; i++) {
		host = g_ptr_array_index(ups->hosts, i);
		if (strcmp(host->name, name) == 0) {
			break;
		}
		host = NULL;
	}
	if (!host) {
		host = g_new0(struct host, 1);
		host->name = g_strdup(name);
		host->iter = iter;
		g_ptr_array_add(ups->hosts, host);
	}
	if (!host->release) {
		host->release = g_strdup(release);
	}
	return host;
}

/* ---- streams ------------------------------------------------------------- */

/* Finds out what event classes the stream's trace has. */
static void look_at_classes(struct upstream *up, const bt_trace_class *tc)
{
	uint64_t n_streams = bt_trace_class_get_stream_class_count(tc);

	for (uint64_t s = 0; s < n_streams; s++) {
		const bt_stream_class *sc =
			bt_trace_class_borrow_stream_class_by_index_const(tc, s);
		uint64_t n = bt_stream_class_get_event_class_count(sc);

		for (uint64_t i = 0; i < n; i++) {
			const char *name = bt_event_class_get_name(
				bt_stream_class_borrow_event_class_by_index_const(sc, i));
			const struct lqn_layout_event *layout =
				name && !up->user ? lqn_layout_find(name) : NULL;

			up->own |= name && g_str_has_prefix(name, OWN_PREFIX);
			if (layout && layout->type == LQN_REC_SWITCH) {
				up->kernel = true;
				up->host->switches = true;
			}
		}
	}
}

static void note_seen(struct upstreams *ups, const bt_trace *trace, const char *domain)
{
	const char *name = bt_trace_get_name(trace);
	char *text = g_strdup_printf("`%s` (domain %s)", name ? name : "unnamed",
		domain ? domain : "unknown");

	if (ups->seen->len < SEEN_MAX && !strstr(ups->seen->str, text)) {
		g_string_append_printf(ups->seen, "%s%s", ups->seen->len ? ", " : "", text);
	}
	g_free(text);
}

static struct upstream *upstream_new(struct upstreams *ups, struct causal_iter *iter,
	const bt_stream *stream)
{
	struct upstream *up = g_new0(struct upstream, 1);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_stream_class *sc = bt_stream_borrow_class_const(stream);
	const char *domain = domain_of(trace);

	bt_stream_get_ref(stream);
	up->stream = stream;
	up->cpu = -1;
	up->end = -1;
	up->host = get_host(ups, iter, trace);
	up->dated = bt_stream_class_borrow_default_clock_class_const(sc) != NULL;
	up->kernel = g_strcmp0(domain, "kernel") == 0;
	up->user = g_strcmp0(domain, "ust") == 0;
	look_at_classes(up, bt_stream_class_borrow_trace_class_const(sc));
	up->host->open += up->kernel;
	note_seen(ups, trace, domain);
	up->waits = up->kernel && bt_stream_class_supports_packets(sc);
	up->host->waiting += up->waits;
	return up;
}

static void upstream_free(void *data)
{
	struct upstream *up = data;

	up->host->open -= up->kernel;
	bt_stream_put_ref(up->stream);
	g_free(up);
}

void upstreams_init(struct upstreams *ups)
{
	ups->hosts = g_ptr_array_new_with_free_func(host_free);
	ups->started = g_ptr_array_new();
	ups->streams = g_hash_table_new_full(NULL, NULL, NULL, upstream_free);
	memset(ups->front, 0, sizeof(ups->front));
	ups->seen = g_string_new(NULL);
}

void upstreams_clear(struct upstreams *ups)
{
	g_hash_table_destroy(ups->streams);
	g_ptr_array_free(ups->started, TRUE);
	g_ptr_array_free(ups->hosts, TRUE);
	g_string_free(ups->seen, TRUE);
}

struct upstream *upstreams_get(struct upstreams *ups, struct causal_iter *iter,
	const bt_stream *stream)
{
	struct upstream **slot = &ups->front[((uintptr_t) stream >> 6 ^ (uintptr_t) stream >> 12) %
		UPSTREAM_FRONT];
	struct upstream *up = *slot;

	if (G_LIKELY(up && up->stream == stream)) {
		return up;
	}
	up = g_hash_table_lookup(ups->streams, stream);
	if (!up) {
		up = upstream_new(ups, iter, stream);
		g_hash_table_insert(ups->streams, (void *) stream, up);
	}
	*slot = up;
	return up;
}

struct host *upstreams_kernel_host(const struct upstreams *ups, const char *name)
{
	struct host *only = NULL;
	guint n = 0;

	for (guint i = 0; i < ups->hosts->len; i++) {
		struct host *host = g_ptr_array_index(ups->hosts, i);

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

void upstreams_remove(struct upstreams *ups, const bt_stream *stream)
{
	struct upstream *up = g_hash_table_lookup(ups->streams, stream);

	if (up) {
		upstreams_packet(up);
	}
	memset(ups->front, 0, sizeof(ups->front));
	g_hash_table_remove(ups->streams, stream);
}
