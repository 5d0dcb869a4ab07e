/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam devices`: the list of known GPUs, or one with every figure and its source. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/options.h"
#include "cli/report.h"
#include "evidence/device_catalogue.h"

struct devices_options {
    enum output_format format;
    const char *device_file;
};

static double figure_in_unit(const struct gpu_device *device, enum gpu_figure_id id)
{
    return gpu_device_value(device, id) / gpu_figure_si_factor(id);
}

static void record_figure(struct report *report, const struct gpu_device *device, enum gpu_figure_id id)
{
    report_number(report, gpu_figure_column(id), figure_in_unit(device, id));
}

static void record_list(const struct device_catalogue *catalogue, struct report *report)
{
    static const enum gpu_figure_id figures[] = {GPU_FIGURE_SM_COUNT,      GPU_FIGURE_BOOST_CLOCK,
                                                 GPU_FIGURE_DRAM_CAPACITY, GPU_FIGURE_DRAM_BANDWIDTH,
                                                 GPU_FIGURE_L2_CAPACITY,   GPU_FIGURE_BF16_PEAK};
    char cc[32];

    report_begin_rows(report, "devices");
    for (size_t i = 0; i < device_catalogue_count(catalogue); i++) {
        const struct gpu_device *device = device_catalogue_get(catalogue, i);

        (void)snprintf(cc, sizeof cc, "%u.%u", device->limits.cc_major, device->limits.cc_minor);
        report_begin_object(report, NULL);
        report_string(report, "name", device->name);
        report_string(report, "title", device->title);
        report_string(report, "compute_capability", cc);
        for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++)
            record_figure(report, device, figures[f]);
        report_string(report, "origin", device_catalogue_origin(catalogue, device));
        report_end(report);
    }
    report_end(report);
}

static enum status print_list(const struct report *report, struct error *error)
{
    static const struct report_column columns[] = {
        {"name", "name", 0},
        {"compute_capability", "cc", 0},
        {"sm_count", "SMs", 5},
        {"dram_bandwidth_gb_per_s", "DRAM GB/s", 5},
        {"l2_capacity_mib", "L2 MiB", 4},
        {"bf16_tflop_per_s", "bf16 TFLOP/s", 4},
        {"title", "title", 0},
    };
    enum status status =
        report_print_table(report, "devices", columns, sizeof columns / sizeof columns[0], stdout, error);

    if (status == STATUS_OK)
        (void)printf("\n`occam devices NAME` shows every figure with its source.\n");
    return status;
}

/* Limits by name; the names are keys of the JSON output. */
struct named_limit {
    const char *name;
    uint32_t value;
};

enum {
    NAMED_LIMITS = 20
};

static size_t name_limits(const struct gpu_limits *limits, struct named_limit out[NAMED_LIMITS])
{
    const struct named_limit named[] = {
        {"max_warps_per_sm", limits->max_warps_per_sm},
        {"max_ctas_per_sm", limits->max_ctas_per_sm},
        {"registers_per_sm", limits->registers_per_sm},
        {"max_registers_per_thread", limits->max_registers_per_thread},
        {"max_registers_per_cta", limits->max_registers_per_cta},
        {"register_allocation_unit", limits->register_allocation_unit},
        {"warp_allocation_granularity", limits->warp_allocation_granularity},
        {"sub_cores_per_sm", limits->sub_cores_per_sm},
        {"max_threads_per_cta", limits->max_threads_per_cta},
        {"smem_per_sm_bytes", limits->smem_per_sm_bytes},
        {"smem_per_cta_optin_bytes", limits->smem_per_cta_optin_bytes},
        {"smem_per_cta_default_bytes", limits->smem_per_cta_default_bytes},
        {"smem_reserved_per_cta_bytes", limits->smem_reserved_per_cta_bytes},
        {"smem_allocation_unit_bytes", limits->smem_allocation_unit_bytes},
        {"named_barriers_per_sm", limits->named_barriers_per_sm},
        {"max_cluster_portable", limits->max_cluster_portable},
        {"max_cluster", limits->max_cluster},
        {"max_clustered_ctas_per_sm", limits->max_clustered_ctas_per_sm},
    };
    const size_t count = sizeof named / sizeof named[0];

    memcpy(out, named, sizeof named);
    return count;
}

static void record_limits(struct report *report, const struct gpu_limits *limits)
{
    struct named_limit named[NAMED_LIMITS];
    size_t count = name_limits(limits, named);

    report_begin_object(report, "limits");
    for (size_t i = 0; i < count; i++)
        report_integer(report, named[i].name, named[i].value);
    report_begin_array(report, "carveout_kib");
    for (uint32_t i = 0; i < limits->carveout_count; i++)
        report_integer(report, NULL, limits->carveout_kib[i]);
    report_end(report);
    report_bool(report, "has_cp_async", limits->has_cp_async);
    report_bool(report, "has_tma", limits->has_tma);
    report_bool(report, "has_wgmma", limits->has_wgmma);
    report_bool(report, "has_tcgen05", limits->has_tcgen05);
    report_bool(report, "has_pdl", limits->has_pdl);
    report_end(report);
}

static void record_gpcs(struct report *report, const struct gpu_gpcs *gpcs)
{
    report_begin_object(report, "gpc_sms");
    report_begin_array(report, "values");
    for (uint32_t i = 0; i < gpcs->count; i++)
        report_integer(report, NULL, gpcs->sms[i]);
    report_end(report);
    report_string(report, "kind", input_source_name(gpcs->source));
    report_string(report, "source", gpcs->citation);
    report_string(report, "note", gpcs->note);
    report_end(report);
}

static void record_device(const struct device_catalogue *catalogue, const struct gpu_device *device,
                          struct report *report)
{
    char cc[32];

    (void)snprintf(cc, sizeof cc, "%u.%u", device->limits.cc_major, device->limits.cc_minor);
    report_string(report, "name", device->name);
    report_string(report, "title", device->title);
    report_string(report, "chip", device->chip);
    report_string(report, "memory_type", device->memory_type);
    report_string(report, "compute_capability", cc);
    report_string(report, "origin", device_catalogue_origin(catalogue, device));
    report_begin_rows(report, "figures");
    for (int id = 0; id < GPU_FIGURE_COUNT; id++) {
        const struct gpu_figure *figure = &device->figures[id];

        report_begin_object(report, NULL);
        report_string(report, "figure", gpu_figure_column((enum gpu_figure_id)id));
        report_number(report, "value", figure_in_unit(device, (enum gpu_figure_id)id));
        report_string(report, "kind", input_source_name(figure->source));
        report_string(report, "source", figure->citation);
        report_string(report, "note", figure->note);
        report_string(report, "meaning", gpu_figure_meaning((enum gpu_figure_id)id));
        report_end(report);
    }
    report_end(report);
    record_gpcs(report, &device->gpcs);
    record_limits(report, &device->limits);
    report_string(report, "limits_note",
                  device_catalogue_limits_note(catalogue, device->limits.cc_major, device->limits.cc_minor));
}

static void print_figures(const struct gpu_device *device)
{
    char value[32];
    unsigned absent = 0;

    for (int id = 0; id < GPU_FIGURE_COUNT; id++) {
        const struct gpu_figure *figure = &device->figures[id];

        if (figure->source == INPUT_SOURCE_ABSENT) {
            absent++;
            continue;
        }
        (void)printf("  %-31s %10s  %-10s  %s\n", gpu_figure_column((enum gpu_figure_id)id),
                     number_format_digits(figure_in_unit(device, (enum gpu_figure_id)id), 8, value),
                     input_source_name(figure->source), figure->citation);
        if (*figure->note != '\0')
            (void)printf("  %31s note: %s\n", "", figure->note);
    }
    if (absent > 0)
        (void)printf("  not known: %u figures\n", absent);
}

static void print_gpcs(const struct gpu_gpcs *gpcs)
{
    if (gpcs->count == 0)
        return;
    (void)printf("  %-31s ", "gpc_sms");
    for (uint32_t i = 0; i < gpcs->count; i++)
        (void)printf("%s%u", i == 0 ? "" : ";", gpcs->sms[i]);
    (void)printf("  %s  %s\n", input_source_name(gpcs->source), gpcs->citation);
    if (*gpcs->note != '\0')
        (void)printf("  %31s note: %s\n", "", gpcs->note);
}

static void print_device(const struct device_catalogue *catalogue, const struct gpu_device *device)
{
    const struct gpu_limits *limits = &device->limits;
    const char *note = device_catalogue_limits_note(catalogue, limits->cc_major, limits->cc_minor);
    struct named_limit named[NAMED_LIMITS];
    size_t count = name_limits(limits, named);

    (void)printf("%s (%s)\ncompute capability %u.%u", device->title, device->name, limits->cc_major, limits->cc_minor);
    if (*device->chip != '\0')
        (void)printf(", chip %s", device->chip);
    if (*device->memory_type != '\0')
        (void)printf(", memory %s", device->memory_type);
    (void)printf(", read from: %s\n\nFigures\n", device_catalogue_origin(catalogue, device));
    print_figures(device);
    print_gpcs(&device->gpcs);
    (void)printf("\nLimits of compute capability %u.%u\n", limits->cc_major, limits->cc_minor);
    for (size_t i = 0; i < count; i++)
        (void)printf("  %-31s %10u\n", named[i].name, named[i].value);
    (void)printf("  %-31s ", "carveout_kib");
    for (uint32_t i = 0; i < limits->carveout_count; i++)
        (void)printf("%s%u", i == 0 ? "" : ", ", limits->carveout_kib[i]);
    (void)printf("\n");
    if (*note != '\0')
        (void)printf("  note: %s\n", note);
}

static enum status answer(const struct device_catalogue *catalogue, const struct operands *operands,
                          enum output_format format, struct error *error)
{
    const struct gpu_device *device = NULL;
    struct report report = {0};
    enum status status = STATUS_OK;
    bool list = operands->count == 0;

    if (!list)
        status = device_catalogue_find(catalogue, operands->items[0], &device, error);
    if (status != STATUS_OK)
        return status;
    if (list)
        record_list(catalogue, &report);
    else
        record_device(catalogue, device, &report);
    if (format != OUTPUT_FORMAT_TEXT)
        status = report_print(&report, format, list ? "devices" : "figures", stdout, error);
    else if (list)
        status = print_list(&report, error);
    else
        print_device(catalogue, device);
    report_release(&report);
    return status;
}

int command_devices(int argc, char **argv)
{
    struct devices_options options = {.format = OUTPUT_FORMAT_TEXT};
    const struct option_row rows[] = {
        {.name = "format", .kind = OPTION_FORMAT, .target = &options.format},
        {.name = "device-file", .kind = OPTION_TEXT, .target = &options.device_file},
    };
    struct device_catalogue *catalogue = NULL;
    struct operands operands;
    struct error error = {0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "NAME", 0, 1, &operands, &error);

    if (status == STATUS_OK)
        status = device_catalogue_create(&catalogue, &error);
    if (status == STATUS_OK && options.device_file != NULL)
        status = device_catalogue_add_file(catalogue, options.device_file, NULL, &error);
    if (status == STATUS_OK)
        status = answer(catalogue, &operands, options.format, &error);
    device_catalogue_free(catalogue);
    return status == STATUS_OK ? 0 : command_fail("devices", &error);
}
