/* SPDX-License-Identifier: MIT */

/*
 * What is in no task still uses the processors: it becomes a closed load of its own per host, for solvers refuse open load
 * beside closed load on a processor of several cores. And where the blocked time of the tasks' threads went.
 */
#include "build.h"

#include <string.h>

#define LOAD_MIN 0.001		/* CPUs */
#define SLICE 0.0005		/* s of CPU time a turn */
#define CUSTOMER_MAX 0.8	/* CPUs that one customer may use */
#define LISTED 20

struct share {
	const char *name;
	double cpus;
};

static gint by_cpus(gconstpointer a, gconstpointer b)
{
	const struct share *x = a, *y = b;

	return x->cpus != y->cpus ? (x->cpus > y->cpus ? -1 : 1) : strcmp(x->name, y->name);
}

static bool in_a_task(const struct lqn_build *build, const struct lqn_actor *actor)
{
	for (guint i = 0; i < build->services->len; i++) {
		const struct lqn_service *service = build->services->pdata[i];

		if (g_hash_table_contains(service->units, actor->unit)) {
			return true;
		}
	}
	return false;
}

static void add_share(GArray *shares, const char *name, double cpus)
{
	struct share share = { name, cpus };

	for (guint i = 0; i < shares->len; i++) {
		if (g_array_index(shares, struct share, i).name == name) {
			g_array_index(shares, struct share, i).cpus += cpus;
			return;
		}
	}
	g_array_append_val(shares, share);
}

static void add_load(struct lqn_build *build, const struct lqn_party *host, double load)
{
	unsigned customers = 1 + (unsigned) (load / CUSTOMER_MAX);
	g_autofree char *wanted = build->a->hosts->len > 1 ? g_strdup_printf("background_%s", host->name) :
		g_strdup("background");
	struct lqn_task *task = lqn_processor_add_task(build->host_processors->pdata[host->number],
		lqn_build_name(build, wanted), LQN_TASK_BACKGROUND, LQN_SCHED_REF, customers);
	g_autofree char *entry_wanted = g_strdup_printf("%s_load", task->name);
	struct lqn_entry *entry = lqn_task_add_entry(task, lqn_build_name(build, entry_wanted));

	entry->phase[0].demand = SLICE;
	entry->throughput = load / SLICE;
	task->think = MAX(0, SLICE * customers / load - SLICE);
	task->utilization = load;
	task->throughput = load / SLICE;
	task->response = -1;
}

void lqn_build_background(struct lqn_build *build)
{
	double wall = (double) build->wall;

	for (guint i = 0; i < build->a->hosts->len; i++) {
		struct lqn_party *host = build->a->hosts->pdata[i];
		struct lqn_processor *processor = build->host_processors->pdata[i];
		g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(struct share));
		double busy = 0, load = 0, interrupts = 0, seen = 0;

		for (guint k = 0; k < host->by_age->len; k++) {
			const struct lqn_actor *actor = host->by_age->pdata[k];
			double cpus = (double) lqn_build_cpu_of(build, actor) / wall;

			busy += cpus;
			if (cpus > 0 && !in_a_task(build, actor)) {
				load += cpus;
				add_share(shares, lqn_service_name(actor), cpus);
			}
		}
		for (guint k = 0; k < host->cpus->len; k++) {
			const struct lqn_cpu_use *use = &g_array_index(host->cpus, struct lqn_cpu_use, k);

			interrupts += (double) (use->hardirq + use->softirq);
			seen = MAX(seen, (double) (use->end - use->begin));
		}
		processor->utilization = busy;
		processor->interrupts = seen > 0 ? interrupts / seen : -1;
		g_array_sort(shares, by_cpus);
		for (guint k = 0; k < shares->len && k < LISTED; k++) {
			const struct share *share = &g_array_index(shares, struct share, k);

			g_ptr_array_add(build->model->background, g_strdup_printf("%s%s%s %.4f CPUs", share->name,
				build->a->hosts->len > 1 ? "@" : "", build->a->hosts->len > 1 ? host->name : "", share->cpus));
		}
		if (load > LOAD_MIN) {
			add_load(build, host, load);
		}
	}
}

/* ---- blocked time ---- */

