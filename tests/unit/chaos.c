/* SPDX-License-Identifier: MIT */
#include "chaos.h"

#include <glib.h>
#include <string.h>

#include "layout/tables.h"

#define TIDS 24
#define CPUS 4

struct world {
	struct chaos *chaos;
	struct lqn_causal *causal;
	int64_t ts;
	int32_t current[CPUS];
	const struct lqn_layout_call *open[TIDS + 1]; /* by thread */
	uint32_t n_calls, n_events;
};

struct chaos chaos_new(uint64_t seed)
{
	struct chaos chaos = { .state = seed * 0x9e3779b97f4a7c15u + 1 };

	chaos_number(&chaos);
	chaos.wildness = (uint32_t[]){ 0, 5, 50, 300 }[chaos_below(&chaos, 4)];
	chaos.ordered = chaos_below(&chaos, 4) > 0;
	return chaos;
}

uint64_t chaos_number(struct chaos *chaos)
{
	chaos->state ^= chaos->state << 13;
	chaos->state ^= chaos->state >> 7;
	chaos->state ^= chaos->state << 17;
	return chaos->state * 0x2545f4914f6cdd1du;
}

uint32_t chaos_below(struct chaos *chaos, uint32_t n)
{
	return (uint32_t) ((chaos_number(chaos) >> 32) % n);
}

int64_t chaos_hostile(struct chaos *chaos)
{
	static const int64_t values[] = {
		0,
		-1,
		1,
		2,
		255,
		65536,
		1 << 20,
		(1 << 20) - 1,
		INT32_MIN,
		INT32_MAX,
		UINT32_MAX,
		INT64_MIN,
		INT64_MAX,
		INT64_MIN + 1,
		INT64_MAX - 1,
		-4095,
		INT64_C(1) << 32,
		INT64_C(1) << 62,
	};

	return chaos_below(chaos, 4) ? values[chaos_below(chaos, G_N_ELEMENTS(values))]
				     : (int64_t) chaos_number(chaos);
}

const char *chaos_text(struct chaos *chaos)
{
	static const char *const texts[] = {
		"",
		"/",
		"//",
		"a/1",
		"/tmp/q",
		"/tmp/q",
		"\xff\xfe\x80",
		"<&>\"'",
		"]]>",
		"-->",
		"\x01\x1b[2J",
		"%s%n%d",
		"\xe2\x80\xae",
		"web",
		"web/1",
		"irq/5-x",
		"kworker/0:1",
		"1.2.3.4:5 -> 6.7.8.9:10",
		"6.7.8.9:10 -> 1.2.3.4:5",
		" -> ",
		"socket:[7]",
		"pipe:[7]",
		"pipe:[7]",
		"anon_inode:[eventfd]",
		"\xed\xa0\x80",
		"\xf4\x90\x80\x80",
		"tab\tline\nend",
		"a very long name that does not end where names of threads end, nor near it",
	};

	return texts[chaos_below(chaos, G_N_ELEMENTS(texts))];
}

static bool is_wild(struct world *w)
{
	return chaos_below(w->chaos, 1000) < w->chaos->wildness;
}

static int32_t some_tid(struct world *w)
{
	return is_wild(w) ? (int32_t) chaos_hostile(w->chaos)
			  : 1 + (int32_t) chaos_below(w->chaos, TIDS);
}

static void set_comm(struct world *w, char *comm, int32_t tid)
{
	if (is_wild(w)) {
		/* not always with a zero at its end */
		memcpy(comm, "\xff/<&\"'>]]abcdefgh", LQN_COMM_LEN);
		strncpy(comm, chaos_text(w->chaos), chaos_below(w->chaos, LQN_COMM_LEN));
	} else {
		g_snprintf(comm, LQN_COMM_LEN, "t%d", tid % 5);
	}
}

static int64_t some_number(struct world *w)
{
	return is_wild(w) ? chaos_hostile(w->chaos) : (int64_t) chaos_below(w->chaos, 8);
}

