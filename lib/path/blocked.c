/* SPDX-License-Identifier: MIT */

/*
 * What a thread waited for while it was blocked, and who stood in its way: the holders of a lock,
 * the requests that a device served first, those that a thread was busy with before it took the
 * message.
 */
#include "path/walk.h"

#include "layout/layout.h"

#define HOLDERS_MAX 8	/* of one lock, one after the other, that a wait is told by */
#define BUSY_MAX 8	/* requests that a thread was busy with, likewise */
#define WAKING_NS 200000	/* a device's completion wakes who waits for it within this */

static void add_wait(struct lqn_path_walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end, enum lqn_path_kind kind,
	const char *detail)
{
	struct lqn_path_piece *piece = lqn_walk_add(walk, actor, begin, end, kind, detail);

	if (piece) {
		piece->cause = wait->cause;
		piece->via = wait->via;
		piece->unseen = wait->state == 0;
	}
}

static const char *cause_detail(const struct lqn_interval *wait)
{
	g_autofree char *text = NULL;

	if (wait->call == LQN_CALL_NONE) {
		return lqn_cause_name(wait->cause);
	}
	text = g_strdup_printf(
		"%s in %s", lqn_cause_name(wait->cause), lqn_call_name((enum lqn_call) wait->call));
	return g_intern_string(text);
}

/* ---- locks ---- */

static struct lqn_word *word_of(const struct lqn_actor *actor, uint64_t object)
{
	return object ? lqn_word_root(lqn_party_word(actor->host, object)) : NULL;
}

struct holding {
	struct lqn_actor *holder;	/* NULL: not known */
	int64_t since;
};

/*
 * When a thread got the lock that it gave back at `end`: when it was woken, if it had waited for it
 * since `begin` (*by: by whom); else it found the lock free (*by is 0), after the request had come
 * for which it took it.
 */
static int64_t acquired(const struct lqn_path_walk *walk, struct lqn_actor *holder,
	const struct lqn_word *word, int64_t begin, int64_t end, uint64_t *by)
{
	const struct lqn_invocation *work = lqn_path_work_before(walk->index, holder, end);
	int64_t first = work ? MAX(work->begin, begin) : begin;

	*by = 0;
	for (int i = lqn_walk_interval(holder, end); i >= 0; i--) {
		const struct lqn_interval *it = &g_array_index(
			holder->intervals, struct lqn_interval, i);

		if (it->end <= first) {
			break;
		}
		if (!it->preempted && it->wake > first && it->wake < end &&
				lqn_call_waits_for_word(it->call) &&
				word_of(holder, it->object) == word) {
			*by = it->by;
			return it->wake;
		}
	}
	return first;
}

/* The last time within (after, until) that another than `holder` gave the lock back. */
static const struct lqn_path_hold *release(const GArray *holds, const struct lqn_actor *holder,
	int64_t after, int64_t until)
{
	guint i = holds ? LQN_COUNT_UNTIL(holds, struct lqn_path_hold, end, until - 1) : 0;

	for (; i > 0; i--) {
		const struct lqn_path_hold *hold =
			&g_array_index(holds, struct lqn_path_hold, i - 1);

		if (hold->end <= after) {
			return NULL;
		}
		if (hold->actor != holder) {
			return hold;
		}
	}
	return NULL;
}

/*
 * Who had the lock while the thread waited, from the last one on, who woke it. Who had waited for
 * it himself was woken by the one before him. Who found it free has not, but others may have given
 * it back after his request had come: these held it before him. Returns how many.
 */
static unsigned holders(const struct lqn_path_walk *walk, struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end, struct holding *holdings)
{
	const struct lqn_word *word = word_of(actor, wait->object);
	const GArray *holds = lqn_path_holds(walk->index, actor->host, wait->object);
	struct lqn_actor *holder = lqn_party_find_actor(actor->host, wait->by);
	unsigned n = 0;

	for (; end > begin && n < HOLDERS_MAX; n++) {
		bool known = holder && holder != actor;
		uint64_t by = 0;
		int64_t since = known ? acquired(walk, holder, word, begin, end, &by) : begin;
		const struct lqn_path_hold *before = by ? NULL :
			release(holds, known ? holder : NULL, since, end);

		holdings[n] = (struct holding) { known ? holder : NULL,
			before ? before->end : since };
		holder = before ? before->actor : lqn_party_find_actor(actor->host, by);
		end = holdings[n].since;
	}
	if (n > 0) {
		holdings[n - 1].since = begin;
	}
	return n;
}

