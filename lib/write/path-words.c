/* SPDX-License-Identifier: MIT */
#include "write/path-words.h"

#include <inttypes.h>

#include "write/text.h"

/* What connects a wait with who is in the way. */
static const char *const links[LQN_PATH_KINDS] = {
	[LQN_PATH_RUNNABLE] = "behind",
	[LQN_PATH_PREEMPTED] = "by",
	[LQN_PATH_LOCK] = "held by",
	[LQN_PATH_DISK_QUEUE] = "behind",
	[LQN_PATH_QUEUE] = "busy:",
	[LQN_PATH_BROKER] = "busy:",
};

static void append_by(GString *out, const struct lqn_path_piece *piece)
{
	const struct lqn_path_by *by = &piece->by;

	g_string_append_printf(out, "%s%s ", out->len ? " " : "", links[piece->kind]);
	lqn_text_append_clean(out, by->comm && *by->comm ? by->comm : by->task);
	/* above: reuse of the id */
	g_string_append_printf(out, " %" PRIu32, (uint32_t) by->thread);
	if (by->operation) {
		g_string_append(out, by->request ? ", request " : ", a request");
		if (by->request) {
			g_string_append_printf(out, "%" PRIu32, by->request);
		}
		g_string_append(out, " of ");
		lqn_text_append_clean(out, by->operation);
	}
	if (piece->kind == LQN_PATH_LOCK) {
		g_string_append(out, ": ");
		if (by->doing_task && by->doing_task != by->task) {
			lqn_text_append_clean(out, by->doing_task);
			g_string_append_c(out, ' ');
		}
		g_string_append(out, lqn_path_kind_name(by->doing));
	}
}

char *lqn_path_piece_words(const struct lqn_path_piece *piece)
{
	GString *out = g_string_new(NULL);

	/* who came instead is named with his request */
	if (piece->detail && !(piece->kind == LQN_PATH_PREEMPTED && piece->by.thread)) {
		lqn_text_append_clean(out, piece->detail);
	}
	if (piece->from && *piece->from) {
		g_string_append_printf(out, "%sfrom ", out->len ? " " : "");
		lqn_text_append_clean(out, piece->from);
	}
	if (piece->by.thread && links[piece->kind]) {
		append_by(out, piece);
	}
	return g_string_free(out, FALSE);
}

char *lqn_path_group_words(const struct lqn_path_group *group)
{
	g_autofree char *name = lqn_text_clean(lqn_path_group_name(group));
	g_autofree char *task = lqn_text_clean(group->task);

	return group->operation ? g_strdup_printf("%s, asked by %s", name, task) :
		g_strdup(name);
}

char *lqn_path_place_words(const struct lqn_path_place *place)
{
	g_autofree char *task = lqn_text_clean(place->task);
	g_autofree char *entry = place->entry ? lqn_text_clean(place->entry) : NULL;

	if (!entry || g_str_has_prefix(entry, task)) {
		return g_strdup(entry ? entry : task);
	}
	return g_strdup_printf("%s %s", task, entry);
}
