/* SPDX-License-Identifier: MIT */

/*
 * Who is who, by the user's rules and by snapshots. Told of at the first event of a process, before anything that is done with its
 * name: two programs of one name that talk to each other must be two from the beginning.
 */
#include "internal.h"

#include <string.h>

void lqn_identify_host(struct lqn_analysis *a, struct lqn_party *host)
{
	host->snapshot = lqn_snapshot_find(a->snapshots, host->name);
}

/* What the process was started from, if the trace tells of an exec that the snapshot does not know. */
static bool is_another_program(const struct lqn_actor *actor, const struct lqn_snapshot_process *process)
{
	return !process->end && process->exe && actor->exe && *actor->exe &&
		strcmp(lqn_base_name(actor->exe), lqn_base_name(process->exe)) != 0;
}

static const struct lqn_snapshot_process *process_of(const struct lqn_actor *actor)
{
	const struct lqn_unit *unit = actor->unit;
	const struct lqn_actor *main = unit->main;
	const struct lqn_snapshot_process *process;

	if (!actor->host->snapshot || actor->kernel) {
		return NULL;
	}
	process = lqn_snapshot_process(actor->host->snapshot, unit->pid, main && main->comm && *main->comm ? main->comm : NULL,
		main && main->born >= 0);
	return process && main && is_another_program(main, process) ? NULL : process;
}

/* A worker that came and went within the trace is what its parent is. */
static const struct lqn_unit *kin_of(const struct lqn_unit *unit)
{
	const struct lqn_actor *main = unit->main, *parent = main ? main->parent : NULL;

	return parent && parent->unit != unit && parent->unit->process && parent->unit->main && main->comm &&
		parent->unit->main->comm == main->comm ? parent->unit : NULL;
}

void lqn_identify(struct lqn_analysis *a, struct lqn_actor *actor)
{
	struct lqn_unit *unit = actor->unit;
	const struct lqn_actor *main = unit->main ? unit->main : actor;
	const struct lqn_unit *kin;
	struct lqn_rule_result result;
	g_autofree char *cmdline = NULL;

	if (!a->rules && !actor->host->snapshot) {
		return;
	}
	unit->process = process_of(actor);
	kin = unit->process ? NULL : kin_of(unit);
	if (kin) {
		unit->process = kin->process;
	}
	unit->name = unit->process ? unit->process->name : NULL;
	cmdline = a->rules && unit->process ? g_strjoinv(" ", unit->process->cmdline) : NULL;
	result = lqn_rules_apply(a->rules, &(struct lqn_rule_subject) {
		.host = actor->host->name,
		.comm = main->comm,
		.exe = unit->process && unit->process->exe ? unit->process->exe : main->exe,
		.cmdline = cmdline,
		.service = unit->process ? unit->process->service : NULL,
		.container = unit->process ? unit->process->container : NULL,
		.ports = unit->process ? unit->process->ports : NULL,
	});
	unit->name = result.task ? result.task : unit->name;
	unit->ignored = result.ignore;
}
