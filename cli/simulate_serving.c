/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam simulate serving`: requests through continuous batching, step by step. Runs of several seeds share nothing and
 * are done in parallel; a run itself is one thread, so threads change no digit. */
#include "cli/simulate_serving.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output_check.h"
#include "cli/simulate.h"
#include "evidence/serving/request_trace.h"

/* A trial of a search is given up when it takes this many times as long as its arrivals should: loads that can be
 * served take hardly more than once. */
#define HORIZON_FACTOR 10.0

struct trace_source {
    struct request_trace *trace;
    double speed;
};

static enum status trace_next(void *context, struct request_arrival *arrival, bool *more, struct error *error)
{
    struct trace_source *source = context;
    struct traced_request request;
    enum status status = request_trace_next(source->trace, &request, more, error);

    if (status == STATUS_OK && *more)
        *arrival = (struct request_arrival){.time_s = request.arrival_s / source->speed,
                                            .input_tokens = request.input_tokens,
                                            .output_tokens = request.output_tokens};
    return status;
}

static enum status run_trace(const struct serving_setup *setup, const struct serving_config *config,
                             const struct step_time_source *steps, struct serving_answer *answer, struct error *error)
{
    struct trace_source source = {.speed = setup->options.speed};
    struct arrival_source arrivals = {.next = trace_next, .context = &source};
    enum status status = request_trace_open(setup->options.trace, setup->options.skip_bad, &source.trace, error);
    const char *first;

    if (status != STATUS_OK)
        return status;
    status = serving_simulate(config, steps, &arrivals, &answer->result, error);
    answer->skipped_lines = request_trace_skipped(source.trace, &first);
    (void)snprintf(answer->first_skipped, sizeof answer->first_skipped, "%s", first);
    request_trace_free(source.trace);
    return status;
}

static enum status run_plan(const struct arrival_plan *plan, const struct serving_config *config,
                            const struct step_time_source *steps, struct serving_answer *answer, struct error *error)
{
    struct arrival_generator generator;
    struct arrival_source arrivals;
    enum status status = arrival_generator_init(&generator, plan, error);

    if (status != STATUS_OK)
        return status;
    arrivals = arrival_generator_source(&generator);
    return serving_simulate(config, steps, &arrivals, &answer->result, error);
}

/* One seed. Copies what a run changes. */
static enum status run_seed(const struct serving_setup *setup, uint64_t seed, struct serving_answer *answer,
                            struct error *error)
{
    struct serving_step_times times = setup->times;
    struct step_time_source steps = {.step_time_s = serving_step_time, .context = &times};
    struct serving_config config = setup->config;
    struct arrival_plan plan = setup->plan;
    enum status status;

    answer->seed = config.seed = plan.seed = seed;
    if (setup->options.find != NULL) {
        answer->search.tolerance = setup->options.tolerance;
        status = serving_find_rate(&config, &steps, &plan, HORIZON_FACTOR, &answer->search, &answer->result, error);
    } else if (setup->from_trace) {
        status = run_trace(setup, &config, &steps, answer, error);
    } else {
        status = run_plan(&plan, &config, &steps, answer, error);
    }
    answer->outside_fraction = times.steps > 0 ? (double)times.outside / (double)times.steps : 0.0;
    return status;
}

/* The error of the least seed counts, whichever thread meets one first. */
static enum status run_seeds(const struct serving_setup *setup, struct serving_answer *answers, struct error *error)
{
    long count = (long)setup->options.seeds, failed = count;

#pragma omp parallel for schedule(dynamic, 1) default(none) shared(setup, answers, count, failed, error)
    for (long i = 0; i < count; i++) {
        struct error own = {0};

        if (run_seed(setup, setup->options.seed + (uint64_t)i, &answers[i], &own) == STATUS_OK)
            continue;
#pragma omp critical
        if (i < failed) {
            failed = i;
            *error = own;
        }
    }
    return failed < count ? error->status : STATUS_OK;
}

static enum status answer_question(struct serving_setup *setup, struct error *error)
{
    struct serving_answer *answers = calloc((size_t)setup->options.seeds, sizeof *answers);
    enum status status;

    if (answers == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the runs");
    status = output_check(setup->options.queue, error);
    if (status == STATUS_OK)
        status = run_seeds(setup, answers, error);
    if (status == STATUS_OK && setup->options.queue != NULL)
        status = serving_queue_write(&answers[0].result, setup->options.queue, error);
    if (status == STATUS_OK)
        status = serving_report(setup, answers, (size_t)setup->options.seeds, error);
    free(answers);
    return status;
}

enum status simulate_serving(int argc, char **argv, struct error *error)
{
    struct serving_setup *setup = calloc(1, sizeof *setup);
    struct operands operands;
    enum status status;

    if (setup == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the question");
    status = serving_options_read(argc, argv, setup, &operands, error);
    if (status == STATUS_OK)
        status = question_open(&setup->question, operands.items[0], &setup->options.question, error);
    if (status == STATUS_OK)
        status = serving_setup_make(setup, error);
    if (status == STATUS_OK)
        status = serving_step_times_make(setup, error);
    if (status == STATUS_OK)
        status = answer_question(setup, error);
    question_release(&setup->question);
    free(setup);
    return status;
}
