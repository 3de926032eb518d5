/* SPDX-License-Identifier: MIT */
/* Files of spans: what is read of either format, and that nothing in a file is fatal but being something else. */
#include "spans/read.h"

#include <string.h>
#include <unistd.h>

#include "suite.h"

static struct lqn_span_set set;

static bool read_text(const char *text)
{
	GError *error = NULL;
	bool ok;

	lqn_span_set_init(&set);
	ok = lqn_spans_read_bytes(&set, "test", text, strlen(text), &error);
	g_clear_error(&error);
	lqn_span_set_settle(&set);
	return ok;
}

static void done(void)
{
	lqn_span_set_clear(&set);
}

static const struct lqn_file_span *span(guint i)
{
	ck_assert_uint_lt(i, set.spans->len);
	return &g_array_index(set.spans, struct lqn_file_span, i);
}

static void expect_flaws(enum lqn_span_flaw flaw, unsigned count)
{
	ck_assert_msg(set.flaws[flaw].count == count, "%u %s, not %u", (unsigned) set.flaws[flaw].count,
		lqn_span_flaw_text(flaw), count);
}

static void expect_sound(void)
{
	for (unsigned i = 0; i < LQN_SPAN_FLAWS; i++) {
		expect_flaws((enum lqn_span_flaw) i, 0);
	}
}

#define TRACE "0123456789abcdef0011223344556677"
#define OTLP(spans) "{\"resourceSpans\":[{\"resource\":{\"attributes\":[" \
	"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"web\"}}," \
	"{\"key\":\"host.name\",\"value\":{\"stringValue\":\"vm\"}}," \
	"{\"key\":\"process.pid\",\"value\":{\"intValue\":\"4711\"}}]}," \
	"\"scopeSpans\":[{\"scope\":{\"name\":\"s\"},\"spans\":[" spans "]}]}]}\n"
#define SPAN(id, parent, begin, end) "{\"traceId\":\"" TRACE "\",\"spanId\":\"" id "\",\"parentSpanId\":\"" parent "\"," \
	"\"name\":\"n" id "\",\"kind\":2,\"startTimeUnixNano\":" begin ",\"endTimeUnixNano\":" end "," \
	"\"attributes\":[{\"key\":\"thread.id\",\"value\":{\"intValue\":4712}}],\"events\":[{\"name\":\"} ] \\\" {\"}]}"
#define ONE "00000000000000a1"
#define TWO "00000000000000a2"
#define THREE "00000000000000a3"

static void expect_the_span(const struct lqn_file_span *it)
{
	ck_assert_uint_eq(it->trace_high, 0x0123456789abcdef);
	ck_assert_uint_eq(it->trace_low, 0x0011223344556677);
	ck_assert_uint_eq(it->id, 0xa1);
	ck_assert_int_eq(it->begin, 1700000000000001000);
	ck_assert_int_eq(it->end, 1700000000000005000);
	ck_assert_uint_eq(it->kind, LQN_SPAN_SERVER);
	ck_assert_str_eq(it->service, "web");
	ck_assert_str_eq(it->host, "vm");
	ck_assert_int_eq(it->pid, 4711);
	ck_assert_int_eq(it->tid, 4712);
}

START_TEST(otlp_spans_have_their_resources_attributes)
{
	ck_assert(read_text(OTLP(SPAN(ONE, "", "\"1700000000000001000\"", "1700000000000005000"))));
	expect_sound();
	ck_assert_uint_eq(set.spans->len, 1);
	expect_the_span(span(0));
	ck_assert_uint_eq(span(0)->parent, 0);
	ck_assert_str_eq(span(0)->name, "n" ONE);
	done();
}
END_TEST

START_TEST(both_spellings_of_otlp_are_read)
{
	ck_assert(read_text("{\n \"resource_spans\": [ {\n  \"scope_spans\": [ { \"spans\": [ {\n\"trace_id\":\"" TRACE "\",\n"
		"\"span_id\":\"" ONE "\", \"kind\":\"SPAN_KIND_SERVER\", \"start_time_unix_nano\":1700000000000001000,\n"
		"\"end_time_unix_nano\":\"1700000000000005000\", \"attributes\":[{\"key\":\"thread.id\",\"value\":{\"int_value\":4712}}]"
		"} ] } ],\n  \"resource\": {\"attributes\":[{\"key\":\"service.name\",\"value\":{\"string_value\":\"web\"}},"
		"{\"key\":\"host.name\",\"value\":{\"string_value\":\"vm\"}},{\"key\":\"process.pid\",\"value\":{\"int_value\":4711}}]}"
		" } ] }\n"));
	expect_sound();
	expect_the_span(span(0));
	done();
	/* ids in base64, as protocol buffers write bytes */
	ck_assert(read_text(OTLP("{\"traceId\":\"ASNFZ4mrze8AESIzRFVmdw==\",\"spanId\":\"AAAAAAAAAKE=\",\"kind\":2,"
		"\"startTimeUnixNano\":1700000000000001000,\"endTimeUnixNano\":1700000000000005000,"
		"\"attributes\":[{\"key\":\"thread.id\",\"value\":{\"intValue\":4712}}]}")));
	expect_sound();
	expect_the_span(span(0));
	done();
}
END_TEST

