/* SPDX-License-Identifier: MIT */

/* Which thread is meant, over which time, and what the pieces of its path are called. */
#include "path/thread.h"

#include <string.h>

#include "path/path.h"

#define NEAR_MISSES 6	/* named in an error */

/* ---- states and causes ---- */

static const char *const state_names[] = {
	[LQN_SHOW_RUNNING] = "RUNNING",
	[LQN_SHOW_PREEMPTED] = "PREEMPTED",
	[LQN_SHOW_BLOCKED] = "BLOCKED",
	[LQN_SHOW_TIMER] = "TIMER",
	[LQN_SHOW_NETWORK] = "NETWORK",
	[LQN_SHOW_BLOCK_DEVICE] = "BLOCK_DEVICE",
	[LQN_SHOW_USER_INPUT] = "USER_INPUT",
	[LQN_SHOW_IPI] = "IPI",
	[LQN_SHOW_INTERRUPTED] = "INTERRUPTED",
	[LQN_SHOW_UNKNOWN] = "UNKNOWN",
};
G_STATIC_ASSERT(G_N_ELEMENTS(state_names) == LQN_SHOW_STATES);

const char *lqn_thread_state_name(enum lqn_thread_state_shown state)
{
	return (unsigned) state < LQN_SHOW_STATES ? state_names[state] : "UNKNOWN";
}

/*
 * Begins of the names under which devices that people type on or point with have their interrupts.
 */
static const char *const input_devices[] = { "i8042", "keyboard", "mouse", "virtio-input",
	"i2c_hid", "elan_i2c" };

static bool is_input(const char *device)
{
	for (size_t i = 0; device && i < G_N_ELEMENTS(input_devices); i++) {
		if (strncmp(device, input_devices[i], strlen(input_devices[i])) == 0) {
			return true;
		}
	}
	return false;
}

static const char *device_of(const struct lqn_analysis *a, const struct lqn_path_piece *piece)
{
	for (guint i = 0; i < a->hosts->len; i++) {
		const struct lqn_party *host = a->hosts->pdata[i];

		if (g_str_equal(host->name, piece->host)) {
			return g_hash_table_lookup(
				host->interrupts, GUINT_TO_POINTER((guint) piece->via));
		}
	}
	return NULL;
}

static enum lqn_thread_state_shown state_of(const struct lqn_analysis *a,
	const struct lqn_path_piece *piece)
{
	static const uint8_t by_kind[LQN_PATH_KINDS] = {
		[LQN_PATH_CPU] = LQN_SHOW_RUNNING,
		[LQN_PATH_RUNNABLE] = LQN_SHOW_PREEMPTED,
		[LQN_PATH_WAKEUP] = LQN_SHOW_PREEMPTED,
		[LQN_PATH_PREEMPTED] = LQN_SHOW_PREEMPTED,
		[LQN_PATH_INTERRUPTED] = LQN_SHOW_INTERRUPTED,
		[LQN_PATH_LOCK] = LQN_SHOW_BLOCKED,
		[LQN_PATH_DISK] = LQN_SHOW_BLOCK_DEVICE,
		[LQN_PATH_DISK_QUEUE] = LQN_SHOW_BLOCK_DEVICE,
		[LQN_PATH_SLEEP] = LQN_SHOW_TIMER,
		[LQN_PATH_NETWORK] = LQN_SHOW_NETWORK,
		[LQN_PATH_QUEUE] = LQN_SHOW_BLOCKED,
		[LQN_PATH_BROKER] = LQN_SHOW_BLOCKED,
		[LQN_PATH_UNTRACED] = LQN_SHOW_NETWORK,
		[LQN_PATH_OTHER] = LQN_SHOW_BLOCKED,
		[LQN_PATH_UNKNOWN] = LQN_SHOW_BLOCKED,
	};

	if (piece->kind == LQN_PATH_UNKNOWN && piece->unseen) {
		return LQN_SHOW_UNKNOWN;
	}
	if (piece->kind != LQN_PATH_OTHER) {
		return (enum lqn_thread_state_shown) by_kind[piece->kind];
	}
	if (piece->cause == LQN_CAUSE_IPI) {
		return LQN_SHOW_IPI;
	}
	if (piece->cause == LQN_CAUSE_DEVICE) {
		return is_input(device_of(a, piece)) ? LQN_SHOW_USER_INPUT :
			piece->via == 0 ? LQN_SHOW_INTERRUPTED : LQN_SHOW_BLOCKED;
	}
	return LQN_SHOW_BLOCKED;
}

