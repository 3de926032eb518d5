/* SPDX-License-Identifier: MIT */

/*
 * One request in full: all the work that was done for it, on its path or beside, and what its
 * threads did meanwhile.
 */
#include "path/group.h"

#include <string.h>

#include "layout/layout.h"
#include "path/walk.h"

#define WORKS_MAX 4096		/* of one request, … */
#define STATES_MAX 16384	/* … and states of their threads */
#define PIECES_MAX 1024		/* works of one thread that are looked through for those merged */

struct detail {
	struct lqn_path_index *index;
	struct lqn_request_path *path;
	GHashTable *seen;	/* invocations whose calls have been followed */
};

static int64_t end_of(const struct lqn_invocation *work)
{
	return MAX(work->begin, MAX(work->end, work->replied));
}

static void add_work(struct detail *d, const struct lqn_invocation *part,
	struct lqn_invocation *whole, int64_t slack)
{
	struct lqn_path_work work = {
		.begin = part->begin, .end = MIN(end_of(part), d->path->end),
		.thread = part->actor->key, .host = part->actor->host->name,
		.task = lqn_service_name(part->actor),
		.comm = part->actor->comm ? part->actor->comm : "",
		.entry = lqn_path_entry(d->index, whole), .slack = slack,
	};

	if (work.begin < work.end && d->path->works->len < WORKS_MAX) {
		g_array_append_val(d->path->works, work);
	}
}

/* What other threads did of the invocation. */
static void add_merged(struct detail *d, struct lqn_invocation *whole)
{
	for (guint i = 0; whole->actors && i < whole->actors->len; i++) {
		struct lqn_actor *actor = whole->actors->pdata[i];
		int64_t ts = end_of(whole) + 1;

		for (int looked = 0; looked < PIECES_MAX; looked++) {
			struct lqn_invocation *part = lqn_path_work_before(d->index, actor, ts);

			if (!part || part->begin < d->path->begin) {
				break;
			}
			if (part != whole && lqn_final(part) == whole) {
				add_work(d, part, whole, -1);
			}
			ts = part->begin;
		}
	}
}

static int64_t answered(const struct lqn_arc *arc)
{
	const struct lqn_invocation *callee = lqn_final(arc->callee);

	return callee->replied > 0 ? MIN(callee->replied, arc->replied) : arc->replied;
}

/*
 * ns by which a call could have been answered later without its caller noticing: until the last
 * answer to one of those that were made beside it. -1: there is none, or it is the last.
 */
static int64_t slack_of(const struct lqn_arc *arc)
{
	int64_t last = answered(arc);

	if (arc->kind != LQN_SYNC || arc->replied <= 0) {
		return -1;
	}
	for (const struct lqn_arc *other = arc->caller->arcs; other; other = other->next) {
		if (other != arc && other->callee && other->kind == LQN_SYNC &&
				other->replied > 0 && other->sent < answered(arc) &&
				answered(other) > arc->sent) {
			last = MAX(last, answered(other));
		}
	}
	return last > answered(arc) ? last - answered(arc) : -1;
}

/* The invocation, what it called, and so on; callers come first. */
static void follow(struct detail *d, struct lqn_invocation *root)
{
	GQueue open = G_QUEUE_INIT;
	struct lqn_invocation *work;

	add_work(d, root, root, -1);
	g_hash_table_add(d->seen, root);
	g_queue_push_tail(&open, root);
	while ((work = g_queue_pop_head(&open))) {
		add_merged(d, work);
		for (const struct lqn_arc *arc = work->arcs; arc; arc = arc->next) {
			struct lqn_invocation *callee = lqn_final(arc->callee);

			if (callee && !arc->gone && g_hash_table_size(d->seen) < WORKS_MAX &&
					g_hash_table_add(d->seen, callee)) {
				add_work(d, callee, callee, slack_of(arc));
				g_queue_push_tail(&open, callee);
			}
		}
	}
}

/* ---- states ---- */

static void add_state(struct detail *d, const struct lqn_actor *actor, int64_t begin, int64_t end,
	enum lqn_path_kind kind, const char *detail)
{
	struct lqn_path_state state = { begin, end, actor->key, actor->host->name, detail, kind };

	if (begin < end && d->path->states->len < STATES_MAX) {
		g_array_append_val(d->path->states, state);
	}
}

