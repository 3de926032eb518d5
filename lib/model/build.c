/* SPDX-License-Identifier: MIT */
#include "build.h"

#include <string.h>

#include "request/sync.h"

void lqn_build_note(struct lqn_build *build, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(build->model->notes, g_strdup_vprintf(format, args));
	va_end(args);
}

/* Takes away what an earlier model has left behind. */
static void prepare(struct lqn_analysis *a)
{
	for (guint i = 0; i < a->invocations->len; i++) {
		struct lqn_invocation *it = a->invocations->pdata[i];

		it->end = MAX(it->end, it->begin);	/* whatever a trace says of its parts */
		it->clutter = false;
		it->path = NULL;
		it->cluster = NULL;
	}
	for (guint i = 0; i < a->hosts->len; i++) {
		const struct lqn_party *host = a->hosts->pdata[i];

		for (guint k = 0; k < host->by_age->len; k++) {
			struct lqn_actor *actor = host->by_age->pdata[k];

			actor->served = actor->serves_several = false;
			actor->served_until = 0;
		}
	}
}

/*
 * Whether the caller went on without waiting for the answer: its thread, which waits for whatever comes, had answered the
 * caller's own request when this came. What came is an acknowledgement.
 */
static bool went_on(const struct lqn_arc *arc)
{
	const struct lqn_invocation *caller = lqn_final(arc->caller);

	return arc->polled && caller->request && caller->replied > 0 && (arc->second_phase || caller->replied < arc->replied);
}

/* Two services, the one that calls and the one that is called. */
static guint64 *pair_of(const struct lqn_arc *arc, guint64 *pair)
{
	*pair = (guint64) g_quark_from_string(lqn_service_name(lqn_final(arc->caller)->actor)) << 32 |
		g_quark_from_string(lqn_service_name(lqn_final(arc->callee)->actor));
	return pair;
}

/*
 * Pairs of services whose calls are acknowledged rather than answered, by the majority: to which of its requests an event loop's
 * work belongs is not always seen. Values: acknowledged less answered.
 */
static GHashTable *acknowledged_pairs(const struct lqn_analysis *a)
{
	GHashTable *pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (guint i = 0; i < a->arcs->len; i++) {
		const struct lqn_arc *arc = a->arcs->pdata[i];
		guint64 pair;

		if (arc->callee && arc->replied != 0) {
			gint count = GPOINTER_TO_INT(g_hash_table_lookup(pairs, pair_of(arc, &pair)));

			g_hash_table_replace(pairs, g_memdup2(&pair, sizeof(pair)), GINT_TO_POINTER(count + (went_on(arc) ? 1 : -1)));
		}
	}
	return pairs;
}

/* A call that was not answered and not seen to be forwarded was asynchronous, and one that was but acknowledged. */
static void decide_kinds(struct lqn_analysis *a)
{
	g_autoptr(GHashTable) pairs = acknowledged_pairs(a);

	for (guint i = 0; i < a->arcs->len; i++) {
		struct lqn_arc *arc = a->arcs->pdata[i];
		guint64 pair;

		if (arc->kind != LQN_FORWARD) {
			arc->kind = arc->replied != 0 && !(arc->callee &&
				GPOINTER_TO_INT(g_hash_table_lookup(pairs, pair_of(arc, &pair))) > 0) ? LQN_SYNC : LQN_ASYNC;
		}
	}
}

static unsigned cpus_of(const struct lqn_party *host)
{
	return MAX(host->cpus->len, 1);
}

