/* SPDX-License-Identifier: GPL-3.0-or-later
 * How good frozen predictions have been: coverage by level, bias, sharpness (MODEL.md section 16, SCORE). Predictions
 * are read as log-normal, with the median and the interval that were frozen. Used by `occam ledger scorecard` and the
 * scorecard figure. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_SCORECARD_H
#define OCCAM_CALIBRATE_EXPERIMENT_SCORECARD_H

#include <stddef.h>

#include "base/status.h"

struct scored_prediction {
    double value, low, high, level; /* as frozen, above 0 */
    double measured;                /* above 0 */
};

enum {
    SCORECARD_LEVELS = 5
};
/* 0.5, 0.68, 0.8, 0.9, 0.95; static. */
const double *scorecard_levels(void);

struct scorecard {
    size_t count;
    double coverage[SCORECARD_LEVELS];     /* share inside of the intervals of scorecard_levels. SCORE-1 */
    double coverage_low[SCORECARD_LEVELS]; /* Wilson's 90 % interval of that share */
    double coverage_high[SCORECARD_LEVELS];
    double bias;          /* median of measured / predicted, - 1 */
    double median_error;  /* median of |predicted / measured - 1| */
    double crps;          /* mean continuous ranked probability score of ln. SCORE-2 */
    double crps_of_point; /* the same of the medians alone: mean |ln(predicted / measured)| */
    double half_width;    /* median relative half width of the intervals at 0.9 */
};

/* STATUS_BAD_DATA: no prediction, or a value that is not above 0, or low >= high. */
MUST_CHECK enum status scorecard_make(const struct scored_prediction *predictions, size_t count, struct scorecard *card,
                                      struct error *error);

#endif
