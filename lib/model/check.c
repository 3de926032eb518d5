/* SPDX-License-Identifier: MIT */
#include "model/check.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

#define DEPTH_MAX 64		/* of calls; the model has no cycles */
#define BUSY_MIN 1e-6		/* servers; what is less busy never saturates */
#define SERVERS_MIN 1e-9	/* left by the background, for want of any */
#define THROUGHPUT_SHARE_MIN 0.01	/* of the busiest entry's, below which the window's edges decide */

typedef void (*task_func)(const struct lqn_task *task, void *data);

static void each_task(const struct lqn_model *model, task_func func, void *data)
{
	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			func(processor->tasks->pdata[k], data);
		}
	}
}

/* ---- laws ---- */

static void weigh(struct lqn_law *law, const char *where, double expected, double measured)
{
	double deviation;

	if (!(expected > 0) || !(measured > 0)) {
		return;
	}
	deviation = fabs(expected / measured - 1);
	if (deviation > law->deviation) {
		*law = (struct lqn_law) { deviation, where, expected, measured };
	}
}

/* Little: customers = throughput × (response + think time), the latter as it was measured between cycles. */
static void check_little(const struct lqn_task *task, void *data)
{
	struct lqn_checks *checks = data;

	if (task->kind == LQN_TASK_CLIENT && task->think_measured >= 0 && task->response >= 0) {
		weigh(&checks->little, task->name, task->throughput * (task->response + task->think_measured), task->multiplicity);
	}
}

struct flows {
	GHashTable *expected;		/* struct lqn_entry -> double *, per second; owned */
	double most;
};

static double *flow_to(struct flows *flows, const struct lqn_entry *entry)
{
	double *flow = g_hash_table_lookup(flows->expected, entry);

	if (!flow) {
		flow = g_new0(double, 1);
		g_hash_table_insert(flows->expected, (gpointer) entry, flow);
	}
	return flow;
}

static void add_flows(const struct lqn_task *task, void *data)
{
	struct flows *flows = data;

	for (guint i = 0; i < task->entries->len; i++) {
		const struct lqn_entry *entry = task->entries->pdata[i];

		flows->most = task->kind == LQN_TASK_BACKGROUND ? flows->most : MAX(flows->most, entry->throughput);
		for (unsigned p = 0; p < 2; p++) {
			for (guint k = 0; k < entry->phase[p].calls->len; k++) {
				const struct lqn_model_call *call = &g_array_index(entry->phase[p].calls, struct lqn_model_call, k);

				*flow_to(flows, call->dest) += entry->throughput * call->mean;
			}
		}
	}
}

/* Forced flow: an entry's throughput is what its callers make of theirs. */
static void check_flow(const struct lqn_model *model, struct lqn_checks *checks)
{
	struct flows flows = { g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free), 0 };

	each_task(model, add_flows, &flows);
	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			const struct lqn_task *task = processor->tasks->pdata[k];

			for (guint e = 0; task->kind == LQN_TASK_SERVER && e < task->entries->len; e++) {
				const struct lqn_entry *entry = task->entries->pdata[e];

				if (entry->throughput > THROUGHPUT_SHARE_MIN * flows.most) {
					weigh(&checks->flow, entry->name, *flow_to(&flows, entry), entry->throughput);
				}
			}
		}
	}
	g_hash_table_destroy(flows.expected);
}

static double demand_of(const struct lqn_entry *entry)
{
	return entry->phase[0].demand + (entry->has_phase2 ? entry->phase[1].demand : 0);
}

/* CPUs that the processor's tasks keep busy: entries' throughputs × demands. */
static void processor_load(const struct lqn_processor *processor, double *workload, double *background)
{
	*workload = *background = 0;
	for (guint i = 0; i < processor->tasks->len; i++) {
		const struct lqn_task *task = processor->tasks->pdata[i];

		for (guint k = 0; k < task->entries->len; k++) {
			const struct lqn_entry *entry = task->entries->pdata[k];

			*(task->kind == LQN_TASK_BACKGROUND ? background : workload) +=
				demand_of(entry) * entry->throughput;
		}
	}
}

/* Utilisation: CPUs busy = throughputs × demands. */
static void check_utilization(const struct lqn_model *model, struct lqn_checks *checks)
{
	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];
		double workload, background;

		processor_load(processor, &workload, &background);
		weigh(&checks->utilization, processor->name, workload + background, processor->utilization);
	}
}

/* ---- bounds ---- */

/* The entries by number, and how long their invocations take where nobody queues, s. */
struct network {
	GPtrArray *entries;		/* struct lqn_entry, borrowed */
	GHashTable *numbers;		/* struct lqn_entry -> number + 1 */
	double *reply;			/* until the reply; what is forwarded goes on for the caller … */
	double *thread;			/* … not for the thread, which is free after its second phase */
	double *visits, *now, *next;	/* of a class: per cycle in all, and while they are followed */
	struct lqn_checks *checks;
};

