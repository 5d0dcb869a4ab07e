/* SPDX-License-Identifier: GPL-3.0-or-later
 * One configuration on the fake device: correctness before time, what every failure becomes, the stop rule. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/measure.h"
#include "tests/support/assert_close.h"

Suite *suite_measure_fake(void);

static const struct measure_fake_plan quiet = {.seed = 3, .sm_count = 5, .memory_bytes = 256u << 20};

static void run(const struct measure_fake_plan *plan, const char *text, const struct measure_options *options,
                struct measure_result *result)
{
    struct measure_device *device;
    struct measure_config config;
    struct error error = {0};
    ck_assert_int_eq(measure_device_open_fake(plan, &device, &error), STATUS_OK);
    ck_assert_msg(measure_config_parse(text, &config, &error) == STATUS_OK, "%s", error.text);
    ck_assert_int_eq(measure_run(device, &config, options, result, &error), STATUS_OK);
    measure_device_close(device);
}

START_TEST(right_results_are_timed)
{
    struct measure_options options;
    struct measure_result result, again;
    measure_options_init(&options);
    run(&quiet, "gqa_decode batch=2 kv_heads=2 length=256 splits=2", &options, &result);
    ck_assert_msg(result.outcome == MEASURE_OUTCOME_OK, "%s", result.reason);
    ck_assert(result.relative_error <= 0.0 && result.checked_elements > 0);
    ck_assert_uint_eq(result.stage_count, 2);
    ck_assert_str_eq(result.stages[1].entry, "gqa_combine");
    ck_assert_uint_ge(result.cold.count, options.minimum_samples);
    ck_assert_uint_ge(result.warm.count, options.minimum_samples);
    /* The fake device takes 2 us per launch and 1 us per MB, give or take half a percent. */
    double expected = 2.0 * 2.0 + result.touched_bytes / 1e6;
    assert_close_rel(result.cold.median_us, expected, 0.006);
    assert_close_rel(result.single.median_us, expected + 3.0, 0.006);
    ck_assert(result.cold.confidence_fraction > 0.0 && result.cold.confidence_fraction < 0.01);
    /* Three times the L2 of 1 MiB, in sets of what is touched. */
    ck_assert_uint_eq(result.input_sets, (uint32_t)ceil(3.0 * 1048576.0 / result.touched_bytes) + 1);
    ck_assert_uint_eq(result.launches_per_sample % result.input_sets, 0);
    run(&quiet, "gqa_decode batch=2 kv_heads=2 length=256 splits=2", &options, &again);
    ck_assert_double_eq(again.cold.median_us, result.cold.median_us);
}
END_TEST

START_TEST(every_kernel_runs_on_the_fake_device)
{
    static const char *const small[] = {"wave_probe grid=9",
                                        "latency_chase links=64 hops=10",
                                        "bandwidth_stream kib=64 ctas=3",
                                        "bandwidth_gather row_count=64 groups=2 pool=64 ctas=3",
                                        "mma_tile iterations=4",
                                        "smem_bandwidth iterations=2",
                                        "launch_chain launches=3 ctas=2",
                                        "barrier_and_exp iterations=4",
                                        "sparse_decode concurrency=2 heads=32 tokens=40 pool=64",
                                        "gqa_decode batch=1 length=64",
                                        "gemm_tile m=128 n=128 k=64"};
    struct measure_options options;
    struct measure_result result;
    measure_options_init(&options);
    ck_assert_uint_eq(sizeof small / sizeof *small, measure_kernel_count());
    run(&quiet, small[_i], &options, &result);
    ck_assert_msg(result.outcome == MEASURE_OUTCOME_OK, "%s: %s", small[_i], result.reason);
    options.check_only = true;
    run(&quiet, small[_i], &options, &result);
    ck_assert_uint_eq(result.cold.count + result.warm.count + result.single.count, 0);
}
END_TEST

START_TEST(wrong_results_are_not_timed)
{
    struct measure_fake_plan plan = quiet;
    struct measure_options options;
    struct measure_result result;
    measure_options_init(&options);
    plan.wrong_at = 1;
    run(&plan, "gemm_tile m=128 n=128 k=64", &options, &result);
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_WRONG);
    ck_assert(result.relative_error > options.maximum_error);
    ck_assert_uint_eq(result.cold.count + result.warm.count + result.single.count, 0);
    ck_assert_ptr_nonnull(strstr(result.reason, "relative error"));
    run(&plan, "latency_chase links=64 hops=10", &options, &result); /* integers are compared exactly */
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_WRONG);
}
END_TEST

