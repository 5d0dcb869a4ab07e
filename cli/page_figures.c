/* SPDX-License-Identifier: GPL-3.0-or-later
 * The figures of a report: those of the scenario, and those that tables allow, told apart by their columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page_report.h"

/* A table's header is looked at, no more. */
enum {
    HEADER_BYTES = 8192
};

/* Which figures a column stands for. */
static const struct {
    const char *column, *figures[2];
} table_kinds[] = {{"start_us", {"timeline", NULL}},
                   {"smid", {"timeline", NULL}},
                   {"forecast", {"regret", NULL}}, /* the record of tune */
                   {"coverage_90_percent", {"scorecard", NULL}},
                   {"fraction", {"regret", NULL}},
                   {"predicted_us", {"parity", "errors"}}};

static bool header_has(const char *header, const char *column)
{
    const size_t length = strlen(column);

    for (const char *at = strstr(header, column); at != NULL; at = strstr(at + 1, column))
        if ((at == header || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* The first line that is no comment; "" where the file cannot be read. */
static void read_header(const char *path, char header[HEADER_BYTES])
{
    FILE *stream = fopen(path, "r");

    header[0] = '\0';
    if (stream == NULL)
        return;
    while (fgets(header, HEADER_BYTES, stream) != NULL && header[0] == '#')
        ;
    header[strcspn(header, "\r\n")] = '\0';
    (void)fclose(stream);
}

/* Figures of a table, NULL-terminated pair; NULL: it is none. Bandwidth benchmarks have predictions' columns too. */
static const char *const *figures_of(const char *path)
{
    static const char *const bandwidth[2] = {"saturation", NULL}, *const ledger[2] = {"scorecard", NULL};
    char header[HEADER_BYTES];

    if (plot_file_is_ledger(path))
        return ledger;
    read_header(path, header);
    if (header_has(header, "figures") && (header_has(header, "lane_bytes") || header_has(header, "row_count")))
        return bandwidth;
    for (size_t i = 0; i < sizeof table_kinds / sizeof table_kinds[0]; i++)
        if (header_has(header, table_kinds[i].column))
            return table_kinds[i].figures;
    return NULL;
}

bool report_is_figure_table(const char *path)
{
    return figures_of(path) != NULL;
}

bool report_table_has_knobs(const char *path, const struct scenario *scenario)
{
    char header[HEADER_BYTES];

    read_header(path, header);
    for (size_t i = 0; i < scenario_knob_count(scenario); i++)
        if (!header_has(header, scenario_variable_get(scenario, i)->name))
            return false;
    return header_has(header, "time_us");
}

/* Fills one figure; what the question does not allow is its reason; what went wrong here, and a name or a file of the
 * command line that cannot be meant, is the status. */
static enum status add_figure(struct report_answer *answer, const char *figure, const struct plot_request *request,
                              size_t number, struct error *error)
{
    struct report_figure *added = &answer->figures[answer->figure_count];
    struct error reason = {0};

    if (answer->figure_count == REPORT_FIGURES_MAX)
        return error_set(error, STATUS_LIMIT, "more than %d figures", REPORT_FIGURES_MAX);
    enum status status = plot_find(figure, &added->row, error);
    if (status != STATUS_OK)
        return status;
    added->sheet = calloc(1, sizeof *added->sheet);
    if (added->sheet == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the figures");
    answer->figure_count++;
    added->name = number == 0 ? figure : sheet_text(added->sheet, "%s-%zu", figure, number + 1);
    status = added->row->fill(request, added->sheet, &reason);
    if (status == STATUS_OK && !figure_has_points(&added->sheet->figure))
        status = error_set(&reason, STATUS_DOMAIN, "there is nothing to draw");
    if (status == STATUS_OK)
        return STATUS_OK;
    const bool of_command_line =
        status == STATUS_USAGE || status == STATUS_NOT_FOUND ||
        (request->question != NULL && request->curve->measured.count > 0 && status == STATUS_BAD_DATA);
    if (status == STATUS_NO_MEMORY || of_command_line) {
        *error = reason;
        return status;
    }
    (void)error_describe(&reason, added->reason, sizeof added->reason);
    return STATUS_OK;
}

static enum status add_scenario_figures(struct report_answer *answer, struct error *error)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < plot_count && status == STATUS_OK; i++)
        if (plot_table[i].needs == PLOT_NEEDS_SCENARIO || plot_table[i].needs == PLOT_NEEDS_EITHER)
            status = add_figure(answer, plot_table[i].name, &answer->request, 0, error);
    return status;
}

static size_t used_before(const struct report_answer *answer, const char *figure)
{
    size_t count = 0;

    for (size_t i = 0; i < answer->figure_count; i++)
        count += strcmp(answer->figures[i].row->name, figure) == 0;
    return count;
}

/* Tables of the same benchmark of the same kind are one figure. */
static enum status add_saturation(struct report_answer *answer, struct error *error)
{
    struct plot_request request = answer->request;
    const char *files[TEXT_LIST_MAX];

    request.question = NULL;
    request.files = files;
    request.file_count = 0;
    for (size_t i = 0; i < answer->tables->count; i++) {
        const char *const *figures = figures_of(answer->tables->items[i]);

        if (figures != NULL && strcmp(figures[0], "saturation") == 0)
            files[request.file_count++] = answer->tables->items[i];
    }
    return request.file_count == 0 ? STATUS_OK : add_figure(answer, "saturation", &request, 0, error);
}

static enum status add_table_figures(struct report_answer *answer, struct error *error)
{
    struct plot_request request = answer->request;
    enum status status = add_saturation(answer, error);

    request.question = NULL;
    request.file_count = 1;
    for (size_t i = 0; i < answer->tables->count && status == STATUS_OK; i++) {
        const char *const *figures = figures_of(answer->tables->items[i]);

        request.files = &answer->tables->items[i];
        for (int f = 0; figures != NULL && f < 2 && figures[f] != NULL && status == STATUS_OK; f++)
            if (strcmp(figures[f], "saturation") != 0)
                status = add_figure(answer, figures[f], &request, used_before(answer, figures[f]), error);
    }
    return status;
}

/* The SVG files beside scripts and numbers. */
static enum status keep_drawing(const struct report_answer *answer, const struct report_figure *figure,
                                struct error *error)
{
    struct text_buffer path = {0};
    enum status status = STATUS_NO_MEMORY;

    text_buffer_append_format(&path, "%s/%s.svg", answer->keep, figure->name);
    if (path.failed)
        (void)error_set(error, status, "memory ran out for the figures");
    else
        status = figure_write_file(path.text, figure->svg.text, figure->svg.length, error);
    text_buffer_release(&path);
    return status;
}

static enum status draw_all(struct report_answer *answer, struct error *error)
{
    const struct figure *figures[REPORT_FIGURES_MAX] = {NULL};
    const char *names[REPORT_FIGURES_MAX] = {NULL};
    struct report_figure *owners[REPORT_FIGURES_MAX];
    struct text_buffer drawings[REPORT_FIGURES_MAX] = {{0}};
    const struct figure_options options = {.keep_directory = answer->keep, .no_caption = true};
    const struct figure_options narrow_options = {.no_caption = true, .narrow = true};
    size_t count = 0;

    for (size_t i = 0; i < answer->figure_count; i++)
        if (answer->figures[i].reason[0] == '\0') {
            owners[count] = &answer->figures[i];
            figures[count] = &answer->figures[i].sheet->figure;
            names[count++] = answer->figures[i].name;
        }
    enum status status = figures_draw_svg(figures, names, count, &options, drawings, error);
    for (size_t i = 0; i < count; i++)
        owners[i]->svg = drawings[i];
    for (size_t i = 0; i < count && status == STATUS_OK && answer->keep != NULL; i++)
        status = keep_drawing(answer, owners[i], error);
    if (status != STATUS_OK || !answer->html)
        return status;
    memset(drawings, 0, sizeof drawings);
    status = figures_draw_svg(figures, names, count, &narrow_options, drawings, error);
    for (size_t i = 0; i < count; i++)
        owners[i]->narrow = drawings[i];
    return status;
}

enum status report_figures_make(struct report_answer *answer, struct error *error)
{
    enum status status = add_scenario_figures(answer, error);

    if (status == STATUS_OK)
        status = add_table_figures(answer, error);
    return status == STATUS_OK ? draw_all(answer, error) : status;
}

void report_figures_release(struct report_answer *answer)
{
    for (size_t i = 0; i < answer->figure_count; i++) {
        text_buffer_release(&answer->figures[i].svg);
        text_buffer_release(&answer->figures[i].narrow);
        sheet_release(answer->figures[i].sheet);
        free(answer->figures[i].sheet);
    }
    answer->figure_count = 0;
}
