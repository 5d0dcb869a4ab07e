/* SPDX-License-Identifier: GPL-3.0-or-later
 * Calibrations through a file: exact round trip, look-up by name, and what is said of files that are wrong. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "calibrate/kernel_calibration.h"
#include "calibrate/measured_rows.h"
#include "calibrate/residual_fit.h"
#include "evidence/calibration_file.h"
#include "model/predict/calibrated_time.h"
#include "tests/support/temp_dir.h"

Suite *suite_calibration_file(void);

enum {
    TRAIN = 42 /* no multiple of the factor's panels */
};

static struct temp_dir directory;
static struct device_catalogue *catalogue;
static struct scenario *scenario;
static struct measured_rows rows;
static struct calibration calibration; /* with a residual process */

static void setup(void)
{
    static const char *const path = "data/measurements/nvidia-h200/gemm_tile.csv";
    struct kernel_calibration_options options;
    struct kernel_calibration_report report;
    struct model_parameters priors;
    double features[TRAIN * CALIBRATION_FEATURE_COUNT], residuals[TRAIN];
    struct error error = {0};
    temp_dir_create(&directory);
    ck_assert_int_eq(device_catalogue_create(&catalogue, &error), STATUS_OK);
    ck_assert_int_eq(scenario_read("occam-gemm-tile", catalogue, NULL, &scenario, &error), STATUS_OK);
    ck_assert_int_eq(measured_rows_read(scenario, &path, 1, NULL, &rows, &error), STATUS_OK);
    ck_assert_uint_gt(rows.count, TRAIN);
    kernel_calibration_options_init(&options);
    model_parameters_init(&priors);
    ck_assert_int_eq(kernel_calibrate(scenario_device(scenario), &priors, rows.rows, NULL, TRAIN, &options,
                                      &calibration, &report, &error),
                     STATUS_OK);
    for (size_t i = 0; i < TRAIN; i++) { /* a process, whether or not it helped */
        struct time_model model;
        struct layer_time time;
        ck_assert_int_eq(time_model_init(&model, scenario_device(scenario), &calibration.parameters, &error),
                         STATUS_OK);
        layer_time_predict(&model, &rows.rows[i].layer, &time);
        calibration_features(&model, &rows.rows[i].layer, &time, features + i * CALIBRATION_FEATURE_COUNT);
        residuals[i] = log(rows.rows[i].time_s / time.time_s);
    }
    ck_assert_int_eq(residual_start(&calibration, features, TRAIN, &error), STATUS_OK);
    ck_assert_int_eq(residual_search(&calibration, residuals, &error), STATUS_OK);
    ck_assert_int_eq(residual_weigh(&calibration, residuals, &error), STATUS_OK);
    (void)snprintf(calibration.name, sizeof calibration.name, "gemm \"x\" é");
    memcpy(calibration.parameters.calibration, calibration.name, sizeof calibration.name);
    (void)snprintf(calibration.scenario, sizeof calibration.scenario, "occam-gemm-tile");
    (void)snprintf(calibration.device, sizeof calibration.device, "nvidia-h200");
    (void)snprintf(calibration.date, sizeof calibration.date, "2026-11-29T12:00:00Z");
    calibration.scenario_hash = scenario_hash(scenario);
    calibration.rows_hash = 0xfedcba9876543210u;
    calibration.sm_clock_mhz = 1979.5;
    calibration.least[3] = -HUGE_VAL;
}

static void teardown(void)
{
    calibration_release(&calibration);
    measured_rows_release(&rows);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    temp_dir_remove(&directory);
}

static const char *write_file(const char *name, char *path, size_t size)
{
    const struct calibration_provenance provenance = {
        .file_count = 1, .files = (const char *const[]){"gemm.csv"}, .program = "0.1.0", .seed = 7, .rows = "all"};
    struct error error = {0};
    temp_dir_path(&directory, name, path, size);
    ck_assert_msg(calibration_file_write(path, &calibration, &provenance, &error) == STATUS_OK, "%s", error.text);
    return path;
}

static void assert_same_predictions(const struct calibration *other)
{
    struct calibrated_model *models = calloc(2, sizeof *models);
    struct error error = {0};
    ck_assert_ptr_nonnull(models);
    ck_assert_int_eq(calibrated_model_init(&models[0], scenario_device(scenario), &calibration, &error), STATUS_OK);
    ck_assert_int_eq(calibrated_model_init(&models[1], scenario_device(scenario), other, &error), STATUS_OK);
    for (size_t i = 0; i < rows.count; i++) {
        struct calibrated_time a, b;
        calibrated_time_predict(&models[0], &rows.rows[i].layer, &a);
        calibrated_time_predict(&models[1], &rows.rows[i].layer, &b);
        ck_assert_double_eq(a.time_s, b.time_s);
        ck_assert_double_eq(a.time_lo_s, b.time_lo_s);
        ck_assert_double_eq(a.time_hi_s, b.time_hi_s);
        ck_assert_int_eq(a.extrapolating, b.extrapolating);
    }
    free(models);
}