START_TEST(failures_have_reasons)
{
    struct measure_fake_plan plan = quiet;
    struct measure_options options;
    struct measure_result result;
    measure_options_init(&options);
    plan.launch_failure_at = 1;
    run(&plan, "launch_chain", &options, &result);
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_LAUNCH_FAILED);
    ck_assert(measure_outcome_is_fatal(result.outcome));
    ck_assert_ptr_nonnull(strstr(result.reason, "illegal memory access"));
    plan = quiet;
    plan.memory_bytes = 1 << 20;
    run(&plan, "gemm_tile m=1024 n=1024 k=1024", &options, &result);
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_NO_DEVICE_MEMORY);
    ck_assert(!measure_outcome_is_fatal(result.outcome));
    plan = quiet;
    plan.not_tried_at = 1;
    run(&plan, "launch_chain", &options, &result); /* neither the compiler's fault nor the launch's */
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_NOT_TRIED);
    ck_assert(!measure_outcome_is_fatal(result.outcome));
    ck_assert_ptr_nonnull(strstr(result.reason, "the host's memory"));
    run(&quiet, "sparse_decode block_t=64 block_h=64 num_stages=4", &options, &result);
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(result.reason, "smem: sparse_decode needs"));
    run(&quiet, "sparse_decode heads=48 block_h=64", &options, &result);
    ck_assert_str_eq(result.reason, "heads must be a multiple of block_h");
}
END_TEST

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Of 64 samples, the 25th and the 41st hold the median with 95 %: 32 -+ 0.98 x 8 places, outwards. */
START_TEST(the_median_has_its_interval)
{
    struct measure_options options;
    struct measure_result result;
    double sorted[MEASURE_SAMPLES_MAX];
    measure_options_init(&options);
    options.seconds = 1e3;
    options.target_fraction = 0; /* never known well enough: all samples there is room for */
    run(&quiet, "launch_chain launches=5", &options, &result);
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_OK);
    ck_assert_uint_eq(result.warm.count, 64);
    memcpy(sorted, result.warm.us, sizeof sorted);
    qsort(sorted, 64, sizeof *sorted, compare);
    ck_assert(sorted[39] < sorted[40] && sorted[23] < sorted[24] && sorted[24] < sorted[25] && sorted[40] < sorted[41]);
    assert_close_rel(result.warm.median_us, 0.5 * (sorted[31] + sorted[32]), 1e-12);
    assert_close_rel(result.warm.confidence_fraction, 0.5 * (sorted[40] - sorted[24]) / result.warm.median_us, 1e-12);
}
END_TEST

/* No time is left then, so the row must not say that there is one: it would be refused where rows are learnt from. */
START_TEST(throttled_samples_are_dropped_and_counted)
{
    struct measure_fake_plan plan = quiet;
    struct measure_options options;
    struct measure_result result;
    measure_options_init(&options);
    options.seconds = 0.001;
    plan.throttled = true;
    run(&plan, "launch_chain launches=5", &options, &result);
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_NOT_TRIED);
    ck_assert_msg(strstr(result.reason, "throttled in all samples") != NULL, "%s", result.reason);
    ck_assert_uint_eq(result.warm.count, 0);
    ck_assert(isnan(result.warm.median_us));
    ck_assert_uint_gt(result.dropped_samples, 0);
    ck_assert_uint_ne(result.after.throttle_reasons, 0);
    /* A kernel that times itself has its figures all the same. */
    run(&plan, "wave_probe grid=8 hold_us=1", &options, &result);
    ck_assert_int_eq(result.outcome, MEASURE_OUTCOME_OK);
    ck_assert_uint_gt(result.figure_count, 0);
}
END_TEST

Suite *suite_measure_fake(void)
{
    Suite *suite = suite_create("measure_fake");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, right_results_are_timed);
    tcase_add_loop_test(tcase, every_kernel_runs_on_the_fake_device, 0, 11);
    tcase_add_test(tcase, wrong_results_are_not_timed);
    tcase_add_test(tcase, failures_have_reasons);
    tcase_add_test(tcase, the_median_has_its_interval);
    tcase_add_test(tcase, throttled_samples_are_dropped_and_counted);
    suite_add_tcase(suite, tcase);
    return suite;
}
