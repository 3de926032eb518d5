/* SPDX-License-Identifier: MIT */
#include "write/terms.h"

#include <math.h>

#define CORES_FEW 4
#define PLACES_FEW 16		/* cores × threads of a task */

static const struct lqn_sched_terms sched_terms[] = {
	[LQN_SCHED_REF] = { "fcfs", "ref", "f", "r" },
	[LQN_SCHED_FCFS] = { "fcfs", "fcfs", "f", "n" },
	[LQN_SCHED_INF] = { "inf", "inf", "i", "i" },
	[LQN_SCHED_PS] = { "ps", "fcfs", "s " LQN_PS_QUANTUM, "n" },
};

static const char *const call_elements[] = {
	[LQN_SYNC] = "synch-call",
	[LQN_ASYNC] = "asynch-call",
	[LQN_FORWARD] = "forwarding",
};

static const char *const kind_names[] = {
	[LQN_TASK_SERVER] = "server",
	[LQN_TASK_CLIENT] = "client",
	[LQN_TASK_OPEN] = "open",
	[LQN_TASK_LOCK] = "lock",
	[LQN_TASK_DISK] = "disk",
	[LQN_TASK_DELAY] = "delay",
	[LQN_TASK_BACKGROUND] = "background",
	[LQN_TASK_LOOP] = "loop",
};

const struct lqn_sched_terms *lqn_sched_terms(enum lqn_sched sched)
{
	g_assert((unsigned) sched < G_N_ELEMENTS(sched_terms));
	return &sched_terms[sched];
}

const char *lqn_call_element(enum lqn_call_kind kind)
{
	g_assert((unsigned) kind < G_N_ELEMENTS(call_elements));
	return call_elements[kind];
}

const char *lqn_task_kind_name(enum lqn_task_kind kind)
{
	g_assert((unsigned) kind < G_N_ELEMENTS(kind_names));
	return kind_names[kind];
}

/*
 * Of the approximations that lqns has for several servers, that of Rolia comes closer to simulation than that of Conway, the
 * default, where a few threads share a few cores (doc/accuracy.md has the figures); of many it often does not converge, of one core
 * it is no better.
 */
static bool few_share_few(const struct lqn_model *model)
{
	bool several = false;

	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		if (proc->sched != LQN_SCHED_PS || !lqn_processor_is_solvable(proc)) {
			continue;
		}
		for (unsigned k = 0; k < proc->tasks->len; k++) {
			const struct lqn_task *task = g_ptr_array_index(proc->tasks, k);

			if (task->sched == LQN_SCHED_FCFS && task->multiplicity * proc->multiplicity > PLACES_FEW) {
				return false;
			}
		}
		if (proc->multiplicity < 2 || proc->multiplicity > CORES_FEW) {
			return false;
		}
		several = true;
	}
	return several;
}

/*
 * Below a task without a bound Conway's lets a task of one thread do more than it can, by a third, however many cores there are; and
 * before semaphores and pools of connections it makes requests wait too long.
 */
static bool has_loop_or_permits(const struct lqn_model *model)
{
	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		for (unsigned k = 0; k < proc->tasks->len; k++) {
			const struct lqn_task *task = g_ptr_array_index(proc->tasks, k);

			if (task->kind == LQN_TASK_LOOP || (task->kind == LQN_TASK_LOCK && task->multiplicity > 1)) {
				return true;
			}
		}
	}
	return false;
}

const struct lqn_solver_pragma *lqn_solver_pragma(const struct lqn_model *model, unsigned n)
{
	static const struct lqn_solver_pragma pragmas[] = {
		{ "stop-on-message-loss", "no" },
		{ "multiserver", "rolia" },
	};

	return n < (few_share_few(model) || has_loop_or_permits(model) ? 2 : 1) ? &pragmas[n] : NULL;
}

unsigned lqn_entry_phases(const struct lqn_entry *entry)
{
	return entry->has_phase2 ? 2 : 1;
}

double lqn_task_busy(const struct lqn_task *task)
{
	double sum = 0;

	if (task->sched == LQN_SCHED_REF) {
		return task->response >= 0 ? task->throughput * task->response : -1;
	}
	for (unsigned i = 0; i < task->entries->len; i++) {
		const struct lqn_entry *entry = g_ptr_array_index(task->entries, i);

		/* how long calls after the reply took is not measured */
		if (entry->service < 0 || (entry->has_phase2 && entry->phase[1].calls->len > 0)) {
			return -1;
		}
		sum += entry->throughput * (entry->service + (entry->has_phase2 ? entry->phase[1].demand + entry->phase[1].think : 0));
	}
	return sum;
}