static void wait_for_lock(struct lqn_path_walk *walk, struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end)
{
	const char *name = lqn_path_lock_name(walk->index, actor->host, wait->object);
	struct holding holdings[HOLDERS_MAX];
	unsigned n;

	if (walk->behind) {
		add_wait(walk, actor, wait, begin, end, LQN_PATH_LOCK, name);
		return;
	}
	n = holders(walk, actor, wait, begin, end, holdings);
	for (unsigned i = 0; i < n; end = holdings[i++].since) {
		struct lqn_path_piece like = { .thread = actor->key, .task = lqn_service_name(actor),
			.comm = actor->comm ? actor->comm : "", .detail = name, .kind = LQN_PATH_LOCK,
			.host = actor->host->name, .via = wait->via, .cause = wait->cause,
			.place = walk->from->place };

		if (holdings[i].holder) {
			like.by = lqn_path_by_thread(walk->index, holdings[i].holder, end);
			lqn_walk_behind(walk, &like, holdings[i].holder, holdings[i].since, end);
		} else {
			add_wait(walk, actor, wait, holdings[i].since, end, LQN_PATH_LOCK, name);
		}
	}
}

/*
 * The thread waits in the middle of a request, at a word that is no lock, for one of its process that is at another request: for
 * something that he has, a lock within the program or a connection of a pool. So he is in the way, and what he does is not for the request.
 * A worker to whom the thread itself has given his request has nothing yet: what is waited for is that he gets on.
 */
static bool waits_within_program(const struct lqn_path_walk *walk, const struct lqn_actor *actor, const struct lqn_interval *wait,
	struct lqn_actor *by)
{
	const struct lqn_path_frame *from = walk->from;
	struct lqn_invocation *work;

	if (!walk->index || walk->behind || !from->request || !from->request->request || from->actor != actor || by == actor ||
			by->unit != actor->unit || !lqn_call_waits_for_word(wait->call)) {
		return false;
	}
	work = lqn_final(lqn_path_work_before(walk->index, by, wait->wake));
	return work && work->request && work->actor != actor && work != from->request && lqn_path_root_of(work) != walk->root;
}

static void wait_within_program(struct lqn_path_walk *walk, struct lqn_actor *actor, const struct lqn_interval *wait,
	struct lqn_actor *by, int64_t begin, int64_t end)
{
	const struct lqn_path_piece like = { .thread = actor->key, .task = lqn_service_name(actor),
		.comm = actor->comm ? actor->comm : "", .detail = g_intern_static_string("within the program"), .kind = LQN_PATH_LOCK,
		.host = actor->host->name, .via = wait->via, .cause = wait->cause, .place = walk->from->place,
		.by = lqn_path_by_thread(walk->index, by, end) };

	lqn_walk_behind(walk, &like, by, begin, end);
}

/* ---- disks ---- */

static const char *device_name(uint64_t device)
{
	g_autofree char *name = g_strdup_printf(
		"device %u:%u", (unsigned) (device >> 20), (unsigned) (device & 0xfffff));

	return g_intern_string(name);
}

static bool is_file_call(uint8_t call)
{
	return call == LQN_CALL_PREAD || call == LQN_CALL_PWRITE || call == LQN_CALL_FSYNC ||
		call == LQN_CALL_READ || call == LQN_CALL_WRITE || call == LQN_CALL_OPEN ||
		call == LQN_CALL_PATH || call == LQN_CALL_READV || call == LQN_CALL_WRITEV;
}

bool lqn_walk_is_disk(const struct lqn_interval *wait)
{
	return wait->cause == LQN_CAUSE_DISK || (wait->state == 2 && is_file_call(wait->call) &&
		wait->cause != LQN_CAUSE_HIDDEN);
}

/*
 * A device serves one request after the other as far as can be seen from outside: from the time on
 * that it has completed the last of those it was given before, it is with this one. Until then the
 * request lay in a queue, the kernel's or the device's.
 */
