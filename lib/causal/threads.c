/* SPDX-License-Identifier: MIT */

/*
 * Threads on and off their CPUs.
 *
 *   what is seen                               what is concluded
 *   switch away, wants to go on                runnable, preempted by who came
 *   switch away, does not                      blocked; an early waking is kept, see below
 *   waking of a blocked thread                 its cause; later wakings change nothing
 *   waking of a running thread                 early: if it blocks next and nobody wakes it then,
 *                                              this was the cause
 *   switch to a blocked thread, woken          the wait ends: one lqn:wait
 *   switch to a blocked thread, not woken      the same, cause unknown
 *   switch to a runnable thread                one lqn:preempted
 *   records of a thread that was not switched  a hole: it runs since the later of the CPU's last
 *   to                                         switch and its own last waking; who was switched
 *                                              to instead is lost sight of
 */
#include "causal/engine.h"

/* A waking that came so long before the thread left the CPU may have been for something else. */
#define EARLY_NS 1000000

static void idle_account(struct lqn_host_state *host, int64_t ts)
{
	if (host->n_idle > 0) {
		host->idle_ns += ts - host->idle_since;
		host->idle_since = ts;
	} else {
		/* what is found out late lies in the past, which must not be counted twice */
		host->idle_since = MAX(host->idle_since, ts);
	}
}

static bool is_idle(const struct lqn_cpu *cpu)
{
	return cpu->known && !cpu->current;
}

static void set_current(struct lqn_causal *c, struct lqn_cpu *cpu, struct lqn_thread *thread,
	bool known, int64_t ts)
{
	bool was_idle = is_idle(cpu);

	if (was_idle) {
		cpu->idle_ns += ts - cpu->since;
	}
	cpu->current = thread;
	cpu->known = known;
	cpu->since = ts;
	if (was_idle != is_idle(cpu)) {
		idle_account(&c->host, ts);
		c->host.n_idle += was_idle ? -1 : 1;
	}
}

static void stop_running(struct lqn_thread *thread, int64_t ts)
{
	if (thread->state == LQN_THREAD_RUNNING) {
		thread->cpu_ns += ts - thread->since;
	}
	thread->since = ts;
}

/*
 * ns with an idle CPU since the thread became runnable; at most `time`, for what is found out late
 * ended earlier.
 */
static int64_t idle_since(const struct lqn_causal *c, const struct lqn_thread *thread, int64_t time)
{
	return CLAMP(lqn_host_idle_at(&c->host, c->at) - thread->idle_at, 0, time);
}

/*
 * Who comes to the CPU so soon after its waking has been given it because of that: an interrupt and a switch, each with what a tracer
 * adds. Who comes later has waited for his turn, and other events have read the clock meanwhile.
 */
#define AT_ONCE_NS 25000

/*
 * The kernel's clock of a thread that is woken on an idle CPU, or puts off its CPU who runs there, begins at
 * the waking: that has read the run queue's clock, and spares the switch reading it again
 * (rq_clock_skip_update()). For who is put off it ends there. ns.
 */
static int64_t charged(const struct lqn_cpu *cpu, const struct lqn_thread *thread, int64_t ts)
{
	const struct lqn_waker *wake = &thread->wake;
	bool at_once;

	if (!cpu || thread->state != LQN_THREAD_BLOCKED || wake->ts < cpu->since || wake->early) {
		return 0;
	}
	at_once = is_idle(cpu) ? wake->cpu == cpu->id :
		cpu->known && cpu->current && cpu->current->state == LQN_THREAD_RUNNABLE && ts - wake->ts <= AT_ONCE_NS;
	return at_once ? MAX(0, ts - wake->ts) : 0;
}

/* Who has had the CPU until a thread comes to it; 0: nobody, or nobody known. */
static uint64_t predecessor(const struct lqn_cpu *cpu, const struct lqn_thread *thread)
{
	const struct lqn_thread *before = cpu && cpu->known ? cpu->current : NULL;

	return before && before != thread ? before->key : 0;
}