static void fill_entry(struct world *w, struct lqn_record *rec, int32_t thread)
{
	for (int i = 0; i < LQN_CALL_ARGS; i++) {
		rec->entry.arg[i] = chaos_below(w->chaos, 6) ? some_number(w) : -1;
	}
	switch (rec->kind) {
	case LQN_CALL_FUTEX:
		rec->entry.arg[0] = 4096 + 8 * (int64_t) chaos_below(w->chaos, 3);
		rec->entry.arg[1] = chaos_below(w->chaos, 2) | 128;
		break;
	case LQN_CALL_SOCKET:
	case LQN_CALL_SOCKETPAIR:
		rec->entry.arg[0] = 1 + chaos_below(w->chaos, 2);
		rec->entry.arg[1] = 1 + chaos_below(w->chaos, 2);
		break;
	case LQN_CALL_CLOSE_RANGE:
		rec->entry.arg[0] = 6;
		break;
	default:
		break;
	}
	if (rec->kind == LQN_CALL_OPEN || rec->kind == LQN_CALL_MQ_OPEN ||
		rec->kind == LQN_CALL_MKNOD || rec->kind == LQN_CALL_PATH || is_wild(w)) {
		rec->text = g_strdup(chaos_text(w->chaos));
	}
	if (thread >= 0 && thread <= TIDS) {
		w->open[thread] = NULL;
	}
}

/* Calls by which programs talk come more often than their share of the table. */
static const struct lqn_layout_call *some_call(struct world *w)
{
	static const char *const frequent[] = {
		"write",
		"read",
		"sendto",
		"recvfrom",
		"futex",
		"epoll_wait",
		"accept4",
		"connect",
		"socket",
		"socketpair",
		"pipe2",
		"nanosleep",
		"listen",
		"dup",
		"openat",
		"mq_open",
	};
	const char *name = frequent[chaos_below(w->chaos, G_N_ELEMENTS(frequent))];

	if (chaos_below(w->chaos, 4)) {
		for (uint32_t i = 0; i < w->n_calls; i++) {
			if (strcmp(lqn_layout_calls[i].name, name) == 0) {
				return &lqn_layout_calls[i];
			}
		}
	}
	return &lqn_layout_calls[chaos_below(w->chaos, w->n_calls)];
}

static void put(struct world *w, struct lqn_record *rec, const char *name, int32_t cpu)
{
	rec->name = g_intern_string(name);
	rec->cpu = is_wild(w) ? (int32_t) chaos_hostile(w->chaos) : cpu;
	rec->tid = is_wild(w) ? some_tid(w) : rec->tid;
	rec->ts = w->ts;
	if (!w->chaos->ordered && is_wild(w)) {
		rec->ts = chaos_below(w->chaos, 8) ? w->ts - chaos_below(w->chaos, 100000)
						   : chaos_hostile(w->chaos);
	}
	lqn_causal_push(w->causal, rec);
}

static void put_call(struct world *w, int32_t cpu)
{
	int32_t tid = w->current[cpu];
	bool known = tid > 0 && tid <= TIDS;
	const struct lqn_layout_call *call = known ? w->open[tid] : NULL;
	struct lqn_record rec;

	if (call && !is_wild(w)) {
		lqn_record_init(&rec, &call->exit);
		rec.exit.ret = chaos_below(w->chaos, 8) ? some_number(w)
							: -(int64_t) chaos_below(w->chaos, 130);
		rec.exit.n_fds = (int32_t) chaos_below(w->chaos, 4);
		for (int i = 0; i < LQN_RECORD_FDS; i++) {
			rec.exit.fd[i] = (int32_t) some_number(w);
		}
		put(w, &rec, "syscall_exit_x", cpu);
		w->open[tid] = NULL;
		return;
	}
	call = some_call(w);
	lqn_record_init(&rec, &call->entry);
	fill_entry(w, &rec, tid);
	put(w, &rec, "syscall_entry_x", cpu);
	if (known) {
		w->open[tid] = call;
	}
}

