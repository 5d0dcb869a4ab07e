/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the figures of a GPU are called and which values are possible. Called by evidence/device_catalogue for every
 * file, and by the predictors before they rely on a figure. */
#include "model/describe/gpu_device.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

struct figure_row {
    const char *column, *meaning;
    double si_factor;
};

#define GPU_FIGURE_ROW(constant, column, si_factor, meaning) [GPU_FIGURE_##constant] = {column, meaning, si_factor},
static const struct figure_row figure_rows[GPU_FIGURE_COUNT] = {GPU_FIGURE_LIST(GPU_FIGURE_ROW)};
#undef GPU_FIGURE_ROW

static const struct figure_row *figure_row(enum gpu_figure_id id)
{
    if ((unsigned)id >= (unsigned)GPU_FIGURE_COUNT)
        BUG("GPU figure %d does not exist", (int)id);
    return &figure_rows[id];
}

const char *gpu_figure_column(enum gpu_figure_id id)
{
    return figure_row(id)->column;
}

double gpu_figure_si_factor(enum gpu_figure_id id)
{
    return figure_row(id)->si_factor;
}

const char *gpu_figure_meaning(enum gpu_figure_id id)
{
    return figure_row(id)->meaning;
}

const char *gpu_figure_unit(enum gpu_figure_id id)
{
    /* The unit is the end of the name, so the two cannot drift apart. Longer endings first. */
    static const struct {
        const char *ending, *unit;
    } units[] = {
        {"_flop_per_cycle_per_sm", "flop/cycle/SM"},
        {"_bytes_per_cycle", "bytes/cycle"},
        {"_tflop_per_s", "TFLOP/s"},
        {"_lanes_per_sm", "lanes/SM"},
        {"_gb_per_s", "GB/s"},
        {"_fraction", "fraction"},
        {"_cycles", "cycles"},
        {"_count", "count"},
        {"_watts", "W"},
        {"_mhz", "MHz"},
        {"_mib", "MiB"},
        {"_gb", "GB"},
        {"_ns", "ns"},
        {"_us", "us"},
    };
    const char *column = figure_row(id)->column;
    size_t length = strlen(column);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t ending_length = strlen(units[i].ending);
        if (length > ending_length && strcmp(column + length - ending_length, units[i].ending) == 0)
            return units[i].unit;
    }
    BUG("figure %s does not end in a known unit", column);
}

double gpu_device_value(const struct gpu_device *device, enum gpu_figure_id id)
{
    (void)figure_row(id);
    return device->figures[id].value;
}

/* Possible values in the file's unit: wide enough for any GPU since 2017 and the next few, narrow enough to catch a
 * wrong unit or a slipped digit. */
static const struct {
    double minimum, maximum;
} figure_ranges[GPU_FIGURE_COUNT] = {
    [GPU_FIGURE_SM_COUNT] = {1, 1024},
    [GPU_FIGURE_BASE_CLOCK] = {100, 5000},
    [GPU_FIGURE_BOOST_CLOCK] = {100, 5000},
    [GPU_FIGURE_DRAM_CAPACITY] = {1, 4096},
    [GPU_FIGURE_DRAM_BANDWIDTH] = {10, 100000},
    [GPU_FIGURE_DRAM_EFFICIENCY] = {0.05, 1},
    [GPU_FIGURE_L2_CAPACITY] = {0.25, 2048},
    [GPU_FIGURE_L2_BANDWIDTH] = {10, 1000000},
    [GPU_FIGURE_SM_BANDWIDTH] = {4, 1024},
    [GPU_FIGURE_SM_L2_BANDWIDTH] = {4, 1024},
    [GPU_FIGURE_SMEM_BANDWIDTH] = {16, 2048},
    [GPU_FIGURE_L2_PARTIAL_WRITE] = {0.1, 10000},
    [GPU_FIGURE_SM_PARTIAL_WRITE] = {0.1, 1000},
    [GPU_FIGURE_L1_LATENCY] = {4, 1000},
    [GPU_FIGURE_SMEM_LATENCY] = {4, 1000},
    [GPU_FIGURE_L2_LATENCY] = {20, 5000},
    [GPU_FIGURE_DRAM_LATENCY] = {50, 10000},
    [GPU_FIGURE_MMA_LATENCY] = {2, 1000},
    [GPU_FIGURE_BF16_RATE] = {16, 1e6},
    [GPU_FIGURE_FP8_RATE] = {16, 1e6},
    [GPU_FIGURE_FP4_RATE] = {16, 1e6},
    [GPU_FIGURE_MMA_SYNC_FRACTION] = {0.01, 1},
    [GPU_FIGURE_FP32_LANES] = {8, 1024},
    [GPU_FIGURE_SPECIAL_LANES] = {1, 256},
    [GPU_FIGURE_LAUNCH_LATENCY] = {0.01, 1000},
    [GPU_FIGURE_GRAPH_GAP] = {0.01, 1000},
    [GPU_FIGURE_STREAM_GAP] = {0.01, 1000},
    [GPU_FIGURE_CTA_START] = {1, 100000},
    [GPU_FIGURE_BARRIER] = {1, 10000},
    [GPU_FIGURE_FP32_RATE] = {0.1, 10000},
    [GPU_FIGURE_BF16_PEAK] = {0.1, 1e6},
    [GPU_FIGURE_FP16_PEAK] = {0.1, 1e6},
    [GPU_FIGURE_FP16_FAST_PEAK] = {0.1, 1e6},
    [GPU_FIGURE_FP8_PEAK] = {0.1, 1e6},
    [GPU_FIGURE_FP8_FAST_PEAK] = {0.1, 1e6},
    [GPU_FIGURE_FP4_PEAK] = {0.1, 1e6},
    [GPU_FIGURE_POWER] = {5, 10000},
    [GPU_FIGURE_NVLINK_BANDWIDTH] = {1, 100000},
};

