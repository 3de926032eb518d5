/* SPDX-License-Identifier: MIT */
#include "plugin/causal/own-stream.h"

#include <string.h>

#include "event/wire.h"
#include "plugin/common/classes.h"
#include "plugin/common/clock.h"

#define TRACE_NAME "lqn"
#define NS_PER_S 1000000000

#define FIELDS_MAX 20

/* What is to be told of a field. */
union told {
	int64_t number;
	const char *text;	/* borrowed from the event */
};

enum member_kind { MEMBER_UNSIGNED, MEMBER_SIGNED, MEMBER_TEXT };

/* An event class of ours: the long or the short form of an event. */
struct form {
	bt_event_class *class;			/* owned; NULL: there is no such form */
	uint8_t n;
	struct {
		uint8_t column;
		uint8_t kind;			/* enum member_kind */
	} members[FIELDS_MAX];			/* which of the columns it has, in their order */
};

/* How an event is told. */
struct telling {
	uint8_t n;
	struct lqn_wire columns[FIELDS_MAX];	/* all fields */
	struct form all, few;			/* the long form, and the short one */
};

struct own_trace {
	bt_self_message_iterator *iter;		/* borrowed */
	struct message_queue *queue;		/* borrowed */
	bt_trace *trace;			/* owned */
	bt_stream_class *sc;			/* owned */
	bt_clock_class *clock;			/* owned */
	struct telling tellings[LQN_EV_COUNT];
	struct lqn_handover *handover;		/* takes the events; with a reference */
	bool handed_over;			/* to the sink: not made messages of */
	GPtrArray *streams;			/* struct own_stream *; borrowed */
	bool shared;		/* the clock is upstream's; else 1 GHz, value = ns from origin */
	uint64_t value;		/* the present time, on `clock` … */
	int64_t ns;		/* … and from the origin */
};

struct own_stream {
	struct own_trace *trace;	/* borrowed */
	bt_stream *stream;		/* owned */
	bt_packet *packet;		/* owned */
};

/* ---- classes ------------------------------------------------------------- */

static bt_field_class *create_field_class(bt_trace_class *tc, const struct lqn_event_field *field,
	const struct lqn_wire *column)
{
	if (field->kind == LQN_EVF_STRING) {
		return bt_field_class_string_create(tc);
	}
	if (field->kind == LQN_EVF_ENUM) {
		return lqn_class_enum_new(tc, field->label);
	}
	return column->is_signed ? bt_field_class_integer_signed_create(tc) :
		bt_field_class_integer_unsigned_create(tc);
}

static bool create_form(struct form *form, const struct telling *telling, bool is_short,
	bt_trace_class *tc, bt_stream_class *sc, const struct lqn_event_class *desc)
{
	bt_field_class *payload = bt_field_class_structure_create(tc);
	bool ok = payload;

	for (uint8_t i = 0; ok && i < telling->n; i++) {
		const struct lqn_wire *column = &telling->columns[i];
		const bool is_string = column->what == LQN_WIRE_STRING;
		const unsigned bits = is_short ? column->bits : lqn_wire_long_bits(column);

		if (is_string || bits > 0) {
			ok = lqn_class_append(payload, desc->fields[i].name,
				create_field_class(tc, &desc->fields[i], column), is_string ? 0 : bits);
			form->members[form->n].column = i;
			form->members[form->n++].kind = is_string ? MEMBER_TEXT :
				column->is_signed ? MEMBER_SIGNED : MEMBER_UNSIGNED;
		}
	}
	if (!ok) {
		BT_FIELD_CLASS_PUT_REF_AND_RESET(payload);
	}
	form->class = lqn_class_event_new(sc, desc->name, payload);
	return form->class != NULL;
}

static bool create_telling(struct telling *telling, bt_trace_class *tc, bt_stream_class *sc,
	const struct lqn_event_class *desc)
{
	g_assert(desc->n_fields <= FIELDS_MAX);
	telling->n = (uint8_t) desc->n_fields;
	for (size_t i = 0; i < desc->n_fields; i++) {
		telling->columns[i] = lqn_wire_of(&desc->fields[i]);
	}
	return create_form(&telling->all, telling, false, tc, sc, desc) &&
		(!lqn_wire_has_short(desc) || create_form(&telling->few, telling, true, tc, sc, desc));
}

/* ---- trace --------------------------------------------------------------- */

/*
 * Clock classes with the Unix epoch as origin mix freely, so that ours can count ns, which is right
 * even when hosts with different clock classes meet. With an unknown origin a muxer behind us takes
 * nothing but the same clock: upstream's object itself, which the API wants to be mutable. Where nobody is
 * upstream, all the same times do.
 */
static bool choose_clock(struct own_trace *trace, bt_self_component *self,
	const bt_clock_snapshot *now, bool epoch, int64_t ns)
{
	trace->shared = now && (!epoch || ns < 0);
	if (trace->shared) {
		trace->clock = (bt_clock_class *) bt_clock_snapshot_borrow_clock_class_const(now);
		bt_clock_class_get_ref(trace->clock);
		return true;
	}
	trace->clock = lqn_clock_new(self, "lqn_ns", epoch);
	return trace->clock != NULL;
}