static void put_switch(struct world *w, int32_t cpu)
{
	static const int64_t states[] = { 0, 1, 1, 1, 2, 0x100, 16, 64, 130, 4 };
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find("sched_switch"));
	rec.sw.prev_tid = is_wild(w) ? some_tid(w) : w->current[cpu];
	rec.sw.next_tid = chaos_below(w->chaos, 3) ? some_tid(w) : 0;
	for (int32_t other = 0; other < CPUS && !is_wild(w); other++) {
		if (rec.sw.next_tid == w->current[other]) {
			rec.sw.next_tid = 0;
		}
	}
	rec.sw.prev_state = is_wild(w) ? chaos_hostile(w->chaos)
				       : states[chaos_below(w->chaos, G_N_ELEMENTS(states))];
	set_comm(w, rec.sw.prev_comm, rec.sw.prev_tid);
	set_comm(w, rec.sw.next_comm, rec.sw.next_tid);
	put(w, &rec, "sched_switch", cpu);
	w->current[cpu] = rec.sw.next_tid;
}

static void put_waking(struct world *w, int32_t cpu)
{
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find("sched_waking"));
	rec.wake.tid = some_tid(w);
	put(w, &rec, "sched_waking", cpu);
}

/* Any event of the tables, with plausible fields where there are any. */
static void put_any(struct world *w, int32_t cpu)
{
	const struct lqn_layout_event *ev =
		&lqn_layout_kernel_events[chaos_below(w->chaos, w->n_events)];
	struct lqn_record rec;

	lqn_record_init(&rec, ev);
	switch (rec.type) {
	case LQN_REC_SWITCH:
		put_switch(w, cpu);
		return;
	case LQN_REC_FORK:
		rec.fork.parent_tid = is_wild(w) ? some_tid(w) : w->current[cpu];
		rec.fork.child_tid = some_tid(w);
		rec.fork.child_pid = chaos_below(w->chaos, 2) ? rec.fork.child_tid : some_tid(w);
		rec.fork.parent_pid = chaos_below(w->chaos, 2) ? -1 : some_tid(w);
		set_comm(w, rec.fork.child_comm, rec.fork.child_tid);
		break;
	case LQN_REC_STATE_PROCESS:
	case LQN_REC_STATE_FD:
		rec.state.tid = some_tid(w);
		rec.state.pid = some_tid(w);
		rec.state.ppid = some_tid(w);
		rec.state.fd = (int32_t) some_number(w);
		rec.state.status = (int32_t) some_number(w);
		rec.state.type = (int32_t) some_number(w);
		rec.state.file_table = (uint64_t) some_number(w);
		rec.text = g_strdup(chaos_text(w->chaos));
		break;
	case LQN_REC_PACKET_QUEUE:
	case LQN_REC_PACKET_RECEIVE:
	case LQN_REC_PACKET_COPY:
		rec.packet.skb = (uint64_t) some_number(w);
		rec.packet.saddr = 1 + chaos_below(w->chaos, 2);
		rec.packet.daddr = 1 + chaos_below(w->chaos, 2);
		rec.packet.sport = (uint16_t) chaos_below(w->chaos, 3);
		rec.packet.dport = (uint16_t) chaos_below(w->chaos, 3);
		rec.packet.seq = (uint32_t) some_number(w);
		rec.packet.len = 40 + (uint32_t) some_number(w);
		rec.packet.header = 40;
		rec.packet.protocol = chaos_below(w->chaos, 8) ? 6 : 17;
		rec.packet.flags = (uint8_t) some_number(w);
		break;
	case LQN_REC_CONTEXT_ENTRY:
	case LQN_REC_CONTEXT_EXIT:
	case LQN_REC_SOFTIRQ_RAISE:
	case LQN_REC_STATE_IRQ:
		rec.irq.id = some_number(w);
		rec.irq.ret = (int32_t) some_number(w);
		set_comm(w, rec.irq.name, 0);
		break;
	case LQN_REC_BLOCK_INSERT:
	case LQN_REC_BLOCK_ISSUE:
	case LQN_REC_BLOCK_COMPLETE:
		rec.block.dev = (uint64_t) some_number(w);
		rec.block.tid = some_tid(w);
		rec.block.sector = (uint64_t) some_number(w);
		break;
	case LQN_REC_EXEC:
		rec.exec.tid = chaos_below(w->chaos, 2) ? -1 : some_tid(w);
		rec.text = g_strdup(chaos_text(w->chaos));
		break;
	case LQN_REC_WAKING:
	case LQN_REC_WAKEUP:
	case LQN_REC_WAKEUP_NEW:
		rec.wake.tid = some_tid(w);
		break;
	case LQN_REC_EXIT:
	case LQN_REC_FREE:
		rec.life.tid = chaos_below(w->chaos, 8) ? 0 : some_tid(w);
		break;
	default:
		break;
	}
	put(w, &rec, ev->name, cpu);
}

