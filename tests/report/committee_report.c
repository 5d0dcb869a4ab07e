/* SPDX-License-Identifier: GPL-3.0-or-later
 * Holds points of measured concurrency curves out of the committee and of the line, and prints errors and coverage as
 * the Markdown tables of docs/VALIDATION.md, section "Serving curves: committee". Usage: committee_report CURVES.csv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/step_time_committee.h"
#include "model/predict/step_time.h"
#include "tests/support/serving_curves.h"

enum {
    OBSERVATIONS_MAX = 16384,
    SPLITS = 40,
    BOOTSTRAP_REPEATS = 100,
    CURVE_POINTS_LEAST = 4
};
static const double interval_level = 0.9;

enum held_out {
    THREE_POINT, /* fit to the first, middle and last point */
    INTERIOR,    /* one interior point from all others */
    DOUBLING,    /* the last point from the rest */
    HALVING,     /* the first point from the rest */
    HELD_OUT_COUNT
};
static const char *const held_out_names[HELD_OUT_COUNT] = {"three points", "interior", "next doubling", "next halving"};

struct observation {
    size_t curve;
    bool has_experts;
    enum held_out kind;
    double error;      /* relative, signed */
    double line_error; /* of the line fitted to the same points */
    double half_width; /* of the interval, in the logarithm */
};

struct observations {
    size_t count;
    struct observation items[OBSERVATIONS_MAX];
};

static void stop_on(enum status status, const struct error *error)
{
    char text[1200];
    if (status != STATUS_OK) {
        fprintf(stderr, "committee_report: %s\n", error_describe(error, text, sizeof text));
        exit(status_exit_code(status));
    }
}

static struct step_time_fit_options options_of(const struct serving_curve *curve)
{
    return (struct step_time_fit_options){.experts_per_token = curve->experts_per_token, .experts = curve->experts};
}

/* Fits to the points with used[i], judges those without. */
static void judge(const struct serving_curve *curve, size_t index, const bool *used, enum held_out kind,
                  struct observations *all)
{
    struct step_time_fit_options options = options_of(curve);
    struct serving_point points[CURVE_POINTS_MAX];
    struct step_time_committee committee;
    struct step_time_fit line;
    struct error error = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < curve->count; i++) {
        if (used[i]) {
            points[count++] = curve->points[i];
        }
    }
    stop_on(step_time_committee_fit(points, count, &options, &committee, &error), &error);
    stop_on(step_time_fit_once(STEP_TIME_LINE, points, count, &options, &line, &error), &error);
    if (!committee.has_law) {
        return;
    }
    double factor = step_time_quantile(committee.law.degrees_of_freedom, interval_level);
    for (uint32_t i = 0; i < curve->count; i++) {
        const struct serving_point *point = &curve->points[i];
        if (used[i] || all->count == OBSERVATIONS_MAX) {
            continue;
        }
        all->items[all->count++] = (struct observation){
            .curve = index,
            .has_experts = curve->experts > 0.0,
            .kind = kind,
            .error = step_time_evaluate(&committee.law, point->concurrency) / point->step_time_s - 1.0,
            .line_error = step_time_evaluate(&line.law, point->concurrency) / point->step_time_s - 1.0,
            .half_width = factor * step_time_relative_sigma(&committee.law, point->concurrency)};
    }
}

static void judge_curve(const struct serving_curve *curve, size_t index, struct observations *all)
{
    bool used[CURVE_POINTS_MAX] = {false};
    uint32_t last = curve->count - 1;
    used[0] = used[curve->count / 2] = used[last] = true;
    judge(curve, index, used, THREE_POINT, all);
    for (uint32_t i = 0; i < curve->count; i++) {
        used[i] = true;
    }
    for (uint32_t out = 0; out < curve->count; out++) {
        used[out] = false;
        judge(curve, index, used, out == 0 ? HALVING : out == last ? DOUBLING : INTERIOR, all);
        used[out] = true;
    }
}

