/* SPDX-License-Identifier: GPL-3.0-or-later
 * Lines across a figure and remarks at points, placed so that no text covers another. */
#include <math.h>
#include <stdint.h>

#include "plots/figure_private.h"

enum {
    PLACED_MAX = 128, /* texts that are kept apart; more are left out */
    DIRECTIONS = 14,
    INK_COST = 6,
    COST_MAX = 500, /* a text upon filled ground; lines through it cost less */
    COST_MAX_NARROW = 120
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
    struct figure_ink ink;
    size_t count;
    struct place places[PLACED_MAX];
};

static bool is_free(const struct layout *layout, const struct place *place)
{
    const double air = figure_is_text(layout->options) ? layout->column : 0.0;

    if (place->left < 0.0 || place->right > 1.0 || place->bottom < 0.0 || place->top > 1.0)
        return false;
    for (size_t i = 0; i < layout->count; i++) {
        const struct place *other = &layout->places[i];

        if (place->left < other->right + air && other->left < place->right + air && place->bottom < other->top &&
            other->bottom < place->top)
            return false;
    }
    return layout->count < PLACED_MAX;
}

static void layout_open(struct layout *layout)
{
    layout->column = layout->options->narrow ? 0.024 : 0.0125;
    layout->row = layout->options->narrow ? 0.075 : 0.058;
    if (figure_is_text(layout->options)) {
        const struct figure_frame frame = figure_frame_make(layout->figure, layout->options, layout->found);

        layout->column = 1.0 / fmax((double)frame.plotted_columns - 1.0, 1.0);
        layout->row = 1.0 / fmax((double)frame.plotted_rows - 1.0, 1.0);
    }
    figure_ink_make(&layout->ink, layout->figure, layout->found);
}

/* What a text covers whose first character stands at left, middle. In a terminal it stands in whole characters. */
static struct place place_of(const struct layout *layout, double *left, double *middle, double width)
{
    double half_column = 0.0;

