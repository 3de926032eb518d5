/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_LOG_H
#define LQN_PLUGIN_LOG_H

#include <babeltrace2/babeltrace.h>

/*
 * Prints one line to stderr if the component's logging level allows `level`. The library's own
 * logging macros are not public. `--log-level=I` right after `--component` shows the messages.
 */
void lqn_log(bt_self_component *self, bt_logging_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