/* What one table cell summarises: errors of one kind and class, or how many lie inside. */
struct cell {
    size_t count;
    double absolute[OBSERVATIONS_MAX], sign[OBSERVATIONS_MAX], line[OBSERVATIONS_MAX], width[OBSERVATIONS_MAX];
    size_t inside;
};

static void fill_cell(const struct observations *all, enum held_out kind, bool has_experts, struct cell *cell)
{
    cell->count = cell->inside = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct observation *item = &all->items[i];
        if (item->kind != kind || item->has_experts != has_experts) {
            continue;
        }
        cell->absolute[cell->count] = fabs(item->error);
        cell->sign[cell->count] = item->error;
        cell->line[cell->count] = fabs(item->line_error);
        cell->width[cell->count] = item->half_width;
        cell->inside += fabs(log1p(item->error)) <= item->half_width;
        cell->count++;
    }
    sort_doubles(cell->absolute, cell->count);
}

static void print_errors(const struct observations *all)
{
    static struct cell cell;
    printf("| models | held out | points | line: median | committee: median | 90th percentile | bias | inside 90 %% | "
           "half-width: median |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int has_experts = 0; has_experts < 2; has_experts++) {
        for (int kind = 0; kind < HELD_OUT_COUNT; kind++) {
            fill_cell(all, (enum held_out)kind, has_experts == 1, &cell);
            if (cell.count == 0) {
                continue;
            }
            printf("| %s | %s | %zu | %.2f | %.2f | %.1f | %+.2f | %.1f | %.1f |\n", has_experts ? "MoE" : "dense",
                   held_out_names[kind], cell.count, 100.0 * median_in_place(cell.line, cell.count),
                   100.0 * quantile_sorted(cell.absolute, cell.count, 0.5),
                   100.0 * quantile_sorted(cell.absolute, cell.count, 0.9),
                   100.0 * median_in_place(cell.sign, cell.count), 100.0 * (double)cell.inside / (double)cell.count,
                   100.0 * median_in_place(cell.width, cell.count));
        }
    }
}

/* Over random halves of the curves: the factor on all intervals that makes 90 % of one half's points fall inside, each
 * kind counting alike, and then the share of the other half inside, per kind and class. */