START_TEST(round_trip_is_exact)
{
    char path[1024], again_path[1024], *first, *second;
    size_t first_length, second_length;
    struct calibration read;
    struct error error = {0};
    write_file("c.json", path, sizeof path);
    ck_assert_msg(calibration_file_read(path, &read, &error) == STATUS_OK, "%s", error.text);
    ck_assert_str_eq(read.name, calibration.name);
    ck_assert_str_eq(read.parameters.calibration, calibration.name);
    ck_assert_str_eq(read.scenario, calibration.scenario);
    ck_assert_uint_eq(read.scenario_hash, calibration.scenario_hash);
    ck_assert_uint_eq(read.rows_hash, calibration.rows_hash);
    ck_assert_uint_eq(read.row_count, TRAIN);
    ck_assert_mem_eq(read.covariance, calibration.covariance, sizeof read.covariance);
    ck_assert_mem_eq(read.least, calibration.least, sizeof read.least);
    ck_assert_mem_eq(read.most, calibration.most, sizeof read.most);
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        ck_assert_double_eq(read.parameters.items[i].value, calibration.parameters.items[i].value);
        ck_assert_double_eq(read.parameters.items[i].log_sigma, calibration.parameters.items[i].log_sigma);
        ck_assert_int_eq(read.parameters.items[i].source, calibration.parameters.items[i].source);
    }
    ck_assert_double_eq(read.parameters.model_log_sigma, calibration.parameters.model_log_sigma);
    ck_assert_uint_eq(read.residual.row_count, TRAIN);
    ck_assert_mem_eq(read.residual.features, calibration.residual.features,
                     TRAIN * CALIBRATION_FEATURE_COUNT * sizeof(double));
    ck_assert_mem_eq(read.residual.weights, calibration.residual.weights, TRAIN * sizeof(double));
    ck_assert_mem_eq(read.residual.factor, calibration.residual.factor, TRAIN * TRAIN * sizeof(double));
    assert_same_predictions(&read);
    calibration_release(&calibration);
    calibration = read;
    write_file("again.json", again_path, sizeof again_path);
    ck_assert_int_eq(file_read_text(path, 1 << 24, &first, &first_length, &error), STATUS_OK);
    ck_assert_int_eq(file_read_text(again_path, 1 << 24, &second, &second_length, &error), STATUS_OK);
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
}
END_TEST

/* The factor times itself is the covariance of the rows. */
START_TEST(factor_multiplies_back)
{
    const struct calibration_residual *residual = &calibration.residual;
    unsigned varying = 0;
    for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT; f++)
        varying += residual->scale[f] > 0;
    for (size_t i = 0; i < TRAIN; i++)
        for (size_t j = 0; j <= i; j++) {
            double product = 0, squares = 0;
            for (size_t k = 0; k <= j; k++)
                product += residual->factor[i * TRAIN + k] * residual->factor[j * TRAIN + k];
            for (unsigned f = 0; f < CALIBRATION_FEATURE_COUNT; f++) {
                const double distance = residual->features[i * CALIBRATION_FEATURE_COUNT + f] -
                                        residual->features[j * CALIBRATION_FEATURE_COUNT + f];
                squares += distance * distance;
            }
            const double covariance =
                calibration_kernel(residual->amplitude, residual->length, sqrt(squares / varying));
            if (!(fabs(product - covariance - (i == j ? residual->noise : 0)) <= 1e-12) ||
                (j != i && residual->factor[j * TRAIN + i] != 0))
                ck_abort_msg("row %u, column %u of the factor", (unsigned)i, (unsigned)j);
        }
}
END_TEST

static void replace_once(char *text, const char *from, const char *to, struct text_buffer *out)
{
    char *place = strstr(text, from);
    ck_assert_msg(place != NULL, "%s is not in the file", from);
    text_buffer_append_bytes(out, text, (size_t)(place - text));
    text_buffer_append(out, to);
    text_buffer_append(out, place + strlen(from));
}