/* `cpu`: the one that it comes back to; NULL: it does not. Returns what it is charged with of its way back, ns. */
static int64_t emit_wait(struct lqn_causal *c, const struct lqn_cpu *cpu, struct lqn_thread *thread,
	int64_t end, bool open)
{
	const struct lqn_waker *wake = &thread->wake;
	const struct lqn_open_call *call = &thread->call;
	bool woken = wake->ts >= 0;
	struct lqn_event ev = { .type = LQN_EV_WAIT };

	if (call->object) {
		lqn_channel_announce(call->object, false);
	}
	ev.wait.thread = thread->key;
	ev.wait.by = woken ? wake->by : 0;
	ev.wait.after = predecessor(cpu, thread);
	ev.wait.begin = thread->since;
	ev.wait.wake = woken ? wake->ts : -1;
	ev.wait.end = end;
	ev.wait.cpu = thread->cpu_ns;
	ev.wait.charged = charged(cpu, thread, end);
	ev.wait.idle = woken ? idle_since(c, thread, end - wake->ts - ev.wait.charged) : 0;
	ev.wait.call_begin = call->kind != LQN_CALL_NONE ? call->begin : 0;
	ev.wait.object = call->kind != LQN_CALL_NONE ? call->object_id : 0;
	ev.wait.via = woken ? wake->via : 0;
	ev.wait.call = call->kind;
	ev.wait.by_call = woken ? wake->call : LQN_CALL_NONE;
	ev.wait.cause = woken ? wake->cause : LQN_CAUSE_UNKNOWN;
	ev.wait.evidence = woken ? wake->evidence : LQN_HYPOTHESISED;
	ev.wait.state = thread->block_state;
	ev.wait.open = open;
	if (!woken && !open && call->kind == LQN_CALL_SLEEP) {
		/*
		 * what woke it fell into a hole; nothing but its timer ends a sleep, save a signal,
		 * which is rare
		 */
		ev.wait.cause = LQN_CAUSE_TIMER;
		ev.wait.evidence = LQN_INFERRED;
	}
	lqn_causal_emit(c, &ev);
	thread->cpu_ns += ev.wait.charged;
	return ev.wait.charged;
}

/* `cpu` as for emit_wait(). */
static void emit_preempted(struct lqn_causal *c, const struct lqn_cpu *cpu,
	struct lqn_thread *thread, int64_t end)
{
	struct lqn_event ev = { .type = LQN_EV_PREEMPTED };

	ev.preempted.thread = thread->key;
	ev.preempted.by = thread->by;
	ev.preempted.after = predecessor(cpu, thread);
	ev.preempted.begin = thread->since;
	ev.preempted.end = end;
	ev.preempted.cpu = thread->cpu_ns;
	ev.preempted.idle = idle_since(c, thread, end - thread->since);
	lqn_causal_emit(c, &ev);
}

/* A wait on a block device inside a call counts as input or output of the call. */
static void count_disk(struct lqn_thread *thread, int64_t end)
{
	struct lqn_open_call *call = &thread->call;

	if (call->kind == LQN_CALL_NONE) {
		return;
	}
	call->blocked = true;
	if (thread->wake.ts >= 0 && thread->wake.cause == LQN_CAUSE_HIDDEN) {
		return;		/* for whoever woke it, in the same file perhaps */
	}
	if (thread->block_state == LQN_BLOCKED_FOR_GOOD && (lqn_call_class(call->kind) == LQN_CLASS_FILE ||
			(call->object && call->object->kind == LQN_OBJ_FILE))) {
		call->disk_waits++;
		call->disk_ns += (thread->wake.ts >= 0 ? thread->wake.ts : end) - thread->since;
	}
}

