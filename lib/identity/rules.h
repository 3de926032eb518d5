/* SPDX-License-Identifier: MIT */
#ifndef LQN_IDENTITY_RULES_H
#define LQN_IDENTITY_RULES_H

/*
 * The user's own names: a key file in which each group is a rule, tried in their order. doc/identity.md describes it.
 *
 *     [orders]
 *     cmdline=*orders.jar*
 *     port=8080;8081
 *
 *     [nightly]
 *     comm=backup*
 *     ignore=true
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct lqn_rules;

/* What is known of a process. Texts are borrowed; NULL: not known, then no pattern matches but `*`. */
struct lqn_rule_subject {
	const char *host, *comm, *exe, *cmdline, *service, *container;
	const GArray *ports;		/* uint16_t */
};

struct lqn_rule_result {
	const char *task;		/* interned; NULL: the rules say nothing of its name */
	bool ignore;			/* background */
};

/* Reads a file. NULL with an error of LQN_IDENTITY_ERROR that names file, line and reason. Free with lqn_rules_free(). */
struct lqn_rules *lqn_rules_read(const char *file, GError **error);
/* The same of a text; `file` is its name in errors. */
struct lqn_rules *lqn_rules_parse(const char *text, const char *file, GError **error);
void lqn_rules_free(struct lqn_rules *rules);

/* What the first rule says that matches. rules: NULL: there are none. */
struct lqn_rule_result lqn_rules_apply(struct lqn_rules *rules, const struct lqn_rule_subject *subject);

/* The names of the rules that never matched; g_ptr_array_unref(); const char *, borrowed. */
GPtrArray *lqn_rules_unused(const struct lqn_rules *rules);

#endif
