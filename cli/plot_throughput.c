/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figure `throughput`: tokens per second over concurrency, base and variant with their intervals, measured points.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text_buffer.h"
#include "cli/plot_table.h"

enum {
    SERIES_MAX = 5,
    COLOR_BASE = 0,
    COLOR_VARIANT = 1,
    COLOR_MEASURED = 6 /* black */
};

/* Columns of the figure; base and variant each center, lower, upper. */
struct columns {
    double concurrency[NUMBER_LIST_MAX];
    double base[3][NUMBER_LIST_MAX], variant[3][NUMBER_LIST_MAX];
    double measured_concurrency[SERVING_POINTS_MAX], measured[SERVING_POINTS_MAX];
};

static void fill_estimate(double columns[3][NUMBER_LIST_MAX], size_t i, const struct serving_estimate *estimate)
{
    columns[0][i] = estimate->throughput_tokens_per_s;
    columns[1][i] = estimate->throughput_lo_tokens_per_s;
    columns[2][i] = estimate->throughput_hi_tokens_per_s;
}

static void fill(const struct question *question, const struct throughput_curve *curve, struct columns *columns)
{
    const struct serving_model *serving = &question->serving;

    for (size_t i = 0; i < curve->count; i++) {
        columns->concurrency[i] = curve->points[i].concurrency;
        fill_estimate(columns->base, i, &curve->points[i].base);
        fill_estimate(columns->variant, i, &curve->points[i].variant);
    }
    for (uint32_t i = 0; i < serving->point_count; i++) {
        columns->measured_concurrency[i] = serving->points[i].concurrency;
        columns->measured[i] =
            serving->points[i].concurrency * serving->tokens_per_step_per_request / serving->points[i].step_time_s;
    }
}

static struct figure_series band_of(const double *x, double columns[3][NUMBER_LIST_MAX], size_t count,
                                    const char *label, int color)
{
    return (struct figure_series){.label = label,
                                  .style = SERIES_STYLE_BAND,
                                  .count = count,
                                  .x = x,
                                  .y_lo = columns[1],
                                  .y_hi = columns[2],
                                  .color_index = color};
}

static struct figure_series line_of(const double *x, double columns[3][NUMBER_LIST_MAX], size_t count,
                                    const char *label, int color)
{
    return (struct figure_series){.label = label,
                                  .style = SERIES_STYLE_LINE_POINTS,
                                  .count = count,
                                  .x = x,
                                  .y = columns[0],
                                  .color_index = color};
}

/* Bands first, so that none covers a curve; a band only where an interval is known. Returns the number of series. */
static size_t fill_series(const struct question *question, const struct throughput_curve *curve,
                          struct columns *columns, const char *band_label, const char *label,
                          struct figure_series series[SERIES_MAX])
{
    const double *x = columns->concurrency;
    bool variant = curve->has_variant && curve->variant_reason[0] == '\0';
    size_t count = 0;

    if (question->step_interval_known)
        series[count++] = band_of(x, columns->base, curve->count, band_label, COLOR_BASE);
    if (variant)
        series[count++] =
            band_of(x, columns->variant, curve->count, question->step_interval_known ? "" : band_label, COLOR_VARIANT);
    series[count++] = line_of(x, columns->base, curve->count, "base", COLOR_BASE);
    if (variant)
        series[count++] = line_of(x, columns->variant, curve->count, label, COLOR_VARIANT);
    if (question->serving.point_count > 0) {
        series[count] = (struct figure_series){.label = "measured",
                                               .style = SERIES_STYLE_POINTS,
                                               .count = question->serving.point_count,
                                               .x = columns->measured_concurrency,
                                               .y = columns->measured,
                                               .color_index = COLOR_MEASURED};
        count++;
    }
    return count;
}

static void variant_label(const struct question *question, char *label, size_t size)
{
    size_t used = 0;
    char number[32];

    for (size_t i = 0; i < scenario_variable_count(question->scenario) && used < size; i++)
        if (question->values[i] != question->base[i]) {
            int added = snprintf(label + used, size - used, "%s%s=%s", used == 0 ? "" : " ",
                                 scenario_variable_get(question->scenario, i)->name,
                                 number_format(question->values[i], number));

            used += added > 0 ? (size_t)added : 0;
        }
}

static enum status draw(const struct plot_request *request, const struct throughput_curve *curve,
                        struct columns *columns, size_t *left_out, struct error *error)
{
    const struct question *question = request->question;
    struct figure_series series[SERIES_MAX];
    char title[256], caption[768], label[128] = "variant", band[64];
    struct figure figure = {.title = title,
                            .x_label = "concurrency (requests in the running batch)",
                            .y_label = "throughput (tokens/s)",
                            .caption = caption,
                            .y_from_zero = true,
                            .series = series};
    char percent[32];

    fill(question, curve, columns);
    variant_label(question, label, sizeof label);
    (void)snprintf(title, sizeof title, "%s on %s", scenario_name(question->scenario), question->device->title);
    (void)snprintf(band, sizeof band, "%s %% interval", number_format_digits(100.0 * question->level, 4, percent));
    (void)snprintf(caption, sizeof caption, "Step time: %s. %s%s", question->step_basis,
                   curve->variant_reason[0] == '\0' ? "" : "No figures for the variant: ", curve->variant_reason);
    figure.series_count = fill_series(question, curve, columns, band, label, series);
    struct figure_marker marker = {.position = curve->within_itl_limit, .vertical = true, .label = "ITL limit"};

    if (isfinite(curve->itl_limit_ms) && curve->within_itl_limit <= columns->concurrency[curve->count - 1]) {
        figure.markers = &marker;
        figure.marker_count = 1;
    }
    return figure_draw(&figure, request->figure, left_out, error);
}

enum status plot_throughput(const struct plot_request *request, size_t *left_out, struct error *error)
{
    struct throughput_curve *curve = calloc(1, sizeof *curve);
    struct columns *columns = calloc(1, sizeof *columns);
    enum status status;

    if (curve == NULL || columns == NULL)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out for the figure");
    else
        status = throughput_curve_make(request->question, request->curve, curve, error);
    if (status == STATUS_OK)
        status = draw(request, curve, columns, left_out, error);
    free(columns);
    free(curve);
    return status;
}
