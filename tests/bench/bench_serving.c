/* SPDX-License-Identifier: GPL-3.0-or-later
 * A million requests through the serving simulator: seconds, steps per second, and the memory that it took. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/serving_simulator.h"

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The line of the golden scenario, and 40 us for each prompt token. */
static double step_time(void *context, const struct serving_step *step)
{
    (void)context;
    return 0.018 + 0.00105 * (double)step->batch + 40e-6 * (double)step->prefill_tokens;
}

int main(void)
{
    static struct serving_outcome result;
    struct serving_config config = serving_config_default();
    struct arrival_plan plan = {.process = ARRIVAL_POISSON,
                                .rate_per_s = 3.0,
                                .request_count = 1000000,
                                .input_tokens = 500,
                                .output_tokens = 200,
                                .input_spread = LENGTH_UNIFORM,
                                .output_spread = LENGTH_UNIFORM,
                                .seed = 1};
    struct step_time_source steps = {.step_time_s = step_time};
    struct arrival_generator generator;
    struct error error = {0};
    struct rusage usage;

    config.step_token_budget = 2048;
    config.kv_capacity_tokens = 200000;
    double begin = seconds_now();
    if (arrival_generator_init(&generator, &plan, &error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return EXIT_FAILURE;
    }
    struct arrival_source arrivals = arrival_generator_source(&generator);
    if (serving_simulate(&config, &steps, &arrivals, &result, &error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return EXIT_FAILURE;
    }
    double seconds = seconds_now() - begin;
    getrusage(RUSAGE_SELF, &usage);
    double processor_s = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
    printf("serving simulator: %llu requests of 200 tokens in %.2f s, %.2f s of a processor (limit 10 s), %.1f million "
           "steps/s of %.0f requests, "
           "at most %llu requests in the system, peak memory %.1f MB\n",
           (unsigned long long)result.completed, seconds, processor_s, 1e-6 * (double)result.steps / processor_s,
           result.mean_batch, (unsigned long long)result.peak_in_system, (double)usage.ru_maxrss / 1e3);
    return EXIT_SUCCESS;
}
