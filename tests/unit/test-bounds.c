/* SPDX-License-Identifier: MIT */
/* What no trace can make grow without end. */
#include <stdio.h>

#include "causal/engine.h"
#include "channel/internal.h"
#include "layout/layout.h"
#include "request/internal.h"
#include "request/sync.h"
#include "suite.h"

/* ---- the filter's engine ---- */

static void ignore(void *payload, const struct lqn_event *ev)
{
}

static void push(struct lqn_causal *causal, const char *event, int64_t ts, int32_t a, int32_t b)
{
	struct lqn_record rec;

	lqn_record_init(&rec, lqn_layout_find(event));
	rec.ts = ts;
	rec.cpu = 0;
	if (rec.type == LQN_REC_FORK) {
		rec.fork.parent_tid = a;
		rec.fork.child_tid = rec.fork.child_pid = b;
		rec.fork.child_vtid = b - 50;
	} else {
		rec.life.tid = a;
	}
	lqn_causal_push(causal, &rec);
}

#ifdef __SANITIZE_ADDRESS__
#define LEAKS_COUNT true
#else
#define LEAKS_COUNT false
#endif

START_TEST(the_dead_are_forgotten_even_if_nobody_says_that_their_number_is_free)
{
	struct lqn_causal *causal = lqn_causal_new("host", "6.1.0", ignore, NULL);

	for (int32_t tid = 100; tid < 100 + 4 * LQN_DEAD_MAX; tid++) {
		push(causal, "sched_process_fork", 1000 + 2 * tid, 1, tid);
		push(causal, "sched_process_exit", 1001 + 2 * tid, tid, 0);
	}
	lqn_causal_finish(causal, 1000000);
	ck_assert_uint_le(g_hash_table_size(causal->host.threads), LQN_DEAD_MAX + 2);
	ck_assert_uint_le(g_hash_table_size(causal->host.processes), LQN_DEAD_MAX + 2);
	ck_assert_uint_ge(g_hash_table_size(causal->host.threads), LQN_DEAD_MAX);
	ck_assert_uint_le(g_hash_table_size(causal->inside), LQN_DEAD_MAX + 2);
	ck_assert_uint_ge(g_hash_table_size(causal->inside), LQN_DEAD_MAX);
	lqn_causal_free(causal);
}
END_TEST

START_TEST(messages_that_nobody_reads_are_bounded_in_all)
{
	enum { OBJECTS = 50 };
	struct lqn_causal *causal = lqn_causal_new("host", "6.1.0", ignore, NULL);
	struct lqn_channels *channels = &causal->channels;
	struct lqn_object *objects[OBJECTS];
	uint64_t most = 0;

	for (int i = 0; i < OBJECTS; i++) {
		objects[i] = lqn_object_pin(lqn_object_new(channels, LQN_OBJ_DATAGRAM, 1, NULL));
	}
	for (int64_t ts = 0; ts < LQN_QUEUE_MAX - 1; ts++) {
		for (int i = 0; i < OBJECTS; i++) {
			lqn_channel_send_begin(objects[i], 1, 1000 + ts, 0);
		}
		most = MAX(most, channels->messages);
	}
	/* alone, each of them could have had LQN_QUEUE_MAX */
	ck_assert_uint_ge(most, LQN_MESSAGES_MANY);
	ck_assert_uint_le(most, 3 * LQN_MESSAGES_MANY + OBJECTS * LQN_DOUBT_MAX);
	for (int i = 0; i < OBJECTS; i++) {
		lqn_object_unpin(objects[i]);
	}
	ck_assert_uint_eq(channels->messages, 0);
	lqn_causal_free(causal);
}
END_TEST

/* ---- the sink's ---- */

static struct lqn_analysis *analysis(void)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX };
	struct lqn_analysis *a = lqn_analysis_new(&options);

	lqn_analysis_host(a, "host");
	return a;
}

static void object(struct lqn_analysis *a, uint64_t id, uint64_t peer)
{
	struct lqn_event ev = { .type = LQN_EV_OBJECT, .ts = 1000 };

	ev.object.object = id;
	ev.object.peer = peer;
	ev.object.kind = LQN_OBJ_DATAGRAM;
	ev.object.name = "";
	lqn_analysis_event(a, 0, &ev);
}

