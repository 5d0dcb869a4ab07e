/* SPDX-License-Identifier: GPL-3.0-or-later
 * Repeated splits: draw, train, predict the rest (docs/MODEL.md CAL-10). */
#include "calibrate/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/statistics.h"
#include "calibrate/design.h"
#include "calibrate/gsl_errors.h"
#include "calibrate/kernel_calibration.h"
#include "calibrate/validation_private.h"
#include "model/predict/calibrated_time.h"

enum {
    ROWS_LEAST = 5,
    PREDICTIONS_MAX = 20000000,
    STREAM_OF_SPLITS = 83, /* of the random numbers */
    STREAM_OF_TIMES = 89
};
/* Share of the groups that a split holds out, and of the rows that a design may choose from. */
static const double held_out_share = 0.1, candidate_share = 0.8;

void validation_options_init(struct validation_options *options)
{
    *options = (struct validation_options){
        .train_rows = 24, .seeds = 20, .seed = 1, .interval_level = 0.9, .group_variable = -1};
}

/* ---- groups and row facts ---------------------------------------------------------------------------------------- */

static uint64_t hash_value(uint64_t hash, double value)
{
    const double plain = value == 0 ? 0 : value; /* -0 is 0 */
    return hash_bytes(hash, &plain, sizeof plain);
}

uint64_t validation_hash_but(const struct validation_job *job, size_t row, size_t variable)
{
    const double *values = job->measured->values + row * job->measured->variable_count;
    uint64_t hash = HASH_START;
    for (size_t v = 0; v < job->measured->variable_count; v++) {
        hash = v == variable ? hash : hash_value(hash, values[v]);
    }
    return hash;
}

/* Of one variable, or of the whole workload (-1). */
static uint64_t hash_group(const struct validation_job *job, size_t row, long variable)
{
    const double *values = job->measured->values + row * job->measured->variable_count;
    uint64_t hash = HASH_START;
    for (size_t v = 0; v < job->measured->variable_count; v++) {
        if (variable >= 0 ? (long)v == variable : !scenario_variable_get(job->scenario, v)->is_knob) {
            hash = hash_value(hash, values[v]);
        }
    }
    return hash;
}

static int compare_keys(const void *left, const void *right)
{
    const struct validation_key *a = left, *b = right;
    if (a->hash != b->hash) {
        return a->hash < b->hash ? -1 : 1;
    }
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

void validation_keys_sort(struct validation_key *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, compare_keys);
}

static enum status number_groups(const struct validation_job *job, long variable, uint32_t *groups, uint32_t *count,
                                 struct error *error)
{
    const size_t rows = job->measured->count;
    struct validation_key *keys = malloc((rows + 1) * sizeof *keys);
    if (!keys) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for groups");
    }
    for (size_t i = 0; i < rows; i++) {
        keys[i] = (struct validation_key){hash_group(job, i, variable), (uint32_t)i, (uint32_t)i};
    }
    validation_keys_sort(keys, rows);
    *count = 0;
    for (size_t i = 0; i < rows; i++) {
        *count += i == 0 || keys[i].hash != keys[i - 1].hash;
        groups[keys[i].row] = *count - 1;
    }
    free(keys);
    return STATUS_OK;
}

static enum status fill_facts(struct validation_job *job, struct error *error)
{
    struct time_model model;
    enum status status = time_model_init(&model, job->device, job->priors, error);
    job->sm_count = status == STATUS_OK ? model.sm_count : 0;
    for (size_t i = 0; i < job->measured->count && status == STATUS_OK; i++) {
        struct layer_time time;
        layer_time_predict(&model, &job->rows[i].layer, &time);
        const uint32_t best = time.feasible ? layer_time_longest_kernel(&time) : 0;
        const struct kernel_case *kernel = &job->rows[i].layer.kernels[best];
        job->facts[i] = (struct kernel_facts){.grid_ctas = kernel->launch.grid_ctas,
                                              .waves = time.kernels[best].waves.waves,
                                              .spill_bytes = kernel->loop.spill_bytes,
                                              .structure_unknown = time.kernels[best].structural_log_sigma > 0};
    }
    return status;
}

