/* SPDX-License-Identifier: MIT */

/*
 * Interrupts on top of threads, and what woke whom.
 *
 * What happens in an interrupt is never the interrupted thread's doing. One softirq is: that of the
 * network which the thread's own system call enters (a send through loopback delivers its packet
 * there and wakes the reader). It is told from softirqs of interrupts by who has asked for it or,
 * where the trace does not say that, by there having been no hardware interrupt just before; in a
 * trace without system calls, by the thread having sent something to its own host. What all others
 * took from the thread is told of as each ends.
 */
#include "causal/engine.h"

#include <string.h>

/* What comes so soon after an interrupt is of its end: a softirq was raised by it. */
#define AFTER_IRQ_NS 1500
/* A handler that leaves the rest to its thread wakes it so soon after it has returned. */
#define IRQ_THREAD_NS 5000
/* What such a handler returns. */
#define IRQ_WAKE_THREAD_ 2

/* Softirq vectors of the kernel. */
enum { HI, TIMER, NET_TX, NET_RX, BLOCK, IRQ_POLL, TASKLET, SCHED, HRTIMER, RCU, VECTORS };

static const uint8_t softirq_cause[VECTORS] = {
	[HI] = LQN_CAUSE_DEVICE,
	[TIMER] = LQN_CAUSE_TIMER,
	[NET_TX] = LQN_CAUSE_NETWORK,
	[NET_RX] = LQN_CAUSE_NETWORK,
	[BLOCK] = LQN_CAUSE_DISK,
	[IRQ_POLL] = LQN_CAUSE_DISK,
	[TASKLET] = LQN_CAUSE_DEVICE,
	[SCHED] = LQN_CAUSE_WORKER,
	[HRTIMER] = LQN_CAUSE_TIMER,
	[RCU] = LQN_CAUSE_WORKER,
};

static bool is_hard(uint8_t kind)
{
	return kind == LQN_CTX_HARDIRQ || kind == LQN_CTX_IPI || kind == LQN_CTX_TICK;
}

bool lqn_cpu_in_task(const struct lqn_cpu *cpu)
{
	return cpu->depth == 0 || cpu->stack[cpu->depth - 1].own;
}

bool lqn_cpu_is_after_irq(const struct lqn_cpu *cpu, int64_t ts)
{
	return cpu->last_hardirq != INT64_MIN && ts - cpu->last_hardirq <= AFTER_IRQ_NS;
}

static bool enters_by_itself(const struct lqn_step *step)
{
	const struct lqn_cpu *cpu = step->cpu;
	int64_t vector = step->rec->irq.id;

	if (step->rec->kind != LQN_CTX_SOFTIRQ || cpu->depth > 0 || !step->thread ||
			(vector != NET_TX && vector != NET_RX)) {
		return false;
	}
	if (step->causal->have_raise) {
		return cpu->raised & UINT32_C(1) << vector;
	}
	if (step->thread->call.kind == LQN_CALL_NONE) {
		return cpu->sent_to_self;
	}
	return !lqn_cpu_is_after_irq(cpu, step->rec->ts);
}

void lqn_step_softirq_raise(struct lqn_step *step)
{
	int64_t vector = step->rec->irq.id;
	uint32_t bit = vector >= 0 && vector < VECTORS ? UINT32_C(1) << vector : 0;

	step->causal->have_raise = true;
	/*
	 * one softirq may do what both have asked for: then what it does is not for certain the
	 * thread's
	 */
	if (lqn_cpu_in_task(step->cpu)) {
		step->cpu->raised |= bit;
	} else {
		step->cpu->raised &= ~bit;
	}
}

