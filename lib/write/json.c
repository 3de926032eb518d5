/* SPDX-License-Identifier: MIT */

/*
 * The model as JSON, by json-c; described by doc/model.schema.json. Attribute names are lqnx's;
 * what was measured stands apart from what a solver reads. What is not known is left out.
 */
#include "write/write.h"

#include <json-c/json.h>

#include "write/terms.h"
#include "write/text.h"

static void must(int rc)
{
	if (rc != 0) {
		g_error("cannot write JSON: out of memory");
	}
}

static void put(struct json_object *object, const char *key, struct json_object *value)
{
	must(value ? 0 : -1);
	must(json_object_object_add(object, key, value));
}

static void append(struct json_object *array, struct json_object *value)
{
	must(value ? 0 : -1);
	must(json_object_array_add(array, value));
}

static struct json_object *new_text(const char *text)
{
	g_autofree char *clean = lqn_text_clean(text);

	return json_object_new_string(clean);
}

static void put_text(struct json_object *object, const char *key, const char *text)
{
	if (text) {
		put(object, key, new_text(text));
	}
}

static void put_count(struct json_object *object, const char *key, uint64_t count)
{
	put(object, key, json_object_new_uint64(count));
}

static void put_number(struct json_object *object, const char *key, double value)
{
	char buf[LQN_TEXT_NUMBER_SIZE];

	/* json-c keeps the text, so the digits are the same as in the other forms */
	put(object, key, json_object_new_double_s(value, lqn_text_number(buf, value)));
}

static void put_known(struct json_object *object, const char *key, double value)
{
	if (value >= 0) {
		put_number(object, key, value);
	}
}

static void put_multiplicity(struct json_object *object, enum lqn_sched sched, unsigned count)
{
	if (sched != LQN_SCHED_INF) {
		put_count(object, "multiplicity", MAX(count, 1));
	}
}

static struct json_object *new_texts(const GPtrArray *texts)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < texts->len; i++) {
		append(array, new_text(g_ptr_array_index(texts, i)));
	}
	return array;
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
		put_text(object, "dest", call->dest->name);
		put_number(object, mean_name, call->mean[phase]);
		put_known(object, "cvsq", call->cvsq[phase]);
		put_known(object, "conf-95", call->ci[phase]);
		append(array, object);
	}
	return array;
}

static struct json_object *new_phase(const struct lqn_entry *entry, unsigned phase,
	const GArray *calls)
{
	const struct lqn_phase *p = &entry->phase[phase];
	struct json_object *object = json_object_new_object();

	put_count(object, "phase", phase + 1);
	put_number(object, "host-demand-mean", p->demand);
	put_known(object, "host-demand-cvsq", p->demand_cvsq);
	put_known(object, "host-demand-conf-95", p->demand_ci);
	put_number(object, "think-time", p->think);
	put(object, lqn_call_element(LQN_SYNC), new_calls(calls, LQN_SYNC, phase, "calls-mean"));
	put(object, lqn_call_element(LQN_ASYNC), new_calls(calls, LQN_ASYNC, phase, "calls-mean"));
	return object;
}

static struct json_object *new_entry(const struct lqn_entry *entry)
{
	GArray *calls = lqn_entry_merge_calls(entry);
	struct json_object *object = json_object_new_object(), *phases = json_object_new_array();
	struct json_object *measured = json_object_new_object();

	put_text(object, "name", entry->name);
	put_text(object, "label", entry->label);
	put_count(measured, "invocations", entry->invocations);
	put_number(measured, "throughput", entry->throughput);
	put_known(measured, "service-time", entry->service);
	put_known(measured, "service-time-conf-95", entry->service_ci);
	put_known(measured, "host-demand-conf-95", entry->phase[0].demand_ci);
	put(object, "measured", measured);
	put(object, lqn_call_element(LQN_FORWARD), new_calls(calls, LQN_FORWARD, 0, "prob"));
	for (unsigned phase = 0; phase < lqn_entry_phases(entry); phase++) {
		append(phases, new_phase(entry, phase, calls));
	}
	put(object, "phases", phases);
	g_array_unref(calls);
	return object;
}

