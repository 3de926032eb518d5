/* SPDX-License-Identifier: MIT */
/* Operational laws and bounds of models that can be reckoned by hand; and solvers of all kinds. */
#include <glib/gstdio.h>
#include <string.h>

#include "model/check.h"
#include "model/model.h"
#include "solve/solve.h"
#include "suite.h"
#include "talk.h"
#include "write/write.h"

static struct lqn_model *model;
static struct lqn_processor *cpu;
static struct lqn_task *client, *web, *db;
static struct lqn_entry *cycle, *get, *query;

static void same(double got, double want)
{
	ck_assert_double_eq_tol(got, want, 1e-9 + 1e-6 * want);
}

static struct lqn_entry *entry(struct lqn_task *task, const char *name, double demand, double throughput)
{
	struct lqn_entry *it = lqn_task_add_entry(task, name);

	it->phase[0].demand = demand;
	it->throughput = throughput;
	return it;
}

/*
 * Ten cycles a second of four clients that think for 300 ms: 100 ms each, of which CPU: client 10 ms, web 20 ms, and two queries of db at
 * 5 ms, each with a sleep of 10 ms.
 */
static void make(void)
{
	model = lqn_model_new("m");
	cpu = lqn_model_add_processor(model, "cpu", LQN_SCHED_PS, 2);
	client = lqn_processor_add_task(cpu, "client", LQN_TASK_CLIENT, LQN_SCHED_REF, 4);
	web = lqn_processor_add_task(cpu, "web", LQN_TASK_SERVER, LQN_SCHED_FCFS, 3);
	db = lqn_processor_add_task(cpu, "db", LQN_TASK_SERVER, LQN_SCHED_FCFS, 1);
	cycle = entry(client, "cycle", 0.010, 10);
	get = entry(web, "get", 0.020, 10);
	query = entry(db, "query", 0.005, 20);
	query->phase[0].think = 0.010;
	lqn_entry_add_call(cycle, 0, get, LQN_SYNC, 1);
	lqn_entry_add_call(get, 0, query, LQN_SYNC, 2);
	client->throughput = 10;
	client->response = 0.1;
	client->think = client->think_measured = 0.3;
	cpu->utilization = 0.4;
}

static struct lqn_checks *check(void)
{
	lqn_checks_free(model->checks);
	model->checks = lqn_checks_new(model);
	return model->checks;
}

static const struct lqn_resource *resource(const struct lqn_checks *checks, guint i)
{
	return &g_array_index(checks->resources, struct lqn_resource, i);
}

START_TEST(laws_hold_where_nothing_is_missing)
{
	make();
	check();
	same(model->checks->little.deviation, 0);
	same(model->checks->flow.deviation, 0);
	same(model->checks->utilization.deviation, 0);
	lqn_model_free(model);
}
END_TEST

START_TEST(laws_tell_where_most_is_missing)
{
	const struct lqn_checks *checks;

	make();
	client->think_measured = 0.28;		/* ten cycles a second of 380 ms are of 3.8 clients */
	query->throughput = 25;			/* of which web asks for 20 */
	cpu->utilization = 0.5;			/* 0.1 + 0.2 + 25 × 0.005 are 0.425 */
	checks = check();
	same(checks->little.deviation, 0.05);
	ck_assert_str_eq(checks->little.where, "client");
	same(checks->flow.deviation, 0.2);
	ck_assert_str_eq(checks->flow.where, "query");
	same(checks->utilization.deviation, 0.15);
	lqn_model_free(model);
}
END_TEST

START_TEST(bounds_and_saturation_are_those_of_the_largest_demand)
{
	const struct lqn_checks *checks;
	const struct lqn_class_bounds *bounds;

	make();
	checks = check();
	bounds = &g_array_index(checks->bounds, struct lqn_class_bounds, 0);
	/* 10 + 20 + 2 × 15 ms */
	same(bounds->alone, 0.060);
	same(bounds->response, 0.060);
	same(bounds->throughput, 4 / 0.36);
	/* db holds its thread for 30 ms a cycle: 33 cycles a second are all it can */
	ck_assert_str_eq(resource(checks, 0)->name, "db");
	same(resource(checks, 0)->busy, 0.3);
	same(resource(checks, 0)->growth, 1 / 0.3);
	same(checks->clients_at_saturation, 0.36 / 0.030);
	/* the processor 40 of 2000 ms, web 50 of 3000 */
	ck_assert_str_eq(resource(checks, 1)->name, "cpu");
	same(resource(checks, 1)->growth, 5);
	ck_assert_str_eq(resource(checks, 2)->name, "web");
	same(resource(checks, 2)->growth, 6);
	/* with many clients the largest demand decides */
	client->multiplicity = 40;
	bounds = &g_array_index(check()->bounds, struct lqn_class_bounds, 0);
	same(bounds->throughput, 1 / 0.030);
	same(bounds->response, 40 * 0.030 - 0.3);
	lqn_model_free(model);
}
END_TEST

