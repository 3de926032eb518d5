/* SPDX-License-Identifier: MIT */
#include "spans/set.h"

#include <inttypes.h>
#include <string.h>

static const char *const flaw_texts[] = {
	[LQN_FLAW_CUT] = "times a document broke off",
	[LQN_FLAW_TOO_LONG] = "objects longer than 16 MiB (passed over)",
	[LQN_FLAW_SYNTAX] = "spans that are no JSON objects (left out)",
	[LQN_FLAW_NO_ID] = "spans without a valid trace or span id (left out)",
	[LQN_FLAW_NO_BEGIN] = "spans without a begin (left out)",
	[LQN_FLAW_NO_END] = "spans that have not ended (left out)",
	[LQN_FLAW_BACKWARD] = "spans that end before they begin (left out)",
	[LQN_FLAW_RANGE] = "spans with a time out of range (left out)",
	[LQN_FLAW_TEXT] = "texts that are no UTF-8 (mended)",
	[LQN_FLAW_DUPLICATE] = "spans with the ids of another (left out)",
	[LQN_FLAW_CYCLE] = "spans among their own ancestors (taken for roots)",
	[LQN_FLAW_ORPHAN] = "spans whose parent is not there",
	[LQN_FLAW_EARLY] = "spans that begin before their parent does: clocks differ, or one was set",
	[LQN_FLAW_MANY] = "spans too many (left out)",
};
G_STATIC_ASSERT(G_N_ELEMENTS(flaw_texts) == LQN_SPAN_FLAWS);

const char *lqn_span_flaw_text(enum lqn_span_flaw flaw)
{
	return flaw_texts[flaw];
}

void lqn_span_set_init(struct lqn_span_set *set)
{
	memset(set, 0, sizeof(*set));
	set->spans = g_array_new(FALSE, FALSE, sizeof(struct lqn_file_span));
	set->links = g_array_new(FALSE, FALSE, sizeof(struct lqn_span_link));
	set->moments = g_array_new(FALSE, FALSE, sizeof(struct lqn_span_moment));
	set->files = g_ptr_array_new_with_free_func(g_free);
	set->texts = g_string_chunk_new(4096);
	set->known = g_hash_table_new(g_str_hash, g_str_equal);
}

void lqn_span_set_clear(struct lqn_span_set *set)
{
	g_array_free(set->spans, TRUE);
	g_array_free(set->links, TRUE);
	g_array_free(set->moments, TRUE);
	g_ptr_array_free(set->files, TRUE);
	g_hash_table_destroy(set->known);
	g_string_chunk_free(set->texts);
}

void lqn_span_set_flaw(struct lqn_span_set *set, enum lqn_span_flaw flaw, uint32_t file, uint32_t line)
{
	struct lqn_span_count *count = &set->flaws[flaw];

	if (count->count++ == 0) {
		count->file = (uint16_t) file;
		count->line = line;
	}
}

void lqn_span_set_link(struct lqn_span_set *set, struct lqn_file_span *span, uint64_t trace_high, uint64_t trace_low, uint64_t id)
{
	struct lqn_span_link link = { trace_high, trace_low, id, NULL };

	if (set->links->len < LQN_SPANS_MAX_COUNT) {
		span->link = span->links++ == 0 ? set->links->len : span->link;
		g_array_append_val(set->links, link);
	}
}

/* The length of a text's first bytes that fit and cut no character in two. */
static size_t fitting(const char *text, size_t len)
{
	if (len > LQN_SPAN_TEXT_MAX) {
		for (len = LQN_SPAN_TEXT_MAX; len > 0 && ((unsigned char) text[len] & 0xc0) == 0x80; len--) {
		}
	}
	return len;
}

const char *lqn_span_set_text(struct lqn_span_set *set, const char *text, gssize len, uint32_t file, uint32_t line)
{
	size_t n = fitting(text, len < 0 ? strlen(text) : strnlen(text, (size_t) len));
	g_autofree char *copy = NULL;
	const char *found;

	if (n == 0) {
		return NULL;
	}
	if (g_utf8_validate(text, (gssize) n, NULL)) {
		copy = g_strndup(text, n);
	} else {
		lqn_span_set_flaw(set, LQN_FLAW_TEXT, file, line);
		copy = g_utf8_make_valid(text, (gssize) n);
	}
	found = g_hash_table_lookup(set->known, copy);
	if (!found) {
		found = g_string_chunk_insert(set->texts, copy);
		g_hash_table_add(set->known, (gpointer) found);
	}
	return found;
}

