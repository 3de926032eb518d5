/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_IDENTITY_H
#define LQN_PLUGIN_IDENTITY_H

/* The files that parameters of the components name: snapshots and rules. */
#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

#include "identity/rules.h"
#include "identity/snapshot.h"

/*
 * Reads the snapshots that `identity` names, one a host. files: char *; NULL: none. *snapshots: struct lqn_snapshot, owned, NULL if
 * there are none. False with an error cause.
 */
bool lqn_identity_read_snapshots(bt_self_component *self, const GPtrArray *files, GPtrArray **snapshots);

/* Likewise the rules; file: NULL: none. */
bool lqn_identity_read_rules(bt_self_component *self, const char *file, struct lqn_rules **rules);

#endif
