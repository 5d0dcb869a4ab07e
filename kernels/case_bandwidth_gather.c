/* SPDX-License-Identifier: GPL-3.0-or-later
 * Bandwidth of gathered rows: bandwidth_gather.cu. */
#include <string.h>

#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"row_bytes", 584, 8, 4096, true, "a multiple of 8"},
    {"rows", 16, 1, 128, true, "per tile"},
    {"stages", 2, 1, 8, true, "tiles in SMEM, all but one in flight; 1 = load, wait, use"},
    {"threads", 128, 32, 1024, false, "per CTA, a multiple of 32"},
    {"ctas", 264, 1, 100000, false, "in the grid"},
    {"row_count", 49152, 1, 1 << 24, false, "rows gathered"},
    {"groups", 96, 1, 4096, false, "requests: each gathers distinct rows of its own pool"},
    {"pool", 2048, 1, 1 << 22, false, "rows in one request's pool, a power of two"},
};

static enum status plan_bandwidth_gather(struct kernel_plan *plan, struct error *error)
{
    uint64_t row_bytes = (uint64_t)kernel_plan_value(plan, "row_bytes");
    uint64_t count = (uint64_t)kernel_plan_value(plan, "row_count");
    uint64_t groups = (uint64_t)kernel_plan_value(plan, "groups"), pool = (uint64_t)kernel_plan_value(plan, "pool");
    if (row_bytes % 8)
        return error_set(error, STATUS_DOMAIN, "row_bytes must be a multiple of 8");
    if (kernel_plan_value(plan, "threads") % 32)
        return error_set(error, STATUS_DOMAIN, "threads must be a multiple of 32");
    if (pool & (pool - 1) || count % groups || count / groups > pool)
        return error_set(error, STATUS_DOMAIN,
                         "pool must be a power of two, and row_count a multiple of groups, at most "
                         "pool rows each");
    uint64_t bytes = groups * pool * row_bytes, ctas = (uint64_t)kernel_plan_value(plan, "ctas");
    int rows = kernel_plan_add_input(plan, "rows", bytes, (struct fill_rule){FILL_FORMAT_WORDS, 0, 0, 0});
    int index = kernel_plan_add_input(plan, "index", count * 4,
                                      (struct fill_rule){FILL_FORMAT_GATHER, 1, count / groups, pool});
    int sums = kernel_plan_add_buffer(plan, "sums", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_UINT32, ctas * 4);
    uint64_t smem = (uint64_t)kernel_plan_value(plan, "stages") * (uint64_t)kernel_plan_value(plan, "rows") * row_bytes;
    struct kernel_stage *stage =
        kernel_plan_add_stage(plan, "bandwidth_gather", ctas, 1, kernel_plan_value(plan, "threads"), smem);
    kernel_stage_pass_buffer(stage, rows);
    kernel_stage_pass_buffer(stage, index);
    kernel_stage_pass_value(stage, (int64_t)count);
    kernel_stage_pass_buffer(stage, sums);
    plan->touched_bytes = (double)(count * (row_bytes + 4));
    return STATUS_OK;
}

static void reference_bandwidth_gather(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    uint64_t row_words = (uint64_t)kernel_plan_value(plan, "row_bytes") / 4;
    uint64_t tile_rows = (uint64_t)kernel_plan_value(plan, "rows"), ctas = (uint64_t)kernel_plan_value(plan, "ctas");
    const uint32_t *rows = buffers[0];
    const int32_t *index = buffers[1];
    uint32_t *sums = buffers[2];
    memset(sums, 0, ctas * 4);
    for (uint64_t i = 0; i < (uint64_t)kernel_plan_value(plan, "row_count"); i++)
        for (uint64_t word = 0; word < row_words; word++)
            sums[i / tile_rows % ctas] ^= rows[(uint64_t)index[i] * row_words + word];
}

static void report_bandwidth_gather(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                                    struct measure_result *result)
{
    (void)buffers;
    int64_t stages = kernel_plan_value(plan, "stages");
    measure_result_add(result, "cold_gb_per_s", plan->touched_bytes / result->cold.median_us * 1e-3);
    measure_result_add(result, "warm_gb_per_s", plan->touched_bytes / result->warm.median_us * 1e-3);
    measure_result_add(result, "in_flight_bytes_per_sm",
                       (double)(stages > 1 ? stages - 1 : 1) * (double)kernel_plan_value(plan, "rows") *
                           (double)kernel_plan_value(plan, "row_bytes") * result->stages[0].driver_ctas_per_sm);
}

const struct kernel_case_definition bandwidth_gather_case = {
    .kernel = {"bandwidth_gather", "how many bytes per second does a gather of rows reach", SETTINGS_OF(settings)},
    .source = "bandwidth_gather",
    .minimum_arch = 80,
    .plan = plan_bandwidth_gather,
    .reference = reference_bandwidth_gather,
    .report = report_bandwidth_gather,
};
