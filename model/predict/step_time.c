/* SPDX-License-Identifier: GPL-3.0-or-later
 * Step-time laws, their gradients and intervals, and what they mean for throughput (docs/MODEL.md section 5). */
#include "model/predict/step_time.h"

#include <math.h>
#include <stdbool.h>

/* Touched share of the experts, 1 - (1 - k/E)^n, through expm1/log1p so that small k/E keeps its digits (STEP-8). */
static double touched_fraction(double experts, double experts_per_token, double tokens)
{
    if (!(experts > 0.0) || !(tokens > 0.0)) {
        return 0.0;
    }
    return -expm1(tokens * log1p(-experts_per_token / experts));
}

double distinct_experts(double experts, double experts_per_token, double tokens)
{
    return experts > 0.0 ? experts * touched_fraction(experts, experts_per_token, tokens) : 0.0;
}

/* The next captured size, by bisection; above the largest one nothing pads (the engine runs without graphs) (STEP-6).
 */
static double padded_size(const struct step_time_law *law, double concurrency)
{
    uint32_t low = 0, high = law->captured_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (law->captured_sizes[middle] < concurrency) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < law->captured_count ? law->captured_sizes[low] : concurrency;
}

/* Half of the members' spread counts, and everything grows by 1.4 for each doubling above the points and by 0.5 for
 * each halving below them: what held-out points of public curves call for (STEP-18, docs/VALIDATION.md). */
static const double committee_spread_share = 0.5, committee_growth_above = 1.4, committee_growth_below = 0.5;

/* One form with parameters q; k, E and the captured sizes are the law's. */
static double form_value(const struct step_time_law *law, enum step_time_form form, const double *q, double n)
{
    switch (form) {
    case STEP_TIME_LINE: /* STEP-1 */
        return q[0] + q[1] * n;
    case STEP_TIME_COVERAGE: /* STEP-2 */
        return q[0] + q[1] * touched_fraction(law->experts, law->experts_per_token, n) + q[2] * n;
    case STEP_TIME_POWER: /* STEP-3 */
        return q[0] + q[1] * pow(n, q[2]);
    case STEP_TIME_SQRT: /* STEP-4 */
        return q[0] + q[1] * sqrt(n) + q[2] * n;
    case STEP_TIME_SATURATING: /* STEP-5 */
        return q[0] + q[1] * n / (n + q[2]) + q[3] * n;
    case STEP_TIME_PADDED: /* STEP-6 */
        return q[0] + q[1] * padded_size(law, n);
    case STEP_TIME_HINGE: /* STEP-7 */
        return q[0] + q[1] * n + q[2] * fmax(0.0, n - q[3]);
    case STEP_TIME_FORM_COUNT:
    case STEP_TIME_COMMITTEE:
        break;
    }
    BUG("step-time form %d does not exist", (int)form);
}

/* Weighted mean of the members' logarithms, and their standard deviation about it (STEP-16, STEP-18). */
static double committee_log(const struct step_time_law *law, double concurrency, double *spread)
{
    double logs[STEP_TIME_MEMBERS_MAX], mean = 0.0, variance = 0.0;
    for (uint32_t i = 0; i < law->member_count; i++) {
        const struct step_time_member *member = &law->members[i];
        logs[i] = log(form_value(law, member->form, member->parameters, concurrency));
        mean += member->weight * logs[i];
    }
    for (uint32_t i = 0; i < law->member_count; i++) {
        variance += law->members[i].weight * (logs[i] - mean) * (logs[i] - mean);
    }
    *spread = sqrt(variance);
    return mean;
}

double step_time_evaluate(const struct step_time_law *law, double concurrency)
{
    double spread;
    return law->form == STEP_TIME_COMMITTEE ? exp(committee_log(law, concurrency, &spread))
                                            : form_value(law, law->form, law->parameters, concurrency);
}

void step_time_gradient(const struct step_time_law *law, double concurrency, double *gradient)
{
    const double *q = law->parameters;
    double n = concurrency;
    for (int i = 0; i < STEP_TIME_PARAMETERS_MAX; i++) {
        gradient[i] = 0.0;
    }
    gradient[0] = 1.0;
    switch (law->form) {
    case STEP_TIME_LINE:
        gradient[1] = n;
        return;
    case STEP_TIME_COVERAGE:
        gradient[1] = touched_fraction(law->experts, law->experts_per_token, n);
        gradient[2] = n;
        return;
    case STEP_TIME_POWER:
        gradient[1] = pow(n, q[2]);
        gradient[2] = q[1] * gradient[1] * log(n);
        return;
    case STEP_TIME_SQRT:
        gradient[1] = sqrt(n);
        gradient[2] = n;
        return;
    case STEP_TIME_SATURATING:
        gradient[1] = n / (n + q[2]);
        gradient[2] = -q[1] * n / ((n + q[2]) * (n + q[2]));
        gradient[3] = n;
        return;
    case STEP_TIME_PADDED:
        gradient[1] = padded_size(law, n);
        return;
    case STEP_TIME_HINGE: /* at the hinge itself the left-hand derivative */
        gradient[1] = n;
        gradient[2] = fmax(0.0, n - q[3]);
        gradient[3] = n > q[3] ? -q[2] : 0.0;
        return;
    case STEP_TIME_FORM_COUNT:
    case STEP_TIME_COMMITTEE: /* has no parameters of its own */
        break;
    }
    BUG("step-time form %d does not exist", (int)law->form);
}

