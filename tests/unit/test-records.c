/* SPDX-License-Identifier: MIT */
/* What is told through a file: the same comes out, in the order of one muxer; and nothing of what is damaged is believed. */
#include "records/format.h"
#include "records/merge.h"
#include "records/write.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define FILES 3

static char *parent;
static GPtrArray *paths;	/* of the files that have been begun */
static struct lqn_writer *writers[FILES];
static struct lqn_told_class classes[FILES][2];

static void set_up(void)
{
	parent = g_dir_make_tmp("lqn-records-XXXXXX", NULL);
	paths = g_ptr_array_new_with_free_func(g_free);
	memset(classes, 0, sizeof(classes));
	for (unsigned i = 0; i < FILES; i++) {
		classes[i][0].name = "sched_switch";
		classes[i][1].name = "app:phase";
		classes[i][1].id = 7;
	}
}

static void tear_down(void)
{
	for (guint i = 0; i < paths->len; i++) {
		g_unlink(paths->pdata[i]);
	}
	g_rmdir(parent);
	g_ptr_array_free(paths, TRUE);
	g_free(parent);
}

/* ---- writing ------------------------------------------------------------- */

static unsigned begin(void)
{
	char *problem = NULL;
	const unsigned i = paths->len;

	g_ptr_array_add(paths, g_strdup_printf("%s/%u", parent, i));
	writers[i] = lqn_writer_new(paths->pdata[i], &problem);
	ck_assert_msg(writers[i] != NULL, "%s", problem);
	return i;
}

static void put(unsigned i, struct lqn_told *told)
{
	char *problem = NULL;

	ck_assert_msg(lqn_writer_put(writers[i], told, &problem), "%s", problem);
}

static void end(unsigned i)
{
	char *problem = NULL;

	ck_assert_msg(lqn_writer_end(writers[i], 10 * (i + 1), &problem), "%s", problem);
	lqn_writer_free(writers[i]);
}

static struct lqn_told_stream a_stream(uint64_t id)
{
	return (struct lqn_told_stream) {
		.has_uuid = true, .uuid = { 1, 2, 3 }, .trace = (char *) "kernel", .class_id = 1, .id = id,
		.host = (char *) "h", .domain = (char *) "kernel",
		.kernel = true, .packets = true, .switches = true, .dated = true, .epoch = true,
	};
}

static void put_bare(unsigned i, struct lqn_told_stream *stream, enum lqn_told_type type, int64_t ts)
{
	put(i, &(struct lqn_told) { .type = type, .stream = stream, .ts = ts });
}

static void put_switch(unsigned i, struct lqn_told_stream *stream, int64_t ts, int32_t tid)
{
	struct lqn_told told = { .type = LQN_TOLD_KERNEL, .stream = stream, .ts = ts };

	told.event.class = &classes[i][0];
	told.event.rec = (struct lqn_record) { .ts = ts, .type = LQN_REC_SWITCH, .cpu = (int32_t) stream->id, .tid = -1 };
	told.event.rec.sw.next_tid = tid;
	put(i, &told);
}

static void put_mark(unsigned i, struct lqn_told_stream *stream, int64_t ts, const char *text, bool first)
{
	struct lqn_told told = { .type = LQN_TOLD_MARK, .stream = stream, .ts = ts };

	told.event.class = &classes[i][1];
	told.event.first = first;
	told.event.rec = (struct lqn_record) { .ts = ts, .type = LQN_REC_OTHER, .cpu = -1, .tid = 5, .text = g_strdup(text) };
	put(i, &told);
}

/* ---- reading ------------------------------------------------------------- */

static struct lqn_merge *open_all(void)
{
	char *problem = NULL;
	struct lqn_merge *merge = lqn_merge_new(paths, &problem);

	ck_assert_msg(merge != NULL, "%s", problem);
	return merge;
}

static struct lqn_told *next(struct lqn_merge *merge)
{
	char *problem = NULL;
	struct lqn_told *told = NULL;

	ck_assert_msg(lqn_merge_next(merge, &told, &problem) == LQN_READ_OK, "%s", problem);
	return told;
}

