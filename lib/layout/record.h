/* SPDX-License-Identifier: MIT */
#ifndef LQN_LAYOUT_RECORD_H
#define LQN_LAYOUT_RECORD_H

/*
 * One decoded kernel event. Layouts (layout.h) say which field of which event class goes where;
 * everything behind this struct knows nothing of event names, field types or tracers.
 */
#include <stdbool.h>
#include <stdint.h>

#define LQN_COMM_LEN 16		/* the kernel's TASK_COMM_LEN, terminating zero included */
#define LQN_RECORD_FDS 8	/* descriptors kept of a call that returns an array of them */
#define LQN_CALL_ARGS 4		/* arguments kept of a call */

enum lqn_record_type {
	LQN_REC_SWITCH,		/* sw */
	LQN_REC_WAKING,		/* wake; in the waker's context */
	LQN_REC_WAKEUP,		/* wake; the target CPU has taken it */
	LQN_REC_WAKEUP_NEW,	/* wake; first wake-up of a new thread */
	LQN_REC_FORK,		/* fork */
	LQN_REC_EXEC,		/* exec, text = filename */
	LQN_REC_EXIT,		/* life.tid */
	LQN_REC_FREE,		/* life.tid */
	LQN_REC_CONTEXT_ENTRY,	/* irq; kind = enum lqn_context */
	LQN_REC_CONTEXT_EXIT,	/* irq; kind = enum lqn_context */
	LQN_REC_SOFTIRQ_RAISE,	/* irq.id = vector: a softirq is asked for */
	LQN_REC_CALL_ENTRY,	/* entry, text; kind = enum lqn_call */
	LQN_REC_CALL_EXIT,	/* exit; kind = enum lqn_call */
	LQN_REC_PACKET_QUEUE,	/* packet: handed to a device's send queue */
	LQN_REC_PACKET_RECEIVE,	/* packet: came up from a device */
	LQN_REC_PACKET_COPY,	/* packet.skb, packet.len: copied to a reader */
	LQN_REC_BLOCK_INSERT,	/* block */
	LQN_REC_BLOCK_ISSUE,	/* block */
	LQN_REC_BLOCK_COMPLETE,	/* block */
	LQN_REC_STATE_PROCESS,	/* state, text = name */
	LQN_REC_STATE_FD,	/* state, text = file name */
	LQN_REC_STATE_NAMESPACE,	/* inside: numbers in a PID namespace */
	LQN_REC_STATE_IRQ,	/* irq: the name of an interrupt's device */
	LQN_REC_SPAN_BEGIN,	/* span, text = name, service; of a program, not the kernel */
	LQN_REC_SPAN_END,	/* span */
	LQN_REC_SPAN_MESSAGE,	/* span; one more message that it has received */
	LQN_REC_OTHER,		/* an event without a meaning to the engine: it may be a mark */
	LQN_REC_COUNT
};

/* What runs on a CPU on top of its thread. */
enum lqn_context {
	LQN_CTX_HARDIRQ,	/* a device's interrupt handler; irq.id = number */
	LQN_CTX_IPI,		/* an interrupt from another CPU */
	LQN_CTX_TICK,		/* the CPU's own timer interrupt */
	LQN_CTX_SOFTIRQ,	/* irq.id = vector */
	LQN_CTX_HRTIMER,	/* the function of a high resolution timer */
	LQN_CTX_TIMER,		/* the function of a timer-wheel timer */
	LQN_CTX_COUNT
};

