/* SPDX-License-Identifier: MIT */
#include "plugin/causal/causal.h"

#include <glib.h>
#include <string.h>

#include "plugin/common/identity.h"
#include "plugin/causal/inputs.h"
#include "plugin/common/message.h"
#include "event/event.h"
#include "layout/layout.h"

bt_component_class_get_supported_mip_versions_method_status causal_mip_versions(
	bt_self_component_class_filter *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	return (int) lqn_message_add_versions(versions);
}

void causal_params_clear(struct causal_params *params)
{
	g_clear_pointer(&params->identity, g_ptr_array_unref);
	g_clear_pointer(&params->snapshots, g_ptr_array_unref);
	g_clear_pointer(&params->spans, lqn_span_layout_free);
	g_clear_pointer(&params->text, g_free);
}

/* Makes a layout of the parameter `spans`, if it was given. */
static bool read_spans(bt_self_component *self, struct causal_params *params)
{
	char *problem;

	if (!params->text) {
		return true;
	}
	params->spans = lqn_span_layout_new(params->text, &problem);
	if (!params->spans) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
			"Parameter `spans`: %s; expected the names of events and fields as in "
			"`begin=app:op_begin,end=app:op_end,span=id,name=label`", problem);
		g_free(problem);
	}
	return params->spans != NULL;
}

bool causal_params_read(struct causal_params *params, bt_self_component *self, const bt_value *map,
	const struct lqn_param *more)
{
	const struct lqn_param known[] = {
		{ "pass-through", LQN_PARAM_BOOL, &params->pass_through },
		{ "identity", LQN_PARAM_STRINGS, &params->identity },
		{ "spans", LQN_PARAM_STRING, &params->text },
		more ? *more : (struct lqn_param) { .name = NULL },
	};

	*params = (struct causal_params) { .pass_through = true };
	if (lqn_params_read(self, map, known, G_N_ELEMENTS(known) - !more) &&
			lqn_identity_read_snapshots(self, params->identity, &params->snapshots) &&
			read_spans(self, params)) {
		return true;
	}
	causal_params_clear(params);
	return false;
}

static void causal_free(struct causal *causal)
{
	causal_params_clear(&causal->params);
	g_free(causal);
}

bt_component_class_initialize_method_status causal_init(bt_self_component_filter *self_filter,
	bt_self_component_filter_configuration *config, const bt_value *params, void *data)
{
	bt_self_component *self = bt_self_component_filter_as_self_component(self_filter);
	struct causal *causal = g_new0(struct causal, 1);
	bt_self_component_add_port_status status;

	if (!causal_params_read(&causal->params, self, params, NULL)) {
		g_free(causal);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = inputs_add_port(self_filter, 0);
	if (status == BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		status = bt_self_component_filter_add_output_port(self_filter, "out", NULL, NULL);
	}
	if (status != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		causal_free(causal);
		return (int) status;
	}
	bt_self_component_set_data(self, causal);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* As filter.utils.muxer does: there is always one more port to connect. */
bt_component_class_port_connected_method_status causal_input_connected(
	bt_self_component_filter *self_filter, bt_self_component_port_input *port,
	const bt_port_output *other)
{
	return (int) inputs_add_port(self_filter, bt_component_filter_get_input_port_count(
		bt_self_component_filter_as_component_filter(self_filter)));
}

void causal_finalize(bt_self_component_filter *self_filter)
{
	causal_free(bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self_filter)));
}

/* The vocabulary: a map from event names to arrays of field names, and the schema's number. */
static bool describe_schema(bt_value *map)
{
	if (bt_value_map_insert_unsigned_integer_entry(map, "schema", LQN_EVENT_SCHEMA) !=
			BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK) {
		return false;
	}
	for (unsigned i = 0; i < LQN_EV_COUNT; i++) {
		const struct lqn_event_class *desc = lqn_event_class((enum lqn_event_type) i);
		bt_value *fields;

		if (bt_value_map_insert_empty_array_entry(map, desc->name, &fields) !=
				BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK) {
			return false;
		}
		for (size_t k = 0; k < desc->n_fields; k++) {
			if (bt_value_array_append_string_element(fields, desc->fields[k].name) !=
					BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK) {
				return false;
			}
		}
	}
	return true;
}

bt_component_class_query_method_status causal_query(bt_self_component_class_filter *self_class,
	bt_private_query_executor *executor, const char *object, const bt_value *params,
	void *data, const bt_value **result)
{
	bt_value *map;

	if (strcmp(object, "schema") != 0) {
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	}
	map = bt_value_map_create();
	if (!map || !describe_schema(map)) {
		bt_value_put_ref(map);
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT_CLASS(
			bt_self_component_class_filter_as_self_component_class(self_class),
			"Cannot build the result");
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
	}
	*result = map;
	return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
}
