/* SPDX-License-Identifier: MIT */
#ifndef LQN_MODEL_BROKERS_H
#define LQN_MODEL_BROKERS_H

/*
 * Private to brokers.c, which finds services that pass messages on, consumers.c, which learns how, and joining.c, which finds
 * whose they were.
 */
#include "build.h"

/* A message that a broker has taken. */
struct lqn_publication {
	struct lqn_arc *arc;
	int64_t at;			/* when the broker began to work on it */
	uint64_t delivered;		/* in which queues, as bits */
};

struct lqn_where {
	const char *service;		/* name; interned */
	const struct lqn_party *host;
};

/* Who gets messages of a broker. */
struct lqn_consumer {
	struct lqn_where where;		/* first: it is the key of what finds it */
	guint number;			/* index among the broker's consumers */
	uint64_t deliveries;
	GHashTable *sources;		/* names of services whose messages it has got, by context; owned */
	int64_t added;			/* bytes that the broker adds; INT64_MIN: not known, or not always the same */
	int64_t since;			/* what was published before this is none of its later messages */
	guint queue;			/* its own, or the first one's that all share */
	guint next;			/* of the queue with this one's number: publications before it have been delivered */
};

struct lqn_broker {
	struct lqn_where where;		/* first, likewise */
	GArray *publications;		/* struct lqn_publication, by `at`; owned */
	GArray *deliveries;		/* struct lqn_delivery, as their messages were decided on; owned */
	GPtrArray *consumers;		/* struct lqn_consumer, owned; owned */
	GHashTable *by_where;		/* the same, by where they are; owned */
	GHashTable *index;		/* arc of a publication -> its number + 1; owned */
};

static inline struct lqn_publication *lqn_publication_at(const struct lqn_broker *broker, guint index)
{
	return &g_array_index(broker->publications, struct lqn_publication, index);
}

static inline struct lqn_consumer *lqn_consumer_at(const struct lqn_broker *broker, guint index)
{
	return broker->consumers->pdata[index];
}

/* By how many bytes what is delivered is longer than what was published. */
static inline int64_t lqn_added(const struct lqn_arc *published, const struct lqn_arc *delivered)
{
	return (int64_t) delivered->bytes - published->bytes;
}

/*
 * Whether the consumer may get what the service publishes: it is another, and one whose messages it gets, if it is known whose
 * these are.
 */
static inline bool lqn_consumer_gets(const struct lqn_consumer *consumer, const char *service)
{
	return service != consumer->where.service &&
		(g_hash_table_size(consumer->sources) == 0 || g_hash_table_contains(consumer->sources, service));
}

/* NULL: it gets no messages of the broker. */
struct lqn_consumer *lqn_broker_consumer(const struct lqn_broker *broker, struct lqn_invocation *work);
/* The request that the broker worked for as it delivered, if it is of another than who gets the delivery. NULL: none. */
struct lqn_arc *lqn_delivery_context(const struct lqn_delivery *delivery);
/* When a thread went on after the last wait before `ts` in which it was idle; INT64_MIN: not known. */
int64_t lqn_awake_since(const struct lqn_actor *actor, int64_t ts);

/*
 * consumers.c: bytes by which most deliveries to a consumer are longer than what the broker worked on meanwhile (`added`). Then
 * which consumers share a queue (`queue`): those who get messages of the same services, if there are about as many deliveries
 * as publications that can be theirs; else each has its own.
 */
void lqn_broker_learn_sizes(struct lqn_broker *broker);
void lqn_broker_learn_queues(struct lqn_broker *broker);

/* joining.c: of each delivery the publication that it is, as far as that is known. */
void lqn_broker_join(const struct lqn_analysis *analysis, struct lqn_broker *broker);

#endif
