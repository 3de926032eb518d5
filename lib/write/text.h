/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_TEXT_H
#define LQN_WRITE_TEXT_H

/*
 * Pieces of text for the writers: numbers that do not depend on the locale, names from the trace
 * made harmless, aligned columns, wrapped lines. Widths are columns of a terminal, not bytes.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define LQN_TEXT_NUMBER_SIZE 48

/*
 * Text from the trace as valid UTF-8 that is safe in XML, JSON and on a terminal: control
 * characters, line ends and characters that turn the direction of writing become `?`, broken bytes
 * U+FFFD. NULL gives "". Free with g_free.
 */
char *lqn_text_clean(const char *text);

/* The same, appended. */
void lqn_text_append_clean(GString *out, const char *text);

/* Columns that valid UTF-8 takes. */
unsigned lqn_text_width(const char *text);

/* Like lqn_text_clean, shortened to `width` columns by a `…` at its end. Free with g_free. */
char *lqn_text_clip(const char *text, unsigned width);

/*
 * A value for a solver into `buf` (LQN_TEXT_NUMBER_SIZE bytes), which is returned: nine digits;
 * what solvers do not take (not finite, below 0) is 0.
 */
const char *lqn_text_number(char *buf, double value);

/* A value for people with so many decimals; not finite: `-`. */
void lqn_text_append_fixed(GString *out, double value, unsigned decimals);

/* The same with about three digits: 0.012, 1.23, 12.3, 1234. */
void lqn_text_append_short(GString *out, double value);

/* Nanoseconds as seconds with nine decimals, as `--begin` and `--end` of babeltrace2 take them. */
void lqn_text_append_instant(GString *out, int64_t ns);

/* What stands at the head of both solver forms: lines for comments; char *, owned by the caller. */
struct lqn_model;
GPtrArray *lqn_text_model_head(const struct lqn_model *model);

/*
 * Aligned columns. Cells are filled row by row, from left to right; missing ones at the end are
 * empty. Columns are two spaces apart; blanks at the ends of lines are cut.
 */
struct lqn_table {
	const char *align;		/* one `l` or `r` per column; borrowed */
	unsigned columns;
	GPtrArray *cells;		/* char *, owned */
};

void lqn_table_init(struct lqn_table *table, const char *align);
void lqn_table_clear(struct lqn_table *table);
/* `words` separated by `|`, one per column, as a row. */
void lqn_table_head(struct lqn_table *table, const char *words);
/* Cells: a text, which is cleaned and clipped; values and counts; a clean text that is taken. */
void lqn_table_text(struct lqn_table *table, const char *text, unsigned width);
void lqn_table_fixed(struct lqn_table *table, double value, unsigned decimals);
void lqn_table_short(struct lqn_table *table, double value);
void lqn_table_count(struct lqn_table *table, uint64_t count);
void lqn_table_take(struct lqn_table *table, char *text);
/* Appends the lines; a last column aligned left is wrapped at `, ` to fit `width` (0: is not). */
void lqn_table_print(const struct lqn_table *table, GString *out, unsigned indent, unsigned width);

/*
 * Appends `head` and the parts (char *, clean), separated by `sep`, in lines of at most `width`
 * columns, of which the following ones begin with `indent` blanks. After `lines` lines the rest is
 * `+ N more`.
 */
void lqn_text_wrap(GString *out, const char *head, const GPtrArray *parts, const char *sep,
	unsigned indent, unsigned width, unsigned lines);

#endif
