/* SPDX-License-Identifier: MIT */

/*
 * For tests alone: filter.lqn-test.drop takes events out of a graph by name (parameter `names`, an array of strings), so that
 * one recording can stand for many that lack something. Everything else passes untouched.
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop
BT_PLUGIN_WITH_ID(lqn_test, "lqn-test");

struct drop {
	const bt_value *names;		/* owned */
};

struct drop_iter {
	struct drop *drop;		/* borrowed */
	bt_message_iterator *up;	/* owned */
};

/* What passes untouched may be of any version. */
static bt_component_class_get_supported_mip_versions_method_status drop_versions(
	bt_self_component_class_filter *self, const bt_value *params, void *data, bt_logging_level level,
	bt_integer_range_set_unsigned *versions)
{
	return (int) bt_integer_range_set_unsigned_add_range(versions, 0, bt_get_maximal_mip_version());
}

static bt_component_class_initialize_method_status drop_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *config, const bt_value *params, void *data)
{
	const bt_value *names = bt_value_map_borrow_entry_value_const(params, "names");
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	struct drop *drop;

	if (!names || !bt_value_is_array(names)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "names=[\"EVENT\", ...] is missing");
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (bt_self_component_filter_add_input_port(self, "in", NULL, NULL) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK ||
			bt_self_component_filter_add_output_port(self, "out", NULL, NULL) !=
			BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	drop = calloc(1, sizeof(*drop));
	drop->names = names;
	bt_value_get_ref(names);
	bt_self_component_set_data(component, drop);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void drop_finalize(bt_self_component_filter *self)
{
	struct drop *drop = bt_self_component_get_data(bt_self_component_filter_as_self_component(self));

	bt_value_put_ref(drop->names);
	free(drop);
}

static bt_message_iterator_class_initialize_method_status drop_iter_init(bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *config, bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	bt_self_component_port_input *in = bt_self_component_filter_borrow_input_port_by_index(
		(bt_self_component_filter *) component, 0);
	struct drop_iter *iter = calloc(1, sizeof(*iter));

	iter->drop = bt_self_component_get_data(component);
	if (bt_message_iterator_create_from_message_iterator(self, in, &iter->up) !=
			BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK) {
		free(iter);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, iter);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void drop_iter_finalize(bt_self_message_iterator *self)
{
	struct drop_iter *iter = bt_self_message_iterator_get_data(self);

	bt_message_iterator_put_ref(iter->up);
	free(iter);
}

static bool is_dropped(const struct drop *drop, const bt_message *msg)
{
	const char *name;

	if (bt_message_get_type(msg) != BT_MESSAGE_TYPE_EVENT) {
		return false;
	}
	name = bt_event_class_get_name(bt_event_borrow_class_const(bt_message_event_borrow_event_const(msg)));
	for (uint64_t i = 0; name && i < bt_value_array_get_length(drop->names); i++) {
		const bt_value *value = bt_value_array_borrow_element_by_index_const(drop->names, i);

		if (bt_value_is_string(value) && strcmp(bt_value_string_get(value), name) == 0) {
			return true;
		}
	}
	return false;
}

static bt_message_iterator_class_next_method_status drop_next(bt_self_message_iterator *self,
	bt_message_array_const msgs, uint64_t capacity, uint64_t *count)
{
	struct drop_iter *iter = bt_self_message_iterator_get_data(self);

	*count = 0;
	while (*count == 0) {
		bt_message_array_const up;
		uint64_t n;
		bt_message_iterator_next_status status = bt_message_iterator_next(iter->up, &up, &n);

		if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
			return (int) status;
		}
		/* upstream gives no more than our own capacity */
		for (uint64_t i = 0; i < n; i++) {
			if (is_dropped(iter->drop, up[i])) {
				bt_message_put_ref(up[i]);
			} else {
				msgs[(*count)++] = up[i];
			}
		}
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

BT_PLUGIN_FILTER_COMPONENT_CLASS_WITH_ID(lqn_test, drop, "drop", drop_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_WITH_ID(lqn_test, drop, drop_versions);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD_WITH_ID(lqn_test, drop, drop_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD_WITH_ID(lqn_test, drop, drop_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_WITH_ID(lqn_test, drop, drop_iter_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD_WITH_ID(lqn_test, drop, drop_iter_finalize);
