/* SPDX-License-Identifier: MIT */

/*
 * OpenTelemetry's file exporter writes an ExportTraceServiceRequest a line, Jaeger one object in all. Both hold their spans
 * in arrays of objects at a place that the keys around them name; what stands elsewhere is passed over.
 *
 * A line that was cut off leaves its brackets open. `resourceSpans` stands nowhere but in the outermost object: where it
 * is met within another, a new document has begun. No string goes over the end of a line.
 */
#include "spans/scan.h"

#include <glib.h>
#include <string.h>

#define DEPTH_MAX 64	/* levels whose place is known; neither format nests half as deep */
#define KEY_MAX 40

/* What a bracket holds, by where it stands. */
enum place {
	OTHER,
	TOP,			/* outside of all brackets, or in an array there */
	DOCUMENT,
	RESOURCE_SPANS,		/* OTLP's array, and */
	RESOURCE_SPAN,		/* an element of it: a group */
	RESOURCE,
	SCOPE_SPANS,
	SCOPE_SPAN,
	OTLP_SPANS,
	OTLP_SPAN,
	DATA,			/* Jaeger's array, and */
	JAEGER_TRACE,		/* an element of it: a group */
	JAEGER_SPANS,
	JAEGER_SPAN,
	PROCESSES,
};

static const struct {
	enum place parent;
	const char *key;	/* NULL: an element of an array */
	enum place place;
} places[] = {
	{ TOP, NULL, DOCUMENT },
	{ DOCUMENT, "resourceSpans", RESOURCE_SPANS },
	{ DOCUMENT, "resource_spans", RESOURCE_SPANS },
	{ RESOURCE_SPANS, NULL, RESOURCE_SPAN },
	{ RESOURCE_SPAN, "resource", RESOURCE },
	{ RESOURCE_SPAN, "scopeSpans", SCOPE_SPANS },
	{ RESOURCE_SPAN, "scope_spans", SCOPE_SPANS },
	/* until version 0.15 of the protocol */
	{ RESOURCE_SPAN, "instrumentationLibrarySpans", SCOPE_SPANS },
	{ RESOURCE_SPAN, "instrumentation_library_spans", SCOPE_SPANS },
	{ SCOPE_SPANS, NULL, SCOPE_SPAN },
	{ SCOPE_SPAN, "spans", OTLP_SPANS },
	{ OTLP_SPANS, NULL, OTLP_SPAN },
	{ DOCUMENT, "data", DATA },
	{ DATA, NULL, JAEGER_TRACE },
	{ JAEGER_TRACE, "spans", JAEGER_SPANS },
	{ JAEGER_SPANS, NULL, JAEGER_SPAN },
	{ JAEGER_TRACE, "processes", PROCESSES },
};

static const enum lqn_scan_part parts[] = {
	[RESOURCE] = LQN_SCAN_OTLP_RESOURCE,
	[OTLP_SPAN] = LQN_SCAN_OTLP_SPAN,
	[JAEGER_SPAN] = LQN_SCAN_JAEGER_SPAN,
	[PROCESSES] = LQN_SCAN_JAEGER_PROCESSES,
};

struct lqn_scan {
	struct lqn_scan_listener listener;
	enum place levels[DEPTH_MAX];
	uint32_t depth;
	uint32_t line;
	bool in_string, escaped;
	bool known, foreign, begun;
	size_t key_len;
	char key[KEY_MAX];		/* of the string that is open, or was last */
	enum lqn_scan_part capturing;
	uint32_t capture_depth;		/* of the object that is captured */
	bool too_long;
	GString *text;			/* of it; owned */
};

struct lqn_scan *lqn_scan_new(const struct lqn_scan_listener *listener)
{
	struct lqn_scan *scan = g_new0(struct lqn_scan, 1);

	scan->listener = *listener;
	scan->line = 1;
	scan->text = g_string_new(NULL);
	return scan;
}

void lqn_scan_free(struct lqn_scan *scan)
{
	if (scan) {
		g_string_free(scan->text, TRUE);
		g_free(scan);
	}
}

static enum place place_now(const struct lqn_scan *scan)
{
	if (scan->depth == 0) {
		return TOP;
	}
	return scan->depth > DEPTH_MAX ? OTHER : scan->levels[scan->depth - 1];
}

static enum place place_of(const struct lqn_scan *scan)
{
	enum place parent = place_now(scan);
	const char *key = scan->key_len > 0 ? scan->key : NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
		if (places[i].parent == parent && g_strcmp0(places[i].key, key) == 0) {
			return places[i].place;
		}
	}
	return OTHER;
}

static void end_group(struct lqn_scan *scan)
{
	scan->listener.part(scan->listener.payload, LQN_SCAN_GROUP_END, NULL, 0);
}

/* The document broke off. */
static void cut(struct lqn_scan *scan)
{
	scan->listener.flaw(scan->listener.payload, LQN_SCAN_CUT);
	scan->capturing = LQN_SCAN_NOTHING;
	g_string_truncate(scan->text, 0);
	end_group(scan);
	scan->depth = 0;
	scan->key_len = 0;
}

