/* SPDX-License-Identifier: GPL-3.0-or-later
 * Lines across a figure and remarks at points, placed so that no text covers another. */
#include <math.h>

#include "plots/figure_private.h"

enum {
    PLACED_MAX = 128, /* texts that are kept apart; more are left out */
    DIRECTIONS = 8
};

/* In shares of the plotted area, from its lower left corner. */
struct place {
    double left, bottom, right, top;
};

struct layout {
    const struct figure *figure;
    const struct figure_options *options;
    const struct figure_drawable *found;
    double column, row; /* size of a character */
    size_t count;
    struct place places[PLACED_MAX];
};

static double share_of(double value, const struct figure_range *range, bool logarithmic)
{
    if (logarithmic)
        return log(value / range->lo) / log(range->hi / range->lo);
    return (value - range->lo) / (range->hi - range->lo);
}

static bool is_free(const struct layout *layout, const struct place *place)
{
    if (place->left < 0.0 || place->right > 1.0 || place->bottom < 0.0 || place->top > 1.0)
        return false;
    for (size_t i = 0; i < layout->count; i++) {
        const struct place *other = &layout->places[i];

        if (place->left < other->right && other->left < place->right && place->bottom < other->top &&
            other->bottom < place->top)
            return false;
    }
    return layout->count < PLACED_MAX;
}

static void layout_open(struct layout *layout)
{
    const struct figure_options *options = layout->options;
    double columns = options->columns == 0 ? TERMINAL_COLUMNS_DEFAULT : (double)options->columns;
    double rows = options->rows == 0 ? TERMINAL_ROWS_DEFAULT : (double)options->rows;

    layout->column = figure_is_text(options) ? 1.0 / fmax(columns - 12.0, 8.0) : 0.0125;
    layout->row = figure_is_text(options) ? 1.0 / fmax(rows - 9.0, 4.0) : 0.058;
}

static void append_text(struct text_buffer *script, const struct layout *layout, const char *text, double left,
                        double middle)
{
    const struct figure_theme *theme = figure_theme(layout->options->dark);

    text_buffer_append(script, "set label ");
    script_append_quoted(script, text);
    text_buffer_append_format(script, " at graph %.4f, graph %.4f left front noenhanced", left, middle);
    if (figure_is_text(layout->options))
        text_buffer_append(script, "\n");
    else
        text_buffer_append_format(script, " textcolor rgb '%s' font ',%.3g'\n", theme->ink,
                                  figure_font_size(layout->options, 15.0));
}

/* Tries the candidates in turn: rows above or below the point, to the right or the left of it. */
static bool put(struct text_buffer *script, struct layout *layout, const char *text, double x, double y,
                const double shifts[][2], size_t shift_count)
{
    double width = (double)script_text_columns(text) * layout->column;

    for (size_t i = 0; i < 2 * shift_count; i++) {
        const double *shift = shifts[i / 2];
        double left = i % 2 == 0 ? x + shift[0] * layout->column : x - shift[0] * layout->column - width;
        double middle = y + shift[1] * layout->row;
        struct place place = {left, middle - 0.5 * layout->row, left + width, middle + 0.5 * layout->row};

        if (!is_free(layout, &place))
            continue;
        layout->places[layout->count++] = place;
        append_text(script, layout, text, left, middle);
        return true;
    }
    return false;
}

static void append_marker(struct text_buffer *script, struct layout *layout, const struct figure_marker *marker)
{
    static const double beside[][2] = {{0.6, 0}, {0.6, -1.1}, {0.6, -2.2}, {0.6, -3.3}, {0.6, -4.4}, {0.6, -5.5}};
    static const double along[][2] = {{0, 0.6}, {0, -0.6}, {30, 0.6}, {30, -0.6}, {55, 0.6}};
    const struct figure *figure = layout->figure;
    const struct figure_theme *theme = figure_theme(layout->options->dark);
    char position[32];

    if (!figure_marker_is_drawable(figure, marker))
        return;
    (void)number_format(marker->position, position);
    if (marker->vertical)
        text_buffer_append_format(script, "set arrow from first %s, graph 0 to first %s, graph 1", position, position);
    else
        text_buffer_append_format(script, "set arrow from graph 0, first %s to graph 1, first %s", position, position);
    text_buffer_append_format(script, " nohead dashtype 3 linewidth 1.5 linecolor rgb '%s'\n", theme->muted);
    if (marker->label == NULL || *marker->label == '\0')
        return;
    if (marker->vertical)
        (void)put(script, layout, marker->label, share_of(marker->position, &layout->found->x, figure->x_logarithmic),
                  0.96, beside, sizeof beside / sizeof beside[0]);
    else
        (void)put(script, layout, marker->label, 0.02,
                  share_of(marker->position, &layout->found->y, figure->y_logarithmic), along,
                  sizeof along / sizeof along[0]);
}

/* Not quite black and white: a page that turns ink and paper round must leave these as they are. */
static const char *inside_color(const struct layout *layout, const struct figure_label *label)
{
    if (label->ground == LABEL_ON_PAPER)
        return figure_theme(layout->options->dark)->ink;
    return label->ground == LABEL_ON_DARK ? "#FDFDFD" : "#202020";
}

static void append_inside(struct text_buffer *script, const struct layout *layout, const struct figure_label *label)
{
    char x[32], y[32];

    text_buffer_append(script, "set label ");
    script_append_quoted(script, label->text);
    text_buffer_append_format(script, " at first %s, first %s center front noenhanced", number_format(label->x, x),
                              number_format(label->y, y));
    if (figure_is_text(layout->options))
        text_buffer_append(script, "\n");
    else
        text_buffer_append_format(script, " textcolor rgb '%s' font ',%.3g'\n", inside_color(layout, label),
                                  figure_font_size(layout->options, 13.0));
}

static void append_remark(struct text_buffer *script, struct layout *layout, const struct figure_label *label)
{
    static const double around[DIRECTIONS][2] = {{0.8, 0.6},  {0.8, -0.6},  {0.8, 1.5}, {0.8, -1.5},
                                                 {-4.0, 1.5}, {-4.0, -1.5}, {0.8, 2.5}, {0.8, -2.5}};
    const struct figure *figure = layout->figure;
    double x = share_of(label->x, &layout->found->x, figure->x_logarithmic);
    double y = share_of(label->y, &layout->found->y, figure->y_logarithmic);

    if (isfinite(x) && isfinite(y))
        (void)put(script, layout, label->text, x, y, around, DIRECTIONS);
}

void figure_script_labels(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                          const struct figure_drawable *found)
{
    struct layout layout = {.figure = figure, .options = options, .found = found};

    layout_open(&layout);
    for (size_t m = 0; m < figure->marker_count; m++)
        append_marker(script, &layout, &figure->markers[m]);
    for (size_t i = 0; i < figure->label_count; i++) {
        if (!figure->labels[i].inside)
            append_remark(script, &layout, &figure->labels[i]);
        else if (!figure_is_text(options))
            append_inside(script, &layout, &figure->labels[i]);
    }
}
