/* SPDX-License-Identifier: MIT */
#include "event/wire.h"

static enum lqn_wire_what what_of(const struct lqn_event_field *field)
{
	static const enum lqn_wire_what what[] = {
		[LQN_EVF_U32] = LQN_WIRE_U32,
		[LQN_EVF_ENUM] = LQN_WIRE_U32,
		[LQN_EVF_I32] = LQN_WIRE_I32,
		[LQN_EVF_STRING] = LQN_WIRE_STRING,
		[LQN_EVF_U64] = LQN_WIRE_PLAIN,
		[LQN_EVF_I64] = LQN_WIRE_PLAIN,
		[LQN_EVF_TIME] = LQN_WIRE_TIME_AGO,
	};

	if (field->after) {
		return field->kind == LQN_EVF_TIME ? LQN_WIRE_TIME_AFTER : LQN_WIRE_AFTER;
	}
	return what[field->kind];
}

struct lqn_wire lqn_wire_of(const struct lqn_event_field *field)
{
	struct lqn_wire wire = {
		.offset = field->offset,
		.after = field->after,
		.what = what_of(field),
		.bits = field->bits,
		.none = field->none,
		.is_signed = field->kind == LQN_EVF_I64 || field->kind == LQN_EVF_I32 ||
			field->kind == LQN_EVF_TIME,
	};

	wire.half = wire.is_signed ? (UINT64_C(1) << wire.bits) >> 1 : 0;
	return wire;
}

unsigned lqn_wire_long_bits(const struct lqn_wire *wire)
{
	return wire->what == LQN_WIRE_U32 || wire->what == LQN_WIRE_I32 ? 32 : 64;
}

bool lqn_wire_has_short(const struct lqn_event_class *desc)
{
	for (size_t i = 0; i < desc->n_fields; i++) {
		if (desc->fields[i].bits > 0) {
			return true;
		}
	}
	return false;
}
