/* SPDX-License-Identifier: GPL-3.0-or-later
 * The search itself: threads take contiguous ranges of a mixed-radix counter whose cheapest digit turns fastest, keep a
 * bounded heap each, and the heaps are merged in an order that does not depend on who found what. */
#include "calibrate/config_sweep.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/config_judge.h"

enum {
    CHUNK_CONFIGS_MAX = 8192,
    CHUNKS_PER_THREAD = 16,
    COST_REPEATS = 3,
    SMALL_SPACE = 65536, /* not worth measuring which digit is cheap */
    LAUNCH_FAULT_KINDS = LAUNCH_FAULT_GRID + 1
};
static const double PROGRESS_INTERVAL_S = 0.1;

static double monotonic_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- the best so far: a heap with the worst on top ---------------------------------------------------------------- */

struct candidate {
    double key;
    uint64_t config_index;
};

struct best_heap {
    struct candidate *items;
    size_t count, capacity;
};

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

static int compare_candidates(const void *left, const void *right)
{
    return is_worse(left, right) ? 1 : is_worse(right, left) ? -1 : 0;
}

/* --- one thread --------------------------------------------------------------------------------------------------- */

struct sweep_tally {
    uint64_t feasible, filtered;
    uint64_t constraints[SCENARIO_REQUIRE_MAX];
    uint64_t launches[KERNELS_PER_LAYER_MAX][LAUNCH_FAULT_KINDS];
    uint64_t invalid, first_invalid; /* the example shown is the one with the lowest index */
    struct error invalid_error;
};

struct sweep_worker {
    struct config_judge *judge;
    struct best_heap best;
    struct sweep_tally tally;
    struct error error;
};

/* Order in which the counter turns: digits[0] slowest. */
struct sweep_order {
    uint32_t digits[CONFIG_VARIABLES_MAX];
};

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

/* --- the whole ---------------------------------------------------------------------------------------------------- */

struct sweep_state {
    struct sweep_request request; /* a copy that points at values */
    double values[CONFIG_VARIABLES_MAX];
    struct config_space space;
    struct sweep_order order;
    unsigned worker_count;
    struct sweep_worker *workers;
    uint64_t chunk_configs, chunk_count;
};

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
    const double begin_s = monotonic_s();
    for (uint32_t i = 0; i < turns; i++) {
        enum config_outcome outcome;
        double key;
        struct error ignored = {0};
        values[state->space.varied[digit]] = variable->values[(first + i) % variable->value_count];
        if (config_judge_rate(judge, values, &outcome, &key, &ignored)) {
            break; /* the sweep itself will meet the error and report it */
        }
    }
    return monotonic_s() - begin_s;
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
    const double now_s = monotonic_s();
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
    double last_s = monotonic_s();
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

/* --- result ------------------------------------------------------------------------------------------------------- */

static void merge_tallies(const struct sweep_state *state, struct sweep_tally *sum)
{
    memset(sum, 0, sizeof *sum);
    for (unsigned i = 0; i < state->worker_count; i++) {
        const struct sweep_tally *tally = &state->workers[i].tally;
        sum->feasible += tally->feasible;
        sum->filtered += tally->filtered;
        for (int k = 0; k < SCENARIO_REQUIRE_MAX; k++) {
            sum->constraints[k] += tally->constraints[k];
        }
        for (int k = 0; k < KERNELS_PER_LAYER_MAX; k++) {
            for (int fault = 0; fault < LAUNCH_FAULT_KINDS; fault++) {
                sum->launches[k][fault] += tally->launches[k][fault];
            }
        }
        if (tally->invalid && (!sum->invalid || tally->first_invalid < sum->first_invalid)) {
            sum->first_invalid = tally->first_invalid;
            sum->invalid_error = tally->invalid_error;
        }
        sum->invalid += tally->invalid;
    }
}

