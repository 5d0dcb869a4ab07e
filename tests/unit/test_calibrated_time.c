/* SPDX-License-Identifier: GPL-3.0-or-later
 * Predictions of a calibration: the form times the process, intervals that open with what is not known, and a word
 * where a configuration lies beyond the training rows. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/kernel_calibration.h"
#include "model/predict/calibrated_time.h"
#include "model/predict/calibration_transfer.h"
#include "tests/support/assert_close.h"
#include "tests/support/synthetic_rows.h"

enum {
    ROWS = 60
};

static struct synthetic_rows data;
static struct calibration calibration;
static struct calibrated_model model;

static void setup(void)
{
    synthetic_rows_create(&data, "gqa-split-decode", ROWS, 41, 0.7, 0.02);
    calibration_init(&calibration);
}

static void teardown(void)
{
    calibration_release(&calibration);
    synthetic_rows_release(&data);
}

static struct kernel_calibration_report calibrate(size_t count, bool residual)
{
    struct kernel_calibration_options options;
    struct kernel_calibration_report report;
    struct error error = {0};
    kernel_calibration_options_init(&options);
    options.no_residual = !residual;
    ck_assert_msg(kernel_calibrate(data.device, &data.priors, data.rows.rows, NULL, count, &options, &calibration,
                                   &report, &error) == STATUS_OK,
                  "%s", error.text);
    ck_assert_msg(calibrated_model_init(&model, data.device, &calibration, &error) == STATUS_OK, "%s", error.text);
    return report;
}

START_TEST(without_a_calibration_the_form_speaks)
{
    struct layer_time plain;
    struct calibrated_time time;
    ck_assert(calibrated_model_init(&model, data.device, &calibration, NULL) == STATUS_OK);
    layer_time_predict(&model.center, &data.rows.rows[0].layer, &plain);
    calibrated_time_predict(&model, &data.rows.rows[0].layer, &time);
    ck_assert(time.time_s == plain.time_s);
    ck_assert(time.residual_log == 0 && time.residual_log_sigma == 0);
}
END_TEST

START_TEST(intervals_hold_their_parts)
{
    (void)calibrate(40, true);
    for (size_t i = 0; i < ROWS; i++) {
        struct calibrated_time time;
        calibrated_time_predict(&model, &data.rows.rows[i].layer, &time);
        ck_assert(time.time_lo_s < time.time_s && time.time_s < time.time_hi_s);
        assert_close_rel(time.time_s, time.layer.time_s * exp(time.residual_log), 1e-12);
        ck_assert(time.log_sigma >= time.parameter_log_sigma * (1 - 1e-12));
        ck_assert(time.log_sigma >= calibration.form_log_sigma * (1 - 1e-12));
    }
}
END_TEST

START_TEST(the_gradient_is_that_of_the_form)
{
    (void)calibrate(40, false);
    for (size_t i = 0; i < 10; i++) {
        double gradient[PARAMETER_COUNT];
        struct layer_time base, moved;
        const struct layer_case *layer = &data.rows.rows[i].layer;
        layer_time_predict(&model.center, layer, &base);
        calibrated_gradient(&model, layer, base.time_s, gradient);
        for (uint32_t d = 0; d < model.direction_count; d++) {
            struct model_parameters parameters = calibration.parameters;
            struct time_model other;
            parameters.items[model.directions[d]].value *= exp(model.steps[d]);
            ck_assert(time_model_init(&other, data.device, &parameters, NULL) == STATUS_OK);
            layer_time_predict(&other, layer, &moved);
            ck_assert(fabs(gradient[d] - log(moved.time_s / base.time_s) / model.steps[d]) < 1e-9);
        }
    }
}
END_TEST

START_TEST(rows_trained_on_are_inside_and_strange_ones_are_not)
{
    struct calibrated_time time;
    (void)calibrate(ROWS, false);
    for (size_t i = 0; i < ROWS; i++) {
        calibrated_time_predict(&model, &data.rows.rows[i].layer, &time);
        ck_assert_msg(!time.extrapolating, "row %zu: %s", i, time.beyond);
    }
    struct layer_case strange = data.rows.rows[0].layer;
    for (uint32_t k = 0; k < strange.kernel_count; k++) {
        strange.kernels[k].loop.iterations *= 1000;
    }
    calibrated_time_predict(&model, &strange, &time);
    ck_assert(time.extrapolating);
    ck_assert_str_eq(time.beyond, "ln_iterations");
    ck_assert_str_eq(calibration_feature_words(time.beyond), "iterations of a CTA");
    for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT; f++) {
        ck_assert_str_ne(calibration_feature_words(calibration_feature_name(f)), "something else");
    }
}
END_TEST

/* CAL-6: twice the largest leverage of the rows trained on, and leverage in units of the form's noise. */
START_TEST(leverage_is_judged_by_that_of_the_rows)
{
    struct calibrated_time time;
    double most = 0;
    (void)calibrate(40, false);
    for (size_t i = 0; i < 40; i++) {
        calibrated_time_predict(&model, &data.rows.rows[i].layer, &time);
        const double ratio = time.parameter_log_sigma / calibration.form_log_sigma;
        assert_close_rel(time.leverage, ratio * ratio, 1e-9);
        most = fmax(most, time.leverage);
    }
    assert_close_rel(calibration.leverage_limit, 2 * most, 1e-9);
}
END_TEST

