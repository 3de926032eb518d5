/* SPDX-License-Identifier: MIT */
#include "plugin/model/params.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "plugin/common/identity.h"
#include "plugin/common/params.h"
#include "plugin/model/results.h"

#define FAIL(self, ...) BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((self), __VA_ARGS__)

#define INTERVAL_MIN 0.01	/* s */
#define INTERVAL_MAX 1e6

/* MB of what is over; with what is alive, and Babeltrace itself, less than 100 MB for most traces. */
#define DETAIL 32
#define DETAIL_MAX 1000000
#define MB 1000000

#define SLOWEST 5
#define SLOWEST_MAX 1000	/* all of them are kept in full */

static bool read_values(bt_self_component *self, const bt_value *values, struct model_params *params)
{
	const struct lqn_param known[] = {
		{ "output", LQN_PARAM_STRING, &params->output },
		{ "overwrite", LQN_PARAM_BOOL, &params->overwrite },
		{ "begin-mark", LQN_PARAM_STRING, &params->begin_mark },
		{ "end-mark", LQN_PARAM_STRING, &params->end_mark },
		{ "begin", LQN_PARAM_INT, &params->begin },
		{ "end", LQN_PARAM_INT, &params->end },
		{ "detail", LQN_PARAM_INT, &params->detail },
		{ "whole", LQN_PARAM_BOOL, &params->whole },
		{ "clutter", LQN_PARAM_BOOL, &params->clutter },
		{ "background-below", LQN_PARAM_REAL, &params->background_below },
		{ "entries", LQN_PARAM_STRING, &params->entries_name },
		{ "all-paths", LQN_PARAM_BOOL, &params->all_paths },
		{ "path-files", LQN_PARAM_STRING, &params->path_files },
		{ "slowest", LQN_PARAM_INT, &params->slowest },
		{ "name", LQN_PARAM_STRING, &params->name },
		{ "summary", LQN_PARAM_BOOL, &params->summary },
		{ "thread", LQN_PARAM_STRING, &params->thread },
		{ "identity", LQN_PARAM_STRINGS, &params->identity },
		{ "rules", LQN_PARAM_STRING, &params->rules_file },
		{ "solver", LQN_PARAM_STRING, &params->solver },
		{ "partial", LQN_PARAM_BOOL, &params->partial },
		{ "aside", LQN_PARAM_BOOL, &params->aside },
		{ "interval", LQN_PARAM_REAL, &params->interval },
	};

	return lqn_params_read(self, values, known, G_N_ELEMENTS(known));
}

/* `model/` is the folder `model`, whose parent is not `model`. */
static void strip_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] == '/') {
		path[--len] = '\0';
	}
}

static bool read_entries(bt_self_component *self, struct model_params *params)
{
	static const char *const names[] = {
		[LQN_ENTRIES_OPERATION] = "operation",
		[LQN_ENTRIES_CALLERS] = "callers",
		[LQN_ENTRIES_TASK] = "task",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		if (!params->entries_name || strcmp(params->entries_name, names[i]) == 0) {
			params->entries = (enum lqn_entries) i;
			return true;
		}
	}
	FAIL(self, "Parameter `entries`: `%s` is none of operation, callers, task", params->entries_name);
	return false;
}

/* The windows of `interval` follow each other: nothing else can say what they are. */
static bool check_interval(bt_self_component *self, const struct model_params *params)
{
	if (params->interval == 0) {
		return true;
	}
	if (!(params->interval >= INTERVAL_MIN && params->interval <= INTERVAL_MAX)) {
		FAIL(self, "Parameter `interval`: %g s, not from %g to %g", params->interval,
			INTERVAL_MIN, INTERVAL_MAX);
		return false;
	}
	if (params->begin_mark || params->end_mark || params->begin != INT64_MIN ||
			params->end != INT64_MAX || params->whole || params->thread) {
		FAIL(self, "Parameter `interval`: it goes with none of `begin`, `end`, "
			"`begin-mark`, `end-mark`, `whole`, `thread`");
		return false;
	}
	return true;
}

