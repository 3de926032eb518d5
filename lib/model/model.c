/* SPDX-License-Identifier: MIT */
/* The model's life: what is owned by whom is said in model.h and kept here. */
#include "model/model.h"

#include <string.h>

static void phase_init(struct lqn_phase *phase)
{
	phase->demand_cvsq = phase->demand_ci = -1;
	phase->calls = g_array_new(FALSE, FALSE, sizeof(struct lqn_model_call));
}

static void entry_free(void *data)
{
	struct lqn_entry *entry = data;

	for (unsigned i = 0; i < G_N_ELEMENTS(entry->phase); i++) {
		g_array_unref(entry->phase[i].calls);
	}
	g_free(entry->name);
	g_free(entry->label);
	g_free(entry);
}

static void process_free(void *data)
{
	struct lqn_model_process *process = data;

	g_free(process->comm);
	g_free(process->exe);
	g_free(process->service);
	g_free(process->container);
	g_clear_pointer(&process->nspids, g_array_unref);
	g_free(process);
}

static void task_free(void *data)
{
	struct lqn_task *task = data;

	g_ptr_array_unref(task->entries);
	g_ptr_array_unref(task->processes);
	g_free(task->name);
	g_free(task->service);
	g_free(task);
}

static void processor_free(void *data)
{
	struct lqn_processor *proc = data;

	g_ptr_array_unref(proc->tasks);
	g_free(proc->name);
	g_free(proc);
}

static void blocked_free(void *data)
{
	struct lqn_blocked *blocked = data;

	g_free(blocked->cause);
	g_free(blocked);
}

struct lqn_model *lqn_model_new(const char *name)
{
	struct lqn_model *model = g_new0(struct lqn_model, 1);

	model->name = g_strdup(name);
	model->processors = g_ptr_array_new_with_free_func(processor_free);
	model->blocked = g_ptr_array_new_with_free_func(blocked_free);
	model->hidden = g_ptr_array_new_with_free_func(blocked_free);
	model->windows = g_array_new(FALSE, FALSE, sizeof(struct lqn_window));
	model->messages = g_array_new(FALSE, FALSE, sizeof(struct lqn_message_flow));
	model->notes = g_ptr_array_new_with_free_func(g_free);
	model->background = g_ptr_array_new_with_free_func(g_free);
	return model;
}

void lqn_model_free(struct lqn_model *model)
{
	if (!model) {
		return;
	}
	g_ptr_array_unref(model->processors);
	g_ptr_array_unref(model->blocked);
	g_ptr_array_unref(model->hidden);
	g_array_unref(model->windows);
	g_array_unref(model->messages);
	g_ptr_array_unref(model->notes);
	g_ptr_array_unref(model->background);
	lqn_checks_free(model->checks);
	g_free(model->name);
	g_free(model->partial);
	g_free(model->window_reason);
	g_free(model);
}

const char *lqn_joining_name(enum lqn_joining how)
{
	static const char *const names[] = {
		[LQN_JOINED_SPANS] = "spans", [LQN_JOINED_CONTEXT] = "context", [LQN_JOINED_ORDER] = "order",
	};

	return names[how];
}

uint64_t lqn_message_flow_count(const struct lqn_message_flow *flow)
{
	uint64_t count = 0;

	for (unsigned how = 0; how < LQN_JOININGS; how++) {
		count += flow->joined[how];
	}
	return count;
}

struct lqn_processor *lqn_model_add_processor(struct lqn_model *model, const char *name,
	enum lqn_sched sched, unsigned multiplicity)
{
	struct lqn_processor *proc = g_new0(struct lqn_processor, 1);

	proc->name = g_strdup(name);
	proc->sched = sched;
	proc->multiplicity = multiplicity;
	proc->tasks = g_ptr_array_new_with_free_func(task_free);
	proc->utilization = -1;
	proc->interrupts = -1;
	g_ptr_array_add(model->processors, proc);
	return proc;
}

struct lqn_task *lqn_processor_add_task(struct lqn_processor *proc, const char *name,
	enum lqn_task_kind kind, enum lqn_sched sched, unsigned multiplicity)
{
	struct lqn_task *task = g_new0(struct lqn_task, 1);

