/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_WRITE_H
#define LQN_WRITE_WRITE_H

/*
 * Writers: a model and a path report in, a text out. Each returns a new GString (free with
 * g_string_free), never fails, prints numbers independent of the locale, and prints the same
 * bytes for the same input: no date, path or hash order gets in.
 */
#include <glib.h>

#include "model/model.h"
#include "path/report.h"
#include "path/thread.h"

GString *lqn_write_lqnx(const struct lqn_model *model);	/* the XML form of lqns; seconds */
GString *lqn_write_lqn(const struct lqn_model *model);	/* the text form; means the same */
GString *lqn_write_json(const struct lqn_model *model);	/* doc/model.schema.json */
GString *lqn_write_paths(const struct lqn_path_report *report);	/* critical-path.txt */
GString *lqn_write_path_json(const struct lqn_path_report *report);	/* doc/critical-path.schema.json */
GString *lqn_write_folded(const struct lqn_path_report *report);	/* critical-path.folded */
GString *lqn_write_trace_events(const struct lqn_path_report *report);	/* slow-requests.json */
/* critical-paths.tsv: the pieces of all requests in `report->all`, for programs. */
GString *lqn_write_path_table(const struct lqn_path_report *report);
/* thread-path.tsv: the path of one thread, tab separated, a header first. */
GString *lqn_write_thread_path(const struct lqn_thread_path *path);
/* What a person reads on the terminal in half a minute. */
GString *lqn_write_summary(const struct lqn_model *model, const struct lqn_path_report *report);

/*
 * Writes files into the folder `path`, all or none: they are made in a temporary folder beside it
 * which then takes its name. An existing `path` is an error unless `overwrite` (then it is replaced
 * if it holds nothing but regular files with the given names; else an error). `names` and `texts`
 * have `n` elements; a text that is NULL is a file which this time is not written. Errors are of
 * G_FILE_ERROR and say what to do; nothing is left behind then.
 */
gboolean lqn_write_folder(const char *path, gboolean overwrite, const char *const *names,
	GString *const *texts, size_t n, GError **error);

#endif
