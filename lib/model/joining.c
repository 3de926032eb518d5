/* SPDX-License-Identifier: MIT */

/*
 * Which of the messages published a delivery is. Best known is it by what programs tell of it (spans). A consumer that has asked
 * for a message and had to wait gets the one that has come since. Else it is the one that the broker worked for as it delivered, if
 * that is the oldest that it can be; where both differ, as when a queue has built up and one message pushes the next, the oldest.
 * Which it can be is told by whose messages the consumer gets, and by sizes, too: what a broker adds to a message is the same for
 * all of one consumer.
 */
#include "brokers.h"

#define AGREE 0.8		/* of those with a context, that are the oldest as well: else order does not count, if … */
#define AT_ONCE 0.9		/* … so many of what comes in are delivered, to one or several, as they are worked on */
#define WINDOW 1024		/* messages looked through for the oldest of the right size */
#define RUN_MAX 256		/* messages taken in one go that are looked through */

static struct lqn_publication *publication_of(const struct lqn_broker *broker, const struct lqn_arc *arc)
{
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(broker->index, arc));

	return number > 0 ? lqn_publication_at(broker, number - 1) : NULL;
}

static uint64_t bit_of(const struct lqn_consumer *consumer)
{
	return UINT64_C(1) << MIN(consumer->queue, 63);
}

static bool fits(const struct lqn_consumer *consumer, const struct lqn_arc *published, const struct lqn_arc *delivered)
{
	return consumer->added == INT64_MIN || lqn_added(published, delivered) == consumer->added;
}

static bool is_for(const struct lqn_consumer *consumer, const struct lqn_arc *published)
{
	return lqn_consumer_gets(consumer, lqn_invocation_service(published->caller));
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

static gint by_sent(gconstpointer a, gconstpointer b)
{
	const struct lqn_arc *x = *(struct lqn_arc *const *) a, *y = *(struct lqn_arc *const *) b;

	return x->sent < y->sent ? -1 : x->sent > y->sent;
}

/* Work -> what it has sent to the broker, by time: struct lqn_arc. One cycle may have sent very many, with a span each. */
static GHashTable *index_senders(const struct lqn_broker *broker)
{
	GHashTable *senders = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
	GHashTableIter iter;
	gpointer sent;

	for (guint i = 0; i < broker->publications->len; i++) {
		struct lqn_arc *arc = lqn_publication_at(broker, i)->arc;

		sent = g_hash_table_lookup(senders, lqn_final(arc->caller));
		if (!sent) {
			sent = g_ptr_array_new();
			g_hash_table_insert(senders, lqn_final(arc->caller), sent);
		}
		g_ptr_array_add(sent, arc);
	}
	g_hash_table_iter_init(&iter, senders);
	while (g_hash_table_iter_next(&iter, NULL, &sent)) {
		g_ptr_array_sort(sent, by_sent);
	}
	return senders;
}

/* The call to the broker that was sent within the producer's span, else next to it; NULL: none. */
static struct lqn_arc *sent_by(GHashTable *senders, const struct lqn_told_message *told)
{
	const GPtrArray *sent = g_hash_table_lookup(senders, lqn_final(told->work));
	struct lqn_arc *before, *after;
	guint low = 0, high = sent ? sent->len : 0;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (((const struct lqn_arc *) sent->pdata[middle])->sent < told->begin) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	before = low > 0 ? sent->pdata[low - 1] : NULL;
	after = sent && low < sent->len ? sent->pdata[low] : NULL;
	if (!before || !after) {
		return before ? before : after;
	}
	return told->begin - before->sent <= MAX(after->sent - told->end, 0) ? before : after;
}

/* When the broker decided which message it is: as it was asked for one that lay there, else as it sent it. */
static int64_t decided(const struct lqn_arc *delivered)
{
	return delivered->fetched > 0 && !delivered->waited ? delivered->fetched : delivered->sent;
}

static gint by_decision(gconstpointer a, gconstpointer b)
{
	const struct lqn_arc *x = ((const struct lqn_delivery *) a)->delivered, *y = ((const struct lqn_delivery *) b)->delivered;
	int64_t p = decided(x), q = decided(y);

	return p != q ? (p < q ? -1 : 1) : x->sent < y->sent ? -1 : x->sent > y->sent;
}

/* Joins what consumers' spans say; one delivery may hold several messages. */
static void join_told(const struct lqn_analysis *a, struct lqn_broker *broker)
{
	g_autoptr(GHashTable) spans = g_hash_table_new(hash_told, equal_told);
	g_autoptr(GHashTable) senders = NULL;
	g_autoptr(GHashTable) index = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < a->told->len; i++) {
		struct lqn_told_message *told = &g_array_index(a->told, struct lqn_told_message, i);

		if (told->sent) {
			g_hash_table_add(spans, told);
		}
	}
	senders = g_hash_table_size(spans) > 0 ? index_senders(broker) : NULL;
	for (guint i = 0; i < broker->deliveries->len && a->told->len > 0; i++) {
		g_hash_table_insert(index, g_array_index(broker->deliveries, struct lqn_delivery, i).delivered, GUINT_TO_POINTER(i + 1));
	}
	for (guint i = 0; i < a->told->len; i++) {
		struct lqn_told_message *told = &g_array_index(a->told, struct lqn_told_message, i);
		struct lqn_arc *delivered = told->sent ? NULL : lqn_final(told->work)->request;
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(index, delivered));
		const struct lqn_told_message *sender = number > 0 ? g_hash_table_lookup(spans, told) : NULL;
		struct lqn_arc *published = sender ? sent_by(senders, sender) : NULL;
		struct lqn_delivery *delivery, joined;

		if (!published) {
			continue;
		}
		delivery = &g_array_index(broker->deliveries, struct lqn_delivery, number - 1);
		joined = (struct lqn_delivery) { published, delivered, delivery->passed, LQN_JOINED_SPANS, true };
		if (!delivery->told) {
			*delivery = joined;
		} else if (delivery->published != published) {
			g_array_append_val(broker->deliveries, joined);
		}
	}
	g_array_sort(broker->deliveries, by_decision);
}

