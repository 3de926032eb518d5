/* SPDX-License-Identifier: MIT */

/*
 * Several messages come on a connection before an answer goes out. They may be one request in parts, head and body, or requests of
 * their own, of which all but the last want no answer.
 *   - Who reads the head of each message by itself reads as many bytes of the next request as of the last, but not of a body.
 *   - Who reads a request in parts reads on when the next is there, if not both in one go. Who has a whole one works on it first: asks
 *     others, wakes a worker, waits for something else, leaves the next to another thread.
 *   - Who but computes may be at a head that takes long: a length in which requests come by themselves, too, is that of no body.
 * What is seen of messages of one length from programs of one name to one process goes for all of these; where none of that
 * length was seen clearly, what was seen of others does.
 */
#include "internal.h"

#define KINDS_MAX 4096		/* of messages, on one host … */
#define KINDS_FIRST 2048	/* … to which until then those are added of which nothing else is known */
/* Messages that are requests, from which on all are; by themselves, from which on a length is no body's. */
#define APART_MIN 3
#define HEAD_MAX 64		/* bytes; what is read first of a longer one may be what a buffer holds */
#define ALL_ANSWERED 0.95	/* of the messages that come in: others are the protocol's own, as HTTP/2's windows and pings */
#define WORK_SHARE 0.25		/* of what is computed between the last message and the answer: more is not reading a head */

/* Messages of one length from programs of one name to one process. */
struct kind {
	uint32_t pid, bytes;		/* of who receives them; 0: any */
	const char *sender;		/* interned */
	uint32_t first;			/* that came after an answer */
	uint32_t apart, parts;		/* that came before another: requests of their own; of one request */
};

static guint hash_kind(gconstpointer data)
{
	const struct kind *kind = data;

	return (g_direct_hash(kind->sender) * 31 + kind->pid) * 31 + kind->bytes;
}

static gboolean equal_kind(gconstpointer a, gconstpointer b)
{
	const struct kind *x = a, *y = b;

	return x->pid == y->pid && x->bytes == y->bytes && x->sender == y->sender;
}

GHashTable *lqn_apart_kinds_new(void)
{
	return g_hash_table_new_full(hash_kind, equal_kind, g_free, NULL);
}

/* NULL: none is known. */
static struct kind *find(const struct lqn_party *host, uint32_t pid, const char *sender, uint32_t bytes)
{
	struct kind key = { .pid = pid, .bytes = bytes, .sender = sender };

	return g_hash_table_lookup(host->apart_kinds, &key);
}

/* Made if there is none; NULL if there are `most`. */
static struct kind *kind_of(const struct lqn_actor *actor, const struct lqn_actor *sender, uint32_t bytes, guint most)
{
	struct kind key = { .pid = actor->unit->pid, .bytes = bytes, .sender = lqn_service_name(sender) };
	struct kind *kind = find(actor->host, key.pid, key.sender, bytes);

	if (!kind && g_hash_table_size(actor->host->apart_kinds) < most) {
		kind = g_memdup2(&key, sizeof(key));
		g_hash_table_add(actor->host->apart_kinds, kind);
	}
	return kind;
}

static void count(const struct lqn_actor *actor, const struct lqn_actor *sender, uint32_t bytes, bool apart)
{
	struct kind *kinds[] = { kind_of(actor, sender, bytes, KINDS_MAX), kind_of(actor, sender, 0, KINDS_MAX) };

	for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (kinds[i]) {
			*(apart ? &kinds[i]->apart : &kinds[i]->parts) += 1;
		}
	}
}

/* The thread has done something for the message before it came back for the next one. */
static bool has_acted(const struct lqn_actor *actor, const struct lqn_turn *last, const struct lqn_event *ev)
{
	return (actor->acted_at >= last->at && actor->acted_at < ev->receive.end) ||
		(actor->wait_begin > last->at && actor->wait_begin < ev->receive.begin && !lqn_call_polls(actor->wait_call));
}

/* It has computed for it, and what comes now is no body. */
static bool has_computed(const struct lqn_actor *actor, const struct lqn_turn *last, const struct lqn_event *ev,
	const struct lqn_actor *sender)
{
	const struct lqn_unit *unit = actor->unit;
	int64_t cpu = actor->wait_begin > last->at ? actor->wait_cpu : ev->receive.cpu_begin;
	double least = unit->answers > 0 ? WORK_SHARE * (double) unit->answers_cpu / (double) unit->answers : 0;
	const struct kind *kind = find(actor->host, unit->pid, lqn_service_name(sender), (uint32_t) ev->receive.bytes);

	return (double) (cpu - last->cpu) > MAX(least, LQN_FOUND_NOTHING_NS) && kind && kind->first >= APART_MIN;
}

