/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_BOUND_H
#define LQN_PLUGIN_BOUND_H

/* The fields of a layout, each found in an event class: how to get from its field into a record. */
#include "plugin/common/access.h"
#include "plugin/common/packet.h"
#include "layout/layout.h"

/* LQN_FIELD_FDS, LQN_FIELD_LAST: the way from an element of an array to the number. */
struct lqn_bound_way {
	struct lqn_access part[2];
	unsigned n_parts;
};

/* A field of a layout, found in an event class. Small: several of them are read for every event. */
struct lqn_bound {
	struct lqn_access access;
	void (*store)(const struct lqn_bound *bound, const bt_field *field,
		struct lqn_record *rec);
	struct lqn_bound_way *way;	/* owned; NULL: there is none */
	union {
		uint32_t offset;		/* into struct lqn_record */
		struct lqn_packet_access *packet;	/* LQN_FIELD_PACKET; owned */
	};
};

/*
 * Finds a field of a layout in the structure `payload` (NULL: there is none). False, and nothing to
 * clear, if there is no such member, or one that cannot be what the layout wants.
 */
bool lqn_bound_init(struct lqn_bound *bound, const struct lqn_layout_field *field,
	const bt_field_class *payload);

/* Frees what a field that was found owns. */
void lqn_bound_clear(struct lqn_bound *bound);

#endif
