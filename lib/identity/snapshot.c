/* SPDX-License-Identifier: MIT */
#include "identity/snapshot.h"

#include <arpa/inet.h>
#include <json-c/json.h>
#include <string.h>

#include "layout/layout.h"
#include "layout/record.h"

G_DEFINE_QUARK(lqn-identity-error-quark, lqn_identity_error)

/* ---- life ---- */

static void clear_fd(gpointer data)
{
	g_free(((struct lqn_snapshot_fd *) data)->file);
}

static void process_free(gpointer data)
{
	struct lqn_snapshot_process *process = data;

	g_free(process->comm);
	g_free(process->exe);
	g_free(process->cwd);
	g_free(process->service);
	g_free(process->container);
	g_strfreev(process->cmdline);
	g_array_unref(process->threads);
	g_array_unref(process->nspids);
	g_array_unref(process->fds);
	g_array_unref(process->ports);
	g_free(process);
}

static void socket_free(gpointer data)
{
	struct lqn_snapshot_socket *socket = data;

	g_free(socket->path);
	g_free(socket);
}

static struct lqn_snapshot *snapshot_new(const char *file)
{
	struct lqn_snapshot *snapshot = g_new0(struct lqn_snapshot, 1);

	snapshot->file = g_strdup(file);
	snapshot->processes = g_ptr_array_new_with_free_func(process_free);
	snapshot->by_pid = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
	/* keys lie within the values */
	snapshot->sockets = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, socket_free);
	return snapshot;
}

void lqn_snapshot_free(struct lqn_snapshot *snapshot)
{
	if (!snapshot) {
		return;
	}
	g_hash_table_destroy(snapshot->by_pid);
	g_hash_table_destroy(snapshot->sockets);
	g_ptr_array_unref(snapshot->processes);
	g_free(snapshot->file);
	g_free(snapshot->host);
	g_free(snapshot);
}

/* ---- values ---- */

/* A text of an object, as a copy; NULL: there is none, or it is empty. */
static char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, json_type_string) ||
			*json_object_get_string(value) == '\0') {
		return NULL;
	}
	return g_utf8_make_valid(json_object_get_string(value), -1);
}

/* A number of an object; what is none, or out of range, is 0. */
static uint64_t number_of(struct json_object *object, const char *key, uint64_t max)
{
	struct json_object *value;
	int64_t number;

	if (!json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, json_type_int)) {
		return 0;
	}
	number = json_object_get_int64(value);
	return number > 0 && (uint64_t) number <= max ? (uint64_t) number : 0;
}

/* An array of an object; NULL: there is none. */
static struct json_object *array_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && json_object_is_type(value, json_type_array) ? value : NULL;
}

static bool flag_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && json_object_is_type(value, json_type_boolean) &&
		json_object_get_boolean(value);
}

static size_t length_of(struct json_object *array)
{
	return array ? json_object_array_length(array) : 0;
}

static GArray *numbers_of(struct json_object *object, const char *key)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct json_object *array = array_of(object, key);

	for (size_t i = 0; i < length_of(array); i++) {
		struct json_object *value = json_object_array_get_idx(array, i);
		int64_t number = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : 0;

		if (number > 0 && number <= INT32_MAX) {
			uint32_t narrow = (uint32_t) number;

			g_array_append_val(out, narrow);
		}
	}
	return out;
}

static GStrv texts_of(struct json_object *object, const char *key)
{
	GPtrArray *out = g_ptr_array_new();
	struct json_object *array = array_of(object, key);

	for (size_t i = 0; i < length_of(array); i++) {
		struct json_object *value = json_object_array_get_idx(array, i);

		if (json_object_is_type(value, json_type_string)) {
			g_ptr_array_add(out, g_utf8_make_valid(json_object_get_string(value), -1));
		}
	}
	g_ptr_array_add(out, NULL);
	return (GStrv) g_ptr_array_free(out, FALSE);
}

/* `10.0.0.1:80` or `[fe80::1]:80`, as packets have it: a number, a hash for IPv6. */
static bool read_address(const char *text, uint64_t *address, uint16_t *port)
{
	const char *colon = text ? strrchr(text, ':') : NULL;
	g_autofree char *host = NULL;
	uint8_t bytes[16];
	uint64_t number;
	bool v6;

	if (!colon || !g_ascii_string_to_unsigned(colon + 1, 10, 0, UINT16_MAX, &number, NULL)) {
		return false;
	}
	v6 = *text == '[' && colon > text + 1 && colon[-1] == ']';
	host = v6 ? g_strndup(text + 1, (gsize) (colon - text) - 2) : g_strndup(text, (gsize) (colon - text));
	if (inet_pton(v6 ? AF_INET6 : AF_INET, host, bytes) != 1) {
		return false;
	}
	*address = lqn_layout_address(bytes, v6 ? 16 : 4);
	*port = (uint16_t) number;
	return true;
}

