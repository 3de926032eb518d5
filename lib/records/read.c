/* SPDX-License-Identifier: MIT */
#include "records/read.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "records/format.h"

#define BUFFER (256 * 1024)	/* bytes at first; a longer frame makes it as long, as its bytes come */
#define PATIENCE_MS 1000

struct lqn_reader {
	char *path;			/* owned */
	int fd;
	uint8_t *bytes;			/* owned; those from `next` to `n` have not been looked at */
	size_t size, next, n;
	uint64_t offset;		/* of bytes[0] in the file */
	GPtrArray *streams;		/* struct lqn_told_stream *, owned; NULL: it has ended */
	GPtrArray *classes;		/* struct lqn_told_class *, owned */
	uint32_t ending;		/* number + 1 of the stream whose end was told last; 0: none */
	struct lqn_told told;
	bool begun, ended;
	int64_t last;
	uint64_t events;
};

static void stream_free(void *data)
{
	if (data) {
		lqn_told_stream_clear(data);
		g_free(data);
	}
}

struct lqn_reader *lqn_reader_new(const char *path, char **problem)
{
	struct lqn_reader *reader;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		*problem = g_strdup_printf("cannot open `%s`: %s", path, g_strerror(errno));
		return NULL;
	}
	reader = g_new0(struct lqn_reader, 1);
	reader->path = g_strdup(path);
	reader->fd = fd;
	reader->size = BUFFER;
	reader->bytes = g_malloc(reader->size);
	reader->streams = g_ptr_array_new_with_free_func(stream_free);
	reader->classes = g_ptr_array_new_with_free_func(g_free);
	reader->told.type = LQN_TOLD_TIME;
	reader->last = LQN_TOLD_UNDATED;
	return reader;
}

/* What was told last is over. */
static void forget_last(struct lqn_reader *reader)
{
	if (lqn_told_is_event(reader->told.type)) {
		g_free(reader->told.event.rec.text);
		reader->told.event.rec.text = NULL;
	}
	if (reader->ending > 0) {
		stream_free(reader->streams->pdata[reader->ending - 1]);
		reader->streams->pdata[reader->ending - 1] = NULL;
		reader->ending = 0;
	}
}

void lqn_reader_free(struct lqn_reader *reader)
{
	if (!reader) {
		return;
	}
	forget_last(reader);
	g_ptr_array_free(reader->streams, TRUE);
	g_ptr_array_free(reader->classes, TRUE);
	close(reader->fd);
	g_free(reader->bytes);
	g_free(reader->path);
	g_free(reader);
}

int64_t lqn_reader_last(const struct lqn_reader *reader)
{
	return reader->last;
}

uint64_t lqn_reader_events(const struct lqn_reader *reader)
{
	return reader->events;
}

/* ---- bytes --------------------------------------------------------------- */

static enum lqn_read_status fail(const struct lqn_reader *reader, char **problem, const char *what)
{
	*problem = g_strdup_printf("the records in `%s`, at byte %" PRIu64 ": %s", reader->path,
		reader->offset + reader->next, what);
	return LQN_READ_BAD;
}

/* Makes room behind what has come. */
static void make_room(struct lqn_reader *reader)
{
	memmove(reader->bytes, reader->bytes + reader->next, reader->n - reader->next);
	reader->offset += reader->next;
	reader->n -= reader->next;
	reader->next = 0;
	if (reader->n > reader->size / 2) {
		reader->size *= 2;
		reader->bytes = g_realloc(reader->bytes, reader->size);
	}
}

/* Makes at least `size` bytes be there. */
static enum lqn_read_status want(struct lqn_reader *reader, size_t size, char **problem)
{
	while (reader->n - reader->next < size) {
		struct pollfd ready = { .fd = reader->fd, .events = POLLIN };
		ssize_t n;

		if (poll(&ready, 1, PATIENCE_MS) <= 0) {
			return LQN_READ_AGAIN;
		}
		make_room(reader);
		n = read(reader->fd, reader->bytes + reader->n, reader->size - reader->n);
		if (n == 0) {
			return fail(reader, problem, "cut off; whoever wrote them has failed or was killed");
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			return fail(reader, problem, g_strerror(errno));
		}
		reader->n += n > 0 ? (size_t) n : 0;
	}
	return LQN_READ_OK;
}

