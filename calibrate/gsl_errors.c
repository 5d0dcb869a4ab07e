/* SPDX-License-Identifier: GPL-3.0-or-later
 * The process-wide GSL error handler and its per-thread record. */
#include "calibrate/gsl_errors.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t install_once = PTHREAD_ONCE_INIT;
static _Thread_local char last_reason[256];

static void record_error(const char *reason, const char *file, int line, int gsl_code)
{
    /* Place and code say nothing to a user; the caller has the code as the return value. */
    (void)file;
    (void)line;
    (void)gsl_code;
    snprintf(last_reason, sizeof last_reason, "%s", reason);
}

static void install_handler(void)
{
    gsl_set_error_handler(record_error);
}

void gsl_errors_install(void)
{
    if (pthread_once(&install_once, install_handler) != 0) {
        BUG("pthread_once failed");
    }
}

void gsl_errors_clear(void)
{
    last_reason[0] = '\0';
}

const char *gsl_errors_last(void)
{
    return last_reason;
}

enum status gsl_errors_status(int gsl_code, const char *doing, struct error *error)
{
    if (gsl_code == GSL_SUCCESS) {
        return STATUS_OK;
    }
    if (gsl_code == GSL_ENOMEM) {
        return error_set(error, STATUS_NO_MEMORY, "memory ran out while %s", doing);
    }
    return error_set(error, STATUS_INTERNAL, "GSL failed while %s: %s (%s)", doing, gsl_strerror(gsl_code),
                     last_reason[0] != '\0' ? last_reason : "no reason given");
}
