/* SPDX-License-Identifier: MIT */
#ifndef LQN_EVENT_EVENT_H
#define LQN_EVENT_EVENT_H

/*
 * The `lqn:` events: the contract between the filter, the sink, and everyone else who reads them.
 * doc/events.md describes them; the tables in event.c are what the plugin makes trace classes from,
 * writes and reads by. Times are ns from the clock's origin, CPU clocks ns of CPU time since the
 * thread was first seen. A *thread* is one life of a thread id: tid + (reuse << 32), where reuse
 * counts how often the id was given out anew in the trace; 0 is "none". An *object* is a number
 * that stands for one end of a channel, a queue, a futex word, …; 0 is "none".
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The year 2116: two times can be added and taken from one another. */
#define LQN_TIME_MAX (INT64_MAX / 2)
#define LQN_COUNT_MAX (1 << 17)		/* messages that one receive can take */

/* Goes up when an event or a field changes its meaning or vanishes; new ones do not count. */
#define LQN_EVENT_SCHEMA 2
/* What a trace's environment calls it. */
#define LQN_SCHEMA_ENTRY "lqn_schema"

enum lqn_event_type {
	LQN_EV_HOST,
	LQN_EV_THREAD,
	LQN_EV_EXIT,
	LQN_EV_WAIT,
	LQN_EV_PREEMPTED,
	LQN_EV_OBJECT,
	LQN_EV_SEND,
	LQN_EV_RECEIVE,
	LQN_EV_FUTEX_WAIT,
	LQN_EV_FUTEX_WAKE,
	LQN_EV_SLEEP,
	LQN_EV_DISK,
	LQN_EV_ACCEPT,
	LQN_EV_MARK,
	LQN_EV_SPAN,
	LQN_EV_LOSS,
	LQN_EV_CPU,
	LQN_EV_INTERRUPT,
	LQN_EV_INTERRUPTED,
	LQN_EV_PACKET,
	LQN_EV_IO,
	LQN_EV_SPAN_MESSAGE,
	LQN_EV_SUMMARY,
	LQN_EV_COUNT
};

/* Why a blocked thread could go on. */
enum lqn_cause {
	LQN_CAUSE_UNKNOWN,	/* nothing explains it */
	LQN_CAUSE_MESSAGE,	/* woken inside a send on `via` */
	LQN_CAUSE_SPACE,	/* woken inside a receive: room to write, no message */
	LQN_CAUSE_FUTEX,	/* woken inside a futex call on `via` */
	LQN_CAUSE_CONNECT,	/* woken inside a connect */
	LQN_CAUSE_CHILD,	/* woken by the exit of a thread */
	LQN_CAUSE_SIGNAL,	/* woken by a signal */
	LQN_CAUSE_TIMER,	/* a timer ran out */
	LQN_CAUSE_DISK,		/* a block device completed a request; `via` = device number */
	/* a packet arrived; `via` = the `number` of its lqn:packet, 0: none */
	LQN_CAUSE_NETWORK,
	LQN_CAUSE_DEVICE,	/* another device's interrupt; `via` = interrupt number */
	LQN_CAUSE_IPI,		/* woken in an interrupt from another CPU, by nobody known */
	LQN_CAUSE_WORKER,	/* woken by a kernel thread */
	LQN_CAUSE_THREAD,	/* woken by a thread that had something for it to do */
	LQN_CAUSE_FAULT,	/* woken by a page fault, or as one was served by a program */
	/* by an interrupt that is not traced: on an idle CPU, on top of a program, left to ksoftirqd; `via` = the CPU */
	LQN_CAUSE_INTERRUPT,
	LQN_CAUSE_LOCK,		/* woken as a lock of a file, `via`, was given back */
	LQN_CAUSE_SEMAPHORE,	/* woken inside an operation on the System V semaphores `via` */
	LQN_CAUSE_HANGUP,	/* woken as the other end was closed */
	LQN_CAUSE_NOTIFY,	/* woken by what was done to a file that is watched */
	LQN_CAUSE_RING,		/* woken through io_uring: what for is not in the trace */
	LQN_CAUSE_HIDDEN,	/* woken by a thread in what explains nothing: a hidden queue */
	LQN_CAUSE_COUNT
};

/* How sure a conclusion is. */
enum lqn_evidence {
	LQN_CERTAIN,		/* the trace shows it */
	LQN_INFERRED,		/* the best explanation of what the trace shows */
	LQN_HYPOTHESISED,	/* something must be there; what is a guess */
	LQN_EVIDENCE_COUNT
};

