/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs a campaign: order, budget, prediction first, worker, row. */
#include "calibrate/campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "calibrate/campaign_private.h"
#include "evidence/device_catalogue.h"
#include "model/predict/occupancy.h"

enum {
    PATH_SIZE = 600,
    WORKER_RESTARTS_MAX = 200
};
#define WORKER_START_LIMIT_S 60.0

struct campaign_item {
    const struct measure_config *config;
    bool is_reference;
};

struct campaign_state {
    const struct campaign_plan *plan;
    const struct campaign_options *options;
    struct campaign_progress *progress;
    struct device_catalogue *catalogue;
    struct measure_compiler *compiler;
    struct campaign_process process;
    struct measure_facts facts;
    size_t item_count;
    struct campaign_item *items;
    unsigned restarts;
    double start_s;
    char seal[CAMPAIGN_DIGEST_SIZE]; /* of the last prediction written */
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void campaign_prediction_init(struct campaign_prediction *prediction)
{
    *prediction = (struct campaign_prediction){
        .ctas_per_sm = -1, .rounds = NAN, .tail_ctas = NAN, .time_us = NAN, .time_lo_us = NAN, .time_hi_us = NAN};
}

/* ---- order --------------------------------------------------------------------------------------------------------
 */

static void shuffle(struct campaign_item *items, size_t count, struct random_stream *random)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = random_below(random, (uint32_t)i);
        struct campaign_item kept = items[i - 1];
        items[i - 1] = items[j];
        items[j] = kept;
    }
}

/* Appends a round, reference runs in front of every so many of it. Small plans have one in every round. */
static enum status append_round(struct campaign_state *state, const struct campaign_item *round, size_t count,
                                struct error *error)
{
    const struct campaign_plan *plan = state->plan;
    const size_t every = plan->reference_count ? state->options->reference_every : 0;
    const size_t references = every ? (count / every + (count % every != 0)) * plan->reference_count : 0;
    const size_t total = state->item_count + count + references;
    struct campaign_item *items = realloc(state->items, (total ? total : 1) * sizeof *items);
    if (!items)
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu runs", total);
    state->items = items;
    for (size_t i = 0; i < count; i++) {
        if (every && i % every == 0)
            for (size_t r = 0; r < plan->reference_count; r++)
                items[state->item_count++] = (struct campaign_item){&plan->references[r], true};
        items[state->item_count++] = round[i];
    }
    return STATUS_OK;
}

/* Every repeat is a shuffled round of its own, so that drift and order do not fall on one configuration; what the files
 * already hold is left out. */
static enum status make_items(struct campaign_state *state, const struct campaign_past *past, struct error *error)
{
    const struct campaign_plan *plan = state->plan;
    const uint32_t repeats = state->options->repeats ? state->options->repeats : 1;
    struct campaign_item *round = calloc(plan->count + 1, sizeof *round);
    struct random_stream random;
    if (!round)
        return error_set(error, STATUS_NO_MEMORY, "no memory for %zu runs", plan->count);
    random_init(&random, state->options->seed, 1);
    enum status status = STATUS_OK;
    for (uint32_t repeat = 0; repeat < repeats && status == STATUS_OK; repeat++) {
        size_t wanted = 0;
        for (size_t i = 0; i < plan->count; i++) {
            if (campaign_past_count(past, &plan->configs[i]) > repeat)
                state->progress->skipped++;
            else
                round[wanted++].config = &plan->configs[i];
        }
        shuffle(round, wanted, &random);
        status = append_round(state, round, wanted, error);
    }
    free(round);
    return status;
}