START_TEST(background_leaves_less_of_a_processor)
{
	const struct lqn_checks *checks;
	struct lqn_task *background;

	make();
	background = lqn_processor_add_task(cpu, "background", LQN_TASK_BACKGROUND, LQN_SCHED_REF, 1);
	entry(background, "load", 0.001, 1400);
	background->throughput = 1400;
	cpu->utilization = 1.8;
	checks = check();
	same(checks->utilization.deviation, 0);
	ck_assert_str_eq(resource(checks, 0)->name, "cpu");
	same(resource(checks, 0)->growth, 0.6 / 0.4);
	lqn_model_free(model);
}
END_TEST

START_TEST(second_phases_and_forwarded_work_hold_whom_they_hold)
{
	const struct lqn_checks *checks;

	make();
	/* web hands over to db, which answers the client and goes on for 40 ms */
	g_array_set_size(get->phase[0].calls, 0);
	lqn_entry_add_call(get, 0, query, LQN_FORWARD, 1);
	query->has_phase2 = true;
	query->phase[1].demand = 0.040;
	query->throughput = 10;
	checks = check();
	same(g_array_index(checks->bounds, struct lqn_class_bounds, 0).alone, 0.010 + 0.020 + 0.015);
	ck_assert_str_eq(resource(checks, 0)->name, "db");
	same(resource(checks, 0)->busy, 0.55);
	ck_assert_str_eq(resource(checks, 2)->name, "web");
	same(resource(checks, 2)->busy, 0.2);
	lqn_model_free(model);
}
END_TEST

START_TEST(asynchronous_calls_in_a_circle_come_to_an_end)
{
	make();
	lqn_entry_add_call(query, 0, get, LQN_ASYNC, 1);
	ck_assert_double_gt(g_array_index(check()->bounds, struct lqn_class_bounds, 0).throughput, 0);
	lqn_model_free(model);
}
END_TEST

START_TEST(an_empty_model_has_nothing_to_check)
{
	model = lqn_model_new("m");
	check();
	ck_assert(model->checks->little.deviation < 0 && model->checks->flow.deviation < 0);
	ck_assert(model->checks->clients_at_saturation < 0);
	lqn_model_free(model);
}
END_TEST

START_TEST(the_summary_tells_of_checks_and_predictions)
{
	static const char *const lines[] = {
		"checks      Little's law within 0.0 % (client), forced flow within 0.0 % (get),\n",
		"bounds      client at most 11.1 per s, response at least 60.0 ms\n",
		"saturated   first db (1 thread, 0.30 busy) at 3.3 × this load, 12 clients (now 4);\n",
		"then cpu (2 cores, 0.40 busy) at 5.0 × this load\n",
		"predicted   has not converged; client 11.0 per s (was 10.0, +10.0 %)\n",
	};
	const struct lqn_predicted_value value = { "client", LQN_PREDICTED_THROUGHPUT, 10, 11 };
	struct lqn_checks *checks;
	GString *text;

	make();
	checks = check();
	checks->solver = g_strdup("/opt/lqns");
	checks->prediction = lqn_prediction_new();
	g_array_append_val(checks->prediction->values, value);
	text = lqn_write_summary(model, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		ck_assert_msg(strstr(text->str, lines[i]) != NULL, "`%s` is not in:\n%s", lines[i], text->str);
	}
	g_string_free(text, TRUE);
	checks->failure = g_strdup("no result");
	text = lqn_write_summary(model, NULL);
	ck_assert_ptr_nonnull(strstr(text->str, "predicted   lqns: no result\n"));
	g_string_free(text, TRUE);
	text = lqn_write_json(model);
	ck_assert_ptr_nonnull(strstr(text->str, "\"clients-at-saturation\": 12"));
	ck_assert_ptr_nonnull(strstr(text->str, "\"failure\": \"no result\""));
	g_string_free(text, TRUE);
	lqn_model_free(model);
}
END_TEST

/* ---- how many customers there are ---- */

static struct talk t;
enum { SERVER = 3, ONE = 4, OTHER = 5 };

/* Two clients of one name ask so many times each, one after the other or in turn. */
static void two_clients(int first, int second, bool in_turn)
{
	talk_start(&t);
	talk_process(&t, SERVER, "server");
	talk_process(&t, ONE, "client");
	talk_process(&t, OTHER, "client");
	talk_connect(&t, ONE, 5, SERVER, 7);
	talk_connect(&t, OTHER, 5, SERVER, 8);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < first + second; i++) {
		bool other = in_turn ? i % 2 : i >= first;
		int who = other ? OTHER : ONE, fd = other ? 8 : 7;

		talk_sleep(&t, who, 400);
		talk_request(&t, who, 5, SERVER);
		talk_work(&t, 100);
		talk_reply(&t, SERVER, fd, who);
	}
	model = talk_finish(&t, &(struct lqn_options) { .begin = INT64_MIN, .end = INT64_MAX, .whole = true });
	client = talk_task(model, "client");
}

