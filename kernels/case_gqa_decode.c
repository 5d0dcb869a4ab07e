/* SPDX-License-Identifier: GPL-3.0-or-later
 * Dense split-KV decode attention in bf16, and its combine: gqa_decode.cu. */
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

static enum status make_splits(const struct kernel_plan *plan, struct split_rule *rule, struct error *error)
{
    int64_t n = kernel_plan_value(plan, "block_n"), warps = kernel_plan_value(plan, "num_warps");
    if ((n & (n - 1)) || (warps & (warps - 1)))
        return error_set(error, STATUS_DOMAIN, "block_n and num_warps must be powers of two");
    return split_rule_make(kernel_plan_count(plan, "length"), (uint64_t)n, kernel_plan_count(plan, "splits"), rule,
                           error);
}

/* The layout of struct layout in gqa_decode.cu. */
static uint64_t smem_bytes(uint64_t n, uint64_t warps, uint64_t stages)
{
    uint64_t warps_n = n / 8 < warps ? n / 8 : warps, stage_bytes = 2 * n * DIMENSIONS * 2;
    return 16 * ROW_PADDED_BYTES + stages * stage_bytes + 16 * (2 * n + 16) + warps_n * 64 + 64;
}

static enum status plan_gqa_decode(struct kernel_plan *plan, struct error *error)
{
    struct split_rule rule;
    enum status status = make_splits(plan, &rule, error);
    if (status != STATUS_OK)
        return status;
    uint64_t length = kernel_plan_count(plan, "length"), warps = kernel_plan_count(plan, "num_warps");
    uint64_t pairs = kernel_plan_count(plan, "batch") * kernel_plan_count(plan, "kv_heads");
    uint64_t rows = pairs * kernel_plan_count(plan, "group"), cache_bytes = pairs * length * DIMENSIONS * 2;
    struct fill_rule random = {FILL_FORMAT_BFLOAT16, 0, 0, 0};
    int query = kernel_plan_add_input(plan, "query", rows * DIMENSIONS * 2, random);
    int keys = kernel_plan_add_input(plan, "keys", cache_bytes, random);
    int values = kernel_plan_add_input(plan, "values", cache_bytes, random);
    struct attention_buffers buffers = kernel_plan_add_attention_buffers(plan, rows, DIMENSIONS, rule.splits);
    struct kernel_stage *stage = kernel_plan_add_stage(
        plan, "gqa_decode", pairs * rule.splits, 1, (int64_t)warps * 32,
        smem_bytes(kernel_plan_count(plan, "block_n"), warps, kernel_plan_count(plan, "num_stages")));
    kernel_stage_pass_buffer(stage, query);
    kernel_stage_pass_buffer(stage, keys);
    kernel_stage_pass_buffer(stage, values);
    kernel_stage_pass_counts(stage, (uint64_t[]){length, rule.splits, rule.tiles_per_split}, 3);
    kernel_stage_pass_attention_buffers(stage, buffers);
    if (rule.splits > 1)
        kernel_plan_add_combine(plan, "gqa_combine", rows, DIMENSIONS, buffers, &rule.splits, 1);
    plan->touched_bytes = (double)(2 * cache_bytes + rows * DIMENSIONS * 4);
    plan->flop = 4.0 * (double)rows * (double)length * DIMENSIONS;
    return STATUS_OK;
}

static void widen_row(const uint16_t *row, double out[DIMENSIONS])
{
    for (int d = 0; d < DIMENSIONS; d++)
        out[d] = bfloat16_to_double(row[d]);
}

static void attend(const uint16_t *query, const uint16_t *keys, const uint16_t *values, int64_t length, uint16_t *out)
{
    struct attention_row row;
    double key[DIMENSIONS], value[DIMENSIONS];
    attention_row_start(&row, query, DIMENSIONS);
    for (int64_t i = 0; i < length; i++) {
        widen_row(keys + i * DIMENSIONS, key);
        widen_row(values + i * DIMENSIONS, value);
        attention_row_add(&row, key, value);
    }
    attention_row_finish(&row, out);
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

const struct kernel_case_definition gqa_decode_case = {
    .kernel = {"gqa_decode", "dense split-KV decode attention in bf16, head dimension 128", SETTINGS_OF(settings)},
    .source = "gqa_decode",
    .minimum_arch = 80,
    .plan = plan_gqa_decode,
    .reference = reference_gqa_decode,
    .report = report_attention,
};
