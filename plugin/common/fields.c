/* SPDX-License-Identifier: MIT */
#include "plugin/common/fields.h"

#include <glib.h>

#include "plugin/common/access.h"
#include "plugin/common/bound.h"
#include "plugin/common/class-cache.h"

#define CPU_NAMES "cpu_id|cpu|perf_cpu"
#define TID_NAMES "tid|perf_tid"
#define PID_NAMES "pid"
#define OWN_PREFIX "lqn:"
#define FILE_PREFIX "span:"	/* of source.lqn.spans */

/* A field that is found beside the payload. */
struct outer_field {
	const bt_field *(*structure)(const bt_event *event);	/* NULL: there is none */
	struct lqn_access access;
};

struct mark_member {
	struct lqn_access access;
	bool is_enum;
};

struct lqn_binding {
	/*
	 * What every event needs comes first, and its fields last: each line of a cache that is not needed
	 * here others can have.
	 */
	const struct lqn_layout_event *layout;	/* lives for ever; NULL: none */
	uint8_t n_fields;
	uint8_t kind;			/* enum lqn_binding_kind */
	bool cpu_of_packet;		/* `cpu` is in the packet's context */
	bool has_tid;			/* `tid` is there */
	struct lqn_record init;		/* what each record starts from */
	struct outer_field cpu, tid;
	struct outer_field pid;		/* of spans alone */
	struct lqn_access host;		/* likewise; no index: not there */
	unsigned n_marks, marked;	/* marked: events so far */
	struct mark_member marks[LQN_MARK_MEMBERS];
	GString *missing;		/* owned; NULL: nothing is */
	struct lqn_told_class class;
	struct lqn_bound fields[];	/* those of the layout that the class has */
};

/* ---- binding ------------------------------------------------------------- */

static void note_missing(struct lqn_binding *binding, const char *names)
{
	if (!binding->missing) {
		binding->missing = g_string_new(names);
		return;
	}
	g_string_append_printf(binding->missing, ", %s", names);
}

static void bind_fields(struct lqn_binding *binding, const bt_field_class *payload)
{
	const struct lqn_layout_field *fields = binding->layout->fields;

	for (unsigned i = 0; fields && fields[i].kind != LQN_FIELD_END; i++) {
		if (fields[i].kind == LQN_FIELD_PRESET) {
			continue;	/* lqn_record_init() has put it there */
		}
		if (lqn_bound_init(&binding->fields[binding->n_fields], &fields[i], payload)) {
			binding->n_fields++;
		} else {
			note_missing(binding, fields[i].names);
		}
	}
}

static void bind_marks(struct lqn_binding *binding, const bt_field_class *payload)
{
	uint64_t n = payload ? bt_field_class_structure_get_member_count(payload) : 0;

	for (uint64_t i = 0; i < n && binding->n_marks < LQN_MARK_MEMBERS; i++) {
		struct mark_member *mark = &binding->marks[binding->n_marks];

		mark->access = lqn_access_of(
			bt_field_class_structure_member_borrow_field_class_const(
				bt_field_class_structure_borrow_member_by_index_const(
					payload, i)));
		mark->access.index = (int) i;
		mark->is_enum = bt_field_class_type_is(bt_field_class_get_type(mark->access.fc),
			BT_FIELD_CLASS_TYPE_ENUMERATION);
		if (mark->access.shape == LQN_SHAPE_STRING ||
				mark->access.shape == LQN_SHAPE_INTEGER) {
			binding->n_marks++;
		}
	}
}

static const bt_field *packet_context(const bt_event *event)
{
	const bt_packet *packet = bt_event_borrow_packet_const(event);

	return packet ? bt_packet_borrow_context_field_const(packet) : NULL;
}

/* Looks for a member in one of the structures around an event; the first one that has it wins. */
static bool bind_outer(struct outer_field *outer, const char *names, const bt_field_class *fc,
	const bt_field *(*structure)(const bt_event *event))
{
	if (outer->structure || !fc) {
		return outer->structure != NULL;
	}
	outer->access = lqn_access_find(fc, names);
	if (outer->access.integer) {
		outer->structure = structure;
	}
	return outer->structure != NULL;
}

