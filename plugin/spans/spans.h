/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_SPANS_H
#define LQN_PLUGIN_SPANS_H

/* source.lqn.spans: spans out of OTLP JSON and Jaeger JSON, as events of their begins and ends. */
#include <babeltrace2/babeltrace.h>

bt_component_class_get_supported_mip_versions_method_status spans_mip_versions(
	bt_self_component_class_source *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions);
bt_component_class_initialize_method_status spans_init(bt_self_component_source *self_source,
	bt_self_component_source_configuration *config, const bt_value *params, void *data);
void spans_finalize(bt_self_component_source *self_source);
bt_component_class_query_method_status spans_query(bt_self_component_class_source *self_class,
	bt_private_query_executor *executor, const char *object, const bt_value *params,
	void *data, const bt_value **result);

bt_message_iterator_class_initialize_method_status spans_iter_init(
	bt_self_message_iterator *self_iter, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port);
void spans_iter_finalize(bt_self_message_iterator *self_iter);
bt_message_iterator_class_next_method_status spans_iter_next(
	bt_self_message_iterator *self_iter, bt_message_array_const msgs, uint64_t capacity,
	uint64_t *count);
bt_message_iterator_class_can_seek_beginning_method_status spans_iter_can_seek_beginning(
	bt_self_message_iterator *self_iter, bt_bool *can_seek);
bt_message_iterator_class_seek_beginning_method_status spans_iter_seek_beginning(
	bt_self_message_iterator *self_iter);

#endif