static double stretch_at(double level)
{
    struct kernel_calibration_options options;
    struct kernel_calibration_report report;
    struct error error = {0};
    kernel_calibration_options_init(&options);
    options.no_residual = true;
    options.interval_level = level;
    calibration_release(&calibration);
    ck_assert_msg(kernel_calibrate(data.device, &data.priors, data.rows.rows, NULL, 9, &options, &calibration, &report,
                                   &error) == STATUS_OK,
                  "%s", error.text);
    return calibration.stretch;
}

/* CAL-5: of nine rows the ninth stands for 9 of 10; more is asked of a normal tail behind it, less of what lies between
 * the eighth, 8 of 10, and the ninth. */
START_TEST(the_stretch_is_an_order_statistic)
{
    const double at_80 = stretch_at(0.8), at_85 = stretch_at(0.85), at_90 = stretch_at(0.9), at_95 = stretch_at(0.95);
    assert_close_rel(at_95 / at_90, 1.9599639845 / 1.6448536270, 1e-8);
    assert_close_rel(at_85, (at_80 + at_90) / 2, 1e-9);
    ck_assert(at_80 < at_90);
}
END_TEST

/* CAL-11: another level is another quantile of the same width. */
START_TEST(another_level_is_another_quantile)
{
    struct calibrated_time at_90, at_50;
    (void)calibrate(40, false);
    calibrated_time_predict(&model, &data.rows.rows[3].layer, &at_90);
    calibration_set_level(&calibration, 0.5);
    ck_assert(calibration.interval_level == 0.5 && calibration.parameters.interval_level == 0.5);
    calibrated_time_predict(&model, &data.rows.rows[3].layer, &at_50);
    assert_close_rel(log(at_50.time_hi_s / at_50.time_s) / log(at_90.time_hi_s / at_90.time_s),
                     0.6744897502 / 1.6448536270, 1e-8);
}
END_TEST

/* CAL-9: the form's width grows by a tenth and, where there is one, by the whole amplitude of the process. */
START_TEST(a_moved_calibration_counts_its_process_as_unknown)
{
    struct gpu_device other = *data.device;
    (void)calibrate(40, true);
    const double form = calibration.form_log_sigma;
    calibration.residual.amplitude = 0.04;
    const double process = calibration.residual.row_count > 0 ? 0.04 : 0;
    calibration_transfer(&calibration, data.device, &other);
    assert_close_rel(calibration.form_log_sigma, sqrt(form * form + 0.01 + process), 1e-12);
}
END_TEST

START_TEST(what_cannot_run_has_no_time)
{
    struct calibrated_time time;
    struct layer_case layer = data.rows.rows[0].layer;
    (void)calibrate(40, false);
    layer.kernels[0].launch.dynamic_smem_bytes = 1u << 20;
    calibrated_time_predict(&model, &layer, &time);
    ck_assert(!time.layer.feasible && isnan(time.time_s) && isnan(time.time_lo_s) && isnan(time.time_hi_s));
}
END_TEST

