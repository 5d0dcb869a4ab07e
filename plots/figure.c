/* SPDX-License-Identifier: GPL-3.0-or-later
 * A figure becomes one gnuplot script: data as inline blocks, every label a single-quoted string that gnuplot neither
 * expands nor executes. gnuplot never sees a path: it draws to its standard output and the file is written here. */
#include "plots/figure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "plots/gnuplot_pipe.h"

enum {
    COLUMNS_DEFAULT = 80,
    ROWS_DEFAULT = 24,
    PIXELS_WIDE = 1000,
    PIXELS_HIGH = 640,
    CAPTION_COLUMNS = 100
};

/* Okabe and Ito, "Color Universal Design" (2008): told apart with every common colour-vision deficiency. Yellow is
 * left out, it cannot be seen on white. */
static const char *const palette[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

static const char *series_color(const struct figure_series *series)
{
    const int count = (int)(sizeof palette / sizeof palette[0]);

    return palette[((series->color_index % count) + count) % count];
}

/* Appends text as gnuplot single-quoted strings, in which nothing but the quote has a meaning; a quote is joined in as
 * ."'". because gnuplot 5.4 misreads a doubled quote at the start of a string. Control characters (a newline would end
 * the command) become spaces, bytes that are not UTF-8 become '?'. */
static void append_quoted(struct text_buffer *script, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text), bad_offset = 0, offset = 0;

    text_buffer_append(script, "'");
    while (offset < length) {
        bool broken = utf8_check(text + offset, length - offset, &bad_offset) != STATUS_OK;
        size_t end = broken ? offset + bad_offset : length;

        for (; offset < end; offset++) {
            unsigned char byte = (unsigned char)text[offset];
            char clean = byte < 0x20 || byte == 0x7f ? ' ' : (char)byte;

            if (clean == '\'')
                text_buffer_append(script, "'.\"'\".'");
            else
                text_buffer_append_bytes(script, &clean, 1);
        }
        if (broken) {
            text_buffer_append(script, "?");
            offset++;
        }
    }
    text_buffer_append(script, "'");
}

/* Appends text wrapped at spaces, as quoted lines joined by ."\n". */
static void append_wrapped(struct text_buffer *script, const char *text, size_t columns)
{
    while (*text != '\0') {
        size_t length = strlen(text), end = length;
        char line[512];

        columns = columns < sizeof line ? columns : sizeof line - 1;
        if (length > columns) {
            for (end = columns; end > 0 && text[end] != ' '; end--)
                ;
            if (end == 0) /* one long word: cut it, but not inside a character */
                for (end = columns; end > 1 && ((unsigned char)text[end] & 0xc0) == 0x80; end--)
                    ;
        }
        memcpy(line, text, end);
        line[end] = '\0';
        text_buffer_append(script, ".\"\\n\".");
        append_quoted(script, line);
        text += end;
        text += strspn(text, " ");
    }
}

/* Smallest and largest value to be seen on one axis. */
struct range {
    double lo, hi;
};

static void range_include(struct range *range, double value)
{
    range->lo = fmin(range->lo, value);
    range->hi = fmax(range->hi, value);
}

/* What of a figure can be drawn. */
struct drawable {
    struct range x, y;
    size_t points, left_out;
};

static bool fits_axis(double value, bool logarithmic)
{
    return isfinite(value) && (!logarithmic || value > 0.0);
}

static bool has_band(const struct figure_series *series)
{
    return series->y_lo != NULL && series->y_hi != NULL;
}

static bool point_is_drawable(const struct figure *figure, const struct figure_series *series, size_t i)
{
    bool y_log = figure->y_logarithmic;

    if (series->style == SERIES_STYLE_BAND && !has_band(series))
        return false;
    if (series->style != SERIES_STYLE_BAND && (series->y == NULL || !fits_axis(series->y[i], y_log)))
        return false;
    if (has_band(series) && (!fits_axis(series->y_lo[i], y_log) || !fits_axis(series->y_hi[i], y_log)))
        return false;
    return fits_axis(series->x[i], figure->x_logarithmic);
}

static bool marker_is_drawable(const struct figure *figure, const struct figure_marker *marker)
{
    return fits_axis(marker->position, marker->vertical ? figure->x_logarithmic : figure->y_logarithmic);
}

static struct drawable survey(const struct figure *figure)
{
    struct drawable found = {.x = {(double)INFINITY, -(double)INFINITY}, .y = {(double)INFINITY, -(double)INFINITY}};

