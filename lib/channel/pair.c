/* SPDX-License-Identifier: MIT */

/*
 * Which two ends belong together. Strongest evidence first:
 *   - addresses and ports of packets, one the other's reverse (TCP);
 *   - socketpair;
 *   - a thread blocked in a receive on one end is woken inside a send on the other, or, where a
 *     stream's reader wakes a sender that already waits for its reply, inside a receive on it;
 *   - an accept that can only have taken one connect;
 *   - majority of: a thread woken in a wait on descriptors inside a send on one end reads the other
 *     next;
 *   - order of connects and accepts of a listener.
 * The last two are guesses (guess.c), taken only when nothing better has come by the time it is needed.
 */
#include "channel/internal.h"

/* Takes two ends apart. Both must be pinned by the caller. */
static void separate(struct lqn_object *object)
{
	struct lqn_object *peer = object->peer;

	if (!peer) {
		return;
	}
	lqn_channel_take_back(object, peer);
	if (peer->peer == object) {
		lqn_channel_take_back(peer, object);
		lqn_object_set(&peer->peer, NULL);
	}
	lqn_object_set(&object->peer, NULL);
}

/* They are expected to be each other's. Both must be pinned by the caller. */
static void expect(struct lqn_object *one, struct lqn_object *other)
{
	/* nobody asks for closed ones any more: they would hold each other for ever */
	bool over = one->closed && other->closed;

	lqn_object_set(&one->candidate, over ? NULL : other);
	lqn_object_set(&other->candidate, over ? NULL : one);
}

/* Two ends were expected to have other peers: those may be each other's. */
static void swap_candidates(struct lqn_object *from, struct lqn_object *to)
{
	struct lqn_object *one = from->candidate, *other = to->candidate;

	if (one && other && one != to && other != from && !one->peer && !other->peer) {
		lqn_object_pin(one);
		lqn_object_pin(other);
		expect(one, other);
		lqn_object_unpin(other);
		lqn_object_unpin(one);
	}
}

/* A listener that is older than the trace makes what it has made: then the next may stand in its line. */
static void learn_listener(const struct lqn_object *made)
{
	if (made->listener && made->listener->base == LQN_OBJ_UNKNOWN) {
		made->listener->base = made->kind;
	}
}

/* Where a process's connects go to is where the next one stands in line. */
static void learn_line(const struct lqn_object *asks, const struct lqn_object *made)
{
	if (asks->pid && made->listener && made->listener != asks) {
		lqn_channel_connects_to(asks->channels, asks->pid, made->listener);
	}
}

static void join(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence)
{
	bool stream = lqn_object_is_stream(from);

	if (stream) {
		swap_candidates(from, to);
	}
	if (from->kind == LQN_OBJ_UNKNOWN) {
		from->kind = to->kind == LQN_OBJ_UNKNOWN ? LQN_OBJ_UNIX : to->kind;
	}
	if (to->kind == LQN_OBJ_UNKNOWN) {
		to->kind = from->kind;
	}
	learn_listener(from);
	learn_listener(to);
	if (evidence == LQN_CERTAIN) {
		learn_line(from, to);
		learn_line(to, from);
	}
	lqn_object_set(&from->peer, to);
	from->evidence = evidence;
	lqn_object_set(&from->candidate, NULL);
	if (stream) {
		lqn_object_set(&to->peer, from);
		to->evidence = evidence;
		lqn_object_set(&to->candidate, NULL);
		lqn_channel_clear_votes(to);
		if (from->role != LQN_ROLE_NONE && to->role == LQN_ROLE_NONE) {
			to->role =
				from->role == LQN_ROLE_CLIENT ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
		} else if (to->role != LQN_ROLE_NONE && from->role == LQN_ROLE_NONE) {
			from->role =
				to->role == LQN_ROLE_CLIENT ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
		}
	}
	lqn_channel_clear_votes(from);
	lqn_channel_announce(from, true);
	lqn_channel_announce(to, true);
	lqn_channel_forward_unsent(from, to);
	if (stream) {
		lqn_channel_forward_unsent(to, from);
		lqn_channel_drain(from);
	}
	lqn_channel_drain(to);
}

static bool are_reverse(const struct lqn_tuple *a, const struct lqn_tuple *b)
{
	return a->saddr == b->daddr && a->daddr == b->saddr && a->sport == b->dport &&
		a->dport == b->sport;
}

