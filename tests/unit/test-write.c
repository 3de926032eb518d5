/* SPDX-License-Identifier: MIT */
/* The writers: what they say, and that nothing from a trace or a locale can spoil their forms. */
#include "write/write.h"

#include <check.h>
#include <json-c/json.h>
#include <libxml/parser.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample-model.h"
#include "suite.h"
#include "texts.h"
#include "write/terms.h"
#include "write/text.h"

static unsigned count_lines(const char *text)
{
	unsigned lines = 0;

	for (const char *p = text; *p; p++) {
		lines += *p == '\n';
	}
	return lines;
}

START_TEST(lqnx_holds_the_model)
{
	static const char *const wanted[] = {
		"<processor name=\"cpu_clients\" scheduling=\"inf\">",
		"<processor name=\"cpu_host\" scheduling=\"ps\" quantum=\"0.001\"",
		"<processor name=\"disk_vda\" scheduling=\"fcfs\" multiplicity=\"1\">",
		"<result-processor utilization=\"0.271\"/>",
		"<task name=\"client\" scheduling=\"ref\" multiplicity=\"4\"",
		"multiplicity=\"4\" think-time=\"0.0436\">",
		"<task name=\"lock_orders\" scheduling=\"fcfs\" multiplicity=\"1\">",
		"<task name=\"delay_timer\" scheduling=\"inf\">",
		"<entry name=\"db_update\" type=\"PH1PH2\">",
		"<!-- web, called by client: 2400 invocations",
		"<!-- server: /usr/sbin/web - -port 80 -->",
		"<result-entry throughput=\"80\" phase1-service-time=\"0.0062\"/>",
		"<forwarding dest=\"db_audit\" prob=\"0.25\"/>",
		"<activity name=\"app_page_1\" phase=\"1\" host-demand-mean=\"0.0008\"",
		"host-demand-cvsq=\"1.4\" think-time=\"0.0002\">",
		"<synch-call dest=\"db_query\" calls-mean=\"1.5\"/>",
		"<activity name=\"app_page_2\" phase=\"2\" host-demand-mean=\"0.0003\">",
		"<asynch-call dest=\"logger_put\" calls-mean=\"1\"/>",
		"<pragma param=\"stop-on-message-loss\" value=\"no\"/>",
		"<pragma param=\"multiserver\" value=\"rolia\"/>",
		"All times are seconds",
		"Note: 12 events were lost",
	};
	struct lqn_model *model = sample_model_new();
	GString *text = lqn_write_lqnx(model);

	assert_holds(text, wanted, G_N_ELEMENTS(wanted));
	g_string_free(text, TRUE);
	lqn_model_free(model);
}
END_TEST

START_TEST(text_form_holds_the_same)
{
	static const char *const wanted[] = {
		"\n#pragma stop-on-message-loss=no\n#pragma multiserver=rolia\n",
		"\nG \"s02\" 1e-05 200 0 0.5 -1\n",
		"  p cpu_clients i\n",
		"  p cpu_host s 0.001 m 4  #",
		"  p disk_vda f  #",
		"  t client r client_get -1 cpu_clients z 0.0436 m 4  #",
		"  t db n db_query db_update db_audit -1 cpu_host m 2  #",
		"  t delay_timer i delay_timer_wait -1 delay  #",
		"  t lock_orders n lock_orders_hold -1 cpu_host  #",
		"  # web, called by client; measured: 2400 invocations",
		"  s app_page 0.0008 0.0003 -1\n",
		"  c app_page 1.4 1 -1\n",
		"  Z app_page 0.0002 0 -1\n",
		"  y app_page db_query 1.5 0 -1\n",
		"  z app_page logger_put 0 1 -1\n",
		"  F web_get db_audit 0.25 -1\n",
		"  s web_get 0.0003 -1\n",
	};
	struct lqn_model *model = sample_model_new();
	GString *text = lqn_write_lqn(model);

	assert_holds(text, wanted, G_N_ELEMENTS(wanted));
	g_string_free(text, TRUE);
	lqn_model_free(model);
}
END_TEST

