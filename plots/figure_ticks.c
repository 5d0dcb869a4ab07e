/* SPDX-License-Identifier: GPL-3.0-or-later
 * Where the axes are labelled: places that the figure names, 1-2-5 on short logarithmic axes, whole numbers. */
#include <math.h>
#include <stdio.h>

#include "plots/figure_private.h"

enum {
    TICK_COLUMNS_MAX = 64,  /* a longer row of labels along the x axis is written slanting */
    LOG_TICKS_MAX = 9,      /* labels of 1-2-5 that an axis has room for */
    LOG_TICKS_TEXT_MAX = 7, /* in characters */
    LOG_TICKS_MIN = 3,
    LOG_DECADES_MAX = 6, /* of a longer axis only whole decades have ticks */
    STEPS_MAX = 12,      /* more than the steps of an axis that is longer than a rounding error */
    WHOLE_TICKS_MAX = 10,
    NARROW_TICKS_MAX = 6
};

/* The nice number (1, 2 or 5 times a power of ten) that is at least value. */
static double nice_step(double value)
{
    const double decade = pow(10.0, floor(log10(value)));
    const double share = value / decade;

    return decade * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

static bool is_in(double value, struct figure_range range)
{
    return value >= range.lo * (1.0 - 1e-9) && value <= range.hi * (1.0 + 1e-9);
}

static bool is_labelled(int digit)
{
    return digit == 1 || digit == 2 || digit == 5;
}

static size_t count_labels(struct figure_range range)
{
    size_t count = 0;

    for (int decade = (int)floor(log10(range.lo)); decade <= (int)floor(log10(range.hi)); decade++)
        for (int digit = 1; digit < 10; digit++)
            count += is_labelled(digit) && is_in(digit * pow(10.0, decade), range);
    return count;
}

static void append_place(struct text_buffer *script, bool *first, double value, bool labelled)
{
    char position[32], label[32] = "";

    if (labelled && value >= 1e6)
        (void)snprintf(label, sizeof label, "%.3g", value);
    else if (labelled)
        (void)number_format_digits(value, 6, label);
    text_buffer_append_format(script, "%s'%s' %s%s", *first ? "" : ", ", label,
                              number_format_digits(value, 12, position), labelled ? "" : " 1");
    *first = false;
}

/* A very short axis: steps as on a linear one. */
static void append_steps(struct text_buffer *script, char axis, struct figure_range range)
{
    const double step = nice_step((range.hi - range.lo) / 5.0), least = ceil(range.lo / step);
    bool first = true;

    text_buffer_append_format(script, "set %ctics (", axis);
    for (int i = 0; i < STEPS_MAX && (least + i) * step <= range.hi; i++)
        append_place(script, &first, (least + i) * step, true);
    text_buffer_append(script, ")\n");
}

/* Every decade, or every so many of a long axis, with the places between where there is room for them. */
static void append_decades(struct text_buffer *script, char axis, struct figure_range range, size_t room)
{
    const int least = (int)ceil(log10(range.lo) - 1e-9), most = (int)floor(log10(range.hi) + 1e-9);
    const int step = (most - least) / (int)room + 1;
    bool first = true;

    text_buffer_append_format(script, "set %ctics (", axis);
    for (int decade = least - 1; decade <= most; decade++)
        for (int digit = 1; digit < (most - least <= LOG_DECADES_MAX ? 10 : 2); digit++)
            if (is_in(digit * pow(10.0, decade), range))
                append_place(script, &first, digit * pow(10.0, decade), digit == 1 && (decade - least) % step == 0);
    text_buffer_append(script, ")\n");
}

/* gnuplot labels whole decades alone, of which an axis of less than three shows few or none; gnuplot 6 labels some
 * places between, which in characters stand over each other. */
static void append_log_ticks(struct text_buffer *script, char axis, struct figure_range range, bool is_text)
{
    const double decades = log10(range.hi / range.lo);
    const size_t room = is_text ? LOG_TICKS_TEXT_MAX : LOG_TICKS_MAX;
    size_t count;
    bool first = true;

    if (!(decades > 0.0))
        return;
    count = count_labels(range);
    if (count < LOG_TICKS_MIN) {
        append_steps(script, axis, range);
        return;
    }
    if (decades >= 2.0 && count > room) {
        append_decades(script, axis, range, room);
        return;
    }
    text_buffer_append_format(script, "set %ctics (", axis);
    for (int decade = (int)floor(log10(range.lo)); decade <= (int)floor(log10(range.hi)); decade++)
        for (int digit = 1; digit < 10; digit++)
            if (is_in(digit * pow(10.0, decade), range))
                append_place(script, &first, digit * pow(10.0, decade), is_labelled(digit));
    text_buffer_append(script, ")\n");
}

/* A name for each place where the names do not fit. */
static char letter_of(size_t i)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    return i < sizeof letters - 1 ? letters[i] : '?';
}

