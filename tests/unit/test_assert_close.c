/* SPDX-License-Identifier: GPL-3.0-or-later
 * The comparison that all other tests rely on must itself reject what is wrong. */
#include <check.h>
#include <math.h>

#include "tests/support/assert_close.h"

static const double VALUE = 2.385;

START_TEST(accepts_within_tolerance)
{
    ck_assert(is_close_rel(VALUE, VALUE, 0.0));
    ck_assert(is_close_rel(VALUE * 1.009, VALUE, 0.01));
    ck_assert(is_close_rel(-VALUE * 0.991, -VALUE, 0.01));
    ck_assert(is_close_rel(nextafter(VALUE, 3.0), VALUE, TOL_ROUNDING));
}
END_TEST

START_TEST(rejects_outside_tolerance)
{
    ck_assert(!is_close_rel(VALUE * 1.011, VALUE, 0.01));
    ck_assert(!is_close_rel(VALUE * 0.989, VALUE, 0.01));
    ck_assert(!is_close_rel(nextafter(VALUE, 3.0), VALUE, 0.0));
}
END_TEST

START_TEST(rejects_factor_of_two_and_sign)
{
    ck_assert(!is_close_rel(2.0 * VALUE, VALUE, 0.05));
    ck_assert(!is_close_rel(0.5 * VALUE, VALUE, 0.05));
    ck_assert(!is_close_rel(3.0 * VALUE, VALUE, 0.05));
    ck_assert(!is_close_rel(-VALUE, VALUE, 0.05));
}
END_TEST

START_TEST(zero_is_exact)
{
    ck_assert(is_close_rel(0.0, 0.0, 0.01));
    ck_assert(is_close_rel(-0.0, 0.0, 0.01));
    ck_assert(!is_close_rel(DBL_MIN, 0.0, 0.01));
    ck_assert(!is_close_rel(0.0, VALUE, 0.01));
    ck_assert(is_close_zero(-1e-17, 1e-16));
    ck_assert(!is_close_zero(1e-15, 1e-16));
}
END_TEST

START_TEST(not_a_number_is_never_close)
{
    double nan = (double)NAN;
    ck_assert(!is_close_rel(nan, VALUE, 1e9));
    ck_assert(!is_close_rel(VALUE, nan, 1e9));
    ck_assert(!is_close_rel(nan, nan, 1e9));
    ck_assert(!is_close_rel(VALUE, VALUE, nan));
    ck_assert(!is_close_zero(nan, 1e9));
}
END_TEST

START_TEST(infinity_is_close_to_itself_only)
{
    double infinity = (double)INFINITY;
    ck_assert(is_close_rel(infinity, infinity, 0.0));
    ck_assert(!is_close_rel(-infinity, infinity, 1.0));
    ck_assert(!is_close_rel(infinity, VALUE, 1e300));
    ck_assert(!is_close_rel(VALUE, infinity, 0.5));
    ck_assert(!is_close_zero(infinity, 1e300));
}
END_TEST

START_TEST(printed_tolerance_is_half_the_last_digit)
{
    ck_assert(is_close_rel(52.549, 52.5, TOL_PRINTED(52.5, 0.1)));
    ck_assert(!is_close_rel(52.5501, 52.5, TOL_PRINTED(52.5, 0.1)));
    ck_assert(is_close_rel(-52.549, -52.5, TOL_PRINTED(-52.5, 0.1)));
}
END_TEST

Suite *suite_assert_close(void)
{
    Suite *suite = suite_create("assert_close");
    TCase *cases = tcase_create("relative");
    tcase_add_test(cases, accepts_within_tolerance);
    tcase_add_test(cases, rejects_outside_tolerance);
    tcase_add_test(cases, rejects_factor_of_two_and_sign);
    tcase_add_test(cases, zero_is_exact);
    tcase_add_test(cases, not_a_number_is_never_close);
    tcase_add_test(cases, infinity_is_close_to_itself_only);
    tcase_add_test(cases, printed_tolerance_is_half_the_last_digit);
    suite_add_tcase(suite, cases);
    return suite;
}
