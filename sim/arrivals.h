/* SPDX-License-Identifier: GPL-3.0-or-later
 * Where requests come from: random processes with random lengths, or whoever can hand out one request after the other.
 * Same plan, same requests, on every machine. */
#ifndef OCCAM_SIM_ARRIVALS_H
#define OCCAM_SIM_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "base/status.h"

struct request_arrival {
    double time_s; /* from the start of the simulation; not looked at in a closed loop */
    uint64_t input_tokens, output_tokens;
};

/* Hands out the next request, in the order of arrival; *more false when there is none. */
struct arrival_source {
    enum status (*next)(void *context, struct request_arrival *arrival, bool *more, struct error *error);
    void *context;
};

enum arrival_process {
    ARRIVAL_CLOSED, /* a new request as soon as one ends */
    ARRIVAL_POISSON,
    ARRIVAL_GAMMA /* gaps with a given coefficient of variation; 1 is Poisson again */
};

/* Token counts of a request, of the given mean (eq. SERVE-3). */
enum length_spread {
    LENGTH_FIXED,
    LENGTH_UNIFORM,  /* 1 to 2 mean - 1 */
    LENGTH_GEOMETRIC /* 1, 2, ...; memoryless */
};
/* "fixed", ...; static. */
const char *length_spread_name(enum length_spread spread);
enum {
    LENGTH_SPREAD_COUNT = LENGTH_GEOMETRIC + 1
};
#define REQUEST_TOKENS_MAX 1e9 /* tokens of one request, prompt or output */

struct arrival_plan {
    enum arrival_process process;
    double rate_per_s; /* mean; above 0 unless closed */
    double gap_cv;     /* GAMMA: standard deviation of the gaps / their mean, 0.01..100 */
    uint64_t request_count;
    double input_tokens, output_tokens; /* means, whole numbers 1..REQUEST_TOKENS_MAX */
    enum length_spread input_spread, output_spread;
    uint64_t seed;
};

/* Gaps and lengths are drawn from streams of their own, gaps in units of the mean gap: another rate stretches the same
 * pattern of the same requests. */
struct arrival_generator {
    struct arrival_plan plan;
    struct random_stream gaps, inputs, outputs;
    double unit_time; /* of the last arrival, in mean gaps */
    uint64_t produced;
};

/* STATUS_DOMAIN names what is out of range. */
MUST_CHECK enum status arrival_generator_init(struct arrival_generator *generator, const struct arrival_plan *plan,
                                              struct error *error);
/* The source borrows the generator. */
struct arrival_source arrival_generator_source(struct arrival_generator *generator);

#endif
