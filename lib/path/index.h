/* SPDX-License-Identifier: MIT */
#ifndef LQN_PATH_INDEX_H
#define LQN_PATH_INDEX_H

/*
 * Who worked on what, and for which request: what paths need of the analysis beside the time lines
 * of threads.
 */
#include "model/build.h"
#include "path/report.h"

struct lqn_path_index;

/* `build` and `report` are borrowed, and places made in the report. Free it before them. */
struct lqn_path_index *lqn_path_index_new(struct lqn_build *build, struct lqn_path_report *report);
void lqn_path_index_free(struct lqn_path_index *index);
struct lqn_analysis *lqn_path_index_analysis(const struct lqn_path_index *index);

/* The request that begins with this invocation is that of the report; `name`: of its operation. */
void lqn_path_index_add_root(struct lqn_path_index *index, const struct lqn_invocation *root,
	uint32_t number, const char *name);

/*
 * What a client's cycle is about: the span's name, else that of the first server's entry, or
 * of the server if it has but one; interned. NULL: none is known. *told: a span says so.
 */
const char *lqn_path_operation(struct lqn_path_index *index, const struct lqn_invocation *root,
	bool *told);
/* Operation or entry of an invocation; interned; NULL: the task has but one. */
const char *lqn_path_entry(struct lqn_path_index *index, struct lqn_invocation *work);

/* The latest work that a thread began before `ts`, merged into another or not; NULL: none. */
struct lqn_invocation *lqn_path_work_before(const struct lqn_path_index *index,
	struct lqn_actor *actor, int64_t ts);
/* Until when, at most `ts`, the thread was at that work and what came of it: it then waited idle. */
int64_t lqn_path_busy_until(const struct lqn_actor *actor, const struct lqn_invocation *work,
	int64_t ts);

/* What an invocation was begun by, if it is a message that lay in a broker; NULL: it is not. */
const struct lqn_delivery *lqn_path_lay(const struct lqn_path_index *index,
	const struct lqn_invocation *work);
/* Where in the calls of its request an invocation is. */
const struct lqn_path_place *lqn_path_place_of(struct lqn_path_index *index,
	struct lqn_invocation *work);
/* The root of a piece of work: the invocation that nobody has asked for. */
struct lqn_invocation *lqn_path_root_of(struct lqn_invocation *work);

/* A thread as one that stands in the way, with the request that it worked for at `ts`. */
struct lqn_path_by lqn_path_by_thread(struct lqn_path_index *index, struct lqn_actor *actor,
	int64_t ts);
/* The same for a piece of its work; NULL: for none. */
struct lqn_path_by lqn_path_by_work(struct lqn_path_index *index, const struct lqn_actor *actor,
	struct lqn_invocation *work);

/* A thread had a lock, for which it had waited before. */
struct lqn_path_hold {
	int64_t begin, end;		/* ns; end: it gave it back */
	struct lqn_actor *actor;
};
/* Those of a lock, struct lqn_path_hold by `end`; borrowed. NULL: none. */
const GArray *lqn_path_holds(const struct lqn_path_index *index, struct lqn_party *host,
	uint64_t word);

/* What a lock is called; interned. */
const char *lqn_path_lock_name(struct lqn_path_index *index, struct lqn_party *host, uint64_t word);

#endif
