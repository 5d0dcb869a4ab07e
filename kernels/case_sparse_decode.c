/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sparse MLA decode over 584-byte fp8 rows, and its combine: sparse_decode.cu. */
#include <math.h>

#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"block_t", 16, 16, 64, true, "tokens per tile: 16, 32 or 64"},
    {"block_h", 32, 16, 64, true, "heads per CTA: 16, 32 or 64"},
    {"num_warps", 4, 4, 16, true, "4, 8 or 16"},
    {"num_stages", 2, 1, 4, true, "raw tiles in SMEM; 1 = load, wait, use"},
    {"wide_tiles", 1, 1, 2, true, "2: the next tile is widened while this one is multiplied; needs two stages"},
    {"max_registers", 0, 0, 255, true, "the compiler's cap; 0 = none"},
    {"splits", 1, 1, 64, false, "parts of a request's tokens; more than one adds the combine"},
    {"concurrency", 96, 1, 1024, false, "requests"},
    {"heads", 64, 16, 128, false, "query heads, a multiple of block_h"},
    {"tokens", 512, 1, 8192, false, "rows gathered per request"},
    {"pool", 2048, 1, 1 << 20, false, "rows in a request's cache, a power of two"},
};

enum {
    DIMENSIONS = 512,
    ROW_ALIGNED_BYTES = 592,
    WIDE_ROW_BYTES = 1040,
    CHECKED_ROWS = 24 /* (request, head) pairs that the reference computes */
};

/* The layout of struct layout in sparse_decode.cu. */
static uint64_t smem_bytes(uint64_t t, uint64_t h, uint64_t warps, uint64_t stages, uint64_t wide_tiles,
                           uint64_t tokens_per_split)
{
    uint64_t warps_m = h / 16 < warps ? h / 16 : warps, warps_n = warps / warps_m;
    if (t / 8 < warps_n)
        warps_n = t / 8;
    return h * WIDE_ROW_BYTES + stages * t * ROW_ALIGNED_BYTES + wide_tiles * t * WIDE_ROW_BYTES + h * (2 * t + 16) +
           warps_n * h * 4 + h * 4 + tokens_per_split * 4;
}

static enum status check_knobs(const struct kernel_plan *plan, struct error *error)
{
    int64_t t = kernel_plan_value(plan, "block_t"), h = kernel_plan_value(plan, "block_h");
    int64_t warps = kernel_plan_value(plan, "num_warps"), splits = kernel_plan_value(plan, "splits");
    int64_t tokens = kernel_plan_value(plan, "tokens"), pool = kernel_plan_value(plan, "pool");
    if ((t != 16 && t != 32 && t != 64) || (h != 16 && h != 32 && h != 64) || (warps != 4 && warps != 8 && warps != 16))
        return error_set(error, STATUS_DOMAIN, "block_t and block_h must be 16, 32 or 64, num_warps 4, 8 or 16");
    if (kernel_plan_value(plan, "heads") % h)
        return error_set(error, STATUS_DOMAIN, "heads must be a multiple of block_h");
    if (kernel_plan_value(plan, "wide_tiles") == 2 && kernel_plan_value(plan, "num_stages") < 2)
        return error_set(error, STATUS_DOMAIN, "two wide tiles need at least two stages");
    if (splits > (tokens + t - 1) / t)
        return error_set(error, STATUS_DOMAIN, "%lld splits of %lld tiles: some would have no tile", (long long)splits,
                         (long long)((tokens + t - 1) / t));
    if (pool & (pool - 1) || tokens > pool)
        return error_set(error, STATUS_DOMAIN, "pool must be a power of two, at least tokens");
    return STATUS_OK;
}

