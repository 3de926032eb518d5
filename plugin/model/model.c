/* SPDX-License-Identifier: MIT */
#include "plugin/model/model.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

#include "plugin/common/message.h"
#include "plugin/model/feed.h"
#include "plugin/model/interval.h"
#include "plugin/model/params.h"
#include "plugin/model/results.h"
#include "result/result.h"

#define FAIL(model, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((model)->self, __VA_ARGS__)

struct model {
	bt_self_component *self;		/* borrowed */
	bt_message_iterator *up;		/* owned; NULL until the graph is configured */
	struct lqn_analysis *analysis;		/* owned */
	struct feed feed;

	struct model_params params;
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
	if (model->analysis) {
		feed_clear(&model->feed);
		lqn_analysis_free(model->analysis);
	}
	model_params_clear(&model->params);
	g_free(model);
}

bt_component_class_initialize_method_status model_init(bt_self_component_sink *self_sink,
	bt_self_component_sink_configuration *config, const bt_value *params, void *data)
{
	struct model *model = g_new0(struct model, 1);
	bt_self_component_add_port_status status;
	struct lqn_options options;

	model->self = bt_self_component_sink_as_self_component(self_sink);
	if (!model_params_read(&model->params, model->self, params)) {
		model_free(model);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = bt_self_component_sink_add_input_port(self_sink, "in", NULL, NULL);
	if (status != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		model_free(model);
		return (int) status;
	}
	model->interval.begin = model->now = INT64_MIN;
	model->interval.ns = (int64_t) (model->params.interval * 1e9);
	options = model_params_options(&model->params);
	model->analysis = lqn_analysis_new(&options);
	feed_init(&model->feed, model->self, model->analysis, model->params.aside);
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
	lqn_handover_offer(model->feed.handover, component);
	status = bt_message_iterator_create_from_sink_component(self_sink, in, &model->up);
	lqn_handover_withdraw(component);
	return (int) status;
}

/* ---- results ------------------------------------------------------------- */

static bool write_results(struct model *model, const struct lqn_model *result,
	const struct lqn_path_report *paths)
{
	bool again = model->written;

	model->written = true;
	return model_results_write(model->self, &model->params, feed_analysis(&model->feed), result, paths, again);
}

/* Time goes on: writes the model of the window that is over, if one is. */
static bool roll(struct model *model)
{
	struct lqn_model *result = NULL;
	struct lqn_path_report *paths = NULL;
	struct lqn_analysis *analysis;
	int64_t begin, end;
	bool ok = true;

	if (model->now == INT64_MIN || !interval_is_over(&model->interval, model->now, &begin)) {
		return true;
	}
	analysis = feed_analysis(&model->feed);
	end = begin + model->interval.ns;
	lqn_analysis_advance(analysis, end + interval_settle(&model->interval));
	/* a window without requests is no error: the last one that had some stays */
	if (lqn_analysis_snapshot(analysis, begin, end, &result, &paths, NULL)) {
		ok = write_results(model, result, paths);
		lqn_model_free(result);
		lqn_path_report_free(paths);
	}
	/* the next window begins there */
	lqn_analysis_forget(analysis, end);
	return ok;
}

/* The last window, which may be shorter; `error` is set if there is nothing in it. */
static bool analyse_rest(struct model *model, struct lqn_model **result,
	struct lqn_path_report **paths, GError **error)
{
	struct lqn_analysis *analysis = feed_analysis(&model->feed);

	if (model->interval.ns == 0 || model->interval.begin == INT64_MIN) {
		return lqn_analysis_finish(analysis, result, paths, error);
	}
	lqn_analysis_end(analysis);
	return lqn_analysis_snapshot(analysis, model->interval.begin, model->now + 1, result,
		paths, error);
}

/* What to do about an error of the analysis. */
static const char *advice_for(const GError *error)
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

	return error->domain == LQN_ANALYSIS_ERROR && (size_t) error->code < G_N_ELEMENTS(advice) ?
		advice[error->code] : NULL;
}

static bool fail_without_model(struct model *model, const GError *error)
{
	const char *advice = advice_for(error);

	if (model->feed.unsound > 0 && g_error_matches(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_EVENTS)) {
		FAIL(model, "No model: none of the %" PRIu64 " `lqn:` events that came can be used, their times or numbers "
			"make no sense; times before the origin of the trace's clock (1970, in most) are none: look at "
			"`babeltrace2 TRACE --clock-seconds`", model->feed.unsound);
	} else {
		FAIL(model, "No model: %s%s%s", error->message, advice ? "; " : "", advice ? advice : "");
	}
	return false;
}

/* There is no model: no error where something else was asked for, or one has been written before. */
static bool finish_without_model(struct model *model, const GError *error)
{
	bool no_requests = g_error_matches(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_REQUESTS);

	if (no_requests && model->params.thread) {
		/* a thread's path needs no requests */
		fprintf(stderr, "sink.lqn.model: no model, only the path of thread `%s`: %s\n",
			model->params.thread, error->message);
		return write_results(model, NULL, NULL);
	}
	return (no_requests && model->written) || fail_without_model(model, error);
}

/* `partial`: why this is not of the whole trace; NULL: it is. */
static bool finish(struct model *model, const char *partial)
{
	struct lqn_model *result = NULL;
	struct lqn_path_report *paths = NULL;
	g_autoptr(GError) error = NULL;
	bool ok = analyse_rest(model, &result, &paths, &error);

	if (model->feed.unsound > 0) {
		fprintf(stderr,
			"sink.lqn.model: %" PRIu64
			" events were left out: their times or numbers make no sense\n",
			model->feed.unsound);
	}
	if (!ok) {
		return finish_without_model(model, error);
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
	follow_time(model, msgs[n - 1]);
	for (uint64_t i = 0; i < n; i++) {
		ok = ok && feed_message(&model->feed, msgs[i]);
		bt_message_put_ref(msgs[i]);
	}
	ok = ok && feed_handed(&model->feed) && roll(model);
	model->running = ok;
	return ok ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK :
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}
