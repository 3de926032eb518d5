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

#define FIELD(member, field, kind, label) \
	{ #field, (kind), offsetof(struct lqn_event, member.field), (label) }
#define U64(member, field) FIELD(member, field, LQN_EVF_U64, NULL)
#define I64(member, field) FIELD(member, field, LQN_EVF_I64, NULL)
#define TIME(member, field) FIELD(member, field, LQN_EVF_TIME, NULL)
#define U32(member, field) FIELD(member, field, LQN_EVF_U32, NULL)
#define I32(member, field) FIELD(member, field, LQN_EVF_I32, NULL)
#define STR(member, field) FIELD(member, field, LQN_EVF_STRING, NULL)
#define ENUM(member, field, label) FIELD(member, field, LQN_EVF_ENUM, label)

static const struct lqn_event_field host_fields[] = {
	STR(host, name),
	STR(host, release),
	U32(host, schema),
};

static const struct lqn_event_field thread_fields[] = {
	U64(thread, thread),
	U64(thread, parent),
	TIME(thread, born),
	U32(thread, pid),
	U32(thread, kernel),
	STR(thread, comm),
	STR(thread, exe),
};

static const struct lqn_event_field exit_fields[] = {
	U64(exit, thread),
	TIME(exit, at),
	I64(exit, cpu),
};

static const struct lqn_event_field wait_fields[] = {
	U64(wait, thread),
	U64(wait, by),
	U64(wait, after),
	TIME(wait, begin),
	TIME(wait, wake),
	TIME(wait, end),
	I64(wait, cpu),
	I64(wait, idle),
	I64(wait, charged),
	TIME(wait, call_begin),
	U64(wait, object),
	U64(wait, via),
	ENUM(wait, call, call_label),
	ENUM(wait, by_call, call_label),
	ENUM(wait, cause, lqn_cause_name),
	ENUM(wait, evidence, lqn_evidence_name),
	U32(wait, state),
	U32(wait, open),
};

static const struct lqn_event_field preempted_fields[] = {
	U64(preempted, thread),
	U64(preempted, by),
	U64(preempted, after),
	TIME(preempted, begin),
	TIME(preempted, end),
	I64(preempted, cpu),
	I64(preempted, idle),
};

static const struct lqn_event_field object_fields[] = {
	U64(object, object),
	U64(object, peer),
	U64(object, listener),
	U64(object, thread),
	U64(object, alias),
	ENUM(object, kind, lqn_object_kind_name),
	ENUM(object, role, lqn_role_name),
	ENUM(object, evidence, lqn_evidence_name),
	U32(object, closed),
	U32(object, remote),
	STR(object, name),
};

static const struct lqn_event_field send_fields[] = {
	U64(send, thread),
	U64(send, object),
	U64(send, seq),
	TIME(send, begin),
	TIME(send, end),
	I64(send, cpu_begin),
	I64(send, cpu_end),
	I64(send, bytes),
};

static const struct lqn_event_field receive_fields[] = {
	U64(receive, thread),
	U64(receive, object),
	U64(receive, from),
	U64(receive, seq),
	U64(receive, sender),
	TIME(receive, begin),
	TIME(receive, end),
	I64(receive, cpu_begin),
	I64(receive, cpu_end),
	I64(receive, bytes),
	TIME(receive, sent),
	U32(receive, count),
};

static const struct lqn_event_field futex_wait_fields[] = {
	U64(futex_wait, thread),
	U64(futex_wait, object),
	TIME(futex_wait, begin),
	TIME(futex_wait, end),
	I64(futex_wait, cpu_begin),
	I64(futex_wait, cpu_end),
	I64(futex_wait, ret),
	U32(futex_wait, blocked),
};

static const struct lqn_event_field futex_wake_fields[] = {
	U64(futex_wake, thread),
	U64(futex_wake, object),
	U64(futex_wake, woken),
	U64(futex_wake, woken_object),
	TIME(futex_wake, begin),
	TIME(futex_wake, end),
	I64(futex_wake, cpu_begin),
	I64(futex_wake, cpu_end),
	TIME(futex_wake, woken_at),
	U32(futex_wake, index),
};

static const struct lqn_event_field sleep_fields[] = {
	U64(sleep, thread),
	TIME(sleep, begin),
	TIME(sleep, end),
	I64(sleep, cpu_begin),
	I64(sleep, cpu_end),
	U32(sleep, absolute),
};

static const struct lqn_event_field disk_fields[] = {
	U64(disk, thread),
	U64(disk, device),
	TIME(disk, begin),
	TIME(disk, end),
	I64(disk, cpu_begin),
	I64(disk, cpu_end),
	I64(disk, waited),
	U32(disk, waits),
	ENUM(disk, call, call_label),
};

static const struct lqn_event_field accept_fields[] = {
	U64(accept, thread),
	U64(accept, object),
	U64(accept, made),
	TIME(accept, begin),
	TIME(accept, end),
};

static const struct lqn_event_field mark_fields[] = {
	U64(mark, thread),
	STR(mark, name),
	STR(mark, value),
	TIME(mark, at),
};

static const struct lqn_event_field span_fields[] = {
	U64(span, thread),
	U64(span, trace),
	U64(span, span),
	U64(span, parent),
	U64(span, message),
	TIME(span, at),
	U32(span, begin),
	U32(span, pid),
	ENUM(span, kind, lqn_span_kind_name),
	ENUM(span, evidence, lqn_evidence_name),
	STR(span, name),
	STR(span, service),
};

static const struct lqn_event_field loss_fields[] = {
	TIME(loss, begin),
	TIME(loss, end),
	U64(loss, count),
	I32(loss, cpu),
};

static const struct lqn_event_field cpu_fields[] = {
	I32(cpu, cpu),
	TIME(cpu, begin),
	TIME(cpu, end),
	I64(cpu, idle),
	I64(cpu, hardirq),
	I64(cpu, softirq),
};

static const struct lqn_event_field interrupt_fields[] = {
	U64(interrupt, number),
	STR(interrupt, name),
};

static const struct lqn_event_field interrupted_fields[] = {
	U64(interrupted, thread),
	TIME(interrupted, begin),
	TIME(interrupted, end),
	U64(interrupted, number),
	ENUM(interrupted, context, lqn_context_name),
};

static const struct lqn_event_field packet_fields[] = {
	U64(packet, thread),
	U64(packet, number),
	TIME(packet, at),
	U64(packet, saddr),
	U64(packet, daddr),
	U32(packet, sport),
	U32(packet, dport),
	U32(packet, seq),
	U32(packet, bytes),
	U32(packet, received),
};

static const struct lqn_event_field io_fields[] = {
	U64(io, thread),
	U64(io, device),
	TIME(io, begin),
	TIME(io, issued),
	TIME(io, end),
};

static const struct lqn_event_field summary_fields[] = {
	TIME(summary, begin),
	TIME(summary, end),
	U64(summary, events),
	U64(summary, holes),
	U64(summary, contradictions),
	U64(summary, given_up),
	U64(summary, disorder),
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
