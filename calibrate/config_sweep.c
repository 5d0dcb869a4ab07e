/* SPDX-License-Identifier: GPL-3.0-or-later
 * The search itself: threads take contiguous ranges of a mixed-radix counter whose cheapest digit turns fastest, keep a
 * bounded heap each, and the heaps are merged in an order that does not depend on who found what. */
#include "calibrate/config_sweep.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "calibrate/config_sweep_private.h"

enum {
    CHUNK_CONFIGS_MAX = 8192,
    CHUNKS_PER_THREAD = 16,
    COST_REPEATS = 3,
    SMALL_SPACE = 65536 /* not worth measuring which digit is cheap */
};
static const double PROGRESS_INTERVAL_S = 0.1;

/* --- the best so far: a heap with the worst on top ---------------------------------------------------------------- */

static bool is_worse(const struct candidate *left, const struct candidate *right)
{
    return left->key > right->key || (left->key == right->key && left->config_index > right->config_index);
}

static void heap_sift_down(struct best_heap *heap, size_t i)
{
    for (;;) {
        size_t worst = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap->count; child++) {
            worst = is_worse(&heap->items[child], &heap->items[worst]) ? child : worst;
        }
        if (worst == i) {
            return;
        }
        const struct candidate moved = heap->items[i];
        heap->items[i] = heap->items[worst];
        heap->items[worst] = moved;
        i = worst;
    }
}