static char *cause_of(const struct lqn_analysis *a, const struct lqn_path_piece *piece)
{
	const char *device;

	switch (piece->kind) {
	case LQN_PATH_PREEMPTED:
		return piece->detail ? g_strdup_printf("preempted by %s", piece->detail) :
			g_strdup("preempted");
	case LQN_PATH_RUNNABLE:
		return g_strdup("woken, all CPUs busy");
	case LQN_PATH_SLEEP:
		return g_strdup("timer");
	case LQN_PATH_WAKEUP:
		return g_strdup("woken, a CPU idle");
	case LQN_PATH_DISK:
		return piece->cause == LQN_CAUSE_DISK ?
			g_strdup_printf("dev %" G_GUINT64_FORMAT " (%u:%u)", piece->via,
				(unsigned) (piece->via >> 20), (unsigned) (piece->via & 0xfffff)) :
			g_strdup("file");
	case LQN_PATH_NETWORK:
		return piece->from ? g_strdup_printf("%s->%s", piece->from, piece->comm) :
			g_strdup(piece->detail);
	case LQN_PATH_UNKNOWN:
		return g_strdup(piece->detail ? piece->detail : "unknown: no wakeup seen");
	case LQN_PATH_OTHER:
		break;
	default:
		return g_strdup(piece->detail ? piece->detail : "");
	}
	switch (piece->cause) {
	case LQN_CAUSE_DEVICE:
		device = device_of(a, piece);
		return g_strdup_printf("irq %" G_GUINT64_FORMAT "%s%s", piece->via,
			device ? " " : "", device ? device : "");
	case LQN_CAUSE_INTERRUPT:
		return g_strdup_printf("untraced interrupt on cpu %" G_GUINT64_FORMAT, piece->via);
	default:
		return g_strdup(piece->detail);
	}
}

static void add_row(const struct lqn_analysis *a, GArray *rows, const struct lqn_path_piece *piece)
{
	g_autofree char *cause = cause_of(a, piece);
	struct lqn_thread_row row = {
		.begin = piece->begin,
		.end = piece->end,
		.thread = piece->thread,
		.host = piece->host,
		.comm = piece->comm,
		.cause = g_intern_string(cause ? cause : ""),
		.state = state_of(a, piece),
	};
	struct lqn_thread_row *last = rows->len > 0 ?
		&g_array_index(rows, struct lqn_thread_row, rows->len - 1) :
		NULL;

	if (last && last->state == row.state && last->thread == row.thread &&
			last->host == row.host && last->cause == row.cause) {
		last->end = row.end;
	} else {
		g_array_append_val(rows, row);
	}
}

/* ---- which thread ---- */

/*
 * Appends the threads of a host that `wanted` names; by name those of the process go only if no
 * thread has the name.
 */
static void match_host(const struct lqn_party *host, const char *wanted, GPtrArray *found)
{
	char *end;
	gint64 tid = g_ascii_strtoll(wanted, &end, 10);
	bool is_tid = *wanted && !*end && tid > 0;
	guint first = found->len;

	for (guint i = 0; i < host->by_age->len; i++) {
		struct lqn_actor *actor = host->by_age->pdata[i];

		if (actor->seen == INT64_MAX) {
			continue;	/* only spoken of */
		}
		if (is_tid ? (int64_t) (uint32_t) actor->key == tid :
				g_strcmp0(actor->comm, wanted) == 0) {
			if (is_tid && found->len > first) {
				/* the number's last owner is meant */
				g_ptr_array_set_size(found, (gint) first);
			}
			g_ptr_array_add(found, actor);
		}
	}
	for (guint i = 0; i < host->by_age->len && found->len == first && !is_tid; i++) {
		struct lqn_actor *actor = host->by_age->pdata[i];
		const char *exe = actor->exe ? lqn_base_name(actor->exe) : NULL;

		if (actor->seen != INT64_MAX && actor->unit->main == actor &&
				(g_str_equal(lqn_service_name(actor), wanted) ||
					g_strcmp0(exe, wanted) == 0)) {
			g_ptr_array_add(found, actor);
		}
	}
}

