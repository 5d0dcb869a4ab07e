/* SPDX-License-Identifier: GPL-3.0-or-later
 * The calibrations that are built in belong to the model, scenario and measurements of today. Where one does not,
 * `make calibrations` learns them again. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/measured_rows.h"
#include "evidence/calibration_file.h"
#include "evidence/calibration_list.h"
#include "model/predict/calibrated_time.h"

Suite *suite_builtin_calibrations(void);

enum {
    FEATURES = CALIBRATION_FEATURE_COUNT,
    FILES_MAX = 16,
    FILE_BYTES_MOST = 200 * 1000
};
#define AGAIN "; run: make calibrations"

static struct device_catalogue *catalogue;
static struct calibration_list_entry *entries;
static size_t entry_count;

static void setup(void)
{
    struct error error = {0};
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", "/nonexistent", 1), 0); /* none of the user's */
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
    ck_assert_int_eq(calibration_list_create(&entries, &entry_count, &error), STATUS_OK);
}

static void teardown(void)
{
    free(entries);
    device_catalogue_free(catalogue);
}

START_TEST(there_is_one_of_each_of_our_kernels)
{
    static const char *const names[] = {"nvidia-h200-gemm-tile", "nvidia-h200-gqa-decode", "nvidia-h200-sparse-decode"};
    ck_assert_uint_eq(entry_count, 3);
    for (size_t i = 0; i < 3; i++) {
        char path[300];
        ck_assert_str_eq(entries[i].name, names[i]);
        ck_assert(entries[i].built_in);
        (void)snprintf(path, sizeof path, "data/calibrations/%s.json", names[i]);
        FILE *file = fopen(path, "r");
        ck_assert_msg(file != NULL, "%s", path);
        ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
        ck_assert_msg(ftell(file) < FILE_BYTES_MOST, "%s has %ld bytes", path, ftell(file));
        (void)fclose(file);
    }
}
END_TEST

/* As the Makefile's target takes them: KERNEL.csv, then KERNEL_*.csv but the predictions. */
static void read_rows(const char *kernel, const struct scenario *scenario, struct measured_rows *rows)
{
    const char *paths[FILES_MAX];
    char pattern[300];
    size_t count = 0;
    glob_t found;
    struct error error = {0};
    (void)snprintf(pattern, sizeof pattern, "data/measurements/nvidia-h200/%s.csv", kernel);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    (void)snprintf(pattern, sizeof pattern, "data/measurements/nvidia-h200/%s_*.csv", kernel);
    ck_assert_int_eq(glob(pattern, GLOB_APPEND, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], "predictions") == NULL) {
            ck_assert_uint_lt(count, FILES_MAX);
            paths[count++] = found.gl_pathv[i];
        }
    }
    ck_assert_msg(measured_rows_read(scenario, paths, count, NULL, rows, &error) == STATUS_OK, "%s", error.text);
    globfree(&found);
}

/* ln(measured / form) of training row i, back from the weights: L (L' w). */
static double left_over(const struct calibration_residual *residual, uint32_t i, const double *half)
{
    double sum = 0;
    for (uint32_t j = 0; j <= i; j++) {
        sum += residual->factor[(size_t)i * residual->row_count + j] * half[j];
    }
    return sum;
}

/* How far measured row `row` is from training row i, in standard deviations of the features. */
static double distance(const struct calibration_residual *residual, uint32_t i, const double *features)
{
    double most = 0;
    for (unsigned f = 0; f < FEATURES; f++) {
        const double scaled = residual->scale[f] > 0 ? (features[f] - residual->center[f]) / residual->scale[f] : 0;
        most = fmax(most, fabs(scaled - residual->features[(size_t)i * FEATURES + f]));
    }
    return most;
}

