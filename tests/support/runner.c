/* SPDX-License-Identifier: GPL-3.0-or-later
 * main() of the unit and property test programs: runs every suite of the generated table, or the one that is
 * named, in one Check runner; --list names them. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite_list.h"

/* Appends "checks failures errors" to the file named by TEST_COUNTS, from which the closing line of all tests is made.
 * Check has no call for errors alone: they are the results of that type. */
static int append_counts(SRunner *runner)
{
    const char *path = getenv("TEST_COUNTS");
    if (path == NULL)
        return 0;
    int failed = srunner_ntests_failed(runner);
    int errors = 0;
    TestResult **results = srunner_failures(runner);
    for (int i = 0; i < failed; i++)
        errors += tr_rtype(results[i]) == CK_ERROR;
    free((void *)results);
    FILE *stream = fopen(path, "a");
    if (stream == NULL)
        return -1;
    int written = fprintf(stream, "%d %d %d\n", srunner_ntests_run(runner), failed - errors, errors);
    return fclose(stream) == 0 && written > 0 ? 0 : -1;
}

/* Whether TEST_SKIP (names with spaces between) holds this suite: fits that take minutes under the sanitizers. */
static int is_skipped(const char *name)
{
    const char *list = getenv("TEST_SKIP"), *found = list ? strstr(list, name) : NULL;
    const size_t length = strlen(name);
    const int whole = found && (found == list || found[-1] == ' ') && (found[length] == ' ' || found[length] == 0);
    if (whole)
        printf("skipped: suite %s (TEST_SKIP)\n", name);
    return whole;
}

int main(int argc, char **argv)
{
    /* The locale of the person who runs the tests must not matter; take it up so that a mistake would show. */
    setlocale(LC_ALL, "");
    setenv("CK_DEFAULT_TIMEOUT", "120", 0);
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (const struct suite_entry *entry = suite_entries; entry->name != NULL; entry++)
            puts(entry->name);
        return EXIT_SUCCESS;
    }
    SRunner *runner = srunner_create(NULL);
    int suite_count = 0, skipped_count = 0;
    for (const struct suite_entry *entry = suite_entries; entry->name != NULL; entry++) {
        if (argc > 1 && strcmp(argv[1], entry->name) != 0)
            continue;
        const int skipped = is_skipped(entry->name);
        skipped_count += skipped;
        suite_count++;
        if (!skipped)
            srunner_add_suite(runner, entry->create());
    }
    if (suite_count > 0 && suite_count == skipped_count) {
        srunner_free(runner);
        return EXIT_SUCCESS;
    }
    if (suite_count == 0) {
        fprintf(stderr, "no suite%s%s\n", argc > 1 ? " named " : "", argc > 1 ? argv[1] : "");
        return EXIT_FAILURE;
    }
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    int counts_result = append_counts(runner);
    srunner_free(runner);
    return failed == 0 && counts_result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
