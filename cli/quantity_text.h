/* SPDX-License-Identifier: GPL-3.0-or-later
 * Quantities as a person reads them: bytes with thousands separators in KB and KiB, times in their best unit. */
#ifndef OCCAM_CLI_QUANTITY_TEXT_H
#define OCCAM_CLI_QUANTITY_TEXT_H

#include <stdint.h>

enum {
    QUANTITY_TEXT_SIZE = 96
};

/* "80,000 B (80 KB, 78.1 KiB)". Both, because sources mix them. Returns out. */
const char *quantity_bytes(double bytes, char out[QUANTITY_TEXT_SIZE]);
/* "80,000". Whole numbers only. Returns out. */
const char *quantity_whole(double value, char out[QUANTITY_TEXT_SIZE]);
/* "12.3 us", "4.56 ms"; 3 significant digits; "unknown" for NaN. Returns out. */
const char *quantity_time(double seconds, char out[QUANTITY_TEXT_SIZE]);
/* "12.3 us (8.01 to 18.9 us)"; without the parentheses when there is no interval. Returns out. */
const char *quantity_time_interval(double seconds, double lo_s, double hi_s, char out[QUANTITY_TEXT_SIZE]);
/* value with 3 or more significant digits, so that whole numbers up to 9999 stay whole; "unknown" for NaN. */
const char *quantity_number(double value, char out[QUANTITY_TEXT_SIZE]);
/* A percentage as it is shown: below 1 to the hundredth, so that 0.0000768 is 0 and never "7.68e-05". */
double quantity_percent_shown(double percent);
/* "8.3 %" from 0.0833; "unknown" for NaN. Returns out. */
const char *quantity_percent(double fraction, char out[QUANTITY_TEXT_SIZE]);
/* A change in percent to a tenth, for %+.1f: never "-0.0". */
double quantity_change_percent(double fraction);

#endif
