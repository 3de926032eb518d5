/* SPDX-License-Identifier: MIT */

/*
 * The paths of all requests, by operation, and what they have in common: where the time of the
 * typical ones goes, and that of the slow ones.
 *
 * Of all the pieces only sums are kept, and those of some requests: they are the largest part of
 * what is known of a trace. The walks go by time, for what one has looked up the next needs again;
 * sums of whole ns are the same in any order.
 */
#include "path/path.h"

#include "path/group.h"

#define SLOW 0.95		/* requests from this quantile on are the slow ones */
#define SAMPLE 20		/* requests of an operation kept beside the slowest, spread over all */
#define OPERATIONS_MAX 64	/* of a client; the rest is one: span names come from the trace */

struct request {
	struct lqn_request_path path;	/* without its pieces */
	struct lqn_invocation *root;
	guint rank;			/* by length, within its operation */
};

/* ---- which requests are one operation ---- */

static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct lqn_request_path *x = &(*(struct request *const *) a)->path;
	const struct lqn_request_path *y = &(*(struct request *const *) b)->path;

	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static gint compare_lengths(const struct lqn_request_path *x, const struct lqn_request_path *y)
{
	int64_t p = x->end - x->begin, q = y->end - y->begin;

	if (p != q) {
		return p < q ? -1 : 1;
	}
	return x->number < y->number ? -1 : x->number > y->number;
}

static gint by_length(gconstpointer a, gconstpointer b)
{
	return compare_lengths(&(*(struct request *const *) a)->path,
		&(*(struct request *const *) b)->path);
}

static gint by_kept_length(gconstpointer a, gconstpointer b)
{
	return compare_lengths(*(struct lqn_request_path *const *) a,
		*(struct lqn_request_path *const *) b);
}

/* A client's requests of one operation. */
struct bucket {
	const char *task, *operation;	/* interned; operation: may be NULL */
	GPtrArray *requests;	/* struct request, borrowed; owned */
};

static void bucket_free(gpointer data)
{
	struct bucket *bucket = data;

	g_ptr_array_unref(bucket->requests);
	g_free(bucket);
}

static struct bucket *bucket_of(GPtrArray *buckets, guint first,
	const char *task, const char *operation)
{
	bool full = buckets->len - first == OPERATIONS_MAX;
	struct bucket *bucket;

	for (guint i = first; i < buckets->len; i++) {
		bucket = buckets->pdata[i];
		if (bucket->operation == operation) {
			return bucket;
		}
	}
	if (full) {
		bucket = buckets->pdata[buckets->len - 1];
		bucket->operation = g_intern_static_string("others");
		return bucket;
	}
	bucket = g_new(struct bucket, 1);
	bucket->task = task;
	bucket->operation = operation;
	bucket->requests = g_ptr_array_new();
	g_ptr_array_add(buckets, bucket);
	return bucket;
}

static gint by_size(gconstpointer a, gconstpointer b)
{
	const struct bucket *x = *(const struct bucket *const *) a;
	const struct bucket *y = *(const struct bucket *const *) b;

	if (x->requests->len != y->requests->len) {
		return x->requests->len > y->requests->len ? -1 : 1;
	}
	return g_strcmp0(x->operation, y->operation);
}

/* Adds buckets of a client: by what its cycles are about, if that is more than one thing. */
static void add_buckets(struct lqn_path_index *index, const struct lqn_service *service,
	GPtrArray *requests, GPtrArray *buckets)
{
	const char *task = g_intern_string(service->task->name);
	guint first = buckets->len;
	bool told = false;

	for (guint i = 0; i < service->members->len; i++) {
		struct lqn_invocation *root = service->members->pdata[i];
		struct request *request = g_new0(struct request, 1);
		struct bucket *bucket;
		bool span;

		request->root = root;
		request->path.begin = root->begin;
		request->path.end = root->end;
		request->path.thread = root->actor->key;
		request->path.task = task;
		bucket = bucket_of(buckets, first, task, lqn_path_operation(index, root, &span));
		told |= span;
		g_ptr_array_add(requests, request);
		g_ptr_array_add(bucket->requests, request);
	}
	if (buckets->len - first == 1 && !told) {
		((struct bucket *) buckets->pdata[first])->operation = NULL;
	}
}

/* ---- an operation ---- */

bool lqn_path_is_tiled(const struct lqn_request_path *path, const GArray *pieces)
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

static void add_lengths(struct lqn_path_group *group, const GPtrArray *requests)
{
	int64_t *const quantiles[] = { &group->p50, &group->p95, &group->p99, &group->max };
	const double shares[] = { 0.5, SLOW, 0.99, 1 };
	guint n = requests->len;

	group->requests = n;
	for (guint i = 0; i < n; i++) {
		const struct request *request = requests->pdata[i];

		group->mean += (double) (request->path.end - request->path.begin) / n;
	}
	for (guint q = 0; q < G_N_ELEMENTS(shares); q++) {
		const struct request *request =
			requests->pdata[MIN((guint) (shares[q] * n), n - 1)];

		*quantiles[q] = request->path.end - request->path.begin;
	}
}

/* The band of the request of a rank; of two and more the longest is a slow one. */
static enum lqn_path_band band_of(guint rank, guint n)
{
	static const double limits[] = { 0.25, 0.75, SLOW, 0.99 };
	double quantile = (rank + 0.5) / n;
	unsigned band = 0;

	while (band < G_N_ELEMENTS(limits) && quantile >= limits[band]) {
		band++;
	}
	return n > 1 && rank == n - 1 ? MAX(band, LQN_BAND_SLOW) : band;
}

