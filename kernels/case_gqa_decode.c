/* SPDX-License-Identifier: GPL-3.0-or-later
 * Dense split-KV decode attention in bf16, and its combine: gqa_decode.cu. */
#include <math.h>

#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"block_n", 64, 16, 128, true, "tokens per tile: 16, 32, 64 or 128"},
    {"num_warps", 4, 1, 8, true, "1, 2, 4 or 8"},
    {"num_stages", 2, 1, 4, true, "K and V tiles in SMEM; 1 = load, wait, use"},
    {"group", 8, 1, 16, true, "query heads per KV head"},
    {"max_registers", 0, 0, 255, true, "the compiler's cap; 0 = none"},
    {"splits", 1, 1, 128, false, "parts of the tokens; more than one adds the combine"},
    {"batch", 16, 1, 1024, false, "requests"},
    {"kv_heads", 8, 1, 64, false, "KV heads"},
    {"length", 4096, 1, 1 << 18, false, "tokens in the cache, each read once"},
};

enum {
    DIMENSIONS = 128,
    ROW_PADDED_BYTES = 272,
    CHECKED_ROWS = 16
};

static enum status check_knobs(const struct kernel_plan *plan, struct error *error)
{
    int64_t n = kernel_plan_value(plan, "block_n"), warps = kernel_plan_value(plan, "num_warps");
    int64_t length = kernel_plan_value(plan, "length"), splits = kernel_plan_value(plan, "splits");
    if ((n & (n - 1)) || (warps & (warps - 1)))
        return error_set(error, STATUS_DOMAIN, "block_n and num_warps must be powers of two");
    if (splits > (length + n - 1) / n)
        return error_set(error, STATUS_DOMAIN, "%lld splits of %lld tiles: some would have no tile", (long long)splits,
                         (long long)((length + n - 1) / n));
    return STATUS_OK;
}

static enum status plan_gqa_decode(struct kernel_plan *plan, struct error *error)
{
    enum status status = check_knobs(plan, error);
    if (status != STATUS_OK)
        return status;
    uint64_t n = (uint64_t)kernel_plan_value(plan, "block_n"), warps = (uint64_t)kernel_plan_value(plan, "num_warps");
    uint64_t group = (uint64_t)kernel_plan_value(plan, "group"), splits = (uint64_t)kernel_plan_value(plan, "splits");
    uint64_t length = (uint64_t)kernel_plan_value(plan, "length");
    uint64_t pairs = (uint64_t)kernel_plan_value(plan, "batch") * (uint64_t)kernel_plan_value(plan, "kv_heads");
    uint64_t rows = pairs * group, warps_n = n / 8 < warps ? n / 8 : warps;
    uint64_t tiles_per_split = ((length + n - 1) / n + splits - 1) / splits;
    uint64_t stage_bytes = 2 * n * ROW_PADDED_BYTES;
    uint64_t smem = 16 * ROW_PADDED_BYTES + (uint64_t)kernel_plan_value(plan, "num_stages") * stage_bytes +
                    16 * (2 * n + 16) + warps_n * 64 + 64;
    struct fill_rule random = {FILL_FORMAT_BFLOAT16, 0, 0, 0};
    int query = kernel_plan_add_input(plan, "query", rows * DIMENSIONS * 2, random);
    int keys = kernel_plan_add_input(plan, "keys", pairs * length * DIMENSIONS * 2, random);
    int values = kernel_plan_add_input(plan, "values", pairs * length * DIMENSIONS * 2, random);
    uint64_t partial_rows = splits > 1 ? rows * splits : 1;
    int partial = kernel_plan_add_buffer(plan, "partial", BUFFER_ROLE_SCRATCH, ELEMENT_FORMAT_FLOAT32,
                                         partial_rows * DIMENSIONS * 4);
    int lse = kernel_plan_add_buffer(plan, "lse", BUFFER_ROLE_SCRATCH, ELEMENT_FORMAT_FLOAT32, partial_rows * 4);
    int out = kernel_plan_add_buffer(plan, "out", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_BFLOAT16, rows * DIMENSIONS * 2);
    struct kernel_stage *stage =
        kernel_plan_add_stage(plan, "gqa_decode", pairs * splits, 1, (int64_t)warps * 32, smem);
    kernel_stage_pass_buffer(stage, query);
    kernel_stage_pass_buffer(stage, keys);
    kernel_stage_pass_buffer(stage, values);
    kernel_stage_pass_value(stage, (int64_t)length);
    kernel_stage_pass_value(stage, (int64_t)splits);
    kernel_stage_pass_value(stage, (int64_t)tiles_per_split);
    kernel_stage_pass_buffer(stage, partial);
    kernel_stage_pass_buffer(stage, lse);
    kernel_stage_pass_buffer(stage, out);
    if (splits > 1) {
        stage = kernel_plan_add_stage(plan, "gqa_combine", rows, 1, DIMENSIONS / 4, 0);
        kernel_stage_pass_buffer(stage, partial);
        kernel_stage_pass_buffer(stage, lse);
        kernel_stage_pass_value(stage, (int64_t)splits);
        kernel_stage_pass_buffer(stage, out);
    }
    plan->touched_bytes = (double)(pairs * length * DIMENSIONS * 4 + rows * DIMENSIONS * 4);
    plan->flop = 4.0 * (double)rows * (double)length * DIMENSIONS;
    return STATUS_OK;
}

