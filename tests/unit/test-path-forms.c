/* SPDX-License-Identifier: MIT */
/* What is written of critical paths: that it says what it should, and that names from a trace spoil none of the forms. */
#include "write/write.h"

#include <check.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "sample-model.h"
#include "suite.h"
#include "texts.h"

START_TEST(paths_show_the_difference_first)
{
	static const char *const wanted[] = {
		"== client: 2400 requests, ms: mean 2.40, p50 2.27, p95 11.2, p99 14.0, max 19.4",
		"  client         2400  2.40  2.27  11.2  14.0  19.4  app lock lock_orders +6.580\n",
		"  client     app      lock lock_orders  app          buy <?>\uFFFD           1500       300     5.00  "
		"cpu 20 %, sleep 80 %\n",
		"  task       kind       mean ms      %  typical ms  slow ms      %  slow - typical\n"
		"  app        lock         0.768   27.3       0.440    7.000   65.5          +6.560\n"
		"  db         disk         0.276    9.8       0.190    1.900   17.8          +1.710\n",
		"  total                   2.814  100.0       2.400   10.684  100.0          +8.284\n",
		"    lock         0.749  26.6       0.420    7.000  65.5          +6.580  lock_orders\n",
		"  0.018    52.1  web     web/0       4720  wake-up\n",
		"  11.079    90.0  db      db          4741  preempted  kworker/u8:1 <?> \uFFFD\n",
		"lock_orders held by app-worker 4731, request 13 of buy <?>\uFFFD: sleep\n",
		"  beside the path: app_side in thread 4721, from 0.030 to 0.060 ms; slack 0.250 ms\n",
		"client thread 4711\n",
	};
	struct lqn_path_report *report = sample_report_new();
	GString *text = lqn_write_paths(report);

	assert_holds(text, wanted, G_N_ELEMENTS(wanted));
	assert_narrow(text, 140);
	ck_assert_ptr_null(strstr(text->str, "WARNING"));
	g_string_free(text, TRUE);
	report->not_tiled = 3;
	text = lqn_write_paths(report);
	ck_assert_ptr_nonnull(strstr(text->str, "WARNING: the pieces of 3 of 2400 requests"));
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
}
END_TEST

static void add_request(GPtrArray *all, uint32_t number, uint64_t thread, int64_t begin, const char *comm)
{
	struct lqn_request_path *path = g_new0(struct lqn_request_path, 1);
	struct lqn_path_piece pieces[] = {
		{ .begin = begin, .end = begin + 10, .thread = thread, .task = "client", .comm = comm,
			.kind = LQN_PATH_CPU },
		{ .begin = begin + 10, .end = begin + 15, .thread = 7, .task = "web", .comm = "web/0",
			.detail = "lock_1", .kind = LQN_PATH_LOCK,
			.by = { 9, "web", "web/1", "buy", 3, LQN_PATH_SLEEP, "web" } },
	};

	path->begin = begin;
	path->end = begin + 15;
	path->thread = thread;
	path->task = "client";
	path->number = number;
	path->pieces = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_piece));
	g_array_append_vals(path->pieces, pieces, G_N_ELEMENTS(pieces));
	g_ptr_array_add(all, path);
}

START_TEST(path_table_has_every_piece_in_order_of_time)
{
	static const char *const head = "request\tbegin_ns\tend_ns\tpiece_begin_ns\tpiece_end_ns\t"
		"kind\ttask\tthread\tcomm\tdetail\tby_thread\tby_request\tby_operation\tdoing\n";
	struct lqn_path_report *report = lqn_path_report_new(true);
	GString *text = lqn_write_path_table(report);
	g_autofree char *wanted = g_strconcat(head,
		"1\t100\t115\t100\t110\tcpu\tclient\t4294967301\ta?b?c\t\t0\t0\t\t\n"
		"1\t100\t115\t110\t115\tlock\tweb\t7\tweb/0\tlock_1\t9\t3\tbuy\tsleep\n"
		"2\t200\t215\t200\t210\tcpu\tclient\t5\tclient\t\t0\t0\t\t\n"
		"2\t200\t215\t210\t215\tlock\tweb\t7\tweb/0\tlock_1\t9\t3\tbuy\tsleep\n", NULL);

	ck_assert_str_eq(text->str, head);
	g_string_free(text, TRUE);
	add_request(report->all, 2, 5, 200, "client");
	add_request(report->all, 1, (UINT64_C(1) << 32) + 5, 100, "a\tb\nc");
	text = lqn_write_path_table(report);
	ck_assert_str_eq(text->str, wanted);
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
}
END_TEST


