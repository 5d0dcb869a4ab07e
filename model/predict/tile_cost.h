/* SPDX-License-Identifier: GPL-3.0-or-later
 * Cost of one loop iteration of one CTA: latency, chain, and what it takes from each resource of its SM (docs/MODEL.md
 * section 4, TILE-1 ff. and MMA-1 ff.). Used by kernel_time and variant_effect. */
#ifndef OCCAM_MODEL_PREDICT_TILE_COST_H
#define OCCAM_MODEL_PREDICT_TILE_COST_H

#include <stddef.h>

#include "model/describe/kernel_case.h"
#include "model/predict/kernel_time.h"

/* Standard deviation of ln(time) where the registers are at the cap and nobody knows whether the kernel spills: the
 * 4-warp variant of a twin kernel at 255 registers spilled some 380 bytes and lost up to a fifth (docs/MODEL.md). */
#define UNKNOWN_SPILL_LOG_SIGMA 0.2
/* An unknown layout lies anywhere between the two: the span is taken as that many standard deviations. */
#define LAYOUT_SPAN_SIGMAS 2.0

struct tile_cost {
    double exposed_s;         /* latency + transfer of loads that nothing buffers */
    double hidden_latency_s;  /* latency of buffered loads, paid once and then divided by the buffers */
    double hidden_transfer_s; /* their bytes through the SM's port */
    double port_s;            /* of all loads, buffered or not */
    double compute_s;         /* chain of tensor, SMEM operand, scalar, barrier work of one CTA alone */
    double before_loads_s; /* part of it that comes before the loads of the next tile even where these go out early: the
                              overhead of an iteration whose instructions are all counted (TIME-2) */
    double tensor_s, issue_s, smem_s; /* busy time of the SM's pipes by one CTA (replicated work included) */
    double useful_tensor_s;           /* flop / best tensor rate of the SM */
    double sector_bytes;              /* L2 sectors requested */
    double dram_bytes;                /* of these from DRAM */
    double described_dram_bytes;      /* the same without the rest of each sector: no layout can do with less */
    double local_bytes;               /* spill traffic of the CTA */
    double through_l1_bytes;          /* of sector_bytes, those that pass L1: all but asynchronous copies */
    double in_flight_bytes;           /* bytes one CTA keeps in flight */
    double replication;               /* largest over the mma list */
    double layout_replication; /* replication under SPLIT_M over the assumed one, where the layout is unknown; else 1 */
    double layout_log;         /* its natural logarithm */
    double mma_share, issue_share, overhead_share, barrier_share, spill_share; /* parts of compute_s, sum to <= 1 */
};

/* What the last call computed, and from what. Zero-initialise. */
struct tile_memo {
    bool filled;
    uint32_t threads;
    unsigned char loop_bytes[offsetof(struct tile_loop, prologue_bytes) - offsetof(struct tile_loop, buffers)];
    struct tile_cost cost;
};
struct layer_memo {
    struct tile_memo kernels[KERNELS_PER_LAYER_MAX];
};
/* Is the iteration of this kernel the one that memo holds? */
bool tile_memo_holds(const struct tile_memo *memo, const struct kernel_case *kernel);

/* Cycles between two instructions of one warp of a CTA alone on its SM (TILE-4). */
double warp_issue_cycles(const struct time_model *model, uint32_t warps);
/* kernel validated, model initialised. */
void tile_cost_compute(const struct time_model *model, const struct kernel_case *kernel, struct tile_cost *cost);
/* The same through a memory of the last call: neighbouring configurations of a sweep often share the iteration. A
 * memory belongs to one model. Returns the cost, borrowed from memo until the next call. */
const struct tile_cost *tile_cost_recall(const struct time_model *model, const struct kernel_case *kernel,
                                         struct tile_memo *memo);

/* Latency of a load of `bytes` of which the share `missed` (0 to 1) must come from DRAM (TILE-2). */
double slowest_sector_latency_s(const struct time_model *model, double bytes, double missed);

/* Seconds of an SM's port for a load of `bytes` of which the share `missed` (0 to 1) comes from DRAM (TILE-2). */
double port_time_s(const struct time_model *model, double bytes, double missed);

/* Expected bytes of 32-byte sectors that a row of row_bytes touches when rows start at multiples of alignment_bytes
 * (TILE-1). */
double row_sector_bytes(double row_bytes, double alignment_bytes);

#endif
