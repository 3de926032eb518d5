/* SPDX-License-Identifier: MIT */
#include "plugin/causal/hosts.h"

#include <inttypes.h>
#include <string.h>

#include "plugin/causal/host.h"
#include "plugin/causal/own-stream.h"
#include "plugin/common/log.h"

/*
 * Events that are handed over at a time, at least; but what is there after so many batches goes as
 * well.
 */
#define HANDED 64
#define HANDED_AFTER 64
/*
 * Records that engines are told of at a time, at least, and at most. After each batch of messages, which is 15, what
 * engines need and what reading needs would drive each other out of the first caches.
 */
#define RECORDS 1024
#define RECORDS_MAX 1280
#define SEEN_MAX 400		/* bytes of trace names in an error message */

/* What is noted of an open stream. */
struct taken {
	struct host *host;		/* borrowed */
	bool kernel;			/* of a kernel trace */
	bool waits;			/* it has packets, and none has come */
	int32_t cpu;			/* of the last packet; -1: not said */
	int64_t end;			/* ns; of the last packet; -1: none has ended */
};

/* A record that the engine has not been told of. */
struct waiting {
	struct host *host;		/* borrowed */
	struct lqn_record rec;
};

/* ---- streams ------------------------------------------------------------- */

static void note_seen(struct hosts *hosts, const struct lqn_told_stream *stream)
{
	char *text = g_strdup_printf("`%s` (domain %s)", stream->trace ? stream->trace : "unnamed",
		stream->domain ? stream->domain : "unknown");

	if (hosts->seen->len < SEEN_MAX && !strstr(hosts->seen->str, text)) {
		g_string_append_printf(hosts->seen, "%s%s", hosts->seen->len ? ", " : "", text);
	}
	g_free(text);
}

static void packet_came(struct taken *taken)
{
	taken->host->waiting -= taken->waits;
	taken->waits = false;
}

/* ---- what is told -------------------------------------------------------- */

static bool take_stream(struct hosts *hosts, struct taken *none, struct lqn_told *told)
{
	struct taken *taken = g_new0(struct taken, 1);

	taken->host = hosts_host(hosts, told->stream);
	taken->kernel = told->stream->kernel;
	taken->waits = taken->kernel && told->stream->packets;
	taken->cpu = -1;
	taken->end = -1;
	taken->host->switches |= told->stream->switches;
	taken->host->wakings |= told->stream->wakings;
	taken->host->open += taken->kernel;
	taken->host->waiting += taken->waits;
	note_seen(hosts, told->stream);
	told->stream->taken = taken;
	g_hash_table_add(hosts->streams, taken);
	return true;
}

static bool take_stream_end(struct hosts *hosts, struct taken *taken, struct lqn_told *told)
{
	/* a part of the trace that follows (a rotation chunk) goes on with the CPU */
	if (taken->kernel && taken->host->engine && taken->host->waiting == 0) {
		lqn_causal_cpu_ends(taken->host->engine, taken->cpu, taken->end);
	}
	packet_came(taken);
	taken->host->open -= taken->kernel;
	told->stream->taken = NULL;
	g_hash_table_remove(hosts->streams, taken);
	return true;
}

static bool take_packet(struct hosts *hosts, struct taken *taken, struct lqn_told *told)
{
	taken->cpu = told->cpu;
	packet_came(taken);
	return true;
}

static bool take_packet_end(struct hosts *hosts, struct taken *taken, struct lqn_told *told)
{
	taken->end = told->ts != LQN_TOLD_UNDATED ? told->ts : taken->host->last;
	return true;
}

static void push(struct host *host, struct lqn_told *told)
{
	lqn_causal_push(host->engine, &told->event.rec);
	told->event.rec.text = NULL;
}

void hosts_work(struct hosts *hosts)
{
	for (unsigned i = 0; i < hosts->n_waiting; i++) {
		struct waiting *it = &hosts->waiting[i];

		own_trace_set_ns(hosts->own, it->rec.ts);
		lqn_causal_push(it->host->engine, &it->rec);
	}
	if (hosts->n_waiting > 0) {
		hosts->n_waiting = 0;
		own_trace_set_ns(hosts->own, hosts->now);
	}
}

static void wait(struct hosts *hosts, struct host *host, struct lqn_told *told)
{
	struct waiting *it = &hosts->waiting[hosts->n_waiting++];

	it->host = host;
	it->rec = told->event.rec;
	told->event.rec.text = NULL;
	if (hosts->n_waiting == RECORDS_MAX) {
		hosts_work(hosts);
	}
}

