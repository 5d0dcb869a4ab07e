/* SPDX-License-Identifier: GPL-3.0-or-later
 * Replays searches on measured shapes of one kernel with a calibrated prediction as prior: for each shape the model is
 * calibrated on rows of the other shapes, then asked run by run. Usage: prior_replay SCENARIO TRAIN_ROWS TIMES.csv...
 * Prints one Markdown row: runs until within 1 % and 5 % of the best, median and 90th percentile over the shapes; the
 * same without the prior; coverage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "calibrate/experiment/search_engine.h"
#include "calibrate/kernel_calibration.h"
#include "calibrate/measured_rows.h"
#include "model/predict/calibrated_time.h"

enum {
    RUNS_MOST = 60,
    SHAPE_ROWS_LEAST = 12, /* fewer are no search */
    SHAPES_MAX = 4096
};

struct shape {
    uint32_t group;
    size_t rows, within[2][2]; /* [with prior, without][1 %, 5 %]: runs, RUNS_MOST + 1 when not reached */
    size_t forecasts[2], inside[2];
    size_t stop_runs;      /* with the prior: runs made when the stop rule first spoke; 0: never */
    double stop_left;      /* what could be gained then, in ln(time) */
    double start_fraction; /* best over time of the first run, with the prior */
};

struct replay {
    struct device_catalogue *catalogue;
    struct scenario *scenario;
    struct measured_rows rows;
    size_t train_rows;
    struct shape shapes[SHAPES_MAX];
    size_t shape_count;
};

static void fail(const struct error *error)
{
    char text[1200];
    (void)fprintf(stderr, "prior_replay: %s\n", error_describe(error, text, sizeof text));
    exit(status_exit_code(error->status));
}

/* Calibrates on rows outside of the group and predicts those inside: ln(time) to logs; returns the typical sigma. */
static double predict_group(const struct replay *replay, uint32_t group, const uint32_t *inside, size_t count,
                            double *logs)
{
    const struct gpu_device *device = scenario_device(replay->scenario);
    struct kernel_calibration_options options;
    struct kernel_calibration_report report;
    struct calibration calibration;
    struct calibrated_model *model = malloc(sizeof *model);
    uint32_t *others = malloc(replay->rows.count * sizeof *others);
    double *sigmas = malloc((count + 1) * sizeof *sigmas);
    struct model_parameters priors;
    struct random_stream stream;
    struct error error = {0};
    size_t other_count = 0;
    if (!model || !others || !sigmas) {
        exit(4);
    }
    model_parameters_init(&priors);
    kernel_calibration_options_init(&options);
    random_init(&stream, 1, group);
    for (size_t i = 0; i < replay->rows.count; i++) {
        if (replay->rows.rows[i].group != group) {
            const size_t place = random_below(&stream, (uint32_t)other_count + 1);
            others[other_count++] = others[place];
            others[place] = (uint32_t)i;
        }
    }
    other_count = other_count < replay->train_rows ? other_count : replay->train_rows;
    if (kernel_calibrate(device, &priors, replay->rows.rows, others, other_count, &options, &calibration, &report,
                         &error) != STATUS_OK ||
        calibrated_model_init(model, device, &calibration, &error) != STATUS_OK) {
        fail(&error);
    }
    for (size_t i = 0; i < count; i++) {
        struct calibrated_time time;
        calibrated_time_predict(model, &replay->rows.rows[inside[i]].layer, &time);
        logs[i] = log(time.time_s);
        sigmas[i] = time.log_sigma * calibration.stretch / normal_quantile(0.5 + calibration.interval_level / 2);
    }
    const double sigma = median_in_place(sigmas, count);
    calibration_release(&calibration);
    free(model);
    free(others);
    free(sigmas);
    return sigma;
}

