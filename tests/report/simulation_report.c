/* SPDX-License-Identifier: GPL-3.0-or-later
 * Formula, simulator and measurement over all measured rows of a scenario: the tables of docs/VALIDATION.md, section
 * "Simulator". Usage: simulation_report SCENARIO CALIBRATION MEASUREMENTS... The calibration's rows are few among
 * them; both sides use its parameters. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "calibrate/measured_rows.h"
#include "evidence/calibration_file.h"
#include "model/predict/calibrated_time.h"
#include "sim/cta_simulator.h"

#define APART 0.15

struct answers {
    size_t count;
    double *formula, *form, *simulated, *measured, *scratch;
};

static void fail(const struct error *error)
{
    char text[1200];
    fprintf(stderr, "simulation_report: %s\n", error_describe(error, text, sizeof text));
    exit(status_exit_code(error->status));
}

static void answer_rows(const struct simulated_machine *machine, const struct calibrated_model *model,
                        const struct measured_rows *rows, struct answers *answers)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < rows->count; i++) {
        struct error error = {0};
        struct calibrated_time time;
        struct cta_simulation simulation;
        const struct cta_simulation_options options = {.seed = 1};
        calibrated_time_predict(model, &rows->rows[i].layer, &time);
        if (cta_simulate(machine, &rows->rows[i].layer, &options, &simulation, &error) != STATUS_OK)
            fail(&error);
        answers->form[i] = time.layer.time_s;
        answers->formula[i] = time.time_s;
        answers->simulated[i] = simulation.time_s;
        answers->measured[i] = rows->rows[i].time_s;
    }
}

static void print_errors(const char *name, const double *predicted, const struct answers *answers)
{
    const size_t count = answers->count;
    double *error = answers->scratch, *ratio = error + count;
    for (size_t i = 0; i < count; i++) {
        error[i] = fabs(predicted[i] / answers->measured[i] - 1);
        ratio[i] = log(predicted[i] / answers->measured[i]);
    }
    sort_doubles(error, count);
    printf("| %s | %zu | %.1f | %.1f | %+.1f |", name, count, 100 * quantile_sorted(error, count, 0.5),
           100 * quantile_sorted(error, count, 0.9), 100 * expm1(median_in_place(ratio, count)));
    printf(" %.3f |\n", spearman(predicted, answers->measured, count, answers->scratch));
}

/* Where the two answers are far apart, the measurement supports the nearer one (in the logarithm). */
static void print_disagreement(const struct answers *answers)
{
    size_t apart = 0, formula = 0, above = 0, neither = 0;
    for (size_t i = 0; i < answers->count; i++) {
        const double measured = log(answers->measured[i]);
        const double f = log(answers->formula[i]) - measured, s = log(answers->simulated[i]) - measured;
        if (fabs(expm1(s - f)) <= APART)
            continue;
        apart++;
        formula += fabs(f) < fabs(s);
        above += s > f;
        neither += fmin(fabs(f), fabs(s)) > log1p(APART);
    }
    printf(
        "\nMore than %.0f %% apart in %zu of %zu rows (the simulator is above the formula in %zu): the measurement is "
        "nearer to\nthe formula in %zu, to the simulator in %zu, and more than %.0f %% from both in %zu.\n",
        100 * APART, apart, answers->count, above, formula, apart - formula, 100 * APART, neither);
}

int main(int argc, char **argv)
{
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    struct calibration calibration;
    struct calibrated_model model;
    struct simulated_machine machine;
    struct measured_rows rows;
    const struct measured_rows_options options = {0};
    struct error error = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: simulation_report SCENARIO CALIBRATION MEASUREMENTS...\n");
        return 2;
    }
    if (device_catalogue_create(&catalogue, &error) || scenario_read(argv[1], catalogue, NULL, &scenario, &error) ||
        calibration_file_read(argv[2], &calibration, &error) ||
        measured_rows_read(scenario, (const char *const *)argv + 3, (size_t)argc - 3, &options, &rows, &error) ||
        calibrated_model_init(&model, scenario_device(scenario), &calibration, &error) ||
        simulated_machine_init(&machine, scenario_device(scenario), &calibration.parameters, &error))
        fail(&error);
    double *storage = calloc(rows.count * 6 + 1, sizeof *storage);
    if (!storage)
        return 4;
    struct answers answers = {rows.count,
                              storage,
                              storage + rows.count,
                              storage + 2 * rows.count,
                              storage + 3 * rows.count,
                              storage + 4 * rows.count};
    answer_rows(&machine, &model, &rows, &answers);
    printf("| answer | rows | median error %% | 90th percentile %% | bias %% | rank correlation |\n");
    printf("|---|---|---|---|---|---|\n");
    print_errors("formula, calibrated", answers.formula, &answers);
    print_errors("formula, its form alone", answers.form, &answers);
    print_errors("simulator, the same parameters", answers.simulated, &answers);
    print_disagreement(&answers);
    if (getenv("SIMULATION_REPORT_ROWS"))
        for (size_t i = 0; i < rows.count; i++) {
            printf("ROW,%zu,%g,%g,%g", i, answers.measured[i] * 1e6, answers.formula[i] * 1e6,
                   answers.simulated[i] * 1e6);
            for (size_t v = 0; v < rows.variable_count; v++)
                printf(",%g", rows.values[i * rows.variable_count + v]);
            printf("\n");
        }
    free(storage);
    measured_rows_release(&rows);
    calibration_release(&calibration);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
    return 0;
}