static void bind_outers(struct lqn_binding *binding, const bt_event_class *ec)
{
	const bt_stream_class *sc = bt_event_class_borrow_stream_class_const(ec);
	const bt_field_class *common =
		bt_stream_class_borrow_event_common_context_field_class_const(sc);
	const bt_field_class *specific =
		bt_event_class_borrow_specific_context_field_class_const(ec);
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(ec);

	if (bt_stream_class_supports_packets(sc)) {
		bind_outer(&binding->cpu, CPU_NAMES,
			bt_stream_class_borrow_packet_context_field_class_const(sc),
			packet_context);
	}
	bind_outer(&binding->cpu, CPU_NAMES, common, bt_event_borrow_common_context_field_const);
	bind_outer(&binding->cpu, CPU_NAMES, specific,
		bt_event_borrow_specific_context_field_const);
	bind_outer(&binding->tid, TID_NAMES, specific,
		bt_event_borrow_specific_context_field_const);
	bind_outer(&binding->tid, TID_NAMES, common, bt_event_borrow_common_context_field_const);
	/* perf has no contexts; a plain `tid` of a payload is somebody else's. */
	bind_outer(&binding->cpu, "perf_cpu", payload, bt_event_borrow_payload_field_const);
	bind_outer(&binding->tid, "perf_tid", payload, bt_event_borrow_payload_field_const);
}

/* What user space knows of its threads and processes: the same outside of PID namespaces. */
static void bind_span(struct lqn_binding *binding, const bt_event_class *ec)
{
	const bt_field_class *common = bt_stream_class_borrow_event_common_context_field_class_const(
		bt_event_class_borrow_stream_class_const(ec));
	const bt_field_class *specific =
		bt_event_class_borrow_specific_context_field_class_const(ec);

	bind_outer(&binding->tid, "vtid", specific, bt_event_borrow_specific_context_field_const);
	bind_outer(&binding->tid, "vtid", common, bt_event_borrow_common_context_field_const);
	bind_outer(&binding->pid, PID_NAMES "|vpid", specific,
		bt_event_borrow_specific_context_field_const);
	bind_outer(&binding->pid, PID_NAMES "|vpid", common,
		bt_event_borrow_common_context_field_const);
	if (g_str_has_prefix(binding->init.name, FILE_PREFIX)) {
		binding->host = lqn_access_find(
			bt_event_class_borrow_payload_field_class_const(ec), "host");
	}
}

/* An empty binding with room for the fields of the layout (NULL: there is none). */
static struct lqn_binding *binding_alloc(const struct lqn_layout_event *layout)
{
	const struct lqn_layout_field *fields = layout ? layout->fields : NULL;
	struct lqn_binding *binding;
	size_t n = 0;

	while (fields && fields[n].kind != LQN_FIELD_END) {
		n++;
	}
	binding = g_malloc0(sizeof(*binding) + n * sizeof(binding->fields[0]));
	binding->layout = layout;
	binding->host.index = -1;
	return binding;
}

static struct lqn_binding *binding_new(const bt_event_class *ec,
	const struct lqn_span_layout *spans)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(ec);
	const char *name = bt_event_class_get_name(ec);
	const bool own = name && g_str_has_prefix(name, OWN_PREFIX);
	const struct lqn_layout_event *span;
	struct lqn_binding *binding;

	name = g_intern_string(name ? name : "unnamed");
	span = own ? NULL : lqn_layout_find_span(spans, name);
	binding = binding_alloc(span || own ? span : lqn_layout_find(name));
	binding->kind = own ? LQN_BINDING_OWN : span ? LQN_BINDING_SPAN :
		binding->layout ? LQN_BINDING_KERNEL : LQN_BINDING_OTHER;
	if (binding->layout) {
		lqn_record_init(&binding->init, binding->layout);
		bind_fields(binding, payload);
	} else {
		binding->init.type = LQN_REC_OTHER;
	}
	/* A trace that ignores the layouts (of user space) takes even such events as marks. */
	bind_marks(binding, payload);
	binding->init.name = name;
	binding->class.name = name;
	binding->class.id = bt_event_class_get_id(ec);
	binding->init.text = NULL;
	binding->init.cpu = -1;
	binding->init.tid = -1;
	bind_outers(binding, ec);
	if (span) {
		bind_span(binding, ec);
	}
	binding->cpu_of_packet = binding->cpu.structure == packet_context;
	binding->has_tid = binding->tid.structure != NULL;
	return binding;
}

