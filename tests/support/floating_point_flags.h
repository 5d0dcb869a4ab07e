/* SPDX-License-Identifier: GPL-3.0-or-later
 * Whether floating-point exception flags are raised here. Every processor does; valgrind does not emulate them. */
#ifndef OCCAM_TESTS_SUPPORT_FLOATING_POINT_FLAGS_H
#define OCCAM_TESTS_SUPPORT_FLOATING_POINT_FLAGS_H

#include <stdbool.h>

/* False after printing "skipped: TEST: ...": then a division by zero inside an expression is only noticed when the
 * result itself is not finite, and its message is a general one. */
bool floating_point_flags_work(const char *test);

#endif