static void add_entries(const struct lqn_task *task, void *data)
{
	struct network *net = data;

	for (guint i = 0; i < task->entries->len; i++) {
		g_ptr_array_add(net->entries, task->entries->pdata[i]);
		g_hash_table_insert(net->numbers, task->entries->pdata[i], GUINT_TO_POINTER(net->entries->len));
	}
}

static guint number_of(const struct network *net, const struct lqn_entry *entry)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(net->numbers, entry)) - 1;
}

/* One phase, by what is known of the entries that it calls. */
static double phase_time(const struct network *net, const struct lqn_phase *phase, bool forwarded)
{
	double sum = phase->demand + phase->think;

	for (guint i = 0; i < phase->calls->len; i++) {
		const struct lqn_model_call *call = &g_array_index(phase->calls, struct lqn_model_call, i);

		if (call->kind == LQN_SYNC || (call->kind == LQN_FORWARD && forwarded)) {
			sum += call->mean * net->reply[number_of(net, call->dest)];
		}
	}
	return sum;
}

/* From the callees up: as many rounds as there are layers, and no more than DEPTH_MAX. */
static void time_entries(struct network *net)
{
	bool changed = true;

	for (int round = 0; changed && round < DEPTH_MAX; round++) {
		changed = false;
		for (guint i = 0; i < net->entries->len; i++) {
			const struct lqn_entry *entry = net->entries->pdata[i];
			double reply = phase_time(net, &entry->phase[0], true);

			changed |= reply != net->reply[i];
			net->reply[i] = reply;
		}
	}
	for (guint i = 0; i < net->entries->len; i++) {
		const struct lqn_entry *entry = net->entries->pdata[i];

		net->thread[i] = phase_time(net, &entry->phase[0], false) +
			(entry->has_phase2 ? phase_time(net, &entry->phase[1], false) : 0);
	}
}

/* How often a cycle comes to each entry. Asynchronous calls may go round in a circle: they are followed DEPTH_MAX times. */
static void count_visits(struct network *net, const struct lqn_entry *root)
{
	size_t size = net->entries->len * sizeof(double);
	bool more = true;

	memset(net->visits, 0, size);
	memset(net->now, 0, size);
	net->now[number_of(net, root)] = 1;
	for (int round = 0; more && round < DEPTH_MAX; round++) {
		double *swap = net->now;

		more = false;
		memset(net->next, 0, size);
		for (guint i = 0; i < net->entries->len; i++) {
			const struct lqn_entry *entry = net->entries->pdata[i];

			net->visits[i] += net->now[i];
			for (unsigned p = 0; p < 2 && net->now[i] > 0; p++) {
				for (guint k = 0; k < entry->phase[p].calls->len; k++) {
					const struct lqn_model_call *call = &g_array_index(entry->phase[p].calls, struct lqn_model_call, k);

					net->next[number_of(net, call->dest)] += net->now[i] * call->mean;
					more = true;
				}
			}
		}
		net->now = net->next;
		net->next = swap;
	}
}

static void add_resource(struct lqn_checks *checks, const char *name, const char *kind, unsigned servers, double busy, double other)
{
	struct lqn_resource resource = { name, kind, servers, busy, other, 0 };

	if (busy > BUSY_MIN) {
		resource.growth = MAX(0, servers - other) / busy;
		g_array_append_val(checks->resources, resource);
	}
}

static void add_task(const struct lqn_task *task, void *data)
{
	const struct network *net = data;
	static const char *const kinds[] = {
		[LQN_TASK_SERVER] = "server", [LQN_TASK_LOCK] = "lock", [LQN_TASK_DISK] = "disk", [LQN_TASK_LOOP] = "loop",
	};
	double busy = 0;

	if (task->sched == LQN_SCHED_INF || (size_t) task->kind >= G_N_ELEMENTS(kinds) || !kinds[task->kind]) {
		return;
	}
	for (guint i = 0; i < task->entries->len; i++) {
		const struct lqn_entry *entry = task->entries->pdata[i];

		busy += entry->throughput * net->thread[number_of(net, entry)];
	}
	add_resource(net->checks, task->name, kinds[task->kind], MAX(task->multiplicity, 1), busy, 0);
}

static gint by_growth(gconstpointer a, gconstpointer b)
{
	const struct lqn_resource *x = a, *y = b;

	return x->growth != y->growth ? (x->growth < y->growth ? -1 : 1) : strcmp(x->name, y->name);
}

static void find_resources(const struct lqn_model *model, struct network *net)
{
	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];
		double workload, background;

		processor_load(processor, &workload, &background);
		if (processor->sched != LQN_SCHED_INF && processor->utilization >= 0) {
			add_resource(net->checks, processor->name, "processor", MAX(processor->multiplicity, 1), workload, background);
		}
	}
	each_task(model, add_task, net);
	g_array_sort(net->checks->resources, by_growth);
}

