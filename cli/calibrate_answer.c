/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam calibrate` says of a calibration: parameters with their uncertainty, what the rows inform, how far to
 * trust it. */
#include <math.h>
#include <stdio.h>

#include "base/statistics.h"
#include "cli/calibrate.h"
#include "cli/quantity_text.h"
#include "cli/report.h"

static void record_rows(const struct calibrate_answer *answer, struct report *report)
{
    const struct measured_rows *rows = &answer->inputs->rows;
    report_integer(report, "rows_read", (int64_t)rows->read);
    report_integer(report, "configurations", (int64_t)rows->count);
    report_integer(report, "workloads", rows->group_count);
    report_integer(report, "repeats", (int64_t)rows->repeats);
    report_integer(report, "infeasible", (int64_t)rows->infeasible);
    report_integer(report, "failed", (int64_t)rows->failed);
    report_integer(report, "references", (int64_t)rows->references);
    report_integer(report, "trained_on", (int64_t)answer->trained_on);
    report_string(report, "rows_chosen", answer->chosen);
    report_integer(report, "seed", (int64_t)answer->options->seed);
    report_string(report, "gpu_id", rows->gpu_id);
    report_string(report, "driver", rows->driver);
    report_number(report, "sm_clock_mhz", rows->sm_clock_mhz);
}

static void record_scores(const struct calibrate_answer *answer, struct report *report)
{
    const struct kernel_calibration_report *fit = &answer->report;
    const struct held_out_scores *scores = &answer->held_out;
    const double none = (double)NAN;
    report_bool(report, "converged", fit->fit.converged);
    report_string(report, "convergence", fit->fit.convergence);
    report_integer(report, "iterations", fit->fit.iterations);
    report_number(report, "condition_number", fit->fit.condition_number);
    report_number(report, "misfit_fraction", expm1(fit->fit.misfit_log_sigma));
    report_integer(report, "folds", fit->folds);
    report_number(report, "cross_validated_error_fraction", fit->residual_used ? fit->hybrid_error : fit->form_error);
    report_number(report, "cross_validated_form_error_fraction", fit->form_error);
    report_number(report, "cross_validated_process_error_fraction", fit->hybrid_error);
    report_bool(report, "residual_process_used", fit->residual_used);
    report_number(report, "interval_level", answer->calibration.interval_level);
    report_number(report, "interval_stretch", answer->calibration.stretch);
    report_integer(report, "held_out", (int64_t)scores->count);
    report_number(report, "held_out_median_error_fraction", scores->count ? scores->median_error : none);
    report_number(report, "held_out_p90_error_fraction", scores->count ? scores->p90_error : none);
    report_number(report, "held_out_bias_fraction", scores->count ? scores->bias : none);
    report_number(report, "held_out_coverage_fraction", scores->count ? scores->coverage : none);
    report_number(report, "held_out_half_width_fraction", scores->count ? scores->half_width : none);
    report_number(report, "held_out_rank_correlation", scores->count ? scores->rank_correlation : none);
}

static void record_parameters(const struct calibrate_answer *answer, struct report *report)
{
    const double z = normal_quantile(0.5 + answer->calibration.interval_level / 2);
    report_begin_rows(report, "parameters");
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct parameter_description *description = parameter_describe((enum parameter_id)i);
        const struct model_parameter *parameter = &answer->calibration.parameters.items[i];
        report_begin_object(report, NULL);
        report_string(report, "name", description->name);
        report_string(report, "unit", description->unit);
        report_number(report, "value", parameter->value);
        report_number(report, "lo", parameter->value * exp(-z * parameter->log_sigma));
        report_number(report, "hi", parameter->value * exp(z * parameter->log_sigma));
        report_number(report, "log_sigma", parameter->log_sigma);
        report_number(report, "prior", description->default_value);
        report_bool(report, "informed", answer->report.fit.informed[i]);
        report_string(report, "source", input_source_name(parameter->source));
        report_end(report);
    }
    report_end(report);
}

static void record_remarks(const struct calibrate_answer *answer, struct report *report)
{
    report_begin_array(report, "notes");
    for (unsigned i = 0; i < answer->report.fit.note_count; i++) {
        report_string(report, NULL, answer->report.fit.notes[i]);
    }
    report_end(report);
    report_begin_array(report, "warnings");
    for (unsigned i = 0; i < answer->inputs->rows.warning_count; i++) {
        report_string(report, NULL, answer->inputs->rows.warnings[i]);
    }
    report_end(report);
}

static void record(const struct calibrate_answer *answer, struct report *report)
{
    report_string(report, "calibration", answer->calibration.name);
    report_string(report, "scenario", answer->calibration.scenario);
    report_string(report, "device", answer->calibration.device);
    report_string(report, "output", answer->options->output);
    report_string(report, "date", answer->calibration.date);
    record_rows(answer, report);
    record_scores(answer, report);
    record_parameters(answer, report);
    record_remarks(answer, report);
}

static void print_heading(const struct calibrate_answer *answer)
{
    const struct measured_rows *rows = &answer->inputs->rows;
    (void)printf("%s: %s on %s\n\n", answer->calibration.name, answer->calibration.scenario,
                 scenario_device(answer->inputs->scenario)->title);
    (void)printf("  measured        %zu configuration%s of %u workload%s (%zu rows: %zu repeats, %zu infeasible, "
                 "%zu failed, %zu references)\n",
                 rows->count, rows->count == 1 ? "" : "s", rows->group_count, rows->group_count == 1 ? "" : "s",
                 rows->read, rows->repeats, rows->infeasible, rows->failed, rows->references);
    (void)printf("  learnt from     %zu, %s\n", answer->trained_on, answer->chosen);
}

static void print_scores(const struct calibrate_answer *answer)
{
    const struct kernel_calibration_report *fit = &answer->report;
    const struct held_out_scores *scores = &answer->held_out;
    char a[QUANTITY_TEXT_SIZE], b[QUANTITY_TEXT_SIZE], c[QUANTITY_TEXT_SIZE], d[QUANTITY_TEXT_SIZE];
    (void)printf("  fit             %s after %u iterations (%s), condition number %s\n",
                 fit->fit.converged ? "converged" : "NOT CONVERGED", fit->fit.iterations, fit->fit.convergence,
                 quantity_number(fit->fit.condition_number, a));
    (void)printf("  cross-validated %s median error over %u folds with the form alone",
                 quantity_percent(fit->form_error, a), fit->folds);
    if (isfinite(fit->hybrid_error)) {
        (void)printf(", %s with the residual process, which is %s", quantity_percent(fit->hybrid_error, b),
                     fit->residual_used ? "used" : "left out");
    } else {
        (void)printf("; too few rows for a residual process");
    }
    (void)printf("\n");
    if (scores->count == 0) {
        (void)printf("  held out        no row: the errors above are all that is known\n");
        return;
    }
    (void)printf("  held out        %zu row%s: median error %s, 90th percentile %s, bias %s, rank correlation %.3f\n",
                 scores->count, scores->count == 1 ? "" : "s", quantity_percent(scores->median_error, a),
                 quantity_percent(scores->p90_error, b), quantity_percent(scores->bias, c), scores->rank_correlation);
    (void)printf("  intervals       %s asked, %s of the held-out rows inside, median half width %s\n",
                 quantity_percent(answer->calibration.interval_level, d), quantity_percent(scores->coverage, a),
                 quantity_percent(scores->half_width, b));
}

static void print_parameters(const struct calibrate_answer *answer)
{
    const double z = normal_quantile(0.5 + answer->calibration.interval_level / 2);
    char value[QUANTITY_TEXT_SIZE], lo[QUANTITY_TEXT_SIZE], hi[QUANTITY_TEXT_SIZE], prior[QUANTITY_TEXT_SIZE];
    (void)printf("\n  %-24s %10s  %-20s %10s\n", "parameter", "value", "interval", "prior");
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct parameter_description *description = parameter_describe((enum parameter_id)i);
        const struct model_parameter *parameter = &answer->calibration.parameters.items[i];
        char interval[2 * QUANTITY_TEXT_SIZE + 8];
        (void)snprintf(interval, sizeof interval, "%s to %s",
                       quantity_number(parameter->value * exp(-z * parameter->log_sigma), lo),
                       quantity_number(parameter->value * exp(z * parameter->log_sigma), hi));
        (void)printf("  %-24s %10s  %-20s %10s%s\n", description->name, quantity_number(parameter->value, value),
                     interval, quantity_number(description->default_value, prior),
                     answer->report.fit.informed[i] ? "" : "  assumed: the rows say little of it");
    }
}

static void print_remarks(const struct calibrate_answer *answer)
{
    for (unsigned i = 0; i < answer->report.fit.note_count; i++) {
        (void)printf("%s  note: %s\n", i == 0 ? "\n" : "", answer->report.fit.notes[i]);
    }
    if (answer->options->output) {
        (void)printf("\nWritten to %s: predict, sweep, whatif, curve and simulate take it as --calibration %s\n",
                     answer->options->output, answer->options->output);
    } else {
        (void)printf("\nNot written: name a file with --output\n");
    }
}

enum status calibrate_answer_print(const struct calibrate_answer *answer, struct error *error)
{
    struct report report = {0};
    for (unsigned i = 0; i < answer->inputs->rows.warning_count; i++) {
        (void)fprintf(stderr, "occam: calibrate: warning: %s\n", answer->inputs->rows.warnings[i]);
    }
    if (answer->options->format == OUTPUT_FORMAT_TEXT) {
        print_heading(answer);
        print_scores(answer);
        print_parameters(answer);
        print_remarks(answer);
        return STATUS_OK;
    }
    record(answer, &report);
    const enum status status = report_print(&report, answer->options->format, "parameters", stdout, error);
    report_release(&report);
    return status;
}
