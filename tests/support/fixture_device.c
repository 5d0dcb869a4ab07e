/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figures of `testgpu`. Rates agree with the product's peaks to rounding, as a data file's must. */
#include "tests/support/fixture_device.h"

#include <math.h>
#include <string.h>

static const double SM_COUNT = 37.0;
static const double BOOST_CLOCK_HZ = 1.913e9;

static const struct gpu_limits TESTGPU_LIMITS = {
    .cc_major = 77,
    .cc_minor = 3,
    .max_warps_per_sm = 52,
    .max_ctas_per_sm = 19,
    .registers_per_sm = 65536,
    .max_registers_per_thread = 255,
    .max_registers_per_cta = 65536,
    .register_allocation_unit = 256,
    .warp_allocation_granularity = 4,
    .sub_cores_per_sm = 4,
    .max_threads_per_cta = 1024,
    .smem_per_sm_bytes = 118 * 1024,
    .smem_per_cta_optin_bytes = 117 * 1024,
    .smem_per_cta_default_bytes = 48 * 1024,
    .smem_reserved_per_cta_bytes = 1024,
    .smem_allocation_unit_bytes = 128,
    .named_barriers_per_sm = 23,
    .max_cluster_portable = 6,
    .max_cluster = 11,
    .max_clustered_ctas_per_sm = 0,
    .carveout_count = 5,
    .carveout_kib = {0, 14, 38, 74, 118},
    .has_cp_async = true,
};

static const struct {
    enum gpu_figure_id id;
    double value_si;
} TESTGPU_FIGURES[] = {
    {GPU_FIGURE_SM_COUNT, 37.0},
    {GPU_FIGURE_BASE_CLOCK, 1.327e9},
    {GPU_FIGURE_BOOST_CLOCK, 1.913e9},
    {GPU_FIGURE_DRAM_CAPACITY, 19e9},
    {GPU_FIGURE_DRAM_BANDWIDTH, 0.731e12},
    {GPU_FIGURE_DRAM_EFFICIENCY, 0.887},
    {GPU_FIGURE_L2_CAPACITY, 29.0 * 1048576.0},
    {GPU_FIGURE_L2_BANDWIDTH, 2.039e12},
    {GPU_FIGURE_SM_BANDWIDTH, 61.3},
    {GPU_FIGURE_SMEM_BANDWIDTH, 126.7},
    {GPU_FIGURE_L1_LATENCY, 34.9},
    {GPU_FIGURE_SMEM_LATENCY, 27.1},
    {GPU_FIGURE_L2_LATENCY, 253.0},
    {GPU_FIGURE_DRAM_LATENCY, 613e-9},
    {GPU_FIGURE_MMA_LATENCY, 31.7},
    {GPU_FIGURE_MMA_SYNC_FRACTION, 0.953},
    {GPU_FIGURE_FP32_LANES, 117.0},
    {GPU_FIGURE_SPECIAL_LANES, 15.3},
    {GPU_FIGURE_LAUNCH_LATENCY, 2.385e-6},
    {GPU_FIGURE_GRAPH_GAP, 1.171e-6},
    {GPU_FIGURE_STREAM_GAP, 3.119e-6},
    {GPU_FIGURE_CTA_START, 433e-9},
    {GPU_FIGURE_BARRIER, 21.9},
    {GPU_FIGURE_POWER, 287.0},
};

/* Tensor rates are given per SM and cycle; the peaks follow from them, so that the identities hold. */
static const struct {
    enum gpu_figure_id rate, peak;
    double flop_per_cycle_per_sm;
} TESTGPU_RATES[] = {
    {GPU_FIGURE_BF16_RATE, GPU_FIGURE_BF16_PEAK, 1039.0},
    {GPU_FIGURE_FP8_RATE, GPU_FIGURE_FP8_PEAK, 2087.0},
    {GPU_FIGURE_FP4_RATE, GPU_FIGURE_FP4_PEAK, 4211.0},
};

void fixture_device_set(struct gpu_device *device, enum gpu_figure_id id, double value_si)
{
    device->figures[id] =
        (struct gpu_figure){.value = value_si, .source = INPUT_SOURCE_USER, .citation = "test", .note = ""};
}

void fixture_device_init(struct gpu_device *device)
{
    memset(device, 0, sizeof *device);
    memcpy(device->name, "testgpu", sizeof "testgpu");
    device->title = "Testgpu 37 (invented)";
    device->chip = "TG37";
    device->memory_type = "TDR5";
    device->limits = TESTGPU_LIMITS;
    device->gpcs = (struct gpu_gpcs){.source = INPUT_SOURCE_ABSENT, .citation = "", .note = ""};
    for (int id = 0; id < GPU_FIGURE_COUNT; id++)
        device->figures[id] =
            (struct gpu_figure){.value = (double)NAN, .source = INPUT_SOURCE_ABSENT, .citation = "", .note = ""};
    for (size_t i = 0; i < sizeof TESTGPU_FIGURES / sizeof TESTGPU_FIGURES[0]; i++)
        fixture_device_set(device, TESTGPU_FIGURES[i].id, TESTGPU_FIGURES[i].value_si);
    for (size_t i = 0; i < sizeof TESTGPU_RATES / sizeof TESTGPU_RATES[0]; i++) {
        double rate = TESTGPU_RATES[i].flop_per_cycle_per_sm;
        fixture_device_set(device, TESTGPU_RATES[i].rate, rate);
        fixture_device_set(device, TESTGPU_RATES[i].peak, rate * SM_COUNT * BOOST_CLOCK_HZ);
    }
    /* A fused multiply-add counts as two. */
    fixture_device_set(device, GPU_FIGURE_FP32_RATE, 117.0 * 2.0 * SM_COUNT * BOOST_CLOCK_HZ);
}
