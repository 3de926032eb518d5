/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_SYNC_H
#define LQN_REQUEST_SYNC_H

/*
 * One time for several hosts. Packets that both ends of a connection tell of bound how the hosts' clocks differ; events of all
 * hosts are held until that is known, then their times are put on the first host's clock.
 */
#include "clock/fit.h"
#include "facts.h"

/* Events held while the clocks are being compared: then they must do with what is known. */
#define LQN_SYNC_HELD_MAX (1u << 18)

struct lqn_sync;

/* Takes an event with corrected times. */
typedef void (*lqn_sync_func)(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);

struct lqn_sync *lqn_sync_new(struct lqn_analysis *analysis, lqn_sync_func deliver);
void lqn_sync_free(struct lqn_sync *sync);

/* Takes an event; it is delivered now, or later. */
void lqn_sync_event(struct lqn_sync *sync, struct lqn_party *host, const struct lqn_event *ev);
/* Delivers what is held. */
void lqn_sync_flush(struct lqn_sync *sync);

/* What is known of a host's clock against the first host's: through `*via`, or directly if that is the first. */
struct lqn_clock_line lqn_sync_line(const struct lqn_sync *sync, const struct lqn_party *host,
	const struct lqn_party **via);

#endif
