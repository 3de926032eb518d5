/* SPDX-License-Identifier: MIT */
#include "plugin/records/records.h"

#include <glib.h>

#include "plugin/causal/hosts.h"
#include "plugin/common/message.h"
#include "records/merge.h"

#define BATCH 256	/* things told between two looks at the queue */

struct records {
	GPtrArray *inputs;		/* char *; owned */
	struct causal_params params;
};

struct records_iter {
	struct lqn_merge *merge;	/* owned */
	struct hosts hosts;
};

/* ---- the component ------------------------------------------------------- */

bt_component_class_get_supported_mip_versions_method_status records_source_mip_versions(
	bt_self_component_class_source *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	return (int) lqn_message_add_versions(versions);
}

static void records_free(struct records *records)
{
	g_clear_pointer(&records->inputs, g_ptr_array_unref);
	causal_params_clear(&records->params);
	g_free(records);
}

static bool read_params(struct records *records, bt_self_component *self, const bt_value *params)
{
	const struct lqn_param more = { "inputs", LQN_PARAM_STRINGS, &records->inputs };

	if (!causal_params_read(&records->params, self, params, &more)) {
		return false;
	}
	if (!records->inputs || records->inputs->len == 0) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self,
			"Parameter `inputs` is missing: the files or pipes to read, `inputs=[\"records\"]`");
		return false;
	}
	return true;
}

bt_component_class_initialize_method_status records_source_init(bt_self_component_source *self_source,
	bt_self_component_source_configuration *config, const bt_value *params, void *data)
{
	bt_self_component *self = bt_self_component_source_as_self_component(self_source);
	struct records *records = g_new0(struct records, 1);
	bt_self_component_add_port_status status;

	if (!read_params(records, self, params)) {
		records_free(records);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = bt_self_component_source_add_output_port(self_source, "out", NULL, NULL);
	if (status != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		records_free(records);
		return (int) status;
	}
	bt_self_component_set_data(self, records);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void records_source_finalize(bt_self_component_source *self_source)
{
	records_free(bt_self_component_get_data(bt_self_component_source_as_self_component(self_source)));
}

/* ---- the iterator -------------------------------------------------------- */

static void fail(struct records_iter *iter, char *problem)
{
	HOSTS_FAIL(&iter->hosts, "%s", problem);
	g_free(problem);
}

/* The last time that was read, though nothing came of it, is told before the end. */
static bt_message_iterator_class_next_method_status end(struct records_iter *iter)
{
	struct lqn_told told = { .type = LQN_TOLD_TIME, .ts = lqn_merge_last(iter->merge) };

	hosts_take(&iter->hosts, &told);
	return hosts_end(&iter->hosts, lqn_merge_events(iter->merge), 0);
}

/* Tells the engines what comes next. */
static bt_message_iterator_class_next_method_status fetch(void *payload)
{
	struct records_iter *iter = payload;
	struct lqn_told *told;
	char *problem;

	for (unsigned i = 0; i < BATCH; i++) {
		switch (lqn_merge_next(iter->merge, &told, &problem)) {
		case LQN_READ_OK:
			if (!hosts_take(&iter->hosts, told)) {
				return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
			}
			break;
		case LQN_READ_AGAIN:
			return hosts_again(&iter->hosts);
		case LQN_READ_END:
			return end(iter);
		case LQN_READ_BAD:
			fail(iter, problem);
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
		}
	}
	return hosts_after_batch(&iter->hosts);
}

bt_message_iterator_class_initialize_method_status records_iter_init(
	bt_self_message_iterator *self_iter, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port)
{
	const struct records *records = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self_iter));
	struct records_iter *iter = g_new0(struct records_iter, 1);
	char *problem;

	hosts_init(&iter->hosts, self_iter, &records->params, port);
	iter->merge = lqn_merge_new(records->inputs, &problem);
	if (!iter->merge) {
		fail(iter, problem);
		hosts_clear(&iter->hosts);
		g_free(iter);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self_iter, iter);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void records_iter_finalize(bt_self_message_iterator *self_iter)
{
	struct records_iter *iter = bt_self_message_iterator_get_data(self_iter);

	lqn_merge_free(iter->merge);
	hosts_clear(&iter->hosts);
	g_free(iter);
}

bt_message_iterator_class_next_method_status records_iter_next(
	bt_self_message_iterator *self_iter, bt_message_array_const msgs, uint64_t capacity,
	uint64_t *count)
{
	struct records_iter *iter = bt_self_message_iterator_get_data(self_iter);

	return hosts_next(&iter->hosts, msgs, capacity, count, fetch, iter);
}
