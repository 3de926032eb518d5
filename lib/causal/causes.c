/* SPDX-License-Identifier: MIT */

/*
 * Why one thread has woken another: by what the waker does and what the other waits for. What does
 * not go together is no cause: a thread that waits for a futex word is not woken by bytes in a
 * pipe. Such a waking is for something that the trace does not show, a lock in the kernel as a
 * rule, and the wait was in a hidden queue at whoever held it.
 */
#include "causal/engine.h"

#include <string.h>

#include "causal/descriptors.h"

/*
 * A close ends on the way back to the program, after the event that says that the call returned
 * (delayed fput(), Linux up to 6.5).
 */
#define AFTER_CLOSE_NS 20000
#define STOPPED 4

/*
 * What a waker in a call of the row's class is the cause of to who waits in one of the column's.
 * 0: nothing that is known.
 */
static const uint8_t between[LQN_CLASS_COUNT][LQN_CLASS_COUNT] = {
	[LQN_CLASS_SEND] = {
		[LQN_CLASS_OTHER] = LQN_CAUSE_MESSAGE,
		[LQN_CLASS_SEND] = LQN_CAUSE_MESSAGE,	/* splice waits for bytes, too */
		[LQN_CLASS_RECEIVE] = LQN_CAUSE_MESSAGE,
		[LQN_CLASS_POLL] = LQN_CAUSE_MESSAGE,
		[LQN_CLASS_ACCEPT] = LQN_CAUSE_MESSAGE,
		[LQN_CLASS_CONNECT] = LQN_CAUSE_MESSAGE,
		[LQN_CLASS_RING] = LQN_CAUSE_MESSAGE,
	},
	[LQN_CLASS_RECEIVE] = {
		[LQN_CLASS_OTHER] = LQN_CAUSE_SPACE,
		[LQN_CLASS_SEND] = LQN_CAUSE_SPACE,
		[LQN_CLASS_RECEIVE] = LQN_CAUSE_SPACE,
		[LQN_CLASS_POLL] = LQN_CAUSE_SPACE,
		[LQN_CLASS_CONNECT] = LQN_CAUSE_SPACE,
		[LQN_CLASS_RING] = LQN_CAUSE_SPACE,
	},
	[LQN_CLASS_FUTEX] = { [LQN_CLASS_FUTEX] = LQN_CAUSE_FUTEX,
		[LQN_CLASS_RING] = LQN_CAUSE_RING },
	[LQN_CLASS_LOCK] = { [LQN_CLASS_LOCK] = LQN_CAUSE_LOCK },
	[LQN_CLASS_SEMAPHORE] = { [LQN_CLASS_SEMAPHORE] = LQN_CAUSE_SEMAPHORE },
	[LQN_CLASS_CONNECT] = {
		[LQN_CLASS_ACCEPT] = LQN_CAUSE_CONNECT,
		[LQN_CLASS_POLL] = LQN_CAUSE_CONNECT,
		[LQN_CLASS_RING] = LQN_CAUSE_CONNECT,
		[LQN_CLASS_OTHER] = LQN_CAUSE_CONNECT,
	},
	[LQN_CLASS_ACCEPT] = {
		[LQN_CLASS_CONNECT] = LQN_CAUSE_CONNECT,
		[LQN_CLASS_POLL] = LQN_CAUSE_CONNECT,
	},
	[LQN_CLASS_CLOSE] = {
		[LQN_CLASS_SEND] = LQN_CAUSE_HANGUP,
		[LQN_CLASS_RECEIVE] = LQN_CAUSE_HANGUP,
		[LQN_CLASS_POLL] = LQN_CAUSE_HANGUP,
		[LQN_CLASS_ACCEPT] = LQN_CAUSE_HANGUP,
		[LQN_CLASS_CONNECT] = LQN_CAUSE_HANGUP,
		[LQN_CLASS_RING] = LQN_CAUSE_HANGUP,
		[LQN_CLASS_LOCK] = LQN_CAUSE_LOCK,
	},
	[LQN_CLASS_FILE] = { [LQN_CLASS_POLL] = LQN_CAUSE_NOTIFY },
	[LQN_CLASS_RING] = {
		[LQN_CLASS_OTHER] = LQN_CAUSE_RING,
		[LQN_CLASS_SEND] = LQN_CAUSE_RING,
		[LQN_CLASS_RECEIVE] = LQN_CAUSE_RING,
		[LQN_CLASS_POLL] = LQN_CAUSE_RING,
		[LQN_CLASS_ACCEPT] = LQN_CAUSE_RING,
		[LQN_CLASS_CONNECT] = LQN_CAUSE_RING,
		[LQN_CLASS_FUTEX] = LQN_CAUSE_RING,
		[LQN_CLASS_RING] = LQN_CAUSE_RING,
	},
	[LQN_CLASS_OTHER] = { [LQN_CLASS_RING] = LQN_CAUSE_RING },
};

