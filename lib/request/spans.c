/* SPDX-License-Identifier: MIT */

/*
 * Spans name what a thread works on. The outermost span that begins within an invocation is the invocation's operation; a
 * context that begins within a span, or is only known after it (a worker's, by its answer), has that span's.
 */
#include "internal.h"

void lqn_on_span(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->span.thread);
	struct lqn_invocation *current;
	uint32_t depth = actor->n_spans;

	if (!ev->span.begin) {
		while (depth > 0 && actor->spans[depth - 1].span != ev->span.span) {
			depth--;
		}
		if (depth > 0) {
			actor->last_span = actor->spans[depth - 1].name;
			actor->last_span_end = ev->span.at;
			actor->n_spans = depth - 1;	/* those within it have ended, whether that was told or not */
		}
		return;
	}
	if (depth < LQN_SPANS_MAX) {
		actor->spans[actor->n_spans++] = (struct lqn_open_span) { ev->span.span, ev->span.name };
	}
	current = actor->current && !actor->current->tail_of ? lqn_final(actor->current) : actor->current;
	if (current && !current->operation) {
		current->operation = ev->span.name;
	}
}

const char *lqn_actor_operation(const struct lqn_actor *actor, int64_t since)
{
	if (actor->n_spans > 0) {
		return actor->spans[0].name;
	}
	return actor->last_span && actor->last_span_end > since ? actor->last_span : NULL;
}