START_TEST(jaeger_spans_have_their_processes_tags)
{
	ck_assert(read_text("{\n  \"data\": [\n    {\n      \"traceID\": \"123456789abcdef0011223344556677\",\n      \"spans\": [\n"
		"{\"traceID\":\"123456789abcdef0011223344556677\",\"spanID\":\"a1\",\"operationName\":\"get\","
		"\"references\":[{\"refType\":\"FOLLOWS_FROM\",\"traceID\":\"77\",\"spanID\":\"b\"}],"
		"\"startTime\":1700000000000001,\"duration\":4,\"tags\":[{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"server\"},"
		"{\"key\":\"thread.id\",\"type\":\"int64\",\"value\":4712}],\"processID\":\"p1\"},\n"
		"{\"traceID\":\"123456789abcdef0011223344556677\",\"spanID\":\"a2\",\"operationName\":\"\",\"references\":"
		"[{\"refType\":\"CHILD_OF\",\"traceID\":\"123456789abcdef0011223344556677\",\"spanID\":\"a1\"}],"
		"\"startTime\":1700000000000002,\"duration\":0,\"process\":{\"serviceName\":\"db\",\"tags\":[]}}\n"
		"      ],\n      \"processes\": {\"p1\":{\"serviceName\":\"web\",\"tags\":[{\"key\":\"hostname\",\"value\":\"vm\"},"
		"{\"key\":\"process.pid\",\"value\":4711}]}}\n    }\n  ],\n  \"total\": 0, \"errors\": null\n}\n"));
	expect_sound();
	ck_assert_uint_eq(set.spans->len, 2);
	expect_the_span(span(0));
	ck_assert_uint_eq(span(0)->parent, 0);
	ck_assert_uint_eq(span(0)->links, 1);
	ck_assert_uint_eq(g_array_index(set.links, struct lqn_span_link, 0).trace_low, 0x77);
	ck_assert_uint_eq(g_array_index(set.links, struct lqn_span_link, 0).id, 0xb);
	ck_assert_uint_eq(span(1)->parent, 0xa1);
	ck_assert_uint_eq(span(1)->links, 0);
	ck_assert_str_eq(span(1)->service, "db");
	ck_assert_int_eq(span(1)->tid, -1);
	done();
}
END_TEST

/* What a row of `cases` adds to one sound span, and what becomes of it. */
#define MESSAGE_SPAN(trace, id, kind, more) "{\"traceId\":\"" trace "\",\"spanId\":\"" id "\",\"kind\":" kind "," \
	"\"startTimeUnixNano\":1700000000000001000,\"endTimeUnixNano\":1700000000000005000" more "}"
#define OTHER_TRACE "0123456789abcdef0011223344556688"
#define LINK(trace, id) ",\"links\":[{\"traceId\":\"" trace "\",\"spanId\":\"" id "\"}]"
#define MESSAGE_ID(id) ",\"attributes\":[{\"key\":\"messaging.message.id\",\"value\":{\"stringValue\":\"" id "\"}}]"

