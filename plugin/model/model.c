/* SPDX-License-Identifier: MIT */
#include "plugin/model/model.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin/common/identity.h"
#include "plugin/common/message.h"
#include "plugin/common/params.h"
#include "plugin/model/decode.h"
#include "plugin/model/interval.h"
#include "result/result.h"
#include "solve/solve.h"
#include "write/write.h"

#define FAIL(model, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((model)->self, __VA_ARGS__)

#define INTERVAL_MIN 0.01	/* s */
#define INTERVAL_MAX 1e6

/* MB of what is over; with what is alive, and Babeltrace itself, less than 100 MB for most traces. */
#define DETAIL 32
#define DETAIL_MAX 1000000

#define LEFT_OUT UINT_MAX	/* in the place of a host's number */
#define SOLVER "lqns"		/* asked if it is there, unless another is named … */
#define NO_SOLVER "none"	/* … or this */
#define SOLVER_SECONDS 20

struct model {
	bt_self_component *self;		/* borrowed */
	bt_message_iterator *up;		/* owned; NULL until the graph is configured */
	struct lqn_decoder *decoder;		/* owned */
	struct lqn_analysis *analysis;		/* owned */
	GHashTable *hosts;	/* const bt_stream *, a reference, owned -> number of its host */
	GHashTable *tellers;	/* name of a host, owned -> the stream that tells of it, borrowed */
	/* Of the stream that the last event came from; borrowed, NULL at first. */
	const bt_stream *last_stream;
	unsigned last_host;

	GPtrArray *snapshots;			/* struct lqn_snapshot; owned; NULL: none */
	struct lqn_rules *rules;		/* owned; NULL: none */
	uint64_t unsound;			/* events that were left out */
	bool running;		/* messages have come, and their end has not */
	struct interval interval;
	int64_t now;		/* ns; of the last message with a time; INT64_MIN: none has come */
	unsigned written;	/* results so far */
	/* parameters */
	char *output;				/* owned; NULL: write no files */
	char *name;				/* owned; may be NULL */
	char *begin_mark, *end_mark;		/* owned; may be NULL */
	char *thread;				/* owned; NULL: no thread's path is wanted */
	char *rules_file;			/* owned; may be NULL */
	char *entries_name;			/* owned; NULL: the default */
	double background_below;
	enum lqn_entries entries;
	char *solver;				/* owned; NULL: the one of PATH, if any */
	GPtrArray *identity;			/* names of files: char *; owned; NULL: none */
	int64_t begin, end;			/* ns */
	double interval_s;			/* 0: one model, of all */
	char *path_files;			/* owned; NULL: the usual ones */
	int64_t slowest;			/* requests of each operation told in full */
	int64_t detail;				/* MB */
	bool overwrite, all_paths, summary, whole, clutter, partial;
};

/* ---- initialization ------------------------------------------------------ */

bt_component_class_get_supported_mip_versions_method_status model_mip_versions(
	bt_self_component_class_sink *self_class, const bt_value *params, void *data,
	bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	return (int) lqn_message_add_versions(versions);
}

static void model_free(struct model *model)
{
	bt_message_iterator_put_ref(model->up);
	lqn_decoder_free(model->decoder);
	if (model->analysis) {
		lqn_analysis_free(model->analysis);
	}
	g_hash_table_destroy(model->tellers);
	g_hash_table_destroy(model->hosts);
	g_free(model->output);
	g_free(model->name);
	g_free(model->begin_mark);
	g_free(model->end_mark);
	g_free(model->thread);
	g_free(model->rules_file);
	g_free(model->entries_name);
	g_free(model->solver);
	g_clear_pointer(&model->identity, g_ptr_array_unref);
	g_clear_pointer(&model->snapshots, g_ptr_array_unref);
	lqn_rules_free(model->rules);
	g_free(model->path_files);
	g_free(model);
}

static void put_stream(void *stream)
{
	bt_stream_put_ref(stream);
}

