/* SPDX-License-Identifier: MIT */
#ifndef LQN_REQUEST_FACTS_H
#define LQN_REQUEST_FACTS_H

/*
 * What the sink's engine has found out: hosts, threads (actors), and the conversation between them. Filled by
 * lib/request; read by lib/path and lib/model, which notes in it what a model takes (prepare() of model/build.c undoes that).
 */
#include "analysis.h"
#include "keep.h"
#include "model/model.h"
#include "spans.h"

struct lqn_actor;
struct lqn_end;
struct lqn_invocation;

/* ---- the time line of a thread ---- */

/* A stretch off the CPU. Between two of them the thread ran. */
struct lqn_interval {
	int64_t begin, wake, end;	/* wake: < 0 if never seen; preempted: = begin */
	int64_t cpu;			/* the thread's CPU clock, which stood still */
	int64_t idle;			/* of [wake, end): a CPU of the host was idle */
	int64_t charged;		/* of [wake, end): its clock counts it */
	int64_t call_begin;
	uint64_t by, after, object, via;
	uint8_t cause, call, state;
	bool preempted, open;
};

/* How many elements in front of a GArray of `type`, sorted by int64_t `field`, have at most `key` there. */
#define LQN_COUNT_UNTIL(array, type, field, key) \
	lqn_count_until((array)->data, (array)->len, sizeof(type), offsetof(type, field), key)
guint lqn_count_until(const char *data, guint len, size_t size, size_t offset, int64_t key);
/* To sort what begins with an int64_t; pointers to invocations by their begin. */
gint lqn_by_time(gconstpointer a, gconstpointer b);
gint lqn_invocation_by_begin(gconstpointer a, gconstpointer b);

/* A stretch in which an interrupt had the CPU that the thread ran on. */
struct lqn_interruption {
	int64_t begin, end;
	uint32_t number;		/* of the interrupt or softirq */
	uint8_t context;		/* enum lqn_context */
};

/* A receive, by which the path finds the sender of what a thread waited for. */
struct lqn_receipt {
	int64_t begin, end, sent;
	struct lqn_actor *sender;
};

/* ---- conversation ---- */

/* One call from an invocation: request and, if there is one, reply. */
struct lqn_arc {
	struct lqn_invocation *caller, *callee;	/* callee: NULL until the request is received */
	struct lqn_arc *next;			/* of the caller's */
	struct lqn_end *via;			/* NULL: shared memory, by `word` */
	uint64_t word;
	int64_t sent, replied;			/* replied: 0 = not */
	enum lqn_call_kind kind;		/* LQN_FORWARD: so seen; else decided by build.c */
	bool second_phase, gone;		/* gone: taken back */
	bool left;				/* its caller's thread took up other work before the answer came */
	bool held;				/* its caller's thread waited for the answer and nothing else */
	bool queued;				/* it went out when another's answer had made its connection free */
	uint32_t bytes;				/* of the request; UINT32_MAX: so many or more */
	bool polled;				/* its answer came to an event loop that waited for whatever comes, … */
	bool at_loop;				/* … at the place where requests come to it */
	bool fetch, awaits;			/* it asks a broker for the next message; for what comes of one that was sent before */
	int64_t fetched;			/* of a message that a broker was asked for: when it took up that request; 0: none */
	bool waited;				/* likewise; who asked had to wait */
	bool needed;				/* of forget.c */
};

struct lqn_lock_wait {
	struct lqn_lock_wait *next;
	uint64_t word, within;		/* within: the word of a lock that the thread had meanwhile; 0: none was seen */
	int64_t at;			/* when it came */
	int64_t wait, latency;		/* ns blocked; of which runnable beside an idle CPU */
	bool again;			/* it had been let in, and another was faster */
};

/* A program says that in this work it has sent a message, or had one that another has sent. */
#define LQN_TOLD_BY_NAME UINT64_MAX
struct lqn_told_message {
	uint64_t trace, span;		/* of who sent it; or LQN_TOLD_BY_NAME and the message's own name */
	int64_t begin, end;		/* ns by the kernel's clock: the span's */
	struct lqn_invocation *work;
	bool sent, certain;
};

/* How a context without a request began. */
enum lqn_origin { LQN_ORIGIN_UNKNOWN, LQN_ORIGIN_TIMER, LQN_ORIGIN_HANDOVER, LQN_ORIGIN_REPLY, LQN_ORIGIN_LOOP };

