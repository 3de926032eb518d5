/* SPDX-License-Identifier: MIT */

/*
 * Messages that a service passes on: published by one, delivered to another later, on another connection, by whatever thread. The
 * model needs no more than their numbers; the path of a message needs to know which of those published a delivery is. Best
 * known is it by what programs tell of it (spans). Else it is the one that the broker worked for as it delivered, if that is the
 * oldest that it can be; where both differ, as when a queue has built up and one message pushes the next, the oldest. Which it
 * can be is told by sizes, too: what a broker adds to a message is the same for all of one consumer.
 */
#include "build.h"

#define AGREE 0.8		/* of those with a context, that are the oldest as well: else order does not count, if … */
#define AT_ONCE 0.9		/* … so many of what comes in are delivered, to one or several, as they are worked on */
#define WINDOW 1024		/* messages looked through for the oldest of the right size */
#define SEVERAL 1.5		/* deliveries of a message, from which on each consumer has all */
#define UNINTERRUPTIBLE 2	/* a thread's state as it waits for a device */
#define SIZES_MAX 64		/* different sizes of what is added that are counted */

/* A message that a broker has taken. */
struct publication {
	struct lqn_arc *arc;
	int64_t at;			/* when the broker began to work on it */
	uint64_t delivered;		/* in which queues, as bits */
};

/* Who gets messages of a broker. */
struct consumer {
	const char *name;		/* interned */
	const struct lqn_party *host;
	uint64_t deliveries;
	int64_t added;			/* bytes that the broker adds; INT64_MIN: not known, or not always the same */
	guint queue;			/* its own, or the first one's that all share */
	guint next;			/* of the queue with this one's number: publications before it have been delivered */
};

struct broker {
	const char *name;		/* interned */
	const struct lqn_party *host;
	GArray *publications;		/* struct publication, by `at`; owned */
	GArray *deliveries;		/* struct lqn_delivery, by `sent`; owned */
	GArray *consumers;		/* struct consumer; owned */
	GHashTable *index;		/* arc of a publication -> its number + 1; owned */
};

static const struct lqn_party *host_of(struct lqn_invocation *invocation)
{
	return lqn_final(invocation)->actor->host;
}

static bool is_between_services(const struct lqn_arc *arc)
{
	return arc->caller && arc->callee && !arc->gone && (lqn_invocation_service(arc->caller) != lqn_invocation_service(arc->callee) ||
		host_of(arc->caller) != host_of(arc->callee));
}

/* The request that the caller of a delivery works for, if it is of another than who gets the delivery. NULL: none. */
static struct lqn_arc *context_of(const struct lqn_arc *delivered)
{
	struct lqn_arc *request = lqn_final(delivered->caller)->request;

	return request && is_between_services(request) && lqn_invocation_service(request->caller) != lqn_invocation_service(delivered->callee) ? request : NULL;
}

/* When a thread went on after the last wait before `ts` in which it was idle; INT64_MIN: not known. */
static int64_t awake_since(const struct lqn_actor *actor, int64_t ts)
{
	for (guint i = LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, end, ts); i > 0; i--) {
		const struct lqn_interval *it = &g_array_index(actor->intervals, struct lqn_interval, i - 1);

		if (!it->preempted && it->state != UNINTERRUPTIBLE) {
			return it->end;
		}
	}
	return INT64_MIN;
}

struct lqn_actor *lqn_delivery_sender(const struct lqn_delivery *delivery)
{
	const struct lqn_invocation *received = lqn_final(delivery->delivered->callee);
	const struct lqn_receipt *receipt = lqn_actor_receipt(received->actor, received->begin);

	return receipt && receipt->sent == delivery->delivered->sent && receipt->sender ? receipt->sender :
		lqn_final(delivery->delivered->caller)->actor;
}

