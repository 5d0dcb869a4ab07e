/* SPDX-License-Identifier: GPL-3.0-or-later
 * What is launched: grid, CTA shape and resources. Plain numbers, each with where it came from. */
#ifndef OCCAM_MODEL_DESCRIBE_KERNEL_LAUNCH_H
#define OCCAM_MODEL_DESCRIBE_KERNEL_LAUNCH_H

#include <stdint.h>

#include "model/describe/input_source.h"

enum {
    CARVEOUT_DEFAULT = -1
};

struct kernel_launch {
    uint64_t grid_ctas;
    uint32_t threads; /* per CTA */
    uint32_t registers_per_thread;
    uint32_t static_smem_bytes;  /* per CTA, without the reserve of cc >= 8.0 */
    uint64_t dynamic_smem_bytes; /* per CTA */
    uint32_t barriers;           /* named barriers per CTA, at least 1 */
    uint32_t cluster_ctas;       /* CTAs per cluster, 1 = none */
    int32_t carveout_percent;    /* 0..100, CARVEOUT_DEFAULT = the driver's choice (as much as fits) */
    enum input_source registers_source, smem_source, grid_source;
};

#endif
