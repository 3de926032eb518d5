/* SPDX-License-Identifier: MIT */

/*
 * Who fetches messages: it asks a broker for one, and is answered when somebody else has sent one, or at once if one lies
 * there. Requests of this kind are known by those that had to wait. A thread that waits again for whatever comes, with such
 * a request open, and is woken by a request of somebody else, and by nothing besides, and then answers, had waited for that.
 * (Who waits for a worker of its own is woken by that one; who waits for another service has received its answer; for a
 * timer, by that, and where somebody else's request happens to come first, it has waited for as long.) All requests of one
 * length that programs of one name send to one process are of one kind; those of other names bear witness, too, if its own
 * do not speak against it.
 */
#include "internal.h"

#include "layout/record.h"

#define KINDS_MAX 4096		/* of requests, on one host */
#define PROMPT_MAX 0.2	/* of what is sent on a connection of pushes: by a thread that has received there last */
#define ANSWERS_MAX 3	/* after so many answers at once, so many messages that are none make a connection one of pushes */
#define RELEASED_MIN 3		/* answers that somebody else's request has let go, from which on requests fetch */

/* Requests of one length from programs of one name to one process. */
struct lqn_fetch_kind {
	uint32_t pid, bytes;		/* of who is asked; of the request */
	const char *client;		/* interned; NULL: of any */
	uint32_t released, others;	/* late answers: let go by another's request, or by anything else but a timer */
	int64_t shortest;		/* ns that one was late which a timer has let go; 0: none was */
};

static guint hash_kind(gconstpointer data)
{
	const struct lqn_fetch_kind *kind = data;

	return (g_direct_hash(kind->client) * 31 + kind->pid) * 31 + kind->bytes;
}

static gboolean equal_kind(gconstpointer a, gconstpointer b)
{
	const struct lqn_fetch_kind *x = a, *y = b;

	return x->pid == y->pid && x->bytes == y->bytes && x->client == y->client;
}

GHashTable *lqn_fetch_kinds_new(void)
{
	return g_hash_table_new_full(hash_kind, equal_kind, g_free, NULL);
}

/* Who asks at the other end of `end`; NULL: nobody that is known. */
static const char *asker(const struct lqn_end *end)
{
	const struct lqn_end *peer = lqn_end_real(end->peer);

	return peer && peer->user ? lqn_service_name(peer->user) : NULL;
}

static bool may_be_asked(const struct lqn_end *end)
{
	return (end->kind == LQN_OBJ_TCP || end->kind == LQN_OBJ_UNIX) && end->role != LQN_ROLE_CLIENT;
}

/* ---- on the way in: which requests fetch ---- */

void lqn_fetch_count_wait(struct lqn_actor *actor, const struct lqn_event *ev)
{
	actor->waited = MAX(actor->waited, ev->wait.end);
	actor->polled = ev->wait.cause != LQN_CAUSE_TIMER && lqn_call_polls((uint8_t) ev->wait.call);
}

void lqn_fetch_count_receive(struct lqn_actor *actor, struct lqn_end *end, const struct lqn_event *ev,
	const struct lqn_actor *sender)
{
	if (!may_be_asked(end) || (sender && sender->unit == actor->unit)) {
		actor->told_at = ev->receive.end;
		return;
	}
	end->asked_by = actor->key;
	end->asked_at = ev->receive.end;
	end->asked_bytes = (uint32_t) MIN((uint64_t) end->asked_bytes + (uint64_t) MAX(ev->receive.bytes, 0), UINT32_MAX);
	actor->heard_at = ev->receive.end;
	actor->heard_on = end->id;
	/* on a connection older than the trace this may be the answer to what was sent there */
	actor->heard_after = end->role == LQN_ROLE_SERVER ? INT64_MIN : end->sent_at;
}

static struct lqn_fetch_kind *kind_of(struct lqn_party *host, const struct lqn_fetch_kind *key)
{
	struct lqn_fetch_kind *kind = g_hash_table_lookup(host->fetch_kinds, key);

	if (!kind && g_hash_table_size(host->fetch_kinds) < KINDS_MAX) {
		kind = g_memdup2(key, sizeof(*key));
		g_hash_table_add(host->fetch_kinds, kind);
	}
	return kind;
}

static void count(struct lqn_fetch_kind *kind, bool released, bool timed, int64_t late)
{
	if (kind && timed) {
		kind->shortest = kind->shortest ? MIN(kind->shortest, late) : late;
	} else if (kind) {
		released &= kind->shortest == 0 || late < kind->shortest;
		*(released ? &kind->released : &kind->others) += 1;
	}
}

