/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_RECORDS_H
#define LQN_PLUGIN_RECORDS_H

/*
 * A trace read on several cores: each `sink.lqn.records` writes what the filter's engines are to be told of some of its
 * streams, and `source.lqn.records` tells it them, and gives what the filter would give without pass-through.
 */
#include <babeltrace2/babeltrace.h>

bt_component_class_get_supported_mip_versions_method_status records_sink_mip_versions(
	bt_self_component_class_sink *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions);
bt_component_class_initialize_method_status records_sink_init(bt_self_component_sink *self_sink,
	bt_self_component_sink_configuration *config, const bt_value *params, void *data);
bt_component_class_port_connected_method_status records_sink_connected(bt_self_component_sink *self_sink,
	bt_self_component_port_input *port, const bt_port_output *other);
bt_component_class_sink_graph_is_configured_method_status records_sink_graph_is_configured(
	bt_self_component_sink *self_sink);
bt_component_class_sink_consume_method_status records_sink_consume(bt_self_component_sink *self_sink);
void records_sink_finalize(bt_self_component_sink *self_sink);

bt_component_class_get_supported_mip_versions_method_status records_source_mip_versions(
	bt_self_component_class_source *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions);
bt_component_class_initialize_method_status records_source_init(bt_self_component_source *self_source,
	bt_self_component_source_configuration *config, const bt_value *params, void *data);
void records_source_finalize(bt_self_component_source *self_source);
bt_message_iterator_class_initialize_method_status records_iter_init(
	bt_self_message_iterator *self_iter, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port);
void records_iter_finalize(bt_self_message_iterator *self_iter);
bt_message_iterator_class_next_method_status records_iter_next(
	bt_self_message_iterator *self_iter, bt_message_array_const msgs, uint64_t capacity,
	uint64_t *count);

#endif
