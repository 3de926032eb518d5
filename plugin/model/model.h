/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_MODEL_H
#define LQN_PLUGIN_MODEL_H

/* sink.lqn.model: makes a model and critical paths of `lqn:` events. */
#include <babeltrace2/babeltrace.h>

bt_component_class_get_supported_mip_versions_method_status model_mip_versions(
	bt_self_component_class_sink *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions);
bt_component_class_initialize_method_status model_init(bt_self_component_sink *self_sink,
	bt_self_component_sink_configuration *config, const bt_value *params, void *data);
void model_finalize(bt_self_component_sink *self_sink);
bt_component_class_sink_graph_is_configured_method_status model_graph_is_configured(
	bt_self_component_sink *self_sink);
bt_component_class_sink_consume_method_status model_consume(bt_self_component_sink *self_sink);

#endif
