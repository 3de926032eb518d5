/* SPDX-License-Identifier: MIT */
#include "plugin/common/bound.h"

#include <glib.h>
#include <string.h>

/* ---- storing ------------------------------------------------------------- */

static void *at(struct lqn_record *rec, size_t offset)
{
	return (char *) rec + offset;
}

static int32_t clamp_i32(const struct lqn_access *access, int64_t value)
{
	if (value < 0 && access->is_unsigned) {
		return INT32_MAX;
	}
	return (int32_t) CLAMP(value, INT32_MIN, INT32_MAX);
}

static void store_i32(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	int32_t *to = at(rec, bound->offset);

	*to = clamp_i32(&bound->access, bound->access.integer(field));
}

static void store_u32(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	uint32_t *to = at(rec, bound->offset);

	*to = (uint32_t) bound->access.integer(field);
}

static void store_64(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	int64_t *to = at(rec, bound->offset);

	*to = bound->access.integer(field);
}

static void store_comm(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	lqn_access_copy_text(&bound->access, field, at(rec, bound->offset), LQN_COMM_LEN);
}

static void store_text(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	g_free(rec->text);
	rec->text = lqn_access_dup_text(&bound->access, field);
}

static void store_last(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	uint64_t n = bt_field_array_get_length(field);
	int32_t *to = at(rec, bound->offset);

	if (n > 0) {
		*to = clamp_i32(&bound->way->part[0], bound->way->part[0].integer(
			bt_field_array_borrow_element_field_by_index_const(field, n - 1)));
	}
}

static void store_service(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	char *name = rec->text, *service = lqn_access_dup_text(&bound->access, field);
	size_t len = name ? strlen(name) : 0, more = strlen(service);

	rec->text = g_malloc(len + more + 2);
	memcpy(rec->text, name ? name : "", len + 1);
	memcpy(rec->text + len + 1, service, more + 1);
	rec->span.service = (uint32_t) len + 1;
	g_free(name);
	g_free(service);
}

static void add_fd(struct lqn_record *rec, const struct lqn_access *access, int64_t value)
{
	if (rec->exit.n_fds < LQN_RECORD_FDS) {
		rec->exit.fd[rec->exit.n_fds++] = clamp_i32(access, value);
	}
}

static void store_fd(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	add_fd(rec, &bound->access, bound->access.integer(field));
}

static void store_fds(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	const struct lqn_bound_way *way = bound->way;
	const struct lqn_access *last = &way->part[way->n_parts - 1];
	uint64_t n = MIN(bt_field_array_get_length(field), LQN_RECORD_FDS);

	for (uint64_t i = 0; i < n; i++) {
		const bt_field *part =
			bt_field_array_borrow_element_field_by_index_const(field, i);

		/* Part 0 of a plain integer is the element itself: see bind_fds(). */
		for (unsigned k = 0; part && k < way->n_parts; k++) {
			if (way->part[k].fc) {
				part = lqn_access_borrow(&way->part[k], part);
			}
		}
		if (part) {
			add_fd(rec, last, last->integer(part));
		}
	}
}

static void store_id(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	uint64_t *to = at(rec, bound->offset);
	char text[64];
	size_t len;

	if (bound->access.integer) {
		*to = (uint64_t) bound->access.integer(field);
		return;
	}
	memset(text, 0, sizeof(text));
	lqn_access_copy_text(&bound->access, field, text, sizeof(text) - 1);
	len = strlen(text);
	*to = g_ascii_strtoull(text + (len > 16 ? len - 16 : 0), NULL, 16);
}

static void store_key(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	uint64_t *to = at(rec, bound->offset);
	char text[256];

	if (bound->access.integer) {
		*to = (uint64_t) bound->access.integer(field);
		return;
	}
	memset(text, 0, sizeof(text));
	lqn_access_copy_text(&bound->access, field, text, sizeof(text) - 1);
	*to = lqn_layout_address((const uint8_t *) text, strlen(text));
}

static void store_packet(const struct lqn_bound *bound, const bt_field *field,
	struct lqn_record *rec)
{
	lqn_packet_access_fill(bound->packet, field, rec);
}

/* ---- binding ------------------------------------------------------------- */

/* Each finds out how to store a field; false if the trace's field cannot be one of this kind. */

