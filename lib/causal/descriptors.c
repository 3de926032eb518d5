/* SPDX-License-Identifier: MIT */

/* System calls that make, double, and close descriptors, and what these stand for. */
#include "causal/descriptors.h"

#include "causal/words.h"
#include "layout/layout.h"

/* Socket families and types, and other numbers of Linux that calls are told apart by. */
#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10
#define TYPE_STREAM 1
#define TYPE_DGRAM 2
#define TYPE_MASK 0xf
#define EFD_SEMAPHORE 1
#define F_DUPFD_ 0
#define F_DUPFD_CLOEXEC_ 1030
#define CLOSE_RANGE_CLOEXEC_ 4
#define TFD_TIMER_ABSTIME_ 1
#define S_IFMT_ 0170000
#define S_IFIFO_ 0010000
#define EAGAIN_ 11

static enum lqn_object_kind socket_kind(int64_t family, int64_t type)
{
	type &= TYPE_MASK;
	if (family == FAMILY_UNIX) {
		return type == TYPE_DGRAM ? LQN_OBJ_DATAGRAM : LQN_OBJ_UNIX;
	}
	if (family == FAMILY_INET || family == FAMILY_INET6) {
		return type == TYPE_STREAM ? LQN_OBJ_TCP :
			type == TYPE_DGRAM ? LQN_OBJ_UDP : LQN_OBJ_SOCKET;
	}
	return LQN_OBJ_SOCKET;
}

static struct lqn_object *make(struct lqn_step *step, enum lqn_object_kind kind)
{
	return lqn_object_new(&step->causal->channels, kind, step->thread->key, NULL);
}

static bool is_fd(int64_t fd)
{
	return fd >= 0 && fd < LQN_FD_MAX;
}

static void put_fd(struct lqn_step *step, int64_t fd, struct lqn_object *object)
{
	lqn_fd_table_set(lqn_causal_fds(step->causal, step->thread), fd, object);
}

struct lqn_object *lqn_step_object(const struct lqn_step *step, int64_t fd)
{
	return lqn_fd_table_get(lqn_causal_fds(step->causal, step->thread), fd);
}

struct lqn_object *lqn_step_channel(struct lqn_step *step, int64_t fd)
{
	struct lqn_object *object = lqn_step_object(step, fd);

	if (!object && is_fd(fd)) {
		object = make(step, LQN_OBJ_UNKNOWN);
		object->preexisting = true;
		put_fd(step, fd, object);
	}
	return object;
}

/* ---- entries ---- */

void lqn_enter_close(struct lqn_step *step, struct lqn_open_call *call)
{
	lqn_enter_closing_lock(step, call);
	put_fd(step, call->arg[0], NULL);
}

/* ---- exits ---- */

/* A new object, which goes at once if its descriptor is none. */
static void exit_fd(struct lqn_step *step, int64_t fd, struct lqn_object *object)
{
	lqn_object_pin(object);
	put_fd(step, fd, object);
	lqn_object_unpin(object);
}

void lqn_exit_accept(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_object *listener = call->object, *made;
	enum lqn_object_kind kind;
	struct lqn_event ev = { .type = LQN_EV_ACCEPT };

	if (listener && ret == -EAGAIN_) {
		lqn_channel_accept_found_none(listener);
	}
	if (!is_fd(ret)) {
		return;
	}
	kind = listener ? listener->base : LQN_OBJ_UNKNOWN;
	if (kind == LQN_OBJ_UNKNOWN && step->rec->exit.family > 0) {
		kind = socket_kind(step->rec->exit.family, TYPE_STREAM);	/* only streams are accepted */
	}
	made = lqn_object_pin(make(step, kind));
	put_fd(step, ret, made);
	if (listener) {
		lqn_channel_accept(listener, made, step->thread->voter);
		lqn_channel_announce(listener, false);
	}
	made->role = LQN_ROLE_SERVER;
	lqn_channel_announce(made, false);
	ev.accept.thread = step->thread->key;
	ev.accept.object = listener ? listener->id : 0;
	ev.accept.made = made->id;
	ev.accept.begin = call->begin;
	ev.accept.end = step->rec->ts;
	lqn_causal_emit(step->causal, &ev);
	lqn_object_unpin(made);
}

void lqn_exit_socket(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	exit_fd(step, ret, make(step, socket_kind(call->arg[0], call->arg[1])));
}

void lqn_exit_socketpair(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_record *rec = step->rec;
	struct lqn_object *a, *b;

	if (ret < 0 || rec->exit.n_fds < 2 || !is_fd(rec->exit.fd[0]) || !is_fd(rec->exit.fd[1])) {
		/* ends that are nowhere would never be closed, and hold each other for ever */
		return;
	}
	a = lqn_object_pin(make(step, socket_kind(call->arg[0], call->arg[1])));
	b = lqn_object_pin(make(step, a->kind));
	put_fd(step, rec->exit.fd[0], a);
	put_fd(step, rec->exit.fd[1], b);
	lqn_channel_pair(a, b, LQN_CERTAIN);
	if (!lqn_object_is_stream(a)) {
		lqn_channel_pair(b, a, LQN_CERTAIN);
	}
	lqn_object_unpin(a);
	lqn_object_unpin(b);
}

