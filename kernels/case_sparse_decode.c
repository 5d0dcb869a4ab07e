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

static enum status make_splits(const struct kernel_plan *plan, struct split_rule *rule, struct error *error)
{
    int64_t t = kernel_plan_value(plan, "block_t"), h = kernel_plan_value(plan, "block_h");
    int64_t warps = kernel_plan_value(plan, "num_warps");
    int64_t tokens = kernel_plan_value(plan, "tokens"), pool = kernel_plan_value(plan, "pool");
    if ((t != 16 && t != 32 && t != 64) || (h != 16 && h != 32 && h != 64) || (warps != 4 && warps != 8 && warps != 16))
        return error_set(error, STATUS_DOMAIN, "block_t and block_h must be 16, 32 or 64, num_warps 4, 8 or 16");
    if (kernel_plan_value(plan, "heads") % h)
        return error_set(error, STATUS_DOMAIN, "heads must be a multiple of block_h");
    if (kernel_plan_value(plan, "wide_tiles") == 2 && kernel_plan_value(plan, "num_stages") < 2)
        return error_set(error, STATUS_DOMAIN, "two wide tiles need at least two stages");
    enum status status = split_rule_make((uint64_t)tokens, (uint64_t)t, kernel_plan_count(plan, "splits"), rule, error);
    if (status == STATUS_OK && (pool & (pool - 1) || tokens > pool))
        return error_set(error, STATUS_DOMAIN, "pool must be a power of two, at least tokens");
    return status;
}

/* The layout of struct layout in sparse_decode.cu. */
static uint64_t smem_bytes(const struct kernel_plan *plan, const struct split_rule *rule)
{
    uint64_t t = kernel_plan_count(plan, "block_t"), h = kernel_plan_count(plan, "block_h");
    uint64_t warps = kernel_plan_count(plan, "num_warps"), stages = kernel_plan_count(plan, "num_stages");
    uint64_t warps_m = h / 16 < warps ? h / 16 : warps, warps_n = warps / warps_m;
    if (t / 8 < warps_n)
        warps_n = t / 8;
    return h * WIDE_ROW_BYTES + stages * t * ROW_ALIGNED_BYTES +
           kernel_plan_count(plan, "wide_tiles") * t * WIDE_ROW_BYTES + h * (2 * t + 16) + warps_n * h * 4 + h * 4 +
           rule->tiles_per_split * t * 4;
}

static enum status plan_sparse_decode(struct kernel_plan *plan, struct error *error)
{
    struct split_rule rule;
    enum status status = make_splits(plan, &rule, error);
    if (status != STATUS_OK)
        return status;
    uint64_t requests = kernel_plan_count(plan, "concurrency"), heads = kernel_plan_count(plan, "heads");
    uint64_t tokens = kernel_plan_count(plan, "tokens"), pool = kernel_plan_count(plan, "pool"),
             rows = requests * heads;
    int query =
        kernel_plan_add_input(plan, "query", rows * DIMENSIONS * 2, (struct fill_rule){FILL_FORMAT_BFLOAT16, 0, 0, 0});
    /* The kernel reads 16 bytes at a time: 8 bytes more. */
    int cache = kernel_plan_add_input(plan, "cache", requests * pool * KV_ROW_BYTES + 8,
                                      (struct fill_rule){FILL_FORMAT_KV_ROW, 1, 0, 0});
    int index = kernel_plan_add_input(plan, "index", requests * tokens * 4,
                                      (struct fill_rule){FILL_FORMAT_GATHER, 2, tokens, pool});
    struct attention_buffers buffers = kernel_plan_add_attention_buffers(plan, rows, DIMENSIONS, rule.splits);
    struct kernel_stage *stage = kernel_plan_add_stage(
        plan, "sparse_decode", requests * rule.splits * (heads / kernel_plan_count(plan, "block_h")), 1,
        kernel_plan_value(plan, "num_warps") * 32, smem_bytes(plan, &rule));
    kernel_stage_pass_buffer(stage, query);
    kernel_stage_pass_buffer(stage, cache);
    kernel_stage_pass_buffer(stage, index);
    kernel_stage_pass_counts(stage, (uint64_t[]){heads, tokens, rule.splits, rule.tiles_per_split}, 4);
    kernel_stage_pass_attention_buffers(stage, buffers);
    if (rule.splits > 1)
        kernel_plan_add_combine(plan, "combine", rows, DIMENSIONS, buffers, (uint64_t[]){heads, rule.splits}, 2);
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

/* One head: keys and values are the same rows. */
static void attend(const uint16_t *query, const uint8_t *cache, const int32_t *index, int64_t tokens,
                   const double e4m3[256], uint16_t *out)
{
    struct attention_row row;
    double wide[DIMENSIONS];
    attention_row_start(&row, query, DIMENSIONS);
    for (int64_t i = 0; i < tokens; i++) {
        widen_row(cache + (int64_t)index[i] * KV_ROW_BYTES, e4m3, wide);
        attention_row_add(&row, wide, wide);
    }
    attention_row_finish(&row, out);
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

const struct kernel_case_definition sparse_decode_case = {
    .kernel = {"sparse_decode", "sparse MLA decode over gathered fp8 rows, split along the tokens",
               SETTINGS_OF(settings)},
    .source = "sparse_decode",
    .minimum_arch = 80,
    .plan = plan_sparse_decode,
    .reference = reference_sparse_decode,
    .report = report_attention,
};
