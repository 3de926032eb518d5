/* SPDX-License-Identifier: MIT */
#include "plugin/common/access.h"

#include <glib.h>
#include <string.h>

static int64_t read_unsigned(const bt_field *field)
{
	return (int64_t) bt_field_integer_unsigned_get_value(field);
}

static int64_t read_bool(const bt_field *field)
{
	return bt_field_bool_get_value(field) ? 1 : 0;
}

static int64_t read_bits(const bt_field *field)
{
	return (int64_t) bt_field_bit_array_get_value_as_integer(field);
}

/* Enumerations inherit the types of integers; 2.1 has more types, which match no row. */
static const struct {
	bt_field_class_type type;
	enum lqn_access_shape shape;
	int64_t (*integer)(const bt_field *field);
	bool is_unsigned;
} shapes[] = {
	{ BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER, LQN_SHAPE_INTEGER, read_unsigned, true },
	{ BT_FIELD_CLASS_TYPE_SIGNED_INTEGER, LQN_SHAPE_INTEGER, bt_field_integer_signed_get_value, false },
	{ BT_FIELD_CLASS_TYPE_BOOL, LQN_SHAPE_INTEGER, read_bool, true },
	{ BT_FIELD_CLASS_TYPE_BIT_ARRAY, LQN_SHAPE_INTEGER, read_bits, true },
	{ BT_FIELD_CLASS_TYPE_STRING, LQN_SHAPE_STRING, NULL, false },
	{ BT_FIELD_CLASS_TYPE_ARRAY, LQN_SHAPE_ARRAY, NULL, false },
	{ BT_FIELD_CLASS_TYPE_STRUCTURE, LQN_SHAPE_STRUCTURE, NULL, false },
	{ BT_FIELD_CLASS_TYPE_VARIANT, LQN_SHAPE_VARIANT, NULL, false },
};

struct lqn_access lqn_access_of(const bt_field_class *fc)
{
	struct lqn_access access = { .fc = fc, .shape = LQN_SHAPE_OTHER };
	bt_field_class_type type = bt_field_class_get_type(fc);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		access.optional = true;
		access.fc = bt_field_class_option_borrow_field_class_const(fc);
		type = bt_field_class_get_type(access.fc);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
		if (bt_field_class_type_is(type, shapes[i].type)) {
			access.shape = shapes[i].shape;
			access.integer = shapes[i].integer;
			access.is_unsigned = shapes[i].is_unsigned;
			break;
		}
	}
	return access;
}

bool lqn_access_name_is(const char *trace_name, const char *name, size_t len)
{
	if (!trace_name) {
		return false;
	}
	trace_name += strspn(trace_name, "_");
	return strncmp(trace_name, name, len) == 0 && trace_name[len] == '\0';
}

static int find_member(const bt_field_class *fc, const char *name, size_t len)
{
	uint64_t n = bt_field_class_structure_get_member_count(fc);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(fc, i);

		if (lqn_access_name_is(bt_field_class_structure_member_get_name(member), name,
				len)) {
			return (int) i;
		}
	}
	return -1;
}

struct lqn_access lqn_access_find(const bt_field_class *fc, const char *names)
{
	struct lqn_access access = { .index = -1 };
	int index = -1;

	if (!fc || bt_field_class_get_type(fc) != BT_FIELD_CLASS_TYPE_STRUCTURE) {
		return access;
	}
	while (index < 0 && *names != '\0') {
		size_t len = strcspn(names, "|");

		index = find_member(fc, names, len);
		names += len + (names[len] == '|');
	}
	if (index < 0) {
		return access;
	}
	access = lqn_access_of(bt_field_class_structure_member_borrow_field_class_const(
		bt_field_class_structure_borrow_member_by_index_const(fc, (uint64_t) index)));
	access.index = index;
	return access;
}

static size_t copy_string(const bt_field *field, char *to, size_t size)
{
	/*
	 * In 2.0.4 an empty string field may still hold the text of an earlier event
	 * (efficios/babeltrace#116): only its length tells.
	 */
	size_t len = MIN(bt_field_string_get_length(field), size - 1);

	if (len > 0) {
		memcpy(to, bt_field_string_get_value(field), len);
	}
	to[len] = '\0';
	return len;
}

static struct lqn_access element_access(const struct lqn_access *array)
{
	return lqn_access_of(bt_field_class_array_borrow_element_field_class_const(array->fc));
}

static size_t copy_array(const struct lqn_access *access, const bt_field *field,
	char *to, size_t size)
{
	struct lqn_access element = element_access(access);
	uint64_t n = element.integer ? MIN(bt_field_array_get_length(field), size - 1) : 0;
	size_t len = 0;

	for (uint64_t i = 0; i < n; i++) {
		int64_t c = element.integer(
			bt_field_array_borrow_element_field_by_index_const(field, i));

		if (c == 0) {
			break;
		}
		to[len++] = (char) c;
	}
	to[len] = '\0';
	return len;
}

size_t lqn_access_copy_text(const struct lqn_access *access, const bt_field *field,
	char *to, size_t size)
{
	if (access->shape == LQN_SHAPE_STRING) {
		return copy_string(field, to, size);
	}
	if (access->shape == LQN_SHAPE_ARRAY) {
		return copy_array(access, field, to, size);
	}
	to[0] = '\0';
	return 0;
}

char *lqn_access_dup_text(const struct lqn_access *access, const bt_field *field)
{
	size_t size = 1;
	char *text;

	if (access->shape == LQN_SHAPE_STRING) {
		size += bt_field_string_get_length(field);
	} else if (access->shape == LQN_SHAPE_ARRAY) {
		size += bt_field_array_get_length(field);
	}
	text = g_malloc(size);
	lqn_access_copy_text(access, field, text, size);
	return text;
}

size_t lqn_access_copy_bytes(const struct lqn_access *access, const bt_field *field,
	uint8_t *to, size_t size)
{
	struct lqn_access element;
	bool wide;
	uint64_t n;
	size_t len = 0;

	if (access->shape != LQN_SHAPE_ARRAY) {
		return 0;
	}
	element = element_access(access);
	if (!element.integer) {
		return 0;
	}
	wide = bt_field_class_type_is(bt_field_class_get_type(element.fc),
			BT_FIELD_CLASS_TYPE_INTEGER) &&
		bt_field_class_integer_get_field_value_range(element.fc) > 8;
	n = bt_field_array_get_length(field);
	for (uint64_t i = 0; i < n && len + (wide ? 2 : 1) <= size; i++) {
		int64_t value = element.integer(
			bt_field_array_borrow_element_field_by_index_const(field, i));

		if (wide) {
			to[len++] = (uint8_t) (value >> 8);
		}
		to[len++] = (uint8_t) value;
	}
	return len;
}
