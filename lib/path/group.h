/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_GROUP_H
#define LQN_PATH_GROUP_H

/* Private to lib/path: what is made of paths. */
#include "path/index.h"

/* shares.c: time by place, task, kind and detail. A set of struct lqn_path_share, owned. */
GHashTable *lqn_shares_new(void);
void lqn_shares_add(GHashTable *shares, const GArray *pieces, enum lqn_path_band band);
/* As an array, largest first; takes the set. */
GArray *lqn_shares_take(GHashTable *shares);

/* delays.c: who delays whom. A set of struct lqn_path_delay and more, owned. */
GHashTable *lqn_delays_new(void);
/* Counts what delayed the request `number` of an operation. */
void lqn_delays_add(GHashTable *delays, const GArray *pieces, const char *operation,
	uint32_t number);
/* As an array of struct lqn_path_delay, largest first; takes the set. */
GArray *lqn_delays_take(GHashTable *delays);

/* profile.c: true if the pieces are in order and fill the path's time without a gap. */
bool lqn_path_is_tiled(const struct lqn_request_path *path, const GArray *pieces);

/* messages.c: what became of messages that brokers passed on, with a typical path of each flow and the longest. */
void lqn_path_messages(struct lqn_path_index *index, const struct lqn_build *build, struct lqn_path_report *report);

/* request.c: fills in `works` and `states` of the request that begins with `root`. */
void lqn_path_detail(struct lqn_path_index *index, struct lqn_request_path *path,
	struct lqn_invocation *root);

#endif
