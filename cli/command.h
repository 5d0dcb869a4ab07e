/* SPDX-License-Identifier: GPL-3.0-or-later
 * The command table and what every command shares. Adding a command: one file cli/command_NAME.c and one row in
 * cli/command_table.c. */
#ifndef OCCAM_CLI_COMMAND_H
#define OCCAM_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"

struct command {
    const char *name;
    const char *summary;               /* one line for `occam help` */
    const char *usage;                 /* synopsis after "occam " */
    const char *help;                  /* options and examples; several lines */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the process exit code */
};

extern const struct command command_table[];
extern const size_t command_count;
const struct command *command_find(const char *name);

enum output_format {
    OUTPUT_FORMAT_TEXT,
    OUTPUT_FORMAT_JSON,
    OUTPUT_FORMAT_CSV
};

/* Prints "occam: NAME: message" to stderr and returns the exit code of error->status. */
int command_fail(const char *command_name, const struct error *error);

#endif
