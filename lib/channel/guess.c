/* SPDX-License-Identifier: MIT */

/* Which two ends belong together, for want of evidence: what most votes are for, or who stands next in a line. */
#include "channel/internal.h"

#define SENDER_VOTES 2	/* one may be chance */

void lqn_channel_clear_votes(struct lqn_object *object)
{
	while (object->n_votes > 0) {
		lqn_object_unpin(object->votes[--object->n_votes].object);
	}
}

static void vote(struct lqn_object *object, struct lqn_object *other)
{
	uint32_t weakest = 0;

	for (uint32_t i = 0; i < object->n_votes; i++) {
		if (object->votes[i].object == other) {
			object->votes[i].weight++;
			return;
		}
		if (object->votes[i].weight < object->votes[weakest].weight) {
			weakest = i;
		}
	}
	if (object->n_votes < LQN_VOTES_MAX) {
		weakest = object->n_votes++;
		object->votes[weakest].object = NULL;
	}
	lqn_object_set(&object->votes[weakest].object, other);
	object->votes[weakest].weight = 1;
}

/* The one that most votes are for; NULL: none. */
static struct lqn_object *favourite(const struct lqn_object *object, uint32_t *weight)
{
	struct lqn_object *best = NULL;

	*weight = 0;
	for (uint32_t i = 0; i < object->n_votes; i++) {
		if (object->votes[i].weight > *weight) {
			best = object->votes[i].object;
			*weight = object->votes[i].weight;
		}
	}
	return best;
}

/*
 * A socket for datagrams has as many senders as it has. They are found together, for what it has received is told in the order
 * in which all of them have sent.
 */
static bool guess_senders(struct lqn_object *object)
{
	struct lqn_object *senders[LQN_VOTES_MAX];
	uint32_t n = 0, weight;

	for (uint32_t i = 0; i < object->n_votes; i++) {
		struct lqn_object *other = lqn_object_real(object->votes[i].object);

		if (!other->peer && favourite(other, &weight) == object) {
			senders[n++] = lqn_object_pin(other);
		}
	}
	object->guessed = object->paused = n > 0;
	for (uint32_t i = 0; i < n; i++) {
		lqn_channel_pair(senders[i], object, LQN_INFERRED);
		lqn_object_unpin(senders[i]);
	}
	object->paused = false;
	lqn_channel_drain(object);
	return n > 0;
}

void lqn_channel_vote(struct lqn_object *from, struct lqn_object *to)
{
	from = lqn_object_real(from);
	to = lqn_object_real(to);
	if (from == to || from->kind == LQN_OBJ_FILE || to->kind == LQN_OBJ_FILE ||
			!lqn_channel_is_end(from) || !lqn_channel_is_end(to)) {
		return;
	}
	if (from->closed && to->closed) {
		return;		/* nobody counts them, and they would hold each other for ever */
	}
	if (from->peer) {
		/*
		 * where several wait for the same descriptors, a few percent of the votes are wrong
		 */
		return;
	}
	vote(from, to);
	if (!to->peer) {
		vote(to, from);
	}
	if (to->guessed) {
		uint32_t weight;

		/* one that has not sent before, or not often enough */
		if (favourite(from, &weight) == to && weight >= SENDER_VOTES) {
			lqn_channel_pair(from, to, LQN_INFERRED);
		}
	}
}

bool lqn_channel_guess(struct lqn_object *object)
{
	struct lqn_object *best = NULL;
	uint32_t weight = 0;

	object = lqn_object_real(object);
	if (object->peer) {
		return false;
	}
	if (object->kind == LQN_OBJ_DATAGRAM && object->held) {
		return guess_senders(object);
	}
	for (uint32_t i = 0; i < object->n_votes; i++) {
		struct lqn_object *other = object->votes[i].object;

		if (object->votes[i].weight > weight &&
				(!other->peer || !lqn_object_is_stream(other))) {
			best = other;
			weight = object->votes[i].weight;
		}
	}
	if (!best && object->candidate && !object->candidate->peer) {
		best = object->candidate;
	}
	if (!best) {
		return false;
	}
	/* datagrams go one way: the votes of a reader are for those who send to it */
	if (!lqn_object_is_stream(object) && object->bound) {
		lqn_channel_pair(best, object, LQN_INFERRED);
	} else {
		lqn_channel_pair(object, best, LQN_INFERRED);
	}
	return true;
}

static uint32_t strongest(const struct lqn_object *object)
{
	uint32_t weight = 0;

	for (uint32_t i = 0; i < object->n_votes; i++) {
		weight = MAX(weight, object->votes[i].weight);
	}
	return weight;
}

static gint by_strength(gconstpointer a, gconstpointer b)
{
	const struct lqn_object *x = *(const struct lqn_object *const *) a,
				*y = *(const struct lqn_object *const *) b;
	uint32_t p = strongest(x), q = strongest(y);

	return p != q ? (p > q ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

void lqn_channels_give_up(GPtrArray *objects)
{
	g_ptr_array_sort(objects, by_strength);
	for (guint i = 0; i < objects->len; i++) {
		lqn_channel_guess(objects->pdata[i]);
	}
	for (guint i = 0; i < objects->len; i++) {
		lqn_channel_give_up(lqn_object_real(objects->pdata[i]));
	}
}
