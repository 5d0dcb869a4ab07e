/* SPDX-License-Identifier: GPL-3.0-or-later
 * What `occam simulate serving` is asked, and its parts: options, step times, report. */
#ifndef OCCAM_CLI_SIMULATE_SERVING_H
#define OCCAM_CLI_SIMULATE_SERVING_H

#include "cli/options.h"
#include "cli/question.h"
#include "cli/throughput_curve.h"
#include "sim/serving_simulator.h"

enum {
    SERVING_GRID_MAX = 64 /* concurrencies at which a changed configuration is predicted; linear in between */
};

struct serving_options {
    struct question_options question;
    const char *arrivals, *trace, *lengths, *step, *measured, *limits, *find, *queue;
    double rate_per_s, gap_cv, prefill_us_per_token, context_ns_per_token, acceptance, horizon_s, tolerance, speed;
    uint64_t concurrency, requests, input_tokens, output_tokens, seed, seeds, max_batch, token_budget, kv_tokens,
        kv_block, queue_limit, context_reference, draft_tokens, warmup;
    struct number_list captured;
    bool skip_bad;
};

/* Seconds of a step from the law, a prediction or measured points, with what prompts and contexts add (eq. SERVE-7). */
struct serving_step_times {
    const struct step_time_law *law; /* NULL: the points below */
    uint32_t count;
    double batches[SERVING_POINTS_MAX], times_s[SERVING_POINTS_MAX]; /* ascending batches */
    double measured_lo, measured_hi;                                 /* batches that were measured; NaN: none */
    double prefill_s_per_token, context_s_per_token, context_reference_tokens;
    uint64_t steps, outside; /* steps asked for; those outside the measured batches */
    char basis[512];
};

/* Everything about one run besides its seed. */
struct serving_setup {
    struct serving_options options;
    struct question question;
    struct serving_config config;
    struct arrival_plan plan;
    bool from_trace;
    struct serving_step_times times;
    const char *arrivals_name;
};

/* What came of a run. */
struct serving_answer {
    struct serving_outcome result;
    uint64_t seed, skipped_lines;
    char first_skipped[1200];
    double outside_fraction;
    struct rate_search search; /* trials 0: nothing was searched */
};

/* ---- simulate_serving_options.c */
MUST_CHECK enum status serving_options_read(int argc, char **argv, struct serving_setup *setup,
                                            struct operands *operands, struct error *error);
/* Arrivals, limits and the simulator's configuration; the question is open. */
MUST_CHECK enum status serving_setup_make(struct serving_setup *setup, struct error *error);

/* ---- simulate_serving_steps.c */
MUST_CHECK enum status serving_step_times_make(struct serving_setup *setup, struct error *error);
double serving_step_time(void *context, const struct serving_step *step);

/* ---- simulate_serving_report.c */
MUST_CHECK enum status serving_report(const struct serving_setup *setup, const struct serving_answer *answers,
                                      size_t count, struct error *error);
MUST_CHECK enum status serving_queue_write(const struct serving_outcome *result, const char *path, struct error *error);

#endif
