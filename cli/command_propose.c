/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam propose`: the next runs worth their cost, ranked, with what is expected of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/quantity_text.h"
#include "cli/search_forms.h"
#include "cli/search_question.h"
#include "cli/search_texts.h"

enum {
    BATCH_DEFAULT = 5
};

struct propose_options {
    struct question_options question;
    struct search_question_options search;
    struct text_list measured;
    uint64_t batch;
    double budget_s;
};

struct answer {
    struct search_question search;
    struct search_proposal proposals[SEARCH_BATCH_MAX];
    size_t count, left; /* listed; proposed before the budget was looked at */
    struct search_summary summary;
    struct search_forms forms;
    struct search_proposal incumbent; /* the best that was measured, else the scenario's own configuration */
    bool has_incumbent;
    bool over_budget;  /* the incumbent would not fit behind the proposals */
    double cost_s;     /* of the proposals */
    double cheapest_s; /* NaN: there is none */
};

/* Its rows would count twice. */
static enum status refuse_same_file(const struct text_list *files, struct error *error)
{
    for (size_t i = 0; i < files->count; i++) {
        for (size_t k = 0; k < i; k++) {
            struct stat one, other;
            if (stat(files->items[i], &one) == 0 && stat(files->items[k], &other) == 0 && one.st_dev == other.st_dev &&
                one.st_ino == other.st_ino) {
                return error_set(error, STATUS_USAGE, "--measured %s is given twice", files->items[i]);
            }
        }
    }
    return STATUS_OK;
}

static enum status read_measured(struct search_question *search, const struct text_list *files, struct error *error)
{
    enum status status = refuse_same_file(files, error);
    for (size_t i = 0; i < files->count && status == STATUS_OK; i++) {
        status = search_question_read(search, files->items[i], error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (files->count > 0 && search->read_runs + search->other_runs == 0) {
        return error_set(error, STATUS_BAD_DATA, "%s: there is no row below the header", files->items[0]);
    }
    return files->count == 0 || search->read_runs > 0
               ? STATUS_OK
               : search_none_taken(search, files->count == 1 ? files->items[0] : NULL, error);
}

static uint32_t conflict_config(const struct answer *answer)
{
    return answer->forms.candidates[answer->forms.conflict.run];
}

/* The run that tells two forms of the model apart takes the last place, unless it is listed anyway or only one run is
 * asked for. */
static enum status list_conflict(struct answer *answer, size_t wanted, struct error *error)
{
    struct search_forms *forms = &answer->forms;
    const enum status status =
        search_forms_find(forms, &answer->search, answer->proposals, answer->count, answer->summary.noise, error);
    struct search_proposal proposal;
    if (status != STATUS_OK || !search_forms_run(forms, &answer->search, &proposal)) {
        return status;
    }
    size_t place = 0;
    while (place < answer->count && answer->proposals[place].config != proposal.config) {
        place++;
    }
    if (place == answer->count && wanted > 1) {
        place = answer->count < wanted ? answer->count++ : answer->count - 1;
        answer->proposals[place] = proposal;
    }
    if (place < answer->count) {
        answer->proposals[place].reason = SEARCH_REASON_CONFLICT;
    }
    return STATUS_OK;
}

/* What the scenario itself has, where nothing was measured yet: whatever is found later is compared with it. */
static void find_incumbent(struct answer *answer)
{
    struct search_question *search = &answer->search;
    answer->has_incumbent = search_engine_incumbent(search->engine, &answer->incumbent);
    if (answer->has_incumbent) {
        return;
    }
    const uint32_t own = search_scenario_find(&search->space, search->question->values);
    if (own != UINT32_MAX) {
        answer->has_incumbent = true;
        if (!search_engine_describe(search->engine, own, &answer->incumbent)) {
            answer->incumbent = (struct search_proposal){.config = own,
                                                         .value = (double)NAN,
                                                         .value_lo = (double)NAN,
                                                         .value_hi = (double)NAN,
                                                         .feasible_probability = 1,
                                                         .best_probability = (double)NAN,
                                                         .cost_s = search->costs_s[own]};
        }
        answer->incumbent.reason = SEARCH_REASON_SETTLE;
        answer->incumbent.gain_fraction = answer->incumbent.gain_per_s = (double)NAN;
    }
}

/* Drops what the budget does not pay for, best first; the incumbent's run keeps its share where something else fits
 * beside it. */
static void keep_to_budget(struct answer *answer, double budget_s)
{
    const double all = budget_s > 0 ? budget_s : HUGE_VAL;
    const double again = answer->has_incumbent ? answer->incumbent.cost_s : 0;
    size_t kept = 0;
    answer->cheapest_s = answer->has_incumbent ? again : HUGE_VAL;
    for (size_t i = 0; i < answer->count; i++) {
        answer->cheapest_s = fmin(answer->cheapest_s, answer->proposals[i].cost_s);
    }
    const double share = answer->has_incumbent && again + answer->cheapest_s <= all ? all - again : all;
    for (size_t i = 0; i < answer->count; i++) {
        const bool is_again = answer->has_incumbent && answer->proposals[i].config == answer->incumbent.config;
        if (answer->cost_s + answer->proposals[i].cost_s <= (is_again ? all : share)) {
            answer->cost_s += answer->proposals[i].cost_s;
            answer->proposals[kept++] = answer->proposals[i];
        }
    }
    answer->count = kept;
    answer->over_budget = answer->has_incumbent && answer->cost_s + again > all;
    answer->cheapest_s = isfinite(answer->cheapest_s) ? answer->cheapest_s : (double)NAN;
}

static enum status record_rows(struct answer *answer, struct report *report, struct error *error)
{
    enum status status = STATUS_OK;
    report_begin_rows(report, "proposals");
    for (size_t i = 0; i < answer->count && status == STATUS_OK; i++) {
        report_begin_object(report, NULL);
        report_integer(report, "rank", (int64_t)i + 1);
        status = search_record_proposal(&answer->search, report, &answer->proposals[i], error);
        report_end(report);
    }
    report_end(report);
    return status;
}

/* Names of the forms, which the runs refute, and the run that settles a conflict between two of them. */
static void record_forms(struct answer *answer, struct report *report)
{
    const struct search_forms *forms = &answer->forms;
    const struct form_conflict *conflict = &forms->conflict;
    char text[1024];
    report_begin_rows(report, "forms");
    for (size_t f = 0; f < forms->count; f++) {
        report_begin_object(report, NULL);
        report_string(report, "form", forms->names[f]);
        report_bool(report, "refuted", forms->count > 1 && !conflict->is_plausible[f]);
        report_end(report);
    }
    report_end(report);
    if (!conflict->found) {
        return;
    }
    report_begin_object(report, "conflict");
    report_string(report, "config", search_config_text(&answer->search, conflict_config(answer), text, sizeof text));
    report_bool(report, "other_best", conflict->other_best);
    report_begin_rows(report, "between");
    for (int i = 0; i < 2; i++) {
        report_begin_object(report, NULL);
        report_string(report, "form", forms->names[conflict->forms[i]]);
        report_number(report, search_value_name(&answer->search),
                      search_shown_value(&answer->search, exp(conflict->log_values[i])));
        report_string(report, "best_config",
                      search_config_text(&answer->search, forms->candidates[conflict->bests[i]], text, sizeof text));
        report_end(report);
    }
    report_end(report);
    report_end(report);
}

static enum status record(struct answer *answer, struct report *report, struct error *error)
{
    const struct search_summary *summary = &answer->summary;
    const struct question *question = answer->search.question;
    char text[1024];
    report_string(report, "scenario", scenario_name(question->scenario));
    report_string(report, "device", question->device->name);
    report_string(report, "calibration", question->parameters.calibration);
    report_integer(report, "feasible", (int64_t)answer->search.space.count);
    report_integer(report, "infeasible", (int64_t)answer->search.space.infeasible_count);
    report_integer(report, "filtered", (int64_t)answer->search.space.filtered_count);
    report_integer(report, "measured", (int64_t)summary->runs);
    report_integer(report, "failed", (int64_t)summary->failures);
    search_record_left(&answer->search, report);
    report_string(report, "best_config",
                  summary->has_best ? search_config_text(&answer->search, summary->best_config, text, sizeof text)
                                    : NULL);
    report_number(report, answer->search.is_throughput ? "best_throughput_tokens_per_s" : "best_time_us",
                  search_shown_value(&answer->search, summary->best_value));
    report_number(report, "best_probability", summary->best_probability);
    report_number(report, "remaining_gain_percent", 100 * summary->remaining_gain);
    report_number(report, "stop_gain_percent", 100 * answer->search.options.stop_gain);
    report_bool(report, "stop", summary->stop);
    report_number(report, "interval_level", answer->search.options.interval_level);
    report_number(report, "cost_s", answer->cost_s);
    report_number(report, "cheapest_s", answer->cheapest_s);
    enum status status = record_rows(answer, report, error);
    if (status == STATUS_OK && answer->has_incumbent && !answer->over_budget) {
        report_begin_object(report, "again");
        status = search_record_proposal(&answer->search, report, &answer->incumbent, error);
        report_end(report);
    }
    record_forms(answer, report);
    return status;
}

static void print_head(const struct answer *answer)
{
    const struct search_summary *summary = &answer->summary;
    const struct question *question = answer->search.question;
    const struct search_scenario *space = &answer->search.space;
    char text[1024];
    printf("%s on %s: %zu configuration%s can run, %zu cannot", scenario_name(question->scenario),
           question->device->title, space->count, space->count == 1 ? "" : "s", space->infeasible_count);
    if (space->filtered_count > 0) {
        printf(", %zu left out by --where", space->filtered_count);
    }
    printf("; %zu run%s", summary->runs, summary->runs == 1 ? "" : "s");
    if (summary->failures > 0) {
        printf(", %zu failed", summary->failures);
    }
    printf("\n");
    if (answer->search.other_runs > 0) {
        printf("Left out: %s\n", search_left_text(&answer->search, false, text, sizeof text));
    }
    if (summary->has_best) {
        search_print_best(&answer->search, summary, "Best so far");
    }
}

static void print_again(const struct answer *answer)
{
    const struct search_proposal *again = &answer->incumbent;
    char text[1024];
    if (!answer->has_incumbent || (answer->count == 0 && answer->left > 0)) {
        return;
    }
    (void)search_config_text(&answer->search, again->config, text, sizeof text);
    if (answer->over_budget) {
        printf("\nNo room in the budget for %s%s (%.3g s)\n",
               answer->summary.has_best ? "the best so far again: " : "the scenario's own configuration: ", text,
               again->cost_s);
    } else if (answer->summary.has_best) {
        printf("\nAgain, to settle what noise leaves open: %s (expected %.3g %%, %.3g s)%s\n", text,
               100 * again->gain_fraction, again->cost_s,
               again->gain_fraction > 0 ? "" : "; no scatter of runs is known yet");
    } else {
        printf("\nAlso the scenario's own configuration, for what is found to be compared with: %s", text);
        if (isfinite(again->value)) {
            char value[32];
            printf(" (%s %s expected, %.3g s)",
                   number_format_digits(search_shown_value(&answer->search, again->value), 4, value),
                   answer->search.is_throughput ? "tokens/s" : "us", again->cost_s);
        }
        printf("\n");
    }
}

static void print_conflict(const struct answer *answer)
{
    const struct search_forms *forms = &answer->forms;
    const struct form_conflict *conflict = &forms->conflict;
    const char *unit = answer->search.is_throughput ? "tokens/s" : "us";
    char text[1024], one[32], other[32];
    size_t place = 0, refuted = 0;
    for (size_t f = 0; f < forms->count && forms->count > 1; f++) {
        if (!conflict->is_plausible[f]) {
            printf("%s%s", refuted++ ? "; " : "\nForms that the runs so far speak against, 20 to 1: ", forms->names[f]);
        }
    }
    printf("%s", refuted ? "\n" : "");
    if (!conflict->found) {
        return;
    }
    while (place < answer->count && answer->proposals[place].config != conflict_config(answer)) {
        place++;
    }
    printf("\nConflict: %s (%s) is where %s and %s are told apart best: %s against %s %s, moved to agree about %s.\n",
           search_config_text(&answer->search, conflict_config(answer), text, sizeof text),
           place < answer->count ? "listed" : "not listed", forms->names[conflict->forms[0]],
           forms->names[conflict->forms[1]],
           number_format_digits(search_shown_value(&answer->search, exp(conflict->log_values[0])), 4, one),
           number_format_digits(search_shown_value(&answer->search, exp(conflict->log_values[1])), 4, other), unit,
           answer->summary.has_best ? "the runs so far" : "the scenario's own configuration");
    for (int i = 0; i < 2 && conflict->other_best; i++) {
        printf("  the best by %s: %s\n", forms->names[conflict->forms[i]],
               search_config_text(&answer->search, forms->candidates[conflict->bests[i]], text, sizeof text));
    }
}

static void print_foot(const struct answer *answer)
{
    const struct search_summary *summary = &answer->summary;
    char gain[QUANTITY_TEXT_SIZE];
    print_conflict(answer);
    print_again(answer);
    if (summary->has_best) {
        const bool is_less = summary->remaining_gain < answer->search.options.stop_gain;
        printf("Stop rule: all further runs together are expected to gain %s, %s %.2g %%%s\n",
               quantity_percent(summary->remaining_gain, gain), is_less ? "less than" : "not less than",
               100 * answer->search.options.stop_gain,
               summary->stop ? ": stop"
               : is_less     ? ", but that is not sure yet: go on"
                             : ": go on");
    }
}

static enum status print_text(const struct answer *answer, const struct report *report, struct error *error)
{
    const bool is_throughput = answer->search.is_throughput;
    const bool learns = answer->search.options.objective == SEARCH_OBJECTIVE_LEARN;
    const struct report_column columns[] = {
        {"rank", "", 3},
        {"config", "configuration", 0},
        {is_throughput ? "throughput_tokens_per_s" : "time_us", is_throughput ? "tokens/s" : "us", 4},
        {is_throughput ? "throughput_lo_tokens_per_s" : "time_lo_us", "from", 4},
        {is_throughput ? "throughput_hi_tokens_per_s" : "time_hi_us", "to", 4},
        {"feasible_probability", "P(runs)", 2},
        {"best_probability", "P(best)", 2},
        {"gain_percent", learns ? "variance %" : "gain %", 2},
        {"cost_s", "cost s", 3},
        {"reason", "reason", 0},
        {"limiter", "limited by", 0}};
    print_head(answer);
    if (answer->count == 0) {
        if (answer->left == 0) {
            printf("\nEvery configuration was run.\n");
        } else {
            printf("\nNo run fits into the budget: the cheapest costs %.3g s.\n", answer->cheapest_s);
        }
        print_foot(answer);
        return STATUS_OK;
    }
    printf("From and to are meant to hold %.3g %% of the runs.%s\n\n", 100 * answer->search.options.interval_level,
           learns ? " variance %: how much of what is not known yet the run settles." : "");
    const enum status status =
        report_print_table(report, "proposals", columns, sizeof columns / sizeof columns[0], stdout, error);
    print_foot(answer);
    return status;
}

static enum status propose(struct question *question, const struct propose_options *options, struct error *error)
{
    struct answer *answer = calloc(1, sizeof *answer);
    struct report report = {0};
    if (answer == NULL) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for proposals");
    }
    enum status status = search_question_open(&answer->search, question, &options->search, error);
    if (status == STATUS_OK) {
        status = read_measured(&answer->search, &options->measured, error);
    }
    search_question_warn(&answer->search, "propose");
    if (status == STATUS_OK) {
        const size_t wanted = options->batch ? options->batch : BATCH_DEFAULT;
        status = search_engine_propose(answer->search.engine, wanted, answer->proposals, &answer->count,
                                       &answer->summary, error);
    }
    if (status == STATUS_OK) {
        const size_t wanted = options->batch ? options->batch : BATCH_DEFAULT;
        status = list_conflict(answer, wanted, error);
    }
    if (status == STATUS_OK) {
        answer->left = answer->count;
        find_incumbent(answer);
        keep_to_budget(answer, options->budget_s);
        status = record(answer, &report, error);
    }
    if (status == STATUS_OK) {
        status = options->question.format == OUTPUT_FORMAT_TEXT
                     ? print_text(answer, &report, error)
                     : report_print(&report, options->question.format, "proposals", stdout, error);
    }
    report_release(&report);
    search_forms_release(&answer->forms);
    search_question_release(&answer->search);
    free(answer);
    return status;
}

int command_propose(int argc, char **argv)
{
    struct propose_options options = {.question = {.level = SEARCH_LEVEL_UNSET}};
    search_question_options_init(&options.search);
    const struct option_row rows[] = {QUESTION_OPTION_ROWS(options.question),
                                      QUESTION_FORMAT_ROW(options.question),
                                      SEARCH_QUESTION_ROWS(options.search),
                                      {0, "unsettled", OPTION_TEXT, &options.search.unsettled, 0, 0},
                                      {0, "measured", OPTION_LIST, &options.measured, 0, 0},
                                      {0, "batch", OPTION_COUNT, &options.batch, 1, SEARCH_BATCH_MAX},
                                      {0, "budget", OPTION_DURATION, &options.budget_s, 0, 0}};
    struct question question = {0};
    struct operands operands;
    struct error error = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 1, 1, &operands, &error);
    if (status == STATUS_OK) {
        status = search_question_ask(&question, operands.items[0], &options.question, &options.search, &error);
    }
    if (status == STATUS_OK) {
        status = propose(&question, &options, &error);
    }
    question_release(&question);
    return status == STATUS_OK ? 0 : command_fail("propose", &error);
}
