/* SPDX-License-Identifier: MIT */

/*
 * The filter's message iterator. Each message goes on as it came (or is dropped), and what its
 * event means goes to the engine of its host; what the engine concludes is queued right behind it.
 */
#include "plugin/causal/causal.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "causal/causal.h"
#include "plugin/causal/inputs.h"
#include "plugin/causal/own-stream.h"
#include "plugin/causal/queue.h"
#include "plugin/causal/upstream.h"
#include "plugin/common/fields.h"
#include "plugin/common/identity.h"
#include "plugin/common/log.h"
#include "plugin/common/message.h"

#define NS_PER_S 1000000000
#define HANDED 64		/* events that are handed over at a time, at least */
#define ADVICE "record on each host with `lttng enable-event --kernel sched_switch,sched_waking," \
	"sched_process_fork,sched_process_exec,sched_process_exit,irq_handler_entry," \
	"irq_handler_exit,irq_softirq_entry,irq_softirq_exit` and " \
	"`lttng enable-event --kernel --syscall --all`"

#define FAIL(iter, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR((iter)->self, __VA_ARGS__)

struct causal_iter {
	const struct causal *comp;		/* borrowed */
	bt_self_message_iterator *self;		/* borrowed */
	struct inputs inputs;
	struct message_queue queue;
	struct lqn_bindings *bindings;		/* owned */
	struct upstreams ups;
	struct own_trace *own;			/* owned; NULL until the first host has an engine */
	struct lqn_handover *handover;		/* of the sink that is right behind; owned; NULL: none */
	int64_t now;				/* ns from the origin; never decreases */
	int64_t at;				/* of the present message, or of the last one with a time */
	uint64_t events;			/* seen, of any kind */
	uint64_t own_events;			/* of which `lqn:` ones */
	uint64_t strays;			/* spans of a host that is not known */
	bool kernel;				/* kernel events came */
	bool failed;				/* the engine's callback ran out of memory */
	bool ended;
};

/* ---- engines ------------------------------------------------------------- */

/*
 * Takes an event of a host's engine, which cannot be stopped from here: a failure is looked at
 * after the engine's return.
 */
static void take_event(void *payload, const struct lqn_event *ev)
{
	struct host *host = payload;

	if (!own_stream_event(host->out, ev)) {
		host->iter->failed = true;
	}
}

static bool out_of_memory(struct causal_iter *iter)
{
	FAIL(iter, "Out of memory");
	return false;
}

/* Makes the host's engine and its stream, if it has none. */
static bool start_host(struct causal_iter *iter, struct host *host, const bt_clock_snapshot *cs)
{
	if (host->engine) {
		return true;
	}
	if (!iter->own) {
		iter->own = own_trace_new(iter->comp->self, iter->self, &iter->queue,
			iter->handover, cs, iter->now);
		if (!iter->own) {
			return out_of_memory(iter);
		}
	}
	host->out = own_stream_new(iter->own, host->name);
	if (!host->out) {
		return out_of_memory(iter);
	}
	g_ptr_array_add(iter->ups.started, host);
	host->engine = lqn_causal_new(host->name, host->release, take_event, host);
	lqn_causal_set_snapshot(host->engine, lqn_snapshot_find(iter->comp->snapshots, host->name));
	return true;
}

/* ---- errors -------------------------------------------------------------- */

static const char *or_unnamed(const char *name)
{
	return name ? name : "unnamed";
}

/* The last time seen, for people; g_free(). */
static char *present(const struct causal_iter *iter)
{
	if (iter->now == INT64_MIN) {
		return g_strdup("an unknown time");
	}
	return g_strdup_printf("%" PRId64 ".%09" PRId64 " s", iter->now / NS_PER_S,
		ABS(iter->now % NS_PER_S));
}

/* Says that an event cannot be used, and where it is. */
static bool fail_event(struct causal_iter *iter, const struct upstream *up, const char *event,
	const char *reason)
{
	char *time = present(iter);

	FAIL(iter, "Event `%s` of trace `%s`, stream `%s` (id %" PRIu64 "), host `%s`, at %s: %s",
		event, or_unnamed(bt_trace_get_name(bt_stream_borrow_trace_const(up->stream))),
		or_unnamed(bt_stream_get_name(up->stream)), bt_stream_get_id(up->stream),
		up->host->name, time, reason);
	g_free(time);
	return false;
}

