/* SPDX-License-Identifier: MIT */
/*
 * How fields of `lqn:` events are told: what is told of a value gives it back, and the short form takes
 * what has room in it.
 */
#include "event/wire.h"

#include <string.h>

#include "suite.h"

#define TS INT64_C(1796068774123456789)

/* Tells an event and reads it; whether all of it has room in the short form. */
static bool tell(const struct lqn_event *ev, struct lqn_event *back)
{
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) ev->type);
	bool fits = lqn_wire_has_short(class);

	memset(back, 0, sizeof(*back));
	back->type = ev->type;
	back->ts = ev->ts;
	for (size_t i = 0; i < class->n_fields; i++) {
		const struct lqn_wire wire = lqn_wire_of(&class->fields[i]);

		if (wire.what != LQN_WIRE_STRING) {
			int64_t told = lqn_wire_get(&wire, ev, ev->ts);

			fits &= lqn_wire_excess(&wire, told) == 0;
			lqn_wire_set(&wire, back, told);
		}
	}
	return fits;
}

static struct lqn_event a_wait(void)
{
	return (struct lqn_event) {
		.type = LQN_EV_WAIT,
		.ts = TS,
		.wait = {
			.thread = 4711, .by = 4712, .begin = TS - 9000, .wake = TS - 5000,
			.end = TS - 4000, .cpu = 3000000000, .charged = 40, .call_begin = TS - 10000,
			.object = 7, .via = 8, .call = 18, .by_call = 4, .cause = LQN_CAUSE_MESSAGE,
			.state = 1,
		},
	};
}

/* All but what is told of it is the same. */
static void check_wait(const struct lqn_event *ev, bool is_short)
{
	struct lqn_event back;

	ck_assert_int_eq(tell(ev, &back), is_short);
	ck_assert_mem_eq(&back.wait, &ev->wait, sizeof(ev->wait));
}

START_TEST(usual_events_are_short)
{
	struct lqn_event ev = a_wait();

	check_wait(&ev, true);
}
END_TEST

START_TEST(times_that_there_are_not_stay_none)
{
	struct lqn_event ev = a_wait();

	ev.wait.call_begin = 0;
	ev.wait.wake = -1;
	check_wait(&ev, true);
}
END_TEST

START_TEST(long_times_and_large_numbers_are_told_in_the_long_form)
{
	struct lqn_event ev = a_wait();

	ev.wait.begin = TS - (INT64_C(1) << 33);	/* 8.6 s: beyond 32 bits */
	check_wait(&ev, false);
	ev = a_wait();
	ev.wait.begin = 1;
	check_wait(&ev, false);
	ev = a_wait();
	ev.wait.thread |= UINT64_C(1) << 32;		/* the number was given out again */
	check_wait(&ev, false);
	ev = a_wait();
	ev.wait.object = UINT64_MAX;
	check_wait(&ev, false);
	ev = a_wait();
	ev.wait.cpu = INT64_C(1) << 50;
	check_wait(&ev, false);
}
END_TEST

START_TEST(what_the_short_form_lacks_makes_an_event_long)
{
	struct lqn_event ev = a_wait();

	ev.wait.open = 1;
	check_wait(&ev, false);
	ev = a_wait();
	ev.wait.evidence = LQN_INFERRED;
	check_wait(&ev, false);
}
END_TEST

START_TEST(a_loss_may_end_after_it_is_told)
{
	struct lqn_event back, ev = {
		.type = LQN_EV_LOSS,
		.ts = TS,
		.loss = { .begin = TS, .end = TS + INT64_C(5000000000), .count = 3, .cpu = -1 },
	};

	ck_assert(!tell(&ev, &back));
	ck_assert_mem_eq(&back.loss, &ev.loss, sizeof(ev.loss));
}
END_TEST

START_TEST(each_number_of_an_event_may_have_any_value)
{
	static const int64_t values[] = { 0, 2, -2, 127, 4096, INT64_C(1) << 21, INT64_C(1) << 27,
		(INT64_C(1) << 27) + 1, INT64_C(1) << 31, INT64_C(1) << 43, INT64_MAX, INT64_MIN };

	for (unsigned type = 0; type < LQN_EV_COUNT; type++) {
		const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) type);

		for (size_t i = 0; i < class->n_fields; i++) {
			const struct lqn_event_field *field = &class->fields[i];
			const bool narrow = field->kind == LQN_EVF_U32 || field->kind == LQN_EVF_I32 ||
				field->kind == LQN_EVF_ENUM;

			for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
				struct lqn_event back, ev = { .type = (uint8_t) type, .ts = TS };

				if (field->kind != LQN_EVF_STRING) {
					memcpy(lqn_wire_at(&ev, field->offset), &values[k],
						narrow ? 4 : 8);
				}
				tell(&ev, &back);
				ck_assert_msg(memcmp(&ev, &back, sizeof(ev)) == 0, "%s.%s: %ld",
					class->name, field->name, (long) values[k]);
			}
		}
	}
}
END_TEST

START_TEST(widths_are_such_as_can_be_written)
{
	for (unsigned type = 0; type < LQN_EV_COUNT; type++) {
		const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) type);

		for (size_t i = 0; i < class->n_fields; i++) {
			const struct lqn_event_field *field = &class->fields[i];
			const unsigned bits = field->bits;

			ck_assert_msg(bits % 8 != 0 || bits == 0 || bits == 8 || bits == 16 ||
				bits == 32, "%s.%s: %u bits", class->name, field->name, bits);
			for (uint32_t v = 0; bits > 0 && field->label && field->label(v); v++) {
				ck_assert_msg(v >> bits == 0, "%s.%s has no room for %s", class->name,
					field->name, field->label(v));
			}
		}
	}
}
END_TEST

SUITE("wire", usual_events_are_short, times_that_there_are_not_stay_none,
	long_times_and_large_numbers_are_told_in_the_long_form,
	what_the_short_form_lacks_makes_an_event_long, a_loss_may_end_after_it_is_told,
	each_number_of_an_event_may_have_any_value, widths_are_such_as_can_be_written)
