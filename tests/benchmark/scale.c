/* SPDX-License-Identifier: MIT */

/*
 * How time and memory grow with what a trace is made of, without a trace: records go straight into
 * the engine and its events into the analysis.
 *
 *     scale [events=1000000] [threads=10] [detail=32] [NAME=N …] [until=engine|requests|model]
 *
 * Half of the threads are clients in one process, half servers in another; each client asks its
 * server in turn. On top of it, every `every` requests (default 10) comes one of each kind of other
 * work that is asked for; N says how many different objects it is spread over:
 *
 *     connections   of one client with an event loop to one server, all open at once, used in turn
 *     short         connections, each made for one request and closed (N: any)
 *     remote        connects to a host that is not traced, each closed after a message (N: any)
 *     processes     that fork, open a file, wait on a futex word, exit (N: any)
 *     words         futex words, waited for and woken
 *     pipes         written to, never read
 *     unread        datagram sockets, written to, never read
 *     paths         files, all with names of their own, opened and closed
 *     held          connections to a host that is not traced, which stay open, beside accepts of
 * others fleet         processes, all with names of their own, that each make one request and exit
 *     shared        requests of one process to another through shared memory (N: different words)
 *     lost          messages through a pipe of which nine in ten are not seen to be read (N: any)
 *     locked        a thread of the server waits for a lock that another holds (N: different words)
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "causal/causal.h"
#include "layout/layout.h"
#include "result/result.h"
#include "write/write.h"

#define CLIENTS 1000000 /* process ids; those of threads follow */
#define SERVERS 2000000
#define LOOP 900000
#define BACK 900001
#define SHORT_CLIENT 900002
#define SHORT_SERVER 900003
#define SHARED_CLIENT 900004
#define SHARED_SERVER 900005
#define ODDS 900006
#define FIRST_FD 10

enum what {
	CONNECTIONS,
	SHORT,
	REMOTE,
	PROCESSES,
	WORDS,
	PIPES,
	UNREAD,
	PATHS,
	HELD,
	FLEET,
	SHARED,
	LOST,
	LOCKED,
	WHATS
};

static const char *const names[WHATS] = {
	"connections",
	"short",
	"remote",
	"processes",
	"words",
	"pipes",
	"unread",
	"paths",
	"held",
	"fleet",
	"shared",
	"lost",
	"locked",
};

static struct lqn_causal *causal;
static int64_t ts = 1000000000;
static uint64_t records, events;
static int32_t named = -1; /* thread that is called `comm` */
static char comm[LQN_COMM_LEN];
static int64_t counts[WHATS], turns[WHATS];

static void push(struct lqn_record *rec, int32_t cpu)
{
	rec->ts = ts;
	rec->cpu = cpu;
	records++;
	lqn_causal_push(causal, rec);
}

static const struct lqn_layout_event *layout(const char *prefix, const char *name)
{
	char full[64];

	g_snprintf(full, sizeof(full), "%s%s", prefix, name);
	return lqn_layout_find(full);
}

static void enter(int32_t cpu, const char *call, int64_t a, int64_t b, const char *text)
{
	struct lqn_record rec;

	lqn_record_init(&rec, layout("syscall_entry_", call));
	rec.name = "syscall_entry_x";
	rec.entry.arg[0] = a;
	rec.entry.arg[1] = b;
	rec.text = g_strdup(text);
	push(&rec, cpu);
}

static void leave(int32_t cpu, const char *call, int64_t ret)
{
	struct lqn_record rec;

	lqn_record_init(&rec, layout("syscall_exit_", call));
	rec.name = "syscall_exit_x";
	rec.exit.ret = ret;
	push(&rec, cpu);
}

static void call(int32_t cpu, const char *name, int64_t a, int64_t b, const char *text, int64_t ret)
{
	enter(cpu, name, a, b, text);
	ts += 500;
	leave(cpu, name, ret);
}

static void name(int32_t tid, char *to)
{
	static const char *const odds[] = { "loop", "back", "ask", "serve", "asks", "serves",
		"odds", "odds" };

	g_strlcpy(to,
		tid == named             ? comm
			: tid >= SERVERS ? "server"
			: tid >= CLIENTS ? "client"
			: tid >= LOOP    ? odds[tid - LOOP]
					 : "job",
		LQN_COMM_LEN);
}

static void to(int32_t cpu, int32_t prev, int32_t next, int64_t state)
{
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find("sched_switch"));
	rec.sw.prev_tid = prev;
	rec.sw.next_tid = next;
	rec.sw.prev_state = state;
	name(prev, rec.sw.prev_comm);
	name(next, rec.sw.next_comm);
	ts += 1000;
	push(&rec, cpu);
}

static void wake(int32_t cpu, int32_t tid)
{
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find("sched_waking"));
	rec.wake.tid = tid;
	ts += 500;
	push(&rec, cpu);
}

