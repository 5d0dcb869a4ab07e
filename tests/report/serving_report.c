/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fits every step-time form to every curve of a measured table and prints its errors as the Markdown tables of
 * docs/VALIDATION.md, section "Serving curves". Usage: serving_report CURVES.csv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/statistics.h"
#include "calibrate/step_time_fit.h"
#include "model/predict/step_time.h"
#include "tests/support/serving_curves.h"

enum {
    CURVES_MAX = 4096,
    CHOSEN_ROW = STEP_TIME_FORM_COUNT,
    ROW_COUNT,
    THREE_POINT_LEAST = 6
};
static const double interval_level = 0.9;

enum series_kind {
    IN_SAMPLE,
    LEAVE_ONE_OUT,
    THREE_POINT,
    DOUBLING,
    DOUBLING_BIAS,
    SERIES_COUNT
};

struct series {
    size_t count;
    double values[CURVES_MAX];
};

struct hit_count {
    unsigned inside, total;
};

/* One row of the table: a form, or whatever form the points choose. */
struct report_row {
    struct series series[SERIES_COUNT];
    struct hit_count interior_hits, doubling_hits;
    unsigned chosen; /* how often the form is the one chosen from all points */
};

static void series_add(struct series *series, double value)
{
    if (isfinite(value) && series->count < CURVES_MAX) {
        series->values[series->count++] = value;
    }
}

static void stop_on(enum status status, const struct error *error)
{
    char text[1200];
    if (status != STATUS_OK) {
        fprintf(stderr, "serving_report: %s\n", error_describe(error, text, sizeof text));
        exit(status_exit_code(status));
    }
}

/* The fit of a row's form to these points; for the last row the form that these points choose, the line if none. */
static void fit_row(int row, const struct serving_point *points, uint32_t count,
                    const struct step_time_fit_options *options, struct step_time_fit *fit)
{
    struct error error = {0};
    if (row != CHOSEN_ROW) {
        stop_on(step_time_fit((enum step_time_form)row, points, count, options, fit, &error), &error);
        return;
    }
    static struct step_time_choice choice;
    stop_on(step_time_choose(points, count, options, &choice, &error), &error);
    *fit = choice.fits[choice.chosen >= 0 ? choice.chosen : 0];
}

static double signed_error(const struct step_time_fit *fit, const struct serving_point *point)
{
    return step_time_evaluate(&fit->law, point->concurrency) / point->step_time_s - 1.0;
}

/* Only fits with a residual have an interval to be judged. */
static void count_hit(const struct step_time_fit *fit, const struct serving_point *point, struct hit_count *hits)
{
    if (fit->verdict != STEP_TIME_FIT_OK) {
        return;
    }
    double spread = step_time_quantile(fit->law.degrees_of_freedom, interval_level) *
                    step_time_relative_sigma(&fit->law, point->concurrency);
    hits->total++;
    hits->inside += fabs(log1p(signed_error(fit, point))) <= spread;
}

static void judge_interior(int row, const struct serving_curve *curve, const struct step_time_fit_options *options,
                           struct report_row *result)
{
    for (uint32_t out = 1; out + 1 < curve->count; out++) {
        struct serving_point others[CURVE_POINTS_MAX];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < curve->count; i++) {
            if (i != out) {
                others[kept++] = curve->points[i];
            }
        }
        struct step_time_fit fit;
        fit_row(row, others, kept, options, &fit);
        count_hit(&fit, &curve->points[out], &result->interior_hits);
    }
}

static void judge_three_points(int row, const struct serving_curve *curve, const struct step_time_fit_options *options,
                               struct report_row *result)
{
    uint32_t middle = curve->count / 2, last = curve->count - 1;
    struct serving_point three[3] = {curve->points[0], curve->points[middle], curve->points[last]};
    struct step_time_fit fit;
    fit_row(row, three, 3, options, &fit);
    if (!fit.has_law) {
        return;
    }
    double sum = 0.0;
    for (uint32_t i = 1; i < last; i++) {
        sum += i != middle ? fabs(signed_error(&fit, &curve->points[i])) : 0.0;
    }
    series_add(&result->series[THREE_POINT], sum / (curve->count - 3));
}

static void judge_doubling(int row, const struct serving_curve *curve, const struct step_time_fit_options *options,
                           struct report_row *result)
{
    const struct serving_point *last = &curve->points[curve->count - 1];
    struct step_time_fit fit;
    fit_row(row, curve->points, curve->count - 1, options, &fit);
    if (fit.has_law) {
        series_add(&result->series[DOUBLING], fabs(signed_error(&fit, last)));
        series_add(&result->series[DOUBLING_BIAS], signed_error(&fit, last));
        count_hit(&fit, last, &result->doubling_hits);
    }
}