static bool bind_i32(struct lqn_bound *bound)
{
	bound->store = store_i32;
	return bound->access.integer != NULL;
}

static bool bind_u32(struct lqn_bound *bound)
{
	bound->store = store_u32;
	return bound->access.integer != NULL;
}

static bool bind_64(struct lqn_bound *bound)
{
	bound->store = store_64;
	return bound->access.integer != NULL;
}

static bool is_text(const struct lqn_access *access)
{
	if (access->shape == LQN_SHAPE_ARRAY) {
		return lqn_access_of(bt_field_class_array_borrow_element_field_class_const(
			access->fc)).integer != NULL;
	}
	return access->shape == LQN_SHAPE_STRING;
}

static bool bind_comm(struct lqn_bound *bound)
{
	bound->store = store_comm;
	return is_text(&bound->access);
}

static bool bind_text(struct lqn_bound *bound)
{
	bound->store = store_text;
	return is_text(&bound->access);
}

static bool bind_last(struct lqn_bound *bound)
{
	if (bound->access.shape != LQN_SHAPE_ARRAY) {
		return false;
	}
	bound->store = store_last;
	bound->way = g_new0(struct lqn_bound_way, 1);
	bound->way->part[0] = lqn_access_of(
		bt_field_class_array_borrow_element_field_class_const(bound->access.fc));
	return bound->way->part[0].integer != NULL;
}

static bool bind_service(struct lqn_bound *bound)
{
	bound->store = store_service;
	return is_text(&bound->access);
}

static bool bind_fds(struct lqn_bound *bound)
{
	struct lqn_access element;
	struct lqn_bound_way *way;

	if (bound->access.integer) {
		bound->store = store_fd;
		return true;
	}
	if (bound->access.shape != LQN_SHAPE_ARRAY) {
		return false;
	}
	bound->store = store_fds;
	bound->way = way = g_new0(struct lqn_bound_way, 1);
	way->n_parts = 1;
	element = lqn_access_of(
		bt_field_class_array_borrow_element_field_class_const(bound->access.fc));
	if (element.integer) {
		element.fc = NULL;	/* no way down: the element is the number */
		way->part[0] = element;
		return true;
	}
	way->part[0] = lqn_access_find(element.fc, "fd|data_union");
	if (way->part[0].shape == LQN_SHAPE_STRUCTURE && way->part[0].index >= 0) {
		way->part[1] = lqn_access_find(way->part[0].fc, "fd");
		way->n_parts = 2;
	}
	return way->part[way->n_parts - 1].integer != NULL;
}

static bool bind_id(struct lqn_bound *bound)
{
	bound->store = store_id;
	return bound->access.integer || is_text(&bound->access);
}

static bool bind_key(struct lqn_bound *bound)
{
	bound->store = store_key;
	return bound->access.integer || is_text(&bound->access);
}

static bool bind_packet(struct lqn_bound *bound)
{
	bound->store = store_packet;
	bound->packet = lqn_packet_access_new(&bound->access);
	return bound->packet != NULL;
}

static bool (*const binders[])(struct lqn_bound *bound) = {
	[LQN_FIELD_I32] = bind_i32,
	[LQN_FIELD_U32] = bind_u32,
	[LQN_FIELD_64] = bind_64,
	[LQN_FIELD_COMM] = bind_comm,
	[LQN_FIELD_TEXT] = bind_text,
	[LQN_FIELD_FDS] = bind_fds,
	[LQN_FIELD_ID] = bind_id,
	[LQN_FIELD_KEY] = bind_key,
	[LQN_FIELD_LAST] = bind_last,
	[LQN_FIELD_SERVICE] = bind_service,
	[LQN_FIELD_PACKET] = bind_packet,
};

bool lqn_bound_init(struct lqn_bound *bound, const struct lqn_layout_field *field,
	const bt_field_class *payload)
{
	*bound = (struct lqn_bound) {
		.access = lqn_access_find(payload, field->names),
		.offset = (uint32_t) field->offset,
	};
	if (bound->access.index >= 0 && binders[field->kind](bound)) {
		return true;
	}
	g_free(bound->way);
	return false;
}

void lqn_bound_clear(struct lqn_bound *bound)
{
	if (bound->store == store_packet) {
		lqn_packet_access_free(bound->packet);
	}
	g_free(bound->way);
}
