/* SPDX-License-Identifier: MIT */
#ifndef LQN_CAUSAL_DESCRIPTORS_H
#define LQN_CAUSAL_DESCRIPTORS_H

/* Private to lib/causal: what calls do to descriptors, for the table of calls.c. */
#include "causal/engine.h"

/* What the descriptor stands for; NULL: nothing known. */
struct lqn_object *lqn_step_object(const struct lqn_step *step, int64_t fd);
/*
 * The object of a descriptor that a call moves bytes through, borrowed; one that came from nowhere
 * is made up. NULL: `fd` is none.
 */
struct lqn_object *lqn_step_channel(struct lqn_step *step, int64_t fd);

void lqn_enter_close(struct lqn_step *step, struct lqn_open_call *call);

/* A call returns `ret`; `cpu` is the thread's CPU clock then. */
void lqn_exit_accept(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_socket(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_socketpair(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_pipe(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_eventfd(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_epoll_create(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_open(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_mknod(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_bind(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_listen(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_dup(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_fcntl(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
/* A descriptor by which the kernel tells of something. */
void lqn_exit_notifier(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
/* It is read. */
void lqn_exit_notice(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu);
void lqn_exit_timerfd_settime(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_pidfd_getfd(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_exit_close_range(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);

#endif
