/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_MODEL_PARAMS_H
#define LQN_PLUGIN_MODEL_PARAMS_H

/* What the user asks of sink.lqn.model. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "identity/rules.h"
#include "identity/snapshot.h"
#include "result/result.h"

struct model_params {
	char *output;				/* owned; NULL: write no files */
	char *name;				/* owned; may be NULL */
	char *begin_mark, *end_mark;		/* owned; may be NULL */
	char *thread;				/* owned; NULL: no thread's path is wanted */
	char *rules_file;			/* owned; may be NULL */
	char *entries_name;			/* owned; NULL: the default */
	char *solver;				/* owned; NULL: the one of PATH, if any */
	char *path_files;			/* owned; NULL: the usual ones */
	GPtrArray *identity;			/* names of files: char *; owned; NULL: none */
	int64_t begin, end;			/* ns */
	double background_below;		/* share of a processor */
	double interval;			/* s; 0: one model, of all */
	int64_t slowest;			/* requests of each operation told in full */
	int64_t detail;				/* MB; 0: no bound */
	bool overwrite, all_paths, summary, whole, clutter, partial, aside;
	/* what is found in them */
	enum lqn_entries entries;
	unsigned paths_wanted;			/* model_results_path_files() */
	GPtrArray *snapshots;			/* struct lqn_snapshot; owned; NULL: none */
	struct lqn_rules *rules;		/* owned; NULL: none */
};

/*
 * Reads and checks the parameters, and the files that they name; what would make the writing fail
 * after the trace is read is found out here. False with an error cause. model_params_clear() in
 * either case.
 */
bool model_params_read(struct model_params *params, bt_self_component *self, const bt_value *values);
void model_params_clear(struct model_params *params);

/* The analysis that they ask for; it points into `params`. */
struct lqn_options model_params_options(const struct model_params *params);

#endif
