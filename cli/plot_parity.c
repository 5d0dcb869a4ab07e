/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figures `parity` (predicted against measured, with intervals and how many hold) and `errors` (the error by the
 * value of each knob). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "base/text_buffer.h"
#include "cli/plot_pairs.h"
#include "cli/plot_table.h"

enum {
    INTERVALS_SHOWN_MAX = 60, /* bars of more rows would cover each other */
    SMALL_FROM = 200,         /* rows from which points are dots */
    GROUPS_MAX = 48,
    VALUES_PER_KNOB_MAX = 12
};

static bool has_interval(const struct plot_pair *pair)
{
    return pair->lo_us > 0.0 && pair->hi_us >= pair->lo_us;
}

static const char *source_text(struct figure_sheet *sheet, const struct plot_pairs *pairs)
{
    char skipped[64] = "";

    if (pairs->skipped > 0)
        (void)snprintf(skipped, sizeof skipped, " %zu rows without both times are left out.", pairs->skipped);
    return sheet_text(sheet, "%s%s%s; the table's own predictions; drawn %s.%s",
                      pairs->device[0] == '\0' ? "" : "Measured on ", pairs->device,
                      pairs->device[0] == '\0' ? "Device not said" : "", plot_date(sheet), skipped);
}

/* Intervals as bars beneath the points; of many rows, of evenly spread ones. */
static void add_intervals(struct figure_sheet *sheet, const struct plot_pairs *pairs, size_t step)
{
    double *columns[4];
    size_t n = 0;

    for (int c = 0; c < 4; c++)
        columns[c] = sheet_numbers(sheet, pairs->count / step + 1);
    if (sheet->failed)
        return;
    for (size_t i = 0; i < pairs->count; i += step) {
        const struct plot_pair *pair = &pairs->items[i];

        if (!has_interval(pair))
            continue;
        columns[0][n] = pair->measured_us;
        columns[1][n] = pair->predicted_us;
        columns[2][n] = pair->lo_us;
        columns[3][n++] = pair->hi_us;
    }
    sheet_add_series(sheet, (struct figure_series){.label = step == 1 ? "interval" : "interval of some rows",
                                                   .style = SERIES_STYLE_POINTS,
                                                   .count = n,
                                                   .x = columns[0],
                                                   .y = columns[1],
                                                   .y_lo = columns[2],
                                                   .y_hi = columns[3],
                                                   .bars_alone = true,
                                                   .color_index = PLOT_COLOR_SIXTH});
}

/* Rows inside of their interval, or outside of it. */
static void add_points(struct figure_sheet *sheet, const struct plot_pairs *pairs, bool inside)
{
    double *x = sheet_numbers(sheet, pairs->count), *y = sheet_numbers(sheet, pairs->count);
    size_t n = 0;

    if (sheet->failed)
        return;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct plot_pair *pair = &pairs->items[i];
        bool holds = !has_interval(pair) || (pair->measured_us >= pair->lo_us && pair->measured_us <= pair->hi_us);

        if (holds != inside)
            continue;
        x[n] = pair->measured_us;
        y[n++] = pair->predicted_us;
    }
    sheet_add_series(sheet, (struct figure_series){.label = inside ? "row" : "row outside of its interval",
                                                   .style = SERIES_STYLE_POINTS,
                                                   .count = n,
                                                   .x = x,
                                                   .y = y,
                                                   .small = pairs->count > SMALL_FROM,
                                                   .color_index = inside ? PLOT_COLOR_BASE : PLOT_COLOR_VARIANT});
}

static const char *judge(struct figure_sheet *sheet, const struct plot_pairs *pairs)
{
    double *errors = sheet_numbers(sheet, pairs->count);
    size_t known = 0, held = 0;
    char median[32];

    if (sheet->failed)
        return "";
    for (size_t i = 0; i < pairs->count; i++) {
        const struct plot_pair *pair = &pairs->items[i];

        errors[i] = 100.0 * fabs(pair->predicted_us / pair->measured_us - 1.0);
        known += has_interval(pair);
        held += has_interval(pair) && pair->measured_us >= pair->lo_us && pair->measured_us <= pair->hi_us;
    }
    const char *error_text = number_format_digits(median_in_place(errors, pairs->count), 3, median);
    if (known == 0)
        return sheet_text(sheet, "%zu rows, median error %s %%, no intervals.", pairs->count, error_text);
    return sheet_text(sheet, "%zu rows, median error %s %%; %zu of %zu intervals hold the measured time (%.1f %%).",
                      pairs->count, error_text, held, known, 100.0 * (double)held / (double)known);
}

enum status plot_parity(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct plot_pairs pairs = {0};
    enum status status = plot_pairs_read(request->files, request->file_count, &pairs, error);

    if (status == STATUS_OK) {
        add_intervals(sheet, &pairs, (pairs.count + INTERVALS_SHOWN_MAX - 1) / INTERVALS_SHOWN_MAX);
        add_points(sheet, &pairs, true);
        add_points(sheet, &pairs, false);
        sheet->figure.title =
            sheet_text(sheet, "predicted against measured%s%s", pairs.kernel[0] == '\0' ? "" : ": ", pairs.kernel);
        sheet->figure.caption = sheet_text(sheet, "%s %s", judge(sheet, &pairs), source_text(sheet, &pairs));
        sheet->figure.x_label = "measured (us)";
        sheet->figure.y_label = "predicted (us)";
        sheet->figure.x_logarithmic = sheet->figure.y_logarithmic = sheet->figure.diagonal = true;
        status = sheet_check(sheet, error);
    }
    plot_pairs_release(&pairs);
    return status;
}