static void expect_end(struct lqn_merge *merge)
{
	char *problem = NULL;
	struct lqn_told *told;

	ck_assert_int_eq(lqn_merge_next(merge, &told, &problem), LQN_READ_END);
}

/* Reads all there is, whatever it is. What is wrong with it, or NULL. */
static char *read_all(void)
{
	struct lqn_merge *merge = open_all();
	enum lqn_read_status status;
	struct lqn_told *told;
	char *problem = NULL;

	do {
		status = lqn_merge_next(merge, &told, &problem);
		if (status == LQN_READ_OK && lqn_told_is_event(told->type)) {
			ck_assert_ptr_nonnull(told->event.rec.name);
			ck_assert_int_lt(told->event.rec.type, LQN_REC_COUNT);
		}
	} while (status == LQN_READ_OK);
	ck_assert(status == LQN_READ_END || status == LQN_READ_BAD);
	lqn_merge_free(merge);
	return problem;
}

static void overwrite(const void *bytes, size_t n)
{
	ck_assert(g_file_set_contents(paths->pdata[0], bytes, (gssize) n, NULL));
}

static void refuse(const void *bytes, size_t n, const char *what)
{
	char *problem;

	overwrite(bytes, n);
	problem = read_all();
	ck_assert_ptr_nonnull(problem);
	ck_assert_msg(strstr(problem, what) != NULL, "no `%s` in: %s", what, problem);
	g_free(problem);
}

/* ---- tests --------------------------------------------------------------- */

