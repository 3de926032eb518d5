/* SPDX-License-Identifier: MIT */

/*
 * Spans of programs, joined with what the kernel shows of their work.
 *
 * A span lies around the work that it tells of, or within it: it is joined with the invocation whose begin and end are nearest to
 * its own. Ends are less sure: a thread that has answered may lose the CPU before it says that its span has ended. Whose
 * invocations come into question is told, best first, by its threads, that on which it began and that on which it ended; by what its parent
 * was joined with, for that has called it; by its process; by its service, of whose name some process is, or else that
 * process whose work most of the service's spans agree with. So the spans of a trace are joined together, parents first, once none of
 * them is open. The first span that begins within an invocation names it: those within it begin later, those around several earlier.
 * What a program asked of whom and what it waited for is the kernel's to say: spans change nothing of that.
 */
#include "spans.h"

#include <string.h>

#include "internal.h"
#include "span-join.h"

#define OPEN_MAX (1u << 17)	/* begun, not ended; more are not taken in */
#define MORE_MAX (1u << 20)	/* further messages of spans that are open; those beyond are not told of */
#define LEARN 64		/* spans whose lags are looked at before the first is joined … */
#define LEARN_ON 8		/* … and after that of one in so many */
#define VOTES 16		/* spans by which a service is known if three quarters of them agree … */
#define HELD_MAX 64		/* … and if half do; those beyond wait no longer */
#define PROCESSES_MAX 16	/* names that a service's spans may vote for */

/* The spans of a trace that have ended, while others of it are open. */
struct trace {
	uint64_t id;
	uint32_t open;
	bool waits;			/* in the queue */
	int64_t since;			/* end of the first of `ended` */
	GArray *ended;			/* struct lqn_span; owned */
};

struct vote {
	const char *process;		/* interned */
	unsigned count;
};

/* The processes of a service. */
struct service {
	struct lqn_span_key key;			/* host, name (interned) */
	const char *process;		/* name of its processes; interned; NULL: not known yet */
	struct vote votes[PROCESSES_MAX];
	unsigned n_votes;
	GArray *held;			/* struct lqn_span, that wait until it is known; owned */
};

static guint hash_key(gconstpointer data)
{
	const struct lqn_span_key *key = data;

	return (guint) (((key->trace * 0x9e3779b97f4a7c15u ^ key->span) * 0x9e3779b97f4a7c15u) >> 32);
}

static gboolean equal_key(gconstpointer a, gconstpointer b)
{
	const struct lqn_span_key *x = a, *y = b;

	return x->trace == y->trace && x->span == y->span;
}

static void forget_more(struct lqn_spans *spans, struct lqn_span *span)
{
	if (span->more) {
		spans->more -= span->more->len;
		g_clear_pointer(&span->more, g_array_unref);
	}
}

static void span_free(gpointer data)
{
	struct lqn_span *span = data;

	g_clear_pointer(&span->more, g_array_unref);
	g_free(span);
}

static void service_free(gpointer data)
{
	struct service *service = data;

	g_array_free(service->held, TRUE);
	g_free(service);
}

static void trace_free(gpointer data)
{
	struct trace *trace = data;

	for (guint i = 0; i < trace->ended->len; i++) {
		g_clear_pointer(&g_array_index(trace->ended, struct lqn_span, i).more, g_array_unref);
	}
	g_array_free(trace->ended, TRUE);
	g_free(trace);
}

struct lqn_spans *lqn_spans_new(void)
{
	struct lqn_spans *spans = g_new0(struct lqn_spans, 1);

	spans->open = g_hash_table_new_full(hash_key, equal_key, NULL, span_free);
	spans->traces = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, trace_free);
	g_queue_init(&spans->waiting);
	spans->services = g_hash_table_new_full(hash_key, equal_key, NULL, service_free);
	return spans;
}