bool lqn_channel_set_alias(struct lqn_object *object, struct lqn_object *original)
{
	struct lqn_object *peer = lqn_object_real(original->peer);

	if (original == object || original->listener == object) {
		return false;	/* one cannot be behind the other */
	}
	lqn_object_set(&object->alias, original);
	object->kind = original->kind;
	lqn_channel_announce(object, true);
	if (peer) {
		lqn_channel_forward_unsent(object, peer);
		lqn_channel_drain(peer);
	}
	return true;
}

void lqn_channel_merge(struct lqn_object *object, struct lqn_object *other)
{
	lqn_object_pin(object);
	lqn_object_set(&object->alias, other);
	lqn_channel_announce(object, true);
	lqn_channel_forward_unsent(object, other);
	lqn_channel_move_messages(object, other);
	lqn_channel_drain(other);
	lqn_object_unpin(object);
}

/*
 * Two descriptors that are older than the trace turn out to be one eventfd: what is written to one
 * is read from the other.
 */
static void same_eventfd(struct lqn_object *object, struct lqn_object *other)
{
	/*
	 * how it counts is not known: one by one, until a reader that finds nothing shows that more
	 * was taken
	 */
	other->semaphore = true;
	lqn_channel_merge(object, other);
}

/* A descriptor from nowhere is `other`, if that is a pipe or the like. True: it is. */
static bool set_shared_alias(struct lqn_object *object, struct lqn_object *other)
{
	if (object->kind != LQN_OBJ_UNKNOWN || !object->preexisting || object->peer ||
			!lqn_object_is_shared(other) || other->kind == LQN_OBJ_FILE) {
		return false;
	}
	object->kind = other->kind;
	lqn_channel_merge(object, other);
	return true;
}

/* Who is taken for the other end, pinned; NULL: nobody. */
static struct lqn_object *supposed(struct lqn_object *object)
{
	struct lqn_object *other = lqn_object_real(object->peer ? object->peer : object->candidate);

	return other ? lqn_object_pin(other) : NULL;
}

/*
 * Two pairs were made, or expected, the wrong way round: so the ends that are left over belong together, until
 * evidence says otherwise.
 */
static void swap_peers(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence)
{
	struct lqn_object *one = supposed(from), *other = supposed(to);
	bool made = from->peer && to->peer;

	separate(from);
	separate(to);
	join(from, to, evidence);
	if (one && other && one != other && lqn_object_is_stream(from) && !one->peer &&
			!other->peer) {
		if (made) {
			lqn_channel_pair(other, one, LQN_INFERRED);
		} else {
			expect(one, other);
		}
	}
	lqn_object_unpin(one);
	lqn_object_unpin(other);
}

/* Nothing that is known speaks against it. */
static bool may_be_peers(const struct lqn_object *from, const struct lqn_object *to)
{
	if (from == to || !lqn_channel_is_end(from) || !lqn_channel_is_end(to)) {
		return false;
	}
	/* a softirq delivers what is there, not only what the thread in whose call it runs has sent */
	return !from->remote && !to->remote &&
		(!from->has_tuple || !to->has_tuple || are_reverse(&from->tuple, &to->tuple));
}

/* True if they are no two ends, but one object, which is noted if it was not known. */
static bool are_one(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence)
{
	if (from->kind == LQN_OBJ_EVENTFD || to->kind == LQN_OBJ_EVENTFD) {
		if (from->kind == to->kind && from->preexisting && to->preexisting &&
				evidence == LQN_CERTAIN) {
			same_eventfd(from, to);
		}
		return true;
	}
	return evidence == LQN_CERTAIN && (set_shared_alias(from, to) || set_shared_alias(to, from));
}

/* By what is known of their peers so far. Both must be pinned by the caller. */
static void pair_ends(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence)
{
	if (from->preexisting && !to->peer && to->candidate && !to->candidate->peer &&
			evidence == LQN_CERTAIN) {
		/* it cannot be the end that was accepted, for that one is known: see lqn_channel_set_alias */
		lqn_channel_pair(to, to->candidate, LQN_INFERRED);
	}
	if (!from->peer && (!to->peer || !lqn_object_is_stream(from))) {
		join(from, to, evidence);
	} else if (!from->peer && from->preexisting && evidence == LQN_CERTAIN) {
		lqn_channel_set_alias(from, lqn_object_real(to->peer));
	} else {
		from->channels->contradictions++;
		if (evidence == LQN_CERTAIN && from->evidence != LQN_CERTAIN &&
				(!to->peer || to->evidence != LQN_CERTAIN)) {
			swap_peers(from, to, evidence);
		}
	}
	if (from->closed && to->closed) {
		/*
		 * found out by calls that outlast their descriptors: they would hold each other for
		 * ever
		 */
		lqn_channel_give_up(from);
		lqn_channel_give_up(to);
		separate(from);
	}
}