static void wait_for_disk(struct lqn_path_walk *walk, struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end)
{
	const char *name = device_name(wait->cause == LQN_CAUSE_DISK ? wait->via : 0);
	const struct lqn_disk_io *before, *io = !walk->index || wait->cause != LQN_CAUSE_DISK ?
		NULL : lqn_disk_io_ended(actor->host, wait->via, actor, end - WAKING_NS, end);
	struct lqn_path_piece *piece;
	int64_t made, served;

	if (!io) {
		add_wait(walk, actor, wait, begin, end, LQN_PATH_DISK, name);
		return;
	}
	before = lqn_disk_io_before(actor->host, io);
	made = CLAMP(io->begin, begin, end);
	served = CLAMP(before ? MAX(before->end, io->issued) : io->issued, made, end);
	add_wait(walk, actor, wait, served, end, LQN_PATH_DISK, name);
	piece = lqn_walk_add(walk, actor, made, served, LQN_PATH_DISK_QUEUE, name);
	if (piece) {
		piece->cause = wait->cause;
		piece->via = wait->via;
		if (before && before->thread) {
			piece->by = lqn_path_by_thread(walk->index, before->thread, before->begin);
		}
	}
	/* it waited for the request to be made: by the kernel, for it */
	add_wait(walk, actor, wait, begin, made, LQN_PATH_DISK, name);
}

/* ---- the network ---- */

static const char *flow_name(const struct lqn_flow *flow)
{
	const uint64_t addresses[] = { flow->saddr, flow->daddr };
	const uint32_t ports[] = { flow->sport, flow->dport };
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(addresses); i++) {
		uint64_t a = addresses[i];

		g_string_append(text, i ? " -> " : "");
		if (a >> 32) {
			/* of IPv6 a hash is all that is told */
			g_string_append_printf(text, "[%" G_GINT64_MODIFIER "x]", a);
		} else {
			g_string_append_printf(text, "%u.%u.%u.%u", (unsigned) (a >> 24 & 255),
				(unsigned) (a >> 16 & 255), (unsigned) (a >> 8 & 255),
				(unsigned) (a & 255));
		}
		g_string_append_printf(text, ":%u", ports[i]);
	}
	return g_intern_string(text->str);
}

/*
 * A wait that a packet ended: who sent it, and when; NULL: not traced, or by a clock that is ahead
 * of ours.
 */
static struct lqn_actor *sender_of(const struct lqn_path_walk *walk, const struct lqn_actor *actor,
	const struct lqn_interval *wait, const struct lqn_packet *arrival, int64_t end,
	int64_t *sent)
{
	const struct lqn_packet *origin =
		arrival ? lqn_packet_origin(walk->analysis, arrival) : NULL;
	const struct lqn_receipt *receipt;
	struct lqn_actor *by = NULL;

	if (origin) {
		by = origin->actor;
		*sent = origin->at;
	} else if ((receipt = lqn_actor_receipt(actor, wait->end)) != NULL) {
		by = receipt->sender;
		*sent = receipt->sent;
	}
	return by && by != actor && !by->unit->outside && *sent <= end ? by : NULL;
}

static void wait_for_packet(struct lqn_path_walk *walk, struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end)
{
	const struct lqn_packet *arrival =
		wait->via ? lqn_packet_arrival(actor->host, wait->via) : NULL;
	/* a client makes a connection for each request: the path of a thread names none */
	const char *flow = arrival && walk->index ? flow_name(&arrival->flow) : NULL;
	int64_t sent = 0;
	struct lqn_actor *by = sender_of(walk, actor, wait, arrival, end, &sent);
	struct lqn_path_piece *piece;

	if (!by) {
		add_wait(walk, actor, wait, begin, end,
			walk->index ? LQN_PATH_UNTRACED : LQN_PATH_NETWORK,
			flow ? flow : g_intern_static_string("sender not traced"));
		return;
	}
	piece = lqn_walk_add(walk, actor, MAX(begin, sent), end, LQN_PATH_NETWORK, flow);
	if (piece) {
		piece->cause = LQN_CAUSE_NETWORK;
		piece->from = by->comm ? by->comm : "";
	}
	lqn_walk_push(walk, by, begin, MIN(end, sent));
}

/* ---- waits ---- */

