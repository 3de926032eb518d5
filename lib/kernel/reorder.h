/* SPDX-License-Identifier: MIT */
#ifndef LQN_KERNEL_REORDER_H
#define LQN_KERNEL_REORDER_H

/*
 * Records that come out of order. Nothing waits here while a trace is in order. When a record comes
 * late, the window opens: from then on each waits until one has come that is later by twice as much
 * as any was late, so that what comes as late again finds its place. Both are bounded; beyond that
 * a record is too late.
 */
#include <glib.h>
#include <stdbool.h>

#include "layout/record.h"

/* Clocks of CPUs and buffers that are read in turns differ by less. ns */
#define LQN_REORDER_MAX_NS 100000000
#define LQN_REORDER_MAX (1u << 16)	/* records held */

/* Takes a record back, in order of time; rec->text passes to the callee. */
typedef void (*lqn_reorder_func)(void *payload, struct lqn_record *rec);

struct lqn_reorder {
	lqn_reorder_func func;
	void *payload;
	GArray *heap;		/* struct held; owned */
	int64_t window;		/* ns; 0: no record has come late */
	int64_t newest;		/* ts that has come in */
	uint64_t number;	/* of records that have come in */
};

void lqn_reorder_init(struct lqn_reorder *reorder, lqn_reorder_func func, void *payload);
void lqn_reorder_clear(struct lqn_reorder *reorder);

/* A record was late by `ns`: more of the kind are to be expected. */
void lqn_reorder_widen(struct lqn_reorder *reorder, int64_t ns);

/* Takes a record with its text. It must not be earlier than what `func` was given last. */
void lqn_reorder_push(struct lqn_reorder *reorder, const struct lqn_record *rec);

/* Gives back all that is held. */
void lqn_reorder_flush(struct lqn_reorder *reorder);

#endif