static void shuffle_times(struct validation_job *job)
{
    struct random_stream stream;
    random_init(&stream, job->options->seed, STREAM_OF_TIMES);
    for (size_t i = job->measured->count; i > 1; i--) {
        const size_t j = random_below(&stream, (uint32_t)i);
        const double time_s = job->rows[i - 1].time_s;
        job->rows[i - 1].time_s = job->rows[j].time_s;
        job->rows[j].time_s = time_s;
    }
}

static void job_release(struct validation_job *job)
{
    free(job->rows);
    free(job->groups);
    free(job->shapes);
    free(job->facts);
    baseline_table_release(&job->baselines);
}

static enum status job_prepare(struct validation_job *job, struct error *error)
{
    const size_t count = job->measured->count;
    job->rows = malloc((count + 1) * sizeof *job->rows);
    job->groups = calloc(count + 1, sizeof *job->groups);
    job->shapes = calloc(count + 1, sizeof *job->shapes);
    job->facts = calloc(count + 1, sizeof *job->facts);
    if (!job->rows || !job->groups || !job->shapes || !job->facts) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows", count);
    }
    memcpy(job->rows, job->measured->rows, count * sizeof *job->rows);
    if (job->options->shuffle_times) {
        shuffle_times(job);
    }
    enum status status = number_groups(job, job->options->group_variable, job->groups, &job->group_count, error);
    status = status == STATUS_OK ? number_groups(job, -1, job->shapes, &job->shape_count, error) : status;
    status = status == STATUS_OK ? fill_facts(job, error) : status;
    if (status == STATUS_OK && !job->options->no_baselines) {
        status = baseline_table_create(job->device, job->rows, job->measured->values, count,
                                       job->measured->variable_count, &job->baselines, error);
    }
    return status;
}

/* ---- one split --------------------------------------------------------------------------------------------------- */

/* Rows trained on first, then rows to test; what is in neither lies between the two. */
struct split {
    uint32_t *order;
    size_t train_count, test_first, count;
};

static void shuffle(uint32_t *items, size_t count, struct random_stream *stream)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = random_below(stream, (uint32_t)i);
        const uint32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

/* The rows of about a tenth of the groups to the end of the order, which is shuffled before. */
static enum status hold_groups_out(const uint32_t *groups, uint32_t group_count, struct random_stream *stream,
                                   struct split *split, struct error *error)
{
    uint32_t *drawn = malloc((group_count + 1) * sizeof *drawn), *rest = malloc((split->count + 1) * sizeof *rest);
    bool *held = calloc(group_count + 1, sizeof *held);
    enum status status = STATUS_OK;
    if (drawn && rest && held) {
        const size_t wanted = (size_t)fmax(1, floor(held_out_share * group_count));
        size_t kept = 0, gone = 0;
        for (uint32_t g = 0; g < group_count; g++) {
            drawn[g] = g;
        }
        shuffle(drawn, group_count, stream);
        for (size_t g = 0; g < wanted; g++) {
            held[drawn[g]] = true;
        }
        for (size_t i = 0; i < split->count; i++) {
            const uint32_t row = split->order[i];
            if (held[groups[row]]) {
                rest[gone++] = row;
            } else {
                split->order[kept++] = row;
            }
        }
        memcpy(split->order + kept, rest, gone * sizeof *rest);
        split->test_first = kept;
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a split");
    }
    free(drawn);
    free(rest);
    free(held);
    return status;
}

/* Chooses train_count of the first `candidates` rows of the order by design and brings them to the front. */
static enum status design_front(const struct validation_job *job, struct split *split, size_t candidates, uint64_t seed,
                                struct error *error)
{
    struct kernel_row *some = malloc((candidates + 1) * sizeof *some);
    uint32_t *chosen = malloc((split->train_count + 1) * sizeof *chosen);
    bool *taken = calloc(candidates + 1, sizeof *taken);
    uint32_t *order = malloc((candidates + 1) * sizeof *order);
    enum status status = STATUS_OK;
    if (some && chosen && taken && order) {
        for (size_t i = 0; i < candidates; i++) {
            some[i] = job->rows[split->order[i]];
        }
        status = design_choose(job->device, job->priors, some, candidates, split->train_count, seed, chosen, error);
    } else {
        status = error_set(error, STATUS_NO_MEMORY, "no memory for a design");
    }
    if (status == STATUS_OK) {
        size_t place = split->train_count;
        for (size_t i = 0; i < split->train_count; i++) {
            order[i] = split->order[chosen[i]];
            taken[chosen[i]] = true;
        }
        for (size_t i = 0; i < candidates; i++) {
            if (!taken[i]) {
                order[place++] = split->order[i];
            }
        }
        memcpy(split->order, order, candidates * sizeof *order);
    }
    free(some);
    free(chosen);
    free(taken);
    free(order);
    return status;
}

