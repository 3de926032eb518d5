/* SPDX-License-Identifier: MIT */
/* Connections to hosts that are not in the trace: events of one host, as its filter tells them. */
#include "talk.h"

#include <string.h>

#include "layout/record.h"
#include "suite.h"

#define CYCLES 80
#define US 1000
enum { SERVER = 2, FIRST = 10 };

static struct lqn_analysis *analysis;
static unsigned host;
static int64_t cpu[64], slept[64];
static uint64_t sent[64];

static void start(void)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };

	analysis = lqn_analysis_new(&options);
	host = lqn_analysis_host(analysis, "host");
	memset(cpu, 0, sizeof(cpu));
	memset(slept, 0, sizeof(slept));
	memset(sent, 0, sizeof(sent));
}

static void take(const struct lqn_event *ev)
{
	lqn_analysis_event(analysis, host, ev);
}

static void process(unsigned thread, const char *name)
{
	take(&(struct lqn_event) { .ts = 1000, .type = LQN_EV_THREAD, .thread = { .thread = thread, .pid = thread, .born = -1,
		.comm = name, .exe = "" } });
}

/* A connection whose other end is elsewhere; `closed` in the end. */
static void connection(uint64_t object, enum lqn_role role, const char *name, int64_t ts, bool closed)
{
	take(&(struct lqn_event) { .ts = ts, .type = LQN_EV_OBJECT, .object = { .object = object, .kind = LQN_OBJ_TCP, .role = role,
		.remote = 1, .name = name, .closed = closed } });
}

/* The thread waits in its receive from when it last did anything to `at`, when it gets what has come. */
static void receive(unsigned thread, uint64_t object, int64_t at)
{
	take(&(struct lqn_event) { .ts = at, .type = LQN_EV_WAIT, .wait = { .thread = thread, .begin = slept[thread], .wake = at - 1,
		.end = at - 1, .cpu = cpu[thread], .call_begin = slept[thread], .call = LQN_CALL_RECVFROM, .object = object,
		.cause = LQN_CAUSE_NETWORK, .state = 1 } });
	take(&(struct lqn_event) { .ts = at, .type = LQN_EV_RECEIVE, .receive = { .thread = thread, .object = object,
		.begin = slept[thread], .end = at, .cpu_begin = cpu[thread], .cpu_end = cpu[thread] + 1, .bytes = 64 } });
	slept[thread] = at - 1;
}

/* It has worked since, and sends. */
static void reply(unsigned thread, uint64_t object, int64_t at)
{
	cpu[thread] += at - slept[thread];
	take(&(struct lqn_event) { .ts = at + 1, .type = LQN_EV_SEND, .send = { .thread = thread, .object = object,
		.seq = ++sent[object], .begin = at, .end = at + 1, .cpu_begin = cpu[thread], .cpu_end = cpu[thread] + 1, .bytes = 64 } });
	slept[thread] = at + 1;
	cpu[thread]++;
}

static struct lqn_model *finish(int64_t ts)
{
	struct lqn_path_report *paths = NULL;
	struct lqn_model *model = NULL;

	take(&(struct lqn_event) { .ts = ts, .type = LQN_EV_CPU, .cpu = { .begin = 1000, .end = ts } });
	take(&(struct lqn_event) { .ts = ts, .type = LQN_EV_SUMMARY, .summary = { .begin = 1000, .end = ts } });
	ck_assert(lqn_analysis_finish(analysis, &model, &paths, NULL));
	ck_assert_uint_eq(paths->not_tiled, 0);
	lqn_path_report_free(paths);
	lqn_analysis_free(analysis);
	return model;
}

