/* SPDX-License-Identifier: MIT */

/*
 * What programs tell of their requests, on the threads that the kernel knows. A tracer writes down
 * the thread that is current: it can be believed. A program that exports its spans tells what it
 * calls its process and its thread: the numbers of its PID namespace, or none of the system's at all
 * (Java counts its threads). So such numbers count if both fit together; if not, the process alone.
 */
#include "causal/engine.h"

#define AMBIGUOUS 0	/* in the place of a thread's key */

/* Process and thread, as they are called inside. */
static int64_t inside_key(int32_t vpid, int32_t vtid)
{
	return (int64_t) ((uint64_t) (uint32_t) vpid << 32 | (uint32_t) vtid);
}

void lqn_causal_name_inside(struct lqn_causal *c, struct lqn_thread *thread, int32_t vpid,
	int32_t vtid)
{
	int64_t key = inside_key(vpid, vtid);
	uint64_t *other;

	if (vpid <= 0 || vtid <= 0) {
		return;
	}
	thread->vtid = vtid;
	lqn_causal_process(c, thread)->vpid = vpid;
	if (vtid == thread->tid) {
		return;		/* no namespace, or the outermost: it is found by its number */
	}
	other = g_hash_table_lookup(c->inside, &key);
	if (other && *other != AMBIGUOUS) {
		/* the first process of every container is 1 */
		*other = *other != thread->key && lqn_host_find_key(&c->host, *other) ? AMBIGUOUS : thread->key;
	} else if (!other) {
		/* key and value in one piece */
		int64_t *entry = g_new(int64_t, 2);

		entry[0] = key;
		entry[1] = (int64_t) thread->key;
		g_hash_table_insert(c->inside, entry, &entry[1]);
	}
}

void lqn_causal_forget_inside(struct lqn_causal *c, const struct lqn_thread *thread)
{
	int64_t key = thread->process ? inside_key(thread->process->vpid, thread->vtid) : 0;
	const uint64_t *found = g_hash_table_lookup(c->inside, &key);

	if (found && *found == thread->key) {
		g_hash_table_remove(c->inside, &key);
	}
}

void lqn_step_state_namespace(struct lqn_step *step)
{
	const struct lqn_record *rec = step->rec;

	if (rec->inside.tid > 0) {
		lqn_causal_name_inside(step->causal,
			lqn_host_thread(&step->causal->host, rec->inside.tid), rec->inside.vpid,
			rec->inside.vtid);
	}
}

/* The one thread that has these numbers inside of a PID namespace; NULL: none, or several. */
static struct lqn_thread *find_inside(struct lqn_causal *c, int32_t vpid, int32_t vtid)
{
	int64_t key = inside_key(vpid, vtid);
	const uint64_t *found = g_hash_table_lookup(c->inside, &key);
	struct lqn_thread *thread = found && *found != AMBIGUOUS ?
		lqn_host_find_key(&c->host, *found) : NULL;

	return thread && thread->vtid == vtid ? thread : NULL;
}

/* Of a thread that is older than the trace nobody may have told of which process it is. */
static bool has_unknown_process(const struct lqn_thread *thread)
{
	return !thread->kernel && (!thread->process || !thread->process->told);
}

static bool is_of(const struct lqn_thread *thread, int32_t pid)
{
	return pid <= 0 || (thread->process && thread->process->pid == pid) ||
		has_unknown_process(thread);
}

/* The process that a program calls `pid`; 0: none that is known. */
static uint32_t process_of(struct lqn_causal *c, int32_t pid)
{
	struct lqn_thread *main = lqn_host_find_thread(&c->host, pid);

	if (!main || !is_of(main, pid)) {
		main = find_inside(c, pid, pid);
	}
	return main && main->process ? (uint32_t) main->process->pid : 0;
}

/* Says on which thread, else in which process, a span is. */
static void place(struct lqn_causal *c, const struct lqn_record *rec, struct lqn_event *ev)
{
	bool traced = rec->tid > 0;
	int32_t tid = traced ? rec->tid : rec->span.tid, pid = rec->span.pid;
	struct lqn_thread *thread = tid > 0 ? lqn_host_find_thread(&c->host, tid) : NULL;

	if (thread && !is_of(thread, pid)) {
		thread = NULL;
	}
	if (!thread && tid > 0 && pid > 0) {
		thread = find_inside(c, pid, tid);
	}
	if (thread) {
		ev->span.thread = thread->key;
		ev->span.pid = thread->process ? (uint32_t) thread->process->pid : 0;
		ev->span.evidence = traced || pid > 0 ? LQN_CERTAIN : LQN_INFERRED;
		return;
	}
	ev->span.pid = pid > 0 ? process_of(c, pid) : 0;
	ev->span.evidence = LQN_INFERRED;
	if (tid > 0 && (traced || pid > 0) && !lqn_host_find_thread(&c->host, tid)) {
		/* not met yet: whether it is of that process will be seen */
		ev->span.thread = (uint64_t) tid;
		ev->span.pid = pid > 0 ? (uint32_t) pid : 0;
	}
}

void lqn_step_span(struct lqn_step *step)
{
	const struct lqn_record *rec = step->rec;
	struct lqn_event ev = { .type = LQN_EV_SPAN };

	place(step->causal, rec, &ev);
	ev.span.trace = rec->span.trace;
	ev.span.span = rec->span.span;
	ev.span.parent = rec->span.parent;
	ev.span.message = rec->span.message;
	ev.span.at = rec->ts;
	ev.span.begin = rec->type == LQN_REC_SPAN_BEGIN;
	ev.span.kind = rec->span.kind < LQN_SPAN_KINDS ? rec->span.kind : LQN_SPAN_UNSPECIFIED;
	ev.span.name = rec->text ? rec->text : "";
	ev.span.service = rec->text && rec->span.service ? rec->text + rec->span.service : "";
	lqn_causal_emit(step->causal, &ev);
}

void lqn_step_span_message(struct lqn_step *step)
{
	const struct lqn_record *rec = step->rec;
	struct lqn_event ev = { .type = LQN_EV_SPAN_MESSAGE };

	ev.span_message.trace = rec->span.trace;
	ev.span_message.span = rec->span.span;
	ev.span_message.message = rec->span.message;
	ev.span_message.at = rec->ts;
	lqn_causal_emit(step->causal, &ev);
}