/* Tells of an interrupt's name when it is first seen, or is given to another device. */
static void tell_name(struct lqn_causal *c, const struct lqn_record *rec)
{
	struct lqn_event ev = { .type = LQN_EV_INTERRUPT };
	char name[LQN_COMM_LEN + 1] = { 0 };
	gpointer key = GUINT_TO_POINTER((guint) rec->irq.id);

	memcpy(name, rec->irq.name, LQN_COMM_LEN);
	if (!*name || g_strcmp0(g_hash_table_lookup(c->interrupts, key), name) == 0) {
		return;
	}
	g_hash_table_insert(c->interrupts, key, (gpointer) g_intern_string(name));
	ev.interrupt.number = (uint64_t) rec->irq.id;
	ev.interrupt.name = name;
	lqn_causal_emit(c, &ev);
}

void lqn_step_state_irq(struct lqn_step *step)
{
	tell_name(step->causal, step->rec);
}

void lqn_step_context_entry(struct lqn_step *step)
{
	struct lqn_cpu *cpu = step->cpu;
	struct lqn_context_frame *frame;

	if (step->rec->kind == LQN_CTX_HARDIRQ) {
		tell_name(step->causal, step->rec);
	}
	if (cpu->depth == LQN_CONTEXT_DEPTH) {
		/* deeper than the kernel nests: exits were lost; the next switch clears it */
		return;
	}
	frame = &cpu->stack[cpu->depth];
	frame->kind = step->rec->kind;
	frame->id = step->rec->irq.id;
	frame->since = step->rec->ts;
	frame->own = enters_by_itself(step);
	if (frame->kind == LQN_CTX_SOFTIRQ && frame->id >= 0 && frame->id < VECTORS) {
		cpu->raised &= ~(UINT32_C(1) << frame->id);
	}
	cpu->depth++;
}

/* True if what lies below the frame is the thread's own doing, and the frame is not. */
static bool is_outermost(const struct lqn_cpu *cpu, uint32_t index)
{
	return !cpu->stack[index].own && (index == 0 || cpu->stack[index - 1].own);
}

/* The thread ran on beneath it, as its clock has it, but did nothing. */
static void tell_interruption(const struct lqn_step *step, const struct lqn_context_frame *frame)
{
	const struct lqn_thread *thread = step->thread;
	struct lqn_event ev = { .type = LQN_EV_INTERRUPTED };

	if (!thread || thread->state != LQN_THREAD_RUNNING) {
		return;
	}
	ev.interrupted.thread = thread->key;
	ev.interrupted.number = frame->id > 0 ? (uint64_t) frame->id : 0;
	ev.interrupted.begin = MAX(frame->since, thread->since);
	ev.interrupted.end = step->rec->ts;
	ev.interrupted.context = frame->kind;
	if (ev.interrupted.begin < ev.interrupted.end) {
		lqn_causal_emit(step->causal, &ev);
	}
}

void lqn_step_context_exit(struct lqn_step *step)
{
	struct lqn_cpu *cpu = step->cpu;
	struct lqn_context_frame *frame;
	int64_t ts = step->rec->ts;
	uint32_t depth = cpu->depth;

	while (depth > 0 && cpu->stack[depth - 1].kind != step->rec->kind) {
		depth--;
	}
	if (depth == 0) {
		return;		/* its entry was before the trace, or lost */
	}
	frame = &cpu->stack[depth - 1];
	if (frame->kind == LQN_CTX_HARDIRQ) {
		cpu->last_irq = frame->id;
		cpu->last_irq_end = ts;
		cpu->woke_irq_thread = step->rec->irq.ret == IRQ_WAKE_THREAD_;
	}
	if (is_outermost(cpu, depth - 1)) {
		tell_interruption(step, frame);
	}
	if (depth == 1) {
		if (is_hard(frame->kind)) {
			cpu->hardirq_ns += ts - frame->since;
		} else if (frame->kind == LQN_CTX_SOFTIRQ) {
			cpu->softirq_ns += ts - frame->since;
		}
		cpu->completed = 0;
		cpu->arrival.ts = -1;
		cpu->datagram_skb = 0;
		cpu->sent_to_self &= !frame->own;
	}
	if (is_hard(frame->kind) || (frame->kind == LQN_CTX_SOFTIRQ && !frame->own)) {
		cpu->last_hardirq = ts;
	}
	cpu->depth = depth - 1;
}