static bool take_kernel(struct hosts *hosts, struct taken *taken, struct lqn_told *told)
{
	struct host *host = taken->host;

	if (G_UNLIKELY(!host->engine)) {
		hosts_work(hosts);
		if (!host_start(hosts, host, told->stream)) {
			return false;
		}
	}
	hosts->kernel = true;
	host->kernel = true;
	host->last = MAX(host->last, told->ts);
	host->switches |= told->event.rec.type == LQN_REC_SWITCH;
	if (hosts->may_wait) {
		wait(hosts, host, told);
	} else {
		push(host, told);
	}
	return true;
}

/*
 * A span is of the host of its trace, if it was traced there. A file of spans is of no host; its
 * spans name theirs, though in a container they name that. Where one host alone has a kernel trace, it
 * can be no other.
 */
static bool take_span(struct hosts *hosts, struct taken *taken, struct lqn_told *told)
{
	struct host *host = told->event.of_file ? hosts_kernel_host(hosts, told->event.host) : taken->host;

	if (!host) {
		hosts->strays++;
		g_clear_pointer(&told->event.rec.text, g_free);
		return true;
	}
	if (!host->engine && !host_start(hosts, host, told->stream)) {
		return false;
	}
	push(host, told);
	return true;
}

static bool take_mark(struct hosts *hosts, struct taken *taken, struct lqn_told *told)
{
	if (!host_start(hosts, taken->host, told->stream)) {
		return false;
	}
	push(taken->host, told);
	return true;
}

static bool take_loss(struct hosts *hosts, struct taken *taken, struct lqn_told *told)
{
	if (!host_start(hosts, taken->host, told->stream)) {
		return false;
	}
	lqn_causal_lost(taken->host->engine, taken->cpu, told->ts, told->loss.end, told->loss.count);
	return true;
}

/* Beside the kernel's events, which are nearly all that is told. */
static bool (*const takers[LQN_TOLD_COUNT])(struct hosts *hosts, struct taken *taken, struct lqn_told *told) = {
	[LQN_TOLD_STREAM] = take_stream,
	[LQN_TOLD_STREAM_END] = take_stream_end,
	[LQN_TOLD_PACKET] = take_packet,
	[LQN_TOLD_PACKET_END] = take_packet_end,
	[LQN_TOLD_SPAN] = take_span,
	[LQN_TOLD_MARK] = take_mark,
	[LQN_TOLD_LOSS] = take_loss,
};

bool hosts_take(void *payload, struct lqn_told *told)
{
	struct hosts *hosts = payload;

	if (told->type != LQN_TOLD_KERNEL && told->type != LQN_TOLD_TIME) {
		hosts_work(hosts);
	}
	/*
	 * Of everything, not only of events: our own stream's end must not be earlier than any other message,
	 * and packets end after their last event.
	 */
	if (told->ts != LQN_TOLD_UNDATED) {
		hosts->now = MAX(hosts->now, told->ts);
		if (hosts->own && hosts->n_waiting == 0) {
			own_trace_set_time(hosts->own, hosts->cs, told->ts);
		}
	}
	if (G_LIKELY(told->type == LQN_TOLD_KERNEL)) {
		return take_kernel(hosts, told->stream->taken, told);
	}
	return told->type == LQN_TOLD_TIME || takers[told->type](hosts, told->stream->taken, told);
}

/* ---- the end ------------------------------------------------------------- */

static bool end(struct hosts *hosts, uint64_t events, uint64_t own)
{
	hosts_log_unused_snapshots(hosts);
	if (hosts->strays > 0) {
		lqn_log(hosts->self, BT_LOGGING_LEVEL_WARNING,
			"%" PRIu64 " begins and ends of spans left out: no kernel trace of their "
			"host at that time, or of several without a name that is theirs", hosts->strays);
	}
	if (!hosts_check_input(hosts, events, own)) {
		return false;
	}
	hosts_log_missing_wakings(hosts);
	/* In the order of the streams' ids, as a muxer orders events of the same time. */
	for (guint i = 0; i < hosts->started->len; i++) {
		struct host *host = g_ptr_array_index(hosts->started, i);

		/* What came later is another host's, and tells nothing of this one. */
		lqn_causal_finish(host->engine, host->kernel ? host->last : hosts->now);
		if (!own_stream_end(host->out)) {
			return hosts_out_of_memory(hosts);
		}
	}
	return true;
}

