/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_PATH_WORDS_H
#define LQN_WRITE_PATH_WORDS_H

/* What people call the pieces of a path. */
#include "path/report.h"

/*
 * What was waited for, and who stood in the way: `lock_1 held by db/2, request 17 of buy: sleep`.
 * Clean, "" if there is nothing to say; g_free().
 */
char *lqn_path_piece_words(const struct lqn_path_piece *piece);

/* `buy, asked by client`; clean; g_free(). */
char *lqn_path_group_words(const struct lqn_path_group *group);

/* A task as a frame of a stack: with its entry, if that says more than the task; clean; g_free(). */
char *lqn_path_place_words(const struct lqn_path_place *place);

#endif
