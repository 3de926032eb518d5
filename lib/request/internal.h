/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_INTERNAL_H
#define LQN_REQUEST_INTERNAL_H

/* Private to lib/request: ends of channels and what is under way on them, and who calls whom of its files. */
#include "facts.h"

struct lqn_note {				/* a message under way */
	struct lqn_note *next, *prev;
	uint64_t seq;
	uint32_t bytes;
	struct lqn_arc *arc;			/* the request that it is */
	struct lqn_invocation *reply_of;	/* the invocation that it answers */
	bool more;				/* of an answer that has begun before */
	bool begun;				/* a part of it has been received */
	struct lqn_invocation *caller;		/* queues: who gets the answer */
};

/* Of apart.c: the last message that was received at an end; at one that asks, the first that was sent since an answer. seq = 0: none. */
struct lqn_turn {
	uint64_t seq, by;			/* by: the thread's key */
	int64_t at, cpu;			/* when that had been received, and its CPU clock then */
	uint32_t bytes, head;			/* head: of which were read by themselves first; 0: all of it in one go */
	bool first;				/* it came after an answer */
};

#define LQN_READERS_MAX 256
#define LQN_NAMES_MAX 65536	/* of threads and spans */

struct lqn_end {
	struct lqn_party *host;		/* borrowed */
	uint64_t id;
	uint8_t kind, role;			/* enum lqn_object_kind, enum lqn_role */
	struct lqn_end *peer, *listener;	/* borrowed */
	struct lqn_end *alias;		/* borrowed: the same end under another descriptor; NULL: none */
	char *name;				/* owned; NULL: none */
	bool remote;			/* the peer is on another host */
	bool guessed;			/* `role` was: the connection is older than the trace */
	bool sure;			/* who its peer is, is certain */
	bool one_way;			/* older than the trace, and nothing ever comes back: a mailbox */
	bool asked;			/* a request was received here */
	/* of fetch.c: what was received here since the last send, by whom (its key), when; begin of the last send */
	uint32_t asked_bytes;
	uint64_t asked_by;
	int64_t asked_at, sent_at;
	struct lqn_turn turn;
	uint32_t took_bytes;			/* of the last message that was received here */
	bool shared;			/* several threads use it */
	struct lqn_actor *user;		/* the first who sent or received here; NULL: nobody */
	int64_t first_send;		/* INT64_MAX: none */
	struct lqn_actor *outside;	/* remote, of a host that is not traced: who is there; borrowed; NULL: it is, or not known */
	int64_t said_at;		/* likewise: when that last sent or received */
	struct lqn_end *found;		/* likewise, until its host was traced: the end from then on; borrowed; NULL: it never was */
	bool late;			/* what comes here may have been sent before that */
	GQueue *outgoing;		/* remote: struct lqn_unread, sent and not read; owned; NULL: none */
	GQueue *pending;		/* remote: struct lqn_pending, receives whose messages are not known; likewise */
	uint64_t sends;				/* in all that has come by now, later than what is worked on */
	uint64_t prompt;			/* likewise, of which by a thread that had last received a request here */
	GPtrArray *readers;			/* struct lqn_actor, the first LQN_READERS_MAX; owned; NULL: none */
	struct lqn_note *notes, *last_note;	/* sent, not received; oldest first */
	uint32_t n_notes;
	GQueue open;				/* struct lqn_invocation: requests received here, not answered */
	struct lqn_invocation *answered;	/* the last that was; NULL: none, or another request came since */
	int answers;				/* > 0: what goes out here has of late been answers; bounded by ANSWERS_MAX */
	GQueue calls;				/* struct lqn_arc: requests sent here, not answered */
	bool pipelined;				/* requests were sent here before the one in front of them was answered */
	int64_t free_since;			/* when the last answer was received here; 0: none was */
	int64_t closed;				/* when no descriptor was left; 0: not yet */
	bool needed;				/* of forget-parties.c */
};

