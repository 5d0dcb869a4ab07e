/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rounds, tail and list scheduling (docs/MODEL.md section 3). */
#include "model/predict/waves.h"

#include "base/status.h"

/* WAVE-1 */
void waves_compute(uint64_t grid_ctas, uint32_t sm_count, uint32_t ctas_per_sm, struct waves *result)
{
    const uint64_t slots = (uint64_t)sm_count * ctas_per_sm;
    const uint64_t full_rounds = grid_ctas / slots;
    const uint64_t tail_ctas = grid_ctas - full_rounds * slots;
    result->slots = slots;
    result->waves = (double)grid_ctas / (double)slots;
    result->full_rounds = full_rounds;
    result->rounds = full_rounds + (tail_ctas != 0);
    result->tail_ctas = tail_ctas;
    result->tail_ctas_per_sm = (uint32_t)((tail_ctas + sm_count - 1) / sm_count);
    result->wave_efficiency_fraction = (double)grid_ctas / ((double)result->rounds * (double)slots);
    result->sm_fill_fraction = grid_ctas >= sm_count ? 1.0 : (double)grid_ctas / (double)sm_count;
}

static void sift_down(double *heap, size_t size, size_t i)
{
    for (;;) {
        size_t least = i;
        const size_t left = 2 * i + 1, right = left + 1;
        if (left < size && heap[left] < heap[least]) {
            least = left;
        }
        if (right < size && heap[right] < heap[least]) {
            least = right;
        }
        if (least == i) {
            return;
        }
        const double value = heap[i];
        heap[i] = heap[least];
        heap[least] = value;
        i = least;
    }
}

/* WAVE-2: O(jobs log slots). A slot that was never used is free at time 0, so the first `slots` jobs start at once. */
double waves_list_schedule(const double *work, const uint64_t *counts, size_t group_count, double *heap, size_t slots)
{
    double makespan = 0;
    for (size_t i = 0; i < slots; i++) {
        heap[i] = 0;
    }
    for (size_t group = 0; group < group_count; group++) {
        for (uint64_t job = 0; job < counts[group]; job++) {
            heap[0] += work[group];
            makespan = heap[0] > makespan ? heap[0] : makespan;
            sift_down(heap, slots, 0);
        }
    }
    return makespan;
}

static double fill_of(uint64_t tiles, uint32_t splits, uint32_t slots)
{
    const uint64_t ctas = tiles * splits;
    const uint64_t rounds = (ctas + slots - 1) / slots;
    return (double)ctas / ((double)rounds * slots);
}

/* WAVE-3: the rule of FlashAttention's num_splits heuristic, kept as a baseline to compare with. */
uint32_t split_rule_fill85(uint64_t tiles, uint32_t slots, uint32_t max_splits)
{
    if (tiles == 0 || slots == 0 || max_splits == 0) {
        return 1; /* nothing to divide, or nothing to divide it over */
    }
    double best = 0;
    for (uint32_t splits = 1; splits <= max_splits; splits++) {
        const double fill = fill_of(tiles, splits, slots);
        best = fill > best ? fill : best;
    }
    for (uint32_t splits = 1; splits <= max_splits; splits++) {
        if (fill_of(tiles, splits, slots) >= 0.85 * best) {
            return splits;
        }
    }
    return max_splits;
}
