/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam hypothesis`: a statement and the model's prediction of it, frozen before there is data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/experiment/statement_claim.h"
#include "cli/command.h"
#include "cli/experiment_texts.h"
#include "cli/hypothesis.h"

struct hypothesis_options {
    struct question_options question;
    struct number_list concurrencies;
    const char *scenario, *claim, *ledger;
};

static void record_rows(struct report *report, const struct frozen_hypothesis *frozen, const struct whatif *whatif)
{
    report_begin_rows(report, "predictions");
    for (size_t i = 0; i < frozen->prediction_count; i++) {
        const struct frozen_prediction *prediction = &frozen->predictions[i];
        report_begin_object(report, NULL);
        report_integer(report, "prediction", prediction->id);
        report_number(report, "concurrency", prediction->concurrency);
        report_number(report, "ratio", prediction->value);
        report_number(report, "ratio_lo", prediction->low);
        report_number(report, "ratio_hi", prediction->high);
        report_number(report, "change_percent", 100 * (prediction->value - 1));
        report_number(report, "change_lo_percent", 100 * (prediction->low - 1));
        report_number(report, "change_hi_percent", 100 * (prediction->high - 1));
        report_string(report, "verdict",
                      whatif->rows[i].variant.has_effect ? whatif_verdict(&whatif->rows[i].variant.effect)
                                                         : "cannot be launched");
        report_string(report, "mechanism", prediction->mechanism);
        report_end(report);
    }
    report_end(report);
}

static void record(struct report *report, const struct frozen_hypothesis *frozen, const struct whatif *whatif,
                   const char *ledger)
{
    report_integer(report, "hypothesis", frozen->id);
    report_string(report, "frozen", frozen->created);
    report_string(report, "ledger", ledger);
    report_string(report, "statement", frozen->statement);
    report_string(report, "scenario", scenario_name(whatif->question->scenario));
    report_string(report, "device", frozen->device);
    report_string(report, "calibration", whatif->question->parameters.calibration);
    report_string(report, "changes", frozen->changes);
    report_string(report, "claim", effect_claim_name(frozen->claim));
    report_string(report, "quantity", frozen->quantity);
    report_number(report, "interval_level", whatif->question->level);
    report_bool(report, "feasible", whatif->feasible);
    report_string(report, "reason", whatif->feasible ? "" : whatif->reason);
    record_rows(report, frozen, whatif);
    report_begin_array(report, "would_fit");
    for (size_t i = 0; i < whatif->advice.count; i++) {
        char text[256];
        report_string(report, NULL,
                      fit_option_text(whatif->question->scenario, &whatif->advice.options[i], text, sizeof text));
    }
    report_end(report);
}

static void print_rejection(const struct whatif *whatif)
{
    printf("Refuted without a run: it cannot be launched.\n  %s\n", whatif->reason);
    for (size_t i = 0; i < whatif->advice.count; i++) {
        char text[256];
        printf("%s  %s\n", i == 0 ? "What would fit:\n" : "",
               fit_option_text(whatif->question->scenario, &whatif->advice.options[i], text, sizeof text));
    }
}

/* At some conditions a change may move nothing that the model has: the first that it moves tells. */
static void print_mechanism(const struct frozen_hypothesis *frozen)
{
    for (size_t i = 0; i < frozen->prediction_count; i++) {
        if (frozen->predictions[i].mechanism[0] != '\0') {
            printf("\nMechanism: %s\n", frozen->predictions[i].mechanism);
            return;
        }
    }
    printf("\nMechanism: none that the model has; nothing that it counts changes under these conditions\n");
}

static enum status print_text(const struct report *report, const struct frozen_hypothesis *frozen,
                              const struct whatif *whatif, const char *ledger, struct error *error)
{
    static const struct report_column columns[] = {{"concurrency", "concurrency", 4},
                                                   {"change_percent", "change %", 3},
                                                   {"change_lo_percent", "from", 3},
                                                   {"change_hi_percent", "to", 3},
                                                   {"verdict", "the model says", 0}};
    const size_t first = scenario_concurrency_variable(whatif->question->scenario) < 0 ? 1 : 0;
    printf("Hypothesis %lld, frozen %s\n  \"%s\": %s %s the %s of %s on %s\n\n", (long long)frozen->id, frozen->created,
           frozen->statement, frozen->changes, effect_claim_name(frozen->claim), frozen->quantity,
           scenario_name(whatif->question->scenario), whatif->question->device->title);
    if (!whatif->feasible) {
        print_rejection(whatif);
        return STATUS_OK;
    }
    enum status status = report_print_table(report, "predictions", columns + first,
                                            sizeof columns / sizeof columns[0] - first, stdout, error);
    if (status == STATUS_OK) {
        print_mechanism(frozen);
        printf("Kept in %s\nAfter the runs:  occam judge BASE VARIANT --hypothesis %lld\n", ledger,
               (long long)frozen->id);
    }
    return status;
}

#define ASK_FOR_CLAIM "add --claim raises, lowers or changes, said of the speed"

/* Why the statement alone does not say what is claimed. */
static enum status ask_for_claim(const struct statement_reading *reading, struct error *error)
{
    switch (reading->meaning) {
    case STATEMENT_NEGATED:
        return error_set(error, STATUS_USAGE,
                         "the statement says \"%s\", and what it claims instead is left open: " ASK_FOR_CLAIM,
                         reading->word);
    case STATEMENT_TWO_WAYS:
        return error_set(error, STATUS_USAGE,
                         "the statement says both that the speed rises and that it falls: " ASK_FOR_CLAIM);
    case STATEMENT_UNCLEAR:
        return error_set(
            error, STATUS_USAGE,
            "what the statement says of the changed configuration's speed is not clear at \"%s\": " ASK_FOR_CLAIM,
            reading->word);
    case STATEMENT_SILENT:
    case STATEMENT_CLEAR:
        return error_set(error, STATUS_USAGE,
                         "the statement does not say whether the speed rises or falls: " ASK_FOR_CLAIM);
    }
    BUG("a meaning without words");
}

/* An option that says the opposite of the sentence: one of the two is a mistake. */
static enum status check_claim(const struct statement_reading *reading, enum effect_claim claim, struct error *error)
{
    if (!statement_claim_contradicts(reading, claim)) {
        return STATUS_OK;
    }
    if (reading->meaning == STATEMENT_CLEAR) {
        return error_set(error, STATUS_USAGE,
                         "--claim %s contradicts the statement, which says that the speed %s: leave out --claim, or "
                         "say it in other words",
                         effect_claim_name(claim), reading->claim == EFFECT_RAISES ? "rises" : "falls");
    }
    return error_set(error, STATUS_USAGE,
                     "--claim %s contradicts the statement, which says \"%s\" to just that: correct --claim, or "
                     "say it in other words",
                     effect_claim_name(claim), reading->word);
}

static enum status settle_claim(const char *statement, const struct hypothesis_options *options,
                                enum effect_claim *claim, struct error *error)
{
    struct statement_reading reading;
    if (statement[strspn(statement, " \t\r\n")] == '\0') {
        return error_set(error, STATUS_USAGE, "the statement is empty: say what the change does");
    }
    statement_claim_read(statement, options->question.assignments.items, options->question.assignments.count, &reading);
    if (options->claim == NULL) {
        *claim = reading.claim;
        return reading.meaning == STATEMENT_CLEAR ? STATUS_OK : ask_for_claim(&reading, error);
    }
    return effect_claim_parse(options->claim, claim)
               ? check_claim(&reading, *claim, error)
               : error_set(error, STATUS_USAGE, "option --claim: \"%s\" is none of raises, lowers, changes",
                           options->claim);
}

static enum status freeze(const char *statement, const struct hypothesis_options *options, struct question *question,
                          struct error *error)
{
    struct whatif whatif = {0};
    struct ledger *ledger = NULL;
    struct report report = {0};
    struct frozen_hypothesis *frozen = calloc(1, sizeof *frozen);
    enum effect_claim claim;
    int64_t id = 0;
    enum status status = frozen != NULL ? settle_claim(statement, options, &claim, error)
                                        : error_set(error, STATUS_NO_MEMORY, "no memory for the hypothesis");
    if (status == STATUS_OK) {
        status = whatif_make(question, &options->concurrencies, &whatif, error);
    }
    if (status == STATUS_OK) {
        status = ledger_place_open(options->ledger, true, &ledger, error);
    }
    if (status == STATUS_OK) {
        status = hypothesis_freeze(ledger, &whatif, statement, claim, &id, error);
    }
    if (status == STATUS_OK) {
        status = hypothesis_read(ledger, id, frozen, error);
    }
    if (status == STATUS_OK) {
        record(&report, frozen, &whatif, ledger_path(ledger));
        status = options->question.format == OUTPUT_FORMAT_TEXT
                     ? print_text(&report, frozen, &whatif, ledger_path(ledger), error)
                     : report_print(&report, options->question.format, "predictions", stdout, error);
    }
    report_release(&report);
    ledger_close(ledger);
    whatif_release(&whatif);
    free(frozen);
    return status;
}

int command_hypothesis(int argc, char **argv)
{
    struct hypothesis_options options = {.question.level = QUESTION_LEVEL_DEFAULT, .question.form_only = true};
    const struct option_row rows[] = {
        {.name = "scenario", .kind = OPTION_TEXT, .target = &options.scenario},
        {.name = "change", .kind = OPTION_LIST, .target = &options.question.assignments},
        {.name = "claim", .kind = OPTION_TEXT, .target = &options.claim},
        {.name = "ledger", .kind = OPTION_TEXT, .target = &options.ledger},
        {0, "concurrency", OPTION_NUMBERS, &options.concurrencies, 1, CONCURRENCY_MAX},
        QUESTION_OPTION_ROWS(options.question),
        QUESTION_FORMAT_ROW(options.question),
    };
    struct question question = {0};
    struct operands operands;
    struct error error = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "STATEMENT", 1, 1, &operands, &error);
    if (status == STATUS_OK && options.scenario == NULL) {
        status = error_set(&error, STATUS_USAGE, "which scenario? add --scenario NAME");
    }
    if (status == STATUS_OK) {
        status = question_open(&question, options.scenario, &options.question, &error);
    }
    if (status == STATUS_OK) {
        status = freeze(operands.items[0], &options, &question, &error);
    }
    question_release(&question);
    return status == STATUS_OK ? 0 : command_fail("hypothesis", &error);
}
