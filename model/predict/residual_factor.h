/* SPDX-License-Identifier: GPL-3.0-or-later
 * The Cholesky factor of a residual process: the same numbers when it is fitted and when it is read from a file. */
#ifndef OCCAM_MODEL_PREDICT_RESIDUAL_FACTOR_H
#define OCCAM_MODEL_PREDICT_RESIDUAL_FACTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "model/describe/calibration.h"

/* Fills residual->factor (allocated, row_count^2) from features, amplitude, length and noise (CAL-4). STATUS_DOMAIN
 * where the covariance is not positive definite, STATUS_NO_MEMORY. */
MUST_CHECK enum status residual_factor_compute(struct calibration_residual *residual, struct error *error);

enum {
    RESIDUAL_FACTOR_ROOM = 8
};
/* Lower Cholesky factor of a symmetric matrix (rows x rows, row-major; its lower triangle is read and replaced, the
 * upper one left alone). columns: room for RESIDUAL_FACTOR_ROOM x rows. False where it is not positive definite. */
MUST_CHECK bool residual_factor_in_place(double *matrix, size_t rows, double *columns);

#endif