void lqn_spans_free(struct lqn_spans *spans)
{
	g_queue_clear(&spans->waiting);
	g_hash_table_destroy(spans->traces);
	g_hash_table_destroy(spans->open);
	g_hash_table_destroy(spans->services);
	g_free(spans);
}

/* ---- services ---- */

static struct service *service_of(struct lqn_spans *spans, const struct lqn_party *host, const char *name)
{
	struct lqn_span_key key = { host->number, (uint64_t) (uintptr_t) name };
	struct service *service = g_hash_table_lookup(spans->services, &key);

	if (!service) {
		service = g_new0(struct service, 1);
		service->key = key;
		service->held = g_array_new(FALSE, FALSE, sizeof(struct lqn_span));
		g_hash_table_add(spans->services, service);
	}
	return service;
}

/* The kernel keeps the first 15 bytes of a name. */
static bool is_name_of(const char *service, const char *process)
{
	return g_ascii_strcasecmp(service, process) == 0 ||
		(strlen(process) >= 15 && g_ascii_strncasecmp(service, process, strlen(process)) == 0);
}

/* A process that is called like the service. */
static const char *namesake(const struct lqn_party *host, const char *service)
{
	for (guint i = 0; i < host->by_age->len; i++) {
		const char *process = lqn_service_name(host->by_age->pdata[i]);

		if (is_name_of(service, process)) {
			return process;
		}
	}
	return NULL;
}

static void vote(struct service *service, const char *process)
{
	for (unsigned i = 0; i < service->n_votes; i++) {
		if (service->votes[i].process == process) {
			service->votes[i].count++;
			return;
		}
	}
	if (service->n_votes < PROCESSES_MAX) {
		service->votes[service->n_votes++] = (struct vote) { process, 1 };
	}
}

/* The process that most spans agree with, if they are `needed` of all that have voted, in percent. */
static const char *elected(const struct service *service, unsigned needed)
{
	const struct vote *best = NULL;
	unsigned all = 0;

	for (unsigned i = 0; i < service->n_votes; i++) {
		all += service->votes[i].count;
		if (!best || service->votes[i].count > best->count) {
			best = &service->votes[i];
		}
	}
	return best && best->count * 100 >= needed * all ? best->process : NULL;
}

/* Joins what has waited for its service to be known. */
static void settle_service(struct lqn_analysis *a, struct lqn_party *host, struct service *service)
{
	struct lqn_span_scope scope = { .host = host, .process = service->process };

	for (guint i = 0; i < service->held->len && service->process; i++) {
		lqn_span_join(a, &g_array_index(service->held, struct lqn_span, i), &scope, NULL, false);
	}
	g_array_set_size(service->held, 0);
}

/* A span of which no more is known than the service. */
static struct lqn_invocation *join_by_service(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_span *span,
	const struct lqn_invocation *parent)
{
	struct service *service = service_of(a->spans, host, span->service);
	struct lqn_span_scope scope = { .host = host };
	struct lqn_invocation *nearest;

	if (!service->process) {
		service->process = namesake(host, span->service);
	}
	if (service->process) {
		scope.process = service->process;
		return lqn_span_join(a, span, &scope, parent, false);
	}
	nearest = lqn_span_nearest(a, span, &scope);
	if (nearest) {
		vote(service, lqn_service_name(nearest->actor));
	}
	if (service->held->len < HELD_MAX) {
		g_array_append_vals(service->held, span, 1);
	}
	if (service->held->len >= VOTES) {
		service->process = elected(service, service->held->len < HELD_MAX ? 75 : 50);
	}
	if (service->process) {
		settle_service(a, host, service);
	}
	return NULL;
}

/* ---- traces ---- */

static gint by_begin(gconstpointer a, gconstpointer b)
{
	const struct lqn_span *x = a, *y = b;

	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return x->end != y->end ? (x->end > y->end ? -1 : 1) : 0;
}

/* What the parent of `span` was joined with; NULL: nothing that is known. */
static struct lqn_invocation *parents_work(GHashTable *joined, const struct lqn_span *span)
{
	struct lqn_span_key key = { span->key.trace, span->parent };

