/* SPDX-License-Identifier: GPL-3.0-or-later
 * Clusters and large static SMEM: what occam does not model of them, and what the compiler wants. */
#include "cli/launch_remarks.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/quantity_text.h"

/* What ptxas allows for static arrays unless the target is architecture-specific; the same on every GPU. */
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
