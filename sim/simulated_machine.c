/* SPDX-License-Identifier: GPL-3.0-or-later
 * Device figures times parameters; an SM filled CTA by CTA. Written without a look at model/predict. */
#include "sim/simulated_machine.h"

#include <math.h>
#include <string.h>

/* SIM-11, where the device file says nothing: measured on an H200. */
#define ASSUMED_PARTIAL_SHARE  0.32
#define ASSUMED_PARTIAL_CYCLES 1.95

enum {
    SECTOR_BYTES = 32,
    WARP_LANES = 32,
    BARRIERS_PER_CTA_MAX = 16,  /* PTX names 0 to 15 */
    L1_APART_BYTES = 28 * 1024, /* of the SM's array, never SMEM (TILE-6) */
    BYTES_IN_KIB = 1024
};

static double scaled(const struct gpu_device *device, enum gpu_figure_id figure,
                     const struct model_parameters *parameters, enum parameter_id factor)
{
    return gpu_device_value(device, figure) * parameters->items[factor].value;
}

static void set_rates(struct simulated_machine *machine, const struct gpu_device *device, double interval_factor)
{
    const double clock = 1 / machine->cycle_s, share = gpu_device_value(device, GPU_FIGURE_MMA_SYNC_FRACTION);
    const double bf16 = gpu_device_value(device, GPU_FIGURE_BF16_RATE) * clock;
    double *rates = machine->warpgroup_flop_per_s;
    rates[NUMBER_FORMAT_BF16] = bf16;
    rates[NUMBER_FORMAT_FP16] = isnan(bf16) ? gpu_device_value(device, GPU_FIGURE_FP16_PEAK) / machine->sm_count : bf16;
    rates[NUMBER_FORMAT_FP8] = gpu_device_value(device, GPU_FIGURE_FP8_RATE) * clock;
    rates[NUMBER_FORMAT_FP4] = gpu_device_value(device, GPU_FIGURE_FP4_RATE) * clock;
    rates[NUMBER_FORMAT_TF32] = bf16 / 2;
    for (int i = 0; i < NUMBER_FORMAT_COUNT; i++)
        machine->mma_flop_per_s[i] = rates[i] * share / interval_factor;
}

static void set_memory(struct simulated_machine *machine, const struct gpu_device *device,
                       const struct model_parameters *p)
{
    const double clock = 1 / machine->cycle_s;
    machine->dram_latency_s = scaled(device, GPU_FIGURE_DRAM_LATENCY, p, PARAMETER_DRAM_LATENCY_FACTOR);
    machine->l2_latency_s = scaled(device, GPU_FIGURE_L2_LATENCY, p, PARAMETER_L2_LATENCY_FACTOR) * machine->cycle_s;
    machine->dram_bytes_per_s = scaled(device, GPU_FIGURE_DRAM_BANDWIDTH, p, PARAMETER_DRAM_BANDWIDTH_FACTOR) *
                                gpu_device_value(device, GPU_FIGURE_DRAM_EFFICIENCY);
    machine->l2_bytes_per_s = scaled(device, GPU_FIGURE_L2_BANDWIDTH, p, PARAMETER_L2_BANDWIDTH_FACTOR);
    machine->port_bytes_per_s = scaled(device, GPU_FIGURE_SM_BANDWIDTH, p, PARAMETER_SM_BANDWIDTH_FACTOR) * clock;
    machine->port_l2_bytes_per_s =
        isnan(gpu_device_value(device, GPU_FIGURE_SM_L2_BANDWIDTH))
            ? machine->port_bytes_per_s
            : scaled(device, GPU_FIGURE_SM_L2_BANDWIDTH, p, PARAMETER_SM_BANDWIDTH_FACTOR) * clock;
    const double partial = gpu_device_value(device, GPU_FIGURE_L2_PARTIAL_WRITE);
    const double cycles = gpu_device_value(device, GPU_FIGURE_SM_PARTIAL_WRITE);
    machine->l2_partial_write_s =
        SECTOR_BYTES /
        (isnan(partial) ? ASSUMED_PARTIAL_SHARE * gpu_device_value(device, GPU_FIGURE_L2_BANDWIDTH) : partial);
    machine->port_partial_write_s = (isnan(cycles) ? ASSUMED_PARTIAL_CYCLES : cycles) * machine->cycle_s;
    machine->smem_bytes_per_s = scaled(device, GPU_FIGURE_SMEM_BANDWIDTH, p, PARAMETER_SMEM_BANDWIDTH_FACTOR) * clock;
    machine->l2_capacity_bytes = gpu_device_value(device, GPU_FIGURE_L2_CAPACITY);
    machine->l1_bytes = (double)device->limits.smem_per_sm_bytes + L1_APART_BYTES;
}

