/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam calibrate --check`: does a calibration still hold for rows measured now? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "calibrate/calibration_drift.h"
#include "cli/calibrate.h"
#include "cli/calibration_match.h"
#include "cli/quantity_text.h"
#include "cli/report.h"
#include "evidence/calibration_file.h"

struct check {
    const struct calibrate_inputs *inputs;
    const struct calibration *calibration;
    struct calibration_drift drift;
    struct calibration_match match;
};

static void record(const struct check *check, struct report *report)
{
    const struct calibration_drift *drift = &check->drift;
    const struct kernel_row *worst = &check->inputs->rows.rows[drift->worst];
    report_string(report, "calibration", check->calibration->name);
    report_string(report, "scenario", check->calibration->scenario);
    report_bool(report, "holds", drift->holds);
    report_bool(report, "biased", drift->biased);
    report_bool(report, "uncovered", drift->uncovered);
    report_integer(report, "configurations", (int64_t)drift->count);
    report_integer(report, "inside", (int64_t)drift->inside);
    report_number(report, "interval_level", check->calibration->interval_level);
    report_number(report, "outside_chance", drift->outside_chance);
    report_number(report, "bias_fraction", expm1(drift->bias_log));
    report_number(report, "bias_sigma", drift->bias_sigma);
    report_number(report, "median_error_fraction", expm1(drift->median_error));
    report_integer(report, "extrapolating", (int64_t)drift->extrapolating);
    report_integer(report, "worst_line", worst->line);
    report_number(report, "worst_fraction", expm1(drift->worst_log));
    report_begin_array(report, "differences");
    for (unsigned i = 0; i < check->match.count; i++) {
        report_string(report, NULL, check->match.texts[i]);
    }
    report_end(report);
}

static void print_text(const struct check *check)
{
    const struct calibration_drift *drift = &check->drift;
    char a[QUANTITY_TEXT_SIZE], b[QUANTITY_TEXT_SIZE], number[32];
    (void)printf("%s %s for %zu configurations of %s\n\n", check->calibration->name,
                 drift->holds ? "still holds" : "DOES NOT HOLD", drift->count, check->calibration->scenario);
    (void)printf("  inside          %zu of %zu within their %s interval%s\n", drift->inside, drift->count,
                 quantity_percent(check->calibration->interval_level, a), drift->uncovered ? ": too few" : "");
    (void)printf("                  (as many outside by chance: %s)\n", quantity_percent(drift->outside_chance, a));
    (void)printf("  shift           measured times are %s%s of the predicted ones on average, %s expected of the\n"
                 "                  calibration by itself%s\n",
                 drift->bias_log >= 0 ? "+" : "", quantity_percent(expm1(drift->bias_log), a),
                 quantity_percent(expm1(drift->bias_sigma), b), drift->biased ? ": too far" : "");
    (void)printf("  error           median %s, largest %s (line %u)\n", quantity_percent(expm1(drift->median_error), a),
                 quantity_percent(expm1(drift->worst_log), b), check->inputs->rows.rows[drift->worst].line);
    if (drift->extrapolating > 0) {
        (void)printf("  extrapolating   %s of them: outside of what it was trained on\n",
                     number_format((double)drift->extrapolating, number));
    }
    for (unsigned i = 0; i < check->match.count; i++) {
        (void)printf("  differs         %s\n", check->match.texts[i]);
    }
}

static enum status print(const struct check *check, enum output_format format, struct error *error)
{
    struct report report = {0};
    for (unsigned i = 0; i < check->inputs->rows.warning_count; i++) {
        (void)fprintf(stderr, "occam: calibrate: warning: %s\n", check->inputs->rows.warnings[i]);
    }
    if (format == OUTPUT_FORMAT_TEXT) {
        print_text(check);
        return STATUS_OK;
    }
    record(check, &report);
    const enum status status = report_print(&report, format, NULL, stdout, error);
    report_release(&report);
    return status;
}

enum status calibrate_check(const struct calibrate_options *options, const struct operands *files, struct error *error)
{
    struct calibration calibration;
    struct calibrate_inputs inputs = {0};
    struct check check = {.inputs = &inputs, .calibration = &calibration};
    enum status status = calibration_file_read(options->check, &calibration, error);
    if (status == STATUS_OK) {
        const char *scenario = options->scenario ? options->scenario : calibration.scenario;
        status = calibrate_inputs_open(&inputs, options, scenario, files, error);
        if (status == STATUS_MISSING && options->scenario == NULL && inputs.scenario == NULL) {
            status =
                error_set(error, status,
                          "%s was made with the scenario '%s', which is not built in: name its file with --scenario",
                          options->check, calibration.scenario);
        }
    }
    if (status == STATUS_OK) {
        calibration_match_rows(&calibration, inputs.scenario, &inputs.rows, &check.match);
        status = calibration_drift_judge(scenario_device(inputs.scenario), &calibration, inputs.rows.rows,
                                         inputs.rows.count, &check.drift, error);
    }
    status = status == STATUS_OK ? print(&check, options->format, error) : status;
    if (status == STATUS_OK && !check.drift.holds) {
        status = STATUS_TOLERANCE_FAILED;
    }
    calibrate_inputs_release(&inputs);
    calibration_release(&calibration);
    return status;
}