START_TEST(what_is_told_comes_out)
{
	struct lqn_told_stream stream = a_stream(3);
	const unsigned i = begin();
	struct lqn_told told = { .type = LQN_TOLD_SPAN, .stream = &stream, .ts = 30 };
	struct lqn_merge *merge;
	struct lqn_told *got;

	stream.release = (char *) "6.1";
	put_bare(i, &stream, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
	put(i, &(struct lqn_told) { .type = LQN_TOLD_PACKET, .stream = &stream, .ts = 10, .cpu = 4 });
	put_switch(i, &stream, 20, 100);
	told.event.class = &classes[i][1];
	told.event.of_file = true;
	told.event.host = "other";
	told.event.rec = (struct lqn_record) { .ts = 30, .type = LQN_REC_SPAN_BEGIN, .kind = 2, .cpu = -1, .tid = 8 };
	told.event.rec.span.span = 77;
	told.event.rec.span.service = 5;
	told.event.rec.text = g_memdup2("page\0web", 9);
	put(i, &told);
	told = (struct lqn_told) { .type = LQN_TOLD_LOSS, .stream = &stream, .ts = 40, .loss = { 50, 6 } };
	put(i, &told);
	put_bare(i, &stream, LQN_TOLD_PACKET_END, 60);
	put_bare(i, &stream, LQN_TOLD_STREAM_END, LQN_TOLD_UNDATED);
	put(i, &(struct lqn_told) { .type = LQN_TOLD_TIME, .ts = 70 });
	end(i);

	merge = open_all();
	got = next(merge);
	ck_assert_int_eq(got->type, LQN_TOLD_STREAM);
	ck_assert(got->ts == LQN_TOLD_UNDATED && lqn_told_stream_compare(got->stream, &stream) == 0);
	ck_assert_str_eq(got->stream->host, "h");
	ck_assert_str_eq(got->stream->release, "6.1");
	ck_assert(got->stream->kernel && got->stream->packets && got->stream->switches && got->stream->dated &&
		got->stream->epoch);
	got = next(merge);
	ck_assert(got->type == LQN_TOLD_PACKET && got->ts == 10 && got->cpu == 4);
	got = next(merge);
	ck_assert(got->type == LQN_TOLD_KERNEL && got->event.rec.ts == 20 && got->event.rec.cpu == 3);
	ck_assert(got->event.rec.sw.next_tid == 100 && !got->event.rec.text && !got->event.host);
	ck_assert_str_eq(got->event.rec.name, "sched_switch");
	got = next(merge);
	ck_assert(got->type == LQN_TOLD_SPAN && got->event.of_file && got->event.rec.span.span == 77);
	ck_assert(got->event.rec.kind == 2 && got->event.rec.tid == 8 && got->event.class->id == 7);
	ck_assert_str_eq(got->event.host, "other");
	ck_assert_str_eq(got->event.rec.text, "page");
	ck_assert_str_eq(got->event.rec.text + got->event.rec.span.service, "web");
	got = next(merge);
	ck_assert(got->type == LQN_TOLD_LOSS && got->ts == 40 && got->loss.end == 50 && got->loss.count == 6);
	ck_assert_int_eq(next(merge)->type, LQN_TOLD_PACKET_END);
	ck_assert_int_eq(next(merge)->type, LQN_TOLD_STREAM_END);
	expect_end(merge);
	ck_assert_int_eq(lqn_merge_last(merge), 70);
	ck_assert_uint_eq(lqn_merge_events(merge), 10);
	lqn_merge_free(merge);
}
END_TEST

START_TEST(a_record_of_each_type_comes_out)
{
	struct lqn_told_stream stream = a_stream(0);
	struct lqn_record sent[LQN_REC_COUNT];
	const unsigned i = begin();
	struct lqn_merge *merge;

	memset(sent, 0, sizeof(sent));
	put_bare(i, &stream, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
	for (unsigned type = 0; type < LQN_REC_COUNT; type++) {
		struct lqn_record *rec = &sent[type];
		const bool span = lqn_record_is_span(type);
		struct lqn_told told = { .type = span ? LQN_TOLD_SPAN : type == LQN_REC_OTHER ? LQN_TOLD_MARK : LQN_TOLD_KERNEL,
			.stream = &stream, .ts = type };

		*rec = (struct lqn_record) { .ts = type, .type = (uint8_t) type, .kind = 1, .cpu = 2, .tid = 3 };
		memset(&rec->sw, 0x11, lqn_record_body(rec));
		if (type == LQN_REC_CALL_EXIT) {
			rec->exit.n_fds = LQN_RECORD_FDS;
			memset(rec->exit.fd, 0x22, sizeof(rec->exit.fd));
		} else if (span) {
			rec->span.service = 0;
		}
		told.event.class = &classes[i][0];
		told.event.rec = *rec;
		put(i, &told);
	}
	end(i);
	merge = open_all();
	next(merge);
	for (unsigned type = 0; type < LQN_REC_COUNT; type++) {
		struct lqn_record got = next(merge)->event.rec, wanted = sent[type];

		ck_assert_str_eq(got.name, "sched_switch");
		got.name = NULL;
		/* texts of a fixed length are closed */
		if (type == LQN_REC_SWITCH) {
			wanted.sw.prev_comm[LQN_COMM_LEN - 1] = wanted.sw.next_comm[LQN_COMM_LEN - 1] = '\0';
		} else if (type == LQN_REC_FORK) {
			wanted.fork.child_comm[LQN_COMM_LEN - 1] = '\0';
		} else if (type == LQN_REC_CONTEXT_ENTRY || type == LQN_REC_CONTEXT_EXIT ||
				type == LQN_REC_SOFTIRQ_RAISE || type == LQN_REC_STATE_IRQ) {
			wanted.irq.name[LQN_COMM_LEN - 1] = '\0';
		}
		ck_assert_msg(memcmp(&got, &wanted, sizeof(got)) == 0, "type %u", type);
	}
	expect_end(merge);
	lqn_merge_free(merge);
}
END_TEST

START_TEST(times_and_then_streams_give_the_order)
{
	/* of which file, the id of a stream, and when; the order that is wanted is that of the table */
	static const struct {
		unsigned file;
		uint64_t id;
		int64_t ts;
	} wanted[] = {
		{ 1, 0, 10 }, { 0, 1, 10 }, { 2, 2, 10 }, { 0, 1, 11 }, { 2, 2, 12 }, { 2, 2, 12 }, { 1, 0, 13 }, { 0, 1, 13 },
		{ 1, 0, 14 }, { 1, 0, 15 }, { 1, 0, 20 }, { 0, 1, 20 }, { 0, 1, 20 }, { 2, 2, 20 },
	};
	struct lqn_told_stream streams[FILES];
	struct lqn_merge *merge;

	for (unsigned i = 0; i < FILES; i++) {
		begin();
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(wanted); i++) {
		struct lqn_told_stream *stream = &streams[wanted[i].id];

		if (wanted[i].ts == 10) {
			*stream = a_stream(wanted[i].id);
			put_bare(wanted[i].file, stream, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
		}
		put_switch(wanted[i].file, stream, wanted[i].ts, (int32_t) i);
	}
	for (unsigned i = 0; i < FILES; i++) {
		end(i);
	}
	merge = open_all();
	for (uint64_t id = 0; id < FILES; id++) {
		const struct lqn_told *told = next(merge);

		ck_assert(told->type == LQN_TOLD_STREAM && told->stream->id == id);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(wanted); i++) {
		const struct lqn_told *told = next(merge);

		ck_assert_int_eq(told->event.rec.sw.next_tid, (int32_t) i);
		ck_assert(told->stream->id == wanted[i].id && told->ts == wanted[i].ts);
	}
	expect_end(merge);
	lqn_merge_free(merge);
}
END_TEST

START_TEST(what_has_no_time_comes_at_once)
{
	struct lqn_told_stream a = a_stream(1), b = a_stream(2);
	struct lqn_merge *merge;

	begin();
	begin();
	put_bare(0, &a, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
	put_switch(0, &a, 10, 1);
	put_bare(0, &a, LQN_TOLD_STREAM_END, LQN_TOLD_UNDATED);
	put_bare(1, &b, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
	put_switch(1, &b, 11, 2);
	end(0);
	end(1);
	merge = open_all();
	next(merge);
	next(merge);
	ck_assert_int_eq(next(merge)->ts, 10);
	ck_assert_int_eq(next(merge)->type, LQN_TOLD_STREAM_END);
	ck_assert_int_eq(next(merge)->ts, 11);
	expect_end(merge);
	lqn_merge_free(merge);
}
END_TEST

START_TEST(streams_are_ordered_as_by_the_muxer)
{
	struct lqn_told_stream a = a_stream(1), b = a_stream(1);

	ck_assert_int_eq(lqn_told_stream_compare(&a, &b), 0);
	b.id = 2;
	ck_assert_int_lt(lqn_told_stream_compare(&a, &b), 0);
	a.class_id = 9;
	ck_assert_int_gt(lqn_told_stream_compare(&a, &b), 0);
	b.trace = (char *) "ust";
	ck_assert_int_lt(lqn_told_stream_compare(&a, &b), 0);
	a.trace = NULL;
	ck_assert_int_gt(lqn_told_stream_compare(&a, &b), 0);
	b.uuid[0] = 2;
	ck_assert_int_lt(lqn_told_stream_compare(&a, &b), 0);
	a.has_uuid = false;
	ck_assert_int_gt(lqn_told_stream_compare(&a, &b), 0);
}
END_TEST

START_TEST(marks_are_counted_over_all)
{
	struct lqn_told_stream streams[2] = { a_stream(0), a_stream(1) };
	struct lqn_merge *merge;
	unsigned n = 0;
	enum lqn_read_status status;
	struct lqn_told *told;
	char *problem = NULL;

	for (unsigned i = 0; i < 2; i++) {
		begin();
		streams[i].kernel = false;
		put_bare(i, &streams[i], LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
		for (int64_t k = 0; k < LQN_MARK_EVENTS; k++) {
			put_mark(i, &streams[i], 2 * k + i, "a", true);
			put_mark(i, &streams[i], 2 * k + i, "b", false);
		}
		put_switch(i, &streams[i], 3 * LQN_MARK_EVENTS, 1);
		end(i);
	}
	merge = open_all();
	while ((status = lqn_merge_next(merge, &told, &problem)) == LQN_READ_OK) {
		if (told->type == LQN_TOLD_MARK) {
			ck_assert_int_lt(told->ts, LQN_MARK_EVENTS);
			ck_assert_str_eq(told->event.rec.text, told->event.first ? "a" : "b");
			n++;
		}
	}
	ck_assert_int_eq(status, LQN_READ_END);
	ck_assert_uint_eq(n, 2 * LQN_MARK_EVENTS);
	lqn_merge_free(merge);
}
END_TEST

START_TEST(clocks_of_different_origins_are_refused)
{
	struct lqn_told_stream a = a_stream(1), b = a_stream(2);
	char *problem;

	b.epoch = false;
	begin();
	begin();
	put_bare(0, &a, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
	put_bare(1, &b, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
	end(0);
	end(1);
	problem = read_all();
	ck_assert(problem && strstr(problem, "different origins"));
	g_free(problem);
}
END_TEST

/* A file with something of everything. */
static char *sample(size_t *n)
{
	struct lqn_told_stream stream = a_stream(3);
	char *bytes;

	begin();
	put_bare(0, &stream, LQN_TOLD_STREAM, LQN_TOLD_UNDATED);
	put(0, &(struct lqn_told) { .type = LQN_TOLD_PACKET, .stream = &stream, .ts = 10, .cpu = 4 });
	for (int64_t ts = 20; ts < 60; ts += 2) {
		struct lqn_told told = { .type = LQN_TOLD_SPAN, .stream = &stream, .ts = ts };

		put_switch(0, &stream, ts, 100);
		put_mark(0, &stream, ts, "a mark", true);
		told.event.class = &classes[0][1];
		told.event.host = "other";
		told.event.rec = (struct lqn_record) { .ts = ts, .type = LQN_REC_SPAN_END, .cpu = -1, .tid = 8 };
		told.event.rec.span.service = 5;
		told.event.rec.text = g_memdup2("page\0web", 9);
		put(0, &told);
	}
	put_bare(0, &stream, LQN_TOLD_PACKET_END, 60);
	put_bare(0, &stream, LQN_TOLD_STREAM_END, LQN_TOLD_UNDATED);
	end(0);
	ck_assert(g_file_get_contents(paths->pdata[0], &bytes, n, NULL));
	return bytes;
}

START_TEST(what_is_cut_off_is_refused)
{
	size_t n;
	char *bytes = sample(&n);

	for (size_t len = 0; len < n; len += len < 300 ? 1 : 37) {
		refuse(bytes, len, "cut off");
	}
	g_free(bytes);
}
END_TEST

START_TEST(what_another_has_written_is_refused)
{
	size_t n;
	char *bytes = sample(&n);

	bytes[0] ^= 1;
	refuse(bytes, n, "no records of sink.lqn.records");
	bytes[0] ^= 1;
	for (size_t i = sizeof(lqn_records_head.magic); i < sizeof(lqn_records_head); i++) {
		bytes[i] ^= 1;
		refuse(bytes, n, "another build");
		bytes[i] ^= 1;
	}
	g_free(bytes);
}
END_TEST

START_TEST(what_is_damaged_is_refused_or_read)
{
	size_t n;
	char *bytes = sample(&n);
	GRand *rand = g_rand_new_with_seed(1);
	unsigned refused = 0;

	/* each 32 bits of it, as what may be too large, and at random */
	for (size_t at = sizeof(lqn_records_head); at + 4 <= n; at += 4) {
		for (unsigned how = 0; how < 4; how++) {
			const guint32 values[] = { UINT32_MAX, 0, 0x7fffffff, g_rand_int(rand) };
			char old[4], *problem;

			memcpy(old, bytes + at, 4);
			memcpy(bytes + at, &values[how], 4);
			overwrite(bytes, n);
			problem = read_all();
			refused += problem != NULL;
			g_free(problem);
			memcpy(bytes + at, old, 4);
		}
	}
	ck_assert_uint_gt(refused, n / 16);
	g_rand_free(rand);
	g_free(bytes);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("records");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	SUITE_TESTS(tcase, what_is_told_comes_out, a_record_of_each_type_comes_out, times_and_then_streams_give_the_order,
		what_has_no_time_comes_at_once, streams_are_ordered_as_by_the_muxer, marks_are_counted_over_all,
		clocks_of_different_origins_are_refused, what_is_cut_off_is_refused, what_another_has_written_is_refused,
		what_is_damaged_is_refused_or_read);
	return suite_run("records", tcase);
}
