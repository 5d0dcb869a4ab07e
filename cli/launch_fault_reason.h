/* SPDX-License-Identifier: GPL-3.0-or-later
 * Why a launch cannot run, with what it asks for and the limit it breaks. Used by occupancy, predict and reconcile. */
#ifndef OCCAM_CLI_LAUNCH_FAULT_REASON_H
#define OCCAM_CLI_LAUNCH_FAULT_REASON_H

#include <stddef.h>

#include "model/describe/kernel_launch.h"
#include "model/predict/occupancy.h"

enum {
    LAUNCH_FAULT_REASON_SIZE = 256
};

/* "300 registers per thread, the limit is 255"; fault is that of occupancy_compute for the same launch and limits.
 * Returns out. */
const char *launch_fault_reason(const struct gpu_limits *limits, const struct kernel_launch *launch,
                                enum launch_fault fault, char *out, size_t out_size);

#endif