static void search_shape(const struct replay *replay, const struct search_space *space, const uint32_t *inside,
                         const struct search_prior *prior, uint64_t seed, struct shape *shape)
{
    const int kind = prior ? 0 : 1;
    struct search_options options;
    struct search_engine *engine = NULL;
    struct error error = {0};
    double least = HUGE_VAL, found = HUGE_VAL;
    search_options_init(&options);
    options.seed = seed;
    if (search_engine_create(space, prior, &options, &engine, &error) != STATUS_OK) {
        fail(&error);
    }
    for (size_t i = 0; i < space->config_count; i++) {
        least = fmin(least, replay->rows.rows[inside[i]].time_s);
    }
    shape->within[kind][0] = shape->within[kind][1] = RUNS_MOST + 1;
    for (size_t run = 1; run <= RUNS_MOST && run <= space->config_count; run++) {
        struct search_proposal proposal;
        struct search_summary summary = {.stop = false};
        size_t count = 0;
        if (search_engine_propose(engine, 1, &proposal, &count, prior && !shape->stop_runs ? &summary : NULL, &error) !=
            STATUS_OK) {
            fail(&error);
        }
        if (summary.stop) {
            shape->stop_runs = run - 1;
            shape->stop_left = log(found / least);
        }
        const double time = replay->rows.rows[inside[proposal.config]].time_s;
        found = fmin(found, time);
        if (isfinite(proposal.value_lo)) {
            shape->forecasts[kind]++;
            shape->inside[kind] += time >= proposal.value_lo && time <= proposal.value_hi;
        }
        for (int limit = 0; limit < 2; limit++) {
            if (found <= least * (limit ? 1.05 : 1.01) && run < shape->within[kind][limit]) {
                shape->within[kind][limit] = run;
            }
        }
        if (run == 1 && prior) {
            shape->start_fraction = least / time;
        }
        const struct search_run done = {.config = proposal.config,
                                        .value = time,
                                        .forecast_lo = proposal.value_lo,
                                        .forecast_hi = proposal.value_hi};
        if (search_engine_tell(engine, &done, &error) != STATUS_OK) {
            fail(&error);
        }
    }
    search_engine_free(engine);
}

/* The shapes with rows enough, in the order of the files. */
static void prepare_shapes(struct replay *replay)
{
    for (uint32_t group = 0; group < replay->rows.group_count && replay->shape_count < SHAPES_MAX; group++) {
        size_t rows = 0;
        for (size_t i = 0; i < replay->rows.count; i++) {
            rows += replay->rows.rows[i].group == group;
        }
        if (rows >= SHAPE_ROWS_LEAST) {
            replay->shapes[replay->shape_count++] = (struct shape){.group = group, .rows = rows};
        }
    }
}

static void replay_shape(const struct replay *replay, struct shape *shape)
{
    const size_t variables = replay->rows.variable_count;
    uint32_t *inside = malloc(shape->rows * sizeof *inside);
    double *values = malloc(shape->rows * variables * sizeof *values);
    double *logs = malloc(shape->rows * sizeof *logs);
    struct search_space space;
    struct error error = {0};
    size_t count = 0;
    if (!inside || !values || !logs) {
        exit(4);
    }
    for (size_t i = 0; i < replay->rows.count; i++) {
        if (replay->rows.rows[i].group == shape->group) {
            memcpy(values + count * variables, replay->rows.values + i * variables, variables * sizeof *values);
            inside[count++] = (uint32_t)i;
        }
    }
    if (search_space_init(&space, values, count, variables, NULL, &error) != STATUS_OK) {
        fail(&error);
    }
    const double sigma = predict_group(replay, shape->group, inside, count, logs);
    search_shape(replay, &space, inside, &(struct search_prior){logs, sigma}, shape->group + 1, shape);
    search_shape(replay, &space, inside, NULL, shape->group + 1, shape);
    search_space_release(&space);
    free(inside);
    free(values);
    free(logs);
}

