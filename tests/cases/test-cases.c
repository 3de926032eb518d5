/* SPDX-License-Identifier: MIT */

/*
 * Runs the cases of the folders below: kernel events through the engine and the sink's analysis,
 * the critical path of a thread and the events told compared with what is expected. A case is a
 * folder with
 *
 *   events.jsonl    see unit/jsonl.h
 *   expected.json   why      what the case is about
 *                   release  of the kernel; default 6.1.0
 *                   thread   whose path, as the sink's parameter
 *                   begin, end   likewise
 *                   path     [begin, end, state, name of the thread, cause if it matters] in
 *                            order; a message under way is named by both ends, A->B
 *                   events   [pattern, …]: each must be like an event that the filter tells
 *                   never    [pattern, …]: no event may be like it
 *                   error    part of the error that the thread's path ends in
 *
 * Beside these it understands Trace Compass's own (critical_paths), which are not part of the
 * project: what LQN_TRACE_COMPASS_CASES names is run too.
 */
#include <check.h>
#include <glib.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/jsonl.h"
#include "../unit/suite.h"

static GPtrArray *folders;	/* char *, paths */

static struct json_object *get(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	return object && json_object_object_get_ex(object, name, &value) ? value : NULL;
}

static const char *text_of(struct json_object *object, const char *name)
{
	return json_object_get_string(get(object, name));
}

/* ---- paths as text ---- */

struct span {
	int64_t begin, end;
	const char *state, *thread, *cause;	/* cause: NULL if it does not matter */
};

static void add_span(GArray *spans, struct span span)
{
	struct span *last = spans->len > 0 ? &g_array_index(spans, struct span, spans->len - 1) :
					     NULL;

	if (last && last->end == span.begin && g_str_equal(last->state, span.state) &&
			g_strcmp0(last->thread, span.thread) == 0) {
		last->end = span.end;
	} else if (span.begin < span.end) {
		g_array_append_val(spans, span);
	}
}

static GArray *spans_of_path(const struct lqn_thread_path *path, int64_t begin, int64_t end)
{
	GArray *spans = g_array_new(FALSE, FALSE, sizeof(struct span));

	for (guint i = 0; i < path->rows->len; i++) {
		const struct lqn_thread_row *row = &g_array_index(
			path->rows, struct lqn_thread_row, i);
		bool message = row->state == LQN_SHOW_NETWORK && strstr(row->cause, "->");

		add_span(spans,
			(struct span){ MAX(row->begin, begin), MIN(row->end, end),
				lqn_thread_state_name(row->state), message ? row->cause : row->comm,
				row->cause });
	}
	return spans;
}

static GArray *spans_of_rows(struct json_object *rows)
{
	GArray *spans = g_array_new(FALSE, FALSE, sizeof(struct span));

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		struct json_object *cause = json_object_array_get_idx(row, 4);

		add_span(spans,
			(struct span){ json_object_get_int64(json_object_array_get_idx(row, 0)),
				json_object_get_int64(json_object_array_get_idx(row, 1)),
				json_object_get_string(json_object_array_get_idx(row, 2)),
				json_object_get_string(json_object_array_get_idx(row, 3)),
				cause ? json_object_get_string(cause) : NULL });
	}
	return spans;
}

static char *print(const GArray *spans, const GArray *like)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < spans->len; i++) {
		const struct span *it = &g_array_index(spans, struct span, i);
		bool with_cause = i < like->len && g_array_index(like, struct span, i).cause;

		g_string_append_printf(text,
			"%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT " %s %s%s%s%s\n", it->begin,
			it->end, it->state, it->thread ? it->thread : "", with_cause ? " (" : "",
			with_cause ? it->cause : "", with_cause ? ")" : "");
	}
	return g_string_free(text, FALSE);
}

static void compare(const char *name, const GArray *expected, const GArray *got)
{
	g_autofree char *want = print(expected, expected), *is = print(got, expected);

	ck_assert_msg(strcmp(want, is) == 0, "%s: expected\n%sgot\n%s", name, want, is);
}

/* ---- a case ---- */

static void check_events(
	const char *name, const struct jsonl *jsonl, struct json_object *patterns, bool wanted)
{
	for (size_t i = 0; patterns && i < json_object_array_length(patterns); i++) {
		struct json_object *pattern = json_object_array_get_idx(patterns, i);

		ck_assert_msg((jsonl_count(jsonl, pattern) > 0) == wanted,
			"%s: %s event is like %s", name, wanted ? "no" : "an",
			json_object_to_json_string(pattern));
	}
}

/* Also checks that the path is whole: no request is needed, and the rows tile its time. */
static struct lqn_thread_path *path_of(struct lqn_analysis *a, GError **error)
{
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	struct lqn_thread_path *path;
	int64_t at;

	lqn_analysis_finish(a, &model, &paths, NULL);
	path = lqn_analysis_thread_path(a, error);
	if (path) {
		at = path->begin;
		for (guint i = 0; i < path->rows->len; i++) {
			const struct lqn_thread_row *row = &g_array_index(
				path->rows, struct lqn_thread_row, i);

			ck_assert_int_eq(row->begin, at);
			ck_assert_int_lt(row->begin, row->end);
			at = row->end;
		}
		ck_assert_int_eq(at, path->end);
	}
	if (model) {
		lqn_model_free(model);
		lqn_path_report_free(paths);
	}
	return path;
}

