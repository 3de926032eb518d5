/* SPDX-License-Identifier: MIT */

/*
 * Trace Compass's abstract graphs, which are not part of the project: LQN_TRACE_COMPASS_CASES names
 * the folder that has graphfactory.json. A graph has workers, what they did between points in time,
 * and who woke whom; told as `lqn:` events the path through it must be the one stated.
 */
#include <check.h>
#include <glib.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/suite.h"
#include "result/result.h"

#define FIRST_TID 1000

/* Where we come to another answer, for the reasons in doc/causality.md. */
static const char *const differs[] = { "GRAPH_OPENED_DELAY", "GRAPH_NET1", NULL };

static struct json_object *graphs;
static GPtrArray *names;	/* const char * */

struct point {
	int worker;
	int64_t at;
};

static struct json_object *get(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	return object && json_object_object_get_ex(object, name, &value) ? value : NULL;
}

static struct point point_of(struct json_object *edge, const char *end)
{
	struct json_object *pair = get(edge, end);

	return (struct point) { json_object_get_int(json_object_array_get_idx(pair, 0)),
		json_object_get_int64(json_object_array_get_idx(pair, 1)) };
}

static const char *type_of(struct json_object *edge)
{
	return json_object_get_string(get(edge, "type"));
}

static struct lqn_event packet(struct point at, struct point from, uint64_t number, bool received)
{
	return (struct lqn_event){ .type = LQN_EV_PACKET,
		.ts = at.at,
		.packet = { .thread = (uint64_t) (FIRST_TID + at.worker),
			.number = number,
			.at = at.at,
			.saddr = 1,
			.daddr = 2,
			.sport = (uint32_t) (1 + from.worker),
			.dport = (uint32_t) (1 + from.at),
			.seq = 1,
			.bytes = 1,
			.received = received } };
}

/* Tells of a wait, and before it of the packet that ended it. */
static void tell_wait(struct lqn_analysis *a, struct json_object *vertical, struct point begin,
	struct point end, uint64_t *packets)
{
	struct lqn_event ev = { .type = LQN_EV_WAIT,
		.ts = end.at,
		.wait = { .thread = (uint64_t) (FIRST_TID + begin.worker),
			.begin = begin.at,
			.wake = -1,
			.end = end.at,
			.cpu = begin.at,
			.state = 1 } };

	for (size_t i = 0; i < json_object_array_length(vertical); i++) {
		struct json_object *link = json_object_array_get_idx(vertical, i);
		struct point from = point_of(link, "from"), to = point_of(link, "to");

		if (to.worker != end.worker || to.at != end.at) {
			continue;
		}
		ev.wait.wake = end.at;
		if (strcmp(type_of(link), "TIMER") == 0) {
			ev.wait.cause = LQN_CAUSE_TIMER;
		} else if (strcmp(type_of(link), "NETWORK") == 0) {
			struct lqn_event sent = packet(from, from, ++*packets, false);
			struct lqn_event received = packet(to, from, ++*packets, true);

			lqn_analysis_event(a, 0, &sent);
			lqn_analysis_event(a, 0, &received);
			ev.wait.cause = LQN_CAUSE_NETWORK;
			ev.wait.via = *packets;
		} else {
			ev.wait.cause = LQN_CAUSE_THREAD;
			ev.wait.by = (uint64_t) (FIRST_TID + from.worker);
		}
	}
	lqn_analysis_event(a, 0, &ev);
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	int64_t x = point_of(*(struct json_object *const *) a, "from").at;
	int64_t y = point_of(*(struct json_object *const *) b, "from").at;

	return x < y ? -1 : x > y;
}

/* Ends of what a worker is seen to do; its first point is where it is first seen. */
static void tell_graph(struct lqn_analysis *a, struct json_object *graph)
{
	struct json_object *horizontal = get(graph, "horizontal"),
			   *vertical = get(graph, "vertical");
	struct lqn_event host = { .type = LQN_EV_HOST, .host = { "g", "", LQN_EVENT_SCHEMA } };
	struct lqn_event summary = { .type = LQN_EV_SUMMARY };
	GPtrArray *waits = g_ptr_array_new();
	uint64_t packets = 0;

	lqn_analysis_host(a, "g");
	lqn_analysis_event(a, 0, &host);
	json_object_object_foreach(get(graph, "vertices"), worker, times) {
		int id = atoi(worker);
		int64_t first = INT64_MAX;
		struct lqn_event ev = { .type = LQN_EV_THREAD,
			.thread = { .thread = (uint64_t) (FIRST_TID + id),
				.born = -1,
				.pid = (uint32_t) (FIRST_TID + id),
				.comm = worker,
				.exe = "" } };

		/* it is seen from where something begins, or else from where it has an effect */
		for (size_t i = 0; i < json_object_array_length(times); i++) {
			int64_t at = json_object_get_int64(json_object_array_get_idx(times, i));

			first = MIN(first, at);
			summary.summary.end = MAX(summary.summary.end, at);
		}
		for (size_t i = 0, seen = 0; i < json_object_array_length(horizontal); i++) {
			struct point from = point_of(
				json_object_array_get_idx(horizontal, i), "from");

			if (from.worker == id) {
				first = seen++ ? MIN(first, from.at) : from.at;
			}
		}
		ev.ts = first;
		lqn_analysis_event(a, 0, &ev);
	}
	for (size_t i = 0; i < json_object_array_length(horizontal); i++) {
		struct json_object *edge = json_object_array_get_idx(horizontal, i);

		if (strcmp(type_of(edge), "BLOCKED") == 0) {
			g_ptr_array_add(waits, edge);
		}
	}
	g_ptr_array_sort(waits, by_time);
	for (guint i = 0; i < waits->len; i++) {
		tell_wait(a, vertical, point_of(waits->pdata[i], "from"),
			point_of(waits->pdata[i], "to"), &packets);
	}
	g_ptr_array_free(waits, TRUE);
	summary.ts = summary.summary.end;
	lqn_analysis_event(a, 0, &summary);
}

