/* SPDX-License-Identifier: MIT */

/*
 * How many threads serve: those that ever did, in the whole trace, and those that wait where they wait most often when
 * idle, for a small load leaves members of a pool unused. A dispatcher that hands most requests over does not serve.
 * A server whose threads are each made for one connection has as many as there are connections.
 */
#include "build.h"

struct tally {
	uint64_t object, count;
	uint8_t class;
};

/* Words count by what they stand for. */
static uint64_t object_of(const struct lqn_service *service, const struct lqn_place *place)
{
	return place->class == 2 ? lqn_word_root(lqn_party_word(service->host, place->object))->id : place->object;
}

static bool is_idle_place(const struct lqn_service *service, const struct lqn_place *place)
{
	return place->class != 2 || !lqn_word_is_lock(lqn_party_word(service->host, place->object));
}

static bool lives_in_window(const struct lqn_build *build, const struct lqn_actor *actor)
{
	return actor->born < build->end && (actor->died < 0 || actor->died >= build->begin);
}

static GPtrArray *those_who_served(const struct lqn_service *service)
{
	GPtrArray *workers = g_ptr_array_new();
	guint handed = 0;

	for (guint i = 0; i < service->everything->len; i++) {
		const struct lqn_invocation *it = service->everything->pdata[i];

		handed += it->actors && it->actors->len > 0;
	}
	for (guint i = 0; i < service->everything->len; i++) {
		const struct lqn_invocation *it = service->everything->pdata[i];
		bool dispatched = it->actors && it->actors->len > 0;

		if (2 * handed <= service->everything->len && !dispatched) {
			it->actor->served = true;
		}
		for (guint k = 0; dispatched && k < it->actors->len; k++) {
			((struct lqn_actor *) it->actors->pdata[k])->served = true;
		}
	}
	for (guint i = 0; i < service->host->by_age->len; i++) {
		struct lqn_actor *actor = service->host->by_age->pdata[i];

		if (actor->served && g_hash_table_contains(service->units, actor->unit)) {
			g_ptr_array_add(workers, actor);
		}
	}
	return workers;
}

/* The place where the workers wait most often. */
static bool common_place(const struct lqn_service *service, const GPtrArray *workers, struct tally *best)
{
	g_autoptr(GArray) tallies = g_array_new(FALSE, FALSE, sizeof(struct tally));

	best->count = 0;
	for (guint i = 0; i < workers->len; i++) {
		const struct lqn_actor *actor = workers->pdata[i];

		for (guint k = 0; actor->places && k < actor->places->len; k++) {
			const struct lqn_place *place = &g_array_index(actor->places, struct lqn_place, k);
			struct tally tally = { object_of(service, place), place->count, place->class };
			guint t = 0;

			if (!is_idle_place(service, place)) {
				continue;
			}
			while (t < tallies->len && (g_array_index(tallies, struct tally, t).object != tally.object ||
					g_array_index(tallies, struct tally, t).class != tally.class)) {
				t++;
			}
			if (t == tallies->len) {
				g_array_append_val(tallies, tally);
			} else {
				g_array_index(tallies, struct tally, t).count += tally.count;
			}
			if (g_array_index(tallies, struct tally, t).count > best->count) {
				*best = g_array_index(tallies, struct tally, t);
			}
		}
	}
	return best->count > 0;
}

static bool waits_at(const struct lqn_service *service, const struct lqn_actor *actor, const struct tally *where)
{
	for (guint k = 0; actor->places && k < actor->places->len; k++) {
		const struct lqn_place *place = &g_array_index(actor->places, struct lqn_place, k);

		if (place->class == where->class && object_of(service, place) == where->object) {
			return true;
		}
	}
	return false;
}

/* Made for a connection by a thread that accepts; reads, but neither accepts nor waits for several. */
static bool is_per_connection(const struct lqn_actor *actor)
{
	const struct lqn_actor *parent = actor->parent;

	return parent && parent->unit == actor->unit && parent->first_accept >= 0 && actor->born >= 0 &&
		parent->first_accept <= actor->born && actor->first_accept < 0 && !actor->polls && actor->reads;
}

unsigned lqn_service_multiplicity(const struct lqn_build *build, const struct lqn_service *service,
	bool *per_connection)
{
	g_autoptr(GPtrArray) workers = those_who_served(service);
	struct tally where = { 0 };
	guint made = 0, members = 0;

	for (guint i = 0; i < workers->len; i++) {
		made += is_per_connection(workers->pdata[i]);
		members += lives_in_window(build, workers->pdata[i]);
	}
	*per_connection = workers->len > 0 && made == workers->len;
	if (*per_connection) {
		return workers->len;
	}
	if (common_place(service, workers, &where)) {
		for (guint i = 0; i < service->host->by_age->len; i++) {
			const struct lqn_actor *actor = service->host->by_age->pdata[i];

			members += !actor->served && lives_in_window(build, actor) &&
				g_hash_table_contains(service->units, actor->unit) && waits_at(service, actor, &where);
		}
	}
	return MAX(members, 1);
}