/* At the end: whether the input held what the engine lives on. */
static bool check_input(struct causal_iter *iter)
{
	if (!iter->kernel && iter->own_events > 0) {
		return true;
	}
	if (!iter->kernel) {
		FAIL(iter, "No kernel events that this filter knows in the input, so nothing tells "
			"who waits for whom: %" PRIu64 " events came, from the traces %s; " ADVICE,
			iter->events, iter->ups.seen->len ? iter->ups.seen->str : "(none)");
		return false;
	}
	for (guint i = 0; i < iter->ups.hosts->len; i++) {
		const struct host *host = g_ptr_array_index(iter->ups.hosts, i);

		if (host->kernel && !host->switches) {
			FAIL(iter, "The kernel trace of host `%s` has no event `sched_switch`, so "
				"nothing tells who ran; " ADVICE, host->name);
			return false;
		}
	}
	return true;
}

static void log_missing(void *payload, const char *event, const char *missing)
{
	struct causal_iter *iter = payload;

	lqn_log(iter->comp->self, BT_LOGGING_LEVEL_INFO, "event `%s` lacks: %s", event, missing);
}

/* Snapshots that were named in vain. */
static void log_unused_snapshots(const struct causal_iter *iter)
{
	const GPtrArray *snapshots = iter->comp->snapshots;

	for (guint i = 0; snapshots && i < snapshots->len; i++) {
		const struct lqn_snapshot *snapshot = snapshots->pdata[i];
		bool used = false;

		for (guint k = 0; k < iter->ups.started->len; k++) {
			used |= strcmp(((const struct host *) iter->ups.started->pdata[k])->name, snapshot->host) == 0;
		}
		if (!used) {
			lqn_log(iter->comp->self, BT_LOGGING_LEVEL_WARNING, "snapshot `%s` is of host `%s`, which is none of the "
				"trace's", snapshot->file, snapshot->host);
		}
	}
}

/* ---- messages ------------------------------------------------------------ */

static bool handle_kernel_event(struct causal_iter *iter, struct upstream *up,
	const struct lqn_binding *binding, const bt_event *event, const bt_clock_snapshot *cs,
	int64_t ts)
{
	const struct lqn_layout_event *layout = lqn_binding_layout(binding);
	struct lqn_record rec;

	if (!up->host->engine && !start_host(iter, up->host, cs)) {
		return false;
	}
	iter->kernel = true;
	up->host->kernel = true;
	up->host->last = MAX(up->host->last, ts);
	up->host->switches |= layout->type == LQN_REC_SWITCH;
	lqn_binding_fill(binding, event, ts, up->cpu, &rec);
	if (G_UNLIKELY(rec.cpu < 0)) {
		g_free(rec.text);
		return fail_event(iter, up, lqn_binding_name(binding),
			"neither the packet's context nor the event's says on which CPU "
			"(`cpu_id`); record with per-CPU buffers");
	}
	lqn_causal_push(up->host->engine, &rec);
	return true;
}

/*
 * The host of a span: that of its trace, if it was traced there. A file of spans is of no host; its
 * spans name theirs, though in a container they name that. Where one host alone has a kernel trace, it
 * can be no other. NULL: which one is not known.
 */
static struct host *span_host(struct causal_iter *iter, struct upstream *up,
	const struct lqn_binding *binding, const bt_event *event)
{
	char *name;
	struct host *host;

	if (!lqn_binding_is_of_file(binding)) {
		return up->host;
	}
	name = lqn_binding_host(binding, event);
	host = upstreams_kernel_host(&iter->ups, name);
	g_free(name);
	return host;
}

/* A program tells of the begin or the end of a span. */
static bool handle_span_event(struct causal_iter *iter, struct upstream *up,
	const struct lqn_binding *binding, const bt_event *event, const bt_clock_snapshot *cs,
	int64_t ts)
{
	struct host *host = span_host(iter, up, binding, event);
	struct lqn_record rec;

	if (!host) {
		iter->strays++;
		return true;
	}
	if (!host->engine && !start_host(iter, host, cs)) {
		return false;
	}
	lqn_binding_fill(binding, event, ts, up->cpu, &rec);
	lqn_causal_push(host->engine, &rec);
	return true;
}

