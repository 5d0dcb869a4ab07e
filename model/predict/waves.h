/* SPDX-License-Identifier: GPL-3.0-or-later
 * How a grid fills the device: rounds, tail, efficiency, split choice, and list scheduling of unequal CTAs. */
#ifndef OCCAM_MODEL_PREDICT_WAVES_H
#define OCCAM_MODEL_PREDICT_WAVES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/describe/tile_loop.h"

struct waves {
    uint64_t slots;                  /* sm_count * ctas_per_sm: one wave */
    double waves;                    /* grid / slots, for example 2.72 */
    uint64_t rounds;                 /* ceil(waves) */
    uint64_t full_rounds;            /* floor(waves) */
    uint64_t tail_ctas;              /* grid - full_rounds * slots; 0 = the last round is full */
    uint32_t tail_ctas_per_sm;       /* co-residents in the tail: ceil(tail / sm_count) */
    double wave_efficiency_fraction; /* grid / (rounds * slots) */
    double sm_fill_fraction;         /* share of the SMs that get any work: min(1, grid / sm_count) */
};

/* eq. WAVE-1. sm_count and ctas_per_sm >= 1, grid >= 1. */
void waves_compute(uint64_t grid_ctas, uint32_t sm_count, uint32_t ctas_per_sm, struct waves *result);

enum {
    LIST_SCHEDULE_GROUPS_MAX = TILE_LOOP_RAGGED_MAX
};

/* Makespan of jobs dealt in order to the first free of `slots` workers (list scheduling): counts[i] jobs of work[i] >=
 * 0 each, one group after the other; at most LIST_SCHEDULE_GROUPS_MAX groups. 0 without jobs. eq. WAVE-2 */
double waves_list_schedule(const double *work, const uint64_t *counts, size_t group_count, uint64_t slots);

/* eq. WAVE-3: FlashAttention-style rule used as a baseline: of candidates in the order of growing split counts, each
 * with its waves (tiles x splits / slots), the index of the first whose fill is at least 85 % of the best. 0 without
 * candidates; waves of 0 fill nothing. */
size_t split_rule_fill85(const double *waves, size_t count);

#endif