static void judge_curve(const struct serving_curve *curve, struct report_row *rows)
{
    struct step_time_fit_options options = {.experts_per_token = curve->experts_per_token, .experts = curve->experts};
    for (int row = 0; row < ROW_COUNT; row++) {
        if (row == STEP_TIME_PADDED || (row == STEP_TIME_COVERAGE && !(curve->experts > 0.0))) {
            continue;
        }
        struct step_time_fit fit;
        fit_row(row, curve->points, curve->count, &options, &fit);
        if (!fit.has_law) {
            continue;
        }
        series_add(&rows[row].series[IN_SAMPLE], fit.mean_relative_error);
        series_add(&rows[row].series[LEAVE_ONE_OUT], fit.leave_one_out_error);
        if (row == CHOSEN_ROW) {
            rows[fit.law.form].chosen++;
        }
        judge_interior(row, curve, &options, &rows[row]);
        if (curve->count >= THREE_POINT_LEAST) {
            judge_three_points(row, curve, &options, &rows[row]);
        }
        judge_doubling(row, curve, &options, &rows[row]);
    }
}

/* "1.7 / 6.3 (83)": median, 90th percentile in percent and the number of curves. */
static void print_series(struct series *series)
{
    if (series->count == 0) {
        printf(" - |");
        return;
    }
    sort_doubles(series->values, series->count);
    printf(" %.1f / %.1f (%zu) |", 100.0 * quantile_sorted(series->values, series->count, 0.5),
           100.0 * quantile_sorted(series->values, series->count, 0.9), series->count);
}

static void print_hits(const struct hit_count *hits)
{
    if (hits->total == 0) {
        printf(" - |");
    } else {
        printf(" %.0f (%u) |", 100.0 * hits->inside / hits->total, hits->total);
    }
}

static void print_rows(const char *title, size_t curve_count, struct report_row *rows)
{
    printf("\n%s, %zu curves:\n\n", title, curve_count);
    printf("| form | in sample | leave-one-out | three-point | next doubling | its bias | 90 %% interval: interior "
           "| 90 %% interval: doubling | chosen |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int row = 0; row < ROW_COUNT; row++) {
        if (rows[row].series[IN_SAMPLE].count == 0) {
            continue;
        }
        printf("| %s |", row == CHOSEN_ROW ? "chosen by leave-one-out" : step_time_form_name((enum step_time_form)row));
        print_series(&rows[row].series[IN_SAMPLE]);
        print_series(&rows[row].series[LEAVE_ONE_OUT]);
        print_series(&rows[row].series[THREE_POINT]);
        print_series(&rows[row].series[DOUBLING]);
        struct series *bias = &rows[row].series[DOUBLING_BIAS];
        printf(" %+.1f |", bias->count > 0 ? 100.0 * median_in_place(bias->values, bias->count) : 0.0);
        print_hits(&rows[row].interior_hits);
        print_hits(&rows[row].doubling_hits);
        printf(row == CHOSEN_ROW ? " - |\n" : " %u |\n", rows[row].chosen);
    }
}

/* CPU time of fitting and choosing on all curves once, with every leave-one-out fit; to stderr, since it is not data.
 */
static void report_speed(const struct serving_curves *curves)
{
    clock_t start = clock();
    struct step_time_fit fit;
    for (size_t i = 0; i < curves->count; i++) {
        const struct serving_curve *curve = &curves->curves[i];
        struct step_time_fit_options options = {.experts_per_token = curve->experts_per_token,
                                                .experts = curve->experts};
        fit_row(CHOSEN_ROW, curve->points, curve->count, &options, &fit);
    }
    fprintf(stderr, "%zu curves, every form with leave-one-out: %.3f s of CPU time\n", curves->count,
            (double)(clock() - start) / CLOCKS_PER_SEC);
}

int main(int argc, char **argv)
{
    struct error error = {0};
    struct serving_curves curves;
    if (argc != 2) {
        fprintf(stderr, "usage: serving_report CURVES.csv\n");
        return status_exit_code(STATUS_USAGE);
    }
    stop_on(serving_curves_read(argv[1], &curves, &error), &error);
    report_speed(&curves);
    static struct report_row dense[ROW_COUNT], experts[ROW_COUNT];
    size_t dense_count = 0;
    for (size_t i = 0; i < curves.count; i++) {
        bool is_dense = !(curves.curves[i].experts > 0.0);
        dense_count += is_dense;
        judge_curve(&curves.curves[i], is_dense ? dense : experts);
    }
    printf("Errors in percent: median / 90th percentile over curves (number of curves).\n");
    print_rows("Dense models", dense_count, dense);
    print_rows("Mixture-of-experts models", curves.count - dense_count, experts);
    serving_curves_release(&curves);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : status_exit_code(STATUS_IO);
}
