/* SPDX-License-Identifier: MIT */
#include "records/format.h"

#define MEMBER(member) sizeof(((struct lqn_record *) 0)->member)

/* By what record.h says of each type. */
static const uint8_t bodies[LQN_REC_COUNT] = {
	[LQN_REC_SWITCH] = MEMBER(sw),
	[LQN_REC_WAKING] = MEMBER(wake),
	[LQN_REC_WAKEUP] = MEMBER(wake),
	[LQN_REC_WAKEUP_NEW] = MEMBER(wake),
	[LQN_REC_FORK] = MEMBER(fork),
	[LQN_REC_EXEC] = MEMBER(exec),
	[LQN_REC_EXIT] = MEMBER(life),
	[LQN_REC_FREE] = MEMBER(life),
	[LQN_REC_CONTEXT_ENTRY] = MEMBER(irq),
	[LQN_REC_CONTEXT_EXIT] = MEMBER(irq),
	[LQN_REC_SOFTIRQ_RAISE] = MEMBER(irq),
	[LQN_REC_CALL_ENTRY] = MEMBER(entry),
	[LQN_REC_CALL_EXIT] = MEMBER(exit),
	[LQN_REC_PACKET_QUEUE] = MEMBER(packet),
	[LQN_REC_PACKET_RECEIVE] = MEMBER(packet),
	[LQN_REC_PACKET_COPY] = MEMBER(packet),
	[LQN_REC_BLOCK_INSERT] = MEMBER(block),
	[LQN_REC_BLOCK_ISSUE] = MEMBER(block),
	[LQN_REC_BLOCK_COMPLETE] = MEMBER(block),
	[LQN_REC_STATE_PROCESS] = MEMBER(state),
	[LQN_REC_STATE_FD] = MEMBER(state),
	[LQN_REC_STATE_NAMESPACE] = MEMBER(inside),
	[LQN_REC_STATE_IRQ] = MEMBER(irq),
	[LQN_REC_SPAN_BEGIN] = MEMBER(span),
	[LQN_REC_SPAN_END] = MEMBER(span),
	[LQN_REC_SPAN_MESSAGE] = MEMBER(span),
};

const struct lqn_records_head lqn_records_head = {
	LQN_RECORDS_MAGIC, LQN_RECORDS_VERSION, 1, sizeof(struct lqn_record), LQN_REC_COUNT, LQN_CTX_COUNT, LQN_CALL_COUNT,
};

size_t lqn_record_body(const struct lqn_record *rec)
{
	/* most calls return no descriptors */
	if (rec->type == LQN_REC_CALL_EXIT && rec->exit.n_fds >= 0 && rec->exit.n_fds < LQN_RECORD_FDS) {
		return offsetof(struct lqn_record, exit.fd) - LQN_RECORD_BODY +
			(size_t) rec->exit.n_fds * sizeof(rec->exit.fd[0]);
	}
	return bodies[rec->type];
}
