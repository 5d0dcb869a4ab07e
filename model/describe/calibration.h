/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a calibration knows: fitted model parameters with their covariance, a process on what the form leaves over, and
 * how far its intervals must be stretched to hold. Made by calibrate/, stored by evidence/, used by model/predict. */
#ifndef OCCAM_MODEL_DESCRIBE_CALIBRATION_H
#define OCCAM_MODEL_DESCRIBE_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/describe/model_parameters.h"

enum {
    CALIBRATION_FEATURE_COUNT = 12,
    CALIBRATION_WORKLOADS_MAX = 512,
    CALIBRATION_RESIDUAL_ROWS_MAX = 2000
};

/* Gaussian process on ln(measured / predicted): Matern 5/2 of one length over standardised features (CAL-4). */
struct calibration_residual {
    uint32_t row_count;                       /* 0: no process */
    double amplitude, length, noise;          /* variance, standard deviations of a feature, variance */
    double center[CALIBRATION_FEATURE_COUNT]; /* of the training rows */
    double scale[CALIBRATION_FEATURE_COUNT];  /* 0: the feature does not vary and is left out */
    double *features;                         /* row_count x CALIBRATION_FEATURE_COUNT, standardised */
    double *weights;                          /* row_count: (K + noise)^-1 residuals */
    double *factor;                           /* row_count x row_count, row-major, lower Cholesky factor of K + noise */
};

struct calibration {
    char name[64];                                          /* as printed beside predictions */
    char scenario[128], device[96], gpu_id[64], driver[64]; /* "" where unknown */
    uint64_t scenario_hash, rows_hash;
    char date[32];
    double sm_clock_mhz; /* median of the training rows; NaN = unknown */
    uint32_t row_count;  /* trained on */
    struct model_parameters parameters;
    double covariance[PARAMETER_COUNT][PARAMETER_COUNT]; /* of ln(parameter) */
    struct calibration_residual residual;
    double form_log_sigma; /* of ln(time): noise and error of the form, before stretching */
    double stretch;        /* half width of the interval = stretch x sigma (CAL-5) */
    double stretch_beyond; /* the same where a prediction extrapolates (CAL-6) or none of its workload was trained on */
    uint32_t workload_count;                       /* 0: not kept, all count as trained on */
    uint64_t workloads[CALIBRATION_WORKLOADS_MAX]; /* of the training rows, ascending (layer_case.workload) */
    double interval_level;
    double leverage_limit; /* largest leverage of a training row; beyond it a prediction extrapolates */
    double least[CALIBRATION_FEATURE_COUNT], most[CALIBRATION_FEATURE_COUNT]; /* range of the training rows' features */
};

/* Sets everything to "no calibration": default parameters, no process, stretch of the normal distribution. */
void calibration_init(struct calibration *calibration);
/* Room for row_count rows in the residual process; STATUS_NO_MEMORY, STATUS_LIMIT. Release with calibration_release. */
MUST_CHECK enum status calibration_residual_allocate(struct calibration *calibration, uint32_t row_count,
                                                     struct error *error);
void calibration_release(struct calibration *calibration);
/* Whether a row of this workload (layer_case.workload) was trained on; true where that is not known. */
bool calibration_knows_workload(const struct calibration *calibration, uint64_t workload);
/* "ln_warps", ...: names of the features, in order; static. */
const char *calibration_feature_name(unsigned index);
/* The same for people: "warps of a CTA" for "ln_warps"; "leverage" and names it does not know have words too. Static.
 */
const char *calibration_feature_words(const char *name);

#endif
