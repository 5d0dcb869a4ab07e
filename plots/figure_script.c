/* SPDX-License-Identifier: GPL-3.0-or-later
 * A figure becomes one gnuplot script: data as inline blocks, every text a single-quoted string. */
#include <math.h>
#include <string.h>

#include "plots/figure_private.h"

enum {
    PIXELS_WIDE = 900, /* of an SVG, and the size that the fonts are made for: 9 pixels at half of it */
    PIXELS_HIGH = 600,
    PNG_WIDE = 1200,
    CAPTION_COLUMNS = 100,
    TICK_COLUMNS_MAX = 64 /* longer row of labels along the x axis is written slanting */
};

/* A font's size as the terminal counts it: pixels in SVG, else points. */
double figure_font_size(const struct figure_options *options, double pixels)
{
    return options->output == FIGURE_OUTPUT_SVG ? pixels : 0.75 * pixels;
}

static unsigned or_default(unsigned value, unsigned fallback)
{
    return value == 0 ? fallback : value;
}

/* Block characters where they are wanted and gnuplot has them: 6 and newer. */
static void append_text_terminal(struct text_buffer *script, const struct figure_options *options)
{
    unsigned columns = or_default(options->columns, TERMINAL_COLUMNS_DEFAULT);
    unsigned rows = or_default(options->rows, TERMINAL_ROWS_DEFAULT);
    const char *color = options->color ? "ansi256" : "mono";

    if (options->unicode)
        text_buffer_append_format(script,
                                  "if (GPVAL_VERSION >= 6.0 && strstrt(GPVAL_TERMINALS, ' block ') > 0) {\n"
                                  "    set terminal block quadrants noenhanced size %u,%u %s\n"
                                  "} else {\n",
                                  columns, rows, color);
    text_buffer_append_format(script, "set terminal dumb noenhanced size %u,%u %s nofeed\n", columns, rows, color);
    text_buffer_append(script, options->unicode ? "}\n" : "");
}

void figure_script_terminal(struct text_buffer *script, const struct figure_options *options)
{
    const char *background = figure_theme(options->dark)->background;
    unsigned width = or_default(options->width, PNG_WIDE);
    unsigned height = width * PIXELS_HIGH / PIXELS_WIDE;

    text_buffer_append(script, "set encoding utf8\n");
    switch (options->output) {
    case FIGURE_OUTPUT_PNG:
        text_buffer_append_format(script,
                                  "if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
                                  "    set terminal pngcairo noenhanced size %u,%u fontscale %.3g font 'Sans,13.5' "
                                  "background rgb '%s'\n"
                                  "} else {\n"
                                  "    set terminal png noenhanced size %u,%u\n"
                                  "}\n",
                                  width, height, (double)width / PIXELS_WIDE, background, width, height);
        break;
    case FIGURE_OUTPUT_SVG:
        text_buffer_append_format(script,
                                  "set terminal svg noenhanced size %d,%d font 'sans-serif,18' background rgb '%s'\n",
                                  PIXELS_WIDE, PIXELS_HIGH, background);
        break;
    case FIGURE_OUTPUT_PDF:
        text_buffer_append_format(
            script, "set terminal pdfcairo noenhanced size 9in,6in font 'Sans,13' background rgb '%s'\n", background);
        break;
    case FIGURE_OUTPUT_TERMINAL:
        append_text_terminal(script, options);
        break;
    case FIGURE_OUTPUT_SIXEL:
        text_buffer_append_format(script,
                                  "if (strstrt(GPVAL_TERMINALS, ' sixelgd ') == 0) {\n"
                                  "    print 'this gnuplot has no terminal sixelgd'\n    exit status 4\n}\n"
                                  "set terminal sixelgd noenhanced size %d,%d background rgb '%s'\n",
                                  PIXELS_WIDE, PIXELS_HIGH, background);
        break;
    default:
        BUG("unknown figure output %d", (int)options->output);
    }
}