/* Of several threads with one name the main threads of their processes are meant. */
static void prefer_main(GPtrArray *found)
{
	guint mains = 0;

	for (guint i = 0; i < found->len; i++) {
		const struct lqn_actor *actor = found->pdata[i];

		mains += actor->unit->main == actor;
	}
	for (guint i = 0; found->len > 1 && mains > 0 && i < found->len;) {
		const struct lqn_actor *actor = found->pdata[i];

		if (actor->unit->main == actor) {
			i++;
		} else {
			g_ptr_array_remove_index(found, i);
		}
	}
}

static GPtrArray *match(const struct lqn_analysis *a)
{
	GPtrArray *found = g_ptr_array_new();

	for (guint i = 0; i < a->hosts->len; i++) {
		match_host(a->hosts->pdata[i], a->thread, found);
	}
	/* names of threads may have a colon in them, so a host is looked for second */
	for (guint i = 0; found->len == 0 && i < a->hosts->len; i++) {
		const struct lqn_party *host = a->hosts->pdata[i];
		size_t len = strlen(host->name);

		if (strncmp(a->thread, host->name, len) == 0 && a->thread[len] == ':') {
			match_host(host, a->thread + len + 1, found);
		}
	}
	prefer_main(found);
	return found;
}

/*
 * How unlike two texts are: edits from the one to the other, without regard to case; small ones are
 * near.
 */
static guint distance(const char *a, const char *b)
{
	guint row[64], n = MIN((guint) strlen(b), G_N_ELEMENTS(row) - 1);

	for (guint k = 0; k <= n; k++) {
		row[k] = k;
	}
	for (guint i = 1; *a; a++, i++) {
		guint diagonal = row[0];

		row[0] = i;
		for (guint k = 1; k <= n; k++) {
			guint same = diagonal + (g_ascii_tolower(*a) != g_ascii_tolower(b[k - 1]));

			diagonal = row[k];
			row[k] = MIN(same, MIN(row[k], row[k - 1]) + 1);
		}
	}
	return row[n];
}

struct candidate {
	const struct lqn_actor *actor;
	guint distance;
};

static gint by_distance(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;

	if (x->distance != y->distance) {
		return x->distance < y->distance ? -1 : 1;
	}
	return x->actor->key < y->actor->key ? -1 : x->actor->key > y->actor->key;
}

static void list(GString *text, const struct candidate *candidates, guint n)
{
	for (guint i = 0; i < MIN(n, NEAR_MISSES); i++) {
		const struct lqn_actor *actor = candidates[i].actor;

		g_string_append_printf(text, "%s%s:%u (%s)", i > 0 ? ", " : "", actor->host->name,
			(unsigned) (uint32_t) actor->key, actor->comm ? actor->comm : "unnamed");
	}
	if (n > NEAR_MISSES) {
		g_string_append_printf(text, " and %u more", n - NEAR_MISSES);
	}
}