static enum status read_past(struct campaign_state *state, struct error *error)
{
    struct campaign_past past = {0};
    enum status status = STATUS_OK;
    for (size_t k = 0; status == STATUS_OK && k < measure_kernel_count(); k++)
        status = campaign_past_read(state->options->directory, measure_kernel_get(k), &past, error);
    campaign_past_sort(&past);
    if (status == STATUS_OK)
        status = make_items(state, &past, error);
    campaign_past_release(&past);
    if (status == STATUS_OK && state->options->refuse_past && state->progress->skipped > 0)
        status = error_set(error, STATUS_USAGE, "%s already holds %zu row%s of this plan", state->options->directory,
                           state->progress->skipped, state->progress->skipped == 1 ? "" : "s");
    return status;
}

/* ---- prediction ---------------------------------------------------------------------------------------------------
 */

/* Resident CTAs per SM by OCC-1 to OCC-9; rounds and tail of uniform CTAs. */
static void predict_occupancy(const struct campaign_state *state, const struct measure_config *config,
                              const struct measure_resources *resources, struct campaign_prediction *prediction)
{
    char name[16];
    const struct gpu_device *device;
    struct error error = {0};
    snprintf(name, sizeof name, "sm_%u%u", state->facts.cc_major, state->facts.cc_minor);
    if (device_catalogue_find(state->catalogue, name, &device, &error) != STATUS_OK)
        return;
    struct kernel_launch launch = {.grid_ctas = resources->grid_ctas,
                                   .threads = resources->threads,
                                   .registers_per_thread = resources->registers_per_thread,
                                   .static_smem_bytes = resources->static_smem_bytes,
                                   .dynamic_smem_bytes = resources->dynamic_smem_bytes,
                                   .barriers = resources->barriers ? resources->barriers : 1,
                                   .cluster_ctas = resources->cluster_ctas ? resources->cluster_ctas : 1,
                                   .carveout_percent = CARVEOUT_DEFAULT};
    for (size_t i = 0; i < config->kernel->setting_count; i++)
        if (strcmp(config->kernel->settings[i].name, "carveout") == 0)
            launch.carveout_percent = (int32_t)config->values[i];
    struct occupancy occupancy;
    occupancy_compute(&device->limits, &launch, &occupancy);
    prediction->ctas_per_sm = (int32_t)occupancy.ctas_per_sm;
    size_t used = 0;
    for (unsigned bit = 0; bit < OCCUPANCY_LIMITER_KINDS; bit++)
        if (occupancy.limiters & (1u << bit) && used < sizeof prediction->limiters)
            used += (size_t)snprintf(prediction->limiters + used, sizeof prediction->limiters - used, "%s%s",
                                     used ? "+" : "", occupancy_limiter_name(bit));
    if (occupancy.ctas_per_sm > 0 && launch.grid_ctas > 0) {
        double slots = (double)occupancy.ctas_per_sm * state->facts.sm_count;
        prediction->rounds = ceil((double)launch.grid_ctas / slots);
        prediction->tail_ctas = (double)launch.grid_ctas - (prediction->rounds - 1.0) * slots;
    }
}

/* compiled: room for what the compiler says. */
static void predict(struct campaign_state *state, const struct measure_config *config, struct measure_result *compiled,
                    struct campaign_prediction *prediction)
{
    const struct campaign_options *options = state->options;
    struct error error = {0};
    campaign_prediction_init(prediction);
    unsigned arch = state->facts.cc_major * 10 + state->facts.cc_minor;
    if (measure_compile(state->compiler, config, arch, state->facts.sm_count, compiled, &error) == STATUS_OK &&
        compiled->outcome == MEASURE_OUTCOME_OK) {
        predict_occupancy(state, config, &compiled->stages[0], prediction);
        if (options->predict)
            options->predict(options->predict_context, &state->facts, config, compiled, prediction);
    } else {
        compiled->stage_count = 0;
    }
}

/* ---- running ------------------------------------------------------------------------------------------------------
 */

static enum status ensure_worker(struct campaign_state *state, struct error *error)
{
    if (state->process.pid)
        return STATUS_OK;
    if (state->restarts++ > WORKER_RESTARTS_MAX)
        return error_set(error, STATUS_IO, "the worker had to be started more than %d times", WORKER_RESTARTS_MAX);
    return campaign_process_start(&state->process, state->options->worker_argv, WORKER_START_LIMIT_S, &state->facts,
                                  error);
}