/* Conversion to SI and back may move the last bit; a limit such as 1 must still be met. */
static const double RANGE_SLACK = 1e-12;

static enum status check_figure(const struct gpu_device *device, enum gpu_figure_id id, struct error *error)
{
    const struct gpu_figure *figure = &device->figures[id];
    const char *column = gpu_figure_column(id);
    double minimum = figure_ranges[id].minimum, maximum = figure_ranges[id].maximum;
    if (!figure->citation || !figure->note)
        BUG("device %s: figure %s without citation or note text", device->name, column);
    if (figure->source == INPUT_SOURCE_ABSENT) {
        if (!isnan(figure->value))
            return error_set(error, STATUS_BAD_DATA, "%s has a value but is marked absent", column);
        return STATUS_OK;
    }
    if (figure->citation[0] == '\0')
        return error_set(error, STATUS_BAD_DATA, "%s has no source", column);
    double value = figure->value / gpu_figure_si_factor(id);
    if (!(value >= minimum * (1.0 - RANGE_SLACK) && value <= maximum * (1.0 + RANGE_SLACK)))
        return error_set(error, STATUS_BAD_DATA, "%s is %.9g, expected %g to %g %s", column, value, minimum, maximum,
                         gpu_figure_unit(id));
    if (id == GPU_FIGURE_SM_COUNT && value != floor(value))
        return error_set(error, STATUS_BAD_DATA, "%s is %.9g, expected a whole number", column, value);
    return STATUS_OK;
}

/* A file that knows about a contradiction between its sources says so in the note of one of the two figures. */
static bool notes_disagreement(const struct gpu_figure *left, const struct gpu_figure *right)
{
    return strstr(left->note, "disagreement") || strstr(right->note, "disagreement");
}

/* peak = rate per SM and cycle x SMs x boost clock. */
static enum status check_peak(const struct gpu_device *device, enum gpu_figure_id peak_id, enum gpu_figure_id rate_id,
                              double flop_per_rate, struct error *error)
{
    static const double TOLERANCE = 0.02; /* datasheets round peaks and clocks to two or three digits */
    double peak = gpu_device_value(device, peak_id);
    double implied = flop_per_rate * gpu_device_value(device, rate_id) * gpu_device_value(device, GPU_FIGURE_SM_COUNT) *
                     gpu_device_value(device, GPU_FIGURE_BOOST_CLOCK);
    if (isnan(peak) || isnan(implied) || fabs(implied - peak) <= TOLERANCE * peak ||
        notes_disagreement(&device->figures[peak_id], &device->figures[rate_id]))
        return STATUS_OK;
    return error_set(error, STATUS_BAD_DATA,
                     "%s is %.6g, but %s x SMs x boost clock gives %.6g; correct one of them or note the disagreement",
                     gpu_figure_column(peak_id), peak / FLOP_PER_TFLOP, gpu_figure_column(rate_id),
                     implied / FLOP_PER_TFLOP);
}

/* The first figure must not exceed the second; absent ones pass. */
static enum status check_order(const struct gpu_device *device, enum gpu_figure_id smaller_id,
                               enum gpu_figure_id larger_id, struct error *error)
{
    double smaller = gpu_device_value(device, smaller_id), larger = gpu_device_value(device, larger_id);
    if (isnan(smaller) || isnan(larger) || smaller <= larger)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_DATA, "%s is %.6g, more than %s with %.6g", gpu_figure_column(smaller_id),
                     smaller / gpu_figure_si_factor(smaller_id), gpu_figure_column(larger_id),
                     larger / gpu_figure_si_factor(larger_id));
}

