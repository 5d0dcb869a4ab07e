/* SPDX-License-Identifier: GPL-3.0-or-later
 * Seed and number of cases of the property tests, from the environment, so that a failure can be repeated. */
#ifndef OCCAM_TESTS_SUPPORT_PROPERTY_H
#define OCCAM_TESTS_SUPPORT_PROPERTY_H

#include <check.h>
#include <stdint.h>

/* PROP_SEED, or a fixed number. */
uint64_t property_seed(void);
/* PROP_CASES, or default_count; a tenth of the default, at least 1, when TEST_QUICK is set (valgrind). */
unsigned property_cases(unsigned default_count);

/* ck_assert that says how to repeat the failing case: seed and case number, then the message. */
#define assert_property(condition, case_number, format, ...)                                                           \
    ck_assert_msg((condition), "PROP_SEED=%llu case %u: %s: " format, (unsigned long long)property_seed(),             \
                  (unsigned)(case_number), #condition, __VA_ARGS__)

#endif
