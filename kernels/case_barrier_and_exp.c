/* SPDX-License-Identifier: GPL-3.0-or-later
 * Cost of a barrier, rate of exp2 and of fma: barrier_and_exp.cu. */
#include <math.h>

#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"operation", 0, 0, 2, true, "0 __syncthreads, 1 exp2, 2 fma"},
    {"chains", 1, 1, 8, true, "independent values per thread"},
    {"warps", 4, 1, 32, false, "per CTA; one CTA per SM"},
    {"iterations", 2048, 4, 1 << 20, false, "a multiple of 4"},
};

static enum status plan_barrier_and_exp(struct kernel_plan *plan, struct error *error)
{
    if (kernel_plan_value(plan, "iterations") % 4)
        return error_set(error, STATUS_DOMAIN, "iterations must be a multiple of 4");
    uint64_t threads = (uint64_t)kernel_plan_value(plan, "warps") * 32, ctas = plan->facts->sm_count;
    int out = kernel_plan_add_buffer(plan, "out", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_FLOAT32, ctas * threads * 4);
    int cycles = kernel_plan_add_buffer(plan, "cycles", BUFFER_ROLE_RECORD, ELEMENT_FORMAT_UINT64, ctas * 8);
    struct kernel_stage *stage = kernel_plan_add_stage(plan, "barrier_and_exp", ctas, 1, (int64_t)threads, 0);
    kernel_stage_pass_value(stage, kernel_plan_value(plan, "iterations"));
    kernel_stage_pass_buffer(stage, out);
    kernel_stage_pass_buffer(stage, cycles);
    plan->in_kernel_clock = true;
    return STATUS_OK;
}

static double iterate(int64_t operation, double x, int64_t iterations)
{
    for (int64_t i = 0; i < iterations && operation != 0; i++)
        x = operation == 1 ? exp2(-x) : 0.5 * x + 1.0;
    return x;
}

static void reference_barrier_and_exp(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    double ends[8];
    float *out = buffers[0];
    uint64_t threads = plan->stages[0].threads;
    for (int i = 0; i < 8; i++)
        ends[i] = iterate(kernel_plan_value(plan, "operation"), 0.125 * i, kernel_plan_value(plan, "iterations"));
    for (uint64_t i = 0; i < threads * plan->stages[0].grid_x; i++) {
        double sum = 0.0;
        for (int64_t c = 0; c < kernel_plan_value(plan, "chains"); c++)
            sum += ends[(i % threads + (uint64_t)c) % 8];
        out[i] = (float)sum;
    }
}

static void report_barrier_and_exp(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                                   struct measure_result *result)
{
    double cycles = (double)((const int64_t *)buffers[1])[0],
           iterations = (double)kernel_plan_value(plan, "iterations");
    double results = iterations * (double)kernel_plan_value(plan, "chains") * plan->stages[0].threads;
    measure_result_add(result, "iteration_cycles", cycles / iterations);
    if (kernel_plan_value(plan, "operation") != 0)
        measure_result_add(result, "results_per_cycle_per_sm", results / cycles);
}

const struct kernel_case_definition barrier_and_exp_case = {
    .kernel = {"barrier_and_exp", "what do a barrier, an exp2 and an fma cost", SETTINGS_OF(settings)},
    .source = "barrier_and_exp",
    .minimum_arch = 80,
    .plan = plan_barrier_and_exp,
    .reference = reference_barrier_and_exp,
    .report = report_barrier_and_exp,
};
