/* SPDX-License-Identifier: GPL-3.0-or-later
 * Drift and transfer: a calibration holds for its own rows, falls for shifted ones, and widens on another GPU. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/calibration_drift.h"
#include "calibrate/kernel_calibration.h"
#include "calibrate/measured_rows.h"
#include "model/predict/calibrated_time.h"
#include "model/predict/calibration_transfer.h"
#include "tests/support/assert_close.h"

Suite *suite_calibration_drift(void);

enum {
    TRAIN = 100
};

static struct device_catalogue *catalogue;
static struct scenario *scenario;
static struct measured_rows rows;
static struct calibration calibration;

static void setup(void)
{
    static const char *const path = "data/measurements/nvidia-h200/gemm_tile.csv";
    struct kernel_calibration_options options;
    struct kernel_calibration_report report;
    struct model_parameters priors;
    struct error error = {0};
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
    ck_assert_int_eq(scenario_read("occam-gemm-tile", catalogue, NULL, &scenario, &error), STATUS_OK);
    ck_assert_int_eq(measured_rows_read(scenario, &path, 1, NULL, &rows, &error), STATUS_OK);
    kernel_calibration_options_init(&options);
    model_parameters_init(&priors);
    ck_assert_int_eq(kernel_calibrate(scenario_device(scenario), &priors, rows.rows, NULL, TRAIN, &options,
                                      &calibration, &report, &error),
                     STATUS_OK);
}

static void teardown(void)
{
    calibration_release(&calibration);
    measured_rows_release(&rows);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
}

/* Held-out rows in groups of eight, as measured and with every time multiplied. Returns how many groups hold. */
static unsigned groups_that_hold(double factor, unsigned *groups)
{
    unsigned holding = 0;
    *groups = 0;
    for (size_t i = TRAIN; i + 8 <= rows.count; i += 8) {
        struct kernel_row some[8];
        struct calibration_drift drift;
        struct error error = {0};
        memcpy(some, rows.rows + i, sizeof some);
        for (int k = 0; k < 8; k++)
            some[k].time_s *= factor;
        ck_assert_int_eq(calibration_drift_judge(scenario_device(scenario), &calibration, some, 8, &drift, &error),
                         STATUS_OK);
        ck_assert_uint_le(drift.inside, 8);
        holding += drift.holds;
        ++*groups;
    }
    return holding;
}

START_TEST(holds_until_times_shift)
{
    unsigned groups;
    const unsigned same = groups_that_hold(1, &groups);
    ck_assert_uint_ge(groups, 10);
    ck_assert_uint_ge(same + 1, groups); /* one false alarm at most */
    ck_assert_uint_eq(groups_that_hold(2, &groups), 0);
    ck_assert_uint_eq(groups_that_hold(0.5, &groups), 0);
}
END_TEST

/* A common shift is reported as what it is. */
START_TEST(shift_is_measured)
{
    struct calibration_drift before, after;
    struct error error = {0};
    const struct gpu_device *device = scenario_device(scenario);
    ck_assert_int_eq(calibration_drift_judge(device, &calibration, rows.rows, rows.count, &before, &error), STATUS_OK);
    for (size_t i = 0; i < rows.count; i++)
        rows.rows[i].time_s *= 1.25;
    ck_assert_int_eq(calibration_drift_judge(device, &calibration, rows.rows, rows.count, &after, &error), STATUS_OK);
    assert_close_rel(after.bias_log - before.bias_log, log(1.25), 1e-9);
    ck_assert_double_eq_tol(after.bias_sigma, before.bias_sigma, 1e-12);
    ck_assert(before.holds && !after.holds && after.biased);
    /* One false alarm in a hundred: 2.58 standard deviations either way. */
    static const double sigmas[] = {-2.7, -2.45, 2.45, 2.7};
    for (size_t k = 0; k < 4; k++) {
        const double factor = exp(sigmas[k] * before.bias_sigma - after.bias_log);
        for (size_t i = 0; i < rows.count; i++)
            rows.rows[i].time_s *= factor;
        ck_assert_int_eq(calibration_drift_judge(device, &calibration, rows.rows, rows.count, &after, &error),
                         STATUS_OK);
        ck_assert_msg(after.biased == (fabs(sigmas[k]) > 2.58), "%g", sigmas[k]);
    }
}
END_TEST

START_TEST(too_few_rows_show_nothing)
{
    struct calibration_drift drift;
    struct error error = {0};
    ck_assert_int_eq(calibration_drift_judge(scenario_device(scenario), &calibration, rows.rows, 2, &drift, &error),
                     STATUS_BAD_DATA);
    ck_assert_str_eq(error.text, "2 configurations cannot show drift: at least 3 are needed");
}
END_TEST

