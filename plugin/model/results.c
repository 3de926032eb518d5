/* SPDX-License-Identifier: MIT */
#include "plugin/model/results.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "solve/solve.h"
#include "write/write.h"

#define FAIL(self, ...) BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((self), __VA_ARGS__)

#define SOLVER "lqns"		/* asked if it is there, unless another is named … */
#define NO_SOLVER "none"	/* … or this */
#define SOLVER_SECONDS 20

/* What is written of the critical paths, by the names that the parameter `path-files` has for it. */
static const struct {
	const char *name, *file;
	GString *(*write)(const struct lqn_path_report *report);
	bool usual;			/* written if nothing is asked for */
} path_files[] = {
	{ "text", "critical-path.txt", lqn_write_paths, true },
	{ "json", "critical-path.json", lqn_write_path_json, false },
	{ "folded", "critical-path.folded", lqn_write_folded, true },
	{ "trace", "slow-requests.json", lqn_write_trace_events, false },
};

bool model_results_path_files(bt_self_component *self, const char *list, unsigned *wanted)
{
	g_auto(GStrv) names = list ? g_strsplit(list, ",", -1) : NULL;

	*wanted = 0;
	for (size_t i = 0; !list && i < G_N_ELEMENTS(path_files); i++) {
		*wanted |= path_files[i].usual ? 1u << i : 0;
	}
	for (size_t i = 0; names && names[i]; i++) {
		bool known = strcmp(names[i], "none") == 0 && !names[1];

		for (size_t k = 0; k < G_N_ELEMENTS(path_files); k++) {
			if (strcmp(names[i], path_files[k].name) == 0) {
				*wanted |= 1u << k;
				known = true;
			}
		}
		if (!known) {
			FAIL(self, "Parameter `path-files`: `%s` is none of `text`, `json`, "
				"`folded`, `trace`, separated by commas, nor `none` alone",
				names[i]);
			return false;
		}
	}
	return true;
}

/* thread: NULL: no thread's path is wanted. */
static bool write_files(bt_self_component *self, const struct model_params *params, const struct lqn_model *model,
	const struct lqn_path_report *paths, const struct lqn_thread_path *thread, bool again)
{
	enum { OTHERS = 5, FILES = OTHERS + G_N_ELEMENTS(path_files) };
	const char *names[FILES] = {
		"model.lqnx", "model.lqn", "model.json", "critical-paths.tsv", "thread-path.tsv",
	};
	GString *texts[FILES] = {
		model ? lqn_write_lqnx(model) : NULL, model ? lqn_write_lqn(model) : NULL,
		model ? lqn_write_json(model) : NULL,
		model && params->all_paths ? lqn_write_path_table(paths) : NULL,
		thread ? lqn_write_thread_path(thread) : NULL,
	};
	GError *error = NULL;
	bool ok;

	for (size_t i = 0; i < G_N_ELEMENTS(path_files); i++) {
		names[OTHERS + i] = path_files[i].file;
		texts[OTHERS + i] = model && (params->paths_wanted >> i & 1) != 0 ?
			path_files[i].write(paths) : NULL;
	}
	ok = lqn_write_folder(params->output, params->overwrite || again, names, texts, G_N_ELEMENTS(names), &error);
	if (!ok) {
		FAIL(self, "Cannot write to `%s`: %s", params->output,
			error ? error->message : "unknown error");
		g_clear_error(&error);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		if (texts[i]) {
			g_string_free(texts[i], TRUE);
		}
	}
	return ok;
}

static bool print(bt_self_component *self, GString *text)
{
	bool ok = fwrite(text->str, 1, text->len, stdout) == text->len && fflush(stdout) == 0;

	g_string_free(text, TRUE);
	if (!ok) {
		FAIL(self, "Cannot write to the standard output");
	}
	return ok;
}

void model_results_predict(const struct model_params *params, struct lqn_model *model)
{
	const char *program = params->solver ? params->solver : SOLVER;
	g_autofree char *path = g_find_program_in_path(program);
	g_autoptr(GError) error = NULL;

	if (strcmp(program, NO_SOLVER) == 0 || (!path && !params->solver)) {
		return;
	}
	model->checks->solver = g_strdup(program);
	model->checks->prediction = lqn_solve(model, program, SOLVER_SECONDS, &error);
	model->checks->failure = error ? g_strdup(error->message) : NULL;
}

bool model_results_write(bt_self_component *self, const struct model_params *params, struct lqn_analysis *analysis,
	const struct lqn_model *model, const struct lqn_path_report *paths, bool again)
{
	struct lqn_thread_path *thread = NULL;
	bool ok;

	if (params->thread) {
		g_autoptr(GError) error = NULL;

		thread = lqn_analysis_thread_path(analysis, &error);
		if (!thread) {
			FAIL(self, "Parameter `thread`: %s", error->message);
			return false;
		}
	}
	ok = (!params->output || write_files(self, params, model, paths, thread, again)) &&
		(!params->summary || !model || print(self, lqn_write_summary(model, paths))) &&
		(params->output || !thread || print(self, lqn_write_thread_path(thread)));
	lqn_thread_path_free(thread);
	return ok;
}
