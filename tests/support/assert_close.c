/* SPDX-License-Identifier: GPL-3.0-or-later
 * Relative comparison of doubles; its own test is tests/unit/test_assert_close.c. */
#include "tests/support/assert_close.h"

#include <math.h>

bool is_close_rel(double actual, double expected, double relative_tolerance)
{
    if (isnan(actual) || isnan(expected) || isnan(relative_tolerance))
        return false;
    if (isinf(actual) || isinf(expected))
        return isinf(actual) && isinf(expected) && signbit(actual) == signbit(expected);
    return fabs(actual - expected) <= relative_tolerance * fabs(expected);
}

bool is_close_zero(double actual, double absolute_tolerance)
{
    return fabs(actual) <= absolute_tolerance;
}
