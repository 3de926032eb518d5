/* SPDX-License-Identifier: MIT */

/* Messages under way: sent, not received. Their number is bounded, of an end and of all. */
#include "internal.h"

#define NOTES_MAX 65536	/* messages that nobody receives; the engine keeps no more */
#define NOTES_MANY (1u << 18)	/* of all ends, from which on an end has … */
#define NOTES_FEW 4		/* … no more than these */

static void unlink_note(struct lqn_end *end, struct lqn_note *it)
{
	*(it->prev ? &it->prev->next : &end->notes) = it->next;
	*(it->next ? &it->next->prev : &end->last_note) = it->prev;
	end->n_notes--;
	end->host->keep->notes--;
}

struct lqn_note *lqn_note_add(struct lqn_end *end, uint64_t seq)
{
	struct lqn_note *it = lqn_region_alloc0(&end->host->keep->region, sizeof(*it));

	it->prev = end->last_note;
	it->seq = seq;
	*(it->prev ? &it->prev->next : &end->notes) = it;
	end->last_note = it;
	end->host->keep->notes++;
	if (++end->n_notes > NOTES_MAX || (end->host->keep->notes > NOTES_MANY && end->n_notes > NOTES_FEW)) {
		struct lqn_note *oldest = end->notes;

		unlink_note(end, oldest);
		lqn_region_free(&end->host->keep->region, oldest, sizeof(*oldest));
	}
	return it;
}

/* From both sides: a reader that keeps up finds it at the end, behind what has been lost, one that does not at the head. */
struct lqn_note *lqn_note_find(struct lqn_end *end, uint64_t seq)
{
	struct lqn_note *old = end->notes, *young = end->last_note;

	for (uint32_t left = end->n_notes; left > 0; left--) {
		struct lqn_note *it = left & 1 ? old : young;

		if (it->seq == seq) {
			return it;
		}
		if (left & 1) {
			old = old->next;
		} else {
			young = young->prev;
		}
	}
	return NULL;
}

struct lqn_note *lqn_note_take(struct lqn_end *end, uint64_t seq)
{
	struct lqn_note *it = lqn_note_find(end, seq);

	if (it) {
		unlink_note(end, it);
	}
	return it;
}
