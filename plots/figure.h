/* SPDX-License-Identifier: GPL-3.0-or-later
 * Figures from labelled series through a gnuplot pipe. Knows no GPU. Labels are drawn as text, never executed. */
#ifndef OCCAM_PLOTS_FIGURE_H
#define OCCAM_PLOTS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum series_style {
    SERIES_STYLE_LINE,
    SERIES_STYLE_POINTS,
    SERIES_STYLE_LINE_POINTS,
    SERIES_STYLE_BAND, /* y_lo..y_hi filled */
    SERIES_STYLE_STEPS,
    SERIES_STYLE_DASHED
};

struct figure_series {
    const char *label; /* borrowed; "" = not in the legend */
    enum series_style style;
    size_t count;
    const double *x, *y;       /* borrowed; y may be NULL for a band */
    const double *y_lo, *y_hi; /* band, or error bars on points; may be NULL */
    int color_index;           /* into the colour-blind safe palette; the same config keeps its index everywhere */
};

struct figure_marker {
    double position; /* on the axis */
    bool vertical;
    const char *label;
};

struct figure {
    const char *title, *x_label, *y_label, *caption; /* borrowed */
    bool x_logarithmic, y_logarithmic, y_from_zero;
    size_t series_count;
    const struct figure_series *series;
    size_t marker_count;
    const struct figure_marker *markers;
};

enum figure_output {
    FIGURE_OUTPUT_PNG,
    FIGURE_OUTPUT_SVG,
    FIGURE_OUTPUT_PDF,
    FIGURE_OUTPUT_TERMINAL /* characters to stdout, fitted to columns x rows */
};

struct figure_options {
    enum figure_output output;
    const char *path;           /* output file; NULL for the terminal */
    const char *keep_directory; /* also leave script and data there; NULL = no */
    unsigned columns, rows;     /* terminal size; 0 = 80 x 24 */
    bool color;                 /* terminal: ANSI colours */
};

/* Draw. The file appears whole or not at all (written beside, then renamed). gnuplot not found: STATUS_MISSING naming
 * the package; gnuplot failing: STATUS_IO with its first line of complaint; nothing drawable: STATUS_BAD_DATA.
 * Points that are not finite are left out and counted in *left_out (may be NULL). */
MUST_CHECK enum status figure_draw(const struct figure *figure, const struct figure_options *options, size_t *left_out,
                                   struct error *error);
/* "5.4.4" style version text of the gnuplot found, or STATUS_MISSING. */
MUST_CHECK enum status gnuplot_version(char *out, size_t out_size, struct error *error);

#endif
