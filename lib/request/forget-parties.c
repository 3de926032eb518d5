/* SPDX-License-Identifier: MIT */

/*
 * Lets threads go that have died, channels that are closed, words that nobody has used for long, if neither their own time nor
 * anything that stays asks for them. A process goes with its last thread.
 */
#include "internal.h"

#include <string.h>

static void need_actor(struct lqn_actor *actor)
{
	if (actor) {
		actor->needed = true;
	}
}

/* ---- channels ---- */

static void push_end(GPtrArray *stack, struct lqn_end *end)
{
	if (end && !end->needed) {
		end->needed = true;
		g_ptr_array_add(stack, end);
	}
}

/* Marks the ends, and what these stand on. */
static void follow_ends(GPtrArray *stack)
{
	while (stack->len > 0) {
		struct lqn_end *end = g_ptr_array_remove_index_fast(stack, stack->len - 1);

		push_end(stack, end->peer);
		push_end(stack, end->listener);
		push_end(stack, end->alias);
		push_end(stack, end->found);
		need_actor(end->user);
		need_actor(end->outside);
		for (guint i = 0; end->readers && i < end->readers->len; i++) {
			need_actor(end->readers->pdata[i]);
		}
	}
}

static bool is_over(const struct lqn_analysis *a, const struct lqn_end *end)
{
	return end->closed > 0 && end->closed < a->reached && !end->notes && !(end->pending && end->pending->length > 0);
}

/* Bytes of those that are over, and stay for what is kept. */
static uint64_t mark_ends(struct lqn_analysis *a)
{
	uint64_t held = 0;
	g_autoptr(GPtrArray) stack = g_ptr_array_new();

	for (guint i = 0; i < a->hosts->len; i++) {
		struct lqn_party *host = a->hosts->pdata[i];
		GHashTableIter iter;
		gpointer value;

		g_hash_table_iter_init(&iter, host->ends);
		while (g_hash_table_iter_next(&iter, NULL, &value)) {
			if (!is_over(a, value)) {
				push_end(stack, value);
			}
		}
		for (guint k = 0; k < host->by_age->len; k++) {
			const struct lqn_actor *actor = host->by_age->pdata[k];

			push_end(stack, actor->asked_on);
			push_end(stack, actor->serves);
		}
	}
	for (guint i = 0; i < a->invocations->len; i++) {
		const struct lqn_invocation *it = a->invocations->pdata[i];

		held += it->conn && !it->conn->needed ? sizeof(struct lqn_end) : 0;
		push_end(stack, it->conn);
		push_end(stack, it->last_send);
		need_actor(it->actor);
		for (guint k = 0; it->actors && k < it->actors->len; k++) {
			need_actor(it->actors->pdata[k]);
		}
	}
	for (guint i = 0; i < a->arcs->len; i++) {
		push_end(stack, ((const struct lqn_arc *) a->arcs->pdata[i])->via);
	}
	follow_ends(stack);
	return held;
}

static gboolean end_goes(gpointer key, gpointer value, gpointer analysis)
{
	const struct lqn_analysis *a = analysis;
	struct lqn_end *end = value;

	if (end->needed) {
		end->needed = false;
		return FALSE;
	}
	if (end->name && g_hash_table_lookup(a->links, end->name) == end) {
		g_hash_table_remove(a->links, end->name);
	}
	return TRUE;
}

/* ---- threads ---- */

static void mark_ios(const GArray *ios)
{
	for (guint i = 0; i < ios->len; i++) {
		need_actor(g_array_index(ios, struct lqn_disk_io, i).thread);
	}
}

static void mark_packets(const GArray *packets)
{
	for (guint i = 0; i < packets->len; i++) {
		need_actor(g_array_index(packets, struct lqn_packet, i).actor);
	}
}

/* Those of whose life a part is kept may have woken somebody then, whatever else is known of them. */
static bool lives_on(const struct lqn_analysis *a, const struct lqn_actor *actor)
{
	return actor->died < 0 || lqn_keeps_any(a, MIN(actor->seen, actor->died), actor->died + 1);
}

