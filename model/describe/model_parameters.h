/* SPDX-License-Identifier: GPL-3.0-or-later
 * Constants of the kernel-time model that are not exact: each a value with its uncertainty in logarithm. Defaults are
 * "uncalibrated"; calibrate/ replaces them. Values that multiply a device figure are called *_factor. */
#ifndef OCCAM_MODEL_DESCRIBE_MODEL_PARAMETERS_H
#define OCCAM_MODEL_DESCRIBE_MODEL_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/describe/input_source.h"

enum parameter_id {
    PARAMETER_LAUNCH_FACTOR,         /* x device kernel_launch */
    PARAMETER_CTA_START_FACTOR,      /* x device cta_start */
    PARAMETER_DRAM_LATENCY_FACTOR,   /* x device dram_latency */
    PARAMETER_L2_LATENCY_FACTOR,     /* x device l2_latency */
    PARAMETER_DRAM_BANDWIDTH_FACTOR, /* x device dram_bandwidth * dram_efficiency */
    PARAMETER_L2_BANDWIDTH_FACTOR,   /* x device l2_bandwidth */
    PARAMETER_SM_BANDWIDTH_FACTOR,   /* x device sm_bandwidth */
    PARAMETER_SMEM_BANDWIDTH_FACTOR, /* x device smem_bandwidth */
    PARAMETER_MMA_LATENCY_FACTOR,    /* x device mma_latency */
    PARAMETER_MMA_INTERVAL_FACTOR,   /* x issue interval that the device's tensor rate implies */
    PARAMETER_ISSUE_FACTOR,          /* x instructions counted from the loop description */
    PARAMETER_ISSUE_INTERVAL,        /* cycles between two instructions of a warp that has its sub-core to itself */
    PARAMETER_ITERATION_OVERHEAD,    /* cycles per iteration: address arithmetic, waits, predicates */
    PARAMETER_BARRIER_FACTOR,        /* x device barrier */
    PARAMETER_SPILL_CYCLES,          /* cycles per 4-byte spill access of a warp */
    PARAMETER_SPILL_TRAFFIC_FACTOR,  /* x spill traffic that does not fit into L1 */
    PARAMETER_OPERAND_FACTOR,        /* x SMEM latency, for each operand load that its product waits for */
    PARAMETER_OVERLAP_EXPONENT,      /* p of the smooth maximum of bounds, >= 1 */
    PARAMETER_DEVICE_EXPONENT,       /* p of the smooth maximum of the SMs and the bandwidths they share, >= 1 */
    PARAMETER_PIPELINE_EXPONENT,     /* p of the smooth maximum inside one iteration, >= 1 */
    PARAMETER_COUNT
};

struct model_parameter {
    double value;
    double log_sigma; /* standard deviation of ln(value); 0 = taken as exact */
    enum input_source source;
};

struct model_parameters {
    struct model_parameter items[PARAMETER_COUNT];
    double model_log_sigma; /* error of the form itself, in ln(time) */
    char calibration[64];   /* name of the calibration, "uncalibrated" for the defaults */
    double interval_level;  /* coverage asked of intervals, 0.90 unless set */
    /* Lower Cholesky factor of the covariance of ln(value), PARAMETER_COUNT^2, row-major, borrowed; NULL: the log_sigma
     * are independent. Only whatif's draws look at it. */
    const double *log_factor;
};

/* Static table entry behind each parameter. */
struct parameter_description {
    const char *name; /* as in calibration files, for example "dram_latency_factor" */
    const char *unit; /* "1" for factors */
    double default_value, default_log_sigma;
    double minimum, maximum; /* physical range; outside is a fault of the description */
    const char *meaning;
    bool
        formula_only; /* shapes the formulas' smooth maxima, stands for nothing in the machine: not for the simulator */
};
const struct parameter_description *parameter_describe(enum parameter_id id);

/* The uncalibrated defaults. */
void model_parameters_init(struct model_parameters *parameters);

#endif
