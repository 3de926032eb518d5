/* SPDX-License-Identifier: MIT */

/*
 * Locks as tasks of multiplicity 1 on the host's processor. Only contended passages are seen: from the end of a wait for the
 * word to the wake of the next who waits (after a contended wait, giving it back always is a system call). Their
 * mean hold time is that of all, as measured on recorded runs with known locks. Of passages, one is
 * assumed per invocation of each entry that was seen to wait.
 */
#include "build.h"

#define SAMPLES_MIN 5		/* fewer passages say nothing */
#define HOLD_MIN_NS 20000	/* the lock of a condition variable's queue is held for 2 us: not a resource */

struct sum {
	struct lqn_word *word;
	struct lqn_party *host;
	uint64_t samples;
	double hold;
};

static struct sum *sum_of(GArray *sums, struct lqn_word *word, struct lqn_party *host)
{
	struct sum fresh = { word, host, 0, 0 };

	for (guint i = 0; i < sums->len; i++) {
		struct sum *sum = &g_array_index(sums, struct sum, i);

		if (sum->word == word && sum->host == host) {
			return sum;
		}
	}
	g_array_append_val(sums, fresh);
	return &g_array_index(sums, struct sum, sums->len - 1);
}

static struct lqn_lock_use *use_of(struct lqn_cluster *cluster, struct lqn_word *word)
{
	struct lqn_lock_use fresh = { .word = word };

	for (guint i = 0; i < cluster->locks->len; i++) {
		struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, i);

		if (use->word == word) {
			return use;
		}
	}
	g_array_append_val(cluster->locks, fresh);
	return &g_array_index(cluster->locks, struct lqn_lock_use, cluster->locks->len - 1);
}

/* The cluster whose invocation a passage belongs to; NULL: none in the model. */
static struct lqn_cluster *cluster_of(struct lqn_build *build, const struct lqn_hold_sample *sample)
{
	struct lqn_invocation *it = lqn_final(sample->invocation);
	struct lqn_cluster *cluster;

	if (!it || it->tail_of) {
		return NULL;
	}
	cluster = lqn_build_cluster_of(build, it);
	return cluster && cluster->entry ? cluster : NULL;
}

static void add_lock(struct lqn_build *build, const struct sum *sum, unsigned number)
{
	struct lqn_task *task = NULL;
	g_autofree char *wanted = g_strdup_printf("lock_%u", number);

	for (guint i = 0; i < build->a->samples->len; i++) {
		const struct lqn_hold_sample *sample = &g_array_index(build->a->samples, struct lqn_hold_sample, i);
		struct lqn_cluster *cluster;
		struct lqn_lock_use *use;

		if (!lqn_in_window(build, sample->begin) || sample->host != sum->host ||
				lqn_word_root(lqn_party_word(sample->host, sample->word)) != sum->word ||
				!(cluster = cluster_of(build, sample))) {
			continue;
		}
		use = use_of(cluster, sum->word);
		use->hold += (double) sample->hold / 1e9;
		use->cpu += (double) sample->cpu / 1e9;
		use->slept += (double) sample->slept / 1e9;
		use->samples++;
	}
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];
			struct lqn_lock_use *use;
			double latency = 0;

			if (!cluster->entry) {
				continue;
			}
			use = use_of(cluster, sum->word);
			if (use->samples == 0) {
				g_array_set_size(cluster->locks, cluster->locks->len - 1);
				continue;
			}
			use->hold /= use->samples;
			use->cpu /= use->samples;
			use->slept /= use->samples;
			for (guint m = 0; m < cluster->members->len; m++) {
				latency += (double) ((struct lqn_invocation *) cluster->members->pdata[m])->lock_latency;
			}
			use->latency = latency / cluster->members->len / 1e9;
			if (!task) {
				task = lqn_processor_add_task(build->host_processors->pdata[sum->host->number],
					lqn_build_name(build, wanted), LQN_TASK_LOCK, LQN_SCHED_FCFS, 1);
			}
			{
				g_autofree char *entry = g_strdup_printf("%s_%s", task->name, cluster->entry->name);

				use->entry = lqn_task_add_entry(task, lqn_build_name(build, entry));
			}
			/*
			 * Sleeps inside are the section's; the latency of who waited for it too: nobody holds the lock
			 * meanwhile, yet it passes on no faster.
			 */
			use->entry->phase[0].demand = MAX(use->cpu, 0);
			use->entry->phase[0].think = MAX(use->slept, 0) + use->latency;
			use->entry->invocations = cluster->members->len;
			use->entry->service = use->hold;
		}
	}
}

static gint by_word(gconstpointer a, gconstpointer b)
{
	const struct sum *x = a, *y = b;

	if (x->host != y->host) {
		return (int) x->host->number - (int) y->host->number;
	}
	return x->word->id < y->word->id ? -1 : x->word->id > y->word->id;
}

void lqn_build_locks(struct lqn_build *build)
{
	g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(struct sum));
	unsigned number = 0;

	for (guint i = 0; i < build->a->samples->len; i++) {
		const struct lqn_hold_sample *sample = &g_array_index(build->a->samples, struct lqn_hold_sample, i);

		if (lqn_in_window(build, sample->begin)) {
			struct sum *sum = sum_of(sums,
				lqn_word_root(lqn_party_word(sample->host, sample->word)), sample->host);

			sum->samples++;
			sum->hold += (double) sample->hold;
		}
	}
	g_array_sort(sums, by_word);
	for (guint i = 0; i < sums->len; i++) {
		const struct sum *sum = &g_array_index(sums, struct sum, i);

		if (sum->samples >= SAMPLES_MIN && sum->hold / (double) sum->samples >= HOLD_MIN_NS) {
			add_lock(build, sum, ++number);
		}
	}
}
