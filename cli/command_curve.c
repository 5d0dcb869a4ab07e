/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam curve`: throughput, step time and per-request speed over concurrency. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/curve_runs.h"
#include "cli/quantity_text.h"
#include "cli/report.h"
#include "cli/throughput_curve.h"

static const char *verdict_name(const struct step_time_fit *fit)
{
    switch (fit->verdict) {
    case STEP_TIME_FIT_OK:
        return "fitted";
    case STEP_TIME_FIT_EXACT:
        return "exact: validates nothing";
    case STEP_TIME_FIT_UNDETERMINED:
        return "undetermined";
    case STEP_TIME_FIT_FAILED:
        return "failed";
    default:
        BUG("unknown fit verdict %d", (int)fit->verdict);
    }
}

static void record_estimate(struct report *report, const char *prefix, const struct serving_estimate *estimate,
                            double tokens_per_step)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {
        {"step_time_ms", estimate->step_time_s / SECONDS_PER_MS},
        {"step_time_lo_ms", estimate->step_time_lo_s / SECONDS_PER_MS},
        {"step_time_hi_ms", estimate->step_time_hi_s / SECONDS_PER_MS},
        {"throughput_tokens_per_s", estimate->throughput_tokens_per_s},
        {"throughput_lo_tokens_per_s", estimate->throughput_lo_tokens_per_s},
        {"throughput_hi_tokens_per_s", estimate->throughput_hi_tokens_per_s},
        {"request_tokens_per_s", estimate->request_tokens_per_s},
        {"itl_ms", estimate->step_time_s / SECONDS_PER_MS / tokens_per_step},
    };
    char key[64];

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        (void)snprintf(key, sizeof key, "%s%s", prefix, fields[i].name);
        report_number(report, key, fields[i].value);
    }
}

static double measured_throughput(const struct serving_model *serving, const struct throughput_curve *curve,
                                  double concurrency)
{
    for (uint32_t i = 0; i < serving->point_count; i++)
        if (serving->points[i].concurrency == concurrency || curve->offered[i] == concurrency)
            return serving->points[i].concurrency * serving->tokens_per_step_per_request /
                   serving->points[i].step_time_s;
    return (double)NAN;
}

static void record_points(struct report *report, const struct question *question, const struct throughput_curve *curve)
{
    double tokens = question->serving.tokens_per_step_per_request;

    report_begin_rows(report, "points");
    for (size_t i = 0; i < curve->count; i++) {
        const struct curve_point *point = &curve->points[i];

        report_begin_object(report, NULL);
        report_number(report, "concurrency", point->concurrency);
        record_estimate(report, "", &point->base, tokens);
        report_number(report, "measured_tokens_per_s",
                      measured_throughput(&question->serving, curve, point->concurrency));
        if (curve->has_variant) {
            record_estimate(report, "variant_", &point->variant, tokens);
            report_number(report, "variant_change_percent",
                          100.0 * (point->variant.throughput_tokens_per_s / point->base.throughput_tokens_per_s - 1.0));
        }
        report_bool(report, "extrapolating", point->extrapolating);
        report_end(report);
    }
    report_end(report);
}

static void record_fits(struct report *report, const struct question *question)
{
    char text[STEP_LAW_TEXT_SIZE];

    report_begin_rows(report, "fits");
    for (uint32_t i = 0; question->law.has_fits && i < question->law.fits.count; i++) {
        const struct step_time_fit *fit = &question->law.fits.fits[i];

        report_begin_object(report, NULL);
        report_string(report, "form", step_time_form_name(fit->law.form));
        report_string(report, "verdict", verdict_name(fit));
        report_bool(report, "chosen", question->law.fits.chosen == (long)i);
        report_integer(report, "degrees_of_freedom", fit->law.degrees_of_freedom);
        /* An exact fit has only rounding for an error: that is no figure. */
        report_number(report, "mean_error_percent",
                      fit->verdict == STEP_TIME_FIT_EXACT ? (double)NAN : 100.0 * fit->mean_relative_error);
        report_number(report, "leave_one_out_error_percent", 100.0 * fit->leave_one_out_error);
        report_number(report, "condition_number", fit->condition_number);
        report_begin_array(report, "parameters_s");
        for (uint32_t p = 0; fit->has_law && p < step_time_form_parameter_count(fit->law.form); p++)
            report_number(report, NULL, fit->law.parameters[p]);
        report_end(report);
        report_string(report, "law_ms", fit->has_law ? step_law_text(&fit->law, text) : NULL);
        report_end(report);
    }
    report_end(report);
}

static void record_findings(struct report *report, const struct question *question)
{
    const struct step_time_findings *findings = &question->law.findings;

    report_begin_rows(report, "findings");
    for (uint32_t i = 0; question->law.has_findings && i < findings->count; i++) {
        const struct step_time_finding *finding = &findings->items[i];

        report_begin_object(report, NULL);
        report_string(report, "kind", step_time_finding_name(finding->kind));
        report_number(report, "from", finding->from);
        report_number(report, "to", finding->to);
        report_number(report, "value", finding->value);
        report_string(report, "text", finding->text);
        report_end(report);
    }
    report_end(report);
}

/* Null and empty where only points are given. */
static void record_scenario(struct report *report, const struct question *question)
{
    const struct scenario *scenario = question->scenario;

    report_string(report, "scenario", scenario == NULL ? NULL : scenario_name(scenario));
    report_string(report, "device", scenario == NULL ? NULL : question->device->name);
    report_string(report, "calibration", scenario == NULL ? NULL : question->parameters.calibration);
    report_begin_object(report, "knobs");
    for (size_t i = 0; scenario != NULL && i < scenario_knob_count(scenario); i++)
        report_number(report, scenario_variable_get(scenario, i)->name, question->values[i]);
    report_end(report);
}

static void record(struct report *report, const struct question *question, const struct throughput_curve *curve,
                   const struct measured_runs *runs)
{
    record_scenario(report, question);
    report_string(report, "form", step_time_form_name(question->serving.base.form));
    report_string(report, "form_reason", question->law.reason);
    report_string(report, "step_basis", question->step_basis);
    report_string(report, "fits_reason", question->law.has_fits ? question->law.fits.reason : NULL);
    report_bool(report, "running_batch", question->law.running_batch);
    report_number(report, "interval_level", question->level);
    report_bool(report, "has_variant", curve->has_variant);
    report_string(report, "variant_reason", curve->variant_reason);
    report_number(report, "itl_limit_ms", curve->itl_limit_ms);
    report_number(report, "concurrency_within_itl",
                  isfinite(curve->itl_limit_ms) ? curve->within_itl_limit : (double)NAN);
    record_points(report, question, curve);
    record_fits(report, question);
    record_findings(report, question);
    curve_runs_record(report, runs, question);
}

/* The rows that nobody measured near, in one line. */
static void print_extrapolation(const struct throughput_curve *curve)
{
    char lo[32], hi[32], number[32];
    const char *separator = "";

    for (size_t i = 0; i < curve->count; i++) {
        if (!curve->points[i].extrapolating)
            continue;
        (void)printf("%s%s", *separator == '\0' ? "\nExtrapolating at " : separator,
                     number_format(curve->points[i].concurrency, number));
        separator = ", ";
    }
    if (*separator != '\0')
        (void)printf(" requests: the step time was measured from %s to %s\n",
                     number_format(round(curve->measured_lo * 100.0) / 100.0, lo),
                     number_format(round(curve->measured_hi * 100.0) / 100.0, hi));
}

static enum status print_points(const struct report *report, const struct throughput_curve *curve, struct error *error)
{
    static const struct report_column columns[] = {
        {"concurrency", "requests", 6},
        {"step_time_ms", "step ms", 4},
        {"throughput_tokens_per_s", "tok/s", 4},
        {"throughput_lo_tokens_per_s", "from", 4},
        {"throughput_hi_tokens_per_s", "to", 4},
        {"request_tokens_per_s", "tok/s/req", 4},
        {"measured_tokens_per_s", "measured", 4},
        {"variant_throughput_tokens_per_s", "variant", 4},
        {"variant_throughput_lo_tokens_per_s", "from", 4},
        {"variant_throughput_hi_tokens_per_s", "to", 4},
        {"variant_change_percent", "change %", 2},
    };
    const size_t count = sizeof columns / sizeof columns[0];
    enum {
        VARIANT_COLUMNS = 4
    };

    return report_print_table(report, "points", columns, curve->has_variant ? count : count - VARIANT_COLUMNS, stdout,
                              error);
}

/* Whether the law in use is the form that the fits choose; true where they choose none. */
static bool uses_choice(const struct question *question)
{
    const struct step_time_choice *choice = &question->law.fits;

    return choice->chosen < 0 || choice->fits[choice->chosen].law.form == question->serving.base.form;
}

static enum status print_fits(const struct report *report, const struct question *question, struct error *error)
{
    static const struct report_column columns[] = {
        {"form", "form", 0},
        {"degrees_of_freedom", "freedom", 3},
        {"mean_error_percent", "mean error %", 2},
        {"leave_one_out_error_percent", "left-out error %", 2},
        {"verdict", "verdict", 0},
        {"law_ms", "law, ms", 0},
    };

    if (!question->law.has_fits)
        return STATUS_OK;
    (void)printf("\nFits to the measured points: %s%s\n", question->law.fits.reason,
                 uses_choice(question) ? "" : ". The step time above is another law: --form auto takes this one");
    return report_print_table(report, "fits", columns, sizeof columns / sizeof columns[0], stdout, error);
}

static void print_findings(const struct question *question)
{
    const struct step_time_findings *findings = &question->law.findings;

    if (question->law.running_batch)
        (void)printf("\nThe measured concurrencies are the batch that ran (tok_s x step time), not what was offered\n");
    if (!question->law.has_findings || findings->count == 0)
        return;
    (void)printf("\nAbout the measured points:\n");
    for (uint32_t i = 0; i < findings->count; i++)
        (void)printf("- %s\n", findings->items[i].text);
}

static void print_variant(const struct question *question, const struct throughput_curve *curve)
{
    char number[32];

    (void)printf("Variant:");
    for (size_t i = 0; i < scenario_variable_count(question->scenario); i++)
        if (question->values[i] != question->base[i])
            (void)printf(" %s=%s", scenario_variable_get(question->scenario, i)->name,
                         number_format(question->values[i], number));
    if (curve->variant_reason[0] != '\0')
        (void)printf("; no figures: %s", curve->variant_reason);
    (void)printf("\n");
}

static void print_heading(const struct question *question, const struct measured_runs *runs)
{
    char text[320];

    if (question->scenario != NULL)
        (void)printf("%s on %s\n", scenario_name(question->scenario), question->device->title);
    else if (runs->count == 0)
        (void)printf("Measured points alone\n");
    if (runs->count > 0)
        (void)printf("%zu run%s of %s\n", runs->count, runs->count == 1 ? "" : "s",
                     measured_series_text(&runs->results.items[runs->first], text, sizeof text));
    (void)printf("Step time: %s (%s)\n", question->step_basis, question->law.reason);
}

static enum status print_text(const struct report *report, const struct question *question,
                              const struct throughput_curve *curve, const struct measured_runs *runs,
                              struct error *error)
{
    char number[32];
    enum status status;

    print_heading(question, runs);
    if (curve->has_variant)
        print_variant(question, curve);
    (void)printf("\n");
    status = print_points(report, curve, error);
    print_extrapolation(curve);
    if (isfinite(curve->itl_limit_ms))
        (void)printf("\nLargest concurrency of the base with an inter-token latency within %s ms: %s%.0f\n",
                     number_format(curve->itl_limit_ms, number),
                     curve->within_itl_limit >= CONCURRENCY_MAX ? "at least " : "", curve->within_itl_limit);
    if (status == STATUS_OK)
        status = curve_runs_print(report, runs, error);
    if (status == STATUS_OK)
        status = print_fits(report, question, error);
    if (status == STATUS_OK)
        print_findings(question);
    return status;
}

/* Runs that determine no law are still worth seeing; `why` stays the answer. */
static enum status show_runs_alone(const struct measured_runs *runs, enum status why)
{
    struct report report = {0};
    struct error ignored = {0};
    char text[320];

    curve_runs_record(&report, runs, NULL);
    (void)printf("%zu run%s of %s\n", runs->count, runs->count == 1 ? "" : "s",
                 measured_series_text(&runs->results.items[runs->first], text, sizeof text));
    if (curve_runs_print(&report, runs, &ignored) != STATUS_OK)
        (void)printf("%s\n", ignored.text);
    report_release(&report);
    return why;
}

static enum status answer(struct question *question, const struct curve_options *options, enum output_format format,
                          struct error *error)
{
    struct curve_options with_runs = *options;
    struct throughput_curve *curve = calloc(1, sizeof *curve);
    struct measured_runs runs = {0};
    struct report report = {0};
    enum status status;

    if (curve == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the curve");
    with_runs.runs = &runs;
    status = throughput_curve_make(question, &with_runs, curve, error);
    if (status == STATUS_OK) {
        record(&report, question, curve, &runs);
        status = format == OUTPUT_FORMAT_TEXT ? print_text(&report, question, curve, &runs, error)
                                              : report_print(&report, format, "points", stdout, error);
    } else if (runs.count > 0 && format == OUTPUT_FORMAT_TEXT) {
        status = show_runs_alone(&runs, status);
    }
    report_release(&report);
    measured_runs_release(&runs);
    free(curve);
    return status;
}

/* What is there under that name and does not end like a scenario is a file of measurements. */
static bool is_measurement(const char *operand)
{
    struct stat info;
    size_t length = strlen(operand);
    bool is_yaml = (length > 5 && strcmp(operand + length - 5, ".yaml") == 0) ||
                   (length > 4 && strcmp(operand + length - 4, ".yml") == 0);

    return !is_yaml && stat(operand, &info) == 0;
}

/* With --measured, operands besides the scenario are further files: shells expand --measured runs/\*.json to that. */
static enum status sort_operands(const struct operands *operands, struct curve_options *options, const char **scenario,
                                 struct error *error)
{
    bool measured = options->measured.count > 0;

    for (size_t i = 0; i < operands->count; i++) {
        const char *operand = operands->items[i];

        if (measured && is_measurement(operand)) {
            if (options->measured.count == TEXT_LIST_MAX)
                return error_set(error, STATUS_USAGE, "more than %d files; a folder takes any number", TEXT_LIST_MAX);
            options->measured.items[options->measured.count++] = operand;
        } else if (*scenario != NULL) {
            return error_set(error, STATUS_USAGE, "unexpected argument \"%s\"", operand);
        } else {
            *scenario = operand;
        }
    }
    if (*scenario == NULL && !measured)
        return error_set(error, STATUS_USAGE, "SCENARIO is missing; --measured FILE does without one");
    return STATUS_OK;
}

/* A question of measured points alone. */
static enum status open_without_scenario(struct question *question, const struct question_options *options,
                                         struct error *error)
{
    if (options->assignments.count > 0 || options->device != NULL || options->device_file != NULL ||
        options->calibration != NULL)
        return error_set(error, STATUS_USAGE,
                         "--set, --device, --device-file and --calibration need a scenario beside --measured");
    question->level = options->level;
    question->form = options->form;
    return STATUS_OK;
}

int command_curve(int argc, char **argv)
{
    struct question_options options = {.level = QUESTION_LEVEL_DEFAULT, .form_only = true};
    struct curve_options curve_options = CURVE_OPTIONS_NONE;
    const struct option_row rows[] = {QUESTION_OPTION_ROWS(options), QUESTION_FORMAT_ROW(options),
                                      CURVE_OPTION_ROWS(curve_options)};
    struct question question = {0};
    struct operands operands;
    const char *scenario = NULL;
    struct error error = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 0, OPERANDS_MAX, &operands, &error);

    if (status == STATUS_OK)
        status = sort_operands(&operands, &curve_options, &scenario, &error);
    if (status == STATUS_OK)
        status = scenario != NULL ? question_open(&question, scenario, &options, &error)
                                  : open_without_scenario(&question, &options, &error);
    if (status == STATUS_OK)
        status = answer(&question, &curve_options, options.format, &error);
    question_release(&question);
    return status == STATUS_OK ? 0 : command_fail("curve", &error);
}
