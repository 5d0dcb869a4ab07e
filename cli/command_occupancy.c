/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam occupancy`: resident CTAs per SM of a launch given on the command line. */
#include <stdio.h>

#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/launch_fault_reason.h"
#include "cli/launch_remarks.h"
#include "cli/options.h"
#include "cli/quantity_text.h"
#include "cli/report.h"
#include "evidence/device_catalogue.h"
#include "model/predict/occupancy.h"

/* A terabyte of SMEM or a million threads is a slip of the keyboard; larger than any limit, small enough for sums. */
static const double COUNT_MAX = 1e9, SMEM_BYTES_MAX = 1e12, STATIC_SMEM_BYTES_MAX = 4e9;

struct occupancy_options {
    enum output_format format;
    const char *device, *device_file;
    uint64_t threads, registers, smem_bytes, static_smem_bytes, barriers, cluster;
    double carveout_percent;
};

static enum status read_options(int argc, char **argv, struct occupancy_options *options, struct error *error)
{
    enum {
        UNSET = UINT32_MAX
    };
    const struct option_row rows[] = {
        {.name = "device", .kind = OPTION_TEXT, .target = &options->device},
        {.name = "device-file", .kind = OPTION_TEXT, .target = &options->device_file},
        {.name = "format", .kind = OPTION_FORMAT, .target = &options->format},
        {0, "threads", OPTION_COUNT, &options->threads, 0, COUNT_MAX},
        {0, "registers", OPTION_COUNT, &options->registers, 1, COUNT_MAX},
        {0, "smem", OPTION_BYTES, &options->smem_bytes, 0, SMEM_BYTES_MAX},
        {0, "static-smem", OPTION_BYTES, &options->static_smem_bytes, 0, STATIC_SMEM_BYTES_MAX},
        {0, "carveout", OPTION_NUMBER, &options->carveout_percent, 0, 100},
        {0, "barriers", OPTION_COUNT, &options->barriers, 1, COUNT_MAX},
        {0, "cluster", OPTION_COUNT, &options->cluster, 1, COUNT_MAX},
    };
    struct operands operands;
    enum status status;

    *options = (struct occupancy_options){
        .threads = UNSET, .registers = UNSET, .barriers = 1, .cluster = 1, .carveout_percent = CARVEOUT_DEFAULT};
    status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "", 0, 0, &operands, error);
    if (status != STATUS_OK)
        return status;
    if (options->device == NULL && options->device_file == NULL)
        return error_set(error, STATUS_USAGE, "option --device is missing (occam devices lists them)");
    if (options->threads == UNSET)
        return error_set(error, STATUS_USAGE, "option --threads is missing");
    if (options->registers == UNSET)
        return error_set(error, STATUS_USAGE, "option --registers is missing");
    if (options->carveout_percent != (double)(int)options->carveout_percent)
        return error_set(error, STATUS_USAGE, "option --carveout: a whole number of percent is expected");
    return STATUS_OK;
}

static struct kernel_launch launch_of(const struct occupancy_options *options)
{
    /* One cluster as the grid: the grid does not matter here, but must be a multiple of the cluster. */
    return (struct kernel_launch){.grid_ctas = options->cluster,
                                  .threads = (uint32_t)options->threads,
                                  .registers_per_thread = (uint32_t)options->registers,
                                  .static_smem_bytes = (uint32_t)options->static_smem_bytes,
                                  .dynamic_smem_bytes = options->smem_bytes,
                                  .barriers = (uint32_t)options->barriers,
                                  .cluster_ctas = (uint32_t)options->cluster,
                                  .carveout_percent = (int32_t)options->carveout_percent,
                                  .registers_source = INPUT_SOURCE_USER,
                                  .smem_source = INPUT_SOURCE_USER,
                                  .grid_source = INPUT_SOURCE_USER};
}

static void record_limit(struct report *report, const char *key, int32_t limit)
{
    if (limit == OCCUPANCY_NO_LIMIT)
        report_string(report, key, NULL);
    else
        report_integer(report, key, limit);
}

static void record_distance(struct report *report, const char *key, int64_t value)
{
    if (value < 0)
        report_string(report, key, NULL);
    else
        report_integer(report, key, value);
}

static void record(struct report *report, const struct gpu_device *device, const struct kernel_launch *launch,
                   const struct occupancy *occupancy, const struct launch_remarks *remarks)
{
    char reason[LAUNCH_FAULT_REASON_SIZE] = "";
    bool feasible = occupancy->fault == LAUNCH_FAULT_NONE && occupancy->ctas_per_sm > 0;

    report_string(report, "device", device->name);
    report_integer(report, "ctas_per_sm", occupancy->ctas_per_sm);
    report_integer(report, "warps_per_sm", occupancy->warps_per_sm);
    report_number(report, "occupancy_fraction", occupancy->occupancy_fraction);
    report_begin_array(report, "limiters");
    for (unsigned bit = 0; bit < OCCUPANCY_LIMITER_KINDS; bit++)
        if ((occupancy->limiters & 1u << bit) != 0)
            report_string(report, NULL, occupancy_limiter_name(bit));
    report_end(report);
    record_limit(report, "limit_warps", occupancy->limit_warps);
    record_limit(report, "limit_ctas", occupancy->limit_ctas);
    record_limit(report, "limit_registers", occupancy->limit_registers);
    record_limit(report, "limit_smem", occupancy->limit_smem);
    record_limit(report, "limit_barriers", occupancy->limit_barriers);
    record_limit(report, "limit_cluster", occupancy->limit_cluster);
    report_integer(report, "smem_allocated_bytes", (int64_t)occupancy->smem_allocated_bytes);
    report_integer(report, "smem_per_sm_bytes", (int64_t)occupancy->smem_per_sm_bytes);
    report_integer(report, "smem_over_limit_bytes", occupancy->smem_over_limit_bytes);
    report_integer(report, "registers_allocated_per_warp", occupancy->registers_allocated_per_warp);
    report_bool(report, "feasible", feasible);
    report_string(report, "reason",
                  feasible ? ""
                           : launch_fault_reason(&device->limits, launch, occupancy->fault, reason, sizeof reason));
    record_distance(report, "next_cta_registers_per_thread", occupancy->next_cta_registers_per_thread);
    record_distance(report, "next_cta_smem_bytes", occupancy->next_cta_smem_bytes);
    record_distance(report, "next_cta_threads", occupancy->next_cta_threads);
    launch_remarks_record(remarks, report);
}

static void print_next(const struct occupancy *occupancy, const struct kernel_launch *launch)
{
    char bytes[QUANTITY_TEXT_SIZE], less[QUANTITY_TEXT_SIZE];
    uint64_t smem_bytes = occupancy->smem_requested_bytes;
    int64_t next_bytes = occupancy->next_cta_smem_bytes;

    (void)printf("\nFor %u CTA%s per SM (each alone; the others must allow it too):\n", occupancy->ctas_per_sm + 1,
                 occupancy->ctas_per_sm == 0 ? "" : "s");
    if (occupancy->next_cta_registers_per_thread < 0)
        (void)printf("  registers  no value allows it\n");
    else if ((uint32_t)occupancy->next_cta_registers_per_thread >= launch->registers_per_thread)
        (void)printf("  registers  already allow it (up to %d per thread)\n", occupancy->next_cta_registers_per_thread);
    else
        (void)printf("  registers  at most %d per thread, %u fewer\n", occupancy->next_cta_registers_per_thread,
                     launch->registers_per_thread - (uint32_t)occupancy->next_cta_registers_per_thread);
    if (next_bytes < 0)
        (void)printf("  SMEM       no value allows it\n");
    else if ((uint64_t)next_bytes >= smem_bytes)
        (void)printf("  SMEM       already allows it, up to %s\n", quantity_bytes((double)next_bytes, bytes));
    else
        (void)printf("  SMEM       at most %s, %s less\n", quantity_bytes((double)next_bytes, bytes),
                     quantity_bytes((double)(smem_bytes - (uint64_t)next_bytes), less));
    if (occupancy->next_cta_threads < 0)
        (void)printf("  threads    no value allows it\n");
    else
        (void)printf("  threads    at most %d per CTA\n", occupancy->next_cta_threads);
}

static void print_limit(const char *name, int32_t limit, unsigned limiters, unsigned bit)
{
    if (limit == OCCUPANCY_NO_LIMIT)
        return;
    (void)printf("  %-10s %3d%s\n", name, limit, (limiters & bit) != 0 ? "  <- limits" : "");
}

static void print_text(const struct gpu_device *device, const struct kernel_launch *launch,
                       const struct occupancy *occupancy)
{
    char bytes[QUANTITY_TEXT_SIZE], allocated[QUANTITY_TEXT_SIZE], percent[QUANTITY_TEXT_SIZE];
    char reason[LAUNCH_FAULT_REASON_SIZE];

    if (occupancy->fault != LAUNCH_FAULT_NONE) {
        (void)printf("%s: this launch cannot run: %s\n", device->title,
                     launch_fault_reason(&device->limits, launch, occupancy->fault, reason, sizeof reason));
        return;
    }
    (void)printf("%s: %u CTA%s per SM, %u of %u warps, occupancy %s\n\nCTAs per SM that each resource allows:\n",
                 device->title, occupancy->ctas_per_sm, occupancy->ctas_per_sm == 1 ? "" : "s", occupancy->warps_per_sm,
                 device->limits.max_warps_per_sm, quantity_percent(occupancy->occupancy_fraction, percent));
    print_limit("warps", occupancy->limit_warps, occupancy->limiters, OCCUPANCY_LIMITER_WARPS);
    print_limit("CTAs", occupancy->limit_ctas, occupancy->limiters, OCCUPANCY_LIMITER_CTAS);
    print_limit("registers", occupancy->limit_registers, occupancy->limiters, OCCUPANCY_LIMITER_REGISTERS);
    print_limit("SMEM", occupancy->limit_smem, occupancy->limiters, OCCUPANCY_LIMITER_SMEM);
    print_limit("barriers", occupancy->limit_barriers, occupancy->limiters, OCCUPANCY_LIMITER_BARRIERS);
    print_limit("cluster", occupancy->limit_cluster, occupancy->limiters, OCCUPANCY_LIMITER_CLUSTER);
    (void)printf("\nAllocated: %u registers per warp, %s of SMEM per CTA (%s asked for)\n",
                 occupancy->registers_allocated_per_warp,
                 quantity_bytes((double)occupancy->smem_allocated_bytes, allocated),
                 quantity_bytes((double)occupancy->smem_requested_bytes, bytes));
    print_next(occupancy, launch);
}

static enum status answer(const struct gpu_device *device, const struct occupancy_options *options, struct error *error)
{
    struct kernel_launch launch = launch_of(options);
    struct occupancy occupancy;
    struct launch_remarks remarks = {0};
    struct report report = {0};
    enum status status = STATUS_OK;

    launch_remarks_add(&remarks, "", &device->limits, &launch);
    occupancy_compute(&device->limits, &launch, &occupancy);
    if (options->format == OUTPUT_FORMAT_TEXT) {
        print_text(device, &launch, &occupancy);
        launch_remarks_print(&remarks);
    } else {
        record(&report, device, &launch, &occupancy, &remarks);
        status = report_print(&report, options->format, NULL, stdout, error);
    }
    report_release(&report);
    return status;
}

int command_occupancy(int argc, char **argv)
{
    struct occupancy_options options;
    struct device_catalogue *catalogue = NULL;
    const struct gpu_device *device = NULL;
    struct error error = {0};
    enum status status = read_options(argc, argv, &options, &error);

    if (status == STATUS_OK)
        status = device_catalogue_create(&catalogue, &error);
    if (status == STATUS_OK && options.device_file != NULL)
        status = device_catalogue_add_file(catalogue, options.device_file, &device, &error);
    if (status == STATUS_OK && options.device != NULL)
        status = device_catalogue_find(catalogue, options.device, &device, &error);
    if (status == STATUS_OK)
        status = answer(device, &options, &error);
    device_catalogue_free(catalogue);
    return status == STATUS_OK ? 0 : command_fail("occupancy", &error);
}