static void leave(struct lqn_causal *c, struct lqn_thread *thread, const struct lqn_record *rec)
{
	uint32_t reason = lqn_prev_state(rec->sw.prev_state, c->release);
	struct lqn_thread *next =
		rec->sw.next_tid > 0 ? lqn_host_find_thread(&c->host, rec->sw.next_tid) : NULL;

	stop_running(thread, rec->ts);
	if (reason == 0) {
		thread->state = LQN_THREAD_RUNNABLE;
		thread->by = next ? next->key : (uint64_t) (uint32_t) rec->sw.next_tid;
		thread->idle_at = lqn_host_idle_at(&c->host, rec->ts);
		thread->early.ts = -1;
		return;
	}
	if (reason == 16 || thread->exited) {
		struct lqn_event ev = { .type = LQN_EV_EXIT };

		thread->state = LQN_THREAD_DEAD;
		ev.exit.thread = thread->key;
		ev.exit.at = rec->ts;
		ev.exit.cpu = thread->cpu_ns;
		lqn_causal_emit(c, &ev);
		return;
	}
	thread->state = LQN_THREAD_BLOCKED;
	thread->block_state = reason;
	thread->wake.ts = -1;
	if (thread->call.receiving) {
		thread->call.found_empty |= lqn_channel_is_read_by_one(thread->call.object);
	}
	if (thread->early.ts >= 0) {
		/*
		 * it was woken before it had left: the wait has no length, only the way back to the
		 * CPU has
		 */
		thread->wake = thread->early;
		if (rec->ts - thread->early.ts > EARLY_NS) {
			thread->wake.evidence = LQN_INFERRED;
		}
		thread->wake.ts = rec->ts;
		thread->wake.early = true;
		thread->idle_at = lqn_host_idle_at(&c->host, rec->ts);
		thread->early.ts = -1;
	}
}

/* True for a thread that ran and was lost sight of, which is noted: it is to be told of as such. */
static bool note_lost(struct lqn_thread *thread)
{
	if (thread->cpu < 0) {
		return false;	/* never seen to run */
	}
	thread->wake.ts = -1;
	thread->block_state = 0;
	return true;
}

/* `put_off`: who has left the CPU for it and wants to go on; NULL: nobody. */
static void enter(struct lqn_causal *c, struct lqn_cpu *cpu, struct lqn_thread *thread, struct lqn_thread *put_off, int64_t ts)
{
	int64_t charged;

	switch (thread->state) {
	case LQN_THREAD_BLOCKED:
		count_disk(thread, ts);
		charged = emit_wait(c, cpu, thread, ts, false);
		if (put_off) {
			put_off->cpu_ns -= charged;
		}
		break;
	case LQN_THREAD_RUNNABLE:
		emit_preempted(c, cpu, thread, ts);
		break;
	case LQN_THREAD_UNKNOWN:
		if (note_lost(thread)) {
			/* tell of the gap, for a thread's intervals must tile its life */
			emit_wait(c, NULL, thread, ts, false);
		} else if (thread->born >= 0 || thread->dumped == LQN_DUMPED_READY) {
			/* ready since its birth, or since before the trace */
			emit_preempted(c, cpu, thread, ts);
		} else if (thread->dumped) {
			emit_wait(c, NULL, thread, ts, false);
		}
		break;
	case LQN_THREAD_RUNNING:
		/* it never left, as far as was seen: its clock must not go back */
		ts = MAX(ts, thread->since);
		stop_running(thread, ts);
		break;
	default:
		break;
	}
	thread->state = LQN_THREAD_RUNNING;
	thread->since = ts;
	thread->cpu = cpu->id;
	thread->wake.ts = thread->early.ts = -1;
}

/*
 * Whom a CPU is taken to run has left it: when is not known. It may have run for no time at all, but to the begin of its call
 * it did.
 */
static void lose_current(struct lqn_cpu *cpu)
{
	struct lqn_thread *lost = cpu->current;

	if (lost->state == LQN_THREAD_RUNNING && lost->call.kind != LQN_CALL_NONE &&
			lost->call.begin > lost->since) {
		stop_running(lost, lost->call.begin);
	}
	lost->state = LQN_THREAD_UNKNOWN;
}