/* ---- folded stacks ---- */

START_TEST(stacks_lead_from_the_operation_to_the_wait)
{
	static const char *const wanted[] = {
		"client;p25-p75;client;web;app_page;lock;lock_orders 420000\n",
		"client;p95-p99;client;web;app_page;lock;lock_orders 7000000\n",
		"client;p95-p99;client;web;app_page;db;disk;vda 1900000\n",
		/* a worker of the kernel, on behalf of the database; nothing in a name ends a frame */
		"client;p95-p99;client;web;app_page;db;kworker,1;cpu 12000\n",
	};
	struct lqn_path_report *report = sample_report_new();
	GString *text = lqn_write_folded(report);

	assert_holds(text, wanted, G_N_ELEMENTS(wanted));
	assert_harmless(text);
	/* what takes no time is no stack */
	ck_assert_ptr_null(strstr(text->str, " 0\n"));
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
}
END_TEST

/* A band's stacks add up to the mean of its requests. */
START_TEST(stacks_add_up)
{
	struct lqn_path_report *report = sample_report_new();
	const struct lqn_path_group *group = report->groups->pdata[0];
	GString *text = lqn_write_folded(report);
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
	double sum = 0, shares = 0;

	for (guint i = 0; lines[i] && *lines[i]; i++) {
		if (strstr(lines[i], ";p95-p99;")) {
			sum += g_ascii_strtod(strrchr(lines[i], ' '), NULL);
		}
	}
	for (guint i = 0; i < group->shares->len; i++) {
		shares += lqn_path_share_mean(group, &g_array_index(group->shares, struct lqn_path_share, i), LQN_SET_SLOW);
	}
	ck_assert_double_eq_tol(sum, shares, 10);
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
}
END_TEST

/* ---- JSON ---- */

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *found;

	ck_assert_msg(json_object_object_get_ex(object, name, &found), "no %s", name);
	return found;
}

static struct json_object *element(struct json_object *array, size_t i)
{
	ck_assert_uint_lt(i, json_object_array_length(array));
	return json_object_array_get_idx(array, i);
}

static const char *text_of(struct json_object *object, const char *name)
{
	return json_object_get_string(member(object, name));
}

START_TEST(json_tells_who_stood_in_the_way)
{
	struct lqn_path_report *report = sample_report_new();
	GString *text;
	struct json_object *object, *operation, *slow, *by, *delay;
	int64_t at;

	report->partial = g_strdup("interrupted");
	text = lqn_write_path_json(report);
	object = json_tokener_parse(text->str);

	ck_assert_ptr_nonnull(object);
	assert_harmless(text);
	ck_assert_str_eq(text_of(object, "schema"), "lqn-critical-path/1");
	ck_assert_str_eq(text_of(object, "partial"), "interrupted");
	operation = element(member(object, "operations"), 0);
	ck_assert_str_eq(text_of(operation, "operation"), "client");
	ck_assert_int_eq(json_object_get_int(member(operation, "slow-requests")), 120);
	slow = element(member(operation, "kept"), 1);
	ck_assert_str_eq(json_object_get_string(element(member(slow, "kept"), 1)), "slowest");
	by = member(element(member(slow, "pieces"), 9), "by");
	ck_assert_str_eq(text_of(by, "doing"), "sleep");
	ck_assert_int_eq(json_object_get_int(member(by, "request")), 13);
	ck_assert_int_eq(json_object_get_int64(member(element(member(slow, "parallel"), 0), "slack-ns")), 250000);
	/* the pieces tile the request */
	at = json_object_get_int64(member(slow, "begin-ns"));
	for (size_t i = 0; i < json_object_array_length(member(slow, "pieces")); i++) {
		struct json_object *piece = element(member(slow, "pieces"), i);

		ck_assert_int_eq(json_object_get_int64(member(piece, "begin-ns")), at);
		at = json_object_get_int64(member(piece, "end-ns"));
	}
	ck_assert_int_eq(json_object_get_int64(member(slow, "end-ns")), at);
	delay = element(member(object, "delays"), 0);
	ck_assert_str_eq(text_of(delay, "kind"), "lock");
	ck_assert_double_eq(json_object_get_double(member(delay, "seconds")), 1.5);
	json_object_put(object);
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
}
END_TEST

