/* SPDX-License-Identifier: MIT */

/*
 * Entries: the operations of a task. Invocations are split by the path of their callers, back to the root, and by how
 * they are called; then what agrees in shape (calls and locks) and in demand is merged again. (Callers alone are too
 * fine, and shapes alone hide operations that differ in who asks for them.)
 */
#include "build.h"

#include <math.h>
#include <string.h>

#define LIKE 0.3		/* call means and demands that differ by less are alike */
#define SMALL_PATH 0.02		/* share of the invocations below which a path joins another */
#define SMALL_ENTRY 0.01	/* below which an entry is left out: effects of the window's edges */
#define LOCK_SHARE 0.02		/* share of invocations that wait for a lock, from which on they use it */
#define DEPTH_MAX 32

static const char *const asked_names[LQN_ASKED_KINDS] = {
	[LQN_ASKED_BY_NOBODY] = "cycle",
	[LQN_ASKED_SYNC] = "sync",
	[LQN_ASKED_ASYNC] = "async",
};

static enum lqn_asked asked(const struct lqn_invocation *it)
{
	return !it->request ? LQN_ASKED_BY_NOBODY : it->request->kind == LQN_ASYNC ? LQN_ASKED_ASYNC : LQN_ASKED_SYNC;
}

/* What a path is made of: one step more than the caller's. */
struct step {
	const char *path;	/* of the caller; NULL: a root, or a call within a service */
	const char *service;
	enum lqn_asked asked;
	unsigned host;
};

static guint hash_step(gconstpointer key)
{
	const struct step *s = key;

	return g_direct_hash(s->path) * 31 ^ g_direct_hash(s->service) * 7 ^ (guint) s->asked * 5 ^ s->host;
}

static gboolean equal_step(gconstpointer a, gconstpointer b)
{
	const struct step *x = a, *y = b;

	return x->path == y->path && x->service == y->service && x->asked == y->asked && x->host == y->host;
}

static const char *path_of(struct lqn_build *build, struct lqn_invocation *it, int depth)
{
	struct step step = { NULL, lqn_service_name(it->actor), asked(it), it->actor->host->number };

	if (it->path) {
		return it->path;
	}
	if (it->request && depth < DEPTH_MAX) {
		struct lqn_invocation *caller = lqn_final(it->request->caller);

		if (lqn_service_name(caller->actor) != step.service) {
			step.path = path_of(build, caller, depth + 1);
		}
	}
	it->path = g_hash_table_lookup(build->steps, &step);
	if (!it->path) {
		g_autofree char *path = g_strdup_printf("%s%s%s@%u:%s", step.path ? step.path : "", step.path ? ">" : "",
			step.service, step.host, asked_names[step.asked]);

		it->path = g_intern_string(path);
		g_hash_table_insert(build->steps, g_memdup2(&step, sizeof(step)), (gpointer) it->path);
	}
	return it->path;
}

/* What invocations are grouped by at first: the operation where it is told, else the path of callers. */
static const char *group_of(struct lqn_build *build, struct lqn_invocation *it)
{
	if (build->a->entries == LQN_ENTRIES_TASK) {
		g_autofree char *key = g_strdup_printf("%s@%u:%s", lqn_service_name(it->actor), it->actor->host->number,
			asked_names[asked(it)]);

		return g_intern_string(key);
	}
	if (build->a->entries == LQN_ENTRIES_OPERATION && it->operation && it->request) {
		g_autofree char *key = g_strdup_printf("%s@%u=%s:%s", lqn_service_name(it->actor), it->actor->host->number,
			it->operation, asked_names[asked(it)]);

		return g_intern_string(key);
	}
	return path_of(build, it, 0);
}

static double demand_of(const struct lqn_invocation *it)
{
	return (double) (it->cpu[0] + it->cpu[1] + it->send_cpu);
}

static void add_to_shape(GHashTable *shape, const char *what)
{
	double *count = g_hash_table_lookup(shape, what);

	if (!count) {
		count = g_new0(double, 1);
		g_hash_table_insert(shape, (gpointer) what, count);
	}
	*count += 1;
}

static void add_call_to_shape(GHashTable *shape, const struct lqn_arc *arc)
{
	g_autofree char *what = g_strdup_printf("%s:%d", lqn_service_name(lqn_final(arc->callee)->actor), arc->kind);

	add_to_shape(shape, g_intern_string(what));
}

/* Each lock that an invocation waited for, once. */
static void add_locks_to_shape(GHashTable *shape, const struct lqn_invocation *it)
{
	for (const struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
		const struct lqn_lock_wait *earlier = it->locks;

		while (earlier->word != wait->word) {
			earlier = earlier->next;
		}
		if (earlier == wait) {
			g_autofree char *what = g_strdup_printf("lock:%" G_GUINT64_FORMAT, wait->word);

			add_to_shape(shape, g_intern_string(what));
		}
	}
}

/* What the members call, and which locks they take, per invocation. */
static GHashTable *shape_of(const GPtrArray *members)
{
	GHashTable *shape = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
	GHashTableIter iter;
	gpointer key, value;

	for (guint i = 0; i < members->len; i++) {
		const struct lqn_invocation *it = members->pdata[i];

		for (const struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
			if (arc->callee) {
				add_call_to_shape(shape, arc);
			}
		}
		add_locks_to_shape(shape, it);
	}
	g_hash_table_iter_init(&iter, shape);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		double *mean = value;

		*mean /= MAX(members->len, 1u);
		if (strncmp(key, "lock:", 5) == 0) {
			/* contention decides how often a lock is seen: used or not is all that can be said */
			*mean = *mean >= LOCK_SHARE;
		}
	}
	return shape;
}

