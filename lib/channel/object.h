/* SPDX-License-Identifier: MIT */
#ifndef LQN_CHANNEL_OBJECT_H
#define LQN_CHANNEL_OBJECT_H

/*
 * What descriptors stand for: ends of connections, pipes, queues … An object lives while a
 * descriptor, an open call, or its peer points at it. Each object has a queue of the messages that
 * will be read from it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

struct lqn_channels;

/* Addresses and ports of a TCP connection, seen from one end. */
struct lqn_tuple {
	uint64_t saddr, daddr;
	uint16_t sport, dport;
};

/* Likewise, seen from the other end. */
static inline struct lqn_tuple lqn_tuple_reverse(const struct lqn_tuple *tuple)
{
	return (struct lqn_tuple) { tuple->daddr, tuple->saddr, tuple->dport, tuple->sport };
}

/* A message in a channel. */
struct lqn_message {
	struct lqn_message *next, *prev;	/* owned by the queue */
	uint64_t from, seq, thread;	/* object it was sent into, number there, sender */
	uint64_t reserved;		/* thread that was handed it directly; 0: none */
	uint64_t to;			/* object that it is told to reach; 0: whose queue it is in */
	int64_t sent;			/* begin of the send */
	int64_t ended;			/* end of the send */
	int64_t bytes;			/* not yet read; -1: the send has not ended */
	int64_t length;			/* `bytes` when it had */
	uint32_t priority;
};

/* A receive whose messages are not known yet. */
struct lqn_held {
	struct lqn_held *next;		/* owned by the queue */
	uint64_t thread, object;
	int64_t begin, end, cpu_begin, cpu_end;
	int64_t bytes, left;		/* left: not yet explained by a message */
	bool found_empty;		/* it blocked: nothing was there when it began, … */
	bool waits_for_all;		/* … or less than it asked for */
	int64_t empty;			/* when that was */
	uint64_t woken_from, woken_seq;	/* message inside whose send it was woken; 0: none */
	/* what it has taken so far */
	uint64_t from, seq, sender, to;
	int64_t sent;
	uint32_t count;
};

#define LQN_VOTES_MAX 8

struct lqn_vote {
	struct lqn_object *object;	/* pinned */
	uint32_t weight;
};

