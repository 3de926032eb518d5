/* SPDX-License-Identifier: MIT */
#include "sample-model.h"

#include <string.h>

/* What must not get through: markup, comment ends, control and turning characters, broken UTF-8. */
#define HOSTILE "<&\">' -- ---> ]]> \\ \x1b[31m\a\n\r\t \xe4\xf6 \xe2\x80 \xe2\x80\xae " \
	"\xef\xbf\xbe #pragma x=1 %s %n"

static struct lqn_entry *add_entry(struct lqn_task *task, const char *name, const char *label,
	double demand, double service)
{
	struct lqn_entry *entry = lqn_task_add_entry(task, name);

	entry->label = g_strdup(label);
	entry->phase[0].demand = demand;
	entry->service = service;
	return entry;
}

static void measure(struct lqn_entry *entry, double throughput)
{
	entry->throughput = throughput;
	entry->invocations = throughput * 30;
	entry->phase[0].demand_ci = entry->phase[0].demand / 50;
	entry->task->throughput += throughput;
	entry->task->utilization += throughput * (entry->phase[0].demand + entry->phase[1].demand);
}

static void add_blocked(GPtrArray *to, const char *cause, double seconds, uint64_t waits)
{
	struct lqn_blocked *blocked = g_new0(struct lqn_blocked, 1);

	blocked->cause = g_strdup(cause);
	blocked->seconds = seconds;
	blocked->waits = waits;
	g_ptr_array_add(to, blocked);
}

struct lqn_model *sample_model_new(void)
{
	struct lqn_model *model = lqn_model_new("s02");
	struct lqn_processor *users =
		lqn_model_add_processor(model, "cpu_clients", LQN_SCHED_INF, 1);
	struct lqn_processor *cpu = lqn_model_add_processor(model, "cpu_host", LQN_SCHED_PS, 4);
	struct lqn_processor *disk = lqn_model_add_processor(model, "disk_vda", LQN_SCHED_FCFS, 1);
	struct lqn_processor *wait = lqn_model_add_processor(model, "delay", LQN_SCHED_INF, 1);
	struct lqn_task *client = lqn_processor_add_task(users, "client", LQN_TASK_CLIENT,
		LQN_SCHED_REF, 4);
	struct lqn_task *web =
		lqn_processor_add_task(cpu, "web", LQN_TASK_SERVER, LQN_SCHED_FCFS, 4);
	struct lqn_task *app =
		lqn_processor_add_task(cpu, "app", LQN_TASK_SERVER, LQN_SCHED_FCFS, 3);
	struct lqn_task *db = lqn_processor_add_task(cpu, "db", LQN_TASK_SERVER, LQN_SCHED_FCFS, 2);
	struct lqn_task *log =
		lqn_processor_add_task(cpu, "logger", LQN_TASK_SERVER, LQN_SCHED_FCFS, 1);
	struct lqn_task *lock = lqn_processor_add_task(cpu, "lock_orders", LQN_TASK_LOCK,
		LQN_SCHED_FCFS, 1);
	struct lqn_task *back = lqn_processor_add_task(cpu, "background", LQN_TASK_BACKGROUND,
		LQN_SCHED_REF, 1);
	struct lqn_task *vda =
		lqn_processor_add_task(disk, "disk_vda", LQN_TASK_DISK, LQN_SCHED_FCFS, 1);
	struct lqn_task *timer = lqn_processor_add_task(wait, "delay_timer", LQN_TASK_DELAY,
		LQN_SCHED_INF, 1);
	struct lqn_entry *e_client = add_entry(client, "client_get", "client", 0.00002, 0.0064);
	struct lqn_entry *e_web =
		add_entry(web, "web_get", "web, called by client", 0.0003, 0.0062);
	struct lqn_entry *e_app = add_entry(app, "app_page", "app, called by web", 0.0008, 0.0055);
	struct lqn_entry *e_query = add_entry(db, "db_query", "db: reads", 0.0005, 0.0011);
	struct lqn_entry *e_update = add_entry(db, "db_update", "db: writes", 0.0004, 0.0021);
	struct lqn_entry *e_audit =
		add_entry(db, "db_audit", "db, handed over by web", 0.0002, 0.0003);
	struct lqn_entry *e_log = add_entry(log, "logger_put", NULL, 0.0001, -1);
	struct lqn_entry *e_lock =
		add_entry(lock, "lock_orders_hold", "mutex of app", 0.0001, 0.0009);
	struct lqn_entry *e_back =
		add_entry(back, "background_run", "all else on the CPUs", 0.0005, -1);
	struct lqn_entry *e_disk = add_entry(vda, "disk_vda_write", "vda", 0.0016, 0.0016);
	struct lqn_entry *e_timer = add_entry(timer, "delay_timer_wait", NULL, 0.0005, 0.0005);

