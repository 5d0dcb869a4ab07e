/* SPDX-License-Identifier: GPL-3.0-or-later
 * Device figures x model parameters, multiplied out once per prediction run (docs/MODEL.md section 7). */
#include <math.h>
#include <stdio.h>

#include "base/statistics.h"
#include "model/predict/kernel_time.h"

/* TIME-9, where the device file says nothing: the H200's, measured. */
#define PARTIAL_WRITE_CYCLES 1.95 /* of one SM alone */
#define PARTIAL_WRITE_SHARE  0.32 /* of the L2 bandwidth */

enum {
    SECTOR_BYTES = 32,
    TIMING_SM_COUNT_MAX = 512,
    L1_ALONE_BYTES = 28 * 1024 /* of the unified array that no carve-out gives to SMEM: 256 - 228 KiB on cc 9.0
                                  and 10.0, 192 - 164 on 8.0, 128 - 100 on 8.6, 8.9 and 12.0 (CUDA programming guide) */
};

static enum status check_parameters(const struct model_parameters *parameters, struct error *error)
{
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct parameter_description *about = parameter_describe((enum parameter_id)i);
        const struct model_parameter *item = &parameters->items[i];
        if (!(item->value >= about->minimum && item->value <= about->maximum)) {
            return error_set(error, STATUS_DOMAIN, "parameter %s is %g, physical range %g to %g", about->name,
                             item->value, about->minimum, about->maximum);
        }
        if (!(item->log_sigma >= 0 && item->log_sigma <= 10)) {
            return error_set(error, STATUS_DOMAIN, "parameter %s: log_sigma is %g, expected 0 to 10", about->name,
                             item->log_sigma);
        }
    }
    if (!(parameters->interval_level > 0 && parameters->interval_level < 1)) {
        return error_set(error, STATUS_DOMAIN, "interval level is %g, expected between 0 and 1",
                         parameters->interval_level);
    }
    return STATUS_OK;
}

/* PARAM-1: rates by number format; fp16 runs at the bf16 rate and tf32 at half of it on every part listed. */
static void set_tensor_rates(struct time_model *model, const struct gpu_device *device, double interval_factor)
{
    const double bf16 = gpu_device_value(device, GPU_FIGURE_BF16_RATE);
    /* Parts before bf16 (Volta, Turing) state their fp16 rate as the product's peak only. */
    const double fp16_peak = gpu_device_value(device, GPU_FIGURE_FP16_PEAK) / (model->sm_count * model->clock_hz);
    const double per_cycle[NUMBER_FORMAT_COUNT] = {
        [NUMBER_FORMAT_BF16] = bf16,
        [NUMBER_FORMAT_FP16] = bf16 > 0 ? bf16 : fp16_peak,
        [NUMBER_FORMAT_FP8] = gpu_device_value(device, GPU_FIGURE_FP8_RATE),
        [NUMBER_FORMAT_FP4] = gpu_device_value(device, GPU_FIGURE_FP4_RATE),
        [NUMBER_FORMAT_TF32] = bf16 / 2,
    };
    const double mma_sync = gpu_device_value(device, GPU_FIGURE_MMA_SYNC_FRACTION);
    for (int i = 0; i < NUMBER_FORMAT_COUNT; i++) {
        const double rate = per_cycle[i] * model->clock_hz;
        model->warpgroup_flop_per_s_per_sm[i] = rate;
        model->mma_sync_flop_per_s_per_sm[i] = rate * mma_sync / interval_factor;
    }
}

/* TIME-9. The parameters of the bandwidths are about reads and do not hold for partial writes. */
static void set_partial_writes(struct time_model *model, const struct gpu_device *device)
{
    const double bytes_per_s = gpu_device_value(device, GPU_FIGURE_L2_PARTIAL_WRITE);
    const double cycles = gpu_device_value(device, GPU_FIGURE_SM_PARTIAL_WRITE);
    const double assumed = PARTIAL_WRITE_SHARE * gpu_device_value(device, GPU_FIGURE_L2_BANDWIDTH);
    model->l2_partial_write_s = SECTOR_BYTES / (isnan(bytes_per_s) ? assumed : bytes_per_s);
    model->sm_partial_write_s = (isnan(cycles) ? PARTIAL_WRITE_CYCLES : cycles) * model->cycle_s;
}

static void set_memory(struct time_model *model, const struct gpu_device *device, const struct model_parameter *items)
{
    model->dram_latency_s =
        gpu_device_value(device, GPU_FIGURE_DRAM_LATENCY) * items[PARAMETER_DRAM_LATENCY_FACTOR].value;
    model->l2_latency_s =
        gpu_device_value(device, GPU_FIGURE_L2_LATENCY) * model->cycle_s * items[PARAMETER_L2_LATENCY_FACTOR].value;
    model->smem_latency_s = gpu_device_value(device, GPU_FIGURE_SMEM_LATENCY) * model->cycle_s;
    model->peak_dram_bytes_per_s = gpu_device_value(device, GPU_FIGURE_DRAM_BANDWIDTH);
    model->dram_bytes_per_s = model->peak_dram_bytes_per_s * gpu_device_value(device, GPU_FIGURE_DRAM_EFFICIENCY) *
                              items[PARAMETER_DRAM_BANDWIDTH_FACTOR].value;
    model->l2_bytes_per_s =
        gpu_device_value(device, GPU_FIGURE_L2_BANDWIDTH) * items[PARAMETER_L2_BANDWIDTH_FACTOR].value;
    model->l2_capacity_bytes = gpu_device_value(device, GPU_FIGURE_L2_CAPACITY);
    model->sm_bytes_per_s = gpu_device_value(device, GPU_FIGURE_SM_BANDWIDTH) * model->clock_hz *
                            items[PARAMETER_SM_BANDWIDTH_FACTOR].value;
    const double from_l2 = gpu_device_value(device, GPU_FIGURE_SM_L2_BANDWIDTH);
    model->sm_l2_bytes_per_s =
        isnan(from_l2) ? model->sm_bytes_per_s : from_l2 * model->clock_hz * items[PARAMETER_SM_BANDWIDTH_FACTOR].value;
    set_partial_writes(model, device);
    model->smem_bytes_per_s = gpu_device_value(device, GPU_FIGURE_SMEM_BANDWIDTH) * model->clock_hz *
                              items[PARAMETER_SMEM_BANDWIDTH_FACTOR].value;
}

