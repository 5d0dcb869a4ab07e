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
#include <unistd.h>

#include "base/clock.h"
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

/* A folder that rows go to, and the worker that makes them. */
struct campaign_session {
    struct campaign_options options;
    struct device_catalogue *catalogue;
    struct measure_compiler *compiler;
    struct campaign_process process;
    struct measure_facts facts;
    unsigned restarts;
    double compile_s, measure_s; /* of the last configuration */
    bool made;                   /* the folder was not there before */
    bool described;              /* provenance.json is written */
    int lock;                    /* -1: not locked */
    struct sigaction before;
    char seal[CAMPAIGN_DIGEST_SIZE]; /* of the last prediction written */
};

struct campaign_state {
    const struct campaign_plan *plan;
    const struct campaign_options *options;
    struct campaign_progress *progress;
    struct campaign_session session;
    size_t item_count;
    struct campaign_item *items;
    double start_s;
};

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
static void predict_occupancy(const struct campaign_session *session, const struct measure_config *config,
                              const struct measure_resources *resources, struct campaign_prediction *prediction)
{
    char name[16];
    const struct gpu_device *device;
    struct error error = {0};
    snprintf(name, sizeof name, "sm_%u%u", session->facts.cc_major, session->facts.cc_minor);
    if (device_catalogue_find(session->catalogue, name, &device, &error) != STATUS_OK)
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
        double slots = (double)occupancy.ctas_per_sm * session->facts.sm_count;
        prediction->rounds = ceil((double)launch.grid_ctas / slots);
        prediction->tail_ctas = (double)launch.grid_ctas - (prediction->rounds - 1.0) * slots;
    }
}

/* compiled: room for what the compiler says. */
static void predict(struct campaign_session *session, const struct measure_config *config,
                    struct measure_result *compiled, struct campaign_prediction *prediction)
{
    const struct campaign_options *options = &session->options;
    struct error error = {0};
    campaign_prediction_init(prediction);
    unsigned arch = session->facts.cc_major * 10 + session->facts.cc_minor;
    if (measure_compile(session->compiler, config, arch, session->facts.sm_count, compiled, &error) == STATUS_OK &&
        compiled->outcome == MEASURE_OUTCOME_OK) {
        predict_occupancy(session, config, &compiled->stages[0], prediction);
        if (options->predict)
            options->predict(options->predict_context, &session->facts, config, compiled, prediction);
    } else {
        compiled->stage_count = 0;
    }
}

/* ---- running ------------------------------------------------------------------------------------------------------
 */

static enum status ensure_worker(struct campaign_session *session, struct error *error)
{
    if (session->process.pid)
        return STATUS_OK;
    if (session->restarts++ > WORKER_RESTARTS_MAX)
        return error_set(error, STATUS_IO, "the worker had to be started more than %d times", WORKER_RESTARTS_MAX);
    return campaign_process_start(&session->process, session->options.worker_argv, WORKER_START_LIMIT_S,
                                  &session->facts, error);
}

static void report(struct campaign_state *state, const struct campaign_item *item, const struct measure_result *result)
{
    struct campaign_progress *progress = state->progress;
    progress->done++;
    progress->left--;
    progress->outcomes[result->outcome]++;
    progress->spent_s = clock_now_s() - state->start_s;
    progress->left_s = progress->spent_s / (double)progress->done * (double)progress->left;
    progress->config = item->config;
    progress->outcome = result->outcome;
    progress->reason = result->reason;
    if (state->options->report)
        state->options->report(state->options->report_context, progress);
}

static enum status describe_session(struct campaign_session *session, struct error *error)
{
    if (session->described)
        return STATUS_OK;
    session->described = true;
    return campaign_provenance_write(session->options.directory, &session->facts, &session->options, error);
}

/* Prediction on the disk, then the run, then its row. */
static enum status measure_item(struct campaign_session *session, const struct campaign_item *item,
                                struct measure_result *result, struct error *error)
{
    struct campaign_prediction prediction;
    enum status status = ensure_worker(session, error);
    if (status == STATUS_OK)
        status = describe_session(session, error);
    if (status != STATUS_OK)
        return status;
    const double begun_s = clock_now_s();
    predict(session, item->config, result, &prediction);
    const double compiled_s = clock_now_s();
    struct campaign_row row = {.facts = &session->facts,
                               .config = item->config,
                               .result = result,
                               .prediction = &prediction,
                               .revision = session->options.revision,
                               .seed = session->options.seed,
                               .is_reference = item->is_reference};
    status = campaign_prediction_append(session->options.directory, &row, session->seal, error);
    if (status != STATUS_OK)
        return status;
    row.seal = session->seal;
    campaign_process_measure(&session->process, item->config, session->options.config_limit_s, result);
    session->compile_s = compiled_s - begun_s;
    session->measure_s = clock_now_s() - compiled_s;
    return campaign_row_append(session->options.directory, &row, error);
}

static enum status run_items(struct campaign_state *state, struct error *error)
{
    struct measure_result *result = calloc(1, sizeof *result);
    if (!result)
        return error_set(error, STATUS_NO_MEMORY, "no memory for a result");
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < state->item_count; i++) {
        if (clock_now_s() - state->start_s >= state->options->budget_s ||
            (state->options->run_limit && state->progress->done >= state->options->run_limit))
            break;
        status = measure_item(&state->session, &state->items[i], result, error);
        if (status == STATUS_OK)
            report(state, &state->items[i], result);
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
        *lock = -1;
        return error_set(error, STATUS_IO, "%s is in use by another campaign", directory);
    }
    return STATUS_OK;
}

