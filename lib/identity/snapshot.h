/* SPDX-License-Identifier: MIT */
#ifndef LQN_IDENTITY_SNAPSHOT_H
#define LQN_IDENTITY_SNAPSHOT_H

/*
 * Who is who on a host, as tools/lqn-snapshot recorded it at the begin and the end of a trace: doc/identity.md describes the file.
 * Plain data; what the file does not say is NULL, 0, or empty.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "channel/object.h"

#define LQN_SNAPSHOT_SCHEMA "lqn-snapshot/1"

struct lqn_snapshot_fd {
	int32_t fd;
	char *file;		/* `socket:[4711]`, `pipe:[12]`, `fifo:/path`, `mqueue:name`, `anon_inode:[eventpoll]`; owned */
};

struct lqn_snapshot_process {
	uint32_t pid, ppid;
	bool begin, end;	/* it was there at the begin, at the end of the trace */
	char *comm, *exe, *cwd, *service, *container;	/* owned */
	GStrv cmdline;		/* owned; never NULL */
	GArray *threads;	/* uint32_t; owned, as are the following */
	GArray *nspids;		/* uint32_t: its ids in the namespaces, outermost first */
	GArray *fds;		/* struct lqn_snapshot_fd */
	GArray *ports;		/* uint16_t, ascending: where it listens for TCP connections */
	const char *name;	/* for its task, interned: names.c */
};

struct lqn_snapshot_socket {
	uint64_t inode, peer;	/* peer: the inode of a unix socket's other end; 0: none */
	enum lqn_object_kind kind;
	bool listening;
	bool connected;		/* `tuple` is whole */
	struct lqn_tuple tuple;
	char *path;		/* of a unix socket; owned */
};

struct lqn_snapshot {
	char *file, *host;	/* owned */
	GPtrArray *processes;	/* struct lqn_snapshot_process, owned */
	GHashTable *by_pid;	/* pid -> GPtrArray of struct lqn_snapshot_process; owned */
	GHashTable *sockets;	/* inode -> struct lqn_snapshot_socket; owned */
};

/* What can go wrong with files that the user names: they cannot be read, or make no sense. */
#define LQN_IDENTITY_ERROR (lqn_identity_error_quark())
GQuark lqn_identity_error_quark(void);
enum lqn_identity_error { LQN_IDENTITY_UNREADABLE, LQN_IDENTITY_MALFORMED };

/* Reads a file. NULL with an error that names file, place and reason. Free with lqn_snapshot_free(). */
struct lqn_snapshot *lqn_snapshot_read(const char *file, GError **error);
/* The same of a text; `file` is its name in errors. */
struct lqn_snapshot *lqn_snapshot_parse(const char *text, const char *file, GError **error);
void lqn_snapshot_free(struct lqn_snapshot *snapshot);
/* The snapshot of a host; borrowed; NULL: none. snapshots: struct lqn_snapshot; may be NULL. */
const struct lqn_snapshot *lqn_snapshot_find(const GPtrArray *snapshots, const char *host);

/*
 * The process that has the id and the name; of several the last one. comm: NULL: any name will do; born: it began within the trace, so
 * what had its id at the begin was another. NULL: there is none.
 */
const struct lqn_snapshot_process *lqn_snapshot_process(const struct lqn_snapshot *snapshot, uint32_t pid, const char *comm, bool born);
/* The inode of `socket:[4711]`; 0: it is no socket. */
uint64_t lqn_snapshot_inode(const char *file);

/* The last part of a path, or the whole of what is none; borrowed. */
const char *lqn_base_name(const char *path);

/* names.c: gives each process of the snapshot the name of its task: doc/identity.md has the rules. */
void lqn_snapshot_name(struct lqn_snapshot *snapshot);
/* A thread's name without a trailing /N, which numbers the threads of a pool; g_free(). */
char *lqn_plain_name(const char *comm);

#endif
