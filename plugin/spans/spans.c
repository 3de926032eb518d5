/* SPDX-License-Identifier: MIT */

/*
 * The files are read when the component is made, for the span that begins first may be the last in
 * the last of them; what is wrong with them is said then, too. Iterators walk over what was read.
 */
#include "plugin/spans/spans.h"

#include <inttypes.h>
#include <string.h>

#include "plugin/common/log.h"
#include "plugin/common/message.h"
#include "plugin/common/params.h"
#include "plugin/spans/stream.h"
#include "spans/read.h"

#define FAIL(self, ...) BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self, __VA_ARGS__)

/*
 * How sure `babeltrace2 FILE` is that a file is ours: more than any that takes text as such, for it
 * has been looked into.
 */
#define WEIGHT 0.9
#define GROUP "lqn-spans"	/* all files go to one component: spans of one trace are in several */

struct spans {
	bt_self_component *self;	/* borrowed */
	struct lqn_span_set set;
	struct spans_trace trace;
};

enum step { STREAM_BEGINNING, PACKET_BEGINNING, EVENTS, PACKET_END, STREAM_END, DONE };

struct spans_iter {
	const struct spans *spans;		/* borrowed */
	bt_self_message_iterator *self;		/* borrowed */
	bt_stream *stream;			/* owned */
	bt_packet *packet;			/* owned */
	enum step step;
	guint next;				/* index of a moment */
};

/* ---- the component ------------------------------------------------------- */

bt_component_class_get_supported_mip_versions_method_status spans_mip_versions(
	bt_self_component_class_source *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	return (int) lqn_message_add_versions(versions);
}

static void warn(const struct spans *spans)
{
	const struct lqn_span_set *set = &spans->set;

	for (unsigned i = 0; i < LQN_SPAN_FLAWS; i++) {
		const struct lqn_span_count *flaw = &set->flaws[i];

		if (flaw->count > 0) {
			lqn_log(spans->self, BT_LOGGING_LEVEL_WARNING,
				"%" PRIu64 " %s; the first in `%s`, line %" PRIu32, flaw->count,
				lqn_span_flaw_text((enum lqn_span_flaw) i),
				(const char *) g_ptr_array_index(set->files, flaw->file), flaw->line);
		}
	}
	if (set->moments->len == 0) {
		lqn_log(spans->self, BT_LOGGING_LEVEL_WARNING, "no spans in the input");
	}
}

static bool read_inputs(struct spans *spans, const bt_value *params)
{
	GPtrArray *inputs = NULL;
	int64_t offset = 0;
	const struct lqn_param known[] = {
		{ "inputs", LQN_PARAM_STRINGS, &inputs },
		{ "clock-class-offset-ns", LQN_PARAM_INT, &offset },
	};
	GError *error = NULL;
	bool ok = lqn_params_read(spans->self, params, known, G_N_ELEMENTS(known));

	if (ok && (!inputs || inputs->len == 0)) {
		FAIL(spans->self, "Parameter `inputs` is missing: the files to read, "
			"`inputs=[\"spans.json\"]`");
		ok = false;
	}
	for (guint i = 0; ok && i < inputs->len; i++) {
		ok = lqn_spans_read_file(&spans->set, g_ptr_array_index(inputs, i), &error);
	}
	lqn_span_set_shift(&spans->set, offset);
	if (error) {
		FAIL(spans->self, "%s", error->message);
		g_error_free(error);
	}
	g_clear_pointer(&inputs, g_ptr_array_unref);
	return ok;
}

static void spans_free(struct spans *spans)
{
	spans_trace_clear(&spans->trace);
	lqn_span_set_clear(&spans->set);
	g_free(spans);
}