void lqn_fetch_count_send(struct lqn_party *host, struct lqn_actor *actor, struct lqn_end *end, int64_t ts)
{
	struct lqn_fetch_kind key = { actor->unit->pid, end->asked_bytes, NULL, 0, 0, 0 };
	bool late = end->asked_by == actor->key && actor->waited > end->asked_at;
	bool released = actor->heard_on != end->id && actor->heard_at >= actor->waited && actor->told_at < actor->waited &&
		actor->heard_after < end->asked_at;

	end->sent_at = ts;
	end->asked_bytes = 0;
	if (!late || !(actor->polled || actor->timed) || key.bytes == 0 || !may_be_asked(end) || !asker(end)) {
		return;
	}
	count(kind_of(host, &key), released, actor->timed, ts - end->asked_at);
	key.client = asker(end);
	count(kind_of(host, &key), released, actor->timed, ts - end->asked_at);
}

static bool is_released(const struct lqn_fetch_kind *kind, guint least)
{
	return kind && kind->released >= least && kind->released >= kind->others;
}

/* True if a request of so many bytes that is received at `asked` is for the next message. */
static bool is_fetch(const struct lqn_end *asked, uint32_t bytes)
{
	struct lqn_fetch_kind key = { asked->user ? asked->user->unit->pid : 0, bytes, NULL, 0, 0, 0 };
	GHashTable *kinds = asked->host->fetch_kinds;

	if (g_hash_table_size(kinds) == 0 || !is_released(g_hash_table_lookup(kinds, &key), RELEASED_MIN)) {
		return false;
	}
	key.client = asker(asked);
	return is_released(g_hash_table_lookup(kinds, &key), 1);
}

/* ---- in order: what is fetched ---- */

/* The thread has waited since it took up a fetch. */
static bool has_waited(const struct lqn_actor *actor, const struct lqn_invocation *fetch)
{
	return fetch->end <= actor->last.begin;
}

struct lqn_invocation *lqn_fetch_open(const struct lqn_actor *actor, struct lqn_end *end, struct lqn_end *to)
{
	struct lqn_invocation *open = lqn_final(g_queue_peek_head(&end->open));

	/* it has waited, and nobody has sent anything since: there was no message in the time that the consumer had given */
	if (!open || !open->request || !open->request->fetch || open->arcs ||
			(has_waited(actor, open) && actor->took_up_at < actor->last.end)) {
		return NULL;
	}
	g_queue_pop_head(&end->open);
	g_queue_remove(&to->calls, open->request);
	return open;
}

void lqn_fetch_answered(const struct lqn_actor *actor, const struct lqn_invocation *fetch, struct lqn_arc *delivered)
{
	delivered->fetched = fetch->begin;
	delivered->waited = has_waited(actor, fetch);
}

/* True if the work has sent something else than `last` to the process at `to`. */
static bool has_asked(const struct lqn_invocation *work, const struct lqn_end *to, const struct lqn_arc *last)
{
	for (const struct lqn_arc *arc = work->arcs; arc; arc = arc->next) {
		const struct lqn_end *there = arc->via && arc != last && !arc->fetch ? lqn_end_real(arc->via->peer) : NULL;

		if (there && there->user && to->user && there->user->unit == to->user->unit) {
			return true;
		}
	}
	return false;
}

void lqn_fetch_sent(struct lqn_actor *actor, const struct lqn_end *to, struct lqn_arc *arc, const struct lqn_event *ev)
{
	struct lqn_invocation *current = lqn_final(actor->current);

	if (!is_fetch(to, arc->bytes)) {
		return;
	}
	/*
	 * Who has sent a message within what he does of his own accord, or for a request, waits for what comes of it: that is his answer.
	 * Else he has done with what he did.
	 */
	if (!(current->request && current->request->fetched > 0) && has_asked(current, to, arc)) {
		arc->awaits = true;
		return;
	}
	arc->fetch = true;
	lqn_charge(actor, ev->send.cpu_end, ev->send.end);
	lqn_settle(actor);
	actor->current = NULL;
}

/* ---- what is delivered unasked ---- */

/* What the thread works on, or has worked on until its answer. */
static struct lqn_invocation *work_of(const struct lqn_actor *actor)
{
	struct lqn_invocation *current = actor->current;

	return current && current->tail_of && !current->into ? lqn_final(current->tail_of) : lqn_final(current);
}

/*
 * A message on a connection on which a request is open may be none of its answer: an event loop had received that request, asked
 * nobody, gone back to wait, and sends this as it works for another one. So do brokers that deliver; what was open is
 * an acknowledgement, which has no answer. A single case may be chance: it takes several to outweigh answers.
 */
bool lqn_is_push(const struct lqn_actor *actor, struct lqn_end *end)
{
	const struct lqn_invocation *open = lqn_final(g_queue_peek_head(&end->open)), *work = work_of(actor);

	if ((double) end->prompt > PROMPT_MAX * (double) end->sends || (open && open->request && open->request->awaits)) {
		return false;
	}
	if (open && work == open) {
		end->answers = MIN(end->answers + 1, ANSWERS_MAX);
	} else if (open && open->actor == actor && !open->arcs && open->end <= actor->last.begin && work && work->request &&
			actor->told_inside < actor->last.end && work->actor == actor && work->conn != end && work->begin >= open->end) {
		end->answers = MAX(end->answers - 1, -ANSWERS_MAX);
		return end->answers <= 0;
	}
	return false;
}
