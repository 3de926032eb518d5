/* SPDX-License-Identifier: MIT */

/* Hosts, their threads, and the ends of their channels. */
#include "internal.h"

#include <string.h>

#include "layout/record.h"

static guint hash_64(gconstpointer key)
{
	return (guint) ((*(const uint64_t *) key * 0x9e3779b97f4a7c15u) >> 32);
}

static gboolean equal_64(gconstpointer a, gconstpointer b)
{
	return *(const uint64_t *) a == *(const uint64_t *) b;
}

static void free_array(GArray *array)
{
	if (array) {
		g_array_free(array, TRUE);
	}
}

static void actor_free(gpointer data)
{
	struct lqn_actor *actor = data;

	free_array(actor->intervals);
	free_array(actor->receipts);
	free_array(actor->interruptions);
	free_array(actor->places);
	g_queue_clear(&actor->idle);
	g_free(actor->exe);
	g_free(actor);
}

static void end_free(gpointer data)
{
	struct lqn_end *end = data;

	while (end->notes) {
		struct lqn_note *next = end->notes->next;

		lqn_region_free(&end->host->keep->region, end->notes, sizeof(*end->notes));
		end->host->keep->notes--;
		end->notes = next;
	}
	if (end->readers) {
		g_ptr_array_free(end->readers, TRUE);
	}
	if (end->outgoing) {
		g_queue_free_full(end->outgoing, g_free);
	}
	if (end->pending) {
		g_queue_free_full(end->pending, g_free);
	}
	g_queue_clear(&end->open);
	g_queue_clear(&end->calls);
	g_free(end->name);
	g_free(end);
}

static void unit_free(gpointer data)
{
	struct lqn_unit *unit = data;

	if (unit->unhanded) {
		g_ptr_array_free(unit->unhanded, TRUE);
	}
	if (unit->unclaimed) {
		g_ptr_array_free(unit->unclaimed, TRUE);
	}
	g_free(unit);
}

static void word_free(gpointer data)
{
	struct lqn_word *word = data;

	g_hash_table_destroy(word->users);
	g_free(word);
}

struct lqn_party *lqn_party_new(const char *name, unsigned number, struct lqn_keep *keep)
{
	struct lqn_party *host = g_new0(struct lqn_party, 1);

	host->name = g_intern_string(name);
	host->number = number;
	host->keep = keep;
	/* keys lie within the values */
	host->actors = g_hash_table_new_full(hash_64, equal_64, NULL, actor_free);
	host->by_age = g_ptr_array_new();
	host->units = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, unit_free);
	host->ends = g_hash_table_new_full(hash_64, equal_64, NULL, end_free);
	host->words = g_hash_table_new_full(hash_64, equal_64, NULL, word_free);
	host->flows = lqn_flows_between_new();
	host->directions = g_hash_table_new_full(hash_64, equal_64, g_free, NULL);
	host->answers = g_hash_table_new_full(hash_64, equal_64, g_free, NULL);
	host->fetch_kinds = lqn_fetch_kinds_new();
	host->apart_kinds = lqn_apart_kinds_new();
	host->cpus = g_array_new(FALSE, FALSE, sizeof(struct lqn_cpu_use));
	host->interrupts = g_hash_table_new(g_direct_hash, g_direct_equal);
	host->arrivals = g_array_new(FALSE, FALSE, sizeof(struct lqn_packet));
	host->ios = g_hash_table_new_full(hash_64, equal_64, g_free, (GDestroyNotify) g_array_unref);
	host->begin = INT64_MAX;
	host->end = host->told_end = INT64_MIN;
	return host;
}

void lqn_party_free(struct lqn_party *host)
{
	g_hash_table_destroy(host->actors);
	g_ptr_array_free(host->by_age, TRUE);
	g_hash_table_destroy(host->units);
	g_hash_table_destroy(host->ends);
	g_hash_table_destroy(host->words);
	g_hash_table_destroy(host->flows);
	g_hash_table_destroy(host->directions);
	g_hash_table_destroy(host->answers);
	g_hash_table_destroy(host->fetch_kinds);
	g_hash_table_destroy(host->apart_kinds);
	g_array_free(host->cpus, TRUE);
	g_hash_table_destroy(host->interrupts);
	g_array_free(host->arrivals, TRUE);
	g_hash_table_destroy(host->ios);
	g_free(host);
}

