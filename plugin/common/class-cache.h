/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_CLASS_CACHE_H
#define LQN_PLUGIN_CLASS_CACHE_H

/*
 * What a component worked out for an event class, found again by the class's address. Entries go
 * when their trace class does, so that a later class at the same address never meets them.
 */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define LQN_CLASS_FRONT 256	/* a trace uses a few hundred event classes at most, and few of them often */

struct lqn_class_cache {
	/* in front of the hash table, by some bits of the address */
	struct {
		const bt_event_class *ec;	/* NULL: none */
		void *value;			/* borrowed */
	} front[LQN_CLASS_FRONT];
	GHashTable *entries;		/* const bt_event_class * -> struct entry *, owned */
	GHashTable *listeners;		/* const bt_trace_class * -> bt_listener_id *, owned */
	GDestroyNotify free_value;
};

/* An empty cache that frees values with `free_value`. Free with lqn_class_cache_free(). */
struct lqn_class_cache *lqn_class_cache_new(GDestroyNotify free_value);
void lqn_class_cache_free(struct lqn_class_cache *cache);

/* Where in front of the table a class is, if it is there at all. */
static inline size_t lqn_class_cache_slot(const bt_event_class *ec)
{
	/* Objects of this size lie at least 64 bytes apart. */
	return ((uintptr_t) ec >> 6 ^ (uintptr_t) ec >> 14) % LQN_CLASS_FRONT;
}

/* Looks a class up in the table; for lqn_class_cache_get(). */
void *lqn_class_cache_look_up(struct lqn_class_cache *cache, const bt_event_class *ec);

/* The value of an event class, borrowed; NULL if there is none. */
static inline void *lqn_class_cache_get(struct lqn_class_cache *cache, const bt_event_class *ec)
{
	const size_t slot = lqn_class_cache_slot(ec);

	return G_LIKELY(cache->front[slot].ec == ec) ? cache->front[slot].value : lqn_class_cache_look_up(cache, ec);
}

/* Takes over a value, for a class without one. False if memory ran out: then the value is freed. */
bool lqn_class_cache_put(struct lqn_class_cache *cache, const bt_event_class *ec, void *value);

/* Calls `func` for each value, in no particular order. */
void lqn_class_cache_each(struct lqn_class_cache *cache,
	void (*func)(void *value, void *payload), void *payload);

#endif
