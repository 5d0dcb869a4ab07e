/* SPDX-License-Identifier: GPL-3.0-or-later
 * Every baseline is exact in the world it assumes, so that beating it means something. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/baselines.h"
#include "calibrate/gaussian_process.h"
#include "tests/support/assert_close.h"
#include "tests/support/synthetic_rows.h"

enum {
    ROWS = 120,
    TRAIN = 40
};
#define TOL_SUMS 1e-9

static struct synthetic_rows data;
static uint32_t train[TRAIN], test[ROWS - TRAIN];
static double predicted[ROWS];

static void setup(void)
{
    synthetic_rows_create(&data, "occam-gqa-decode", ROWS, 21, 0.5, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        *(i < TRAIN ? &train[i] : &test[i - TRAIN]) = i;
    }
}

static void teardown(void)
{
    synthetic_rows_release(&data);
}

static void create(struct baseline_table *table)
{
    struct error error = {0};
    ck_assert_msg(baseline_table_create(data.device, data.rows.rows, data.rows.values, ROWS, data.rows.variable_count,
                                        table, &error) == STATUS_OK,
                  "%s", error.text);
}

static void predict(const struct baseline_table *table, enum baseline_id id)
{
    struct error error = {0};
    ck_assert_msg(baseline_predict(table, id, train, TRAIN, test, ROWS - TRAIN, predicted, &error) == STATUS_OK, "%s",
                  error.text);
}

/* Largest |ln(predicted / true)| over the test rows. */
static double worst(const struct baseline_table *table)
{
    double result = 0;
    for (size_t i = 0; i < ROWS - TRAIN; i++) {
        result = fmax(result, fabs(predicted[i] - table->log_time[test[i]]));
    }
    return result;
}

static double median_error(const struct baseline_table *table)
{
    double errors[ROWS];
    for (size_t i = 0; i < ROWS - TRAIN; i++) {
        errors[i] = fabs(predicted[i] - table->log_time[test[i]]);
    }
    return median_in_place(errors, ROWS - TRAIN);
}

START_TEST(scaled_baselines_are_exact_where_time_follows_them)
{
    struct baseline_table table;
    create(&table);
    for (size_t i = 0; i < ROWS; i++) {
        table.log_time[i] = table.log_roofline[i] + log(1.7);
    }
    predict(&table, BASELINE_ROOFLINE);
    ck_assert(worst(&table) < TOL_SUMS);
    for (size_t i = 0; i < ROWS; i++) {
        table.log_time[i] = table.log_waves[i] - 12;
    }
    predict(&table, BASELINE_WAVES);
    ck_assert(worst(&table) < TOL_SUMS);
    predict(&table, BASELINE_ROOFLINE);
    ck_assert(worst(&table) > 0.1);
    baseline_table_release(&table);
}
END_TEST

START_TEST(linear_is_exact_where_time_is_a_power_law)
{
    struct baseline_table table;
    create(&table);
    ck_assert_uint_ge(table.input_count, 5);
    const size_t line = table.input_count + table.derived_count;
    for (size_t i = 0; i < ROWS; i++) {
        table.log_time[i] = -9 + 0.7 * table.inputs[i * line] - 0.3 * table.inputs[i * line + 2];
    }
    predict(&table, BASELINE_LINEAR);
    ck_assert_msg(worst(&table) < 1e-4, "%g", worst(&table));
    baseline_table_release(&table);
}
END_TEST

START_TEST(nearest_returns_a_training_row_and_the_constant_their_median)
{
    struct baseline_table table;
    double times[TRAIN];
    create(&table);
    memcpy(test, train, sizeof train); /* a training row is nearest to itself */
    predict(&table, BASELINE_NEAREST);
    for (size_t i = 0; i < TRAIN; i++) {
        assert_close_rel(predicted[i], table.log_time[train[i]], TOL_SUMS);
        times[i] = table.log_time[train[i]];
    }
    predict(&table, BASELINE_CONSTANT);
    assert_close_rel(predicted[3], median_in_place(times, TRAIN), TOL_SUMS);
    baseline_table_release(&table);
}
END_TEST

