/* SPDX-License-Identifier: GPL-3.0-or-later
 * Highest arrival rate that keeps the limits (eq. SERVE-15). */
#include <math.h>

#include "sim/serving_simulator.h"

enum {
    BRACKET_TRIALS = 60,
    SEARCH_TRIALS = 120
};

struct rate_trial {
    const struct serving_config *config;
    const struct step_time_source *steps;
    struct arrival_plan plan;
    double horizon_factor;
};

static enum status try_rate(struct rate_trial *trial, double rate, struct rate_search *search,
                            struct serving_outcome *result, bool *holds, struct error *error)
{
    struct serving_config config = *trial->config;
    struct arrival_generator generator;
    struct arrival_source arrivals;
    enum status status;

    trial->plan.rate_per_s = rate;
    config.horizon_s = fmin(config.horizon_s, trial->horizon_factor * (double)trial->plan.request_count / rate);
    status = arrival_generator_init(&generator, &trial->plan, error);
    if (status != STATUS_OK)
        return status;
    arrivals = arrival_generator_source(&generator);
    status = serving_simulate(&config, trial->steps, &arrivals, result, error);
    *holds = status == STATUS_OK && result->limits_met && !result->horizon_reached && !result->queue_limit_reached;
    search->trials++;
    if (*holds)
        search->lowest_per_s = fmax(search->lowest_per_s, rate);
    else
        search->highest_per_s = fmin(search->highest_per_s, rate);
    return status;
}

static enum status check_search(const struct serving_config *config, const struct arrival_plan *plan,
                                double horizon_factor, double tolerance, struct error *error)
{
    if (config->concurrency > 0 || plan->process == ARRIVAL_CLOSED)
        return error_set(error, STATUS_DOMAIN, "a closed loop has no arrival rate to search for");
    if (config->limit_count == 0)
        return error_set(error, STATUS_DOMAIN, "a search for the highest rate needs limits to keep");
    if (!(tolerance >= 1e-4 && tolerance <= 0.5) || !(horizon_factor > 1.0))
        return error_set(error, STATUS_DOMAIN, "the search ends within 0.0001 to 0.5, not %g", tolerance);
    return STATUS_OK;
}

enum status serving_find_rate(const struct serving_config *config, const struct step_time_source *steps,
                              const struct arrival_plan *plan, double horizon_factor, struct rate_search *search,
                              struct serving_outcome *result, struct error *error)
{
    struct rate_trial trial = {.config = config, .steps = steps, .plan = *plan, .horizon_factor = horizon_factor};
    double rate = plan->rate_per_s, shown = 0.0;
    bool holds = false;
    enum status status = check_search(config, plan, horizon_factor, search->tolerance, error);

    search->lowest_per_s = 0.0;
    search->highest_per_s = (double)INFINITY;
    search->trials = 0;
    search->bounded = false;
    while (status == STATUS_OK && search->trials < SEARCH_TRIALS) {
        status = try_rate(&trial, rate, search, result, &holds, error);
        shown = rate;
        if (search->lowest_per_s > 0.0 && isfinite(search->highest_per_s)) {
            search->bounded = search->highest_per_s <= search->lowest_per_s * (1.0 + search->tolerance);
            rate = sqrt(search->lowest_per_s * search->highest_per_s);
        } else if (search->trials >= BRACKET_TRIALS || (!holds && result->peak_in_system <= 1)) {
            break; /* requests that never meet gain nothing by coming more slowly */
        } else {
            rate = holds ? 2.0 * rate : 0.5 * rate;
        }
        if (search->bounded)
            break;
    }
    /* The figures are those of the rate that is reported. */
    if (status == STATUS_OK && search->lowest_per_s > 0.0 && shown != search->lowest_per_s)
        status = try_rate(&trial, search->lowest_per_s, search, result, &holds, error);
    return status;
}
