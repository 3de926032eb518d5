/* SPDX-License-Identifier: MIT */

/*
 * Connections to hosts that are not in the trace. What is said at the other end follows from what is received and sent at this one:
 * each such end has a thread of its own there that sends what is received here, and receives what is sent. It uses no CPU that
 * is known, so a client there is a customer who thinks between answers and requests, and a server there a delay.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "layout/record.h"

#define OUTSIDE (UINT64_C(1) << 63)	/* in keys of threads and ends that are not of the trace */
#define FOUND (UINT64_C(1) << 62)	/* in keys of ends whose other end is of the trace, but was not from the beginning */
/* Numbers of processes that no kernel gives. */
#define PID_CLIENTS 0xf1000000u
#define PID_SERVERS 0xf0000000u
#define EPHEMERAL_MIN 32768		/* ports of those who ask, as Linux and most others choose them */
#define PATIENCE 16			/* receives on a connection whose other end no traced host has shown */

/* Ports of `ADDRESS:PORT -> ADDRESS:PORT`. */
static bool ports_of(const char *name, unsigned *here, unsigned *there)
{
	const char *arrow = name ? strstr(name, " -> ") : NULL;
	const char *local = arrow ? g_strrstr_len(name, arrow - name, ":") : NULL;
	const char *remote = arrow ? strrchr(arrow, ':') : NULL;

	if (!local || !remote) {
		return false;
	}
	*here = (unsigned) strtoul(local + 1, NULL, 10) & 0xffff;
	*there = (unsigned) strtoul(remote + 1, NULL, 10) & 0xffff;
	return true;
}

/* Who asks on a connection that is older than the trace. */
static uint8_t guess_role(unsigned here, unsigned there)
{
	if ((here < EPHEMERAL_MIN) == (there < EPHEMERAL_MIN)) {
		return LQN_ROLE_NONE;
	}
	return here < EPHEMERAL_MIN ? LQN_ROLE_SERVER : LQN_ROLE_CLIENT;
}

static struct lqn_actor *outside_actor(struct lqn_party *host, struct lqn_end *end, bool asks, unsigned port)
{
	struct lqn_actor *actor = lqn_party_actor(host, OUTSIDE | end->id);
	struct lqn_unit *unit = lqn_party_unit(host, (asks ? PID_CLIENTS : PID_SERVERS) | port);

	if (!unit->name) {
		g_autofree char *name = g_strdup_printf(asks ? "clients_%u" : "outside_%u", port);

		unit->name = lqn_intern(host->keep, name);
		unit->outside = true;
	}
	actor->unit = unit;
	unit->main = unit->main ? unit->main : actor;
	return actor;
}

/* Makes the other end; false if nobody knows who asks. */
static bool make(struct lqn_party *host, struct lqn_end *end)
{
	struct lqn_end *other;
	unsigned here, there;

	if (end->kind != LQN_OBJ_TCP || end->id >= FOUND || !ports_of(end->name, &here, &there)) {
		return false;
	}
	if (end->role == LQN_ROLE_NONE) {
		end->role = guess_role(here, there);
		end->guessed = true;
	}
	if (end->role != LQN_ROLE_SERVER && end->role != LQN_ROLE_CLIENT) {
		return false;
	}
	other = lqn_party_end(host, OUTSIDE | end->id);
	other->kind = end->kind;
	other->role = end->role == LQN_ROLE_SERVER ? LQN_ROLE_CLIENT : LQN_ROLE_SERVER;
	other->peer = end;
	end->peer = other;
	end->outside = outside_actor(host, end, end->role == LQN_ROLE_SERVER, end->role == LQN_ROLE_SERVER ? here : there);
	return true;
}

static void push_receive(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end, uint64_t seq, uint64_t sender,
	int64_t at, int64_t bytes)
{
	struct lqn_event wait = { .ts = at, .type = LQN_EV_WAIT, .wait = { .thread = end->outside->key, .by = sender,
		.begin = end->said_at, .wake = at, .end = at, .call_begin = end->said_at, .call = LQN_CALL_RECVFROM,
		.cause = LQN_CAUSE_MESSAGE, .object = end->peer->id, .state = 1 } };
	struct lqn_event ev = { .ts = at, .type = LQN_EV_RECEIVE, .receive = { .thread = end->outside->key,
		.object = end->peer->id, .from = end->id, .seq = seq, .sender = sender, .begin = at, .end = at, .sent = at,
		.bytes = bytes, .count = 1 } };

	if (end->said_at > 0 && end->said_at < at) {
		lqn_order_push(a->order, host, &wait);
	}
	lqn_order_push(a->order, host, &ev);
	end->said_at = at;
}

/* When what is received came: at the latest when the thread was woken in that call, or began it. */
static int64_t came_at(struct lqn_party *host, const struct lqn_event *ev)
{
	const struct lqn_actor *actor = lqn_party_actor(host, ev->receive.thread);
	guint ended = LQN_COUNT_UNTIL(actor->intervals, struct lqn_interval, end, ev->receive.end);
	const struct lqn_interval *last = ended == 0 ? NULL : &g_array_index(actor->intervals, struct lqn_interval, ended - 1);

	return last && last->call_begin == ev->receive.begin && last->wake > last->begin && last->wake <= ev->receive.end ?
		last->wake : ev->receive.begin;
}

void lqn_outside_received(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end, const struct lqn_event *ev)
{
	struct lqn_event told = *ev;
	int64_t at = MAX(came_at(host, ev), end->said_at);
	struct lqn_event send = { .ts = at, .type = LQN_EV_SEND, .send = { .thread = end->outside->key, .object = end->peer->id,
		.seq = end->peer->sends + 1, .begin = at, .end = at, .bytes = ev->receive.bytes } };

	if (ev->receive.bytes <= 0) {
		lqn_order_push(a->order, host, ev);
		return;
	}
	lqn_order_push(a->order, host, &send);
	end->said_at = at;
	told.receive.from = end->peer->id;
	told.receive.seq = send.send.seq;
	told.receive.sender = end->outside->key;
	told.receive.sent = at;
	told.receive.count = 1;
	lqn_order_push(a->order, host, &told);
}

void lqn_outside_sent(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end, const struct lqn_event *ev)
{
	push_receive(a, host, end, ev->send.seq, ev->send.thread, ev->send.end, ev->send.bytes);
}

bool lqn_end_is_outside(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end, bool over)
{
	guint waiting = end->pending ? end->pending->length : 0;

	if (end->outside) {
		return true;
	}
	return !end->peer && (a->hosts->len == 1 || waiting >= PATIENCE || over) && make(host, end);
}

void lqn_outside_closed(struct lqn_analysis *a, struct lqn_party *host, struct lqn_end *end, int64_t ts)
{
	struct lqn_event ev = { .ts = ts, .type = LQN_EV_EXIT, .exit = { .thread = end->outside->key, .at = ts } };

	end->peer->closed = ts;
	lqn_order_push(a->order, host, &ev);
}

/*
 * What waits to be worked on still speaks of the end as it was, so from now on it is another one. Nobody knows what was
 * under way to or from it: who waits for that is not answered.
 */
struct lqn_end *lqn_outside_found(struct lqn_analysis *a, struct lqn_end *end, int64_t ts)
{
	struct lqn_end *found = lqn_party_end(end->host, FOUND | end->id);

	lqn_outside_closed(a, end->host, end, ts);
	found->kind = end->kind;
	found->role = end->role;
	found->guessed = end->guessed;
	found->remote = found->late = true;
	end->found = found;
	return found;
}
