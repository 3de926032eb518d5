/* SPDX-License-Identifier: MIT */

/*
 * The model as JSON, by json-c; described by doc/model.schema.json. Attribute names are lqnx's;
 * what was measured stands apart from what a solver reads. What is not known is left out.
 */
#include "write/write.h"

#include "write/json-build.h"
#include "write/terms.h"
#include "write/text.h"

static void put_known(struct json_object *object, const char *key, double value)
{
	if (value >= 0) {
		lqn_json_put_number(object, key, value);
	}
}

static void put_multiplicity(struct json_object *object, enum lqn_sched sched, unsigned count)
{
	if (sched != LQN_SCHED_INF) {
		lqn_json_put_count(object, "multiplicity", MAX(count, 1));
	}
}

static struct json_object *new_texts(const GPtrArray *texts)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < texts->len; i++) {
		lqn_json_append(array, lqn_json_new_text(g_ptr_array_index(texts, i)));
	}
	return array;
}

/* NULL, or all 0: not known. */
static void put_shares(struct json_object *object, const double *share)
{
	unsigned last = LQN_COUNTS;
	struct json_object *array;

	while (share && last > 0 && share[last - 1] <= 0) {
		last--;
	}
	if (!share || last == 0) {
		return;
	}
	array = json_object_new_array();
	for (unsigned k = 0; k < last; k++) {
		lqn_json_append(array, lqn_json_new_number(share[k]));
	}
	lqn_json_put(object, "shares", array);
}

/* Calls of one kind; `mean_name` as in lqnx. */
static struct json_object *new_calls(const GArray *calls, enum lqn_call_kind kind, unsigned phase,
	const char *mean_name)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call =
			&g_array_index(calls, struct lqn_merged_call, i);
		struct json_object *object;

		if (call->kind != kind || call->mean[phase] <= 0) {
			continue;
		}
		object = json_object_new_object();
		lqn_json_put_text(object, "dest", call->dest->name);
		lqn_json_put_number(object, mean_name, call->mean[phase]);
		put_known(object, "cvsq", call->cvsq[phase]);
		put_known(object, "conf-95", call->ci[phase]);
		put_shares(object, kind != LQN_FORWARD && phase == 0 ? call->share : NULL);
		lqn_json_append(array, object);
	}
	return array;
}

static struct json_object *new_phase(const struct lqn_entry *entry, unsigned phase,
	const GArray *calls)
{
	const struct lqn_phase *p = &entry->phase[phase];
	struct json_object *object = json_object_new_object();

	lqn_json_put_count(object, "phase", phase + 1);
	lqn_json_put_number(object, "host-demand-mean", p->demand);
	put_known(object, "host-demand-cvsq", p->demand_cvsq);
	put_known(object, "host-demand-conf-95", p->demand_ci);
	lqn_json_put_number(object, "think-time", p->think);
	lqn_json_put(object, lqn_call_element(LQN_SYNC), new_calls(calls, LQN_SYNC, phase, "calls-mean"));
	lqn_json_put(object, lqn_call_element(LQN_ASYNC), new_calls(calls, LQN_ASYNC, phase, "calls-mean"));
	return object;
}

static struct json_object *new_entry(const struct lqn_entry *entry)
{
	GArray *calls = lqn_entry_merge_calls(entry);
	struct json_object *object = json_object_new_object(), *phases = json_object_new_array();
	struct json_object *measured = json_object_new_object();

	lqn_json_put_text(object, "name", entry->name);
	lqn_json_put_text(object, "label", entry->label);
	lqn_json_put_count(measured, "invocations", entry->invocations);
	lqn_json_put_number(measured, "throughput", entry->throughput);
	put_known(measured, "service-time", entry->service);
	put_known(measured, "service-time-conf-95", entry->service_ci);
	put_known(measured, "host-demand-conf-95", entry->phase[0].demand_ci);
	lqn_json_put(object, "measured", measured);
	lqn_json_put(object, lqn_call_element(LQN_FORWARD), new_calls(calls, LQN_FORWARD, 0, "prob"));
	for (unsigned phase = 0; phase < lqn_entry_phases(entry); phase++) {
		lqn_json_append(phases, new_phase(entry, phase, calls));
	}
	lqn_json_put(object, "phases", phases);
	g_array_unref(calls);
	return object;
}

static struct json_object *new_processes(const struct lqn_task *task)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < task->processes->len; i++) {
		const struct lqn_model_process *process = g_ptr_array_index(task->processes, i);
		struct json_object *object = json_object_new_object();

