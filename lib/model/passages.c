/* SPDX-License-Identifier: MIT */

/*
 * How often an invocation passes a lock. Only contended passages are seen; but while a lock is known to be held, whoever
 * comes to it is seen to wait. So the work that invocations do meanwhile, by their CPU time, is a fair sample of all their
 * work outside of the lock, and the arrivals in it are all that there are: arrivals per CPU time, times the CPU time of an
 * invocation, are the passages. (Unlike the share of passages that waited this does not ask how the arrivals depend on who
 * is where.)
 *
 * Known to be held it is from the end of a wait to the wake of the next who waits, and if who gave it back had found it
 * free, from when the one he wakes had begun to wait.
 *
 * Where few are seen the law of large numbers gets a little help: a passage waits with the probability that the lock is
 * held, which is the rate of passages times the hold time. And as an operation is a program, numbers that a program would
 * have go before others, as far as chance allows: so many as there are disk operations, sleeps, or calls, if each passage
 * makes so many; and whole ones.
 */
#include "build.h"

#include <math.h>

/*
 * The second estimate, which neglects that nobody waits for himself, is 1 to 18 % too low on recorded locks. So it counts as
 * much as so many arrivals, whose chance error is 20 %.
 */
#define HELPING 25
#define TOLERANCE_MIN 0.1
#define INSIDE_MIN 3		/* fewer operations seen within passages are chance */
#define INSIDE_SHARE 0.02	/* of passages: likewise */
#define SLEEP_MIN_S 1e-5	/* per passage: likewise */

/* What is seen of a lock's use by an entry. */
struct tally {
	struct lqn_cluster *cluster;
	struct lqn_lock_use *use;
	double cpu, exposed;	/* s, outside of the lock as far as is known; of which while others are known to hold it */
	double waited, met;	/* arrivals that waited; of which while others were known to hold it */
};

/* The first of the intervals that ends after that. */
static guint first_after(const GArray *held, int64_t ts)
{
	return LQN_COUNT_UNTIL(held, struct lqn_taken, end, ts);
}

static double cpu_between(const struct lqn_actor *actor, int64_t begin, int64_t end)
{
	return begin < end ? (double) (lqn_actor_cpu_at(actor, end) - lqn_actor_cpu_at(actor, begin)) / 1e9 : 0;
}

/* A thread's work in the invocation's time; who hands over works for others as well, but no more so while the lock is held. */
static void add_work(struct tally *tally, const struct lqn_invocation *it, const struct lqn_actor *actor, const GArray *held)
{
	int64_t until = MAX(it->end, it->replied);

	tally->cpu += cpu_between(actor, it->begin, until);
	for (guint i = first_after(held, it->begin); i < held->len; i++) {
		const struct lqn_taken *by = &g_array_index(held, struct lqn_taken, i);

		if (by->begin >= until) {
			break;
		}
		if (by->actor != actor) {
			tally->exposed += cpu_between(actor, MAX(by->begin, it->begin), MIN(by->end, until));
		}
	}
}

static void add_invocation(struct tally *tally, const struct lqn_invocation *it, const struct lqn_word *word, const GArray *held)
{
	add_work(tally, it, it->actor, held);
	for (guint i = 0; it->actors && i < it->actors->len; i++) {
		const struct lqn_actor *actor = it->actors->pdata[i];

		if (actor->unit == it->actor->unit) {
			add_work(tally, it, actor, held);
		}
	}
	for (const struct lqn_lock_wait *wait = it->locks; wait; wait = wait->next) {
		guint i;

		if (wait->again || lqn_word_root(lqn_party_word(it->actor->host, wait->word)) != word) {
			continue;
		}
		i = first_after(held, wait->at);
		tally->waited++;
		tally->met += i < held->len && g_array_index(held, struct lqn_taken, i).begin < wait->at;
	}
}

