/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figures `occupancy-registers` and `occupancy-smem`: CTAs per SM over one resource of the first kernel, all else
 * as in the configuration, with the cliffs' edges and where the configuration stands. */
#include <math.h>

#include "base/text_buffer.h"
#include "cli/plot_table.h"

enum {
    REGISTERS_FIRST = 16,
    SMEM_STEP_BYTES = 128, /* the finest unit in which SMEM is given out, on any GPU of the catalogue */
    EDGES_MAX = 10         /* labelled */
};

struct cliffs {
    struct figure_sheet *sheet;
    const struct gpu_limits *limits;
    struct kernel_launch launch;
    bool smem;
    bool wide; /* the curve of another configuration may lie upon this one */
};

static double x_of(const struct cliffs *cliffs, uint64_t amount)
{
    return cliffs->smem ? (double)amount / 1024.0 : (double)amount;
}

/* alone: as if the other resource were free. */
static uint32_t ctas_at(const struct cliffs *cliffs, uint64_t amount, bool alone)
{
    struct kernel_launch launch = cliffs->launch;

    if (alone && cliffs->smem) {
        launch.registers_per_thread = REGISTERS_FIRST;
    } else if (alone) {
        launch.static_smem_bytes = 0;
        launch.dynamic_smem_bytes = 0;
    }
    if (cliffs->smem) {
        launch.static_smem_bytes = 0;
        launch.dynamic_smem_bytes = amount;
    } else {
        launch.registers_per_thread = (uint32_t)amount;
    }
    return occupancy_ctas_per_sm(cliffs->limits, &launch);
}

static void add_curve(const struct cliffs *cliffs, const char *label, int color, bool alone)
{
    const uint64_t step = cliffs->smem ? SMEM_STEP_BYTES : 1, first = cliffs->smem ? 0 : REGISTERS_FIRST;
    const uint64_t last =
        cliffs->smem ? cliffs->limits->smem_per_cta_optin_bytes : cliffs->limits->max_registers_per_thread;
    const size_t count = (size_t)((last - first) / step) + 1;
    double *x = sheet_numbers(cliffs->sheet, count), *y = sheet_numbers(cliffs->sheet, count);
    size_t edges = 0;

    if (cliffs->sheet->failed)
        return;
    for (size_t i = 0; i < count; i++) {
        x[i] = x_of(cliffs, first + i * step);
        y[i] = ctas_at(cliffs, first + i * step, alone);
    }
    /* Few CTAs first: there the plateaus are wide and the choice matters. */
    for (size_t i = count - 1; alone && i > 0 && edges < EDGES_MAX; i--) {
        char number[32];

        if (y[i - 1] == y[i])
            continue;
        sheet_add_label(cliffs->sheet, x[i - 1], y[i - 1],
                        sheet_text(cliffs->sheet, "%s: %.0f", number_format_digits(x[i - 1], 6, number), y[i - 1]));
        edges++;
    }
    sheet_add_series(cliffs->sheet, (struct figure_series){.label = label,
                                                           .style = alone ? SERIES_STYLE_DASHED : SERIES_STYLE_STEPS,
                                                           .count = count,
                                                           .x = x,
                                                           .y = y,
                                                           .wide = cliffs->wide && !alone,
                                                           .color_index = color});
}

static void add_position(const struct cliffs *cliffs, const char *label, int color)
{
    const struct kernel_launch *launch = &cliffs->launch;
    const uint64_t amount =
        cliffs->smem ? launch->static_smem_bytes + launch->dynamic_smem_bytes : launch->registers_per_thread;
    double *x = sheet_numbers(cliffs->sheet, 1), *y = sheet_numbers(cliffs->sheet, 1);
    char number[32];

    if (cliffs->sheet->failed)
        return;
    *x = x_of(cliffs, amount);
    *y = ctas_at(cliffs, amount, false);
    sheet_add_series(/* named by its marker */
                     cliffs->sheet,
                     (struct figure_series){
                         .label = "", .style = SERIES_STYLE_POINTS, .count = 1, .x = x, .y = y, .color_index = color});
    sheet_add_marker(cliffs->sheet, true, *x,
                     sheet_text(cliffs->sheet, "%s: %s%s, %.0f CTA%s per SM", label,
                                number_format_digits(*x, 5, number), cliffs->smem ? " KiB" : " registers", *y,
                                *y == 1.0 ? "" : "s"));
}

static enum status add_configuration(const struct plot_request *request, bool smem, const double *values,
                                     struct figure_sheet *sheet, bool is_base, const char **kernel, struct error *error)
{
    struct question *question = request->question;
    struct prediction prediction;
    const int color = is_base ? PLOT_COLOR_BASE : PLOT_COLOR_VARIANT;
    enum status status = prediction_make(question, values, question->base, &prediction, error);

    if (status != STATUS_OK)
        return status;
    if (!prediction.has_layer)
        return error_set(error, STATUS_DOMAIN, "the configuration cannot run: %s", prediction.reason);
    const struct kernel_case *first = &prediction.layer.kernels[prediction_first_kernel(&prediction.layer)];
    const struct cliffs cliffs = {sheet, &question->device->limits, first->launch, smem,
                                  is_base && question->knobs_changed};
    const char *name = is_base ? "base" : plot_changes(sheet, question, values);

    *kernel = first->name;
    if (is_base)
        add_curve(&cliffs, smem ? "if registers were free" : "if SMEM were free", PLOT_COLOR_SIXTH, true);
    add_curve(&cliffs, sheet_text(sheet, "%s, %u threads", name, first->launch.threads), color, false);
    add_position(&cliffs, name, color);
    return STATUS_OK;
}

static enum status make(const struct plot_request *request, bool smem, struct figure_sheet *sheet, struct error *error)
{
    const struct question *question = request->question;
    const char *kernel = "";
    enum status status = add_configuration(request, smem, question->base, sheet, true, &kernel, error);

    if (status == STATUS_OK && question->knobs_changed)
        status = add_configuration(request, smem, question->values, sheet, false, &kernel, error);
    if (status != STATUS_OK)
        return status;
    sheet->figure.x_label = smem ? "SMEM of a CTA, static + dynamic (KiB)" : "registers per thread";
    sheet->figure.y_label = "CTAs per SM";
    sheet->figure.y_from_zero = sheet->figure.y_whole = true;
    plot_describe(sheet, question,
                  sheet_text(sheet, "CTAs per SM over %s, kernel %s", smem ? "SMEM" : "registers", kernel),
                  "At the edges of the dashed line: the most that still allows so many CTAs.");
    return sheet_check(sheet, error);
}

enum status plot_occupancy_registers(const struct plot_request *request, struct figure_sheet *sheet,
                                     struct error *error)
{
    return make(request, false, sheet, error);
}

enum status plot_occupancy_smem(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    return make(request, true, sheet, error);
}