static void heap_offer(struct best_heap *heap, const struct candidate *candidate)
{
    if (heap->count == heap->capacity) {
        if (is_worse(&heap->items[0], candidate)) {
            heap->items[0] = *candidate;
            heap_sift_down(heap, 0);
        }
        return;
    }
    size_t i = heap->count++;
    while (i > 0 && is_worse(candidate, &heap->items[(i - 1) / 2])) {
        heap->items[i] = heap->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->items[i] = *candidate;
}

int config_sweep_compare(const void *left, const void *right)
{
    return is_worse(left, right) ? 1 : is_worse(right, left) ? -1 : 0;
}

/* --- one thread --------------------------------------------------------------------------------------------------- */

/* Position in the counter. */
struct odometer {
    const struct config_space *space;
    const struct sweep_order *order;
    const struct scenario_variable *variables[CONFIG_VARIABLES_MAX]; /* by turning order */
    uint32_t digits[CONFIG_VARIABLES_MAX];
    uint64_t config_index;
    double values[CONFIG_VARIABLES_MAX];
};

static void odometer_set(struct odometer *odometer, const struct config_space *space, const struct sweep_order *order,
                         uint64_t position)
{
    *odometer = (struct odometer){.space = space, .order = order};
    memcpy(odometer->values, space->values, sizeof odometer->values);
    for (uint32_t i = space->varied_count; i-- > 0;) {
        const uint32_t digit = order->digits[i];
        const struct scenario_variable *variable = scenario_variable_get(space->scenario, space->varied[digit]);
        odometer->variables[i] = variable;
        odometer->digits[i] = (uint32_t)(position % variable->value_count);
        position /= variable->value_count;
        odometer->config_index += odometer->digits[i] * space->strides[digit];
        odometer->values[space->varied[digit]] = variable->values[odometer->digits[i]];
    }
}

static void odometer_advance(struct odometer *odometer)
{
    const struct config_space *space = odometer->space;
    for (uint32_t i = space->varied_count; i-- > 0;) {
        const uint32_t digit = odometer->order->digits[i];
        const struct scenario_variable *variable = odometer->variables[i];
        odometer->digits[i]++;
        odometer->config_index += space->strides[digit];
        if (odometer->digits[i] < variable->value_count) {
            odometer->values[space->varied[digit]] = variable->values[odometer->digits[i]];
            return;
        }
        odometer->config_index -= space->strides[digit] * variable->value_count;
        odometer->digits[i] = 0;
        odometer->values[space->varied[digit]] = variable->values[0];
    }
}

static void tally_invalid(struct sweep_tally *tally, uint64_t config_index, const struct error *error)
{
    if (tally->invalid++ == 0 || config_index < tally->first_invalid) {
        tally->first_invalid = config_index;
        tally->invalid_error = *error;
    }
}

static void tally_launch(struct sweep_worker *worker)
{
    const struct config_judge *judge = worker->judge;
    const uint32_t kernel = judge->time.infeasible_kernel;
    struct occupancy occupancy;
    occupancy_compute(judge->model.limits, &judge->layer.kernels[kernel].launch, &occupancy);
    worker->tally.launches[kernel][occupancy.fault]++;
}

static enum status rate_one(struct sweep_worker *worker, const double *values, uint64_t config_index)
{
    struct sweep_tally *tally = &worker->tally;
    enum config_outcome outcome = CONFIG_OUTCOME_INVALID;
    double key = 0;
    const enum status status = config_judge_rate(worker->judge, values, &outcome, &key, &worker->error);
    if (status) {
        return status;
    }
    switch (outcome) {
    case CONFIG_OUTCOME_FEASIBLE:
        tally->feasible++;
        heap_offer(&worker->best, &(struct candidate){key, config_index});
        break;
    case CONFIG_OUTCOME_FILTERED:
        tally->filtered++;
        break;
    case CONFIG_OUTCOME_CONSTRAINT:
        tally->constraints[worker->judge->constraint]++;
        break;
    case CONFIG_OUTCOME_LAUNCH:
        tally_launch(worker);
        break;
    case CONFIG_OUTCOME_INVALID:
        tally_invalid(tally, config_index, &worker->judge->error);
        break;
    }
    return STATUS_OK;
}

static enum status rate_range(struct sweep_worker *worker, const struct config_space *space,
                              const struct sweep_order *order, uint64_t begin, uint64_t end)
{
    struct odometer odometer;
    odometer_set(&odometer, space, order, begin);
    for (uint64_t position = begin; position < end; position++) {
        const enum status status = rate_one(worker, odometer.values, odometer.config_index);
        if (status) {
            return status;
        }
        odometer_advance(&odometer);
    }
    return STATUS_OK;
}

static enum status check_request(const struct sweep_request *request, struct error *error)
{
    if (request->top_count < 1 || request->top_count > SWEEP_TOP_MAX) {
        return error_set(error, STATUS_USAGE, "%zu configurations to keep, expected 1 to %d", request->top_count,
                         SWEEP_TOP_MAX);
    }
    if (request->thread_count > SWEEP_THREADS_MAX) {
        return error_set(error, STATUS_USAGE, "%u threads, expected at most %d", request->thread_count,
                         SWEEP_THREADS_MAX);
    }
    if (request->objective != SWEEP_OBJECTIVE_THROUGHPUT) {
        return STATUS_OK;
    }
    if (!(request->concurrency >= 1)) {
        return error_set(error, STATUS_USAGE, "throughput at a concurrency of %g, expected at least 1",
                         request->concurrency);
    }
    for (uint32_t i = 0; i < request->varied_count; i++) {
        const struct scenario_variable *variable = scenario_variable_get(request->scenario, request->varied[i]);
        if (!variable->is_knob) {
            return error_set(error, STATUS_USAGE,
                             "throughput is anchored at a measured step of one workload, so %s"
                             " cannot be varied with it",
                             variable->name);
        }
    }
    return STATUS_OK;
}

static unsigned thread_count_for(const struct sweep_request *request, uint64_t chunk_count)
{
    unsigned threads = request->thread_count ? request->thread_count : (unsigned)omp_get_num_procs();
    threads = threads > SWEEP_THREADS_MAX ? SWEEP_THREADS_MAX : threads;
    return threads > chunk_count ? (unsigned)chunk_count : threads;
}

static void set_chunks(struct sweep_state *state)
{
    const uint64_t configs = state->space.config_count;
    const unsigned threads = thread_count_for(&state->request, configs);
    const uint64_t even = configs / ((uint64_t)threads * CHUNKS_PER_THREAD);
    state->chunk_configs = even < 1 ? 1 : even > CHUNK_CONFIGS_MAX ? CHUNK_CONFIGS_MAX : even;
    state->chunk_count = (configs + state->chunk_configs - 1) / state->chunk_configs;
    state->worker_count = thread_count_for(&state->request, state->chunk_count);
}

static enum status create_workers(struct sweep_state *state, struct error *error)
{
    state->workers = calloc(state->worker_count, sizeof *state->workers);
    if (!state->workers) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %u threads", state->worker_count);
    }
    const uint64_t configs = state->space.config_count;
    const size_t capacity = state->request.top_count < configs ? state->request.top_count : (size_t)configs;
    for (unsigned i = 0; i < state->worker_count; i++) {
        struct sweep_worker *worker = &state->workers[i];
        const enum status status = config_judge_create(&state->request, &worker->judge, error);
        if (status) {
            return status;
        }
        worker->best.capacity = capacity;
        worker->best.items = calloc(capacity, sizeof *worker->best.items);
        if (!worker->best.items) {
            return error_set(error, STATUS_NO_MEMORY, "no memory to keep %zu configurations", capacity);
        }
    }
    return STATUS_OK;
}

/* Time of turning one digit back and forth: expressions that do not use it are not evaluated again. */
static double turning_cost_s(struct sweep_state *state, uint32_t digit)
{
    const struct scenario_variable *variable = scenario_variable_get(state->space.scenario, state->space.varied[digit]);
    struct config_judge *judge = state->workers[0].judge;
    double values[CONFIG_VARIABLES_MAX];
    config_space_values(&state->space, 0, values);
    for (uint32_t i = 0; i < state->space.varied_count; i++) { /* corners, such as splits of 1, are not typical */
        const struct scenario_variable *other = scenario_variable_get(state->space.scenario, state->space.varied[i]);
        values[state->space.varied[i]] = other->values[other->value_count / 2];
    }
    const uint32_t turns = 256, first = variable->value_count / 2;
    const double begin_s = clock_now_s();
    for (uint32_t i = 0; i < turns; i++) {
        enum config_outcome outcome;
        double key;
        struct error ignored = {0};
        values[state->space.varied[digit]] = variable->values[(first + i) % variable->value_count];
        if (config_judge_rate(judge, values, &outcome, &key, &ignored)) {
            break; /* the sweep itself will meet the error and report it */
        }
    }
    return clock_now_s() - begin_s;
}

