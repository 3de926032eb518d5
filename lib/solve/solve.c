/* SPDX-License-Identifier: MIT */
#include "solve/solve.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "write/write.h"

#define MODEL_FILE "model.lqnx"
#define RESULT_FILE "model.lqxo"
#define MEMORY_MAX ((rlim_t) 2 << 30)	/* bytes: solvers can want any amount */
#define SAID_MAX 2000			/* bytes kept of what a solver says */
#define RESULT_MAX ((gsize) 64 << 20)

G_DEFINE_QUARK(lqn-solve-error-quark, lqn_solve_error)

/* ---- results ---- */

/* An attribute as a number that is 0 or more; < 0: there is none. */
static double number_of(xmlNode *node, const char *name)
{
	xmlChar *text = xmlGetProp(node, BAD_CAST name);
	char *end = NULL;
	double value = text ? g_ascii_strtod((const char *) text, &end) : -1;
	bool whole = text && end != (const char *) text && *end == '\0' && isfinite(value) && value >= 0;

	xmlFree(text);
	return whole ? value : -1;
}

static bool is_element(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *) node->name, name) == 0;
}

/* The first element of that name at or below a node, in the order of the document. */
static xmlNode *find(xmlNode *node, const char *name)
{
	for (xmlNode *it = node->children; it; it = it->next) {
		xmlNode *below = is_element(it, name) ? it : find(it, name);

		if (below) {
			return below;
		}
	}
	return NULL;
}

/* The element `kind` whose name is that. */
static xmlNode *find_named(xmlNode *node, const char *kind, const char *name)
{
	for (xmlNode *it = node->children; it; it = it->next) {
		xmlChar *its = is_element(it, kind) ? xmlGetProp(it, BAD_CAST "name") : NULL;
		bool same = its && strcmp((const char *) its, name) == 0;
		xmlNode *below = same ? it : find_named(it, kind, name);

		xmlFree(its);
		if (below) {
			return below;
		}
	}
	return NULL;
}

/* A figure of the element's own result. */
static double result_of(xmlNode *element, const char *result, const char *figure)
{
	for (xmlNode *it = element ? element->children : NULL; it; it = it->next) {
		if (is_element(it, result)) {
			return number_of(it, figure);
		}
	}
	return -1;
}

static void add(struct lqn_prediction *prediction, const char *name, enum lqn_predicted what, double measured, double predicted)
{
	struct lqn_predicted_value value = { name, what, measured, predicted };

	if (measured >= 0 && predicted >= 0) {
		g_array_append_val(prediction->values, value);
	}
}

static void read_task(struct lqn_prediction *prediction, xmlNode *root, const struct lqn_task *task)
{
	xmlNode *element = find_named(root, "task", task->name);
	xmlNode *activity = element ? find(element, "result-activity") : NULL;

	add(prediction, task->name, LQN_PREDICTED_THROUGHPUT, task->throughput, result_of(element, "result-task", "throughput"));
	if (activity) {
		add(prediction, task->name, LQN_PREDICTED_RESPONSE, task->response, number_of(activity, "service-time"));
	}
}

static void read_processor(struct lqn_prediction *prediction, xmlNode *root, const struct lqn_processor *processor)
{
	xmlNode *element = find_named(root, "processor", processor->name);

	for (guint k = 0; k < processor->tasks->len; k++) {
		const struct lqn_task *task = processor->tasks->pdata[k];

		if (task->kind == LQN_TASK_CLIENT || task->kind == LQN_TASK_OPEN) {
			read_task(prediction, root, task);
		}
	}
	add(prediction, processor->name, LQN_PREDICTED_UTILIZATION, processor->utilization,
		result_of(element, "result-processor", "utilization"));
}

struct lqn_prediction *lqn_solve_read(const struct lqn_model *model, const char *text, gsize length, GError **error)
{
	xmlDoc *doc = length <= RESULT_MAX ? xmlReadMemory(text, (int) length, RESULT_FILE, NULL,
		XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET | XML_PARSE_RECOVER) : NULL;
	xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNode *general = root ? find(root, "result-general") : NULL;
	struct lqn_prediction *prediction = NULL;

	if (general) {
		xmlChar *valid = xmlGetProp(general, BAD_CAST "valid");

		prediction = lqn_prediction_new();
		/* `YES` in the schema, `true` in what the solvers write */
		prediction->converged = valid && (g_ascii_strcasecmp((const char *) valid, "true") == 0 ||
			g_ascii_strcasecmp((const char *) valid, "yes") == 0);
		xmlFree(valid);
		for (guint i = 0; i < model->processors->len; i++) {
			read_processor(prediction, root, model->processors->pdata[i]);
		}
	}
	if (!prediction || prediction->values->len == 0) {
		lqn_prediction_free(prediction);
		prediction = NULL;
		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_NO_RESULT, "its result cannot be read");
	}
	xmlFreeDoc(doc);
	return prediction;
}

