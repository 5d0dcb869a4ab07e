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
    bool is_cloud;                /* thinned ones among them that are no line */
};

/* figure_survey.c */
bool figure_point_is_drawable(const struct figure *figure, const struct figure_series *series, size_t i);
bool figure_marker_is_drawable(const struct figure *figure, const struct figure_marker *marker);
struct figure_drawable figure_survey(const struct figure *figure);
/* Whether a point is drawn when a series has too many: of every run of points of a line the first that is least and the
 * first that is most; of a cloud of points any two, as the extremes of each run would be a cloud of another shape.
 * step: points in a run, 1 = all are drawn. Called for ascending i; the caller keeps *run zero at first. */
struct figure_run {
    size_t end, least, most;
};
bool figure_point_is_kept(const struct figure *figure, const struct figure_series *series, size_t i, size_t step,
                          struct figure_run *run);
/* Points in a run; 1 when the series is drawn whole. */
size_t figure_thinning_step(const struct figure_series *series);

/* figure_text.c: text as gnuplot single-quoted strings, in which nothing but the quote has a meaning. */
void script_append_quoted(struct text_buffer *script, const char *text);
/* The same wrapped at spaces, as quoted lines each after ."\n"; the first after . alone where nothing stands before. */
void script_append_wrapped(struct text_buffer *script, const char *text, size_t columns, bool is_first);
/* How many lines script_append_wrapped makes. */
size_t script_wrapped_lines(const char *text, size_t columns);
/* Display columns: characters, not bytes. */
size_t script_text_columns(const char *text);
/* Bytes of the first so many characters. */
size_t script_columns_bytes(const char *text, size_t columns);

/* figure_theme.c */
struct figure_theme {
    const char *ink, *muted, *grid, *background;
};
const struct figure_theme *figure_theme(bool dark);

/* figure_script.c: `set terminal` alone, so that a kept script can name its output after it; and all that follows.
 * rows: of a terminal, as figure_frame_make has them. */
void figure_script_terminal(struct text_buffer *script, const struct figure_options *options, unsigned rows);
/* A font's size as the output counts it: pixels in SVG, else points. */
double figure_font_size(const struct figure_options *options, double pixels);
void figure_script_body(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                        const struct figure_drawable *found);
/* figure_frame.c: how a terminal's characters are shared out. */
struct figure_frame {
    unsigned legend_rows;
    unsigned left, right, top, bottom; /* margins around the plotted area, whose border belongs to it */
    unsigned rows;                     /* of the whole figure */
    unsigned plotted_columns, plotted_rows;
    bool failed; /* memory ran out: sizes are a guess */
};
struct figure_frame figure_frame_make(const struct figure *figure, const struct figure_options *options,
                                      const struct figure_drawable *found);
size_t figure_title_columns(const struct figure_options *options);
size_t figure_caption_columns(const struct figure_options *options);
/* What the vertical axes show; and the caption with what was left out for want of room. */
void figure_append_axes_text(struct text_buffer *text, const struct figure *figure,
                             const struct figure_drawable *found);
void figure_append_caption(struct text_buffer *caption, const struct figure *figure,
                           const struct figure_options *options, const struct figure_drawable *found);

/* figure_ticks.c: names, 1-2-5 or whole numbers, where the figure asks for them; else gnuplot's own choice. */
void figure_script_ticks(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                         const struct figure_drawable *found);
/* Whether the names along the x axis do not fit a terminal's width: letters stand for them, told in the caption. */
bool figure_ticks_are_letters(const struct figure *figure, const struct figure_options *options);
void figure_append_tick_letters(struct text_buffer *caption, const struct figure *figure);

/* figure_ink.c: shares are of the plotted area, from its lower left corner. */
struct figure_ink {
    unsigned char *cells; /* NULL: nothing is known to be taken */
};
/* Position of a value on its axis, 0 to 1. */
double figure_share(double value, const struct figure_range *range, bool logarithmic);
/* Lines, symbols, markers and segments; bands, areas and shaded cells are ground to write on. Release with
 * figure_ink_release. */
void figure_ink_make(struct figure_ink *ink, const struct figure *figure, const struct figure_drawable *found);
/* How much lies under a rectangle; comparable within one figure. */
size_t figure_ink_under(const struct figure_ink *ink, double left, double bottom, double right, double top);
void figure_ink_release(struct figure_ink *ink);

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

/* Size of an SVG; the fonts are made for FIGURE_PIXELS_WIDE: 9 pixels at half of it. */
enum {
    FIGURE_PIXELS_WIDE = 900,
    FIGURE_PIXELS_HIGH = 600,
    FIGURE_NARROW_WIDE = 480,
    FIGURE_NARROW_HIGH = 460,
    FIGURE_NARROW_TITLE_COLUMNS = 44
};

/* Of a terminal. */
static inline unsigned figure_columns(const struct figure_options *options)
{
    return options->columns == 0 ? TERMINAL_COLUMNS_DEFAULT : options->columns;
}

static inline unsigned figure_rows(const struct figure_options *options)
{
    return options->rows == 0 ? TERMINAL_ROWS_DEFAULT : options->rows;
}

#endif
