/* SPDX-License-Identifier: MIT */

/*
 * The walk backwards. A frame is a thread and a stretch of time that it has to account for; a wait
 * in it is accounted for by who ended it, in a frame of its own which ends before. Thus the pieces
 * tile the whole, and what a waker did before the waiter began to wait is never on the path.
 */
#include "path/path.h"

#include "layout/layout.h"

#define FRAMES_MAX 256

struct frame {
	struct lqn_actor *actor;
	int64_t begin, end;	/* what is left: the walk moves `end` */
	/* what the thread worked on at the end; NULL: nothing known */
	struct lqn_invocation *work;
	/* for which the path is here; inside a process a thread may work on another */
	struct lqn_invocation *request;
	int64_t floor;		/* begin of `work`; INT64_MIN: none */
};

struct walk {
	const struct lqn_analysis *analysis;
	GArray *pieces;			/* struct lqn_path_piece, latest first while walking */
	GHashTable *invocations;	/* NULL: the path is a thread's, not a request's */
	struct frame frames[FRAMES_MAX];
	unsigned depth;
	const struct frame *from;	/* the frame that is being accounted for; NULL at first */
};

/* The piece, to be told more of; NULL if it has no length. */
static struct lqn_path_piece *add(struct walk *walk, const struct lqn_actor *actor, int64_t begin,
	int64_t end, enum lqn_path_kind kind, const char *detail)
{
	struct lqn_path_piece piece = {
		.begin = begin, .end = end, .thread = actor->key, .task = lqn_service_name(actor),
		.comm = actor->comm ? actor->comm : "", .detail = detail, .kind = kind,
		.host = actor->host->name,
	};

	if (begin >= end) {
		return NULL;
	}
	g_array_append_val(walk->pieces, piece);
	return &g_array_index(walk->pieces, struct lqn_path_piece, walk->pieces->len - 1);
}

static void add_wait(struct walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end, enum lqn_path_kind kind,
	const char *detail)
{
	struct lqn_path_piece *piece = add(walk, actor, begin, end, kind, detail);

	if (piece) {
		piece->cause = wait->cause;
		piece->via = wait->via;
		piece->unseen = wait->state == 0;
	}
}

static void add_message(struct walk *walk, const struct lqn_actor *to, const struct lqn_actor *from,
	int64_t begin, int64_t end)
{
	struct lqn_path_piece *piece = add(walk, to, begin, end, LQN_PATH_NETWORK, NULL);

	if (piece) {
		piece->cause = LQN_CAUSE_NETWORK;
		piece->from = from->comm ? from->comm : "";
	}
}

/* Nothing is known of the thread here. */
static void add_unseen(struct walk *walk, const struct lqn_actor *actor, int64_t begin, int64_t end)
{
	struct lqn_path_piece *piece = add(walk, actor, begin, end, LQN_PATH_UNKNOWN,
		g_intern_static_string("before the trace shows the thread"));

	if (piece) {
		piece->unseen = true;
	}
}

static struct lqn_actor *find_actor(const struct lqn_actor *beside, uint64_t key)
{
	return key ? g_hash_table_lookup(beside->host->actors, &key) : NULL;
}

/* Index of the last interval that begins before `ts`; -1: none. */
static int interval_before(const struct lqn_actor *actor, int64_t ts)
{
	return (int) LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, begin, ts - 1) - 1;
}

