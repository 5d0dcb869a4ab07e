/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <math.h>

#include "calibrate/experiment/search_baselines.h"
#include "calibrate/experiment/search_space.h"
#include "tests/support/assert_close.h"

START_TEST(test_columns_become_features)
{
    /* powers of two by ratio, a narrow range as it is, a constant, a category */
    const double values[] = {1, 30, 7, 0, 16, 20, 7, 2, 4, 21, 7, 1, 16, 24, 7, 2};
    const bool is_category[] = {false, false, false, true};
    struct search_space space;
    struct error error = {0};
    ck_assert_int_eq(search_space_init(&space, values, 4, 4, is_category, &error), STATUS_OK);
    ck_assert_uint_eq(space.feature_count, 3);
    ck_assert_uint_eq(space.features[0].level_count, 3);
    assert_close_rel(space.features[0].positions[1], 0.5, 1e-12);
    assert_close_rel(space.features[1].positions[1], 0.1, 1e-12);
    ck_assert_uint_eq(space.features[2].variable, 3);
    assert_close_rel(search_space_distance(&space, 0, 0, 1), 1, 1e-12);
    assert_close_rel(search_space_distance(&space, 1, 1, 2), 0.1, 1e-12);
    ck_assert(search_space_distance(&space, 2, 0, 2) == 1 && search_space_distance(&space, 2, 1, 3) == 0);
    search_space_release(&space);
}
END_TEST

START_TEST(test_many_values_share_levels)
{
    double values[1000];
    struct search_space space;
    struct error error = {0};
    for (int i = 0; i < 1000; i++) {
        values[i] = i;
    }
    ck_assert_int_eq(search_space_init(&space, values, 1000, 1, NULL, &error), STATUS_OK);
    ck_assert_uint_eq(space.features[0].level_count, SEARCH_LEVELS_MAX);
    for (uint32_t level = 1; level < SEARCH_LEVELS_MAX; level++) {
        ck_assert(space.features[0].positions[level] > space.features[0].positions[level - 1]);
    }
    for (size_t c = 1; c < 1000; c++) {
        ck_assert(search_space_level(&space, 0, c) >= search_space_level(&space, 0, c - 1));
    }
    ck_assert_uint_eq(search_space_level(&space, 0, 999), SEARCH_LEVELS_MAX - 1);
    search_space_release(&space);
}
END_TEST

START_TEST(test_bad_tables_are_refused)
{
    const double values[] = {1, NAN};
    struct search_space space;
    struct error error = {0};
    ck_assert_int_eq(search_space_init(&space, values, 2, 1, NULL, &error), STATUS_BAD_DATA);
    ck_assert_int_eq(search_space_init(&space, values, 0, 1, NULL, &error), STATUS_BAD_DATA);
    ck_assert_int_eq(search_space_init(&space, values, (size_t)SEARCH_CONFIGS_MAX + 1, 1, NULL, &error), STATUS_LIMIT);
}
END_TEST

/* Over all subsets of three out of five, one of which fails. */
START_TEST(test_random_expectation_is_exact)
{
    const double values[] = {2, NAN, 8, 4, 5};
    double scratch[5], sum = 0;
    int subsets = 0;
    for (int mask = 0; mask < 32; mask++) {
        if (__builtin_popcount((unsigned)mask) == 3) {
            double least = HUGE_VAL;
            for (int i = 0; i < 5; i++) {
                least = (mask >> i & 1) && values[i] < least ? values[i] : least;
            }
            sum += 2 / least;
            subsets++;
        }
    }
    assert_close_rel(search_random_expectation(values, 5, 3, scratch), sum / subsets, 1e-12);
    assert_close_rel(search_random_expectation(values, 5, 5, scratch), 1, 1e-12);
    assert_close_rel(search_random_expectation(values, 5, 1, scratch), (1 + 0.25 + 0.5 + 0.4) / 5, 1e-12);
    ck_assert(search_random_expectation(values + 1, 1, 1, scratch) == 0);
}
END_TEST

START_TEST(test_local_search_climbs)
{
    double values[400 * 2], times[400], fractions[400];
    struct search_space space;
    struct error error = {0};
    for (int i = 0; i < 400; i++) {
        values[2 * i] = i % 20;
        values[2 * i + 1] = i / 20;
        times[i] = i % 7 == 0 ? (double)NAN : 1 + fabs(i % 20 - 5.0) + fabs(i / 20 - 13.0);
    }
    ck_assert_int_eq(search_space_init(&space, values, 400, 2, NULL, &error), STATUS_OK);
    ck_assert_int_eq(search_local_run(&space, times, 400, (uint64_t)_i + 1, fractions, &error), STATUS_OK);
    for (int i = 1; i < 400; i++) {
        ck_assert(fractions[i] >= fractions[i - 1]);
    }
    ck_assert(fractions[119] > 0.49 && fractions[399] == 1);
    search_space_release(&space);
}
END_TEST

Suite *suite_search_space(void);
Suite *suite_search_space(void)
{
    Suite *suite = suite_create("search_space");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, test_columns_become_features);
    tcase_add_test(tests, test_many_values_share_levels);
    tcase_add_test(tests, test_bad_tables_are_refused);
    tcase_add_test(tests, test_random_expectation_is_exact);
    tcase_add_loop_test(tests, test_local_search_climbs, 0, 5);
    suite_add_tcase(suite, tests);
    return suite;
}
