/* SPDX-License-Identifier: MIT */

/* The pieces that a walk makes of a thread's time. */
#include "path/walk.h"

#include "layout/record.h"

/* A piece like walk->behind; one with the piece that follows it if the same was done in both. */
static void add_behind(struct lqn_path_walk *walk, const struct lqn_actor *actor, int64_t begin,
	int64_t end, enum lqn_path_kind kind)
{
	struct lqn_path_piece piece = *walk->behind, *next = walk->pieces->len == 0 ? NULL :
		&g_array_index(walk->pieces, struct lqn_path_piece, walk->pieces->len - 1);

	piece.begin = begin;
	piece.end = end;
	piece.by.doing = kind;
	piece.by.doing_task = lqn_service_name(actor);
	if (next && next->begin == end && next->thread == piece.thread &&
			next->kind == piece.kind && next->detail == piece.detail &&
			next->by.thread == piece.by.thread && next->by.doing == kind &&
			next->by.request == piece.by.request &&
			next->by.doing_task == piece.by.doing_task) {
		next->begin = begin;
	} else {
		g_array_append_val(walk->pieces, piece);
	}
}

struct lqn_path_piece *lqn_walk_add(struct lqn_path_walk *walk, const struct lqn_actor *actor,
	int64_t begin, int64_t end, enum lqn_path_kind kind, const char *detail)
{
	struct lqn_path_piece piece = {
		.begin = begin, .end = end, .thread = actor->key, .task = lqn_service_name(actor),
		.comm = actor->comm ? actor->comm : "", .detail = detail, .kind = kind,
		.host = actor->host->name, .place = walk->from ? walk->from->place : NULL,
	};

	if (begin >= end) {
		return NULL;
	}
	if (walk->behind) {
		add_behind(walk, actor, begin, end, kind);
		return NULL;
	}
	g_array_append_val(walk->pieces, piece);
	return &g_array_index(walk->pieces, struct lqn_path_piece, walk->pieces->len - 1);
}

static const char *interruption_name(const struct lqn_party *host, const struct lqn_interruption *it)
{
	static const char *const softirqs[] = { "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL",
		"TASKLET", "SCHED", "HRTIMER", "RCU" };
	const char *device = it->context == LQN_CTX_HARDIRQ ?
		g_hash_table_lookup(host->interrupts, GUINT_TO_POINTER(it->number)) : NULL;
	char text[64];

	if (it->context == LQN_CTX_SOFTIRQ && it->number < G_N_ELEMENTS(softirqs)) {
		g_snprintf(text, sizeof(text), "softirq %s", softirqs[it->number]);
	} else if (it->context == LQN_CTX_HARDIRQ) {
		g_snprintf(text, sizeof(text), "irq %u%s%s", it->number, device ? " " : "",
			device ? device : "");
	} else {
		return lqn_context_name(it->context);
	}
	return g_intern_string(text);
}

bool lqn_walk_interrupted(const struct lqn_actor *actor, int64_t begin, int64_t end,
	struct lqn_interruption *last, const char **name)
{
	const GArray *all = actor->interruptions;
	guint before = all ? LQN_COUNT_UNTIL(all, struct lqn_interruption, begin, end - 1) : 0;

	if (begin >= end || before == 0 ||
			g_array_index(all, struct lqn_interruption, before - 1).end <= begin) {
		return false;
	}
	*last = g_array_index(all, struct lqn_interruption, before - 1);
	*name = interruption_name(actor->host, last);
	last->begin = MAX(last->begin, begin);
	last->end = MIN(last->end, end);
	return true;
}

/* A piece in another place than the frame's. */
static void add_at(struct lqn_path_walk *walk, const struct lqn_actor *actor, int64_t begin,
	int64_t end, enum lqn_path_kind kind, const char *detail, const struct lqn_path_place *place)
{
	struct lqn_path_piece *piece = lqn_walk_add(walk, actor, begin, end, kind, detail);

	if (piece) {
		piece->place = place;
	}
}

/* On the path of a thread, as Trace Compass has it, running and being interrupted are one. */
void lqn_walk_running(struct lqn_path_walk *walk, const struct lqn_actor *actor, int64_t begin,
	int64_t end, const struct lqn_path_place *place)
{
	struct lqn_interruption it;
	const char *name;

	while (walk->index && lqn_walk_interrupted(actor, begin, end, &it, &name)) {
		add_at(walk, actor, it.end, end, LQN_PATH_CPU, NULL, place);
		add_at(walk, actor, it.begin, it.end, LQN_PATH_INTERRUPTED, name, place);
		end = it.begin;
	}
	add_at(walk, actor, begin, end, LQN_PATH_CPU, NULL, place);
}

void lqn_walk_unseen(struct lqn_path_walk *walk, const struct lqn_actor *actor, int64_t begin,
	int64_t end)
{
	struct lqn_path_piece *piece = lqn_walk_add(walk, actor, begin, end, LQN_PATH_UNKNOWN,
		g_intern_static_string("before the trace shows the thread"));

	if (piece) {
		piece->unseen = true;
	}
}