static enum lqn_read_status read_head(struct lqn_reader *reader, char **problem)
{
	enum lqn_read_status status = want(reader, sizeof(lqn_records_head), problem);

	if (status != LQN_READ_OK) {
		return status;
	}
	if (memcmp(reader->bytes, lqn_records_head.magic, sizeof(lqn_records_head.magic)) != 0) {
		return fail(reader, problem, "these are no records of sink.lqn.records");
	}
	if (memcmp(reader->bytes, &lqn_records_head, sizeof(lqn_records_head)) != 0) {
		return fail(reader, problem, "written by another build of this plugin");
	}
	reader->next += sizeof(lqn_records_head);
	reader->begun = true;
	return LQN_READ_OK;
}

/* ---- parts of frames ------------------------------------------------------ */

/* What is left of a frame. */
struct rest {
	const uint8_t *at;
	size_t n;
};

/* The next `size` bytes of the frame, and what they are padded with; NULL: there are fewer. */
static const void *take(struct rest *rest, size_t size)
{
	const uint8_t *at = rest->at;
	const size_t padded = lqn_frame_padded(size);

	if (size > rest->n || padded > rest->n) {
		return NULL;
	}
	rest->at += padded;
	rest->n -= padded;
	return at;
}

/* The string at *text, which is moved behind it; NULL: none ends before `end`. */
static const char *take_string(const char **text, const char *end)
{
	const char *string = *text, *zero = string < end ? memchr(string, 0, (size_t) (end - string)) : NULL;

	if (!zero) {
		return NULL;
	}
	*text = zero + 1;
	return string;
}

static char *dup_unless_empty(const char *text)
{
	return *text != '\0' ? g_strdup(text) : NULL;
}

/* ---- frames -------------------------------------------------------------- */

/* Each fills reader->told from a frame of its type; false: there is something wrong with it. */

static bool get_stream(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	const struct lqn_frame_stream *frame = (const void *) head;
	const char *text = (const char *) rest->at, *end = text + rest->n;
	const char *trace = take_string(&text, end), *host = take_string(&text, end), *release = take_string(&text, end),
		*domain = take_string(&text, end);
	struct lqn_told_stream *stream;

	if (!domain || head->stream != reader->streams->len) {
		return false;
	}
	stream = g_new0(struct lqn_told_stream, 1);
	stream->has_uuid = frame->has_uuid;
	memcpy(stream->uuid, frame->uuid, sizeof(stream->uuid));
	memcpy(stream->clock, frame->clock, sizeof(stream->clock));
	stream->trace = frame->has_trace ? g_strdup(trace) : NULL;
	stream->class_id = frame->class_id;
	stream->id = frame->id;
	stream->host = g_strdup(host);
	stream->release = dup_unless_empty(release);
	stream->domain = dup_unless_empty(domain);
	stream->kernel = frame->kernel;
	stream->packets = frame->packets;
	stream->switches = frame->switches;
	stream->wakings = frame->wakings;
	stream->dated = frame->dated;
	stream->epoch = frame->epoch;
	g_ptr_array_add(reader->streams, stream);
	return true;
}

static bool get_stream_end(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	reader->ending = head->stream + 1;
	return true;
}

static bool get_bare(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	return true;
}

static bool get_packet(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	reader->told.cpu = ((const struct lqn_frame_packet *) (const void *) head)->cpu;
	return true;
}

static bool get_loss(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	const struct lqn_frame_loss *frame = (const void *) head;

	reader->told.loss.end = frame->end;
	reader->told.loss.count = frame->count;
	return true;
}

