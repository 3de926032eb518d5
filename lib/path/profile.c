/* SPDX-License-Identifier: MIT */

/*
 * The paths of all requests, and what they have in common: where the mean request's time goes, and
 * the slow one's.
 */
#include "path/path.h"

#include <string.h>

#define SLOW 0.95	/* requests from this quantile on are the slow ones */

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct lqn_invocation *x = *(const struct lqn_invocation *const *) a;
	const struct lqn_invocation *y = *(const struct lqn_invocation *const *) b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* All pieces of work, merged or not, by the thread that did them. */
static GHashTable *index_invocations(const struct lqn_analysis *a)
{
	GHashTable *index = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL,
		(GDestroyNotify) g_ptr_array_unref);
	GHashTableIter iter;
	gpointer value;

	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];
		GPtrArray *mine = g_hash_table_lookup(index, it->actor);

		if (it->tail_of || it->gone) {
			continue;
		}
		if (!mine) {
			mine = g_ptr_array_new();
			g_hash_table_insert(index, it->actor, mine);
		}
		g_ptr_array_add(mine, it);
	}
	g_hash_table_iter_init(&iter, index);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		g_ptr_array_sort(value, by_begin);
	}
	return index;
}

struct request {
	struct lqn_request_path path;	/* without its pieces */
	struct lqn_actor *actor;
	guint rank;			/* by length */
};

static gint by_length(gconstpointer a, gconstpointer b)
{
	const struct lqn_request_path *x = &((const struct request *) a)->path;
	const struct lqn_request_path *y = &((const struct request *) b)->path;
	int64_t p = x->end - x->begin, q = y->end - y->begin;

	if (p != q) {
		return p < q ? -1 : 1;
	}
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct request *x = a, *y = b;

	if (x->path.begin != y->path.begin) {
		return x->path.begin < y->path.begin ? -1 : 1;
	}
	return x->rank < y->rank ? -1 : 1;
}

static gint by_mean(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_share *x = a, *y = b;
	int order;

	if (x->mean != y->mean) {
		return x->mean > y->mean ? -1 : 1;
	}
	order = strcmp(x->task, y->task);
	if (order == 0 && x->kind != y->kind) {
		order = x->kind < y->kind ? -1 : 1;
	}
	return order ? order : g_strcmp0(x->detail, y->detail);
}

/*
 * ---- shares: a set of struct lqn_path_share, owned; there may be as many as threads have names
 * ----
 */

static guint hash_share(gconstpointer data)
{
	const struct lqn_path_share *share = data;

	/* the names are interned */
	return g_direct_hash(share->task) * 31 + g_direct_hash(share->detail) * 17 + share->kind;
}

static gboolean equal_share(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_share *x = a, *y = b;

	return x->task == y->task && x->detail == y->detail && x->kind == y->kind;
}

static void add_pieces(GHashTable *shares, const GArray *pieces)
{
	for (guint i = 0; i < pieces->len; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(pieces, struct lqn_path_piece, i);
		struct lqn_path_share key = { piece->task, piece->detail, piece->kind, 0 };
		struct lqn_path_share *share = g_hash_table_lookup(shares, &key);

		if (!share) {
			share = g_memdup2(&key, sizeof(key));
			g_hash_table_add(shares, share);
		}
		share->mean += (double) (piece->end - piece->begin);
	}
}

/* Mean time per request by task, kind and detail, largest first. Takes the sums. */
static GArray *profile(GHashTable *sums, guint requests)
{
	GArray *shares = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_share));
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, sums);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		struct lqn_path_share share = *(const struct lqn_path_share *) key;

		share.mean /= requests;
		g_array_append_val(shares, share);
	}
	g_hash_table_destroy(sums);
	g_array_sort(shares, by_mean);
	return shares;
}

/* ---- paths ---- */

static bool is_tiled(const struct lqn_request_path *path, const GArray *pieces)
{
	int64_t at = path->begin;

	for (guint i = 0; i < pieces->len; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(pieces, struct lqn_path_piece, i);

		if (piece->begin != at || piece->end < at) {
			return false;
		}
		at = piece->end;
	}
	return at == path->end;
}

