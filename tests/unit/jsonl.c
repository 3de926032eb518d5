/* SPDX-License-Identifier: MIT */
#include "jsonl.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "layout/layout.h"

struct kept {
	struct lqn_event ev;	/* strings interned */
	const char *host;
};

struct host {
	struct jsonl *jsonl;
	const char *name;	/* interned */
	struct lqn_causal *engine;
	unsigned number;	/* in the analysis */
	int64_t end;
};

struct jsonl {
	struct lqn_analysis *analysis;
	GPtrArray *hosts;	/* struct host, owned */
	GArray *events;		/* struct kept */
};

/* ---- what comes out ---- */

static void keep(void *payload, const struct lqn_event *ev)
{
	const struct host *host = payload;
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) ev->type);
	struct kept kept = { *ev, host->name };

	for (size_t i = 0; i < class->n_fields; i++) {
		if (class->fields[i].kind == LQN_EVF_STRING) {
			const char **text = (const char **) (void *) ((char *) &kept.ev +
				class->fields[i].offset);

			*text = g_intern_string(*text);
		}
	}
	g_array_append_val(host->jsonl->events, kept);
	if (host->jsonl->analysis) {
		lqn_analysis_event(host->jsonl->analysis, host->number, ev);
	}
}

static int64_t number_of(const struct lqn_event *ev, const struct lqn_event_field *field)
{
	const void *at = (const char *) ev + field->offset;

	switch (field->kind) {
	case LQN_EVF_U64:
	case LQN_EVF_I64:
	case LQN_EVF_TIME:
		return *(const int64_t *) at;
	case LQN_EVF_I32:
		return *(const int32_t *) at;
	default:
		return *(const uint32_t *) at;
	}
}

static bool field_is(
	const struct lqn_event *ev, const struct lqn_event_field *field, struct json_object *value)
{
	const char *text = json_object_is_type(value, json_type_string) ?
		json_object_get_string(value) :
		NULL;

	if (field->kind == LQN_EVF_STRING) {
		return g_strcmp0(*(const char *const *) (const void *) ((const char *) ev +
					 field->offset),
			       text) == 0;
	}
	if (text) {
		return field->label &&
			g_strcmp0(field->label((uint32_t) number_of(ev, field)), text) == 0;
	}
	return number_of(ev, field) == json_object_get_int64(value);
}

static bool is_like(const struct kept *kept, struct json_object *pattern)
{
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) kept->ev.type);

	json_object_object_foreach(pattern, name, value) {
		const char *wanted = json_object_get_string(value);
		size_t i = 0;

		if (strcmp(name, "class") == 0) {
			if (strcmp(wanted, class->name + strlen("lqn:")) != 0) {
				return false;
			}
			continue;
		}
		if (strcmp(name, "host") == 0) {
			if (strcmp(wanted, kept->host) != 0) {
				return false;
			}
			continue;
		}
		while (i < class->n_fields && strcmp(class->fields[i].name, name) != 0) {
			i++;
		}
		if (i == class->n_fields) {
			g_error("%s has no field %s", class->name, name);
		}
		if (!field_is(&kept->ev, &class->fields[i], value)) {
			return false;
		}
	}
	return true;
}

unsigned jsonl_count(const struct jsonl *jsonl, struct json_object *pattern)
{
	struct json_object *class;
	unsigned n = 0;

	if (!json_object_object_get_ex(pattern, "class", &class)) {
		g_error("a pattern without class: %s", json_object_to_json_string(pattern));
	}
	for (guint i = 0; i < jsonl->events->len; i++) {
		const struct kept *kept = &g_array_index(jsonl->events, struct kept, i);

		/* other classes have other fields */
		if (strcmp(lqn_event_class((enum lqn_event_type) kept->ev.type)->name +
				    strlen("lqn:"),
			    json_object_get_string(class)) == 0) {
			n += is_like(kept, pattern);
		}
	}
	return n;
}

/* ---- what goes in ---- */

static struct host *host_of(struct jsonl *jsonl, const char *name, const char *release)
{
	struct host *host;

	for (guint i = 0; i < jsonl->hosts->len; i++) {
		host = jsonl->hosts->pdata[i];
		if (strcmp(host->name, name) == 0) {
			return host;
		}
	}
	host = g_new0(struct host, 1);
	host->jsonl = jsonl;
	host->name = g_intern_string(name);
	host->number = jsonl->analysis ? lqn_analysis_host(jsonl->analysis, name) : 0;
	g_ptr_array_add(jsonl->hosts, host);
	host->engine = lqn_causal_new(name, release, keep, host);
	return host;
}

static struct json_object *member(struct json_object *object, const char *names)
{
	g_auto(GStrv) list = g_strsplit(names, "|", -1);
	struct json_object *value = NULL;

	for (size_t i = 0; object && list[i]; i++) {
		if (json_object_object_get_ex(object, list[i], &value)) {
			return value;
		}
	}
	return NULL;
}

static int64_t integer(struct json_object *object, const char *name, int64_t other)
{
	struct json_object *value = member(object, name);

	return value ? json_object_get_int64(value) : other;
}

