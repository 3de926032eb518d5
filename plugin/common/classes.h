/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_CLASSES_H
#define LQN_PLUGIN_CLASSES_H

/* Classes of the streams that our components make themselves. NULL or false: memory ran out. */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

/* A class of streams with packets, which begin and end with a time. */
bt_stream_class *lqn_class_stream_new(bt_trace_class *tc, bt_clock_class *clock, const char *name);

/* Of 32 bits, with the labels of 0, 1, … until `label` says NULL. */
bt_field_class *lqn_class_enum_new(bt_trace_class *tc, const char *(*label)(uint32_t value));

/* Takes `fc`, which may be NULL. bits: of integers; 0: it is none. */
bool lqn_class_append(bt_field_class *payload, const char *name, bt_field_class *fc, uint64_t bits);

/* Takes `payload`, a structure, which may be NULL. */
bt_event_class *lqn_class_event_new(bt_stream_class *sc, const char *name, bt_field_class *payload);

#endif
