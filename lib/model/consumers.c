/* SPDX-License-Identifier: MIT */

/* What a broker does for its consumers: what it adds to their messages, and which of them share a queue. */
#include "brokers.h"

#define SEVERAL 1.5		/* deliveries of a message, from which on each consumer has all */

/* ---- what it adds ---- */

/* What is added by one consumer's deliveries. */
struct votes {
	int64_t added;			/* what more than half may say, … */
	guint lead;			/* … by how many more than have said else since it came up */
	guint all, count;
};

/* True if it is known what the broker has added to the delivery. */
static bool vote_of(const struct lqn_broker *broker, guint index, struct votes *votes, struct votes **vote, int64_t *added)
{
	const struct lqn_delivery *it = &g_array_index(broker->deliveries, struct lqn_delivery, index);
	const struct lqn_arc *context = lqn_delivery_context(it);

	if (!context) {
		return false;
	}
	*vote = &votes[lqn_broker_consumer(broker, it->delivered->callee)->number];
	*added = lqn_added(context, it->delivered);
	return true;
}

/* What more than half have in common is all that can be left when those that differ are taken off in pairs (Boyer and Moore). */
void lqn_broker_learn_sizes(struct lqn_broker *broker)
{
	g_autofree struct votes *votes = g_new0(struct votes, broker->consumers->len);
	struct votes *vote;
	int64_t added;

	for (guint i = 0; i < broker->deliveries->len; i++) {
		if (vote_of(broker, i, votes, &vote, &added)) {
			vote->added = vote->lead == 0 ? added : vote->added;
			vote->lead += vote->added == added ? 1 : -1;
		}
	}
	for (guint i = 0; i < broker->deliveries->len; i++) {
		if (vote_of(broker, i, votes, &vote, &added)) {
			vote->all++;
			vote->count += vote->added == added;
		}
	}
	for (guint i = 0; i < broker->consumers->len; i++) {
		if (2 * votes[i].count > votes[i].all) {
			lqn_consumer_at(broker, i)->added = votes[i].added;
		}
	}
}

/* ---- queues ---- */

static guint hash_sources(gconstpointer data)
{
	GHashTableIter iter;
	gpointer name;
	guint hash = 0;

	g_hash_table_iter_init(&iter, ((const struct lqn_consumer *) data)->sources);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		hash += g_direct_hash(name);
	}
	return hash;
}

static gboolean same_sources(gconstpointer a, gconstpointer b)
{
	GHashTable *x = ((const struct lqn_consumer *) a)->sources, *y = ((const struct lqn_consumer *) b)->sources;
	GHashTableIter iter;
	gpointer name;

	if (g_hash_table_size(x) != g_hash_table_size(y)) {
		return FALSE;
	}
	g_hash_table_iter_init(&iter, x);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		if (!g_hash_table_contains(y, name)) {
			return FALSE;
		}
	}
	return TRUE;
}

/* What a service has published. */
struct published {
	guint count;
	GHashTable *lengths;	/* bytes -> how many of that length; owned */
};

static void published_free(gpointer data)
{
	g_hash_table_destroy(((struct published *) data)->lengths);
	g_free(data);
}

/* By the service's name. */
static GHashTable *count_published(const struct lqn_broker *broker)
{
	GHashTable *all = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, published_free);

	for (guint i = 0; i < broker->publications->len; i++) {
		const struct lqn_arc *arc = lqn_publication_at(broker, i)->arc;
		const char *service = lqn_invocation_service(arc->caller);
		struct published *published = g_hash_table_lookup(all, service);
		gpointer bytes = GUINT_TO_POINTER(arc->bytes);

		if (!published) {
			published = g_new0(struct published, 1);
			published->lengths = g_hash_table_new(g_direct_hash, g_direct_equal);
			g_hash_table_insert(all, (gpointer) service, published);
		}
		published->count++;
		g_hash_table_insert(published->lengths, bytes,
			GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(published->lengths, bytes)) + 1));
	}
	return all;
}