static bool read_params(struct model *model, const bt_value *params)
{
	const struct lqn_param known[] = {
		{ "output", LQN_PARAM_STRING, &model->output },
		{ "overwrite", LQN_PARAM_BOOL, &model->overwrite },
		{ "begin-mark", LQN_PARAM_STRING, &model->begin_mark },
		{ "end-mark", LQN_PARAM_STRING, &model->end_mark },
		{ "begin", LQN_PARAM_INT, &model->begin },
		{ "end", LQN_PARAM_INT, &model->end },
		{ "detail", LQN_PARAM_INT, &model->detail },
		{ "whole", LQN_PARAM_BOOL, &model->whole },
		{ "clutter", LQN_PARAM_BOOL, &model->clutter },
		{ "background-below", LQN_PARAM_REAL, &model->background_below },
		{ "entries", LQN_PARAM_STRING, &model->entries_name },
		{ "all-paths", LQN_PARAM_BOOL, &model->all_paths },
		{ "path-files", LQN_PARAM_STRING, &model->path_files },
		{ "slowest", LQN_PARAM_INT, &model->slowest },
		{ "name", LQN_PARAM_STRING, &model->name },
		{ "summary", LQN_PARAM_BOOL, &model->summary },
		{ "thread", LQN_PARAM_STRING, &model->thread },
		{ "identity", LQN_PARAM_STRINGS, &model->identity },
		{ "rules", LQN_PARAM_STRING, &model->rules_file },
		{ "solver", LQN_PARAM_STRING, &model->solver },
		{ "partial", LQN_PARAM_BOOL, &model->partial },
		{ "interval", LQN_PARAM_REAL, &model->interval_s },
	};

	return lqn_params_read(model->self, params, known, G_N_ELEMENTS(known));
}

/* `model/` is the folder `model`, whose parent is not `model`. */
static void strip_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] == '/') {
		path[--len] = '\0';
	}
}

static bool read_entries(struct model *model)
{
	static const char *const names[] = {
		[LQN_ENTRIES_OPERATION] = "operation",
		[LQN_ENTRIES_CALLERS] = "callers",
		[LQN_ENTRIES_TASK] = "task",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		if (!model->entries_name || strcmp(model->entries_name, names[i]) == 0) {
			model->entries = (enum lqn_entries) i;
			return true;
		}
	}
	FAIL(model, "Parameter `entries`: `%s` is none of operation, callers, task", model->entries_name);
	return false;
}

/* The windows of `interval` follow each other: nothing else can say what they are. */
static bool check_interval(struct model *model)
{
	if (model->interval_s == 0) {
		return true;
	}
	if (!(model->interval_s >= INTERVAL_MIN && model->interval_s <= INTERVAL_MAX)) {
		FAIL(model, "Parameter `interval`: %g s, not from %g to %g", model->interval_s,
			INTERVAL_MIN, INTERVAL_MAX);
		return false;
	}
	if (model->begin_mark || model->end_mark || model->begin != INT64_MIN ||
			model->end != INT64_MAX || model->whole || model->thread) {
		FAIL(model, "Parameter `interval`: it goes with none of `begin`, `end`, "
			"`begin-mark`, `end-mark`, `whole`, `thread`");
		return false;
	}
	model->interval.ns = (int64_t) (model->interval_s * 1e9);
	return true;
}

#define SLOWEST_MAX 1000	/* all of them are kept in full */

/* What is written of the critical paths, by the names that the parameter `path-files` has for it. */
static const struct {
	const char *name, *file;
	GString *(*write)(const struct lqn_path_report *report);
	bool usual;			/* written if nothing is asked for */
} path_files[] = {
	{ "text", "critical-path.txt", lqn_write_paths, true },
	{ "json", "critical-path.json", lqn_write_path_json, false },
	{ "folded", "critical-path.folded", lqn_write_folded, true },
	{ "trace", "slow-requests.json", lqn_write_trace_events, false },
};

