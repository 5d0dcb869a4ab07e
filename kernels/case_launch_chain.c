/* SPDX-License-Identifier: GPL-3.0-or-later
 * Cost of dependent launches in a graph and in a stream: launch_chain.cu. */
#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"launches", 200, 1, 1000, false, "in one graph, or between two events of a stream"},
    {"ctas", 132, 1, 1000000, false, "in each grid"},
    {"threads", 128, 1, 1024, false, "per CTA"},
};

static enum status plan_launch_chain(struct kernel_plan *plan, struct error *error)
{
    (void)error;
    uint64_t ctas = (uint64_t)kernel_plan_value(plan, "ctas");
    int written = kernel_plan_add_buffer(plan, "written", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_UINT32, ctas * 4);
    struct kernel_stage *stage =
        kernel_plan_add_stage(plan, "launch_chain", ctas, 1, kernel_plan_value(plan, "threads"), 0);
    kernel_stage_pass_buffer(stage, written);
    plan->launches_per_sample = (uint32_t)kernel_plan_value(plan, "launches");
    return STATUS_OK;
}

static void reference_launch_chain(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    uint32_t *written = buffers[0];
    for (uint32_t i = 0; i < plan->stages[0].grid_x; i++)
        written[i] = i;
}

static void report_launch_chain(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                                struct measure_result *result)
{
    (void)plan;
    (void)buffers;
    measure_result_add(result, "graph_launch_us", result->warm.median_us);
    measure_result_add(result, "stream_launch_us", result->single.median_us);
}

const struct kernel_case_definition launch_chain_case = {
    .kernel = {"launch_chain", "what does one more launch cost, in a graph and in a stream", SETTINGS_OF(settings)},
    .source = "launch_chain",
    .minimum_arch = 80,
    .plan = plan_launch_chain,
    .reference = reference_launch_chain,
    .report = report_launch_chain,
};
