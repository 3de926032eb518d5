/* SPDX-License-Identifier: MIT */

/*
 * Data of TCP connections on its way between threads, on one host or several. What is sent and what
 * arrives are matched by the numbers of their bytes, not piece by piece: devices cut what is sent,
 * and put together what arrives. A piece that is sent again counts by its first sending: the time
 * until the second is part of the way.
 */
#include "internal.h"

static guint hash_flow(gconstpointer key)
{
	const struct lqn_flow *flow = key;
	uint64_t hash = flow->saddr * 0x9e3779b97f4a7c15u ^ flow->daddr;

	hash = hash * 0x9e3779b97f4a7c15u ^ ((uint64_t) flow->sport << 32 | flow->dport);
	return (guint) ((hash * 0x9e3779b97f4a7c15u) >> 32);
}

static gboolean equal_flow(gconstpointer a, gconstpointer b)
{
	const struct lqn_flow *x = a, *y = b;

	return x->saddr == y->saddr && x->daddr == y->daddr && x->sport == y->sport &&
		x->dport == y->dport;
}

static void free_array(gpointer array)
{
	g_array_free(array, TRUE);
}

GHashTable *lqn_flows_new(void)
{
	return g_hash_table_new_full(hash_flow, equal_flow, g_free, free_array);
}

static void on_sent(struct lqn_analysis *a, struct lqn_packet *packet)
{
	GArray *sent = g_hash_table_lookup(a->flows, &packet->flow);

	if (!sent) {
		sent = g_array_new(FALSE, FALSE, sizeof(struct lqn_packet));
		g_hash_table_insert(a->flows, g_memdup2(&packet->flow, sizeof(packet->flow)), sent);
	}
	if (sent->len > 0) {
		const struct lqn_packet *last = &g_array_index(
			sent, struct lqn_packet, sent->len - 1);
		int64_t ahead = (int32_t) ((uint32_t) packet->first - (uint32_t) last->first);

		if (ahead <= 0) {
			return;		/* again */
		}
		packet->first = last->first + ahead;
	}
	g_array_append_val(sent, *packet);
	lqn_keep_add(&a->keep, sizeof(*packet));
}

void lqn_on_packet(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_packet packet = {
		.number = ev->packet.number,
		.flow = { ev->packet.saddr, ev->packet.daddr, ev->packet.sport, ev->packet.dport },
		.actor = lqn_party_actor(host, ev->packet.thread),
		.at = ev->packet.at,
		.first = ev->packet.seq,
		.bytes = ev->packet.bytes,
	};

	if (!ev->packet.received) {
		on_sent(a, &packet);
	} else if (host->arrivals->len == 0 ||
		packet.number >
			g_array_index(host->arrivals, struct lqn_packet, host->arrivals->len - 1)
				.number) {
		g_array_append_val(host->arrivals, packet);
		lqn_keep_add(&a->keep, sizeof(packet));
	}
}

/* The last one stays if `last` says so; bytes of those that stay. */
static uint64_t forget(const struct lqn_analysis *a, GArray *packets, bool last)
{
	guint n = 0;

	for (guint i = 0; i < packets->len; i++) {
		const struct lqn_packet *it = &g_array_index(packets, struct lqn_packet, i);

		if (lqn_keeps_any(a, it->at, it->at + 1) || (last && i + 1 == packets->len)) {
			g_array_index(packets, struct lqn_packet, n++) = *it;
		}
	}
	g_array_set_size(packets, n);
	return n * sizeof(struct lqn_packet);
}

uint64_t lqn_packets_forget(struct lqn_analysis *a)
{
	uint64_t held = 0;
	GHashTableIter iter;
	gpointer value;

	for (guint i = 0; i < a->hosts->len; i++) {
		held += forget(a, ((struct lqn_party *) a->hosts->pdata[i])->arrivals, false);
	}
	g_hash_table_iter_init(&iter, a->flows);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		GArray *sent = value;

		/* the numbers of what comes next are counted on from the last; a flow that is over begins anew */
		held += forget(a, sent, sent->len > 1);
		if (sent->len == 0) {
			g_hash_table_iter_remove(&iter);
		}
	}
	return held;
}

const struct lqn_packet *lqn_packet_arrival(const struct lqn_party *host, uint64_t number)
{
	guint low = 0, high = host->arrivals->len;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (g_array_index(host->arrivals, struct lqn_packet, middle).number < number) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low < host->arrivals->len &&
		g_array_index(host->arrivals, struct lqn_packet, low).number == number) {
		return &g_array_index(host->arrivals, struct lqn_packet, low);
	}
	return NULL;
}

/* The last packet whose first byte is not behind `byte`, if it holds it. */
static const struct lqn_packet *holder_of(const GArray *sent, int64_t byte)
{
	guint before = LQN_COUNT_UNTIL(sent, struct lqn_packet, first, byte);

	if (before > 0) {
		const struct lqn_packet *packet = &g_array_index(sent, struct lqn_packet, before - 1);

		return byte < packet->first + packet->bytes ? packet : NULL;
	}
	return NULL;
}

const struct lqn_packet *lqn_packet_origin(
	const struct lqn_analysis *a, const struct lqn_packet *arrival)
{
	const GArray *sent = g_hash_table_lookup(a->flows, &arrival->flow);
	const struct lqn_packet *best = NULL;

	if (!sent) {
		return NULL;
	}
	/* numbers of bytes come again after 4 GiB: the sending that is nearest in time is meant */
	for (int64_t byte = arrival->first + arrival->bytes - 1;
		byte <= g_array_index(sent, struct lqn_packet, sent->len - 1).first + UINT32_MAX;
		byte += (int64_t) 1 << 32) {
		const struct lqn_packet *packet = holder_of(sent, byte);

		if (packet &&
			(!best || ABS(packet->at - arrival->at) < ABS(best->at - arrival->at))) {
			best = packet;
		}
	}
	return best;
}
