/* SPDX-License-Identifier: MIT */
/* Snapshots and rules: what processes are called, and what the filter knows of the time before the trace. */
#include <string.h>

#include "identity/rules.h"
#include "identity/snapshot.h"
#include "suite.h"
#include "talk.h"

#define HEAD "{\"schema\":\"lqn-snapshot/1\",\"host\":\"host\","

static struct lqn_snapshot *snapshot_of(const char *processes, const char *sockets)
{
	g_autofree char *text = g_strdup_printf(HEAD "\"processes\":[%s],\"sockets\":[%s]}", processes, sockets);
	g_autoptr(GError) error = NULL;
	struct lqn_snapshot *snapshot = lqn_snapshot_parse(text, "id.json", &error);

	ck_assert_msg(snapshot != NULL, "%s", error ? error->message : "no error");
	return snapshot;
}

/* ---- names ---- */

#define PROCESS(pid, comm, exe, cmdline, more) \
	"{\"pid\":" #pid ",\"comm\":\"" comm "\",\"exe\":\"" exe "\",\"cmdline\":[" cmdline "],\"seen\":[\"begin\",\"end\"]" more "}"
#define PYTHON "/usr/bin/python3.11"

/* Processes of one host, and what their tasks are called. */
static void expect_names(const char *processes, const char *sockets, const char *const *names)
{
	struct lqn_snapshot *snapshot = snapshot_of(processes, sockets);

	for (guint i = 0; i < snapshot->processes->len; i++) {
		ck_assert_str_eq(((struct lqn_snapshot_process *) snapshot->processes->pdata[i])->name, names[i]);
	}
	ck_assert_ptr_null(names[snapshot->processes->len]);
	lqn_snapshot_free(snapshot);
}