		lqn_json_put_count(object, "pid", process->pid);
		lqn_json_put_text(object, "comm", process->comm);
		lqn_json_put_text(object, "exe", process->exe && *process->exe ? process->exe : NULL);
		lqn_json_put_text(object, "service", process->service);
		lqn_json_put_text(object, "container", process->container);
		/* the first is `pid` itself */
		if (process->nspids && process->nspids->len > 1) {
			struct json_object *ids = json_object_new_array();

			for (unsigned k = 0; k < process->nspids->len; k++) {
				lqn_json_append(ids, json_object_new_uint64(g_array_index(process->nspids, uint32_t, k)));
			}
			lqn_json_put(object, "nspid", ids);
		}
		lqn_json_append(array, object);
	}
	return array;
}

static struct json_object *new_task(const struct lqn_task *task)
{
	struct json_object *object = json_object_new_object(), *entries = json_object_new_array();
	struct json_object *measured = json_object_new_object();

	lqn_json_put_text(object, "name", task->name);
	lqn_json_put_text(object, "kind", lqn_task_kind_name(task->kind));
	lqn_json_put_text(object, "service", task->service);
	if (task->processes->len > 0) {
		lqn_json_put(object, "processes", new_processes(task));
	}
	lqn_json_put_text(object, "scheduling", lqn_sched_terms(task->sched)->xml_task);
	put_multiplicity(object, task->sched, task->multiplicity);
	if (task->sched == LQN_SCHED_REF) {
		lqn_json_put_number(object, "think-time", task->think);
	}
	lqn_json_put_number(measured, "throughput", task->throughput);
	lqn_json_put_number(measured, "proc-utilization", task->utilization);
	put_known(measured, "utilization", lqn_task_busy(task));
	put_known(measured, "response-time", task->response);
	put_known(measured, "think-time", task->think_measured);
	lqn_json_put(object, "measured", measured);
	for (unsigned i = 0; i < task->entries->len; i++) {
		lqn_json_append(entries, new_entry(g_ptr_array_index(task->entries, i)));
	}
	lqn_json_put(object, "entries", entries);
	return object;
}

static struct json_object *new_processor(const struct lqn_processor *proc)
{
	struct json_object *object = json_object_new_object(), *tasks = json_object_new_array();
	struct json_object *measured = json_object_new_object();

	lqn_json_put_text(object, "name", proc->name);
	lqn_json_put_text(object, "scheduling", lqn_sched_terms(proc->sched)->xml_processor);
	put_multiplicity(object, proc->sched, proc->multiplicity);
	put_known(measured, "utilization", proc->utilization);
	put_known(measured, "interrupts", proc->interrupts);
	lqn_json_put(object, "measured", measured);
	for (unsigned i = 0; i < proc->tasks->len; i++) {
		lqn_json_append(tasks, new_task(g_ptr_array_index(proc->tasks, i)));
	}
	lqn_json_put(object, "tasks", tasks);
	return object;
}

static struct json_object *new_window(const struct lqn_model *model)
{
	struct json_object *object = json_object_new_object();

	lqn_json_put_window(object, model->window_begin, model->window_end);
	if (model->windows->len > 0) {
		struct json_object *parts = json_object_new_array();

		for (guint i = 0; i < model->windows->len; i++) {
			const struct lqn_window *window = &g_array_index(model->windows, struct lqn_window, i);
			struct json_object *part = json_object_new_object();

			lqn_json_put_window(part, window->begin, window->end);
			lqn_json_append(parts, part);
		}
		lqn_json_put(object, "parts", parts);
	}
	lqn_json_put_text(object, "reason", model->window_reason);
	return object;
}

/* struct lqn_blocked; `key`: what its name tells. */
static struct json_object *new_waits(const GPtrArray *list, const char *key)
{
	struct json_object *waits = json_object_new_array();

	for (unsigned i = 0; i < list->len; i++) {
		const struct lqn_blocked *blocked = g_ptr_array_index(list, i);
		struct json_object *object = json_object_new_object();

		lqn_json_put_text(object, key, blocked->cause);
		lqn_json_put_number(object, "seconds", blocked->seconds);
		lqn_json_put_count(object, "waits", blocked->waits);
		lqn_json_append(waits, object);
	}
	return waits;
}

static struct json_object *new_blocked(const struct lqn_model *model)
{
	struct json_object *object = json_object_new_object();

	lqn_json_put_number(object, "seconds", model->blocked_seconds);
	lqn_json_put_number(object, "unexplained-seconds", model->unexplained_seconds);
	lqn_json_put_number(object, "hidden-seconds", model->hidden_seconds);
	lqn_json_put_number(object, "unexplained-share", model->blocked_seconds > 0 ?
		MIN(model->unexplained_seconds / model->blocked_seconds, 1) : 0);
	lqn_json_put(object, "causes", new_waits(model->blocked, "cause"));
	lqn_json_put(object, "hidden", new_waits(model->hidden, "woken-by"));
	return object;
}

