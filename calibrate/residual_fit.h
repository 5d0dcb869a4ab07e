/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fits the process on what the form leaves over: hyperparameters by penalised likelihood, then the weights (CAL-4). */
#ifndef OCCAM_CALIBRATE_RESIDUAL_FIT_H
#define OCCAM_CALIBRATE_RESIDUAL_FIT_H

#include <stddef.h>

#include "model/describe/calibration.h"

/* Before any time is seen: room, standardised features and the hyperparameters' priors; the factor comes with the
 * search. features: count x CALIBRATION_FEATURE_COUNT, raw. An earlier process is released. count >= 4, else
 * STATUS_BAD_DATA. */
MUST_CHECK enum status residual_start(struct calibration *calibration, const double *features, size_t count,
                                      struct error *error);
/* Hyperparameters from residuals = ln(measured / predicted), and their factor. */
MUST_CHECK enum status residual_search(struct calibration *calibration, const double *residuals, struct error *error);
/* The weights, by which the process predicts. */
MUST_CHECK enum status residual_weigh(struct calibration *calibration, const double *residuals, struct error *error);

#endif
