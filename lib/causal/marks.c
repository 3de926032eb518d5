/* SPDX-License-Identifier: MIT */

/*
 * Candidates for boundaries. The sink is told by its user which of them cut the trace; the filter
 * does not know and passes on whatever may be one: system calls with a path, programs that begin and
 * processes that end, and events of other layouts. What comes often is none.
 */
#include "causal/engine.h"

#include "layout/layout.h"

void lqn_causal_mark(struct lqn_causal *c, const struct lqn_thread *thread, const char *name, const char *value, int64_t at)
{
	g_autofree char *key = g_strdup_printf("%s:%s", name, value ? value : "");
	guint count = GPOINTER_TO_UINT(g_hash_table_lookup(c->marks, key));
	struct lqn_event ev = { .type = LQN_EV_MARK };

	if (count >= LQN_MARKS_PER_NAME ||
			(count == 0 && g_hash_table_size(c->marks) >= LQN_MARK_NAMES)) {
		return;
	}
	g_hash_table_insert(c->marks, g_steal_pointer(&key), GUINT_TO_POINTER(count + 1));
	ev.mark.thread = thread ? thread->key : 0;
	ev.mark.name = name;
	ev.mark.value = value ? value : "";
	ev.mark.at = at;
	lqn_causal_emit(c, &ev);
}

void lqn_step_mark(struct lqn_step *step)
{
	const struct lqn_record *rec = step->rec;
	const char *value = rec->type == LQN_REC_CALL_ENTRY && step->thread ? step->thread->call.text : rec->text;

	lqn_causal_mark(step->causal, step->thread, lqn_layout_short_name(rec->name), value, rec->ts);
}
