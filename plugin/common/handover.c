/* SPDX-License-Identifier: MIT */
#include "plugin/common/handover.h"

/* Graphs may run in threads of their own; what is in a handover belongs to one graph. */
static GMutex lock;
static GHashTable *offers;	/* const bt_event_class * -> struct lqn_handover *, with a reference */

struct lqn_handover *lqn_handover_new(void)
{
	return g_atomic_rc_box_new0(struct lqn_handover);
}

void lqn_handover_unref(struct lqn_handover *handover)
{
	if (handover) {
		g_atomic_rc_box_release(handover);
	}
}

static void unref(void *handover)
{
	lqn_handover_unref(handover);
}

void lqn_handover_offer(struct lqn_handover *handover, const bt_event_class *ec)
{
	g_mutex_lock(&lock);
	if (!offers) {
		offers = g_hash_table_new_full(NULL, NULL, NULL, unref);
	}
	g_hash_table_insert(offers, (void *) ec, g_atomic_rc_box_acquire(handover));
	g_mutex_unlock(&lock);
}

void lqn_handover_withdraw(const bt_event_class *ec)
{
	g_mutex_lock(&lock);
	if (offers && g_hash_table_remove(offers, ec) && g_hash_table_size(offers) == 0) {
		g_clear_pointer(&offers, g_hash_table_destroy);
	}
	g_mutex_unlock(&lock);
}

struct lqn_handover *lqn_handover_find(const bt_event_class *ec)
{
	struct lqn_handover *handover;

	g_mutex_lock(&lock);
	handover = offers ? g_hash_table_lookup(offers, ec) : NULL;
	if (handover) {
		g_atomic_rc_box_acquire(handover);
	}
	g_mutex_unlock(&lock);
	return handover;
}