START_TEST(a_program_is_what_an_interpreter_runs)
{
	static const struct {
		const char *process, *name;
	} cases[] = {
		{ PROCESS(7, "python3", PYTHON, "\"python3\",\"/srv/worker.py\",\"-v\"", ""), "worker" },
		{ PROCESS(7, "python3", PYTHON, "\"python3\",\"-W\",\"ignore\",\"-m\",\"uvicorn\",\"app:app\"", ""), "uvicorn" },
		{ PROCESS(7, "python3", PYTHON, "\"python3\",\"-c\",\"import x\"", ""), "python3" },
		{ PROCESS(7, "gunicorn", PYTHON, "\"/usr/bin/python3\",\"/usr/bin/gunicorn\",\"app\"", ""), "gunicorn" },
		{ PROCESS(7, "own-title", PYTHON, "\"python3\",\"/srv/worker.py\"", ""), "own-title" },
		{ PROCESS(7, "java", "/usr/lib/jvm/bin/java", "\"java\",\"-Xmx1g\",\"-jar\",\"/opt/orders.jar\"", ""), "orders" },
		{ PROCESS(7, "java", "/jvm/java", "\"java\",\"-cp\",\"a.jar:b.jar\",\"org.shop.Billing\",\"x\"", ""), "Billing" },
		{ PROCESS(7, "MainThread", "/usr/bin/node", "\"node\",\"--inspect\",\"/srv/api.mjs\"", ""), "api" },
		{ PROCESS(7, "sh", "/usr/bin/dash", "\"sh\",\"-c\",\"sleep 1\"", ""), "sh" },
		{ PROCESS(7, "postgres", "/usr/lib/postgresql/postgres", "\"postgres: checkpointer \"", ""), "postgres" },
		{ PROCESS(7, "gnome-keyring-d", "/usr/bin/gnome-keyring-daemon", "\"x\"", ""), "gnome-keyring-daemon" },
		{ PROCESS(7, "web/3", "/usr/bin/tiers", "\"web\"", ""), "web" },
		{ PROCESS(7, "shop", "/usr/bin/shop", "\"shop\",\"now\"", ""), "shop" },
		{ "{\"pid\":7}", "unnamed" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		expect_names(cases[i].process, "", (const char *const[]) { cases[i].name, NULL });
	}
}
END_TEST

START_TEST(a_service_gives_its_program_its_name)
{
	/* the shell that starts it does not count, a helper keeps its own name */
	expect_names(PROCESS(10, "sh", "/usr/bin/dash", "\"sh\",\"/opt/run\"", ",\"service\":\"broker\"") ","
		PROCESS(11, "beam.smp", "/usr/lib/beam.smp", "\"beam.smp\"", ",\"service\":\"broker\"") ","
		PROCESS(12, "epmd", "/usr/bin/epmd", "\"epmd\"", ",\"service\":\"broker\"") ","
		PROCESS(13, "beam.smp", "/usr/lib/beam.smp", "\"beam.smp\"", ""), "",
		(const char *const[]) { "run", "broker", "epmd", "beam.smp", NULL });
}
END_TEST

START_TEST(processes_of_one_name_are_told_apart_by_service_container_folder)
{
	expect_names(PROCESS(1, "worker", "/usr/bin/worker", "\"worker\"", ",\"container\":\"4f3a\"") ","
		PROCESS(2, "worker", "/usr/bin/worker", "\"worker\"", ",\"container\":\"99bc\"") ","
		PROCESS(3, "worker", "/usr/bin/worker", "\"worker\"", ""), "",
		(const char *const[]) { "worker_4f3a", "worker_99bc", "worker", NULL });
	expect_names(PROCESS(1, "python3", PYTHON, "\"python3\",\"server.py\"", ",\"cwd\":\"/srv/shop/bin\"") ","
		PROCESS(2, "python3", PYTHON, "\"python3\",\"/srv/stock/bin/server.py\"", "") ","
		PROCESS(3, "python3", PYTHON, "\"python3\",\"/srv/stock/bin/server.py\"", ""), "",
		(const char *const[]) { "server_shop", "server_stock", "server_stock", NULL });
	/* both are helpers of their services, whose names go to others */
	expect_names(PROCESS(1, "a", "/a", "\"a\"", ",\"service\":\"one\"") "," PROCESS(2, "b", "/b", "\"b\"", ",\"service\":\"two\"") ","
		PROCESS(3, "help", "/help", "\"help\"", ",\"service\":\"one\"") ","
		PROCESS(4, "help", "/help", "\"help\"", ",\"service\":\"two\""), "",
		(const char *const[]) { "one", "two", "help_one", "help_two", NULL });
}
END_TEST

START_TEST(servers_that_listen_apart_are_two_those_that_share_are_one)
{
	expect_names(PROCESS(1, "redis-server", "/redis-server", "\"r\"", ",\"fds\":[{\"fd\":6,\"file\":\"socket:[11]\"}]") ","
		PROCESS(2, "redis-server", "/redis-server", "\"r\"", ",\"fds\":[{\"fd\":6,\"file\":\"socket:[12]\"}]") ","
		PROCESS(3, "redis-server", "/redis-server", "\"r\"", ",\"ppid\":2"),
		"{\"inode\":11,\"type\":\"tcp\",\"local\":\"0.0.0.0:6379\",\"listening\":true},"
		"{\"inode\":12,\"type\":\"tcp\",\"local\":\"[::]:6380\",\"listening\":true}",
		(const char *const[]) { "redis-server_6379", "redis-server_6380", "redis-server_6380", NULL });
	expect_names(PROCESS(1, "nginx", "/nginx", "\"n\"", ",\"fds\":[{\"fd\":6,\"file\":\"socket:[11]\"}]") ","
		PROCESS(2, "nginx", "/nginx", "\"n\"", ",\"fds\":[{\"fd\":6,\"file\":\"socket:[11]\"}]"),
		"{\"inode\":11,\"type\":\"tcp\",\"local\":\"0.0.0.0:80\",\"listening\":true}",
		(const char *const[]) { "nginx", "nginx", NULL });
}
END_TEST

/* ---- files ---- */

static void refuse_snapshot(const char *text, const char *word)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lqn_snapshot_parse(text, "id.json", &error));
	ck_assert_msg(strstr(error->message, word) && strstr(error->message, "id.json"), "`%s` lacks `%s`", error->message, word);
}

