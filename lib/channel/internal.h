/* SPDX-License-Identifier: MIT */
#ifndef LQN_CHANNEL_INTERNAL_H
#define LQN_CHANNEL_INTERNAL_H

/* Private to lib/channel: what its parts offer each other. */
#include "channel/channel.h"

#define LQN_QUEUE_MAX 65536	/* messages kept that nobody reads */
#define LQN_MESSAGES_MANY (1u << 18)	/* of them all, from which on fewer are */
#define LQN_DOUBT_MAX 64	/* messages or receives kept of what may be no channel at all */
#define LQN_HELD_MAX 1024	/* receives kept that nothing explains yet */
#define LQN_ORPHANS_MAX 64
#define LQN_DEPARTED_MAX 1024
#define LQN_FLOWS_MAX 16384	/* UDP: pairs of addresses kept, in both directions */
#define LQN_IPC_MAX 65536	/* System V queues and semaphores; Linux allows 32,000 of each */
#define LQN_TAKEN_MAX 16	/* messages kept that were read from who may turn out to be another's peer */
#define LQN_GUESS_AT 64		/* held receives after which the best guess of a peer is taken */

/* ---- channel.c ---- */

/* In `listeners` of the channels: this process connects to more than one. */
extern struct lqn_object lqn_several_listeners;

/* ---- messages.c ---- */

/* True if what is sent into an object is read from the same. */
bool lqn_object_is_shared(const struct lqn_object *object);

/* Moves what was sent before the pairing was known to where it is read. */
void lqn_channel_forward_unsent(struct lqn_object *from, struct lqn_object *to);
/* The reverse, for two ends that were paired wrongly: also of what has been read, as far as that is kept. */
void lqn_channel_take_back(struct lqn_object *from, struct lqn_object *to);
/* Moves what waits to be read from one to the other. */
void lqn_channel_move_messages(struct lqn_object *from, struct lqn_object *to);
/* What has not been read there never will be. */
void lqn_channel_forget_messages(struct lqn_object *object);
/* A message from another host is there to be read, by way of the object `to`. */
void lqn_channel_arrived(struct lqn_object *mailbox, uint64_t to, int64_t ts, int64_t bytes);

/* ---- match.c ---- */

/* Tells of what can be told by now. */
void lqn_channel_drain(struct lqn_object *object);
/* Tells of all that is held, with what is known: nothing more will come. */
void lqn_channel_give_up(struct lqn_object *object);
/* Receives that wait there wait for the messages of another object from now on. */
void lqn_channel_move_held(struct lqn_object *from, struct lqn_object *to);

/* ---- flow.c ---- */

void lqn_channel_clear_flows(struct lqn_channels *channels);

/* ---- pair.c ---- */

/* Two objects of one queue are one: `object` is another name of `other`. */
void lqn_channel_merge(struct lqn_object *object, struct lqn_object *other);
/*
 * `object` came from nowhere, as a descriptor does that another process passed on, and turns out to
 * be `original`: it talks to that one's peer, or has its addresses. False: it cannot be.
 */
bool lqn_channel_set_alias(struct lqn_object *object, struct lqn_object *original);
/* What no descriptor stands for is the other end of none, and would be held for ever, for it is never closed. */
static inline bool lqn_channel_is_end(const struct lqn_object *object)
{
	return lqn_object_is_channel(object) && !object->keyed;
}
/*
 * A receive on `object` got what was not sent by its peer: it was sent through a descriptor of the
 * peer that was passed on. True if one is found by length and time.
 */
bool lqn_channel_adopt(struct lqn_object *object, const struct lqn_held *held);
/* `object` came from nowhere and is written to. */
void lqn_channel_note_orphan(struct lqn_object *object);
/* The last descriptor of an object is closed. */
void lqn_channel_closed(struct lqn_object *object);

/* ---- guess.c ---- */

/* Takes the best guess of a peer, for want of evidence. True if there was one. */
bool lqn_channel_guess(struct lqn_object *object);
void lqn_channel_clear_votes(struct lqn_object *object);

/* ---- address.c ---- */

/* Names an object by its addresses. */
void lqn_channel_name_by_tuple(struct lqn_object *object);

/* True for an address of the host, on which `other` talks to it. */
bool lqn_channel_is_local(const struct lqn_channels *channels, uint64_t address, uint64_t other);

/* ---- line.c ---- */

/*
 * Takes an object that is closed out of the line that it stands in, and whoever stands in its own.
 */
void lqn_channel_leave_lines(struct lqn_object *object);

/* The process has connected to the listener: the next time it stands in that one's line, unless it uses several. */
void lqn_channel_connects_to(struct lqn_channels *channels, int32_t pid, struct lqn_object *listener);

#endif
