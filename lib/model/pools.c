/* SPDX-License-Identifier: MIT */

/*
 * How many threads serve: those that ever did, in the whole trace, and those that wait where they wait most often when
 * idle, for a small load leaves members of a pool unused. A dispatcher that hands most requests over does not serve.
 * Those that were there at once count: a successor does not add to the pool. A server whose threads, or processes, are each made for one
 * connection has as many as there are connections.
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

/* Remembers what the thread served. */
static void serves(struct lqn_actor *actor, const struct lqn_invocation *it)
{
	actor->serves_several |= actor->served && actor->serves != it->conn;
	actor->serves = it->conn;
	actor->served = true;
	actor->served_until = MAX(actor->served_until, it->end);
}

/* Threads of its own have worked on it beside the one that took it; those of another service answer what was passed on to them. */
static bool was_dispatched(const struct lqn_service *service, const struct lqn_invocation *it)
{
	for (guint i = 0; it->actors && i < it->actors->len; i++) {
		if (g_hash_table_contains(service->units, ((const struct lqn_actor *) it->actors->pdata[i])->unit)) {
			return true;
		}
	}
	return false;
}

static GPtrArray *those_who_served(const struct lqn_service *service)
{
	GPtrArray *workers = g_ptr_array_new();
	guint handed = 0;

	for (guint i = 0; i < service->everything->len; i++) {
		handed += was_dispatched(service, service->everything->pdata[i]);
	}
	for (guint i = 0; i < service->everything->len; i++) {
		const struct lqn_invocation *it = service->everything->pdata[i];
		bool dispatched = was_dispatched(service, it);

		if (2 * handed <= service->everything->len && !dispatched) {
			serves(it->actor, it);
		}
		for (guint k = 0; dispatched && k < it->actors->len; k++) {
			serves(it->actors->pdata[k], it);
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
static void common_place(const struct lqn_service *service, const GPtrArray *workers, struct tally *best)
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

/*
 * Made for a connection by one that accepts, and does not accept itself: it reads, and does not wait for several, or serves
 * that connection alone. Threads, or processes.
 */
static bool is_per_connection(const struct lqn_actor *actor)
{
	const struct lqn_actor *parent = actor->parent;

	return parent && lqn_service_name(parent) == lqn_service_name(actor) && parent->first_accept >= 0 && actor->born >= 0 &&
		parent->first_accept <= actor->born && actor->first_accept < 0 &&
		((!actor->polls && actor->reads) || (actor->serves && !actor->serves_several));
}

guint lqn_at_once(GArray *lives)
{
	g_autoptr(GArray) ends = g_array_sized_new(FALSE, FALSE, sizeof(int64_t), lives->len);
	guint most = 0, over = 0;

	for (guint i = 0; i < lives->len; i++) {
		g_array_append_val(ends, g_array_index(lives, struct lqn_window, i).end);
	}
	g_array_sort(lives, lqn_by_time);	/* by begin, which comes first */
	g_array_sort(ends, lqn_by_time);
	for (guint i = 0; i < lives->len; i++) {
		while (over < i && g_array_index(ends, int64_t, over) <= g_array_index(lives, struct lqn_window, i).begin) {
			over++;
		}
		most = MAX(most, i + 1 - over);
	}
	return most;
}

/* A worker that has ended was one until its last request: ending takes a while, in which its successor may begin. */
static struct lqn_window life_of(const struct lqn_actor *actor)
{
	return (struct lqn_window) { actor->born, actor->died < 0 ? INT64_MAX : actor->served ? actor->served_until : actor->died };
}

unsigned lqn_service_multiplicity(const struct lqn_build *build, const struct lqn_service *service,
	bool *per_connection)
{
	g_autoptr(GPtrArray) workers = those_who_served(service);
	g_autoptr(GArray) lives = g_array_new(FALSE, FALSE, sizeof(struct lqn_window));
	struct tally where = { 0 };
	guint made = 0;

	for (guint i = 0; i < workers->len; i++) {
		made += is_per_connection(workers->pdata[i]);
	}
	*per_connection = workers->len > 0 && made == workers->len;
	if (!*per_connection) {
		common_place(service, workers, &where);
	}
	for (guint i = 0; i < service->host->by_age->len; i++) {
		const struct lqn_actor *actor = service->host->by_age->pdata[i];
		struct lqn_window life = *per_connection ? (struct lqn_window) { actor->born, actor->died < 0 ? INT64_MAX : actor->died } :
			life_of(actor);

		if (g_hash_table_contains(service->units, actor->unit) && lives_in_window(build, actor) &&
				(actor->served || (where.count > 0 && waits_at(service, actor, &where)))) {
			g_array_append_val(lives, life);
		}
	}
	return MAX(lqn_at_once(lives), 1);
}
