/* SPDX-License-Identifier: MIT */
#ifndef LQN_MODEL_BROKERS_H
#define LQN_MODEL_BROKERS_H

/* Private to brokers.c, which finds services that pass messages on, and joining.c, which finds whose they were. */
#include "build.h"

/* A message that a broker has taken. */
struct lqn_publication {
	struct lqn_arc *arc;
	int64_t at;			/* when the broker began to work on it */
	uint64_t delivered;		/* in which queues, as bits */
};

/* Who gets messages of a broker. */
struct lqn_consumer {
	const char *name;		/* interned */
	const struct lqn_party *host;
	uint64_t deliveries;
	GHashTable *sources;		/* names of services whose messages it has got, by context; owned */
	int64_t added;			/* bytes that the broker adds; INT64_MIN: not known, or not always the same */
	int64_t since;			/* what was published before this is none of its later messages */
	guint queue;			/* its own, or the first one's that all share */
	guint next;			/* of the queue with this one's number: publications before it have been delivered */
};

struct lqn_broker {
	const char *name;		/* interned */
	const struct lqn_party *host;
	GArray *publications;		/* struct lqn_publication, by `at`; owned */
	GArray *deliveries;		/* struct lqn_delivery, as their messages were decided on; owned */
	GArray *consumers;		/* struct lqn_consumer; owned */
	GHashTable *index;		/* arc of a publication -> its number + 1; owned */
};

/* NULL: it gets no messages of the broker. */
struct lqn_consumer *lqn_broker_consumer(const struct lqn_broker *broker, struct lqn_invocation *work);
/* The request that the broker worked for as it delivered, if it is of another than who gets the delivery. NULL: none. */
struct lqn_arc *lqn_delivery_context(const struct lqn_delivery *delivery);
/* When a thread went on after the last wait before `ts` in which it was idle; INT64_MIN: not known. */
int64_t lqn_awake_since(const struct lqn_actor *actor, int64_t ts);

/* joining.c: of each delivery the publication that it is, as far as that is known. */
void lqn_broker_join(const struct lqn_analysis *analysis, struct lqn_broker *broker);

#endif