static void open_bracket(struct lqn_scan *scan, char bracket)
{
	/* an array at the top may hold documents as well as a file does */
	enum place place = scan->depth == 0 && bracket == '[' ? TOP : place_of(scan);

	if (scan->depth < DEPTH_MAX) {
		scan->levels[scan->depth] = place;
	}
	scan->depth++;
	scan->known |= place == RESOURCE_SPANS || place == JAEGER_SPANS;
	if (scan->capturing == LQN_SCAN_NOTHING && scan->depth <= DEPTH_MAX && place < G_N_ELEMENTS(parts) &&
			parts[place] != LQN_SCAN_NOTHING && bracket == '{') {
		scan->capturing = parts[place];
		scan->capture_depth = scan->depth;
		scan->too_long = false;
	}
	scan->key_len = 0;
}

static void close_bracket(struct lqn_scan *scan)
{
	enum place place = place_now(scan);

	if (scan->depth == 0) {
		return;
	}
	if (scan->capturing != LQN_SCAN_NOTHING && scan->depth == scan->capture_depth) {
		enum lqn_scan_part part = scan->capturing;

		scan->capturing = LQN_SCAN_NOTHING;
		if (scan->too_long) {
			scan->listener.flaw(scan->listener.payload, LQN_SCAN_TOO_LONG);
		} else {
			scan->listener.part(scan->listener.payload, part, scan->text->str, scan->text->len);
		}
		g_string_truncate(scan->text, 0);
	}
	scan->depth--;
	if (place == RESOURCE_SPAN || place == JAEGER_TRACE) {
		end_group(scan);
	}
	scan->key_len = 0;
}

/* A key is complete. */
static void check_key(struct lqn_scan *scan)
{
	if ((strcmp(scan->key, "resourceSpans") != 0 && strcmp(scan->key, "resource_spans") != 0) ||
			scan->depth < 2 || place_now(scan) == DOCUMENT) {
		return;
	}
	cut(scan);
	scan->levels[scan->depth++] = DOCUMENT;
	scan->key_len = strlen(scan->key);
}

static void in_string(struct lqn_scan *scan, char c)
{
	if (c == '\n') {
		scan->in_string = scan->escaped = false;
		cut(scan);
	} else if (scan->escaped) {
		scan->escaped = false;
	} else if (c == '\\') {
		scan->escaped = true;
	} else if (c == '"') {
		scan->in_string = false;
		scan->key[scan->key_len] = '\0';
	} else if (scan->key_len < KEY_MAX - 1) {
		scan->key[scan->key_len++] = c;
	}
}

static void outside_string(struct lqn_scan *scan, char c)
{
	switch (c) {
	case '"':
		scan->in_string = true;
		scan->key_len = 0;
		break;
	case '{':
	case '[':
		open_bracket(scan, c);
		break;
	case '}':
	case ']':
		close_bracket(scan);
		break;
	case ':':
		check_key(scan);
		break;
	case ',':
		scan->key_len = 0;	/* it was a value */
		break;
	default:
		break;
	}
}

static void begin(struct lqn_scan *scan, char c)
{
	/* a byte order mark may stand in front */
	if (!g_ascii_isspace(c) && c != '\xef' && c != '\xbb' && c != '\xbf') {
		scan->begun = true;
		scan->foreign = c != '{' && c != '[';
	}
}

/* Keeps bytes of what is captured. */
static void keep(struct lqn_scan *scan, const char *from, const char *to)
{
	if (scan->text->len + (size_t) (to - from) > LQN_SCAN_OBJECT_MAX) {
		scan->too_long = true;
		g_string_truncate(scan->text, 0);
	}
	if (!scan->too_long) {
		g_string_append_len(scan->text, from, to - from);
	}
}

void lqn_scan_feed(struct lqn_scan *scan, const char *bytes, size_t len)
{
	const char *end = bytes + len, *from = scan->capturing != LQN_SCAN_NOTHING ? bytes : NULL;

	for (const char *p = bytes; p < end && !scan->foreign; p++) {
		if (!scan->begun) {
			begin(scan, *p);
		}
		scan->line += *p == '\n';
		if (from && !scan->in_string && (*p == '}' || *p == ']') && scan->depth == scan->capture_depth) {
			keep(scan, from, p + 1);
			from = NULL;
		}
		if (scan->in_string) {
			in_string(scan, *p);
		} else {
			outside_string(scan, *p);
		}
		if (scan->capturing == LQN_SCAN_NOTHING) {
			from = NULL;
		} else if (!from) {
			from = p;
		}
	}
	if (from) {
		keep(scan, from, end);
	}
}

void lqn_scan_end(struct lqn_scan *scan)
{
	if (scan->depth > 0 || scan->in_string) {
		cut(scan);
	}
}

uint32_t lqn_scan_line(const struct lqn_scan *scan)
{
	return scan->line;
}

bool lqn_scan_knows_format(const struct lqn_scan *scan)
{
	return scan->known;
}

bool lqn_scan_is_foreign(const struct lqn_scan *scan)
{
	return scan->foreign;
}

bool lqn_scan_is_empty(const struct lqn_scan *scan)
{
	return !scan->begun;
}
