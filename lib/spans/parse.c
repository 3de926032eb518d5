/* SPDX-License-Identifier: MIT */
#include "spans/parse.h"

#include <string.h>

#define ID_DIGITS 16	/* of 64 bits */
#define TEXT_ID_MAX 64	/* longer ones are none */

void lqn_span_place_flaw(const struct lqn_span_place *place, enum lqn_span_flaw flaw)
{
	lqn_span_set_flaw(place->set, flaw, place->file, place->line);
}

json_object *lqn_json_member(json_object *object, const char *first, const char *second)
{
	json_object *value = NULL;

	if (!json_object_object_get_ex(object, first, &value) && second) {
		json_object_object_get_ex(object, second, &value);
	}
	return value;
}

static bool digits(const char *text, uint64_t *number)
{
	char *end;

	/* neither a sign nor spaces are digits */
	if (!g_ascii_isdigit(*text) || strlen(text) > 20) {
		return false;
	}
	*number = g_ascii_strtoull(text, &end, 10);
	return *end == '\0' && *number != G_MAXUINT64;
}

bool lqn_json_number(json_object *value, uint64_t *number)
{
	double real;

	switch (json_object_get_type(value)) {
	case json_type_string:
		return digits(json_object_get_string(value), number);
	case json_type_int:
		*number = json_object_get_uint64(value);	/* 0 if it is below, the largest if above */
		return json_object_get_int64(value) >= 0 && *number != G_MAXUINT64;
	case json_type_double:
		/* as some writers do it: 1.7e18 */
		real = json_object_get_double(value);
		if (!(real >= 0 && real < 9e18)) {
			return false;
		}
		*number = (uint64_t) real;
		return true;
	default:
		return false;
	}
}

int64_t lqn_json_time(json_object *value, int64_t unit)
{
	uint64_t number;

	if (!value) {
		return 0;
	}
	return lqn_json_number(value, &number) && number <= (uint64_t) (INT64_MAX / unit) ? (int64_t) number * unit : -1;
}

const char *lqn_json_text(const struct lqn_span_place *place, json_object *value)
{
	if (!json_object_is_type(value, json_type_string)) {
		return NULL;
	}
	return lqn_span_set_text(place->set, json_object_get_string(value), json_object_get_string_len(value),
		place->file, place->line);
}

static bool hexadecimal(const char *text, size_t len, uint64_t *high, uint64_t *low)
{
	*high = *low = 0;
	if (len > 2 * ID_DIGITS) {
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		if (!g_ascii_isxdigit(text[i])) {
			return false;
		}
		*high = *high << 4 | *low >> 60;
		*low = *low << 4 | (uint64_t) g_ascii_xdigit_value(text[i]);
	}
	return true;
}

static bool base64(const char *text, uint64_t *high, uint64_t *low)
{
	gsize n;
	g_autofree guchar *bytes = g_base64_decode(text, &n);

	*high = *low = 0;
	for (gsize i = 0; i < n; i++) {
		*high = *high << 8 | *low >> 56;
		*low = *low << 8 | bytes[i];
	}
	return n == 8 || n == 16;
}

bool lqn_json_id(json_object *value, uint64_t *high, uint64_t *low)
{
	const char *text;
	uint64_t upper, lower;
	size_t len;
	bool ok;

	if (!json_object_is_type(value, json_type_string)) {
		return false;
	}
	text = json_object_get_string(value);
	len = strlen(text);
	if (len == 0 || len > TEXT_ID_MAX) {
		return false;
	}
	/* 8 bytes are 12 characters in base64, 16 are 24, with `=` at the end: no hexadecimal digit */
	ok = text[len - 1] == '=' ? base64(text, &upper, &lower) : hexadecimal(text, len, &upper, &lower);
	if (!ok || (upper | lower) == 0 || (upper != 0 && !high)) {
		return false;
	}
	*low = lower;
	if (high) {
		*high = upper;
	}
	return true;
}

/* ---- attributes ---- */

enum attribute { SERVICE, HOST, PID, TID, MESSAGE };

/* By OpenTelemetry's conventions, and by what Jaeger's clients write. */
static const struct {
	const char *key;
	enum attribute what;
} attributes[] = {
	{ "service.name", SERVICE },
	{ "host.name", HOST },
	{ "hostname", HOST },
	{ "process.pid", PID },
	{ "process.vpid", PID },
	{ "pid", PID },
	{ "thread.id", TID },
	{ "tid", TID },
	{ "messaging.message.id", MESSAGE },
	{ "messaging.message_id", MESSAGE },
};

static void take_id(int32_t *id, json_object *value)
{
	uint64_t number;

	if (*id < 0 && lqn_json_number(value, &number) && number > 0 && number <= INT32_MAX) {
		*id = (int32_t) number;
	}
}

void lqn_span_attribute(const struct lqn_span_place *place, struct lqn_file_span *span, const char *key, json_object *value)
{
	for (size_t i = 0; i < G_N_ELEMENTS(attributes); i++) {
		if (strcmp(attributes[i].key, key) != 0) {
			continue;
		}
		switch (attributes[i].what) {
		case SERVICE:
			span->service = span->service ? span->service : lqn_json_text(place, value);
			break;
		case HOST:
			span->host = span->host ? span->host : lqn_json_text(place, value);
			break;
		case MESSAGE:
			span->message = span->message ? span->message : lqn_json_text(place, value);
			break;
		case PID:
			take_id(&span->pid, value);
			break;
		case TID:
			take_id(&span->tid, value);
			break;
		}
		return;
	}
}

void lqn_span_inherit(struct lqn_file_span *span, const struct lqn_file_span *origin)
{
	span->service = span->service ? span->service : origin->service;
	span->host = span->host ? span->host : origin->host;
	span->pid = span->pid >= 0 ? span->pid : origin->pid;
	span->tid = span->tid >= 0 ? span->tid : origin->tid;
}

/* ---- spans ---- */

struct lqn_file_span lqn_span_blank(const struct lqn_span_place *place)
{
	return (struct lqn_file_span) { .begin = -1, .end = -1, .pid = -1, .tid = -1, .line = place->line,
		.file = (uint16_t) place->file };
}

bool lqn_span_add(const struct lqn_span_place *place, const struct lqn_file_span *span)
{
	const struct {
		bool wrong;
		enum lqn_span_flaw flaw;
	} checks[] = {
		{ (span->trace_high | span->trace_low) == 0 || span->id == 0, LQN_FLAW_NO_ID },
		{ span->begin == 0, LQN_FLAW_NO_BEGIN },
		{ span->end == 0, LQN_FLAW_NO_END },
		{ span->begin < 0 || span->begin > LQN_TIME_MAX || span->end < 0 || span->end > LQN_TIME_MAX, LQN_FLAW_RANGE },
		{ span->end < span->begin, LQN_FLAW_BACKWARD },
		{ place->set->spans->len >= LQN_SPANS_MAX_COUNT, LQN_FLAW_MANY },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(checks); i++) {
		if (checks[i].wrong) {
			lqn_span_place_flaw(place, checks[i].flaw);
			return false;
		}
	}
	g_array_append_vals(place->set->spans, span, 1);
	return true;
}
