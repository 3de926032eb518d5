/* SPDX-License-Identifier: MIT */
#ifndef LQN_RECORDS_WRITE_H
#define LQN_RECORDS_WRITE_H

/* Writes what is told into a file or pipe, for read.h. */
#include "records/told.h"

struct lqn_writer;

/*
 * Opens a file that is there, a pipe, or makes a new file. NULL, with the reason in `*problem` (g_free()), if that
 * fails. Free with lqn_writer_free(), which writes nothing more.
 */
struct lqn_writer *lqn_writer_new(const char *path, char **problem);
void lqn_writer_free(struct lqn_writer *writer);

/*
 * Takes what is told (a record's text, too), and writes when there is enough of it. Each returns false, with the
 * reason in `*problem`, if that fails.
 */
bool lqn_writer_put(struct lqn_writer *writer, struct lqn_told *told, char **problem);

/* Writes what there is. */
bool lqn_writer_flush(struct lqn_writer *writer, char **problem);

/* Writes the rest, and that it is the end: `events` have been read, of any kind. */
bool lqn_writer_end(struct lqn_writer *writer, uint64_t events, char **problem);

#endif