static void make_pipe(void)
{
	struct lqn_record rec;

	enter(0, "pipe2", 0, -1, NULL);
	lqn_record_init(&rec, layout("syscall_exit_", "pipe2"));
	rec.name = "syscall_exit_x";
	rec.exit.n_fds = 2;
	rec.exit.fd[0] = 7;
	rec.exit.fd[1] = 8;
	push(&rec, 0);
}

static void fork_thread(int32_t parent, int32_t child, int32_t pid)
{
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find("sched_process_fork"));
	rec.fork.parent_tid = parent;
	rec.fork.parent_pid = pid == child ? -1 : pid;
	rec.fork.child_tid = child;
	rec.fork.child_pid = pid;
	push(&rec, 0);
}

static void life(const char *event, int32_t tid)
{
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find(event));
	rec.life.tid = tid;
	push(&rec, 0);
}

/* A thread that is alone on a CPU makes a connection, another accepts it. */
static void connect_pair(int32_t client, int64_t fd, int32_t server, int64_t made)
{
	to(0, 0, client, 0);
	call(0, "socket", 1, 1, NULL, fd);
	enter(0, "connect", fd, -1, NULL);
	leave(0, "connect", 0);
	to(0, client, server, 1);
	call(0, "accept4", 3, -1, NULL, made);
	to(0, server, 0, 1);
}

/* The server waits in `await` on CPU 1 meanwhile. */
static void request(int32_t client, int64_t fd, int32_t server, int64_t made)
{
	to(1, 0, server, 0);
	enter(1, "recvfrom", made, -1, NULL);
	to(1, server, 0, 1);
	to(0, 0, client, 0);
	enter(0, "sendto", fd, 64, NULL);
	wake(0, server);
	leave(0, "sendto", 64);
	enter(0, "recvfrom", fd, -1, NULL);
	to(0, client, 0, 1);
	to(1, 0, server, 0);
	leave(1, "recvfrom", 64);
	ts += 20000;
	enter(1, "sendto", made, 64, NULL);
	wake(1, client);
	leave(1, "sendto", 64);
	to(1, server, 0, 1);
	to(0, 0, client, 0);
	leave(0, "recvfrom", 64);
	enter(0, "nanosleep", 0, -1, NULL);
	to(0, client, 0, 1);
	ts += 5000;
	to(0, 0, client, 0);
	leave(0, "nanosleep", 0);
	to(0, client, 0, 1);
}

