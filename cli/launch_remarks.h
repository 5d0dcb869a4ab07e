/* SPDX-License-Identifier: GPL-3.0-or-later
 * What an answer leaves out of a launch, or what the launch asks of its builder, one sentence each; what limits its
 * residency. Used by occupancy, predict and whatif. */
#ifndef OCCAM_CLI_LAUNCH_REMARKS_H
#define OCCAM_CLI_LAUNCH_REMARKS_H

#include <stddef.h>

#include "cli/report.h"
#include "model/describe/kernel_case.h"

enum {
    LAUNCH_REMARKS_MAX = 5 * KERNELS_PER_LAYER_MAX,
    LAUNCH_LIMITERS_TEXT_SIZE = 96
};

struct launch_remarks {
    size_t count;
    char texts[LAUNCH_REMARKS_MAX][256];
};

/* Appends what applies to this launch; kernel names it, "" where there is only one. Zero-initialise *remarks. */
void launch_remarks_add(struct launch_remarks *remarks, const char *kernel, const struct gpu_limits *limits,
                        const struct kernel_launch *launch);
/* The same of what the kernel's loop asks of its launch: stages that are never filled (SMEM-10), accumulators that do
 * not fit into registers (SMEM-11). */
void launch_remarks_add_loop(struct launch_remarks *remarks, const struct gpu_limits *limits,
                             const struct kernel_case *kernel);
/* "registers and smem" of the bits of `struct occupancy`.limiters; "" for none. Returns out. */
const char *launch_limiters_text(unsigned limiters, char out[LAUNCH_LIMITERS_TEXT_SIZE]);
/* The array `remarks`, empty where nothing applies. */
void launch_remarks_record(const struct launch_remarks *remarks, struct report *report);
/* One line each, after an empty line; nothing where nothing applies. */
void launch_remarks_print(const struct launch_remarks *remarks);

#endif
