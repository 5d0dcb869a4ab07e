/* SPDX-License-Identifier: GPL-3.0-or-later
 * GSL's errors recorded instead of ending the process; every room file that calls GSL installs this first. */
#ifndef OCCAM_CALIBRATE_GSL_ERRORS_H
#define OCCAM_CALIBRATE_GSL_ERRORS_H

#include "base/status.h"

/* Replaces GSL's aborting handler for the whole process, once; later calls do nothing. Thread-safe. */
void gsl_errors_install(void);
/* Forgets this thread's record. */
void gsl_errors_clear(void);
/* GSL's reason text of the last error recorded on this thread, "" if none since the last clear. Borrowed until the
 * thread's next GSL error or clear. */
const char *gsl_errors_last(void);
/* Turns a GSL return code into ours: GSL_SUCCESS is STATUS_OK, GSL_ENOMEM is STATUS_NO_MEMORY, any other is
 * STATUS_INTERNAL, because inputs are checked before GSL sees them. doing: "fitting the line", for the message. */
MUST_CHECK enum status gsl_errors_status(int gsl_code, const char *doing, struct error *error);

#endif
