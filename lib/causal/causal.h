/* SPDX-License-Identifier: MIT */
#ifndef LQN_CAUSAL_CAUSAL_H
#define LQN_CAUSAL_CAUSAL_H

/*
 * The causal engine of one traced host: kernel records in, `lqn:` events out.
 * Records come in the order of the trace; what is a little late is put in order, what is too late
 * counts as lost (kernel/reorder.h). Events come out with ts of the record that completed the
 * evidence for them; the past that they explain is in their fields.
 */
#include "event/event.h"
#include "identity/snapshot.h"
#include "layout/record.h"

struct lqn_causal;

/*
 * A new engine. `host` and `release` (kernel release; NULL: unknown) are copied. `emit` is called
 * from within the functions below, with `payload`. Free with lqn_causal_free().
 */
struct lqn_causal *lqn_causal_new(const char *host, const char *release,
	lqn_event_func emit, void *payload);
void lqn_causal_free(struct lqn_causal *causal);

/*
 * What a snapshot shows of the host before the trace: to be told before the first record. It must stay until then. Connections that
 * are older than the trace then have both their ends, and threads their processes.
 */
void lqn_causal_set_snapshot(struct lqn_causal *causal, const struct lqn_snapshot *snapshot);

/* Takes a record; rec->text passes to the engine. */
void lqn_causal_push(struct lqn_causal *causal, struct lqn_record *rec);

/* Says that `count` events (0: unknown number) of a CPU (-1: all) were lost in [begin, end]. */
void lqn_causal_lost(struct lqn_causal *causal, int32_t cpu, int64_t begin, int64_t end,
	uint64_t count);

/*
 * Nothing more comes of a CPU after `ts`. If others go on, what it does from then on is unknown. It
 * may come back.
 */
void lqn_causal_cpu_ends(struct lqn_causal *causal, int32_t cpu, int64_t ts);

/* Ends the trace at `ts`: everything still open is told. No further call but free. */
void lqn_causal_finish(struct lqn_causal *causal, int64_t ts);

#endif
