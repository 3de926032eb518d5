/* SPDX-License-Identifier: MIT */

/*
 * Who delays whom: pieces of paths in which something stood in the way that was not there for the
 * request itself, by the operations of both.
 */
#include "path/group.h"

#include <string.h>

#define DELAYS_MAX 16384	/* pairs kept: names come from the trace */

struct entry {
	struct lqn_path_delay delay;
	uint32_t last;		/* number of the request that was delayed last */
};

static guint hash_delay(gconstpointer data)
{
	const struct lqn_path_delay *it = &((const struct entry *) data)->delay;
	const char *const names[] = { it->operation, it->task, it->detail, it->by_operation,
		it->by_task };
	guint hash = it->kind;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		hash = hash * 31 + g_direct_hash(names[i]);	/* they are interned */
	}
	return hash;
}

static gboolean equal_delay(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_delay *x = &((const struct entry *) a)->delay;
	const struct lqn_path_delay *y = &((const struct entry *) b)->delay;

	return x->operation == y->operation && x->task == y->task && x->kind == y->kind &&
		x->detail == y->detail && x->by_operation == y->by_operation &&
		x->by_task == y->by_task;
}

GHashTable *lqn_delays_new(void)
{
	return g_hash_table_new_full(hash_delay, equal_delay, g_free, NULL);
}

static struct entry *entry_of(GHashTable *delays, const struct lqn_path_piece *piece,
	const char *operation)
{
	struct entry key = { .delay = { .operation = operation, .task = piece->task,
		.kind = piece->kind,
		/* who preempts is told by `by_task` */
		.detail = piece->kind == LQN_PATH_PREEMPTED ? NULL : piece->detail,
		.by_operation = piece->by.operation, .by_task = piece->by.task } };
	struct entry *entry = g_hash_table_lookup(delays, &key);

	if (!entry && g_hash_table_size(delays) < DELAYS_MAX) {
		entry = g_memdup2(&key, sizeof(key));
		g_hash_table_add(delays, entry);
	}
	return entry;
}

void lqn_delays_add(GHashTable *delays, const GArray *pieces, const char *operation,
	uint32_t number)
{
	for (guint i = 0; i < pieces->len; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(pieces, struct lqn_path_piece, i);
		struct entry *entry;

		/* what is done for the request itself is not in its way */
		if (!piece->by.thread || piece->by.request == number ||
				!(entry = entry_of(delays, piece, operation))) {
			continue;
		}
		entry->delay.requests += entry->last != number;
		entry->last = number;
		entry->delay.sum += (double) (piece->end - piece->begin);
		entry->delay.doing[piece->by.doing] += (double) (piece->end - piece->begin);
	}
}

static gint by_sum(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_delay *x = a, *y = b;
	int order;

	if (x->sum != y->sum) {
		return x->sum > y->sum ? -1 : 1;
	}
	order = strcmp(x->operation, y->operation);
	order = order ? order : strcmp(x->task, y->task);
	order = order ? order : (x->kind > y->kind) - (x->kind < y->kind);
	order = order ? order : g_strcmp0(x->detail, y->detail);
	order = order ? order : g_strcmp0(x->by_operation, y->by_operation);
	return order ? order : g_strcmp0(x->by_task, y->by_task);
}

GArray *lqn_delays_take(GHashTable *delays)
{
	GArray *array = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_delay));
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, delays);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		g_array_append_val(array, ((const struct entry *) key)->delay);
	}
	g_hash_table_destroy(delays);
	g_array_sort(array, by_sum);
	return array;
}
