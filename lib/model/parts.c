/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <string.h>

static void kind_free(gpointer data)
{
	struct lqn_segment_kind *kind = data;

	g_array_unref(kind->calls);
	g_ptr_array_unref(kind->members);
	g_clear_pointer(&kind->parts, g_array_unref);
	g_free(kind);
}

static guint kind_hash(gconstpointer key)
{
	const struct lqn_segment_kind *kind = key;
	guint64 hash = kind->clock;

	for (guint i = 0; i < kind->calls->len; i++) {
		hash = (hash ^ g_array_index(kind->calls, guint64, i)) * 0x9e3779b97f4a7c15u;
	}
	return (guint) (hash >> 32);
}

static gboolean kind_equal(gconstpointer a, gconstpointer b)
{
	const struct lqn_segment_kind *x = a, *y = b;

	return x->clock == y->clock && x->calls->len == y->calls->len &&
		memcmp(x->calls->data, y->calls->data, x->calls->len * sizeof(guint64)) == 0;
}

static gint by_calls(gconstpointer a, gconstpointer b)
{
	const struct lqn_segment_kind *x = *(const struct lqn_segment_kind *const *) a, *y = *(const struct lqn_segment_kind *const *) b;

	return (int) x->calls->len - (int) y->calls->len;
}

static GArray *calls_of(const struct lqn_invocation *it)
{
	GArray *calls = g_array_new(FALSE, FALSE, sizeof(guint64));

	for (const struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
		guint64 call = lqn_segment_call(arc, LQN_VIEW_SERVICE);

		g_array_append_val(calls, call);
	}
	return calls;
}

static struct lqn_segment_kind *kind_of(GHashTable *known, GPtrArray *kinds, const struct lqn_invocation *it)
{
	g_autoptr(GArray) calls = calls_of(it);
	const struct lqn_segment_kind like = { .calls = calls, .clock = it->absolute };
	struct lqn_segment_kind *kind = g_hash_table_lookup(known, &like);

	if (!kind) {
		kind = g_new0(struct lqn_segment_kind, 1);
		kind->calls = g_array_ref(calls);
		kind->clock = it->absolute;
		kind->members = g_ptr_array_new();
		g_ptr_array_add(kinds, kind);
		g_hash_table_add(known, kind);
	}
	return kind;
}

GPtrArray *lqn_segment_kinds(const struct lqn_segments *segments)
{
	GPtrArray *kinds = g_ptr_array_new_with_free_func(kind_free);
	g_autoptr(GHashTable) known = g_hash_table_new(kind_hash, kind_equal);

	for (guint t = 0; t < segments->threads->len; t++) {
		const GPtrArray *thread = segments->threads->pdata[t];

		for (guint i = 0; i < thread->len; i++) {
			g_ptr_array_add(kind_of(known, kinds, thread->pdata[i])->members, thread->pdata[i]);
		}
	}
	g_ptr_array_sort(kinds, by_calls);
	return kinds;
}

/*
 * The longest kind, made of no others, with which the calls of `of` from a place on begin, if others are the
 * `rest`; `clock`: of those that begin at times of the clock. NULL: none.
 */
static const struct lqn_segment_kind *kind_at(const GPtrArray *wholes, const struct lqn_segment_kind *of, guint place,
	bool clock, const bool *rest)
{
	const guint64 *calls = (const guint64 *) of->calls->data + place;
	const struct lqn_segment_kind *best = NULL;

	for (guint i = 0; i < wholes->len; i++) {
		const struct lqn_segment_kind *kind = wholes->pdata[i];
		guint length = kind->calls->len;

		if (length > 0 && length < of->calls->len && (!clock || kind->clock) &&
				place + length <= of->calls->len && rest[place + length] &&
				memcmp(calls, kind->calls->data, length * sizeof(*calls)) == 0) {
			best = kind;
		}
	}
	return best;
}

void lqn_segment_kind_parts(const GPtrArray *wholes, struct lqn_segment_kind *kind)
{
	guint length = kind->calls->len, place;
	g_autofree bool *rest = g_new0(bool, length + 1);	/* whether the calls from there on are made of others */
	const struct lqn_segment_kind *first;

	rest[length] = true;
	for (guint i = length; i-- > 1;) {
		rest[i] = kind_at(wholes, kind, i, true, rest) != NULL;
	}
	first = length > 1 ? kind_at(wholes, kind, 0, false, rest) : NULL;
	for (place = first ? first->calls->len : 1; place < length && !rest[place]; place++) {
	}
	if (place >= length) {
		return;
	}
	kind->parts = g_array_new(FALSE, FALSE, sizeof(guint));
	for (; place < length; place += kind_at(wholes, kind, place, true, rest)->calls->len) {
		g_array_append_val(kind->parts, place);
	}
}
