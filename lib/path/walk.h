/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_WALK_H
#define LQN_PATH_WALK_H

/* Private to lib/path: the walk backwards, shared by path.c (steps), blocked.c (waits), loops.c, and pieces.c. */
#include "path/index.h"
#include "path/path.h"

#define LQN_FRAMES_MAX 256

/* A thread and a stretch of time that it has to account for. */
struct lqn_path_frame {
	struct lqn_actor *actor;
	int64_t begin, end;	/* what is left: the walk moves `end` */
	/* what the thread worked on at the end; NULL: nothing known */
	struct lqn_invocation *work;
	/* for which the path is here; inside a process a thread may work on another */
	struct lqn_invocation *request;
	int64_t floor;		/* begin of `work`; INT64_MIN: none */
	const struct lqn_path_place *place;
	/* not NULL: no thread accounts for it: a message lay in a broker, until it was delivered like this */
	const struct lqn_delivery *lay;
};

struct lqn_path_walk {
	const struct lqn_analysis *analysis;
	struct lqn_path_index *index;	/* NULL: the path is a thread's, not a request's */
	struct lqn_invocation *root;	/* whose path it is; NULL: nobody's that is known */
	GArray *pieces;			/* struct lqn_path_piece, latest first while walking */
	struct lqn_path_frame frames[LQN_FRAMES_MAX];
	unsigned depth;
	/* the frame that is being accounted for; NULL at first */
	const struct lqn_path_frame *from;
	/*
	 * Not NULL: what is walked is not the path but what somebody did while the path's thread
	 * waited for him. All of it are pieces like this one.
	 */
	const struct lqn_path_piece *behind;
	/* how many steps the path has not come further back than `end` */
	int64_t end;
	unsigned stuck;
};

/* pieces.c */
/*
 * The last interrupt that `actor` had on top of it within [begin, end), cut to that. False: none. *name: of the interrupt,
 * interned.
 */
bool lqn_walk_interrupted(const struct lqn_actor *actor, int64_t begin, int64_t end,
	struct lqn_interruption *last, const char **name);
/* The piece, to be told more of; NULL if it has no length or is behind another. */
struct lqn_path_piece *lqn_walk_add(struct lqn_path_walk *walk, const struct lqn_actor *actor,
	int64_t begin, int64_t end, enum lqn_path_kind kind, const char *detail);
/*
 * Accounts for [begin, end), in which the thread had its CPU, at a place that need not be the frame's: it ran, or an interrupt
 * did.
 */
void lqn_walk_running(struct lqn_path_walk *walk, const struct lqn_actor *actor, int64_t begin, int64_t end,
	const struct lqn_path_place *place);
/* Accounts for [begin, end), of which the trace does not show what the thread did. */
void lqn_walk_unseen(struct lqn_path_walk *walk, const struct lqn_actor *actor, int64_t begin, int64_t end);

/* path.c */
/* Puts a frame on the stack: `actor` has to account for [begin, end). */
void lqn_walk_push(struct lqn_path_walk *walk, struct lqn_actor *actor, int64_t begin,
	int64_t end);
/* Adds pieces like `like` that tile [begin, end) by what `actor` did then. */
void lqn_walk_behind(struct lqn_path_walk *walk, const struct lqn_path_piece *like,
	struct lqn_actor *actor, int64_t begin, int64_t end);
/* Accounts for [begin, end) between the waking of `wait` and the CPU. */
void lqn_walk_runnable(struct lqn_path_walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end);
/* Index of the last interval of a thread that begins before `ts`; -1: none. */
int lqn_walk_interval(const struct lqn_actor *actor, int64_t ts);
/*
 * The message that a wait was for, if it was sent after the waking and before the thread had a CPU.
 * NULL: the waking was for what the wait was for.
 */
const struct lqn_receipt *lqn_walk_late_message(const struct lqn_actor *actor,
	const struct lqn_interval *wait);

/* loops.c */
/*
 * What `actor`, an event loop, worked on at `ts` for the frame that is being accounted for, which waits for it; NULL: it is
 * none.
 */
struct lqn_invocation *lqn_walk_answering(const struct lqn_path_walk *walk, struct lqn_actor *actor, int64_t ts);
/*
 * If the frame's work is in an event loop that has taken it up again: true if that accounts for the end of the frame; else what is
 * before that is put back, and the frame begins there.
 */
bool lqn_walk_loop(struct lqn_path_walk *walk, struct lqn_path_frame *frame);

/* blocked.c */
/* Accounts for [begin, end) in which `actor` was blocked; `wait` is the block that ended it. */
void lqn_walk_blocked(struct lqn_path_walk *walk, struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end);
/* Whether a disk was waited for. A wait of state D that nobody is known to have ended is, in calls that read or write files. */
bool lqn_walk_is_disk(const struct lqn_interval *wait);
/* Accounts for [begin, end) in which a message lay in a channel that `actor` then took it out of. */
void lqn_walk_queued(struct lqn_path_walk *walk, struct lqn_actor *actor, int64_t begin,
	int64_t end);
/*
 * Accounts for [begin, end), at whose end `actor` has got what is delivered, from a broker in which it lay. `woken`: the end
 * is when the broker woke it; else it came to it then.
 */
void lqn_walk_delivered(struct lqn_path_walk *walk, struct lqn_actor *actor,
	const struct lqn_delivery *delivery, int64_t begin, int64_t end, bool woken);
/* Accounts for the time of a frame in which a message lay in a broker. */
void lqn_walk_lay(struct lqn_path_walk *walk, const struct lqn_path_frame *frame);

#endif
