/* SPDX-License-Identifier: MIT */

/*
 * OTLP's JSON (opentelemetry-proto, trace/v1/trace.proto; JSON encoding as of the protocol's specification): ids are
 * hexadecimal, 64-bit numbers are texts or numbers, kinds numbers or names.
 */
#include "spans/parse.h"

#include <string.h>

static const char *const kinds[] = {
	"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER", "SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER",
	"SPAN_KIND_CONSUMER",
};
G_STATIC_ASSERT(G_N_ELEMENTS(kinds) == LQN_SPAN_KINDS);

/* What an AnyValue holds: its one member. */
static json_object *any_value(json_object *value)
{
	json_object *inner = lqn_json_member(value, "stringValue", "string_value");

	return inner ? inner : lqn_json_member(value, "intValue", "int_value");
}

static void take_attributes(const struct lqn_span_place *place, json_object *list, struct lqn_file_span *span)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		json_object *pair = json_object_array_get_idx(list, i);
		json_object *key = lqn_json_member(pair, "key", NULL);

		if (json_object_is_type(key, json_type_string)) {
			lqn_span_attribute(place, span, json_object_get_string(key),
				any_value(lqn_json_member(pair, "value", NULL)));
		}
	}
}

void lqn_otlp_resource(const struct lqn_span_place *place, json_object *resource, struct lqn_file_span *origin)
{
	*origin = lqn_span_blank(place);
	take_attributes(place, lqn_json_member(resource, "attributes", NULL), origin);
}

static uint8_t kind_of(json_object *value)
{
	uint64_t number;

	for (size_t i = 0; json_object_is_type(value, json_type_string) && i < G_N_ELEMENTS(kinds); i++) {
		if (strcmp(json_object_get_string(value), kinds[i]) == 0) {
			return (uint8_t) i;
		}
	}
	return lqn_json_number(value, &number) && number < LQN_SPAN_KINDS ? (uint8_t) number : LQN_SPAN_UNSPECIFIED;
}

/* One, or one for each of a batch of messages. */
static void take_links(const struct lqn_span_place *place, json_object *list, struct lqn_file_span *span)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		json_object *link = json_object_array_get_idx(list, i);
		uint64_t high, low, id;

		if (lqn_json_id(lqn_json_member(link, "traceId", "trace_id"), &high, &low) &&
				lqn_json_id(lqn_json_member(link, "spanId", "span_id"), NULL, &id)) {
			lqn_span_set_link(place->set, span, high, low, id);
		}
	}
}

bool lqn_otlp_span(const struct lqn_span_place *place, json_object *object)
{
	struct lqn_file_span span = lqn_span_blank(place);

	lqn_json_id(lqn_json_member(object, "traceId", "trace_id"), &span.trace_high, &span.trace_low);
	lqn_json_id(lqn_json_member(object, "spanId", "span_id"), NULL, &span.id);
	lqn_json_id(lqn_json_member(object, "parentSpanId", "parent_span_id"), NULL, &span.parent);
	span.begin = lqn_json_time(lqn_json_member(object, "startTimeUnixNano", "start_time_unix_nano"), 1);
	span.end = lqn_json_time(lqn_json_member(object, "endTimeUnixNano", "end_time_unix_nano"), 1);
	span.kind = kind_of(lqn_json_member(object, "kind", NULL));
	span.name = lqn_json_text(place, lqn_json_member(object, "name", NULL));
	take_attributes(place, lqn_json_member(object, "attributes", NULL), &span);
	take_links(place, lqn_json_member(object, "links", NULL), &span);
	return lqn_span_add(place, &span);
}
