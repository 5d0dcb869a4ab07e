/* SPDX-License-Identifier: GPL-3.0-or-later
 * What the attention kernels' plan and reference functions share. */
#include <math.h>
#include <string.h>

#include "kernels/kernel_cases.h"

uint64_t kernel_plan_count(const struct kernel_plan *plan, const char *name)
{
    return (uint64_t)kernel_plan_value(plan, name);
}

static uint64_t round_up_quotient(uint64_t count, uint64_t part)
{
    return (count + part - 1) / part;
}

enum status split_rule_make(uint64_t tokens, uint64_t tile_tokens, uint64_t splits, struct split_rule *rule,
                            struct error *error)
{
    uint64_t tiles = round_up_quotient(tokens, tile_tokens);
    if (splits > tiles)
        return error_set(error, STATUS_DOMAIN, "%llu splits of %llu tiles: some would have no tile",
                         (unsigned long long)splits, (unsigned long long)tiles);
    *rule = (struct split_rule){.splits = splits, .tiles_per_split = round_up_quotient(tiles, splits)};
    return STATUS_OK;
}

struct attention_buffers kernel_plan_add_attention_buffers(struct kernel_plan *plan, uint64_t rows, uint64_t dimensions,
                                                           uint64_t splits)
{
    uint64_t partial_rows = splits > 1 ? rows * splits : 1;
    struct attention_buffers buffers;
    buffers.partial = kernel_plan_add_buffer(plan, "partial", BUFFER_ROLE_SCRATCH, ELEMENT_FORMAT_FLOAT32,
                                             partial_rows * dimensions * 4);
    buffers.lse = kernel_plan_add_buffer(plan, "lse", BUFFER_ROLE_SCRATCH, ELEMENT_FORMAT_FLOAT32, partial_rows * 4);
    buffers.out =
        kernel_plan_add_buffer(plan, "out", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_BFLOAT16, rows * dimensions * 2);
    return buffers;
}

void kernel_stage_pass_counts(struct kernel_stage *stage, const uint64_t *counts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kernel_stage_pass_value(stage, (int64_t)counts[i]);
}

void kernel_stage_pass_attention_buffers(struct kernel_stage *stage, struct attention_buffers buffers)
{
    kernel_stage_pass_buffer(stage, buffers.partial);
    kernel_stage_pass_buffer(stage, buffers.lse);
    kernel_stage_pass_buffer(stage, buffers.out);
}

void kernel_plan_add_combine(struct kernel_plan *plan, const char *entry, uint64_t rows, uint64_t dimensions,
                             struct attention_buffers buffers, const uint64_t *counts, size_t count)
{
    struct kernel_stage *stage = kernel_plan_add_stage(plan, entry, rows, 1, (int64_t)dimensions / 4, 0);
    kernel_stage_pass_buffer(stage, buffers.partial);
    kernel_stage_pass_buffer(stage, buffers.lse);
    kernel_stage_pass_counts(stage, counts, count);
    kernel_stage_pass_buffer(stage, buffers.out);
}

void attention_row_start(struct attention_row *row, const uint16_t *query, int dimensions)
{
    if (dimensions > ATTENTION_DIMENSIONS_MAX)
        BUG("attention over %d dimensions", dimensions);
    row->dimensions = dimensions;
    row->sum = 0.0;
    row->highest = -INFINITY;
    for (int d = 0; d < dimensions; d++)
        row->query[d] = bfloat16_to_double(query[d]);
    memset(row->result, 0, sizeof row->result);
}

void attention_row_add(struct attention_row *row, const double *key, const double *value)
{
    double score = 0.0;
    for (int d = 0; d < row->dimensions; d++)
        score += row->query[d] * key[d];
    score /= sqrt(row->dimensions);
    double higher = score > row->highest ? score : row->highest;
    double keep = exp(row->highest - higher), weight = exp(score - higher);
    row->highest = higher;
    row->sum = row->sum * keep + weight;
    for (int d = 0; d < row->dimensions; d++)
        row->result[d] = row->result[d] * keep + weight * value[d];
}

void attention_row_finish(const struct attention_row *row, uint16_t *out)
{
    for (int d = 0; d < row->dimensions; d++)
        out[d] = bfloat16_from_double(row->result[d] / row->sum);
}

void report_attention(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                      struct measure_result *result)
{
    (void)buffers;
    measure_result_add(result, "cold_gb_per_s", plan->touched_bytes / result->cold.median_us * 1e-3);
    measure_result_add(result, "cold_tflop_per_s", plan->flop / result->cold.median_us * 1e-6);
}
