/* SPDX-License-Identifier: MIT */

/*
 * Requests in an event loop. Its thread goes on with others while a request waits, so what it does then, and who wakes it,
 * is none of the request's path: that goes through what was called, or is a pause, back to where the thread left the
 * request.
 */
#include "path/walk.h"

/* Of what another answers than was asked, the way is that of who woke whom. */
static bool is_free(const struct lqn_arc *arc)
{
	return (arc->left || arc->at_loop) && arc->kind == LQN_SYNC && arc->replied > 0 && arc->callee && !arc->gone &&
		lqn_final(arc->callee)->replied > 0;
}

static bool in_loop(const struct lqn_invocation *work)
{
	if (work->pauses > 0) {
		return true;
	}
	for (const struct lqn_arc *arc = work->arcs; arc; arc = arc->next) {
		if (is_free(arc)) {
			return true;
		}
	}
	return false;
}

static bool worked_on(const struct lqn_invocation *work, struct lqn_actor *actor)
{
	return work->actor == actor || (work->actors && g_ptr_array_find(work->actors, actor, NULL));
}

struct lqn_invocation *lqn_walk_answering(const struct lqn_path_walk *walk, struct lqn_actor *actor, int64_t ts)
{
	const struct lqn_invocation *caller = walk->from ? lqn_final(walk->from->work) : NULL;
	struct lqn_invocation *best = NULL;
	int64_t last = INT64_MIN;

	for (const struct lqn_arc *arc = caller ? caller->arcs : NULL; arc; arc = arc->next) {
		struct lqn_invocation *callee = lqn_final(arc->callee);

		/* of several the one that was answered last before, or by, what is asked about */
		if (callee && arc->sent < ts && arc->sent > last && callee->begin < ts && (callee->replied <= 0 || callee->replied >= ts) &&
				worked_on(callee, actor) && in_loop(callee)) {
			last = arc->sent;
			best = callee;
		}
	}
	return best;
}

/* From the answer until the thread took it: it woke up for it, or was busy. */
static void taken(struct lqn_path_walk *walk, struct lqn_actor *actor, int64_t begin, int64_t end)
{
	int index = lqn_walk_interval(actor, end);
	const struct lqn_interval *it = index >= 0 ? &g_array_index(actor->intervals, struct lqn_interval, index) : NULL;

	if (it && !it->preempted && it->wake >= 0 && it->end > begin && it->end <= end) {
		int64_t wake = CLAMP(it->wake, begin, it->end);

		lqn_walk_running(walk, actor, it->end, end, walk->from->place);
		lqn_walk_runnable(walk, actor, it, wake, it->end);
		end = wake;
	}
	lqn_walk_queued(walk, actor, begin, end);
}

/* Puts what is before `end` of the frame back on the stack. */
static void put_back(struct lqn_path_walk *walk, struct lqn_path_frame frame, int64_t end)
{
	if (end > frame.begin) {
		frame.end = end;
		walk->frames[walk->depth++] = frame;
	}
}

/* The frame ends with the answer to a call. */
static void step_over_call(struct lqn_path_walk *walk, const struct lqn_path_frame *frame, const struct lqn_arc *arc)
{
	struct lqn_invocation *callee = lqn_final(arc->callee);
	int64_t sent = MAX(arc->sent, frame->begin);
	int64_t answered = CLAMP(callee->replied, sent, frame->end);

	taken(walk, frame->actor, answered, frame->end);
	put_back(walk, *frame, sent);
	lqn_walk_push(walk, callee->actor, sent, answered);
}

bool lqn_walk_loop(struct lqn_path_walk *walk, struct lqn_path_frame *frame)
{
	const struct lqn_invocation *work = walk->behind ? NULL : lqn_final(frame->work);
	const struct lqn_arc *call = NULL;
	int64_t resumed = INT64_MIN;

	if (!work || frame->end <= frame->floor || walk->depth + 2 > LQN_FRAMES_MAX || !in_loop(work)) {
		return false;
	}
	for (const struct lqn_arc *arc = work->arcs; arc; arc = arc->next) {
		if (is_free(arc) && arc->replied <= frame->end && arc->replied > resumed) {
			resumed = arc->replied;
			call = arc;
		}
	}
	if (work->paused_until > resumed && work->paused_until <= frame->end) {
		resumed = work->paused_until;
		call = NULL;
	}
	if (resumed <= MAX(frame->begin, frame->floor)) {
		return false;
	}
	if (frame->end > resumed) {
		/* from there on the thread was at it */
		put_back(walk, *frame, resumed);
		frame->begin = resumed;
		return false;
	}
	if (call) {
		step_over_call(walk, frame, call);
	} else {
		int64_t since = MAX(work->paused_from, frame->begin);

		lqn_walk_add(walk, frame->actor, since, frame->end, work->paused_queued ? LQN_PATH_QUEUE : LQN_PATH_SLEEP, NULL);
		put_back(walk, *frame, since);
	}
	return true;
}
