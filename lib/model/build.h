/* SPDX-License-Identifier: MIT */
#ifndef LQN_MODEL_BUILD_H
#define LQN_MODEL_BUILD_H

/* Private to lib/model: from invocations to a model. */
#include "request/facts.h"

/* A lock as an entry uses it. */
struct lqn_lock_use {
	struct lqn_word *word;
	double hold, cpu, slept, lag;		/* s per passage; lag: wake-up latency */
	double disks, square;			/* operations on devices; of hold, summed */
	double latency;				/* s per invocation */
	double confidence;			/* half width of the 95 % interval of hold; < 0: unknown */
	uint64_t samples, late, partial;	/* passages seen; of which after the reply; more that are seen in part */
	guint waits;				/* invocations that waited for it */
	double passages;			/* per invocation */
	struct lqn_lock_use *outer;		/* that is held meanwhile; borrowed; NULL: none */
	guint within;				/* waits seen there */
	GHashTable *inside;			/* struct lqn_entry called while it is held -> double *, calls seen; owned; NULL: none */
	struct lqn_entry *entry;		/* of the lock's task */
};

/* A stretch of time in which a lock is known to be held. */
struct lqn_taken {
	int64_t begin, end;
	const struct lqn_actor *actor;		/* who has it */
	bool partial;				/* and had it before, nobody knows how long */
};

/* How an invocation is begun. */
enum lqn_asked {
	LQN_ASKED_BY_NOBODY,		/* a cycle of a client */
	LQN_ASKED_SYNC,
	LQN_ASKED_ASYNC,
	LQN_ASKED_KINDS
};

/* Invocations that become one entry. */
struct lqn_cluster {
	struct lqn_service *service;
	enum lqn_asked asked;		/* how they are begun */
	const char *operation;		/* name of its spans; NULL: not told */
	GPtrArray *members;		/* struct lqn_invocation, begun in the window */
	GHashTable *shape;		/* what one calls and which locks it takes -> double *, per invocation; owned */
	double demand;			/* ns per invocation */
	GArray *locks;			/* struct lqn_lock_use, by word */
	struct lqn_entry *entry;	/* NULL: dropped */
};

/* A task to be: the processes of one name on one host, as far as they serve or ask. */
struct lqn_service {
	struct lqn_party *host;
	const char *name;		/* interned; as the system has it */
	bool root;			/* its invocations are cycles of clients */
	bool outside;			/* it is of hosts that are not traced */
	GPtrArray *members;		/* struct lqn_invocation, begun in the window */
	GPtrArray *everything;		/* likewise, of the whole trace as far as it is kept */
	GHashTable *units;		/* its processes */
	GPtrArray *clusters;		/* struct lqn_cluster, owned, by size */
	double cpu_ns, loose_ns;	/* in the window */
	double busy_ns;			/* of which charged to invocations begun in the window */
	unsigned multiplicity;
	bool per_connection;
	struct lqn_task *task;
};

/* A message that a broker has passed on. */
struct lqn_delivery {
	struct lqn_arc *published, *delivered;	/* published: NULL: not known which it is */
	struct lqn_invocation *passed;		/* what the broker worked on as it sent it */
	enum lqn_joining how;
	bool told;			/* by programs: no rule doubts it */
};

/* When what became of a message: ns, in order. */
struct lqn_delivery_times {
	int64_t published, taken, stored, fetched, delivered, received, done;
};

/* A delivery that is taken for a call of the work on its message, to which that on the request for it is added. */
struct lqn_moved_arc {
	struct lqn_arc *arc;
	struct lqn_invocation *from, *to;
	int64_t cpu;			/* ns that were added */
	bool second_phase;
};

