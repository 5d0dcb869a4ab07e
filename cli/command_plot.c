/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam plot`: picks the figure, the file kind and the size; the figures are in plot_NAME.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/plot_table.h"

static const struct plot_row plots[] = {
    {"throughput", plot_throughput},
};
enum {
    PLOT_COUNT = sizeof plots / sizeof plots[0],
    COLUMNS_MIN = 40,
    ROWS_MIN = 12,
    SIZE_MAX_CHARACTERS = 1000
};

struct plot_options {
    const char *output, *keep;
    bool terminal;
    uint64_t columns, rows;
};

static enum status plot_find(const char *name, const struct plot_row **row, struct error *error)
{
    const char *names[PLOT_COUNT];

    for (size_t i = 0; i < PLOT_COUNT; i++) {
        *row = &plots[i];
        names[i] = plots[i].name;
        if (strcmp(plots[i].name, name) == 0)
            return STATUS_OK;
    }
    (void)error_set(error, STATUS_USAGE, "unknown figure \"%s\" (occam help plot lists them)", name);
    near_names_append(error, name, names, PLOT_COUNT);
    return STATUS_USAGE;
}

static enum status kind_of_path(const char *path, enum figure_output *output, struct error *error)
{
    static const struct {
        const char *ending;
        enum figure_output output;
    } kinds[] = {{".png", FIGURE_OUTPUT_PNG}, {".svg", FIGURE_OUTPUT_SVG}, {".pdf", FIGURE_OUTPUT_PDF}};
    const char *ending = strrchr(path, '.');

    for (size_t i = 0; ending != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        *output = kinds[i].output;
        if (strcmp(ending, kinds[i].ending) == 0)
            return STATUS_OK;
    }
    return error_set(error, STATUS_USAGE, "option --output: \"%s\" ends in none of .png, .svg, .pdf", path);
}

/* A size from the environment variable, as shells export it; 0 where it is absent or no size. */
static unsigned size_from_environment(const char *name)
{
    const char *text = getenv(name);
    double value;

    if (text == NULL || number_parse(text, &value) != STATUS_OK || value < 1.0 || value > SIZE_MAX_CHARACTERS)
        return 0;
    return (unsigned)value;
}

/* The window's size, else COLUMNS and LINES, else the figure's default; one row is left for the prompt. */
static void fit_terminal(const struct plot_options *options, struct figure_options *figure)
{
    struct winsize window = {0};
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    bool is_terminal = isatty(STDOUT_FILENO) == 1;

    if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 1) {
        figure->columns = window.ws_col;
        figure->rows = (unsigned)window.ws_row - 1;
    } else {
        figure->columns = size_from_environment("COLUMNS");
        figure->rows = size_from_environment("LINES");
    }
    if (options->columns > 0)
        figure->columns = (unsigned)options->columns;
    if (options->rows > 0)
        figure->rows = (unsigned)options->rows;
    if (figure->columns > 0 && figure->columns < COLUMNS_MIN)
        figure->columns = COLUMNS_MIN; /* a narrower window wraps; gnuplot cannot draw axes in it */
    if (figure->rows > 0 && figure->rows < ROWS_MIN)
        figure->rows = ROWS_MIN;
    figure->color = is_terminal && (no_color == NULL || *no_color == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

/* --keep DIR makes the folder (not its parents); plots/ writes into it. */
static enum status make_folder(const char *path, struct error *error)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return error_set(error, STATUS_IO, "option --keep: cannot create %s: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status choose_output(const struct plot_options *options, struct figure_options *figure, struct error *error)
{
    figure->keep_directory = options->keep;
    figure->path = options->output;
    if (options->output != NULL && options->terminal)
        return error_set(error, STATUS_USAGE, "--output and --terminal exclude each other");
    if (options->output != NULL)
        return kind_of_path(options->output, &figure->output, error);
    figure->output = FIGURE_OUTPUT_TERMINAL;
    fit_terminal(options, figure);
    return STATUS_OK;
}

int command_plot(int argc, char **argv)
{
    struct question_options options = {.level = QUESTION_LEVEL_DEFAULT, .form_only = true};
    struct curve_options curve_options = CURVE_OPTIONS_NONE;
    struct plot_options plot_options = {0};
    const struct option_row rows[] = {
        QUESTION_OPTION_ROWS(options),
        CURVE_OPTION_ROWS(curve_options),
        {'o', "output", OPTION_TEXT, &plot_options.output, 0, 0},
        {0, "terminal", OPTION_FLAG, &plot_options.terminal, 0, 0},
        {0, "columns", OPTION_COUNT, &plot_options.columns, COLUMNS_MIN, SIZE_MAX_CHARACTERS},
        {0, "rows", OPTION_COUNT, &plot_options.rows, ROWS_MIN, SIZE_MAX_CHARACTERS},
        {0, "keep", OPTION_TEXT, &plot_options.keep, 0, 0},
    };
    struct question question = {0};
    struct figure_options figure = {0};
    const struct plot_row *plot = NULL;
    struct operands operands;
    struct error error = {0};
    size_t left_out = 0;
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "FIGURE or SCENARIO", 2, 2, &operands, &error);

    if (status == STATUS_OK)
        status = plot_find(operands.items[0], &plot, &error);
    if (status == STATUS_OK)
        status = choose_output(&plot_options, &figure, &error);
    if (status == STATUS_OK)
        status = question_open(&question, operands.items[1], &options, &error);
    if (status == STATUS_OK && plot_options.keep != NULL)
        status = make_folder(plot_options.keep, &error);
    if (status == STATUS_OK)
        status = plot->draw(&(struct plot_request){&question, &curve_options, &figure}, &left_out, &error);
    question_release(&question);
    if (status != STATUS_OK)
        return command_fail("plot", &error);
    if (left_out > 0)
        (void)fprintf(stderr, "occam: plot: %zu points could not be drawn and are left out\n", left_out);
    return 0;
}
