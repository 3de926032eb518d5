/* SPDX-License-Identifier: MIT */
#include "plugin/causal/decode.h"

#include <glib.h>
#include <inttypes.h>

#include "plugin/common/log.h"

#define NS_PER_S 1000000000

#define FAIL(decoder, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((decoder)->self, __VA_ARGS__)

/* ---- errors -------------------------------------------------------------- */

static const char *or_unnamed(const char *name)
{
	return name ? name : "unnamed";
}

/* The last time seen, for people; g_free(). */
static char *present(const struct decoder *decoder)
{
	if (decoder->now == INT64_MIN) {
		return g_strdup("an unknown time");
	}
	return g_strdup_printf("%" PRId64 ".%09" PRId64 " s", decoder->now / NS_PER_S,
		ABS(decoder->now % NS_PER_S));
}

/* Says that an event cannot be used, and where it is. */
static bool fail_event(const struct decoder *decoder, const struct upstream *up, const char *event,
	const char *reason)
{
	char *time = present(decoder);

	FAIL(decoder, "Event `%s` of trace `%s`, stream `%s` (id %" PRIu64 "), host `%s`, at %s: %s",
		event, or_unnamed(up->told.trace), or_unnamed(bt_stream_get_name(up->stream)),
		bt_stream_get_id(up->stream), up->told.host, time, reason);
	g_free(time);
	return false;
}

/* ---- events -------------------------------------------------------------- */

static bool tell_kernel_event(struct decoder *decoder, struct upstream *up, struct lqn_binding *binding,
	const bt_event *event, struct lqn_told *told)
{
	struct lqn_record *rec = &told->event.rec;

	lqn_binding_fill(binding, event, told->ts, up->cpu, rec);
	if (G_UNLIKELY(rec->cpu < 0)) {
		g_free(rec->text);
		return fail_event(decoder, up, lqn_binding_name(binding),
			"neither the packet's context nor the event's says on which CPU "
			"(`cpu_id`); record with per-CPU buffers");
	}
	told->type = LQN_TOLD_KERNEL;
	told->event.class = lqn_binding_class(binding);
	told->event.host = NULL;
	told->event.first = told->event.of_file = false;
	return decoder->tell(decoder->payload, told);
}

/* A program tells of the begin or the end of a span. */
static bool tell_span_event(struct decoder *decoder, struct upstream *up, struct lqn_binding *binding,
	const bt_event *event, struct lqn_told *told)
{
	bool ok;
	char *host;

	told->type = LQN_TOLD_SPAN;
	told->event.class = lqn_binding_class(binding);
	told->event.first = false;
	told->event.of_file = lqn_binding_is_of_file(binding);
	host = told->event.of_file ? lqn_binding_host(binding, event) : NULL;
	told->event.host = host;
	lqn_binding_fill(binding, event, told->ts, up->cpu, &told->event.rec);
	ok = decoder->tell(decoder->payload, told);
	g_free(host);
	return ok;
}

/* An event without a layout, outside of a kernel trace: a candidate for a mark. */
static bool tell_marks(struct decoder *decoder, struct upstream *up, struct lqn_binding *binding,
	const bt_event *event, struct lqn_told *told)
{
	unsigned n = lqn_binding_count_marks(binding);
	bool ok = true;

	if (n == 0) {
		return decoder->tell(decoder->payload, told);
	}
	told->type = LQN_TOLD_MARK;
	told->event.class = lqn_binding_class(binding);
	told->event.host = NULL;
	told->event.of_file = false;
	for (unsigned i = 0; i < n && ok; i++) {
		told->event.first = i == 0;
		lqn_binding_fill_mark(binding, event, told->ts, up->cpu, i, &told->event.rec);
		ok = decoder->tell(decoder->payload, told);
	}
	return ok;
}

static bool tell_event(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told)
{
	struct upstream *up = decoded->up;
	const bt_event *event = decoded->event;
	struct lqn_binding *binding =
		lqn_bindings_get(decoder->bindings, bt_event_borrow_class_const(event));
	enum lqn_binding_kind kind;

	decoder->events++;
	if (!binding) {
		FAIL(decoder, "Out of memory");
		return false;
	}
	kind = lqn_binding_kind(binding);
	if (G_LIKELY(kind == LQN_BINDING_KERNEL && !up->user)) {
		return decoded->cs ? tell_kernel_event(decoder, up, binding, event, told) :
			fail_event(decoder, up, lqn_binding_name(binding),
				"the stream has no clock, so its events have no time");
	}
	if (kind == LQN_BINDING_OWN) {
		decoder->own_events++;
	} else if (decoded->cs && kind == LQN_BINDING_SPAN) {
		return tell_span_event(decoder, up, binding, event, told);
	} else if (decoded->cs && !up->told.kernel) {
		return tell_marks(decoder, up, binding, event, told);
	}
	return decoder->tell(decoder->payload, told);
}

/* ---- other messages ------------------------------------------------------ */

static bool tell_packet_beginning(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told)
{
	told->type = LQN_TOLD_PACKET;
	told->cpu = decoded->up->cpu = lqn_packet_cpu(bt_message_packet_beginning_borrow_packet_const(decoded->msg));
	return decoder->tell(decoder->payload, told);
}