START_TEST(json_can_be_read_back)
{
	struct lqn_model *model = sample_model_new();
	GString *text = lqn_write_json(model);
	struct json_object *object = json_tokener_parse(text->str);
	struct json_object *schema, *window, *begin, *procs;

	ck_assert_ptr_nonnull(object);
	ck_assert(json_object_object_get_ex(object, "schema", &schema));
	ck_assert_str_eq(json_object_get_string(schema), "lqn-model/1");
	ck_assert(json_object_object_get_ex(object, "window", &window));
	ck_assert(json_object_object_get_ex(window, "begin-ns", &begin));
	ck_assert_int_eq(json_object_get_int64(begin), INT64_C(1764462731123456789));
	ck_assert(json_object_object_get_ex(object, "processors", &procs));
	ck_assert_uint_eq(json_object_array_length(procs), 4);
	json_object_put(object);
	g_string_free(text, TRUE);
	lqn_model_free(model);
}
END_TEST

START_TEST(hostile_names_spoil_no_form)
{
	struct lqn_model *model = sample_model_new_hostile();
	struct lqn_path_report *report = sample_report_new();
	GString *texts[] = {
		lqn_write_lqnx(model), lqn_write_lqn(model), lqn_write_json(model),
		lqn_write_paths(report), lqn_write_summary(model, report),
	};
	xmlDoc *doc = xmlReadMemory(texts[0]->str, texts[0]->len, NULL, NULL, XML_PARSE_NONET);
	struct json_object *object = json_tokener_parse(texts[2]->str);

	ck_assert_ptr_nonnull(doc);
	ck_assert_ptr_nonnull(object);
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		assert_harmless(texts[i]);
	}
	/* lqns copies these into its result, wrongly quoted: see lqnx.c */
	ck_assert_ptr_null(strstr(texts[0]->str, "&quot;"));
	ck_assert_ptr_null(strstr(texts[1]->str, "\n#pragma x"));
	xmlFreeDoc(doc);
	json_object_put(object);
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_string_free(texts[i], TRUE);
	}
	lqn_path_report_free(report);
	lqn_model_free(model);
}
END_TEST

START_TEST(values_that_solvers_refuse_are_zero)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, -1, -0.0 };
	struct lqn_model *model = sample_model_new();
	struct lqn_phase *phase = sample_find_entry(model, "db_query")->phase;
	char buf[LQN_TEXT_NUMBER_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
		GString *xml, *text, *json;

		ck_assert_str_eq(lqn_text_number(buf, values[i]), "0");
		phase[0].demand = phase[0].demand_cvsq = phase[0].think = values[i];
		sample_find_task(model, "client")->think = values[i];
		xml = lqn_write_lqnx(model);
		text = lqn_write_lqn(model);
		json = lqn_write_json(model);
		ck_assert_ptr_nonnull(
			strstr(xml->str, "name=\"db_query_1\" phase=\"1\" host-demand-mean=\"0\""));
		ck_assert_ptr_nonnull(strstr(text->str, "\n  s db_query 0 -1\n"));
		ck_assert_ptr_null(strstr(xml->str, "\"nan\""));
		ck_assert_ptr_null(strstr(json->str, "NaN"));
		ck_assert_ptr_null(strstr(json->str, "Infinity"));
		g_string_free(xml, TRUE);
		g_string_free(text, TRUE);
		g_string_free(json, TRUE);
	}
	ck_assert_str_eq(lqn_text_number(buf, 0.1 + 0.2), "0.3");
	ck_assert_str_eq(lqn_text_number(buf, 1e-7), "1e-07");
	lqn_model_free(model);
}
END_TEST

START_TEST(forwarding_is_at_most_certain)
{
	struct lqn_model *model = sample_model_new();
	struct lqn_entry *web = sample_find_entry(model, "web_get");
	double sum = 0;
	GArray *calls;

	lqn_entry_add_call(web, 0, sample_find_entry(model, "db_query"), LQN_FORWARD, 7);
	lqn_entry_add_call(web, 0, sample_find_entry(model, "db_update"), LQN_FORWARD, 1.0 / 3);
	calls = lqn_entry_merge_calls(web);
	ck_assert_uint_eq(calls->len, 4);
	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call =
			&g_array_index(calls, struct lqn_merged_call, i);

		sum += call->kind == LQN_FORWARD ? call->mean[0] : 0;
	}
	ck_assert(sum <= 1);
	ck_assert(sum > 0.999999);
	g_array_unref(calls);
	lqn_model_free(model);
}
END_TEST

