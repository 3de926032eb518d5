/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_SUITE_H
#define LQN_TESTS_UNIT_SUITE_H

/* main() of a test program: SUITE() runs the listed tests; what needs more has its own and ends with suite_run(). */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>

/* Runs the tests of a case, which it takes, and prints TAP. The exit status of the program. */
static inline int suite_run(const char *name, TCase *tcase)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 300);	/* sanitizers are slow */
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline void suite_add(TCase *tcase, const TTest *const *tests, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		tcase_add_test(tcase, tests[i]);
	}
}

#define SUITE_TESTS(tcase, ...) \
	do { \
		const TTest *const tests[] = { __VA_ARGS__ }; \
		\
		suite_add((tcase), tests, sizeof(tests) / sizeof(tests[0])); \
	} while (0)

#define SUITE(name, ...) \
	int main(void) \
	{ \
		TCase *tcase = tcase_create(name); \
		\
		SUITE_TESTS(tcase, __VA_ARGS__); \
		return suite_run(name, tcase); \
	}

#endif
