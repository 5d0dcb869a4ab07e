/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam sweep`: every configuration of the knob space predicted and ranked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/options.h"
#include "cli/question.h"
#include "cli/sweep_answer.h"

enum {
    TOP_DEFAULT = 10,
    BY_CONFIGS_MAX = 64,     /* more are not ranked for every concurrency unless asked */
    STEP_CONFIGS_MAX = 4096, /* more are not ranked a second time, by the whole step */
    PROGRESS_WIDTH = 30
};
static const double PROGRESS_AFTER_S = 1.0;

struct sweep_options {
    uint64_t top, limit, threads;
    const char *objective, *where, *vary, *by;
};

#define SWEEP_OPTION_ROWS(options)                                                                                     \
    {0, "top", OPTION_COUNT, &(options).top, 1, SWEEP_TOP_MAX},                                                        \
        {0, "objective", OPTION_TEXT, &(options).objective, 0, 0}, {0, "where", OPTION_TEXT, &(options).where, 0, 0},  \
        {0, "vary", OPTION_TEXT, &(options).vary, 0, 0}, {0, "by", OPTION_TEXT, &(options).by, 0, 0},                  \
        {0, "limit", OPTION_COUNT, &(options).limit, 1, 1e18},                                                         \
    {                                                                                                                  \
        0, "threads", OPTION_COUNT, &(options).threads, 1, SWEEP_THREADS_MAX                                           \
    }

/* --- progress ----------------------------------------------------------------------------------------------------- */

struct progress_bar {
    double begin_s;
    bool shown;
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct progress_bar *bar = context;
    const double elapsed_s = clock_now_s() - bar->begin_s;
    if (done == total) {
        if (bar->shown) {
            fprintf(stderr, "\r\033[K");
        }
        return;
    }
    if (elapsed_s < PROGRESS_AFTER_S) {
        return;
    }
    const double fraction = (double)done / (double)total;
    char cells[PROGRESS_WIDTH + 1];
    for (int i = 0; i < PROGRESS_WIDTH; i++) {
        cells[i] = i < fraction * PROGRESS_WIDTH ? '#' : '.';
    }
    cells[PROGRESS_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%, %.3g of %.3g million, %.0f s left ", cells, 100 * fraction, (double)done / 1e6,
            (double)total / 1e6, fraction > 0 ? elapsed_s / fraction - elapsed_s : 0.0);
    bar->shown = true;
}

/* --- what is asked ------------------------------------------------------------------------------------------------ */

/* "time", "occupancy", "throughput", "throughput@C=96", else an expression. */
static enum status read_objective(const struct question *question, const char *text, struct sweep_request *request,
                                  bool *fixes_concurrency, struct error *error)
{
    static const char prefix[] = "throughput@";
    request->objective_text = text;
    *fixes_concurrency = false;
    if (strcmp(text, "time") == 0) {
        request->objective = SWEEP_OBJECTIVE_TIME;
        return STATUS_OK;
    }
    if (strcmp(text, "occupancy") == 0) {
        request->objective = SWEEP_OBJECTIVE_OCCUPANCY;
        return STATUS_OK;
    }
    const bool at = strncmp(text, prefix, sizeof prefix - 1) == 0;
    if (!at && strcmp(text, "throughput") != 0) {
        request->objective = SWEEP_OBJECTIVE_EXPRESSION;
        return STATUS_OK;
    }
    request->objective = SWEEP_OBJECTIVE_THROUGHPUT;
    request->concurrency = question_concurrency(question, question->values);
    if (question->other_device) {
        return error_set(error, STATUS_MISSING,
                         "the step time was measured on another GPU than %s, so there is no throughput to rank by",
                         question->device->title);
    }
    if (!at) {
        return STATUS_OK;
    }
    *fixes_concurrency = true;
    return question_read_throughput_at(question, text, &request->concurrency, error);
}

static bool is_assigned(const struct question_options *options, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < options->assignments.count; i++) {
        if (strncmp(options->assignments.items[i], name, length) == 0 && options->assignments.items[i][length] == '=') {
            return true;
        }
    }
    return false;
}

static bool grid_changes(const struct sweep_result *result)
{
    for (size_t i = 1; i < result->entry_count; i++) {
        if (result->entries[i].grid_ctas != result->entries[0].grid_ctas) {
            return true;
        }
    }
    return false;
}

/* The variable asked for with --by, -1 for none; *automatic: nothing was asked. */
static enum status read_by(const struct question *question, const char *text, const struct sweep_request *request,
                           long *by, bool *automatic, struct error *error)
{
    *automatic = text == NULL;
    *by = -1;
    if (!text || strcmp(text, "none") == 0) {
        return STATUS_OK;
    }
    uint32_t indices[CONFIG_VARIABLES_MAX], count = 0;
    const enum status status = config_space_parse_names(question->scenario, text, indices, &count, error);
    if (status) {
        return status;
    }
    if (count != 1) {
        return error_set(error, STATUS_USAGE, "--by takes one name or none, not \"%s\"", text);
    }
    for (uint32_t i = 0; i < request->varied_count; i++) {
        if (request->varied[i] == indices[0]) {
            return error_set(error, STATUS_USAGE, "--by %s ranks each of its values on its own: leave %s out of --vary",
                             text, text);
        }
    }
    *by = (long)indices[0];
    if (request->varied_count == 0 && scenario_variable_get(question->scenario, indices[0])->is_knob) {
        return error_set(error, STATUS_USAGE, "%s is varied already; name the others with --vary", text);
    }
    return STATUS_OK;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

struct sweep_run {
    struct question *question;
    struct sweep_request request;
    struct sweep_answer answer;
    struct progress_bar bar;
    uint32_t varied[CONFIG_VARIABLES_MAX];
    bool top_given;
};

static enum status run_once(struct sweep_run *run, double by_value, struct sweep_ranking *ranking, struct error *error)
{
    struct sweep_request request = run->request;
    double values[CONFIG_VARIABLES_MAX];
    memcpy(values, run->question->values, sizeof *values * scenario_variable_count(run->question->scenario));
    if (run->answer.by >= 0) {
        values[run->answer.by] = by_value;
        if (run->answer.by == scenario_concurrency_variable(run->question->scenario)) {
            request.concurrency = by_value;
        }
    }
    request.values = values;
    ranking->by_value = run->answer.by >= 0 ? by_value : (double)NAN;
    run->bar = (struct progress_bar){.begin_s = clock_now_s()};
    return config_sweep_run(&request, &ranking->result, error);
}

static enum status run_by(struct sweep_run *run, struct error *error)
{
    const struct scenario_variable *variable = scenario_variable_get(run->question->scenario, (size_t)run->answer.by);
    struct sweep_answer *answer = &run->answer;
    answer->rankings = calloc(variable->value_count, sizeof *answer->rankings);
    if (!answer->rankings) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for %u rankings", variable->value_count);
    }
    if (!run->top_given) {
        run->request.top_count = BY_CONFIGS_MAX;
    }
    for (uint32_t i = 0; i < variable->value_count; i++) {
        const enum status status = run_once(run, variable->values[i], &answer->rankings[i], error);
        if (status) {
            return status;
        }
        answer->ranking_count++;
    }
    return STATUS_OK;
}

static void release_rankings(struct sweep_answer *answer)
{
    for (size_t i = 0; i < answer->ranking_count; i++) {
        config_sweep_release(&answer->rankings[i].result);
    }
    free(answer->rankings);
    answer->rankings = NULL;
    answer->ranking_count = 0;
}

/* One ranking; then, if the grid depends on what was varied, one for each concurrency. */
static enum status run_all(struct sweep_run *run, bool automatic_by, const struct question_options *options,
                           struct error *error)
{
    struct sweep_answer *answer = &run->answer;
    if (answer->by >= 0) {
        return run_by(run, error);
    }
    answer->rankings = calloc(1, sizeof *answer->rankings);
    if (!answer->rankings) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a ranking");
    }
    const enum status status = run_once(run, (double)NAN, &answer->rankings[0], error);
    if (status) {
        return status;
    }
    answer->ranking_count = 1;
    const long concurrency = scenario_concurrency_variable(run->question->scenario);
    if (!automatic_by || run->request.varied_count == 0 || concurrency < 0 ||
        is_assigned(options, scenario_variable_get(run->question->scenario, (size_t)concurrency)->name) ||
        answer->rankings[0].result.space.config_count > BY_CONFIGS_MAX || !grid_changes(&answer->rankings[0].result)) {
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < run->request.varied_count; i++) {
        if ((long)run->varied[i] == concurrency) {
            return STATUS_OK;
        }
    }
    release_rankings(answer);
    answer->by = concurrency;
    return run_by(run, error);
}

/* The same space ranked by the whole step: is its winner the layer's? Costs as much again, so only for small spaces;
 * where it cannot be ranked, nothing is said. */
static void compare_with_step(struct sweep_run *run)
{
    struct sweep_answer *answer = &run->answer;
    const struct question *question = run->question;
    const struct sweep_result *by_time = &answer->rankings[0].result;
    struct sweep_request request = run->request;
    struct sweep_result by_step = {0};
    struct error ignored = {0};
    if (answer->objective != SWEEP_OBJECTIVE_TIME || answer->by >= 0 || by_time->entry_count == 0 ||
        by_time->space.config_count > STEP_CONFIGS_MAX || !question->serving.present || question->other_device ||
        scenario_layer_group_count(question->scenario) == 0) {
        return;
    }
    request.objective = SWEEP_OBJECTIVE_THROUGHPUT;
    request.objective_text = "throughput";
    request.concurrency = question_concurrency(question, question->values);
    request.values = question->values;
    request.top_count = STEP_CONFIGS_MAX;
    request.progress = NULL;
    if (config_sweep_run(&request, &by_step, &ignored) == STATUS_OK && by_step.entry_count > 0) {
        const uint64_t winner = by_time->entries[0].config_index;
        answer->step_winner = by_step.entries[0].config_index == winner ? STEP_WINNER_SAME : STEP_WINNER_OTHER;
        for (size_t i = 1; i < by_step.entry_count; i++) {
            if (by_step.entries[i].config_index == winner && by_step.entries[i].tie) {
                answer->step_winner = STEP_WINNER_TIED;
            }
        }
        memcpy(answer->step_winner_values, by_step.entries[0].values, sizeof answer->step_winner_values);
    }
    config_sweep_release(&by_step);
}

/* --- command ------------------------------------------------------------------------------------------------------ */

static enum status prepare(struct sweep_run *run, const struct sweep_options *options, bool *automatic_by,
                           struct error *error)
{
    struct sweep_request *request = &run->request;
    struct sweep_answer *answer = &run->answer;
    bool fixes_concurrency = false;
    *request = (struct sweep_request){.scenario = run->question->scenario,
                                      .parameters = &run->question->parameters,
                                      .calibrated = run->question->calibrated,
                                      .extrapolate_all = run->question->other_calibration_device ||
                                                         run->question->other_calibration_kernel,
                                      .serving = &run->question->serving,
                                      .varied = run->varied,
                                      .where = options->where,
                                      .top_count = options->top ? options->top : TOP_DEFAULT,
                                      .config_limit = options->limit,
                                      .thread_count = (unsigned)options->threads};
    run->top_given = options->top != 0;
    if (isatty(STDERR_FILENO)) {
        request->progress = show_progress;
        request->progress_context = &run->bar;
    }
    enum status status = STATUS_OK;
    if (options->vary) {
        status = config_space_parse_names(run->question->scenario, options->vary, run->varied, &request->varied_count,
                                          error);
    }
    const char *objective = options->objective ? options->objective : "time";
    if (!status) {
        status = read_objective(run->question, objective, request, &fixes_concurrency, error);
    }
    if (!status) {
        status = read_by(run->question, options->by, request, &answer->by, automatic_by, error);
    }
    if (!status && fixes_concurrency && answer->by >= 0 &&
        answer->by == scenario_concurrency_variable(run->question->scenario)) {
        status = error_set(error, STATUS_USAGE, "objective \"%s\" fixes what --by would change", objective);
    }
    *automatic_by = *automatic_by && !fixes_concurrency;
    answer->question = run->question;
    answer->objective_text = objective;
    answer->objective = request->objective;
    answer->with_throughput = request->objective == SWEEP_OBJECTIVE_THROUGHPUT;
    answer->where = options->where;
    answer->top_count = request->top_count;
    return status;
}

int command_sweep(int argc, char **argv)
{
    struct question_options options = {.level = QUESTION_LEVEL_DEFAULT};
    struct sweep_options sweep_options = {0};
    const struct option_row rows[] = {QUESTION_OPTION_ROWS(options), QUESTION_FORMAT_ROW(options),
                                      SWEEP_OPTION_ROWS(sweep_options)};
    struct question question = {0};
    struct sweep_run run = {.question = &question};
    struct operands operands;
    struct error error = {0};
    bool automatic_by = false;
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 1, 1, &operands, &error);
    if (!status) {
        status = question_open(&question, operands.items[0], &options, &error);
    }
    if (!status && !question.timed) {
        error = question.untimed;
        status = error.status;
    }
    if (!status) {
        status = prepare(&run, &sweep_options, &automatic_by, &error);
    }
    if (!status) {
        status = run_all(&run, automatic_by, &options, &error);
    }
    if (!status) {
        compare_with_step(&run);
    }
    if (!status) {
        status = sweep_answer_print(&run.answer, options.format, &error);
    }
    release_rankings(&run.answer);
    question_release(&question);
    return status == STATUS_OK ? 0 : command_fail("sweep", &error);
}
