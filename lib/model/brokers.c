/* SPDX-License-Identifier: MIT */

/*
 * Services that pass messages on: published by one, delivered to another later, on another connection, by whatever thread. Of
 * a message that lay there the broker is reminded by something else, as by the consumer who asks for more: what the delivery is
 * for the model is the call of the work that its message was taken in.
 */
#include "brokers.h"

#define UNINTERRUPTIBLE 2	/* a thread's state as it waits for a device */
#define NAMED 0.5		/* of what a consumer sends in one length, that is passed on to others: he publishes */

static const struct lqn_party *host_of(struct lqn_invocation *invocation)
{
	return lqn_final(invocation)->actor->host;
}

static bool is_between_services(const struct lqn_arc *arc)
{
	return arc->caller && arc->callee && !arc->gone && (lqn_invocation_service(arc->caller) != lqn_invocation_service(arc->callee) ||
		host_of(arc->caller) != host_of(arc->callee));
}

struct lqn_arc *lqn_delivery_context(const struct lqn_delivery *delivery)
{
	struct lqn_arc *request = delivery->passed->request;

	if (delivery->delivered->fetched > 0 && !delivery->delivered->waited) {
		return NULL;	/* the message lay there, whatever has come since */
	}
	return request && !request->fetch && is_between_services(request) &&
		lqn_invocation_service(request->caller) != lqn_invocation_service(delivery->delivered->callee) ? request : NULL;
}

int64_t lqn_awake_since(const struct lqn_actor *actor, int64_t ts)
{
	for (guint i = LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, end, ts); i > 0; i--) {
		const struct lqn_interval *it = &g_array_index(actor->intervals, struct lqn_interval, i - 1);

		if (!it->preempted && it->state != UNINTERRUPTIBLE) {
			return it->end;
		}
	}
	return INT64_MIN;
}

bool lqn_delivery_lay(const struct lqn_delivery *delivery)
{
	return delivery->published && lqn_final(delivery->published->callee) != delivery->passed && !lqn_delivery_context(delivery);
}

struct lqn_actor *lqn_delivery_sender(const struct lqn_delivery *delivery)
{
	const struct lqn_invocation *received = lqn_final(delivery->delivered->callee);
	const struct lqn_receipt *receipt = lqn_actor_receipt(received->actor, received->begin);

	return receipt && receipt->sent == delivery->delivered->sent && receipt->sender ? receipt->sender : delivery->passed->actor;
}

struct lqn_delivery_times lqn_delivery_times(const struct lqn_delivery *delivery)
{
	const struct lqn_invocation *taken = lqn_final(delivery->published->callee), *passed = delivery->passed;
	const struct lqn_invocation *received = lqn_final(delivery->delivered->callee);
	struct lqn_delivery_times at = { .published = delivery->published->sent };

	/* who works on something may have begun before it was told to, or end it with something else */
	at.delivered = MAX(delivery->delivered->sent, at.published);
	at.taken = CLAMP(taken->begin, at.published, at.delivered);
	if (taken == passed) {
		at.stored = at.fetched = at.taken;
	} else {
		at.stored = CLAMP(taken->replied > 0 ? taken->replied : taken->end, at.taken, at.delivered);
		/* to an acknowledgement the broker may go on with what it did long before: the last run of its thread counts */
		at.fetched = CLAMP(MAX(passed->begin, lqn_awake_since(lqn_delivery_sender(delivery), at.delivered)), at.stored,
			at.delivered);
	}
	at.received = MAX(received->begin, at.delivered);
	at.done = MAX(received->replied > 0 ? received->replied : received->end, at.received);
	return at;
}

/* ---- who is a broker ---- */

static guint hash_where(gconstpointer data)
{
	const struct lqn_where *where = data;

	return g_direct_hash(where->service) * 31 + g_direct_hash(where->host);
}

static gboolean equal_where(gconstpointer a, gconstpointer b)
{
	const struct lqn_where *x = a, *y = b;

	return x->service == y->service && x->host == y->host;
}

static struct lqn_where where_of(struct lqn_invocation *work)
{
	return (struct lqn_where) { lqn_invocation_service(work), host_of(work) };
}