static enum status check_identities(const struct gpu_device *device, struct error *error)
{
    static const struct {
        enum gpu_figure_id peak, rate;
        double flop_per_rate;
    } peaks[] = {
        {GPU_FIGURE_FP32_RATE, GPU_FIGURE_FP32_LANES, 2.0}, /* a fused multiply-add is two */
        {GPU_FIGURE_BF16_PEAK, GPU_FIGURE_BF16_RATE, 1.0},
        {GPU_FIGURE_FP16_PEAK, GPU_FIGURE_BF16_RATE, 1.0}, /* fp16 runs at the bf16 rate wherever there is bf16 */
        {GPU_FIGURE_FP8_PEAK, GPU_FIGURE_FP8_RATE, 1.0},
        {GPU_FIGURE_FP4_PEAK, GPU_FIGURE_FP4_RATE, 1.0},
    };
    static const struct {
        enum gpu_figure_id smaller, larger;
    } orders[] = {
        {GPU_FIGURE_BASE_CLOCK, GPU_FIGURE_BOOST_CLOCK}, {GPU_FIGURE_FP16_PEAK, GPU_FIGURE_FP16_FAST_PEAK},
        {GPU_FIGURE_FP8_PEAK, GPU_FIGURE_FP8_FAST_PEAK}, {GPU_FIGURE_BF16_RATE, GPU_FIGURE_FP8_RATE},
        {GPU_FIGURE_FP8_RATE, GPU_FIGURE_FP4_RATE},      {GPU_FIGURE_SMEM_LATENCY, GPU_FIGURE_L2_LATENCY},
        {GPU_FIGURE_L1_LATENCY, GPU_FIGURE_L2_LATENCY},  {GPU_FIGURE_SM_BANDWIDTH, GPU_FIGURE_SM_L2_BANDWIDTH},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0] && status == STATUS_OK; i++)
        status = check_peak(device, peaks[i].peak, peaks[i].rate, peaks[i].flop_per_rate, error);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0] && status == STATUS_OK; i++)
        status = check_order(device, orders[i].smaller, orders[i].larger, error);
    return status;
}

static enum status check_limit_ranges(const struct gpu_limits *limits, struct error *error)
{
    const struct {
        const char *name;
        uint32_t value, minimum, maximum;
    } ranges[] = {
        {"max_warps_per_sm", limits->max_warps_per_sm, 1, 1024},
        {"max_ctas_per_sm", limits->max_ctas_per_sm, 1, 1024},
        {"registers_per_sm", limits->registers_per_sm, 1024, 1u << 24},
        {"max_registers_per_thread", limits->max_registers_per_thread, 16, 1024},
        {"max_registers_per_cta", limits->max_registers_per_cta, 1024, limits->registers_per_sm},
        {"register_allocation_unit", limits->register_allocation_unit, 1, 4096},
        {"warp_allocation_granularity", limits->warp_allocation_granularity, 1, 64},
        {"sub_cores_per_sm", limits->sub_cores_per_sm, 1, 64},
        {"max_threads_per_cta", limits->max_threads_per_cta, 32, limits->max_warps_per_sm * 32},
        {"smem_per_sm_bytes", limits->smem_per_sm_bytes, 1024, 1u << 24},
        {"smem_per_cta_optin_bytes", limits->smem_per_cta_optin_bytes, 1024, limits->smem_per_sm_bytes},
        {"smem_per_cta_default_bytes", limits->smem_per_cta_default_bytes, 1024, limits->smem_per_cta_optin_bytes},
        {"smem_reserved_per_cta_bytes", limits->smem_reserved_per_cta_bytes, 0,
         limits->smem_per_sm_bytes - limits->smem_per_cta_optin_bytes},
        {"smem_allocation_unit_bytes", limits->smem_allocation_unit_bytes, 1, 65536},
        {"named_barriers_per_sm", limits->named_barriers_per_sm, 0, 1024},
        {"max_cluster_portable", limits->max_cluster_portable, 0, limits->max_cluster},
        {"max_cluster", limits->max_cluster, 0, 1024},
        {"max_clustered_ctas_per_sm", limits->max_clustered_ctas_per_sm, 0, limits->max_ctas_per_sm},
        {"carveout_count", limits->carveout_count, 1, GPU_CARVEOUT_MAX},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (ranges[i].value < ranges[i].minimum || ranges[i].value > ranges[i].maximum)
            return error_set(error, STATUS_BAD_DATA, "%s is %u, expected %u to %u", ranges[i].name,
                             (unsigned)ranges[i].value, (unsigned)ranges[i].minimum, (unsigned)ranges[i].maximum);
    return STATUS_OK;
}

static enum status check_limits(const struct gpu_limits *limits, struct error *error)
{
    enum status status = check_limit_ranges(limits, error);
    if (status != STATUS_OK)
        return status;
    if (limits->registers_per_sm % limits->sub_cores_per_sm != 0)
        return error_set(error, STATUS_BAD_DATA, "registers_per_sm is %u, expected a multiple of the %u sub-cores",
                         (unsigned)limits->registers_per_sm, (unsigned)limits->sub_cores_per_sm);
    for (uint32_t i = 1; i < limits->carveout_count; i++)
        if (limits->carveout_kib[i] <= limits->carveout_kib[i - 1])
            return error_set(error, STATUS_BAD_DATA, "carveout_kib must ascend, %u follows %u",
                             (unsigned)limits->carveout_kib[i], (unsigned)limits->carveout_kib[i - 1]);
    uint32_t largest_kib = limits->carveout_kib[limits->carveout_count - 1];
    if ((uint64_t)largest_kib * 1024 != limits->smem_per_sm_bytes)
        return error_set(error, STATUS_BAD_DATA, "carveout_kib ends with %u, but smem_per_sm_bytes is %u",
                         (unsigned)largest_kib, (unsigned)limits->smem_per_sm_bytes);
    return STATUS_OK;
}

static enum status check_gpcs(const struct gpu_device *device, struct error *error)
{
    const double sm_count = device->figures[GPU_FIGURE_SM_COUNT].value;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < device->gpcs.count; i++) {
        if (device->gpcs.sms[i] == 0)
            return error_set(error, STATUS_BAD_DATA, "gpc_sms has a group without SMs");
        sum += device->gpcs.sms[i];
    }
    if (device->gpcs.count > 0 && sum != sm_count)
        return error_set(error, STATUS_BAD_DATA, "gpc_sms adds up to %u SMs, sm_count is %g", (unsigned)sum, sm_count);
    return STATUS_OK;
}

