/* SPDX-License-Identifier: MIT */

/*
 * A folder of files, all or none. It is made under another name in the same parent and takes its
 * name by one rename; a folder that was there is exchanged with it in one step, so that there is an
 * instant neither without a folder nor with half of one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE			/* renameat2 */
#endif
#include "write/write.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct job {
	char *target;			/* owned; absolute if it exists */
	char *parent;			/* owned */
	char *temp;			/* owned; NULL until made */
	const char *const *names;	/* borrowed */
	size_t n;
};

static gboolean fail(GError **error, int code, const char *what, const char *path,
	const char *advice)
{
	g_autofree char *shown = g_filename_display_name(path);

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "cannot %s `%s`: %s%s%s",
		what, shown, g_strerror(code), advice ? "; " : "", advice ? advice : "");
	return FALSE;
}

static gboolean write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t done = write(fd, text, len);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0) {
			return FALSE;
		}
		text += done;
		len -= done;
	}
	return TRUE;
}

/* Some file systems cannot sync and say EINVAL or EROFS: no reason to throw the result away. */
static gboolean sync_fd(int fd)
{
	return !fsync(fd) || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

static gboolean write_file(const char *folder, const char *name, const GString *text,
	GError **error)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	gboolean ok;
	int code;

	if (fd < 0) {
		return fail(error, errno, "make", path, NULL);
	}
	ok = write_all(fd, text->str, text->len) && sync_fd(fd);
	code = errno;
	if (close(fd) && ok) {
		ok = FALSE;
		code = errno;
	}
	return ok ? TRUE : fail(error, code, "write", path,
		"make room or choose a folder on another file system");
}

static void sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		/* the files are synced; a folder that a crash forgets was never written */
		(void) fsync(fd);
		close(fd);
	}
}

/* Removes a folder of ours: files with the given names, then itself. */
static void remove_folder(const struct job *job, const char *path)
{
	for (size_t i = 0; i < job->n; i++) {
		g_autofree char *file = g_build_filename(path, job->names[i], NULL);

		(void) unlink(file);
	}
	(void) rmdir(path);
}

static bool is_known(const struct job *job, const char *folder, const char *name)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	struct stat st;

	for (size_t i = 0; i < job->n; i++) {
		if (!strcmp(job->names[i], name)) {
			return !lstat(path, &st) && S_ISREG(st.st_mode);
		}
	}
	return false;
}

/* That nothing would be lost with the folder but files of an earlier run. */
static gboolean check_contents(const struct job *job, const char *folder, GError **error)
{
	g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
	const char *name;

	if (!dir) {
		return FALSE;
	}
	while ((name = g_dir_read_name(dir))) {
		if (!is_known(job, folder, name)) {
			g_autofree char *shown = g_filename_display_name(job->target);
			g_autofree char *stranger = g_filename_display_name(name);

			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
				"cannot replace folder `%s`: it holds `%s`, which lqn did not "
				"write; move that away or choose another folder", shown, stranger);
			return FALSE;
		}
	}
	return TRUE;
}

static gboolean check_target(const struct job *job, gboolean overwrite, gboolean *exists,
	GError **error)
{
	struct stat st;

	*exists = !lstat(job->target, &st);
	if (!*exists) {
		return errno == ENOENT ? TRUE : fail(error, errno, "look at", job->target, NULL);
	}
	if (!S_ISDIR(st.st_mode)) {
		return fail(error, ENOTDIR, "write folder", job->target, "choose another folder");
	}
	if (!overwrite) {
		return fail(error, EEXIST, "make folder", job->target,
			"choose another folder or let it be overwritten");
	}
	return check_contents(job, job->target, error);
}

