/* SPDX-License-Identifier: MIT */

/*
 * The walk backwards. A frame is a thread and a stretch of time that it has to account for; a wait
 * in it is accounted for by who ended it, in a frame of its own which ends before. Thus the pieces
 * tile the whole, and what a waker did before the waiter began to wait is never on the path.
 */
#include "path/walk.h"

#define BEHIND_MAX 256		/* steps into what somebody else did; what is left is one piece */

int lqn_walk_interval(const struct lqn_actor *actor, int64_t ts)
{
	return (int) LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, begin, ts - 1) - 1;
}

static void add_too_long(struct lqn_path_walk *walk, const struct lqn_actor *actor, int64_t begin, int64_t end)
{
	lqn_walk_add(walk, actor, begin, end, LQN_PATH_OTHER, g_intern_static_string("chain too long"));
}

void lqn_walk_push(struct lqn_path_walk *walk, struct lqn_actor *actor, int64_t begin, int64_t end)
{
	const struct lqn_path_frame *from = walk->from;
	struct lqn_path_frame frame = { .actor = actor, .begin = begin, .end = end,
		.floor = INT64_MIN, .place = from ? from->place : NULL };

	if (begin >= end) {
		return;
	}
	if (walk->depth == LQN_FRAMES_MAX) {
		add_too_long(walk, actor, begin, end);
		return;
	}
	if (walk->index && !walk->behind) {
		frame.work = lqn_walk_answering(walk, actor, end);
		frame.work = frame.work ? frame.work : lqn_path_work_before(walk->index, actor, end);
		frame.floor = frame.work ? frame.work->begin : INT64_MIN;
		frame.request = lqn_final(frame.work);
		if (from && from->request && from->actor->unit == actor->unit) {
			frame.request = from->request;
		}
		if (frame.request) {
			frame.place = lqn_path_place_of(walk->index, frame.request);
		}
	}
	walk->frames[walk->depth++] = frame;
}

/*
 * The message that a wait was for, if it was sent after the waking and before the thread had a CPU:
 * the reader of a unix socket wakes the writer that already waits for the answer (there is room to
 * write), and who sends the answer then finds nobody to wake. NULL: the waking was for what the
 * wait was for.
 */
const struct lqn_receipt *lqn_walk_late_message(const struct lqn_actor *actor,
	const struct lqn_interval *wait)
{
	const struct lqn_receipt *receipt = wait->wake >= 0 && wait->call_begin > 0 ?
		lqn_actor_receipt(actor, wait->end) : NULL;

	return receipt && receipt->begin == wait->call_begin && receipt->sent > wait->wake &&
		receipt->sent < wait->end && receipt->sender ? receipt : NULL;
}

/* When a wait was really over. */
static int64_t wake_of(const struct lqn_actor *actor, const struct lqn_interval *wait)
{
	const struct lqn_receipt *late = lqn_walk_late_message(actor, wait);

	return late ? late->sent : wait->wake;
}

void lqn_walk_runnable(struct lqn_path_walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end)
{
	/* with a CPU idle for most of it, it was not the CPUs that it waited for */
	bool latency = 2 * wait->idle >= wait->end - MAX(wait->wake, wait->begin);
	struct lqn_actor *by = lqn_party_find_actor(actor->host, wait->after);
	struct lqn_path_piece *piece = lqn_walk_add(walk, actor, begin, end,
		latency ? LQN_PATH_WAKEUP : LQN_PATH_RUNNABLE, NULL);

	if (piece && by && walk->index && !latency) {
		piece->by = lqn_path_by_thread(walk->index, by, wait->end);
	}
}

/*
 * Who came in a thread's place at it->begin, if it was for the same request: what he works on; NULL:
 * not so. *until: when he left the CPU or had answered.
 */
static struct lqn_invocation *served_by(const struct lqn_path_walk *walk, struct lqn_actor *by,
	const struct lqn_interval *it, int64_t *until)
{
	struct lqn_invocation *work = walk->index && !walk->behind && by ?
		lqn_path_work_before(walk->index, by, it->begin + 1) : NULL;
	guint next;

	if (!work || !walk->root || lqn_path_root_of(work) != walk->root) {
		return NULL;
	}
	*until = work->replied > 0 ? work->replied : work->end;
	next = LQN_COUNT_UNTIL(by->intervals, struct lqn_interval, begin, it->begin);
	if (next < by->intervals->len) {
		*until = MIN(*until,
			g_array_index(by->intervals, struct lqn_interval, next).begin);
	}
	return work;
}

/*
 * Accounts for [begin, end) in which others ran in the thread's place since it->begin. A caller that
 * is put off its CPU by whom it has asked would wait for him anyway: his time is the request's.
 */
static void add_preempted(struct lqn_path_walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *it, int64_t begin, int64_t end)
{
	struct lqn_actor *by = lqn_party_find_actor(actor->host, it->by);
	int64_t until = begin;
	struct lqn_invocation *work = served_by(walk, by, it, &until);
	struct lqn_path_piece *piece;

	until = CLAMP(until, begin, end);
	piece = lqn_walk_add(walk, actor, until, end, LQN_PATH_PREEMPTED,
		by ? lqn_service_name(by) : NULL);
	if (piece && by && walk->index) {
		piece->by = lqn_path_by_thread(walk->index, by, it->begin + 1);
	}
	if (work) {
		lqn_walk_running(walk, by, begin, until, lqn_path_place_of(walk->index, work));
	}
}