/* An event without a layout, outside of a kernel trace: a candidate for a mark. */
static bool handle_other_event(struct causal_iter *iter, struct upstream *up,
	struct lqn_binding *binding, const bt_event *event, const bt_clock_snapshot *cs,
	int64_t ts)
{
	unsigned n = lqn_binding_count_marks(binding);

	if (n > 0 && !start_host(iter, up->host, cs)) {
		return false;
	}
	for (unsigned i = 0; i < n; i++) {
		struct lqn_record rec;

		lqn_binding_fill_mark(binding, event, ts, up->cpu, i, &rec);
		lqn_causal_push(up->host->engine, &rec);
	}
	return true;
}

static bool handle_event(struct causal_iter *iter, struct upstream *up, const bt_message *msg,
	const bt_clock_snapshot *cs)
{
	const bt_event *event = bt_message_event_borrow_event_const(msg);
	struct lqn_binding *binding =
		lqn_bindings_get(iter->bindings, bt_event_borrow_class_const(event));
	bool kernel;

	iter->events++;
	if (!binding) {
		return out_of_memory(iter);
	}
	if (lqn_binding_is_own(binding)) {
		iter->own_events++;
		return true;
	}
	if (lqn_binding_is_span(binding)) {
		return !cs || handle_span_event(iter, up, binding, event, cs, iter->at);
	}
	kernel = lqn_binding_layout(binding) && !up->user;
	if (!kernel && up->kernel) {
		return true;
	}
	if (!cs) {
		return kernel ? fail_event(iter, up, lqn_binding_name(binding),
			"the stream has no clock, so its events have no time") : true;
	}
	return kernel ? handle_kernel_event(iter, up, binding, event, cs, iter->at) :
		handle_other_event(iter, up, binding, event, cs, iter->at);
}

static bool handle_packet_beginning(struct causal_iter *iter, struct upstream *up,
	const bt_message *msg, const bt_clock_snapshot *cs)
{
	up->cpu = lqn_packet_cpu(bt_message_packet_beginning_borrow_packet_const(msg));
	upstreams_packet(up);
	return true;
}

static bool handle_packet_end(struct causal_iter *iter, struct upstream *up,
	const bt_message *msg, const bt_clock_snapshot *cs)
{
	up->end = cs ? iter->at : up->host->last;
	return true;
}

static bool handle_stream_end(struct causal_iter *iter, struct upstream *up,
	const bt_message *msg, const bt_clock_snapshot *cs)
{
	/* a part of the trace that follows (a rotation chunk) goes on with the CPU */
	if (up->kernel && up->host->engine && up->host->waiting == 0) {
		lqn_causal_cpu_ends(up->host->engine, up->cpu, up->end);
	}
	upstreams_remove(&iter->ups, up->stream);
	return true;
}

/* Tells the host's engine of a loss up to `end` (NULL: of unknown time). */
static bool handle_loss(struct causal_iter *iter, struct upstream *up,
	const bt_clock_snapshot *begin, const bt_clock_snapshot *end, uint64_t count)
{
	int64_t until = iter->at;

	/* A loss in user space takes at most marks from us. */
	if (!up->kernel || !begin) {
		return true;
	}
	if (!start_host(iter, up->host, begin)) {
		return false;
	}
	if (end && bt_clock_snapshot_get_ns_from_origin(end, &until) !=
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		return fail_event(iter, up, "(lost)", "time out of range");
	}
	lqn_causal_lost(up->host->engine, up->cpu, iter->at, MAX(until, iter->at), count);
	return true;
}

static bool handle_discarded_events(struct causal_iter *iter, struct upstream *up,
	const bt_message *msg, const bt_clock_snapshot *cs)
{
	uint64_t count;

	if (bt_message_discarded_events_get_count(msg, &count) !=
			BT_PROPERTY_AVAILABILITY_AVAILABLE) {
		count = 0;
	}
	return handle_loss(iter, up, cs, cs ?
		bt_message_discarded_events_borrow_end_default_clock_snapshot_const(msg) : NULL,
		count);
}

