/* SPDX-License-Identifier: MIT */

/*
 * Demands, delays and calls of entries, as means per invocation begun in the window. CPU time of a task that belongs to no
 * invocation (start of threads, a client's call to sleep) is spread over its entries in proportion to
 * their demands, so that utilisation is true.
 */
#include "build.h"

#include <math.h>

/*
 * What follows the reply, computing, sleeping or waiting for devices, is a second phase if it is more than the way back from the
 * system call …
 */
#define PHASE2_SHARE 0.1
#define PHASE2_NS 10000
/* … and for a thread that ends with it, more than ending. */
#define PHASE2_NS_LAST 200000
/* Calls made more rarely, or fewer times among many invocations, are effects of the window's edges. */
#define CALL_MIN 0.002
#define CALLS_MIN 3
#define MANY 100
#define THINK_MIN 1e-5
#define NORMAL_95 1.96		/* standard deviations, for 95 % of a normal distribution */

struct sums {
	double cpu[2], send, delay[2], put_off[2], disk[2], paused, latency, lock_latency, service;
	double square[2], square_service;
	double tails;			/* as long as what follows replies at least is, if it is a phase */
	guint answered, last;
};

/* ns of [from, to) in which the invocation's thread had an answer to wait for that had not been sent yet. */
static int64_t awaited(const struct lqn_invocation *it, int64_t from, int64_t to)
{
	int64_t sum = 0;

	for (const struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
		int64_t answered = arc->replied > 0 && arc->callee ? lqn_final(arc->callee)->replied : 0;

		sum += MAX(0, MIN(to, answered) - MAX(from, arc->sent));
	}
	return sum;
}

/*
 * ns for which the thread was put off its CPU while another was idle, by phase: where the scheduler leaves a CPU idle it is not
 * computing that is waited for. (By whom it has asked, more often than not: then it is the answer.) `reached`: thread -> until when it
 * has been counted, for threads that have several in flight.
 */
static void add_put_off(struct sums *s, const struct lqn_invocation *it, GHashTable *reached)
{
	int64_t until = MAX(it->end, it->replied), *from = g_hash_table_lookup(reached, it->actor);
	const GArray *intervals = it->actor->intervals;

	if (!from) {
		from = g_new0(int64_t, 1);
		g_hash_table_insert(reached, it->actor, from);
	}
	*from = MAX(*from, it->begin);
	for (guint i = LQN_COUNT_UNTIL(intervals, struct lqn_interval, begin, *from); i < intervals->len; i++) {
		const struct lqn_interval *interval = &g_array_index(intervals, struct lqn_interval, i);

		if (interval->begin >= until && !interval->preempted) {
			break;		/* it has done, and waits for more */
		}
		until = MAX(until, interval->end);
		if (interval->preempted) {
			int64_t off = interval->end - interval->begin - awaited(it, interval->begin, interval->end);

			s->put_off[it->replied > 0 && interval->begin >= it->replied] += (double) CLAMP(off, 0, interval->idle);
		}
	}
	*from = MAX(*from, until);
}

static struct sums sum_up(const struct lqn_cluster *cluster)
{
	g_autoptr(GHashTable) reached = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
	struct sums s = { 0 };

	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];
		double all = (double) (it->cpu[0] + it->send_cpu);

		for (unsigned phase = 0; phase < 2; phase++) {
			s.cpu[phase] += (double) it->cpu[phase];
			s.delay[phase] += (double) it->delay[phase];
			s.disk[phase] += (double) it->disk_ns[phase];
		}
		s.square[0] += all * all;
		s.square[1] += (double) it->cpu[1] * (double) it->cpu[1];
		s.send += (double) it->send_cpu;
		s.paused += (double) it->paused;
		s.tails += it->last ? PHASE2_NS_LAST : PHASE2_NS;
		s.last += it->last;
		s.latency += (double) it->latency;
		add_put_off(&s, it, reached);
		s.lock_latency += (double) it->lock_latency;
		if (!it->request || (it->replied > 0 && !it->request->fetch)) {
			double service = (double) ((it->request ? it->replied : it->end) - it->begin);

			s.service += service;
			s.square_service += service * service;
			s.answered++;
		}
	}
	return s;
}

