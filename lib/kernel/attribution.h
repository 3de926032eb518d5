/* SPDX-License-Identifier: MIT */
#ifndef LQN_KERNEL_ATTRIBUTION_H
#define LQN_KERNEL_ATTRIBUTION_H

/*
 * Who did it? A record belongs to the thread that its CPU was running. That thread is named twice:
 * as `next` of the switch before the record and as `prev` of the switch after it. Traces have
 * holes: a switch that was never recorded makes the two differ, and then the later one is right,
 * for a record after the hole was made by the thread that the next switch takes off the CPU. So
 * records wait here until the next switch of their CPU has said who ran. (Taking the earlier one
 * instead loses one message in a thousand, and a lost message shifts a first-in first-out channel
 * for good.)
 *
 * The wait is bounded: when `LQN_ATTRIBUTION_MAX` records are held, the oldest go with the earlier
 * name.
 */
#include "layout/record.h"

#define LQN_ATTRIBUTION_MAX 8192

/* tid of a record whose CPU's thread is not known: before the first switch, after a loss */
#define LQN_TID_UNKNOWN (-1)

struct lqn_attribution;

/*
 * Takes a record back, in the order of the trace, with the thread it belongs to; rec->text passes
 * to the callee.
 */
typedef void (*lqn_attribution_func)(void *payload, struct lqn_record *rec, int32_t tid);

struct lqn_attribution *lqn_attribution_new(lqn_attribution_func func, void *payload);
void lqn_attribution_free(struct lqn_attribution *attribution);

/*
 * Takes a record; rec->text passes to the attribution. rec->cpu must be >= 0 and below LQN_CPU_MAX.
 */
void lqn_attribution_push(struct lqn_attribution *attribution, struct lqn_record *rec);

/* Gives all held records back. Call before anything that must come after them. */
void lqn_attribution_flush(struct lqn_attribution *attribution);

/* Forgets what runs on a CPU (-1: on all), after a flush: events of it were lost. */
void lqn_attribution_forget(struct lqn_attribution *attribution, int32_t cpu);

#define LQN_CPU_MAX 8192	/* the kernel's own limit on x86 */

#endif