START_TEST(calls_to_one_entry_are_one_call)
{
	struct lqn_model *model = sample_model_new();
	const GArray *calls = sample_find_entry(model, "app_page")->phase[0].calls;

	ck_assert_uint_eq(calls->len, 3);
	ck_assert(g_array_index(calls, struct lqn_model_call, 0).mean == 1.5);
	lqn_model_free(model);
}
END_TEST

/* A client that asks twice each time, a server that asks twice in the mean: 2.005 is what the window's edges make of 2. */
static struct lqn_model *calls_twice(double mean, double cvsq)
{
	struct lqn_model *model = lqn_model_new("twice");
	struct lqn_processor *cpu = lqn_model_add_processor(model, "cpu", LQN_SCHED_PS, 2);
	struct lqn_task *client = lqn_processor_add_task(cpu, "client", LQN_TASK_CLIENT, LQN_SCHED_REF, 4);
	struct lqn_task *server = lqn_processor_add_task(cpu, "server", LQN_TASK_SERVER, LQN_SCHED_FCFS, 1);
	struct lqn_entry *asks = lqn_task_add_entry(client, "asks"), *serves = lqn_task_add_entry(server, "serves");
	struct lqn_model_call call = { .dest = serves, .kind = LQN_SYNC, .mean = mean, .cvsq = cvsq, .ci = 0 };

	asks->phase[0].demand = serves->phase[0].demand = 0.001;
	g_array_append_val(asks->phase[0].calls, call);
	return model;
}

static void expect_fixed(double mean, double cvsq, bool fixed)
{
	struct lqn_model *model = calls_twice(mean, cvsq);
	GString *xml = lqn_write_lqnx(model), *text = lqn_write_lqn(model);

	ck_assert_int_eq(strstr(xml->str, "call-order=\"DETERMINISTIC\"") != NULL, fixed);
	ck_assert_int_eq(strstr(xml->str, "calls-mean=\"2\"") != NULL, fixed);
	ck_assert_int_eq(strstr(text->str, "  f asks 1 -1\n") != NULL, fixed);
	ck_assert_int_eq(strstr(text->str, "  y asks serves 2 -1\n") != NULL, fixed);
	/* who calls nobody has no order of calls */
	ck_assert_ptr_null(strstr(text->str, "  f serves"));
	g_string_free(xml, TRUE);
	g_string_free(text, TRUE);
	lqn_model_free(model);
}

START_TEST(calls_that_are_always_as_many_are_fixed)
{
	expect_fixed(2.005, 0.002, true);
	expect_fixed(2.005, 0.5, false);	/* 2 in the mean */
	expect_fixed(2.1, 0.002, false);
	expect_fixed(2.005, -1, false);		/* not known */
}
END_TEST

START_TEST(permits_ask_for_rolia)
{
	for (unsigned permits = 1; permits < 3; permits++) {
		struct lqn_model *model = calls_twice(1, 0);
		struct lqn_processor *cpu = model->processors->pdata[0];
		struct lqn_task *lock = lqn_processor_add_task(cpu, "lock_1", LQN_TASK_LOCK, LQN_SCHED_FCFS, permits);
		GString *xml;

		cpu->multiplicity = 16;		/* too many for it else */
		lqn_entry_add_call(sample_find_entry(model, "serves"), 0, lqn_task_add_entry(lock, "lock_1_serves"), LQN_SYNC, 1);
		xml = lqn_write_lqnx(model);
		ck_assert_int_eq(strstr(xml->str, "value=\"rolia\"") != NULL, permits > 1);
		g_string_free(xml, TRUE);
		lqn_model_free(model);
	}
}
END_TEST