static void run(const char *name, const char *folder, struct json_object *expected,
	const char *thread, struct json_object *rows, const char *error_part)
{
	g_autofree char *events = g_build_filename(folder, "events.jsonl", NULL);
	struct json_object *begin = get(expected, "begin"), *end = get(expected, "end");
	struct lqn_options options = {
		.thread = thread,
		.begin = begin ? json_object_get_int64(begin) : INT64_MIN,
		.end = end ? json_object_get_int64(end) : INT64_MAX,
	};
	struct lqn_analysis *a = lqn_analysis_new(&options);
	const char *release = text_of(expected, "release");
	struct jsonl *jsonl = jsonl_read(events, release ? release : "6.1.0", a);

	check_events(name, jsonl, get(expected, "events"), true);
	check_events(name, jsonl, get(expected, "never"), false);
	if (thread) {
		g_autoptr(GError) error = NULL;
		struct lqn_thread_path *path = path_of(a, &error);

		if (error_part) {
			ck_assert_msg(!path && strstr(error->message, error_part),
				"%s: no error `%s`", name, error_part);
		} else {
			GArray *want = spans_of_rows(rows), *got;

			ck_assert_msg(
				path != NULL, "%s: %s", name, error ? error->message : "no path");
			got = spans_of_path(path, INT64_MIN, INT64_MAX);
			compare(name, want, got);
			g_array_free(want, TRUE);
			g_array_free(got, TRUE);
		}
		lqn_thread_path_free(path);
	}
	jsonl_free(jsonl);
	lqn_analysis_free(a);
}

/*
 * A path as Trace Compass states it. Its time ends with the thread's last switch or wake-up, ours
 * with its last event: compared is what it states.
 */
static void run_compass(const char *name, const char *folder, struct json_object *stated)
{
	g_autofree char *events = g_build_filename(folder, "events.jsonl", NULL);
	g_autofree char *thread = g_strdup_printf(
		"%s:%d", text_of(stated, "host"), json_object_get_int(get(stated, "tid")));
	struct lqn_options options = { .thread = thread, .begin = INT64_MIN, .end = INT64_MAX };
	struct lqn_analysis *a = lqn_analysis_new(&options);
	struct jsonl *jsonl = jsonl_read(events, "6.1.0", a);
	struct json_object *linear = get(stated, "linear");
	GArray *want = g_array_new(FALSE, FALSE, sizeof(struct span)), *got;
	struct lqn_thread_path *path = path_of(a, NULL);

	ck_assert_msg(path != NULL, "%s: no path of %s", name, thread);
	for (size_t i = 0; i < json_object_array_length(linear); i++) {
		struct json_object *row = json_object_array_get_idx(linear, i);
		const char *state = text_of(row, "type");

		add_span(want,
			(struct span){ json_object_get_int64(get(row, "start")),
				json_object_get_int64(get(row, "end")), state,
				g_str_equal(state, "NETWORK") ? NULL : text_of(row, "comm"),
				NULL });
	}
	got = spans_of_path(path, g_array_index(want, struct span, 0).begin,
		g_array_index(want, struct span, want->len - 1).end);
	for (guint i = 0; i < got->len; i++) {
		struct span *it = &g_array_index(got, struct span, i);

		/* which of the two ends stands for a message is a matter of taste */
		it->thread = g_str_equal(it->state, "NETWORK") ? NULL : it->thread;
	}
	compare(name, want, got);
	g_array_free(want, TRUE);
	g_array_free(got, TRUE);
	lqn_thread_path_free(path);
	jsonl_free(jsonl);
	lqn_analysis_free(a);
}

START_TEST(a_case_gives_what_it_expects)
{
	const char *folder = folders->pdata[_i];
	g_autofree char *name = g_path_get_basename(folder);
	g_autofree char *file = g_build_filename(folder, "expected.json", NULL);
	struct json_object *expected = json_object_from_file(file);
	struct json_object *compass;

	ck_assert_msg(expected != NULL, "%s is not JSON", file);
	compass = get(expected, "critical_paths");
	for (size_t i = 0; compass && i < json_object_array_length(compass); i++) {
		run_compass(name, folder, json_object_array_get_idx(compass, i));
	}
	if (!compass) {
		run(name, folder, expected, text_of(expected, "thread"), get(expected, "path"),
			text_of(expected, "error"));
	}
	json_object_put(expected);
}
END_TEST

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Folders with expected.json, by name. */
static void find_folders(const char *path)
{
	GDir *dir = path && *path ? g_dir_open(path, 0, NULL) : NULL;
	guint first = folders->len;
	const char *name;

	while (dir && (name = g_dir_read_name(dir)) != NULL) {
		g_autofree char *file = g_build_filename(path, name, "expected.json", NULL);

		if (g_file_test(file, G_FILE_TEST_EXISTS)) {
			g_ptr_array_add(folders, g_build_filename(path, name, NULL));
		}
	}
	if (dir) {
		g_dir_close(dir);
		qsort(folders->pdata + first, folders->len - first, sizeof(gpointer), by_name);
	}
}

int main(int argc, char *argv[])
{
	TCase *tcase = tcase_create("cases");
	int status;

	folders = g_ptr_array_new_with_free_func(g_free);
	for (int i = 1; i < argc; i++) {
		find_folders(argv[i]);
	}
	find_folders(g_getenv("LQN_TRACE_COMPASS_CASES"));
	tcase_add_loop_test(tcase, a_case_gives_what_it_expects, 0, (int) folders->len);
	status = suite_run("cases", tcase);
	g_ptr_array_free(folders, TRUE);
	return argc < 2 ? EXIT_FAILURE : status;
}