    for (size_t s = 0; s < figure->series_count; s++) {
        const struct figure_series *series = &figure->series[s];

        for (size_t i = 0; i < series->count; i++) {
            if (!point_is_drawable(figure, series, i)) {
                found.left_out++;
                continue;
            }
            found.points++;
            range_include(&found.x, series->x[i]);
            if (series->style != SERIES_STYLE_BAND)
                range_include(&found.y, series->y[i]);
            if (has_band(series)) {
                range_include(&found.y, series->y_lo[i]);
                range_include(&found.y, series->y_hi[i]);
            }
        }
    }
    for (size_t m = 0; m < figure->marker_count; m++)
        if (marker_is_drawable(figure, &figure->markers[m]))
            range_include(figure->markers[m].vertical ? &found.x : &found.y, figure->markers[m].position);
    if (figure->y_from_zero && !figure->y_logarithmic)
        range_include(&found.y, 0.0);
    return found;
}

/* A little air around the data; one point still gets an axis. */
static struct range range_padded(struct range range, bool logarithmic, bool keep_lo)
{
    if (logarithmic) {
        double factor = range.hi > range.lo ? pow(range.hi / range.lo, 0.04) : 2.0;

        return (struct range){range.lo / factor, range.hi * factor};
    }
    double air = range.hi > range.lo ? 0.05 * (range.hi - range.lo) : fmax(1.0, 0.1 * fabs(range.hi));

    return (struct range){keep_lo ? range.lo : range.lo - air, range.hi + air};
}

static void append_range(struct text_buffer *script, char axis, struct range range, bool logarithmic)
{
    char lo[32], hi[32];

    if (logarithmic)
        text_buffer_append_format(script, "set logscale %c\n", axis);
    text_buffer_append_format(script, "set %crange [%s:%s]\n", axis, number_format_digits(range.lo, 12, lo),
                              number_format_digits(range.hi, 12, hi));
}

static void append_terminal(struct text_buffer *script, const struct figure_options *options)
{
    unsigned columns = options->columns == 0 ? COLUMNS_DEFAULT : options->columns;
    unsigned rows = options->rows == 0 ? ROWS_DEFAULT : options->rows;

    text_buffer_append(script, "set encoding utf8\n");
    switch (options->output) {
    case FIGURE_OUTPUT_PNG:
        text_buffer_append_format(script,
                                  "if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
                                  "    set terminal pngcairo noenhanced size %d,%d font 'Sans,12'\n"
                                  "} else {\n"
                                  "    set terminal png noenhanced size %d,%d\n"
                                  "}\n",
                                  PIXELS_WIDE, PIXELS_HIGH, PIXELS_WIDE, PIXELS_HIGH);
        break;
    case FIGURE_OUTPUT_SVG:
        text_buffer_append_format(
            script, "set terminal svg noenhanced size %d,%d font 'sans-serif,14' background rgb '#ffffff'\n",
            PIXELS_WIDE, PIXELS_HIGH);
        break;
    case FIGURE_OUTPUT_PDF:
        text_buffer_append(script, "set terminal pdfcairo noenhanced size 10in,6.4in font 'Sans,13'\n");
        break;
    case FIGURE_OUTPUT_TERMINAL:
        text_buffer_append_format(script, "set terminal dumb noenhanced size %u,%u %s nofeed\n", columns, rows,
                                  options->color ? "ansi256" : "mono");
        break;
    default:
        BUG("unknown figure output %d", (int)options->output);
    }
}

static void append_labels(struct text_buffer *script, const struct figure *figure, const struct figure_options *options)
{
    bool terminal = options->output == FIGURE_OUTPUT_TERMINAL;
    size_t columns = CAPTION_COLUMNS;

    if (terminal)
        columns = options->columns == 0 ? COLUMNS_DEFAULT - 12 : options->columns > 32 ? options->columns - 12 : 20;
    text_buffer_append(script, "set title ");
    append_quoted(script, figure->title);
    text_buffer_append(script, "\nset xlabel ");
    append_quoted(script, figure->x_label);
    if (figure->caption != NULL && *figure->caption != '\0') {
        text_buffer_append(script, terminal ? "" : ".\"\\n\"");
        append_wrapped(script, figure->caption, columns);
    }
    text_buffer_append(script, "\nset ylabel ");
    append_quoted(script, figure->y_label);
    text_buffer_append(script, "\nset key outside top center horizontal noenhanced\n");
    if (!terminal)
        text_buffer_append(script, "set grid linecolor rgb '#dddddd'\nset border 3\nset tics nomirror\n");
}

