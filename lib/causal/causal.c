/* SPDX-License-Identifier: MIT */
#include "causal/causal.h"

#include "causal/engine.h"
#include "layout/layout.h"

void lqn_causal_emit(struct lqn_causal *c, struct lqn_event *ev)
{
	ev->ts = c->now;
	c->emit(c->payload, ev);
}

static void emit_for_channels(void *payload, const struct lqn_event *ev)
{
	struct lqn_event dated = *ev;

	lqn_causal_emit(payload, &dated);
}

static void drop_event(void *payload, const struct lqn_event *ev)
{
}

/* What each type of record does. */
static void (*const handlers[LQN_REC_COUNT])(struct lqn_step *step) = {
	[LQN_REC_SWITCH] = lqn_step_switch,
	[LQN_REC_WAKING] = lqn_step_waking,
	[LQN_REC_WAKEUP] = lqn_step_wakeup,
	[LQN_REC_WAKEUP_NEW] = lqn_step_wakeup_new,
	[LQN_REC_FORK] = lqn_step_fork,
	[LQN_REC_EXEC] = lqn_step_exec,
	[LQN_REC_EXIT] = lqn_step_exit,
	[LQN_REC_FREE] = lqn_step_free,
	[LQN_REC_CONTEXT_ENTRY] = lqn_step_context_entry,
	[LQN_REC_CONTEXT_EXIT] = lqn_step_context_exit,
	[LQN_REC_SOFTIRQ_RAISE] = lqn_step_softirq_raise,
	[LQN_REC_CALL_ENTRY] = lqn_step_call_entry,
	[LQN_REC_CALL_EXIT] = lqn_step_call_exit,
	[LQN_REC_PACKET_QUEUE] = lqn_step_packet,
	[LQN_REC_PACKET_RECEIVE] = lqn_step_packet,
	[LQN_REC_PACKET_COPY] = lqn_step_packet_copy,
	[LQN_REC_BLOCK_INSERT] = lqn_step_block_insert,
	[LQN_REC_BLOCK_ISSUE] = lqn_step_block_issue,
	[LQN_REC_BLOCK_COMPLETE] = lqn_step_block_complete,
	[LQN_REC_STATE_PROCESS] = lqn_step_state_process,
	[LQN_REC_STATE_FD] = lqn_step_state_fd,
	[LQN_REC_STATE_NAMESPACE] = lqn_step_state_namespace,
	[LQN_REC_STATE_IRQ] = lqn_step_state_irq,
	[LQN_REC_SPAN_BEGIN] = lqn_step_span,
	[LQN_REC_SPAN_END] = lqn_step_span,
	[LQN_REC_SPAN_MESSAGE] = lqn_step_span_message,
	[LQN_REC_OTHER] = lqn_step_mark,
};

/* Says what a CPU has done until `ts`. */
static void tell_cpu(struct lqn_causal *c, struct lqn_cpu *cpu, int64_t ts)
{
	struct lqn_event ev = { .type = LQN_EV_CPU };

	ev.cpu.cpu = cpu->id;
	ev.cpu.begin = cpu->first;
	ev.cpu.end = cpu->ended ? MAX(cpu->first, cpu->end) : ts;
	ev.cpu.idle = cpu->idle_ns + (cpu->known && !cpu->current ? ts - cpu->since : 0);
	ev.cpu.hardirq = cpu->hardirq_ns;
	ev.cpu.softirq = cpu->softirq_ns;
	lqn_causal_emit(c, &ev);
	cpu->told = true;
}

/*
 * What a CPU runs is not known from `ts` on, though its thread may have been at something; of none
 * of its interrupts will the end be seen.
 */
static void lose_cpu(struct lqn_causal *c, struct lqn_cpu *cpu, int64_t ts)
{
	cpu->depth = 0;
	cpu->completed = 0;
	cpu->arrival.ts = -1;
	cpu->sent_to_self = false;
	if (cpu->current) {
		lqn_causal_lose_thread(cpu->current, ts);
	}
	lqn_causal_forget_current(c, cpu, ts);
}

/* Others go on at `ts`: CPUs whose streams have ended by then are not seen any more. */
static void end_cpus(struct lqn_causal *c, int64_t ts)
{
	c->next_end = INT64_MAX;
	for (guint i = 0; i < c->host.cpus->len; i++) {
		struct lqn_cpu *cpu = c->host.cpus->pdata[i];

		if (!cpu || cpu->end == INT64_MAX) {
			continue;
		}
		if (cpu->end < ts && !cpu->ended) {
			lose_cpu(c, cpu, cpu->end);
			cpu->ended = true;
		} else if (!cpu->ended) {
			c->next_end = MIN(c->next_end, cpu->end);
		}
	}
}

