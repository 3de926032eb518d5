/* SPDX-License-Identifier: MIT */
#include "write/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/model.h"

static bool is_harmless(gunichar c)
{
	switch (g_unichar_type(c)) {
	case G_UNICODE_CONTROL:
	case G_UNICODE_FORMAT:			/* among them the ones that turn the direction */
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
	case G_UNICODE_SURROGATE:
	case G_UNICODE_UNASSIGNED:		/* among them U+FFFE, no character of XML */
		return false;
	default:
		return true;
	}
}

char *lqn_text_clean(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
	GString *out = g_string_sized_new(strlen(valid));

	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		g_string_append_unichar(out, is_harmless(c) ? c : '?');
	}
	return g_string_free(out, FALSE);
}

void lqn_text_append_clean(GString *out, const char *text)
{
	g_autofree char *clean = lqn_text_clean(text);

	g_string_append(out, clean);
}

static unsigned char_width(gunichar c)
{
	if (g_unichar_iszerowidth(c)) {
		return 0;
	}
	return g_unichar_iswide(c) ? 2 : 1;
}

unsigned lqn_text_width(const char *text)
{
	unsigned width = 0;

	for (const char *p = text; *p; p = g_utf8_next_char(p)) {
		width += char_width(g_utf8_get_char(p));
	}
	return width;
}

/* Shortens clean text in its place. */
static char *clip(char *text, unsigned width)
{
	unsigned have = 0;
	const char *p = text;
	GString *out;

	if (lqn_text_width(text) <= width) {
		return text;
	}
	while (*p && have + char_width(g_utf8_get_char(p)) < width) {
		have += char_width(g_utf8_get_char(p));
		p = g_utf8_next_char(p);
	}
	out = g_string_new_len(text, p - text);
	g_string_append(out, "…");
	g_free(text);
	return g_string_free(out, FALSE);
}

char *lqn_text_clip(const char *text, unsigned width)
{
	return clip(lqn_text_clean(text), width);
}

const char *lqn_text_number(char *buf, double value)
{
	if (!isfinite(value) || value <= 0) {
		value = 0;
	}
	return g_ascii_formatd(buf, LQN_TEXT_NUMBER_SIZE, "%.9g", value);
}

void lqn_text_append_fixed(GString *out, double value, unsigned decimals)
{
	static const char *const formats[] = { "%.0f", "%.1f", "%.2f", "%.3f", "%.4f", "%.6f" };
	char buf[400];				/* room for DBL_MAX */

	g_assert(decimals < G_N_ELEMENTS(formats));
	if (!isfinite(value)) {
		g_string_append(out, "-");
		return;
	}
	g_string_append(out, g_ascii_formatd(buf, sizeof(buf), formats[decimals], value));
}

void lqn_text_append_short(GString *out, double value)
{
	static const struct {
		double below;
		unsigned decimals;
	} steps[] = { { 0.9995, 3 }, { 9.995, 2 }, { 99.95, 1 } };

	for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
		if (fabs(value) < steps[i].below) {
			lqn_text_append_fixed(out, value, steps[i].decimals);
			return;
		}
	}
	lqn_text_append_fixed(out, value, 0);
}

void lqn_text_append_instant(GString *out, int64_t ns)
{
	uint64_t magnitude = ns < 0 ? -(uint64_t) ns : (uint64_t) ns;

	g_string_append_printf(out, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
		magnitude / 1000000000u, magnitude % 1000000000u);
}

static void add_line(GPtrArray *lines, const char *text)
{
	g_ptr_array_add(lines, lqn_text_clean(text));
}

GPtrArray *lqn_text_model_head(const struct lqn_model *model)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	GString *window = g_string_new("Window: ");

	add_line(lines, "Layered queueing network, extracted from a trace by lqn. "
		"All times are seconds, all rates per second.");
	if (model->partial) {
		g_autofree char *partial = g_strdup_printf("PARTIAL: %s; this is of what had come by "
			"then", model->partial);

		add_line(lines, partial);
	}
	lqn_text_append_instant(window, model->window_ns);
	g_string_append(window, model->windows->len > 0 ? " s between " : " s, from ");
	lqn_text_append_instant(window, model->window_begin);
	g_string_append(window, model->windows->len > 0 ? " and " : " to ");
	lqn_text_append_instant(window, model->window_end);
	if (model->window_reason) {
		g_string_append_printf(window, " (%s)", model->window_reason);
	}
	add_line(lines, window->str);
	g_string_free(window, TRUE);
	for (unsigned i = 0; i < model->notes->len; i++) {
		g_autofree char *note = g_strconcat("Note: ",
			(const char *) g_ptr_array_index(model->notes, i), NULL);

		add_line(lines, note);
	}
	return lines;
}

void lqn_table_init(struct lqn_table *table, const char *align)
{
	table->align = align;
	table->columns = strlen(align);
	table->cells = g_ptr_array_new_with_free_func(g_free);
}

void lqn_table_clear(struct lqn_table *table)
{
	g_ptr_array_unref(table->cells);
}

