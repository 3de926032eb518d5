/* SPDX-License-Identifier: MIT */

/*
 * Whatever a trace holds, nothing breaks, and what is written is well formed. LQN_CHAOS_FIRST and
 * LQN_CHAOS_SEEDS choose other seeds and more of them; `CK_FORK=no` keeps a debugger at the place.
 */
#include <glib.h>
#include <json-c/json.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "chaos.h"
#include "result/result.h"
#include "suite.h"
#include "write/write.h"

#define SEEDS 200 /* of each test; some seconds with sanitizers */
#define RECORDS 3000

/* Check keeps a record of each assertion that holds, and there are millions. */
#define DEMAND(condition, ...) \
	do { \
		if (!(condition)) { \
			ck_abort_msg(__VA_ARGS__); \
		} \
	} while (0)

static GArray *events; /* struct lqn_event, their strings interned */
static uint64_t seed_now;

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = g_getenv(name);

	return text ? g_ascii_strtoull(text, NULL, 10) : otherwise;
}

static void keep(void *payload, const struct lqn_event *ev)
{
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) ev->type);
	struct lqn_event copy = *ev;

	for (size_t i = 0; i < class->n_fields; i++) {
		if (class->fields[i].kind == LQN_EVF_STRING) {
			const char **text =
				(const char **) (void *) ((char *) &copy + class->fields[i].offset);

			*text = g_intern_string(*text);
		}
	}
	g_array_append_val(events, copy);
}

/* Names the fields of an event that is not what the sink expects. */
static char *describe(const struct lqn_event *ev)
{
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) ev->type);
	GString *text = g_string_new(class->name);

	g_string_append_printf(text, " ts=%ld", (long) ev->ts);
	for (size_t i = 0; i < class->n_fields; i++) {
		const void *p = (const char *) ev + class->fields[i].offset;

		if (class->fields[i].kind == LQN_EVF_I64 || class->fields[i].kind == LQN_EVF_TIME) {
			g_string_append_printf(text, " %s=%ld", class->fields[i].name,
				(long) *(const int64_t *) p);
		}
	}
	return g_string_free(text, FALSE);
}

/* True if the trace's times are sane. */
static bool make_events(uint64_t seed)
{
	struct chaos chaos = chaos_new(seed);
	struct lqn_causal *causal;

	seed_now = seed;
	g_array_set_size(events, 0);
	causal = lqn_causal_new("host", chaos_below(&chaos, 2) ? "6.1.0" : NULL, keep, NULL);
	chaos_trace(&chaos, causal, RECORDS);
	lqn_causal_free(causal);
	return chaos.ordered;
}

/* ---- what must hold of what is written ---- */

/* No file has a number below 0 in it but -1 where nothing is known; `-->` and names with a `-` are
 * no numbers. */
static void check_text(const char *what, const GString *text)
{
	const char *end, *p = strstr(what, "critical-path.txt") ? NULL : strchr(text->str, '-');

	DEMAND(g_utf8_validate(text->str, (gssize) text->len, &end),
		"seed %lu: %s is no UTF-8 at byte %ld", (unsigned long) seed_now, what,
		(long) (end - text->str));
	/* the paths of the slow are held against the others: there differences may be negative */
	for (; p; p = strchr(p + 1, '-')) {
		DEMAND(!g_ascii_isdigit(p[1]) || (p > text->str && !strchr("\"= \t:[,", p[-1])) ||
				p[1] == '1', "seed %lu: %s: %.40s", (unsigned long) seed_now, what, p);
	}
	p = strstr(text->str, "nan") ? strstr(text->str, "nan") : strstr(text->str, " inf");
	DEMAND(!p || g_ascii_isalpha(p[3]) || g_ascii_isalpha(p[4]), "seed %lu: %s: %.40s",
		(unsigned long) seed_now, what, p);
}

static void check_and_free(const char *what, GString *text)
{
	check_text(what, text);
	g_string_free(text, TRUE);
}

