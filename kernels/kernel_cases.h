/* SPDX-License-Identifier: GPL-3.0-or-later
 * The one list of kernels; each is defined in kernels/case_NAME.c. Included by kernel_plan.c and the case files. Below
 * it what the attention kernels share (case_parts.c): a row is one query vector of one request, and its result. */
#ifndef OCCAM_KERNELS_KERNEL_CASES_H
#define OCCAM_KERNELS_KERNEL_CASES_H

#include "kernels/kernel_plan.h"

extern const struct kernel_case_definition wave_probe_case, latency_chase_case, bandwidth_stream_case,
    bandwidth_gather_case, mma_tile_case, smem_bandwidth_case, launch_chain_case, barrier_and_exp_case,
    sparse_decode_case, gqa_decode_case, gemm_tile_case;

#define KERNEL_CASES                                                                                                   \
    &wave_probe_case, &latency_chase_case, &bandwidth_stream_case, &bandwidth_gather_case, &mma_tile_case,             \
        &smem_bandwidth_case, &launch_chain_case, &barrier_and_exp_case, &sparse_decode_case, &gqa_decode_case,        \
        &gemm_tile_case

#define SETTINGS_OF(array) .setting_count = sizeof(array) / sizeof *(array), .settings = (array)

enum {
    ATTENTION_DIMENSIONS_MAX = 512
};

/* kernel_plan_value of a setting whose range begins at 0 or above. */
uint64_t kernel_plan_count(const struct kernel_plan *plan, const char *name);

/* How a row's tokens are cut: every split but the last has tiles_per_split tiles. */
struct split_rule {
    uint64_t splits, tiles_per_split;
};
/* STATUS_DOMAIN when there are more splits than tiles. tile_tokens and splits are above 0. */
MUST_CHECK enum status split_rule_make(uint64_t tokens, uint64_t tile_tokens, uint64_t splits, struct split_rule *rule,
                                       struct error *error);

/* Indices of buffers: fp32 results and log2-sums of every split (one row of them when nothing is split), bf16 results.
 */
struct attention_buffers {
    int partial, lse, out;
};
struct attention_buffers kernel_plan_add_attention_buffers(struct kernel_plan *plan, uint64_t rows, uint64_t dimensions,
                                                           uint64_t splits);
void kernel_stage_pass_counts(struct kernel_stage *stage, const uint64_t *counts, size_t count);
/* partial, lse, out. */
void kernel_stage_pass_attention_buffers(struct kernel_stage *stage, struct attention_buffers buffers);
/* The launch that brings the splits together: a CTA per row, four dimensions per thread; its arguments are partial,
 * lse, the counts, out. */
void kernel_plan_add_combine(struct kernel_plan *plan, const char *entry, uint64_t rows, uint64_t dimensions,
                             struct attention_buffers buffers, const uint64_t *counts, size_t count);

/* softmax(q K^T / sqrt(dimensions)) V of one row in float64, online, so that one key and value is needed at a time:
 * start, add every token, finish. query and out: `dimensions` bf16 values. */
struct attention_row {
    int dimensions;
    double sum, highest;
    double query[ATTENTION_DIMENSIONS_MAX], result[ATTENTION_DIMENSIONS_MAX];
};
void attention_row_start(struct attention_row *row, const uint16_t *query, int dimensions);
void attention_row_add(struct attention_row *row, const double *key, const double *value);
void attention_row_finish(const struct attention_row *row, uint16_t *out);

/* Cold bytes and flop per second: the report of both attention kernels. */
void report_attention(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                      struct measure_result *result);

#endif