	web->service = g_strdup("/usr/sbin/web --port 80");
	client->think = 0.0436;
	client->response = 0.0064;
	back->think = 0.0245;
	e_app->phase[0].demand_cvsq = 1.4;
	e_app->phase[0].think = 0.0002;
	e_app->has_phase2 = true;
	e_app->phase[1].demand = 0.0003;
	lqn_entry_add_call(e_client, 0, e_web, LQN_SYNC, 1);
	lqn_entry_add_call(e_web, 0, e_app, LQN_SYNC, 1);
	lqn_entry_add_call(e_web, 0, e_audit, LQN_FORWARD, 0.25);
	lqn_entry_add_call(e_app, 0, e_query, LQN_SYNC, 1);
	lqn_entry_add_call(e_app, 0, e_query, LQN_SYNC, 0.5);
	lqn_entry_add_call(e_app, 0, e_lock, LQN_SYNC, 1);
	lqn_entry_add_call(e_app, 0, e_timer, LQN_SYNC, 1);
	lqn_entry_add_call(e_app, 1, e_log, LQN_ASYNC, 1);
	lqn_entry_add_call(e_lock, 0, e_update, LQN_SYNC, 0.5);
	lqn_entry_add_call(e_update, 0, e_disk, LQN_SYNC, 0.8);
	measure(e_client, 80);
	measure(e_web, 80);
	measure(e_app, 80);
	measure(e_query, 120);
	measure(e_update, 40);
	measure(e_audit, 20);
	measure(e_log, 80);
	measure(e_lock, 80);
	measure(e_back, 40);
	measure(e_disk, 32);
	measure(e_timer, 80);
	cpu->utilization = 0.271;
	cpu->interrupts = 0.012;
	disk->utilization = 0.052;
	model->window_begin = INT64_C(1764462731123456789);
	model->window_end = model->window_begin + INT64_C(30000000000);
	model->window_ns = model->window_end - model->window_begin;
	model->window_reason =
		g_strdup("from the first to the last request, 5 % left out at either end");
	model->blocked_seconds = 41.2;
	model->unexplained_seconds = 0.31;
	model->hidden_seconds = 0.12;
	add_blocked(model->hidden, "web", 0.12, 40);
	add_blocked(model->blocked, "message", 30.1, 9600);
	add_blocked(model->blocked, "lock", 6.2, 512);
	add_blocked(model->blocked, "timer", 2.6, 2400);
	add_blocked(model->blocked, "disk", 1.99, 960);
	g_ptr_array_add(model->background, g_strdup("kworker 0.012 CPUs"));
	g_ptr_array_add(model->background, g_strdup("sshd 0.008 CPUs"));
	g_ptr_array_add(
		model->notes, g_strdup("12 events were lost on CPU 3: 2 requests left out"));
	return model;
}

struct lqn_entry *sample_find_entry(const struct lqn_model *model, const char *name)
{
	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		for (unsigned t = 0; t < proc->tasks->len; t++) {
			const struct lqn_task *task = g_ptr_array_index(proc->tasks, t);

			for (unsigned e = 0; e < task->entries->len; e++) {
				struct lqn_entry *entry = g_ptr_array_index(task->entries, e);

				if (!strcmp(entry->name, name)) {
					return entry;
				}
			}
		}
	}
	g_assert_not_reached();
}

struct lqn_task *sample_find_task(const struct lqn_model *model, const char *name)
{
	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		for (unsigned t = 0; t < proc->tasks->len; t++) {
			struct lqn_task *task = g_ptr_array_index(proc->tasks, t);

			if (!strcmp(task->name, name)) {
				return task;
			}
		}
	}
	g_assert_not_reached();
}

static void set_text(char **text, const char *value)
{
	g_free(*text);
	*text = g_strdup(value);
}

