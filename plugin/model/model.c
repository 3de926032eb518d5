/* SPDX-License-Identifier: MIT */
#include "plugin/model/model.h"

#include <glib.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "plugin/common/handover.h"
#include "plugin/common/message.h"
#include "plugin/model/decode.h"
#include "plugin/model/interval.h"
#include "plugin/model/params.h"
#include "plugin/model/results.h"
#include "result/result.h"

#define FAIL(model, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((model)->self, __VA_ARGS__)

#define LEFT_OUT UINT_MAX	/* in the place of a host's number */

struct model {
	bt_self_component *self;		/* borrowed */
	bt_message_iterator *up;		/* owned; NULL until the graph is configured */
	struct lqn_handover *handover;		/* owned; empty unless the filter is right in front */
	uint64_t position;			/* messages so far */
	struct lqn_decoder *decoder;		/* owned */
	struct lqn_analysis *analysis;		/* owned */
	GHashTable *hosts;	/* const bt_stream *, a reference, owned -> number of its host */
	GHashTable *tellers;	/* name of a host, owned -> the stream that tells of it, borrowed */
	/* Of the stream that the last event came from; borrowed, NULL at first. */
	const bt_stream *last_stream;
	unsigned last_host;

	struct model_params params;
	uint64_t unsound;			/* events that were left out */
	bool running;		/* messages have come, and their end has not */
	struct interval interval;
	int64_t now;		/* ns; of the last message with a time; INT64_MIN: none has come */
	bool written;		/* there is a result already */
};

/* ---- initialization ------------------------------------------------------ */

bt_component_class_get_supported_mip_versions_method_status model_mip_versions(
	bt_self_component_class_sink *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	return (int) lqn_message_add_versions(versions);
}

static void model_free(struct model *model)
{
	bt_message_iterator_put_ref(model->up);
	lqn_handover_unref(model->handover);
	lqn_decoder_free(model->decoder);
	if (model->analysis) {
		lqn_analysis_free(model->analysis);
	}
	g_hash_table_destroy(model->tellers);
	g_hash_table_destroy(model->hosts);
	model_params_clear(&model->params);
	g_free(model);
}

static void put_stream(void *stream)
{
	bt_stream_put_ref(stream);
}

