/* SPDX-License-Identifier: GPL-3.0-or-later
 * Quantiles, moments, rank correlation and the normal quantile against values worked by hand or to 20 digits. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "tests/support/assert_close.h"

Suite *suite_statistics(void);

START_TEST(sorts_ascending)
{
    double values[] = {3.0, -INFINITY, 2.5, INFINITY, -7.0, 2.5};
    static const double expected[] = {-INFINITY, -7.0, 2.5, 2.5, 3.0, INFINITY};
    sort_doubles(values, 6);
    ck_assert_mem_eq(values, expected, sizeof expected);
    sort_doubles(values, 0);
}
END_TEST

/* Type 7: position q (n - 1) between the neighbours. */
START_TEST(quantiles_interpolate)
{
    static const double sorted[] = {1.0, 2.5, 7.0, 11.0};
    assert_close_rel(quantile_sorted(sorted, 4, 0.0), 1.0, TOL_ROUNDING);
    assert_close_rel(quantile_sorted(sorted, 4, 1.0), 11.0, TOL_ROUNDING);
    assert_close_rel(quantile_sorted(sorted, 4, 0.5), 4.75, TOL_ROUNDING); /* position 1.5 */
    assert_close_rel(quantile_sorted(sorted, 4, 0.1), 1.45, TOL_ROUNDING); /* position 0.3 */
    assert_close_rel(quantile_sorted(sorted, 4, 0.75), 8.0, TOL_ROUNDING); /* position 2.25 */
    assert_close_rel(quantile_sorted(sorted, 1, 0.9), 1.0, TOL_ROUNDING);
    static const double infinite[] = {1.0, INFINITY, INFINITY};
    assert_close_rel(quantile_sorted(infinite, 3, 0.0), 1.0, TOL_ROUNDING);
    ck_assert(isinf(quantile_sorted(infinite, 3, 0.8))); /* between two equal infinities, not NaN */
}
END_TEST

START_TEST(moments)
{
    double values[] = {4.0, 1.0, 7.0, 2.0};
    assert_close_rel(mean(values, 4), 3.5, TOL_ROUNDING);
    assert_close_rel(standard_deviation(values, 4), sqrt(7.0), TOL_ROUNDING); /* (0.25+6.25+12.25+2.25)/3 */
    assert_close_rel(median_in_place(values, 4), 3.0, TOL_ROUNDING);
    assert_close_rel(median_in_place(values, 3), 2.0, TOL_ROUNDING);
    ck_assert_double_eq(standard_deviation(values, 1), 0.0);
    ck_assert_double_eq(standard_deviation(values, 0), 0.0);
}
END_TEST

START_TEST(spearman_by_hand)
{
    double scratch[10];
    static const double x[] = {10.0, 20.0, 30.0, 40.0, 50.0}, up[] = {1.0, 2.0, 4.0, 8.0, 1000.0},
                        down[] = {5.0, 4.0, 3.0, 2.0, -1e9}, mixed[] = {2.0, 1.0, 4.0, 3.0, 5.0};
    assert_close_rel(spearman(x, up, 5, scratch), 1.0, TOL_ROUNDING);
    assert_close_rel(spearman(x, down, 5, scratch), -1.0, TOL_ROUNDING);
    assert_close_rel(spearman(x, mixed, 5, scratch), 0.8, TOL_ROUNDING); /* 1 - 6 x 4 / (5 x 24) */
    /* Ties share a mean rank: 1, 2.5, 2.5, 4 against 1, 3, 2, 4 gives 4.5 / sqrt(4.5 x 5). */
    static const double tied[] = {1.0, 2.0, 2.0, 4.0}, other[] = {1.0, 3.0, 2.0, 4.0};
    assert_close_rel(spearman(tied, other, 4, scratch), 4.5 / sqrt(22.5), TOL_ROUNDING);
    static const double constant[] = {3.0, 3.0, 3.0, 3.0, 3.0};
    ck_assert(isnan(spearman(x, constant, 5, scratch)));
    ck_assert(isnan(spearman(x, up, 1, scratch)));
}
END_TEST

/* Roots of erfc(-x / sqrt 2) / 2 = p for the double nearest to the printed p, computed with 40 digits. */
static const struct {
    double p, x;
} quantiles[] = {
    {0.975, 1.9599639845400538556},   {0.95, 1.6448536269514722843},    {0.05, -1.644853626951472688},
    {0.0001, -3.7190164854556805523}, {1e-300, -37.047096299361199237}, {0.3, -0.52440051270804081597},
};

START_TEST(normal_quantiles)
{
    static const double TOL_STATED = 1e-13; /* statistics.h promises it */
    assert_close_rel(normal_quantile(quantiles[_i].p), quantiles[_i].x, TOL_STATED);
}
END_TEST

START_TEST(normal_quantile_is_odd_and_exact_at_the_centre)
{
    static const double TOL_STATED = 1e-13;
    ck_assert_double_eq(normal_quantile(0.5), 0.0);
    /* Near the centre x = (p - 1/2) sqrt(2 pi). */
    assert_close_rel(normal_quantile(0.5 + 0x1p-40), 0x1p-40 * 2.5066282746310005024, TOL_STATED);
    for (double p = 0x1p-10; p < 0.5; p += 0x1p-6)
        ck_assert_double_eq(normal_quantile(1.0 - p), -normal_quantile(p));
}
END_TEST

START_TEST(nan_is_our_own_mistake)
{
    double values[] = {1.0, NAN};
    sort_doubles(values, 2);
}
END_TEST

START_TEST(quantile_outside_is_our_own_mistake)
{
    static const double values[] = {1.0, 2.0};
    (void)quantile_sorted(values, 2, 1.5);
}
END_TEST

Suite *suite_statistics(void)
{
    Suite *suite = suite_create("statistics");
    TCase *tests = tcase_create("statistics");
    tcase_add_test(tests, sorts_ascending);
    tcase_add_test(tests, quantiles_interpolate);
    tcase_add_test(tests, moments);
    tcase_add_test(tests, spearman_by_hand);
    tcase_add_loop_test(tests, normal_quantiles, 0, sizeof quantiles / sizeof quantiles[0]);
    tcase_add_test(tests, normal_quantile_is_odd_and_exact_at_the_centre);
    suite_add_tcase(suite, tests);
    /* A BUG() ends the process, so these need one of their own. */
    if (getenv("CK_FORK") == NULL || strcmp(getenv("CK_FORK"), "no") != 0) {
        TCase *bugs = tcase_create("statistics_bugs");
        tcase_add_exit_test(bugs, nan_is_our_own_mistake, 70);
        tcase_add_exit_test(bugs, quantile_outside_is_our_own_mistake, 70);
        suite_add_tcase(suite, bugs);
    }
    return suite;
}
