/* SPDX-License-Identifier: MIT */

/* Who has which lock, as far as contended passages show it, and who waits for one. */
#include "internal.h"

static struct lqn_hold *find_hold(struct lqn_actor *actor, uint64_t word)
{
	for (uint32_t i = 0; i < actor->n_holds; i++) {
		if (actor->holds[i].word == word) {
			return &actor->holds[i];
		}
	}
	return NULL;
}

bool lqn_got_lock(struct lqn_actor *actor, struct lqn_word *word, const struct lqn_event *ev)
{
	struct lqn_hold *hold = find_hold(actor, word->id);
	struct lqn_invocation *current = lqn_final(actor->current);
	bool again = hold && ev->futex_wait.cpu_end - hold->cpu <= LQN_FOUND_NOTHING_NS;

	if (hold && !again) {
		word->passages++;
		word->broken++;		/* it waits again, and has not given it back */
	}
	if (!hold && ev->futex_wait.blocked && actor->n_holds < LQN_HOLDS_MAX) {
		hold = &actor->holds[actor->n_holds++];
	}
	if (hold) {
		*hold = (struct lqn_hold) {
			.word = word->id, .since = ev->futex_wait.end, .cpu = ev->futex_wait.cpu_end, .slept = actor->slept,
			.invocation = actor->current, .disks = current ? current->disks[0] : 0,
			.latency = current ? current->latency : 0,
		};
	}
	return again;
}

/* Who wakes one that waits has had the lock since that one came, at least. */
static void gave_untold(struct lqn_analysis *a, const struct lqn_actor *actor, const struct lqn_word *word,
	const struct lqn_event *ev)
{
	struct lqn_actor *waiter = ev->futex_wake.woken ? lqn_party_actor(actor->host, ev->futex_wake.woken) : NULL;
	struct lqn_hold_sample sample = {
		.host = actor->host,
		.word = word->id,
		.invocation = actor->current,
		.actor = (struct lqn_actor *) actor,
		.partial = true,
	};

	if (waiter && waiter->came_at > 0 && waiter->came_at < ev->futex_wake.begin) {
		sample.begin = waiter->came_at;
		sample.hold = ev->futex_wake.begin - sample.begin;
		g_array_append_val(a->samples, sample);
		lqn_keep_add(&a->keep, sizeof(sample));
	}
}

void lqn_gave_lock(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_word *word, const struct lqn_event *ev)
{
	struct lqn_hold *hold = find_hold(actor, word->id);
	struct lqn_invocation *current = lqn_final(actor->current);

	if (!hold) {
		gave_untold(a, actor, word, ev);
		return;
	}
	word->passages++;
	if (lqn_final(hold->invocation) == current) {
		struct lqn_hold_sample sample = {
			.host = actor->host,
			.word = word->id,
			.invocation = hold->invocation,
			.actor = actor,
			.begin = hold->since,
			.hold = ev->futex_wake.begin - hold->since,
			.cpu = ev->futex_wake.cpu_begin - hold->cpu,
			.slept = actor->slept - hold->slept,
			.disks = current ? current->disks[0] - hold->disks : 0,
			.latency = current ? current->latency - hold->latency : 0,
		};

		g_array_append_val(a->samples, sample);
		lqn_keep_add(&a->keep, sizeof(sample));
	} else {
		word->broken++;
	}
	*hold = actor->holds[--actor->n_holds];
}

void lqn_waited_for_lock(struct lqn_actor *actor, uint64_t word, bool again, const struct lqn_event *ev)
{
	struct lqn_invocation *current = lqn_final(actor->current);
	struct lqn_lock_wait *wait;

	if (!current || !ev->futex_wait.blocked) {
		return;
	}
	wait = lqn_region_alloc0(&actor->host->keep->region, sizeof(*wait));
	lqn_keep_add(actor->host->keep, sizeof(*wait));
	wait->word = word;
	wait->at = ev->futex_wait.begin;
	wait->again = again;
	for (uint32_t i = 0; i < actor->n_holds && !wait->within; i++) {
		wait->within = actor->holds[i].word != word ? actor->holds[i].word : 0;
	}
	wait->wait = actor->last.call_begin == ev->futex_wait.begin ? actor->call_blocked : 0;
	wait->latency = lqn_latency_in(actor, ev->futex_wait.begin, 0);
	wait->next = current->locks;
	current->locks = wait;
	current->lock_latency += wait->latency;
}
