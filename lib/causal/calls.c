/* SPDX-License-Identifier: MIT */

/*
 * System calls: what they do to descriptors, and which messages they send and receive. `calls`
 * below has a row for each kind of call; a call that is not in it only names the wait of a thread
 * that blocks in it.
 */
#include "causal/engine.h"

#include <string.h>

#include "causal/descriptors.h"
#include "causal/words.h"

/* Numbers of Linux that calls are told apart by. */
#define EINPROGRESS_ 115
#define MSG_WAITALL_ 0x100
#define TIMER_ABSTIME_ 1
#define BYTES_MAX INT64_C(0x7fffffff)	/* no call moves more */
#define MESSAGES_MAX 1024		/* nor more messages */

/*
 * Calls after a wait on descriptors among which the receive of what woke the thread is looked for.
 */
#define VOTER_CALLS 5

/* ---- what a call works on ---- */

/*
 * Calls on message queues tell what a descriptor older than the trace is, which has a path like a
 * file's.
 */
void lqn_call_set_object(struct lqn_open_call *call, struct lqn_object *object)
{
	bool queue = call->kind == LQN_CALL_MQ_SEND || call->kind == LQN_CALL_MQ_RECEIVE;

	if (object && queue && object->kind != LQN_OBJ_QUEUE) {
		object->kind = LQN_OBJ_QUEUE;
		lqn_channel_announce(object, object->announced);
	}
	lqn_object_set(&call->object, object);
	call->object_id = object ? lqn_object_real(object)->id : 0;
}

/* What a call moves bytes through; NULL: nothing known. Borrowed. */
static struct lqn_object *channel_of(struct lqn_step *step, const struct lqn_open_call *call)
{
	if (call->kind == LQN_CALL_MSGSND || call->kind == LQN_CALL_MSGRCV) {
		return lqn_channel_ipc(&step->causal->channels, LQN_OBJ_QUEUE,
			(int32_t) call->arg[0]);
	}
	return lqn_step_channel(step, call->arg[0]);
}

/* ---- entries ---- */

static void enter_send(struct lqn_step *step, struct lqn_open_call *call)
{
	struct lqn_object *object = channel_of(step, call);

	lqn_call_set_object(call, object);
	if (object) {
		call->message = lqn_channel_send_begin(object, step->thread->key, call->begin,
			call->kind == LQN_CALL_MQ_SEND && call->arg[2] > 0 ?
				(uint32_t) call->arg[2] :
				0);
		call->object_id = lqn_object_real(object)->id;
	}
	if (call->kind == LQN_CALL_SENDFILE || call->kind == LQN_CALL_SPLICE) {
		lqn_object_set(&call->object2, lqn_step_channel(step, call->arg[2]));
	}
}

static void enter_receive(struct lqn_step *step, struct lqn_open_call *call)
{
	lqn_call_set_object(call, channel_of(step, call));
	/* who waits for one type of message does not say that no other is there */
	if (call->object && (call->kind != LQN_CALL_MSGRCV || call->arg[2] == 0)) {
		call->receiving = true;
		call->object->receiving++;
	}
	if (call->object) {
		struct lqn_object *object = lqn_object_real(call->object);

		object->readers |= object->reader && object->reader != step->thread->key;
		object->reader = step->thread->key;
		/* who alone reads it has waited for it to be ready, among others: nothing was there */
		if (step->thread->voter && object->kind == LQN_OBJ_DATAGRAM && !object->readers) {
			call->found_empty = true;
			call->empty = step->thread->voter_at;
		}
	}
	if (step->thread->voter) {
		/*
		 * the first receive after a wait on descriptors is of what woke it, if an accept
		 * does not come before
		 */
		if (call->object) {
			lqn_channel_vote(step->thread->voter, call->object);
		}
		lqn_object_set(&step->thread->voter, NULL);
	}
}

