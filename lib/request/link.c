/* SPDX-License-Identifier: MIT */

/*
 * Connections between hosts. Each host's filter knows its own end only; here the ends find each other by their addresses, and
 * what one reads is matched to what the other sent, by counting bytes; datagrams by their order and length. It does not matter
 * which of the two is heard of first.
 */
#include "internal.h"

#include <string.h>

#define UNREAD_MAX 65536	/* messages kept that the other end never reads */
#define LOST_MAX 64		/* datagrams that are lost in a row, or overtaken by another */

struct lqn_unread {
	uint64_t seq, sender;
	int64_t bytes, sent;
};

struct lqn_pending {
	struct lqn_event ev;
	struct lqn_party *host;
	int64_t left;
};

static const char arrow[] = " -> ";

/* `A -> B` as the other end has it: `B -> A`. NULL if it is no such name. */
static char *reversed(const char *name)
{
	const char *middle = name ? strstr(name, arrow) : NULL;

	return middle ? g_strdup_printf("%s%s%.*s", middle + strlen(arrow), arrow, (int) (middle - name), name) : NULL;
}

void lqn_link_end(struct lqn_analysis *a, struct lqn_end *end, int64_t ts)
{
	g_autofree char *other_name = reversed(end->name);
	struct lqn_end *other;

	if (!other_name || end->peer) {
		return;
	}
	end->remote = true;
	other = g_hash_table_lookup(a->links, other_name);
	if (other && other->outside && !other->found && other->host != end->host) {
		other = lqn_outside_found(a, other, ts);
		end->late = true;
	}
	if (other && !other->peer) {
		end->peer = other;
		other->peer = end;
		g_hash_table_remove(a->links, other_name);
		lqn_link_drain(a, end);
		lqn_link_drain(a, other);
	} else {
		g_hash_table_replace(a->links, g_strdup(end->name), end);
	}
}

/* The other end is none of the trace: what waits for it is told as far as this one shows it. */
static void give_up(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end)
{
	GQueue *sent = end->outgoing, *received = end->pending;

	while ((sent && sent->length > 0) || (received && received->length > 0)) {
		struct lqn_unread *message = sent ? g_queue_peek_head(sent) : NULL;
		struct lqn_pending *pending = received ? g_queue_peek_head(received) : NULL;

		if (message && (!pending || message->sent <= pending->ev.receive.end)) {
			struct lqn_event ev = { .type = LQN_EV_SEND, .send = { .thread = message->sender, .object = end->id,
				.seq = message->seq, .end = message->sent + 1, .bytes = message->bytes } };

			lqn_outside_sent(a, host, end, &ev);
			g_free(g_queue_pop_head(sent));
		} else {
			lqn_outside_received(a, host, end, &pending->ev);
			g_free(g_queue_pop_head(received));
		}
	}
}

void lqn_link_sent(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end, const struct lqn_event *ev)
{
	struct lqn_unread unread = { ev->send.seq, ev->send.thread, ev->send.bytes, ev->send.begin };

	if (lqn_end_is_outside(a, host, end, false)) {
		give_up(a, host, end);
		lqn_outside_sent(a, host, end, ev);
		return;
	}

	if (!end->outgoing) {
		end->outgoing = g_queue_new();
	}
	g_queue_push_tail(end->outgoing, g_memdup2(&unread, sizeof(unread)));
	if (end->outgoing->length > UNREAD_MAX) {
		g_free(g_queue_pop_head(end->outgoing));
	}
	if (end->peer) {
		lqn_link_drain(a, end->peer);
	}
}

void lqn_link_received(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end, const struct lqn_event *ev)
{
	struct lqn_pending pending = { *ev, host, ev->receive.bytes };

	if (lqn_end_is_outside(a, host, end, false)) {
		give_up(a, host, end);
		lqn_outside_received(a, host, end, ev);
		return;
	}

	if (!end->pending) {
		end->pending = g_queue_new();
	}
	g_queue_push_tail(end->pending, g_memdup2(&pending, sizeof(pending)));
	lqn_link_drain(a, end);
}

/*
 * Takes the datagram that a receive got: the next one sent that has its length, for those before it
 * may have been lost. False if it may not have been heard of yet.
 */
static bool take_datagram(GQueue *unread, struct lqn_event *ev)
{
	guint skipped = 0;

	for (GList *l = unread ? unread->head : NULL; l && skipped < LOST_MAX; l = l->next, skipped++) {
		struct lqn_unread *message = l->data;

		if (message->bytes != ev->receive.bytes) {
			continue;
		}
		ev->receive.seq = message->seq;
		ev->receive.sender = message->sender;
		ev->receive.sent = message->sent;
		ev->receive.count = 1;
		for (guint i = 0; i <= skipped; i++) {
			g_free(g_queue_pop_head(unread));
		}
		return true;
	}
	return skipped == LOST_MAX;	/* cut short by its reader: whose it was is not known */
}

/* Takes what a receive got from what was sent; true if that is all there. */
static bool take(struct lqn_end *end, struct lqn_pending *pending)
{
	GQueue *unread = end->peer ? end->peer->outgoing : NULL;
	struct lqn_event *ev = &pending->ev;

	if (end->kind == LQN_OBJ_UDP) {
		return take_datagram(unread, ev);
	}
	while (unread && unread->length > 0 && pending->left > 0) {
		struct lqn_unread *message = g_queue_peek_head(unread);
		int64_t n = MIN(pending->left, message->bytes);

		if (end->late && message->sent > ev->receive.end) {
			return true;	/* it was sent when nobody knew who would receive it */
		}
		end->late = false;
		if (ev->receive.count == 0 && (!pending->ev.receive.sender || n == message->bytes)) {
			ev->receive.seq = message->seq;
			ev->receive.sender = message->sender;
			ev->receive.sent = message->sent;
		}
		pending->left -= n;
		message->bytes -= n;
		if (message->bytes == 0) {
			ev->receive.count++;
			g_free(g_queue_pop_head(unread));
		}
	}
	return pending->left == 0;
}

void lqn_link_drain(struct lqn_analysis *a, struct lqn_end *end)
{
	struct lqn_pending *pending;

	while (end->pending && (pending = g_queue_peek_head(end->pending)) != NULL && take(end, pending)) {
		lqn_order_push(a->order, pending->host, &pending->ev);
		g_free(g_queue_pop_head(end->pending));
	}
}

void lqn_link_flush(struct lqn_analysis *a)
{
	for (guint i = 0; i < a->hosts->len; i++) {
		struct lqn_party *host = a->hosts->pdata[i];
		g_autoptr(GPtrArray) ends = g_ptr_array_new();
		GHashTableIter iter;
		gpointer value;

		/* what is told may make others */
		g_hash_table_iter_init(&iter, host->ends);
		while (g_hash_table_iter_next(&iter, NULL, &value)) {
			if (((const struct lqn_end *) value)->pending) {
				g_ptr_array_add(ends, value);
			}
		}
		for (guint k = 0; k < ends->len; k++) {
			struct lqn_end *end = ends->pdata[k];
			struct lqn_pending *pending;

			if (end->remote && lqn_end_is_outside(a, host, end, true)) {
				give_up(a, host, end);
			}
			while ((pending = g_queue_pop_head(end->pending)) != NULL) {
				lqn_order_push(a->order, pending->host, &pending->ev);
				g_free(pending);
			}
		}
	}
}
