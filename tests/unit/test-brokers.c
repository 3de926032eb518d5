/* SPDX-License-Identifier: MIT */
/* Messages that a broker passes on: whose they were, and how long they lay there. */
#include "talk.h"

#include "suite.h"

enum { PRODUCER = 1, BROKER = 2, PRODUCER_2 = 3, CONSUMER = 4, CONSUMER_2 = 5 };
enum { MESSAGES = 40 };

static struct talk t;
static struct lqn_model *model;
static struct lqn_path_report *paths;

static void finish(void)
{
	const struct lqn_options options = { .begin = INT64_MIN, .end = INT64_MAX, .whole = true, .clutter = true, .slowest = 1 };
	GError *error = NULL;

	model = talk_model(&t, &options, &paths, &error);
	ck_assert_msg(model != NULL, "%s", error ? error->message : "no model and no error");
	ck_assert_uint_eq(paths->not_tiled, 0);
}

static void done(void)
{
	lqn_model_free(model);
	lqn_path_report_free(paths);
}

/* Producers on descriptors 5 -> 7, 8, consumers on 6 -> 9, 10; all have connected. The broker waits for whatever comes. */
static void start(int producers, int consumers)
{
	talk_start(&t);
	talk_process(&t, BROKER, "broker");
	for (int i = 0; i < producers; i++) {
		talk_process(&t, PRODUCER + 2 * i, "producer");
		talk_connect(&t, PRODUCER + 2 * i, 5, BROKER, 7 + i);
	}
	for (int i = 0; i < consumers; i++) {
		talk_process(&t, CONSUMER + i, i ? "consumer_2" : "consumer");
		talk_connect(&t, CONSUMER + i, 6, BROKER, 9 + i);
	}
	talk_await(&t, BROKER, "epoll_wait", 20);
	for (int i = 0; i < consumers; i++) {
		talk_await(&t, CONSUMER + i, "recvfrom", 6);
	}
}

/* The broker takes a message of so many bytes from `fd`. */
static void take(int fd, int bytes)
{
	feed(t.feed, "%ld c%d +recvfrom %d 4096\n%ld c%d -recvfrom %d", t.now, BROKER, fd, t.now + 1, BROKER, bytes);
	talk_work(&t, 1);
}

static void send(int from, int fd, int bytes, int to, const char *receive, int woken)
{
	long now = t.now++;

	feed(t.feed, "%ld c%d +sendto %d %d", now, from, fd, bytes);
	if (woken) {
		feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R", now, from, to, now, to, to);
	}
	feed(t.feed, "%ld c%d -sendto %d", now + 1, from, bytes);
	if (woken) {
		feed(t.feed, "%ld c%d -%s %d", now + 1, to, receive, bytes);
	}
}

/* The consumer says what it wants, and is told that it will get it. */
static void subscribe(void)
{
	send(CONSUMER, 6, 32, BROKER, "epoll_wait", 1);
	talk_await(&t, CONSUMER, "recvfrom", 6);
	take(9, 32);
	send(BROKER, 9, 16, CONSUMER, "recvfrom", 1);
	talk_await(&t, CONSUMER, "recvfrom", 6);
	talk_await(&t, BROKER, "epoll_wait", 20);
}

static const struct lqn_message_flow *flow(guint n)
{
	ck_assert_uint_lt(n, model->messages->len);
	return &g_array_index(model->messages, struct lqn_message_flow, n);
}

static void near(double value, double us)
{
	ck_assert_msg(value > us * 1e-6 - 3e-6 && value < us * 1e-6 + 3e-6, "%g us, expected %g", value * 1e6, us);
}

