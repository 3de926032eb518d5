/* SPDX-License-Identifier: MIT */

/*
 * Tracepoints of the Linux kernel as LTTng 2.x, perf and ftrace name them and their fields
 * (`tid` in LTTng is `pid` in the kernel's own layout).
 */
#include "layout/tables.h"

#define F(names, kind, member) { names, LQN_FIELD_##kind, offsetof(struct lqn_record, member), 0 }
#define END { NULL, LQN_FIELD_END, 0, 0 }

static const struct lqn_layout_field sched_switch[] = {
	F("prev_tid|prev_pid", I32, sw.prev_tid),
	F("next_tid|next_pid", I32, sw.next_tid),
	F("prev_state", 64, sw.prev_state),
	F("prev_comm", COMM, sw.prev_comm),
	F("next_comm", COMM, sw.next_comm),
	END
};

static const struct lqn_layout_field sched_wake[] = {
	F("tid|pid", I32, wake.tid),
	END
};

static const struct lqn_layout_field sched_fork[] = {
	F("parent_tid|parent_pid", I32, fork.parent_tid),
	F("parent_pid", I32, fork.parent_pid),
	F("child_tid|child_pid", I32, fork.child_tid),
	F("child_pid", I32, fork.child_pid),
	F("child_comm", COMM, fork.child_comm),
	F("vtids", LAST, fork.child_vtid),
	END
};

static const struct lqn_layout_field sched_exec[] = {
	F("filename", TEXT, text),
	F("tid|pid", I32, exec.tid),
	END
};

static const struct lqn_layout_field life[] = {
	F("tid|pid", I32, life.tid),
	END
};

static const struct lqn_layout_field irq_entry[] = {
	F("irq", 64, irq.id),
	F("name", COMM, irq.name),
	END
};

static const struct lqn_layout_field irq_exit[] = {
	F("irq", 64, irq.id),
	F("ret", I32, irq.ret),
	END
};

static const struct lqn_layout_field state_namespace[] = {
	F("tid", I32, inside.tid),
	F("vtid", I32, inside.vtid),
	F("vpid", I32, inside.vpid),
	END
};

static const struct lqn_layout_field state_irq[] = {
	F("irq", 64, irq.id),
	F("action|name", COMM, irq.name),
	END
};

static const struct lqn_layout_field vector[] = {
	F("vector", 64, irq.id),
	END
};

static const struct lqn_layout_field softirq[] = {
	F("vec", 64, irq.id),
	END
};

static const struct lqn_layout_field hrtimer[] = {
	F("hrtimer", 64, irq.id),
	END
};

static const struct lqn_layout_field timer[] = {
	F("timer", 64, irq.id),
	END
};

static const struct lqn_layout_field packet[] = {
	F("skbaddr", 64, packet.skb),
	F("len", U32, packet.len),
	F("network_header", PACKET, packet),
	END
};

static const struct lqn_layout_field packet_copy[] = {
	F("skbaddr", 64, packet.skb),
	F("len", U32, packet.len),
	END
};

static const struct lqn_layout_field block[] = {
	F("dev", 64, block.dev),
	F("sector", 64, block.sector),
	F("tid", I32, block.tid),
	END
};

static const struct lqn_layout_field state_process[] = {
	F("tid", I32, state.tid),
	F("pid", I32, state.pid),
	F("ppid", I32, state.ppid),
	F("type", I32, state.type),
	F("status", I32, state.status),
	F("file_table_address", 64, state.file_table),
	F("name", TEXT, text),
	END
};

static const struct lqn_layout_field state_fd[] = {
	F("file_table_address", 64, state.file_table),
	F("pid", I32, state.pid),
	F("fd", I32, state.fd),
	F("filename", TEXT, text),
	END
};

#define CONTEXT(name, kind, fields) \
	{ name "_entry", LQN_REC_CONTEXT_ENTRY, LQN_CTX_##kind, fields }, \
	{ name "_exit", LQN_REC_CONTEXT_EXIT, LQN_CTX_##kind, fields }

/* An interrupt vector, with its name in LTTng and in the kernel. */
#define VECTOR(name, kind) \
	CONTEXT("x86_irq_vectors_" name, kind, vector), \
	CONTEXT(name, kind, vector)

const struct lqn_layout_event lqn_layout_kernel_events[] = {
	{ "sched_switch", LQN_REC_SWITCH, 0, sched_switch },
	{ "sched_waking", LQN_REC_WAKING, 0, sched_wake },
	{ "sched_ttwu", LQN_REC_WAKING, 0, sched_wake },
	{ "sched_wakeup", LQN_REC_WAKEUP, 0, sched_wake },
	{ "sched_wakeup_new", LQN_REC_WAKEUP_NEW, 0, sched_wake },
	{ "sched_process_fork", LQN_REC_FORK, 0, sched_fork },
	{ "sched_process_exec", LQN_REC_EXEC, 0, sched_exec },
	{ "sched_process_exit", LQN_REC_EXIT, 0, life },
	{ "sched_process_free", LQN_REC_FREE, 0, life },
	{ "irq_handler_entry", LQN_REC_CONTEXT_ENTRY, LQN_CTX_HARDIRQ, irq_entry },
	{ "irq_handler_exit", LQN_REC_CONTEXT_EXIT, LQN_CTX_HARDIRQ, irq_exit },
	CONTEXT("irq_softirq", SOFTIRQ, softirq),
	{ "irq_softirq_raise", LQN_REC_SOFTIRQ_RAISE, 0, softirq },
	{ "softirq_raise", LQN_REC_SOFTIRQ_RAISE, 0, softirq },
	CONTEXT("softirq", SOFTIRQ, softirq),
	VECTOR("local_timer", TICK),
	VECTOR("reschedule", IPI),
	VECTOR("call_function", IPI),
	VECTOR("call_function_single", IPI),
	VECTOR("irq_work", IPI),
	VECTOR("x86_platform_ipi", IPI),
	VECTOR("spurious_apic", IPI),
	VECTOR("error_apic", IPI),
	VECTOR("thermal_apic", IPI),
	VECTOR("threshold_apic", IPI),
	VECTOR("deferred_error_apic", IPI),
	CONTEXT("timer_hrtimer_expire", HRTIMER, hrtimer),
	CONTEXT("hrtimer_expire", HRTIMER, hrtimer),
	CONTEXT("timer_expire", TIMER, timer),
	{ "net_dev_queue", LQN_REC_PACKET_QUEUE, 0, packet },
	{ "net_if_receive_skb", LQN_REC_PACKET_RECEIVE, 0, packet },
	{ "netif_receive_skb", LQN_REC_PACKET_RECEIVE, 0, packet },
	{ "skb_copy_datagram_iovec", LQN_REC_PACKET_COPY, 0, packet_copy },
	{ "block_rq_insert", LQN_REC_BLOCK_INSERT, 0, block },
	{ "block_rq_issue", LQN_REC_BLOCK_ISSUE, 0, block },
	{ "block_rq_complete", LQN_REC_BLOCK_COMPLETE, 0, block },
	{ "lttng_statedump_process_state", LQN_REC_STATE_PROCESS, 0, state_process },
	{ "lttng_statedump_process_pid_ns", LQN_REC_STATE_NAMESPACE, 0, state_namespace },
	{ "lttng_statedump_file_descriptor", LQN_REC_STATE_FD, 0, state_fd },
	{ "lttng_statedump_interrupt", LQN_REC_STATE_IRQ, 0, state_irq },
	{ NULL, LQN_REC_OTHER, 0, NULL }
};
