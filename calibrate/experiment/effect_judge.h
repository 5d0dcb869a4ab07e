/* SPDX-License-Identifier: GPL-3.0-or-later
 * Base against variant in what was measured: ratio with interval per condition, decided over all conditions together
 * (MODEL.md section 16, JUDGE). Knows samples, no files and no scenario. Used by `occam judge` and tune. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_EFFECT_JUDGE_H
#define OCCAM_CALIBRATE_EXPERIMENT_EFFECT_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Repeats of both sides under one condition. paired: base[i] and variant[i] were taken one after the other, so that
 * slow drift cancels; then the counts are equal. All values above 0, more is better (throughput, or 1 / time). */
struct effect_samples {
    const double *base, *variant; /* borrowed */
    size_t base_count, variant_count;
    bool paired;
    double rounding; /* relative standard deviation that the values' last digit stands for; 0: not rounded */
};

enum effect_claim {
    EFFECT_RAISES,
    EFFECT_LOWERS,
    EFFECT_CHANGES /* in either direction: supported or inconclusive, never refuted */
};

enum effect_outcome {
    EFFECT_SUPPORTED,
    EFFECT_REFUTED,
    EFFECT_INCONCLUSIVE,
    EFFECT_RESTORED,    /* of a revert check: the same within the margin */
    EFFECT_NOT_RESTORED /* differs by more than the noise explains */
};
/* "supported", "refuted", ...; static. */
const char *effect_outcome_name(enum effect_outcome outcome);

enum effect_noise {
    EFFECT_NOISE_PAIRS,   /* from the differences of pairs */
    EFFECT_NOISE_REPEATS, /* from the repeats of this condition */
    EFFECT_NOISE_POOLED,  /* from repeats of all conditions together: this one has too few */
    EFFECT_NOISE_ASSUMED  /* nobody repeated anything: the figure that the caller gave */
};
const char *effect_noise_name(enum effect_noise noise);

struct effect_options {
    enum effect_claim claim;
    bool is_revert;       /* ask whether the variant equals the base */
    double level;         /* two-sided, 0.95: all conditions together are wrong in 1 - level of the cases */
    double margin;        /* of a revert check, as a fraction: 0.02 = the same within 2 percent */
    double assumed_noise; /* relative standard deviation of one run, for EFFECT_NOISE_ASSUMED */
    double power;         /* 0.8: of the smallest effect that is told */
};
void effect_options_init(struct effect_options *options);

struct effect_verdict {
    enum effect_outcome outcome;
    double ratio;              /* variant / base, of geometric means */
    double low, high;          /* interval at `level` for this condition alone */
    double p_value;            /* two-sided, of no effect, this condition alone */
    double adjusted_p;         /* Holm, over all conditions */
    double smallest_effect;    /* fraction that would have been seen with probability `power` among all conditions */
    double noise_sd;           /* of one run, or of one pair's difference, in ln */
    double degrees_of_freedom; /* INFINITY when the noise was assumed */
    enum effect_noise noise;
};

/* Judges count conditions (verdicts[count] are filled). JUDGE-1: logarithms; paired t on differences, else Welch's t;
 * conditions without repeats take the pooled or the assumed noise. JUDGE-2: Holm's step-down over the conditions.
 * JUDGE-3: the smallest visible effect, at Bonferroni's level. STATUS_BAD_DATA: a value that is not above 0 and finite,
 * unequal pairs, an empty side. STATUS_DOMAIN: options out of range. */
MUST_CHECK enum status effect_judge(const struct effect_samples *conditions, size_t count,
                                    const struct effect_options *options, struct effect_verdict *verdicts,
                                    struct error *error);
/* Of all conditions: refuted where one refutes and none supports, and the other way round; where both happen, or
 * nothing is decided, inconclusive. For a revert: not restored when one is not, restored when all are. */
enum effect_outcome effect_judge_together(const struct effect_verdict *verdicts, size_t count, bool is_revert);

/* Probability that an effect of this size (fraction, +0.05) is told from none in one of `conditions` conditions with
 * `repeats` runs a side of relative noise `noise`; one repeat: the noise is known beforehand. JUDGE-3. */
double effect_power(double effect, double noise, size_t repeats, size_t conditions, double level);

#endif