START_TEST(what_is_passed_on_in_one_go_is_known_by_its_context)
{
	const struct lqn_message_flow *it;

	start(1, 2);
	for (int i = 0; i < MESSAGES; i++) {
		send(PRODUCER, 5, 64, BROKER, "epoll_wait", 1);
		talk_work(&t, 10);
		take(7, 64);
		talk_work(&t, 30);
		send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
		send(BROKER, 10, 80, CONSUMER_2, "recvfrom", 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 20);
		talk_await(&t, CONSUMER, "recvfrom", 6);
		talk_await(&t, CONSUMER_2, "recvfrom", 6);
		talk_sleep(&t, PRODUCER, 200);
	}
	finish();
	ck_assert_uint_eq(model->messages->len, 2);
	it = flow(0);
	ck_assert_str_eq(it->producer, "producer");
	ck_assert_str_eq(it->broker, "broker");
	ck_assert_str_eq(it->consumer, "consumer");
	ck_assert_uint_eq(it->joined[LQN_JOINED_CONTEXT], MESSAGES - 1);	/* the last one ends the window */
	ck_assert_uint_eq(it->apart, 0);
	ck_assert_double_eq(it->stored, 0);
	near(it->in_broker, 43);
	near(it->p50, 43);
	near(it->service, 22);
	done();
}
END_TEST

/*
 * Two messages come, and one consumer, who takes one at a time, is at the first when the second comes: that is delivered when he
 * asks for more.
 */
START_TEST(what_lay_in_a_broker_is_known_by_order_and_size)
{
	const struct lqn_message_flow *it;
	const struct lqn_path_message *message;
	int64_t stored = 0;

	start(2, 1);
	subscribe();
	for (int i = 0; i < MESSAGES; i++) {
		send(PRODUCER, 5, 64, BROKER, "epoll_wait", 1);
		talk_await(&t, PRODUCER, "recvfrom", 5);
		talk_work(&t, 5);
		take(7, 64);
		talk_work(&t, 10);
		send(BROKER, 7, 12, PRODUCER, "recvfrom", 1);
		send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 5);
		if (i % 5 == 0) {
			/* it stays, for 100 us */
			send(PRODUCER_2, 5, 64, BROKER, "epoll_wait", 1);
			talk_await(&t, PRODUCER_2, "recvfrom", 5);
			take(8, 64);
			talk_work(&t, 5);
			send(BROKER, 8, 12, PRODUCER_2, "recvfrom", 1);
			talk_await(&t, BROKER, "epoll_wait", 20);
			talk_work(&t, 100);
		}
		send(CONSUMER, 6, 8, BROKER, "epoll_wait", 1);
		talk_await(&t, CONSUMER, "recvfrom", 6);
		take(9, 8);
		if (i % 5 == 0) {
			talk_work(&t, 5);
			send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
			talk_await(&t, BROKER, "epoll_wait", 20);
			talk_work(&t, 20);
			send(CONSUMER, 6, 8, BROKER, "epoll_wait", 1);
			talk_await(&t, CONSUMER, "recvfrom", 6);
			take(9, 8);
		}
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_sleep(&t, PRODUCER, 200);
		talk_sleep(&t, PRODUCER_2, 10);
	}
	finish();
	ck_assert_uint_eq(model->messages->len, 1);
	it = flow(0);
	ck_assert_uint_eq(it->joined[LQN_JOINED_CONTEXT], MESSAGES - 1);
	ck_assert_uint_eq(it->joined[LQN_JOINED_ORDER], MESSAGES / 5);
	ck_assert_uint_eq(it->apart, 0);
	near(it->stored, 103.0 / 6);
	message = &g_array_index(paths->messages, struct lqn_path_message, 0);
	for (guint i = 0; i < message->slowest->pieces->len; i++) {
		const struct lqn_path_piece *piece = &g_array_index(message->slowest->pieces, struct lqn_path_piece, i);

		stored += piece->kind == LQN_PATH_BROKER ? piece->end - piece->begin : 0;
	}
	near((double) stored / 1e9, 103);
	done();
}
END_TEST

