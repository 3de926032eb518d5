/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_DECODE_H
#define LQN_PLUGIN_DECODE_H

/* From `lqn:` events of a trace back to struct lqn_event. */
#include <babeltrace2/babeltrace.h>

#include "event/event.h"

struct lqn_decoder;

/* Free with lqn_decoder_free(). */
struct lqn_decoder *lqn_decoder_new(void);
void lqn_decoder_free(struct lqn_decoder *decoder);

enum lqn_decode_status {
	LQN_DECODE_OK,
	LQN_DECODE_FOREIGN,	/* not an `lqn:` event, or one of a later version */
	LQN_DECODE_NO_TIME,	/* … or one out of range: `ev` has its type alone */
	LQN_DECODE_NO_MEMORY,
};

/*
 * Fills `ev` from the event of a message. Its strings are borrowed from that and never NULL. Fields
 * that the event class lacks, and values of another type, are 0 or "".
 */
enum lqn_decode_status lqn_decoder_decode(struct lqn_decoder *decoder, const bt_message *msg,
	struct lqn_event *ev);

#endif
