/* SPDX-License-Identifier: GPL-3.0-or-later
 * A series as an inline block of a script: numbers, or for a terminal the characters that fill its areas and boxes;
 * and the figure's numbers as CSV. */
#include <math.h>
#include <stdlib.h>

#include "plots/figure_private.h"

enum {
    RASTER_COLUMNS_MAX = 240,
    RASTER_ROWS_MAX = 100
};

static const double SEAM = 0.4; /* of a box's height */

static void append_number(struct text_buffer *script, double value)
{
    char number[32];

    text_buffer_append(script, number_format(value, number));
    text_buffer_append(script, " ");
}

/* Middle of a box as the axis sees it. */
static double middle(double lo, double hi, bool logarithmic)
{
    return logarithmic ? sqrt(lo) * sqrt(hi) : 0.5 * lo + 0.5 * hi;
}

/* Columns: x, y (0 for a band), then y_lo and y_hi where there are any; boxes: x, y, x_lo, x_hi, y_lo, y_hi, shade. */
static void append_row(struct text_buffer *script, const struct figure *figure, const struct figure_series *series,
                       size_t i)
{
    if (series->style == SERIES_STYLE_BOXES) {
        append_number(script, middle(series->x_lo[i], series->x_hi[i], figure->x_logarithmic));
        append_number(script, middle(series->y_lo[i], series->y_hi[i], figure->y_logarithmic));
        append_number(script, series->x_lo[i]);
        append_number(script, series->x_hi[i]);
    } else {
        append_number(script, series->x[i]);
        append_number(script, series->y == NULL ? 0.0 : series->y[i]);
    }
    if (series->y_lo != NULL && series->y_hi != NULL) {
        const double over = series->touching ? SEAM * (series->y_hi[i] - series->y_lo[i]) : 0.0;

        append_number(script, series->y_lo[i]);
        append_number(script, series->y_hi[i] + over);
    }
    if (series->shade != NULL)
        append_number(script, series->shade[i]);
    text_buffer_append(script, "\n");
}

/* Characters of a terminal. Rows count from the bottom. */
struct raster {
    size_t columns, rows;
    const struct figure_range *x, *y;
    bool x_logarithmic, y_logarithmic;
    char *cells;  /* 0: nothing there */
    float *cover; /* how much of the character's height boxes take; NULL: boxes fill whole characters */
};

/* Position in characters, fractional, inside of the border; axes are longer than 0. Character c stands in the middle of
 * c + 0.5 and c + 1.5 of the steps from border to border. */
static double place(double value, const struct figure_range *range, bool logarithmic, size_t cells)
{
    return fmax(0.0, fmin((double)cells, figure_share(value, range, logarithmic) * ((double)cells + 1.0) - 0.5));
}

/* The same up to the middle of the border's own characters. */
static double place_to_border(double value, const struct figure_range *range, bool logarithmic, size_t cells)
{
    return figure_share(value, range, logarithmic) * ((double)cells + 1.0) - 0.5;
}

static double value_at(double cell, const struct figure_range *range, bool logarithmic, size_t cells)
{
    double share = (cell + 1.0) / ((double)cells + 1.0);

    return logarithmic ? range->lo * pow(range->hi / range->lo, share) : range->lo + share * (range->hi - range->lo);
}

/* Fills the characters whose middle lies inside, and at least one. */
static void raster_fill(struct raster *raster, double x_lo, double x_hi, double y_lo, double y_hi, char character)
{
    size_t left = (size_t)fmin(place(x_lo, raster->x, raster->x_logarithmic, raster->columns) + 0.5,
                               (double)raster->columns - 1.0);
    size_t right = (size_t)(place(x_hi, raster->x, raster->x_logarithmic, raster->columns) + 0.5);
    size_t bottom =
        (size_t)fmin(place(y_lo, raster->y, raster->y_logarithmic, raster->rows) + 0.5, (double)raster->rows - 1.0);
    size_t top = (size_t)(place(y_hi, raster->y, raster->y_logarithmic, raster->rows) + 0.5);

    for (size_t r = bottom; r < (top > bottom ? top : bottom + 1); r++)
        for (size_t c = left; c < (right > left ? right : left + 1); c++)
            raster->cells[r * raster->columns + c] = character;
}