static void set_execution(struct simulated_machine *machine, const struct gpu_device *device,
                          const struct model_parameters *p)
{
    const struct model_parameter *items = p->items;
    machine->mma_latency_s = scaled(device, GPU_FIGURE_MMA_LATENCY, p, PARAMETER_MMA_LATENCY_FACTOR) * machine->cycle_s;
    machine->operand_wait_s = scaled(device, GPU_FIGURE_SMEM_LATENCY, p, PARAMETER_OPERAND_FACTOR) * machine->cycle_s;
    machine->compiled_operand_wait_s =
        machine->operand_wait_s / parameter_describe(PARAMETER_OPERAND_FACTOR)->default_value;
    set_rates(machine, device, items[PARAMETER_MMA_INTERVAL_FACTOR].value);
    machine->special_per_s = gpu_device_value(device, GPU_FIGURE_SPECIAL_LANES) / machine->cycle_s;
    machine->issue_factor = items[PARAMETER_ISSUE_FACTOR].value;
    machine->compiled_issue_factor = machine->issue_factor / parameter_describe(PARAMETER_ISSUE_FACTOR)->default_value;
    machine->issue_interval = items[PARAMETER_ISSUE_INTERVAL].value;
    machine->iteration_overhead_s = items[PARAMETER_ITERATION_OVERHEAD].value * machine->cycle_s;
    machine->barrier_s = scaled(device, GPU_FIGURE_BARRIER, p, PARAMETER_BARRIER_FACTOR) * machine->cycle_s;
    machine->spill_s = items[PARAMETER_SPILL_CYCLES].value * machine->cycle_s;
    machine->spill_traffic_factor = items[PARAMETER_SPILL_TRAFFIC_FACTOR].value;
    machine->launch_s = scaled(device, GPU_FIGURE_LAUNCH_LATENCY, p, PARAMETER_LAUNCH_FACTOR);
    machine->graph_gap_s = scaled(device, GPU_FIGURE_GRAPH_GAP, p, PARAMETER_LAUNCH_FACTOR);
    machine->stream_gap_s = scaled(device, GPU_FIGURE_STREAM_GAP, p, PARAMETER_LAUNCH_FACTOR);
    machine->cta_start_s = scaled(device, GPU_FIGURE_CTA_START, p, PARAMETER_CTA_START_FACTOR);
}

enum status simulated_machine_init(struct simulated_machine *machine, const struct gpu_device *device,
                                   const struct model_parameters *parameters, struct error *error)
{
    const enum status status = gpu_device_require_timing(device, error);
    if (status != STATUS_OK)
        return status;
    *machine = (struct simulated_machine){.limits = &device->limits, .gpcs = &device->gpcs};
    const double sm_count = gpu_device_value(device, GPU_FIGURE_SM_COUNT);
    if (!(sm_count >= 1 && sm_count <= SIMULATED_SMS_MAX))
        return error_set(error, STATUS_LIMIT, "%s has %g SMs, the simulator takes 1 to %d", device->name, sm_count,
                         SIMULATED_SMS_MAX);
    for (int i = 0; i < PARAMETER_COUNT; i++) {
        const struct parameter_description *about = parameter_describe((enum parameter_id)i);
        const double value = parameters->items[i].value;
        if (!(value >= about->minimum && value <= about->maximum))
            return error_set(error, STATUS_DOMAIN, "parameter %s is %g, physical range %g to %g", about->name, value,
                             about->minimum, about->maximum);
    }
    machine->sm_count = (uint32_t)sm_count;
    machine->cycle_s = 1 / gpu_device_value(device, GPU_FIGURE_BOOST_CLOCK);
    set_memory(machine, device, parameters);
    set_execution(machine, device, parameters);
    return STATUS_OK;
}

uint32_t simulated_gpc_sms(const struct simulated_machine *machine, uint32_t gpc, uint32_t left)
{
    uint32_t sms = left;
    if (machine->sms_per_gpc > 0)
        sms = machine->sms_per_gpc;
    else if (machine->gpcs != NULL && gpc < machine->gpcs->count)
        sms = machine->gpcs->sms[gpc];
    return sms < left ? sms : left;
}

/* ---- an SM that fills up (SIM-1) ----------------------------------------------------------------------------------
 */

struct sm_room {
    uint64_t smem_bytes;
    uint32_t ctas, warps, barriers;
    uint32_t registers[SUB_CORES_MAX];
    uint32_t next_sub_core; /* warps are dealt in turn */
};

static uint64_t rounded_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* SMEM that the SM sets aside: the preference rounded up to a size that exists, or the first that holds one CTA. */
static uint64_t smem_carveout(const struct gpu_limits *limits, int32_t percent, uint64_t cta_bytes)
{
    if (percent == CARVEOUT_DEFAULT)
        return limits->smem_per_sm_bytes;
    const uint64_t asked = (uint64_t)limits->smem_per_sm_bytes * (uint32_t)percent / 100;
    uint64_t best = limits->smem_per_sm_bytes;
    for (uint32_t i = limits->carveout_count; i-- > 0;) {
        const uint64_t size = (uint64_t)limits->carveout_kib[i] * BYTES_IN_KIB;
        if (size >= asked && size >= cta_bytes)
            best = size;
    }
    return best;
}