static void other_work(enum what what, int64_t turn)
{
	int64_t n = turn % counts[what];
	g_autofree char *path = NULL;
	int32_t tid;

	switch (what) {
	case CONNECTIONS:
		request(LOOP, FIRST_FD + n, BACK, FIRST_FD + n);
		break;
	case SHORT:
		connect_pair(SHORT_CLIENT, FIRST_FD, SHORT_SERVER, FIRST_FD);
		request(SHORT_CLIENT, FIRST_FD, SHORT_SERVER, FIRST_FD);
		to(0, 0, SHORT_CLIENT, 0);
		call(0, "close", FIRST_FD, -1, NULL, 0);
		to(0, SHORT_CLIENT, SHORT_SERVER, 1);
		call(0, "close", FIRST_FD, -1, NULL, 0);
		to(0, SHORT_SERVER, 0, 1);
		break;
	case REMOTE:
		to(0, 0, ODDS, 0);
		call(0, "socket", 2, 1, NULL, 5);
		call(0, "connect", 5, -1, NULL, 0);
		call(0, "sendto", 5, 64, NULL, 64);
		call(0, "close", 5, -1, NULL, 0);
		to(0, ODDS, 0, 1);
		break;
	case PROCESSES:
		tid = 10000 + (int32_t) (turn % 30000);
		to(0, 0, ODDS, 0);
		fork_thread(ODDS, tid, tid);
		to(0, ODDS, tid, 1);
		path = g_strdup_printf("/lib/%d", (int) turn);
		call(0, "openat", -100, -1, path, 7);
		call(0, "futex", 4096 + 8 * turn, 129, NULL, 0);
		life("sched_process_exit", tid);
		to(0, tid, 0, 16);
		life("sched_process_free", tid);
		break;
	case WORDS:
		to(1, 0, ODDS + 1, 0);
		enter(1, "futex", 4096 + 8 * n, 128, NULL);
		to(1, ODDS + 1, 0, 1);
		to(0, 0, ODDS, 0);
		enter(0, "futex", 4096 + 8 * n, 129, NULL);
		wake(0, ODDS + 1);
		leave(0, "futex", 1);
		to(0, ODDS, 0, 1);
		to(1, 0, ODDS + 1, 0);
		leave(1, "futex", 0);
		to(1, ODDS + 1, 0, 1);
		break;
	case PIPES:
		to(0, 0, ODDS, 0);
		call(0, "write", 1000 + n, 64, NULL, 64);
		to(0, ODDS, 0, 1);
		break;
	case UNREAD:
		to(0, 0, ODDS, 0);
		if (turn < counts[what]) {
			call(0, "socket", 1, 2, NULL, 500000 + n);
		}
		call(0, "sendto", 500000 + n, 64, NULL, 64);
		to(0, ODDS, 0, 1);
		break;
	case PATHS:
		path = g_strdup_printf("/data/%d", (int) n);
		to(0, 0, ODDS, 0);
		call(0, "openat", -100, -1, path, 6);
		call(0, "close", 6, -1, NULL, 0);
		to(0, ODDS, 0, 1);
		break;
	case HELD:
		to(0, 0, ODDS, 0);
		if (turn < counts[what]) {
			call(0, "socket", 2, 1, NULL, 200000 + n);
			call(0, "connect", 200000 + n, -1, NULL, 0);
		}
		to(0, ODDS, ODDS + 1, 1);
		call(0, "accept4", 4, -1, NULL, 9);
		call(0, "close", 9, -1, NULL, 0);
		to(0, ODDS + 1, 0, 1);
		break;
	case FLEET:
		tid = 10000 + (int32_t) (turn % 30000);
		to(0, 0, ODDS, 0);
		fork_thread(ODDS, tid, tid);
		to(0, ODDS, 0, 1);
		connect_pair(tid, FIRST_FD, SHORT_SERVER, FIRST_FD);
		g_snprintf(comm, sizeof(comm), "job%d", (int) n);
		named = tid;
		request(tid, FIRST_FD, SHORT_SERVER, FIRST_FD);
		named = -1;
		to(0, 0, SHORT_SERVER, 0);
		call(0, "close", FIRST_FD, -1, NULL, 0);
		to(0, SHORT_SERVER, tid, 1);
		life("sched_process_exit", tid);
		to(0, tid, 0, 16);
		life("sched_process_free", tid);
		break;
	case SHARED:
		to(1, 0, SHARED_SERVER, 0);
		enter(1, "futex", 4096 + 8 * n, 0, NULL);
		to(1, SHARED_SERVER, 0, 1);
		to(0, 0, SHARED_CLIENT, 0);
		enter(0, "futex", 4096 + 8 * n, 1, NULL);
		wake(0, SHARED_SERVER);
		leave(0, "futex", 1);
		enter(0, "futex", 1 << 24, 0, NULL);
		to(0, SHARED_CLIENT, 0, 1);
		to(1, 0, SHARED_SERVER, 0);
		leave(1, "futex", 0);
		ts += 20000;
		enter(1, "futex", 1 << 25, 1, NULL);
		wake(1, SHARED_CLIENT);
		leave(1, "futex", 1);
		to(1, SHARED_SERVER, 0, 1);
		to(0, 0, SHARED_CLIENT, 0);
		leave(0, "futex", 0);
		to(0, SHARED_CLIENT, 0, 1);
		break;
	case LOST:
		to(0, 0, ODDS, 0);
		if (turn == 0) {
			make_pipe();
		}
		call(0, "write", 8, 64, NULL, 64);
		to(0, ODDS, ODDS + 1, 1);
		if (turn % 10 == 0) {
			call(0, "read", 7, 64, NULL, 64);
		} else if (turn % 10 == 9) {
			/* that it waits shows that it has read the others */
			enter(0, "read", 7, 64, NULL);
			to(0, ODDS + 1, ODDS, 1);
			call(0, "write", 8, 64, NULL, 64);
			wake(0, ODDS + 1);
			to(0, ODDS, ODDS + 1, 1);
			leave(0, "read", 64);
		}
		to(0, ODDS + 1, 0, 1);
		break;
	case LOCKED:
		tid = SERVERS + 1;
		to(1, 0, tid, 0);
		enter(1, "futex", 65536 + 8 * n, 128, NULL);
		to(1, tid, 0, 1);
		to(0, 0, tid + 1, 0);
		enter(0, "futex", 65536 + 8 * n, 129, NULL);
		wake(0, tid);
		leave(0, "futex", 1);
		to(0, tid + 1, 0, 1);
		to(1, 0, tid, 0);
		leave(1, "futex", 0);
		call(1, "futex", 65536 + 8 * n, 129, NULL, 0);
		to(1, tid, 0, 1);
		break;
	default:
		break;
	}
}

static void listener(int32_t tid)
{
	to(0, 0, tid, 0);
	call(0, "socket", 1, 1, NULL, 3);
	call(0, "listen", 3, -1, NULL, 0);
	to(0, tid, 0, 1);
}