START_TEST(a_file_that_is_no_snapshot_is_refused_with_its_place)
{
	refuse_snapshot("", "line 1");
	refuse_snapshot("{\n\"schema\": \"lqn-snapshot/1\",\n\"host\": }", "line 3");
	refuse_snapshot("[]", "JSON object");
	refuse_snapshot("{\"schema\":\"lqn-snapshot/9\",\"host\":\"h\",\"processes\":[],\"sockets\":[]}", "lqn-snapshot/9");
	refuse_snapshot("{\"schema\":\"lqn-snapshot/1\",\"processes\":[],\"sockets\":[]}", "`host`");
	refuse_snapshot(HEAD "\"processes\":[]}", "`sockets`");
	refuse_snapshot(HEAD "\"processes\":[{\"pid\":1},{\"pid\":-4}],\"sockets\":[]}", "element 2");
	refuse_snapshot(HEAD "\"processes\":[null],\"sockets\":[]}", "element 1");
	refuse_snapshot(HEAD "\"processes\":[],\"sockets\":[7]}", "element 1");
}
END_TEST

START_TEST(what_makes_no_sense_in_a_snapshot_is_passed_over)
{
	struct lqn_snapshot *snapshot = snapshot_of("{\"pid\":5,\"comm\":7,\"threads\":[-1,\"x\",5,99999999999],\"cmdline\":[1,null,\"a\"],"
		"\"fds\":[4,{\"fd\":-9,\"file\":\"socket:[x]\"},{\"fd\":99999999999,\"file\":\"pipe:[1]\"}],\"seen\":\"begin\"}",
		"{\"inode\":4,\"type\":\"carrier pigeon\",\"local\":\"1.2.3.4.5:99999\",\"remote\":\"[::1:5\",\"peer\":-3}");
	const struct lqn_snapshot_process *process = snapshot->processes->pdata[0];

	ck_assert_ptr_null(process->comm);
	ck_assert_uint_eq(process->threads->len, 1);
	ck_assert_uint_eq(g_strv_length(process->cmdline), 1);
	ck_assert_uint_eq(process->fds->len, 2);
	ck_assert_int_eq(g_array_index(process->fds, struct lqn_snapshot_fd, 1).fd, 0);
	ck_assert(!process->begin);
	lqn_snapshot_free(snapshot);
}
END_TEST

START_TEST(an_id_that_was_given_out_anew_is_not_the_one_of_the_begin)
{
	struct lqn_snapshot *snapshot = snapshot_of(
		"{\"pid\":5,\"comm\":\"bash\",\"seen\":[\"begin\"]},{\"pid\":5,\"comm\":\"java\",\"seen\":[\"end\"]},"
		"{\"pid\":6,\"comm\":\"old\",\"seen\":[\"begin\"]}", "");

	ck_assert_str_eq(lqn_snapshot_process(snapshot, 5, NULL, false)->comm, "java");
	ck_assert_str_eq(lqn_snapshot_process(snapshot, 5, "bash", false)->comm, "bash");
	ck_assert_ptr_null(lqn_snapshot_process(snapshot, 5, "vi", false));
	ck_assert_ptr_null(lqn_snapshot_process(snapshot, 6, "old", true));
	ck_assert_ptr_null(lqn_snapshot_process(snapshot, 8, NULL, false));
	lqn_snapshot_free(snapshot);
}
END_TEST

/* ---- rules ---- */

static struct lqn_rules *rules_of(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct lqn_rules *rules = lqn_rules_parse(text, "tasks.ini", &error);

	ck_assert_msg(rules != NULL, "%s", error ? error->message : "no error");
	return rules;
}