/* On another GPU: the same factors, wider everywhere, most where figures are assumed. */
START_TEST(transfer_widens)
{
    const struct gpu_device *other;
    struct calibration moved = calibration; /* shares the process */
    struct error error = {0};
    ck_assert_int_eq(device_catalogue_find(catalogue, "rtx-pro-6000-blackwell-server", &other, &error), STATUS_OK);
    calibration_transfer(&moved, scenario_device(scenario), other);
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        ck_assert_double_eq(moved.parameters.items[i].value, calibration.parameters.items[i].value);
        ck_assert_double_ge(moved.covariance[i][i], calibration.covariance[i][i]);
        for (int j = 0; j < i; j++)
            ck_assert_double_eq(moved.covariance[i][j], calibration.covariance[i][j]);
    }
    ck_assert_double_gt(moved.covariance[PARAMETER_DRAM_LATENCY_FACTOR][PARAMETER_DRAM_LATENCY_FACTOR],
                        calibration.covariance[PARAMETER_DRAM_LATENCY_FACTOR][PARAMETER_DRAM_LATENCY_FACTOR] + 0.01);
    ck_assert_double_eq(moved.covariance[PARAMETER_ITERATION_OVERHEAD][PARAMETER_ITERATION_OVERHEAD],
                        calibration.covariance[PARAMETER_ITERATION_OVERHEAD][PARAMETER_ITERATION_OVERHEAD]);
    ck_assert_double_ge(moved.form_log_sigma, hypot(calibration.form_log_sigma, 0.10) - 1e-12);
    struct calibration unknown = calibration;
    calibration_transfer(&unknown, NULL, other);
    ck_assert_double_gt(unknown.covariance[PARAMETER_DRAM_LATENCY_FACTOR][PARAMETER_DRAM_LATENCY_FACTOR],
                        moved.covariance[PARAMETER_DRAM_LATENCY_FACTOR][PARAMETER_DRAM_LATENCY_FACTOR]);
}
END_TEST

/* For another kernel: the same parameters, and a wider form. */
START_TEST(another_kernel_widens)
{
    struct calibration moved = calibration;
    calibration_transfer_kernel(&moved);
    ck_assert_double_gt(moved.form_log_sigma, 0.3);
    ck_assert_double_ge(moved.form_log_sigma, calibration.form_log_sigma);
    ck_assert_double_eq(moved.parameters.model_log_sigma, moved.form_log_sigma);
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        ck_assert_double_eq(moved.parameters.items[i].value, calibration.parameters.items[i].value);
        ck_assert_double_eq(moved.covariance[i][i], calibration.covariance[i][i]);
    }
}
END_TEST

START_TEST(sources_are_ordered)
{
    ck_assert_double_lt(figure_log_sigma(INPUT_SOURCE_MEASURED), figure_log_sigma(INPUT_SOURCE_DATASHEET));
    ck_assert_double_lt(figure_log_sigma(INPUT_SOURCE_DATASHEET), figure_log_sigma(INPUT_SOURCE_LITERATURE));
    ck_assert_double_lt(figure_log_sigma(INPUT_SOURCE_LITERATURE), figure_log_sigma(INPUT_SOURCE_ASSUMED));
}
END_TEST

/* There and back gives the same intervals; a higher level gives wider ones. */
START_TEST(levels_follow_the_normal_distribution)
{
    struct calibration moved = calibration;
    calibration_set_level(&moved, 0.95);
    assert_close_rel(moved.stretch / calibration.stretch, 1.959963984540054 / 1.6448536269514722, 1e-9);
    calibration_set_level(&moved, 0.9);
    assert_close_rel(moved.stretch, calibration.stretch, 1e-12);
}
END_TEST

/* L L' gives the covariance back, of a random positive definite one with a parameter that has none. */
START_TEST(covariance_factor_multiplies_back)
{
    enum {
        N = PARAMETER_COUNT
    };
    double root[N][N], covariance[N][N], factor[N * N];
    struct random_stream stream;
    random_init(&stream, 11, 3);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            root[i][j] = i == 4 ? 0 : random_normal(&stream);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            covariance[i][j] = 0;
            for (int k = 0; k < N; k++)
                covariance[i][j] += root[i][k] * root[j][k];
        }
    covariance_factor_compute(&covariance[0][0], factor);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double product = 0;
            for (int k = 0; k < N; k++)
                product += factor[i * N + k] * factor[j * N + k];
            ck_assert_double_eq_tol(product, covariance[i][j], 1e-9);
        }
}
END_TEST

Suite *suite_calibration_drift(void)
{
    Suite *suite = suite_create("calibration_drift");
    TCase *tcase = tcase_create("measured");
    tcase_set_timeout(tcase, 60);
    /* In each test's own process: threads that OpenMP left in the runner would not survive the fork of later tests. */
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, holds_until_times_shift);
    tcase_add_test(tcase, shift_is_measured);
    tcase_add_test(tcase, too_few_rows_show_nothing);
    tcase_add_test(tcase, transfer_widens);
    tcase_add_test(tcase, another_kernel_widens);
    tcase_add_test(tcase, levels_follow_the_normal_distribution);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("formulas");
    tcase_add_test(tcase, sources_are_ordered);
    tcase_add_test(tcase, covariance_factor_multiplies_back);
    suite_add_tcase(suite, tcase);
    return suite;
}
