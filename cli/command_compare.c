/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam compare`: formula, simulator and measurement side by side, and where they are further apart than the budget.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/statistics.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "calibrate/equal_layers.h"
#include "calibrate/measured_rows.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/quantity_text.h"
#include "cli/question.h"
#include "cli/report.h"
#include "sim/cta_simulator.h"

#define BUDGET_DEFAULT 0.15

struct compare_options {
    struct question_options question;
    struct measured_rows_options rows;
    double budget;
    uint64_t top;
};

struct compared_row {
    unsigned line; /* of the measurements; 0: the configuration asked for */
    const double *values;
    double formula_s, simulated_s, measured_s; /* measured_s NaN where nothing was measured */
    enum status status;
    struct error error;
};

struct comparison {
    const struct compare_options *options;
    struct question question;
    struct measured_rows rows;
    struct simulated_machine machine;
    struct compared_row *items;
    size_t count, apart;
};

/* How far the simulator is from the formula. */
static double disagreement(const struct compared_row *row)
{
    return row->simulated_s / row->formula_s - 1;
}

static bool is_apart(const struct comparison *comparison, const struct compared_row *row)
{
    return fabs(disagreement(row)) > comparison->options->budget;
}

/* The nearer one in the logarithm of time; neither where both are further off than the budget. */
static const char *supported(const struct comparison *comparison, const struct compared_row *row)
{
    const double formula = fabs(log(row->formula_s / row->measured_s));
    const double simulated = fabs(log(row->simulated_s / row->measured_s));
    if (isnan(row->measured_s) || !is_apart(comparison, row))
        return "";
    if (fmin(formula, simulated) > log1p(comparison->options->budget))
        return "neither";
    return formula < simulated ? "formula" : "simulator";
}

static void compare_layer(const struct comparison *comparison, const struct layer_case *layer, struct compared_row *row)
{
    const struct cta_simulation_options options = {.seed = 1};
    struct calibrated_time time;
    struct cta_simulation simulation;
    question_predict_layer(&comparison->question, layer, &time);
    row->formula_s = time.layer.time_s;
    row->status = cta_simulate(&comparison->machine, layer, &options, &simulation, &row->error);
    row->simulated_s = simulation.time_s;
}

/* A line on a terminal that is written over once a second: a simulation of many CTAs takes a while. */
static void show_progress(size_t done, size_t wanted, time_t *shown)
{
    const time_t now = time(NULL);
    if (done == wanted)
        (void)fprintf(stderr, "\r\033[K");
    else if (now != *shown)
        (void)fprintf(stderr, "\r%zu of %zu different layers simulated", done, wanted);
    *shown = now;
}

/* Each different layer once; the rows of the first ones have the answers then. */
static void compare_layers(struct comparison *comparison, const struct equal_layers *layers)
{
    const struct measured_rows *rows = &comparison->rows;
    const bool watched = isatty(STDERR_FILENO) == 1;
    size_t done = 0;
    time_t shown = 0;
    if (watched)
        show_progress(done, layers->count, &shown);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < layers->count; i++) {
        const size_t row = layers->first[i];
        compare_layer(comparison, &rows->rows[row].layer, &comparison->items[row]);
        if (watched)
#pragma omp critical(compare_progress)
            show_progress(++done, layers->count, &shown);
    }
}

static enum status compare_measured(struct comparison *comparison, struct error *error)
{
    const struct measured_rows *rows = &comparison->rows;
    struct equal_layers layers = {0};
    comparison->count = rows->count;
    comparison->items = calloc(rows->count, sizeof *comparison->items);
    if (comparison->items == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", rows->count);
    const enum status status = equal_layers_find(rows, &layers, error);
    if (status == STATUS_OK)
        compare_layers(comparison, &layers);
    for (size_t i = 0; i < rows->count && status == STATUS_OK; i++) {
        struct compared_row *row = &comparison->items[i];
        *row = comparison->items[layers.first[layers.layer[i]]]; /* an earlier row or this one */
        row->line = rows->rows[i].line;
        row->values = rows->values + i * rows->variable_count;
        row->measured_s = rows->rows[i].time_s;
    }
    equal_layers_release(&layers);
    return status;
}

static enum status compare_asked(struct comparison *comparison, struct error *error)
{
    struct question *question = &comparison->question;
    enum config_verdict verdict;
    size_t constraint = 0;
    struct layer_case layer;
    const enum status status =
        scenario_evaluate(question->evaluator, question->values, &verdict, &constraint, &layer, error);
    if (status != STATUS_OK)
        return status;
    if (verdict == CONFIG_CONSTRAINT)
        return error_set(error, STATUS_DOMAIN, "nothing to compare: the scenario requires %s",
                         scenario_constraint_get(question->scenario, constraint)->expression);
    if (verdict != CONFIG_OK)
        return STATUS_DOMAIN;
    comparison->count = 1;
    comparison->items = calloc(1, sizeof *comparison->items);
    if (comparison->items == NULL)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a row");
    comparison->items->values = question->values;
    comparison->items->measured_s = (double)NAN;
    compare_layer(comparison, &layer, comparison->items);
    return STATUS_OK;
}

static enum status compare_all(struct comparison *comparison, const struct operands *operands, struct error *error)
{
    struct question *question = &comparison->question;
    enum status status = STATUS_OK;
    if (!question->timed) {
        *error = question->untimed;
        return STATUS_MISSING;
    }
    status = simulated_machine_init(&comparison->machine, question->device, &question->parameters, error);
    struct measured_rows_options rows = comparison->options->rows;
    rows.catalogue = question->catalogue;
    if (status == STATUS_OK && operands->count > 1)
        status = measured_rows_read(question->scenario, operands->items + 1, operands->count - 1, &rows,
                                    &comparison->rows, error);
    if (status == STATUS_OK)
        status = operands->count > 1 ? compare_measured(comparison, error) : compare_asked(comparison, error);
    for (size_t i = 0; i < comparison->count && status == STATUS_OK; i++) {
        status = comparison->items[i].status;
        if (status != STATUS_OK)
            *error = comparison->items[i].error;
        comparison->apart += is_apart(comparison, &comparison->items[i]);
    }
    return status;
}

/* ---- output -------------------------------------------------------------------------------------------------------
 */

static int further_apart(const void *left, const void *right)
{
    const struct compared_row *a = left, *b = right;
    const double first = fabs(log(a->simulated_s / a->formula_s)), second = fabs(log(b->simulated_s / b->formula_s));
    if (first != second)
        return first < second ? 1 : -1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Median of |time / measured - 1| of formula or simulator; NaN without measurements. */
static double median_error(const struct comparison *comparison, bool simulated)
{
    double *errors = calloc(comparison->count, sizeof *errors), result = (double)NAN;
    if (errors == NULL || comparison->rows.count == 0) {
        free(errors);
        return result;
    }
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compared_row *row = &comparison->items[i];
        errors[i] = fabs((simulated ? row->simulated_s : row->formula_s) / row->measured_s - 1);
    }
    result = median_in_place(errors, comparison->count);
    free(errors);
    return result;
}

static size_t count_supported(const struct comparison *comparison, const char *which)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->count; i++)
        count += strcmp(supported(comparison, &comparison->items[i]), which) == 0 &&
                 is_apart(comparison, &comparison->items[i]);
    return count;
}

/* Rows of the calibration's residual process, which corrects the formula and not the simulator; 0 without one. */
static uint32_t residual_rows(const struct question *question)
{
    return question->calibration == NULL ? 0 : question->calibration->residual.row_count;
}

/* What of the parameters the formula alone uses: the simulator has no smooth maxima to shape. */
static void record_formula_only(struct report *report, const struct question *question)
{
    report_begin_object(report, "formula_only");
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (parameter_describe((enum parameter_id)i)->formula_only)
            report_number(report, parameter_describe((enum parameter_id)i)->name, question->parameters.items[i].value);
    report_integer(report, "residual_rows", residual_rows(question));
    report_end(report);
}

static void print_formula_only(const struct question *question)
{
    char number[32];
    (void)printf("  formula alone  ");
    for (int i = 0; i < PARAMETER_COUNT; i++)
        if (parameter_describe((enum parameter_id)i)->formula_only)
            (void)printf(" %s %s,", parameter_describe((enum parameter_id)i)->name,
                         number_format_digits(question->parameters.items[i].value, 3, number));
    if (residual_rows(question) > 0)
        (void)printf(" residual process of %u rows\n\n", residual_rows(question));
    else
        (void)printf(" no residual process\n\n");
}

static void record_row(struct report *report, const struct comparison *comparison, const struct compared_row *row)
{
    const struct scenario *scenario = comparison->question.scenario;
    report_begin_object(report, NULL);
    report_integer(report, "line", row->line);
    for (size_t i = 0; i < scenario_variable_count(scenario); i++)
        report_number(report, scenario_variable_get(scenario, i)->name, row->values[i]);
    report_number(report, "formula_us", row->formula_s / SECONDS_PER_US);
    report_number(report, "simulated_us", row->simulated_s / SECONDS_PER_US);
    report_number(report, "measured_us", row->measured_s / SECONDS_PER_US);
    report_number(report, "disagreement_fraction", disagreement(row));
    report_bool(report, "over_budget", is_apart(comparison, row));
    report_string(report, "supported", supported(comparison, row));
    report_end(report);
}

static void record(struct report *report, const struct comparison *comparison)
{
    report_string(report, "scenario", scenario_name(comparison->question.scenario));
    report_string(report, "device", comparison->question.device->name);
    report_string(report, "calibration", comparison->question.parameters.calibration);
    record_formula_only(report, &comparison->question);
    report_number(report, "budget_fraction", comparison->options->budget);
    report_integer(report, "configurations", (int64_t)comparison->count);
    report_integer(report, "over_budget", (int64_t)comparison->apart);
    report_integer(report, "supports_formula", (int64_t)count_supported(comparison, "formula"));
    report_integer(report, "supports_simulator", (int64_t)count_supported(comparison, "simulator"));
    report_integer(report, "supports_neither", (int64_t)count_supported(comparison, "neither"));
    report_number(report, "formula_median_error_fraction", median_error(comparison, false));
    report_number(report, "simulator_median_error_fraction", median_error(comparison, true));
    report_begin_rows(report, "rows");
    for (size_t i = 0; i < comparison->count; i++)
        record_row(report, comparison, &comparison->items[i]);
    report_end(report);
}

static void print_row(const struct comparison *comparison, const struct compared_row *row)
{
    const struct scenario *scenario = comparison->question.scenario;
    char formula[QUANTITY_TEXT_SIZE], simulated[QUANTITY_TEXT_SIZE], measured[QUANTITY_TEXT_SIZE], number[32];
    (void)printf("  %10s %10s %10s %+9.1f %% %-10s", quantity_time(row->formula_s, formula),
                 quantity_time(row->simulated_s, simulated),
                 isnan(row->measured_s) ? "-" : quantity_time(row->measured_s, measured), 100 * disagreement(row),
                 supported(comparison, row));
    for (size_t i = 0; i < scenario_variable_count(scenario); i++)
        (void)printf(" %s=%s", scenario_variable_get(scenario, i)->name, number_format(row->values[i], number));
    (void)printf("\n");
}

static void print_text(const struct comparison *comparison)
{
    const struct question *question = &comparison->question;
    char budget[QUANTITY_TEXT_SIZE], text[QUANTITY_TEXT_SIZE];
    const bool measured = comparison->rows.count > 0;
    (void)printf("%s on %s, parameters: %s\n", scenario_name(question->scenario), question->device->title,
                 question->parameters.calibration);
    print_formula_only(question);
    (void)quantity_percent(comparison->options->budget, budget);
    if (measured) {
        (void)printf("  median error    formula %s,", quantity_percent(median_error(comparison, false), text));
        (void)printf(" simulator %s, over %zu measured configurations\n",
                     quantity_percent(median_error(comparison, true), text), comparison->count);
        (void)printf(
            "  disagreement    %zu of %zu further apart than %s: the measurement supports the formula in %zu,\n"
            "                  the simulator in %zu, neither in %zu\n\n",
            comparison->apart, comparison->count, budget, count_supported(comparison, "formula"),
            count_supported(comparison, "simulator"), count_supported(comparison, "neither"));
        if (question->calibration != NULL)
            (void)printf("  not held out    the calibration learnt %u rows; those among these flatter the formula\n\n",
                         question->calibration->row_count);
        if (comparison->apart == 0)
            return;
    }
    (void)printf("  %10s %10s %10s %11s %-10s\n", "formula", "simulator", "measured", "difference", "supported");
    for (size_t i = 0; i < comparison->count && i < comparison->options->top; i++)
        if (!measured || is_apart(comparison, &comparison->items[i]))
            print_row(comparison, &comparison->items[i]);
    if (!measured && comparison->apart > 0)
        (void)printf("\nFormula and simulator are further apart than %s; nothing measured says which is right.\n",
                     budget);
    if (measured && comparison->apart > comparison->options->top)
        (void)printf("  ... and %zu more (--top)\n", comparison->apart - (size_t)comparison->options->top);
}

static enum status print(const struct comparison *comparison, struct error *error)
{
    struct report report = {0};
    const enum output_format format = comparison->options->question.format;
    for (unsigned i = 0; i < comparison->rows.warning_count; i++)
        (void)fprintf(stderr, "occam: compare: warning: %s\n", comparison->rows.warnings[i]);
    if (format == OUTPUT_FORMAT_TEXT) {
        print_text(comparison);
        return STATUS_OK;
    }
    record(&report, comparison);
    const enum status status = report_print(&report, format, "rows", stdout, error);
    report_release(&report);
    return status;
}

static enum status answer(const struct compare_options *options, const struct operands *operands, struct error *error)
{
    struct comparison comparison = {.options = options};
    enum status status = question_open(&comparison.question, operands->items[0], &options->question, error);
    if (status == STATUS_OK)
        status = compare_all(&comparison, operands, error);
    if (status == STATUS_OK) {
        qsort(comparison.items, comparison.count, sizeof *comparison.items, further_apart);
        status = print(&comparison, error);
    }
    free(comparison.items);
    measured_rows_release(&comparison.rows);
    question_release(&comparison.question);
    return status;
}

int command_compare(int argc, char **argv)
{
    struct compare_options options = {
        .question = {.level = QUESTION_LEVEL_DEFAULT}, .budget = BUDGET_DEFAULT, .top = 20};
    const struct option_row rows[] = {
        QUESTION_OPTION_ROWS(options.question),
        QUESTION_FORMAT_ROW(options.question),
        {0, "budget", OPTION_NUMBER, &options.budget, 0.001, 10},
        {0, "top", OPTION_COUNT, &options.top, 0, 1e9},
        {0, "kernel", OPTION_TEXT, &options.rows.kernel, 0, 0},
        {0, "time-column", OPTION_TEXT, &options.rows.time_column, 0, 0},
        {0, "first-kernel", OPTION_FLAG, &options.rows.first_kernel_only, 0, 0},
    };
    struct operands operands;
    struct error error = {0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO [MEASUREMENTS...]", 1,
                                       OPERANDS_MAX, &operands, &error);
    if (status == STATUS_OK && operands.count > 1 && options.question.assignments.count > 0)
        status = error_set(&error, STATUS_USAGE, "-s goes without measurements: their columns say what was measured");
    if (status == STATUS_OK)
        status = answer(&options, &operands, &error);
    return status == STATUS_OK ? 0 : command_fail("compare", &error);
}
