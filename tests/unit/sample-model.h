/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_SAMPLE_MODEL_H
#define LQN_TESTS_UNIT_SAMPLE_MODEL_H

/*
 * A model and a path report that hold at least one of everything that the writers know: clients,
 * two phases, synchronous, asynchronous and forwarded calls, a lock, a disk, a delay, background
 * load. Free with lqn_model_free and lqn_path_report_free.
 */
#include "model/model.h"
#include "path/report.h"

struct lqn_model *sample_model_new(void);

/* The same with labels, services, notes and causes as a hostile trace would have them. */
struct lqn_model *sample_model_new_hostile(void);

struct lqn_path_report *sample_report_new(void);

struct lqn_entry *sample_find_entry(const struct lqn_model *model, const char *name);
struct lqn_task *sample_find_task(const struct lqn_model *model, const char *name);

#endif
