/* SPDX-License-Identifier: GPL-3.0-or-later
 * Replays searches on known spaces: mean fraction of the optimum after some runs, by exact random search, greedy local
 * search, plain expected improvement and the engine, as one Markdown table per source. Usage: search_replay REPEATS
 * RUNS CSV-FOLDER SOURCE[=SCENARIO[@DEVICE]]...; a CSV-FOLDER of - keeps no tables, REPEATS@FIRST counts seeds from
 * FIRST instead of 1. Nothing is tuned per source. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text_buffer.h"
#include "calibrate/experiment/search_baselines.h"
#include "evidence/scenario/scenario.h"
#include "model/predict/kernel_time.h"
#include "tests/support/replay_space.h"
#include "tests/support/replay_trace.h"

enum method {
    METHOD_LOCAL,
    METHOD_PLAIN,
    METHOD_ENGINE,
    METHOD_PRIOR,
    METHOD_COUNT
};
static const char *const method_names[METHOD_COUNT] = {"greedy local search", "plain expected improvement", "occam",
                                                       "occam, from a scenario"};
static const size_t checkpoints[] = {10, 20, 30, 50, 100};
enum {
    CHECKPOINTS = sizeof checkpoints / sizeof checkpoints[0],
    PLAIN_FIRST_RUNS = 10
};

struct replay {
    struct replay_family family;
    size_t repeats, first, runs, methods; /* first: seed of the first repeat */
    struct device_catalogue *catalogue;
    struct scenario *scenario;   /* NULL: none */
    struct replay_trace *traces; /* METHOD_COUNT x repeats */
    double *fractions;
};

static void fail(const struct error *error)
{
    char text[1200];
    (void)fprintf(stderr, "search_replay: %s\n", error_describe(error, text, sizeof text));
    exit(status_exit_code(error->status));
}

/* --- a scenario as prior --- */

struct prediction {
    double *logs;
    struct search_prior prior;
};

/* What the model says with the defaults, or (draw > 0) with figures drawn from their stated uncertainty: what else the
 * scenario could have said. */
static void draw_parameters(size_t draw, struct model_parameters *parameters)
{
    struct random_stream stream;
    model_parameters_init(parameters);
    random_init(&stream, draw, 29);
    for (int p = 0; p < PARAMETER_COUNT && draw > 0; p++) {
        struct model_parameter *item = &parameters->items[p];
        const struct parameter_description *range = parameter_describe((enum parameter_id)p);
        item->value =
            fmin(fmax(item->value * exp(item->log_sigma * random_normal(&stream)), range->minimum), range->maximum);
    }
}

/* One configuration that the scenario takes for infeasible gets its worst prediction. */
static enum status predict_configs(const struct replay *replay, const struct search_table *table,
                                   const struct time_model *model, struct prediction *out, struct error *error)
{
    struct scenario_evaluator *evaluator = NULL;
    double values[SCENARIO_KNOBS_MAX + SCENARIO_WORKLOAD_MAX], worst = -HUGE_VAL, sigmas = 0;
    size_t predicted = 0;
    enum status status = scenario_evaluator_create(replay->scenario, &evaluator, error);
    for (size_t c = 0; c < table->config_count && status == STATUS_OK; c++) {
        enum config_verdict verdict;
        struct layer_case layer;
        struct layer_time time = {.feasible = false};
        size_t constraint;
        scenario_base_values(replay->scenario, values);
        for (size_t v = 0; v < table->variable_count; v++) {
            const long index = scenario_variable_find(replay->scenario, table->names[v]);
            if (index >= 0) {
                values[index] = table->values[c * table->variable_count + v];
            }
        }
        status = scenario_evaluate(evaluator, values, &verdict, &constraint, &layer, error);
        if (status == STATUS_OK && verdict == CONFIG_OK) {
            layer_time_predict(model, &layer, &time);
        }
        out->logs[c] = time.feasible ? log(time.time_s) : (double)NAN;
        if (time.feasible) {
            worst = fmax(worst, out->logs[c]);
            sigmas += log(time.time_hi_s / time.time_lo_s);
            predicted++;
        }
    }
    scenario_evaluator_free(evaluator);
    for (size_t c = 0; c < table->config_count && predicted; c++) {
        out->logs[c] = isfinite(out->logs[c]) ? out->logs[c] : worst;
    }
    out->prior = (struct search_prior){out->logs, predicted ? sigmas / (double)predicted : 1};
    return status != STATUS_OK || predicted ? status
                                            : error_set(error, STATUS_BAD_DATA, "the scenario predicts none of them");
}

