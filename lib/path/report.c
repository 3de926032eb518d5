/* SPDX-License-Identifier: MIT */

/* Names and the end of path reports; they are made by path.c and profile.c. */
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

static void request_free(struct lqn_request_path *request)
{
	if (!request) {
		return;
	}
	g_clear_pointer(&request->pieces, g_array_unref);
	g_free(request);
}

static void group_free(struct lqn_path_group *group)
{
	g_clear_pointer(&group->shares, g_array_unref);
	g_clear_pointer(&group->slow_shares, g_array_unref);
	request_free(group->typical);
	request_free(group->slow);
	g_free(group);
}

void lqn_path_report_free(struct lqn_path_report *report)
{
	if (!report) {
		return;
	}
	/*
	 * The elements are freed by hand, so it does not matter whether who made the arrays gave
	 * them a free function: it is taken away first.
	 */
	if (report->groups) {
		g_ptr_array_set_free_func(report->groups, NULL);
		for (unsigned i = 0; i < report->groups->len; i++) {
			group_free(g_ptr_array_index(report->groups, i));
		}
		g_ptr_array_unref(report->groups);
	}
	if (report->all) {
		g_ptr_array_set_free_func(report->all, NULL);
		for (unsigned i = 0; i < report->all->len; i++) {
			request_free(g_ptr_array_index(report->all, i));
		}
		g_ptr_array_unref(report->all);
	}
	g_free(report);
}
