/* SPDX-License-Identifier: MIT */

/*
 * Stored `lqn:` events may have been written by anybody. What the analysis takes for granted of
 * each is held against it here, so that nothing behind has to doubt a time or a label.
 */
#include "event/event.h"

#include <glib.h>

#define PAIR(member, a, b) \
	{ offsetof(struct lqn_event, member.a), offsetof(struct lqn_event, member.b) }
#define ORDER_MAX 3
#define FIELDS_MAX 20
#define CLOCK_TICK 1000000000		/* of the coarsest clock by which an event may be dated */
#define LENGTH_MAX (INT64_C(1) << 53)	/* 104 days: such lengths can be added up */

/*
 * Fields of 64 bits that are in order, by type of event; first the begin and end of what it tells
 * of.
 */
static const struct {
	size_t first, second;	/* equal: no more */
} in_order[LQN_EV_COUNT][ORDER_MAX] = {
	[LQN_EV_WAIT] = { PAIR(wait, begin, end), PAIR(wait, wake, end),
		PAIR(wait, call_begin, begin) },
	[LQN_EV_PREEMPTED] = { PAIR(preempted, begin, end) },
	[LQN_EV_SEND] = { PAIR(send, begin, end), PAIR(send, cpu_begin, cpu_end) },
	[LQN_EV_RECEIVE] = { PAIR(receive, begin, end), PAIR(receive, cpu_begin, cpu_end),
		PAIR(receive, sent, end) },
	[LQN_EV_FUTEX_WAIT] = { PAIR(futex_wait, begin, end),
		PAIR(futex_wait, cpu_begin, cpu_end) },
	[LQN_EV_FUTEX_WAKE] = { PAIR(futex_wake, begin, end),
		PAIR(futex_wake, cpu_begin, cpu_end) },
	[LQN_EV_SLEEP] = { PAIR(sleep, begin, end), PAIR(sleep, cpu_begin, cpu_end) },
	[LQN_EV_DISK] = { PAIR(disk, begin, end), PAIR(disk, cpu_begin, cpu_end) },
	[LQN_EV_ACCEPT] = { PAIR(accept, begin, end) },
	[LQN_EV_LOSS] = { PAIR(loss, begin, end) },
	[LQN_EV_INTERRUPTED] = { PAIR(interrupted, begin, end) },
	[LQN_EV_CPU] = { PAIR(cpu, begin, end) },
	[LQN_EV_IO] = { PAIR(io, begin, end), PAIR(io, begin, issued), PAIR(io, issued, end) },
	[LQN_EV_SUMMARY] = { PAIR(summary, begin, end) },
};

static int64_t number_at(const struct lqn_event *ev, size_t offset)
{
	return *(const int64_t *) (const void *) ((const char *) ev + offset);
}

/* What is demanded of a field by itself. */
struct demand {
	uint16_t offset;
	uint8_t kind;		/* enum lqn_event_field_kind */
	uint8_t labels;		/* LQN_EVF_ENUM: so many there are */
};

/* By type of event. Apart from the tables of fields, for this is done for every event. */
static struct {
	uint8_t n;
	struct demand demands[FIELDS_MAX];
} checks[LQN_EV_COUNT];

static uint8_t count_labels(const struct lqn_event_field *field)
{
	uint8_t n = 0;

	while (field->label && n < UINT8_MAX && field->label(n)) {
		n++;
	}
	return n;
}

static void add_demands(enum lqn_event_type type)
{
	const struct lqn_event_class *class = lqn_event_class(type);

	g_assert(class->n_fields <= FIELDS_MAX);
	for (size_t i = 0; i < class->n_fields; i++) {
		const struct lqn_event_field *field = &class->fields[i];
		/* what a system call returned may be anything */
		const bool is_result = type == LQN_EV_FUTEX_WAIT &&
			field->offset == offsetof(struct lqn_event, futex_wait.ret);

		if (type == LQN_EV_LOSS && field->offset == offsetof(struct lqn_event, loss.end)) {
			continue;	/* that events were lost is told when it begins */
		}
		if (field->kind == LQN_EVF_TIME || field->kind == LQN_EVF_ENUM ||
				(field->kind == LQN_EVF_I64 && !is_result)) {
			checks[type].demands[checks[type].n++] = (struct demand) {
				field->offset, (uint8_t) field->kind, count_labels(field)
			};
		}
	}
}

static void prepare(void)
{
	static gsize prepared;

	if (g_once_init_enter(&prepared)) {
		for (unsigned type = 0; type < LQN_EV_COUNT; type++) {
			add_demands((enum lqn_event_type) type);
		}
		g_once_init_leave(&prepared, 1);
	}
}

static bool is_met(const struct demand *demand, const struct lqn_event *ev)
{
	int64_t value;

	if (demand->kind == LQN_EVF_ENUM) {
		return *(const uint32_t *) (const void *) ((const char *) ev + demand->offset) <
			demand->labels;
	}
	value = number_at(ev, demand->offset);
	/* events tell of the past; -1: none */
	return demand->kind == LQN_EVF_TIME ? value >= -1 && value <= ev->ts + CLOCK_TICK :
		value >= 0 && value <= LENGTH_MAX;
}

static bool is_type_sound(const struct lqn_event *ev)
{
	switch (ev->type) {
	case LQN_EV_WAIT:
		return ev->wait.begin >= 0 &&
			(ev->wait.wake < 0 || ev->wait.wake >= ev->wait.begin) &&
			ev->wait.idle <= ev->wait.end - ev->wait.begin && ev->wait.charged >= 0 &&
			ev->wait.charged <= ev->wait.end - ev->wait.begin;
	case LQN_EV_PREEMPTED:
		return ev->preempted.begin >= 0 &&
			ev->preempted.idle <= ev->preempted.end - ev->preempted.begin;
	case LQN_EV_RECEIVE:
		return ev->receive.count <= LQN_COUNT_MAX;
	case LQN_EV_IO:
		return ev->io.begin >= 0;
	case LQN_EV_LOSS:
		return ev->loss.end <= LQN_TIME_MAX;
	case LQN_EV_CPU:
		return ev->cpu.idle <= ev->cpu.end - ev->cpu.begin &&
			ev->cpu.hardirq <= ev->cpu.end - ev->cpu.begin &&
			ev->cpu.softirq <= ev->cpu.end - ev->cpu.begin;
	default:
		return true;
	}
}

bool lqn_event_is_sound(const struct lqn_event *ev)
{
	if (ev->type >= LQN_EV_COUNT || ev->ts < 0 || ev->ts > LQN_TIME_MAX) {
		return false;
	}
	prepare();
	for (unsigned i = 0; i < checks[ev->type].n; i++) {
		if (!is_met(&checks[ev->type].demands[i], ev)) {
			return false;
		}
	}
	for (size_t i = 0;
		i < ORDER_MAX && in_order[ev->type][i].first != in_order[ev->type][i].second; i++) {
		if (number_at(ev, in_order[ev->type][i].first) >
				number_at(ev, in_order[ev->type][i].second)) {
			return false;
		}
	}
	if (number_at(ev, in_order[ev->type][0].second) -
				number_at(ev, in_order[ev->type][0].first) >
			LENGTH_MAX) {
		return false;
	}
	return is_type_sound(ev);
}
