/* SPDX-License-Identifier: MIT */

/*
 * Locks as tasks of multiplicity 1 on the host's processor. Only contended passages are seen: from the end of a wait for the
 * word to the wake of the next who waits (after a contended wait, giving it back always is a system call). Their
 * mean hold time is that of all, as measured on recorded runs with known locks. Of passages, one is
 * assumed per invocation of each entry that was seen to wait; but where an entry waits for several locks, and no invocation for
 * more than one of them, its invocations divide among the locks (divide_passages).
 */
#include "build.h"

#include <math.h>

#define SAMPLES_MIN 5		/* fewer passages say nothing */
#define HOLD_MIN_NS 20000	/* the lock of a condition variable's queue is held for 2 us: not a resource */

#define EXPECTED_MIN 5		/* invocations that should have waited for two locks, to conclude from there being none */
#define TOGETHER_MAX 0.1	/* of which may have */
#define NEAR_ONE 0.7		/* passages per invocation taken for one */

struct sum {
	struct lqn_word *word;
	struct lqn_party *host;
	uint64_t samples;
	double hold;
};

/* `places`: word -> its place in `sums`, from 1 on. */
static struct sum *sum_of(GArray *sums, GHashTable *places, struct lqn_word *word, struct lqn_party *host)
{
	struct sum fresh = { word, host, 0, 0 };
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, word));

	if (place == 0) {
		g_array_append_val(sums, fresh);
		place = sums->len;
		g_hash_table_insert(places, word, GUINT_TO_POINTER(place));
	}
	return &g_array_index(sums, struct sum, place - 1);
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

/* ns that an invocation was runnable after waits for a lock, beside an idle CPU. */
static double latency_for(const struct lqn_invocation *it, const struct lqn_word *word)
{
	double latency = 0;

	for (const struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
		if (lqn_word_root(lqn_party_word(it->actor->host, wait->word)) == word) {
			latency += (double) wait->latency;
		}
	}
	return latency;
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
				latency += latency_for(cluster->members->pdata[m], sum->word);
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
			use->entry->service = use->hold;
			use->passages = 1;
		}
	}
}

/* The lock that an invocation waited for, among those of its cluster; NULL: none. *several: for more than one. */
static struct lqn_lock_use *waited_for(const struct lqn_build *build, struct lqn_cluster *cluster,
	const struct lqn_invocation *it, bool *several)
{
	struct lqn_lock_use *found = NULL;

	*several = false;
	for (const struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
		struct lqn_word *word = lqn_word_root(lqn_party_word(it->actor->host, wait->word));

		for (guint i = 0; i < cluster->locks->len; i++) {
			struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, i);

			if (use->word == word) {
				*several |= found && found != use;
				found = use;
			}
		}
	}
	return found;
}

/*
 * Chance makes invocations that pass all locks of an entry wait for more than one of them now and then. If that never
 * happens though it should have, each invocation passes one lock. A passage waits when the lock is taken, that is
 * with probability rate * hold: so the rate of passages is the root of the rate of waits over the hold time. The estimates are
 * scaled to one passage an invocation where they come near that.
 */
static void divide_passages(struct lqn_build *build, struct lqn_cluster *cluster)
{
	double n = cluster->members->len, wall = (double) (build->end - build->begin) / 1e9;
	double together = 0, expected = 0, sum = 0;

	for (guint i = 0; i < cluster->members->len; i++) {
		bool several;
		struct lqn_lock_use *use = waited_for(build, cluster, cluster->members->pdata[i], &several);

		if (use) {
			use->waits++;
		}
		together += several;
	}
	for (guint i = 0; i < cluster->locks->len; i++) {
		struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, i);

		expected += sum * use->waits / n;
		sum += use->waits;
	}
	if (expected < EXPECTED_MIN || together > TOGETHER_MAX * expected) {
		return;
	}
	sum = 0;
	for (guint i = 0; i < cluster->locks->len; i++) {
		struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, i);

		use->passages = MIN(1, sqrt(use->waits / wall / use->hold) / (n / wall));
		sum += use->passages;
	}
	for (guint i = 0; sum > NEAR_ONE && i < cluster->locks->len; i++) {
		g_array_index(cluster->locks, struct lqn_lock_use, i).passages /= sum;
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
	g_autoptr(GHashTable) places = g_hash_table_new(g_direct_hash, g_direct_equal);
	double wall = (double) (build->end - build->begin) / 1e9;
	unsigned number = 0;

	for (guint i = 0; i < build->a->samples->len; i++) {
		const struct lqn_hold_sample *sample = &g_array_index(build->a->samples, struct lqn_hold_sample, i);

		if (lqn_in_window(build, sample->begin)) {
			struct sum *sum = sum_of(sums, places,
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
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];

			if (cluster->locks->len > 1) {
				divide_passages(build, cluster);
			}
			for (guint l = 0; l < cluster->locks->len; l++) {
				struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, l);

				use->entry->invocations = (uint64_t) (use->passages * cluster->members->len + 0.5);
				use->entry->throughput = use->passages * cluster->members->len / wall;
				use->entry->task->throughput += use->entry->throughput;
			}
		}
	}
}