/* Boxes that are lower than a character take their share of it; the first column of each is always seen. */
static void raster_cover(struct raster *raster, double x_lo, double x_hi, double y_lo, double y_hi)
{
    const double low = place_to_border(y_lo, raster->y, raster->y_logarithmic, raster->rows);
    const double high = place_to_border(y_hi, raster->y, raster->y_logarithmic, raster->rows);
    const size_t first = (size_t)fmin(fmax(0.0, low), (double)raster->rows - 1.0);
    const size_t left = (size_t)fmin(place(x_lo, raster->x, raster->x_logarithmic, raster->columns) + 0.5,
                                     (double)raster->columns - 1.0);
    const size_t right = (size_t)(place(x_hi, raster->x, raster->x_logarithmic, raster->columns) + 0.5);

    for (size_t r = first; r < raster->rows && (r == first || (double)r < high); r++) {
        const double bottom = (double)r - (r == 0 ? 0.5 : 0.0);
        const double top = (double)r + (r + 1 == raster->rows ? 1.5 : 1.0);
        const double part = fmax(0.0, fmin(top, high) - fmax(bottom, low)) / (top - bottom);

        raster->cells[r * raster->columns + left] = '#';
        for (size_t c = left; c < (right > left ? right : left + 1); c++)
            raster->cover[r * raster->columns + c] += (float)part;
    }
}

/* Of characters that are covered in part as many as the share says, spread evenly; at least one of eight. */
static void raster_spread(struct raster *raster)
{
    static const float order[] = {0.0F, 4.0F, 2.0F, 6.0F, 1.0F, 5.0F, 3.0F, 7.0F};

    for (size_t r = 0; r < raster->rows; r++)
        for (size_t c = 0; c < raster->columns; c++) {
            const float cover = raster->cover[r * raster->columns + c];

            if (cover > 0.0F && cover >= order[(c + 3 * r) % 8] / 8.0F + 0.06F)
                raster->cells[r * raster->columns + c] = '#';
            else if (cover > 0.0F && order[(c + 3 * r) % 8] == 0.0F)
                raster->cells[r * raster->columns + c] = '#';
        }
}

/* Between two neighbouring points of an area: column by column. */
static void raster_area(struct raster *raster, const struct figure_series *series, size_t from, size_t to)
{
    double left = place(series->x[from], raster->x, raster->x_logarithmic, raster->columns);
    double right = place(series->x[to], raster->x, raster->x_logarithmic, raster->columns);

    for (size_t c = (size_t)left; c < raster->columns && (double)c < right; c++) {
        double share = right > left ? fmax(0.0, fmin(1.0, ((double)c + 0.5 - left) / (right - left))) : 0.0;
        double lo = series->y_lo[from] + share * (series->y_lo[to] - series->y_lo[from]);
        double hi = series->y_hi[from] + share * (series->y_hi[to] - series->y_hi[from]);
        size_t bottom = (size_t)(place(lo, raster->y, raster->y_logarithmic, raster->rows) + 0.5);
        size_t top = (size_t)(place(hi, raster->y, raster->y_logarithmic, raster->rows) + 0.5);

        for (size_t r = bottom; r < top; r++)
            raster->cells[r * raster->columns + c] = '#';
    }
}

/* Darkness of a cell as a digit. */
static char shade_character(const struct figure_series *series, size_t i, const struct figure_range *shade)
{
    double share = shade->hi > shade->lo ? (series->shade[i] - shade->lo) / (shade->hi - shade->lo) : 0.0;

    return (char)('0' + (int)fmin(9.0, 10.0 * share));
}

