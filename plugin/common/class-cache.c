/* SPDX-License-Identifier: MIT */
#include "plugin/common/class-cache.h"

#include <string.h>

struct entry {
	const bt_trace_class *tc;	/* borrowed; a key, never looked into */
	void *value;			/* owned */
	GDestroyNotify free_value;
};

static void entry_free(void *data)
{
	struct entry *entry = data;

	entry->free_value(entry->value);
	g_free(entry);
}

static gboolean is_of_class(void *key, void *value, void *tc)
{
	return ((struct entry *) value)->tc == tc;
}

static void trace_class_destroyed(const bt_trace_class *tc, void *data)
{
	struct lqn_class_cache *cache = data;

	memset(cache->front, 0, sizeof(cache->front));
	g_hash_table_foreach_remove(cache->entries, is_of_class, (void *) tc);
	g_hash_table_remove(cache->listeners, tc);
}

struct lqn_class_cache *lqn_class_cache_new(GDestroyNotify free_value)
{
	struct lqn_class_cache *cache = g_new0(struct lqn_class_cache, 1);

	cache->entries = g_hash_table_new_full(NULL, NULL, NULL, entry_free);
	cache->listeners = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	cache->free_value = free_value;
	return cache;
}

void lqn_class_cache_free(struct lqn_class_cache *cache)
{
	GHashTableIter it;
	void *tc, *id;

	if (!cache) {
		return;
	}
	g_hash_table_iter_init(&it, cache->listeners);
	while (g_hash_table_iter_next(&it, &tc, &id)) {
		bt_trace_class_remove_destruction_listener(tc, *(bt_listener_id *) id);
	}
	g_hash_table_destroy(cache->listeners);
	g_hash_table_destroy(cache->entries);
	g_free(cache);
}

static bool listen_to(struct lqn_class_cache *cache, const bt_trace_class *tc)
{
	bt_listener_id *id;

	if (g_hash_table_contains(cache->listeners, tc)) {
		return true;
	}
	id = g_new(bt_listener_id, 1);
	if (bt_trace_class_add_destruction_listener(tc, trace_class_destroyed, cache, id) !=
			BT_TRACE_CLASS_ADD_LISTENER_STATUS_OK) {
		g_free(id);
		return false;
	}
	g_hash_table_insert(cache->listeners, (void *) tc, id);
	return true;
}

void *lqn_class_cache_look_up(struct lqn_class_cache *cache, const bt_event_class *ec)
{
	const size_t slot = lqn_class_cache_slot(ec);
	struct entry *entry = g_hash_table_lookup(cache->entries, ec);

	if (!entry) {
		return NULL;
	}
	cache->front[slot].ec = ec;
	cache->front[slot].value = entry->value;
	return entry->value;
}

bool lqn_class_cache_put(struct lqn_class_cache *cache, const bt_event_class *ec, void *value)
{
	const bt_trace_class *tc = bt_stream_class_borrow_trace_class_const(
		bt_event_class_borrow_stream_class_const(ec));
	struct entry *entry;

	if (!listen_to(cache, tc)) {
		cache->free_value(value);
		return false;
	}
	entry = g_new(struct entry, 1);
	*entry = (struct entry) { tc, value, cache->free_value };
	g_hash_table_insert(cache->entries, (void *) ec, entry);
	return true;
}

void lqn_class_cache_each(struct lqn_class_cache *cache,
	void (*func)(void *value, void *payload), void *payload)
{
	GHashTableIter it;
	void *key, *entry;

	g_hash_table_iter_init(&it, cache->entries);
	while (g_hash_table_iter_next(&it, &key, &entry)) {
		func(((struct entry *) entry)->value, payload);
	}
}
