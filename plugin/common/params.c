/* SPDX-License-Identifier: MIT */
#include "plugin/common/params.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

static bool read_int(const bt_value *value, void *dest)
{
	int64_t *to = dest;

	/* the command line makes `n=5` a signed integer and `n=+5` an unsigned one */
	if (bt_value_is_signed_integer(value)) {
		*to = bt_value_integer_signed_get(value);
		return true;
	}
	if (!bt_value_is_unsigned_integer(value) ||
			bt_value_integer_unsigned_get(value) > INT64_MAX) {
		return false;
	}
	*to = (int64_t) bt_value_integer_unsigned_get(value);
	return true;
}

static bool read_bool(const bt_value *value, void *dest)
{
	if (!bt_value_is_bool(value)) {
		return false;
	}
	*(bool *) dest = bt_value_bool_get(value);
	return true;
}

static bool read_real(const bt_value *value, void *dest)
{
	int64_t whole;

	if (bt_value_is_real(value)) {
		*(double *) dest = bt_value_real_get(value);
		return true;
	}
	if (!read_int(value, &whole)) {
		return false;
	}
	*(double *) dest = (double) whole;
	return true;
}

static bool read_string(const bt_value *value, void *dest)
{
	char **to = dest;

	/* an empty name, mark, or folder is a mistake of whoever made the command */
	if (!bt_value_is_string(value) || *bt_value_string_get(value) == '\0') {
		return false;
	}
	g_free(*to);
	*to = g_strdup(bt_value_string_get(value));
	return true;
}

static bool add_string(const bt_value *value, GPtrArray *to)
{
	char *text = NULL;

	if (!read_string(value, &text)) {
		return false;
	}
	g_ptr_array_add(to, text);
	return true;
}

static bool read_strings(const bt_value *value, void *dest)
{
	GPtrArray **to = dest;
	bool ok = true;

	if (!*to) {
		*to = g_ptr_array_new_with_free_func(g_free);
	}
	if (!bt_value_is_array(value)) {
		return add_string(value, *to);
	}
	for (uint64_t i = 0; i < bt_value_array_get_length(value) && ok; i++) {
		ok = add_string(bt_value_array_borrow_element_by_index_const(value, i), *to);
	}
	return ok;
}

static const struct {
	bool (*read)(const bt_value *value, void *dest);
	const char *wanted;
} types[LQN_PARAM_TYPES] = {
	[LQN_PARAM_INT] = { read_int, "an integer" },
	[LQN_PARAM_BOOL] = { read_bool, "yes or no" },
	[LQN_PARAM_REAL] = { read_real, "a number" },
	[LQN_PARAM_STRING] = { read_string,
		"a string that is not empty, in inner double quotes: `name=\"text\"`" },
	[LQN_PARAM_STRINGS] = { read_strings,
		"a string that is not empty, or an array of such: `name=\"text\"`, `name=[\"text\",\"text\"]`" },
};

struct reader {
	bt_self_component *self;
	const struct lqn_param *params;
	size_t n;
};

static void refuse_name(const struct reader *reader, const char *name)
{
	GString *known = g_string_new(NULL);

	for (size_t i = 0; i < reader->n; i++) {
		g_string_append_printf(known, "%s`%s`", i == 0 ? "" : ", ", reader->params[i].name);
	}
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(reader->self,
		"Unknown parameter `%s`; this component knows: %s", name, known->str);
	g_string_free(known, TRUE);
}

static bt_value_map_foreach_entry_const_func_status read_entry(const char *name,
	const bt_value *value, void *data)
{
	const struct reader *reader = data;

	for (size_t i = 0; i < reader->n; i++) {
		const struct lqn_param *param = &reader->params[i];

		if (strcmp(param->name, name) != 0) {
			continue;
		}
		if (types[param->type].read(value, param->dest)) {
			return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
		}
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(reader->self,
			"Parameter `%s`: expected %s", name, types[param->type].wanted);
		return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
	}
	/*
	 * The thread has an error from here on: the library aborts the process if this function
	 * then returns anything but an error status.
	 */
	refuse_name(reader, name);
	return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_ERROR;
}

bool lqn_params_read(bt_self_component *self, const bt_value *map,
	const struct lqn_param *params, size_t n)
{
	struct reader reader = { self, params, n };

	return bt_value_map_foreach_entry_const(map, read_entry, &reader) ==
		BT_VALUE_MAP_FOREACH_ENTRY_CONST_STATUS_OK;
}
