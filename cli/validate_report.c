/* SPDX-License-Identifier: GPL-3.0-or-later
 * Output of `occam validate`. */
#include "cli/validate_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/quantity_text.h"

enum {
    KEY_SIZE = 64
};

static double best_baseline(const struct validation *result)
{
    double best = (double)NAN;
    for (int b = 0; b < BASELINE_CONSTANT; b++) {
        best = fmin(best, result->baselines[b].metrics[VALIDATION_MEDIAN_APE_PERCENT].median);
    }
    return best;
}

const char *validate_field(const struct validate_run *run, size_t index, double *value)
{
    const struct validation *result = &run->result;
    const struct validation_spread *metrics = result->model.metrics;
    const bool baselines = !run->options->no_baselines;
    const struct {
        const char *key;
        double value;
    } fields[] = {
        {"rows", (double)result->rows},
        {"train_rows", (double)result->train_rows},
        {"test_rows", (double)result->test_rows},
        {"splits", result->splits},
        {"mape_percent", metrics[VALIDATION_MAPE_PERCENT].median},
        {"median_ape_percent", metrics[VALIDATION_MEDIAN_APE_PERCENT].median},
        {"median_ape_lo_percent", metrics[VALIDATION_MEDIAN_APE_PERCENT].lo},
        {"median_ape_hi_percent", metrics[VALIDATION_MEDIAN_APE_PERCENT].hi},
        {"p90_ape_percent", metrics[VALIDATION_P90_APE_PERCENT].median},
        {"p90_ape_lo_percent", metrics[VALIDATION_P90_APE_PERCENT].lo},
        {"p90_ape_hi_percent", metrics[VALIDATION_P90_APE_PERCENT].hi},
        {"max_ape_percent", metrics[VALIDATION_MAX_APE_PERCENT].median},
        {"bias_percent", metrics[VALIDATION_BIAS_PERCENT].median},
        {"bias_lo_percent", metrics[VALIDATION_BIAS_PERCENT].lo},
        {"bias_hi_percent", metrics[VALIDATION_BIAS_PERCENT].hi},
        {"spearman", metrics[VALIDATION_SPEARMAN].median},
        {"spearman_lo", result->spearman_lo},
        {"spearman_hi", result->spearman_hi},
        {"coverage_fraction", result->pooled_coverage_fraction},
        {"coverage_lo_fraction", result->coverage_fraction.lo},
        {"coverage_hi_fraction", result->coverage_fraction.hi},
        {"interval_level", result->interval_level},
        {"half_width_percent", result->half_width_percent.median},
        {"top1_regret_percent", result->top1_regret_percent},
        {"top1_regret_p90_percent", result->top1_regret_p90_percent},
        {"after_8_runs_regret_percent", result->after_runs_regret_percent},
        {"extrapolating_fraction", result->extrapolating_fraction},
        {"inside_median_ape_percent", result->inside_median_ape_percent},
        {"residual_used_fraction", (double)result->residual_used / result->splits},
        {"best_baseline_median_ape_percent", baselines ? best_baseline(result) : (double)NAN},
        {"best_baseline_ratio",
         baselines ? metrics[VALIDATION_MEDIAN_APE_PERCENT].median / best_baseline(result) : (double)NAN},
    };
    if (index >= sizeof fields / sizeof fields[0]) {
        return NULL;
    }
    *value = fields[index].value;
    return fields[index].key;
}

const char *validate_split_text(const struct validate_run *run, char *out, size_t size)
{
    const struct validation_options *options = run->options;
    const char *how = options->split == VALIDATION_DESIGN ? "designed" : "random";
    if (options->split != VALIDATION_GROUPS) {
        (void)snprintf(out, size, "%zu %s rows", run->result.train_rows, how);
    } else {
        (void)snprintf(out, size, "%zu random rows, whole groups by %s held out", run->result.train_rows,
                       options->group_variable < 0
                           ? "workload"
                           : scenario_variable_get(run->scenario, (size_t)options->group_variable)->name);
    }
    return out;
}

/* ---- JSON and CSV ------------------------------------------------------------------------------------------------ */

