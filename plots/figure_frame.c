/* SPDX-License-Identifier: GPL-3.0-or-later
 * How a terminal's characters are shared out: legend and title above, axes and caption below, the rest for the figure.
 * The margins are set, not left to gnuplot, so that fillings and remarks can be placed character by character. */
#include <string.h>

#include "plots/figure_private.h"

enum {
    PLOTTED_ROWS_MIN = 10, /* a longer caption makes the figure higher than the window */
    LEFT_MIN = 8,
    RIGHT = 2,
    RIGHT_SECOND_AXIS = 6,
    SAMPLE_COLUMNS = 8, /* of a legend's entry: the sample and the air around it */
    TITLE_AIR = 2,
    CAPTION_AIR = 12
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t figure_title_columns(const struct figure_options *options)
{
    return figure_columns(options) - TITLE_AIR;
}

size_t figure_caption_columns(const struct figure_options *options)
{
    return figure_columns(options) > 2 * CAPTION_AIR + 8 ? figure_columns(options) - CAPTION_AIR : 20;
}

/* Entries go below each other, as few rows as fit. */
static unsigned legend_rows(const struct figure *figure, const struct figure_options *options)
{
    size_t entries = figure->diagonal ? 1 : 0, longest = figure->diagonal ? 5 : 0;

    for (size_t s = 0; s < figure->series_count; s++) {
        const struct figure_series *series = &figure->series[s];

        if (series->label == NULL || *series->label == '\0' || series->shade != NULL || series->count == 0)
            continue;
        entries++;
        longest = larger(longest, script_text_columns(series->label));
    }
    const size_t side_by_side = larger(1, figure_columns(options) / (longest + SAMPLE_COLUMNS));

    return (unsigned)((entries + side_by_side - 1) / side_by_side);
}

static unsigned left_margin(const struct figure *figure, const struct figure_options *options)
{
    size_t longest = LEFT_MIN - 2;

    for (size_t i = 0; i < figure->y_tick_count; i++)
        longest = larger(longest, script_text_columns(figure->y_ticks[i].label));
    if (longest + 2 > figure_columns(options) / 3)
        return figure_columns(options) / 3;
    return (unsigned)longest + 2;
}

struct figure_frame figure_frame_make(const struct figure *figure, const struct figure_options *options,
                                      const struct figure_drawable *found)
{
    struct text_buffer axes = {0}, caption = {0};
    struct figure_frame frame = {.legend_rows = legend_rows(figure, options),
                                 .left = left_margin(figure, options),
                                 .right = found->y2.lo <= found->y2.hi ? RIGHT_SECOND_AXIS : RIGHT};

    figure_append_axes_text(&axes, figure, found);
    figure_append_caption(&caption, figure, options, found);
    frame.top =
        1 + frame.legend_rows +
        (unsigned)script_wrapped_lines(figure->title == NULL ? "" : figure->title, figure_title_columns(options)) +
        (unsigned)script_wrapped_lines(axes.text == NULL ? "" : axes.text, figure_title_columns(options));
    frame.bottom =
        2 + (unsigned)script_wrapped_lines(caption.text == NULL ? "" : caption.text, figure_caption_columns(options));
    frame.failed = axes.failed || caption.failed;
    frame.rows = figure_rows(options);
    if (frame.rows < frame.top + frame.bottom + PLOTTED_ROWS_MIN)
        frame.rows = frame.top + frame.bottom + PLOTTED_ROWS_MIN;
    frame.plotted_rows = frame.rows - frame.top - frame.bottom;
    frame.plotted_columns = figure_columns(options) - frame.left - frame.right;
    text_buffer_release(&axes);
    text_buffer_release(&caption);
    return frame;
}

void figure_append_axes_text(struct text_buffer *text, const struct figure *figure, const struct figure_drawable *found)
{
    text_buffer_append(text, figure->y_label == NULL ? "" : figure->y_label);
    if (found->y2.lo <= found->y2.hi)
        text_buffer_append_format(text, "; right: %s", figure->y2_label);
}

void figure_append_caption(struct text_buffer *caption, const struct figure *figure,
                           const struct figure_options *options, const struct figure_drawable *found)
{
    text_buffer_append(caption, figure->caption == NULL || options->no_caption ? "" : figure->caption);
    if (found->thinned > 0)
        text_buffer_append_format(caption, "%sDrawn: %zu of %zu points, %s.", caption->length > 0 ? " " : "",
                                  found->thinned, found->thinned_from,
                                  found->is_cloud ? "evenly chosen" : "with least and most of every run");
    if (figure_is_text(options) && found->shade.lo <= found->shade.hi)
        text_buffer_append_format(caption, "%sDigits: %s, 0 is %.4g, 9 is %.4g.", caption->length > 0 ? " " : "",
                                  figure->shade_label == NULL ? "value" : figure->shade_label, found->shade.lo,
                                  found->shade.hi);
    if (figure_ticks_are_letters(figure, options)) {
        text_buffer_append(caption, caption->length > 0 ? " " : "");
        figure_append_tick_letters(caption, figure);
    }
}