struct lqn_build {
	struct lqn_analysis *a;
	struct lqn_model *model;	/* owned until it is taken; NULL: nothing was found to model */
	const struct lqn_window *asked;	/* the window, whatever the options say; borrowed; NULL: as the options say */
	GArray *windows;		/* struct lqn_window, in order, apart from each other; owned */
	int64_t begin, end;		/* of the first, and of the last */
	int64_t wall;			/* ns in them */
	GPtrArray *services;		/* struct lqn_service, owned; clients first, then by name */
	GHashTable *steps;		/* struct step of entries.c -> path, interned */
	GHashTable *by_path;		/* service and path of callers -> struct lqn_cluster */
	GHashTable *names;		/* of tasks and entries in use */
	GArray *deliveries;		/* struct lqn_delivery, by broker; owned */
	GArray *moved;			/* struct lqn_moved_arc; owned */
	struct lqn_regroup *regroup;	/* what regroup.c has done; owned; NULL: nothing */
	GPtrArray *host_processors;	/* struct lqn_processor by host number; NULL: none */
};

/*
 * Makes the model of what the analysis has worked on. Of `build` the caller has set `a` and `asked`, the rest is 0; it clears it
 * afterwards, either way. False with an error of LQN_ANALYSIS_ERROR. What is written into the analysis is of this model alone:
 * the next one begins anew.
 */
bool lqn_model_build(struct lqn_build *build, GError **error);
void lqn_build_clear(struct lqn_build *build);

/* regroup.c: what clients do between two sleeps becomes cycles; and its undoing, before anything else is undone. */
void lqn_build_regroup(struct lqn_build *build);
void lqn_build_ungroup(struct lqn_build *build);
/* clutter.c: marks what the model leaves out. */
void lqn_build_clutter(struct lqn_build *build);
/* window.c: sets the windows, and the model's account of them. */
bool lqn_build_window(struct lqn_build *build, GError **error);
/* True if both lie in one window, of those that lie in any. */
bool lqn_in_same_window(const struct lqn_build *build, int64_t a, int64_t b);
/* True if `ts` lies in one of struct lqn_window, which are in order. */
bool lqn_in_one_of(const GArray *windows, int64_t ts);
/* ns of CPU time that the thread uses in the windows. */
int64_t lqn_build_cpu_of(const struct lqn_build *build, const struct lqn_actor *actor);
/* steady.c: cuts begin and end to the steady state; false if there is none. */
bool lqn_build_steady(struct lqn_build *build);
/* True for an invocation that the model is about: a request, or a cycle of which a request was received by somebody. */
bool lqn_invocation_counts(const struct lqn_invocation *invocation);
/* services.c: true for a client's cycle that the model may be of. */
bool lqn_is_cycle(const struct lqn_analysis *analysis, const struct lqn_invocation *invocation);
/* services.c: which processes are one task. */
void lqn_build_services(struct lqn_build *build);
/* entries.c: which invocations are one entry. */
void lqn_build_entries(struct lqn_build *build);
/* The cluster that an invocation belongs to, begun in the window or not; NULL: none. */
struct lqn_cluster *lqn_build_cluster_of(struct lqn_build *build, struct lqn_invocation *invocation);
/* The cluster that a call of `from` goes to; NULL: to none of the model, or within the service. */
struct lqn_cluster *lqn_build_callee(struct lqn_build *build, const struct lqn_cluster *from, const struct lqn_arc *arc);
/*
 * Threads of a task that must have a bound, for lqns takes no synchronous beside asynchronous requests, and no second phase,
 * without. (Of more than this it finds no solution if there are both.)
 */
#define LQN_BOUND 16
/* pools.c: how many threads serve; *per_connection: each was made for one connection. */
unsigned lqn_service_multiplicity(const struct lqn_build *build, const struct lqn_service *service,
	bool *per_connection);
/* How many of struct lqn_window there are at once, at most. Sorts them. */
guint lqn_at_once(GArray *lives);
/* locks.c */
void lqn_build_locks(struct lqn_build *build);
/* passages.c: how often each entry passes the lock; held: struct lqn_taken, in order, apart from each other. */
void lqn_lock_passages(struct lqn_build *build, const struct lqn_word *word, const GArray *held);
/* NULL: the entry does not use that lock. */
struct lqn_lock_use *lqn_lock_use_of(const struct lqn_cluster *cluster, const struct lqn_word *word);
/* Likewise, by a word that an invocation of it waited for; 0: none. */
struct lqn_lock_use *lqn_lock_waited_for(const struct lqn_cluster *cluster, const struct lqn_invocation *invocation,
	uint64_t word);
