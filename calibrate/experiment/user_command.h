/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs a command of the user's for one configuration and reads a number from its output. Used by `occam tune --run`. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_USER_COMMAND_H
#define OCCAM_CALIBRATE_EXPERIMENT_USER_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text_buffer.h"
#include "calibrate/experiment/printed_number.h"

/* pattern with every {name} replaced by its value as a number; "{{" is one brace. STATUS_USAGE for a name that is not
 * among names, or a brace that does not end. */
MUST_CHECK enum status user_command_fill(const char *pattern, const char *const *names, const double *values,
                                         size_t count, struct text_buffer *out, struct error *error);

struct user_command_result {
    bool ok; /* ended by itself with 0, and a number was found */
    bool timed_out;
    bool unreadable;              /* the number may be another one than was read: 12,5 */
    struct printed_number number; /* printed_number_find() in its standard output */
    double seconds;               /* it took */
    char reason[200];             /* why not ok */
};

/* Runs it with /bin/sh -c, in a process group of its own that is killed after limit_s (0: never). Its standard error
 * goes to ours. STATUS_IO where no process can be started; whatever the command itself does is a result. */
MUST_CHECK enum status user_command_run(const char *command, double limit_s, enum printed_unit wanted,
                                        struct user_command_result *result, struct error *error);

#endif
