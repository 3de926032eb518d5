/* SPDX-License-Identifier: MIT */
#include "path/index.h"

#define DEPTH_MAX 32	/* calls within calls that are told apart */
#define LOOK_BACK 64	/* intervals looked through for an idle wait */

struct root {
	uint32_t number;
	const char *name;	/* interned */
};

struct lqn_path_index {
	struct lqn_build *build;		/* borrowed */
	struct lqn_path_report *report;		/* borrowed */
	GHashTable *works;	/* actor -> GPtrArray of its invocations, by begin; owned */
	GHashTable *roots;	/* invocation -> struct root, owned */
	GHashTable *locks;	/* struct lqn_word, a root -> name, interned */
	GHashTable *places;	/* invocation -> its struct lqn_path_place */
	GHashTable *lay;	/* invocation -> struct lqn_delivery, of the build */
	GHashTable *holds;	/* struct lqn_word, a root -> GArray of struct lqn_path_hold; owned */
};

/* All pieces of work, merged or not, by the thread that did them. */
static GHashTable *index_works(const struct lqn_analysis *a)
{
	GHashTable *works = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL,
		(GDestroyNotify) g_ptr_array_unref);
	GHashTableIter iter;
	gpointer value;

	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];
		GPtrArray *mine = g_hash_table_lookup(works, it->actor);

		if (it->tail_of || it->gone) {
			continue;
		}
		if (!mine) {
			mine = g_ptr_array_new();
			g_hash_table_insert(works, it->actor, mine);
		}
		g_ptr_array_add(mine, it);
	}
	g_hash_table_iter_init(&iter, works);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		g_ptr_array_sort(value, lqn_invocation_by_begin);
	}
	return works;
}

/* Locks have the names that they have in the model. */
static GHashTable *index_locks(const struct lqn_build *build)
{
	GHashTable *locks = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < build->services->len; i++) {
		const struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			const struct lqn_cluster *cluster = service->clusters->pdata[k];

			for (guint l = 0; l < cluster->locks->len; l++) {
				const struct lqn_lock_use *use = &g_array_index(
					cluster->locks, struct lqn_lock_use, l);

				g_hash_table_insert(locks, use->word,
					(gpointer) g_intern_string(use->entry->task->name));
			}
		}
	}
	return locks;
}

static gint by_end(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_hold *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

static GHashTable *index_holds(const struct lqn_analysis *a)
{
	GHashTable *holds = g_hash_table_new_full(
		g_direct_hash, g_direct_equal, NULL, (GDestroyNotify) g_array_unref);
	GHashTableIter iter;
	gpointer value;

	for (guint i = 0; i < a->samples->len; i++) {
		const struct lqn_hold_sample *sample = &g_array_index(
			a->samples, struct lqn_hold_sample, i);
		struct lqn_word *word = lqn_word_root(lqn_party_word(sample->host, sample->word));
		GArray *mine = g_hash_table_lookup(holds, word);
		struct lqn_path_hold hold = {
			sample->begin, sample->begin + sample->hold, sample->actor };

		if (sample->partial) {
			continue;
		}
		if (!mine) {
			mine = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_hold));
			g_hash_table_insert(holds, word, mine);
		}
		g_array_append_val(mine, hold);
	}
	g_hash_table_iter_init(&iter, holds);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		g_array_sort(value, by_end);
	}
	return holds;
}

static GHashTable *index_lay(const struct lqn_build *build)
{
	GHashTable *lay = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < build->deliveries->len; i++) {
		struct lqn_delivery *it = &g_array_index(build->deliveries, struct lqn_delivery, i);

		if (lqn_delivery_lay(it)) {
			g_hash_table_insert(lay, lqn_final(it->delivered->callee), it);
		}
	}
	return lay;
}

struct lqn_path_index *lqn_path_index_new(struct lqn_build *build, struct lqn_path_report *report)
{
	struct lqn_path_index *index = g_new0(struct lqn_path_index, 1);

	index->build = build;
	index->report = report;
	index->works = index_works(build->a);
	index->roots = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
	index->locks = index_locks(build);
	index->places = g_hash_table_new(g_direct_hash, g_direct_equal);
	index->holds = index_holds(build->a);
	index->lay = index_lay(build);
	return index;
}

void lqn_path_index_free(struct lqn_path_index *index)
{
	g_hash_table_destroy(index->works);
	g_hash_table_destroy(index->roots);
	g_hash_table_destroy(index->locks);
	g_hash_table_destroy(index->places);
	g_hash_table_destroy(index->holds);
	g_hash_table_destroy(index->lay);
	g_free(index);
}

struct lqn_analysis *lqn_path_index_analysis(const struct lqn_path_index *index)
{
	return index->build->a;
}

void lqn_path_index_add_root(struct lqn_path_index *index, const struct lqn_invocation *root,
	uint32_t number, const char *name)
{
	struct root *it = g_new(struct root, 1);

	it->number = number;
	it->name = name;
	g_hash_table_insert(index->roots, (gpointer) root, it);
}

/* ---- names ---- */

const char *lqn_path_entry(struct lqn_path_index *index, struct lqn_invocation *work)
{
	const struct lqn_cluster *cluster = lqn_build_cluster_of(index->build, work);

	if (work->operation) {
		return work->operation;
	}
	return cluster && cluster->entry && cluster->service->task->entries->len > 1 ?
		g_intern_string(cluster->entry->name) : NULL;
}