START_TEST(clients_that_are_not_traced_think_between_answers_and_requests)
{
	struct lqn_model *model;
	struct lqn_task *task;
	int64_t now = 10 * US;

	start();
	for (unsigned k = 0; k < 3; k++) {
		g_autofree char *name = g_strdup_printf("10.0.0.1:80 -> 10.0.0.2:%u", 40000 + k);

		process(SERVER + k, "server");
		slept[SERVER + k] = now;
		connection(FIRST + k, LQN_ROLE_SERVER, name, now, false);
	}
	for (int i = 0; i < CYCLES; i++) {
		for (unsigned k = 0; k < 3; k++) {
			receive(SERVER + k, FIRST + k, now + k * 300 * US + 100 * US);
			reply(SERVER + k, FIRST + k, now + k * 300 * US + 150 * US);
		}
		now += 1000 * US;
	}
	model = finish(now);
	task = talk_task(model, "clients_80");
	ck_assert_ptr_nonnull(task);
	ck_assert_int_eq(task->kind, LQN_TASK_CLIENT);
	ck_assert_uint_eq(task->multiplicity, 3);
	near(task->throughput, 3000);
	near(task->response, 50e-6);
	near(task->think_measured, 950e-6);
	near(task->utilization, 0);
	near(talk_calls(talk_entry(model, "clients_80"), talk_entry(model, "server"), LQN_SYNC), 1);
	/* what the three do after their last answers is spread over all */
	near(talk_entry(model, "server")->phase[0].demand, 53e-6);
	lqn_model_free(model);
}
END_TEST

START_TEST(clients_with_a_connection_for_each_request_are_an_open_source)
{
	struct lqn_model *model;
	struct lqn_task *task;
	int64_t now = 10 * US;

	start();
	process(SERVER, "server");
	slept[SERVER] = now;
	for (unsigned i = 0; i < 40; i++) {
		g_autofree char *name = g_strdup_printf("10.0.0.1:80 -> 10.0.0.2:%u", 40000 + i);

		connection(FIRST + i, LQN_ROLE_SERVER, name, now, false);
		receive(SERVER, FIRST + i, now + 100 * US);
		reply(SERVER, FIRST + i, now + 150 * US);
		connection(FIRST + i, LQN_ROLE_SERVER, name, now + 200 * US, true);
		now += 1000 * US;
	}
	model = finish(now);
	task = talk_task(model, "clients_80");
	ck_assert_ptr_nonnull(task);
	ck_assert_int_eq(task->kind, LQN_TASK_OPEN);
	near(task->throughput, 1000);
	lqn_model_free(model);
}
END_TEST

/* A server that asks another elsewhere: what that takes is a delay. */
START_TEST(a_server_that_is_not_traced_is_a_delay)
{
	struct lqn_model *model;
	struct lqn_task *task;
	int64_t now = 10 * US;

	start();
	process(SERVER, "server");
	slept[SERVER] = now;
	connection(FIRST, LQN_ROLE_SERVER, "10.0.0.1:80 -> 10.0.0.2:40000", now, false);
	connection(FIRST + 1, LQN_ROLE_CLIENT, "10.0.0.1:41000 -> 10.0.0.3:5432", now, false);
	for (int i = 0; i < CYCLES; i++) {
		receive(SERVER, FIRST, now + 100 * US);
		reply(SERVER, FIRST + 1, now + 150 * US);
		receive(SERVER, FIRST + 1, now + 450 * US);
		reply(SERVER, FIRST, now + 470 * US);
		now += 1000 * US;
	}
	model = finish(now);
	task = talk_task(model, "outside_5432");
	ck_assert_ptr_nonnull(task);
	ck_assert_int_eq(task->kind, LQN_TASK_DELAY);
	ck_assert_int_eq(task->sched, LQN_SCHED_INF);
	near(talk_entry(model, "outside_5432")->phase[0].think, 300e-6);
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "outside_5432"), LQN_SYNC), 1);
	near(talk_entry(model, "server")->phase[0].demand, 72e-6);
	lqn_model_free(model);
}
END_TEST

