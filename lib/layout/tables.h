/* SPDX-License-Identifier: MIT */
#ifndef LQN_LAYOUT_TABLES_H
#define LQN_LAYOUT_TABLES_H

/* Private to lib/layout: the tables that layout.c looks things up in. */
#include "layout/layout.h"

struct lqn_layout_call {
	const char *name;		/* as in syscall_entry_NAME */
	struct lqn_layout_event entry, exit;
};

extern const struct lqn_layout_event lqn_layout_kernel_events[];	/* closed by a NULL name */
extern const struct lqn_layout_call lqn_layout_calls[];			/* likewise */
extern const struct lqn_layout_call lqn_layout_other_call; /* for a call not in the table */

#endif
