/* SPDX-License-Identifier: MIT */

/*
 * Events come when their evidence is complete, not in the order of what they tell: a send when its call ends, a receive
 * when its sender is known. Here they wait in a queue, ordered by what they tell, and are worked on when
 * LOOKAHEAD others have come after them. On the way in they are counted: whether anything ever comes back on a
 * connection, who reads from a queue, whether a futex word is a lock, are known by the time they are needed. A trace with fewer
 * events than that is thus known as a whole before the first is worked on.
 */
#include "internal.h"

#include <stdlib.h>

#include "layout/record.h"
#include "request/queue.h"

#define LOOKAHEAD (1u << 16)
#define SLOTS (LOOKAHEAD + 4)	/* each holds an event that waits; a push adds three at most */
#define FETCH_AHEAD 8		/* events; by then they are there */
#define CACHE_LINE 64

struct slot {
	struct lqn_event ev;
	uint32_t uses, next_free;
};

struct lqn_order {
	struct lqn_analysis *analysis;	/* borrowed */
	struct lqn_queue queue;
	struct slot *slots;		/* owned; of SLOTS */
	uint32_t n_slots;		/* ever used */
	uint32_t free;			/* head of the free slots, + 1 */
	uint64_t number;
};

enum action {
	ON_WAIT, ON_SEND, ON_RECEIVE, ON_SLEEP, ON_AWAKE, ON_DISK, ON_FUTEX_BLOCK, ON_FUTEX_WAIT, ON_FUTEX_WAKE,
	ON_END, ON_SPAN, ON_SPAN_MESSAGE, ON_SPAN_END, ON_CHAIN_BLOCK, ON_CHAIN_WAKE, ON_CHAIN_END,
};

static const struct {
	uint8_t rank;
	void (*on)(struct lqn_analysis *analysis, struct lqn_party *host, const struct lqn_event *ev);
} actions[] = {
	[ON_WAIT] = { 0, lqn_on_wait },
	[ON_RECEIVE] = { 1, lqn_on_receive },
	[ON_SLEEP] = { 1, lqn_on_sleep },
	[ON_AWAKE] = { 1, lqn_on_awake },
	[ON_DISK] = { 1, lqn_on_disk },
	[ON_FUTEX_WAIT] = { 1, lqn_on_futex_wait },
	[ON_SEND] = { 2, lqn_on_send },
	[ON_FUTEX_BLOCK] = { 2, lqn_on_futex_block },
	[ON_FUTEX_WAKE] = { 2, lqn_on_futex_wake },
	[ON_CHAIN_END] = { 1, lqn_on_chain_end },
	[ON_CHAIN_BLOCK] = { 1, lqn_on_chain_block },
	[ON_CHAIN_WAKE] = { 1, lqn_on_chain_wake },
	[ON_SPAN] = { 2, lqn_on_span },
	[ON_SPAN_MESSAGE] = { 2, lqn_on_span_message },
	[ON_SPAN_END] = { 2, lqn_on_span_end },
	[ON_END] = { 3, lqn_on_end },
};

struct lqn_order *lqn_order_new(struct lqn_analysis *analysis)
{
	struct lqn_order *order = g_new0(struct lqn_order, 1);

	order->analysis = analysis;
	lqn_queue_init(&order->queue);
	order->slots = lqn_large_alloc(SLOTS * sizeof(struct slot));
	return order;
}

void lqn_order_free(struct lqn_order *order)
{
	if (!order) {
		return;
	}
	lqn_queue_clear(&order->queue);
	free(order->slots);
	g_free(order);
}

/* The events lie in memory as they came, so far apart that the caches have lost them. */
static void fetch_ahead(const struct lqn_order *order)
{
	const struct lqn_due *due = lqn_queue_ahead(&order->queue, FETCH_AHEAD);

	if (due) {
		const char *slot = (const char *) &order->slots[due->event];

		for (size_t i = 0; i < sizeof(struct slot); i += CACHE_LINE) {
			__builtin_prefetch(slot + i);
		}
	}
}

static void pop(struct lqn_order *order)
{
	struct lqn_due due = *lqn_queue_peek(&order->queue);
	struct slot *slot = &order->slots[due.event];
	struct lqn_event ev = slot->ev;

	lqn_queue_drop(&order->queue);
	fetch_ahead(order);
	order->analysis->reached = MAX(order->analysis->reached, due.ts);
	if (--slot->uses == 0) {
		slot->next_free = order->free;
		order->free = due.event + 1;
	}
	actions[due.action].on(order->analysis, order->analysis->hosts->pdata[due.host], &ev);
}

static void push(struct lqn_order *order, const struct lqn_party *host, uint32_t event, enum action action, int64_t ts)
{
	struct lqn_due due = { ts, order->number++, event, (uint16_t) host->number, actions[action].rank, (uint8_t) action };

	order->slots[event].uses++;
	lqn_queue_push(&order->queue, &due);
}

static uint32_t take_slot(struct lqn_order *order, const struct lqn_event *ev)
{
	uint32_t index;

	if (order->free) {
		index = order->free - 1;
		order->free = order->slots[index].next_free;
	} else {
		index = order->n_slots++;
		g_assert(index < SLOTS);
	}
	order->slots[index].ev = *ev;
	order->slots[index].uses = 0;
	return index;
}

