/* SPDX-License-Identifier: MIT */
#include "plugin/common/packet.h"

#include <glib.h>

#include "layout/layout.h"

#define IPV6_HEADER 40
#define UDP_HEADER 8

/* One option of the variant `transport_header`; indices are -1 in a header without ports. */
struct transport {
	struct lqn_access source_port, dest_port, seq, flags, data_offset;
};

/* One option of the variant `network_header`. */
struct network {
	struct lqn_access tot_len, payload_len, ihl, protocol, saddr, daddr, transport_header;
	struct transport *transports;	/* owned */
	uint64_t n_transports;
};

struct lqn_packet_access {
	struct lqn_access access;
	struct network *networks;	/* owned */
	uint64_t n_networks;
};

static uint64_t option_count(const struct lqn_access *access)
{
	/* A structure counts as a variant with one option, that is always selected. */
	return access->shape == LQN_SHAPE_VARIANT ?
		bt_field_class_variant_get_option_count(access->fc) :
		access->shape == LQN_SHAPE_STRUCTURE ? 1 : 0;
}

static const bt_field_class *option_class(const struct lqn_access *access, uint64_t i)
{
	return access->shape == LQN_SHAPE_VARIANT ?
		bt_field_class_variant_option_borrow_field_class_const(
			bt_field_class_variant_borrow_option_by_index_const(access->fc, i)) :
		access->fc;
}

static const bt_field *selected(const struct lqn_access *access, const bt_field *field,
	uint64_t *index)
{
	if (access->shape != LQN_SHAPE_VARIANT) {
		*index = 0;
		return field;
	}
	*index = bt_field_variant_get_selected_option_index(field);
	return bt_field_variant_borrow_selected_option_field_const(field);
}

static struct transport bind_transport(const bt_field_class *fc)
{
	return (struct transport) {
		.source_port = lqn_access_find(fc, "source_port"),
		.dest_port = lqn_access_find(fc, "dest_port"),
		.seq = lqn_access_find(fc, "seq"),
		.flags = lqn_access_find(fc, "flags"),
		.data_offset = lqn_access_find(fc, "data_offset"),
	};
}

static struct network bind_network(const bt_field_class *fc)
{
	struct network net = {
		.tot_len = lqn_access_find(fc, "tot_len"),
		.payload_len = lqn_access_find(fc, "payload_len"),
		.ihl = lqn_access_find(fc, "ihl"),
		.protocol = lqn_access_find(fc, "protocol|nexthdr"),
		.saddr = lqn_access_find(fc, "saddr"),
		.daddr = lqn_access_find(fc, "daddr"),
		.transport_header = lqn_access_find(fc, "transport_header"),
	};

	net.n_transports = option_count(&net.transport_header);
	net.transports = g_new(struct transport, net.n_transports);
	for (uint64_t i = 0; i < net.n_transports; i++) {
		net.transports[i] = bind_transport(option_class(&net.transport_header, i));
	}
	return net;
}

struct lqn_packet_access *lqn_packet_access_new(const struct lqn_access *access)
{
	uint64_t n = option_count(access);
	struct lqn_packet_access *packet;

	if (n == 0) {
		return NULL;
	}
	packet = g_new0(struct lqn_packet_access, 1);
	packet->access = *access;
	packet->n_networks = n;
	packet->networks = g_new(struct network, n);
	for (uint64_t i = 0; i < n; i++) {
		packet->networks[i] = bind_network(option_class(access, i));
	}
	return packet;
}

void lqn_packet_access_free(struct lqn_packet_access *packet)
{
	if (!packet) {
		return;
	}
	for (uint64_t i = 0; i < packet->n_networks; i++) {
		g_free(packet->networks[i].transports);
	}
	g_free(packet->networks);
	g_free(packet);
}

static uint64_t read_address(const struct lqn_access *access, const bt_field *parent)
{
	const bt_field *field = lqn_access_borrow(access, parent);
	uint8_t bytes[16];
	size_t n;

	if (!field) {
		return 0;
	}
	if (access->integer) {
		return (uint32_t) access->integer(field);
	}
	n = lqn_access_copy_bytes(access, field, bytes, sizeof(bytes));
	return lqn_layout_address(bytes, n);
}

static void fill_transport(const struct transport *tp, const bt_field *field,
	struct lqn_record *rec)
{
	if (tp->source_port.index < 0) {
		return;
	}
	rec->packet.sport = (uint16_t) lqn_access_integer(&tp->source_port, field, 0);
	rec->packet.dport = (uint16_t) lqn_access_integer(&tp->dest_port, field, 0);
	if (tp->seq.index < 0) {
		rec->packet.header += UDP_HEADER;
		return;
	}
	rec->packet.seq = (uint32_t) lqn_access_integer(&tp->seq, field, 0);
	rec->packet.flags = (uint8_t) lqn_access_integer(&tp->flags, field, 0);
	rec->packet.header += (uint16_t) (4 * lqn_access_integer(&tp->data_offset, field, 0));
}

static void fill_network(const struct network *net, const bt_field *field,
	struct lqn_record *rec)
{
	bool v4 = net->ihl.index >= 0;
	int64_t len = v4 ? lqn_access_integer(&net->tot_len, field, 0) :
		lqn_access_integer(&net->payload_len, field, 0);
	const bt_field *header;
	uint64_t i;

	/* 0 stands for more than fits: what a segmentation offload hands over in one piece. */
	if (len > 0) {
		rec->packet.len = (uint32_t) (v4 ? len : len + IPV6_HEADER);
	}
	rec->packet.header = (uint16_t) (v4 ? 4 * lqn_access_integer(&net->ihl, field, 0) :
		IPV6_HEADER);
	rec->packet.protocol = (uint8_t) lqn_access_integer(&net->protocol, field, 0);
	rec->packet.saddr = read_address(&net->saddr, field);
	rec->packet.daddr = read_address(&net->daddr, field);
	header = lqn_access_borrow(&net->transport_header, field);
	if (!header) {
		return;
	}
	header = selected(&net->transport_header, header, &i);
	if (i < net->n_transports) {
		fill_transport(&net->transports[i], header, rec);
	}
}

void lqn_packet_access_fill(const struct lqn_packet_access *packet, const bt_field *field,
	struct lqn_record *rec)
{
	uint64_t i;

	field = selected(&packet->access, field, &i);
	if (i < packet->n_networks && packet->networks[i].saddr.index >= 0) {
		fill_network(&packet->networks[i], field, rec);
	}
}
