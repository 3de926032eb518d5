/* SPDX-License-Identifier: MIT */
#ifndef LQN_RECORDS_MERGE_H
#define LQN_RECORDS_MERGE_H

/*
 * What several readers were told of the streams of the same traces, in the order in which Babeltrace's muxer would
 * have given it if one had read them all.
 */
#include <glib.h>

#include "records/read.h"

struct lqn_merge;

/* Opens files or pipes (char *); NULL, with *problem, if that fails. Free with lqn_merge_free(). */
struct lqn_merge *lqn_merge_new(const GPtrArray *paths, char **problem);
void lqn_merge_free(struct lqn_merge *merge);

/* As lqn_reader_next(). */
enum lqn_read_status lqn_merge_next(struct lqn_merge *merge, struct lqn_told **told, char **problem);

/* At the end: the last time that any has read, or LQN_TOLD_UNDATED, and how many events all have. */
int64_t lqn_merge_last(const struct lqn_merge *merge);
uint64_t lqn_merge_events(const struct lqn_merge *merge);

#endif