static bool is_noted(const char *note)
{
	for (guint i = 0; i < model->notes->len; i++) {
		if (strcmp(model->notes->pdata[i], note) == 0) {
			return true;
		}
	}
	return false;
}

START_TEST(customers_that_come_one_after_another_are_not_there_together)
{
	two_clients(60, 60, false);
	ck_assert_uint_eq(client->multiplicity, 1);
	ck_assert(is_noted("client: 2 customers are seen, 1 at a time"));
	ck_assert_double_eq_tol(client->think, 400e-6, 20e-6);
	lqn_model_free(model);
	two_clients(60, 60, true);
	ck_assert_uint_eq(client->multiplicity, 2);
	ck_assert_double_lt(model->checks->little.deviation, 0.05);
	lqn_model_free(model);
}
END_TEST

START_TEST(who_asks_once_or_twice_beside_a_busy_one_is_no_customer)
{
	two_clients(1, 60, false);
	ck_assert_uint_eq(client->multiplicity, 1);
	lqn_model_free(model);
}
END_TEST

/* Sleeps until a time of the clock: a think time of 400 us, or what is left of a period of 1 ms. Requests take 100 or 300 us. */
static void one_that_sleeps_until(bool paced)
{
	talk_start(&t);
	talk_process(&t, SERVER, "server");
	talk_process(&t, ONE, "client");
	talk_connect(&t, ONE, 5, SERVER, 7);
	talk_await(&t, SERVER, "recvfrom", 7);
	for (int i = 0; i < 60; i++) {
		long served = i % 3 ? 100 : 300, asleep = paced ? 1000 - (i % 3 == 1 ? 300 : 100) - 6 : 400, woken = t.now + asleep;

		feed(t.feed, "%ld c4 +clock_nanosleep 1 1\n%ld c4 sw 4>0 S\n%ld c4 +hrtimer 1\n%ld c4 wk 4\n"
			"%ld c4 -hrtimer 1\n%ld c4 sw 0>4 R\n"
			"%ld c4 -clock_nanosleep 0", t.now, t.now, woken, woken, woken, woken, woken);
		t.now = woken;
		talk_request(&t, ONE, 5, SERVER);
		talk_work(&t, served);
		talk_reply(&t, SERVER, 7, ONE);
	}
	model = talk_finish(&t, &(struct lqn_options) { .begin = INT64_MIN, .end = INT64_MAX, .whole = true });
	client = talk_task(model, "client");
}

START_TEST(who_keeps_a_pace_is_an_open_source_who_thinks_is_a_customer)
{
	one_that_sleeps_until(true);
	ck_assert_int_eq(client->kind, LQN_TASK_OPEN);
	lqn_model_free(model);
	one_that_sleeps_until(false);
	ck_assert_int_eq(client->kind, LQN_TASK_CLIENT);
	ck_assert_uint_eq(client->multiplicity, 1);
	lqn_model_free(model);
}
END_TEST

/* ---- solvers ---- */

static char *folder;

/* A program with this body, whose arguments are those of lqns: -x -o OUT IN. */
static char *program(const char *body)
{
	char *path = g_build_filename(folder, "solver", NULL);
	g_autofree char *text = g_strconcat("#!/bin/sh\n", body, "\n", NULL);

	ck_assert(g_file_set_contents(path, text, -1, NULL));
	ck_assert_int_eq(g_chmod(path, 0700), 0);
	return path;
}

static struct lqn_prediction *solve(const char *body, double seconds, GError **error)
{
	struct lqn_prediction *prediction;
	g_autofree char *path = NULL;

	folder = g_dir_make_tmp("lqn-test-XXXXXX", NULL);
	path = program(body);
	prediction = lqn_solve(model, path, seconds, error);
	g_unlink(path);
	g_rmdir(folder);
	g_clear_pointer(&folder, g_free);
	return prediction;
}

#define RESULT(valid) \
	"<lqn-model><solver-params><result-general valid=\"" valid "\"/></solver-params><processor name=\"cpu\">" \
	"<result-processor utilization=\"0.5\"/><task name=\"client\"><result-task throughput=\"11\"/><entry name=\"cycle\">" \
	"<entry-phase-activities><activity name=\"a\"><result-activity service-time=\"0.08\"/></activity></entry-phase-activities>" \
	"</entry></task></processor></lqn-model>"