struct lqn_model *sample_model_new_hostile(void)
{
	struct lqn_model *model = sample_model_new();

	set_text(&model->name, HOSTILE);
	set_text(&model->window_reason, HOSTILE);
	set_text(&sample_find_entry(model, "web_get")->label, HOSTILE);
	set_text(&sample_find_entry(model, "db_query")->label, "-");
	set_text(&sample_find_task(model, "web")->service, HOSTILE);
	set_text(&sample_find_task(model, "db")->service, "");
	add_blocked(model->blocked, HOSTILE, 0.001, 1);
	add_blocked(model->hidden, HOSTILE, 0.001, 1);
	g_ptr_array_add(model->background, g_strdup(HOSTILE));
	g_ptr_array_add(model->notes, g_strdup(HOSTILE));
	return model;
}

static void add_share(GArray *shares, const struct lqn_path_place *place, const char *task,
	enum lqn_path_kind kind, const char *detail, double typical, double slow)
{
	struct lqn_path_share share = { .place = place, .task = task, .detail = detail,
		.kind = kind };

	share.sum[LQN_BAND_FAST] = 1080 * typical;
	share.sum[LQN_BAND_TYPICAL] = 1200 * typical;
	share.sum[LQN_BAND_SLOW] = 120 * slow;
	g_array_append_val(shares, share);
}

static struct lqn_request_path *new_request(int64_t begin)
{
	struct lqn_request_path *request = g_new0(struct lqn_request_path, 1);

	request->begin = begin;
	request->end = begin;
	request->thread = 4711 | UINT64_C(2) << 32;
	request->task = "client";
	request->pieces = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_piece));
	return request;
}

static void add_piece(struct lqn_request_path *request, const char *task, const char *comm,
	uint64_t thread, enum lqn_path_kind kind, const char *detail, int64_t ns)
{
	struct lqn_path_piece piece = {
		.begin = request->end, .end = request->end + ns, .thread = thread, .task = task,
		.comm = comm, .detail = detail, .kind = kind,
	};

	request->end += ns;
	g_array_append_val(request->pieces, piece);
}

static void fill_typical(struct lqn_request_path *request)
{
	add_piece(request, "client", "client", 4711, LQN_PATH_CPU, NULL, 18300);
	add_piece(request, "web", "web/0", 4720, LQN_PATH_WAKEUP, NULL, 52100);
	add_piece(request, "web", "web/0", 4720, LQN_PATH_CPU, NULL, 281700);
	add_piece(request, "app", "app-worker", 4730, LQN_PATH_WAKEUP, NULL, 48000);
	add_piece(request, "app", "app-worker", 4730, LQN_PATH_CPU, NULL, 744000);
	add_piece(request, "db", "db", 4741, LQN_PATH_QUEUE, "db socket", 120000);
	add_piece(request, "db", "db", 4741, LQN_PATH_CPU, NULL, 612000);
	add_piece(request, "app", "app-worker", 4730, LQN_PATH_LOCK, "lock_orders", 330000);
	add_piece(request, "client", "client", 4711, LQN_PATH_WAKEUP, NULL, 61000);
}

static void fill_slow(struct lqn_request_path *request)
{
	fill_typical(request);
	add_piece(request, "app", "app-worker", 4730, LQN_PATH_LOCK, "lock_orders", 7100000);
	add_piece(request, "db", "db", 4741, LQN_PATH_DISK, "vda", 1712345);
	add_piece(request, "db", "db", 4741, LQN_PATH_PREEMPTED, "kworker/u8:1 <\x1b> \xe4", 90000);
	add_piece(request, "client", "client", 4711, LQN_PATH_UNKNOWN, NULL, 1);
}