/* ---- trace events ---- */

/* What begins on a track ends there, the last first, and times never decrease. */
static void assert_nested(struct json_object *events)
{
	size_t n = json_object_array_length(events);

	for (size_t i = 0; i < n; i++) {
		struct json_object *first = element(events, i);
		double at = -1;
		int depth = 0;

		if (strcmp(text_of(first, "name"), "thread_name") != 0) {
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			struct json_object *it = element(events, k);
			bool begins = strcmp(text_of(it, "ph"), "B") == 0;

			if (strcmp(text_of(it, "ph"), "M") == 0 ||
				json_object_get_int(member(it, "pid")) != json_object_get_int(member(first, "pid")) ||
				json_object_get_int(member(it, "tid")) != json_object_get_int(member(first, "tid"))) {
				continue;
			}
			ck_assert(json_object_get_double(member(it, "ts")) >= at);
			at = json_object_get_double(member(it, "ts"));
			depth += begins ? 1 : -1;
			ck_assert_int_ge(depth, 0);
		}
		ck_assert_int_eq(depth, 0);
	}
}

START_TEST(slow_requests_are_processes_with_tracks)
{
	struct lqn_path_report *report = sample_report_new();
	GString *text = lqn_write_trace_events(report);
	struct json_object *object = json_tokener_parse(text->str), *events;
	static const char *const wanted[] = {
		"{\"name\":\"client: request 4, 11.169 ms, one of the slowest\"}",
		"\"name\":\"critical path\"", "\"name\":\"client 4711 (vm)\"",
		"\"ph\":\"B\",\"pid\":4,\"tid\":3,\"name\":\"lock: lock_orders\",\"cat\":\"lock\",\"ts\":20.000}",
		"\"ph\":\"E\",\"pid\":4,\"tid\":3,\"name\":\"lock: lock_orders\",\"cat\":\"lock\",\"ts\":11159.446}",
		"\"app_side, slack 250.000 us\"", "\"origin-ns\":\"1764462741000000000\"",
	};

	ck_assert_ptr_nonnull(object);
	assert_harmless(text);
	assert_holds(text, wanted, G_N_ELEMENTS(wanted));
	events = member(object, "traceEvents");
	ck_assert_uint_gt(json_object_array_length(events), 20);
	assert_nested(events);
	/* of the sample nothing more is known than its path */
	ck_assert_ptr_null(strstr(text->str, "request 17,"));
	json_object_put(object);
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
}
END_TEST

/* of a batch that began before the request came: no time is before 0 */
START_TEST(a_request_is_shown_from_its_oldest_work_on)
{
	struct lqn_path_report *report = sample_report_new();
	const struct lqn_path_group *group = g_ptr_array_index(report->groups, 0);
	struct lqn_request_path *slow = g_ptr_array_index(group->kept, group->kept->len - 1);
	GString *text;
	static const char *const wanted[] = { "\"ts\":0.000}", "\"ts\":0.500}", "\"origin-ns\":\"1764462740999999500\"" };

	g_array_index(slow->works, struct lqn_path_work, 1).begin = slow->begin - 500;
	text = lqn_write_trace_events(report);
	assert_holds(text, wanted, G_N_ELEMENTS(wanted));
	ck_assert_ptr_null(strstr(text->str, ":-"));
	ck_assert_ptr_null(strstr(text->str, ".-"));
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
}
END_TEST

START_TEST(nothing_is_a_file_as_well)
{
	struct lqn_path_report *report = lqn_path_report_new(false);
	GString *texts[] = { lqn_write_folded(report), lqn_write_path_json(report), lqn_write_trace_events(report) };

	ck_assert_uint_eq(texts[0]->len, 0);
	for (size_t i = 1; i < G_N_ELEMENTS(texts); i++) {
		struct json_object *object = json_tokener_parse(texts[i]->str);

		ck_assert_ptr_nonnull(object);
		json_object_put(object);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_string_free(texts[i], TRUE);
	}
	lqn_path_report_free(report);
}
END_TEST

SUITE("path-forms", paths_show_the_difference_first, path_table_has_every_piece_in_order_of_time,
	stacks_lead_from_the_operation_to_the_wait, stacks_add_up, json_tells_who_stood_in_the_way,
	slow_requests_are_processes_with_tracks, a_request_is_shown_from_its_oldest_work_on, nothing_is_a_file_as_well)
