/* SPDX-License-Identifier: MIT */

/* Names that the solvers take, in both of their forms: [A-Za-z_][A-Za-z0-9_]+, each once. */
#include "build.h"

#define NAME_MAX_BYTES 100

const char *lqn_build_name(struct lqn_build *build, const char *wanted)
{
	GString *name = g_string_new(NULL);
	gsize length;

	for (const char *c = wanted; *c && name->len < NAME_MAX_BYTES; c++) {
		g_string_append_c(name, g_ascii_isalnum(*c) || *c == '_' ? *c : '_');
	}
	if (name->len == 0 || g_ascii_isdigit(name->str[0])) {
		g_string_prepend_c(name, '_');
	}
	if (name->len < 2) {
		g_string_append_c(name, '_');
	}
	length = name->len;
	for (unsigned n = 2; g_hash_table_contains(build->names, name->str); n++) {
		g_string_truncate(name, length);
		g_string_append_printf(name, "_%u", n);
	}
	{
		const char *interned = g_intern_string(name->str);

		g_string_free(name, TRUE);
		g_hash_table_add(build->names, (gpointer) interned);
		return interned;
	}
}