/* sections.c: calls made in a passage; locks within locks; what is done inside moves from the entry to the lock. */
void lqn_section_calls(struct lqn_build *build, struct lqn_cluster *cluster, struct lqn_lock_use *use,
	const struct lqn_hold_sample *sample);
/* Counts one more in a table of struct lqn_entry -> double *, owned. */
void lqn_section_count(GHashTable *counts, struct lqn_entry *entry);
void lqn_section_nest(struct lqn_cluster *cluster);
void lqn_build_sections(struct lqn_build *build);
/*
 * demands.c: half the width of the mean's 95 % interval, as of independent values, by their sum and that of their
 * squares; < 0: unknown.
 */
double lqn_interval(double sum, double square, double n);
/* Squared coefficient of variation, likewise; < 0: unknown. */
double lqn_cvsq(double sum, double square, double n);
/* demands.c: demands, delays and calls of entries. */
void lqn_build_demands(struct lqn_build *build);
/* connections.c: pools of connections that requests of event loops wait for. */
void lqn_build_connections(struct lqn_build *build);
/* loops.c: event loops with several requests in flight. */
void lqn_build_loops(struct lqn_build *build);
/* Of a client whose customers are connections of so many threads: what they compute is done by these, one thing at a time. */
void lqn_build_client_loop(struct lqn_build *build, struct lqn_service *service, unsigned threads);
/* clients.c: population and think time of reference tasks. */
void lqn_build_clients(struct lqn_build *build);
/* pace.c: true if threads begin these cycles, in the window, by a schedule of all of them rather than after thinking. */
bool lqn_have_common_schedule(const struct lqn_build *build, const GPtrArray *cycles);
/* disks.c: devices as processors. */
void lqn_build_disks(struct lqn_build *build);
/* background.c: processors' load that is in no task, and where blocked time went. */
void lqn_build_background(struct lqn_build *build);
void lqn_build_blocked(struct lqn_build *build);
/* brokers.c: messages that services pass on asynchronously, and from whom they were; before anything that goes by calls. */
void lqn_build_brokers(struct lqn_build *build);
/* What becomes of them; of the deliveries those remain that are known and in the window. */
void lqn_build_flows(struct lqn_build *build);
/* Takes back what lqn_build_brokers() has done to calls. */
void lqn_build_unmove(struct lqn_build *build);
struct lqn_delivery_times lqn_delivery_times(const struct lqn_delivery *delivery);
/* True if the message lay there until something else reminded the broker of it. */
bool lqn_delivery_lay(const struct lqn_delivery *delivery);
/* The thread that sent what was delivered; who worked on it then, if that was not seen. */
struct lqn_actor *lqn_delivery_sender(const struct lqn_delivery *delivery);
/* flows.c: the flow that a delivery is of, without its figures; of no producer if it is of no known message. */
struct lqn_message_flow lqn_delivery_flow(const struct lqn_delivery *delivery);
/* By producer, broker, and consumer. */
guint lqn_message_flow_hash(gconstpointer flow);
gboolean lqn_message_flow_equal(gconstpointer a, gconstpointer b);
/* Sums of what became of messages; free with g_hash_table_unref(). */
GHashTable *lqn_message_flows_new(void);
void lqn_message_flows_add(GHashTable *flows, const struct lqn_delivery *delivery);
/* A delivery that is no known message's: counted with all flows to that consumer. */
void lqn_message_flows_add_apart(GHashTable *flows, const struct lqn_delivery *delivery);
/* Appends struct lqn_message_flow, most messages first. */
void lqn_message_flows_take(GHashTable *flows, GArray *messages);
/* cycles.c: takes out calls that would make the solver refuse the model. */
void lqn_build_doubts(struct lqn_build *build);	/* notes; the checks are made */
void lqn_build_break_cycles(struct lqn_build *build);
/* A line for the reader of the model. */
void lqn_build_note(struct lqn_build *build, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* names.c: a legal name that no other task (or entry) has; interned. */
const char *lqn_build_name(struct lqn_build *build, const char *wanted);

static inline bool lqn_in_window(const struct lqn_build *build, int64_t ts)
{
	return ts >= build->begin && ts < build->end && (build->windows->len == 1 || lqn_in_one_of(build->windows, ts));
}

#endif
