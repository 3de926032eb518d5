/* SPDX-License-Identifier: MIT */
#include "plugin/records/records.h"

#include <glib.h>
#include <inttypes.h>

#include "plugin/causal/causal.h"
#include "plugin/causal/decode.h"
#include "plugin/common/message.h"
#include "records/write.h"

#define FAIL(records, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((records)->self, __VA_ARGS__)

struct records {
	bt_self_component *self;	/* borrowed */
	bt_message_iterator *up;	/* owned; NULL until the graph is configured */
	struct causal_params params;
	struct decoder decoder;
	struct lqn_writer *writer;	/* owned */
};

bt_component_class_get_supported_mip_versions_method_status records_sink_mip_versions(
	bt_self_component_class_sink *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	return (int) lqn_message_add_versions(versions);
}

/* Says why, and frees that. */
static bool fail(struct records *records, char *problem)
{
	FAIL(records, "%s", problem);
	g_free(problem);
	return false;
}

static bool tell(void *payload, struct lqn_told *told)
{
	struct records *records = payload;
	char *problem;

	return lqn_writer_put(records->writer, told, &problem) || fail(records, problem);
}

static bool open_output(struct records *records, const char *output)
{
	char *problem;

	if (!output) {
		FAIL(records, "Parameter `output` is missing: the file or pipe to write");
		return false;
	}
	records->writer = lqn_writer_new(output, &problem);
	return records->writer || fail(records, problem);
}

static void records_free(struct records *records)
{
	bt_message_iterator_put_ref(records->up);
	lqn_writer_free(records->writer);
	causal_params_clear(&records->params);
	g_free(records);
}

/* What is not to be read is connected with ports that are left alone, for `babeltrace2 run` demands that it is with something. */
static bt_self_component_add_port_status add_unread(bt_self_component_sink *self, uint64_t n)
{
	g_autofree char *name = g_strdup_printf("unread%" PRIu64, n);

	return bt_self_component_sink_add_input_port(self, name, NULL, NULL);
}

bt_component_class_initialize_method_status records_sink_init(bt_self_component_sink *self_sink,
	bt_self_component_sink_configuration *config, const bt_value *params, void *data)
{
	struct records *records = g_new0(struct records, 1);
	bt_self_component_add_port_status status;
	g_autofree char *output = NULL;
	const struct lqn_param more = { "output", LQN_PARAM_STRING, &output };

	records->self = bt_self_component_sink_as_self_component(self_sink);
	if (!causal_params_read(&records->params, records->self, params, &more) || !open_output(records, output)) {
		records_free(records);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = bt_self_component_sink_add_input_port(self_sink, "in", NULL, NULL);
	if (status == BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		status = add_unread(self_sink, 1);
	}
	if (status != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		records_free(records);
		return (int) status;
	}
	decoder_init(&records->decoder, records->self, records->params.spans, tell, records);
	bt_self_component_set_data(records->self, records);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* There is always one more to be left alone. */
bt_component_class_port_connected_method_status records_sink_connected(bt_self_component_sink *self_sink,
	bt_self_component_port_input *port, const bt_port_output *other)
{
	const char *name = bt_port_get_name(bt_self_component_port_as_port(
		bt_self_component_port_input_as_self_component_port(port)));

	return g_str_equal(name, "in") ? BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_OK :
		(int) add_unread(self_sink, bt_component_sink_get_input_port_count(
			bt_self_component_sink_as_component_sink(self_sink)));
}

bt_component_class_sink_graph_is_configured_method_status records_sink_graph_is_configured(
	bt_self_component_sink *self_sink)
{
	struct records *records = bt_self_component_get_data(bt_self_component_sink_as_self_component(self_sink));
	bt_self_component_port_input *port = bt_self_component_sink_borrow_input_port_by_name(self_sink, "in");

	/* To go on would make the library abort the process. */
	if (!bt_port_is_connected(bt_self_component_port_as_port(
			bt_self_component_port_input_as_self_component_port(port)))) {
		FAIL(records, "Input port `in` is not connected");
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	return (int) bt_message_iterator_create_from_sink_component(self_sink, port, &records->up);
}

static bool take(struct records *records, const bt_message *msg)
{
	struct decoded decoded;

	decoder_look(&records->decoder, msg, &decoded);
	if (decoded.up && decoded.up->own) {
		FAIL(records, "The input holds `lqn:` events already: give them to sink.lqn.model");
		return false;
	}
	return decoder_tell(&records->decoder, &decoded);
}

static bool take_all(struct records *records, bt_message_array_const msgs, uint64_t n)
{
	bool ok = true;

	for (uint64_t i = 0; i < n; i++) {
		ok = ok && take(records, msgs[i]);
		bt_message_put_ref(msgs[i]);
	}
	return ok;
}

static bool end(struct records *records)
{
	char *problem;

	decoder_log_missing(&records->decoder);
	return lqn_writer_end(records->writer, records->decoder.events, &problem) || fail(records, problem);
}

bt_component_class_sink_consume_method_status records_sink_consume(bt_self_component_sink *self_sink)
{
	struct records *records = bt_self_component_get_data(bt_self_component_sink_as_self_component(self_sink));
	bt_message_array_const msgs;
	uint64_t n;
	bt_message_iterator_next_status status = bt_message_iterator_next(records->up, &msgs, &n);
	char *problem;

	switch (status) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		return take_all(records, msgs, n) ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return end(records) ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		/* what is there must not wait for more */
		return lqn_writer_flush(records->writer, &problem) || fail(records, problem) ?
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	default:
		FAIL(records, "The upstream iterator failed");
		return (int) status;
	}
}

void records_sink_finalize(bt_self_component_sink *self_sink)
{
	struct records *records = bt_self_component_get_data(bt_self_component_sink_as_self_component(self_sink));

	decoder_clear(&records->decoder);
	records_free(records);
}
