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
 * The last two are guesses, taken only when nothing better has come by the time it is needed.
 */
#include "channel/internal.h"

static void clear_votes(struct lqn_object *object)
{
	while (object->n_votes > 0) {
		lqn_object_unpin(object->votes[--object->n_votes].object);
	}
}

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

/* Two ends were expected to have other peers: those may be each other's. */
static void swap_candidates(struct lqn_object *from, struct lqn_object *to)
{
	struct lqn_object *one = from->candidate, *other = to->candidate;

	if (one && other && one != to && other != from && !one->peer && !other->peer) {
		/* nobody asks for closed ones any more: they would hold each other for ever */
		bool over = one->closed && other->closed;

		lqn_object_pin(one);
		lqn_object_pin(other);
		lqn_object_set(&one->candidate, over ? NULL : other);
		lqn_object_set(&other->candidate, over ? NULL : one);
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
		clear_votes(to);
		if (from->role != LQN_ROLE_NONE && to->role == LQN_ROLE_NONE) {
			to->role =
				from->role == LQN_ROLE_CLIENT ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
		} else if (to->role != LQN_ROLE_NONE && from->role == LQN_ROLE_NONE) {
			from->role =
				to->role == LQN_ROLE_CLIENT ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
		}
	}
	clear_votes(from);
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

/*
 * `object` came from nowhere, as a descriptor does that another process passed on, and turns out to
 * be `original`: it talks to that one's peer, or has its addresses.
 */
static bool set_alias(struct lqn_object *object, struct lqn_object *original)
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

/*
 * Two pairs were made the wrong way round: so the ends that are left over belong together, until
 * evidence says otherwise.
 */
static void swap_peers(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence)
{
	struct lqn_object *one = from->peer ? lqn_object_pin(lqn_object_real(from->peer)) : NULL;
	struct lqn_object *other = to->peer ? lqn_object_pin(lqn_object_real(to->peer)) : NULL;

	separate(from);
	separate(to);
	join(from, to, evidence);
	if (one && other && one != other && lqn_object_is_stream(from) && !one->peer &&
			!other->peer) {
		lqn_channel_pair(other, one, LQN_INFERRED);
	}
	lqn_object_unpin(one);
	lqn_object_unpin(other);
}

/* What no descriptor stands for is the other end of none, and would be held for ever, for it is never closed. */
static bool is_end(const struct lqn_object *object)
{
	return lqn_object_is_channel(object) && !object->keyed;
}

void lqn_channel_pair(struct lqn_object *from, struct lqn_object *to, enum lqn_evidence evidence)
{
	from = lqn_object_real(from);
	to = lqn_object_real(to);
	if (from == to || !is_end(from) || !is_end(to)) {
		return;
	}
	if (from->remote || to->remote ||
		(from->has_tuple && to->has_tuple && !are_reverse(&from->tuple, &to->tuple))) {
		/*
		 * a softirq delivers what is there, not only what the thread in whose call it runs
		 * has sent
		 */
		return;
	}
	if (from->kind == LQN_OBJ_EVENTFD || to->kind == LQN_OBJ_EVENTFD) {
		if (from->kind == to->kind && from->preexisting && to->preexisting &&
				evidence == LQN_CERTAIN) {
			same_eventfd(from, to);
		}
		return;
	}
	if (evidence == LQN_CERTAIN && (set_shared_alias(from, to) || set_shared_alias(to, from))) {
		return;
	}
	if (from->peer && lqn_object_real(from->peer) == to) {
		from->evidence = MIN(from->evidence, (uint8_t) evidence);
		return;
	}
	lqn_object_pin(from);
	lqn_object_pin(to);
	if (from->preexisting && !to->peer && to->candidate && !to->candidate->peer &&
			evidence == LQN_CERTAIN) {
		/* it cannot be the end that was accepted, for that one is known: see set_alias */
		lqn_channel_pair(to, to->candidate, LQN_INFERRED);
	}
	if (!from->peer && (!to->peer || !lqn_object_is_stream(from))) {
		join(from, to, evidence);
	} else if (!from->peer && from->preexisting && evidence == LQN_CERTAIN) {
		set_alias(from, lqn_object_real(to->peer));
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
				message->sent >= since && set_alias(it, peer)) {
			return true;
		}
	}
	return false;
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

#define SENDER_VOTES 2	/* one may be chance */

void lqn_channel_vote(struct lqn_object *from, struct lqn_object *to)
{
	from = lqn_object_real(from);
	to = lqn_object_real(to);
	if (from == to || from->kind == LQN_OBJ_FILE || to->kind == LQN_OBJ_FILE ||
			!is_end(from) || !is_end(to)) {
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

static void append_address(GString *name, uint64_t address, uint16_t port)
{
	if (address >> 32) {
		/* of an IPv6 address a hash is known */
		g_string_append_printf(name, "[%016" G_GINT64_MODIFIER "x]:%u", address, port);
	} else {
		g_string_append_printf(name, "%u.%u.%u.%u:%u", (unsigned) (address >> 24),
			(unsigned) (address >> 16 & 255), (unsigned) (address >> 8 & 255),
			(unsigned) (address & 255), port);
	}
}

void lqn_channel_name_by_tuple(struct lqn_object *object)
{
	GString *name = g_string_new(NULL);
	GHashTable *by_path = object->channels->by_path;

	if (object->name && g_hash_table_lookup(by_path, object->name) == object) {
		g_hash_table_remove(by_path, object->name);	/* its key is the name */
	}

	append_address(name, object->tuple.saddr, object->tuple.sport);
	if (object->tuple.daddr != 0 || object->tuple.dport != 0) {
		g_string_append(name, " -> ");
		append_address(name, object->tuple.daddr, object->tuple.dport);
	}
	g_free(object->name);
	object->name = g_string_free(name, FALSE);
}

bool lqn_channel_is_local(const struct lqn_channels *channels, uint64_t address, uint64_t other)
{
	return address == other || g_hash_table_contains(channels->addresses, &address);
}

void lqn_channel_set_tuple(struct lqn_object *object, const struct lqn_tuple *tuple)
{
	struct lqn_tuple reverse = lqn_tuple_reverse(tuple);
	struct lqn_object *same, *peer;
	GHashTable *by_tuple;

	object = lqn_object_real(object);
	by_tuple = object->channels->by_tuple;
	if (object->has_tuple) {
		return;
	}
	object->tuple = *tuple;
	object->has_tuple = true;
	object->kind = LQN_OBJ_TCP;
	same = g_hash_table_lookup(by_tuple, tuple);
	if (same && !same->closed && object->preexisting) {
		/* one connection under two descriptors: it was passed on */
		object->has_tuple = false;
		set_alias(object, lqn_object_real(same));
		return;
	}
	/* replace: the key must be the new object's own */
	g_hash_table_replace(by_tuple, &object->tuple, object);
	peer = g_hash_table_lookup(by_tuple, &reverse);
	lqn_channel_name_by_tuple(object);
	if (object->announced) {
		lqn_channel_announce(object, true);
	}
	if (peer && !peer->closed) {
		lqn_channel_pair(object, peer, LQN_CERTAIN);
	} else if (!lqn_channel_is_local(object->channels, tuple->daddr, tuple->saddr)) {
		object->remote = true;
		lqn_channel_announce(object, true);
		lqn_channel_drain(object);
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
		clear_votes(object);
		lqn_object_set(&object->candidate, NULL);
	}
	lqn_object_unpin(object);
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