static void start(int32_t threads)
{
	if (counts[HELD] > 0) {
		fork_thread(1, ODDS, ODDS);
		fork_thread(ODDS, ODDS + 1, ODDS);
		to(0, 0, ODDS + 1, 0);
		call(0, "socket", 2, 1, NULL, 4);
		call(0, "listen", 4, -1, NULL, 0);
		to(0, ODDS + 1, 0, 1);
	}
	fork_thread(1, CLIENTS, CLIENTS);
	fork_thread(1, SERVERS, SERVERS);
	if (counts[HELD] == 0) {
		fork_thread(1, ODDS, ODDS);
		fork_thread(ODDS, ODDS + 1, ODDS);
	}
	for (int32_t tid = LOOP; tid < ODDS; tid++) {
		fork_thread(1, tid, tid);
	}
	listener(SERVERS);
	listener(BACK);
	listener(SHORT_SERVER);
	for (int32_t i = 1; i <= threads; i++) {
		fork_thread(CLIENTS, CLIENTS + i, CLIENTS);
		fork_thread(SERVERS, SERVERS + i, SERVERS);
		connect_pair(CLIENTS + i, FIRST_FD + i, SERVERS + i, FIRST_FD + i);
	}
	for (int64_t i = 0; i < counts[CONNECTIONS]; i++) {
		connect_pair(LOOP, FIRST_FD + i, BACK, FIRST_FD + i);
	}
}

struct taker {
	struct lqn_analysis *analysis; /* NULL: the engine alone */
	unsigned host;
};

static void take(void *payload, const struct lqn_event *ev)
{
	struct taker *taker = payload;

	events++;
	if (taker->analysis) {
		lqn_analysis_event(taker->analysis, taker->host, ev);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static double peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double) usage.ru_maxrss / 1024;
}

static void report(const char *what, double since)
{
	double s = seconds() - since;

	printf("  %-9s %8.2f s %8.0f ns/event %8.1f MB\n", what, s, s * 1e9 / (double) records,
		peak_mb());
	fflush(stdout);
}

static void run(int64_t wanted, int32_t threads, int64_t every)
{
	start(threads);
	for (int64_t i = 0; records < (uint64_t) wanted; i++) {
		int32_t k = 1 + (int32_t) (i % threads);

		request(CLIENTS + k, FIRST_FD + k, SERVERS + k, FIRST_FD + k);
		for (int what = 0; what < WHATS && i % every == 0; what++) {
			if (counts[what] > 0) {
				other_work((enum what) what, turns[what]++);
			}
		}
	}
}

static void build(struct lqn_analysis *analysis)
{
	struct lqn_model *model = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;

	if (!lqn_analysis_finish(analysis, &model, &paths, &error)) {
		printf("  %s\n", error->message);
		g_error_free(error);
		return;
	}
	g_string_free(lqn_write_lqnx(model), TRUE);
	g_string_free(lqn_write_json(model), TRUE);
	g_string_free(lqn_write_paths(paths), TRUE);
	g_string_free(lqn_write_summary(model, paths), TRUE);
	lqn_path_report_free(paths);
	lqn_model_free(model);
}

int main(int argc, char **argv)
{
	struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };
	int64_t wanted = 1000000, threads = 10, every = 10, detail = 32;
	bool engine_only = false;
	struct taker taker = { NULL, 0 };
	double since;

	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		size_t len = value ? (size_t) (value - argv[i]) : 0;
		int64_t n = value ? g_ascii_strtoll(value + 1, NULL, 10) : 0;

		engine_only |= strcmp(argv[i], "until=engine") == 0;
		wanted = strncmp(argv[i], "events=", 7) == 0 ? n : wanted;
		threads = strncmp(argv[i], "threads=", 8) == 0 ? n : threads;
		every = strncmp(argv[i], "every=", 6) == 0 ? n : every;
		detail = strncmp(argv[i], "detail=", 7) == 0 ? n : detail;
		for (int what = 0; what < WHATS; what++) {
			if (value && strlen(names[what]) == len &&
				strncmp(argv[i], names[what], len) == 0) {
				counts[what] = n;
			}
		}
	}
	options.detail = (uint64_t) detail * 1000000;
	if (!engine_only) {
		taker.analysis = lqn_analysis_new(&options);
		taker.host = lqn_analysis_host(taker.analysis, "host");
	}
	since = seconds();
	causal = lqn_causal_new("host", "6.1.0", take, &taker);
	run(wanted, MAX((int32_t) threads / 2, 1), MAX(every, 1));
	report(engine_only ? "engine" : "read", since);
	since = seconds();
	lqn_causal_finish(causal, ts);
	lqn_causal_free(causal);
	if (taker.analysis) {
		build(taker.analysis);
		lqn_analysis_free(taker.analysis);
	}
	report("finish", since);
	printf("  %" G_GUINT64_FORMAT " records, %" G_GUINT64_FORMAT " lqn: events\n", records,
		events);
	return 0;
}