START_TEST(messages_that_nobody_receives_are_bounded_in_all)
{
	enum { ENDS = 20, EACH = 20000, ALL = 1 << 18 };
	struct lqn_analysis *a = analysis();

	for (uint64_t i = 0; i < ENDS; i++) {
		object(a, 1 + 2 * i, 2 + 2 * i);
	}
	for (int64_t n = 0; n < EACH; n++) {
		for (uint64_t i = 0; i < ENDS; i++) {
			struct lqn_event ev = { .type = LQN_EV_SEND, .ts = 2000 + 100 * n };

			ev.send.thread = 1;
			ev.send.object = 1 + 2 * i;
			ev.send.seq = 1 + (uint64_t) n;
			ev.send.begin = ev.send.end = ev.ts;
			ev.send.bytes = 1;
			lqn_analysis_event(a, 0, &ev);
		}
	}
	lqn_analysis_end(a);
	ck_assert_uint_ge(a->keep.notes, ALL);
	ck_assert_uint_le(a->keep.notes, ALL + 4 * ENDS);
	lqn_analysis_free(a);
}
END_TEST

START_TEST(a_flow_between_hosts_stays_as_long_as_both_its_processes)
{
	enum { LIVES = 1, GONE = 2 };
	struct lqn_analysis *a = analysis();
	struct lqn_event thread = { .type = LQN_EV_THREAD, .ts = 1000 };
	struct lqn_unit *units[2];
	struct lqn_party *hosts[2];

	lqn_analysis_host(a, "other");
	thread.thread.thread = thread.thread.pid = LIVES;
	thread.thread.comm = thread.thread.exe = "it";
	for (unsigned i = 0; i < 2; i++) {
		lqn_analysis_event(a, i, &thread);
		hosts[i] = a->hosts->pdata[i];
		units[i] = lqn_party_unit(hosts[i], LIVES);
	}
	lqn_sync_flush(a->sync);
	for (unsigned i = 0; i < 2; i++) {
		lqn_roles_count(hosts[i], units[0], units[1]);
		lqn_roles_count(hosts[i], lqn_party_unit(hosts[0], GONE), units[1]);
	}
	for (unsigned round = 0; round < 2; round++) {
		lqn_parties_forget(a);
		for (unsigned i = 0; i < 2; i++) {
			ck_assert_uint_eq(g_hash_table_size(hosts[i]->flows), 1);
			ck_assert(lqn_party_unit(hosts[i], LIVES) == units[i]);
		}
	}
	lqn_analysis_free(a);
}
END_TEST

START_TEST(names_are_bounded)
{
	struct lqn_analysis *a;
	const struct lqn_party *host;
	const struct lqn_actor *last;
	char name[32];

	if (LEAKS_COUNT) {
		return;		/* GLib leaves its old tables of names behind, for threads that still read them */
	}
	a = analysis();
	host = a->hosts->pdata[0];
	for (uint32_t i = 0; i < LQN_NAMES_MAX + 1000; i++) {
		struct lqn_event ev = { .type = LQN_EV_THREAD, .ts = 1000 + i };

		snprintf(name, sizeof(name), "bound-%u", i);
		ev.thread.thread = 1 + i;
		ev.thread.pid = 1 + i;
		ev.thread.comm = name;
		ev.thread.exe = "";
		lqn_analysis_event(a, 0, &ev);
	}
	ck_assert_uint_eq(a->keep.names, LQN_NAMES_MAX);
	ck_assert_uint_gt(a->keep.unnamed, 0);
	last = host->by_age->pdata[host->by_age->len - 1];
	ck_assert_str_eq(last->comm, "others");
	lqn_analysis_free(a);
}
END_TEST

START_TEST(a_chain_of_names_for_one_word_is_gone_through_once)
{
	enum { WORDS = 100000 };
	struct lqn_analysis *a = analysis();
	struct lqn_party *host = a->hosts->pdata[0];

	/* each has turned out to be the next: a chain, unless it is shortened on the way */
	for (uint64_t i = 1; i < WORDS; i++) {
		lqn_word_root(lqn_party_word(host, i))->same = lqn_party_word(host, i + 1);
		ck_assert_ptr_eq(lqn_word_root(lqn_party_word(host, 1)), lqn_party_word(host, i + 1));
	}
	ck_assert_ptr_eq(lqn_party_word(host, 1)->same, lqn_party_word(host, WORDS));
	lqn_analysis_free(a);
}
END_TEST

SUITE("bounds", the_dead_are_forgotten_even_if_nobody_says_that_their_number_is_free,
	messages_that_nobody_reads_are_bounded_in_all, messages_that_nobody_receives_are_bounded_in_all,
	a_flow_between_hosts_stays_as_long_as_both_its_processes, names_are_bounded,
	a_chain_of_names_for_one_word_is_gone_through_once)
