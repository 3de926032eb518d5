/* SPDX-License-Identifier: MIT */

/*
 * Locks as tasks on the host's processor, and what lets in several at a time, a semaphore or a pool of connections, as one of
 * as many threads as it was seen to let in (permits_of). Only contended passages are seen: from the end of a wait for the
 * word to the wake of the next who waits (after a contended wait, giving it back always is a system call). Their
 * mean hold time is that of all, as measured on recorded runs with known locks; how sure it is says its 95 % interval. How
 * many there are is the business of passages.c, what is done while a lock is held that of sections.c.
 */
#include "build.h"

#include <math.h>

#define SAMPLES_MIN 5		/* fewer passages say nothing */
/*
 * The lock of a condition variable's queue is held for 2 us: not a resource. The median says so, which one holder that is
 * preempted does not change.
 */
#define HOLD_MIN_NS 20000
/*
 * A mutex is given back by whoever has it, in the request for which it was taken. The word of a condition variable that threads
 * hand round, as that of an interpreter's lock is, looks alike, but is woken when it happens to be waited for.
 */
#define BROKEN_MAX 0.1
/* Of the time of the requests that wait for it: what makes no difference to them is left out, as a queue's own lock … */
#define WAIT_SHARE_MIN 0.01
/* … unless it is held for so much of their time that it will, with more of them. */
#define HOLD_SHARE_MIN 0.05

#define SHARED_MIN 0.05		/* of the passages begin beside others: fewer are for lost events */
#define SEEN_TWICE 2		/* so many at once: more than once, of what lets in several */
/* One wake lets several in: these are readers, and there are writers as well. */
#define CROWDS_MAX 0.05

struct passage {
	const struct lqn_hold_sample *sample;	/* borrowed */
	struct lqn_word *word;
};

struct lqn_lock_use *lqn_lock_use_of(const struct lqn_cluster *cluster, const struct lqn_word *word)
{
	guint low = 0, high = cluster->locks->len;

	while (low < high) {
		guint middle = (low + high) / 2;
		struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, middle);

		if (use->word == word) {
			return use;
		}
		if (use->word->id < word->id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return NULL;
}

struct lqn_lock_use *lqn_lock_waited_for(const struct lqn_cluster *cluster, const struct lqn_invocation *it, uint64_t word)
{
	return word ? lqn_lock_use_of(cluster, lqn_word_root(lqn_party_word(it->actor->host, word))) : NULL;
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

/* Passages of the window, by host, lock, and hold time; those that are known in part behind the others. */
static gint by_lock(gconstpointer a, gconstpointer b)
{
	const struct passage *x = a, *y = b;

	if (x->sample->host != y->sample->host) {
		return (int) x->sample->host->number - (int) y->sample->host->number;
	}
	if (x->word != y->word) {
		return x->word->id < y->word->id ? -1 : 1;
	}
	if (x->sample->partial != y->sample->partial) {
		return x->sample->partial ? 1 : -1;
	}
	return x->sample->hold < y->sample->hold ? -1 : x->sample->hold > y->sample->hold;
}

static GArray *sort_passages(const struct lqn_build *build)
{
	GArray *passages = g_array_new(FALSE, FALSE, sizeof(struct passage));

	for (guint i = 0; i < build->a->samples->len; i++) {
		const struct lqn_hold_sample *sample = &g_array_index(build->a->samples, struct lqn_hold_sample, i);
		struct passage passage = { sample, lqn_word_root(lqn_party_word(sample->host, sample->word)) };

		if (lqn_in_window(build, sample->begin)) {
			g_array_append_val(passages, passage);
		}
	}
	g_array_sort(passages, by_lock);
	return passages;
}

/* What a lock costs those who wait for it. */
struct stake {
	double waited, busy;		/* ns; busy: all time of the entries whose invocations wait */
	double requests;		/* of these entries */
	const struct lqn_cluster *last;	/* that was counted */
};

static void add_stakes(GHashTable *stakes, const struct lqn_cluster *cluster)
{
	double busy = 0;

	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];

		busy += (double) ((it->replied > 0 ? it->replied : it->end) - it->begin);
	}
	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];

		for (const struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
			struct lqn_word *word = lqn_word_root(lqn_party_word(it->actor->host, wait->word));
			struct stake *stake = g_hash_table_lookup(stakes, word);

			if (!stake) {
				stake = g_new0(struct stake, 1);
				g_hash_table_insert(stakes, word, stake);
			}
			stake->waited += (double) wait->wait;
			if (stake->last != cluster) {
				stake->busy += busy;
				stake->requests += cluster->members->len;
			}
			stake->last = cluster;
		}
	}
}