/* System calls that the engine knows by their effect; all others are LQN_CALL_OTHER. */
enum lqn_call {
	LQN_CALL_NONE,
	LQN_CALL_OTHER,
	/* sends: entry.arg[0] = fd, arg[1] = bytes asked for or -1 */
	LQN_CALL_WRITE, LQN_CALL_WRITEV, LQN_CALL_SENDTO, LQN_CALL_SENDMSG, LQN_CALL_SENDMMSG,
	LQN_CALL_MQ_SEND,	/* arg[2] = priority */
	LQN_CALL_SENDFILE,	/* arg[0] = out fd, arg[2] = in fd */
	LQN_CALL_SPLICE,	/* arg[0] = out fd, arg[2] = in fd */
	LQN_CALL_MSGSND,	/* arg[0] = id of a System V queue */
	/* receives: arg[0] = fd */
	LQN_CALL_READ, LQN_CALL_READV, LQN_CALL_RECVFROM, LQN_CALL_RECVMSG, LQN_CALL_RECVMMSG,
	LQN_CALL_MQ_RECEIVE,
	LQN_CALL_MSGRCV,	/* arg[0] = id, arg[2] = type wanted, 0: any */
	/* waits on descriptors: arg[0] = epoll fd, or -1 */
	LQN_CALL_EPOLL_WAIT, LQN_CALL_POLL, LQN_CALL_SELECT,
	/* arg[0] = fd; exit.ret = the new one */
	LQN_CALL_ACCEPT,
	/* arg[0] = flags (1: absolute time) */
	LQN_CALL_SLEEP,
	/* arg[0] = address, arg[1] = operation, arg[2] = value, arg[3] = second address */
	LQN_CALL_FUTEX,
	/* locks of files: arg[0] = fd, arg[1] = operation; LQN_CALL_FCNTL is another */
	LQN_CALL_FLOCK,
	LQN_CALL_SEMOP,		/* arg[0] = id of a System V set of semaphores */
	/* removal of such a queue or set, among others: arg[0] = id, arg[1] = command */
	LQN_CALL_MSGCTL, LQN_CALL_SEMCTL,
	/* file input and output: arg[0] = fd */
	LQN_CALL_PREAD, LQN_CALL_PWRITE, LQN_CALL_FSYNC,
	/* descriptors */
	LQN_CALL_OPEN,		/* text = path; exit.ret = fd */
	LQN_CALL_MQ_OPEN,	/* text = name; exit.ret = fd */
	LQN_CALL_MKNOD,		/* text = path, arg[1] = mode */
	LQN_CALL_SOCKET,	/* arg[0] = family, arg[1] = type */
	LQN_CALL_SOCKETPAIR,	/* arg[0] = family, arg[1] = type; exit.fd[0..1] */
	LQN_CALL_PIPE,		/* exit.fd[0] = read end, fd[1] = write end */
	LQN_CALL_EVENTFD, LQN_CALL_EPOLL_CREATE,
	/* makes a descriptor by which the kernel tells of signals, timers, files, faults */
	LQN_CALL_SIGNALFD,
	LQN_CALL_TIMERFD_SETTIME,	/* arg[0] = fd, arg[1] = flags (1: absolute time) */
	LQN_CALL_PIDFD_OPEN,	/* arg[0] = pid */
	LQN_CALL_PIDFD_GETFD,	/* arg[0] = pidfd, arg[1] = the other process's fd */
	LQN_CALL_IOCTL,		/* arg[0] = fd */
	LQN_CALL_IO_URING_ENTER,	/* arg[0] = fd */
	LQN_CALL_CONNECT, LQN_CALL_BIND, LQN_CALL_LISTEN, LQN_CALL_SHUTDOWN,	/* arg[0] = fd */
	LQN_CALL_EPOLL_CTL,	/* arg[0] = epoll fd, arg[1] = operation, arg[2] = fd */
	LQN_CALL_CLOSE,		/* arg[0] = fd */
	LQN_CALL_CLOSE_RANGE,	/* arg[0] = first, arg[1] = last, arg[2] = flags */
	LQN_CALL_DUP,		/* arg[0] = old fd; exit.ret = new */
	LQN_CALL_DUP2,		/* arg[0] = old fd, arg[1] = new fd */
	LQN_CALL_FCNTL,		/* arg[0] = fd, arg[1] = command, arg[2] = argument */
	/* processes */
	LQN_CALL_CLONE,		/* arg[0] = flags or -1 (clone3 keeps them behind a pointer) */
	LQN_CALL_WAIT,		/* for a child */
	LQN_CALL_KILL,
	LQN_CALL_EXIT,
	LQN_CALL_PATH,		/* any other call with a path: text; it may be a mark */
	LQN_CALL_COUNT
};

struct lqn_record {
	int64_t ts;		/* ns from the clock's origin */
	const char *name;	/* the event's name; interned, lives for ever */
	char *text;		/* owned by whoever holds the record; NULL if none */
	int32_t cpu;		/* -1 if the stream does not say */
	/* of the current thread, from a context field; -1 if there is none */
	int32_t tid;
	uint8_t type;		/* enum lqn_record_type */
	uint8_t kind;		/* enum lqn_context, enum lqn_call, or 0 */
	union {
		struct {
			int64_t prev_state;
			int32_t prev_tid, next_tid;
			char prev_comm[LQN_COMM_LEN], next_comm[LQN_COMM_LEN];
		} sw;
		struct {
			int32_t tid;
		} wake;
		struct {
			int32_t parent_tid, parent_pid, child_tid, child_pid;
			int32_t child_vtid;	/* in the innermost PID namespace; -1: not told */
			char child_comm[LQN_COMM_LEN];
		} fork;
		struct {
			int32_t tid;
		} exec;
		struct {
			int32_t tid;
		} life;
		struct {
			/* interrupt number, softirq vector, or timer address */
			int64_t id;
			/* of a device's handler: 2 = it has woken its thread */
			int32_t ret;
			char name[LQN_COMM_LEN];	/* of the device */
		} irq;
		struct {
			int64_t arg[LQN_CALL_ARGS];	/* -1 where the trace does not say */
		} entry;
		struct {
			int64_t ret;
			int32_t family;		/* accept: of the address; 0 if not told */
			int32_t n_fds;
			int32_t fd[LQN_RECORD_FDS];
		} exit;
		struct {
			uint64_t skb;		/* address of the socket buffer */
			/* IPv4 address, or a hash of an IPv6 one; 0 if no IP packet */
			uint64_t saddr, daddr;
			uint32_t seq;		/* TCP */
			uint32_t len;		/* bytes behind the link header, or copied */
			uint16_t sport, dport;
			uint8_t protocol;	/* 6 TCP, 17 UDP */
			uint8_t flags;		/* TCP flags */
			uint16_t header;	/* bytes of IP and TCP headers */
		} packet;
		struct {
			uint64_t dev;
			uint64_t sector;	/* its first; UINT64_MAX: not told */
			int32_t tid;		/* who issued it */
		} block;
		struct {
			uint64_t trace, span, parent;	/* parent 0: none */
			uint64_t message;	/* that its sender and its receivers tell of; 0: not told */
			/* as the program knows its process and thread; -1: not told */
			int32_t pid, tid;
			uint32_t kind;		/* enum lqn_span_kind */
			uint32_t service;	/* where in `text` its name begins; 0: not told */
		} span;
		struct {
			int32_t tid, vtid, vpid;
		} inside;
		struct {
			uint64_t file_table;
			int32_t tid, pid, ppid, fd, type, status;
		} state;
	};
};

/* Whether a record of that type tells of a program's span. */
static inline bool lqn_record_is_span(enum lqn_record_type type)
{
	return type == LQN_REC_SPAN_BEGIN || type == LQN_REC_SPAN_END || type == LQN_REC_SPAN_MESSAGE;
}

#endif
