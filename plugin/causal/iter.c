/* SPDX-License-Identifier: MIT */

/*
 * The filter's message iterator. Each message goes on as it came (or is dropped), and what it
 * means goes to the engine of its host; what the engine concludes is queued right behind it.
 */
#include "plugin/causal/causal.h"

#include <glib.h>

#include "plugin/causal/decode.h"
#include "plugin/causal/hosts.h"
#include "plugin/causal/inputs.h"

struct causal_iter {
	const struct causal_params *params;	/* borrowed */
	struct inputs inputs;
	struct decoder decoder;
	struct hosts hosts;
};

/* Takes over the reference `msg`; on failure an error cause is there. */
static bool handle(struct causal_iter *iter, const bt_message *msg)
{
	struct decoded decoded;
	bool forward, ok;

	decoder_look(&iter->decoder, msg, &decoded);
	/*
	 * Messages without a stream are the only sign of time from a quiet live source. A sink that is
	 * handed our events has no use for others than such.
	 */
	forward = (iter->params->pass_through && !iter->hosts.handover) || !decoded.up || decoded.up->own;
	/* First, since what the engine makes of it must come behind it, and what it makes of what came before in front. */
	if (forward) {
		hosts_work(&iter->hosts);
		queue_push(&iter->hosts.queue, msg);
	}
	iter->hosts.cs = decoded.cs;
	ok = decoder_tell(&iter->decoder, &decoded);
	if (!forward) {
		bt_message_put_ref(msg);
	}
	return ok;
}

/* Fills the queue from upstream's next batch; its status, or an error of our own. */
static bt_message_iterator_class_next_method_status fetch(void *payload)
{
	struct causal_iter *iter = payload;
	bt_message_array_const msgs;
	uint64_t n;
	bt_message_iterator_next_status status = inputs_next(&iter->inputs, &msgs, &n);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		decoder_log_missing(&iter->decoder);
		return hosts_end(&iter->hosts, iter->decoder.events, iter->decoder.own_events);
	}
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN) {
		return hosts_again(&iter->hosts);
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		HOSTS_FAIL(&iter->hosts, "The upstream iterator failed");
		return (int) status;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (!handle(iter, msgs[i])) {
			while (++i < n) {
				bt_message_put_ref(msgs[i]);
			}
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
		}
	}
	return hosts_after_batch(&iter->hosts);
}

/* ---- methods ------------------------------------------------------------- */

bt_message_iterator_class_initialize_method_status causal_iter_init(
	bt_self_message_iterator *self_iter, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port)
{
	struct causal_iter *iter = g_new0(struct causal_iter, 1);
	bt_self_component *self = bt_self_message_iterator_borrow_component(self_iter);
	bt_message_iterator_class_initialize_method_status status =
		inputs_init(&iter->inputs, self_iter);

	if (status != BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK) {
		g_free(iter);
		return status;
	}
	iter->params = &((const struct causal *) bt_self_component_get_data(self))->params;
	hosts_init(&iter->hosts, self_iter, iter->params, port);
	decoder_init(&iter->decoder, self, iter->params->spans, hosts_take, &iter->hosts);
	bt_self_message_iterator_set_data(self_iter, iter);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void causal_iter_finalize(bt_self_message_iterator *self_iter)
{
	struct causal_iter *iter = bt_self_message_iterator_get_data(self_iter);

	decoder_clear(&iter->decoder);
	hosts_clear(&iter->hosts);
	inputs_clear(&iter->inputs);
	g_free(iter);
}

bt_message_iterator_class_next_method_status causal_iter_next(
	bt_self_message_iterator *self_iter, bt_message_array_const msgs, uint64_t capacity,
	uint64_t *count)
{
	struct causal_iter *iter = bt_self_message_iterator_get_data(self_iter);

	return hosts_next(&iter->hosts, msgs, capacity, count, fetch, iter);
}

bt_message_iterator_class_can_seek_beginning_method_status causal_iter_can_seek_beginning(
	bt_self_message_iterator *self_iter, bt_bool *can_seek)
{
	struct causal_iter *iter = bt_self_message_iterator_get_data(self_iter);

	return (int) inputs_can_seek_beginning(&iter->inputs, can_seek);
}

bt_message_iterator_class_seek_beginning_method_status causal_iter_seek_beginning(
	bt_self_message_iterator *self_iter)
{
	struct causal_iter *iter = bt_self_message_iterator_get_data(self_iter);

	decoder_clear(&iter->decoder);
	decoder_init(&iter->decoder, iter->hosts.self, iter->params->spans, hosts_take, &iter->hosts);
	hosts_restart(&iter->hosts);
	return (int) inputs_seek_beginning(&iter->inputs);
}
