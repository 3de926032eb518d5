/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_SUITE_H
#define LQN_TESTS_UNIT_SUITE_H

/* main() of a test program: runs the listed tests and prints TAP. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>

#define SUITE(name, ...) \
	int main(void) \
	{ \
		const TTest *const tests[] = { __VA_ARGS__ }; \
		Suite *suite = suite_create(name); \
		TCase *tcase = tcase_create(name); \
		SRunner *runner; \
		int failed; \
		\
		for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) { \
			tcase_add_test(tcase, tests[i]); \
		} \
		tcase_set_timeout(tcase, 300);	/* sanitizers are slow */ \
		suite_add_tcase(suite, tcase); \
		runner = srunner_create(suite); \
		srunner_set_tap(runner, "-"); \
		srunner_run_all(runner, CK_SILENT); \
		failed = srunner_ntests_failed(runner); \
		srunner_free(runner); \
		return failed ? EXIT_FAILURE : EXIT_SUCCESS; \
	}

#endif