START_TEST(who_sent_and_who_received_a_message_have_a_name_for_it)
{
	/* by a link, whether one of them, both, or none of them tell of a name */
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ MESSAGE_SPAN(TRACE, ONE, "4", "") "," MESSAGE_SPAN(OTHER_TRACE, TWO, "5", LINK(TRACE, ONE)), TRACE "-" ONE },
		{ MESSAGE_SPAN(TRACE, ONE, "4", MESSAGE_ID("m1")) "," MESSAGE_SPAN(OTHER_TRACE, TWO, "5", LINK(TRACE, ONE)), "m1" },
		{ MESSAGE_SPAN(TRACE, ONE, "4", "") "," MESSAGE_SPAN(OTHER_TRACE, TWO, "5", LINK(TRACE, ONE) MESSAGE_ID("m1")), "m1" },
		{ MESSAGE_SPAN(TRACE, ONE, "4", MESSAGE_ID("m1")) "," MESSAGE_SPAN(OTHER_TRACE, TWO, "5", MESSAGE_ID("m1")), "m1" },
		/* his child, in the same trace */
		{ MESSAGE_SPAN(TRACE, ONE, "4", "") "," MESSAGE_SPAN(TRACE, TWO, "5", ",\"parentSpanId\":\"" ONE "\""), TRACE "-" ONE },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup_printf(OTLP("%s"), cases[i].text);

		ck_assert(read_text(text));
		expect_sound();
		ck_assert_str_eq(span(0)->message, cases[i].name);
		ck_assert_str_eq(span(1)->message, cases[i].name);
		done();
	}
	/* nothing that is linked with something else is a message */
	ck_assert(read_text(OTLP(MESSAGE_SPAN(TRACE, ONE, "2", "") "," MESSAGE_SPAN(OTHER_TRACE, TWO, "5", LINK(TRACE, ONE)) ","
		MESSAGE_SPAN(OTHER_TRACE, THREE, "5", ",\"links\":[7]"))));
	ck_assert_ptr_null(span(0)->message);
	ck_assert_ptr_null(span(1)->message);
	ck_assert_ptr_null(span(2)->message);
	done();
}
END_TEST

#define ONE_LINK(trace, id) "{\"traceId\":\"" trace "\",\"spanId\":\"" id "\"}"

/* Of the links of one span those count that name who sent: not itself, not who is not there, not what is none. */
START_TEST(a_span_of_a_batch_is_linked_with_all_who_sent)
{
	static const char *const names[] = { TRACE "-" ONE, "m2" };
	unsigned n = 0;

	ck_assert(read_text(OTLP(MESSAGE_SPAN(TRACE, ONE, "4", "") "," MESSAGE_SPAN(TRACE, TWO, "4", MESSAGE_ID("m2")) ","
		MESSAGE_SPAN(OTHER_TRACE, THREE, "5", ",\"links\":[" ONE_LINK(TRACE, ONE) "," ONE_LINK(OTHER_TRACE, THREE)
			",7,{}," ONE_LINK(TRACE, "") "," ONE_LINK(TRACE, "00000000000000a9") "," ONE_LINK(TRACE, TWO) "]"))));
	expect_sound();
	ck_assert_ptr_null(span(2)->message);
	ck_assert_uint_eq(span(2)->links, 4);
	for (guint i = 0; i < set.moments->len; i++) {
		const struct lqn_span_moment *it = &g_array_index(set.moments, struct lqn_span_moment, i);

		if (it->link > 0) {
			const struct lqn_span_moment *before = &g_array_index(set.moments, struct lqn_span_moment, i - 1);

			ck_assert_uint_eq(it->span, 2);
			ck_assert(before->span == 2 && !before->end);
			ck_assert_uint_lt(n, G_N_ELEMENTS(names));
			ck_assert_str_eq(g_array_index(set.links, struct lqn_span_link, it->link - 1).message, names[n]);
			n++;
		}
	}
	ck_assert_uint_eq(n, G_N_ELEMENTS(names));
	done();
}
END_TEST

START_TEST(a_hundred_thousand_links_are_no_trouble)
{
	enum { LINKS = 100000 };
	GString *text = g_string_new("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" MESSAGE_SPAN(TRACE, ONE, "4", "") ",");
	GError *error = NULL;

	g_string_append(text, "{\"traceId\":\"" OTHER_TRACE "\",\"spanId\":\"" TWO "\",\"kind\":5,"
		"\"startTimeUnixNano\":3,\"endTimeUnixNano\":4,\"links\":[7");
	for (unsigned i = 0; i < LINKS; i++) {
		g_string_append(text, "," ONE_LINK(TRACE, ONE));
	}
	g_string_append(text, "]}]}]}]}");
	lqn_span_set_init(&set);
	ck_assert(lqn_spans_read_bytes(&set, "test", text->str, text->len, &error));
	lqn_span_set_settle(&set);
	g_string_free(text, TRUE);
	ck_assert_uint_eq(set.moments->len, 4 + LINKS);
	expect_sound();
	done();
}
END_TEST

