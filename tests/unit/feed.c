/* SPDX-License-Identifier: MIT */
#include "feed.h"

#include <check.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "causal/causal.h"
#include "layout/layout.h"

struct feed {
	struct lqn_causal *causal;
	GArray *events;		/* struct lqn_event, their strings interned */
	GHashTable *names;	/* of patterns -> value */
	GHashTable *comms;	/* tid -> name, interned */
	bool finished;
	int64_t latest;			/* ns */
	bool as_is;			/* records are fed with their times, in order or not */
};

static const void *field_of(const struct lqn_event *ev, const struct lqn_event_field *field)
{
	return (const char *) ev + field->offset;
}

static void intern_strings(struct lqn_event *ev)
{
	const struct lqn_event_class *class = lqn_event_class(ev->type);

	for (size_t i = 0; i < class->n_fields; i++) {
		if (class->fields[i].kind == LQN_EVF_STRING) {
			const char **text = (const char **) ((char *) ev + class->fields[i].offset);

			*text = g_intern_string(*text);
		}
	}
}

static void take_event(void *payload, const struct lqn_event *ev)
{
	struct feed *feed = payload;
	struct lqn_event copy = *ev;

	if (feed->events->len > 0) {
		ck_assert_msg(ev->ts >= g_array_index(feed->events, struct lqn_event, feed->events->len - 1).ts,
			"events go back in time");
	}
	intern_strings(&copy);
	g_array_append_val(feed->events, copy);
}

struct feed *feed_new(const char *release)
{
	struct feed *feed = g_new0(struct feed, 1);

	feed->events = g_array_new(FALSE, FALSE, sizeof(struct lqn_event));
	feed->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	feed->comms = g_hash_table_new(NULL, NULL);
	feed->causal = lqn_causal_new("host", release, take_event, feed);
	return feed;
}

void feed_snapshot(struct feed *feed, const struct lqn_snapshot *snapshot)
{
	lqn_causal_set_snapshot(feed->causal, snapshot);
}

void feed_free(struct feed *feed)
{
	lqn_causal_free(feed->causal);
	g_array_free(feed->events, TRUE);
	g_hash_table_destroy(feed->names);
	g_hash_table_destroy(feed->comms);
	g_free(feed);
}

/* ---- records ---- */

static int64_t number(const char *text)
{
	char *end;
	int64_t value = g_ascii_strtoll(text, &end, 0);

	ck_assert_msg(*text && !*end, "not a number: %s", text);
	return value;
}

static int64_t arg(char **args, guint n, guint i, int64_t otherwise)
{
	return i < n ? number(args[i]) : otherwise;
}

static void put_comm(struct feed *feed, int32_t tid, char *comm)
{
	const char *name = g_hash_table_lookup(feed->comms, GINT_TO_POINTER(tid));

	if (name) {
		memcpy(comm, name, MIN(strlen(name), LQN_COMM_LEN));
	} else {
		snprintf(comm, LQN_COMM_LEN, "t%d", tid);
	}
}

static void parse_switch(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	static const struct {
		char letter;
		int64_t value;
	} states[] = { { 'R', 0 }, { 'P', 0x100 }, { 'S', 1 }, { 'D', 2 }, { 'T', 4 }, { 'X', 0x10 } };

	ck_assert_msg(n == 2 && sscanf(args[0], "%d>%d", &rec->sw.prev_tid, &rec->sw.next_tid) == 2,
		"sw PREV>NEXT STATE, not: %s", args[0]);
	rec->sw.prev_state = -1;
	for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
		if (args[1][0] == states[i].letter) {
			rec->sw.prev_state = states[i].value;
		}
	}
	if (rec->sw.prev_state < 0) {
		rec->sw.prev_state = number(args[1]);
	}
	put_comm(feed, rec->sw.prev_tid, rec->sw.prev_comm);
	put_comm(feed, rec->sw.next_tid, rec->sw.next_comm);
}

static void parse_wake(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->wake.tid = (int32_t) arg(args, n, 0, 0);
}

static void parse_fork(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->fork.parent_tid = (int32_t) arg(args, n, 0, 0);
	rec->fork.child_tid = (int32_t) arg(args, n, 1, 0);
	rec->fork.child_pid = (int32_t) arg(args, n, 2, rec->fork.child_tid);
	rec->fork.child_vtid = (int32_t) arg(args, n, 3, -1);
	rec->fork.parent_pid = n > 2 && rec->fork.child_pid != rec->fork.child_tid ? rec->fork.child_pid : -1;
	put_comm(feed, rec->fork.child_tid, rec->fork.child_comm);
}

