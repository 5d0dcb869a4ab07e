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

enum {
    COLUMNS_MIN = 40,
    ROWS_MIN = 12,
    SIZE_MAX_CHARACTERS = 1000,
    PIXELS_MIN = 300,
    PIXELS_MAX = 8000
};

struct plot_options {
    const char *output, *keep, *x, *y, *ledger;
    bool terminal, sixel, dark;
    uint64_t columns, rows, width;
    struct text_list variants;
};

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

/* By the environment, as the C library would: block characters need it. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && *value != '\0')
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL;
    }
    return false;
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
    figure->unicode = locale_is_utf8();
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
    figure->dark = options->dark;
    figure->width = (unsigned)options->width;
    if (options->output != NULL && (options->terminal || options->sixel))
        return error_set(error, STATUS_USAGE, "--output and --%s exclude each other",
                         options->terminal ? "terminal" : "sixel");
    if (options->terminal && options->sixel)
        return error_set(error, STATUS_USAGE, "--terminal and --sixel exclude each other");
    if (options->output != NULL && strcmp(options->output, "-") == 0)
        return error_set(error, STATUS_USAGE,
                         "option --output: \"-\" is not standard output here: name a file, its ending says the kind");
    if (options->output != NULL)
        return kind_of_path(options->output, &figure->output, error);
    figure->output = options->sixel ? FIGURE_OUTPUT_SIXEL : FIGURE_OUTPUT_TERMINAL;
    fit_terminal(options, figure);
    return STATUS_OK;
}

static bool is_table(const char *path)
{
    const char *ending = strrchr(path, '.');

    return ending != NULL && strcmp(ending, ".csv") == 0;
}

static bool takes_files(const struct plot_row *plot, const struct operands *operands)
{
    return plot->needs == PLOT_NEEDS_FILES || plot->needs == PLOT_NEEDS_LEDGER ||
           (plot->needs == PLOT_NEEDS_EITHER && is_table(operands->items[1]));
}

static enum status check_effects(const struct plot_row *plot, const struct plot_options *options,
                                 const struct option_row *rows, size_t row_count, const struct operands *operands,
                                 struct error *error)
{
    const bool from_table = plot->needs == PLOT_NEEDS_EITHER && takes_files(plot, operands);
    const char *output = options->output != NULL ? strrchr(options->output, '.') : "";
    const char *form = options->output != NULL ? "output dark width"
                       : options->sixel        ? "sixel columns rows"
                                               : "terminal columns rows";
    char allowed[320], what[64];

    if (output != NULL && *output != '\0' && strcmp(output, ".png") != 0)
        form = "output dark";
    (void)snprintf(allowed, sizeof allowed, "keep output terminal sixel dark columns rows width %s",
                   from_table ? "" : plot->options);
    (void)snprintf(what, sizeof what, "figure %s%s", plot->name, from_table ? " of a table" : "");
    const enum status status = options_refuse_others(rows, row_count, operands, allowed, what, error);

    if (status != STATUS_OK)
        return status;
    (void)snprintf(allowed, sizeof allowed, "keep %s %s", form, from_table ? "" : plot->options);
    (void)snprintf(what, sizeof what, "%s",
                   options->output != NULL ? output
                   : options->sixel        ? "--sixel"
                                           : "a figure in the terminal");
    return options_refuse_others(rows, row_count, operands, allowed, what, error);
}

/* All that a figure is made from, opened. */
struct plot_inputs {
    struct question question;
    struct device_catalogue *catalogue; /* owned where there is no question */
    struct plot_request request;
};

static enum status open_files(struct plot_inputs *inputs, const struct question_options *options, struct error *error)
{
    const struct gpu_device *from_file = NULL;
    enum status status = device_catalogue_create(&inputs->catalogue, error);

    inputs->request.catalogue = inputs->catalogue;
    if (status == STATUS_OK && options->device_file != NULL)
        status = device_catalogue_add_file(inputs->catalogue, options->device_file, &from_file, error);
    inputs->request.device = from_file;
    if (status == STATUS_OK && options->device != NULL)
        status = device_catalogue_find(inputs->catalogue, options->device, &inputs->request.device, error);
    return status;
}

