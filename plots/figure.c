/* SPDX-License-Identifier: GPL-3.0-or-later
 * Draws figures: script to gnuplot, drawing to a file or the terminal. gnuplot never sees a path: it draws to its
 * standard output and the file is written here. */
#include "plots/figure.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plots/figure_private.h"
#include "plots/gnuplot_pipe.h"

enum {
    OLDEST_GNUPLOT = 5 /* data blocks, dash types, characters as points */
};

/* Closes stream too. */
static bool write_and_close(FILE *stream, const char *bytes, size_t length)
{
    bool written = fwrite(bytes, 1, length, stream) == length;

    return fclose(stream) == 0 && written;
}

/* Signals that end the program wait while a file stands under its first name. */
static void hold_signals(sigset_t *before)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    sigset_t held;

    (void)sigemptyset(&held);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        (void)sigaddset(&held, ending[i]);
    (void)pthread_sigmask(SIG_BLOCK, &held, before);
}

/* What is not a regular file (a device, a pipe) is written in place, because renaming would replace it. */
static bool write_in_place(const char *path, const char *bytes, size_t length)
{
    FILE *stream = fopen(path, "wbe");

    return stream != NULL && write_and_close(stream, bytes, length);
}

/* A new file beside path, then renamed. Returns the reason of a failure in errno. */
static bool write_beside(const char *path, const char *beside, const char *bytes, size_t length)
{
    const int descriptor = open(beside, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    const bool written = stream != NULL && write_and_close(stream, bytes, length) && rename(beside, path) == 0;
    const int reason = errno;

    if (stream == NULL && descriptor >= 0)
        (void)close(descriptor);
    if (!written && descriptor >= 0)
        (void)unlink(beside);
    errno = reason;
    return written;
}

enum status figure_write_file(const char *path, const char *bytes, size_t length, struct error *error)
{
    struct text_buffer beside = {0};
    struct stat target;
    sigset_t before;
    bool written;

    text_buffer_append_format(&beside, "%s.part-%ld", path, (long)getpid());
    if (beside.failed)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while writing %s", path);
    if (stat(path, &target) == 0 && !S_ISREG(target.st_mode)) {
        written = write_in_place(path, bytes, length);
    } else {
        hold_signals(&before);
        written = write_beside(path, beside.text, bytes, length);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    const int reason = errno;
    text_buffer_release(&beside);
    if (!written)
        return error_set_at(error, STATUS_IO, path, 0, 0, "cannot be written: %s", strerror(reason));
    return STATUS_OK;
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

static enum status keep_one(const char *directory, const char *stem, const char *ending, const struct text_buffer *text,
                            struct error *error)
{
    struct text_buffer path = {0};
    enum status status = STATUS_OK;

    text_buffer_append_format(&path, "%s/%s.%s", directory, stem, ending);
    if (path.failed || text->failed)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out while drawing");
    if (status == STATUS_OK)
        status = figure_write_file(path.text, text->text, text->length, error);
    text_buffer_release(&path);
    return status;
}

/* The script with the output name that draws it by hand, and the numbers as CSV, into options->keep_directory. */
static enum status keep(const struct figure *figure, const struct figure_options *options, const char *stem,
                        const struct figure_drawable *found, struct error *error)
{
    static const char *const extensions[] = {"png", "svg", "pdf", "", ""};
    struct text_buffer script = {0}, csv = {0};
    enum status status;

    figure_script_terminal(&script, options, figure_frame_make(figure, options, found).rows);
    if (*extensions[options->output] != '\0')
        text_buffer_append_format(&script, "set output '%s.%s'\n", stem, extensions[options->output]);
    figure_script_body(&script, figure, options, found);
    figure_append_csv(&csv, figure);
    status = keep_one(options->keep_directory, stem, "gp", &script, error);
    if (status == STATUS_OK)
        status = keep_one(options->keep_directory, stem, "csv", &csv, error);
    text_buffer_release(&script);
    text_buffer_release(&csv);
    return status;
}

/* block fills what is empty with spaces that do not break (U+00A0): made plain spaces, in place. */
static void plain_spaces(char *text, size_t *length)
{
    static const char hard_space[] = "\xc2\xa0";
    size_t kept = 0;

    for (size_t i = 0; i < *length; i++) {
        const bool hard = i + 1 < *length && memcmp(text + i, hard_space, 2) == 0;

        text[kept++] = hard ? ' ' : text[i];
        i += hard;
    }
    text[kept] = '\0';
    *length = kept;
}

/* dumb starts with a form feed (whatever nofeed says) or an empty line, both terminals pad every line and end without a
 * newline: print the lines without their padding. */
static enum status show(struct text_buffer *drawing, struct error *error)
{
    bool good = true;

    plain_spaces(drawing->text, &drawing->length);
    const char *text = drawing->text, *end = text + drawing->length;
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

static enum status show_bytes(const struct text_buffer *drawing, struct error *error)
{
    if (fwrite(drawing->text, 1, drawing->length, stdout) != drawing->length || fflush(stdout) != 0)
        return error_set(error, STATUS_IO, "cannot write to standard output: %s", strerror(errno));
    return STATUS_OK;
}

/* A gnuplot that is too old fails in many ways: its version says more than its complaint. */
static enum status judge_failure(enum status status, struct error *error)
{
    struct error ignored = {0};
    char version[32];

    if (status != STATUS_IO || gnuplot_version(version, sizeof version, &ignored) != STATUS_OK)
        return status;
    if (strtol(version, NULL, 10) >= OLDEST_GNUPLOT) /* "5.4.4" */
        return status;
    return error_set(error, STATUS_MISSING, "gnuplot %s is too old, 5.0 or newer is needed (package gnuplot-nox)",
                     version);
}

static enum status run_gnuplot(const struct text_buffer *script, struct text_buffer *drawing, struct error *error)
{
    enum status status;

    if (script->failed)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while drawing");
    status = gnuplot_run("-d", script->text, script->length, drawing, error);
    if (status == STATUS_OK && drawing->length == 0)
        status = error_set(error, STATUS_IO, "gnuplot drew nothing");
    return judge_failure(status, error);
}

bool figure_has_points(const struct figure *figure)
{
    return figure_survey(figure).points > 0;
}

static enum status survey(const struct figure *figure, struct figure_drawable *found, struct error *error)
{
    *found = figure_survey(figure);
    if (found->points == 0)
        return error_set(error, STATUS_BAD_DATA, "the figure has no point that can be drawn (%zu left out)",
                         found->left_out);
    return STATUS_OK;
}

static bool is_shown(const struct figure_options *options)
{
    return options->output == FIGURE_OUTPUT_TERMINAL || options->output == FIGURE_OUTPUT_SIXEL;
}

enum status figure_draw(const struct figure *figure, const struct figure_options *options, size_t *left_out,
                        struct error *error)
{
    struct text_buffer script = {0}, drawing = {0};
    struct figure_drawable found;
    enum status status = survey(figure, &found, error);
    char stem[64];

    if (left_out != NULL)
        *left_out = found.left_out;
    if (status != STATUS_OK)
        return status;
    if (!is_shown(options) && options->path == NULL)
        BUG("a figure file without a path");
    name_stem(options->path, stem);
    figure_script_terminal(&script, options, figure_frame_make(figure, options, &found).rows);
    figure_script_body(&script, figure, options, &found);
    status = run_gnuplot(&script, &drawing, error);
    if (status == STATUS_OK && options->keep_directory != NULL)
        status = keep(figure, options, stem, &found, error);
    if (status == STATUS_OK && options->output == FIGURE_OUTPUT_SIXEL)
        status = show_bytes(&drawing, error);
    else if (status == STATUS_OK && options->output == FIGURE_OUTPUT_TERMINAL)
        status = show(&drawing, error);
    else if (status == STATUS_OK)
        status = figure_write_file(options->path, drawing.text, drawing.length, error);
    text_buffer_release(&script);
    text_buffer_release(&drawing);
    return status;
}

/* gnuplot writes one document after the other: cuts them apart. */
static enum status split_drawings(const struct text_buffer *all, size_t count, struct text_buffer *drawings,
                                  struct error *error)
{
    static const char ending[] = "</svg>";
    const char *begin = all->text, *end;

    for (size_t i = 0; i < count; i++) {
        end = begin == NULL ? NULL : strstr(begin, ending);
        if (end == NULL)
            return error_set(error, STATUS_IO, "gnuplot drew %zu of %zu figures", i, count);
        end += sizeof ending - 1;
        text_buffer_append_bytes(&drawings[i], begin, (size_t)(end - begin));
        text_buffer_append(&drawings[i], "\n");
        if (drawings[i].failed)
            return error_set(error, STATUS_NO_MEMORY, "memory ran out while drawing");
        begin = end + strspn(end, " \r\n");
    }
    return STATUS_OK;
}

enum status figures_draw_svg(const struct figure *const *figures, const char *const *names, size_t count,
                             const struct figure_options *options, struct text_buffer *drawings, struct error *error)
{
    struct figure_options svg = *options;
    struct text_buffer script = {0}, all = {0};
    struct figure_drawable found;
    enum status status = STATUS_OK;
    char stem[64];

    svg.output = FIGURE_OUTPUT_SVG;
    figure_script_terminal(&script, &svg, 0);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = survey(figures[i], &found, error);
        if (status != STATUS_OK)
            break;
        figure_script_body(&script, figures[i], &svg, &found);
        name_stem(names[i], stem);
        if (options->keep_directory != NULL)
            status = keep(figures[i], &svg, stem, &found, error);
    }
    if (status == STATUS_OK && count > 0)
        status = run_gnuplot(&script, &all, error);
    if (status == STATUS_OK)
        status = split_drawings(&all, count, drawings, error);
    text_buffer_release(&script);
    text_buffer_release(&all);
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