static void add_reason(struct sweep_result *result, enum sweep_reason_kind kind, uint64_t count, const char *subject,
                       const char *text)
{
    if (!count) {
        return;
    }
    struct sweep_reason *reason = &result->reasons[result->reason_count++];
    *reason = (struct sweep_reason){.kind = kind, .count = count, .subject = subject};
    snprintf(reason->text, sizeof reason->text, "%s", text);
    result->infeasible_count += count;
    for (; reason > result->reasons && reason[-1].count < reason->count; reason--) {
        const struct sweep_reason moved = *reason;
        *reason = reason[-1];
        reason[-1] = moved;
    }
}

static enum status set_reasons(const struct sweep_state *state, struct sweep_result *result, struct error *error)
{
    struct sweep_tally sum;
    merge_tallies(state, &sum);
    if (sum.invalid && !sum.feasible && !sum.filtered) { /* nothing could be rated: that is a mistake in the input */
        if (error) {
            *error = sum.invalid_error;
        }
        return sum.invalid_error.status;
    }
    const struct scenario *scenario = state->request.scenario;
    const size_t most = SCENARIO_REQUIRE_MAX + KERNELS_PER_LAYER_MAX * LAUNCH_FAULT_KINDS + 1;
    result->reasons = calloc(most, sizeof *result->reasons);
    if (!result->reasons) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the reasons");
    }
    result->feasible_count = sum.feasible;
    result->filtered_count = sum.filtered;
    for (size_t i = 0; i < scenario_constraint_count(scenario); i++) {
        const struct scenario_constraint *constraint = scenario_constraint_get(scenario, i);
        add_reason(result, SWEEP_REASON_CONSTRAINT, sum.constraints[i], constraint->expression, constraint->why);
    }
    for (size_t i = 0; i < scenario_kernel_count(scenario); i++) {
        for (int fault = 0; fault < LAUNCH_FAULT_KINDS; fault++) {
            add_reason(result, SWEEP_REASON_LAUNCH, sum.launches[i][fault], scenario_kernel_name(scenario, i),
                       launch_fault_text((enum launch_fault)fault));
        }
    }
    char text[1200];
    add_reason(result, SWEEP_REASON_INVALID, sum.invalid, "",
               sum.invalid ? error_describe(&sum.invalid_error, text, sizeof text) : "");
    return STATUS_OK;
}

/* One list out of all heaps, best first, at most top_count. */
static enum status merge_heaps(const struct sweep_state *state, struct candidate **merged, size_t *count,
                               struct error *error)
{
    size_t total = 0;
    for (unsigned i = 0; i < state->worker_count; i++) {
        total += state->workers[i].best.count;
    }
    *merged = calloc(total ? total : 1, sizeof **merged);
    if (!*merged) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to merge %zu configurations", total);
    }
    size_t filled = 0;
    for (unsigned i = 0; i < state->worker_count; i++) {
        const struct best_heap *heap = &state->workers[i].best;
        if (heap->count) {
            memcpy(*merged + filled, heap->items, heap->count * sizeof **merged);
        }
        filled += heap->count;
    }
    qsort(*merged, total, sizeof **merged, compare_candidates);
    *count = total < state->request.top_count ? total : state->request.top_count;
    return STATUS_OK;
}

/* The base knobs with the workload of `values`, whether or not `where` lets them pass: reference has no `where`.
 * False when they cannot be launched. */
static bool rate_base(struct config_judge *reference, const double *values, double *base, double *key)
{
    const struct scenario *scenario = reference->request->scenario;
    scenario_base_values(scenario, base);
    for (size_t i = scenario_knob_count(scenario); i < scenario_variable_count(scenario); i++) {
        base[i] = values[i];
    }
    enum config_outcome outcome = CONFIG_OUTCOME_INVALID;
    struct error ignored = {0};
    return !config_judge_rate(reference, base, &outcome, key, &ignored) && outcome == CONFIG_OUTCOME_FEASIBLE;
}

static double base_speed(struct config_judge *reference, const double *values)
{
    double base[CONFIG_VARIABLES_MAX], key;
    if (!rate_base(reference, values, base, &key)) {
        return NAN;
    }
    return reference->request->objective == SWEEP_OBJECTIVE_THROUGHPUT ? 1 / reference->base_step_s
                                                                       : 1 / reference->time.time_s;
}

