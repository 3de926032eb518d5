/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_CAUSAL_H
#define LQN_PLUGIN_CAUSAL_H

/* filter.lqn.causal: adds a stream of `lqn:` events per traced host. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

#include "plugin/common/params.h"

/* What the filter is told, and those that do its work in several processes. */
struct causal_params {
	bool pass_through;		/* hand upstream's messages on */
	GPtrArray *identity;		/* names of files: char *; owned; NULL: none */
	GPtrArray *snapshots;		/* struct lqn_snapshot; owned; NULL: none */
	char *text;			/* of `spans`; owned; NULL: none */
	struct lqn_span_layout *spans;	/* owned; of the user; NULL: none */
};

/* The component: what its iterators need to know, constant after initialization. */
struct causal {
	struct causal_params params;
};

/*
 * Reads the filter's parameters, and one more (borrowed; NULL: none). False, with an error cause and nothing to clear, at one
 * that is wrong.
 */
bool causal_params_read(struct causal_params *params, bt_self_component *self, const bt_value *map,
	const struct lqn_param *more);
void causal_params_clear(struct causal_params *params);

bt_component_class_get_supported_mip_versions_method_status causal_mip_versions(
	bt_self_component_class_filter *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions);
bt_component_class_initialize_method_status causal_init(bt_self_component_filter *self_filter,
	bt_self_component_filter_configuration *config, const bt_value *params, void *data);
bt_component_class_port_connected_method_status causal_input_connected(
	bt_self_component_filter *self_filter, bt_self_component_port_input *port,
	const bt_port_output *other);
void causal_finalize(bt_self_component_filter *self_filter);
bt_component_class_query_method_status causal_query(bt_self_component_class_filter *self_class,
	bt_private_query_executor *executor, const char *object, const bt_value *params,
	void *data, const bt_value **result);

bt_message_iterator_class_initialize_method_status causal_iter_init(
	bt_self_message_iterator *self_iter, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port);
void causal_iter_finalize(bt_self_message_iterator *self_iter);
bt_message_iterator_class_next_method_status causal_iter_next(
	bt_self_message_iterator *self_iter, bt_message_array_const msgs, uint64_t capacity,
	uint64_t *count);
bt_message_iterator_class_can_seek_beginning_method_status causal_iter_can_seek_beginning(
	bt_self_message_iterator *self_iter, bt_bool *can_seek);
bt_message_iterator_class_seek_beginning_method_status causal_iter_seek_beginning(
	bt_self_message_iterator *self_iter);

#endif