    if (figure_is_text(layout->options)) {
        *left = floor(*left / layout->column + 0.5) * layout->column;
        *middle = floor(*middle / layout->row + 0.5) * layout->row;
        half_column = 0.499 * layout->column;
    }
    return (struct place){*left - half_column, *middle - 0.499 * layout->row, *left + width - half_column,
                          *middle + 0.499 * layout->row};
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

/* Of the candidates (rows above or below the point; to the right or the left of it, or above the middle of the text)
 * the first with the least of the figure under it. Returns false where every one lies over another text or outside, or
 * has too much under it. */
static bool put(struct text_buffer *script, struct layout *layout, const char *text, double x, double y,
                const double shifts[][2], size_t shift_count, bool only_if_clear)
{
    const double width = (double)script_text_columns(text) * layout->column;
    size_t least = SIZE_MAX;
    struct place best = {0};
    double best_left = 0.0, best_middle = 0.0;

    for (size_t i = 0; i < 3 * shift_count && least > 0; i++) {
        const double *shift = shifts[i / 3];
        const double centred = fmin(fmax(x - 0.5 * width, layout->column), 1.0 - width);
        double left = i % 3 == 0   ? x + shift[0] * layout->column
                      : i % 3 == 1 ? x - shift[0] * layout->column - width
                                   : centred;
        double middle = y + shift[1] * layout->row;
        const struct place place = place_of(layout, &left, &middle, width);

        if (!is_free(layout, &place))
            continue;
        const size_t under = figure_ink_under(&layout->ink, place.left, place.bottom, place.right, place.top);
        const size_t cost = under == 0 ? 0 : INK_COST * under + i; /* near, rather than quite free far away */
        if (cost < least) {
            least = cost;
            best = place;
            best_left = left;
            best_middle = middle;
        }
    }
    if (least == SIZE_MAX || least > (only_if_clear ? 0 : layout->options->narrow ? COST_MAX_NARROW : COST_MAX))
        return false;
    layout->places[layout->count++] = best;
    append_text(script, layout, text, best_left, best_middle);
    return true;
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
    if (!figure_is_text(layout->options)) {
        (void)number_format(marker->position, position);
        text_buffer_append_format(script,
                                  marker->vertical ? "set arrow from first %s, graph 0 to first %s, graph 1"
                                                   : "set arrow from graph 0, first %s to graph 1, first %s",
                                  position, position);
        text_buffer_append_format(script, " nohead dashtype 3 linewidth 1.5 linecolor rgb '%s'\n", theme->muted);
    }
    if (marker->label == NULL || *marker->label == '\0')
        return;
    if (marker->vertical)
        (void)put(script, layout, marker->label,
                  figure_share(marker->position, &layout->found->x, figure->x_logarithmic), 0.96, beside,
                  sizeof beside / sizeof beside[0], false);
    else
        (void)put(script, layout, marker->label, 0.02,
                  figure_share(marker->position, &layout->found->y, figure->y_logarithmic), along,
                  sizeof along / sizeof along[0], false);
}

/* Not quite black and white: a page that turns ink and paper round must leave these as they are. */
static const char *inside_color(const struct layout *layout, const struct figure_label *label)
{
    if (label->ground == LABEL_ON_PAPER)
        return figure_theme(layout->options->dark)->ink;
    return label->ground == LABEL_ON_DARK ? "#FDFDFD" : "#202020";
}

/* Whether texts in cells have room beside each other in a terminal; a single letter always has. */
static bool insides_fit(const struct layout *layout)
{
    const struct figure *figure = layout->figure;
    double widest = 0.0;

    for (size_t i = 0; i < figure->label_count; i++)
        if (figure->labels[i].inside)
            widest = fmax(widest, (double)script_text_columns(figure->labels[i].text) + 2.0);
    return figure->x_tick_count > 0 && widest * layout->column * (double)figure->x_tick_count <= 1.0;
}

/* In a terminal with a space on both sides, as it stands among digits. */
static void append_inside_text(struct text_buffer *script, const struct layout *layout,
                               const struct figure_label *label)
{
    const double columns = (double)script_text_columns(label->text) + 2.0;
    double x = figure_share(label->x, &layout->found->x, layout->figure->x_logarithmic) -
               0.5 * (columns - 1.0) * layout->column;
    double y = figure_share(label->y, &layout->found->y, layout->figure->y_logarithmic);
    struct text_buffer spaced = {0};

    (void)place_of(layout, &x, &y, 0.0);
    text_buffer_append_format(&spaced, " %s ", label->text);
    append_text(script, layout, spaced.failed ? "" : spaced.text, x, y);
    script->failed = script->failed || spaced.failed;
    text_buffer_release(&spaced);
}

static void append_inside(struct text_buffer *script, const struct layout *layout, const struct figure_label *label,
                          bool fit)
{
    char x[32], y[32];

    if (figure_is_text(layout->options)) {
        if (fit || script_text_columns(label->text) == 1)
            append_inside_text(script, layout, label);
        return;
    }
    text_buffer_append(script, "set label ");
    script_append_quoted(script, label->text);
    text_buffer_append_format(script,
                              " at first %s, first %s center front noenhanced textcolor rgb '%s' font ',%.3g'\n",
                              number_format(label->x, x), number_format(label->y, y), inside_color(layout, label),
                              figure_font_size(layout->options, layout->options->narrow ? 11.0 : 13.0));
}

static void append_remark(struct text_buffer *script, struct layout *layout, const struct figure_label *label)
{
    static const double around[DIRECTIONS][2] = {{0.8, 0.6},  {0.8, -0.6}, {-3.0, 0.9},  {-3.0, -0.9}, {0.8, 1.2},
                                                 {0.8, -1.2}, {-4.0, 1.5}, {-4.0, -1.5}, {0.8, 1.8},   {0.8, -1.8},
                                                 {0.8, 2.5},  {0.8, -2.5}, {0.8, 3.2},   {0.8, -3.2}};
    static const double near[][2] = {{1.0, 1.0}, {1.0, -1.0}, {-2.0, 1.0}, {-2.0, -1.0}, {2.0, 0.0}};
    const struct figure *figure = layout->figure;
    double x = figure_share(label->x, &layout->found->x, figure->x_logarithmic);
    double y = figure_share(label->y, &layout->found->y, figure->y_logarithmic);

    if (isfinite(x) && isfinite(y))
        (void)(figure_is_text(layout->options)
                   ? put(script, layout, label->text, x, y, near, sizeof near / sizeof near[0], true)
                   : put(script, layout, label->text, x, y, around, DIRECTIONS, false));
}

void figure_script_labels(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                          const struct figure_drawable *found)
{
    struct layout layout = {.figure = figure, .options = options, .found = found};

    layout_open(&layout);
    const bool fit = insides_fit(&layout);
    for (size_t m = 0; m < figure->marker_count; m++)
        append_marker(script, &layout, &figure->markers[m]);
    for (size_t i = 0; i < figure->label_count; i++) {
        if (!figure->labels[i].inside)
            append_remark(script, &layout, &figure->labels[i]);
        else
            append_inside(script, &layout, &figure->labels[i], fit);
    }
    figure_ink_release(&layout.ink);
}