static void append_markers(struct text_buffer *script, const struct figure *figure)
{
    char position[32];

    for (size_t m = 0; m < figure->marker_count; m++) {
        const struct figure_marker *marker = &figure->markers[m];

        if (!marker_is_drawable(figure, marker))
            continue;
        (void)number_format(marker->position, position);
        if (marker->vertical)
            text_buffer_append_format(script, "set arrow from first %s, graph 0 to first %s, graph 1", position,
                                      position);
        else
            text_buffer_append_format(script, "set arrow from graph 0, first %s to graph 1, first %s", position,
                                      position);
        text_buffer_append(script, " nohead dashtype 3 linecolor rgb '#555555'\nset label ");
        append_quoted(script, marker->label);
        if (marker->vertical)
            text_buffer_append_format(script, " at first %s, graph 0.97 right offset -0.5,0 noenhanced\n", position);
        else
            text_buffer_append_format(script, " at graph 0.02, first %s offset 0,0.5 noenhanced\n", position);
    }
}

/* Columns: x, y (0 for a band), then y_lo and y_hi where there are any. A blank line where points are left out, so
 * that no line is drawn across them. Returns the number of rows written. */
static size_t append_data(struct text_buffer *script, const struct figure *figure, size_t index)
{
    const struct figure_series *series = &figure->series[index];
    size_t rows = 0;
    bool gap = false;
    char number[32];

    text_buffer_append_format(script, "$series%zu << end_of_series\n", index);
    for (size_t i = 0; i < series->count; i++) {
        if (!point_is_drawable(figure, series, i)) {
            gap = rows > 0;
            continue;
        }
        text_buffer_append(script, gap ? "\n" : "");
        gap = false;
        text_buffer_append(script, number_format(series->x[i], number));
        text_buffer_append(script, " ");
        text_buffer_append(script, number_format(series->y == NULL ? 0.0 : series->y[i], number));
        if (has_band(series)) {
            text_buffer_append(script, " ");
            text_buffer_append(script, number_format(series->y_lo[i], number));
            text_buffer_append(script, " ");
            text_buffer_append(script, number_format(series->y_hi[i], number));
        }
        text_buffer_append(script, "\n");
        rows++;
    }
    text_buffer_append(script, "end_of_series\n");
    return rows;
}

static void append_band(struct text_buffer *script, const struct figure_series *series, size_t index, bool terminal)
{
    const char *color = series_color(series);

    if (!terminal) {
        text_buffer_append_format(script,
                                  "$series%zu using 1:3:4 with filledcurves fillstyle transparent solid 0.18 noborder "
                                  "linecolor rgb '%s'",
                                  index, color);
        return;
    }
    /* Filling characters would hide the curve: the two edges as dots. */
    text_buffer_append_format(script,
                              "$series%zu using 1:3 with points pointtype '.' linecolor rgb '%s' notitle, "
                              "$series%zu using 1:4 with points pointtype '.' linecolor rgb '%s'",
                              index, color, index, color);
}

static void append_series(struct text_buffer *script, const struct figure_series *series, size_t index, bool terminal)
{
    unsigned kind = (unsigned)index + 1;
    const char *with = "lines linewidth 2";

    if (series->style == SERIES_STYLE_BAND) {
        append_band(script, series, index, terminal);
    } else {
        if (series->style == SERIES_STYLE_POINTS)
            with = has_band(series) ? "yerrorbars linewidth 2" : "points";
        else if (series->style == SERIES_STYLE_LINE_POINTS)
            with = "linespoints linewidth 2";
        else if (series->style == SERIES_STYLE_STEPS)
            with = "steps linewidth 2";
        else if (series->style == SERIES_STYLE_DASHED)
            with = "lines linewidth 2 dashtype 2";
        text_buffer_append_format(script, "$series%zu using %s with %s linetype %u linecolor rgb '%s'", index,
                                  series->style == SERIES_STYLE_POINTS && has_band(series) ? "1:2:3:4" : "1:2", with,
                                  kind, series_color(series));
        if (series->style == SERIES_STYLE_POINTS || series->style == SERIES_STYLE_LINE_POINTS)
            text_buffer_append_format(script, " pointtype %u", terminal ? kind : 5 + 2 * (kind % 5));
    }
    if (series->label == NULL || *series->label == '\0') {
        text_buffer_append(script, " notitle");
    } else {
        text_buffer_append(script, " title ");
        append_quoted(script, series->label);
    }
}

