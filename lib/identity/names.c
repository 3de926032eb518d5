/* SPDX-License-Identifier: MIT */

/*
 * Names of tasks out of a snapshot. A process is named by its program: what an interpreter runs, not the interpreter. The first
 * program of a systemd service that is no shell has the service's name. Where processes of one name differ in service, container,
 * folder, or in where they listen, the first of these that differs is added to the name: such processes do not share a queue.
 */
#include <string.h>

#include "identity/snapshot.h"
#include "layout/record.h"

#define DEPTH_MAX 16		/* of parents, of folders */

/* What runs other programs. Words of a list are separated by blanks. */
static const struct interpreter {
	const char *name;		/* begin of the executable's */
	const char *valued;		/* options with an argument of their own */
	const char *program;		/* options whose argument is the program */
	const char *text;		/* options after which the program is text of the command line */
	bool shell;
} interpreters[] = {
	{ "python", " -W -X -Q ", " -m ", " -c ", false },
	{ "pypy", " -W -X ", " -m ", " -c ", false },
	{ "java", " -cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports --add-reads ",
		" -jar -m --module ", "", false },
	{ "node", " -r --require --import --loader --experimental-loader ", "", " -e --eval -p --print ", false },
	{ "perl", " -I -M ", "", " -e -E ", false },
	{ "ruby", " -I -r ", "", " -e ", false },
	{ "php", " -c -d -z ", " -f ", " -r ", false },
	{ "mono", "", "", "", false },
	{ "dotnet", "", "", "", false },
	{ "bash", " -o -O --rcfile --init-file ", "", " -c ", true },
	{ "dash", " -o ", "", " -c ", true },
	{ "sh", " -o ", "", " -c ", true },
	{ "busybox", "", "", "", true },
};

/* Endings of programs that say no more than who runs them. */
static const char *const endings[] = { ".py", ".pyc", ".jar", ".js", ".mjs", ".cjs", ".ts", ".pl", ".rb", ".php", ".sh", ".dll", ".exe" };

char *lqn_plain_name(const char *comm)
{
	const char *slash = strrchr(comm, '/');

	if (slash && slash > comm && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1)) {
		return g_strndup(comm, (gsize) (slash - comm));
	}
	return g_strdup(comm);
}

static bool is_word(const char *list, const char *word)
{
	g_autofree char *spaced = g_strdup_printf(" %s ", word);

	return strstr(list, spaced) != NULL;
}

/* The executable's name; NULL: not known. */
static const char *executable(const struct lqn_snapshot_process *process)
{
	const char *path = process->exe ? process->exe : process->cmdline[0];

	return path ? lqn_base_name(path) : NULL;
}

static const struct interpreter *interpreter_of(const struct lqn_snapshot_process *process)
{
	const char *name = executable(process);

	for (size_t i = 0; name && i < G_N_ELEMENTS(interpreters); i++) {
		const struct interpreter *it = &interpreters[i];
		size_t len = strlen(it->name);

		/* `sh` is no begin of `shop`, but `python` one of `python3.11` */
		if (strncmp(name, it->name, len) == 0 && !g_ascii_isalpha(name[len])) {
			return it;
		}
	}
	return NULL;
}

/* What the interpreter runs, as the command line has it; borrowed; NULL: it does not tell. */
static const char *script_of(const struct lqn_snapshot_process *process, const struct interpreter *interpreter)
{
	const char *const *words = (const char *const *) process->cmdline;

	for (guint i = 1; words[0] && words[i]; i++) {
		if (is_word(interpreter->text, words[i])) {
			return NULL;
		}
		if (is_word(interpreter->program, words[i])) {
			return words[i + 1];
		}
		if (is_word(interpreter->valued, words[i])) {
			if (!words[++i]) {
				return NULL;
			}
		} else if (words[i][0] != '-' && words[i][0] != '\0') {
			return words[i];
		}
	}
	return NULL;
}

