/* SPDX-License-Identifier: GPL-3.0-or-later
 * What of a figure can be drawn, the ranges of its axes, and which points stand for many. */
#include <math.h>
#include <stdint.h>

#include "plots/figure_private.h"

/* Beyond it the room around the points, or the ratio of an axis' ends, is no number any more. */
static const double DRAWABLE_MOST = 1e150;

static void range_include(struct figure_range *range, double value)
{
    range->lo = fmin(range->lo, value);
    range->hi = fmax(range->hi, value);
}

static bool fits_axis(double value, bool logarithmic)
{
    return fabs(value) < DRAWABLE_MOST && (!logarithmic || value > 1.0 / DRAWABLE_MOST); /* also false for NaN */
}

static bool has_interval(const struct figure_series *series)
{
    return series->y_lo != NULL && series->y_hi != NULL;
}

static bool box_is_drawable(const struct figure *figure, const struct figure_series *series, size_t i)
{
    return has_interval(series) && series->x_lo != NULL && series->x_hi != NULL &&
           fits_axis(series->x_lo[i], figure->x_logarithmic) && fits_axis(series->x_hi[i], figure->x_logarithmic) &&
           fits_axis(series->y_lo[i], figure->y_logarithmic) && fits_axis(series->y_hi[i], figure->y_logarithmic) &&
           (series->shade == NULL || isfinite(series->shade[i]));
}

static bool is_filled(const struct figure_series *series)
{
    return series->style == SERIES_STYLE_BAND || series->style == SERIES_STYLE_AREA;
}

bool figure_point_is_drawable(const struct figure *figure, const struct figure_series *series, size_t i)
{
    bool y_log = figure->y_logarithmic && !series->second_axis;

    if (series->style == SERIES_STYLE_BOXES)
        return box_is_drawable(figure, series, i);
    if (is_filled(series) && !has_interval(series))
        return false;
    if (!is_filled(series) && (series->y == NULL || !fits_axis(series->y[i], y_log)))
        return false;
    if (has_interval(series) && (!fits_axis(series->y_lo[i], y_log) || !fits_axis(series->y_hi[i], y_log)))
        return false;
    return fits_axis(series->x[i], figure->x_logarithmic);
}

bool figure_marker_is_drawable(const struct figure *figure, const struct figure_marker *marker)
{
    return fits_axis(marker->position, marker->vertical ? figure->x_logarithmic : figure->y_logarithmic);
}

static void include_point(struct figure_drawable *found, const struct figure_series *series, size_t i)
{
    struct figure_range *y = series->second_axis ? &found->y2 : &found->y;

    if (series->style == SERIES_STYLE_BOXES) {
        range_include(&found->x, series->x_lo[i]);
        range_include(&found->x, series->x_hi[i]);
        if (series->shade != NULL)
            range_include(&found->shade, series->shade[i]);
    } else {
        range_include(&found->x, series->x[i]);
        if (!is_filled(series))
            range_include(y, series->y[i]);
    }
    if (has_interval(series)) {
        range_include(y, series->y_lo[i]);
        range_include(y, series->y_hi[i]);
    }
}

/* Whether the ends differ by more than gnuplot can tell apart in the digits that it is given. */
static bool is_extended(const struct figure_range *range)
{
    return range->hi - range->lo > 1e-10 * fmax(fabs(range->lo), fabs(range->hi));
}

/* A little air around the data; one point still gets an axis. */
static void pad(struct figure_range *range, bool logarithmic, bool keep_lo, double share)
{
    if (logarithmic) {
        double factor = is_extended(range) ? pow(range->hi / range->lo, share) : 2.0;

        *range = (struct figure_range){range->lo / factor, range->hi * factor};
        return;
    }
    double air = is_extended(range) ? share * (range->hi - range->lo) : fmax(1.0, 0.1 * fabs(range->hi));

    *range = (struct figure_range){keep_lo ? range->lo : range->lo - air, range->hi + air};
}

/* Areas and boxes fill the figure to its edges; what else there is gets air. */
static bool is_filled_figure(const struct figure *figure)
{
    for (size_t s = 0; s < figure->series_count; s++)
        if (figure->series[s].style != SERIES_STYLE_AREA && figure->series[s].style != SERIES_STYLE_BOXES)
            return false;
    return figure->series_count > 0;
}

/* Texts that stand above the points, at the top of a line, or above the uppermost line. */
static bool has_text_above(const struct figure *figure, double top)
{
    for (size_t i = 0; i < figure->label_count; i++)
        if (!figure->labels[i].inside)
            return true;
    for (size_t m = 0; m < figure->marker_count; m++)
        if ((figure->markers[m].vertical || figure->markers[m].position >= top) && figure->markers[m].label != NULL &&
            *figure->markers[m].label != '\0')
            return true;
    return false;
}

