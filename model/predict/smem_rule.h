/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shared memory that a known compiler gives a known loop: named rules, each exact where proven, else a lower bound. */
#ifndef OCCAM_MODEL_PREDICT_SMEM_RULE_H
#define OCCAM_MODEL_PREDICT_SMEM_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Shape of the tile loop as the rule sees it; fields a rule does not use are ignored. Tile dimensions are powers of
 * two. Elements of 1 byte are taken as fp8 with both operands contiguous along k. */
struct smem_rule_input {
    uint32_t cc_major, cc_minor;
    uint32_t block_m, block_n, block_k; /* GEMM tile */
    uint32_t head_dim;                  /* attention */
    uint32_t element_bytes_a, element_bytes_b, element_bytes_out;
    uint32_t num_warps, num_stages;
};

enum smem_rule_quality {
    SMEM_RULE_EXACT,       /* equals the compiler on every row seen (docs/VALIDATION.md) */
    SMEM_RULE_LOWER_BOUND, /* never above the compiler; slack_bytes is the largest excess seen */
    SMEM_RULE_UNKNOWN      /* no rule for this architecture: the other fields are 0 */
};

struct smem_rule_result {
    uint64_t smem_bytes; /* dynamic SMEM per CTA */
    enum smem_rule_quality quality;
    uint64_t slack_bytes;
    uint32_t buffers; /* tiles really buffered: max(1, S - 1) or S */
};

/* name: "triton-gemm", "triton-attention", "triton20-gemm", "hopper-wgmma-gemm", "hopper-wgmma-persistent".
 * STATUS_NOT_FOUND for another name (the error lists the names), STATUS_DOMAIN for a shape the rule is not defined on.
 */
MUST_CHECK enum status smem_rule_apply(const char *name, const struct smem_rule_input *input,
                                       struct smem_rule_result *result, struct error *error);
/* Name and one-line description of rule `index`, NULL past the end; static. */
const char *smem_rule_name(unsigned index);
const char *smem_rule_summary(unsigned index);
/* Buffers that num_stages gives on this architecture under Triton 3.x: max(1, S - 1) with mma.sync, S with wgmma. */
uint32_t triton_buffers(uint32_t cc_major, uint32_t num_stages, bool warpgroup_mma);

/* Registers per thread that the accumulator tile alone takes, rounded up; over the device's maximum (255) the kernel
 * must spill. Dimensions up to 2^14, threads at least 1. */
uint64_t accumulator_registers_per_thread(uint32_t block_m, uint32_t block_n, uint32_t accumulator_bytes,
                                          uint32_t threads);
/* Can a pipeline of num_stages ever be full in a loop of so many iterations? docs/MODEL.md SMEM-10. */
bool pipeline_can_fill(double iterations, double num_stages);

#endif
