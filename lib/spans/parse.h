/* SPDX-License-Identifier: MIT */
#ifndef LQN_SPANS_PARSE_H
#define LQN_SPANS_PARSE_H

/* Private to lib/spans: from JSON objects to spans, a file for each format, and what both share. */
#include <json-c/json.h>

#include "spans/set.h"

/* Where spans are read: for texts and flaws. */
struct lqn_span_place {
	struct lqn_span_set *set;	/* borrowed */
	uint32_t file, line;
};

void lqn_span_place_flaw(const struct lqn_span_place *place, enum lqn_span_flaw flaw);

/* The member with the first of the names that is there and not null; `second` may be NULL. */
json_object *lqn_json_member(json_object *object, const char *first, const char *second);

/* A whole number from 0 on, as a number or a text of digits. False if it is neither, or too large. */
bool lqn_json_number(json_object *value, uint64_t *number);

/* ns, of a number of units of so many; 0: not told, as protocol buffers leave out what is 0; -1: out of range. */
int64_t lqn_json_time(json_object *value, int64_t unit);

/* A text of the set; NULL if the value is none. */
const char *lqn_json_text(const struct lqn_span_place *place, json_object *value);

/*
 * An id of up to 128 bits: hexadecimal text, or base64, as protocol buffers write bytes in JSON. False, with nothing set, if
 * it is neither, or 0. `high` may be NULL: the id has at most 64 bits.
 */
bool lqn_json_id(json_object *value, uint64_t *high, uint64_t *low);

/* Takes a value of an attribute that says on which host, in which process, on which thread a span is; what is told stays. */
void lqn_span_attribute(const struct lqn_span_place *place, struct lqn_file_span *span, const char *key, json_object *value);

/* Sets what is still unknown of a span to that of its origin. */
void lqn_span_inherit(struct lqn_file_span *span, const struct lqn_file_span *origin);

/* Adds a span to the set, if its ids and times are sound; else counts what is wrong. False: it was left out. */
bool lqn_span_add(const struct lqn_span_place *place, const struct lqn_file_span *span);

/* A span that says nothing yet. */
struct lqn_file_span lqn_span_blank(const struct lqn_span_place *place);

/* otlp.c */
void lqn_otlp_resource(const struct lqn_span_place *place, json_object *resource, struct lqn_file_span *origin);
bool lqn_otlp_span(const struct lqn_span_place *place, json_object *object);

/* jaeger.c */
/* `process`: id of the process it belongs to, a text of the set; NULL: none, or it stands in the span. */
bool lqn_jaeger_span(const struct lqn_span_place *place, json_object *object, const char **process);
void lqn_jaeger_process(const struct lqn_span_place *place, json_object *process, struct lqn_file_span *origin);

#endif
