/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam tune`: propose, freeze, run, record, again, until nothing is expected to be gained. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "calibrate/experiment/tune_store.h"
#include "calibrate/experiment/user_command.h"
#include "cli/command.h"
#include "cli/quantity_text.h"
#include "cli/search_forms.h"
#include "cli/search_question.h"
#include "cli/search_texts.h"
#include "cli/tune_kernels.h"
#include "cli/tune_ledger.h"

enum {
    FAILURES_IN_A_ROW_MAX = 10, /* from the first run on: then something else than the configurations is wrong */
    RUNS_BEFORE_STOP = 2,
    CONFLICT_EVERY = 5, /* runs: as the last of the batch that `occam propose` lists unless another one is asked for */
    LOOKS_MAX = 12      /* builds of our own kernels before a run is made all the same */
};
#define MEASURED_LIMIT_S 30.0 /* of one configuration, where our own kernels are run */

struct tune_options {
    struct question_options question;
    struct search_question_options search;
    struct tune_kernels_options kernels;
    const char *run, *record, *unit, *ledger;
    bool limits_config, sets_sample_time; /* --config-limit and --sample-time were given */
    uint64_t runs;
    double budget_s, limit_s;
};

struct tune {
    struct search_question search;
    const struct tune_options *options;
    const char *names[QUESTION_VALUES_MAX];
    struct tune_kernels *kernels; /* NULL: a command or a table gives the results */
    struct tune_table *table;
    struct tune_store store;
    struct tune_ledger ledger;
    struct search_summary summary;
    struct report report;
    double spent_s, per_unit; /* per_unit: the command's number times this is what is recorded */
    size_t runs, failures_in_a_row;
    const char *end; /* why the loop ended */
};

/* --- one run ---------------------------------------------------------------------------------------------------------
 */

struct outcome {
    const char *name;
    double shown; /* NaN unless ok */
    char note[200];
    const double *samples;
    size_t sample_count;
    const char *provenance;
};

static const double *values_of(const struct tune *tune, uint32_t config)
{
    return tune->search.space.values + (size_t)config * tune->search.space.variable_count;
}

static enum printed_unit wanted_unit(const struct tune *tune)
{
    return tune->search.is_throughput ? PRINTED_UNIT_TOKENS : PRINTED_UNIT_TIME;
}

/* A unit that the command prints counts; a bare number is of --unit. */
static enum status in_unit_shown(const struct tune *tune, const struct printed_number *number, double *shown,
                                 struct error *error)
{
    const enum printed_unit wanted = wanted_unit(tune);
    if (number->unit == PRINTED_UNIT_UNKNOWN) {
        return error_set(error, STATUS_BAD_DATA,
                         "the command printed %g %s, and %s is no unit that is known (ns, us, ms, s, min, h, tok/s)",
                         number->value, number->unit_name, number->unit_name);
    }
    if (number->unit != PRINTED_UNIT_NONE && number->unit != wanted) {
        return error_set(error, STATUS_BAD_DATA, "the command printed %g %s, where a %s is asked for (--objective)",
                         number->value, number->unit_name,
                         wanted == PRINTED_UNIT_TIME ? "time" : "throughput in tokens/s");
    }
    *shown = number->value * (number->unit == wanted ? number->unit_size : tune->per_unit);
    return STATUS_OK;
}

static enum status run_command(struct tune *tune, uint32_t config, struct outcome *outcome, struct error *error)
{
    struct text_buffer command = {0};
    struct user_command_result result = {0};
    enum status status = user_command_fill(tune->options->run, tune->names, values_of(tune, config),
                                           tune->search.space.variable_count, &command, error);
    if (status == STATUS_OK) {
        (void)fflush(stdout);
        status = user_command_run(command.text ? command.text : "", tune->options->limit_s, wanted_unit(tune), &result,
                                  error);
    }
    text_buffer_release(&command);
    outcome->name = result.ok ? "ok" : result.timed_out ? "timeout" : "failed";
    if (status == STATUS_OK && result.unreadable) {
        status = error_set(error, STATUS_BAD_DATA, "the command's output cannot be read: %s", result.reason);
    }
    if (status == STATUS_OK && result.ok) {
        status = in_unit_shown(tune, &result.number, &outcome->shown, error);
        if (status == STATUS_OK &&
            !search_value_is_possible(&tune->search, search_engine_value(&tune->search, outcome->shown))) {
            outcome->name = "failed";
            (void)snprintf(result.reason, sizeof result.reason, "gave %g %s, which no run has", outcome->shown,
                           tune->search.is_throughput ? "tokens/s" : "us");
            outcome->shown = (double)NAN;
        }
    }
    (void)snprintf(outcome->note, sizeof outcome->note, "%s", result.reason);
    tune->spent_s += result.seconds;
    return status;
}

static enum status run_kernel(struct tune *tune, uint32_t config, struct outcome *outcome, struct error *error)
{
    struct tune_measurement measured;
    const enum status status = tune_kernels_run(tune->kernels, values_of(tune, config), &measured, error);
    if (status == STATUS_OK) {
        *outcome = (struct outcome){.name = measured.outcome,
                                    .shown = measured.time_us,
                                    .samples = measured.samples_us,
                                    .sample_count = measured.sample_count,
                                    .provenance = measured.provenance};
        (void)snprintf(outcome->note, sizeof outcome->note, "%s", measured.note);
        tune_kernels_costs(tune->kernels, tune->search.costs_s);
    }
    return status;
}

static enum status run_config(struct tune *tune, const struct search_proposal *proposal, struct outcome *outcome,
                              struct error *error)
{
    *outcome = (struct outcome){.name = "failed", .shown = (double)NAN};
    if (tune->kernels != NULL) {
        return run_kernel(tune, proposal->config, outcome, error);
    }
    if (tune->search.replayed == NULL) {
        return run_command(tune, proposal->config, outcome, error);
    }
    const double value = tune->search.replayed[proposal->config];
    if (isfinite(value)) {
        outcome->name = "ok";
        outcome->shown = search_shown_value(&tune->search, value);
    }
    outcome->provenance = LEDGER_REPLAYED;
    tune->spent_s += proposal->cost_s;
    return STATUS_OK;
}

static struct tune_row row_of(const struct tune *tune, const struct search_proposal *proposal)
{
    const double lo = search_shown_value(&tune->search, proposal->value_lo);
    const double hi = search_shown_value(&tune->search, proposal->value_hi);
    return (struct tune_row){.values = values_of(tune, proposal->config),
                             .outcome = "frozen",
                             .value = (double)NAN,
                             .forecast = search_shown_value(&tune->search, proposal->value),
                             .forecast_lo = fmin(lo, hi),
                             .forecast_hi = fmax(lo, hi),
                             .note = search_reason_name(proposal->reason)};
}

static enum status keep(struct tune *tune, const struct tune_row *row, struct error *error)
{
    enum status status = tune->table != NULL ? tune->store.keep(tune->store.context, row, error) : STATUS_OK;
    if (status == STATUS_OK && tune->ledger.ledger != NULL) {
        status = tune_ledger_keep(&tune->ledger, &tune->search, row, error);
    }
    return status;
}

static void show_run(struct tune *tune, const struct search_proposal *proposal, const struct tune_row *row)
{
    char text[1024], number[32];
    report_begin_object(&tune->report, NULL);
    report_integer(&tune->report, "run", (int64_t)tune->runs);
    report_string(&tune->report, "config", search_config_text(&tune->search, proposal->config, text, sizeof text));
    report_string(&tune->report, "reason", search_reason_name(proposal->reason));
    report_number(&tune->report, "forecast", row->forecast);
    report_number(&tune->report, "forecast_lo", row->forecast_lo);
    report_number(&tune->report, "forecast_hi", row->forecast_hi);
    report_string(&tune->report, "outcome", row->outcome);
    report_number(&tune->report, search_value_name(&tune->search), row->value);
    report_string(&tune->report, "note", row->note);
    report_end(&tune->report);
    if (tune->options->question.format == OUTPUT_FORMAT_TEXT) {
        printf("%3zu  %s: ", tune->runs, text);
        if (isfinite(row->value)) {
            printf("%s %s", number_format_digits(row->value, 4, number),
                   tune->search.is_throughput ? "tokens/s" : "us");
        } else {
            printf("%s (%s)", row->outcome, row->note);
        }
        if (isfinite(row->forecast)) {
            printf(", forecast %s", number_format_digits(row->forecast, 4, number));
            printf(" (%s", number_format_digits(row->forecast_lo, 4, number));
            printf(" to %s)", number_format_digits(row->forecast_hi, 4, number));
        }
        printf(", %s\n", search_reason_name(proposal->reason));
        (void)fflush(stdout);
    }
}

static enum status run_once(struct tune *tune, const struct search_proposal *proposal, struct error *error)
{
    struct tune_row row = row_of(tune, proposal);
    struct outcome outcome;
    enum status status = keep(tune, &row, error);
    status = status == STATUS_OK ? run_config(tune, proposal, &outcome, error) : status;
    if (status != STATUS_OK) {
        return status;
    }
    row.outcome = outcome.name;
    row.value = outcome.shown;
    row.note = outcome.note;
    row.samples = outcome.samples;
    row.sample_count = outcome.sample_count;
    row.provenance = outcome.provenance;
    status = keep(tune, &row, error);
    if (status == STATUS_OK) {
        const struct search_run run = {.config = proposal->config,
                                       .failed = !isfinite(outcome.shown),
                                       .value = search_engine_value(&tune->search, outcome.shown),
                                       .forecast_lo = proposal->value_lo,
                                       .forecast_hi = proposal->value_hi};
        status = search_engine_tell(tune->search.engine, &run, error);
        tune->runs++;
        tune->failures_in_a_row = run.failed ? tune->failures_in_a_row + 1 : 0;
        show_run(tune, proposal, &row);
    }
    if (status == STATUS_OK && tune->failures_in_a_row == tune->runs && tune->runs >= FAILURES_IN_A_ROW_MAX) {
        return error_set(error, STATUS_TOLERANCE_FAILED, "the first %d runs failed, the last: %s",
                         FAILURES_IN_A_ROW_MAX, outcome.note[0] ? outcome.note : "as the table says");
    }
    return status;
}

/* --- the loop --------------------------------------------------------------------------------------------------------
 */

/* Our own kernels are compiled before they are proposed for good: what the build takes in registers and spills may put
 * it far behind. */
static enum status propose_next(struct tune *tune, struct search_proposal *proposal, size_t *count, struct error *error)
{
    for (int looks = 0; tune->kernels != NULL && looks < LOOKS_MAX; looks++) {
        /* Without the summary: that is dear, and only the last choice needs it. */
        const enum status status = search_engine_propose(tune->search.engine, 1, proposal, count, NULL, error);
        tune->spent_s = tune_kernels_spent_s(tune->kernels);
        if (status != STATUS_OK || (tune->options->budget_s > 0 && tune->spent_s >= tune->options->budget_s) ||
            *count == 0 ||
            !tune_kernels_look(tune->kernels, tune->search.question, proposal->config, &tune->search.space)) {
            break;
        }
    }
    const enum status status = search_engine_propose(tune->search.engine, 1, proposal, count, &tune->summary, error);
    if (tune->kernels != NULL) {
        tune->spent_s = tune_kernels_spent_s(tune->kernels); /* the GPU is held all the while */
    }
    return status;
}

/* What ran before is understood with its build too. */
static void look_back(struct tune *tune)
{
    size_t count = 0;
    const struct search_run *runs = search_engine_runs(tune->search.engine, &count);
    for (size_t i = 0; i < count && tune->kernels != NULL; i++) {
        (void)tune_kernels_look(tune->kernels, tune->search.question, runs[i].config, &tune->search.space);
    }
}

/* SEARCH-10: every fifth run tells conflicting forms of the model apart, where there are such. */
static enum status settle_conflict(struct tune *tune, struct search_proposal *proposal, struct error *error)
{
    struct search_forms forms = {0};
    if ((tune->summary.runs + 1) % CONFLICT_EVERY != 0) {
        return STATUS_OK;
    }
    const enum status status = search_forms_find(&forms, &tune->search, proposal, 1, tune->summary.noise, error);
    if (status == STATUS_OK) {
        (void)search_forms_run(&forms, &tune->search, proposal);
    }
    search_forms_release(&forms);
    return status;
}

static enum status loop(struct tune *tune, struct error *error)
{
    enum status status = STATUS_OK;
    look_back(tune);
    while (status == STATUS_OK && tune->end == NULL) {
        struct search_proposal proposal;
        size_t count = 0;
        status = propose_next(tune, &proposal, &count, error);
        const size_t good = tune->summary.runs - tune->summary.failures;
        if (status != STATUS_OK) {
            break;
        }
        if (count == 0) {
            tune->end = "every configuration was run";
        } else if (tune->summary.stop && good >= RUNS_BEFORE_STOP) {
            tune->end = "too little is expected to be gained yet";
        } else if (tune->options->budget_s > 0 && tune->spent_s >= tune->options->budget_s) {
            tune->end = "the budget is spent";
        } else if (tune->options->runs > 0 && tune->runs >= tune->options->runs) {
            tune->end = "as many runs as asked for";
        } else {
            status = settle_conflict(tune, &proposal, error);
            status = status == STATUS_OK ? run_once(tune, &proposal, error) : status;
        }
    }
    return status;
}

static enum status open_record(struct tune *tune, struct error *error)
{
    const struct scenario *scenario = tune->search.question->scenario;
    for (size_t v = 0; v < scenario_variable_count(scenario); v++) {
        tune->names[v] = scenario_variable_get(scenario, v)->name;
    }
    const struct tune_options *options = tune->options;
    enum status status = STATUS_OK;
    if (options->ledger != NULL || tune->kernels != NULL) {
        status = tune_ledger_open(&tune->ledger, options->ledger, tune->search.question,
                                  tune->kernels  ? tune->kernels->source
                                  : options->run ? options->run
                                                 : options->search.replay,
                                  error);
    }
    if (status == STATUS_OK && tune->ledger.ledger != NULL && options->record == NULL) {
        status = tune_ledger_read(&tune->ledger, &tune->search, error);
    }
    if (status != STATUS_OK || options->record == NULL) {
        return status;
    }
    status = tune_table_open(tune->options->record, tune->names, scenario_variable_count(scenario),
                             search_value_name(&tune->search), tune->search.question->device->name, &tune->table,
                             &tune->store, error);
    return status == STATUS_OK ? search_question_read(&tune->search, tune->options->record, error) : status;
}

static enum status read_unit(struct tune *tune, struct error *error)
{
    static const struct {
        const char *name;
        double us;
    } units[] = {{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
    const char *unit = tune->options->unit;
    tune->per_unit = 1;
    for (size_t i = 0; unit != NULL && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) == 0 && !tune->search.is_throughput) {
            tune->per_unit = units[i].us;
            return STATUS_OK;
        }
    }
    return unit == NULL
               ? STATUS_OK
               : error_set(error, STATUS_USAGE, "--unit %s: expected ns, us, ms or s, and an objective of time", unit);
}

static void finish(struct tune *tune, struct report *report)
{
    const struct search_summary *summary = &tune->summary;
    char text[1024] = "";
    if (summary->has_best) {
        (void)search_config_text(&tune->search, summary->best_config, text, sizeof text);
    }
    report_end(report);
    report_string(report, "best_config", summary->has_best ? text : NULL);
    report_number(report, tune->search.is_throughput ? "best_throughput_tokens_per_s" : "best_time_us",
                  search_shown_value(&tune->search, summary->best_value));
    report_number(report, "best_probability", summary->best_probability);
    report_number(report, "remaining_gain_percent", 100 * summary->remaining_gain);
    report_integer(report, "runs_in_all", (int64_t)summary->runs);
    report_integer(report, "failed", (int64_t)summary->failures);
    report_integer(report, "forecasts", (int64_t)summary->forecasts);
    report_integer(report, "forecasts_inside", (int64_t)summary->forecasts_inside);
    report_number(report, "interval_level", tune->search.options.interval_level);
    report_number(report, "spent_s", tune->spent_s);
    report_string(report, "end", tune->end);
}

static void print_end(const struct tune *tune)
{
    const struct search_summary *summary = &tune->summary;
    char lead[64], gain[QUANTITY_TEXT_SIZE];
    printf("End: %s.\n", tune->end);
    if (summary->has_best) {
        (void)snprintf(lead, sizeof lead, "Best of %zu run%s", summary->runs, summary->runs == 1 ? "" : "s");
        search_print_best(&tune->search, summary, lead);
        printf("All further runs together are expected to gain %s; %zu of %zu forecasts held (%.3g %% meant to)\n",
               quantity_percent(summary->remaining_gain, gain), summary->forecasts_inside, summary->forecasts,
               100 * tune->search.options.interval_level);
    }
}

static void print_before(const struct tune *tune)
{
    const struct search_question *search = &tune->search;
    char text[1024];
    if (search->other_runs > 0) {
        printf("Left out: %s\n", search_left_text(search, false, text, sizeof text));
    }
    if (search->read_runs > 0) {
        printf("%zu run%s from before\n", search->read_runs, search->read_runs == 1 ? "" : "s");
    }
}

static enum status tune_space(struct question *question, const struct tune_options *options,
                              struct tune_kernels *kernels, struct error *error)
{
    struct tune *tune = calloc(1, sizeof *tune);
    if (tune == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a search");
    }
    tune->options = options;
    tune->kernels = kernels;
    enum status status = search_question_open(&tune->search, question, &options->search, error);
    status = status == STATUS_OK ? read_unit(tune, error) : status;
    status = status == STATUS_OK ? open_record(tune, error) : status;
    if (status == STATUS_OK) {
        report_string(&tune->report, "scenario", scenario_name(question->scenario));
        report_string(&tune->report, "device", question->device->name);
        if (kernels != NULL) {
            report_string(&tune->report, "measured_on", tune_kernels_facts(kernels)->gpu_name);
            report_string(&tune->report, "directory", options->kernels.out);
            report_string(&tune->report, "ledger", ledger_path(tune->ledger.ledger));
        }
        report_integer(&tune->report, "taken_from_before", (int64_t)tune->search.read_runs);
        search_record_left(&tune->search, &tune->report);
        search_question_warn(&tune->search, "tune");
        if (options->question.format == OUTPUT_FORMAT_TEXT) {
            print_before(tune);
        }
        report_begin_rows(&tune->report, "runs");
        status = loop(tune, error);
    }
    if (status == STATUS_OK) {
        finish(tune, &tune->report);
        if (options->question.format == OUTPUT_FORMAT_TEXT) {
            print_end(tune);
        } else {
            status = report_print(&tune->report, options->question.format, "runs", stdout, error);
        }
    }
    if (status == STATUS_OK && tune->runs > 0 && tune->summary.runs == tune->summary.failures) {
        status = error_set(error, STATUS_TOLERANCE_FAILED, "no run gave a result");
    }
    report_release(&tune->report);
    tune_table_close(tune->table);
    ledger_close(tune->ledger.ledger);
    search_question_release(&tune->search);
    free(tune);
    return status;
}

/* A name in braces that is none is told before anything is run. */
static enum status check_command(const struct question *question, const char *command, struct error *error)
{
    const char *names[QUESTION_VALUES_MAX];
    const size_t count = scenario_variable_count(question->scenario);
    struct text_buffer ignored = {0};
    for (size_t v = 0; v < count; v++) {
        names[v] = scenario_variable_get(question->scenario, v)->name;
    }
    const enum status status = user_command_fill(command, names, question->values, count, &ignored, error);
    text_buffer_release(&ignored);
    return status;
}

static bool measures(const struct tune_options *options)
{
    return options->run == NULL && options->search.replay == NULL;
}

/* Runs of a command or a table: what belongs to others has no effect. */
static enum status check_given_runs(const struct question *question, const struct tune_options *options,
                                    struct error *error)
{
    const struct tune_kernels_options *kernels = &options->kernels;
    if (kernels->out || kernels->cache || kernels->nvrtc || kernels->backend || kernels->fault ||
        options->sets_sample_time) {
        return error_set(error, STATUS_USAGE,
                         "--output, --sample-time, --cache, --nvrtc and --device-backend are for runs of our own "
                         "kernels, without --run and --replay");
    }
    if (options->run == NULL && (options->unit != NULL || options->limits_config)) {
        return error_set(error, STATUS_USAGE, "%s has no effect on --replay: it is for runs",
                         options->unit != NULL ? "--unit" : "--config-limit");
    }
    return options->run != NULL ? check_command(question, options->run, error) : STATUS_OK;
}

static enum status check_options(const struct question *question, struct tune_options *options, struct error *error)
{
    struct tune_kernels_options *kernels = &options->kernels;
    if (options->run != NULL && options->search.replay != NULL) {
        return error_set(error, STATUS_USAGE, "--run and --replay: results come from one of them");
    }
    if (!measures(options)) {
        return check_given_runs(question, options, error);
    }
    if (kernels->backend != NULL && strcmp(kernels->backend, "cuda") != 0 && strcmp(kernels->backend, "fake") != 0) {
        return error_set(error, STATUS_USAGE, "option --device-backend: \"%.40s\" is none of cuda, fake",
                         kernels->backend);
    }
    if (kernels->fault != NULL && (kernels->backend == NULL || strcmp(kernels->backend, "fake") != 0)) {
        return error_set(error, STATUS_USAGE, "option --fake-fault needs --device-backend fake");
    }
    if (options->search.objective != NULL && strncmp(options->search.objective, "throughput", 10) == 0) {
        return error_set(error, STATUS_USAGE,
                         "runs of a kernel give times: --objective throughput needs --run or --replay");
    }
    if (options->unit != NULL) {
        return error_set(error, STATUS_USAGE, "--unit is of the number that --run reads");
    }
    kernels->out = kernels->out ? kernels->out : MEASURE_OUT_DEFAULT;
    kernels->limit_s = options->limit_s > 0 ? options->limit_s : MEASURED_LIMIT_S;
    kernels->seed = options->search.seed;
    return tune_kernels_check(question->scenario, error);
}

/* The question is asked of the GPU that is here, unless the user names another; then that is said. */
static enum status take_gpu(struct question *question, const char *scenario, const struct tune_options *options,
                            struct tune_kernels *kernels, struct error *error)
{
    const char *gpu = tune_kernels_facts(kernels)->gpu_name;
    const struct gpu_device *found = NULL;
    struct error ignored = {0};
    const bool known = device_catalogue_find(question->catalogue, gpu, &found, &ignored) == STATUS_OK;
    if (known && strcmp(found->name, question->device->name) == 0) {
        return STATUS_OK;
    }
    if (!known || options->question.device != NULL || options->question.device_file != NULL) {
        (void)fprintf(stderr, "occam: tune: this GPU is a %s; the forecasts are for %s\n", gpu,
                      question->device->title);
        return STATUS_OK;
    }
    char name[128];
    struct question_options asked = options->question;
    (void)snprintf(name, sizeof name, "%s", found->name);
    asked.device = name;
    question_release(question);
    *question = (struct question){0};
    const enum status status = question_open_timed(question, scenario, &asked, error);
    return status == STATUS_OK ? tune_kernels_take_scenario(kernels, question->scenario, error) : status;
}

static enum status tune_on_gpu(struct question *question, const char *scenario, struct tune_options *options,
                               struct error *error)
{
    struct tune_kernels *kernels = calloc(1, sizeof *kernels);
    if (kernels == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a search");
    }
    enum status status = tune_kernels_open(kernels, &options->kernels, question->scenario, error);
    status = status == STATUS_OK ? take_gpu(question, scenario, options, kernels, error) : status;
    if (status == STATUS_OK) {
        options->search.narrow = tune_kernels_narrow;
        options->search.narrow_context = kernels;
        status = tune_space(question, options, kernels, error);
    }
    tune_kernels_release(kernels);
    free(kernels);
    return status;
}

int command_tune(int argc, char **argv)
{
    struct tune_options options = {.question = {.level = SEARCH_LEVEL_UNSET}, .kernels = {.sample_s = 0.1}};
    search_question_options_init(&options.search);
    const struct option_row rows[] = {QUESTION_OPTION_ROWS(options.question),
                                      QUESTION_FORMAT_ROW(options.question),
                                      SEARCH_QUESTION_ROWS(options.search),
                                      {0, "run", OPTION_TEXT, &options.run, 0, 0},
                                      {0, "replay", OPTION_TEXT, &options.search.replay, 0, 0},
                                      {0, "record", OPTION_TEXT, &options.record, 0, 0},
                                      {0, "ledger", OPTION_TEXT, &options.ledger, 0, 0},
                                      {0, "unit", OPTION_TEXT, &options.unit, 0, 0},
                                      {0, "runs", OPTION_COUNT, &options.runs, 1, SEARCH_RUNS_MAX},
                                      {0, "budget", OPTION_DURATION, &options.budget_s, 0, 0},
                                      {0, "config-limit", OPTION_DURATION, &options.limit_s, 0, 0},
                                      {0, "output", OPTION_TEXT, &options.kernels.out, 0, 0},
                                      {0, "sample-time", OPTION_DURATION, &options.kernels.sample_s, 0, 0},
                                      {0, "cache", OPTION_TEXT, &options.kernels.cache, 0, 0},
                                      {0, "nvrtc", OPTION_TEXT, &options.kernels.nvrtc, 0, 0},
                                      {0, "device-backend", OPTION_TEXT, &options.kernels.backend, 0, 0},
                                      {0, "fake-fault", OPTION_TEXT, &options.kernels.fault, 0, 0}};
    struct question question = {0};
    struct operands operands;
    struct error error = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 1, 1, &operands, &error);
    if (status == STATUS_OK) {
        status = search_question_ask(&question, operands.items[0], &options.question, &options.search, &error);
    }
    if (status == STATUS_OK) {
        options.limits_config = option_given(rows, sizeof rows / sizeof rows[0], &operands, "config-limit");
        options.sets_sample_time = option_given(rows, sizeof rows / sizeof rows[0], &operands, "sample-time");
        status = check_options(&question, &options, &error);
    }
    if (status == STATUS_OK) {
        status = measures(&options) ? tune_on_gpu(&question, operands.items[0], &options, &error)
                                    : tune_space(&question, &options, NULL, &error);
    }
    question_release(&question);
    return status == STATUS_OK ? 0 : command_fail("tune", &error);
}
