/* SPDX-License-Identifier: MIT */
#include "talk.h"

#include <check.h>
#include <string.h>

void talk_start(struct talk *talk)
{
	talk->feed = feed_new("6.1.0");
	talk->events = g_array_new(FALSE, FALSE, sizeof(struct lqn_event));
	talk->now = 1000;
}

void talk_process(struct talk *talk, int thread, const char *name)
{
	long t = talk->now++;

	feed(talk->feed, "%ld c0 name %d %s\n%ld c0 state %d %d %s 0\n%ld c%d sw 0>%d R", t, thread, name, t, thread, thread,
		name, t, thread, thread);
}

void talk_thread(struct talk *talk, int of, int thread)
{
	long t = talk->now++;

	feed(talk->feed, "%ld c%d fork %d %d %d\n%ld c%d sw 0>%d R", t, of, of, thread, of, t, thread, thread);
}

void talk_connect(struct talk *talk, int client, int fd, int server, int made)
{
	long t = talk->now++;

	feed(talk->feed, "%ld c%d +socket 1 1\n%ld c%d -socket 3\n%ld c%d +listen 3\n%ld c%d -listen 0\n"
		"%ld c%d +socket 1 1\n%ld c%d -socket %d\n%ld c%d +connect %d\n%ld c%d -connect 0\n"
		"%ld c%d +accept4 3\n%ld c%d -accept4 %d", t, server, t, server, t, server, t, server,
		t, client, t, client, fd, t, client, fd, t, client, t, server, t, server, made);
}

void talk_pair(struct talk *talk, int client, const char *client_name, int server, const char *server_name)
{
	talk_start(talk);
	talk_process(talk, client, client_name);
	talk_process(talk, server, server_name);
	talk_connect(talk, client, 5, server, 7);
	talk_await(talk, server, "recvfrom", 7);
}

void talk_cycle(struct talk *talk, int client, int server, long server_us, long sleep_us)
{
	talk_work(talk, 30);
	talk_request(talk, client, 5, server);
	talk_work(talk, server_us);
	talk_reply(talk, server, 7, client);
	talk_sleep(talk, client, sleep_us);
}

void talk_work(struct talk *talk, long us)
{
	talk->now += us;
}

void talk_await(struct talk *talk, int thread, const char *call, int fd)
{
	feed(talk->feed, "%ld c%d +%s %d 4096\n%ld c%d sw %d>0 S", talk->now, thread, call, fd, talk->now, thread, thread);
}

static void go_to_sleep(struct talk *talk, int thread)
{
	feed(talk->feed, "%ld c%d +nanosleep\n%ld c%d sw %d>0 S", talk->now, thread, talk->now, thread, thread);
}

static void awake(struct talk *talk, int thread)
{
	long t = talk->now;

	feed(talk->feed, "%ld c%d +hrtimer 1\n%ld c%d wk %d\n%ld c%d -hrtimer 1\n%ld c%d sw 0>%d R\n%ld c%d -nanosleep 0", t, thread, t, thread,
		thread, t, thread, t, thread, thread, t, thread);
}

void talk_sleep(struct talk *talk, int thread, long us)
{
	go_to_sleep(talk, thread);
	talk->now += us;
	awake(talk, thread);
}

void talk_sleep_both(struct talk *talk, int one, int other, long us)
{
	go_to_sleep(talk, one);
	talk_sleep(talk, other, us);
	awake(talk, one);
}

void talk_send(struct talk *talk, int from, const char *call, int fd, int to, const char *receive)
{
	long t = talk->now++;

	feed(talk->feed, "%ld c%d +%s %d 64\n%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -%s 64\n%ld c%d -%s 64", t, from, call, fd,
		t, from, to, t, to, to, t + 1, from, call, t + 1, to, receive);
}

void talk_request(struct talk *talk, int from, int fd, int to)
{
	talk_send(talk, from, "sendto", fd, to, "recvfrom");
	talk_await(talk, from, "recvfrom", fd);
}

void talk_reply(struct talk *talk, int from, int fd, int to)
{
	talk_request(talk, from, fd, to);
}

