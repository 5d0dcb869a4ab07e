/* SPDX-License-Identifier: GPL-3.0-or-later
 * Reference data that is not part of the repository: tests use it where it is, and say visibly when they skip. */
#ifndef OCCAM_TESTS_SUPPORT_SHARED_DATA_H
#define OCCAM_TESTS_SUPPORT_SHARED_DATA_H

#include <stddef.h>

/* Path of `relative` below $OCCAM_SHARED (default ../shared), or NULL after printing "skipped: TEST: PATH is not here"
 * when it cannot be read. out holds the path. */
const char *shared_data_path(const char *test, const char *relative, char *out, size_t out_size);

#endif