void lqn_table_take(struct lqn_table *table, char *text)
{
	g_ptr_array_add(table->cells, text);
}

void lqn_table_head(struct lqn_table *table, const char *words)
{
	g_auto(GStrv) cells = g_strsplit(words, "|", -1);

	g_assert(g_strv_length(cells) == table->columns);
	for (unsigned i = 0; i < table->columns; i++) {
		lqn_table_take(table, g_strdup(cells[i]));
	}
}

void lqn_table_text(struct lqn_table *table, const char *text, unsigned width)
{
	lqn_table_take(table, lqn_text_clip(text, width));
}

void lqn_table_fixed(struct lqn_table *table, double value, unsigned decimals)
{
	GString *cell = g_string_new(NULL);

	lqn_text_append_fixed(cell, value, decimals);
	lqn_table_take(table, g_string_free(cell, FALSE));
}

void lqn_table_short(struct lqn_table *table, double value)
{
	GString *cell = g_string_new(NULL);

	lqn_text_append_short(cell, value);
	lqn_table_take(table, g_string_free(cell, FALSE));
}

void lqn_table_count(struct lqn_table *table, uint64_t count)
{
	lqn_table_take(table, g_strdup_printf("%" PRIu64, count));
}

static void append_blanks(GString *out, unsigned count)
{
	g_string_append_printf(out, "%*s", (int) count, "");
}

static void trim_line(GString *out)
{
	while (out->len && out->str[out->len - 1] == ' ') {
		g_string_truncate(out, out->len - 1);
	}
}

void lqn_text_wrap(GString *out, const char *head, const GPtrArray *parts, const char *sep,
	unsigned indent, unsigned width, unsigned lines)
{
	const unsigned more = 10;		/* room for `+ 123 more` */
	unsigned at = lqn_text_width(head), line = 1;
	bool first = true;			/* on its line */

	g_string_append(out, head);
	for (unsigned i = 0; i < parts->len; i++) {
		const char *part = g_ptr_array_index(parts, i);
		const char *after = i + 1 < parts->len ? sep : "";
		unsigned need = lqn_text_width(part) + lqn_text_width(after);
		unsigned keep = line == lines && i + 1 < parts->len ? more : 0;
		g_autofree char *clipped = NULL;
		unsigned room;

		if (!first && at + need + keep > width) {
			if (line == lines) {
				g_string_append_printf(out, "+ %u more", parts->len - i);
				break;
			}
			trim_line(out);
			g_string_append_c(out, '\n');
			append_blanks(out, indent);
			at = indent;
			line++;
			keep = line == lines && i + 1 < parts->len ? more : 0;
		}
		/* shortened if it does not fit a line of its own, but never to nothing */
		room = MAX(width, at + keep + lqn_text_width(after) + 8) - at - keep -
			lqn_text_width(after);
		clipped = clip(g_strdup(part), room);
		g_string_append(out, clipped);
		g_string_append(out, after);
		at += lqn_text_width(clipped) + lqn_text_width(after);
		first = false;
	}
	trim_line(out);
	g_string_append_c(out, '\n');
}

/* The parts of a list, to be wrapped. */
static void print_list(GString *out, const char *before, const char *cell, unsigned indent,
	unsigned width)
{
	g_auto(GStrv) parts = g_strsplit(cell, ", ", -1);
	GPtrArray *list = g_ptr_array_new();

	for (unsigned i = 0; parts[i]; i++) {
		g_ptr_array_add(list, parts[i]);
	}
	lqn_text_wrap(out, before, list, ", ", indent, width, 2);
	g_ptr_array_unref(list);
}

void lqn_table_print(const struct lqn_table *table, GString *out, unsigned indent, unsigned width)
{
	g_autofree unsigned *widths = g_new0(unsigned, table->columns);
	unsigned before_last = indent;
	GString *line = g_string_new(NULL);

	for (unsigned i = 0; i < table->cells->len; i++) {
		unsigned *w = &widths[i % table->columns];

		*w = MAX(*w, lqn_text_width(g_ptr_array_index(table->cells, i)));
	}
	for (unsigned c = 0; c + 1 < table->columns; c++) {
		before_last += widths[c] + 2;
	}
	for (unsigned i = 0; i < table->cells->len; i++) {
		const char *cell = g_ptr_array_index(table->cells, i);
		unsigned column = i % table->columns;
		unsigned gap = widths[column] - lqn_text_width(cell);
		bool right = table->align[column] == 'r';
		bool last = column + 1 == table->columns;

		append_blanks(line, column ? 2 : indent);
		append_blanks(line, right ? gap : 0);
		if (last && !right && width) {
			print_list(out, line->str, cell, before_last, width);
			g_string_truncate(line, 0);
			continue;
		}
		g_string_append(line, cell);
		append_blanks(line, right || last ? 0 : gap);
		if (last || i + 1 == table->cells->len) {
			trim_line(line);
			g_string_append_printf(out, "%s\n", line->str);
			g_string_truncate(line, 0);
		}
	}
	g_string_free(line, TRUE);
}
