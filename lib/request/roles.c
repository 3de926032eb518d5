/* SPDX-License-Identifier: MIT */

/*
 * Who asks on a connection, or through shared memory, that is older than the trace. Connect and accept were not seen, and a
 * request and its reply look the same. What tells, for all connections between two processes together, strongest first:
 *   - addresses: a port that several connections share is the one that was listened on;
 *   - threads: an end that several threads use, or a word that they wait for, belongs to a pool that serves;
 *   - sleeps: who sends when a timer wakes him, and not a message, is a client, unless it was asked before it ever sent anything
 *     (it sleeps as it serves); further from the clients is the server;
 *   - words: each who asks waits for his answer at a word of his own, so requests go by fewer of them;
 *   - order: who was seen to send first.
 */
#include "internal.h"

#include <string.h>

/* Weights of votes of one connection: one of a kind outdoes any number of the kinds below in practice. */
#define VOTE_PORT 1000
#define VOTE_THREADS 30
#define VOTE_SLEEP 1

#define ASKS_SHARE 0.2		/* of a process's sends that follow a sleep, from which on it is a client */
struct pair {			/* two processes */
	struct lqn_unit *a, *b;
	int64_t votes;		/* > 0: a asks, b serves */
};

static guint hash_pair(gconstpointer key)
{
	const struct pair *p = key;

	return g_direct_hash(p->a) * 31 ^ g_direct_hash(p->b);
}

static gboolean equal_pair(gconstpointer x, gconstpointer y)
{
	const struct pair *p = x, *q = y;

	return p->a == q->a && p->b == q->b;
}

bool lqn_end_needs_role(const struct lqn_end *end)
{
	return end->role == LQN_ROLE_NONE && !end->one_way && end->peer && end->peer->role == LQN_ROLE_NONE &&
		end->user && end->peer->user &&
		(end->kind == LQN_OBJ_TCP || end->kind == LQN_OBJ_UNIX);
}

/* Pairs are kept once, in one order; *turned: the end given is b's. */
static struct pair *pair_of(GHashTable *pairs, const struct lqn_end *end, bool *turned)
{
	struct pair key = { end->user->unit, end->peer->user->unit, 0 }, *pair;

	*turned = key.a->pid > key.b->pid || (key.a->pid == key.b->pid && end->id > end->peer->id);
	if (*turned) {
		key = (struct pair) { key.b, key.a, 0 };
	}
	pair = g_hash_table_lookup(pairs, &key);
	if (!pair) {
		pair = g_memdup2(&key, sizeof(key));
		g_hash_table_add(pairs, pair);
	}
	return pair;
}

/* The own address and port of a TCP end's name; NULL: it has none. */
static char *own_port(const struct lqn_end *end)
{
	const char *arrow = end->name ? strstr(end->name, " -> ") : NULL;

	return arrow ? g_strndup(end->name, (gsize) (arrow - end->name)) : NULL;
}

static GHashTable *count_ports(struct lqn_party *host)
{
	GHashTable *ports = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, host->ends);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		char *port = own_port(value);

		if (port) {
			g_hash_table_replace(ports, port,
				GINT_TO_POINTER(GPOINTER_TO_INT(g_hash_table_lookup(ports, port)) + 1));
		}
	}
	return ports;
}

/* A port that the trace does not show is taken for one of its own: no evidence. */
static int connections_at(GHashTable *ports, const struct lqn_end *end)
{
	g_autofree char *port = own_port(end);

	return port ? GPOINTER_TO_INT(g_hash_table_lookup(ports, port)) : 1;
}

static int sign(int64_t value)
{
	return (value > 0) - (value < 0);
}

/*
 * How far each process is from those who send of their own accord, in messages. A request goes away from the clients, an
 * answer towards them.
 */
