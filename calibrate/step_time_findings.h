/* SPDX-License-Identifier: GPL-3.0-or-later
 * What is odd about a measured concurrency table, and what it cannot tell: cliffs, outliers, limits, inseparable terms.
 * Rules and thresholds: docs/MODEL.md section 5, "Findings". */
#ifndef OCCAM_CALIBRATE_STEP_TIME_FINDINGS_H
#define OCCAM_CALIBRATE_STEP_TIME_FINDINGS_H

#include "calibrate/step_time_fit.h"

enum {
    STEP_TIME_FINDINGS_MAX = 16
};

enum step_time_finding_kind {
    STEP_TIME_CLIFF,       /* the step grows faster than the batch; value = ratio of the two step times */
    STEP_TIME_FALLING,     /* a larger batch takes less time; value = ratio of the two step times */
    STEP_TIME_OUTLIER,     /* one point off its neighbours; value = its relative distance from them */
    STEP_TIME_ADMISSION,   /* the running batch no longer grows; value = that batch */
    STEP_TIME_PLATEAU,     /* throughput no longer grows, and no ITL says why; value = tokens/s per token of a step */
    STEP_TIME_BELOW,       /* fewer requests ran than were offered; value = share that ran at the last point */
    STEP_TIME_ABOVE,       /* more ran than were offered: units do not match; value = their largest ratio */
    STEP_TIME_CONCAVE,     /* a line over-predicts the last point; value = by how much, relative */
    STEP_TIME_CONVEX,      /* a line under-predicts it; value negative */
    STEP_TIME_INSEPARABLE, /* terms these points cannot tell apart; value = a concurrency that would */
    STEP_TIME_SLOPE_MIXED, /* what grows with n is large, and one workload cannot split it; value = its share */
    STEP_TIME_FINDING_KIND_COUNT
};
/* "cliff", "falling", ...; static. */
const char *step_time_finding_name(enum step_time_finding_kind kind);

struct step_time_finding {
    enum step_time_finding_kind kind;
    double from, to; /* concurrencies between or at which it is seen; equal for one point */
    double value;    /* see the kinds */
    char text[288];  /* one sentence */
};

struct step_time_findings {
    uint32_t count; /* at most STEP_TIME_FINDINGS_MAX; further ones are dropped, in the order of the kinds */
    struct step_time_finding items[STEP_TIME_FINDINGS_MAX];
};

/* points: at their nominal concurrency, in any order; where throughput and step time were measured apart, their product
 * over tokens_per_step is the batch that ran (Little's law). Errors as step_time_fit. */
MUST_CHECK enum status step_time_find(const struct serving_point *points, uint32_t count, double tokens_per_step,
                                      const struct step_time_fit_options *options, struct step_time_findings *findings,
                                      struct error *error);

/* Replaces every point's concurrency by the batch that ran. False, and nothing changed, where a throughput is unknown
 * or more ran than were offered (above 1.1 times: tok_s and step time do not belong together). */
bool step_time_use_running_batch(struct serving_point *points, uint32_t count, double tokens_per_step);

#endif
