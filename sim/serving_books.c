/* SPDX-License-Identifier: GPL-3.0-or-later
 * Clock, time averages, latencies, goodput, and the sums that must balance at the end (eq. SERVE-9..14). */
#include <math.h>
#include <stdio.h>

#include "sim/serving_state_private.h"

#define BALANCE_TOLERANCE    1e-9 /* rounding of compensated sums stays far below */
#define GROWTH_SHARE         0.02 /* of the later arrivals must have piled up before a load is called unstable ... */
#define GROWTH_ROOT_ARRIVALS 2.0  /* ... and more than so many square roots of all arrivals: chance alone gives one */
#define GROWTH_FACTOR        1.5

void exact_sum_add(struct exact_sum *sum, double term)
{
    double total = sum->sum + term;

    sum->rest += fabs(sum->sum) >= fabs(term) ? (sum->sum - total) + term : (term - total) + sum->sum;
    sum->sum = total;
}

double exact_sum_value(const struct exact_sum *sum)
{
    return sum->sum + sum->rest;
}

enum status books_advance(struct serving_state *state, double to_s)
{
    double span = to_s - state->now_s;

    if (!(span >= 0.0))
        return error_set(state->error, STATUS_INTERNAL, "the clock of the serving simulator went from %.17g s to %.17g",
                         state->now_s, to_s);
    if (span == 0.0)
        return STATUS_OK;
    exact_sum_add(&state->waiting_s, span * (double)state->waiting_count);
    exact_sum_add(&state->running_s, span * (double)state->running_count);
    exact_sum_add(&state->in_system_s, span * (double)(state->waiting_count + state->running_count));
    exact_sum_add(&state->kv_s, span * (double)state->kv_tokens);
    queue_history_add(&state->result->history, state->now_s, to_s, (double)state->waiting_count,
                      (double)state->running_count, (double)state->kv_tokens);
    state->now_s = to_s;
    return STATUS_OK;
}

void books_start(struct serving_state *state, struct serving_request *request)
{
    exact_sum_add(&state->queued_s, state->now_s - request->queued_s);
    if (!request->started)
        request->start_s = state->now_s;
    if (!request->started && request->counts)
        latency_sketch_add(&state->sketches[SERVING_WAIT], state->now_s - request->arrival_s, 1);
    request->started = true;
    serving_tell(state, SERVING_EVENT_START, request->number, 0);
}

void books_step(struct serving_state *state, const struct serving_step *step, double step_time_s)
{
    state->result->steps++;
    exact_sum_add(&state->busy_s, step_time_s);
    exact_sum_add(&state->batch_s, step_time_s * (double)step->requests);
}

/* Requests of a steady batch all have the same gap: it is entered once. */
static void flush_gaps(struct serving_state *state)
{
    if (state->pending_gaps > 0)
        latency_sketch_add(&state->sketches[SERVING_ITL], state->pending_gap_s, state->pending_gaps);
    state->pending_gaps = 0;
}

/* Eq. SERVE-10: tokens of one step share its gap evenly. */
static void count_gaps(struct serving_state *state, struct serving_request *request, uint64_t tokens, double gap_s)
{
    const struct serving_config *config = state->config;

    if (gap_s != state->pending_gap_s)
        flush_gaps(state);
    state->pending_gap_s = gap_s;
    state->pending_gaps += tokens;
    for (uint32_t i = 0; i < config->limit_count; i++)
        if (config->limits[i].metric == SERVING_ITL && gap_s > config->limits[i].limit_s)
            request->late_gaps[i] += tokens;
}

void books_tokens(struct serving_state *state, struct serving_request *request, uint64_t tokens, double gap_s)
{
    uint64_t gaps = tokens;

    if (request->emitted == 0) {
        request->first_token_s = state->now_s;
        if (request->counts)
            latency_sketch_add(&state->sketches[SERVING_TTFT], state->now_s - request->arrival_s, 1);
        gaps--;
    }
    if (gaps > 0 && request->counts)
        count_gaps(state, request, gaps, gap_s / (double)gaps);
    request->emitted += tokens;
    request->last_token_s = state->now_s;
    state->result->output_tokens += tokens;
    serving_tell(state, SERVING_EVENT_TOKENS, request->number, tokens);
}