static void enter_on_fd(struct lqn_step *step, struct lqn_open_call *call)
{
	lqn_call_set_object(call, lqn_step_object(step, call->arg[0]));
}

static void enter_accept(struct lqn_step *step, struct lqn_open_call *call)
{
	enter_on_fd(step, call);
	lqn_object_set(&step->thread->voter, NULL);
}

static void enter_connect(struct lqn_step *step, struct lqn_open_call *call)
{
	enter_on_fd(step, call);
	if (call->object && !call->object->peer && lqn_object_is_stream(call->object)) {
		lqn_channel_connect(
			call->object, lqn_causal_process(step->causal, step->thread)->pid);
	}
}

/* ---- exits ---- */

static void tell_send(struct lqn_step *step, const struct lqn_open_call *call, uint64_t seq,
	int64_t bytes, int64_t cpu)
{
	struct lqn_event ev = { .type = LQN_EV_SEND };

	lqn_channel_announce(lqn_object_real(call->object), false);
	ev.send.thread = step->thread->key;
	ev.send.object = call->object_id;
	ev.send.seq = seq;
	ev.send.begin = call->begin;
	ev.send.end = step->rec->ts;
	ev.send.cpu_begin = call->cpu_begin;
	ev.send.cpu_end = cpu;
	ev.send.bytes = bytes;
	lqn_causal_emit(step->causal, &ev);
}

static void receive(struct lqn_step *step, const struct lqn_open_call *call,
	struct lqn_object *object, int64_t bytes, int64_t cpu)
{
	struct lqn_held held = {
		.thread = step->thread->key,
		.object = object->id,
		.begin = call->begin,
		.end = step->rec->ts,
		.cpu_begin = call->cpu_begin,
		.cpu_end = cpu,
		.bytes = bytes,
		.found_empty = call->found_empty,
		.empty = call->empty,
		.waits_for_all = lqn_call_class(call->kind) == LQN_CLASS_RECEIVE &&
			call->arg[2] > 0 && (call->arg[2] & MSG_WAITALL_),
		.woken_from = call->woken_from,
		.woken_seq = call->woken_seq,
	};

	lqn_channel_receive(object, &held);
}

/* A path becomes a FIFO when a write on it has woken its reader. */
static bool carries_messages(struct lqn_object *object)
{
	object = lqn_object_real(object);
	return lqn_object_is_channel(object) && object->kind != LQN_OBJ_FILE;
}

/* Datagrams are counted where one call moves several of them. */
static bool is_datagram(const struct lqn_open_call *call)
{
	const struct lqn_object *object = lqn_object_real(call->object);

	return object && (object->kind == LQN_OBJ_DATAGRAM || object->kind == LQN_OBJ_UDP);
}

/* The call has sent `n` messages, whose lengths the trace does not show. */
static void send_several(struct lqn_step *step, const struct lqn_open_call *call, int64_t n,
	int64_t cpu)
{
	uint64_t seqs[MESSAGES_MAX] = { call->message };

	for (int64_t i = 1; i < n; i++) {
		seqs[i] = lqn_channel_send_begin(
			call->object, step->thread->key, call->begin, 0);
	}
	for (int64_t i = 0; i < n; i++) {
		tell_send(step, call, seqs[i], 1, cpu);
		lqn_channel_send_end(call->object, call->object_id, seqs[i], step->rec->ts, 1);
	}
}

static void exit_send(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	bool queue = call->kind == LQN_CALL_MQ_SEND || call->kind == LQN_CALL_MSGSND;
	int64_t bytes = queue && ret == 0 ? MAX(call->arg[1], 1) : ret;

	if (call->kind == LQN_CALL_SENDMMSG && ret > 0 && call->message && is_datagram(call)) {
		send_several(step, call, MIN(ret, MESSAGES_MAX), cpu);
		return;
	}
	bytes = MIN(bytes, BYTES_MAX);
	if (call->object && call->message) {
		if (bytes > 0 && carries_messages(call->object)) {
			tell_send(step, call, call->message, bytes, cpu);
		}
		lqn_channel_send_end(
			call->object, call->object_id, call->message, step->rec->ts, bytes);
	}
	if (call->object2 && bytes > 0) {
		receive(step, call, call->object2, bytes, cpu);
	}
}