/* What has been delivered out of a queue. */
struct drawn {
	guint count;
	bool any;		/* of some it is not known how long they were when they were published */
	bool apart;		/* each consumer has a queue of its own instead */
	GHashTable *lengths;	/* set of bytes, as they were published; owned */
};

static void clear_drawn(gpointer data)
{
	g_hash_table_destroy(((struct drawn *) data)->lengths);
}

/* struct drawn by the number of the queue; those of no queue are empty. */
static GArray *count_drawn(const struct lqn_broker *broker)
{
	GArray *all = g_array_new(FALSE, TRUE, sizeof(struct drawn));

	g_array_set_clear_func(all, clear_drawn);
	g_array_set_size(all, broker->consumers->len);
	for (guint i = 0; i < all->len; i++) {
		g_array_index(all, struct drawn, i).lengths = g_hash_table_new(g_direct_hash, g_direct_equal);
	}
	for (guint i = 0; i < broker->deliveries->len; i++) {
		const struct lqn_arc *delivered = g_array_index(broker->deliveries, struct lqn_delivery, i).delivered;
		const struct lqn_consumer *consumer = lqn_broker_consumer(broker, delivered->callee);
		struct drawn *drawn = &g_array_index(all, struct drawn, consumer->queue);

		drawn->count++;
		if (consumer->added == INT64_MIN) {
			drawn->any = true;
		} else {
			g_hash_table_add(drawn->lengths, GUINT_TO_POINTER((guint) (delivered->bytes - consumer->added)));
		}
	}
	return all;
}

/* Publications that may be the consumer's, and have the size of some delivery from its queue: others ask for something else. */
static guint count_fitting(const struct lqn_consumer *consumer, const struct drawn *drawn, GHashTable *published)
{
	GHashTableIter services, lengths;
	gpointer service, of, bytes;
	guint fitting = 0;

	g_hash_table_iter_init(&services, published);
	while (g_hash_table_iter_next(&services, &service, &of)) {
		const struct published *it = of;

		if (!lqn_consumer_gets(consumer, service)) {
			continue;
		}
		g_hash_table_iter_init(&lengths, drawn->lengths);
		while (!drawn->any && g_hash_table_iter_next(&lengths, &bytes, NULL)) {
			fitting += GPOINTER_TO_UINT(g_hash_table_lookup(it->lengths, bytes));
		}
		fitting += drawn->any ? it->count : 0;
	}
	return fitting;
}

/* Who gets messages of the same services shares a queue, that of the first of them, … */
static void share_queues(struct lqn_broker *broker)
{
	g_autoptr(GHashTable) firsts = g_hash_table_new(hash_sources, same_sources);

	for (guint i = 0; i < broker->consumers->len; i++) {
		struct lqn_consumer *it = lqn_consumer_at(broker, i), *first = g_hash_table_lookup(firsts, it);

		it->queue = first ? first->number : i;
		if (!first) {
			g_hash_table_add(firsts, it);
		}
	}
}

/* … if there are about as many deliveries as publications that can be theirs; else each has its own. */
static void part_queues(struct lqn_broker *broker)
{
	g_autoptr(GHashTable) published = count_published(broker);
	g_autoptr(GArray) drawn = count_drawn(broker);

	for (guint i = 0; i < broker->consumers->len; i++) {
		struct lqn_consumer *it = lqn_consumer_at(broker, i);
		struct drawn *of = &g_array_index(drawn, struct drawn, it->queue);

		if (it->queue == i) {
			of->apart = of->count >= SEVERAL * MAX(count_fitting(it, of, published), 1);
		}
		if (of->apart) {
			it->queue = i;
		}
	}
}

void lqn_broker_learn_queues(struct lqn_broker *broker)
{
	share_queues(broker);
	part_queues(broker);
}