static void store_text(struct json_object *value, char *to, size_t size)
{
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < MIN(size, json_object_array_length(value)); i++) {
			to[i] = (char) json_object_get_int(json_object_array_get_idx(value, i));
		}
	} else {
		strncpy(to, json_object_get_string(value), size);
	}
}

static uint64_t address(struct json_object *ip, const char *name)
{
	struct json_object *value = member(ip, name);
	unsigned a, b, c, d;

	if (!value || sscanf(json_object_get_string(value), "%u.%u.%u.%u", &a, &b, &c, &d) != 4) {
		return 0;
	}
	return (uint64_t) a << 24 | b << 16 | c << 8 | d;
}

#define TCP 6
#define HEADERS 40	/* of IP and TCP, without options */

static void store_packet(struct json_object *fields, struct lqn_record *rec)
{
	struct json_object *ip = member(fields, "ip"), *tcp = member(fields, "tcp");

	rec->packet.saddr = address(ip, "saddr");
	rec->packet.daddr = address(ip, "daddr");
	rec->packet.protocol = tcp ? TCP : 0;
	rec->packet.header = HEADERS;
	rec->packet.sport = (uint16_t) integer(tcp, "sport", 0);
	rec->packet.dport = (uint16_t) integer(tcp, "dport", 0);
	rec->packet.seq = (uint32_t) integer(tcp, "seq", 0);
	rec->packet.flags = (uint8_t) integer(tcp, "flags", 0);
}

static void store(
	struct json_object *fields, const struct lqn_layout_field *field, struct lqn_record *rec)
{
	struct json_object *value = field->names ? member(fields, field->names) : NULL;
	void *to = (char *) rec + field->offset;

	if (field->kind == LQN_FIELD_PACKET) {
		store_packet(fields, rec);
		return;
	}
	if (!value) {
		return;
	}
	switch (field->kind) {
	case LQN_FIELD_I32:
	case LQN_FIELD_U32:
		*(uint32_t *) to = (uint32_t) json_object_get_int64(value);
		break;
	case LQN_FIELD_64:
		*(int64_t *) to = json_object_get_int64(value);
		break;
	case LQN_FIELD_COMM:
		store_text(value, to, LQN_COMM_LEN);
		break;
	case LQN_FIELD_TEXT:
		rec->text = g_strdup(json_object_get_string(value));
		break;
	case LQN_FIELD_FDS:
		for (size_t i = 0;
			i < json_object_array_length(value) && rec->exit.n_fds < LQN_RECORD_FDS;
			i++) {
			rec->exit.fd[rec->exit.n_fds++] = json_object_get_int(
				json_object_array_get_idx(value, i));
		}
		break;
	default:
		break;
	}
}

static void take(struct jsonl *jsonl, struct json_object *line, const char *release)
{
	struct host *host = host_of(jsonl, json_object_get_string(member(line, "host")), release);
	const char *name = json_object_get_string(member(line, "name"));
	struct json_object *fields = member(line, "fields");
	const struct lqn_layout_event *layout = lqn_layout_find(name);
	struct lqn_record rec;
	int64_t ts = integer(line, "ts", -1);

	host->end = MAX(host->end, ts);
	if (strcmp(name, "__discarded__") == 0) {
		lqn_causal_lost(host->engine, (int32_t) integer(line, "cpu", -1), ts,
			integer(line, "end", ts), (uint64_t) integer(line, "count", 1));
		return;
	}
	lqn_record_init(&rec, layout);
	rec.ts = ts;
	rec.name = g_intern_string(name);
	rec.cpu = (int32_t) integer(line, "cpu", -1);
	rec.tid = (int32_t) integer(line, "tid", -1);
	for (const struct lqn_layout_field *f = layout ? layout->fields : NULL;
		f && f->kind != LQN_FIELD_END; f++) {
		store(fields, f, &rec);
	}
	lqn_causal_push(host->engine, &rec);
}

static void free_host(gpointer data)
{
	struct host *host = data;

	lqn_causal_free(host->engine);
	g_free(host);
}

struct jsonl *jsonl_read(const char *path, const char *release, struct lqn_analysis *analysis)
{
	struct jsonl *jsonl = g_new0(struct jsonl, 1);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	jsonl->analysis = analysis;
	jsonl->hosts = g_ptr_array_new_with_free_func(free_host);
	jsonl->events = g_array_new(FALSE, FALSE, sizeof(struct kept));
	if (!g_file_get_contents(path, &text, NULL, NULL)) {
		g_error("cannot read %s", path);
	}
	lines = g_strsplit(text, "\n", -1);
	for (size_t i = 0; lines[i]; i++) {
		struct json_object *line;

		if (!*lines[i]) {
			continue;
		}
		line = json_tokener_parse(lines[i]);
		if (!line) {
			g_error("%s:%zu: no JSON", path, i + 1);
		}
		take(jsonl, line, release);
		json_object_put(line);
	}
	for (guint i = 0; i < jsonl->hosts->len; i++) {
		struct host *host = jsonl->hosts->pdata[i];

		lqn_causal_finish(host->engine, host->end);
	}
	return jsonl;
}

void jsonl_free(struct jsonl *jsonl)
{
	g_ptr_array_free(jsonl->hosts, TRUE);
	g_array_free(jsonl->events, TRUE);
	g_free(jsonl);
}
