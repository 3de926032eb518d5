/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_PARAMS_H
#define LQN_PLUGIN_PARAMS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

enum lqn_param_type {
	LQN_PARAM_INT,		/* int64_t */
	LQN_PARAM_BOOL,		/* bool */
	LQN_PARAM_REAL,		/* double; an integer will do */
	LQN_PARAM_STRING,	/* char *; owned by the destination, g_free() */
	LQN_PARAM_STRINGS,	/* GPtrArray * of char *; owned by the destination, g_ptr_array_unref(); a string, or an array */
	LQN_PARAM_TYPES
};

/* One parameter that a component accepts. */
struct lqn_param {
	const char *name;
	enum lqn_param_type type;
	void *dest;		/* borrowed; keeps its value if the parameter is not given */
};

/*
 * Reads a component's parameters into `params[].dest`. Returns false, with an error cause appended
 * to the current thread's error, at a name that is not in the table or a value of another
 * type; strings that were read until then stay with their destination.
 */
bool lqn_params_read(bt_self_component *self, const bt_value *map,
	const struct lqn_param *params, size_t n);

#endif
