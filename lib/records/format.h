/* SPDX-License-Identifier: MIT */
#ifndef LQN_RECORDS_FORMAT_H
#define LQN_RECORDS_FORMAT_H

/*
 * Private to lib/records: what is told, as bytes, from one process to another of the same build on the same machine;
 * numbers and records are as they lie in memory. A head, then frames, each a multiple of 8 bytes long and zero
 * where nothing is said; the last is END.
 */
#include <stddef.h>
#include <stdint.h>

#include "records/told.h"

#define LQN_RECORDS_MAGIC "lqn-rec"
#define LQN_RECORDS_VERSION 2	/* to be raised with each change of the frames or of struct lqn_record */

struct lqn_records_head {
	char magic[8];
	uint32_t version, order;	/* order: 1 */
	/* what a build knows */
	uint16_t record, types, contexts, calls;
};

/* Types of frames: those of enum lqn_told_type, and these. */
enum {
	LQN_FRAME_CLASS = LQN_TOLD_COUNT,	/* what the next class is called: its id, then its name, closed by a zero */
	LQN_FRAME_END,				/* struct lqn_frame_end; `ts` is the last time that was read */
	LQN_FRAME_TYPES
};

#define LQN_FRAME_MAX (1u << 24)	/* bytes, not included */

struct lqn_frame {
	uint32_t size : 24, type : 8;	/* bytes, these among them */
	uint32_t stream;		/* the number of streams before it */
	int64_t ts;
};

/* Then strings, each closed by a zero: trace, host, release, domain; "" is none. */
struct lqn_frame_stream {
	struct lqn_frame frame;
	uint64_t class_id, id;
	uint8_t uuid[16], clock[16];
	uint8_t has_uuid, has_trace, kernel, packets, switches, wakings, dated, epoch;
};

struct lqn_frame_packet {
	struct lqn_frame frame;
	int32_t cpu;
	uint32_t pad;
};

struct lqn_frame_loss {
	struct lqn_frame frame;
	int64_t end;
	uint64_t count;
};

struct lqn_frame_class {
	struct lqn_frame frame;
	uint64_t id;
};

/*
 * Then `body` bytes of the record's union, and as many as make 8; then, if has_text, its number of bytes (uint64_t),
 * these, and a zero; then, if has_host, a string.
 */
struct lqn_frame_event {
	struct lqn_frame frame;
	uint32_t class;		/* the number of classes up to it */
	int32_t cpu, tid;
	uint8_t type, kind, body;
	uint8_t first : 1, of_file : 1, has_text : 1, has_host : 1;
};

struct lqn_frame_end {
	struct lqn_frame frame;
	uint64_t events;	/* read, of any kind */
};

static inline size_t lqn_frame_padded(size_t size)
{
	return (size + 7) & ~(size_t) 7;
}

/* Where a record's union is. */
#define LQN_RECORD_BODY offsetof(struct lqn_record, sw)
#define LQN_RECORD_BODY_MAX (sizeof(struct lqn_record) - LQN_RECORD_BODY)

/* How many bytes of its union a record uses. */
size_t lqn_record_body(const struct lqn_record *rec);

/* What this build writes, and takes. */
extern const struct lqn_records_head lqn_records_head;

#endif
