/* SPDX-License-Identifier: MIT */

/*
 * What threads wait for until another says so: futex words, locks of files, System V semaphores.
 * All are told of in the same way, as waits for a word and wakes of it (lqn:futex_wait,
 * lqn:futex_wake); whether a word is a lock shows from who waits and who wakes. The word of a file
 * or of a set of semaphores is its object.
 *
 * What fcntl() and semop() do to a lock is behind a pointer. Who blocks takes; who wakes gives;
 * who does neither gives back what it has taken by blocking, if it is one of those who give.
 */
#include "causal/words.h"

#include "causal/descriptors.h"

#define EAGAIN_ 11
#define FUTEX_COMMAND 0x7f
#define LOCK_SH_ 1
#define LOCK_EX_ 2
#define LOCK_UN_ 8
#define IPC_RMID_ 0

enum futex_does { FUTEX_WAITS, FUTEX_WAKES, FUTEX_ELSE };

static enum futex_does futex_does(int64_t op)
{
	static const uint8_t does[] = {
		[0] = FUTEX_WAITS,	/* WAIT */
		[1] = FUTEX_WAKES,	/* WAKE */
		[2] = FUTEX_ELSE,	/* FD */
		[3] = FUTEX_WAKES,	/* REQUEUE */
		[4] = FUTEX_WAKES,	/* CMP_REQUEUE */
		[5] = FUTEX_WAKES,	/* WAKE_OP */
		[6] = FUTEX_WAITS,	/* LOCK_PI */
		[7] = FUTEX_WAKES,	/* UNLOCK_PI */
		[8] = FUTEX_ELSE,	/* TRYLOCK_PI */
		[9] = FUTEX_WAITS,	/* WAIT_BITSET */
		[10] = FUTEX_WAKES,	/* WAKE_BITSET */
		[11] = FUTEX_WAITS,	/* WAIT_REQUEUE_PI */
		[12] = FUTEX_WAKES,	/* CMP_REQUEUE_PI */
		[13] = FUTEX_WAITS,	/* LOCK_PI2 */
	};

	op &= FUTEX_COMMAND;
	return op >= 0 && op < (int64_t) sizeof(does) ? does[op] : FUTEX_ELSE;
}

/* ---- what is told ---- */

static void tell_wait(struct lqn_step *step, const struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_event ev = { .type = LQN_EV_FUTEX_WAIT };

	if (call->object_id == 0) {
		return;		/* one of several words, and nobody woke it */
	}
	ev.futex_wait.thread = step->thread->key;
	ev.futex_wait.object = call->object_id;
	ev.futex_wait.begin = call->begin;
	ev.futex_wait.end = step->rec->ts;
	ev.futex_wait.cpu_begin = call->cpu_begin;
	ev.futex_wait.cpu_end = cpu;
	ev.futex_wait.ret = ret;
	ev.futex_wait.blocked = call->blocked;
	lqn_causal_emit(step->causal, &ev);
}

static void tell_wake(struct lqn_step *step, const struct lqn_open_call *call, int64_t cpu)
{
	struct lqn_event ev = { .type = LQN_EV_FUTEX_WAKE };

	ev.futex_wake.thread = step->thread->key;
	ev.futex_wake.object = call->object_id;
	ev.futex_wake.begin = call->begin;
	ev.futex_wake.end = step->rec->ts;
	ev.futex_wake.cpu_begin = call->cpu_begin;
	ev.futex_wake.cpu_end = cpu;
	do {
		uint32_t i = ev.futex_wake.index;

		if (i < call->n_woken) {
			ev.futex_wake.woken = call->woken[i].thread;
			ev.futex_wake.woken_object = call->woken[i].object;
			ev.futex_wake.woken_at = call->woken[i].ts;
		}
		lqn_causal_emit(step->causal, &ev);
	} while (++ev.futex_wake.index < call->n_woken);
}

/* A call of which the trace does not say whether it takes or gives. */
static void tell_either(struct lqn_step *step, const struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_thread *thread = step->thread;
	uint64_t word = call->object_id;

	if (call->n_woken > 0) {
		thread->gave = word;
	}
	if (call->n_woken > 0 || (!call->blocked && thread->took == word && thread->gave == word)) {
		thread->took = 0;
		tell_wake(step, call, cpu);
	}
	if (call->blocked && ret >= 0) {
		thread->took = word;
		tell_wait(step, call, ret, cpu);
	}
}

