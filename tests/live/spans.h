/* SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER otel

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./spans.h"

#if !defined(LQN_TESTS_LIVE_SPANS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LQN_TESTS_LIVE_SPANS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(otel, span_start,
	LTTNG_UST_TP_ARGS(unsigned long, trace, unsigned long, span, unsigned long, parent, const char *, name),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(unsigned long, trace_id, trace)
		lttng_ust_field_integer_hex(unsigned long, span_id, span)
		lttng_ust_field_integer_hex(unsigned long, parent_span_id, parent)
		lttng_ust_field_string(name, name)))

LTTNG_UST_TRACEPOINT_EVENT(otel, span_end,
	LTTNG_UST_TP_ARGS(unsigned long, trace, unsigned long, span),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(unsigned long, trace_id, trace)
		lttng_ust_field_integer_hex(unsigned long, span_id, span)))

#endif

#include <lttng/tracepoint-event.h>
