/* SPDX-License-Identifier: MIT */
#include "plugin/common/classes.h"

bt_stream_class *lqn_class_stream_new(bt_trace_class *tc, bt_clock_class *clock, const char *name)
{
	bt_stream_class *sc = bt_stream_class_create(tc);

	if (!sc || bt_stream_class_set_name(sc, name) != BT_STREAM_CLASS_SET_NAME_STATUS_OK ||
			bt_stream_class_set_default_clock_class(sc, clock) !=
				BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK) {
		BT_STREAM_CLASS_PUT_REF_AND_RESET(sc);
		return NULL;
	}
	/* What is written without packets, 2.1.1's source.ctf.fs aborts on. */
	bt_stream_class_set_supports_packets(sc, BT_TRUE, BT_TRUE, BT_TRUE);
	return sc;
}

static bool add_mapping(bt_field_class *fc, const char *label, uint64_t value)
{
	bt_integer_range_set_unsigned *ranges;
	bool ok;

	/* The library takes each label only once. */
	if (bt_field_class_enumeration_unsigned_borrow_mapping_by_label_const(fc, label)) {
		return true;
	}
	ranges = bt_integer_range_set_unsigned_create();
	ok = ranges && bt_integer_range_set_unsigned_add_range(ranges, value, value) ==
			BT_INTEGER_RANGE_SET_ADD_RANGE_STATUS_OK &&
		bt_field_class_enumeration_unsigned_add_mapping(fc, label, ranges) ==
			BT_FIELD_CLASS_ENUMERATION_ADD_MAPPING_STATUS_OK;
	bt_integer_range_set_unsigned_put_ref(ranges);
	return ok;
}

bt_field_class *lqn_class_enum_new(bt_trace_class *tc, const char *(*label)(uint32_t value))
{
	bt_field_class *fc = bt_field_class_enumeration_unsigned_create(tc);
	const char *text;

	for (uint32_t i = 0; fc && (text = label(i)); i++) {
		if (!add_mapping(fc, text, i)) {
			BT_FIELD_CLASS_PUT_REF_AND_RESET(fc);
		}
	}
	return fc;
}

bool lqn_class_append(bt_field_class *payload, const char *name, bt_field_class *fc, uint64_t bits)
{
	bool ok = fc != NULL;

	if (ok && bits > 0) {
		bt_field_class_integer_set_field_value_range(fc, bits);
	}
	ok = ok && bt_field_class_structure_append_member(payload, name, fc) ==
		BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;
	bt_field_class_put_ref(fc);
	return ok;
}

bt_event_class *lqn_class_event_new(bt_stream_class *sc, const char *name, bt_field_class *payload)
{
	bt_event_class *ec = payload ? bt_event_class_create(sc) : NULL;

	if (ec && (bt_event_class_set_name(ec, name) != BT_EVENT_CLASS_SET_NAME_STATUS_OK ||
			bt_event_class_set_payload_field_class(ec, payload) !=
				BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK)) {
		BT_EVENT_CLASS_PUT_REF_AND_RESET(ec);
	}
	bt_field_class_put_ref(payload);
	return ec;
}