static void parse_exec(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->exec.tid = (int32_t) arg(args, 1, 0, 0);
	rec->text = g_strdup(args[1]);
}

static void parse_life(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->life.tid = (int32_t) arg(args, n, 0, 0);
}

static void parse_context(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->irq.id = arg(args, n, 0, 0);
}

static void parse_packet(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	int saddr, sport, daddr, dport;
	bool udp = n > 4 && strcmp(args[4], "udp") == 0;

	rec->packet.skb = (uint64_t) arg(args, 1, 0, 0);
	ck_assert(n >= 4 && sscanf(args[1], "%d:%d", &saddr, &sport) == 2 &&
		sscanf(args[2], "%d:%d", &daddr, &dport) == 2);
	rec->packet.saddr = (uint64_t) saddr;
	rec->packet.daddr = (uint64_t) daddr;
	rec->packet.sport = (uint16_t) sport;
	rec->packet.dport = (uint16_t) dport;
	rec->packet.protocol = udp ? 17 : 6;
	rec->packet.header = udp ? 28 : 40;
	rec->packet.len = rec->packet.header + (uint32_t) number(args[3]);
	rec->packet.flags = udp ? 0 : n > 4 ? (uint8_t) number(args[4]) : 0x10;
}

static void parse_copy(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->packet.skb = (uint64_t) arg(args, n, 0, 0);
	rec->packet.len = (uint32_t) arg(args, n, 1, 0);
}

static void parse_block(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->block.dev = (uint64_t) arg(args, n, 0, 0);
	rec->block.tid = (int32_t) arg(args, n, 1, 0);
	rec->block.sector = (uint64_t) arg(args, n, 2, -1);
}

static void parse_state(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->state.tid = (int32_t) arg(args, 2, 0, 0);
	rec->state.pid = (int32_t) arg(args, 2, 1, 0);
	rec->text = g_strdup(args[2]);
	rec->state.status = (int32_t) arg(args, n, 3, 5);
}

static void parse_state_fd(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->state.pid = (int32_t) arg(args, 2, 0, 0);
	rec->state.fd = (int32_t) arg(args, 2, 1, 0);
	rec->text = g_strdup(args[2]);
}

static void parse_inside(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->inside.tid = (int32_t) arg(args, n, 0, 0);
	rec->inside.vpid = (int32_t) arg(args, n, 1, 0);
	rec->inside.vtid = (int32_t) arg(args, n, 2, 0);
}

static void parse_span(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	bool traced = strcmp(args[0], "traced") == 0;

	rec->span.span = (uint64_t) arg(args, n, 1, 0);
	rec->span.pid = (int32_t) arg(args, n, 2, -1);
	*(traced ? &rec->tid : &rec->span.tid) = (int32_t) arg(args, n, 3, -1);
}

static void parse_mark(struct feed *feed, struct lqn_record *rec, char **args, guint n)
{
	rec->name = g_intern_string(args[0]);
	rec->text = g_strdup(n > 1 ? args[1] : NULL);
}

static const struct {
	const char *verb, *event;
	void (*parse)(struct feed *feed, struct lqn_record *rec, char **args, guint n);
} verbs[] = {
	{ "sw", "sched_switch", parse_switch },
	{ "wk", "sched_waking", parse_wake },
	{ "wakeup", "sched_wakeup", parse_wake },
	{ "new", "sched_wakeup_new", parse_wake },
	{ "fork", "sched_process_fork", parse_fork },
	{ "exec", "sched_process_exec", parse_exec },
	{ "exit", "sched_process_exit", parse_life },
	{ "free", "sched_process_free", parse_life },
	{ "+irq", "irq_handler_entry", parse_context },
	{ "-irq", "irq_handler_exit", parse_context },
	{ "+ipi", "x86_irq_vectors_reschedule_entry", parse_context },
	{ "-ipi", "x86_irq_vectors_reschedule_exit", parse_context },
	{ "+tick", "x86_irq_vectors_local_timer_entry", parse_context },
	{ "-tick", "x86_irq_vectors_local_timer_exit", parse_context },
	{ "+softirq", "irq_softirq_entry", parse_context },
	{ "-softirq", "irq_softirq_exit", parse_context },
	{ "+hrtimer", "timer_hrtimer_expire_entry", parse_context },
	{ "-hrtimer", "timer_hrtimer_expire_exit", parse_context },
	{ "+timer", "timer_expire_entry", parse_context },
	{ "-timer", "timer_expire_exit", parse_context },
	{ "queue", "net_dev_queue", parse_packet },
	{ "receive", "net_if_receive_skb", parse_packet },
	{ "copy", "skb_copy_datagram_iovec", parse_copy },
	{ "insert", "block_rq_insert", parse_block },
	{ "issue", "block_rq_issue", parse_block },
	{ "complete", "block_rq_complete", parse_block },
	{ "state", "lttng_statedump_process_state", parse_state },
	{ "statefd", "lttng_statedump_file_descriptor", parse_state_fd },
	{ "inside", "lttng_statedump_process_pid_ns", parse_inside },
	{ "span", "span:begin", parse_span },
	{ "mark", NULL, parse_mark },
};