/* End with end_session, also after an error. */
static void begin_session(struct campaign_session *session, const struct campaign_options *options)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    *session = (struct campaign_session){.options = *options, .lock = -1};
    sigaction(SIGPIPE, &ignore, &session->before); /* a worker that died is an outcome, not our end */
}

static enum status take_directory(struct campaign_session *session, struct error *error)
{
    const struct campaign_options *options = &session->options;
    enum status status = lock_directory(options->directory, &session->lock, error);
    if (status == STATUS_OK)
        status = device_catalogue_create(&session->catalogue, error);
    if (status == STATUS_OK)
        status = measure_compiler_create(options->nvrtc_path, options->cache_directory, &session->compiler, error);
    return status;
}

static void end_session(struct campaign_session *session)
{
    campaign_process_stop(&session->process);
    device_catalogue_free(session->catalogue);
    measure_compiler_free(session->compiler);
    sigaction(SIGPIPE, &session->before, NULL);
    if (session->lock >= 0)
        close(session->lock);
}

enum status campaign_run(const struct campaign_plan *plan, const struct campaign_options *options,
                         struct campaign_progress *progress, struct error *error)
{
    struct campaign_state state = {.plan = plan, .options = options, .progress = progress, .start_s = clock_now_s()};
    memset(progress, 0, sizeof *progress);
    progress->budget_s = options->budget_s;
    progress->left_s = NAN;
    begin_session(&state.session, options);
    enum status status = take_directory(&state.session, error);
    if (status == STATUS_OK)
        status = read_past(&state, error);
    if (status == STATUS_OK)
        status = campaign_seal_read(options->directory, state.session.seal, error);
    progress->left = state.item_count;
    if (status == STATUS_OK)
        status = run_items(&state, error);
    end_session(&state.session);
    free(state.items);
    return status;
}

/* ---- one configuration at a time ----------------------------------------------------------------------------------
 */

/* Where nothing was measured no folder is left that was not there before. Only what is empty goes. */
static void remove_directory(const struct campaign_session *session)
{
    char path[PATH_SIZE];
    if (!session->made || session->described)
        return;
    if (session->lock >= 0 &&
        (size_t)snprintf(path, sizeof path, "%s/campaign.lock", session->options.directory) < sizeof path)
        (void)unlink(path);
    if (session->options.cache_directory)
        (void)rmdir(session->options.cache_directory);
    (void)rmdir(session->options.directory);
}

enum status campaign_session_open(const struct campaign_options *options, const struct measure_kernel *kernel,
                                  struct campaign_session **session, struct error *error)
{
    struct campaign_past past = {0};
    struct campaign_session *self = calloc(1, sizeof *self);
    *session = NULL;
    if (!self)
        return error_set(error, STATUS_NO_MEMORY, "no memory for measuring");
    begin_session(self, options);
    self->made = mkdir(options->directory, 0777) == 0; /* the worker keeps code below it */
    enum status status = ensure_worker(self, error);
    if (status == STATUS_OK)
        status = take_directory(self, error);
    if (status == STATUS_OK)
        status = campaign_past_read(options->directory, kernel, &past, error);
    campaign_past_release(&past);
    if (status == STATUS_OK)
        status = campaign_seal_read(options->directory, self->seal, error);
    if (status == STATUS_OK)
        *session = self;
    else
        campaign_session_close(self);
    return status;
}

const struct measure_facts *campaign_session_facts(const struct campaign_session *session)
{
    return &session->facts;
}

const char *campaign_session_seal(const struct campaign_session *session)
{
    return session->seal;
}

bool campaign_session_has_code(struct campaign_session *session, const struct measure_config *config)
{
    struct measure_result *result = calloc(1, sizeof *result);
    struct error error = {0};
    const unsigned arch = session->facts.cc_major * 10 + session->facts.cc_minor;
    const bool has = result && measure_compile(session->compiler, config, arch, session->facts.sm_count, result,
                                               &error) == STATUS_OK;
    free(result);
    return has;
}

bool campaign_session_compile(struct campaign_session *session, const struct measure_config *config,
                              struct measure_result *result)
{
    struct error error = {0};
    const unsigned arch = session->facts.cc_major * 10 + session->facts.cc_minor;
    return measure_compile(session->compiler, config, arch, session->facts.sm_count, result, &error) == STATUS_OK &&
           result->outcome == MEASURE_OUTCOME_OK;
}

enum status campaign_session_measure(struct campaign_session *session, const struct measure_config *config,
                                     struct measure_result *result, struct error *error)
{
    const struct campaign_item item = {.config = config};
    return measure_item(session, &item, result, error);
}

void campaign_session_seconds(const struct campaign_session *session, double *compile_s, double *measure_s)
{
    *compile_s = session->compile_s;
    *measure_s = session->measure_s;
}

void campaign_session_close(struct campaign_session *session)
{
    if (session) {
        remove_directory(session);
        end_session(session);
        free(session);
    }
}
