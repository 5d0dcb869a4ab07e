/* SPDX-License-Identifier: GPL-3.0-or-later
 * A GPU: the limits of its compute capability, and the figures of the product. Read by evidence/device_catalogue,
 * used by every predictor and simulator. */
#ifndef OCCAM_MODEL_DESCRIBE_GPU_DEVICE_H
#define OCCAM_MODEL_DESCRIBE_GPU_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/describe/input_source.h"

enum {
    GPU_CARVEOUT_MAX = 12,
    GPU_NAME_SIZE = 64,
    GPU_GPCS_MAX = 64
};

/* Exact limits of one compute capability (CUDA Programming Guide tables, cuda_occupancy.h 13.0). */
struct gpu_limits {
    unsigned cc_major, cc_minor;
    uint32_t max_warps_per_sm;
    uint32_t max_ctas_per_sm;
    uint32_t registers_per_sm;
    uint32_t max_registers_per_thread;
    uint32_t max_registers_per_cta;
    uint32_t register_allocation_unit;    /* registers per warp are rounded up to this */
    uint32_t warp_allocation_granularity; /* 4: warps are dealt to sub-cores in turn */
    uint32_t sub_cores_per_sm;
    uint32_t max_threads_per_cta;
    uint32_t smem_per_sm_bytes;
    uint32_t smem_per_cta_optin_bytes;   /* largest static + dynamic a CTA may ask for */
    uint32_t smem_per_cta_default_bytes; /* without opting in */
    uint32_t smem_reserved_per_cta_bytes;
    uint32_t smem_allocation_unit_bytes;
    uint32_t named_barriers_per_sm;             /* 0 = no such limit is applied (cc < 9.0) */
    uint32_t max_cluster_portable, max_cluster; /* CTAs; 0 = no clusters */
    uint32_t max_clustered_ctas_per_sm;         /* CTAs of clusters of more than one; 0 = not known, no limit applied */
    uint32_t carveout_count;
    uint32_t carveout_kib[GPU_CARVEOUT_MAX]; /* legal SMEM sizes per SM, ascending */
    bool has_cp_async, has_tma, has_wgmma, has_tcgen05, has_pdl;
};

/* Figures of a product. GPU_FIGURE_LIST(X): X(CONSTANT, "column name with unit", si_factor, "meaning")
 * The column name is the key in data/devices/ *.csv; value_si = value * si_factor.
 * Rates are per SM and clock so that sm_count and clock scale them. */
#define GPU_FIGURE_LIST(X)                                                                                             \
    X(SM_COUNT, "sm_count", 1.0, "streaming multiprocessors")                                                          \
    X(BASE_CLOCK, "base_clock_mhz", 1e6, "base SM clock")                                                              \
    X(BOOST_CLOCK, "boost_clock_mhz", 1e6, "boost SM clock; cycles convert to seconds with it")                        \
    X(DRAM_CAPACITY, "dram_capacity_gb", 1e9, "device memory")                                                         \
    X(DRAM_BANDWIDTH, "dram_bandwidth_gb_per_s", 1e9, "peak device-memory bandwidth")                                  \
    X(DRAM_EFFICIENCY, "dram_efficiency_fraction", 1.0, "best sustained share of that peak")                           \
    X(L2_CAPACITY, "l2_capacity_mib", 1048576.0, "L2 cache")                                                           \
    X(L2_BANDWIDTH, "l2_bandwidth_gb_per_s", 1e9, "sustained L2 read bandwidth, whole device")                         \
    X(SM_BANDWIDTH, "sm_bandwidth_bytes_per_cycle", 1.0, "reads of one SM from DRAM")                                  \
    X(SM_L2_BANDWIDTH, "sm_l2_bandwidth_bytes_per_cycle", 1.0, "reads of one SM that hit L2")                          \
    X(L2_PARTIAL_WRITE, "l2_partial_write_gb_per_s", 1e9, "writes of less than a sector, each as its 32 bytes")        \
    X(SM_PARTIAL_WRITE, "sm_partial_write_cycles", 1.0, "one such write of one SM alone")                              \
    X(SMEM_BANDWIDTH, "smem_bandwidth_bytes_per_cycle", 1.0, "SMEM (and L1) bandwidth of one SM")                      \
    X(L1_LATENCY, "l1_latency_cycles", 1.0, "L1 hit, pointer chase")                                                   \
    X(SMEM_LATENCY, "smem_latency_cycles", 1.0, "SMEM, pointer chase")                                                 \
    X(L2_LATENCY, "l2_latency_cycles", 1.0, "L2 hit, pointer chase")                                                   \
    X(DRAM_LATENCY, "dram_latency_ns", 1e-9, "DRAM, pointer chase; in time, it does not follow the SM clock")          \
    X(MMA_LATENCY, "mma_latency_cycles", 1.0, "mma.sync m16n8k16 with dependent accumulator")                          \
    X(BF16_RATE, "bf16_flop_per_cycle_per_sm", 1.0, "dense bf16 tensor rate, fp32 accumulate, best instruction")       \
    X(FP8_RATE, "fp8_flop_per_cycle_per_sm", 1.0, "dense fp8 tensor rate, fp32 accumulate")                            \
    X(FP4_RATE, "fp4_flop_per_cycle_per_sm", 1.0, "dense fp4 tensor rate")                                             \
    X(MMA_SYNC_FRACTION, "mma_sync_fraction", 1.0, "share of the tensor rate that mma.sync reaches")                   \
    X(FP32_LANES, "fp32_lanes_per_sm", 1.0, "fp32 lanes")                                                              \
    X(SPECIAL_LANES, "special_function_lanes_per_sm", 1.0, "exp2, rcp, ... results per cycle")                         \
    X(LAUNCH_LATENCY, "kernel_launch_us", 1e-6, "start and drain of one kernel inside a CUDA graph")                   \
    X(GRAPH_GAP, "graph_gap_us", 1e-6, "gap between dependent kernels in a graph")                                     \
    X(STREAM_GAP, "stream_gap_us", 1e-6, "gap between kernels in a stream")                                            \
    X(CTA_START, "cta_start_ns", 1e-9, "start of one CTA on an SM slot")                                               \
    X(BARRIER, "barrier_cycles", 1.0, "__syncthreads of one CTA")                                                      \
    X(FP32_RATE, "fp32_tflop_per_s", 1e12, "peak fp32 rate of the product")                                            \
    X(BF16_PEAK, "bf16_tflop_per_s", 1e12, "peak dense bf16 rate of the product")                                      \
    X(FP16_PEAK, "fp16_tflop_per_s", 1e12, "peak dense fp16 rate, fp32 accumulate")                                    \
    X(FP16_FAST_PEAK, "fp16_fast_tflop_per_s", 1e12, "peak dense fp16 rate, fp16 accumulate")                          \
    X(FP8_PEAK, "fp8_tflop_per_s", 1e12, "peak dense fp8 rate, fp32 accumulate")                                       \
    X(FP8_FAST_PEAK, "fp8_fast_tflop_per_s", 1e12, "peak dense fp8 rate, fp16 accumulate or block-scaled")             \
    X(FP4_PEAK, "fp4_tflop_per_s", 1e12, "peak dense fp4 rate")                                                        \
    X(POWER, "board_power_watts", 1.0, "board power limit")                                                            \
    X(NVLINK_BANDWIDTH, "nvlink_gb_per_s", 1e9, "NVLink, both directions together")

