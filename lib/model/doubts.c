/* SPDX-License-Identifier: MIT */

/* Why a model is not to be relied on: what it cannot hold, and what contradicts itself. The checks tell, too, but may be overlooked. */
#include "build.h"

#define OWN_CALLS_MIN 0.02	/* of a request; fewer are as rare as what is seen wrongly */
#define CALLS_MIN 20		/* fewer say little */
#define TRUST_MAX 0.2		/* deviation of a law; where all calls are found they hold within some per cent */

/* In front of the notes that there are, of which a summary may show but some. */
static void note_first(struct lqn_build *build, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void note_first(struct lqn_build *build, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_insert(build->model->notes, 0, g_strdup_vprintf(format, args));
	va_end(args);
}

/* Calls from one process to another, of a service that is one task: solvers know no such call. True if there are some. */
static bool note_own_calls(struct lqn_build *build)
{
	guint all = 0;

	for (guint i = 0; i < build->services->len; i++) {
		const struct lqn_service *service = build->services->pdata[i];
		guint calls = 0, members = 0;

		for (guint k = 0; k < service->members->len; k++) {
			const struct lqn_invocation *it = service->members->pdata[k];

			members += !it->clutter;
			for (const struct lqn_arc *arc = it->clutter ? NULL : it->arcs; arc; arc = arc->next) {
				struct lqn_invocation *to = arc->gone ? NULL : lqn_final(arc->callee);
				const struct lqn_cluster *cluster = to ? lqn_build_cluster_of(build, to) : NULL;

				calls += cluster && cluster->service == service && to->actor->unit != it->actor->unit;
			}
		}
		if (calls >= CALLS_MIN && calls > OWN_CALLS_MIN * members) {
			all += calls;
			note_first(build, "%s: its processes call each other, %.2g times a request; the model lacks that, for "
				"they have one name: an identity snapshot, or rules, tell them apart", service->task->name,
				(double) calls / members);
		}
	}
	return all > 0;
}

static void note_law(struct lqn_build *build, const char *name, const struct lqn_law *law, const char *why)
{
	if (law->deviation > TRUST_MAX) {
		note_first(build, "%s does not hold (%s: %.3g, measured %.3g): %s; what the model predicts is not to be trusted",
			name, law->where,
			law->expected, law->measured, why);
	}
}

void lqn_build_doubts(struct lqn_build *build)
{
	note_law(build, "Little's law", &build->model->checks->little,
		"customers were not there all the time, or cycles are not of those who made them");
	if (!note_own_calls(build)) {
		note_law(build, "forced flow", &build->model->checks->flow, "calls are missing, or are not of those who made them");
	}
}
