/* SPDX-License-Identifier: MIT */

/*
 * The XML form of lqns. Escaping is libxml2's; what XML cannot hold at all is replaced before
 * (text.h). Measured values stand beside the inputs as result-* elements: the schema allows them in
 * an input and the solvers read over them. The order of elements is the schema's.
 */
#include "write/write.h"

#include <string.h>

#include <libxml/xmlwriter.h>

#include "write/terms.h"
#include "write/text.h"

/* The texts are clean and the calls in order, so only memory can fail: GLib aborts then, too. */
static void must(int rc)
{
	if (rc < 0) {
		g_error("cannot write XML: out of memory");
	}
}

static void start(xmlTextWriter *w, const char *element)
{
	must(xmlTextWriterStartElement(w, BAD_CAST element));
}

static void end(xmlTextWriter *w)
{
	must(xmlTextWriterEndElement(w));
}

static void attribute(xmlTextWriter *w, const char *name, const char *value)
{
	g_autofree char *clean = lqn_text_clean(value);

	g_strdelimit(clean, "\"", '\'');
	must(xmlTextWriterWriteAttribute(w, BAD_CAST name, BAD_CAST clean));
}

static void number(xmlTextWriter *w, const char *name, double value)
{
	char buf[LQN_TEXT_NUMBER_SIZE];

	attribute(w, name, lqn_text_number(buf, value));
}

static void known_number(xmlTextWriter *w, const char *name, double value)
{
	if (value >= 0) {
		number(w, name, value);
	}
}

static void multiplicity(xmlTextWriter *w, enum lqn_sched sched, unsigned count)
{
	g_autofree char *text = g_strdup_printf("%u", MAX(count, 1));

	if (sched != LQN_SCHED_INF) {
		attribute(w, "multiplicity", text);
	}
}

/* A comment may not hold `--`, nor end with `-`: blanks go between. */
static void comment(xmlTextWriter *w, const char *text)
{
	g_autofree char *clean = lqn_text_clean(text);
	GString *inside = g_string_new(" ");

	g_strdelimit(clean, "\"", '\'');
	for (const char *p = clean; *p; p++) {
		g_string_append_c(inside, *p);
		if (p[0] == '-' && p[1] == '-') {
			g_string_append_c(inside, ' ');
		}
	}
	g_string_append_c(inside, ' ');
	must(xmlTextWriterWriteComment(w, BAD_CAST inside->str));
	g_string_free(inside, TRUE);
}

static void write_call(xmlTextWriter *w, const struct lqn_merged_call *call, const char *mean_name,
	double mean)
{
	start(w, lqn_call_element(call->kind));
	attribute(w, "dest", call->dest->name);
	number(w, mean_name, mean);
	end(w);
}

static void write_demand(xmlTextWriter *w, const struct lqn_entry *entry, unsigned phase)
{
	const struct lqn_phase *p = &entry->phase[phase];
	double service = entry->task->sched == LQN_SCHED_REF ? entry->task->response : entry->service;

	number(w, "host-demand-mean", p->demand);
	known_number(w, "host-demand-cvsq", p->demand_cvsq);
	if (p->think > 0) {
		number(w, "think-time", p->think);
	}
	if (phase == 0 && service >= 0) {
		start(w, "result-activity");
		number(w, "service-time", service);
		if (entry->service_ci >= 0) {
			start(w, "result-conf-95");
			number(w, "service-time", entry->service_ci);
			end(w);
		}
		end(w);
	}
}

static void write_calls(xmlTextWriter *w, const GArray *calls, unsigned phase)
{
	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call =
			&g_array_index(calls, struct lqn_merged_call, i);

		if (call->kind != LQN_FORWARD && call->mean[phase] > 0) {
			write_call(w, call, "calls-mean", call->mean[phase]);
		}
	}
}

static void write_phase(xmlTextWriter *w, const struct lqn_entry *entry, unsigned phase, GArray *calls)
{
	g_autofree char *name = g_strdup_printf("%s_%u", entry->name, phase + 1);
	g_autofree char *ordinal = g_strdup_printf("%u", phase + 1);

	start(w, "activity");
	attribute(w, "name", name);
	attribute(w, "phase", ordinal);
	if (lqn_calls_fix(calls, phase)) {
		attribute(w, "call-order", "DETERMINISTIC");
	}
	write_demand(w, entry, phase);
	write_calls(w, calls, phase);
	end(w);
}

static void write_phases(xmlTextWriter *w, const struct lqn_entry *entry, GArray *calls)
{
	start(w, "entry-phase-activities");
	for (unsigned phase = 0; phase < lqn_entry_phases(entry); phase++) {
		write_phase(w, entry, phase, calls);
	}
	end(w);
}

