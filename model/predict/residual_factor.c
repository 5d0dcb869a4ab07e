/* SPDX-License-Identifier: GPL-3.0-or-later
 * Cholesky by panels of columns: what is left is updated row by row, which runs along memory. */
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

enum {
    PANEL = 4 /* columns finished together: what is left is then read and written a quarter as often */
};

/* Columns first..first+width-1, below their own diagonals too; false where the matrix is not positive definite. */
static bool factor_panel(double *matrix, size_t rows, size_t first, size_t width)
{
    for (size_t k = first; k < first + width; k++) {
        const double pivot = matrix[k * rows + k];
        if (!(pivot > 0)) {
            return false;
        }
        const double root = sqrt(pivot);
        matrix[k * rows + k] = root;
        for (size_t i = k + 1; i < rows; i++) {
            double *line = matrix + i * rows;
            line[k] /= root;
            for (size_t j = k + 1; j < first + width && j <= i; j++) {
                line[j] -= line[k] * matrix[j * rows + k];
            }
        }
    }
    return true;
}

/* Takes the panel off all that lies to its right. columns: PANEL x rows. */
static void subtract_panel(double *matrix, size_t rows, size_t first, double *columns)
{
    const size_t next = first + PANEL;
    double *c0 = columns, *c1 = c0 + rows, *c2 = c1 + rows, *c3 = c2 + rows;
    for (size_t i = next; i < rows; i++) {
        double *line = matrix + i * rows;
        const double v0 = c0[i] = line[first], v1 = c1[i] = line[first + 1], v2 = c2[i] = line[first + 2],
                     v3 = c3[i] = line[first + 3];
        for (size_t j = next; j <= i; j++) {
            line[j] -= v0 * c0[j] + v1 * c1[j] + v2 * c2[j] + v3 * c3[j];
        }
    }
}

enum status residual_factor_compute(struct calibration_residual *residual, struct error *error)
{
    const size_t rows = residual->row_count;
    double *columns = malloc((PANEL * rows + 1) * sizeof *columns);
    bool positive = true;
    if (!columns) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a residual process of %zu rows", rows);
    }
    fill_covariance(residual);
    for (size_t first = 0; first < rows && positive; first += PANEL) {
        const size_t left = rows - first;
        positive = factor_panel(residual->factor, rows, first, left < PANEL ? left : PANEL);
        if (left > PANEL) {
            subtract_panel(residual->factor, rows, first, columns);
        }
    }
    free(columns);
    return positive ? STATUS_OK : error_set(error, STATUS_DOMAIN, "the residual process is not positive definite");
}