struct lqn_object {
	struct lqn_channels *channels;	/* borrowed */
	uint64_t id;
	uint8_t kind;			/* enum lqn_object_kind */
	uint8_t base;			/* listener: kind of what it makes */
	uint8_t role;			/* enum lqn_role */
	uint8_t evidence;		/* of the peer */
	bool announced;			/* an lqn:object has told of it */
	bool closed;			/* no descriptor is left */
	bool bound;			/* has an address of its own */
	bool preexisting;		/* older than the trace */
	bool foretold;			/* a snapshot has told of it */
	bool has_tuple;
	bool keyed;			/* System V: known by its id, no descriptor stands for it */
	/* the other end is on another host: who sends is not known here */
	bool remote;
	bool semaphore;			/* eventfd: each read takes one */
	bool untracked;			/* too much was never read: its messages are not matched */
	GQueue *stands;			/* the line that it stands in, while connecting; borrowed */
	GList *place;			/* there; owned by the line */
	bool connecting;		/* waits in its listener's line for an accept … */
	bool queued;			/* … and is known to have come there */
	bool orphan;			/* among the channels' orphans */
	/* descriptors, open calls, peers, votes … that point here */
	uint32_t pins;
	uint32_t fds;			/* of which descriptors */
	uint32_t receiving;		/* threads in a receive on it */
	uint64_t reader;		/* the thread that receives on it; 0: none yet … */
	bool readers;			/* … and others do */
	bool guessed;			/* datagrams: senders are taken to be those who the votes say */
	bool paused;			/* its receives wait until all of these are known */
	struct lqn_object *peer;	/* pinned; for a datagram socket: where its messages go */
	struct lqn_object *mailbox;	/* pinned: flow of UDP: where its datagrams are read; NULL: none */
	struct lqn_object *alias;	/* pinned: the same thing under another descriptor */
	struct lqn_object *listener;	/* pinned: through which it was made */
	struct lqn_object *candidate;	/* pinned: peer by order of connects and accepts */
	struct lqn_tuple tuple;
	uint64_t maker;			/* thread */
	uint64_t inode;			/* of a socket that is foretold */
	/* of a file: process that has locked it; of a pidfd: the process; of a socket: who connected it; 0: none known */
	int32_t pid;
	/* eventfd that is a semaphore: the message that was taken last */
	uint64_t from, from_seq, from_thread;
	int64_t from_sent;
	bool armed;			/* timerfd: set anew since it was read last … */
	bool absolute;			/* … to a time of the clock */
	char *name;			/* owned; path or queue name; NULL: none */
	struct lqn_vote votes[LQN_VOTES_MAX];
	uint32_t n_votes;
	/* messages to be read from here, oldest first */
	struct lqn_message *messages, *messages_last;
	uint32_t n_messages;
	/* messages of a peer that is a guess which have been read from here, the latest of them, oldest first */
	struct lqn_message *taken, *taken_last;
	uint32_t n_taken;
	int64_t mistaken;		/* bytes read that were told as another's than the peer's */
	/* messages sent here while the peer is not known */
	struct lqn_message *unsent, *unsent_last;
	uint32_t n_unsent;
	/* receives that wait for their messages, oldest first */
	struct lqn_held *held, *held_last;
	uint32_t n_held;
	uint64_t seq;			/* of the last message sent into it … */
	int64_t sent;			/* … and when; 0: none */
	/* a listener's line of connections that are not accepted yet */
	GQueue *line;			/* struct lqn_object, pinned; owned; NULL: none */
};

/* A new object without pins. `name` is copied; NULL: none. */
struct lqn_object *lqn_object_new(struct lqn_channels *channels, enum lqn_object_kind kind,
	uint64_t maker, const char *name);
struct lqn_object *lqn_object_pin(struct lqn_object *object);
/* Takes a pin off; the last one frees. NULL is allowed. */
void lqn_object_unpin(struct lqn_object *object);
/* Makes `*slot` point at `object` (may be NULL), with pins kept right. */
void lqn_object_set(struct lqn_object **slot, struct lqn_object *object);

/* The object under all its other names. */
static inline struct lqn_object *lqn_object_real(struct lqn_object *object)
{
	while (object && object->alias) {
		object = object->alias;
	}
	return object;
}

/* True for what bytes or messages go through. */
bool lqn_object_is_channel(const struct lqn_object *object);
/* True for two ends that answer each other. */
bool lqn_object_is_stream(const struct lqn_object *object);

/* Descriptors of a process. */
struct lqn_fd_table;

struct lqn_fd_table *lqn_fd_table_new(struct lqn_channels *channels);
/* Closes all that is open. */
void lqn_fd_table_free(struct lqn_fd_table *table);
/* A copy, as fork makes one. */
struct lqn_fd_table *lqn_fd_table_copy(const struct lqn_fd_table *table);
/* Borrowed; NULL if the descriptor is not known. */
struct lqn_object *lqn_fd_table_get(const struct lqn_fd_table *table, int64_t fd);
/*
 * Puts `object` (NULL: nothing) at `fd` in the place of what was there, which may be closed
 * thereby. Descriptors beyond LQN_FD_MAX are ignored: a number of the trace must not decide how
 * much memory is taken.
 */
void lqn_fd_table_set(struct lqn_fd_table *table, int64_t fd, struct lqn_object *object);
/* One more than the highest descriptor that may be in use. */
int64_t lqn_fd_table_end(const struct lqn_fd_table *table);

#define LQN_FD_MAX (1 << 20)

#endif
