/* SPDX-License-Identifier: GPL-3.0-or-later
 * Faults in words, with both numbers. */
#include "cli/launch_fault_reason.h"

#include <stdio.h>

#include "cli/quantity_text.h"

static void describe_cluster(const struct gpu_limits *limits, const struct kernel_launch *launch, char *out,
                             size_t out_size)
{
    const uint32_t most =
        limits->max_cluster > limits->max_cluster_portable ? limits->max_cluster : limits->max_cluster_portable;
    if (most == 0)
        (void)snprintf(out, out_size, "a cluster of %u CTAs, but this GPU has no clusters", launch->cluster_ctas);
    else
        (void)snprintf(out, out_size, "a cluster of %u CTAs, the limit is %u", launch->cluster_ctas, most);
}

static void describe_smem(const struct gpu_limits *limits, const struct kernel_launch *launch, char *out,
                          size_t out_size)
{
    char asked[QUANTITY_TEXT_SIZE], limit[QUANTITY_TEXT_SIZE], over[QUANTITY_TEXT_SIZE];
    const double bytes = (double)launch->static_smem_bytes + (double)launch->dynamic_smem_bytes;
    (void)snprintf(out, out_size, "%s of SMEM per CTA is over the limit of %s by %s", quantity_bytes(bytes, asked),
                   quantity_bytes(limits->smem_per_cta_optin_bytes, limit),
                   quantity_bytes(bytes - limits->smem_per_cta_optin_bytes, over));
}

const char *launch_fault_reason(const struct gpu_limits *limits, const struct kernel_launch *launch,
                                enum launch_fault fault, char *out, size_t out_size)
{
    char limit[QUANTITY_TEXT_SIZE], asked[QUANTITY_TEXT_SIZE];
    switch (fault) {
    case LAUNCH_FAULT_THREADS:
        (void)snprintf(out, out_size, "%s threads per CTA, the limit is %s",
                       quantity_whole((double)launch->threads, asked),
                       quantity_whole((double)limits->max_threads_per_cta, limit));
        break;
    case LAUNCH_FAULT_REGISTERS_PER_THREAD:
        (void)snprintf(out, out_size, "%u registers per thread, the limit is %u", launch->registers_per_thread,
                       limits->max_registers_per_thread);
        break;
    case LAUNCH_FAULT_REGISTERS_PER_CTA:
        (void)snprintf(out, out_size, "%s (%u threads of %u registers, limit %s registers per CTA)",
                       launch_fault_text(fault), launch->threads, launch->registers_per_thread,
                       quantity_whole((double)limits->max_registers_per_cta, limit));
        break;
    case LAUNCH_FAULT_SMEM_PER_CTA:
        describe_smem(limits, launch, out, out_size);
        break;
    case LAUNCH_FAULT_BARRIERS:
        (void)snprintf(out, out_size, "%u named barriers per CTA, the limit is %d", launch->barriers,
                       NAMED_BARRIERS_PER_CTA_MAX);
        break;
    case LAUNCH_FAULT_CLUSTER:
        describe_cluster(limits, launch, out, out_size);
        break;
    case LAUNCH_FAULT_NONE:
    case LAUNCH_FAULT_GRID:
    default:
        (void)snprintf(out, out_size, "%s", launch_fault_text(fault));
        break;
    }
    return out;
}