/* Of two hosts that are traced, none is at the other end. */
START_TEST(a_third_host_is_not_traced_either)
{
	struct lqn_model *model;
	int64_t now = 10 * US;

	start();
	lqn_analysis_host(analysis, "other");
	process(SERVER, "server");
	slept[SERVER] = now;
	connection(FIRST, LQN_ROLE_SERVER, "10.0.0.1:80 -> 10.0.0.2:40000", now, false);
	for (int i = 0; i < CYCLES; i++) {
		receive(SERVER, FIRST, now + 100 * US);
		reply(SERVER, FIRST, now + 150 * US);
		now += 1000 * US;
	}
	model = finish(now);
	ck_assert_ptr_nonnull(talk_task(model, "clients_80"));
	near(talk_task(model, "clients_80")->throughput, 1000);
	near(talk_task(model, "clients_80")->response, 50e-6);
	lqn_model_free(model);
}
END_TEST

/* Connections older than the trace: who asks has the port that is given out by chance. */
START_TEST(who_has_the_port_of_a_service_serves)
{
	struct lqn_model *model;
	int64_t now = 10 * US;

	start();
	process(SERVER, "server");
	slept[SERVER] = now;
	connection(FIRST, LQN_ROLE_NONE, "10.0.0.1:80 -> 10.0.0.2:40000", now, false);
	for (int i = 0; i < CYCLES; i++) {
		receive(SERVER, FIRST, now + 100 * US);
		reply(SERVER, FIRST, now + 150 * US);
		now += 1000 * US;
	}
	model = finish(now);
	ck_assert_ptr_nonnull(talk_task(model, "clients_80"));
	near(talk_calls(talk_entry(model, "clients_80"), talk_entry(model, "server"), LQN_SYNC), 1);
	lqn_model_free(model);
}
END_TEST

/* A host whose trace begins in the middle: until then its server is a delay, from then on it is itself. */
START_TEST(who_is_traced_later_is_joined_from_then_on)
{
	enum { THERE = 3 };
	struct lqn_model *model;
	int64_t now = 10 * US;

	start();
	process(SERVER, "server");
	slept[SERVER] = now;
	connection(FIRST, LQN_ROLE_SERVER, "10.0.0.1:80 -> 10.0.0.2:40000", now, false);
	connection(FIRST + 1, LQN_ROLE_CLIENT, "10.0.0.1:41000 -> 10.0.0.3:5432", now, false);
	for (int i = 0; i < CYCLES; i++) {
		const unsigned here = host;

		receive(SERVER, FIRST, now + 100 * US);
		reply(SERVER, FIRST + 1, now + 150 * US);
		if (i == CYCLES / 2) {
			/* the request has been sent, and is received when the trace has begun */
			host = lqn_analysis_host(analysis, "there");
			process(THERE, "database");
			slept[THERE] = now + 155 * US;
			connection(FIRST + 2, LQN_ROLE_SERVER, "10.0.0.3:5432 -> 10.0.0.1:41000", now + 155 * US, false);
		}
		if (i >= CYCLES / 2) {
			host = lqn_analysis_host(analysis, "there");
			receive(THERE, FIRST + 2, now + 200 * US);
			reply(THERE, FIRST + 2, now + 400 * US);
			host = here;
		}
		receive(SERVER, FIRST + 1, now + 450 * US);
		reply(SERVER, FIRST, now + 470 * US);
		now += 1000 * US;
	}
	model = finish(now);
	/* the first request there is nobody's, and what it was sent for is not answered */
	near(talk_calls(talk_entry(model, "server"), talk_entry(model, "database"), LQN_SYNC), (CYCLES / 2 - 2) / (CYCLES - 1.0));
	near(talk_calls(talk_entry(model, "server"), talk_task(model, "outside_5432")->entries->pdata[0], LQN_SYNC),
		CYCLES / 2 / (CYCLES - 1.0));
	near(talk_entry(model, "database")->phase[0].demand, 200e-6);
	lqn_model_free(model);
}
END_TEST

SUITE("outside", clients_that_are_not_traced_think_between_answers_and_requests,
	clients_with_a_connection_for_each_request_are_an_open_source, a_server_that_is_not_traced_is_a_delay,
	a_third_host_is_not_traced_either,
	who_has_the_port_of_a_service_serves, who_is_traced_later_is_joined_from_then_on)