struct lqn_delivery_times lqn_delivery_times(const struct lqn_delivery *delivery)
{
	const struct lqn_invocation *taken = lqn_final(delivery->published->callee);
	const struct lqn_invocation *passed = lqn_final(delivery->delivered->caller);
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
		at.fetched = CLAMP(MAX(passed->begin, awake_since(lqn_delivery_sender(delivery), at.delivered)), at.stored, at.delivered);
	}
	at.received = MAX(received->begin, at.delivered);
	at.done = MAX(received->replied > 0 ? received->replied : received->end, at.received);
	return at;
}

/* ---- who is a broker ---- */

static void broker_free(gpointer data)
{
	struct broker *broker = data;

	g_array_unref(broker->publications);
	g_array_unref(broker->deliveries);
	g_array_unref(broker->consumers);
	g_hash_table_destroy(broker->index);
	g_free(broker);
}

static struct broker *broker_of(GPtrArray *brokers, struct lqn_invocation *work, bool make)
{
	const char *name = lqn_invocation_service(work);
	const struct lqn_party *host = host_of(work);
	struct broker *broker;

	for (guint i = 0; i < brokers->len; i++) {
		broker = brokers->pdata[i];
		if (broker->name == name && broker->host == host) {
			return broker;
		}
	}
	if (!make) {
		return NULL;
	}
	broker = g_new0(struct broker, 1);
	broker->name = name;
	broker->host = host;
	broker->publications = g_array_new(FALSE, FALSE, sizeof(struct publication));
	broker->deliveries = g_array_new(FALSE, FALSE, sizeof(struct lqn_delivery));
	broker->consumers = g_array_new(FALSE, FALSE, sizeof(struct consumer));
	broker->index = g_hash_table_new(g_direct_hash, g_direct_equal);
	g_ptr_array_add(brokers, broker);
	return broker;
}

static struct consumer *consumer_of(const struct broker *broker, struct lqn_invocation *work, bool make)
{
	struct consumer fresh = { .name = lqn_invocation_service(work), .host = host_of(work), .added = INT64_MIN };

	for (guint i = 0; i < broker->consumers->len; i++) {
		struct consumer *it = &g_array_index(broker->consumers, struct consumer, i);

		if (it->name == fresh.name && it->host == fresh.host) {
			return it;
		}
	}
	if (!make) {
		return NULL;
	}
	g_array_append_val(broker->consumers, fresh);
	return &g_array_index(broker->consumers, struct consumer, broker->consumers->len - 1);
}

static gint by_sent(gconstpointer a, gconstpointer b)
{
	const struct lqn_arc *x = ((const struct lqn_delivery *) a)->delivered, *y = ((const struct lqn_delivery *) b)->delivered;

	return x->sent < y->sent ? -1 : x->sent > y->sent;
}

static gint by_at(gconstpointer a, gconstpointer b)
{
	const struct publication *x = a, *y = b;

	if (x->at != y->at) {
		return x->at < y->at ? -1 : 1;
	}
	return x->arc->sent < y->arc->sent ? -1 : x->arc->sent > y->arc->sent;
}

/* What a service is asked for and passes on to others asynchronously. */
static GPtrArray *find_brokers(const struct lqn_analysis *a)
{
	GPtrArray *brokers = g_ptr_array_new_with_free_func(broker_free);

	for (guint i = 0; i < a->arcs->len; i++) {
		struct lqn_arc *arc = a->arcs->pdata[i];
		struct lqn_delivery delivery = { .delivered = arc };
		struct broker *broker;

		/* what a client does of its own accord is published, not passed on */
		if (arc->kind != LQN_ASYNC || !is_between_services(arc) || !lqn_final(arc->caller)->request) {
			continue;
		}
		broker = broker_of(brokers, arc->caller, true);
		g_array_append_val(broker->deliveries, delivery);
		consumer_of(broker, arc->callee, true)->deliveries++;
	}
	for (guint i = 0; i < a->arcs->len && brokers->len > 0; i++) {
		struct lqn_arc *arc = a->arcs->pdata[i];
		struct broker *broker = is_between_services(arc) ? broker_of(brokers, arc->callee, false) : NULL;
		struct publication publication = { arc, broker ? lqn_final(arc->callee)->begin : 0, 0 };

		/* who is delivered to acknowledges, or asks for more */
		if (broker && !consumer_of(broker, arc->caller, false)) {
			g_array_append_val(broker->publications, publication);
		}
	}
	for (guint i = 0; i < brokers->len; i++) {
		struct broker *broker = brokers->pdata[i];

		g_array_sort(broker->publications, by_at);
		g_array_sort(broker->deliveries, by_sent);
		for (guint k = 0; k < broker->publications->len; k++) {
			g_hash_table_insert(broker->index, g_array_index(broker->publications, struct publication, k).arc,
				GUINT_TO_POINTER(k + 1));
		}
	}
	return brokers;
}