static enum status plan_sparse_decode(struct kernel_plan *plan, struct error *error)
{
    enum status status = check_knobs(plan, error);
    if (status != STATUS_OK)
        return status;
    uint64_t t = (uint64_t)kernel_plan_value(plan, "block_t"), h = (uint64_t)kernel_plan_value(plan, "block_h");
    uint64_t warps = (uint64_t)kernel_plan_value(plan, "num_warps"),
             splits = (uint64_t)kernel_plan_value(plan, "splits");
    uint64_t requests = (uint64_t)kernel_plan_value(plan, "concurrency");
    uint64_t heads = (uint64_t)kernel_plan_value(plan, "heads"), tokens = (uint64_t)kernel_plan_value(plan, "tokens");
    uint64_t pool = (uint64_t)kernel_plan_value(plan, "pool"), rows = requests * heads;
    uint64_t tiles_per_split = ((tokens + t - 1) / t + splits - 1) / splits;
    int query =
        kernel_plan_add_input(plan, "query", rows * DIMENSIONS * 2, (struct fill_rule){FILL_FORMAT_BFLOAT16, 0, 0, 0});
    int cache = kernel_plan_add_input(plan, "cache", requests * pool * KV_ROW_BYTES,
                                      (struct fill_rule){FILL_FORMAT_KV_ROW, 1, 0, 0});
    int index = kernel_plan_add_input(plan, "index", requests * tokens * 4,
                                      (struct fill_rule){FILL_FORMAT_GATHER, 2, tokens, pool});
    uint64_t partial_rows = splits > 1 ? rows * splits : 1;
    int partial = kernel_plan_add_buffer(plan, "partial", BUFFER_ROLE_SCRATCH, ELEMENT_FORMAT_FLOAT32,
                                         partial_rows * DIMENSIONS * 4);
    int lse = kernel_plan_add_buffer(plan, "lse", BUFFER_ROLE_SCRATCH, ELEMENT_FORMAT_FLOAT32, partial_rows * 4);
    int out = kernel_plan_add_buffer(plan, "out", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_BFLOAT16, rows * DIMENSIONS * 2);
    struct kernel_stage *stage =
        kernel_plan_add_stage(plan, "sparse_decode", requests * splits * (heads / h), 1, (int64_t)warps * 32,
                              smem_bytes(t, h, warps, (uint64_t)kernel_plan_value(plan, "num_stages"),
                                         (uint64_t)kernel_plan_value(plan, "wide_tiles"), tiles_per_split * t));
    const int buffers[] = {query, cache, index};
    for (size_t i = 0; i < 3; i++)
        kernel_stage_pass_buffer(stage, buffers[i]);
    kernel_stage_pass_value(stage, (int64_t)heads);
    kernel_stage_pass_value(stage, (int64_t)tokens);
    kernel_stage_pass_value(stage, (int64_t)splits);
    kernel_stage_pass_value(stage, (int64_t)tiles_per_split);
    kernel_stage_pass_buffer(stage, partial);
    kernel_stage_pass_buffer(stage, lse);
    kernel_stage_pass_buffer(stage, out);
    if (splits > 1) {
        stage = kernel_plan_add_stage(plan, "combine", rows, 1, DIMENSIONS / 4, 0);
        kernel_stage_pass_buffer(stage, partial);
        kernel_stage_pass_buffer(stage, lse);
        kernel_stage_pass_value(stage, (int64_t)heads);
        kernel_stage_pass_value(stage, (int64_t)splits);
        kernel_stage_pass_buffer(stage, out);
    }
    plan->touched_bytes = (double)(requests * tokens * (KV_ROW_BYTES + 4) + rows * DIMENSIONS * 4);
    plan->flop = 4.0 * (double)rows * (double)tokens * DIMENSIONS;
    return STATUS_OK;
}

/* e4m3: the value of every byte. */
static void widen_row(const uint8_t *row, const double e4m3[256], double out[DIMENSIONS])
{
    for (int group = 0; group < KV_ROW_E4M3 / 64; group++) {
        double scale = ldexp(1.0, row[KV_ROW_SCALES_OFFSET + group] - 127);
        for (int i = group * 64; i < group * 64 + 64; i++)
            out[i] = e4m3[row[i]] * scale;
    }
    for (int i = 0; i < KV_ROW_BFLOAT16; i++)
        out[KV_ROW_E4M3 + i] =
            bfloat16_to_double((uint16_t)(row[KV_ROW_E4M3 + 2 * i] | row[KV_ROW_E4M3 + 2 * i + 1] << 8));
}

/* Plain attention of one head: softmax(q K^T / sqrt(512)) K. Online, so that one row is in memory at a time. */
static void attend(const uint16_t *query, const uint8_t *cache, const int32_t *index, int64_t tokens,
                   const double e4m3[256], uint16_t *out)
{
    double sum = 0.0, highest = -INFINITY, wide[DIMENSIONS], row[DIMENSIONS], result[DIMENSIONS] = {0.0};
    for (int d = 0; d < DIMENSIONS; d++)
        wide[d] = bfloat16_to_double(query[d]);
    for (int64_t i = 0; i < tokens; i++) {
        double score = 0.0;
        widen_row(cache + (int64_t)index[i] * KV_ROW_BYTES, e4m3, row);
        for (int d = 0; d < DIMENSIONS; d++)
            score += wide[d] * row[d];
        score /= sqrt(DIMENSIONS);
        double higher = score > highest ? score : highest, keep = exp(highest - higher), weight = exp(score - higher);
        highest = higher;
        sum = sum * keep + weight;
        for (int d = 0; d < DIMENSIONS; d++)
            result[d] = result[d] * keep + weight * row[d];
    }
    for (int d = 0; d < DIMENSIONS; d++)
        out[d] = bfloat16_from_double(result[d] / sum);
}

static void reference_sparse_decode(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    int64_t heads = kernel_plan_value(plan, "heads"), tokens = kernel_plan_value(plan, "tokens");
    int64_t rows = heads * kernel_plan_value(plan, "concurrency");
    int64_t step = rows > CHECKED_ROWS ? (rows / CHECKED_ROWS) | 1 : 1; /* odd: walks through all heads */
    const uint16_t *query = buffers[0];
    double e4m3[256];
    for (int i = 0; i < 256; i++)
        e4m3[i] = e4m3_to_double((uint8_t)i);
    for (int64_t row = 0; row < rows; row += step)
        attend(query + row * DIMENSIONS, buffers[1], (const int32_t *)buffers[2] + row / heads * tokens, tokens, e4m3,
               (uint16_t *)buffers[5] + row * DIMENSIONS);
}

static void report_sparse_decode(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                                 struct measure_result *result)
{
    (void)buffers;
    measure_result_add(result, "cold_gb_per_s", plan->touched_bytes / result->cold.median_us * 1e-3);
    measure_result_add(result, "cold_tflop_per_s", plan->flop / result->cold.median_us * 1e-6);
}

const struct kernel_case_definition sparse_decode_case = {
    .kernel = {"sparse_decode", "sparse MLA decode over gathered fp8 rows, split along the tokens",
               SETTINGS_OF(settings)},
    .source = "sparse_decode",
    .minimum_arch = 80,
    .plan = plan_sparse_decode,
    .reference = reference_sparse_decode,
    .report = report_sparse_decode,
};
