/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_REPORT_H
#define LQN_PATH_REPORT_H

/* Critical paths of requests as plain data: made by lib/path, read by the writers. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

/* What the thread on the path did in a piece. */
enum lqn_path_kind {
	LQN_PATH_CPU,		/* ran */
	LQN_PATH_RUNNABLE,	/* woken, waited for a CPU while all were busy; `by` had it last */
	LQN_PATH_WAKEUP,	/* woken, waited for a CPU while one was idle */
	LQN_PATH_PREEMPTED,	/* `by` ran instead */
	LQN_PATH_INTERRUPTED,	/* an interrupt had its CPU */
	LQN_PATH_LOCK,		/* waited for a lock that `by` held */
	LQN_PATH_DISK,		/* a block device served its request */
	LQN_PATH_DISK_QUEUE,	/* its request lay in a queue: a device served that of `by` */
	LQN_PATH_SLEEP,		/* waited for a timer */
	LQN_PATH_NETWORK,	/* a message or packet under way */
	/* a message lay in a channel before anyone took it; who took it then worked for `by` */
	LQN_PATH_QUEUE,
	LQN_PATH_BROKER,	/* a message lay in a broker: published, not delivered yet */
	LQN_PATH_UNTRACED,	/* waited for somebody whom the trace does not show */
	LQN_PATH_OTHER,		/* waited, cause known, none of the above */
	LQN_PATH_UNKNOWN,	/* waited, nothing explains it */
	LQN_PATH_KINDS
};
const char *lqn_path_kind_name(enum lqn_path_kind kind);

/* Where in the calls of a request work is done: by which task, asked for what, by whom. */
struct lqn_path_place {
	const struct lqn_path_place *caller;	/* of the same report; NULL: the client's */
	const char *task;			/* interned */
	const char *entry;	/* operation or entry; interned; NULL: the task has but one */
};

/* Who stood in the way. */
struct lqn_path_by {
	uint64_t thread;		/* 0: nobody known */
	const char *task, *comm;	/* interned; NULL without a thread */
	/* of the request that it worked for; interned; NULL: for none that is known */
	const char *operation;
	uint32_t request;		/* its number; 0: none of this report's */
	uint8_t doing;			/* enum lqn_path_kind: what was done meanwhile, … */
	const char *doing_task;		/* … and by which task; interned */
};

struct lqn_path_piece {
	/* ns; pieces are in order and tile the request's window exactly */
	int64_t begin, end;
	uint64_t thread;
	const char *task;		/* name in the model, or of the process; interned */
	const char *comm;		/* the thread's; interned */
	/* lock, device, connection, cause, who ran instead; interned; may be NULL */
	const char *detail;
	enum lqn_path_kind kind;
	const char *host;		/* interned */
	/* a message under way: who sent it; interned; NULL: not known */
	const char *from;
	uint64_t via;			/* of a wait, as in lqn:wait */
	uint8_t cause;			/* of a wait: enum lqn_cause */
	bool unseen;			/* the trace does not show what the thread did */
	struct lqn_path_by by;
	const struct lqn_path_place *place;	/* of the report; NULL on the path of a thread */
};

/* A piece of work for a request: an invocation, or what one thread did of it. */
struct lqn_path_work {
	int64_t begin, end;		/* ns */
	uint64_t thread;
	const char *host, *task, *comm;	/* interned */
	const char *entry;		/* interned; NULL: the task has but one */
	/*
	 * ns by which it could have ended later, as another call that was made beside it ended
	 * later; -1: nothing was called beside it, or it was the last to end
	 */
	int64_t slack;
};

/* What a thread did while it worked for a request. */
struct lqn_path_state {
	int64_t begin, end;		/* ns */
	uint64_t thread;
	const char *host;		/* interned */
	const char *detail;		/* interned; may be NULL */
	enum lqn_path_kind kind;
};

enum lqn_path_kept {			/* why a request's pieces are kept */
	LQN_KEPT_TYPICAL = 1,		/* nearest to the median */
	LQN_KEPT_SLOW = 2,		/* nearest to p95 */
	LQN_KEPT_SLOWEST = 4,		/* one of the slowest */
	LQN_KEPT_SAMPLE = 8,		/* one of a sample, spread over all ranks */
};

