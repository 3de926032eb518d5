/* SPDX-License-Identifier: MIT */

/*
 * Reference tasks. Each thread that makes cycles is a customer, each connection of a loop that drives several. Think time is
 * N/X - R, which is right whatever happens between two cycles. A source that sleeps until times of the clock and whose pace
 * does not depend on how long its requests take (many programs, Python's among them, sleep in that way to think) becomes a
 * large closed population, which the solvers take without the warnings that open arrivals beside closed load give. So do
 * clients that are not traced and have a connection for each request.
 */
#include "build.h"

#include <math.h>

#define OPEN_SHARE 0.9		/* of cycles that began at a time of the clock */
#define OPEN_CUSTOMERS 200
#define CUSTOMER_SHARE 0.05	/* of the busiest customer's cycles, below which it is none */
#define ABSENT_SHARE 0.1	/* of the customers; fewer are effects of the window's edges */
#define PIPELINED_MIN 0.1	/* more requests under way than there are customers; less is a matter of what counts as a cycle's end */
#define BEYOND_CHANCE 3		/* standard errors */
#define CYCLES_MIN 20		/* fewer say little of a mean */

struct customer {
	const struct lqn_invocation *last;	/* its last cycle */
	guint cycles;
};

/* What is known of a class. */
struct class {
	GHashTable *customers;		/* thread, or connection of a loop -> struct customer; owned */
	double response, gaps;		/* sums, s */
	double busy;			/* s of CPU time in the gaps, summed */
	guint n_gaps, paced, late;
	/* of responses r, and periods p from one begin of a customer's to the next: sums, s and s² */
	double r, p, rr, rp, pp;
};

/*
 * s for which the thread computes between the end of a customer's last cycle and the begin of this one: what remains to be done of the
 * last, for the demand has it all; or, if it is a loop, for others.
 */
static double busy_in(const struct lqn_invocation *it, int64_t since)
{
	return since < it->begin ? (double) (lqn_actor_cpu_at(it->actor, it->begin) - lqn_actor_cpu_at(it->actor, since)) / 1e9 : 0;
}

static void add_cycle(const struct lqn_build *build, struct class *class, const struct lqn_invocation *it)
{
	gpointer key = it->origin == LQN_ORIGIN_LOOP ? (gpointer) it->conn : it->actor;
	struct customer *customer = g_hash_table_lookup(class->customers, key);

	if (!customer) {
		customer = g_new0(struct customer, 1);
		g_hash_table_insert(class->customers, key, customer);
	}
	if (customer->last && lqn_in_same_window(build, customer->last->begin, it->begin)) {
		double r = (double) (customer->last->end - customer->last->begin) / 1e9;
		double p = (double) (it->begin - customer->last->begin) / 1e9;

		class->gaps += p - r;
		class->busy += busy_in(it, customer->last->end);
		class->n_gaps++;
		class->r += r;
		class->p += p;
		class->rr += r * r;
		class->rp += r * p;
		class->pp += p * p;
	}
	customer->last = it;
	customer->cycles++;
	class->response += (double) (it->end - it->begin) / 1e9;
	class->paced += it->absolute;
	class->late += it->late;
}

/* A connection for a question or two before the work begins makes no customer. */
static guint population_of(const struct class *class)
{
	GHashTableIter iter;
	gpointer value;
	guint most = 0, population = 0;

	g_hash_table_iter_init(&iter, class->customers);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		most = MAX(most, ((const struct customer *) value)->cycles);
	}
	g_hash_table_iter_init(&iter, class->customers);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		population += ((const struct customer *) value)->cycles >= CUSTOMER_SHARE * most;
	}
	return population;
}

/*
 * Customers that come one after another are not there together: as many are there at a time as the cycles that are made
 * take, with the think times between them.
 */
static double at_a_time(struct lqn_build *build, const struct lqn_task *task, double population, double rate)
{
	double active = rate * (task->response + task->think_measured);

	if (population - active < 1 || population - active < ABSENT_SHARE * population) {
		return population;
	}
	active = MAX(1, round(active));
	lqn_build_note(build, "%s: %.0f customers are seen, %.0f at a time", task->name, population, active);
	return active;
}

/* Most of its calls go to threads that have a connection each. */
static bool is_served_by_connection(struct lqn_build *build, const struct lqn_service *service)
{
	guint by_connection = 0, all = 0;

	for (guint i = 0; i < service->members->len; i++) {
		for (const struct lqn_arc *arc = ((struct lqn_invocation *) service->members->pdata[i])->arcs; arc; arc = arc->next) {
			struct lqn_cluster *to = arc->callee ? lqn_build_cluster_of(build, lqn_final(arc->callee)) : NULL;

			all += to != NULL;
			by_connection += to && to->service->per_connection;
		}
	}
	return 2 * by_connection > all;
}