static gboolean make_temp(struct job *job, GError **error)
{
	g_autofree char *base = g_path_get_basename(job->target);
	g_autofree char *name = g_strdup_printf(".%.100s.XXXXXX", base);
	g_autofree char *temp = g_build_filename(job->parent, name, NULL);

	/* 0777: the folder's rights are the user's umask's business */
	if (!g_mkdtemp_full(temp, 0777)) {
		return fail(error, errno, "make a folder in", job->parent,
			errno == ENOENT ? "make that folder first" : "choose another folder");
	}
	job->temp = g_steal_pointer(&temp);
	return TRUE;
}

static bool is_unsupported(int code)
{
	return code == EINVAL || code == ENOSYS || code == ENOTSUP;
}

/* The two folders change names. In one step where the file system can. */
static gboolean exchange(const char *a, const char *b)
{
	g_autofree char *aside = NULL;

	if (!renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE)) {
		return TRUE;
	}
	if (!is_unsupported(errno)) {
		return FALSE;
	}
	aside = g_strconcat(a, ".old", NULL);
	if (rename(b, aside)) {
		return FALSE;
	}
	if (rename(a, b)) {
		int code = errno;

		(void) rename(aside, b);
		errno = code;
		return FALSE;
	}
	if (rename(aside, a)) {
		int code = errno;

		(void) rename(b, a);
		(void) rename(aside, b);
		errno = code;
		return FALSE;
	}
	return TRUE;
}

/* Takes the name without replacing anything: an empty folder made meanwhile stays. */
static gboolean take_name(const struct job *job)
{
	if (!renameat2(AT_FDCWD, job->temp, AT_FDCWD, job->target, RENAME_NOREPLACE)) {
		return TRUE;
	}
	return is_unsupported(errno) && !rename(job->temp, job->target);
}

static gboolean replace(struct job *job, GError **error)
{
	if (!exchange(job->temp, job->target)) {
		return fail(error, errno, "replace folder", job->target, "choose another folder");
	}
	/* Between the first look and the exchange someone may have put a file there. */
	if (!check_contents(job, job->temp, error)) {
		if (!exchange(job->temp, job->target)) {
			/* then the old folder has the temporary name: it must not be removed */
			g_clear_pointer(&job->temp, g_free);
		}
		return FALSE;
	}
	remove_folder(job, job->temp);
	return TRUE;
}

static gboolean run(struct job *job, gboolean overwrite, GString *const *texts, GError **error)
{
	gboolean exists;

	if (!check_target(job, overwrite, &exists, error) || !make_temp(job, error)) {
		return FALSE;
	}
	for (size_t i = 0; i < job->n; i++) {
		if (texts[i] && !write_file(job->temp, job->names[i], texts[i], error)) {
			return FALSE;
		}
	}
	sync_folder(job->temp);
	if (exists && !replace(job, error)) {
		return FALSE;
	}
	if (!exists && !take_name(job)) {
		return fail(error, errno, "make folder", job->target, "choose another folder");
	}
	sync_folder(job->parent);
	return TRUE;
}

/* Without `/` at its end; a symbolic link to a folder stands for that folder. */
static char *resolve(const char *path)
{
	char *real = realpath(path, NULL), *target;
	size_t len = strlen(path);

	if (real) {
		target = g_strdup(real);
		free(real);
		return target;
	}
	while (len > 1 && path[len - 1] == '/') {
		len--;
	}
	return g_strndup(path, len);
}

gboolean lqn_write_folder(const char *path, gboolean overwrite, const char *const *names,
	GString *const *texts, size_t n, GError **error)
{
	struct job job = { .names = names, .n = n };
	gboolean ok;

	for (size_t i = 0; i < n; i++) {
		g_assert(names[i][0] && !strchr(names[i], '/') && names[i][0] != '.');
	}
	if (!path[0]) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			"cannot write a folder without a name; name one");
		return FALSE;
	}
	job.target = resolve(path);
	job.parent = g_path_get_dirname(job.target);
	ok = run(&job, overwrite, texts, error);
	if (!ok && job.temp) {
		remove_folder(&job, job.temp);
	}
	g_free(job.target);
	g_free(job.parent);
	g_free(job.temp);
	return ok;
}