static void settle_ranges(const struct figure *figure, struct figure_drawable *found)
{
    bool full = is_filled_figure(figure);

    if (figure->diagonal) {
        range_include(&found->x, found->y.lo);
        range_include(&found->x, found->y.hi);
        found->y = found->x;
    }
    if (full && is_extended(&found->x) && is_extended(&found->y))
        return;
    if (figure->y_from_zero && !figure->y_logarithmic)
        range_include(&found->y, 0.0);
    if (found->y2.lo <= found->y2.hi) {
        range_include(&found->y2, 0.0);
        pad(&found->y2, false, found->y2.lo >= 0.0, 0.15);
    }
    pad(&found->x, figure->x_logarithmic, false, 0.04);
    if (has_text_above(figure, found->y.hi) && is_extended(&found->y)) /* room above for the text */
        found->y.hi = figure->y_logarithmic ? found->y.hi * pow(found->y.hi / found->y.lo, 0.06)
                                            : found->y.hi + 0.12 * (found->y.hi - found->y.lo);
    pad(&found->y, figure->y_logarithmic, figure->y_from_zero && found->y.lo >= 0.0, 0.06);
}

struct figure_drawable figure_survey(const struct figure *figure)
{
    const struct figure_range none = {(double)INFINITY, -(double)INFINITY};
    struct figure_drawable found = {.x = none, .y = none, .y2 = none, .shade = none};

    for (size_t s = 0; s < figure->series_count; s++) {
        const struct figure_series *series = &figure->series[s];
        size_t step = figure_thinning_step(series), kept = 0, drawable = 0;
        struct figure_run run = {0};

        for (size_t i = 0; i < series->count; i++) {
            if (!figure_point_is_drawable(figure, series, i)) {
                found.left_out += !series->missing_is_told;
                continue;
            }
            drawable++;
            include_point(&found, series, i);
        }
        for (size_t i = 0; step > 1 && i < series->count; i++)
            kept += figure_point_is_kept(figure, series, i, step, &run);
        found.points += drawable;
        if (step > 1) {
            found.thinned += kept;
            found.thinned_from += drawable;
            found.is_cloud = found.is_cloud || series->style == SERIES_STYLE_POINTS;
        }
    }
    for (size_t m = 0; m < figure->marker_count; m++)
        if (figure_marker_is_drawable(figure, &figure->markers[m]))
            range_include(figure->markers[m].vertical ? &found.x : &found.y, figure->markers[m].position);
    if (found.points > 0 && found.y.lo > found.y.hi) /* everything on the right-hand axis */
        found.y = (struct figure_range){0.0, 1.0};
    settle_ranges(figure, &found);
    return found;
}

size_t figure_thinning_step(const struct figure_series *series)
{
    enum {
        RUNS = FIGURE_POINTS_PER_SERIES_MAX / 2
    };

    return series->count <= FIGURE_POINTS_PER_SERIES_MAX ? 1 : (series->count + RUNS - 1) / RUNS;
}

static double low_value(const struct figure_series *series, size_t i)
{
    return series->y_lo != NULL ? series->y_lo[i] : series->y[i];
}

static double high_value(const struct figure_series *series, size_t i)
{
    return series->y_hi != NULL ? series->y_hi[i] : series->y[i];
}

/* The first that can be drawn from a place in the run that no pattern in the data follows. */
static size_t any_point(const struct figure *figure, const struct figure_series *series, size_t begin, size_t end)
{
    const uint64_t mixed = ((uint64_t)begin + 1) * 0x9e3779b97f4a7c15U;
    const size_t length = end - begin, offset = (size_t)((mixed >> 32) % length);

    for (size_t k = 0; k < length; k++)
        if (figure_point_is_drawable(figure, series, begin + (offset + k) % length))
            return begin + (offset + k) % length;
    return series->count;
}

static void find_extremes(const struct figure *figure, const struct figure_series *series, size_t begin,
                          struct figure_run *run)
{
    run->least = run->most = series->count;
    for (size_t k = begin; k < run->end; k++) {
        if (!figure_point_is_drawable(figure, series, k))
            continue;
        if (run->least == series->count || low_value(series, k) < low_value(series, run->least))
            run->least = k;
        if (run->most == series->count || high_value(series, k) > high_value(series, run->most))
            run->most = k;
    }
}

bool figure_point_is_kept(const struct figure *figure, const struct figure_series *series, size_t i, size_t step,
                          struct figure_run *run)
{
    if (step <= 1)
        return figure_point_is_drawable(figure, series, i);
    if (i >= run->end) {
        run->end = i + step < series->count ? i + step : series->count;
        if (series->style == SERIES_STYLE_POINTS && run->end - i > 1) {
            run->least = any_point(figure, series, i, i + (run->end - i) / 2);
            run->most = any_point(figure, series, i + (run->end - i) / 2, run->end);
        } else {
            find_extremes(figure, series, i, run);
        }
    }
    return i == run->least || i == run->most;
}
