/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_CLOCK_H
#define LQN_PLUGIN_CLOCK_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* A new clock class that counts ns from the Unix epoch, or from an unknown origin; NULL if memory ran out. */
bt_clock_class *lqn_clock_new(bt_self_component *self, const char *name, bool epoch);

#endif