/* ---- settling ---- */

static struct lqn_file_span *span_at(const struct lqn_span_set *set, uint32_t index)
{
	return &g_array_index(set->spans, struct lqn_file_span, index);
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_ids(const struct lqn_file_span *a, uint64_t high, uint64_t low, uint64_t id)
{
	int order = compare(a->trace_high, high);

	order = order ? order : compare(a->trace_low, low);
	return order ? order : compare(a->id, id);
}

static gint by_identity(gconstpointer a, gconstpointer b, gpointer data)
{
	uint32_t i = *(const uint32_t *) a, k = *(const uint32_t *) b;
	const struct lqn_file_span *y = span_at(data, k);
	int order = by_ids(span_at(data, i), y->trace_high, y->trace_low, y->id);

	return order ? order : compare(i, k);
}

static void flaw_of(struct lqn_span_set *set, const struct lqn_file_span *span, enum lqn_span_flaw flaw)
{
	lqn_span_set_flaw(set, flaw, span->file, span->line);
}

void lqn_span_set_shift(struct lqn_span_set *set, int64_t offset)
{
	for (guint i = 0; offset != 0 && i < set->spans->len; i++) {
		struct lqn_file_span *span = span_at(set, i);

		if (__builtin_add_overflow(span->begin, offset, &span->begin) ||
				__builtin_add_overflow(span->end, offset, &span->end) ||
				span->begin < 1 || span->end > LQN_TIME_MAX) {
			span->gone = true;
			flaw_of(set, span, LQN_FLAW_RANGE);
		}
	}
}

/* All spans' indices by their ids, without those that are left out, or were there before. */
static GArray *sort_by_ids(struct lqn_span_set *set)
{
	GArray *index = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), set->spans->len);
	guint kept = 0;

	for (uint32_t i = 0; i < set->spans->len; i++) {
		if (!span_at(set, i)->gone) {
			g_array_append_val(index, i);
		}
	}
	g_array_sort_with_data(index, by_identity, set);
	for (guint i = 0; i < index->len; i++) {
		uint32_t at = g_array_index(index, uint32_t, i);
		struct lqn_file_span *span = span_at(set, at);
		const struct lqn_file_span *last = kept > 0 ?
			span_at(set, g_array_index(index, uint32_t, kept - 1)) : NULL;

		if (last && by_ids(last, span->trace_high, span->trace_low, span->id) == 0) {
			flaw_of(set, span, LQN_FLAW_DUPLICATE);
		} else {
			g_array_index(index, uint32_t, kept++) = at;
		}
	}
	g_array_set_size(index, kept);
	return index;
}

