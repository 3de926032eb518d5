/* SPDX-License-Identifier: MIT */

/*
 * What packets tell of connections: the addresses and ports of both ends. The address of a socket
 * buffer names a packet only for a moment (buffers are reused at once), so it is trusted for TCP
 * sockets alone.
 *
 * Data that leaves or reaches the host is told of (lqn:packet), for only who sees both hosts can
 * say whose it is. What a host sends to itself is known better by the system calls; without them
 * its packets are told of as well.
 */
#include "causal/engine.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define FLAG_SYN 0x02
#define FLAG_ACK 0x10

static struct lqn_skb *slot_of(struct lqn_causal *c, uint64_t address)
{
	return &c->skbs[(address * 0x9e3779b97f4a7c15u) >> 32 & (LQN_SKB_SLOTS - 1)];
}

/* True if the packet, queued by the thread's own call, tells the addresses of the call's object. */
static bool is_own(const struct lqn_record *rec, const struct lqn_open_call *call,
	const struct lqn_object *object)
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

static uint32_t payload(const struct lqn_record *rec)
{
	return rec->packet.len > rec->packet.header ? rec->packet.len - rec->packet.header : 0;
}

static bool to_self(const struct lqn_tuple *tuple)
{
	return tuple->saddr == tuple->daddr;
}

static bool same_connection(const struct lqn_tuple *a, const struct lqn_tuple *b)
{
	return (a->saddr == b->saddr && a->daddr == b->daddr && a->sport == b->sport &&
			a->dport == b->dport) ||
		(a->saddr == b->daddr && a->daddr == b->saddr && a->sport == b->dport &&
			a->dport == b->sport);
}

bool lqn_step_brings_own(const struct lqn_step *step)
{
	const struct lqn_cpu *cpu = step->cpu;

	return cpu->arrival.ts < 0 || same_connection(&cpu->arrival.tuple, &cpu->queued);
}

static uint64_t tell(struct lqn_causal *c, uint64_t thread, const struct lqn_arrival *data,
	bool received)
{
	struct lqn_event ev = { .type = LQN_EV_PACKET };

	if (data->bytes == 0 || (to_self(&data->tuple) && c->have_calls)) {
		return 0;
	}
	ev.packet.thread = thread;
	ev.packet.number = ++c->packets;
	ev.packet.at = data->ts;
	ev.packet.saddr = data->tuple.saddr;
	ev.packet.daddr = data->tuple.daddr;
	ev.packet.sport = data->tuple.sport;
	ev.packet.dport = data->tuple.dport;
	ev.packet.seq = data->seq;
	ev.packet.bytes = data->bytes;
	ev.packet.received = received;
	lqn_causal_emit(c, &ev);
	return ev.packet.number;
}

uint64_t lqn_step_arrival(const struct lqn_step *step, const struct lqn_thread *target)
{
	struct lqn_arrival *arrival = &step->cpu->arrival;

	if (arrival->ts >= 0 && arrival->number == 0) {
		arrival->number = tell(step->causal, target->key, arrival, true);
	}
	return arrival->ts >= 0 ? arrival->number : 0;
}

static void sent(struct lqn_step *step, const struct lqn_arrival *data)
{
	if (!step->thread || !lqn_cpu_in_task(step->cpu)) {
		return;
	}
	step->cpu->sent_to_self |= to_self(&data->tuple);
	if (step->cpu->depth == 0) {
		step->cpu->queued = data->tuple;
	}
	tell(step->causal, step->thread->key, data, false);
}

/* In an interrupt, or in a kernel thread that does an interrupt's work. */
static void received(struct lqn_step *step, const struct lqn_arrival *data)
{
	if (step->cpu->depth > 0 || (step->thread && step->thread->kernel)) {
		step->cpu->arrival = *data;
	}
}

/* True for a socket, not a flow; of one that is older than the trace it is noted that it is one. */
static bool note_udp_socket(struct lqn_object *socket)
{
	if (socket->kind == LQN_OBJ_UNKNOWN && socket->preexisting && !socket->peer &&
			!socket->alias) {
		socket->kind = LQN_OBJ_UDP;
	}
	return socket->kind == LQN_OBJ_UDP && !(socket->has_tuple && socket->tuple.dport != 0);
}

/* A packet of UDP: if the thread's own call has sent it, it says to whom. */
static void datagram(struct lqn_step *step, const struct lqn_tuple *tuple)
{
	struct lqn_channels *channels = &step->causal->channels;
	struct lqn_open_call *call = step->thread ? &step->thread->call : NULL;
	struct lqn_object *socket = call ? call->object : NULL, *flow;

	if (step->rec->type != LQN_REC_PACKET_QUEUE) {
		/* a bridge passes it on, in the same softirq */
		if (step->cpu->datagram_skb != step->rec->packet.skb) {
			lqn_channel_datagram(channels, tuple, step->rec->ts, payload(step->rec));
		}
		step->cpu->datagram = *tuple;
		step->cpu->datagram_skb = step->rec->packet.skb;
		return;
	}
	lqn_channel_note_address(channels, tuple->saddr);
	if (step->cpu->depth > 0 || !socket || !call->message || !note_udp_socket(socket)) {
		return;
	}
	/* the message is not of the socket but of the flow */
	lqn_channel_send_end(socket, call->object_id, call->message, step->rec->ts, 0);
	lqn_channel_own(socket, tuple->saddr, tuple->sport);
	flow = lqn_channel_flow(channels, tuple, step->thread->key);
	lqn_object_set(&call->object, flow);
	call->object_id = flow->id;
	call->message = lqn_channel_send_begin(flow, step->thread->key, call->begin, 0);
}

void lqn_step_datagram_wakes(const struct lqn_step *step, struct lqn_thread *target)
{
	struct lqn_object *socket = target->call.object;

	if (socket && lqn_call_class(target->call.kind) == LQN_CLASS_RECEIVE &&
			note_udp_socket(socket)) {
		lqn_channel_own(socket, step->cpu->datagram.daddr, step->cpu->datagram.dport);
	}
}

void lqn_step_packet(struct lqn_step *step)
{
	struct lqn_record *rec = step->rec;
	struct lqn_tuple tuple = {
		rec->packet.saddr, rec->packet.daddr, rec->packet.sport, rec->packet.dport
	};
	struct lqn_arrival data = {
		.ts = rec->ts, .tuple = tuple, .seq = rec->packet.seq, .bytes = payload(rec),
	};
	struct lqn_skb *slot;
	struct lqn_open_call *call;

	if (rec->packet.protocol == PROTOCOL_UDP) {
		datagram(step, &tuple);
	} else if (rec->type == LQN_REC_PACKET_RECEIVE) {
		step->cpu->datagram_skb = 0;	/* what wakes now is no datagram */
	}
	if (rec->packet.protocol != PROTOCOL_TCP) {
		step->cpu->arrival.ts = -1;
		return;
	}
	step->causal->channels.have_packets = true;
	if (rec->type == LQN_REC_PACKET_QUEUE) {
		lqn_channel_note_address(&step->causal->channels, tuple.saddr);
	}
	slot = slot_of(step->causal, rec->packet.skb);
	slot->address = rec->packet.skb;
	slot->tuple = tuple;
	(rec->type == LQN_REC_PACKET_QUEUE ? sent : received)(step, &data);
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
		struct lqn_tuple tuple = lqn_tuple_reverse(&slot->tuple);

		lqn_channel_set_tuple(object, &tuple);
	}
}