static void parse_call(struct lqn_record *rec, bool entry, const char *name, char **args, guint n)
{
	g_autofree char *full = g_strconcat(entry ? "syscall_entry_" : "syscall_exit_", name, NULL);
	const struct lqn_layout_event *layout = lqn_layout_find(full);

	ck_assert_ptr_nonnull(layout);
	lqn_record_init(rec, layout);
	rec->name = g_intern_string(full);
	if (!entry) {
		rec->exit.ret = arg(args, n, 0, 0);
		rec->exit.family = rec->kind == LQN_CALL_ACCEPT ? (int32_t) arg(args, n, 1, 0) : 0;
		for (guint i = 1; i < n; i++) {
			rec->exit.fd[rec->exit.n_fds++] = (int32_t) number(args[i]);
		}
		return;
	}
	for (guint i = 0, k = 0; i < n; i++) {
		if (args[i][0] == '/') {
			rec->text = g_strdup(args[i]);
		} else {
			rec->entry.arg[k++] = number(args[i]);
		}
	}
}

/* Fills a record from the words of a line behind the CPU. */
static void parse_record(struct feed *feed, struct lqn_record *rec, char **words, guint n)
{
	for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++) {
		if (strcmp(verbs[i].verb, words[0]) == 0) {
			const char *event = verbs[i].event;

			const struct lqn_layout_event *layout = event ? lqn_layout_find(event) : NULL;

			lqn_record_init(rec, event && !layout ? lqn_layout_find_span(NULL, event) : layout);
			rec->name = event;
			verbs[i].parse(feed, rec, words + 1, n - 1);
			return;
		}
	}
	ck_assert_msg(words[0][0] == '+' || words[0][0] == '-', "unknown verb: %s", words[0]);
	parse_call(rec, words[0][0] == '+', words[0] + 1, words + 1, n - 1);
}

static void feed_line(struct feed *feed, const char *line)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	g_auto(GStrv) parts = g_strsplit_set(line, " \t", -1);
	struct lqn_record rec;
	int64_t ts;
	int32_t cpu;

	for (char **p = parts; *p; p++) {
		if (**p) {
			g_ptr_array_add(words, *p);
		}
	}
	if (words->len == 0) {
		return;
	}
	ck_assert_msg(words->len >= 3 && ((char *) words->pdata[1])[0] == 'c', "not a record: %s", line);
	ts = number(words->pdata[0]) * 1000;
	if (!feed->as_is) {
		ts = MAX(ts, feed->latest);	/* what stands behind is not before */
	}
	feed->latest = MAX(feed->latest, ts);
	cpu = (int32_t) number((char *) words->pdata[1] + 1);
	if (strcmp(words->pdata[2], "lost") == 0) {
		lqn_causal_lost(feed->causal, cpu, ts, number(words->pdata[3]) * 1000,
			(uint64_t) number(words->pdata[4]));
		return;
	}
	if (strcmp(words->pdata[2], "ends") == 0) {
		lqn_causal_cpu_ends(feed->causal, cpu, ts);
		return;
	}
	if (strcmp(words->pdata[2], "name") == 0) {
		g_hash_table_insert(feed->comms, GINT_TO_POINTER((int) number(words->pdata[3])),
			(void *) g_intern_string(words->pdata[4]));
		return;
	}
	parse_record(feed, &rec, (char **) words->pdata + 2, words->len - 2);
	rec.ts = ts;
	rec.cpu = cpu;
	lqn_causal_push(feed->causal, &rec);
}