/*
 * A threaded interrupt handler is woken when its handler has returned but the interrupt has not. It
 * is known by its number or, when the thread's name is not known or has none, by what the handler
 * returned.
 */
static bool is_thread_of_irq(const struct lqn_thread *target, const struct lqn_cpu *cpu, int64_t ts)
{
	if (cpu->last_irq < 0 || ts - cpu->last_irq_end >= IRQ_THREAD_NS) {
		return false;
	}
	if (strncmp(target->comm, "irq/", 4) == 0) {
		return cpu->woke_irq_thread ||
			g_ascii_strtoll(target->comm + 4, NULL, 10) == cpu->last_irq;
	}
	return cpu->woke_irq_thread && !*target->comm;
}

static void woken_by_interrupt(const struct lqn_step *step, const struct lqn_thread *target,
	struct lqn_waker *waker)
{
	const struct lqn_cpu *cpu = step->cpu;
	const struct lqn_context_frame *top = &cpu->stack[cpu->depth - 1];

	waker->evidence = LQN_CERTAIN;
	if (cpu->completed) {
		waker->cause = LQN_CAUSE_DISK;
		waker->via = cpu->completed;
		return;
	}
	switch (top->kind) {
	case LQN_CTX_HRTIMER:
	case LQN_CTX_TIMER:
	case LQN_CTX_TICK:
		waker->cause = LQN_CAUSE_TIMER;
		break;
	case LQN_CTX_HARDIRQ:
		waker->cause = LQN_CAUSE_DEVICE;
		waker->via = (uint64_t) top->id;
		break;
	case LQN_CTX_SOFTIRQ:
		waker->cause = top->id >= 0 && top->id < VECTORS ?
			softirq_cause[top->id] : LQN_CAUSE_DEVICE;
		if (waker->cause == LQN_CAUSE_NETWORK) {
			waker->via = lqn_step_arrival(step, target);
		}
		break;
	default:
		waker->cause = LQN_CAUSE_IPI;
		waker->evidence = LQN_HYPOTHESISED;
		break;
	}
}

/*
 * True for a sched_wakeup in the place of a sched_waking that the trace lacks: it happens where the
 * thread is taken.
 */
static bool is_waker_unseen(const struct lqn_step *step)
{
	return step->rec->type == LQN_REC_WAKEUP && step->causal->have_waking;
}

struct lqn_waker lqn_step_waker(const struct lqn_step *step, const struct lqn_thread *target)
{
	const struct lqn_cpu *cpu = step->cpu;
	struct lqn_waker waker = { .ts = step->rec->ts, .evidence = LQN_CERTAIN,
		.cpu = step->cpu->id };

	if (is_waker_unseen(step)) {
		waker.cause = LQN_CAUSE_IPI;
		waker.evidence = LQN_HYPOTHESISED;
	} else if (!lqn_cpu_in_task(cpu)) {
		woken_by_interrupt(step, target, &waker);
	} else if (is_thread_of_irq(target, cpu, waker.ts)) {
		waker.cause = LQN_CAUSE_DEVICE;
		waker.via = (uint64_t) cpu->last_irq;
	} else if (step->thread) {
		lqn_step_woken_by_thread(step, target, &waker);
	} else if (cpu->known) {
		/* an idle CPU does nothing of its own: an interrupt that is not traced */
		waker.cause = LQN_CAUSE_INTERRUPT;
		waker.via = (uint64_t) cpu->id;
		waker.evidence = LQN_INFERRED;
	} else {
		waker.cause = LQN_CAUSE_UNKNOWN;
		waker.evidence = LQN_HYPOTHESISED;
	}
	return waker;
}
