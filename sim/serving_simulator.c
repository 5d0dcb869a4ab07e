/* SPDX-License-Identifier: GPL-3.0-or-later
 * The run: arrivals up to the end of the step, then what the step brings, then the next step (eq. SERVE-4..10). */
#include "sim/serving_simulator.h"

#include <math.h>
#include <stdlib.h>

#include "sim/serving_state_private.h"

enum {
    STREAM_ACCEPTANCE = 104,
    BATCH_MAX = 1 << 20,
    DRAFT_TOKENS_MAX = 64
};
#define TOKENS_PER_STEP_MAX 64.0
#define TIME_MAX_S          1e15 /* ends a run whose step times are absurd while differences of times still mean something */

struct serving_run {
    struct serving_state state;
    const struct step_time_source *steps;
    const struct arrival_source *arrivals;
    struct request_arrival next;
    bool has_next, done;
    uint64_t taken; /* requests taken from the source */
};

const char *serving_metric_name(enum serving_metric metric)
{
    static const char *const names[SERVING_METRIC_COUNT] = {"ttft", "itl", "tpot", "e2e", "wait"};

    return names[metric];
}

struct serving_config serving_config_default(void)
{
    return (struct serving_config){
        .max_batch = 256, .kv_block_tokens = 1, .tokens_per_step = 1.0, .horizon_s = (double)INFINITY};
}

static enum status check_sizes(const struct serving_config *config, struct error *error)
{
    if (config->max_batch < 1 || config->max_batch > BATCH_MAX)
        return error_set(error, STATUS_DOMAIN, "the largest batch is 1 to %d requests", BATCH_MAX);
    if (config->step_token_budget > 0 && config->step_token_budget < config->max_batch)
        return error_set(error, STATUS_DOMAIN,
                         "the token budget of a step, %llu, must hold one token for each of %llu requests",
                         (unsigned long long)config->step_token_budget, (unsigned long long)config->max_batch);
    if (config->kv_block_tokens < 1)
        return error_set(error, STATUS_DOMAIN, "a KV block holds at least one token");
    if (config->captured_count > SERVING_CAPTURED_MAX || config->limit_count > SERVING_LIMITS_MAX)
        return error_set(error, STATUS_DOMAIN, "at most %d captured sizes and %d limits", SERVING_CAPTURED_MAX,
                         SERVING_LIMITS_MAX);
    for (uint32_t i = 0; i < config->captured_count; i++)
        if (config->captured_sizes[i] < 1 || (i > 0 && config->captured_sizes[i] <= config->captured_sizes[i - 1]))
            return error_set(error, STATUS_DOMAIN, "captured sizes must rise from at least 1");
    return STATUS_OK;
}

static enum status check_config(const struct serving_config *config, struct error *error)
{
    if (!(config->tokens_per_step >= 1.0 && config->tokens_per_step <= TOKENS_PER_STEP_MAX))
        return error_set(error, STATUS_DOMAIN, "tokens per step and request are 1 to %g, not %g", TOKENS_PER_STEP_MAX,
                         config->tokens_per_step);
    if (config->draft_tokens > DRAFT_TOKENS_MAX || !(config->acceptance >= 0.0 && config->acceptance <= 1.0))
        return error_set(error, STATUS_DOMAIN, "at most %d draft tokens, accepted with a probability of 0 to 1",
                         DRAFT_TOKENS_MAX);
    if (!(config->horizon_s > 0.0))
        return error_set(error, STATUS_DOMAIN, "the horizon lies after the start");
    for (uint32_t i = 0; i < config->limit_count; i++) {
        const struct serving_limit *limit = &config->limits[i];

        if (!(limit->limit_s > 0.0) || limit->quantile < 0.0 || limit->quantile > 1.0)
            return error_set(error, STATUS_DOMAIN, "the limit of %s is above 0 s, its quantile 0 to 1",
                             serving_metric_name(limit->metric));
    }
    return check_sizes(config, error);
}

/* Looks one request ahead. */
static enum status fetch(struct serving_run *run)
{
    double before = run->next.time_s;
    enum status status = run->arrivals->next(run->arrivals->context, &run->next, &run->has_next, run->state.error);

