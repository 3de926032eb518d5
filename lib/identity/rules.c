/* SPDX-License-Identifier: MIT */
#include "identity/rules.h"

#include <fnmatch.h>
#include <string.h>

#include "identity/snapshot.h"

/* Keys that hold patterns, and what of a process they are held against. */
static const struct {
	const char *key;
	size_t offset;		/* into struct lqn_rule_subject */
} conditions[] = {
	{ "host", offsetof(struct lqn_rule_subject, host) },
	{ "comm", offsetof(struct lqn_rule_subject, comm) },
	{ "exe", offsetof(struct lqn_rule_subject, exe) },
	{ "cmdline", offsetof(struct lqn_rule_subject, cmdline) },
	{ "service", offsetof(struct lqn_rule_subject, service) },
	{ "container", offsetof(struct lqn_rule_subject, container) },
};

#define PORT_KEY "port"
#define TASK_KEY "task"
#define IGNORE_KEY "ignore"

struct rule {
	const char *name, *task;			/* interned */
	GStrv patterns[G_N_ELEMENTS(conditions)];	/* owned; NULL: any */
	GArray *ports;					/* uint16_t; owned; NULL: any */
	bool ignore, used;
};

struct lqn_rules {
	GPtrArray *list;		/* struct rule, owned */
};

static void rule_free(gpointer data)
{
	struct rule *rule = data;

	for (size_t i = 0; i < G_N_ELEMENTS(conditions); i++) {
		g_strfreev(rule->patterns[i]);
	}
	g_clear_pointer(&rule->ports, g_array_unref);
	g_free(rule);
}

void lqn_rules_free(struct lqn_rules *rules)
{
	if (rules) {
		g_ptr_array_unref(rules->list);
		g_free(rules);
	}
}

/* ---- places of errors ---- */

/* The line of a group, or of a key within it; key files do not tell. 0: not found. */
static guint line_of(const char *text, const char *group, const char *key)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autofree char *head = g_strdup_printf("[%s]", group);
	bool inside = false;

	for (guint i = 0; lines[i]; i++) {
		const char *line = g_strstrip(lines[i]);

		if (*line == '[') {
			inside = strcmp(line, head) == 0;
			if (inside && !key) {
				return i + 1;
			}
		} else if (inside && key && g_str_has_prefix(line, key)) {
			const char *after = line + strlen(key) + strspn(line + strlen(key), " \t");

			if (*after == '=') {
				return i + 1;
			}
		}
	}
	return 0;
}

/* The first line that makes a text no key file: key files do not tell that either. */
static guint bad_line(const char *text)
{
	guint line = 1;

	for (const char *end = text; *end; end++) {
		g_autoptr(GKeyFile) part = *end == '\n' ? g_key_file_new() : NULL;

		if (part && !g_key_file_load_from_data(part, text, (gsize) (end - text) + 1, G_KEY_FILE_NONE, NULL)) {
			return line;
		}
		line += part != NULL;
	}
	return line;
}

struct reader {
	const char *text, *file, *group;
	GKeyFile *keys;
	GError **error;
};