/* ---- comparison ---- */

struct piece {
	int64_t begin, end;
	const char *state;
	int worker;		/* -1: does not matter */
};

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct piece *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static char *print(GArray *pieces)
{
	GString *text = g_string_new(NULL);

	g_array_sort(pieces, by_begin);
	for (guint i = 0; i < pieces->len; i++) {
		struct piece *it = &g_array_index(pieces, struct piece, i);

		while (i + 1 < pieces->len && it[1].begin == it->end &&
			it[1].worker == it->worker && strcmp(it[1].state, it->state) == 0) {
			it[1].begin = it->begin;
			it = &g_array_index(pieces, struct piece, ++i);
		}
		g_string_append_printf(text, "%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT " %s %d\n",
			it->begin, it->end, it->state, it->worker);
	}
	return g_string_free(text, FALSE);
}

static char *stated(struct json_object *graph)
{
	static const char *const lists[] = { "horizontal", "vertical" };
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));

	for (size_t k = 0; k < G_N_ELEMENTS(lists); k++) {
		struct json_object *edges = get(graph, lists[k]);

		for (size_t i = 0; i < json_object_array_length(edges); i++) {
			struct json_object *edge = json_object_array_get_idx(edges, i);
			struct point from = point_of(edge, "from"), to = point_of(edge, "to");
			struct piece piece = { from.at, to.at, type_of(edge),
				k == 0 ? from.worker : -1 };

			if (from.at < to.at) {
				g_array_append_val(pieces, piece);
			}
		}
	}
	return print(pieces);
}

static char *found(const struct lqn_thread_path *path)
{
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));

	for (guint i = 0; i < path->rows->len; i++) {
		const struct lqn_thread_row *row = &g_array_index(
			path->rows, struct lqn_thread_row, i);
		struct piece piece = { row->begin, row->end, lqn_thread_state_name(row->state),
			row->state == LQN_SHOW_NETWORK ? -1 : (int) (row->thread - FIRST_TID) };

		g_array_append_val(pieces, piece);
	}
	return print(pieces);
}

START_TEST(the_path_through_a_graph_is_the_one_stated)
{
	const char *name = names->pdata[_i];
	struct json_object *graph = get(graphs, name);
	struct lqn_options options = { .thread = "1000", .begin = INT64_MIN, .end = INT64_MAX };
	struct lqn_analysis *a = lqn_analysis_new(&options);
	struct lqn_model *model = NULL;
	struct lqn_path_report *report = NULL;
	struct lqn_thread_path *path;
	g_autofree char *want = stated(get(graph, "critical_path_bounded")), *got = NULL;

	tell_graph(a, get(graph, "graph"));
	ck_assert(!lqn_analysis_finish(a, &model, &report, NULL));
	path = lqn_analysis_thread_path(a, NULL);
	ck_assert_ptr_nonnull(path);
	got = found(path);
	ck_assert_msg(strcmp(want, got) == 0, "%s: stated\n%sfound\n%s", name, want, got);
	lqn_thread_path_free(path);
	lqn_analysis_free(a);
}
END_TEST

int main(void)
{
	const char *folder = g_getenv("LQN_TRACE_COMPASS_CASES");
	g_autofree char *file = folder && *folder ?
		g_build_filename(folder, "graphfactory.json", NULL) :
		NULL;
	TCase *tcase;
	int status;

	graphs = file ? json_object_from_file(file) : NULL;
	if (!graphs) {
		g_print("1..0 # SKIP LQN_TRACE_COMPASS_CASES: no graphfactory.json\n");
		return EXIT_SUCCESS;
	}
	names = g_ptr_array_new();
	json_object_object_foreach(graphs, name, graph) {
		if (graph && !g_strv_contains(differs, name)) {
			g_ptr_array_add(names, name);
		}
	}
	tcase = tcase_create("graphs");
	tcase_add_loop_test(tcase, the_path_through_a_graph_is_the_one_stated, 0, (int) names->len);
	status = suite_run("graphs", tcase);
	g_ptr_array_free(names, TRUE);
	json_object_put(graphs);
	return status;
}