START_TEST(what_a_solver_predicts_stands_beside_what_was_measured)
{
	g_autoptr(GError) error = NULL;
	struct lqn_prediction *prediction;
	static const struct lqn_predicted_value wanted[] = {
		{ "client", LQN_PREDICTED_THROUGHPUT, 10, 11 },
		{ "client", LQN_PREDICTED_RESPONSE, 0.1, 0.08 },
		{ "cpu", LQN_PREDICTED_UTILIZATION, 0.4, 0.5 },
	};

	make();
	/* it must get a model, and all that it leaves behind goes */
	prediction = solve("test -s \"$4\" && touch other && echo warning >&2 && cat >\"$3\" <<'END'\n" RESULT("true") "\nEND", 20, &error);
	ck_assert_msg(prediction != NULL, "%s", error ? error->message : "no error");
	ck_assert(prediction->converged);
	ck_assert_uint_eq(prediction->values->len, G_N_ELEMENTS(wanted));
	for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
		const struct lqn_predicted_value *value = &g_array_index(prediction->values, struct lqn_predicted_value, i);

		ck_assert_str_eq(value->name, wanted[i].name);
		ck_assert_int_eq(value->what, wanted[i].what);
		same(value->measured, wanted[i].measured);
		same(value->predicted, wanted[i].predicted);
	}
	lqn_prediction_free(prediction);
	prediction = lqn_solve_read(model, RESULT("false"), strlen(RESULT("false")), &error);
	ck_assert(!prediction->converged);
	lqn_prediction_free(prediction);
	lqn_model_free(model);
}
END_TEST

START_TEST(a_solver_that_fails_is_told_of)
{
	static const struct {
		const char *body, *reason;
	} cases[] = {
		{ "exec sleep 60", "no result within" },
		{ "exec 2>/dev/null; exec sleep 60", "no result within" },
		{ "echo; echo model.lqnx:7: error: bad >&2; exit 2", "status 2: model.lqnx:7: error: bad" },
		{ "kill -9 $$", "signal 9: it says nothing" },
		{ "true", "wrote no result" },
		{ "echo '<lqn-model' >\"$3\"", "cannot be read" },
		{ "echo '<lqn-model/>' >\"$3\"", "cannot be read" },
		{ "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", "status 1" },
	};

	make();
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;

		ck_assert_ptr_null(solve(cases[i].body, i < 2 ? 0.3 : 20, &error));
		ck_assert_msg(strstr(error->message, cases[i].reason) != NULL, "case %zu: %s", i, error->message);
	}
	lqn_model_free(model);
}
END_TEST

START_TEST(a_solver_that_is_not_there_is_told_of)
{
	g_autoptr(GError) error = NULL;

	make();
	ck_assert_ptr_null(lqn_solve(model, "no-such-solver", 1, &error));
	ck_assert(g_error_matches(error, LQN_SOLVE_ERROR, LQN_SOLVE_NO_PROGRAM));
	lqn_model_free(model);
}
END_TEST

/* Of two processes of one name the first asks the second. */
START_TEST(a_task_that_calls_itself_is_told_of)
{
	bool told = false;

	talk_pair(&t, 1, "client", 2, "server");
	talk_process(&t, 3, "server");
	talk_connect(&t, 2, 11, 3, 13);
	talk_await(&t, 3, "recvfrom", 13);
	for (int i = 0; i < 60; i++) {
		talk_request(&t, 1, 5, 2);
		talk_work(&t, 10);
		talk_request(&t, 2, 11, 3);
		talk_work(&t, 50);
		talk_reply(&t, 3, 13, 2);
		talk_reply(&t, 2, 7, 1);
		talk_sleep(&t, 1, 300);
	}
	model = talk_finish(&t, NULL);
	for (guint i = 0; i < model->notes->len; i++) {
		told |= strstr(model->notes->pdata[i], "server: its processes call each other, 0.5 times a request") != NULL;
	}
	ck_assert(told);
	lqn_model_free(model);
}
END_TEST

SUITE("check",
	a_task_that_calls_itself_is_told_of,
	laws_hold_where_nothing_is_missing,
	laws_tell_where_most_is_missing,
	bounds_and_saturation_are_those_of_the_largest_demand,
	background_leaves_less_of_a_processor,
	second_phases_and_forwarded_work_hold_whom_they_hold,
	asynchronous_calls_in_a_circle_come_to_an_end,
	an_empty_model_has_nothing_to_check,
	the_summary_tells_of_checks_and_predictions,
	customers_that_come_one_after_another_are_not_there_together,
	who_asks_once_or_twice_beside_a_busy_one_is_no_customer,
	who_keeps_a_pace_is_an_open_source_who_thinks_is_a_customer,
	what_a_solver_predicts_stands_beside_what_was_measured,
	a_solver_that_fails_is_told_of,
	a_solver_that_is_not_there_is_told_of)