/* By wakes through a word that processes share: from who wakes to who waits. True: somebody came nearer. */
static bool measure_word(struct lqn_word *word)
{
	struct lqn_word *root = lqn_word_root(word);
	GHashTableIter iter;
	gpointer key, value;
	bool changed = false;

	if (!root->shared || lqn_word_is_lock(root)) {
		return false;
	}
	g_hash_table_iter_init(&iter, word->users);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		struct lqn_unit *unit = ((struct lqn_actor *) key)->unit;
		const struct lqn_word_use *use = value;

		if (use->wakes > 0 && root->distance > unit->distance) {
			root->distance = unit->distance;
			changed = true;
		}
		if (use->waits > 0 && unit->distance > root->distance + 1) {
			unit->distance = root->distance + 1;
			changed = true;
		}
	}
	return changed;
}

static void measure_distances(struct lqn_party *host)
{
	GHashTableIter iter;
	gpointer value;
	bool changed = true;

	host->measured = g_hash_table_size(host->flows);
	g_hash_table_iter_init(&iter, host->units);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct lqn_unit *unit = value;

		/* by times: what was sent to it first may be told of late, when it is clear by whom */
		unit->distance = unit->first_asked >= unit->first_send && unit->sends > 0 && unit->asks >= ASKS_SHARE * unit->sends ?
			0 : LQN_DISTANCE_UNKNOWN;
	}
	g_hash_table_iter_init(&iter, host->words);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		((struct lqn_word *) value)->distance = LQN_DISTANCE_UNKNOWN;
	}
	while (changed) {
		changed = false;
		g_hash_table_iter_init(&iter, host->words);
		while (g_hash_table_iter_next(&iter, NULL, &value)) {
			changed |= measure_word(value);
		}
		g_hash_table_iter_init(&iter, host->flows);
		while (g_hash_table_iter_next(&iter, &value, NULL)) {
			const struct pair *flow = value;

			if (flow->b->distance > flow->a->distance + 1) {
				flow->b->distance = flow->a->distance + 1;
				changed = true;
			}
		}
	}
}

GHashTable *lqn_flows_between_new(void)
{
	return g_hash_table_new_full(hash_pair, equal_pair, g_free, NULL);
}

void lqn_roles_count(struct lqn_party *host, struct lqn_unit *sender, struct lqn_unit *receiver)
{
	struct pair flow = { sender, receiver, 0 };

	if (sender != receiver && !g_hash_table_contains(host->flows, &flow)) {
		g_hash_table_add(host->flows, g_memdup2(&flow, sizeof(flow)));
	}
}

int lqn_roles_direction(struct lqn_party *host, const struct lqn_unit *sender, const struct lqn_unit *receiver)
{
	if (host->measured != g_hash_table_size(host->flows)) {
		measure_distances(host);
	}
	return sender->distance == LQN_DISTANCE_UNKNOWN || receiver->distance == LQN_DISTANCE_UNKNOWN ? 0 :
		sign(receiver->distance - sender->distance);
}

/* The words by which the threads of one service wake those of another. */
struct lane {
	unsigned words;
	unsigned waiters;		/* pairs of word and thread */
};

static struct lane lane_between(struct lqn_party *host, const char *from, const char *to)
{
	g_autoptr(GHashTable) woken = g_hash_table_new(NULL, NULL), waiters = g_hash_table_new(NULL, NULL);
	struct lane lane = { 0, 0 };
	GHashTableIter iter, users;
	gpointer value, key, use;

	g_hash_table_iter_init(&iter, host->words);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct lqn_word *word = value, *root = lqn_word_root(word);

		if (!root->shared || lqn_word_is_lock(root)) {
			continue;
		}
		g_hash_table_iter_init(&users, word->users);
		while (g_hash_table_iter_next(&users, &key, &use)) {
			const char *service = lqn_service_name(key);

			if (service == from && ((struct lqn_word_use *) use)->wakes > 0) {
				g_hash_table_add(woken, root);
			} else if (service == to && ((struct lqn_word_use *) use)->waits > 0) {
				guint n = GPOINTER_TO_UINT(g_hash_table_lookup(waiters, root));

				g_hash_table_insert(waiters, root, GUINT_TO_POINTER(n + 1));
			}
		}
	}
	g_hash_table_iter_init(&iter, woken);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(waiters, key));

		lane.words += n > 0;
		lane.waiters += n;
	}
	return lane;
}

