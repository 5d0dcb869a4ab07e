/* SPDX-License-Identifier: GPL-3.0-or-later
 * Two samples per condition, all conditions at once. */
#include "calibrate/experiment/effect_judge.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *effect_outcome_name(enum effect_outcome outcome)
{
    static const char *const names[] = {"supported", "refuted", "inconclusive", "restored", "not restored"};
    return names[outcome];
}

const char *effect_noise_name(enum effect_noise noise)
{
    static const char *const names[] = {"pairs", "repeats", "repeats of all conditions", "assumed"};
    return names[noise];
}

void effect_options_init(struct effect_options *options)
{
    *options = (struct effect_options){.level = 0.95, .margin = 0.02, .assumed_noise = 0.02, .power = 0.8};
}

/* ---- one condition -------------------------------------------------------------------------------------------------
 */

struct moments {
    double mean, variance; /* of ln; variance 0 for one value */
    size_t count;
};

/* Of ln(values[i] / against[i]); against NULL: of ln(values[i]). */
static struct moments moments_of(const double *values, const double *against, size_t count)
{
    struct moments result = {.count = count};
    for (size_t i = 0; i < count; i++) {
        result.mean += log(against != NULL ? values[i] / against[i] : values[i]) / (double)count;
    }
    for (size_t i = 0; i < count && count > 1; i++) {
        const double miss = log(against != NULL ? values[i] / against[i] : values[i]) - result.mean;
        result.variance += miss * miss / (double)(count - 1);
    }
    return result;
}

static enum status check_values(const double *values, size_t count, const char *side, size_t condition,
                                struct error *error)
{
    if (count == 0) {
        return error_set(error, STATUS_BAD_DATA, "condition %zu has no value of the %s", condition + 1, side);
    }
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] > 0) || !isfinite(values[i])) {
            return error_set(error, STATUS_BAD_DATA, "condition %zu, value %zu of the %s: %g is not above 0",
                             condition + 1, i + 1, side, values[i]);
        }
    }
    return STATUS_OK;
}

static bool is_fraction(double value)
{
    return value > 0 && value < 1;
}

static enum status check(const struct effect_samples *conditions, size_t count, const struct effect_options *options,
                         struct error *error)
{
    if (!is_fraction(options->level) || !is_fraction(options->margin) || !is_fraction(options->assumed_noise) ||
        !is_fraction(options->power)) {
        return error_set(error, STATUS_DOMAIN, "level, margin, noise and power are fractions between 0 and 1");
    }
    enum status status = count == 0 ? error_set(error, STATUS_BAD_DATA, "there is no condition to judge") : STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct effect_samples *samples = &conditions[i];
        status = check_values(samples->base, samples->base_count, "base", i, error);
        if (status == STATUS_OK) {
            status = check_values(samples->variant, samples->variant_count, "variant", i, error);
        }
        if (status == STATUS_OK && samples->paired && samples->base_count != samples->variant_count) {
            status = error_set(error, STATUS_BAD_DATA, "condition %zu: %zu and %zu values are no pairs", i + 1,
                               samples->base_count, samples->variant_count);
        }
    }
    return status;
}

/* Standard error of ln(ratio), its degrees of freedom, and what it stands on. */
struct standard_error {
    double value, degrees_of_freedom, noise_sd;
    enum effect_noise noise;
};

/* Variance within conditions and sides, over all that were repeated; degrees of freedom 0: nothing was. */
static void pool(const struct effect_samples *conditions, size_t count, double *variance, double *degrees_of_freedom)
{
    double sum = 0;
    *degrees_of_freedom = 0;
    for (size_t i = 0; i < count; i++) {
        const struct moments sides[] = {moments_of(conditions[i].base, NULL, conditions[i].base_count),
                                        moments_of(conditions[i].variant, NULL, conditions[i].variant_count)};
        for (int side = 0; side < 2; side++) {
            const double freedom = (double)(sides[side].count - 1);
            sum += sides[side].variance * freedom;
            *degrees_of_freedom += freedom;
        }
    }
    *variance = *degrees_of_freedom > 0 ? sum / *degrees_of_freedom : 0;
}

/* Repeats that agree to the last digit were rounded, or are one run written twice: they do not prove that there is no
 * noise. One per mille is the least that is believed. */
static double believed(double variance, double rounding)
{
    const double least = 0.001;
    return fmax(variance, fmax(least * least, rounding * rounding));
}