static void fill_shares(struct lqn_path_report *report, GArray *shares)
{
	const struct lqn_path_place *client = lqn_path_report_place(report, NULL, "client", NULL);
	const struct lqn_path_place *web = lqn_path_report_place(report, client, "web", NULL);
	const struct lqn_path_place *app = lqn_path_report_place(report, web, "app", "app_page");
	const struct lqn_path_place *db = lqn_path_report_place(report, app, "db", NULL);
	const char *hostile = "kworker/u8:1 <\x1b>;\xe4";

	add_share(shares, app, "app", LQN_PATH_CPU, NULL, 780000, 760000);
	add_share(shares, app, "app", LQN_PATH_LOCK, "lock_orders", 420000, 7000000);
	add_share(shares, app, "app", LQN_PATH_LOCK, "lock_cache", 20000, 0);
	add_share(shares, db, "db", LQN_PATH_CPU, NULL, 600000, 610000);
	add_share(shares, web, "web", LQN_PATH_CPU, NULL, 290000, 290000);
	add_share(shares, db, "db", LQN_PATH_DISK, "vda", 190000, 1900000);
	add_share(shares, web, "web", LQN_PATH_WAKEUP, NULL, 100000, 100000);
	add_share(shares, db, "db", LQN_PATH_PREEMPTED, hostile, 0, 12000);
	add_share(shares, db, "kworker;1", LQN_PATH_CPU, NULL, 0, 12000);
}

static void fill_works(struct lqn_request_path *request)
{
	struct lqn_path_work works[] = {
		{ request->begin, request->end, 4711, "vm", "client", "client", NULL, -1 },
		{ request->begin + 20000, request->end - 10000, 4720, "vm", "web", "web/0",
			"web_get", -1 },
		{ request->begin + 30000, request->begin + 60000, 4721, "vm", "app", "\xff\n",
			"app_side", 250000 },
	};
	struct lqn_path_state states[] = {
		{ request->begin, request->begin + 20000, 4711, "vm", NULL, LQN_PATH_CPU },
		{ request->begin + 20000, request->end - 10000, 4720, "vm", "lock_orders",
			LQN_PATH_LOCK },
	};

	request->works = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_work));
	request->states = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_state));
	for (size_t i = 0; i < G_N_ELEMENTS(works); i++) {
		works[i].host = g_intern_string(works[i].host);
		g_array_append_val(request->works, works[i]);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
		states[i].host = g_intern_string(states[i].host);
		g_array_append_val(request->states, states[i]);
	}
}

static void add_requests(struct lqn_path_group *group)
{
	struct lqn_request_path *typical = new_request(INT64_C(1764462740000000000));
	struct lqn_request_path *slow = new_request(INT64_C(1764462741000000000));
	struct lqn_path_piece *lock;

	fill_typical(typical);
	fill_slow(slow);
	lock = &g_array_index(slow->pieces, struct lqn_path_piece, 9);
	lock->by = (struct lqn_path_by) { 4731, "app", "app-worker", "buy <\x1b>\xe4", 13,
		LQN_PATH_SLEEP, "app" };
	fill_works(slow);
	typical->number = 17;
	typical->kept = LQN_KEPT_TYPICAL | LQN_KEPT_SAMPLE;
	slow->number = 4;
	slow->kept = LQN_KEPT_SLOW | LQN_KEPT_SLOWEST;
	g_ptr_array_add(group->kept, typical);
	g_ptr_array_add(group->kept, slow);
	group->typical = typical;
	group->slow = slow;
}

static void free_request(gpointer request)
{
	lqn_request_path_free(request);
}

struct lqn_path_report *sample_report_new(void)
{
	struct lqn_path_report *report = lqn_path_report_new(false);
	struct lqn_path_group *group = g_new0(struct lqn_path_group, 1);
	struct lqn_path_delay delay = { .operation = "client", .task = "app",
		.kind = LQN_PATH_LOCK, .detail = "lock_orders", .by_operation = "buy <\x1b>\xe4",
		.by_task = "app", .requests = 300, .sum = 1.5e9 };

	delay.doing[LQN_PATH_SLEEP] = 1.2e9;
	delay.doing[LQN_PATH_CPU] = 0.3e9;
	g_array_append_val(report->delays, delay);
	report->requests = 2400;
	group->task = "client";
	group->requests = 2400;
	group->band[LQN_BAND_TYPICAL] = 1200;
	group->band[LQN_BAND_FAST] = 1080;
	group->band[LQN_BAND_SLOW] = 120;
	group->mean = 2400000;
	group->p50 = 2267100;
	group->p95 = 11169446;
	group->p99 = 14000000;
	group->max = 19400000;
	group->shares = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_share));
	group->kept = g_ptr_array_new_with_free_func(free_request);
	fill_shares(report, group->shares);
	add_requests(group);
	g_ptr_array_add(report->groups, group);
	return report;
}
