/* SPDX-License-Identifier: GPL-3.0-or-later
 * Dates as result files write them, in one unit. Used by judged_files and `occam judge`. */
#ifndef OCCAM_CALIBRATE_EXPERIMENT_JUDGED_DATES_H
#define OCCAM_CALIBRATE_EXPERIMENT_JUDGED_DATES_H

#include <stdbool.h>

/* "2026-11-30T01:02:03.5Z", "2026-11-30 01:02", "...+02:00" (without a zone: UTC), or seconds or milliseconds since
 * 1970, as seconds since 1970. False for anything else. */
bool judged_date_parse(const char *text, double *seconds);

#endif