/* Another message has come, and nothing was sent there since the last. */
static void count_next(const struct lqn_actor *actor, const struct lqn_turn *last, const struct lqn_event *ev,
	const struct lqn_actor *sender)
{
	bool same = actor->key == last->by, worked;

	if (last->head > 0 && last->head <= HEAD_MAX) {
		count(actor, sender, last->bytes, ev->receive.bytes == last->head);
		return;
	}
	if (actor->heard_at > last->at) {
		return;		/* it has taken up something else in between */
	}
	worked = !same || has_acted(actor, last, ev) || has_computed(actor, last, ev, sender);
	if (ev->receive.sent + LQN_FOUND_NOTHING_NS <= last->at) {
		/* who leaves answers to others hands on what it has read: that it reads on says nothing */
		if (worked || actor->unit->answers > actor->unit->answers_by_others) {
			count(actor, sender, last->bytes, worked);
		}
	} else if (same && worked && actor->wait_begin > last->at && ev->receive.sent >= actor->wait_begin) {
		count(actor, sender, last->bytes, true);	/* who works, and then waits for what is not on its way, had a whole one */
	}
}

/* A message that came after an answer, or of which nothing in front is known. */
static void count_first(const struct lqn_actor *actor, const struct lqn_actor *sender, const struct lqn_turn *turn)
{
	struct kind *kind = kind_of(actor, sender, turn->bytes, KINDS_FIRST);

	if (kind) {
		kind->first++;
	}
}

static void next_message(struct lqn_turn *turn, const struct lqn_event *ev)
{
	bool same = ev->receive.seq == turn->seq;

	if (!same) {
		turn->head = ev->receive.count == 0 ? (uint32_t) MIN(ev->receive.bytes, UINT32_MAX) : 0;
	}
	turn->bytes = (same ? turn->bytes : 0) + (uint32_t) CLAMP(ev->receive.bytes, 0, UINT32_MAX / 2);
	turn->seq = ev->receive.seq + MAX(ev->receive.count, 1) - 1;
}

void lqn_apart_count_receive(const struct lqn_actor *actor, struct lqn_end *end, const struct lqn_event *ev, const struct lqn_actor *sender)
{
	struct lqn_turn *turn = &end->turn;

	if (!lqn_end_is_stream(end) || end->role == LQN_ROLE_CLIENT) {
		turn->seq = 0;		/* with an answer the next turn begins */
		return;
	}
	if (!sender || sender->unit == actor->unit || sender->unit->outside) {
		return;
	}
	if (ev->receive.seq != turn->seq) {
		turn->first = turn->seq == 0 || end->sent_at >= turn->at;
		if (!turn->first && ev->receive.seq > turn->seq) {
			count_next(actor, turn, ev, sender);
		}
	}
	if (ev->receive.count > 1 && end->peer && end->peer->turn.seq == ev->receive.seq) {
		count(actor, sender, end->peer->turn.bytes, false);
	}
	next_message(turn, ev);
	if (turn->first && ev->receive.count == 1) {
		count_first(actor, sender, turn);
	}
	turn->at = ev->receive.end;
	turn->cpu = ev->receive.cpu_end;
	turn->by = actor->key;
}

void lqn_apart_count_send(struct lqn_actor *actor, struct lqn_end *end, const struct lqn_event *ev)
{
	struct lqn_turn *turn = &end->turn;

	if (end->role == LQN_ROLE_CLIENT && turn->seq == 0) {
		turn->seq = ev->send.seq;
		turn->bytes = (uint32_t) CLAMP(ev->send.bytes, 0, UINT32_MAX);
	} else if (end->role != LQN_ROLE_CLIENT && turn->seq != 0 && end->sent_at < turn->at) {
		bool same = turn->by == actor->key;

		actor->unit->answers += same;
		actor->unit->answers_by_others += !same;
		actor->unit->answers_cpu += same ? MAX(ev->send.cpu_begin - turn->cpu, 0) : 0;
	}
}

bool lqn_is_apart(const struct lqn_end *end)
{
	const struct lqn_end *from = lqn_end_real(end->peer);
	const struct lqn_party *host = end->host;
	const struct kind *kind;

	/* where as many go out as come in, each message has its answer, however many are under way at a time */
	if (g_hash_table_size(host->apart_kinds) == 0 || !end->user || !from || !from->user || end->role == LQN_ROLE_CLIENT ||
			(double) end->sends >= ALL_ANSWERED * (double) from->sends) {
		return false;
	}
	kind = find(host, end->user->unit->pid, lqn_service_name(from->user), end->took_bytes);
	if (!kind || kind->apart + kind->parts == 0) {
		kind = find(host, end->user->unit->pid, lqn_service_name(from->user), 0);
	}
	return kind && kind->apart >= APART_MIN && kind->apart > kind->parts;
}
