/* SPDX-License-Identifier: GPL-3.0-or-later
 * Bytes per cycle out of SMEM: smem_bandwidth.cu. */
#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"mode", 0, 0, 2, true, "0 ld.shared.v4, 1 ldmatrix.x4, 2 ld.shared.u32 with a stride"},
    {"stride", 1, 1, 33, true, "mode 2: words between the lanes' addresses"},
    {"warps", 8, 1, 32, false, "per CTA; one CTA per SM"},
    {"iterations", 1024, 1, 1 << 20, false, "of four accesses"},
};

static enum status plan_smem_bandwidth(struct kernel_plan *plan, struct error *error)
{
    int64_t mode = kernel_plan_value(plan, "mode"), stride = kernel_plan_value(plan, "stride");
    uint64_t threads = (uint64_t)kernel_plan_value(plan, "warps") * 32, ctas = plan->facts->sm_count;
    if (mode != 2 && stride != 1)
        return error_set(error, STATUS_DOMAIN, "a stride needs mode 2");
    uint64_t bytes = threads * 64 * (uint64_t)stride;
    if (bytes > 232448)
        return error_set(error, STATUS_DOMAIN, "smem: %llu bytes do not fit", (unsigned long long)bytes);
    int in = kernel_plan_add_input(plan, "in", bytes, (struct fill_rule){FILL_FORMAT_WORDS, 0, 0, 0});
    int sums = kernel_plan_add_buffer(plan, "sums", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_UINT32, ctas * threads * 4);
    int cycles = kernel_plan_add_buffer(plan, "cycles", BUFFER_ROLE_RECORD, ELEMENT_FORMAT_UINT64, ctas * 8);
    struct kernel_stage *stage = kernel_plan_add_stage(plan, "smem_bandwidth", ctas, 1, (int64_t)threads, bytes);
    kernel_stage_pass_buffer(stage, in);
    kernel_stage_pass_value(stage, kernel_plan_value(plan, "iterations"));
    kernel_stage_pass_buffer(stage, sums);
    kernel_stage_pass_buffer(stage, cycles);
    plan->in_kernel_clock = true;
    return STATUS_OK;
}

/* ldmatrix.x4 gives lane l of matrix m the word l % 4 of the 16-byte row whose address lane 8 m + l / 4 supplied. */
static uint32_t thread_sum(const uint32_t *in, int64_t mode, uint64_t stride, uint64_t threads, uint64_t thread)
{
    uint32_t sum = 0;
    for (uint64_t u = 0; u < 4; u++) {
        for (uint64_t word = 0; word < (mode == 2 ? 1 : 4); word++) {
            uint64_t first = u * threads, lane = thread % 32;
            if (mode == 2)
                sum += in[(first + thread) * stride];
            else if (mode == 0)
                sum += in[(first + thread) * 4 + word];
            else
                sum += in[(first + thread - lane + 8 * word + lane / 4) * 4 + lane % 4];
        }
    }
    return sum;
}

static void reference_smem_bandwidth(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    uint32_t *sums = buffers[1];
    uint64_t threads = plan->stages[0].threads;
    for (uint64_t thread = 0; thread < threads; thread++) {
        uint32_t sum = thread_sum(buffers[0], kernel_plan_value(plan, "mode"),
                                  (uint64_t)kernel_plan_value(plan, "stride"), threads, thread);
        for (uint64_t cta = 0; cta < plan->stages[0].grid_x; cta++)
            sums[cta * threads + thread] = sum * (uint32_t)kernel_plan_value(plan, "iterations");
    }
}

static void report_smem_bandwidth(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                                  struct measure_result *result)
{
    double cycles = (double)((const int64_t *)buffers[2])[0];
    double bytes = (kernel_plan_value(plan, "mode") == 2 ? 16.0 : 64.0) * plan->stages[0].threads *
                   (double)kernel_plan_value(plan, "iterations");
    measure_result_add(result, "bytes_per_cycle_per_sm", bytes / cycles);
}

const struct kernel_case_definition smem_bandwidth_case = {
    .kernel = {"smem_bandwidth", "how many bytes per cycle come out of SMEM", SETTINGS_OF(settings)},
    .source = "smem_bandwidth",
    .minimum_arch = 80,
    .plan = plan_smem_bandwidth,
    .reference = reference_smem_bandwidth,
    .report = report_smem_bandwidth,
};
