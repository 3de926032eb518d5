/* SPDX-License-Identifier: MIT */
#include "spans/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "spans/parse.h"
#include "spans/scan.h"

#define CHUNK 65536
#define LOOK 4096		/* bytes by which a file is recognized */
#define NESTING_MAX 64		/* of the objects that are parsed */

G_DEFINE_QUARK(lqn-spans-error, lqn_spans_error)

struct reader {
	struct lqn_span_place place;
	struct lqn_scan *scan;		/* owned */
	json_tokener *tokener;		/* owned */
	guint group;			/* index of the group's first span */
	struct lqn_file_span resource;	/* of the group */
	bool has_resource;
	GPtrArray *processes;		/* Jaeger: id of each span's process in the group; NULL: none; owned */
	json_object *by_id;		/* Jaeger: the group's processes; owned; NULL: not met */
};

static struct lqn_file_span *span_at(struct reader *reader, guint index)
{
	return &g_array_index(reader->place.set->spans, struct lqn_file_span, index);
}

/* What a process of the group says of its spans; `origins` holds those that were asked for. */
static const struct lqn_file_span *process_of(struct reader *reader, GHashTable *origins, const char *id)
{
	struct lqn_file_span *origin = g_hash_table_lookup(origins, id);

	if (!origin) {
		origin = g_new0(struct lqn_file_span, 1);
		lqn_jaeger_process(&reader->place, lqn_json_member(reader->by_id, id, NULL), origin);
		g_hash_table_insert(origins, (gpointer) id, origin);
	}
	return origin;
}

/* A group has ended: what its spans belong to is known. */
static void end_group(struct reader *reader)
{
	struct lqn_span_set *set = reader->place.set;
	g_autoptr(GHashTable) origins = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);

	for (guint i = reader->group; i < set->spans->len; i++) {
		const char *id = i - reader->group < reader->processes->len ?
			reader->processes->pdata[i - reader->group] : NULL;
		const struct lqn_file_span *origin = reader->has_resource ? &reader->resource : NULL;

		if (id && reader->by_id) {
			origin = process_of(reader, origins, id);
		}
		if (origin) {
			lqn_span_inherit(span_at(reader, i), origin);
		}
	}
	reader->group = set->spans->len;
	reader->has_resource = false;
	g_ptr_array_set_size(reader->processes, 0);
	json_object_put(reader->by_id);
	reader->by_id = NULL;
}

/* A new object, or NULL after counting why not. */
static json_object *parse(struct reader *reader, const char *text, size_t len)
{
	json_object *object;

	json_tokener_reset(reader->tokener);
	object = json_tokener_parse_ex(reader->tokener, text, (int) len);
	if (!object) {
		lqn_span_place_flaw(&reader->place, LQN_FLAW_SYNTAX);
	}
	return object;
}

static void on_part(void *payload, enum lqn_scan_part part, const char *text, size_t len)
{
	struct reader *reader = payload;
	json_object *object;
	const char *process;

	reader->place.line = lqn_scan_line(reader->scan);
	if (part == LQN_SCAN_GROUP_END) {
		end_group(reader);
		return;
	}
	object = parse(reader, text, len);
	if (!object) {
		return;
	}
	switch (part) {
	case LQN_SCAN_OTLP_RESOURCE:
		lqn_otlp_resource(&reader->place, object, &reader->resource);
		reader->has_resource = true;
		break;
	case LQN_SCAN_OTLP_SPAN:
		lqn_otlp_span(&reader->place, object);
		break;
	case LQN_SCAN_JAEGER_SPAN:
		if (lqn_jaeger_span(&reader->place, object, &process)) {
			g_ptr_array_add(reader->processes, (gpointer) process);
		}
		break;
	case LQN_SCAN_JAEGER_PROCESSES:
		json_object_put(reader->by_id);
		reader->by_id = json_object_get(object);
		break;
	default:
		break;
	}
	json_object_put(object);
}

