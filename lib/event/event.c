/* SPDX-License-Identifier: MIT */

/*
 * The vocabulary of `lqn:` events as tables. A field's name is that of its member in struct
 * lqn_event, so that doc/events.md, the trace and the code all speak of the same thing.
 */
#include "event/event.h"

#include <glib.h>

#include "layout/layout.h"

static const char *const cause_names[] = {
	[LQN_CAUSE_UNKNOWN] = "unknown",
	[LQN_CAUSE_MESSAGE] = "message",
	[LQN_CAUSE_SPACE] = "space",
	[LQN_CAUSE_FUTEX] = "futex",
	[LQN_CAUSE_CONNECT] = "connect",
	[LQN_CAUSE_CHILD] = "child",
	[LQN_CAUSE_SIGNAL] = "signal",
	[LQN_CAUSE_TIMER] = "timer",
	[LQN_CAUSE_DISK] = "disk",
	[LQN_CAUSE_NETWORK] = "network",
	[LQN_CAUSE_DEVICE] = "device",
	[LQN_CAUSE_IPI] = "ipi",
	[LQN_CAUSE_WORKER] = "worker",
	[LQN_CAUSE_THREAD] = "thread",
	[LQN_CAUSE_FAULT] = "fault",
	[LQN_CAUSE_INTERRUPT] = "interrupt",
	[LQN_CAUSE_LOCK] = "lock",
	[LQN_CAUSE_SEMAPHORE] = "semaphore",
	[LQN_CAUSE_HANGUP] = "hangup",
	[LQN_CAUSE_NOTIFY] = "notify",
	[LQN_CAUSE_RING] = "ring",
	[LQN_CAUSE_HIDDEN] = "hidden",
};
G_STATIC_ASSERT(G_N_ELEMENTS(cause_names) == LQN_CAUSE_COUNT);

static const char *const object_kind_names[] = {
	[LQN_OBJ_UNKNOWN] = "unknown",
	[LQN_OBJ_FILE] = "file",
	[LQN_OBJ_TCP] = "tcp",
	[LQN_OBJ_UNIX] = "unix",
	[LQN_OBJ_DATAGRAM] = "datagram",
	[LQN_OBJ_UDP] = "udp",
	[LQN_OBJ_SOCKET] = "socket",
	[LQN_OBJ_LISTENER] = "listener",
	[LQN_OBJ_PIPE] = "pipe",
	[LQN_OBJ_FIFO] = "fifo",
	[LQN_OBJ_QUEUE] = "queue",
	[LQN_OBJ_EVENTFD] = "eventfd",
	[LQN_OBJ_EPOLL] = "epoll",
	[LQN_OBJ_FUTEX] = "futex",
	[LQN_OBJ_SEMAPHORE] = "semaphore",
	[LQN_OBJ_NOTIFY] = "notify",
};
G_STATIC_ASSERT(G_N_ELEMENTS(object_kind_names) == LQN_OBJ_COUNT);

static const char *const evidence_names[] = {
	[LQN_CERTAIN] = "certain",
	[LQN_INFERRED] = "inferred",
	[LQN_HYPOTHESISED] = "hypothesised",
};
G_STATIC_ASSERT(G_N_ELEMENTS(evidence_names) == LQN_EVIDENCE_COUNT);

static const char *const role_names[] = {
	[LQN_ROLE_NONE] = "none",
	[LQN_ROLE_CLIENT] = "client",
	[LQN_ROLE_SERVER] = "server",
};
G_STATIC_ASSERT(G_N_ELEMENTS(role_names) == LQN_ROLE_COUNT);

static const char *const span_kind_names[] = {
	[LQN_SPAN_UNSPECIFIED] = "unspecified",
	[LQN_SPAN_INTERNAL] = "internal",
	[LQN_SPAN_SERVER] = "server",
	[LQN_SPAN_CLIENT] = "client",
	[LQN_SPAN_PRODUCER] = "producer",
	[LQN_SPAN_CONSUMER] = "consumer",
};
G_STATIC_ASSERT(G_N_ELEMENTS(span_kind_names) == LQN_SPAN_KINDS);

static const char *const context_names[] = {
	[LQN_CTX_HARDIRQ] = "irq",
	[LQN_CTX_IPI] = "ipi",
	[LQN_CTX_TICK] = "tick",
	[LQN_CTX_SOFTIRQ] = "softirq",
	[LQN_CTX_HRTIMER] = "hrtimer",
	[LQN_CTX_TIMER] = "timer",
};
G_STATIC_ASSERT(G_N_ELEMENTS(context_names) == LQN_CTX_COUNT);