static void record_figures(struct report *report, const struct validate_run *run)
{
    const char *const splits[] = {"random", "design", "groups"};
    const char *key;
    double value;
    report_string(report, "split", splits[run->options->split]);
    for (size_t i = 0; (key = validate_field(run, i, &value)) != NULL; i++) {
        if (i < 4) {
            report_integer(report, key, (int64_t)value);
        } else {
            report_number(report, key, value);
        }
    }
    report_begin_object(report, "baselines");
    for (int b = 0; b < BASELINE_COUNT && !run->options->no_baselines; b++) {
        report_begin_object(report, baseline_name((enum baseline_id)b));
        for (int m = 0; m < VALIDATION_METRIC_COUNT; m++) {
            report_number(report, validation_metric_name((enum validation_metric)m),
                          run->result.baselines[b].metrics[m].median);
        }
        report_end(report);
    }
    report_end(report);
}

static void record_slices(struct report *report, const struct validate_run *run)
{
    char number[QUANTITY_TEXT_SIZE];
    report_begin_rows(report, "slices");
    for (size_t i = 0; i < run->result.slice_count; i++) {
        const struct validation_slice *slice = &run->result.slices[i];
        const bool regime = slice->variable == SIZE_MAX;
        report_begin_object(report, NULL);
        report_string(report, "variable",
                      regime ? "fill" : scenario_variable_get(run->scenario, slice->variable)->name);
        report_string(report, "value", regime ? slice->regime : quantity_number(slice->value, number));
        report_integer(report, "rows", (int64_t)slice->rows);
        report_number(report, "median_ape_percent", slice->median_ape_percent);
        report_number(report, "p90_ape_percent", slice->p90_ape_percent);
        report_number(report, "bias_percent", slice->bias_percent);
        report_number(report, "coverage_fraction", slice->coverage_fraction);
        report_end(report);
    }
    report_end(report);
}

/* "BN=64 num_warps=4 B=8": the variables of a row that vary. Returns out. */
static const char *row_text(const struct validate_run *run, uint32_t row, char *out, size_t size)
{
    const struct measured_rows *rows = run->rows;
    char number[QUANTITY_TEXT_SIZE];
    size_t used = 0;
    out[0] = '\0';
    for (size_t v = 0; v < rows->variable_count && used < size; v++) {
        const double value = rows->values[row * rows->variable_count + v];
        bool varies = false;
        for (size_t i = 0; i < rows->count && !varies; i++) {
            varies = rows->values[i * rows->variable_count + v] != value;
        }
        if (varies) {
            const int length = snprintf(out + used, size - used, "%s%s=%s", used ? " " : "",
                                        scenario_variable_get(run->scenario, v)->name, quantity_number(value, number));
            used += length > 0 ? (size_t)length : 0;
        }
    }
    return out;
}

static void record_worst(struct report *report, const struct validate_run *run)
{
    char text[400];
    report_begin_rows(report, "worst");
    for (size_t i = 0; i < run->result.worst_count; i++) {
        const struct validation_worst *worst = &run->result.worst[i];
        report_begin_object(report, NULL);
        report_integer(report, "line", run->rows->rows[worst->row].line);
        report_string(report, "row", row_text(run, worst->row, text, sizeof text));
        report_integer(report, "tests", worst->tests);
        report_number(report, "measured_us", worst->measured_s / SECONDS_PER_US);
        report_number(report, "predicted_us", worst->predicted_s / SECONDS_PER_US);
        report_number(report, "error_percent", 100 * (worst->predicted_s / worst->measured_s - 1));
        report_string(report, "reason", worst->reason);
        report_end(report);
    }
    report_end(report);
}

static void record_choices(struct report *report, const struct validate_run *run)
{
    report_begin_rows(report, "choices");
    for (size_t i = 0; i < run->result.choice_count; i++) {
        const struct validation_choice *choice = &run->result.choices[i];
        report_begin_object(report, NULL);
        report_string(report, "knob", scenario_variable_get(run->scenario, choice->variable)->name);
        report_integer(report, "cells", (int64_t)choice->cells);
        report_number(report, "mean_ratio", choice->mean_ratio);
        report_number(report, "max_ratio", choice->max_ratio);
        report_number(report, "fill_rule_mean_ratio", choice->rule_mean);
        report_number(report, "fill_rule_max_ratio", choice->rule_max);
        report_end(report);
    }
    report_end(report);
}

