/* SPDX-License-Identifier: GPL-3.0-or-later
 * What one CTA does, as stages with the work each brings to the SM's and the device's servers (SIM-4 to SIM-7, SIM-10).
 * Used by sim/cta_simulator. */
#ifndef OCCAM_SIM_CTA_PROGRAM_H
#define OCCAM_SIM_CTA_PROGRAM_H

#include "model/describe/kernel_case.h"
#include "sim/simulated_machine.h"

enum cta_stage {
    CTA_STAGE_START,    /* until its first instruction */
    CTA_STAGE_PROLOGUE, /* what is read before the loop */
    CTA_STAGE_LOAD,     /* waiting for a tile */
    CTA_STAGE_BARRIER,
    CTA_STAGE_PRODUCT, /* tensor work with the SMEM operands that feed it */
    CTA_STAGE_SCALAR,  /* softmax, dequantisation, addresses */
    CTA_STAGE_SPILL,
    CTA_STAGE_OVERHEAD,
    CTA_STAGE_EPILOGUE,
    CTA_STAGE_COUNT
};
/* "start", "load", ...; static. */
const char *cta_stage_name(enum cta_stage stage);

enum {
    CTA_STEPS_MAX = TILE_LOOP_MMA_MAX + 4
};

/* One stage of an iteration. Seconds of a server are work over its rate. */
struct cta_step {
    enum cta_stage stage;
    double alone_s;           /* with the SM to itself */
    double issue_s, tensor_s; /* of its sub-core, per warp */
    uint32_t warps;           /* that do it */
    double special_s, smem_s; /* of the SM */
    double local_bytes;       /* spill traffic, of which L2 gets what L1 does not hold */
};

/* Bytes on their way to an SM. */
struct cta_transfer {
    double latency_s; /* until the slowest of its sectors is there, nothing else under way */
    double bytes, dram_bytes;
    bool is_written;                     /* to L2 at the rate of DRAM's reads: stores have no better one */
    double partial_port_s, partial_l2_s; /* in place of the bytes' time, where they are partial writes (SIM-11) */
    double smem_s;                       /* of the SM, for writing them to SMEM */
};

struct cta_program {
    uint32_t warps;
    double start_s, edge_s;                                /* edge_s: before the loop, and as much after it */
    double edge_issue_s;                                   /* of its sub-core, per warp */
    struct cta_transfer prologue, tile, exposed, epilogue; /* tile: buffered, exposed: waited for in every iteration */
    uint32_t buffers;                                      /* tiles that may be on their way or waiting, at least 1 */
    uint32_t refill_step; /* the load of the tile `buffers` ahead goes out after so many steps of an iteration */
    uint32_t step_count;
    struct cta_step steps[CTA_STEPS_MAX];
    double frame_bytes, smem_bytes; /* local memory and SMEM of one CTA */
    double iteration_alone_s;       /* sum of the steps */
};

/* kernel validated. STATUS_MISSING where the device lacks the rate of a product's format. */
MUST_CHECK enum status cta_program_build(const struct simulated_machine *machine, const struct kernel_case *kernel,
                                         struct cta_program *program, struct error *error);

#endif