bt_component_class_initialize_method_status spans_init(bt_self_component_source *self_source,
	bt_self_component_source_configuration *config, const bt_value *params, void *data)
{
	struct spans *spans = g_new0(struct spans, 1);
	bt_self_component_add_port_status status;

	spans->self = bt_self_component_source_as_self_component(self_source);
	lqn_span_set_init(&spans->set);
	if (!read_inputs(spans, params)) {
		spans_free(spans);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	lqn_span_set_settle(&spans->set);
	warn(spans);
	if (!spans_trace_init(&spans->trace, spans->self)) {
		FAIL(spans->self, "Out of memory");
		spans_free(spans);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	status = bt_self_component_source_add_output_port(self_source, "out", NULL, NULL);
	if (status != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		spans_free(spans);
		return (int) status;
	}
	bt_self_component_set_data(spans->self, spans);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void spans_finalize(bt_self_component_source *self_source)
{
	spans_free(bt_self_component_get_data(
		bt_self_component_source_as_self_component(self_source)));
}

/* ---- queries ------------------------------------------------------------- */

static const char *text_entry(const bt_value *map, const char *name)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

/* `babeltrace2 FILE` asks every source whether the file is for it. */
static const bt_value *support_info(const bt_value *params)
{
	const char *type = bt_value_is_map(params) ? text_entry(params, "type") : NULL;
	const char *input = type ? text_entry(params, "input") : NULL;
	bool ours = input && strcmp(type, "file") == 0 && lqn_spans_are_here(input);
	bt_value *map = bt_value_map_create();

	if (map && (bt_value_map_insert_real_entry(map, "weight", ours ? WEIGHT : 0) !=
				BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
			bt_value_map_insert_string_entry(map, "group", GROUP) !=
				BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)) {
		BT_VALUE_PUT_REF_AND_RESET(map);
	}
	return map;
}

bt_component_class_query_method_status spans_query(bt_self_component_class_source *self_class,
	bt_private_query_executor *executor, const char *object, const bt_value *params,
	void *data, const bt_value **result)
{
	if (strcmp(object, "babeltrace.support-info") != 0) {
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	}
	*result = support_info(params);
	if (!*result) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT_CLASS(
			bt_self_component_class_source_as_self_component_class(self_class),
			"Cannot build the result");
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK;
}

/* ---- the iterator -------------------------------------------------------- */

/* A new stream, for each pass over the spans has one of its own. */
static bool start(struct spans_iter *iter)
{
	iter->stream = bt_stream_create(iter->spans->trace.sc, iter->spans->trace.trace);
	iter->packet = iter->stream ? bt_packet_create(iter->stream) : NULL;
	iter->step = iter->spans->set.moments->len > 0 ? STREAM_BEGINNING : DONE;
	iter->next = 0;
	return iter->packet != NULL;
}

static void stop(struct spans_iter *iter)
{
	BT_PACKET_PUT_REF_AND_RESET(iter->packet);
	BT_STREAM_PUT_REF_AND_RESET(iter->stream);
}

bt_message_iterator_class_initialize_method_status spans_iter_init(
	bt_self_message_iterator *self_iter, bt_self_message_iterator_configuration *config,
	bt_self_component_port_output *port)
{
	struct spans_iter *iter = g_new0(struct spans_iter, 1);

	iter->self = self_iter;
	iter->spans = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self_iter));
	if (!start(iter)) {
		stop(iter);
		g_free(iter);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_message_iterator_set_data(self_iter, iter);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void spans_iter_finalize(bt_self_message_iterator *self_iter)
{
	struct spans_iter *iter = bt_self_message_iterator_get_data(self_iter);

	stop(iter);
	g_free(iter);
}

static const struct lqn_span_moment *moment(const struct spans_iter *iter, guint index)
{
	return &g_array_index(iter->spans->set.moments, struct lqn_span_moment, index);
}

static bt_message *next_event(struct spans_iter *iter)
{
	const struct lqn_span_moment *it = moment(iter, iter->next);
	struct lqn_file_span span = g_array_index(iter->spans->set.spans, struct lqn_file_span, it->span);

	if (it->link > 0) {
		span.message = g_array_index(iter->spans->set.links, struct lqn_span_link, it->link - 1).message;
	}
	if (++iter->next == iter->spans->set.moments->len) {
		iter->step++;
	}
	return spans_trace_event(&iter->spans->trace, iter->self, iter->packet, &span,
		it->end ? SPANS_END : it->link > 0 ? SPANS_MESSAGE : SPANS_BEGIN);
}

/* The next message; NULL if memory ran out. */
static bt_message *next_message(struct spans_iter *iter)
{
	uint64_t first = (uint64_t) moment(iter, 0)->ts;
	uint64_t last = (uint64_t) moment(iter, iter->spans->set.moments->len - 1)->ts;
	bt_message *msg;

	switch (iter->step) {
	case STREAM_BEGINNING:
		iter->step++;
		msg = bt_message_stream_beginning_create(iter->self, iter->stream);
		if (msg) {
			bt_message_stream_beginning_set_default_clock_snapshot(msg, first);
		}
		return msg;
	case PACKET_BEGINNING:
		iter->step++;
		return bt_message_packet_beginning_create_with_default_clock_snapshot(iter->self,
			iter->packet, first);
	case EVENTS:
		return next_event(iter);
	case PACKET_END:
		iter->step++;
		return bt_message_packet_end_create_with_default_clock_snapshot(iter->self,
			iter->packet, last);
	default:
		iter->step++;
		msg = bt_message_stream_end_create(iter->self, iter->stream);
		if (msg) {
			bt_message_stream_end_set_default_clock_snapshot(msg, last);
		}
		return msg;
	}
}

bt_message_iterator_class_next_method_status spans_iter_next(
	bt_self_message_iterator *self_iter, bt_message_array_const msgs, uint64_t capacity,
	uint64_t *count)
{
	struct spans_iter *iter = bt_self_message_iterator_get_data(self_iter);

	for (*count = 0; *count < capacity && iter->step != DONE; (*count)++) {
		msgs[*count] = next_message(iter);
		if (!msgs[*count]) {
			while (*count > 0) {
				bt_message_put_ref(msgs[--*count]);
			}
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self_iter,
				"Out of memory");
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
		}
	}
	return *count > 0 ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
		BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

bt_message_iterator_class_can_seek_beginning_method_status spans_iter_can_seek_beginning(
	bt_self_message_iterator *self_iter, bt_bool *can_seek)
{
	*can_seek = BT_TRUE;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_seek_beginning_method_status spans_iter_seek_beginning(
	bt_self_message_iterator *self_iter)
{
	struct spans_iter *iter = bt_self_message_iterator_get_data(self_iter);

	stop(iter);
	return start(iter) ? BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK :
		BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_MEMORY_ERROR;
}
