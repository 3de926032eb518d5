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
	long begin = t.now++, now = t.now;

	feed(t.feed, "%ld c%d +sendto %d %d", begin, from, fd, bytes);
	if (woken) {
		feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R", now, from, to, now, to, to);
	}
	feed(t.feed, "%ld c%d -sendto %d", now, from, bytes);
	if (woken) {
		feed(t.feed, "%ld c%d -%s %d", now, to, receive, bytes);
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

static void near_us(double value, double us)
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
	near_us(it->in_broker, 43);
	near_us(it->p50, 43);
	near_us(it->service, 22);
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
	near_us(it->stored, 103.0 / 6);
	message = &g_array_index(paths->messages, struct lqn_path_message, 0);
	for (guint i = 0; i < message->slowest->pieces->len; i++) {
		const struct lqn_path_piece *piece = &g_array_index(message->slowest->pieces, struct lqn_path_piece, i);

		stored += piece->kind == LQN_PATH_BROKER ? piece->end - piece->begin : 0;
	}
	near_us((double) stored / 1e9, 103);
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
		feed(t.feed, "%ld c%d wk %d\n%ld c%d sw 0>%d R\n"
			"%ld c%d -epoll_wait 1", t.now, CONSUMER, BROKER, t.now, BROKER, BROKER, t.now,
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

static void tell_of(int span, int message)
{
	g_autofree char *text = g_strdup_printf("span_message trace=%d span=2 message=%d at=%ldu", span, message, t.now);
	struct lqn_event ev = feed_parse_event(text);

	g_array_append_val(t.events, ev);
}

/* Three messages are delivered at once; the consumer has one span for them. */
START_TEST(one_span_may_be_of_several_messages)
{
	const struct lqn_message_flow *it;

	start(1, 1);
	named = true;
	for (int i = 0; i < MESSAGES; i++) {
		for (int k = 1; k <= 3; k++) {
			publish(PRODUCER, 7, 3 * i + k);
			talk_await(&t, BROKER, "epoll_wait", 20);
			talk_work(&t, 100);
		}
		feed(t.feed, "%ld c2 wk 2\n%ld c2 sw 0>2 R\n%ld c2 -epoll_wait 1", t.now, t.now, t.now);
		send(BROKER, 9, 240, CONSUMER, "recvfrom", 1);
		talk_work(&t, 2);
		tell(CONSUMER, "consumer", 3 * i + 1, true);
		tell_of(3 * i + 1, 3 * i + 2);
		tell_of(3 * i + 1, 3 * i + 3);
		talk_work(&t, 20);
		tell(CONSUMER, "consumer", 3 * i + 1, false);
		talk_await(&t, CONSUMER, "recvfrom", 6);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_sleep(&t, PRODUCER, 200);
	}
	finish();
	ck_assert_uint_eq(model->messages->len, 1);
	it = flow(0);
	ck_assert_uint_ge(it->joined[LQN_JOINED_SPANS], 3 * MESSAGES - 3);
	ck_assert_uint_eq(it->joined[LQN_JOINED_ORDER] + it->joined[LQN_JOINED_CONTEXT], 0);
	done();
}
END_TEST

/* ---- who fetches ---- */

enum { ASKS = 30, ANSWER = 4 };

/* The consumer asks for a message, and waits; so does the broker, which has none. */
static void fetch(void)
{
	send(CONSUMER, 6, ASKS, BROKER, "epoll_wait", 1);
	talk_await(&t, CONSUMER, "recvfrom", 6);
	take(9, ASKS);
	talk_await(&t, BROKER, "epoll_wait", 20);
	talk_work(&t, 50);
}

/* Somebody sends the broker, which waits, so many bytes, and has an answer. */
static void tell_broker(int from, int own_fd, int fd, int bytes)
{
	send(from, own_fd, bytes, BROKER, "epoll_wait", 1);
	talk_await(&t, from, "recvfrom", own_fd);
	take(fd, bytes);
	talk_work(&t, 5);
	send(BROKER, fd, ANSWER, from, "recvfrom", 1);
}

/* The consumer asks for a message when one lies there. */
static void fetch_at_once(void)
{
	send(CONSUMER, 6, ASKS, BROKER, "epoll_wait", 1);
	talk_await(&t, CONSUMER, "recvfrom", 6);
	take(9, ASKS);
	send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
	talk_await(&t, BROKER, "epoll_wait", 20);
}

static void start_fetching(int producers)
{
	start(producers, 0);
	talk_process(&t, CONSUMER, "consumer");
	talk_connect(&t, CONSUMER, 6, BROKER, 9);
}

/* A consumer asks for each message, does what else he has to do with the broker, and waits in vain at times. */
START_TEST(who_fetches_has_what_is_published_since)
{
	const struct lqn_message_flow *it;

	start_fetching(1);
	fetch();
	for (int i = 0; i < MESSAGES; i++) {
		if (i % 4 == 0) {
			talk_work(&t, 1000);	/* the time that he gives is longer than it takes else */
			feed(t.feed, "%ld c2 +hrtimer 1\n%ld c2 wk 2\n%ld c2 -hrtimer 1\n%ld c2 sw 0>2 R\n"
				"%ld c2 -epoll_wait 0", t.now, t.now,
				t.now, t.now, t.now);
			talk_work(&t, 2);
			send(BROKER, 9, 5, CONSUMER, "recvfrom", 1);
			talk_await(&t, BROKER, "epoll_wait", 20);
			talk_work(&t, 5);
			fetch();
		}
		tell_broker(PRODUCER, 5, 7, 64);
		send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 40);
		tell_broker(CONSUMER, 6, 9, 16);
		talk_await(&t, BROKER, "epoll_wait", 20);
		fetch();
		talk_sleep(&t, PRODUCER, 200);
	}
	finish();
	ck_assert_uint_eq(model->messages->len, 1);
	it = flow(0);
	ck_assert_str_eq(it->producer, "producer");
	ck_assert_str_eq(it->consumer, "consumer");
	ck_assert_uint_eq(it->joined[LQN_JOINED_CONTEXT], MESSAGES - 1);
	ck_assert_uint_eq(it->joined[LQN_JOINED_ORDER] + it->apart, 0);
	ck_assert_double_eq(it->stored, 0);
	ck_assert_int_eq(talk_task(model, "consumer")->kind, LQN_TASK_SERVER);
	near_us(talk_entry(model, "consumer")->phase[0].demand, 46);
	ck_assert_int_eq(talk_task(model, "producer")->kind, LQN_TASK_CLIENT);
	done();
}
END_TEST

/* While the consumer is at a message, another comes, and lies there for 150 us. */
START_TEST(what_lay_there_is_had_by_who_asks_next)
{
	uint64_t contexts = 0, orders = 0;

	start_fetching(2);
	for (int i = 0; i < MESSAGES; i++) {
		fetch();
		tell_broker(PRODUCER, 5, 7, 64);
		send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 10);
		tell_broker(PRODUCER_2, 5, 8, 64);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 150);
		fetch_at_once();
		talk_work(&t, 20);
		talk_sleep(&t, PRODUCER, 200);
		talk_sleep(&t, PRODUCER_2, 10);
	}
	finish();
	for (guint i = 0; i < model->messages->len; i++) {
		contexts += flow(i)->joined[LQN_JOINED_CONTEXT];
		orders += flow(i)->joined[LQN_JOINED_ORDER];
	}
	ck_assert_uint_ge(contexts, MESSAGES - 1);
	ck_assert_uint_ge(orders, MESSAGES - 1);
	near_us(flow(0)->stored, 151.0 / 2);
	/* the broker passes on as much as it takes, and nobody calls because he has asked for more */
	ck_assert_double_eq_tol(talk_calls(talk_entry(model, "broker"), talk_entry(model, "consumer"), LQN_ASYNC), 1, 0.05);
	ck_assert_uint_eq(talk_entry(model, "consumer")->phase[0].calls->len, 0);
	done();
}
END_TEST

