/* SPDX-License-Identifier: MIT */

/*
 * Requests out of wake-ups alone, for traces without system calls. A thread woken by another process is taken for one that
 * waited on a word of shared memory that only it waits on, and the waker for who set it: futexes.c then finds out who asks
 * and who answers. A timer that wakes a thread is a sleep.
 *
 * A waking after which the thread blocks again at once, to be woken by the same process, told it nothing (room to write).
 */
#include "internal.h"

#define TOLD_NOTHING_NS 20000
#define PERSONAL (1ull << 63)	/* no word of the filter has such a number */

static bool told_nothing(struct lqn_party *host, const struct lqn_actor *actor, const struct lqn_actor *by,
	const struct lqn_event *ev)
{
	guint i = LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, begin, ev->wait.begin - 1);

	for (i++; i < actor->intervals->len; i++) {
		const struct lqn_interval *next = &g_array_index(actor->intervals, struct lqn_interval, i);

		if (!next->preempted) {
			return next->cpu - ev->wait.cpu - ev->wait.charged < TOLD_NOTHING_NS && next->by &&
				lqn_party_actor(host, next->by)->unit == by->unit;
		}
	}
	return false;
}

/* Who told the thread something by ending this wait; NULL: nobody. */
static struct lqn_actor *teller(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor, *by;

	if (host->has_calls || !ev->wait.by || ev->wait.wake < 0) {
		return NULL;
	}
	actor = lqn_party_actor(host, ev->wait.thread);
	by = lqn_party_actor(host, ev->wait.by);
	return actor->kernel || by->kernel || actor->unit == by->unit || told_nothing(host, actor, by, ev) ? NULL : by;
}

static uint64_t personal_word(const struct lqn_actor *actor)
{
	return PERSONAL | actor->key;
}

static struct lqn_event wait_on_word(struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_event did = { .type = LQN_EV_FUTEX_WAIT };

	did.futex_wait.thread = ev->wait.thread;
	did.futex_wait.object = personal_word(lqn_party_actor(host, ev->wait.thread));
	did.futex_wait.begin = ev->wait.begin;
	did.futex_wait.end = ev->wait.end;
	did.futex_wait.cpu_begin = did.futex_wait.cpu_end = ev->wait.cpu;
	did.futex_wait.blocked = 1;
	return did;
}

void lqn_on_chain_block(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_event did = { 0 };

	if (host->has_calls) {
		return;
	}
	if (ev->wait.cause == LQN_CAUSE_TIMER) {
		did.type = LQN_EV_SLEEP;
		did.sleep.thread = ev->wait.thread;
		did.sleep.begin = ev->wait.begin;
		did.sleep.end = ev->wait.end;
		did.sleep.cpu_begin = did.sleep.cpu_end = ev->wait.cpu;
		lqn_on_sleep(a, host, &did);
	} else if (teller(host, ev)) {
		did = wait_on_word(host, ev);
		lqn_on_futex_block(a, host, &did);
	}
}

void lqn_on_chain_wake(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *by = teller(host, ev);
	struct lqn_event did = { .type = LQN_EV_FUTEX_WAKE };

	if (by) {
		did.futex_wake.thread = by->key;
		did.futex_wake.woken = ev->wait.thread;
		did.futex_wake.object = did.futex_wake.woken_object =
			personal_word(lqn_party_actor(host, ev->wait.thread));
		did.futex_wake.begin = did.futex_wake.end = did.futex_wake.woken_at = ev->wait.wake;
		did.futex_wake.cpu_begin = did.futex_wake.cpu_end = lqn_actor_cpu_at(by, ev->wait.wake);
		lqn_on_futex_wake(a, host, &did);
	}
}

void lqn_on_chain_end(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_event did = { 0 };

	if (teller(host, ev)) {
		did = wait_on_word(host, ev);
		lqn_on_futex_wait(a, host, &did);
	} else if (!host->has_calls && ev->wait.cause == LQN_CAUSE_TIMER) {
		did.type = LQN_EV_SLEEP;
		did.sleep.thread = ev->wait.thread;
		did.sleep.begin = ev->wait.call_begin;
		did.sleep.end = ev->wait.end;
		did.sleep.cpu_end = ev->wait.cpu;
		lqn_on_awake(a, host, &did);
	}
}
