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

struct lqn_class_cache;

/* An empty cache that frees values with `free_value`. Free with lqn_class_cache_free(). */
struct lqn_class_cache *lqn_class_cache_new(GDestroyNotify free_value);
void lqn_class_cache_free(struct lqn_class_cache *cache);

/* The value of an event class, borrowed; NULL if there is none. */
void *lqn_class_cache_get(struct lqn_class_cache *cache, const bt_event_class *ec);

/* Takes over a value, for a class without one. False if memory ran out: then the value is freed. */
bool lqn_class_cache_put(struct lqn_class_cache *cache, const bt_event_class *ec, void *value);

/* Calls `func` for each value, in no particular order. */
void lqn_class_cache_each(struct lqn_class_cache *cache,
	void (*func)(void *value, void *payload), void *payload);

#endif
