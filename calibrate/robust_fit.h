/* SPDX-License-Identifier: GPL-3.0-or-later
 * A law of a few positive parameters fitted to positive measurements, in logarithms, robustly (docs/MODEL.md FIG-1).
 * Used by the device_fit_*.c; kernels have their own fit (kernel_fit.h). */
#ifndef OCCAM_CALIBRATE_ROBUST_FIT_H
#define OCCAM_CALIBRATE_ROBUST_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    ROBUST_FIT_PARAMETERS_MAX = 6
};

struct robust_fit_parameter {
    const char *name;
    double start;     /* > 0; also the centre of a weak prior */
    double prior_log; /* its standard deviation in ln(parameter), > 0: wide where nothing is known */
    double value;     /* fitted */
    double log_sigma; /* standard deviation of ln(value), the rows' scatter included */
    bool informed;    /* the rows lower the prior's deviation to less than half */
};

struct robust_fit {
    size_t parameter_count;
    struct robust_fit_parameter parameters[ROBUST_FIT_PARAMETERS_MAX];
    double scatter_log; /* robust standard deviation of ln(measured / law) */
    double worst_log;   /* largest |ln(measured / law)| */
    size_t worst;       /* its row */
    double condition_number;
    unsigned iterations;
    bool converged;
    const char *convergence; /* in words; static */
};

/* The law's value for row i (> 0 and finite, else the fit fails). */
typedef double robust_fit_law(const double *parameters, const void *rows, size_t i);

/* Fits parameter_count parameters (start and prior set by the caller) to measured[0..count), each > 0. The soft-L1 loss
 * is scaled by the rows' own scatter, but never by less than floor_log (what one row is known to). STATUS_BAD_DATA with
 * fewer rows than parameters, STATUS_DOMAIN where the law has no value or a
 * measurement is not positive. */
MUST_CHECK enum status robust_fit_run(struct robust_fit *fit, robust_fit_law *law, const void *rows,
                                      const double *measured, size_t count, double floor_log, struct error *error);

#endif
