/* SPDX-License-Identifier: MIT */

/*
 * UDP. A socket talks to anybody; to whom, and from whom, shows from the addresses of the packets.
 *   - A *flow* is what goes from one address and port to another. The flows of both directions are
 *     each other's peers, as the ends of a connection are: so answers find who has asked.
 *   - A *mailbox* is where all that goes to one address and port is read, in order of its coming. A
 *     socket turns out to be one by what it sends, or by what wakes its reader.
 * Between hosts only one of two flows is known here. What comes is put into the mailbox as it comes.
 */
#include "channel/internal.h"

static void forget_oldest(struct lqn_channels *channels)
{
	struct lqn_object *it = g_queue_pop_head(&channels->flow_order);

	lqn_channel_give_up(it);
	if (it->peer && it->peer->peer == it) {
		lqn_object_set(&it->peer->peer, NULL);
	}
	lqn_object_set(&it->peer, NULL);
	g_hash_table_remove(channels->flows, &it->tuple);
	lqn_object_unpin(it);
}

/* A flow, or a mailbox (no destination). */
static struct lqn_object *add(struct lqn_channels *channels, const struct lqn_tuple *tuple, uint64_t maker)
{
	struct lqn_object *it = lqn_object_pin(lqn_object_new(channels, LQN_OBJ_UDP, maker, NULL));

	it->tuple = *tuple;
	it->has_tuple = true;
	lqn_channel_name_by_tuple(it);
	g_hash_table_insert(channels->flows, &it->tuple, it);
	g_queue_push_tail(&channels->flow_order, it);
	return it;
}

static void make_room(struct lqn_channels *channels)
{
	while (channels->flow_order.length + 4 > LQN_FLOWS_MAX) {
		forget_oldest(channels);
	}
}

static struct lqn_object *mailbox_of(struct lqn_channels *channels, uint64_t address, uint16_t port)
{
	struct lqn_tuple key = { address, 0, port, 0 };
	struct lqn_object *mailbox = g_hash_table_lookup(channels->flows, &key);

	return mailbox ? mailbox : add(channels, &key, 0);
}

static void set_peers(struct lqn_object *flow, struct lqn_object *peer)
{
	peer->remote = flow->remote = false;
	lqn_object_set(&flow->peer, peer);
	lqn_object_set(&peer->peer, flow);
	/* who sends first asks */
	flow->role = peer->role == LQN_ROLE_CLIENT ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
	peer->role = flow->role == LQN_ROLE_CLIENT ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
	lqn_object_set(&flow->mailbox, mailbox_of(flow->channels, flow->tuple.daddr, flow->tuple.dport));
	lqn_object_set(&peer->mailbox, mailbox_of(flow->channels, flow->tuple.saddr, flow->tuple.sport));
	lqn_channel_announce(flow, true);
	lqn_channel_announce(peer, true);
}

struct lqn_object *lqn_channel_flow(struct lqn_channels *channels, const struct lqn_tuple *tuple, uint64_t maker)
{
	struct lqn_tuple reverse = lqn_tuple_reverse(tuple);
	struct lqn_object *flow = g_hash_table_lookup(channels->flows, tuple), *peer;

	if (flow) {
		return flow;
	}
	make_room(channels);
	flow = add(channels, tuple, maker);
	peer = g_hash_table_lookup(channels->flows, &reverse);
	if (!peer && lqn_channel_is_local(channels, tuple->daddr, tuple->saddr)) {
		peer = add(channels, &reverse, 0);
	}
	if (peer) {
		set_peers(flow, peer);
	} else {
		flow->remote = true;
		lqn_channel_announce(flow, true);
	}
	return flow;
}

void lqn_channel_own(struct lqn_object *socket, uint64_t address, uint16_t port)
{
	struct lqn_object *mailbox, *real = lqn_object_real(socket);

	make_room(real->channels);
	mailbox = mailbox_of(real->channels, address, port);
	if (lqn_object_real(mailbox) == real) {
		return;
	}
	if (real->has_tuple) {
		/* it has several addresses: one queue all the same */
		lqn_channel_merge(mailbox, real);
	} else {
		lqn_channel_announce(mailbox, false);
		lqn_channel_merge(real, lqn_object_real(mailbox));
		lqn_channel_move_held(real, lqn_object_real(mailbox));
	}
}

void lqn_channel_datagram(struct lqn_channels *channels, const struct lqn_tuple *tuple, int64_t ts, int64_t bytes)
{
	struct lqn_tuple reverse = lqn_tuple_reverse(tuple);

	if (!lqn_channel_is_local(channels, tuple->saddr, tuple->daddr)) {
		make_room(channels);
		lqn_channel_arrived(lqn_object_real(mailbox_of(channels, tuple->daddr, tuple->dport)),
			lqn_channel_flow(channels, &reverse, 0)->id, ts, bytes);
	}
}

void lqn_channel_clear_flows(struct lqn_channels *channels)
{
	while (channels->flow_order.length > 0) {
		forget_oldest(channels);
	}
}
