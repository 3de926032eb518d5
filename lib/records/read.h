/* SPDX-License-Identifier: MIT */
#ifndef LQN_RECORDS_READ_H
#define LQN_RECORDS_READ_H

/*
 * Reads what write.h has written. What is read may be anything: nothing is believed that has not been looked at, and
 * no more memory is taken than bytes have come.
 */
#include "records/told.h"

enum lqn_read_status {
	LQN_READ_OK,
	LQN_READ_AGAIN,		/* nothing has come for a while, or a signal came: ask again */
	LQN_READ_END,
	LQN_READ_BAD,		/* *problem says what is wrong (g_free()) */
};

struct lqn_reader;

/* Opens a file or pipe; NULL, with *problem, if that fails. Free with lqn_reader_free(). */
struct lqn_reader *lqn_reader_new(const char *path, char **problem);
void lqn_reader_free(struct lqn_reader *reader);

/* What is told next; all of it lasts until the next call. A record's text is the reader's, until it is taken and made NULL. */
enum lqn_read_status lqn_reader_next(struct lqn_reader *reader, struct lqn_told **told, char **problem);

/* At the end: the last time that was read there, or LQN_TOLD_UNDATED, and how many events. */
int64_t lqn_reader_last(const struct lqn_reader *reader);
uint64_t lqn_reader_events(const struct lqn_reader *reader);

#endif