/* Different values of knob, ascending; 0 when there are too many to show or just one. */
static size_t knob_values(const struct plot_pairs *pairs, size_t knob, double *sorted,
                          double values[VALUES_PER_KNOB_MAX])
{
    size_t known = 0, count = 0;

    for (size_t i = 0; i < pairs->count; i++)
        if (isfinite(pairs->items[i].knobs[knob]))
            sorted[known++] = pairs->items[i].knobs[knob];
    sort_doubles(sorted, known);
    for (size_t i = 0; i < known; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1])
            continue;
        if (count == VALUES_PER_KNOB_MAX)
            return 0;
        values[count++] = sorted[i];
    }
    return count < 2 ? 0 : count;
}

struct error_columns {
    size_t count;
    double at; /* where the next group stands */
    double *x, *median, *lo, *hi;
};

/* Median and the middle four fifths of the error of the rows with this value. */
static void add_group(struct figure_sheet *sheet, const struct plot_pairs *pairs, size_t knob, double value,
                      double *scratch, struct error_columns *columns)
{
    size_t n = 0;
    char number[32];

    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->items[i].knobs[knob] == value)
            scratch[n++] = 100.0 * (pairs->items[i].predicted_us / pairs->items[i].measured_us - 1.0);
    sort_doubles(scratch, n);
    columns->x[columns->count] = columns->at;
    columns->median[columns->count] = quantile_sorted(scratch, n, 0.5);
    columns->lo[columns->count] = quantile_sorted(scratch, n, 0.1);
    columns->hi[columns->count] = quantile_sorted(scratch, n, 0.9);
    sheet_add_x_tick(sheet, columns->at,
                     sheet_text(sheet, "%s=%s", pairs->knobs[knob], number_format_digits(value, 6, number)));
    columns->count++;
    columns->at += 1.0;
}

static enum status fill_errors(struct figure_sheet *sheet, const struct plot_pairs *pairs, struct error *error)
{
    struct error_columns columns = {.x = sheet_numbers(sheet, GROUPS_MAX),
                                    .median = sheet_numbers(sheet, GROUPS_MAX),
                                    .lo = sheet_numbers(sheet, GROUPS_MAX),
                                    .hi = sheet_numbers(sheet, GROUPS_MAX)};
    double *scratch = sheet_numbers(sheet, pairs->count), values[VALUES_PER_KNOB_MAX];
    const char *left_out = "";

    if (sheet->failed)
        return sheet_check(sheet, error);
    for (size_t k = 0; k < pairs->knob_count; k++) {
        const size_t count = knob_values(pairs, k, scratch, values);

        if (count == 0)
            continue;
        if (columns.count + count > GROUPS_MAX) {
            left_out = sheet_text(sheet, "%s%s%s", left_out, *left_out == '\0' ? " Not shown for want of room: " : ", ",
                                  pairs->knobs[k]);
            continue;
        }
        for (size_t v = 0; v < count; v++)
            add_group(sheet, pairs, k, values[v], scratch, &columns);
        columns.at += 1.0; /* a gap between knobs */
    }
    if (columns.count == 0)
        return error_set(error, STATUS_BAD_DATA, "no setting takes from 2 to %d values in these rows",
                         VALUES_PER_KNOB_MAX);
    sheet_add_series(sheet, (struct figure_series){.label = "median and middle four fifths",
                                                   .style = SERIES_STYLE_POINTS,
                                                   .count = columns.count,
                                                   .x = columns.x,
                                                   .y = columns.median,
                                                   .y_lo = columns.lo,
                                                   .y_hi = columns.hi,
                                                   .color_index = PLOT_COLOR_BASE});
    sheet_add_marker(sheet, false, 0.0, "");
    sheet->figure.caption = sheet_text(sheet, "%zu rows; above 0: predicted too slow.%s%s %s", pairs->count, left_out,
                                       *left_out == '\0' ? "" : ".", source_text(sheet, pairs));
    return sheet_check(sheet, error);
}

enum status plot_errors(const struct plot_request *request, struct figure_sheet *sheet, struct error *error)
{
    struct plot_pairs pairs = {0};
    enum status status = plot_pairs_read(request->files, request->file_count, &pairs, error);

    if (status == STATUS_OK)
        status = fill_errors(sheet, &pairs, error);
    if (status == STATUS_OK) {
        sheet->figure.title = sheet_text(sheet, "error by knob%s%s", pairs.kernel[0] == '\0' ? "" : ": ", pairs.kernel);
        sheet->figure.x_label = "";
        sheet->figure.y_label = "predicted / measured - 1 (%)";
        status = sheet_check(sheet, error);
    }
    plot_pairs_release(&pairs);
    return status;
}