/*
 * The first of the blocks of one call that has not returned in between: they are one wait, whose
 * first wakings were for nothing. Not so those that only what they wait for can end: a write waits
 * for its data, then for the journal.
 */
static int64_t wait_begin(const struct lqn_actor *actor, int index)
{
	const struct lqn_interval *it =
		&g_array_index(actor->intervals, struct lqn_interval, index);
	int64_t begin = it->begin;

	for (int i = index - 1; i >= 0 && it->call_begin > 0 && it->state != 2; i--) {
		const struct lqn_interval *earlier =
			&g_array_index(actor->intervals, struct lqn_interval, i);

		if (earlier->preempted ? earlier->begin < it->call_begin :
				earlier->call_begin != it->call_begin) {
			break;
		}
		if (!earlier->preempted) {
			if (earlier->state == 2) {
				break;
			}
			begin = earlier->begin;
		}
	}
	return begin;
}

/* True if what woke a thread at `ts` was done for the request that it then worked on. */
static bool woke_for(const struct lqn_path_walk *walk, struct lqn_actor *by, int64_t ts,
	struct lqn_invocation *request)
{
	struct lqn_invocation *work = lqn_path_work_before(walk->index, by, ts);

	return work && lqn_final(work) == request;
}

/*
 * A frame has come down to the begin of the invocation. What is left is the time in which the
 * request had been made and nobody worked on it: on its way, in a queue, or handed over inside the
 * process, where the thread that was woken for it need not be the one that took it. Before that it
 * was with who received it first or, if it was not made by who waits for the answer, with who
 * passed it on.
 */
static void below_floor(struct lqn_path_walk *walk, struct lqn_path_frame frame,
	const struct lqn_interval *wait)
{
	const struct lqn_receipt *message = lqn_actor_receipt(frame.actor, frame.floor);
	struct lqn_actor *from = message && message->sent < frame.floor ? message->sender : NULL;
	struct lqn_invocation *request = frame.request;
	bool other = lqn_final(frame.work) != request;
	bool handed_over = other ||
		(request->actor != frame.actor && request->actor->unit == frame.actor->unit);
	int64_t end = frame.end, sent = message ? message->sent : 0;
	const struct lqn_delivery *lay = walk->behind ? NULL : lqn_path_lay(walk->index, lqn_final(frame.work));

	if (wait && wait->end == frame.floor && !wait->preempted && wait->wake >= 0) {
		struct lqn_actor *by = lqn_party_find_actor(frame.actor->host, wait->by);
		int64_t wake = MAX(wait->wake, frame.begin);

		lqn_walk_runnable(walk, frame.actor, wait, wake, end);
		end = MIN(end, wake);
		if (lay) {
			lqn_walk_delivered(walk, frame.actor, lay, frame.begin, end, true);
			return;
		}
		if (by && by != frame.actor && (by == from || (by->unit == frame.actor->unit &&
				(!handed_over || woke_for(walk, by, wake, request))))) {
			lqn_walk_push(walk, by, frame.begin, end);
			return;
		}
	}
	if (lay) {
		lqn_walk_delivered(walk, frame.actor, lay, frame.begin, end, false);
		return;
	}
	if (handed_over) {
		message = lqn_actor_receipt(request->actor, request->begin);
		from = request->actor;
		sent = message ? message->end : request->begin;
	}
	if (from && (from != frame.actor || other) && sent > frame.begin && sent < end) {
		lqn_walk_queued(walk, frame.actor, sent, end);
		lqn_walk_push(walk, from, frame.begin, sent);
		return;
	}
	lqn_walk_queued(walk, frame.actor, frame.begin, end);
}

/*
 * Two threads each of which was at what the other had asked it for send the path to and fro for ever: what calls what is a guess.
 * And no frame ends later than what has been accounted for: whatever the times of a guess, a walk comes to its end.
 */
static bool is_stuck(struct lqn_path_walk *walk, struct lqn_path_frame *frame)
{
	if (walk->behind) {
		return false;
	}
	frame->end = MAX(frame->begin, MIN(frame->end, walk->end));
	walk->stuck = frame->end == walk->end ? walk->stuck + 1 : 0;
	walk->end = frame->end;
	return walk->stuck > LQN_FRAMES_MAX;
}

/* What is left of a frame goes back on the stack. */
static void put_back(struct lqn_path_walk *walk, struct lqn_path_frame frame, int64_t end)
{
	frame.end = end;
	if (frame.end > frame.begin) {
		walk->frames[walk->depth++] = frame;
	}
}