/* A server that asks another so often, with these shares of its invocations. */
static struct lqn_model *calls_in_numbers(double mean, const double *share, size_t counts)
{
	struct lqn_model *model = calls_twice(1, 0);
	struct lqn_processor *cpu = model->processors->pdata[0];
	struct lqn_task *store = lqn_processor_add_task(cpu, "store", LQN_TASK_SERVER, LQN_SCHED_FCFS, 1);
	struct lqn_entry *serves = sample_find_entry(model, "serves"), *gets = lqn_task_add_entry(store, "gets");
	struct lqn_model_call call = { .dest = gets, .kind = LQN_SYNC, .mean = mean, .cvsq = 1, .ci = 0 };

	memcpy(call.share, share, counts * sizeof(*share));
	gets->phase[0].demand = 0.001;
	g_array_append_val(serves->phase[0].calls, call);
	return model;
}

static void expect_graph(enum lqn_call_kind kind, double mean, const double *share, size_t counts, const char *xml_part,
	const char *text_part)
{
	struct lqn_model *model = calls_in_numbers(mean, share, counts);
	struct lqn_model_call *asks = &g_array_index(sample_find_entry(model, "asks")->phase[0].calls, struct lqn_model_call, 0);
	GString *xml, *text;

	asks->kind = kind;
	lqn_model_find_answers(model);
	xml = lqn_write_lqnx(model);
	text = lqn_write_lqn(model);

	if (xml_part) {
		ck_assert_ptr_nonnull(strstr(xml->str, "<entry name=\"serves\" type=\"NONE\">"));
		ck_assert_msg(strstr(xml->str, xml_part), "%s", xml->str);
		ck_assert_msg(strstr(text->str, text_part), "%s", text->str);
	} else {
		ck_assert_ptr_null(strstr(xml->str, "task-activities"));
		ck_assert_ptr_null(strstr(text->str, "\nA "));
	}
	g_string_free(xml, TRUE);
	g_string_free(text, TRUE);
	lqn_model_free(model);
}

START_TEST(numbers_of_calls_that_vary_little_are_told_one_by_one)
{
	static const double most[] = { 0, 0.25, 0.5, 0.25 }, thirds[] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 },
		chance[] = { 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125 };

	expect_graph(LQN_SYNC, 2, most, 4, "<post-OR>\n            <activity name=\"serves_2_1x\" prob=\"0.25\"/>\n"
		"            <activity name=\"serves_2_2x\" prob=\"0.5\"/>\n",
		"  serves_1 -> (0.25) serves_2_1x + (0.5) serves_2_2x + (0.25) serves_2_3x;\n  serves_2_1x[serves];\n");
	/* as printed they are 1 together */
	expect_graph(LQN_SYNC, 1, thirds, 3, "            <activity name=\"serves_2_1x\" prob=\"0.333333\"/>\n"
		"            <activity name=\"serves_2_2x\" prob=\"0.333334\"/>",
		"(0.333333) serves_2_0x + (0.333333) serves_2_1x + (0.333334) serves_2_2x;");
	expect_graph(LQN_SYNC, 0.96875, chance, 6, NULL, NULL);	/* as solvers assume */
	expect_graph(LQN_ASYNC, 2, most, 4, NULL, NULL);	/* nobody waits for it */
	expect_graph(LQN_SYNC, 1.7, most, 4, NULL, NULL);		/* which are of before something was changed */
}
END_TEST

START_TEST(what_has_no_entries_is_not_for_solvers)
{
	struct lqn_model *model = sample_model_new();
	struct lqn_processor *proc = lqn_model_add_processor(model, "cpu_empty", LQN_SCHED_PS, 2);
	GString *xml, *text;

	lqn_processor_add_task(proc, "no_entries", LQN_TASK_SERVER, LQN_SCHED_FCFS, 1);
	xml = lqn_write_lqnx(model);
	text = lqn_write_lqn(model);
	ck_assert_ptr_null(strstr(xml->str, "cpu_empty"));
	ck_assert_ptr_null(strstr(text->str, "no_entries"));
	g_string_free(xml, TRUE);
	g_string_free(text, TRUE);
	lqn_model_free(model);
}
END_TEST

