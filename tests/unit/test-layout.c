/* SPDX-License-Identifier: MIT */
/* The tables of event layouts: names in every tracer's spelling, and rows that can be followed blindly. */
#include "layout/layout.h"

#include <glib.h>
#include <string.h>

#include "layout/tables.h"
#include "suite.h"

START_TEST(events_are_found_under_each_tracers_name)
{
	static const struct {
		const char *name;
		enum lqn_record_type type;
		uint8_t kind;
	} cases[] = {
		{ "sched_switch", LQN_REC_SWITCH, 0 },
		{ "sched:sched_switch", LQN_REC_SWITCH, 0 },
		{ "sched_waking", LQN_REC_WAKING, 0 },
		{ "sched_ttwu", LQN_REC_WAKING, 0 },
		{ "sched_wakeup", LQN_REC_WAKEUP, 0 },
		{ "irq_softirq_entry", LQN_REC_CONTEXT_ENTRY, LQN_CTX_SOFTIRQ },
		{ "irq:softirq_exit", LQN_REC_CONTEXT_EXIT, LQN_CTX_SOFTIRQ },
		{ "x86_irq_vectors_local_timer_entry", LQN_REC_CONTEXT_ENTRY, LQN_CTX_TICK },
		{ "irq_vectors:reschedule_entry", LQN_REC_CONTEXT_ENTRY, LQN_CTX_IPI },
		{ "timer_hrtimer_expire_entry", LQN_REC_CONTEXT_ENTRY, LQN_CTX_HRTIMER },
		{ "timer:hrtimer_expire_exit", LQN_REC_CONTEXT_EXIT, LQN_CTX_HRTIMER },
		{ "net_if_receive_skb", LQN_REC_PACKET_RECEIVE, 0 },
		{ "net:netif_receive_skb", LQN_REC_PACKET_RECEIVE, 0 },
		{ "syscall_entry_read", LQN_REC_CALL_ENTRY, LQN_CALL_READ },
		{ "syscall_exit_read", LQN_REC_CALL_EXIT, LQN_CALL_READ },
		{ "compat_syscall_entry_read", LQN_REC_CALL_ENTRY, LQN_CALL_READ },
		{ "syscalls:sys_enter_openat", LQN_REC_CALL_ENTRY, LQN_CALL_OPEN },
		{ "sys_exit_openat", LQN_REC_CALL_EXIT, LQN_CALL_OPEN },
		{ "syscall_entry_no_such_call", LQN_REC_CALL_ENTRY, LQN_CALL_OTHER },
		{ "syscall_exit_unknown", LQN_REC_CALL_EXIT, LQN_CALL_OTHER },
		{ "lttng_statedump_file_descriptor", LQN_REC_STATE_FD, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lqn_layout_event *ev = lqn_layout_find(cases[i].name);

		ck_assert_msg(ev != NULL, "%s is not found", cases[i].name);
		ck_assert_msg(ev->type == cases[i].type && ev->kind == cases[i].kind, "%s: type %d, kind %d",
			cases[i].name, ev->type, ev->kind);
	}
}
END_TEST

START_TEST(events_of_others_are_not_taken_for_the_kernels)
{
	static const char *const names[] = {
		"", "my_app:sched_switch", "sched_switch2", "sched_switc", "inet_sock_set_state", "lqn:wait",
		"myprovider:syscall_entry_read", "syscall_entr", "sched:",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_msg(lqn_layout_find(names[i]) == NULL, "%s is found", names[i]);
	}
}
END_TEST

START_TEST(short_names_have_no_prefix)
{
	ck_assert_str_eq(lqn_layout_short_name("syscall_entry_openat"), "openat");
	ck_assert_str_eq(lqn_layout_short_name("syscalls:sys_enter_openat"), "openat");
	ck_assert_str_eq(lqn_layout_short_name("app:phase"), "app:phase");
	ck_assert_str_eq(lqn_layout_short_name("sched:sched_switch"), "sched_switch");
}
END_TEST

static const size_t sizes[] = {
	[LQN_FIELD_I32] = 4, [LQN_FIELD_U32] = 4, [LQN_FIELD_64] = 8,
	[LQN_FIELD_COMM] = LQN_COMM_LEN, [LQN_FIELD_TEXT] = sizeof(char *),
	[LQN_FIELD_FDS] = sizeof(((struct lqn_record *) 0)->exit),
	[LQN_FIELD_LAST] = 4, [LQN_FIELD_ID] = 8, [LQN_FIELD_SERVICE] = sizeof(char *),
	[LQN_FIELD_PACKET] = sizeof(((struct lqn_record *) 0)->packet),
	[LQN_FIELD_PRESET] = 8,
};

static void check_row(const struct lqn_layout_event *row)
{
	ck_assert_msg(row->type < LQN_REC_COUNT, "%s: no such type", row->name);
	for (const struct lqn_layout_field *f = row->fields; f && f->kind != LQN_FIELD_END; f++) {
		ck_assert_msg((f->names && *f->names) == (f->kind != LQN_FIELD_PRESET),
			"%s: a field without a name, or a preset with one", row->name);
		ck_assert_msg((size_t) f->kind < sizeof(sizes) / sizeof(sizes[0]), "%s.%s: no such kind", row->name, f->names);
		ck_assert_msg(f->offset + sizes[f->kind] <= sizeof(struct lqn_record),
			"%s.%s lies outside of the record", row->name, f->names);
		ck_assert_msg(f->offset == offsetof(struct lqn_record, text) ||
			f->offset >= offsetof(struct lqn_record, sw),
			"%s.%s would overwrite the record's head", row->name, f->names);
		ck_assert_msg((f->kind == LQN_FIELD_TEXT || f->kind == LQN_FIELD_SERVICE) ==
			(f->offset == offsetof(struct lqn_record, text)),
			"%s.%s: text goes into text only", row->name, f->names);
		for (const struct lqn_layout_field *g = row->fields; g != f; g++) {
			ck_assert_msg(g->offset != f->offset || g->kind != f->kind, "%s: %s and %s go to one place",
				row->name, g->names, f->names);
		}
	}
}

START_TEST(every_row_can_be_followed)
{
	for (const struct lqn_layout_event *row = lqn_layout_kernel_events; row->name; row++) {
		check_row(row);
		ck_assert_msg(lqn_layout_find(row->name) == row, "%s stands twice", row->name);
	}
	for (const struct lqn_layout_call *call = lqn_layout_calls; call->name; call++) {
		check_row(&call->entry);
		check_row(&call->exit);
		ck_assert(call->entry.type == LQN_REC_CALL_ENTRY && call->exit.type == LQN_REC_CALL_EXIT);
		ck_assert_msg(call->entry.kind == call->exit.kind, "%s: entry and exit differ", call->name);
		ck_assert_msg(call->entry.kind > LQN_CALL_OTHER && call->entry.kind < LQN_CALL_COUNT, "%s: kind", call->name);
		for (const struct lqn_layout_call *other = lqn_layout_calls; other != call; other++) {
			ck_assert_msg(strcmp(other->name, call->name) != 0, "%s stands twice", call->name);
		}
	}
	check_row(&lqn_layout_other_call.entry);
	check_row(&lqn_layout_other_call.exit);
}
END_TEST

START_TEST(every_kind_of_call_has_a_name_of_its_own)
{
	for (int i = 0; i < LQN_CALL_COUNT; i++) {
		const char *name = lqn_call_name(i);

		ck_assert_msg(name != NULL, "call %d has no name", i);
		for (int k = 0; k < i; k++) {
			ck_assert_msg(strcmp(name, lqn_call_name(k)) != 0, "%s names two", name);
		}
	}
	ck_assert_str_eq(lqn_call_name(LQN_CALL_RECVMSG), "recvmsg");
	ck_assert_ptr_null(lqn_call_name(LQN_CALL_COUNT));
}
END_TEST

START_TEST(spans_are_found_by_their_events)
{
	static const char *const names[] = { "span:begin", "span:end", "otel:span_start", "otel:span_end", "jaeger_ust:start_span",
		"jaeger_ust:end_span", "opentelemetry:start_span", "opentelemetry:end_span" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct lqn_layout_event *ev = lqn_layout_find_span(NULL, names[i]);

		ck_assert_msg(ev != NULL && ev->type == (i % 2 ? LQN_REC_SPAN_END : LQN_REC_SPAN_BEGIN), "%s", names[i]);
		check_row(ev);
	}
	ck_assert_ptr_null(lqn_layout_find_span(NULL, "otel:span"));
}
END_TEST

START_TEST(a_user_names_events_and_fields_of_spans)
{
	char *problem;
	struct lqn_span_layout *own = lqn_span_layout_new("begin=app:on,end=app:off,span=id|op,service=who,name=what,tid=t", &problem);
	const struct lqn_layout_event *ev;

	ck_assert_ptr_nonnull(own);
	ev = lqn_layout_find_span(own, "app:on");
	ck_assert_ptr_nonnull(ev);
	check_row(ev);
	ck_assert_str_eq(ev->fields[0].names, "id|op");
	ck_assert_str_eq(ev->fields[2].names, "what");	/* the service goes behind the name */
	ck_assert_str_eq(ev->fields[3].names, "who");
	ck_assert_int_eq(ev->fields[4].kind, LQN_FIELD_END);
	ck_assert_int_eq(lqn_layout_find_span(own, "app:off")->type, LQN_REC_SPAN_END);
	ck_assert_ptr_nonnull(lqn_layout_find_span(own, "otel:span_end"));
	lqn_span_layout_free(own);
	own = lqn_span_layout_new("begin=app:on,end=app:off,span=id,message=key,kind=role", &problem);
	ck_assert_ptr_nonnull(own);
	ev = lqn_layout_find_span(own, "app:on");
	check_row(ev);
	ck_assert_str_eq(ev->fields[1].names, "role");
	ck_assert_str_eq(ev->fields[2].names, "key");
	ck_assert_int_eq(ev->fields[2].kind, LQN_FIELD_KEY);
	lqn_span_layout_free(own);
}
END_TEST

START_TEST(a_layout_of_spans_that_cannot_be_is_refused)
{
	static const struct {
		const char *text, *problem;
	} cases[] = {
		{ "begin=a,end=b", "`span` is missing" },
		{ "begin=a,end=b,span=", "`span=` names nothing" },
		{ "begin=a,end=b,span=c,span=d", "`span` is there twice" },
		{ "begin=a,end=b,span=c,colour=d", "`colour=d` is not" },
		{ "begin", "`begin` is not" },
		{ "", "`begin` is missing" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *problem;

		ck_assert_ptr_null(lqn_span_layout_new(cases[i].text, &problem));
		ck_assert_msg(strncmp(problem, cases[i].problem, strlen(cases[i].problem)) == 0, "%s: %s", cases[i].text, problem);
		g_free(problem);
	}
}
END_TEST

START_TEST(what_a_trace_does_not_say_is_unknown)
{
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find("syscall_entry_close"));
	ck_assert_int_eq(rec.cpu, -1);
	ck_assert_int_eq(rec.tid, -1);
	for (int i = 0; i < LQN_CALL_ARGS; i++) {
		ck_assert_int_eq(rec.entry.arg[i], -1);
	}
	lqn_record_init(&rec, lqn_layout_find("sched_switch"));
	ck_assert_int_eq(rec.sw.prev_state, 1);
	lqn_record_init(&rec, lqn_layout_find("sched_process_fork"));
	ck_assert_int_eq(rec.fork.child_pid, -1);
	lqn_record_init(&rec, lqn_layout_find("syscall_entry_futex_wake"));
	ck_assert_int_eq(rec.kind, LQN_CALL_FUTEX);
	ck_assert_int_eq(rec.entry.arg[1], 1);
	lqn_record_init(&rec, NULL);
	ck_assert_int_eq(rec.type, LQN_REC_OTHER);
	ck_assert_ptr_null(rec.text);
}
END_TEST

SUITE("layout", events_are_found_under_each_tracers_name, events_of_others_are_not_taken_for_the_kernels,
	short_names_have_no_prefix, every_row_can_be_followed, every_kind_of_call_has_a_name_of_its_own,
	spans_are_found_by_their_events, a_user_names_events_and_fields_of_spans, a_layout_of_spans_that_cannot_be_is_refused,
	what_a_trace_does_not_say_is_unknown)
