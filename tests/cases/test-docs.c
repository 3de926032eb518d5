/* SPDX-License-Identifier: MIT */

/*
 * What the documents say must be all there is: events and fields, labels, and tests of numbered
 * cases. And what CONTRIBUTING.md says of lines and files holds.
 */
#include <check.h>
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/suite.h"
#include "event/event.h"

static const char *root;	/* of the sources */

static char *read_file(const char *name)
{
	g_autofree char *path = g_build_filename(root, name, NULL);
	char *text = NULL;

	ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "cannot read %s", path);
	return text;
}

/* The part of a document below a heading, up to the next one. */
static char *section(const char *text, const char *heading)
{
	g_autofree char *line = g_strdup_printf("\n### `%s`\n", heading);
	const char *begin = strstr(text, line), *end;

	ck_assert_msg(begin != NULL, "doc/events.md has no heading for %s", heading);
	begin += strlen(line);
	end = strstr(begin, "\n##");
	return end ? g_strndup(begin, (gsize) (end - begin)) : g_strdup(begin);
}

static void expect_code(const char *text, const char *what, const char *of)
{
	g_autofree char *code = g_strdup_printf("`%s`", what);

	ck_assert_msg(
		strstr(text, code) != NULL, "doc/events.md does not tell of %s of %s", what, of);
}

START_TEST(each_event_and_field_is_described)
{
	g_autofree char *text = read_file("doc/events.md");

	for (unsigned i = 0; i < LQN_EV_COUNT; i++) {
		const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) i);
		g_autofree char *part = section(text, class->name);

		for (size_t k = 0; k < class->n_fields; k++) {
			g_autofree char *row = g_strdup_printf("\n| `%s` |", class->fields[k].name);

			ck_assert_msg(strstr(part, row) != NULL,
				"doc/events.md has no row for %s of %s", class->fields[k].name,
				class->name);
		}
	}
}
END_TEST

START_TEST(each_label_is_described)
{
	g_autofree char *text = read_file("doc/events.md");

	for (uint32_t i = 0; i < LQN_CAUSE_COUNT; i++) {
		expect_code(text, lqn_cause_name(i), "causes");
	}
	for (uint32_t i = 0; i < LQN_OBJ_COUNT; i++) {
		expect_code(text, lqn_object_kind_name(i), "kinds of objects");
	}
	for (uint32_t i = 0; i < LQN_EVIDENCE_COUNT; i++) {
		expect_code(text, lqn_evidence_name(i), "evidence");
	}
	for (uint32_t i = 0; i < LQN_ROLE_COUNT; i++) {
		expect_code(text, lqn_role_name(i), "roles");
	}
}
END_TEST

START_TEST(no_field_is_described_that_is_none)
{
	g_autofree char *text = read_file("doc/events.md");

	for (unsigned i = 0; i < LQN_EV_COUNT; i++) {
		const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) i);
		g_autofree char *part = section(text, class->name);
		g_auto(GStrv) lines = g_strsplit(part, "\n", -1);
		bool fields = false;

		for (size_t k = 0; lines[k]; k++) {
			g_auto(GStrv) cells = g_strsplit(lines[k], "`", 3);
			bool known = false;

			/* the first table of a section is of fields */
			fields = g_str_has_prefix(lines[k], "| field |") ||
				(fields && *lines[k] == '|');
			if (!fields || !g_str_has_prefix(lines[k], "| `") || !cells[1]) {
				continue;
			}
			for (size_t f = 0; f < class->n_fields; f++) {
				known |= strcmp(class->fields[f].name, cells[1]) == 0;
			}
			ck_assert_msg(known, "doc/events.md tells of %s of %s, which is no field",
				cells[1], class->name);
		}
	}
}
END_TEST

/* ---- numbered cases ---- */

static bool is_text(const char *name)
{
	static const char *const suffixes[] = { ".c", ".h", ".py", ".md" };

	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		if (g_str_has_suffix(name, suffixes[i])) {
			return true;
		}
	}
	return false;
}

