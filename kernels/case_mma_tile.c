/* SPDX-License-Identifier: GPL-3.0-or-later
 * Latency and rate of mma.sync: mma_tile.cu. */
#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"format", 0, 0, 1, true, "0 bf16 16x8x16, 1 e4m3 16x8x32"},
    {"accumulators", 1, 1, 16, true, "independent accumulators per warp; 1 = a dependent chain"},
    {"warps", 4, 1, 32, false, "per CTA"},
    {"ctas_per_sm", 1, 1, 8, false, "CTAs in the grid, per SM"},
    {"iterations", 2048, 4, 1 << 20, false, "instructions per accumulator, a multiple of 4"},
};

enum {
    TILES = 64 /* different operand tiles: warp i uses tile i mod 64 */
};

static enum status plan_mma_tile(struct kernel_plan *plan, struct error *error)
{
    bool narrow = kernel_plan_value(plan, "format") == 1;
    int64_t warps = kernel_plan_value(plan, "warps"), iterations = kernel_plan_value(plan, "iterations");
    uint64_t ctas = (uint64_t)kernel_plan_value(plan, "ctas_per_sm") * plan->facts->sm_count;
    uint64_t accumulators = (uint64_t)kernel_plan_value(plan, "accumulators");
    if (iterations % 4)
        return error_set(error, STATUS_DOMAIN, "iterations must be a multiple of 4");
    if (narrow && plan->facts->cc_major * 10 + plan->facts->cc_minor < 89)
        return error_set(error, STATUS_DOMAIN, "e4m3 in mma.sync needs sm_89 or newer");
    enum fill_format format = narrow ? FILL_FORMAT_E4M3 : FILL_FORMAT_BFLOAT16;
    int a = kernel_plan_add_input(plan, "a", TILES * 512, (struct fill_rule){format, 0, 0, 0});
    int b = kernel_plan_add_input(plan, "b", TILES * 256, (struct fill_rule){format, 1, 0, 0});
    uint64_t elements = ctas * (uint64_t)warps * accumulators * 128;
    int out = kernel_plan_add_buffer(plan, "out", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_FLOAT32, elements * 4);
    int cycles = kernel_plan_add_buffer(plan, "cycles", BUFFER_ROLE_RECORD, ELEMENT_FORMAT_UINT64, ctas * 8);
    struct kernel_stage *stage = kernel_plan_add_stage(plan, "mma_tile", ctas, 1, warps * 32, 0);
    kernel_stage_pass_buffer(stage, a);
    kernel_stage_pass_buffer(stage, b);
    kernel_stage_pass_value(stage, iterations);
    kernel_stage_pass_buffer(stage, out);
    kernel_stage_pass_buffer(stage, cycles);
    plan->flop = (double)elements * (double)iterations * 2.0 * (narrow ? 32.0 : 16.0);
    return STATUS_OK;
}

static double element(const struct kernel_plan *plan, const void *tile, uint64_t index)
{
    return kernel_plan_value(plan, "format") == 1 ? e4m3_to_double(((const uint8_t *)tile)[index])
                                                  : bfloat16_to_double(((const uint16_t *)tile)[index]);
}

/* All accumulators of a warp hold the same product; the first warp of each operand tile is checked, and the last warp.
 */
static void reference_mma_tile(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    uint64_t k_count = kernel_plan_value(plan, "format") == 1 ? 32 : 16;
    uint64_t accumulators = (uint64_t)kernel_plan_value(plan, "accumulators");
    uint64_t warps = plan->buffers[2].bytes / (accumulators * 512);
    float *out = buffers[2];
    for (uint64_t warp = 0; warp < warps; warp++) {
        if (warp >= TILES && warp + 1 < warps)
            continue;
        uint64_t tile = warp % TILES;
        for (uint64_t row = 0; row < 16; row++) {
            for (uint64_t column = 0; column < 8; column++) {
                double sum = 0.0;
                for (uint64_t k = 0; k < k_count; k++)
                    sum += element(plan, buffers[0], (tile * 16 + row) * k_count + k) *
                           element(plan, buffers[1], (tile * 8 + column) * k_count + k);
                for (uint64_t n = 0; n < accumulators; n++)
                    out[(warp * accumulators + n) * 128 + row * 8 + column] =
                        (float)(sum * (double)kernel_plan_value(plan, "iterations"));
            }
        }
    }
}

static void report_mma_tile(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                            struct measure_result *result)
{
    double cycles = (double)((const int64_t *)buffers[3])[0];
    double each = (double)kernel_plan_value(plan, "iterations") * (double)kernel_plan_value(plan, "accumulators");
    double instructions_per_cta = each * (double)kernel_plan_value(plan, "warps");
    double flop = plan->flop / (double)plan->stages[0].grid_x / instructions_per_cta;
    measure_result_add(result, "cycles_per_instruction_of_a_warp", cycles / each);
    measure_result_add(result, "flop_per_cycle_per_cta", flop * instructions_per_cta / cycles);
    measure_result_add(result, "warm_tflop_per_s", plan->flop / result->warm.median_us * 1e-6);
}

const struct kernel_case_definition mma_tile_case = {
    .kernel = {"mma_tile", "latency and rate of mma.sync, chained or independent", SETTINGS_OF(settings)},
    .source = "mma_tile",
    .minimum_arch = 80,
    .plan = plan_mma_tile,
    .reference = reference_mma_tile,
    .report = report_mma_tile,
};
