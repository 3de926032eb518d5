/* SPDX-License-Identifier: MIT */

/*
 * Helpers: threads that do something for a request of their process, and answer nobody. A worker that was idle, is woken by who
 * is at a request, and asks others, or computes, or writes, does that for the request, until it waits again where it was
 * woken. Who turns out to answer a request of its own has worked for that one instead (messages.c). If the request's thread is
 * woken by its helper in turn, it has waited for it; else the helper's work is a second phase.
 */
#include "internal.h"

/* The request that the thread works on, or has worked on until its answer, or helps. NULL: none that is known. */
static struct lqn_invocation *request_of(const struct lqn_actor *actor)
{
	struct lqn_invocation *work = actor->current;

	if (work && work->tail_of && !work->into) {
		work = work->tail_of;
	}
	work = lqn_final(work);
	work = work && work->helps ? lqn_final(work->helps) : work;
	return work && work->request ? work : NULL;
}

/* It has begun with a request, and neither answered nor left it. */
static bool is_at_request(const struct lqn_actor *actor)
{
	const struct lqn_invocation *current = actor->current;

	if (!current || (current->tail_of && !current->into)) {
		return false;
	}
	current = lqn_final(actor->current);
	return current->request && current->replied == 0 && current->conn && !lqn_end_is_one_way(current->conn);
}

void lqn_helper_woken(struct lqn_actor *actor, struct lqn_actor *worker, uint64_t word, int64_t ts)
{
	struct lqn_invocation *helper = actor->current, *request = request_of(actor);

	if (helper && helper->helps && request == request_of(worker)) {
		helper->waited_for = true;
	}
	if (request && is_at_request(worker) && request != request_of(worker)) {
		worker->let_go_at = ts;
	}
	if (!worker->current) {
		worker->helping = request;
		worker->helped_at = word;
	}
}

struct lqn_invocation *lqn_helper_takes(struct lqn_actor *worker)
{
	struct lqn_invocation *request = lqn_final(worker->helping);

	worker->helping = NULL;
	/* since then it has waited for something else */
	return lqn_call_waits_for_word(worker->last.call) ? request : NULL;
}

bool lqn_helper_is_done(const struct lqn_actor *worker, uint64_t word)
{
	const struct lqn_invocation *current = worker->current;

	return current->helps && !current->into && worker->helped_at == word && !lqn_awaits_answer(current);
}

void lqn_helper_joins(struct lqn_invocation *work)
{
	struct lqn_invocation *request = lqn_final(work->helps);
	bool second_phase = !work->waited_for;

	/* what has an open call may yet find out whose it is by its answer */
	if (work->into || request == work || request->gone || lqn_awaits_answer(work)) {
		return;
	}
	work->helps = NULL;
	request->cpu[second_phase] += work->cpu[0];
	request->latency += second_phase ? 0 : work->latency;
	lqn_hand_over(work, request, second_phase);
}
