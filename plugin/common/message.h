/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_MESSAGE_H
#define LQN_PLUGIN_MESSAGE_H

#include <babeltrace2/babeltrace.h>

/* The stream that a message belongs to, borrowed; NULL for one of inactivity. */
const bt_stream *lqn_message_stream(const bt_message *msg);

/*
 * The time of a message, borrowed (of discarded events or packets: when the loss began); NULL if
 * it has none.
 */
const bt_clock_snapshot *lqn_message_clock(const bt_message *msg);

/* The versions of the message interchange protocol that this build speaks; for the MIP methods. */
bt_integer_range_set_add_range_status lqn_message_add_versions(
	bt_integer_range_set_unsigned *versions);

#endif