static bool create_classes(struct own_trace *trace, bt_trace_class *tc)
{
	trace->sc = lqn_class_stream_new(tc, trace->clock, TRACE_NAME);
	if (!trace->sc) {
		return false;
	}
	for (unsigned i = 0; i < LQN_EV_COUNT; i++) {
		if (!create_telling(&trace->tellings[i], tc, trace->sc,
				lqn_event_class((enum lqn_event_type) i))) {
			return false;
		}
	}
	return true;
}

static bool create_trace(struct own_trace *trace, bt_trace_class *tc)
{
	trace->trace = bt_trace_create(tc);
	return trace->trace &&
		bt_trace_set_name(trace->trace, TRACE_NAME) == BT_TRACE_SET_NAME_STATUS_OK &&
		bt_trace_set_environment_entry_string(trace->trace, "tracer_name", TRACE_NAME) ==
			BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK &&
		bt_trace_set_environment_entry_integer(trace->trace, LQN_SCHEMA_ENTRY,
			LQN_EVENT_SCHEMA) == BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK;
}

struct own_trace *own_trace_new(bt_self_component *self, bt_self_message_iterator *iter,
	struct message_queue *queue, struct lqn_handover *handover,
	const bt_clock_snapshot *now, bool epoch, int64_t ns)
{
	struct own_trace *trace = g_new0(struct own_trace, 1);
	bt_trace_class *tc = bt_trace_class_create(self);
	bool ok;

	trace->iter = iter;
	trace->ns = INT64_MIN;
	trace->queue = queue;
	trace->handed_over = handover != NULL;
	trace->handover = handover ? lqn_handover_ref(handover) : lqn_handover_new();
	trace->streams = g_ptr_array_new();
	ok = tc && choose_clock(trace, self, now, epoch, ns) && create_classes(trace, tc) && create_trace(trace, tc);
	bt_trace_class_put_ref(tc);
	if (!ok) {
		own_trace_free(trace);
		return NULL;
	}
	own_trace_set_time(trace, now, ns);
	return trace;
}

void own_trace_free(struct own_trace *trace)
{
	if (!trace) {
		return;
	}
	for (unsigned i = 0; i < LQN_EV_COUNT; i++) {
		bt_event_class_put_ref(trace->tellings[i].all.class);
		bt_event_class_put_ref(trace->tellings[i].few.class);
	}
	bt_stream_class_put_ref(trace->sc);
	bt_clock_class_put_ref(trace->clock);
	bt_trace_put_ref(trace->trace);
	g_ptr_array_free(trace->streams, TRUE);
	lqn_handover_unref(trace->handover);
	g_free(trace);
}

/* The first value of a clock that is not before `ns` from the origin, or 0. */
static uint64_t value_at(const bt_clock_class *clock, int64_t ns)
{
	uint64_t frequency = bt_clock_class_get_frequency(clock), cycles;
	int64_t seconds;
	__int128 value;

	bt_clock_class_get_offset(clock, &seconds, &cycles);
	value = ((__int128) ns - (__int128) seconds * NS_PER_S) * frequency + (NS_PER_S - 1);
	value = value / NS_PER_S - cycles;
	return value > 0 ? (uint64_t) value : 0;
}

/* The time of a value, which is in range as that of a message is. */
static int64_t ns_at(const bt_clock_class *clock, uint64_t value)
{
	int64_t ns;

	if (bt_clock_class_cycles_to_ns_from_origin(clock, value, &ns) !=
			BT_CLOCK_CLASS_CYCLES_TO_NS_FROM_ORIGIN_STATUS_OK) {
		bt_current_thread_clear_error();
		return INT64_MAX;
	}
	return ns;
}

void own_trace_set_time(struct own_trace *trace, const bt_clock_snapshot *now, int64_t ns)
{
	uint64_t value = ns < 0 ? 0 : (uint64_t) ns;

	if (trace->shared) {
		value = now && bt_clock_snapshot_borrow_clock_class_const(now) == trace->clock ?
			bt_clock_snapshot_get_value(now) : value_at(trace->clock, ns);
	}
	if (value > trace->value || trace->ns == INT64_MIN) {
		trace->value = value;
		trace->ns = trace->shared ? ns_at(trace->clock, value) : (int64_t) value;
	}
}

void own_trace_set_ns(struct own_trace *trace, int64_t ns)
{
	if (ns > trace->ns) {
		trace->ns = ns;
		trace->value = (uint64_t) ns;	/* the first one was not below 0 */
	}
}

bool own_trace_counts_ns(const struct own_trace *trace)
{
	return !trace->shared;
}

/* ---- streams ------------------------------------------------------------- */

static bool push(struct own_trace *trace, const bt_message *msg)
{
	if (!msg) {
		return false;
	}
	queue_push(trace->queue, msg);
	return true;
}