static void write_activity(xmlTextWriter *w, const struct lqn_entry *entry, const struct lqn_activity *activity)
{
	start(w, "activity");
	attribute(w, "name", activity->name);
	if (activity->stage == 0) {
		attribute(w, "bound-to-entry", entry->name);
	}
	if (activity->fixed) {
		attribute(w, "call-order", "DETERMINISTIC");
	}
	if (activity->stage == 0) {
		write_demand(w, entry, 0);
	} else {
		number(w, "host-demand-mean", LQN_NEXT_TO_NOTHING);
	}
	write_calls(w, activity->calls, 0);
	end(w);
}

/* One side of a precedence: `pre`, `pre-OR`, `post`, `post-OR`. */
static void write_side(xmlTextWriter *w, const char *one, const char *several, const GPtrArray *graph, unsigned from, unsigned count)
{
	bool choice = count > 1 && strcmp(several, "post-OR") == 0;

	start(w, count > 1 ? several : one);
	for (unsigned i = from; i < from + count; i++) {
		const struct lqn_activity *activity = g_ptr_array_index(graph, i);

		start(w, "activity");
		attribute(w, "name", activity->name);
		if (choice) {
			number(w, "prob", activity->share);
		}
		end(w);
	}
	end(w);
}

static void write_precedences(xmlTextWriter *w, const GPtrArray *graph)
{
	unsigned before = 0, from = 0, count = lqn_graph_stage(graph, 0, &before), next;

	for (unsigned stage = 1; (next = lqn_graph_stage(graph, stage, &from)) > 0; stage++) {
		start(w, "precedence");
		write_side(w, "pre", "pre-OR", graph, before, count);
		write_side(w, "post", "post-OR", graph, from, next);
		end(w);
		before = from;
		count = next;
	}
}

/* Which activities end the request: those of the last stage. */
static void write_replies(xmlTextWriter *w, const struct lqn_entry *entry, const GPtrArray *graph)
{
	const struct lqn_activity *last = g_ptr_array_index(graph, graph->len - 1);

	start(w, "reply-entry");
	attribute(w, "name", entry->name);
	for (unsigned i = 0; i < graph->len; i++) {
		const struct lqn_activity *activity = g_ptr_array_index(graph, i);

		if (activity->stage == last->stage) {
			start(w, "reply-activity");
			attribute(w, "name", activity->name);
			end(w);
		}
	}
	end(w);
}

/* What is measured, and how well it is known: the forms of the solvers have no place for it. */
static void write_entry_comment(xmlTextWriter *w, const struct lqn_entry *entry, const GArray *calls)
{
	char buf[LQN_TEXT_NUMBER_SIZE];
	GString *text = g_string_new(entry->label ? entry->label : entry->name);

	g_string_append_printf(text, ": %" G_GUINT64_FORMAT " invocations", entry->invocations);
	for (unsigned phase = 0; phase < lqn_entry_phases(entry); phase++) {
		if (entry->phase[phase].demand_ci >= 0) {
			g_string_append_printf(text, ", 95 %% confidence of the demand%s +/- %s s", phase ? " of phase 2" : "",
				lqn_text_number(buf, entry->phase[phase].demand_ci));
		}
	}
	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call = &g_array_index(calls, struct lqn_merged_call, i);
		double ci = MAX(call->ci[0], call->ci[1]);

		if (ci >= 0) {
			g_string_append_printf(text, ", of calls to %s +/- %s", call->dest->name, lqn_text_number(buf, ci));
		}
	}
	comment(w, text->str);
	g_string_free(text, TRUE);
}

static void write_entry(xmlTextWriter *w, const struct lqn_entry *entry)
{
	GArray *calls = lqn_entry_merge_calls(entry);
	g_autoptr(GPtrArray) graph = lqn_entry_graph(entry);

	start(w, "entry");
	attribute(w, "name", entry->name);
	attribute(w, "type", graph ? "NONE" : "PH1PH2");
	write_entry_comment(w, entry, calls);
	start(w, "result-entry");
	number(w, "throughput", entry->throughput);
	known_number(w, "phase1-service-time", entry->service);
	end(w);
	for (unsigned i = 0; i < calls->len; i++) {
		const struct lqn_merged_call *call =
			&g_array_index(calls, struct lqn_merged_call, i);

		if (call->kind == LQN_FORWARD) {
			write_call(w, call, "prob", call->mean[0]);
		}
	}
	if (!graph) {
		write_phases(w, entry, calls);
	}
	end(w);
	g_array_unref(calls);
}

