/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs of serving benchmarks as rows, and their notes. */
#include "cli/curve_runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "model/predict/step_time.h"

enum {
    SERIES_TEXT = 320
};

const char *step_law_text(const struct step_time_law *law, char out[STEP_LAW_TEXT_SIZE])
{
    const double *p = law->parameters;
    double a = p[0] / SECONDS_PER_MS, b = p[1] / SECONDS_PER_MS, c = p[2] / SECONDS_PER_MS;

    out[0] = '\0';
    switch (law->form) {
    case STEP_TIME_LINE:
        (void)snprintf(out, STEP_LAW_TEXT_SIZE, "%.4g + %.4g n", a, b);
        break;
    case STEP_TIME_COVERAGE:
        (void)snprintf(out, STEP_LAW_TEXT_SIZE, "%.4g + %.4g (1 - (1 - %g/%g)^n) + %.4g n", a, b,
                       law->experts_per_token, law->experts, c);
        break;
    case STEP_TIME_POWER:
        (void)snprintf(out, STEP_LAW_TEXT_SIZE, "%.4g + %.4g n^%.4g", a, b, p[2]);
        break;
    case STEP_TIME_SQRT:
        (void)snprintf(out, STEP_LAW_TEXT_SIZE, "%.4g + %.4g sqrt(n) + %.4g n", a, b, c);
        break;
    case STEP_TIME_SATURATING:
        (void)snprintf(out, STEP_LAW_TEXT_SIZE, "%.4g + %.4g n/(n + %.4g) + %.4g n", a, b, p[2], p[3] / SECONDS_PER_MS);
        break;
    case STEP_TIME_PADDED:
        (void)snprintf(out, STEP_LAW_TEXT_SIZE, "%.4g + %.4g pad(n)", a, b);
        break;
    case STEP_TIME_HINGE:
        (void)snprintf(out, STEP_LAW_TEXT_SIZE, "%.4g + %.4g n %+.4g max(0, n - %.4g)", a, b, c, p[3]);
        break;
    case STEP_TIME_COMMITTEE:
    case STEP_TIME_FORM_COUNT:
    default:
        break;
    }
    return out;
}

/* The law at the batch that the fit took for the run; its miss, unknown where the law goes through the points exactly:
 * then only rounding is left. */
static void compare_with_law(const struct serving_result *run, const struct question *question, double *law_ms,
                             double *miss)
{
    double batch;

    *law_ms = *miss = (double)NAN;
    if (question == NULL)
        return;
    batch = question->law.running_batch ? measured_run_batch(run) : run->concurrency;
    if (!(batch > 0.0))
        return;
    *law_ms = step_time_evaluate(&question->serving.base, batch) / SECONDS_PER_MS;
    if (question->serving.base.degrees_of_freedom != 0)
        *miss = *law_ms / run->step_time_ms - 1.0;
}

static void record_run(struct report *report, const struct serving_result *run, const struct question *question)
{
    double law_ms, miss;

    compare_with_law(run, question, &law_ms, &miss);
    report_begin_object(report, NULL);
    report_string(report, "file", run->file);
    report_integer(report, "line", run->line);
    report_string(report, "program", serving_result_kind_name(run->kind));
    report_string(report, "label", run->label);
    report_number(report, "concurrency", run->concurrency);
    report_number(report, "running_requests", run->running);
    report_number(report, "output_tokens_per_s", run->output_tokens_per_s);
    report_number(report, "step_time_ms", run->step_time_ms);
    report_string(report, "step_source", run->step_source);
    report_number(report, "law_step_time_ms", law_ms);
    report_number(report, "law_error_percent", 100.0 * miss);
    report_number(report, "itl_median_ms", run->itl_median_ms);
    report_number(report, "tpot_median_ms", run->tpot_median_ms);
    report_number(report, "ttft_median_ms", run->ttft_median_ms);
    report_number(report, "accept_length", run->accept_length);
    report_string(report, "note", run->note);
    report_end(report);
}

void curve_runs_record(struct report *report, const struct measured_runs *runs, const struct question *question)
{
    char text[SERIES_TEXT];

    report_string(report, "runs_series",
                  runs->count > 0 ? measured_series_text(&runs->results.items[runs->first], text, sizeof text) : NULL);
    report_integer(report, "runs_skipped", (int64_t)runs->results.skipped);
    report_begin_rows(report, "runs");
    for (size_t i = runs->first; i < runs->first + runs->count; i++)
        record_run(report, &runs->results.items[i], question);
    report_end(report);
}

static void print_load(const struct serving_result *run)
{
    if (isfinite(run->concurrency))
        (void)printf("%.6g", run->concurrency);
    else
        (void)printf("%.4g running", run->running);
}

/* A note that several runs share is printed once, behind their loads. */
static void print_notes(const struct measured_runs *runs)
{
    const struct serving_result *items = &runs->results.items[runs->first];
    bool any = false;

    for (size_t i = 0; i < runs->count; i++) {
        size_t earlier = 0;

        while (earlier < i && strcmp(items[earlier].note, items[i].note) != 0)
            earlier++;
        if (items[i].note[0] == '\0' || earlier < i)
            continue;
        (void)printf("%s- at ", any ? "" : "\nAbout the runs:\n");
        any = true;
        print_load(&items[i]);
        for (size_t k = i + 1; k < runs->count; k++)
            if (strcmp(items[k].note, items[i].note) == 0) {
                (void)printf(", ");
                print_load(&items[k]);
            }
        (void)printf(": %s\n", items[i].note);
    }
}

enum status curve_runs_print(const struct report *report, const struct measured_runs *runs, struct error *error)
{
    static const struct report_column columns[] = {
        {"concurrency", "offered", 6},        {"running_requests", "ran", 4},    {"output_tokens_per_s", "tok/s", 5},
        {"step_time_ms", "step ms", 4},       {"law_step_time_ms", "law ms", 4}, {"law_error_percent", "error %", 2},
        {"ttft_median_ms", "TTFT p50 ms", 4}, {"step_source", "step is", 0},
    };
    enum status status;

    if (runs->count == 0)
        return STATUS_OK;
    (void)printf("\nMeasured runs:\n");
    status = report_print_table(report, "runs", columns, sizeof columns / sizeof columns[0], stdout, error);
    if (status == STATUS_OK)
        print_notes(runs);
    if (runs->results.skipped > 0)
        (void)printf("- left out: %llu, the first %s\n", (unsigned long long)runs->results.skipped,
                     runs->results.first_skipped);
    return status;
}
