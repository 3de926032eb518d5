/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_TALK_H
#define LQN_TESTS_UNIT_TALK_H

/*
 * Programs that talk to each other, as kernel records: a clock in microseconds, and a CPU of its own for each thread (thread n
 * runs on CPU n, and is alone in process n unless talk_thread() says else). A step lasts a microsecond of its thread.
 */
#include "feed.h"
#include "model/model.h"
#include "path/report.h"
#include "result/result.h"

struct talk {
	struct feed *feed;
	GArray *events;		/* struct lqn_event beside those of the feed; owned */
	long now;
};

void talk_start(struct talk *talk);
/* A process of one thread that is called so and runs. */
void talk_process(struct talk *talk, int thread, const char *name);
/* Another thread of the process of thread `of`. */
void talk_thread(struct talk *talk, int of, int thread);
/* `client` connects its descriptor `fd` to what `server` accepts as `made`. */
void talk_connect(struct talk *talk, int client, int fd, int server, int made);

/* A client whose descriptor 5 is connected to a server's 7, where it waits for requests. */
void talk_pair(struct talk *talk, int client, const char *client_name, int server, const char *server_name);
/* The client works for 30 us, asks the server, which works for so long, and sleeps. */
void talk_cycle(struct talk *talk, int client, int server, long server_us, long sleep_us);

/* The thread runs for so long. */
void talk_work(struct talk *talk, long us);
/* It leaves the CPU in a receive on `fd` (`recvfrom`, or what `call` says), or goes to sleep for so long. */
void talk_await(struct talk *talk, int thread, const char *call, int fd);
void talk_sleep(struct talk *talk, int thread, long us);
/* Both go to sleep now, and awake together. */
void talk_sleep_both(struct talk *talk, int one, int other, long us);
/* `from` sends on `fd`, which wakes `to` out of its receive; both run then. */
void talk_send(struct talk *talk, int from, const char *call, int fd, int to, const char *receive);
/* The two of them: `from` sends and awaits the answer, `to` has the request. */
void talk_request(struct talk *talk, int from, int fd, int to);
/* `from` answers on `fd` and awaits the next request there; `to` has the answer. */
void talk_reply(struct talk *talk, int from, int fd, int to);
/* It waits for a futex word; `thread` wakes `woken` out of its wait for the word, and both run, or wakes nobody. */
void talk_futex_wait(struct talk *talk, int thread, int word);
void talk_futex_wake(struct talk *talk, int thread, int word, int woken);
void talk_futex_wake_nobody(struct talk *talk, int thread, int word);
void talk_mark(struct talk *talk, int thread, const char *path);

/* The thread begins (or ends) a span of user space. */
void talk_span(struct talk *talk, int thread, int span, bool begin, const char *name);

/* A host of an analysis, and how it takes events: a lqn_event_func for feed_each(). */
struct talk_host {
	struct lqn_analysis *analysis;	/* borrowed */
	unsigned number;		/* lqn_analysis_host() */
};
void talk_take(void *host, const struct lqn_event *ev);

/* Ends the trace and makes a model of it. NULL with an error. Options may be NULL. */
struct lqn_model *talk_model(struct talk *talk, const struct lqn_options *options, struct lqn_path_report **paths,
	GError **error);
/* Likewise; any error is a failure. */
struct lqn_model *talk_finish(struct talk *talk, const struct lqn_options *options);

struct lqn_task *talk_task(const struct lqn_model *model, const char *name);
/* Its only entry. */
struct lqn_entry *talk_entry(const struct lqn_model *model, const char *task);
/* A figure of the model is what was asked for, but for some steps, a microsecond each. */
#define near(got, want) ck_assert_double_eq_tol((got), (want), 0.03 * (want) + 1e-6)
/* Mean calls from one entry to another, over both phases; 0: none. */
double talk_calls(const struct lqn_entry *entry, const struct lqn_entry *dest, enum lqn_call_kind kind);

#endif