/* Caption, and what was left out for want of room. */
static void append_caption(struct text_buffer *script, const struct figure *figure,
                           const struct figure_options *options, const struct figure_drawable *found)
{
    struct text_buffer caption = {0};
    size_t columns = CAPTION_COLUMNS;

    if (figure_is_text(options))
        columns = options->columns == 0   ? TERMINAL_COLUMNS_DEFAULT - 12
                  : options->columns > 32 ? options->columns - 12
                                          : 20;
    text_buffer_append(&caption, figure->caption == NULL || options->no_caption ? "" : figure->caption);
    if (found->thinned > 0)
        text_buffer_append_format(&caption, "%sDrawn: %zu of %zu points, with least and most of every run.",
                                  caption.length > 0 ? " " : "", found->thinned, found->thinned_from);
    if (figure_is_text(options) && found->shade.lo <= found->shade.hi)
        text_buffer_append_format(&caption, "%s0 is %.4g, 9 is %.4g %s.", caption.length > 0 ? " " : "",
                                  found->shade.lo, found->shade.hi,
                                  figure->shade_label == NULL ? "" : figure->shade_label);
    if (caption.length > 0) {
        text_buffer_append(script, figure_is_text(options) ? "" : ".\"\\n\"");
        script_append_wrapped(script, caption.text, columns);
    }
    script->failed = script->failed || caption.failed;
    text_buffer_release(&caption);
}

static void append_titles(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                          const struct figure_drawable *found)
{
    const struct figure_theme *theme = figure_theme(options->dark);
    const double small = figure_font_size(options, 15.0);
    bool text = figure_is_text(options);

    text_buffer_append(script, "set title ");
    script_append_quoted(script, figure->title);
    if (!text)
        text_buffer_append_format(script, " textcolor rgb '%s'", theme->ink);
    text_buffer_append(script, "\nset xlabel ");
    script_append_quoted(script, figure->x_label);
    append_caption(script, figure, options, found);
    if (!text)
        text_buffer_append_format(script, " textcolor rgb '%s' font ',%.3g'", theme->ink, small);
    text_buffer_append(script, "\nset ylabel ");
    script_append_quoted(script, figure->y_label);
    if (!text)
        text_buffer_append_format(script, " textcolor rgb '%s'", theme->ink);
    text_buffer_append(script, "\nset key outside top center horizontal noenhanced");
    if (!text)
        text_buffer_append_format(script,
                                  " textcolor rgb '%s' font ',%.3g'\n"
                                  "set grid linetype 1 linewidth 0.7 linecolor rgb '%s'\nset pointsize %.3g\n"
                                  "set border %d linecolor rgb '%s'\nset tics nomirror textcolor rgb '%s' font ',%.3g'",
                                  theme->ink, small, theme->grid, options->output == FIGURE_OUTPUT_SVG ? 0.9 : 1.4,
                                  found->y2.lo <= found->y2.hi ? 11 : 3, theme->ink, theme->ink, small);
    text_buffer_append(script, "\n");
}

static void append_range(struct text_buffer *script, const char *axis, struct figure_range range, bool logarithmic)
{
    char lo[32], hi[32];

    if (logarithmic)
        text_buffer_append_format(script, "set logscale %s\n", axis);
    text_buffer_append_format(script, "set %srange [%s:%s]\n", axis, number_format_digits(range.lo, 12, lo),
                              number_format_digits(range.hi, 12, hi));
}

static void append_ticks(struct text_buffer *script, char axis, const struct figure_tick *ticks, size_t count)
{
    size_t columns = 0;
    char number[32];

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        columns += script_text_columns(ticks[i].label) + 1;
    text_buffer_append_format(script, "set %ctics %s (", axis,
                              axis == 'x' && columns > TICK_COLUMNS_MAX ? "rotate by 55 right" : "norotate");
    for (size_t i = 0; i < count; i++) {
        text_buffer_append(script, i == 0 ? "" : ", ");
        script_append_quoted(script, ticks[i].label);
        text_buffer_append_format(script, " %s", number_format_digits(ticks[i].position, 12, number));
    }
    text_buffer_append(script, ")\n");
}