/* The model of today must leave over at every training row what the model of the calibration left over. */
static uint32_t rows_that_fit(const struct calibration *calibration, const struct scenario *scenario,
                              const struct measured_rows *rows)
{
    const struct calibration_residual *residual = &calibration->residual;
    struct time_model model;
    struct error error = {0};
    uint32_t fitting = 0;
    double *half = calloc(residual->row_count, sizeof *half);
    double *features = malloc(rows->count * FEATURES * sizeof *features), *rest = malloc(rows->count * sizeof *rest);
    ck_assert(half && features && rest);
    ck_assert_int_eq(time_model_init(&model, scenario_device(scenario), &calibration->parameters, &error), STATUS_OK);
    for (uint32_t i = 0; i < residual->row_count; i++) {
        for (uint32_t j = i; j < residual->row_count; j++) {
            half[i] += residual->factor[(size_t)j * residual->row_count + i] * residual->weights[j];
        }
    }
    for (size_t r = 0; r < rows->count; r++) {
        struct layer_time time;
        layer_time_predict(&model, &rows->rows[r].layer, &time);
        calibration_features(&model, &rows->rows[r].layer, &time, features + r * FEATURES);
        rest[r] = log(rows->rows[r].time_s / time.time_s);
    }
    for (uint32_t i = 0; i < residual->row_count; i++) {
        const double expected = left_over(residual, i, half);
        bool found = false;
        for (size_t r = 0; r < rows->count && !found; r++) {
            found = fabs(rest[r] - expected) < 1e-6 && distance(residual, i, features + r * FEATURES) < 1e-6;
        }
        fitting += found;
    }
    free(half);
    free(features);
    free(rest);
    return fitting;
}

START_TEST(none_is_stale)
{
    const char *name = entries[_i].name;
    struct calibration calibration;
    struct scenario *scenario;
    struct measured_rows rows;
    struct error error = {0};
    char kernel[64];
    ck_assert_msg(calibration_file_read(name, &calibration, &error) == STATUS_OK, "%s: %s" AGAIN, name, error.text);
    ck_assert_int_eq(scenario_read(calibration.scenario, catalogue, calibration.device, &scenario, &error), STATUS_OK);
    ck_assert_msg(scenario_hash(scenario) == calibration.scenario_hash, "%s is stale: scenario %s has changed" AGAIN,
                  name, calibration.scenario);
    (void)snprintf(kernel, sizeof kernel, "%.60s", scenario_measure_kernel(scenario));
    read_rows(kernel, scenario, &rows);
    ck_assert_msg(rows.hash == calibration.rows_hash, "%s is stale: the measurements of %s have changed" AGAIN, name,
                  kernel);
    ck_assert_msg(calibration.residual.row_count > 0, "%s has no process: this test cannot judge it", name);
    const uint32_t fitting = rows_that_fit(&calibration, scenario, &rows);
    ck_assert_msg(fitting == calibration.residual.row_count,
                  "%s is stale: the model has changed, %u of its %u training rows are predicted as they were" AGAIN,
                  name, fitting, calibration.residual.row_count);
    measured_rows_release(&rows);
    scenario_free(scenario);
    calibration_release(&calibration);
}
END_TEST

START_TEST(a_changed_model_is_seen)
{
    struct calibration calibration;
    struct scenario *scenario;
    struct measured_rows rows;
    struct error error = {0};
    ck_assert_int_eq(calibration_file_read("nvidia-h200-gqa-decode", &calibration, &error), STATUS_OK);
    ck_assert_int_eq(scenario_read(calibration.scenario, catalogue, calibration.device, &scenario, &error), STATUS_OK);
    read_rows("gqa_decode", scenario, &rows);
    calibration.parameters.items[PARAMETER_L2_LATENCY_FACTOR].value *=
        1.01; /* as if the model had changed that little */
    ck_assert_uint_lt(rows_that_fit(&calibration, scenario, &rows), calibration.residual.row_count);
    measured_rows_release(&rows);
    scenario_free(scenario);
    calibration_release(&calibration);
}
END_TEST

Suite *suite_builtin_calibrations(void)
{
    Suite *suite = suite_create("builtin_calibrations");
    TCase *tests = tcase_create("builtin_calibrations");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, there_is_one_of_each_of_our_kernels);
    tcase_add_loop_test(tests, none_is_stale, 0, 3);
    tcase_add_test(tests, a_changed_model_is_seen);
    suite_add_tcase(suite, tests);
    return suite;
}