/* The same where the trace does not show the calls of who waits. */
static const uint8_t alone[LQN_CLASS_COUNT] = {
	[LQN_CLASS_OTHER] = LQN_CAUSE_THREAD,
	[LQN_CLASS_SEND] = LQN_CAUSE_MESSAGE,
	[LQN_CLASS_RECEIVE] = LQN_CAUSE_SPACE,
	[LQN_CLASS_POLL] = LQN_CAUSE_THREAD,
	[LQN_CLASS_ACCEPT] = LQN_CAUSE_THREAD,
	[LQN_CLASS_FUTEX] = LQN_CAUSE_FUTEX,
	[LQN_CLASS_CONNECT] = LQN_CAUSE_CONNECT,
	[LQN_CLASS_SLEEP] = LQN_CAUSE_THREAD,
	[LQN_CLASS_FILE] = LQN_CAUSE_THREAD,
	[LQN_CLASS_KILL] = LQN_CAUSE_SIGNAL,
	[LQN_CLASS_EXIT] = LQN_CAUSE_CHILD,
	[LQN_CLASS_LOCK] = LQN_CAUSE_LOCK,
	[LQN_CLASS_SEMAPHORE] = LQN_CAUSE_SEMAPHORE,
	[LQN_CLASS_CLOSE] = LQN_CAUSE_HANGUP,
	[LQN_CLASS_CLONE] = LQN_CAUSE_THREAD,
	[LQN_CLASS_WAIT] = LQN_CAUSE_THREAD,
	[LQN_CLASS_RING] = LQN_CAUSE_RING,
};

/* Workers of io_uring are threads of the program that they work for. */
static bool is_ring_worker(const struct lqn_thread *thread)
{
	return strncmp(thread->comm, "iou-", 4) == 0;
}

static bool is_child(const struct lqn_thread *thread, const struct lqn_thread *parent)
{
	return thread->parent == parent->key ||
		(thread->process && parent->process &&
			thread->parent == (uint64_t) (uint32_t) parent->process->pid);
}

/* What it waits on is one of those by which the kernel tells of something. */
static bool awaits_notice(const struct lqn_thread *target)
{
	return target->call.object && lqn_object_real(target->call.object)->kind == LQN_OBJ_NOTIFY;
}

static enum lqn_cause by_its_end(const struct lqn_thread *by, const struct lqn_thread *target)
{
	switch (lqn_call_class(target->call.kind)) {
	case LQN_CLASS_LOCK:
		return LQN_CAUSE_LOCK;		/* its descriptors are closed */
	case LQN_CLASS_SEMAPHORE:
		return LQN_CAUSE_SEMAPHORE;	/* what it has taken with SEM_UNDO is given back */
	case LQN_CLASS_SEND:
	case LQN_CLASS_RECEIVE:
	case LQN_CLASS_ACCEPT:
	case LQN_CLASS_CONNECT:
		return awaits_notice(target) ? LQN_CAUSE_CHILD : LQN_CAUSE_HANGUP;
	case LQN_CLASS_POLL:
	case LQN_CLASS_RING:
		return is_child(by, target) ? LQN_CAUSE_CHILD : LQN_CAUSE_HANGUP;
	default:
		return LQN_CAUSE_CHILD;
	}
}