START_TEST(processes_learn_what_they_can_see)
{
    struct baseline_table table;
    create(&table);
    const size_t line = table.input_count + table.derived_count;
    for (size_t i = 0; i < ROWS; i++) { /* bends in waves, which no knob alone shows */
        const double waves = table.inputs[i * line + table.input_count + 2];
        table.log_time[i] = -9 + 0.5 * sin(2 * waves) + 0.2 * waves;
    }
    predict(&table, BASELINE_PROCESS_DERIVED);
    const double derived = median_error(&table);
    predict(&table, BASELINE_PROCESS_KNOBS);
    const double knobs = median_error(&table);
    ck_assert_msg(derived < 0.05 && derived < 0.5 * knobs, "%g with, %g without derived inputs", derived, knobs);
    baseline_table_release(&table);
}
END_TEST

START_TEST(a_process_interpolates_and_forgets_far_away)
{
    enum {
        COUNT = 30
    };
    double inputs[COUNT * 2], outputs[COUNT], far[2] = {500, -500};
    struct gaussian_process process;
    struct error error = {0};
    struct random_stream stream;
    random_init(&stream, 1, 1);
    for (size_t i = 0; i < COUNT; i++) {
        inputs[2 * i] = 4 * random_uniform(&stream) - 2;
        inputs[2 * i + 1] = 4 * random_uniform(&stream) - 2; /* does not matter */
        outputs[i] = 3 + sin(2 * inputs[2 * i]);
    }
    ck_assert_msg(gaussian_process_fit(&process, inputs, outputs, COUNT, 2, &error) == STATUS_OK, "%s", error.text);
    for (double x = -1.5; x <= 1.5; x += 0.25) {
        const double at[2] = {x, 0.3};
        ck_assert_msg(fabs(gaussian_process_mean(&process, at) - 3 - sin(2 * x)) < 0.1, "at %g: %g", x,
                      gaussian_process_mean(&process, at));
    }
    ck_assert(process.lengths[1] > 2 * process.lengths[0]);
    assert_close_rel(gaussian_process_mean(&process, far), process.mean, 1e-6);
    gaussian_process_release(&process);
}
END_TEST

START_TEST(degenerate_training_is_survived_or_refused)
{
    struct baseline_table table;
    create(&table);
    for (int b = 0; b < BASELINE_COUNT; b++) {
        struct error error = {0};
        ck_assert(baseline_predict(&table, (enum baseline_id)b, train, 1, test, 2, predicted, &error) ==
                  STATUS_BAD_DATA);
        ck_assert_msg(strstr(error.text, "at least 2") != NULL, "%s", error.text);
    }
    for (size_t i = 1; i < TRAIN; i++) { /* one row, again and again */
        train[i] = train[0];
    }
    for (int b = 0; b < BASELINE_COUNT; b++) {
        predict(&table, (enum baseline_id)b);
        for (size_t i = 0; i < ROWS - TRAIN; i++) {
            ck_assert_msg(isfinite(predicted[i]), "%s", baseline_name((enum baseline_id)b));
        }
    }
    baseline_table_release(&table);
    for (size_t i = 1; i < ROWS; i++) { /* a table in which nothing varies */
        memcpy(data.rows.values + i * data.rows.variable_count, data.rows.values,
               data.rows.variable_count * sizeof(double));
        data.rows.rows[i] = data.rows.rows[0];
    }
    create(&table);
    ck_assert_uint_eq(table.input_count + table.derived_count, 0);
    for (int b = 0; b < BASELINE_COUNT; b++) {
        predict(&table, (enum baseline_id)b);
        ck_assert_msg(worst(&table) < 1e-6, "%s", baseline_name((enum baseline_id)b));
    }
    baseline_table_release(&table);
}
END_TEST

Suite *suite_baselines(void);
Suite *suite_baselines(void)
{
    Suite *suite = suite_create("baselines");
    TCase *tests = tcase_create("worlds");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, scaled_baselines_are_exact_where_time_follows_them);
    tcase_add_test(tests, linear_is_exact_where_time_is_a_power_law);
    tcase_add_test(tests, nearest_returns_a_training_row_and_the_constant_their_median);
    tcase_add_test(tests, processes_learn_what_they_can_see);
    tcase_add_test(tests, a_process_interpolates_and_forgets_far_away);
    tcase_add_test(tests, degenerate_training_is_survived_or_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