static const char *name_of(const char *const *names, size_t n, uint32_t value)
{
	return value < n ? names[value] : NULL;
}

const char *lqn_cause_name(uint32_t cause)
{
	return name_of(cause_names, G_N_ELEMENTS(cause_names), cause);
}

const char *lqn_object_kind_name(uint32_t kind)
{
	return name_of(object_kind_names, G_N_ELEMENTS(object_kind_names), kind);
}

bool lqn_object_kind_is_shared(uint32_t kind)
{
	return kind == LQN_OBJ_PIPE || kind == LQN_OBJ_FIFO || kind == LQN_OBJ_QUEUE || kind == LQN_OBJ_EVENTFD;
}

const char *lqn_evidence_name(uint32_t evidence)
{
	return name_of(evidence_names, G_N_ELEMENTS(evidence_names), evidence);
}

const char *lqn_role_name(uint32_t role)
{
	return name_of(role_names, G_N_ELEMENTS(role_names), role);
}

const char *lqn_span_kind_name(uint32_t kind)
{
	return name_of(span_kind_names, G_N_ELEMENTS(span_kind_names), kind);
}

const char *lqn_context_name(uint32_t context)
{
	return name_of(context_names, G_N_ELEMENTS(context_names), context);
}

static const char *call_label(uint32_t call)
{
	return call < LQN_CALL_COUNT ? lqn_call_name((enum lqn_call) call) : NULL;
}

/*
 * Bits in the short form: enough for nearly all events of nearly all traces. No multiple of 8 but 8, 16,
 * 32, and 64: sink.ctf.fs cannot write any other.
 */
#define THREAD 22	/* the kernel's own limit, for those whose number was given out once */
#define OBJECT 20
#define DEVICE 30	/* or whatever a wait ended through */
#define SEQ 28
#define BYTES 23
#define AGO 28		/* 0.13 s */
#define LENGTH 28
#define CLOCK 44	/* 2.4 hours of CPU time */
#define CALL 7
#define FLAG 1

