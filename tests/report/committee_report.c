/* SPDX-License-Identifier: GPL-3.0-or-later
 * Holds points of measured concurrency curves out of the committee and of the line, and prints errors and coverage as
 * the Markdown tables of docs/VALIDATION.md, section "Serving curves: committee". Usage: committee_report CURVES.csv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/step_time_committee.h"
#include "calibrate/step_time_findings.h"
#include "model/predict/step_time.h"
#include "tests/support/serving_curves.h"

enum {
    OBSERVATIONS_MAX = 16384,
    SPLITS = 20,
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
    /* What STEP-18 makes it of: quantile, scatter, spread of the members, doublings above the points, concurrencies. */
    double quantile, scatter_squares, spread_squares, above, distinct;
};

/* Of STEP-18, apart from those below the points. */
struct constants {
    double floor, spread_share, growth;
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

/* Weighted variance of the members' logarithms, from each member as a law of its own. */
static double member_spread_squares(const struct step_time_law *committee, double concurrency)
{
    double mean = log(step_time_evaluate(committee, concurrency)), variance = 0.0;
    for (uint32_t i = 0; i < committee->member_count; i++) {
        static struct step_time_law alone;
        alone = *committee;
        alone.form = committee->members[i].form;
        memcpy(alone.parameters, committee->members[i].parameters, sizeof alone.parameters);
        double distance = log(step_time_evaluate(&alone, concurrency)) - mean;
        variance += committee->members[i].weight * distance * distance;
    }
    return variance;
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
            .half_width = factor * step_time_relative_sigma(&committee.law, point->concurrency),
            .quantile = factor,
            .scatter_squares = committee.residual * committee.residual * count / (count - 2.0),
            .spread_squares = member_spread_squares(&committee.law, point->concurrency),
            .above = fmax(0.0, log2(point->concurrency / committee.law.fitted_hi)),
            .distinct = committee.distinct};
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

static double constants_half_width(const struct observation *item, const struct constants *constants)
{
    double squares = constants->floor * constants->floor / item->distinct + item->scatter_squares +
                     constants->spread_share * constants->spread_share * item->spread_squares;
    return item->quantile * sqrt(squares) * (1.0 + constants->growth * item->above);
}

/* Mean interval score at 90 % (Gneiting and Raftery 2007: width plus 20 times the miss beyond it) over the tuned
 * curves, each kind counting alike; next halvings, which have a constant of their own, are left out. */
static double interval_score(const struct observations *all, const bool *tuned, const struct constants *constants)
{
    double sums[HELD_OUT_COUNT] = {0.0}, counts[HELD_OUT_COUNT] = {0.0}, score = 0.0;
    for (size_t i = 0; i < all->count; i++) {
        const struct observation *item = &all->items[i];
        if (tuned[item->curve]) {
            double half = constants_half_width(item, constants), miss = fabs(log1p(item->error));
            sums[item->kind] += 2.0 * half + 2.0 / (1.0 - interval_level) * fmax(0.0, miss - half);
            counts[item->kind] += 1.0;
        }
    }
    for (int kind = 0; kind < HALVING; kind++) {
        score += counts[kind] > 0.0 ? sums[kind] / counts[kind] : 0.0;
    }
    return score;
}

static struct constants tune(const struct observations *all, const bool *tuned)
{
    struct constants best = {0.0, 0.0, 0.0};
    double best_score = HUGE_VAL;
    for (int floor = 3; floor <= 14; floor++) {
        for (int share = 0; share <= 6; share++) {
            for (int growth = 2; growth <= 12; growth++) {
                struct constants tried = {0.005 * floor, 0.25 * share, 0.2 * growth};
                double score = interval_score(all, tuned, &tried);
                if (score < best_score) {
                    best_score = score;
                    best = tried;
                }
            }
        }
    }
    return best;
}

/* Shares of one half's points inside, by class and kind: with the constants as they stand, and tuned on the other. */
struct split_shares {
    double stated[2][HELD_OUT_COUNT][SPLITS], tuned[2][HELD_OUT_COUNT][SPLITS];
};

static void judge_split(const struct observations *all, const bool *tuned, const struct constants *constants, int split,
                        struct split_shares *shares)
{
    double counts[2][HELD_OUT_COUNT] = {{0.0}}, stated[2][HELD_OUT_COUNT] = {{0.0}},
           inside[2][HELD_OUT_COUNT] = {{0.0}};
    for (size_t i = 0; i < all->count; i++) {
        const struct observation *item = &all->items[i];
        if (!tuned[item->curve]) {
            double miss = fabs(log1p(item->error));
            counts[item->has_experts][item->kind] += 1.0;
            stated[item->has_experts][item->kind] += miss <= item->half_width;
            inside[item->has_experts][item->kind] += miss <= constants_half_width(item, constants);
        }
    }
    for (int m = 0; m < 2; m++) {
        for (int kind = 0; kind < HELD_OUT_COUNT; kind++) {
            shares->stated[m][kind][split] = stated[m][kind] / fmax(1.0, counts[m][kind]);
            shares->tuned[m][kind][split] = inside[m][kind] / fmax(1.0, counts[m][kind]);
        }
    }
}

static void print_shares(double *shares)
{
    sort_doubles(shares, SPLITS);
    printf(" %.1f (%.1f, %.1f) |", 100.0 * quantile_sorted(shares, SPLITS, 0.5),
           100.0 * quantile_sorted(shares, SPLITS, 0.1), 100.0 * quantile_sorted(shares, SPLITS, 0.9));
}

static void print_splits(const struct observations *all, size_t curve_count)
{
    static struct split_shares shares;
    double floors[SPLITS], spreads[SPLITS], growths[SPLITS];
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
        struct constants constants = tune(all, tuned);
        floors[split] = constants.floor;
        spreads[split] = constants.spread_share;
        growths[split] = constants.growth;
        judge_split(all, tuned, &constants, split, &shares);
    }
    free(tuned);
    printf("\nOver %d random halves of the curves, tuned on one half: floor %.3f, share of the spread %.2f, growth "
           "%.1f per "
           "doubling (medians).\n\n",
           SPLITS, median_in_place(floors, SPLITS), median_in_place(spreads, SPLITS), median_in_place(growths, SPLITS));
    printf("| models | held out | other half inside, constants tuned: median (10th, 90th) | as they stand |\n"
           "|---|---|---|---|\n");
    for (int m = 0; m < 2; m++) {
        for (int kind = 0; kind < HALVING; kind++) {
            printf("| %s | %s |", m ? "MoE" : "dense", held_out_names[kind]);
            print_shares(shares.tuned[m][kind]);
            print_shares(shares.stated[m][kind]);
            printf("\n");
        }
    }
}