static void consumer_free(gpointer data)
{
	g_hash_table_destroy(((struct lqn_consumer *) data)->sources);
	g_free(data);
}

static void broker_free(gpointer data)
{
	struct lqn_broker *broker = data;

	g_hash_table_destroy(broker->by_where);
	g_hash_table_destroy(broker->index);
	g_array_unref(broker->publications);
	g_array_unref(broker->deliveries);
	g_ptr_array_unref(broker->consumers);
	g_free(broker);
}

/* Brokers in the order of their first deliveries. */
struct brokers {
	GPtrArray *all;			/* struct lqn_broker, borrowed */
	GHashTable *by_where;		/* the same; borrowed */
};

static struct lqn_broker *find_broker(const struct brokers *brokers, struct lqn_invocation *work)
{
	struct lqn_where where = where_of(work);

	return g_hash_table_lookup(brokers->by_where, &where);
}

static struct lqn_broker *get_broker(struct brokers *brokers, struct lqn_invocation *work)
{
	struct lqn_broker *broker = find_broker(brokers, work);

	if (!broker) {
		broker = g_new0(struct lqn_broker, 1);
		broker->where = where_of(work);
		broker->publications = g_array_new(FALSE, FALSE, sizeof(struct lqn_publication));
		broker->deliveries = g_array_new(FALSE, FALSE, sizeof(struct lqn_delivery));
		broker->consumers = g_ptr_array_new_with_free_func(consumer_free);
		broker->by_where = g_hash_table_new(hash_where, equal_where);
		broker->index = g_hash_table_new(g_direct_hash, g_direct_equal);
		g_ptr_array_add(brokers->all, broker);
		g_hash_table_add(brokers->by_where, broker);
	}
	return broker;
}

struct lqn_consumer *lqn_broker_consumer(const struct lqn_broker *broker, struct lqn_invocation *work)
{
	struct lqn_where where = where_of(work);

	return g_hash_table_lookup(broker->by_where, &where);
}

static struct lqn_consumer *get_consumer(struct lqn_broker *broker, struct lqn_invocation *work)
{
	struct lqn_consumer *consumer = lqn_broker_consumer(broker, work);

	if (!consumer) {
		consumer = g_new0(struct lqn_consumer, 1);
		consumer->where = where_of(work);
		consumer->number = broker->consumers->len;
		consumer->sources = g_hash_table_new(g_direct_hash, g_direct_equal);
		consumer->added = consumer->since = INT64_MIN;
		g_ptr_array_add(broker->consumers, consumer);
		g_hash_table_add(broker->by_where, consumer);
	}
	return consumer;
}

static void add_delivery(struct lqn_broker *broker, struct lqn_arc *arc)
{
	struct lqn_delivery delivery = { .delivered = arc, .passed = lqn_final(arc->caller) };
	struct lqn_consumer *consumer = get_consumer(broker, arc->callee);
	const struct lqn_arc *context = lqn_delivery_context(&delivery);

	consumer->deliveries++;
	if (context) {
		g_hash_table_add(consumer->sources, (gpointer) lqn_invocation_service(context->caller));
	}
	g_array_append_val(broker->deliveries, delivery);
}

/* ---- what is published ---- */

/* What a consumer sends to the broker in one length: how many, and how many of them were passed on to others. */
struct sent {
	const char *name;		/* interned */
	uint32_t bytes;
	guint count, named;
};

static guint hash_sent(gconstpointer data)
{
	const struct sent *sent = data;

	return g_direct_hash(sent->name) * 31 + sent->bytes;
}

static gboolean equal_sent(gconstpointer a, gconstpointer b)
{
	const struct sent *x = a, *y = b;

	return x->name == y->name && x->bytes == y->bytes;
}

static struct sent *sent_of(GHashTable *sent, struct lqn_arc *arc)
{
	struct sent key = { lqn_invocation_service(arc->caller), arc->bytes, 0, 0 }, *it = g_hash_table_lookup(sent, &key);

	if (!it) {
		it = g_memdup2(&key, sizeof(key));
		g_hash_table_add(sent, it);
	}
	return it;
}