static void set_error(const struct lqn_analysis *a, const GPtrArray *found, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	GArray *candidates = g_array_new(FALSE, FALSE, sizeof(struct candidate));
	const char *colon = strrchr(a->thread, ':'),
		   *wanted = colon && colon[1] ? colon + 1 : a->thread;

	for (guint i = 0; i < a->hosts->len; i++) {
		const struct lqn_party *host = a->hosts->pdata[i];

		for (guint k = 0; k < host->by_age->len; k++) {
			const struct lqn_actor *actor = host->by_age->pdata[k];
			g_autofree char *tid = g_strdup_printf(
				"%u", (unsigned) (uint32_t) actor->key);
			struct candidate candidate = { actor, 0 };

			if (actor->seen == INT64_MAX ||
				(found->len > 0 &&
					!g_ptr_array_find((GPtrArray *) found, actor, NULL))) {
				continue;
			}
			candidate.distance = MIN(distance(wanted, tid),
				actor->comm ? distance(wanted, actor->comm) : G_MAXUINT);
			if (actor->comm && strstr(actor->comm, wanted)) {
				candidate.distance = 1;
			}
			g_array_append_val(candidates, candidate);
		}
	}
	g_array_sort(candidates, by_distance);
	list(text, (const struct candidate *) (const void *) candidates->data,
		found->len > 0 ? candidates->len : MIN(candidates->len, NEAR_MISSES));
	g_array_free(candidates, TRUE);
	if (found->len > 0) {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_THREAD,
			"%u threads are meant by `%s`: %s; name one of them by HOST:TID",
			found->len, a->thread, text->str);
	} else {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_THREAD,
			"No thread of the trace is `%s`; near to it are %s", a->thread,
			text->len ? text->str : "none");
	}
}

/* ---- its time ---- */

/*
 * From the first to the last that the trace shows of a thread. A stretch off the CPU that goes on
 * when the trace ends belongs to it only as far as something is seen of it, if not `whole`.
 */
static void life_of(const struct lqn_actor *actor, bool whole, int64_t *begin, int64_t *end)
{
	const GArray *intervals = actor->intervals;

	*begin = actor->seen;
	*end = actor->died >= 0 ? actor->died : actor->host->end;
	if (intervals->len > 0) {
		const struct lqn_interval *first = &g_array_index(
			intervals, struct lqn_interval, 0);
		const struct lqn_interval *last = &g_array_index(
			intervals, struct lqn_interval, intervals->len - 1);

		if (first->cpu == 0 && first->begin > *begin) {
			*begin = first->begin;	/* made, not yet awake */
		}
		if (!whole && actor->died < 0 &&
			(last->open || (last->preempted && last->end >= actor->host->end))) {
			*end = last->preempted ? last->begin : MAX(last->begin, last->wake);
		}
	}
}

struct lqn_thread_path *lqn_analysis_thread_path(struct lqn_analysis *a, GError **error)
{
	g_autoptr(GPtrArray) found = match(a);
	GArray *pieces;
	struct lqn_thread_path *path;
	struct lqn_actor *actor;
	int64_t begin, end;

	if (found->len != 1) {
		set_error(a, found, error);
		return NULL;
	}
	actor = found->pdata[0];
	life_of(actor, a->end != INT64_MAX, &begin, &end);
	if (MAX(begin, a->begin) > MIN(end, a->end)) {
		g_set_error(error, LQN_ANALYSIS_ERROR, LQN_ANALYSIS_NO_THREAD,
			"The trace shows thread `%s` from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
			" ns: parameters `begin` and `end` leave nothing of it",
			a->thread, begin, end);
		return NULL;
	}
	path = g_new0(struct lqn_thread_path, 1);
	path->begin = MAX(begin, a->begin);
	path->end = MIN(end, a->end);
	path->thread = actor->key;
	path->host = actor->host->name;
	path->comm = actor->comm ? actor->comm : "";
	path->rows = g_array_new(FALSE, FALSE, sizeof(struct lqn_thread_row));
	pieces = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_piece));
	lqn_path_walk(a, actor, path->begin, path->end, NULL, pieces);
	for (guint i = 0; i < pieces->len; i++) {
		add_row(a, path->rows, &g_array_index(pieces, struct lqn_path_piece, i));
	}
	g_array_free(pieces, TRUE);
	return path;
}

void lqn_thread_path_free(struct lqn_thread_path *path)
{
	if (path) {
		g_array_free(path->rows, TRUE);
		g_free(path);
	}
}