static enum status predict_table(const struct replay *replay, const struct search_table *table, size_t draw,
                                 struct prediction *out, struct error *error)
{
    struct model_parameters parameters;
    struct time_model model;
    *out = (struct prediction){.logs = malloc(table->config_count * sizeof *out->logs)};
    if (!out->logs) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for predictions");
    }
    draw_parameters(draw, &parameters);
    enum status status = time_model_init(&model, scenario_device(replay->scenario), &parameters, error);
    status = status == STATUS_OK ? predict_configs(replay, table, &model, out, error) : status;
    out->prior.log_sigma /= 2 * normal_quantile(0.5 + parameters.interval_level / 2);
    return status;
}

static double rank_correlation(const struct replay_space *space, const double *logs)
{
    const size_t configs = space->table.config_count;
    double *pairs = malloc(4 * configs * sizeof *pairs);
    size_t count = 0;
    if (!pairs) {
        return (double)NAN;
    }
    for (size_t c = 0; c < configs; c++) {
        if (isfinite(space->table.times_s[c])) {
            pairs[count] = logs[c];
            pairs[configs + count++] = space->table.times_s[c];
        }
    }
    const double correlation = spearman(pairs, pairs + configs, count, pairs + 2 * configs);
    free(pairs);
    return correlation;
}

/* Rank correlations of the predictions as they are and as drawn. */
static void print_prior(const struct replay *replay)
{
    double *drawn = malloc(replay->repeats * sizeof *drawn), first = 0;
    struct error error = {0};
    for (size_t r = 0; r < replay->repeats && drawn; r++) {
        const struct replay_space *space = &replay->family.spaces[r % replay->family.count];
        struct prediction prediction;
        if (predict_table(replay, &space->table, replay->first - 1 + r, &prediction, &error) != STATUS_OK) {
            fail(&error);
        }
        drawn[r] = rank_correlation(space, prediction.logs);
        first = r == 0 ? drawn[0] : first;
        free(prediction.logs);
    }
    if (drawn) {
        sort_doubles(drawn, replay->repeats);
        printf("Prior: %s, rank correlation with the times %.3f; with figures drawn from their uncertainty, one draw a "
               "repeat, %.3f to %.3f\n\n",
               scenario_name(replay->scenario), first, drawn[0], drawn[replay->repeats - 1]);
    }
    free(drawn);
}

/* --- searches --- */

static struct replay_trace *traces_of(const struct replay *replay, enum method method)
{
    return replay->traces + (size_t)method * replay->repeats;
}

static enum status search_once(const struct replay *replay, enum method method, size_t repeat, struct error *error)
{
    struct replay_trace *trace = &traces_of(replay, method)[repeat];
    const struct replay_space *space = &replay->family.spaces[repeat % replay->family.count];
    const double *times = space->table.times_s;
    struct search_options options;
    struct prediction prediction = {0};
    enum status status = STATUS_OK;
    search_options_init(&options);
    options.seed = replay->first + repeat;
    switch (method) {
    case METHOD_LOCAL:
        return search_local_run(&space->space, times, replay->runs, replay->first + repeat, trace->fractions, error);
    case METHOD_PLAIN:
        options.kernel = SEARCH_KERNEL_PLAIN;
        options.initial_runs = PLAIN_FIRST_RUNS;
        options.design_at_random = true;
        break;
    case METHOD_PRIOR:
        status = predict_table(replay, &space->table, replay->first - 1 + repeat, &prediction, error);
        break;
    case METHOD_ENGINE:
    case METHOD_COUNT:
        break;
    }
    if (status == STATUS_OK) {
        status = replay_search(&space->space, times, prediction.logs ? &prediction.prior : NULL, &options, replay->runs,
                               method != METHOD_PLAIN, trace, error);
    }
    free(prediction.logs);
    return status;
}

