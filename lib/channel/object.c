/* SPDX-License-Identifier: MIT */
#include "channel/object.h"

#include "channel/internal.h"

struct lqn_object *lqn_object_new(struct lqn_channels *channels, enum lqn_object_kind kind,
	uint64_t maker, const char *name)
{
	struct lqn_object *object = g_new0(struct lqn_object, 1);

	object->channels = channels;
	object->id = channels->next_id++;
	object->kind = kind;
	object->maker = maker;
	object->name = g_strdup(name);
	return object;
}

struct lqn_object *lqn_object_pin(struct lqn_object *object)
{
	object->pins++;
	return object;
}

static void object_free(struct lqn_object *object)
{
	struct lqn_channels *channels = object->channels;

	if (object->has_tuple &&
			g_hash_table_lookup(channels->by_tuple, &object->tuple) == object) {
		g_hash_table_remove(channels->by_tuple, &object->tuple);
	}
	if (object->name && g_hash_table_lookup(channels->by_path, object->name) == object) {
		g_hash_table_remove(channels->by_path, object->name);
	}
	lqn_channel_forget_messages(object);
	while (object->held) {
		struct lqn_held *next = object->held->next;

		g_free(object->held);
		object->held = next;
	}
	if (object->line) {
		g_queue_free_full(object->line, (GDestroyNotify) lqn_object_unpin);
	}
	lqn_object_unpin(object->peer);
	lqn_object_unpin(object->mailbox);
	lqn_object_unpin(object->alias);
	lqn_object_unpin(object->listener);
	lqn_object_unpin(object->candidate);
	for (uint32_t i = 0; i < object->n_votes; i++) {
		lqn_object_unpin(object->votes[i].object);
	}
	g_free(object->name);
	g_free(object);
}

void lqn_object_unpin(struct lqn_object *object)
{
	if (object && --object->pins == 0) {
		object_free(object);
	}
}

void lqn_object_set(struct lqn_object **slot, struct lqn_object *object)
{
	struct lqn_object *old = *slot;

	*slot = object ? lqn_object_pin(object) : NULL;
	lqn_object_unpin(old);
}

static const struct {
	bool channel, stream;
} kinds[LQN_OBJ_COUNT] = {
	[LQN_OBJ_UNKNOWN] = { true, true },
	[LQN_OBJ_TCP] = { true, true },
	[LQN_OBJ_UNIX] = { true, true },
	[LQN_OBJ_DATAGRAM] = { true, false },
	[LQN_OBJ_UDP] = { true, false },
	[LQN_OBJ_PIPE] = { true, false },
	[LQN_OBJ_FIFO] = { true, false },
	[LQN_OBJ_QUEUE] = { true, false },
	[LQN_OBJ_EVENTFD] = { true, false },
	/* a path that may turn out to be a FIFO */
	[LQN_OBJ_FILE] = { true, false },
};

bool lqn_object_is_channel(const struct lqn_object *object)
{
	return kinds[object->kind].channel;
}

bool lqn_object_is_stream(const struct lqn_object *object)
{
	return kinds[object->kind].stream;
}

struct lqn_fd_table {
	struct lqn_channels *channels;	/* borrowed */
	GPtrArray *fds;			/* struct lqn_object, pinned; NULL where nothing is known */
};

struct lqn_fd_table *lqn_fd_table_new(struct lqn_channels *channels)
{
	struct lqn_fd_table *table = g_new0(struct lqn_fd_table, 1);

	table->channels = channels;
	table->fds = g_ptr_array_new();
	return table;
}

void lqn_fd_table_free(struct lqn_fd_table *table)
{
	if (!table) {
		return;
	}
	for (guint fd = 0; fd < table->fds->len; fd++) {
		lqn_fd_table_set(table, fd, NULL);
	}
	g_ptr_array_free(table->fds, TRUE);
	g_free(table);
}

struct lqn_fd_table *lqn_fd_table_copy(const struct lqn_fd_table *table)
{
	struct lqn_fd_table *copy = lqn_fd_table_new(table->channels);

	for (guint fd = 0; fd < table->fds->len; fd++) {
		if (table->fds->pdata[fd]) {
			lqn_fd_table_set(copy, fd, table->fds->pdata[fd]);
		}
	}
	return copy;
}

struct lqn_object *lqn_fd_table_get(const struct lqn_fd_table *table, int64_t fd)
{
	return fd >= 0 && fd < (int64_t) table->fds->len ? table->fds->pdata[fd] : NULL;
}

void lqn_fd_table_set(struct lqn_fd_table *table, int64_t fd, struct lqn_object *object)
{
	struct lqn_object *old;

	if (fd < 0 || fd >= LQN_FD_MAX || (!object && fd >= (int64_t) table->fds->len)) {
		return;
	}
	if (fd >= (int64_t) table->fds->len) {
		g_ptr_array_set_size(table->fds, (gint) fd + 1);
	}
	old = table->fds->pdata[fd];
	if (object) {
		object->fds++;
		lqn_object_pin(object);
	}
	table->fds->pdata[fd] = object;
	if (old) {
		if (--old->fds == 0) {
			lqn_channel_closed(old);
		}
		lqn_object_unpin(old);
	}
}

int64_t lqn_fd_table_end(const struct lqn_fd_table *table)
{
	return table->fds->len;
}