/* Before the first interval that the trace shows of a thread it ran, if it had been seen; else nothing is known. */
static void before_intervals(struct lqn_path_walk *walk, const struct lqn_path_frame *frame)
{
	int64_t seen = MIN(frame->actor->seen, frame->end);

	lqn_walk_running(walk, frame->actor, seen, frame->end, frame->place);
	lqn_walk_unseen(walk, frame->actor, frame->begin, seen);
}

/* Accounts for the end of a frame by its thread's last interval in it, the one of that index; < 0: there is none. */
static void by_interval(struct lqn_path_walk *walk, struct lqn_path_frame frame, int index)
{
	const struct lqn_interval *it = index >= 0 ?
		&g_array_index(frame.actor->intervals, struct lqn_interval, index) : NULL;
	int64_t first = MAX(frame.begin, frame.floor), from;

	if (!it || it->end < frame.end) {
		from = MAX(it ? it->end : INT64_MIN, first);
		lqn_walk_running(walk, frame.actor, from, frame.end, frame.place);
		put_back(walk, frame, from);
	} else if (it->preempted) {
		from = MAX(it->begin, first);
		add_preempted(walk, frame.actor, it, from, frame.end);
		put_back(walk, frame, from);
	} else if (it->wake >= 0 && wake_of(frame.actor, it) < frame.end) {
		from = MAX(wake_of(frame.actor, it), frame.begin);
		lqn_walk_runnable(walk, frame.actor, it, from, frame.end);
		put_back(walk, frame, from);
	} else {
		/* who ended the wait comes first, on top of what is left */
		from = MAX(wait_begin(frame.actor, index), frame.begin);
		put_back(walk, frame, from);
		if (from < frame.end) {
			lqn_walk_blocked(walk, frame.actor, it, from, frame.end);
		}
	}
}

/*
 * Takes one step back in a frame; the frame is off the stack, and put back if something is left of
 * it.
 */
static void step(struct lqn_path_walk *walk, struct lqn_path_frame frame)
{
	int index = lqn_walk_interval(frame.actor, frame.end);
	bool unseen;

	walk->from = &frame;
	if (is_stuck(walk, &frame)) {
		add_too_long(walk, frame.actor, frame.begin, frame.end);
		return;
	}
	if (frame.lay) {
		lqn_walk_lay(walk, &frame);
		return;
	}
	if (lqn_walk_loop(walk, &frame)) {
		return;
	}
	unseen = index < 0 && frame.actor->seen > MAX(frame.begin, frame.floor) && frame.actor->seen != INT64_MAX;
	if (frame.end <= frame.floor) {
		below_floor(walk, frame, index < 0 ? NULL :
			&g_array_index(frame.actor->intervals, struct lqn_interval, index));
	} else if (unseen) {
		before_intervals(walk, &frame);
	} else {
		by_interval(walk, frame, index);
	}
}

void lqn_walk_behind(struct lqn_path_walk *walk, const struct lqn_path_piece *like,
	struct lqn_actor *actor, int64_t begin, int64_t end)
{
	const struct lqn_path_frame *from = walk->from;
	unsigned bottom = walk->depth, steps = 0;

	walk->behind = like;
	lqn_walk_push(walk, actor, begin, end);
	while (walk->depth > bottom) {
		const struct lqn_path_frame *top = &walk->frames[--walk->depth];

		if (steps++ < BEHIND_MAX) {
			step(walk, *top);
		} else {
			lqn_walk_add(walk, top->actor, top->begin, top->end, LQN_PATH_OTHER, NULL);
		}
	}
	walk->behind = NULL;
	walk->from = from;
}

/* `whole`: nothing is before what the thread works on at the end. */
static void walk_back(const struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t begin,
	int64_t end, struct lqn_path_index *index, GArray *pieces, bool whole)
{
	guint first = pieces->len;
	struct lqn_path_walk walk;

	/* member by member: the frames take longer to clear than the walk */
	walk.analysis = analysis;
	walk.index = index;
	walk.pieces = pieces;
	walk.depth = 0;
	walk.from = NULL;
	walk.behind = NULL;
	walk.root = NULL;
	walk.end = INT64_MAX;
	walk.stuck = 0;
	lqn_walk_push(&walk, actor, begin, end);
	if (walk.depth > 0) {
		walk.frames[0].floor = whole ? INT64_MIN : walk.frames[0].floor;
		walk.root = lqn_path_root_of(walk.frames[0].work);
	}
	while (walk.depth > 0) {
		step(&walk, walk.frames[--walk.depth]);
	}
	for (guint i = first, k = pieces->len; k > i + 1; i++) {
		struct lqn_path_piece *a = &g_array_index(pieces, struct lqn_path_piece, i);
		struct lqn_path_piece *b = &g_array_index(pieces, struct lqn_path_piece, --k);
		struct lqn_path_piece swap = *a;

		*a = *b;
		*b = swap;
	}
}

void lqn_path_walk(const struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t begin,
	int64_t end, struct lqn_path_index *index, GArray *pieces)
{
	walk_back(analysis, actor, begin, end, index, pieces, true);
}

void lqn_path_walk_work(const struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t begin,
	int64_t end, struct lqn_path_index *index, GArray *pieces)
{
	walk_back(analysis, actor, begin, end, index, pieces, false);
}