struct lqn_unit *lqn_party_unit(struct lqn_party *host, uint32_t pid)
{
	struct lqn_unit *unit = g_hash_table_lookup(host->units, GUINT_TO_POINTER(pid));

	if (!unit) {
		unit = g_new0(struct lqn_unit, 1);
		unit->pid = pid;
		unit->first_asked = unit->first_send = INT64_MAX;
		g_hash_table_insert(host->units, GUINT_TO_POINTER(pid), unit);
	}
	return unit;
}

struct lqn_actor *lqn_party_find_actor(const struct lqn_party *host, uint64_t key)
{
	return key ? g_hash_table_lookup(host->actors, &key) : NULL;
}

struct lqn_actor *lqn_party_actor(struct lqn_party *host, uint64_t key)
{
	struct lqn_actor **front = &host->front_actors[key % LQN_PARTY_FRONT], *actor = *front;

	if (actor && actor->key == key) {
		return actor;
	}
	actor = g_hash_table_lookup(host->actors, &key);
	if (!actor) {
		actor = g_new0(struct lqn_actor, 1);
		actor->host = host;
		actor->key = key;
		actor->born = actor->died = actor->first_accept = -1;
		actor->seen = INT64_MAX;
		actor->intervals = g_array_new(FALSE, FALSE, sizeof(struct lqn_interval));
		/* a process of its own until more is told of it */
		actor->unit = lqn_party_unit(host, (uint32_t) key);
		g_hash_table_insert(host->actors, &actor->key, actor);
		lqn_keep_add(host->keep, sizeof(*actor));
		g_ptr_array_add(host->by_age, actor);
	}
	*front = actor;
	return actor;
}

struct lqn_end *lqn_party_end(struct lqn_party *host, uint64_t id)
{
	struct lqn_end **front = &host->front_ends[id % LQN_PARTY_FRONT], *end = *front;

	if (end && end->id == id) {
		return end;
	}
	end = g_hash_table_lookup(host->ends, &id);
	if (!end) {
		end = g_new0(struct lqn_end, 1);
		end->host = host;
		end->id = id;
		end->first_send = INT64_MAX;
		g_queue_init(&end->open);
		g_queue_init(&end->calls);
		g_hash_table_insert(host->ends, &end->id, end);
		lqn_keep_add(host->keep, sizeof(*end));
	}
	*front = end;
	return end;
}

bool lqn_end_is_read_by(const struct lqn_end *end, struct lqn_actor *actor)
{
	if (!end->readers || g_ptr_array_find(end->readers, actor, NULL)) {
		return end->readers != NULL;
	}
	/* where each request has a thread of its own, not all readers are known: what one of a process reads, all may */
	for (guint i = 0; end->readers->len == LQN_READERS_MAX && i < LQN_READERS_MAX; i++) {
		if (((struct lqn_actor *) end->readers->pdata[i])->unit == actor->unit) {
			return true;
		}
	}
	return false;
}

void lqn_readers_serve(struct lqn_end *end)
{
	for (guint i = 0; end->readers && i < end->readers->len; i++) {
		((struct lqn_actor *) end->readers->pdata[i])->unit->may_serve = true;
	}
}

struct lqn_word *lqn_party_word(struct lqn_party *host, uint64_t id)
{
	struct lqn_word *word = g_hash_table_lookup(host->words, &id);

	if (!word) {
		word = g_new0(struct lqn_word, 1);
		word->id = id;
		word->users = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
		word->first = INT64_MAX;
		word->last = INT64_MIN;
		g_hash_table_insert(host->words, &word->id, word);
	}
	return word;
}

struct lqn_word *lqn_word_root(struct lqn_word *word)
{
	struct lqn_word *root = word, *next;

	while (root->same) {
		root = root->same;
	}
	for (; word != root; word = next) {
		next = word->same;
		word->same = root;
	}
	return root;
}

bool lqn_call_waits_for_word(uint8_t call)
{
	return call == LQN_CALL_FUTEX || call == LQN_CALL_FLOCK || call == LQN_CALL_FCNTL ||
		call == LQN_CALL_SEMOP;
}

