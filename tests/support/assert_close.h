/* SPDX-License-Identifier: GPL-3.0-or-later
 * Relative comparison of doubles for tests. Check's own tolerance is an absolute difference. */
#ifndef OCCAM_TESTS_SUPPORT_ASSERT_CLOSE_H
#define OCCAM_TESTS_SUPPORT_ASSERT_CLOSE_H

#include <check.h>
#include <float.h>
#include <stdbool.h>

/* Tolerances are named by reason. TOL_PRINTED(v, unit) is half the last printed digit `unit` of the value v. */
#define TOL_ROUNDING                   (16.0 * DBL_EPSILON)
#define TOL_PRINTED(value, last_digit) (0.5 * (last_digit) / ((value) < 0.0 ? -(value) : (value)) + TOL_ROUNDING)

/* |actual - expected| <= relative_tolerance * |expected|. Expected zero accepts exactly zero only (of either sign). NaN
 * on either side is never close; an infinity is close only to the same infinity. */
bool is_close_rel(double actual, double expected, double relative_tolerance);
/* |actual| <= absolute_tolerance, for quantities whose true value is zero; NaN fails. */
bool is_close_zero(double actual, double absolute_tolerance);

#define assert_close_rel(actual, expected, relative_tolerance)                                                         \
    do {                                                                                                               \
        double close_actual = (actual), close_expected = (expected), close_tolerance = (relative_tolerance);           \
        ck_assert_msg(is_close_rel(close_actual, close_expected, close_tolerance),                                     \
                      "%s is %.17g, expected %.17g (%s) within %g of it", #actual, close_actual, close_expected,       \
                      #expected, close_tolerance);                                                                     \
    } while (0)

#define assert_close_zero(actual, absolute_tolerance)                                                                  \
    do {                                                                                                               \
        double close_actual = (actual), close_tolerance = (absolute_tolerance);                                        \
        ck_assert_msg(is_close_zero(close_actual, close_tolerance), "%s is %.17g, expected 0 within %g", #actual,      \
                      close_actual, close_tolerance);                                                                  \
    } while (0)

#endif
