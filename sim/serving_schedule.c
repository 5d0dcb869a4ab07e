/* SPDX-License-Identifier: GPL-3.0-or-later
 * Who is in the next step: decoding requests first, then prompts in the order of arrival, as far as batch, token budget
 * and KV capacity allow (eq. SERVE-5..8). */
#include <stdlib.h>
#include <string.h>

#include "sim/serving_state_private.h"

static enum status no_memory(const struct serving_state *state)
{
    unsigned long long requests = state->waiting_count + state->running_count;

    return error_set(state->error, STATUS_NO_MEMORY, "memory ran out with %llu requests in the system", requests);
}

enum status schedule_init(struct serving_state *state)
{
    const struct serving_config *config = state->config;

    state->running = calloc((size_t)config->max_batch, sizeof *state->running);
    state->kv_blocks_total = config->kv_capacity_tokens / config->kv_block_tokens;
    return state->running == NULL ? no_memory(state) : STATUS_OK;
}

void schedule_release(struct serving_state *state)
{
    free(state->pool);
    free(state->free_slots);
    free(state->waiting);
    free(state->running);
}

static bool pool_grow(struct serving_state *state)
{
    uint32_t capacity = state->pool_capacity > 0 ? 2 * state->pool_capacity : 64;
    struct serving_request *pool;
    uint32_t *slots;

    if (capacity <= state->pool_capacity)
        return false;
    pool = realloc(state->pool, (size_t)capacity * sizeof *pool);
    if (pool == NULL)
        return false;
    state->pool = pool;
    slots = realloc(state->free_slots, (size_t)capacity * sizeof *slots);
    if (slots == NULL)
        return false;
    state->free_slots = slots;
    state->pool_capacity = capacity;
    return true;
}

static bool waiting_grow(struct serving_state *state)
{
    uint64_t capacity = state->waiting_capacity > 0 ? 2 * state->waiting_capacity : 64;
    uint32_t *grown = malloc((size_t)capacity * sizeof *grown);

    if (grown == NULL)
        return false;
    for (uint64_t i = 0; i < state->waiting_count; i++)
        grown[i] = state->waiting[(state->waiting_first + i) & (state->waiting_capacity - 1)];
    free(state->waiting);
    state->waiting = grown;
    state->waiting_first = 0;
    state->waiting_capacity = capacity;
    return true;
}

static uint64_t blocks(const struct serving_state *state, uint64_t tokens)
{
    uint64_t size = state->config->kv_block_tokens;

    return size == 1 ? tokens : tokens / size + (tokens % size > 0); /* a division per token would be felt */
}

/* Entries that a request must be able to hold to get through one more step. */
static uint64_t entries_ahead(const struct serving_request *request, uint64_t entries)
{
    uint64_t most = request->input_tokens + request->output_tokens;

    return entries < most ? entries : most;
}

static bool reserve(struct serving_state *state, struct serving_request *request, uint64_t entries)
{
    uint64_t ahead = entries_ahead(request, entries), wanted;

    if (state->kv_blocks_total == 0 || ahead <= request->kv_blocks * state->config->kv_block_tokens)
        return true;
    wanted = blocks(state, ahead);
    if (wanted - request->kv_blocks > state->kv_blocks_total - state->kv_blocks_used)
        return false;
    state->kv_blocks_used += wanted - request->kv_blocks;
    request->kv_blocks = wanted;
    return true;
}

static void give_back(struct serving_state *state, struct serving_request *request)
{
    state->kv_blocks_used -= request->kv_blocks;
    state->kv_tokens -= request->computed;
    request->kv_blocks = request->computed = 0;
}

/* Whether the request can never run. */
static bool reject(struct serving_state *state, const struct request_arrival *arrival)
{
    struct serving_outcome *result = state->result;
    uint64_t total = arrival->input_tokens + arrival->output_tokens;

    if (arrival->input_tokens == 0 || arrival->output_tokens == 0)
        result->rejected_empty++;
    else if (state->config->kv_capacity_tokens > 0 && blocks(state, total) > state->kv_blocks_total)
        result->rejected_kv++;
    else
        return false;
    return true;
}

enum status schedule_arrival(struct serving_state *state, const struct request_arrival *arrival)
{
    uint64_t number = state->result->arrived++;
    uint32_t slot;

