/* SPDX-License-Identifier: MIT */

/*
 * What a client does between two sleeps is taken for a cycle as events come. What all of its sleeps have in common is known only
 * now: that some are within its cycles (sequences.c), or that it did not sleep where it should have, for it was late
 * (late.c). All of it is of this model alone, and taken back with it.
 */
#include "regroup.h"

#define SEGMENTS_MIN 20		/* fewer have no habits */

/* An invocation as it was. */
struct before {
	struct lqn_invocation *it, was;
	guint actors;			/* others that worked on it */
	struct lqn_invocation *part;	/* what was joined with it; NULL: it was split */
	struct lqn_lock_wait *last_lock;	/* of the part's */
	struct lqn_arc *cut, *rest;	/* the last arc that the first of both has; split: the first of the other */
};

struct lqn_regroup {
	GArray *done;			/* struct before, in order */
	GPtrArray *made;		/* struct lqn_invocation, by splitting; owned */
	GPtrArray *invocations;		/* the analysis's, without these; NULL: nothing was split */
};

bool lqn_segment_follows(const struct lqn_analysis *a, const struct lqn_invocation *before, const struct lqn_invocation *it)
{
	return it->origin == LQN_ORIGIN_TIMER && it->begin >= before->begin && lqn_is_known(a, before->begin, it->begin);
}

static struct lqn_regroup *regroup_of(struct lqn_build *build)
{
	if (!build->regroup) {
		build->regroup = g_new0(struct lqn_regroup, 1);
		build->regroup->done = g_array_new(FALSE, FALSE, sizeof(struct before));
		build->regroup->made = g_ptr_array_new_with_free_func(g_free);
	}
	return build->regroup;
}

static struct before *remember(struct lqn_build *build, struct lqn_invocation *it)
{
	GArray *done = regroup_of(build)->done;
	struct before before = { .it = it, .was = *it, .actors = it->actors ? it->actors->len : 0, .cut = it->last_arc };

	g_array_append_val(done, before);
	return &g_array_index(done, struct before, done->len - 1);
}

const struct lqn_interval *lqn_segment_sleep(const struct lqn_invocation *it)
{
	const GArray *intervals = it->actor->intervals;
	guint before = LQN_COUNT_UNTIL(intervals, struct lqn_interval, end, it->begin);
	const struct lqn_interval *sleep = before > 0 ? &g_array_index(intervals, struct lqn_interval, before - 1) : NULL;

	return sleep && sleep->end == it->begin ? sleep : NULL;
}

/* ns that the thread slept, or could have run on an idle CPU. */
static int64_t slept(const struct lqn_actor *actor, int64_t from, int64_t until)
{
	const GArray *intervals = actor->intervals;
	int64_t sum = 0;

	for (guint i = LQN_COUNT_UNTIL(intervals, struct lqn_interval, begin, from - 1); i < intervals->len; i++) {
		const struct lqn_interval *it = &g_array_index(intervals, struct lqn_interval, i);

		if (it->begin >= until) {
			break;
		}
		sum += it->preempted ? 0 : (it->wake >= 0 ? it->wake : it->end) - it->begin + it->idle;
	}
	return sum;
}

int64_t lqn_segment_slept(const struct lqn_invocation *it)
{
	const struct lqn_interval *sleep = lqn_segment_sleep(it);

	return sleep && sleep->wake > sleep->begin ? sleep->wake - sleep->begin : 0;
}

static void own_arcs(struct lqn_arc *arc, struct lqn_invocation *caller)
{
	for (; arc; arc = arc->next) {
		arc->caller = caller;
	}
}

static struct lqn_lock_wait *last_lock(const struct lqn_invocation *it)
{
	struct lqn_lock_wait *last = it->locks;

	while (last && last->next) {
		last = last->next;
	}
	return last;
}

