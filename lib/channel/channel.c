/* SPDX-License-Identifier: MIT */

/*
 * What is known of a host's channels: by their addresses, paths, futex words, and who listens. And
 * how they are told of.
 */
#include "channel/internal.h"

#include <string.h>

static guint tuple_hash(gconstpointer key)
{
	const struct lqn_tuple *t = key;
	uint64_t h = t->saddr * 0x9e3779b97f4a7c15u;

	h = (h ^ t->daddr) * 0x9e3779b97f4a7c15u;
	h = (h ^ ((uint64_t) t->sport << 16 | t->dport)) * 0x9e3779b97f4a7c15u;
	return (guint) (h >> 32);
}

static gboolean tuple_equal(gconstpointer a, gconstpointer b)
{
	const struct lqn_tuple *x = a, *y = b;

	return x->saddr == y->saddr && x->daddr == y->daddr && x->sport == y->sport &&
		x->dport == y->dport;
}

/* Words of a program lie a power of two apart. */
static guint address_hash(gconstpointer address)
{
	return (guint) (((uintptr_t) address * 0x9e3779b97f4a7c15u) >> 32);
}

struct lqn_object lqn_several_listeners;

static void unpin_listener(gpointer object)
{
	if (object != &lqn_several_listeners) {
		lqn_object_unpin(object);
	}
}

void lqn_channels_init(struct lqn_channels *channels, lqn_event_func emit, void *payload)
{
	memset(channels, 0, sizeof(*channels));
	channels->emit = emit;
	channels->payload = payload;
	channels->next_id = 1;
	channels->by_tuple = g_hash_table_new(tuple_hash, tuple_equal);
	channels->by_path = g_hash_table_new(g_str_hash, g_str_equal);
	channels->fifos = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	channels->listeners =
		g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, unpin_listener);
	channels->words = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL,
		(GDestroyNotify) g_hash_table_unref);
	channels->ipc = g_hash_table_new_full(
		g_int64_hash, g_int64_equal, g_free, (GDestroyNotify) lqn_object_unpin);
	channels->addresses = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_queue_init(&channels->line);
	g_queue_init(&channels->orphans);
	g_queue_init(&channels->departed);
	channels->flows = g_hash_table_new(tuple_hash, tuple_equal);
	g_queue_init(&channels->flow_order);
}

void lqn_channels_clear(struct lqn_channels *channels)
{
	struct lqn_object *object;

	while ((object = g_queue_pop_head(&channels->line)) ||
			(object = g_queue_pop_head(&channels->orphans)) ||
			(object = g_queue_pop_head(&channels->departed))) {
		lqn_object_unpin(object);
	}
	lqn_channel_clear_flows(channels);
	g_hash_table_destroy(channels->flows);
	g_hash_table_destroy(channels->addresses);
	g_hash_table_destroy(channels->ipc);
	g_hash_table_destroy(channels->listeners);
	g_hash_table_destroy(channels->words);
	g_hash_table_destroy(channels->by_path);
	g_hash_table_destroy(channels->fifos);
	g_hash_table_destroy(channels->by_tuple);
}

void lqn_channel_announce(struct lqn_object *object, bool again)
{
	struct lqn_event ev = { .type = LQN_EV_OBJECT };

	if (object->announced && !again) {
		return;
	}
	object->announced = true;
	ev.object.object = object->id;
	ev.object.peer = object->peer ? lqn_object_real(object->peer)->id : 0;
	ev.object.alias = object->alias ? lqn_object_real(object)->id : 0;
	ev.object.listener = object->listener ? object->listener->id : 0;
	ev.object.thread = object->maker;
	ev.object.kind = object->kind;
	ev.object.role = object->role;
	ev.object.evidence = object->evidence;
	ev.object.closed = object->closed;
	ev.object.remote = object->remote;
	ev.object.name = object->name ? object->name : "";
	object->channels->emit(object->channels->payload, &ev);
}

/*
 * The two words of eight aligned bytes are one: the C library's condition variables let waiters of two generations wait at
 * neighbours, its read-write locks (and Rust's) readers at the one and writers at the other.
 */
#define SLOT UINT64_C(7)

uint64_t lqn_channel_word(struct lqn_channels *channels, int32_t pid, uint64_t address)
{
	GHashTable *words = g_hash_table_lookup(channels->words, GINT_TO_POINTER(pid));
	gpointer id;

	address &= ~SLOT;
	if (!words) {
		words = g_hash_table_new(address_hash, NULL);
		g_hash_table_insert(channels->words, GINT_TO_POINTER(pid), words);
	}
	id = g_hash_table_lookup(words, (gpointer) (uintptr_t) address);
	if (!id) {
		id = (gpointer) (uintptr_t) channels->next_id++;
		g_hash_table_insert(words, (gpointer) (uintptr_t) address, id);
	}
	return (uintptr_t) id;
}

struct lqn_object *lqn_channel_by_path(struct lqn_channels *channels, enum lqn_object_kind kind,
	const char *name, uint64_t maker)
{
	struct lqn_object *object = g_hash_table_lookup(channels->by_path, name);

	if (kind == LQN_OBJ_FILE && g_hash_table_contains(channels->fifos, name)) {
		kind = LQN_OBJ_FIFO;
	}
	if (!object) {
		object = lqn_object_new(channels, kind, maker, name);
		g_hash_table_insert(channels->by_path, object->name, object);
	}
	return object;
}

static int64_t ipc_key(enum lqn_object_kind kind, int32_t id)
{
	return (int64_t) kind << 32 | (uint32_t) id;
}

struct lqn_object *lqn_channel_ipc(struct lqn_channels *channels, enum lqn_object_kind kind, int32_t id)
{
	int64_t key = ipc_key(kind, id);
	struct lqn_object *object = g_hash_table_lookup(channels->ipc, &key);
	g_autofree char *name = NULL;

	if (object || g_hash_table_size(channels->ipc) >= LQN_IPC_MAX) {
		return object;
	}
	name = g_strdup_printf("%s %d", kind == LQN_OBJ_QUEUE ? "msqid" : "semid", id);
	object = lqn_object_pin(lqn_object_new(channels, kind, 0, name));
	object->keyed = true;
	g_hash_table_insert(channels->ipc, g_memdup2(&key, sizeof(key)), object);
	return object;
}

void lqn_channel_forget_ipc(struct lqn_channels *channels, enum lqn_object_kind kind, int32_t id)
{
	int64_t key = ipc_key(kind, id);

	g_hash_table_remove(channels->ipc, &key);
}

void lqn_channel_is_fifo(struct lqn_channels *channels, const char *path)
{
	if (!g_hash_table_contains(channels->fifos, path)) {
		g_hash_table_add(channels->fifos, g_strdup(path));
	}
}

void lqn_channel_note_address(struct lqn_channels *channels, uint64_t address)
{
	if (!g_hash_table_contains(channels->addresses, &address)) {
		g_hash_table_add(channels->addresses, g_memdup2(&address, sizeof(address)));
	}
}