static enum status open_inputs(const struct plot_row *plot, const struct operands *operands,
                               const struct question_options *options, const struct curve_options *curve,
                               const struct plot_options *plot_options, struct plot_inputs *inputs, struct error *error)
{
    const bool files = takes_files(plot, operands);
    enum status status;

    inputs->request.curve = curve;
    inputs->request.variants = &plot_options->variants;
    inputs->request.x_variable = plot_options->x;
    inputs->request.y_variable = plot_options->y;
    inputs->request.ledger = plot_options->ledger;
    if (operands->count > 2 && (!files || plot->needs == PLOT_NEEDS_EITHER))
        return error_set(error, STATUS_USAGE, "figure %s takes one %s, not %zu", plot->name,
                         files ? "table" : "scenario", operands->count - 1);
    if (files) {
        inputs->request.files = operands->items + 1;
        inputs->request.file_count = operands->count - 1;
        return open_files(inputs, options, error);
    }
    status = question_open(&inputs->question, operands->items[1], options, error);
    inputs->request.question = &inputs->question;
    inputs->request.catalogue = inputs->question.catalogue;
    return status;
}

static enum status draw(const struct plot_row *plot, const struct plot_inputs *inputs,
                        const struct figure_options *figure, struct error *error)
{
    struct figure_sheet *sheet = calloc(1, sizeof *sheet);
    size_t left_out = 0;
    enum status status;

    if (sheet == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the figure");
    status = plot->fill(&inputs->request, sheet, error);
    if (status == STATUS_OK)
        status = figure_draw(&sheet->figure, figure, &left_out, error);
    if (status == STATUS_OK && left_out > 0)
        (void)fprintf(stderr, "occam: plot: %zu points could not be drawn and are left out\n", left_out);
    sheet_release(sheet);
    free(sheet);
    return status;
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
        {0, "sixel", OPTION_FLAG, &plot_options.sixel, 0, 0},
        {0, "dark", OPTION_FLAG, &plot_options.dark, 0, 0},
        {0, "columns", OPTION_COUNT, &plot_options.columns, COLUMNS_MIN, SIZE_MAX_CHARACTERS},
        {0, "rows", OPTION_COUNT, &plot_options.rows, ROWS_MIN, SIZE_MAX_CHARACTERS},
        {0, "width", OPTION_COUNT, &plot_options.width, PIXELS_MIN, PIXELS_MAX},
        {0, "x", OPTION_TEXT, &plot_options.x, 0, 0},
        {0, "variant", OPTION_LIST, &plot_options.variants, 0, 0},
        {0, "y", OPTION_TEXT, &plot_options.y, 0, 0},
        {0, "keep", OPTION_TEXT, &plot_options.keep, 0, 0},
        {0, "ledger", OPTION_TEXT, &plot_options.ledger, 0, 0},
    };
    struct plot_inputs inputs = {0};
    struct figure_options figure = {0};
    const struct plot_row *plot = NULL;
    struct operands operands;
    struct error error = {0};
    enum status status = options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "FIGURE or SCENARIO", 1,
                                       OPERANDS_MAX, &operands, &error);

    if (status == STATUS_OK)
        status = plot_find(operands.items[0], &plot, &error);
    if (status == STATUS_OK && operands.count < 2 && plot->needs != PLOT_NEEDS_LEDGER)
        status =
            error_set(&error, STATUS_USAGE, "%s is missing", plot->needs == PLOT_NEEDS_FILES ? "TABLE" : "SCENARIO");
    if (status == STATUS_OK)
        status = choose_output(&plot_options, &figure, &error);
    if (status == STATUS_OK)
        status = check_effects(plot, &plot_options, rows, sizeof rows / sizeof rows[0], &operands, &error);
    if (status == STATUS_OK)
        status = open_inputs(plot, &operands, &options, &curve_options, &plot_options, &inputs, &error);
    if (status == STATUS_OK && plot_options.keep != NULL)
        status = make_folder(plot_options.keep, &error);
    if (status == STATUS_OK)
        status = draw(plot, &inputs, &figure, &error);
    question_release(&inputs.question);
    device_catalogue_free(inputs.catalogue);
    return status == STATUS_OK ? 0 : command_fail("plot", &error);
}
