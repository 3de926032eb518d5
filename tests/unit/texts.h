/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_TEXTS_H
#define LQN_TESTS_UNIT_TEXTS_H

/* What a text that was written must be like. */
#include <check.h>
#include <string.h>

#include "write/text.h"

static inline void assert_holds(const GString *text, const char *const *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(
			strstr(text->str, wanted[i]), "missing: %s\nin: %s", wanted[i], text->str);
	}
}

static inline void assert_harmless(const GString *text)
{
	ck_assert_uint_eq(strlen(text->str), text->len);
	ck_assert(g_utf8_validate(text->str, text->len, NULL));
	for (size_t i = 0; i < text->len; i++) {
		ck_assert_msg(!g_ascii_iscntrl(text->str[i]) || text->str[i] == '\n',
			"control character %d at byte %zu", text->str[i], i);
	}
	ck_assert_ptr_null(strstr(text->str, "\u202e"));
}

static inline void assert_narrow(const GString *text, unsigned columns)
{
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);

	for (unsigned i = 0; lines[i]; i++) {
		ck_assert_msg(lqn_text_width(lines[i]) <= columns, "too wide: %s", lines[i]);
		ck_assert_msg(!g_str_has_suffix(lines[i], " "), "blank at the end: %s", lines[i]);
	}
}

#endif