static double entry_speed(const struct sweep_request *request, const struct sweep_entry *entry)
{
    return request->objective == SWEEP_OBJECTIVE_THROUGHPUT ? 1 / entry->serving.step_time_s : 1 / entry->layer.time_s;
}

/* VAR-10: is the difference of two objectives within the interval of that difference? */
static bool is_tie(const struct candidate *best, const struct candidate *other, const double *best_sensitivity,
                   const double *sensitivity, double residual, double z)
{
    if (best->key == other->key) {
        return true;
    }
    if (residual == 0) {
        return false; /* the objective is exact, or nothing is known of its error */
    }
    double variance = residual * residual;
    for (int i = 0; i < SWEEP_DIRECTION_COUNT; i++) {
        const double difference = sensitivity[i] - best_sensitivity[i];
        variance += difference * difference;
    }
    return log(other->key / best->key) <= z * sqrt(variance);
}

static enum status describe_entries(const struct sweep_state *state, struct config_judge *reference,
                                    const struct candidate *candidates, struct sweep_result *result,
                                    struct error *error)
{
    struct config_judge *judge = state->workers[0].judge;
    double best_sensitivity[SWEEP_DIRECTION_COUNT] = {0}, best_residual = 0;
    for (size_t i = 0; i < result->entry_count; i++) {
        struct sweep_entry *entry = &result->entries[i];
        double values[CONFIG_VARIABLES_MAX] = {0}, sensitivity[SWEEP_DIRECTION_COUNT], key;
        enum config_outcome outcome;
        config_space_values(&state->space, candidates[i].config_index, values);
        const enum status status = config_judge_rate(judge, values, &outcome, &key, error);
        if (status) {
            return status;
        }
        if (outcome != CONFIG_OUTCOME_FEASIBLE || key != candidates[i].key) {
            BUG("configuration %llu rated twice: %.17g, then %.17g", (unsigned long long)candidates[i].config_index,
                candidates[i].key, key);
        }
        config_judge_describe(judge, values, candidates[i].config_index, key, entry);
        config_judge_sensitivity(judge, sensitivity);
        const double residual = config_judge_residual(judge);
        if (i == 0) {
            memcpy(best_sensitivity, sensitivity, sizeof sensitivity);
            best_residual = residual;
        } else {
            entry->tie = is_tie(&candidates[0], &candidates[i], best_sensitivity, sensitivity,
                                fmax(residual, best_residual), judge->model.interval_z);
        }
        entry->gain_fraction = entry_speed(&state->request, entry) / base_speed(reference, values) - 1;
    }
    return STATUS_OK;
}

static enum status set_entries(const struct sweep_state *state, struct config_judge *reference,
                               struct sweep_result *result, struct error *error)
{
    struct candidate *candidates = NULL;
    size_t count = 0;
    enum status status = merge_heaps(state, &candidates, &count, error);
    if (!status) {
        result->entries = calloc(count ? count : 1, sizeof *result->entries);
        if (!result->entries) {
            status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu configurations", count);
        }
    }
    if (!status) {
        result->entry_count = count;
        status = describe_entries(state, reference, candidates, result, error);
    }
    free(candidates);
    return status;
}

static enum status set_details(const struct sweep_state *state, struct sweep_result *result, struct error *error)
{
    struct sweep_request request = state->request;
    request.where = NULL;
    struct config_judge *reference = NULL;
    enum status status = config_judge_create(&request, &reference, error);
    if (status) {
        return status;
    }
    double values[CONFIG_VARIABLES_MAX] = {0}, key = 0;
    result->base_feasible = rate_base(reference, request.values, values, &key);
    if (result->base_feasible) {
        config_judge_describe(reference, values, UINT64_MAX, key, &result->base);
        result->base.gain_fraction = 0;
    }
    status = set_entries(state, reference, result, error);
    config_judge_free(reference);
    return status;
}

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
        status = set_reasons(&state, result, error);
    }
    if (!status) {
        status = set_details(&state, result, error);
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
