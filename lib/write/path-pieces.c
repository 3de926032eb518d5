/* SPDX-License-Identifier: MIT */

/* Single requests of critical-path.txt, piece by piece. */
#include "write/paths.h"

#include <inttypes.h>

#include "write/path-words.h"
#include "write/text.h"

enum { NAME_WIDTH = LQN_PATHS_NAME, WORDS_WIDTH = 90 };
enum { PIECES_MAX = 300 };	/* lines of a table; the rest is in the JSON form */

/* How many pieces from one on are a wait for a lock that one thread has for one request. */
static unsigned count_like(const GArray *pieces, unsigned first)
{
	const struct lqn_path_piece *a = &g_array_index(pieces, struct lqn_path_piece, first);
	unsigned n = 1;

	for (; a->kind == LQN_PATH_LOCK && a->by.thread && first + n < pieces->len; n++) {
		const struct lqn_path_piece *b =
			&g_array_index(pieces, struct lqn_path_piece, first + n);

		if (b->kind != a->kind || b->thread != a->thread || b->detail != a->detail ||
				b->by.thread != a->by.thread || b->by.request != a->by.request) {
			break;
		}
	}
	return n;
}

/* The last of the words says what the holder did most of the time. */
static char *words_of(const GArray *pieces, unsigned first, unsigned n)
{
	struct lqn_path_piece main = g_array_index(pieces, struct lqn_path_piece, first);
	int64_t longest = 0;

	for (unsigned i = first; n > 1 && i < first + n; i++) {
		const struct lqn_path_piece *piece =
			&g_array_index(pieces, struct lqn_path_piece, i);

		if (piece->end - piece->begin > longest) {
			longest = piece->end - piece->begin;
			main = *piece;
		}
	}
	return lqn_path_piece_words(&main);
}

void lqn_paths_pieces(GString *out, const struct lqn_request_path *request)
{
	struct lqn_table table;

	lqn_table_init(&table, "rrllrll");
	lqn_table_head(&table, "at ms|for us|task|thread|id|kind|detail");
	for (unsigned i = 0, n; i < MIN(request->pieces->len, PIECES_MAX); i += n) {
		const struct lqn_path_piece *piece =
			&g_array_index(request->pieces, struct lqn_path_piece, i);
		const struct lqn_path_piece *last = piece +
			(n = count_like(request->pieces, i)) - 1;
		g_autofree char *words = words_of(request->pieces, i, n);

		lqn_table_fixed(&table, (piece->begin - request->begin) / 1e6, 3);
		lqn_table_fixed(&table, (last->end - piece->begin) / 1e3, 1);
		lqn_table_text(&table, piece->task, NAME_WIDTH);
		lqn_table_text(&table, piece->comm, NAME_WIDTH);
		lqn_table_count(&table, (uint32_t) piece->thread);	/* above: reuse of the id */
		lqn_table_text(&table, lqn_path_kind_name(piece->kind), NAME_WIDTH);
		lqn_table_text(&table, words, WORDS_WIDTH);
	}
	lqn_table_print(&table, out, 2, 0);
	lqn_table_clear(&table);
	if (request->pieces->len > PIECES_MAX) {
		g_string_append_printf(out, "  + %u more, with path-files=\"json\"\n",
			request->pieces->len - PIECES_MAX);
	}
}

/* Calls beside others, which ended before them: the request did not wait for these. */
static void write_parallel(GString *out, const struct lqn_request_path *request)
{
	for (unsigned i = 0; request->works && i < request->works->len; i++) {
		const struct lqn_path_work *work =
			&g_array_index(request->works, struct lqn_path_work, i);
		g_autofree char *name = lqn_text_clip(
			work->entry ? work->entry : work->task, NAME_WIDTH);

		if (work->slack >= 0) {
			g_string_append_printf(out, "  beside the path: %s in thread %" PRIu32
				", from ", name, (uint32_t) work->thread);
			lqn_text_append_fixed(out, (work->begin - request->begin) / 1e6, 3);
			g_string_append(out, " to ");
			lqn_text_append_fixed(out, (work->end - request->begin) / 1e6, 3);
			g_string_append(out, " ms; slack ");
			lqn_text_append_fixed(out, work->slack / 1e6, 3);
			g_string_append(out, " ms\n");
		}
	}
}

static void write_request(GString *out, const char *title, const struct lqn_request_path *request)
{
	g_string_append_printf(out, "\n%s: request %" PRIu32 ", ", title, request->number);
	lqn_text_append_fixed(out, (request->end - request->begin) / 1e6, 3);
	g_string_append(out, " ms, from ");
	lqn_text_append_instant(out, request->begin);
	g_string_append_printf(
		out, " on, client thread %" PRIu32 "\n\n", (uint32_t) request->thread);
	lqn_paths_pieces(out, request);
	write_parallel(out, request);
}

void lqn_paths_requests(GString *out, const struct lqn_path_group *group)
{
	unsigned n = group->kept ? group->kept->len : 0, letter = 'a';

	if (group->typical) {
		write_request(out, "3a. A typical request (nearest to the median)", group->typical);
	}
	if (group->slow && !(group->slow->kept & LQN_KEPT_SLOWEST)) {
		write_request(out, "3b. A slow request (nearest to p95)", group->slow);
		letter++;
	}
	for (unsigned i = n, place = 1; i > 0; i--) {
		const struct lqn_request_path *request = g_ptr_array_index(group->kept, i - 1);

		if (request->kept & LQN_KEPT_SLOWEST) {
			g_autofree char *title = place == 1 ? g_strdup("The slowest request") :
				g_strdup_printf("The slowest but %u", place - 1);
			g_autofree char *numbered = g_strdup_printf("3%c. %s",
				letter < 'z' ? (int) ++letter : 'z', title);

			write_request(out, numbered, request);
			place++;
		}
	}
}
