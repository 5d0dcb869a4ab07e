/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernel time of a calibrated model: the form with fitted parameters, times what the residual process adds, with an
 * interval from covariance, process and stretch (docs/MODEL.md CAL-3 to CAL-6). Pure formulas. */
#ifndef OCCAM_MODEL_PREDICT_CALIBRATED_TIME_H
#define OCCAM_MODEL_PREDICT_CALIBRATED_TIME_H

#include "model/describe/calibration.h"
#include "model/predict/kernel_time.h"

struct calibrated_model {
    const struct calibration *calibration; /* borrowed */
    struct time_model center;
    uint32_t direction_count; /* parameters that are not exact */
    enum parameter_id directions[PARAMETER_COUNT];
    double steps[PARAMETER_COUNT];
    struct time_model shifted[PARAMETER_COUNT];          /* one parameter moved by its step in the logarithm */
    double covariance[PARAMETER_COUNT][PARAMETER_COUNT]; /* over the directions */
};
/* device and calibration are borrowed. STATUS_MISSING and STATUS_DOMAIN as for time_model_init. */
MUST_CHECK enum status calibrated_model_init(struct calibrated_model *model, const struct gpu_device *device,
                                             const struct calibration *calibration, struct error *error);

struct calibrated_time {
    struct layer_time layer; /* of the form with the fitted parameters; its own interval is not the calibrated one */
    double time_s, time_lo_s, time_hi_s; /* NaN when infeasible */
    double log_sigma;                    /* of ln(time), before stretching */
    double parameter_log_sigma, residual_log_sigma;
    double residual_log; /* what the process adds to ln(time) */
    double leverage;     /* parameter variance over form variance */
    bool extrapolating;
    bool new_workload;  /* no row of this workload was trained on (CAL-6) */
    const char *beyond; /* the feature that lies outside the training rows, "leverage", or NULL; static */
};
void calibrated_time_predict(const struct calibrated_model *model, const struct layer_case *layer,
                             struct calibrated_time *result);

/* The features of a layer (CAL-4): CALIBRATION_FEATURE_COUNT numbers, of its longest kernel. */
void calibration_features(const struct time_model *model, const struct layer_case *layer, const struct layer_time *time,
                          double *features);
/* d ln(time) / d ln(parameter) over the model's directions (forward differences); gradient holds PARAMETER_COUNT. */
void calibrated_gradient(const struct calibrated_model *model, const struct layer_case *layer, double time_s,
                         double *gradient);
/* Mean and standard deviation of the residual process at these features. factor may be missing (NULL): deviation 0. */
void calibration_residual_predict(const struct calibration_residual *residual, const double *features, double *mean,
                                  double *deviation);
/* Matern 5/2 at scaled distance r >= 0 (CAL-4). */
double calibration_kernel(double amplitude, double length, double distance);

#endif
