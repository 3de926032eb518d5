/* SPDX-License-Identifier: MIT */

/*
 * What a snapshot tells of the time before the trace: whose threads are whose, what descriptors stand for, which ends belong together,
 * and who listens. Events of the trace say more: a descriptor made in it, a process born in it, take the place of what is foretold.
 */
#include "causal/engine.h"

#include <string.h>

struct loader {
	struct lqn_causal *causal;
	GHashTable *objects;		/* inode -> struct lqn_object, pinned */
	GHashTable *ports;		/* that are listened on */
	GHashTable *paths;		/* likewise, of unix sockets; borrowed */
};

void lqn_causal_set_snapshot(struct lqn_causal *c, const struct lqn_snapshot *snapshot)
{
	c->snapshot = snapshot;
}

int32_t lqn_causal_foretold_pid(const struct lqn_causal *c, int32_t tid)
{
	gpointer pid = c->foretold ? g_hash_table_lookup(c->foretold, GINT_TO_POINTER(tid)) : NULL;

	return pid ? GPOINTER_TO_INT(pid) : tid;
}

void lqn_causal_forget_foretold(struct lqn_causal *c, int32_t tid)
{
	struct lqn_process *process;

	if (!c->foretold || !g_hash_table_remove(c->foretold, GINT_TO_POINTER(tid))) {
		return;
	}
	process = lqn_host_find_process(&c->host, tid);
	if (process && process->threads == 0) {
		lqn_host_drop_process(&c->host, process);
	}
}

bool lqn_causal_is_foretold(const struct lqn_object *object, const char *text)
{
	uint64_t inode = lqn_snapshot_inode(text);

	if (object->inode || inode) {
		return object->inode == inode;
	}
	return !object->name || strcmp(object->name, text) == 0 || object->kind == LQN_OBJ_EVENTFD;
}

/* Where connections are accepted; the ends of those that were have the same port, or path. */
static void find_listeners(struct loader *loader, const struct lqn_snapshot *snapshot)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, snapshot->sockets);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct lqn_snapshot_socket *socket = value;

		if (socket->listening && socket->path) {
			g_hash_table_add(loader->paths, socket->path);
		} else if (socket->listening && socket->tuple.sport) {
			g_hash_table_add(loader->ports, GUINT_TO_POINTER(socket->tuple.sport));
		}
		if (socket->connected) {
			lqn_channel_note_address(&loader->causal->channels, socket->tuple.saddr);
		}
	}
}

static bool is_listened_on(const struct loader *loader, const struct lqn_snapshot_socket *socket)
{
	return socket->path ? g_hash_table_contains(loader->paths, socket->path) :
		socket->connected && g_hash_table_contains(loader->ports, GUINT_TO_POINTER(socket->tuple.sport)) &&
		!g_hash_table_contains(loader->ports, GUINT_TO_POINTER(socket->tuple.dport));
}

static void describe(struct loader *loader, struct lqn_object *object, const struct lqn_snapshot_socket *socket)
{
	object->kind = socket->listening ? LQN_OBJ_LISTENER : socket->kind;
	object->base = socket->kind;
	object->bound = socket->listening || socket->path;
	if (!socket->listening && lqn_object_is_stream(object) && is_listened_on(loader, socket)) {
		object->role = LQN_ROLE_SERVER;
	}
}

static struct lqn_object *object_of(struct loader *loader, const struct lqn_snapshot *snapshot, const char *file)
{
	uint64_t inode = lqn_snapshot_inode(file);
	const struct lqn_snapshot_socket *socket = g_hash_table_lookup(snapshot->sockets, &inode);
	struct lqn_object *object = g_hash_table_lookup(loader->objects, &inode);

