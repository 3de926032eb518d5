/* SPDX-License-Identifier: MIT */
#include "request/region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#define BLOCK_MIN (1u << 15)
#define LARGE_PAGE (1u << 21)

void *lqn_large_alloc(size_t size)
{
	void *memory;

	size = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	if (posix_memalign(&memory, LARGE_PAGE, size) != 0) {
		g_error("out of memory: %zu bytes", size);
	}
#ifdef MADV_HUGEPAGE
	madvise(memory, size, MADV_HUGEPAGE);	/* if that fails the pages are small */
#endif
	return memory;
}

void lqn_region_init(struct lqn_region *region)
{
	memset(region, 0, sizeof(*region));
	region->blocks = g_ptr_array_new_with_free_func(free);
}

void lqn_region_clear(struct lqn_region *region)
{
	g_ptr_array_free(region->blocks, TRUE);
}

static void add_block(struct lqn_region *region)
{
	region->block = region->block ? MIN(2 * region->block, LARGE_PAGE) : BLOCK_MIN;
	region->next = region->block < LARGE_PAGE ? malloc(region->block) : lqn_large_alloc(region->block);
	if (!region->next) {
		g_error("out of memory: %zu bytes", region->block);
	}
	region->end = region->next + region->block;
	g_ptr_array_add(region->blocks, region->next);
}

static size_t round_up(size_t size)
{
	return (size + LQN_REGION_UNIT - 1) / LQN_REGION_UNIT * LQN_REGION_UNIT;
}

void *lqn_region_alloc0(struct lqn_region *region, size_t size)
{
	void **unused = &region->unused[round_up(size) / LQN_REGION_UNIT];
	void *memory = *unused;

	if (memory) {
		*unused = *(void **) memory;
	} else {
		if ((size_t) (region->end - region->next) < round_up(size)) {
			add_block(region);
		}
		memory = region->next;
		region->next += round_up(size);
	}
	return memset(memory, 0, size);
}

void lqn_region_free(struct lqn_region *region, void *memory, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
	/* never used again, so that whoever still does is found */
	ASAN_POISON_MEMORY_REGION(memory, round_up(size));
#else
	void **unused = &region->unused[round_up(size) / LQN_REGION_UNIT];

	*(void **) memory = *unused;
	*unused = memory;
#endif
}