/* What a thread worked on at `ts`; NULL: nothing known. */
static struct lqn_invocation *work_at(const struct walk *walk, struct lqn_actor *actor, int64_t ts)
{
	GPtrArray *mine = walk->invocations ?
		g_hash_table_lookup(walk->invocations, actor) : NULL;
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

/* The sender of what a thread waited for, by the first receive that ended after its wait. */
static const struct lqn_receipt *receipt_after(const struct lqn_actor *actor, int64_t ts)
{
	guint ended = actor->receipts ?
		LQN_COUNT_UNTIL(actor->receipts, struct lqn_receipt, end, ts - 1) : 0;

	return actor->receipts && ended < actor->receipts->len ?
		&g_array_index(actor->receipts, struct lqn_receipt, ended) : NULL;
}

/*
 * The message that a wait was for, if it was sent after the waking and before the thread had a CPU:
 * the reader of a unix socket wakes the writer that already waits for the answer (there is room to
 * write), and who sends the answer then finds nobody to wake. NULL: the waking was for what the
 * wait was for.
 */
static const struct lqn_receipt *late_message(const struct lqn_actor *actor,
	const struct lqn_interval *wait)
{
	const struct lqn_receipt *receipt = wait->wake >= 0 && wait->call_begin > 0 ?
		receipt_after(actor, wait->end) : NULL;

	return receipt && receipt->begin == wait->call_begin && receipt->sent > wait->wake &&
		receipt->sent < wait->end && receipt->sender ? receipt : NULL;
}

/* When a wait was really over. */
static int64_t wake_of(const struct lqn_actor *actor, const struct lqn_interval *wait)
{
	const struct lqn_receipt *late = late_message(actor, wait);

	return late ? late->sent : wait->wake;
}

static void push(struct walk *walk, struct lqn_actor *actor, int64_t begin, int64_t end)
{
	struct lqn_invocation *work;

	if (begin >= end) {
		return;
	}
	if (walk->depth == FRAMES_MAX) {
		add(walk, actor, begin, end, LQN_PATH_OTHER,
			g_intern_static_string("chain too long"));
		return;
	}
	work = work_at(walk, actor, end);
	walk->frames[walk->depth++] = (struct frame) {
		actor, begin, end, work,
		walk->from && walk->from->request && walk->from->actor->unit == actor->unit ?
			walk->from->request : work ? lqn_final(work) : NULL,
		work ? work->begin : INT64_MIN
	};
}

static const char *device_name(uint64_t device)
{
	g_autofree char *name = g_strdup_printf(
		"device %u:%u", (unsigned) (device >> 20), (unsigned) (device & 0xfffff));

	return g_intern_string(name);
}

static const char *held_by(const struct lqn_actor *holder)
{
	g_autofree char *text = g_strdup_printf(
		"held by %s", holder && holder->comm ? holder->comm : "nobody known");

	return g_intern_string(text);
}

static const char *cause_detail(const struct lqn_interval *wait)
{
	g_autofree char *text = NULL;

	if (wait->call == LQN_CALL_NONE) {
		return lqn_cause_name(wait->cause);
	}
	text = g_strdup_printf(
		"%s in %s", lqn_cause_name(wait->cause), lqn_call_name((enum lqn_call) wait->call));
	return g_intern_string(text);
}

static bool is_file_call(uint8_t call)
{
	return call == LQN_CALL_PREAD || call == LQN_CALL_PWRITE || call == LQN_CALL_FSYNC ||
		call == LQN_CALL_READ || call == LQN_CALL_WRITE || call == LQN_CALL_OPEN ||
		call == LQN_CALL_PATH || call == LQN_CALL_READV || call == LQN_CALL_WRITEV;
}

static bool is_lock(const struct lqn_actor *actor, const struct lqn_interval *wait)
{
	return lqn_call_waits_for_word(wait->call) && wait->object &&
		lqn_word_is_lock(lqn_party_word(actor->host, wait->object));
}

/*
 * A wait that a packet ended: who sent it, and when; NULL: not traced, or by a clock that is ahead
 * of ours.
 */
static struct lqn_actor *sender_of(const struct walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t end, int64_t *sent)
{
	const struct lqn_packet *arrival =
		wait->via ? lqn_packet_arrival(actor->host, wait->via) : NULL;
	const struct lqn_packet *origin =
		arrival ? lqn_packet_origin(walk->analysis, arrival) : NULL;
	const struct lqn_receipt *receipt;
	struct lqn_actor *by = NULL;