/* Servers of a resource that one cycle keeps busy, s. */
static double demand_at(const struct network *net, const struct lqn_resource *resource)
{
	bool processor = strcmp(resource->kind, "processor") == 0;
	double sum = 0;

	for (guint i = 0; i < net->entries->len; i++) {
		const struct lqn_entry *entry = net->entries->pdata[i];

		if (strcmp(processor ? entry->task->processor->name : entry->task->name, resource->name) == 0) {
			sum += net->visits[i] * (processor ? demand_of(entry) : net->thread[i]);
		}
	}
	return sum;
}

/* R >= max(D, N × the largest demand - Z), X = N / (R + Z): a class alone. */
static void bound_class(const struct lqn_task *task, void *data)
{
	struct network *net = data;
	struct lqn_class_bounds bounds = { .task = task };
	double largest = 0;

	if (task->kind != LQN_TASK_CLIENT || task->entries->len == 0) {
		return;
	}
	count_visits(net, task->entries->pdata[0]);
	for (guint i = 0; i < net->checks->resources->len; i++) {
		const struct lqn_resource *it = &g_array_index(net->checks->resources, struct lqn_resource, i);

		largest = MAX(largest, demand_at(net, it) / MAX(it->servers - it->other, SERVERS_MIN));
	}
	bounds.alone = net->reply[number_of(net, task->entries->pdata[0])];
	bounds.response = MAX(bounds.alone, task->multiplicity * largest - task->think);
	bounds.throughput = bounds.response + task->think > 0 ? task->multiplicity / (bounds.response + task->think) : 0;
	g_array_append_val(net->checks->bounds, bounds);
}

/* Customers of all classes together with which the first resource is saturated, were there no queueing before. */
static void find_saturation(struct lqn_checks *checks)
{
	double alone = 0;

	for (guint i = 0; i < checks->bounds->len; i++) {
		const struct lqn_class_bounds *it = &g_array_index(checks->bounds, struct lqn_class_bounds, i);

		checks->clients += it->task->multiplicity;
		alone += it->task->throughput * (it->alone + it->task->think);
	}
	checks->clients_at_saturation = checks->resources->len > 0 && alone > 0 ?
		g_array_index(checks->resources, struct lqn_resource, 0).growth * alone : -1;
}

static void check_bounds(const struct lqn_model *model, struct lqn_checks *checks)
{
	struct network net = {
		.entries = g_ptr_array_new(), .numbers = g_hash_table_new(g_direct_hash, g_direct_equal), .checks = checks,
	};
	guint n;

	each_task(model, add_entries, &net);
	n = net.entries->len;
	net.reply = g_new0(double, n);
	net.thread = g_new0(double, n);
	net.visits = g_new0(double, n);
	net.now = g_new0(double, n);
	net.next = g_new0(double, n);
	time_entries(&net);
	find_resources(model, &net);
	each_task(model, bound_class, &net);
	find_saturation(checks);
	g_free(net.reply);
	g_free(net.thread);
	g_free(net.visits);
	g_free(net.now);
	g_free(net.next);
	g_hash_table_destroy(net.numbers);
	g_ptr_array_free(net.entries, TRUE);
}

struct lqn_checks *lqn_checks_new(const struct lqn_model *model)
{
	struct lqn_checks *checks = g_new0(struct lqn_checks, 1);

	checks->little.deviation = checks->flow.deviation = checks->utilization.deviation = -1;
	checks->bounds = g_array_new(FALSE, FALSE, sizeof(struct lqn_class_bounds));
	checks->resources = g_array_new(FALSE, FALSE, sizeof(struct lqn_resource));
	each_task(model, check_little, checks);
	check_flow(model, checks);
	check_utilization(model, checks);
	check_bounds(model, checks);
	return checks;
}

void lqn_checks_free(struct lqn_checks *checks)
{
	if (checks) {
		g_array_unref(checks->bounds);
		g_array_unref(checks->resources);
		lqn_prediction_free(checks->prediction);
		g_free(checks->solver);
		g_free(checks->failure);
		g_free(checks);
	}
}

struct lqn_prediction *lqn_prediction_new(void)
{
	struct lqn_prediction *prediction = g_new0(struct lqn_prediction, 1);

	prediction->values = g_array_new(FALSE, FALSE, sizeof(struct lqn_predicted_value));
	return prediction;
}

void lqn_prediction_free(struct lqn_prediction *prediction)
{
	if (prediction) {
		g_array_unref(prediction->values);
		g_free(prediction);
	}
}

const char *lqn_predicted_name(enum lqn_predicted what)
{
	static const char *const names[] = {
		[LQN_PREDICTED_THROUGHPUT] = "throughput",
		[LQN_PREDICTED_RESPONSE] = "response",
		[LQN_PREDICTED_UTILIZATION] = "utilization",
	};

	G_STATIC_ASSERT(G_N_ELEMENTS(names) == LQN_PREDICTED_COUNT);
	return names[what];
}
