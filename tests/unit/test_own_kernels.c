/* SPDX-License-Identifier: GPL-3.0-or-later
 * The scenarios that describe our own kernels against what the driver launched: every row of data/measurements that ran
 * must have the grid, threads, registers, SMEM and residency of the scenario at the row's settings. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "evidence/scenario/scenario.h"
#include "model/predict/occupancy.h"

Suite *suite_own_kernels(void);

static struct device_catalogue *catalogue;
static struct scenario *scenario;
static struct scenario_evaluator *evaluator;
static struct csv_table table;
static struct layer_case layer;

static void setup(void)
{
    struct error error = {0};
    ck_assert_msg(device_catalogue_create(&catalogue, &error) == STATUS_OK, "%s", error.text);
}

static void teardown(void)
{
    device_catalogue_free(catalogue);
}

static double cell(size_t row, const char *column)
{
    struct error error = {0};
    double value = NAN;
    long index = csv_column(&table, column);
    ck_assert_msg(index >= 0, "no column %s", column);
    if (*csv_cell(&table, row, (size_t)index) == '\0')
        return NAN;
    ck_assert_msg(csv_number(&table, row, (size_t)index, &value, &error) == STATUS_OK, "%s", error.text);
    return value;
}

static bool row_ran(size_t row)
{
    return strcmp(csv_cell(&table, row, (size_t)csv_column(&table, "outcome")), "ok") == 0;
}

static void evaluate_row(size_t row)
{
    struct error error = {0};
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    enum config_verdict verdict;
    size_t constraint = 0;
    for (size_t i = 0; i < scenario_variable_count(scenario); i++)
        values[i] = cell(row, scenario_variable_get(scenario, i)->name);
    enum status status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error);
    ck_assert_msg(status == STATUS_OK && verdict == CONFIG_OK, "line %u: verdict %d %s", table.lines[row], (int)verdict,
                  error.text);
}

static void same(size_t row, const char *column, double predicted)
{
    double measured = cell(row, column);
    ck_assert_msg(measured == predicted, "line %u: %s is %.15g, the scenario says %.15g", table.lines[row], column,
                  measured, predicted);
}

static void check_row(size_t row)
{
    const struct gpu_limits *limits = &scenario_device(scenario)->limits;
    const struct kernel_launch *launch = &layer.kernels[0].launch, *second = &layer.kernels[1].launch;
    same(row, "grid_ctas", (double)launch->grid_ctas);
    same(row, "cta_threads", launch->threads);
    same(row, "registers", launch->registers_per_thread);
    same(row, "smem_bytes", (double)launch->dynamic_smem_bytes);
    same(row, "driver_ctas_per_sm", occupancy_ctas_per_sm(limits, launch));
    ck_assert_msg(launch->registers_source == INPUT_SOURCE_COMPILED, "line %u: registers are not of the table",
                  table.lines[row]);
    if (layer.kernel_count > 1 && !layer.kernels[1].skipped) {
        same(row, "second_grid_ctas", (double)second->grid_ctas);
        same(row, "second_cta_threads", second->threads);
        same(row, "second_registers", second->registers_per_thread);
        same(row, "second_driver_ctas_per_sm", occupancy_ctas_per_sm(limits, second));
    }
}

static const struct {
    const char *scenario, *measurements;
    size_t rows; /* that ran, at least */
} files[] = {
    {"occam-sparse-decode", "sparse_decode", 1000},    {"occam-sparse-decode", "sparse_decode_repeat", 1000},
    {"occam-sparse-decode", "sparse_decode_best", 80}, {"occam-gqa-decode", "gqa_decode", 200},
    {"occam-gqa-decode", "gqa_decode_repeat", 30},     {"occam-gemm-tile", "gemm_tile", 200},
    {"occam-gemm-tile", "gemm_tile_repeat", 30},
};

START_TEST(launches_are_those_of_the_scenario)
{
    struct error error = {0};
    char path[160];
    size_t ran = 0;
    snprintf(path, sizeof path, "data/measurements/nvidia-h200/%s.csv", files[_i].measurements);
    ck_assert_msg(csv_read(path, 64u << 20, &table, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(scenario_read(files[_i].scenario, catalogue, NULL, &scenario, &error) == STATUS_OK, "%s", error.text);
    ck_assert_msg(scenario_evaluator_create(scenario, &evaluator, &error) == STATUS_OK, "%s", error.text);
    for (size_t row = 0; row < table.row_count; row++) {
        if (row_ran(row)) {
            evaluate_row(row);
            check_row(row);
            ran++;
        }
    }
    ck_assert_uint_ge(ran, files[_i].rows);
    scenario_evaluator_free(evaluator);
    scenario_free(scenario);
    csv_table_release(&table);
}
END_TEST

/* On a GPU whose architecture is in no table, too. */
START_TEST(every_configuration_evaluates)
{
    static const char *const devices[] = {NULL, "l40s", "geforce-rtx-5090"};
    struct error error = {0};
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX];
    uint64_t count, valid = 0;
    size_t constraint;
    ck_assert_msg(scenario_read(files[_i / 3 * 2].scenario, catalogue, devices[_i % 3], &scenario, &error) == STATUS_OK,
                  "%s", error.text);
    ck_assert_msg(scenario_evaluator_create(scenario, &evaluator, &error) == STATUS_OK, "%s", error.text);
    ck_assert(scenario_config_count(scenario, &count, &error) == STATUS_OK && count > 100);
    scenario_base_values(scenario, values);
    for (uint64_t config = 0; config < count; config++) {
        enum config_verdict verdict = CONFIG_KERNEL_INVALID;
        uint64_t rest = config;
        for (size_t v = scenario_knob_count(scenario); v-- > 0;) {
            const struct scenario_variable *variable = scenario_variable_get(scenario, v);
            values[v] = variable->values[rest % variable->value_count];
            rest /= variable->value_count;
        }
        enum status status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error);
        ck_assert_msg(status == STATUS_OK && verdict != CONFIG_KERNEL_INVALID, "%llu: %s", (unsigned long long)config,
                      error.text);
        valid += verdict == CONFIG_OK;
    }
    ck_assert_uint_ge(valid, count / 8);
    scenario_evaluator_free(evaluator);
    scenario_free(scenario);
}
END_TEST

Suite *suite_own_kernels(void)
{
    Suite *suite = suite_create("own_kernels");
    TCase *tests = tcase_create("scenarios");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, launches_are_those_of_the_scenario, 0, (int)(sizeof files / sizeof files[0]));
    tcase_add_loop_test(tests, every_configuration_evaluates, 0, 9);
    suite_add_tcase(suite, tests);
    return suite;
}