START_TEST(locale_with_decimal_comma_changes_nothing)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8" };
	struct lqn_model *model = sample_model_new();
	struct lqn_path_report *report = sample_report_new();
	GString *before[] = {
		lqn_write_lqnx(model), lqn_write_lqn(model), lqn_write_json(model),
		lqn_write_paths(report), lqn_write_summary(model, report),
		lqn_write_path_json(report), lqn_write_folded(report), lqn_write_trace_events(report),
	};
	bool found = false;

	for (size_t i = 0; i < G_N_ELEMENTS(names) && !found; i++) {
		found = setlocale(LC_ALL, names[i]) != NULL;
	}
	if (!found) {
		g_printerr("# no locale with a decimal comma here: not tested\n");
	}
	GString *after[] = {
		lqn_write_lqnx(model), lqn_write_lqn(model), lqn_write_json(model),
		lqn_write_paths(report), lqn_write_summary(model, report),
		lqn_write_path_json(report), lqn_write_folded(report), lqn_write_trace_events(report),
	};
	setlocale(LC_ALL, "C");
	for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
		ck_assert_str_eq(before[i]->str, after[i]->str);
		g_string_free(before[i], TRUE);
		g_string_free(after[i], TRUE);
	}
	lqn_path_report_free(report);
	lqn_model_free(model);
}
END_TEST

START_TEST(reports_without_requests_are_written)
{
	struct lqn_path_report *report = lqn_path_report_new(false);
	struct lqn_path_group *group = g_new0(struct lqn_path_group, 1);
	struct lqn_model *model = lqn_model_new("empty");
	GString *texts[6] = { lqn_write_paths(report), lqn_write_summary(model, report) };

	ck_assert_ptr_nonnull(strstr(texts[0]->str, "No requests."));
	g_ptr_array_add(report->groups, group);
	group->task = "nobody";
	texts[2] = lqn_write_paths(report);
	texts[3] = lqn_write_summary(model, report);
	texts[4] = lqn_write_summary(model, NULL);
	texts[5] = lqn_write_json(model);
	ck_assert_ptr_nonnull(strstr(texts[2]->str, "== nobody: 0 requests"));
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		assert_harmless(texts[i]);
		g_string_free(texts[i], TRUE);
	}
	lqn_path_report_free(report);
	lqn_path_report_free(NULL);
	lqn_model_free(model);
	lqn_model_free(NULL);
}
END_TEST

START_TEST(summary_says_the_main_things)
{
	static const char *const wanted[] = {
		"s02, 30.0 s: from the first to the last request",
		"(from 2025-11-30 00:32:11 UTC on)",
		"web     server        4  cpu_host      80.0      0.024\n",
		"web_get      80.0          0.300        6.20  → app_page ×1.00, ↷ db_audit",
		"app_page     80.0  0.800 + 0.300        5.50  → db_query ×1.50,",
		"processors  cpu_host 4 cores, 0.271 busy (7 %, 0.012 in interrupts); disk_vda",
		"clients     client × 4: 80.0 per s, response 6.40 ms, think 43.6 ms\n",
		"lock_orders held 0.900 ms, 80.0 per s",
		"disk_vda service 1.60 ms, 32.0 per s",
		"  typical   2.27 ms: app cpu 0.744 (33 %), db cpu 0.612 (27 %), app lock 0.330",
		"  slow      11.2 ms: app lock 7.43 (67 %), db disk 1.71 (15 %)",
		"blocked     98.9 % of 41.2 s have a known cause (0.430 s have not): message 30.1",
		"hidden      queues at web 0.120 s (40 waits)\n",
		"notes       12 events were lost on CPU 3",
	};
	struct lqn_model *model = sample_model_new();
	struct lqn_path_report *report = sample_report_new();
	GString *text = lqn_write_summary(model, report);

	assert_holds(text, wanted, G_N_ELEMENTS(wanted));
	assert_narrow(text, 100);
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
	lqn_model_free(model);
}
END_TEST