enum lqn_object_kind {
	LQN_OBJ_UNKNOWN,	/* a descriptor of which nothing is known */
	LQN_OBJ_FILE,
	LQN_OBJ_TCP,
	LQN_OBJ_UNIX,		/* stream or seqpacket */
	LQN_OBJ_DATAGRAM,	/* unix */
	LQN_OBJ_UDP,
	LQN_OBJ_SOCKET,		/* any other */
	LQN_OBJ_LISTENER,
	LQN_OBJ_PIPE,
	LQN_OBJ_FIFO,
	LQN_OBJ_QUEUE,		/* message queue, of POSIX or System V */
	LQN_OBJ_EVENTFD,
	LQN_OBJ_EPOLL,
	LQN_OBJ_FUTEX,
	LQN_OBJ_SEMAPHORE,	/* System V set of semaphores */
	/* by which the kernel tells of signals, timers, files, processes, page faults */
	LQN_OBJ_NOTIFY,
	LQN_OBJ_COUNT
};

/* What a span is to the request, numbered as in OpenTelemetry. */
enum lqn_span_kind {
	LQN_SPAN_UNSPECIFIED,
	LQN_SPAN_INTERNAL,
	LQN_SPAN_SERVER,
	LQN_SPAN_CLIENT,
	LQN_SPAN_PRODUCER,
	LQN_SPAN_CONSUMER,
	LQN_SPAN_KINDS
};

enum lqn_role { LQN_ROLE_NONE, LQN_ROLE_CLIENT, LQN_ROLE_SERVER, LQN_ROLE_COUNT };

struct lqn_event {
	uint8_t type;		/* enum lqn_event_type */
	/* when it was emitted, on the host's clock; never decreases in a stream */
	int64_t ts;
	union {
		/* first of each stream */
		struct {
			const char *name, *release;
			uint32_t schema;
		} host;
		/* a thread's identity; again whenever something of it changes */
		struct {
			uint64_t thread, parent;
			int64_t born;		/* -1: before the trace */
			uint32_t pid;
			uint32_t kernel;	/* 1: a kernel thread */
			const char *comm, *exe;
		} thread;
		struct {
			uint64_t thread;
			int64_t at, cpu;	/* cpu: the CPU clock, at its end */
		} exit;
		/*
		 * [begin, wake) blocked, [wake, end) runnable; consecutive ones with equal
		 * `call_begin` > 0 are one wait
		 */
		struct {
			uint64_t thread, by;	/* by: the thread in whose context it was woken */
			uint64_t after;		/* who had the CPU that it came back to */
			int64_t begin, wake, end;	/* wake = -1: never seen */
			int64_t cpu;		/* CPU clock of the thread, which stands still */
			int64_t idle;		/* ns of [wake, end) with a CPU of the host idle */
			int64_t charged;	/* ns of [wake, end) that the CPU clock counts */
			int64_t call_begin;	/* of the system call it blocked in; 0: in none */
			uint64_t object;	/* on which the call waits */
			uint64_t via;		/* through which it was woken */
			uint32_t call, by_call;	/* enum lqn_call */
			uint32_t cause, evidence;
			/* 1 interruptible, 2 uninterruptible, 4 stopped … */
			uint32_t state;
			uint32_t open;		/* 1: had not ended when the trace did */
		} wait;
		/* runnable, not running, without having blocked */
		struct {
			uint64_t thread, by, after;	/* after: as of a wait */
			int64_t begin, end, cpu, idle;
		} preempted;
		/* what is known of an object; again whenever something changes */
		struct {
			uint64_t object, peer, listener, thread;	/* thread: who made it */
			uint64_t alias;		/* the same under another descriptor; 0: none */
			uint32_t kind, role, evidence;	/* evidence: of the peer */
			uint32_t closed;
			/*
			 * 1: the other end is on another host; `name` is `ADDRESS:PORT ->
			 * ADDRESS:PORT`
			 */
			uint32_t remote;
			const char *name;
		} object;
		/* a message enters a channel; seq counts those of `object` from 1 */
		struct {
			uint64_t thread, object, seq;
			int64_t begin, end, cpu_begin, cpu_end;	/* of the system call */
			int64_t bytes;
		} send;
		/*
		 * a call took messages out of a channel: `count` of them from `seq` on, sent into
		 * `from`
		 */
		struct {
			/* from = 0: sent by nobody known */
			uint64_t thread, object, from, seq, sender;
			int64_t begin, end, cpu_begin, cpu_end;
			int64_t bytes, sent;	/* sent: begin of the first one's send */
			uint32_t count;
		} receive;
		/* a wait for a word that blocked, or found that it need not (blocked = 0) */
		struct {
			uint64_t thread, object;
			int64_t begin, end, cpu_begin, cpu_end, ret;
			uint32_t blocked;
		} futex_wait;
		/*
		 * a word given back; one event for each thread woken (index 0, 1, …), or one with woken
		 * = 0
		 */
		struct {
			uint64_t thread, object, woken, woken_object;
			int64_t begin, end, cpu_begin, cpu_end, woken_at;
			uint32_t index;
		} futex_wake;
		struct {
			uint64_t thread;
			int64_t begin, end, cpu_begin, cpu_end;
			uint32_t absolute;	/* 1: until a time of the clock */
		} sleep;
		/* a file operation that waited for a block device */
		struct {
			uint64_t thread, device;
			int64_t begin, end, cpu_begin, cpu_end;
			int64_t waited;		/* ns blocked until woken */
			uint32_t waits, call;
		} disk;
		struct {
			uint64_t thread, object, made;	/* listener, and the connection's end */
			int64_t begin, end;
		} accept;
		/*
		 * a candidate for a boundary: a system call with a path, an event of another layout
		 */
		struct {
			uint64_t thread;
			const char *name, *value;
			int64_t at;
		} mark;
		/* a span of a program begins (begin = 1) or ends */
		struct {
			uint64_t thread;		/* 0: not known … */
			uint64_t trace, span, parent;
			uint64_t message;		/* that its sender and its receivers tell of; 0: not told */
			int64_t at;
			uint32_t begin;
			uint32_t pid;			/* … then of the process; 0: neither */
			uint32_t kind;			/* enum lqn_span_kind */
			uint32_t evidence;		/* enum lqn_evidence: of thread or process */
			const char *name, *service;
		} span;
		/* a span that has begun has received one more message */
		struct {
			uint64_t trace, span, message;	/* as of a span */
			int64_t at;
		} span_message;
		struct {
			int64_t begin, end;	/* nothing that spans any of it can be trusted */
			uint64_t count;
			int32_t cpu;		/* -1: all */
		} loss;
		/* at the end: how a CPU spent the trace */
		struct {
			int32_t cpu;
			int64_t begin, end, idle, hardirq, softirq;
		} cpu;
		/* the name of the device behind an interrupt number */
		struct {
			uint64_t number;
			const char *name;
		} interrupt;
		/* a thread that ran was interrupted; nothing of it was its own doing */
		struct {
			uint64_t thread, number;	/* number: of the interrupt or softirq */
			int64_t begin, end;
			uint32_t context;		/* enum lqn_context, of the outermost */
		} interrupted;
		/*
		 * Data of a TCP connection on its way: handed to a device by `thread`, or arrived
		 * and waking `thread`. Two hosts speak of the same bytes if addresses, ports and a
		 * byte's number (seq … seq + bytes - 1) are equal.
		 */
		struct {
			/* number: counts those of the stream from 1 */
			uint64_t thread, number;
			int64_t at;
			uint64_t saddr, daddr;
			uint32_t sport, dport, seq, bytes;
			uint32_t received;		/* 0: sent */
		} packet;
		/* a request to a block device */
		struct {
			uint64_t thread, device;	/* thread: whose it was */
			/* begin: handed to the kernel; issued: to the device; end: done */
			int64_t begin, issued, end;
		} io;
		/* last of each stream */
		struct {
			int64_t begin, end;
			uint64_t events, holes, contradictions, given_up, disorder;
		} summary;
	};
};