int64_t lqn_segments_join(struct lqn_build *build, struct lqn_invocation *first, struct lqn_invocation *part)
{
	struct before *before = remember(build, first);
	int64_t asleep = slept(first->actor, first->end, part->begin);

	before->part = part;
	before->last_lock = last_lock(part);
	own_arcs(part->arcs, first);
	*(first->last_arc ? &first->last_arc->next : &first->arcs) = part->arcs;
	first->last_arc = part->last_arc ? part->last_arc : first->last_arc;
	if (part->locks) {
		before->last_lock->next = first->locks;
		first->locks = part->locks;
	}
	for (unsigned phase = 0; phase < 2; phase++) {
		first->cpu[phase] += part->cpu[phase];
		first->delay[phase] += part->delay[phase];
		first->disk_ns[phase] += part->disk_ns[phase];
		first->disks[phase] += part->disks[phase];
	}
	first->send_cpu += part->send_cpu;
	first->latency += part->latency;
	first->lock_latency += part->lock_latency;
	first->device = first->device ? first->device : part->device;
	first->paused += part->paused + asleep;
	if (!first->operation) {
		first->operation = part->operation;
		first->trace = part->trace;
		first->span = part->span;
	}
	first->end = part->end;
	first->last = part->last;
	first->told_until = MAX(first->told_until, part->told_until);
	for (guint i = 0; part->actors && i < part->actors->len; i++) {
		lqn_actor_worked(first, part->actors->pdata[i]);
	}
	part->into = first;
	return asleep;
}

/* Both are parts of requests that spans tell of, and not of the same. */
static bool are_told_apart(const struct lqn_invocation *before, const struct lqn_invocation *it)
{
	return before->trace && it->trace && before->trace != it->trace;
}

guint lqn_segments_join_marked(struct lqn_build *build, struct lqn_segments *segments, GPtrArray *thread, const bool *belongs)
{
	guint kept = 0, joined = 0;

	for (guint i = 0; i < thread->len; i++) {
		struct lqn_invocation *it = thread->pdata[i];

		if (belongs[i] && !are_told_apart(thread->pdata[kept - 1], it)) {
			segments->slept += lqn_segments_join(build, thread->pdata[kept - 1], it);
			joined++;
		} else {
			thread->pdata[kept++] = it;
		}
	}
	g_ptr_array_set_size(thread, (gint) kept);
	segments->joined += joined;
	return joined;
}

struct lqn_invocation *lqn_segments_split(struct lqn_build *build, struct lqn_invocation *it, struct lqn_arc *arc)
{
	struct before *before = remember(build, it);
	struct lqn_invocation *rest = g_new0(struct lqn_invocation, 1);
	int64_t at = it->begin, cpu;

	for (before->cut = it->arcs; before->cut->next != arc; before->cut = before->cut->next) {
	}
	for (const struct lqn_arc *done = it->arcs; done != arc; done = done->next) {
		at = MAX(at, done->replied > 0 ? done->replied : done->sent);
	}
	cpu = CLAMP(lqn_actor_cpu_at(it->actor, it->end) - lqn_actor_cpu_at(it->actor, at), 0, it->cpu[0]);
	rest->actor = it->actor;
	rest->anonymous = rest->absolute = rest->late = true;
	rest->origin = LQN_ORIGIN_TIMER;
	rest->begin = at;
	rest->end = MAX(it->end, at);
	rest->last = it->last;
	rest->cpu[0] = cpu;
	rest->arcs = before->rest = arc;
	rest->last_arc = it->last_arc;
	own_arcs(arc, rest);
	before->cut->next = NULL;
	it->last_arc = before->cut;
	it->cpu[0] -= cpu;
	it->end = at;
	it->last = false;
	g_ptr_array_add(regroup_of(build)->made, rest);
	return rest;
}

/* ---- all of them ---- */

static guint64 mix(guint64 hash, guint64 value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15u ^ hash >> 29;
}

static guint64 service_number(const struct lqn_actor *actor)
{
	return (guint64) g_quark_from_string(lqn_service_name(actor)) << 32 | actor->host->number;
}

guint64 lqn_segment_call(const struct lqn_arc *arc, unsigned view)
{
	const struct lqn_invocation *callee = lqn_final(arc->callee);
	guint64 hash = mix((guint64) arc->kind + 1, callee ? service_number(callee->actor) : 0);

	if (view >= LQN_VIEW_MESSAGE) {
		hash = mix(mix(hash, arc->bytes), callee && callee->operation ? g_quark_from_string(callee->operation) : 0);
	}
	for (arc = view >= LQN_VIEW_CALLEE && callee ? callee->arcs : NULL; arc; arc = arc->next) {
		/* whatever the order, and how often */
		hash += arc->callee ? mix(1, service_number(lqn_final(arc->callee)->actor)) : 0;
	}
	return hash;
}

static void segments_free(gpointer data)
{
	struct lqn_segments *segments = data;

	g_ptr_array_unref(segments->threads);
	g_free(segments);
}