/* The client has sent a message on which the consumer works, and fetches what comes of it. */
static void reply_through_broker(void)
{
	send(CONSUMER, 6, 70, BROKER, "epoll_wait", 1);
	talk_await(&t, CONSUMER, "recvfrom", 6);
	take(9, 70);
	send(BROKER, 9, ANSWER, CONSUMER, "recvfrom", 1);
	send(BROKER, 7, 86, PRODUCER, "recvfrom", 1);
	talk_await(&t, BROKER, "epoll_wait", 20);
}

/* ns that a thread of the task spends so on a path. */
static int64_t time_on(const struct lqn_request_path *path, enum lqn_path_kind kind, const char *task)
{
	int64_t sum = 0;

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct lqn_path_piece *piece = &g_array_index(path->pieces, struct lqn_path_piece, i);

		sum += piece->kind == kind && g_str_equal(piece->task, task) ? piece->end - piece->begin : 0;
	}
	return sum;
}

/* A request on whose path a message lies in the broker; NULL: there is none. */
static const struct lqn_request_path *through_broker(void)
{
	for (guint i = 0; i < paths->groups->len; i++) {
		const struct lqn_path_group *group = paths->groups->pdata[i];

		for (guint k = 0; k < group->kept->len; k++) {
			if (time_on(group->kept->pdata[k], LQN_PATH_BROKER, "broker") > 0) {
				return group->kept->pdata[k];
			}
		}
	}
	return NULL;
}

START_TEST(who_waits_for_what_comes_of_his_message_is_answered)
{
	const struct lqn_request_path *path;

	start_fetching(2);
	for (int i = 0; i < MESSAGES; i++) {
		fetch();
		/* another's message comes first: it takes 100 us, and nobody waits for what comes of it */
		tell_broker(PRODUCER_2, 5, 8, 64);
		send(BROKER, 9, 80, CONSUMER, "recvfrom", 1);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 10);
		tell_broker(PRODUCER, 5, 7, 64);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 3);
		send(PRODUCER, 5, 40, BROKER, "epoll_wait", 1);
		talk_await(&t, PRODUCER, "recvfrom", 5);
		take(7, 40);
		talk_await(&t, BROKER, "epoll_wait", 20);
		talk_work(&t, 85);
		fetch_at_once();
		talk_work(&t, 60);
		reply_through_broker();
		talk_sleep(&t, PRODUCER, 200);
		talk_sleep(&t, PRODUCER_2, 10);
	}
	finish();
	ck_assert_int_eq(talk_task(model, "producer")->kind, LQN_TASK_CLIENT);
	ck_assert_int_eq(talk_task(model, "consumer")->kind, LQN_TASK_SERVER);
	path = through_broker();
	ck_assert_ptr_nonnull(path);
	near_us((double) time_on(path, LQN_PATH_BROKER, "broker") / 1e9, 87);
	near_us((double) time_on(path, LQN_PATH_CPU, "consumer") / 1e9, 60);
	done();
}
END_TEST

SUITE("brokers", one_span_may_be_of_several_messages, spans_of_producer_and_consumer_name_the_message,
	a_name_of_a_message_joins_spans_of_two_traces,
	 what_is_passed_on_in_one_go_is_known_by_its_context, what_lay_in_a_broker_is_known_by_order_and_size,
	what_was_published_before_the_trace_is_nobodys, who_fetches_has_what_is_published_since,
	what_lay_there_is_had_by_who_asks_next, who_waits_for_what_comes_of_his_message_is_answered)