static void append_script(struct text_buffer *script, const struct figure *figure, const struct figure_options *options,
                          const struct drawable *found)
{
    bool terminal = options->output == FIGURE_OUTPUT_TERMINAL;
    const char *separator = "plot ";

    append_labels(script, figure, options);
    append_range(script, 'x', range_padded(found->x, figure->x_logarithmic, false), figure->x_logarithmic);
    append_range(script, 'y', range_padded(found->y, figure->y_logarithmic, figure->y_from_zero && found->y.lo >= 0.0),
                 figure->y_logarithmic);
    append_markers(script, figure);
    struct text_buffer plot = {0};

    for (size_t s = 0; s < figure->series_count; s++) {
        if (append_data(script, figure, s) == 0)
            continue; /* gnuplot takes an empty block for a mistake */
        text_buffer_append(&plot, separator);
        append_series(&plot, &figure->series[s], s, terminal);
        separator = ", ";
    }
    text_buffer_append_bytes(script, plot.text, plot.length);
    script->failed = script->failed || plot.failed;
    text_buffer_release(&plot);
    text_buffer_append(script, "\n");
}

/* Closes stream too. */
static bool write_and_close(FILE *stream, const char *bytes, size_t length)
{
    bool written = fwrite(bytes, 1, length, stream) == length;

    return fclose(stream) == 0 && written;
}

/* Writes bytes to path whole or not at all: a new file beside it, then renamed. What is not a regular file (a device,
 * a pipe) is written in place, because renaming would replace it. */
static enum status write_whole(const char *path, const char *bytes, size_t length, struct error *error)
{
    struct text_buffer beside = {0};
    struct stat target;
    bool in_place = stat(path, &target) == 0 && !S_ISREG(target.st_mode), written = false;
    FILE *stream = NULL;
    int descriptor, reason;

    text_buffer_append_format(&beside, in_place ? "%s" : "%s.part-%ld", path, (long)getpid());
    if (beside.failed)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while writing %s", path);
    descriptor = open(beside.text, O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_EXCL), 0666);
    if (descriptor >= 0)
        stream = fdopen(descriptor, "wb");
    if (stream != NULL)
        written = write_and_close(stream, bytes, length) && (in_place || rename(beside.text, path) == 0);
    reason = errno;
    if (stream == NULL && descriptor >= 0)
        (void)close(descriptor);
    if (!written && !in_place && descriptor >= 0)
        (void)unlink(beside.text);
    text_buffer_release(&beside);
    if (!written)
        return error_set_at(error, STATUS_IO, path, 0, 0, "cannot be written: %s", strerror(reason));
    return STATUS_OK;
}

static void append_csv_text(struct text_buffer *csv, const char *text)
{
    text_buffer_append(csv, "\"");
    for (; text != NULL && *text != '\0'; text++)
        text_buffer_append(csv, *text == '"' ? "\"\"" : (char[2]){*text, '\0'});
    text_buffer_append(csv, "\"");
}

/* The figure's numbers as series,x,y,y_lo,y_hi; an empty field where there is none. */
static void append_csv(struct text_buffer *csv, const struct figure *figure)
{
    char number[32];

    text_buffer_append(csv, "series,x,y,y_lo,y_hi\n");
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct figure_series *series = &figure->series[s];

        for (size_t i = 0; i < series->count; i++) {
            const double *columns[] = {series->x, series->y, series->y_lo, series->y_hi};

            append_csv_text(csv, series->label);
            for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
                text_buffer_append(csv, ",");
                if (columns[c] != NULL && isfinite(columns[c][i]))
                    text_buffer_append(csv, number_format(columns[c][i], number));
            }
            text_buffer_append(csv, "\n");
        }
    }
}

/* File name without directory and extension, for the kept script; only characters that need no quoting anywhere. */
static void name_stem(const char *path, char stem[64])
{
    const char *base = path == NULL ? "figure" : strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
    size_t length = 0;

    for (; *base != '\0' && *base != '.' && length < 63; base++)
        stem[length++] = strchr("\"'\\`$@|~<> \t\r\n*?", *base) != NULL ? '_' : *base;
    stem[length] = '\0';
    if (length == 0)
        strcpy(stem, "figure");
}