/* Each search is its own, whatever thread it is on: the results do not depend on how many there are. */
static void search_all(const struct replay *replay)
{
    struct error first = {0};
    const size_t searches = replay->methods * replay->repeats;
#pragma omp parallel for schedule(dynamic)
    for (size_t s = 0; s < searches; s++) {
        struct error error = {0};
        const enum method method = (enum method)(replay->methods - 1 - s / replay->repeats); /* the long ones first */
        if (search_once(replay, method, s % replay->repeats, &error) != STATUS_OK) {
#pragma omp critical
            first = error;
        }
    }
    if (first.status != STATUS_OK) {
        fail(&first);
    }
}

/* --- tables --- */

static double random_mean(const struct replay *replay, size_t runs)
{
    double sum = 0;
    for (size_t s = 0; s < replay->family.count; s++) {
        const struct search_table *table = &replay->family.spaces[s].table;
        double *scratch = malloc(table->config_count * sizeof *scratch);
        sum += scratch ? search_random_expectation(table->times_s, table->config_count, runs, scratch) : 0;
        free(scratch);
    }
    return sum / (double)replay->family.count;
}

static void print_random(const struct replay *replay)
{
    printf("| random, exact |");
    for (size_t k = 0; k < CHECKPOINTS; k++) {
        printf(" %.3f |", random_mean(replay, checkpoints[k]));
    }
    printf(" | | |\n");
}

static void print_method(const struct replay *replay, enum method method)
{
    const struct replay_trace *traces = traces_of(replay, method);
    printf("| %s |", method_names[method]);
    for (size_t k = 0; k < CHECKPOINTS; k++) {
        double mean, error;
        if (checkpoints[k] > replay->runs) {
            printf(" - |");
            continue;
        }
        replay_mean(traces, replay->repeats, checkpoints[k], &mean, &error);
        printf(" %.3f ± %.3f |", mean, error);
    }
    for (int phase = 0; phase < REPLAY_PHASES; phase++) {
        const double coverage = replay_coverage(traces, replay->repeats, phase);
        if (method != METHOD_LOCAL && method != METHOD_PLAIN && isfinite(coverage)) {
            printf(" %.1f |", coverage);
        } else {
            printf(" |");
        }
    }
    printf("\n");
}

static void print_difference(const struct replay *replay, enum method method)
{
    printf("| %s, less plain |", method_names[method]);
    for (size_t k = 0; k < CHECKPOINTS; k++) {
        double mean, error;
        if (checkpoints[k] > replay->runs) {
            printf(" - |");
            continue;
        }
        replay_mean_difference(traces_of(replay, method), traces_of(replay, METHOD_PLAIN), replay->repeats,
                               checkpoints[k], &mean, &error);
        printf(" %+.3f ± %.3f |", mean, error);
    }
    printf(" | | |\n");
}

static void print_family(const struct replay *replay)
{
    const struct replay_family *family = &replay->family;
    size_t configs = 0, failures = 0;
    struct search_options options;
    for (size_t s = 0; s < family->count; s++) {
        configs += family->spaces[s].table.config_count;
        failures += family->spaces[s].failures;
    }
    printf("**%s**: %s%zu configurations, %zu fail, %u knobs vary; %zu repeats\n\n", family->name,
           family->count > 1 ? "several spaces, in all " : "", configs, failures, family->spaces[0].space.feature_count,
           replay->repeats);
    if (replay->scenario) {
        print_prior(replay);
    }
    printf("| after | 10 runs | 20 | 30 | 50 | 100 | in 80 %% interval, %%: runs 1 to 10 | 11 to 30 | later |\n");
    printf("|---|---|---|---|---|---|---|---|---|\n");
    print_random(replay);
    for (size_t method = 0; method < replay->methods; method++) {
        print_method(replay, (enum method)method);
    }
    for (size_t method = METHOD_ENGINE; method < replay->methods; method++) {
        print_difference(replay, (enum method)method);
    }
    search_options_init(&options);
    for (size_t method = METHOD_ENGINE; method < replay->methods; method++) {
        printf("\nStop rule, %s: ", method_names[method]);
        replay_print_stops(stdout, traces_of(replay, (enum method)method), replay->repeats, options.stop_gain);
        printf(".\n");
    }
    printf("\n");
    (void)fflush(stdout);
}