static bool handle_discarded_packets(struct causal_iter *iter, struct upstream *up,
	const bt_message *msg, const bt_clock_snapshot *cs)
{
	/* How many events were in the packets nobody knows. */
	return handle_loss(iter, up, cs, cs ?
		bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(msg) : NULL,
		0);
}

/* Whatever is not here needs no more than to be passed on. */
static const struct {
	bt_message_type type;
	bool (*handle)(struct causal_iter *iter, struct upstream *up, const bt_message *msg,
		const bt_clock_snapshot *cs);
} handlers[] = {
	{ BT_MESSAGE_TYPE_EVENT, handle_event },
	{ BT_MESSAGE_TYPE_PACKET_BEGINNING, handle_packet_beginning },
	{ BT_MESSAGE_TYPE_PACKET_END, handle_packet_end },
	{ BT_MESSAGE_TYPE_STREAM_END, handle_stream_end },
	{ BT_MESSAGE_TYPE_DISCARDED_EVENTS, handle_discarded_events },
	{ BT_MESSAGE_TYPE_DISCARDED_PACKETS, handle_discarded_packets },
};

static bool handle_type(struct causal_iter *iter, struct upstream *up, bt_message_type type,
	const bt_message *msg, const bt_clock_snapshot *cs)
{
	for (size_t i = 0; i < G_N_ELEMENTS(handlers); i++) {
		if (handlers[i].type == type) {
			return handlers[i].handle(iter, up, msg, cs);
		}
	}
	return true;
}

/*
 * Follows the time of every message, not only of events: our own stream's end must not be earlier
 * than any other message, and packets end after their last event.
 */
static bool follow_time(struct causal_iter *iter, const bt_clock_snapshot *cs)
{
	int64_t ns;

	if (bt_clock_snapshot_get_ns_from_origin(cs, &ns) !=
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		char *time = present(iter);

		FAIL(iter, "The clock's value %" PRIu64 " is out of range (last time: %s)",
			bt_clock_snapshot_get_value(cs), time);
		g_free(time);
		return false;
	}
	iter->at = ns;
	iter->now = MAX(iter->now, ns);
	if (iter->own) {
		own_trace_set_time(iter->own, cs, ns);
	}
	return true;
}

/* Takes over the reference `msg`; on failure an error cause is there. */
static bool handle(struct causal_iter *iter, const bt_message *msg)
{
	const bt_message_type type = bt_message_get_type(msg);
	const bt_clock_snapshot *cs;
	const bt_stream *stream;
	struct upstream *up;
	bool forward, ok;

	if (G_LIKELY(type == BT_MESSAGE_TYPE_EVENT)) {
		stream = bt_event_borrow_stream_const(bt_message_event_borrow_event_const(msg));
		up = upstreams_get(&iter->ups, iter, stream);
		cs = up->dated ? bt_message_event_borrow_default_clock_snapshot_const(msg) : NULL;
	} else {
		stream = lqn_message_stream(msg);
		up = stream ? upstreams_get(&iter->ups, iter, stream) : NULL;
		cs = lqn_message_clock(msg);
	}
	/*
	 * Messages without a stream are the only sign of time from a quiet live source. A sink that is
	 * handed our events has no use for others than such.
	 */
	forward = (iter->comp->pass_through && !iter->handover) || !up || up->own;
	/* First, since what the engine makes of it must come behind it. */
	if (forward) {
		queue_push(&iter->queue, msg);
	}
	ok = (!cs || follow_time(iter, cs)) && (!up || handle_type(iter, up, type, msg, cs));
	if (!forward) {
		bt_message_put_ref(msg);
	}
	if (ok && iter->failed) {
		ok = out_of_memory(iter);
	}
	return ok;
}

static bool end_hosts(struct causal_iter *iter)
{
	lqn_bindings_each_missing(iter->bindings, log_missing, iter);
	log_unused_snapshots(iter);
	if (iter->strays > 0) {
		lqn_log(iter->comp->self, BT_LOGGING_LEVEL_WARNING,
			"%" PRIu64 " begins and ends of spans left out: no kernel trace of their "
			"host at that time, or of several without a name that is theirs", iter->strays);
	}
	if (!check_input(iter)) {
		return false;
	}
	/* In the order of the streams' ids, as a muxer orders events of the same time. */
	for (guint i = 0; i < iter->ups.started->len; i++) {
		struct host *host = g_ptr_array_index(iter->ups.started, i);

		/* What came later is another host's, and tells nothing of this one. */
		lqn_causal_finish(host->engine, host->kernel ? host->last : iter->now);
		if (iter->failed || !own_stream_end(host->out)) {
			return out_of_memory(iter);
		}
	}
	return true;
}

