/* SPDX-License-Identifier: GPL-3.0-or-later
 * Resident CTAs per SM: exact for cc 7.0 to 12.1 (docs/MODEL.md eq. OCC-1 ff., equal to cuda_occupancy.h 13.0). */
#ifndef OCCAM_MODEL_PREDICT_OCCUPANCY_H
#define OCCAM_MODEL_PREDICT_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/describe/gpu_device.h"
#include "model/describe/kernel_launch.h"

enum occupancy_limiter {
    OCCUPANCY_LIMITER_WARPS = 1u << 0,
    OCCUPANCY_LIMITER_CTAS = 1u << 1,
    OCCUPANCY_LIMITER_REGISTERS = 1u << 2,
    OCCUPANCY_LIMITER_SMEM = 1u << 3,
    OCCUPANCY_LIMITER_BARRIERS = 1u << 4,
    OCCUPANCY_LIMITER_CLUSTER = 1u << 5
};
enum {
    OCCUPANCY_LIMITER_KINDS = 6,
    OCCUPANCY_NO_LIMIT = INT32_MAX,
    NAMED_BARRIERS_PER_CTA_MAX = 16 /* PTX names barriers 0 to 15 in every CTA, on every architecture */
};
/* "warps", "ctas", "registers", "smem", "barriers", "cluster" for bit number 0..5; static. */
const char *occupancy_limiter_name(unsigned bit);

/* Why a launch cannot run at all. */
enum launch_fault {
    LAUNCH_FAULT_NONE,
    LAUNCH_FAULT_THREADS,              /* 0 or more than max_threads_per_cta */
    LAUNCH_FAULT_REGISTERS_PER_THREAD, /* over max_registers_per_thread */
    LAUNCH_FAULT_REGISTERS_PER_CTA,    /* registers of the CTA, warps rounded up to 4, over max_registers_per_cta */
    LAUNCH_FAULT_SMEM_PER_CTA,         /* static + dynamic over the opt-in limit */
    LAUNCH_FAULT_BARRIERS,             /* one CTA alone over the pool */
    LAUNCH_FAULT_CLUSTER,              /* cluster of 0, larger than the device allows, or on a device without */
    LAUNCH_FAULT_GRID                  /* not a multiple of the cluster */
};
/* One clause in English; static. */
const char *launch_fault_text(enum launch_fault fault);

struct occupancy {
    uint32_t ctas_per_sm; /* A; 0 when the launch is impossible */
    uint32_t warps_per_cta;
    uint32_t warps_per_sm;
    double occupancy_fraction; /* warps_per_sm / max_warps_per_sm */
    unsigned limiters;         /* OR of enum occupancy_limiter: every limit equal to ctas_per_sm */
    int32_t limit_warps, limit_ctas, limit_registers, limit_smem, limit_barriers, limit_cluster; /* CTAs per SM each
                                         would allow alone; OCCUPANCY_NO_LIMIT where it does not apply */
    uint32_t registers_allocated_per_warp;
    uint64_t registers_allocated_per_cta;
    uint64_t smem_requested_bytes; /* static + dynamic */
    uint64_t smem_allocated_bytes; /* with the reserve, rounded up */
    uint64_t smem_per_sm_bytes;    /* carve-out in effect */
    enum launch_fault fault;
    int64_t smem_over_limit_bytes; /* static + dynamic - opt-in limit; negative = room left */
    /* Distance to one more CTA per SM (ctas_per_sm + 1), each resource alone, whether or not it is the limiter:
     * the largest value that would allow it; -1 where no value can. It raises ctas_per_sm when that resource is the
     * only limiter; with several limiters all must be met (docs/MODEL.md OCC-9). */
    int32_t next_cta_registers_per_thread;
    int64_t next_cta_smem_bytes; /* largest static + dynamic */
    int32_t next_cta_threads;    /* meets warp slots and the register file: both follow the threads */
};

/* Never fails: an impossible launch is an answer (ctas_per_sm 0 and a fault). launch->grid_ctas is looked at only for
 * cluster launches and LAUNCH_FAULT_GRID is raised only when grid_ctas is not a multiple of cluster_ctas;
 * sm_count is not needed. Several faults: the first in the order of enum launch_fault. Allocations that do not fit
 * their type are its maximum (a fault is set then). carveout_percent outside CARVEOUT_DEFAULT, 0..100 is our own
 * mistake. */
void occupancy_compute(const struct gpu_limits *limits, const struct kernel_launch *launch, struct occupancy *result);

/* The hot path: resident CTAs per SM only, same answer as occupancy_compute().ctas_per_sm. */
uint32_t occupancy_ctas_per_sm(const struct gpu_limits *limits, const struct kernel_launch *launch);

#endif