/* A trace may begin with messages in the broker: the first deliveries are nobody's that is known. */
START_TEST(what_was_published_before_the_trace_is_nobodys)
{
	const struct lqn_message_flow *it;

	start(1, 1);
	for (int i = 0; i < 3; i++) {
		send(CONSUMER, 6, 8, BROKER, "epoll_wait", 0);
		talk_await(&t, CONSUMER, "recvfrom", 6);
		feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R\n%ld c%d -epoll_wait 1", t.now, CONSUMER, BROKER, t.now, BROKER, BROKER, t.now,
			BROKER);
		take(9, 8);
		send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 10);
	}
	talk_await(&t, CONSUMER, "recvfrom", 6);
	for (int i = 0; i < MESSAGES; i++) {
		send(PRODUCER, 5, 64, BROKER, "epoll_wait", 1);
		take(7, 64);
		talk_work(&t, 30);
		send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 20);
		talk_await(&t, CONSUMER, "recvfrom", 6);
		talk_sleep(&t, PRODUCER, 200);
	}
	finish();
	ck_assert_uint_eq(model->messages->len, 1);
	it = flow(0);
	ck_assert_uint_eq(it->joined[LQN_JOINED_CONTEXT] + it->joined[LQN_JOINED_ORDER], MESSAGES - 1);
	done();
}
END_TEST

static bool named;	/* messages have names; else who has one names who sent it as its parent */

/* A span of that kind begins or ends. */
static void tell(int thread, const char *kind, int id, bool begin)
{
	bool sent = kind[0] == 'p';
	g_autofree char *text = g_strdup_printf("span thread=%d trace=%d span=%d parent=%d message=%d at=%ldu begin=%d kind=%s name=x",
		thread, named && sent ? 10000 + id : id, sent ? 1 : 2, sent || named ? 0 : 1, named ? id : 0, t.now, begin, kind);
	struct lqn_event ev = feed_parse_event(text);

	g_array_append_val(t.events, ev);
}

static void publish(int from, int fd, int id)
{
	tell(from, "producer", id, true);
	send(from, 5, 64, BROKER, "epoll_wait", 1);
	take(fd, 64);
	tell(from, "producer", id, false);
	talk_work(&t, 10);
}

static void deliver(int id)
{
	send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
	talk_work(&t, 2);
	tell(CONSUMER, "consumer", id, true);
	talk_work(&t, 20);
	tell(CONSUMER, "consumer", id, false);
	talk_await(&t, CONSUMER, "recvfrom", 6);
	talk_work(&t, 10);
}

/* The broker prefers the second producer: neither context nor order tells whose a delivery is. */
static void prefers_the_second(void)
{
	uint64_t by_spans = 0;

	start(2, 1);
	for (int i = 0; i < MESSAGES; i++) {
		publish(PRODUCER, 7, 2 * i + 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 100);
		publish(PRODUCER_2, 8, 2 * i + 2);
		deliver(2 * i + 2);
		deliver(2 * i + 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_sleep(&t, PRODUCER, 200);
		talk_sleep(&t, PRODUCER_2, 10);
	}
	finish();
	for (guint i = 0; i < model->messages->len; i++) {
		by_spans += flow(i)->joined[LQN_JOINED_SPANS];
		ck_assert_uint_eq(flow(i)->joined[LQN_JOINED_ORDER] + flow(i)->joined[LQN_JOINED_CONTEXT], 0);
	}
	ck_assert_uint_ge(by_spans, 2 * MESSAGES - 2);
	/* the first lay in the broker while the second came, and was delivered */
	ck_assert_double_gt(flow(0)->max, 120e-6);
	done();
}

START_TEST(spans_of_producer_and_consumer_name_the_message)
{
	named = false;
	prefers_the_second();
}
END_TEST

START_TEST(a_name_of_a_message_joins_spans_of_two_traces)
{
	named = true;
	prefers_the_second();
}
END_TEST

SUITE("brokers", spans_of_producer_and_consumer_name_the_message, a_name_of_a_message_joins_spans_of_two_traces,
	 what_is_passed_on_in_one_go_is_known_by_its_context, what_lay_in_a_broker_is_known_by_order_and_size,
	what_was_published_before_the_trace_is_nobodys)