void validate_record(struct report *report, const struct validate_run *runs, size_t count)
{
    report_string(report, "scenario", scenario_name(runs[0].scenario));
    report_string(report, "device", scenario_device(runs[0].scenario)->name);
    record_figures(report, &runs[0]);
    record_slices(report, &runs[0]);
    record_worst(report, &runs[0]);
    record_choices(report, &runs[0]);
    report_begin_rows(report, "runs");
    for (size_t i = 0; i < count; i++) {
        report_begin_object(report, NULL);
        record_figures(report, &runs[i]);
        report_end(report);
    }
    report_end(report);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void record_predictors(struct report *report, const struct validate_run *run)
{
    const int count = run->options->no_baselines ? 0 : BASELINE_COUNT;
    report_begin_rows(report, "predictors");
    for (int b = -1; b < count; b++) {
        const struct validation_scores *scores = b < 0 ? &run->result.model : &run->result.baselines[b];
        report_begin_object(report, NULL);
        report_string(report, "name", b < 0 ? "occam" : baseline_name((enum baseline_id)b));
        for (int m = 0; m < VALIDATION_METRIC_COUNT; m++) {
            report_number(report, validation_metric_name((enum validation_metric)m), scores->metrics[m].median);
        }
        report_number(report, "lo", scores->metrics[VALIDATION_MEDIAN_APE_PERCENT].lo);
        report_number(report, "hi", scores->metrics[VALIDATION_MEDIAN_APE_PERCENT].hi);
        report_end(report);
    }
    report_end(report);
}

static enum status print_predictors(const struct report *report, FILE *stream, struct error *error)
{
    static const struct report_column columns[] = {
        {"name", "predictor", 0},
        {"median_ape_percent", "median %", 3},
        {"lo", "from", 3},
        {"hi", "to", 3},
        {"p90_ape_percent", "p90 %", 3},
        {"mape_percent", "mean %", 3},
        {"max_ape_percent", "max %", 3},
        {"bias_percent", "bias %", 2},
        {"spearman", "rank", 3},
    };
    return report_print_table(report, "predictors", columns, sizeof columns / sizeof columns[0], stream, error);
}

static void print_intervals(const struct validate_run *run, FILE *stream)
{
    const struct validation *result = &run->result;
    (void)fprintf(stream, "\nrank correlation %.3f (%.3f to %.3f)\n", result->model.metrics[VALIDATION_SPEARMAN].median,
                  result->spearman_lo, result->spearman_hi);
    (void)fprintf(
        stream,
        "%.0f %% intervals cover %.1f %% of the held-out rows (%.1f to %.1f over the splits), half width %.1f %%\n",
        100 * result->interval_level, 100 * result->pooled_coverage_fraction, 100 * result->coverage_fraction.lo,
        100 * result->coverage_fraction.hi, result->half_width_percent.median);
    (void)fprintf(stream,
                  "the residual process was used in %u of %u splits; %.1f %% of the rows were marked as extrapolation, "
                  "the others have a median error of %.2f %%\n",
                  result->residual_used, result->splits, 100 * result->extrapolating_fraction,
                  result->inside_median_ape_percent);
    if (result->shapes) {
        (void)fprintf(stream,
                      "choice in %zu shapes nobody trained on: %.1f %% slower than the best measured (median; "
                      "p90 %.1f %%)",
                      result->shapes, result->top1_regret_percent, result->top1_regret_p90_percent);
        if (result->after_runs_shapes) {
            (void)fprintf(stream, ", %.1f %% after running the %d predicted best", result->after_runs_regret_percent,
                          VALIDATION_RUNS_AFTER);
        }
        (void)fprintf(stream, "\n");
    }
}

static enum status print_rest(const struct report *report, const struct validate_run *run, FILE *stream,
                              struct error *error)
{
    static const struct report_column slices[] = {
        {"variable", "variable", 0},           {"value", "value", 0},           {"rows", "rows", 6},
        {"median_ape_percent", "median %", 3}, {"p90_ape_percent", "p90 %", 3}, {"bias_percent", "bias %", 2},
        {"coverage_fraction", "covered", 3},
    };
    static const struct report_column choices[] = {
        {"knob", "knob", 0},
        {"cells", "cells", 6},
        {"mean_ratio", "mean ratio", 4},
        {"max_ratio", "largest", 4},
        {"fill_rule_mean_ratio", "85 % fill rule", 4},
        {"fill_rule_max_ratio", "largest", 4},
    };
    static const struct report_column worst[] = {
        {"line", "line", 6},
        {"measured_us", "measured us", 4},
        {"predicted_us", "predicted us", 4},
        {"error_percent", "error %", 3},
        {"reason", "likely reason", 0},
        {"row", "row", 0},
    };
    (void)fprintf(stream, "\nHeld-out rows by fill and by variable:\n");
    enum status status = report_print_table(report, "slices", slices, sizeof slices / sizeof slices[0], stream, error);
    if (status == STATUS_OK && run->result.choice_count) {
        (void)fprintf(stream, "\nOne knob chosen by prediction, all else equal, over the best measured value:\n");
        status = report_print_table(report, "choices", choices, sizeof choices / sizeof choices[0], stream, error);
    }
    if (status == STATUS_OK) {
        (void)fprintf(stream, "\nThe worst rows:\n");
        status = report_print_table(report, "worst", worst, sizeof worst / sizeof worst[0], stream, error);
    }
    return status;
}

enum status validate_print(const struct validate_run *run, FILE *stream, struct error *error)
{
    struct report report = {0};
    char text[160];
    (void)fprintf(
        stream,
        "Trained on %s, judged on %zu others%s\n%u split%s: medians; from and to are the 10th and 90th percentile\n\n",
        validate_split_text(run, text, sizeof text), run->result.test_rows,
        run->options->shuffle_times ? " (times dealt to other rows: nothing to learn)" : "", run->result.splits,
        run->result.splits == 1 ? "" : "s");
    record_predictors(&report, run);
    record_slices(&report, run);
    record_worst(&report, run);
    record_choices(&report, run);
    enum status status = print_predictors(&report, stream, error);
    if (status == STATUS_OK) {
        print_intervals(run, stream);
        status = print_rest(&report, run, stream, error);
    }
    report_release(&report);
    return status;
}

/* ---- predictions ------------------------------------------------------------------------------------------------- */

static void write_rows(const struct validate_run *run, FILE *stream)
{
    const struct measured_rows *rows = run->rows;
    for (size_t p = 0; p < run->result.splits * rows->count; p++) {
        const struct validation_prediction *prediction = &run->result.predictions[p];
        const size_t row = p % rows->count;
        if (!prediction->held_out) {
            continue;
        }
        (void)fprintf(stream, "%zu,%zu,%u,%.9g,%.9g,%.9g,%.9g,%s,%s", run->result.train_rows, p / rows->count,
                      rows->rows[row].line, rows->rows[row].time_s / SECONDS_PER_US,
                      prediction->time_s / SECONDS_PER_US, prediction->time_lo_s / SECONDS_PER_US,
                      prediction->time_hi_s / SECONDS_PER_US, time_limiter_name(prediction->limiter),
                      prediction->beyond ? prediction->beyond : "");
        for (size_t v = 0; v < rows->variable_count; v++) {
            (void)fprintf(stream, ",%.9g", rows->values[row * rows->variable_count + v]);
        }
        (void)fputc('\n', stream);
    }
}

enum status validate_write_predictions(const struct validate_run *runs, size_t count, const char *path,
                                       struct error *error)
{
    FILE *stream = fopen(path, "w");
    if (stream == NULL) {
        return error_set(error, STATUS_IO, "cannot write %s: %s", path, strerror(errno));
    }
    (void)fputs("train_rows,split,line,measured_us,predicted_us,predicted_lo_us,predicted_hi_us,limiter,beyond",
                stream);
    for (size_t v = 0; v < runs[0].rows->variable_count; v++) {
        (void)fputc(',', stream);
        csv_write_field(stream, scenario_variable_get(runs[0].scenario, v)->name);
    }
    (void)fputc('\n', stream);
    for (size_t i = 0; i < count; i++) {
        write_rows(&runs[i], stream);
    }
    const bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        return error_set(error, STATUS_IO, "cannot write %s: %s", path, strerror(errno));
    }
    return STATUS_OK;
}