/* groups NULL: no group is held out. */
static enum status split_draw(const struct validation_job *job, const uint32_t *groups, uint32_t group_count,
                              unsigned seed, struct split *split, struct error *error)
{
    const size_t count = job->measured->count;
    struct random_stream stream;
    random_init(&stream, job->options->seed + seed, STREAM_OF_SPLITS);
    *split = (struct split){.order = malloc((count + 1) * sizeof *split->order), .count = count};
    if (!split->order) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a split");
    }
    for (size_t i = 0; i < count; i++) {
        split->order[i] = (uint32_t)i;
    }
    shuffle(split->order, count, &stream);
    size_t candidates = count;
    if (groups) {
        enum status status = hold_groups_out(groups, group_count, &stream, split, error);
        if (status != STATUS_OK) {
            return status;
        }
        candidates = split->test_first;
    }
    const size_t wanted = job->options->train_rows ? job->options->train_rows : candidates;
    split->train_count = wanted < candidates ? wanted : candidates;
    split->test_first = groups ? split->test_first : split->train_count;
    if (job->options->split == VALIDATION_DESIGN) {
        const size_t some = (size_t)(candidate_share * (double)candidates);
        return design_front(job, split, some < split->train_count ? candidates : some, job->options->seed + seed,
                            error);
    }
    return STATUS_OK;
}

/* By row of the table: those that a design drew at random. NULL: no memory. Caller frees. */
static bool *typical_rows(const struct validation_job *job, const struct split *split)
{
    bool *typical = calloc(split->count + 1, sizeof *typical);
    for (size_t i = 0; typical && i < split->train_count; i++) {
        typical[split->order[i]] = job->options->split != VALIDATION_DESIGN || design_is_typical(i);
    }
    return typical;
}

/* Trained rows must never be judged: a mistake of ours, whatever the input. */
static void check_split(const struct validation_job *job, const struct split *split,
                        struct validation_prediction *predictions)
{
    for (size_t i = 0; i < split->train_count; i++) {
        predictions[split->order[i]].trained = true;
    }
    for (size_t i = split->test_first; i < split->count; i++) {
        if (predictions[split->order[i]].trained) {
            BUG("row of line %u is trained on and tested", job->rows[split->order[i]].line);
        }
        predictions[split->order[i]].held_out = true;
    }
}

static enum status predict_rest(const struct validation_job *job, const struct split *split,
                                const struct calibration *calibration, struct validation_prediction *predictions,
                                struct error *error)
{
    struct calibrated_model *model = malloc(sizeof *model);
    enum status status = model ? calibrated_model_init(model, job->device, calibration, error)
                               : error_set(error, STATUS_NO_MEMORY, "no memory for a model");
    for (size_t i = split->test_first; i < split->count && status == STATUS_OK; i++) {
        struct validation_prediction *prediction = &predictions[split->order[i]];
        struct calibrated_time time;
        calibrated_time_predict(model, &job->rows[split->order[i]].layer, &time);
        prediction->time_s = time.time_s;
        prediction->time_lo_s = time.time_lo_s;
        prediction->time_hi_s = time.time_hi_s;
        prediction->beyond = time.beyond;
        prediction->limiter = time.layer.limiter;
        prediction->limiter_share = (float)time.layer.shares[time.layer.limiter];
    }
    free(model);
    return status;
}

static enum status train_and_predict(const struct validation_job *job, const struct split *split, unsigned seed,
                                     struct validation_prediction *predictions, bool *residual_used,
                                     struct error *error)
{
    struct kernel_calibration_options options;
    struct calibration calibration;
    struct kernel_calibration_report *report = malloc(sizeof *report);
    bool *typical = typical_rows(job, split);
    if (!report || !typical) {
        free(report);
        free(typical);
        return error_set(error, STATUS_NO_MEMORY, "no memory for a calibration");
    }
    kernel_calibration_options_init(&options);
    options.typical = typical;
    options.interval_level = job->options->interval_level;
    options.seed = job->options->seed + seed;
    options.no_residual = job->options->no_residual;
    check_split(job, split, predictions);
    enum status status = kernel_calibrate(job->device, job->priors, job->rows, split->order, split->train_count,
                                          &options, &calibration, report, error);
    if (status == STATUS_OK) {
        *residual_used = report->residual_used;
        status = predict_rest(job, split, &calibration, predictions, error);
        calibration_release(&calibration);
    }
    free(report);
    free(typical);
    return status;
}

