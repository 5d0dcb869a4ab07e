/* SPDX-License-Identifier: GPL-3.0-or-later
 * Predicts every timed row of a foreign kernel with literature figures only and prints the Markdown table of
 * docs/VALIDATION.md, section "Kernel time, uncalibrated". Usage: kernel_report SCENARIO TIMES.csv, whose columns are
 * named after the scenario's variables, plus time_us of the first kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/units.h"
#include "evidence/scenario/scenario.h"
#include "model/predict/kernel_time.h"

enum {
    ROWS_MAX = 100000,
    FILE_BYTES_MAX = 64 << 20,
    VALUES_MAX = SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX
};

/* Rows of one regime: CTAs fit the SMs, one wave, more. */
struct regime {
    const char *name;
    size_t count, inside;
    double *error, *log_error, *predicted, *measured;
};

static void regime_add(struct regime *regime, const struct kernel_time *time, double measured_s)
{
    const double ratio = time->time_s / measured_s;
    regime->error[regime->count] = fabs(ratio - 1);
    regime->log_error[regime->count] = log(ratio);
    regime->predicted[regime->count] = time->time_s;
    regime->measured[regime->count] = measured_s;
    regime->inside += measured_s >= time->time_lo_s && measured_s <= time->time_hi_s;
    regime->count++;
}

static void regime_print(struct regime *regime, double *scratch)
{
    if (regime->count < 2) {
        return;
    }
    const double rank = spearman(regime->predicted, regime->measured, regime->count, scratch);
    const double bias = exp(median_in_place(regime->log_error, regime->count)) - 1;
    sort_doubles(regime->error, regime->count);
    printf("| %s | %zu | %.1f | %.1f | %+.1f | %.3f | %.1f |\n", regime->name, regime->count,
           100 * quantile_sorted(regime->error, regime->count, 0.5),
           100 * quantile_sorted(regime->error, regime->count, 0.9), 100 * bias, rank,
           100.0 * (double)regime->inside / (double)regime->count);
}

static void fail(const struct error *error)
{
    char text[1024];
    fprintf(stderr, "kernel_report: %s\n", error_describe(error, text, sizeof text));
    exit(status_exit_code(error->status));
}

/* One row's values over the scenario's base ones. */
static void read_values(const struct csv_table *table, size_t row, const struct scenario *scenario, double *values)
{
    struct error error;
    scenario_base_values(scenario, values);
    for (size_t i = 0; i < scenario_variable_count(scenario); i++) {
        const long column = csv_column(table, scenario_variable_get(scenario, i)->name);
        if (column >= 0 && csv_number(table, row, (size_t)column, &values[i], &error)) {
            fail(&error);
        }
    }
}

static void predict_rows(const struct csv_table *table, const struct scenario *scenario, struct regime *regimes)
{
    struct scenario_evaluator *evaluator;
    struct model_parameters parameters;
    struct time_model model;
    struct error error;
    const long time_column = csv_column(table, "time_us");
    model_parameters_init(&parameters);
    if (time_column < 0 || scenario_evaluator_create(scenario, &evaluator, &error) ||
        time_model_init(&model, scenario_device(scenario), &parameters, &error)) {
        error_set(&error, STATUS_BAD_DATA, "no time_us column, or the scenario cannot be timed");
        fail(&error);
    }
    for (size_t row = 0; row < table->row_count && row < ROWS_MAX; row++) {
        double values[VALUES_MAX], time_us;
        struct layer_case layer;
        struct kernel_time time;
        enum config_verdict verdict;
        size_t constraint;
        read_values(table, row, scenario, values);
        if (csv_number(table, row, (size_t)time_column, &time_us, &error) ||
            scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, &error)) {
            fail(&error);
        }
        if (verdict != CONFIG_OK) {
            continue;
        }
        kernel_time_predict(&model, &layer.kernels[0], &time);
        const int regime = layer.kernels[0].launch.grid_ctas <= model.sm_count ? 1 : time.waves.waves <= 1 ? 2 : 3;
        regime_add(&regimes[0], &time, time_us * SECONDS_PER_US);
        regime_add(&regimes[regime], &time, time_us * SECONDS_PER_US);
    }
    scenario_evaluator_free(evaluator);
}

int main(int argc, char **argv)
{
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    struct csv_table table;
    struct error error;
    struct regime regimes[] = {{.name = "all rows"},
                               {.name = "no more CTAs than SMs"},
                               {.name = "up to one wave"},
                               {.name = "more than one wave"}};
    if (argc != 3) {
        fprintf(stderr, "usage: kernel_report SCENARIO TIMES.csv\n");
        return 2;
    }
    if (device_catalogue_create(&catalogue, &error) || scenario_read(argv[1], catalogue, NULL, &scenario, &error) ||
        csv_read(argv[2], FILE_BYTES_MAX, &table, &error)) {
        fail(&error);
    }
    double *storage = calloc(4 * 4 * (table.row_count + 1) + 2 * (table.row_count + 1), sizeof *storage);
    if (!storage) {
        error_set(&error, STATUS_NO_MEMORY, "no memory for %zu rows", table.row_count);
        fail(&error);
    }
    for (size_t i = 0; i < 4; i++) {
        double *block = storage + i * 4 * (table.row_count + 1);
        regimes[i].error = block;
        regimes[i].log_error = block + (table.row_count + 1);
        regimes[i].predicted = block + 2 * (table.row_count + 1);
        regimes[i].measured = block + 3 * (table.row_count + 1);
    }
    predict_rows(&table, scenario, regimes);
    printf("| rows | count | median error %% | 90th percentile %% | bias %% | rank correlation | in 90 %% interval, %% "
           "|\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < 4; i++) {
        regime_print(&regimes[i], storage + 16 * (table.row_count + 1));
    }
    free(storage);
    csv_table_release(&table);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    return 0;
}
