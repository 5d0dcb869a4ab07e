/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fits the parameters of the kernel-time model to measured rows: robust, in the logarithm of time, with priors (CAL-1,
 * CAL-2). GSL's trust-region solver does the work. */
#ifndef OCCAM_CALIBRATE_KERNEL_FIT_H
#define OCCAM_CALIBRATE_KERNEL_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/describe/calibration.h"
#include "model/describe/gpu_device.h"
#include "model/describe/kernel_case.h"

/* One measured configuration. */
struct kernel_row {
    struct layer_case layer; /* must be feasible on the device */
    double time_s;           /* positive; median of the repeats */
    double noise_log_sigma;  /* of ln(time) by the repeats; 0 = unknown */
    uint32_t group;          /* rows of one workload share a number: whole shapes are held out by it */
    uint32_t line;           /* of the file, for messages */
};

enum {
    KERNEL_FIT_NOTES_MAX = 16
};

struct kernel_fit {
    struct model_parameters parameters; /* values, log_sigma from the fit, source fitted where the rows inform them */
    double covariance[PARAMETER_COUNT][PARAMETER_COUNT];
    double form_log_sigma;   /* scale of the misfit that was assumed */
    double misfit_log_sigma; /* robust scale of the training residuals that was found */
    double condition_number; /* of the whitened Jacobian with priors; near 1 where the rows say little */
    unsigned iterations;
    const char *convergence; /* GSL's reason in words; static */
    bool converged;
    bool informed[PARAMETER_COUNT]; /* the rows narrowed the prior by at least a tenth */
    unsigned note_count;
    char notes[KERNEL_FIT_NOTES_MAX]
              [160]; /* correlated, at the end of the physical range, far from the prior: one sentence each */
};

/* rows[i] may be picked by index: which holds count indices into rows (NULL: the first count). priors: values and
 * log_sigma of the parameters before the rows. factor: lower Cholesky factor, count x count row-major, of the
 * covariance of the rows' misfits in ln(time), so that errors of the form that neighbouring rows share do not pass for
 * news about the parameters; NULL: independent misfits of form_scale. count >= 1. STATUS_DOMAIN where a row cannot be
 * timed. */
MUST_CHECK enum status kernel_fit_run(const struct gpu_device *device, const struct model_parameters *priors,
                                      const struct kernel_row *rows, const uint32_t *which, size_t count,
                                      const double *factor, struct kernel_fit *fit, struct error *error);

#endif
