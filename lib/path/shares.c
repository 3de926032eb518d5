/* SPDX-License-Identifier: MIT */
#include "path/group.h"

#include <string.h>

#define SHARES_MAX 65536	/* kinds of pieces kept of one operation; details come from the trace */

static guint hash_share(gconstpointer data)
{
	const struct lqn_path_share *share = data;

	/* the names are interned, places one of a kind */
	return ((g_direct_hash(share->place) * 31 + g_direct_hash(share->task)) * 31 +
			g_direct_hash(share->detail)) * 31 + share->kind;
}

static gboolean equal_share(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_share *x = a, *y = b;

	return x->place == y->place && x->task == y->task && x->detail == y->detail &&
		x->kind == y->kind;
}

GHashTable *lqn_shares_new(void)
{
	return g_hash_table_new_full(hash_share, equal_share, g_free, NULL);
}

void lqn_shares_add(GHashTable *shares, const GArray *pieces, enum lqn_path_band band)
{
	for (guint i = 0; i < pieces->len; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(pieces, struct lqn_path_piece, i);
		struct lqn_path_share key = { .place = piece->place, .task = piece->task,
			.detail = piece->detail, .kind = piece->kind };
		struct lqn_path_share *share = g_hash_table_lookup(shares, &key);

		if (!share && g_hash_table_size(shares) >= SHARES_MAX) {
			key.task = key.detail = g_intern_static_string("others");
			key.place = NULL;
			share = g_hash_table_lookup(shares, &key);
		}
		if (!share) {
			share = g_memdup2(&key, sizeof(key));
			g_hash_table_add(shares, share);
		}
		share->sum[band] += (double) (piece->end - piece->begin);
	}
}

static double sum_of(const struct lqn_path_share *share)
{
	double sum = 0;

	for (unsigned band = 0; band < LQN_PATH_BANDS; band++) {
		sum += share->sum[band];
	}
	return sum;
}

static int compare_places(const struct lqn_path_place *a, const struct lqn_path_place *b)
{
	int order = 0;

	if (a == b || !a || !b) {
		return (a != NULL) - (b != NULL);
	}
	order = compare_places(a->caller, b->caller);
	order = order ? order : strcmp(a->task, b->task);
	return order ? order : g_strcmp0(a->entry, b->entry);
}

static gint by_sum(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_share *x = a, *y = b;
	double p = sum_of(x), q = sum_of(y);
	int order;

	if (p != q) {
		return p > q ? -1 : 1;
	}
	order = strcmp(x->task, y->task);
	order = order ? order : (x->kind > y->kind) - (x->kind < y->kind);
	order = order ? order : g_strcmp0(x->detail, y->detail);
	return order ? order : compare_places(x->place, y->place);
}

GArray *lqn_shares_take(GHashTable *shares)
{
	GArray *array = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_share));
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, shares);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		g_array_append_vals(array, key, 1);
	}
	g_hash_table_destroy(shares);
	g_array_sort(array, by_sum);
	return array;
}