	return span->parent ? g_hash_table_lookup(joined, &key) : NULL;
}

static struct lqn_invocation *join_span(struct lqn_analysis *a, const struct lqn_span *span, const struct lqn_invocation *parent)
{
	struct lqn_party *host = a->hosts->pdata[span->host];
	struct lqn_span_scope scope = lqn_span_scope(host, span);

	if (scope.threads[0] || scope.threads[1]) {
		return lqn_span_join(a, span, &scope, parent, span->evidence == LQN_CERTAIN);
	}
	if (scope.unit) {
		return lqn_span_join(a, span, &scope, parent, false);
	}
	return span->service ? join_by_service(a, host, span, parent) : NULL;
}

/* Spans of producers and consumers tell of messages: by a name that both have, else the consumer's parent is the producer's. */
static void tell_message(struct lqn_analysis *a, const struct lqn_span *span, struct lqn_invocation *work)
{
	bool sent = span->kind == LQN_SPAN_PRODUCER;
	struct lqn_told_message told = { span->message ? LQN_TOLD_BY_NAME : span->key.trace,
		span->message ? span->message : sent ? span->key.span : span->parent, span->begin + a->spans->ahead,
		span->end + a->spans->ahead, work, sent, span->evidence == LQN_CERTAIN };

	if (sent || (span->kind == LQN_SPAN_CONSUMER && (span->message || (span->parent && !span->more)))) {
		g_array_append_val(a->told, told);
		lqn_keep_add(&a->keep, sizeof(told));
	}
	for (guint i = 0; span->more && i < span->more->len; i++) {
		told.trace = LQN_TOLD_BY_NAME;
		told.span = g_array_index(span->more, uint64_t, i);
		g_array_append_val(a->told, told);
		lqn_keep_add(&a->keep, sizeof(told));
	}
}

static void join_trace(struct lqn_analysis *a, struct trace *trace)
{
	g_autoptr(GHashTable) joined = g_hash_table_new(hash_key, equal_key);

	g_array_sort(trace->ended, by_begin);
	for (guint i = 0; i < trace->ended->len; i++) {
		struct lqn_span *span = &g_array_index(trace->ended, struct lqn_span, i);
		struct lqn_invocation *it = join_span(a, span, parents_work(joined, span));

		if (it) {
			g_hash_table_insert(joined, &span->key, it);
			tell_message(a, span, it);
		}
		forget_more(a->spans, span);
	}
	g_array_set_size(trace->ended, 0);
}

static struct trace *trace_of(struct lqn_spans *spans, uint64_t id)
{
	struct trace *trace = g_hash_table_lookup(spans->traces, &id);

	if (!trace) {
		trace = g_new0(struct trace, 1);
		trace->id = id;
		trace->ended = g_array_new(FALSE, FALSE, sizeof(struct lqn_span));
		g_hash_table_insert(spans->traces, &trace->id, trace);
	}
	return trace;
}

/* Joins the traces that are complete, or have waited long enough at `now`; with INT64_MAX all. */
static void join_traces(struct lqn_analysis *a, int64_t now)
{
	struct trace *trace;

	if (a->spans->counts.told < LEARN && now != INT64_MAX) {
		return;
	}
	while ((trace = g_queue_peek_head(&a->spans->waiting)) && (trace->open == 0 || trace->since < now - LQN_SPAN_PATIENCE)) {
		g_queue_pop_head(&a->spans->waiting);
		trace->waits = false;
		join_trace(a, trace);
		if (trace->open == 0) {
			g_hash_table_remove(a->spans->traces, &trace->id);
		}
	}
}

static gint by_host_and_name(gconstpointer a, gconstpointer b)
{
	const struct service *x = *(struct service *const *) a, *y = *(struct service *const *) b;

	if (x->key.trace != y->key.trace) {
		return x->key.trace < y->key.trace ? -1 : 1;
	}
	return strcmp((const char *) (uintptr_t) x->key.span, (const char *) (uintptr_t) y->key.span);
}

