/* SPDX-License-Identifier: GPL-3.0-or-later
 * The GPU as the CTA simulator sees it: device figures times model parameters, and how many CTAs an SM takes in. */
#ifndef OCCAM_SIM_SIMULATED_MACHINE_H
#define OCCAM_SIM_SIMULATED_MACHINE_H

#include <stdint.h>

#include "base/status.h"
#include "model/describe/gpu_device.h"
#include "model/describe/kernel_launch.h"
#include "model/describe/model_parameters.h"
#include "model/describe/tile_loop.h"

enum {
    SUB_CORES_MAX = 4,
    SIMULATED_SMS_MAX = 1024,
    SM_SLOTS_MAX = 64
};

/* Seconds, bytes per second; everything may be set by hand (infinite rates are no contention). */
struct simulated_machine {
    const struct gpu_limits *limits; /* borrowed */
    uint32_t sm_count;
    const struct gpu_gpcs *gpcs; /* borrowed; NULL or empty: not known, the device is one GPC */
    uint32_t sms_per_gpc;        /* in its place, equal ones; 0: as the device says */
    double cycle_s;
    double dram_latency_s, l2_latency_s;
    double dram_bytes_per_s, l2_bytes_per_s; /* whole device */
    double port_partial_write_s,
        l2_partial_write_s;                       /* a write of less than a sector, of one SM, of the device (SIM-11) */
    double port_bytes_per_s, port_l2_bytes_per_s; /* one SM: from DRAM, from L2 */
    double smem_bytes_per_s;                      /* of one SM */
    double l2_capacity_bytes, l1_bytes;           /* l1_bytes: SMEM and L1 together, one SM */
    double mma_latency_s;
    double operand_wait_s;          /* of a product for one operand load of its warp, the part not issued ahead */
    double compiled_operand_wait_s; /* for one that compiled code was seen to wait for: a latency of SMEM */
    double mma_flop_per_s[NUMBER_FORMAT_COUNT];       /* mma.sync, one SM; NaN: the device has none */
    double warpgroup_flop_per_s[NUMBER_FORMAT_COUNT]; /* wgmma and tcgen05, one SM */
    double special_per_s;                             /* lane results, one SM */
    double issue_factor, compiled_issue_factor;       /* x estimated, x counted instructions */
    double issue_interval;                            /* cycles between two instructions of one warp */
    double iteration_overhead_s;
    double barrier_s; /* of a CTA of 2.5 warps; scaled with the warps (SIM-6) */
    double spill_s;   /* one warp's 4-byte access */
    double spill_traffic_factor;
    double launch_s, graph_gap_s, stream_gap_s, cta_start_s;
};

/* STATUS_MISSING where the device lacks figures. */
MUST_CHECK enum status simulated_machine_init(struct simulated_machine *machine, const struct gpu_device *device,
                                              const struct model_parameters *parameters, struct error *error);

/* SMs of GPC number `gpc`, of which `left` have no GPC yet: what the machine says, the rest where it says nothing. */
uint32_t simulated_gpc_sms(const struct simulated_machine *machine, uint32_t gpc, uint32_t left);

/* What an empty SM takes in, CTA by CTA until one does not fit. */
struct sm_residency {
    uint32_t ctas;                        /* 0: not even one */
    uint8_t first_sub_core[SM_SLOTS_MAX]; /* of each: warp j runs on the (first + j) mod sub-cores */
    const char *full;                     /* which resource refused the next one; static */
};
/* eq. SIM-1 */
void sm_residency_fill(const struct gpu_limits *limits, const struct kernel_launch *launch,
                       struct sm_residency *residency);

#endif