	if (origin) {
		by = origin->actor;
		*sent = origin->at;
	} else if ((receipt = receipt_after(actor, wait->end)) != NULL) {
		by = receipt->sender;
		*sent = receipt->sent;
	}
	return by && by != actor && *sent <= end ? by : NULL;
}

/* Accounts for [begin, end) in which `actor` was blocked; `wait` is the block that ended it. */
static void blocked(struct walk *walk, struct lqn_actor *actor, const struct lqn_interval *wait,
	int64_t begin, int64_t end)
{
	struct lqn_actor *by = find_actor(actor, wait->by);
	const struct lqn_receipt *late = late_message(actor, wait);
	int64_t sent;

	if (begin >= end) {
		return;
	}
	if (late) {
		push(walk, late->sender, begin, end);
		return;
	}
	if (walk->invocations && is_lock(actor, wait)) {
		add_wait(walk, actor, wait, begin, end, LQN_PATH_LOCK, held_by(by));
		return;
	}
	if (wait->cause == LQN_CAUSE_DISK || (wait->state == 2 && is_file_call(wait->call) &&
			wait->cause != LQN_CAUSE_HIDDEN)) {
		add_wait(walk, actor, wait, begin, end, LQN_PATH_DISK,
			device_name(wait->cause == LQN_CAUSE_DISK ? wait->via : 0));
		return;
	}
	if (wait->cause == LQN_CAUSE_NETWORK) {
		by = sender_of(walk, actor, wait, end, &sent);
		if (by) {
			add_message(walk, actor, by, MAX(begin, sent), end);
			push(walk, by, begin, MIN(end, sent));
		} else {
			add_wait(walk, actor, wait, begin, end, LQN_PATH_NETWORK,
				g_intern_static_string("sender not traced"));
		}
		return;
	}
	if (by && by != actor) {
		push(walk, by, begin, end);
		return;
	}
	switch (wait->cause) {
	case LQN_CAUSE_TIMER:
		add_wait(walk, actor, wait, begin, end, LQN_PATH_SLEEP, NULL);
		break;
	case LQN_CAUSE_UNKNOWN:
		add_wait(walk, actor, wait, begin, end, LQN_PATH_UNKNOWN, wait->state != 0 ? NULL :
			g_intern_static_string("the trace does not show what the thread did"));
		break;
	default:
		add_wait(walk, actor, wait, begin, end, LQN_PATH_OTHER, cause_detail(wait));
		break;
	}
}

/* Accounts for the time between a waking and the CPU. */
static void runnable(struct walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *it, int64_t begin, int64_t end)
{
	if (it->preempted) {
		const struct lqn_actor *by = find_actor(actor, it->by);

		add(walk, actor, begin, end, LQN_PATH_PREEMPTED, by ? lqn_service_name(by) : NULL);
	} else {
		/* with a CPU idle for most of it, it was not the CPUs that it waited for */
		add(walk, actor, begin, end, 2 * it->idle >= it->end - MAX(it->wake, it->begin) ?
			LQN_PATH_WAKEUP : LQN_PATH_RUNNABLE, NULL);
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

	for (int i = index - 1; i >= 0 && it->call_begin > 0; i--) {
		const struct lqn_interval *earlier =
			&g_array_index(actor->intervals, struct lqn_interval, i);

		if (earlier->preempted ? earlier->begin < it->call_begin :
				earlier->call_begin != it->call_begin) {
			break;
		}
		if (it->state == 2 || (!earlier->preempted && earlier->state == 2)) {
			break;
		}
		if (!earlier->preempted) {
			begin = earlier->begin;
		}
	}
	return begin;
}

/* True if what woke a thread at `ts` was done for the request that it then worked on. */
static bool woke_for(const struct walk *walk, struct lqn_actor *by, int64_t ts,
	struct lqn_invocation *request)
{
	struct lqn_invocation *work = work_at(walk, by, ts);

	return work && lqn_final(work) == request;
}

/*
 * A frame has come down to the begin of the invocation. What is left is the time in which the
 * request had been made and nobody worked on it: on its way, in a queue, or handed over inside the
 * process, where the thread that was woken for it need not be the one that took it. Before that it
 * was with who received it first or, if it was not made by who waits for the answer, with who
 * passed it on.
 */
static void below_floor(struct walk *walk, struct frame frame, const struct lqn_interval *wait)
{
	const struct lqn_receipt *message = receipt_after(frame.actor, frame.floor);
	struct lqn_actor *from = message && message->sent < frame.floor ? message->sender : NULL;
	struct lqn_invocation *request = frame.request;
	bool other = lqn_final(frame.work) != request;
	bool handed_over = other ||
		(request->actor != frame.actor && request->actor->unit == frame.actor->unit);
	int64_t end = frame.end, sent = message ? message->sent : 0;

	if (wait && wait->end == frame.floor && !wait->preempted && wait->wake >= 0) {
		struct lqn_actor *by = find_actor(frame.actor, wait->by);
		int64_t wake = MAX(wait->wake, frame.begin);

		runnable(walk, frame.actor, wait, wake, end);
		end = MIN(end, wake);
		if (by && by != frame.actor && (by == from || (by->unit == frame.actor->unit &&
				(!handed_over || woke_for(walk, by, wake, request))))) {
			push(walk, by, frame.begin, end);
			return;
		}
	}
	if (handed_over) {
		message = receipt_after(request->actor, request->begin);
		from = request->actor;
		sent = message ? message->end : request->begin;
	}
	if (from && (from != frame.actor || other) && sent > frame.begin && sent < end) {
		add(walk, frame.actor, sent, end, LQN_PATH_QUEUE, NULL);
		push(walk, from, frame.begin, sent);
		return;
	}
	add(walk, frame.actor, frame.begin, end, LQN_PATH_QUEUE, NULL);
}

/*
 * Takes one step back in a frame; the frame is off the stack, and put back if something is left of
 * it.
 */
static void step(struct walk *walk, struct frame frame)
{
	int index = interval_before(frame.actor, frame.end);
	const struct lqn_interval *it = index >= 0 ?
		&g_array_index(frame.actor->intervals, struct lqn_interval, index) : NULL;
	int64_t from;

	walk->from = &frame;
	if (frame.end <= frame.floor) {
		below_floor(walk, frame, it);
		return;
	}
	if (!it && frame.actor->seen > MAX(frame.begin, frame.floor) &&
			frame.actor->seen != INT64_MAX) {
		int64_t seen = MIN(frame.actor->seen, frame.end);

		add(walk, frame.actor, seen, frame.end, LQN_PATH_CPU, NULL);
		add_unseen(walk, frame.actor, frame.begin, seen);
		return;
	}
	if (!it || it->end < frame.end) {
		from = MAX(it ? it->end : INT64_MIN, MAX(frame.begin, frame.floor));
		add(walk, frame.actor, from, frame.end, LQN_PATH_CPU, NULL);
	} else if (it->preempted) {
		from = MAX(it->begin, MAX(frame.begin, frame.floor));
		runnable(walk, frame.actor, it, from, frame.end);
	} else if (it->wake >= 0 && wake_of(frame.actor, it) < frame.end) {
		from = MAX(wake_of(frame.actor, it), frame.begin);
		runnable(walk, frame.actor, it, from, frame.end);
		if (from == it->wake && from > frame.begin && it->wake == it->begin) {
			/* woken before it had left: the wait has no length */
			from = it->begin;
		}
	} else {
		from = MAX(wait_begin(frame.actor, index), frame.begin);
		if (from < frame.end) {
			int64_t end = frame.end;

			frame.end = from;
			if (from > frame.begin) {
				walk->frames[walk->depth++] = frame;
			}
			blocked(walk, frame.actor, it, from, end);
			return;
		}
	}
	frame.end = from;
	if (from > frame.begin) {
		walk->frames[walk->depth++] = frame;
	}
}

void lqn_path_walk(const struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t begin,
	int64_t end, GHashTable *invocations, GArray *pieces)
{
	guint first = pieces->len;
	struct walk walk;

	/* member by member: the frames take longer to clear than the walk */
	walk.analysis = analysis;
	walk.pieces = pieces;
	walk.invocations = invocations;
	walk.depth = 0;
	walk.from = NULL;
	push(&walk, actor, begin, end);
	if (walk.depth > 0) {
		/* the request's own thread has nothing before it */
		walk.frames[0].floor = INT64_MIN;
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
