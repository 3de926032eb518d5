/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_CHAOS_H
#define LQN_TESTS_UNIT_CHAOS_H

/* Traces that no kernel has ever made: half plausible, half not. The same seed gives the same
 * trace. */
#include <stdbool.h>
#include <stdint.h>

#include "causal/causal.h"

struct chaos {
	uint64_t state;
	/* in a thousand: how often something is out of place. 0: a plausible trace */
	uint32_t wildness;
	bool ordered; /* times and lengths are sane, whatever else is not */
};

struct chaos chaos_new(uint64_t seed);
uint64_t chaos_number(struct chaos *chaos);
uint32_t chaos_below(struct chaos *chaos, uint32_t n);
/* A number that has broken something somewhere. */
int64_t chaos_hostile(struct chaos *chaos);
/* Text that does; lives for ever. */
const char *chaos_text(struct chaos *chaos);

/* Puts so many records into the engine, and ends the trace. */
void chaos_trace(struct chaos *chaos, struct lqn_causal *causal, unsigned records);

/* Makes something of an `lqn:` event another: numbers, texts, its type. */
void chaos_spoil(struct chaos *chaos, struct lqn_event *ev);

#endif