static GHashTable *count_stakes(const struct lqn_build *build)
{
	GHashTable *stakes = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);

	for (guint i = 0; i < build->services->len; i++) {
		const struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			add_stakes(stakes, service->clusters->pdata[k]);
		}
	}
	return stakes;
}

static bool matters(GHashTable *stakes, const struct passage *passages, guint n)
{
	const struct stake *stake = g_hash_table_lookup(stakes, passages->word);

	return n >= SAMPLES_MIN && passages[n / 2].sample->hold >= HOLD_MIN_NS && stake &&
		(stake->waited >= WAIT_SHARE_MIN * stake->busy ||
		(double) passages[n / 2].sample->hold * stake->requests >= HOLD_SHARE_MIN * stake->busy);
}

static gint by_number(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

/* How many hold the lock at once, at least: those that were seen to. */
static guint permits_of(const struct passage *passages, guint n)
{
	g_autofree int64_t *begins = g_new(int64_t, n), *ends = g_new(int64_t, n);
	g_autofree guint *beside = g_new0(guint, n + 1);	/* passages that began as one of so many */
	guint over = 0, permits = n;

	for (guint i = 0; i < n; i++) {
		begins[i] = passages[i].sample->begin;
		ends[i] = begins[i] + passages[i].sample->hold;
	}
	qsort(begins, n, sizeof(*begins), by_number);
	qsort(ends, n, sizeof(*ends), by_number);
	for (guint i = 0; i < n; i++) {
		while (ends[over] <= begins[i]) {
			over++;
		}
		beside[i + 1 - over]++;
	}
	if (n - beside[1] < MAX(SAMPLES_MIN, SHARED_MIN * n)) {
		return 1;
	}
	for (guint seen = beside[permits]; permits > 1 && seen < SEEN_TWICE; seen += beside[permits]) {
		permits--;
	}
	return permits;
}

/*
 * How many a lock lets in; 0: it is no resource. Who gives back a permit for which nobody waits just then does not tell the kernel:
 * so of what lets in several, passages may have no end, while a mutex that was waited for is always given back by a call.
 */
static guint lets_in(struct lqn_build *build, const struct passage *passages, guint n)
{
	const struct lqn_word *word = passages->word;
	guint permits = permits_of(passages, n);

	if ((double) word->crowds > CROWDS_MAX * (double) word->wakes) {
		lqn_build_note(build, "%s: word %" G_GUINT64_FORMAT " is held by several at a time and by one at another, as a "
			"read-write lock is: not in the model, which is too fast where it is waited for", passages->sample->host->name,
			word->id);
		return 0;
	}
	return permits > 1 || (double) word->broken <= BROKEN_MAX * (double) word->passages ? permits : 0;
}

/* Locks are added by their words, so that each cluster's are in order. */
static void add_passage(struct lqn_build *build, const struct passage *passage)
{
	const struct lqn_hold_sample *sample = passage->sample;
	struct lqn_cluster *cluster = cluster_of(build, sample);
	struct lqn_lock_use fresh = { .word = passage->word }, *use;
	double hold = (double) sample->hold / 1e9;
	bool late;

	if (!cluster) {
		return;
	}
	late = lqn_final(sample->invocation)->replied > 0 && sample->begin >= lqn_final(sample->invocation)->replied;
	use = lqn_lock_use_of(cluster, passage->word);
	if (!use) {
		g_array_append_val(cluster->locks, fresh);
		use = &g_array_index(cluster->locks, struct lqn_lock_use, cluster->locks->len - 1);
	}
	use->hold += hold;
	use->square += hold * hold;
	use->cpu += (double) sample->cpu / 1e9;
	use->slept += (double) sample->slept / 1e9;
	use->lag += (double) sample->latency / 1e9;
	use->disks += sample->disks;
	use->samples++;
	use->late += late;
	lqn_section_calls(build, cluster, use, sample);
}

static void finish_use(struct lqn_lock_use *use)
{
	double n = (double) use->samples;

	use->confidence = lqn_interval(use->hold, use->square, n);
	use->hold /= n;
	use->cpu /= n;
	use->slept /= n;
	use->lag /= n;
	use->disks /= n;
	use->passages = 1;
}

static void add_lock(struct lqn_build *build, const struct passage *passages, guint n, guint permits, unsigned number)
{
	g_autofree char *wanted = g_strdup_printf("lock_%u", number);
	struct lqn_task *task = NULL;

	for (guint i = 0; i < n; i++) {
		add_passage(build, &passages[i]);
	}
	/* entries in the order of the services that use them */
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];
			struct lqn_lock_use *use = cluster->locks->len > 0 ? lqn_lock_use_of(cluster, passages->word) : NULL;
			g_autofree char *entry = NULL;

			if (!use) {
				continue;
			}
			finish_use(use);
			if (!task) {
				task = lqn_processor_add_task(build->host_processors->pdata[service->host->number],
					lqn_build_name(build, wanted), LQN_TASK_LOCK, LQN_SCHED_FCFS, permits);
			}
			entry = g_strdup_printf("%s_%s", task->name, cluster->entry->name);
			use->entry = lqn_task_add_entry(task, lqn_build_name(build, entry));
		}
	}
}