static double request_tpot(const struct serving_request *request)
{
    return request->output_tokens > 1
               ? (request->last_token_s - request->first_token_s) / (double)(request->output_tokens - 1)
               : (double)NAN;
}

/* Eq. SERVE-11: whether one request by itself keeps a limit. What is not defined for it does not break one. */
static bool keeps_limit(const struct serving_request *request, const struct serving_limit *limit, uint64_t late_gaps)
{
    switch (limit->metric) {
    case SERVING_TTFT:
        return request->first_token_s - request->arrival_s <= limit->limit_s;
    case SERVING_E2E:
        return request->last_token_s - request->arrival_s <= limit->limit_s;
    case SERVING_ITL:
        if (!isnan(limit->quantile))
            return (double)late_gaps <= (1.0 - limit->quantile) * (double)(request->output_tokens - 1);
        return !(request_tpot(request) > limit->limit_s);
    case SERVING_TPOT:
        return !(request_tpot(request) > limit->limit_s);
    case SERVING_WAIT:
        return request->start_s - request->arrival_s <= limit->limit_s;
    case SERVING_METRIC_COUNT:
    default:
        BUG("no latency has the number %d", (int)limit->metric);
    }
}

void books_end(struct serving_state *state, const struct serving_request *request)
{
    double e2e_s = state->now_s - request->arrival_s, tpot_s = request_tpot(request);
    bool good = true;

    state->result->completed++;
    exact_sum_add(&state->sojourn_s, e2e_s);
    serving_tell(state, SERVING_EVENT_END, request->number, 0);
    if (!request->counts)
        return;
    latency_sketch_add(&state->sketches[SERVING_E2E], e2e_s, 1);
    if (!isnan(tpot_s))
        latency_sketch_add(&state->sketches[SERVING_TPOT], tpot_s, 1);
    for (uint32_t i = 0; i < state->config->limit_count; i++)
        good = good && keeps_limit(request, &state->config->limits[i], request->late_gaps[i]);
    state->counted_requests++;
    state->good_requests += good;
    state->good_tokens += good ? request->output_tokens : 0;
}

/* What is left counts up to now, so that Little's law holds exactly over any stretch of time. */
static void close_request(struct serving_state *state, uint32_t slot, bool waits, uint64_t *unread)
{
    const struct serving_request *request = &state->pool[slot];
    uint64_t read = request->computed > request->furthest ? request->computed : request->furthest;

    exact_sum_add(&state->sojourn_s, state->now_s - request->arrival_s);
    if (waits)
        exact_sum_add(&state->queued_s, state->now_s - request->queued_s);
    state->result->unfinished++;
    state->result->outstanding_tokens += request->output_tokens - request->emitted;
    *unread += read < request->input_tokens ? request->input_tokens - read : 0;
}

static double relative_difference(double left, double right)
{
    double scale = fmax(fabs(left), fabs(right));

    return scale > 0.0 ? fabs(left - right) / scale : 0.0;
}

/* Eq. SERVE-13, and nothing lost and nothing served twice. */
static enum status check_balance(struct serving_state *state, uint64_t unread)
{
    struct serving_outcome *result = state->result;
    double queue_error = relative_difference(exact_sum_value(&state->waiting_s), exact_sum_value(&state->queued_s));

    result->little_error = fmax(
        queue_error, relative_difference(exact_sum_value(&state->in_system_s), exact_sum_value(&state->sojourn_s)));
    if (result->little_error > BALANCE_TOLERANCE)
        return error_set(state->error, STATUS_INTERNAL, "Little's law is off by %g in the serving simulator",
                         result->little_error);
    if (result->arrived != result->rejected_kv + result->rejected_empty + result->completed + result->unfinished ||
        state->injected_tokens != result->output_tokens + result->outstanding_tokens ||
        state->injected_prompt_tokens != result->prompt_tokens + unread)
        return error_set(state->error, STATUS_INTERNAL, "requests or tokens were lost in the serving simulator");
    return STATUS_OK;
}

