/* SPDX-License-Identifier: MIT */

/*
 * System calls: which of their arguments goes where in a record. Names of fields are LTTng's first,
 * then the kernel's.
 */
#include "layout/tables.h"

#define ARG(names, n) { names, LQN_FIELD_64, offsetof(struct lqn_record, entry.arg[n]), 0 }
#define PRESET(n, value) \
	{ NULL, LQN_FIELD_PRESET, offsetof(struct lqn_record, entry.arg[n]), value }
#define TEXT(names) { names, LQN_FIELD_TEXT, offsetof(struct lqn_record, text), 0 }
#define RET { "ret", LQN_FIELD_64, offsetof(struct lqn_record, exit.ret), 0 }
#define FDS(names) { names, LQN_FIELD_FDS, offsetof(struct lqn_record, exit), 0 }
#define END { NULL, LQN_FIELD_END, 0, 0 }

static const struct lqn_layout_field none[] = { END };
static const struct lqn_layout_field ret[] = { RET, END };
static const struct lqn_layout_field fd[] = { ARG("fd", 0), END };
static const struct lqn_layout_field fd_count[] = { ARG("fd", 0), ARG("count|len|size", 1), END };
static const struct lqn_layout_field receive[] = { ARG("fd", 0), ARG("size|len", 1),
	ARG("flags", 2), END };
static const struct lqn_layout_field mq_send[] = {
	ARG("mqdes", 0), ARG("msg_len", 1), ARG("msg_prio", 2), END
};
static const struct lqn_layout_field mqdes[] = { ARG("mqdes", 0), END };
static const struct lqn_layout_field sendfile[] = { ARG("out_fd", 0), ARG("count", 1),
	ARG("in_fd", 2), END };
static const struct lqn_layout_field splice[] = {
	ARG("fd_out|fdout", 0), ARG("len", 1), ARG("fd_in|fdin", 2), END
};
static const struct lqn_layout_field epfd[] = { ARG("epfd", 0), END };
static const struct lqn_layout_field fds_exit[] = { RET, FDS("fds|events"), END };
static const struct lqn_layout_field accept_exit[] = {
	RET, { "family", LQN_FIELD_I32, offsetof(struct lqn_record, exit.family), 0 }, END
};
static const struct lqn_layout_field pair_exit[] = { RET, FDS("fildes|socket|usockvec"), END };
static const struct lqn_layout_field flags[] = { ARG("flags", 0), END };
static const struct lqn_layout_field futex[] = {
	ARG("uaddr", 0), ARG("op", 1), ARG("val", 2), ARG("uaddr2", 3), END
};
/* Calls that do one thing of a futex each: the operation is preset. */
static const struct lqn_layout_field futex_waits[] = { ARG("uaddr", 0), PRESET(1, 0), ARG("val", 2),
	END };
static const struct lqn_layout_field futex_wakes[] = { ARG("uaddr", 0), PRESET(1, 1), END };
/* waits for several words, which are behind a pointer */
static const struct lqn_layout_field futex_waitv[] = { PRESET(1, 0), END };
static const struct lqn_layout_field fd_command[] = { ARG("fd", 0), ARG("cmd", 1), END };
static const struct lqn_layout_field tee[] = { ARG("fdout", 0), ARG("len", 1), END };
static const struct lqn_layout_field copy_range[] = { ARG("fd_out", 0), ARG("len", 1), END };
static const struct lqn_layout_field msgsnd[] = { ARG("msqid", 0), ARG("msgsz", 1), END };
static const struct lqn_layout_field msgrcv[] = { ARG("msqid", 0), ARG("msgsz", 1),
	ARG("msgtyp", 2), END };
static const struct lqn_layout_field semid[] = { ARG("semid", 0), END };
static const struct lqn_layout_field msgctl[] = { ARG("msqid", 0), ARG("cmd", 1), END };
static const struct lqn_layout_field semctl[] = { ARG("semid", 0), ARG("cmd", 1), END };
static const struct lqn_layout_field timerfd[] = { ARG("ufd", 0), ARG("flags", 1), END };
static const struct lqn_layout_field pid[] = { ARG("pid", 0), END };
static const struct lqn_layout_field pidfd[] = { ARG("pidfd", 0), ARG("fd", 1), END };
static const struct lqn_layout_field path[] = { TEXT("filename|pathname|oldname|u_name"), END };
static const struct lqn_layout_field open_path[] = { TEXT("filename|pathname"), ARG("flags", 1),
	END };