static void check_json(const char *what, GString *text)
{
	json_object *object = json_tokener_parse(text->str);

	DEMAND(object != NULL, "seed %lu: %s: no JSON:\n%s", (unsigned long) seed_now, what, text->str);
	json_object_put(object);
	check_and_free(what, text);
}

static void check_model(const struct lqn_model *model, const struct lqn_path_report *paths)
{
	GString *xml = lqn_write_lqnx(model), *json = lqn_write_json(model);
	xmlDoc *doc = xmlReadMemory(
		xml->str, (int) xml->len, NULL, NULL, XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	json_object *object = json_tokener_parse(json->str);

	DEMAND(doc != NULL, "seed %lu: no XML:\n%s", (unsigned long) seed_now, xml->str);
	DEMAND(object != NULL, "seed %lu: no JSON:\n%s", (unsigned long) seed_now, json->str);
	xmlFreeDoc(doc);
	json_object_put(object);
	check_and_free("model.lqnx", xml);
	check_and_free("model.json", json);
	check_and_free("model.lqn", lqn_write_lqn(model));
	check_and_free("critical-path.txt", lqn_write_paths(paths));
	check_and_free("critical-paths.tsv", lqn_write_path_table(paths));
	check_and_free("critical-path.folded", lqn_write_folded(paths));
	check_json("critical-path.json", lqn_write_path_json(paths));
	check_json("slow-requests.json", lqn_write_trace_events(paths));
	check_and_free("summary", lqn_write_summary(model, paths));
	for (guint i = 0; i < paths->groups->len; i++) {
		const struct lqn_path_group *group = paths->groups->pdata[i];

		DEMAND(group->p50 >= 0 && group->mean >= 0, "seed %lu: a time below 0",
			(unsigned long) seed_now);
	}
	DEMAND(paths->not_tiled == 0, "seed %lu: %lu paths do not tile", (unsigned long) seed_now,
		(unsigned long) paths->not_tiled);
}

static void check_thread_path(struct lqn_analysis *a)
{
	GError *error = NULL;
	struct lqn_thread_path *path = lqn_analysis_thread_path(a, &error);
	int64_t at;

	if (!path) {
		ck_assert_ptr_nonnull(error);
		g_error_free(error);
		return;
	}
	at = path->begin;
	for (guint i = 0; i < path->rows->len; i++) {
		const struct lqn_thread_row *row =
			&g_array_index(path->rows, struct lqn_thread_row, i);

		DEMAND(row->begin == at && row->end > at, "seed %lu: a thread's path does not tile",
			(unsigned long) seed_now);
		at = row->end;
	}
	ck_assert_int_eq(at, path->end);
	check_and_free("thread-path.tsv", lqn_write_thread_path(path));
	lqn_thread_path_free(path);
}

/* As a live sink does: a model of what there is, some of it forgotten. */
static void go_on(struct chaos *chaos, struct lqn_analysis *a, int64_t now)
{
	int64_t begin = now - chaos_below(chaos, 20000000), end = now - chaos_below(chaos, 5000000);
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;

	lqn_analysis_advance(a, now - chaos_below(chaos, 1000000));
	if (lqn_analysis_snapshot(a, begin, end, &model, &paths, &error)) {
		check_model(model, paths);
		lqn_model_free(model);
		lqn_path_report_free(paths);
	}
	g_clear_error(&error);
	if (chaos_below(chaos, 2)) {
		lqn_analysis_forget(a, now - chaos_below(chaos, 10000000));
	}
}

static bool analyse(uint64_t seed, struct lqn_event *all, guint n)
{
	struct chaos chaos = chaos_new(seed);
	struct lqn_options options = {
		.begin = INT64_MIN,
		.end = INT64_MAX,
		.all_paths = true,
		.slowest = 2,
		.whole = chaos_below(&chaos, 2),
		.clutter = chaos_below(&chaos, 2),
		.thread = chaos_below(&chaos, 2) ? "7" : "t1",
	};
	unsigned hosts = 1 + chaos_below(&chaos, 4) / 3;
	/* a quarter of them forget, and another looks at what there is so far */
	uint32_t way = chaos_below(&chaos, 4);
	struct lqn_analysis *a;
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;
	bool made;

	if (chaos_below(&chaos, 4) == 0) {
		options.begin = 1000000000 + chaos_below(&chaos, 30000000);
		options.end = options.begin + chaos_below(&chaos, 30000000);
	}
	if (way < 2) {
		options.detail = way == 0 ? 1000 + chaos_below(&chaos, 100000) : 0;
		options.thread = NULL;	/* whose waits would stay */
	}
	a = lqn_analysis_new(&options);
	for (unsigned i = 0; i < hosts; i++) {
		lqn_analysis_host(a, i ? "other" : "host");
	}
	for (guint i = 0; i < n; i++) {
		if (lqn_event_is_sound(&all[i])) {
			lqn_analysis_event(a, hosts > 1 ? i / 64 % 2 : 0, &all[i]);
			if (way == 0 && i % 16 == 0) {
				lqn_analysis_advance(a, all[i].ts - 100000);
			} else if (way == 1 && chaos_below(&chaos, 100) == 0) {
				go_on(&chaos, a, all[i].ts);
			}
		}
	}
	made = lqn_analysis_finish(a, &model, &paths, &error);
	if (made) {
		check_model(model, paths);
		lqn_model_free(model);
		lqn_path_report_free(paths);
	} else {
		ck_assert_ptr_nonnull(error);
		g_error_free(error);
	}
	if (options.thread) {
		check_thread_path(a);
	}
	lqn_analysis_free(a);
	return made;
}

static void each_seed(void (*test)(uint64_t seed))
{
	uint64_t first = from_environment("LQN_CHAOS_FIRST", 1),
		 n = from_environment("LQN_CHAOS_SEEDS", SEEDS);

	events = g_array_new(FALSE, FALSE, sizeof(struct lqn_event));
	for (uint64_t seed = first; seed < first + n; seed++) {
		if (n != SEEDS) {
			fprintf(stderr, "%lu\n", (unsigned long) seed);
			alarm(20); /* one that hangs is to be the last that is named */
		}
		test(seed);
	}
	alarm(0);
	g_array_free(events, TRUE);
}

static void test_records(uint64_t seed)
{
	bool ordered = make_events(seed);

	for (guint i = 0; i < events->len; i++) {
		const struct lqn_event *ev = &g_array_index(events, struct lqn_event, i);

		DEMAND(!ordered || lqn_event_is_sound(ev), "seed %lu: %s", (unsigned long) seed,
			describe(ev));
		DEMAND(i == 0 || ev->ts >= ev[-1].ts, "seed %lu: events go back in time",
			(unsigned long) seed);
	}
	analyse(seed, (struct lqn_event *) (void *) events->data, events->len);
}

START_TEST(any_records_give_sound_events_and_files)
{
	each_seed(test_records);
}
END_TEST

/* Events lost, doubled, moved, and spoiled, as in a stored trace that somebody else has written. */
static void test_events(uint64_t seed)
{
	struct chaos chaos = chaos_new(seed ^ 0x55aa);
	uint32_t rate = (uint32_t[]){ 1, 10, 100 }[chaos_below(&chaos, 3)];

	make_events(seed);
	for (guint i = 1; i < events->len; i++) {
		struct lqn_event *ev = &g_array_index(events, struct lqn_event, i), swap;
		guint k = 1 + chaos_below(&chaos, events->len - 1);

		if (chaos_below(&chaos, 1000) >= rate) {
			continue;
		}
		switch (chaos_below(&chaos, 4)) {
		case 0:
			*ev = g_array_index(events, struct lqn_event, k);
			break;
		case 1:
			swap = *ev;
			*ev = g_array_index(events, struct lqn_event, k);
			g_array_index(events, struct lqn_event, k) = swap;
			break;
		default:
			chaos_spoil(&chaos, ev);
			break;
		}
	}
	analyse(seed, (struct lqn_event *) (void *) events->data, events->len);
}

START_TEST(any_events_give_sound_files)
{
	each_seed(test_events);
}
END_TEST

SUITE("hostile", any_records_give_sound_events_and_files, any_events_give_sound_files)
