/* SPDX-License-Identifier: MIT */
#include "plugin/model/feed.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define FAIL(feed, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((feed)->self, __VA_ARGS__)

#define LEFT_OUT UINT_MAX	/* in the place of a host's number */

static void put_stream(void *stream)
{
	bt_stream_put_ref(stream);
}

void feed_init(struct feed *feed, bt_self_component *self, struct lqn_analysis *analysis, bool aside)
{
	*feed = (struct feed) {
		.self = self,
		.analysis = analysis,
		.aside = aside ? lqn_aside_new(analysis) : NULL,
		.handover = lqn_handover_new(),
		.decoder = lqn_decoder_new(),
		.hosts = g_hash_table_new_full(NULL, NULL, put_stream, NULL),
		.tellers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
}

void feed_clear(struct feed *feed)
{
	lqn_aside_free(feed->aside);
	lqn_handover_unref(feed->handover);
	lqn_decoder_free(feed->decoder);
	g_hash_table_destroy(feed->tellers);
	g_hash_table_destroy(feed->hosts);
}

struct lqn_analysis *feed_analysis(struct feed *feed)
{
	if (feed->aside) {
		lqn_aside_wait(feed->aside);
	}
	return feed->analysis;
}

static const char *stream_name(const bt_stream *stream)
{
	const char *name = bt_stream_get_name(stream);

	return name ? name : "localhost";
}

static void set_number(struct feed *feed, const bt_stream *stream, unsigned number)
{
	feed->last_stream = stream;
	feed->last_host = number;
	bt_stream_get_ref(stream);
	g_hash_table_replace(feed->hosts, (void *) stream, GUINT_TO_POINTER(number));
}

static void set_host(struct feed *feed, const bt_stream *stream, const char *name)
{
	set_number(feed, stream, lqn_analysis_host(feed_analysis(feed), name));
}

static gboolean is_stream(void *name, void *stream, void *wanted)
{
	return stream == wanted;
}

/*
 * A stream begins to tell of a host. Where the filter was used twice, or on what it had stored
 * beside the kernel's events, two streams tell the same at the same time: one is enough. What comes
 * after a stream's summary is another part of the trace.
 */
static bool is_told_already(struct feed *feed, const bt_stream *stream, const char *name)
{
	const bt_stream *teller = g_hash_table_lookup(feed->tellers, name);

	if (!teller) {
		g_hash_table_insert(feed->tellers, g_strdup(name), (void *) stream);
	}
	return teller && teller != stream;
}

/* Where and when an event is, for people; g_free(). */
static char *place_of(const bt_stream *stream, int64_t ts)
{
	const char *trace = bt_trace_get_name(bt_stream_borrow_trace_const(stream));

	return g_strdup_printf("trace `%s`, stream `%s`, at %" PRId64 " ns",
		trace ? trace : "unnamed", stream_name(stream), ts);
}

/* What an event means has changed from version to version. */
static bool check_schema(struct feed *feed, const bt_stream *stream, int64_t ts, int64_t schema)
{
	char *place;

	if (schema == LQN_EVENT_SCHEMA) {
		return true;
	}
	place = place_of(stream, ts);
	FAIL(feed, "Events of %s: they are of schema %" PRId64 ", this version reads schema %d; "
		"make them again with filter.lqn.causal of this version", place, schema, LQN_EVENT_SCHEMA);
	g_free(place);
	return false;
}

/* A stream's beginning was cut off, and with it the event that names the host and the schema; its trace may know that. */
static bool begin_cut_stream(struct feed *feed, const bt_stream *stream, int64_t ts)
{
	const bt_value *schema = bt_trace_borrow_environment_entry_value_by_name_const(
		bt_stream_borrow_trace_const(stream), LQN_SCHEMA_ENTRY);

	set_host(feed, stream, stream_name(stream));
	return !schema || !bt_value_is_signed_integer(schema) ||
		check_schema(feed, stream, ts, bt_value_integer_signed_get(schema));
}

/* Finds the host that the stream of an event tells of: feed->last_host is its number. */
static bool find_host(struct feed *feed, const bt_stream *stream, const struct lqn_event *ev)
{
	void *host;

	if (feed->last_stream == stream) {
		return true;
	}
	if (!g_hash_table_lookup_extended(feed->hosts, stream, NULL, &host)) {
		return begin_cut_stream(feed, stream, ev->ts);
	}
	feed->last_stream = stream;
	feed->last_host = GPOINTER_TO_UINT(host);
	return true;
}

static bool begin_stream(struct feed *feed, const bt_stream *stream, const struct lqn_event *ev)
{
	const char *name;

	if (!check_schema(feed, stream, ev->ts, ev->host.schema)) {
		return false;
	}
	name = *ev->host.name != '\0' ? ev->host.name : stream_name(stream);
	if (is_told_already(feed, stream, name)) {
		fprintf(stderr,
			"sink.lqn.model: host `%s` is told of twice at the same time; "
			"the second stream is left out\n",
			name);
		set_number(feed, stream, LEFT_OUT);
	} else {
		set_host(feed, stream, name);
	}
	return true;
}

static void fail_without_time(struct feed *feed, const bt_stream *stream,
	const struct lqn_event *ev)
{
	char *place = place_of(stream, -1);

	FAIL(feed, "Event `%s` of %s: no time, or one out of range",
		lqn_event_class((enum lqn_event_type) ev->type)->name, place);
	g_free(place);
}

/* Takes an event of a stream. */
static bool take(struct feed *feed, const bt_stream *stream, const struct lqn_event *ev)
{
	if (!lqn_event_is_sound(ev)) {
		feed->unsound++;
		return true;
	}
	if (ev->type == LQN_EV_HOST && !begin_stream(feed, stream, ev)) {
		return false;
	}
	if (!find_host(feed, stream, ev)) {
		return false;
	}
	if (feed->last_host == LEFT_OUT) {
		return true;
	}
	if (ev->type == LQN_EV_SUMMARY) {
		g_hash_table_foreach_remove(feed->tellers, is_stream, (void *) stream);
	}
	if (feed->aside) {
		lqn_aside_event(feed->aside, feed->last_host, ev);
	} else {
		lqn_analysis_event(feed->analysis, feed->last_host, ev);
	}
	return true;
}

static bool take_message(struct feed *feed, const bt_message *msg)
{
	const bt_stream *stream = bt_event_borrow_stream_const(
		bt_message_event_borrow_event_const(msg));
	struct lqn_event ev;

	switch (lqn_decoder_decode(feed->decoder, msg, &ev)) {
	case LQN_DECODE_FOREIGN:
		return true;
	case LQN_DECODE_NO_TIME:
		fail_without_time(feed, stream, &ev);
		return false;
	case LQN_DECODE_NO_MEMORY:
		FAIL(feed, "Out of memory");
		return false;
	default:
		return take(feed, stream, &ev);
	}
}

bool feed_handed(struct feed *feed)
{
	const struct lqn_handed *handed;
	bool ok = true;

	while (ok && (handed = lqn_handover_take(feed->handover, feed->position))) {
		ok = take(feed, handed->stream, &handed->ev);
	}
	return ok;
}

bool feed_message(struct feed *feed, const bt_message *msg)
{
	bool ok = feed_handed(feed);

	if (ok && bt_message_get_type(msg) == BT_MESSAGE_TYPE_EVENT) {
		ok = take_message(feed, msg);
	}
	feed->position++;
	return ok;
}
