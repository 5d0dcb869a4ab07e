/* SPDX-License-Identifier: GPL-3.0-or-later
 * Cholesky by columns: what is left is updated row by row, which runs along memory. */
#include "model/predict/residual_factor.h"

#include <math.h>
#include <stdlib.h>

#include "model/predict/calibrated_time.h"

static void fill_covariance(const struct calibration_residual *residual)
{
    enum {
        N = CALIBRATION_FEATURE_COUNT
    };
    const size_t rows = residual->row_count;
    unsigned varying = 0;
    for (unsigned f = 0; f < N; f++) {
        varying += residual->scale[f] > 0;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < rows; j++) {
            double squares = 0;
            for (unsigned f = 0; f < N && j < i; f++) {
                const double distance = residual->features[i * N + f] - residual->features[j * N + f];
                squares += distance * distance;
            }
            residual->factor[i * rows + j] = j > i ? 0
                                                   : calibration_kernel(residual->amplitude, residual->length,
                                                                        sqrt(squares / (varying ? varying : 1))) +
                                                         (i == j ? residual->noise : 0);
        }
    }
}

enum status residual_factor_compute(struct calibration_residual *residual, struct error *error)
{
    const size_t rows = residual->row_count;
    double *column = malloc((rows + 1) * sizeof *column);
    if (!column) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a residual process of %zu rows", rows);
    }
    fill_covariance(residual);
    for (size_t k = 0; k < rows; k++) {
        const double pivot = residual->factor[k * rows + k];
        if (!(pivot > 0)) {
            free(column);
            return error_set(error, STATUS_DOMAIN, "the residual process is not positive definite at row %zu", k);
        }
        const double root = sqrt(pivot);
        residual->factor[k * rows + k] = root;
        for (size_t i = k + 1; i < rows; i++) {
            column[i] = residual->factor[i * rows + k] /= root;
        }
        for (size_t i = k + 1; i < rows; i++) {
            double *line = residual->factor + i * rows;
            const double value = column[i];
            for (size_t j = k + 1; j <= i; j++) {
                line[j] -= value * column[j];
            }
        }
    }
    free(column);
    return STATUS_OK;
}