/* ---- what it adds ---- */

static int64_t added_by(const struct lqn_arc *published, const struct lqn_arc *delivered)
{
	return (int64_t) delivered->bytes - published->bytes;
}

/* Bytes by which most deliveries to a consumer are longer than what the broker worked on meanwhile. */
static void learn_sizes(const struct broker *broker, struct consumer *consumer)
{
	struct { int64_t added; guint count; } sizes[SIZES_MAX];
	guint n = 0, all = 0;

	for (guint i = 0; i < broker->deliveries->len; i++) {
		const struct lqn_arc *delivered = g_array_index(broker->deliveries, struct lqn_delivery, i).delivered;
		const struct lqn_arc *context = context_of(delivered);
		guint k = 0;

		if (!context || consumer_of(broker, delivered->callee, false) != consumer) {
			continue;
		}
		all++;
		for (; k < n && sizes[k].added != added_by(context, delivered); k++) {
		}
		if (k == n && n < SIZES_MAX) {
			sizes[n].added = added_by(context, delivered);
			sizes[n++].count = 0;
		}
		if (k < n) {
			sizes[k].count++;
		}
	}
	for (guint k = 0; k < n; k++) {
		if (2 * sizes[k].count > all) {
			consumer->added = sizes[k].added;
		}
	}
}

static bool fits(const struct consumer *consumer, const struct lqn_arc *published, const struct lqn_arc *delivered)
{
	return consumer->added == INT64_MIN || added_by(published, delivered) == consumer->added;
}

/* ---- joining ---- */

static struct publication *publication_of(const struct broker *broker, const struct lqn_arc *arc)
{
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(broker->index, arc));

	return number > 0 ? &g_array_index(broker->publications, struct publication, number - 1) : NULL;
}

static uint64_t bit_of(const struct consumer *consumer)
{
	return UINT64_C(1) << MIN(consumer->queue, 63);
}

/* ---- by what programs tell ---- */

static guint hash_told(gconstpointer data)
{
	const struct lqn_told_message *told = data;

	return (guint) ((told->trace * 31 + told->span) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static gboolean equal_told(gconstpointer a, gconstpointer b)
{
	const struct lqn_told_message *x = a, *y = b;

	return x->trace == y->trace && x->span == y->span;
}

/* The call to the broker that was sent within the producer's span, else next to it; NULL: none. */
static struct lqn_arc *sent_by(const struct broker *broker, const struct lqn_told_message *told)
{
	struct lqn_arc *nearest = NULL;
	int64_t least = INT64_MAX;

	for (struct lqn_arc *arc = lqn_final(told->work)->arcs; arc; arc = arc->next) {
		int64_t off = arc->sent < told->begin ? told->begin - arc->sent : MAX(arc->sent - told->end, 0);

		if (off < least && publication_of(broker, arc)) {
			nearest = arc;
			least = off;
		}
	}
	return nearest;
}

/* Joins what consumers' spans say; one delivery may hold several messages. */
static void join_told(const struct lqn_analysis *a, struct broker *broker)
{
	g_autoptr(GHashTable) senders = g_hash_table_new(hash_told, equal_told);
	g_autoptr(GHashTable) index = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < a->told->len; i++) {
		struct lqn_told_message *told = &g_array_index(a->told, struct lqn_told_message, i);

		if (told->sent) {
			g_hash_table_add(senders, told);
		}
	}
	for (guint i = 0; i < broker->deliveries->len && a->told->len > 0; i++) {
		g_hash_table_insert(index, g_array_index(broker->deliveries, struct lqn_delivery, i).delivered, GUINT_TO_POINTER(i + 1));
	}
	for (guint i = 0; i < a->told->len; i++) {
		struct lqn_told_message *told = &g_array_index(a->told, struct lqn_told_message, i);
		struct lqn_arc *delivered = told->sent ? NULL : lqn_final(told->work)->request;
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(index, delivered));
		const struct lqn_told_message *sender = number > 0 ? g_hash_table_lookup(senders, told) : NULL;
		struct lqn_arc *published = sender ? sent_by(broker, sender) : NULL;
		struct lqn_delivery *delivery, joined = { published, delivered, LQN_JOINED_SPANS, true };

		if (!published) {
			continue;
		}
		delivery = &g_array_index(broker->deliveries, struct lqn_delivery, number - 1);
		if (!delivery->told) {
			*delivery = joined;
		} else if (delivery->published != published) {
			g_array_append_val(broker->deliveries, joined);
		}
	}
	g_array_sort(broker->deliveries, by_sent);
}

