/* SPDX-License-Identifier: MIT */
#include "layout/layout.h"

#include <stdbool.h>
#include <string.h>

#include "layout/tables.h"

/* The hash of Fowler, Noll and Vo (FNV-1a, 64 bits). */
#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

/*
 * perf puts the subsystem in front of a tracepoint's name. A user-space provider may not be taken
 * for one.
 */
static const char *const subsystems[] = {
	"sched:", "irq:", "timer:", "net:", "block:", "skb:", "syscalls:", "irq_vectors:",
};

/* How the tracers mark the two events of a system call. */
static const struct {
	const char *prefix;
	bool exit;
} call_prefixes[] = {
	{ "syscall_entry_", false },
	{ "syscall_exit_", true },
	{ "compat_syscall_entry_", false },
	{ "compat_syscall_exit_", true },
	{ "sys_enter_", false },
	{ "sys_exit_", true },
};

static const struct lqn_layout_event *find_call(const char *name, bool exit)
{
	const struct lqn_layout_call *call = lqn_layout_calls;

	while (call->name && strcmp(call->name, name) != 0) {
		call++;
	}
	if (!call->name) {
		call = &lqn_layout_other_call;
	}
	return exit ? &call->exit : &call->entry;
}

/* Passes over a perf subsystem. */
static const char *skip_subsystem(const char *name)
{
	for (size_t i = 0; i < sizeof(subsystems) / sizeof(subsystems[0]); i++) {
		size_t len = strlen(subsystems[i]);

		if (strncmp(name, subsystems[i], len) == 0) {
			return name + len;
		}
	}
	return name;
}

/* The index in call_prefixes of what `name` begins with, or -1. */
static int call_prefix(const char *name)
{
	for (size_t i = 0; i < sizeof(call_prefixes) / sizeof(call_prefixes[0]); i++) {
		if (strncmp(name, call_prefixes[i].prefix, strlen(call_prefixes[i].prefix)) == 0) {
			return (int) i;
		}
	}
	return -1;
}

const char *lqn_layout_short_name(const char *name)
{
	int i = call_prefix(name = skip_subsystem(name));

	return i < 0 ? name : name + strlen(call_prefixes[i].prefix);
}

const struct lqn_layout_event *lqn_layout_find(const char *name)
{
	int i = call_prefix(name = skip_subsystem(name));

	if (i >= 0) {
		return find_call(name + strlen(call_prefixes[i].prefix), call_prefixes[i].exit);
	}
	for (const struct lqn_layout_event *ev = lqn_layout_kernel_events; ev->name; ev++) {
		if (strcmp(ev->name, name) == 0) {
			return ev;
		}
	}
	return NULL;
}

void lqn_record_init(struct lqn_record *rec, const struct lqn_layout_event *ev)
{
	memset(rec, 0, sizeof(*rec));
	rec->cpu = -1;
	rec->tid = -1;
	rec->type = ev ? (uint8_t) ev->type : LQN_REC_OTHER;
	rec->kind = ev ? ev->kind : 0;
	switch (rec->type) {
	case LQN_REC_CALL_ENTRY:
		for (size_t i = 0; i < sizeof(rec->entry.arg) / sizeof(rec->entry.arg[0]); i++) {
			rec->entry.arg[i] = -1;
		}
		break;
	case LQN_REC_SWITCH:
		/*
		 * without the field a thread that leaves the CPU counts as blocked: the commoner of
		 * the two
		 */
		rec->sw.prev_state = 1;
		break;
	case LQN_REC_FORK:
		rec->fork.child_pid = rec->fork.parent_pid = rec->fork.child_vtid = -1;
		break;
	case LQN_REC_EXEC:
		rec->exec.tid = -1;
		break;
	case LQN_REC_BLOCK_INSERT:
	case LQN_REC_BLOCK_ISSUE:
	case LQN_REC_BLOCK_COMPLETE:
		rec->block.sector = UINT64_MAX;
		break;
	case LQN_REC_STATE_NAMESPACE:
		rec->inside.tid = rec->inside.vtid = rec->inside.vpid = -1;
		break;
	case LQN_REC_SPAN_BEGIN:
	case LQN_REC_SPAN_END:
	case LQN_REC_SPAN_MESSAGE:
		rec->span.pid = rec->span.tid = -1;
		break;
	case LQN_REC_STATE_PROCESS:
	case LQN_REC_STATE_FD:
		rec->state.tid = rec->state.pid = rec->state.ppid = rec->state.fd = -1;
		break;
	default:
		break;
	}
	for (const struct lqn_layout_field *f = ev ? ev->fields : NULL;
		f && f->kind != LQN_FIELD_END; f++) {
		if (f->kind == LQN_FIELD_PRESET) {
			*(int64_t *) (void *) ((char *) rec + f->offset) = f->preset;
		}
	}
}

uint64_t lqn_layout_address(const uint8_t *bytes, size_t n)
{
	uint64_t value = n > 4 ? FNV_OFFSET : 0;

	for (size_t i = 0; i < n; i++) {
		value = n > 4 ? (value ^ bytes[i]) * FNV_PRIME : value << 8 | bytes[i];
	}
	return value;
}
