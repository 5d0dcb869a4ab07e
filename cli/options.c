/* SPDX-License-Identifier: GPL-3.0-or-later
 * Option tables over getopt_long, which is silenced: every complaint is ours, one line, exit code 2. */
#include "cli/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text_buffer.h"

enum {
    LONG_OPTION_BASE = 256,
    NEAR_DISTANCE_MAX = 2,
    NEAR_NAMES_MAX = 3
};

static bool is_near(const char *name, const char *candidate)
{
    size_t length = strlen(name);
    unsigned limit = length < 4 ? 1 : NEAR_DISTANCE_MAX;

    return (length > 1 && strncmp(name, candidate, length) == 0) || text_distance(name, candidate) <= limit;
}

void near_names_append(struct error *error, const char *name, const char *const *names, size_t count)
{
    size_t found = 0, length;

    for (size_t i = 0; i < count && found < NEAR_NAMES_MAX; i++) {
        if (!is_near(name, names[i]))
            continue;
        length = strlen(error->text);
        (void)snprintf(error->text + length, sizeof error->text - length, "%s%s",
                       found == 0 ? "; did you mean " : " or ", names[i]);
        found++;
    }
    length = strlen(error->text);
    if (found > 0)
        (void)snprintf(error->text + length, sizeof error->text - length, "?");
}

static enum status number_read(const struct option_row *row, const char *text, double *value, struct error *error)
{
    char lo[32], hi[32];

    if (number_parse(text, value) != STATUS_OK)
        return error_set(error, STATUS_USAGE, "option --%s: \"%s\" is not a number", row->name, text);
    if (*value < row->minimum || *value > row->maximum)
        return error_set(error, STATUS_USAGE, "option --%s: %s is not within %s to %s", row->name, text,
                         number_format(row->minimum, lo), number_format(row->maximum, hi));
    return STATUS_OK;
}

static enum status count_read(const struct option_row *row, const char *text, uint64_t *value, struct error *error)
{
    double number;
    enum status status = number_read(row, text, &number, error);

    if (status != STATUS_OK)
        return status;
    if (number != floor(number) || number < 0.0 || number > 9007199254740992.0) /* 2^53 */
        return error_set(error, STATUS_USAGE, "option --%s: \"%s\" is not a whole number", row->name, text);
    *value = (uint64_t)number;
    return STATUS_OK;
}

/* KB and MB mean two things each, so neither is guessed. */
static enum status bytes_read(const struct option_row *row, const char *text, uint64_t *value, struct error *error)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"B", 1}};
    const size_t length = strspn(text, "0123456789.");
    char digits[32], bytes[48];
    double number;

    if (length == 0 || text[length] == '\0' || length >= sizeof digits)
        return count_read(row, text, value, error);
    (void)snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + length, units[i].unit) != 0 || number_parse(digits, &number) != STATUS_OK)
            continue;
        (void)snprintf(bytes, sizeof bytes, "%.15g", number * units[i].bytes);
        return count_read(row, bytes, value, error);
    }
    if (strcasecmp(text + length, "KB") == 0 || strcasecmp(text + length, "MB") == 0)
        return error_set(error, STATUS_USAGE,
                         "option --%s: \"%s\": KB and MB are not the same everywhere; write bytes, KiB or MiB",
                         row->name, text);
    return count_read(row, text, value, error);
}

static enum status numbers_read(const struct option_row *row, const char *text, struct number_list *list,
                                struct error *error)
{
    char item[64];

    list->count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");

        if (list->count == NUMBER_LIST_MAX)
            return error_set(error, STATUS_USAGE, "option --%s: more than %d values", row->name, NUMBER_LIST_MAX);
        (void)snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), text);
        enum status status = number_read(row, item, &list->items[list->count], error);

        for (size_t i = 0; i < list->count && status == STATUS_OK; i++)
            if (list->items[i] == list->items[list->count])
                status = error_set(error, STATUS_USAGE, "option --%s: %s is given twice", row->name, item);
        if (status != STATUS_OK)
            return status;
        list->count++;
        if (text[length] == '\0')
            return STATUS_OK;
        text += length + 1;
    }
}

static enum status format_read(const char *text, enum output_format *format, struct error *error)
{
    static const char *const names[] = {"text", "json", "csv"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *format = (enum output_format)i;
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_USAGE, "option --format: \"%s\" is none of text, json, csv", text);
}

/* 0 needs no unit. */
static enum status duration_read(const struct option_row *row, const char *text, bool may_be_zero, double *seconds,
                                 struct error *error)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}};
    size_t length = strspn(text, "0123456789.");
    char number[32];

    if (may_be_zero && strcmp(text, "0") == 0) {
        *seconds = 0;
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0] && length < sizeof number; i++) {
        double value;

        (void)snprintf(number, sizeof number, "%.*s", (int)length, text);
        if (strcmp(text + length, units[i].unit) != 0 || number_parse(number, &value) != STATUS_OK ||
            (value <= 0.0 && !may_be_zero))
            continue;
        *seconds = value * units[i].seconds;
        return STATUS_OK;
    }
    return error_set(error, STATUS_USAGE, "option --%s: \"%s\" is not a duration such as 500ms, 600s, 10m or 1.5h",
                     row->name, text);
}