/* Eq. SERVE-14. */
void books_judge_growth(struct serving_state *state)
{
    struct serving_outcome *result = state->result;
    double end = fmin(state->last_arrival_s, state->now_s), arrived = (double)result->arrived;
    double early = queue_history_waiting(&result->history, 0.25 * end, 0.5 * end);
    double late = queue_history_waiting(&result->history, 0.75 * end, end);

    if (state->config->concurrency > 0 || !(end > 0.0) || state->growth_judged)
        return;
    state->growth_judged = true;
    result->queue_growth_per_s = (late - early) / (0.5 * end);
    result->unstable = late - early > fmax(GROWTH_SHARE * 0.5 * arrived, GROWTH_ROOT_ARRIVALS * sqrt(arrived)) &&
                       late > GROWTH_FACTOR * early;
}

static void summarize(struct serving_state *state)
{
    struct serving_outcome *result = state->result;
    const struct serving_config *config = state->config;

    result->limits_met = !result->unstable && !result->queue_limit_reached && result->rejected_kv == 0;
    for (int i = 0; i < SERVING_METRIC_COUNT; i++) {
        struct latency_sketch *sketch = &state->sketches[i];

        result->latency[i] = (struct latency_summary){.count = sketch->count,
                                                      .mean_s = latency_sketch_mean(sketch),
                                                      .p50_s = latency_sketch_quantile(sketch, 0.5),
                                                      .p90_s = latency_sketch_quantile(sketch, 0.9),
                                                      .p99_s = latency_sketch_quantile(sketch, 0.99),
                                                      .maximum_s = sketch->count > 0 ? sketch->maximum : (double)NAN};
    }
    for (uint32_t i = 0; i < config->limit_count; i++) {
        const struct serving_limit *limit = &config->limits[i];
        struct latency_sketch *sketch = &state->sketches[limit->metric];
        double value =
            isnan(limit->quantile) ? latency_sketch_mean(sketch) : latency_sketch_quantile(sketch, limit->quantile);

        result->limit_values_s[i] = value;
        /* A time that no request has (one token has no gap) breaks no limit, if any request ended at all. */
        result->limits_met =
            result->limits_met && (isnan(value) ? state->counted_requests > 0 : value <= limit->limit_s);
    }
    if (config->limit_count == 0)
        result->limits_met = true;
}

static void fill_rates(struct serving_state *state)
{
    struct serving_outcome *result = state->result;
    double duration = state->now_s, busy = exact_sum_value(&state->busy_s);
    double counted = (double)state->counted_requests;
    double per_s = duration > 0.0 ? 1.0 / duration : 0.0;

    result->duration_s = duration;
    result->output_tokens_per_s = (double)result->output_tokens * per_s;
    result->total_tokens_per_s = (double)(result->output_tokens + result->prompt_tokens) * per_s;
    result->requests_per_s = (double)result->completed * per_s;
    result->goodput_requests_per_s = (double)state->good_requests * per_s;
    result->goodput_tokens_per_s = (double)state->good_tokens * per_s;
    result->within_limits_fraction = counted > 0.0 ? (double)state->good_requests / counted : (double)NAN;
    result->busy_fraction = busy * per_s;
    result->mean_batch = busy > 0.0 ? exact_sum_value(&state->batch_s) / busy : 0.0;
    result->mean_waiting = exact_sum_value(&state->waiting_s) * per_s;
    result->mean_running = exact_sum_value(&state->running_s) * per_s;
    result->mean_in_system = exact_sum_value(&state->in_system_s) * per_s;
    result->kv_mean_tokens = exact_sum_value(&state->kv_s) * per_s;
}

enum status books_close(struct serving_state *state)
{
    uint64_t unread = 0;
    enum status status;

    for (uint64_t i = 0; i < state->waiting_count; i++)
        close_request(state, state->waiting[(state->waiting_first + i) & (state->waiting_capacity - 1)], true, &unread);
    for (uint32_t i = 0; i < state->running_count; i++)
        close_request(state, state->running[i], false, &unread);
    flush_gaps(state);
    status = check_balance(state, unread);
    for (int i = 0; i < SERVING_METRIC_COUNT && status == STATUS_OK; i++)
        if (state->sketches[i].failed)
            status = error_set(state->error, STATUS_NO_MEMORY, "memory ran out for the latencies");
    if (status != STATUS_OK)
        return status;
    books_judge_growth(state);
    fill_rates(state);
    summarize(state);
    return STATUS_OK;
}

void books_release(struct serving_state *state)
{
    for (int i = 0; i < SERVING_METRIC_COUNT; i++)
        latency_sketch_release(&state->sketches[i]);
}
