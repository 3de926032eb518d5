/* SPDX-License-Identifier: MIT */
#include "plugin/spans/stream.h"

#include <inttypes.h>
#include <stdio.h>

#include "plugin/common/classes.h"
#include "plugin/common/clock.h"

#define TRACE_NAME "spans"

/* A field: what it is called, which of the events have it, and how it is set. */
struct field {
	const char *name;
	enum { TEXT, ID, KIND } type;
	unsigned in;		/* 1 << enum spans_event, … */
	bool (*set)(bt_field *field, const struct lqn_file_span *span);
};

static bool set_text(bt_field *field, const char *text)
{
	return bt_field_string_set_value(field, text ? text : "") ==
		BT_FIELD_STRING_SET_VALUE_STATUS_OK;
}

static bool set_trace_id(bt_field *field, const struct lqn_file_span *span)
{
	char text[33];

	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, span->trace_high,
		span->trace_low);
	return set_text(field, text);
}

static bool set_id(bt_field *field, uint64_t id)
{
	char text[17] = "";

	if (id) {
		snprintf(text, sizeof(text), "%016" PRIx64, id);
	}
	return set_text(field, text);
}

static bool set_span_id(bt_field *field, const struct lqn_file_span *span)
{
	return set_id(field, span->id);
}

static bool set_parent(bt_field *field, const struct lqn_file_span *span)
{
	return set_id(field, span->parent);
}

static bool set_name(bt_field *field, const struct lqn_file_span *span)
{
	return set_text(field, span->name);
}

static bool set_message(bt_field *field, const struct lqn_file_span *span)
{
	return set_text(field, span->message);
}

static bool set_service(bt_field *field, const struct lqn_file_span *span)
{
	return set_text(field, span->service);
}

static bool set_host(bt_field *field, const struct lqn_file_span *span)
{
	return set_text(field, span->host);
}

static bool set_kind(bt_field *field, const struct lqn_file_span *span)
{
	bt_field_integer_unsigned_set_value(field, span->kind);
	return true;
}

static bool set_pid(bt_field *field, const struct lqn_file_span *span)
{
	bt_field_integer_signed_set_value(field, span->pid);
	return true;
}

static bool set_tid(bt_field *field, const struct lqn_file_span *span)
{
	bt_field_integer_signed_set_value(field, span->tid);
	return true;
}

#define ALL (1 << SPANS_BEGIN | 1 << SPANS_END | 1 << SPANS_MESSAGE)

/* Read again by the rows `span:…` of lib/layout/spans.c. */
static const struct field fields[] = {
	{ "trace_id", TEXT, ALL, set_trace_id },
	{ "span_id", TEXT, ALL, set_span_id },
	{ "parent_span_id", TEXT, 1 << SPANS_BEGIN, set_parent },
	{ "kind", KIND, 1 << SPANS_BEGIN, set_kind },
	{ "message", TEXT, 1 << SPANS_BEGIN | 1 << SPANS_MESSAGE, set_message },
	{ "name", TEXT, 1 << SPANS_BEGIN, set_name },
	{ "service", TEXT, 1 << SPANS_BEGIN | 1 << SPANS_END, set_service },
	{ "host", TEXT, ALL, set_host },
	{ "pid", ID, 1 << SPANS_BEGIN | 1 << SPANS_END, set_pid },
	{ "tid", ID, 1 << SPANS_BEGIN | 1 << SPANS_END, set_tid },
};

static const char *const event_names[] = {
	[SPANS_BEGIN] = "span:begin",
	[SPANS_END] = "span:end",
	[SPANS_MESSAGE] = "span:message",
};

/* ---- classes ------------------------------------------------------------- */

static bool append_field(bt_trace_class *tc, bt_field_class *payload, const struct field *field)
{
	bt_field_class *fc = field->type == TEXT ? bt_field_class_string_create(tc) :
		field->type == KIND ? lqn_class_enum_new(tc, lqn_span_kind_name) :
		bt_field_class_integer_signed_create(tc);

	return lqn_class_append(payload, field->name, fc, field->type == TEXT ? 0 : 32);
}

static bt_event_class *create_event_class(bt_trace_class *tc, bt_stream_class *sc,
	enum spans_event which)
{
	bt_field_class *payload = bt_field_class_structure_create(tc);
	bool ok = payload;

	for (size_t i = 0; ok && i < G_N_ELEMENTS(fields); i++) {
		ok = !(fields[i].in >> which & 1) || append_field(tc, payload, &fields[i]);
	}
	if (!ok) {
		BT_FIELD_CLASS_PUT_REF_AND_RESET(payload);
	}
	return lqn_class_event_new(sc, event_names[which], payload);
}

static bool create_classes(struct spans_trace *trace, bt_self_component *self, bt_trace_class *tc)
{
	bt_clock_class *clock = lqn_clock_new(self, "unix", true);

	trace->sc = clock ? lqn_class_stream_new(tc, clock, TRACE_NAME) : NULL;
	bt_clock_class_put_ref(clock);
	for (unsigned i = 0; trace->sc && i < SPANS_EVENTS; i++) {
		trace->classes[i] = create_event_class(tc, trace->sc, (enum spans_event) i);
		if (!trace->classes[i]) {
			return false;
		}
	}
	return trace->sc;
}

bool spans_trace_init(struct spans_trace *trace, bt_self_component *self)
{
	bt_trace_class *tc = bt_trace_class_create(self);
	bool ok;

	*trace = (struct spans_trace) { .sc = NULL };
	ok = tc && create_classes(trace, self, tc);
	if (ok) {
		trace->trace = bt_trace_create(tc);
		ok = trace->trace && bt_trace_set_name(trace->trace, TRACE_NAME) ==
			BT_TRACE_SET_NAME_STATUS_OK;
	}
	bt_trace_class_put_ref(tc);
	if (!ok) {
		spans_trace_clear(trace);
	}
	return ok;
}

void spans_trace_clear(struct spans_trace *trace)
{
	for (unsigned i = 0; i < SPANS_EVENTS; i++) {
		BT_EVENT_CLASS_PUT_REF_AND_RESET(trace->classes[i]);
	}
	BT_STREAM_CLASS_PUT_REF_AND_RESET(trace->sc);
	BT_TRACE_PUT_REF_AND_RESET(trace->trace);
}

/* ---- messages ------------------------------------------------------------ */

bt_message *spans_trace_event(const struct spans_trace *trace, bt_self_message_iterator *iter,
	const bt_packet *packet, const struct lqn_file_span *span, enum spans_event which)
{
	int64_t ts = which == SPANS_END ? span->end : span->begin;
	bt_message *msg = bt_message_event_create_with_packet_and_default_clock_snapshot(iter,
		trace->classes[which], packet, (uint64_t) ts);
	bt_field *payload;
	uint64_t n = 0;

	if (!msg) {
		return NULL;
	}
	payload = bt_event_borrow_payload_field(bt_message_event_borrow_event(msg));
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		if (!(fields[i].in >> which & 1)) {
			continue;
		}
		if (!fields[i].set(bt_field_structure_borrow_member_field_by_index(payload, n++),
				span)) {
			bt_message_put_ref(msg);
			return NULL;
		}
	}
	return msg;
}
