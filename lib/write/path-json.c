/* SPDX-License-Identifier: MIT */

/*
 * critical-path.json, described by doc/critical-path.schema.json: profiles and delays over all
 * requests, pieces of the slowest and of a sample. What is not known is left out.
 */
#include "write/write.h"

#include "write/json-build.h"
#include "write/text.h"

#define MESSAGES_MAX 1000	/* flows of them, likewise */
#define DELAYS_MAX 1000		/* largest first */
#define PIECES_MAX 200000	/* of all requests: they become objects, all at a time */

struct count {
	uint64_t pieces, left_out;
};

static void put_seconds(struct json_object *object, const char *key, double ns)
{
	lqn_json_put_number(object, key, ns / 1e9);
}

static void put_thread(struct json_object *object, uint64_t thread, const char *comm)
{
	lqn_json_put_count(object, "tid", (uint32_t) thread);
	if (thread >> 32) {
		lqn_json_put_count(object, "reuse", thread >> 32);
	}
	lqn_json_put_text(object, "comm", comm);
}

static struct json_object *new_calls(const struct lqn_path_place *place)
{
	struct json_object *array = place->caller ? new_calls(place->caller) :
		json_object_new_array();
	struct json_object *object = json_object_new_object();

	lqn_json_put_text(object, "task", place->task);
	lqn_json_put_text(object, "entry", place->entry);
	lqn_json_append(array, object);
	return array;
}

static struct json_object *new_by(const struct lqn_path_piece *piece)
{
	const struct lqn_path_by *by = &piece->by;
	struct json_object *object = json_object_new_object();

	lqn_json_put_text(object, "task", by->task);
	put_thread(object, by->thread, by->comm);
	lqn_json_put_text(object, "operation", by->operation);
	if (by->request) {
		lqn_json_put_count(object, "request", by->request);
	}
	if (piece->kind == LQN_PATH_LOCK) {
		lqn_json_put_text(object, "doing", lqn_path_kind_name(by->doing));
		lqn_json_put_text(object, "doing-task", by->doing_task);
	}
	return object;
}

static struct json_object *new_piece(const struct lqn_path_piece *piece)
{
	struct json_object *object = json_object_new_object();

	lqn_json_put_window(object, piece->begin, piece->end);
	lqn_json_put_text(object, "kind", lqn_path_kind_name(piece->kind));
	lqn_json_put_text(object, "detail", piece->detail);
	lqn_json_put_text(object, "task", piece->task);
	lqn_json_put_text(object, "entry", piece->place ? piece->place->entry : NULL);
	lqn_json_put_text(object, "host", piece->host ? piece->host : "");
	put_thread(object, piece->thread, piece->comm);
	lqn_json_put_text(object, "from", piece->from);
	if (piece->by.thread) {
		lqn_json_put(object, "by", new_by(piece));
	}
	return object;
}

/* Calls that ended before one that was made beside them. */
static struct json_object *new_parallel(const struct lqn_request_path *path)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; path->works && i < path->works->len; i++) {
		const struct lqn_path_work *work =
			&g_array_index(path->works, struct lqn_path_work, i);
		struct json_object *object;

		if (work->slack < 0) {
			continue;
		}
		object = json_object_new_object();
		lqn_json_put_window(object, work->begin, work->end);
		lqn_json_put_int(object, "slack-ns", work->slack);
		lqn_json_put_text(object, "task", work->task);
		lqn_json_put_text(object, "entry", work->entry);
		lqn_json_put_text(object, "host", work->host);
		put_thread(object, work->thread, work->comm);
		lqn_json_append(array, object);
	}
	return array;
}

static struct json_object *new_pieces(const struct lqn_request_path *path)
{
	struct json_object *pieces = json_object_new_array();

	for (unsigned i = 0; i < path->pieces->len; i++) {
		lqn_json_append(pieces,
			new_piece(&g_array_index(path->pieces, struct lqn_path_piece, i)));
	}
	return pieces;
}

static struct json_object *new_request(const struct lqn_request_path *path)
{
	static const char *const reasons[] = { "typical", "slow", "slowest", "sample" };
	struct json_object *object = json_object_new_object(), *kept = json_object_new_array();

	for (unsigned i = 0; i < G_N_ELEMENTS(reasons); i++) {
		if (path->kept >> i & 1) {
			lqn_json_append(kept, json_object_new_string(reasons[i]));
		}
	}
	lqn_json_put_count(object, "request", path->number);
	lqn_json_put(object, "kept", kept);
	lqn_json_put_window(object, path->begin, path->end);
	lqn_json_put(object, "pieces", new_pieces(path));
	lqn_json_put(object, "parallel", new_parallel(path));
	return object;
}

static struct json_object *new_share(const struct lqn_path_group *group,
	const struct lqn_path_share *share)
{
	struct json_object *object = json_object_new_object();

	lqn_json_put_text(object, "task", share->task);
	lqn_json_put_text(object, "kind", lqn_path_kind_name(share->kind));
	lqn_json_put_text(object, "detail", share->detail);
	if (share->place) {
		lqn_json_put(object, "calls", new_calls(share->place));
	}
	put_seconds(object, "mean", lqn_path_share_mean(group, share, LQN_SET_ALL));
	put_seconds(object, "typical", lqn_path_share_mean(group, share, LQN_SET_TYPICAL));
	put_seconds(object, "slow", lqn_path_share_mean(group, share, LQN_SET_SLOW));
	return object;
}

