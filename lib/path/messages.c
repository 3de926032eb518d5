/* SPDX-License-Identifier: MIT */

/*
 * The path of a message: from its producer's send through a broker until its consumer has worked on it. What lies between the
 * broker's taking and its delivering, and is nobody's work for the message, is the time that it was stored.
 */
#include "path/group.h"
#include "path/path.h"
#include "path/walk.h"

static struct lqn_request_path *path_of(struct lqn_path_index *index, const struct lqn_delivery *delivery)
{
	const struct lqn_analysis *a = lqn_path_index_analysis(index);
	const struct lqn_delivery_times at = lqn_delivery_times(delivery);
	struct lqn_invocation *taken = lqn_final(delivery->published->callee), *passed = delivery->passed;
	const struct lqn_invocation *producer = lqn_final(delivery->published->caller);
	const struct lqn_invocation *received = lqn_final(delivery->delivered->callee);
	struct lqn_request_path *path = g_new0(struct lqn_request_path, 1);
	struct lqn_path_piece stored = {
		.begin = at.stored, .end = at.fetched, .thread = taken->actor->key, .task = lqn_invocation_service(taken),
		.comm = taken->actor->comm ? taken->actor->comm : "", .kind = LQN_PATH_BROKER, .host = taken->actor->host->name,
		.detail = lqn_joining_name(delivery->how), .place = lqn_path_place_of(index, taken),
	};

	path->begin = at.published;
	path->end = at.done;
	path->thread = producer->actor->key;
	path->task = lqn_service_name(producer->actor);
	path->pieces = g_array_new(FALSE, FALSE, sizeof(struct lqn_path_piece));
	if (taken == passed) {
		lqn_path_walk_work(a, lqn_delivery_sender(delivery), at.published, at.delivered, index, path->pieces);
	} else {
		lqn_path_walk_work(a, taken->actor, at.published, at.stored, index, path->pieces);
		if (stored.begin < stored.end) {
			g_array_append_val(path->pieces, stored);
		}
		lqn_path_walk_work(a, lqn_delivery_sender(delivery), at.fetched, at.delivered, index, path->pieces);
	}
	lqn_path_walk_work(a, received->actor, at.delivered, at.done, index, path->pieces);
	return path;
}

static gint by_latency(gconstpointer a, gconstpointer b)
{
	const struct lqn_delivery *x = *(const struct lqn_delivery *const *) a, *y = *(const struct lqn_delivery *const *) b;
	const struct lqn_delivery_times p = lqn_delivery_times(x), q = lqn_delivery_times(y);
	int64_t length = p.received - p.published, other = q.received - q.published;

	if (length != other) {
		return length < other ? -1 : 1;
	}
	return p.published < q.published ? -1 : p.published > q.published;
}

static struct lqn_request_path *keep(struct lqn_path_index *index, struct lqn_path_report *report,
	const struct lqn_delivery *delivery)
{
	struct lqn_request_path *path = path_of(index, delivery);

	report->not_tiled += !lqn_path_is_tiled(path, path->pieces);
	return path;
}

/* The deliveries of each flow of the model that are known to their ends: struct lqn_delivery, borrowed. */
static GHashTable *group_deliveries(const struct lqn_build *build)
{
	GHashTable *groups = g_hash_table_new_full(lqn_message_flow_hash, lqn_message_flow_equal, NULL,
		(GDestroyNotify) g_ptr_array_unref);

	for (guint i = 0; i < build->model->messages->len; i++) {
		g_hash_table_insert(groups, &g_array_index(build->model->messages, struct lqn_message_flow, i), g_ptr_array_new());
	}
	for (guint i = 0; i < build->deliveries->len; i++) {
		struct lqn_delivery *it = &g_array_index(build->deliveries, struct lqn_delivery, i);
		const struct lqn_delivery_times at = lqn_delivery_times(it);
		struct lqn_message_flow flow = lqn_delivery_flow(it);
		GPtrArray *group = g_hash_table_lookup(groups, &flow);

		if (group && lqn_is_known(build->a, at.published, at.done)) {
			g_ptr_array_add(group, it);
		}
	}
	return groups;
}

void lqn_path_messages(struct lqn_path_index *index, const struct lqn_build *build, struct lqn_path_report *report)
{
	g_autoptr(GHashTable) groups = group_deliveries(build);

	for (guint i = 0; i < build->model->messages->len; i++) {
		struct lqn_path_message message = { .flow = g_array_index(build->model->messages, struct lqn_message_flow, i) };
		GPtrArray *mine = g_hash_table_lookup(groups, &message.flow);

		if (mine->len > 0) {
			g_ptr_array_sort(mine, by_latency);
			message.typical = keep(index, report, mine->pdata[mine->len / 2]);
			message.slowest = mine->len > 1 ? keep(index, report, mine->pdata[mine->len - 1]) : NULL;
		}
		g_array_append_val(report->messages, message);
	}
}