static bool check_output(bt_self_component *self, struct model_params *params)
{
	g_autofree char *parent = NULL;

	if (!params->output) {
		return true;
	}
	strip_slashes(params->output);
	if (*params->output == '\0') {
		FAIL(self, "Parameter `output`: the folder has no name");
		return false;
	}
	if (!params->overwrite && g_file_test(params->output, G_FILE_TEST_EXISTS)) {
		FAIL(self, "Output folder `%s` exists already: name another one, remove it, or "
			"add `overwrite=yes`", params->output);
		return false;
	}
	if (g_file_test(params->output, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK) &&
			!g_file_test(params->output, G_FILE_TEST_IS_DIR)) {
		FAIL(self, "Output folder `%s` cannot be made: something else has that name",
			params->output);
		return false;
	}
	parent = g_path_get_dirname(params->output);
	if (g_access(parent, W_OK | X_OK) != 0) {
		FAIL(self, "Output folder `%s` cannot be made in `%s`: %s", params->output, parent, g_strerror(errno));
		return false;
	}
	return true;
}

static bool check(bt_self_component *self, struct model_params *params)
{
	if (params->begin >= params->end) {
		FAIL(self, "Parameters `begin` and `end`: %" PRId64 " is not before %" PRId64,
			params->begin, params->end);
		return false;
	}
	if (params->slowest < 0 || params->slowest > SLOWEST_MAX) {
		FAIL(self, "Parameter `slowest`: %" PRId64 " is not within 0 and %d",
			params->slowest, SLOWEST_MAX);
		return false;
	}
	if (!model_results_path_files(self, params->path_files, &params->paths_wanted)) {
		return false;
	}
	if (!(params->background_below > 0 && params->background_below <= 1)) {
		FAIL(self, "Parameter `background-below`: %g is no share above 0 and up to 1; `clutter=yes` keeps all",
			params->background_below);
		return false;
	}
	if (!read_entries(self, params) || !check_interval(self, params)) {
		return false;
	}
	if (params->detail < 0 || params->detail > DETAIL_MAX) {
		FAIL(self, "Parameter `detail`: %" PRId64 " MB, not from 1 to %d, or 0 for no bound",
			params->detail, DETAIL_MAX);
		return false;
	}
	return check_output(self, params);
}

bool model_params_read(struct model_params *params, bt_self_component *self, const bt_value *values)
{
	*params = (struct model_params) {
		.begin = INT64_MIN,
		.end = INT64_MAX,
		.summary = true,
		.background_below = LQN_BACKGROUND_BELOW,
		.slowest = SLOWEST,
		.detail = DETAIL,
	};
	return read_values(self, values, params) && check(self, params) &&
		lqn_identity_read_snapshots(self, params->identity, &params->snapshots) &&
		lqn_identity_read_rules(self, params->rules_file, &params->rules);
}

void model_params_clear(struct model_params *params)
{
	g_free(params->output);
	g_free(params->name);
	g_free(params->begin_mark);
	g_free(params->end_mark);
	g_free(params->thread);
	g_free(params->rules_file);
	g_free(params->entries_name);
	g_free(params->solver);
	g_free(params->path_files);
	g_clear_pointer(&params->identity, g_ptr_array_unref);
	g_clear_pointer(&params->snapshots, g_ptr_array_unref);
	lqn_rules_free(params->rules);
}

struct lqn_options model_params_options(const struct model_params *params)
{
	return (struct lqn_options) {
		.begin_mark = params->begin_mark,
		.end_mark = params->end_mark,
		.begin = params->begin,
		.end = params->end,
		.detail = (uint64_t) params->detail * MB,
		.all_paths = params->all_paths,
		.slowest = (unsigned) params->slowest,
		.whole = params->whole,
		.clutter = params->clutter,
		.background_below = params->background_below,
		.entries = params->entries,
		.name = params->name,
		.thread = params->thread,
		.snapshots = params->snapshots,
		.rules = params->rules,
	};
}
