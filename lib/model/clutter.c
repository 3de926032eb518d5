/* SPDX-License-Identifier: MIT */

/*
 * Which clients the model is of. A trace of a whole machine shows every pipe between a shell's commands; who makes few
 * cycles beside a client that makes many says nothing that a mean could be made of. Such clients, and all that
 * only they cause, are left out; their use of the processors stays in the background load, and their names are told.
 */
#include "build.h"

#include <string.h>

#define CYCLES_MIN 20		/* beside a client of CYCLES_MANY */
#define CYCLES_MANY 100
#define HOPS_MAX 64
#define TOLD 8

struct client {
	const char *name;	/* interned */
	const struct lqn_party *host;
	guint cycles;
};

static struct client *client_of(GArray *clients, const struct lqn_actor *actor)
{
	struct client fresh = { lqn_service_name(actor), actor->host, 0 };

	for (guint i = 0; i < clients->len; i++) {
		struct client *it = &g_array_index(clients, struct client, i);

		if (it->name == fresh.name && it->host == fresh.host) {
			return it;
		}
	}
	g_array_append_val(clients, fresh);
	return &g_array_index(clients, struct client, clients->len - 1);
}

static bool is_kept(const struct lqn_build *build, const struct client *client, guint busiest)
{
	return client->cycles >= build->a->background_below * busiest && (client->cycles >= CYCLES_MIN || busiest < CYCLES_MANY);
}

/* The cycle that an invocation is part of. */
static struct lqn_invocation *root_of(struct lqn_invocation *it)
{
	for (int hops = 0; it->request && hops < HOPS_MAX; hops++) {
		it = lqn_final(it->request->caller);
	}
	return it;
}

static gint by_cycles(gconstpointer a, gconstpointer b)
{
	const struct client *x = a, *y = b;

	if (x->cycles != y->cycles) {
		return x->cycles > y->cycles ? -1 : 1;
	}
	return strcmp(x->name, y->name);
}

static void tell(struct lqn_build *build, GArray *clients, guint busiest)
{
	g_autoptr(GString) names = g_string_new(NULL);
	guint told = 0, left_out = 0;

	for (guint i = 0; i < clients->len; i++) {
		const struct client *client = &g_array_index(clients, struct client, i);

		if (is_kept(build, client, busiest) || client->cycles == 0) {
			continue;
		}
		left_out++;
		if (told < TOLD) {
			told++;
			g_string_append_printf(names, "%s%s (%u)", names->len ? ", " : "", client->name, client->cycles);
		}
	}
	if (left_out > 0) {
		lqn_build_note(build, "left out with all that only they cause, for making few cycles: %s%s; clutter=yes keeps them",
			names->str, left_out > told ? " and others" : "");
	}
}

/* A cycle in which a consumer asks for messages and gets none. */
static bool asks_in_vain(const struct lqn_invocation *cycle)
{
	const struct lqn_arc *arc = cycle->arcs;

	for (; arc && arc->fetch; arc = arc->next) {
	}
	return !cycle->request && cycle->arcs && !arc;
}

/* What a rule puts into the background goes with all that only it causes, whether clutter is kept or not. */
static void leave_out_ignored(struct lqn_build *build)
{
	GPtrArray *invocations = build->a->invocations;

	for (guint i = 0; i < invocations->len; i++) {
		struct lqn_invocation *it = invocations->pdata[i];

		it->clutter |= it->actor->unit->ignored || root_of(it)->actor->unit->ignored || asks_in_vain(root_of(it));
	}
}

void lqn_build_clutter(struct lqn_build *build)
{
	g_autoptr(GArray) clients = g_array_new(FALSE, FALSE, sizeof(struct client));
	GPtrArray *invocations = build->a->invocations;
	guint busiest = 0;

	leave_out_ignored(build);
	if (build->a->clutter) {
		return;
	}
	for (guint i = 0; i < invocations->len; i++) {
		struct lqn_invocation *it = invocations->pdata[i];

		if (lqn_is_cycle(build->a, it)) {
			struct client *client = client_of(clients, it->actor);

			client->cycles++;
			busiest = MAX(busiest, client->cycles);
		}
	}
	for (guint i = 0; i < invocations->len; i++) {
		struct lqn_invocation *it = invocations->pdata[i];

		if (lqn_invocation_counts(it)) {
			it->clutter = !is_kept(build, client_of(clients, root_of(it)->actor), busiest);
		}
	}
	g_array_sort(clients, by_cycles);
	tell(build, clients, busiest);
}