/* ---- by context and order ---- */

/* The oldest publication that the delivery may be of: not delivered yet from the consumer's queue. NULL: none. */
static struct publication *oldest(const struct broker *broker, const struct consumer *consumer, const struct lqn_arc *delivered)
{
	struct consumer *queue = &g_array_index(broker->consumers, struct consumer, consumer->queue);
	const GArray *all = broker->publications;

	while (queue->next < all->len && (g_array_index(all, struct publication, queue->next).delivered & bit_of(consumer))) {
		queue->next++;
	}
	for (guint i = queue->next; i < all->len && i - queue->next < WINDOW; i++) {
		struct publication *it = &g_array_index(all, struct publication, i);

		if (it->at > delivered->sent) {
			break;
		}
		if (!(it->delivered & bit_of(consumer)) && fits(consumer, it->arc, delivered)) {
			return it;
		}
	}
	return NULL;
}

/* Publications that have the size of some delivery, less what is added: others ask for something else. */
static guint count_fitting(const struct broker *broker)
{
	g_autoptr(GHashTable) sizes = g_hash_table_new(g_direct_hash, g_direct_equal);
	guint fitting = 0;

	for (guint i = 0; i < broker->deliveries->len; i++) {
		const struct lqn_arc *delivered = g_array_index(broker->deliveries, struct lqn_delivery, i).delivered;
		const struct consumer *consumer = consumer_of(broker, delivered->callee, false);

		if (consumer->added == INT64_MIN) {
			return broker->publications->len;
		}
		g_hash_table_add(sizes, GUINT_TO_POINTER((guint) (delivered->bytes - consumer->added)));
	}
	for (guint i = 0; i < broker->publications->len; i++) {
		const struct lqn_arc *arc = g_array_index(broker->publications, struct publication, i).arc;

		fitting += g_hash_table_contains(sizes, GUINT_TO_POINTER(arc->bytes));
	}
	return fitting;
}

/* Whether consumers share a queue: there are about as many deliveries as publications that can be theirs. */
static void set_queues(struct broker *broker)
{
	bool several = (double) broker->deliveries->len >= SEVERAL * MAX(count_fitting(broker), 1);

	for (guint i = 0; i < broker->consumers->len; i++) {
		struct consumer *it = &g_array_index(broker->consumers, struct consumer, i);

		it->next = 0;
		it->queue = several ? i : 0;
	}
}

static void forget_deliveries(struct broker *broker)
{
	for (guint i = 0; i < broker->publications->len; i++) {
		g_array_index(broker->publications, struct publication, i).delivered = 0;
	}
	for (guint i = 0; i < broker->consumers->len; i++) {
		g_array_index(broker->consumers, struct consumer, i).next = 0;
	}
}

