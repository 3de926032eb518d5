/* SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <string.h>

#include "internal.h"
#include "sync.h"

GQuark lqn_analysis_error_quark(void)
{
	return g_quark_from_static_string("lqn-analysis-error");
}

struct lqn_analysis *lqn_analysis_new(const struct lqn_options *options)
{
	struct lqn_analysis *a = g_new0(struct lqn_analysis, 1);

	a->begin_mark = g_strdup(options->begin_mark);
	a->end_mark = g_strdup(options->end_mark);
	a->name = g_strdup(options->name ? options->name : "model");
	a->thread = g_strdup(options->thread);
	a->begin = options->begin;
	a->end = options->end;
	a->early_end = a->reached = INT64_MIN;
	a->windows = g_array_new(FALSE, FALSE, sizeof(struct lqn_window));
	lqn_keep_init(&a->keep, options->detail);
	a->all_paths = options->all_paths;
	a->slowest = options->slowest;
	a->whole = options->whole;
	a->clutter = options->clutter;
	a->background_below = options->background_below > 0 ? options->background_below : LQN_BACKGROUND_BELOW;
	a->entries = options->entries;
	a->snapshots = options->snapshots;
	a->rules = options->rules;
	a->hosts = g_ptr_array_new_with_free_func((GDestroyNotify) lqn_party_free);
	a->order = lqn_order_new(a);
	a->links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	a->invocations = g_ptr_array_new();
	a->arcs = g_ptr_array_new();
	a->told = g_array_new(FALSE, FALSE, sizeof(struct lqn_told_message));
	a->samples = g_array_new(FALSE, FALSE, sizeof(struct lqn_hold_sample));
	a->flows = lqn_flows_new();
	a->spans = lqn_spans_new();
	return a;
}

void lqn_analysis_free(struct lqn_analysis *a)
{
	if (!a) {
		return;
	}
	lqn_sync_free(a->sync);
	g_hash_table_destroy(a->links);
	lqn_order_free(a->order);
	for (guint i = 0; i < a->invocations->len; i++) {
		lqn_invocation_free(a, a->invocations->pdata[i]);
	}
	g_ptr_array_free(a->invocations, TRUE);
	g_ptr_array_free(a->arcs, TRUE);
	g_array_free(a->told, TRUE);
	g_array_free(a->samples, TRUE);
	g_hash_table_destroy(a->flows);
	lqn_spans_free(a->spans);
	g_ptr_array_free(a->hosts, TRUE);
	lqn_keep_clear(&a->keep);
	g_array_free(a->windows, TRUE);
	g_free(a->begin_mark);
	g_free(a->end_mark);
	g_free(a->name);
	g_free(a->thread);
	g_free(a);
}

static void deliver(struct lqn_analysis *a, struct lqn_party *party, const struct lqn_event *ev);

unsigned lqn_analysis_host(struct lqn_analysis *a, const char *name)
{
	for (guint i = 0; i < a->hosts->len; i++) {
		if (strcmp(((struct lqn_party *) a->hosts->pdata[i])->name, name) == 0) {
			return i;
		}
	}
	g_ptr_array_add(a->hosts, lqn_party_new(name, a->hosts->len, &a->keep));
	lqn_identify_host(a, a->hosts->pdata[a->hosts->len - 1]);
	if (a->hosts->len == 2) {
		a->sync = lqn_sync_new(a, deliver);
	}
	return a->hosts->len - 1;
}

/* ---- events that take effect at once ---- */

static void on_thread(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_actor *actor = lqn_party_actor(host, ev->thread.thread);

	actor->unit = lqn_party_unit(host, ev->thread.pid);
	if ((uint32_t) actor->key == ev->thread.pid) {
		actor->unit->main = actor;
	}
	actor->parent = ev->thread.parent ? lqn_party_actor(host, ev->thread.parent) : NULL;
	actor->born = ev->thread.born;
	actor->seen = MIN(actor->seen, actor->born >= 0 ? actor->born : ev->ts);
	actor->kernel = ev->thread.kernel != 0;
	lqn_actor_set_name(actor, ev->thread.comm);
	g_free(actor->exe);
	actor->exe = g_strdup(ev->thread.exe);
	lqn_identify(a, actor);
}

static void on_object(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_end *end = lqn_party_end(host, ev->object.object);

	end->kind = (uint8_t) ev->object.kind;
	end->role = end->outside ? end->role : (uint8_t) ev->object.role;
	if (ev->object.closed && !end->closed) {
		end->closed = ev->ts;
		if (end->found) {
			end->found->closed = ev->ts;
		} else if (end->outside) {
			lqn_outside_closed(a, host, end, ev->ts);
		}
	}
	if (ev->object.alias && !end->alias &&
			lqn_end_real(lqn_party_end(host, ev->object.alias)) != end) {
		end->alias = lqn_party_end(host, ev->object.alias);
		end->alias->sends += end->sends;	/* of what was counted here before that was known */
	}
	if (ev->object.peer && !end->outside) {
		end->peer = lqn_party_end(host, ev->object.peer);
		end->sure = ev->object.evidence == LQN_CERTAIN;
	}
	end->listener = ev->object.listener ? lqn_party_end(host, ev->object.listener) : NULL;
	g_free(end->name);
	end->name = *ev->object.name ? g_strdup(ev->object.name) : NULL;
	if (ev->object.remote) {
		lqn_link_end(a, end, ev->ts);
	}
}