START_TEST(the_first_rule_that_matches_names_a_process)
{
	struct lqn_rules *rules = rules_of("# mine\n[cache]\ncomm=redis*;memcached\nport=6379\n\n[other caches]\ntask=cache2\ncomm=redis*\n"
		"[cron]\nhost=a?\ncomm=cron\nignore=true\n[never]\nservice=x\n");
	uint16_t port = 6379;
	g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(port));
	struct lqn_rule_subject redis = { .host = "a1", .comm = "redis-server", .ports = ports };
	g_autoptr(GPtrArray) unused = NULL;

	ck_assert_str_eq(lqn_rules_apply(rules, &redis).task, "cache2");
	g_array_append_val(ports, port);
	ck_assert_str_eq(lqn_rules_apply(rules, &redis).task, "cache");
	redis.comm = "redi";
	ck_assert_ptr_null(lqn_rules_apply(rules, &redis).task);
	ck_assert(lqn_rules_apply(rules, &(struct lqn_rule_subject) { .host = "a1", .comm = "cron" }).ignore);
	ck_assert(!lqn_rules_apply(rules, &(struct lqn_rule_subject) { .host = "b1", .comm = "cron" }).ignore);
	ck_assert_ptr_null(lqn_rules_apply(NULL, &redis).task);
	unused = lqn_rules_unused(rules);
	ck_assert_uint_eq(unused->len, 1);
	ck_assert_str_eq(unused->pdata[0], "never");
	lqn_rules_free(rules);
}
END_TEST