static GArray *count(const struct lqn_build *build, const struct lqn_word *word, const GArray *held)
{
	GArray *tallies = g_array_new(FALSE, FALSE, sizeof(struct tally));

	for (guint i = 0; i < build->services->len; i++) {
		const struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct tally tally = { .cluster = service->clusters->pdata[k] };

			tally.use = tally.cluster->locks->len > 0 ? lqn_lock_use_of(tally.cluster, word) : NULL;
			for (guint m = 0; tally.use && m < tally.cluster->members->len; m++) {
				add_invocation(&tally, tally.cluster->members->pdata[m], word, held);
			}
			if (tally.use) {
				g_array_append_val(tallies, tally);
			}
		}
	}
	return tallies;
}

/*
 * Each passage of the lock makes `inside` of what an invocation makes `all`: what bounds the passages, and the number if all
 * of it is there.
 */
static double bound_by(const struct lqn_lock_use *use, double all, double inside, double bound)
{
	double seen = inside * (double) use->samples;

	return seen >= INSIDE_MIN && inside >= INSIDE_SHARE ? MIN(bound, all / inside) : bound;
}

static double bound_by_operations(struct lqn_build *build, const struct lqn_cluster *cluster, const struct lqn_lock_use *use)
{
	g_autoptr(GHashTable) calls = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
	double n = cluster->members->len, disks = 0, delay = 0, bound = INFINITY;
	GHashTableIter iter;
	gpointer dest, inside;

	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];

		disks += it->disks[0] + it->disks[1];
		delay += (double) (it->delay[0] + it->delay[1]) / 1e9;
		for (const struct lqn_arc *arc = use->inside ? it->arcs : NULL; arc; arc = arc->next) {
			struct lqn_cluster *to = lqn_build_callee(build, cluster, arc);

			if (to) {
				lqn_section_count(calls, to->entry);
			}
		}
	}
	bound = bound_by(use, disks / n, use->disks, bound);
	bound = use->slept >= SLEEP_MIN_S ? MIN(bound, delay / n / use->slept) : bound;
	if (use->inside) {
		g_hash_table_iter_init(&iter, use->inside);
		while (g_hash_table_iter_next(&iter, &dest, &inside)) {
			const double *all = g_hash_table_lookup(calls, dest);

			bound = bound_by(use, all ? *all / n : 0, *(const double *) inside / (double) use->samples, bound);
		}
	}
	return bound;
}

/* The number that a program would have, if one is as near as chance allows. */
static double plausible(double estimate, double tolerance, double bound)
{
	double whole = MAX(1, round(estimate));

	if (fabs(log(whole / estimate)) <= tolerance && bound >= (1 - TOLERANCE_MIN) * whole) {
		return whole;
	}
	return estimate > bound || fabs(log(bound / estimate)) <= tolerance ? bound : estimate;
}

void lqn_lock_passages(struct lqn_build *build, const struct lqn_word *word, const GArray *held)
{
	g_autoptr(GArray) tallies = count(build, word, held);
	double wall = (double) build->wall / 1e9, waiting = 0, known = 0, taken;

	for (guint i = 0; i < tallies->len; i++) {
		const struct tally *tally = &g_array_index(tallies, struct tally, i);

		waiting += tally->waited * tally->use->hold;
	}
	for (guint i = 0; i < held->len; i++) {
		const struct lqn_taken *it = &g_array_index(held, struct lqn_taken, i);

		/* who comes by chance comes in the middle */
		known += (double) (it->end - it->begin) * (it->partial ? 2 : 1) / 1e9;
	}
	taken = MAX(sqrt(waiting / wall), known / wall);
	for (guint i = 0; i < tallies->len; i++) {
		const struct tally *tally = &g_array_index(tallies, struct tally, i);
		struct lqn_lock_use *use = tally->use;
		double n = tally->cluster->members->len, helping = tally->waited / n / taken;
		double outside = MAX(tally->cpu - helping * n * use->cpu, 0.1 * tally->cpu);
		/* per s of CPU time outside of the lock */
		double rate = (tally->met + HELPING) / (tally->exposed + HELPING * outside / (helping * n));
		double estimate = rate * tally->cpu / n / (1 + rate * use->cpu);

		if (tally->waited > 0 && tally->cpu > 0) {
			use->passages = MAX(plausible(estimate, MAX(TOLERANCE_MIN, 2 / sqrt(tally->met + HELPING)),
				bound_by_operations(build, tally->cluster, use)), (double) (use->samples + use->partial) / n);
		}
	}
}
