/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_THREAD_H
#define LQN_PATH_THREAD_H

/*
 * The critical path of one thread, in the terms of those who look at threads rather than requests.
 */
#include <glib.h>
#include <stdint.h>

enum lqn_thread_state_shown {
	LQN_SHOW_RUNNING,
	LQN_SHOW_PREEMPTED,	/* wants a CPU: was preempted, or woken */
	LQN_SHOW_BLOCKED,
	LQN_SHOW_TIMER,
	LQN_SHOW_NETWORK,	/* a message is on its way, or a packet is waited for */
	LQN_SHOW_BLOCK_DEVICE,
	LQN_SHOW_USER_INPUT,
	LQN_SHOW_IPI,		/* ended by another CPU's interrupt, on behalf of nobody known */
	LQN_SHOW_INTERRUPTED,	/* ended by the timer interrupt of old, number 0 */
	LQN_SHOW_UNKNOWN,	/* the trace does not show what the thread did */
	LQN_SHOW_STATES
};
const char *lqn_thread_state_name(enum lqn_thread_state_shown state);

struct lqn_thread_row {
	int64_t begin, end;		/* ns */
	uint64_t thread;		/* the one asked for, or one that it waits for */
	const char *host, *comm;	/* interned */
	const char *cause;		/* interned; may be empty */
	enum lqn_thread_state_shown state;
};

struct lqn_thread_path {
	int64_t begin, end;		/* ns */
	uint64_t thread;
	const char *host, *comm;	/* interned */
	GArray *rows;			/* struct lqn_thread_row, which tile [begin, end); owned */
};

struct lqn_analysis;

/*
 * After lqn_analysis_end(), even if there is nothing to model: the critical path of the thread that the options name, over its
 * life in the trace or what of it lies in [begin, end). The thread is a name (of a thread, else of a process: its main
 * thread) or a thread id, either with `HOST:` before it; an id that was given out several times means the last thread that had
 * it. NULL with LQN_ANALYSIS_NO_THREAD if not exactly one is meant. Free with lqn_thread_path_free().
 */
struct lqn_thread_path *lqn_analysis_thread_path(struct lqn_analysis *analysis, GError **error);

void lqn_thread_path_free(struct lqn_thread_path *path);

#endif