/*
 * Lock or hand-over? Who waits for a lock wakes the next one afterwards; at a hand-over some only wait and others only
 * wake. A word is a lock if at least half of its waits are by threads that wake as often.
 */
bool lqn_word_is_lock(struct lqn_word *word)
{
	word = lqn_word_root(word);
	return word->waits > 0 && 2 * word->both >= word->waits;
}

bool lqn_waits_for_lock(const struct lqn_actor *actor, uint8_t call, uint64_t object)
{
	return lqn_call_waits_for_word(call) && object && lqn_word_is_lock(lqn_party_word(actor->host, object));
}

/* Threads and spans may have any number of names, and what is interned stays for ever. */
const char *lqn_intern(struct lqn_keep *keep, const char *name)
{
	GQuark known = g_quark_try_string(name);

	if (known) {
		return g_quark_to_string(known);
	}
	if (keep->names >= LQN_NAMES_MAX) {
		keep->unnamed++;
		return g_intern_static_string("others");
	}
	keep->names++;
	return g_intern_string(name);
}

void lqn_actor_set_name(struct lqn_actor *actor, const char *comm)
{
	g_autofree char *plain = lqn_plain_name(comm);

	actor->comm = lqn_intern(actor->host->keep, comm);
	actor->service = lqn_intern(actor->host->keep, plain);
}

const char *lqn_service_name(const struct lqn_actor *actor)
{
	const struct lqn_actor *main = actor->unit->main ? actor->unit->main : actor;

	if (actor->unit->name) {
		return actor->unit->name;
	}
	return main->service && *main->service ? main->service : "unnamed";
}

guint lqn_count_until(const char *data, guint len, size_t size, size_t offset, int64_t key)
{
	guint low = 0, high = len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (*(const int64_t *) (const void *) (data + middle * size + offset) <= key) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

gint lqn_by_time(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

gint lqn_invocation_by_begin(gconstpointer a, gconstpointer b)
{
	const struct lqn_invocation *x = *(const struct lqn_invocation *const *) a;
	const struct lqn_invocation *y = *(const struct lqn_invocation *const *) b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

int64_t lqn_actor_cpu_at(const struct lqn_actor *actor, int64_t ts)
{
	const struct lqn_interval *interval;
	guint begun = LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, begin, ts);

	if (actor->unit->outside) {
		return 0;	/* it runs elsewhere */
	}
	if (begun > 0) {
		interval = &g_array_index(actor->intervals, struct lqn_interval, begun - 1);
		if (ts <= interval->end) {
			return interval->cpu;
		}
		if (begun == actor->intervals->len) {
			/*
			 * After its last stretch it ran until it died or the trace ended. If the trace goes on it may as well
			 * have blocked since, of which is told when it is over: that it ran is not known.
			 */
			int64_t until = actor->died >= 0 ? actor->died : actor->host->goes_on ? interval->end : actor->host->end;

			return interval->cpu + interval->charged + MAX(0, MIN(ts, until) - interval->end);
		}
		/* where the trace has a hole the clock stood still for longer than is seen */
		return MIN(interval->cpu + interval->charged + (ts - interval->end), interval[1].cpu);
	}
	if (actor->intervals->len == 0) {
		return 0;
	}
	/* before the first stretch it ran, for as long as its clock says */
	interval = &g_array_index(actor->intervals, struct lqn_interval, 0);
	return MAX(0, interval->cpu - (interval->begin - ts));
}

bool lqn_actor_is_loop_client(const struct lqn_actor *actor)
{
	return !actor->unit->may_serve && actor->sleeps * 50 < actor->sends;
}

const char *lqn_invocation_service(struct lqn_invocation *invocation)
{
	return lqn_service_name(lqn_final(invocation)->actor);
}

const struct lqn_receipt *lqn_actor_receipt(const struct lqn_actor *actor, int64_t ts)
{
	guint ended = actor->receipts ?
		LQN_COUNT_UNTIL(actor->receipts, struct lqn_receipt, end, ts - 1) : 0;

	return actor->receipts && ended < actor->receipts->len ?
		&g_array_index(actor->receipts, struct lqn_receipt, ended) : NULL;
}
