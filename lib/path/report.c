/* SPDX-License-Identifier: MIT */

/* A report's life, and names; what is in it is made by the rest of lib/path. */
#include "path/report.h"

#define PLACES_MAX 65536	/* more are all one: names come from the trace */

static const char *const kind_names[LQN_PATH_KINDS] = {
	[LQN_PATH_CPU] = "cpu",
	[LQN_PATH_RUNNABLE] = "runnable",
	[LQN_PATH_WAKEUP] = "wake-up",
	[LQN_PATH_PREEMPTED] = "preempted",
	[LQN_PATH_INTERRUPTED] = "interrupted",
	[LQN_PATH_LOCK] = "lock",
	[LQN_PATH_DISK] = "disk",
	[LQN_PATH_DISK_QUEUE] = "disk queue",
	[LQN_PATH_SLEEP] = "sleep",
	[LQN_PATH_NETWORK] = "network",
	[LQN_PATH_QUEUE] = "queue",
	[LQN_PATH_BROKER] = "broker",
	[LQN_PATH_UNTRACED] = "untraced",
	[LQN_PATH_OTHER] = "other",
	[LQN_PATH_UNKNOWN] = "unknown",
};

const char *lqn_path_kind_name(enum lqn_path_kind kind)
{
	return (unsigned) kind < LQN_PATH_KINDS ? kind_names[kind] : kind_names[LQN_PATH_UNKNOWN];
}

static const char *const band_names[LQN_PATH_BANDS] = {
	[LQN_BAND_FAST] = "p0-p25",
	[LQN_BAND_TYPICAL] = "p25-p75",
	[LQN_BAND_LONG] = "p75-p95",
	[LQN_BAND_SLOW] = "p95-p99",
	[LQN_BAND_SLOWEST] = "p99-p100",
};

const char *lqn_path_band_name(enum lqn_path_band band)
{
	return (unsigned) band < LQN_PATH_BANDS ? band_names[band] : "";
}

/* ---- sets of requests ---- */

static bool is_in(enum lqn_path_set set, unsigned band)
{
	static const uint8_t bands[] = {
		[LQN_SET_ALL] = (1 << LQN_PATH_BANDS) - 1,
		[LQN_SET_TYPICAL] = 1 << LQN_BAND_TYPICAL,
		[LQN_SET_SLOW] = 1 << LQN_BAND_SLOW | 1 << LQN_BAND_SLOWEST,
	};

	return bands[set] >> band & 1;
}

uint64_t lqn_path_group_count(const struct lqn_path_group *group, enum lqn_path_set set)
{
	uint64_t count = 0;

	for (unsigned band = 0; band < LQN_PATH_BANDS; band++) {
		count += is_in(set, band) ? group->band[band] : 0;
	}
	return count;
}

double lqn_path_share_mean(const struct lqn_path_group *group, const struct lqn_path_share *share,
	enum lqn_path_set set)
{
	uint64_t count = lqn_path_group_count(group, set);
	double sum = 0;

	for (unsigned band = 0; band < LQN_PATH_BANDS; band++) {
		sum += is_in(set, band) ? share->sum[band] : 0;
	}
	return count > 0 ? sum / (double) count : 0;
}

const char *lqn_path_group_name(const struct lqn_path_group *group)
{
	return group->operation ? group->operation : group->task;
}

/* ---- places ---- */

static guint hash_place(gconstpointer data)
{
	const struct lqn_path_place *place = data;

	/* the names are interned, the caller is one of the set */
	return (g_direct_hash(place->caller) * 31 + g_direct_hash(place->task)) * 31 +
		g_direct_hash(place->entry);
}

static gboolean equal_place(gconstpointer a, gconstpointer b)
{
	const struct lqn_path_place *x = a, *y = b;

	return x->caller == y->caller && x->task == y->task && x->entry == y->entry;
}

const struct lqn_path_place *lqn_path_report_place(struct lqn_path_report *report,
	const struct lqn_path_place *caller, const char *task, const char *entry)
{
	struct lqn_path_place key = { caller, task, entry };
	struct lqn_path_place *place = g_hash_table_lookup(report->places, &key);

	if (!place && g_hash_table_size(report->places) >= PLACES_MAX) {
		key = (struct lqn_path_place) { NULL, g_intern_static_string("others"), NULL };
		place = g_hash_table_lookup(report->places, &key);
	}
	if (!place) {
		place = g_memdup2(&key, sizeof(key));
		g_hash_table_add(report->places, place);
	}
	return place;
}

/* ---- a report's life ---- */

static void unref_array(GArray *array)
{
	if (array) {
		g_array_unref(array);
	}
}

void lqn_request_path_free(struct lqn_request_path *path)
{
	if (path) {
		unref_array(path->pieces);
		unref_array(path->works);
		unref_array(path->states);
		g_free(path);
	}
}

static void group_free(gpointer data)
{
	struct lqn_path_group *group = data;

	unref_array(group->shares);
	if (group->kept) {
		g_ptr_array_unref(group->kept);
	}
	g_free(group);
}

static void message_clear(gpointer data)
{
	struct lqn_path_message *message = data;

	lqn_request_path_free(message->typical);
	lqn_request_path_free(message->slowest);
}

struct lqn_path_report *lqn_path_report_new(bool all)
{
	struct lqn_path_report *report = g_new0(struct lqn_path_report, 1);

	report->groups = g_ptr_array_new_with_free_func(group_free);
	report->delays = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_delay));
	report->messages = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_message));
	g_array_set_clear_func(report->messages, message_clear);
	report->all = all ? g_ptr_array_new_with_free_func((GDestroyNotify) lqn_request_path_free) : NULL;
	report->places = g_hash_table_new_full(hash_place, equal_place, g_free, NULL);
	return report;
}

void lqn_path_report_free(struct lqn_path_report *report)
{
	if (!report) {
		return;
	}
	g_ptr_array_unref(report->groups);
	g_array_unref(report->delays);
	g_array_unref(report->messages);
	if (report->all) {
		g_ptr_array_unref(report->all);
	}
	g_hash_table_destroy(report->places);
	g_free(report->partial);
	g_free(report);
}