/* Since when a thread that is found on a CPU has been there at the earliest. */
static int64_t there_since(const struct lqn_cpu *cpu, const struct lqn_thread *thread)
{
	int64_t since = cpu->since;

	if (thread->state == LQN_THREAD_UNKNOWN && thread->cpu < 0 &&
			thread->dumped == LQN_DUMPED_READY && !cpu->known &&
			cpu->since == cpu->first) {
		/* the first that is seen of the CPU: it was there all along */
		since = thread->since;
	}
	if (thread->state == LQN_THREAD_BLOCKED) {
		since = MAX(since, thread->wake.ts);
	}
	if (thread->call.kind != LQN_CALL_NONE) {
		since = MAX(since, thread->call.begin);		/* it ran then, wherever that was */
	}
	return thread->state != LQN_THREAD_RUNNING ? MAX(since, thread->since) : since;
}

static bool runs_elsewhere(const struct lqn_cpu *cpu, const struct lqn_thread *thread)
{
	return thread->state == LQN_THREAD_RUNNING && thread->cpu >= 0 && thread->cpu != cpu->id;
}

/*
 * A thread that ran elsewhere, as far as was seen, is found on another CPU: until `ts` it ran there. True if that CPU was taken to
 * run it to the present, `now`: it has a hole as well.
 */
static bool take_from_elsewhere(struct lqn_causal *c, struct lqn_thread *thread, int64_t ts, int64_t now)
{
	struct lqn_cpu *other = lqn_host_cpu(&c->host, thread->cpu, now);
	bool hole = other->current == thread;

	if (hole) {
		set_current(c, other, NULL, false, now);
	}
	stop_running(thread, ts);
	thread->state = LQN_THREAD_UNKNOWN;
	return hole;
}

void lqn_causal_resync(struct lqn_causal *c, struct lqn_cpu *cpu, struct lqn_thread *thread)
{
	int64_t since = cpu->since;

	if (cpu->known && cpu->current) {
		lose_current(cpu);
	}
	if (cpu->known || cpu->current) {
		c->holes++;
		cpu->in_hole = true;
	}
	if (thread) {
		since = there_since(cpu, thread);
		if (runs_elsewhere(cpu, thread)) {
			since = MAX(since, thread->since);
			take_from_elsewhere(c, thread, since, c->at);
		}
	}
	set_current(c, cpu, thread, true, since);
	if (thread) {
		lqn_causal_announce(c, thread, NULL);
		enter(c, cpu, thread, NULL, since);
	}
}

void lqn_step_switch(struct lqn_step *step)
{
	struct lqn_causal *c = step->causal;
	struct lqn_record *rec = step->rec;
	struct lqn_cpu *cpu = step->cpu;
	struct lqn_thread *next = NULL;

	if (cpu->depth > 0) {
		/* an interrupt cannot be switched away from: an exit was lost */
		cpu->depth = 0;
	}
	cpu->completed = 0;
	cpu->arrival.ts = -1;
	cpu->datagram_skb = 0;
	cpu->sent_to_self = cpu->in_hole = false;
	cpu->raised = 0;
	if (step->thread) {
		lqn_causal_announce(c, step->thread, rec->sw.prev_comm);
		leave(c, step->thread, rec);
	}
	if (rec->sw.next_tid > 0) {
		next = lqn_host_thread(&c->host, rec->sw.next_tid);
		lqn_causal_announce(c, next, rec->sw.next_comm);
		if (next->state == LQN_THREAD_DEAD) {
			next->state = LQN_THREAD_UNKNOWN;
		}
		if (runs_elsewhere(cpu, next)) {
			c->holes += take_from_elsewhere(c, next, rec->ts, rec->ts);
		}
	}
	/* the idle clock stands at the switch before the CPU's own idleness changes */
	if (next) {
		enter(c, cpu, next, step->thread && step->thread->state == LQN_THREAD_RUNNABLE ? step->thread : NULL, rec->ts);
	}
	set_current(c, cpu, next, true, rec->ts);
}