static enum status value_read(const struct option_row *row, const char *text, struct error *error)
{
    struct text_list *list = row->target;

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)row->target = true;
        return STATUS_OK;
    case OPTION_TEXT:
        if (*text == '\0')
            return error_set(error, STATUS_USAGE, "option --%s: the value is empty", row->name);
        *(const char **)row->target = text;
        return STATUS_OK;
    case OPTION_NUMBER:
        return number_read(row, text, row->target, error);
    case OPTION_COUNT:
        return count_read(row, text, row->target, error);
    case OPTION_BYTES:
        return bytes_read(row, text, row->target, error);
    case OPTION_NUMBERS:
        return numbers_read(row, text, row->target, error);
    case OPTION_LIST:
        if (list->count == TEXT_LIST_MAX)
            return error_set(error, STATUS_USAGE, "option --%s: given more than %d times", row->name, TEXT_LIST_MAX);
        list->items[list->count++] = text;
        return STATUS_OK;
    case OPTION_FORMAT:
        return format_read(text, row->target, error);
    case OPTION_DURATION:
    case OPTION_COST:
        return duration_read(row, text, row->kind == OPTION_COST, row->target, error);
    default:
        BUG("unknown option kind %d", (int)row->kind);
    }
}

/* getopt says ':' or '?': which option, and what is wrong with it. */
static enum status complain(int answer, char **argv, const struct option_row *rows, size_t row_count,
                            struct error *error)
{
    const char *given = argv[optind > 0 ? optind - 1 : 0], *names[OPTION_ROWS_MAX + 1];
    char name[64], dashed[OPTION_ROWS_MAX + 1][32];

    for (size_t i = 0; i < row_count; i++) {
        bool by_letter = rows[i].letter != 0 && optopt == rows[i].letter;
        bool by_name = optopt == LONG_OPTION_BASE + (int)i;

        (void)snprintf(dashed[i], sizeof dashed[i], "--%s", rows[i].name);
        names[i] = dashed[i];
        if (answer == ':' && (by_letter || by_name))
            return error_set(error, STATUS_USAGE, "option --%s needs a value", rows[i].name);
        if (answer == '?' && by_name)
            return error_set(error, STATUS_USAGE, "option --%s takes no value", rows[i].name);
    }
    if (optopt > 0 && optopt < LONG_OPTION_BASE)
        return error_set(error, STATUS_USAGE, "unknown option -%c", optopt);
    names[row_count] = "--help";
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    (void)error_set(error, STATUS_USAGE, "unknown option %s", name);
    near_names_append(error, name, names, row_count + 1);
    return STATUS_USAGE;
}

static void tables_make(const struct option_row *rows, size_t row_count, struct option *long_options, char *letters)
{
    *letters++ = ':'; /* tell a missing value from an unknown option */
    for (size_t i = 0; i < row_count; i++) {
        bool has_value = rows[i].kind != OPTION_FLAG;

        long_options[i] = (struct option){.name = rows[i].name,
                                          .has_arg = has_value ? required_argument : no_argument,
                                          .val = LONG_OPTION_BASE + (int)i};
        if (rows[i].letter != 0) {
            *letters++ = rows[i].letter;
            if (has_value)
                *letters++ = ':';
        }
    }
    *letters = '\0';
    long_options[row_count] = (struct option){0};
}

static size_t row_of(int answer, const struct option_row *rows, size_t row_count)
{
    if (answer >= LONG_OPTION_BASE)
        return (size_t)(answer - LONG_OPTION_BASE);
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].letter == answer)
            return i;
    BUG("option letter %d has no row", answer);
}

enum status options_parse(int argc, char **argv, const struct option_row *rows, size_t row_count,
                          const char *operand_names, size_t minimum, size_t maximum, struct operands *operands,
                          struct error *error)
{
    struct option long_options[OPTION_ROWS_MAX + 1];
    char letters[2 * OPTION_ROWS_MAX + 2];
    enum status status;
    int answer;

    if (row_count > OPTION_ROWS_MAX || maximum > OPERANDS_MAX)
        BUG("option table too large");
    tables_make(rows, row_count, long_options, letters);
    operands->count = 0;
    memset(operands->given, 0, sizeof operands->given);
    opterr = 0;
    optind = 0; /* glibc: start over */
    optopt = 0;
    while ((answer = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        if (answer == ':' || answer == '?')
            return complain(answer, argv, rows, row_count, error);
        operands->given[row_of(answer, rows, row_count)] = true;
        status = value_read(&rows[row_of(answer, rows, row_count)], optarg, error);
        if (status != STATUS_OK)
            return status;
        optopt = 0;
    }
    for (; optind < argc; optind++) {
        if (operands->count == maximum)
            return error_set(error, STATUS_USAGE, "unexpected argument \"%s\"", argv[optind]);
        operands->items[operands->count++] = argv[optind];
    }
    if (operands->count < minimum)
        return error_set(error, STATUS_USAGE, "%s is missing", operand_names);
    return STATUS_OK;
}

bool option_given(const struct option_row *rows, size_t row_count, const struct operands *operands, const char *name)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return operands->given[i];
    BUG("no option --%s in the table", name);
}

static bool is_word_of(const char *words, const char *name)
{
    const size_t length = strlen(name);

    while (*words != '\0') {
        const size_t word = strcspn(words, " ");

        if (word == length && strncmp(words, name, length) == 0)
            return true;
        words += word + strspn(words + word, " ");
    }
    return false;
}

enum status options_refuse_others(const struct option_row *rows, size_t row_count, const struct operands *operands,
                                  const char *allowed, const char *what, struct error *error)
{
    for (size_t i = 0; i < row_count; i++)
        if (operands->given[i] && !is_word_of(allowed, rows[i].name))
            return error_set(error, STATUS_USAGE, "option --%s has no effect on %s", rows[i].name, what);
    return STATUS_OK;
}
