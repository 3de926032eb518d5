/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_JSONL_H
#define LQN_TESTS_UNIT_JSONL_H

/*
 * Kernel events as JSON, one a line, read by the layout tables as the plugin reads those of a
 * trace:
 *
 *   {"host":"h","ts":15,"cpu":0,"name":"sched_switch",
 *    "fields":{"prev_tid":1,"prev_state":1,"next_tid":2}}		(in one line)
 *
 * `tid` beside `name` stands for a context field. The fields of a packet are skbaddr, len,
 * ip:{saddr,daddr} and tcp:{sport,dport,seq,flags}. A name `__discarded__` says that `count` events
 * were lost from `ts` to `end`.
 */
#include <glib.h>

#include "causal/causal.h"
#include "result/result.h"

struct jsonl;

/*
 * Reads a file, and has an engine for each host that occurs in it. `release`: of the kernels; NULL:
 * not known. All that the engines tell goes into `analysis` (borrowed; may be NULL) and is kept.
 * Aborts with a message if the file is not as above. Free with jsonl_free().
 */
struct jsonl *jsonl_read(const char *path, const char *release, struct lqn_analysis *analysis);
void jsonl_free(struct jsonl *jsonl);

/*
 * How many of the kept events are like the pattern: a JSON object with `class`, `host` if it
 * matters, and values of fields.
 */
struct json_object;
unsigned jsonl_count(const struct jsonl *jsonl, struct json_object *pattern);

#endif
