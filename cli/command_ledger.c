/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam ledger`: what is in the record of experiments, and whether it is sound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/experiment_texts.h"
#include "cli/ledger_outcomes.h"
#include "cli/ledger_place.h"
#include "cli/options.h"
#include "cli/report.h"

struct ledger_options {
    const char *ledger, *table, *seal;
    bool all;
    double id; /* of show */
    enum output_format format;
    struct operands operands;
};

/* ---- rows of any table ----------------------------------------------------------------------------------------------
 */

struct row_sink {
    struct report *report;
    enum ledger_table table;
    uint64_t count;
};

static enum status record_any(void *context, const void *record, struct error *error)
{
    (void)error;
    struct row_sink *sink = context;
    const struct ledger_layout *layout = ledger_layout(sink->table);
    report_begin_object(sink->report, NULL);
    for (size_t i = 0; i < layout->column_count; i++) {
        const struct ledger_column *column = &layout->columns[i];
        const char *member = (const char *)record + column->offset;
        if (column->type == LEDGER_TEXT) {
            const char *text;
            memcpy(&text, member, sizeof text);
            report_string(sink->report, column->name, text);
        } else if (column->type == LEDGER_INTEGER) {
            int64_t value;
            memcpy(&value, member, sizeof value);
            report_integer(sink->report, column->name, value);
        } else {
            double value;
            memcpy(&value, member, sizeof value);
            report_number(sink->report, column->name, value);
        }
    }
    report_end(sink->report);
    sink->count++;
    return STATUS_OK;
}

static enum status record_table(struct ledger *ledger, enum ledger_table table, const struct ledger_filter *filters,
                                bool with_replaced, struct report *report, uint64_t *count, struct error *error)
{
    struct row_sink sink = {report, table, 0};
    report_begin_rows(report, ledger_layout(table)->name);
    enum status status = ledger_each(ledger, table, filters, with_replaced, record_any, &sink, error);
    report_end(report);
    *count = sink.count;
    return status;
}

/* A row as a paragraph: names and values of all columns that say something. Texts of several lines are indented. */
static void print_any(const struct ledger_layout *layout, const void *record)
{
    int64_t id;
    memcpy(&id, record, sizeof id);
    printf("%s %lld\n", layout->name, (long long)id);
    for (size_t i = 1; i < layout->column_count; i++) {
        const struct ledger_column *column = &layout->columns[i];
        const char *member = (const char *)record + column->offset;
        char number[32];
        if (column->type == LEDGER_TEXT) {
            const char *text;
            memcpy(&text, member, sizeof text);
            if (text[0] != '\0') {
                printf("  %s: ", column->name);
                for (const char *at = text; *at != '\0'; at++) {
                    printf(*at == '\n' ? "\n    " : "%c", *at);
                }
                printf("\n");
            }
        } else if (column->type == LEDGER_INTEGER) {
            int64_t value;
            memcpy(&value, member, sizeof value);
            if (column->references == LEDGER_TABLE_COUNT || value != 0) {
                printf("  %s: %lld\n", column->name, (long long)value);
            }
        } else {
            double value;
            memcpy(&value, member, sizeof value);
            if (!isnan(value)) {
                printf("  %s: %s\n", column->name, number_format(value, number));
            }
        }
    }
}

static enum status print_visit(void *context, const void *record, struct error *error)
{
    (void)error;
    print_any(context, record);
    return STATUS_OK;
}

static bool find_table(const char *name, enum ledger_table *table)
{
    for (int i = 0; i < LEDGER_TABLE_COUNT; i++) {
        if (strcmp(ledger_layout((enum ledger_table)i)->name, name) == 0) {
            *table = (enum ledger_table)i;
            return true;
        }
    }
    return false;
}

/* ---- export ---------------------------------------------------------------------------------------------------------
 */

static enum status export_rows(struct ledger *ledger, const struct ledger_options *options, struct error *error)
{
    enum ledger_table only = LEDGER_TABLE_COUNT;
    struct report report = {0};
    enum status status = STATUS_OK;
    if (options->table != NULL && !find_table(options->table, &only)) {
        return error_set(error, STATUS_USAGE, "option --table: the ledger has no table \"%s\"", options->table);
    }
    if (options->format == OUTPUT_FORMAT_CSV && options->table == NULL) {
        return error_set(error, STATUS_USAGE, "csv is one table: name it with --table");
    }
    for (int i = 0; i < LEDGER_TABLE_COUNT && status == STATUS_OK; i++) {
        const enum ledger_table table = (enum ledger_table)i;
        const struct ledger_layout *layout = ledger_layout(table);
        uint64_t count;
        if (only != LEDGER_TABLE_COUNT && only != table) {
            continue;
        }
        status = options->format == OUTPUT_FORMAT_TEXT
                     ? ledger_each(ledger, table, NULL, options->all, print_visit, (void *)(uintptr_t)layout, error)
                     : record_table(ledger, table, NULL, options->all, &report, &count, error);
    }
    if (status == STATUS_OK && options->format != OUTPUT_FORMAT_TEXT) {
        status = report_print(&report, options->format, options->table, stdout, error);
    }
    report_release(&report);
    return status;
}

/* ---- list and show --------------------------------------------------------------------------------------------------
 */

struct list_sink {
    struct ledger *ledger;
    struct report *report;
    uint64_t count;
};

static enum status list_hypothesis(void *context, const void *record, struct error *error)
{
    struct list_sink *sink = context;
    const struct ledger_hypothesis *hypothesis = record;
    struct ledger_outcomes counts;
    enum status status = ledger_outcomes_read(sink->ledger, hypothesis->id, &counts, error);
    const bool is_open = counts.supported + counts.refuted + counts.inconclusive == 0,
               is_mixed = (counts.supported > 0) == (counts.refuted > 0);
    report_begin_object(sink->report, NULL);
    report_integer(sink->report, "hypothesis", hypothesis->id);
    report_string(sink->report, "frozen", hypothesis->created);
    report_string(sink->report, "verdict",
                  is_open    ? "open"
                  : is_mixed ? "inconclusive"
                             : (counts.supported > 0 ? "supported" : "refuted"));
    report_string(sink->report, "revert",
                  counts.not_restored > 0 ? "not restored" : (counts.restored > 0 ? "restored" : ""));
    report_integer(sink->report, "predictions_that_held", (int64_t)counts.held);
    report_integer(sink->report, "predictions_that_missed", (int64_t)counts.missed);
    report_integer(sink->report, "replaced_verdicts", (int64_t)counts.replaced);
    report_string(sink->report, "changes", hypothesis->changes);
    report_string(sink->report, "statement", hypothesis->statement);
    report_end(sink->report);
    sink->count++;
    return status;
}

static enum status list(struct ledger *ledger, const struct ledger_options *options, struct error *error)
{
    static const struct report_column columns[] = {{"hypothesis", "id", 0},
                                                   {"frozen", "frozen", 0},
                                                   {"verdict", "verdict", 0},
                                                   {"predictions_that_held", "held", 0},
                                                   {"predictions_that_missed", "missed", 0},
                                                   {"statement", "statement", 0}};
    struct report report = {0};
    struct list_sink sink = {ledger, &report, 0};
    uint64_t runs = 0;
    report_string(&report, "ledger", ledger_path(ledger));
    report_begin_array(&report, "hypotheses");
    enum status status = ledger_each(ledger, LEDGER_HYPOTHESIS, NULL, false, list_hypothesis, &sink, error);
    report_end(&report);
    if (status == STATUS_OK) {
        status = ledger_count(ledger, LEDGER_RUN, NULL, &runs, error);
        report_integer(&report, "runs", (int64_t)runs);
    }
    if (status == STATUS_OK && options->format != OUTPUT_FORMAT_TEXT) {
        status = report_print(&report, options->format, "hypotheses", stdout, error);
    } else if (status == STATUS_OK) {
        printf("%s: %llu hypothes%s, %llu run%s\n\n", ledger_path(ledger), (unsigned long long)sink.count,
               sink.count == 1 ? "is" : "es", (unsigned long long)runs, runs == 1 ? "" : "s");
        if (sink.count > 0) {
            status =
                report_print_table(&report, "hypotheses", columns, sizeof columns / sizeof columns[0], stdout, error);
        }
    }
    report_release(&report);
    return status;
}

static enum status show(struct ledger *ledger, const struct ledger_options *options, int64_t id, struct error *error)
{
    static const enum ledger_table parts[] = {LEDGER_PREDICTION, LEDGER_RUN, LEDGER_VERDICT};
    const struct ledger_filter self[] = {{"id", id, NULL}, {NULL, 0, NULL}},
                               of_it[] = {{"hypothesis", id, NULL}, {NULL, 0, NULL}};
    struct report report = {0};
    uint64_t count = 0;
    const bool is_text = options->format == OUTPUT_FORMAT_TEXT;
    enum status status = record_table(ledger, LEDGER_HYPOTHESIS, self, true, &report, &count, error);
    if (status == STATUS_OK && count == 0) {
        status =
            error_set(error, STATUS_NOT_FOUND, "ledger %s has no hypothesis %lld", ledger_path(ledger), (long long)id);
    }
    if (status == STATUS_OK && is_text) {
        status = ledger_each(ledger, LEDGER_HYPOTHESIS, self, true, print_visit,
                             (void *)(uintptr_t)ledger_layout(LEDGER_HYPOTHESIS), error);
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == STATUS_OK; i++) {
        status = is_text ? ledger_each(ledger, parts[i], of_it, false, print_visit,
                                       (void *)(uintptr_t)ledger_layout(parts[i]), error)
                         : record_table(ledger, parts[i], of_it, false, &report, &count, error);
    }
    if (status == STATUS_OK && !is_text) {
        status = report_print(&report, options->format, "prediction", stdout, error);
    }
    report_release(&report);
    return status;
}

/* ---- check ----------------------------------------------------------------------------------------------------------
 */

static void print_finding(void *context, const char *text)
{
    (void)context;
    printf("%s\n", text);
}

static void record_finding(void *context, const char *text)
{
    report_begin_object(context, NULL);
    report_string(context, "finding", text);
    report_end(context);
}

/* Not among the seals: the rows were written anew, or it is of another ledger. */
static enum status find_seal(struct ledger *ledger, const struct ledger_options *options, struct report *report,
                             uint64_t *findings, struct error *error)
{
    bool has = true;
    const enum status status = options->seal != NULL ? ledger_has_seal(ledger, options->seal, &has, error) : STATUS_OK;
    if (status == STATUS_OK && !has) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "there is no seal %.70s: rows before it were written anew, or it is of another ledger",
                       options->seal);
        ++*findings;
        if (options->format == OUTPUT_FORMAT_TEXT) {
            print_finding(NULL, text);
        } else {
            record_finding(report, text);
        }
    }
    return status;
}

static enum status check(struct ledger *ledger, const struct ledger_options *options, struct error *error)
{
    const bool is_text = options->format == OUTPUT_FORMAT_TEXT;
    struct report report = {0};
    char last[SHA256_HEX_SIZE];
    uint64_t findings = 0;
    report_string(&report, "ledger", ledger_path(ledger));
    report_begin_rows(&report, "findings");
    enum status status =
        ledger_check(ledger, is_text ? print_finding : record_finding, is_text ? NULL : &report, &findings, error);
    status = status == STATUS_OK ? find_seal(ledger, options, &report, &findings, error) : status;
    report_end(&report);
    report_bool(&report, "sound", findings == 0);
    status = status == STATUS_OK ? ledger_last_seal(ledger, last, error) : status;
    report_string(&report, "last_seal", status == STATUS_OK ? last : NULL);
    if (status == STATUS_OK && !is_text) {
        status = report_print(&report, options->format, "findings", stdout, error);
    } else if (status == STATUS_OK && findings == 0) {
        printf("%s: sound\n", ledger_path(ledger));
        if (last[0] != '\0') {
            printf("last seal %s\n", last);
        }
    }
    if (status == STATUS_OK && findings > 0) {
        status = error_set(error, STATUS_TOLERANCE_FAILED, "ledger %s: %llu finding%s", ledger_path(ledger),
                           (unsigned long long)findings, findings == 1 ? "" : "s");
    }
    report_release(&report);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------------
 */

static const char *asked_for(const struct ledger_options *options)
{
    return options->operands.count > 0 ? options->operands.items[0] : "list";
}

/* The command line is judged before the file is looked for: a slip of the keyboard is no missing ledger. */
static enum status check_words(struct ledger_options *options, struct error *error)
{
    static const char *const words[] = {"list", "show", "export", "check", "scorecard"};
    const size_t count = sizeof words / sizeof words[0];
    const char *what = asked_for(options);
    bool is_known = false;
    for (size_t i = 0; i < count; i++) {
        is_known = is_known || strcmp(what, words[i]) == 0;
    }
    if (!is_known) {
        (void)error_set(error, STATUS_USAGE, "\"%s\" is none of list, show, export, check, scorecard", what);
        near_names_append(error, what, words, count);
        return STATUS_USAGE;
    }
    if (strcmp(what, "export") != 0 && (options->table != NULL || options->all)) {
        return error_set(error, STATUS_USAGE, "option --%s goes with export", options->table != NULL ? "table" : "all");
    }
    if (strcmp(what, "check") != 0 && options->seal != NULL) {
        return error_set(error, STATUS_USAGE, "option --seal goes with check");
    }
    if (strcmp(what, "show") == 0) {
        const bool is_id = options->operands.count == 2 &&
                           number_parse(options->operands.items[1], &options->id) == STATUS_OK && options->id >= 1 &&
                           options->id < 1e15 && floor(options->id) == options->id;
        return is_id ? STATUS_OK : error_set(error, STATUS_USAGE, "show needs the number of a hypothesis");
    }
    return options->operands.count > 1 ? error_set(error, STATUS_USAGE, "%s takes no more words", what) : STATUS_OK;
}

static enum status run(const struct ledger_options *options, struct ledger *ledger, struct error *error)
{
    const char *what = asked_for(options);
    return strcmp(what, "show") == 0        ? show(ledger, options, (int64_t)options->id, error)
           : strcmp(what, "export") == 0    ? export_rows(ledger, options, error)
           : strcmp(what, "check") == 0     ? check(ledger, options, error)
           : strcmp(what, "scorecard") == 0 ? ledger_scorecard(ledger, options->format, error)
                                            : list(ledger, options, error);
}

int command_ledger(int argc, char **argv)
{
    struct ledger_options options = {0};
    const struct option_row rows[] = {
        {.name = "table", .kind = OPTION_TEXT, .target = &options.table},
        {.name = "seal", .kind = OPTION_TEXT, .target = &options.seal},
        {.name = "all", .kind = OPTION_FLAG, .target = &options.all},
        {.name = "ledger", .kind = OPTION_TEXT, .target = &options.ledger},
        {.name = "format", .kind = OPTION_FORMAT, .target = &options.format},
    };
    struct ledger *ledger = NULL;
    struct error error = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "WHAT", 0, 2, &options.operands, &error);
    if (status == STATUS_OK) {
        status = check_words(&options, &error);
    }
    if (status == STATUS_OK) {
        status = ledger_place_open(options.ledger, false, &ledger, &error);
    }
    if (status == STATUS_OK) {
        status = run(&options, ledger, &error);
    }
    ledger_close(ledger);
    return status == STATUS_OK ? 0 : command_fail("ledger", &error);
}
