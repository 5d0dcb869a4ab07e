/* SPDX-License-Identifier: GPL-3.0-or-later
 * Does a calibration still hold? A handful of rows measured now against what it says of them (docs/MODEL.md CAL-8). */
#ifndef OCCAM_CALIBRATE_CALIBRATION_DRIFT_H
#define OCCAM_CALIBRATE_CALIBRATION_DRIFT_H

#include <stdbool.h>

#include "calibrate/kernel_fit.h"

enum {
    CALIBRATION_DRIFT_ROWS_LEAST = 3
};

struct calibration_drift {
    size_t count, inside;   /* rows, and those within their interval */
    size_t extrapolating;   /* rows outside what the calibration has seen */
    double median_error;    /* of |ln(predicted / measured)| */
    double bias_log;        /* mean of ln(measured / predicted): positive = slower than predicted */
    double bias_sigma;      /* standard deviation that the calibration itself expects of it */
    double outside_chance;  /* chance of as many rows outside, or more, if the calibration holds */
    size_t worst;           /* row with the largest |ln error| */
    double worst_log;       /* ln(measured / predicted) of it */
    bool biased, uncovered; /* why it does not hold */
    bool holds;             /* neither */
};

/* count >= CALIBRATION_DRIFT_ROWS_LEAST, else STATUS_BAD_DATA. */
MUST_CHECK enum status calibration_drift_judge(const struct gpu_device *device, const struct calibration *calibration,
                                               const struct kernel_row *rows, size_t count,
                                               struct calibration_drift *drift, struct error *error);

#endif
