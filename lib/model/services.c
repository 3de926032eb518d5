/* SPDX-License-Identifier: MIT */

/* Tasks: the processes of one name on one host. */
#include "build.h"

#include <string.h>

static void service_free(gpointer data)
{
	struct lqn_service *service = data;

	g_ptr_array_free(service->members, TRUE);
	g_ptr_array_free(service->everything, TRUE);
	g_ptr_array_free(service->clusters, TRUE);
	g_hash_table_destroy(service->units);
	g_free(service);
}

static void cluster_free(gpointer data)
{
	struct lqn_cluster *cluster = data;

	g_ptr_array_free(cluster->members, TRUE);
	g_hash_table_destroy(cluster->shape);
	for (guint i = 0; i < cluster->locks->len; i++) {
		g_clear_pointer(&g_array_index(cluster->locks, struct lqn_lock_use, i).inside, g_hash_table_destroy);
	}
	g_array_free(cluster->locks, TRUE);
	g_free(cluster);
}

static struct lqn_service *service_of(struct lqn_build *build, const struct lqn_invocation *invocation)
{
	const char *name = lqn_service_name(invocation->actor);
	bool root = !invocation->request;
	struct lqn_service *service;

	for (guint i = 0; i < build->services->len; i++) {
		service = build->services->pdata[i];
		if (service->name == name && service->host == invocation->actor->host && service->root == root) {
			return service;
		}
	}
	service = g_new0(struct lqn_service, 1);
	service->host = invocation->actor->host;
	service->name = name;
	service->root = root;
	service->outside = invocation->actor->unit->outside;
	service->members = g_ptr_array_new();
	service->everything = g_ptr_array_new();
	service->clusters = g_ptr_array_new_with_free_func(cluster_free);
	service->units = g_hash_table_new(g_direct_hash, g_direct_equal);
	g_ptr_array_add(build->services, service);
	return service;
}

static struct lqn_service *twin(const struct lqn_build *build, const struct lqn_service *service)
{
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *other = build->services->pdata[i];

		if (other != service && other->name == service->name && other->host == service->host) {
			return other;
		}
	}
	return NULL;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	const struct lqn_service *x = *(const struct lqn_service *const *) a;
	const struct lqn_service *y = *(const struct lqn_service *const *) b;
	int order;

	if (x->root != y->root) {
		return x->root ? -1 : 1;
	}
	order = strcmp(x->name, y->name);
	return order ? order : (int) x->host->number - (int) y->host->number;
}

/* A process that serves and asks has its CPU time counted once, as that of who serves. */
static bool counts(const struct lqn_service *service, const struct lqn_service *other, const struct lqn_unit *unit)
{
	return g_hash_table_contains(service->units, unit) && !(service->root && other && g_hash_table_contains(other->units, unit));
}

static double busy_of(const struct lqn_service *service, const struct lqn_service *counting, const struct lqn_service *other)
{
	double busy = 0;

	for (guint i = 0; i < service->members->len; i++) {
		const struct lqn_invocation *it = service->members->pdata[i];

		busy += counts(counting, other, it->actor->unit) ? (double) (it->cpu[0] + it->cpu[1] + it->send_cpu) : 0;
	}
	return busy;
}

/* CPU time in the window, and of it what belongs to no invocation. */
static void count_cpu(struct lqn_build *build, struct lqn_service *service)
{
	const struct lqn_service *other = twin(build, service);
	GPtrArray *actors = service->host->by_age;

	for (guint i = 0; i < actors->len; i++) {
		struct lqn_actor *actor = actors->pdata[i];

		service->cpu_ns += counts(service, other, actor->unit) ? (double) lqn_build_cpu_of(build, actor) : 0;
	}
	service->loose_ns = service->cpu_ns - busy_of(service, service, other) - (other ? busy_of(other, service, other) : 0);
}

/* Cycles that a server makes beside serving, a few of them: not a client. */
#define FEW 0.05

bool lqn_invocation_counts(const struct lqn_invocation *it)
{
	bool received = it->request != NULL;

	for (const struct lqn_arc *arc = it->arcs; arc && !received; arc = arc->next) {
		received = arc->callee && !arc->callee->clutter;
	}
	return received && !it->into && !it->tail_of && !it->gone && !it->clutter;
}

bool lqn_is_cycle(const struct lqn_analysis *a, const struct lqn_invocation *it)
{
	return !it->request && lqn_is_kept(a, it->begin) && lqn_invocation_counts(it);
}

void lqn_build_services(struct lqn_build *build)
{
	build->services = g_ptr_array_new_with_free_func(service_free);
	for (guint i = 0; i < build->a->invocations->len; i++) {
		struct lqn_invocation *it = build->a->invocations->pdata[i];
		struct lqn_service *service;

		if (!lqn_invocation_counts(it) || !lqn_is_kept(build->a, it->begin)) {
			continue;
		}
		service = service_of(build, it);
		g_ptr_array_add(service->everything, it);
		g_hash_table_add(service->units, it->actor->unit);
		if (lqn_in_window(build, it->begin)) {
			g_ptr_array_add(service->members, it);
		}
	}
	for (guint i = 0; i < build->services->len;) {
		struct lqn_service *service = build->services->pdata[i], *other = twin(build, service);

		if (service->members->len == 0 || (service->root && other && !build->a->clutter && other->members->len > 0 &&
				service->members->len < FEW * other->members->len)) {
			g_ptr_array_remove_index(build->services, i);
		} else {
			i++;
		}
	}
	g_ptr_array_sort(build->services, by_name);
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->members->len; k++) {
			const struct lqn_invocation *it = service->members->pdata[k];

			service->busy_ns += (double) (it->cpu[0] + it->cpu[1] + it->send_cpu);
		}
	}
	for (guint i = 0; i < build->services->len; i++) {
		count_cpu(build, build->services->pdata[i]);
	}
}
