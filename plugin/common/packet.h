/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_PACKET_H
#define LQN_PLUGIN_PACKET_H

/* The network header that LTTng puts into events of packets: variants of structures of variants. */
#include "plugin/common/access.h"
#include "layout/record.h"

struct lqn_packet_access;

/*
 * Finds out how to read a member `network_header` with this access; NULL if it is neither a variant
 * nor a structure. Free with lqn_packet_access_free().
 */
struct lqn_packet_access *lqn_packet_access_new(const struct lqn_access *access);
void lqn_packet_access_free(struct lqn_packet_access *packet);

/*
 * Fills saddr, daddr, protocol, header, sport, dport, seq, flags of `rec`, and len where the IP
 * header says it (without the link header). `field` is the member; what it lacks stays as it is.
 */
void lqn_packet_access_fill(const struct lqn_packet_access *packet, const bt_field *field,
	struct lqn_record *rec);

#endif