/* Adds tasks with entries that all call all before them. */
static void enlarge(struct lqn_model *model)
{
	struct lqn_processor *cpu = g_ptr_array_index(model->processors, 1);
	GPtrArray *entries = g_ptr_array_new();

	for (unsigned i = 0; i < 60; i++) {
		g_autofree char *name = g_strdup_printf("a_service_with_a_rather_long_name_%u", i);
		struct lqn_task *task = lqn_processor_add_task(cpu, name,
			i % 5 ? LQN_TASK_SERVER : LQN_TASK_LOCK, LQN_SCHED_FCFS, 1 + i);
		struct lqn_entry *entry = lqn_task_add_entry(task, name);

		for (unsigned e = 0; e < entries->len; e++) {
			lqn_entry_add_call(
				entry, 0, g_ptr_array_index(entries, e), LQN_SYNC, 123.456);
		}
		g_ptr_array_add(entries, entry);
		entry->throughput = 1e9;
		g_ptr_array_add(model->notes, g_strdup_printf("%0500d", i));
		g_ptr_array_add(model->background, g_strdup(name));
		lqn_model_add_processor(model, name, LQN_SCHED_PS, 64)->utilization = 12.3;
	}
	g_ptr_array_unref(entries);
}

START_TEST(summary_of_a_large_model_fits_a_screen)
{
	struct lqn_model *model = sample_model_new_hostile();
	struct lqn_path_report *report = sample_report_new();
	GString *text;

	enlarge(model);
	text = lqn_write_summary(model, report);
	assert_narrow(text, 100);
	ck_assert_msg(
		count_lines(text->str) <= 50, "%u lines:\n%s", count_lines(text->str), text->str);
	ck_assert_ptr_nonnull(strstr(text->str, "more tasks\n"));
	ck_assert_ptr_nonnull(strstr(text->str, "more entries\n"));
	ck_assert_ptr_nonnull(strstr(text->str, "more notes\n"));
	g_string_free(text, TRUE);
	lqn_path_report_free(report);
	lqn_model_free(model);
}
END_TEST

START_TEST(text_is_clipped_by_columns)
{
	static const struct {
		const char *text;
		unsigned width;
		const char *want;
	} cases[] = {
		{ "abc", 3, "abc" },
		{ "abcd", 3, "ab…" },
		{ "äöü€", 3, "äö…" },
		{ "漢字漢", 5, "漢字…" },
		{ "漢字漢", 4, "漢…" },
		{ "a\tb\033", 9, "a?b?" },
		{ "", 3, "" },
		{ NULL, 3, "" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *have = lqn_text_clip(cases[i].text, cases[i].width);

		ck_assert_str_eq(have, cases[i].want);
	}
}
END_TEST

START_TEST(numbers_for_people_have_three_digits)
{
	static const struct {
		double value;
		const char *want;
	} cases[] = {
		{ 0, "0.000" }, { 0.0124, "0.012" }, { 0.99951, "1.00" }, { 1.234, "1.23" },
		{ 9.996, "10.0" }, { 99.96, "100" }, { 12345.6, "12346" }, { -1.5, "-1.50" },
		{ NAN, "-" }, { INFINITY, "-" },
	};
	GString *out = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_string_truncate(out, 0);
		lqn_text_append_short(out, cases[i].value);
		ck_assert_str_eq(out->str, cases[i].want);
	}
	g_string_truncate(out, 0);
	lqn_text_append_instant(out, -INT64_C(1500000000));
	ck_assert_str_eq(out->str, "-1.500000000");
	g_string_truncate(out, 0);
	lqn_text_append_instant(out, INT64_MIN);
	ck_assert_str_eq(out->str, "-9223372036.854775808");
	g_string_free(out, TRUE);
}
END_TEST

SUITE("write", lqnx_holds_the_model, text_form_holds_the_same, json_can_be_read_back,
	hostile_names_spoil_no_form, values_that_solvers_refuse_are_zero, forwarding_is_at_most_certain,
	calls_to_one_entry_are_one_call, calls_that_are_always_as_many_are_fixed,
	permits_ask_for_rolia, numbers_of_calls_that_vary_little_are_told_one_by_one, what_has_no_entries_is_not_for_solvers,
	locale_with_decimal_comma_changes_nothing, reports_without_requests_are_written,
	summary_says_the_main_things, summary_of_a_large_model_fits_a_screen, text_is_clipped_by_columns,
	numbers_for_people_have_three_digits)
