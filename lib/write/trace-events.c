/* SPDX-License-Identifier: MIT */

/*
 * slow-requests.json: the slowest requests of each operation, with a typical one, in the Trace Event
 * Format that Perfetto and Chrome show. A request is a process: its critical path is the first
 * track; the threads that worked for it are the others, with what they did below their work.
 */
#include "write/write.h"

#include <inttypes.h>
#include <string.h>

#include "write/json-build.h"
#include "write/path-words.h"
#include "write/text.h"

#define EVENTS_MAX 500000	/* after so many no request is begun: what a browser can be asked to show */
#define PATH_TRACK 1		/* the threads follow */

struct out {
	GString *text;
	int64_t origin;		/* ns */
	unsigned events;
};

/* Takes the event. */
static void print_event(struct out *out, struct json_object *event)
{
	g_string_append(out->text, out->events++ ? ",\n" : "\n");
	g_string_append(out->text, json_object_to_json_string_ext(
		event, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(event);
}

static struct json_object *new_event(const char *phase, uint32_t process, unsigned track,
	const char *name)
{
	struct json_object *event = json_object_new_object();

	lqn_json_put(event, "ph", json_object_new_string(phase));
	lqn_json_put_count(event, "pid", process);
	lqn_json_put_count(event, "tid", track);
	lqn_json_put_text(event, "name", name);
	return event;
}

/* us with three decimals. */
static void put_time(struct json_object *event, const char *key, int64_t ns)
{
	g_autofree char *text = g_strdup_printf("%" PRId64 ".%03d", ns / 1000, (int) (ns % 1000));

	lqn_json_put(event, key, json_object_new_double_s((double) ns / 1e3, text));
}

/*
 * A slice begins or ends: not told by begin and length, for who adds these finds that slices overlap
 * by what doubles lose. No arguments: to some they are part of the name.
 */
static void print_edge(struct out *out, const char *phase, uint32_t process, unsigned track,
	const char *category, const char *name, int64_t at)
{
	struct json_object *event = new_event(phase, process, track, name);

	lqn_json_put(event, "cat", json_object_new_string(category));
	put_time(event, "ts", at - out->origin);
	print_event(out, event);
}

static void print_slice(struct out *out, uint32_t process, unsigned track, const char *category,
	const char *name, int64_t begin, int64_t end)
{
	print_edge(out, "B", process, track, category, name, begin);
	print_edge(out, "E", process, track, category, name, end);
}

/* As Chrome writes it, with what some readers ask of every event. Takes `args`. */
static void print_metadata(struct out *out, const char *what, uint32_t process, unsigned track,
	struct json_object *args)
{
	struct json_object *event = new_event("M", process, track, what);

	lqn_json_put(event, "cat", json_object_new_string("__metadata"));
	lqn_json_put_int(event, "ts", 0);
	lqn_json_put(event, "args", args);
	print_event(out, event);
}

static void print_name(struct out *out, const char *what, uint32_t process, unsigned track,
	const char *name, unsigned order)
{
	struct json_object *args = json_object_new_object();
	g_autofree char *sort = g_strdup_printf("%.*s_sort_index",
		(int) (strchr(what, '_') - what), what);

	lqn_json_put_text(args, "name", name);
	print_metadata(out, what, process, track, args);
	args = json_object_new_object();
	lqn_json_put_count(args, "sort_index", order);
	print_metadata(out, sort, process, track, args);
}

static void print_piece(struct out *out, const struct lqn_request_path *path,
	const struct lqn_path_piece *piece)
{
	const char *kind = lqn_path_kind_name(piece->kind);
	g_autofree char *words = lqn_path_piece_words(piece);
	g_autofree char *name = g_strdup_printf("%s%s%s", kind, *words ? ": " : "", words);

	print_slice(out, path->number, PATH_TRACK, kind, name, piece->begin, piece->end);
}

/* The threads that the path is with, and below each what it did. */
static void print_path(struct out *out, const struct lqn_request_path *path)
{
	const struct lqn_path_piece *pieces = (const struct lqn_path_piece *) (const void *)
		path->pieces->data;

	print_name(out, "thread_name", path->number, PATH_TRACK, "critical path", PATH_TRACK);
	for (unsigned i = 0, n; i < path->pieces->len; i += n) {
		g_autofree char *name = g_strdup_printf("%s %" PRIu32, pieces[i].comm,
			(uint32_t) pieces[i].thread);

		for (n = 1; i + n < path->pieces->len && pieces[i + n].thread == pieces[i].thread &&
			pieces[i + n].host == pieces[i].host; n++) {
		}
		print_edge(out, "B", path->number, PATH_TRACK, "path", name, pieces[i].begin);
		for (unsigned k = i; k < i + n; k++) {
			print_piece(out, path, &pieces[k]);
		}
		print_edge(out, "E", path->number, PATH_TRACK, "path", name, pieces[i + n - 1].end);
	}
}

static void print_states(struct out *out, const struct lqn_request_path *path, unsigned track,
	const struct lqn_path_work *work)
{
	for (unsigned i = 0; i < path->states->len; i++) {
		const struct lqn_path_state *state =
			&g_array_index(path->states, struct lqn_path_state, i);
		g_autofree char *name = NULL;

		if (state->thread != work->thread || state->host != work->host ||
				state->begin < work->begin || state->end > work->end) {
			continue;
		}
		name = state->detail ? g_strdup_printf("%s: %s", lqn_path_kind_name(state->kind),
			state->detail) : g_strdup(lqn_path_kind_name(state->kind));
		print_slice(out, path->number, track, lqn_path_kind_name(state->kind), name,
			state->begin, state->end);
	}
}

static void print_work(struct out *out, const struct lqn_request_path *path, unsigned track,
	const struct lqn_path_work *work)
{
	g_autoptr(GString) name = g_string_new(work->entry ? work->entry : work->task);

	if (work->slack >= 0) {
		g_string_append(name, ", slack ");
		lqn_text_append_fixed(name, (double) work->slack / 1e3, 3);
		g_string_append(name, " us");
	}
	if (work->begin < work->end) {
		print_edge(out, "B", path->number, track, "work", name->str, work->begin);
		print_states(out, path, track, work);
		print_edge(out, "E", path->number, track, "work", name->str, work->end);
	}
}

static bool same_thread(const struct lqn_path_work *a, const struct lqn_path_work *b)
{
	return a->thread == b->thread && a->host == b->host;
}

/* A track for each thread, in the order in which they begin. */
static void print_threads(struct out *out, const struct lqn_request_path *path)
{
	const struct lqn_path_work *works = (const struct lqn_path_work *) (const void *)
		path->works->data;
	unsigned track = PATH_TRACK;

	for (unsigned i = 0; i < path->works->len; i++) {
		g_autofree char *name = NULL;
		unsigned first = 0;

		while (!same_thread(&works[first], &works[i])) {
			first++;
		}
		if (first < i) {
			continue;
		}
		track++;
		name = g_strdup_printf("%s %" PRIu32 " (%s)", works[i].comm,
			(uint32_t) works[i].thread, works[i].host);
		print_name(out, "thread_name", path->number, track, name, track);
		for (unsigned k = i; k < path->works->len; k++) {
			if (same_thread(&works[k], &works[i])) {
				print_work(out, path, track, &works[k]);
			}
		}
	}
}

static void print_request(struct out *out, const struct lqn_path_group *group,
	const struct lqn_request_path *path, unsigned order)
{
	GString *name = g_string_new(NULL);

	g_string_printf(name, "%s: request %" PRIu32 ", ", lqn_path_group_name(group),
		path->number);
	lqn_text_append_fixed(name, (double) (path->end - path->begin) / 1e6, 3);
	g_string_append(name, path->kept & LQN_KEPT_SLOWEST ? " ms, one of the slowest" :
		path->kept & LQN_KEPT_SLOW ? " ms, p95" : " ms, typical");
	print_name(out, "process_name", path->number, 0, name->str, order);
	g_string_free(name, TRUE);
	print_path(out, path);
	print_threads(out, path);
}

/* When the first thing shown began: times count from there. A request's work can be older than itself, of a batch. */
static int64_t find_origin(const struct lqn_path_report *report)
{
	int64_t origin = INT64_MAX;

	for (unsigned i = 0; i < report->groups->len; i++) {
		const struct lqn_path_group *group = g_ptr_array_index(report->groups, i);

		for (unsigned k = 0; group->kept && k < group->kept->len; k++) {
			const struct lqn_request_path *path = g_ptr_array_index(group->kept, k);

			origin = path->works ? MIN(origin, path->begin) : origin;
			for (guint w = 0; path->works && w < path->works->len; w++) {
				origin = MIN(origin, g_array_index(path->works, struct lqn_path_work, w).begin);
			}
		}
	}
	return origin == INT64_MAX ? 0 : origin;
}

GString *lqn_write_trace_events(const struct lqn_path_report *report)
{
	struct out out = { g_string_new("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["),
		find_origin(report), 0 };
	unsigned order = 0;

	for (unsigned i = 0; i < report->groups->len; i++) {
		const struct lqn_path_group *group = g_ptr_array_index(report->groups, i);

		/* the slowest first */
		for (unsigned k = group->kept ? group->kept->len : 0; k > 0 && out.events < EVENTS_MAX; k--) {
			const struct lqn_request_path *path =
				g_ptr_array_index(group->kept, k - 1);

			if (path->works) {
				print_request(&out, group, path, order++);
			}
		}
	}
	g_string_append_printf(out.text, "\n],\"otherData\":{\"origin-ns\":\"%" PRId64 "\"}}\n",
		out.origin);
	return out.text;
}