START_TEST(a_bad_rule_is_refused_with_its_line)
{
	static const struct {
		const char *text, *line, *reason;
	} cases[] = {
		{ "[a]\ncomm=x\n\n[b]\ncom=y\n", "line 5", "unknown key `com`" },
		{ "[a]\ncomm=x\nport=80;http\n", "line 3", "`http` is no port" },
		{ "[a]\nport=0\n", "line 2", "`0` is no port" },
		{ "\n[a]\ntask=b\n", "line 2", "no condition" },
		{ "[a]\ncomm=\n", "line 2", "no pattern" },
		{ "[a]\ncomm=x\nignore=perhaps\n", "line 3", "neither true nor false" },
		{ "[a]\ncomm=x\nnonsense\n[b]\n", "line 3", "nonsense" },
		{ "comm=x\n", "line 1", "group" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;

		ck_assert_ptr_null(lqn_rules_parse(cases[i].text, "tasks.ini", &error));
		ck_assert_msg(strstr(error->message, cases[i].line) && strstr(error->message, cases[i].reason) &&
			strstr(error->message, "tasks.ini"), "case %zu: %s", i, error->message);
	}
}
END_TEST

/* ---- the time before the trace ---- */

static struct feed *f;

#define CONNECTED \
	"{\"pid\":1,\"threads\":[1,3],\"fds\":[{\"fd\":5,\"file\":\"socket:[101]\"}],\"seen\":[\"begin\"]}," \
	"{\"pid\":2,\"fds\":[{\"fd\":7,\"file\":\"socket:[102]\"},{\"fd\":4,\"file\":\"socket:[103]\"}],\"seen\":[\"begin\"]}"
#define UNIX_SOCKETS \
	"{\"inode\":101,\"type\":\"unix-stream\",\"peer\":102},{\"inode\":102,\"type\":\"unix-stream\",\"peer\":101,\"path\":\"/x\"}," \
	"{\"inode\":103,\"type\":\"unix-stream\",\"path\":\"/x\",\"listening\":true}"
#define TCP_SOCKETS \
	"{\"inode\":101,\"type\":\"tcp\",\"local\":\"127.0.0.1:5000\",\"remote\":\"127.0.0.1:80\"}," \
	"{\"inode\":102,\"type\":\"tcp\",\"local\":\"127.0.0.1:80\",\"remote\":\"127.0.0.1:5000\"}," \
	"{\"inode\":103,\"type\":\"tcp\",\"local\":\"0.0.0.0:80\",\"listening\":true}"

/* Thread 3 of process 1 sends; process 2 was not even waiting: nothing but the snapshot says that it is the other end. */
static void send_to_old_connection(const char *sockets, const char *server, const char *client)
{
	struct lqn_snapshot *snapshot = snapshot_of(CONNECTED, sockets);

	f = feed_new(NULL);
	feed_snapshot(f, snapshot);
	feed(f, "10 c0 sw 0>3 R\n10 c1 sw 0>2 R\n11 c0 +sendto 5 64\n12 c0 -sendto 64\n20 c1 +recvfrom 7 64\n21 c1 -recvfrom 64");
	feed_finish(f, 30);
	feed_expect(f, server);
	feed_expect(f, client);
	feed_expect(f, "receive thread=2 object=$server from=$client seq=1 sender=3");
	feed_expect(f, "thread thread=3 pid=1");
	feed_free(f);
	lqn_snapshot_free(snapshot);
}

START_TEST(a_snapshot_joins_unix_sockets_and_tells_who_listened)
{
	send_to_old_connection(UNIX_SOCKETS, "object object=$server peer=$client kind=unix role=server evidence=certain",
		"object object=$client kind=unix role=client");
}
END_TEST

START_TEST(a_snapshot_joins_tcp_sockets_and_tells_who_listened)
{
	send_to_old_connection(TCP_SOCKETS, "object object=$server peer=$client kind=tcp role=server evidence=certain",
		"object object=$client kind=tcp role=client");
}
END_TEST

START_TEST(what_the_trace_shows_goes_before_the_snapshot)
{
	struct lqn_snapshot *snapshot = snapshot_of(CONNECTED, UNIX_SOCKETS);

	f = feed_new(NULL);
	feed_snapshot(f, snapshot);
	/* the id of process 2 is given out anew, and its descriptor 7 is nobody's; the dump knows better what 5 is */
	feed(f, "10 c0 sw 0>1 R\n11 c0 statefd 1 5 socket:[777]\n12 c0 free 2\n13 c0 fork 1 2\n14 c1 sw 0>2 R\n"
		"15 c0 +sendto 5 64\n16 c0 -sendto 64\n20 c1 +recvfrom 7 64\n21 c1 -recvfrom 64");
	feed_finish(f, 30);
	ck_assert_uint_eq(feed_count(f, "receive thread=2@1 sender=1"), 0);
	ck_assert_uint_eq(feed_count(f, "receive thread=2 sender=1"), 0);
	feed_free(f);
	lqn_snapshot_free(snapshot);
}
END_TEST

/* ---- in the model ---- */

static struct talk t;

enum { CLIENT = 3, STOCK = 4, SHOP = 5 };

static struct lqn_model *two_of_one_name(const char *processes, const char *rules_text)
{
	struct lqn_snapshot *snapshot = processes ? snapshot_of(processes, "") : NULL;
	g_autoptr(GPtrArray) snapshots = g_ptr_array_new();
	struct lqn_rules *rules = rules_text ? rules_of(rules_text) : NULL;
	struct lqn_model *model;

	g_ptr_array_add(snapshots, snapshot);
	talk_start(&t);
	talk_process(&t, STOCK, "python3");
	talk_process(&t, SHOP, "python3");
	talk_process(&t, CLIENT, "client");
	talk_connect(&t, CLIENT, 5, SHOP, 7);
	talk_connect(&t, SHOP, 5, STOCK, 7);
	talk_await(&t, STOCK, "recvfrom", 7);
	talk_await(&t, SHOP, "recvfrom", 7);
	for (int i = 0; i < 60; i++) {
		talk_sleep(&t, CLIENT, 400);
		talk_request(&t, CLIENT, 5, SHOP);
		talk_work(&t, 100);
		talk_request(&t, SHOP, 5, STOCK);
		talk_work(&t, 50);
		talk_reply(&t, STOCK, 7, SHOP);
		talk_reply(&t, SHOP, 7, CLIENT);
	}
	model = talk_finish(&t, &(struct lqn_options) { .begin = INT64_MIN, .end = INT64_MAX,
		.snapshots = snapshot ? snapshots : NULL, .rules = rules });
	lqn_snapshot_free(snapshot);
	lqn_rules_free(rules);
	return model;
}

#define TWO_SCRIPTS \
	PROCESS(4, "python3", PYTHON, "\"python3\",\"/srv/stock.py\"", ",\"nspid\":[4,1],\"container\":\"4f3a\"") "," \
	PROCESS(5, "python3", PYTHON, "\"python3\",\"/srv/shop.py\"", "")

START_TEST(two_scripts_of_one_interpreter_are_two_tasks)
{
	struct lqn_model *model = two_of_one_name(TWO_SCRIPTS, NULL);
	const struct lqn_model_process *process;

	ck_assert_double_eq_tol(talk_calls(talk_entry(model, "client"), talk_entry(model, "shop"), LQN_SYNC), 1, 0.01);
	ck_assert_double_eq_tol(talk_calls(talk_entry(model, "shop"), talk_entry(model, "stock"), LQN_SYNC), 1, 0.01);
	ck_assert_ptr_null(talk_task(model, "python3"));
	process = talk_task(model, "stock")->processes->pdata[0];
	ck_assert_uint_eq(process->pid, 4);
	ck_assert_str_eq(process->comm, "python3");
	ck_assert_str_eq(process->exe, PYTHON);
	ck_assert_str_eq(process->container, "4f3a");
	ck_assert_uint_eq(g_array_index(process->nspids, uint32_t, 1), 1);
	lqn_model_free(model);
	model = two_of_one_name(NULL, NULL);
	ck_assert_ptr_nonnull(talk_task(model, "python3"));
	lqn_model_free(model);
}
END_TEST

START_TEST(a_rule_names_groups_and_puts_into_the_background)
{
	struct lqn_model *model = two_of_one_name(TWO_SCRIPTS, "[goods]\ncmdline=*stock*\n");

	ck_assert_ptr_nonnull(talk_task(model, "goods"));
	ck_assert_ptr_nonnull(talk_task(model, "shop"));
	lqn_model_free(model);
	model = two_of_one_name(TWO_SCRIPTS, "[all of it]\nexe=*/python3*\n");
	ck_assert_ptr_nonnull(talk_task(model, "all_of_it"));
	ck_assert_ptr_null(talk_task(model, "shop"));
	lqn_model_free(model);
	model = two_of_one_name(TWO_SCRIPTS, "[stock]\ncmdline=*stock*\nignore=true\n[absent]\ncomm=nobody\n");
	ck_assert_ptr_null(talk_task(model, "stock"));
	ck_assert_uint_eq(talk_entry(model, "shop")->phase[0].calls->len, 0);
	ck_assert_str_eq(model->notes->pdata[model->notes->len - 1], "rules: no process matches absent");
	lqn_model_free(model);
}
END_TEST

SUITE("identity",
	a_program_is_what_an_interpreter_runs,
	a_service_gives_its_program_its_name,
	processes_of_one_name_are_told_apart_by_service_container_folder,
	servers_that_listen_apart_are_two_those_that_share_are_one,
	a_file_that_is_no_snapshot_is_refused_with_its_place,
	what_makes_no_sense_in_a_snapshot_is_passed_over,
	an_id_that_was_given_out_anew_is_not_the_one_of_the_begin,
	the_first_rule_that_matches_names_a_process,
	a_bad_rule_is_refused_with_its_line,
	a_snapshot_joins_unix_sockets_and_tells_who_listened,
	a_snapshot_joins_tcp_sockets_and_tells_who_listened,
	what_the_trace_shows_goes_before_the_snapshot,
	two_scripts_of_one_interpreter_are_two_tasks,
	a_rule_names_groups_and_puts_into_the_background)