/* One handling of one request by one task; or a cycle of a client; or work of which neither is known yet. */
struct lqn_invocation {
	struct lqn_actor *actor;
	struct lqn_arc *request;		/* NULL: nobody's */
	struct lqn_arc *arcs, *last_arc;	/* calls made */
	struct lqn_invocation *into;		/* merged into this one */
	struct lqn_invocation *tail_of;		/* work after the reply of this one */
	struct lqn_invocation *helps;		/* the request of who has woken its thread; NULL: not so, or merged into it */
	bool waited_for;			/* likewise; that has waited for it */
	struct lqn_end *conn, *last_send;
	int64_t begin, end;
	int64_t replied;			/* end of the reply's send; 0: not */
	int64_t cpu[2], send_cpu;		/* by phase; of the reply's send */
	int64_t delay[2];			/* asleep, by phase */
	int64_t paused;				/* its thread waited for a timer, another process, or what is not traced */
	int64_t left_at;			/* since then nobody works on it, nor is an answer waited for; 0: not so */
	int64_t paused_from, paused_until;	/* the last time that it was; 0: never */
	bool paused_queued;			/* then it waited for a connection */
	uint32_t pauses;			/* in which the thread was free for other requests */
	bool left_free;				/* since left_at it is */
	int64_t latency, lock_latency;		/* runnable after a waking with a CPU idle */
	int64_t disk_ns[2];			/* by phase, like their number */
	uint32_t disks[2];
	uint64_t device;
	struct lqn_lock_wait *locks;
	GPtrArray *actors;			/* others that worked on it: struct lqn_actor; owned; NULL: none */
	enum lqn_origin origin;
	bool anonymous, absolute, gone;
	bool late;				/* its thread did not sleep until its time, for that had passed */
	bool last;				/* its thread ended with it */
	bool clutter;				/* of a client that the model leaves out */
	bool needed;				/* of forget.c */
	const char *operation;			/* name of the span that it is; interned; NULL: not known */
	uint64_t trace, span;			/* its numbers; 0: none */
	int64_t rank;				/* of the name: lower ones are better */
	int64_t told_until;			/* until when a span lasts that begins in it; 0: none does */
	/* for the model */
	const char *path;			/* of callers, interned; NULL: not made yet */
	struct lqn_cluster *cluster;
};

struct lqn_place {			/* where a thread waits */
	uint64_t object;
	uint8_t class;			/* 0 descriptor, 1 poll, 2 word */
	uint64_t count;
};

#define LQN_DISTANCE_UNKNOWN 1000000

struct lqn_unit {			/* a process */
	uint32_t pid;
	struct lqn_actor *main;		/* borrowed */
	const struct lqn_snapshot_process *process;	/* borrowed; NULL: no snapshot shows it */
	const char *name;		/* by a rule or a snapshot; interned; NULL: what its main thread is called */
	bool ignored;			/* a rule says so: background */
	bool may_serve;			/* it was seen to receive requests, or what may be some, or to accept */
	bool has_served;		/* it was seen to take up a request */
	bool outside;			/* none of the trace: who is at the other end of connections to hosts that are not traced */
	int64_t first_asked, first_send;	/* of those who are born in the trace; INT64_MAX: never */
	uint64_t sends, asks;		/* of which came after a sleep, not after a message */
	/* times its threads left work that waits for an answer; requests that had to wait until such an answer came */
	uint64_t took_up, put_off;
	/* of apart.c: answers sent by the thread that had received the last message before, its CPU time in between; by others */
	uint64_t answers, answers_by_others;
	int64_t answers_cpu;
	int distance;			/* from the clients, in messages */
	GPtrArray *unclaimed;		/* struct lqn_arc to it, borrowed; who serves them is not known; owned; NULL: none */
	GPtrArray *unhanded;		/* struct lqn_invocation, borrowed, that no worker was woken for; owned; NULL: none */
	bool hands_on;			/* it has woken workers of its own for what wants no answer */
	bool needed;			/* of forget.c */
};

struct lqn_hold {			/* a lock that a thread has after a contended wait for it */
	uint64_t word;
	int64_t since, cpu, slept;
	struct lqn_invocation *invocation;
	int64_t latency;		/* of the invocation by then, like disks */
	uint32_t disks;
};
#define LQN_HOLDS_MAX 8