/* For each source, script, and document in a folder, its name from the root on and its text. */
static void each_below(const char *folder, void (*take)(const char *name, const char *text, void *payload), void *payload)
{
	g_autofree char *path = g_build_filename(root, folder, NULL);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)) != NULL) {
		g_autofree char *below = g_build_filename(folder, name, NULL);
		g_autofree char *text = is_text(name) ? read_file(below) : NULL;

		if (text) {
			take(below, text, payload);
		} else {
			each_below(below, take, payload);
		}
	}
	if (dir) {
		g_dir_close(dir);
	}
}

static void append(const char *name, const char *text, void *all)
{
	g_string_append(all, text);
}

/* All of them; free with g_free(). */
static char *text_below(const char *folder)
{
	GString *all = g_string_new(NULL);

	each_below(folder, append, all);
	return g_string_free(all, FALSE);
}

static bool is_test(const char *name, const char *sources)
{
	g_autofree char *folder = g_build_filename(
		root, "tests", "cases", name, "expected.json", NULL);
	g_autofree char *test = g_strdup_printf("START_TEST(%s)", name);
	g_autofree char *python = g_strdup_printf("def %s(", name);
	g_autofree char *recording = g_build_filename(root, name, "truth.json", NULL);

	return (g_str_has_prefix(name, "traces/") ? g_file_test(recording, G_FILE_TEST_EXISTS) :
		g_file_test(folder, G_FILE_TEST_EXISTS)) || strstr(sources, test) || strstr(sources, python);
}

/* Rows `| C12 | … | TESTS |` of a document, each with a number of its own; tests are in the last cell. */
static void check_cases(const char *name, const char *letter, guint n_cells)
{
	g_autofree char *text = read_file(name), *sources = text_below("tests"), *start = g_strdup_printf(" %s", letter);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);
	unsigned cases = 0;

	for (size_t i = 0; lines[i]; i++) {
		g_auto(GStrv) cells = g_strsplit(lines[i], "|", -1);
		guint n = g_strv_length(cells);
		g_auto(GStrv) codes = NULL;
		guint tests = 0, number;
		char *end;

		if (n < 2 || strncmp(cells[1], start, 2) != 0 || !g_ascii_isdigit(cells[1][2])) {
			continue;
		}
		number = (guint) strtoul(cells[1] + 2, &end, 10);
		ck_assert_msg(number > 0 && strcmp(end, " ") == 0, "%s: case%sis no number", name, cells[1]);
		ck_assert_msg(g_hash_table_add(numbers, GUINT_TO_POINTER(number)), "%s: %s%u stands twice",
			name, letter, number);
		cases++;
		ck_assert_msg(n == n_cells + 2, "%s: %s%u has not %u cells", name, letter, number, n_cells);
		codes = g_strsplit(cells[n_cells], "`", -1);
		for (guint k = 1; codes[k] && codes[k + 1]; k += 2, tests++) {
			ck_assert_msg(is_test(codes[k], sources), "%s: %s%u: there is no test %s", name, letter, number,
				codes[k]);
		}
		ck_assert_msg(tests > 0, "%s: %s%u has no test", name, letter, number);
	}
	ck_assert_uint_gt(cases, 0);
}

START_TEST(each_numbered_case_has_a_test)
{
	check_cases("doc/causality.md", "C", 5);
	check_cases("doc/modelling.md", "M", 5);
}
END_TEST

/* Of the cases of the sink, the cell in front of the tests names files of lib/; one without a folder is in that of the one before. */
START_TEST(each_rule_is_in_a_file_that_is_there)
{
	g_autofree char *text = read_file("doc/modelling.md");
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (size_t i = 0; lines[i]; i++) {
		g_auto(GStrv) cells = g_strsplit(lines[i], "|", -1), codes = NULL;
		g_autofree char *folder = g_strdup("");
		guint files = 0;

		if (g_strv_length(cells) < 6 || strncmp(cells[1], " M", 2) != 0) {
			continue;
		}
		codes = g_strsplit(cells[4], "`", -1);
		for (guint k = 1; codes[k] && codes[k + 1]; k += 2, files++) {
			g_autofree char *path = NULL;

			if (strchr(codes[k], '/')) {
				g_free(folder);
				folder = g_path_get_dirname(codes[k]);
			}
			path = g_build_filename(root, "lib", strchr(codes[k], '/') ? "" : folder, codes[k], NULL);
			ck_assert_msg(g_file_test(path, G_FILE_TEST_IS_REGULAR), "doc/modelling.md:%s: no file %s", cells[1], codes[k]);
		}
		ck_assert_msg(files > 0, "doc/modelling.md:%s: no file has the rule", cells[1]);
	}
}
END_TEST