/* Only speed depends on the order: results are sorted by configuration index. */
static void choose_order(struct sweep_state *state)
{
    double cost_s[CONFIG_VARIABLES_MAX] = {0};
    const uint32_t count = state->space.varied_count;
    for (uint32_t i = 0; i < count; i++) {
        state->order.digits[i] = i;
    }
    if (state->space.config_count <= SMALL_SPACE) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        cost_s[i] = turning_cost_s(state, i);
        for (int repeat = 1; repeat < COST_REPEATS; repeat++) { /* the least disturbed one counts */
            cost_s[i] = fmin(cost_s[i], turning_cost_s(state, i));
        }
    }
    for (uint32_t i = 1; i < count; i++) { /* insertion sort, dearest first */
        const uint32_t digit = state->order.digits[i];
        uint32_t k = i;
        for (; k > 0 && cost_s[state->order.digits[k - 1]] < cost_s[digit]; k--) {
            state->order.digits[k] = state->order.digits[k - 1];
        }
        state->order.digits[k] = digit;
    }
}

static void report_progress(const struct sweep_request *request, double *last_s, uint64_t done, uint64_t total)
{
    const double now_s = clock_now_s();
    if (now_s - *last_s >= PROGRESS_INTERVAL_S) {
        *last_s = now_s;
        request->progress(request->progress_context, done, total);
    }
}

static void run_workers(struct sweep_state *state)
{
    const uint64_t total = state->space.config_count;
    uint64_t done = 0;
    int stop = 0;
    double last_s = clock_now_s();
#pragma omp parallel num_threads(state->worker_count) default(none) shared(state, done, stop, last_s, total)
    {
        const int thread = omp_get_thread_num();
        struct sweep_worker *worker = &state->workers[thread];
#pragma omp for schedule(dynamic, 1)
        for (uint64_t chunk = 0; chunk < state->chunk_count; chunk++) {
            int stopped;
#pragma omp atomic read
            stopped = stop;
            if (stopped) {
                continue;
            }
            const uint64_t begin = chunk * state->chunk_configs;
            const uint64_t left = total - begin;
            const uint64_t size = left < state->chunk_configs ? left : state->chunk_configs;
            if (rate_range(worker, &state->space, &state->order, begin, begin + size)) {
#pragma omp atomic write
                stop = 1;
            }
            uint64_t now_done;
#pragma omp atomic capture
            now_done = done += size;
            if (thread == 0 && state->request.progress) {
                report_progress(&state->request, &last_s, now_done, total);
            }
        }
    }
}

static enum status worker_failure(const struct sweep_state *state, struct error *error)
{
    for (unsigned i = 0; i < state->worker_count; i++) {
        if (state->workers[i].error.status) {
            if (error) {
                *error = state->workers[i].error;
            }
            return state->workers[i].error.status;
        }
    }
    return STATUS_OK;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static void release_state(struct sweep_state *state)
{
    for (unsigned i = 0; state->workers && i < state->worker_count; i++) {
        config_judge_free(state->workers[i].judge);
        free(state->workers[i].best.items);
    }
    free(state->workers);
}

static enum status prepare(const struct sweep_request *request, struct sweep_state *state, struct error *error)
{
    enum status status = check_request(request, error);
    if (status) {
        return status;
    }
    state->request = *request;
    memcpy(state->values, request->values, scenario_variable_count(request->scenario) * sizeof *request->values);
    state->request.values = state->values;
    const long concurrency = scenario_concurrency_variable(request->scenario);
    if (request->objective == SWEEP_OBJECTIVE_THROUGHPUT && concurrency >= 0) {
        state->values[concurrency] = request->concurrency;
    }
    status = config_space_init(&state->space, request->scenario, request->varied, request->varied_count, state->values,
                               request->config_limit ? request->config_limit : SWEEP_CONFIG_LIMIT, error);
    if (status) {
        return status;
    }
    set_chunks(state);
    return create_workers(state, error);
}

enum status config_sweep_run(const struct sweep_request *request, struct sweep_result *result, struct error *error)
{
    struct sweep_state state = {0};
    memset(result, 0, sizeof *result);
    enum status status = prepare(request, &state, error);
    if (!status) {
        choose_order(&state);
        run_workers(&state);
        status = worker_failure(&state, error);
    }
    if (!status && request->progress) {
        request->progress(request->progress_context, state.space.config_count, state.space.config_count);
    }
    result->space = state.space;
    if (!status) {
        status = config_sweep_set_reasons(&state, result, error);
    }
    if (!status) {
        status = config_sweep_set_details(&state, result, error);
    }
    release_state(&state);
    if (status) {
        config_sweep_release(result);
    }
    return status;
}

void config_sweep_release(struct sweep_result *result)
{
    free(result->entries);
    free(result->reasons);
    memset(result, 0, sizeof *result);
}
