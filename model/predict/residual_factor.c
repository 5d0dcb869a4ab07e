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
    PANEL =
        RESIDUAL_FACTOR_ROOM /* columns finished together: what is left is then read and written an eighth as often */
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
    const double *c0 = columns, *c1 = c0 + rows, *c2 = c1 + rows, *c3 = c2 + rows;
    const double *c4 = c3 + rows, *c5 = c4 + rows, *c6 = c5 + rows, *c7 = c6 + rows;
    for (size_t i = next; i < rows; i++) {
        double *line = matrix + i * rows, v[PANEL];
        for (size_t k = 0; k < PANEL; k++) {
            v[k] = columns[k * rows + i] = line[first + k];
        }
#pragma omp simd
        for (size_t j = next; j <= i; j++) { /* line and columns do not overlap */
            line[j] -= (v[0] * c0[j] + v[1] * c1[j] + v[2] * c2[j] + v[3] * c3[j]) +
                       (v[4] * c4[j] + v[5] * c5[j] + v[6] * c6[j] + v[7] * c7[j]);
        }
    }
}

bool residual_factor_in_place(double *matrix, size_t rows, double *columns)
{
    bool positive = true;
    for (size_t first = 0; first < rows && positive; first += PANEL) {
        const size_t left = rows - first;
        positive = factor_panel(matrix, rows, first, left < PANEL ? left : PANEL);
        if (left > PANEL) {
            subtract_panel(matrix, rows, first, columns);
        }
    }
    return positive;
}

enum status residual_factor_compute(struct calibration_residual *residual, struct error *error)
{
    const size_t rows = residual->row_count;
    double *columns = malloc((RESIDUAL_FACTOR_ROOM * rows + 1) * sizeof *columns);
    if (!columns) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a residual process of %zu rows", rows);
    }
    fill_covariance(residual);
    const bool positive = residual_factor_in_place(residual->factor, rows, columns);
    free(columns);
    return positive ? STATUS_OK : error_set(error, STATUS_DOMAIN, "the residual process is not positive definite");
}
