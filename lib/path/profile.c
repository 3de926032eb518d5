/* SPDX-License-Identifier: MIT */

/* The paths of all requests, and what they have in common: where the mean request's time goes, and the slow one's. */
#include "path/path.h"

#include <string.h>

#define SLOW 0.95	/* requests from this quantile on are the slow ones */

void lqn_request_path_free(struct lqn_request_path *path)
{
	if (path) {
		g_array_free(path->pieces, TRUE);
		g_free(path);
	}
}

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

static gint by_length(gconstpointer a, gconstpointer b)
{
	const struct lqn_request_path *x = *(const struct lqn_request_path *const *) a;
	const struct lqn_request_path *y = *(const struct lqn_request_path *const *) b;
	int64_t p = x->end - x->begin, q = y->end - y->begin;

	if (p != q) {
		return p < q ? -1 : 1;
	}
	return x->begin < y->begin ? -1 : x->begin > y->begin;
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

/* Mean time per request by task, kind and detail, over paths [from, to). */
static GArray *profile(const GPtrArray *paths, guint from, guint to)
{
	GArray *shares = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_share));

	for (guint i = from; i < to; i++) {
		const struct lqn_request_path *path = paths->pdata[i];

		for (guint k = 0; k < path->pieces->len; k++) {
			const struct lqn_path_piece *piece = &g_array_index(path->pieces, struct lqn_path_piece, k);
			struct lqn_path_share share = { piece->task, piece->detail, piece->kind, 0 };
			guint s = 0;

			for (; s < shares->len; s++) {
				const struct lqn_path_share *it = &g_array_index(shares, struct lqn_path_share, s);

				if (it->task == share.task && it->detail == share.detail && it->kind == share.kind) {
					break;
				}
			}
			if (s == shares->len) {
				g_array_append_val(shares, share);
			}
			g_array_index(shares, struct lqn_path_share, s).mean += (double) (piece->end - piece->begin);
		}
	}
	for (guint s = 0; s < shares->len; s++) {
		g_array_index(shares, struct lqn_path_share, s).mean /= MAX(to - from, 1u);
	}
	g_array_sort(shares, by_mean);
	return shares;
}

static bool is_tiled(const struct lqn_request_path *path)
{
	int64_t at = path->begin;

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct lqn_path_piece *piece = &g_array_index(path->pieces, struct lqn_path_piece, i);

		if (piece->begin != at || piece->end < at) {
			return false;
		}
		at = piece->end;
	}
	return at == path->end;
}

static struct lqn_request_path *copy(const struct lqn_request_path *path)
{
	struct lqn_request_path *other = g_memdup2(path, sizeof(*path));

	other->pieces = g_array_copy(path->pieces);
	return other;
}

static struct lqn_path_group *group_of(GPtrArray *paths, const char *task)
{
	struct lqn_path_group *group = g_new0(struct lqn_path_group, 1);
	guint n = paths->len, slow = (guint) (SLOW * n);
	int64_t *const quantiles[] = { &group->p50, &group->p95, &group->p99, &group->max };
	const double shares[] = { 0.5, 0.95, 0.99, 1 };

	g_ptr_array_sort(paths, by_length);
	group->task = task;
	group->requests = n;
	for (guint i = 0; i < n; i++) {
		const struct lqn_request_path *path = paths->pdata[i];

		group->mean += (double) (path->end - path->begin) / n;
	}
	for (guint q = 0; q < G_N_ELEMENTS(shares); q++) {
		const struct lqn_request_path *path = paths->pdata[MIN((guint) (shares[q] * n), n - 1)];

		*quantiles[q] = path->end - path->begin;
	}
	slow = MIN(slow, n - 1);
	group->shares = profile(paths, 0, n);
	group->slow_shares = profile(paths, slow, n);
	group->typical = copy(paths->pdata[n / 2]);
	group->slow = copy(paths->pdata[slow]);
	return group;
}

struct lqn_path_report *lqn_paths_build(struct lqn_build *build)
{
	struct lqn_path_report *report = g_new0(struct lqn_path_report, 1);
	g_autoptr(GHashTable) invocations = index_invocations(build->a);

	report->groups = g_ptr_array_new();
	report->all = build->a->all_paths ? g_ptr_array_new() : NULL;
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];
		GPtrArray *paths = g_ptr_array_new();

		for (guint k = 0; service->root && k < service->members->len; k++) {
			const struct lqn_invocation *it = service->members->pdata[k];
			struct lqn_request_path *path = g_new0(struct lqn_request_path, 1);

			path->begin = it->begin;
			path->end = it->end;
			path->thread = it->actor->key;
			path->task = g_intern_string(service->task->name);
			path->pieces = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_piece));
			lqn_path_walk(build->a, it->actor, it->begin, it->end, LQN_WALK_REQUEST, invocations, path->pieces);
			report->requests++;
			report->not_tiled += !is_tiled(path);
			g_ptr_array_add(paths, path);
		}
		if (paths->len > 0) {
			g_ptr_array_add(report->groups, group_of(paths, g_intern_string(service->task->name)));
		}
		for (guint k = 0; k < paths->len; k++) {
			if (report->all) {
				g_ptr_array_add(report->all, paths->pdata[k]);
			} else {
				lqn_request_path_free(paths->pdata[k]);
			}
		}
		g_ptr_array_free(paths, TRUE);
	}
	return report;
}