/* ---- futexes ---- */

void lqn_enter_futex(struct lqn_step *step, struct lqn_open_call *call)
{
	if (futex_does(call->arg[1]) != FUTEX_ELSE && call->arg[0] != -1) {
		call->object_id = lqn_channel_word(&step->causal->channels,
			lqn_causal_process(step->causal, step->thread)->pid,
			(uint64_t) call->arg[0]);
	}
}

void lqn_exit_futex(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	enum futex_does does = futex_does(call->arg[1]);

	if (does == FUTEX_WAITS && (call->blocked || ret == -EAGAIN_)) {
		tell_wait(step, call, ret, cpu);
	} else if (does == FUTEX_WAKES) {
		tell_wake(step, call, cpu);
	}
}

/* ---- locks of files ---- */

static int32_t pid_of(struct lqn_step *step)
{
	return lqn_causal_process(step->causal, step->thread)->pid;
}

void lqn_enter_flock(struct lqn_step *step, struct lqn_open_call *call)
{
	lqn_call_set_object(call, lqn_step_channel(step, call->arg[0]));
}

void lqn_exit_flock(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	if (!call->object || ret < 0) {
		return;
	}
	if (call->arg[1] & LOCK_UN_) {
		call->object->pid = 0;
		tell_wake(step, call, cpu);
	} else if (call->arg[1] & (LOCK_SH_ | LOCK_EX_)) {
		call->object->pid = pid_of(step);
		if (call->blocked) {
			tell_wait(step, call, ret, cpu);
		}
	}
}

/* True for fcntl commands that take or give a lock of (a part of) a file. */
static bool is_record_lock(int64_t command)
{
	enum { SETLK = 6, SETLKW = 7, OFD_SETLK = 37, OFD_SETLKW = 38 };

	return command == SETLK || command == SETLKW || command == OFD_SETLK ||
		command == OFD_SETLKW;
}

void lqn_enter_record_lock(struct lqn_step *step, struct lqn_open_call *call)
{
	if (is_record_lock(call->arg[1])) {
		lqn_enter_flock(step, call);
	}
}

void lqn_exit_record_lock(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (call->object && is_record_lock(call->arg[1])) {
		call->object->pid = call->blocked && ret >= 0 ? pid_of(step) : 0;
		tell_either(step, call, ret, cpu);
	}
}

void lqn_enter_closing_lock(struct lqn_step *step, struct lqn_open_call *call)
{
	struct lqn_object *object = lqn_step_object(step, call->arg[0]);

	if (object && object->kind == LQN_OBJ_FILE && object->pid == pid_of(step)) {
		lqn_call_set_object(call, object);
	}
}

void lqn_exit_closing_lock(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (call->object) {
		call->object->pid = 0;
		tell_wake(step, call, cpu);
	}
}

/* ---- semaphores ---- */

void lqn_enter_semop(struct lqn_step *step, struct lqn_open_call *call)
{
	lqn_call_set_object(call, lqn_channel_ipc(&step->causal->channels, LQN_OBJ_SEMAPHORE,
		(int32_t) call->arg[0]));
}

void lqn_exit_semop(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	if (call->object) {
		tell_either(step, call, ret, cpu);
	}
}

/* An object of System V is removed by its number. */
static void remove_ipc(struct lqn_step *step, const struct lqn_open_call *call,
	enum lqn_object_kind kind, int64_t ret)
{
	if (ret >= 0 && (call->arg[1] & 0xff) == IPC_RMID_) {
		lqn_channel_forget_ipc(&step->causal->channels, kind, (int32_t) call->arg[0]);
	}
}

void lqn_exit_semctl(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	if (call->n_woken > 0) {
		tell_wake(step, call, cpu);
	}
	remove_ipc(step, call, LQN_OBJ_SEMAPHORE, ret);
}

void lqn_exit_msgctl(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	remove_ipc(step, call, LQN_OBJ_QUEUE, ret);
}