/* softmax(q K^T / sqrt(128)) V of one query head, online. */
static void attend(const uint16_t *query, const uint16_t *keys, const uint16_t *values, int64_t length, uint16_t *out)
{
    double sum = 0.0, highest = -INFINITY, result[DIMENSIONS] = {0.0};
    for (int64_t i = 0; i < length; i++) {
        double score = 0.0;
        for (int d = 0; d < DIMENSIONS; d++)
            score += bfloat16_to_double(query[d]) * bfloat16_to_double(keys[i * DIMENSIONS + d]);
        score /= sqrt(DIMENSIONS);
        double higher = score > highest ? score : highest, keep = exp(highest - higher), weight = exp(score - higher);
        highest = higher;
        sum = sum * keep + weight;
        for (int d = 0; d < DIMENSIONS; d++)
            result[d] = result[d] * keep + weight * bfloat16_to_double(values[i * DIMENSIONS + d]);
    }
    for (int d = 0; d < DIMENSIONS; d++)
        out[d] = bfloat16_from_double(result[d] / sum);
}

static void reference_gqa_decode(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    int64_t group = kernel_plan_value(plan, "group"), length = kernel_plan_value(plan, "length");
    int64_t rows = kernel_plan_value(plan, "batch") * kernel_plan_value(plan, "kv_heads") * group;
    int64_t most = CHECKED_ROWS * 4096 / (length < 4096 ? 4096 : length) + 1;
    int64_t step = rows > most ? (rows / most) | 1 : 1;
    for (int64_t row = 0; row < rows; row += step) {
        int64_t first = row / group * length * DIMENSIONS;
        attend((const uint16_t *)buffers[0] + row * DIMENSIONS, (const uint16_t *)buffers[1] + first,
               (const uint16_t *)buffers[2] + first, length, (uint16_t *)buffers[5] + row * DIMENSIONS);
    }
}

static void report_gqa_decode(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                              struct measure_result *result)
{
    (void)buffers;
    measure_result_add(result, "cold_gb_per_s", plan->touched_bytes / result->cold.median_us * 1e-3);
    measure_result_add(result, "cold_tflop_per_s", plan->flop / result->cold.median_us * 1e-6);
}

const struct kernel_case_definition gqa_decode_case = {
    .kernel = {"gqa_decode", "dense split-KV decode attention in bf16, head dimension 128", SETTINGS_OF(settings)},
    .source = "gqa_decode",
    .minimum_arch = 80,
    .plan = plan_gqa_decode,
    .reference = reference_gqa_decode,
    .report = report_gqa_decode,
};