/* ---- by context and order ---- */

/*
 * A broker may put off what it sends until it has read all messages that have come: then it seems to work for the last,
 * `context`. What it sends to a consumer who had waited is one of those; deliveries and answers to producers go out in one
 * order, be it that they came in or another. What is sent unasked is the last, if that has not been sent before.
 */
static struct lqn_publication *taken_in_one_go(const struct lqn_broker *broker, const struct lqn_consumer *consumer,
	const struct lqn_delivery *delivery, struct lqn_publication *context)
{
	const struct lqn_invocation *last = context ? lqn_final(context->arc->callee) : NULL;
	int64_t since, answered = INT64_MAX;
	struct lqn_publication *best = NULL;

	if (!last || last->actor != lqn_delivery_sender(delivery) ||
			(delivery->delivered->fetched == 0 && !(context->delivered & bit_of(consumer)))) {
		return context;
	}
	since = lqn_awake_since(last->actor, delivery->delivered->sent);
	for (guint i = (guint) (context - lqn_publication_at(broker, 0)) + 1, looked = 0; i > 0 && looked < RUN_MAX; i--, looked++) {
		struct lqn_publication *it = lqn_publication_at(broker, i - 1);
		const struct lqn_invocation *taken = lqn_final(it->arc->callee);
		int64_t replied = taken->replied > 0 ? taken->replied : INT64_MAX - 1;

		if (it->at < since) {
			break;
		}
		if (taken->actor == last->actor && !(it->delivered & bit_of(consumer)) && is_for(consumer, it->arc) &&
				fits(consumer, it->arc, delivery->delivered) && replied < answered) {
			best = it;
			answered = replied;
		}
	}
	return best ? best : context;
}

/* The oldest publication that the delivery may be of: not delivered yet from the consumer's queue. NULL: none. */
static struct lqn_publication *oldest(const struct lqn_broker *broker, const struct lqn_consumer *consumer,
	const struct lqn_arc *delivered)
{
	struct lqn_consumer *queue = lqn_consumer_at(broker, consumer->queue);
	guint n = broker->publications->len;

	while (queue->next < n && ((lqn_publication_at(broker, queue->next)->delivered & bit_of(consumer)) ||
			!is_for(queue, lqn_publication_at(broker, queue->next)->arc))) {
		queue->next++;
	}
	for (guint i = queue->next; i < n && i - queue->next < WINDOW; i++) {
		struct lqn_publication *it = lqn_publication_at(broker, i);

		if (it->at > delivered->sent) {
			break;
		}
		if (!(it->delivered & bit_of(consumer)) && it->at >= consumer->since && is_for(consumer, it->arc) &&
				fits(consumer, it->arc, delivered)) {
			return it;
		}
	}
	return NULL;
}