static struct json_object *new_operation(const struct lqn_path_group *group, struct count *count)
{
	struct json_object *object = json_object_new_object(), *times = json_object_new_object();
	struct json_object *profile = json_object_new_array(), *kept = json_object_new_array();

	lqn_json_put_text(object, "operation", lqn_path_group_name(group));
	lqn_json_put_text(object, "client", group->task);
	lqn_json_put_count(object, "requests", group->requests);
	lqn_json_put_count(object, "typical-requests", lqn_path_group_count(group, LQN_SET_TYPICAL));
	lqn_json_put_count(object, "slow-requests", lqn_path_group_count(group, LQN_SET_SLOW));
	put_seconds(times, "mean", group->mean);
	put_seconds(times, "p50", (double) group->p50);
	put_seconds(times, "p95", (double) group->p95);
	put_seconds(times, "p99", (double) group->p99);
	put_seconds(times, "max", (double) group->max);
	lqn_json_put(object, "response-time", times);
	for (unsigned i = 0; group->shares && i < group->shares->len; i++) {
		lqn_json_append(profile, new_share(group,
			&g_array_index(group->shares, struct lqn_path_share, i)));
	}
	lqn_json_put(object, "profile", profile);
	for (unsigned i = 0; group->kept && i < group->kept->len; i++) {
		const struct lqn_request_path *path = g_ptr_array_index(group->kept, i);

		if (count->pieces + path->pieces->len > PIECES_MAX) {
			count->left_out++;
			continue;
		}
		count->pieces += path->pieces->len;
		lqn_json_append(kept, new_request(path));
	}
	lqn_json_put(object, "kept", kept);
	return object;
}

static struct json_object *new_delay(const struct lqn_path_delay *delay)
{
	struct json_object *object = json_object_new_object(), *by = json_object_new_object();

	lqn_json_put_text(object, "operation", delay->operation);
	lqn_json_put_text(object, "task", delay->task);
	lqn_json_put_text(object, "kind", lqn_path_kind_name(delay->kind));
	lqn_json_put_text(object, "detail", delay->detail);
	lqn_json_put_text(by, "operation", delay->by_operation);
	lqn_json_put_text(by, "task", delay->by_task);
	lqn_json_put(object, "by", by);
	lqn_json_put_count(object, "requests", delay->requests);
	put_seconds(object, "seconds", delay->sum);
	if (delay->kind == LQN_PATH_LOCK) {
		struct json_object *doing = json_object_new_object();

		for (unsigned kind = 0; kind < LQN_PATH_KINDS; kind++) {
			if (delay->doing[kind] > 0) {
				put_seconds(doing, lqn_path_kind_name((enum lqn_path_kind) kind),
					delay->doing[kind]);
			}
		}
		lqn_json_put(object, "doing", doing);
	}
	return object;
}

static void put_message(struct json_object *object, const char *key, const struct lqn_request_path *path)
{
	struct json_object *it;

	if (!path) {
		return;
	}
	it = json_object_new_object();
	lqn_json_put_window(it, path->begin, path->end);
	lqn_json_put(it, "pieces", new_pieces(path));
	lqn_json_put(object, key, it);
}

static struct json_object *new_messages(const struct lqn_path_report *report)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < MIN(report->messages->len, MESSAGES_MAX); i++) {
		const struct lqn_path_message *message =
			&g_array_index(report->messages, struct lqn_path_message, i);
		struct json_object *it = lqn_json_new_flow(&message->flow);

		put_message(it, "typical", message->typical);
		put_message(it, "slowest", message->slowest);
		lqn_json_append(array, it);
	}
	return array;
}

GString *lqn_write_path_json(const struct lqn_path_report *report)
{
	struct json_object *object = json_object_new_object();
	struct json_object *operations = json_object_new_array(), *delays = json_object_new_array();
	struct count count = { 0 };

	lqn_json_put_text(object, "schema", "lqn-critical-path/1");
	lqn_json_put_text(object, "partial", report->partial);
	lqn_json_put_count(object, "requests", report->requests);
	for (unsigned i = 0; i < report->groups->len; i++) {
		lqn_json_append(operations,
			new_operation(g_ptr_array_index(report->groups, i), &count));
	}
	if (count.left_out > 0) {
		lqn_json_put_count(object, "left-out", count.left_out);
	}
	lqn_json_put(object, "operations", operations);
	for (unsigned i = 0; i < MIN(report->delays->len, DELAYS_MAX); i++) {
		lqn_json_append(delays,
			new_delay(&g_array_index(report->delays, struct lqn_path_delay, i)));
	}
	lqn_json_put(object, "delays", delays);
	if (report->messages->len > 0) {
		lqn_json_put(object, "messages", new_messages(report));
	}
	return lqn_json_print(object, JSON_C_TO_STRING_NOSLASHESCAPE);
}
