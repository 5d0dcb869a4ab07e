/* SPDX-License-Identifier: GPL-3.0-or-later
 * `occam whatif`: base against variant, with the mechanism; or which earlier value would explain an observed gain. */
#include <stdlib.h>
#include <string.h>

#include "base/text_buffer.h"
#include "cli/command.h"
#include "cli/command_texts.h"
#include "cli/whatif.h"

struct whatif_options {
    struct question_options question;
    struct number_list concurrencies;
    const char *explain, *across;
};

/* "6..13" in percent to fractions. */
static enum status parse_gain(const char *text, double *lo, double *hi, struct error *error)
{
    const char *dots = strstr(text, "..");
    char first[64];
    if (dots && (size_t)(dots - text) < sizeof first) {
        memcpy(first, text, (size_t)(dots - text));
        first[dots - text] = '\0';
        if (!number_parse(first, lo) && !number_parse(dots + 2, hi) && *lo > 0 && *hi >= *lo && *hi < 1e4) {
            *lo /= 100;
            *hi /= 100;
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_USAGE, "--explain takes a gain in percent, such as 6..13, got %s", text);
}

static enum status compare(struct question *question, const struct whatif_options *options, struct error *error)
{
    struct whatif whatif;
    struct report report = {0};
    enum status status = whatif_make(question, &options->concurrencies, &whatif, error);
    if (!status && options->question.format == OUTPUT_FORMAT_TEXT) {
        whatif_print(&whatif);
    } else if (!status) {
        whatif_record(&whatif, &report);
        status = report_print(&report, options->question.format, "rows", stdout, error);
    }
    report_release(&report);
    whatif_release(&whatif);
    return status;
}

/* The one knob that -s names. */
static enum status explained_knob(const struct question_options *options, char *name, size_t name_size,
                                  struct error *error)
{
    const char *equals = options->assignments.count ? strchr(options->assignments.items[0], '=') : NULL;
    if (!equals || (size_t)(equals - options->assignments.items[0]) >= name_size) {
        return error_set(error, STATUS_USAGE, "--explain needs the new value of a knob: -s name=value");
    }
    memcpy(name, options->assignments.items[0], (size_t)(equals - options->assignments.items[0]));
    name[equals - options->assignments.items[0]] = '\0';
    return STATUS_OK;
}

static enum status explain(struct question *question, const struct whatif_options *options, struct error *error)
{
    struct explanation_list list = {0};
    struct report report = {0};
    char knob[64];
    double lo, hi;
    enum status status = parse_gain(options->explain, &lo, &hi, error);
    if (!status) {
        status = explained_knob(&options->question, knob, sizeof knob, error);
    }
    if (!status) {
        status = whatif_explain(question, &options->concurrencies, knob, options->across, lo, hi, &list, error);
    }
    if (!status && options->question.format == OUTPUT_FORMAT_TEXT) {
        whatif_explain_print(&list, lo, hi);
    } else if (!status) {
        whatif_explain_record(&list, &report);
        status = report_print(&report, options->question.format, "explanations", stdout, error);
    }
    report_release(&report);
    free(list.items);
    return status;
}

int command_whatif(int argc, char **argv)
{
    struct whatif_options options = {.question.level = QUESTION_LEVEL_DEFAULT, .question.form_only = true};
    const struct option_row rows[] = {
        QUESTION_OPTION_ROWS(options.question),
        QUESTION_FORMAT_ROW(options.question),
        {0, "concurrency", OPTION_NUMBERS, &options.concurrencies, 1, CONCURRENCY_MAX},
        {0, "explain", OPTION_TEXT, &options.explain, 0, 0},
        {0, "across", OPTION_TEXT, &options.across, 0, 0},
    };
    struct operands operands;
    struct error error = {0};
    struct question question = {0};
    enum status status =
        options_parse(argc, argv, rows, sizeof rows / sizeof rows[0], "SCENARIO", 1, 1, &operands, &error);
    if (!status && options.across && !options.explain) {
        status = error_set(&error, STATUS_USAGE, "--across goes with --explain");
    }
    if (!status) {
        status = question_open(&question, operands.items[0], &options.question, &error);
    }
    if (!status) {
        status = options.explain ? explain(&question, &options, &error) : compare(&question, &options, &error);
    }
    question_release(&question);
    return status ? command_fail(argv[0], &error) : 0;
}
