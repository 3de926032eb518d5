/* SPDX-License-Identifier: MIT */
/* A folder of results comes whole or not at all, and takes nothing of others with it. */
#include "write/write.h"

#include <check.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

static const char *const names[] = { "one.txt", "two.txt" };
static char *parent, *target;

static void set_up(void)
{
	parent = g_dir_make_tmp("lqn-folder-XXXXXX", NULL);
	ck_assert_ptr_nonnull(parent);
	target = g_build_filename(parent, "result", NULL);
}

static void remove_tree(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		if (g_file_test(child, G_FILE_TEST_IS_DIR) &&
				!g_file_test(child, G_FILE_TEST_IS_SYMLINK)) {
			remove_tree(child);
		} else {
			g_unlink(child);
		}
	}
	g_clear_pointer(&dir, g_dir_close);
	g_rmdir(path);
}

static void tear_down(void)
{
	remove_tree(parent);
	g_free(parent);
	g_free(target);
}

static gboolean write_texts(const char *path, gboolean overwrite, const char *one, const char *two,
	GError **error)
{
	GString *texts[] = { g_string_new(one), g_string_new(two) };
	gboolean ok = lqn_write_folder(path, overwrite, names, texts, G_N_ELEMENTS(names), error);

	g_string_free(texts[0], TRUE);
	g_string_free(texts[1], TRUE);
	return ok;
}

static void assert_file(const char *folder, const char *name, const char *want)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	g_autofree char *text = NULL;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_str_eq(text, want);
}

static void put_file(const char *folder, const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);

	ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static unsigned count_children(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	unsigned count = 0;

	while (g_dir_read_name(dir)) {
		count++;
	}
	g_dir_close(dir);
	return count;
}

static void assert_fails(const char *path, gboolean overwrite, const char *saying)
{
	GError *error = NULL;

	ck_assert(!write_texts(path, overwrite, "new 1", "new 2", &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error->message, saying), "%s", error->message);
	g_error_free(error);
}