/* Joins the delivery, if it is none that is known; true if context and order agree. */
static bool join(const struct broker *broker, bool in_order, struct lqn_delivery *delivery)
{
	const struct consumer *consumer = consumer_of(broker, delivery->delivered->callee, false);
	struct lqn_arc *arc = context_of(delivery->delivered);
	struct publication *context = arc ? publication_of(broker, arc) : NULL, *first = NULL, *it;

	if (in_order) {
		first = oldest(broker, consumer, delivery->delivered);
		context = context && fits(consumer, arc, delivery->delivered) ? context : NULL;
	}
	it = first ? first : context;
	if (!it) {
		return false;
	}
	it->delivered |= bit_of(consumer);
	delivery->published = it->arc;
	delivery->how = it == context ? LQN_JOINED_CONTEXT : LQN_JOINED_ORDER;
	return first && first == context;
}

/* A context says something if what it is of has not been delivered before. */
static bool tells(const struct broker *broker, const struct lqn_arc *delivered)
{
	const struct lqn_arc *context = context_of(delivered);
	const struct publication *it = context ? publication_of(broker, context) : NULL;

	return it && !(it->delivered & bit_of(consumer_of(broker, delivered->callee, false)));
}

static void join_all(struct broker *broker, bool in_order, guint *contexts, guint *agreeing)
{
	*contexts = *agreeing = 0;
	for (guint i = 0; i < broker->deliveries->len; i++) {
		struct lqn_delivery *delivery = &g_array_index(broker->deliveries, struct lqn_delivery, i);

		if (delivery->told) {
			publication_of(broker, delivery->published)->delivered |=
				bit_of(consumer_of(broker, delivery->delivered->callee, false));
			continue;
		}
		delivery->published = NULL;
		*contexts += tells(broker, delivery->delivered);
		*agreeing += join(broker, in_order, delivery);
	}
}

/* Share of what comes in of which something is delivered while the broker works on it: nothing, or next to nothing, is stored. */
static double at_once(const struct broker *broker)
{
	g_autoptr(GHashTable) contexts = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < broker->deliveries->len; i++) {
		struct lqn_arc *context = context_of(g_array_index(broker->deliveries, struct lqn_delivery, i).delivered);

		if (context) {
			g_hash_table_add(contexts, context);
		}
	}
	return (double) g_hash_table_size(contexts) / MAX(broker->publications->len, 1);
}

static void join_broker(const struct lqn_analysis *a, struct broker *broker)
{
	guint contexts, agreeing;

	for (guint i = 0; i < broker->consumers->len; i++) {
		learn_sizes(broker, &g_array_index(broker->consumers, struct consumer, i));
	}
	join_told(a, broker);
	set_queues(broker);
	join_all(broker, true, &contexts, &agreeing);
	if (agreeing < AGREE * contexts && at_once(broker) >= AT_ONCE) {
		/* what comes in goes out by rules of its own, as some to all and some in turn: order tells nothing */
		forget_deliveries(broker);
		join_all(broker, false, &contexts, &agreeing);
	}
}

/* ---- all of them ---- */

void lqn_build_brokers(struct lqn_build *build)
{
	g_autoptr(GPtrArray) brokers = find_brokers(build->a), flows = lqn_message_flows_new();

	build->deliveries = g_array_new(FALSE, FALSE, sizeof(struct lqn_delivery));
	for (guint i = 0; i < brokers->len; i++) {
		struct broker *broker = brokers->pdata[i];

		join_broker(build->a, broker);
		for (guint k = 0; k < broker->deliveries->len; k++) {
			const struct lqn_delivery *it = &g_array_index(broker->deliveries, struct lqn_delivery, k);

			if (it->published && lqn_in_window(build, it->published->sent) && !lqn_final(it->published->caller)->clutter) {
				g_array_append_vals(build->deliveries, it, 1);
				lqn_message_flows_add(flows, it);
			}
		}
		for (guint k = 0; k < broker->deliveries->len; k++) {
			const struct lqn_delivery *it = &g_array_index(broker->deliveries, struct lqn_delivery, k);

			if (!it->published && lqn_in_window(build, it->delivered->sent)) {
				lqn_message_flows_add_apart(flows, it);
			}
		}
	}
	lqn_message_flows_take(flows, build->model->messages);
}