struct tallies {
	struct lqn_blocked by_cause[LQN_CAUSE_COUNT];
	GHashTable *hidden;		/* name of who woke, interned -> struct lqn_blocked; owned */
};

/* A wait in a hidden queue is one at whoever ended it. */
static void tally_hidden(struct tallies *tallies, const struct lqn_actor *actor, uint64_t waker, double seconds)
{
	struct lqn_actor *by = lqn_party_find_actor(actor->host, waker);
	const char *name = by ? lqn_service_name(by) : "?";
	struct lqn_blocked *tally = g_hash_table_lookup(tallies->hidden, name);

	if (!tally) {
		tally = g_new0(struct lqn_blocked, 1);
		tally->cause = g_strdup(name);
		g_hash_table_insert(tallies->hidden, (gpointer) name, tally);
	}
	tally->seconds += seconds;
	tally->waits++;
}

static void tally_actor(const struct lqn_build *build, const struct lqn_actor *actor, struct tallies *tallies)
{
	const struct lqn_interval *it = (const struct lqn_interval *) (const void *) actor->intervals->data;
	guint n = actor->intervals->len;

	for (guint i = 0; i < n; i++) {
		guint last = i;
		int64_t blocked = 0;

		if (it[i].preempted || it[i].state == 0) {
			continue;
		}
		/* blocks of one call that did not return in between are one wait; its cause is that of the last */
		for (guint k = i; k < n && it[k].call_begin == it[i].call_begin; k++) {
			if (!it[k].preempted) {
				blocked += (it[k].wake >= 0 ? it[k].wake : it[k].end) - it[k].begin;
				last = k;
			}
			if (it[i].call_begin == 0) {
				break;
			}
		}
		if (!it[last].open && lqn_in_window(build, it[i].begin)) {
			struct lqn_blocked *tally = &tallies->by_cause[it[last].cause];

			tally->seconds += (double) blocked / 1e9;
			tally->waits++;
			if (it[last].cause == LQN_CAUSE_HIDDEN) {
				tally_hidden(tallies, actor, it[last].by, (double) blocked / 1e9);
			}
		}
		i = last;
	}
}

static gint by_seconds(gconstpointer a, gconstpointer b)
{
	const struct lqn_blocked *x = *(const struct lqn_blocked *const *) a;
	const struct lqn_blocked *y = *(const struct lqn_blocked *const *) b;

	return x->seconds != y->seconds ? (x->seconds > y->seconds ? -1 : 1) : strcmp(x->cause, y->cause);
}

static void add_causes(struct lqn_model *model, const struct tallies *tallies)
{
	for (uint32_t cause = 0; cause < LQN_CAUSE_COUNT; cause++) {
		struct lqn_blocked *blocked;

		if (tallies->by_cause[cause].waits == 0) {
			continue;
		}
		blocked = g_memdup2(&tallies->by_cause[cause], sizeof(*blocked));
		blocked->cause = g_strdup(lqn_cause_name(cause));
		g_ptr_array_add(model->blocked, blocked);
		model->blocked_seconds += blocked->seconds;
	}
	model->unexplained_seconds = tallies->by_cause[LQN_CAUSE_UNKNOWN].seconds;
	model->hidden_seconds = tallies->by_cause[LQN_CAUSE_HIDDEN].seconds;
	g_ptr_array_sort(model->blocked, by_seconds);
}

void lqn_build_blocked(struct lqn_build *build)
{
	struct tallies tallies = { .hidden = g_hash_table_new(g_str_hash, g_str_equal) };
	GHashTableIter iter;
	gpointer value;

	for (guint i = 0; i < build->a->hosts->len; i++) {
		const struct lqn_party *host = build->a->hosts->pdata[i];

		for (guint k = 0; k < host->by_age->len; k++) {
			struct lqn_actor *actor = host->by_age->pdata[k];

			if (in_a_task(build, actor) && !actor->unit->outside) {
				tally_actor(build, actor, &tallies);
			}
		}
	}
	add_causes(build->model, &tallies);
	g_hash_table_iter_init(&iter, tallies.hidden);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		g_ptr_array_add(build->model->hidden, value);
	}
	g_ptr_array_sort(build->model->hidden, by_seconds);
	g_hash_table_destroy(tallies.hidden);
}