/* Welch: variances of the two sides need not be equal; Satterthwaite's degrees of freedom. */
static struct standard_error welch_error(const struct moments *base, const struct moments *variant, double rounding)
{
    const double base_part = believed(base->variance, rounding) / (double)base->count,
                 variant_part = believed(variant->variance, rounding) / (double)variant->count,
                 sum = base_part + variant_part,
                 freedom = sum * sum /
                           (base_part * base_part / (double)(base->count - 1) +
                            variant_part * variant_part / (double)(variant->count - 1));
    /* With few runs against many, a lucky small variance of the few would be believed with too many degrees of freedom.
     */
    const size_t few = base->count < variant->count ? base->count : variant->count,
                 many = base->count < variant->count ? variant->count : base->count;
    return (struct standard_error){sqrt(sum), many > 2 * few ? (double)(few - 1) : freedom,
                                   sqrt((base->variance + variant->variance) / 2), EFFECT_NOISE_REPEATS};
}

static struct standard_error shared_error(const struct effect_samples *samples, double variance, double freedom,
                                          enum effect_noise noise)
{
    const double runs = 1 / (double)samples->base_count + 1 / (double)samples->variant_count;
    return (struct standard_error){sqrt(variance * runs), freedom, sqrt(variance), noise};
}

static struct standard_error error_of(const struct effect_samples *samples, double pooled_variance,
                                      double pooled_freedom, const struct effect_options *options)
{
    if (samples->paired && samples->base_count > 1) {
        const struct moments differences = moments_of(samples->variant, samples->base, samples->base_count);
        const double variance = believed(differences.variance, samples->rounding * sqrt(2));
        return (struct standard_error){sqrt(variance / (double)differences.count), (double)(differences.count - 1),
                                       sqrt(variance), EFFECT_NOISE_PAIRS};
    }
    if (samples->base_count > 1 && samples->variant_count > 1) {
        const struct moments base = moments_of(samples->base, NULL, samples->base_count),
                             variant = moments_of(samples->variant, NULL, samples->variant_count);
        return welch_error(&base, &variant, samples->rounding);
    }
    /* Noise differs between loads: what others show stands in only where it is no less than what is assumed anyway. */
    if (pooled_freedom > 0 && pooled_variance >= options->assumed_noise * options->assumed_noise) {
        return shared_error(samples, pooled_variance, pooled_freedom, EFFECT_NOISE_POOLED);
    }
    return shared_error(samples, options->assumed_noise * options->assumed_noise, INFINITY, EFFECT_NOISE_ASSUMED);
}

/* Student's t; the normal distribution at infinity. */
static double quantile_of(double probability, double freedom)
{
    return isinf(freedom) ? gsl_cdf_ugaussian_Pinv(probability) : gsl_cdf_tdist_Pinv(probability, freedom);
}

static double upper_tail(double t, double freedom)
{
    return isinf(freedom) ? gsl_cdf_ugaussian_Q(t) : gsl_cdf_tdist_Q(t, freedom);
}

/* Two runs at a high level can leave an interval that no number holds: beyond this factor an end says as much. */
static const double REACH = 1e9;

/* ---- all conditions -------------------------------------------------------------------------------------------------
 */

static void estimate(const struct effect_samples *samples, const struct standard_error *standard, size_t count,
                     const struct effect_options *options, struct effect_verdict *verdict)
{
    const struct moments base = moments_of(samples->base, NULL, samples->base_count),
                         variant = moments_of(samples->variant, NULL, samples->variant_count);
    const double log_ratio = variant.mean - base.mean, freedom = standard->degrees_of_freedom,
                 tail = (1 - options->level) / 2, alone = quantile_of(1 - tail, freedom) * standard->value,
                 together = quantile_of(1 - tail / (double)count, freedom) + quantile_of(options->power, freedom),
                 reach = fmax(log(REACH), fabs(log_ratio));
    *verdict = (struct effect_verdict){.ratio = exp(log_ratio),
                                       .low = exp(fmax(log_ratio - alone, -reach)),
                                       .high = exp(fmin(log_ratio + alone, reach)),
                                       .p_value = fmin(1, 2 * upper_tail(fabs(log_ratio) / standard->value, freedom)),
                                       .adjusted_p = (double)NAN,
                                       .smallest_effect = expm1(fmin(together * standard->value, log(REACH))),
                                       .noise_sd = standard->noise_sd,
                                       .degrees_of_freedom = freedom,
                                       .noise = standard->noise};
}