static size_t append_raster(struct text_buffer *script, const struct raster *raster)
{
    size_t rows = 0;

    for (size_t i = 0; i < raster->columns * raster->rows; i++) {
        const size_t row = i / raster->columns, column = i % raster->columns;

        if (raster->cells[i] == 0)
            continue;
        append_number(script, value_at((double)column, raster->x, raster->x_logarithmic, raster->columns));
        append_number(script, value_at((double)row, raster->y, raster->y_logarithmic, raster->rows));
        text_buffer_append_format(script, "%c\n", raster->cells[i] == '#' ? '0' : raster->cells[i]);
        rows++;
    }
    return rows;
}

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Areas and boxes as characters: a point for each. */
static size_t append_filled(struct text_buffer *script, const struct figure *figure, const struct figure_series *series,
                            const struct figure_options *options, const struct figure_drawable *found)
{
    const struct figure_frame frame = figure_frame_make(figure, options, found);
    struct raster raster = {
        .columns = clamp(frame.plotted_columns > 2 ? frame.plotted_columns - 2 : 1, 8, RASTER_COLUMNS_MAX),
        .rows = clamp(frame.plotted_rows > 2 ? frame.plotted_rows - 2 : 1, 4, RASTER_ROWS_MAX),
        .x = &found->x,
        .y = &found->y,
        .x_logarithmic = figure->x_logarithmic,
        .y_logarithmic = figure->y_logarithmic,
    };
    size_t step = figure_thinning_step(series), previous = series->count, rows = 0;
    struct figure_run run = {0};

    const bool shares = series->style == SERIES_STYLE_BOXES && series->shade == NULL && !series->hatched;

    raster.cells = calloc(raster.columns, raster.rows);
    raster.cover = shares ? calloc(raster.columns * raster.rows, sizeof *raster.cover) : NULL;
    if (raster.cells == NULL || (shares && raster.cover == NULL)) {
        free(raster.cells);
        free(raster.cover);
        script->failed = true;
        return 0;
    }
    for (size_t i = 0; i < series->count; i++) {
        if (!figure_point_is_drawable(figure, series, i)) {
            previous = series->count;
        } else if (series->style == SERIES_STYLE_AREA) {
            if (previous < series->count)
                raster_area(&raster, series, previous, i);
            previous = i;
        } else if (shares) {
            raster_cover(&raster, series->x_lo[i], series->x_hi[i], series->y_lo[i], series->y_hi[i]);
        } else if (figure_point_is_kept(figure, series, i, step, &run)) {
            raster_fill(&raster, series->x_lo[i], series->x_hi[i], series->y_lo[i], series->y_hi[i],
                        series->shade != NULL ? shade_character(series, i, &found->shade) : '#');
        }
    }
    if (shares)
        raster_spread(&raster);
    rows = append_raster(script, &raster);
    free(raster.cells);
    free(raster.cover);
    return rows;
}

size_t figure_script_data(struct text_buffer *script, const struct figure *figure, size_t index,
                          const struct figure_options *options, const struct figure_drawable *found)
{
    const struct figure_series *series = &figure->series[index];
    size_t step = figure_thinning_step(series), rows = 0;
    struct figure_run run = {0};
    bool gap = false;

    text_buffer_append_format(script, "$series%zu << end_of_series\n", index);
    if (figure_is_text(options) && (series->style == SERIES_STYLE_AREA || series->style == SERIES_STYLE_BOXES)) {
        rows = append_filled(script, figure, series, options, found);
    } else {
        for (size_t i = 0; i < series->count; i++) {
            bool kept = figure_point_is_kept(figure, series, i, step, &run);

            if (!kept) { /* a blank line where points are missing, so that no line is drawn across them */
                gap = rows > 0 && (gap || !figure_point_is_drawable(figure, series, i));
                continue;
            }
            text_buffer_append(script, gap ? "\n" : "");
            gap = false;
            append_row(script, figure, series, i);
            rows++;
        }
    }
    text_buffer_append(script, "end_of_series\n");
    return rows;
}

static void append_csv_text(struct text_buffer *csv, const char *text)
{
    text_buffer_append(csv, "\"");
    for (; text != NULL && *text != '\0'; text++)
        text_buffer_append(csv, *text == '"' ? "\"\"" : (char[2]){*text, '\0'});
    text_buffer_append(csv, "\"");
}

/* series,x,y,y_lo,y_hi, then x_lo,x_hi,shade where some series has boxes; an empty field where there is none. */
void figure_append_csv(struct text_buffer *csv, const struct figure *figure)
{
    size_t column_count = 4;
    char number[32];

    for (size_t s = 0; s < figure->series_count; s++)
        if (figure->series[s].style == SERIES_STYLE_BOXES)
            column_count = 7;
    text_buffer_append(csv, column_count == 4 ? "series,x,y,y_lo,y_hi\n" : "series,x,y,y_lo,y_hi,x_lo,x_hi,shade\n");
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct figure_series *series = &figure->series[s];
        const double *columns[] = {series->x,    series->y,    series->y_lo, series->y_hi,
                                   series->x_lo, series->x_hi, series->shade};

        for (size_t i = 0; i < series->count; i++) {
            append_csv_text(csv, series->label);
            for (size_t c = 0; c < column_count; c++) {
                text_buffer_append(csv, ",");
                if (columns[c] != NULL && isfinite(columns[c][i]))
                    text_buffer_append(csv, number_format(columns[c][i], number));
            }
            text_buffer_append(csv, "\n");
        }
    }
}