/* `/srv/shop/worker.py` is `worker`, `org.shop.Orders` (of Java) is `Orders`. */
static char *stem(const char *script, const struct interpreter *interpreter)
{
	char *name = g_strdup(lqn_base_name(script));
	char *dot;

	for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
		if (g_str_has_suffix(name, endings[i]) && strlen(name) > strlen(endings[i])) {
			name[strlen(name) - strlen(endings[i])] = '\0';
			return name;
		}
	}
	dot = strcmp(interpreter->name, "java") == 0 ? strrchr(name, '.') : NULL;
	if (dot && dot[1]) {
		memmove(name, dot + 1, strlen(dot + 1) + 1);
	}
	return name;
}

/* True for a name that the process has from its executable, and not by its own choice. */
static bool is_given(const char *comm, const struct lqn_snapshot_process *process, const char *script)
{
	const char *name = executable(process);

	/* `MainThread` is what Node.js calls its first one */
	return (name && g_str_has_prefix(name, comm)) || g_str_has_prefix(lqn_base_name(process->cmdline[0]), comm) ||
		g_str_has_prefix(lqn_base_name(script), comm) ||
		(interpreter_of(process) && g_str_has_prefix(comm, interpreter_of(process)->name)) || strcmp(comm, "MainThread") == 0;
}

/* The program's own name; *path: where it is, NULL: not known. Both g_free(). */
static char *program_of(const struct lqn_snapshot_process *process, char **path)
{
	const struct interpreter *interpreter = interpreter_of(process);
	const char *script = interpreter ? script_of(process, interpreter) : NULL, *name = executable(process);

	*path = g_strdup(process->exe);
	if (script && (!process->comm || is_given(process->comm, process, script))) {
		g_free(*path);
		*path = g_path_is_absolute(script) || !process->cwd ? g_strdup(script) : g_build_filename(process->cwd, script, NULL);
		return stem(script, interpreter);
	}
	if (!process->comm) {
		return g_strdup(name ? name : "unnamed");
	}
	if (name && strlen(process->comm) == LQN_COMM_LEN - 1 && g_str_has_prefix(name, process->comm)) {
		return g_strdup(name);		/* the kernel has cut it */
	}
	return lqn_plain_name(process->comm);
}

/* ---- what tells processes of one name apart ---- */

enum { BY_SERVICE, BY_CONTAINER, BY_FOLDER, BY_PORT, ATTRIBUTES };

struct candidate {
	struct lqn_snapshot_process *process;
	char *name, *path;		/* owned */
	const char *program;		/* interned */
	guint port;			/* the first it listens on, or its parent; 0: none */
};

static void candidate_free(gpointer data)
{
	struct candidate *it = data;

	g_free(it->name);
	g_free(it->path);
	g_free(it);
}

/* A part of a path, counted from its end, the file itself being 0; g_free(); "": there is none. */
static char *path_part(const char *path, guint level)
{
	g_auto(GStrv) parts = g_strsplit(path ? path : "", "/", -1);
	guint n = g_strv_length(parts);

	return g_strdup(level < n ? parts[n - 1 - level] : "");
}

/* What the processes are told apart by; g_free(). level: of folders. */
static char *value_of(const struct candidate *it, int attribute, guint level)
{
	switch (attribute) {
	case BY_SERVICE:
		return g_strdup(it->process->service ? it->process->service : "");
	case BY_CONTAINER:
		return g_strdup(it->process->container ? it->process->container : "");
	case BY_FOLDER:
		return path_part(it->path, level);
	default:
		return it->port ? g_strdup_printf("%u", it->port) : g_strdup("");
	}
}

static bool differ(const GPtrArray *group, int attribute, guint level)
{
	g_autofree char *first = value_of(group->pdata[0], attribute, level);

	for (guint i = 1; i < group->len; i++) {
		g_autofree char *other = value_of(group->pdata[i], attribute, level);

		if (strcmp(first, other) != 0) {
			return true;
		}
	}
	return false;
}

