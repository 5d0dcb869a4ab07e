/* SPDX-License-Identifier: GPL-3.0-or-later
 * Matrix product in bf16 by mma.sync: gemm_tile.cu. */
#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"block_m", 128, 16, 256, true, "rows of a CTA's tile, a multiple of 16 x warps_m"},
    {"block_n", 128, 8, 256, true, "columns of a CTA's tile, a multiple of 8 x num_warps / warps_m"},
    {"block_k", 32, 32, 128, true, "depth of a stage, a multiple of 32"},
    {"num_warps", 4, 1, 16, true, "per CTA"},
    {"warps_m", 2, 1, 16, true, "warps along the rows; divides num_warps"},
    {"num_stages", 3, 1, 6, true, "stages in SMEM; 1 = load, wait, use"},
    {"max_registers", 0, 0, 255, true, "the compiler's cap; 0 = none"},
    {"m", 4096, 16, 1 << 16, false, "rows of A and C, a multiple of block_m"},
    {"n", 4096, 8, 1 << 16, false, "rows of B, columns of C, a multiple of block_n"},
    {"k", 4096, 32, 1 << 16, false, "depth, a multiple of block_k"},
};

enum {
    CHECKED_ELEMENTS = 8000
};

static enum status plan_gemm_tile(struct kernel_plan *plan, struct error *error)
{
    uint64_t block_m = kernel_plan_count(plan, "block_m"), block_n = kernel_plan_count(plan, "block_n");
    uint64_t block_k = kernel_plan_count(plan, "block_k"), m = kernel_plan_count(plan, "m");
    uint64_t n = kernel_plan_count(plan, "n"), k = kernel_plan_count(plan, "k");
    uint64_t warps = kernel_plan_count(plan, "num_warps"), rows = kernel_plan_count(plan, "warps_m");
    if (warps % rows || block_m % (16 * rows) || block_n % (8 * (warps / rows)))
        return error_set(error, STATUS_DOMAIN,
                         "%llu warps in %llu rows do not divide a tile of %llu by %llu into 16 by 8",
                         (unsigned long long)warps, (unsigned long long)rows, (unsigned long long)block_m,
                         (unsigned long long)block_n);
    if (m % block_m || n % block_n || k % block_k || block_k % 32)
        return error_set(error, STATUS_DOMAIN, "m, n and k must be multiples of the tile, block_k of 32");
    struct fill_rule random = {FILL_FORMAT_BFLOAT16, 0, 0, 0};
    int a = kernel_plan_add_input(plan, "a", m * k * 2, random);
    int b = kernel_plan_add_input(plan, "b", n * k * 2, random);
    int c = kernel_plan_add_buffer(plan, "c", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_BFLOAT16, m * n * 2);
    uint64_t smem = kernel_plan_count(plan, "num_stages") * (block_m + block_n) * block_k * 2;
    struct kernel_stage *stage =
        kernel_plan_add_stage(plan, "gemm_tile", m / block_m * (n / block_n), 1, (int64_t)warps * 32, smem);
    kernel_stage_pass_buffer(stage, a);
    kernel_stage_pass_buffer(stage, b);
    kernel_stage_pass_value(stage, (int64_t)n);
    kernel_stage_pass_value(stage, (int64_t)k);
    kernel_stage_pass_buffer(stage, c);
    plan->touched_bytes = (double)(m * k + n * k + m * n) * 2.0;
    plan->flop = 2.0 * (double)m * (double)n * (double)k;
    return STATUS_OK;
}

static void reference_gemm_tile(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    const uint16_t *a = buffers[0], *b = buffers[1];
    uint16_t *c = buffers[2];
    uint64_t m = kernel_plan_count(plan, "m"), n = kernel_plan_count(plan, "n");
    uint64_t k = kernel_plan_count(plan, "k"), step = m * n / CHECKED_ELEMENTS | 1;
    for (uint64_t i = 0; i < m * n; i += step) { /* odd step: all rows and columns of the tiles */
        double sum = 0.0;
        for (uint64_t j = 0; j < k; j++)
            sum += bfloat16_to_double(a[i / n * k + j]) * bfloat16_to_double(b[i % n * k + j]);
        c[i] = bfloat16_from_double(sum);
    }
}

static void report_gemm_tile(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                             struct measure_result *result)
{
    (void)buffers;
    measure_result_add(result, "cold_tflop_per_s", plan->flop / result->cold.median_us * 1e-6);
    measure_result_add(result, "warm_tflop_per_s", plan->flop / result->warm.median_us * 1e-6);
}

const struct kernel_case_definition gemm_tile_case = {
    .kernel = {"gemm_tile", "matrix product in bf16 by mma.sync", SETTINGS_OF(settings)},
    .source = "gemm_tile",
    .minimum_arch = 80,
    .plan = plan_gemm_tile,
    .reference = reference_gemm_tile,
    .report = report_gemm_tile,
};