static bool is_wanted(const struct model *model, size_t i)
{
	g_auto(GStrv) wanted = model->path_files ? g_strsplit(model->path_files, ",", -1) : NULL;

	return wanted ? g_strv_contains((const char *const *) wanted, path_files[i].name) :
		path_files[i].usual;
}

static bool check_path_params(struct model *model)
{
	g_auto(GStrv) wanted = model->path_files ? g_strsplit(model->path_files, ",", -1) : NULL;

	if (model->slowest < 0 || model->slowest > SLOWEST_MAX) {
		FAIL(model, "Parameter `slowest`: %" PRId64 " is not within 0 and %d",
			model->slowest, SLOWEST_MAX);
		return false;
	}
	for (size_t i = 0; wanted && wanted[i]; i++) {
		bool known = strcmp(wanted[i], "none") == 0 && !wanted[1];

		for (size_t k = 0; k < G_N_ELEMENTS(path_files); k++) {
			known |= strcmp(wanted[i], path_files[k].name) == 0;
		}
		if (!known) {
			FAIL(model, "Parameter `path-files`: `%s` is none of `text`, `json`, "
				"`folded`, `trace`, separated by commas, nor `none` alone",
				wanted[i]);
			return false;
		}
	}
	return true;
}

/* Finds out before the trace is read what would make the writing fail after it. */
static bool check_params(struct model *model)
{
	char *parent;
	bool ok;

	if (model->begin >= model->end) {
		FAIL(model, "Parameters `begin` and `end`: %" PRId64 " is not before %" PRId64,
			model->begin, model->end);
		return false;
	}
	if (!check_path_params(model)) {
		return false;
	}
	if (!(model->background_below > 0 && model->background_below <= 1)) {
		FAIL(model, "Parameter `background-below`: %g is no share above 0 and up to 1; `clutter=yes` keeps all",
			model->background_below);
		return false;
	}
	if (!read_entries(model) || !check_interval(model)) {
		return false;
	}
	if (model->detail < 0 || model->detail > DETAIL_MAX) {
		FAIL(model, "Parameter `detail`: %" PRId64 " MB, not from 1 to %d, or 0 for no bound",
			model->detail, DETAIL_MAX);
		return false;
	}
	if (!model->output) {
		return true;
	}
	strip_slashes(model->output);
	if (*model->output == '\0') {
		FAIL(model, "Parameter `output`: the folder has no name");
		return false;
	}
	if (!model->overwrite && g_file_test(model->output, G_FILE_TEST_EXISTS)) {
		FAIL(model, "Output folder `%s` exists already: name another one, remove it, or "
			"add `overwrite=yes`", model->output);
		return false;
	}
	if (g_file_test(model->output, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK) &&
			!g_file_test(model->output, G_FILE_TEST_IS_DIR)) {
		FAIL(model, "Output folder `%s` cannot be made: something else has that name",
			model->output);
		return false;
	}
	parent = g_path_get_dirname(model->output);
	ok = g_access(parent, W_OK | X_OK) == 0;
	if (!ok) {
		FAIL(model, "Output folder `%s` cannot be made: no folder `%s`, or no right to "
			"write there", model->output, parent);
	}
	g_free(parent);
	return ok;
}