/* Likewise. */
static uint64_t mark_actors(struct lqn_analysis *a)
{
	uint64_t held = 0;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, a->flows);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		mark_packets(value);
	}
	for (guint i = 0; i < a->samples->len; i++) {
		need_actor(g_array_index(a->samples, struct lqn_hold_sample, i).actor);
	}
	for (guint i = 0; i < a->hosts->len; i++) {
		struct lqn_party *host = a->hosts->pdata[i];

		mark_packets(host->arrivals);
		g_hash_table_iter_init(&iter, host->ios);
		while (g_hash_table_iter_next(&iter, NULL, &value)) {
			mark_ios(value);
		}
		for (guint k = 0; k < host->by_age->len; k++) {
			struct lqn_actor *actor = host->by_age->pdata[k];

			if (lives_on(a, actor)) {
				actor->needed = true;
				held += actor->died >= 0 && actor->died < a->reached ? sizeof(*actor) : 0;
			}
			for (guint r = 0; actor->receipts && r < actor->receipts->len; r++) {
				need_actor(g_array_index(actor->receipts, struct lqn_receipt, r).sender);
			}
		}
	}
	return held;
}

/* The main thread names its process, and who made a thread tells whether it serves one connection. */
static void mark_families(struct lqn_party *host)
{
	g_autoptr(GPtrArray) stay = g_ptr_array_new();

	for (guint k = 0; k < host->by_age->len; k++) {
		struct lqn_actor *actor = host->by_age->pdata[k];

		if (actor->needed) {
			g_ptr_array_add(stay, actor);
		}
	}
	for (guint k = 0; k < stay->len; k++) {
		struct lqn_actor *actor = stay->pdata[k];

		need_actor(actor->parent);
		need_actor(actor->unit->main);
	}
}

static gboolean unit_goes(gpointer key, gpointer value, gpointer data)
{
	return !((struct lqn_unit *) value)->needed;
}

static gboolean user_goes(gpointer actor, gpointer use, gpointer data)
{
	return !((struct lqn_actor *) actor)->needed;
}

static gboolean word_goes(gpointer key, gpointer value, gpointer data)
{
	return !((struct lqn_word *) value)->needed;
}

static void forget_words(struct lqn_analysis *a, struct lqn_party *host)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, host->words);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		((struct lqn_word *) value)->needed = false;
	}
	g_hash_table_iter_init(&iter, host->words);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct lqn_word *word = value;

		g_hash_table_foreach_remove(word->users, user_goes, NULL);
		word->waiter = word->waiter && word->waiter->needed ? word->waiter : NULL;
		if (lqn_keeps_any(a, word->first, word->last + 1)) {
			word->needed = true;
			lqn_word_root(word)->needed = true;	/* nothing is between them then */
		}
	}
	g_hash_table_foreach_remove(host->words, word_goes, NULL);
}

/* Processes of threads that stay. */
static void mark_units(struct lqn_party *host)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, host->units);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		((struct lqn_unit *) value)->needed = false;
	}
	for (guint k = 0; k < host->by_age->len; k++) {
		struct lqn_actor *actor = host->by_age->pdata[k];

		actor->unit->needed |= actor->needed;
	}
}

static void forget_actors(struct lqn_analysis *a, struct lqn_party *host)
{
	guint n = 0;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, host->units);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct lqn_unit *unit = value;

		unit->main = unit->main && unit->main->needed ? unit->main : NULL;
	}
	forget_words(a, host);
	for (guint k = 0; k < host->by_age->len; k++) {
		struct lqn_actor *actor = host->by_age->pdata[k];

		if (actor->needed) {
			actor->parent = actor->parent && actor->parent->needed ? actor->parent : NULL;
			host->by_age->pdata[n++] = actor;
		}
	}
	/* only now: parents were asked */
	memset(host->front_actors, 0, sizeof(host->front_actors));
	g_hash_table_iter_init(&iter, host->actors);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct lqn_actor *actor = value;

		if (actor->needed) {
			actor->needed = false;
		} else {
			g_hash_table_iter_remove(&iter);
		}
	}
	g_ptr_array_set_size(host->by_age, (gint) n);
	g_hash_table_foreach_remove(host->units, unit_goes, NULL);
}

uint64_t lqn_parties_forget(struct lqn_analysis *a)
{
	uint64_t held = mark_ends(a) + mark_actors(a);

	for (guint i = 0; i < a->hosts->len; i++) {
		mark_families(a->hosts->pdata[i]);
		mark_units(a->hosts->pdata[i]);
	}
	/* before any process goes: a flow may be between hosts */
	for (guint i = 0; i < a->hosts->len; i++) {
		lqn_roles_forget(a->hosts->pdata[i]);
	}
	for (guint i = 0; i < a->hosts->len; i++) {
		struct lqn_party *host = a->hosts->pdata[i];

		memset(host->front_ends, 0, sizeof(host->front_ends));
		g_hash_table_foreach_remove(host->ends, end_goes, a);
		forget_actors(a, host);
	}
	return held;
}