/* `EVENT:VALUE`, or `EVENT` alone. A program that begins may be named without its folder. */
static bool mark_matches(const char *wanted, const struct lqn_event *ev)
{
	size_t len = strlen(ev->mark.name);

	if (!wanted || strncmp(wanted, ev->mark.name, len) != 0) {
		return false;
	}
	return wanted[len] == '\0' || (wanted[len] == ':' && (strcmp(wanted + len + 1, ev->mark.value) == 0 ||
		(strcmp(ev->mark.name, "exec") == 0 && strcmp(wanted + len + 1, lqn_base_name(ev->mark.value)) == 0)));
}

/* A begin mark opens a window, unless one is open; an end mark closes it. Without a begin mark all before the first end is one. */
static void on_mark(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_window *last = a->windows->len > 0 ?
		&g_array_index(a->windows, struct lqn_window, a->windows->len - 1) : NULL;
	bool open = last && last->end == INT64_MAX, later = !last || ev->mark.at >= last->end;
	struct lqn_window fresh = { ev->mark.at, INT64_MAX };

	if (!open && later && mark_matches(a->begin_mark, ev)) {
		g_array_append_val(a->windows, fresh);
	} else if (mark_matches(a->end_mark, ev)) {
		if (open) {
			last->end = ev->mark.at;
		} else if (!a->begin_mark && !last) {
			fresh = (struct lqn_window) { INT64_MIN, ev->mark.at };
			g_array_append_val(a->windows, fresh);
		} else if (!last) {
			a->early_end = ev->mark.at;
		}
	}
}

static void on_cpu(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_cpu_use use = {
		ev->cpu.cpu, ev->cpu.begin, ev->cpu.end, ev->cpu.idle, ev->cpu.hardirq, ev->cpu.softirq
	};

	for (guint i = 0; i < host->cpus->len; i++) {
		struct lqn_cpu_use *it = &g_array_index(host->cpus, struct lqn_cpu_use, i);

		if (it->cpu == use.cpu) {
			*it = use;	/* the last one counts */
			return;
		}
	}
	g_array_append_val(host->cpus, use);
}

static void on_interrupt(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	g_hash_table_insert(host->interrupts, GUINT_TO_POINTER((guint) ev->interrupt.number),
		(gpointer) g_intern_string(ev->interrupt.name));
}

static void on_loss(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	host->losses += MAX(ev->loss.count, 1);
}

static void on_summary(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	host->begin = MIN(host->begin, ev->summary.begin);
	/* events are dated when they are told: what a span says may lie years behind the trace */
	host->told_end = MAX(host->told_end, ev->summary.end);
	host->end = host->told_end;
	host->holes += ev->summary.holes;
	host->contradictions += ev->summary.contradictions;
	host->disorder += ev->summary.disorder;
}

static void deliver(struct lqn_analysis *a, struct lqn_party *party, const struct lqn_event *ev)
{
	static void (*const at_once[LQN_EV_COUNT])(struct lqn_analysis *, struct lqn_party *,
		const struct lqn_event *) = {
		[LQN_EV_THREAD] = on_thread,
		[LQN_EV_OBJECT] = on_object,
		[LQN_EV_MARK] = on_mark,
		[LQN_EV_CPU] = on_cpu,
		[LQN_EV_INTERRUPT] = on_interrupt,
		[LQN_EV_PACKET] = lqn_on_packet,
		[LQN_EV_IO] = lqn_on_io,
		[LQN_EV_LOSS] = on_loss,
		[LQN_EV_SUMMARY] = on_summary,
	};
	struct lqn_event moved;
	struct lqn_end *end;

	if (a->keep.held >= a->keep.limit) {
		lqn_keep_within(a);
	}
	if (ev->type != LQN_EV_SPAN && ev->type != LQN_EV_SPAN_MESSAGE) {
		party->end = MAX(party->end, ev->ts);
	}
	if (ev->type < LQN_EV_COUNT && at_once[ev->type]) {
		at_once[ev->type](a, party, ev);
		return;
	}
	if (ev->type == LQN_EV_SEND && (end = lqn_end_real(lqn_party_end(party, ev->send.object)))->remote) {
		if (end->found) {
			end = end->found;
			moved = *ev;
			moved.send.object = end->id;
			ev = &moved;
		}
		lqn_order_push(a->order, party, ev);
		lqn_link_sent(a, party, end, ev);
		return;
	}
	if (ev->type == LQN_EV_RECEIVE && (end = lqn_end_real(lqn_party_end(party, ev->receive.object)))->remote) {
		if (end->found) {
			end = end->found;
			moved = *ev;
			moved.receive.object = end->id;
			ev = &moved;
		}
		lqn_link_received(a, party, end, ev);
	} else {
		lqn_order_push(a->order, party, ev);
	}
}

void lqn_analysis_event(struct lqn_analysis *a, unsigned host, const struct lqn_event *ev)
{
	struct lqn_party *party = a->hosts->pdata[host];

	a->events++;
	if (a->sync) {
		lqn_sync_event(a->sync, party, ev);
	} else {
		deliver(a, party, ev);
	}
}

void lqn_analysis_end(struct lqn_analysis *a)
{
	if (a->sync) {
		lqn_sync_flush(a->sync);
	}
	lqn_link_flush(a);
	lqn_order_flush(a->order);
}

void lqn_analysis_advance(struct lqn_analysis *a, int64_t until)
{
	if (a->sync) {
		lqn_sync_flush(a->sync);
	}
	lqn_order_advance(a->order, until);
}

void lqn_analysis_forget(struct lqn_analysis *a, int64_t before)
{
	a->keep.since = MAX(a->keep.since, MIN(before, a->reached));
	lqn_forget(a);
}