static void add_wait(struct detail *d, struct lqn_actor *actor, const struct lqn_interval *it,
	int64_t begin, int64_t end)
{
	int64_t wake = CLAMP(it->wake >= 0 ? it->wake : it->end, begin, end);
	bool latency = 2 * it->idle >= it->end - MAX(it->wake, it->begin);
	enum lqn_path_kind kind = LQN_PATH_OTHER;
	const char *detail = it->call ? lqn_call_name((enum lqn_call) it->call) : NULL;

	if (lqn_waits_for_lock(actor, it->call, it->object)) {
		kind = LQN_PATH_LOCK;
		detail = lqn_path_lock_name(d->index, actor->host, it->object);
	} else if (lqn_walk_is_disk(it)) {
		kind = LQN_PATH_DISK;
	} else if (it->cause == LQN_CAUSE_TIMER) {
		kind = LQN_PATH_SLEEP;
	} else if (it->cause == LQN_CAUSE_UNKNOWN) {
		kind = LQN_PATH_UNKNOWN;
	}
	add_state(d, actor, begin, wake, kind, detail);
	add_state(d, actor, wake, end, latency ? LQN_PATH_WAKEUP : LQN_PATH_RUNNABLE, NULL);
}

/* The thread had a CPU: it ran, or an interrupt did. The last are found first. */
static void add_running(struct detail *d, const struct lqn_actor *actor, int64_t begin, int64_t end)
{
	guint first = d->path->states->len;
	struct lqn_interruption it;
	const char *name;

	while (lqn_walk_interrupted(actor, begin, end, &it, &name)) {
		add_state(d, actor, it.end, end, LQN_PATH_CPU, NULL);
		add_state(d, actor, it.begin, it.end, LQN_PATH_INTERRUPTED, name);
		end = it.begin;
	}
	add_state(d, actor, begin, end, LQN_PATH_CPU, NULL);
	for (guint i = first, k = d->path->states->len; k > i + 1; i++) {
		struct lqn_path_state *a = &g_array_index(d->path->states, struct lqn_path_state, i);
		struct lqn_path_state *b = &g_array_index(d->path->states, struct lqn_path_state, --k);
		struct lqn_path_state swap = *a;

		*a = *b;
		*b = swap;
	}
}

/* What a thread did in [begin, end). */
static void add_states(struct detail *d, struct lqn_actor *actor, int64_t begin, int64_t end)
{
	guint i = LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, end, begin);
	int64_t at = begin;

	for (; i < actor->intervals->len && at < end; i++) {
		const struct lqn_interval *it = &g_array_index(
			actor->intervals, struct lqn_interval, i);
		int64_t from = CLAMP(it->begin, at, end), to = CLAMP(it->end, from, end);
		const struct lqn_actor *by = it->preempted ?
			lqn_party_find_actor(actor->host, it->by) : NULL;

		add_running(d, actor, at, from);
		if (it->preempted) {
			add_state(d, actor, from, to, LQN_PATH_PREEMPTED,
				by ? lqn_service_name(by) : NULL);
		} else {
			add_wait(d, actor, it, from, to);
		}
		at = to;
	}
	add_running(d, actor, at, end);
}

static gint by_thread(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_work *x = a, *y = b;

	if (x->host != y->host) {
		return strcmp(x->host, y->host);
	}
	if (x->thread != y->thread) {
		return x->thread < y->thread ? -1 : 1;
	}
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_work *x = a, *y = b;

	return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : by_thread(a, b);
}

static struct lqn_actor *actor_of(const struct lqn_analysis *a, const struct lqn_path_work *work)
{
	for (guint i = 0; i < a->hosts->len; i++) {
		struct lqn_party *host = a->hosts->pdata[i];

		if (host->name == work->host) {
			return lqn_party_find_actor(host, work->thread);
		}
	}
	g_assert_not_reached();
}

void lqn_path_detail(struct lqn_path_index *index, struct lqn_request_path *path,
	struct lqn_invocation *root)
{
	struct detail d = { .index = index, .path = path,
		.seen = g_hash_table_new(g_direct_hash, g_direct_equal) };
	GArray *works;

	path->works = works = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_work));
	path->states = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_state));
	follow(&d, root);
	g_hash_table_destroy(d.seen);
	g_array_sort(works, by_thread);
	for (guint i = 0; i < works->len; i++) {
		struct lqn_path_work *work = &g_array_index(works, struct lqn_path_work, i);

		if (i + 1 < works->len && work[1].thread == work->thread &&
				work[1].host == work->host) {
			/* a thread does one thing after the other */
			work->end = MIN(work->end, work[1].begin);
		}
		add_states(&d, actor_of(lqn_path_index_analysis(index), work), work->begin,
			work->end);
	}
	g_array_sort(works, by_begin);
}