struct lqn_actor {
	struct lqn_party *host;
	uint64_t key;
	struct lqn_unit *unit;		/* never NULL */
	struct lqn_actor *parent;
	int64_t born, died;		/* -1: not within the trace */
	int64_t seen;			/* nothing is known of it before; INT64_MAX: of none of its time */
	bool kernel;
	const char *comm;		/* interned; NULL: not known */
	const char *service;		/* likewise: comm without a trailing /N */
	char *exe;			/* owned */
	GArray *intervals;		/* struct lqn_interval, by time; owned */
	GArray *receipts;		/* struct lqn_receipt, by end; owned; NULL: none */
	GArray *interruptions;		/* struct lqn_interruption, by time; owned; NULL: none */
	GArray *places;			/* struct lqn_place; owned; NULL: none */
	uint64_t sleeps, sends;		/* in all that has come by now */
	int64_t first_accept;		/* -1: none */
	bool asleep_last;		/* the last it did was to sleep */
	/* of fetch.c: end of its last wait, and whether that was for whatever comes, and something came; when it last received a
	   request, where (id), after what it had sent there; and when anything else */
	bool polled;
	int64_t waited, heard_at, told_at, heard_after;
	uint64_t heard_on;
	/* of apart.c: its last wait, by its CPU clock, too; when it last sent something, or woke somebody through a word */
	int64_t wait_begin, wait_cpu, acted_at;
	uint8_t wait_call;
	struct lqn_end *asked_on;	/* where it last received of what accepted; NULL: nowhere */
	bool timed;			/* a timer has ended its wait for descriptors, and nothing has come since */
	uint64_t asked_at;		/* the epoll descriptor at which it last waited for a request; 0: at none */
	int64_t asking_from, asking_until;	/* the last call that it waited for */
	bool polls, reads;		/* it ever waited for descriptors; read a socket */
	bool needed;			/* of forget.c */
	/* state of the conversation */
	struct lqn_invocation *current;
	struct lqn_interval last;	/* last wait that had ended; end = 0: none */
	int64_t call_blocked;		/* ns blocked in the call of `last` */
	int64_t told_inside;		/* when it last received something from its own process; 0: not yet */
	int64_t took_up_at;		/* when it last took up a request other than for a message; 0: not yet */
	int64_t mark;			/* CPU clock up to which all is charged */
	int64_t last_ts, last_cpu;	/* end of the last operation on a channel */
	int64_t answered_at;		/* likewise, if that was an answer; else 0 */
	int64_t took_cpu;		/* the CPU clock when it came to work on what it had been woken for through a word */
	int64_t slept;			/* ns asleep, in all */
	bool woke_from_sleep, absolute;
	bool waits_for_word;		/* just now, and the word is no lock */
	int64_t came_at;		/* when it last began to wait for a word … */
	int64_t idle_since;		/* … that is no lock; before what it does now */
	int64_t let_go_at;		/* when another process of its service, or a thread at another request, last woke it */
	int64_t awake_at, awake_cpu;	/* end of that sleep, and the CPU clock then */
	struct lqn_arc *pending_request;	/* a waker in another process has left it a request … */
	struct lqn_invocation *pending_reply;	/* … or an answer; … */
	struct lqn_invocation *handed;		/* … or one of its own process what it has received */
	struct lqn_invocation *helping;		/* … or has a request, for which it does what it does then; NULL: not so */
	uint64_t helped_at;			/* the word where it was woken for that; 0: never */
	uint64_t handed_at;			/* the word where it was last handed something; 0: never */
	GQueue idle;			/* struct lqn_invocation that it has left and that wait for no answer, longest first */
	struct lqn_hold holds[LQN_HOLDS_MAX];
	uint32_t n_holds;
	bool served;
	int64_t served_until;		/* end of the last request that it served */
	struct lqn_end *serves;		/* the connection on which they came; NULL: none, or others */
	bool serves_several;		/* connections */
};

struct lqn_cpu_use {
	int32_t cpu;
	int64_t begin, end, idle, hardirq, softirq;
};

#define LQN_PARTY_FRONT 64

