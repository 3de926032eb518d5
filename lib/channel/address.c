/* SPDX-License-Identifier: MIT */

/* Addresses of connections: what they are called, and who is at the other end. */
#include "channel/internal.h"

static void append_address(GString *name, uint64_t address, uint16_t port)
{
	if (address >> 32) {
		/* of an IPv6 address a hash is known */
		g_string_append_printf(name, "[%016" G_GINT64_MODIFIER "x]:%u", address, port);
	} else {
		g_string_append_printf(name, "%u.%u.%u.%u:%u", (unsigned) (address >> 24),
			(unsigned) (address >> 16 & 255), (unsigned) (address >> 8 & 255),
			(unsigned) (address & 255), port);
	}
}

void lqn_channel_name_by_tuple(struct lqn_object *object)
{
	GString *name = g_string_new(NULL);
	GHashTable *by_path = object->channels->by_path;

	if (object->name && g_hash_table_lookup(by_path, object->name) == object) {
		g_hash_table_remove(by_path, object->name);	/* its key is the name */
	}

	append_address(name, object->tuple.saddr, object->tuple.sport);
	if (object->tuple.daddr != 0 || object->tuple.dport != 0) {
		g_string_append(name, " -> ");
		append_address(name, object->tuple.daddr, object->tuple.dport);
	}
	g_free(object->name);
	object->name = g_string_free(name, FALSE);
}

bool lqn_channel_is_local(const struct lqn_channels *channels, uint64_t address, uint64_t other)
{
	return address == other || g_hash_table_contains(channels->addresses, &address);
}

void lqn_channel_set_tuple(struct lqn_object *object, const struct lqn_tuple *tuple)
{
	struct lqn_tuple reverse = lqn_tuple_reverse(tuple);
	struct lqn_object *same, *peer;
	GHashTable *by_tuple;

	object = lqn_object_real(object);
	by_tuple = object->channels->by_tuple;
	if (object->has_tuple) {
		return;
	}
	object->tuple = *tuple;
	object->has_tuple = true;
	object->kind = LQN_OBJ_TCP;
	same = g_hash_table_lookup(by_tuple, tuple);
	if (same && !same->closed && object->preexisting) {
		/* one connection under two descriptors: it was passed on */
		object->has_tuple = false;
		lqn_channel_set_alias(object, lqn_object_real(same));
		return;
	}
	/* replace: the key must be the new object's own */
	g_hash_table_replace(by_tuple, &object->tuple, object);
	peer = g_hash_table_lookup(by_tuple, &reverse);
	lqn_channel_name_by_tuple(object);
	if (object->announced) {
		lqn_channel_announce(object, true);
	}
	if (peer && (!peer->closed || peer->unsent)) {
		lqn_channel_pair(object, peer, LQN_CERTAIN);
	} else if (!lqn_channel_is_local(object->channels, tuple->daddr, tuple->saddr)) {
		object->remote = true;
		lqn_channel_announce(object, true);
		lqn_channel_drain(object);
	}
}
