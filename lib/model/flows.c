/* SPDX-License-Identifier: MIT */

/* What becomes of messages on the whole, by who sent them, who passed them on, and who had them. */
#include "build.h"

#include <string.h>

struct tally {
	struct lqn_message_flow flow;	/* first: it is the key */
	GArray *latencies;		/* double, s; owned */
};

static void tally_free(gpointer data)
{
	struct tally *tally = data;

	g_array_unref(tally->latencies);
	g_free(tally);
}

guint lqn_message_flow_hash(gconstpointer data)
{
	const struct lqn_message_flow *flow = data;

	return (g_direct_hash(flow->producer) * 31 + g_direct_hash(flow->broker)) * 31 + g_direct_hash(flow->consumer);
}

gboolean lqn_message_flow_equal(gconstpointer a, gconstpointer b)
{
	const struct lqn_message_flow *x = a, *y = b;

	return x->producer == y->producer && x->broker == y->broker && x->consumer == y->consumer;
}

struct lqn_message_flow lqn_delivery_flow(const struct lqn_delivery *delivery)
{
	return (struct lqn_message_flow) {
		.producer = delivery->published ? lqn_invocation_service(delivery->published->caller) : NULL,
		.broker = lqn_invocation_service(delivery->delivered->caller),
		.consumer = lqn_invocation_service(delivery->delivered->callee),
	};
}

static struct tally *tally_of(GHashTable *flows, const struct lqn_delivery *delivery)
{
	struct lqn_message_flow key = lqn_delivery_flow(delivery);
	struct tally *tally = g_hash_table_lookup(flows, &key);

	if (!tally) {
		tally = g_new0(struct tally, 1);
		tally->flow = key;
		tally->latencies = g_array_new(FALSE, FALSE, sizeof(double));
		g_hash_table_add(flows, tally);
	}
	return tally;
}

void lqn_message_flows_add(GHashTable *flows, const struct lqn_delivery *delivery)
{
	struct tally *tally = tally_of(flows, delivery);
	const struct lqn_delivery_times at = lqn_delivery_times(delivery);
	struct lqn_message_flow *flow = &tally->flow;
	double latency = (double) (at.received - at.published) / 1e9;

	flow->joined[delivery->how]++;
	flow->to_broker += (double) (at.taken - at.published) / 1e9;
	flow->in_broker += (double) (at.delivered - at.taken) / 1e9;
	flow->stored += (double) (at.fetched - at.stored) / 1e9;
	flow->to_consumer += (double) (at.received - at.delivered) / 1e9;
	flow->service += (double) (at.done - at.received) / 1e9;
	g_array_append_val(tally->latencies, latency);
}

static gint by_value(gconstpointer a, gconstpointer b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static void conclude(struct tally *tally)
{
	struct lqn_message_flow *flow = &tally->flow;
	double *const sums[] = { &flow->to_broker, &flow->in_broker, &flow->stored, &flow->to_consumer, &flow->service };
	const double *latencies = (const double *) (void *) tally->latencies->data;
	guint n = tally->latencies->len;

	for (guint i = 0; i < G_N_ELEMENTS(sums); i++) {
		*sums[i] /= n;
	}
	g_array_sort(tally->latencies, by_value);
	flow->p50 = latencies[n / 2];
	flow->p95 = latencies[MIN((guint) (0.95 * n), n - 1)];
	flow->max = latencies[n - 1];
}

static gint by_messages(gconstpointer a, gconstpointer b)
{
	const struct tally *x = *(struct tally *const *) a, *y = *(struct tally *const *) b;
	int order;

	if (x->latencies->len != y->latencies->len) {
		return x->latencies->len > y->latencies->len ? -1 : 1;
	}
	order = strcmp(x->flow.broker, y->flow.broker);
	order = order ? order : strcmp(x->flow.producer, y->flow.producer);
	return order ? order : strcmp(x->flow.consumer, y->flow.consumer);
}

GHashTable *lqn_message_flows_new(void)
{
	return g_hash_table_new_full(lqn_message_flow_hash, lqn_message_flow_equal, NULL, tally_free);
}

void lqn_message_flows_add_apart(GHashTable *flows, const struct lqn_delivery *delivery)
{
	tally_of(flows, delivery)->flow.apart++;
}

/* What is no known message's is of no producer. */
static uint64_t apart_of(GHashTable *flows, const struct lqn_message_flow *flow)
{
	struct lqn_message_flow key = { .broker = flow->broker, .consumer = flow->consumer };
	const struct tally *apart = g_hash_table_lookup(flows, &key);

	return apart ? apart->flow.apart : 0;
}

void lqn_message_flows_take(GHashTable *flows, GArray *messages)
{
	g_autoptr(GPtrArray) tallies = g_ptr_array_new();
	GHashTableIter iter;
	gpointer it;

	g_hash_table_iter_init(&iter, flows);
	while (g_hash_table_iter_next(&iter, &it, NULL)) {
		if (((const struct tally *) it)->flow.producer) {
			g_ptr_array_add(tallies, it);
		}
	}
	g_ptr_array_sort(tallies, by_messages);
	for (guint i = 0; i < tallies->len; i++) {
		struct tally *tally = tallies->pdata[i];

		tally->flow.apart = apart_of(flows, &tally->flow);
		conclude(tally);
		g_array_append_val(messages, tally->flow);
	}
}
