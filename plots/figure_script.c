/* SPDX-License-Identifier: GPL-3.0-or-later
 * A figure becomes one gnuplot script: data as inline blocks, every text a single-quoted string. */
#include <math.h>
#include <string.h>

#include "plots/figure_private.h"

enum {
    PIXELS_WIDE = FIGURE_PIXELS_WIDE,
    PIXELS_HIGH = FIGURE_PIXELS_HIGH,
    PNG_WIDE = 1200,
    CAPTION_COLUMNS = 100,
    LEGEND_COLUMNS = 84,
    LEGEND_COLUMNS_NARROW = 38,
    LEGEND_SAMPLE_COLUMNS = 12
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

/* Block characters where they are wanted and gnuplot has them: 6 and newer. They tell lines apart by colour alone. */
static void append_text_terminal(struct text_buffer *script, const struct figure_options *options, unsigned rows)
{
    const unsigned columns = figure_columns(options);
    const char *color = options->color ? "ansi256" : "mono";

    const bool block = options->unicode && options->color;

    if (block)
        text_buffer_append_format(script,
                                  "if (GPVAL_VERSION >= 6.0 && strstrt(GPVAL_TERMINALS, ' block ') > 0) {\n"
                                  "    set terminal block quadrants noenhanced size %u,%u %s\n"
                                  "} else {\n",
                                  columns, rows, color);
    text_buffer_append_format(script, "set terminal dumb noenhanced size %u,%u %s nofeed\n", columns, rows, color);
    text_buffer_append(script, block ? "}\n" : "");
}

/* gnuplot is built with what its packager chose. */
static void append_terminal_check(struct text_buffer *script, const char *name)
{
    text_buffer_append_format(script,
                              "if (strstrt(GPVAL_TERMINALS, ' %s ') == 0) {\n"
                              "    print 'this gnuplot has no terminal %s'\n    exit status 4\n}\n",
                              name, name);
}

void figure_script_terminal(struct text_buffer *script, const struct figure_options *options, unsigned rows)
{
    const char *background = figure_theme(options->dark)->background;
    unsigned width = or_default(options->width, PNG_WIDE);
    unsigned height = width * PIXELS_HIGH / PIXELS_WIDE;
    const double scale = (double)width / PIXELS_WIDE;

    text_buffer_append(script, "set encoding utf8\n");
    switch (options->output) {
    case FIGURE_OUTPUT_PNG:
        text_buffer_append_format(script,
                                  "if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
                                  "    set terminal pngcairo noenhanced size %u,%u fontscale %.3g linewidth %.3g "
                                  "pointscale %.3g font 'Sans,13.5' background rgb '%s'\n"
                                  "} else {\n"
                                  "    set terminal png noenhanced size %u,%u\n"
                                  "}\n",
                                  width, height, scale, scale, scale, background, width, height);
        break;
    case FIGURE_OUTPUT_SVG:
        text_buffer_append_format(
            script, "set terminal svg noenhanced size %d,%d font 'sans-serif,%d' background rgb '%s'\n",
            options->narrow ? FIGURE_NARROW_WIDE : PIXELS_WIDE, options->narrow ? FIGURE_NARROW_HIGH : PIXELS_HIGH,
            options->narrow ? 16 : 18, background);
        break;
    case FIGURE_OUTPUT_PDF:
        append_terminal_check(script, "pdfcairo");
        text_buffer_append_format(
            script, "set terminal pdfcairo noenhanced size 9in,6in font 'Sans,13' background rgb '%s'\n", background);
        break;
    case FIGURE_OUTPUT_TERMINAL:
        append_text_terminal(script, options, rows);
        break;
    case FIGURE_OUTPUT_SIXEL:
        append_terminal_check(script, "sixelgd");
        text_buffer_append_format(script, "set terminal sixelgd noenhanced size %d,%d background rgb '%s'\n",
                                  PIXELS_WIDE, PIXELS_HIGH, background);
        break;
    default:
        BUG("unknown figure output %d", (int)options->output);
    }
}

static void append_caption(struct text_buffer *script, const struct figure *figure,
                           const struct figure_options *options, const struct figure_drawable *found)
{
    const bool text = figure_is_text(options);
    struct text_buffer caption = {0};

    figure_append_caption(&caption, figure, options, found);
    if (caption.length > 0) { /* gnuplot leaves much room below slanting names, which have no label */
        const bool alone = !text && figure->x_tick_count > 0 && (figure->x_label == NULL || *figure->x_label == '\0');

        text_buffer_append(script, text || alone ? "" : ".\"\\n\"");
        script_append_wrapped(script, caption.text, text ? figure_caption_columns(options) : CAPTION_COLUMNS, alone);
    }
    script->failed = script->failed || caption.failed;
    text_buffer_release(&caption);
}

/* A terminal writes nothing beside the axes: what they show stands in the title's second line. */
static void append_text_title(struct text_buffer *script, const struct figure *figure,
                              const struct figure_options *options, const struct figure_drawable *found)
{
    const size_t columns = figure_title_columns(options);
    struct text_buffer axes = {0};

    figure_append_axes_text(&axes, figure, found);
    text_buffer_append(script, "set title ''");
    script_append_wrapped(script, figure->title == NULL ? "" : figure->title, columns, true);
    if (axes.length > 0)
        script_append_wrapped(script, axes.text, columns, false);
    script->failed = script->failed || axes.failed;
    text_buffer_release(&axes);
}

static void append_titles(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                          const struct figure_drawable *found)
{
    const char *ink = figure_theme(options->dark)->ink;

    if (figure_is_text(options)) {
        append_text_title(script, figure, options, found);
        text_buffer_append(script, "\nset xlabel ");
        script_append_quoted(script, figure->x_label);
        append_caption(script, figure, options, found);
        /* block leaves a row more free above it, and the last one has no room */
        text_buffer_append(script, "\nif (GPVAL_TERM eq 'block') { set xlabel offset 0,1 }");
        return;
    }
    text_buffer_append(script, "set title ''");
    script_append_wrapped(script, figure->title == NULL ? "" : figure->title,
                          options->narrow ? FIGURE_NARROW_TITLE_COLUMNS : 4 * CAPTION_COLUMNS, true);
    text_buffer_append_format(script, " textcolor rgb '%s'\nset xlabel ", ink);
    script_append_quoted(script, figure->x_label);
    append_caption(script, figure, options, found);
    text_buffer_append_format(script, " textcolor rgb '%s' font ',%.3g'\nset ylabel ", ink,
                              figure_font_size(options, 15.0));
    script_append_quoted(script, figure->y_label);
    text_buffer_append_format(script, " textcolor rgb '%s'", ink);
}

/* Legend, grid, border. */
static void append_frame(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                         const struct figure_drawable *found)
{
    const struct figure_theme *theme = figure_theme(options->dark);
    const double small = figure_font_size(options, 15.0);

    if (figure_is_text(options)) {
        const struct figure_frame frame = figure_frame_make(figure, options, found);

        text_buffer_append_format(script,
                                  "\nset key outside top center vertical maxrows %u samplen 1 width 1 noenhanced\n"
                                  "set bars 0\n"
                                  "set lmargin %u\nset rmargin %u\nset tmargin %u\nset bmargin %u\n",
                                  frame.legend_rows > 0 ? frame.legend_rows : 1, frame.left, frame.right, frame.top,
                                  frame.bottom);
        return;
    }
    text_buffer_append_format(script,
                              "\nset key outside top center horizontal noenhanced textcolor rgb '%s' font ',%.3g'\n"
                              "set grid linetype 1 linewidth 0.7 linecolor rgb '%s'\nset pointsize %.3g\n"
                              "set border %d linecolor rgb '%s'\nset tics nomirror textcolor rgb '%s' font ',%.3g'\n",
                              theme->ink, small, theme->grid, options->output == FIGURE_OUTPUT_SVG ? 0.9 : 1.2,
                              found->y2.lo <= found->y2.hi ? 11 : 3, theme->ink, theme->ink, small);
}

static void append_range(struct text_buffer *script, const char *axis, struct figure_range range, bool logarithmic)
{
    char lo[32], hi[32];

    if (logarithmic)
        text_buffer_append_format(script, "set logscale %s\n", axis);
    text_buffer_append_format(script, "set %srange [%s:%s]\n", axis, number_format_digits(range.lo, 12, lo),
                              number_format_digits(range.hi, 12, hi));
}

static void append_second_axis(struct text_buffer *script, const struct figure *figure,
                               const struct figure_options *options, const struct figure_drawable *found)
{
    if (found->y2.lo > found->y2.hi)
        return;
    append_range(script, "y2", found->y2, false);
    text_buffer_append(script, "set ytics nomirror\nset y2tics\n");
    if (figure_is_text(options))
        return;
    text_buffer_append(script, "set y2label ");
    script_append_quoted(script, figure->y2_label);
    text_buffer_append_format(script, " textcolor rgb '%s'\n", figure_theme(options->dark)->ink);
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

/* A terminal's ground may be light or dark: what is ink elsewhere is a grey that stands out from both. */
static const char text_ink[] = "#8A8A8A";

static const char *series_color(const struct figure_options *options, int index)
{
    const int wrapped = ((index % FIGURE_COLORS) + FIGURE_COLORS) % FIGURE_COLORS;

    return figure_is_text(options) && wrapped == FIGURE_COLORS - 1 ? text_ink : figure_color(index, options->dark);
}

static void append_band(struct text_buffer *script, const struct figure_series *series, size_t index,
                        const struct figure_options *options)
{
    const char *color = series_color(options, series->color_index);

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

/* Areas and boxes in characters: every series its own, every shade its digit. (Not as labels: block moves these.) */
static void append_text_fill(struct text_buffer *script, const struct figure_series *series, size_t index,
                             const struct figure_options *options)
{
    static const char characters[] = "#o=+%*-@";

    if (series->shade != NULL)
        for (int digit = 0; digit < 10; digit++)
            text_buffer_append_format(script,
                                      "$series%zu using ($3 == %d ? $1 : NaN):2 with points pointtype '%d' "
                                      "linecolor rgb '%s'%s",
                                      index, digit, digit, series_color(options, 0), digit < 9 ? " notitle, " : "");
    else
        text_buffer_append_format(script, "$series%zu using 1:2 with points pointtype '%c' linecolor rgb '%s'", index,
                                  series->hatched ? 'x' : characters[index % (sizeof characters - 1)],
                                  series_color(options, series->color_index));
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
        text_buffer_append_format(
            script, "$series%zu using 1:2:3:4:5:6 with boxxyerror fillstyle transparent pattern 4 linecolor rgb '%s'",
            index, theme->muted);
    else
        text_buffer_append_format(
            script, "$series%zu using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '%s'", index,
            figure_color(series->color_index, options->dark));
}

static void append_curve(struct text_buffer *script, const struct figure_series *series, size_t index,
                         const struct figure_options *options)
{
    /* gnuplot's filled shapes, one for each colour: what has the same colour has the same shape too. */
    static const unsigned shapes[FIGURE_COLORS] = {13, 9, 5, 11, 15, 5, 7};
    const bool bars = series->style == SERIES_STYLE_POINTS && series->y_lo != NULL && series->y_hi != NULL;
    const char *color = series_color(options, series->color_index), *with = "lines linewidth 2.5";
    const unsigned kind = (unsigned)index + 1;

    if (bars) { /* a symbol in the legend alone: the bar would run over the lines above and below */
        text_buffer_append_format(script,
                                  "$series%zu using 1:2:3:4 with yerrorbars linewidth 1.5 linetype %u "
                                  "pointsize 0 linecolor rgb '%s' notitle%s",
                                  index, kind, color, series->bars_alone ? "" : ", ");
        if (series->bars_alone) {
            text_buffer_append_format(script, ", NaN with lines linewidth 1.5 linetype %u linecolor rgb '%s'", kind,
                                      color);
            return;
        }
    }
    if (series->style == SERIES_STYLE_POINTS)
        with = "points";
    else if (series->style == SERIES_STYLE_LINE_POINTS)
        with = "linespoints linewidth 2.5";
    else if (series->style == SERIES_STYLE_STEPS)
        with = series->wide ? "steps linewidth 5" : "steps linewidth 2.5";
    else if (series->style == SERIES_STYLE_DASHED)
        with = "lines linewidth 2.5 dashtype 2";
    else if (series->wide)
        with = "lines linewidth 5";
    text_buffer_append_format(script, "$series%zu using 1:2 %swith %s linetype %u linecolor rgb '%s'", index,
                              series->second_axis ? "axes x1y2 " : "", with, kind, color);
    if (series->small && !figure_is_text(options))
        text_buffer_append(script, " pointtype 7 pointsize 0.3");
    else if (series->style != SERIES_STYLE_POINTS && series->style != SERIES_STYLE_LINE_POINTS)
        return;
    else if (figure_is_text(options)) /* letters, as dumb has them of its own; block's are too small to be read */
        text_buffer_append_format(script, " pointtype '%c'", 'A' + (int)(index % 26));
    else
        text_buffer_append_format(script, " pointtype %u",
                                  shapes[((series->color_index % FIGURE_COLORS) + FIGURE_COLORS) % FIGURE_COLORS]);
}

/* gnuplot leaves out the whole legend where one entry is wider than the figure: a long one is cut. */
static void append_legend_text(struct text_buffer *script, const char *label, const struct figure_options *options)
{
    const size_t room = figure_is_text(options) ? figure_columns(options) - LEGEND_SAMPLE_COLUMNS
                        : options->narrow       ? LEGEND_COLUMNS_NARROW
                                                : LEGEND_COLUMNS;
    struct text_buffer cut = {0};

    if (script_text_columns(label) <= room) {
        script_append_quoted(script, label);
        return;
    }
    text_buffer_append_bytes(&cut, label, script_columns_bytes(label, room - 3));
    text_buffer_append(&cut, "...");
    script_append_quoted(script, cut.text == NULL ? "" : cut.text);
    script->failed = script->failed || cut.failed;
    text_buffer_release(&cut);
}

static void append_series(struct text_buffer *script, const struct figure_series *series, size_t index,
                          const struct figure_options *options)
{
    bool filled = series->style == SERIES_STYLE_AREA || series->style == SERIES_STYLE_BOXES;

    if (filled && figure_is_text(options))
        append_text_fill(script, series, index, options);
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
        append_legend_text(script, series->label, options);
    }
}

/* Lines across a terminal's figure, character by character: gnuplot draws its arrows a row too high there. */
static void append_text_marker(struct text_buffer *script, struct text_buffer *plot, const struct figure *figure,
                               size_t index, const struct figure_frame *frame, const struct figure_drawable *found)
{
    const struct figure_marker *marker = &figure->markers[index];
    const unsigned steps = (marker->vertical ? frame->plotted_rows : frame->plotted_columns) - 1;
    const struct figure_range *along = marker->vertical ? &found->y : &found->x;
    const bool logarithmic = marker->vertical ? figure->y_logarithmic : figure->x_logarithmic;
    char position[32], place[32];

    (void)number_format(marker->position, position);
    text_buffer_append_format(script, "$marker%zu << end_of_marker\n", index);
    for (unsigned i = 1; i < steps; i++) {
        const double share = (double)i / steps;

        (void)number_format(logarithmic ? along->lo * pow(along->hi / along->lo, share)
                                        : along->lo + share * (along->hi - along->lo),
                            place);
        text_buffer_append_format(script, "%s %s\n", marker->vertical ? position : place,
                                  marker->vertical ? place : position);
    }
    text_buffer_append(script, "end_of_marker\n");
    text_buffer_append_format(plot, "$marker%zu using 1:2 with points pointtype '%c' linecolor rgb '%s' notitle, ",
                              index, marker->vertical ? '|' : '-', text_ink);
}

static void append_text_markers(struct text_buffer *script, struct text_buffer *plot, const struct figure *figure,
                                const struct figure_options *options, const struct figure_drawable *found)
{
    const struct figure_frame frame = figure_frame_make(figure, options, found);

    for (size_t m = 0; m < figure->marker_count; m++)
        if (figure_marker_is_drawable(figure, &figure->markers[m]))
            append_text_marker(script, plot, figure, m, &frame, found);
}

static void append_plot(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                        const struct figure_drawable *found)
{
    struct text_buffer plot = {0};
    const char *separator = "";

    text_buffer_append(&plot, "plot ");
    if (figure_is_text(options))
        append_text_markers(script, &plot, figure, options, found);
    for (size_t s = 0; s < figure->series_count; s++) {
        if (figure_script_data(script, figure, s, options, found) == 0)
            continue; /* gnuplot takes an empty block for a mistake */
        text_buffer_append(&plot, separator);
        append_series(&plot, &figure->series[s], s, options);
        separator = ", ";
    }
    if (figure->diagonal)
        text_buffer_append_format(&plot, ", x with lines dashtype 2 linewidth 1.5 linecolor rgb '%s' title 'y = x'",
                                  series_color(options, FIGURE_COLORS - 1));
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
    append_frame(script, figure, options, found);
    append_range(script, "x", found->x, figure->x_logarithmic);
    append_range(script, "y", found->y, figure->y_logarithmic);
    append_second_axis(script, figure, options, found);
    figure_script_ticks(script, figure, options, found);
    append_shades(script, figure, options, found);
    figure_script_labels(script, figure, options, found);
    append_plot(script, figure, options, found);
}
