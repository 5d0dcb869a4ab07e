/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rounds, tail and list scheduling (docs/MODEL.md section 3). */
#include "model/predict/waves.h"

#include <math.h>

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

/* Slots that become free at the same time. */
struct level {
    double free_s;
    uint64_t slots;
};

struct levels {
    size_t count;
    struct level items[LIST_SCHEDULE_GROUPS_MAX + 1]; /* ascending; only the end of a group splits one in two */
};

/* Jobs of work_s each to the level that is free first, one for each of its slots or for so many as there are jobs;
 * returns how many. */
static uint64_t deal_level(struct levels *levels, double work_s, uint64_t jobs)
{
    struct level *items = levels->items;
    const struct level least = items[0];
    const uint64_t dealt = jobs < least.slots ? jobs : least.slots;
    const double free_s = least.free_s + work_s;
    size_t at = 0;
    if (dealt < least.slots) {
        items[0].slots -= dealt; /* stays where it is, the least */
        for (at = levels->count++; at > 1 && items[at - 1].free_s > free_s; at--) {
            items[at] = items[at - 1];
        }
    } else {
        for (; at + 1 < levels->count && items[at + 1].free_s < free_s; at++) {
            items[at] = items[at + 1];
        }
    }
    items[at] = (struct level){free_s, dealt};
    return dealt;
}

/* Neighbours that are free at the same time become one level, so that no group leaves more than one level behind. */
static void merge_levels(struct levels *levels)
{
    size_t kept = 0;
    for (size_t i = 1; i < levels->count; i++) {
        if (levels->items[i].free_s == levels->items[kept].free_s) {
            levels->items[kept].slots += levels->items[i].slots;
        } else {
            levels->items[++kept] = levels->items[i];
        }
    }
    levels->count = kept + 1;
}

/* WAVE-2, whole levels of slots at a time. All slots are free at time 0, so the first `slots` jobs start at once. */
double waves_list_schedule(const double *work, const uint64_t *counts, size_t group_count, uint64_t slots)
{
    struct levels levels = {.count = 1, .items = {{.slots = slots}}};
    double makespan = 0;
    if (group_count > LIST_SCHEDULE_GROUPS_MAX || slots == 0) {
        BUG("list schedule of %zu groups on %llu slots", group_count, (unsigned long long)slots);
    }
    for (size_t group = 0; group < group_count; group++) {
        for (uint64_t left = work[group] > 0 ? counts[group] : 0; left > 0;) {
            const double end = levels.items[0].free_s + work[group];
            makespan = end > makespan ? end : makespan;
            left -= deal_level(&levels, work[group], left);
        }
        merge_levels(&levels);
    }
    return makespan;
}

static double fill_of(double waves)
{
    return waves > 0 ? waves / ceil(waves) : 0;
}

/* WAVE-3: the rule of FlashAttention's num_splits heuristic, kept as a baseline to compare with. */
size_t split_rule_fill85(const double *waves, size_t count)
{
    double best = 0;
    for (size_t i = 0; i < count; i++) {
        best = fmax(best, fill_of(waves[i]));
    }
    for (size_t i = 0; i < count; i++) {
        if (fill_of(waves[i]) >= 0.85 * best) {
            return i;
        }
    }
    return 0; /* no candidates */
}