static void put_other(struct world *w, int32_t cpu)
{
	struct lqn_record rec;

	lqn_record_init(&rec, NULL);
	rec.text = chaos_below(w->chaos, 2) ? g_strdup(chaos_text(w->chaos)) : NULL;
	if (chaos_below(w->chaos, 2)) {
		rec.type = chaos_below(w->chaos, 2) ? LQN_REC_SPAN_BEGIN : LQN_REC_SPAN_END;
		rec.span.trace = (uint64_t) some_number(w);
		rec.span.span = (uint64_t) some_number(w);
		rec.span.parent = (uint64_t) some_number(w);
		rec.tid = chaos_below(w->chaos, 2) ? some_tid(w) : -1;
		rec.span.tid = some_tid(w);
		rec.span.pid = some_tid(w);
		rec.span.kind = (uint32_t) some_number(w);
	}
	put(w, &rec, "app:phase", cpu);
}

static void lose(struct world *w, int32_t cpu)
{
	int64_t begin = w->chaos->ordered ? w->ts : w->ts - chaos_below(w->chaos, 10000);

	lqn_causal_lost(w->causal, chaos_below(w->chaos, 2) ? cpu : -1, begin, w->ts,
		chaos_below(w->chaos, 3));
}

void chaos_trace(struct chaos *chaos, struct lqn_causal *causal, unsigned records)
{
	struct world w = { .chaos = chaos, .causal = causal, .ts = 1000000000 };

	while (lqn_layout_calls[w.n_calls].name) {
		w.n_calls++;
	}
	while (lqn_layout_kernel_events[w.n_events].name) {
		w.n_events++;
	}
	for (unsigned i = 0; i < records; i++) {
		int32_t cpu = (int32_t) chaos_below(chaos, CPUS);
		uint32_t what = chaos_below(chaos, 1000);

		/* equal times are legal, and a good place for mistakes */
		w.ts += chaos_below(chaos, 3) ? chaos_below(chaos, 20000) : 0;
		if (what < 350) {
			put_call(&w, cpu);
		} else if (what < 600) {
			put_switch(&w, cpu);
		} else if (what < 800) {
			put_waking(&w, cpu);
		} else if (what < 950) {
			put_any(&w, cpu);
		} else if (what < 998) {
			put_other(&w, cpu);
		} else {
			lose(&w, cpu);
		}
	}
	lqn_causal_finish(
		causal, chaos->ordered || chaos_below(chaos, 2) ? w.ts : chaos_hostile(chaos));
}

void chaos_spoil(struct chaos *chaos, struct lqn_event *ev)
{
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) ev->type);
	const struct lqn_event_field *field =
		&class->fields[chaos_below(chaos, (uint32_t) class->n_fields)];
	void *p = (char *) ev + field->offset;

	switch (field->kind) {
	case LQN_EVF_STRING:
		*(const char **) p = chaos_text(chaos);
		break;
	case LQN_EVF_U64:
	case LQN_EVF_I64:
	case LQN_EVF_TIME:
		if (chaos_below(chaos, 2)) {
			*(uint64_t *) p += (uint64_t) chaos_below(chaos, 100000) - 50000;
		} else {
			*(int64_t *) p = chaos_hostile(chaos);
		}
		break;
	default:
		*(uint32_t *) p = chaos_below(chaos, 2) ? chaos_below(chaos, 16)
							: (uint32_t) chaos_hostile(chaos);
		break;
	}
}
