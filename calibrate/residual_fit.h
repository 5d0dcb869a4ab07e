/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fits the process on what the form leaves over: hyperparameters by penalised likelihood, then the weights (CAL-4). */
#ifndef OCCAM_CALIBRATE_RESIDUAL_FIT_H
#define OCCAM_CALIBRATE_RESIDUAL_FIT_H

#include <stddef.h>

#include "model/describe/calibration.h"

/* features: count x CALIBRATION_FEATURE_COUNT, raw; residuals: ln(measured / predicted). Fills calibration->residual
 * (allocated here; an earlier one is released). count >= 4, else STATUS_BAD_DATA. */
MUST_CHECK enum status residual_fit(struct calibration *calibration, const double *features, const double *residuals,
                                    size_t count, struct error *error);

#endif
