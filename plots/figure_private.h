/* SPDX-License-Identifier: GPL-3.0-or-later
 * Private to plots/figure*.c: what of a figure can be drawn, and how it becomes a gnuplot script. */
#ifndef OCCAM_PLOTS_FIGURE_PRIVATE_H
#define OCCAM_PLOTS_FIGURE_PRIVATE_H

#include "plots/figure.h"

enum {
    TERMINAL_COLUMNS_DEFAULT = 80,
    TERMINAL_ROWS_DEFAULT = 24
};

/* Smallest and largest value to be seen on one axis; lo > hi: none. */
struct figure_range {
    double lo, hi;
};

/* What of a figure can be drawn. */
struct figure_drawable {
    struct figure_range x, y, y2, shade; /* of the data; then padded: what the axes show */
    size_t points, left_out;
    size_t thinned, thinned_from; /* points drawn of those that series with too many have; 0 = all are drawn */
};

/* figure_survey.c */
bool figure_point_is_drawable(const struct figure *figure, const struct figure_series *series, size_t i);
bool figure_marker_is_drawable(const struct figure *figure, const struct figure_marker *marker);
struct figure_drawable figure_survey(const struct figure *figure);
/* Whether a point is drawn when a series has too many: of every run of points the first that is least and the first
 * that is most. step: points in a run, 1 = all are drawn. Called for ascending i; the caller keeps *run zero at
 * first. */
struct figure_run {
    size_t end, least, most;
};
bool figure_point_is_kept(const struct figure *figure, const struct figure_series *series, size_t i, size_t step,
                          struct figure_run *run);
/* Points in a run; 1 when the series is drawn whole. */
size_t figure_thinning_step(const struct figure_series *series);

/* figure_text.c: text as gnuplot single-quoted strings, in which nothing but the quote has a meaning. */
void script_append_quoted(struct text_buffer *script, const char *text);
/* The same wrapped at spaces, as quoted lines each after ."\n". */
void script_append_wrapped(struct text_buffer *script, const char *text, size_t columns);
/* Display columns: characters, not bytes. */
size_t script_text_columns(const char *text);

/* figure_theme.c */
struct figure_theme {
    const char *ink, *muted, *grid, *background;
};
const struct figure_theme *figure_theme(bool dark);

/* figure_script.c: `set terminal` alone, so that a kept script can name its output after it; and all that follows. */
void figure_script_terminal(struct text_buffer *script, const struct figure_options *options);
/* A font's size as the output counts it: pixels in SVG, else points. */
double figure_font_size(const struct figure_options *options, double pixels);
void figure_script_body(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                        const struct figure_drawable *found);
/* figure_labels.c */
void figure_script_labels(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                          const struct figure_drawable *found);
/* figure_data.c: series `index` as the block $seriesN. Returns the rows written. */
size_t figure_script_data(struct text_buffer *script, const struct figure *figure, size_t index,
                          const struct figure_options *options, const struct figure_drawable *found);
/* The figure's numbers as CSV, all of them. */
void figure_append_csv(struct text_buffer *csv, const struct figure *figure);

/* Whether characters are drawn, not pixels. */
static inline bool figure_is_text(const struct figure_options *options)
{
    return options->output == FIGURE_OUTPUT_TERMINAL;
}

#endif