bool lqn_task_is_solvable(const struct lqn_task *task)
{
	return task->entries->len > 0;
}

bool lqn_processor_is_solvable(const struct lqn_processor *proc)
{
	for (unsigned i = 0; i < proc->tasks->len; i++) {
		if (lqn_task_is_solvable(g_ptr_array_index(proc->tasks, i))) {
			return true;
		}
	}
	return false;
}

static void merge_call(GArray *merged, unsigned phase, const struct lqn_model_call *call)
{
	struct lqn_merged_call *found = NULL;
	unsigned slot = call->kind == LQN_FORWARD ? 0 : phase;

	if (!isfinite(call->mean) || call->mean <= 0) {
		return;
	}
	for (unsigned i = 0; i < merged->len && !found; i++) {
		struct lqn_merged_call *old = &g_array_index(merged, struct lqn_merged_call, i);

		if (old->dest == call->dest && old->kind == call->kind) {
			found = old;
		}
	}
	if (!found) {
		struct lqn_merged_call fresh = {
			.dest = call->dest, .kind = call->kind, .cvsq = { -1, -1 }, .ci = { -1, -1 },
		};

		g_array_append_val(merged, fresh);
		found = &g_array_index(merged, struct lqn_merged_call, merged->len - 1);
	}
	for (unsigned k = 0; k < LQN_COUNTS && slot == 0; k++) {
		found->share[k] = found->mean[0] > 0 ? 0 : call->share[k];
	}
	/* of a sum of two nothing more is known */
	found->cvsq[slot] = found->mean[slot] > 0 ? -1 : call->cvsq;
	found->ci[slot] = found->mean[slot] > 0 ? -1 : call->ci;
	found->mean[slot] += call->mean;
}

static void limit_forwarding(GArray *merged)
{
	double sum = 0;

	for (unsigned i = 0; i < merged->len; i++) {
		struct lqn_merged_call *call = &g_array_index(merged, struct lqn_merged_call, i);

		if (call->kind == LQN_FORWARD) {
			call->mean[0] = fmin(call->mean[0], 1);
			sum += call->mean[0];
		}
	}
	for (unsigned i = 0; i < merged->len; i++) {
		struct lqn_merged_call *call = &g_array_index(merged, struct lqn_merged_call, i);

		if (call->kind == LQN_FORWARD && sum > 1) {
			/* rounded down to the digits printed: a sum of 1.000000001 is refused */
			call->mean[0] = floor(call->mean[0] / sum * 1e9) / 1e9;
		}
	}
}

/* Of a whole number, and squared coefficient of variation: what the window's edges make of calls that are always as many. */
#define WHOLE 0.01

static bool is_whole(double mean, double cvsq)
{
	return round(mean) >= 1 && fabs(mean - round(mean)) <= WHOLE * round(mean) && cvsq >= 0 && cvsq <= WHOLE;
}

bool lqn_entry_passes_on(const struct lqn_entry *entry)
{
	for (unsigned i = 0; i < entry->phase[0].calls->len; i++) {
		if (g_array_index(entry->phase[0].calls, struct lqn_model_call, i).kind == LQN_FORWARD) {
			return true;
		}
	}
	return false;
}

bool lqn_calls_are_fixed(const GArray *calls, unsigned phase)
{
	unsigned made = 0;

	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call = &g_array_index(calls, struct lqn_merged_call, i);

		if (call->kind == LQN_FORWARD || call->mean[phase] <= 0) {
			continue;
		}
		if (!is_whole(call->mean[phase], call->cvsq[phase]) || lqn_entry_passes_on(call->dest)) {
			return false;
		}
		made++;
	}
	return made > 0;
}

bool lqn_calls_fix(GArray *calls, unsigned phase)
{
	if (!lqn_calls_are_fixed(calls, phase)) {
		return false;
	}
	for (unsigned i = 0; i < calls->len; i++) {
		struct lqn_merged_call *call = &g_array_index(calls, struct lqn_merged_call, i);

		if (call->kind != LQN_FORWARD) {
			call->mean[phase] = round(call->mean[phase]);
		}
	}
	return true;
}

GArray *lqn_entry_merge_calls(const struct lqn_entry *entry)
{
	GArray *merged = g_array_new(FALSE, TRUE, sizeof(struct lqn_merged_call));

	for (unsigned phase = 0; phase < lqn_entry_phases(entry); phase++) {
		const GArray *calls = entry->phase[phase].calls;

		for (unsigned i = 0; i < calls->len; i++) {
			merge_call(merged, phase, &g_array_index(calls, struct lqn_model_call, i));
		}
	}
	limit_forwarding(merged);
	return merged;
}