/* A program that serves page faults in user space copies a page into place. */
static bool serves_fault(const struct lqn_step *step, const struct lqn_thread *by)
{
	struct lqn_object *object = by->call.kind != LQN_CALL_IOCTL ? NULL :
		lqn_step_object(step, by->call.arg[0]);

	return object && object->kind == LQN_OBJ_NOTIFY;
}

/* A waking inside a call of class `class`; the trace shows what the other waits for. */
static enum lqn_cause in_call(const struct lqn_step *step, const struct lqn_thread *target,
	enum lqn_call_class class)
{
	const struct lqn_thread *by = step->thread;
	enum lqn_call_class waits = lqn_call_class(target->call.kind);
	uint32_t state = target->state == LQN_THREAD_BLOCKED ? target->block_state : 0;
	enum lqn_cause cause;

	if (class == LQN_CLASS_KILL || state == STOPPED) {
		return LQN_CAUSE_SIGNAL;
	}
	if (class == LQN_CLASS_EXIT) {
		return by_its_end(by, target);
	}
	if ((waits == LQN_CLASS_CLONE || waits == LQN_CLASS_WAIT) && is_child(by, target)) {
		return LQN_CAUSE_CHILD;		/* after vfork it has another program now, or it stops */
	}
	if (target->call.kind == LQN_CALL_NONE) {
		return serves_fault(step, by) ? LQN_CAUSE_FAULT : LQN_CAUSE_HIDDEN;
	}
	if (state == LQN_BLOCKED_FOR_GOOD) {
		return LQN_CAUSE_HIDDEN;
	}
	if (waits == LQN_CLASS_RECEIVE && awaits_notice(target) && (class == LQN_CLASS_FILE ||
			class == LQN_CLASS_CLOSE || class == LQN_CLASS_SEND)) {
		return LQN_CAUSE_NOTIFY;
	}
	if (by->call.kind == LQN_CALL_OPEN && target->call.kind == LQN_CALL_OPEN) {
		return LQN_CAUSE_CONNECT;	/* the other end of a FIFO */
	}
	if (waits == LQN_CLASS_POLL && (class == LQN_CLASS_POLL || class == LQN_CLASS_CONTROL)) {
		/* what one has left ready on a shared epoll descriptor is the next one's */
		return target->call.object && target->call.object == by->call.object ?
			LQN_CAUSE_THREAD : LQN_CAUSE_HIDDEN;
	}
	cause = (enum lqn_cause) between[class][waits];
	return cause ? cause : LQN_CAUSE_HIDDEN;
}

static bool is_blocked_for_good(const struct lqn_thread *thread)
{
	return thread->state == LQN_THREAD_BLOCKED && thread->block_state == LQN_BLOCKED_FOR_GOOD;
}

/* It is about to block outside of calls, and woken before it has left the CPU. */
static bool is_leaving(const struct lqn_thread *thread)
{
	return thread->state == LQN_THREAD_RUNNING && thread->call.kind == LQN_CALL_NONE;
}

/* A waking by a thread that is in no call. */
static enum lqn_cause out_of_calls(const struct lqn_step *step, const struct lqn_thread *target)
{
	const struct lqn_thread *by = step->thread;

	if (by->exited) {
		return by_its_end(by, target);
	}
	if (by->kernel || is_ring_worker(by)) {
		return LQN_CAUSE_WORKER;
	}
	if (!by->called || step->rec->type == LQN_REC_WAKEUP) {
		/* the trace does not have its calls, or not the waking itself */
		return LQN_CAUSE_THREAD;
	}
	if (lqn_call_class(by->last_call) == LQN_CLASS_CLOSE &&
			step->rec->ts - by->last_call_end <= AFTER_CLOSE_NS && target->called) {
		return in_call(step, target, LQN_CLASS_CLOSE);
	}
	if (lqn_call_class(target->call.kind) == LQN_CLASS_WAIT && is_child(by, target)) {
		return LQN_CAUSE_CHILD;		/* it has stopped */
	}
	if (target->kernel || awaits_notice(target)) {
		return LQN_CAUSE_FAULT;
	}
	if (target->process && target->process == by->process && (is_blocked_for_good(target) || is_leaving(target))) {
		return LQN_CAUSE_HIDDEN;	/* as a rule, the lock of its memory map */
	}
	/* nothing else that a program does without a call lets a thread go on */
	return LQN_CAUSE_INTERRUPT;
}

