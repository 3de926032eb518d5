/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_REPORT_H
#define LQN_PATH_REPORT_H

/* Critical paths of requests as plain data: made by path.c and profile.c, read by the writers. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What the thread on the path did in a piece. */
enum lqn_path_kind {
	LQN_PATH_CPU,		/* ran */
	LQN_PATH_RUNNABLE,	/* woken, waited for a CPU while all were busy */
	LQN_PATH_WAKEUP,	/* woken, waited for a CPU while one was idle */
	LQN_PATH_PREEMPTED,	/* `by` ran instead */
	/* waited for a lock (object), its holder not on a CPU for this request */
	LQN_PATH_LOCK,
	LQN_PATH_DISK,
	LQN_PATH_SLEEP,		/* waited for a timer */
	LQN_PATH_NETWORK,	/* a message or packet under way */
	LQN_PATH_QUEUE,		/* a message lay in a channel before anyone took it */
	LQN_PATH_OTHER,		/* waited, cause known, none of the above */
	LQN_PATH_UNKNOWN,	/* waited, nothing explains it */
	LQN_PATH_KINDS
};
const char *lqn_path_kind_name(enum lqn_path_kind kind);

struct lqn_path_piece {
	/* ns; pieces are in order and tile the request's window exactly */
	int64_t begin, end;
	uint64_t thread;
	const char *task;		/* name in the model, or of the process; interned */
	const char *comm;		/* the thread's; interned */
	/* lock, device, cause, who ran instead; interned; may be NULL */
	const char *detail;
	enum lqn_path_kind kind;
	const char *host;		/* interned */
	/* a message under way: who sent it; interned; NULL: not known */
	const char *from;
	uint64_t via;			/* of a wait, as in lqn:wait */
	uint8_t cause;			/* of a wait: enum lqn_cause */
	bool unseen;			/* the trace does not show what the thread did */
};

struct lqn_request_path {
	int64_t begin, end;		/* ns */
	uint64_t thread;		/* of the client */
	const char *task;		/* interned */
	GArray *pieces;			/* struct lqn_path_piece; owned */
};

/* Mean time per request, by kind and task, over a set of requests. */
struct lqn_path_share {
	const char *task;		/* interned */
	const char *detail;		/* interned; may be NULL */
	enum lqn_path_kind kind;
	double mean;			/* ns per request */
};

struct lqn_path_group {			/* all requests of one reference task */
	const char *task;		/* interned */
	uint64_t requests;
	double mean;			/* ns */
	int64_t p50, p95, p99, max;	/* ns */
	/* struct lqn_path_share, all requests, largest first; owned */
	GArray *shares;
	GArray *slow_shares;		/* likewise, requests from p95 on; owned */
	/* the request nearest to the median; owned; may be NULL */
	struct lqn_request_path *typical;
	struct lqn_request_path *slow;		/* the one nearest to p95; owned; may be NULL */
};

struct lqn_path_report {
	GPtrArray *groups;		/* struct lqn_path_group, owned; never NULL */
	char *partial;			/* as in struct lqn_model; owned; NULL: of the whole trace */
	uint64_t requests, not_tiled;	/* not_tiled must be 0 */
	/* struct lqn_request_path *, owned; every request if they were asked for, else NULL */
	GPtrArray *all;
};

/* An empty report; `all`: that keeps every request. Free with lqn_path_report_free(). */
struct lqn_path_report *lqn_path_report_new(bool all);
void lqn_path_report_free(struct lqn_path_report *report);

/* Frees a path with its pieces. */
void lqn_request_path_free(struct lqn_request_path *path);

#endif
