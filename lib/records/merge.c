/* SPDX-License-Identifier: MIT */
#include "records/merge.h"

#include <inttypes.h>
#include <string.h>

/* How many events of a class have been marks, whoever read them. */
struct lqn_told_marks {
	unsigned events;
};

struct input {
	struct lqn_reader *reader;	/* owned */
	struct lqn_told *next;		/* its own; NULL: it must be asked, or has ended */
	bool ended;
};

struct lqn_merge {
	struct input *inputs;		/* owned */
	size_t n;
	struct input *last;		/* that was taken from; NULL: none has been */
	/*
	 * Only the input that was taken from has changed: it goes on as long as it is earlier than `rival`, the
	 * first of the others, which has waited since.
	 */
	const struct input *rival;	/* NULL: there is none */
	int64_t now;			/* ns; what was told last */
	GHashTable *marks;		/* char * of the class -> struct lqn_told_marks *, both owned */
	/* of the first stream that has a clock */
	bool dated, epoch;
	uint8_t clock[16];
};

struct lqn_merge *lqn_merge_new(const GPtrArray *paths, char **problem)
{
	struct lqn_merge *merge = g_new0(struct lqn_merge, 1);

	merge->inputs = g_new0(struct input, paths->len);
	merge->now = LQN_TOLD_UNDATED;
	merge->marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (guint i = 0; i < paths->len; i++) {
		merge->inputs[i].reader = lqn_reader_new(paths->pdata[i], problem);
		if (!merge->inputs[i].reader) {
			lqn_merge_free(merge);
			return NULL;
		}
		merge->n++;
	}
	return merge;
}

void lqn_merge_free(struct lqn_merge *merge)
{
	if (!merge) {
		return;
	}
	for (size_t i = 0; i < merge->n; i++) {
		lqn_reader_free(merge->inputs[i].reader);
	}
	g_hash_table_destroy(merge->marks);
	g_free(merge->inputs);
	g_free(merge);
}

int64_t lqn_merge_last(const struct lqn_merge *merge)
{
	int64_t last = LQN_TOLD_UNDATED;

	for (size_t i = 0; i < merge->n; i++) {
		last = MAX(last, lqn_reader_last(merge->inputs[i].reader));
	}
	return last;
}

uint64_t lqn_merge_events(const struct lqn_merge *merge)
{
	uint64_t events = 0;

	for (size_t i = 0; i < merge->n; i++) {
		events += lqn_reader_events(merge->inputs[i].reader);
	}
	return events;
}

/* ---- order --------------------------------------------------------------- */

/* What has no time comes at once. */
static int64_t time_of(const struct lqn_merge *merge, const struct input *input)
{
	return input->next->ts == LQN_TOLD_UNDATED ? merge->now : input->next->ts;
}

static bool is_before(const struct lqn_merge *merge, const struct input *a, const struct input *b)
{
	const int64_t x = time_of(merge, a), y = time_of(merge, b);

	return x < y || (x == y && lqn_told_stream_compare(a->next->stream, b->next->stream) < 0);
}

/* The first of all that have something to tell, except one; NULL: none has. */
static struct input *first(const struct lqn_merge *merge, const struct input *except)
{
	struct input *best = NULL;

	for (size_t i = 0; i < merge->n; i++) {
		struct input *input = &merge->inputs[i];

		if (input->next && input != except && (!best || is_before(merge, input, best))) {
			best = input;
		}
	}
	return best;
}

static struct input *choose(struct lqn_merge *merge)
{
	struct input *input = merge->last;

	if (input && input->next && (!merge->rival || is_before(merge, input, merge->rival))) {
		return input;
	}
	merge->last = first(merge, NULL);
	merge->rival = first(merge, merge->last);
	return merge->last;
}

/* ---- checks -------------------------------------------------------------- */

/* Times of clocks with different origins cannot be compared. */
static bool check_clock(struct lqn_merge *merge, const struct lqn_told_stream *stream)
{
	if (!stream->dated) {
		return true;
	}
	if (!merge->dated) {
		merge->dated = true;
		merge->epoch = stream->epoch;
		memcpy(merge->clock, stream->clock, sizeof(merge->clock));
	}
	return stream->epoch == merge->epoch &&
		(stream->epoch || memcmp(stream->clock, merge->clock, sizeof(merge->clock)) == 0);
}

static struct lqn_told_marks *marks_of(struct lqn_merge *merge, const struct lqn_told *told)
{
	const struct lqn_told_stream *stream = told->stream;
	GString *key = g_string_new(NULL);
	struct lqn_told_marks *marks;

	for (size_t i = 0; i < sizeof(stream->uuid); i++) {
		g_string_append_printf(key, "%02x", stream->uuid[i]);
	}
	g_string_append_printf(key, " %s %" PRIu64 " %" PRIu64 " %s", stream->trace ? stream->trace : "", stream->class_id,
		told->event.class->id, told->event.class->name);
	marks = g_hash_table_lookup(merge->marks, key->str);
	if (!marks) {
		marks = g_new0(struct lqn_told_marks, 1);
		g_hash_table_insert(merge->marks, g_strdup(key->str), marks);
	}
	g_string_free(key, TRUE);
	return marks;
}

/* Each reader has told as many marks of a class as one of all may. True for one beyond, which is not told. */
static bool count_mark(struct lqn_merge *merge, const struct lqn_told *told)
{
	struct lqn_told_class *class = told->event.class;

	if (told->type != LQN_TOLD_MARK) {
		return false;
	}
	if (!class->marks) {
		class->marks = marks_of(merge, told);
	}
	class->marks->events += told->event.first && class->marks->events <= LQN_MARK_EVENTS;
	return class->marks->events > LQN_MARK_EVENTS;
}

/* ---- use ----------------------------------------------------------------- */

static enum lqn_read_status ask(struct lqn_merge *merge, struct input *input, char **problem)
{
	enum lqn_read_status status;

	if (input->next || input->ended) {
		return LQN_READ_OK;
	}
	status = lqn_reader_next(input->reader, &input->next, problem);
	if (status == LQN_READ_END) {
		input->ended = true;
		return LQN_READ_OK;
	}
	if (status == LQN_READ_OK && input->next->type == LQN_TOLD_STREAM && !check_clock(merge, input->next->stream)) {
		*problem = g_strdup("the traces' clocks have different origins: their times cannot be compared");
		return LQN_READ_BAD;
	}
	return status;
}

/* Makes all that have not ended have something to tell. */
static enum lqn_read_status refill(struct lqn_merge *merge, char **problem)
{
	enum lqn_read_status status = LQN_READ_OK;

	if (G_LIKELY(merge->last)) {
		return ask(merge, merge->last, problem);	/* all others have */
	}
	for (size_t i = 0; i < merge->n && status == LQN_READ_OK; i++) {
		status = ask(merge, &merge->inputs[i], problem);
	}
	return status;
}

enum lqn_read_status lqn_merge_next(struct lqn_merge *merge, struct lqn_told **told, char **problem)
{
	enum lqn_read_status status;
	struct input *input;

	do {
		if (merge->last) {
			merge->last->next = NULL;
		}
		status = refill(merge, problem);
		if (status != LQN_READ_OK) {
			return status;
		}
		input = choose(merge);
		if (!input) {
			return LQN_READ_END;
		}
		merge->now = MAX(merge->now, time_of(merge, input));
	} while (count_mark(merge, input->next));
	*told = input->next;
	return LQN_READ_OK;
}