/* Holm: the smallest p times the count, the next times one less, never falling. */
static void adjust(struct effect_verdict *verdicts, size_t count)
{
    double least = 0;
    for (size_t done = 0; done < count; done++) {
        size_t next = count;
        for (size_t i = 0; i < count; i++) {
            if (isnan(verdicts[i].adjusted_p) && (next == count || verdicts[i].p_value < verdicts[next].p_value)) {
                next = i;
            }
        }
        least = fmax(least, fmin(1, verdicts[next].p_value * (double)(count - done)));
        verdicts[next].adjusted_p = least;
    }
}

static enum effect_outcome decide(const struct effect_verdict *verdict, const struct effect_options *options)
{
    const bool is_seen = verdict->adjusted_p <= 1 - options->level;
    if (options->is_revert) {
        const bool is_same = verdict->low > 1 / (1 + options->margin) && verdict->high < 1 + options->margin;
        return is_same ? EFFECT_RESTORED : is_seen ? EFFECT_NOT_RESTORED : EFFECT_INCONCLUSIVE;
    }
    if (!is_seen) {
        return EFFECT_INCONCLUSIVE;
    }
    const bool is_as_claimed =
        options->claim == EFFECT_CHANGES || (verdict->ratio > 1) == (options->claim == EFFECT_RAISES);
    return is_as_claimed ? EFFECT_SUPPORTED : EFFECT_REFUTED;
}

enum status effect_judge(const struct effect_samples *conditions, size_t count, const struct effect_options *options,
                         struct effect_verdict *verdicts, struct error *error)
{
    enum status status = check(conditions, count, options, error);
    if (status != STATUS_OK) {
        return status;
    }
    double variance, freedom;
    pool(conditions, count, &variance, &freedom);
    for (size_t i = 0; i < count; i++) {
        const struct standard_error standard = error_of(&conditions[i], variance, freedom, options);
        estimate(&conditions[i], &standard, count, options, &verdicts[i]);
    }
    adjust(verdicts, count);
    for (size_t i = 0; i < count; i++) {
        verdicts[i].outcome = decide(&verdicts[i], options);
    }
    return STATUS_OK;
}

enum effect_outcome effect_judge_together(const struct effect_verdict *verdicts, size_t count, bool is_revert)
{
    size_t seen[EFFECT_NOT_RESTORED + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        seen[verdicts[i].outcome]++;
    }
    if (is_revert) {
        return seen[EFFECT_NOT_RESTORED] > 0    ? EFFECT_NOT_RESTORED
               : seen[EFFECT_RESTORED] == count ? EFFECT_RESTORED
                                                : EFFECT_INCONCLUSIVE;
    }
    if ((seen[EFFECT_SUPPORTED] > 0) == (seen[EFFECT_REFUTED] > 0)) {
        return EFFECT_INCONCLUSIVE;
    }
    return seen[EFFECT_SUPPORTED] > 0 ? EFFECT_SUPPORTED : EFFECT_REFUTED;
}

/* Seen, for one outcome of the noise's two estimates (relative variances). The true standard error is 1. */
static double power_given(double shift, double base_variance, double variant_variance, double freedom_of_each,
                          double tail)
{
    const double sum = base_variance + variant_variance,
                 freedom = isinf(freedom_of_each)
                               ? (double)INFINITY
                               : freedom_of_each * sum * sum /
                                     (base_variance * base_variance + variant_variance * variant_variance),
                 limit = quantile_of(1 - tail, freedom) * sqrt(sum / 2);
    return gsl_cdf_ugaussian_Q(limit - shift) + gsl_cdf_ugaussian_Q(limit + shift);
}

/* Welch's test averaged over what the two variances may come out as, at the middles of equal shares of each. */
double effect_power(double effect, double noise, size_t repeats, size_t conditions, double level)
{
    enum {
        SHARES = 40
    };
    const double shift = fabs(log1p(effect)) / (noise * sqrt(2 / (double)repeats)),
                 tail = (1 - level) / 2 / (double)conditions, freedom = (double)repeats - 1;
    double variances[SHARES], total = 0;
    if (repeats < 2) {
        return power_given(shift, 1, 1, INFINITY, tail);
    }
    for (int i = 0; i < SHARES; i++) {
        variances[i] = gsl_cdf_chisq_Pinv((i + 0.5) / SHARES, freedom) / freedom;
    }
    for (int i = 0; i < SHARES * SHARES; i++) {
        total += power_given(shift, variances[i / SHARES], variances[i % SHARES], freedom, tail);
    }
    return total / (SHARES * SHARES);
}