static bool get_class(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	const char *text = (const char *) rest->at, *name = take_string(&text, text + rest->n);
	struct lqn_told_class *class;

	if (!name) {
		return false;
	}
	class = g_new0(struct lqn_told_class, 1);
	class->name = g_intern_string(name);
	class->id = ((const struct lqn_frame_class *) (const void *) head)->id;
	g_ptr_array_add(reader->classes, class);
	return true;
}

static bool get_end(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	reader->events = ((const struct lqn_frame_end *) (const void *) head)->events;
	reader->last = head->ts;
	reader->ended = true;
	return true;
}

/* Whether such a record can be told so, and be worked on. */
static bool is_possible(enum lqn_told_type told, const struct lqn_record *rec)
{
	const unsigned kinds = rec->type == LQN_REC_CALL_ENTRY || rec->type == LQN_REC_CALL_EXIT ? LQN_CALL_COUNT :
		rec->type == LQN_REC_CONTEXT_ENTRY || rec->type == LQN_REC_CONTEXT_EXIT ? LQN_CTX_COUNT : UINT8_MAX + 1;

	return rec->type < LQN_REC_COUNT && rec->kind < kinds && lqn_record_is_span(rec->type) == (told == LQN_TOLD_SPAN) &&
		(rec->type == LQN_REC_OTHER) == (told == LQN_TOLD_MARK);
}

/* Takes the union of a record, and makes its strings end. */
static bool get_body(struct lqn_record *rec, const void *body, size_t size)
{
	if (!body || size > LQN_RECORD_BODY_MAX) {
		return false;
	}
	memcpy((char *) rec + LQN_RECORD_BODY, body, size);
	switch (rec->type) {
	case LQN_REC_SWITCH:
		rec->sw.prev_comm[LQN_COMM_LEN - 1] = rec->sw.next_comm[LQN_COMM_LEN - 1] = '\0';
		break;
	case LQN_REC_FORK:
		rec->fork.child_comm[LQN_COMM_LEN - 1] = '\0';
		break;
	case LQN_REC_CONTEXT_ENTRY:
	case LQN_REC_CONTEXT_EXIT:
	case LQN_REC_SOFTIRQ_RAISE:
	case LQN_REC_STATE_IRQ:
		rec->irq.name[LQN_COMM_LEN - 1] = '\0';
		break;
	case LQN_REC_CALL_EXIT:
		rec->exit.n_fds = CLAMP(rec->exit.n_fds, 0, LQN_RECORD_FDS);
		break;
	default:
		break;
	}
	return size == lqn_record_body(rec);
}

/* Takes the text of a record; a span's second one must begin within. */
static bool get_text(struct lqn_told *told, struct rest *rest)
{
	struct lqn_record *rec = &told->event.rec;
	const uint64_t *len = take(rest, sizeof(*len));
	const char *text;

	/* the text begins right behind its length, and its last byte is a zero */
	if (!len || *len >= rest->n || ((const char *) rest->at)[*len] != '\0') {
		return false;
	}
	text = take(rest, *len + 1);
	if (!text || (told->type == LQN_TOLD_SPAN && rec->span.service > *len)) {
		return false;
	}
	rec->text = g_malloc(*len + 1);
	memcpy(rec->text, text, *len + 1);
	return true;
}

static bool get_event(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest)
{
	const struct lqn_frame_event *frame = (const void *) head;
	struct lqn_told *told = &reader->told;
	struct lqn_record *rec = &told->event.rec;

	memset(&told->event, 0, sizeof(told->event));
	rec->ts = head->ts;
	rec->cpu = frame->cpu;
	rec->tid = frame->tid;
	rec->type = frame->type;
	rec->kind = frame->kind;
	told->event.first = frame->first;
	told->event.of_file = frame->of_file;
	if (frame->class == 0 || frame->class > reader->classes->len || head->ts == LQN_TOLD_UNDATED ||
			!is_possible(told->type, rec) || !get_body(rec, take(rest, frame->body), frame->body)) {
		return false;
	}
	told->event.class = reader->classes->pdata[frame->class - 1];
	rec->name = told->event.class->name;
	if (frame->has_text && !get_text(told, rest)) {
		return false;
	}
	if (frame->has_host) {
		const char *text = (const char *) rest->at;

		told->event.host = take_string(&text, text + rest->n);
		return told->event.host != NULL;
	}
	return true;
}