static void add_numbers(GHashTable *numbers, const char *pattern, const char *text)
{
	g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_MULTILINE, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	for (g_regex_match(regex, text, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
		g_hash_table_add(numbers, g_match_info_fetch(match, 1));
	}
}

/* What is referred to by a number, in the documents and in the sources, is a case. */
START_TEST(each_number_of_a_case_is_one)
{
	static const char *const folders[] = { "doc", "lib", "plugin" };
	g_autoptr(GHashTable) cases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree char *causality = read_file("doc/causality.md"), *modelling = read_file("doc/modelling.md");
	GHashTableIter iter;
	gpointer number;

	add_numbers(cases, "^\\| (C[0-9]+) \\|", causality);
	add_numbers(cases, "^\\| (M[0-9]+) \\|", modelling);
	for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
		g_autofree char *text = text_below(folders[i]);

		add_numbers(used, "\\b([CM][1-9][0-9]*)\\b(?!-)", text);
	}
	g_hash_table_iter_init(&iter, used);
	while (g_hash_table_iter_next(&iter, &number, NULL)) {
		ck_assert_msg(g_hash_table_contains(cases, number), "%s is no case of doc/causality.md or doc/modelling.md",
			(const char *) number);
	}
}
END_TEST

/* And each folder of tests/cases is the test of a numbered case. */
START_TEST(each_folder_belongs_to_a_numbered_case)
{
	g_autofree char *text = read_file("doc/causality.md"),
			*path = g_build_filename(root, "tests", "cases", NULL);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	ck_assert_ptr_nonnull(dir);
	while ((name = g_dir_read_name(dir)) != NULL) {
		g_autofree char *file = g_build_filename(path, name, "expected.json", NULL);
		g_autofree char *code = g_strdup_printf("`%s`", name);

		ck_assert_msg(!g_file_test(file, G_FILE_TEST_EXISTS) || strstr(text, code) != NULL,
			"doc/causality.md does not name tests/cases/%s", name);
	}
	g_dir_close(dir);
}
END_TEST

/* ---- form ---- */

enum { COLUMNS_MAX = 140, TAB = 8, LINES_MAX = 600 };

static long columns_of(const char *line)
{
	long columns = 0;

	for (const char *p = line; *p; p = g_utf8_next_char(p)) {
		columns += *p == '\t' ? TAB - columns % TAB : 1;
	}
	return columns;
}

static void check_form(const char *name, const char *text, void *payload)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	ck_assert_msg(g_strv_length(lines) <= LINES_MAX, "%s has %u lines, more than %d", name, g_strv_length(lines), LINES_MAX);
	for (guint i = 0; lines[i]; i++) {
		ck_assert_msg(columns_of(lines[i]) <= COLUMNS_MAX, "%s:%u has %ld columns, more than %d", name, i + 1,
			columns_of(lines[i]), COLUMNS_MAX);
	}
}

START_TEST(sources_have_the_form_that_is_asked_for)
{
	each_below("lib", check_form, NULL);
	each_below("plugin", check_form, NULL);
}
END_TEST

int main(int argc, char *argv[])
{
	TCase *tcase = tcase_create("docs");

	if (argc != 2) {
		return EXIT_FAILURE;
	}
	root = argv[1];
	SUITE_TESTS(tcase, each_event_and_field_is_described, each_label_is_described,
		no_field_is_described_that_is_none, each_numbered_case_has_a_test, each_rule_is_in_a_file_that_is_there,
		each_number_of_a_case_is_one, each_folder_belongs_to_a_numbered_case, sources_have_the_form_that_is_asked_for);
	return suite_run("docs", tcase);
}