void lqn_spans_flush(struct lqn_analysis *a)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	GHashTableIter it;
	gpointer value;

	join_traces(a, INT64_MAX);
	g_hash_table_iter_init(&it, a->spans->services);
	while (g_hash_table_iter_next(&it, &value, NULL)) {
		g_ptr_array_add(all, value);
	}
	/* what is printed does not depend on the order of a hash table */
	g_ptr_array_sort(all, by_host_and_name);
	for (guint i = 0; i < all->len; i++) {
		struct service *service = all->pdata[i];

		if (!service->process) {
			service->process = elected(service, 50);
			settle_service(a, a->hosts->pdata[service->key.trace], service);
		}
	}
}

/* ---- events ---- */

void lqn_on_span(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_span *span;

	if (g_hash_table_size(a->spans->open) >= OPEN_MAX) {
		a->spans->counts.unfinished++;
		return;
	}
	span = g_new0(struct lqn_span, 1);
	span->key = (struct lqn_span_key) { ev->span.trace, ev->span.span };
	span->parent = ev->span.parent;
	span->message = ev->span.message;
	span->thread = ev->span.thread;
	span->begin = ev->span.at;
	span->pid = ev->span.pid;
	span->kind = (uint8_t) ev->span.kind;
	span->evidence = (uint8_t) ev->span.evidence;
	span->host = (uint16_t) host->number;
	span->name = ev->span.name;
	span->service = *ev->span.service ? ev->span.service : NULL;
	if (g_hash_table_contains(a->spans->open, &span->key)) {
		forget_more(a->spans, g_hash_table_lookup(a->spans->open, &span->key));
	}
	if (g_hash_table_replace(a->spans->open, span, span)) {
		trace_of(a->spans, span->key.trace)->open++;
	} else {
		a->spans->counts.repeated++;
	}
}

void lqn_on_span_message(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_span_key key = { ev->span_message.trace, ev->span_message.span };
	struct lqn_span *span = g_hash_table_lookup(a->spans->open, &key);

	if (!span || a->spans->more >= MORE_MAX) {
		a->spans->counts.unlinked++;
		return;
	}
	if (!span->more) {
		span->more = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	}
	g_array_append_val(span->more, ev->span_message.message);
	a->spans->more++;
}

void lqn_on_span_end(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	struct lqn_span_key key = { ev->span.trace, ev->span.span };
	struct lqn_span *span = g_hash_table_lookup(a->spans->open, &key);
	struct trace *trace;
	struct lqn_span_scope scope;

	if (!span) {
		a->spans->counts.headless++;
		return;
	}
	span->end = MAX(ev->span.at, span->begin);
	span->end_thread = ev->span.thread;
	if (a->spans->counts.told++ < LEARN || a->spans->counts.told % LEARN_ON == 0) {
		scope = lqn_span_scope(a->hosts->pdata[span->host], span);
		lqn_span_lag(a, span, &scope);
		a->spans->ahead = lqn_span_clock_ahead(&a->spans->clock);
	}
	trace = trace_of(a->spans, key.trace);
	trace->open--;
	g_array_append_vals(trace->ended, span, 1);
	span->more = NULL;
	g_hash_table_remove(a->spans->open, &key);
	if (!trace->waits) {
		trace->waits = true;
		trace->since = ev->span.at;
		g_queue_push_tail(&a->spans->waiting, trace);
	}
	join_traces(a, ev->span.at);
}

struct lqn_span_counts lqn_spans_count(const struct lqn_spans *spans)
{
	struct lqn_span_counts counts = spans->counts;

	counts.unfinished += g_hash_table_size(spans->open);
	if (!lqn_span_clock_range(&spans->clock, &counts.ahead_min, &counts.ahead_max)) {
		counts.ahead_min = 1;
		counts.ahead_max = 0;
	}
	return counts;
}