bt_component_class_initialize_method_status model_init(bt_self_component_sink *self_sink,
	bt_self_component_sink_configuration *config, const bt_value *params, void *data)
{
	struct model *model = g_new0(struct model, 1);
	bt_self_component_add_port_status status;
	struct lqn_options options;

	model->self = bt_self_component_sink_as_self_component(self_sink);
	model->interval.begin = model->now = INT64_MIN;
	model->handover = lqn_handover_new();
	model->decoder = lqn_decoder_new();
	model->hosts = g_hash_table_new_full(NULL, NULL, put_stream, NULL);
	model->tellers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (!model_params_read(&model->params, model->self, params)) {
		model_free(model);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = bt_self_component_sink_add_input_port(self_sink, "in", NULL, NULL);
	if (status != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		model_free(model);
		return (int) status;
	}
	model->interval.ns = (int64_t) (model->params.interval * 1e9);
	options = model_params_options(&model->params);
	model->analysis = lqn_analysis_new(&options);
	bt_self_component_set_data(model->self, model);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_sink_graph_is_configured_method_status model_graph_is_configured(
	bt_self_component_sink *self_sink)
{
	struct model *model = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self_sink));
	bt_self_component_port_input *in =
		bt_self_component_sink_borrow_input_port_by_name(self_sink, "in");
	const bt_component *component = bt_self_component_as_component(model->self);
	bt_message_iterator_create_from_sink_component_status status;

	/* To go on would make the library abort the process. */
	if (!bt_port_is_connected(bt_self_component_port_as_port(
			bt_self_component_port_input_as_self_component_port(in)))) {
		FAIL(model, "Input port `in` is not connected");
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	lqn_handover_offer(model->handover, component);
	status = bt_message_iterator_create_from_sink_component(self_sink, in, &model->up);
	lqn_handover_withdraw(component);
	return (int) status;
}

/* ---- events -------------------------------------------------------------- */

static const char *stream_name(const bt_stream *stream)
{
	const char *name = bt_stream_get_name(stream);

	return name ? name : "localhost";
}

static void set_number(struct model *model, const bt_stream *stream, unsigned number)
{
	model->last_stream = stream;
	model->last_host = number;
	bt_stream_get_ref(stream);
	g_hash_table_replace(model->hosts, (void *) stream, GUINT_TO_POINTER(number));
}

static void set_host(struct model *model, const bt_stream *stream, const char *name)
{
	set_number(model, stream, lqn_analysis_host(model->analysis, name));
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
static bool is_told_already(struct model *model, const bt_stream *stream, const char *name)
{
	const bt_stream *teller = g_hash_table_lookup(model->tellers, name);

	if (!teller) {
		g_hash_table_insert(model->tellers, g_strdup(name), (void *) stream);
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
static bool check_schema(struct model *model, const bt_stream *stream, int64_t ts, int64_t schema)
{
	char *place;

	if (schema == LQN_EVENT_SCHEMA) {
		return true;
	}
	place = place_of(stream, ts);
	FAIL(model, "Events of %s: they are of schema %" PRId64 ", this version reads schema %d; "
		"make them again with filter.lqn.causal of this version", place, schema, LQN_EVENT_SCHEMA);
	g_free(place);
	return false;
}

/* A stream's beginning was cut off, and with it the event that names the host and the schema; its trace may know that. */
static bool begin_cut_stream(struct model *model, const bt_stream *stream, int64_t ts)
{
	const bt_value *schema = bt_trace_borrow_environment_entry_value_by_name_const(
		bt_stream_borrow_trace_const(stream), LQN_SCHEMA_ENTRY);

	set_host(model, stream, stream_name(stream));
	return !schema || !bt_value_is_signed_integer(schema) ||
		check_schema(model, stream, ts, bt_value_integer_signed_get(schema));
}

/* Finds the host that the stream of an event tells of: model->last_host is its number. */
static bool find_host(struct model *model, const bt_stream *stream, const struct lqn_event *ev)
{
	void *host;

	if (model->last_stream == stream) {
		return true;
	}
	if (!g_hash_table_lookup_extended(model->hosts, stream, NULL, &host)) {
		return begin_cut_stream(model, stream, ev->ts);
	}
	model->last_stream = stream;
	model->last_host = GPOINTER_TO_UINT(host);
	return true;
}

static bool begin_stream(struct model *model, const bt_stream *stream, const struct lqn_event *ev)
{
	const char *name;

	if (!check_schema(model, stream, ev->ts, ev->host.schema)) {
		return false;
	}
	name = *ev->host.name != '\0' ? ev->host.name : stream_name(stream);
	if (is_told_already(model, stream, name)) {
		fprintf(stderr,
			"sink.lqn.model: host `%s` is told of twice at the same time; "
			"the second stream is left out\n",
			name);
		set_number(model, stream, LEFT_OUT);
	} else {
		set_host(model, stream, name);
	}
	return true;
}

static void fail_without_time(struct model *model, const bt_stream *stream,
	const struct lqn_event *ev)
{
	char *place = place_of(stream, -1);

	FAIL(model, "Event `%s` of %s: no time, or one out of range",
		lqn_event_class((enum lqn_event_type) ev->type)->name, place);
	g_free(place);
}

/* Takes an event of a stream. */
static bool take(struct model *model, const bt_stream *stream, const struct lqn_event *ev)
{
	if (!lqn_event_is_sound(ev)) {
		model->unsound++;
		return true;
	}
	if (ev->type == LQN_EV_HOST && !begin_stream(model, stream, ev)) {
		return false;
	}
	if (!find_host(model, stream, ev)) {
		return false;
	}
	if (model->last_host == LEFT_OUT) {
		return true;
	}
	if (ev->type == LQN_EV_SUMMARY) {
		g_hash_table_foreach_remove(model->tellers, is_stream, (void *) stream);
	}
	lqn_analysis_event(model->analysis, model->last_host, ev);
	return true;
}

static bool take_message(struct model *model, const bt_message *msg)
{
	const bt_stream *stream = bt_event_borrow_stream_const(
		bt_message_event_borrow_event_const(msg));
	struct lqn_event ev;

	switch (lqn_decoder_decode(model->decoder, msg, &ev)) {
	case LQN_DECODE_FOREIGN:
		return true;
	case LQN_DECODE_NO_TIME:
		fail_without_time(model, stream, &ev);
		return false;
	case LQN_DECODE_NO_MEMORY:
		FAIL(model, "Out of memory");
		return false;
	default:
		return take(model, stream, &ev);
	}
}

/* Takes what has been handed over and comes before the next message. */
static bool take_handed(struct model *model)
{
	const struct lqn_event *ev;
	const bt_stream *stream;
	bool ok = true;

	while (ok && (ev = lqn_handover_take(model->handover, model->position, &stream))) {
		ok = take(model, stream, ev);
	}
	return ok;
}

/* ---- results ------------------------------------------------------------- */

/* What to do about an error of the analysis; `code` is an enum lqn_analysis_error. */
static const char *advice_for(int code)
{
	static const char *const advice[] = {
		[LQN_ANALYSIS_NO_EVENTS] = "like this: "
			"`babeltrace2 TRACE --component=filter.lqn.causal "
			"--component=sink.lqn.model`",
		[LQN_ANALYSIS_NO_MARK] = "see the candidates with `babeltrace2 TRACE "
			"--component=filter.lqn.causal | grep lqn:mark`",
		[LQN_ANALYSIS_NO_REQUESTS] = "check that the workload ran in the window, and that "
			"its system calls were recorded",
	};

	return code >= 0 && (size_t) code < G_N_ELEMENTS(advice) ? advice[code] : NULL;
}

static bool write_results(struct model *model, const struct lqn_model *result,
	const struct lqn_path_report *paths)
{
	bool again = model->written;

	model->written = true;
	return model_results_write(model->self, &model->params, model->analysis, result, paths, again);
}

/* Time goes on: writes the model of the window that is over, if one is. */
static bool roll(struct model *model)
{
	struct lqn_model *result = NULL;
	struct lqn_path_report *paths = NULL;
	int64_t begin, end;
	bool ok = true;

	if (model->now == INT64_MIN || !interval_is_over(&model->interval, model->now, &begin)) {
		return true;
	}
	end = begin + model->interval.ns;
	lqn_analysis_advance(model->analysis, end + interval_settle(&model->interval));
	/* a window without requests is no error: the last one that had some stays */
	if (lqn_analysis_snapshot(model->analysis, begin, end, &result, &paths, NULL)) {
		ok = write_results(model, result, paths);
		lqn_model_free(result);
		lqn_path_report_free(paths);
	}
	/* the next window begins there */
	lqn_analysis_forget(model->analysis, end);
	return ok;
}

/* The last window, which may be shorter; `error` is set if there is nothing in it. */
static bool analyse_rest(struct model *model, struct lqn_model **result,
	struct lqn_path_report **paths, GError **error)
{
	if (model->interval.ns == 0 || model->interval.begin == INT64_MIN) {
		return lqn_analysis_finish(model->analysis, result, paths, error);
	}
	lqn_analysis_end(model->analysis);
	return lqn_analysis_snapshot(model->analysis, model->interval.begin, model->now + 1, result,
		paths, error);
}

/* `partial`: why this is not of the whole trace; NULL: it is. */
static bool finish(struct model *model, const char *partial)
{
	struct lqn_model *result = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;
	bool ok = analyse_rest(model, &result, &paths, &error);

	if (model->unsound > 0) {
		fprintf(stderr,
			"sink.lqn.model: %" PRIu64
			" events were left out: their times or numbers make no sense\n",
			model->unsound);
	}
	if (!ok && model->params.thread && g_error_matches(error, LQN_ANALYSIS_ERROR,
			LQN_ANALYSIS_NO_REQUESTS)) {
		/* a thread's path needs no requests */
		fprintf(stderr, "sink.lqn.model: no model, only the path of thread `%s`: %s\n",
			model->params.thread, error->message);
		g_clear_error(&error);
		return write_results(model, NULL, NULL);
	}
	if (!ok && model->written && g_error_matches(error, LQN_ANALYSIS_ERROR,
			LQN_ANALYSIS_NO_REQUESTS)) {
		g_clear_error(&error);
		return true;
	}
	if (!ok) {
		const char *advice = error && error->domain == LQN_ANALYSIS_ERROR ?
			advice_for(error->code) : NULL;

		FAIL(model, "No model: %s%s%s", error ? error->message : "unknown error",
			advice ? "; " : "", advice ? advice : "");
		g_clear_error(&error);
		return false;
	}
	if (model->interval.ns == 0) {
		model_results_predict(&model->params, result);
	}
	result->partial = g_strdup(partial);
	paths->partial = g_strdup(partial);
	ok = write_results(model, result, paths);
	lqn_model_free(result);
	lqn_path_report_free(paths);
	return ok;
}

/* Says on the standard error what nobody takes as an error of the graph any more. */
static void tell_error(void)
{
	const bt_error *error = bt_current_thread_take_error();

	for (uint64_t i = 0; error && i < bt_error_get_cause_count(error); i++) {
		fprintf(stderr, "sink.lqn.model: %s\n", bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(error, i)));
	}
	if (error) {
		bt_error_release(error);
	}
}

/* The messages will not come to their end: writes what there is, if that is wanted. */
static void finish_early(struct model *model, const char *reason)
{
	if (model->params.partial && model->running && !finish(model, reason)) {
		tell_error();
	}
	model->running = false;
}

/* An interrupted run comes here without an end of its messages. */
void model_finalize(bt_self_component_sink *self_sink)
{
	struct model *model = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self_sink));

	finish_early(model, "the run was interrupted");
	model_free(model);
}

/* The source, or something behind it, has failed: its error stays the one that is told. */
static void upstream_failed(struct model *model)
{
	const bt_error *error;

	FAIL(model, "The upstream iterator failed");
	error = bt_current_thread_take_error();
	finish_early(model, "reading failed");
	bt_current_thread_move_error(error);
}

/* Of the last message of a batch, for all are in order of time: inactivity is time, too. */
static void follow_time(struct model *model, const bt_message *msg)
{
	const bt_clock_snapshot *cs = model->interval.ns > 0 ? lqn_message_clock(msg) : NULL;
	int64_t ns;

	if (cs && bt_clock_snapshot_get_ns_from_origin(cs, &ns) ==
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		model->now = MAX(model->now, ns);
	}
}

bt_component_class_sink_consume_method_status model_consume(bt_self_component_sink *self_sink)
{
	struct model *model = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self_sink));
	bt_message_array_const msgs;
	uint64_t n;
	bt_message_iterator_next_status status = bt_message_iterator_next(model->up, &msgs, &n);
	bool ok = true;

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		model->running = false;
		return finish(model, NULL) ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		if (status < 0) {
			upstream_failed(model);
		}
		return (int) status;
	}
	for (uint64_t i = 0; i < n; i++) {
		ok = ok && take_handed(model);
		if (ok && bt_message_get_type(msgs[i]) == BT_MESSAGE_TYPE_EVENT) {
			ok = take_message(model, msgs[i]);
		}
		model->position++;
		if (i + 1 == n) {
			follow_time(model, msgs[i]);
		}
		bt_message_put_ref(msgs[i]);
	}
	ok = ok && take_handed(model) && roll(model);
	model->running = ok;
	return ok ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK :
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}
