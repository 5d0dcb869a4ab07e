/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernel time from launch + tile loop + device + parameters (docs/MODEL.md eq. TIME-2 ff.). Pure formulas. */
#ifndef OCCAM_MODEL_PREDICT_KERNEL_TIME_H
#define OCCAM_MODEL_PREDICT_KERNEL_TIME_H

#include <stdbool.h>

#include "model/describe/gpu_device.h"
#include "model/describe/kernel_case.h"
#include "model/describe/model_parameters.h"
#include "model/predict/occupancy.h"
#include "model/predict/waves.h"

/* What bounds the time. Shares over these sum to one. */
enum time_limiter {
    TIME_LIMITER_LAUNCH,         /* kernel start and drain, CTA start, gaps */
    TIME_LIMITER_MEMORY_LATENCY, /* waiting for loads that are not overlapped */
    TIME_LIMITER_DEPENDENCY,     /* one CTA's own chain of tensor, softmax, barrier work */
    TIME_LIMITER_TENSOR,         /* tensor pipes of the SM */
    TIME_LIMITER_ISSUE,          /* instruction issue of the SM */
    TIME_LIMITER_SMEM,           /* SMEM bandwidth of the SM */
    TIME_LIMITER_SM_BANDWIDTH,   /* L2-to-SM bandwidth */
    TIME_LIMITER_L2,             /* L2 bandwidth of the device */
    TIME_LIMITER_DRAM,           /* DRAM bandwidth */
    TIME_LIMITER_COUNT
};
/* "launch", "memory_latency", ...; static. */
const char *time_limiter_name(enum time_limiter limiter);

/* Device figures and parameters multiplied out once, so that the hot path has no look-ups. */
struct time_model {
    const struct gpu_limits *limits; /* borrowed */
    uint32_t sm_count;
    double clock_hz, cycle_s;
    double launch_s, gap_s, cta_start_s;
    double dram_latency_s, l2_latency_s, smem_latency_s;
    double dram_bytes_per_s, peak_dram_bytes_per_s; /* sustained with the factor; datasheet peak for floors */
    double l2_bytes_per_s, l2_capacity_bytes;
    double sm_bytes_per_s, sm_l2_bytes_per_s; /* what one SM draws from DRAM, and of what L2 has */
    double smem_bytes_per_s;
    double sm_partial_write_s, l2_partial_write_s; /* one partial write (TIME-9), of one SM alone, of the device */
    double mma_latency_s;
    double mma_sync_flop_per_s_per_sm[NUMBER_FORMAT_COUNT], warpgroup_flop_per_s_per_sm[NUMBER_FORMAT_COUNT];
    double issue_per_s;          /* warp instructions per second and SM */
    double issue_factor;         /* instructions issued per instruction the description counts */
    double exact_issue_factor;   /* the same for instructions counted in compiled code: issue_factor over its default */
    double exact_operand_factor; /* operand_factor over its default, for waits read off compiled code */
    double issue_interval;       /* cycles between two instructions of a lone warp */
    double spill_traffic_factor, operand_factor;
    double l1_bytes;      /* SMEM and L1 of an SM together */
    double special_per_s; /* special-function results per second and SM */
    double iteration_overhead_s, barrier_s, spill_s_per_access;
    double overlap_exponent, device_exponent, pipeline_exponent;
    double log_sigma[PARAMETER_COUNT]; /* for intervals */
    double model_log_sigma;
    double interval_z; /* normal quantile of the two-sided level */
    char device_name[GPU_NAME_SIZE];
};

/* Multiply device and parameters out. STATUS_MISSING names a figure the device lacks; STATUS_DOMAIN a parameter out of
 * its physical range. device->limits is borrowed by *model. */
MUST_CHECK enum status time_model_init(struct time_model *model, const struct gpu_device *device,
                                       const struct model_parameters *parameters, struct error *error);

/* STATUS_MISSING when the kernel uses a number format whose tensor rate the device does not have or does not state. */
MUST_CHECK enum status time_model_supports(const struct time_model *model, const struct kernel_case *kernel,
                                           struct error *error);

/* Replication of a tile product over warps (eq. MMA-1). */
struct mma_replication {
    uint32_t warps_m, warps_n; /* warp grid */
    double useful_warps;       /* u */
    double replication;        /* warps / u, >= 1 */
    double tiles_per_warp;     /* independent accumulators per warp, g */
};
/* True where the compiler's layout is not known for certain (AUTO, CHAINED on mma.sync). */
bool mma_layout_is_unknown(const struct mma_op *op);
void mma_replication_compute(const struct mma_op *op, uint32_t warps, struct mma_replication *result);

struct kernel_time {
    bool feasible;
    uint32_t ctas_per_sm;
    struct waves waves;
    double time_s, time_lo_s, time_hi_s; /* interval at the model's level; NaN when infeasible */
    double log_sigma;                    /* of ln(time): parameters and model form together */
    double structural_log_sigma;         /* the part of it that unknown mma layout and spills bring */
    double shares[TIME_LIMITER_COUNT];   /* sum to 1 */
    enum time_limiter limiter;           /* largest share */
    /* Parts, seconds, for explanation: per iteration of one CTA alone, and per device */
    double iteration_s, iteration_load_s, iteration_compute_s;
    double dram_floor_s, tensor_floor_s; /* bounds no configuration can beat: bytes / peak, flop / peak */
    double dram_bytes, l2_bytes;         /* whole grid */
    double partial_write_s;              /* of the whole grid, beside l2_bytes (TIME-9) */
    double replication;                  /* largest over the mma list */
    double bytes_in_flight_per_sm;
};

/* One kernel. kernel must have passed kernel_case_validate. With skipped set: time 0, shares 0, feasible. */
void kernel_time_predict(const struct time_model *model, const struct kernel_case *kernel, struct kernel_time *result);

/* Kernels of a layer one after the other with graph gaps between those not skipped. */
struct layer_time {
    bool feasible;
    uint32_t infeasible_kernel; /* index, when not feasible */
    double time_s, time_lo_s, time_hi_s, log_sigma, structural_log_sigma;
    double shares[TIME_LIMITER_COUNT]; /* of the layer's time */
    enum time_limiter limiter;
    uint32_t kernel_count;
    struct kernel_time kernels[KERNELS_PER_LAYER_MAX];
};
void layer_time_predict(const struct time_model *model, const struct layer_case *layer, struct layer_time *result);
/* Index of the kernel that takes longest, the first of equals. */
uint32_t layer_time_longest_kernel(const struct layer_time *time);
/* The same for many layers in a row. *memo (model/predict/tile_cost.h) is zero at first and belongs to this model. */
struct layer_memo;
void layer_time_predict_next(const struct time_model *model, const struct layer_case *layer, struct layer_memo *memo,
                             struct layer_time *result);
/* The times alone, to the last digit those of layer_time_predict, of one layer under count >= 1 models of one device
 * that differ in little from the first, as derivatives need them: what comes out alike is computed once. times_s:
 * count; NaN where the layer does not fit. memos: count, zero at first; they belong to these models. */
void layer_times_predict(const struct time_model *models, uint32_t count, const struct layer_case *layer,
                         struct layer_memo *memos, double *times_s);

#endif