static enum status score_split(const struct validation_job *job, const struct split *split,
                               const struct validation_prediction *predictions, struct split_scores *scores,
                               struct error *error)
{
    const size_t tests = split->count - split->test_first;
    const uint32_t *test = split->order + split->test_first;
    double *numbers = malloc((tests * 5 + 1) * sizeof *numbers);
    if (!numbers) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for scores");
    }
    double *predicted = numbers, *measured = numbers + tests, *scratch = numbers + 2 * tests, inside = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < tests; i++) {
        const struct validation_prediction *prediction = &predictions[test[i]];
        predicted[i] = prediction->time_s;
        measured[i] = job->rows[test[i]].time_s;
        scratch[i] = sqrt(prediction->time_hi_s / prediction->time_lo_s) - 1;
        inside += measured[i] >= prediction->time_lo_s && measured[i] <= prediction->time_hi_s;
    }
    scores->half_width = 100 * median_in_place(scratch, tests);
    scores->coverage = inside / (double)tests;
    scores->train_rows = (double)split->train_count;
    scores->test_rows = (double)tests;
    validation_measure(predicted, measured, tests, scratch, scores->metrics);
    for (int b = 0; b < BASELINE_COUNT && status == STATUS_OK && !job->options->no_baselines; b++) {
        status = baseline_predict(&job->baselines, (enum baseline_id)b, split->order, split->train_count, test, tests,
                                  predicted, error);
        for (size_t i = 0; i < tests; i++) {
            predicted[i] = exp(predicted[i]);
        }
        if (status == STATUS_OK) {
            validation_measure(predicted, measured, tests, scratch, scores->baselines[b]);
        }
    }
    free(numbers);
    return status;
}

/* ---- all splits -------------------------------------------------------------------------------------------------- */

/* The splits of one kind; choice: shapes held out, no scores. */
static void run_split(const struct validation_job *job, unsigned seed, bool choice,
                      struct validation_prediction *predictions, struct split_scores *scores)
{
    const bool by_group = job->options->split == VALIDATION_GROUPS;
    const uint32_t *groups = choice ? job->shapes : by_group ? job->groups : NULL;
    struct split split = {0};
    scores->status =
        split_draw(job, groups, choice ? job->shape_count : job->group_count, seed, &split, &scores->error);
    if (scores->status == STATUS_OK) {
        scores->status = train_and_predict(job, &split, seed, predictions, &scores->residual_used, &scores->error);
    }
    if (scores->status == STATUS_OK && !choice) {
        scores->status = score_split(job, &split, predictions, scores, &scores->error);
    }
    free(split.order);
}

/* Splits that hold shapes out for the choice are a second round, unless the first ones do that. */
static bool has_choice_round(const struct validation_job *job)
{
    return !job->options->no_choice && job->shape_count > 1 &&
           !(job->options->split == VALIDATION_GROUPS && job->options->group_variable < 0);
}

static void report_progress(const struct validation_job *job, bool choice, unsigned done)
{
    const unsigned seeds = job->options->seeds, rounds = has_choice_round(job) ? 2 : 1;
    if (job->options->progress) {
        job->options->progress(job->options->progress_context, (choice ? seeds : 0) + done, rounds * seeds);
    }
}

static enum status run_splits(const struct validation_job *job, bool choice, struct validation_prediction *predictions,
                              struct split_scores *scores, struct error *error)
{
    const size_t count = job->measured->count;
    const int seeds = (int)job->options->seeds;
    unsigned done = 0;
    memset(scores, 0, job->options->seeds * sizeof *scores);
#pragma omp parallel for schedule(dynamic, 1) default(none) shared(job, choice, predictions, scores, count, seeds, done)
    for (int s = 0; s < seeds; s++) {
        run_split(job, (unsigned)s, choice, predictions + (size_t)s * count, &scores[s]);
#pragma omp critical(validation_progress)
        report_progress(job, choice, ++done);
    }
    for (int s = 0; s < seeds; s++) { /* the first failure in the order of the seeds, on any number of threads */
        if (scores[s].status != STATUS_OK) {
            if (error) {
                *error = scores[s].error;
            }
            return scores[s].status;
        }
    }
    return STATUS_OK;
}