static void add_processors(struct lqn_build *build)
{
	build->host_processors = g_ptr_array_new();
	for (guint i = 0; i < build->a->hosts->len; i++) {
		struct lqn_party *host = build->a->hosts->pdata[i];
		g_autofree char *wanted = g_strdup_printf("cpu_%s", host->name);
		g_autoptr(GHashTable) tasks = build->names;
		struct lqn_processor *processor;

		/* processors have a name space of their own */
		build->names = g_hash_table_new(g_str_hash, g_str_equal);
		processor = lqn_model_add_processor(build->model, lqn_build_name(build, wanted), LQN_SCHED_PS,
			cpus_of(host));
		g_hash_table_destroy(build->names);
		build->names = g_steal_pointer(&tasks);
		g_ptr_array_add(build->host_processors, processor);
	}
}

static bool name_on_several_hosts(const struct lqn_build *build, const struct lqn_service *service)
{
	for (guint i = 0; i < build->services->len; i++) {
		const struct lqn_service *other = build->services->pdata[i];

		if (other->name == service->name && other->host != service->host) {
			return true;
		}
	}
	return false;
}

static gint by_pid(gconstpointer a, gconstpointer b)
{
	const struct lqn_unit *x = *(const struct lqn_unit *const *) a, *y = *(const struct lqn_unit *const *) b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Which processes a task stands for, and what is known of them. */
static void add_processes(const struct lqn_service *service)
{
	g_autoptr(GPtrArray) units = g_ptr_array_new();
	GHashTableIter iter;
	gpointer unit;

	g_hash_table_iter_init(&iter, service->units);
	while (g_hash_table_iter_next(&iter, &unit, NULL)) {
		g_ptr_array_add(units, unit);
	}
	g_ptr_array_sort(units, by_pid);
	for (guint i = 0; i < units->len; i++) {
		const struct lqn_unit *it = units->pdata[i];
		const struct lqn_snapshot_process *known = it->process;
		struct lqn_model_process *process = lqn_task_add_process(service->task, it->pid);

		process->comm = g_strdup(it->main ? it->main->comm : known ? known->comm : NULL);
		process->exe = g_strdup(known && known->exe ? known->exe : it->main ? it->main->exe : NULL);
		process->service = g_strdup(known ? known->service : NULL);
		process->container = g_strdup(known ? known->container : NULL);
		process->nspids = known ? g_array_ref(known->nspids) : NULL;
	}
}

static void add_task(struct lqn_build *build, struct lqn_service *service)
{
	g_autofree char *wanted = name_on_several_hosts(build, service) ?
		g_strdup_printf("%s_%s", service->name, service->host->name) : g_strdup(service->name);
	struct lqn_processor *processor = build->host_processors->pdata[service->host->number];

	if (service->root) {
		service->task = lqn_processor_add_task(processor, lqn_build_name(build, wanted), LQN_TASK_CLIENT,
			LQN_SCHED_REF, 1);
	} else if (service->outside) {
		service->task = lqn_processor_add_task(processor, lqn_build_name(build, wanted), LQN_TASK_DELAY, LQN_SCHED_INF, 1);
		lqn_build_note(build, "%s: not traced; its time, and the network's, is a delay", service->task->name);
	} else {
		service->multiplicity = lqn_service_multiplicity(build, service, &service->per_connection);
		service->task = lqn_processor_add_task(processor, lqn_build_name(build, wanted), LQN_TASK_SERVER,
			service->per_connection ? LQN_SCHED_INF : LQN_SCHED_FCFS,
			service->per_connection ? 1 : service->multiplicity);
	}
	service->task->service = g_strdup(service->name);
	add_processes(service);
}

/* How the hosts' clocks differ, and what would make other tools see one time. */
static void note_clocks(struct lqn_build *build)
{
	for (guint i = 1; i < build->a->hosts->len; i++) {
		const struct lqn_party *host = build->a->hosts->pdata[i], *via;
		struct lqn_clock_line line = lqn_sync_line(build->a->sync, host, &via);
		double offset = line.offset / 1e6, bound = line.bound / 1e6;

		switch (line.quality) {
		case LQN_CLOCK_NONE:
			lqn_build_note(build, "clocks: no packet tells how %s's differs from the others'; taken as it is", host->name);
			break;
		case LQN_CLOCK_ONE_WAY:
			lqn_build_note(build, "clocks: packets between %s and %s are seen one way only, so how the clocks differ is not "
				"known; taken to be %.6f ms", host->name, via->name, offset);
			break;
		case LQN_CLOCK_BOUNDED:
			lqn_build_note(build, "clocks: %s's is ahead of %s's by %.6f ms +- %.6f ms, drift %.3f ppm; corrected here, "
				"elsewhere by --clock-class-offset-ns=%.0f for %s's trace", host->name, via->name, offset, bound,
				line.drift * 1e6, -line.offset, host->name);
			break;
		case LQN_CLOCK_BROKEN:
			lqn_build_note(build, "clocks: %s's was set, or changed its speed, within the trace; %.6f ms ahead of %s's on "
				"the whole, paths between the two are not to be trusted", host->name, offset, via->name);
			break;
		}
	}
}

/* Files of the user that had no effect. */
static void note_unused(struct lqn_build *build)
{
	const struct lqn_analysis *a = build->a;
	g_autoptr(GPtrArray) rules = lqn_rules_unused(a->rules);

	for (guint i = 0; a->snapshots && i < a->snapshots->len; i++) {
		const struct lqn_snapshot *snapshot = a->snapshots->pdata[i];
		bool used = false;

		for (guint k = 0; k < a->hosts->len; k++) {
			used |= ((const struct lqn_party *) a->hosts->pdata[k])->snapshot == snapshot;
		}
		if (!used) {
			lqn_build_note(build, "identity: the snapshot is of host %s, which is none of the trace's", snapshot->host);
		}
	}
	if (rules->len > 0) {
		g_autofree char *names = NULL;

		g_ptr_array_add(rules, NULL);
		names = g_strjoinv(", ", (char **) rules->pdata);
		lqn_build_note(build, "rules: no process matches %s", names);
	}
}

/* What became of the spans that programs told of. */
static void note_spans(struct lqn_build *build)
{
	const struct lqn_span_counts counts = lqn_spans_count(build->a->spans);
	uint64_t apart = counts.told - counts.certain - counts.inferred;

	if (counts.told > 0) {
		lqn_build_note(build, "spans: of %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT " are joined with the work of their threads, %"
			G_GUINT64_FORMAT " with the work of their process or service that they agree with best (inferred), %"
			G_GUINT64_FORMAT " with none", counts.told, counts.certain, counts.inferred, apart);
	}
	if (counts.ahead_min <= counts.ahead_max && (counts.ahead_min > 0 || counts.ahead_max < 0)) {
		lqn_build_note(build, "spans: the kernel's clock is ahead of theirs by %.3f to %.3f ms; corrected",
			(double) counts.ahead_min / 1e6, (double) counts.ahead_max / 1e6);
	}
	if (counts.unfinished + counts.headless + counts.repeated > 0) {
		lqn_build_note(build, "spans: %" G_GUINT64_FORMAT " have no end, %" G_GUINT64_FORMAT " no begin, %" G_GUINT64_FORMAT
			" have the ids of another that was open", counts.unfinished, counts.headless, counts.repeated);
	}
	if (counts.unlinked > 0) {
		lqn_build_note(build, "spans: %" G_GUINT64_FORMAT " of their messages are left out: of spans that are not open, "
			"or too many at a time",
			counts.unlinked);
	}
}

/* What a CPU did after the end of its own stream nobody knows. */
static void note_early_ends(struct lqn_build *build, const struct lqn_party *host)
{
	for (guint i = 0; i < host->cpus->len; i++) {
		const struct lqn_cpu_use *use = &g_array_index(host->cpus, struct lqn_cpu_use, i);

		if (use->end < host->told_end) {
			lqn_build_note(build, "%s: nothing was recorded of CPU %d in the last %.3f s; who ran there is not known",
				host->name, use->cpu, (double) (host->told_end - use->end) / 1e9);
		}
	}
}

static void note_degradations(struct lqn_build *build)
{
	for (guint i = 0; i < build->a->hosts->len; i++) {
		const struct lqn_party *host = build->a->hosts->pdata[i];

		if (!host->has_calls) {
			lqn_build_note(build, "%s: the trace has no system calls; requests are guessed from who wakes whom, locks and "
				"disks are not seen", host->name);
		}
		if (host->losses > 0) {
			lqn_build_note(build, "%s: %" G_GUINT64_FORMAT " events were lost while recording; what spans a loss is "
				"not counted", host->name, host->losses);
		}
		if (host->disorder > 0) {
			lqn_build_note(build, "%s: %" G_GUINT64_FORMAT " events came out of order; they were put in order, but for "
				"those that came too late and count as lost", host->name, host->disorder);
		}
		note_early_ends(build, host);
		if (host->holes > 0) {
			lqn_build_note(build, "%s: switches missing in the trace: %" G_GUINT64_FORMAT
				"; who ran is known by who left the CPU", host->name, host->holes);
		}
		if (host->contradictions > 0) {
			lqn_build_note(build, "%s: %" G_GUINT64_FORMAT " pieces of evidence speak against a pairing of "
				"connections", host->name, host->contradictions);
		}
	}
	if (build->a->keep.unnamed > 0) {
		lqn_build_note(build, "names: %u of threads and spans are known; those that came after them are `others`",
			build->a->keep.names);
	}
	note_clocks(build);
	if (build->a->orphans > 0) {
		lqn_build_note(build, "%" G_GUINT64_FORMAT " answers came to requests that the trace does not show", build->a->orphans);
	}
	if (build->a->healed > 0) {
		lqn_build_note(build, "%" G_GUINT64_FORMAT " requests without their replies were given up", build->a->healed);
	}
}

bool lqn_model_build(struct lqn_build *build, GError **error)
{
	struct lqn_analysis *a = build->a;

	build->model = lqn_model_new(a->name);
	prepare(a);
	decide_kinds(a);
	lqn_build_brokers(build);
	lqn_build_regroup(build);
	note_degradations(build);	/* first: whoever reads the others should know */
	lqn_build_clutter(build);
	if (!lqn_build_window(build, error)) {
		return false;
	}
	build->names = g_hash_table_new(g_str_hash, g_str_equal);
	add_processors(build);
	lqn_build_services(build);
	for (guint i = 0; i < build->services->len; i++) {
		add_task(build, build->services->pdata[i]);
	}
	lqn_build_entries(build);
	lqn_build_locks(build);
	lqn_build_demands(build);
	lqn_build_disks(build);
	lqn_build_sections(build);
	lqn_build_connections(build);
	lqn_build_loops(build);
	lqn_build_clients(build);
	lqn_build_flows(build);
	lqn_build_break_cycles(build);
	lqn_model_find_answers(build->model);
	lqn_build_background(build);
	lqn_build_blocked(build);
	note_unused(build);
	note_spans(build);
	build->model->checks = lqn_checks_new(build->model);
	lqn_build_doubts(build);
	return true;
}

void lqn_build_clear(struct lqn_build *build)
{
	lqn_model_free(build->model);
	g_clear_pointer(&build->windows, g_array_unref);
	lqn_build_ungroup(build);
	lqn_build_unmove(build);
	g_clear_pointer(&build->moved, g_array_unref);
	g_clear_pointer(&build->deliveries, g_array_unref);
	g_clear_pointer(&build->by_path, g_hash_table_destroy);
	g_clear_pointer(&build->steps, g_hash_table_destroy);
	g_clear_pointer(&build->services, g_ptr_array_unref);
	g_clear_pointer(&build->host_processors, g_ptr_array_unref);
	g_clear_pointer(&build->names, g_hash_table_destroy);
}
