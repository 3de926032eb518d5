/* SPDX-License-Identifier: MIT */
#include "sync.h"

#define PACKETS_MAX (1u << 16)	/* told of by one end only: older ones are forgotten */
#define FIT_AGAIN 8192		/* matches after which the lines are drawn anew */

struct key {
	uint64_t saddr, daddr;
	uint32_t sport, dport, seq;
};

struct half {			/* one end's word on a packet */
	struct key key;
	struct lqn_party *host;
	int64_t at;
	bool received;
};

struct held {
	struct lqn_event ev;	/* its strings are owned */
	uint16_t host;
};

struct clock {			/* of a host */
	struct lqn_clock_line line;	/* against its parent's */
	guint parent;			/* number of a host; its own: none */
};

struct lqn_sync {
	struct lqn_analysis *analysis;	/* borrowed */
	lqn_sync_func deliver;
	GHashTable *halves;		/* struct half by its key; owned by `order` */
	GQueue order;			/* struct half, oldest first; owned */
	GHashTable *fits;		/* pair of hosts -> struct lqn_clock_fit, owned */
	GArray *clocks;			/* struct clock, by host number */
	GArray *held;			/* struct held */
	uint64_t matches;
	bool collecting;
};

static guint hash_key(gconstpointer data)
{
	const struct key *k = data;
	uint64_t h = (k->saddr * 0x9e3779b97f4a7c15u ^ k->daddr) * 0x9e3779b97f4a7c15u;

	h = (h ^ ((uint64_t) k->sport << 48 | (uint64_t) k->dport << 32 | k->seq)) * 0x9e3779b97f4a7c15u;
	return (guint) (h >> 32);
}

static gboolean equal_key(gconstpointer a, gconstpointer b)
{
	const struct key *x = a, *y = b;

	return x->saddr == y->saddr && x->daddr == y->daddr && x->sport == y->sport && x->dport == y->dport &&
		x->seq == y->seq;
}

static void fit_free(gpointer fit)
{
	lqn_clock_fit_clear(fit);
	g_free(fit);
}

struct lqn_sync *lqn_sync_new(struct lqn_analysis *a, lqn_sync_func deliver)
{
	struct lqn_sync *sync = g_new0(struct lqn_sync, 1);

	sync->analysis = a;
	sync->deliver = deliver;
	sync->halves = g_hash_table_new(hash_key, equal_key);
	sync->fits = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, fit_free);
	sync->clocks = g_array_new(FALSE, TRUE, sizeof(struct clock));
	sync->held = g_array_new(FALSE, FALSE, sizeof(struct held));
	sync->collecting = true;
	g_queue_init(&sync->order);
	return sync;
}

/* The strings of an event, in the order of its class. */
static void each_string(struct lqn_event *ev, void (*func)(const char **text))
{
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) ev->type);

	for (size_t i = 0; i < class->n_fields; i++) {
		if (class->fields[i].kind == LQN_EVF_STRING) {
			func((const char **) (void *) ((char *) ev + class->fields[i].offset));
		}
	}
}

static void own_string(const char **text)
{
	*text = g_strdup(*text);
}

static void free_string(const char **text)
{
	g_free((gpointer) *text);
}

void lqn_sync_free(struct lqn_sync *sync)
{
	if (!sync) {
		return;
	}
	for (guint i = 0; i < sync->held->len; i++) {
		each_string(&g_array_index(sync->held, struct held, i).ev, free_string);
	}
	g_array_free(sync->held, TRUE);
	g_array_free(sync->clocks, TRUE);
	g_hash_table_destroy(sync->fits);
	g_hash_table_destroy(sync->halves);
	g_queue_clear_full(&sync->order, g_free);
	g_free(sync);
}

/* ---- the clocks ---- */

static struct lqn_clock_fit *fit_of(struct lqn_sync *sync, guint first, guint second, bool make)
{
	gpointer pair = GUINT_TO_POINTER(first << 16 | second);
	struct lqn_clock_fit *fit = g_hash_table_lookup(sync->fits, pair);

	if (!fit && make) {
		fit = g_new0(struct lqn_clock_fit, 1);
		lqn_clock_fit_init(fit);
		g_hash_table_insert(sync->fits, pair, fit);
	}
	return fit;
}

static struct clock *clock_of(struct lqn_sync *sync, guint host)
{
	while (sync->clocks->len <= host) {
		struct clock fresh = { .parent = sync->clocks->len };

		g_array_append_val(sync->clocks, fresh);
	}
	return &g_array_index(sync->clocks, struct clock, host);
}

