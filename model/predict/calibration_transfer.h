/* SPDX-License-Identifier: GPL-3.0-or-later
 * A calibration made on one GPU, used for another or for one kernel, used for another (docs/MODEL.md CAL-9, CAL-12),
 * and at another interval level. */
#ifndef OCCAM_MODEL_PREDICT_CALIBRATION_TRANSFER_H
#define OCCAM_MODEL_PREDICT_CALIBRATION_TRANSFER_H

#include "model/describe/calibration.h"
#include "model/describe/gpu_device.h"

/* Parameters that multiply a device figure keep their values: the figure of the other device takes the place of this
 * one's. Their variance grows by what the sources of both figures leave open, and by a term for what factors do not
 * share between GPUs; the error of the form grows by all that the residual process corrects, which may be another
 * there. from: NULL where the device of the calibration is not known (its figures then count as assumed). */
void calibration_transfer(struct calibration *calibration, const struct gpu_device *from, const struct gpu_device *to);

/* A calibration made with one kernel, used for another: its parameters hold what the first description gets wrong, so
 * the error of the form grows by what was seen between kernels (CAL-12). */
void calibration_transfer_kernel(struct calibration *calibration);

/* Standard deviation of ln(figure) by its source (CAL-9): measured 0.03, datasheet 0.05, literature 0.15, others 0.4.
 */
double figure_log_sigma(enum input_source source);

/* Intervals at another level: the stretch follows the normal distribution (0 < level < 1). */
void calibration_set_level(struct calibration *calibration, double level);

/* Lower Cholesky factor of a covariance of PARAMETER_COUNT^2 numbers, row-major. Parameters without variance, and those
 * that the earlier ones determine, get a row of what is left: 0. */
void covariance_factor_compute(const double *covariance, double *factor);

#endif