static double tune_factor(const struct observations *all, const bool *tuned)
{
    static double ratios[HELD_OUT_COUNT][OBSERVATIONS_MAX];
    size_t counts[HELD_OUT_COUNT] = {0};
    double low = 0.0, high = 100.0;
    for (size_t i = 0; i < all->count; i++) {
        const struct observation *item = &all->items[i];
        if (tuned[item->curve]) {
            ratios[item->kind][counts[item->kind]++] = fabs(log1p(item->error)) / item->half_width;
        }
    }
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high), share = 0.0;
        for (int kind = 0; kind < HALVING; kind++) {
            size_t inside = 0;
            for (size_t i = 0; i < counts[kind]; i++) {
                inside += ratios[kind][i] <= middle;
            }
            share += counts[kind] > 0 ? (double)inside / (double)counts[kind] / HALVING : 0.0;
        }
        if (share < interval_level) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static void print_splits(const struct observations *all, size_t curve_count)
{
    static double shares[2][HELD_OUT_COUNT][SPLITS], raw[2][HELD_OUT_COUNT][SPLITS], factors[SPLITS];
    bool *tuned = calloc(curve_count, sizeof *tuned);
    if (tuned == NULL) {
        exit(status_exit_code(STATUS_NO_MEMORY));
    }
    for (int split = 0; split < SPLITS; split++) {
        struct random_stream stream;
        random_init(&stream, 20261129, (uint64_t)split);
        for (size_t i = 0; i < curve_count; i++) {
            tuned[i] = random_uniform(&stream) < 0.5;
        }
        factors[split] = tune_factor(all, tuned);
        size_t counts[2][HELD_OUT_COUNT] = {{0}}, inside[2][HELD_OUT_COUNT] = {{0}}, plain[2][HELD_OUT_COUNT] = {{0}};
        for (size_t i = 0; i < all->count; i++) {
            const struct observation *item = &all->items[i];
            if (!tuned[item->curve]) {
                double ratio = fabs(log1p(item->error)) / item->half_width;
                counts[item->has_experts][item->kind]++;
                inside[item->has_experts][item->kind] += ratio <= factors[split];
                plain[item->has_experts][item->kind] += ratio <= 1.0;
            }
        }
        for (int m = 0; m < 2; m++) {
            for (int kind = 0; kind < HELD_OUT_COUNT; kind++) {
                double count = fmax(1.0, (double)counts[m][kind]);
                shares[m][kind][split] = (double)inside[m][kind] / count;
                raw[m][kind][split] = (double)plain[m][kind] / count;
            }
        }
    }
    free(tuned);
    sort_doubles(factors, SPLITS);
    printf("\nOver %d random halves of the curves: the factor on the intervals that one half asks for has the median %.2f "
           "(10th to 90th percentile %.2f to %.2f).\n\n",
           SPLITS, quantile_sorted(factors, SPLITS, 0.5), quantile_sorted(factors, SPLITS, 0.1),
           quantile_sorted(factors, SPLITS, 0.9));
    printf("| models | held out | inside, other half, as stated: median (10th, 90th) | with that factor: median |\n"
           "|---|---|---|---|\n");
    for (int m = 0; m < 2; m++) {
        for (int kind = 0; kind < HELD_OUT_COUNT; kind++) {
            sort_doubles(raw[m][kind], SPLITS);
            printf("| %s | %s | %.1f (%.1f, %.1f) | %.1f |\n", m ? "MoE" : "dense", held_out_names[kind],
                   100.0 * quantile_sorted(raw[m][kind], SPLITS, 0.5), 100.0 * quantile_sorted(raw[m][kind], SPLITS, 0.1),
                   100.0 * quantile_sorted(raw[m][kind], SPLITS, 0.9),
                   100.0 * median_in_place(shares[m][kind], SPLITS));
        }
    }
}

/* CPU time of fitting every curve and its bootstrap; to stderr, since it is not data. */
static void report_speed(const struct serving_curves *curves)
{
    clock_t start = clock();
    struct error error = {0};
    for (size_t i = 0; i < curves->count; i++) {
        const struct serving_curve *curve = &curves->curves[i];
        struct step_time_fit_options options = options_of(curve);
        struct step_time_committee committee;
        double concurrency = 2.0 * curve->points[curve->count - 1].concurrency, sigma;
        stop_on(step_time_committee_fit(curve->points, curve->count, &options, &committee, &error), &error);
        if (committee.has_law) {
            stop_on(step_time_committee_bootstrap(&committee, curve->points, curve->count, &options, BOOTSTRAP_REPEATS,
                                                  i, &concurrency, 1, &sigma, &error),
                    &error);
        }
    }
    fprintf(stderr, "%zu curves, committee and %d bootstrap repeats: %.2f s of CPU time\n", curves->count,
            (int)BOOTSTRAP_REPEATS, (double)(clock() - start) / CLOCKS_PER_SEC);
}

int main(int argc, char **argv)
{
    static struct observations all;
    struct error error = {0};
    struct serving_curves curves;
    if (argc != 2) {
        fprintf(stderr, "usage: committee_report CURVES.csv\n");
        return status_exit_code(STATUS_USAGE);
    }
    stop_on(serving_curves_read(argv[1], &curves, &error), &error);
    report_speed(&curves);
    for (size_t i = 0; i < curves.count; i++) {
        if (curves.curves[i].count >= CURVE_POINTS_LEAST) {
            judge_curve(&curves.curves[i], i, &all);
        }
    }
    print_errors(&all);
    print_splits(&all, curves.count);
    serving_curves_release(&curves);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : status_exit_code(STATUS_IO);
}