static struct json_object *new_processes(const struct lqn_task *task)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < task->processes->len; i++) {
		const struct lqn_model_process *process = g_ptr_array_index(task->processes, i);
		struct json_object *object = json_object_new_object();

		put_count(object, "pid", process->pid);
		put_text(object, "comm", process->comm);
		put_text(object, "exe", process->exe && *process->exe ? process->exe : NULL);
		put_text(object, "service", process->service);
		put_text(object, "container", process->container);
		/* the first is `pid` itself */
		if (process->nspids && process->nspids->len > 1) {
			struct json_object *ids = json_object_new_array();

			for (unsigned k = 0; k < process->nspids->len; k++) {
				append(ids, json_object_new_uint64(g_array_index(process->nspids, uint32_t, k)));
			}
			put(object, "nspid", ids);
		}
		append(array, object);
	}
	return array;
}

static struct json_object *new_task(const struct lqn_task *task)
{
	struct json_object *object = json_object_new_object(), *entries = json_object_new_array();
	struct json_object *measured = json_object_new_object();

	put_text(object, "name", task->name);
	put_text(object, "kind", lqn_task_kind_name(task->kind));
	put_text(object, "service", task->service);
	if (task->processes->len > 0) {
		put(object, "processes", new_processes(task));
	}
	put_text(object, "scheduling", lqn_sched_terms(task->sched)->xml_task);
	put_multiplicity(object, task->sched, task->multiplicity);
	if (task->sched == LQN_SCHED_REF) {
		put_number(object, "think-time", task->think);
	}
	put_number(measured, "throughput", task->throughput);
	put_number(measured, "proc-utilization", task->utilization);
	put_known(measured, "utilization", lqn_task_busy(task));
	put_known(measured, "response-time", task->response);
	put_known(measured, "think-time", task->think_measured);
	put(object, "measured", measured);
	for (unsigned i = 0; i < task->entries->len; i++) {
		append(entries, new_entry(g_ptr_array_index(task->entries, i)));
	}
	put(object, "entries", entries);
	return object;
}

static struct json_object *new_processor(const struct lqn_processor *proc)
{
	struct json_object *object = json_object_new_object(), *tasks = json_object_new_array();
	struct json_object *measured = json_object_new_object();

	put_text(object, "name", proc->name);
	put_text(object, "scheduling", lqn_sched_terms(proc->sched)->xml_processor);
	put_multiplicity(object, proc->sched, proc->multiplicity);
	put_known(measured, "utilization", proc->utilization);
	put_known(measured, "interrupts", proc->interrupts);
	put(object, "measured", measured);
	for (unsigned i = 0; i < proc->tasks->len; i++) {
		append(tasks, new_task(g_ptr_array_index(proc->tasks, i)));
	}
	put(object, "tasks", tasks);
	return object;
}

static struct json_object *new_window(const struct lqn_model *model)
{
	struct json_object *object = json_object_new_object();

	put(object, "begin-ns", json_object_new_int64(model->window_begin));
	put(object, "end-ns", json_object_new_int64(model->window_end));
	put_text(object, "reason", model->window_reason);
	return object;
}

static struct json_object *new_blocked(const struct lqn_model *model)
{
	struct json_object *object = json_object_new_object(), *causes = json_object_new_array();
	struct json_object *queues = json_object_new_array();

	put_number(object, "seconds", model->blocked_seconds);
	put_number(object, "unexplained-seconds", model->unexplained_seconds);
	put_number(object, "hidden-seconds", model->hidden_seconds);
	put_number(object, "unexplained-share", model->blocked_seconds > 0 ?
		MIN(model->unexplained_seconds / model->blocked_seconds, 1) : 0);
	for (unsigned i = 0; i < model->blocked->len; i++) {
		const struct lqn_blocked *blocked = g_ptr_array_index(model->blocked, i);
		struct json_object *cause = json_object_new_object();

		put_text(cause, "cause", blocked->cause);
		put_number(cause, "seconds", blocked->seconds);
		put_count(cause, "waits", blocked->waits);
		append(causes, cause);
	}
	put(object, "causes", causes);
	for (unsigned i = 0; i < model->hidden->len; i++) {
		const struct lqn_blocked *hidden = g_ptr_array_index(model->hidden, i);
		struct json_object *queue = json_object_new_object();

		put_text(queue, "woken-by", hidden->cause);
		put_number(queue, "seconds", hidden->seconds);
		put_count(queue, "waits", hidden->waits);
		append(queues, queue);
	}
	put(object, "hidden", queues);
	return object;
}