START_TEST(what_is_wrong_with_a_span_is_counted)
{
	static const struct {
		const char *text;
		enum lqn_span_flaw flaw;
		unsigned left;
	} cases[] = {
		{ SPAN(ONE, "", "1000", "4000"), LQN_FLAW_DUPLICATE, 2 },
		{ SPAN(TWO, THREE, "1000", "4000"), LQN_FLAW_ORPHAN, 2 },
		{ SPAN(TWO, ONE, "1000", "1999"), LQN_FLAW_EARLY, 2 },
		{ SPAN(TWO, TWO, "2000", "3000"), LQN_FLAW_CYCLE, 2 },
		{ SPAN(TWO, THREE, "2000", "3000") "," SPAN(THREE, TWO, "2000", "3000"), LQN_FLAW_CYCLE, 3 },
		{ SPAN("", "", "2000", "3000"), LQN_FLAW_NO_ID, 1 },
		{ SPAN("0000000000000000", "", "2000", "3000"), LQN_FLAW_NO_ID, 1 },
		{ SPAN("00000000000000g2", "", "2000", "3000"), LQN_FLAW_NO_ID, 1 },
		{ SPAN("100000000000000a2", "", "2000", "3000"), LQN_FLAW_NO_ID, 1 },
		{ SPAN(TWO, "", "0", "3000"), LQN_FLAW_NO_BEGIN, 1 },
		{ SPAN(TWO, "", "\"\"", "3000"), LQN_FLAW_RANGE, 1 },
		{ SPAN(TWO, "", "2000", "0"), LQN_FLAW_NO_END, 1 },
		{ SPAN(TWO, "", "2000", "null"), LQN_FLAW_NO_END, 1 },
		{ SPAN(TWO, "", "3000", "2999"), LQN_FLAW_BACKWARD, 1 },
		{ SPAN(TWO, "", "-5", "3000"), LQN_FLAW_RANGE, 1 },
		{ SPAN(TWO, "", "2000", "9223372036854775807"), LQN_FLAW_RANGE, 1 },
		{ SPAN(TWO, "", "2000", "18446744073709551616"), LQN_FLAW_RANGE, 1 },
		{ SPAN(TWO, "", "2000", "1e400"), LQN_FLAW_RANGE, 1 },
		{ SPAN(TWO, "", "2000", "\"99999999999999999999999\""), LQN_FLAW_RANGE, 1 },
		{ "{\"traceId\":\"" TRACE "\",nonsense}", LQN_FLAW_SYNTAX, 1 },
		{ "{\"traceId\":\"" TRACE "\",\"spanId\":\"" TWO "\",\"name\":\"a\xff\xc0z\",\"startTimeUnixNano\":1,"
			"\"endTimeUnixNano\":2}", LQN_FLAW_TEXT, 2 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strconcat("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[", SPAN(ONE, "", "2000", "5000"), ",",
			cases[i].text, "]}]}]}\n", NULL);

		ck_assert_msg(read_text(text), "case %u", (unsigned) i);
		ck_assert_msg(set.flaws[cases[i].flaw].count == 1, "case %u: %u %s", (unsigned) i,
			(unsigned) set.flaws[cases[i].flaw].count, lqn_span_flaw_text(cases[i].flaw));
		ck_assert_msg(set.moments->len == 2 * (cases[i].flaw == LQN_FLAW_DUPLICATE ? 1 : cases[i].left), "case %u: %u moments",
			(unsigned) i, set.moments->len);
		done();
	}
}
END_TEST

START_TEST(a_line_that_was_cut_off_costs_no_other)
{
	static const char line[] = OTLP(SPAN(ONE, "", "1000", "2000"));
	static const char next[] = OTLP(SPAN(TWO, "", "3000", "4000"));

	/* wherever it is cut: the span of the next line is there, and with it the attributes of its own resource */
	for (size_t len = 1; len < sizeof(line) - 2; len++) {
		g_autofree char *text = g_strdup_printf("%.*s\n%s", (int) len, line, next);
		const struct lqn_file_span *last;

		ck_assert_msg(read_text(text), "%s", text);
		ck_assert_msg(set.spans->len >= 1, "cut at %zu", len);
		last = span(set.spans->len - 1);
		ck_assert_msg(last->id == 0xa2 && last->pid == 4711 && g_strcmp0(last->service, "web") == 0, "cut at %zu", len);
		expect_flaws(LQN_FLAW_CUT, 1);
		done();
		/* and at the end of the file */
		text[len] = '\0';
		read_text(text);
		ck_assert_uint_le(set.spans->len, 1);
		done();
	}
}
END_TEST

START_TEST(what_is_no_file_of_spans_is_refused)
{
	static const char *const texts[] = {
		"hello", "<xml/>", "{}", "[1,2]", "{\"resourceMetrics\":[{\"resource\":{}}]}", "{\"data\":[{\"id\":1}]}",
		"{\"data\":{\"spans\":[]}}", "\"resourceSpans\"", "{\"a\":{\"data\":[{\"spans\":[]}]}}",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		ck_assert_msg(!read_text(texts[i]), "%s", texts[i]);
		done();
	}
	ck_assert(read_text(" \n"));
	ck_assert_uint_eq(set.moments->len, 0);
	done();
	ck_assert(read_text("{\"resourceSpans\":[]}\n"));
	done();
}
END_TEST

START_TEST(begins_and_ends_are_in_order_of_time)
{
	/* in the order in which exporters hand them out: inner ones first */
	static const struct {
		uint64_t id;
		bool end;
	} wanted[] = { { 0xa3, false }, { 0xa2, false }, { 0xa1, false }, { 0xa1, true }, { 0xa2, true }, { 0xa4, false }, { 0xa4, true },
		{ 0xa3, true } };

	ck_assert(read_text(OTLP(SPAN(ONE, TWO, "1000", "3000") "," SPAN(TWO, THREE, "1000", "4000") ","
		SPAN("00000000000000a4", THREE, "4000", "4000") "," SPAN(THREE, "", "1000", "4001"))));
	expect_sound();
	ck_assert_uint_eq(set.moments->len, G_N_ELEMENTS(wanted));
	for (guint i = 0; i < set.moments->len; i++) {
		const struct lqn_span_moment *it = &g_array_index(set.moments, struct lqn_span_moment, i);

		ck_assert_msg(span(it->span)->id == wanted[i].id && it->end == wanted[i].end, "moment %u is of %x", i,
			(unsigned) span(it->span)->id);
	}
	done();
}
END_TEST

START_TEST(a_million_children_are_no_trouble)
{
	enum { CHILDREN = 1000000 };
	GString *text = g_string_new("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[");
	GError *error = NULL;

	g_string_append(text, "{\"traceId\":\"" TRACE "\",\"spanId\":\"a1\",\"startTimeUnixNano\":1,\"endTimeUnixNano\":9999999}");
	for (unsigned i = 0; i < CHILDREN; i++) {
		g_autofree char *parent = i % 2 ? g_strdup_printf("b%07x", i - 1) : g_strdup("a1");

		g_string_append_printf(text, ",{\"traceId\":\"" TRACE "\",\"spanId\":\"b%07x\",\"parentSpanId\":\"%s\","
			"\"startTimeUnixNano\":%u,\"endTimeUnixNano\":%u}", i, parent, i + 2, i + 3);
	}
	g_string_append(text, "]}]}]}");
	lqn_span_set_init(&set);
	ck_assert(lqn_spans_read_bytes(&set, "test", text->str, text->len, &error));
	lqn_span_set_settle(&set);
	g_string_free(text, TRUE);
	ck_assert_uint_eq(set.moments->len, 2 * (CHILDREN + 1));
	expect_sound();
	done();
}
END_TEST

/* ---- whatever it holds ---- */

static uint64_t random_state;

static unsigned below(unsigned n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned) (random_state >> 33) % n;
}

