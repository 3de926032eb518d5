/* SPDX-License-Identifier: MIT */

/* Waits as such: who sleeps, and who waits for a disk. */
#include "internal.h"

#include "layout/record.h"

/*
 * A worker may have been handed something of which only its answer will tell whose it is. A wait in the middle of the
 * work must find a context to be counted in, that began when the thread came back from its idle wait.
 */
static bool is_work(const struct lqn_actor *actor, const struct lqn_event *ev)
{
	if (!lqn_call_waits_for_word(actor->last.call) || !actor->last.object ||
			lqn_word_is_lock(lqn_party_word(actor->host, actor->last.object))) {
		return false;
	}
	if (lqn_call_waits_for_word((uint8_t) ev->wait.call)) {
		return lqn_waits_for_lock(actor, (uint8_t) ev->wait.call, ev->wait.object);
	}
	return ev->wait.call == LQN_CALL_SLEEP || ev->wait.state == 2;
}

void lqn_on_wait(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->wait.thread);
	bool same_call = ev->wait.call_begin && actor->last.call_begin == ev->wait.call_begin;

	if (ev->wait.open) {
		return;
	}
	if (!actor->current && actor->last.end > 0 && actor->unit->may_serve && is_work(actor, ev)) {
		lqn_context(a, actor, ev->wait.begin, ev->wait.cpu);
	}
	if (lqn_call_polls((uint8_t) ev->wait.call)) {
		lqn_pause(actor, ev->wait.begin,
			ev->wait.call == LQN_CALL_EPOLL_WAIT && ev->wait.object && ev->wait.object == actor->asked_at);
	}
	actor->call_blocked = (same_call ? actor->call_blocked : 0) + ev->wait.end - ev->wait.begin;
	actor->last.begin = ev->wait.begin;
	actor->last.wake = ev->wait.wake;
	actor->last.end = ev->wait.end;
	actor->last.cpu = ev->wait.cpu;
	actor->last.idle = ev->wait.idle;
	actor->last.call_begin = ev->wait.call_begin;
	actor->last.object = ev->wait.object;
	actor->last.call = (uint8_t) ev->wait.call;
	actor->last.cause = (uint8_t) ev->wait.cause;
}

void lqn_on_end(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->exit.thread);
	struct lqn_invocation *tail = actor->current;

	lqn_conclude(actor, ev->exit.cpu, ev->exit.at);
	if (tail) {
		lqn_final(tail)->last = true;
	}
}

void lqn_on_sleep(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->sleep.thread);
	struct lqn_invocation *cycle;

	lqn_unhanded_taken(a, actor, ev->sleep.begin, ev->sleep.cpu_begin);
	cycle = lqn_final(actor->current);
	if (!cycle || !cycle->anonymous || cycle->tail_of || cycle->origin == LQN_ORIGIN_REPLY ||
			(cycle->origin == LQN_ORIGIN_HANDOVER && actor->unit->has_served)) {
		return;		/* a worker may sleep within what was handed to it */
	}
	/* a client that sleeps has ended its cycle; the cycle's own end is its last reply */
	{
		int64_t end = cycle->end;
		bool answered = cycle->last_arc && cycle->last_arc->replied != 0;

		lqn_charge(actor, ev->sleep.cpu_begin, ev->sleep.begin);
		cycle->end = answered ? end : ev->sleep.begin;
	}
	actor->current = NULL;
}

void lqn_on_awake(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->sleep.thread);
	struct lqn_invocation *current = lqn_final(actor->current);
	int64_t blocked = actor->last.call_begin == ev->sleep.begin ? actor->call_blocked : 0;

	actor->woke_from_sleep = true;
	actor->awake_at = actor->last.call_begin == ev->sleep.begin ? actor->last.end : ev->sleep.end;
	actor->awake_cpu = actor->last.call_begin == ev->sleep.begin ? actor->last.cpu : ev->sleep.cpu_end;
	actor->absolute = ev->sleep.absolute;
	actor->slept += blocked;
	if (current) {
		current->delay[0] += blocked;
	}
}

void lqn_on_disk(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	const struct lqn_actor *actor = lqn_party_actor(host, ev->disk.thread);
	struct lqn_invocation *current = actor->current;

	if (current) {
		current = lqn_final(current);
		current->disk_ns[0] += ev->disk.waited;
		current->disks[0]++;
		current->device = ev->disk.device;
		current->latency += lqn_latency_in(actor, ev->disk.begin, 0);
	}
}