/* ---- processes and sockets ---- */

static void read_seen(struct lqn_snapshot_process *process, struct json_object *object)
{
	g_auto(GStrv) seen = texts_of(object, "seen");

	process->begin = g_strv_contains((const char *const *) seen, "begin");
	process->end = g_strv_contains((const char *const *) seen, "end");
}

static void read_fds(struct lqn_snapshot_process *process, struct json_object *object)
{
	struct json_object *array = array_of(object, "fds");

	process->fds = g_array_new(FALSE, FALSE, sizeof(struct lqn_snapshot_fd));
	g_array_set_clear_func(process->fds, clear_fd);
	for (size_t i = 0; i < length_of(array); i++) {
		struct json_object *it = json_object_array_get_idx(array, i);
		struct lqn_snapshot_fd fd = { .fd = 0 };

		if (json_object_is_type(it, json_type_object) && (fd.file = text_of(it, "file")) != NULL) {
			fd.fd = (int32_t) number_of(it, "fd", LQN_FD_MAX - 1);
			g_array_append_val(process->fds, fd);
		}
	}
}

static bool read_process(struct lqn_snapshot *snapshot, struct json_object *object)
{
	struct lqn_snapshot_process *process;
	uint64_t pid = json_object_is_type(object, json_type_object) ? number_of(object, "pid", INT32_MAX) : 0;
	GPtrArray *same;

	if (pid == 0) {
		return false;
	}
	process = g_new0(struct lqn_snapshot_process, 1);
	process->pid = (uint32_t) pid;
	process->ppid = (uint32_t) number_of(object, "ppid", INT32_MAX);
	process->comm = text_of(object, "comm");
	process->exe = text_of(object, "exe");
	process->cwd = text_of(object, "cwd");
	process->service = text_of(object, "service");
	process->container = text_of(object, "container");
	process->cmdline = texts_of(object, "cmdline");
	process->threads = numbers_of(object, "threads");
	process->nspids = numbers_of(object, "nspid");
	process->ports = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	read_fds(process, object);
	read_seen(process, object);
	g_ptr_array_add(snapshot->processes, process);
	same = g_hash_table_lookup(snapshot->by_pid, GUINT_TO_POINTER(process->pid));
	if (!same) {
		same = g_ptr_array_new();
		g_hash_table_insert(snapshot->by_pid, GUINT_TO_POINTER(process->pid), same);
	}
	g_ptr_array_add(same, process);
	return true;
}

static enum lqn_object_kind kind_of(const char *type)
{
	static const struct {
		const char *type;
		enum lqn_object_kind kind;
	} kinds[] = {
		{ "tcp", LQN_OBJ_TCP },
		{ "udp", LQN_OBJ_UDP },
		{ "unix-stream", LQN_OBJ_UNIX },
		{ "unix-seqpacket", LQN_OBJ_UNIX },
		{ "unix-dgram", LQN_OBJ_DATAGRAM },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (g_strcmp0(kinds[i].type, type) == 0) {
			return kinds[i].kind;
		}
	}
	return LQN_OBJ_SOCKET;
}

static bool read_socket(struct lqn_snapshot *snapshot, struct json_object *object)
{
	g_autofree char *type = NULL, *local = NULL, *remote = NULL;
	struct lqn_snapshot_socket *socket;
	uint64_t inode = json_object_is_type(object, json_type_object) ? number_of(object, "inode", INT64_MAX) : 0;

	if (inode == 0) {
		return false;
	}
	type = text_of(object, "type");
	local = text_of(object, "local");
	remote = text_of(object, "remote");
	socket = g_new0(struct lqn_snapshot_socket, 1);
	socket->inode = inode;
	socket->peer = number_of(object, "peer", INT64_MAX);
	socket->kind = kind_of(type);
	socket->listening = flag_of(object, "listening");
	socket->path = text_of(object, "path");
	socket->connected = read_address(local, &socket->tuple.saddr, &socket->tuple.sport) &&
		read_address(remote, &socket->tuple.daddr, &socket->tuple.dport);
	g_hash_table_replace(snapshot->sockets, &socket->inode, socket);
	return true;
}

static gint by_port(gconstpointer a, gconstpointer b)
{
	return *(const uint16_t *) a - *(const uint16_t *) b;
}

static void find_ports(struct lqn_snapshot *snapshot)
{
	for (guint i = 0; i < snapshot->processes->len; i++) {
		struct lqn_snapshot_process *process = snapshot->processes->pdata[i];

		for (guint k = 0; k < process->fds->len; k++) {
			uint64_t inode = lqn_snapshot_inode(g_array_index(process->fds, struct lqn_snapshot_fd, k).file);
			const struct lqn_snapshot_socket *socket = g_hash_table_lookup(snapshot->sockets, &inode);

			if (socket && socket->listening && socket->tuple.sport) {
				g_array_append_val(process->ports, socket->tuple.sport);
			}
		}
		g_array_sort(process->ports, by_port);
	}
}

