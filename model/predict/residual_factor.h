/* SPDX-License-Identifier: GPL-3.0-or-later
 * The Cholesky factor of a residual process: the same numbers when it is fitted and when it is read from a file. */
#ifndef OCCAM_MODEL_PREDICT_RESIDUAL_FACTOR_H
#define OCCAM_MODEL_PREDICT_RESIDUAL_FACTOR_H

#include "model/describe/calibration.h"

/* Fills residual->factor (allocated, row_count^2) from features, amplitude, length and noise (CAL-4). STATUS_DOMAIN
 * where the covariance is not positive definite, STATUS_NO_MEMORY. */
MUST_CHECK enum status residual_factor_compute(struct calibration_residual *residual, struct error *error);

#endif