static enum status check_request(const struct validation_job *job, struct error *error)
{
    const struct validation_options *options = job->options;
    const size_t count = job->measured->count;
    if (options->seeds < 1 || options->seeds > VALIDATION_SPLITS_MAX) {
        return error_set(error, STATUS_BAD_DATA, "%u splits asked for, 1 to %d are possible", options->seeds,
                         VALIDATION_SPLITS_MAX);
    }
    if (count * options->seeds > PREDICTIONS_MAX) {
        return error_set(error, STATUS_LIMIT, "%zu rows times %u splits are more than %d predictions", count,
                         options->seeds, PREDICTIONS_MAX);
    }
    if ((options->train_rows || options->split != VALIDATION_GROUPS) && options->train_rows < ROWS_LEAST) {
        return error_set(error, STATUS_BAD_DATA, "a validation trains on at least %d rows, not %zu", ROWS_LEAST,
                         options->train_rows);
    }
    if (count < options->train_rows + 2) {
        return error_set(error, STATUS_BAD_DATA,
                         "%zu rows: after training on %zu there must be at least 2 left to test", count,
                         options->train_rows);
    }
    return STATUS_OK;
}

static enum status check_groups(const struct validation_job *job, struct error *error)
{
    if (job->options->split == VALIDATION_GROUPS && job->group_count < 2) {
        return error_set(error, STATUS_BAD_DATA, "all rows have the same %s: no group can be held out",
                         job->options->group_variable < 0
                             ? "workload"
                             : scenario_variable_get(job->scenario, (size_t)job->options->group_variable)->name);
    }
    return STATUS_OK;
}

/* The choice is judged in shapes nobody trained on; a validation by whole shapes has those already. */
static enum status judge_choice(const struct validation_job *job, struct split_scores *scores,
                                struct validation *result, struct error *error)
{
    result->top1_regret_percent = result->after_runs_regret_percent = result->top1_regret_p90_percent = (double)NAN;
    if (job->options->no_choice || job->shape_count < 2) {
        return STATUS_OK;
    }
    if (!has_choice_round(job)) {
        return validation_choose(job, result->predictions, result, error);
    }
    struct validation_prediction *predictions =
        calloc(job->measured->count * job->options->seeds + 1, sizeof *predictions);
    enum status status = predictions ? run_splits(job, true, predictions, scores, error)
                                     : error_set(error, STATUS_NO_MEMORY, "no memory for predictions");
    if (status == STATUS_OK) {
        status = validation_choose(job, predictions, result, error);
    }
    free(predictions);
    return status;
}

enum status validation_run(const struct gpu_device *device, const struct model_parameters *priors,
                           const struct scenario *scenario, const struct measured_rows *rows,
                           const struct validation_options *options, struct validation *result, struct error *error)
{
    struct validation_job job = {
        .device = device, .priors = priors, .scenario = scenario, .measured = rows, .options = options};
    struct split_scores *scores = NULL;
    *result =
        (struct validation){.rows = rows->count, .splits = options->seeds, .interval_level = options->interval_level};
    enum status status = check_request(&job, error);
    if (status != STATUS_OK) {
        return status;
    }
    gsl_errors_install(); /* once, before there are threads */
    status = job_prepare(&job, error);
    status = status == STATUS_OK ? check_groups(&job, error) : status;
    if (status == STATUS_OK) {
        scores = calloc(options->seeds, sizeof *scores);
        result->predictions = calloc(rows->count * options->seeds + 1, sizeof *result->predictions);
        status = scores && result->predictions ? run_splits(&job, false, result->predictions, scores, error)
                                               : error_set(error, STATUS_NO_MEMORY, "no memory for predictions");
    }
    status = status == STATUS_OK ? validation_summarise(&job, scores, result, error) : status;
    status = status == STATUS_OK ? judge_choice(&job, scores, result, error) : status;
    free(scores);
    job_release(&job);
    if (status != STATUS_OK) {
        validation_release(result);
    }
    return status;
}

void validation_release(struct validation *result)
{
    free(result->slices);
    free(result->choices);
    free(result->predictions);
    result->slices = NULL;
    result->choices = NULL;
    result->predictions = NULL;
}
