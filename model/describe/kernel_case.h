/* SPDX-License-Identifier: GPL-3.0-or-later
 * One kernel of one configuration, ready to be predicted or simulated: launch + tile loop, and the cases of a layer. */
#ifndef OCCAM_MODEL_DESCRIBE_KERNEL_CASE_H
#define OCCAM_MODEL_DESCRIBE_KERNEL_CASE_H

#include <stdbool.h>

#include "model/describe/gpu_device.h"
#include "model/describe/kernel_launch.h"
#include "model/describe/tile_loop.h"

enum {
    KERNELS_PER_LAYER_MAX = 8,
    KERNEL_NAME_SIZE = 64
};

struct kernel_case {
    const char *name; /* borrowed from the scenario */
    struct kernel_launch launch;
    struct tile_loop loop;
    bool skipped; /* the scenario's `when` is false: the kernel is not launched (combine of one split) */
};

/* Kernels that run one after the other in a layer (for example split, then combine). */
struct layer_case {
    uint64_t workload; /* which workload this is, by the values of a scenario's workload variables; 0: not told */
    uint32_t kernel_count;
    struct kernel_case kernels[KERNELS_PER_LAYER_MAX];
};

/* Ranges a predictor relies on: counts positive and below sane caps, fractions in 0..1, nothing NaN but spill_bytes.
 * STATUS_DOMAIN naming kernel and quantity. Predictors below this line assume it has passed. */
MUST_CHECK enum status kernel_case_validate(const struct kernel_case *kernel, struct error *error);

#endif