static void print_runs(const struct replay *replay, int kind, int limit)
{
    double sorted[SHAPES_MAX];
    for (size_t s = 0; s < replay->shape_count; s++) {
        sorted[s] = (double)replay->shapes[s].within[kind][limit];
    }
    sort_doubles(sorted, replay->shape_count);
    const double middle = quantile_sorted(sorted, replay->shape_count, 0.5);
    const double late = quantile_sorted(sorted, replay->shape_count, 0.9);
    printf(" %g (%s%g) |", middle, late > RUNS_MOST ? ">" : "", late > RUNS_MOST ? (double)RUNS_MOST : ceil(late));
}

static double coverage(const struct replay *replay, int kind)
{
    size_t forecasts = 0, inside = 0;
    for (size_t s = 0; s < replay->shape_count; s++) {
        forecasts += replay->shapes[s].forecasts[kind];
        inside += replay->shapes[s].inside[kind];
    }
    return 100 * (double)inside / (double)(forecasts ? forecasts : 1);
}

/* When the stop rule first spoke, and the most that was left then. */
static void print_stops(const struct replay *replay)
{
    double runs[SHAPES_MAX], left = 0;
    size_t stopped = 0;
    for (size_t s = 0; s < replay->shape_count; s++) {
        if (replay->shapes[s].stop_runs > 0) {
            runs[stopped++] = (double)replay->shapes[s].stop_runs;
            left = fmax(left, replay->shapes[s].stop_left);
        }
    }
    printf(" %g (%zu of %zu) | %.1f |\n", stopped ? median_in_place(runs, stopped) : 0, stopped, replay->shape_count,
           100 * left);
}

static void print_row(const struct replay *replay)
{
    double firsts[SHAPES_MAX], rows = 0;
    for (size_t s = 0; s < replay->shape_count; s++) {
        firsts[s] = replay->shapes[s].start_fraction;
        rows += (double)replay->shapes[s].rows / (double)replay->shape_count;
    }
    printf("| %s | %zu | %.0f | %.3f |", scenario_name(replay->scenario), replay->shape_count, rows,
           median_in_place(firsts, replay->shape_count));
    for (int kind = 0; kind < 2; kind++) {
        for (int limit = 0; limit < 2; limit++) {
            print_runs(replay, kind, limit);
        }
    }
    printf(" %.1f | %.1f |", coverage(replay, 0), coverage(replay, 1));
    print_stops(replay);
}

int main(int argc, char **argv)
{
    static struct replay replay;
    const struct measured_rows_options options = {0};
    struct error error = {0};
    double train = 0;
    if (argc < 4 || number_parse(argv[2], &train) != STATUS_OK || !(train >= 5 && train <= 100000)) {
        (void)fprintf(stderr, "usage: prior_replay SCENARIO TRAIN_ROWS TIMES.csv...\n");
        return 2;
    }
    replay.train_rows = (size_t)train;
    if (device_catalogue_create(&replay.catalogue, &error) != STATUS_OK ||
        scenario_read(argv[1], replay.catalogue, NULL, &replay.scenario, &error) != STATUS_OK ||
        measured_rows_read(replay.scenario, (const char *const *)argv + 3, (size_t)argc - 3, &options, &replay.rows,
                           &error) != STATUS_OK) {
        fail(&error);
    }
    prepare_shapes(&replay);
    /* Each shape is its own: the results do not depend on the number of threads. */
#pragma omp parallel for schedule(dynamic)
    for (size_t s = 0; s < replay.shape_count; s++) {
        replay_shape(&replay, &replay.shapes[s]);
    }
    if (replay.shape_count == 0) {
        (void)fprintf(stderr, "prior_replay: no shape with %d rows\n", SHAPE_ROWS_LEAST);
        return 3;
    }
    print_row(&replay);
    measured_rows_release(&replay.rows);
    scenario_free(replay.scenario);
    device_catalogue_free(replay.catalogue);
    return 0;
}