static bool fail(const struct reader *reader, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(const struct reader *reader, const char *key, const char *format, ...)
{
	g_autofree char *reason = NULL;
	va_list args;

	va_start(args, format);
	reason = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(reader->error, LQN_IDENTITY_ERROR, LQN_IDENTITY_MALFORMED, "%s: line %u: %s", reader->file,
		line_of(reader->text, reader->group, key), reason);
	return false;
}

/* ---- reading ---- */

static bool read_patterns(const struct reader *reader, const char *key, GStrv *patterns)
{
	*patterns = g_key_file_get_string_list(reader->keys, reader->group, key, NULL, NULL);
	for (guint i = 0; *patterns && (*patterns)[i]; i++) {
		g_strstrip((*patterns)[i]);
	}
	return (*patterns && (*patterns)[0]) || fail(reader, key, "`%s` has no pattern", key);
}

static bool read_ports(const struct reader *reader, GArray **ports)
{
	g_auto(GStrv) words = g_key_file_get_string_list(reader->keys, reader->group, PORT_KEY, NULL, NULL);

	*ports = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	for (guint i = 0; words && words[i]; i++) {
		uint64_t number;
		uint16_t port;

		if (!g_ascii_string_to_unsigned(g_strstrip(words[i]), 10, 1, UINT16_MAX, &number, NULL)) {
			return fail(reader, PORT_KEY, "`%s` is no port: 1 to 65535", words[i]);
		}
		port = (uint16_t) number;
		g_array_append_val(*ports, port);
	}
	return (*ports)->len > 0 || fail(reader, PORT_KEY, "`" PORT_KEY "` has no number");
}

static bool read_key(const struct reader *reader, const char *key, struct rule *rule)
{
	if (strcmp(key, PORT_KEY) == 0) {
		return read_ports(reader, &rule->ports);
	}
	if (strcmp(key, TASK_KEY) == 0) {
		g_autofree char *task = g_key_file_get_string(reader->keys, reader->group, key, NULL);

		rule->task = g_intern_string(task ? task : "");
		return *rule->task || fail(reader, key, "`" TASK_KEY "` has no name");
	}
	if (strcmp(key, IGNORE_KEY) == 0) {
		g_autoptr(GError) cause = NULL;

		rule->ignore = g_key_file_get_boolean(reader->keys, reader->group, key, &cause);
		return !cause || fail(reader, key, "`" IGNORE_KEY "` is neither true nor false");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(conditions); i++) {
		if (strcmp(key, conditions[i].key) == 0) {
			return read_patterns(reader, key, &rule->patterns[i]);
		}
	}
	return fail(reader, key, "unknown key `%s`: there are host, comm, exe, cmdline, service, container, port, task, ignore", key);
}

static bool has_condition(const struct rule *rule)
{
	for (size_t i = 0; i < G_N_ELEMENTS(conditions); i++) {
		if (rule->patterns[i]) {
			return true;
		}
	}
	return rule->ports != NULL;
}

static bool read_rule(const struct reader *reader, struct rule *rule)
{
	g_auto(GStrv) keys = g_key_file_get_keys(reader->keys, reader->group, NULL, NULL);

	rule->name = rule->task = g_intern_string(reader->group);
	for (guint i = 0; keys && keys[i]; i++) {
		if (!read_key(reader, keys[i], rule)) {
			return false;
		}
	}
	return has_condition(rule) || fail(reader, NULL, "rule `%s` has no condition: it would match everything", reader->group);
}

struct lqn_rules *lqn_rules_parse(const char *text, const char *file, GError **error)
{
	g_autoptr(GKeyFile) keys = g_key_file_new();
	g_autoptr(GError) cause = NULL;
	g_auto(GStrv) groups = NULL;
	struct lqn_rules *rules;

	if (!g_key_file_load_from_data(keys, text, strlen(text), G_KEY_FILE_NONE, &cause)) {
		g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_MALFORMED, "%s: line %u: %s", file, bad_line(text), cause->message);
		return NULL;
	}
	rules = g_new0(struct lqn_rules, 1);
	rules->list = g_ptr_array_new_with_free_func(rule_free);
	groups = g_key_file_get_groups(keys, NULL);
	for (guint i = 0; groups[i]; i++) {
		struct reader reader = { text, file, groups[i], keys, error };
		struct rule *rule = g_new0(struct rule, 1);

		g_ptr_array_add(rules->list, rule);
		if (!read_rule(&reader, rule)) {
			lqn_rules_free(rules);
			return NULL;
		}
	}
	return rules;
}

struct lqn_rules *lqn_rules_read(const char *file, GError **error)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) cause = NULL;

	if (!g_file_get_contents(file, &text, NULL, &cause)) {
		g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_UNREADABLE, "%s", cause->message);
		return NULL;
	}
	return lqn_rules_parse(text, file, error);
}

/* ---- matching ---- */

static bool matches_text(GStrv patterns, const char *text)
{
	for (guint i = 0; patterns[i]; i++) {
		if (fnmatch(patterns[i], text ? text : "", 0) == 0) {
			return true;
		}
	}
	return false;
}

static bool matches_port(const GArray *wanted, const GArray *ports)
{
	for (guint i = 0; ports && i < ports->len; i++) {
		for (guint k = 0; k < wanted->len; k++) {
			if (g_array_index(ports, uint16_t, i) == g_array_index(wanted, uint16_t, k)) {
				return true;
			}
		}
	}
	return false;
}

static bool matches(const struct rule *rule, const struct lqn_rule_subject *subject)
{
	for (size_t i = 0; i < G_N_ELEMENTS(conditions); i++) {
		const char *const *text = (const void *) ((const char *) subject + conditions[i].offset);

		if (rule->patterns[i] && !matches_text(rule->patterns[i], *text)) {
			return false;
		}
	}
	return !rule->ports || matches_port(rule->ports, subject->ports);
}

struct lqn_rule_result lqn_rules_apply(struct lqn_rules *rules, const struct lqn_rule_subject *subject)
{
	for (guint i = 0; rules && i < rules->list->len; i++) {
		struct rule *rule = rules->list->pdata[i];

		if (matches(rule, subject)) {
			rule->used = true;
			return (struct lqn_rule_result) { rule->ignore ? NULL : rule->task, rule->ignore };
		}
	}
	return (struct lqn_rule_result) { NULL, false };
}

GPtrArray *lqn_rules_unused(const struct lqn_rules *rules)
{
	GPtrArray *names = g_ptr_array_new();

	for (guint i = 0; rules && i < rules->list->len; i++) {
		const struct rule *rule = rules->list->pdata[i];

		if (!rule->used) {
			g_ptr_array_add(names, (gpointer) rule->name);
		}
	}
	return names;
}
