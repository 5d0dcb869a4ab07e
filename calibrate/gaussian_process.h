/* SPDX-License-Identifier: GPL-3.0-or-later
 * Plain Gaussian-process regression: Matern 5/2 with one length per input, all fitted by the penalised marginal
 * likelihood (gradient, BFGS). A baseline to compare with, not part of the model: that one has residual_fit. */
#ifndef OCCAM_CALIBRATE_GAUSSIAN_PROCESS_H
#define OCCAM_CALIBRATE_GAUSSIAN_PROCESS_H

#include <stddef.h>

#include "base/status.h"

enum {
    GAUSSIAN_PROCESS_INPUTS_MAX = 64
};

struct gaussian_process {
    size_t count, input_count;
    double *inputs;                /* count x input_count, copied */
    double *weights;               /* count: (K + noise)^-1 (outputs - mean) */
    double mean, amplitude, noise; /* of the outputs; variances */
    double lengths[GAUSSIAN_PROCESS_INPUTS_MAX];
};

/* inputs: count x input_count, about standardised; outputs: count. 2 <= count, input_count <=
 * GAUSSIAN_PROCESS_INPUTS_MAX, else STATUS_BAD_DATA. Release with gaussian_process_release. */
MUST_CHECK enum status gaussian_process_fit(struct gaussian_process *process, const double *inputs,
                                            const double *outputs, size_t count, size_t input_count,
                                            struct error *error);
/* Mean of the process at one input. */
double gaussian_process_mean(const struct gaussian_process *process, const double *input);
void gaussian_process_release(struct gaussian_process *process);

#endif