void talk_futex_wait(struct talk *talk, int thread, int word)
{
	feed(talk->feed, "%ld c%d +futex %d 0 1\n%ld c%d sw %d>0 S", talk->now, thread, word, talk->now, thread, thread);
}

void talk_futex_wake(struct talk *talk, int thread, int word, int woken)
{
	long now = talk->now++;

	feed(talk->feed, "%ld c%d +futex %d 1 1\n%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -futex 1\n%ld c%d -futex 0", now, thread,
		word, now, thread, woken, now, woken, woken, now + 1, thread, now + 1, woken);
}

void talk_futex_wake_nobody(struct talk *talk, int thread, int word)
{
	feed(talk->feed, "%ld c%d +futex %d 1 1\n%ld c%d -futex 0", talk->now, thread, word, talk->now, thread);
}

void talk_mark(struct talk *talk, int thread, const char *path)
{
	feed(talk->feed, "%ld c%d +openat -1 0 %s\n%ld c%d -openat -2", talk->now, thread, path, talk->now, thread);
}

void talk_span(struct talk *talk, int thread, int span, bool begin, const char *name)
{
	g_autofree char *text = g_strdup_printf("span thread=%d span=%d at=%ldu begin=%d name=%s", thread, span, talk->now, begin, name);
	struct lqn_event ev = feed_parse_event(text);

	g_array_append_val(talk->events, ev);
}

void talk_take(void *payload, const struct lqn_event *ev)
{
	const struct talk_host *host = payload;

	if (ev->type != LQN_EV_HOST) {
		lqn_analysis_event(host->analysis, host->number, ev);
	}
}

struct lqn_model *talk_model(struct talk *talk, const struct lqn_options *options, struct lqn_path_report **paths,
	GError **error)
{
	const struct lqn_options otherwise = { .begin = INT64_MIN, .end = INT64_MAX };
	struct talk_host host = { .analysis = lqn_analysis_new(options ? options : &otherwise) };
	struct lqn_model *model = NULL;

	host.number = lqn_analysis_host(host.analysis, "host");
	feed_finish(talk->feed, talk->now);
	feed_each(talk->feed, talk_take, &host);
	for (guint i = 0; i < talk->events->len; i++) {
		talk_take(&host, &g_array_index(talk->events, struct lqn_event, i));
	}
	g_array_free(talk->events, TRUE);
	if (!lqn_analysis_finish(host.analysis, &model, paths, error)) {
		model = NULL;
	}
	lqn_analysis_free(host.analysis);
	feed_free(talk->feed);
	return model;
}

struct lqn_model *talk_finish(struct talk *talk, const struct lqn_options *options)
{
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;
	struct lqn_model *model = talk_model(talk, options, &paths, &error);

	ck_assert_msg(model != NULL, "%s", error ? error->message : "no model and no error");
	ck_assert_uint_eq(paths->not_tiled, 0);
	lqn_path_report_free(paths);
	return model;
}

struct lqn_task *talk_task(const struct lqn_model *model, const char *name)
{
	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			struct lqn_task *task = processor->tasks->pdata[k];

			if (strcmp(task->name, name) == 0) {
				return task;
			}
		}
	}
	return NULL;
}

struct lqn_entry *talk_entry(const struct lqn_model *model, const char *name)
{
	struct lqn_task *task = talk_task(model, name);

	ck_assert_msg(task != NULL, "no task %s", name);
	ck_assert_uint_eq(task->entries->len, 1);
	return task->entries->pdata[0];
}

double talk_calls(const struct lqn_entry *entry, const struct lqn_entry *dest, enum lqn_call_kind kind)
{
	double mean = 0;

	for (int phase = 0; phase < 2; phase++) {
		const GArray *calls = entry->phase[phase].calls;

		for (guint i = 0; calls && i < calls->len; i++) {
			const struct lqn_model_call *call = &g_array_index(calls, struct lqn_model_call, i);

			if (call->dest == dest && call->kind == kind) {
				mean += call->mean;
			}
		}
	}
	return mean;
}