static void put_law(struct json_object *object, const char *key, const struct lqn_law *law)
{
	struct json_object *it;

	if (law->deviation < 0) {
		return;
	}
	it = json_object_new_object();
	put_text(it, "of", law->where);
	put_number(it, "expected", law->expected);
	put_number(it, "measured", law->measured);
	put_number(it, "deviation", law->deviation);
	put(object, key, it);
}

static struct json_object *new_bounds(const struct lqn_checks *checks)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < checks->bounds->len; i++) {
		const struct lqn_class_bounds *bounds = &g_array_index(checks->bounds, struct lqn_class_bounds, i);
		struct json_object *it = json_object_new_object();

		put_text(it, "task", bounds->task->name);
		put_number(it, "throughput-max", bounds->throughput);
		put_number(it, "response-time-min", bounds->response);
		append(array, it);
	}
	return array;
}

static struct json_object *new_resources(const struct lqn_checks *checks)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < checks->resources->len; i++) {
		const struct lqn_resource *resource = &g_array_index(checks->resources, struct lqn_resource, i);
		struct json_object *it = json_object_new_object();

		put_text(it, "name", resource->name);
		put_text(it, "kind", resource->kind);
		put_count(it, "servers", resource->servers);
		put_number(it, "busy", resource->busy);
		put_number(it, "background", resource->other);
		put_number(it, "growth", resource->growth);
		append(array, it);
	}
	return array;
}

static struct json_object *new_solver(const struct lqn_checks *checks)
{
	struct json_object *object = json_object_new_object(), *values = json_object_new_array();

	put_text(object, "failure", checks->failure);
	for (unsigned i = 0; checks->prediction && i < checks->prediction->values->len; i++) {
		const struct lqn_predicted_value *value =
			&g_array_index(checks->prediction->values, struct lqn_predicted_value, i);
		struct json_object *it = json_object_new_object();

		put_text(it, "name", value->name);
		put_text(it, "what", lqn_predicted_name(value->what));
		put_number(it, "measured", value->measured);
		put_number(it, "predicted", value->predicted);
		append(values, it);
	}
	if (checks->prediction) {
		put(object, "converged", json_object_new_boolean(checks->prediction->converged));
	}
	put(object, "values", values);
	return object;
}

static struct json_object *new_checks(const struct lqn_checks *checks)
{
	struct json_object *object = json_object_new_object();

	put_law(object, "little", &checks->little);
	put_law(object, "forced-flow", &checks->flow);
	put_law(object, "utilization", &checks->utilization);
	put(object, "bounds", new_bounds(checks));
	put(object, "resources", new_resources(checks));
	if (checks->clients_at_saturation >= 0) {
		put_number(object, "clients", checks->clients);
		put_number(object, "clients-at-saturation", checks->clients_at_saturation);
	}
	if (checks->solver) {
		put(object, "solver", new_solver(checks));
	}
	return object;
}

GString *lqn_write_json(const struct lqn_model *model)
{
	struct json_object *object = json_object_new_object();
	struct json_object *processors = json_object_new_array();
	const char *text;
	GString *out;

	put_text(object, "schema", "lqn-model/1");
	put_text(object, "name", model->name);
	put_text(object, "partial", model->partial);
	put(object, "window", new_window(model));
	for (unsigned i = 0; i < model->processors->len; i++) {
		append(processors, new_processor(g_ptr_array_index(model->processors, i)));
	}
	put(object, "processors", processors);
	put(object, "blocked", new_blocked(model));
	if (model->checks) {
		put(object, "checks", new_checks(model->checks));
	}
	put(object, "background", new_texts(model->background));
	put(object, "notes", new_texts(model->notes));
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
		JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
	must(text ? 0 : -1);
	out = g_string_new(text);
	g_string_append_c(out, '\n');
	json_object_put(object);
	return out;
}
