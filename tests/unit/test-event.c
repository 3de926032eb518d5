/* SPDX-License-Identifier: MIT */
/* The vocabulary of `lqn:` events: tables that the plugin follows blindly, and that doc/events.md describes. */
#include "event/event.h"

#include <string.h>

#include "layout/record.h"
#include "suite.h"

static const size_t sizes[] = {
	[LQN_EVF_U64] = 8, [LQN_EVF_I64] = 8, [LQN_EVF_TIME] = 8, [LQN_EVF_U32] = 4, [LQN_EVF_I32] = 4,
	[LQN_EVF_STRING] = sizeof(char *), [LQN_EVF_ENUM] = 4,
};

START_TEST(fields_lie_in_the_event_beside_each_other)
{
	for (int type = 0; type < LQN_EV_COUNT; type++) {
		const struct lqn_event_class *class = lqn_event_class(type);

		ck_assert(strncmp(class->name, "lqn:", 4) == 0);
		ck_assert(class->n_fields > 0);
		for (size_t i = 0; i < class->n_fields; i++) {
			const struct lqn_event_field *f = &class->fields[i];

			ck_assert_msg(f->offset >= offsetof(struct lqn_event, host) &&
				f->offset + sizes[f->kind] <= sizeof(struct lqn_event), "%s.%s", class->name, f->name);
			ck_assert_msg((f->kind == LQN_EVF_ENUM) == (f->label != NULL), "%s.%s", class->name, f->name);
			for (size_t k = 0; k < i; k++) {
				const struct lqn_event_field *g = &class->fields[k];

				ck_assert_str_ne(g->name, f->name);
				ck_assert_msg(g->offset + sizes[g->kind] <= f->offset || f->offset + sizes[f->kind] <= g->offset,
					"%s: %s and %s overlap", class->name, g->name, f->name);
			}
		}
		for (int other = 0; other < type; other++) {
			ck_assert_str_ne(lqn_event_class(other)->name, class->name);
		}
	}
}
END_TEST

/* It is told of when it begins, unlike all else, which is told of when it is over. */
START_TEST(a_loss_may_end_long_after_it_is_told)
{
	struct lqn_event ev = {
		.type = LQN_EV_LOSS, .ts = 1000, .loss = { .begin = 1000, .end = INT64_C(60000000000), .count = 7, .cpu = 0 },
	};

	ck_assert(lqn_event_is_sound(&ev));
	ev.loss.end = 999;
	ck_assert(!lqn_event_is_sound(&ev));
	ev.loss.end = LQN_TIME_MAX + 1;
	ck_assert(!lqn_event_is_sound(&ev));
}
END_TEST

static void check_labels(const char *(*label)(uint32_t), uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_msg(label(i) != NULL, "value %u has no label", i);
		for (uint32_t k = 0; k < i; k++) {
			ck_assert_str_ne(label(i), label(k));
		}
	}
	ck_assert_ptr_null(label(count));
	ck_assert_ptr_null(label(UINT32_MAX));
}

START_TEST(each_value_has_one_label)
{
	check_labels(lqn_cause_name, LQN_CAUSE_COUNT);
	check_labels(lqn_object_kind_name, LQN_OBJ_COUNT);
	check_labels(lqn_evidence_name, LQN_EVIDENCE_COUNT);
	check_labels(lqn_role_name, LQN_ROLE_COUNT);
	check_labels(lqn_context_name, LQN_CTX_COUNT);
	for (int type = 0; type < LQN_EV_COUNT; type++) {
		const struct lqn_event_class *class = lqn_event_class(type);

		for (size_t i = 0; i < class->n_fields; i++) {
			if (class->fields[i].label && strstr(class->fields[i].name, "call")) {
				check_labels(class->fields[i].label, LQN_CALL_COUNT);
			}
		}
	}
}
END_TEST

SUITE("event", fields_lie_in_the_event_beside_each_other, a_loss_may_end_long_after_it_is_told, each_value_has_one_label)