static const struct {
	bool (*get)(struct lqn_reader *reader, const struct lqn_frame *head, struct rest *rest);
	size_t size;		/* of what is always there */
	bool of_stream;		/* `stream` must be one that has begun, and not ended */
	bool told;		/* it is for whoever is told */
} getters[LQN_FRAME_TYPES] = {
	[LQN_TOLD_STREAM] = { get_stream, sizeof(struct lqn_frame_stream), false, true },
	[LQN_TOLD_STREAM_END] = { get_stream_end, sizeof(struct lqn_frame), true, true },
	[LQN_TOLD_PACKET] = { get_packet, sizeof(struct lqn_frame_packet), true, true },
	[LQN_TOLD_PACKET_END] = { get_bare, sizeof(struct lqn_frame), true, true },
	[LQN_TOLD_KERNEL] = { get_event, sizeof(struct lqn_frame_event), true, true },
	[LQN_TOLD_SPAN] = { get_event, sizeof(struct lqn_frame_event), true, true },
	[LQN_TOLD_MARK] = { get_event, sizeof(struct lqn_frame_event), true, true },
	[LQN_TOLD_LOSS] = { get_loss, sizeof(struct lqn_frame_loss), true, true },
	[LQN_FRAME_CLASS] = { get_class, sizeof(struct lqn_frame_class), false, false },
	[LQN_FRAME_END] = { get_end, sizeof(struct lqn_frame_end), false, false },
};

/* Takes the frame that is there. */
static bool get(struct lqn_reader *reader, const struct lqn_frame *frame)
{
	const size_t size = getters[frame->type].size;
	struct rest rest = { (const uint8_t *) frame + size, frame->size - size };

	if (getters[frame->type].of_stream &&
			(frame->stream >= reader->streams->len || !reader->streams->pdata[frame->stream])) {
		return false;
	}
	reader->told.type = getters[frame->type].told ? (enum lqn_told_type) frame->type : LQN_TOLD_TIME;
	reader->told.ts = frame->ts;
	if (!getters[frame->type].get(reader, frame, &rest)) {
		return false;
	}
	reader->told.stream = getters[frame->type].told ? reader->streams->pdata[frame->stream] : NULL;
	return true;
}

enum lqn_read_status lqn_reader_next(struct lqn_reader *reader, struct lqn_told **told, char **problem)
{
	enum lqn_read_status status = LQN_READ_OK;

	forget_last(reader);
	if (G_UNLIKELY(!reader->begun)) {
		status = read_head(reader, problem);
	}
	while (status == LQN_READ_OK && !reader->ended) {
		const struct lqn_frame *frame;

		status = want(reader, sizeof(*frame), problem);
		if (status != LQN_READ_OK) {
			break;
		}
		frame = (const void *) (reader->bytes + reader->next);
		if (frame->type >= LQN_FRAME_TYPES || !getters[frame->type].get || frame->size % 8 != 0 ||
				frame->size < getters[frame->type].size) {
			return fail(reader, problem, "damaged: no such piece");
		}
		status = want(reader, frame->size, problem);
		if (status != LQN_READ_OK) {
			break;
		}
		frame = (const void *) (reader->bytes + reader->next);	/* it may have moved */
		if (!get(reader, frame)) {
			return fail(reader, problem, "damaged");
		}
		reader->next += frame->size;
		if (getters[frame->type].told) {
			*told = &reader->told;
			return LQN_READ_OK;
		}
	}
	return status == LQN_READ_OK ? LQN_READ_END : status;
}