/*
 * What is sent to a broker is published, if it does not ask for a message. Who is delivered to acknowledges, or asks for
 * more; he may publish besides: what he sends in a length of which most is passed on. `asked`: struct lqn_arc, of that
 * broker.
 */
static void find_publications(struct lqn_broker *broker, const GPtrArray *asked)
{
	g_autoptr(GHashTable) sent = g_hash_table_new_full(hash_sent, equal_sent, g_free, NULL);
	g_autoptr(GHashTable) named = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < broker->deliveries->len; i++) {
		struct lqn_arc *context = lqn_delivery_context(&g_array_index(broker->deliveries, struct lqn_delivery, i));

		if (context && g_hash_table_add(named, context)) {
			sent_of(sent, context)->named++;
		}
	}
	for (guint i = 0; i < asked->len; i++) {
		sent_of(sent, asked->pdata[i])->count++;
	}
	for (guint i = 0; i < asked->len; i++) {
		struct lqn_arc *arc = asked->pdata[i];
		const struct sent *like = sent_of(sent, arc);
		struct lqn_publication publication = { arc, lqn_final(arc->callee)->begin, 0 };

		if (!lqn_broker_consumer(broker, arc->caller) || like->named >= NAMED * like->count) {
			g_array_append_val(broker->publications, publication);
		}
	}
}

static gint by_at(gconstpointer a, gconstpointer b)
{
	const struct lqn_publication *x = a, *y = b;

	if (x->at != y->at) {
		return x->at < y->at ? -1 : 1;
	}
	return x->arc->sent < y->arc->sent ? -1 : x->arc->sent > y->arc->sent;
}

static void index_publications(struct lqn_broker *broker)
{
	g_array_sort(broker->publications, by_at);
	for (guint i = 0; i < broker->publications->len; i++) {
		g_hash_table_insert(broker->index, g_array_index(broker->publications, struct lqn_publication, i).arc,
			GUINT_TO_POINTER(i + 1));
	}
}

/* All that brokers are asked but for messages: broker -> struct lqn_arc, in the order of the analysis. */
static GHashTable *find_asked(const struct lqn_analysis *a, const struct brokers *brokers)
{
	GHashTable *asked = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify) g_ptr_array_unref);

	for (guint i = 0; i < brokers->all->len; i++) {
		g_hash_table_insert(asked, brokers->all->pdata[i], g_ptr_array_new());
	}
	for (guint i = 0; i < a->arcs->len; i++) {
		struct lqn_arc *arc = a->arcs->pdata[i];
		const struct lqn_broker *broker = !arc->fetch && !arc->awaits && is_between_services(arc) ?
			find_broker(brokers, arc->callee) : NULL;

		if (broker) {
			g_ptr_array_add(g_hash_table_lookup(asked, broker), arc);
		}
	}
	return asked;
}

/* What a service is asked for and passes on to others asynchronously. */
static GPtrArray *find_brokers(const struct lqn_analysis *a)
{
	g_autoptr(GHashTable) by_where = g_hash_table_new(hash_where, equal_where), asked = NULL;
	struct brokers brokers = { g_ptr_array_new_with_free_func(broker_free), by_where };

	for (guint i = 0; i < a->arcs->len; i++) {
		struct lqn_arc *arc = a->arcs->pdata[i];

		/* what a client does of its own accord is published, not passed on */
		if (arc->kind == LQN_ASYNC && !arc->fetch && is_between_services(arc) && lqn_final(arc->caller)->request) {
			add_delivery(get_broker(&brokers, arc->caller), arc);
		}
	}
	asked = find_asked(a, &brokers);
	for (guint i = 0; i < brokers.all->len; i++) {
		find_publications(brokers.all->pdata[i], g_hash_table_lookup(asked, brokers.all->pdata[i]));
		index_publications(brokers.all->pdata[i]);
	}
	return brokers.all;
}

/* ---- all of them ---- */

/*
 * The broker's work on the message calls the consumer, not the work that reminded it of the message, as that for the
 * consumer who has asked for more. (What it sends as it works for somebody else is his, whatever the order says.)
 */