/* Draws the lines anew, along the tree of hosts whose clocks are known best. */
static void draw(struct lqn_sync *sync)
{
	guint n = sync->analysis->hosts->len;
	g_autofree bool *done = g_new0(bool, n);

	clock_of(sync, n - 1);
	done[0] = true;
	for (guint round = 1; round < n; round++) {
		struct lqn_clock_line best = { .quality = LQN_CLOCK_NONE };
		guint from = 0, to = 0;

		for (guint i = 0; i < n; i++) {
			for (guint k = 0; done[i] && k < n; k++) {
				struct lqn_clock_fit *fit = done[k] ? NULL : fit_of(sync, i, k, false);
				struct lqn_clock_line line;

				if (!fit) {
					continue;
				}
				line = lqn_clock_fit_line(fit);
				if (line.quality != LQN_CLOCK_NONE &&
						(best.quality == LQN_CLOCK_NONE || line.bound < best.bound)) {
					best = line;
					from = i;
					to = k;
				}
			}
		}
		if (best.quality == LQN_CLOCK_NONE) {
			return;		/* the others have no connection to these */
		}
		*clock_of(sync, to) = (struct clock) { best, from };
		done[to] = true;
	}
}

static void match(struct lqn_sync *sync, const struct half *sent, const struct half *received)
{
	guint a = sent->host->number, b = received->host->number;

	/* each host may turn out to be the reference of the other */
	lqn_clock_fit_there(fit_of(sync, a, b, true), sent->at, received->at);
	lqn_clock_fit_back(fit_of(sync, b, a, true), sent->at, received->at);
	if (++sync->matches % FIT_AGAIN == 0 && !sync->collecting) {
		draw(sync);
	}
}

static void forget_oldest(struct lqn_sync *sync)
{
	struct half *half = g_queue_pop_head(&sync->order);

	if (g_hash_table_lookup(sync->halves, &half->key) == half) {
		g_hash_table_remove(sync->halves, &half->key);
	}
	g_free(half);
}

static void on_packet(struct lqn_sync *sync, struct lqn_party *host, const struct lqn_event *ev)
{
	struct half half = {
		.key = { ev->packet.saddr, ev->packet.daddr, ev->packet.sport, ev->packet.dport, ev->packet.seq },
		.host = host, .at = ev->packet.at, .received = ev->packet.received != 0,
	};
	struct half *other = g_hash_table_lookup(sync->halves, &half.key);

	if (other && other->host != host && other->received != half.received) {
		match(sync, half.received ? other : &half, half.received ? &half : other);
		g_hash_table_remove(sync->halves, &half.key);
	} else if (!other) {
		other = g_memdup2(&half, sizeof(half));
		g_queue_push_tail(&sync->order, other);
		g_hash_table_insert(sync->halves, &other->key, other);
		if (sync->order.length > PACKETS_MAX) {
			forget_oldest(sync);
		}
	}
}

static int64_t correct(struct lqn_sync *sync, guint host, int64_t ts)
{
	/* 0 and -1 are no times */
	for (guint hops = 0; ts > 0 && hops < sync->clocks->len; hops++) {
		const struct clock *clock = clock_of(sync, host);

		if (clock->parent == host) {
			break;
		}
		ts = lqn_clock_line_correct(&clock->line, ts);
		host = clock->parent;
	}
	return ts;
}

static void deliver(struct lqn_sync *sync, guint host, struct lqn_event *ev)
{
	const struct lqn_event_class *class = lqn_event_class((enum lqn_event_type) ev->type);

	ev->ts = correct(sync, host, ev->ts);
	for (size_t i = 0; i < class->n_fields; i++) {
		if (class->fields[i].kind == LQN_EVF_TIME) {
			int64_t *ts = (int64_t *) (void *) ((char *) ev + class->fields[i].offset);

			*ts = correct(sync, host, *ts);
		}
	}
	sync->deliver(sync->analysis, sync->analysis->hosts->pdata[host], ev);
}

static void release(struct lqn_sync *sync)
{
	draw(sync);
	sync->collecting = false;
	for (guint i = 0; i < sync->held->len; i++) {
		struct held *held = &g_array_index(sync->held, struct held, i);

		deliver(sync, held->host, &held->ev);
		each_string(&held->ev, free_string);
	}
	/* its memory is more than all that comes after it takes */
	g_array_free(sync->held, TRUE);
	sync->held = g_array_new(FALSE, FALSE, sizeof(struct held));
}

void lqn_sync_event(struct lqn_sync *sync, struct lqn_party *host, const struct lqn_event *ev)
{
	struct held held = { *ev, (uint16_t) host->number };

	if (ev->type == LQN_EV_PACKET) {
		on_packet(sync, host, ev);
	}
	if (!sync->collecting) {
		deliver(sync, host->number, &held.ev);
		return;
	}
	each_string(&held.ev, own_string);
	g_array_append_val(sync->held, held);
	if (sync->held->len >= LQN_SYNC_HELD_MAX) {
		release(sync);
	}
}

void lqn_sync_flush(struct lqn_sync *sync)
{
	if (sync->collecting) {
		release(sync);
	}
}

struct lqn_clock_line lqn_sync_line(const struct lqn_sync *sync, const struct lqn_party *host,
	const struct lqn_party **via)
{
	struct lqn_clock_line none = { .quality = LQN_CLOCK_NONE };
	const struct clock *clock;

	*via = host;
	if (host->number >= sync->clocks->len) {
		return none;
	}
	clock = &g_array_index(sync->clocks, struct clock, host->number);
	*via = sync->analysis->hosts->pdata[clock->parent];
	return clock->parent == host->number ? none : clock->line;
}