static struct lqn_request_path *copy(const struct lqn_request_path *path, GArray *pieces)
{
	struct lqn_request_path *other = g_memdup2(path, sizeof(*path));

	other->pieces = g_array_copy(pieces);
	return other;
}

/* The requests of a client, shortest first; struct request. */
static GArray *requests_of(const struct lqn_service *service)
{
	GArray *requests = g_array_new(FALSE, FALSE, sizeof(struct request));
	const char *task = g_intern_string(service->task->name);

	for (guint i = 0; i < service->members->len; i++) {
		const struct lqn_invocation *it = service->members->pdata[i];
		struct request request = {
			.path = { .begin = it->begin,
				.end = it->end,
				.thread = it->actor->key,
				.task = task },
			.actor = it->actor,
		};

		g_array_append_val(requests, request);
	}
	g_array_sort(requests, by_length);
	for (guint i = 0; i < requests->len; i++) {
		g_array_index(requests, struct request, i).rank = i;
	}
	return requests;
}

static void add_lengths(struct lqn_path_group *group, const GArray *requests)
{
	int64_t *const quantiles[] = { &group->p50, &group->p95, &group->p99, &group->max };
	const double shares[] = { 0.5, 0.95, 0.99, 1 };
	guint n = requests->len;

	group->requests = n;
	for (guint i = 0; i < n; i++) {
		const struct lqn_request_path *path =
			&g_array_index(requests, struct request, i).path;

		group->mean += (double) (path->end - path->begin) / n;
	}
	for (guint q = 0; q < G_N_ELEMENTS(shares); q++) {
		guint i = MIN((guint) (shares[q] * n), n - 1);
		const struct lqn_request_path *path =
			&g_array_index(requests, struct request, i).path;

		*quantiles[q] = path->end - path->begin;
	}
}

/*
 * Of all the pieces only sums are kept, and those of two requests: they are the largest part of
 * what is known of a trace. The walks go by time, for what one has looked up the next needs again;
 * sums of whole ns are the same in any order.
 */
static struct lqn_path_group *group_of(struct lqn_build *build, const struct lqn_service *service,
	GHashTable *invocations, struct lqn_path_report *report)
{
	struct lqn_path_group *group = g_new0(struct lqn_path_group, 1);
	g_autoptr(GArray) requests = requests_of(service);
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_piece));
	GHashTable *all = g_hash_table_new_full(hash_share, equal_share, g_free, NULL);
	GHashTable *slow = g_hash_table_new_full(hash_share, equal_share, g_free, NULL);
	guint n = requests->len, first_slow = MIN((guint) (SLOW * n), n - 1);
	guint first = report->all ? report->all->len : 0;

	group->task = g_intern_string(service->task->name);
	add_lengths(group, requests);
	g_array_sort(requests, by_time);
	if (report->all) {
		g_ptr_array_set_size(report->all, (gint) (first + n));
	}
	for (guint i = 0; i < n; i++) {
		const struct request *request = &g_array_index(requests, struct request, i);
		const struct lqn_request_path *path = &request->path;

		g_array_set_size(pieces, 0);
		lqn_path_walk(build->a, request->actor, path->begin, path->end, invocations,
			pieces);
		report->requests++;
		report->not_tiled += !is_tiled(path, pieces);
		add_pieces(all, pieces);
		if (request->rank >= first_slow) {
			add_pieces(slow, pieces);
		}
		if (request->rank == n / 2) {
			group->typical = copy(path, pieces);
		}
		if (request->rank == first_slow) {
			group->slow = copy(path, pieces);
		}
		if (report->all) {
			report->all->pdata[first + request->rank] = copy(path, pieces);
		}
	}
	group->shares = profile(all, n);
	group->slow_shares = profile(slow, n - first_slow);
	return group;
}

struct lqn_path_report *lqn_paths_build(struct lqn_build *build)
{
	struct lqn_path_report *report = lqn_path_report_new(build->a->all_paths);
	g_autoptr(GHashTable) invocations = index_invocations(build->a);

	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		if (service->root && service->members->len > 0) {
			g_ptr_array_add(
				report->groups, group_of(build, service, invocations, report));
		}
	}
	return report;
}
