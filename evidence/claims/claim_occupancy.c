/* SPDX-License-Identifier: GPL-3.0-or-later
 * Two launches, from the worst and the best ends of a story's intervals. */
#include "evidence/claims/claim_occupancy.h"

#include <math.h>

static const double COUNT_MAX = 4e9, BYTES_MAX = 1e15;

static double end_of(const struct claim_value *value, bool worst, double unknown, double most)
{
    const double number = !value->is_known ? unknown : worst ? value->high : value->low;
    return number < 0 ? 0 : number > most ? most : floor(number);
}

static struct kernel_launch launch_of(const struct claim_story *story, bool worst)
{
    const struct claim_value *figures = story->figures;
    struct kernel_launch launch = {.barriers = 1, .cluster_ctas = 1, .carveout_percent = CARVEOUT_DEFAULT};
    launch.threads = (uint32_t)end_of(&figures[CLAIM_THREADS], worst, 32, COUNT_MAX);
    launch.registers_per_thread = (uint32_t)end_of(&figures[CLAIM_REGISTERS], worst, 16, COUNT_MAX);
    launch.dynamic_smem_bytes = (uint64_t)end_of(&figures[CLAIM_LAUNCH_SMEM], worst, 0, BYTES_MAX);
    const double barriers = end_of(&figures[CLAIM_BARRIERS], worst, 1, COUNT_MAX);
    const double cluster = end_of(&figures[CLAIM_CLUSTER], worst, 1, COUNT_MAX);
    launch.barriers = barriers >= 1 ? (uint32_t)barriers : 1;
    launch.cluster_ctas = cluster >= 1 ? (uint32_t)cluster : 1;
    launch.grid_ctas = launch.cluster_ctas; /* the grid does not matter here, but must be a multiple of the cluster */
    return launch;
}

void claim_story_occupancy(const struct claim_story *story, const struct gpu_limits *limits,
                           struct claim_occupancy *result)
{
    struct occupancy worst, best;
    const struct kernel_launch high = launch_of(story, true), low = launch_of(story, false);
    *result = (struct claim_occupancy){.registers_unknown = !story->figures[CLAIM_REGISTERS].is_known,
                                       .threads_unknown = !story->figures[CLAIM_THREADS].is_known,
                                       .smem_unknown = !story->figures[CLAIM_LAUNCH_SMEM].is_known};
    result->is_known = !(result->registers_unknown && result->threads_unknown && result->smem_unknown);
    occupancy_compute(limits, &high, &worst);
    occupancy_compute(limits, &low, &best);
    result->ctas_low = worst.ctas_per_sm;
    result->ctas_high = best.ctas_per_sm > worst.ctas_per_sm ? best.ctas_per_sm : worst.ctas_per_sm;
    result->smem_over_limit_bytes = worst.smem_over_limit_bytes;
    result->charged_smem_bytes = worst.smem_requested_bytes + limits->smem_reserved_per_cta_bytes;
    result->occupancy_fraction = worst.occupancy_fraction;
    result->fault = worst.fault;
    result->launch = high;
}