/* A record is back from the attribution: it belongs to `tid`. */
static void handle(void *payload, struct lqn_record *rec, int32_t tid)
{
	struct lqn_causal *c = payload;
	struct lqn_step step = { c, rec, lqn_host_cpu(&c->host, rec->cpu, rec->ts), NULL };

	c->at = rec->ts;
	c->now = MAX(c->now, rec->ts);
	if (G_UNLIKELY(!step.cpu->told)) {
		tell_cpu(c, step.cpu, rec->ts);
	}
	if (G_UNLIKELY(rec->ts > step.cpu->end)) {
		step.cpu->end = INT64_MAX;	/* it is back */
		step.cpu->ended = false;
	}
	if (G_UNLIKELY(rec->ts > c->next_end)) {
		end_cpus(c, rec->ts);
	}
	if (tid > 0) {
		step.thread = step.cpu->current && step.cpu->current->tid == tid ?
			step.cpu->current : lqn_host_thread(&c->host, tid);
	}
	if (tid >= 0 && (!step.cpu->known || step.cpu->current != step.thread)) {
		lqn_causal_resync(c, step.cpu, step.thread);
	}
	handlers[rec->type](&step);
	if (rec->type == LQN_REC_CALL_ENTRY && step.thread && step.thread->call.text) {
		lqn_step_mark(&step);
	}
	if (G_UNLIKELY(rec->text)) {
		g_free(rec->text);
	}
}

static void handle_other(struct lqn_causal *c, struct lqn_record *rec)
{
	struct lqn_step step = { c, rec, NULL, NULL };

	c->now = MAX(c->now, rec->ts);
	handlers[rec->type](&step);
	g_free(rec->text);
}

/* True for what needs no CPU's thread, and of which nothing follows from its order. */
static bool is_of_other_layer(const struct lqn_record *rec)
{
	return rec->type == LQN_REC_OTHER || lqn_record_is_span(rec->type);
}

/* Takes a record in its turn. */
static void take(void *payload, struct lqn_record *rec)
{
	struct lqn_causal *c = payload;

	c->latest = rec->ts;
	if (c->first == INT64_MIN && !lqn_record_is_span(rec->type)) {
		c->first = c->now = rec->ts;
		c->host.idle_since = rec->ts;
		lqn_causal_take_in_snapshot(c);
	}
	c->records++;
	c->have_waking |= rec->type == LQN_REC_WAKING;
	if (is_of_other_layer(rec)) {
		handle_other(c, rec);
		return;
	}
	lqn_attribution_push(c->attribution, rec);
}

struct lqn_causal *lqn_causal_new(const char *host, const char *release, lqn_event_func emit,
	void *payload)
{
	struct lqn_causal *c = g_new0(struct lqn_causal, 1);
	struct lqn_event ev = { .type = LQN_EV_HOST };

	c->emit = emit;
	c->payload = payload;
	c->release = g_strdup(release);
	c->first = INT64_MIN;
	c->next_end = INT64_MAX;
	lqn_reorder_init(&c->reorder, take, c);
	c->attribution = lqn_attribution_new(handle, c);
	lqn_host_state_init(&c->host);
	lqn_channels_init(&c->channels, emit_for_channels, c);
	c->file_tables = g_hash_table_new(g_direct_hash, g_direct_equal);
	c->marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	c->interrupts = g_hash_table_new(g_direct_hash, g_direct_equal);
	c->inside = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	ev.host.name = host;
	ev.host.release = release ? release : "";
	ev.host.schema = LQN_EVENT_SCHEMA;
	lqn_causal_emit(c, &ev);
	return c;
}

void lqn_causal_free(struct lqn_causal *c)
{
	if (!c) {
		return;
	}
	lqn_reorder_clear(&c->reorder);
	lqn_attribution_free(c->attribution);
	/* what is still open is dropped, not told */
	c->channels.emit = drop_event;
	lqn_host_state_clear(&c->host);
	lqn_channels_clear(&c->channels);
	g_hash_table_destroy(c->file_tables);
	g_hash_table_destroy(c->marks);
	g_hash_table_destroy(c->interrupts);
	g_clear_pointer(&c->foretold, g_hash_table_destroy);
	g_hash_table_destroy(c->inside);
	g_free(c->release);
	g_free(c);
}

static void lose(struct lqn_causal *c, int32_t cpu, int64_t begin, int64_t end, uint64_t count)
{
	struct lqn_event ev = { .type = LQN_EV_LOSS };

	lqn_attribution_flush(c->attribution);
	lqn_attribution_forget(c->attribution, cpu);
	/* other CPUs' events of that time are still to come */
	end = CLAMP(end, c->latest, LQN_TIME_MAX);
	begin = CLAMP(begin, 0, end);
	c->at = c->now = MAX(c->now, end);
	for (guint i = 0; i < c->host.cpus->len; i++) {
		struct lqn_cpu *it = c->host.cpus->pdata[i];

		if (it && (cpu < 0 || it->id == cpu)) {
			lose_cpu(c, it, begin);
		}
	}
	ev.loss.begin = begin;
	ev.loss.end = end;
	ev.loss.count = count;
	ev.loss.cpu = cpu;
	lqn_causal_emit(c, &ev);
}