/* ---- notes.c: messages under way ---- */
/* One more that is sent there; the oldest is let go if there are too many. */
struct lqn_note *lqn_note_add(struct lqn_end *end, uint64_t seq);
/* The note of a message; NULL if it was not seen to be sent. */
struct lqn_note *lqn_note_find(struct lqn_end *end, uint64_t seq);
/* Likewise; it is no longer under way, and the caller's to give back to the region. */
struct lqn_note *lqn_note_take(struct lqn_end *end, uint64_t seq);

/* ---- parties.c ---- */
struct lqn_party *lqn_party_new(const char *name, unsigned number, struct lqn_keep *keep);
void lqn_party_free(struct lqn_party *host);
struct lqn_unit *lqn_party_unit(struct lqn_party *host, uint32_t pid);
struct lqn_actor *lqn_party_actor(struct lqn_party *host, uint64_t key);
struct lqn_end *lqn_party_end(struct lqn_party *host, uint64_t id);
/* The end under all its other names. */
static inline struct lqn_end *lqn_end_real(struct lqn_end *end)
{
	while (end && end->alias && end->alias != end) {
		end = end->alias;
	}
	return end;
}

/* True if the thread was seen to read from there, or, where very many do, one of its process was. */
bool lqn_end_is_read_by(const struct lqn_end *end, struct lqn_actor *actor);
static inline bool lqn_end_is_stream(const struct lqn_end *end)
{
	return (end->kind == LQN_OBJ_TCP || end->kind == LQN_OBJ_UNIX) && !end->one_way;
}

/* Where what is sent into `end` is read; NULL: not known. */
static inline struct lqn_end *lqn_end_target(struct lqn_end *end)
{
	return lqn_object_kind_is_shared(end->kind) ? end : lqn_end_real(end->peer);
}

/* True if nothing is ever sent there: what comes wants no answer. */
bool lqn_end_is_one_way(const struct lqn_end *end);
/* What comes there are requests, or may be: all who read from it serve. */
void lqn_readers_serve(struct lqn_end *end);
/* The name, interned; `others` if it is one more than LQN_NAMES_MAX. */
const char *lqn_intern(struct lqn_keep *keep, const char *name);
void lqn_actor_set_name(struct lqn_actor *actor, const char *comm);
/* True for a process that only asks, from one loop: no request ever comes to it, and it does not sleep. */
bool lqn_actor_is_loop_client(const struct lqn_actor *actor);

/* ---- identity.c: names by snapshots and rules ---- */
/* Looks for the snapshot of a new host. */
void lqn_identify_host(struct lqn_analysis *analysis, struct lqn_party *host);
/* Finds out anew who the process of a thread is, of which something has been told. */
void lqn_identify(struct lqn_analysis *analysis, struct lqn_actor *actor);

