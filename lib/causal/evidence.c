/* SPDX-License-Identifier: MIT */

/*
 * Wake-ups from within system calls: evidence of which ends of channels belong together, and of who
 * got what.
 */
#include "causal/engine.h"

static void send_wakes(struct lqn_step *step, struct lqn_open_call *mine, struct lqn_thread *target)
{
	struct lqn_open_call *its = &target->call;
	struct lqn_object *from = lqn_object_real(mine->object), *to = lqn_object_real(its->object);

	if (!from || !mine->message) {
		return;
	}
	switch (lqn_call_class(its->kind)) {
	case LQN_CLASS_RECEIVE:
		if (!to) {
			return;
		}
		if (from == to && from->kind == LQN_OBJ_FILE) {
			from->kind = LQN_OBJ_FIFO;
			if (from->name) {
				lqn_channel_is_fifo(from->channels, from->name);
			}
			lqn_channel_announce(from, from->announced);
		}
		its->woken_from = from->id;
		its->woken_seq = mine->message;
		if (from->kind == LQN_OBJ_UDP && from->has_tuple) {
			break;		/* its packet tells to whom */
		}
		if (from == to) {
			lqn_channel_reserve(from, mine->message, target->key);
		} else if (from->kind != LQN_OBJ_FILE && to->kind != LQN_OBJ_FILE) {
			lqn_channel_pair(from, to, LQN_CERTAIN);
		}
		break;
	case LQN_CLASS_POLL:
		if (lqn_object_is_stream(from) || from->kind == LQN_OBJ_DATAGRAM ||
				from->kind == LQN_OBJ_UDP) {
			lqn_object_set(&target->voter, from);
			target->voter_calls = 0;
			target->voter_at = step->rec->ts;
		}
		break;
	default:
		break;
	}
}

static void receive_wakes(struct lqn_step *step, struct lqn_open_call *mine,
	struct lqn_thread *target)
{
	struct lqn_object *from = lqn_object_real(target->call.object),
			  *to = lqn_object_real(mine->object);

	/* room to write: the other end's reader is woken too, whatever it waits for */
	if (from && to && from != to && lqn_call_class(target->call.kind) == LQN_CLASS_RECEIVE &&
			to->kind == LQN_OBJ_UNIX &&
			(from->kind == LQN_OBJ_UNIX || from->kind == LQN_OBJ_UNKNOWN)) {
		lqn_channel_pair(from, to, LQN_CERTAIN);
	}
}

static void connect_wakes(struct lqn_step *step, struct lqn_open_call *mine,
	struct lqn_thread *target)
{
	if (!mine->object) {
		return;
	}
	if (target->call.object && target->call.object->kind == LQN_OBJ_LISTENER) {
		lqn_object_set(&target->voter, mine->object);
		lqn_channel_connect_woke(mine->object,
			lqn_causal_process(step->causal, step->thread)->pid, target->call.object);
	}
	/* whoever was woken, it was for the connection that is there now */
	lqn_channel_connect_queued(mine->object);
}

/*
 * A thread of the waker's process, whose calls the trace has, of which none was seen: it waits since before the trace began, and
 * is woken in a futex call. So it waits for that word.
 */
static void wait_of_before(const struct lqn_step *step, const struct lqn_open_call *mine, struct lqn_thread *target)
{
	struct lqn_open_call *its = &target->call;

	if (its->kind != LQN_CALL_NONE || mine->kind != LQN_CALL_FUTEX || target->called || target->process != step->thread->process ||
			target->state != LQN_THREAD_BLOCKED) {
		return;
	}
	*its = (struct lqn_open_call) { .kind = mine->kind, .begin = target->since, .cpu_begin = target->cpu_ns, .blocked = true };
}

/* Who waits for a word is woken by who works on one of the same kind, or closes a locked file. */
static void word_wakes(struct lqn_step *step, struct lqn_open_call *mine,
	struct lqn_thread *target)
{
	enum lqn_call_class class = lqn_call_class(mine->kind), its;

	wait_of_before(step, mine, target);
	its = lqn_call_class(target->call.kind);
	if (its != class && !(its == LQN_CLASS_LOCK && class == LQN_CLASS_CLOSE)) {
		return;
	}
	if (target->call.object_id == 0) {
		target->call.object_id = mine->object_id;	/* it waits for several; this is the one */
	}
	if (mine->n_woken < LQN_WOKEN_MAX) {
		mine->woken[mine->n_woken++] = (struct lqn_woken) {
			target->key, target->call.object_id, step->rec->ts
		};
	}
}

void lqn_step_call_wakes(struct lqn_step *step, struct lqn_thread *target)
{
	static void (*const wakes[])(
		struct lqn_step *, struct lqn_open_call *, struct lqn_thread *) = {
		[LQN_CLASS_SEND] = send_wakes,
		[LQN_CLASS_RECEIVE] = receive_wakes,
		[LQN_CLASS_CONNECT] = connect_wakes,
		[LQN_CLASS_FUTEX] = word_wakes,
		[LQN_CLASS_LOCK] = word_wakes,
		[LQN_CLASS_SEMAPHORE] = word_wakes,
		[LQN_CLASS_CLOSE] = word_wakes,
	};
	enum lqn_call_class class;

	if (!step->thread || step->thread->call.kind == LQN_CALL_NONE ||
			!lqn_cpu_in_task(step->cpu)) {
		return;
	}
	class = lqn_call_class(step->thread->call.kind);
	if (class < G_N_ELEMENTS(wakes) && wakes[class]) {
		wakes[class](step, &step->thread->call, target);
	}
}
