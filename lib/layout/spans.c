/* SPDX-License-Identifier: MIT */

/*
 * Spans as programs trace them into LTTng-UST: events of a begin and an end, with identities as
 * hexadecimal text or numbers. A new instrumentation is a pair of rows here.
 */
#include "layout/tables.h"

#include <string.h>

#define ID(names, member) { names, LQN_FIELD_ID, offsetof(struct lqn_record, span.member) }
#define TEXT(names) { names, LQN_FIELD_TEXT, offsetof(struct lqn_record, text) }
#define END { NULL, LQN_FIELD_END, 0 }

static const struct lqn_layout_field begin[] = {
	ID("trace_id|trace_id_low|traceId", trace),
	ID("span_id|spanId", span),
	ID("parent_span_id|parent_id|parentSpanId", parent),
	TEXT("name|op_name|operation_name|span_name"),
	END
};

static const struct lqn_layout_field end[] = {
	ID("trace_id|trace_id_low|traceId", trace),
	ID("span_id|spanId", span),
	END
};

static const struct lqn_layout_event spans[] = {
	{ "otel:span_start", LQN_REC_SPAN_BEGIN, 0, begin },
	{ "otel:span_end", LQN_REC_SPAN_END, 0, end },
	{ "opentelemetry:start_span", LQN_REC_SPAN_BEGIN, 0, begin },
	{ "opentelemetry:end_span", LQN_REC_SPAN_END, 0, end },
	{ "jaeger_ust:start_span", LQN_REC_SPAN_BEGIN, 0, begin },
	{ "jaeger_ust:end_span", LQN_REC_SPAN_END, 0, end },
};

const struct lqn_layout_event *lqn_layout_find_span(const char *name)
{
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		if (strcmp(spans[i].name, name) == 0) {
			return &spans[i];
		}
	}
	return NULL;
}
