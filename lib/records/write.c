/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE	/* F_SETPIPE_SZ */
#include "records/write.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "records/format.h"

#define ENOUGH (64 * 1024)	/* bytes that are written at a time */
#define PIPE (1024 * 1024)	/* bytes in a pipe, if the system allows: who reads may be busy elsewhere */

struct lqn_writer {
	char *path;		/* owned */
	int fd;
	GByteArray *bytes;	/* owned */
	uint32_t n_streams, n_classes;
	int64_t last;		/* ns; the latest time */
};

struct lqn_writer *lqn_writer_new(const char *path, char **problem)
{
	struct lqn_writer *writer;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0) {
		*problem = g_strdup_printf("cannot open `%s`: %s", path, g_strerror(errno));
		return NULL;
	}
	fcntl(fd, F_SETPIPE_SZ, PIPE);	/* no pipe, or not allowed: then it is slower */
	writer = g_new0(struct lqn_writer, 1);
	writer->path = g_strdup(path);
	writer->fd = fd;
	writer->bytes = g_byte_array_sized_new(2 * ENOUGH);
	writer->last = LQN_TOLD_UNDATED;
	g_byte_array_append(writer->bytes, (const guint8 *) &lqn_records_head, sizeof(lqn_records_head));
	return writer;
}

void lqn_writer_free(struct lqn_writer *writer)
{
	if (!writer) {
		return;
	}
	close(writer->fd);
	g_byte_array_free(writer->bytes, TRUE);
	g_free(writer->path);
	g_free(writer);
}

/* ---- frames -------------------------------------------------------------- */

/* The end of what there is, with `size` more bytes there, to the next multiple of 8; the last 8 are zero. */
static void *more(struct lqn_writer *writer, size_t size)
{
	const guint at = writer->bytes->len;
	const size_t padded = lqn_frame_padded(size);

	g_byte_array_set_size(writer->bytes, at + (guint) padded);
	if (padded > 0) {
		memset(writer->bytes->data + at + padded - 8, 0, 8);
	}
	return writer->bytes->data + at;
}

/* Begins a frame, all of which is zero. Returns where. */
static guint begin(struct lqn_writer *writer, const struct lqn_told *told, unsigned type, size_t size)
{
	const guint at = writer->bytes->len;
	struct lqn_frame *frame = more(writer, size);

	memset(frame, 0, lqn_frame_padded(size));
	frame->type = type;
	frame->stream = told && told->stream ? told->stream->number : 0;
	frame->ts = told ? told->ts : writer->last;
	return at;
}

static void *frame_at(struct lqn_writer *writer, guint at)
{
	return writer->bytes->data + at;
}

static bool end(struct lqn_writer *writer, guint at, char **problem)
{
	const size_t size = writer->bytes->len - at;

	if (size >= LQN_FRAME_MAX) {
		*problem = g_strdup_printf("an event's text of %zu bytes is too long", size);
		return false;
	}
	((struct lqn_frame *) frame_at(writer, at))->size = (uint32_t) size;
	return writer->bytes->len < ENOUGH || lqn_writer_flush(writer, problem);
}

static void put_strings(struct lqn_writer *writer, const char *const *strings, size_t n)
{
	GString *all = g_string_new(NULL);

	for (size_t i = 0; i < n; i++) {
		g_string_append_len(all, strings[i] ? strings[i] : "",
			(gssize) (strings[i] ? strlen(strings[i]) : 0) + 1);
	}
	memcpy(more(writer, all->len), all->str, all->len);
	g_string_free(all, TRUE);
}

static bool put_stream(struct lqn_writer *writer, struct lqn_told *told, char **problem)
{
	struct lqn_told_stream *stream = told->stream;
	const char *const strings[] = { stream->trace, stream->host, stream->release, stream->domain };
	struct lqn_frame_stream *frame;
	guint at;

	stream->number = writer->n_streams++;
	at = begin(writer, told, told->type, sizeof(*frame));
	frame = frame_at(writer, at);
	frame->class_id = stream->class_id;
	frame->id = stream->id;
	frame->has_uuid = stream->has_uuid;
	memcpy(frame->uuid, stream->uuid, sizeof(frame->uuid));
	memcpy(frame->clock, stream->clock, sizeof(frame->clock));
	frame->has_trace = stream->trace != NULL;
	frame->kernel = stream->kernel;
	frame->packets = stream->packets;
	frame->switches = stream->switches;
	frame->wakings = stream->wakings;
	frame->dated = stream->dated;
	frame->epoch = stream->epoch;
	put_strings(writer, strings, G_N_ELEMENTS(strings));
	return end(writer, at, problem);
}

static bool put_time(struct lqn_writer *writer, struct lqn_told *told, char **problem)
{
	return true;	/* writer->last has it */
}

