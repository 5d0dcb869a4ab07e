/* SPDX-License-Identifier: GPL-3.0-or-later
 * Declarative option tables over getopt_long: a row names an option, its kind and where its value goes. Used by every
 * command. */
#ifndef OCCAM_CLI_OPTIONS_H
#define OCCAM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cli/command.h"

enum {
    OPTION_ROWS_MAX = 48,
    TEXT_LIST_MAX = 64,
    OPERANDS_MAX = 1024,
    NUMBER_LIST_MAX = 512
};

/* Values of an option that may be repeated; borrowed from argv. */
struct text_list {
    size_t count;
    const char *items[TEXT_LIST_MAX];
};

/* Values of "1,8,96". */
struct number_list {
    size_t count;
    double items[NUMBER_LIST_MAX];
};

enum option_kind {
    OPTION_FLAG,     /* bool: no value, sets true */
    OPTION_TEXT,     /* const char *: not empty */
    OPTION_NUMBER,   /* double within minimum..maximum */
    OPTION_COUNT,    /* uint64_t, whole, within minimum..maximum */
    OPTION_BYTES,    /* uint64_t, whole, within minimum..maximum: 49152, 49152B, 48KiB, 1MiB */
    OPTION_NUMBERS,  /* struct number_list: comma-separated, each within minimum..maximum, none twice */
    OPTION_LIST,     /* struct text_list: every occurrence is one more item */
    OPTION_FORMAT,   /* enum output_format */
    OPTION_DURATION, /* double, seconds, above 0: 500ms, 600s, 10m, 1.5h */
    OPTION_COST      /* the same, also 0 */
};

struct option_row {
    char letter;      /* 0 = no short form */
    const char *name; /* without "--" */
    enum option_kind kind;
    void *target;
    double minimum, maximum;
};

struct operands {
    size_t count;
    const char *items[OPERANDS_MAX]; /* borrowed from argv */
    bool given[OPTION_ROWS_MAX];     /* which rows of the option table were given */
};

/* Reads argv[1..]. Options and operands may mix; "--" ends the options. STATUS_USAGE with one clear line (near names
 * for an unknown option). names: what the operands are called in the synopsis, for example "SCENARIO"; minimum is how
 * many must be there, maximum how many may. */
MUST_CHECK enum status options_parse(int argc, char **argv, const struct option_row *rows, size_t row_count,
                                     const char *operand_names, size_t minimum, size_t maximum,
                                     struct operands *operands, struct error *error);

/* Whether the option was given; name is without "--" and must be in the table. */
bool option_given(const struct option_row *rows, size_t row_count, const struct operands *operands, const char *name);
/* An option that would have no effect is a misunderstanding: STATUS_USAGE for the first one that was given and is not
 * among the words of allowed ("set level x"). what: behind "option --NAME has no effect on ", such as "figure waves".
 */
MUST_CHECK enum status options_refuse_others(const struct option_row *rows, size_t row_count,
                                             const struct operands *operands, const char *allowed, const char *what,
                                             struct error *error);

/* Appends the entries of names that are near to name to a sentence, as "; did you mean a or b?"; nothing if none is. */
void near_names_append(struct error *error, const char *name, const char *const *names, size_t count);

#endif