    if (status != STATUS_OK || !run->has_next)
        return status;
    run->taken++;
    if (run->state.config->concurrency > 0)
        return STATUS_OK;
    if (!(run->next.time_s >= 0.0) || isinf(run->next.time_s))
        return error_set(run->state.error, STATUS_BAD_DATA, "request %llu arrives at %g s",
                         (unsigned long long)run->taken, run->next.time_s);
    if (run->next.time_s < before)
        return error_set(run->state.error, STATUS_BAD_DATA,
                         "request %llu arrives at %.9g s, before the one ahead of it at %.9g s",
                         (unsigned long long)run->taken, run->next.time_s, before);
    return STATUS_OK;
}

static bool is_queue_full(const struct serving_state *state)
{
    const uint64_t limit = state->config->queue_limit;

    return limit > 0 && state->waiting_count > limit;
}

/* Every arrival up to and including until_s, each at its own time; the run is done where too many wait (eq. SERVE-16).
 */
static enum status take_arrivals(struct serving_run *run, double until_s)
{
    enum status status = STATUS_OK;

    bool had_next = run->has_next;

    while (status == STATUS_OK && run->has_next && run->next.time_s <= until_s) {
        status = books_advance(&run->state, run->next.time_s);
        run->state.last_arrival_s = run->next.time_s;
        if (status == STATUS_OK)
            status = schedule_arrival(&run->state, &run->next);
        if (status == STATUS_OK && is_queue_full(&run->state)) {
            run->state.result->queue_limit_reached = run->done = true;
            return STATUS_OK;
        }
        if (status == STATUS_OK)
            status = fetch(run);
    }
    if (status == STATUS_OK && had_next && !run->has_next)
        books_judge_growth(&run->state);
    return status;
}

/* Closed loop (eq. SERVE-4): as many requests as there is room for; out of requests, the run ends. */
static enum status refill(struct serving_run *run)
{
    struct serving_state *state = &run->state;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && state->waiting_count + state->running_count < state->config->concurrency) {
        if (!run->has_next) {
            run->done = true;
            return STATUS_OK;
        }
        status = schedule_arrival(state, &run->next);
        if (status == STATUS_OK)
            status = fetch(run);
    }
    return status;
}

/* Tokens of one request in one step: drafts hold up to the first that does not (eq. SERVE-9). */
static uint64_t tokens_of_step(struct serving_state *state, struct serving_request *request)
{
    const struct serving_config *config = state->config;
    uint64_t tokens = 1, left = request->output_tokens - request->emitted;

    if (config->draft_tokens > 0) {
        while (tokens <= config->draft_tokens && random_uniform(&state->random) < config->acceptance)
            tokens++;
    } else if (config->tokens_per_step > 1.0) {
        request->credit += config->tokens_per_step;
        tokens = (uint64_t)(request->credit + 1e-9);
        request->credit -= (double)tokens;
    }
    return tokens < left ? tokens : left;
}

static void read_prompt(struct serving_state *state, struct serving_request *request)
{
    uint64_t before = request->computed, after = before + request->chunk, furthest = request->furthest;
    uint64_t known = before > furthest ? before : furthest;
    uint64_t end = after < request->input_tokens ? after : request->input_tokens;

    request->computed = after;
    state->kv_tokens += request->chunk;
    state->result->prompt_tokens += end > known ? end - known : 0;
    if (furthest > before)
        state->result->recomputed_tokens += (after < furthest ? after : furthest) - before;
}

/* What the step brings to one request; whether it has ended. */
static bool work_request(struct serving_state *state, struct serving_request *request, double begin_s,
                         double step_time_s)
{
    /* The step's own time, not a difference of clock readings: equal steps give equal gaps. */
    double gap_s = request->last_token_s == begin_s ? step_time_s : state->now_s - request->last_token_s;
    uint64_t tokens = 1;

    if (request->chunk > 0) {
        read_prompt(state, request);
        if (request->computed < request->to_read)
            return false;
    } else {
        tokens = tokens_of_step(state, request);
        request->computed += tokens;
        state->kv_tokens += tokens;
    }
    books_tokens(state, request, tokens, gap_s);
    return request->emitted == request->output_tokens;
}

static void finish_step(struct serving_state *state, double begin_s, double step_time_s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < state->running_count; i++) {
        struct serving_request *request = &state->pool[state->running[i]];

        if (request->in_step && work_request(state, request, begin_s, step_time_s)) {
            books_end(state, request);
            schedule_finish(state, i);
        } else {
            state->running[kept++] = state->running[i];
        }
    }
    state->running_count = kept;
}