/* Second-phase calls: then the tail is a phase however short it is. */
static bool tail_calls(struct lqn_build *build, const struct lqn_cluster *cluster)
{
	guint calls = 0;

	for (guint i = 0; i < cluster->members->len; i++) {
		for (const struct lqn_arc *arc = ((struct lqn_invocation *) cluster->members->pdata[i])->arcs; arc;
				arc = arc->next) {
			struct lqn_cluster *to = arc->second_phase && arc->callee ?
				lqn_build_cluster_of(build, lqn_final(arc->callee)) : NULL;

			calls += to && to->entry;
		}
	}
	return calls > CALL_MIN * cluster->members->len;
}

static bool has_phase2(struct lqn_build *build, const struct lqn_cluster *cluster, const struct sums *s)
{
	double busy[2] = { s->cpu[0] + s->send + s->disk[0] + s->delay[0], s->cpu[1] + s->disk[1] + s->delay[1] };

	if (cluster->service->root) {
		return false;
	}
	return (busy[1] > PHASE2_SHARE * (busy[0] + busy[1]) && busy[1] > s->tails) ||
		(s->last < cluster->members->len && tail_calls(build, cluster));
}

double lqn_cvsq(double sum, double square, double n)
{
	double mean = sum / n;

	return n > 1 && mean > 0 ? MAX(0, (square - n * mean * mean) / (n - 1)) / (mean * mean) : -1;
}

double lqn_interval(double sum, double square, double n)
{
	return n > 1 ? NORMAL_95 * sqrt(MAX(0, square - sum * sum / n) / (n - 1) / n) : -1;
}

/* Calls of one kind to one entry, from one phase. */
struct tally {
	struct lqn_entry *dest;
	enum lqn_call_kind kind;
	unsigned phase;
	guint now;			/* of the invocation that is looked at */
	guint free, held;		/* of struct lqn_model_call */
	double sum, square;
	guint counts[LQN_COUNTS + 1];	/* of lqn_call_set_counts() */
};

static struct tally *tally_of(GArray *tallies, struct lqn_entry *dest, enum lqn_call_kind kind, unsigned phase)
{
	struct tally fresh = { .dest = dest, .kind = kind, .phase = phase };

	for (guint i = 0; i < tallies->len; i++) {
		struct tally *it = &g_array_index(tallies, struct tally, i);

		if (it->dest == dest && it->kind == kind && it->phase == phase) {
			return it;
		}
	}
	g_array_append_val(tallies, fresh);
	return &g_array_index(tallies, struct tally, tallies->len - 1);
}

static void count_calls(struct lqn_build *build, const struct lqn_cluster *cluster, const struct lqn_invocation *it, GArray *tallies)
{
	for (const struct lqn_arc *arc = it->arcs; arc; arc = arc->next) {
		struct lqn_cluster *to = lqn_build_callee(build, cluster, arc);

		if (to) {
			struct tally *tally = tally_of(tallies, to->entry, arc->kind,
				cluster->entry->has_phase2 && arc->second_phase);

			tally->now++;
			tally->free += arc->left || arc->at_loop;
			tally->held += arc->held;
		}
	}
	for (guint i = 0; i < tallies->len; i++) {
		struct tally *tally = &g_array_index(tallies, struct tally, i);

		tally->sum += tally->now;
		tally->square += (double) tally->now * tally->now;
		tally->counts[MIN(tally->now, LQN_COUNTS)]++;
		tally->now = 0;
	}
}

static void add_calls(struct lqn_build *build, struct lqn_cluster *cluster)
{
	g_autoptr(GArray) tallies = g_array_new(FALSE, FALSE, sizeof(struct tally));
	double n = cluster->members->len, least = n < MANY ? CALL_MIN : MAX(CALL_MIN, (CALLS_MIN - 0.5) / n);

	for (guint i = 0; i < cluster->members->len; i++) {
		count_calls(build, cluster, cluster->members->pdata[i], tallies);
	}
	for (guint i = 0; i < tallies->len; i++) {
		const struct tally *tally = &g_array_index(tallies, struct tally, i);
		struct lqn_model_call call = { .dest = tally->dest, .kind = tally->kind, .mean = tally->sum / n,
			.cvsq = lqn_cvsq(tally->sum, tally->square, n), .ci = lqn_interval(tally->sum, tally->square, n),
			.free = tally->free, .held = tally->held };

		lqn_call_set_counts(&call, tally->counts, cluster->members->len);
		if (call.mean >= least) {
			g_array_append_val(cluster->entry->phase[tally->phase].calls, call);
		}
	}
}