bt_component_class_initialize_method_status model_init(bt_self_component_sink *self_sink,
	bt_self_component_sink_configuration *config, const bt_value *params, void *data)
{
	struct model *model = g_new0(struct model, 1);
	bt_self_component_add_port_status status;
	struct lqn_options options;

	model->self = bt_self_component_sink_as_self_component(self_sink);
	model->begin = INT64_MIN;
	model->end = INT64_MAX;
	model->interval.begin = model->now = INT64_MIN;
	model->summary = true;
	model->background_below = LQN_BACKGROUND_BELOW;
	model->slowest = 5;
	model->detail = DETAIL;
	model->decoder = lqn_decoder_new();
	model->hosts = g_hash_table_new_full(NULL, NULL, put_stream, NULL);
	model->tellers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (!read_params(model, params) || !check_params(model) ||
			!lqn_identity_read_snapshots(model->self, model->identity, &model->snapshots) ||
			!lqn_identity_read_rules(model->self, model->rules_file, &model->rules)) {
		model_free(model);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = bt_self_component_sink_add_input_port(self_sink, "in", NULL, NULL);
	if (status != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		model_free(model);
		return (int) status;
	}
	options = (struct lqn_options) {
		.begin_mark = model->begin_mark,
		.end_mark = model->end_mark,
		.begin = model->begin,
		.end = model->end,
		.detail = (uint64_t) model->detail * 1000000,
		.all_paths = model->all_paths,
		.slowest = (unsigned) model->slowest,
		.whole = model->whole,
		.clutter = model->clutter,
		.background_below = model->background_below,
		.entries = model->entries,
		.name = model->name,
		.thread = model->thread,
		.snapshots = model->snapshots,
		.rules = model->rules,
	};
	model->analysis = lqn_analysis_new(&options);
	bt_self_component_set_data(model->self, model);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_sink_graph_is_configured_method_status model_graph_is_configured(
	bt_self_component_sink *self_sink)
{
	struct model *model = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self_sink));
	bt_self_component_port_input *in =
		bt_self_component_sink_borrow_input_port_by_name(self_sink, "in");

	/* To go on would make the library abort the process. */
	if (!bt_port_is_connected(bt_self_component_port_as_port(
			bt_self_component_port_input_as_self_component_port(in)))) {
		FAIL(model, "Input port `in` is not connected");
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	return (int) bt_message_iterator_create_from_sink_component(self_sink, in, &model->up);
}

/* ---- events -------------------------------------------------------------- */

static const char *stream_name(const bt_stream *stream)
{
	const char *name = bt_stream_get_name(stream);

	return name ? name : "localhost";
}

static void set_number(struct model *model, const bt_stream *stream, unsigned number)
{
	model->last_stream = stream;
	model->last_host = number;
	bt_stream_get_ref(stream);
	g_hash_table_replace(model->hosts, (void *) stream, GUINT_TO_POINTER(number));
}

static void set_host(struct model *model, const bt_stream *stream, const char *name)
{
	set_number(model, stream, lqn_analysis_host(model->analysis, name));
}

static gboolean is_stream(void *name, void *stream, void *wanted)
{
	return stream == wanted;
}

/*
 * A stream begins to tell of a host. Where the filter was used twice, or on what it had stored
 * beside the kernel's events, two streams tell the same at the same time: one is enough. What comes
 * after a stream's summary is another part of the trace.
 */
static bool is_told_already(struct model *model, const bt_stream *stream, const char *name)
{
	const bt_stream *teller = g_hash_table_lookup(model->tellers, name);

	if (!teller) {
		g_hash_table_insert(model->tellers, g_strdup(name), (void *) stream);
	}
	return teller && teller != stream;
}

/* The number of the host that the stream tells of. */
static unsigned get_host(struct model *model, const bt_stream *stream)
{
	void *host;

	if (model->last_stream == stream) {
		return model->last_host;
	}
	if (g_hash_table_lookup_extended(model->hosts, stream, NULL, &host)) {
		model->last_stream = stream;
		model->last_host = GPOINTER_TO_UINT(host);
	} else {
		/* The stream's beginning was cut off, and with it the event that names the host. */
		set_host(model, stream, stream_name(stream));
	}
	return model->last_host;
}

/* Where and when an event is, for people; g_free(). */
static char *place_of(const bt_stream *stream, int64_t ts)
{
	const char *trace = bt_trace_get_name(bt_stream_borrow_trace_const(stream));

	return g_strdup_printf("trace `%s`, stream `%s`, at %" PRId64 " ns",
		trace ? trace : "unnamed", stream_name(stream), ts);
}

static bool begin_stream(struct model *model, const bt_stream *stream, const struct lqn_event *ev)
{
	const char *name;

	if (ev->host.schema != LQN_EVENT_SCHEMA) {
		char *place = place_of(stream, ev->ts);

		FAIL(model, "Event `lqn:host` of %s: events of schema %" PRIu32 ", this version "
			"reads schema %d; make them again with filter.lqn.causal of this version",
			place, ev->host.schema, LQN_EVENT_SCHEMA);
		g_free(place);
		return false;
	}
	name = *ev->host.name != '\0' ? ev->host.name : stream_name(stream);
	if (is_told_already(model, stream, name)) {
		fprintf(stderr,
			"sink.lqn.model: host `%s` is told of twice at the same time; "
			"the second stream is left out\n",
			name);
		set_number(model, stream, LEFT_OUT);
	} else {
		set_host(model, stream, name);
	}
	return true;
}

static bool read_time(struct model *model, const bt_message *msg, const bt_stream *stream,
	struct lqn_event *ev)
{
	const bt_clock_snapshot *cs = lqn_message_clock(msg);
	const bool ok = cs && bt_clock_snapshot_get_ns_from_origin(cs, &ev->ts) ==
		BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;

	if (!ok) {
		char *place = place_of(stream, -1);

		FAIL(model, "Event `%s` of %s: no time, or one out of range",
			lqn_event_class((enum lqn_event_type) ev->type)->name, place);
		g_free(place);
	}
	return ok;
}

static bool take_event(struct model *model, const bt_message *msg)
{
	const bt_event *event = bt_message_event_borrow_event_const(msg);
	enum lqn_decode_status status;
	const bt_stream *stream;
	struct lqn_event ev;
	unsigned host;

	status = lqn_decoder_decode(model->decoder, event, &ev);
	if (status == LQN_DECODE_FOREIGN) {
		return true;
	}
	if (status == LQN_DECODE_NO_MEMORY) {
		FAIL(model, "Out of memory");
		return false;
	}
	stream = bt_event_borrow_stream_const(event);
	if (!read_time(model, msg, stream, &ev)) {
		return false;
	}
	if (!lqn_event_is_sound(&ev)) {
		model->unsound++;
		return true;
	}
	if (ev.type == LQN_EV_HOST && !begin_stream(model, stream, &ev)) {
		return false;
	}
	host = get_host(model, stream);
	if (host == LEFT_OUT) {
		return true;
	}
	if (ev.type == LQN_EV_SUMMARY) {
		g_hash_table_foreach_remove(model->tellers, is_stream, (void *) stream);
	}
	lqn_analysis_event(model->analysis, host, &ev);
	return true;
}

/* ---- results ------------------------------------------------------------- */

/* `result` and `paths` are NULL if there is no model, `thread` if no thread's path is wanted. */
static bool write_files(struct model *model, const struct lqn_model *result,
	const struct lqn_path_report *paths, const struct lqn_thread_path *thread)
{
	enum { OTHERS = 5, FILES = OTHERS + G_N_ELEMENTS(path_files) };
	const char *names[FILES] = {
		"model.lqnx", "model.lqn", "model.json", "critical-paths.tsv", "thread-path.tsv",
	};
	GString *texts[FILES] = {
		result ? lqn_write_lqnx(result) : NULL, result ? lqn_write_lqn(result) : NULL,
		result ? lqn_write_json(result) : NULL,
		result && model->all_paths ? lqn_write_path_table(paths) : NULL,
		thread ? lqn_write_thread_path(thread) : NULL,
	};
	GError *error = NULL;
	bool ok;

	for (size_t i = 0; i < G_N_ELEMENTS(path_files); i++) {
		names[OTHERS + i] = path_files[i].file;
		texts[OTHERS + i] = result && is_wanted(model, i) ?
			path_files[i].write(paths) : NULL;
	}
	ok = lqn_write_folder(model->output, model->overwrite || model->written > 0, names, texts, G_N_ELEMENTS(names),
		&error);
	if (!ok) {
		FAIL(model, "Cannot write to `%s`: %s", model->output,
			error ? error->message : "unknown error");
		g_clear_error(&error);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		if (texts[i]) {
			g_string_free(texts[i], TRUE);
		}
	}
	return ok;
}

static bool print(struct model *model, GString *text)
{
	bool ok = fwrite(text->str, 1, text->len, stdout) == text->len && fflush(stdout) == 0;

	g_string_free(text, TRUE);
	if (!ok) {
		FAIL(model, "Cannot write to the standard output");
	}
	return ok;
}

/* What to do about an error of the analysis; `code` is an enum lqn_analysis_error. */
static const char *advice_for(int code)
{
	static const char *const advice[] = {
		[LQN_ANALYSIS_NO_EVENTS] = "like this: "
			"`babeltrace2 TRACE --component=filter.lqn.causal "
			"--component=sink.lqn.model`",
		[LQN_ANALYSIS_NO_MARK] = "see the candidates with `babeltrace2 TRACE "
			"--component=filter.lqn.causal | grep lqn:mark`",
		[LQN_ANALYSIS_NO_REQUESTS] = "check that the workload ran in the window, and that "
			"its system calls were recorded",
	};

	return code >= 0 && (size_t) code < G_N_ELEMENTS(advice) ? advice[code] : NULL;
}

/* What a solver predicts, beside what was measured. That it fails is a part of the result, no error. */
static void ask_solver(const struct model *model, struct lqn_model *result)
{
	const char *program = model->solver ? model->solver : SOLVER;
	g_autofree char *path = g_find_program_in_path(program);
	g_autoptr(GError) error = NULL;

	if (strcmp(program, NO_SOLVER) == 0 || (!path && !model->solver)) {
		return;
	}
	result->checks->solver = g_strdup(program);
	result->checks->prediction = lqn_solve(result, program, SOLVER_SECONDS, &error);
	result->checks->failure = error ? g_strdup(error->message) : NULL;
}

static bool write_results(struct model *model, const struct lqn_model *result,
	const struct lqn_path_report *paths)
{
	struct lqn_thread_path *thread = NULL;
	GError *error = NULL;
	bool ok = true;

	if (model->thread) {
		thread = lqn_analysis_thread_path(model->analysis, &error);
		if (!thread) {
			FAIL(model, "Parameter `thread`: %s", error->message);
			g_clear_error(&error);
			return false;
		}
	}
	ok = (!model->output || write_files(model, result, paths, thread)) &&
		(!model->summary || !result || print(model, lqn_write_summary(result, paths))) &&
		(model->output || !thread || print(model, lqn_write_thread_path(thread)));
	lqn_thread_path_free(thread);
	model->written++;
	return ok;
}

/* Time goes on: writes the model of the window that is over, if one is. */
static bool roll(struct model *model)
{
	struct lqn_model *result = NULL;
	struct lqn_path_report *paths = NULL;
	int64_t begin, end;
	bool ok = true;

	if (model->now == INT64_MIN || !interval_is_over(&model->interval, model->now, &begin)) {
		return true;
	}
	end = begin + model->interval.ns;
	lqn_analysis_advance(model->analysis, end + interval_settle(&model->interval));
	/* a window without requests is no error: the last one that had some stays */
	if (lqn_analysis_snapshot(model->analysis, begin, end, &result, &paths, NULL)) {
		ok = write_results(model, result, paths);
		lqn_model_free(result);
		lqn_path_report_free(paths);
	}
	/* the next window begins there */
	lqn_analysis_forget(model->analysis, end);
	return ok;
}

/* The last window, which may be shorter; `error` is set if there is nothing in it. */
static bool analyse_rest(struct model *model, struct lqn_model **result,
	struct lqn_path_report **paths, GError **error)
{
	if (model->interval.ns == 0 || model->interval.begin == INT64_MIN) {
		return lqn_analysis_finish(model->analysis, result, paths, error);
	}
	lqn_analysis_end(model->analysis);
	return lqn_analysis_snapshot(model->analysis, model->interval.begin, model->now + 1, result,
		paths, error);
}

/* `partial`: why this is not of the whole trace; NULL: it is. */
static bool finish(struct model *model, const char *partial)
{
	struct lqn_model *result = NULL;
	struct lqn_path_report *paths = NULL;
	GError *error = NULL;
	bool ok = analyse_rest(model, &result, &paths, &error);

	if (model->unsound > 0) {
		fprintf(stderr,
			"sink.lqn.model: %" PRIu64
			" events were left out: their times or numbers make no sense\n",
			model->unsound);
	}
	if (!ok && model->thread && g_error_matches(error, LQN_ANALYSIS_ERROR,
			LQN_ANALYSIS_NO_REQUESTS)) {
		/* a thread's path needs no requests */
		fprintf(stderr, "sink.lqn.model: no model, only the path of thread `%s`: %s\n",
			model->thread, error->message);
		g_clear_error(&error);
		return write_results(model, NULL, NULL);
	}
	if (!ok && model->written > 0 && g_error_matches(error, LQN_ANALYSIS_ERROR,
			LQN_ANALYSIS_NO_REQUESTS)) {
		g_clear_error(&error);
		return true;
	}
	if (!ok) {
		const char *advice = error && error->domain == LQN_ANALYSIS_ERROR ?
			advice_for(error->code) : NULL;

		FAIL(model, "No model: %s%s%s", error ? error->message : "unknown error",
			advice ? "; " : "", advice ? advice : "");
		g_clear_error(&error);
		return false;
	}
	if (model->interval.ns == 0) {
		ask_solver(model, result);
	}
	result->partial = g_strdup(partial);
	paths->partial = g_strdup(partial);
	ok = write_results(model, result, paths);
	lqn_model_free(result);
	lqn_path_report_free(paths);
	return ok;
}

/* Says on the standard error what nobody takes as an error of the graph any more. */
static void tell_error(void)
{
	const bt_error *error = bt_current_thread_take_error();

	for (uint64_t i = 0; error && i < bt_error_get_cause_count(error); i++) {
		fprintf(stderr, "sink.lqn.model: %s\n", bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(error, i)));
	}
	if (error) {
		bt_error_release(error);
	}
}