static bool covers(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const double *mine = value, *its = g_hash_table_lookup(b, key);
		double other = its ? *its : 0;

		if (fabs(*mine - other) >= LIKE * MAX(1, other)) {
			return false;
		}
	}
	return true;
}

static bool alike(const struct lqn_cluster *cluster, GHashTable *shape, double demand)
{
	return fabs(cluster->demand - demand) < LIKE * MAX(cluster->demand, demand) &&
		covers(cluster->shape, shape) && covers(shape, cluster->shape);
}

struct group {			/* invocations of one operation, or with one path of callers */
	const char *path;
	enum lqn_asked asked;
	const char *operation;	/* NULL: not told */
	GPtrArray *members;
};

static void group_free(gpointer data)
{
	struct group *group = data;

	g_ptr_array_free(group->members, TRUE);
	g_free(group);
}

static gint by_size(gconstpointer a, gconstpointer b)
{
	const struct group *x = *(const struct group *const *) a, *y = *(const struct group *const *) b;

	if (x->members->len != y->members->len) {
		return x->members->len > y->members->len ? -1 : 1;
	}
	return strcmp(x->path, y->path);
}

static GPtrArray *group_by_path(struct lqn_build *build, const struct lqn_service *service)
{
	GPtrArray *groups = g_ptr_array_new_with_free_func(group_free);
	g_autoptr(GHashTable) by_path = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < service->members->len; i++) {
		struct lqn_invocation *it = service->members->pdata[i];
		const char *path = group_of(build, it);
		struct group *group = g_hash_table_lookup(by_path, path);

		if (!group) {
			group = g_new0(struct group, 1);
			group->path = path;
			group->asked = asked(it);
			group->operation = it->request && build->a->entries == LQN_ENTRIES_OPERATION ? it->operation : NULL;
			group->members = g_ptr_array_new();
			g_hash_table_insert(by_path, (gpointer) path, group);
			g_ptr_array_add(groups, group);
		}
		g_ptr_array_add(group->members, it);
	}
	g_ptr_array_sort(groups, by_size);
	return groups;
}

static struct lqn_cluster *cluster_new(struct lqn_service *service, enum lqn_asked how)
{
	struct lqn_cluster *cluster = g_new0(struct lqn_cluster, 1);

	cluster->service = service;
	cluster->asked = how;
	cluster->members = g_ptr_array_new();
	cluster->locks = g_array_new(FALSE, FALSE, sizeof(struct lqn_lock_use));
	g_ptr_array_add(service->clusters, cluster);
	return cluster;
}

static void split(struct lqn_build *build, struct lqn_service *service)
{
	g_autoptr(GPtrArray) groups = group_by_path(build, service);
	double total[LQN_ASKED_KINDS] = { 0 };

	for (guint i = 0; i < groups->len; i++) {
		const struct group *group = groups->pdata[i];

		total[group->asked] += group->members->len;
	}
	for (guint i = 0; i < groups->len; i++) {
		struct group *group = groups->pdata[i];
		GHashTable *shape = shape_of(group->members);
		struct lqn_cluster *found = NULL;
		double demand = 0;

		for (guint k = 0; k < group->members->len; k++) {
			demand += demand_of(group->members->pdata[k]);
		}
		demand /= group->members->len;
		for (guint k = 0; k < service->clusters->len && !found; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];

			if (cluster->asked == group->asked && cluster->operation == group->operation && (service->root ||
					(!build->a->clutter && group->members->len < SMALL_PATH * total[group->asked]) ||
					(build->a->entries != LQN_ENTRIES_CALLERS && alike(cluster, shape, demand)))) {
				found = cluster;
			}
		}
		if (!found) {
			found = cluster_new(service, group->asked);
			found->operation = group->operation;
			found->shape = g_hash_table_ref(shape);
			found->demand = demand;
		}
		g_hash_table_unref(shape);
		g_ptr_array_extend(found->members, group->members, NULL, NULL);
		g_hash_table_insert(build->by_path, (gpointer) group->path, found);
		for (guint k = 0; k < group->members->len; k++) {
			((struct lqn_invocation *) group->members->pdata[k])->cluster = found;
		}
	}
}

struct lqn_cluster *lqn_build_cluster_of(struct lqn_build *build, struct lqn_invocation *invocation)
{
	if (!invocation->cluster) {
		invocation->cluster = g_hash_table_lookup(build->by_path, group_of(build, invocation));
	}
	return invocation->cluster;
}

struct lqn_cluster *lqn_build_callee(struct lqn_build *build, const struct lqn_cluster *from, const struct lqn_arc *arc)
{
	struct lqn_cluster *to = arc->callee && !arc->gone && !lqn_final(arc->callee)->clutter ?
		lqn_build_cluster_of(build, lqn_final(arc->callee)) : NULL;

	return to && to->entry && to->service != from->service ? to : NULL;
}

void lqn_build_entries(struct lqn_build *build)
{
	build->by_path = g_hash_table_new(g_direct_hash, g_direct_equal);
	build->steps = g_hash_table_new_full(hash_step, equal_step, g_free, NULL);
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		split(build, service);
		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];
			g_autofree char *wanted = NULL;

			if (!build->a->clutter && cluster->members->len < SMALL_ENTRY * service->members->len) {
				continue;
			}
			wanted = g_strdup_printf("%s_%s", service->task->name,
				cluster->operation ? cluster->operation : asked_names[cluster->asked]);
			cluster->entry = lqn_task_add_entry(service->task, lqn_build_name(build, wanted));
		}
	}
}
