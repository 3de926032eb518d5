/* SPDX-License-Identifier: MIT */
#include "write/summary.h"

#include "write/text.h"

char *lqn_summary_sentence(const char *format, const double *values)
{
	GString *out = g_string_new(NULL);

	for (const char *p = format; *p; p++) {
		if (*p != '#' && *p != '@') {
			g_string_append_c(out, *p);
			continue;
		}
		if (*values < 0) {
			g_string_append_c(out, '?');
		} else if (*p == '@') {
			lqn_text_append_fixed(out, *values, 0);
		} else {
			lqn_text_append_short(out, *values);
		}
		values++;
	}
	return g_string_free(out, FALSE);
}

GPtrArray *lqn_summary_parts_new(void)
{
	return g_ptr_array_new_with_free_func(g_free);
}

void lqn_summary_add(GPtrArray *parts, const char *name, const char *format, const double *values)
{
	g_autofree char *clean = lqn_text_clip(name, LQN_SUMMARY_NAME);
	g_autofree char *text = lqn_summary_sentence(format, values);

	g_ptr_array_add(parts, g_strconcat(clean, " ", text, NULL));
}

void lqn_summary_print(GString *out, const char *label, GPtrArray *parts, const char *sep, unsigned lines)
{
	g_autofree char *head = g_strdup_printf("%-*s", LQN_SUMMARY_INDENT, label);

	if (parts->len) {
		lqn_text_wrap(out, head, parts, sep, LQN_SUMMARY_INDENT, LQN_SUMMARY_WIDTH, lines);
	}
	g_ptr_array_unref(parts);
}

void lqn_summary_words(GString *out, const char *label, const char *text, unsigned lines)
{
	g_autofree char *clean = lqn_text_clean(text);
	g_auto(GStrv) words = g_strsplit(clean, " ", -1);
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; words[i]; i++) {
		g_ptr_array_add(parts, g_strdup(words[i]));
	}
	lqn_summary_print(out, label, parts, " ", lines);
}

void lqn_summary_more(GString *out, unsigned indent, unsigned all, unsigned shown,
	const char *what)
{
	if (all > shown) {
		g_string_append_printf(
			out, "%*s+ %u more %s\n", (int) indent, "", all - shown, what);
	}
}
