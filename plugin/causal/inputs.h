/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_INPUTS_H
#define LQN_PLUGIN_INPUTS_H

/*
 * The iterators of all input ports that are connected. One is handed through; several are merged by
 * the times of their next messages. What is out of order within one port stays so.
 */
#include <babeltrace2/babeltrace.h>
#include <glib.h>

/* Adds the input port number `n`: `in`, `in1`, `in2` … */
bt_self_component_add_port_status inputs_add_port(bt_self_component_filter *self, uint64_t n);

struct inputs {
	GArray *inputs;		/* struct input */
	GPtrArray *merged;	/* messages that the last call has handed out; borrowed */
};

/* Leaves nothing to clear, and an error cause, if it does not return OK. */
bt_message_iterator_class_initialize_method_status inputs_init(struct inputs *inputs,
	bt_self_message_iterator *self);
void inputs_clear(struct inputs *inputs);

/*
 * Like bt_message_iterator_next() of all of them: the references pass to the caller, the array
 * lasts until the next call.
 */
bt_message_iterator_next_status inputs_next(struct inputs *inputs, bt_message_array_const *msgs,
	uint64_t *n);

bt_message_iterator_can_seek_beginning_status inputs_can_seek_beginning(struct inputs *inputs,
	bt_bool *can_seek);
bt_message_iterator_seek_beginning_status inputs_seek_beginning(struct inputs *inputs);

#endif