/* `demand` and `delay` are by phase. */
static void add_locks(struct lqn_cluster *cluster, double *demand, double *delay)
{
	for (guint i = 0; i < cluster->locks->len; i++) {
		const struct lqn_lock_use *use = &g_array_index(cluster->locks, struct lqn_lock_use, i);
		unsigned phase = cluster->entry->has_phase2 && use->late * 2 > use->samples;

		if (use->outer) {
			continue;	/* is within that one */
		}
		/* what goes on inside is the lock's now */
		demand[phase] -= use->passages * use->cpu;
		delay[phase] -= use->passages * (use->slept + use->lag);
		if (use->passages >= 1 && use->passages < LQN_COUNTS && use->passages == round(use->passages)) {
			lqn_entry_add_fixed_call(cluster->entry, phase, use->entry, (unsigned) use->passages);
		} else {
			lqn_entry_add_call(cluster->entry, phase, use->entry, LQN_SYNC, use->passages);
		}
	}
}

static void fill(struct lqn_build *build, struct lqn_cluster *cluster)
{
	struct lqn_service *service = cluster->service;
	struct lqn_entry *entry = cluster->entry;
	struct sums s = sum_up(cluster);
	double n = cluster->members->len, wall = (double) build->wall / 1e9;
	double demand[2] = { s.cpu[0], s.cpu[1] + s.send }, delay[2] = { s.delay[0], s.delay[1] + s.put_off[1] };

	entry->has_phase2 = has_phase2(build, cluster, &s);
	if (entry->has_phase2) {
		entry->phase[1].demand_cvsq = lqn_cvsq(s.cpu[1], s.square[1], n);
	} else {
		demand[0] += demand[1];
		delay[0] += delay[1];
		demand[1] = delay[1] = 0;
	}
	entry->phase[0].demand_cvsq = lqn_cvsq(s.cpu[0] + s.send, s.square[0], n);
	if (service->busy_ns > 0) {
		demand[entry->has_phase2] += service->loose_ns * (s.cpu[0] + s.cpu[1] + s.send) / service->busy_ns;
	}
	delay[0] = (service->root ? 0 : delay[0]) + s.put_off[0] + s.paused + s.latency + (cluster->locks->len > 0 ? 0 : s.lock_latency);
	for (unsigned phase = 0; phase < 2; phase++) {
		demand[phase] /= n * 1e9;
		delay[phase] /= n * 1e9;
	}
	add_locks(cluster, demand, delay);
	for (unsigned phase = 0; phase < 2; phase++) {
		entry->phase[phase].demand = MAX(demand[phase], 0);
		entry->phase[phase].think = delay[phase] > THINK_MIN ? delay[phase] : 0;
	}
	if (service->outside) {
		/* what its host's processors do is not known */
		entry->phase[0].demand = LQN_NEXT_TO_NOTHING;
		entry->phase[0].demand_cvsq = -1;
		entry->phase[0].think = service->root || s.answered == 0 ? 0 : s.service / s.answered / 1e9;
	}
	entry->invocations = cluster->members->len;
	entry->throughput = n / wall;
	entry->service = s.answered > 0 && !service->root ? s.service / s.answered / 1e9 : -1;
	entry->service_ci = lqn_interval(s.service, s.square_service, s.answered) / 1e9;
	entry->phase[0].demand_ci = lqn_interval(s.cpu[0] + s.send, s.square[0], n) / 1e9;
	if (entry->has_phase2) {
		entry->phase[1].demand_ci = lqn_interval(s.cpu[1], s.square[1], n) / 1e9;
	}
	add_calls(build, cluster);
}

/* Tasks without a bound on their threads that the solver cannot take as such get the bound that was seen. */
static void bound_threads(struct lqn_service *service)
{
	bool asynchronous = false, second_phase = false;

	if (service->task->sched != LQN_SCHED_INF) {
		return;
	}
	for (guint i = 0; i < service->clusters->len; i++) {
		const struct lqn_cluster *cluster = service->clusters->pdata[i];

		asynchronous |= cluster->entry && cluster->asked == LQN_ASKED_ASYNC;
		second_phase |= cluster->entry && cluster->entry->has_phase2;
	}
	if (asynchronous || second_phase) {
		service->task->sched = LQN_SCHED_FCFS;
		service->task->multiplicity = MIN(service->multiplicity, LQN_BOUND);
	}
}

void lqn_build_demands(struct lqn_build *build)
{
	double wall = (double) build->wall / 1e9;

	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];

			if (cluster->entry) {
				fill(build, cluster);
			}
		}
		bound_threads(service);
		service->task->throughput = service->members->len / wall;
		service->task->utilization = service->cpu_ns / 1e9 / wall;
		service->task->response = -1;
	}
}
