/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures from labelled series through a gnuplot pipe. Knows no GPU. Labels are drawn as text, never executed. */
#ifndef OCCAM_PLOTS_FIGURE_H
#define OCCAM_PLOTS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text_buffer.h"

enum {
    FIGURE_COLORS = 7,                  /* of the palette; the last is the ink: black on light, white on dark */
    FIGURE_POINTS_PER_SERIES_MAX = 4000 /* drawn; more are thinned, which the caption says */
};

enum series_style {
    SERIES_STYLE_LINE,
    SERIES_STYLE_POINTS,
    SERIES_STYLE_LINE_POINTS,
    SERIES_STYLE_BAND, /* y_lo..y_hi filled, transparent */
    SERIES_STYLE_STEPS,
    SERIES_STYLE_DASHED,
    SERIES_STYLE_AREA, /* y_lo..y_hi filled: parts of a stack */
    SERIES_STYLE_BOXES /* x_lo..x_hi by y_lo..y_hi filled: bars, segments of a timeline, cells of a heat map */
};

struct figure_series {
    const char *label; /* borrowed; "" = not in the legend */
    enum series_style style;
    size_t count;
    const double *x, *y;       /* borrowed; y may be NULL for a band or an area, both for boxes */
    const double *y_lo, *y_hi; /* band, area, boxes, or error bars on points; may be NULL */
    const double *x_lo, *x_hi; /* boxes */
    const double *shade;       /* boxes: values on the figure's colour scale; NULL: one colour */
    const size_t *told;        /* which points a table of the numbers has, told_count of them; NULL: all */
    size_t told_count;
    bool hatched;         /* boxes: a pattern instead of a colour */
    bool small;           /* points as dots, for many rows */
    bool bars_alone;      /* points with intervals: these alone, the points belong to another series */
    bool missing_is_told; /* points that are not finite are meant and not counted as left out */
    bool touching;        /* boxes that adjoin: drawn a little over each other, else their seams would shine through */
    bool wide;            /* a line that is to be seen also beneath another */
    bool second_axis;     /* against the right-hand axis */
    int color_index;      /* into the colour-blind safe palette; the same config keeps its index everywhere */
};

/* A line across the figure. */
struct figure_marker {
    double position; /* on the axis */
    bool vertical;
    const char *label;
};

enum label_ground {
    LABEL_ON_PAPER,
    LABEL_ON_BRIGHT, /* a bright cell, also where the paper is dark */
    LABEL_ON_DARK
};

/* A remark at a point; moved aside, or in the end left out, where it would cover another. */
struct figure_label {
    double x, y;
    const char *text;
    bool inside;              /* centred on the point and never moved: the value of a cell */
    enum label_ground ground; /* inside: what it stands on */
};

struct figure_tick {
    double position;
    const char *label;
};

struct figure {
    const char *title, *x_label, *y_label, *caption; /* borrowed */
    const char *y2_label, *shade_label;              /* right-hand axis; colour scale; NULL = none */
    bool x_logarithmic, y_logarithmic, y_from_zero;
    bool x_whole, y_whole; /* counts: labelled at whole numbers */
    bool diagonal;         /* the line y = x; both axes get the same range */
    size_t series_count;
    const struct figure_series *series;
    size_t marker_count;
    const struct figure_marker *markers;
    size_t label_count;
    const struct figure_label *labels;
    size_t x_tick_count, y_tick_count; /* 0: numbers */
    const struct figure_tick *x_ticks, *y_ticks;
};

enum figure_output {
    FIGURE_OUTPUT_PNG,
    FIGURE_OUTPUT_SVG,
    FIGURE_OUTPUT_PDF,
    FIGURE_OUTPUT_TERMINAL, /* characters to stdout, fitted to columns x rows */
    FIGURE_OUTPUT_SIXEL     /* pixels to a terminal that draws them */
};

struct figure_options {
    enum figure_output output;
    const char *path;           /* output file; NULL for the terminal */
    const char *keep_directory; /* also leave script and data there; NULL = no */
    unsigned columns, rows;     /* terminal size; 0 = 80 x 24 */
    bool color;                 /* terminal: ANSI colours */
    bool unicode;               /* terminal: block characters in colour where gnuplot has them (6 and newer) */
    bool dark;                  /* files: light on dark */
    bool no_caption;            /* files: the caption is told elsewhere */
    bool narrow;                /* SVG: half as wide with letters as large, for a telephone's screen */
    unsigned width;             /* pixels of a PNG, which is then as high as fits; 0 = 1200 */
};

/* Draw. The file appears whole or not at all (written beside, then renamed). gnuplot not found or older than 5.0:
 * STATUS_MISSING naming the package; gnuplot failing: STATUS_IO with its first line of complaint; nothing drawable:
 * STATUS_BAD_DATA. Points that are not finite are left out and counted in *left_out (may be NULL). */
MUST_CHECK enum status figure_draw(const struct figure *figure, const struct figure_options *options, size_t *left_out,
                                   struct error *error);
/* Draws several as SVG with one gnuplot. names[i] is figure i's file name without ending, for what is kept; drawings
 * has count buffers, which the caller releases. options->output and path are not looked at. */
MUST_CHECK enum status figures_draw_svg(const struct figure *const *figures, const char *const *names, size_t count,
                                        const struct figure_options *options, struct text_buffer *drawings,
                                        struct error *error);
/* Whether there is anything to draw. */
bool figure_has_points(const struct figure *figure);
/* Writes bytes to path whole or not at all. */
MUST_CHECK enum status figure_write_file(const char *path, const char *bytes, size_t length, struct error *error);
/* "#0072B2": colour of the palette, as drawn on light or dark. Static. */
const char *figure_color(int index, bool dark);
/* "5.4.4" style version text of the gnuplot found, or STATUS_MISSING. */
MUST_CHECK enum status gnuplot_version(char *out, size_t out_size, struct error *error);

#endif
