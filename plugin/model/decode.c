/* SPDX-License-Identifier: MIT */
#include "plugin/model/decode.h"

#include <glib.h>
#include <string.h>

#include "plugin/common/access.h"
#include "plugin/common/class-cache.h"

/* How to read an event class. */
struct reader {
	const struct lqn_event_class *desc;
	enum lqn_event_type type;
	struct lqn_access *fields;		/* owned; by index in `desc` */
};

/* One for all classes that are not ours: most events are of them, and need not look into it. */
static struct reader foreign;

struct lqn_decoder {
	struct lqn_class_cache *readers;	/* of struct reader; owned */
};

/* ---- values -------------------------------------------------------------- */

static void get_64(const struct lqn_access *access, const bt_field *field, void *to)
{
	*(int64_t *) to = access->integer(field);
}

static void get_32(const struct lqn_access *access, const bt_field *field, void *to)
{
	*(uint32_t *) to = (uint32_t) access->integer(field);
}

static void get_string(const struct lqn_access *access, const bt_field *field, void *to)
{
	/* In 2.0.4 an empty string may still hold the text of an earlier event. */
	*(const char **) to = bt_field_string_get_length(field) == 0 ? "" :
		bt_field_string_get_value(field);
}

static const struct {
	void (*get)(const struct lqn_access *access, const bt_field *field, void *to);
	enum lqn_access_shape shape;
} kinds[] = {
	[LQN_EVF_U64] = { get_64, LQN_SHAPE_INTEGER },
	[LQN_EVF_I64] = { get_64, LQN_SHAPE_INTEGER },
	[LQN_EVF_TIME] = { get_64, LQN_SHAPE_INTEGER },
	[LQN_EVF_U32] = { get_32, LQN_SHAPE_INTEGER },
	[LQN_EVF_I32] = { get_32, LQN_SHAPE_INTEGER },
	[LQN_EVF_STRING] = { get_string, LQN_SHAPE_STRING },
	[LQN_EVF_ENUM] = { get_32, LQN_SHAPE_INTEGER },
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
	for (size_t i = 0; i < reader->desc->n_fields; i++) {
		const struct lqn_event_field *field = &reader->desc->fields[i];

		reader->fields[i] = lqn_access_find(payload, field->name);
		if (reader->fields[i].shape != kinds[field->kind].shape) {
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

static void read_fields(const struct reader *reader, const bt_event *event, struct lqn_event *ev)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	memset(ev, 0, sizeof(*ev));
	ev->type = (uint8_t) reader->type;
	for (size_t i = 0; i < reader->desc->n_fields; i++) {
		const struct lqn_event_field *desc = &reader->desc->fields[i];
		const bt_field *field = lqn_access_borrow(&reader->fields[i], payload);
		void *to = (char *) ev + desc->offset;

		if (field) {
			kinds[desc->kind].get(&reader->fields[i], field, to);
		} else if (desc->kind == LQN_EVF_STRING) {
			*(const char **) to = "";
		}
	}
}

enum lqn_decode_status lqn_decoder_decode(struct lqn_decoder *decoder, const bt_event *event,
	struct lqn_event *ev)
{
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
	read_fields(reader, event, ev);
	return LQN_DECODE_OK;
}