static void put_law(struct json_object *object, const char *key, const struct lqn_law *law)
{
	struct json_object *it;

	if (law->deviation < 0) {
		return;
	}
	it = json_object_new_object();
	lqn_json_put_text(it, "of", law->where);
	lqn_json_put_number(it, "expected", law->expected);
	lqn_json_put_number(it, "measured", law->measured);
	lqn_json_put_number(it, "deviation", law->deviation);
	lqn_json_put(object, key, it);
}

static struct json_object *new_bounds(const struct lqn_checks *checks)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < checks->bounds->len; i++) {
		const struct lqn_class_bounds *bounds = &g_array_index(checks->bounds, struct lqn_class_bounds, i);
		struct json_object *it = json_object_new_object();

		lqn_json_put_text(it, "task", bounds->task->name);
		lqn_json_put_number(it, "throughput-max", bounds->throughput);
		lqn_json_put_number(it, "response-time-min", bounds->response);
		lqn_json_append(array, it);
	}
	return array;
}

static struct json_object *new_resources(const struct lqn_checks *checks)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < checks->resources->len; i++) {
		const struct lqn_resource *resource = &g_array_index(checks->resources, struct lqn_resource, i);
		struct json_object *it = json_object_new_object();

		lqn_json_put_text(it, "name", resource->name);
		lqn_json_put_text(it, "kind", resource->kind);
		lqn_json_put_count(it, "servers", resource->servers);
		lqn_json_put_number(it, "busy", resource->busy);
		lqn_json_put_number(it, "background", resource->other);
		lqn_json_put_number(it, "growth", resource->growth);
		lqn_json_append(array, it);
	}
	return array;
}

static struct json_object *new_solver(const struct lqn_checks *checks)
{
	struct json_object *object = json_object_new_object(), *values = json_object_new_array();

	lqn_json_put_text(object, "failure", checks->failure);
	for (unsigned i = 0; checks->prediction && i < checks->prediction->values->len; i++) {
		const struct lqn_predicted_value *value =
			&g_array_index(checks->prediction->values, struct lqn_predicted_value, i);
		struct json_object *it = json_object_new_object();

		lqn_json_put_text(it, "name", value->name);
		lqn_json_put_text(it, "what", lqn_predicted_name(value->what));
		lqn_json_put_number(it, "measured", value->measured);
		lqn_json_put_number(it, "predicted", value->predicted);
		lqn_json_append(values, it);
	}
	if (checks->prediction) {
		lqn_json_put(object, "converged", json_object_new_boolean(checks->prediction->converged));
	}
	lqn_json_put(object, "values", values);
	return object;
}

static struct json_object *new_checks(const struct lqn_checks *checks)
{
	struct json_object *object = json_object_new_object();

	put_law(object, "little", &checks->little);
	put_law(object, "forced-flow", &checks->flow);
	put_law(object, "utilization", &checks->utilization);
	lqn_json_put(object, "bounds", new_bounds(checks));
	lqn_json_put(object, "resources", new_resources(checks));
	if (checks->clients_at_saturation >= 0) {
		lqn_json_put_number(object, "clients", checks->clients);
		lqn_json_put_number(object, "clients-at-saturation", checks->clients_at_saturation);
	}
	if (checks->solver) {
		lqn_json_put(object, "solver", new_solver(checks));
	}
	return object;
}

static struct json_object *new_messages(const struct lqn_model *model)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < model->messages->len; i++) {
		lqn_json_append(array, lqn_json_new_flow(&g_array_index(model->messages, struct lqn_message_flow, i)));
	}
	return array;
}

GString *lqn_write_json(const struct lqn_model *model)
{
	struct json_object *object = json_object_new_object();
	struct json_object *processors = json_object_new_array();

	lqn_json_put_text(object, "schema", "lqn-model/1");
	lqn_json_put_text(object, "name", model->name);
	lqn_json_put_text(object, "partial", model->partial);
	lqn_json_put(object, "window", new_window(model));
	for (unsigned i = 0; i < model->processors->len; i++) {
		lqn_json_append(processors, new_processor(g_ptr_array_index(model->processors, i)));
	}
	lqn_json_put(object, "processors", processors);
	lqn_json_put(object, "blocked", new_blocked(model));
	if (model->messages->len > 0) {
		lqn_json_put(object, "messages", new_messages(model));
	}
	if (model->checks) {
		lqn_json_put(object, "checks", new_checks(model->checks));
	}
	lqn_json_put(object, "background", new_texts(model->background));
	lqn_json_put(object, "notes", new_texts(model->notes));
	return lqn_json_print(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		JSON_C_TO_STRING_NOSLASHESCAPE);
}