    serving_tell(state, SERVING_EVENT_ARRIVAL, number, arrival->output_tokens);
    if (reject(state, arrival)) {
        serving_tell(state, SERVING_EVENT_REJECTION, number, arrival->output_tokens);
        return STATUS_OK;
    }
    if (state->free_count == 0 && state->pool_used == state->pool_capacity && !pool_grow(state))
        return no_memory(state);
    /* Every request in the system must find room to wait: preemption cannot fail. */
    if (state->waiting_count + state->running_count >= state->waiting_capacity && !waiting_grow(state))
        return no_memory(state);
    slot = state->free_count > 0 ? state->free_slots[--state->free_count] : state->pool_used++;
    state->pool[slot] = (struct serving_request){.number = number,
                                                 .arrival_s = state->now_s,
                                                 .queued_s = state->now_s,
                                                 .input_tokens = arrival->input_tokens,
                                                 .output_tokens = arrival->output_tokens,
                                                 .to_read = arrival->input_tokens,
                                                 .counts = number >= state->config->warmup_requests};
    state->waiting[(state->waiting_first + state->waiting_count++) & (state->waiting_capacity - 1)] = slot;
    state->injected_tokens += arrival->output_tokens;
    state->injected_prompt_tokens += arrival->input_tokens;
    if (state->waiting_count + state->running_count > state->result->peak_in_system)
        state->result->peak_in_system = state->waiting_count + state->running_count;
    return STATUS_OK;
}

/* The newest running request gives its KV back and waits before all others; what it has is computed again (SERVE-8). */
static void preempt_newest(struct serving_state *state)
{
    uint32_t slot = state->running[--state->running_count];
    struct serving_request *request = &state->pool[slot];

    request->furthest = request->computed > request->furthest ? request->computed : request->furthest;
    give_back(state, request);
    request->to_read = request->input_tokens + request->emitted;
    request->in_step = false;
    request->queued_s = state->now_s;
    state->waiting_first = (state->waiting_first - 1) & (state->waiting_capacity - 1);
    state->waiting[state->waiting_first] = slot;
    state->waiting_count++;
    state->preempted = true;
    state->result->preemptions++;
    serving_tell(state, SERVING_EVENT_PREEMPTION, request->number, 0);
}

static uint64_t most_tokens_per_step(const struct serving_config *config)
{
    if (config->draft_tokens > 0)
        return (uint64_t)config->draft_tokens + 1;
    return (uint64_t)config->tokens_per_step + ((double)(uint64_t)config->tokens_per_step < config->tokens_per_step);
}

/* Decoding requests, oldest first. A preempted one is behind those already looked at. */
static void choose_decoding(struct serving_state *state, struct serving_step *step)
{
    uint64_t most = most_tokens_per_step(state->config);

    for (uint32_t i = 0; i < state->running_count; i++) {
        struct serving_request *request = &state->pool[state->running[i]];

        request->in_step = false;
        request->chunk = 0;
        if (request->computed < request->to_read)
            continue;
        while (i < state->running_count && !reserve(state, request, request->computed + most))
            preempt_newest(state);
        if (i >= state->running_count)
            return;
        request->in_step = true;
        step->decoding_requests++;
        step->context_tokens += request->computed;
    }
}

static void choose_chunk(struct serving_request *request, uint64_t *budget, struct serving_step *step)
{
    uint64_t rest = request->to_read - request->computed;

    request->chunk = rest < *budget ? rest : *budget;
    request->in_step = request->chunk > 0;
    *budget -= request->chunk;
    step->prefill_tokens += request->chunk;
    step->requests += request->in_step;
    step->context_tokens += request->in_step ? request->computed : 0;
}

static void admit(struct serving_state *state, uint64_t *budget, struct serving_step *step)
{
    while (*budget > 0 && state->waiting_count > 0 && state->running_count < state->config->max_batch) {
        uint32_t slot = state->waiting[state->waiting_first];
        struct serving_request *request = &state->pool[slot];

        if (!reserve(state, request, request->to_read + 1))
            return;
        state->waiting_first = (state->waiting_first + 1) & (state->waiting_capacity - 1);
        state->waiting_count--;
        state->running[state->running_count++] = slot;
        books_start(state, request);
        choose_chunk(request, budget, step);
    }
}

/* Eq. SERVE-6. */
static uint64_t padded(const struct serving_config *config, uint64_t requests)
{
    uint32_t lo = 0, hi = config->captured_count;

    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;

        if (config->captured_sizes[middle] < requests)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < config->captured_count ? config->captured_sizes[lo] : requests;
}

void schedule_step(struct serving_state *state, struct serving_step *step)
{
    uint64_t budget = state->config->step_token_budget > 0 ? state->config->step_token_budget : UINT64_MAX;

    *step = (struct serving_step){0};
    state->preempted = false;
    choose_decoding(state, step);
    step->requests = step->decoding_requests;
    budget -= step->decoding_requests;
    for (uint32_t i = 0; i < state->running_count && budget > 0; i++) {
        struct serving_request *request = &state->pool[state->running[i]];

        if (request->computed < request->to_read)
            choose_chunk(request, &budget, step);
    }
    if (!state->preempted)
        admit(state, &budget, step);
    step->batch = padded(state->config, step->requests);
}

void schedule_finish(struct serving_state *state, uint32_t place)
{
    uint32_t slot = state->running[place];

    give_back(state, &state->pool[slot]);
    state->free_slots[state->free_count++] = slot;
}
