/* SPDX-License-Identifier: MIT */

/*
 * Jaeger's JSON, as its user interface and its query service export it (jaeger, internal model/json/model.go): times in
 * µs, the parent as a reference, attributes as tags.
 */
#include "spans/parse.h"

#include <string.h>

#define NS_PER_US 1000

static void take_kind(struct lqn_file_span *span, json_object *value)
{
	for (uint32_t i = LQN_SPAN_INTERNAL; json_object_is_type(value, json_type_string) && i < LQN_SPAN_KINDS; i++) {
		if (strcmp(json_object_get_string(value), lqn_span_kind_name(i)) == 0) {
			span->kind = (uint8_t) i;
		}
	}
}

static void take_tags(const struct lqn_span_place *place, json_object *list, struct lqn_file_span *span)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		json_object *tag = json_object_array_get_idx(list, i);
		json_object *key = lqn_json_member(tag, "key", NULL), *value = lqn_json_member(tag, "value", NULL);

		if (!json_object_is_type(key, json_type_string)) {
			continue;
		}
		if (strcmp(json_object_get_string(key), "span.kind") == 0) {
			take_kind(span, value);
		} else {
			lqn_span_attribute(place, span, json_object_get_string(key), value);
		}
	}
}

void lqn_jaeger_process(const struct lqn_span_place *place, json_object *process, struct lqn_file_span *origin)
{
	*origin = lqn_span_blank(place);
	origin->service = lqn_json_text(place, lqn_json_member(process, "serviceName", NULL));
	take_tags(place, lqn_json_member(process, "tags", NULL), origin);
}

static void take_references(const struct lqn_span_place *place, struct lqn_file_span *span, json_object *list)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		json_object *reference = json_object_array_get_idx(list, i);
		uint64_t high, low, id;

		if (!lqn_json_id(lqn_json_member(reference, "traceID", NULL), &high, &low) ||
				!lqn_json_id(lqn_json_member(reference, "spanID", NULL), NULL, &id)) {
			continue;
		}
		/* a reference to another trace is a link, no parent */
		if (high != span->trace_high || low != span->trace_low) {
			lqn_span_set_link(place->set, span, high, low, id);
		} else if (span->parent == 0) {
			span->parent = id;
		}
	}
}

bool lqn_jaeger_span(const struct lqn_span_place *place, json_object *object, const char **process)
{
	struct lqn_file_span span = lqn_span_blank(place), origin;
	json_object *duration = lqn_json_member(object, "duration", NULL);
	int64_t length = lqn_json_time(duration, NS_PER_US);

	lqn_json_id(lqn_json_member(object, "traceID", NULL), &span.trace_high, &span.trace_low);
	lqn_json_id(lqn_json_member(object, "spanID", NULL), NULL, &span.id);
	lqn_json_id(lqn_json_member(object, "parentSpanID", NULL), NULL, &span.parent);
	take_references(place, &span, lqn_json_member(object, "references", NULL));
	span.begin = lqn_json_time(lqn_json_member(object, "startTime", NULL), NS_PER_US);
	if (!duration) {
		span.end = 0;
	} else if (length >= 0 && span.begin >= 0 && span.begin <= INT64_MAX - length) {
		span.end = span.begin + length;
	}
	span.name = lqn_json_text(place, lqn_json_member(object, "operationName", NULL));
	take_tags(place, lqn_json_member(object, "tags", NULL), &span);
	*process = lqn_json_text(place, lqn_json_member(object, "processID", NULL));
	if (json_object_is_type(lqn_json_member(object, "process", NULL), json_type_object)) {
		lqn_jaeger_process(place, lqn_json_member(object, "process", NULL), &origin);
		lqn_span_inherit(&span, &origin);
	}
	return lqn_span_add(place, &span);
}
