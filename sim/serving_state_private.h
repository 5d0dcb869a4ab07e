/* SPDX-License-Identifier: GPL-3.0-or-later
 * Inside of the serving simulator: the state that scheduling, the run and the books share. */
#ifndef OCCAM_SIM_SERVING_STATE_PRIVATE_H
#define OCCAM_SIM_SERVING_STATE_PRIVATE_H

#include "base/random.h"
#include "sim/latency_sketch.h"
#include "sim/serving_simulator.h"

struct serving_request {
    /* what every step looks at, first */
    uint64_t computed;  /* KV entries it holds */
    uint64_t to_read;   /* prompt, and after a preemption the tokens already given, that precede the next token */
    uint64_t kv_blocks; /* reserved */
    uint64_t chunk;     /* prompt tokens of the step in progress */
    uint64_t input_tokens, output_tokens, emitted;
    double last_token_s;
    bool in_step, started, counts;
    double credit;   /* fraction of a token that earlier steps left over */
    uint64_t number; /* arrivals counted from 0 */
    double arrival_s, queued_s, start_s, first_token_s;
    uint64_t furthest; /* most entries it held before a preemption */
    uint64_t late_gaps[SERVING_LIMITS_MAX];
};

/* A sum that keeps its rounding error (Neumaier). */
struct exact_sum {
    double sum, rest;
};
void exact_sum_add(struct exact_sum *sum, double term);
double exact_sum_value(const struct exact_sum *sum);

struct serving_state {
    const struct serving_config *config;
    struct error *error;
    double now_s;
    struct random_stream random;
    struct serving_request *pool; /* grows with the requests in the system */
    uint32_t *free_slots;
    uint32_t pool_capacity, pool_used, free_count;
    uint32_t *waiting; /* ring */
    uint64_t waiting_first, waiting_count, waiting_capacity;
    uint32_t *running; /* in the order of admission */
    uint32_t running_count;
    uint64_t kv_blocks_used, kv_blocks_total;
    uint64_t kv_tokens; /* entries computed, all running requests */
    bool preempted;     /* in the step being put together */
    /* books */
    struct exact_sum in_system_s, waiting_s, sojourn_s, queued_s, running_s, batch_s, busy_s, kv_s;
    double last_arrival_s;
    bool growth_judged;
    uint64_t good_requests, good_tokens, counted_requests;
    uint64_t injected_tokens, injected_prompt_tokens;
    double pending_gap_s; /* inter-token gaps not yet in their sketch */
    uint64_t pending_gaps;
    struct latency_sketch sketches[SERVING_METRIC_COUNT];
    struct serving_outcome *result;
};

/* ---- serving_schedule.c */
MUST_CHECK enum status schedule_init(struct serving_state *state);
void schedule_release(struct serving_state *state);
/* Puts an arrived request behind the others; rejects (and counts) one that can never run. */
MUST_CHECK enum status schedule_arrival(struct serving_state *state, const struct request_arrival *arrival);
/* Chooses what the next step does; step->requests is 0 when nothing waits and nothing runs. */
void schedule_step(struct serving_state *state, struct serving_step *step);
/* Gives back slot and KV of running[place]; the caller closes the gap. */
void schedule_finish(struct serving_state *state, uint32_t place);

/* ---- serving_books.c */
/* Moves the clock; going back is our own mistake (STATUS_INTERNAL). */
MUST_CHECK enum status books_advance(struct serving_state *state, double to_s);
void books_start(struct serving_state *state, struct serving_request *request);
/* A step that ended now. */
void books_step(struct serving_state *state, const struct serving_step *step, double step_time_s);
/* tokens new tokens of a request at the present time; gap_s since the last, not looked at for the first. */
void books_tokens(struct serving_state *state, struct serving_request *request, uint64_t tokens, double gap_s);
/* Whether the queue grew throughout the arrivals; asked when the last is in, before the queue drains. */
void books_judge_growth(struct serving_state *state);
void books_end(struct serving_state *state, const struct serving_request *request);
/* Closes the books over what is still in the system and fills in the result. */
MUST_CHECK enum status books_close(struct serving_state *state);
void books_release(struct serving_state *state);

static inline void serving_tell(const struct serving_state *state, enum serving_event event, uint64_t request,
                                uint64_t tokens)
{
    if (state->config->observe != NULL)
        state->config->observe(state->config->observe_context, event, state->now_s, request, tokens);
}

#endif
