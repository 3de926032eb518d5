/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_REGION_H
#define LQN_REQUEST_REGION_H

/*
 * Memory for many small things of few sizes that come and go all the time: what was given back is used again, and all of
 * it lies in large blocks, for which the kernel may use large pages. A page that is new costs more than what is written to it.
 */
#include <glib.h>
#include <stddef.h>

#define LQN_REGION_UNIT 16	/* sizes are multiples of that */
#define LQN_REGION_MAX 512	/* the largest size */

struct lqn_region {
	void *unused[LQN_REGION_MAX / LQN_REGION_UNIT + 1];	/* given back; by size, each points to the next */
	char *next, *end;		/* of the last block, what was never used */
	size_t block;			/* its size; 0: there is none */
	GPtrArray *blocks;		/* owned */
};

void lqn_region_init(struct lqn_region *region);
/* Frees everything. */
void lqn_region_clear(struct lqn_region *region);

/* Zeroed memory, at most LQN_REGION_MAX bytes. */
void *lqn_region_alloc0(struct lqn_region *region, size_t size);
/* Takes it back; `size` is what was asked for. */
void lqn_region_free(struct lqn_region *region, void *memory, size_t size);

/* Memory for `size` bytes in large pages, where there are such; not zeroed. Free with free(). */
void *lqn_large_alloc(size_t size);

#endif