	task->name = g_strdup(name);
	task->kind = kind;
	task->sched = sched;
	task->multiplicity = multiplicity;
	task->processor = proc;
	task->entries = g_ptr_array_new_with_free_func(entry_free);
	task->processes = g_ptr_array_new_with_free_func(process_free);
	task->response = -1;
	task->think_measured = -1;
	g_ptr_array_add(proc->tasks, task);
	return task;
}

struct lqn_model_process *lqn_task_add_process(struct lqn_task *task, uint32_t pid)
{
	struct lqn_model_process *process = g_new0(struct lqn_model_process, 1);

	process->pid = pid;
	g_ptr_array_add(task->processes, process);
	return process;
}

struct lqn_entry *lqn_task_add_entry(struct lqn_task *task, const char *name)
{
	struct lqn_entry *entry = g_new0(struct lqn_entry, 1);

	entry->name = g_strdup(name);
	entry->task = task;
	for (unsigned i = 0; i < G_N_ELEMENTS(entry->phase); i++) {
		phase_init(&entry->phase[i]);
	}
	entry->service = -1;
	entry->service_ci = -1;
	g_ptr_array_add(task->entries, entry);
	return entry;
}

void lqn_call_set_mean(struct lqn_model_call *call, double mean)
{
	call->mean = mean;
	call->cvsq = call->ci = -1;
	memset(call->share, 0, sizeof(call->share));
}

void lqn_call_set_counts(struct lqn_model_call *call, const guint counts[LQN_COUNTS + 1], guint n)
{
	guint none = n;

	memset(call->share, 0, sizeof(call->share));
	if (counts[LQN_COUNTS] > 0) {
		return;
	}
	for (guint k = 1; k < LQN_COUNTS; k++) {
		call->share[k] = (double) counts[k] / n;
		none -= counts[k];
	}
	call->share[0] = (double) none / n;
}

struct lqn_model_call *lqn_entry_add_call(struct lqn_entry *entry, unsigned phase, struct lqn_entry *dest,
	enum lqn_call_kind kind, double mean)
{
	struct lqn_model_call call = { .dest = dest, .kind = kind, .mean = mean, .cvsq = -1, .ci = -1 };
	GArray *calls;

	g_assert(phase < G_N_ELEMENTS(entry->phase));
	calls = entry->phase[phase].calls;
	for (unsigned i = 0; i < calls->len; i++) {
		struct lqn_model_call *old = &g_array_index(calls, struct lqn_model_call, i);

		if (old->dest == dest && old->kind == kind) {
			lqn_call_set_mean(old, old->mean + mean);
			return old;
		}
	}
	g_array_append_val(calls, call);
	return &g_array_index(calls, struct lqn_model_call, calls->len - 1);
}

void lqn_entry_add_fixed_call(struct lqn_entry *entry, unsigned phase, struct lqn_entry *dest, unsigned count)
{
	guint before = entry->phase[phase].calls->len;
	struct lqn_model_call *call = lqn_entry_add_call(entry, phase, dest, LQN_SYNC, count);

	g_assert(count < LQN_COUNTS);
	if (entry->phase[phase].calls->len > before) {
		call->cvsq = 0;
		call->share[count] = 1;
	}
}

/* Who is passed a request answers it if who passes it on would. True if another entry was found to answer. */
static bool find_answers(const struct lqn_entry *entry)
{
	bool found = false;

	for (unsigned phase = 0; phase < G_N_ELEMENTS(entry->phase); phase++) {
		const GArray *calls = entry->phase[phase].calls;

		for (guint i = 0; i < calls->len; i++) {
			const struct lqn_model_call *call = &g_array_index(calls, struct lqn_model_call, i);
			bool answers = call->kind == LQN_SYNC || (call->kind == LQN_FORWARD && entry->answers);

			found |= answers && !call->dest->answers;
			call->dest->answers |= answers;
		}
	}
	return found;
}

void lqn_model_find_answers(struct lqn_model *model)
{
	bool found = false;

	for (guint i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *processor = model->processors->pdata[i];

		for (guint k = 0; k < processor->tasks->len; k++) {
			const struct lqn_task *task = processor->tasks->pdata[k];

			for (guint l = 0; l < task->entries->len; l++) {
				found |= find_answers(task->entries->pdata[l]);
			}
		}
	}
	if (found) {
		lqn_model_find_answers(model);	/* what was passed on may be passed on again */
	}
}