static void exit_receive(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (call->object && call->object->kind == LQN_OBJ_NOTIFY) {
		lqn_exit_notice(step, call, ret, cpu);
	} else if (call->kind == LQN_CALL_RECVMMSG && is_datagram(call)) {
		for (int64_t i = 0; i < MIN(ret, MESSAGES_MAX); i++) {
			receive(step, call, call->object, 1, cpu);
			call->found_empty = false;
			call->woken_from = 0;
		}
	} else if (call->object && call->kind == LQN_CALL_MSGRCV && ret == 0) {
		receive(step, call, call->object, 1, cpu);	/* it has a type, and no text */
	} else if (call->object && ret > 0) {
		receive(step, call, call->object, MIN(ret, BYTES_MAX), cpu);
	}
}

static void exit_connect(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (!call->object) {
		return;
	}
	if (ret < 0 && ret != -EINPROGRESS_) {
		lqn_channel_connect_failed(call->object);
	} else {
		lqn_channel_connect_queued(call->object);
	}
}

void lqn_step_tell_sleep(struct lqn_step *step, const struct lqn_open_call *call, bool absolute,
	int64_t cpu)
{
	struct lqn_event ev = { .type = LQN_EV_SLEEP };

	ev.sleep.thread = step->thread->key;
	ev.sleep.begin = call->begin;
	ev.sleep.end = step->rec->ts;
	ev.sleep.cpu_begin = call->cpu_begin;
	ev.sleep.cpu_end = cpu;
	ev.sleep.absolute = absolute;
	lqn_causal_emit(step->causal, &ev);
}

static void exit_sleep(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	lqn_step_tell_sleep(step, call, call->arg[0] == TIMER_ABSTIME_, cpu);
}

/* ---- the table ---- */