const char *lqn_path_operation(struct lqn_path_index *index, const struct lqn_invocation *root,
	bool *told)
{
	*told = root->operation != NULL;
	if (root->operation) {
		return root->operation;
	}
	for (const struct lqn_arc *arc = root->arcs; arc; arc = arc->next) {
		struct lqn_invocation *callee = lqn_final(arc->callee);

		if (callee) {
			const char *entry = lqn_path_entry(index, callee);

			*told = callee->operation != NULL;
			return entry ? entry : lqn_service_name(callee->actor);
		}
	}
	return NULL;
}

const char *lqn_path_lock_name(struct lqn_path_index *index, struct lqn_party *host, uint64_t word)
{
	struct lqn_word *root = lqn_word_root(lqn_party_word(host, word));
	const char *name = g_hash_table_lookup(index->locks, root);

	if (!name) {
		/* it has too few waits, or too short ones, to be a lock of the model */
		g_autofree char *text = g_strdup_printf("word %" G_GUINT64_FORMAT, root->id);

		name = g_intern_string(text);
		g_hash_table_insert(index->locks, root, (gpointer) name);
	}
	return name;
}

const GArray *lqn_path_holds(const struct lqn_path_index *index, struct lqn_party *host,
	uint64_t word)
{
	return g_hash_table_lookup(index->holds, lqn_word_root(lqn_party_word(host, word)));
}

/* ---- work ---- */

struct lqn_invocation *lqn_path_work_before(const struct lqn_path_index *index,
	struct lqn_actor *actor, int64_t ts)
{
	GPtrArray *mine = g_hash_table_lookup(index->works, actor);
	guint low = 0, high = mine ? mine->len : 0;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (((struct lqn_invocation *) mine->pdata[middle])->begin < ts) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low > 0 ? mine->pdata[low - 1] : NULL;
}

const struct lqn_delivery *lqn_path_lay(const struct lqn_path_index *index,
	const struct lqn_invocation *work)
{
	return g_hash_table_lookup(index->lay, work);
}

int64_t lqn_path_busy_until(const struct lqn_actor *actor, const struct lqn_invocation *work,
	int64_t ts)
{
	int64_t done = work->replied > 0 ? work->replied : work->end, idle = ts;
	int i = (int) LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, begin, ts - 1) - 1;

	if (done >= ts) {
		return ts;
	}
	/* what follows the answer without an idle wait is its second phase, or on the way to one */
	for (int looked = 0; i >= 0 && looked < LOOK_BACK; i--, looked++) {
		const struct lqn_interval *it = &g_array_index(
			actor->intervals, struct lqn_interval, i);

		if (it->begin < done) {
			return idle;
		}
		idle = it->preempted ? idle : it->begin;
	}
	return i < 0 ? idle : done;
}

struct lqn_invocation *lqn_path_root_of(struct lqn_invocation *work)
{
	work = lqn_final(work);
	for (int depth = 0; work && work->request && depth < DEPTH_MAX; depth++) {
		struct lqn_invocation *caller = lqn_final(work->request->caller);

		if (!caller || caller == work) {
			break;
		}
		work = caller;
	}
	return work;
}

static const struct lqn_path_place *place_of(struct lqn_path_index *index,
	struct lqn_invocation *work, int depth)
{
	const struct lqn_path_place *place, *caller = NULL;

	work = lqn_final(work);
	place = g_hash_table_lookup(index->places, work);
	if (place) {
		return place;
	}
	if (work->request && depth < DEPTH_MAX) {
		caller = place_of(index, work->request->caller, depth + 1);
	}
	place = lqn_path_report_place(index->report, caller, lqn_service_name(work->actor),
		work->request ? lqn_path_entry(index, work) : NULL);
	g_hash_table_insert(index->places, work, (gpointer) place);
	return place;
}

const struct lqn_path_place *lqn_path_place_of(struct lqn_path_index *index,
	struct lqn_invocation *work)
{
	return place_of(index, work, 0);
}

/* ---- who stands in the way ---- */

struct lqn_path_by lqn_path_by_work(struct lqn_path_index *index, const struct lqn_actor *actor,
	struct lqn_invocation *work)
{
	struct lqn_path_by by = {
		.thread = actor->key, .task = lqn_service_name(actor),
		.comm = actor->comm ? actor->comm : "",
	};
	const struct lqn_invocation *root = lqn_path_root_of(work);
	const struct root *known = root ? g_hash_table_lookup(index->roots, root) : NULL;

	by.doing_task = by.task;
	if (known) {
		by.request = known->number;
		by.operation = known->name;
	} else if (root && !root->request) {
		/* begun outside the window, or by a client that is left out */
		bool told;

		by.operation = lqn_path_operation(index, root, &told);
	}
	return by;
}

struct lqn_path_by lqn_path_by_thread(struct lqn_path_index *index, struct lqn_actor *actor,
	int64_t ts)
{
	struct lqn_invocation *work = lqn_path_work_before(index, actor, ts);

	if (work && lqn_path_busy_until(actor, work, ts) < ts) {
		work = NULL;
	}
	return lqn_path_by_work(index, actor, work);
}
