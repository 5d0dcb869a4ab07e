/* SPDX-License-Identifier: GPL-3.0-or-later
 * Load latency by pointer chase: latency_chase.cu. */
#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"space", 2, 0, 2, true, "0 SMEM, 1 global memory through L1, 2 global memory past L1"},
    {"links", 8192, 2, 1 << 28, false, "links of the cycle, a power of two"},
    {"stride_bytes", 128, 4, 1 << 20, false, "between neighbouring links, a multiple of 4"},
    {"warm_hops", 0, 0, 1 << 28, false, "followed before the clock starts"},
    {"hops", 4096, 1, 1 << 24, false, "timed"},
};

static enum status plan_latency_chase(struct kernel_plan *plan, struct error *error)
{
    uint64_t links = (uint64_t)kernel_plan_value(plan, "links");
    uint64_t stride = (uint64_t)kernel_plan_value(plan, "stride_bytes");
    bool in_smem = kernel_plan_value(plan, "space") == 0;
    if (links & (links - 1))
        return error_set(error, STATUS_DOMAIN, "links must be a power of two");
    if (stride % 4 || links * stride / 4 > UINT32_MAX)
        return error_set(error, STATUS_DOMAIN, "the stride must be a multiple of 4 and the chain at most 16 GiB");
    unsigned long long bytes = links * stride;
    if (in_smem && bytes > 232448)
        return error_set(error, STATUS_DOMAIN, "smem: a chain of %llu bytes does not fit", bytes);
    int chain = kernel_plan_add_input(plan, "chain", links * stride,
                                      (struct fill_rule){FILL_FORMAT_CHAIN, 0, links, stride / 4});
    int last = kernel_plan_add_buffer(plan, "last", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_UINT32, 4);
    int cycles = kernel_plan_add_buffer(plan, "cycles", BUFFER_ROLE_RECORD, ELEMENT_FORMAT_UINT64, 8);
    struct kernel_stage *stage = kernel_plan_add_stage(plan, "latency_chase", 1, 1, 32, in_smem ? links * stride : 0);
    kernel_stage_pass_buffer(stage, chain);
    kernel_stage_pass_value(stage, (int64_t)(links * stride / 4));
    kernel_stage_pass_value(stage, kernel_plan_value(plan, "warm_hops"));
    kernel_stage_pass_value(stage, kernel_plan_value(plan, "hops"));
    kernel_stage_pass_buffer(stage, last);
    kernel_stage_pass_buffer(stage, cycles);
    plan->in_kernel_clock = true;
    return STATUS_OK;
}

static void reference_latency_chase(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    const uint32_t *chain = buffers[0];
    uint32_t at = 0;
    int64_t hops = kernel_plan_value(plan, "warm_hops") + kernel_plan_value(plan, "hops");
    for (int64_t i = 0; i < hops; i++)
        at = chain[at];
    *(uint32_t *)buffers[1] = at;
}

static void report_latency_chase(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                                 struct measure_result *result)
{
    double cycles = (double)*(const int64_t *)buffers[2];
    double hops = (double)kernel_plan_value(plan, "hops");
    measure_result_add(result, "latency_cycles", cycles / hops);
    measure_result_add(result, "latency_ns", cycles / hops / result->after.sm_clock_mhz * 1e3);
}

const struct kernel_case_definition latency_chase_case = {
    .kernel = {"latency_chase", "how long does one dependent load take: SMEM, L1, L2, DRAM", SETTINGS_OF(settings)},
    .source = "latency_chase",
    .minimum_arch = 80,
    .plan = plan_latency_chase,
    .reference = reference_latency_chase,
    .report = report_latency_chase,
};
