/* SPDX-License-Identifier: GPL-3.0-or-later
 * Replays searches on measured spaces: mean fraction of the optimum after some runs, by exact random search, greedy
 * local search, plain expected improvement and the engine, as one Markdown table per file. Usage: search_replay REPEATS
 * RUNS FILE... (results of tuners). Nothing is tuned per file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "calibrate/experiment/search_baselines.h"
#include "calibrate/experiment/search_engine.h"
#include "calibrate/experiment/search_table.h"

enum method {
    METHOD_RANDOM,
    METHOD_LOCAL,
    METHOD_PLAIN,
    METHOD_ENGINE,
    METHOD_COUNT
};
static const char *const method_names[METHOD_COUNT] = {"random, exact", "greedy local search",
                                                       "plain expected improvement", "occam"};
static const size_t checkpoints[] = {10, 20, 30, 50, 100};
enum {
    CHECKPOINTS = sizeof checkpoints / sizeof checkpoints[0],
    PLAIN_FIRST_RUNS = 10
};

struct replay {
    struct search_table table;
    struct search_space space;
    size_t repeats, runs;
    double least;
    double *fractions; /* repeats x runs */
    size_t forecasts, inside;
};

static void fail(const struct error *error)
{
    char text[1200];
    (void)fprintf(stderr, "search_replay: %s\n", error_describe(error, text, sizeof text));
    exit(status_exit_code(error->status));
}

/* Runs the proposal on the table and tells the engine. */
static enum status run_one(const struct replay *replay, struct search_engine *engine,
                           const struct search_proposal *proposal, double *found, size_t *inside, size_t *forecasts,
                           struct error *error)
{
    const double value = replay->table.times_s[proposal->config];
    const struct search_run run = {.config = proposal->config,
                                   .failed = !isfinite(value),
                                   .value = value,
                                   .forecast = proposal->forecast,
                                   .forecast_sigma = proposal->forecast_sigma};
    if (isfinite(value)) {
        *found = fmin(*found, value);
        *forecasts += isfinite(proposal->value_lo);
        *inside += value >= proposal->value_lo && value <= proposal->value_hi;
    }
    return search_engine_tell(engine, &run, error);
}

static enum status search_once(struct replay *replay, enum method method, size_t repeat, struct error *error)
{
    double *fractions = replay->fractions + repeat * replay->runs, found = HUGE_VAL;
    if (method == METHOD_LOCAL) {
        return search_local_run(&replay->space, replay->table.times_s, replay->runs, repeat + 1, fractions, error);
    }
    struct search_options options;
    struct search_engine *engine = NULL;
    size_t forecasts = 0, inside = 0;
    search_options_init(&options);
    options.seed = repeat + 1;
    if (method == METHOD_PLAIN) {
        options.kernel = SEARCH_KERNEL_RADIAL;
        options.initial_runs = PLAIN_FIRST_RUNS;
        options.design_at_random = true;
    }
    enum status status = search_engine_create(&replay->space, NULL, &options, &engine, error);
    for (size_t i = 0; i < replay->runs && status == STATUS_OK; i++) {
        struct search_proposal proposal;
        size_t count = 0;
        status = search_engine_propose(engine, 1, &proposal, &count, NULL, error);
        if (status == STATUS_OK && count == 1) {
            status = run_one(replay, engine, &proposal, &found, &inside, &forecasts, error);
        }
        fractions[i] = isfinite(found) ? replay->least / found : 0;
    }
    search_engine_free(engine);
#pragma omp critical
    {
        replay->forecasts += forecasts;
        replay->inside += inside;
    }
    return status;
}

static void search_all(struct replay *replay, enum method method)
{
    struct error first = {0};
    replay->forecasts = replay->inside = 0;
#pragma omp parallel for schedule(dynamic)
    for (size_t r = 0; r < replay->repeats; r++) {
        struct error error = {0};
        if (search_once(replay, method, r, &error) != STATUS_OK) {
#pragma omp critical
            first = error;
        }
    }
    if (first.status != STATUS_OK) {
        fail(&first);
    }
}

static void print_searches(const struct replay *replay, enum method method)
{
    printf("| %s |", method_names[method]);
    for (size_t k = 0; k < CHECKPOINTS; k++) {
        double sum = 0, squares = 0;
        const size_t runs = checkpoints[k], count = replay->repeats;
        if (runs > replay->runs) {
            printf(" - |");
            continue;
        }
        for (size_t r = 0; r < count; r++) {
            sum += replay->fractions[r * replay->runs + runs - 1];
        }
        for (size_t r = 0; r < count; r++) {
            const double distance = replay->fractions[r * replay->runs + runs - 1] - sum / (double)count;
            squares += distance * distance;
        }
        printf(" %.3f ± %.3f |", sum / (double)count, sqrt(squares / ((double)count * fmax((double)count - 1, 1))));
    }
    if (method == METHOD_ENGINE && replay->forecasts) {
        printf(" %.1f |\n", 100 * (double)replay->inside / (double)replay->forecasts);
    } else {
        printf(" |\n");
    }
}

static void print_random(const struct replay *replay)
{
    double *scratch = malloc(replay->table.config_count * sizeof *scratch);
    printf("| %s |", method_names[METHOD_RANDOM]);
    for (size_t k = 0; k < CHECKPOINTS && scratch; k++) {
        printf(" %.3f |",
               search_random_expectation(replay->table.times_s, replay->table.config_count, checkpoints[k], scratch));
    }
    printf(" |\n");
    free(scratch);
}

static void replay_file(const char *path, size_t repeats, size_t runs)
{
    struct replay replay = {.repeats = repeats, .runs = runs, .least = HUGE_VAL};
    struct error error = {0};
    size_t failures = 0;
    if (search_table_read(path, &replay.table, &error) != STATUS_OK ||
        search_space_init(&replay.space, replay.table.values, replay.table.config_count, replay.table.variable_count,
                          replay.table.is_category, &error) != STATUS_OK) {
        fail(&error);
    }
    for (size_t c = 0; c < replay.table.config_count; c++) {
        failures += isfinite(replay.table.times_s[c]) ? 0 : 1;
        replay.least = isfinite(replay.table.times_s[c]) ? fmin(replay.least, replay.table.times_s[c]) : replay.least;
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    printf("**%s**: %zu configurations, %zu fail, %u knobs vary\n\n", name, replay.table.config_count, failures,
           replay.space.feature_count);
    printf("| after | 10 runs | 20 | 30 | 50 | 100 | in 80 %% interval, %% |\n|---|---|---|---|---|---|---|\n");
    print_random(&replay);
    replay.fractions = calloc(repeats * runs, sizeof *replay.fractions);
    for (enum method method = METHOD_LOCAL; method < METHOD_COUNT && replay.fractions; method++) {
        search_all(&replay, method);
        print_searches(&replay, method);
        (void)fflush(stdout);
    }
    printf("\n");
    free(replay.fractions);
    search_space_release(&replay.space);
    search_table_release(&replay.table);
}

int main(int argc, char **argv)
{
    double repeats = 0, runs = 0;
    if (argc < 4 || number_parse(argv[1], &repeats) != STATUS_OK || number_parse(argv[2], &runs) != STATUS_OK ||
        !(repeats >= 1 && repeats <= 10000) || !(runs >= 1 && runs <= 1000)) {
        (void)fprintf(stderr, "usage: search_replay REPEATS RUNS FILE...\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        replay_file(argv[i], (size_t)repeats, (size_t)runs);
    }
    return 0;
}