bt_message_iterator_class_next_method_status hosts_end(struct hosts *hosts, uint64_t events, uint64_t own)
{
	hosts->ended = true;
	hosts_work(hosts);
	return end(hosts, events, own) ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
		BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

/* ---- messages ------------------------------------------------------------ */

static bool has_messages(const struct hosts *hosts)
{
	return !queue_is_empty(&hosts->queue) || (hosts->own && own_trace_has_events(hosts->own));
}

/* Takes the next message (NULL: there is none). On failure, with an error cause, there may be one as well. */
static bool take_message(struct hosts *hosts, const bt_message **msg)
{
	*msg = NULL;
	if (hosts->own && !own_trace_take(hosts->own, msg)) {
		return hosts_out_of_memory(hosts);
	}
	if (!*msg) {
		*msg = queue_pop(&hosts->queue);
	}
	return true;
}

static bt_message_iterator_class_next_method_status hand_out(struct hosts *hosts, bt_message_array_const msgs,
	uint64_t capacity, uint64_t *count)
{
	for (*count = 0; *count < capacity; (*count)++) {
		if (!take_message(hosts, &msgs[*count])) {
			for (uint64_t i = 0; i <= *count; i++) {
				bt_message_put_ref(msgs[i]);
			}
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
		}
		if (!msgs[*count]) {
			break;
		}
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_message_iterator_class_next_method_status tell_time(struct hosts *hosts)
{
	hosts->untold = 0;
	return own_trace_tell_time(hosts->own) || hosts_out_of_memory(hosts) ?
		BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_next_method_status hosts_after_batch(struct hosts *hosts)
{
	if (hosts->n_waiting >= RECORDS) {
		hosts_work(hosts);
	}
	if (!hosts->handover || !hosts->own || has_messages(hosts) ||
			(++hosts->untold < HANDED_AFTER && lqn_handover_length(hosts->handover) < HANDED)) {
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	return tell_time(hosts);
}

bt_message_iterator_class_next_method_status hosts_again(struct hosts *hosts)
{
	hosts_work(hosts);	/* what is there must not wait for more */
	if (has_messages(hosts)) {
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	return hosts->handover && lqn_handover_length(hosts->handover) > 0 ? tell_time(hosts) :
		BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
}

bt_message_iterator_class_next_method_status hosts_next(struct hosts *hosts, bt_message_array_const msgs,
	uint64_t capacity, uint64_t *count,
	bt_message_iterator_class_next_method_status (*fetch)(void *payload), void *payload)
{
	while (!has_messages(hosts)) {
		bt_message_iterator_class_next_method_status status;

		if (hosts->ended) {
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
		}
		/* Without pass-through this may go on for the whole trace. */
		if (bt_self_message_iterator_is_interrupted(hosts->iter)) {
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
		}
		status = fetch(payload);
		if (status != BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK) {
			return status;
		}
	}
	return hand_out(hosts, msgs, capacity, count);
}

static void start(struct hosts *hosts)
{
	queue_init(&hosts->queue);
	hosts->hosts = g_ptr_array_new_with_free_func(host_free);
	hosts->started = g_ptr_array_new();
	hosts->streams = g_hash_table_new_full(NULL, NULL, g_free, NULL);
	hosts->seen = g_string_new(NULL);
	hosts->own = NULL;
	hosts->waiting = g_new(struct waiting, RECORDS_MAX);
	hosts->n_waiting = 0;
	hosts->may_wait = false;
	hosts->now = LQN_TOLD_UNDATED;
	hosts->strays = 0;
	hosts->untold = 0;
	hosts->kernel = false;
	hosts->ended = false;
}

static void stop(struct hosts *hosts)
{
	for (unsigned i = 0; i < hosts->n_waiting; i++) {
		g_free(hosts->waiting[i].rec.text);
	}
	g_free(hosts->waiting);
	g_hash_table_destroy(hosts->streams);
	g_ptr_array_free(hosts->started, TRUE);
	g_ptr_array_free(hosts->hosts, TRUE);
	g_string_free(hosts->seen, TRUE);
	queue_clear(&hosts->queue);
	own_trace_free(hosts->own);
}

void hosts_init(struct hosts *hosts, bt_self_message_iterator *iter, const struct causal_params *params,
	bt_self_component_port_output *port)
{
	memset(hosts, 0, sizeof(*hosts));
	hosts->iter = iter;
	hosts->self = bt_self_message_iterator_borrow_component(iter);
	hosts->params = params;
	hosts->handover = lqn_handover_find(bt_self_component_port_output_as_port_output(port));
	start(hosts);
}

void hosts_restart(struct hosts *hosts)
{
	stop(hosts);
	start(hosts);
}

void hosts_clear(struct hosts *hosts)
{
	stop(hosts);
	lqn_handover_unref(hosts->handover);
}