static unsigned why_kept(guint rank, guint n, guint slowest)
{
	guint step = MAX(n / SAMPLE, 1);

	return (rank == n / 2 ? LQN_KEPT_TYPICAL : 0) |
		(rank == MIN((guint) (SLOW * n), n - 1) ? LQN_KEPT_SLOW : 0) |
		(n - rank <= slowest ? LQN_KEPT_SLOWEST : 0) |
		(rank % step == step / 2 ? LQN_KEPT_SAMPLE : 0);
}

struct tally {
	struct lqn_path_index *index;
	struct lqn_path_report *report;
	GHashTable *delays;
	GArray *pieces;		/* of one path after the other */
	guint slowest;		/* requests of each operation kept in full */
};

static void keep(struct tally *tally, struct lqn_path_group *group, const struct request *request)
{
	struct lqn_request_path *path = copy(&request->path, tally->pieces);

	g_ptr_array_add(group->kept, path);
	if (path->kept & ~(unsigned) LQN_KEPT_SAMPLE) {
		lqn_path_detail(tally->index, path, request->root);
	}
	if (path->kept & LQN_KEPT_TYPICAL) {
		group->typical = path;
	}
	if (path->kept & LQN_KEPT_SLOW) {
		group->slow = path;
	}
}

/* Leaves out those that last beyond what is kept of the trace; how many. */
static guint leave_out_unknown(const struct lqn_analysis *a, GPtrArray *requests)
{
	guint n = 0, all = requests->len;

	for (guint i = 0; i < all; i++) {
		const struct request *request = requests->pdata[i];

		if (lqn_is_known(a, request->path.begin, request->path.end)) {
			requests->pdata[n++] = requests->pdata[i];
		}
	}
	g_ptr_array_set_size(requests, (gint) n);
	return all - n;
}

static struct lqn_path_group *group_of(struct tally *tally, struct lqn_build *build,
	const struct bucket *bucket)
{
	struct lqn_path_group *group = g_new0(struct lqn_path_group, 1);
	GHashTable *shares = lqn_shares_new();
	guint n, unknown;

	group->task = bucket->task;
	group->operation = bucket->operation;
	group->kept = g_ptr_array_new_with_free_func((GDestroyNotify) lqn_request_path_free);
	g_ptr_array_sort(bucket->requests, by_length);
	add_lengths(group, bucket->requests);
	unknown = leave_out_unknown(build->a, bucket->requests);
	if (unknown > 0) {
		lqn_build_note(build, "%u requests of %s last too long for their paths to be kept", unknown,
			lqn_path_group_name(group));
	}
	n = bucket->requests->len;
	for (guint i = 0; i < n; i++) {
		((struct request *) bucket->requests->pdata[i])->rank = i;
	}
	g_ptr_array_sort(bucket->requests, by_time);
	for (guint i = 0; i < n; i++) {
		struct request *request = bucket->requests->pdata[i];
		struct lqn_request_path *path = &request->path;
		enum lqn_path_band band = band_of(request->rank, n);

		g_array_set_size(tally->pieces, 0);
		lqn_path_walk(build->a, request->root->actor, path->begin, path->end,
			tally->index, tally->pieces);
		tally->report->requests++;
		tally->report->not_tiled += !lqn_path_is_tiled(path, tally->pieces);
		group->band[band]++;
		lqn_shares_add(shares, tally->pieces, band);
		lqn_delays_add(tally->delays, tally->pieces, lqn_path_group_name(group),
			path->number);
		path->kept = why_kept(request->rank, n, tally->slowest);
		if (path->kept) {
			keep(tally, group, request);
		}
		if (tally->report->all) {
			g_ptr_array_add(tally->report->all, copy(path, tally->pieces));
		}
	}
	g_ptr_array_sort(group->kept, by_kept_length);
	group->shares = lqn_shares_take(shares);
	return group;
}

/* ---- all of them ---- */

static void number(struct lqn_path_index *index, GPtrArray *requests, GPtrArray *buckets)
{
	g_ptr_array_sort(requests, by_time);
	for (guint i = 0; i < requests->len; i++) {
		((struct request *) requests->pdata[i])->path.number = i + 1;
	}
	for (guint i = 0; i < buckets->len; i++) {
		const struct bucket *bucket = buckets->pdata[i];
		const char *name = bucket->operation ? bucket->operation : bucket->task;

		for (guint k = 0; k < bucket->requests->len; k++) {
			const struct request *request = bucket->requests->pdata[k];

			lqn_path_index_add_root(index, request->root, request->path.number, name);
		}
	}
}

struct lqn_path_report *lqn_paths_build(struct lqn_build *build)
{
	struct lqn_path_report *report = lqn_path_report_new(build->a->all_paths);
	g_autoptr(GPtrArray) requests = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) buckets = g_ptr_array_new_with_free_func(bucket_free);
	struct tally tally = { .index = lqn_path_index_new(build, report), .report = report,
		.delays = lqn_delays_new(), .slowest = build->a->slowest,
		.pieces = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_piece)) };

	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		if (service->root && service->members->len > 0) {
			add_buckets(tally.index, service, requests, buckets);
		}
	}
	number(tally.index, requests, buckets);
	g_ptr_array_sort(buckets, by_size);
	for (guint i = 0; i < buckets->len; i++) {
		g_ptr_array_add(report->groups, group_of(&tally, build, buckets->pdata[i]));
	}
	g_array_unref(report->delays);
	report->delays = lqn_delays_take(tally.delays);
	lqn_path_messages(tally.index, build, report);
	g_array_unref(tally.pieces);
	lqn_path_index_free(tally.index);
	return report;
}