struct lqn_party {			/* a host */
	const char *name;		/* interned */
	unsigned number;
	struct lqn_keep *keep;		/* of the analysis; borrowed */
	GHashTable *actors;		/* key -> struct lqn_actor, owned */
	/* in front of the tables, by the lowest bits of their keys; NULL: nobody was asked for */
	struct lqn_actor *front_actors[LQN_PARTY_FRONT];
	struct lqn_end *front_ends[LQN_PARTY_FRONT];
	GPtrArray *by_age;		/* the same, in order of appearance; borrowed */
	GHashTable *units;		/* pid -> struct lqn_unit, owned */
	GHashTable *ends;		/* id -> struct lqn_end, owned */
	GHashTable *words;		/* id -> struct lqn_word, owned */
	GHashTable *flows;		/* which process sends to which; of roles.c */
	guint measured;			/* of them, when distances were last measured */
	GHashTable *directions;		/* pairs of services: the first asks the second */
	GHashTable *answers;		/* pairs of services: the first has woken the second with an answer */
	GHashTable *fetch_kinds;	/* of fetch.c */
	GHashTable *apart_kinds;	/* of apart.c */
	GArray *cpus;			/* struct lqn_cpu_use; owned */
	GHashTable *interrupts;		/* number -> name, interned */
	GArray *arrivals;		/* struct lqn_packet, by number; owned */
	const struct lqn_snapshot *snapshot;	/* borrowed; NULL: none */
	GHashTable *ios;		/* device -> GArray of struct lqn_disk_io by end; owned */
	bool has_calls;			/* the trace shows system calls */
	int64_t begin, end;
	bool goes_on;			/* a model is being made while events still come */
	int64_t told_end;		/* of its summaries; INT64_MIN: none has come */
	uint64_t holes, contradictions, losses, disorder;
};

/* One direction of a TCP connection. */
struct lqn_flow {
	uint64_t saddr, daddr;
	uint32_t sport, dport;
};

/* Bytes of a flow that left a thread, or that woke one. */
struct lqn_packet {
	uint64_t number;
	struct lqn_flow flow;
	struct lqn_actor *actor;	/* who sent them, or was woken */
	int64_t at, first;		/* first: number of the first byte, beyond 32 bits for sent ones */
	uint32_t bytes;
};

/* A request that a block device has served. */
struct lqn_disk_io {
	uint64_t device;
	int64_t begin, issued, end;	/* handed to the kernel, to the device; done */
	struct lqn_actor *thread;	/* whose it was; NULL: not known */
};

/* A futex word, or several that a wake has shown to be one. */
struct lqn_word {
	uint64_t id;
	struct lqn_word *same;		/* another name of this one; NULL: itself */
	uint64_t waits, both;		/* waits; of which by threads that wake as often */
	uint64_t passages, broken;	/* contended ones; of which not given back in the context that took it */
	uint64_t wakes, crowds;		/* of waiters; of which of several at once */
	GHashTable *users;		/* struct lqn_actor -> struct lqn_word_use, owned */
	int64_t first, last;		/* used; first > last: never */
	struct lqn_actor *waiter;	/* of a root: the first who waited, borrowed; NULL: nobody, or forgotten … */
	bool waiters;			/* … and others did */
	bool shared;			/* of a root: threads of one process wake those of another */
	int distance;			/* of those who wake, from the clients; of roles.c */
	bool needed;			/* of forget.c */
};

struct lqn_word_use {
	uint64_t waits, wakes;
};

struct lqn_hold_sample {
	struct lqn_party *host;
	uint64_t word;
	struct lqn_invocation *invocation;	/* borrowed; may be NULL */
	struct lqn_actor *actor;
	int64_t begin, hold, cpu, slept, latency;
	uint32_t disks;
	bool partial;			/* it was taken before that, nobody knows when; of the rest only `hold` is known */
};

