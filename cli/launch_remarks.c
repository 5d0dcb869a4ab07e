/* SPDX-License-Identifier: GPL-3.0-or-later
 * Clusters and large static SMEM: what occam does not model of them, and what the compiler wants. */
#include "cli/launch_remarks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text_buffer.h"
#include "cli/quantity_text.h"
#include "model/predict/occupancy.h"
#include "model/predict/smem_rule.h"

/* What ptxas allows for static arrays unless the target is architecture-specific; the same on every GPU. */
enum {
    FP32_BYTES = 4,
    CC_MAJOR_TENSOR_MEMORY = 10 /* accumulators of tcgen05 are no registers */
};
static const uint32_t STATIC_SMEM_PLAIN_BYTES = 48 * 1024;

__attribute__((format(printf, 3, 4))) static void add(struct launch_remarks *remarks, const char *kernel,
                                                      const char *format, ...)
{
    const size_t size = sizeof remarks->texts[0];
    va_list arguments;
    int used = 0;

    if (remarks->count == LAUNCH_REMARKS_MAX)
        BUG("more than %d remarks", LAUNCH_REMARKS_MAX);
    char *text = remarks->texts[remarks->count++];
    if (kernel[0] != '\0')
        used = snprintf(text, size, "kernel %s: ", kernel);
    va_start(arguments, format);
    (void)vsnprintf(text + used, size - (size_t)used, format, arguments);
    va_end(arguments);
}

void launch_remarks_add(struct launch_remarks *remarks, const char *kernel, const struct gpu_limits *limits,
                        const struct kernel_launch *launch)
{
    char bytes[QUANTITY_TEXT_SIZE];

    if (launch->cluster_ctas > 1)
        add(remarks, kernel, "clusters of %u CTAs: their placement by GPC and multicast loads are not modelled",
            launch->cluster_ctas);
    if (launch->cluster_ctas > 1 && launch->cluster_ctas > limits->max_cluster_portable &&
        launch->cluster_ctas <= limits->max_cluster)
        add(remarks, kernel,
            "a cluster of more than %u CTAs is not portable: the kernel needs the attribute "
            "cudaFuncAttributeNonPortableClusterSizeAllowed",
            limits->max_cluster_portable);
    if (launch->static_smem_bytes > STATIC_SMEM_PLAIN_BYTES)
        add(remarks, kernel,
            "%s of static SMEM, over 48 KiB, compile only for architecture-specific targets (sm_90a, sm_100a, "
            "sm_120a; CUDA 13); any other target refuses it",
            quantity_bytes(launch->static_smem_bytes, bytes));
}

static double longest_loop(const struct tile_loop *loop)
{
    double most = loop->ragged_count > 0 ? 0 : loop->iterations;

    for (uint32_t i = 0; i < loop->ragged_count; i++)
        most = fmax(most, loop->ragged[i].iterations);
    return most;
}

void launch_remarks_add_loop(struct launch_remarks *remarks, const struct gpu_limits *limits,
                             const struct kernel_case *kernel)
{
    const struct tile_loop *loop = &kernel->loop;
    const double iterations = longest_loop(loop);
    char stages[32], turns[32];

    if (iterations > 0 && !pipeline_can_fill(iterations, loop->declared_stages))
        add(remarks, kernel->name,
            "a pipeline of %s stages is never full in a loop of %s: the SMEM of the others is wasted",
            number_format_digits(loop->declared_stages, 6, stages), number_format_digits(ceil(iterations), 6, turns));
    for (uint32_t i = 0; i < loop->mma_count && limits->cc_major != CC_MAJOR_TENSOR_MEMORY; i++) {
        const struct mma_op *mma = &loop->mma[i];
        const uint64_t registers = accumulator_registers_per_thread(mma->m, mma->n, FP32_BYTES, kernel->launch.threads);

        if (registers <= limits->max_registers_per_thread)
            continue;
        add(remarks, kernel->name,
            "FP32 accumulators of %u x %u take %llu registers of each thread, over the limit of %u: they spill", mma->m,
            mma->n, (unsigned long long)registers, limits->max_registers_per_thread);
        break;
    }
}

void launch_remarks_record(const struct launch_remarks *remarks, struct report *report)
{
    report_begin_array(report, "remarks");
    for (size_t i = 0; i < remarks->count; i++)
        report_string(report, NULL, remarks->texts[i]);
    report_end(report);
}

void launch_remarks_print(const struct launch_remarks *remarks)
{
    for (size_t i = 0; i < remarks->count; i++)
        (void)printf("%sRemark: %s\n", i == 0 ? "\n" : "", remarks->texts[i]);
}

const char *launch_limiters_text(unsigned limiters, char out[LAUNCH_LIMITERS_TEXT_SIZE])
{
    size_t used = 0;

    out[0] = '\0';
    for (unsigned bit = 0; bit < OCCUPANCY_LIMITER_KINDS; bit++) {
        const unsigned above = limiters >> bit >> 1;

        if ((limiters >> bit & 1u) != 0)
            used += (size_t)snprintf(out + used, LAUNCH_LIMITERS_TEXT_SIZE - used, "%s%s", occupancy_limiter_name(bit),
                                     above == 0                   ? ""
                                     : (above & (above - 1)) == 0 ? " and "
                                                                  : ", ");
    }
    return out;
}
