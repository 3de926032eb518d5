/* SPDX-License-Identifier: MIT */
#include "event/strings.h"

void lqn_event_strings_init(struct lqn_event_strings *strings)
{
	*strings = (struct lqn_event_strings) { .chunk = g_string_chunk_new(1024) };
	for (unsigned i = 0; i < LQN_EV_COUNT; i++) {
		const struct lqn_event_class *desc = lqn_event_class((enum lqn_event_type) i);

		for (size_t k = 0; k < desc->n_fields; k++) {
			strings->in[i] |= desc->fields[k].kind == LQN_EVF_STRING;
		}
	}
}

void lqn_event_strings_clear(struct lqn_event_strings *strings)
{
	g_string_chunk_free(strings->chunk);
}

void lqn_event_strings_copy(struct lqn_event_strings *strings, struct lqn_event *ev)
{
	const struct lqn_event_class *desc = lqn_event_class((enum lqn_event_type) ev->type);

	for (size_t i = 0; i < desc->n_fields; i++) {
		if (desc->fields[i].kind == LQN_EVF_STRING) {
			const char **text = (const char **) (void *) ((char *) ev + desc->fields[i].offset);

			*text = *text ? g_string_chunk_insert(strings->chunk, *text) : "";
			strings->used = true;
		}
	}
}