static enum status stop_at_horizon(struct serving_run *run)
{
    double horizon = run->state.config->horizon_s;
    enum status status = run->state.config->concurrency > 0 ? STATUS_OK : take_arrivals(run, horizon);

    if (status != STATUS_OK || run->done)
        return status;
    run->state.result->horizon_reached = run->done = true;
    return books_advance(&run->state, horizon);
}

static enum status idle(struct serving_run *run)
{
    if (!run->has_next || run->state.config->concurrency > 0) {
        run->done = true;
        return STATUS_OK;
    }
    if (run->next.time_s > run->state.config->horizon_s)
        return stop_at_horizon(run);
    return take_arrivals(run, run->next.time_s);
}

/* The run ends in the middle of a step, at the horizon or where too many requests wait: of the step only its time
 * counts.
 */
static enum status cut_step(struct serving_run *run, const struct serving_step *step, double begin_s)
{
    struct serving_state *state = &run->state;
    enum status status = run->done ? STATUS_OK : stop_at_horizon(run);

    exact_sum_add(&state->busy_s, state->now_s - begin_s);
    exact_sum_add(&state->batch_s, (state->now_s - begin_s) * (double)step->requests);
    return status;
}

static enum status one_step(struct serving_run *run)
{
    struct serving_state *state = &run->state;
    struct serving_step step;
    double begin = state->now_s, step_time, end;
    enum status status;

    schedule_step(state, &step);
    if (step.requests == 0)
        return idle(run);
    step_time = run->steps->step_time_s(run->steps->context, &step);
    end = begin + step_time;
    if (!(step_time > 0.0) || !(end <= TIME_MAX_S) || !(end > begin))
        return error_set(state->error, STATUS_DOMAIN,
                         "a step of %llu requests with %llu prompt tokens takes %g s after %g s: not a time to go on "
                         "from",
                         (unsigned long long)step.requests, (unsigned long long)step.prefill_tokens, step_time, begin);
    if (state->kv_tokens > state->result->kv_peak_tokens)
        state->result->kv_peak_tokens = state->kv_tokens;
    if (end > state->config->horizon_s)
        return cut_step(run, &step, begin);
    status = state->config->concurrency > 0 ? STATUS_OK : take_arrivals(run, end);
    if (status == STATUS_OK && run->done)
        return cut_step(run, &step, begin);
    if (status == STATUS_OK)
        status = books_advance(state, end);
    if (status != STATUS_OK)
        return status;
    books_step(state, &step, step_time);
    finish_step(state, begin, step_time);
    if (state->kv_tokens > state->result->kv_peak_tokens)
        state->result->kv_peak_tokens = state->kv_tokens;
    return state->config->concurrency > 0 ? refill(run) : STATUS_OK;
}

static enum status refuse_closed_loop(const struct serving_state *state)
{
    const struct serving_outcome *result = state->result;
    const unsigned long long asked = state->config->concurrency, arrived = result->arrived;

    return error_set(
        state->error, STATUS_DOMAIN,
        "%llu requests at a time cannot run: of %llu that there are, %llu are longer than the KV cache and "
        "%llu have no prompt or output tokens",
        asked, arrived, (unsigned long long)result->rejected_kv, (unsigned long long)result->rejected_empty);
}

static enum status begin_run(struct serving_run *run)
{
    struct serving_state *state = &run->state;
    enum status status = schedule_init(state);

    random_init(&state->random, state->config->seed, STREAM_ACCEPTANCE);
    if (status == STATUS_OK)
        status = fetch(run);
    if (status == STATUS_OK && state->config->concurrency > 0)
        status = refill(run);
    if (status == STATUS_OK && run->done)
        status = refuse_closed_loop(state);
    return status;
}

enum status serving_simulate(const struct serving_config *config, const struct step_time_source *steps,
                             const struct arrival_source *arrivals, struct serving_outcome *result, struct error *error)
{
    struct serving_run *run = calloc(1, sizeof *run);
    enum status status;

    if (run == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the simulator");
    *result = (struct serving_outcome){0};
    *run = (struct serving_run){
        .state = {.config = config, .error = error, .result = result}, .steps = steps, .arrivals = arrivals};
    status = check_config(config, error);
    if (status == STATUS_OK)
        status = begin_run(run);
    while (status == STATUS_OK && !run->done)
        status = one_step(run);
    if (status == STATUS_OK)
        status = books_close(&run->state);
    schedule_release(&run->state);
    books_release(&run->state);
    free(run);
    return status;
}
