/* SPDX-License-Identifier: GPL-3.0-or-later
 * Bandwidth of ordered reads, writes and copies: bandwidth_stream.cu. */
#include "kernels/kernel_cases.h"

static const struct measure_setting settings[] = {
    {"mode", 0, 0, 2, true, "0 read, 1 write, 2 copy"},
    {"lane_bytes", 16, 4, 16, true, "per thread and access: 4, 8 or 16"},
    {"unroll", 4, 1, 16, true, "independent accesses per thread"},
    {"threads", 256, 32, 1024, false, "per CTA, a multiple of 32"},
    {"ctas", 1056, 1, 1000000, false, "in the grid"},
    {"kib", 262144, 1, 8 << 20, false, "read (written, copied), in KiB"},
};

static enum status plan_bandwidth_stream(struct kernel_plan *plan, struct error *error)
{
    int64_t lane = kernel_plan_value(plan, "lane_bytes"), mode = kernel_plan_value(plan, "mode");
    uint64_t bytes = (uint64_t)kernel_plan_value(plan, "kib") * 1024;
    uint64_t ctas = (uint64_t)kernel_plan_value(plan, "ctas");
    if (lane != 4 && lane != 8 && lane != 16)
        return error_set(error, STATUS_DOMAIN, "lane_bytes must be 4, 8 or 16");
    if (kernel_plan_value(plan, "threads") % 32)
        return error_set(error, STATUS_DOMAIN, "threads must be a multiple of 32");
    int in = kernel_plan_add_input(plan, "in", mode == 1 ? 16 : bytes, (struct fill_rule){FILL_FORMAT_WORDS, 0, 0, 0});
    int out = kernel_plan_add_buffer(plan, "out", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_UINT32, mode == 0 ? 4 : bytes);
    int sums = kernel_plan_add_buffer(plan, "sums", BUFFER_ROLE_OUTPUT, ELEMENT_FORMAT_UINT32, ctas * 4);
    if (mode != 0)
        plan->buffers[out].shared_by_sets = false; /* another place to write to in every set */
    struct kernel_stage *stage =
        kernel_plan_add_stage(plan, "bandwidth_stream", ctas, 1, kernel_plan_value(plan, "threads"), 0);
    kernel_stage_pass_buffer(stage, in);
    kernel_stage_pass_buffer(stage, out);
    kernel_stage_pass_value(stage, (int64_t)(bytes / (uint64_t)lane));
    kernel_stage_pass_buffer(stage, sums);
    plan->touched_bytes = (double)bytes * (mode == 2 ? 2.0 : 1.0);
    return STATUS_OK;
}

enum {
    CHECKED_CTAS = 8,
    CHECKED_STEP = 61 /* words between checked ones of a copy */
};

/* A sample: the sums of some CTAs, every so many-th word of what is written. */
static void reference_bandwidth_stream(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX])
{
    const uint32_t *in = buffers[0];
    uint32_t *out = buffers[1], *sums = buffers[2];
    int64_t mode = kernel_plan_value(plan, "mode");
    uint64_t words_per_lane = (uint64_t)kernel_plan_value(plan, "lane_bytes") / 4;
    uint64_t words = (uint64_t)kernel_plan_value(plan, "kib") * 256;
    uint64_t ctas = (uint64_t)kernel_plan_value(plan, "ctas");
    uint64_t chunk = (uint64_t)kernel_plan_value(plan, "threads") * words_per_lane; /* words of one CTA's one access */
    if (mode != 0)
        for (uint64_t i = 0; i < words; i += CHECKED_STEP)
            out[i] = mode == 1 ? (uint32_t)(i / words_per_lane) : in[i];
    for (uint64_t cta = 0; cta < ctas; cta += 1 + ctas / CHECKED_CTAS) {
        sums[cta] = 0;
        for (uint64_t first = cta * chunk; mode == 0 && first < words; first += ctas * chunk)
            for (uint64_t i = first; i < first + chunk && i < words; i++)
                sums[cta] ^= in[i];
    }
}

static void report_bandwidth_stream(const struct kernel_plan *plan, void *const buffers[KERNEL_BUFFERS_MAX],
                                    struct measure_result *result)
{
    (void)buffers;
    measure_result_add(result, "cold_gb_per_s", plan->touched_bytes / result->cold.median_us * 1e-3);
    measure_result_add(result, "warm_gb_per_s", plan->touched_bytes / result->warm.median_us * 1e-3);
    double in_flight = (double)kernel_plan_value(plan, "unroll") * (double)kernel_plan_value(plan, "lane_bytes") *
                       (double)kernel_plan_value(plan, "threads") * result->stages[0].driver_ctas_per_sm;
    measure_result_add(result, "in_flight_bytes_per_sm", in_flight);
}

const struct kernel_case_definition bandwidth_stream_case = {
    .kernel = {"bandwidth_stream", "how many bytes per second go by in order: read, write, copy",
               SETTINGS_OF(settings)},
    .source = "bandwidth_stream",
    .minimum_arch = 80,
    .plan = plan_bandwidth_stream,
    .reference = reference_bandwidth_stream,
    .report = report_bandwidth_stream,
};