static void judge_interior(const struct serving_curve *curve, size_t index, struct observations *all)
{
    bool used[CURVE_POINTS_MAX];
    for (uint32_t i = 0; i < curve->count; i++) {
        used[i] = true;
    }
    for (uint32_t out = 1; out + 1 < curve->count; out++) {
        used[out] = false;
        judge(curve, index, used, INTERIOR, all);
        used[out] = true;
    }
}

static double median_error(const struct observations *all)
{
    static double errors[OBSERVATIONS_MAX];
    for (size_t i = 0; i < all->count; i++) {
        errors[i] = fabs(all->items[i].error);
    }
    return median_in_place(errors, all->count);
}

/* Curves of which less than 80 % of the last load ran: interior points by the nominal and by the running batch. */
static void print_running(const struct serving_curves *curves)
{
    static struct observations nominal, running;
    size_t count = 0;
    for (size_t c = 0; c < curves->count; c++) {
        struct serving_curve curve = curves->curves[c];
        const struct serving_point *last = &curve.points[curve.count - 1];
        if (curve.count < CURVE_POINTS_LEAST + 1 ||
            !(last->throughput_tokens_per_s * last->step_time_s < 0.8 * last->concurrency) ||
            !step_time_use_running_batch(curve.points, curve.count, 1.0)) {
            continue;
        }
        count++;
        judge_interior(&curves->curves[c], c, &nominal);
        judge_interior(&curve, c, &running);
    }
    if (nominal.count > 0 && running.count > 0) {
        printf(
            "\n%zu curves ran less than 80 %% of their last load: interior points (%zu) are missed by %.2f %% at the "
            "nominal concurrency and by %.2f %% at the batch that ran (medians).\n",
            count, nominal.count, 100.0 * median_error(&nominal), 100.0 * median_error(&running));
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
    print_running(&curves);
    serving_curves_release(&curves);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : status_exit_code(STATUS_IO);
}