static const char *const seeds[] = {
	OTLP(SPAN(ONE, "", "1000", "2000") "," SPAN(TWO, ONE, "1100", "1900")) OTLP(SPAN(THREE, ONE, "1200", "1300")),
	"{\"data\":[{\"traceID\":\"7\",\"spans\":[{\"traceID\":\"7\",\"spanID\":\"a\",\"operationName\":\"x\",\"startTime\":5,"
		"\"duration\":4,\"references\":[{\"refType\":\"CHILD_OF\",\"traceID\":\"7\",\"spanID\":\"b\"}],"
		"\"tags\":[{\"key\":\"span.kind\",\"value\":\"client\"},{\"key\":\"pid\",\"value\":5}],"
		"\"processID\":\"p1\"}],\"processes\":{\"p1\":{\"serviceName\":\"s\","
		"\"tags\":[{\"key\":\"hostname\",\"value\":\"h\"}]}}}]}",
};

/* Pieces that a mutation puts in. */
static const char *const pieces[] = {
	"{", "}", "[", "]", "\"", "\\", ",", ":", "\n", "null", "-1", "1e308", "18446744073709551615", "\"resourceSpans\":[", "\"spans\":[",
	"\"data\":[", "\"processes\":{", "{\"resourceSpans\":[", "\xff", "\xe2\x82", "[[[[[[[[[[[[[[[[", "{\"a\":{\"a\":{\"a\":", "\\u0000",
};