/* Why no CTA of this launch runs on any SM, or NULL. */
static const char *launch_refused(const struct gpu_limits *limits, const struct kernel_launch *launch,
                                  uint64_t registers_per_warp)
{
    const uint64_t rounds =
        rounded_up((launch->threads + WARP_LANES - 1u) / WARP_LANES, limits->warp_allocation_granularity);
    const uint32_t largest =
        limits->max_cluster > limits->max_cluster_portable ? limits->max_cluster : limits->max_cluster_portable;
    if (launch->threads == 0 || launch->threads > limits->max_threads_per_cta)
        return "threads";
    if (launch->registers_per_thread > limits->max_registers_per_thread ||
        registers_per_warp * rounds > limits->max_registers_per_cta)
        return "registers";
    if (launch->dynamic_smem_bytes > limits->smem_per_cta_optin_bytes ||
        launch->dynamic_smem_bytes + launch->static_smem_bytes > limits->smem_per_cta_optin_bytes)
        return "smem";
    if (launch->barriers > BARRIERS_PER_CTA_MAX)
        return "barriers";
    if (launch->cluster_ctas != 1 &&
        (launch->cluster_ctas == 0 || launch->cluster_ctas > largest || launch->grid_ctas % launch->cluster_ctas != 0))
        return "cluster";
    return NULL;
}

/* Deals a CTA's warps in turn to the sub-cores that still have registers; NULL, or the resource that is used up. */
static const char *admit(struct sm_room *room, const struct gpu_limits *limits, const struct kernel_launch *launch,
                         uint64_t smem_bytes, uint32_t registers_per_warp, uint8_t *first_sub_core)
{
    const uint32_t warps = (launch->threads + WARP_LANES - 1) / WARP_LANES;
    if (room->ctas == 0)
        return "ctas";
    if (room->warps < warps)
        return "warps";
    if (room->smem_bytes < smem_bytes)
        return "smem";
    if (limits->named_barriers_per_sm != 0 && room->barriers < launch->barriers)
        return "barriers";
    *first_sub_core = (uint8_t)room->next_sub_core;
    for (uint32_t warp = 0; warp < warps; warp++) {
        if (room->registers[room->next_sub_core] < registers_per_warp)
            return "registers";
        room->registers[room->next_sub_core] -= registers_per_warp;
        room->next_sub_core = (room->next_sub_core + 1) % limits->sub_cores_per_sm;
    }
    room->ctas--;
    room->warps -= warps;
    room->smem_bytes -= smem_bytes;
    room->barriers -= limits->named_barriers_per_sm != 0 ? launch->barriers : 0;
    return NULL;
}

static uint32_t most_ctas(const struct gpu_limits *limits, uint32_t cluster_ctas)
{
    const uint32_t clustered = limits->max_clustered_ctas_per_sm;
    return cluster_ctas > 1 && clustered > 0 && clustered < limits->max_ctas_per_sm ? clustered
                                                                                    : limits->max_ctas_per_sm;
}

void sm_residency_fill(const struct gpu_limits *limits, const struct kernel_launch *launch,
                       struct sm_residency *residency)
{
    if (limits->sub_cores_per_sm == 0 || limits->sub_cores_per_sm > SUB_CORES_MAX ||
        limits->max_ctas_per_sm > SM_SLOTS_MAX)
        BUG("limits of cc %u.%u: %u sub-cores, %u CTAs per SM", limits->cc_major, limits->cc_minor,
            limits->sub_cores_per_sm, limits->max_ctas_per_sm);
    const uint64_t registers =
        rounded_up((uint64_t)launch->registers_per_thread * WARP_LANES, limits->register_allocation_unit);
    memset(residency, 0, sizeof *residency);
    residency->full = launch_refused(limits, launch, registers);
    if (residency->full)
        return;
    const uint64_t smem =
        rounded_up(launch->static_smem_bytes + launch->dynamic_smem_bytes + limits->smem_reserved_per_cta_bytes,
                   limits->smem_allocation_unit_bytes);
    struct sm_room room = {.smem_bytes = smem_carveout(limits, launch->carveout_percent, smem),
                           .ctas = most_ctas(limits, launch->cluster_ctas),
                           .warps = limits->max_warps_per_sm,
                           .barriers = limits->named_barriers_per_sm};
    for (uint32_t i = 0; i < limits->sub_cores_per_sm; i++)
        room.registers[i] = limits->registers_per_sm / limits->sub_cores_per_sm;
    for (;;) {
        uint8_t first = 0;
        residency->full = admit(&room, limits, launch, smem, (uint32_t)registers, &first);
        if (residency->full)
            break;
        residency->first_sub_core[residency->ctas++] = first;
    }
}