/* STEP-18. */
static double committee_sigma(const struct step_time_law *law, double concurrency)
{
    double spread;
    (void)committee_log(law, concurrency, &spread);
    double above = fmax(0.0, log2(concurrency / law->fitted_hi)), below = fmax(0.0, log2(law->fitted_lo / concurrency));
    double growth = 1.0 + committee_growth_above * above + committee_growth_below * below;
    return hypot(law->relative_sigma, committee_spread_share * spread) * growth;
}

double step_time_relative_sigma(const struct step_time_law *law, double concurrency)
{
    if (law->form == STEP_TIME_COMMITTEE) {
        return committee_sigma(law, concurrency);
    }
    double gradient[STEP_TIME_PARAMETERS_MAX];
    step_time_gradient(law, concurrency, gradient);
    double variance_s2 = 0.0;
    for (int i = 0; i < STEP_TIME_PARAMETERS_MAX; i++) {
        for (int j = 0; j < STEP_TIME_PARAMETERS_MAX; j++) {
            variance_s2 += gradient[i] * law->covariance[i][j] * gradient[j];
        }
    }
    double step_time_s = step_time_evaluate(law, concurrency);
    /* Strongly correlated parameters cancel in the sum; rounding may leave it a hair below zero. */
    double parameter_part = fmax(0.0, variance_s2) / (step_time_s * step_time_s);
    return sqrt(parameter_part + law->relative_sigma * law->relative_sigma);
}

double step_time_floor(const struct serving_model *serving, double concurrency, double dram_bytes_per_s)
{
    double tokens = concurrency * serving->tokens_per_step_per_request;
    double touched = distinct_experts(serving->experts, serving->experts_per_token, tokens);
    return (serving->floor_bytes_fixed + serving->floor_bytes_per_expert * touched) / dram_bytes_per_s;
}

/* Fills every field from a center and a relative standard deviation. The interval is symmetric in the logarithm, so
 * that its lower end stays positive (STEP-10); throughput takes the ends the other way round (STEP-9). */
static void fill_estimate(const struct serving_model *serving, double concurrency, double step_time_s,
                          double relative_sigma, double z, struct serving_estimate *result)
{
    double spread = exp(z * relative_sigma);
    double tokens = concurrency * serving->tokens_per_step_per_request;
    result->concurrency = concurrency;
    result->step_time_s = step_time_s;
    result->step_time_lo_s = step_time_s / spread;
    result->step_time_hi_s = step_time_s * spread;
    result->throughput_tokens_per_s = tokens / step_time_s;
    result->throughput_lo_tokens_per_s = tokens / result->step_time_hi_s;
    result->throughput_hi_tokens_per_s = tokens / result->step_time_lo_s;
    result->request_tokens_per_s = serving->tokens_per_step_per_request / step_time_s;
}

void serving_estimate_base(const struct serving_model *serving, double concurrency, double z,
                           struct serving_estimate *result)
{
    fill_estimate(serving, concurrency, step_time_evaluate(&serving->base, concurrency),
                  step_time_relative_sigma(&serving->base, concurrency), z, result);
}

void serving_estimate_variant(const struct serving_model *serving, double concurrency, double kernel_delta_s,
                              double kernel_delta_sigma_s, double z, struct serving_estimate *result)
{
    double base_s = step_time_evaluate(&serving->base, concurrency);
    double step_time_s = base_s + kernel_delta_s; /* STEP-11 */
    if (!(step_time_s > 0.0)) {
        fill_estimate(serving, concurrency, NAN, NAN, z, result);
        return;
    }
    double sigma_s = hypot(base_s * step_time_relative_sigma(&serving->base, concurrency), kernel_delta_sigma_s);
    fill_estimate(serving, concurrency, step_time_s, sigma_s / step_time_s, z, result);
}

/* True when more requests can never make the step shorter, which lets the search bisect. */
static bool law_is_nondecreasing(const struct step_time_law *law)
{
    if (law->form == STEP_TIME_COMMITTEE) {
        return true; /* a mean of forms whose parameters are all at least 0 */
    }
    uint32_t count = step_time_form_parameter_count(law->form);
    for (uint32_t i = 0; i < count; i++) {
        bool may_be_negative = law->form == STEP_TIME_HINGE && i == 2;
        if (!may_be_negative && !(law->parameters[i] >= 0.0)) {
            return false;
        }
    }
    return law->form != STEP_TIME_HINGE || law->parameters[1] + law->parameters[2] >= 0.0;
}

double concurrency_within_itl(const struct serving_model *serving, double itl_limit_s, double limit)
{
    const double largest_counting_double = 9007199254740992.0; /* 2^53: above it n + 1 == n */
    double step_limit_s = itl_limit_s * serving->tokens_per_step_per_request;
    if (!(limit >= 1.0) || !(step_time_evaluate(&serving->base, 1.0) <= step_limit_s)) {
        return 0.0;
    }
    double low = 1.0, high = fmin(floor(limit), largest_counting_double);
    if (!law_is_nondecreasing(&serving->base)) {
        while (low < high && step_time_evaluate(&serving->base, low + 1.0) <= step_limit_s) {
            low += 1.0;
        }
        return low;
    }
    while (low < high) {
        double middle = ceil(low + (high - low) / 2.0);
        if (step_time_evaluate(&serving->base, middle) <= step_limit_s) {
            low = middle;
        } else {
            high = middle - 1.0;
        }
    }
    return low;
}
