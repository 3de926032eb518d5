/* SPDX-License-Identifier: MIT */

/*
 * Requests of block devices: which device a thread works with, and when its requests were handed
 * over, reached the device, and were done. They are known by device and first sector while they are
 * under way; of two that fall into one slot the later one counts.
 */
#include "causal/engine.h"

static struct lqn_io *slot_of(struct lqn_causal *c, const struct lqn_record *rec)
{
	uint64_t hash = (rec->block.sector ^ rec->block.dev << 40) * 0x9e3779b97f4a7c15u;

	return &c->ios[hash >> 32 & (LQN_IO_SLOTS - 1)];
}

static bool is_of(const struct lqn_io *io, const struct lqn_record *rec)
{
	return io->begin > 0 && io->device == rec->block.dev && io->sector == rec->block.sector;
}

/* Who the trace says. */
static struct lqn_thread *named(const struct lqn_step *step)
{
	return step->rec->block.tid > 0 ?
		lqn_host_find_thread(&step->causal->host, step->rec->block.tid) : NULL;
}

/* Whose request it is: who the trace says, else who runs. */
static struct lqn_thread *owner(const struct lqn_step *step)
{
	struct lqn_thread *thread = named(step);

	return thread ? thread : lqn_cpu_in_task(step->cpu) ? step->thread : NULL;
}

static void begin(const struct lqn_step *step, bool issued)
{
	const struct lqn_record *rec = step->rec;
	const struct lqn_thread *thread = owner(step);

	if (rec->block.sector != UINT64_MAX) {
		*slot_of(step->causal, rec) = (struct lqn_io) {
			.device = rec->block.dev, .sector = rec->block.sector,
			.thread = thread ? thread->key : 0, .begin = rec->ts,
			.issued = issued ? rec->ts : -1,
		};
	}
}

void lqn_step_block_insert(struct lqn_step *step)
{
	begin(step, false);
}

void lqn_step_block_issue(struct lqn_step *step)
{
	struct lqn_record *rec = step->rec;
	struct lqn_io *io = slot_of(step->causal, rec);
	struct lqn_thread *thread = named(step);

	if (thread) {
		thread->device = rec->block.dev;
	}
	if (step->thread && lqn_cpu_in_task(step->cpu)) {
		step->thread->device = rec->block.dev;
	}
	if (is_of(io, rec) && io->issued < 0) {
		/* a kernel worker may hand over what another has queued: it stays that one's */
		io->issued = rec->ts;
	} else {
		begin(step, true);
	}
}

void lqn_step_block_complete(struct lqn_step *step)
{
	const struct lqn_record *rec = step->rec;
	struct lqn_io *io = slot_of(step->causal, rec);

	/* a kernel thread that takes completions does so for the device, as an interrupt does */
	if (step->cpu->depth > 0 || (step->thread && step->thread->kernel)) {
		step->cpu->completed = rec->block.dev;
	}
	if (is_of(io, rec) && io->issued >= 0) {
		struct lqn_event ev = { .type = LQN_EV_IO };

		ev.io.thread = io->thread;
		ev.io.device = io->device;
		ev.io.begin = io->begin;
		ev.io.issued = io->issued;
		ev.io.end = rec->ts;
		lqn_causal_emit(step->causal, &ev);
		io->begin = 0;
	}
}