/* For `occam plot regret`. */
static void keep_table(const struct replay *replay, const char *folder)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%.800s/%s.csv", folder, replay->family.name);
    FILE *file = fopen(path, "w");
    if (!file) {
        (void)fprintf(stderr, "search_replay: cannot write %s\n", path);
        exit(4);
    }
    (void)fprintf(file, "method,runs,fraction,standard_error,repeats\n");
    for (size_t run = 1; run <= replay->runs; run++) {
        (void)fprintf(file, "\"random, exact\",%zu,%.6f,0,0\n", run, random_mean(replay, run));
    }
    for (size_t method = 0; method < replay->methods; method++) {
        for (size_t run = 1; run <= replay->runs; run++) {
            double mean, error;
            replay_mean(traces_of(replay, (enum method)method), replay->repeats, run, &mean, &error);
            (void)fprintf(file, "\"%s\",%zu,%.6f,%.6f,%zu\n", method_names[method], run, mean, error, replay->repeats);
        }
    }
    if (fclose(file) != 0) {
        (void)fprintf(stderr, "search_replay: cannot write %s\n", path);
        exit(4);
    }
}

static void replay_source(char *source, size_t repeats, size_t first, size_t runs, const char *folder)
{
    struct replay replay = {.repeats = repeats, .first = first, .runs = runs};
    struct error error = {0};
    char *equals = strchr(source, '='), *at = equals ? strchr(equals, '@') : NULL;
    if (equals) {
        *equals = '\0';
    }
    if (at) {
        *at++ = '\0';
    }
    if (replay_family_read(source, &replay.family, &error) != STATUS_OK ||
        (equals && (device_catalogue_create(&replay.catalogue, &error) != STATUS_OK ||
                    scenario_read(equals + 1, replay.catalogue, at, &replay.scenario, &error) != STATUS_OK))) {
        fail(&error);
    }
    replay.methods = equals ? METHOD_COUNT : METHOD_PRIOR;
    replay.traces = calloc(METHOD_COUNT * repeats, sizeof *replay.traces);
    replay.fractions = calloc(METHOD_COUNT * repeats * runs, sizeof *replay.fractions);
    if (!replay.traces || !replay.fractions) {
        exit(4);
    }
    for (size_t t = 0; t < METHOD_COUNT * repeats; t++) {
        replay.traces[t].fractions = replay.fractions + t * runs;
    }
    search_all(&replay);
    print_family(&replay);
    if (strcmp(folder, "-") != 0) {
        keep_table(&replay, folder);
    }
    free(replay.traces);
    free(replay.fractions);
    scenario_free(replay.scenario);
    device_catalogue_free(replay.catalogue);
    replay_family_release(&replay.family);
}

int main(int argc, char **argv)
{
    double repeats = 0, first = 1, runs = 0;
    char *at = argc > 1 ? strchr(argv[1], '@') : NULL;
    if (at) {
        *at = '\0';
    }
    if (argc < 5 || number_parse(argv[1], &repeats) != STATUS_OK || number_parse(argv[2], &runs) != STATUS_OK ||
        (at && number_parse(at + 1, &first) != STATUS_OK) || !(repeats >= 1 && repeats <= 10000) ||
        !(first >= 1 && first <= 1e9) || !(runs >= 1 && runs <= 1000)) {
        (void)fprintf(stderr, "usage: search_replay REPEATS[@FIRST] RUNS CSV-FOLDER SOURCE[=SCENARIO[@DEVICE]]...\n");
        return 2;
    }
    for (int i = 4; i < argc; i++) {
        replay_source(argv[i], (size_t)repeats, (size_t)first, (size_t)runs, argv[3]);
    }
    return 0;
}
