/* SPDX-License-Identifier: GPL-3.0-or-later
 * The table of test suites that the Makefile generates from the file names; read by the runner. */
#ifndef OCCAM_TESTS_SUPPORT_SUITE_LIST_H
#define OCCAM_TESTS_SUPPORT_SUITE_LIST_H

#include <check.h>
#include <stddef.h>

struct suite_entry {
    const char *name;
    Suite *(*create)(void);
};

/* Ends with a row of NULLs. */
extern const struct suite_entry suite_entries[];

#endif