/* Takes the text over. */
static void feed_lines(struct feed *feed, char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		feed_line(feed, *line);
	}
	g_free(text);
}

void feed(struct feed *feed, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	feed_lines(feed, g_strdup_vprintf(format, args));
	va_end(args);
}

void feed_as_is(struct feed *feed, const char *text)
{
	feed->as_is = true;
	feed_lines(feed, g_strdup(text));
	feed->as_is = false;
}

void feed_finish(struct feed *feed, long us)
{
	ck_assert(!feed->finished);
	feed->finished = true;
	lqn_causal_finish(feed->causal, us * 1000);
}

/* ---- events as text ---- */

static enum lqn_event_type type_of(const char *name)
{
	for (int type = 0; type < LQN_EV_COUNT; type++) {
		if (strcmp(lqn_event_class(type)->name + strlen("lqn:"), name) == 0) {
			return type;
		}
	}
	ck_abort_msg("no such event: %s", name);
	return LQN_EV_COUNT;
}

static const struct lqn_event_field *find_field(enum lqn_event_type type, const char *name)
{
	const struct lqn_event_class *class = lqn_event_class(type);

	for (size_t i = 0; i < class->n_fields; i++) {
		if (strcmp(class->fields[i].name, name) == 0) {
			return &class->fields[i];
		}
	}
	ck_abort_msg("%s has no field %s", class->name, name);
	return NULL;
}

/* A number as text says it; a label counts as its number. */
static int64_t value_of(const struct lqn_event_field *field, const char *text)
{
	size_t len = strlen(text);
	int64_t value;
	char *end;

	if (field->kind == LQN_EVF_ENUM && g_ascii_isalpha(*text)) {
		for (uint32_t i = 0; field->label(i); i++) {
			if (strcmp(field->label(i), text) == 0) {
				return i;
			}
		}
		ck_abort_msg("no label %s", text);
	}
	value = g_ascii_strtoll(text, &end, 0);
	if (*end == '@') {
		return value | number(end + 1) << 32;
	}
	if (*end == 'u' && end == text + len - 1) {
		return value * 1000;
	}
	ck_assert_msg(*text && !*end, "not a value: %s", text);
	return value;
}

static int64_t get(const struct lqn_event *ev, const struct lqn_event_field *field)
{
	const void *p = field_of(ev, field);

	switch (field->kind) {
	case LQN_EVF_U64:
	case LQN_EVF_I64:
	case LQN_EVF_TIME:
		return *(const int64_t *) p;
	case LQN_EVF_I32:
		return *(const int32_t *) p;
	default:
		return *(const uint32_t *) p;
	}
}

static void set(struct lqn_event *ev, const struct lqn_event_field *field, const char *text)
{
	void *p = (char *) ev + field->offset;

	switch (field->kind) {
	case LQN_EVF_STRING:
		*(const char **) p = g_intern_string(text);
		break;
	case LQN_EVF_U64:
	case LQN_EVF_I64:
	case LQN_EVF_TIME:
		*(int64_t *) p = value_of(field, text);
		break;
	default:
		*(uint32_t *) p = (uint32_t) value_of(field, text);
		break;
	}
}

/* Times that an event's own must not precede. */
static const char *const times[] = { "end", "at", "begin", "born" };

struct lqn_event feed_parse_event(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	struct lqn_event ev = { 0 };
	const struct lqn_event_class *class;

	ev.type = type_of(words[0]);
	class = lqn_event_class(ev.type);
	for (size_t i = 0; i < class->n_fields; i++) {
		if (class->fields[i].kind == LQN_EVF_STRING) {
			set(&ev, &class->fields[i], "");
		}
	}
	for (char **word = words + 1; *word; word++) {
		char *value = strchr(*word, '=');

		if (!value) {
			ck_assert_msg(!**word, "not FIELD=VALUE: %s", *word);
			continue;
		}
		*value++ = '\0';
		set(&ev, find_field(ev.type, *word), value);
	}
	for (size_t i = 0; i < class->n_fields; i++) {
		for (size_t k = 0; k < G_N_ELEMENTS(times); k++) {
			if (strcmp(class->fields[i].name, times[k]) == 0) {
				ev.ts = MAX(ev.ts, get(&ev, &class->fields[i]));
			}
		}
	}
	return ev;
}