static struct lqn_segments *segments_of(GPtrArray *all, const struct lqn_actor *actor)
{
	const char *name = lqn_service_name(actor);
	struct lqn_segments *segments;

	for (guint i = 0; i < all->len; i++) {
		segments = all->pdata[i];
		if (segments->name == name && segments->host == actor->host) {
			return segments;
		}
	}
	segments = g_new0(struct lqn_segments, 1);
	segments->name = name;
	segments->host = actor->host;
	segments->threads = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
	g_ptr_array_add(all, segments);
	return segments;
}

static GPtrArray *collect(const struct lqn_analysis *a)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(segments_free);
	g_autoptr(GHashTable) by_thread = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];
		GPtrArray *thread;
		struct lqn_segments *segments;

		if (it->request || it->origin == LQN_ORIGIN_LOOP || it->actor->unit->outside || !lqn_invocation_counts(it)) {
			continue;
		}
		segments = segments_of(all, it->actor);
		thread = g_hash_table_lookup(by_thread, it->actor);
		if (!thread) {
			thread = g_ptr_array_new();
			g_ptr_array_add(segments->threads, thread);
			g_hash_table_insert(by_thread, it->actor, thread);
		}
		g_ptr_array_add(thread, it);
		segments->count++;
	}
	return all;
}

/* What was made by splitting goes where it would be if it had been seen as it began. */
static void insert_made(struct lqn_build *build)
{
	struct lqn_regroup *regroup = build->regroup;
	GPtrArray *old = build->a->invocations;
	guint next = 0;

	if (!regroup || regroup->made->len == 0) {
		return;
	}
	g_ptr_array_sort(regroup->made, lqn_invocation_by_begin);
	build->a->invocations = g_ptr_array_sized_new(old->len + regroup->made->len);
	regroup->invocations = old;
	for (guint i = 0; i < old->len; i++) {
		const struct lqn_invocation *it = old->pdata[i];

		for (; next < regroup->made->len && ((struct lqn_invocation *) regroup->made->pdata[next])->begin < it->begin; next++) {
			g_ptr_array_add(build->a->invocations, regroup->made->pdata[next]);
		}
		g_ptr_array_add(build->a->invocations, old->pdata[i]);
	}
	for (; next < regroup->made->len; next++) {
		g_ptr_array_add(build->a->invocations, regroup->made->pdata[next]);
	}
}

void lqn_build_regroup(struct lqn_build *build)
{
	g_autoptr(GPtrArray) all = collect(build->a);

	for (guint i = 0; i < all->len; i++) {
		struct lqn_segments *segments = all->pdata[i];

		if (segments->count >= SEGMENTS_MIN) {
			lqn_segments_split_late(build, segments);
			lqn_segments_join_sequences(build, segments);
		}
	}
	insert_made(build);
}

/* ---- what was done, undone ---- */

static void forget_actors(struct lqn_invocation *it, guint were)
{
	if (it->actors && were == 0) {
		g_ptr_array_free(g_steal_pointer(&it->actors), TRUE);
	} else if (it->actors) {
		g_ptr_array_set_size(it->actors, (gint) were);
	}
}

static void undo_join(const struct before *before)
{
	own_arcs(before->part->arcs, before->part);
	*(before->cut ? &before->cut->next : &before->it->arcs) = NULL;
	if (before->last_lock) {
		before->last_lock->next = NULL;
	}
	before->part->into = NULL;
	forget_actors(before->it, before->actors);
}

static void undo_split(const struct before *before)
{
	before->cut->next = before->rest;
	own_arcs(before->rest, before->it);
}

void lqn_build_ungroup(struct lqn_build *build)
{
	struct lqn_regroup *regroup = build->regroup;

	if (!regroup) {
		return;
	}
	for (guint i = regroup->done->len; i > 0; i--) {
		const struct before *before = &g_array_index(regroup->done, struct before, i - 1);
		GPtrArray *actors;

		if (before->part) {
			undo_join(before);
		} else {
			undo_split(before);
		}
		actors = before->it->actors;
		*before->it = before->was;
		before->it->actors = actors;
	}
	if (regroup->invocations) {
		g_ptr_array_unref(build->a->invocations);
		build->a->invocations = regroup->invocations;
	}
	g_array_unref(regroup->done);
	g_ptr_array_unref(regroup->made);
	g_free(regroup);
	build->regroup = NULL;
}