/* ---- reading ---- */

static guint line_of(const char *text, size_t offset)
{
	guint line = 1;

	for (size_t i = 0; i < offset && text[i]; i++) {
		line += text[i] == '\n';
	}
	return line;
}

static struct json_object *parse(const char *text, const char *file, GError **error)
{
	struct json_tokener *tokener = json_tokener_new();
	size_t length = strlen(text);
	struct json_object *root = json_tokener_parse_ex(tokener, text, (int) MIN(length + 1, (size_t) INT32_MAX));
	enum json_tokener_error status = json_tokener_get_error(tokener);

	if (status != json_tokener_success || !json_object_is_type(root, json_type_object)) {
		g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_MALFORMED, "%s: line %u: no snapshot of lqn-snapshot: %s", file,
			line_of(text, json_tokener_get_parse_end(tokener)),
			status == json_tokener_success ? "not a JSON object" : json_tokener_error_desc(status));
		json_object_put(root);
		root = NULL;
	}
	json_tokener_free(tokener);
	return root;
}

/* Each element of an array of the root by `read`; an error if one makes no sense. */
static bool read_all(struct lqn_snapshot *snapshot, struct json_object *root, const char *key, const char *id,
	bool (*read)(struct lqn_snapshot *, struct json_object *), GError **error)
{
	struct json_object *array = array_of(root, key);

	if (!array) {
		g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_MALFORMED, "%s: no array `%s`", snapshot->file, key);
		return false;
	}
	for (size_t i = 0; i < length_of(array); i++) {
		if (!read(snapshot, json_object_array_get_idx(array, i))) {
			g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_MALFORMED, "%s: element %zu of `%s` has no `%s`",
				snapshot->file, i + 1, key, id);
			return false;
		}
	}
	return true;
}

static bool fill(struct lqn_snapshot *snapshot, struct json_object *root, GError **error)
{
	g_autofree char *schema = text_of(root, "schema");

	if (g_strcmp0(schema, LQN_SNAPSHOT_SCHEMA) != 0) {
		g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_MALFORMED, "%s: its `schema` is %s%s%s, this version reads `"
			LQN_SNAPSHOT_SCHEMA "`: record it with lqn-snapshot of this version", snapshot->file, schema ? "`" : "",
			schema ? schema : "missing", schema ? "`" : "");
		return false;
	}
	snapshot->host = text_of(root, "host");
	if (!snapshot->host) {
		g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_MALFORMED, "%s: no `host`", snapshot->file);
		return false;
	}
	if (!read_all(snapshot, root, "sockets", "inode", read_socket, error) ||
			!read_all(snapshot, root, "processes", "pid", read_process, error)) {
		return false;
	}
	find_ports(snapshot);
	lqn_snapshot_name(snapshot);
	return true;
}

struct lqn_snapshot *lqn_snapshot_parse(const char *text, const char *file, GError **error)
{
	struct json_object *root = parse(text, file, error);
	struct lqn_snapshot *snapshot;

	if (!root) {
		return NULL;
	}
	snapshot = snapshot_new(file);
	if (!fill(snapshot, root, error)) {
		lqn_snapshot_free(snapshot);
		snapshot = NULL;
	}
	json_object_put(root);
	return snapshot;
}

struct lqn_snapshot *lqn_snapshot_read(const char *file, GError **error)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) cause = NULL;

	if (!g_file_get_contents(file, &text, NULL, &cause)) {
		g_set_error(error, LQN_IDENTITY_ERROR, LQN_IDENTITY_UNREADABLE, "%s", cause->message);
		return NULL;
	}
	return lqn_snapshot_parse(text, file, error);
}

/* ---- questions ---- */

const struct lqn_snapshot *lqn_snapshot_find(const GPtrArray *snapshots, const char *host)
{
	for (guint i = 0; snapshots && i < snapshots->len; i++) {
		const struct lqn_snapshot *snapshot = snapshots->pdata[i];

		if (strcmp(snapshot->host, host) == 0) {
			return snapshot;
		}
	}
	return NULL;
}

const struct lqn_snapshot_process *lqn_snapshot_process(const struct lqn_snapshot *snapshot, uint32_t pid, const char *comm, bool born)
{
	const GPtrArray *same = g_hash_table_lookup(snapshot->by_pid, GUINT_TO_POINTER(pid));

	for (guint i = same ? same->len : 0; i > 0; i--) {
		const struct lqn_snapshot_process *process = same->pdata[i - 1];

		if ((process->end || !born) && (!comm || !process->comm ||
				strncmp(comm, process->comm, LQN_COMM_LEN - 1) == 0)) {
			return process;
		}
	}
	return NULL;
}

uint64_t lqn_snapshot_inode(const char *file)
{
	return g_str_has_prefix(file, "socket:[") ? g_ascii_strtoull(file + strlen("socket:["), NULL, 10) : 0;
}

const char *lqn_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