static bool put_bare(struct lqn_writer *writer, struct lqn_told *told, char **problem)
{
	return end(writer, begin(writer, told, told->type, sizeof(struct lqn_frame)), problem);
}

static bool put_packet(struct lqn_writer *writer, struct lqn_told *told, char **problem)
{
	const guint at = begin(writer, told, told->type, sizeof(struct lqn_frame_packet));

	((struct lqn_frame_packet *) frame_at(writer, at))->cpu = told->cpu;
	return end(writer, at, problem);
}

static bool put_loss(struct lqn_writer *writer, struct lqn_told *told, char **problem)
{
	const guint at = begin(writer, told, told->type, sizeof(struct lqn_frame_loss));
	struct lqn_frame_loss *frame = frame_at(writer, at);

	frame->end = told->loss.end;
	frame->count = told->loss.count;
	return end(writer, at, problem);
}

static bool put_class(struct lqn_writer *writer, struct lqn_told_class *class, char **problem)
{
	const guint at = begin(writer, NULL, LQN_FRAME_CLASS, sizeof(struct lqn_frame_class));

	class->number = ++writer->n_classes;
	((struct lqn_frame_class *) frame_at(writer, at))->id = class->id;
	put_strings(writer, &class->name, 1);
	return end(writer, at, problem);
}

static void put_text(struct lqn_writer *writer, const struct lqn_record *rec)
{
	/* of a span it is two strings: the second is where `service` says */
	const bool two = lqn_record_is_span(rec->type) && rec->span.service > 0;
	const size_t first = two ? rec->span.service : 0;
	const uint64_t len = first + strlen(rec->text + first);
	char *to = more(writer, sizeof(len) + len + 1);

	memcpy(to, &len, sizeof(len));
	memcpy(to + sizeof(len), rec->text, len + 1);
}

static bool put_event(struct lqn_writer *writer, struct lqn_told *told, char **problem)
{
	struct lqn_record *rec = &told->event.rec;
	const size_t body = lqn_record_body(rec);
	struct lqn_frame_event *frame;
	guint at;
	bool ok;

	if (G_UNLIKELY(told->event.class->number == 0) && !put_class(writer, told->event.class, problem)) {
		return false;
	}
	at = writer->bytes->len;
	frame = more(writer, sizeof(*frame) + body);
	*frame = (struct lqn_frame_event) {
		.frame = { .type = told->type, .stream = told->stream->number, .ts = told->ts },
		.class = told->event.class->number, .cpu = rec->cpu, .tid = rec->tid,
		.type = rec->type, .kind = rec->kind, .body = (uint8_t) body,
		.first = told->event.first, .of_file = told->event.of_file,
		.has_text = rec->text != NULL, .has_host = told->event.host != NULL,
	};
	memcpy(frame + 1, (const char *) rec + LQN_RECORD_BODY, body);
	if (rec->text) {
		put_text(writer, rec);
	}
	if (told->event.host) {
		put_strings(writer, &told->event.host, 1);
	}
	ok = end(writer, at, problem);
	g_free(rec->text);
	rec->text = NULL;
	return ok;
}

static bool (*const putters[LQN_TOLD_COUNT])(struct lqn_writer *writer, struct lqn_told *told, char **problem) = {
	[LQN_TOLD_STREAM] = put_stream,
	[LQN_TOLD_STREAM_END] = put_bare,
	[LQN_TOLD_PACKET] = put_packet,
	[LQN_TOLD_PACKET_END] = put_bare,
	[LQN_TOLD_KERNEL] = put_event,
	[LQN_TOLD_SPAN] = put_event,
	[LQN_TOLD_MARK] = put_event,
	[LQN_TOLD_LOSS] = put_loss,
	[LQN_TOLD_TIME] = put_time,
};

bool lqn_writer_put(struct lqn_writer *writer, struct lqn_told *told, char **problem)
{
	writer->last = MAX(writer->last, told->ts);
	return putters[told->type](writer, told, problem);
}

bool lqn_writer_flush(struct lqn_writer *writer, char **problem)
{
	for (size_t done = 0; done < writer->bytes->len;) {
		ssize_t n = write(writer->fd, writer->bytes->data + done, writer->bytes->len - done);

		if (n < 0 && errno != EINTR) {
			*problem = g_strdup_printf("cannot write `%s`: %s", writer->path, g_strerror(errno));
			return false;
		}
		done += n > 0 ? (size_t) n : 0;
	}
	g_byte_array_set_size(writer->bytes, 0);
	return true;
}

bool lqn_writer_end(struct lqn_writer *writer, uint64_t events, char **problem)
{
	const guint at = begin(writer, NULL, LQN_FRAME_END, sizeof(struct lqn_frame_end));

	((struct lqn_frame_end *) frame_at(writer, at))->events = events;
	return end(writer, at, problem) && lqn_writer_flush(writer, problem);
}
