/* SPDX-License-Identifier: GPL-3.0-or-later
 * Replays searches on measured spaces: mean fraction of the optimum after some runs, by exact random search, greedy
 * local search, plain expected improvement and the engine, as one Markdown table per file. Usage: search_replay REPEATS
 * RUNS FILE... (results of tuners). Nothing is tuned per file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "base/text_buffer.h"
#include "calibrate/experiment/search_baselines.h"
#include "calibrate/experiment/search_engine.h"
#include "calibrate/experiment/search_table.h"
#include "evidence/scenario/scenario.h"
#include "model/predict/kernel_time.h"

enum method {
    METHOD_RANDOM,
    METHOD_LOCAL,
    METHOD_PLAIN,
    METHOD_ENGINE,
    METHOD_PRIOR,
    METHOD_COUNT
};
static const char *const method_names[METHOD_COUNT] = {"random, exact", "greedy local search",
                                                       "plain expected improvement", "occam", "occam, from a scenario"};
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
    double *prior_logs; /* NULL: no scenario */
    struct search_prior prior;
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
                                   .forecast_lo = proposal->value_lo,
                                   .forecast_hi = proposal->value_hi};
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
        options.kernel = SEARCH_KERNEL_PLAIN;
        options.initial_runs = PLAIN_FIRST_RUNS;
        options.design_at_random = true;
    }
    enum status status =
        search_engine_create(&replay->space, method == METHOD_PRIOR ? &replay->prior : NULL, &options, &engine, error);
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

/* From a scenario nothing is drawn: one search stands for all. */
static size_t repeats_of(const struct replay *replay, enum method method)
{
    return method == METHOD_PRIOR ? 1 : replay->repeats;
}

static void search_all(struct replay *replay, enum method method)
{
    struct error first = {0};
    const size_t repeats = repeats_of(replay, method);
    replay->forecasts = replay->inside = 0;
#pragma omp parallel for schedule(dynamic)
    for (size_t r = 0; r < repeats; r++) {
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
        const size_t runs = checkpoints[k], count = repeats_of(replay, method);
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
        if (count == 1) {
            printf(" %.3f |", sum);
            continue;
        }
        printf(" %.3f ± %.3f |", sum / (double)count, sqrt(squares / ((double)count * fmax((double)count - 1, 1))));
    }
    if (method >= METHOD_ENGINE && replay->forecasts) {
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

/* What the scenario predicts of every configuration; one that it takes for infeasible gets its worst prediction. */
static enum status predict_table(struct replay *replay, const struct scenario *scenario, struct error *error)
{
    const struct search_table *table = &replay->table;
    struct scenario_evaluator *evaluator = NULL;
    struct model_parameters parameters;
    struct time_model model;
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX], worst = -HUGE_VAL, sigmas = 0;
    size_t predicted = 0;
    model_parameters_init(&parameters);
    enum status status = time_model_init(&model, scenario_device(scenario), &parameters, error);
    status = status == STATUS_OK ? scenario_evaluator_create(scenario, &evaluator, error) : status;
    for (size_t c = 0; c < table->config_count && status == STATUS_OK; c++) {
        enum config_verdict verdict;
        struct layer_case layer;
        struct layer_time time = {.feasible = false};
        size_t constraint;
        scenario_base_values(scenario, values);
        for (size_t v = 0; v < table->variable_count; v++) {
            const long index = scenario_variable_find(scenario, table->names[v]);
            if (index >= 0) {
                values[index] = table->values[c * table->variable_count + v];
            }
        }
        status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, error);
        if (status == STATUS_OK && verdict == CONFIG_OK) {
            layer_time_predict(&model, &layer, &time);
        }
        replay->prior_logs[c] = time.feasible ? log(time.time_s) : (double)NAN;
        if (time.feasible) {
            worst = fmax(worst, replay->prior_logs[c]);
            sigmas += log(time.time_hi_s / time.time_lo_s) / (2 * normal_quantile(0.5 + parameters.interval_level / 2));
            predicted++;
        }
    }
    for (size_t c = 0; c < table->config_count && predicted; c++) {
        replay->prior_logs[c] = isfinite(replay->prior_logs[c]) ? replay->prior_logs[c] : worst;
    }
    replay->prior = (struct search_prior){replay->prior_logs, predicted ? sigmas / (double)predicted : 1};
    scenario_evaluator_free(evaluator);
    return status != STATUS_OK || predicted ? status
                                            : error_set(error, STATUS_BAD_DATA, "the scenario predicts none of them");
}

static void take_scenario(struct replay *replay, const char *name)
{
    struct device_catalogue *catalogue = NULL;
    struct scenario *scenario = NULL;
    struct error error = {0};
    replay->prior_logs = malloc(replay->table.config_count * sizeof *replay->prior_logs);
    double *pairs = malloc(4 * replay->table.config_count * sizeof *pairs);
    if (!replay->prior_logs || !pairs || device_catalogue_create(&catalogue, &error) != STATUS_OK ||
        scenario_read(name, catalogue, NULL, &scenario, &error) != STATUS_OK ||
        predict_table(replay, scenario, &error) != STATUS_OK) {
        fail(&error);
    }
    size_t count = 0;
    double *times = pairs + replay->table.config_count;
    for (size_t c = 0; c < replay->table.config_count; c++) {
        if (isfinite(replay->table.times_s[c])) {
            pairs[count] = replay->prior_logs[c];
            times[count++] = replay->table.times_s[c];
        }
    }
    printf("Prior: %s, rank correlation with the times %.3f\n\n", scenario_name(scenario),
           spearman(pairs, times, count, pairs + 2 * replay->table.config_count));
    free(pairs);
    scenario_free(scenario);
    device_catalogue_free(catalogue);
}

static void replay_file(char *path, size_t repeats, size_t runs)
{
    char *equals = strchr(path, '=');
    if (equals) {
        *equals = '\0';
    }
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
    if (equals) {
        take_scenario(&replay, equals + 1);
    }
    printf("| after | 10 runs | 20 | 30 | 50 | 100 | in 80 %% interval, %% |\n|---|---|---|---|---|---|---|\n");
    print_random(&replay);
    replay.fractions = calloc(repeats * runs, sizeof *replay.fractions);
    const enum method methods = equals ? METHOD_COUNT : METHOD_PRIOR;
    for (enum method method = METHOD_LOCAL; method < methods && replay.fractions; method++) {
        search_all(&replay, method);
        print_searches(&replay, method);
        (void)fflush(stdout);
    }
    printf("\n");
    free(replay.fractions);
    free(replay.prior_logs);
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