/* In the middle of what it was asked for: what it waits for is an answer, and no request. */
static bool is_asked(const struct lqn_actor *actor)
{
	const struct lqn_invocation *current = lqn_final(actor->current);

	return current && !current->tail_of && current->request && !current->replied;
}

bool lqn_roles_word_asks(struct lqn_party *host, const struct lqn_actor *from, const struct lqn_actor *to)
{
	struct lane there = lane_between(host, lqn_service_name(from), lqn_service_name(to));
	struct lane back = lane_between(host, lqn_service_name(to), lqn_service_name(from));
	int votes = sign((int64_t) there.waiters * back.words - (int64_t) back.waiters * there.words);

	if (votes == 0 && is_asked(to)) {
		votes = -1;
	}
	if (votes == 0 && from->born >= 0 && to->born >= 0) {
		return true;		/* nothing has come before */
	}
	if (votes == 0) {
		measure_distances(host);
		votes = sign(to->unit->distance - from->unit->distance);
	}
	if (votes == 0) {
		votes = sign((int64_t) back.words - there.words);
	}
	return votes >= 0;
}

static gboolean flow_goes(gpointer key, gpointer value, gpointer data)
{
	const struct pair *flow = key;

	return !flow->a->needed || !flow->b->needed;
}

void lqn_roles_forget(struct lqn_party *host)
{
	if (g_hash_table_foreach_remove(host->flows, flow_goes, NULL) > 0) {
		measure_distances(host);
	}
}

/*
 * Nothing goes back on a connection, or between sockets for datagrams of which nothing but who wakes whom is known: a
 * mailbox, whose answers come on another. True: it is one.
 */
static bool note_one_way(struct lqn_end *end)
{
	if (end->kind != LQN_OBJ_UNIX || (end->sends > 0 && end->peer->sends > 0)) {
		return false;
	}
	end->one_way = end->peer->one_way = true;
	lqn_readers_serve(end);
	lqn_readers_serve(end->peer);
	return true;
}

/* Votes of ports and threads, for the pair of processes that the end is between. */
static void count_votes(GHashTable *pairs, GHashTable *ports, const struct lqn_end *end)
{
	bool turned;
	struct pair *pair = pair_of(pairs, end, &turned);
	/* > 0: this end asks */
	int64_t votes = VOTE_PORT * sign(connections_at(ports, end->peer) - connections_at(ports, end)) +
		VOTE_THREADS * (end->peer->shared - end->shared);

	pair->votes += turned ? -votes : votes;
}

static void assign(GHashTable *pairs, struct lqn_end *end)
{
	bool turned;
	const struct pair *pair = pair_of(pairs, end, &turned);
	int64_t votes = turned ? -pair->votes : pair->votes;

	if (votes == 0) {
		votes = VOTE_SLEEP * (end->peer->user->unit->distance - end->user->unit->distance);
	}
	if (votes == 0) {
		votes = sign(end->peer->first_send - end->first_send);
	}
	end->role = votes >= 0 ? LQN_ROLE_CLIENT : LQN_ROLE_SERVER;
	end->peer->role = votes >= 0 ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
	end->guessed = end->peer->guessed = true;
	(votes >= 0 ? end->peer : end)->user->unit->may_serve = true;
}

void lqn_roles_assign(struct lqn_party *host)
{
	g_autoptr(GHashTable) pairs = g_hash_table_new_full(hash_pair, equal_pair, g_free, NULL);
	g_autoptr(GHashTable) ports = count_ports(host);
	g_autoptr(GPtrArray) ends = g_ptr_array_new();
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, host->ends);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct lqn_end *end = value;

		if (lqn_end_needs_role(end) && !note_one_way(end)) {
			g_ptr_array_add(ends, end);
			count_votes(pairs, ports, end);
		}
	}
	measure_distances(host);
	for (guint i = 0; i < ends->len; i++) {
		/* unless its peer came before */
		if (lqn_end_needs_role(ends->pdata[i])) {
			assign(pairs, ends->pdata[i]);
		}
	}
}
