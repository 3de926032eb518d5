/* SPDX-License-Identifier: MIT */
#include "plugin/causal/upstream.h"

#include <string.h>

#include "layout/layout.h"

#define OWN_PREFIX "lqn:"

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
			up->told.switches |= layout && layout->type == LQN_REC_SWITCH;
			up->told.wakings |= layout && layout->type == LQN_REC_WAKING;
		}
	}
	up->told.kernel |= up->told.switches;
}

/* What orders streams of the same time, and what their times are of. */
static void identify(struct lqn_told_stream *told, const bt_stream *stream, const bt_stream_class *sc)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(sc);
	bt_uuid uuid = bt_trace_get_uuid(trace);

	if (uuid) {
		told->has_uuid = true;
		memcpy(told->uuid, uuid, sizeof(told->uuid));
	}
	told->trace = g_strdup(bt_trace_get_name(trace));
	told->class_id = bt_stream_class_get_id(sc);
	told->id = bt_stream_get_id(stream);
	told->dated = clock != NULL;
	told->epoch = clock && bt_clock_class_origin_is_unix_epoch(clock);
	uuid = clock ? bt_clock_class_get_uuid(clock) : NULL;
	if (uuid) {
		memcpy(told->clock, uuid, sizeof(told->clock));
	}
}

static struct upstream *upstream_new(const bt_stream *stream)
{
	struct upstream *up = g_new0(struct upstream, 1);
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_stream_class *sc = bt_stream_borrow_class_const(stream);
	const char *domain = domain_of(trace), *name = bt_trace_get_name(trace);
	const char *host = environment(trace, host_entries, G_N_ELEMENTS(host_entries));

	bt_stream_get_ref(stream);
	up->stream = stream;
	up->cpu = -1;
	up->fresh = true;
	up->user = g_strcmp0(domain, "ust") == 0;
	identify(&up->told, stream, sc);
	up->told.host = g_strdup(host ? host : name ? name : "localhost");
	up->told.release = g_strdup(environment(trace, release_entries, G_N_ELEMENTS(release_entries)));
	up->told.domain = g_strdup(domain);
	up->told.kernel = g_strcmp0(domain, "kernel") == 0;
	up->told.packets = bt_stream_class_supports_packets(sc);
	look_at_classes(up, bt_stream_class_borrow_trace_class_const(sc));
	return up;
}

static void upstream_free(void *data)
{
	struct upstream *up = data;

	lqn_told_stream_clear(&up->told);
	bt_stream_put_ref(up->stream);
	g_free(up);
}

void upstreams_init(struct upstreams *ups)
{
	ups->streams = g_hash_table_new_full(NULL, NULL, NULL, upstream_free);
	memset(ups->front, 0, sizeof(ups->front));
}

void upstreams_clear(struct upstreams *ups)
{
	g_hash_table_destroy(ups->streams);
}

struct upstream *upstreams_look_up(struct upstreams *ups, const bt_stream *stream)
{
	struct upstream *up = g_hash_table_lookup(ups->streams, stream);

	if (!up) {
		up = upstream_new(stream);
		g_hash_table_insert(ups->streams, (void *) stream, up);
	}
	*upstreams_front_of(ups, stream) = up;
	return up;
}

void upstreams_remove(struct upstreams *ups, const bt_stream *stream)
{
	memset(ups->front, 0, sizeof(ups->front));
	g_hash_table_remove(ups->streams, stream);
}