static void append_second_axis(struct text_buffer *script, const struct figure *figure,
                               const struct figure_options *options, const struct figure_drawable *found)
{
    if (found->y2.lo > found->y2.hi)
        return;
    append_range(script, "y2", found->y2, false);
    text_buffer_append(script, "set ytics nomirror\nset y2tics\nset y2label ");
    script_append_quoted(script, figure->y2_label);
    if (!figure_is_text(options))
        text_buffer_append_format(script, " textcolor rgb '%s'", figure_theme(options->dark)->ink);
    text_buffer_append(script, "\n");
}

/* Lightness rises along it, so that it also reads without colour. */
static void append_shades(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                          const struct figure_drawable *found)
{
    const struct figure_theme *theme = figure_theme(options->dark);

    if (found->shade.lo > found->shade.hi || figure_is_text(options))
        return;
    text_buffer_append(script, "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', "
                               "4 '#fde725')\nset cblabel ");
    script_append_quoted(script, figure->shade_label);
    text_buffer_append_format(script, " textcolor rgb '%s'\nset cbtics textcolor rgb '%s'\n", theme->ink, theme->ink);
    if (found->shade.hi > found->shade.lo)
        append_range(script, "cb", found->shade, false);
}

static void append_band(struct text_buffer *script, const struct figure_series *series, size_t index,
                        const struct figure_options *options)
{
    const char *color = figure_color(series->color_index, options->dark);

    if (!figure_is_text(options)) {
        text_buffer_append_format(
            script, "$series%zu using 1:3:4 with filledcurves fillstyle %s linecolor rgb '%s'", index,
            series->style == SERIES_STYLE_AREA ? "solid 0.85 noborder" : "transparent solid 0.18 noborder", color);
        return;
    }
    /* Filling characters would hide the curve: the two edges as dots. */
    text_buffer_append_format(script,
                              "$series%zu using 1:3 with points pointtype '.' linecolor rgb '%s' notitle, "
                              "$series%zu using 1:4 with points pointtype '.' linecolor rgb '%s'",
                              index, color, index, color);
}

/* Areas and boxes in characters: every series its own. */
static void append_text_fill(struct text_buffer *script, const struct figure_series *series, size_t index)
{
    static const char characters[] = "#o=+%*-@";

    if (series->shade != NULL)
        text_buffer_append_format(script, "$series%zu using 1:2:3 with labels noenhanced", index);
    else
        text_buffer_append_format(script, "$series%zu using 1:2 with points pointtype '%c' linecolor rgb '%s'", index,
                                  series->hatched ? 'x' : characters[index % (sizeof characters - 1)],
                                  figure_color(series->color_index, false));
}

static void append_boxes(struct text_buffer *script, const struct figure_series *series, size_t index,
                         const struct figure_options *options)
{
    const struct figure_theme *theme = figure_theme(options->dark);

    if (series->shade != NULL)
        text_buffer_append_format(script,
                                  "$series%zu using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1 noborder "
                                  "fillcolor palette",
                                  index);
    else if (series->hatched)
        text_buffer_append_format(script,
                                  "$series%zu using 1:2:3:4:5:6 with boxxyerror fillstyle pattern 4 linecolor rgb '%s'",
                                  index, theme->muted);
    else
        text_buffer_append_format(script,
                                  "$series%zu using 1:2:3:4:5:6 with boxxyerror fillstyle solid 0.85 noborder "
                                  "linecolor rgb '%s'",
                                  index, figure_color(series->color_index, options->dark));
}