static void mutate(GString *text)
{
	for (unsigned n = 1 + below(6); n > 0 && text->len > 0; n--) {
		gssize at = (gssize) below((unsigned) text->len);
		const char *piece = pieces[below(G_N_ELEMENTS(pieces))];

		switch (below(5)) {
		case 0:
			text->str[at] = (char) below(256);
			break;
		case 1:
			g_string_erase(text, at, (gssize) below((unsigned) MIN(text->len - (gsize) at, 40)));
			break;
		case 2:
			g_string_insert(text, at, piece);
			break;
		case 3:
			g_string_insert_len(text, at, text->str, (gssize) below((unsigned) text->len));
			break;
		default:
			g_string_truncate(text, (gsize) at);
			break;
		}
	}
}

/* What is kept is sound whatever was read, and the same in however many pieces it came. */
START_TEST(mutated_files_do_no_harm)
{
	const char *seconds = g_getenv("LQN_CHAOS_SEEDS");
	uint64_t rounds = seconds ? g_ascii_strtoull(seconds, NULL, 10) * 100 : 20000;

	random_state = g_getenv("LQN_CHAOS_FIRST") ? g_ascii_strtoull(g_getenv("LQN_CHAOS_FIRST"), NULL, 10) : 1;
	for (uint64_t i = 0; i < rounds; i++) {
		GString *text = g_string_new(seeds[i % G_N_ELEMENTS(seeds)]);
		GError *error = NULL;
		int64_t last = 0;

		mutate(text);
		lqn_span_set_init(&set);
		lqn_spans_read_bytes(&set, "test", text->str, text->len, &error);
		lqn_span_set_settle(&set);
		for (guint k = 0; k < set.moments->len; k++) {
			const struct lqn_span_moment *it = &g_array_index(set.moments, struct lqn_span_moment, k);
			const struct lqn_file_span *of = span(it->span);

			if (it->ts < last || of->begin < 1 || of->end < of->begin || of->id == 0 || of->kind >= LQN_SPAN_KINDS ||
					(of->name && !g_utf8_validate(of->name, -1, NULL))) {
				ck_abort_msg("round %lu: %s", (unsigned long) i, text->str);
			}
			last = it->ts;
		}
		done();
		g_clear_error(&error);
		g_string_free(text, TRUE);
	}
}
END_TEST

START_TEST(objects_may_lie_across_chunks)
{
	GString *text = g_string_new(NULL);
	g_autofree char *path = NULL;
	GError *error = NULL;
	int fd = g_file_open_tmp("lqn-spans-XXXXXX", &path, NULL);

	ck_assert_int_ge(fd, 0);
	for (unsigned i = 0; i < 2000; i++) {
		g_autofree char *name = g_strnfill(i % 977, 'x');

		g_string_append_printf(text, "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{"
			"\"traceId\":\"" TRACE "\",\"spanId\":\"%x\",\"name\":\"%s\","
			"\"startTimeUnixNano\":\"%u\",\"endTimeUnixNano\":\"%u\"}]}]}]}\n", i + 1, name, i + 1, i + 2);
	}
	ck_assert(g_file_set_contents(path, text->str, (gssize) text->len, NULL));
	lqn_span_set_init(&set);
	ck_assert(lqn_spans_are_here(path));
	ck_assert(lqn_spans_read_file(&set, path, &error));
	lqn_span_set_settle(&set);
	expect_sound();
	ck_assert_uint_eq(set.spans->len, 2000);
	ck_assert_uint_eq(strlen(span(900)->name), LQN_SPAN_TEXT_MAX);
	ck_assert_uint_eq(span(1999)->line, 2000);
	done();
	unlink(path);
	close(fd);
	g_string_free(text, TRUE);
}
END_TEST

SUITE("spans", otlp_spans_have_their_resources_attributes, both_spellings_of_otlp_are_read, jaeger_spans_have_their_processes_tags,
	who_sent_and_who_received_a_message_have_a_name_for_it, a_span_of_a_batch_is_linked_with_all_who_sent,
	a_hundred_thousand_links_are_no_trouble,
	what_is_wrong_with_a_span_is_counted, a_line_that_was_cut_off_costs_no_other, what_is_no_file_of_spans_is_refused,
	begins_and_ends_are_in_order_of_time, a_million_children_are_no_trouble, mutated_files_do_no_harm,
	objects_may_lie_across_chunks)