/* The messages will not come to their end: writes what there is, if that is wanted. */
static void finish_early(struct model *model, const char *reason)
{
	if (model->partial && model->running && !finish(model, reason)) {
		tell_error();
	}
	model->running = false;
}

/* An interrupted run comes here without an end of its messages. */
void model_finalize(bt_self_component_sink *self_sink)
{
	struct model *model = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self_sink));

	finish_early(model, "the run was interrupted");
	model_free(model);
}

/* The source, or something behind it, has failed: its error stays the one that is told. */
static void upstream_failed(struct model *model)
{
	const bt_error *error;

	FAIL(model, "The upstream iterator failed");
	error = bt_current_thread_take_error();
	finish_early(model, "reading failed");
	bt_current_thread_move_error(error);
}

/* Of the last message of a batch, for all are in order of time: inactivity is time, too. */
static void follow_time(struct model *model, const bt_message *msg)
{
	const bt_clock_snapshot *cs = model->interval.ns > 0 ? lqn_message_clock(msg) : NULL;
	int64_t ns;

	if (cs && bt_clock_snapshot_get_ns_from_origin(cs, &ns) ==
			BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
		model->now = MAX(model->now, ns);
	}
}

bt_component_class_sink_consume_method_status model_consume(bt_self_component_sink *self_sink)
{
	struct model *model = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self_sink));
	bt_message_array_const msgs;
	uint64_t n;
	bt_message_iterator_next_status status = bt_message_iterator_next(model->up, &msgs, &n);
	bool ok = true;

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		model->running = false;
		return finish(model, NULL) ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END :
			BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		if (status < 0) {
			upstream_failed(model);
		}
		return (int) status;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (ok && bt_message_get_type(msgs[i]) == BT_MESSAGE_TYPE_EVENT) {
			ok = take_event(model, msgs[i]);
		}
		if (i + 1 == n) {
			follow_time(model, msgs[i]);
		}
		bt_message_put_ref(msgs[i]);
	}
	ok = ok && roll(model);
	model->running = ok;
	return ok ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK :
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}
