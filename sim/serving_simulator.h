/* SPDX-License-Identifier: GPL-3.0-or-later
 * Continuous batching as discrete events: requests arrive, wait, have their prompt read in chunks and produce tokens
 * one step after the other, under a batch limit, a token budget and a KV capacity. What a step takes is the caller's
 * business. The rules are in docs/MODEL.md, section SERVE; the terms in docs/GLOSSARY.md. One run is one thread. */
#ifndef OCCAM_SIM_SERVING_SIMULATOR_H
#define OCCAM_SIM_SERVING_SIMULATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "sim/arrivals.h"
#include "sim/queue_history.h"

/* What one step has to do. */
struct serving_step {
    uint64_t requests;          /* in the step, decoding or reading their prompt; at least 1 */
    uint64_t batch;             /* the same, padded to the next captured size */
    uint64_t decoding_requests; /* of these, the ones that were past their prompt before the step */
    uint64_t prefill_tokens;    /* prompt tokens read in this step, recomputed ones included */
    uint64_t context_tokens;    /* KV entries of all requests of the step before it */
};

/* Duration of a step in seconds, above 0 and finite (anything else ends the run with STATUS_DOMAIN). */
struct step_time_source {
    double (*step_time_s)(void *context, const struct serving_step *step);
    void *context;
};

enum serving_metric {
    SERVING_TTFT,
    SERVING_ITL,
    SERVING_TPOT,
    SERVING_E2E,
    SERVING_WAIT, /* from arrival to the first step that works on the request */
    SERVING_METRIC_COUNT
};
/* "ttft", "itl", "tpot", "e2e", "wait"; static. */
const char *serving_metric_name(enum serving_metric metric);

enum {
    SERVING_LIMITS_MAX = 8,
    SERVING_CAPTURED_MAX = 512
};

/* metric's quantile, or its mean (quantile NaN), is to stay within limit_s. */
struct serving_limit {
    enum serving_metric metric;
    double quantile; /* 0..1; NaN = mean */
    double limit_s;
};

enum serving_event {
    SERVING_EVENT_ARRIVAL,
    SERVING_EVENT_REJECTION,
    SERVING_EVENT_START, /* first work on a request, also after a preemption; at the beginning of a step */
    SERVING_EVENT_PREEMPTION,
    SERVING_EVENT_TOKENS, /* one or more tokens, at the end of a step */
    SERVING_EVENT_END     /* its last token */
};

struct serving_config {
    uint64_t concurrency;        /* closed loop: requests in the system, >= 1; 0: open loop */
    uint64_t max_batch;          /* requests of a step, >= 1 */
    uint64_t step_token_budget;  /* tokens of a step: one per decoding request, the rest prompts; >= max_batch;
                                    0 = no limit */
    uint64_t kv_capacity_tokens; /* 0 = no limit */
    uint64_t kv_block_tokens;    /* KV entries are given out in blocks of this many; >= 1 */
    uint32_t captured_count;     /* batch sizes that steps are padded to, ascending; 0 = no padding */
    uint64_t captured_sizes[SERVING_CAPTURED_MAX];
    double tokens_per_step;   /* per decoding request, >= 1: without drafts every step gives this many on average, the
                                 fraction kept for later steps */
    uint32_t draft_tokens;    /* speculation: tokens proposed per step; 0 = none, then the above holds */
    double acceptance;        /* probability that a draft token holds, given that those before it do; 0..1 */
    uint64_t warmup_requests; /* the first that arrive count in no latency and no goodput */
    double horizon_s;         /* the run ends here at the latest; INFINITY = no end */
    uint64_t queue_limit;     /* open loop: the run ends as soon as more requests wait than this; 0 = no limit */
    uint64_t seed;            /* of the accepted draft tokens */
    uint32_t limit_count;
    struct serving_limit limits[SERVING_LIMITS_MAX];
    /* Told of every event in the order of time; NULL = nobody is. request counts arrivals from 0. */
    void (*observe)(void *context, enum serving_event event, double time_s, uint64_t request, uint64_t tokens);
    void *observe_context;
};
/* Everything off: open loop, batch 256, no budget, no KV limit, one token per step, no horizon, no limit of the queue.
 */
struct serving_config serving_config_default(void);

struct latency_summary {
    uint64_t count;
    double mean_s, p50_s, p90_s, p99_s, maximum_s; /* NaN without samples */
};

struct serving_outcome {
    double duration_s;
    bool horizon_reached;      /* requests were left */
    bool queue_limit_reached;  /* the run ended because of it */
    bool unstable;             /* waiting requests grew throughout the arrivals (eq. SERVE-14) */
    double queue_growth_per_s; /* waiting requests per second, over the later arrivals */
    uint64_t steps;
    /* requests: arrived = rejected + completed + unfinished */
    uint64_t arrived, rejected_kv, rejected_empty, completed, unfinished;
    uint64_t preemptions;
    /* output tokens: of arrived and not rejected requests = emitted + outstanding */
    uint64_t output_tokens, outstanding_tokens;
    uint64_t prompt_tokens;     /* read, without what was read again */
    uint64_t recomputed_tokens; /* read again after a preemption */
    double output_tokens_per_s, total_tokens_per_s, requests_per_s;
    double goodput_requests_per_s, goodput_tokens_per_s; /* eq. SERVE-11; as above without limits */
    double within_limits_fraction;                       /* of completed requests that count; NaN if there are none */
    double busy_fraction;                                /* of the duration that steps took */
    double mean_batch;                                   /* requests in the step, over the time that steps took */
    double mean_waiting, mean_running, mean_in_system;   /* over the duration */
    double little_error;                                 /* relative, of eq. SERVE-13 */
    double kv_mean_tokens;
    uint64_t kv_peak_tokens;
    uint64_t peak_in_system; /* what memory grows with */
    struct latency_summary latency[SERVING_METRIC_COUNT];
    double limit_values_s[SERVING_LIMITS_MAX];
    bool limits_met; /* all of them, the load is stable, the queue kept its limit and nothing was rejected for want of
                        KV; true without limits */
    struct queue_history history;
};

/* Runs until all requests are done, or to the horizon. A closed loop ends when a request ends and there is none to take
 * its place, so that it never runs with fewer (eq. SERVE-4).
 * STATUS_DOMAIN: a configuration out of range, an impossible step time; STATUS_BAD_DATA: arrivals that go back in time;
 * STATUS_NO_MEMORY; whatever the source says; STATUS_INTERNAL if the books do not balance. */
MUST_CHECK enum status serving_simulate(const struct serving_config *config, const struct step_time_source *steps,
                                        const struct arrival_source *arrivals, struct serving_outcome *result,
                                        struct error *error);

struct rate_search {
    double tolerance;     /* relative width at which the search ends, 1e-4..0.5 */
    double lowest_per_s;  /* highest rate seen to hold; 0: none was found */
    double highest_per_s; /* least rate seen to fail; INFINITY: none was found */
    uint32_t trials;
    bool bounded; /* both ends are known and within the tolerance */
};

/* Highest arrival rate at which the limits are met, by doubling or halving from the plan's rate and bisection in the
 * logarithm; the same requests in the same pattern at every rate. Every trial ends at the latest when horizon_factor
 * times the time of its arrivals is over. *result is that of the highest rate that holds (else of the last one tried).
 */
MUST_CHECK enum status serving_find_rate(const struct serving_config *config, const struct step_time_source *steps,
                                         const struct arrival_plan *plan, double horizon_factor,
                                         struct rate_search *search, struct serving_outcome *result,
                                         struct error *error);

#endif