	if (object) {
		return lqn_object_pin(object);
	}
	if (g_str_has_prefix(file, "fifo:")) {
		lqn_channel_is_fifo(&loader->causal->channels, file + strlen("fifo:"));
	}
	object = lqn_causal_described(loader->causal, file);
	if (!object) {
		return NULL;
	}
	object->foretold = true;
	object->semaphore |= object->kind == LQN_OBJ_EVENTFD;	/* how it counts is not known */
	object->inode = inode;
	if (socket) {
		describe(loader, object, socket);
		g_hash_table_insert(loader->objects, &object->inode, lqn_object_pin(object));
	}
	return object;
}

static void take_process(struct loader *loader, const struct lqn_snapshot *snapshot, const struct lqn_snapshot_process *from)
{
	struct lqn_causal *c = loader->causal;
	struct lqn_process *process = lqn_host_process(&c->host, (int32_t) from->pid);

	g_hash_table_insert(c->foretold, GINT_TO_POINTER(from->pid), GINT_TO_POINTER(from->pid));
	for (guint i = 0; i < from->threads->len; i++) {
		g_hash_table_insert(c->foretold, GINT_TO_POINTER(g_array_index(from->threads, uint32_t, i)), GINT_TO_POINTER(from->pid));
	}
	if (!process->exe) {
		process->exe = g_strdup(from->exe);
	}
	if (!process->fds) {
		process->fds = lqn_fd_table_new(&c->channels);
	}
	for (guint i = 0; i < from->fds->len; i++) {
		const struct lqn_snapshot_fd *fd = &g_array_index(from->fds, struct lqn_snapshot_fd, i);
		struct lqn_object *object = object_of(loader, snapshot, fd->file);

		if (object) {
			lqn_fd_table_set(process->fds, fd->fd, object);
			lqn_object_unpin(object);
		}
	}
}

/* Joins a socket with its other end, if that is there. */
static void connect_socket(struct loader *loader, const struct lqn_snapshot *snapshot, struct lqn_object *object)
{
	const struct lqn_snapshot_socket *socket = g_hash_table_lookup(snapshot->sockets, &object->inode);
	struct lqn_object *peer = socket->peer ? g_hash_table_lookup(loader->objects, &socket->peer) : NULL;

	if (socket->kind == LQN_OBJ_TCP && socket->connected) {
		lqn_channel_set_tuple(object, &socket->tuple);
	} else if (peer) {
		lqn_channel_pair(object, peer, LQN_CERTAIN);
	}
}

static gint by_inode(gconstpointer a, gconstpointer b)
{
	const struct lqn_object *x = *(const struct lqn_object *const *) a, *y = *(const struct lqn_object *const *) b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static void connect_all(struct loader *loader, const struct lqn_snapshot *snapshot)
{
	g_autoptr(GPtrArray) objects = g_ptr_array_new();
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, loader->objects);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		g_ptr_array_add(objects, value);
	}
	/* hash tables have no order of their own; the output must */
	g_ptr_array_sort(objects, by_inode);
	for (guint i = 0; i < objects->len; i++) {
		connect_socket(loader, snapshot, objects->pdata[i]);
	}
}

static void unpin(gpointer object)
{
	lqn_object_unpin(object);
}

void lqn_causal_take_in_snapshot(struct lqn_causal *c)
{
	const struct lqn_snapshot *snapshot = c->snapshot;
	struct loader loader = { .causal = c };

	if (!snapshot) {
		return;
	}
	c->snapshot = NULL;
	c->foretold = g_hash_table_new(g_direct_hash, g_direct_equal);
	/* keys lie within the values */
	loader.objects = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, unpin);
	loader.ports = g_hash_table_new(g_direct_hash, g_direct_equal);
	loader.paths = g_hash_table_new(g_str_hash, g_str_equal);
	find_listeners(&loader, snapshot);
	for (guint i = 0; i < snapshot->processes->len; i++) {
		const struct lqn_snapshot_process *process = snapshot->processes->pdata[i];

		if (process->begin) {
			take_process(&loader, snapshot, process);
		}
	}
	connect_all(&loader, snapshot);
	g_hash_table_destroy(loader.objects);
	g_hash_table_destroy(loader.ports);
	g_hash_table_destroy(loader.paths);
}
