/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_ASIDE_H
#define LQN_REQUEST_ASIDE_H

/*
 * An analysis in a thread of its own: events are given to it, and it takes them in their order while whoever gave them goes
 * on. For all else the analysis is to be waited for.
 */
#include "request/analysis.h"

/* Events that the thread is given at a time: so many that it seldom waits, for each time costs as much as some hundred events. */
#define LQN_ASIDE_BATCH 32768

struct lqn_aside;

/*
 * Starts the thread, for an analysis that is borrowed until lqn_aside_free(). Signals are left to the other threads. NULL: there
 * can be no thread.
 */
struct lqn_aside *lqn_aside_new(struct lqn_analysis *analysis);

/* Ends the thread when it has taken all events. */
void lqn_aside_free(struct lqn_aside *aside);

/* As lqn_analysis_event(), some time before lqn_aside_wait() returns; the event and its strings are copied. */
void lqn_aside_event(struct lqn_aside *aside, unsigned host, const struct lqn_event *ev);

/* Until the next event is given the analysis may be used by whoever calls this. */
void lqn_aside_wait(struct lqn_aside *aside);

#endif
