/* SPDX-License-Identifier: MIT */
#include "plugin/common/identity.h"

#define FAIL(self, ...) BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((self), __VA_ARGS__)

static void free_snapshot(gpointer snapshot)
{
	lqn_snapshot_free(snapshot);
}

bool lqn_identity_read_snapshots(bt_self_component *self, const GPtrArray *files, GPtrArray **snapshots)
{
	for (guint i = 0; files && i < files->len; i++) {
		g_autoptr(GError) error = NULL;
		struct lqn_snapshot *snapshot = lqn_snapshot_read(files->pdata[i], &error);
		const struct lqn_snapshot *other;

		if (!snapshot) {
			FAIL(self, "Parameter `identity`: %s", error->message);
			return false;
		}
		if (!*snapshots) {
			*snapshots = g_ptr_array_new_with_free_func(free_snapshot);
		}
		other = lqn_snapshot_find(*snapshots, snapshot->host);
		g_ptr_array_add(*snapshots, snapshot);
		if (other) {
			FAIL(self, "Parameter `identity`: `%s` and `%s` are both of host `%s`: name one of them", other->file,
				snapshot->file, snapshot->host);
			return false;
		}
	}
	return true;
}

bool lqn_identity_read_rules(bt_self_component *self, const char *file, struct lqn_rules **rules)
{
	g_autoptr(GError) error = NULL;

	if (!file) {
		return true;
	}
	*rules = lqn_rules_read(file, &error);
	if (!*rules) {
		FAIL(self, "Parameter `rules`: %s", error->message);
	}
	return *rules != NULL;
}