/* ---- packets.c: data between hosts ---- */
GHashTable *lqn_flows_new(void);
void lqn_on_packet(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
/* Let go what is not kept; bytes that stay. */
uint64_t lqn_packets_forget(struct lqn_analysis *analysis);

/* ---- ios.c ---- */
void lqn_on_io(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
/* Lets go what is not kept; bytes that stay. */
uint64_t lqn_ios_forget(struct lqn_analysis *analysis, struct lqn_party *host);

/* ---- link.c: connections between hosts ---- */
/* An end whose peer is on another host, with its name. */
void lqn_link_end(struct lqn_analysis *analysis, struct lqn_end *end, int64_t ts);
void lqn_link_sent(struct lqn_analysis *analysis, struct lqn_party *host, struct lqn_end *end,
	const struct lqn_event *ev);
/* Passes the event on to the order when its sender is known. */
void lqn_link_received(struct lqn_analysis *analysis, struct lqn_party *host, struct lqn_end *end,
	const struct lqn_event *ev);
void lqn_link_drain(struct lqn_analysis *analysis, struct lqn_end *end);
/* Passes on what still waits. */
void lqn_link_flush(struct lqn_analysis *analysis);

/* ---- outside.c: connections to hosts that are not traced ---- */
/*
 * True if the other end of the remote end is not of a host in the trace, as far as can be said by now; or if it has none and
 * will have none.
 */
bool lqn_end_is_outside(struct lqn_analysis *analysis, struct lqn_party *host, struct lqn_end *end, bool over);
/* Passes on what was received from there, with the message that it was. */
void lqn_outside_received(struct lqn_analysis *analysis, struct lqn_party *host, struct lqn_end *end, const struct lqn_event *ev);
/* Passes on that what was sent has been received there; the send itself is the caller's to pass on, before. */
void lqn_outside_sent(struct lqn_analysis *analysis, struct lqn_party *host, struct lqn_end *end, const struct lqn_event *ev);
void lqn_outside_closed(struct lqn_analysis *analysis, struct lqn_party *host, struct lqn_end *end, int64_t ts);
/* The host of the other end is traced, from `ts` on: the end that takes this one's place. */
struct lqn_end *lqn_outside_found(struct lqn_analysis *analysis, struct lqn_end *end, int64_t ts);

/* ---- roles.c: who asks on connections older than the trace ---- */
bool lqn_end_needs_role(const struct lqn_end *end);
void lqn_roles_assign(struct lqn_party *host);
GHashTable *lqn_flows_between_new(void);
/* A message went from one process to another. */
void lqn_roles_count(struct lqn_party *host, struct lqn_unit *sender, struct lqn_unit *receiver);
/* 1: away from the clients, as requests go; -1: towards them, as answers do; 0: neither, or not known. */
int lqn_roles_direction(struct lqn_party *host, const struct lqn_unit *sender, const struct lqn_unit *receiver);
/* True if the one who first wakes the other through shared memory asks; false: that was an answer to what was not seen. */
bool lqn_roles_word_asks(struct lqn_party *host, const struct lqn_actor *from, const struct lqn_actor *to);
/* Forgets processes that are not `needed`. */
void lqn_roles_forget(struct lqn_party *host);

/* ---- fetch.c: requests that wait for somebody else's message; what comes is counted on the way in ---- */
GHashTable *lqn_fetch_kinds_new(void);
void lqn_fetch_count_wait(struct lqn_actor *actor, const struct lqn_event *ev);
void lqn_fetch_count_receive(struct lqn_actor *actor, struct lqn_end *end, const struct lqn_event *ev,
	const struct lqn_actor *sender);
void lqn_fetch_count_send(struct lqn_party *host, struct lqn_actor *actor, struct lqn_end *end, int64_t ts);
/*
 * The thread sends a request that is received at `to`, and is `arc`: if it is for a message, it is marked, and what it did
 * before is over.
 */
void lqn_fetch_sent(struct lqn_actor *actor, const struct lqn_end *to, struct lqn_arc *arc, const struct lqn_event *ev);
/* The request for a message that what is sent now at `end`, towards `to`, answers: it is no longer open. NULL: it answers none. */
struct lqn_invocation *lqn_fetch_open(const struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *to);
/*
 * True if what the thread sends now on a connection is delivered by a broker, and is none of the answer to what is open
 * there. Counts what speaks for it.
 */
bool lqn_is_push(const struct lqn_actor *actor, struct lqn_end *end);
/* What is delivered to who has asked for it so. */
void lqn_fetch_answered(const struct lqn_actor *actor, const struct lqn_invocation *fetch, struct lqn_arc *delivered);

/* ---- holds.c ---- */
/* A woken thread that waits again after so little CPU time found nothing: another had taken it. */
#define LQN_FOUND_NOTHING_NS 20000
/* The thread has been let in. Returns whether it had been before, and found that another had been faster. */
bool lqn_got_lock(struct lqn_actor *actor, struct lqn_word *word, const struct lqn_event *ev);
/* The thread wakes the next one, and has thereby given it back. */
void lqn_gave_lock(struct lqn_analysis *analysis, struct lqn_actor *actor, struct lqn_word *word, const struct lqn_event *ev);
/* Notes the wait in what the thread works on; `again`: what lqn_got_lock() has returned. */
void lqn_waited_for_lock(struct lqn_actor *actor, uint64_t word, bool again, const struct lqn_event *ev);

/* ---- apart.c: messages that come one after the other without an answer; what comes is counted on the way in ---- */
GHashTable *lqn_apart_kinds_new(void);
void lqn_apart_count_receive(const struct lqn_actor *actor, struct lqn_end *end, const struct lqn_event *ev,
	const struct lqn_actor *sender);
void lqn_apart_count_send(struct lqn_actor *actor, struct lqn_end *end, const struct lqn_event *ev);
/* True if the last request that was received at the end is one by itself: what comes before an answer is none of it. */
bool lqn_is_apart(const struct lqn_end *end);

/* ---- unhanded.c: what busy workers take up ---- */
/* It has come, if it may be one that wants no answer; it has been handed to a worker. */
void lqn_unhanded_add(struct lqn_invocation *invocation);
void lqn_unhanded_remove(struct lqn_invocation *invocation);
/* The thread asks somebody, or sleeps: if it seemed to be at the end of a request that it has answered, it may have taken another. */
void lqn_unhanded_taken(struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t ts, int64_t cpu);
/* The thread waits for more work: what it has done may have been for one of them. True if it is taken to be. */
bool lqn_unhanded_done(struct lqn_actor *actor, int64_t ts, int64_t cpu);

/* ---- forget-parties.c ---- */
/* What is not kept goes; bytes of what is over and stays. */
uint64_t lqn_parties_forget(struct lqn_analysis *analysis);

/* ---- count.c: what is counted of events as they come ---- */
void lqn_count_wait(struct lqn_party *host, const struct lqn_event *ev);
void lqn_count_preempted(struct lqn_party *host, const struct lqn_event *ev);
void lqn_count_interrupted(struct lqn_party *host, const struct lqn_event *ev);
void lqn_count_send(struct lqn_party *host, const struct lqn_event *ev);
void lqn_count_receive(struct lqn_party *host, const struct lqn_event *ev);
void lqn_count_accept(struct lqn_party *host, const struct lqn_event *ev);
void lqn_count_word_wait(struct lqn_party *host, const struct lqn_event *ev);
void lqn_count_word_wake(struct lqn_party *host, const struct lqn_event *ev);

/* ---- order.c: events in order of what they tell, with a look ahead ---- */
struct lqn_order *lqn_order_new(struct lqn_analysis *analysis);
void lqn_order_free(struct lqn_order *order);
void lqn_order_push(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev);
/* Works on what happened before `until`, or on all and concludes. */
void lqn_order_advance(struct lqn_order *order, int64_t until);
void lqn_order_flush(struct lqn_order *order);

/* ---- the conversation; called in order ---- */
/* context.c */
/* True if its last call is open. */
static inline bool lqn_awaits_answer(const struct lqn_invocation *it)
{
	return it->last_arc && it->last_arc->replied == 0 && !it->last_arc->gone;
}

struct lqn_invocation *lqn_invocation_new(struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t ts,
	struct lqn_arc *request);
void lqn_invocation_free(struct lqn_analysis *analysis, struct lqn_invocation *invocation);
struct lqn_arc *lqn_arc_new(struct lqn_analysis *analysis, struct lqn_invocation *caller, int64_t ts,
	struct lqn_end *via, uint64_t word);
void lqn_charge(struct lqn_actor *actor, int64_t cpu, int64_t ts);
void lqn_settle(struct lqn_actor *actor);
/* What was taken for the second phase of the work came before the end of its answer. */
void lqn_was_first_phase(struct lqn_invocation *it);
/* Nothing more comes of the thread, whose CPU clock is at `cpu`. */
void lqn_conclude(struct lqn_actor *actor, int64_t cpu, int64_t ts);
void lqn_merge(struct lqn_invocation *from, struct lqn_invocation *into);
/* Gives `into` all that `from` did, CPU time apart. */
void lqn_hand_over(struct lqn_invocation *from, struct lqn_invocation *into, bool second_phase);
/* A request, sent at `sent`, reaches a thread, in a call that ended at `ts`, with the CPU clock from `cpu_begin` to `cpu`. */
struct lqn_invocation *lqn_begin_request(struct lqn_analysis *analysis, struct lqn_actor *actor,
	struct lqn_arc *request, int64_t sent, int64_t ts, int64_t cpu_begin, int64_t cpu);
static inline bool lqn_same_process(const struct lqn_actor *a, const struct lqn_actor *b)
{
	return a->host == b->host && a->unit == b->unit;
}

/* The thread has done with a message, by then. */
static inline void lqn_done_with(struct lqn_actor *actor, int64_t ts, int64_t cpu)
{
	actor->answered_at = actor->answered_at == ts ? ts : 0;
	actor->last_ts = ts;
	actor->last_cpu = cpu;
}

/* True for calls that wait for descriptors. */
bool lqn_call_polls(uint8_t call);
/* The thread takes up something else than its current work, which may wait for an answer. */
void lqn_leave(struct lqn_actor *actor, int64_t ts);
/* The thread waits for descriptors; `free`: where requests come. */
void lqn_pause(struct lqn_actor *actor, int64_t ts, bool free);
/* The thread goes on with what it may have left. */
void lqn_come_back(struct lqn_actor *actor, struct lqn_invocation *it);
/*
 * A call goes out on `end` at `ts` that nothing which the thread works on explains. If it has left a request that waits for nothing
 * known, it is taken to go on with it. True if that waited for the connection.
 */
bool lqn_take_up_idle(struct lqn_actor *actor, const struct lqn_end *end, int64_t ts, int64_t cpu);
/* Who was answered has not made its last call, for which nobody waits: one that the thread has left has. */
void lqn_give_call_to_idle(struct lqn_actor *actor, struct lqn_invocation *answered);
/* The context of something that a thread does at `ts` of its own accord. */
struct lqn_invocation *lqn_context(struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t ts, int64_t cpu);
/* A cycle of a client that never sleeps begins with what it asks at `ts`. */
struct lqn_invocation *lqn_begin_loop_cycle(struct lqn_analysis *analysis, struct lqn_actor *actor, int64_t ts, int64_t cpu);
/* The reply of `done` went out in a call of the thread. */
void lqn_replied(struct lqn_analysis *analysis, struct lqn_actor *actor, struct lqn_invocation *done,
	int64_t begin, int64_t end, int64_t cpu_begin, int64_t cpu_end);
/* CPU clock at which the work for what arrives now began. */
int64_t lqn_start_cpu(const struct lqn_actor *actor, int64_t cpu);
/*
 * How long the thread was runnable beside an idle CPU after the wait in the call that began at `call_begin`, counted from
 * `sent` on, when what it waited for was sent (0: not known): a waking before that was for nothing.
 */
int64_t lqn_latency_in(const struct lqn_actor *actor, int64_t call_begin, int64_t sent);
/* helpers.c: what threads of a process do for each other's requests, and nobody is answered by them */
/* The thread wakes another of its process at a word that is no lock, at `ts`. */
void lqn_helper_woken(struct lqn_actor *actor, struct lqn_actor *worker, uint64_t word, int64_t ts);
/* What the thread does now of its own accord is for that request; NULL: nobody's that is known. */
struct lqn_invocation *lqn_helper_takes(struct lqn_actor *worker);
/* True if the thread's context is over as it waits at the word. */
bool lqn_helper_is_done(const struct lqn_actor *worker, uint64_t word);
/* Makes the context a part of the request that it helps, if it does. */
void lqn_helper_joins(struct lqn_invocation *work);

/* replies.c */
/* True if what is sent on a connection, into `into` which is `end`, answers something: that is done. */
bool lqn_answer(struct lqn_analysis *a, struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *to,
	struct lqn_end *into, const struct lqn_event *ev);
/* Likewise of what goes into a queue, or is a datagram; `current` sends it. */
bool lqn_answer_to_queue(struct lqn_analysis *a, struct lqn_party *host, struct lqn_actor *actor, struct lqn_end *end,
	struct lqn_end *to, struct lqn_invocation *current, const struct lqn_event *ev);

/* messages.c */
void lqn_on_send(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
/* receives.c */
void lqn_on_receive(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
/* chains.c: for traces without system calls; the begin of a wait, its waking, and its end */
void lqn_on_chain_block(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_chain_wake(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_chain_end(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
/* waits.c */
void lqn_on_wait(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_end(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_sleep(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_awake(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_disk(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
/* futexes.c */
void lqn_on_futex_block(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_futex_wait(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
void lqn_on_futex_wake(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);

#endif