/*
 * A record is earlier than one that has been worked on: what followed from its lack cannot be taken
 * back, so it is as good as lost.
 */
static void take_late(struct lqn_causal *c, struct lqn_record *rec)
{
	lqn_reorder_widen(&c->reorder, MAX(c->latest, c->reorder.newest) - rec->ts);
	if (is_of_other_layer(rec)) {
		rec->ts = c->latest;
		take(c, rec);
		return;
	}
	lose(c, rec->cpu, rec->ts, c->latest, 1);
	g_free(rec->text);
}

void lqn_causal_push(struct lqn_causal *c, struct lqn_record *rec)
{
	/* no trace should hold other times, but all that follows is differences of them */
	rec->ts = CLAMP(rec->ts, 0, LQN_TIME_MAX);
	if ((rec->cpu < 0 || rec->cpu >= LQN_CPU_MAX) && !is_of_other_layer(rec)) {
		g_free(rec->text);
		return;
	}
	if (G_LIKELY(rec->ts >= c->latest && c->reorder.window == 0)) {
		take(c, rec);
		return;
	}
	c->disorder += rec->ts < MAX(c->latest, c->reorder.newest);
	if (rec->ts < c->latest) {
		take_late(c, rec);
	} else {
		lqn_reorder_push(&c->reorder, rec);
	}
}

void lqn_causal_lost(struct lqn_causal *c, int32_t cpu, int64_t begin, int64_t end, uint64_t count)
{
	lqn_reorder_flush(&c->reorder);
	lose(c, cpu, begin, end, count);
}

void lqn_causal_cpu_ends(struct lqn_causal *c, int32_t cpu, int64_t ts)
{
	struct lqn_cpu *it = cpu >= 0 && (guint) cpu < c->host.cpus->len ?
		c->host.cpus->pdata[cpu] : NULL;

	/* of one whose first records still wait for their thread there is nothing to lose */
	if (it && ts >= 0) {
		it->end = ts;
		c->next_end = MIN(c->next_end, ts);
	}
}

static gint by_key(gconstpointer a, gconstpointer b)
{
	const struct lqn_thread *const *x = a, *const *y = b;

	return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

/*
 * Receives that wait for a peer get the best guess: first by the votes, then by order of connects
 * and accepts.
 */
static void give_up_held(struct lqn_causal *c)
{
	GHashTableIter it;
	gpointer value;
	GPtrArray *objects = g_ptr_array_new();

	g_hash_table_iter_init(&it, c->host.processes);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		struct lqn_process *process = value;

		for (int64_t fd = 0; process->fds && fd < lqn_fd_table_end(process->fds); fd++) {
			struct lqn_object *object = lqn_fd_table_get(process->fds, fd);

			if (object && object->held) {
				g_ptr_array_add(objects, object);
			}
		}
	}
	g_hash_table_iter_init(&it, c->channels.flows);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		if (((struct lqn_object *) value)->held) {
			g_ptr_array_add(objects, value);
		}
	}
	lqn_channels_give_up(objects);
	g_ptr_array_free(objects, TRUE);
}

void lqn_causal_finish(struct lqn_causal *c, int64_t ts)
{
	GPtrArray *threads = g_ptr_array_new();
	GHashTableIter it;
	gpointer value;
	struct lqn_event ev = { .type = LQN_EV_SUMMARY };

	lqn_reorder_flush(&c->reorder);
	lqn_attribution_flush(c->attribution);
	c->at = c->now = MAX(c->now, MIN(ts, LQN_TIME_MAX));
	end_cpus(c, c->now);
	give_up_held(c);
	g_hash_table_iter_init(&it, c->host.threads);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		g_ptr_array_add(threads, value);
	}
	/* hash tables have no order of their own; the output must */
	g_ptr_array_sort(threads, by_key);
	for (guint i = 0; i < threads->len; i++) {
		lqn_causal_end_thread(c, threads->pdata[i], c->now);
	}
	g_ptr_array_free(threads, TRUE);
	for (guint i = 0; i < c->host.cpus->len; i++) {
		if (c->host.cpus->pdata[i]) {
			tell_cpu(c, c->host.cpus->pdata[i], c->now);
		}
	}
	ev.summary.begin = c->first == INT64_MIN ? c->now : c->first;
	ev.summary.end = c->now;
	ev.summary.events = c->records;
	ev.summary.holes = c->holes;
	ev.summary.contradictions = c->channels.contradictions;
	ev.summary.given_up = c->channels.overruns;
	ev.summary.disorder = c->disorder;
	lqn_causal_emit(c, &ev);
}