static void append_curve(struct text_buffer *script, const struct figure_series *series, size_t index,
                         const struct figure_options *options)
{
    /* gnuplot's filled shapes, one for each colour: what has the same colour has the same shape too. */
    static const unsigned shapes[FIGURE_COLORS] = {13, 9, 5, 11, 15, 5, 7};
    bool bars = series->style == SERIES_STYLE_POINTS && series->y_lo != NULL && series->y_hi != NULL;
    unsigned kind = (unsigned)index + 1;
    const char *with = "lines linewidth 2.5";

    if (series->style == SERIES_STYLE_POINTS)
        with = bars ? "yerrorbars linewidth 1.5" : "points";
    else if (series->style == SERIES_STYLE_LINE_POINTS)
        with = "linespoints linewidth 2.5";
    else if (series->style == SERIES_STYLE_STEPS)
        with = "steps linewidth 2.5";
    else if (series->style == SERIES_STYLE_DASHED)
        with = "lines linewidth 2.5 dashtype 2";
    text_buffer_append_format(script, "$series%zu using %s %swith %s linetype %u linecolor rgb '%s'", index,
                              bars ? "1:2:3:4" : "1:2", series->second_axis ? "axes x1y2 " : "", with, kind,
                              figure_color(series->color_index, options->dark));
    if (series->small && !figure_is_text(options))
        text_buffer_append(script, " pointtype 7 pointsize 0.3");
    else if (series->style == SERIES_STYLE_POINTS || series->style == SERIES_STYLE_LINE_POINTS)
        text_buffer_append_format(
            script, " pointtype %u",
            figure_is_text(options) ? kind
                                    : shapes[((series->color_index % FIGURE_COLORS) + FIGURE_COLORS) % FIGURE_COLORS]);
}

static void append_series(struct text_buffer *script, const struct figure_series *series, size_t index,
                          const struct figure_options *options)
{
    bool filled = series->style == SERIES_STYLE_AREA || series->style == SERIES_STYLE_BOXES;

    if (filled && figure_is_text(options))
        append_text_fill(script, series, index);
    else if (series->style == SERIES_STYLE_BOXES)
        append_boxes(script, series, index, options);
    else if (series->style == SERIES_STYLE_BAND || series->style == SERIES_STYLE_AREA)
        append_band(script, series, index, options);
    else
        append_curve(script, series, index, options);
    if (series->label == NULL || *series->label == '\0' || (series->shade != NULL && figure_is_text(options))) {
        text_buffer_append(script, " notitle");
    } else {
        text_buffer_append(script, " title ");
        script_append_quoted(script, series->label);
    }
}

static void append_plot(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                        const struct figure_drawable *found)
{
    struct text_buffer plot = {0};
    const char *separator = "plot ";

    for (size_t s = 0; s < figure->series_count; s++) {
        if (figure_script_data(script, figure, s, options, found) == 0)
            continue; /* gnuplot takes an empty block for a mistake */
        text_buffer_append(&plot, separator);
        append_series(&plot, &figure->series[s], s, options);
        separator = ", ";
    }
    if (figure->diagonal)
        text_buffer_append_format(&plot, ", x with lines dashtype 2 linewidth 1.5 linecolor rgb '%s' title 'y = x'",
                                  figure_theme(options->dark)->ink);
    text_buffer_append_bytes(script, plot.text, plot.length);
    script->failed = script->failed || plot.failed;
    text_buffer_release(&plot);
    text_buffer_append(script, "\n");
}

void figure_script_body(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                        const struct figure_drawable *found)
{
    text_buffer_append(script, "reset\nset encoding utf8\n");
    append_titles(script, figure, options, found);
    append_range(script, "x", found->x, figure->x_logarithmic);
    append_range(script, "y", found->y, figure->y_logarithmic);
    append_ticks(script, 'x', figure->x_ticks, figure->x_tick_count);
    append_ticks(script, 'y', figure->y_ticks, figure->y_tick_count);
    append_second_axis(script, figure, options, found);
    append_shades(script, figure, options, found);
    figure_script_labels(script, figure, options, found);
    append_plot(script, figure, options, found);
}
