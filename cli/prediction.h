/* SPDX-License-Identifier: GPL-3.0-or-later
 * One configuration predicted from its question: kernels, layer, step. Used by predict, curve, plot and whatif. */
#ifndef OCCAM_CLI_PREDICTION_H
#define OCCAM_CLI_PREDICTION_H

#include "cli/question.h"
#include "model/predict/step_time.h"
#include "model/predict/variant_effect.h"

struct prediction {
    bool feasible;
    char reason[512]; /* why not; "" when feasible */
    bool has_layer;   /* layer and occupancy are filled (false when a constraint forbids the configuration) */
    struct layer_case layer;
    struct occupancy occupancy[KERNELS_PER_LAYER_MAX];
    bool has_time; /* feasible, and the device's figures are known */
    struct layer_time time;
    double concurrency;
    bool has_step;
    struct serving_estimate step; /* ends NaN where no interval is known */
    char step_reason[192];        /* why there is no step, or what it stands on */
    bool has_effect;              /* a variant: effect against the base */
    struct variant_effect effect;
    bool extrapolating;
    bool new_workload; /* no row of it is behind the calibration (CAL-6) */
    char extrapolation[160];
};

/* Predict `values` (question->values, or the same at another concurrency); base: the base configuration at the same
 * concurrency. Infeasible is an answer; errors are those of expressions. */
MUST_CHECK enum status prediction_make(struct question *question, const double *values, const double *base,
                                       struct prediction *prediction, struct error *error);
/* Index of the first kernel that is launched. */
uint32_t prediction_first_kernel(const struct layer_case *layer);
/* Why a kernel cannot be launched, in one clause with its numbers. */
void launch_fault_describe(const struct kernel_case *kernel, const struct occupancy *occupancy,
                           const struct gpu_limits *limits, char *out, size_t out_size);

#endif
