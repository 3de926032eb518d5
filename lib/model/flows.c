/* SPDX-License-Identifier: MIT */

/* What becomes of messages on the whole, by who sent them, who passed them on, and who had them. */
#include "build.h"

#include <string.h>

struct tally {
	struct lqn_message_flow flow;
	GArray *latencies;		/* double, s; owned */
};

static void tally_free(gpointer data)
{
	struct tally *tally = data;

	g_array_unref(tally->latencies);
	g_free(tally);
}

static struct tally *tally_of(GPtrArray *flows, const struct lqn_delivery *delivery)
{
	const char *producer = lqn_invocation_service(delivery->published->caller), *consumer = lqn_invocation_service(delivery->delivered->callee);
	const char *broker = lqn_invocation_service(delivery->delivered->caller);
	struct tally *tally;

	for (guint i = 0; i < flows->len; i++) {
		tally = flows->pdata[i];
		if (tally->flow.producer == producer && tally->flow.consumer == consumer && tally->flow.broker == broker) {
			return tally;
		}
	}
	tally = g_new0(struct tally, 1);
	tally->flow.producer = producer;
	tally->flow.broker = broker;
	tally->flow.consumer = consumer;
	tally->latencies = g_array_new(FALSE, FALSE, sizeof(double));
	g_ptr_array_add(flows, tally);
	return tally;
}

void lqn_message_flows_add(GPtrArray *flows, const struct lqn_delivery *delivery)
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

GPtrArray *lqn_message_flows_new(void)
{
	return g_ptr_array_new_with_free_func(tally_free);
}

void lqn_message_flows_add_apart(GPtrArray *flows, const struct lqn_delivery *delivery)
{
	for (guint i = 0; i < flows->len; i++) {
		struct lqn_message_flow *flow = &((struct tally *) flows->pdata[i])->flow;

		flow->apart += flow->broker == lqn_invocation_service(delivery->delivered->caller) &&
			flow->consumer == lqn_invocation_service(delivery->delivered->callee);
	}
}

void lqn_message_flows_take(GPtrArray *flows, GArray *messages)
{
	g_ptr_array_sort(flows, by_messages);
	for (guint i = 0; i < flows->len; i++) {
		struct tally *tally = flows->pdata[i];

		conclude(tally);
		g_array_append_val(messages, tally->flow);
	}
}
