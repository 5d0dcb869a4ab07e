/* SPDX-License-Identifier: GPL-3.0-or-later
 * What of the plotted area lines and points take, so that remarks are put beside them. */
#include <math.h>
#include <stdlib.h>

#include "plots/figure_private.h"

enum {
    INK_COLUMNS = 240, /* finer than the strokes of a drawing */
    INK_ROWS = 120
};

double figure_share(double value, const struct figure_range *range, bool logarithmic)
{
    if (logarithmic)
        return log(value / range->lo) / log(range->hi / range->lo);
    return (value - range->lo) / (range->hi - range->lo);
}

static void mark(struct figure_ink *ink, double x, double y)
{
    if (!(x >= 0.0 && x <= 1.0 && y >= 0.0 && y <= 1.0))
        return;
    const size_t column = (size_t)fmin(x * INK_COLUMNS, INK_COLUMNS - 1.0);
    const size_t row = (size_t)fmin(y * INK_ROWS, INK_ROWS - 1.0);

    ink->cells[row * INK_COLUMNS + column] = 1;
}

static void mark_line(struct figure_ink *ink, double x0, double y0, double x1, double y1)
{
    const double steps = ceil(fmax(fabs(x1 - x0) * INK_COLUMNS, fabs(y1 - y0) * INK_ROWS)) + 1.0;

    for (double i = 0.0; i <= steps && steps < 1e4; i += 1.0)
        mark(ink, x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
}

static bool is_line(const struct figure_series *series)
{
    return series->style == SERIES_STYLE_LINE || series->style == SERIES_STYLE_LINE_POINTS ||
           series->style == SERIES_STYLE_STEPS || series->style == SERIES_STYLE_DASHED;
}

/* A symbol is some cells large. */
static void mark_symbol(struct figure_ink *ink, double x, double y)
{
    mark_line(ink, x - 1.5 / INK_COLUMNS, y, x + 1.5 / INK_COLUMNS, y);
    mark_line(ink, x, y - 1.5 / INK_ROWS, x, y + 1.5 / INK_ROWS);
}

/* An interval with its ends. */
static void mark_bar(struct figure_ink *ink, double x, double low, double high)
{
    const double half = 2.0 / INK_COLUMNS;

    mark_line(ink, x, low, x, high);
    mark_line(ink, x - half, low, x + half, low);
    mark_line(ink, x - half, high, x + half, high);
}

static void mark_series(struct figure_ink *ink, const struct figure *figure, const struct figure_drawable *found,
                        const struct figure_series *series)
{
    const struct figure_range *range = series->second_axis ? &found->y2 : &found->y;
    const bool y_log = figure->y_logarithmic && !series->second_axis;
    double x_before = (double)NAN, y_before = (double)NAN;

    for (size_t i = 0; i < series->count; i++) {
        if (!figure_point_is_drawable(figure, series, i)) {
            x_before = (double)NAN;
            continue;
        }
        const double x = figure_share(series->x[i], &found->x, figure->x_logarithmic);
        const double y = figure_share(series->y[i], range, y_log);

        if (series->style == SERIES_STYLE_POINTS || series->style == SERIES_STYLE_LINE_POINTS)
            mark_symbol(ink, x, y);
        if (series->style == SERIES_STYLE_POINTS && series->y_lo != NULL && series->y_hi != NULL)
            mark_bar(ink, x, figure_share(series->y_lo[i], range, y_log), figure_share(series->y_hi[i], range, y_log));
        if (is_line(series) && isfinite(x_before)) {
            const bool steps = series->style == SERIES_STYLE_STEPS;

            mark_line(ink, x_before, y_before, x, steps ? y_before : y);
            if (steps)
                mark_line(ink, x, y_before, x, y);
        }
        x_before = x;
        y_before = y;
    }
}

/* Shaded cells have their own texts inside; others are segments, beside which a remark stands. */
static void mark_boxes(struct figure_ink *ink, const struct figure *figure, const struct figure_drawable *found,
                       const struct figure_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        if (!figure_point_is_drawable(figure, series, i))
            continue;
        const double left = figure_share(series->x_lo[i], &found->x, figure->x_logarithmic);
        const double right = figure_share(series->x_hi[i], &found->x, figure->x_logarithmic);
        const double low = figure_share(series->y_lo[i], &found->y, figure->y_logarithmic);
        const double high = figure_share(series->y_hi[i], &found->y, figure->y_logarithmic);

        for (double y = low; y < high; y += 1.0 / INK_ROWS)
            mark_line(ink, left, y, right, y);
    }
}

void figure_ink_make(struct figure_ink *ink, const struct figure *figure, const struct figure_drawable *found)
{
    ink->cells = figure->label_count + figure->marker_count == 0 ? NULL : calloc(INK_COLUMNS, INK_ROWS);
    if (ink->cells == NULL)
        return;
    for (size_t s = 0; s < figure->series_count; s++)
        if (is_line(&figure->series[s]) || figure->series[s].style == SERIES_STYLE_POINTS)
            mark_series(ink, figure, found, &figure->series[s]);
        else if (figure->series[s].style == SERIES_STYLE_BOXES && figure->series[s].shade == NULL)
            mark_boxes(ink, figure, found, &figure->series[s]);
    for (size_t m = 0; m < figure->marker_count; m++) {
        const struct figure_marker *marker = &figure->markers[m];

        if (!figure_marker_is_drawable(figure, marker))
            continue;
        if (marker->vertical) {
            const double x = figure_share(marker->position, &found->x, figure->x_logarithmic);

            mark_line(ink, x, 0.0, x, 1.0);
        } else {
            const double y = figure_share(marker->position, &found->y, figure->y_logarithmic);

            mark_line(ink, 0.0, y, 1.0, y);
        }
    }
}

size_t figure_ink_under(const struct figure_ink *ink, double left, double bottom, double right, double top)
{
    size_t count = 0;

    if (ink->cells == NULL)
        return 0;
    const size_t first_column = (size_t)fmax(0.0, left * INK_COLUMNS), first_row = (size_t)fmax(0.0, bottom * INK_ROWS);

    for (size_t row = first_row; row < INK_ROWS && (double)row < top * INK_ROWS; row++)
        for (size_t column = first_column; column < INK_COLUMNS && (double)column < right * INK_COLUMNS; column++)
            count += ink->cells[row * INK_COLUMNS + column];
    return count;
}

void figure_ink_release(struct figure_ink *ink)
{
    free(ink->cells);
    ink->cells = NULL;
}