struct lqn_analysis {
	char *begin_mark, *end_mark, *name;	/* owned */
	char *thread;				/* owned; NULL: none */
	int64_t begin, end;			/* asked for; INT64_MIN, INT64_MAX: not */
	GArray *windows;			/* struct lqn_window, by the marks; the last may be open: end = INT64_MAX; owned */
	int64_t early_end;			/* the end mark, before any begin mark; INT64_MIN: not so */
	bool all_paths, whole, clutter;
	double background_below;
	enum lqn_entries entries;
	struct lqn_keep keep;
	int64_t reached;			/* up to which time has been worked on; INT64_MIN: none */
	const GPtrArray *snapshots;		/* struct lqn_snapshot; borrowed; NULL: none */
	struct lqn_rules *rules;		/* borrowed; NULL: none */
	unsigned slowest;			/* requests of each operation kept in full */
	GPtrArray *hosts;			/* struct lqn_party, owned */
	struct lqn_order *order;		/* owned */
	struct lqn_sync *sync;			/* owned; NULL with one host */
	GHashTable *links;			/* name -> struct lqn_end whose other end is looked for */
	GPtrArray *invocations;			/* struct lqn_invocation, owned, in order of begin as worked on */
	GPtrArray *arcs;			/* struct lqn_arc, owned */
	GArray *told;				/* struct lqn_told_message, as their traces were complete; owned */
	GArray *samples;			/* struct lqn_hold_sample, owned */
	GHashTable *flows;			/* struct lqn_flow -> GArray of struct lqn_packet sent on it; owned */
	struct lqn_spans *spans;		/* owned */
	uint64_t events, healed, orphans;
};

/* ---- to read it ---- */

/* Makes it a call of another invocation, both being final. */
void lqn_arc_move(struct lqn_arc *arc, struct lqn_invocation *caller, bool second_phase);

/* Another thread has worked on it, too. */
void lqn_actor_worked(struct lqn_invocation *invocation, struct lqn_actor *actor);
/* What the invocation has become part of, or itself; NULL for NULL. */
struct lqn_invocation *lqn_final(struct lqn_invocation *invocation);
/* The name of the service whose work it is; interned. */
const char *lqn_invocation_service(struct lqn_invocation *invocation);
/* The first receive of a thread that ended at `ts` or later; NULL: none. */
const struct lqn_receipt *lqn_actor_receipt(const struct lqn_actor *actor, int64_t ts);
/* The word of that number; made if there is none. */
struct lqn_word *lqn_party_word(struct lqn_party *host, uint64_t id);
/* The one word that stands for all its names. */
struct lqn_word *lqn_word_root(struct lqn_word *word);
bool lqn_word_is_lock(struct lqn_word *word);
/* True if a thread that waits in the call on the object waits for a lock. */
bool lqn_waits_for_lock(const struct lqn_actor *actor, uint8_t call, uint64_t object);
/* The thread of that key; NULL: none, or nobody. */
struct lqn_actor *lqn_party_find_actor(const struct lqn_party *host, uint64_t key);
/* True for calls that wait for a word: of a futex, a lock of a file, a semaphore. enum lqn_call. */
bool lqn_call_waits_for_word(uint8_t call);
/*
 * The service that a thread belongs to: by a rule or a snapshot, else what the system calls it, the name of the process's main
 * thread, which servers with named threads leave alone, without a trailing /N. Interned.
 */
const char *lqn_service_name(const struct lqn_actor *actor);
/* The thread's CPU clock at a time. */
int64_t lqn_actor_cpu_at(const struct lqn_actor *actor, int64_t ts);
/* True if requests that begin at that time count; those that do not may be known in part. */
bool lqn_is_kept(const struct lqn_analysis *analysis, int64_t ts);
/* True if all is known of [begin, end), `begin` being kept. */
bool lqn_is_known(const struct lqn_analysis *analysis, int64_t begin, int64_t end);
/* The packet of that number which woke a thread of the host; NULL: none. */
const struct lqn_packet *lqn_packet_arrival(const struct lqn_party *host, uint64_t number);
/* The packet that held the last byte of what arrived when a thread sent it, on any host; NULL: not traced. */
const struct lqn_packet *lqn_packet_origin(const struct lqn_analysis *analysis, const struct lqn_packet *arrival);

/* ---- ios.c: requests of block devices ---- */
/*
 * The last request that the device was done with in [since, until], one of `actor` before all others. NULL: none.
 */
const struct lqn_disk_io *lqn_disk_io_ended(const struct lqn_party *host, uint64_t device, const struct lqn_actor *actor,
	int64_t since, int64_t until);
/* The last one that the device was done with while `io` was waiting, of those that it was given before. NULL: none. */
const struct lqn_disk_io *lqn_disk_io_before(const struct lqn_party *host, const struct lqn_disk_io *io);

#endif