struct lqn_request_path {
	int64_t begin, end;		/* ns */
	uint64_t thread;		/* of the client */
	const char *task;		/* interned */
	uint32_t number;		/* from 1, in order of begin */
	unsigned kept;			/* enum lqn_path_kept, as bits */
	GArray *pieces;			/* struct lqn_path_piece; owned */
	/* of those kept for more than the sample; owned; else NULL */
	GArray *works;			/* struct lqn_path_work, by begin */
	GArray *states;			/* struct lqn_path_state, by thread and begin */
};

/* Ranks of requests by length, between two quantiles. */
enum lqn_path_band {
	LQN_BAND_FAST,		/* below p25 */
	LQN_BAND_TYPICAL,	/* p25 to p75 */
	LQN_BAND_LONG,		/* p75 to p95 */
	LQN_BAND_SLOW,		/* p95 to p99 */
	LQN_BAND_SLOWEST,	/* from p99 on */
	LQN_PATH_BANDS
};
const char *lqn_path_band_name(enum lqn_path_band band);

/* ns by place, task, kind and detail, over all requests of a group. */
struct lqn_path_share {
	const struct lqn_path_place *place;	/* of the report */
	const char *task;		/* interned */
	const char *detail;		/* interned; may be NULL */
	enum lqn_path_kind kind;
	double sum[LQN_PATH_BANDS];	/* ns */
};

struct lqn_path_group {			/* all requests of one operation of a client */
	const char *task;		/* the client; interned */
	const char *operation;		/* interned; NULL: the client has but one */
	uint64_t requests;
	uint64_t band[LQN_PATH_BANDS];	/* requests in each */
	double mean;			/* ns */
	int64_t p50, p95, p99, max;	/* ns */
	GArray *shares;			/* struct lqn_path_share, largest first; owned */
	GPtrArray *kept;		/* struct lqn_request_path, shortest first; owned */
	const struct lqn_request_path *typical, *slow;	/* of `kept`; NULL: none */
};

/* Which requests are compared. */
enum lqn_path_set { LQN_SET_ALL, LQN_SET_TYPICAL, LQN_SET_SLOW };	/* slow: from p95 on */
/* ns per request of the set; 0 if there are none. */
double lqn_path_share_mean(const struct lqn_path_group *group, const struct lqn_path_share *share,
	enum lqn_path_set set);
uint64_t lqn_path_group_count(const struct lqn_path_group *group, enum lqn_path_set set);
/* What people call the operation. */
const char *lqn_path_group_name(const struct lqn_path_group *group);

/* Requests of one operation, delayed by those of another. */
struct lqn_path_delay {
	const char *operation;		/* of the delayed; interned */
	const char *task;		/* where it waited; interned */
	enum lqn_path_kind kind;
	const char *detail;		/* lock, device; interned; may be NULL */
	const char *by_operation;	/* interned; NULL: for no request that is known */
	const char *by_task;		/* interned */
	uint64_t requests;		/* that were delayed */
	double sum;			/* ns */
	double doing[LQN_PATH_KINDS];	/* ns of it, by what was done meanwhile */
};

/* Messages from one task through a broker to another. */
struct lqn_path_message {
	struct lqn_message_flow flow;
	/* nearest to the median latency, and the longest, from the producer's send to the end of the consumer's work; owned; may be NULL */
	struct lqn_request_path *typical, *slowest;
};

struct lqn_path_report {
	GPtrArray *groups;		/* struct lqn_path_group, owned; never NULL */
	char *partial;			/* as in struct lqn_model; owned; NULL: of the whole trace */
	GArray *delays;			/* struct lqn_path_delay, largest first; owned; never NULL */
	GArray *messages;		/* struct lqn_path_message, most messages first; owned; never NULL */
	uint64_t requests, not_tiled;	/* not_tiled must be 0 */
	/* struct lqn_request_path *, owned; every request if they were asked for, else NULL */
	GPtrArray *all;
	GHashTable *places;		/* set of struct lqn_path_place; owned */
};

/* An empty report; `all`: that keeps every request. Free with lqn_path_report_free(). */
struct lqn_path_report *lqn_path_report_new(bool all);
void lqn_path_report_free(struct lqn_path_report *report);

/* The report's place of that caller, task and entry; made if there is none. */
const struct lqn_path_place *lqn_path_report_place(struct lqn_path_report *report,
	const struct lqn_path_place *caller, const char *task, const char *entry);

/* Frees a path with its pieces. */
void lqn_request_path_free(struct lqn_request_path *path);

#endif