static bool tell_packet_end(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told)
{
	told->type = LQN_TOLD_PACKET_END;
	return decoder->tell(decoder->payload, told);
}

static bool tell_stream_end(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told)
{
	bool ok;

	told->type = LQN_TOLD_STREAM_END;
	ok = decoder->tell(decoder->payload, told);
	upstreams_remove(&decoder->ups, decoded->up->stream);
	return ok;
}

/* Tells of a loss up to `end` (NULL: of unknown time). */
static bool tell_loss(struct decoder *decoder, const struct decoded *decoded, const bt_clock_snapshot *end,
	uint64_t count, struct lqn_told *told)
{
	int64_t until = told->ts;

	/* A loss in user space takes at most marks from us. */
	if (!decoded->up->told.kernel || !decoded->cs) {
		return decoder->tell(decoder->payload, told);
	}
	if (end && bt_clock_snapshot_get_ns_from_origin(end, &until) !=
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		return fail_event(decoder, decoded->up, "(lost)", "time out of range");
	}
	told->type = LQN_TOLD_LOSS;
	told->loss.end = MAX(until, told->ts);
	told->loss.count = count;
	return decoder->tell(decoder->payload, told);
}

static bool tell_discarded_events(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told)
{
	uint64_t count;

	if (bt_message_discarded_events_get_count(decoded->msg, &count) !=
			BT_PROPERTY_AVAILABILITY_AVAILABLE) {
		count = 0;
	}
	return tell_loss(decoder, decoded, decoded->cs ?
		bt_message_discarded_events_borrow_end_default_clock_snapshot_const(decoded->msg) : NULL, count, told);
}

static bool tell_discarded_packets(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told)
{
	/* How many events were in the packets nobody knows. */
	return tell_loss(decoder, decoded, decoded->cs ?
		bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(decoded->msg) : NULL, 0, told);
}

/* Beside events; whatever is not here tells no more than its time. */
static const struct {
	bt_message_type type;
	bool (*tell)(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told);
} tellers[] = {
	{ BT_MESSAGE_TYPE_PACKET_BEGINNING, tell_packet_beginning },
	{ BT_MESSAGE_TYPE_PACKET_END, tell_packet_end },
	{ BT_MESSAGE_TYPE_STREAM_END, tell_stream_end },
	{ BT_MESSAGE_TYPE_DISCARDED_EVENTS, tell_discarded_events },
	{ BT_MESSAGE_TYPE_DISCARDED_PACKETS, tell_discarded_packets },
};

static bool tell_type(struct decoder *decoder, const struct decoded *decoded, struct lqn_told *told)
{
	for (size_t i = 0; i < G_N_ELEMENTS(tellers); i++) {
		if (tellers[i].type == decoded->type) {
			return tellers[i].tell(decoder, decoded, told);
		}
	}
	return decoder->tell(decoder->payload, told);
}

/* ---- use ----------------------------------------------------------------- */

void decoder_init(struct decoder *decoder, bt_self_component *self, const struct lqn_span_layout *spans,
	decode_func tell, void *payload)
{
	decoder->self = self;
	decoder->tell = tell;
	decoder->payload = payload;
	decoder->bindings = lqn_bindings_new(spans);
	upstreams_init(&decoder->ups);
	decoder->now = INT64_MIN;
	decoder->events = 0;
	decoder->own_events = 0;
}

void decoder_clear(struct decoder *decoder)
{
	upstreams_clear(&decoder->ups);
	lqn_bindings_free(decoder->bindings);
}

static bool tell_stream(struct decoder *decoder, struct upstream *up)
{
	struct lqn_told told = { .ts = LQN_TOLD_UNDATED, .stream = &up->told, .type = LQN_TOLD_STREAM };

	up->fresh = false;
	return decoder->tell(decoder->payload, &told);
}

bool decoder_tell(struct decoder *decoder, const struct decoded *decoded)
{
	struct lqn_told told;

	told.type = LQN_TOLD_TIME;
	told.ts = LQN_TOLD_UNDATED;
	told.stream = decoded->up ? &decoded->up->told : NULL;
	if (decoded->cs && bt_clock_snapshot_get_ns_from_origin(decoded->cs, &told.ts) !=
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		char *time = present(decoder);

		FAIL(decoder, "The clock's value %" PRIu64 " is out of range (last time: %s)",
			bt_clock_snapshot_get_value(decoded->cs), time);
		g_free(time);
		return false;
	}
	decoder->now = MAX(decoder->now, told.ts);
	if (G_UNLIKELY(decoded->up && decoded->up->fresh) && !tell_stream(decoder, decoded->up)) {
		return false;
	}
	if (G_LIKELY(decoded->type == BT_MESSAGE_TYPE_EVENT)) {
		return tell_event(decoder, decoded, &told);
	}
	return decoded->up ? tell_type(decoder, decoded, &told) : decoder->tell(decoder->payload, &told);
}

static void log_missing(void *payload, const char *event, const char *missing)
{
	lqn_log(payload, BT_LOGGING_LEVEL_INFO, "event `%s` lacks: %s", event, missing);
}

void decoder_log_missing(struct decoder *decoder)
{
	lqn_bindings_each_missing(decoder->bindings, log_missing, decoder->self);
}