static char *show(const struct lqn_event *ev)
{
	const struct lqn_event_class *class = lqn_event_class(ev->type);
	GString *out = g_string_new(class->name);

	for (size_t i = 0; i < class->n_fields; i++) {
		const struct lqn_event_field *field = &class->fields[i];

		if (field->kind == LQN_EVF_STRING) {
			g_string_append_printf(out, " %s=%s", field->name, *(const char *const *) field_of(ev, field));
		} else if (field->kind == LQN_EVF_ENUM) {
			g_string_append_printf(out, " %s=%s", field->name, field->label((uint32_t) get(ev, field)));
		} else {
			g_string_append_printf(out, " %s=%" G_GINT64_FORMAT, field->name, get(ev, field));
		}
	}
	return g_string_free(out, FALSE);
}

/* True if the event is like the words of a pattern. Fresh names are bound in `fresh`. */
static bool matches(struct feed *feed, const struct lqn_event *ev, char **words, GHashTable *fresh)
{
	if (ev->type != type_of(words[0])) {
		return false;
	}
	for (char **word = words + 1; *word; word++) {
		g_auto(GStrv) pair = g_strsplit(*word, "=", 2);
		const struct lqn_event_field *field;
		int64_t value;

		if (!pair[0] || !*pair[0]) {
			continue;
		}
		field = find_field(ev->type, pair[0]);
		if (field->kind == LQN_EVF_STRING) {
			if (strcmp(*(const char *const *) field_of(ev, field), pair[1]) != 0) {
				return false;
			}
			continue;
		}
		value = get(ev, field);
		if (*pair[1] == '$') {
			const int64_t *bound = g_hash_table_lookup(feed->names, pair[1]);

			if (!bound) {
				bound = g_hash_table_lookup(fresh, pair[1]);
			}
			if (!bound) {
				g_hash_table_insert(fresh, g_strdup(pair[1]), g_memdup2(&value, sizeof(value)));
			} else if (*bound != value) {
				return false;
			}
		} else if (value_of(field, pair[1]) != value) {
			return false;
		}
	}
	return true;
}

static const struct lqn_event *search(struct feed *feed, const char *pattern, unsigned *count, bool bind)
{
	g_auto(GStrv) words = g_strsplit(pattern, " ", -1);
	const struct lqn_event *first = NULL;

	for (guint i = 0; i < feed->events->len; i++) {
		const struct lqn_event *ev = &g_array_index(feed->events, struct lqn_event, i);
		g_autoptr(GHashTable) fresh = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

		if (!matches(feed, ev, words, fresh)) {
			continue;
		}
		++*count;
		if (!first && bind) {
			GHashTableIter it;
			gpointer key, value;

			g_hash_table_iter_init(&it, fresh);
			while (g_hash_table_iter_next(&it, &key, &value)) {
				g_hash_table_insert(feed->names, g_strdup(key), g_memdup2(value, sizeof(int64_t)));
			}
		}
		first = first ? first : ev;
	}
	return first;
}

const struct lqn_event *feed_expect(struct feed *feed, const char *pattern)
{
	unsigned count = 0;
	const struct lqn_event *ev = search(feed, pattern, &count, true);

	if (!ev) {
		GString *all = g_string_new(NULL);
		g_auto(GStrv) words = g_strsplit(pattern, " ", -1);

		for (guint i = 0; i < feed->events->len; i++) {
			const struct lqn_event *it = &g_array_index(feed->events, struct lqn_event, i);

			if (it->type == type_of(words[0])) {
				g_autofree char *text = show(it);

				g_string_append_printf(all, "\n#   %s", text);
			}
		}
		ck_abort_msg("no event like `%s` among%s", pattern, all->len ? all->str : " none of its type");
	}
	return ev;
}

unsigned feed_count(struct feed *feed, const char *pattern)
{
	unsigned count = 0;

	search(feed, pattern, &count, false);
	return count;
}

void feed_each(struct feed *feed, lqn_event_func func, void *payload)
{
	for (guint i = 0; i < feed->events->len; i++) {
		func(payload, &g_array_index(feed->events, struct lqn_event, i));
	}
}

struct feed *feed_two_new(void)
{
	struct feed *f = feed_new("6.1.0");

	feed(f, "1 c0 sw 0>1 R\n1 c1 sw 0>2 R");
	return f;
}

void feed_two_finish(struct feed *f, long us)
{
	feed(f, "%ld c0 sw 1>0 S\n%ld c1 sw 2>0 S", us, us);
	feed_finish(f, us);
}
