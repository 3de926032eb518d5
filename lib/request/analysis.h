/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_ANALYSIS_H
#define LQN_REQUEST_ANALYSIS_H

/* The sink's engine: `lqn:` events of any number of hosts in, a model and critical paths out. */
#include <glib.h>
#include <stdbool.h>
#include "event/event.h"
#include "model/model.h"
#include "path/report.h"
#include "path/thread.h"

struct lqn_analysis;

struct lqn_options {
	const char *begin_mark, *end_mark;	/* `EVENT:VALUE` or `EVENT`; NULL: none; borrowed for the call */
	int64_t begin, end;			/* ns; INT64_MIN, INT64_MAX: not given */
	bool whole;				/* without marks and times: from the first request to the last, steady or not */
	bool clutter;				/* keep clients that make few cycles beside others */
	bool all_paths;				/* keep every request's pieces in the report */
	const char *name;			/* the model's; NULL: `model` */
	const char *thread;			/* whose path is asked for, see lqn_analysis_thread_path(); NULL: nobody's */
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

/*
 * After the last event: the model (free with lqn_model_free) and the paths (lqn_path_report_free).
 * False with an error of LQN_ANALYSIS_ERROR if there is nothing to model.
 */
bool lqn_analysis_finish(struct lqn_analysis *analysis, struct lqn_model **model,
	struct lqn_path_report **paths, GError **error);

/*
 * After lqn_analysis_finish(), even if it found nothing to model: the critical path of the thread that the options name, over its
 * life in the trace or what of it lies in [begin, end). The thread is a name (of a thread, else of a process: its main
 * thread) or a thread id, either with `HOST:` before it; an id that was given out several times means the last thread that had
 * it. NULL with LQN_ANALYSIS_NO_THREAD if not exactly one is meant. Free with lqn_thread_path_free().
 */
struct lqn_thread_path *lqn_analysis_thread_path(struct lqn_analysis *analysis, GError **error);

#endif