/*
 * An interrupt wakes ksoftirqd at its very end, when it has told that it is over; so does a thread
 * that has raised a softirq within a call.
 */
static bool is_left_to_ksoftirqd(const struct lqn_step *step, const struct lqn_thread *target,
	bool in_a_call)
{
	return target->kernel && strncmp(target->comm, "ksoftirqd/", 10) == 0 &&
		(!in_a_call || lqn_cpu_is_after_irq(step->cpu, step->rec->ts));
}

static enum lqn_cause cause_of(const struct lqn_step *step, const struct lqn_thread *target)
{
	const struct lqn_thread *by = step->thread;
	bool in_a_call = by->call.kind != LQN_CALL_NONE && !by->exited;

	if (is_left_to_ksoftirqd(step, target, in_a_call)) {
		return LQN_CAUSE_INTERRUPT;
	}
	if (!in_a_call) {
		return out_of_calls(step, target);
	}
	if (target->kernel) {
		return LQN_CAUSE_THREAD;
	}
	if (is_ring_worker(target)) {
		return LQN_CAUSE_RING;
	}
	if (target->call.kind == LQN_CALL_NONE && !target->called) {
		return (enum lqn_cause) alone[lqn_call_class(by->call.kind)];
	}
	return in_call(step, target, lqn_call_class(by->call.kind));
}

static enum lqn_evidence evidence_of(const struct lqn_step *step, const struct lqn_thread *target,
	enum lqn_cause cause)
{
	switch (cause) {
	case LQN_CAUSE_HIDDEN:
		return LQN_HYPOTHESISED;
	case LQN_CAUSE_INTERRUPT:
	case LQN_CAUSE_RING:
		return LQN_INFERRED;
	case LQN_CAUSE_NOTIFY:
		return awaits_notice(target) ? LQN_CERTAIN : LQN_INFERRED;
	default:
		/* on the CPU that takes the thread, which need not be the waker's */
		return step->rec->type == LQN_REC_WAKEUP || step->cpu->in_hole ? LQN_INFERRED :
			LQN_CERTAIN;
	}
}

/* Through what a waking for `cause` was. */
static uint64_t via_of(const struct lqn_step *step, const struct lqn_thread *target,
	enum lqn_cause cause)
{
	switch (cause) {
	case LQN_CAUSE_LOCK:
	case LQN_CAUSE_SEMAPHORE:
		return target->call.object_id ? target->call.object_id :
			step->thread->call.object_id;
	case LQN_CAUSE_INTERRUPT:
		return (uint64_t) step->cpu->id;
	default:
		return step->thread->call.kind != LQN_CALL_NONE ? step->thread->call.object_id : 0;
	}
}

void lqn_step_woken_by_thread(const struct lqn_step *step, const struct lqn_thread *target,
	struct lqn_waker *waker)
{
	const struct lqn_thread *by = step->thread;
	bool in_a_call = by->call.kind != LQN_CALL_NONE;
	enum lqn_cause cause;

	if (step->cpu->depth > 0 && in_a_call && !lqn_step_brings_own(step)) {
		/*
		 * the softirq that the call entered also takes what another CPU or a device has
		 * left there
		 */
		waker->cause = LQN_CAUSE_NETWORK;
		waker->via = lqn_step_arrival(step, target);
		return;
	}
	waker->by = by->key;
	waker->call = by->call.kind;
	if (!in_a_call && step->cpu->arrival.ts >= 0) {
		waker->cause = LQN_CAUSE_NETWORK;
		waker->via = lqn_step_arrival(step, target);
		return;
	}
	if (!in_a_call && step->cpu->completed) {
		waker->cause = LQN_CAUSE_DISK;
		waker->via = step->cpu->completed;
		return;
	}
	cause = cause_of(step, target);
	waker->cause = (uint8_t) cause;
	waker->via = via_of(step, target, cause);
	waker->evidence = (uint8_t) evidence_of(step, target, cause);
	if (cause == LQN_CAUSE_INTERRUPT) {
		waker->by = 0;	/* it was interrupted, no more */
		waker->call = LQN_CALL_NONE;
	}
}
