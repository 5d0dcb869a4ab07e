/* SPDX-License-Identifier: GPL-3.0-or-later
 * From measured rows to a calibration: fit, residual process unless cross-validation shows that it harms, and intervals
 * stretched until they hold (CAL-1 to CAL-6). Used by `occam calibrate`, `validate`, `propose`. */
#ifndef OCCAM_CALIBRATE_KERNEL_CALIBRATION_H
#define OCCAM_CALIBRATE_KERNEL_CALIBRATION_H

#include "calibrate/kernel_fit.h"

struct kernel_calibration_options {
    double interval_level; /* 0.9 unless set */
    uint64_t seed;         /* of the folds */
    bool no_residual;      /* the form alone */
    const bool *typical;   /* by row of rows[]: drawn as those are that will be predicted, so that its error held out is
                              like theirs, and intervals follow from it (CAL-5). NULL: all are. Fewer than 5 of those
                              trained on: all count. Borrowed. */
};
void kernel_calibration_options_init(struct kernel_calibration_options *options);

struct kernel_calibration_report {
    struct kernel_fit fit;
    unsigned folds;
    double form_error, hybrid_error; /* median absolute error of held-out folds, without and with the process */
    bool residual_used;
    double seconds; /* not set here */
};

/* Trains on rows[which[i]], i < count (which NULL: the first count). Fills *calibration (numbers only; the caller sets
 * name, scenario, device and provenance). count >= 5 and at least two different configurations, else STATUS_BAD_DATA.
 * Release with calibration_release. */
MUST_CHECK enum status kernel_calibrate(const struct gpu_device *device, const struct model_parameters *priors,
                                        const struct kernel_row *rows, const uint32_t *which, size_t count,
                                        const struct kernel_calibration_options *options,
                                        struct calibration *calibration, struct kernel_calibration_report *report,
                                        struct error *error);

#endif