void lqn_exit_pipe(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_object *pipe;

	if (ret < 0 || step->rec->exit.n_fds < 2) {
		return;
	}
	pipe = lqn_object_pin(make(step, LQN_OBJ_PIPE));
	put_fd(step, step->rec->exit.fd[0], pipe);
	put_fd(step, step->rec->exit.fd[1], pipe);
	lqn_object_unpin(pipe);
}

void lqn_exit_eventfd(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_object *object = make(step, LQN_OBJ_EVENTFD);

	object->semaphore = call->arg[1] > 0 && (call->arg[1] & EFD_SEMAPHORE);
	exit_fd(step, ret, object);
}

void lqn_exit_epoll_create(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	exit_fd(step, ret, make(step, LQN_OBJ_EPOLL));
}

void lqn_exit_open(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	enum lqn_object_kind kind = call->kind == LQN_CALL_MQ_OPEN ? LQN_OBJ_QUEUE : LQN_OBJ_FILE;

	if (ret >= 0 && call->text) {
		exit_fd(step, ret, lqn_channel_by_path(&step->causal->channels, kind, call->text,
			step->thread->key));
	}
}

void lqn_exit_mknod(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (ret >= 0 && call->text && (call->arg[1] & S_IFMT_) == S_IFIFO_) {
		lqn_channel_is_fifo(&step->causal->channels, call->text);
	}
}

void lqn_exit_bind(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (call->object && ret >= 0) {
		call->object->bound = true;
	}
}

void lqn_exit_listen(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (call->object && ret >= 0 && call->object->kind != LQN_OBJ_LISTENER) {
		call->object->base = call->object->kind;
		call->object->kind = LQN_OBJ_LISTENER;
		lqn_channel_announce(call->object, true);
	}
}

void lqn_exit_dup(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	if (ret >= 0) {
		put_fd(step, ret, lqn_step_object(step, call->arg[0]));
	}
}

void lqn_exit_fcntl(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	lqn_exit_record_lock(step, call, ret, cpu);
	if (call->arg[1] == F_DUPFD_ || call->arg[1] == F_DUPFD_CLOEXEC_) {
		lqn_exit_dup(step, call, ret, cpu);
	}
}

void lqn_exit_close_range(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_fd_table *fds = lqn_causal_fds(step->causal, step->thread);
	int64_t end = lqn_fd_table_end(fds);

	if (ret < 0 || call->arg[0] < 0 ||
			(call->arg[2] > 0 && (call->arg[2] & CLOSE_RANGE_CLOEXEC_))) {
		return;
	}
	for (int64_t fd = call->arg[0]; fd < end && (call->arg[1] < 0 || fd <= call->arg[1]);
			fd++) {
		lqn_fd_table_set(fds, fd, NULL);
	}
}

void lqn_exit_notifier(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_object *object = lqn_object_new(&step->causal->channels, LQN_OBJ_NOTIFY,
		step->thread->key, lqn_layout_short_name(step->rec->name));

	if (call->kind == LQN_CALL_PIDFD_OPEN) {
		object->pid = (int32_t) call->arg[0];
	}
	exit_fd(step, ret, object);
}

/* A timer's descriptor that is waited for is a sleep, in steps of the clock if it goes off by itself. */
void lqn_exit_notice(struct lqn_step *step, struct lqn_open_call *call, int64_t ret, int64_t cpu)
{
	struct lqn_object *object = call->object;

	if (call->blocked && ret > 0 && object->name &&
			g_str_has_prefix(object->name, "timerfd")) {
		lqn_step_tell_sleep(step, call, object->absolute || !object->armed, cpu);
		object->armed = false;
	}
}

void lqn_exit_timerfd_settime(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_object *object = lqn_step_object(step, call->arg[0]);

	if (object && ret >= 0) {
		object->armed = true;
		object->absolute = call->arg[1] > 0 && (call->arg[1] & TFD_TIMER_ABSTIME_);
	}
}

void lqn_exit_pidfd_getfd(struct lqn_step *step, struct lqn_open_call *call, int64_t ret,
	int64_t cpu)
{
	struct lqn_causal *c = step->causal;
	struct lqn_object *pidfd = lqn_step_object(step, call->arg[0]);
	struct lqn_process *other = pidfd && pidfd->pid > 0 ?
		lqn_host_find_process(&c->host, pidfd->pid) : NULL;

	if (is_fd(ret)) {
		put_fd(step, ret, other && other->fds ?
			lqn_fd_table_get(other->fds, call->arg[1]) : NULL);
	}
}
