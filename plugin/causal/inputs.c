/* SPDX-License-Identifier: MIT */
#include "plugin/causal/inputs.h"

#include <inttypes.h>
#include <stdbool.h>

#include "plugin/common/message.h"

#define BATCH 64	/* messages merged at a time, as many as fit */

struct input {
	bt_message_iterator *up;	/* owned */
	bt_message_array_const msgs;	/* of the last batch; references owned from `next` on */
	uint64_t n, next;
	int64_t at;			/* ns; of the next message; INT64_MIN: it has no time */
	bool ended;
};

static struct input *input_at(struct inputs *inputs, guint i)
{
	return &g_array_index(inputs->inputs, struct input, i);
}

bt_self_component_add_port_status inputs_add_port(bt_self_component_filter *self, uint64_t n)
{
	g_autofree char *name = n == 0 ? g_strdup("in") : g_strdup_printf("in%" PRIu64, n);

	return bt_self_component_filter_add_input_port(self, name, NULL, NULL);
}

static bool is_connected(bt_self_component_port_input *port)
{
	return bt_port_is_connected(bt_self_component_port_as_port(
		bt_self_component_port_input_as_self_component_port(port)));
}

bt_message_iterator_class_initialize_method_status inputs_init(struct inputs *inputs,
	bt_self_message_iterator *self)
{
	bt_self_component_filter *filter = (bt_self_component_filter *)
		bt_self_message_iterator_borrow_component(self);
	uint64_t n = bt_component_filter_get_input_port_count(
		bt_self_component_filter_as_component_filter(filter));

	inputs->inputs = g_array_new(FALSE, FALSE, sizeof(struct input));
	inputs->merged = g_ptr_array_new();
	for (uint64_t i = 0; i < n; i++) {
		bt_self_component_port_input *port =
			bt_self_component_filter_borrow_input_port_by_index(filter, i);
		bt_message_iterator_create_from_message_iterator_status status;
		struct input input = { .ended = false };

		/* To go on would make the library abort the process. */
		if (!is_connected(port)) {
			continue;
		}
		status = bt_message_iterator_create_from_message_iterator(self, port, &input.up);
		if (status != BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK) {
			inputs_clear(inputs);
			return (int) status;
		}
		g_array_append_val(inputs->inputs, input);
	}
	if (inputs->inputs->len == 0) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self,
			"Input port `in` is not connected");
		inputs_clear(inputs);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void drop_batch(struct input *input)
{
	while (input->next < input->n) {
		bt_message_put_ref(input->msgs[input->next++]);
	}
}

void inputs_clear(struct inputs *inputs)
{
	for (guint i = 0; i < inputs->inputs->len; i++) {
		drop_batch(input_at(inputs, i));
		bt_message_iterator_put_ref(input_at(inputs, i)->up);
	}
	g_array_free(inputs->inputs, TRUE);
	g_ptr_array_free(inputs->merged, TRUE);
}

/* ---- merging ------------------------------------------------------------- */

static void look_at_next(struct input *input)
{
	const bt_clock_snapshot *cs = lqn_message_clock(input->msgs[input->next]);

	if (!cs || bt_clock_snapshot_get_ns_from_origin(cs, &input->at) !=
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		bt_current_thread_clear_error();	/* who works on it will say so */
		input->at = INT64_MIN;
	}
}

/* Makes all that have not ended have a next message. */
static bt_message_iterator_next_status refill(struct inputs *inputs)
{
	for (guint i = 0; i < inputs->inputs->len; i++) {
		struct input *input = input_at(inputs, i);
		bt_message_iterator_next_status status;

		if (input->ended || input->next < input->n) {
			continue;
		}
		input->n = input->next = 0;
		status = bt_message_iterator_next(input->up, &input->msgs, &input->n);
		if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
			input->ended = true;
		} else if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
			look_at_next(input);
		} else {
			input->n = 0;
			return status;
		}
	}
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
}

/* The input whose next message comes first; NULL: all have ended. */
static struct input *first(struct inputs *inputs)
{
	struct input *best = NULL;

	for (guint i = 0; i < inputs->inputs->len; i++) {
		struct input *input = input_at(inputs, i);

		if (!input->ended && (!best || input->at < best->at)) {
			best = input;
		}
	}
	return best;
}

static bt_message_iterator_next_status merge(struct inputs *inputs, bt_message_array_const *msgs,
	uint64_t *n)
{
	bt_message_iterator_next_status status = refill(inputs);
	struct input *input;

	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		return status;
	}
	g_ptr_array_set_size(inputs->merged, 0);
	while (inputs->merged->len < BATCH && (input = first(inputs))) {
		g_ptr_array_add(inputs->merged, (gpointer) input->msgs[input->next++]);
		if (input->next == input->n) {
			break;		/* what it has next may come before all others */
		}
		look_at_next(input);
	}
	*msgs = (bt_message_array_const) inputs->merged->pdata;
	*n = inputs->merged->len;
	return *n > 0 ? BT_MESSAGE_ITERATOR_NEXT_STATUS_OK : BT_MESSAGE_ITERATOR_NEXT_STATUS_END;
}

bt_message_iterator_next_status inputs_next(struct inputs *inputs, bt_message_array_const *msgs,
	uint64_t *n)
{
	if (G_LIKELY(inputs->inputs->len == 1)) {
		return bt_message_iterator_next(input_at(inputs, 0)->up, msgs, n);
	}
	return merge(inputs, msgs, n);
}

/* ---- seeking ------------------------------------------------------------- */

bt_message_iterator_can_seek_beginning_status inputs_can_seek_beginning(struct inputs *inputs,
	bt_bool *can_seek)
{
	bt_message_iterator_can_seek_beginning_status status =
		BT_MESSAGE_ITERATOR_CAN_SEEK_BEGINNING_STATUS_OK;

	*can_seek = BT_TRUE;
	for (guint i = 0; i < inputs->inputs->len && *can_seek &&
			status == BT_MESSAGE_ITERATOR_CAN_SEEK_BEGINNING_STATUS_OK; i++) {
		status = bt_message_iterator_can_seek_beginning(input_at(inputs, i)->up, can_seek);
	}
	return status;
}

bt_message_iterator_seek_beginning_status inputs_seek_beginning(struct inputs *inputs)
{
	bt_message_iterator_seek_beginning_status status =
		BT_MESSAGE_ITERATOR_SEEK_BEGINNING_STATUS_OK;

	for (guint i = 0; i < inputs->inputs->len &&
			status == BT_MESSAGE_ITERATOR_SEEK_BEGINNING_STATUS_OK; i++) {
		struct input *input = input_at(inputs, i);

		if (inputs->inputs->len > 1) {
			drop_batch(input);
		}
		input->ended = false;
		status = bt_message_iterator_seek_beginning(input->up);
	}
	return status;
}