START_TEST(the_kernel_of_the_process_falls_with_distance)
{
    assert_close_rel(calibration_kernel(0.3, 2, 0), 0.3, TOL_ROUNDING);
    /* Matern 5/2 at one length: (1 + sqrt5 + 5/3) exp(-sqrt5) */
    assert_close_rel(calibration_kernel(1, 2, 2), (1 + sqrt(5) + 5 / 3.0) * exp(-sqrt(5)), 1e-14);
    for (double r = 0; r < 10; r += 0.1) {
        ck_assert(calibration_kernel(1, 1.5, r + 0.1) < calibration_kernel(1, 1.5, r));
    }
}
END_TEST

START_TEST(a_calibration_needs_rows_that_differ)
{
    struct kernel_calibration_options options;
    struct kernel_calibration_report report;
    struct error error = {0};
    kernel_calibration_options_init(&options);
    ck_assert(kernel_calibrate(data.device, &data.priors, data.rows.rows, NULL, 4, &options, &calibration, &report,
                               &error) == STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, "at least 5 rows, got 4") != NULL, "%s", error.text);
    for (size_t i = 1; i < 10; i++) {
        data.rows.rows[i] = data.rows.rows[0];
    }
    ck_assert(kernel_calibrate(data.device, &data.priors, data.rows.rows, NULL, 10, &options, &calibration, &report,
                               &error) == STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, "one configuration") != NULL, "%s", error.text);
}
END_TEST

START_TEST(the_process_is_used_where_the_form_is_wrong)
{
    for (size_t i = 0; i < ROWS; i++) { /* a smooth effect that no parameter can express */
        const double turns = data.rows.rows[i].layer.kernels[0].loop.iterations;
        data.rows.rows[i].time_s *= exp(0.4 * sin(1.2 * log(turns)));
    }
    const struct kernel_calibration_report report = calibrate(ROWS, true);
    ck_assert(report.residual_used);
    ck_assert_msg(report.hybrid_error < 0.9 * report.form_error, "%g with, %g without the process", report.hybrid_error,
                  report.form_error);
}
END_TEST

static double stretch_with(const bool *typical)
{
    struct kernel_calibration_options options;
    struct kernel_calibration_report report;
    struct error error = {0};
    kernel_calibration_options_init(&options);
    options.no_residual = true;
    options.typical = typical;
    ck_assert_msg(kernel_calibrate(data.device, &data.priors, data.rows.rows, NULL, 30, &options, &calibration, &report,
                                   &error) == STATUS_OK,
                  "%s", error.text);
    const double stretch = calibration.stretch;
    calibration_release(&calibration);
    return stretch;
}

START_TEST(intervals_follow_from_typical_rows)
{
    bool typical[ROWS] = {false};
    for (size_t i = 0; i < 30; i++) { /* one row in three is off by a fifth */
        typical[i] = i % 3 != 0;
        data.rows.rows[i].time_s *= typical[i] ? 1 : i % 2 ? 1.2 : 1 / 1.2;
    }
    const double all = stretch_with(NULL), some = stretch_with(typical);
    ck_assert_msg(some < 0.7 * all, "%g from typical rows, %g from all", some, all);
    memset(typical, 0, sizeof typical);
    typical[1] = typical[2] = typical[4] = typical[5] = true; /* too few to say anything */
    ck_assert(stretch_with(typical) == all);
}
END_TEST

Suite *suite_calibrated_time(void);
Suite *suite_calibrated_time(void)
{
    Suite *suite = suite_create("calibrated_time");
    TCase *tests = tcase_create("time");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, without_a_calibration_the_form_speaks);
    tcase_add_test(tests, intervals_hold_their_parts);
    tcase_add_test(tests, the_gradient_is_that_of_the_form);
    tcase_add_test(tests, rows_trained_on_are_inside_and_strange_ones_are_not);
    tcase_add_test(tests, leverage_is_judged_by_that_of_the_rows);
    tcase_add_test(tests, the_stretch_is_an_order_statistic);
    tcase_add_test(tests, another_level_is_another_quantile);
    tcase_add_test(tests, a_moved_calibration_counts_its_process_as_unknown);
    tcase_add_test(tests, what_cannot_run_has_no_time);
    tcase_add_test(tests, the_kernel_of_the_process_falls_with_distance);
    tcase_add_test(tests, a_calibration_needs_rows_that_differ);
    tcase_add_test(tests, the_process_is_used_where_the_form_is_wrong);
    tcase_add_test(tests, intervals_follow_from_typical_rows);
    suite_add_tcase(suite, tests);
    return suite;
}
