/* SPDX-License-Identifier: MIT */

/*
 * critical-path.folded: stacks for flamegraph.pl and speedscope, a line each: frames from the
 * operation down, and mean ns per request. The frames: operation, band of ranks, the tasks from the
 * client on down, kind of time, detail.
 */
#include "write/write.h"

#include <inttypes.h>
#include <math.h>

#include "write/path-words.h"
#include "write/text.h"

/* `;` separates frames, and the last blank the number. */
static void append_frame(GString *out, const char *text)
{
	g_autofree char *clean = lqn_text_clean(text);

	g_strdelimit(clean, ";", ',');
	g_string_append(out, out->len ? ";" : "");
	g_string_append(out, *clean ? clean : "?");
}

static void append_places(GString *out, const struct lqn_path_place *place)
{
	g_autofree char *words = NULL;

	if (place) {
		append_places(out, place->caller);
		words = lqn_path_place_words(place);
		append_frame(out, words);
	}
}

static void append_share(GString *out, const struct lqn_path_group *group,
	const struct lqn_path_share *share, unsigned band, GString *stack)
{
	double mean = group->band[band] > 0 ? share->sum[band] / (double) group->band[band] : 0;
	int64_t ns = isfinite(mean) && mean < 9e18 ? (int64_t) (mean + 0.5) : 0;

	if (ns <= 0) {
		return;
	}
	g_string_truncate(stack, 0);
	append_frame(stack, lqn_path_group_name(group));
	append_frame(stack, lqn_path_band_name((enum lqn_path_band) band));
	append_places(stack, share->place);
	if (!share->place || share->place->task != share->task) {
		append_frame(stack, share->task);
	}
	append_frame(stack, lqn_path_kind_name(share->kind));
	if (share->detail) {
		append_frame(stack, share->detail);
	}
	g_string_append_printf(out, "%s %" PRId64 "\n", stack->str, ns);
}

GString *lqn_write_folded(const struct lqn_path_report *report)
{
	GString *out = g_string_new(NULL), *stack = g_string_new(NULL);

	for (unsigned i = 0; i < report->groups->len; i++) {
		const struct lqn_path_group *group = g_ptr_array_index(report->groups, i);

		for (unsigned band = 0; band < LQN_PATH_BANDS; band++) {
			for (unsigned k = 0; group->shares && k < group->shares->len; k++) {
				append_share(out, group,
					&g_array_index(group->shares, struct lqn_path_share, k),
					band, stack);
			}
		}
	}
	g_string_free(stack, TRUE);
	return out;
}
