/* SPDX-License-Identifier: MIT */
#include "plugin/model/decode.h"

#include <glib.h>
#include <string.h>

#include "event/wire.h"
#include "plugin/common/access.h"
#include "plugin/common/class-cache.h"
#include "plugin/common/message.h"

/* How to read an event class. */
struct reader {
	const struct lqn_event_class *desc;
	enum lqn_event_type type;
	/* owned; by index in `desc` */
	struct lqn_access *fields;
	struct lqn_wire *columns;
};

/* One for all classes that are not ours: most events are of them, and need not look into it. */
static struct reader foreign;

struct lqn_decoder {
	struct lqn_class_cache *readers;	/* of struct reader; owned */
};

/* ---- readers ------------------------------------------------------------- */

static const struct lqn_event_class *find_desc(const char *name, enum lqn_event_type *type)
{
	for (unsigned i = 0; name && i < LQN_EV_COUNT; i++) {
		if (strcmp(lqn_event_class((enum lqn_event_type) i)->name, name) == 0) {
			*type = (enum lqn_event_type) i;
			return lqn_event_class(*type);
		}
	}
	return NULL;
}

static struct reader *reader_new(const bt_event_class *ec)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(ec);
	enum lqn_event_type type;
	const struct lqn_event_class *desc = find_desc(bt_event_class_get_name(ec), &type);
	struct reader *reader;

	if (!desc) {
		return &foreign;
	}
	reader = g_new0(struct reader, 1);
	reader->desc = desc;
	reader->type = type;
	reader->fields = g_new(struct lqn_access, reader->desc->n_fields);
	reader->columns = g_new(struct lqn_wire, reader->desc->n_fields);
	for (size_t i = 0; i < reader->desc->n_fields; i++) {
		const struct lqn_event_field *field = &reader->desc->fields[i];

		reader->fields[i] = lqn_access_find(payload, field->name);
		reader->columns[i] = lqn_wire_of(field);
		if (reader->fields[i].shape != (field->kind == LQN_EVF_STRING ?
				LQN_SHAPE_STRING : LQN_SHAPE_INTEGER)) {
			reader->fields[i].index = -1;
		}
	}
	return reader;
}

static void reader_free(void *data)
{
	struct reader *reader = data;

	if (reader == &foreign) {
		return;
	}
	g_free(reader->fields);
	g_free(reader->columns);
	g_free(reader);
}

struct lqn_decoder *lqn_decoder_new(void)
{
	struct lqn_decoder *decoder = g_new0(struct lqn_decoder, 1);

	decoder->readers = lqn_class_cache_new(reader_free);
	return decoder;
}

void lqn_decoder_free(struct lqn_decoder *decoder)
{
	if (decoder) {
		lqn_class_cache_free(decoder->readers);
		g_free(decoder);
	}
}

static const char *read_string(const bt_field *field)
{
	/* In 2.0.4 an empty string may still hold the text of an earlier event. */
	return !field || bt_field_string_get_length(field) == 0 ? "" :
		bt_field_string_get_value(field);
}

static void read_fields(const struct reader *reader, const bt_event *event, struct lqn_event *ev)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	for (size_t i = 0; i < reader->desc->n_fields; i++) {
		const struct lqn_access *access = &reader->fields[i];
		const struct lqn_wire *column = &reader->columns[i];
		const bt_field *field = lqn_access_borrow(access, payload);

		if (column->what == LQN_WIRE_STRING) {
			*(const char **) lqn_wire_at(ev, column->offset) = read_string(field);
		} else if (field) {
			lqn_wire_set(column, ev, access->integer(field));
		}
	}
}

static bool read_time(const bt_message *msg, int64_t *ts)
{
	const bt_clock_snapshot *cs = lqn_message_clock(msg);

	return cs && bt_clock_snapshot_get_ns_from_origin(cs, ts) ==
		BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;
}

enum lqn_decode_status lqn_decoder_decode(struct lqn_decoder *decoder, const bt_message *msg,
	struct lqn_event *ev)
{
	const bt_event *event = bt_message_event_borrow_event_const(msg);
	const bt_event_class *ec = bt_event_borrow_class_const(event);
	struct reader *reader = lqn_class_cache_get(decoder->readers, ec);

	if (!reader) {
		reader = reader_new(ec);
		if (!lqn_class_cache_put(decoder->readers, ec, reader)) {
			return LQN_DECODE_NO_MEMORY;
		}
	}
	if (reader == &foreign) {
		return LQN_DECODE_FOREIGN;
	}
	memset(ev, 0, sizeof(*ev));
	ev->type = (uint8_t) reader->type;
	if (!read_time(msg, &ev->ts)) {
		return LQN_DECODE_NO_TIME;
	}
	read_fields(reader, event, ev);
	return LQN_DECODE_OK;
}
