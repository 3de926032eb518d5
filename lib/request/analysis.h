/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_ANALYSIS_H
#define LQN_REQUEST_ANALYSIS_H

/* The sink's engine: takes the `lqn:` events of any number of hosts. What comes of them is in result/result.h. */
#include <glib.h>
#include <stdbool.h>
#include "event/event.h"
#include "identity/rules.h"
#include "identity/snapshot.h"

struct lqn_analysis;

/* What an entry of a task is. */
enum lqn_entries {
	LQN_ENTRIES_OPERATION,		/* what differs in calls, locks, or demand, by who asks; or in the names of spans */
	LQN_ENTRIES_CALLERS,		/* each way of callers down from the clients */
	LQN_ENTRIES_TASK,		/* all that is called in one way: synchronously, asynchronously */
};

#define LQN_BACKGROUND_BELOW 0.02

struct lqn_options {
	const char *begin_mark, *end_mark;	/* `EVENT:VALUE` or `EVENT`; NULL: none; borrowed for the call */
	int64_t begin, end;			/* ns; INT64_MIN, INT64_MAX: not given */
	bool whole;				/* without marks and times: from the first request to the last, steady or not */
	bool clutter;				/* the full model: all clients, all entries */
	double background_below;		/* of the busiest client's cycles, below which one is background; 0: LQN_BACKGROUND_BELOW */
	enum lqn_entries entries;		/* how fine */
	bool all_paths;				/* keep every request's pieces in the report */
	unsigned slowest;			/* requests of each operation whose pieces are kept with all that was done for them */
	const char *name;			/* the model's; NULL: `model` */
	uint64_t detail;			/* bytes that what is over may take, see keep.h; 0: no bound */
	const GPtrArray *snapshots;		/* struct lqn_snapshot, one a host; borrowed for the analysis' life; NULL: none */
	struct lqn_rules *rules;		/* likewise */
	const char *thread;			/* whose path is asked for, see path/thread.h; NULL: nobody's */
};

#define LQN_ANALYSIS_ERROR (lqn_analysis_error_quark())
GQuark lqn_analysis_error_quark(void);
enum lqn_analysis_error {
	LQN_ANALYSIS_NO_EVENTS,		/* not one `lqn:` event came */
	LQN_ANALYSIS_NO_MARK,		/* a mark that was asked for never came */
	LQN_ANALYSIS_NO_REQUESTS,	/* no request in the window */
	LQN_ANALYSIS_NO_THREAD,		/* no thread, or more than one, is what was asked for */
};

struct lqn_analysis *lqn_analysis_new(const struct lqn_options *options);
void lqn_analysis_free(struct lqn_analysis *analysis);

/*
 * The number of the host that a stream of events tells of: to be asked for once a stream, and given with
 * each of its events. Streams of one host name are one host.
 */
unsigned lqn_analysis_host(struct lqn_analysis *analysis, const char *name);

/* Takes an event of a host; order within a host is that of its stream. */
void lqn_analysis_event(struct lqn_analysis *analysis, unsigned host, const struct lqn_event *ev);

/* After the last event: works on all that still waits for more to come. */
void lqn_analysis_end(struct lqn_analysis *analysis);

/*
 * While events still come: works on what happened before `until` (ns) without waiting for what may yet be told of that time.
 * Events are told late, a receive when its sender is known; what is told of the time before `until` afterwards is worked on
 * out of order. A second behind the latest event is late enough for nearly all.
 */
void lqn_analysis_advance(struct lqn_analysis *analysis, int64_t until);

/* What happened before `before` (ns) is asked for no more: later models are of windows that begin there or later. */
void lqn_analysis_forget(struct lqn_analysis *analysis, int64_t before);

#endif
