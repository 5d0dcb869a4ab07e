/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `roofline`: the kernels of a layer under the roofs of DRAM and tensor pipes, and the lower roof that the
 * bytes a kernel keeps in flight allow (Williams et al., 2009; Little's law). */
#include <math.h>

#include "base/text_buffer.h"
#include "base/units.h"
#include "cli/plot_table.h"

enum {
    ROOF_POINTS = 3 /* both ends and the ridge */
};

struct roofline {
    struct figure_sheet *sheet;
    const struct time_model *model;
    double least, most; /* intensities shown, flop per byte */
    double peak_flop_per_s;
    const char *missing; /* kernels that read no DRAM */
    const char *flights; /* what the kernels keep in flight */
};

/* Tensor flop of the whole grid; without any, the scalar operations. *format: of the first product. */
static double kernel_flop(const struct kernel_case *kernel, enum number_format *format, bool *tensor)
{
    double flop = 0.0;

    for (uint32_t i = 0; i < kernel->loop.mma_count; i++) {
        const struct mma_op *op = &kernel->loop.mma[i];

        flop += 2.0 * op->m * op->n * op->k * op->count;
    }
    *tensor = flop > 0.0;
    if (*tensor)
        *format = kernel->loop.mma[0].format;
    else
        flop = kernel->loop.fp32_ops;
    return flop * kernel->loop.iterations * (double)kernel->launch.grid_ctas;
}

static void add_roof(const struct roofline *roofline, const char *label, double bytes_per_s, int color, bool dashed)
{
    double *x = sheet_numbers(roofline->sheet, ROOF_POINTS), *y = sheet_numbers(roofline->sheet, ROOF_POINTS);

    if (roofline->sheet->failed)
        return;
    x[0] = roofline->least;
    x[1] = fmax(roofline->least, fmin(roofline->most, roofline->peak_flop_per_s / bytes_per_s));
    x[2] = roofline->most;
    for (size_t i = 0; i < ROOF_POINTS; i++)
        y[i] = fmin(x[i] * bytes_per_s, roofline->peak_flop_per_s) / FLOP_PER_TFLOP;
    sheet_add_series(roofline->sheet, (struct figure_series){.label = label,
                                                             .style = dashed ? SERIES_STYLE_DASHED : SERIES_STYLE_LINE,
                                                             .count = ROOF_POINTS,
                                                             .x = x,
                                                             .y = y,
                                                             .color_index = color});
}

/* Bandwidth that the bytes in flight allow: bytes / DRAM latency, over the SMs that work. Drawn also where it lies
 * above DRAM's and so is no limit. */
static void add_flight_roof(struct roofline *roofline, const struct kernel_case *kernel, const struct kernel_time *time,
                            int color)
{
    const double sms = fmin((double)kernel->launch.grid_ctas, (double)roofline->model->sm_count);
    const double bytes_per_s = time->bytes_in_flight_per_sm * sms / roofline->model->dram_latency_s;
    char kib[32], gb[32];

    if (!(bytes_per_s > 0.0) || time->dram_bytes <= 0.0)
        return;
    roofline->flights = sheet_text(roofline->sheet, "%s %s: %s KiB in flight per SM.", roofline->flights, kernel->name,
                                   number_format_digits(time->bytes_in_flight_per_sm / BYTES_PER_KIB, 3, kib));
    add_roof(roofline,
             sheet_text(roofline->sheet, "%s in flight: %s GB/s", kernel->name,
                        number_format_digits(bytes_per_s / BYTES_PER_GB, 3, gb)),
             bytes_per_s, color, true);
}

static void add_point(struct roofline *roofline, const struct kernel_case *kernel, const struct kernel_time *time,
                      double flop, int color)
{
    double *columns[4];
    char rate[32], share[32];

    if (!(time->dram_bytes > 0.0) || !(flop > 0.0)) {
        roofline->missing = sheet_text(roofline->sheet, "%s%s%s", roofline->missing,
                                       *roofline->missing == '\0' ? "" : ", ", kernel->name);
        return;
    }
    for (int i = 0; i < 4; i++)
        columns[i] = sheet_numbers(roofline->sheet, 1);
    if (roofline->sheet->failed)
        return;
    *columns[0] = flop / time->dram_bytes;
    *columns[1] = flop / time->time_s / FLOP_PER_TFLOP;
    *columns[2] = flop / time->time_hi_s / FLOP_PER_TFLOP;
    *columns[3] = flop / time->time_lo_s / FLOP_PER_TFLOP;
    roofline->least = fmin(roofline->least, *columns[0] / 4.0);
    roofline->most = fmax(roofline->most, *columns[0] * 4.0);
    const double roof = fmin(*columns[0] * roofline->model->dram_bytes_per_s, roofline->peak_flop_per_s);
    sheet_add_label(roofline->sheet, *columns[0], *columns[1],
                    sheet_text(roofline->sheet, "%s Tflop/s, %s %%", number_format_digits(*columns[1], 3, rate),
                               number_format_digits(100.0 * *columns[1] * FLOP_PER_TFLOP / roof, 2, share)));
    sheet_add_series(roofline->sheet, (struct figure_series){.label = kernel->name,
                                                             .style = SERIES_STYLE_POINTS,
                                                             .count = 1,
                                                             .x = columns[0],
                                                             .y = columns[1],
                                                             .y_lo = columns[2],
                                                             .y_hi = columns[3],
                                                             .color_index = color});
}

/* The tensor rate of the first kernel with tensor products; bf16 without any. */
static void set_peak(struct roofline *roofline, const struct prediction *prediction)
{
    enum number_format format = NUMBER_FORMAT_BF16, of_kernel = NUMBER_FORMAT_BF16;
    bool tensor = false;
    char tflop[32];

    for (uint32_t k = 0; k < prediction->layer.kernel_count && !tensor; k++) {
        if (prediction->layer.kernels[k].skipped)
            continue;
        (void)kernel_flop(&prediction->layer.kernels[k], &of_kernel, &tensor);
        format = tensor ? of_kernel : format;
    }
    roofline->peak_flop_per_s = roofline->model->mma_sync_flop_per_s_per_sm[format] * roofline->model->sm_count;
    if (!(roofline->peak_flop_per_s > 0.0)) /* a device that states no tensor rate */
        roofline->peak_flop_per_s = (double)INFINITY;
    else
        sheet_add_marker(roofline->sheet, false, roofline->peak_flop_per_s / FLOP_PER_TFLOP,
                         sheet_text(roofline->sheet, "%s with mma.sync: %s Tflop/s", number_format_name(format),
                                    number_format_digits(roofline->peak_flop_per_s / FLOP_PER_TFLOP, 4, tflop)));
}

static void fill(struct roofline *roofline, const struct prediction *prediction)
{
    const struct time_model *model = roofline->model;
    enum number_format format = NUMBER_FORMAT_BF16;
    bool tensor = false;
    char gb[32];

    set_peak(roofline, prediction);
    for (uint32_t k = 0; k < prediction->layer.kernel_count; k++) {
        const struct kernel_case *kernel = &prediction->layer.kernels[k];

        if (!kernel->skipped)
            add_point(roofline, kernel, &prediction->time.kernels[k], kernel_flop(kernel, &format, &tensor), (int)k);
    }
    add_roof(roofline,
             sheet_text(roofline->sheet, "DRAM, sustained: %s GB/s",
                        number_format_digits(model->dram_bytes_per_s / BYTES_PER_GB, 4, gb)),
             model->dram_bytes_per_s, PLOT_COLOR_MEASURED, false);
    for (uint32_t k = 0; k < prediction->layer.kernel_count; k++)
        if (!prediction->layer.kernels[k].skipped)
            add_flight_roof(roofline, &prediction->layer.kernels[k], &prediction->time.kernels[k], (int)k);
}

enum status plot_roofline(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct question *question = request->question;
    struct roofline roofline = {
        .sheet = sheet, .model = &question->time_model, .least = 1.0, .most = 1000.0, .missing = "", .flights = ""};
    struct prediction *prediction = sheet_memory(sheet, sizeof *prediction);
    enum status status = sheet_check(sheet, error);

    if (status == STATUS_OK)
        status = plot_predict_feasible(question, question->values, prediction, error);
    if (status != STATUS_OK)
        return status;
    fill(&roofline, prediction);
    sheet->figure.x_label = "operations per byte of DRAM (flop/byte)";
    sheet->figure.y_label = "rate (Tflop/s)";
    sheet->figure.x_logarithmic = sheet->figure.y_logarithmic = true;
    plot_describe(sheet, question, "roofline",
                  sheet_text(sheet,
                             "Predicted: %s; at the points, their share of the solid roof above. Dashed: what the "
                             "bytes in flight allow (Little's law); above DRAM's line they are "
                             "no limit.%s Kernels without tensor products count scalar operations.%s%s%s",
                             plot_changes(sheet, question, question->values), roofline.flights,
                             *roofline.missing == '\0' ? "" : " Not shown, without operations or DRAM traffic: ",
                             roofline.missing, *roofline.missing == '\0' ? "" : "."));
    return sheet_check(sheet, error);
}