/* The trace has shown no system calls so far: whether it has any is known when these come out again. */
static void push_chain(struct lqn_order *order, struct lqn_party *host, uint32_t slot, const struct lqn_event *ev)
{
	if (ev->wait.cause == LQN_CAUSE_TIMER) {
		lqn_party_actor(host, ev->wait.thread)->sleeps++;
		push(order, host, slot, ON_CHAIN_BLOCK, ev->wait.begin);
		push(order, host, slot, ON_CHAIN_END, ev->wait.end);
	} else if (ev->wait.by && ev->wait.wake >= 0) {
		push(order, host, slot, ON_CHAIN_BLOCK, ev->wait.begin);
		push(order, host, slot, ON_CHAIN_WAKE, ev->wait.wake);
		push(order, host, slot, ON_CHAIN_END, ev->wait.end);
	}
}

/* ---- what is to be done of events of each type ---- */

static void take_wait(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	uint32_t slot;

	lqn_count_wait(host, ev);
	slot = take_slot(order, ev);
	push(order, host, slot, ON_WAIT, ev->wait.end);
	host->has_calls |= ev->wait.call != LQN_CALL_NONE;
	if (!host->has_calls && !ev->wait.open) {
		push_chain(order, host, slot, ev);
	}
}

static void take_preempted(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	lqn_count_preempted(host, ev);
}

static void take_interrupted(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	lqn_count_interrupted(host, ev);
}

static void take_send(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	host->has_calls = true;
	lqn_count_send(host, ev);
	push(order, host, take_slot(order, ev), ON_SEND, ev->send.begin);
}

static void take_receive(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	lqn_count_receive(host, ev);
	push(order, host, take_slot(order, ev), ON_RECEIVE, ev->receive.end);
}

static void take_accept(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	lqn_count_accept(host, ev);
}

static void take_sleep(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->sleep.thread);
	uint32_t slot = take_slot(order, ev);

	actor->sleeps++;
	actor->asleep_last = true;
	push(order, host, slot, ON_SLEEP, ev->sleep.begin);
	push(order, host, slot, ON_AWAKE, ev->sleep.end);
}

static void take_exit(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	lqn_party_actor(host, ev->exit.thread)->died = ev->exit.at;
	push(order, host, take_slot(order, ev), ON_END, ev->exit.at);
}

static void take_span(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_event span = *ev;

	/* the names must outlive the event */
	span.span.name = lqn_intern(host->keep, ev->span.name);
	span.span.service = lqn_intern(host->keep, ev->span.service);
	host->keep->lag = LQN_SPAN_DELAY + LQN_SPAN_PATIENCE;
	push(order, host, take_slot(order, &span), ev->span.begin ? ON_SPAN : ON_SPAN_END,
		ev->span.at + (ev->span.begin ? 0 : LQN_SPAN_DELAY));
}

static void take_span_message(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	push(order, host, take_slot(order, ev), ON_SPAN_MESSAGE, ev->span_message.at);
}

static void take_disk(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	push(order, host, take_slot(order, ev), ON_DISK, ev->disk.end);
}

static void take_futex_wait(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	uint32_t slot = take_slot(order, ev);

	if (ev->futex_wait.blocked) {
		lqn_count_word_wait(host, ev);
		push(order, host, slot, ON_FUTEX_BLOCK, ev->futex_wait.begin);
	}
	push(order, host, slot, ON_FUTEX_WAIT, ev->futex_wait.end);
}

static void take_futex_wake(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	lqn_count_word_wake(host, ev);
	push(order, host, take_slot(order, ev), ON_FUTEX_WAKE, ev->futex_wake.begin);
}

static void (*const takers[LQN_EV_COUNT])(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev) = {
	[LQN_EV_WAIT] = take_wait,
	[LQN_EV_PREEMPTED] = take_preempted,
	[LQN_EV_INTERRUPTED] = take_interrupted,
	[LQN_EV_SEND] = take_send,
	[LQN_EV_RECEIVE] = take_receive,
	[LQN_EV_ACCEPT] = take_accept,
	[LQN_EV_SLEEP] = take_sleep,
	[LQN_EV_EXIT] = take_exit,
	[LQN_EV_SPAN] = take_span,
	[LQN_EV_SPAN_MESSAGE] = take_span_message,
	[LQN_EV_DISK] = take_disk,
	[LQN_EV_FUTEX_WAIT] = take_futex_wait,
	[LQN_EV_FUTEX_WAKE] = take_futex_wake,
};

void lqn_order_push(struct lqn_order *order, struct lqn_party *host, const struct lqn_event *ev)
{
	if (ev->type < LQN_EV_COUNT && takers[ev->type]) {
		takers[ev->type](order, host, ev);
	}
	while (lqn_queue_length(&order->queue) > LOOKAHEAD) {
		pop(order);
	}
}

void lqn_order_advance(struct lqn_order *order, int64_t until)
{
	const struct lqn_due *due;

	while ((due = lqn_queue_peek(&order->queue)) && due->ts < until) {
		pop(order);
	}
}

void lqn_order_flush(struct lqn_order *order)
{
	while (lqn_queue_length(&order->queue) > 0) {
		pop(order);
	}
	for (guint i = 0; i < order->analysis->hosts->len; i++) {
		struct lqn_party *host = order->analysis->hosts->pdata[i];

		for (guint k = 0; k < host->by_age->len; k++) {
			struct lqn_actor *actor = host->by_age->pdata[k];

			lqn_conclude(actor, lqn_actor_cpu_at(actor, host->end), host->end);
		}
	}
	lqn_spans_flush(order->analysis);
}
