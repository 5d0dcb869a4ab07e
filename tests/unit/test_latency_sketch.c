/* SPDX-License-Identifier: GPL-3.0-or-later
 * Streaming quantiles against sorted values. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/statistics.h"
#include "sim/latency_sketch.h"
#include "tests/support/assert_close.h"

START_TEST(few_values_are_exact)
{
    struct latency_sketch sketch = {0};
    ck_assert(isnan(latency_sketch_quantile(&sketch, 0.5)));
    ck_assert(isnan(latency_sketch_mean(&sketch)));
    latency_sketch_add(&sketch, 3.0, 1);
    latency_sketch_add(&sketch, 1.0, 7);
    latency_sketch_add(&sketch, 2.0, 2);
    assert_close_rel(latency_sketch_quantile(&sketch, 0.0), 1.0, TOL_ROUNDING);
    assert_close_rel(latency_sketch_quantile(&sketch, 0.7), 1.0, TOL_ROUNDING);
    assert_close_rel(latency_sketch_quantile(&sketch, 0.71), 2.0, TOL_ROUNDING);
    assert_close_rel(latency_sketch_quantile(&sketch, 0.9), 2.0, TOL_ROUNDING);
    assert_close_rel(latency_sketch_quantile(&sketch, 0.91), 3.0, TOL_ROUNDING);
    assert_close_rel(latency_sketch_mean(&sketch), 1.4, TOL_ROUNDING);
    latency_sketch_add(&sketch, 0.5, 10); /* adding after a question */
    assert_close_rel(latency_sketch_quantile(&sketch, 0.5), 0.5, TOL_ROUNDING);
    latency_sketch_release(&sketch);
}
END_TEST

START_TEST(many_values_stay_within_the_stated_error)
{
    enum {
        COUNT = 200000
    };
    static double values[COUNT];
    static const double quantiles[] = {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.9999, 1.0};
    struct latency_sketch sketch = {0};
    struct random_stream stream;
    random_init(&stream, 3, 3);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = exp(4.0 * random_normal(&stream) - 4.0); /* eleven decades */
        latency_sketch_add(&sketch, values[i], 1);
    }
    ck_assert_ptr_nonnull(sketch.buckets);
    double average = mean(values, COUNT);
    sort_doubles(values, COUNT);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        size_t rank = (size_t)fmax(1.0, ceil(quantiles[i] * COUNT - 1e-6));
        assert_close_rel(latency_sketch_quantile(&sketch, quantiles[i]), values[rank - 1],
                         LATENCY_SKETCH_RELATIVE_ERROR * (1.0 + 1e-9));
    }
    assert_close_rel(latency_sketch_mean(&sketch), average, 1e-12);
    latency_sketch_release(&sketch);
}
END_TEST

START_TEST(extremes_have_a_place)
{
    struct latency_sketch sketch = {0};
    for (int i = 0; i <= LATENCY_SKETCH_EXACT_MAX; i++)
        latency_sketch_add(&sketch, 1.0 + 1e-9 * i, 1);
    latency_sketch_add(&sketch, 0.0, 100000);
    latency_sketch_add(&sketch, 1e12, 100000);
    assert_close_zero(latency_sketch_quantile(&sketch, 0.1), 0.0);
    assert_close_rel(latency_sketch_quantile(&sketch, 0.5), 1.0, LATENCY_SKETCH_RELATIVE_ERROR);
    assert_close_rel(latency_sketch_quantile(&sketch, 0.99), 1e12, TOL_ROUNDING);
    latency_sketch_release(&sketch);
}
END_TEST

Suite *suite_latency_sketch(void);
Suite *suite_latency_sketch(void)
{
    Suite *suite = suite_create("latency_sketch");
    TCase *tcase = tcase_create("quantiles");
    tcase_add_test(tcase, few_values_are_exact);
    tcase_add_test(tcase, many_values_stay_within_the_stated_error);
    tcase_add_test(tcase, extremes_have_a_place);
    suite_add_tcase(suite, tcase);
    return suite;
}