/*
 * A sink that is handed events must be given a message to take them: when there are enough of them, or,
 * as with the messages that would be passed on, as time goes on.
 */
static bool tell_time(struct causal_iter *iter)
{
	if (!iter->handover || !iter->own || !queue_is_empty(&iter->queue) ||
			(!iter->comp->pass_through && lqn_handover_length(iter->handover) < HANDED)) {
		return true;
	}
	return own_trace_tell_time(iter->own) || out_of_memory(iter);
}

/* Fills the queue from upstream's next batch; its status, or an error of our own. */
static bt_message_iterator_class_next_method_status fetch(struct causal_iter *iter)
{
	bt_message_array_const msgs;
	uint64_t n;
	bt_message_iterator_next_status status = inputs_next(&iter->inputs, &msgs, &n);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		iter->ended = true;
		return end_hosts(iter) ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
			BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN && iter->handover &&
			lqn_handover_length(iter->handover) > 0) {
		/* what is there must not wait for more */
		return own_trace_tell_time(iter->own) ?
			BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
			BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		if (status < 0) {
			FAIL(iter, "The upstream iterator failed");
		}
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
	return tell_time(iter) ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
		BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

/* ---- methods ------------------------------------------------------------- */

static void start(struct causal_iter *iter)
{
	queue_init(&iter->queue);
	upstreams_init(&iter->ups);
	iter->bindings = lqn_bindings_new(iter->comp->spans);
	iter->own = NULL;
	iter->now = iter->at = INT64_MIN;
	iter->events = 0;
	iter->own_events = 0;
	iter->strays = 0;
	iter->kernel = false;
	iter->failed = false;
	iter->ended = false;
}

static void stop(struct causal_iter *iter)
{
	upstreams_clear(&iter->ups);
	queue_clear(&iter->queue);
	own_trace_free(iter->own);
	lqn_bindings_free(iter->bindings);
}

bt_message_iterator_class_initialize_method_status causal_iter_init(
	bt_self_message_iterator *self_iter, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port)
{
	struct causal_iter *iter = g_new0(struct causal_iter, 1);
	bt_message_iterator_class_initialize_method_status status =
		inputs_init(&iter->inputs, self_iter);

	if (status != BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK) {
		g_free(iter);
		return status;
	}
	iter->self = self_iter;
	iter->comp = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self_iter));
	iter->handover = lqn_handover_find(bt_self_component_port_output_as_port_output(port));
	start(iter);
	bt_self_message_iterator_set_data(self_iter, iter);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void causal_iter_finalize(bt_self_message_iterator *self_iter)
{
	struct causal_iter *iter = bt_self_message_iterator_get_data(self_iter);

	stop(iter);
	lqn_handover_unref(iter->handover);
	inputs_clear(&iter->inputs);
	g_free(iter);
}

bt_message_iterator_class_next_method_status causal_iter_next(
	bt_self_message_iterator *self_iter, bt_message_array_const msgs, uint64_t capacity,
	uint64_t *count)
{
	struct causal_iter *iter = bt_self_message_iterator_get_data(self_iter);

	while (queue_is_empty(&iter->queue)) {
		bt_message_iterator_class_next_method_status status;

		if (iter->ended) {
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
		}
		/* Without pass-through this may go on for the whole trace. */
		if (bt_self_message_iterator_is_interrupted(self_iter)) {
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
		}
		status = fetch(iter);
		if (status != BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK) {
			return status;
		}
	}
	for (*count = 0; *count < capacity; (*count)++) {
		msgs[*count] = queue_pop(&iter->queue);
		if (!msgs[*count]) {
			break;
		}
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
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

	stop(iter);
	start(iter);
	return (int) inputs_seek_beginning(&iter->inputs);
}