enum status gpu_device_validate(const struct gpu_device *device, struct error *error)
{
    enum status status = check_limits(&device->limits, error);
    for (int id = 0; id < GPU_FIGURE_COUNT && status == STATUS_OK; id++)
        status = check_figure(device, (enum gpu_figure_id)id, error);
    if (status == STATUS_OK)
        status = check_gpcs(device, error);
    return status == STATUS_OK ? check_identities(device, error) : status;
}

enum status gpu_device_require_timing(const struct gpu_device *device, struct error *error)
{
    /* Tensor rates are not among them: a copy kernel needs none, and an absent format is refused where it is used. */
    static const enum gpu_figure_id required[] = {
        GPU_FIGURE_SM_COUNT,          GPU_FIGURE_BOOST_CLOCK,  GPU_FIGURE_DRAM_BANDWIDTH, GPU_FIGURE_DRAM_EFFICIENCY,
        GPU_FIGURE_L2_CAPACITY,       GPU_FIGURE_L2_BANDWIDTH, GPU_FIGURE_SM_BANDWIDTH,   GPU_FIGURE_SMEM_BANDWIDTH,
        GPU_FIGURE_SMEM_LATENCY,      GPU_FIGURE_L2_LATENCY,   GPU_FIGURE_DRAM_LATENCY,   GPU_FIGURE_MMA_LATENCY,
        GPU_FIGURE_MMA_SYNC_FRACTION, GPU_FIGURE_FP32_LANES,   GPU_FIGURE_SPECIAL_LANES,  GPU_FIGURE_LAUNCH_LATENCY,
        GPU_FIGURE_GRAPH_GAP,         GPU_FIGURE_CTA_START,    GPU_FIGURE_BARRIER,
    };
    char missing[sizeof error->text / 2 + 128] = "";
    size_t used = 0, count = 0, last = 0;

    /* A compute capability alone has no SM count and no other figure: that one says it. Otherwise all at once, because
     * whoever writes a device file wants to know what is left to find. */
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        const char *column = gpu_figure_column(required[i]);

        if (!isnan(gpu_device_value(device, required[i])))
            continue;
        last = i;
        count++;
        if (used + strlen(column) + sizeof ", " > sizeof missing)
            BUG("the names of the missing figures are too long");
        used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s", count == 1 ? "" : ", ", column);
    }
    if (count == 0)
        return STATUS_OK;
    if (isnan(gpu_device_value(device, GPU_FIGURE_SM_COUNT)))
        return error_set(error, STATUS_MISSING, "device %s has no %s (%s), which predicting a time needs", device->name,
                         gpu_figure_column(GPU_FIGURE_SM_COUNT), gpu_figure_meaning(GPU_FIGURE_SM_COUNT));
    if (count == 1)
        return error_set(error, STATUS_MISSING, "device %s has no %s (%s), which predicting a time needs", device->name,
                         missing, gpu_figure_meaning(required[last]));
    return error_set(error, STATUS_MISSING, "device %s has no %s, which predicting a time needs", device->name,
                     missing);
}