/* The span of that id; NULL: none, or in no file. */
static struct lqn_file_span *find(const struct lqn_span_set *set, const GArray *index, uint64_t trace_high, uint64_t trace_low,
	uint64_t id)
{
	guint low = 0, high = index->len;

	while (id && low < high) {
		guint middle = low + (high - low) / 2;
		struct lqn_file_span *it = span_at(set, g_array_index(index, uint32_t, middle));
		int order = by_ids(it, trace_high, trace_low, id);

		if (order == 0) {
			return it;
		}
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return NULL;
}

static struct lqn_file_span *parent_of(const struct lqn_span_set *set, const GArray *index, const struct lqn_file_span *span)
{
	return find(set, index, span->trace_high, span->trace_low, span->parent);
}

static struct lqn_file_span *linked_with(const struct lqn_span_set *set, const GArray *index, uint32_t link)
{
	const struct lqn_span_link *it = &g_array_index(set->links, struct lqn_span_link, link);

	return find(set, index, it->trace_high, it->trace_low, it->id);
}

static const char *name_of(struct lqn_span_set *set, const struct lqn_file_span *sender)
{
	g_autofree char *name = g_strdup_printf("%016" PRIx64 "%016" PRIx64 "-%016" PRIx64,
		sender->trace_high, sender->trace_low, sender->id);

	return lqn_span_set_text(set, name, -1, sender->file, sender->line);
}

/*
 * Who works on a message is linked with who sent it, by OpenTelemetry's conventions, or is his child: both have the name that one of
 * them tells, else the sender's ids.
 */
static void name_message(struct lqn_span_set *set, struct lqn_file_span *span, struct lqn_file_span *sender)
{
	if (sender && sender->kind == LQN_SPAN_PRODUCER) {
		if (!sender->message) {
			sender->message = span->message ? span->message : name_of(set, sender);
		}
		span->message = span->message ? span->message : sender->message;
	}
}

/* One span for a batch of messages: each has the name that its sender has for it. */
static void name_batch(struct lqn_span_set *set, const GArray *index, const struct lqn_file_span *span)
{
	for (uint32_t i = 0; i < span->links; i++) {
		struct lqn_file_span *sender = linked_with(set, index, span->link + i);

		if (sender && sender->kind == LQN_SPAN_PRODUCER) {
			sender->message = sender->message ? sender->message : name_of(set, sender);
			g_array_index(set->links, struct lqn_span_link, span->link + i).message = sender->message;
		}
	}
}

static void name_messages(struct lqn_span_set *set, const GArray *index)
{
	for (guint i = 0; i < index->len; i++) {
		struct lqn_file_span *span = span_at(set, g_array_index(index, uint32_t, i));

		if (span->kind == LQN_SPAN_CONSUMER && span->links > 1) {
			name_batch(set, index, span);
		} else if (span->kind == LQN_SPAN_CONSUMER) {
			name_message(set, span, span->links > 0 ? linked_with(set, index, span->link) : parent_of(set, index, span));
		}
	}
}

/*
 * Walks up from each span once: what is met again on the same walk closes a circle, which is cut there. The walk that
 * has met a span first is its colour.
 */
static void check_parents(struct lqn_span_set *set, const GArray *index)
{
	g_autofree uint32_t *colours = g_new0(uint32_t, set->spans->len + 1);

	for (guint i = 0; i < index->len; i++) {
		struct lqn_file_span *span = span_at(set, g_array_index(index, uint32_t, i)), *parent;

		for (; span; span = parent) {
			size_t at = (size_t) (span - span_at(set, 0));

			if (colours[at] != 0) {
				break;
			}
			colours[at] = i + 1;
			parent = parent_of(set, index, span);
			if (!parent) {
				if (span->parent) {
					flaw_of(set, span, LQN_FLAW_ORPHAN);
				}
			} else if (colours[parent - span_at(set, 0)] == i + 1) {
				flaw_of(set, span, LQN_FLAW_CYCLE);
				span->parent = 0;
			} else if (span->begin < parent->begin) {
				flaw_of(set, span, LQN_FLAW_EARLY);
			}
		}
	}
}

/*
 * At one time, spans that began before end first, inner ones (that began later) in front; then others begin, outer ones
 * (that end later) in front; last come the ends of those without length. Outer spans end last, so they stand further
 * behind in a file.
 */
static gint by_time(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct lqn_span_moment *x = a, *y = b;
	const struct lqn_file_span *p = span_at(data, x->span), *q = span_at(data, y->span);
	int rank_x = !x->end ? 1 : p->begin == p->end ? 2 : 0, rank_y = !y->end ? 1 : q->begin == q->end ? 2 : 0;

	if (x->ts != y->ts) {
		return x->ts < y->ts ? -1 : 1;
	}
	if (rank_x != rank_y) {
		return rank_x - rank_y;
	}
	if (x->end) {
		return p->begin != q->begin ? (p->begin > q->begin ? -1 : 1) : compare(x->span, y->span);
	}
	if (p->end != q->end) {
		return p->end > q->end ? -1 : 1;
	}
	/* of one span the begin, then its messages */
	return x->span != y->span ? compare(y->span, x->span) : compare(x->link, y->link);
}

static void append_messages(struct lqn_span_set *set, uint32_t at)
{
	const struct lqn_file_span *span = span_at(set, at);

	for (uint32_t i = span->link; i < span->link + span->links; i++) {
		struct lqn_span_moment moment = { span->begin, at, i + 1, false };

		if (g_array_index(set->links, struct lqn_span_link, i).message) {
			g_array_append_val(set->moments, moment);
		}
	}
}

void lqn_span_set_settle(struct lqn_span_set *set)
{
	GArray *index = sort_by_ids(set);

	check_parents(set, index);
	name_messages(set, index);
	for (guint i = 0; i < index->len; i++) {
		uint32_t at = g_array_index(index, uint32_t, i);
		struct lqn_span_moment moments[] = {
			{ span_at(set, at)->begin, at, 0, false },
			{ span_at(set, at)->end, at, 0, true },
		};

		g_array_append_vals(set->moments, moments, G_N_ELEMENTS(moments));
		append_messages(set, at);
	}
	g_array_free(index, TRUE);
	g_array_sort_with_data(set->moments, by_time, set);
}