void lqn_walk_blocked(struct lqn_path_walk *walk, struct lqn_actor *actor,
	const struct lqn_interval *wait, int64_t begin, int64_t end)
{
	struct lqn_actor *by = lqn_party_find_actor(actor->host, wait->by);
	const struct lqn_receipt *late = lqn_walk_late_message(actor, wait);

	if (begin >= end) {
		return;
	}
	if (late) {
		lqn_walk_push(walk, late->sender, begin, end);
	} else if (walk->index && lqn_waits_for_lock(actor, wait->call, wait->object)) {
		wait_for_lock(walk, actor, wait, begin, end);
	} else if (lqn_walk_is_disk(wait)) {
		wait_for_disk(walk, actor, wait, begin, end);
	} else if (wait->cause == LQN_CAUSE_NETWORK) {
		wait_for_packet(walk, actor, wait, begin, end);
	} else if (by && waits_within_program(walk, actor, wait, by)) {
		wait_within_program(walk, actor, wait, by, begin, end);
	} else if (by && by != actor) {
		lqn_walk_push(walk, by, begin, end);
	} else if (wait->cause == LQN_CAUSE_TIMER) {
		add_wait(walk, actor, wait, begin, end, LQN_PATH_SLEEP, NULL);
	} else if (wait->cause == LQN_CAUSE_UNKNOWN) {
		add_wait(walk, actor, wait, begin, end, LQN_PATH_UNKNOWN, wait->state == 0 ?
			g_intern_static_string("the trace does not show what the thread did") :
			NULL);
	} else {
		add_wait(walk, actor, wait, begin, end, LQN_PATH_OTHER, cause_detail(wait));
	}
}

/* ---- queues ---- */

/* Something for `actor` lay at `place`, where it is of that kind of piece: while he was busy, and while he was not. */
static void queued(struct lqn_path_walk *walk, const struct lqn_actor *place, enum lqn_path_kind kind, const char *detail,
	struct lqn_actor *actor, int64_t begin, int64_t end)
{
	for (unsigned n = 0; n < BUSY_MAX && end > begin; n++) {
		struct lqn_invocation *work = lqn_path_work_before(walk->index, actor, end);
		int64_t since, until = work ? lqn_path_busy_until(actor, work, end) : begin;
		struct lqn_path_piece *piece;

		if (until <= begin) {
			break;
		}
		lqn_walk_add(walk, place, until, end, kind, detail);
		since = MAX(work->begin, begin);
		piece = lqn_walk_add(walk, place, since, until, kind, detail);
		if (piece) {
			piece->by = lqn_path_by_work(walk->index, actor, work);
		}
		end = since;
	}
	lqn_walk_add(walk, place, begin, end, kind, detail);
}

void lqn_walk_queued(struct lqn_path_walk *walk, struct lqn_actor *actor, int64_t begin, int64_t end)
{
	queued(walk, actor, LQN_PATH_QUEUE, NULL, actor, begin, end);
}

void lqn_walk_lay(struct lqn_path_walk *walk, const struct lqn_path_frame *frame)
{
	queued(walk, frame->actor, LQN_PATH_BROKER, lqn_joining_name(frame->lay->how),
		lqn_final(frame->lay->delivered->callee)->actor, frame->begin, frame->end);
}

void lqn_walk_delivered(struct lqn_path_walk *walk, struct lqn_actor *actor, const struct lqn_delivery *delivery,
	int64_t begin, int64_t end, bool woken)
{
	const struct lqn_delivery_times at = lqn_delivery_times(delivery);
	struct lqn_invocation *taken = lqn_final(delivery->published->callee);
	struct lqn_path_frame *frame;
	unsigned depth = walk->depth;

	if (!woken) {
		lqn_walk_queued(walk, actor, CLAMP(at.delivered, begin, end), end);
		end = CLAMP(at.delivered, begin, end);
	}
	lqn_walk_push(walk, taken->actor, begin, CLAMP(at.stored, begin, end));
	if (walk->depth > depth) {
		/* the thread may have taken others since, before it said that it had this one */
		frame = &walk->frames[depth];
		frame->work = frame->request = taken;
		frame->floor = taken->begin;
		frame->place = lqn_path_place_of(walk->index, taken);
		depth = walk->depth;
	}
	lqn_walk_push(walk, taken->actor, CLAMP(at.stored, begin, end), CLAMP(at.fetched, begin, end));
	if (walk->depth > depth) {
		walk->frames[depth].lay = delivery;
		walk->frames[depth].place = lqn_path_place_of(walk->index, taken);
	}
	lqn_walk_push(walk, lqn_delivery_sender(delivery), CLAMP(at.fetched, begin, end), end);
}