/* ---- the run ---- */

/* In the child: nothing but calls that are safe between fork and exec. */
static void limit_child(gpointer data)
{
	struct rlimit memory = { MEMORY_MAX, MEMORY_MAX }, core = { 0, 0 };

	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CORE, &core);
}

/* Reads what the child says until it is silent for good; false: not by the deadline. */
static bool listen_to(int fd, GString *said, int64_t deadline)
{
	for (;;) {
		struct pollfd poller = { .fd = fd, .events = POLLIN };
		int64_t left = (deadline - g_get_monotonic_time()) / 1000;
		char buffer[512];
		ssize_t n;

		if (left <= 0) {
			return false;
		}
		if (poll(&poller, 1, (int) MIN(left, 60000)) <= 0) {
			continue;	/* a signal, or nothing yet */
		}
		n = read(fd, buffer, sizeof(buffer));
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
			return true;
		}
		if (n > 0 && said->len < SAID_MAX) {
			g_string_append_len(said, buffer, n);
		}
	}
}

/* A child that is silent has ended, as a rule; false: not by the deadline, and it was killed. */
static bool wait_for(GPid pid, bool silent, int64_t deadline, int *status)
{
	pid_t ended = 0;

	while (silent && g_get_monotonic_time() < deadline && (ended = waitpid(pid, status, WNOHANG)) == 0) {
		g_usleep(1000);
	}
	if (ended == 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
		}
	}
	return ended != 0;
}

/* The first line that is of use, for people. */
static char *first_line(const GString *said)
{
	g_auto(GStrv) lines = g_strsplit(said->str, "\n", -1);

	for (guint i = 0; lines[i]; i++) {
		if (*g_strstrip(lines[i])) {
			return g_utf8_make_valid(lines[i], -1);
		}
	}
	return g_strdup("it says nothing");
}

static bool run(const char *program, const char *folder, double seconds, GError **error)
{
	char *arguments[] = { (char *) program, "-x", "-o", RESULT_FILE, MODEL_FILE, NULL };
	int64_t deadline = g_get_monotonic_time() + (int64_t) (seconds * 1e6);
	g_autoptr(GString) said = g_string_new(NULL);
	g_autoptr(GError) cause = NULL;
	int fd = -1, status = 0;
	bool in_time;
	GPid pid;

	if (!g_spawn_async_with_pipes(folder, arguments, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, limit_child, NULL,
			&pid, NULL, NULL, &fd, &cause)) {
		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_NO_PROGRAM, "%s", cause->message);
		return false;
	}
	in_time = wait_for(pid, listen_to(fd, said, deadline), deadline, &status);
	close(fd);
	g_spawn_close_pid(pid);
	if (!in_time) {
		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_FAILED, "no result within %.0f s", seconds);
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		g_autofree char *line = first_line(said);

		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_FAILED, "ended with %s %d: %s", WIFEXITED(status) ? "status" : "signal",
			WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), line);
	}
	return in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static struct lqn_prediction *solve_in(const struct lqn_model *model, const char *program, const char *folder, double seconds,
	GError **error)
{
	g_autofree char *in = g_build_filename(folder, MODEL_FILE, NULL), *out = g_build_filename(folder, RESULT_FILE, NULL);
	g_autofree char *result = NULL;
	g_autoptr(GError) cause = NULL;
	GString *text = lqn_write_lqnx(model);
	bool written = g_file_set_contents(in, text->str, (gssize) text->len, &cause);
	gsize length;

	g_string_free(text, TRUE);
	if (!written) {
		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_FAILED, "%s", cause->message);
		return NULL;
	}
	if (!run(program, folder, seconds, error)) {
		return NULL;
	}
	if (!g_file_get_contents(out, &result, &length, NULL)) {
		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_NO_RESULT, "it wrote no result");
		return NULL;
	}
	return lqn_solve_read(model, result, length, error);
}

/* The folder is ours alone, so whatever a solver left there can go. */
static void remove_folder(const char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)) != NULL) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		g_unlink(path);
	}
	if (dir) {
		g_dir_close(dir);
	}
	g_rmdir(folder);
}

struct lqn_prediction *lqn_solve(const struct lqn_model *model, const char *program, double seconds, GError **error)
{
	g_autofree char *path = g_find_program_in_path(program), *folder = NULL, *absolute = NULL;
	struct lqn_prediction *prediction;

	if (!path) {
		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_NO_PROGRAM, "no such program: `%s`", program);
		return NULL;
	}
	absolute = g_canonicalize_filename(path, NULL);
	folder = g_dir_make_tmp("lqn-solve-XXXXXX", NULL);
	if (!folder) {
		g_set_error(error, LQN_SOLVE_ERROR, LQN_SOLVE_FAILED, "no temporary folder can be made");
		return NULL;
	}
	prediction = solve_in(model, absolute, folder, seconds, error);
	remove_folder(folder);
	return prediction;
}