bool figure_ticks_are_letters(const struct figure *figure, const struct figure_options *options)
{
    const size_t columns = figure_columns(options);
    size_t needed = 0;

    if (!figure_is_text(options))
        return false;
    for (size_t i = 0; i < figure->x_tick_count; i++)
        needed += script_text_columns(figure->x_ticks[i].label) + 1;
    return needed > (columns > 14 ? columns - 14 : 1);
}

void figure_append_tick_letters(struct text_buffer *caption, const struct figure *figure)
{
    for (size_t i = 0; i < figure->x_tick_count; i++)
        text_buffer_append_format(caption, "%s%c %s", i == 0 ? "" : ", ", letter_of(i), figure->x_ticks[i].label);
    text_buffer_append(caption, ".");
}

static void append_named(struct text_buffer *script, char axis, const struct figure_tick *ticks, size_t count,
                         bool letters, size_t room)
{
    size_t columns = 0;
    char number[32];

    for (size_t i = 0; i < count; i++)
        columns += script_text_columns(ticks[i].label) + 1;
    const bool slanting = axis == 'x' && columns > room && !letters;

    text_buffer_append_format(script, "set %ctics %s%s (", axis, slanting ? "rotate by 55 right" : "norotate",
                              slanting && room < TICK_COLUMNS_MAX ? " font ',11'" : "");
    for (size_t i = 0; i < count; i++) {
        text_buffer_append(script, i == 0 ? "" : ", ");
        if (letters)
            text_buffer_append_format(script, "'%c'", letter_of(i));
        else
            script_append_quoted(script, ticks[i].label);
        text_buffer_append_format(script, " %s", number_format_digits(ticks[i].position, 12, number));
    }
    text_buffer_append(script, ")\n");
}

/* Counts have no halves. */
static void append_whole(struct text_buffer *script, const char *axis, struct figure_range range, double count)
{
    const double step = nice_step(fmax(1.0, (range.hi - range.lo) / count));
    char number[32];

    text_buffer_append_format(script, "set %stics %s\n", axis, number_format_digits(step, 12, number));
}

/* As many labels as can be read; gnuplot writes them over each other where there is little room. */
static void append_few(struct text_buffer *script, const char *axis, struct figure_range range, double count)
{
    const double step = nice_step((range.hi - range.lo) / count);
    char number[32];

    text_buffer_append_format(script, "set %stics %s\n", axis, number_format_digits(step, 12, number));
}

static void append_y_ticks(struct text_buffer *script, const struct figure *figure,
                           const struct figure_options *options, const struct figure_drawable *found)
{
    const bool text = figure_is_text(options);
    const unsigned rows = text ? figure_frame_make(figure, options, found).plotted_rows : 0;

    if (figure->y_tick_count > 0)
        append_named(script, 'y', figure->y_ticks, figure->y_tick_count, false, 0);
    else if (figure->y_logarithmic)
        append_log_ticks(script, 'y', found->y, text);
    else if (text)
        append_few(script, "y", found->y, 0.5 * rows);
    else if (figure->y_whole)
        append_whole(script, "y", found->y, WHOLE_TICKS_MAX);
    if (text && found->y2.lo < found->y2.hi)
        append_few(script, "y2", found->y2, 0.5 * rows);
}

void figure_script_ticks(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                         const struct figure_drawable *found)
{
    if (figure->x_tick_count > 0)
        append_named(script, 'x', figure->x_ticks, figure->x_tick_count, figure_ticks_are_letters(figure, options),
                     options->narrow ? TICK_COLUMNS_MAX / 2 : TICK_COLUMNS_MAX);
    else if (figure->x_logarithmic)
        append_log_ticks(script, 'x', found->x, figure_is_text(options) || options->narrow);
    else if (figure->x_whole)
        append_whole(script, "x", found->x, options->narrow ? NARROW_TICKS_MAX : WHOLE_TICKS_MAX);
    else if (options->narrow)
        append_few(script, "x", found->x, NARROW_TICKS_MAX);
    append_y_ticks(script, figure, options, found);
}
