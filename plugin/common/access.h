/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_ACCESS_H
#define LQN_PLUGIN_ACCESS_H

/*
 * Reading of a member of a structure field, with everything that a name or a field class decides
 * found out once: what is left per event is a look-up by index and one or two calls.
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lqn_access_shape {
	LQN_SHAPE_OTHER,	/* of no use to us */
	LQN_SHAPE_INTEGER,	/* integers, enumerations, booleans, bit arrays: see `integer` */
	LQN_SHAPE_STRING,
	LQN_SHAPE_ARRAY,
	LQN_SHAPE_STRUCTURE,
	LQN_SHAPE_VARIANT,
};

struct lqn_access {
	const bt_field_class *fc;	/* borrowed from the trace class; an option's content's */
	int64_t (*integer)(const bt_field *field);	/* NULL unless LQN_SHAPE_INTEGER */
	int index;			/* of the member; -1: there is none of that name */
	uint8_t shape;			/* enum lqn_access_shape */
	bool is_unsigned;		/* a result < 0 of `integer` is a value above INT64_MAX */
	bool optional;			/* in an option field */
};

/* Describes a field class that is not a member of anything (`index` = 0). */
struct lqn_access lqn_access_of(const bt_field_class *fc);

/*
 * Describes the first member of the structure `fc` (NULL: of none) that has one of the names, which
 * are separated by `|`, best first. Leading `_` of the trace's names do not count: a CTF writer
 * adds one, and readers take off none, one, or all.
 */
struct lqn_access lqn_access_find(const bt_field_class *fc, const char *names);

/* Whether the trace's name is `name`, of which `len` bytes count. */
bool lqn_access_name_is(const char *trace_name, const char *name, size_t len);

/* The member of `parent`, or NULL if the access found none or the option is empty. */
static inline const bt_field *lqn_access_borrow(const struct lqn_access *access,
	const bt_field *parent)
{
	const bt_field *field;

	if (access->index < 0) {
		return NULL;
	}
	field = bt_field_structure_borrow_member_field_by_index_const(parent,
		(uint64_t) access->index);
	return access->optional ? bt_field_option_borrow_field_const(field) : field;
}

/* The value of an integer member of `parent`, or `missing`. */
static inline int64_t lqn_access_integer(const struct lqn_access *access,
	const bt_field *parent, int64_t missing)
{
	const bt_field *field = access->integer ? lqn_access_borrow(access, parent) : NULL;

	return field ? access->integer(field) : missing;
}

/*
 * Copies a string or an array of small integers, at most `size` - 1 bytes, and closes it with a
 * zero. Bytes are taken as they are, whatever they mean. Returns the length.
 */
size_t lqn_access_copy_text(const struct lqn_access *access, const bt_field *field,
	char *to, size_t size);

/* The same as a new string (g_free()). */
char *lqn_access_dup_text(const struct lqn_access *access, const bt_field *field);

/*
 * Copies the bytes of an array of integers of 8 or 16 bits, the latter high byte first (the order
 * of a network), at most `size`. Returns how many.
 */
size_t lqn_access_copy_bytes(const struct lqn_access *access, const bt_field *field,
	uint8_t *to, size_t size);

#endif
