/* SPDX-License-Identifier: MIT */
#ifndef LQN_CAUSAL_WORDS_H
#define LQN_CAUSAL_WORDS_H

/* Private to lib/causal: calls on futex words, locks of files, semaphores, for the table of calls.c. */
#include "causal/engine.h"

void lqn_enter_futex(struct lqn_step *step, struct lqn_open_call *call);
void lqn_exit_futex(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu);
void lqn_enter_flock(struct lqn_step *step, struct lqn_open_call *call);
void lqn_exit_flock(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu);
/* fcntl: does nothing for commands that are not about locks. */
void lqn_enter_record_lock(struct lqn_step *step, struct lqn_open_call *call);
void lqn_exit_record_lock(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);
void lqn_enter_semop(struct lqn_step *step, struct lqn_open_call *call);
void lqn_exit_semop(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu);
void lqn_exit_semctl(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu);
void lqn_exit_msgctl(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu);
/* A close gives back the lock that its process has on the file. */
void lqn_enter_closing_lock(struct lqn_step *step, struct lqn_open_call *call);
void lqn_exit_closing_lock(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu);

#endif