START_TEST(folder_is_made_with_its_files)
{
	struct stat st;
	mode_t mask = umask(022);

	ck_assert(write_texts(target, FALSE, "first", "", NULL));
	umask(mask);
	assert_file(target, "one.txt", "first");
	assert_file(target, "two.txt", "");
	ck_assert_uint_eq(count_children(target), 2);
	ck_assert_uint_eq(count_children(parent), 1);
	ck_assert_int_eq(stat(target, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
}
END_TEST

START_TEST(slash_at_the_end_is_no_matter)
{
	g_autofree char *slash = g_strconcat(target, "//", NULL);

	ck_assert(write_texts(slash, FALSE, "1", "2", NULL));
	ck_assert(write_texts(slash, TRUE, "3", "4", NULL));
	assert_file(target, "one.txt", "3");
}
END_TEST

START_TEST(relative_path_is_from_here)
{
	ck_assert_int_eq(chdir(parent), 0);
	ck_assert(write_texts("result", FALSE, "1", "2", NULL));
	assert_file(target, "two.txt", "2");
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(existing_folder_is_kept_unless_asked)
{
	ck_assert(write_texts(target, FALSE, "old 1", "old 2", NULL));
	assert_fails(target, FALSE, "choose another folder or let it be overwritten");
	assert_file(target, "one.txt", "old 1");
	ck_assert_uint_eq(count_children(parent), 1);
}
END_TEST

START_TEST(empty_folder_is_kept_unless_asked)
{
	ck_assert_int_eq(g_mkdir(target, 0700), 0);
	assert_fails(target, FALSE, "File exists");
	ck_assert_uint_eq(count_children(target), 0);
	ck_assert(write_texts(target, TRUE, "1", "2", NULL));
	assert_file(target, "one.txt", "1");
}
END_TEST

START_TEST(earlier_run_is_replaced_when_asked)
{
	g_autofree char *two = g_build_filename(target, "two.txt", NULL);

	ck_assert(write_texts(target, FALSE, "old 1", "old 2", NULL));
	ck_assert_int_eq(g_unlink(two), 0);
	ck_assert(write_texts(target, TRUE, "new 1", "new 2", NULL));
	assert_file(target, "one.txt", "new 1");
	assert_file(target, "two.txt", "new 2");
	ck_assert_uint_eq(count_children(target), 2);
	ck_assert_uint_eq(count_children(parent), 1);
}
END_TEST

START_TEST(files_of_others_are_not_replaced)
{
	ck_assert(write_texts(target, FALSE, "old 1", "old 2", NULL));
	put_file(target, "thesis.tex", "years of work");
	assert_fails(target, TRUE, "`thesis.tex`");
	assert_file(target, "thesis.tex", "years of work");
	assert_file(target, "one.txt", "old 1");
	ck_assert_uint_eq(count_children(parent), 1);
}
END_TEST

START_TEST(folder_or_link_with_our_name_is_of_others)
{
	g_autofree char *one = g_build_filename(target, "one.txt", NULL);

	ck_assert_int_eq(g_mkdir(target, 0700), 0);
	ck_assert_int_eq(g_mkdir(one, 0700), 0);
	assert_fails(target, TRUE, "`one.txt`");
	ck_assert_int_eq(g_rmdir(one), 0);
	ck_assert_int_eq(symlink("/etc/passwd", one), 0);
	assert_fails(target, TRUE, "`one.txt`");
	ck_assert_uint_eq(count_children(parent), 1);
}
END_TEST

START_TEST(file_in_the_way_is_an_error)
{
	put_file(parent, "result", "a file");
	assert_fails(target, TRUE, "Not a directory");
	assert_fails(target, FALSE, "Not a directory");
	assert_file(parent, "result", "a file");
	ck_assert_uint_eq(count_children(parent), 1);
}
END_TEST

START_TEST(link_to_a_folder_stands_for_it)
{
	g_autofree char *link = g_build_filename(parent, "link", NULL);

	ck_assert(write_texts(target, FALSE, "old 1", "old 2", NULL));
	ck_assert_int_eq(symlink("result", link), 0);
	ck_assert(write_texts(link, TRUE, "new 1", "new 2", NULL));
	ck_assert(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
	assert_file(target, "one.txt", "new 1");
	ck_assert_uint_eq(count_children(parent), 2);
}
END_TEST

START_TEST(parent_must_be_there)
{
	g_autofree char *deep = g_build_filename(parent, "no", "result", NULL);

	assert_fails(deep, FALSE, "make that folder first");
	assert_fails("", FALSE, "without a name");
	ck_assert_uint_eq(count_children(parent), 0);
}
END_TEST

START_TEST(full_disk_leaves_the_old_folder_alone)
{
	struct rlimit old, small;
	g_autofree char *large = g_strnfill(100000, 'x');
	GError *error = NULL;

	ck_assert(write_texts(target, FALSE, "old 1", "old 2", NULL));
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 5000;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert(!write_texts(target, TRUE, "new 1", large, &error));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_msg(strstr(error->message, "two.txt"), "%s", error->message);
	g_error_free(error);
	assert_file(target, "one.txt", "old 1");
	assert_file(target, "two.txt", "old 2");
	ck_assert_uint_eq(count_children(parent), 1);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("folder");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	SUITE_TESTS(tcase, folder_is_made_with_its_files, slash_at_the_end_is_no_matter, relative_path_is_from_here,
		existing_folder_is_kept_unless_asked, empty_folder_is_kept_unless_asked, earlier_run_is_replaced_when_asked,
		files_of_others_are_not_replaced, folder_or_link_with_our_name_is_of_others, file_in_the_way_is_an_error,
		link_to_a_folder_stands_for_it, parent_must_be_there, full_disk_leaves_the_old_folder_alone);
	return suite_run("folder", tcase);
}