/* The script with the output name that draws it by hand, and the numbers as CSV, into options->keep_directory. */
static enum status keep(const struct figure *figure, const struct figure_options *options,
                        const struct text_buffer *head, const struct text_buffer *body, struct error *error)
{
    static const char *const extensions[] = {"png", "svg", "pdf", ""};
    struct text_buffer script = {0}, csv = {0}, path = {0};
    enum status status = STATUS_OK;
    char stem[64];

    name_stem(options->path, stem);
    text_buffer_append_bytes(&script, head->text, head->length);
    if (options->output != FIGURE_OUTPUT_TERMINAL)
        text_buffer_append_format(&script, "set output '%s.%s'\n", stem, extensions[options->output]);
    text_buffer_append_bytes(&script, body->text, body->length);
    append_csv(&csv, figure);
    text_buffer_append_format(&path, "%s/%s.gp", options->keep_directory, stem);
    if (script.failed || csv.failed || path.failed)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while drawing");
    if (status == STATUS_OK)
        status = write_whole(path.text, script.text, script.length, error);
    text_buffer_clear(&path);
    text_buffer_append_format(&path, "%s/%s.csv", options->keep_directory, stem);
    if (status == STATUS_OK && path.failed)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while drawing");
    if (status == STATUS_OK)
        status = write_whole(path.text, csv.text, csv.length, error);
    text_buffer_release(&script);
    text_buffer_release(&csv);
    text_buffer_release(&path);
    return status;
}

/* dumb starts with a form feed (whatever nofeed says) or an empty line, pads every line and ends without a newline:
 * print the lines without their padding. */
static enum status show(const struct text_buffer *drawing, struct error *error)
{
    const char *text = drawing->text, *end = text + drawing->length;
    bool good = true;

    text += strspn(text, "\f\n");
    while (text < end && good) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((line_end == NULL ? end : line_end) - text), visible = length;

        while (visible > 0 && text[visible - 1] == ' ')
            visible--;
        good = fwrite(text, 1, visible, stdout) == visible && fputc('\n', stdout) != EOF;
        text += length + 1;
    }
    if (!good)
        return error_set(error, STATUS_IO, "cannot write to standard output: %s", strerror(errno));
    return STATUS_OK;
}

enum status figure_draw(const struct figure *figure, const struct figure_options *options, size_t *left_out,
                        struct error *error)
{
    struct text_buffer head = {0}, body = {0}, script = {0}, drawing = {0};
    struct drawable found = survey(figure);
    enum status status = STATUS_OK;

    if (left_out != NULL)
        *left_out = found.left_out;
    if (found.points == 0)
        return error_set(error, STATUS_BAD_DATA, "the figure has no point that can be drawn (%zu left out)",
                         found.left_out);
    if (options->output != FIGURE_OUTPUT_TERMINAL && options->path == NULL)
        BUG("a figure file without a path");
    append_terminal(&head, options);
    append_script(&body, figure, options, &found);
    text_buffer_append_bytes(&script, head.text, head.length);
    text_buffer_append_bytes(&script, body.text, body.length);
    if (head.failed || body.failed || script.failed)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while drawing");
    if (status == STATUS_OK)
        status = gnuplot_run("-d", script.text, script.length, &drawing, error);
    if (status == STATUS_OK && drawing.length == 0)
        status = error_set(error, STATUS_IO, "gnuplot drew nothing");
    if (status == STATUS_OK && options->keep_directory != NULL)
        status = keep(figure, options, &head, &body, error);
    if (status == STATUS_OK && options->output == FIGURE_OUTPUT_TERMINAL)
        status = show(&drawing, error);
    else if (status == STATUS_OK)
        status = write_whole(options->path, drawing.text, drawing.length, error);
    text_buffer_release(&head);
    text_buffer_release(&body);
    text_buffer_release(&script);
    text_buffer_release(&drawing);
    return status;
}

enum status gnuplot_version(char *out, size_t out_size, struct error *error)
{
    struct text_buffer output = {0};
    enum status status = gnuplot_run("--version", NULL, 0, &output, error);
    char version[24], patch_level[24];

    if (status == STATUS_OK) {
        if (output.text != NULL && sscanf(output.text, "gnuplot %23s patchlevel %23s", version, patch_level) == 2)
            (void)snprintf(out, out_size, "%s.%s", version, patch_level);
        else
            status = error_set(error, STATUS_MISSING, "the program gnuplot does not say its version");
    }
    text_buffer_release(&output);
    return status;
}
