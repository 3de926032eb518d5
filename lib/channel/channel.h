/* SPDX-License-Identifier: MIT */
#ifndef LQN_CHANNEL_CHANNEL_H
#define LQN_CHANNEL_CHANNEL_H

/*
 * Which bytes are whose: pairs the ends of connections (pair.c) and matches what is received to
 * what was sent (match.c). A receive is told of (lqn:receive) when its messages are known, which
 * may be long after it: the send may not have ended, or the ends may not have been paired yet.
 */
#include "channel/object.h"

struct lqn_channels {
	lqn_event_func emit;
	void *payload;
	uint64_t next_id;
	GHashTable *by_tuple;		/* struct lqn_object (borrowed), by its tuple */
	GHashTable *by_path;		/* name -> struct lqn_object (borrowed) */
	GHashTable *fifos;		/* names that are known to be FIFOs, owned */
	/* pid -> listener its connects went to (pinned), or several_listeners */
	GHashTable *listeners;
	GHashTable *words;		/* pid -> its futex words: address -> id */
	/* System V queues and semaphores: kind and id -> struct lqn_object (pinned) */
	GHashTable *ipc;
	GQueue orphans;			/* descriptors from nowhere that were written to; pinned */
	GQueue departed;		/* closed ends of TCP whose messages nobody has read yet; pinned */
	GQueue line;			/* connects to a listener that is not known yet; pinned */
	GHashTable *addresses;		/* of this host, by the packets that it sends */
	GHashTable *flows;		/* of UDP, and mailboxes: struct lqn_object (pinned), by tuple, … */
	GQueue flow_order;		/* … and by age */
	/* TCP ends are told by addresses; order says nothing better */
	bool have_packets;
	uint64_t contradictions;	/* evidence against a pairing */
	uint64_t overruns;		/* queues given up */
	uint64_t messages;		/* that lie in any of them */
};

/* ---- channel.c ---- */

void lqn_channels_init(struct lqn_channels *channels, lqn_event_func emit, void *payload);
/* All objects must have lost their pins but those of the channels themselves. */
void lqn_channels_clear(struct lqn_channels *channels);

/* Tells of an object (lqn:object), if `again` even if it was told of before. */
void lqn_channel_announce(struct lqn_object *object, bool again);

/*
 * The id of a futex word. Words of different processes are different until a wake shows that they
 * are one.
 */
uint64_t lqn_channel_word(struct lqn_channels *channels, int32_t pid, uint64_t address);

/* A process is no more: what is known of its words and of where it connects to goes. */
void lqn_channel_forget_process(struct lqn_channels *channels, int32_t pid);

/* The object of a path or queue name; made if there is none. Borrowed. */
struct lqn_object *lqn_channel_by_path(struct lqn_channels *channels, enum lqn_object_kind kind,
	const char *name, uint64_t maker);

/*
 * The object of a System V id: LQN_OBJ_QUEUE or LQN_OBJ_SEMAPHORE. Made if there is none; NULL if there are
 * more than a kernel has. Borrowed; it lives until lqn_channel_forget_ipc().
 */
struct lqn_object *lqn_channel_ipc(struct lqn_channels *channels, enum lqn_object_kind kind, int32_t id);
void lqn_channel_forget_ipc(struct lqn_channels *channels, enum lqn_object_kind kind, int32_t id);

/* A path is a FIFO, whoever opens it from now on. */
void lqn_channel_is_fifo(struct lqn_channels *channels, const char *path);

/* This host has an address. */
void lqn_channel_note_address(struct lqn_channels *channels, uint64_t address);

/* ---- match.c: messages ---- */

/*
 * A send begins: its message gets its place in the order now, its length when it ends. Returns its
 * number among the messages of `object`, or 0 if the object takes none.
 */
uint64_t lqn_channel_send_begin(struct lqn_object *object, uint64_t thread, int64_t ts,
	uint32_t priority);
/*
 * It ended; bytes <= 0: nothing was sent. from: id of what `object` was another name of when the
 * send began.
 */
void lqn_channel_send_end(struct lqn_object *object, uint64_t from, uint64_t seq, int64_t ts,
	int64_t bytes);

/*
 * True if just one thread is in a receive on it: what that finds there, or not, tells what is
 * there.
 */
bool lqn_channel_is_read_by_one(struct lqn_object *object);

/* A receive ended with held->bytes > 0. `held` is copied. */
void lqn_channel_receive(struct lqn_object *object, const struct lqn_held *held);

/*
 * A thread that waits in a receive on `object`, a message queue, was handed the message: nobody
 * else gets it.
 */
void lqn_channel_reserve(struct lqn_object *object, uint64_t seq, uint64_t thread);

/* ---- flow.c: UDP ---- */

/*
 * What goes from tuple->saddr to tuple->daddr, made if there is none. Borrowed: it may go when
 * others are made.
 */
struct lqn_object *lqn_channel_flow(struct lqn_channels *channels, const struct lqn_tuple *tuple,
	uint64_t maker);
/* What goes to this address and port is read at the socket. */
void lqn_channel_own(struct lqn_object *socket, uint64_t address, uint16_t port);
/* A packet has come up from a device; does nothing if this host has sent it. */
void lqn_channel_datagram(struct lqn_channels *channels, const struct lqn_tuple *tuple, int64_t ts,
	int64_t bytes);

/* ---- pair.c: ends ---- */

/* `object` has these addresses: pairs it with the end that has them the other way round. */
void lqn_channel_set_tuple(struct lqn_object *object, const struct lqn_tuple *tuple);

/* Exact evidence that what is sent into `from` is read from `to`. */
void lqn_channel_pair(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence);
/* Weak evidence. */
void lqn_channel_vote(struct lqn_object *from, struct lqn_object *to);

/*
 * Takes the best guess of a peer, for want of evidence, for the readers among `objects` (struct
 * lqn_object; is sorted), strongest votes first; then tells of all that they hold.
 */
void lqn_channels_give_up(GPtrArray *objects);

/* ---- line.c: connects and accepts ---- */

/* A client connects; an accept makes an end. */
void lqn_channel_connect(struct lqn_object *object, int32_t pid);
/*
 * It now stands in its listener's line: others in the line who are not known to do so come after
 * it.
 */
void lqn_channel_connect_queued(struct lqn_object *object);
void lqn_channel_connect_failed(struct lqn_object *object);
/* `woke`: whose connect woke the thread that accepts; NULL: none. */
void lqn_channel_accept(struct lqn_object *listener, struct lqn_object *made, struct lqn_object *woke);
/* An accept has found that nobody waits there. */
void lqn_channel_accept_found_none(struct lqn_object *listener);
/* A connect on `object` of `pid` woke a thread that waits for connections of `listener`. */
void lqn_channel_connect_woke(struct lqn_object *object, int32_t pid, struct lqn_object *listener);

#endif