static const struct lqn_layout_field mknod[] = { TEXT("filename|pathname"), ARG("mode", 1), END };
static const struct lqn_layout_field family[] = { ARG("family", 0), ARG("type", 1), END };
static const struct lqn_layout_field epoll_ctl[] = {
	ARG("epfd", 0), ARG("op_enum|op", 1), ARG("fd", 2), END
};
static const struct lqn_layout_field range[] = { ARG("fd", 0), ARG("max_fd", 1), ARG("flags", 2),
	END };
static const struct lqn_layout_field dup[] = { ARG("fildes|oldfd", 0), ARG("newfd", 1), END };
static const struct lqn_layout_field fcntl[] = { ARG("fd", 0), ARG("cmd", 1), ARG("arg", 2), END };
static const struct lqn_layout_field clone_flags[] = { ARG("clone_flags|flags", 0), END };
static const struct lqn_layout_field count_flags[] = { ARG("count", 0), ARG("flags", 1), END };

#define CALL(name, kind, entry, exit) \
	{ name, { name, LQN_REC_CALL_ENTRY, LQN_CALL_##kind, entry }, \
		{ name, LQN_REC_CALL_EXIT, LQN_CALL_##kind, exit } }

const struct lqn_layout_call lqn_layout_other_call = CALL("other", OTHER, none, ret);

const struct lqn_layout_call lqn_layout_calls[] = {
	CALL("write", WRITE, fd_count, ret),
	CALL("tee", WRITE, tee, ret),
	CALL("vmsplice", WRITE, fd, ret),
	CALL("writev", WRITEV, fd, ret),
	CALL("sendto", SENDTO, fd_count, ret),
	CALL("send", SENDTO, fd_count, ret),
	CALL("sendmsg", SENDMSG, fd, ret),
	CALL("sendmmsg", SENDMMSG, fd, ret),
	CALL("mq_timedsend", MQ_SEND, mq_send, ret),
	CALL("sendfile", SENDFILE, sendfile, ret),
	CALL("sendfile64", SENDFILE, sendfile, ret),
	CALL("splice", SPLICE, splice, ret),
	CALL("msgsnd", MSGSND, msgsnd, ret),
	CALL("read", READ, fd_count, ret),
	CALL("readv", READV, fd, ret),
	CALL("recvfrom", RECVFROM, receive, ret),
	CALL("recv", RECVFROM, receive, ret),
	CALL("recvmsg", RECVMSG, receive, ret),
	CALL("recvmmsg", RECVMMSG, receive, ret),
	CALL("mq_timedreceive", MQ_RECEIVE, mqdes, ret),
	CALL("msgrcv", MSGRCV, msgrcv, ret),
	CALL("epoll_wait", EPOLL_WAIT, epfd, fds_exit),
	CALL("epoll_pwait", EPOLL_WAIT, epfd, fds_exit),
	CALL("epoll_pwait2", EPOLL_WAIT, epfd, fds_exit),
	CALL("poll", POLL, none, fds_exit),
	CALL("ppoll", POLL, none, fds_exit),
	CALL("select", SELECT, none, ret),
	CALL("pselect6", SELECT, none, ret),
	CALL("accept", ACCEPT, fd, accept_exit),
	CALL("accept4", ACCEPT, fd, accept_exit),
	CALL("nanosleep", SLEEP, none, ret),
	CALL("clock_nanosleep", SLEEP, flags, ret),
	CALL("futex", FUTEX, futex, ret),
	CALL("futex_wait", FUTEX, futex_waits, ret),
	CALL("futex_waitv", FUTEX, futex_waitv, ret),
	CALL("futex_wake", FUTEX, futex_wakes, ret),
	CALL("flock", FLOCK, fd_command, ret),
	CALL("semop", SEMOP, semid, ret),
	CALL("semtimedop", SEMOP, semid, ret),
	CALL("msgctl", MSGCTL, msgctl, ret),
	CALL("semctl", SEMCTL, semctl, ret),
	CALL("pread64", PREAD, fd, ret),
	CALL("preadv", PREAD, fd, ret),
	CALL("preadv2", PREAD, fd, ret),
	CALL("pwrite64", PWRITE, fd, ret),
	CALL("pwritev", PWRITE, fd, ret),
	CALL("pwritev2", PWRITE, fd, ret),
	CALL("copy_file_range", PWRITE, copy_range, ret),
	CALL("fsync", FSYNC, fd, ret),
	CALL("fdatasync", FSYNC, fd, ret),
	CALL("sync_file_range", FSYNC, fd, ret),
	CALL("syncfs", FSYNC, fd, ret),
	CALL("sync", FSYNC, none, ret),
	CALL("open", OPEN, open_path, ret),
	CALL("openat", OPEN, open_path, ret),
	CALL("openat2", OPEN, open_path, ret),
	CALL("creat", OPEN, open_path, ret),
	CALL("mq_open", MQ_OPEN, path, ret),
	CALL("mknod", MKNOD, mknod, ret),
	CALL("mknodat", MKNOD, mknod, ret),
	CALL("socket", SOCKET, family, ret),
	CALL("socketpair", SOCKETPAIR, family, pair_exit),
	CALL("pipe", PIPE, none, pair_exit),
	CALL("pipe2", PIPE, none, pair_exit),
	CALL("eventfd", EVENTFD, count_flags, ret),
	CALL("eventfd2", EVENTFD, count_flags, ret),
	CALL("epoll_create", EPOLL_CREATE, none, ret),
	CALL("epoll_create1", EPOLL_CREATE, none, ret),
	CALL("signalfd", SIGNALFD, none, ret),
	CALL("signalfd4", SIGNALFD, none, ret),
	CALL("timerfd_create", SIGNALFD, none, ret),
	CALL("inotify_init", SIGNALFD, none, ret),
	CALL("inotify_init1", SIGNALFD, none, ret),
	CALL("fanotify_init", SIGNALFD, none, ret),
	CALL("userfaultfd", SIGNALFD, none, ret),
	CALL("timerfd_settime", TIMERFD_SETTIME, timerfd, ret),
	CALL("pidfd_open", PIDFD_OPEN, pid, ret),
	CALL("pidfd_getfd", PIDFD_GETFD, pidfd, ret),
	CALL("ioctl", IOCTL, fd, ret),
	CALL("io_uring_enter", IO_URING_ENTER, fd, ret),
	CALL("connect", CONNECT, fd, ret),
	CALL("bind", BIND, fd, ret),
	CALL("listen", LISTEN, fd, ret),
	CALL("shutdown", SHUTDOWN, fd, ret),
	CALL("epoll_ctl", EPOLL_CTL, epoll_ctl, ret),
	CALL("close", CLOSE, fd, ret),
	CALL("close_range", CLOSE_RANGE, range, ret),
	CALL("dup", DUP, dup, ret),
	CALL("dup2", DUP2, dup, ret),
	CALL("dup3", DUP2, dup, ret),
	CALL("fcntl", FCNTL, fcntl, ret),
	CALL("clone", CLONE, clone_flags, ret),
	CALL("clone3", CLONE, none, ret),
	CALL("fork", CLONE, none, ret),
	CALL("vfork", CLONE, none, ret),
	CALL("wait4", WAIT, none, ret),
	CALL("waitid", WAIT, none, ret),
	CALL("kill", KILL, none, ret),
	CALL("tkill", KILL, none, ret),
	CALL("tgkill", KILL, none, ret),
	CALL("rt_sigqueueinfo", KILL, none, ret),
	CALL("rt_tgsigqueueinfo", KILL, none, ret),
	CALL("pidfd_send_signal", KILL, none, ret),
	CALL("exit", EXIT, none, ret),
	CALL("exit_group", EXIT, none, ret),
	CALL("access", PATH, path, ret),
	CALL("faccessat", PATH, path, ret),
	CALL("faccessat2", PATH, path, ret),
	CALL("mkdir", PATH, path, ret),
	CALL("mkdirat", PATH, path, ret),
	CALL("rmdir", PATH, path, ret),
	CALL("unlink", PATH, path, ret),
	CALL("unlinkat", PATH, path, ret),
	CALL("stat", PATH, path, ret),
	CALL("newstat", PATH, path, ret),
	CALL("lstat", PATH, path, ret),
	CALL("newlstat", PATH, path, ret),
	CALL("newfstatat", PATH, path, ret),
	CALL("statx", PATH, path, ret),
	CALL("rename", PATH, path, ret),
	CALL("renameat", PATH, path, ret),
	CALL("renameat2", PATH, path, ret),
	{ NULL, { NULL, LQN_REC_OTHER, 0, NULL }, { NULL, LQN_REC_OTHER, 0, NULL } }
};

const char *lqn_call_name(enum lqn_call call)
{
	if (call == LQN_CALL_NONE) {
		return "none";
	}
	for (const struct lqn_layout_call *c = lqn_layout_calls; c->name; c++) {
		/* the first row of a kind has its plain name */
		if (c->entry.kind == (uint8_t) call) {
			return c->name;
		}
	}
	return call == LQN_CALL_OTHER ? "other" : NULL;
}