static bool begin(struct own_stream *stream)
{
	struct own_trace *trace = stream->trace;
	bt_message *msg = bt_message_stream_beginning_create(trace->iter, stream->stream);

	if (!msg) {
		return false;
	}
	bt_message_stream_beginning_set_default_clock_snapshot(msg, trace->value);
	return push(trace, msg) &&
		push(trace, bt_message_packet_beginning_create_with_default_clock_snapshot(
			trace->iter, stream->packet, trace->value));
}

struct own_stream *own_stream_new(struct own_trace *trace, const char *name)
{
	struct own_stream *stream = g_new0(struct own_stream, 1);

	stream->trace = trace;
	stream->stream = bt_stream_create(trace->sc, trace->trace);
	if (!stream->stream || bt_stream_set_name(stream->stream, name) !=
			BT_STREAM_SET_NAME_STATUS_OK) {
		own_stream_free(stream);
		return NULL;
	}
	stream->packet = bt_packet_create(stream->stream);
	if (!stream->packet || !begin(stream)) {
		own_stream_free(stream);
		return NULL;
	}
	g_ptr_array_add(trace->streams, stream);
	return stream;
}

void own_stream_free(struct own_stream *stream)
{
	if (!stream) {
		return;
	}
	g_ptr_array_remove(stream->trace->streams, stream);
	bt_packet_put_ref(stream->packet);
	bt_stream_put_ref(stream->stream);
	g_free(stream);
}

/* What is to be told of the fields of an event; returns the form that has room for it. */
static const struct form *tell(const struct telling *telling, const struct lqn_event *ev,
	union told values[FIELDS_MAX])
{
	uint64_t excess = 0;

	for (uint8_t i = 0; i < telling->n; i++) {
		const struct lqn_wire *column = &telling->columns[i];

		if (column->what == LQN_WIRE_STRING) {
			values[i].text = *(const char *const *) lqn_wire_at(ev, column->offset);
			continue;
		}
		values[i].number = lqn_wire_get(column, ev, ev->ts);
		excess |= lqn_wire_excess(column, values[i].number);
	}
	return excess == 0 && telling->few.class ? &telling->few : &telling->all;
}

static bool fill(bt_field *payload, const struct form *form, const union told values[FIELDS_MAX])
{
	const unsigned n = form->n;

	for (unsigned i = 0; i < n; i++) {
		const union told *value = &values[form->members[i].column];
		const unsigned kind = form->members[i].kind;
		bt_field *field = bt_field_structure_borrow_member_field_by_index(payload, i);

		if (kind == MEMBER_UNSIGNED) {
			bt_field_integer_unsigned_set_value(field, (uint64_t) value->number);
		} else if (kind == MEMBER_SIGNED) {
			bt_field_integer_signed_set_value(field, value->number);
		} else if (bt_field_string_set_value(field, value->text) != BT_FIELD_STRING_SET_VALUE_STATUS_OK) {
			return false;
		}
	}
	return true;
}

void own_stream_event(struct own_stream *stream, const struct lqn_event *ev)
{
	const struct own_trace *trace = stream->trace;

	lqn_handover_put(trace->handover, stream->stream, queue_position(trace->queue), trace->ns, trace->value, ev);
}

bool own_trace_has_events(const struct own_trace *trace)
{
	return !trace->handed_over && lqn_handover_length(trace->handover) > 0;
}

/* There is one for each host. */
static const struct own_stream *stream_of(const struct own_trace *trace, const struct lqn_handed *handed)
{
	guint i = 0;
	const struct own_stream *stream;

	do {
		stream = g_ptr_array_index(trace->streams, i++);
	} while (stream->stream != handed->stream);
	return stream;
}

bool own_trace_take(struct own_trace *trace, const bt_message **to)
{
	const struct lqn_handed *handed = trace->handed_over ? NULL :
		lqn_handover_take(trace->handover, queue_popped(trace->queue));
	const struct telling *telling;
	const struct form *form;
	union told values[FIELDS_MAX];
	bt_message *msg;

	*to = NULL;
	if (!handed) {
		return true;
	}
	telling = &trace->tellings[handed->ev.type];
	form = tell(telling, &handed->ev, values);
	*to = msg = bt_message_event_create_with_packet_and_default_clock_snapshot(
		trace->iter, form->class, stream_of(trace, handed)->packet, handed->value);
	return msg && fill(bt_event_borrow_payload_field(bt_message_event_borrow_event(msg)), form, values);
}

bool own_trace_tell_time(struct own_trace *trace)
{
	return push(trace, bt_message_message_iterator_inactivity_create(trace->iter, trace->clock,
		trace->value));
}

bool own_stream_end(struct own_stream *stream)
{
	struct own_trace *trace = stream->trace;
	bt_message *msg;

	if (!push(trace, bt_message_packet_end_create_with_default_clock_snapshot(trace->iter,
			stream->packet, trace->value))) {
		return false;
	}
	msg = bt_message_stream_end_create(trace->iter, stream->stream);
	if (!msg) {
		return false;
	}
	bt_message_stream_end_set_default_clock_snapshot(msg, trace->value);
	return push(trace, msg);
}