#define FIELD(member, field, kind, label, after, none, bits) \
	{ #field, (label), (kind), offsetof(struct lqn_event, member.field), (after), (none), (bits) }
#define NUMBER(member, field, kind, bits) FIELD(member, field, kind, NULL, 0, 0, bits)
#define U64(member, field, bits) NUMBER(member, field, LQN_EVF_U64, bits)
#define I64(member, field, bits) NUMBER(member, field, LQN_EVF_I64, bits)
#define U32(member, field, bits) NUMBER(member, field, LQN_EVF_U32, bits)
#define I32(member, field, bits) NUMBER(member, field, LQN_EVF_I32, bits)
#define STR(member, field) NUMBER(member, field, LQN_EVF_STRING, 0)
#define ENUM(member, field, label, bits) FIELD(member, field, LQN_EVF_ENUM, label, 0, 0, bits)
/* a time that is told as before the event's own; as after its begin */
#define TIME(member, field, bits) NUMBER(member, field, LQN_EVF_TIME, bits)
#define AFTER(member, field, none, bits) \
	FIELD(member, field, LQN_EVF_TIME, NULL, offsetof(struct lqn_event, member.begin), none, bits)
#define NEVER (-1)
/* a system call: when it began and ended, and what its thread's CPU clock said then */
#define CALL_TIMES(member) \
	TIME(member, begin, AGO), \
	AFTER(member, end, 0, LENGTH), \
	I64(member, cpu_begin, CLOCK), \
	FIELD(member, cpu_end, LQN_EVF_I64, NULL, offsetof(struct lqn_event, member.cpu_begin), 0, \
		LENGTH)

static const struct lqn_event_field host_fields[] = {
	STR(host, name),
	STR(host, release),
	U32(host, schema, 0),
};

static const struct lqn_event_field thread_fields[] = {
	U64(thread, thread, THREAD),
	U64(thread, parent, THREAD),
	FIELD(thread, born, LQN_EVF_TIME, NULL, 0, NEVER, AGO),
	U32(thread, pid, THREAD),
	U32(thread, kernel, FLAG),
	STR(thread, comm),
	STR(thread, exe),
};

static const struct lqn_event_field exit_fields[] = {
	U64(exit, thread, THREAD),
	TIME(exit, at, AGO),
	I64(exit, cpu, CLOCK),
};

static const struct lqn_event_field wait_fields[] = {
	U64(wait, thread, THREAD),
	U64(wait, by, THREAD),
	U64(wait, after, THREAD),
	TIME(wait, begin, AGO),
	AFTER(wait, wake, NEVER, LENGTH),
	AFTER(wait, end, 0, LENGTH),
	I64(wait, cpu, CLOCK),
	I64(wait, idle, LENGTH),
	I64(wait, charged, 22),
	TIME(wait, call_begin, AGO),
	U64(wait, object, OBJECT),
	U64(wait, via, DEVICE),
	ENUM(wait, call, call_label, CALL),
	ENUM(wait, by_call, call_label, CALL),
	ENUM(wait, cause, lqn_cause_name, 5),
	ENUM(wait, evidence, lqn_evidence_name, 0),
	U32(wait, state, 11),
	U32(wait, open, 0),
};

static const struct lqn_event_field preempted_fields[] = {
	U64(preempted, thread, THREAD),
	U64(preempted, by, THREAD),
	U64(preempted, after, THREAD),
	TIME(preempted, begin, AGO),
	AFTER(preempted, end, 0, LENGTH),
	I64(preempted, cpu, CLOCK),
	I64(preempted, idle, LENGTH),
};

static const struct lqn_event_field object_fields[] = {
	U64(object, object, OBJECT),
	U64(object, peer, OBJECT),
	U64(object, listener, OBJECT),
	U64(object, thread, THREAD),
	U64(object, alias, OBJECT),
	ENUM(object, kind, lqn_object_kind_name, 5),
	ENUM(object, role, lqn_role_name, 2),
	ENUM(object, evidence, lqn_evidence_name, 2),
	U32(object, closed, FLAG),
	U32(object, remote, FLAG),
	STR(object, name),
};

static const struct lqn_event_field send_fields[] = {
	U64(send, thread, THREAD),
	U64(send, object, OBJECT),
	U64(send, seq, SEQ),
	CALL_TIMES(send),
	I64(send, bytes, BYTES),
};

static const struct lqn_event_field receive_fields[] = {
	U64(receive, thread, THREAD),
	U64(receive, object, OBJECT),
	U64(receive, from, OBJECT),
	U64(receive, seq, SEQ),
	U64(receive, sender, THREAD),
	CALL_TIMES(receive),
	I64(receive, bytes, BYTES),
	TIME(receive, sent, AGO),
	U32(receive, count, 4),
};

static const struct lqn_event_field futex_wait_fields[] = {
	U64(futex_wait, thread, THREAD),
	U64(futex_wait, object, OBJECT),
	CALL_TIMES(futex_wait),
	I64(futex_wait, ret, 13),
	U32(futex_wait, blocked, FLAG),
};

static const struct lqn_event_field futex_wake_fields[] = {
	U64(futex_wake, thread, THREAD),
	U64(futex_wake, object, OBJECT),
	U64(futex_wake, woken, THREAD),
	U64(futex_wake, woken_object, OBJECT),
	CALL_TIMES(futex_wake),
	AFTER(futex_wake, woken_at, 0, LENGTH),
	U32(futex_wake, index, 4),
};

static const struct lqn_event_field sleep_fields[] = {
	U64(sleep, thread, THREAD),
	CALL_TIMES(sleep),
	U32(sleep, absolute, FLAG),
};

static const struct lqn_event_field disk_fields[] = {
	U64(disk, thread, THREAD),
	U64(disk, device, DEVICE),
	CALL_TIMES(disk),
	I64(disk, waited, LENGTH),
	U32(disk, waits, 7),
	ENUM(disk, call, call_label, CALL),
};

static const struct lqn_event_field accept_fields[] = {
	U64(accept, thread, THREAD),
	U64(accept, object, OBJECT),
	U64(accept, made, OBJECT),
	TIME(accept, begin, AGO),
	AFTER(accept, end, 0, LENGTH),
};

static const struct lqn_event_field mark_fields[] = {
	U64(mark, thread, THREAD),
	STR(mark, name),
	STR(mark, value),
	TIME(mark, at, AGO),
};

static const struct lqn_event_field span_fields[] = {
	U64(span, thread, 0),
	U64(span, trace, 0),
	U64(span, span, 0),
	U64(span, parent, 0),
	U64(span, message, 0),
	TIME(span, at, 0),
	U32(span, begin, 0),
	U32(span, pid, 0),
	ENUM(span, kind, lqn_span_kind_name, 0),
	ENUM(span, evidence, lqn_evidence_name, 0),
	STR(span, name),
	STR(span, service),
};

static const struct lqn_event_field span_message_fields[] = {
	U64(span_message, trace, 0),
	U64(span_message, span, 0),
	U64(span_message, message, 0),
	TIME(span_message, at, 0),
};

static const struct lqn_event_field loss_fields[] = {
	TIME(loss, begin, 0),
	AFTER(loss, end, 0, 0),
	U64(loss, count, 0),
	I32(loss, cpu, 0),
};

static const struct lqn_event_field cpu_fields[] = {
	I32(cpu, cpu, 0),
	TIME(cpu, begin, 0),
	AFTER(cpu, end, 0, 0),
	I64(cpu, idle, 0),
	I64(cpu, hardirq, 0),
	I64(cpu, softirq, 0),
};

static const struct lqn_event_field interrupt_fields[] = {
	U64(interrupt, number, 0),
	STR(interrupt, name),
};

static const struct lqn_event_field interrupted_fields[] = {
	U64(interrupted, thread, THREAD),
	TIME(interrupted, begin, AGO),
	AFTER(interrupted, end, 0, LENGTH),
	U64(interrupted, number, 12),
	ENUM(interrupted, context, lqn_context_name, 3),
};

static const struct lqn_event_field packet_fields[] = {
	U64(packet, thread, THREAD),
	U64(packet, number, SEQ),
	TIME(packet, at, AGO),
	U64(packet, saddr, 32),
	U64(packet, daddr, 32),
	U32(packet, sport, 16),
	U32(packet, dport, 16),
	U32(packet, seq, 32),
	U32(packet, bytes, BYTES),
	U32(packet, received, FLAG),
};

static const struct lqn_event_field io_fields[] = {
	U64(io, thread, THREAD),
	U64(io, device, DEVICE),
	TIME(io, begin, AGO),
	AFTER(io, issued, 0, LENGTH),
	AFTER(io, end, 0, LENGTH),
};

static const struct lqn_event_field summary_fields[] = {
	TIME(summary, begin, 0),
	AFTER(summary, end, 0, 0),
	U64(summary, events, 0),
	U64(summary, holes, 0),
	U64(summary, contradictions, 0),
	U64(summary, given_up, 0),
	U64(summary, disorder, 0),
};

#define CLASS(name) { "lqn:" #name, name##_fields, G_N_ELEMENTS(name##_fields) }

static const struct lqn_event_class classes[] = {
	[LQN_EV_HOST] = CLASS(host),
	[LQN_EV_THREAD] = CLASS(thread),
	[LQN_EV_EXIT] = CLASS(exit),
	[LQN_EV_WAIT] = CLASS(wait),
	[LQN_EV_PREEMPTED] = CLASS(preempted),
	[LQN_EV_OBJECT] = CLASS(object),
	[LQN_EV_SEND] = CLASS(send),
	[LQN_EV_RECEIVE] = CLASS(receive),
	[LQN_EV_FUTEX_WAIT] = CLASS(futex_wait),
	[LQN_EV_FUTEX_WAKE] = CLASS(futex_wake),
	[LQN_EV_SLEEP] = CLASS(sleep),
	[LQN_EV_DISK] = CLASS(disk),
	[LQN_EV_ACCEPT] = CLASS(accept),
	[LQN_EV_MARK] = CLASS(mark),
	[LQN_EV_SPAN] = CLASS(span),
	[LQN_EV_SPAN_MESSAGE] = CLASS(span_message),
	[LQN_EV_LOSS] = CLASS(loss),
	[LQN_EV_CPU] = CLASS(cpu),
	[LQN_EV_INTERRUPT] = CLASS(interrupt),
	[LQN_EV_INTERRUPTED] = CLASS(interrupted),
	[LQN_EV_PACKET] = CLASS(packet),
	[LQN_EV_IO] = CLASS(io),
	[LQN_EV_SUMMARY] = CLASS(summary),
};
G_STATIC_ASSERT(G_N_ELEMENTS(classes) == LQN_EV_COUNT);

const struct lqn_event_class *lqn_event_class(enum lqn_event_type type)
{
	return &classes[type];
}
