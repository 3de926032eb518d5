/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_SUMMARY_H
#define LQN_WRITE_SUMMARY_H

/* What the parts of the summary share. */
#include "path/report.h"

enum { LQN_SUMMARY_WIDTH = 100, LQN_SUMMARY_INDENT = 12, LQN_SUMMARY_NAME = 24 };	/* columns */
enum { LQN_SUMMARY_TASKS = 8 };		/* lines of the table of tasks */

/*
 * `format` where `#` stands for the next value with about three digits, `@` for the next one as a
 * whole number; a negative value is `?`. Free with g_free.
 */
char *lqn_summary_sentence(const char *format, const double *values);

/* For parts of a line, char *, owned. */
GPtrArray *lqn_summary_parts_new(void);

/* Adds `name` cleaned, a blank, and the sentence. */
void lqn_summary_add(GPtrArray *parts, const char *name, const char *format, const double *values);

/* `label` and the parts behind it, in so many lines at most; nothing if there are no parts. Takes the parts. */
void lqn_summary_print(GString *out, const char *label, GPtrArray *parts, const char *sep, unsigned lines);

/* Words of a sentence, to be wrapped anywhere. */
void lqn_summary_words(GString *out, const char *label, const char *text, unsigned lines);

/* Says how many `what` are left out of a list; nothing if none are. */
void lqn_summary_more(GString *out, unsigned indent, unsigned all, unsigned shown, const char *what);

/* summary-tables.c; struct lqn_task, those to be shown first. */
void lqn_summary_tasks(GString *out, const GPtrArray *tasks);
void lqn_summary_entries(GString *out, const GPtrArray *tasks);

/* summary-paths.c: what requests spent their time on, and what delayed them. */
void lqn_summary_requests(GString *out, const struct lqn_path_report *report);
void lqn_summary_delays(GString *out, const struct lqn_path_report *report);

/* Locks, disks, and delays. */
void lqn_summary_resources(GString *out, const struct lqn_model *model);

/* Whether the model agrees with what was measured: a line or two for laws, bounds, and a solver each. */
void lqn_summary_checks(GString *out, const struct lqn_checks *checks);

/* messages.c: what services pass on; nothing if they do not. */
void lqn_summary_messages(GString *out, const struct lqn_model *model);

#endif
