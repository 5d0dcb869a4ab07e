/* SPDX-License-Identifier: GPL-3.0-or-later
 * Arrival processes and request lengths (eq. SERVE-1..3). */
#include "sim/arrivals.h"

#include <math.h>

enum {
    STREAM_GAPS = 101,
    STREAM_INPUTS,
    STREAM_OUTPUTS
};
#define GAP_CV_LEAST   0.01
#define GAP_CV_LARGEST 100.0

const char *length_spread_name(enum length_spread spread)
{
    static const char *const names[LENGTH_SPREAD_COUNT] = {"fixed", "uniform", "geometric"};

    return names[spread];
}

/* Uniform in (0, 1]: its logarithm is finite. */
static double positive_uniform(struct random_stream *stream)
{
    return 1.0 - random_uniform(stream);
}

/* Gamma variate of this shape and scale 1: G. Marsaglia, W. W. Tsang, ACM TOMS 26 (2000) 363; shapes under 1 by the
 * power of a uniform (section 6 there), in logarithms because the power underflows for small shapes. */
static double random_gamma(struct random_stream *stream, double shape)
{
    double boost = shape < 1.0 ? exp(log(positive_uniform(stream)) / shape) : 1.0;
    double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);

    for (;;) {
        double x = random_normal(stream), v = 1.0 + c * x;

        if (v <= 0.0)
            continue;
        v = v * v * v;
        if (log(positive_uniform(stream)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v * boost;
    }
}

/* One gap in units of the mean gap (eq. SERVE-1, SERVE-2). */
static double unit_gap(struct arrival_generator *generator)
{
    double shape;

    switch (generator->plan.process) {
    case ARRIVAL_POISSON:
        return -log(positive_uniform(&generator->gaps));
    case ARRIVAL_GAMMA:
        shape = 1.0 / (generator->plan.gap_cv * generator->plan.gap_cv);
        return random_gamma(&generator->gaps, shape) / shape;
    case ARRIVAL_CLOSED:
    default:
        return 0.0;
    }
}

/* Eq. SERVE-3. */
static uint64_t length_draw(struct random_stream *stream, enum length_spread spread, double mean)
{
    double drawn = mean;

    if (spread == LENGTH_UNIFORM)
        drawn = 1.0 + floor(random_uniform(stream) * (2.0 * mean - 1.0));
    else if (spread == LENGTH_GEOMETRIC && mean > 1.0)
        drawn = 1.0 + floor(log(positive_uniform(stream)) / log1p(-1.0 / mean));
    return (uint64_t)fmin(drawn, 64.0 * REQUEST_TOKENS_MAX);
}

static enum status generator_next(void *context, struct request_arrival *arrival, bool *more, struct error *error)
{
    struct arrival_generator *generator = context;
    const struct arrival_plan *plan = &generator->plan;

    (void)error;
    *more = generator->produced < plan->request_count;
    if (!*more)
        return STATUS_OK;
    generator->produced++;
    generator->unit_time += unit_gap(generator);
    arrival->time_s = plan->process == ARRIVAL_CLOSED ? 0.0 : generator->unit_time / plan->rate_per_s;
    arrival->input_tokens = length_draw(&generator->inputs, plan->input_spread, plan->input_tokens);
    arrival->output_tokens = length_draw(&generator->outputs, plan->output_spread, plan->output_tokens);
    return STATUS_OK;
}

static bool is_length(double mean)
{
    return mean >= 1.0 && mean <= REQUEST_TOKENS_MAX && mean == floor(mean);
}

enum status arrival_generator_init(struct arrival_generator *generator, const struct arrival_plan *plan,
                                   struct error *error)
{
    if (plan->process != ARRIVAL_CLOSED && !(plan->rate_per_s > 0.0 && isfinite(plan->rate_per_s)))
        return error_set(error, STATUS_DOMAIN, "an arrival rate above 0 is expected, not %g per second",
                         plan->rate_per_s);
    if (plan->process == ARRIVAL_GAMMA && !(plan->gap_cv >= GAP_CV_LEAST && plan->gap_cv <= GAP_CV_LARGEST))
        return error_set(error, STATUS_DOMAIN, "the gaps' coefficient of variation %g is not within %g to %g",
                         plan->gap_cv, GAP_CV_LEAST, GAP_CV_LARGEST);
    if (!is_length(plan->input_tokens) || !is_length(plan->output_tokens))
        return error_set(error, STATUS_DOMAIN, "requests have 1 to %g prompt and output tokens, whole numbers",
                         REQUEST_TOKENS_MAX);
    if (plan->request_count == 0)
        return error_set(error, STATUS_DOMAIN, "at least one request is expected");
    *generator = (struct arrival_generator){.plan = *plan};
    random_init(&generator->gaps, plan->seed, STREAM_GAPS);
    random_init(&generator->inputs, plan->seed, STREAM_INPUTS);
    random_init(&generator->outputs, plan->seed, STREAM_OUTPUTS);
    return STATUS_OK;
}

struct arrival_source arrival_generator_source(struct arrival_generator *generator)
{
    return (struct arrival_source){.next = generator_next, .context = generator};
}