static void binding_free(void *data)
{
	struct lqn_binding *binding = data;

	for (unsigned i = 0; i < binding->n_fields; i++) {
		lqn_bound_clear(&binding->fields[i]);
	}
	if (binding->missing) {
		g_string_free(binding->missing, TRUE);
	}
	g_free(binding);
}

/* ---- cache --------------------------------------------------------------- */

struct lqn_bindings {
	struct lqn_class_cache *cache;	/* of struct lqn_binding; owned */
	const struct lqn_span_layout *spans;	/* borrowed; NULL: none */
};

struct lqn_bindings *lqn_bindings_new(const struct lqn_span_layout *spans)
{
	struct lqn_bindings *bindings = g_new0(struct lqn_bindings, 1);

	bindings->cache = lqn_class_cache_new(binding_free);
	bindings->spans = spans;
	return bindings;
}

void lqn_bindings_free(struct lqn_bindings *bindings)
{
	if (bindings) {
		lqn_class_cache_free(bindings->cache);
		g_free(bindings);
	}
}

static G_NO_INLINE struct lqn_binding *add_binding(struct lqn_bindings *bindings, const bt_event_class *ec)
{
	struct lqn_binding *binding = binding_new(ec, bindings->spans);

	return lqn_class_cache_put(bindings->cache, ec, binding) ? binding : NULL;
}

struct lqn_binding *lqn_bindings_get(struct lqn_bindings *bindings, const bt_event_class *ec)
{
	struct lqn_binding *binding = lqn_class_cache_get(bindings->cache, ec);

	return G_LIKELY(binding) ? binding : add_binding(bindings, ec);
}

struct missing_visit {
	lqn_missing_func func;
	void *payload;
};

static void visit_missing(void *value, void *payload)
{
	const struct lqn_binding *binding = value;
	const struct missing_visit *visit = payload;

	if (binding->missing) {
		visit->func(visit->payload, binding->init.name, binding->missing->str);
	}
}

void lqn_bindings_each_missing(struct lqn_bindings *bindings, lqn_missing_func func,
	void *payload)
{
	struct missing_visit visit = { func, payload };

	lqn_class_cache_each(bindings->cache, visit_missing, &visit);
}

/* ---- use ----------------------------------------------------------------- */

const char *lqn_binding_name(const struct lqn_binding *binding)
{
	return binding->init.name;
}

struct lqn_told_class *lqn_binding_class(struct lqn_binding *binding)
{
	return &binding->class;
}

enum lqn_binding_kind lqn_binding_kind(const struct lqn_binding *binding)
{
	return binding->kind;
}

bool lqn_binding_is_of_file(const struct lqn_binding *binding)
{
	return binding->kind == LQN_BINDING_SPAN && g_str_has_prefix(binding->init.name, FILE_PREFIX);
}

char *lqn_binding_host(const struct lqn_binding *binding, const bt_event *event)
{
	const bt_field *field = binding->host.shape != LQN_SHAPE_STRING ? NULL :
		lqn_access_borrow(&binding->host, bt_event_borrow_payload_field_const(event));
	char *host = field ? lqn_access_dup_text(&binding->host, field) : NULL;

	if (host && *host == '\0') {
		g_clear_pointer(&host, g_free);
	}
	return host;
}

