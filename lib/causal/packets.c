/* SPDX-License-Identifier: MIT */

/*
 * What packets tell of connections: the addresses and ports of both ends. The address of a socket buffer names a
 * packet only for a moment (buffers are reused at once), so it is trusted for TCP sockets alone.
 */
#include "engine.h"

#define PROTOCOL_TCP 6
#define FLAG_SYN 0x02
#define FLAG_ACK 0x10

static struct lqn_skb *slot_of(struct lqn_causal *c, uint64_t address)
{
	return &c->skbs[(address * 0x9e3779b97f4a7c15u) >> 32 & (LQN_SKB_SLOTS - 1)];
}

/* True if the packet, queued by the thread's own call, tells the addresses of the call's object. */
static bool is_own(const struct lqn_record *rec, const struct lqn_open_call *call, const struct lqn_object *object)
{
	if (object->kind != LQN_OBJ_TCP && object->kind != LQN_OBJ_UNKNOWN) {
		return false;
	}
	if (call->kind == LQN_CALL_CONNECT) {
		return (rec->packet.flags & (FLAG_SYN | FLAG_ACK)) == FLAG_SYN;
	}
	/* an acknowledgement may be of another connection, data is this one's */
	return lqn_call_class(call->kind) == LQN_CLASS_SEND && rec->packet.len > rec->packet.header;
}

void lqn_step_packet(struct lqn_step *step)
{
	struct lqn_record *rec = step->rec;
	struct lqn_tuple tuple = {
		rec->packet.saddr, rec->packet.daddr, rec->packet.sport, rec->packet.dport
	};
	struct lqn_skb *slot;
	struct lqn_open_call *call;

	if (rec->packet.protocol != PROTOCOL_TCP) {
		return;
	}
	slot = slot_of(step->causal, rec->packet.skb);
	slot->address = rec->packet.skb;
	slot->tuple = tuple;
	if (rec->type != LQN_REC_PACKET_QUEUE || !step->thread || step->cpu->depth > 0) {
		return;
	}
	call = &step->thread->call;
	if (call->kind != LQN_CALL_NONE && call->object && !call->object->has_tuple &&
			is_own(rec, call, call->object)) {
		lqn_channel_set_tuple(call->object, &tuple);
	}
}

void lqn_step_packet_copy(struct lqn_step *step)
{
	const struct lqn_skb *slot = slot_of(step->causal, step->rec->packet.skb);
	struct lqn_object *object;

	if (!step->thread || slot->address != step->rec->packet.skb ||
			lqn_call_class(step->thread->call.kind) != LQN_CLASS_RECEIVE) {
		return;
	}
	object = lqn_object_real(step->thread->call.object);
	if (object && object->kind == LQN_OBJ_TCP && !object->has_tuple) {
		struct lqn_tuple tuple = {
			slot->tuple.daddr, slot->tuple.saddr, slot->tuple.dport, slot->tuple.sport
		};

		lqn_channel_set_tuple(object, &tuple);
	}
}