/* Adds to the names of a group what tells its members apart. */
static void qualify(const GPtrArray *group, int attribute)
{
	guint levels = attribute == BY_FOLDER ? DEPTH_MAX : 1, level = 0;

	while (level < levels && !differ(group, attribute, level)) {
		level++;
	}
	for (guint i = 0; level < levels && i < group->len; i++) {
		struct candidate *it = group->pdata[i];
		g_autofree char *value = value_of(it, attribute, level), *name = it->name;

		/* the service's own program has its name already */
		it->name = *value && strcmp(value, name) != 0 ? g_strdup_printf("%s_%s", name, value) : g_strdup(name);
	}
}

static void qualify_all(GPtrArray *candidates)
{
	for (int attribute = 0; attribute < ATTRIBUTES; attribute++) {
		g_autoptr(GHashTable) groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
		GHashTableIter iter;
		gpointer group;

		for (guint i = 0; i < candidates->len; i++) {
			struct candidate *it = candidates->pdata[i];

			group = g_hash_table_lookup(groups, it->name);
			if (!group) {
				group = g_ptr_array_new();
				g_hash_table_insert(groups, g_strdup(it->name), group);
			}
			g_ptr_array_add(group, it);
		}
		g_hash_table_iter_init(&iter, groups);
		while (g_hash_table_iter_next(&iter, NULL, &group)) {
			qualify(group, attribute);
		}
	}
}

/* ---- services ---- */

/* Services with their containers: the same name may be there in several. */
static char *service_key(const struct lqn_snapshot_process *process)
{
	return g_strdup_printf("%s\n%s", process->service, process->container ? process->container : "");
}

static bool is_shell(const struct lqn_snapshot_process *process)
{
	const struct interpreter *interpreter = interpreter_of(process);

	return interpreter && interpreter->shell;
}

static void name_by_service(GPtrArray *candidates)
{
	g_autoptr(GHashTable) firsts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < candidates->len; i++) {
		struct candidate *it = candidates->pdata[i], *first;
		g_autofree char *key = it->process->service ? service_key(it->process) : NULL;

		if (!key || is_shell(it->process)) {
			continue;
		}
		first = g_hash_table_lookup(firsts, key);
		if (!first || it->process->pid < first->process->pid) {
			g_hash_table_replace(firsts, g_steal_pointer(&key), it);
		}
	}
	for (guint i = 0; i < candidates->len; i++) {
		struct candidate *it = candidates->pdata[i];
		g_autofree char *key = it->process->service ? service_key(it->process) : NULL;
		const struct candidate *first = key ? g_hash_table_lookup(firsts, key) : NULL;

		if (first && first->program == it->program) {
			g_free(it->name);
			it->name = g_strdup(it->process->service);
		}
	}
}

/* Workers serve where their parent listens. */
static guint find_port(const struct lqn_snapshot *snapshot, const struct lqn_snapshot_process *process)
{
	for (guint depth = 0; process && depth < DEPTH_MAX; depth++) {
		const struct lqn_snapshot_process *parent;

		if (process->ports->len > 0) {
			return g_array_index(process->ports, uint16_t, 0);
		}
		parent = lqn_snapshot_process(snapshot, process->ppid, process->comm, false);
		process = parent && g_strcmp0(parent->exe, process->exe) == 0 ? parent : NULL;
	}
	return 0;
}

void lqn_snapshot_name(struct lqn_snapshot *snapshot)
{
	g_autoptr(GPtrArray) candidates = g_ptr_array_new_with_free_func(candidate_free);

	for (guint i = 0; i < snapshot->processes->len; i++) {
		struct candidate *it = g_new0(struct candidate, 1);

		it->process = snapshot->processes->pdata[i];
		it->name = program_of(it->process, &it->path);
		it->program = g_intern_string(it->name);
		it->port = find_port(snapshot, it->process);
		g_ptr_array_add(candidates, it);
	}
	name_by_service(candidates);
	qualify_all(candidates);
	for (guint i = 0; i < candidates->len; i++) {
		const struct candidate *it = candidates->pdata[i];

		it->process->name = g_intern_string(it->name);
	}
}