/* Counts the invocations that waited for each of an entry's locks. */
static void count_waits(struct lqn_cluster *cluster)
{
	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];
		const struct lqn_lock_use *last = NULL;

		for (const struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
			struct lqn_lock_use *use = lqn_lock_waited_for(cluster, it, wait->word);

			if (use) {
				use->latency += (double) wait->latency / 1e9 / cluster->members->len;
				use->waits += use != last;
				last = use;
			}
		}
	}
}

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct lqn_taken *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void count_partial(struct lqn_build *build, const struct passage *passages, guint n)
{
	for (guint i = 0; i < n; i++) {
		struct lqn_cluster *cluster = cluster_of(build, passages[i].sample);
		struct lqn_lock_use *use = cluster ? lqn_lock_use_of(cluster, passages[i].word) : NULL;

		if (use) {
			use->partial++;
		}
	}
}

/* When the lock is known to be held, by one at a time. */
static GArray *when_held(const struct passage *passages, guint n)
{
	GArray *held = g_array_sized_new(FALSE, FALSE, sizeof(struct lqn_taken), n);
	int64_t until = INT64_MIN;

	for (guint i = 0; i < n; i++) {
		const struct lqn_hold_sample *sample = passages[i].sample;
		struct lqn_taken it = { sample->begin, sample->begin + sample->hold, sample->actor, sample->partial };

		g_array_append_val(held, it);
	}
	g_array_sort(held, by_begin);
	for (guint i = 0; i < n; i++) {
		struct lqn_taken *it = &g_array_index(held, struct lqn_taken, i);

		it->begin = MAX(it->begin, until);
		it->end = until = MAX(it->end, it->begin);
	}
	return held;
}

static void fill_entry(struct lqn_build *build, const struct lqn_cluster *cluster, const struct lqn_lock_use *use)
{
	struct lqn_entry *entry = use->entry;
	double n = use->passages * cluster->members->len;

	/*
	 * Sleeps inside are the section's; the latency of who waited for it too: nobody holds the lock meanwhile, yet it passes on
	 * no faster.
	 */
	entry->phase[0].demand = MAX(use->cpu, 0);
	entry->phase[0].think = MAX(use->slept + use->lag, 0) + use->latency / use->passages;
	entry->service = use->hold;
	entry->service_ci = use->confidence;
	entry->invocations = (uint64_t) (n + 0.5);
	entry->throughput = n / ((double) build->wall / 1e9);
	entry->task->throughput += entry->throughput;
	entry->label = g_strdup_printf("lock taken by %s, %" G_GUINT64_FORMAT " passages seen", cluster->entry->name, use->samples);
}

void lqn_build_locks(struct lqn_build *build)
{
	g_autoptr(GArray) all = sort_passages(build);
	g_autoptr(GHashTable) stakes = count_stakes(build);
	const struct passage *passages = (const struct passage *) (const void *) all->data;
	unsigned number = 0;
	guint n, whole, permits;

	for (guint i = 0; i < all->len; i += n) {
		for (n = whole = 0; i + n < all->len && passages[i + n].word == passages[i].word; n++) {
			whole += !passages[i + n].sample->partial;
		}
		permits = matters(stakes, &passages[i], whole) ? lets_in(build, &passages[i], whole) : 0;
		if (permits > 0) {
			add_lock(build, &passages[i], whole, permits, ++number);
		}
		if (permits == 1) {
			g_autoptr(GArray) held = when_held(&passages[i], n);

			count_partial(build, &passages[i + whole], n - whole);
			lqn_lock_passages(build, passages[i].word, held);
		}
	}
	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];

			if (cluster->locks->len == 0) {
				continue;
			}
			count_waits(cluster);
			for (guint l = 0; l < cluster->locks->len; l++) {
				fill_entry(build, cluster, &g_array_index(cluster->locks, struct lqn_lock_use, l));
			}
			lqn_section_nest(cluster);
		}
	}
}
