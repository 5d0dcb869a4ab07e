/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam report`: a scenario's question, answer, figures and sources as one file to read. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/output_check.h"
#include "cli/page_report.h"

enum {
    SWEEP_CONFIGS_MAX = 2000000 /* a second or two: more are not ranked in a report */
};

struct report_options {
    const char *output, *format, *keep, *x, *y;
    struct text_list variants;
};

/* The format: as asked, else by the file's ending. */
static enum status choose_format(const struct report_options *options, bool *html, struct error *error)
{
    const char *ending = options->output == NULL ? NULL : strrchr(options->output, '.');

    if (options->output == NULL)
        return error_set(error, STATUS_USAGE, "option --output is missing: the file to write");
    if (strcmp(options->output, "-") == 0)
        return error_set(error, STATUS_USAGE,
                         "option --output: \"-\" is not standard output here: name a file, or /dev/stdout");
    if (options->format == NULL) {
        *html = ending == NULL || strcmp(ending, ".md") != 0;
        return STATUS_OK;
    }
    *html = strcmp(options->format, "html") == 0;
    if (!*html && strcmp(options->format, "md") != 0)
        return error_set(error, STATUS_USAGE, "option --format: \"%s\" is neither html nor md", options->format);
    return STATUS_OK;
}

/* --measured takes both: tables for figures, and points of the step time. */
static void part_files(struct curve_options *curve, struct text_list *tables)
{
    size_t kept = 0;

    for (size_t i = 0; i < curve->measured.count; i++) {
        if (report_is_figure_table(curve->measured.items[i]))
            tables->items[tables->count++] = curve->measured.items[i];
        else
            curve->measured.items[kept++] = curve->measured.items[i];
    }
    curve->measured.count = kept;
}

/* A file that is not there is a mistake on the command line, not a figure that cannot be drawn. */
static enum status check_files(const struct text_list *files, struct error *error)
{
    for (size_t i = 0; i < files->count; i++)
        if (access(files->items[i], R_OK) != 0)
            return error_set(error, STATUS_MISSING, "option --measured: %s: %s", files->items[i], strerror(errno));
    return STATUS_OK;
}

static enum status make_folder(const char *path, struct error *error)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return error_set(error, STATUS_IO, "option --keep: cannot create %s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* Base and what is asked, at the same concurrency. */
static enum status predict(struct report_answer *answer, struct error *error)
{
    struct question *question = answer->request.question;
    double base[QUESTION_VALUES_MAX];
    enum status status;

    question_values_at(question, question->base, question_concurrency(question, question->values), base);
    status = prediction_make(question, base, base, &answer->base, error);
    if (status == STATUS_OK)
        status = prediction_make(question, question->values, base, &answer->asked, error);
    return status;
}

/* The ranking of all knobs by the time of a layer; without one the report says why. */
static void rank(struct report_answer *answer)
{
    const struct question *question = answer->request.question;
    const struct sweep_request request = {
        .scenario = question->scenario,
        .parameters = &question->parameters,
        .calibrated = question->calibrated,
        .extrapolate_all = question->other_calibration_device || question->other_calibration_kernel,
        .serving = &question->serving,
        .values = question->values,
        .objective = SWEEP_OBJECTIVE_TIME,
        .top_count = REPORT_TOP,
        .config_limit = SWEEP_CONFIGS_MAX,
    };
    struct error reason = {0};

    answer->has_sweep = question->timed && config_sweep_run(&request, &answer->sweep, &reason) == STATUS_OK;
    if (!answer->has_sweep)
        (void)snprintf(answer->no_sweep, sizeof answer->no_sweep, "%.250s",
                       question->timed ? reason.text : question->untimed.text);
}

/* The next runs worth their cost, as `occam propose` ranks them; without any the report says why. */
static void propose(struct report_answer *answer)
{
    struct question *question = answer->request.question;
    struct search_question_options options;
    struct search_summary summary;
    struct error reason = {0};
    enum status status = STATUS_OK;

    if (!answer->has_sweep || answer->sweep.feasible_count > REPORT_SEARCH_MAX) {
        (void)snprintf(answer->no_proposals, sizeof answer->no_proposals, "%s",
                       answer->has_sweep ? "the space is large: occam propose --vary or --where narrows it"
                                         : answer->no_sweep);
        return;
    }
    search_question_options_init(&options);
    options.level = question->level; /* as everywhere in the report */
    status = search_question_open(&answer->search, question, &options, &reason);
    for (size_t i = 0; i < answer->tables->count && status == STATUS_OK; i++)
        if (report_table_has_knobs(answer->tables->items[i], question->scenario))
            status = search_question_read(&answer->search, answer->tables->items[i], &reason);
    if (status == STATUS_OK)
        status = search_engine_propose(answer->search.engine, REPORT_PROPOSALS, answer->proposals,
                                       &answer->proposal_count, &summary, &reason);
    answer->run_count = answer->search.read_runs;
    if (status != STATUS_OK) {
        answer->proposal_count = 0;
        (void)error_describe(&reason, answer->no_proposals, sizeof answer->no_proposals);
    }
}

static enum status write_report(struct report_answer *answer, bool html, struct error *error)
{
    struct page page = {.html = html};
    enum status status = STATUS_OK;

    report_write(&page, answer);
    if (page.text.failed)
        status = error_set(error, STATUS_NO_MEMORY, "memory ran out for the report");
    if (status == STATUS_OK)
        status = figure_write_file(answer->output, page.text.text, page.text.length, error);
    text_buffer_release(&page.text);
    return status;
}

static enum status answer_question(struct question *question, struct curve_options *curve,
                                   const struct report_options *options, const struct text_list *tables, bool html,
                                   struct error *error)
{
    struct report_answer *answer = calloc(1, sizeof *answer);
    enum status status = STATUS_OK;

    if (answer == NULL)
        return error_set(error, STATUS_NO_MEMORY, "memory ran out for the report");
    answer->request = (struct plot_request){.question = question,
                                            .curve = curve,
                                            .variants = &options->variants,
                                            .x_variable = options->x,
                                            .y_variable = options->y,
                                            .catalogue = question->catalogue};
    answer->tables = tables;
    answer->keep = options->keep;
    answer->output = options->output;
    answer->html = html;
    status = output_check(options->output, error);
    if (status == STATUS_OK && options->keep != NULL)
        status = make_folder(options->keep, error);
    if (status == STATUS_OK)
        status = report_figures_make(answer, error);
    if (status == STATUS_OK)
        status = predict(answer, error);
    if (status == STATUS_OK) {
        rank(answer);
        propose(answer);
        status = write_report(answer, html, error);
    }
    search_question_release(&answer->search);
    config_sweep_release(&answer->sweep);
    report_figures_release(answer);
    free(answer);
    return status;
}

int command_report(int argc, char **argv)
{
    struct question_options options = {.level = QUESTION_LEVEL_DEFAULT, .form_only = true};
    struct curve_options curve = CURVE_OPTIONS_NONE;
    struct report_options report_options = {0};
    const struct option_row rows[] = {
        QUESTION_OPTION_ROWS(options),
        CURVE_OPTION_ROWS(curve),
        {'o', "output", OPTION_TEXT, &report_options.output, 0, 0},
        {0, "format", OPTION_TEXT, &report_options.format, 0, 0},
        {0, "keep", OPTION_TEXT, &report_options.keep, 0, 0},
        {0, "x", OPTION_TEXT, &report_options.x, 0, 0},
        {0, "variant", OPTION_LIST, &report_options.variants, 0, 0},
        {0, "y", OPTION_TEXT, &report_options.y, 0, 0},
    };
    struct question question = {0};
    struct text_list tables = {0};
    struct operands operands;
    struct error error = {0};
    bool html = true;
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 1, 1, &operands, &error);

    if (status == STATUS_OK)
        status = choose_format(&report_options, &html, &error);
    if (status == STATUS_OK)
        status = check_files(&curve.measured, &error);
    if (status == STATUS_OK)
        status = question_open(&question, operands.items[0], &options, &error);
    if (status == STATUS_OK) {
        part_files(&curve, &tables);
        status = answer_question(&question, &curve, &report_options, &tables, html, &error);
    }
    question_release(&question);
    return status == STATUS_OK ? 0 : command_fail("report", &error);
}
