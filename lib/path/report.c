/* SPDX-License-Identifier: MIT */

/* A report's life, and names; what is in it is made by path.c and profile.c. */
#include "path/report.h"

static const char *const kind_names[LQN_PATH_KINDS] = {
	[LQN_PATH_CPU] = "cpu",
	[LQN_PATH_RUNNABLE] = "runnable",
	[LQN_PATH_WAKEUP] = "wake-up",
	[LQN_PATH_PREEMPTED] = "preempted",
	[LQN_PATH_LOCK] = "lock",
	[LQN_PATH_DISK] = "disk",
	[LQN_PATH_SLEEP] = "sleep",
	[LQN_PATH_NETWORK] = "network",
	[LQN_PATH_QUEUE] = "queue",
	[LQN_PATH_OTHER] = "other",
	[LQN_PATH_UNKNOWN] = "unknown",
};

const char *lqn_path_kind_name(enum lqn_path_kind kind)
{
	return (unsigned) kind < LQN_PATH_KINDS ? kind_names[kind] : kind_names[LQN_PATH_UNKNOWN];
}

void lqn_request_path_free(struct lqn_request_path *path)
{
	if (path) {
		g_array_unref(path->pieces);
		g_free(path);
	}
}

static void request_free(gpointer path)
{
	lqn_request_path_free(path);
}

static void group_free(gpointer data)
{
	struct lqn_path_group *group = data;

	g_clear_pointer(&group->shares, g_array_unref);
	g_clear_pointer(&group->slow_shares, g_array_unref);
	lqn_request_path_free(group->typical);
	lqn_request_path_free(group->slow);
	g_free(group);
}

struct lqn_path_report *lqn_path_report_new(bool all)
{
	struct lqn_path_report *report = g_new0(struct lqn_path_report, 1);

	report->groups = g_ptr_array_new_with_free_func(group_free);
	report->all = all ? g_ptr_array_new_with_free_func(request_free) : NULL;
	return report;
}

void lqn_path_report_free(struct lqn_path_report *report)
{
	if (!report) {
		return;
	}
	g_ptr_array_unref(report->groups);
	g_clear_pointer(&report->all, g_ptr_array_unref);
	g_free(report->partial);
	g_free(report);
}