#define GPU_FIGURE_ENUM_ENTRY(constant, column, si_factor, meaning) GPU_FIGURE_##constant,
enum gpu_figure_id {
    GPU_FIGURE_LIST(GPU_FIGURE_ENUM_ENTRY) GPU_FIGURE_COUNT
};
#undef GPU_FIGURE_ENUM_ENTRY

struct gpu_figure {
    double value;             /* SI; NaN where absent */
    enum input_source source; /* ABSENT where there is no value */
    const char *citation;     /* borrowed from the catalogue, never NULL */
    const char *note;         /* borrowed, "" if none: disagreements between sources */
};

/* SMs by the groups in which a cluster stays: whole GPCs, and what is left of one that lost SMs. Chips of one product
 * differ. */
struct gpu_gpcs {
    uint32_t count; /* 0: not known */
    uint32_t sms[GPU_GPCS_MAX];
    enum input_source source; /* ABSENT where count is 0 */
    const char *citation;     /* borrowed from the catalogue, never NULL */
    const char *note;
};

/* Identity is the name plus sm_count, never the compute capability. A device made from a bare "sm_120" has limits
 * only: every figure is ABSENT. Strings are borrowed from the catalogue, which outlives the device. */
struct gpu_device {
    char name[GPU_NAME_SIZE];       /* file name stem, for example "rtx-pro-6000-blackwell-server" */
    const char *title;              /* product name as the vendor prints it */
    const char *chip, *memory_type; /* "" if unknown */
    struct gpu_limits limits;
    struct gpu_figure figures[GPU_FIGURE_COUNT];
    struct gpu_gpcs gpcs;
};

/* The CSV key of a figure, for example "sm_count"; its SI factor; its meaning. Static storage. */
const char *gpu_figure_column(enum gpu_figure_id id);
double gpu_figure_si_factor(enum gpu_figure_id id);
const char *gpu_figure_meaning(enum gpu_figure_id id);
/* The unit as device files and tables print it ("MHz", "GB/s", "flop/cycle/SM"); follows from the column's ending.
 * Static storage. */
const char *gpu_figure_unit(enum gpu_figure_id id);

/* SI value, or NaN where absent. */
double gpu_device_value(const struct gpu_device *device, enum gpu_figure_id id);
/* Checks ranges and the datasheet identities that must hold (rate x SMs x clock = peak within 2 % where all are given
 * and the file does not note the disagreement). STATUS_BAD_DATA names the figure. */
MUST_CHECK enum status gpu_device_validate(const struct gpu_device *device, struct error *error);
/* STATUS_MISSING naming all figures that kernel-time prediction needs and the device lacks; sm_count alone where even
 * that is absent (a compute capability). */
MUST_CHECK enum status gpu_device_require_timing(const struct gpu_device *device, struct error *error);

#endif
