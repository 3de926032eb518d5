/* SPDX-License-Identifier: MIT */

/*
 * Spans as programs trace them: events of a begin and an end, with identities as hexadecimal text
 * or numbers. A new instrumentation is a pair of rows here.
 *
 *   span:…           source.lqn.spans
 *   otel:…           a begin and an end with OpenTelemetry's identities as text
 *   opentelemetry:…  the same, of other wrappers of its interfaces
 *   jaeger_ust:…     Jaeger's Go client, instrumented at the Polytechnique (jaeger-tp.h; trace_id_high
 *                    and _low, span_id, parent_span_id, op_name), which Trace Compass's OpenTracing
 *                    views read, and its C++ client, which tells of parent_id and trace_id
 */
#include "layout/tables.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define ID(names, member) { names, LQN_FIELD_ID, offsetof(struct lqn_record, span.member), 0 }
#define KEY(names) { names, LQN_FIELD_KEY, offsetof(struct lqn_record, span.message), 0 }
#define I32(names, member) { names, LQN_FIELD_I32, offsetof(struct lqn_record, span.member), 0 }
#define KIND(names) { names, LQN_FIELD_U32, offsetof(struct lqn_record, span.kind), 0 }
#define NAME(names) { names, LQN_FIELD_TEXT, offsetof(struct lqn_record, text), 0 }
/* behind NAME: it goes to the same place */
#define SERVICE(names) { names, LQN_FIELD_SERVICE, offsetof(struct lqn_record, text), 0 }
#define END { NULL, LQN_FIELD_END, 0, 0 }

static const struct lqn_layout_field begin[] = {
	ID("trace_id|trace_id_low|traceId", trace),
	ID("span_id|spanId", span),
	ID("parent_span_id|parent_id|parentSpanId", parent),
	KIND("kind|span_kind"),
	KEY("message_id|messaging_message_id"),
	NAME("name|op_name|operation_name|span_name"),
	SERVICE("service|service_name"),
	END
};

static const struct lqn_layout_field end[] = {
	ID("trace_id|trace_id_low|traceId", trace),
	ID("span_id|spanId", span),
	END
};

static const struct lqn_layout_field file_begin[] = {
	ID("trace_id", trace),
	ID("span_id", span),
	ID("parent_span_id", parent),
	KIND("kind"),
	KEY("message"),
	I32("pid", pid),
	I32("tid", tid),
	NAME("name"),
	SERVICE("service"),
	END
};

static const struct lqn_layout_field file_end[] = {
	ID("trace_id", trace),
	ID("span_id", span),
	I32("pid", pid),
	I32("tid", tid),
	END
};

static const struct lqn_layout_field file_message[] = {
	ID("trace_id", trace),
	ID("span_id", span),
	KEY("message"),
	END
};

static const struct lqn_layout_event spans[] = {
	{ "span:begin", LQN_REC_SPAN_BEGIN, 0, file_begin },
	{ "span:end", LQN_REC_SPAN_END, 0, file_end },
	{ "span:message", LQN_REC_SPAN_MESSAGE, 0, file_message },
	{ "otel:span_start", LQN_REC_SPAN_BEGIN, 0, begin },
	{ "otel:span_end", LQN_REC_SPAN_END, 0, end },
	{ "opentelemetry:start_span", LQN_REC_SPAN_BEGIN, 0, begin },
	{ "opentelemetry:end_span", LQN_REC_SPAN_END, 0, end },
	{ "jaeger_ust:start_span", LQN_REC_SPAN_BEGIN, 0, begin },
	{ "jaeger_ust:end_span", LQN_REC_SPAN_END, 0, end },
};

/* ---- a user's ------------------------------------------------------------ */

/* What can be named, in the order in which fields are read: the service goes behind the name. */
static const struct {
	const char *key;
	struct lqn_layout_field field;		/* without names; kind END: an event */
	bool needed;
} parts[] = {
	{ "begin", END, true },
	{ "end", END, true },
	{ "span", ID(NULL, span), true },
	{ "trace", ID(NULL, trace), false },
	{ "parent", ID(NULL, parent), false },
	{ "kind", KIND(NULL), false },
	{ "message", KEY(NULL), false },
	{ "pid", I32(NULL, pid), false },
	{ "tid", I32(NULL, tid), false },
	{ "name", NAME(NULL), false },
	{ "service", SERVICE(NULL), false },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

struct lqn_span_layout {
	char *values[PARTS];			/* owned */
	struct lqn_layout_event begin, end;
	struct lqn_layout_field fields[PARTS];
};

void lqn_span_layout_free(struct lqn_span_layout *layout)
{
	for (size_t i = 0; layout && i < PARTS; i++) {
		g_free(layout->values[i]);
	}
	g_free(layout);
}

/* Takes `key=value`; what is wrong with it, or NULL. */
static char *take_part(struct lqn_span_layout *layout, const char *text)
{
	const char *equals = strchr(text, '=');

	for (size_t i = 0; equals && i < PARTS; i++) {
		if (strlen(parts[i].key) != (size_t) (equals - text) ||
				strncmp(parts[i].key, text, (size_t) (equals - text)) != 0) {
			continue;
		}
		if (equals[1] == '\0') {
			return g_strdup_printf("`%s` names nothing", text);
		}
		if (layout->values[i]) {
			return g_strdup_printf("`%s` is there twice", parts[i].key);
		}
		layout->values[i] = g_strdup(equals + 1);
		return NULL;
	}
	return g_strdup_printf("`%s` is not `begin`, `end`, `span`, `trace`, `parent`, `name`, "
		"`service`, `kind`, `message`, `pid` or `tid`, an equals sign, and a name", text);
}

static char *take_parts(struct lqn_span_layout *layout, const char *text)
{
	char **words = g_strsplit(text, ",", -1), *problem = NULL;

	for (char **word = words; *word && !problem; word++) {
		problem = take_part(layout, *word);
	}
	g_strfreev(words);
	for (size_t i = 0; i < PARTS && !problem; i++) {
		if (parts[i].needed && !layout->values[i]) {
			problem = g_strdup_printf("`%s` is missing", parts[i].key);
		}
	}
	return problem;
}

struct lqn_span_layout *lqn_span_layout_new(const char *text, char **problem)
{
	struct lqn_span_layout *layout = g_new0(struct lqn_span_layout, 1);
	size_t n = 0;

	*problem = take_parts(layout, text);
	if (*problem) {
		lqn_span_layout_free(layout);
		return NULL;
	}
	for (size_t i = 0; i < PARTS; i++) {
		if (layout->values[i] && parts[i].field.kind != LQN_FIELD_END) {
			layout->fields[n] = parts[i].field;
			layout->fields[n++].names = layout->values[i];
		}
	}
	layout->fields[n] = (struct lqn_layout_field) END;
	layout->begin = (struct lqn_layout_event) { layout->values[0], LQN_REC_SPAN_BEGIN, 0,
		layout->fields };
	layout->end = (struct lqn_layout_event) { layout->values[1], LQN_REC_SPAN_END, 0,
		layout->fields };
	return layout;
}

const struct lqn_layout_event *lqn_layout_find_span(const struct lqn_span_layout *own,
	const char *name)
{
	if (own && strcmp(own->begin.name, name) == 0) {
		return &own->begin;
	}
	if (own && strcmp(own->end.name, name) == 0) {
		return &own->end;
	}
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		if (strcmp(spans[i].name, name) == 0) {
			return &spans[i];
		}
	}
	return NULL;
}