static const struct {
	enum lqn_call_class class;
	void (*enter)(struct lqn_step *step, struct lqn_open_call *call);
	/* cpu: the thread's CPU clock at the exit */
	void (*exit)(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu);
} calls[LQN_CALL_COUNT] = {
	[LQN_CALL_WRITE] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_WRITEV] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_SENDTO] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_SENDMSG] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_SENDMMSG] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_MQ_SEND] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_SENDFILE] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_SPLICE] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_MSGSND] = { LQN_CLASS_SEND, enter_send, exit_send },
	[LQN_CALL_READ] = { LQN_CLASS_RECEIVE, enter_receive, exit_receive },
	[LQN_CALL_READV] = { LQN_CLASS_RECEIVE, enter_receive, exit_receive },
	[LQN_CALL_RECVFROM] = { LQN_CLASS_RECEIVE, enter_receive, exit_receive },
	[LQN_CALL_RECVMSG] = { LQN_CLASS_RECEIVE, enter_receive, exit_receive },
	[LQN_CALL_RECVMMSG] = { LQN_CLASS_RECEIVE, enter_receive, exit_receive },
	[LQN_CALL_MQ_RECEIVE] = { LQN_CLASS_RECEIVE, enter_receive, exit_receive },
	[LQN_CALL_MSGRCV] = { LQN_CLASS_RECEIVE, enter_receive, exit_receive },
	[LQN_CALL_EPOLL_WAIT] = { LQN_CLASS_POLL, enter_on_fd, NULL },
	[LQN_CALL_POLL] = { LQN_CLASS_POLL, NULL, NULL },
	[LQN_CALL_SELECT] = { LQN_CLASS_POLL, NULL, NULL },
	[LQN_CALL_ACCEPT] = { LQN_CLASS_ACCEPT, enter_accept, lqn_exit_accept },
	[LQN_CALL_SLEEP] = { LQN_CLASS_SLEEP, NULL, exit_sleep },
	[LQN_CALL_FUTEX] = { LQN_CLASS_FUTEX, lqn_enter_futex, lqn_exit_futex },
	[LQN_CALL_FLOCK] = { LQN_CLASS_LOCK, lqn_enter_flock, lqn_exit_flock },
	[LQN_CALL_SEMOP] = { LQN_CLASS_SEMAPHORE, lqn_enter_semop, lqn_exit_semop },
	[LQN_CALL_SEMCTL] = { LQN_CLASS_SEMAPHORE, lqn_enter_semop, lqn_exit_semctl },
	[LQN_CALL_MSGCTL] = { LQN_CLASS_OTHER, NULL, lqn_exit_msgctl },
	[LQN_CALL_PREAD] = { LQN_CLASS_FILE, NULL, NULL },
	[LQN_CALL_PWRITE] = { LQN_CLASS_FILE, NULL, NULL },
	[LQN_CALL_FSYNC] = { LQN_CLASS_FILE, NULL, NULL },
	[LQN_CALL_OPEN] = { LQN_CLASS_FILE, NULL, lqn_exit_open },
	[LQN_CALL_MQ_OPEN] = { LQN_CLASS_OTHER, NULL, lqn_exit_open },
	[LQN_CALL_MKNOD] = { LQN_CLASS_FILE, NULL, lqn_exit_mknod },
	[LQN_CALL_SOCKET] = { LQN_CLASS_OTHER, NULL, lqn_exit_socket },
	[LQN_CALL_SOCKETPAIR] = { LQN_CLASS_OTHER, NULL, lqn_exit_socketpair },
	[LQN_CALL_PIPE] = { LQN_CLASS_OTHER, NULL, lqn_exit_pipe },
	[LQN_CALL_EVENTFD] = { LQN_CLASS_OTHER, NULL, lqn_exit_eventfd },
	[LQN_CALL_EPOLL_CREATE] = { LQN_CLASS_OTHER, NULL, lqn_exit_epoll_create },
	[LQN_CALL_CONNECT] = { LQN_CLASS_CONNECT, enter_connect, exit_connect },
	[LQN_CALL_BIND] = { LQN_CLASS_OTHER, enter_on_fd, lqn_exit_bind },
	[LQN_CALL_LISTEN] = { LQN_CLASS_OTHER, enter_on_fd, lqn_exit_listen },
	[LQN_CALL_SIGNALFD] = { LQN_CLASS_OTHER, NULL, lqn_exit_notifier },
	[LQN_CALL_TIMERFD_SETTIME] = { LQN_CLASS_OTHER, NULL, lqn_exit_timerfd_settime },
	[LQN_CALL_PIDFD_OPEN] = { LQN_CLASS_OTHER, NULL, lqn_exit_notifier },
	[LQN_CALL_PIDFD_GETFD] = { LQN_CLASS_OTHER, NULL, lqn_exit_pidfd_getfd },
	[LQN_CALL_IO_URING_ENTER] = { LQN_CLASS_RING, NULL, NULL },
	[LQN_CALL_EPOLL_CTL] = { LQN_CLASS_CONTROL, enter_on_fd, NULL },
	[LQN_CALL_SHUTDOWN] = { LQN_CLASS_CLOSE, NULL, NULL },
	[LQN_CALL_CLOSE] = { LQN_CLASS_CLOSE, lqn_enter_close, lqn_exit_closing_lock },
	[LQN_CALL_CLOSE_RANGE] = { LQN_CLASS_CLOSE, NULL, lqn_exit_close_range },
	[LQN_CALL_DUP] = { LQN_CLASS_OTHER, NULL, lqn_exit_dup },
	[LQN_CALL_DUP2] = { LQN_CLASS_CLOSE, NULL, lqn_exit_dup },
	[LQN_CALL_FCNTL] = { LQN_CLASS_LOCK, lqn_enter_record_lock, lqn_exit_fcntl },
	[LQN_CALL_CLONE] = { LQN_CLASS_CLONE, NULL, NULL },
	[LQN_CALL_WAIT] = { LQN_CLASS_WAIT, NULL, NULL },
	[LQN_CALL_KILL] = { LQN_CLASS_KILL, NULL, NULL },
	[LQN_CALL_EXIT] = { LQN_CLASS_EXIT, NULL, NULL },
	[LQN_CALL_PATH] = { LQN_CLASS_FILE, NULL, NULL },
};