void lqn_channel_pair(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence)
{
	from = lqn_object_real(from);
	to = lqn_object_real(to);
	if (!may_be_peers(from, to) || are_one(from, to, evidence)) {
		return;
	}
	if (from->peer && lqn_object_real(from->peer) == to) {
		from->evidence = MIN(from->evidence, (uint8_t) evidence);
		return;
	}
	lqn_object_pin(from);
	lqn_object_pin(to);
	pair_ends(from, to, evidence);
	lqn_object_unpin(to);
	lqn_object_unpin(from);
}

void lqn_channel_note_orphan(struct lqn_object *object)
{
	GQueue *orphans = &object->channels->orphans;

	if (object->orphan) {
		return;
	}
	object->orphan = true;
	g_queue_push_tail(orphans, lqn_object_pin(object));
	if (orphans->length > LQN_ORPHANS_MAX) {
		object = g_queue_pop_head(orphans);
		object->orphan = false;
		lqn_object_unpin(object);
	}
}

bool lqn_channel_adopt(struct lqn_object *object, const struct lqn_held *held)
{
	GQueue *orphans = &object->channels->orphans;
	struct lqn_object *peer = lqn_object_real(object->peer);
	/* what answers was sent after the question, whether the reader waited for it or came later */
	int64_t since = object->sent > 0 ? MIN(object->sent, held->begin) : held->begin;
	GList *next;

	if (!peer || !lqn_object_is_stream(object)) {
		return false;
	}
	for (GList *l = orphans->head; l; l = next) {
		struct lqn_object *it = l->data;
		const struct lqn_message *message = it->unsent;

		next = l->next;
		if (it->peer || it->alias || !message) {
			g_queue_delete_link(orphans, l);
			it->orphan = false;
			lqn_object_unpin(it);
		} else if (message->bytes == held->bytes && message->sent <= held->end &&
				message->sent >= since && lqn_channel_set_alias(it, peer)) {
			return true;
		}
	}
	return false;
}

/* What it has sent is there to be read, by an end whose addresses that will tell: the latest of these are kept. */
static void depart(struct lqn_object *object)
{
	GQueue *departed = &object->channels->departed;

	g_queue_push_tail(departed, lqn_object_pin(object));
	if (departed->length > LQN_DEPARTED_MAX) {
		lqn_object_unpin(g_queue_pop_head(departed));
	}
}

void lqn_channel_closed(struct lqn_object *object)
{
	struct lqn_object *peer;

	lqn_object_pin(object);
	object->closed = true;
	if (object->kind == LQN_OBJ_UDP && object->alias) {
		lqn_channel_forget_messages(lqn_object_real(object));
	}
	if (object->announced) {
		lqn_channel_announce(object, true);
	}
	if (object->has_tuple && !object->peer && !object->remote && object->unsent) {
		depart(object);
	}
	lqn_channel_leave_lines(object);
	if (object->held) {
		lqn_channel_drain(object);
		if (object->held && !object->peer) {
			lqn_channel_guess(object);
		}
		/*
		 * with a peer, what is left waits for the end of a send; the reader may be done
		 * before its sender is
		 */
		if (!object->peer) {
			lqn_channel_give_up(object);
		}
	}
	peer = object->peer;
	if (peer ? peer->closed : object->n_votes > 0 ||
			(object->candidate && object->candidate->closed)) {
		/* nothing more will be told of either: let both go */
		if (!peer && lqn_channel_guess(object)) {
			peer = object->peer;
		}
		if (!peer || peer->closed) {
			lqn_channel_give_up(object);
			if (peer) {
				lqn_channel_give_up(peer);
			}
			separate(object);
		}
		lqn_channel_clear_votes(object);
		lqn_object_set(&object->candidate, NULL);
	}
	lqn_object_unpin(object);
}