static const struct {
    const char *from, *to, *message;
} spoiled[] = {
    {"\"occam calibration\"", "\"recipe\"", "format: this is no calibration"},
    {"\"version\": 1", "\"version\": 2", "version: the file is of another version"},
    {"\"version\": 1", "\"version\": \"1\"", "version: expected a number"},
    {"\"name\": \"gemm", "\"name\": \"ge\\u0007m", "name: expected a text"},
    {"\"name\": \"gemm \\\"x\\\" é\"", "\"name\": \"\"", "name: expected a text"},
    {"\"scenario_hash\"", "\"scenario_hish\"", "scenario_hash: this key is missing"},
    {"fedcba9876543210", "fedcba987654321", "measurements_hash: expected 16 hexadecimal digits"},
    {"\"rows\": 42", "\"rows\": -42", "rows: expected a number from 1"},
    {"\"interval_level\": 0.9", "\"interval_level\": 9", "interval_level: expected a number from 0.5"},
    {"\"stretch\": ", "\"stretch\": null, \"x\": ", "stretch: expected a number"},
    {"\"launch_factor\"", "\"lunch_factor\"", "parameters[0]: expected launch_factor; the file is of another version"},
    {"\"log_sigma\": ", "\"log_sigma\": -", "launch_factor.log_sigma: expected a number from 0"},
    {"\"value\": ", "\"value\": 1e9, \"x\": ", "launch_factor.value: expected a number"},
    {"\"source\": \"", "\"source\": \"un", "source: unknown source"},
    {"\"covariance\": [", "\"covariance\": [[], ", "covariance: expected a list of"},
    {"\"ln_warps\"", "\"ln_wraps\"", "features: the file is of another version"},
    {"\"amplitude\": ", "\"amplitude\": -", "amplitude: expected a number"},
    {"\"weights\": [", "\"weights\": [1, ", "weights: expected a list of 42"},
    {"\"residual\": {", "\"residual\": [], \"x\": {", "residual: expected null, or an object"},
    {"\"most\": [", "\"most\": [NaN, ", "not a calibration in JSON"},
    {"\"date\"", "\"name\"", "not a calibration in JSON: duplicate object key"},
};

START_TEST(wrong_files_are_refused)
{
    char path[1024], *text;
    size_t length;
    struct text_buffer wrong = {0};
    struct calibration read;
    struct error error = {0};
    write_file("c.json", path, sizeof path);
    ck_assert_int_eq(file_read_text(path, 1 << 24, &text, &length, &error), STATUS_OK);
    replace_once(text, spoiled[_i].from, spoiled[_i].to, &wrong);
    temp_dir_write(&directory, "wrong.json", wrong.text, wrong.length, path, sizeof path);
    ck_assert_int_eq(calibration_file_read(path, &read, &error), STATUS_BAD_DATA);
    ck_assert_msg(strstr(error.text, spoiled[_i].message) != NULL, "%s", error.text);
    ck_assert_str_eq(error.file, path);
    ck_assert_ptr_null(read.residual.features);
    text_buffer_release(&wrong);
    free(text);
}
END_TEST

/* Cut off anywhere: an error, never half a calibration. */
START_TEST(truncated_files_are_refused)
{
    char path[1024], *text;
    size_t length;
    struct error error = {0};
    write_file("c.json", path, sizeof path);
    ck_assert_int_eq(file_read_text(path, 1 << 24, &text, &length, &error), STATUS_OK);
    for (size_t cut = 0; cut + 2 < length; cut += 1 + length / 97) {
        struct calibration read;
        temp_dir_write(&directory, "cut.json", text, cut, path, sizeof path);
        error = (struct error){0};
        ck_assert_int_eq(calibration_file_read(path, &read, &error), STATUS_BAD_DATA);
    }
    free(text);
}
END_TEST

START_TEST(names_are_looked_up)
{
    char path[1024], folder[1024];
    struct calibration read;
    struct error error = {0};
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", directory.path, 1), 0);
    ck_assert_int_eq(calibration_file_read("no-such-calibration", &read, &error), STATUS_MISSING);
    ck_assert(strstr(error.text, "no calibration 'no-such-calibration'") != NULL);
    ck_assert_int_eq(mkdir(temp_dir_path(&directory, "occam", folder, sizeof folder), 0700), 0);
    ck_assert_int_eq(mkdir(temp_dir_path(&directory, "occam/calibrations", folder, sizeof folder), 0700), 0);
    write_file("occam/calibrations/mine.json", path, sizeof path);
    ck_assert_int_eq(calibration_file_read("mine", &read, &error), STATUS_OK);
    ck_assert_str_eq(read.name, calibration.name);
    calibration_release(&read);
}
END_TEST

START_TEST(failed_writes_leave_nothing)
{
    char path[1024];
    const struct calibration_provenance provenance = {.program = "0.1.0", .rows = "all"};
    struct error error = {0};
    ck_assert_int_eq(calibration_file_write("/nowhere/c.json", &calibration, &provenance, &error), STATUS_IO);
    ck_assert_int_eq(calibration_file_write(directory.path, &calibration, &provenance, &error), STATUS_IO);
    (void)snprintf(path, sizeof path, "%s.%ld.new", directory.path, (long)getpid());
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

Suite *suite_calibration_file(void)
{
    Suite *suite = suite_create("calibration_file");
    TCase *tcase = tcase_create("files");
    tcase_set_timeout(tcase, 30);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, round_trip_is_exact);
    tcase_add_test(tcase, factor_multiplies_back);
    tcase_add_loop_test(tcase, wrong_files_are_refused, 0, sizeof spoiled / sizeof spoiled[0]);
    tcase_add_test(tcase, truncated_files_are_refused);
    tcase_add_test(tcase, names_are_looked_up);
    tcase_add_test(tcase, failed_writes_leave_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