/*
 * Who sends more requests before the first is answered is as many customers as requests are under way; but where those of a
 * connection are served one after the other, only the first of them is with the server: the others wait for it.
 */
static double in_flight(struct lqn_build *build, const struct lqn_service *service, double population, double rate)
{
	struct lqn_task *task = service->task;
	double under_way = rate * task->response;

	if (under_way < (1 + PIPELINED_MIN) * population) {
		return population;
	}
	lqn_build_note(build, "%s: %.0f requests are under way at a time on %.0f connections", task->name, under_way, population);
	if (is_served_by_connection(build, service)) {
		task->response = population / rate;
		return population;
	}
	return round(under_way);
}

/*
 * By how much a period grows with the response in it: by as much, if the customer thinks after it; not at all, if it keeps
 * its pace. That it is not the former must be beyond chance.
 */
static bool has_own_pace(const struct class *class)
{
	double n = class->n_gaps, var = n * class->rr - class->r * class->r, slope, rest;

	if (n < CYCLES_MIN || var <= 0) {
		return false;
	}
	slope = (n * class->rp - class->r * class->p) / var;
	rest = MAX(0, n * class->pp - class->p * class->p - slope * slope * var);
	return slope < 0.5 && 1 - slope > BEYOND_CHANCE * sqrt(rest / var / (n - 2));
}

/* How many threads drive the customers, if these are more at a time than threads; else 0. */
static unsigned loops_of(const struct lqn_service *service, double in_flight)
{
	g_autoptr(GHashTable) threads = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < service->members->len; i++) {
		const struct lqn_invocation *it = service->members->pdata[i];

		if (it->origin != LQN_ORIGIN_LOOP) {
			return 0;
		}
		g_hash_table_add(threads, it->actor);
	}
	return in_flight > g_hash_table_size(threads) ? g_hash_table_size(threads) : 0;
}

static void build_class(struct lqn_build *build, struct lqn_service *service, double wall)
{
	struct class class = { .customers = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free) };
	struct lqn_task *task = service->task;
	double n = service->members->len, population;
	unsigned threads;

	for (guint i = 0; i < service->members->len; i++) {
		add_cycle(build, &class, service->members->pdata[i]);
	}
	population = population_of(&class);
	task->response = class.response / n;
	if (service->outside && 2 * class.n_gaps < n) {
		lqn_build_note(build, "%s: not traced; most of their connections carry one request, so they are taken for open arrivals",
			task->name);
		task->kind = LQN_TASK_OPEN;
		population = OPEN_CUSTOMERS;
	} else if (class.paced > OPEN_SHARE * n && (class.late > 0 ||
			(population > 1 && lqn_have_common_schedule(build, service->members)) || has_own_pace(&class))) {
		task->kind = LQN_TASK_OPEN;
		population = OPEN_CUSTOMERS;
	} else if (class.n_gaps > 0) {
		/* work at the end of a cycle may outlast the begin of the next */
		task->think_measured = MAX(0, class.gaps / class.n_gaps);
		population = 2 * class.n_gaps > n ? at_a_time(build, task, population, n / wall) : population;
		population = in_flight(build, service, population, n / wall);
		if (service->outside) {
			lqn_build_note(build, "%s: not traced; each of their connections is taken for a customer that thinks "
				"between an answer and the next request", task->name);
		}
	}
	task->multiplicity = (unsigned) population;
	task->think = MAX(0, population * wall / n - task->response);
	threads = task->kind == LQN_TASK_CLIENT && !service->outside ? loops_of(service, task->response * n / wall) : 0;
	if (!service->outside) {
		/* the model computes that in the cycle; and until a loop comes to it a customer waits, and does not think */
		task->think = MAX(0, task->think - class.busy / MAX(class.n_gaps, 1u));
	}
	if (threads > 0) {
		lqn_build_client_loop(build, service, threads);
	}
	g_hash_table_destroy(class.customers);
}

void lqn_build_clients(struct lqn_build *build)
{
	double wall = (double) build->wall / 1e9;
	guint most = 0;

	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		if (service->root) {
			build_class(build, service, wall);
			most = MAX(most, service->members->len);
		}
	}
	if (most < CYCLES_MIN) {
		lqn_build_note(build, "no client makes more than %u requests in the window: the means rest on very little", most);
	}
}