enum lqn_event_field_kind {
	LQN_EVF_U64, LQN_EVF_I64, LQN_EVF_U32, LQN_EVF_I32, LQN_EVF_STRING,
	LQN_EVF_TIME,		/* int64_t: a time of the host's clock; 0 and less: none */
	LQN_EVF_ENUM,		/* uint32_t, with labels */
};

struct lqn_event_field {
	const char *name;
	const char *(*label)(uint32_t value);	/* LQN_EVF_ENUM: NULL beyond the last value */
	enum lqn_event_field_kind kind;
	uint16_t offset;			/* into struct lqn_event */
	/* how it is told in a trace: event/wire.h */
	uint16_t after;		/* offset of the member that it is counted from; 0: none */
	int8_t none;		/* LQN_EVF_TIME: what the member has where there is no such time */
	uint8_t bits;		/* in the short form; 0: not in it */
};

struct lqn_event_class {
	const char *name;			/* lqn:wait … */
	const struct lqn_event_field *fields;
	size_t n_fields;
};

/* The tables, by enum lqn_event_type. */
const struct lqn_event_class *lqn_event_class(enum lqn_event_type type);

/* True if times, lengths and labels of an event that comes from outside make sense. */
bool lqn_event_is_sound(const struct lqn_event *ev);

const char *lqn_cause_name(uint32_t cause);
const char *lqn_object_kind_name(uint32_t kind);
/* True if what is sent into such an object is read from the same, by whoever comes. */
bool lqn_object_kind_is_shared(uint32_t kind);
const char *lqn_evidence_name(uint32_t evidence);
const char *lqn_role_name(uint32_t role);
const char *lqn_span_kind_name(uint32_t kind);
const char *lqn_context_name(uint32_t context);

/* Takes an event; strings of it are valid during the call only. */
typedef void (*lqn_event_func)(void *payload, const struct lqn_event *ev);

#endif