static void on_flaw(void *payload, enum lqn_scan_flaw flaw)
{
	struct reader *reader = payload;

	reader->place.line = lqn_scan_line(reader->scan);
	lqn_span_place_flaw(&reader->place, flaw == LQN_SCAN_CUT ? LQN_FLAW_CUT : LQN_FLAW_TOO_LONG);
}

static void reader_init(struct reader *reader, struct lqn_span_set *set, const char *name)
{
	const struct lqn_scan_listener listener = { on_part, on_flaw, reader };

	*reader = (struct reader) { .place = { set, MIN(set->files->len, UINT16_MAX), 0 }, .group = set->spans->len };
	g_ptr_array_add(set->files, g_strdup(name));
	reader->scan = lqn_scan_new(&listener);
	reader->tokener = json_tokener_new_ex(NESTING_MAX);
	reader->processes = g_ptr_array_new();
}

static void reader_clear(struct reader *reader)
{
	json_object_put(reader->by_id);
	g_ptr_array_free(reader->processes, TRUE);
	json_tokener_free(reader->tokener);
	lqn_scan_free(reader->scan);
}

/* The end of the file; false if it was none of spans. */
static bool reader_end(struct reader *reader, const char *name, GError **error)
{
	if (!lqn_scan_knows_format(reader->scan) && !lqn_scan_is_empty(reader->scan)) {
		g_set_error(error, LQN_SPANS_ERROR, LQN_SPANS_FOREIGN,
			"`%s` is no file of spans: neither OTLP JSON (objects with `resourceSpans`) nor a Jaeger export "
			"(an object with `data`, traces with `spans` in it)", name);
		return false;
	}
	lqn_scan_end(reader->scan);
	return true;
}

bool lqn_spans_read_bytes(struct lqn_span_set *set, const char *name, const char *bytes, size_t len, GError **error)
{
	struct reader reader;
	bool ok;

	reader_init(&reader, set, name);
	lqn_scan_feed(reader.scan, bytes, len);
	ok = reader_end(&reader, name, error);
	reader_clear(&reader);
	return ok;
}

static bool fail_read(const char *path, GError **error)
{
	g_set_error(error, LQN_SPANS_ERROR, LQN_SPANS_NOT_READ, "Cannot read `%s`: %s", path, g_strerror(errno));
	return false;
}

bool lqn_spans_read_file(struct lqn_span_set *set, const char *path, GError **error)
{
	FILE *file = fopen(path, "rb");
	g_autofree char *chunk = g_malloc(CHUNK);
	struct reader reader;
	size_t n;
	bool ok;

	if (!file) {
		return fail_read(path, error);
	}
	reader_init(&reader, set, path);
	while (!lqn_scan_is_foreign(reader.scan) && (n = fread(chunk, 1, CHUNK, file)) > 0) {
		lqn_scan_feed(reader.scan, chunk, n);
	}
	ok = ferror(file) ? fail_read(path, error) : reader_end(&reader, path, error);
	reader_clear(&reader);
	fclose(file);
	return ok;
}

/* ---- recognition ---- */

static void ignore_part(void *payload, enum lqn_scan_part part, const char *text, size_t len)
{
}

static void ignore_flaw(void *payload, enum lqn_scan_flaw flaw)
{
}

bool lqn_spans_are_here(const char *path)
{
	const struct lqn_scan_listener listener = { ignore_part, ignore_flaw, NULL };
	FILE *file = fopen(path, "rb");
	char bytes[LOOK];
	struct lqn_scan *scan;
	bool here;

	if (!file) {
		return false;
	}
	scan = lqn_scan_new(&listener);
	lqn_scan_feed(scan, bytes, fread(bytes, 1, sizeof(bytes), file));
	here = lqn_scan_knows_format(scan);
	lqn_scan_free(scan);
	fclose(file);
	return here;
}
