/* SPDX-License-Identifier: MIT */
#include "event/wire.h"

struct lqn_wire lqn_wire_of(const struct lqn_event_field *field)
{
	struct lqn_wire wire = {
		.offset = field->offset,
		.after = field->after,
		.kind = (uint8_t) field->kind,
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
	return wire->kind == LQN_EVF_U32 || wire->kind == LQN_EVF_I32 ||
		wire->kind == LQN_EVF_ENUM ? 32 : 64;
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