static void woken(struct lqn_step *step, struct lqn_thread *target)
{
	struct lqn_causal *c = step->causal;

	if (G_UNLIKELY(step->cpu->datagram_skb)) {
		lqn_step_datagram_wakes(step, target);
	}
	switch (target->state) {
	case LQN_THREAD_BLOCKED:
		/*
		 * who was woken cannot be woken again: then the early waking was too early to count
		 */
		if (target->wake.ts < 0 || target->wake.early) {
			target->wake = lqn_step_waker(step, target);
			target->idle_at = lqn_host_idle_at(&c->host, step->rec->ts);
			if (target->wake.by) {
				lqn_step_call_wakes(step, target);
			}
		}
		break;
	case LQN_THREAD_RUNNING:
		if (target != step->thread) {
			target->early = lqn_step_waker(step, target);
			if (target->early.by) {
				lqn_step_call_wakes(step, target);
			}
		}
		break;
	case LQN_THREAD_UNKNOWN:
		if (target->cpu < 0) {
			/* it slept since before the trace began */
			target->state = LQN_THREAD_BLOCKED;
			target->since = target->since > 0 ? target->since : c->first;
			target->block_state = 1;
			target->wake = lqn_step_waker(step, target);
			target->idle_at = lqn_host_idle_at(&c->host, step->rec->ts);
		}
		break;
	default:
		break;
	}
}

void lqn_step_waking(struct lqn_step *step)
{
	if (step->rec->wake.tid > 0) {
		woken(step, lqn_host_thread(&step->causal->host, step->rec->wake.tid));
	}
}

void lqn_step_wakeup(struct lqn_step *step)
{
	struct lqn_thread *target = lqn_host_find_thread(&step->causal->host, step->rec->wake.tid);

	/*
	 * It fires on the CPU that takes the thread, often in an interrupt: who woke is known only
	 * from sched_waking. Where that was not traced, at least the time is known.
	 */
	if (!step->causal->have_waking ||
			(target && target->state == LQN_THREAD_BLOCKED && target->wake.ts < 0)) {
		lqn_step_waking(step);
	}
}

void lqn_step_wakeup_new(struct lqn_step *step)
{
	struct lqn_thread *thread;

	if (step->rec->wake.tid <= 0) {
		return;
	}
	thread = lqn_host_thread(&step->causal->host, step->rec->wake.tid);
	if (thread->state == LQN_THREAD_UNKNOWN) {
		thread->state = LQN_THREAD_RUNNABLE;
		thread->since = step->rec->ts;
		thread->by = 0;
		thread->idle_at = lqn_host_idle_at(&step->causal->host, step->rec->ts);
	}
}

void lqn_causal_end_thread(struct lqn_causal *c, struct lqn_thread *thread, int64_t ts)
{
	if (thread->state == LQN_THREAD_BLOCKED) {
		emit_wait(c, NULL, thread, ts, true);
	} else if (thread->state == LQN_THREAD_RUNNABLE) {
		emit_preempted(c, NULL, thread, ts);
	} else if (thread->state == LQN_THREAD_UNKNOWN && note_lost(thread)) {
		emit_wait(c, NULL, thread, ts, true);
	}
	lqn_causal_end_call(c, thread, ts);
}

void lqn_causal_forget_current(struct lqn_causal *c, struct lqn_cpu *cpu, int64_t ts)
{
	set_current(c, cpu, NULL, false, MAX(ts, cpu->since));
}

void lqn_causal_lose_thread(struct lqn_thread *thread, int64_t ts)
{
	stop_running(thread, MAX(ts, thread->since));
	thread->state = LQN_THREAD_UNKNOWN;
	thread->wake.ts = thread->early.ts = -1;
	lqn_open_call_clear(&thread->call);
}