enum lqn_call_class lqn_call_class(uint8_t call)
{
	return call < LQN_CALL_COUNT ? calls[call].class : LQN_CLASS_OTHER;
}

void lqn_step_call_entry(struct lqn_step *step)
{
	struct lqn_record *rec = step->rec;
	struct lqn_thread *thread = step->thread;
	struct lqn_open_call *call;

	if (!thread) {
		return;
	}
	step->causal->have_calls = thread->called = true;
	call = &thread->call;
	if (call->kind != LQN_CALL_NONE) {
		lqn_open_call_clear(call);	/* its exit was lost, or it never returned */
	}
	call->kind = rec->kind;
	call->begin = rec->ts;
	call->cpu_begin = lqn_thread_cpu_at(thread, rec->ts);
	memcpy(call->arg, rec->entry.arg, sizeof(call->arg));
	call->object_id = call->message = 0;
	call->woken_from = call->woken_seq = 0;
	call->blocked = call->found_empty = false;
	call->empty = rec->ts;
	call->n_woken = 0;
	call->disk_waits = 0;
	call->disk_ns = 0;
	call->text = g_steal_pointer(&rec->text);
	if (calls[rec->kind].enter) {
		calls[rec->kind].enter(step, call);
	}
	if (thread->voter && ++thread->voter_calls > VOTER_CALLS) {
		lqn_object_set(&thread->voter, NULL);
	}
}

static void tell_disk(struct lqn_causal *c, struct lqn_thread *thread, int64_t end, int64_t cpu)
{
	const struct lqn_open_call *call = &thread->call;
	struct lqn_event ev = { .type = LQN_EV_DISK };

	ev.disk.thread = thread->key;
	ev.disk.device = thread->device;
	ev.disk.begin = call->begin;
	ev.disk.end = end;
	ev.disk.cpu_begin = call->cpu_begin;
	ev.disk.cpu_end = cpu;
	ev.disk.waited = call->disk_ns;
	ev.disk.waits = call->disk_waits;
	ev.disk.call = call->kind;
	lqn_causal_emit(c, &ev);
}

void lqn_step_call_exit(struct lqn_step *step)
{
	struct lqn_thread *thread = step->thread;
	struct lqn_open_call *call;
	int64_t cpu;

	if (!thread || thread->call.kind != step->rec->kind) {
		if (thread) {
			lqn_open_call_clear(&thread->call);
		}
		return;
	}
	call = &thread->call;
	cpu = lqn_thread_cpu_at(thread, step->rec->ts);
	if (call->disk_waits > 0) {
		tell_disk(step->causal, thread, step->rec->ts, cpu);
	}
	if (calls[call->kind].exit) {
		calls[call->kind].exit(step, call, step->rec->exit.ret, cpu);
	}
	thread->last_call = call->kind;
	thread->last_call_end = step->rec->ts;
	lqn_open_call_clear(call);
}

void lqn_causal_end_call(struct lqn_causal *c, struct lqn_thread *thread, int64_t ts)
{
	struct lqn_record rec = { .ts = ts };
	struct lqn_step step = { c, &rec, NULL, thread };

	/*
	 * a client that sleeps when the trace ends has ended its cycle: the begin of the sleep must
	 * be told
	 */
	if (thread->call.kind == LQN_CALL_SLEEP) {
		exit_sleep(&step, &thread->call, 0, lqn_thread_cpu_at(thread, ts));
	}
}