static inline int32_t read_outer(const struct outer_field *outer, const bt_event *event)
{
	const bt_field *structure = outer->structure ? outer->structure(event) : NULL;

	return structure ? (int32_t) lqn_access_integer(&outer->access, structure, -1) : -1;
}

static inline void start_record(const struct lqn_binding *binding, const bt_event *event,
	int64_t ts, int32_t packet_cpu, struct lqn_record *rec)
{
	*rec = binding->init;
	rec->ts = ts;
	rec->cpu = binding->cpu_of_packet ? packet_cpu : read_outer(&binding->cpu, event);
	if (binding->has_tid) {
		rec->tid = read_outer(&binding->tid, event);
	}
}

void lqn_binding_fill(const struct lqn_binding *binding, const bt_event *event, int64_t ts,
	int32_t packet_cpu, struct lqn_record *rec)
{
	const bt_field *payload;

	start_record(binding, event, ts, packet_cpu, rec);
	if (binding->n_fields == 0) {
		return;
	}
	if (G_UNLIKELY(binding->kind == LQN_BINDING_SPAN && binding->pid.structure)) {
		rec->span.pid = read_outer(&binding->pid, event);
	}
	payload = bt_event_borrow_payload_field_const(event);
	for (const struct lqn_bound *bound = binding->fields, *end = bound + binding->n_fields; bound < end; bound++) {
		const bt_field *field = lqn_access_borrow(&bound->access, payload);

		if (G_LIKELY(field)) {
			bound->store(bound, field, rec);
		}
	}
}

unsigned lqn_binding_count_marks(struct lqn_binding *binding)
{
	if (binding->marked == LQN_MARK_EVENTS) {
		return 0;
	}
	binding->marked++;
	return MAX(binding->n_marks, 1);
}

/* An enumeration's first label, or NULL: it may have none for a value. */
static const char *label_of(const struct mark_member *mark, const bt_field *field)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t n = 0;

	if (mark->access.is_unsigned) {
		if (bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &n) !=
				BT_FIELD_ENUMERATION_GET_MAPPING_LABELS_STATUS_OK) {
			bt_current_thread_clear_error();
			return NULL;
		}
	} else if (bt_field_enumeration_signed_get_mapping_labels(field, &labels, &n) !=
			BT_FIELD_ENUMERATION_GET_MAPPING_LABELS_STATUS_OK) {
		bt_current_thread_clear_error();
		return NULL;
	}
	return n > 0 ? labels[0] : NULL;
}

static char *render(const struct mark_member *mark, const bt_field *field)
{
	const char *label = mark->is_enum ? label_of(mark, field) : NULL;
	int64_t value;

	if (label) {
		return g_strdup(label);
	}
	if (!mark->access.integer) {
		return lqn_access_dup_text(&mark->access, field);
	}
	value = mark->access.integer(field);
	return mark->access.is_unsigned ?
		g_strdup_printf("%" G_GUINT64_FORMAT, (uint64_t) value) :
		g_strdup_printf("%" G_GINT64_FORMAT, value);
}

void lqn_binding_fill_mark(const struct lqn_binding *binding, const bt_event *event, int64_t ts,
	int32_t packet_cpu, unsigned i, struct lqn_record *rec)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *field = i < binding->n_marks ?
		lqn_access_borrow(&binding->marks[i].access, payload) : NULL;

	start_record(binding, event, ts, packet_cpu, rec);
	rec->type = LQN_REC_OTHER;
	rec->kind = 0;
	if (field) {
		rec->text = render(&binding->marks[i], field);
	}
}

int32_t lqn_packet_cpu(const bt_packet *packet)
{
	const bt_field *context = bt_packet_borrow_context_field_const(packet);
	struct lqn_access access;

	if (!context) {
		return -1;
	}
	access = lqn_access_find(bt_field_borrow_class_const(context), CPU_NAMES);
	return (int32_t) lqn_access_integer(&access, context, -1);
}