static void forget_deliveries(struct lqn_broker *broker)
{
	for (guint i = 0; i < broker->publications->len; i++) {
		lqn_publication_at(broker, i)->delivered = 0;
	}
	for (guint i = 0; i < broker->consumers->len; i++) {
		lqn_consumer_at(broker, i)->next = 0;
		lqn_consumer_at(broker, i)->since = INT64_MIN;
	}
}

/* Joins the delivery, if it is none that is known; true if context and order agree. */
static bool join(const struct lqn_broker *broker, bool in_order, struct lqn_delivery *delivery)
{
	struct lqn_consumer *consumer = lqn_broker_consumer(broker, delivery->delivered->callee);
	struct lqn_arc *arc = lqn_delivery_context(delivery);
	struct lqn_publication *context = taken_in_one_go(broker, consumer, delivery, arc ? publication_of(broker, arc) : NULL);
	struct lqn_publication *first = NULL, *it;

	if (context && delivery->delivered->fetched > 0 && !(context->delivered & bit_of(consumer))) {
		consumer->since = MAX(consumer->since, context->at);	/* it waited: there was nothing else */
	}
	if (in_order) {
		first = oldest(broker, consumer, delivery->delivered);
		context = context && fits(consumer, context->arc, delivery->delivered) ? context : NULL;
	}
	it = first && !(context && delivery->delivered->fetched > 0) ? first : context;
	if (!it) {
		return false;
	}
	it->delivered |= bit_of(consumer);
	delivery->published = it->arc;
	delivery->how = it == context ? LQN_JOINED_CONTEXT : LQN_JOINED_ORDER;
	return first && first == context;
}

/* A context says something if what it is of has not been delivered before. */
static bool tells(const struct lqn_broker *broker, const struct lqn_delivery *delivery)
{
	const struct lqn_arc *context = lqn_delivery_context(delivery);
	const struct lqn_publication *it = context ? publication_of(broker, context) : NULL;

	return it && !(it->delivered & bit_of(lqn_broker_consumer(broker, delivery->delivered->callee)));
}

static void join_all(struct lqn_broker *broker, bool in_order, guint *contexts, guint *agreeing)
{
	*contexts = *agreeing = 0;
	for (guint i = 0; i < broker->deliveries->len; i++) {
		struct lqn_delivery *delivery = &g_array_index(broker->deliveries, struct lqn_delivery, i);

		if (delivery->told) {
			publication_of(broker, delivery->published)->delivered |=
				bit_of(lqn_broker_consumer(broker, delivery->delivered->callee));
			continue;
		}
		delivery->published = NULL;
		*contexts += tells(broker, delivery);
		*agreeing += join(broker, in_order, delivery);
	}
}

/* Share of what comes in of which something is delivered while the broker works on it: nothing, or next to nothing, is stored. */
static double at_once(const struct lqn_broker *broker)
{
	g_autoptr(GHashTable) contexts = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < broker->deliveries->len; i++) {
		struct lqn_arc *context = lqn_delivery_context(&g_array_index(broker->deliveries, struct lqn_delivery, i));

		if (context) {
			g_hash_table_add(contexts, context);
		}
	}
	return (double) g_hash_table_size(contexts) / MAX(broker->publications->len, 1);
}

void lqn_broker_join(const struct lqn_analysis *a, struct lqn_broker *broker)
{
	guint contexts, agreeing;

	lqn_broker_learn_sizes(broker);
	join_told(a, broker);
	lqn_broker_learn_queues(broker);
	join_all(broker, true, &contexts, &agreeing);
	if (agreeing < AGREE * contexts && at_once(broker) >= AT_ONCE) {
		/* what comes in goes out by rules of its own, as some to all and some in turn: order tells nothing */
		forget_deliveries(broker);
		join_all(broker, false, &contexts, &agreeing);
	}
}