static void report(struct campaign_state *state, const struct campaign_item *item, const struct measure_result *result)
{
    struct campaign_progress *progress = state->progress;
    progress->done++;
    progress->left--;
    progress->outcomes[result->outcome]++;
    progress->spent_s = now_s() - state->start_s;
    progress->left_s = progress->spent_s / (double)progress->done * (double)progress->left;
    progress->config = item->config;
    progress->outcome = result->outcome;
    progress->reason = result->reason;
    if (state->options->report)
        state->options->report(state->options->report_context, progress);
}

static enum status run_items(struct campaign_state *state, struct error *error)
{
    struct measure_result *result = calloc(1, sizeof *result);
    if (!result)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < state->item_count; i++) {
        const struct campaign_item *item = &state->items[i];
        struct campaign_prediction prediction;
        if (now_s() - state->start_s >= state->options->budget_s ||
            (state->options->run_limit && state->progress->done >= state->options->run_limit))
            break;
        status = ensure_worker(state, error);
        if (status == STATUS_OK && i == 0)
            status = campaign_provenance_write(state->options->directory, &state->facts, state->options, error);
        if (status != STATUS_OK)
            break;
        predict(state, item->config, result, &prediction);
        struct campaign_row row = {.facts = &state->facts,
                                   .config = item->config,
                                   .result = result,
                                   .prediction = &prediction,
                                   .revision = state->options->revision,
                                   .seed = state->options->seed,
                                   .is_reference = item->is_reference};
        status = campaign_prediction_append(state->options->directory, &row, state->seal, error);
        if (status != STATUS_OK)
            break;
        row.seal = state->seal;
        campaign_process_measure(&state->process, item->config, state->options->config_limit_s, result);
        status = campaign_row_append(state->options->directory, &row, error);
        if (status == STATUS_OK)
            report(state, item, result);
    }
    free(result);
    return status;
}

static enum status lock_directory(const char *directory, int *lock, struct error *error)
{
    char path[PATH_SIZE];
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return error_set(error, STATUS_IO, "%s: %s", directory, strerror(errno));
    if ((size_t)snprintf(path, sizeof path, "%s/campaign.lock", directory) >= sizeof path - 64)
        return error_set(error, STATUS_LIMIT, "the directory's name is too long");
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0)
        return error_set(error, STATUS_IO, "%s: %s", path, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
        close(*lock);
        return error_set(error, STATUS_IO, "%s is in use by another campaign", directory);
    }
    return STATUS_OK;
}

enum status campaign_run(const struct campaign_plan *plan, const struct campaign_options *options,
                         struct campaign_progress *progress, struct error *error)
{
    struct campaign_state state = {.plan = plan, .options = options, .progress = progress, .start_s = now_s()};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int lock = -1;
    memset(progress, 0, sizeof *progress);
    progress->budget_s = options->budget_s;
    progress->left_s = NAN;
    enum status status = lock_directory(options->directory, &lock, error);
    if (status != STATUS_OK)
        return status;
    sigaction(SIGPIPE, &ignore, &before); /* a worker that died is an outcome, not our end */
    status = device_catalogue_create(&state.catalogue, error);
    if (status == STATUS_OK)
        status = measure_compiler_create(options->nvrtc_path, options->cache_directory, &state.compiler, error);
    if (status == STATUS_OK)
        status = read_past(&state, error);
    if (status == STATUS_OK)
        status = campaign_seal_read(options->directory, state.seal, error);
    progress->left = state.item_count;
    if (status == STATUS_OK)
        status = run_items(&state, error);
    campaign_process_stop(&state.process);
    device_catalogue_free(state.catalogue);
    measure_compiler_free(state.compiler);
    free(state.items);
    sigaction(SIGPIPE, &before, NULL);
    close(lock);
    return status;
}