/* All activities of the task, then how they follow each other, then who answers: so the schema wants it. */
static void write_graphs(xmlTextWriter *w, const struct lqn_task *task)
{
	g_autoptr(GPtrArray) graphs = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref), entries = g_ptr_array_new();

	for (unsigned i = 0; i < task->entries->len; i++) {
		GPtrArray *graph = lqn_entry_graph(g_ptr_array_index(task->entries, i));

		if (graph) {
			g_ptr_array_add(graphs, graph);
			g_ptr_array_add(entries, g_ptr_array_index(task->entries, i));
		}
	}
	if (graphs->len == 0) {
		return;
	}
	start(w, "task-activities");
	for (unsigned i = 0; i < graphs->len; i++) {
		const GPtrArray *graph = g_ptr_array_index(graphs, i);

		for (unsigned k = 0; k < graph->len; k++) {
			write_activity(w, g_ptr_array_index(entries, i), g_ptr_array_index(graph, k));
		}
	}
	for (unsigned i = 0; i < graphs->len; i++) {
		write_precedences(w, g_ptr_array_index(graphs, i));
	}
	for (unsigned i = 0; i < graphs->len; i++) {
		write_replies(w, g_ptr_array_index(entries, i), g_ptr_array_index(graphs, i));
	}
	end(w);
}

static void write_task(xmlTextWriter *w, const struct lqn_task *task)
{
	g_autofree char *text = g_strconcat(
		lqn_task_kind_name(task->kind), task->service ? ": " : NULL, task->service, NULL);

	start(w, "task");
	attribute(w, "name", task->name);
	attribute(w, "scheduling", lqn_sched_terms(task->sched)->xml_task);
	multiplicity(w, task->sched, task->multiplicity);
	if (task->sched == LQN_SCHED_REF) {
		number(w, "think-time", task->think);
	}
	comment(w, text);
	start(w, "result-task");
	number(w, "throughput", task->throughput);
	known_number(w, "utilization", lqn_task_busy(task));
	number(w, "proc-utilization", task->utilization);
	end(w);
	for (unsigned i = 0; i < task->entries->len; i++) {
		write_entry(w, g_ptr_array_index(task->entries, i));
	}
	write_graphs(w, task);
	end(w);
}

static void write_processor(xmlTextWriter *w, const struct lqn_processor *proc)
{
	start(w, "processor");
	attribute(w, "name", proc->name);
	attribute(w, "scheduling", lqn_sched_terms(proc->sched)->xml_processor);
	if (proc->sched == LQN_SCHED_PS) {
		attribute(w, "quantum", LQN_PS_QUANTUM);
	}
	multiplicity(w, proc->sched, proc->multiplicity);
	if (proc->utilization >= 0) {
		start(w, "result-processor");
		number(w, "utilization", proc->utilization);
		end(w);
	}
	for (unsigned i = 0; i < proc->tasks->len; i++) {
		const struct lqn_task *task = g_ptr_array_index(proc->tasks, i);

		if (lqn_task_is_solvable(task)) {
			write_task(w, task);
		}
	}
	end(w);
}

static void write_head(xmlTextWriter *w, const struct lqn_model *model)
{
	GPtrArray *head = lqn_text_model_head(model);

	for (unsigned i = 0; i < head->len; i++) {
		comment(w, g_ptr_array_index(head, i));
	}
	g_ptr_array_unref(head);
	comment(w,
		"Elements result-* are what was measured in the window; solvers read over them.");
}

static void write_solver(xmlTextWriter *w, const struct lqn_model *model)
{
	const struct lqn_solver_pragma *pragma;

	start(w, "solver-params");
	attribute(w, "comment", model->name);
	attribute(w, "conv_val", LQN_SOLVER_CONVERGENCE);
	attribute(w, "it_limit", LQN_SOLVER_ITERATIONS);
	attribute(w, "print_int", LQN_SOLVER_PRINT);
	attribute(w, "underrelax_coeff", LQN_SOLVER_UNDERRELAX);
	for (unsigned i = 0; (pragma = lqn_solver_pragma(model, i)); i++) {
		start(w, "pragma");
		attribute(w, "param", pragma->param);
		attribute(w, "value", pragma->value);
		end(w);
	}
	end(w);
}

GString *lqn_write_lqnx(const struct lqn_model *model)
{
	xmlBuffer *buffer = xmlBufferCreate();
	xmlTextWriter *w = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	GString *out;

	must(w ? 0 : -1);
	must(xmlTextWriterSetIndent(w, 1));
	must(xmlTextWriterSetIndentString(w, BAD_CAST "  "));
	must(xmlTextWriterStartDocument(w, "1.0", "UTF-8", NULL));
	write_head(w, model);
	start(w, "lqn-model");
	attribute(w, "name", model->name);
	attribute(w, "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance");
	attribute(w, "xsi:noNamespaceSchemaLocation", "lqn.xsd");
	write_solver(w, model);
	for (unsigned i = 0; i < model->processors->len; i++) {
		const struct lqn_processor *proc = g_ptr_array_index(model->processors, i);

		if (lqn_processor_is_solvable(proc)) {
			write_processor(w, proc);
		}
	}
	must(xmlTextWriterEndDocument(w));
	xmlFreeTextWriter(w);
	out = g_string_new_len((const char *) xmlBufferContent(buffer), xmlBufferLength(buffer));
	xmlBufferFree(buffer);
	return out;
}