static void set_execution(struct time_model *model, const struct gpu_device *device,
                          const struct model_parameter *items)
{
    model->mma_latency_s =
        gpu_device_value(device, GPU_FIGURE_MMA_LATENCY) * model->cycle_s * items[PARAMETER_MMA_LATENCY_FACTOR].value;
    set_tensor_rates(model, device, items[PARAMETER_MMA_INTERVAL_FACTOR].value);
    model->issue_per_s = 4 * model->clock_hz; /* one warp instruction per cycle and sub-core */
    model->issue_factor = items[PARAMETER_ISSUE_FACTOR].value;
    model->exact_issue_factor = model->issue_factor / parameter_describe(PARAMETER_ISSUE_FACTOR)->default_value;
    model->exact_operand_factor =
        items[PARAMETER_OPERAND_FACTOR].value / parameter_describe(PARAMETER_OPERAND_FACTOR)->default_value;
    model->operand_factor = items[PARAMETER_OPERAND_FACTOR].value;
    model->spill_traffic_factor = items[PARAMETER_SPILL_TRAFFIC_FACTOR].value;
    model->issue_interval = items[PARAMETER_ISSUE_INTERVAL].value;
    model->special_per_s = gpu_device_value(device, GPU_FIGURE_SPECIAL_LANES) * model->clock_hz;
    model->iteration_overhead_s = items[PARAMETER_ITERATION_OVERHEAD].value * model->cycle_s;
    model->barrier_s =
        gpu_device_value(device, GPU_FIGURE_BARRIER) * model->cycle_s * items[PARAMETER_BARRIER_FACTOR].value;
    model->spill_s_per_access = items[PARAMETER_SPILL_CYCLES].value * model->cycle_s;
    model->launch_s = gpu_device_value(device, GPU_FIGURE_LAUNCH_LATENCY) * items[PARAMETER_LAUNCH_FACTOR].value;
    model->gap_s = gpu_device_value(device, GPU_FIGURE_GRAPH_GAP) * items[PARAMETER_LAUNCH_FACTOR].value;
    model->cta_start_s = gpu_device_value(device, GPU_FIGURE_CTA_START) * items[PARAMETER_CTA_START_FACTOR].value;
}

enum status time_model_init(struct time_model *model, const struct gpu_device *device,
                            const struct model_parameters *parameters, struct error *error)
{
    enum status status = gpu_device_require_timing(device, error);
    if (!status) {
        status = check_parameters(parameters, error);
    }
    if (status) {
        return status;
    }
    const double sm_count = gpu_device_value(device, GPU_FIGURE_SM_COUNT);
    if (!(sm_count >= 1 && sm_count <= TIMING_SM_COUNT_MAX)) {
        return error_set(error, STATUS_DOMAIN, "device %s: sm_count is %g, expected 1 to %d", device->name, sm_count,
                         TIMING_SM_COUNT_MAX);
    }
    model->limits = &device->limits;
    model->sm_count = (uint32_t)sm_count;
    model->clock_hz = gpu_device_value(device, GPU_FIGURE_BOOST_CLOCK);
    model->cycle_s = 1 / model->clock_hz;
    model->l1_bytes = (double)device->limits.smem_per_sm_bytes + L1_ALONE_BYTES;
    set_memory(model, device, parameters->items);
    set_execution(model, device, parameters->items);
    model->overlap_exponent = parameters->items[PARAMETER_OVERLAP_EXPONENT].value;
    model->device_exponent = parameters->items[PARAMETER_DEVICE_EXPONENT].value;
    model->pipeline_exponent = parameters->items[PARAMETER_PIPELINE_EXPONENT].value;
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        model->log_sigma[i] = parameters->items[i].log_sigma;
    }
    model->model_log_sigma = parameters->model_log_sigma;
    model->interval_z = normal_quantile(0.5 + parameters->interval_level / 2);
    snprintf(model->device_name, sizeof model->device_name, "%s", device->name);
    return STATUS_OK;
}

enum status time_model_supports(const struct time_model *model, const struct kernel_case *kernel, struct error *error)
{
    for (uint32_t i = 0; i < kernel->loop.mma_count; i++) {
        const enum number_format format = kernel->loop.mma[i].format;
        if (kernel->loop.mma[i].warpgroup && !(model->limits->has_wgmma || model->limits->has_tcgen05)) {
            return error_set(
                error, STATUS_MISSING,
                "kernel %s: device %s has neither wgmma nor tcgen05, so no warpgroup product; 'warpgroup: 0' is "
                "mma.sync",
                kernel->name, model->device_name);
        }
        if (!(model->warpgroup_flop_per_s_per_sm[format] > 0)) {
            return error_set(error, STATUS_MISSING, "kernel %s: device %s states no %s tensor rate", kernel->name,
                             model->device_name, number_format_name(format));
        }
    }
    return STATUS_OK;
}