static void call_from_message(struct lqn_build *build, const struct lqn_delivery *delivery, struct lqn_invocation *fetch)
{
	struct lqn_invocation *taken = lqn_final(delivery->published->callee);
	struct lqn_moved_arc moved = { delivery->delivered, delivery->passed, taken, 0, delivery->delivered->second_phase };

	if (moved.arc->fetched == 0 && (taken == delivery->passed || lqn_delivery_context(delivery))) {
		return;
	}
	if (fetch && !fetch->clutter && fetch != taken) {
		/* to be asked for a message is part of passing it on: nobody waits for that */
		moved.cpu = fetch->cpu[0] + fetch->cpu[1] + fetch->send_cpu;
		taken->cpu[1] += moved.cpu;
		fetch->clutter = true;
	}
	lqn_arc_move(moved.arc, taken, taken->replied > 0 && taken->replied < moved.arc->sent);
	g_array_append_val(build->moved, moved);
}

/* Requests for messages, by when they were taken up. */
static GHashTable *find_fetches(const struct lqn_analysis *a)
{
	GHashTable *fetches = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (guint i = 0; i < a->arcs->len; i++) {
		struct lqn_arc *arc = a->arcs->pdata[i];
		struct lqn_invocation *taken = arc->fetch ? lqn_final(arc->callee) : NULL;

		if (taken) {
			g_hash_table_insert(fetches, &taken->begin, taken);
		}
	}
	return fetches;
}

/* The request that a delivery was fetched by; NULL: none, or not known. */
static struct lqn_invocation *fetch_of(GHashTable *fetches, const struct lqn_arc *delivered)
{
	struct lqn_invocation *fetch = g_hash_table_lookup(fetches, &delivered->fetched);

	return fetch && lqn_final(fetch->request->caller)->actor == lqn_final(delivered->callee)->actor ? fetch : NULL;
}

void lqn_build_brokers(struct lqn_build *build)
{
	g_autoptr(GPtrArray) brokers = find_brokers(build->a);
	g_autoptr(GHashTable) fetches = find_fetches(build->a);

	build->deliveries = g_array_new(FALSE, FALSE, sizeof(struct lqn_delivery));
	build->moved = g_array_new(FALSE, FALSE, sizeof(struct lqn_moved_arc));
	for (guint i = 0; i < brokers->len; i++) {
		struct lqn_broker *broker = brokers->pdata[i];

		lqn_broker_join(build->a, broker);
		g_array_append_vals(build->deliveries, broker->deliveries->data, broker->deliveries->len);
	}
	for (guint i = 0; i < build->deliveries->len; i++) {
		const struct lqn_delivery *it = &g_array_index(build->deliveries, struct lqn_delivery, i);

		if (it->published) {
			call_from_message(build, it, fetch_of(fetches, it->delivered));
		}
	}
}

void lqn_build_unmove(struct lqn_build *build)
{
	for (guint i = build->moved ? build->moved->len : 0; i > 0; i--) {
		const struct lqn_moved_arc *it = &g_array_index(build->moved, struct lqn_moved_arc, i - 1);

		it->to->cpu[1] -= it->cpu;
		lqn_arc_move(it->arc, it->from, it->second_phase);
	}
}

void lqn_build_flows(struct lqn_build *build)
{
	g_autoptr(GHashTable) flows = lqn_message_flows_new();
	guint kept = 0;

	for (guint i = 0; i < build->deliveries->len; i++) {
		struct lqn_delivery it = g_array_index(build->deliveries, struct lqn_delivery, i);

		if (it.published && lqn_in_window(build, it.published->sent) && !lqn_final(it.published->caller)->clutter) {
			lqn_message_flows_add(flows, &it);
		}
	}
	for (guint i = 0; i < build->deliveries->len; i++) {
		struct lqn_delivery it = g_array_index(build->deliveries, struct lqn_delivery, i);

		if (!it.published && lqn_in_window(build, it.delivered->sent)) {
			lqn_message_flows_add_apart(flows, &it);
		} else if (it.published && lqn_in_window(build, it.published->sent) && !lqn_final(it.published->caller)->clutter) {
			g_array_index(build->deliveries, struct lqn_delivery, kept++) = it;
		}
	}
	g_array_set_size(build->deliveries, kept);
	lqn_message_flows_take(flows, build->model->messages);
}
